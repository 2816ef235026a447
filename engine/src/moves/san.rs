//! Moves as people write them: standard algebraic notation, with the letters, ranks and castlings of the game.
//!
//! [`Position::san`] writes one form of every move, [`Position::parse_san`] reads many. Coordinates alone are
//! [`super::notation`]'s, whole games [`crate::pgn`]'s. `docs/formats/pgn.md` lists what is read.

use super::{Move, MoveKind, Safety, Wanted};
use crate::geometry::{Square, SquareTextError, Topology};
use crate::position::{Position, Unobserved};
use crate::variant::rules::Unit;
use crate::variant::{CastlingWing, letters};

/// The letter whose unit is written without it, as the pawn of orthodox chess.
const UNWRITTEN: char = 'P';

/// Characters of a move's text that are read; no move is longer.
const MOST_CHARACTERS: usize = 40;

/// How castling towards the lower files begins, longest first: the other begins alike.
const LONG_CASTLING: [&str; 3] = ["O-O-O", "0-0-0", "o-o-o"];
/// How castling towards the higher files begins, or any castling that names where the king goes.
const SHORT_CASTLING: [&str; 3] = ["O-O", "0-0", "o-o"];

/// Why a move in algebraic notation was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SanError {
    /// The text is no move's.
    #[error("move {text:?}: expected {expected}, got {got:?}")]
    Malformed {
        /// The whole text.
        text: String,
        /// What would have been right.
        expected: &'static str,
        /// What was there.
        got: String,
    },
    /// A square of the text cannot be read.
    #[error("move {text:?}: {source}")]
    Square {
        /// The whole text.
        text: String,
        /// What is wrong with the square.
        source: SquareTextError,
    },
    /// A capital that is no unit's.
    #[error("move {text:?}: expected one of the letters {letters}, got {got:?}")]
    Letter {
        /// The whole text.
        text: String,
        /// The letters of the game's units.
        letters: String,
        /// The letter.
        got: char,
    },
    /// Well-formed, but no legal move reads so.
    #[error("move {text:?} is not legal in {fen}")]
    NoneFits {
        /// The text.
        text: String,
        /// The position.
        fen: String,
    },
    /// Several legal moves read so.
    #[error("move {text:?} may be any of {} in {fen}", moves.join(", "))]
    SeveralFit {
        /// The text.
        text: String,
        /// The moves in full.
        moves: Vec<String>,
        /// The position.
        fen: String,
    },
}

