//! A run on disk: every path and file name inside a run, how files get there, and who may write.
//!
//! This is the only module that builds a path inside a run, that knows the `.tmp`-then-rename rule and
//! that decides when something is finished. It knows nothing about what the files contain: shards of
//! games are [`crate::record`]'s business, weights the engine's.
//!
//! ```text
//! <run>/plan.toml version.txt run.lock events.jsonl report.md
//!      selfplay/001/{games,positions}-<first game, 8 digits>.parquet
//!      weights/001.toml   rejected/002.toml   gate/002-vs-001.{jsonl,toml}   pairs.jsonl
//! ```
//!
//! [`RunPaths`] only names things and may be used by anybody; [`RunDir`] also holds the lock that makes
//! its process the one writer of the run.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};

const PLAN: &str = "plan.toml";
const VERSION: &str = "version.txt";
const LOCK: &str = "run.lock";
const EVENTS: &str = "events.jsonl";
const PAIRS: &str = "pairs.jsonl";
const TEMPORARY: &str = ".tmp";

// ───────────────────────────────────────────── the run ─────────────────────────────────────────────

/// The names of everything inside a run. Builds paths, touches nothing.
#[derive(Debug, Clone)]
pub struct RunPaths {
    root: PathBuf,
}

/// The two files that a gate match between two generations leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateFiles {
    /// The games of the match, a line a pair.
    pub pairs: PathBuf,
    /// The score and the verdict.
    pub verdict: PathBuf,
}

impl RunPaths {
    /// Names for the run at `root`, whether or not it exists.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The run's own folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `plan.toml`: the validated plan the run was started with.
    pub fn plan(&self) -> PathBuf {
        self.root.join(PLAN)
    }

    /// `version.txt`: the program versions that wrote to the run, one a line, oldest first.
    pub fn version(&self) -> PathBuf {
        self.root.join(VERSION)
    }

    /// `selfplay/<generation>`: the folder of one generation's shards of games.
    pub fn selfplay(&self, generation: u32) -> PathBuf {
        self.root.join("selfplay").join(numbered(generation))
    }

    /// `weights/<generation>.toml`: accepted weights.
    pub fn weights(&self, generation: u32) -> PathBuf {
        self.root.join("weights").join(toml_name(generation))
    }

    /// `rejected/<candidate>.toml`: weights that lost their gate match, kept.
    pub fn rejected(&self, candidate: u32) -> PathBuf {
        self.root.join("rejected").join(toml_name(candidate))
    }

    /// `gate/<candidate>-vs-<parent>.{jsonl,toml}`: the match that decides on a candidate.
    pub fn gate(&self, candidate: u32, parent: u32) -> GateFiles {
        let name = format!("{}-vs-{}", numbered(candidate), numbered(parent));
        let folder = self.root.join("gate");
        GateFiles { pairs: folder.join(format!("{name}.jsonl")), verdict: folder.join(format!("{name}.toml")) }
    }

    /// `pairs.jsonl`: the games of a match that is a run of its own.
    pub fn pairs(&self) -> PathBuf {
        self.root.join(PAIRS)
    }

    /// `report.md`.
    pub fn report(&self) -> PathBuf {
        self.root.join("report.md")
    }

    /// `events.jsonl`: one JSON object a line, in order of time.
    pub fn events(&self) -> PathBuf {
        self.root.join(EVENTS)
    }

    /// First game numbers of one generation's finished shards, ascending; empty when nothing was played.
    ///
    /// # Errors
    /// When the folder exists but cannot be listed.
    pub fn finished_shards(&self, generation: u32) -> Result<Vec<u64>, FileError> {
        let folder = self.selfplay(generation);
        if !folder.exists() {
            return Ok(Vec::new());
        }
        Ok(list_shards(&folder)?.finished())
    }

    fn lock(&self) -> PathBuf {
        self.root.join(LOCK)
    }
}

fn numbered(generation: u32) -> String {
    format!("{generation:03}")
}

fn toml_name(generation: u32) -> String {
    format!("{}.toml", numbered(generation))
}

