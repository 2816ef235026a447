//! The promise of `docs/formats/README.md`, held by files that were kept: whatever today's version has written is read by later ones, or
//! the format's number has been raised, and then the message says which was expected and which came.
//!
//! `data/formats` is not made again when the program changes: that is the point of it. A new format adds files to it.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

mod common;

use common::{Workplace, all_files};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

const SELFPLAY: &str =
    "selfplay --variant chess --games 8 --nodes 10 --seed 1 --shard-games 4 --out selfplay --threads 1";
const MATCH: &str =
    "match --variant chess --a a-priori --b a-priori --pairs 2 --nodes 10 --seed 1 --out match --threads 1";
/// Runs that were kept, and the commands that made them.
const RUNS: [(&str, &str); 8] = [
    ("selfplay", SELFPLAY),
    ("match", MATCH),
    ("loop", "loop loop.toml --out loop --threads 1"),
    ("train", "train train.toml --out train --threads 1"),
    ("values", "values run values.toml --out values --threads 1"),
    ("tune", "tune spsa tune.toml --out tune --threads 1"),
    ("book", "book build book.toml --out book --threads 1"),
    ("suite", "book suite suite.toml --out suite --threads 1"),
];

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/formats")
}

/// The kept files, to be worked with.
fn place() -> Workplace {
    let place = Workplace::new();
    for name in all_files(&kept()) {
        let to = place.path(&name);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(kept().join(&name), to).unwrap();
    }
    place
}

/// What was played, learnt and found, and cannot be made of anything else.
fn is_recorded(name: &str) -> bool {
    let made_again = ["opening.book", "network.net", "version.txt"].iter().any(|made| name.ends_with(made));
    let recorded = ["plan.toml", ".parquet", ".jsonl", ".checkpoint"].iter().any(|end| name.ends_with(end));
    (recorded || name.contains("weights/")) && !made_again
}

/// Every run of the kept ones is complete: a later version tells it again, plays nothing, and changes nothing that was recorded.
#[test]
fn kept_runs_are_taken_up() {
    let place = place();
    for (run, line) in RUNS {
        let before = place.files(run);
        assert!(before.keys().filter(|name| is_recorded(name)).count() >= 2, "{run}: {:?}", before.keys());
        place.run(line).succeeded();
        let mut after = place.files(run);
        after.retain(|name, _| is_recorded(name));
        for (name, bytes) in before.iter().filter(|(name, _)| is_recorded(name)) {
            assert!(after.remove(name).as_ref() == Some(bytes), "{run}: {name} has changed");
        }
        assert!(after.is_empty(), "{run}: expected nothing new, got {:?}", after.keys());
    }
}

#[test]
fn kept_files_are_read() {
    let place = place();
    for line in [
        "data verify selfplay",
        "data verify loop",
        "data verify values",
        "match verify match",
        "tune recompute tune",
        "rate match/journal.jsonl match/games.pgn",
        "book verify book/opening.book",
        "book verify suite/openings.epd",
        "endgame verify tables",
        "match --variant chess --a weights.toml --b network.net --pairs 1 --nodes 10 --seed 1 --out weights-match",
        "match --variant chess --a network.net --b a-priori --openings suite/openings.epd --pairs 1 --nodes 10 --seed 1 --out suite-match",
    ] {
        place.run(line).succeeded();
    }
    let plan = place.read("tune.toml").replace("weights =", "search = \"search.toml\"\nweights =");
    place.write("searched.toml", &plan);
    place.run("tune spsa searched.toml --out searched").succeeded();
    assert!(place.read("searched/tuned.toml").contains("late_move_base"));
}

/// A file of a later version, the command that reads it, and what is said: expected, got.
struct Later<'a> {
    file: &'a str,
    /// How the file says today's number, and how the next.
    numbers: (&'a str, &'a str),
    line: &'a str,
    status: i32,
    words: &'a [&'a str],
}

fn refused(place: &Workplace, later: &Later<'_>) {
    let (today, next) = later.numbers;
    let path = place.path(later.file);
    let bytes = std::fs::read(&path).unwrap();
    let start = find(&bytes, today.as_bytes()).unwrap_or_else(|| panic!("{}: no {today:?}", later.file));
    let rest = &bytes[start + today.len()..];
    std::fs::write(&path, sealed([&bytes[..start], next.as_bytes(), rest].concat(), later.file)).unwrap();
    let ended = place.run(later.line);
    // Whoever checks many files tells the faults as results.
    let told = ended.stdout.clone() + &ended.failed(later.status);
    let name = later.file.rsplit('/').next().unwrap_or_default();
    for word in later.words.iter().chain([&name]) {
        assert!(told.contains(word), "expected {word:?} in: {told}");
    }
    std::fs::write(&path, bytes).unwrap();
}

