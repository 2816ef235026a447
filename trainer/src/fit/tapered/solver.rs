//! The solver behind [`super::SampleSet::fit`]: Newton steps by preconditioned conjugate gradients.
//!
//! It sees a convex objective over rows and priors, and never forms a matrix. Checking input and reporting are the
//! parent module's work.

use rayon::prelude::*;

use super::{CHUNK_ROWS, Prior, SampleSet, TaperedLimits, sum_in_chunks};
use crate::fit::linear::dot;
use crate::fit::{score_log_loss, sigmoid};

/// A step is accepted when it gains this fraction of what its slope promises (Armijo's condition).
const SUFFICIENT_DECREASE: f64 = 1e-4;

/// A rise of the objective by less than this fraction is rounding.
const ROUNDING: f64 = 1e-13;

/// Halvings of a Newton step before the solver stops where it is.
const HALVINGS: u32 = 40;

/// Conjugate gradients stop when the residual has fallen to this fraction, or to the square root of the gradient's
/// norm if that is smaller, which makes the outer steps converge faster than linearly.
const LOOSEST_INNER_REDUCTION: f64 = 0.1;

/// The penalised cross-entropy, in nats, as a function of the weights.
pub(super) struct Objective<'a> {
    pub(super) samples: &'a SampleSet,
    pub(super) rows: &'a [u32],
    pub(super) priors: &'a [Prior],
    /// Logits per centipawn, scale included.
    pub(super) logits: f64,
}

/// Where the solver stopped.
pub(super) struct Solution {
    pub(super) weights: Vec<f64>,
    pub(super) iterations: u32,
    pub(super) hessian_products: u32,
    pub(super) converged: bool,
}

/// Value, gradient and what the Hessian needs, at one point.
struct Local {
    value: f64,
    gradient: Vec<f64>,
    /// Second derivative of each row's loss by its evaluation, in the order of `rows`.
    row_curvatures: Vec<f64>,
    /// The Hessian's diagonal, 1 where it is zero: divides vectors in the preconditioner.
    diagonal: Vec<f64>,
}

/// A chunk's share of [`Local`].
struct Share {
    value: f64,
    gradient: Vec<f64>,
    diagonal: Vec<f64>,
    row_curvatures: Vec<f64>,
}