impl Position {
    /// The move in algebraic notation: `e4`, `Nbd7`, `exd6`, `a12=Q+`, `G@e0`, `O-O`, and `O-Oj1` in games that let the
    /// king choose how far it castles. The move must be one of this position's.
    ///
    /// ```
    /// use fairyforge_engine::position::Position;
    /// use fairyforge_engine::variant::Variant;
    /// let start = Position::start(&Variant::load("chess")?.into());
    /// let knight = start.parse_move("g1f3")?;
    /// assert_eq!(start.san(knight), "Nf3");
    /// assert_eq!(start.parse_san("Nf3")?, knight);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn san(&self, mv: Move) -> String {
        let mut text = match mv.kind() {
            MoveKind::Castling => self.castling_san(mv),
            MoveKind::Drop(unit) => format!("{}@{}", self.letter(unit), self.variant().topology().name(mv.to())),
            MoveKind::Normal | MoveKind::EnPassant | MoveKind::Promotion(_) => self.step_san(mv),
        };
        text.push_str(self.check_mark(mv));
        text
    }

    /// Reads a legal move in algebraic notation, also where it says more, less or otherwise than [`Position::san`] does:
    /// check marks, annotations and promotion's `=` may be there or not, squares may be more exact than need be.
    ///
    /// # Errors
    /// The text is malformed, no legal move reads so, or several do.
    pub fn parse_san(&self, text: &str) -> Result<Move, SanError> {
        match self.moves_written(text, self.variant().topology())?.as_slice() {
            &[mv] => Ok(mv),
            several => Err(SanError::SeveralFit {
                text: shorten(text),
                moves: several.iter().map(|&mv| self.san(mv)).collect(),
                fen: self.fen(),
            }),
        }
    }

    /// All legal moves that the text may mean, at least one, when squares are called as on `board`: the variant's own, or
    /// one that differs in the number of the first rank.
    pub(crate) fn moves_written(&self, text: &str, board: &Topology) -> Result<Vec<Move>, SanError> {
        let written = Text { text, position: self, board }.read()?;
        let fitting = match &written {
            Written::Castling { higher, king_to } => self.castlings_written(*higher, *king_to),
            Written::Drop { unit, to } => self.legal(|mv| mv.to() == *to && mv.kind() == MoveKind::Drop(*unit)),
            Written::Step(step) => self.steps_written(step),
        };
        if fitting.is_empty() {
            return Err(SanError::NoneFits { text: shorten(text), fen: self.fen() });
        }
        Ok(fitting)
    }

    fn legal(&self, fits: impl Fn(Move) -> bool) -> Vec<Move> {
        let mut fitting = Vec::new();
        self.generate(&Safety::of(self), Wanted::All, |mv| {
            if fits(mv) {
                fitting.push(mv);
            }
        });
        fitting
    }

    fn letter(&self, unit: Unit) -> char {
        self.variant().unit(unit).letter
    }

    fn takes(&self, mv: Move) -> bool {
        mv.kind() == MoveKind::EnPassant || !self.piece_at(mv.to()).is_none()
    }

    fn step_san(&self, mv: Move) -> String {
        let (topology, unit) = (self.variant().topology(), self.piece_at(mv.from()).unit());
        let unwritten = self.letter(unit) == UNWRITTEN;
        let takes = self.takes(mv);
        let mut text = if unwritten { String::new() } else { self.letter(unit).to_string() };
        text.push_str(&self.origin_hint(mv, unwritten && takes, unwritten));
        if takes {
            text.push('x');
        }
        text.push_str(&topology.name(mv.to()));
        if let MoveKind::Promotion(becomes) = mv.kind() {
            text.push('=');
            text.push(self.letter(becomes));
        }
        text
    }

    /// As much of the origin as tells the move from those of other units of its type: nothing, file, rank or both. A unit
    /// without a letter never gets a rank alone, which would read like a move number.
    fn origin_hint(&self, mv: Move, always_file: bool, never_rank: bool) -> String {
        let unit = self.piece_at(mv.from()).unit();
        let becomes = |mv: Move| if let MoveKind::Promotion(unit) = mv.kind() { Some(unit) } else { None };
        let rivals = self.legal(|rival| {
            let steps = !matches!(rival.kind(), MoveKind::Castling | MoveKind::Drop(_));
            steps
                && rival.to() == mv.to()
                && rival.from() != mv.from()
                && becomes(rival) == becomes(mv)
                && self.piece_at(rival.from()).unit() == unit
        });
        let name = self.variant().topology().name(mv.from());
        let (file, rank) = name.split_at(1);
        let alone_on_file = rivals.iter().all(|rival| rival.from().file() != mv.from().file());
        let alone_on_rank = rivals.iter().all(|rival| rival.from().row() != mv.from().row());
        match (rivals.is_empty(), alone_on_file, alone_on_rank && !never_rank) {
            (true, ..) if !always_file => String::new(),
            (_, true, _) => file.into(),
            (_, false, true) => rank.into(),
            (_, false, false) => name,
        }
    }

    fn castling_san(&self, mv: Move) -> String {
        let flexible = self.variant().castling().iter().any(|wing| wing.destinations.len() > 1);
        match self.wing_of(mv) {
            _ if flexible => format!("O-O{}", self.variant().topology().name(mv.to())),
            Some(wing) if !wing.higher => "O-O-O".into(),
            _ => "O-O".into(),
        }
    }

    fn wing_of(&self, castling: Move) -> Option<&CastlingWing> {
        let lands = |wing: &CastlingWing| wing.destinations.iter().any(|to| to.king_to == castling.to());
        self.variant().castling().iter().find(|wing| wing.colour == self.side_to_move() && lands(wing))
    }

    fn check_mark(&self, mv: Move) -> &'static str {
        let mut after = self.clone();
        after.make(mv, &mut Unobserved);
        if !after.in_check() {
            return "";
        }
        // Where a bared king has ended the game there are no moves either, and nobody is mated.
        let mated = after.bared_king_outcome().is_none() && !after.has_legal_move();
        if mated { "#" } else { "+" }
    }

    fn castlings_written(&self, higher: Option<bool>, king_to: Option<Square>) -> Vec<Move> {
        self.legal(|mv| {
            mv.kind() == MoveKind::Castling
                && king_to.is_none_or(|to| mv.to() == to)
                && higher.is_none_or(|higher| self.wing_of(mv).is_some_and(|wing| wing.higher == higher))
        })
    }

    /// The legal moves that a step may mean. A plain king move goes before a castling to the same square, a plain pawn
    /// move before a promotion; `x` decides only where nothing else does.
    fn steps_written(&self, step: &Step) -> Vec<Move> {
        let mut fitting = self.legal(|mv| mv.to() == step.to && step.fits(self, mv));
        prefer(&mut fitting, |mv| mv.kind() != MoveKind::Castling);
        prefer(&mut fitting, |mv| !matches!(mv.kind(), MoveKind::Promotion(_)));
        prefer(&mut fitting, |mv| self.takes(mv) == step.takes);
        if fitting.is_empty() && step.mark.is_none() {
            // The king takes its own partner: how several programs write castling.
            let partner = |mv| self.wing_of(mv).is_some_and(|wing| wing.partner == step.to);
            let king = |mv: Move| mv.kind() == MoveKind::Castling && step.comes_from(self, mv.from());
            fitting = self.legal(|mv| king(mv) && partner(mv));
        }
        fitting
    }
}

