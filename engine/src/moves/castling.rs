//! Castling, with one destination or many.

use super::{Move, MoveKind};
use crate::position::{Piece, Position};
use crate::variant::{CastlingDestination, CastlingWing};

impl Position {
    /// Calls `found` with every legal castling. The caller has made sure that the king is not in check.
    pub(super) fn castlings(&self, mut found: impl FnMut(Move)) {
        for wing in self.variant().castling() {
            if wing.colour != self.side_to_move() || self.castling_rights() & wing.right == 0 {
                continue;
            }
            for destination in &wing.destinations {
                if self.may_castle(wing, destination) {
                    found(Move::new(wing.king, destination.king_to, MoveKind::Castling));
                }
            }
        }
    }

    /// Crossed squares are tested with the king on them and the partner still at home; the last square in the final
    /// position.
    fn may_castle(&self, wing: &CastlingWing, destination: &CastlingDestination) -> bool {
        if !(self.occupied() & destination.must_be_empty).is_empty() {
            return false;
        }
        let by = wing.colour.opponent();
        let king = Piece::new(self.variant().royal(), wing.colour);
        // Of several kings, this one may be attacked although its side is not in check.
        let starts_safely = !self.variant().has_several_royals() || !self.is_attacked(wing.king, by);
        let crosses_safely = starts_safely
            && destination.crossed.iter().all(|&crossed| {
                !self.is_attacked_if(crossed, by, |square| match square {
                    _ if square == crossed => king,
                    _ if square == wing.king => Piece::NONE,
                    _ => self.piece_at(square),
                })
            });
        crosses_safely
            && !self.is_attacked_if(destination.king_to, by, |square| match square {
                _ if square == destination.king_to => king,
                _ if square == destination.partner_to => Piece::new(wing.partner_unit, wing.colour),
                _ if square == wing.king || square == wing.partner => Piece::NONE,
                _ => self.piece_at(square),
            })
    }
}
