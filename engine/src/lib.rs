//! Rules, search and evaluation of chess variants on boards up to 16x16.
//!
//! Unsafe code is forbidden everywhere but in one module, `evaluate::network::instructions`, which says why.

#[forbid(unsafe_code)]
pub mod book;
#[forbid(unsafe_code)]
pub mod drawing;
#[forbid(unsafe_code)]
pub mod endgame;
pub mod evaluate;
#[forbid(unsafe_code)]
pub mod explain;
#[forbid(unsafe_code)]
pub mod game;
#[forbid(unsafe_code)]
pub mod geometry;
#[forbid(unsafe_code)]
pub mod moves;
#[forbid(unsafe_code)]
pub mod outcome;
#[forbid(unsafe_code)]
pub mod pgn;
#[forbid(unsafe_code)]
pub mod position;
#[forbid(unsafe_code)]
pub mod protocol;
#[forbid(unsafe_code)]
pub mod search;
#[forbid(unsafe_code)]
mod table;
#[forbid(unsafe_code)]
pub mod tools;
#[forbid(unsafe_code)]
pub mod variant;
