//! Games counted: how they ended, how long they lasted.

use super::share::Share;
use crate::record::GameRecord;
use serde::Serialize;
use std::collections::BTreeMap;

/// Which quantiles of the lengths are told, in per cent.
const PERCENTS: [u32; 5] = [5, 25, 50, 75, 95];

/// How games ended, from White's view.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Results {
    /// Won by White.
    pub white: Share,
    /// Drawn.
    pub drawn: Share,
    /// Won by Black.
    pub black: Share,
}

/// How long games were, in plies, those played before the players took over included.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lengths {
    /// The mean.
    pub mean: f64,
    /// Quantiles, ascending.
    pub quantiles: Vec<Quantile>,
}

/// A quantile of the lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Quantile {
    /// So many per cent of the games, at least,
    pub percent: u32,
    /// had no more plies than this; no smaller number would do.
    pub plies: u16,
}

/// What was counted so far.
#[derive(Debug, Default)]
pub(super) struct Census {
    pub games: u64,
    pub positions: u64,
    /// Wins of White, draws, wins of Black.
    results: [u64; 3],
    pub terminations: BTreeMap<String, u64>,
    /// Games by length.
    lengths: BTreeMap<u16, u64>,
}

impl Census {
    pub fn add(&mut self, game: &GameRecord) {
        self.games += 1;
        self.positions += game.positions.len() as u64;
        self.results[(1 - game.result).clamp(0, 2) as usize] += 1;
        *self.terminations.entry(game.termination.clone()).or_default() += 1;
        *self.lengths.entry(game.plies).or_default() += 1;
    }

    pub fn results(&self) -> Results {
        let [white, drawn, black] = self.results.map(|count| Share::new(count, self.games));
        Results { white, drawn, black }
    }

    pub fn lengths(&self) -> Lengths {
        let plies: u64 = self.lengths.iter().map(|(&plies, games)| u64::from(plies) * games).sum();
        let quantiles = PERCENTS.map(|percent| Quantile { percent, plies: self.quantile(percent) });
        Lengths { mean: plies as f64 / self.games.max(1) as f64, quantiles: quantiles.into() }
    }

    fn quantile(&self, percent: u32) -> u16 {
        let wanted = (self.games * u64::from(percent)).div_ceil(100);
        let mut games = 0;
        let reaches = |&(_, count): &(&u16, &u64)| {
            games += count;
            games >= wanted
        };
        self.lengths.iter().find(reaches).map_or(0, |(&plies, _)| plies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn census(lengths: impl IntoIterator<Item = u16>) -> Census {
        let mut census = Census::default();
        for plies in lengths {
            census.add(&GameRecord { plies, result: (plies % 3) as i8 - 1, ..GameRecord::default() });
        }
        census
    }

    fn quantiles(census: &Census) -> Vec<u16> {
        census.lengths().quantiles.iter().map(|quantile| quantile.plies).collect()
    }

    #[test]
    fn quantiles_are_lengths_of_games() {
        // A hundred games in any order: the quantile of so many per cent is the game of that rank.
        assert_eq!(quantiles(&census((1..=100).rev())), [5, 25, 50, 75, 95]);
        // Ranks 1, 1, 2, 3 and 4 of four games.
        assert_eq!(quantiles(&census([40, 10, 30, 20])), [10, 10, 20, 30, 40]);
        assert_eq!(quantiles(&census([7])), [7; 5]);
        assert_eq!(census([1, 2, 6]).lengths().mean, 3.0);
    }

    #[test]
    fn results_are_counted_from_whites_view() {
        // Lengths divisible by three are Black's, the next are draws.
        let results = census([3, 6, 9, 1, 2, 5]).results();
        assert_eq!([results.white, results.drawn, results.black].map(|share| share.count), [2, 1, 3]);
        assert_eq!(results.black.share, 0.5);
    }
}