/// With the checksum that such a file would have: it is whole, only newer.
fn sealed(mut bytes: Vec<u8>, name: &str) -> Vec<u8> {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    if name.ends_with(".checkpoint") {
        let content = bytes.len() - 32;
        let digest = Sha256::digest(&bytes[..content]);
        bytes[content..].copy_from_slice(&digest);
    } else if name.ends_with(".parquet") {
        let mark = b"seal-sha256:";
        let digits = bytes.windows(mark.len()).rposition(|window| window == mark).unwrap() + mark.len();
        bytes[digits..digits + 64].fill(b'0');
        let digest = hex(&Sha256::digest(&bytes));
        bytes[digits..digits + 64].copy_from_slice(digest.as_bytes());
    }
    bytes
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

#[test]
fn a_later_format_is_refused_with_both_numbers() {
    let place = place();
    place.write("variant.toml", "format = 1\ninherits = \"chess\"\n[variant]\nname = \"Mine\"\n");
    place.write("claims.toml", include_str!("../../configs/claims/sorcerer.toml"));
    place.write("searched.toml", &place.read("tune.toml").replace("weights =", "search = \"search.toml\"\nweights ="));
    let text = ("format = 1", "format = 2");
    let json = ("\"format\":1", "\"format\":2");
    let later = |file, numbers, line, (status, words)| Later { file, numbers, line, status, words };
    let weights = "match --variant chess --a weights.toml --b a-priori --pairs 1 --nodes 10 --seed 1 --out new";
    let network = "match --variant chess --a network.net --b a-priori --pairs 1 --nodes 10 --seed 1 --out new";
    let plan: (i32, &[&str]) = (2, &["format", "expected 1, got 2"]);
    for case in [
        later("variant.toml", text, "variant check variant.toml", (2, &["expected format = 1", "got 2"])),
        later("claims.toml", ("format  = 1", "format  = 2"), "claims check claims.toml", plan),
        later("search.toml", text, "tune spsa searched.toml --out new", (2, &["expected format = 1, got 2"])),
        later("weights.toml", text, weights, (2, &["weights.toml: weights file: expected format 1, got 2"])),
        later("network.net", json, network, (2, &["network.net: network file: expected format 1, got 2"])),
        later("tables/KvK.table", json, "endgame verify tables", (2, &["table file: expected format 1, got format 2"])),
        later("book/opening.book", json, "book verify book/opening.book", (2, &["book: expected format 1, got 2"])),
        later("suite/openings.epd", json, "book verify suite/openings.epd", (2, &["line 1: expected format 1, got 2"])),
        later(
            "match/journal.jsonl",
            ("\"journal\":2", "\"journal\":3"),
            MATCH,
            (1, &["journal of format 2, got format 3"]),
        ),
        later(
            "tune/tune.jsonl",
            json,
            "tune recompute tune",
            (2, &["tune.jsonl, line 1: expected", "\"format\":2", "and not `{\"format\":1"]),
        ),
        later(
            "book/book.jsonl",
            json,
            RUNS[6].1,
            (1, &["book.jsonl, line 1: expected {\"format\":1", "got {\"format\":2"]),
        ),
        later(
            "suite/suite.jsonl",
            json,
            RUNS[7].1,
            (1, &["suite.jsonl, line 1: expected {\"format\":1", "got {\"format\":2"]),
        ),
        later(
            "train/checkpoints/00000004.checkpoint",
            ("checkpoint 2\n", "checkpoint 3\n"),
            RUNS[3].1,
            (1, &["expected \"fairyforge training checkpoint 2\" first, got \"fairyforge training checkpoint 3\""]),
        ),
        later(
            "selfplay/selfplay/001/games-00000000.parquet",
            ("fairyforge.schema\u{18}\u{1}1", "fairyforge.schema\u{18}\u{1}2"),
            "data verify selfplay",
            (2, &["games-00000000.parquet: header key fairyforge.schema: expected 1, got \"2\""]),
        ),
        later("loop.toml", text, "loop loop.toml --out new", plan),
        later("train.toml", text, "train train.toml --out new", plan),
        later("values.toml", text, "values run values.toml --out new", plan),
        later("tune.toml", text, "tune spsa tune.toml --out new", plan),
        later("book.toml", text, "book build book.toml --out new", plan),
        later("suite.toml", text, "book suite suite.toml --out new", plan),
    ] {
        refused(&place, &case);
    }
}
