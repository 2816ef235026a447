//! Squares, sets of squares and the shape of a board. Knows no chess: no pieces, no moves, no colours.
//!
//! Every board lives on a fixed 16×16 grid, so a square's file and rank are bit fields and one table layout serves all
//! games; a [`Topology`] says which squares of the grid exist. Movement starts in [`crate::variant`].

mod set;
mod square;
mod topology;

pub use set::SquareSet;
pub use square::{GRID, GRID_SQUARES, Square};
pub use topology::{SquareTextError, Topology, TopologyError};
