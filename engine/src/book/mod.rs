//! Opening books: positions by key, and for each the moves that may be played there, with what is known of them.
//!
//! A [`Book`] is the content of a file ([`mod@file`], `docs/formats/book.md`), checked as a whole and then asked. [`BookKey`] says
//! which positions are the same, [`Oriented`] which way round a book has one, [`BookMove`] is one move, [`Draw`] chooses among
//! several. Nothing here searches or knows where books come from: the trainer builds them, [`crate::protocol`] plays from them.
//! Books of openings in text, for matches, are something else and the trainer's alone.

mod draw;
mod error;
pub mod file;
mod key;
mod moves;
mod orientation;

pub use draw::Draw;
pub use error::BookError;
pub use file::{Counted, Header, Manifest, SearchLimits, Starts};
pub use key::BookKey;
pub use moves::BookMove;
pub use orientation::Oriented;

use crate::position::Position;
use file::Layout;

/// The content of a book's file, found right.
#[derive(Clone, Debug)]
pub struct Book {
    header: Header,
    roots: Vec<Position>,
    layout: Layout,
    bytes: Vec<u8>,
}

impl Book {
    /// What the file says of itself.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The positions from which all others are reached by moves of the book.
    pub fn roots(&self) -> &[Position] {
        &self.roots
    }

    /// Number of positions.
    pub const fn len(&self) -> usize {
        self.layout.positions
    }

    /// Whether there are no positions.
    pub const fn is_empty(&self) -> bool {
        self.layout.positions == 0
    }

    /// The content of the file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The moves of a position, the likeliest first; none if the book does not have it. Where it has the mirror image, they are
    /// mirrored back.
    pub fn moves(&self, position: &Position) -> Vec<BookMove> {
        let oriented = Oriented::of(position);
        let asked = |entry: BookMove| BookMove { mv: oriented.asked(entry.mv), ..entry };
        self.moves_of(oriented.key()).into_iter().map(asked).collect()
    }

    /// The moves of the position with this key, as the book has them; none if the book does not have it.
    pub fn moves_of(&self, key: BookKey) -> Vec<BookMove> {
        self.layout.find(&self.bytes, key).map(|index| self.layout.moves(&self.bytes, index)).unwrap_or_default()
    }

    /// Whether the book has the position with this key.
    pub fn has(&self, key: BookKey) -> bool {
        self.layout.find(&self.bytes, key).is_some()
    }

    /// All positions by rising key, with their moves.
    pub fn positions(&self) -> impl Iterator<Item = (BookKey, Vec<BookMove>)> {
        (0..self.len()).map(|index| (self.layout.key(&self.bytes, index), self.layout.moves(&self.bytes, index)))
    }
}
