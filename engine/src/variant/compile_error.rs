//! Why rules whose every word is right could still not be compiled, each told as the fault of a file is: under which key,
//! what was expected, what came, what to do.

use super::{MAX_PATHS, MAX_STEPS};
use std::fmt;

/// Everything that keeps rules from being compiled, at least one thing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct CompileErrors {
    /// One after the other.
    pub errors: Vec<CompileError>,
}

/// One thing wrong with rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// A unit's patterns multiply into too many paths.
    TooManyPaths {
        /// The unit's name.
        unit: String,
        /// Where it stands.
        square: String,
    },
    /// The paths of all units to one square are too many.
    TooManyAttacks {
        /// The square attacked.
        square: String,
    },
    /// White, who moves first, could take the king at once.
    CheckAtStart {
        /// Where that king stands.
        square: String,
    },
    /// A unit could go to a passed square with and without taking the pawn, and both would be written alike.
    EnPassantLikeMove {
        /// The unit's name.
        unit: String,
        /// Where it stands.
        from: String,
        /// Where it may go.
        to: String,
    },
    /// The king goes of itself where castling would take it.
    CastlingLikeMove {
        /// The king's home.
        from: String,
        /// Where it goes.
        to: String,
    },
    /// Rules that the invariants of [`super::rules::Rules`] exclude, in words.
    Inconsistent(String),
}

/// A [`CompileError`] in the words of a file's faults.
pub(super) struct Told {
    /// The key at fault, as `pieces.pawn`; empty for the file as a whole.
    pub key: String,
    pub expected: String,
    pub got: String,
    pub hint: Option<&'static str>,
}

impl CompileErrors {
    /// Fails unless there are no errors.
    pub(super) fn none_of(errors: Vec<CompileError>) -> Result<(), Self> {
        if errors.is_empty() { Ok(()) } else { Err(Self { errors }) }
    }
}

impl From<CompileError> for CompileErrors {
    fn from(error: CompileError) -> Self {
        Self { errors: vec![error] }
    }
}

impl CompileError {
    pub(super) fn told(&self) -> Told {
        let told = |key: &str, expected: &str, got: String, hint| Told {
            key: key.into(),
            expected: expected.into(),
            got,
            hint: Some(hint),
        };
        match self {
            Self::TooManyPaths { unit, square } => told(
                &format!("pieces.{unit}"),
                &format!("at most {MAX_PATHS} paths from a square"),
                format!("more from {square}"),
                "give it fewer or shorter legs",
            ),
            Self::TooManyAttacks { square } => told(
                "pieces",
                &format!("at most {MAX_STEPS} steps on the paths that attack a square"),
                format!("more to {square}"),
                "give the pieces fewer or shorter legs",
            ),
            Self::CheckAtStart { square } => told(
                "board.setup",
                "an array in which White, who moves first, cannot take the king",
                format!("Black's king on {square} attacked"),
                "move it or the attacker",
            ),
            Self::EnPassantLikeMove { unit, from, to } => told(
                &format!("pieces.{unit}.en_passant"),
                "a taker whose captures are no moves without capture: both would be written alike",
                format!("{unit} that may go from {from} to {to} either way"),
                "let it move and take differently, or not take en passant",
            ),
            Self::CastlingLikeMove { from, to } => told(
                "castling.king_steps",
                "castlings to where the king does not go by itself: both would be written alike",
                format!("one from {from} to {to}"),
                "let it castle to another square",
            ),
            Self::Inconsistent(got) => {
                Told { key: String::new(), expected: "rules that fit together".into(), got: got.clone(), hint: None }
            }
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Told { key, expected, got, .. } = self.told();
        write!(f, "{key}{}expected {expected}, got {got}", if key.is_empty() { "" } else { ": " })
    }
}
