//! What can be wrong with a game in PGN, and what is merely odd.

use super::PgnResult;
use crate::moves::SanError;
use crate::outcome::Reason;
use crate::position::FenError;
use std::fmt;

/// A place in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A game that could not be read. The games behind it can.
#[derive(Debug, thiserror::Error)]
#[error("{place}: game {game}: {kind}")]
pub struct PgnFault {
    /// The number of the game in its file, from 1.
    pub game: u64,
    /// Where the fault is.
    pub place: Place,
    /// What it is.
    pub kind: FaultKind,
}

/// What is wrong with a game.
#[derive(Debug, thiserror::Error)]
pub enum FaultKind {
    /// The file cannot be read on: the last thing a reader says.
    #[error("cannot read on: {0}")]
    Read(#[from] std::io::Error),
    /// A tag that is none.
    #[error("tag: expected {expected}, got {got}")]
    Tag {
        /// What would have been right.
        expected: &'static str,
        /// What was there.
        got: String,
    },
    /// A character that can stand in no game.
    #[error("expected a move, a comment, a variation or a result, got {0:?}")]
    Character(char),
    /// A number behind `$` that is none.
    #[error("expected a number from 0 to 255 after '$', got {0:?}")]
    Glyph(String),
    /// `{` without `}` before the next game or the end.
    #[error("this comment is not closed by '}}'")]
    OpenComment,
    /// `(` without `)` before the next game or the end.
    #[error("this variation is not closed by ')'")]
    OpenVariation,
    /// `)` without `(`.
    #[error("there is no variation that this ')' could close")]
    NoVariation,
    /// Something exceeds a limit.
    #[error("expected at most {most} {what}")]
    TooLong {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// Nobody knows the variant.
    #[error("variant {name:?}: {reason}")]
    Variant {
        /// The tag's value; empty if there is no tag.
        name: String,
        /// Why there is no such variant.
        reason: String,
    },
    /// The start position is none.
    #[error("start position: {0}")]
    Start(#[from] FenError),
    /// A move that cannot be read or is not legal.
    #[error(transparent)]
    Move(#[from] SanError),
}

/// Something odd about a game that could be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// The game ends without a termination marker.
    #[error("the game ends without a result; it is taken from the tag, {0}")]
    NoResult(PgnResult),
    /// Two places, two results.
    #[error("the tag says {tag:?}, the moves end with {marker}")]
    Results {
        /// The tag's value.
        tag: String,
        /// The marker behind the moves, which counts.
        marker: PgnResult,
    },
    /// The rules end the game otherwise.
    #[error("the result is {result}, but by the rules the game ends {outcome} by {reason}")]
    Outcome {
        /// What the game says.
        result: PgnResult,
        /// What the rules say.
        outcome: PgnResult,
        /// Which rule.
        reason: Reason,
    },
    /// A tag that was there before.
    #[error("the tag {0} stands twice; the first one counts")]
    TagTwice(String),
    /// A castling that the notation of XBoard does not tell from another.
    #[error("{text} may be any of {moves}; read as the first that lets the later moves be played, {read}", moves = moves.join(", "))]
    Castling {
        /// The text.
        text: String,
        /// What it may be.
        moves: Vec<String>,
        /// What it was taken for.
        read: String,
    },
}
