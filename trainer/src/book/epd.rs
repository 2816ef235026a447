//! Books as text: EPD, a line a position, with everything that the book knows of its moves. What is written reads back as the same
//! bytes.
//!
//! The operations `m1`, `m2` … are the moves in their order: the move in coordinates, weight, value, value by the search alone, games
//! won, drawn and lost, nodes; `-` is not known. `bm` and `ce` say the best move and its value once more, for other programs.
//! The first line is a remark with the file's header.

use super::walk::Walk;
use fairyforge_engine::book::{Book, BookError, BookKey, BookMove, Header, Oriented};
use fairyforge_engine::moves::Move;
use fairyforge_engine::position::{FenError, Position};
use fairyforge_engine::variant::Variant;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

/// What the first line begins with.
const REMARK: &str = "# fairyforge book ";

/// Why text was refused.
#[derive(Debug, thiserror::Error)]
pub enum EpdError {
    /// No first line of a book.
    #[error("line 1: expected {REMARK:?} and a header, got {0}")]
    Header(String),
    /// A position that is none.
    #[error("line {line}: {source}")]
    Position {
        /// Where, from 1.
        line: usize,
        /// Why not.
        source: FenError,
    },
    /// An operation that is none.
    #[error("line {line}: expected {expected}, got {got:?}")]
    Operation {
        /// Where, from 1.
        line: usize,
        /// What should be there.
        expected: &'static str,
        /// What is.
        got: String,
    },
    /// What was read is no book.
    #[error(transparent)]
    Book(#[from] BookError),
}

/// Writes the positions that a walk reached, in its order.
///
/// # Errors
/// `out` refuses.
pub fn write(book: &Book, walk: &Walk, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{REMARK}{}", serde_json::to_string(book.header())?)?;
    (0..walk.len()).try_for_each(|index| {
        let position = walk.position(index);
        writeln!(out, "{}", line(&position, &book.moves(&position)))
    })
}

fn line(position: &Position, moves: &[BookMove]) -> String {
    let fen = position.fen();
    let mut text = fen.split(' ').take(4).collect::<Vec<_>>().join(" ");
    if let Some((value, best)) =
        moves.iter().rev().filter_map(|entry| Some((entry.value?, entry))).max_by_key(|(value, _)| *value)
        && position.legal_moves().contains(&best.mv)
    {
        let _ = write!(text, " bm {}; ce {value};", position.san(best.mv));
    }
    for (number, entry) in (1..).zip(moves) {
        let value = |value: Option<i16>| value.map_or_else(|| "-".into(), |value| value.to_string());
        let [wins, draws, losses] = entry.results;
        let (mv, weight, nodes) = (position.move_text(entry.mv), entry.weight, entry.nodes);
        let (known, searched) = (value(entry.value), value(entry.searched));
        let _ = write!(text, " m{number} {mv} {weight} {known} {searched} {wins} {draws} {losses} {nodes};");
    }
    text
}

/// What text that [`write()`] wrote says of the book.
///
/// # Errors
/// The first line says nothing.
pub fn header(text: &str) -> Result<Header, EpdError> {
    let first = text.lines().next().unwrap_or_default();
    let header = first.strip_prefix(REMARK).ok_or_else(|| EpdError::Header(format!("{first:.40?}")))?;
    serde_json::from_str(header).map_err(|error| EpdError::Header(error.to_string()))
}

/// Reads what [`write()`] wrote.
///
/// # Errors
/// The text is nothing of the kind, or not of this variant.
pub fn read(variant: &Arc<Variant>, text: &str) -> Result<Book, EpdError> {
    let header = header(text)?;
    let roots = header.roots.iter().map(|fen| Position::from_fen(variant, fen));
    let roots = roots.collect::<Result<Vec<_>, _>>().map_err(|source| EpdError::Position { line: 1, source })?;
    let lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty() && !text.starts_with('#'));
    let positions = lines.map(|(number, text)| entry(variant, number, text)).collect::<Result<Vec<_>, _>>()?;
    Ok(Book::new(&roots, header.manifest, positions)?)
}

fn entry(variant: &Arc<Variant>, line: usize, text: &str) -> Result<(BookKey, Vec<BookMove>), EpdError> {
    let refused = |expected, got: &str| EpdError::Operation { line, expected, got: got.chars().take(60).collect() };
    let mut fields = text.splitn(5, ' ');
    let fen: Vec<&str> = fields.by_ref().take(4).collect();
    let fen = format!("{} 0 1", fen.join(" "));
    let position = Position::from_fen(variant, &fen).map_err(|source| EpdError::Position { line, source })?;
    let operations = fields.next().unwrap_or_default().split(';').map(str::trim).filter(|text| !text.is_empty());
    let is_move =
        |text: &&str| text.strip_prefix('m').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let oriented = Oriented::of(&position);
    let moves = operations.filter(is_move).map(|operation| {
        let entry = read_move(&position, operation).ok_or_else(|| refused("a move with seven numbers", operation))?;
        Ok(BookMove { mv: oriented.held(entry.mv), ..entry })
    });
    Ok((oriented.key(), moves.collect::<Result<_, EpdError>>()?))
}

fn read_move(position: &Position, operation: &str) -> Option<BookMove> {
    let (_, told) = operation.split_once(' ')?;
    let (mv, said) = told.split_once(' ')?;
    numbers(position.parse_move(mv).ok()?, said)
}

/// A move with the seven numbers that text has behind it.
pub(super) fn numbers(mv: Move, said: &str) -> Option<BookMove> {
    let words: Vec<&str> = said.split_whitespace().collect();
    let &[weight, value, searched, wins, draws, losses, nodes] = words.as_slice() else { return None };
    let known = |text: &str| if text == "-" { Some(None) } else { text.parse().ok().map(Some) };
    Some(BookMove {
        mv,
        weight: weight.parse().ok()?,
        value: known(value)?,
        searched: known(searched)?,
        results: [wins.parse().ok()?, draws.parse().ok()?, losses.parse().ok()?],
        nodes: nodes.parse().ok()?,
    })
}
