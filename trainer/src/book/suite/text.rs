//! A suite as EPD: the form in which matches take it, with what was found out about every opening. Read again by [`super::check`].
//!
//! The first line is a remark with a header in JSON, which says by which rules, by whom and by which plan the suite was made; the second
//! says it to people. `docs/formats/openings.md` has the operations.

use super::exits::for_white;
use super::plan::SuitePlan;
use super::work::Opening;
use crate::plan::PlanError;
use fairyforge_engine::position::{FenError, Position};
use fairyforge_engine::variant::Variant;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the first line begins with.
pub const REMARK: &str = "# fairyforge suite ";
/// Version of the format.
pub const FORMAT: u32 = 1;

/// What a suite says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Version of the format.
    pub format: u32,
    /// Name of the variant.
    pub variant: String,
    /// The variant's rules.
    pub rules_hash: String,
    /// Digest of what judged positions.
    pub judge: String,
    /// Digest of the book.
    pub book: String,
    /// Version of the program that made it.
    pub program: String,
    /// The command that made it.
    pub command: String,
    /// The plan that it was made by.
    pub plan: SuitePlan,
}

/// An opening as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// Where, from 1.
    pub line: usize,
    /// The position with its counters.
    pub position: Position,
    /// Its family.
    pub family: String,
    /// Its number in the family.
    pub number: usize,
    /// What the second search said, for White.
    pub score: i16,
    /// Nodes of that search.
    pub nodes: u64,
    /// Plies from the root.
    pub plies: u16,
    /// Games that White won, drew and lost; `None` if none were played.
    pub results: Option<[usize; 3]>,
}

/// A suite as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// What it says of itself.
    pub header: Header,
    /// Its openings, in their order.
    pub openings: Vec<Read>,
}

/// Why text was refused.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// No first line of a suite.
    #[error("line 1: expected {REMARK:?} and a header, got {0}")]
    Header(String),
    /// A suite of another format.
    #[error("line 1: expected format {FORMAT}, got {0}")]
    Format(u32),
    /// The plan in the header is none.
    #[error("line 1, plan: {0}")]
    Plan(#[from] PlanError),
    /// A suite of other rules.
    #[error("line 1: expected the rules hash {expected} of {variant}, got {got}")]
    Rules {
        /// The variant at hand.
        variant: String,
        /// Its rules hash.
        expected: String,
        /// The header's.
        got: String,
    },
    /// A position that is none.
    #[error("line {line}: {source}")]
    Position {
        /// Where, from 1.
        line: usize,
        /// Why not.
        source: FenError,
    },
    /// An operation that is missing, or none.
    #[error("line {line}: expected {expected}, got {got}")]
    Operation {
        /// Where, from 1.
        line: usize,
        /// What should be there.
        expected: &'static str,
        /// What is.
        got: String,
    },
}

/// The line of an opening.
pub fn line(opening: &Opening) -> String {
    let fen = opening.position.fen();
    let fields: Vec<&str> = fen.split(' ').collect();
    let (clock, number) = (fields.get(4).unwrap_or(&"0"), fields.get(5).unwrap_or(&"1"));
    let position = fields[..fields.len().min(4)].join(" ");
    let examined = &opening.examined;
    let results = if examined.games.is_empty() {
        String::new()
    } else {
        let [won, drawn, lost] = examined.results();
        format!(" results {won} {drawn} {lost};")
    };
    format!(
        "{position} acn {}; ce {}; fmvn {number}; hmvc {clock}; id \"{}/{}\"; plies {};{results}",
        examined.nodes,
        examined.score,
        opening.family,
        opening.number,
        opening.way.len(),
    )
}

impl Header {
    /// What text says of itself, whatever the variant; the rest is not looked at.
    ///
    /// # Errors
    /// It does not begin like a suite.
    pub fn peek(text: &str) -> Result<Self, TextError> {
        /// The one key that every version has.
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let first = text.lines().next().unwrap_or_default();
        let shown = || format!("{:?}", first.chars().take(40).collect::<String>());
        let header = first.strip_prefix(REMARK).ok_or_else(|| TextError::Header(shown()))?;
        let refused = |error: serde_json::Error| TextError::Header(error.to_string());
        let Version { format } = serde_json::from_str(header).map_err(refused)?;
        if format != FORMAT {
            return Err(TextError::Format(format));
        }
        let header: Self = serde_json::from_str(header).map_err(refused)?;
        header.plan.check()?;
        Ok(header)
    }
}

