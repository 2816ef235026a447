//! The error that training makes small: the weighted mean of (sigmoid(base + output) − target)².

use super::Real;
use crate::train::batch::Batch;
use rayon::prelude::*;

/// Positions whose errors are summed by one thread.
const CHUNK: usize = 1024;

/// Sums over positions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ErrorSum {
    /// Σ weight · error².
    pub error: f64,
    /// Σ weight.
    pub weight: f64,
}

impl ErrorSum {
    /// The error of a batch's outputs against its targets.
    #[must_use]
    pub fn of<T: Real>(outputs: &[T], batch: &Batch) -> Self {
        Self::against(&batch.targets, outputs, batch)
    }

    /// The error of a batch's outputs against other targets.
    #[must_use]
    pub fn against<T: Real>(targets: &[f32], outputs: &[T], batch: &Batch) -> Self {
        let chunks = outputs.par_chunks(CHUNK).enumerate();
        let partial: Vec<Self> = chunks
            .map(|(chunk, outputs)| {
                let mut sum = Self::default();
                for (position, &output) in (chunk * CHUNK..).zip(outputs) {
                    let weight = batch.weights[position];
                    let error = expected(output, batch, position).wide() - f64::from(targets[position]);
                    sum = sum.and(Self { error: f64::from(weight) * error * error, weight: f64::from(weight) });
                }
                sum
            })
            .collect();
        partial.into_iter().fold(Self::default(), Self::and)
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { error: self.error + other.error, weight: self.weight + other.weight }
    }

    /// The weighted mean; 0 where nothing has weight.
    #[must_use]
    pub fn mean(self) -> f64 {
        if self.weight > 0.0 { self.error / self.weight } else { 0.0 }
    }
}

/// The result to expect from a position, by the network and what is below it.
#[inline]
fn expected<T: Real>(output: T, batch: &Batch, position: usize) -> T {
    (output + T::of(f64::from(batch.bases[position]))).sigmoid()
}

/// Derivatives of `factor` times the mean error by the outputs.
#[must_use]
pub fn slopes<T: Real>(outputs: &[T], batch: &Batch, factor: f64) -> Vec<T> {
    let weight = batch.total_weight();
    let factor = if weight > 0.0 { T::of(2.0 * factor / weight) } else { T::ZERO };
    let mut slopes = outputs.to_vec();
    slopes.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, slopes)| {
        for (position, slope) in (chunk * CHUNK..).zip(slopes) {
            let expected = expected(*slope, batch, position);
            let error = expected - T::of(f64::from(batch.targets[position]));
            *slope = factor * T::of(f64::from(batch.weights[position])) * error * expected * (T::ONE - expected);
        }
    });
    slopes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::kernels::network::Sizes;
    use crate::train::synthetic::{Numbers, batch};

    #[test]
    fn slopes_are_what_the_mean_error_changes_by() {
        let batch = batch(Sizes { inputs: 10, blocks: 1, buckets: 1 }, 3_000, 1);
        let outputs: Vec<f64> = Numbers::new(2).within(3.0, batch.len());
        let slopes = slopes(&outputs, &batch, 7.0);
        for position in [0, 1_023, 1_024, 2_999] {
            let error = |by: f64| {
                let mut outputs = outputs.clone();
                outputs[position] += by;
                7.0 * ErrorSum::of(&outputs, &batch).mean()
            };
            let slope = (error(1e-4) - error(-1e-4)) / 2e-4;
            assert!((slope - slopes[position]).abs() < 1e-8, "{position}: {slope} {}", slopes[position]);
        }
    }

    #[test]
    fn positions_without_weight_do_not_count() {
        let sizes = Sizes { inputs: 10, blocks: 1, buckets: 1 };
        let mut batch = batch(sizes, 2, 1);
        batch.targets = vec![0.25, 1.0];
        batch.bases = vec![0.0, 0.0];
        batch.weights = vec![3.0, 0.0];
        assert_eq!(ErrorSum::of(&[0.0_f64, 9.0], &batch).mean(), 0.0625);
        assert_eq!(slopes(&[0.0_f64, 9.0], &batch, 1.0)[1], 0.0);
        batch.weights = vec![0.0, 0.0];
        assert_eq!(ErrorSum::of(&[0.0_f64, 9.0], &batch).mean(), 0.0);
        assert_eq!(slopes(&[0.0_f64, 9.0], &batch, 1.0), [0.0, 0.0]);
    }
}
