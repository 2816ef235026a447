//! Making and unmaking moves.

use super::{EnPassant, Piece, Position, State};
use crate::geometry::{Square, SquareSet};
use crate::moves::{Move, MoveKind};
use crate::variant::passing_direction;
use crate::variant::rules::{Colour, Unit};

/// Hears what a move changes on the board, so that an evaluation can keep itself up to date.
pub trait Observer {
    /// A man has come to stand on a square.
    fn placed(&mut self, piece: Piece, square: Square);
    /// A man has left a square.
    fn lifted(&mut self, piece: Piece, square: Square);
    /// A man has left its side's hand, where `left` of its type remain, for the board (it is `placed` as well).
    fn dropped(&mut self, piece: Piece, left: u8);
}

/// An observer that does not care.
pub struct Unobserved;

impl Observer for Unobserved {
    #[inline]
    fn placed(&mut self, _: Piece, _: Square) {}
    #[inline]
    fn lifted(&mut self, _: Piece, _: Square) {}
    #[inline]
    fn dropped(&mut self, _: Piece, _: u8) {}
}

/// What unmaking a move needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Undo {
    state: State,
    mover: Piece,
    captured: Option<(Square, Piece)>,
}

impl Undo {
    /// The man taken, with the square it stood on.
    #[inline]
    pub const fn captured(&self) -> Option<(Square, Piece)> {
        self.captured
    }
}

impl Position {
    /// Makes a legal move of this position and returns what [`Position::unmake`] needs. Whether a move is legal is the
    /// generator's business: any other move leaves a position without meaning.
    pub fn make(&mut self, mv: Move, observer: &mut impl Observer) -> Undo {
        let before = self.state;
        self.forget_en_passant();
        self.state.plies_without_progress = self.state.plies_without_progress.saturating_add(1);
        let (mover, captured) = match mv.kind() {
            MoveKind::Drop(unit) => (self.drop(unit, mv.to(), observer), None),
            MoveKind::Castling => (self.castle(mv, observer), None),
            MoveKind::EnPassant => self.step(mv, before.en_passant.map(|passed| passed.pawn), None, observer),
            MoveKind::Normal => self.step(mv, self.man_on(mv.to()), None, observer),
            MoveKind::Promotion(unit) => self.step(mv, self.man_on(mv.to()), Some(unit), observer),
        };
        if captured.is_some() || self.variant.unit(mover.unit()).resets_move_count {
            self.state.plies_without_progress = 0;
        }
        if captured.is_none() {
            self.note_passed_squares(mv, mover);
        }
        self.full_moves += u32::from(self.side == Colour::Black);
        self.pass_the_turn();
        self.add_en_passant_to_key();
        Undo { state: before, mover, captured }
    }

    /// Takes back the move that `undo` came from.
    pub fn unmake(&mut self, mv: Move, undo: &Undo) {
        self.side = self.side.opponent();
        self.full_moves -= u32::from(self.side == Colour::Black);
        match mv.kind() {
            MoveKind::Drop(unit) => {
                self.lift(mv.to());
                self.hands[self.side.index()][unit.index()] += 1;
            }
            MoveKind::Castling => self.uncastle(mv),
            _ => {
                self.lift(mv.to());
                self.put(mv.from(), undo.mover);
                if let Some((square, piece)) = undo.captured {
                    self.put(square, piece);
                }
            }
        }
        self.state = undo.state;
    }

    /// Lets the side to move pass (for null-move pruning; never a legal move).
    pub fn make_null(&mut self) -> Undo {
        let before = self.state;
        self.forget_en_passant();
        self.state.plies_without_progress = self.state.plies_without_progress.saturating_add(1);
        self.full_moves += u32::from(self.side == Colour::Black);
        self.pass_the_turn();
        Undo { state: before, mover: Piece::NONE, captured: None }
    }

    /// Takes back a pass.
    pub fn unmake_null(&mut self, undo: &Undo) {
        self.side = self.side.opponent();
        self.full_moves -= u32::from(self.side == Colour::Black);
        self.state = undo.state;
    }

    fn man_on(&self, square: Square) -> Option<Square> {
        (!self.piece_at(square).is_none()).then_some(square)
    }