impl Written {
    /// Reads a suite for a variant. Whether it keeps its promises is for [`super::check`] to see.
    ///
    /// # Errors
    /// The text is no suite of this format or of other rules, or a line is none.
    pub fn read(variant: &Arc<Variant>, text: &str) -> Result<Self, TextError> {
        let header = Header::peek(text)?;
        if header.rules_hash != variant.rules_hash() {
            let (variant, expected) = (variant.name().to_owned(), variant.rules_hash().to_owned());
            return Err(TextError::Rules { variant, expected, got: header.rules_hash });
        }
        let lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty() && !text.starts_with('#'));
        let openings = lines.map(|(line, text)| opening(variant, line, text)).collect::<Result<_, _>>()?;
        Ok(Self { header, openings })
    }
}

impl Read {
    /// The value for White of what a search says for the side to move.
    pub fn for_white(&self, score: i16) -> i16 {
        for_white(score, self.position.side_to_move())
    }
}

/// The operations of a line.
struct Operations<'a> {
    line: usize,
    all: Vec<(&'a str, &'a str)>,
}

impl<'a> Operations<'a> {
    fn read(line: usize, text: &'a str) -> Self {
        let all = text.split(';').map(str::trim).filter(|text| !text.is_empty());
        Self { line, all: all.map(|text| text.split_once(' ').unwrap_or((text, ""))).collect() }
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.all.iter().find(|(known, _)| *known == name).map(|(_, operands)| *operands)
    }

    fn number<T: std::str::FromStr>(&self, name: &str, expected: &'static str) -> Result<T, TextError> {
        let number = self.text(name).and_then(|text| text.parse().ok());
        number.ok_or_else(|| self.refused(expected, self.text(name)))
    }

    fn refused(&self, expected: &'static str, got: Option<&str>) -> TextError {
        TextError::Operation { line: self.line, expected, got: got.map_or("nothing".into(), |got| format!("{got:?}")) }
    }
}

fn opening(variant: &Arc<Variant>, line: usize, text: &str) -> Result<Read, TextError> {
    let mut fields = text.splitn(5, ' ');
    let position: Vec<&str> = fields.by_ref().take(4).collect();
    let operations = Operations::read(line, fields.next().unwrap_or_default());
    let clock: u16 = operations.number("hmvc", "hmvc and a half-move clock")?;
    let number: u32 = operations.number("fmvn", "fmvn and a move number")?;
    let fen = format!("{} {clock} {number}", position.join(" "));
    let position = Position::from_fen(variant, &fen).map_err(|source| TextError::Position { line, source })?;
    let (family, number) = name(&operations)?;
    Ok(Read {
        line,
        position,
        family,
        number,
        score: operations.number("ce", "ce and centipawns")?,
        nodes: operations.number("acn", "acn and nodes")?,
        plies: operations.number("plies", "plies and a number")?,
        results: results(&operations)?,
    })
}

fn name(operations: &Operations<'_>) -> Result<(String, usize), TextError> {
    let id = operations.text("id");
    let bare = id.and_then(|id| id.strip_prefix('"')?.strip_suffix('"'));
    let split =
        bare.and_then(|id| id.rsplit_once('/')).and_then(|(family, number)| Some((family, number.parse().ok()?)));
    let (family, number) = split.ok_or_else(|| operations.refused("id \"family/number\"", id))?;
    Ok((family.to_owned(), number))
}

fn results(operations: &Operations<'_>) -> Result<Option<[usize; 3]>, TextError> {
    let Some(text) = operations.text("results") else { return Ok(None) };
    let counts: Result<Vec<usize>, _> = text.split(' ').map(str::parse).collect();
    let counts = counts.ok().and_then(|counts| <[usize; 3]>::try_from(counts).ok());
    counts.map(Some).ok_or_else(|| operations.refused("games won, drawn and lost", Some(text)))
}
