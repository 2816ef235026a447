//! Positions made from others: men taken away, armies exchanged. For experiments and for openings played by both sides.

use super::{FenError, Piece, Position};
use crate::geometry::{Square, SquareSet};
use crate::variant::rules::Colour;
use crate::variant::{CastlingWing, Variant};
use std::sync::Arc;

impl Position {
    /// A position of these men, without castling and en-passant rights and with nothing in hand.
    ///
    /// # Errors
    /// The men stand on squares that do not exist or on the same square, or that is no legal position.
    pub fn of_men(
        variant: &Arc<Variant>,
        men: impl IntoIterator<Item = (Square, Piece)>,
        side_to_move: Colour,
    ) -> Result<Self, FenError> {
        let mut position = Self::empty(variant);
        for (square, piece) in men {
            let fault = |reason| FenError::Hole { square: variant.topology().name(square), reason };
            if !variant.topology().has(square) {
                return Err(fault("does not exist"));
            }
            if !position.piece_at(square).is_none() {
                return Err(fault("holds two men"));
            }
            position.put(square, piece);
        }
        if side_to_move == Colour::Black {
            position.pass_the_turn();
        }
        position.validated()
    }

    /// This position without the men on `squares`; castling rights that need one of them are gone, and if any man is, moves without
    /// progress count from here.
    ///
    /// # Errors
    /// What is left is no legal position, as when a king is taken away.
    pub fn without(&self, squares: SquareSet) -> Result<Self, FenError> {
        let taken = squares & self.occupied();
        let untouched = |wing: &&CastlingWing| !taken.contains(wing.king) && !taken.contains(wing.partner);
        let rights = self.variant.castling().iter().filter(untouched).map(|wing| wing.right).sum::<u8>();
        let keep = |square| (!taken.contains(square)).then_some(square);
        let mut left = self.rebuilt(self.castling_rights() & rights, keep)?;
        if !taken.is_empty() {
            left.state.plies_without_progress = 0;
        }
        Ok(left)
    }

    /// The same position with the armies exchanged: each side has what the other had, mirrored, and the side to move
    /// stays. Played from both, neither army profits from the first move. En-passant rights lapse.
    ///
    /// # Errors
    /// The side to move is in check: its opponent, now to move, could take the king.
    pub fn armies_exchanged(&self) -> Result<Self, FenError> {
        let variant = Arc::clone(&self.variant);
        let mut exchanged = Self::empty(&variant);
        for square in self.occupied() {
            let piece = self.piece_at(square);
            exchanged.put(variant.topology().flip(square), Piece::new(piece.unit(), piece.colour().opponent()));
        }
        for colour in Colour::BOTH {
            for unit in variant.units() {
                exchanged.set_hand(unit, colour, self.in_hand(unit, colour.opponent()));
            }
        }
        let rights = variant.castling().iter().filter(|wing| self.opposite_right(wing)).map(|wing| wing.right).sum();
        exchanged.set_castling(rights);
        exchanged.finish_like(self)
    }

    /// Whether the opponent of the wing's owner may castle on the same wing.
    fn opposite_right(&self, wing: &CastlingWing) -> bool {
        let opposite = |other: &&CastlingWing| other.colour != wing.colour && other.higher == wing.higher;
        let other = self.variant.castling().iter().find(opposite);
        other.is_some_and(|other| self.castling_rights() & other.right != 0)
    }

    fn rebuilt(&self, castling: u8, keep: impl Fn(Square) -> Option<Square>) -> Result<Self, FenError> {
        let mut rebuilt = Self::empty(&self.variant);
        for square in self.occupied().iter().filter_map(keep) {
            rebuilt.put(square, self.piece_at(square));
        }
        for colour in Colour::BOTH {
            for unit in self.variant.units() {
                rebuilt.set_hand(unit, colour, self.in_hand(unit, colour));
            }
        }
        rebuilt.set_castling(castling);
        rebuilt.finish_like(self)
    }

    fn finish_like(mut self, other: &Self) -> Result<Self, FenError> {
        if other.side == Colour::Black {
            self.pass_the_turn();
        }
        self.state.plies_without_progress = other.state.plies_without_progress;
        self.full_moves = other.full_moves;
        self.validated()
    }
}
