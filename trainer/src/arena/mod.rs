//! Matches between players.
//!
//! [mod@matches] plays pairs of games and [`journal`] keeps them; [`statistics`] says what they mean.

pub mod journal;
pub mod matches;
pub mod statistics;

pub use matches::{Contest, MatchError, MatchSettings};
