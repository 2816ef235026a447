//! Fuzzing of everything that reads text from outside, without a compiler for it: known inputs are cut up, mixed with words
//! of their language and spoilt, from a fixed seed. No input may panic, hang, or swallow memory, and what is accepted must
//! make sense (each target says how).
//!
//! ```text
//! cargo test -p fairyforge-engine --test fuzz                                                # a few seconds
//! FAIRYFORGE_FUZZ_INPUTS=1000000 cargo test -p fairyforge-engine --test fuzz -- --ignored --nocapture
//! ```
//!
//! `FAIRYFORGE_FUZZ_SEED` gives other inputs, `FAIRYFORGE_FUZZ_TARGET` only those of one target. The corpus is
//! `tests/data/fuzz/<target>/`; an input that fails is written there and replayed by every later run, until it is mended and
//! for good after that.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../common/mod.rs"]
mod common;
mod mutate;
mod targets;
mod words;

use mutate::Mutator;
use sha2::{Digest, Sha256};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use targets::{Target, Verdict};

/// Inputs of a run that every `cargo test` makes, all targets together.
const QUICK_INPUTS: u64 = 20_000;
/// Inputs of the ignored run, unless the environment says otherwise.
const LONG_INPUTS: u64 = 400_000;
/// Longest time one input may take.
const MOST_TIME: Duration = Duration::from_secs(2);
/// How often an input that took longer is tried again before it counts: a busy machine may be late now and then.
const SECOND_CHANCES: usize = 4;
/// An input that takes so long is written down and ends the whole program, since nothing else would.
const HANGING: Duration = Duration::from_secs(60);
/// Greatest memory of the whole program, in kibibytes.
const MOST_MEMORY: u64 = 1 << 20;

#[test]
fn the_corpus_is_replayed() {
    let mut faults = Vec::new();
    for target in targets::ALL {
        let watch = Watch::start(target);
        for (path, input) in corpus(target) {
            faults.extend(attempt(target, &input, &watch).err().map(|fault| format!("{}: {fault}", path.display())));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_few_spoilt_inputs() {
    fuzz(QUICK_INPUTS);
}

#[test]
#[ignore = "half a minute, or as many inputs as FAIRYFORGE_FUZZ_INPUTS says"]
fn many_spoilt_inputs() {
    fuzz(number("FAIRYFORGE_FUZZ_INPUTS").unwrap_or(LONG_INPUTS));
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}: expected a number, got {text:?}")))
}

/// So many inputs, shared out among the targets.
fn fuzz(inputs: u64) {
    let seed = number("FAIRYFORGE_FUZZ_SEED").unwrap_or(1);
    let only = std::env::var("FAIRYFORGE_FUZZ_TARGET").ok();
    let chosen: Vec<_> =
        targets::ALL.iter().filter(|target| only.as_ref().is_none_or(|name| name == target.name)).collect();
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
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Writes a failing input into the corpus.
fn kept(target: &Target, input: &[u8]) -> PathBuf {
    let hash: String = Sha256::digest(input).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let path = corpus_folder(target).join(format!("failure-{hash}.txt"));
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
