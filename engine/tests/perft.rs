//! Leaf counts of every file in `data/perft`, from independent implementations; those in `data/perft/outside` are
//! Fairy-Stockfish's.
//!
//! By default each count up to a node budget is checked, so that the suite takes seconds; `--ignored` checks all.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use fairyforge_engine::moves::perft::perft;
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Leaves a single count may have in the default suite.
const NODE_BUDGET: u64 = 500_000;

/// The same for the many outside games.
const OUTSIDE_BUDGET: u64 = 30_000;

#[derive(Deserialize)]
struct File {
    variant: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    fen: String,
    nodes: Vec<u64>,
    /// Why the count is not ours: it contradicts the game's own rules.
    #[serde(default)]
    contradicts: Option<String>,
}

#[test]
fn counts_within_the_budget() {
    assert!(check("perft", NODE_BUDGET) > 200);
}

#[test]
fn outside_counts_within_the_budget() {
    assert!(check("perft/outside", OUTSIDE_BUDGET) > 500);
}

#[test]
#[ignore = "all counts: half a minute"]
fn all_counts() {
    assert!(check("perft", u64::MAX) > 300);
}

#[test]
#[ignore = "all counts: half a minute"]
fn all_outside_counts() {
    assert!(check("perft/outside", u64::MAX) > 800);
}

/// Checks every count of at most `budget` leaves in a folder of data and returns how many there were.
fn check(folder: &str, budget: u64) -> usize {
    let (mut checked, mut wrong) = (0, Vec::new());
    for path in files(folder) {
        let file: File = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        match Variant::load(&file.variant) {
            Ok(variant) => checked += check_game(&file, &Arc::new(variant), budget, &mut wrong),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    checked
}

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(folder);
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    files
}

fn check_game(file: &File, variant: &Arc<Variant>, budget: u64, wrong: &mut Vec<String>) -> usize {
    let mut checked = 0;
    for case in &file.cases {
        let mut position = match Position::from_fen(variant, &case.fen) {
            Ok(position) => position,
            Err(error) => {
                wrong.push(format!("{} {}: {error}", file.variant, case.fen));
                continue;
            }
        };
        let within = (1..).zip(&case.nodes).filter(|(_, nodes)| **nodes <= budget);
        let mut agrees = true;
        for (depth, &expected) in within {
            checked += 1;
            let got = perft(&mut position, depth);
            agrees &= got == expected;
            if !agrees && case.contradicts.is_none() {
                wrong.push(format!("{} {} depth {depth}: expected {expected}, got {got}", file.variant, case.fen));
                break;
            }
        }
        if agrees && case.contradicts.is_some() && budget == u64::MAX {
            wrong.push(format!("{} {}: marked as a contradiction, but agrees", file.variant, case.fen));
        }
    }
    checked
}