/// A run that this process, and no other, may write to. Gives up its lock when dropped or killed.
///
/// Dereferences to [`RunPaths`] for the names.
#[derive(Debug)]
pub struct RunDir {
    paths: RunPaths,
    resumed: bool,
    _lock: File,
}

impl Deref for RunDir {
    type Target = RunPaths;

    fn deref(&self) -> &RunPaths {
        &self.paths
    }
}

impl RunDir {
    /// Makes the run at `path`, or takes up the run that is there if it was started with the same plan.
    ///
    /// Plans are compared as TOML: comments, order and spacing do not matter. A resumed run that was
    /// last written by another program version gets a further line in `version.txt`.
    ///
    /// # Errors
    /// [`RunDirError::PlanDiffers`] (nothing was changed), [`RunDirError::Locked`] when another process
    /// writes there, [`RunDirError::NotARun`] for a folder with other things in it,
    /// [`RunDirError::File`] when the disk refuses.
    pub fn create_or_resume(path: &Path, plan_toml: &str, version: &str) -> Result<Self, RunDirError> {
        refuse_foreign_folder(path)?;
        create_folder(path)?;
        let paths = RunPaths::new(path);
        let lock = take_lock(&paths)?;
        let resumed = paths.plan().exists();
        if resumed {
            refuse_other_plan(&paths.plan(), plan_toml)?;
            drop_torn_line(&paths.events())?;
        }
        note_version(&paths.version(), version)?;
        if !resumed {
            write_atomically(&paths.plan(), plan_toml.as_bytes())?;
        }
        Ok(Self { paths, resumed, _lock: lock })
    }

    /// The run was there already and is being continued.
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// The program versions that have written to the run, oldest first; more than one is worth a warning.
    ///
    /// # Errors
    /// When `version.txt` cannot be read.
    pub fn versions(&self) -> Result<Vec<String>, FileError> {
        let text = read_text(&self.version())?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Removes what killed writers left: every `*.tmp` file of the run. Returns the removed paths.
    ///
    /// # Errors
    /// When a folder cannot be listed or a file not removed.
    pub fn clean_tmp(&self) -> Result<Vec<PathBuf>, FileError> {
        let mut removed = Vec::new();
        remove_temporary_files(self.root(), &mut removed)?;
        removed.sort();
        Ok(removed)
    }

    /// Appends one line to `events.jsonl`.
    ///
    /// # Errors
    /// When the file cannot be opened or written.
    pub fn append_event(&self, event: &serde_json::Value) -> Result<(), FileError> {
        append_line(&self.events(), &event.to_string())
    }
}

/// A folder that holds anything but the beginnings of a run is not ours to write to.
fn refuse_foreign_folder(path: &Path) -> Result<(), RunDirError> {
    if !path.is_dir() || path.join(PLAN).exists() {
        return Ok(());
    }
    let is_ours = |name: &str| name == LOCK || name == VERSION || name.ends_with(TEMPORARY);
    let foreign = folder_entries(path)?.into_iter().find(|entry| !is_ours(&name_of(entry)));
    match foreign {
        Some(found) => Err(RunDirError::NotARun { path: path.to_owned(), found: name_of(&found) }),
        None => Ok(()),
    }
}

fn take_lock(paths: &RunPaths) -> Result<File, RunDirError> {
    let path = paths.lock();
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path)
        .map_err(FileError::at("open", &path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(RunDirError::Locked { path: paths.root().to_owned(), holder: lock_holder(&mut file) });
        }
        Err(TryLockError::Error(source)) => return Err(FileError::at("lock", &path)(source).into()),
    }
    file.set_len(0).map_err(FileError::at("empty", &path))?;
    write_bytes(&mut file, format!("process {}\n", std::process::id()).as_bytes(), &path)?;
    Ok(file)
}

/// What the lock's owner wrote into it; only to help a human, so any failure is an empty answer.
fn lock_holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.take(200).read_to_string(&mut text);
    match read {
        Ok(_) if !text.trim().is_empty() => text.trim().to_owned(),
        _ => "another process".to_owned(),
    }
}

