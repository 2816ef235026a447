//! Texel-style tuning: evaluation weights that explain results, without running away where there are few.
//!
//! A [`Sample`] is a position with its game's result. Its evaluation in centipawns is linear in the weights θ:
//! offset + Σ coefficient·θ, where the caller has already multiplied the phase into each coefficient (a tapered term
//! is two parameters, middlegame and endgame). The expected score is σ(K·evaluation·ln 10/400).
//!
//! The fit is the maximum a posteriori: cross-entropy plus a Gaussian prior whose means are the incoming weights.
//! The scale K must be fixed first ([`SampleSet::fit_scale`]), because K and the size of θ trade off exactly.
//! The problem is convex; Newton steps are found by conjugate gradients, so no matrix is ever formed.
//!
//! Results do not depend on the number of threads: rows are summed in chunks of fixed size, and chunks in order.
//!
//! This module knows nothing of features or phases; extracting them is the caller's work.
//!
//! Sources: Österlund, "Texel's tuning method" (2014); Nocedal and Wright, "Numerical Optimization", algorithm 7.1.

use rayon::prelude::*;
use serde::Serialize;
use thiserror::Error;

use self::solver::Objective;
use super::{score_log_loss, sigmoid};

mod solver;

/// Logits per centipawn at K = 1: a pawn of 100 is ln 10/4 logits, the usual Elo curve.
pub const LOGITS_PER_CENTIPAWN: f64 = std::f64::consts::LN_10 / 400.0;

/// Rows summed serially before partial sums are combined. Fixed, so that sums do not depend on threads; large enough
/// that a partial gradient of 4000 weights is cheap beside it.
const CHUNK_ROWS: usize = 8192;

/// The smallest and largest scale K considered. Evaluations in centipawns give 0.3 to 2.
const SCALE_RANGE: (f64, f64) = (0.01, 20.0);

/// The scale is found to this relative precision.
const SCALE_PRECISION: f64 = 1e-12;

/// Bisections that shrink [`SCALE_RANGE`] to [`SCALE_PRECISION`] even if Newton never helps.
const SCALE_STEPS: u32 = 64;

/// One position as the tuner sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample<'a> {
    /// (parameter, coefficient) pairs; a parameter may occur more than once, and the coefficients then add.
    pub features: &'a [(u32, f32)],
    /// The part of the evaluation that is not tuned, in centipawns.
    pub offset: f64,
    /// The result in \[0, 1\], from the side for which the evaluation is positive.
    pub result: f64,
    /// How many independent positions this one counts for; at least 0. Positions of one game repeat each other, so
    /// weights below 1 keep the prior's say honest.
    pub weight: f64,
    /// The game or pair; all its positions fall on the same side of the validation split.
    pub cluster: u64,
}

/// Samples in compressed sparse rows: eight bytes a feature and forty a row.
#[derive(Debug, Clone)]
pub struct SampleSet {
    parameters: usize,
    row_starts: Vec<usize>,
    indices: Vec<u32>,
    coefficients: Vec<f32>,
    facts: Vec<RowFacts>,
}

#[derive(Debug, Clone, Copy)]
struct RowFacts {
    offset: f64,
    result: f64,
    weight: f64,
    cluster: u64,
}

/// Which clusters are set aside.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Split {
    /// The fraction of clusters kept for validation, in \[0, 1).
    pub validation_fraction: f64,
    /// Chooses which; the same seed always sets the same clusters aside.
    pub seed: u64,
}

/// Row numbers of a sample set, divided by [`Split`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Rows that are fitted.
    pub training: Vec<u32>,
    /// Rows that only judge the fit.
    pub validation: Vec<u32>,
}

/// A Gaussian prior on one weight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Prior {
    /// The incoming weight, in centipawns.
    pub mean: f64,
    /// Standard deviation in centipawns: 0 fixes the weight, infinity lets the data alone decide.
    pub deviation: f64,
}

