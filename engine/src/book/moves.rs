//! One move of a book, and its bytes.

use crate::geometry::Square;
use crate::moves::{Move, MoveKind};
use crate::variant::Variant;
use std::cmp::Reverse;

/// A move that a book has for a position. All values are those of whoever makes the move, in centipawns, mates as in
/// [`crate::search::score`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookMove {
    /// The move. In a file that was not made by this program it may be no legal one.
    pub mv: Move,
    /// How often it is played, relative to the position's other moves; 0 is never.
    pub weight: u16,
    /// What it is worth by all that the book knows behind it; `None` if it knows nothing.
    pub value: Option<i16>,
    /// What the search of the position behind it said, before anything was known from further on.
    pub searched: Option<i16>,
    /// Games won, drawn and lost by whoever made the move.
    pub results: [u32; 3],
    /// Nodes of the search of the position behind it.
    pub nodes: u64,
}

/// Bytes of a move.
pub(super) const MOVE_BYTES: usize = 30;
/// Stands for a value that is not known.
const UNKNOWN: i16 = i16::MIN;
/// Bits of a move that mean something.
const MOVE_BITS: u32 = 24;

impl BookMove {
    /// A move of which nothing is known.
    pub const fn new(mv: Move) -> Self {
        Self { mv, weight: 0, value: None, searched: None, results: [0; 3], nodes: 0 }
    }

    /// Moves stand in this order: by weight, by value, and then by their bits, so that equal books are equal bytes.
    pub fn rank(&self) -> (Reverse<u16>, Reverse<i16>, u32) {
        (Reverse(self.weight), Reverse(self.value.unwrap_or(UNKNOWN)), self.mv.to_bits())
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.mv.to_bits().to_le_bytes());
        bytes.extend(self.weight.to_le_bytes());
        bytes.extend(self.value.unwrap_or(UNKNOWN).to_le_bytes());
        bytes.extend(self.searched.unwrap_or(UNKNOWN).to_le_bytes());
        self.results.iter().for_each(|count| bytes.extend(count.to_le_bytes()));
        bytes.extend(self.nodes.to_le_bytes());
    }

    /// A move from its bytes. What the bytes say of it is not looked at.
    pub(super) fn read(bytes: &[u8; MOVE_BYTES]) -> Self {
        let number = |from: usize, length: usize| {
            bytes[from..from + length].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
        };
        let value = |from| Some(number(from, 2) as i16).filter(|&value| value != UNKNOWN);
        Self {
            mv: Move::from_bits(number(0, 4) as u32),
            weight: number(4, 2) as u16,
            value: value(6),
            searched: value(8),
            results: [10, 14, 18].map(|from| number(from, 4) as u32),
            nodes: number(22, 8),
        }
    }

    /// Whether some position of the game could have such a move: its squares are there, and its unit.
    pub(super) fn is_conceivable(&self, variant: &Variant) -> bool {
        let mv = self.mv;
        let has = |square: Square| variant.topology().has(square);
        let has_unit = match mv.kind() {
            MoveKind::Normal | MoveKind::EnPassant | MoveKind::Castling => true,
            MoveKind::Promotion(unit) | MoveKind::Drop(unit) => unit.index() < variant.units().len(),
        };
        let is_plain = mv.to_bits() >> MOVE_BITS == 0 && Move::new(mv.from(), mv.to(), mv.kind()) == mv;
        is_plain && has_unit && has(mv.from()) && has(mv.to())
    }
}