    #[inline]
    fn step(
        &mut self,
        mv: Move,
        taken: Option<Square>,
        becomes: Option<Unit>,
        observer: &mut impl Observer,
    ) -> (Piece, Option<(Square, Piece)>) {
        let captured = taken.map(|square| (square, self.lift(square)));
        if let Some((square, piece)) = captured {
            observer.lifted(piece, square);
        }
        let mover = self.lift(mv.from());
        observer.lifted(mover, mv.from());
        let arrives = becomes.map_or(mover, |unit| Piece::new(unit, mover.colour()));
        self.put(mv.to(), arrives);
        observer.placed(arrives, mv.to());
        self.lose_castling(self.variant.castling_touch(mv.from()) | self.variant.castling_touch(mv.to()));
        (mover, captured)
    }

    fn drop(&mut self, unit: Unit, to: Square, observer: &mut impl Observer) -> Piece {
        let piece = Piece::new(unit, self.side);
        self.set_hand(unit, self.side, self.in_hand(unit, self.side).saturating_sub(1));
        observer.dropped(piece, self.in_hand(unit, self.side));
        self.put(to, piece);
        observer.placed(piece, to);
        piece
    }

    fn castle(&mut self, mv: Move, observer: &mut impl Observer) -> Piece {
        let (partner_from, partner_to) = self.partner_way(mv);
        let king = self.lift(mv.from());
        let partner = self.lift(partner_from);
        observer.lifted(king, mv.from());
        observer.lifted(partner, partner_from);
        self.put(mv.to(), king);
        self.put(partner_to, partner);
        observer.placed(king, mv.to());
        observer.placed(partner, partner_to);
        self.lose_castling(self.variant.castling_touch(mv.from()));
        king
    }

    fn uncastle(&mut self, mv: Move) {
        let (partner_from, partner_to) = self.partner_way(mv);
        let king = self.lift(mv.to());
        let partner = self.lift(partner_to);
        self.put(mv.from(), king);
        self.put(partner_from, partner);
    }

    /// Where the partner of a castling comes from and goes to.
    fn partner_way(&self, mv: Move) -> (Square, Square) {
        let higher = mv.to().file() > mv.from().file();
        let wing = self.variant.castling().iter().find(|wing| wing.colour == self.side && wing.higher == higher);
        let wing = wing.expect("a castling move comes from a castling wing");
        let beside = wing.destinations.iter().find(|destination| destination.king_to == mv.to());
        (wing.partner, beside.expect("a castling move comes from one of the wing's destinations").partner_to)
    }

    #[inline]
    fn lose_castling(&mut self, touched: u8) {
        if self.state.castling & touched != 0 {
            self.set_castling(self.state.castling & !touched);
        }
    }

    /// A pawn that goes ahead over squares may be taken on each of them by the very next move.
    fn note_passed_squares(&mut self, mv: Move, mover: Piece) {
        let unit = self.variant.unit(mover.unit());
        if !unit.taken_en_passant || mv.kind() != MoveKind::Normal {
            return;
        }
        let Some((files, rows)) = passing_direction(mv.from(), mv.to()) else { return };
        let forward = if mover.colour() == Colour::White { 1 } else { -1 };
        if rows != forward {
            return;
        }
        let distance = mv.to().row().abs_diff(mv.from().row()) as i8;
        // Holes and men jumped over are no squares on which it can be taken.
        let between =
            (1..distance).filter_map(|step| self.variant.topology().step(mv.from(), files * step, rows * step));
        let passed = between.collect::<SquareSet>() - self.occupied();
        if !passed.is_empty() {
            self.state.en_passant = Some(EnPassant { passed, pawn: mv.to() });
        }
    }

    fn forget_en_passant(&mut self) {
        if self.state.en_passant.is_some() {
            self.state.key ^= self.en_passant_key();
            self.state.en_passant = None;
        }
    }

    /// To be called once the side to move is the one that may take.
    pub(super) fn add_en_passant_to_key(&mut self) {
        if self.state.en_passant.is_some() {
            self.state.key ^= self.en_passant_key();
        }
    }

    pub(super) fn en_passant_key(&self) -> u64 {
        let mut usable = SquareSet::EMPTY;
        self.en_passant_captures(|mv| usable.insert(mv.to()));
        usable.iter().map(|square| self.keys.passed(square)).fold(0, |key, part| key ^ part)
    }
}