/// The solver's limits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TaperedLimits {
    /// Newton steps.
    pub newton_steps: u32,
    /// Conjugate-gradient steps within one Newton step.
    pub inner_steps: u32,
    /// Converged when a diagonal Newton step would change the objective by less than this many nats in all: weights
    /// are then far closer to the optimum than their standard errors.
    pub tolerance_nats: f64,
}

impl Default for TaperedLimits {
    /// 60 Newton steps of up to 250 inner ones, to 1e-10 nats: convex problems of 4000 weights take 5 to 15.
    fn default() -> Self {
        Self { newton_steps: 60, inner_steps: 250, tolerance_nats: 1e-10 }
    }
}

/// Everything a fit needs besides the samples.
#[derive(Debug, Clone, Copy)]
pub struct TaperedPlan<'a> {
    /// The scale K, from [`SampleSet::fit_scale`].
    pub scale: f64,
    /// One prior per parameter; the fit starts at the means.
    pub priors: &'a [Prior],
    /// When to stop.
    pub limits: TaperedLimits,
}

/// Mean cross-entropies in nats per unit of weight; `None` where the set is empty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Losses {
    /// Over the training rows.
    pub training: Option<f64>,
    /// Over the validation rows.
    pub validation: Option<f64>,
}

/// A fitted set of weights.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaperedFit {
    /// The weights, in centipawns.
    pub weights: Vec<f64>,
    /// For each weight, in how many training rows it occurs: where 0, the weight is the prior's mean.
    pub occurrences: Vec<u32>,
    /// Losses at the prior's means.
    pub before: Losses,
    /// Losses at the fitted weights.
    pub after: Losses,
    /// Rows fitted.
    pub training_rows: usize,
    /// Rows set aside.
    pub validation_rows: usize,
    /// Newton steps taken.
    pub iterations: u32,
    /// Products with the Hessian over all steps: each is a pass over the training rows.
    pub hessian_products: u32,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

/// Why samples, scale or fit were refused.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TaperedError {
    /// A feature names a parameter that does not exist.
    #[error("sample {sample}: expected a parameter below {parameters}, got {got}")]
    UnknownParameter {
        /// The sample, from 0.
        sample: usize,
        /// Number of parameters.
        parameters: usize,
        /// The parameter named.
        got: u32,
    },
    /// A number is not finite or out of range.
    #[error("sample {sample}: expected {field} {expected}, got {got}")]
    BadNumber {
        /// The sample, from 0.
        sample: usize,
        /// Which number.
        field: &'static str,
        /// What it should be.
        expected: &'static str,
        /// The value.
        got: f64,
    },
    /// More rows than a 32-bit row number can name.
    #[error("expected fewer than {limit} samples, got one more")]
    TooManySamples {
        /// The largest number of samples.
        limit: usize,
    },
    /// The number of weights or priors does not match the parameters.
    #[error("expected {expected} {what}, got {got}")]
    Length {
        /// What was counted.
        what: &'static str,
        /// Number of parameters.
        expected: usize,
        /// Number given.
        got: usize,
    },
    /// A prior is unusable.
    #[error(
        "parameter {parameter}: expected a finite mean and a deviation of 0 or a sensible positive number, got mean {mean} and deviation {deviation}"
    )]
    BadPrior {
        /// The parameter, from 0.
        parameter: usize,
        /// Its mean.
        mean: f64,
        /// Its deviation.
        deviation: f64,
    },
    /// The validation fraction is unusable.
    #[error("expected a validation fraction from 0 to below 1, got {got}")]
    BadFraction {
        /// The fraction given.
        got: f64,
    },
    /// The scale given is not positive and finite.
    #[error("expected a positive finite scale, got {got}")]
    BadScale {
        /// The scale given.
        got: f64,
    },
    /// No scale in the range considered is best: the evaluation does not predict results, or predicts them all.
    #[error(
        "expected the best scale between {low} and {high}, got one at or beyond {edge}: the evaluation predicts results {how}"
    )]
    ScaleOutOfRange {
        /// Smallest scale considered.
        low: f64,
        /// Largest scale considered.
        high: f64,
        /// The edge reached.
        edge: f64,
        /// "not at all or backwards", or "without error".
        how: &'static str,
    },
}

