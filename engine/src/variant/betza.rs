//! Betza notation to [`Pattern`]s: what a string of atoms and modifiers means before there is a board.
//!
//! A string is a list of terms: mostly some lower-case modifiers followed by a capital atom and perhaps a range. Legs
//! of a path are joined by `a` or stand in brackets. Only what has one meaning among the dialects in use is understood;
//! everything else is refused by name with its place in the string. `docs/formats/variant.md` lists both, with the
//! sources. Patterns are not merged here: the compiler of tables does that.
//!
//! `scan` is the cursor, `term` reads one term, `chain` and `bracket` its paths of several legs; `atom`, `modifiers`
//! and `directions` are their words, `refused` the words that are not ours.

mod atom;
mod bracket;
mod chain;
mod directions;
mod modifiers;
mod refused;
mod scan;
mod term;

use super::pattern::{Leg, Occupancy, Pattern, Turn};
use crate::geometry::SquareSet;
use scan::Scanner;

/// Longest string read, in bytes.
pub const MAX_LENGTH: usize = 256;

/// Why a Betza string was refused, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, got {got} at byte {at}{}", suggestion.as_ref().map(|text| format!(" ({text})")).unwrap_or_default())]
pub struct BetzaError {
    /// Byte offset in the string of what was refused.
    pub at: usize,
    /// The class of the fault.
    pub kind: BetzaErrorKind,
    /// What would have been understood there.
    pub expected: String,
    /// What stood there.
    pub got: String,
    /// What to write instead, where that is known.
    pub suggestion: Option<String>,
}

/// Classes of faults in a Betza string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BetzaErrorKind {
    /// Nothing was written.
    Empty,
    /// The string is longer than [`MAX_LENGTH`] or has a path of too many legs.
    TooLong,
    /// A character that means nothing here.
    Unexpected,
    /// Known notation that is not supported.
    Unsupported,
    /// Notation that is read differently by different programs.
    Ambiguous,
    /// A modifier that is known but does not fit its atom or leg.
    Misplaced,
    /// A range that is no number or too great.
    Range,
}

/// Reads a whole string, such as `fmWfcF` or `RpafWpafpafW`, without a board: `*` is refused.
///
/// # Errors
/// The first thing in the string that is not understood.
///
/// ```
/// use fairyforge_engine::variant::betza::parse;
/// assert_eq!(parse("WN")?.len(), 2);
/// assert_eq!(parse("oR").map_err(|error| error.at), Err(0));
/// # Ok::<(), fairyforge_engine::variant::betza::BetzaError>(())
/// ```
pub fn parse(text: &str) -> Result<Vec<Pattern>, BetzaError> {
    parse_on(text, None)
}

/// Reads a whole string for a board whose near half (White's) is known: `fmW*` slides up to its last row.
///
/// # Errors
/// The first thing in the string that is not understood.
pub fn parse_on(text: &str, near_half: Option<SquareSet>) -> Result<Vec<Pattern>, BetzaError> {
    let mut scanner = Scanner::new(text)?;
    let mut patterns = Vec::new();
    while scanner.peek().is_some() {
        patterns.extend(term::term(&mut scanner, near_half)?);
    }
    Ok(patterns)
}

/// Reads one leg of a path written as a list of atoms, such as `F` or, as the last one, `R2+` (two steps or more).
///
/// The leg comes back with [`Turn::Any`] and an empty joint; whoever joins legs sets the turn.
///
/// # Errors
/// Anything but one atom with a range, or a rider that is not `last`.
pub fn parse_leg(text: &str, last: bool) -> Result<Leg, BetzaError> {
    let mut scanner = Scanner::new(text)?;
    let atom = match scanner.peek() {
        Some(letter) if letter.is_ascii_uppercase() => atom::atom(&mut scanner)?,
        _ => {
            let got = scanner.got();
            return Err(scanner.error(BetzaErrorKind::Unexpected, "an atom without modifiers", got));
        }
    };
    let at_least = atom.numbered && !atom.slides() && scanner.skip('+');
    if scanner.peek().is_some() {
        let got = scanner.got();
        return Err(scanner.error(BetzaErrorKind::Unexpected, "the end of the leg", got).suggest("one atom a leg"));
    }
    let (min, max) = if at_least { (atom.max, Leg::UNLIMITED) } else { (1, atom.max) };
    if !last && max != 1 {
        let expected = "a single step, since another leg follows";
        return Err(BetzaError::new(atom.at, BetzaErrorKind::Misplaced, expected, quoted(text)));
    }
    let steps = term::all_steps(&atom);
    Ok(Leg { steps, turn: Turn::Any, min, max, through: Occupancy::Empty, joint: Occupancy::Empty })
}

impl BetzaError {
    fn new(at: usize, kind: BetzaErrorKind, expected: impl Into<String>, got: impl Into<String>) -> Self {
        Self { at, kind, expected: expected.into(), got: got.into(), suggestion: None }
    }

    fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }
}

fn quoted(text: &str) -> String {
    format!("`{text}`")
}

#[cfg(test)]
pub(super) mod tests;
