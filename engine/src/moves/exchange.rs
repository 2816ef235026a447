//! Static exchange evaluation: what a series of captures on one square is worth.

use super::{Move, MoveKind};
use crate::geometry::Square;
use crate::position::{Piece, Position};
use crate::variant::rules::MAX_UNITS;

/// Captures in a row that are looked at; longer exchanges are rare and their tail hardly matters.
const MAX_DEPTH: usize = 32;

impl Position {
    /// Whether the captures on the move's target gain at least `threshold`, both sides taking with their cheapest man
    /// and free to stop. `values` are by unit type; pins are not minded.
    pub fn exchange_gains(&self, mv: Move, threshold: i32, values: &[i32; MAX_UNITS]) -> bool {
        // Most moves gain enough even if the man that moves is lost for nothing.
        let opening = Opening::of(self, mv, values);
        opening.gain - opening.standing >= threshold
            || opening.gain >= threshold && self.exchange(mv, values) >= threshold
    }

    /// The value of the exchange that the move begins, for the side to move, in the units of `values`.
    pub fn exchange(&self, mv: Move, values: &[i32; MAX_UNITS]) -> i32 {
        if mv.kind() == MoveKind::Castling {
            return 0;
        }
        let target = mv.to();
        let value = |piece: Piece| values[piece.unit().index()];
        let Opening { gain, mut standing, mover } = Opening::of(self, mv, values);
        let mut gains = [0; MAX_DEPTH];
        gains[0] = gain;
        let mut gone = [target; MAX_DEPTH + 2];
        let mut gone_count = 0;
        let pawn_taken =
            (mv.kind() == MoveKind::EnPassant).then(|| self.en_passant().map(|passed| passed.pawn)).flatten();
        for square in mover.into_iter().chain(pawn_taken) {
            gone[gone_count] = square;
            gone_count += 1;
        }
        let mut side = self.side_to_move().opponent();
        let mut depth = 0;
        while depth + 1 < MAX_DEPTH {
            let Some((square, piece)) = self.cheapest_attacker(target, side, &gone[..gone_count], values) else {
                break;
            };
            depth += 1;
            gains[depth] = standing - gains[depth - 1];
            // Neither going on nor stopping can change the result from here.
            if gains[depth].max(-gains[depth - 1]) < 0 {
                break;
            }
            standing = value(piece);
            gone[gone_count] = square;
            gone_count += 1;
            side = side.opponent();
        }
        while depth > 0 {
            gains[depth - 1] = -gains[depth].max(-gains[depth - 1]);
            depth -= 1;
        }
        gains[0]
    }

    /// The king counts as the dearest attacker; it takes last, and never into another attack.
    fn cheapest_attacker(
        &self,
        target: Square,
        side: crate::variant::rules::Colour,
        gone: &[Square],
        values: &[i32; MAX_UNITS],
    ) -> Option<(Square, Piece)> {
        let seen = |square: Square| if gone.contains(&square) { Piece::NONE } else { self.piece_at(square) };
        let royal = self.variant().royal();
        let mut best: Option<(i32, Square, Piece)> = None;
        self.attackers_if(target, side, seen, |square, piece| {
            let value = if piece.unit() == royal { i32::MAX } else { values[piece.unit().index()] };
            if best.is_none_or(|(least, ..)| value < least) {
                best = Some((value, square, piece));
            }
        });
        let (value, square, piece) = best?;
        let king_walks_into_attack = value == i32::MAX && self.is_attacked_if(target, side.opponent(), seen);
        (!king_walks_into_attack).then_some((square, piece))
    }
}

/// The move that begins an exchange.
struct Opening {
    /// What it wins at once.
    gain: i32,
    /// What then stands on the target and may be taken.
    standing: i32,
    /// Where it comes from; nowhere for a drop.
    mover: Option<Square>,
}

impl Opening {
    #[inline]
    fn of(position: &Position, mv: Move, values: &[i32; MAX_UNITS]) -> Self {
        let value = |square: Square| match position.piece_at(square) {
            Piece::NONE => 0,
            piece => values[piece.unit().index()],
        };
        let (from, to) = (mv.from(), mv.to());
        match mv.kind() {
            MoveKind::Normal => Self { gain: value(to), standing: value(from), mover: Some(from) },
            MoveKind::Castling => Self { gain: 0, standing: 0, mover: None },
            MoveKind::Drop(unit) => Self { gain: 0, standing: values[unit.index()], mover: None },
            MoveKind::EnPassant => {
                let pawn = position.en_passant().map_or(0, |passed| value(passed.pawn));
                Self { gain: pawn, standing: value(from), mover: Some(from) }
            }
            MoveKind::Promotion(unit) => {
                let becomes = values[unit.index()];
                Self { gain: value(to) + becomes - value(from), standing: becomes, mover: Some(from) }
            }
        }
    }
}
