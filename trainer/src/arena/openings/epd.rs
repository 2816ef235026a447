//! Openings from positions: EPD and FEN, a line each.
//!
//! A line is a position in four fields, perhaps its two counters, perhaps operations (`id "name";`). Of these `id`, `hmvc`
//! and `fmvn` are understood; others are passed over. Empty lines and those that begin with `#` are passed over too.

use super::MatchOpening;
use super::error::{OpeningFault, OpeningFaultKind};
use super::file::Gathered;
use super::lines::{LONGEST, Lines};
use fairyforge_engine::outcome::Reason;
use fairyforge_engine::position::{FenError, Position};
use fairyforge_engine::variant::Variant;
use std::io::{self, BufRead};
use std::sync::Arc;

/// Half-move clock and move number of a position that tells none.
const COUNTERS: [&str; 2] = ["0", "1"];
/// What they are called as operations.
const COUNTER_OPERATIONS: [&str; 2] = ["hmvc", "fmvn"];
/// Characters of something wrong that are shown.
const SHOWN: usize = 32;

/// A fault and its column.
type Misread = (u64, OpeningFaultKind);

/// Reads all lines; each is an opening. Whoever cannot read on is the error.
pub(super) fn read(text: impl BufRead, variant: &Arc<Variant>, gathered: &mut Gathered) -> io::Result<()> {
    let mut lines = Lines::new(text);
    while let Some(line) = lines.next()? {
        let number = line.number;
        let taken = match line.text.as_deref() {
            None => Err((1, OpeningFaultKind::TooLong(LONGEST))),
            Some(text) if is_nothing(text) => Ok(()),
            Some(text) => opening(text, number, variant)
                .and_then(|(column, opening)| gathered.add(&opening).map_err(|kind| (column, kind))),
        };
        if let Err((column, kind)) = taken {
            gathered.refuse(OpeningFault { line: number, column, game: None, kind });
        }
    }
    Ok(())
}

fn is_nothing(text: &str) -> bool {
    let text = text.trim_ascii();
    text.is_empty() || text.starts_with('#')
}

/// The opening of a line, and the column in which it begins.
fn opening(text: &str, line: u64, variant: &Arc<Variant>) -> Result<(u64, MatchOpening), Misread> {
    let Record { fields, name } = Record::read(text)?;
    let fen = fields.each_ref().map(|field| field.text).join(" ");
    let position = Position::from_fen(variant, &fen)
        .map_err(|error| (Place { fields: &fields, variant }.column(&error), error.into()))?;
    if let Some(outcome) = position.outcome(1) {
        let at = if outcome.reason == Reason::MoveCount { &fields[4] } else { &fields[0] };
        return Err((at.column, OpeningFaultKind::Over { reason: outcome.reason, plies: 0 }));
    }
    let opening = MatchOpening { start: position.clone(), position, plies: 0, name, line: Some(line) };
    Ok((fields[0].column, opening))
}

/// A part of a line.
#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    /// Where it begins, in characters from 1.
    column: u64,
}

impl Word<'_> {
    fn is_number(&self) -> bool {
        !self.text.is_empty() && self.text.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// What a line says.
struct Record<'a> {
    /// The six fields of the FEN.
    fields: [Word<'a>; 6],
    name: Option<String>,
}

impl<'a> Record<'a> {
    fn read(text: &'a str) -> Result<Self, Misread> {
        let mut cursor = Cursor { rest: text, column: 1 };
        let position = position(&mut cursor)?;
        let mut counters = counters(&mut cursor)?;
        let mut id = None;
        while let Some((operation, operands)) = cursor.operation()? {
            if operation.text == "id" {
                id = id.or(Some(joined(&operands)));
            }
            for (index, counter) in COUNTER_OPERATIONS.into_iter().enumerate() {
                if operation.text == counter {
                    set_counter(&mut counters[index], counter, number(counter, &operands, &cursor)?)?;
                }
            }
        }
        let [board, side, castling, en_passant] = position;
        let told = |index: usize| counters[index].unwrap_or(Word { text: COUNTERS[index], column: board.column });
        let fields = [board, side, castling, en_passant, told(0), told(1)];
        Ok(Self { fields, name: id.filter(|id| !id.is_empty()) })
    }
}

/// Board, side to move, castling rights, en passant.
fn position<'a>(cursor: &mut Cursor<'a>) -> Result<[Word<'a>; 4], Misread> {
    let mut fields = [Word { text: "", column: 1 }; 4];
    for (got, field) in fields.iter_mut().enumerate() {
        *field = cursor.word();
        if field.text.is_empty() {
            return Err((field.column, OpeningFaultKind::Fields(got)));
        }
    }
    Ok(fields)
}

