//! Journals and checkpoints: what runs leave and read again when they go on.

use crate::common::variant;
use crate::harness::{Target, Verdict};
use crate::{as_file, refused};
use fairyforge::arena::journal::{GameEntry, Header as MatchHeader, Journal as MatchJournal, JournalPlayer, Reader};
use fairyforge::book::journal::{ExpandedMove, Expansion, Journal as BookJournal};
use fairyforge::train::checkpoint::Checkpoint;
use fairyforge::tune::Tuner;
use fairyforge::tune::journal::{Header as TuneHeader, Iteration, Provenance};
use fairyforge::tune::objective::PairResult;
use fairyforge::tune::spsa::{Kind, Setting};
use fairyforge::tune::tuner::Course;
use fairyforge_engine::variant::Variant;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// What lines of journals are made of.
const WORDS: &[&str] = &[
    "\"journal\":2",
    "\"format\":1",
    "\"pair\":",
    "\"game\":",
    "\"white\":",
    "\"black\":",
    "\"result\":",
    "\"moves\":\"",
    "\"scores\":[",
    "\"depths\":[",
    "\"fault\":{",
    "\"player\":",
    "\"kind\":\"crash\"",
    "\"theta\":[",
    "\"pairs\":[",
    "\"flips\":[",
    "\"iteration\":",
    "\"position\":\"",
    "\"glanced\":",
    "\"score\":",
    "\"model_bytes\":",
    "\"optimiser_bytes\":",
    "null",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\n",
    "-",
    "1e400",
    "18446744073709551616",
];

/// All targets.
pub const ALL: &[Target] = &[
    Target {
        name: "match_journal",
        share: 6,
        most_bytes: 20_000,
        words: WORDS,
        accepts_all: false,
        seeds: || vec![match_journal()],
        check: read_match_journal,
    },
    Target {
        name: "tune_journal",
        share: 6,
        most_bytes: 20_000,
        words: WORDS,
        accepts_all: false,
        seeds: || vec![tune_journal()],
        check: read_tune_journal,
    },
    Target {
        name: "book_journal",
        share: 6,
        most_bytes: 20_000,
        words: WORDS,
        accepts_all: false,
        seeds: || vec![book_journal()],
        check: read_book_journal,
    },
    Target {
        name: "checkpoint",
        share: 6,
        most_bytes: 5_000,
        words: WORDS,
        accepts_all: false,
        seeds: || vec![CHECKPOINT.as_bytes().to_vec()],
        check: read_checkpoint,
    },
];

static CHESS: LazyLock<Arc<Variant>> = LazyLock::new(|| variant("chess"));

fn lines(lines: &[String]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>().into_bytes()
}

