//! Positions in bytes, for records: a few dozen bytes instead of a FEN, without loss.
//!
//! Layout (version in the file that holds the records): one bit a square of the board, in square order, set where a man
//! stands, padded to whole bytes; one byte a man (bit 5: Black, bits 0–4: unit type); one byte flags (bit 0: Black to
//! move, bits 1–4: castling rights, bit 5: en passant follows); if so the pawn's square (file, row) and a count with the
//! rows passed; for games with hands one byte a held unit type and side; half-move clock and move number, two bytes each.

use super::{EnPassant, FenError, Piece, Position};
use crate::geometry::{Square, SquareSet};
use crate::variant::Variant;
use crate::variant::rules::{Colour, Unit};
use std::sync::Arc;

/// Why packed bytes were refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnpackError {
    /// Too few bytes.
    #[error("packed position: expected more than {0} bytes")]
    Short(usize),
    /// Too many bytes.
    #[error("packed position: {0} bytes are left over")]
    Long(usize),
    /// A byte that means nothing here.
    #[error("packed position: expected {expected}, got {got}")]
    Byte {
        /// What should have come.
        expected: &'static str,
        /// What came.
        got: u8,
    },
    /// Bytes that describe no legal position.
    #[error("packed position: {0}")]
    Illegal(#[from] FenError),
}

const BLACK_TO_MOVE: u8 = 1;
const EN_PASSANT: u8 = 1 << 5;
const KNOWN_FLAGS: u8 = BLACK_TO_MOVE | 15 << 1 | EN_PASSANT;
const BLACK_MAN: u8 = 1 << 5;
/// Bytes of the half-move clock and the move number, which come last.
const COUNTERS: usize = 4;

/// Packed bytes without the half-move clock and the move number: equal for equal men, side to move, castling rights, en passant and
/// hands, whenever in a game. Nothing of bytes too short to be a position.
#[must_use]
pub fn packed_without_counters(packed: &[u8]) -> &[u8] {
    &packed[..packed.len().saturating_sub(COUNTERS)]
}

impl Position {
    /// The position in bytes.
    pub fn pack(&self) -> Vec<u8> {
        let mut bytes = self.packed_with(self.state.en_passant);
        bytes.extend(self.state.plies_without_progress.to_le_bytes());
        bytes.extend((self.full_moves.min(u32::from(u16::MAX)) as u16).to_le_bytes());
        bytes
    }

    /// What makes this position the same as another, in bytes that no version of the program changes: those of [`Position::pack`] without
    /// the counters, and of squares passed over only those on which a capture is legal, as in [`Position::key`].
    pub fn identity_bytes(&self) -> Vec<u8> {
        let mut usable = SquareSet::EMPTY;
        self.en_passant_captures(|mv| usable.insert(mv.to()));
        let en_passant = self.state.en_passant.filter(|_| !usable.is_empty());
        self.packed_with(en_passant.map(|EnPassant { pawn, .. }| EnPassant { passed: usable, pawn }))
    }

    /// All but the counters.
    fn packed_with(&self, en_passant: Option<EnPassant>) -> Vec<u8> {
        let squares = self.variant.topology().squares();
        let mut bytes = vec![0; (squares.len() as usize).div_ceil(8)];
        for (index, square) in squares.iter().enumerate() {
            let piece = self.piece_at(square);
            if !piece.is_none() {
                bytes[index / 8] |= 1 << (index % 8);
                bytes.push(piece.unit().0 | if piece.colour() == Colour::Black { BLACK_MAN } else { 0 });
            }
        }
        let side = if self.side == Colour::Black { BLACK_TO_MOVE } else { 0 };
        bytes.push(side | self.state.castling << 1 | if en_passant.is_some() { EN_PASSANT } else { 0 });
        if let Some(EnPassant { passed, pawn }) = en_passant {
            bytes.extend([pawn.file(), pawn.row(), passed.len() as u8]);
            // The row, and in the high half how the file differs from the pawn's: nothing on a straight way.
            bytes.extend(passed.iter().map(|square| square.row() | (square.file() ^ pawn.file()) << 4));
        }
        for colour in Colour::BOTH {
            bytes.extend(self.held_units().map(|unit| self.in_hand(unit, colour)));
        }
        bytes
    }