impl SampleSet {
    /// An empty set over `parameters` weights.
    #[must_use]
    pub fn new(parameters: usize) -> Self {
        Self { parameters, row_starts: vec![0], indices: Vec::new(), coefficients: Vec::new(), facts: Vec::new() }
    }

    /// Number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.facts.len()
    }

    /// Whether there are no samples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// Number of weights.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.parameters
    }

    /// Appends a sample after checking it; on error the set is unchanged.
    ///
    /// # Errors
    /// [`TaperedError::UnknownParameter`], [`TaperedError::BadNumber`] or [`TaperedError::TooManySamples`].
    pub fn push(&mut self, sample: &Sample<'_>) -> Result<(), TaperedError> {
        self.check(sample)?;
        for &(index, coefficient) in sample.features.iter().filter(|feature| feature.1 != 0.0) {
            self.indices.push(index);
            self.coefficients.push(coefficient);
        }
        self.row_starts.push(self.indices.len());
        self.facts.push(RowFacts {
            offset: sample.offset,
            result: sample.result,
            weight: sample.weight,
            cluster: sample.cluster,
        });
        Ok(())
    }

    /// Divides the rows by cluster: a cluster is set aside when the hash of its id falls below the fraction.
    ///
    /// # Errors
    /// [`TaperedError::BadFraction`].
    pub fn partition(&self, split: &Split) -> Result<Partition, TaperedError> {
        if !(0.0..1.0).contains(&split.validation_fraction) {
            return Err(TaperedError::BadFraction { got: split.validation_fraction });
        }
        let rows = 0..self.len() as u32;
        let (validation, training) = rows.partition(|&row| split.sets_aside(self.facts[row as usize].cluster));
        Ok(Partition { training, validation })
    }

    /// Mean cross-entropy over some rows, in nats per unit of weight; `None` when their weights sum to zero.
    ///
    /// # Errors
    /// [`TaperedError::Length`] when `weights` does not match the parameters.
    pub fn log_loss(&self, rows: &[u32], weights: &[f64], scale: f64) -> Result<Option<f64>, TaperedError> {
        self.check_length("weights", weights.len())?;
        Ok(self.mean_loss(rows, weights, scale))
    }

    /// The scale K that minimises the cross-entropy over `rows` for given weights.
    ///
    /// # Errors
    /// [`TaperedError::ScaleOutOfRange`] when the evaluation predicts results backwards, not at all, or without
    /// error (then no finite scale is best); [`TaperedError::Length`] when `weights` does not match.
    pub fn fit_scale(&self, rows: &[u32], weights: &[f64]) -> Result<f64, TaperedError> {
        self.check_length("weights", weights.len())?;
        let evaluations: Vec<f64> = rows.par_iter().map(|&row| self.evaluation(row, weights)).collect();
        let slope = |scale: f64| self.scale_slope(rows, &evaluations, scale);
        let (low, high) = SCALE_RANGE;
        let beyond = |edge, how| TaperedError::ScaleOutOfRange { low, high, edge, how };
        if slope(low).0 >= 0.0 {
            return Err(beyond(low, "not at all or backwards"));
        }
        if slope(high).0 <= 0.0 {
            return Err(beyond(high, "without error"));
        }
        Ok(root_of_rising(slope, SCALE_RANGE))
    }

    /// The maximum a posteriori weights over the training rows of a partition.
    ///
    /// # Errors
    /// [`TaperedError::Length`], [`TaperedError::BadPrior`] or [`TaperedError::BadScale`]. Running out of steps is
    /// not an error but `converged: false`.
    pub fn fit(&self, partition: &Partition, plan: &TaperedPlan<'_>) -> Result<TaperedFit, TaperedError> {
        self.check_plan(plan)?;
        let objective = Objective {
            samples: self,
            rows: &partition.training,
            priors: plan.priors,
            logits: plan.scale * LOGITS_PER_CENTIPAWN,
        };
        let start: Vec<f64> = plan.priors.iter().map(|prior| prior.mean).collect();
        let losses = |weights: &[f64]| Losses {
            training: self.mean_loss(&partition.training, weights, plan.scale),
            validation: self.mean_loss(&partition.validation, weights, plan.scale),
        };
        let before = losses(&start);
        let solution = objective.minimise(start, &plan.limits);
        Ok(TaperedFit {
            after: losses(&solution.weights),
            before,
            occurrences: self.occurrences(&partition.training),
            weights: solution.weights,
            training_rows: partition.training.len(),
            validation_rows: partition.validation.len(),
            iterations: solution.iterations,
            hessian_products: solution.hessian_products,
            converged: solution.converged,
        })
    }

    fn check(&self, sample: &Sample<'_>) -> Result<(), TaperedError> {
        let index = self.len();
        if index >= u32::MAX as usize {
            return Err(TaperedError::TooManySamples { limit: u32::MAX as usize });
        }
        for &(parameter, coefficient) in sample.features {
            if parameter as usize >= self.parameters {
                return Err(TaperedError::UnknownParameter {
                    sample: index,
                    parameters: self.parameters,
                    got: parameter,
                });
            }
            require(coefficient.is_finite(), index, ("coefficient", "finite"), f64::from(coefficient))?;
        }
        require(sample.offset.is_finite(), index, ("offset", "finite"), sample.offset)?;
        let result_fits = (0.0..=1.0).contains(&sample.result);
        require(result_fits, index, ("result", "between 0 and 1"), sample.result)?;
        let weight_fits = sample.weight.is_finite() && sample.weight >= 0.0;
        require(weight_fits, index, ("weight", "finite and at least 0"), sample.weight)
    }

    fn check_length(&self, what: &'static str, got: usize) -> Result<(), TaperedError> {
        if got == self.parameters {
            return Ok(());
        }
        Err(TaperedError::Length { what, expected: self.parameters, got })
    }

    fn check_plan(&self, plan: &TaperedPlan<'_>) -> Result<(), TaperedError> {
        self.check_length("priors", plan.priors.len())?;
        if !(plan.scale.is_finite() && plan.scale > 0.0) {
            return Err(TaperedError::BadScale { got: plan.scale });
        }
        let is_bad = |prior: &Prior| {
            !prior.mean.is_finite()
                || prior.deviation.is_nan()
                || prior.deviation < 0.0
                || !prior.precision().is_finite()
        };
        match plan.priors.iter().position(is_bad) {
            None => Ok(()),
            Some(parameter) => Err(TaperedError::BadPrior {
                parameter,
                mean: plan.priors[parameter].mean,
                deviation: plan.priors[parameter].deviation,
            }),
        }
    }

    fn features(&self, row: u32) -> impl Iterator<Item = (usize, f64)> + '_ {
        let span = self.row_starts[row as usize]..self.row_starts[row as usize + 1];
        let indices = self.indices[span.clone()].iter().map(|&index| index as usize);
        indices.zip(self.coefficients[span].iter().map(|&coefficient| f64::from(coefficient)))
    }

    /// Σ coefficient·θ of one row.
    fn linear_part(&self, row: u32, weights: &[f64]) -> f64 {
        self.features(row).map(|(index, coefficient)| coefficient * weights[index]).sum()
    }

    /// The evaluation of one row, in centipawns.
    fn evaluation(&self, row: u32, weights: &[f64]) -> f64 {
        self.facts[row as usize].offset + self.linear_part(row, weights)
    }

    fn mean_loss(&self, rows: &[u32], weights: &[f64], scale: f64) -> Option<f64> {
        let logits = scale * LOGITS_PER_CENTIPAWN;
        let [loss, weight] = sum_in_chunks(rows, |row| {
            let facts = &self.facts[row as usize];
            let loss = score_log_loss(logits * self.evaluation(row, weights), facts.result);
            [facts.weight * loss, facts.weight]
        });
        (weight > 0.0).then(|| loss / weight)
    }

    /// First and second derivative by K of the summed cross-entropy.
    fn scale_slope(&self, rows: &[u32], evaluations: &[f64], scale: f64) -> (f64, f64) {
        let positions: Vec<u32> = (0..rows.len() as u32).collect();
        let [slope, curvature] = sum_in_chunks(&positions, |position| {
            let facts = &self.facts[rows[position as usize] as usize];
            let per_scale = LOGITS_PER_CENTIPAWN * evaluations[position as usize];
            let expected = sigmoid(scale * per_scale);
            let variance = expected * sigmoid(-scale * per_scale);
            [facts.weight * (expected - facts.result) * per_scale, facts.weight * variance * per_scale * per_scale]
        });
        (slope, curvature)
    }

    fn occurrences(&self, rows: &[u32]) -> Vec<u32> {
        let mut counts = vec![0u32; self.parameters];
        let mut last_row = vec![u32::MAX; self.parameters];
        for &row in rows {
            for (index, _) in self.features(row) {
                if last_row[index] != row {
                    last_row[index] = row;
                    counts[index] += 1;
                }
            }
        }
        counts
    }
}

