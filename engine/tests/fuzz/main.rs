//! Fuzzing of everything that reads from outside, without a compiler for it: known inputs are cut up, mixed with words
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
mod files;
mod harness;
mod mutate;
mod sealed;
mod targets;
mod words;

/// Inputs of the ignored run, unless the environment says otherwise.
const MANY: u64 = 400_000;

fn targets() -> Vec<harness::Target> {
    [targets::ALL, files::ALL].concat()
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
