//! Opening books for play: built by searching, with values, for any variant.
//!
//! [`Plan`] says what is wanted. [`Build`] grows a [`graph`] of positions from the roots: [`growth`] chooses which position to
//! look behind next, [`searcher`] looks, [`journal`] keeps what was found, [`values`] says what everything is worth by all that
//! is known, and [`weights`] how often a move is to be played. What comes out is [`fairyforge_engine::book`]'s file;
//! [`verify`](verify::Verification) makes it again from its parts; [`epd`] and [`pgn`] write it as text and read it, [`polyglot`]
//! writes it for other programs, [`page`] for people. [`games`] counts who won after which moves, and [`import`] makes books of
//! games alone.
//!
//! Books of openings in which matches begin are something else: [`crate::arena::openings`]; [`suite`] makes such of a book's exits. How a book is built is told in
//! `docs/books.md`.

mod build;
pub mod epd;
pub mod games;
pub mod graph;
pub mod growth;
pub mod import;
pub mod journal;
pub mod page;
mod parts;
pub mod pgn;
mod plan;
pub mod polyglot;
pub mod searcher;
pub mod suite;
pub mod values;
pub mod verify;
pub mod walk;
pub mod weights;

pub use build::{Build, BuildError, Built, GamesToCount};
pub use plan::{CandidateSettings, GameSettings, Growth, GrowthSettings, Plan, SearchSettings, WeightSettings};
