//! A legal position of a variant, and the moves made and unmade on it.
//!
//! Everything that changes men on the board goes through `Position::put` and `Position::lift`, which keep mailbox,
//! sets, counts and hash together, so none of them can drift. Does no I/O and keeps no history; repetition is judged by
//! whoever holds the history ([`crate::outcome`]).

mod arrange;
pub mod audit;
mod fen;
mod keys;
mod make;
mod mirror;
mod packed;
mod piece;

pub use fen::FenError;
pub use make::{Observer, Undo, Unobserved};
pub use packed::{UnpackError, packed_without_counters};
pub use piece::Piece;

use crate::geometry::{GRID_SQUARES, Square, SquareSet};
use crate::variant::Variant;
use crate::variant::rules::{Colour, MAX_UNITS, Unit};
use keys::Keys;
use std::sync::Arc;

/// A position that the rules allow: one king a side, the side that has just moved is not in check.
#[derive(Clone)]
pub struct Position {
    variant: Arc<Variant>,
    keys: &'static Keys,
    mailbox: [Piece; GRID_SQUARES],
    men: [SquareSet; 2],
    counts: [[u8; MAX_UNITS]; 2],
    hands: [[u8; MAX_UNITS]; 2],
    kings: [Square; 2],
    side: Colour,
    state: State,
    full_moves: u32,
}

/// The part of a position that a move cannot be undone without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    castling: u8,
    en_passant: Option<EnPassant>,
    plies_without_progress: u16,
    key: u64,
}

/// Squares that a pawn has just passed over, and the pawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnPassant {
    /// Every square passed over.
    pub passed: SquareSet,
    /// Where the pawn now stands.
    pub pawn: Square,
}

impl Position {
    /// The game's own array, White to move.
    pub fn start(variant: &Arc<Variant>) -> Self {
        let mut position = Self::empty(variant);
        for &(square, unit, colour) in &variant.rules().array {
            position.put(square, Piece::new(unit, colour));
        }
        for colour in Colour::BOTH {
            for unit in variant.units() {
                position.set_hand(unit, colour, variant.hand_size(unit));
            }
        }
        position.set_castling(variant.castling().iter().map(|wing| wing.right).sum());
        position
    }

    /// A board without men, White to move: a start for building positions. Not a legal position yet.
    fn empty(variant: &Arc<Variant>) -> Self {
        let nowhere = Square::from_index(0);
        Self {
            variant: Arc::clone(variant),
            keys: Keys::get(),
            mailbox: [Piece::NONE; GRID_SQUARES],
            men: [SquareSet::EMPTY; 2],
            counts: [[0; MAX_UNITS]; 2],
            hands: [[0; MAX_UNITS]; 2],
            kings: [nowhere; 2],
            side: Colour::White,
            state: State { castling: 0, en_passant: None, plies_without_progress: 0, key: 0 },
            full_moves: 1,
        }
    }

    /// The game being played.
    pub const fn variant(&self) -> &Arc<Variant> {
        &self.variant
    }

    /// Who moves next.
    #[inline]
    pub const fn side_to_move(&self) -> Colour {
        self.side
    }

    /// What stands on `square`; [`Piece::NONE`] if nothing does.
    #[inline]
    pub const fn piece_at(&self, square: Square) -> Piece {
        self.mailbox[square.index()]
    }

    /// The squares on which `colour` has men.
    #[inline]
    pub const fn men(&self, colour: Colour) -> SquareSet {
        self.men[colour.index()]
    }

    /// All occupied squares.
    #[inline]
    pub fn occupied(&self) -> SquareSet {
        self.men[0] | self.men[1]
    }

    /// Number of units of a type on the board.
    #[inline]
    pub const fn count(&self, unit: Unit, colour: Colour) -> u8 {
        self.counts[colour.index()][unit.index()]
    }

    /// Number of units of a type in hand.
    #[inline]
    pub const fn in_hand(&self, unit: Unit, colour: Colour) -> u8 {
        self.hands[colour.index()][unit.index()]
    }

    /// Whether `colour` has nothing but its king, on the board and in hand.
    pub fn is_bare(&self, colour: Colour) -> bool {
        self.men[colour.index()].len() == 1 && self.hands[colour.index()].iter().all(|&held| held == 0)
    }

    /// The squares of all royal men of `colour`.
    pub fn royals(&self, colour: Colour) -> SquareSet {
        if !self.variant.has_several_royals() {
            return SquareSet::only(self.king(colour));
        }
        let royal = Piece::new(self.variant.royal(), colour);
        self.men(colour).iter().filter(|&square| self.piece_at(square) == royal).collect()
    }

