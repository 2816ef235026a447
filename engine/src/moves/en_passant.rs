//! Capturing a pawn on a square it has passed over.

use super::{Move, MoveKind};
use crate::position::{EnPassant, Position};

impl Position {
    /// Calls `found` with every legal en-passant capture.
    pub(crate) fn en_passant_captures(&self, mut found: impl FnMut(Move)) {
        let Some(EnPassant { passed, .. }) = self.en_passant() else { return };
        let side = self.side_to_move();
        for to in passed {
            if (self.variant().en_passant_origins(to, side) & self.men(side)).is_empty() {
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
}
