//! Choosing a move by its weight.

use super::BookMove;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A lot that is drawn for one move of one game: it depends on these three numbers and on nothing else, so whoever takes a move
/// back and asks again gets the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Seed of all games.
    pub seed: u64,
    /// Number of the game.
    pub game: u64,
    /// Number of the ply in the game.
    pub ply: u32,
}

impl Draw {
    /// One of the moves, each with the probability that its weight has in the sum of all weights. `None` if that is 0.
    pub fn choose<'a>(&self, moves: &'a [BookMove]) -> Option<&'a BookMove> {
        let sum: u64 = moves.iter().map(|mv| u64::from(mv.weight)).sum();
        // The high half of the product: every number below the sum is as likely as another, but for parts in 2⁶⁴.
        let mut drawn = ((u128::from(self.number()) * u128::from(sum)) >> 64) as u64;
        moves.iter().find(|mv| {
            let is_hit = drawn < u64::from(mv.weight);
            drawn = drawn.saturating_sub(u64::from(mv.weight));
            is_hit
        })
    }

    fn number(&self) -> u64 {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(self.game);
        // A number is two words long.
        random.set_word_pos(2 * u128::from(self.ply));
        random.next_u64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moves::Move;

    fn moves(weights: &[u16]) -> Vec<BookMove> {
        let numbered = (0..).zip(weights);
        numbered.map(|(bits, &weight)| BookMove { weight, ..BookMove::new(Move::from_bits(bits)) }).collect()
    }

    #[test]
    fn moves_come_as_often_as_their_weights_say() {
        let moves = moves(&[6, 3, 0, 1]);
        let mut counts = [0_i32; 4];
        for game in 0..100 {
            for ply in 0..100 {
                let chosen = Draw { seed: 7, game, ply }.choose(&moves).unwrap();
                counts[chosen.mv.to_bits() as usize] += 1;
            }
        }
        // Five standard deviations of binomials with 10,000 trials.
        let expected = [(6_000, 245), (3_000, 230), (0, 0), (1_000, 150)];
        assert!(counts.iter().zip(expected).all(|(count, (mean, most))| (count - mean).abs() <= most), "{counts:?}");
    }

    #[test]
    fn the_same_lot_draws_the_same_move() {
        let moves = moves(&[1; 50]);
        let chosen = |seed, game, ply| Draw { seed, game, ply }.choose(&moves).unwrap().mv;
        assert_eq!(chosen(1, 2, 3), chosen(1, 2, 3));
        assert!((0..10).any(|ply| chosen(1, 2, ply) != chosen(1, 3, ply)));
        assert!((0..10).any(|ply| chosen(1, 2, ply) != chosen(2, 2, ply)));
        assert!((0..10).any(|ply| chosen(1, 2, ply) != chosen(1, 2, ply + 10)));
    }

    #[test]
    fn nothing_is_drawn_from_moves_without_weight() {
        let draw = Draw { seed: 1, game: 0, ply: 0 };
        assert_eq!(draw.choose(&[]), None);
        assert_eq!(draw.choose(&moves(&[0, 0])), None);
    }
}
