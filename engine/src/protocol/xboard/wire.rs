//! Squares, moves and positions as XBoard writes them, and back.
//!
//! XBoard numbers ranks from 1, those of a board of ten ranks from 0, whatever the game does. A castling of one square
//! is two legs joined by a comma, the king to its partner and from there home. A promotion that it lets nobody choose
//! in is written `+`, and such a man in a FEN is the pawn's letter behind a `+`.

use super::setup::Setup;
use crate::geometry::{Square, Topology};
use crate::moves::{Move, MoveKind};
use crate::position::{FenError, Position};
use crate::variant::Variant;
use crate::variant::letters;
use crate::variant::rules::{Colour, Unit};
use std::sync::Arc;

/// Ranks of the boards that XBoard numbers from 0.
const NUMBERED_FROM_ZERO: u8 = 10;

/// How one game is written.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    variant: Arc<Variant>,
    /// `None` for a game of XBoard's own.
    setup: Option<Setup>,
}

impl Wire {
    pub const fn new(variant: Arc<Variant>, setup: Option<Setup>) -> Self {
        Self { variant, setup }
    }

    /// The lines that must follow `variant`.
    pub fn setup_lines(&self) -> Vec<String> {
        self.setup.as_ref().map(Setup::lines).unwrap_or_default()
    }

    fn topology(&self) -> &Topology {
        self.variant.topology()
    }

    fn plus(&self, unit: Unit) -> bool {
        self.setup.as_ref().is_some_and(|setup| setup.promotes_by_plus(unit))
    }

    /// A square as XBoard numbers it.
    pub fn square_text(&self, square: Square) -> String {
        let first = if self.topology().height() == NUMBERED_FROM_ZERO { 0 } else { 1 };
        format!("{}{}", char::from(b'a' + square.file()), square.row() + first)
    }

    /// The lines of `move` commands for a legal move: all but the last end in a comma.
    pub fn move_texts(&self, position: &Position, mv: Move) -> Vec<String> {
        let (from, to) = (self.square_text(mv.from()), self.square_text(mv.to()));
        match mv.kind() {
            MoveKind::Castling if mv.from().file().abs_diff(mv.to().file()) == 1 => match self.partner(position, mv) {
                Some(partner) => {
                    let partner = self.square_text(partner);
                    vec![format!("{from}{partner},"), format!("{partner}{to}")]
                }
                None => vec![format!("{from}{to}")],
            },
            MoveKind::Normal | MoveKind::EnPassant | MoveKind::Castling => vec![format!("{from}{to}")],
            MoveKind::Promotion(_) if self.plus(position.piece_at(mv.from()).unit()) => vec![format!("{from}{to}+")],
            MoveKind::Promotion(unit) => {
                vec![format!("{from}{to}{}", letters::small(self.variant.unit(unit).letter))]
            }
            MoveKind::Drop(unit) => vec![format!("{}@{to}", self.variant.unit(unit).letter)],
        }
    }

    /// The move in one word, for people: thinking output and hints.
    pub fn shown_move(&self, position: &Position, mv: Move) -> String {
        self.move_texts(position, mv).concat()
    }

    fn partner(&self, position: &Position, mv: Move) -> Option<Square> {
        let higher = mv.to().file() > mv.from().file();
        let side = position.side_to_move();
        let wing = self.variant.castling().iter().find(|wing| wing.colour == side && wing.higher == higher)?;
        Some(wing.partner)
    }

    /// The legal move that a text of XBoard's means: its own squares, and either way of writing short castlings.
    pub fn read_move(&self, position: &Position, text: &str) -> Option<Move> {
        let legal = self.sayable_moves(position);
        let spellings = |mv: &&Move| {
            let texts = self.move_texts(position, **mv);
            let short_castling = || {
                let partner = self.partner(position, **mv)?;
                let king = (self.square_text(mv.from()), self.square_text(mv.to()));
                // King first, then the rook over it: how XBoard passes the move on to the other engine.
                Some(format!("{}{},{}{}", king.0, king.1, self.square_text(partner), king.0))
            };
            texts.concat() == text || (texts.len() > 1 && short_castling().as_deref() == Some(text))
        };
        legal.iter().find(spellings).copied().or_else(|| self.unfinished_promotion(position, &legal, text))
    }

    /// A promotion without its letter is one to the unit named first. One without its `+` is refused: XBoard believes
    /// that the man has not changed.
    fn unfinished_promotion(&self, position: &Position, legal: &[Move], text: &str) -> Option<Move> {
        let promotions = legal.iter().filter(|mv| {
            matches!(mv.kind(), MoveKind::Promotion(_)) && !self.plus(position.piece_at(mv.from()).unit())
        });
        let mut same = promotions.filter(|mv| {
            let squares = format!("{}{}", self.square_text(mv.from()), self.square_text(mv.to()));
            squares == text
        });
        let first = same.next().copied()?;
        let unit = position.piece_at(first.from()).unit();
        let forced = self.variant.promotion(unit, position.side_to_move(), first.to()).is_some_and(|(_, must)| must);
        forced.then_some(first)
    }

