//! Capturing a pawn on a square it has passed over.

use super::{Move, MoveKind};
use crate::geometry::Square;
use crate::position::{EnPassant, Position};

impl Position {
    /// Calls `found` with every legal en-passant capture.
    pub(crate) fn en_passant_captures(&self, mut found: impl FnMut(Move)) {
        let Some(EnPassant { passed, .. }) = self.en_passant() else { return };
        let side = self.side_to_move();
        for to in passed {
            if !self.somebody_may_take_on(to) {
                continue;
            }
            let mut last = None;
            self.attackers_if(
                to,
                side,
                |square| self.piece_at(square),
                |from, piece| {
                    let mv = Move::new(from, to, MoveKind::EnPassant);
                    let takes = self.variant().en_passant_takers() >> piece.unit().0 & 1 != 0;
                    if takes && last.replace(mv) != Some(mv) && self.keeps_king_safe(mv) {
                        found(mv);
                    }
                },
            );
        }
    }

    /// Whether a man that takes en passant stands where it could reach `to`: most passed squares are out of reach.
    fn somebody_may_take_on(&self, to: Square) -> bool {
        let (variant, side) = (self.variant(), self.side_to_move());
        let mut takers = variant.units().filter(|unit| variant.en_passant_takers() >> unit.0 & 1 != 0);
        takers.any(|unit| {
            let origins = *variant.attack_origins(unit, side, to) & self.men(side);
            origins.iter().any(|from| self.piece_at(from).unit() == unit)
        })
    }
}
