//! Made-up numbers and batches, for benches and tests.

use super::batch::{Batch, Label};
use super::kernels::Real;
use super::kernels::network::Sizes;
use crate::selfplay::seeds::Dice;

/// Active inputs a side of a made-up position: about the men of two armies on a large board.
const ACTIVE: usize = 40;
/// Steps in which made-up numbers differ.
const STEPS: usize = 1 << 24;

/// A stream of numbers.
pub struct Numbers(Dice);

impl Numbers {
    /// The stream of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Dice::new(seed, 0))
    }

    /// So many numbers from −`bound` to `bound`, all equally likely.
    #[must_use]
    pub fn within<T: Real>(&mut self, bound: f64, count: usize) -> Vec<T> {
        (0..count).map(|_| T::of(bound * (2.0 * self.part() - 1.0))).collect()
    }

    /// A number from 0 to 1.
    fn part(&mut self) -> f64 {
        (self.0.below(STEPS) as f64 + 0.5) / STEPS as f64
    }
}

/// A batch of positions whose active inputs are drawn by lot, without repetition.
#[must_use]
pub fn batch(sizes: Sizes, positions: usize, seed: u64) -> Batch {
    let mut numbers = Numbers::new(seed);
    let mut batch = Batch::default();
    let active = ACTIVE.min(sizes.inputs);
    for _ in 0..positions {
        // One input out of each of equal stretches.
        let mut side = || {
            let stretch = |index: usize| index * sizes.inputs / active;
            let draw = |index| (stretch(index) + numbers.0.below(stretch(index + 1) - stretch(index))) as u32;
            (0..active).map(draw).collect::<Vec<u32>>()
        };
        let sides = [side(), side()];
        let bucket = numbers.0.below(sizes.buckets) as u8;
        let (target, weight) = (numbers.part() as f32, (0.5 + numbers.part()) as f32);
        let base = (numbers.part() - 0.5) as f32;
        batch.push(sides, Label { bucket, target, result: target, base, weight });
    }
    batch
}
