//! Books in Polyglot's format, which most programs for orthodox chess read: positions by a key of 64 bits, moves and weights.
//!
//! An entry is 16 bytes, the most significant first: key, move, weight, and four bytes for a program that learns, here 0. Entries
//! are sorted by key, those of a position by falling weight. What a key is made of tells `key.rs`; the format's description is Michel
//! Van den Bergh's (<http://hgm.nubati.net/book_format.html>). Only orthodox chess has such books (`orthodox.rs`); games are told apart
//! by their rules. Moves of weight 0 are left out: readers may draw them all the same.

mod key;
mod numbers;
mod orthodox;

use crate::book::graph::after;
use fairyforge_engine::book::Book;
use fairyforge_engine::geometry::Square;
use fairyforge_engine::moves::{Move, MoveKind};
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::CastlingWing;
use key::Facts;
use orthodox::Men;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::io::{self, Write};

/// Bytes of an entry.
pub const ENTRY_BYTES: usize = 16;

/// A move of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The position's key.
    pub key: u64,
    /// The move, as the format packs it: from the lowest bit on file and rank of its target, file and rank of its origin, three bits
    /// each, and three for what a pawn becomes (1 to 4: knight, bishop, rook, queen). Castling is the king's taking of its own rook.
    pub mv: u16,
    /// How often it is played, relative to the position's other moves.
    pub weight: u16,
}

/// Why a book cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum PolyglotError {
    /// The rules are not those of orthodox chess.
    #[error("expected the rules of orthodox chess, as Polyglot's format has no other games; {variant} is another: {}", misfits.join("; "))]
    OtherGame {
        /// The game.
        variant: String,
        /// What does not fit.
        misfits: Vec<String>,
    },
    /// Two positions have one key.
    #[error("expected a key for each position, got {key:016x} for two, one of them {fen}")]
    Collision {
        /// The key.
        key: u64,
        /// The second position.
        fen: String,
    },
}

/// A book in the format.
#[derive(Clone, Debug)]
pub struct Converted {
    /// Its entries in the format's order.
    pub entries: Vec<Entry>,
    /// Moves of weight 0 that are left out.
    pub left_out: usize,
}

/// Converts a book whose moves are legal.
///
/// # Errors
/// The book is one of another game, or two of its positions have one key.
pub fn convert(book: &Book) -> Result<Converted, PolyglotError> {
    let converted = Converted { entries: Vec::new(), left_out: 0 };
    let Some(root) = book.roots().first() else { return Ok(converted) };
    let men = Men::of(root.variant())
        .map_err(|misfits| PolyglotError::OtherGame { variant: root.variant().name().into(), misfits })?;
    let mut conversion = Conversion { book, men: &men, known: HashMap::new(), waiting: Vec::new(), converted };
    for root in book.roots() {
        conversion.meet(root.clone().as_first())?;
    }
    while let Some((key, position)) = conversion.waiting.pop() {
        conversion.position(key, &position)?;
    }
    let mut converted = conversion.converted;
    converted.entries.sort_by_key(|entry| (entry.key, Reverse(entry.weight), entry.mv));
    Ok(converted)
}

/// Writes entries.
///
/// # Errors
/// `out` refuses.
pub fn write(entries: &[Entry], out: &mut impl Write) -> io::Result<()> {
    entries.iter().try_for_each(|entry| out.write_all(&entry.bytes()))
}

impl Entry {
    fn bytes(&self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..8].copy_from_slice(&self.key.to_be_bytes());
        bytes[8..10].copy_from_slice(&self.mv.to_be_bytes());
        bytes[10..12].copy_from_slice(&self.weight.to_be_bytes());
        bytes
    }
}

/// A book on its way into the format. Which positions are the same is for the format to say: what our book holds for one position may be
/// two there, as where a pawn stands beside one that has just passed but may not take it.
struct Conversion<'a> {
    book: &'a Book,
    men: &'a Men,
    known: HashMap<u64, Facts>,
    waiting: Vec<(u64, Position)>,
    converted: Converted,
}

impl Conversion<'_> {
    fn meet(&mut self, position: Position) -> Result<(), PolyglotError> {
        let facts = Facts::of(&position, self.men);
        let key = facts.key();
        match self.known.entry(key) {
            Slot::Occupied(known) if *known.get() == facts => {}
            Slot::Occupied(_) => return Err(PolyglotError::Collision { key, fen: position.fen() }),
            Slot::Vacant(slot) => {
                slot.insert(facts);
                self.waiting.push((key, position));
            }
        }
        Ok(())
    }

    fn position(&mut self, key: u64, position: &Position) -> Result<(), PolyglotError> {
        for found in self.book.moves(position) {
            match found.weight {
                0 => self.converted.left_out += 1,
                weight => {
                    let mv = packed(position, found.mv, self.men);
                    self.converted.entries.push(Entry { key, mv, weight });
                }
            }
            let after = after(position, found.mv);
            if after.outcome(1).is_none() && !self.book.moves(&after).is_empty() {
                self.meet(after)?;
            }
        }
        Ok(())
    }
}

/// A legal move as the format has it.
fn packed(position: &Position, mv: Move, men: &Men) -> u16 {
    let (to, became) = match mv.kind() {
        MoveKind::Castling => (partner(position, mv).unwrap_or(mv.to()), 0),
        MoveKind::Promotion(unit) => (mv.to(), men.man(unit) as u16),
        MoveKind::Normal | MoveKind::EnPassant | MoveKind::Drop(_) => (mv.to(), 0),
    };
    let place = |square: Square| u16::from(square.row()) << 3 | u16::from(square.file());
    became << 12 | place(mv.from()) << 6 | place(to)
}

/// Where the rook of a castling stands.
fn partner(position: &Position, mv: Move) -> Option<Square> {
    let leads =
        |wing: &&CastlingWing| wing.king == mv.from() && wing.destinations.iter().any(|end| end.king_to == mv.to());
    position.variant().castling().iter().find(leads).map(|wing| wing.partner)
}
