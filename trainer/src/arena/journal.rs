//! The journal of a match: a line a pair, appended and synced when both games are over. It is the only truth about a
//! match; tallies are made from it. A pair half played when the process died is played again.

use super::statistics::{GameResult, MatchTally};
use crate::run_dir::{FileError, append_line, drop_torn_line, write_atomically};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Two games from one opening, with the players' colours exchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// Number of the pair; with the seed it decides the opening.
    pub pair: u64,
    /// The position both games begin from.
    pub fen: String,
    /// First the game in which player A is White, then the other.
    pub games: [PairGame; 2],
}

/// One game of a pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairGame {
    /// Whether A is White.
    pub a_is_white: bool,
    /// 1 White won, 0 draw, −1 Black won.
    pub result: i8,
    /// How it ended.
    pub termination: String,
    /// The moves in coordinate notation, separated by spaces.
    pub moves: String,
}

impl PairGame {
    /// The result for player A.
    pub const fn result_for_a(&self) -> GameResult {
        match if self.a_is_white { self.result } else { -self.result } {
            1 => GameResult::Win,
            -1 => GameResult::Loss,
            _ => GameResult::Draw,
        }
    }
}

/// Why a journal was refused.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The disk refuses.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line is no pair.
    #[error("{}, line {line}: expected a pair of games, got {reason}", path.display())]
    Line {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
}

/// A journal on disk with its pairs in memory.
pub struct Journal {
    path: PathBuf,
    pairs: BTreeMap<u64, Pair>,
}

impl Journal {
    /// Opens a journal, or begins one. A line cut off by a crash is dropped.
    ///
    /// # Errors
    /// The file cannot be read, or a whole line of it is no pair.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        drop_torn_line(path)?;
        let pairs = if path.exists() { read(path)? } else { BTreeMap::new() };
        Ok(Self { path: path.to_owned(), pairs })
    }

    /// Whether a pair has been played.
    pub fn has(&self, pair: u64) -> bool {
        self.pairs.contains_key(&pair)
    }

    /// The pairs in the order of their numbers.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = &Pair> {
        self.pairs.values()
    }

    /// Adds a pair, on disk first.
    ///
    /// # Errors
    /// The line cannot be written.
    pub fn add(&mut self, pair: Pair) -> Result<(), FileError> {
        append_line(&self.path, &line(&pair))?;
        self.pairs.insert(pair.pair, pair);
        Ok(())
    }

    /// Once all pairs are there: writes them in order, so that equal matches leave equal files.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put_in_order(&self) -> Result<(), FileError> {
        let text: String = self.pairs.values().map(|pair| line(pair) + "\n").collect();
        write_atomically(&self.path, text.as_bytes())
    }

    /// Results for player A.
    pub fn tally(&self) -> MatchTally {
        let mut tally = MatchTally::new();
        for Pair { games: [one, other], .. } in self.pairs.values() {
            tally.add_pair(one.result_for_a(), other.result_for_a());
        }
        tally
    }
}

/// The pairs of a journal by their numbers. Changes nothing: a line that a crash cut off is left out.
///
/// # Errors
/// As [`Journal::open`].
pub fn read(path: &Path) -> Result<BTreeMap<u64, Pair>, JournalError> {
    let text = std::fs::read_to_string(path).map_err(FileError::at("read", path))?;
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut pairs = BTreeMap::new();
    for (line, text) in (1..).zip(whole.lines()) {
        let fault =
            |error: serde_json::Error| JournalError::Line { path: path.to_owned(), line, reason: error.to_string() };
        let pair: Pair = serde_json::from_str(text).map_err(fault)?;
        pairs.insert(pair.pair, pair);
    }
    Ok(pairs)
}

fn line(pair: &Pair) -> String {
    serde_json::to_string(pair).expect("strings and numbers serialise")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(number: u64, results: [i8; 2]) -> Pair {
        let game =
            |a_is_white, result| PairGame { a_is_white, result, termination: "checkmate".into(), moves: "a2a3".into() };
        Pair { pair: number, fen: "8/8 w - - 0 1".into(), games: [game(true, results[0]), game(false, results[1])] }
    }

    #[test]
    fn survives_a_torn_line_and_sorts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pairs.jsonl");
        let mut journal = Journal::open(&path).unwrap();
        journal.add(pair(3, [1, -1])).unwrap();
        journal.add(pair(1, [0, 1])).unwrap();
        std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + "{\"pair\":2,\"fe").unwrap();
        let journal = Journal::open(&path).unwrap();
        assert_eq!(journal.pairs().map(|pair| pair.pair).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(journal.tally().games().total(), 4);
        // White won the first and A, as Black, the second: both A's. Then a draw and a loss.
        assert_eq!(journal.tally().pairs().0, [0, 1, 0, 0, 1]);
        journal.put_in_order().unwrap();
        let first = std::fs::read_to_string(&path).unwrap();
        assert!(first.starts_with("{\"pair\":1,"));
    }

    #[test]
    fn a_foreign_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pairs.jsonl");
        std::fs::write(&path, "{\"pair\":1}\n").unwrap();
        let error = Journal::open(&path).err().unwrap().to_string();
        assert!(error.contains("line 1"), "{error}");
    }
}
