//! Positions in text: FEN with boards of any size, holes, hands and several en-passant squares.

use super::keys::MAX_HAND;
use super::{EnPassant, Piece, Position};
use crate::geometry::{Square, SquareSet, SquareTextError};
use crate::variant::rules::{Colour, Unit};
use crate::variant::{CastlingWing, Variant};
use std::fmt::Write;
use std::sync::Arc;

/// Why a FEN was refused. Every message begins with the field at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FenError {
    /// Not six fields.
    #[error("FEN: expected 6 fields (board, side, castling, en passant, half-move clock, move number), got {0}")]
    Fields(usize),
    /// Wrong number of ranks.
    #[error("board field: expected {expected} ranks separated by '/', got {got}")]
    Ranks {
        /// Ranks of the board.
        expected: u8,
        /// Ranks in the text.
        got: usize,
    },
    /// A rank of the wrong width.
    #[error("board field, rank {rank} ({text:?}): expected {expected} squares, got {got}")]
    Width {
        /// The rank's number.
        rank: u16,
        /// The rank's text.
        text: String,
        /// Files of the board.
        expected: u8,
        /// Squares described.
        got: usize,
    },
    /// A character that is no man, number or hole.
    #[error("board field, rank {rank}: expected one of {letters} in either case, a number or '*', got {got:?}")]
    Letter {
        /// The rank's number.
        rank: u16,
        /// All unit letters.
        letters: String,
        /// The character.
        got: char,
    },
    /// A number of empty squares written as no number is.
    #[error("board field, rank {rank}: expected a number from 1 to the board's width, got {got:?}")]
    Number {
        /// The rank's number.
        rank: u16,
        /// The digits.
        got: String,
    },
    /// A man or an empty square where the board has none, or a hole where it has a square.
    #[error("board field: {square} {reason}")]
    Hole {
        /// The square.
        square: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// A side without a king or with too many.
    #[error("board field: expected {} of {colour:?}, got {got}", kings(*most))]
    Kings {
        /// Whose.
        colour: Colour,
        /// How many it may have.
        most: u8,
        /// How many.
        got: u8,
    },
    /// A pawn where it must have promoted.
    #[error("board field: a {unit} cannot stand on {square}, where it must promote")]
    Unpromoted {
        /// The unit.
        unit: String,
        /// Where.
        square: String,
    },
    /// The side that has just moved is in check.
    #[error("side field: {side:?} is to move and could take the king on {king}")]
    KingCapturable {
        /// Who is to move.
        side: Colour,
        /// The other king.
        king: String,
    },
    /// Neither `w` nor `b`.
    #[error("side field: expected w or b, got {0:?}")]
    Side(String),
    /// Holdings where the game has none, or the reverse, or malformed ones.
    #[error("holdings: {0}")]
    Holdings(String),
    /// A castling field that does not fit.
    #[error("castling field {field:?}: {reason}")]
    Castling {
        /// The field.
        field: String,
        /// What is wrong.
        reason: String,
    },
    /// An en-passant field that does not fit.
    #[error("en passant field {field:?}: {reason}")]
    EnPassant {
        /// The field.
        field: String,
        /// What is wrong.
        reason: String,
    },
    /// A counter that is no number in range.
    #[error("{field} field: expected a number from {least} to {most}, got {got:?}")]
    Counter {
        /// Which counter.
        field: &'static str,
        /// Least value.
        least: u32,
        /// Greatest value.
        most: u32,
        /// The text.
        got: String,
    },
}

/// Greatest half-move clock and move number that a position may begin with; with room to spare in two bytes each.
const MAX_CLOCK: u32 = 10_000;
const MAX_MOVE_NUMBER: u32 = 60_000;

impl Position {
    /// Reads a FEN.
    ///
    /// # Errors
    /// Any field that does not fit the variant, by name and with the reason.
    pub fn from_fen(variant: &Arc<Variant>, fen: &str) -> Result<Self, FenError> {
        let fields: Vec<&str> = fen.split_ascii_whitespace().collect();
        let &[board, side, castling, en_passant, clock, number] = fields.as_slice() else {
            return Err(FenError::Fields(fields.len()));
        };
        let mut position = Self::empty(variant);
        let (board, holdings) = match board.split_once('[') {
            Some((board, holdings)) => (board, Some(holdings)),
            None => (board, None),
        };
        position.read_board(board)?;
        position.read_holdings(holdings)?;
        position.read_side(side)?;
        position.read_castling(castling)?;
        position.read_en_passant(en_passant)?;
        position.state.plies_without_progress = counter("half-move clock", clock, 0, MAX_CLOCK)? as u16;
        position.full_moves = counter("move number", number, 1, MAX_MOVE_NUMBER)?;
        position.validated()
    }

