//! The king's safety: who attacks it, and which changes of the board would let somebody attack it.
//!
//! A move empties one square and fills another. It can uncover an attack on the mover's king only along a path of which
//! it mends the last obstacles, so one walk from the king outward, allowed to look past such obstacles, finds every
//! square that matters. All other moves are legal without a test.

use super::{Move, MoveKind};
use crate::geometry::{Square, SquareSet};
use crate::position::{Piece, Position};
use crate::variant::rules::{CheckRule, Colour};
use crate::variant::tables::{AttackStep, Passes};

/// What the side to move has to mind, computed once a position.
#[derive(Clone, Copy, Debug)]
pub struct Safety {
    /// The king stands attacked.
    pub in_check: bool,
    /// Out of check: squares whose emptying may uncover the king. In check: squares whose emptying may end the check.
    leave: SquareSet,
    /// Out of check: squares whose filling may let a hopper attack the king. In check: squares whose filling, or the man
    /// on which being taken, may end the check.
    enter: SquareSet,
}

impl Safety {
    /// Safety of the king of the side to move.
    pub fn of(position: &Position) -> Self {
        if position.variant().has_several_royals() {
            return Self::of_several(position);
        }
        let (side, king) = (position.side_to_move(), position.king(position.side_to_move()));
        let steps = position.variant().attack_steps(king, side.opponent());
        match weak_points(position, steps, side) {
            Ok((leave, enter)) => Self { in_check: false, leave, enter },
            Err(CheckFound) => {
                let (leave, enter) = remedies(position, steps, side.opponent());
                Self { in_check: true, leave, enter }
            }
        }
    }

    /// Where a side may have several kings, every move is tested exactly.
    fn of_several(position: &Position) -> Self {
        let everywhere = position.variant().topology().squares();
        Self { in_check: position.in_check(), leave: everywhere, enter: everywhere }
    }

    /// Whether a move of a man other than the king touches a square that matters.
    #[inline]
    pub fn concerns(&self, from: Square, to: Square) -> bool {
        self.leave.contains(from) || self.enter.contains(to)
    }

    /// The same for a drop.
    #[inline]
    pub fn concerns_drop(&self, to: Square) -> bool {
        self.enter.contains(to)
    }

    /// Whether a move is legal, asking for the exact test only where it is needed: in check only a move that concerns
    /// the check can end it; out of check only a move that concerns the king's surroundings can expose it.
    #[inline]
    pub fn clears(&self, concerns: bool, exact: impl FnOnce() -> bool) -> bool {
        if self.in_check { concerns && exact() } else { !concerns || exact() }
    }
}

struct CheckFound;

/// A condition on the way from the king that the board does not meet, but one move could.
#[derive(Clone, Copy)]
struct Obstacle {
    square: Square,
    asks_empty: bool,
    end: usize,
}

/// Squares whose emptying and squares whose filling may expose the king, or `Err` if it is attacked already.
///
/// A move empties one square and fills one, so at most one obstacle of each kind can be mended. An enemy man in the way
/// is not one: no move but an en-passant capture (tested by itself) empties its square.
fn weak_points(position: &Position, steps: &[AttackStep], side: Colour) -> Result<(SquareSet, SquareSet), CheckFound> {
    let by = side.opponent();
    let (mut leave, mut enter) = (SquareSet::EMPTY, SquareSet::EMPTY);
    let mut obstacles: [Obstacle; 2] = [Obstacle { square: Square::from_index(0), asks_empty: true, end: 0 }; 2];
    let mut open = 0;
    let mut at = 0;
    while let Some(step) = steps.get(at) {
        while open > 0 && at >= obstacles[open - 1].end {
            open -= 1;
        }
        let piece = position.piece_at(step.square);
        if piece.is_among(step.attackers, by) {
            if open == 0 {
                return Err(CheckFound);
            }
            for obstacle in &obstacles[..open] {
                if obstacle.asks_empty { &mut leave } else { &mut enter }.insert(obstacle.square);
            }
        }
        if step.goes_on(piece.is_none()) {
            at += 1;
            continue;
        }
        let asks_empty = step.passes == Passes::Empty;
        let mendable = match step.passes {
            Passes::Never => false,
            Passes::Empty => piece.is_of(side),
            Passes::Occupied => true,
        };
        if mendable && (open == 0 || open == 1 && obstacles[0].asks_empty != asks_empty) {
            obstacles[open] = Obstacle { square: step.square, asks_empty, end: at + step.skip as usize };
            open += 1;
            at += 1;
        } else {
            at += step.skip as usize;
        }
    }
    Ok((leave, enter))
}

/// What ends the first check found: emptying a square it hops over, filling one it passes, or taking the checker.
fn remedies(position: &Position, steps: &[AttackStep], by: Colour) -> (SquareSet, SquareSet) {
    let mut at = 0;
    while let Some(step) = steps.get(at) {
        let piece = position.piece_at(step.square);
        if piece.is_among(step.attackers, by) {
            return remedies_on_the_way(steps, at);
        }
        at += if step.goes_on(piece.is_none()) { 1 } else { step.skip as usize };
    }
    (SquareSet::EMPTY, SquareSet::EMPTY)
}

