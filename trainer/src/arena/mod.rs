//! Matches between players.

pub mod statistics;