    /// The position as FEN.
    pub fn fen(&self) -> String {
        let mut fen = self.board_text();
        if self.variant.rules().drops.is_some() {
            fen.push_str(&self.holdings_text());
        }
        let side = if self.side == Colour::White { 'w' } else { 'b' };
        let (clock, number) = (self.state.plies_without_progress, self.full_moves);
        let _ = write!(fen, " {side} {} {} {clock} {number}", self.castling_text(), self.en_passant_text());
        fen
    }

    fn board_text(&self) -> String {
        let topology = self.variant.topology();
        let ranks = (0..topology.height()).rev().map(|row| {
            let mut text = String::new();
            let mut empty = 0;
            for square in (0..topology.width()).filter_map(|file| Square::at(file, row)) {
                let piece = self.piece_at(square);
                if topology.has(square) && piece.is_none() {
                    empty += 1;
                    continue;
                }
                flush_empty(&mut text, &mut empty);
                text.push(if topology.has(square) { piece.letter(&self.variant) } else { '*' });
            }
            flush_empty(&mut text, &mut empty);
            text
        });
        ranks.collect::<Vec<_>>().join("/")
    }

    fn holdings_text(&self) -> String {
        let mut text = String::from("[");
        for colour in Colour::BOTH {
            for &(unit, _) in self.variant.rules().drops.iter().flat_map(|drops| &drops.hand) {
                let letter = Piece::new(unit, colour).letter(&self.variant);
                text.extend(std::iter::repeat_n(letter, usize::from(self.in_hand(unit, colour))));
            }
        }
        text.push(']');
        text
    }

    fn castling_text(&self) -> String {
        let wings = self.variant.castling().iter().filter(|wing| self.state.castling & wing.right != 0);
        let text: String = wings.map(castling_letter).collect();
        if text.is_empty() { "-".into() } else { text }
    }

    /// The squares passed over; after a diagonal way also the pawn's own, which they alone would not tell.
    fn en_passant_text(&self) -> String {
        let Some(EnPassant { passed, pawn }) = self.state.en_passant else { return "-".into() };
        let mut squares = from_origin_on(passed, pawn);
        if squares.iter().any(|square| square.file() != pawn.file()) {
            squares.push(pawn);
        }
        squares.into_iter().map(|square| self.variant.topology().name(square)).collect()
    }

    fn read_board(&mut self, text: &str) -> Result<(), FenError> {
        let height = self.variant.topology().height();
        let ranks: Vec<&str> = text.split('/').collect();
        if ranks.len() != usize::from(height) {
            return Err(FenError::Ranks { expected: height, got: ranks.len() });
        }
        (0..height).rev().zip(ranks).try_for_each(|(row, rank)| self.read_rank(row, rank))
    }