/// The two counters behind the four fields of a position, as in a FEN, if they are there: both or none.
fn counters<'a>(cursor: &mut Cursor<'a>) -> Result<[Option<Word<'a>>; 2], Misread> {
    let before = *cursor;
    let clock = cursor.word();
    if !clock.is_number() {
        *cursor = before;
        return Ok([None; 2]);
    }
    let number = cursor.word();
    if !number.is_number() {
        return Err(unlike(&number, "a move number behind the half-move clock"));
    }
    Ok([Some(clock), Some(number)])
}

/// The operand of an operation that tells a counter.
fn number<'a>(name: &'static str, operands: &[Word<'a>], cursor: &Cursor) -> Result<Word<'a>, Misread> {
    let expected = if name == COUNTER_OPERATIONS[0] { "one number behind hmvc" } else { "one number behind fmvn" };
    let nothing = Word { text: "", column: cursor.column };
    match operands {
        [operand] if operand.is_number() => Ok(*operand),
        [_, surplus, ..] => Err(unlike(surplus, expected)),
        others => Err(unlike(others.first().unwrap_or(&nothing), expected)),
    }
}

fn set_counter<'a>(known: &mut Option<Word<'a>>, counter: &'static str, told: Word<'a>) -> Result<(), Misread> {
    match known.replace(told) {
        Some(before) if before.text != told.text => {
            let (before, got) = (shown(before.text), shown(told.text));
            Err((told.column, OpeningFaultKind::Counter { counter, before, got }))
        }
        _ => Ok(()),
    }
}

fn joined(operands: &[Word]) -> String {
    operands.iter().map(|operand| operand.text).collect::<Vec<_>>().join(" ").trim().to_owned()
}

fn unlike(got: &Word, expected: &'static str) -> Misread {
    let got_text = if got.text.is_empty() { "nothing".into() } else { format!("{:?}", shown(got.text)) };
    (got.column, OpeningFaultKind::Operation { expected, got: got_text })
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

/// What is left of a line.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    rest: &'a str,
    column: u64,
}

impl<'a> Cursor<'a> {
    /// Takes as much as fits, perhaps nothing.
    fn take_while(&mut self, mut fits: impl FnMut(char) -> bool) -> Word<'a> {
        let end = self.rest.find(|sign| !fits(sign)).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        let word = Word { text, column: self.column };
        self.column += text.chars().count() as u64;
        self.rest = rest;
        word
    }

    fn next_is(&mut self, sign: char) -> bool {
        self.take_while(|blank| blank.is_ascii_whitespace());
        self.rest.starts_with(sign)
    }

    fn skip(&mut self) {
        let mut signs = self.rest.chars();
        if signs.next().is_some() {
            self.rest = signs.as_str();
            self.column += 1;
        }
    }

    /// The next word behind blanks; empty before a semicolon and at the end.
    fn word(&mut self) -> Word<'a> {
        self.take_while(|blank| blank.is_ascii_whitespace());
        self.take_while(|sign| !sign.is_ascii_whitespace() && sign != ';')
    }

    /// The next operation with its operands, up to its semicolon; the last one of a line may be without. `None` at the end.
    fn operation(&mut self) -> Result<Option<(Word<'a>, Vec<Word<'a>>)>, Misread> {
        while self.next_is(';') {
            self.skip();
        }
        if self.rest.is_empty() {
            return Ok(None);
        }
        let name = self.word();
        if !name.text.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return Err(unlike(&name, "the end of the line or an operation, as id \"name\";"));
        }
        let mut operands = Vec::new();
        while !self.next_is(';') && !self.rest.is_empty() {
            operands.push(if self.rest.starts_with('"') { self.quoted()? } else { self.word() });
        }
        Ok(Some((name, operands)))
    }

    /// What stands between quotes.
    fn quoted(&mut self) -> Result<Word<'a>, Misread> {
        let opened = self.column;
        self.skip();
        let text = self.take_while(|sign| sign != '"');
        if self.rest.is_empty() {
            let got = "the end of the line".into();
            return Err((opened, OpeningFaultKind::Operation { expected: "a quote that closes this one", got }));
        }
        self.skip();
        Ok(text)
    }
}

