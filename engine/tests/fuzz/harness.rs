//! How targets are fuzzed, whatever they are: corpus, time, memory, what is kept of a failure. Both crates' fuzzers use it.

use crate::mutate::Mutator;
use sha2::{Digest, Sha256};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Inputs of a run that every `cargo test` makes, all targets together.
const QUICK_INPUTS: u64 = 20_000;
/// Longest time one input may take.
const MOST_TIME: Duration = Duration::from_secs(2);
/// How often an input that took longer is tried again before it counts: a busy machine may be late now and then.
const SECOND_CHANCES: usize = 4;
/// An input that takes so long is written down and ends the whole program, since nothing else would.
const HANGING: Duration = Duration::from_secs(60);
/// Greatest memory of the whole program, in kibibytes.
const MOST_MEMORY: u64 = 1 << 20;

/// Longest message about a single fault, in characters.
pub const MOST_SAID: usize = 1_000;
/// Longest message about a whole file.
pub const MOST_SAID_OF_A_FILE: usize = 200 * MOST_SAID;

/// A reader of text.
#[derive(Clone)]
pub struct Target {
    /// Also the name of its folder in the corpus.
    pub name: &'static str,
    /// Its part of the inputs, in proportion to the others' parts: quick readers get more.
    pub share: u64,
    /// Longest input.
    pub most_bytes: usize,
    /// What its language is made of.
    pub words: &'static [&'static str],
    /// Whether there is no such thing as a refused input.
    pub accepts_all: bool,
    /// Inputs beside those of the corpus.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Reads an input and checks what is promised of the result.
    pub check: fn(&[u8]) -> Result<Verdict, String>,
}

/// What became of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accepted,
    Refused,
}

/// Text for readers that take text: what is no UTF-8 is replaced, as a caller would have to.
pub fn text_of(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}

/// Messages say something, and not without end.
pub fn message(error: &impl std::fmt::Display, most: usize) -> Result<(), String> {
    let said = error.to_string();
    let length = said.chars().count();
    if said.trim().is_empty() || length > most {
        return Err(format!("a message of {length} characters: {}", said.chars().take(300).collect::<String>()));
    }
    Ok(())
}

