//! One game between two movers, judged by the variant's own rules.
//!
//! [`Referee::play`] asks the side to move for a move, judges it, and ends the game by the rules, by [`endgames`] tables, by
//! [`adjudication`] or by a mover's [`Fault`]. Who moves is a [`Mover`]: our engine in this process ([`EngineMover`]) or a program
//! outside ([`crate::arena`]). What each may spend on a move is its [`Allowance`]; [`clock`] keeps the time.
//!
//! [`crate::selfplay`] records such games, [`crate::arena`] makes matches of them. Nothing here writes files.

pub mod adjudication;
pub mod clock;
pub mod endgames;
mod engine;
mod game;

pub use adjudication::Adjudication;
pub use clock::{Allowance, AllowanceError, Budget, TimeControl};
pub use engine::EngineMover;
pub use game::{Ending, PlayedGame, PlayedMove, Referee, Seat, Start, ending};

use fairyforge_engine::game::Game;
use fairyforge_engine::moves::Move;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::atomic::AtomicBool;

/// Somebody who moves.
pub trait Mover {
    /// A new game begins here. Nothing of an earlier game may be remembered: games must not depend on their order.
    ///
    /// # Errors
    /// The mover is of no use any more.
    fn new_game(&mut self, game: &Game) -> Result<(), Fault>;

    /// A legal move for the side to move, within the budget. A game that is over is never shown. When `stop` is set the
    /// mover returns soon, with whatever it has.
    ///
    /// # Errors
    /// The mover failed; it is of no use any more.
    fn choose(&mut self, game: &Game, budget: &Budget, stop: &AtomicBool) -> Result<Thought, Fault>;
}

/// A move with what the mover says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thought {
    /// The move, legal in the position it was chosen for.
    pub mv: Move,
    /// Its score for the side to move in centipawns, mates as in [`fairyforge_engine::search::score`], if the mover says.
    pub score: Option<i32>,
    /// Depth in plies, 0 if unknown.
    pub depth: u32,
    /// Nodes searched, 0 if unknown.
    pub nodes: u64,
}

/// How a mover failed. Such a game says nothing about strength, so it has a class of its own in every statistic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What kind of failure.
    pub kind: FaultKind,
    /// What was seen, in words; the raw text of an illegal move.
    pub detail: String,
}

/// Kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// The program ended or its pipe broke.
    Crash,
    /// No answer, long after there should have been one.
    NoAnswer,
    /// A move that the rules do not have.
    IllegalMove,
    /// The clock ran out.
    TimeForfeit,
}

impl FaultKind {
    /// Whether the program itself failed, and not only its clock.
    pub const fn is_breakdown(self) -> bool {
        !matches!(self, Self::TimeForfeit)
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Crash => "crash",
            Self::NoAnswer => "no answer",
            Self::IllegalMove => "illegal move",
            Self::TimeForfeit => "time forfeit",
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.detail)
    }
}
