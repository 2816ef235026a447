//! What a position is worth, for the side to move, in centipawns.
//!
//! An [`Evaluator`] keeps an accumulator up to date as men come and go; the search carries one a ply. [`Tapered`] sums
//! material and squares from a [`Weights`] file; without one, [`Weights::best_known`] takes the weights shipped for the
//! game, or values derived from mobility ([`Weights::a_priori`]).

mod a_priori;
mod shipped;
mod tapered;
mod weights;
mod weights_file;

pub use tapered::{Balance, Tapered};
pub use weights::{MeasuredValue, UnitWeights, Weights};
pub use weights_file::{Origin, WeightsError};

use crate::geometry::Square;
use crate::position::{Observer, Piece, Position};
use crate::variant::rules::MAX_UNITS;

/// A way of judging positions that follows the moves.
pub trait Evaluator {
    /// What is kept up to date, in White's view.
    type Accumulator: Copy;

    /// The accumulator of a position, from scratch.
    fn fresh(&self, position: &Position) -> Self::Accumulator;
    /// A man has come to stand on a square.
    fn placed(&self, accumulator: &mut Self::Accumulator, piece: Piece, square: Square);
    /// A man has left a square.
    fn lifted(&self, accumulator: &mut Self::Accumulator, piece: Piece, square: Square);
    /// A man has left the hand.
    fn dropped(&self, accumulator: &mut Self::Accumulator, piece: Piece);
    /// What a man's going from a square to another gains by itself, in centipawns: a first guess for ordering moves.
    fn step_gain(&self, piece: Piece, from: Square, to: Square) -> i32;
    /// What units are worth in exchanges, by unit type.
    fn exchange_values(&self) -> &[i32; MAX_UNITS];
    /// The value for the side to move, in centipawns, well below mate scores.
    fn evaluate(&self, position: &Position, accumulator: &Self::Accumulator) -> i32;
}

/// An evaluator listening to a position's changes.
pub struct Follow<'a, E: Evaluator> {
    /// Who judges.
    pub evaluator: &'a E,
    /// What it keeps.
    pub accumulator: &'a mut E::Accumulator,
}

impl<E: Evaluator> Observer for Follow<'_, E> {
    #[inline]
    fn placed(&mut self, piece: Piece, square: Square) {
        self.evaluator.placed(self.accumulator, piece, square);
    }
    #[inline]
    fn lifted(&mut self, piece: Piece, square: Square) {
        self.evaluator.lifted(self.accumulator, piece, square);
    }
    #[inline]
    fn dropped(&mut self, piece: Piece) {
        self.evaluator.dropped(self.accumulator, piece);
    }
}