/// Where in a FEN its fault is, in characters from 1.
pub(crate) fn fen_column(fen: &str, variant: &Variant, error: &FenError) -> u64 {
    let mut cursor = Cursor { rest: fen, column: 1 };
    let fields = std::array::from_fn(|_| cursor.word());
    Place { fields: &fields, variant }.column(error)
}

/// Finds where in a line the fault of a position is.
struct Place<'a> {
    fields: &'a [Word<'a>; 6],
    variant: &'a Variant,
}

impl Place<'_> {
    fn column(&self, error: &FenError) -> u64 {
        let [board, side, castling, en_passant, clock, number] = self.fields;
        match error {
            FenError::Fields(_) | FenError::Ranks { .. } | FenError::Kings { .. } => board.column,
            FenError::Width { rank, .. } => self.rank(*rank).column,
            FenError::Letter { rank, got, .. } => self.in_rank(*rank, |text| text.find(*got)),
            FenError::Number { rank, got } => self.in_rank(*rank, |text| number_at(text, got)),
            FenError::Hole { square, .. } | FenError::Unpromoted { square, .. } => self.rank_of(square).column,
            FenError::Side(_) | FenError::KingCapturable { .. } => side.column,
            FenError::Holdings(_) => self.holdings(),
            FenError::Castling { .. } => castling.column,
            FenError::EnPassant { .. } => en_passant.column,
            FenError::Counter { field: "move number", .. } => number.column,
            FenError::Counter { .. } => clock.column,
        }
    }

    /// The text of the rank with this number; the whole board if it has none such.
    fn rank(&self, rank: u16) -> Word<'_> {
        let (topology, board) = (self.variant.topology(), &self.fields[0]);
        let highest = u16::from(topology.first_rank()) + u16::from(topology.height()) - 1;
        let men = board.text.split('[').next().unwrap_or_default();
        let from_top = usize::from(highest.saturating_sub(rank));
        let before: usize = men.split('/').take(from_top).map(|text| text.chars().count() + 1).sum();
        let text = men.split('/').nth(from_top);
        text.map_or(*board, |text| Word { text, column: board.column + before as u64 })
    }

    fn rank_of(&self, square: &str) -> Word<'_> {
        let topology = self.variant.topology();
        let square = topology.parse(square);
        square.map_or(self.fields[0], |square| self.rank(u16::from(square.row()) + u16::from(topology.first_rank())))
    }

    /// The column of what is found at some byte of a rank.
    fn in_rank(&self, rank: u16, find: impl Fn(&str) -> Option<usize>) -> u64 {
        let Word { text, column } = self.rank(rank);
        column + find(text).map_or(0, |at| text[..at].chars().count() as u64)
    }

    fn holdings(&self) -> u64 {
        let Word { text, column } = self.fields[0];
        column + text.chars().take_while(|&sign| sign != '[').count() as u64
    }
}

/// Where exactly this number stands, not as a part of another.
fn number_at(text: &str, number: &str) -> Option<usize> {
    let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let mut found = text.match_indices(number).map(|(at, _)| at);
    found.find(|&at| !is_digit(at + number.len()) && (at == 0 || !is_digit(at - 1)))
}
