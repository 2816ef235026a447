//! Where measured numbers come from: whoever has played. Tests have a fake, `fairyforge claims run` a laboratory.

use super::Quantity;
use crate::fit::NORMAL_97_5;
use crate::fit::ratio::Interval;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

/// What has been measured of a game.
pub trait Evidence {
    /// A quantity with an interval that misses the truth as seldom as `level` says, however often somebody looked while games were
    /// being played. Of the same quantity the interval at a smaller level contains the one at a greater level.
    ///
    /// # Errors
    /// Why there is no such number.
    fn measure(&self, quantity: &Quantity, level: Level) -> Result<Measured, Unmeasured>;
}

/// How often an interval may miss the truth, on both sides together.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
pub struct Level(f64);

impl Level {
    /// One time in twenty: the interval is called one of 95 %.
    pub const USUAL: Self = Self(0.05);

    /// The level for each of so many intervals, if all of them together may miss one time in twenty (Bonferroni).
    #[must_use]
    pub fn for_each_of(intervals: usize) -> Self {
        Self(Self::USUAL.0 / intervals.max(1) as f64)
    }

    /// The probability of a miss.
    #[must_use]
    pub const fn miss(self) -> f64 {
        self.0
    }

    /// How many standard errors an interval of a normal estimate reaches to either side.
    #[must_use]
    pub fn critical(self) -> f64 {
        if self == Self::USUAL { NORMAL_97_5 } else { Normal::standard().inverse_cdf(1.0 - self.0 / 2.0) }
    }
}

/// As people say it: `95 %`.
impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Two decimals, without those that are nothing.
        let percent = format!("{:.2}", 100.0 * (1.0 - self.0));
        write!(f, "{} %", percent.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// A number measured by play.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The estimate, inside the interval.
    pub value: f64,
    /// Lower edge of the interval.
    pub low: f64,
    /// Upper edge of the interval.
    pub high: f64,
    /// Games that it rests on.
    pub games: u64,
    /// How it was measured, in a few words.
    pub method: String,
    /// Seed of those games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The value after each round in which measured values were played with, the first round first; empty if there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<f64>,
    /// What a reader must know, as that the number drifts with strength; a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Measured {
    /// The interval.
    #[must_use]
    pub fn interval(&self) -> Interval {
        Interval::new(self.low, self.high)
    }

    /// Whether it is what it should be: finite, the value inside the interval.
    pub(super) fn is_sound(&self) -> bool {
        [self.value, self.low, self.high].iter().all(|number| number.is_finite())
            && self.low <= self.value
            && self.value <= self.high
    }
}

/// Why there is no number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unmeasured {
    /// Nobody has played.
    #[error("no games")]
    NoGames,
    /// There were games, and they do not tell.
    #[error("{reason}")]
    Unclear {
        /// Why not.
        reason: String,
        /// How many games there were.
        games: u64,
    },
    /// Whatever was played does not measure this.
    #[error("{0}")]
    NotAskedOf(String),
    /// A number came that cannot be one.
    #[error("expected a value inside its interval, got {value} in [{low}, {high}]")]
    Unsound {
        /// The value.
        value: String,
        /// Lower edge of its interval.
        low: String,
        /// Upper edge.
        high: String,
    },
    /// The rules of a game that was named are not at hand.
    #[error("no rules file {0}")]
    NoRules(String),
    /// It would take more memory than there may be.
    #[error("its table would take {needed} MiB of memory, more than the {allowed} MiB allowed")]
    TooLarge {
        /// How much it would take, in mebibytes.
        needed: u64,
        /// How much it may take.
        allowed: u64,
    },
    /// There is no table of such men.
    #[error("{0}")]
    NoTable(String),
}

/// Nobody has played: everything but facts and endgames stays undecided.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoGames;

impl Evidence for NoGames {
    fn measure(&self, _: &Quantity, _: Level) -> Result<Measured, Unmeasured> {
        Err(Unmeasured::NoGames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_shared_out() {
        assert!((Level::USUAL.critical() - 1.96).abs() < 1e-3);
        assert!((Level::for_each_of(2).critical() - 2.2414).abs() < 1e-4, "{}", Level::for_each_of(2).critical());
        assert!((Level::for_each_of(6).critical() - 2.6383).abs() < 1e-4);
        let said = [1, 2, 6].map(|parts| Level::for_each_of(parts).to_string());
        assert_eq!(said, ["95 %", "97.5 %", "99.17 %"]);
    }
}