    /// Where the king of `colour` stands; of several, the one on the lowest square.
    #[inline]
    pub const fn king(&self, colour: Colour) -> Square {
        self.kings[colour.index()]
    }

    /// Castling rights as bits of [`crate::variant::CastlingWing::right`].
    #[inline]
    pub const fn castling_rights(&self) -> u8 {
        self.state.castling
    }

    /// The pawn that has just passed over squares, if the last move was such a one.
    #[inline]
    pub const fn en_passant(&self) -> Option<EnPassant> {
        self.state.en_passant
    }

    /// Plies since the last capture or pawn move.
    #[inline]
    pub const fn plies_without_progress(&self) -> u16 {
        self.state.plies_without_progress
    }

    /// Number of the full move, from 1.
    #[inline]
    pub const fn full_moves(&self) -> u32 {
        self.full_moves
    }

    /// The same position as if a game began with it: half-move clock 0, move number 1.
    #[must_use]
    pub fn as_first(mut self) -> Self {
        self.state.plies_without_progress = 0;
        self.full_moves = 1;
        self
    }

    /// Zobrist key. Two positions with equal legal moves and men share it; everything that changes the legal moves is in
    /// it: side, castling rights, hands and each en-passant square on which a capture is legal.
    #[inline]
    pub const fn key(&self) -> u64 {
        self.state.key
    }

    #[inline]
    fn put(&mut self, square: Square, piece: Piece) {
        let colour = piece.colour();
        debug_assert!(self.mailbox[square.index()] == Piece::NONE);
        self.mailbox[square.index()] = piece;
        self.men[colour.index()].insert(square);
        self.counts[colour.index()][piece.unit().index()] += 1;
        self.state.key ^= self.keys.piece(piece, square);
        if piece.unit() == self.variant.royal() {
            self.note_king(colour, square);
        }
    }

    #[inline]
    fn lift(&mut self, square: Square) -> Piece {
        let piece = std::mem::replace(&mut self.mailbox[square.index()], Piece::NONE);
        debug_assert!(piece != Piece::NONE);
        let colour = piece.colour();
        self.men[colour.index()].remove(square);
        self.counts[colour.index()][piece.unit().index()] -= 1;
        self.state.key ^= self.keys.piece(piece, square);
        if self.variant.has_several_royals() && piece.unit() == self.variant.royal() {
            self.note_king(colour, square);
        }
        piece
    }

    /// `square` has just been filled or emptied by a royal man. Of several, the lowest counts as the king.
    #[inline]
    fn note_king(&mut self, colour: Colour, square: Square) {
        self.kings[colour.index()] =
            if self.variant.has_several_royals() { self.royals(colour).first().unwrap_or(square) } else { square };
    }

    fn set_hand(&mut self, unit: Unit, colour: Colour, held: u8) {
        let hand = &mut self.hands[colour.index()][unit.index()];
        self.state.key ^= self.keys.hand(unit, colour, *hand) ^ self.keys.hand(unit, colour, held);
        *hand = held;
    }

    fn set_castling(&mut self, rights: u8) {
        self.state.key ^= self.keys.castling(self.state.castling) ^ self.keys.castling(rights);
        self.state.castling = rights;
    }

    fn pass_the_turn(&mut self) {
        self.side = self.side.opponent();
        self.state.key ^= self.keys.side();
    }
}

impl PartialEq for Position {
    fn eq(&self, other: &Self) -> bool {
        self.variant.rules_hash() == other.variant.rules_hash()
            && self.mailbox == other.mailbox
            && self.men == other.men
            && self.counts == other.counts
            && self.hands == other.hands
            && self.kings == other.kings
            && self.side == other.side
            && self.state == other.state
            && self.full_moves == other.full_moves
    }
}

impl std::fmt::Debug for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.variant.name(), self.fen())
    }
}

/// The board as a drawing: White below, `.` empty, blank where there is no square.
impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let topology = self.variant.topology();
        for row in (0..topology.height()).rev() {
            let squares = (0..topology.width()).filter_map(|file| Square::at(file, row));
            let drawn = squares.map(|square| match self.piece_at(square) {
                _ if !topology.has(square) => "  ".into(),
                Piece::NONE => " .".into(),
                piece => format!(" {}", piece.letter(&self.variant)),
            });
            let rank = u16::from(row) + u16::from(topology.first_rank());
            writeln!(f, "{rank:>3} {}", drawn.collect::<String>().trim_end())?;
        }
        write!(f, "    ")?;
        (0..topology.width()).try_for_each(|file| write!(f, " {}", (b'a' + file) as char))
    }
}
