//! Talking to other programs over text streams.
//!
//! [`uci`] is the session that a graphical interface or a match runner drives. Nothing in here plays chess: moves and
//! rules are [`crate::moves`]' and [`crate::position`]'s, thinking is [`crate::search`]'s.

mod command;
mod engine;
mod lines;
mod options;
mod room;
mod thinking;
pub mod uci;
mod voice;
