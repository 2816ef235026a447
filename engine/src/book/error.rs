//! Why a book was refused.

use super::BookKey;
use super::file::{FORMAT, MOST_HEADER};
use crate::position::FenError;
use std::io;

/// Why a file was refused, or could not be read or made.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// The file system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Not the beginning of a book's file.
    #[error("book: expected it to begin with \"FFBOOK\", got other bytes")]
    NoBook,
    /// It ends too early.
    #[error("book: expected {expected} bytes of {part} from byte {at} on, got {got}")]
    Truncated {
        /// What ends too early.
        part: &'static str,
        /// Where that begins.
        at: usize,
        /// Its length.
        expected: u64,
        /// What there is of it.
        got: usize,
    },
    /// Bytes behind its end.
    #[error("book: expected it to end at byte {at}, got {got} bytes more")]
    LeftOver {
        /// Where it should end.
        at: usize,
        /// How many bytes follow.
        got: usize,
    },
    /// A header so long that it is none.
    #[error("book: expected a header of at most {MOST_HEADER} bytes, got {got}")]
    HeaderLength {
        /// Its length.
        got: usize,
    },
    /// A header that cannot be read.
    #[error("book, header: {0}")]
    Header(String),
    /// Another format version.
    #[error("book: expected format {FORMAT}, got {0}")]
    Format(u32),
    /// A book of another game.
    #[error(
        "the book is for variant {got:?} (rules {got_hash:.12}), expected {expected:?} (rules {expected_hash:.12})"
    )]
    OtherRules {
        /// The variant at hand.
        expected: String,
        /// Its rules hash.
        expected_hash: String,
        /// The file's variant.
        got: String,
        /// The file's rules hash.
        got_hash: String,
    },
    /// The content is not what was written.
    #[error("book: expected the checksum {expected:.12} of what was written, got {got:.12}: it is damaged")]
    Damaged {
        /// The checksum in the file.
        expected: String,
        /// The checksum of what is there.
        got: String,
    },
    /// A root that is no position of the game.
    #[error("book, root {fen:?}: {source}")]
    Root {
        /// The root.
        fen: String,
        /// Why not.
        source: FenError,
    },
    /// A position that cannot be where it is, or as it is.
    #[error("book, position {key}: expected {expected}, got {got}")]
    Position {
        /// The position.
        key: BookKey,
        /// What should be there.
        expected: &'static str,
        /// What is.
        got: String,
    },
    /// More than a file can hold.
    #[error("book: expected at most {most} {what}, got {got}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        most: u64,
        /// How many there are.
        got: u64,
    },
}
