//! Moves: what they are, which are legal, and how they are written.
//!
//! `generate` lists the legal moves with the help of `safety`, which knows what may not be uncovered. Text is
//! [`notation`]'s and `san`'s.

mod castling;
mod en_passant;
pub mod exchange;
mod generate;
pub mod notation;
pub mod perft;
mod safety;
mod san;

pub use generate::Wanted;
pub use safety::Safety;
pub use san::SanError;

use crate::geometry::{Square, Topology};
use crate::variant::rules::Unit;

/// A move in four bytes: from, to, kind and the unit dropped or promoted to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Move(u32);

/// What sort of move it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MoveKind {
    /// A man goes from a square to another, taking what stands there.
    Normal,
    /// A man goes to a square that a pawn has just passed over, and takes that pawn.
    EnPassant,
    /// The king goes towards its partner, which comes to stand beside it.
    Castling,
    /// A man arrives and becomes this unit.
    Promotion(Unit),
    /// This unit comes from the hand.
    Drop(Unit),
}

impl Move {
    /// A move; a drop has its target as origin too.
    #[inline]
    pub const fn new(from: Square, to: Square, kind: MoveKind) -> Self {
        let kind = match kind {
            MoveKind::Normal => 0,
            MoveKind::EnPassant => 1,
            MoveKind::Castling => 2,
            MoveKind::Promotion(unit) => 3 | (unit.0 as u32) << 3,
            MoveKind::Drop(unit) => 4 | (unit.0 as u32) << 3,
        };
        Self(from.index() as u32 | (to.index() as u32) << 8 | kind << 16)
    }

    /// Where the man comes from; for a drop its target.
    #[inline]
    pub const fn from(self) -> Square {
        Square::from_index(self.0 as u8)
    }

    /// Where it goes.
    #[inline]
    pub const fn to(self) -> Square {
        Square::from_index((self.0 >> 8) as u8)
    }

    /// What sort of move it is.
    #[inline]
    pub const fn kind(self) -> MoveKind {
        let unit = Unit((self.0 >> 19) as u8);
        match self.0 >> 16 & 7 {
            0 => MoveKind::Normal,
            1 => MoveKind::EnPassant,
            2 => MoveKind::Castling,
            3 => MoveKind::Promotion(unit),
            _ => MoveKind::Drop(unit),
        }
    }

    /// The same move with left and right exchanged.
    #[must_use]
    pub fn mirrored(self, topology: &Topology) -> Self {
        Self::new(topology.mirror(self.from()), topology.mirror(self.to()), self.kind())
    }

    /// The move as a number, for tables.
    #[inline]
    pub const fn to_bits(self) -> u32 {
        self.0
    }

    /// The inverse of [`Move::to_bits`]. The result may be no legal move of any position.
    #[inline]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }
}