impl Split {
    /// Whether a cluster is kept for validation.
    #[must_use]
    pub fn sets_aside(&self, cluster: u64) -> bool {
        // 53 bits of the hash make a uniform number in [0, 1).
        let uniform = (scrambled(cluster ^ scrambled(self.seed)) >> 11) as f64 / (1u64 << 53) as f64;
        uniform < self.validation_fraction
    }
}

/// The finalising permutation of SplitMix64 (Steele, Lea and Flood, 2014): every input bit affects every output bit.
fn scrambled(id: u64) -> u64 {
    let mut z = id.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn require(
    holds: bool,
    sample: usize,
    (field, expected): (&'static str, &'static str),
    got: f64,
) -> Result<(), TaperedError> {
    if holds {
        return Ok(());
    }
    Err(TaperedError::BadNumber { sample, field, expected, got })
}

/// The sum of `term` over rows, the same for any number of threads.
fn sum_in_chunks(rows: &[u32], term: impl Fn(u32) -> [f64; 2] + Sync) -> [f64; 2] {
    let add = |a: [f64; 2], b: [f64; 2]| [a[0] + b[0], a[1] + b[1]];
    let of_chunk = |chunk: &[u32]| chunk.iter().map(|&row| term(row)).fold([0.0; 2], add);
    let partial: Vec<[f64; 2]> = rows.par_chunks(CHUNK_ROWS).map(of_chunk).collect();
    partial.into_iter().fold([0.0; 2], add)
}

/// The root of a rising function given with its derivative, by Newton's method kept inside a shrinking bracket.
fn root_of_rising(function: impl Fn(f64) -> (f64, f64), (mut low, mut high): (f64, f64)) -> f64 {
    let mut x = low.max(1.0f64.min(high));
    for _ in 0..SCALE_STEPS {
        let (value, derivative) = function(x);
        if value < 0.0 {
            low = x;
        } else {
            high = x;
        }
        let newton = x - value / derivative;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        let moved = (next - x).abs();
        x = next;
        if moved <= SCALE_PRECISION * x {
            break;
        }
    }
    x
}

impl Prior {
    fn is_fixed(&self) -> bool {
        self.deviation == 0.0
    }

    /// 1/deviation², and 0 for a fixed weight, which never leaves its mean.
    fn precision(&self) -> f64 {
        if self.is_fixed() { 0.0 } else { self.deviation.powi(-2) }
    }
}