impl Objective<'_> {
    pub(super) fn minimise(&self, mut weights: Vec<f64>, limits: &TaperedLimits) -> Solution {
        let mut hessian_products = 0;
        let mut iterations = 0;
        let mut here = self.local(&weights);
        let mut converged = here.decrement() <= limits.tolerance_nats;
        while !converged && iterations < limits.newton_steps {
            let (step, products) = self.newton_step(&here, limits.inner_steps);
            hessian_products += products;
            let Some(next) = self.descend(&weights, &step, &here) else {
                break;
            };
            weights = next;
            here = self.local(&weights);
            iterations += 1;
            converged = here.decrement() <= limits.tolerance_nats;
        }
        Solution { weights, iterations, hessian_products, converged }
    }

    /// Goes along a descent direction, halving until the objective falls enough; `None` when it cannot.
    fn descend(&self, weights: &[f64], step: &[f64], here: &Local) -> Option<Vec<f64>> {
        let slope = dot(step, &here.gradient);
        let slack = ROUNDING * here.value.abs();
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            let trial: Vec<f64> = weights.iter().zip(step).map(|(w, s)| w + length * s).collect();
            if self.value(&trial) <= here.value + SUFFICIENT_DECREASE * length * slope + slack {
                return Some(trial);
            }
            length /= 2.0;
        }
        None
    }

    /// Solves Hessian·step = −gradient approximately, by preconditioned conjugate gradients; also counts products.
    fn newton_step(&self, here: &Local, inner_steps: u32) -> (Vec<f64>, u32) {
        let mut step = vec![0.0; here.gradient.len()];
        let mut residual: Vec<f64> = here.gradient.iter().map(|g| -g).collect();
        let mut scaled = here.preconditioned(&residual);
        let mut direction = scaled.clone();
        let mut size = dot(&residual, &scaled);
        let reduction = LOOSEST_INNER_REDUCTION.min(size.sqrt().sqrt());
        let target = size * reduction * reduction;
        for inner in 0..inner_steps {
            if size <= target {
                return (step, inner);
            }
            let product = self.hessian_times(&direction, here);
            let curvature = dot(&direction, &product);
            if curvature <= 0.0 {
                return (step, inner + 1);
            }
            let length = size / curvature;
            add_scaled(&mut step, length, &direction);
            add_scaled(&mut residual, -length, &product);
            scaled = here.preconditioned(&residual);
            let next_size = dot(&residual, &scaled);
            let keep = next_size / size;
            direction.iter_mut().zip(&scaled).for_each(|(d, s)| *d = s + keep * *d);
            size = next_size;
        }
        (step, inner_steps)
    }

    fn value(&self, weights: &[f64]) -> f64 {
        let [loss, _] = sum_in_chunks(self.rows, |row| [self.row_loss(row, weights).0, 0.0]);
        loss + self.penalty(weights)
    }

    /// One row's weighted loss and its first two derivatives by the evaluation.
    fn row_loss(&self, row: u32, weights: &[f64]) -> (f64, f64, f64) {
        let facts = &self.samples.facts[row as usize];
        let logit = self.logits * self.samples.evaluation(row, weights);
        let expected = sigmoid(logit);
        (
            facts.weight * score_log_loss(logit, facts.result),
            facts.weight * self.logits * (expected - facts.result),
            facts.weight * self.logits * self.logits * expected * sigmoid(-logit),
        )
    }

    /// ½·((θ−mean)/deviation)² summed over the weights that are free.
    fn penalty(&self, weights: &[f64]) -> f64 {
        let of = |(weight, prior): (&f64, &Prior)| 0.5 * (weight - prior.mean).powi(2) * prior.precision();
        weights.iter().zip(self.priors).map(of).sum()
    }

    fn local(&self, weights: &[f64]) -> Local {
        let shares: Vec<Share> = self.rows.par_chunks(CHUNK_ROWS).map(|chunk| self.share(chunk, weights)).collect();
        let zeros = || vec![0.0; weights.len()];
        let mut local = Local {
            value: self.penalty(weights),
            gradient: zeros(),
            row_curvatures: Vec::with_capacity(self.rows.len()),
            diagonal: zeros(),
        };
        for share in shares {
            local.value += share.value;
            add_scaled(&mut local.gradient, 1.0, &share.gradient);
            add_scaled(&mut local.diagonal, 1.0, &share.diagonal);
            local.row_curvatures.extend(share.row_curvatures);
        }
        self.add_prior(&mut local, weights);
        local
    }

    fn share(&self, chunk: &[u32], weights: &[f64]) -> Share {
        let zeros = || vec![0.0; weights.len()];
        let mut share =
            Share { value: 0.0, gradient: zeros(), diagonal: zeros(), row_curvatures: Vec::with_capacity(chunk.len()) };
        for &row in chunk {
            let (loss, slope, curvature) = self.row_loss(row, weights);
            share.value += loss;
            share.row_curvatures.push(curvature);
            for (index, coefficient) in self.samples.features(row) {
                share.gradient[index] += coefficient * slope;
                share.diagonal[index] += coefficient * coefficient * curvature;
            }
        }
        share
    }

    /// Adds the prior's derivatives; a fixed weight gets no gradient at all.
    fn add_prior(&self, local: &mut Local, weights: &[f64]) {
        for (index, prior) in self.priors.iter().enumerate() {
            local.gradient[index] += prior.precision() * (weights[index] - prior.mean);
            local.diagonal[index] += prior.precision();
            if prior.is_fixed() {
                local.gradient[index] = 0.0;
            }
            if local.diagonal[index] <= 0.0 {
                local.diagonal[index] = 1.0;
            }
        }
    }

    fn hessian_times(&self, vector: &[f64], here: &Local) -> Vec<f64> {
        let chunks = self.rows.par_chunks(CHUNK_ROWS).zip(here.row_curvatures.par_chunks(CHUNK_ROWS));
        let of_chunk = |(rows, curvatures): (&[u32], &[f64])| {
            let mut product = vec![0.0; vector.len()];
            for (&row, curvature) in rows.iter().zip(curvatures) {
                let along = curvature * self.samples.linear_part(row, vector);
                for (index, coefficient) in self.samples.features(row) {
                    product[index] += coefficient * along;
                }
            }
            product
        };
        let partial: Vec<Vec<f64>> = chunks.map(of_chunk).collect();
        let mut product = vec![0.0; vector.len()];
        partial.iter().for_each(|share| add_scaled(&mut product, 1.0, share));
        for (index, prior) in self.priors.iter().enumerate() {
            product[index] += prior.precision() * vector[index];
            if prior.is_fixed() {
                product[index] = 0.0;
            }
        }
        product
    }
}

impl Local {
    fn preconditioned(&self, vector: &[f64]) -> Vec<f64> {
        vector.iter().zip(&self.diagonal).map(|(v, d)| v / d).collect()
    }

    /// Half of gᵀD⁻¹g: what a diagonal Newton step would gain, in nats.
    fn decrement(&self) -> f64 {
        0.5 * dot(&self.gradient, &self.preconditioned(&self.gradient))
    }
}

fn add_scaled(sum: &mut [f64], factor: f64, term: &[f64]) {
    for (entry, addend) in sum.iter_mut().zip(term) {
        *entry += factor * addend;
    }
}
