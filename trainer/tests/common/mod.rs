//! The program as a user runs it, for the integration tests: start it, kill it, compare what it left.

#![allow(dead_code, reason = "every test file uses a part of this")]
#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Once;
use std::thread::sleep;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use tempfile::TempDir;

/// Between two looks at a running process.
const GLANCE: Duration = Duration::from_millis(1);
/// After so many looks a process that does not get on is given up: a minute or more, where milliseconds are expected.
const MOST_GLANCES: usize = 60_000;

/// Our own engine's program, next to the other one. It is built if it is not there, as after `cargo test -p fairyforge`.
pub fn our_engine() -> PathBuf {
    static BUILT: Once = Once::new();
    let program = Path::new(env!("CARGO_BIN_EXE_fairyforge")).with_file_name("fairyforge-engine");
    BUILT.call_once(|| {
        if !program.exists() {
            let mut build = Command::new(env!("CARGO"));
            build.args(["build", "-p", "fairyforge-engine", "--bin", "fairyforge-engine"]);
            if program.parent().unwrap().ends_with("release") {
                build.arg("--release");
            }
            assert!(build.status().unwrap().success(), "try: cargo build -p fairyforge-engine");
        }
    });
    assert!(program.exists(), "no {}; try: cargo build -p fairyforge-engine", program.display());
    program
}

/// How a command ended.
pub struct Ended {
    /// The command, to tell in messages.
    pub command: String,
    /// Exit status; `None` if a signal ended it.
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    fn new(command: String, output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
        let ended =
            Self { command, status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) };
        assert!(!ended.stderr.contains("panicked"), "{ended:?}");
        assert!(!ended.stdout.chars().any(is_control), "stdout carries text only: {ended:?}");
        assert!(!ended.stderr.chars().any(is_control), "no bar where there is no terminal: {ended:?}");
        ended
    }

    /// Standard output of a command that succeeded.
    #[track_caller]
    pub fn succeeded(self) -> String {
        assert_eq!(self.status, Some(0), "{self:?}");
        self.stdout
    }

    /// Standard error of a command that ended with this status.
    #[track_caller]
    pub fn failed(self, status: i32) -> String {
        assert_eq!(self.status, Some(status), "{self:?}");
        assert!(!self.stderr.is_empty(), "{self:?}");
        self.stderr
    }

    /// As [`Self::failed`], and its last words start with `error:`, contain all `words`, and nothing went to stdout.
    #[track_caller]
    pub fn refused(self, status: i32, words: &[&str]) -> String {
        assert!(self.stdout.is_empty(), "{self:?}");
        let error = self.failed(status);
        assert!(error.contains("error: "), "{error}");
        for word in words {
            assert!(error.contains(word), "expected {word:?} in: {error}");
        }
        error
    }
}

impl std::fmt::Debug for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} → {:?}\nstdout:\n{}\nstderr:\n{}", self.command, self.status, self.stdout, self.stderr)
    }
}

fn is_control(letter: char) -> bool {
    letter.is_control() && letter != '\n'
}

/// A folder to work in; every command runs in it, so that runs in different places have the same relative paths.
pub struct Workplace(TempDir);

impl Workplace {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The program, not yet started; `line` is split at spaces.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fairyforge"));
        command.args(line.split_whitespace()).current_dir(self.0.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end; `line` is split at spaces.
    pub fn run(&self, line: &str) -> Ended {
        Ended::new(line.to_owned(), self.command(line).output().unwrap())
    }

    /// As [`Self::run`], with arguments that may hold spaces.
    pub fn run_args(&self, args: &[&str]) -> Ended {
        Ended::new(args.join(" "), self.command("").args(args).output().unwrap())
    }

    pub fn start(&self, line: &str) -> Running {
        Running { line: line.to_owned(), child: self.command(line).spawn().unwrap() }
    }

    /// As [`Self::start`], with arguments that may hold spaces.
    pub fn start_args(&self, args: &[&str]) -> Running {
        Running { line: args.join(" "), child: self.command("").args(args).spawn().unwrap() }
    }

    /// `data digest`.
    pub fn digest(&self, folder: &str) -> String {
        let digest = self.run(&format!("data digest {folder}")).succeeded();
        assert_eq!(digest.trim().len(), 64, "{digest}");
        digest.trim().to_owned()
    }

    /// All files below `folder` by relative name, but for those that hold times and process numbers.
    pub fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let root = self.path(folder);
        let tells_times =
            |name: &str| ["run.lock", "events.jsonl"].iter().any(|told| name.rsplit('/').next() == Some(told));
        let names = all_files(&root).into_iter().filter(|name| !tells_times(name));
        // A run that is going on renames files between listing and reading.
        let read = |name: String| match std::fs::read(root.join(&name)) {
            Ok(bytes) => Some((name, bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => panic!("{name}: {error}"),
        };
        names.filter_map(read).collect()
    }

    /// Shards, journals and everything else are the same, nothing unfinished lies about, every event is a line of JSON.
    #[track_caller]
    pub fn assert_same_run(&self, folder: &str, undisturbed: &BTreeMap<String, Vec<u8>>) {
        let files = self.files(folder);
        let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&files), names(undisturbed));
        for (name, bytes) in &files {
            assert!(!name.ends_with(".tmp"), "{name} is left");
            assert!(bytes == &undisturbed[name], "{name} differs from the undisturbed run's");
        }
        let events = self.path(folder).join("events.jsonl");
        for line in std::fs::read_to_string(events).unwrap_or_default().lines() {
            serde_json::from_str::<serde_json::Value>(line).expect("every event is a whole line");
        }
    }

