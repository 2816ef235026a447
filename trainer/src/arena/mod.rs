//! Matches between players.
//!
//! [mod@matches] plays the pairs of a [`schedule`] between [`contestant`]s and [`journal`] keeps them; [`standing`] counts,
//! [`statistics`] says what the counts mean and [`sprt`] when to stop. [`ratings`] compares more than two players.

pub mod bench;
pub mod contestant;
pub mod external;
pub mod journal;
pub mod matches;
pub mod openings;
pub mod pgn;
pub mod plan;
pub mod ratings;
pub mod report;
pub mod schedule;
pub mod sprt;
pub mod standing;
pub mod statistics;
pub mod verify;

pub use contestant::{Contestant, Entrant, Introduction, OwnEngine, introduced};
pub use matches::{Match, MatchError, Played, Terms};