/// Replays the corpus of all targets.
pub fn replay(targets: &[Target]) {
    let mut faults = Vec::new();
    for target in targets {
        let watch = Watch::start(target);
        for (path, input) in corpus(target) {
            faults.extend(attempt(target, &input, &watch).err().map(|fault| format!("{}: {fault}", path.display())));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// As many inputs as every `cargo test` makes, all targets together.
pub fn few(targets: &[Target]) {
    fuzz(targets, QUICK_INPUTS);
}

/// As many inputs as the environment says, or `usual`.
pub fn many(targets: &[Target], usual: u64) {
    fuzz(targets, number("FAIRYFORGE_FUZZ_INPUTS").unwrap_or(usual));
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}: expected a number, got {text:?}")))
}

/// So many inputs, shared out among the targets.
fn fuzz(targets: &[Target], inputs: u64) {
    let seed = number("FAIRYFORGE_FUZZ_SEED").unwrap_or(1);
    let only = std::env::var("FAIRYFORGE_FUZZ_TARGET").ok();
    let chosen: Vec<_> = targets.iter().filter(|target| only.as_ref().is_none_or(|name| name == target.name)).collect();
    let shares: u64 = chosen.iter().map(|target| target.share).sum();
    assert!(shares > 0, "no target is called {only:?}");
    let reports: Vec<_> =
        chosen.iter().map(|target| fuzz_target(target, seed, (inputs * target.share).div_ceil(shares))).collect();
    let faults: Vec<_> = reports.iter().flat_map(|report| report.faults.clone()).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    for report in reports {
        // Whoever never gets past the first check tests nothing behind it, and whoever refuses nothing is no judge.
        assert!(
            report.accepted * 200 > report.inputs,
            "{} accepts only {} of {}",
            report.name,
            report.accepted,
            report.inputs
        );
        assert!(report.accepted < report.inputs || report.accepts_all, "{} refuses nothing", report.name);
    }
    let memory = most_memory_used().unwrap_or(0);
    assert!(memory <= MOST_MEMORY, "{memory} KiB of memory were used, at most {MOST_MEMORY} are expected");
}

/// What became of a target's inputs.
struct Report {
    name: &'static str,
    inputs: u64,
    accepted: u64,
    accepts_all: bool,
    faults: Vec<String>,
}

fn fuzz_target(target: &Target, seed: u64, inputs: u64) -> Report {
    let began = Instant::now();
    let seeds = corpus(target).into_iter().map(|(_, input)| input).chain((target.seeds)()).collect();
    let mut mutator = Mutator::new(seed, seeds, target.words, target.most_bytes);
    let mut report =
        Report { name: target.name, inputs: 0, accepted: 0, accepts_all: target.accepts_all, faults: Vec::new() };
    let watch = Watch::start(target);
    let mut slowest = Duration::ZERO;
    while report.inputs < inputs && report.faults.len() < 5 {
        let input = mutator.next();
        report.inputs += 1;
        let started = Instant::now();
        match attempt(target, &input, &watch) {
            Ok(Verdict::Accepted) => {
                report.accepted += 1;
                mutator.keep(input);
            }
            Ok(Verdict::Refused) => {}
            Err(fault) => report.faults.push(format!("{fault}\n  kept as {}", kept(target, &input).display())),
        }
        slowest = slowest.max(started.elapsed());
    }
    eprintln!(
        "{:<13} {:>9} inputs, {:>5.1} % accepted, {} failed, {:.0} s, slowest {:.0} ms",
        target.name,
        report.inputs,
        100.0 * report.accepted as f64 / report.inputs as f64,
        report.faults.len(),
        began.elapsed().as_secs_f64(),
        slowest.as_secs_f64() * 1e3
    );
    report
}

/// Gives one input to the target. `Err`: a panic, a broken promise, or too long a time, again and again.
fn attempt(target: &Target, input: &[u8], watch: &Watch) -> Result<Verdict, String> {
    let (verdict, time) = timed(target, input, watch)?;
    if time <= MOST_TIME {
        return Ok(verdict);
    }
    for _ in 0..SECOND_CHANCES {
        if timed(target, input, watch)?.1 <= MOST_TIME {
            return Ok(verdict);
        }
    }
    Err(format!("{}: took {} s", target.name, time.as_secs_f64()))
}

fn timed(target: &Target, input: &[u8], watch: &Watch) -> Result<(Verdict, Duration), String> {
    watch.see(input);
    let began = Instant::now();
    let done = catch_unwind(AssertUnwindSafe(|| (target.check)(input)));
    let time = began.elapsed();
    watch.see_nothing();
    let fault = |said: &str| format!("{}: {said}\n  input {:?}", target.name, shown(input));
    match done {
        Ok(Ok(verdict)) => Ok((verdict, time)),
        Ok(Err(said)) => Err(fault(&said)),
        Err(panic) => Err(fault(&format!("panicked: {}", words_of(&*panic)))),
    }
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}

fn shown(input: &[u8]) -> String {
    String::from_utf8_lossy(input).chars().take(600).collect()
}

fn corpus_folder(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fuzz").join(target.name)
}

/// The inputs that are kept, in the order of their names.
fn corpus(target: &Target) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = corpus_folder(target);
    let mut paths: Vec<_> =
        std::fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Writes a failing input into the corpus.
fn kept(target: &Target, input: &[u8]) -> PathBuf {
    let hash: String = Sha256::digest(input).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let path = corpus_folder(target).join(format!("failure-{hash}.txt"));
    std::fs::create_dir_all(corpus_folder(target)).unwrap();
    std::fs::write(&path, input).unwrap();
    path
}

/// Looks after an input that never comes to an end.
struct Watch(Arc<Mutex<Watched>>);

#[derive(Default)]
struct Watched {
    current: Option<(Instant, Vec<u8>)>,
    over: bool,
}

impl Watch {
    fn start(target: &Target) -> Self {
        let shared = Arc::new(Mutex::new(Watched::default()));
        let (seen, target) = (Arc::clone(&shared), target.clone());
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_millis(200));
                let watched = seen.lock().unwrap();
                if watched.over {
                    return;
                }
                if let Some((_, input)) = watched.current.as_ref().filter(|(since, _)| since.elapsed() > HANGING) {
                    eprintln!("{}: an input hangs, kept as {}", target.name, kept(&target, input).display());
                    std::process::abort();
                }
            }
        });
        Self(shared)
    }

    fn see(&self, input: &[u8]) {
        self.0.lock().unwrap().current = Some((Instant::now(), input.to_vec()));
    }

    fn see_nothing(&self) {
        self.0.lock().unwrap().current = None;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Ok(mut watched) = self.0.lock() {
            watched.over = true;
        }
    }
}

/// The most memory that the program has had, in kibibytes, where the system tells.
fn most_memory_used() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
