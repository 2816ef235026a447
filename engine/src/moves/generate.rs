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

    /// Whether a move of this position is a capture or a promotion: one of [`Wanted::Noisy`].
    #[inline]
    pub fn is_noisy(&self, mv: Move) -> bool {
        match mv.kind() {
            MoveKind::Normal => !self.piece_at(mv.to()).is_none(),
            MoveKind::EnPassant | MoveKind::Promotion(_) => true,
            MoveKind::Castling | MoveKind::Drop(_) => false,
        }
    }

    /// Calls `found` with each wanted legal move, always in the same order: men by square from the mover's side of the
    /// board (so that mirrored positions list mirrored moves), castling, en passant, drops. `safety` is [`Safety::of`]
    /// this position.
    #[inline]
    pub fn generate(&self, safety: &Safety, wanted: Wanted, mut found: impl FnMut(Move)) {
        if self.bared_king_result().is_some() {
            return;
        }
        let generation = Generation { position: self, side: self.side_to_move(), safety, wanted };
        match generation.side {
            Colour::White => self.men(Colour::White).iter().for_each(|from| generation.moves_of(from, &mut found)),
            Colour::Black => {
                self.men(Colour::Black).iter_from_top().for_each(|from| generation.moves_of(from, &mut found))
            }
        }
        if wanted.quiet() && !safety.in_check {
            self.castlings(&mut found);
        }
        if wanted.noisy() {
            self.en_passant_captures(&mut found);
        }
        if wanted.quiet() && self.variant().rules().drops.is_some() {
            generation.drops(&mut found);
        }
    }

    /// Whether a move that comes from somewhere else (a table that may confuse positions) is legal here. Generates no
    /// more than the moves of its kind and man.
    pub fn is_legal(&self, mv: Move, safety: &Safety) -> bool {
        if self.bared_king_result().is_some() {
            return false;
        }
        let mut legal = false;
        let mut found = |candidate: Move| legal |= candidate == mv;
        let generation = Generation { position: self, side: self.side_to_move(), safety, wanted: Wanted::All };
        match mv.kind() {
            MoveKind::Normal | MoveKind::Promotion(_) if self.piece_at(mv.from()).is_of(generation.side) => {
                generation.moves_of(mv.from(), &mut found);
            }
            MoveKind::Castling if !safety.in_check => self.castlings(&mut found),
            MoveKind::EnPassant => self.en_passant_captures(&mut found),
            MoveKind::Drop(_) => generation.drops(&mut found),
            _ => {}
        }
        legal
    }

    fn may_promote_to(&self, choice: &PromotionChoice, from: Square, to: Square) -> bool {
        let (side, unit) = (self.side_to_move(), choice.unit);
        let parity = |square: Square| (square.file() + square.row()) & 1;
        let own = Piece::new(unit, side);
        let colour_is_free =
            || !self.men(side).iter().any(|at| at != from && parity(at) == parity(to) && self.piece_at(at) == own);
        (!choice.only_captured || self.count(unit, side) < self.variant().array_count(side, unit))
            && choice.at_most.is_none_or(|most| self.count(unit, side) < most)
            && (!choice.after_drop || self.in_hand(unit, side) < self.variant().hand_size(unit))
            && (!choice.one_per_colour || colour_is_free())
    }
}

/// The generation of one position's moves.
struct Generation<'a> {
    position: &'a Position,
    side: Colour,
    safety: &'a Safety,
    wanted: Wanted,
}

