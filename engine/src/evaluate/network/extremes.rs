//! How far the sums of a network could go in any position: the proof that accumulators do not overflow.
//!
//! A square holds one man, so the sum of a neuron is at most its bias, the best weight on each of the squares that help
//! most, as many squares as there are men, and the best that hands could add. Positions with more men than the game begins
//! with can be set up, though none arises; the evaluation sums those up in wider numbers.

use super::features::Features;
use crate::variant::Variant;

/// For each neuron bounds below and above all sums of weights, with the own king in a region.
pub(super) fn extremes(features: &Features, transformer: &[i16], region: usize) -> Vec<(i64, i64)> {
    let width = features.architecture().width;
    let rows: Vec<&[i16]> =
        transformer.chunks_exact(width).skip(region * features.slots()).take(features.slots()).collect();
    let men = features.most_active().min(features.squares());
    let on_board = 2 * features.variant().units().len() * features.squares();
    let (board, hands) = rows.split_at(on_board.min(rows.len()));
    let [low, high] = [Side::Below, Side::Above].map(|side| {
        let best = side.best_by_square(board, features.squares(), width);
        let held = side.best_of_hands(hands, features.variant(), width);
        let sum = |neuron: usize| side.sum_of_best(&best, width, neuron, men) + held[neuron];
        (0..width).map(sum).collect::<Vec<_>>()
    });
    low.into_iter().zip(high).collect()
}

/// Which end of the sums is looked for.
#[derive(Clone, Copy)]
enum Side {
    Below,
    Above,
}

impl Side {
    fn better(self, a: i64, b: i64) -> i64 {
        match self {
            Self::Below => a.min(b),
            Self::Above => a.max(b),
        }
    }

    /// By square and neuron, the best that a man there, or none, can add.
    fn best_by_square(self, rows: &[&[i16]], squares: usize, width: usize) -> Vec<i16> {
        let mut best = vec![0_i16; squares * width];
        for (index, row) in rows.iter().enumerate() {
            let start = index % squares * width;
            for (best, &weight) in best[start..start + width].iter_mut().zip(*row) {
                *best = match self {
                    Self::Below => weight.min(*best),
                    Self::Above => weight.max(*best),
                };
            }
        }
        best
    }

    /// The sum over the squares that matter most for a neuron.
    fn sum_of_best(self, best: &[i16], width: usize, neuron: usize, men: usize) -> i64 {
        let mut of_neuron: Vec<i64> =
            best.iter().skip(neuron).step_by(width).map(|&weight| i64::from(weight)).collect();
        of_neuron.sort_unstable_by_key(|weight| std::cmp::Reverse(weight.abs()));
        of_neuron.iter().take(men).sum()
    }

    /// By neuron, the best that both sides' hands can add: of each unit type as many as help most.
    fn best_of_hands(self, rows: &[&[i16]], variant: &Variant, width: usize) -> Vec<i64> {
        let mut best = vec![0; width];
        let mut rows = rows.iter();
        let sizes: Vec<usize> = variant.units().map(|unit| usize::from(variant.hand_size(unit))).collect();
        for &held in sizes.iter().chain(&sizes) {
            let (mut sums, mut best_sums) = (vec![0; width], vec![0; width]);
            for row in rows.by_ref().take(held) {
                for ((sum, best), &weight) in sums.iter_mut().zip(&mut best_sums).zip(*row) {
                    *sum += i64::from(weight);
                    *best = self.better(*best, *sum);
                }
            }
            best.iter_mut().zip(best_sums).for_each(|(best, sum)| *best += sum);
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::super::Architecture;
    use super::*;
    use std::sync::Arc;

    /// Eight men, each on its own file, may stand anywhere: the eight best squares count, each once.
    #[test]
    fn the_best_squares_count_once_each() {
        let variant = Arc::new(Variant::load("chess").unwrap());
        let features = Features::new(&variant, Architecture::plain(64)).unwrap();
        let (width, squares) = (64, features.squares());
        let mut transformer = vec![0; features.inputs() * width];
        // Every unit is worth as much as the number of its square for neuron 3, and as much less for neuron 4.
        for input in 0..features.inputs() {
            let square = (input % squares) as i16;
            transformer[input * width + 3] = square;
            transformer[input * width + 4] = -square;
        }
        let reach = extremes(&features, &transformer, 0);
        let best_thirty_two: i64 = (32..64).sum();
        assert_eq!(reach[3], (0, best_thirty_two));
        assert_eq!(reach[4], (-best_thirty_two, 0));
        assert_eq!(reach[5], (0, 0));
    }

    #[test]
    fn hands_count_by_how_many_help() {
        let variant = Arc::new(Variant::load("sorcerer-reinforcements").unwrap());
        let features = Features::new(&variant, Architecture::plain(64)).unwrap();
        let width = 64;
        let mut transformer = vec![0; features.inputs() * width];
        let in_hand: Vec<usize> =
            (0..features.inputs()).filter(|&input| features.meaning(input).unwrap().square.is_none()).collect();
        for &input in &in_hand {
            transformer[input * width] = 10;
            let first = features.meaning(input).unwrap().held_before == 0;
            transformer[input * width + 1] = if first { 7 } else { -9 };
        }
        let kinds = in_hand.iter().filter(|&&input| features.meaning(input).unwrap().held_before == 0).count() as i64;
        let reach = extremes(&features, &transformer, 0);
        assert_eq!(reach[0], (0, 10 * in_hand.len() as i64));
        assert_eq!(reach[1].1, 7 * kinds);
    }
}
