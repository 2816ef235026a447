//! Books on disk: `docs/formats/book.md`. A file is read into memory as a whole, and checked as a whole.

use super::moves::MOVE_BYTES;
use super::{Book, BookError, BookKey, BookMove};
use crate::position::Position;
use crate::variant::Variant;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// What files of books are called after their stem.
pub const EXTENSION: &str = "book";
/// The first bytes of a file.
const MAGIC: &[u8; 8] = b"FFBOOK\r\n";
/// Version of the format.
pub(super) const FORMAT: u32 = 1;
/// Longest header that is read, in bytes.
pub(super) const MOST_HEADER: usize = 1 << 20;
/// Longest file that is read, in bytes: some millions of positions.
const MOST_FILE_BYTES: u64 = 1 << 31;
/// Bytes of a checksum.
const CHECKSUM: usize = 32;
/// Bytes of a position: its key, and the number of all moves up to its last.
const POSITION_BYTES: usize = 12;

/// What a file says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Version of the format.
    pub format: u32,
    /// Name of the variant, for readers.
    pub variant: String,
    /// The variant's rules.
    pub rules_hash: String,
    /// The positions from which the others are reached, in FEN.
    pub roots: Vec<String>,
    /// Number of positions.
    pub positions: u32,
    /// Number of moves of all positions.
    pub moves: u32,
    /// Where the content comes from.
    pub manifest: Manifest,
}

/// Where a book comes from: what is needed to make it again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// How it was made, in words.
    pub method: String,
    /// Version of the program that made it.
    pub program: String,
    /// The plan that it was made by, as text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub plan: String,
    /// Digest of what judged positions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub judge: String,
    /// The seed of everything random, if anything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// What each search of a position might spend, if positions were searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<SearchLimits>,
    /// Positions searched.
    #[serde(default)]
    pub searches: u64,
    /// Nodes of all searches.
    #[serde(default)]
    pub nodes: u64,
    /// Games whose results were counted.
    #[serde(default)]
    pub games: u64,
    /// Which games these were, if any were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<Counted>,
}

/// What was counted of which games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    /// Digest of the games.
    pub digest: String,
    /// Plies of each game that were looked at.
    pub plies: u16,
    /// Where the games may begin.
    pub starts: Starts,
}

/// Where games may begin that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Starts {
    /// In the game's array.
    Array,
    /// Anywhere.
    All,
}

/// What a search of one position might spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchLimits {
    /// Nodes.
    pub nodes: u64,
    /// Size of the table, empty at first, in mebibytes.
    pub table_mebibytes: usize,
}

/// The one key that every version has.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// Where things are in the bytes of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Number of positions.
    pub positions: usize,
    /// Where the first begins.
    first_position: usize,
    /// Where the first move begins.
    first_move: usize,
}

impl Layout {
    /// The key of the position with this index, which must be there.
    pub fn key(&self, bytes: &[u8], index: usize) -> BookKey {
        let at = self.first_position + index * POSITION_BYTES;
        BookKey::from_number(little_endian(&bytes[at..at + 8]))
    }

