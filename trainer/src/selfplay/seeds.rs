//! Randomness: one ChaCha stream a game, from (run seed, number). Never the clock.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The stream of one game or pair.
pub struct Dice(ChaCha8Rng);

impl Dice {
    /// The stream with this number in the run with this seed.
    pub fn new(run_seed: u64, number: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(run_seed);
        generator.set_stream(number);
        Self(generator)
    }

    /// A number below `bound`, all equally likely (rejection, so without bias). 0 for a bound of 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        if bound == 0 {
            return 0;
        }
        let whole = u64::MAX - u64::MAX % bound;
        loop {
            let number = self.0.next_u64();
            if number < whole {
                return (number % bound) as usize;
            }
        }
    }

    /// True with probability `share`.
    pub fn chance(&mut self, share: f64) -> bool {
        // 53 bits: every multiple of 2⁻⁵³ in [0, 1) is equally likely.
        (self.0.next_u64() >> 11) as f64 * 2f64.powi(-53) < share
    }

    /// One of the items, all equally likely.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_and_repeat() {
        let draw = |seed, number| -> Vec<usize> {
            let mut dice = Dice::new(seed, number);
            (0..20).map(|_| dice.below(1000)).collect()
        };
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
    }

    #[test]
    fn numbers_are_even_enough() {
        let mut dice = Dice::new(7, 0);
        let mut counts = [0; 5];
        (0..50_000).for_each(|_| counts[dice.below(5)] += 1);
        // Five standard deviations of a binomial with 50,000 trials.
        assert!(counts.iter().all(|&count: &i32| (count - 10_000).abs() < 450), "{counts:?}");
        let heads = (0..50_000).filter(|_| dice.chance(0.3)).count() as i32;
        assert!((heads - 15_000).abs() < 520, "{heads}");
    }
}
