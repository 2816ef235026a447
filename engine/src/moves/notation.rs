//! Moves in text, as files and protocols write them.

use super::{Move, MoveKind};
use crate::geometry::{Square, SquareTextError};
use crate::position::Position;
use crate::variant::letters;

/// Why a move's text was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveTextError {
    /// A square of the text cannot be read.
    #[error("move {text:?}: {source}")]
    Square {
        /// The whole text.
        text: String,
        /// What is wrong with the square.
        source: SquareTextError,
    },
    /// Two squares, but something else after them.
    #[error(
        "move {text:?}: expected two squares and perhaps a promotion letter or `o`, got {rest:?} after the squares"
    )]
    Rest {
        /// The whole text.
        text: String,
        /// What follows the squares.
        rest: String,
    },
    /// Well-formed, but not legal here.
    #[error("move {text:?} is not legal in {fen}")]
    Illegal {
        /// The text.
        text: String,
        /// The position.
        fen: String,
    },
}

impl Position {
    /// The move in coordinates: `a3a6`, `a11a12q`, `G@e0`, castling as the king's way with a trailing `o` when it is one
    /// step. The move must be one of this position's.
    pub fn move_text(&self, mv: Move) -> String {
        let topology = self.variant().topology();
        let (from, to) = (topology.name(mv.from()), topology.name(mv.to()));
        match mv.kind() {
            MoveKind::Normal | MoveKind::EnPassant => format!("{from}{to}"),
            MoveKind::Promotion(unit) => {
                format!("{from}{to}{}", letters::small(self.variant().unit(unit).letter))
            }
            MoveKind::Drop(unit) => format!("{}@{to}", self.variant().unit(unit).letter),
            MoveKind::Castling if mv.from().file().abs_diff(mv.to().file()) == 1 => format!("{from}{to}o"),
            MoveKind::Castling => format!("{from}{to}"),
        }
    }

    /// Reads a legal move.
    ///
    /// # Errors
    /// The text is malformed, or no legal move reads so.
    pub fn parse_move(&self, text: &str) -> Result<Move, MoveTextError> {
        let (from, to) = self.squares_of(text)?;
        let legal = self.legal_moves().into_iter();
        let mut same_squares = legal.filter(|mv| (mv.from(), mv.to()) == (from, to));
        same_squares
            .find(|&mv| self.move_text(mv) == text)
            .ok_or_else(|| MoveTextError::Illegal { text: text.chars().take(24).collect(), fen: self.fen() })
    }

    /// The squares of a text that may be a move; of a drop its target, twice.
    fn squares_of(&self, text: &str) -> Result<(Square, Square), MoveTextError> {
        let topology = self.variant().topology();
        let shown: String = text.chars().take(24).collect();
        let square = |source| MoveTextError::Square { text: shown.clone(), source };
        if let Some((_, target)) = text.split_once('@') {
            return topology.parse(target).map(|target| (target, target)).map_err(square);
        }
        let (from, rest) = topology.parse_prefix(text).map_err(square)?;
        let (to, rest) = topology.parse_prefix(rest).map_err(square)?;
        let mut letters = rest.chars();
        let at_most_one_small_letter = letters.next().is_none_or(char::is_lowercase) && letters.next().is_none();
        let fault = || MoveTextError::Rest { rest: rest.chars().take(12).collect(), text: shown };
        at_most_one_small_letter.then_some((from, to)).ok_or_else(fault)
    }
}