    /// The index of the position with this key.
    pub fn find(&self, bytes: &[u8], key: BookKey) -> Option<usize> {
        let (mut low, mut high) = (0, self.positions);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.key(bytes, middle).cmp(&key) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The moves of the position with this index, which must be there.
    pub fn moves(&self, bytes: &[u8], index: usize) -> Vec<BookMove> {
        let first = index.checked_sub(1).map_or(0, |before| self.end(bytes, before));
        let at = |number: usize| self.first_move + number * MOVE_BYTES;
        let (moves, _) = bytes[at(first)..at(self.end(bytes, index))].as_chunks();
        moves.iter().map(BookMove::read).collect()
    }

    /// Number of all moves up to the last of the position with this index.
    fn end(&self, bytes: &[u8], index: usize) -> usize {
        let at = self.first_position + index * POSITION_BYTES + 8;
        little_endian(&bytes[at..at + 4]) as usize
    }
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

impl Book {
    /// A book of positions in any order. Every position needs a move; their order is made.
    ///
    /// # Errors
    /// Two positions have one key, a position has no moves or one twice, or there is more than a file holds.
    pub fn new(
        roots: &[Position],
        manifest: Manifest,
        mut positions: Vec<(BookKey, Vec<BookMove>)>,
    ) -> Result<Self, BookError> {
        let variant = roots.first().map(Position::variant).ok_or_else(no_roots)?;
        positions.sort_by_key(|(key, _)| *key);
        positions.iter_mut().for_each(|(_, moves)| moves.sort_by_key(BookMove::rank));
        let header = Header {
            format: FORMAT,
            variant: variant.name().into(),
            rules_hash: variant.rules_hash().into(),
            roots: roots.iter().map(Position::fen).collect(),
            positions: counted("positions", positions.len())?,
            moves: counted("moves", positions.iter().map(|(_, moves)| moves.len()).sum())?,
            manifest,
        };
        Self::from_bytes(variant, written(&header, &positions)?)
    }

    /// Reads a file for a variant.
    ///
    /// # Errors
    /// There is no regular file of a sensible size, or as [`Book::from_bytes`].
    pub fn load(variant: &Arc<Variant>, path: &Path) -> Result<Self, BookError> {
        Self::from_bytes(variant, Self::read_bytes(path)?)
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// There is no regular file of a sensible size.
    pub fn read_bytes(path: &Path) -> Result<Vec<u8>, BookError> {
        let refused = |reason: &str| io::Error::new(io::ErrorKind::InvalidInput, reason);
        if !fs::metadata(path)?.is_file() {
            return Err(refused("expected a regular file").into());
        }
        let mut bytes = Vec::new();
        File::open(path)?.take(MOST_FILE_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_FILE_BYTES {
            return Err(refused("expected at most 2 GiB").into());
        }
        Ok(bytes)
    }

    /// Reads the content of a file for a variant. Nothing is used before everything has been found right; whether moves are legal is
    /// for whoever has the positions to see.
    ///
    /// # Errors
    /// The bytes are no file of this format, or damaged, or one of other rules, or positions or moves are not in their order.
    pub fn from_bytes(variant: &Arc<Variant>, bytes: Vec<u8>) -> Result<Self, BookError> {
        let mut reader = Reader { bytes: &bytes, at: 0 };
        let header = header(&mut reader)?;
        if header.rules_hash != variant.rules_hash() {
            return Err(other_rules(variant, &header));
        }
        let (positions, first_position) = (header.positions as usize, reader.at);
        reader.take(u64::from(header.positions) * POSITION_BYTES as u64, "positions")?;
        let first_move = reader.at;
        reader.take(u64::from(header.moves) * MOVE_BYTES as u64, "moves")?;
        reader.finish()?;
        let layout = Layout { positions, first_position, first_move };
        Check { variant, bytes: &bytes, layout, moves: header.moves as usize }.all()?;
        let roots = header
            .roots
            .iter()
            .map(|fen| Position::from_fen(variant, fen).map_err(|source| BookError::Root { fen: fen.clone(), source }));
        let roots = roots.collect::<Result<Vec<_>, _>>()?;
        if roots.is_empty() {
            return Err(no_roots());
        }
        Ok(Self { header, roots, layout, bytes })
    }
}

impl Header {
    /// What bytes say of themselves, whatever the variant; the rest is not looked at.
    ///
    /// # Errors
    /// They do not begin like a book of this format.
    pub fn peek(bytes: &[u8]) -> Result<Self, BookError> {
        header(&mut Reader { bytes, at: 0 })
    }
}

fn no_roots() -> BookError {
    BookError::Header("expected a root or more, got none".into())
}

fn counted(what: &'static str, count: usize) -> Result<u32, BookError> {
    u32::try_from(count).map_err(|_| BookError::TooMany { what, most: u64::from(u32::MAX), got: count as u64 })
}

fn written(header: &Header, positions: &[(BookKey, Vec<BookMove>)]) -> Result<Vec<u8>, BookError> {
    let header = serde_json::to_vec(header).map_err(io::Error::from)?;
    if header.len() > MOST_HEADER {
        return Err(BookError::HeaderLength { got: header.len() });
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(header);
    let mut end = 0_u32;
    for (key, moves) in positions {
        end += moves.len() as u32;
        bytes.extend(key.number().to_le_bytes());
        bytes.extend(end.to_le_bytes());
    }
    positions.iter().flat_map(|(_, moves)| moves).for_each(|mv| mv.write(&mut bytes));
    let checksum = Sha256::digest(&bytes);
    bytes.extend(checksum);
    if bytes.len() as u64 > MOST_FILE_BYTES {
        return Err(BookError::TooMany { what: "bytes", most: MOST_FILE_BYTES, got: bytes.len() as u64 });
    }
    Ok(bytes)
}

/// Bytes of a file from the front on.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, expected: u64, part: &'static str) -> Result<&'a [u8], BookError> {
        let (at, rest) = (self.at, &self.bytes[self.at..]);
        let truncated = || BookError::Truncated { part, at, expected, got: rest.len() };
        let length = usize::try_from(expected).map_err(|_| truncated())?;
        let taken = rest.get(..length).ok_or_else(truncated)?;
        self.at += length;
        Ok(taken)
    }

    /// The checksum of all before, and then nothing.
    fn finish(mut self) -> Result<(), BookError> {
        let content = &self.bytes[..self.at];
        let expected = self.take(CHECKSUM as u64, "checksum")?;
        match self.bytes.len() - self.at {
            0 => {}
            got => return Err(BookError::LeftOver { at: self.at, got }),
        }
        let got = Sha256::digest(content);
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        if *got == *expected { Ok(()) } else { Err(BookError::Damaged { expected: hex(expected), got: hex(&got) }) }
    }
}

fn header(reader: &mut Reader<'_>) -> Result<Header, BookError> {
    if reader.take(MAGIC.len() as u64, "the words it begins with")? != MAGIC {
        return Err(BookError::NoBook);
    }
    let length = little_endian(reader.take(4, "the header's length")?);
    if length > MOST_HEADER as u64 {
        return Err(BookError::HeaderLength { got: length as usize });
    }
    let text = reader.take(length, "header")?;
    let version: Version = serde_json::from_slice(text).map_err(|error| BookError::Header(error.to_string()))?;
    if version.format != FORMAT {
        return Err(BookError::Format(version.format));
    }
    serde_json::from_slice(text).map_err(|error| BookError::Header(error.to_string()))
}

fn other_rules(variant: &Variant, header: &Header) -> BookError {
    BookError::OtherRules {
        expected: variant.name().into(),
        expected_hash: variant.rules_hash().into(),
        got: header.variant.clone(),
        got_hash: header.rules_hash.clone(),
    }
}

/// Looks at every position and move of a file that is long enough.
struct Check<'a> {
    variant: &'a Variant,
    bytes: &'a [u8],
    layout: Layout,
    moves: usize,
}

impl Check<'_> {
    fn all(&self) -> Result<(), BookError> {
        let Self { bytes, layout, .. } = self;
        let (mut before, mut end_before) = (None, 0);
        for index in 0..layout.positions {
            let (key, end) = (layout.key(bytes, index), layout.end(bytes, index));
            let refused = |expected, got| Err(BookError::Position { key, expected, got });
            if before.is_some_and(|before| before >= key) {
                return refused("keys that rise, each once", "one that does not".into());
            }
            if end <= end_before || end > self.moves {
                return refused("a move or more, within the moves of the file", format!("{end_before} to {end}"));
            }
            self.position(key, &layout.moves(bytes, index))?;
            (before, end_before) = (Some(key), end);
        }
        if end_before != self.moves {
            let got = format!("{} without one", self.moves - end_before);
            let key = before.unwrap_or(BookKey::from_number(0));
            return Err(BookError::Position { key, expected: "a position for every move", got });
        }
        Ok(())
    }

    fn position(&self, key: BookKey, moves: &[BookMove]) -> Result<(), BookError> {
        let refused = |expected, mv: &BookMove| {
            Err(BookError::Position { key, expected, got: format!("{:#010x}", mv.mv.to_bits()) })
        };
        if let Some(mv) = moves.iter().find(|mv| !mv.is_conceivable(self.variant)) {
            return refused("moves on squares and of units of this game", mv);
        }
        if let Some(pair) = moves.windows(2).find(|pair| pair[0].rank() >= pair[1].rank()) {
            return refused("moves by falling weight and value", &pair[1]);
        }
        let mut bits: Vec<_> = moves.iter().collect();
        bits.sort_by_key(|mv| mv.mv.to_bits());
        match bits.windows(2).find(|pair| pair[0].mv == pair[1].mv) {
            Some(pair) => refused("each move once", pair[1]),
            None => Ok(()),
        }
    }
}
