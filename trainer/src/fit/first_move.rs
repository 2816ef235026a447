//! What the first move is worth: White's score in games that start level, by pairs.
//!
//! The two games of a pair start from the same position with the armies exchanged, White to move in both, so the pair's
//! mean score holds nothing but the first move and luck. The mean over pairs has a standard error without any model.

use std::collections::BTreeMap;

use serde::Serialize;

use super::dataset::{Dataset, GameSample};
use super::ratio::Interval;
use fairyforge_engine::variant::Variant;

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
    /// Games.
    pub games: usize,
    /// Pairs.
    pub pairs: usize,
}

/// White's score in the games that start level, with an interval at a critical value of the normal distribution. `None`
/// with fewer than two such pairs.
#[must_use]
pub fn first_move(dataset: &Dataset, variant: &Variant, critical: f64) -> Option<FirstMoveScore> {
    let mean = level_mean(dataset, variant, |game| game.outcome.points())?;
    let interval = Interval::new(mean.value - critical * mean.error, mean.value + critical * mean.error);
    let Mean { value: score, error, games, pairs } = mean;
    Some(FirstMoveScore { score, error, interval, games, pairs })
}

/// How long the games last that start level. `None` with fewer than two such pairs.
#[must_use]
pub fn game_length(dataset: &Dataset, variant: &Variant) -> Option<GameLength> {
    let Mean { value: plies, error, games, pairs } = level_mean(dataset, variant, |game| f64::from(game.plies))?;
    Some(GameLength { plies, error, games, pairs })
}

struct Mean {
    value: f64,
    error: f64,
    games: usize,
    pairs: usize,
}

/// The mean over pairs of the mean over a pair's games, for games that start with as many units of each kind on both sides.
fn level_mean(dataset: &Dataset, variant: &Variant, figure: impl Fn(&GameSample) -> f64) -> Option<Mean> {
    let is_level = |game: &&GameSample| game.start.differences(variant).iter().all(|&difference| difference == 0);
    let mut pairs: BTreeMap<u64, (f64, usize)> = BTreeMap::new();
    for game in dataset.games.iter().filter(is_level) {
        let (sum, games) = pairs.entry(game.cluster).or_default();
        *sum += figure(game);
        *games += 1;
    }
    if pairs.len() < 2 {
        return None;
    }
    let games = pairs.values().map(|&(_, games)| games).sum();
    let count = pairs.len() as f64;
    let means: Vec<f64> = pairs.values().map(|&(sum, games)| sum / games as f64).collect();
    let value = means.iter().sum::<f64>() / count;
    let variance = means.iter().map(|mean| (mean - value).powi(2)).sum::<f64>() / (count - 1.0);
    Some(Mean { value, error: (variance / count).sqrt(), games, pairs: means.len() })
}