fn refuse_other_plan(path: &Path, asked: &str) -> Result<(), RunDirError> {
    let recorded = read_text(path)?;
    let differences = plan_differences(&recorded, asked);
    if differences.is_empty() {
        return Ok(());
    }
    Err(RunDirError::PlanDiffers { path: path.to_owned(), differences })
}

/// Adds `version` to the list unless the last line says so already.
fn note_version(path: &Path, version: &str) -> Result<(), FileError> {
    let version = version.trim();
    let mut text = if path.exists() { read_text(path)? } else { String::new() };
    if text.lines().next_back() == Some(version) {
        return Ok(());
    }
    text.push_str(version);
    text.push('\n');
    write_atomically(path, text.as_bytes())
}

/// A process killed while it appended may have left half a line; whole lines stay.
pub fn drop_torn_line(path: &Path) -> Result<(), FileError> {
    if !path.exists() {
        return Ok(());
    }
    let bytes = fs::read(path).map_err(FileError::at("read", path))?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    if whole == bytes.len() {
        return Ok(());
    }
    let file = OpenOptions::new().write(true).open(path).map_err(FileError::at("open", path))?;
    file.set_len(whole as u64).map_err(FileError::at("shorten", path))?;
    file.sync_all().map_err(FileError::at("sync", path))
}

fn remove_temporary_files(folder: &Path, removed: &mut Vec<PathBuf>) -> Result<(), FileError> {
    for path in folder_entries(folder)? {
        let is_folder = path.is_dir() && !path.is_symlink();
        if is_folder {
            remove_temporary_files(&path, removed)?;
        } else if is_temporary(&path) {
            fs::remove_file(&path).map_err(FileError::at("remove", &path))?;
            removed.push(path);
        }
    }
    Ok(())
}

// ──────────────────────────────────────── shards in a folder ────────────────────────────────────────

/// The two files of one shard of games.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardFiles {
    /// The number of the shard's first game, which is also in both names.
    pub first_game: u64,
    /// `games-<first>.parquet`: renamed last, so that its presence says the shard is complete.
    pub games: PathBuf,
    /// `positions-<first>.parquet`.
    pub positions: PathBuf,
}

impl ShardFiles {
    /// The names of the shard that begins with `first_game` in `folder`.
    pub fn new(folder: &Path, first_game: u64) -> Self {
        Self {
            first_game,
            games: folder.join(format!("games-{first_game:08}.parquet")),
            positions: folder.join(format!("positions-{first_game:08}.parquet")),
        }
    }
}

/// What lies in a folder of shards.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShardListing {
    /// Shards of which at least one file is there, by first game.
    pub shards: Vec<ShardFiles>,
    /// `.tmp` files of killed writers.
    pub temporary: Vec<PathBuf>,
    /// Anything else.
    pub foreign: Vec<PathBuf>,
}

impl ShardListing {
    /// First game numbers of the shards with both files, ascending.
    pub fn finished(&self) -> Vec<u64> {
        self.shards
            .iter()
            .filter(|shard| shard.games.exists() && shard.positions.exists())
            .map(|shard| shard.first_game)
            .collect()
    }
}

/// Lists the shards of `folder` by name, ascending by first game; opens none.
///
/// # Errors
/// When the folder cannot be listed.
pub fn list_shards(folder: &Path) -> Result<ShardListing, FileError> {
    let mut listing = ShardListing::default();
    let mut first_games = BTreeSet::new();
    for path in folder_entries(folder)? {
        match first_game_in_name(&path) {
            Some(first_game) => {
                first_games.insert(first_game);
            }
            None if is_temporary(&path) => listing.temporary.push(path),
            None => listing.foreign.push(path),
        }
    }
    listing.shards = first_games.into_iter().map(|first_game| ShardFiles::new(folder, first_game)).collect();
    Ok(listing)
}

