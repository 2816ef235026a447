//! Leaf counts of every file in `data/perft`, from independent implementations.
//!
//! By default each count up to a node budget is checked, so that the suite takes seconds; `--ignored` checks all.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use fairyforge_engine::moves::perft::perft;
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;

/// Leaves a single count may have in the default suite.
const NODE_BUDGET: u64 = 500_000;

#[derive(Deserialize)]
struct File {
    variant: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    fen: String,
    nodes: Vec<u64>,
}

#[test]
fn counts_within_the_budget() {
    assert!(check(NODE_BUDGET) > 200);
}

#[test]
#[ignore = "all counts: half a minute"]
fn all_counts() {
    assert!(check(u64::MAX) > 300);
}

/// Checks every count of at most `budget` leaves and returns how many there were.
fn check(budget: u64) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/perft");
    let mut checked = 0;
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let file: File = serde_json::from_str(&text).unwrap();
        let variant = Arc::new(Variant::load(&file.variant).unwrap());
        for case in &file.cases {
            let mut position = match Position::from_fen(&variant, &case.fen) {
                Ok(position) => position,
                Err(error) => {
                    wrong.push(format!("{} {}: {error}", file.variant, case.fen));
                    continue;
                }
            };
            assert_eq!(position.fen(), case.fen, "{}", file.variant);
            for (depth, &expected) in (1..).zip(&case.nodes).filter(|(_, nodes)| **nodes <= budget) {
                checked += 1;
                let got = perft(&mut position, depth);
                if got != expected {
                    wrong.push(format!("{} {} depth {depth}: expected {expected}, got {got}", file.variant, case.fen));
                    break;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    checked
}
