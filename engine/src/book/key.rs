//! Which positions are the same to a book.

use crate::position::Position;
use sha2::{Digest, Sha256};
use std::fmt;

/// The key of a position: equal for positions with equal men, hands, side to move, castling rights and en-passant captures,
/// whatever the counters say. The same in every version of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BookKey(u64);

impl BookKey {
    /// The key of a position.
    pub fn of(position: &Position) -> Self {
        Self::with_check(position).0
    }

    /// The key of a position, and a second number as good as another key: two positions of one key are told apart by it.
    pub fn with_check(position: &Position) -> (Self, u64) {
        let digest = Sha256::digest(position.identity_bytes());
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
        (Self(number(&digest[..8])), number(&digest[8..16]))
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