/// The folders of shards that `dir` stands for: itself when it holds shards, otherwise its numbered
/// folders (`dir/selfplay/NNN` of a run, or `dir/NNN`) in order of generation.
///
/// # Errors
/// When `dir` cannot be listed.
pub fn shard_folders(dir: &Path) -> Result<Vec<PathBuf>, FileError> {
    if !list_shards(dir)?.shards.is_empty() {
        return Ok(vec![dir.to_owned()]);
    }
    let selfplay = dir.join("selfplay");
    numbered_folders(if selfplay.is_dir() { &selfplay } else { dir })
}

fn numbered_folders(dir: &Path) -> Result<Vec<PathBuf>, FileError> {
    let mut folders = BTreeMap::new();
    for path in folder_entries(dir)? {
        if let (true, Ok(generation)) = (path.is_dir(), name_of(&path).parse::<u32>()) {
            folders.insert(generation, path);
        }
    }
    Ok(folders.into_values().collect())
}

/// The game number in a shard file's name, if the name is exactly as [`ShardFiles`] writes it.
fn first_game_in_name(path: &Path) -> Option<u64> {
    let name = name_of(path);
    let stem = name.strip_suffix(".parquet")?;
    let (_, digits) = stem.rsplit_once('-')?;
    let first_game = digits.parse().ok()?;
    let shard = ShardFiles::new(Path::new(""), first_game);
    [shard.games, shard.positions].iter().any(|expected| name_of(expected) == name).then_some(first_game)
}

// ───────────────────────────────────────── files and folders ─────────────────────────────────────────

/// Writes a small file so that after a crash it is there whole or not at all: `<path>.tmp`, sync,
/// rename, sync of the folder. Makes the folder if need be. On failure the `.tmp` is removed.
///
/// # Errors
/// Says which step failed, on which path and why (full disk, no permission, a file in the way …).
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let folder = folder_of(path);
    create_folder(folder)?;
    let temporary = temporary_name(path);
    let renamed = write_synced(&temporary, bytes)
        .and_then(|()| fs::rename(&temporary, path).map_err(FileError::at("rename into place", path)));
    if renamed.is_err() {
        // The first error is the one worth telling; a `.tmp` that stays is harmless.
        let _ = fs::remove_file(&temporary);
    }
    renamed?;
    sync_folder(folder)
}

/// Appends a line to a journal and syncs it, making file and folder if need be.
///
/// # Errors
/// The folder or the file refuses.
pub fn append_line(path: &Path, line: &str) -> Result<(), FileError> {
    create_folder(folder_of(path))?;
    let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(FileError::at("open", path))?;
    let whole = file.metadata().map_err(FileError::at("look at", path))?.len();
    write_bytes(&mut file, format!("{line}\n").as_bytes(), path).inspect_err(|_| {
        // Half a line must not stand before the next one; the error that is told is the first.
        let _ = file.set_len(whole);
    })?;
    file.sync_data().map_err(FileError::at("sync", path))
}

fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file = File::create(path).map_err(FileError::at("create", path))?;
    write_bytes(&mut file, bytes, path)?;
    file.sync_all().map_err(FileError::at("sync", path))
}

/// Writes all of `bytes` to `writer`; `path` only serves the error.
fn write_bytes<W: Write>(writer: &mut W, bytes: &[u8], path: &Path) -> Result<(), FileError> {
    writer.write_all(bytes).and_then(|()| writer.flush()).map_err(FileError::at("write", path))
}

fn create_folder(folder: &Path) -> Result<(), FileError> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(FileError::at("create folder", folder))?;
    sync_folder(folder_of(folder))
}

/// Makes a rename inside `folder` durable. Only Unix lets a folder be opened for that.
fn sync_folder(folder: &Path) -> Result<(), FileError> {
    if !cfg!(unix) {
        return Ok(());
    }
    File::open(folder).and_then(|opened| opened.sync_all()).map_err(FileError::at("sync folder", folder))
}

/// The folder a path lies in; `.` for a bare name, `/` for the root.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

fn folder_entries(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let entries: io::Result<Vec<PathBuf>> =
        fs::read_dir(folder).and_then(|entries| entries.map(|entry| entry.map(|found| found.path())).collect());
    let mut paths = entries.map_err(FileError::at("list", folder))?;
    paths.sort();
    Ok(paths)
}

