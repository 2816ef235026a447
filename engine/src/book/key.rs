//! Which positions are the same to a book.

use super::Oriented;
use crate::position::Position;
use std::fmt;

/// The key of a position: equal for positions with equal men, hands, side to move, castling rights and en-passant captures,
/// whatever the counters say; and for mirror images, where the rules are the same from left and right. The same in every version of the
/// program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BookKey(u64);

impl BookKey {
    /// The key of a position.
    pub fn of(position: &Position) -> Self {
        Oriented::of(position).key()
    }

    /// The key that this number is.
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// The key as a number.
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for BookKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