    fn read_rank(&mut self, row: u8, text: &str) -> Result<(), FenError> {
        let variant = Arc::clone(&self.variant);
        let topology = variant.topology();
        let rank = u16::from(row) + u16::from(topology.first_rank());
        let mut file: usize = 0;
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits > 0 {
                let (number, after) = rest.split_at(digits);
                let empty = number.parse().ok().filter(|n| (1..=16).contains(n) && !number.starts_with('0'));
                let empty: usize = empty.ok_or_else(|| FenError::Number { rank, got: number.into() })?;
                (file..file + empty).try_for_each(|file| self.read_square(file, row, None))?;
                file += empty;
                rest = after;
                continue;
            }
            let piece = self.read_letter(rank, letter)?;
            self.read_square(file, row, Some(piece))?;
            file += 1;
            rest = &rest[letter.len_utf8()..];
        }
        if file != usize::from(topology.width()) {
            let expected = topology.width();
            return Err(FenError::Width { rank, text: text.chars().take(48).collect(), expected, got: file });
        }
        Ok(())
    }

    /// `None` is a hole.
    fn read_letter(&self, rank: u16, letter: char) -> Result<Option<Piece>, FenError> {
        if letter == '*' {
            return Ok(None);
        }
        let man = self.variant.man_with_letter(letter);
        man.map(|(unit, colour)| Some(Piece::new(unit, colour))).ok_or_else(|| FenError::Letter {
            rank,
            letters: self.variant.units().map(|unit| self.variant.unit(unit).letter).collect(),
            got: letter,
        })
    }

    /// `None`: an empty square. `Some(None)`: a hole. `Some(Some(..))`: a man.
    fn read_square(&mut self, file: usize, row: u8, stands: Option<Option<Piece>>) -> Result<(), FenError> {
        let square = u8::try_from(file).ok().and_then(|file| Square::at(file, row));
        // Squares beyond the width are counted and reported with the whole rank.
        let Some(square) = square.filter(|square| square.file() < self.variant.topology().width()) else {
            return Ok(());
        };
        let fault = |reason| Err(FenError::Hole { square: self.variant.topology().name(square), reason });
        match (stands, self.variant.topology().has(square)) {
            (Some(None), true) => fault("exists, the FEN has a hole there"),
            (None | Some(Some(_)), false) => fault("does not exist, the FEN must have '*' there"),
            (Some(Some(piece)), true) => {
                self.put(square, piece);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn read_holdings(&mut self, text: Option<&str>) -> Result<(), FenError> {
        let fault = |reason: String| Err(FenError::Holdings(reason));
        let letters = match (text, self.variant.rules().drops.is_some()) {
            (None, false) => return Ok(()),
            (None, true) => return fault("expected [...] after the board, got nothing".into()),
            (Some(_), false) => return fault("this game has no units in hand".into()),
            (Some(text), true) => match text.strip_suffix(']') {
                Some(letters) => letters,
                None => return fault(format!("expected a closing ']', got {:?}", shorten(text))),
            },
        };
        for letter in letters.chars() {
            let man = self.variant.man_with_letter(letter);
            let Some((unit, colour)) = man.filter(|&(unit, _)| self.variant.hand_size(unit) > 0) else {
                return fault(format!("expected units that this game holds in hand, got {letter:?}"));
            };
            self.hold_one_more(unit, colour)?;
        }
        Ok(())
    }

    fn hold_one_more(&mut self, unit: Unit, colour: Colour) -> Result<(), FenError> {
        let held = self.in_hand(unit, colour) + 1;
        let most = self.variant.hand_size(unit).min(MAX_HAND as u8 - 1);
        if held > most {
            let name = &self.variant.unit(unit).name;
            return Err(FenError::Holdings(format!("{colour:?} holds more than the {most} {name} of the start")));
        }
        self.set_hand(unit, colour, held);
        Ok(())
    }

    fn read_side(&mut self, text: &str) -> Result<(), FenError> {
        match text {
            "w" => Ok(()),
            "b" => {
                self.pass_the_turn();
                Ok(())
            }
            other => Err(FenError::Side(shorten(other))),
        }
    }

    fn read_castling(&mut self, text: &str) -> Result<(), FenError> {
        let fault = |reason: String| Err(FenError::Castling { field: shorten(text), reason });
        if text == "-" {
            return Ok(());
        }
        let variant = Arc::clone(&self.variant);
        let mut rights = 0;
        for letter in text.chars() {
            let Some(wing) = variant.castling().iter().find(|wing| castling_letter(wing) == letter) else {
                return fault(format!("expected '-' or letters of KQkq that this game has, got {letter:?}"));
            };
            if rights & wing.right != 0 {
                return fault(format!("{letter:?} stands twice"));
            }
            rights |= wing.right;
        }
        self.set_castling(rights);
        Ok(())
    }

    fn read_en_passant(&mut self, text: &str) -> Result<(), FenError> {
        if text == "-" {
            return Ok(());
        }
        let fault = |reason: String| FenError::EnPassant { field: shorten(text), reason };
        let squares = self.squares_run_together(text).map_err(|error| fault(error.to_string()))?;
        self.state.en_passant = Some(self.passed_and_pawn(squares).map_err(fault)?);
        Ok(())
    }

    /// The squares passed over and the pawn. Among the squares may be the pawn's own, as some programs write it.
    fn passed_and_pawn(&self, squares: Vec<Square>) -> Result<EnPassant, String> {
        let named = squares.iter().copied().find(|&square| self.is_takeable_pawn(square));
        let mut passed: Vec<Square> = squares.into_iter().filter(|&square| Some(square) != named).collect();
        if let Some(pawn) = named {
            passed.sort_by_key(|square| std::cmp::Reverse(square.row().abs_diff(pawn.row())));
        }
        let ways = self.variant.passing_directions();
        let found: Vec<Result<Square, String>> = ways.iter().map(|&way| self.pawn_beyond(&passed, way)).collect();
        let fits = |pawn: &Square| named.is_none_or(|named| named == *pawn);
        let mut pawns = found.iter().flatten().copied().filter(fits);
        let passed_set = passed.iter().copied().collect();
        match (pawns.next(), pawns.next(), found.iter().find_map(|found| found.as_ref().err())) {
            (Some(pawn), None, _) => Ok(EnPassant { passed: passed_set, pawn }),
            (Some(_), Some(_), _) => {
                Err("two pawns could have passed there: add the square of the one that did".into())
            }
            (None, _, Some(reason)) => Err(reason.clone()),
            (None, ..) => Err("no pawn of this game can have passed there".into()),
        }
    }

    /// Whether a man of the side that has just moved stands there which may be taken en passant.
    fn is_takeable_pawn(&self, square: Square) -> bool {
        let piece = self.piece_at(square);
        !piece.is_none() && piece.colour() != self.side && self.variant.unit(piece.unit()).taken_en_passant
    }

    fn squares_run_together(&self, text: &str) -> Result<Vec<Square>, SquareTextError> {
        let mut squares = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (square, after) = self.variant.topology().parse_prefix(rest)?;
            squares.push(square);
            rest = after;
        }
        Ok(squares)
    }

    /// The pawn of the side that has just moved which passed over `squares`, listed from its origin on, on its way in a
    /// direction (files, rows ahead).
    fn pawn_beyond(&self, squares: &[Square], (files, _): (i8, i8)) -> Result<Square, String> {
        let topology = self.variant.topology();
        let forward: i8 = if self.side == Colour::White { -1 } else { 1 };
        let (Some(&first), Some(&last)) = (squares.first(), squares.last()) else {
            return Err("expected '-' or squares passed over".into());
        };
        let name = |square| topology.name(square);
        let origin = topology.step(first, -files, -forward);
        if let Some(occupied) = squares.iter().chain(&origin).find(|&&square| !self.piece_at(square).is_none()) {
            return Err(format!("a pawn cannot have passed over or come from {}, which is occupied", name(*occupied)));
        }
        for pair in squares.windows(2) {
            if topology.step(pair[0], files, forward) != Some(pair[1]) {
                return Err(format!("{} does not follow {} in the pawn's direction", name(pair[1]), name(pair[0])));
            }
        }
        if origin.is_none() {
            return Err(format!("no square lies behind {}, from which the pawn could have come", name(first)));
        }
        let mut ahead = std::iter::successors(Some(last), |&square| topology.step(square, files, forward)).skip(1);
        match ahead.find(|&square| !self.piece_at(square).is_none()) {
            Some(square) if self.is_takeable_pawn(square) => {
                let behind = std::iter::successors(origin, |&square| topology.step(square, -files, -forward));
                let mut origins = behind.take_while(|&square| self.piece_at(square).is_none());
                let came = origins.any(|origin| self.goes_quietly(self.piece_at(square), origin, square));
                let fault = || format!("no move brings the pawn to {} over {}", name(square), name(last));
                came.then_some(square).ok_or_else(fault)
            }
            Some(square) => Err(format!(
                "expected a pawn that has just moved beyond {}, got another man on {}",
                name(last),
                name(square)
            )),
            None => Err(format!("expected a pawn that has just moved beyond {}, got none", name(last))),
        }
    }

    /// Whether a man that stands on `to` could have moved there from `from` without taking, if nothing else changed.
    fn goes_quietly(&self, piece: Piece, from: Square, to: Square) -> bool {
        let steps = self.variant.move_steps(piece.unit(), piece.colour(), from);
        let mut at = 0;
        while let Some(step) = steps.get(at) {
            let empty = step.square == to || self.piece_at(step.square).is_none();
            if step.moves() && step.square == to {
                return true;
            }
            at += step.advance(empty);
        }
        false
    }

    /// Checks what only the whole position shows, and completes the key.
    pub(super) fn validated(mut self) -> Result<Self, FenError> {
        in_range("half-move clock", u32::from(self.state.plies_without_progress), 0, MAX_CLOCK)?;
        in_range("move number", self.full_moves, 1, MAX_MOVE_NUMBER)?;
        for colour in Colour::BOTH {
            let (got, most) = (self.count(self.variant.royal(), colour), self.variant.most_royals(colour));
            if !(1..=most).contains(&got) {
                return Err(FenError::Kings { colour, most, got });
            }
        }
        self.refuse_unpromoted()?;
        self.refuse_castling_away_from_home()?;
        self.refuse_impossible_en_passant()?;
        let (side, opponent) = (self.side, self.side.opponent());
        if self.is_in_check(opponent) {
            return Err(FenError::KingCapturable { side, king: self.variant.topology().name(self.king(opponent)) });
        }
        self.add_en_passant_to_key();
        Ok(self)
    }

    fn refuse_castling_away_from_home(&self) -> Result<(), FenError> {
        let (variant, rights) = (&self.variant, self.state.castling);
        let fault = |reason| Err(FenError::Castling { field: self.castling_text(), reason });
        if rights & !variant.castling().iter().map(|wing| wing.right).sum::<u8>() != 0 {
            return fault("there are rights that this game does not have".into());
        }
        for wing in variant.castling().iter().filter(|wing| rights & wing.right != 0) {
            let home = |square, unit| self.piece_at(square) == Piece::new(unit, wing.colour);
            if !home(wing.king, variant.royal()) || !home(wing.partner, wing.partner_unit) {
                let (king, partner) = (variant.topology().name(wing.king), variant.topology().name(wing.partner));
                let letter = castling_letter(wing);
                return fault(format!("{letter:?} needs king and partner at home on {king} and {partner}"));
            }
        }
        Ok(())
    }

    fn refuse_impossible_en_passant(&self) -> Result<(), FenError> {
        let Some(EnPassant { passed, pawn }) = self.state.en_passant else { return Ok(()) };
        let fault = |reason| Err(FenError::EnPassant { field: self.en_passant_text(), reason });
        let resets = self.variant.unit(self.piece_at(pawn).unit()).resets_move_count;
        if resets && self.state.plies_without_progress != 0 {
            return fault("the half-move clock must be 0 after that pawn's move".into());
        }
        match self.passed_and_pawn(from_origin_on(passed, pawn).into_iter().chain([pawn]).collect()) {
            Ok(found) if found == (EnPassant { passed, pawn }) => Ok(()),
            Ok(_) => fault("another pawn passed over these squares".into()),
            Err(reason) => fault(reason),
        }
    }

    fn refuse_unpromoted(&self) -> Result<(), FenError> {
        let stuck = self.occupied().iter().find(|&square| {
            let piece = self.piece_at(square);
            self.variant.promotion(piece.unit(), piece.colour(), square).is_some_and(|(_, must)| must)
        });
        stuck.map_or(Ok(()), |square| {
            Err(FenError::Unpromoted {
                unit: self.variant.unit(self.piece_at(square).unit()).name.clone(),
                square: self.variant.topology().name(square),
            })
        })
    }
}

/// Squares passed over, in the order the pawn passed them.
fn from_origin_on(passed: SquareSet, pawn: Square) -> Vec<Square> {
    let mut squares: Vec<Square> = passed.iter().collect();
    squares.sort_by_key(|square| std::cmp::Reverse(square.row().abs_diff(pawn.row())));
    squares
}

fn castling_letter(wing: &CastlingWing) -> char {
    match (wing.colour, wing.higher) {
        (Colour::White, true) => 'K',
        (Colour::White, false) => 'Q',
        (Colour::Black, true) => 'k',
        (Colour::Black, false) => 'q',
    }
}

fn flush_empty(text: &mut String, empty: &mut u8) {
    if *empty > 0 {
        text.push_str(&empty.to_string());
        *empty = 0;
    }
}

fn counter(field: &'static str, text: &str, least: u32, most: u32) -> Result<u32, FenError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let value = text.parse().ok().filter(|_| digits);
    let value = value.ok_or_else(|| FenError::Counter { field, least, most, got: shorten(text) })?;
    in_range(field, value, least, most)
}

fn in_range(field: &'static str, value: u32, least: u32, most: u32) -> Result<u32, FenError> {
    let fault = || FenError::Counter { field, least, most, got: value.to_string() };
    (least..=most).contains(&value).then_some(value).ok_or_else(fault)
}

/// How many kings a side may have, in words.
fn kings(most: u8) -> String {
    if most == 1 { "one king".into() } else { format!("1 to {most} kings") }
}

fn shorten(text: &str) -> String {
    text.chars().take(32).collect()
}
