//! What the first move is worth: White's score in games from the whole array, after a few random plies that leave it level, by pairs.
//!
//! The two games of a pair start from the same position with the armies exchanged, White to move in both, so the pair's
//! mean score holds nothing but the first move and luck. The mean over pairs has a standard error without any model.

use std::collections::BTreeMap;

use serde::Serialize;

use super::dataset::{Dataset, GameSample};
use super::ratio::Interval;
use fairyforge_engine::variant::Variant;

/// Fewest pairs for a mean: with less its error is hardly known, and the normal distribution is far off.
const LEAST_PAIRS: usize = 30;

/// White's score in level games.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FirstMoveScore {
    /// Mean points of White, from 0 to 1.
    pub score: f64,
    /// Its standard error, clustered by pair.
    pub error: f64,
    /// The interval.
    pub interval: Interval,
    /// Games.
    pub games: usize,
    /// Pairs.
    pub pairs: usize,
}

/// How long level games last.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GameLength {
    /// Mean length in plies, random ones included.
    pub plies: f64,
    /// Its standard error, clustered by pair.
    pub error: f64,
    /// The interval.
    pub interval: Interval,
    /// Games.
    pub games: usize,
    /// Pairs.
    pub pairs: usize,
}

/// White's score in the games that start level, with an interval at a critical value of the normal distribution. `None`
/// with too few such pairs.
#[must_use]
pub fn first_move(dataset: &Dataset, variant: &Variant, critical: f64) -> Option<FirstMoveScore> {
    let mean = level_mean(dataset, variant, |game| game.outcome.points())?;
    let interval = Interval::new(mean.value - critical * mean.error, mean.value + critical * mean.error);
    let Mean { value: score, error, games, pairs } = mean;
    Some(FirstMoveScore { score, error, interval, games, pairs })
}

/// How long the games last that start level, with an interval at a critical value. `None` with too few such pairs.
#[must_use]
pub fn game_length(dataset: &Dataset, variant: &Variant, critical: f64) -> Option<GameLength> {
    let Mean { value: plies, error, games, pairs } = level_mean(dataset, variant, |game| f64::from(game.plies))?;
    let interval = Interval::new(plies - critical * error, plies + critical * error);
    Some(GameLength { plies, error, interval, games, pairs })
}

/// The games that start level by their length: the first ply of every bin of so many plies, and the games in it; bins without games
/// before the last are there too.
#[must_use]
pub fn lengths(dataset: &Dataset, variant: &Variant, bin: u32) -> Vec<(u32, u64)> {
    let bin = bin.max(1);
    let mut bins: Vec<(u32, u64)> = Vec::new();
    for game in dataset.games.iter().filter(|game| is_level(game, variant)) {
        let index = (u32::from(game.plies) / bin) as usize;
        while bins.len() <= index {
            bins.push((bins.len() as u32 * bin, 0));
        }
        bins[index].1 += 1;
    }
    bins
}

/// From the whole array, with as many units of each kind on both sides after the random plies.
fn is_level(game: &GameSample, variant: &Variant) -> bool {
    game.from_array && game.start.differences(variant).iter().all(|&difference| difference == 0)
}

struct Mean {
    value: f64,
    error: f64,
    games: usize,
    pairs: usize,
}

/// The mean over pairs of the mean over a pair's games, for games that start level.
fn level_mean(dataset: &Dataset, variant: &Variant, figure: impl Fn(&GameSample) -> f64) -> Option<Mean> {
    let mut pairs: BTreeMap<u64, (f64, usize)> = BTreeMap::new();
    for game in dataset.games.iter().filter(|game| is_level(game, variant)) {
        let (sum, games) = pairs.entry(game.cluster).or_default();
        *sum += figure(game);
        *games += 1;
    }
    if pairs.len() < LEAST_PAIRS {
        return None;
    }
    let games = pairs.values().map(|&(_, games)| games).sum();
    let count = pairs.len() as f64;
    let means: Vec<f64> = pairs.values().map(|&(sum, games)| sum / games as f64).collect();
    let value = means.iter().sum::<f64>() / count;
    let variance = means.iter().map(|mean| (mean - value).powi(2)).sum::<f64>() / (count - 1.0);
    // Pairs that are all alike say nothing of what others will be.
    (variance > 0.0).then(|| Mean { value, error: (variance / count).sqrt(), games, pairs: means.len() })
}