fn read_text(path: &Path) -> Result<String, FileError> {
    fs::read_to_string(path).map_err(FileError::at("read", path))
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn temporary_name(path: &Path) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(TEMPORARY);
    PathBuf::from(name)
}

fn is_temporary(path: &Path) -> bool {
    name_of(path).ends_with(TEMPORARY)
}

// ─────────────────────────────────────────────── errors ───────────────────────────────────────────────

/// The operating system refused something: what, where and why.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}: {source}", path.display())]
pub struct FileError {
    /// What was being done, as it follows "cannot": "write", "rename into place" …
    pub action: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// The system's reason.
    pub source: io::Error,
}

impl FileError {
    /// A closure for `map_err` that adds what was being done and where.
    pub fn at(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self { action, path, source }
    }
}

/// Why a run cannot be created or resumed.
#[derive(Debug, thiserror::Error)]
pub enum RunDirError {
    /// A file or folder could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The run was started with another plan. Nothing was changed.
    #[error(
        "{} was started with another plan; nothing was changed. Choose another folder or the recorded plan.{}",
        path.display(),
        listed(differences)
    )]
    PlanDiffers {
        /// The recorded plan.
        path: PathBuf,
        /// Every key that differs.
        differences: Vec<PlanDifference>,
    },
    /// Another process is writing to the run.
    #[error("{} is in use by {holder}; one process at a time may write to a run", path.display())]
    Locked {
        /// The run.
        path: PathBuf,
        /// What the owner wrote into the lock, for example "process 4711".
        holder: String,
    },
    /// The folder is not empty and was not made by this program.
    #[error("{} is not a run: expected an empty folder or {PLAN} in it, found {found:?}", path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
        /// One of the things in it.
        found: String,
    },
}

impl RunDirError {
    /// Whether the disk has no room: not a mistake of whoever named the folder.
    pub fn is_full_disk(&self) -> bool {
        matches!(self, Self::File(error) if error.source.kind() == io::ErrorKind::StorageFull)
    }
}

/// A key on which the recorded and the asked plan disagree, with both values in TOML's notation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanDifference {
    /// The dotted key, for example `selfplay.games`.
    pub key: String,
    /// The recorded value, if there is one.
    pub recorded: Option<String>,
    /// The value now asked for, if there is one.
    pub asked: Option<String>,
}

impl fmt::Display for PlanDifference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_nothing = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        let (recorded, asked) = (or_nothing(&self.recorded), or_nothing(&self.asked));
        write!(formatter, "{}: recorded {recorded}, asked for {asked}", self.key)
    }
}

fn listed(differences: &[PlanDifference]) -> String {
    differences.iter().map(|difference| format!("\n  {difference}")).collect()
}

fn plan_differences(recorded: &str, asked: &str) -> Vec<PlanDifference> {
    if recorded == asked {
        return Vec::new();
    }
    let (recorded, asked) = (flattened(recorded), flattened(asked));
    let keys: BTreeSet<&String> = recorded.keys().chain(asked.keys()).collect();
    keys.into_iter()
        .filter(|key| recorded.get(*key) != asked.get(*key))
        .map(|key| PlanDifference {
            key: key.clone(),
            recorded: recorded.get(key).cloned(),
            asked: asked.get(key).cloned(),
        })
        .collect()
}

/// Dotted key → value. A text that is no TOML is one value, so that it equals only itself.
fn flattened(plan: &str) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    match plan.parse::<toml::Table>() {
        Ok(table) => flatten("", &table, &mut values),
        Err(_) => {
            values.insert("(not TOML)".to_owned(), format!("{plan:?}"));
        }
    }
    values
}

