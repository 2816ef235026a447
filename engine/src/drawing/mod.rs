//! Positions and moves drawn for people: SVG for pages and notebooks, plain text for terminals.
//!
//! Pure functions from a position to text: no files, no options of programs, no clock, and equal positions give equal bytes. What a
//! unit looks like follows from its moves (`reach.rs`, `shape.rs`), never from its name; its letter is on it always, so no two units of
//! a game look alike. `board.rs` draws positions, `moves.rs` the diagrams of [`crate::explain`], `men.rs` the men that both show.

mod board;
mod men;
mod moves;
mod reach;
mod shape;
mod svg;
mod text;

pub use board::{BoardView, board};
pub use moves::unit_moves;
pub use text::text;

use crate::variant::Variant;
use crate::variant::rules::{Colour, Unit};

/// Pixels of the longer side of a drawing that nobody gave a size.
pub const DEFAULT_SIZE: u16 = 700;

/// Least and greatest size that makes sense, in pixels.
pub const SIZES: std::ops::RangeInclusive<u16> = 64..=8192;

/// A man as an SVG fragment of 100×100 units, as boards show it from White's side.
pub fn man(variant: &Variant, unit: Unit, colour: Colour) -> String {
    man_seen_from(variant, unit, colour, Colour::White)
}

/// The same as boards show it with `below` at their lower edge.
pub fn man_seen_from(variant: &Variant, unit: Unit, colour: Colour, below: Colour) -> String {
    men::Look::of(variant, unit).fragment(colour, svg::Facing::of(variant.topology(), colour, below))
}

/// The same without its letter: what the moves alone make of it.
pub fn man_without_letter(variant: &Variant, unit: Unit, colour: Colour) -> String {
    men::Look::of(variant, unit).figure(colour, svg::Facing::of(variant.topology(), colour, Colour::White))
}
