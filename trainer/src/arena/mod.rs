//! Matches between players.
//!
//! [mod@matches] plays pairs of games and [`journal`] keeps them; [`statistics`] says what they mean and [`sprt`] when to
//! stop. [`ratings`] compares more than two players.

pub mod external;
pub mod journal;
pub mod matches;
pub mod ratings;
pub mod sprt;
pub mod statistics;

pub use matches::{Contest, MatchError, MatchSettings};
