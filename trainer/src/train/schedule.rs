//! What changes in the course of training: the learning rate, and how much results count beside scores.

use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// The learning rate over the batches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RateSettings {
    /// How it goes from first to last.
    pub schedule: Schedule,
    /// The rate after the warm-up.
    pub first: f64,
    /// The rate at the end; not looked at by `constant` and `step`.
    pub last: f64,
    /// Batches in which the rate rises from 0 to `first`.
    pub warm_up: u64,
    /// For `step`: batches between two steps.
    pub step_every: u64,
    /// For `step`: what the rate is multiplied by.
    pub step_factor: f64,
}

/// How the rate goes on after the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// It stays.
    Constant,
    /// It is multiplied every so many batches.
    Step,
    /// In a straight line.
    Linear,
    /// In half a wave of the cosine: slowly, fast, slowly.
    #[default]
    Cosine,
}

impl Default for RateSettings {
    fn default() -> Self {
        Self { schedule: Schedule::Cosine, first: 1e-3, last: 1e-5, warm_up: 0, step_every: 1_000, step_factor: 0.3 }
    }
}

impl RateSettings {
    /// The rate of a batch, counted from 0, of so many.
    #[must_use]
    pub fn rate(&self, batch: u64, batches: u64) -> f64 {
        if batch < self.warm_up {
            return self.first * (batch + 1) as f64 / self.warm_up as f64;
        }
        let since = batch - self.warm_up;
        let way = part(since, batches.saturating_sub(self.warm_up));
        match self.schedule {
            Schedule::Constant => self.first,
            Schedule::Step => self.first * self.step_factor.powf((since / self.step_every.max(1)) as f64),
            Schedule::Linear => between(self.first, self.last, way),
            Schedule::Cosine => between(self.last, self.first, f64::midpoint(1.0, (PI * way).cos())),
        }
    }
}

/// What outputs are to say: a blend of the game's result and the search's score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TargetSettings {
    /// Centipawns for which a win is expected e times as often as a loss: an output of 1.0.
    pub centipawns: f64,
    /// Share of the result at the beginning; the rest is the score's.
    pub first_result_share: f64,
    /// Share of the result at the end; in between in a straight line.
    pub last_result_share: f64,
    /// The λ of TD(λ): how much the rest of the game counts beside a position's own score, 0 to 1.
    pub lambda: f64,
}

impl Default for TargetSettings {
    fn default() -> Self {
        Self { centipawns: 400.0, first_result_share: 0.25, last_result_share: 0.25, lambda: 0.0 }
    }
}

/// How results and scores are blended at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blend {
    /// Centipawns of an output of 1.0.
    pub centipawns: f64,
    /// Share of the result.
    pub result_share: f64,
}

impl TargetSettings {
    /// The blend of a batch, counted from 0, of so many.
    #[must_use]
    pub fn blend(&self, batch: u64, batches: u64) -> Blend {
        let result_share = between(self.first_result_share, self.last_result_share, part(batch, batches));
        Blend { centipawns: self.centipawns, result_share }
    }

    /// What the scores from each position on expect of the game, from White's view: 0 to 1.
    ///
    /// The λ-return of temporal differences (Sutton 1988; for game scores: Baxter, Tridgell and Weaver 1998), with the game's
    /// result (−1, 0, 1) after the last score: own score times 1 − λ, and what the next position expects times λ.
    /// `scores` are in centipawns, from White's view.
    #[must_use]
    pub fn expectations(&self, scores: &[i16], result: i8) -> Vec<f32> {
        let mut expected = outcome(result);
        let mut all: Vec<f32> = scores
            .iter()
            .rev()
            .map(|&score| {
                expected = between(self.probability(score), expected, self.lambda);
                expected as f32
            })
            .collect();
        all.reverse();
        all
    }

    fn probability(&self, score: i16) -> f64 {
        1.0 / (1.0 + (-f64::from(score) / self.centipawns).exp())
    }

    /// The blend at the end, which validation is made with all along.
    #[must_use]
    pub fn last_blend(&self) -> Blend {
        Blend { centipawns: self.centipawns, result_share: self.last_result_share }
    }
}

impl Blend {
    /// What sigmoid(output) is to be, given the result (−1, 0, 1) and what scores expect, both the side to move's view.
    #[must_use]
    pub fn target(&self, result: i8, expected: f32) -> f64 {
        between(f64::from(expected), outcome(result), self.result_share)
    }
}

/// A result of −1, 0 or 1 as points.
pub(super) fn outcome(result: i8) -> f64 {
    f64::midpoint(f64::from(result), 1.0)
}

/// How far `index` is on the way from the first to the last of `count`.
fn part(index: u64, count: u64) -> f64 {
    if count <= 1 { 1.0 } else { index as f64 / (count - 1) as f64 }
}

fn between(first: f64, last: f64, way: f64) -> f64 {
    first + (last - first) * way
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(schedule: Schedule) -> Vec<f64> {
        let settings = RateSettings { schedule, first: 1.0, last: 0.2, warm_up: 2, step_every: 3, step_factor: 0.5 };
        (0..11).map(|batch| settings.rate(batch, 11)).collect()
    }

    fn assert_close(rates: &[f64], expected: &[f64]) {
        assert_eq!(rates.len(), expected.len());
        assert!(rates.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-12), "{rates:?}");
    }

    #[test]
    fn schedules_go_from_first_to_last_after_the_warm_up() {
        assert_close(&rates(Schedule::Constant), &[0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        assert_close(&rates(Schedule::Step), &[0.5, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25]);
        assert_close(&rates(Schedule::Linear), &[0.5, 1.0, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]);
        let cosine = rates(Schedule::Cosine);
        assert_close(&[cosine[2], cosine[6], cosine[10]], &[1.0, 0.6, 0.2]);
        assert!(cosine[3] > 0.96 && cosine[9] < 0.24, "slow at both ends: {cosine:?}");
    }

    #[test]
    fn a_single_batch_has_a_rate_too() {
        let settings = RateSettings::default();
        assert_eq!(settings.rate(0, 1), settings.last);
    }

    #[test]
    fn targets_blend_result_and_score() {
        let settings = TargetSettings { first_result_share: 0.0, last_result_share: 1.0, ..TargetSettings::default() };
        let first = settings.blend(0, 5);
        assert_eq!([-1, 0, 1].map(|result| first.target(result, 0.75)), [0.75; 3]);
        let last = settings.blend(4, 5);
        assert_eq!([-1, 0, 1].map(|result| last.target(result, 0.75)), [0.0, 0.5, 1.0]);
        assert_eq!(last, settings.last_blend());
        assert_eq!(settings.blend(2, 5).target(1, 0.5), 0.75);
    }

    #[test]
    fn scores_expect_what_comes_later_too() {
        let won = 0.731_058_578_630_004_9;
        let last = 0.25 * (1.0 - won);
        let middle = 0.25 * won + 0.75 * last;
        for (lambda, result, expected) in [
            (0.0, 1, [0.5, won, 1.0 - won]), // own scores alone
            (1.0, 1, [1.0; 3]),              // the result alone
            (0.75, -1, [0.125 + 0.75 * middle, middle, last]),
        ] {
            let settings = TargetSettings { lambda, ..TargetSettings::default() };
            let got = settings.expectations(&[0, 400, -400], result);
            let is_close = got.iter().zip(expected).all(|(&got, expected)| (f64::from(got) - expected).abs() < 1e-6);
            assert!(got.len() == 3 && is_close, "{lambda}: {got:?}");
        }
    }
}