impl Generation<'_> {
    #[inline]
    fn moves_of(&self, from: Square, found: &mut impl FnMut(Move)) {
        let unit = self.position.piece_at(from).unit();
        if unit == self.position.variant().royal() {
            self.king_moves(from, unit, found);
        } else if self.position.variant().promotion_zone(unit, self.side).is_empty() {
            self.unit_moves(from, unit, found);
        } else {
            self.promoting_unit_moves(from, unit, found);
        }
    }

    fn king_moves(&self, from: Square, unit: Unit, found: &mut impl FnMut(Move)) {
        self.walk(from, unit, self.wanted, |to| {
            let mv = Move::new(from, to, MoveKind::Normal);
            if self.position.keeps_king_safe(mv) {
                found(mv);
            }
        });
    }

    #[inline]
    fn unit_moves(&self, from: Square, unit: Unit, found: &mut impl FnMut(Move)) {
        self.walk(from, unit, self.wanted, |to| {
            if self.is_legal(from, to) {
                found(Move::new(from, to, MoveKind::Normal));
            }
        });
    }

    /// Promotions without capture are noisy, so all moves are walked and sorted here.
    fn promoting_unit_moves(&self, from: Square, unit: Unit, found: &mut impl FnMut(Move)) {
        let zone = self.position.variant().promotion_zone(unit, self.side);
        self.walk(from, unit, Wanted::All, |to| {
            let captures = !self.position.piece_at(to).is_none();
            let plain_wanted = if captures { self.wanted.noisy() } else { self.wanted.quiet() };
            let promotes = zone.contains(to);
            if (promotes || plain_wanted) && self.is_legal(from, to) {
                let must = promotes && self.promotions(from, to, unit, found);
                if plain_wanted && !must {
                    found(Move::new(from, to, MoveKind::Normal));
                }
            }
        });
    }

    /// Lists the promotions on `to` and says whether the unit must promote there.
    fn promotions(&self, from: Square, to: Square, unit: Unit, found: &mut impl FnMut(Move)) -> bool {
        let Some((choices, must)) = self.position.variant().promotion(unit, self.side, to) else { return false };
        if self.wanted.noisy() {
            for choice in choices.iter().filter(|choice| self.position.may_promote_to(choice, from, to)) {
                found(Move::new(from, to, MoveKind::Promotion(choice.unit)));
            }
        }
        must
    }

    fn drops(&self, found: &mut impl FnMut(Move)) {
        let free = self.position.variant().drop_zone(self.side) - self.position.occupied();
        if free.is_empty() {
            return;
        }
        for unit in self.position.variant().units().filter(|&unit| self.position.in_hand(unit, self.side) > 0) {
            for to in free {
                let mv = Move::new(to, to, MoveKind::Drop(unit));
                if self.safety.clears(self.safety.concerns_drop(to), || self.position.keeps_king_safe(mv)) {
                    found(mv);
                }
            }
        }
    }

    #[inline]
    fn is_legal(&self, from: Square, to: Square) -> bool {
        let exact = || self.position.keeps_king_safe(Move::new(from, to, MoveKind::Normal));
        self.safety.clears(self.safety.concerns(from, to), exact)
    }

    /// Calls `reached` with every square the unit may go to, minding neither the king nor promotion.
    #[inline]
    fn walk(&self, from: Square, unit: Unit, wanted: Wanted, mut reached: impl FnMut(Square)) {
        if self.position.variant().reaches_twice(unit, self.side) {
            let mut seen = SquareSet::EMPTY;
            self.walk_paths(from, unit, wanted, |to| {
                if !seen.contains(to) {
                    seen.insert(to);
                    reached(to);
                }
            });
        } else {
            self.walk_paths(from, unit, wanted, reached);
        }
    }

    #[inline]
    fn walk_paths(&self, from: Square, unit: Unit, wanted: Wanted, mut reached: impl FnMut(Square)) {
        let steps = self.position.variant().move_steps(unit, self.side, from);
        let takeable = self.position.variant().takeable();
        let mut at = 0;
        while let Some(step) = steps.get(at) {
            let piece = self.position.piece_at(step.square);
            if piece.is_none() {
                if step.moves() && wanted.quiet() {
                    reached(step.square);
                }
            } else if step.captures() && wanted.noisy() && piece.is_among(takeable, self.side.opponent()) {
                reached(step.square);
            }
            at += step.advance(piece.is_none());
        }
    }
}