fn flatten(prefix: &str, table: &toml::Table, values: &mut BTreeMap<String, String>) {
    for (key, value) in table {
        let dotted = format!("{prefix}{key}");
        match value {
            toml::Value::Table(inner) if !inner.is_empty() => flatten(&format!("{dotted}."), inner, values),
            leaf => {
                values.insert(dotted, leaf.to_string());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN_TEXT: &str = "seed = 7\n[selfplay]\ngames = 100 # enough\nnodes = 500\n";

    fn open(path: &Path) -> Result<RunDir, RunDirError> {
        RunDir::create_or_resume(path, PLAN_TEXT, "0.1.0")
    }

    fn contents(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let files = folder_entries(path).unwrap();
        files.into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect()
    }

    #[test]
    fn a_new_run_keeps_its_plan_and_version() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("runs/first");
        let run = open(&root).unwrap();
        assert!(!run.is_resumed());
        assert_eq!(fs::read_to_string(run.plan()).unwrap(), PLAN_TEXT);
        assert_eq!(run.versions().unwrap(), ["0.1.0"]);
    }

    #[test]
    fn the_same_plan_resumes_whatever_its_spacing_and_version() {
        let dir = tempfile::tempdir().unwrap();
        drop(open(dir.path()).unwrap());
        let same = "seed = 7\nselfplay = { nodes = 500, games = 100 }";
        let run = RunDir::create_or_resume(dir.path(), same, "0.2.0").unwrap();
        assert!(run.is_resumed());
        assert_eq!(fs::read_to_string(run.plan()).unwrap(), PLAN_TEXT);
        assert_eq!(run.versions().unwrap(), ["0.1.0", "0.2.0"]);
    }

    #[test]
    fn another_plan_is_refused_with_its_keys_and_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        drop(open(dir.path()).unwrap());
        let before = contents(dir.path());
        let other = "[selfplay]\ngames = 200\nnodes = 500\n[fit]\nridge = 0.5";
        let error = RunDir::create_or_resume(dir.path(), other, "0.2.0").unwrap_err();
        let message = error.to_string();
        assert!(message.contains("plan.toml was started with another plan; nothing was changed"), "{message}");
        assert!(message.contains("\n  fit.ridge: recorded nothing, asked for 0.5"), "{message}");
        assert!(message.contains("\n  seed: recorded 7, asked for nothing"), "{message}");
        assert!(message.contains("\n  selfplay.games: recorded 100, asked for 200"), "{message}");
        assert!(!message.contains("nodes"), "{message}");
        assert_eq!(contents(dir.path()), before);
    }

    #[test]
    fn a_run_has_one_writer() {
        let dir = tempfile::tempdir().unwrap();
        let first = open(dir.path()).unwrap();
        let message = open(dir.path()).unwrap_err().to_string();
        assert!(message.contains(&format!("in use by process {}", std::process::id())), "{message}");
        drop(first);
        assert!(open(dir.path()).unwrap().is_resumed());
    }

    #[test]
    fn a_folder_with_other_things_is_not_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("thesis.tex"), "years of work").unwrap();
        let message = open(dir.path()).unwrap_err().to_string();
        assert!(message.contains("found \"thesis.tex\""), "{message}");
        assert_eq!(contents(dir.path()).len(), 1);
    }

    #[test]
    fn a_run_killed_while_it_was_created_is_created_again() {
        let dir = tempfile::tempdir().unwrap();
        for name in [LOCK, VERSION, "plan.toml.tmp"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let run = open(dir.path()).unwrap();
        assert!(!run.is_resumed());
        assert_eq!(fs::read_to_string(run.plan()).unwrap(), PLAN_TEXT);
    }

    #[test]
    fn a_run_below_a_file_is_an_error_that_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let message = open(&file.join("run")).unwrap_err().to_string();
        assert!(message.contains("cannot create folder") && message.contains("file/run"), "{message}");
        assert!(open(&file).is_err());
    }

    #[test]
    fn names_are_as_documented() {
        let paths = RunPaths::new("run");
        assert_eq!(paths.selfplay(1), Path::new("run/selfplay/001"));
        assert_eq!(paths.weights(12), Path::new("run/weights/012.toml"));
        assert_eq!(paths.rejected(3), Path::new("run/rejected/003.toml"));
        assert_eq!(paths.gate(2, 1).pairs, Path::new("run/gate/002-vs-001.jsonl"));
        assert_eq!(paths.gate(2, 1).verdict, Path::new("run/gate/002-vs-001.toml"));
        assert_eq!(paths.report(), Path::new("run/report.md"));
    }

    #[test]
    fn a_shard_is_finished_when_both_its_files_are_there() {
        let dir = tempfile::tempdir().unwrap();
        let run = open(dir.path()).unwrap();
        assert_eq!(run.finished_shards(1).unwrap(), [0_u64; 0]);
        let names = [
            "positions-00000256.parquet",
            "games-00000256.parquet",
            "positions-00000000.parquet",
            "games-00000000.parquet",
            "positions-00000512.parquet",
            "games-00000512.parquet.tmp",
            "games-768.parquet",
        ];
        for name in names {
            write_atomically(&run.selfplay(1).join(name), b"").unwrap();
        }
        assert_eq!(run.finished_shards(1).unwrap(), [0, 256]);
        let listing = list_shards(&run.selfplay(1)).unwrap();
        assert_eq!(listing.shards[2], ShardFiles::new(&run.selfplay(1), 512));
        assert_eq!(listing.temporary, [run.selfplay(1).join("games-00000512.parquet.tmp")]);
        assert_eq!(listing.foreign, [run.selfplay(1).join("games-768.parquet")]);
        assert_eq!(run.clean_tmp().unwrap(), listing.temporary);
        assert!(list_shards(&run.selfplay(1)).unwrap().temporary.is_empty());
    }

    #[test]
    fn large_game_numbers_keep_all_their_digits() {
        let files = ShardFiles::new(Path::new("x"), 12_345_678_901);
        assert_eq!(files.games, Path::new("x/games-12345678901.parquet"));
        assert_eq!(first_game_in_name(&files.positions), Some(12_345_678_901));
    }

    #[test]
    fn events_are_whole_lines_even_after_a_kill() {
        let dir = tempfile::tempdir().unwrap();
        let run = open(dir.path()).unwrap();
        run.append_event(&serde_json::json!({"event": "started"})).unwrap();
        let path = run.events();
        drop(run);
        let mut torn = fs::read(&path).unwrap();
        torn.extend(b"{\"event\": \"sta");
        fs::write(&path, torn).unwrap();
        let run = open(dir.path()).unwrap();
        run.append_event(&serde_json::json!({"event": "resumed"})).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "{\"event\":\"started\"}\n{\"event\":\"resumed\"}\n");
    }

    #[test]
    fn an_atomic_write_replaces_the_file_or_leaves_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/folder/card.toml");
        write_atomically(&path, b"one").unwrap();
        write_atomically(&path, b"two").unwrap();
        assert_eq!(contents(folder_of(&path)), [(path.clone(), b"two".to_vec())]);
        let in_the_way = dir.path().join("in the way");
        fs::create_dir(&in_the_way).unwrap();
        let message = write_atomically(&in_the_way, b"three").unwrap_err().to_string();
        assert!(message.starts_with("cannot rename into place"), "{message}");
        assert!(!temporary_name(&in_the_way).exists());
    }

    /// Takes some bytes, then is full.
    struct SmallDisk(usize);

    impl Write for SmallDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            if taken == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_disk_that_fills_up_is_an_error_with_the_path() {
        let error = write_bytes(&mut SmallDisk(3), b"four", Path::new("there")).unwrap_err();
        assert_eq!((error.action, error.path.as_path()), ("write", Path::new("there")));
        assert_eq!(error.source.kind(), io::ErrorKind::StorageFull);
        write_bytes(&mut SmallDisk(4), b"four", Path::new("there")).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_keeps_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("card.toml");
        write_atomically(&path, b"old").unwrap();
        std::os::unix::fs::symlink("/dev/full", temporary_name(&path)).unwrap();
        let error = write_atomically(&path, b"new").unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::StorageFull);
        assert_eq!(contents(dir.path()), [(path, b"old".to_vec())]);
    }
}
