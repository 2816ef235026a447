//! Static exchange evaluation: what a series of captures on one square is worth.

use super::{Move, MoveKind};
use crate::geometry::Square;
use crate::position::{Piece, Position};
use crate::variant::rules::{Colour, MAX_UNITS};

/// Captures in a row that are looked at; longer exchanges are rare and their tail hardly matters.
const MAX_CAPTURES: usize = 32;

impl Position {
    /// Whether the captures on the move's target gain at least `threshold`, both sides taking with their cheapest man
    /// and free to stop. `values` are by unit type; pins are not minded.
    pub fn exchange_gains(&self, mv: Move, threshold: i32, values: &[i32; MAX_UNITS]) -> bool {
        let opening = Opening::of(self, mv, values);
        // Most moves gain enough even if the man that moves is lost for nothing.
        opening.gain - opening.standing >= threshold
            || opening.gain >= threshold && self.exchange_after(mv, opening, values) >= threshold
    }

    /// The value of the exchange that the move begins, for the side to move, in the units of `values`.
    pub fn exchange(&self, mv: Move, values: &[i32; MAX_UNITS]) -> i32 {
        self.exchange_after(mv, Opening::of(self, mv, values), values)
    }

    fn exchange_after(&self, mv: Move, opening: Opening, values: &[i32; MAX_UNITS]) -> i32 {
        let mut square =
            Contested { position: self, target: mv.to(), values, gone: [mv.to(); MAX_CAPTURES + 2], left: 0 };
        opening.leaves.into_iter().flatten().for_each(|from| square.leave(from));
        let mut gains = [0; MAX_CAPTURES];
        gains[0] = opening.gain;
        let mut standing = opening.standing;
        let mut side = self.side_to_move().opponent();
        let mut captures = 0;
        while captures + 1 < MAX_CAPTURES {
            let Some((from, piece)) = square.cheapest_attacker(side) else { break };
            captures += 1;
            gains[captures] = standing - gains[captures - 1];
            // Neither going on nor stopping can change the result from here.
            if gains[captures].max(-gains[captures - 1]) < 0 {
                break;
            }
            standing = values[piece.unit().index()];
            square.leave(from);
            side = side.opponent();
        }
        for index in (1..=captures).rev() {
            gains[index - 1] = -gains[index].max(-gains[index - 1]);
        }
        gains[0]
    }
}

/// The move that begins an exchange.
#[derive(Clone, Copy)]
struct Opening {
    /// What it wins at once.
    gain: i32,
    /// What then stands on the target and may be taken.
    standing: i32,
    /// Squares that it empties, besides the target.
    leaves: [Option<Square>; 2],
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
            MoveKind::Normal => Self { gain: value(to), standing: value(from), leaves: [Some(from), None] },
            // The king is safe where it lands, and nobody exchanges on its square.
            MoveKind::Castling => Self { gain: 0, standing: 0, leaves: [None; 2] },
            MoveKind::Drop(unit) => Self { gain: 0, standing: values[unit.index()], leaves: [None; 2] },
            MoveKind::EnPassant => {
                let pawn = position.en_passant().map(|passed| passed.pawn);
                Self { gain: pawn.map_or(0, value), standing: value(from), leaves: [Some(from), pawn] }
            }
            MoveKind::Promotion(unit) => {
                let becomes = values[unit.index()];
                Self { gain: value(to) + becomes - value(from), standing: becomes, leaves: [Some(from), None] }
            }
        }
    }
}

/// A square fought over, and the squares emptied in the fight.
struct Contested<'a> {
    position: &'a Position,
    target: Square,
    values: &'a [i32; MAX_UNITS],
    gone: [Square; MAX_CAPTURES + 2],
    left: usize,
}

impl Contested<'_> {
    fn leave(&mut self, square: Square) {
        self.gone[self.left] = square;
        self.left += 1;
    }

    fn seen(&self, square: Square) -> Piece {
        if self.gone[..self.left].contains(&square) { Piece::NONE } else { self.position.piece_at(square) }
    }

    /// The king counts as the dearest attacker; it takes last, and never into another attack.
    fn cheapest_attacker(&self, side: Colour) -> Option<(Square, Piece)> {
        let royal = self.position.variant().royal();
        let mut cheapest: Option<(i32, Square, Piece)> = None;
        self.position.attackers_if(
            self.target,
            side,
            |square| self.seen(square),
            |square, piece| {
                let value = if piece.unit() == royal { i32::MAX } else { self.values[piece.unit().index()] };
                if cheapest.is_none_or(|(least, ..)| value < least) {
                    cheapest = Some((value, square, piece));
                }
            },
        );
        let (value, square, piece) = cheapest?;
        let into_attack =
            value == i32::MAX && self.position.is_attacked_if(self.target, side.opponent(), |at| self.seen(at));
        (!into_attack).then_some((square, piece))
    }
}
