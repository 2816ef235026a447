//! Games of the engine against itself: openings, the record of a game, and many of them side by side.
//!
//! A game depends on nothing but the run's seed, its own number and the settings, so it is the same whoever plays it
//! and on however many threads. The game itself is [`crate::play`]'s.

pub mod game;
mod lot;
pub mod middlegame;
pub mod openings;
pub mod seeds;
pub mod workers;

pub use game::{Player, record_game};
pub use middlegame::Played;
pub use openings::{Imbalance, Opening, Openings};
