//! Fuzzing of what the trainer reads: plans of every kind, claims, journals, openings, books and suites as text, checkpoints. The engine's
//! fuzzer (`engine/tests/fuzz`) tells how it is done; its harness is used here.
//!
//! ```text
//! cargo test -p fairyforge --test fuzz                                                # a few seconds
//! FAIRYFORGE_FUZZ_INPUTS=1000000 cargo test -p fairyforge --test fuzz -- --ignored --nocapture
//! ```

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../../../engine/tests/common/mod.rs"]
mod common;
#[path = "../../../engine/tests/fuzz/harness.rs"]
mod harness;
mod journals;
#[path = "../../../engine/tests/fuzz/mutate.rs"]
mod mutate;
mod plans;
mod texts;

use harness::{Target, Verdict, message};
use std::path::{Path, PathBuf};

/// Inputs of the ignored run, unless the environment says otherwise: files are written and synced for many of them.
const MANY: u64 = 60_000;

fn targets() -> Vec<Target> {
    [plans::ALL, journals::ALL, texts::ALL].concat()
}

#[test]
fn the_corpus_is_replayed() {
    harness::replay(&targets());
}

#[test]
fn a_few_spoilt_inputs() {
    harness::few(&targets());
}

#[test]
#[ignore = "half a minute, or as many inputs as FAIRYFORGE_FUZZ_INPUTS says"]
fn many_spoilt_inputs() {
    harness::many(&targets(), MANY);
}

/// What a reader that refuses says of it.
fn refused(error: &impl std::fmt::Display) -> Result<Verdict, String> {
    message(error, harness::MOST_SAID_OF_A_FILE).map(|()| Verdict::Refused)
}

/// The files of a folder of the repository whose names end so.
fn files(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect();
    paths.sort();
    paths.into_iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Gives a reader of files the input as a file.
fn as_file<T>(input: &[u8], ending: &str, read: impl FnOnce(&Path) -> T) -> T {
    let file = tempfile::Builder::new().suffix(ending).tempfile().unwrap();
    std::fs::write(file.path(), input).unwrap();
    read(file.path())
}
