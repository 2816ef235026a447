//! Who meets whom, how often, and in which order.
//!
//! Games come in pairs: two players, one opening, colours exchanged. Pairs are numbered through the whole match; all
//! meetings play their first pair before any plays its second, and all play the same openings in the same order, so
//! that a match cut short is still balanced.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A game of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GameNumber {
    /// Number of the pair, from 0.
    pub pair: u64,
    /// 0 or 1.
    pub game: u8,
}

impl fmt::Display for GameNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pair {}, game {}", self.pair, self.game)
    }
}

/// Who meets whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Everybody meets everybody.
    #[default]
    RoundRobin,
    /// The first player meets all others.
    Gauntlet,
}

/// All pairs of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    meetings: Vec<[usize; 2]>,
    rounds: u64,
}

/// Who plays a pair and from which opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Which meeting.
    pub meeting: usize,
    /// The players: the first has White in game 0.
    pub players: [usize; 2],
    /// Number of the opening.
    pub opening: u64,
}

impl Schedule {
    /// So many pairs between any two that meet.
    pub fn new(format: Format, players: usize, rounds: u64) -> Self {
        let meets = |&[one, other]: &[usize; 2]| one < other && (format == Format::RoundRobin || one == 0);
        let meetings = (0..players).flat_map(|one| (0..players).map(move |other| [one, other])).filter(meets);
        Self { meetings: meetings.collect(), rounds }
    }

    /// The players of every meeting.
    pub fn meetings(&self) -> &[[usize; 2]] {
        &self.meetings
    }

    /// Pairs in all.
    pub fn pairs(&self) -> u64 {
        self.rounds.saturating_mul(self.meetings.len() as u64)
    }

    /// Openings in all.
    pub const fn openings(&self) -> u64 {
        self.rounds
    }

    /// What pair `number` is.
    pub fn slot(&self, number: u64) -> Slot {
        let meetings = self.meetings.len() as u64;
        let meeting = (number % meetings) as usize;
        Slot { meeting, players: self.meetings[meeting], opening: number / meetings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_meets_everybody() {
        let schedule = Schedule::new(Format::RoundRobin, 4, 3);
        assert_eq!(schedule.meetings(), [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(schedule.pairs(), 18);
        assert_eq!(schedule.slot(7), Slot { meeting: 1, players: [0, 2], opening: 1 });
        for meeting in 0..6 {
            let openings: Vec<u64> =
                (0..18).map(|n| schedule.slot(n)).filter(|s| s.meeting == meeting).map(|s| s.opening).collect();
            assert_eq!(openings, [0, 1, 2], "each opening once a meeting");
        }
    }

    #[test]
    fn one_meets_all() {
        let schedule = Schedule::new(Format::Gauntlet, 4, 2);
        assert_eq!(schedule.meetings(), [[0, 1], [0, 2], [0, 3]]);
        assert_eq!(schedule.pairs(), 6);
        assert_eq!(Schedule::new(Format::Gauntlet, 2, 5), Schedule::new(Format::RoundRobin, 2, 5));
    }
}
