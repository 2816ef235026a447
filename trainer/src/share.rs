//! What of a step's games one process plays: all, one of several parts, or none.
//!
//! Games are independent, so a step (the games of a self-play run, the pairs of a match, an iteration of a tuning run) can be
//! played by many processes that know nothing of each other. Each is told a [`Part`], `3/8`; parts are ranges of the step's
//! numbered units, so every unit belongs to exactly one of them. What a part plays depends on its numbers, never on the part:
//! the union is what one process would have played.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;

/// Most parts that a step may be cut into.
const MOST_PARTS: u64 = 1_000_000;

/// What of a step's games this process plays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Share {
    /// Whatever is missing.
    #[default]
    All,
    /// One of several parts, and then no more.
    Part(Part),
    /// Nothing: what others played is taken in, and a step that lacks games ends the run for now.
    Nothing,
}

/// One of several parts of a step, as `3/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// From 1.
    number: u64,
    of: u64,
}

impl Part {
    /// The part's units among `count` units, numbered from 0. Parts differ by one unit at most.
    #[must_use]
    pub fn range(self, count: u64) -> Range<u64> {
        let bound = |part: u64| (u128::from(count) * u128::from(part) / u128::from(self.of)) as u64;
        bound(self.number - 1)..bound(self.number)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// A text that names no part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a part as 3/8, counted from 1, of at most {MOST_PARTS}; got {0:?}")]
pub struct PartError(String);

impl FromStr for Part {
    type Err = PartError;

    fn from_str(text: &str) -> Result<Self, PartError> {
        let parts = || {
            let (number, of) = text.split_once('/')?;
            let (number, of) = (number.parse().ok()?, of.parse().ok()?);
            (1 <= number && number <= of && of <= MOST_PARTS).then_some(Self { number, of })
        };
        parts().ok_or_else(|| PartError(text.to_owned()))
    }
}

/// Why a step is not over although nothing failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Shared {
    /// This process has played its part.
    #[error("part {part}: {played} {units} played, for {}", place.display())]
    Played {
        /// Which part.
        part: Part,
        /// The folder or journal that its games are for.
        place: PathBuf,
        /// Of what there are parts, as `games`.
        units: &'static str,
        /// How many this process played; what was there before does not count.
        played: u64,
    },
    /// A part was to be played of a run in which no games are missing.
    #[error("all games are there in {}; the command without --shard finishes the run", run.display())]
    Complete {
        /// The run.
        run: PathBuf,
    },
    /// Others have not played everything yet.
    #[error("expected {of} {units} in {}, {missing} are missing", place.display())]
    Wanted {
        /// The folder or journal that lacks them.
        place: PathBuf,
        /// What is lacking, as `games`.
        units: &'static str,
        /// How many.
        missing: u64,
        /// How many there are in the step.
        of: u64,
    },
    /// What comes next is no games.
    #[error("expected games to share, got {step}: the command with --merge does it")]
    NoGames {
        /// What comes next.
        step: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_every_unit_once() {
        for of in [1, 2, 3, 7, 100] {
            for count in [0, 1, 2, 5, 99, 100, 101, 1_000_003, u64::MAX] {
                let ranges: Vec<_> = (1..=of).map(|number| Part { number, of }.range(count)).collect();
                assert_eq!(ranges[0].start, 0);
                assert_eq!(ranges.last().unwrap().end, count);
                assert!(ranges.windows(2).all(|two| two[0].end == two[1].start));
                let sizes = || ranges.iter().map(|range| range.end - range.start);
                assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1, "{count} in {of}");
            }
        }
    }

    #[test]
    fn parts_are_read_and_nonsense_is_refused() {
        assert_eq!("3/8".parse(), Ok(Part { number: 3, of: 8 }));
        assert_eq!("3/8".parse::<Part>().unwrap().to_string(), "3/8");
        for text in ["", "3", "0/8", "9/8", "1/0", "-1/2", "1/2/3", "a/b", "1/1000001"] {
            let error = text.parse::<Part>().unwrap_err();
            assert!(error.to_string().ends_with(&format!("got {text:?}")), "{error}");
        }
    }
}
