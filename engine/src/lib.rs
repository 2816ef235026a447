//! Rules, search and evaluation of chess variants on boards up to 16x16.
pub mod book;
pub mod drawing;
pub mod endgame;
pub mod evaluate;
pub mod explain;
pub mod game;
pub mod geometry;
pub mod moves;
pub mod outcome;
pub mod pgn;
pub mod position;
pub mod protocol;
pub mod search;
mod table;
pub mod tools;
pub mod variant;