    /// The legal moves that can be written: of promotions by `+` only the first choice.
    pub fn sayable_moves(&self, position: &Position) -> Vec<Move> {
        let mut moves: Vec<Move> = Vec::new();
        for mv in position.legal_moves() {
            let by_plus = matches!(mv.kind(), MoveKind::Promotion(_)) && self.plus(position.piece_at(mv.from()).unit());
            let said = |other: &Move| {
                matches!(other.kind(), MoveKind::Promotion(_)) && (other.from(), other.to()) == (mv.from(), mv.to())
            };
            if !(by_plus && moves.iter().any(said)) {
                moves.push(mv);
            }
        }
        moves
    }

    /// A position as XBoard writes it.
    ///
    /// Its castling field knows only rooks in the corners that it calls rooks, and its en-passant field one square of a
    /// double step. What it cannot know is taken from the board, as its own `edit` has it: a king and a partner at home
    /// may castle.
    pub fn read_fen(&self, fen: &str) -> Result<Position, FenError> {
        let Some(setup) = &self.setup else { return Position::from_fen(&self.variant, fen) };
        let mut fields: Vec<String> = fen.split_ascii_whitespace().map(Into::into).collect();
        if let Some(board) = fields.first_mut() {
            *board = self.without_plus(board).replace("[-]", "[]");
        }
        if fields.len() == 4 {
            fields.extend(["0".into(), "1".into()]);
        }
        let start = Position::start(&self.variant);
        let start_fen = start.fen();
        let mut of_start = start_fen.split(' ');
        let same_board = fields.first().map(String::as_str) == of_start.next();
        if same_board && fields.get(1).map(String::as_str) == of_start.next() {
            return Ok(start);
        }
        let mut texts = vec![self.with_castling(&fields, setup.tells_castling(), true)];
        texts.push(self.with_castling(&fields, setup.tells_castling(), false));
        let mut refused = None;
        for text in texts {
            match Position::from_fen(&self.variant, &text) {
                Ok(position) => return Ok(position),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Err(refused.unwrap_or(FenError::Fields(fields.len())))
    }

    fn with_castling(&self, fields: &[String], told: bool, en_passant: bool) -> String {
        let mut fields = fields.to_vec();
        if let [board, _, castling, passed, ..] = fields.as_mut_slice() {
            let possible = self.castling_at_home(board);
            let rights: String = possible.chars().filter(|&letter| !told || castling.contains(letter)).collect();
            *castling = if rights.is_empty() { "-".into() } else { rights };
            if !en_passant {
                *passed = "-".into();
            }
        }
        fields.join(" ")
    }

    /// Castlings whose king and partner stand at home on this board.
    fn castling_at_home(&self, board: &str) -> String {
        let at = |square: Square| man_at(board, square, self.topology().height());
        let letter = |unit: Unit, black: bool| {
            let letter = self.variant.unit(unit).letter;
            if black { letters::small(letter) } else { letter }
        };
        let mut wings: Vec<_> = self.variant.castling().iter().collect();
        wings.sort_by_key(|wing| wing.right);
        let home = wings.into_iter().filter(|wing| {
            let black = wing.colour == Colour::Black;
            at(wing.king) == Some(letter(self.variant.royal(), black))
                && at(wing.partner) == Some(letter(wing.partner_unit, black))
        });
        home.map(|wing| match (wing.colour, wing.higher) {
            (Colour::White, true) => 'K',
            (Colour::White, false) => 'Q',
            (Colour::Black, true) => 'k',
            (Colour::Black, false) => 'q',
        })
        .collect()
    }

    /// The board with the units that promoted men have become.
    fn without_plus(&self, board: &str) -> String {
        let mut text = String::new();
        let mut letters = board.chars();
        while let Some(letter) = letters.next() {
            match (letter == '+').then(|| letters.next()).flatten() {
                Some(pawn) => text.push(self.promoted(pawn).unwrap_or(pawn)),
                None => text.push(letter),
            }
        }
        text
    }

    /// The letter of what this man becomes by `+`.
    fn promoted(&self, letter: char) -> Option<char> {
        let (unit, colour) = self.variant.man_with_letter(letter)?;
        let rule = self.variant.rules().promotion.iter().find(|rule| rule.who.contains(&unit))?;
        let becomes = self.variant.unit(rule.to.first()?.unit).letter;
        Some(if colour == Colour::Black { letters::small(becomes) } else { becomes })
    }
}

/// The character of a man on a board in FEN; nothing if the square is empty or the text ends before it.
fn man_at(board: &str, square: Square, ranks: u8) -> Option<char> {
    let rank = board.split('[').next()?.split('/').nth(usize::from(ranks.checked_sub(square.row() + 1)?))?;
    let mut file = 0_u32;
    let mut number = 0_u32;
    for letter in rank.chars() {
        if let Some(digit) = letter.to_digit(10) {
            number = number.saturating_mul(10).saturating_add(digit);
            continue;
        }
        file = file.saturating_add(std::mem::take(&mut number));
        if file == u32::from(square.file()) {
            return Some(letter);
        }
        file += 1;
    }
    None
}
