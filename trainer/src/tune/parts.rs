//! Parts of an iteration that other processes play: each leaves its pairs' results in a file of its own, whole or not at all, until the
//! journal's writer takes them in.

use super::journal::{Header, JournalError};
use super::objective::{Batch, Objective, PairResult};
use super::run::TuneError;
use super::tuner::Trial;
use crate::checksum::text_digest;
use crate::run_dir::{FileError, PartFiles, write_atomically};
use crate::share::{Part, Shared};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::Path;

/// Version of the format.
const FORMAT: u32 = 1;
/// What an iteration is cut into.
const UNITS: &str = "pairs";

/// Results of successive pairs of one iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Played {
    format: u32,
    /// Digest of the header of the journal that this is for.
    journal: String,
    iteration: u64,
    /// Digest of what the iteration tries out.
    trial: String,
    /// Number of the first pair in the whole run.
    first_pair: u64,
    pairs: Vec<PairResult>,
}

/// An iteration that is played by several processes.
pub(super) struct SharedIteration<'a> {
    /// The journal.
    pub journal: &'a Path,
    /// Its first line.
    pub header: &'a Header,
    /// From 1.
    pub number: u64,
    /// Pairs of the run before it.
    pub first_pair: u64,
    /// Its pairs.
    pub pairs: u64,
    /// What it tries out.
    pub trial: &'a Trial,
}

impl SharedIteration<'_> {
    /// Plays the pairs of a part, unless they have been played.
    pub(super) fn play_part(&self, part: Part, objective: &impl Objective) -> Result<Shared, TuneError> {
        let range = part.range(self.pairs);
        let first_pair = self.first_pair + range.start;
        let files = PartFiles::of(self.journal);
        let there = files.beginning_with(first_pair)?;
        let lengths = there.iter().map(|path| Ok(self.read(path)?.map_or(0, |played| played.pairs.len() as u64)));
        let longest = lengths.collect::<Result<Vec<_>, TuneError>>()?.into_iter().max().unwrap_or(0);
        let mut played = 0;
        if longest < range.end - range.start {
            let pairs = self.play(range.clone(), objective)?;
            played = pairs.len() as u64;
            let text = to_text(&self.played(first_pair, pairs)) + "\n";
            write_atomically(&files.new_file(first_pair), text.as_bytes())?;
        }
        Ok(Shared::Played { part, place: self.journal.to_owned(), units: UNITS, played })
    }

    /// What parts have played, by pair.
    pub(super) fn results(&self) -> Result<Vec<Option<PairResult>>, TuneError> {
        let mut results = vec![None; self.pairs as usize];
        for path in PartFiles::of(self.journal).all()? {
            let Some(played) = self.read(&path)? else { continue };
            let before = played.first_pair.saturating_sub(self.first_pair) as usize;
            for (place, pair) in results.iter_mut().skip(before).zip(played.pairs) {
                *place = Some(pair);
            }
        }
        Ok(results)
    }

    /// That results are missing.
    pub(super) fn wanted(&self, missing: u64) -> Shared {
        Shared::Wanted { place: self.journal.to_owned(), units: UNITS, missing, of: self.pairs }
    }

    /// Plays the pairs of a range.
    pub(super) fn play(&self, range: Range<u64>, objective: &impl Objective) -> Result<Vec<PairResult>, TuneError> {
        let Trial { plus, minus, .. } = self.trial;
        let batch = Batch { first_pair: self.first_pair + range.start, pairs: range.end - range.start, plus, minus };
        objective.play(&batch).ok_or(TuneError::Stopped)
    }

    fn played(&self, first_pair: u64, pairs: Vec<PairResult>) -> Played {
        let journal = text_digest(&to_text(self.header));
        let trial = text_digest(&to_text(&(&self.trial.plus, &self.trial.minus)));
        Played { format: FORMAT, journal, iteration: self.number, trial, first_pair, pairs }
    }

    /// The results in a file; `None` if they are of another iteration, which the journal has taken in already.
    fn read(&self, path: &Path) -> Result<Option<Played>, TuneError> {
        let refused = |expected: &str, got: String| JournalError::Line {
            path: path.to_owned(),
            line: 1,
            expected: expected.to_owned(),
            got,
        };
        let text = std::fs::read_to_string(path).map_err(FileError::at("read", path))?;
        let played: Played = serde_json::from_str(&text)
            .map_err(|error| refused("results of a part of an iteration", error.to_string()))?;
        if played.iteration != self.number {
            return Ok(None);
        }
        let expected = self.played(played.first_pair, played.pairs.clone());
        let last = played.first_pair.saturating_add(played.pairs.len() as u64);
        let fits = played.first_pair >= self.first_pair && last <= self.first_pair + self.pairs;
        if played != expected || !fits || !played.pairs.iter().all(|pair| pair.is_possible()) {
            let got = "others; remove the file if it is of another run".to_owned();
            return Err(refused("results of this run's iteration", got).into());
        }
        Ok(Some(played))
    }
}

fn to_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("numbers and texts serialise")
}