/// Keeps only what is preferred, if anything is.
fn prefer(moves: &mut Vec<Move>, preferred: impl Fn(Move) -> bool) {
    if moves.iter().any(|&mv| preferred(mv)) {
        moves.retain(|&mv| preferred(mv));
    }
}

/// What a text says.
enum Written {
    Castling { higher: Option<bool>, king_to: Option<Square> },
    Drop { unit: Unit, to: Square },
    Step(Step),
}

/// A man goes to a square.
struct Step {
    /// Which type; any if both coordinates of the origin are given without a letter.
    unit: Option<Unit>,
    file: Option<u8>,
    row: Option<u8>,
    takes: bool,
    to: Square,
    /// The letter behind the square: what a pawn becomes, or the `o` of a castling in coordinates.
    mark: Option<char>,
}

impl Step {
    fn fits(&self, position: &Position, mv: Move) -> bool {
        let marked = match mv.kind() {
            MoveKind::Drop(_) => false,
            MoveKind::Castling => self.mark.is_none_or(|mark| mark == 'o'),
            MoveKind::Normal | MoveKind::EnPassant => self.mark.is_none(),
            MoveKind::Promotion(unit) => self
                .mark
                .is_none_or(|mark| letters::read(mark).map(|(letter, _)| letter) == Some(position.letter(unit))),
        };
        marked && self.comes_from(position, mv.from())
    }

    fn comes_from(&self, position: &Position, from: Square) -> bool {
        self.unit.is_none_or(|unit| position.piece_at(from).unit() == unit)
            && self.file.is_none_or(|file| from.file() == file)
            && self.row.is_none_or(|row| from.row() == row)
    }
}

/// A text to be read in a position.
struct Text<'a> {
    text: &'a str,
    position: &'a Position,
    board: &'a Topology,
}