    /// Starts `line` again and again and kills it (SIGKILL), at odd times at a moment drawn by lot and at even times
    /// soon after `folder` has changed, until it comes to its end or was killed `most_kills` times and is let run.
    /// Returns how many kills it survived.
    pub fn kill_until_done(&self, line: &str, folder: &str, seed: u64, most_kills: usize) -> usize {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for kills in 0..most_kills {
            let mut running = self.start(line);
            if kills % 2 == 0 {
                let before = self.trace(folder);
                running.glance_until(|| self.trace(folder) != before);
                sleep(Duration::from_micros(random.next_u64() % 20_000));
            } else {
                sleep(Duration::from_micros(random.next_u64() % 120_000));
            }
            if running.has_ended() {
                running.end().succeeded();
                return kills;
            }
            running.kill();
        }
        self.run(line).succeeded();
        most_kills
    }

    /// Names and lengths of the files: changes when the run gets on.
    fn trace(&self, folder: &str) -> Vec<(String, u64)> {
        let root = self.path(folder);
        // A file may be renamed between listing and looking.
        let length = |name: &String| std::fs::metadata(root.join(name)).map_or(0, |metadata| metadata.len());
        all_files(&root).into_iter().map(|name| (name.clone(), length(&name))).collect()
    }
}

/// Runs a script in a mount namespace of its own, where `disk` is a small tmpfs. `None`, with a loud line, where the system does not permit that.
pub fn with_small_disk(place: &Workplace, options: &str, script: &str) -> Option<String> {
    std::fs::create_dir_all(place.path("disk")).unwrap();
    let script = format!("mount -t tmpfs -o {options} tmpfs disk || exit 77\n{script}");
    for namespace in [&["--mount"][..], &["--mount", "--map-root-user"]] {
        let mut command = Command::new("unshare");
        command.args(namespace).args(["sh", "-c", &script]).current_dir(place.path(""));
        command.env("FAIRYFORGE", env!("CARGO_BIN_EXE_fairyforge"));
        match command.output() {
            Ok(output) if output.status.success() => return Some(String::from_utf8(output.stdout).unwrap()),
            Ok(output) => eprintln!("unshare {namespace:?}: {}", String::from_utf8_lossy(&output.stderr).trim()),
            Err(error) => eprintln!("unshare: {error}"),
        }
    }
    println!("SKIPPED: no small disk can be mounted here");
    None
}

/// Fills the disk with `line`, frees space, starts `line` again; the answers are `first` and `again`, what was on the
/// full disk is copied to `full`, and in the end everything to `after`.
pub fn fill_and_free(place: &Workplace, size: &str, line: &str) -> Option<[Ended; 2]> {
    let script = format!(
        "
        $FAIRYFORGE {line} --out disk/run >first.out 2>first.err; echo $?
        cp -r disk/run full
        mount -o remount,size=64m disk
        $FAIRYFORGE {line} --out disk/run >again.out 2>again.err; echo $?
        cp -r disk/run after
        "
    );
    let statuses = with_small_disk(place, &format!("size={size}"), &script)?;
    let mut statuses = statuses.lines().map(|line| line.parse().unwrap());
    Some(["first", "again"].map(|name| Ended {
        command: line.to_owned(),
        status: statuses.next(),
        stdout: place.read(&format!("{name}.out")),
        stderr: place.read(&format!("{name}.err")),
    }))
}

/// What a program printed or wrote, as JSON.
#[track_caller]
pub fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Names of all files below `root`, relative to it, in order; none if it is not there.
pub fn all_files(root: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                names.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    names.sort();
    names
}

/// A command that has been started. Killed when dropped, so that a failing test leaves nothing running.
pub struct Running {
    line: String,
    child: Child,
}

impl Running {
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits until something holds or the process has ended.
    pub fn glance_until(&mut self, mut holds: impl FnMut() -> bool) {
        for _ in 0..MOST_GLANCES {
            if holds() || self.has_ended() {
                return;
            }
            sleep(GLANCE);
        }
        panic!("{} does not get on", self.line);
    }

    /// Looks so often, a millisecond apart, whether the process has ended.
    #[track_caller]
    pub fn glance_within(&mut self, glances: usize) {
        for _ in 0..glances {
            if self.has_ended() {
                return;
            }
            sleep(GLANCE);
        }
        panic!("{} does not end", self.line);
    }

    /// SIGKILL.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// What Ctrl-C sends.
    pub fn interrupt(&self) {
        let status = Command::new("kill").args(["-INT", &self.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Waits for the end.
    pub fn end(mut self) -> Ended {
        use std::io::Read;
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        // What the program says fits into the pipes, so one after the other will do.
        let status = self.child.wait().unwrap();
        self.child.stdout.take().unwrap().read_to_end(&mut stdout).unwrap();
        self.child.stderr.take().unwrap().read_to_end(&mut stderr).unwrap();
        Ended::new(self.line.clone(), Output { status, stdout, stderr })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A plan of a loop that is over in a second.
pub fn tiny_plan(variant: &str, generations: u32, claims: &str) -> String {
    format!(
        r#"
format = 1
variant = "{variant}"
seed = 3
generations = {generations}

[selfplay]
games = 36
nodes = 24
shard_games = 4

[selfplay.openings.imbalance]
share = 0.8

[selfplay.adjudication]
most_plies = 120

[match]
pairs = 6
nodes = 24

[match.adjudication]
most_plies = 120
{claims}
"#
    )
}