    /// The inverse of [`Position::pack`].
    ///
    /// # Errors
    /// The bytes are not those of a legal position of the variant.
    pub fn unpack(variant: &Arc<Variant>, bytes: &[u8]) -> Result<Self, UnpackError> {
        let mut reader = Reader { bytes, at: 0 };
        let mut position = Self::empty(variant);
        position.unpack_men(&mut reader)?;
        let flags = reader.byte()?;
        if flags & !KNOWN_FLAGS != 0 {
            return Err(UnpackError::Byte { expected: "flags", got: flags });
        }
        if flags & BLACK_TO_MOVE != 0 {
            position.pass_the_turn();
        }
        position.set_castling(flags >> 1 & 15);
        if flags & EN_PASSANT != 0 {
            position.state.en_passant = Some(unpack_en_passant(&mut reader)?);
        }
        for colour in Colour::BOTH {
            let held: Vec<Unit> = position.held_units().collect();
            for unit in held {
                let count = reader.byte()?;
                if count > variant.hand_size(unit) {
                    return Err(UnpackError::Byte { expected: "a number of units in hand", got: count });
                }
                position.set_hand(unit, colour, count);
            }
        }
        position.state.plies_without_progress = u16::from_le_bytes([reader.byte()?, reader.byte()?]);
        position.full_moves = u32::from(u16::from_le_bytes([reader.byte()?, reader.byte()?]));
        match bytes.len() - reader.at {
            0 => Ok(position.validated()?),
            left => Err(UnpackError::Long(left)),
        }
    }

    fn unpack_men(&mut self, reader: &mut Reader) -> Result<(), UnpackError> {
        let variant = Arc::clone(&self.variant);
        let squares = variant.topology().squares();
        let occupied: Vec<u8> =
            (0..(squares.len() as usize).div_ceil(8)).map(|_| reader.byte()).collect::<Result<_, _>>()?;
        let used_bits = (squares.len() - 1) % 8 + 1;
        if let Some(&got) = occupied.last().filter(|last| u32::from(**last) >> used_bits != 0) {
            return Err(UnpackError::Byte { expected: "a last byte of occupied squares padded with zeros", got });
        }
        for (index, square) in squares.iter().enumerate() {
            if occupied[index / 8] >> (index % 8) & 1 == 0 {
                continue;
            }
            let byte = reader.byte()?;
            let unit = Unit(byte & !BLACK_MAN);
            if unit.index() >= variant.units().len() {
                return Err(UnpackError::Byte { expected: "a man of this game", got: byte });
            }
            let colour = if byte & BLACK_MAN != 0 { Colour::Black } else { Colour::White };
            self.put(square, Piece::new(unit, colour));
        }
        Ok(())
    }

    /// Unit types that this game holds in hand.
    fn held_units(&self) -> impl Iterator<Item = Unit> + use<> {
        let variant = Arc::clone(&self.variant);
        variant.units().filter(move |&unit| variant.hand_size(unit) > 0)
    }
}

fn unpack_en_passant(reader: &mut Reader) -> Result<EnPassant, UnpackError> {
    let (file, row, count) = (reader.byte()?, reader.byte()?, reader.byte()?);
    let square =
        |byte: u8| Square::at(file ^ byte >> 4, byte & 15).ok_or(UnpackError::Byte { expected: "a square", got: byte });
    let passed = (0..count.min(16)).map(|_| square(reader.byte()?)).collect::<Result<_, _>>()?;
    let pawn = Square::at(file, row).ok_or(UnpackError::Byte { expected: "a square", got: row })?;
    Ok(EnPassant { passed, pawn })
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> Result<u8, UnpackError> {
        let byte = self.bytes.get(self.at).copied().ok_or(UnpackError::Short(self.at))?;
        self.at += 1;
        Ok(byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Unobserved;

    #[test]
    fn a_position_that_comes_back_differs_by_its_counters_only() {
        let chess = Arc::new(Variant::load("chess").unwrap());
        let mut position = Position::start(&chess);
        let start = position.pack();
        for (text, is_back) in [("g1f3", false), ("g8f6", false), ("f3g1", false), ("f6g8", true)] {
            let mv = position.legal_moves().into_iter().find(|&mv| position.move_text(mv) == text).unwrap();
            position.make(mv, &mut Unobserved);
            assert_ne!(position.pack(), start);
            assert_eq!(packed_without_counters(&position.pack()) == packed_without_counters(&start), is_back, "{text}");
        }
        assert!(packed_without_counters(&[1, 2, 3]).is_empty());
    }
}
