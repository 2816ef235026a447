//! Opening books for play: built by searching, with values, for any variant.
//!
//! [`Plan`] says what is wanted. [`Build`] grows a [`graph`] of positions from the roots: [`growth`] chooses which position to
//! look behind next, [`searcher`] looks, [`journal`] keeps what was found, [`values`] says what everything is worth by all that
//! is known, and [`weights`] how often a move is to be played. What comes out is [`fairyforge_engine::book`]'s file;
//! [`verify`](verify::Verification) makes it again from its parts, [`epd`] and [`pgn`] write it as text,
//! [`polyglot`] for other programs, [`page`] for people.
//!
//! Books of openings in which matches begin are something else: [`crate::arena::openings`]. How a book is built is told in
//! `docs/books.md`.

mod build;
pub mod epd;
pub mod graph;
pub mod growth;
pub mod journal;
pub mod page;
pub mod pgn;
mod plan;
pub mod polyglot;
pub mod searcher;
pub mod values;
pub mod verify;
pub mod walk;
pub mod weights;

pub use build::{Build, BuildError, Built};
pub use plan::{CandidateSettings, Growth, GrowthSettings, Plan, SearchSettings, WeightSettings};
