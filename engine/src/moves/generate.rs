//! Generation of legal moves.

use super::{Move, MoveKind, Safety};
use crate::geometry::{Square, SquareSet};
use crate::position::{Piece, Position};
use crate::variant::rules::{Colour, PromotionChoice, Unit};

/// Which legal moves are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// All of them.
    All,
    /// Captures (also en passant) and promotions.
    Noisy,
    /// The others.
    Quiet,
}

impl Wanted {
    const fn quiet(self) -> bool {
        !matches!(self, Self::Noisy)
    }

    const fn noisy(self) -> bool {
        !matches!(self, Self::Quiet)
    }
}

impl Position {
    /// All legal moves. None if the game has already ended by a bared king.
    pub fn legal_moves(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        self.generate(&Safety::of(self), Wanted::All, |mv| moves.push(mv));
        moves
    }

    /// Whether the side to move has a legal move.
    pub fn has_legal_move(&self) -> bool {
        let mut any = false;
        self.generate(&Safety::of(self), Wanted::All, |_| any = true);
        any
    }

    /// Calls `found` with each wanted legal move, always in the same order: men by square from the mover's side of the
    /// board (so that mirrored positions list mirrored moves), castling, en passant, drops.
    /// `safety` is [`Safety::of`] this position.
    #[inline]
    pub fn generate(&self, safety: &Safety, wanted: Wanted, mut found: impl FnMut(Move)) {
        if self.bared_king_result().is_some() {
            return;
        }
        let side = self.side_to_move();
        let mut moves_from = |from: Square| {
            let unit = self.piece_at(from).unit();
            if unit == self.variant().royal() {
                self.king_moves(from, unit, wanted, &mut found);
            } else {
                self.unit_moves(from, unit, safety, wanted, &mut found);
            }
        };
        match side {
            Colour::White => self.men(side).iter().for_each(&mut moves_from),
            Colour::Black => self.men(side).iter_from_top().for_each(&mut moves_from),
        }
        if wanted.quiet() && !safety.in_check {
            self.castlings(&mut found);
        }
        if wanted.noisy() {
            self.en_passant_captures(&mut found);
        }
        if wanted.quiet() && self.variant().rules().drops.is_some() {
            self.drops(safety, &mut found);
        }
    }

    /// Whether a move that comes from somewhere else (a table that may confuse positions) is legal here. Not for
    /// castling, en passant and drops, which it calls illegal.
    pub fn is_legal_board_move(&self, mv: Move, safety: &Safety) -> bool {
        let (from, side) = (mv.from(), self.side_to_move());
        let piece = self.piece_at(from);
        if !piece.is_of(side) || self.bared_king_result().is_some() {
            return false;
        }
        let mut legal = false;
        let mut found = |candidate: Move| legal |= candidate == mv;
        match mv.kind() {
            MoveKind::Normal | MoveKind::Promotion(_) if piece.unit() == self.variant().royal() => {
                self.king_moves(from, piece.unit(), Wanted::All, &mut found);
            }
            MoveKind::Normal | MoveKind::Promotion(_) => {
                self.unit_moves(from, piece.unit(), safety, Wanted::All, &mut found);
            }
            _ => {}
        }
        legal
    }

    fn king_moves(&self, from: Square, unit: Unit, wanted: Wanted, found: &mut impl FnMut(Move)) {
        self.walk(from, unit, wanted, |to| {
            let mv = Move::new(from, to, MoveKind::Normal);
            if self.keeps_king_safe(mv) {
                found(mv);
            }
        });
    }

