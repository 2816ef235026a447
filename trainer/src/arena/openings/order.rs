//! The random order of a book.

use crate::selfplay::seeds::Dice;

/// The stream of random numbers that shuffles. Games and pairs have their own numbers, counted up from 0, as streams of the
/// same seed; no match gets to this one.
const STREAM: u64 = u64::MAX;

/// The numbers below `len`, shuffled (Fisher and Yates): all orders are equally likely as far as the seed can tell, and the
/// seed and the length decide alone.
pub(super) fn shuffled(len: u32, seed: u64) -> Vec<u32> {
    let mut dice = Dice::new(seed, STREAM);
    let mut order: Vec<u32> = (0..len).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, dice.below(last + 1));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once() {
        for len in [0, 1, 2, 3, 10, 1000] {
            for seed in 0..5 {
                let mut order = shuffled(len, seed);
                order.sort_unstable();
                assert!(order.iter().copied().eq(0..len), "{len}, seed {seed}");
            }
        }
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(shuffled(500, 1), shuffled(500, 1));
        assert_ne!(shuffled(500, 1), shuffled(500, 2));
    }

    #[test]
    fn all_orders_are_equally_likely() {
        let mut counts = std::collections::BTreeMap::new();
        (0..24_000).for_each(|seed| *counts.entry(shuffled(4, seed)).or_insert(0_i32) += 1);
        assert_eq!(counts.len(), 24);
        // Five standard deviations of a binomial around 1000.
        assert!(counts.values().all(|count| (count - 1000).abs() < 155), "{counts:?}");
    }

    /// A match that is resumed with a later version has to go on in the same order.
    #[test]
    fn the_order_is_kept_between_versions() {
        assert_eq!(shuffled(12, 7), KNOWN);
    }

    const KNOWN: [u32; 12] = [5, 11, 9, 2, 10, 6, 8, 1, 7, 3, 0, 4];
}
