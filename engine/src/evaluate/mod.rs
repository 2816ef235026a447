//! What a position is worth, for the side to move, in centipawns.
//!
//! An [`Evaluator`] follows the moves of a line and values the positions where it is asked to. [`Tapered`] sums material and
//! squares from a [`Weights`] file; without one, [`Weights::best_known`] takes the weights shipped for the game, or values
//! derived from mobility ([`Weights::a_priori`]). [`network`] has a network do it. [`Judge`] is either, for those who play
//! with what their user chose.

#[forbid(unsafe_code)]
mod a_priori;
#[forbid(unsafe_code)]
mod judge;
pub mod network;
#[forbid(unsafe_code)]
mod shipped;
#[forbid(unsafe_code)]
mod tapered;
#[forbid(unsafe_code)]
mod weights;
#[forbid(unsafe_code)]
mod weights_file;

pub use judge::Judge;
pub use tapered::{Balance, Tapered};
pub use weights::{MeasuredValue, UnitWeights, Weights};
pub use weights_file::{Origin, WeightsError};

use crate::geometry::Square;
use crate::position::{Observer, Piece, Position};
use crate::variant::rules::MAX_UNITS;

/// Bounds of what an evaluation returns, far below mate scores.
const MOST_VALUE: i32 = 20_000;

/// A way of judging positions that follows the moves.
///
/// The positions of a line are numbered by ply from its root on. What an evaluator keeps of them is its own: following
/// should cost no more than noting what changed, as most positions of a search are never valued.
pub trait Evaluator {
    /// What is kept of the positions of a line.
    type Line;
    /// What hears the changes that lead from one position to the next.
    type Follower<'a>: Observer
    where
        Self: 'a;

    /// A line that begins with this position at ply 0, and has room for so many positions.
    fn line(&self, root: &Position, plies: usize) -> Self::Line;
    /// The position at `ply + 1` is the one at `ply` after the changes that the follower hears: none, for a pass. What the
    /// line held from there on is forgotten.
    fn follow<'a>(&'a self, line: &'a mut Self::Line, ply: usize) -> Self::Follower<'a>;
    /// The value of the line's position at `ply` for the side to move, in centipawns, well below mate scores.
    fn value(&self, position: &Position, line: &mut Self::Line, ply: usize) -> i32;
    /// What a man's going from a square to another gains by itself, in centipawns: a first guess for ordering moves.
    fn step_gain(&self, piece: Piece, from: Square, to: Square) -> i32;
    /// What units are worth in exchanges, by unit type.
    fn exchange_values(&self) -> &[i32; MAX_UNITS];

    /// The value of a position by itself, as [`Evaluator::value`].
    fn value_of(&self, position: &Position) -> i32 {
        self.value(position, &mut self.line(position, 1), 0)
    }
}
