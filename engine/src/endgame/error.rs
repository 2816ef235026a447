//! Why an endgame was refused or a table could not be made or read.

use crate::variant::rules::Colour;

/// Why an endgame was refused, or its table could not be made or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndgameError {
    /// The text is no list of men.
    #[error("men: expected two sides as \"K+N v K\", got {got:?}")]
    Malformed {
        /// The text that came.
        got: String,
    },
    /// A letter that stands for no unit.
    #[error("men: expected one of the capital letters {letters}, got {got:?}")]
    Letter {
        /// All unit letters.
        letters: String,
        /// What came.
        got: String,
    },
    /// Too many men.
    #[error("men: expected at most {most}, kings included, got {got}")]
    TooManyMen {
        /// The most there may be.
        most: usize,
        /// How many came.
        got: usize,
    },
    /// A side without a royal man or with several.
    #[error("men: expected one {royal} of {colour:?}, got {got}; tables of several royal men a side are not made")]
    Royals {
        /// The royal unit.
        royal: String,
        /// Whose.
        colour: Colour,
        /// How many.
        got: usize,
    },
    /// One side could take the other's men en passant, and positions with that right are in no table.
    #[error("{material}: {taken} may be taken en passant by {taker}, and tables have no positions with that right")]
    EnPassant {
        /// The men.
        material: String,
        /// The unit that goes several squares at once.
        taken: String,
        /// The unit that may take it.
        taker: String,
    },
    /// A unit that may become royal.
    #[error("{material}: {unit} may promote to a royal man, and tables of several royal men a side are not made")]
    PromotesToRoyal {
        /// The men.
        material: String,
        /// The unit that promotes.
        unit: String,
    },
    /// Promotions that lead back to the same men.
    #[error("{material}: its promotions lead back to the same men, so that no table can be made before the other")]
    Circle {
        /// The men.
        material: String,
    },
    /// A win that takes more layers than one byte can tell apart.
    #[error("{material}: expected at most {most} different distances, and there are more")]
    TooLong {
        /// The men.
        material: String,
        /// Distances that one byte tells apart.
        most: usize,
    },
    /// The table of men that this one leads to is missing.
    #[error("{material}: the table of {missing}, to which it leads, is needed first")]
    Missing {
        /// The men.
        material: String,
        /// The men whose table is not there.
        missing: String,
    },
    /// Somebody asked to stop.
    #[error("{material}: stopped")]
    Stopped {
        /// The men.
        material: String,
    },
    /// A file that is no table.
    #[error("table file: expected {expected}, got {got}")]
    File {
        /// What should have been there.
        expected: String,
        /// What was.
        got: String,
    },
    /// A table whose answer is not what its successors say.
    #[error("{fen}: the table says {stored}, the moves from there say {expected}")]
    Wrong {
        /// The position.
        fen: String,
        /// The table's answer.
        stored: String,
        /// What follows from its successors.
        expected: String,
    },
}
