//! Games of the engine against itself: openings, the game itself, and many of them side by side.
//!
//! A game depends on nothing but the run's seed, its own number and the settings, so it is the same whoever plays it
//! and on however many threads. [`crate::arena`] plays its matches with the same parts.

pub mod adjudication;
pub mod game;
pub mod openings;
pub mod seeds;
pub mod workers;

pub use adjudication::Adjudication;
pub use game::{PlayedGame, Player, play};
pub use openings::{Imbalance, Opening, Openings};