fn line(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

fn match_header() -> MatchHeader {
    let player = |name: &str| JournalPlayer {
        name: name.into(),
        engine: "fairyforge".into(),
        limits: "5 nodes a move".into(),
        effective: BTreeMap::new(),
    };
    MatchHeader::new(&CHESS, 1, vec![player("A"), player("B")])
}

fn match_journal() -> Vec<u8> {
    let entry = |pair, game| GameEntry {
        pair,
        game,
        white: usize::from(game),
        black: usize::from(1 - game),
        fen: "8/8/8/8/8/k7/8/K6Q w - - 0 1".into(),
        plies: 4,
        result: 1,
        termination: "checkmate".into(),
        fault: None,
        moves: "h1b1 a3a4".into(),
        scores: vec![Some(7), None],
        depths: vec![2, 0],
        milliseconds: None,
    };
    let games = (0..6).map(|number| line(&entry(number / 2, (number % 2) as u8)));
    lines(&std::iter::once(line(&match_header())).chain(games).collect::<Vec<_>>())
}

/// What is accepted is accepted whole: the journal that goes on holds the same games, each once, and nothing of a line without an end.
fn read_match_journal(input: &[u8]) -> Result<Verdict, String> {
    as_file(input, ".jsonl", |path| {
        let read = Reader::open(path).and_then(|reader| reader.collect::<Result<Vec<_>, _>>());
        let (header, games) = (match_header(), u64::MAX);
        match (read, MatchJournal::open(path, &header, games)) {
            (Ok(read), Ok((journal, taken))) => {
                if journal.numbers().len() == read.len() && taken.len() == read.len() {
                    Ok(Verdict::Accepted)
                } else {
                    Err(format!("{} games are read, {} go on", read.len(), taken.len()))
                }
            }
            (Err(error), Err(_)) => refused(&error),
            // A header of other players is one, and no header yet is none.
            (Ok(_), Err(error)) => refused(&error),
            (Err(error), Ok((journal, _))) if journal.numbers().is_empty() => refused(&error),
            (Err(error), Ok(_)) => Err(format!("goes on, but cannot be read: {error}")),
        }
    })
}

fn tuner() -> Tuner {
    let setting = Setting { start: 20.0, min: 0.0, max: 40.0, c_end: 2.0, r_end: 0.02, kind: Kind::Whole };
    Tuner::new(vec![setting; 2], &Course::usual(4, 3, 1))
}

fn tune_header(tuner: &Tuner) -> TuneHeader {
    let provenance = Provenance { variant: "chess", rules_hash: "00ff", seed: 1, program: "a test" };
    TuneHeader::new(provenance, &["one".into(), "two".into()], tuner)
}

fn tune_journal() -> Vec<u8> {
    let tuner = tuner();
    let mut theta = tuner.start();
    let mut text = vec![line(&tune_header(&tuner))];
    for number in 1..=4 {
        let pairs = vec![PairResult([1, 0]), PairResult([0, -1]), PairResult([1, 1])];
        let iteration = Iteration::new(number, tuner.trial(number, &theta), pairs, &tuner, &theta);
        theta.clone_from(&iteration.theta);
        text.push(line(&iteration));
    }
    lines(&text)
}

/// Only what follows from seed and results is accepted, so what is accepted begins as the journal that would be made again does.
fn read_tune_journal(input: &[u8]) -> Result<Verdict, String> {
    let tuner = tuner();
    as_file(input, ".jsonl", |path| match fairyforge::tune::journal::read(path, &tune_header(&tuner), &tuner) {
        Err(error) => refused(&error),
        Ok(recorded) => {
            let made = recorded.iterations.iter().all(|iteration| iteration.theta.iter().all(|it| it.is_finite()));
            if made { Ok(Verdict::Accepted) } else { Err("parameters that are no numbers".into()) }
        }
    })
}

fn book_journal() -> Vec<u8> {
    let first = "{\"format\":1,\"kind\":\"book\",\"variant\":\"chess\",\"rules_hash\":\"HASH\"}";
    let moves = |text: &str| ExpandedMove {
        text: text.into(),
        glance: 12,
        score: Some(-30),
        nodes: Some(150),
        reply: Some("e7e5".into()),
    };
    let entry = |key: &str| Expansion { position: key.into(), glanced: 400, moves: vec![moves("e2e4"), moves("d2d4")] };
    lines(&[first.replace("HASH", CHESS.rules_hash()), line(&entry("0123456789abcdef")), line(&entry("00"))])
}

/// Whoever looks at a journal reads what whoever writes to it does.
fn read_book_journal(input: &[u8]) -> Result<Verdict, String> {
    as_file(input, ".jsonl", |path| {
        let all = |journal: Result<BookJournal, _>| {
            let mut journal = journal?;
            let mut entries = Vec::new();
            while let Some(entry) = journal.next_recorded()? {
                entries.push(entry);
            }
            Ok::<_, fairyforge::book::journal::JournalError>(entries)
        };
        let looked = all(BookJournal::look_at(path, &CHESS));
        match (looked, all(BookJournal::open(path, &CHESS))) {
            (Ok(looked), Ok(opened)) if looked == opened => Ok(Verdict::Accepted),
            (Err(error), Err(_)) => refused(&error),
            (looked, opened) => Err(format!("looked at: {looked:?}\nopened: {opened:?}")),
        }
    })
}

const CHECKPOINT: &str = "fairyforge training checkpoint 2\n{\"place\":{\"batches\":500,\"cursor\":{\"epoch\":2,\"first_shard\":3,\
                          \"taken\":400},\"data\":\"c0ffee\"},\"model_bytes\":5,\"optimiser_bytes\":3}\nmodelopt";

/// With a checksum that fits: without it all would be refused for that.
fn read_checkpoint(input: &[u8]) -> Result<Verdict, String> {
    let sealed = [input, &Sha256::digest(input)].concat();
    as_file(&sealed, ".checkpoint", |path| match Checkpoint::read(path) {
        Err(error) => refused(&error),
        Ok(checkpoint) => {
            let again = path.with_extension("again");
            checkpoint.write(&again).map_err(|error| error.to_string())?;
            let same = Checkpoint::read(&again).ok() == Some(checkpoint);
            std::fs::remove_file(&again).unwrap();
            if same { Ok(Verdict::Accepted) } else { Err("does not read back".into()) }
        }
    })
}