/// The steps that lead to the checker at `checker` are those whose branches it hangs on.
fn remedies_on_the_way(steps: &[AttackStep], checker: usize) -> (SquareSet, SquareSet) {
    let (mut leave, mut enter) = (SquareSet::EMPTY, SquareSet::only(steps[checker].square));
    for (_, step) in steps[..checker].iter().enumerate().filter(|(at, step)| at + step.skip as usize > checker) {
        match step.passes {
            Passes::Empty => enter.insert(step.square),
            Passes::Occupied => leave.insert(step.square),
            Passes::Never => {}
        }
    }
    (leave, enter)
}

impl Position {
    /// Whether the side to move stands in check.
    pub fn in_check(&self) -> bool {
        self.is_in_check(self.side_to_move())
    }

    /// Whether `side` stands in check, whoever is to move.
    pub fn is_in_check(&self, side: Colour) -> bool {
        if self.variant().has_several_royals() {
            return self.are_in_check(self.royals(side), side, |square| self.piece_at(square));
        }
        self.is_attacked(self.king(side), side.opponent())
    }

    /// The squares of the enemy men that attack a royal man of the side to move.
    pub fn checkers(&self) -> SquareSet {
        let side = self.side_to_move();
        let mut checkers = SquareSet::EMPTY;
        for royal in self.royals(side) {
            let found = |square, _| checkers.insert(square);
            self.attackers_if(royal, side.opponent(), |square| self.piece_at(square), found);
        }
        checkers
    }

    /// Whether a side whose royal men stand on `royals` of the board that `seen` shows is in check.
    fn are_in_check(&self, royals: SquareSet, side: Colour, seen: impl Fn(Square) -> Piece) -> bool {
        let mut attacked = royals.iter().map(|royal| self.is_attacked_if(royal, side.opponent(), &seen));
        match self.variant().check_rule() {
            CheckRule::AnyRoyal => attacked.any(|attacked| attacked),
            CheckRule::EveryRoyal => attacked.all(|attacked| attacked),
        }
    }

    /// Whether some man of `by` attacks `square`.
    #[inline]
    pub fn is_attacked(&self, square: Square, by: Colour) -> bool {
        self.is_attacked_if(square, by, |square| self.piece_at(square))
    }

    /// Whether some man of `by` would attack `square` if the board were as `seen` tells.
    #[inline]
    pub fn is_attacked_if(&self, square: Square, by: Colour, seen: impl Fn(Square) -> Piece) -> bool {
        let steps = self.variant().attack_steps(square, by);
        let mut at = 0;
        while let Some(step) = steps.get(at) {
            let piece = seen(step.square);
            if piece.is_among(step.attackers, by) {
                return true;
            }
            at += if step.goes_on(piece.is_none()) { 1 } else { step.skip as usize };
        }
        false
    }

    /// Calls `found` with every man of `by` that attacks `square` on the board that `seen` shows. A man that attacks it
    /// along two paths is reported twice.
    pub fn attackers_if(
        &self,
        square: Square,
        by: Colour,
        seen: impl Fn(Square) -> Piece,
        mut found: impl FnMut(Square, Piece),
    ) {
        let steps = self.variant().attack_steps(square, by);
        let mut at = 0;
        while let Some(step) = steps.get(at) {
            let piece = seen(step.square);
            if piece.is_among(step.attackers, by) {
                found(step.square, piece);
            }
            at += if step.goes_on(piece.is_none()) { 1 } else { step.skip as usize };
        }
    }

    /// Whether the man that moves will attack the other king from where it lands. Discovered checks do not count, so that
    /// the answer is cheap.
    pub fn gives_direct_check(&self, mv: Move) -> bool {
        let side = self.side_to_move();
        let lands = match mv.kind() {
            MoveKind::Castling => return false,
            MoveKind::Promotion(unit) | MoveKind::Drop(unit) => Piece::new(unit, side),
            MoveKind::Normal | MoveKind::EnPassant => self.piece_at(mv.from()),
        };
        // Of several kings the first is as good a guess as any: the answer only orders the search.
        let king = self.king(side.opponent());
        self.variant().attack_origins(lands.unit(), side, king).contains(mv.to())
            && self.is_attacked_if(king, side, |square| match square {
                _ if square == mv.to() => lands,
                _ if square == mv.from() => Piece::NONE,
                _ => self.piece_at(square),
            })
    }

    /// Whether the mover's king is safe after the move: the exact test. Not for castling, which asks for more.
    pub(super) fn keeps_king_safe(&self, mv: Move) -> bool {
        let side = self.side_to_move();
        let taken_elsewhere = match mv.kind() {
            MoveKind::EnPassant => self.en_passant().map(|passed| passed.pawn),
            _ => None,
        };
        let arrives = match mv.kind() {
            MoveKind::Drop(unit) | MoveKind::Promotion(unit) => Piece::new(unit, side),
            _ => self.piece_at(mv.from()),
        };
        let seen = |square| {
            if square == mv.to() {
                arrives
            } else if square == mv.from() || Some(square) == taken_elsewhere {
                Piece::NONE
            } else {
                self.piece_at(square)
            }
        };
        let royal_moves = arrives.unit() == self.variant().royal();
        if self.variant().has_several_royals() {
            let mut royals = self.royals(side);
            royals.remove(mv.from());
            if royal_moves {
                royals.insert(mv.to());
            }
            return !self.are_in_check(royals, side, seen);
        }
        let king = if royal_moves { mv.to() } else { self.king(side) };
        !self.is_attacked_if(king, side.opponent(), seen)
    }
}