    #[inline]
    fn unit_moves(&self, from: Square, unit: Unit, safety: &Safety, wanted: Wanted, found: &mut impl FnMut(Move)) {
        let side = self.side_to_move();
        let promotes_on = self.variant().promotion_zone(unit, side);
        let legal = |to: Square| {
            let mv = Move::new(from, to, MoveKind::Normal);
            safety.clears(safety.concerns(from, to), || self.keeps_king_safe(mv))
        };
        if promotes_on.is_empty() {
            self.walk(from, unit, wanted, |to| {
                if legal(to) {
                    found(Move::new(from, to, MoveKind::Normal));
                }
            });
            return;
        }
        // Promotions without capture are noisy, so a promoting unit's moves are all walked and sorted here.
        self.walk(from, unit, Wanted::All, |to| {
            let noisy = !self.piece_at(to).is_none();
            if !promotes_on.contains(to) {
                if (if noisy { wanted.noisy() } else { wanted.quiet() }) && legal(to) {
                    found(Move::new(from, to, MoveKind::Normal));
                }
            } else if legal(to) {
                self.promotions(from, to, unit, wanted, noisy, found);
            }
        });
    }

    fn promotions(
        &self,
        from: Square,
        to: Square,
        unit: Unit,
        wanted: Wanted,
        captures: bool,
        found: &mut impl FnMut(Move),
    ) {
        let side = self.side_to_move();
        let Some((choices, must)) = self.variant().promotion(unit, side, to) else { return };
        if wanted.noisy() {
            for choice in choices.iter().filter(|choice| self.may_promote_to(choice, from, to)) {
                found(Move::new(from, to, MoveKind::Promotion(choice.unit)));
            }
        }
        if !must && (if captures { wanted.noisy() } else { wanted.quiet() }) {
            found(Move::new(from, to, MoveKind::Normal));
        }
    }

    fn may_promote_to(&self, choice: &PromotionChoice, from: Square, to: Square) -> bool {
        let (side, unit) = (self.side_to_move(), choice.unit);
        let parity = |square: Square| (square.file() + square.row()) & 1;
        let own = Piece::new(unit, side);
        let colour_is_free =
            || !self.men(side).iter().any(|at| at != from && parity(at) == parity(to) && self.piece_at(at) == own);
        (!choice.only_captured || self.count(unit, side) < self.variant().array_count(side, unit))
            && (!choice.after_drop || self.in_hand(unit, side) < self.variant().hand_size(unit))
            && (!choice.one_per_colour || colour_is_free())
    }

    fn drops(&self, safety: &Safety, found: &mut impl FnMut(Move)) {
        let side = self.side_to_move();
        let free = self.variant().drop_zone(side) - self.occupied();
        if free.is_empty() {
            return;
        }
        for unit in self.variant().units().filter(|&unit| self.in_hand(unit, side) > 0) {
            for to in free {
                let mv = Move::new(to, to, MoveKind::Drop(unit));
                if safety.clears(safety.concerns_drop(to), || self.keeps_king_safe(mv)) {
                    found(mv);
                }
            }
        }
    }

    /// Calls `reached` with every square the unit may go to, minding neither the king nor promotion.
    #[inline]
    fn walk(&self, from: Square, unit: Unit, wanted: Wanted, mut reached: impl FnMut(Square)) {
        let side = self.side_to_move();
        if self.variant().reaches_twice(unit, side) {
            let mut seen = SquareSet::EMPTY;
            self.walk_paths(from, unit, side, wanted, |to| {
                if !seen.contains(to) {
                    seen.insert(to);
                    reached(to);
                }
            });
        } else {
            self.walk_paths(from, unit, side, wanted, reached);
        }
    }

    #[inline]
    fn walk_paths(&self, from: Square, unit: Unit, side: Colour, wanted: Wanted, mut reached: impl FnMut(Square)) {
        let steps = self.variant().move_steps(unit, side, from);
        let mut at = 0;
        while let Some(step) = steps.get(at) {
            let piece = self.piece_at(step.square);
            if piece.is_none() {
                if step.moves() && wanted.quiet() {
                    reached(step.square);
                }
            } else if step.captures() && wanted.noisy() && !piece.is_of(side) {
                reached(step.square);
            }
            at += step.advance(piece.is_none());
        }
    }
}