impl Text<'_> {
    fn read(&self) -> Result<Written, SanError> {
        if self.text.chars().nth(MOST_CHARACTERS).is_some() {
            return Err(self.malformed("a move", self.text));
        }
        let body = without_annotations(self.text);
        let begins = |forms: [&str; 3]| forms.iter().find_map(|form| body.strip_prefix(form));
        if let Some(rest) = begins(LONG_CASTLING) {
            return self.castling(Some(false), rest);
        }
        if let Some(rest) = begins(SHORT_CASTLING) {
            return self.castling(None, rest);
        }
        match body.split_once('@') {
            Some((unit, square)) => Ok(Written::Drop { unit: self.dropped(unit)?, to: self.square(square)? }),
            None => self.step(body).map(Written::Step),
        }
    }

    /// `O-O` alone is towards the higher files; where it names the king's target it is either. XBoard writes `O-O-h1`.
    fn castling(&self, higher: Option<bool>, target: &str) -> Result<Written, SanError> {
        if target.is_empty() {
            return Ok(Written::Castling { higher: higher.or(Some(true)), king_to: None });
        }
        let target = target.strip_prefix('-').unwrap_or(target);
        Ok(Written::Castling { higher, king_to: Some(self.square(target)?) })
    }

    /// `@` alone drops the unit that needs no letter.
    fn dropped(&self, unit: &str) -> Result<Unit, SanError> {
        let mut letters = unit.chars();
        match (letters.next(), letters.next()) {
            (None, _) => self.unit(UNWRITTEN),
            (Some(letter), None) => self.unit(letter),
            _ => Err(self.malformed("one letter before '@'", unit)),
        }
    }

    fn step(&self, body: &str) -> Result<Step, SanError> {
        let (letter, rest) = match body.chars().next().filter(|first| first.is_uppercase()) {
            Some(letter) => (Some(letter), &body[letter.len_utf8()..]),
            None => (None, body),
        };
        let (rest, mark) = self.mark(rest)?;
        // The target is the last square; ranks are digits, so its file is the last letter.
        let target = rest.rfind(|c: char| c.is_ascii_lowercase());
        let target = target.ok_or_else(|| self.malformed("a square", rest))?;
        let (origin, target) = rest.split_at(target);
        let (origin, takes) = match origin.strip_suffix(['x', ':']) {
            Some(origin) => (origin, true),
            None => (origin.strip_suffix('-').unwrap_or(origin), false),
        };
        let (file, row) = self.origin(origin)?;
        let unit = match letter {
            None if file.is_some() && row.is_some() => None,
            letter => Some(self.unit(letter.unwrap_or(UNWRITTEN))?),
        };
        Ok(Step { unit, file, row, takes, to: self.square(target)?, mark })
    }

    /// Cuts off what stands behind the target square: `=Q`, `Q`, `q`, `(Q)`, `/Q`, or `=` where promotion is declined.
    fn mark<'t>(&self, body: &'t str) -> Result<(&'t str, Option<char>), SanError> {
        let body = body.strip_suffix(['=', ')']).unwrap_or(body);
        let Some(letter) = body.chars().next_back().filter(|last| last.is_alphabetic()) else {
            return Ok((body, None));
        };
        let rest = &body[..body.len() - letter.len_utf8()];
        let square = rest.strip_suffix(['=', '/', '(']).unwrap_or(rest);
        if !square.ends_with(|last: char| last.is_ascii_digit()) {
            return Ok((body, None));
        }
        if letter != 'o' {
            self.unit(letter)?;
        }
        Ok((square, Some(letter)))
    }

    /// Nothing, a file, a rank, or both.
    fn origin(&self, text: &str) -> Result<(Option<u8>, Option<u8>), SanError> {
        let fault = || self.malformed("a file, a rank or a square before the target", text);
        let file = text.bytes().next().filter(u8::is_ascii_lowercase);
        let digits = if file.is_some() { &text[1..] } else { text };
        let file = file.map(|letter| letter - b'a');
        let row = match digits {
            "" => None,
            digits if digits.len() > 2 || !digits.bytes().all(|digit| digit.is_ascii_digit()) => return Err(fault()),
            digits => {
                let rank: Option<u8> = digits.parse().ok();
                Some(rank.and_then(|rank| rank.checked_sub(self.board.first_rank())).ok_or_else(fault)?)
            }
        };
        Ok((file, row))
    }

    fn unit(&self, letter: char) -> Result<Unit, SanError> {
        let variant = self.position.variant();
        variant.man_with_letter(letter).map(|(unit, _)| unit).ok_or_else(|| SanError::Letter {
            text: shorten(self.text),
            letters: variant.units().map(|unit| variant.unit(unit).letter).collect(),
            got: letter,
        })
    }

    fn square(&self, text: &str) -> Result<Square, SanError> {
        self.board.parse(text).map_err(|source| SanError::Square { text: shorten(self.text), source })
    }

    fn malformed(&self, expected: &'static str, got: &str) -> SanError {
        SanError::Malformed { text: shorten(self.text), expected, got: shorten(got) }
    }
}

/// The text without check marks, praise, blame and the words for en passant.
fn without_annotations(text: &str) -> &str {
    let marks = ['+', '#', '!', '?', ' '];
    let bare = text.trim_end_matches(marks);
    let shorter = bare.strip_suffix("e.p.").or_else(|| bare.strip_suffix("ep"));
    let shorter = shorter.map(|shorter| shorter.trim_end_matches(marks));
    shorter.filter(|shorter| shorter.ends_with(|c: char| c.is_ascii_digit())).unwrap_or(bare)
}

fn shorten(text: &str) -> String {
    text.chars().take(MOST_CHARACTERS).collect()
}
