//! The journal of a book being built, `book.jsonl`: a line that says what it is, then a line a position that was looked behind, in
//! the order in which they were chosen, appended and synced by the one bookkeeper. Everything else follows from it.
//!
//! A build that was cut off begins anew and takes what it finds in the journal instead of searching, line by line, so that a
//! journal of any length is never in memory. A last line without its end is what a killed writer left, and does not count.

use super::CandidateSettings;
use crate::run_dir::{FileError, append_lines, continue_lines, drop_torn_line};
use fairyforge_engine::variant::Variant;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// Version of the format.
const FORMAT: u32 = 1;
/// Longest line that is read, in bytes: a thousand moves.
const MOST_LINE: u64 = 1 << 20;

/// What a journal has lines of.
pub trait Entry: Serialize + DeserializeOwned {
    /// What the first line says the file is.
    const KIND: &'static str;
    /// What a line is, in words.
    const WHAT: &'static str;
}

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: u32,
    kind: String,
    variant: String,
    rules_hash: String,
}

/// A position that was looked behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expansion {
    /// Its key, in hexadecimal.
    pub position: String,
    /// Nodes of the short searches that chose its moves.
    pub glanced: u64,
    /// The moves that were chosen, the best by the short search first.
    pub moves: Vec<ExpandedMove>,
}

impl Entry for Expansion {
    const KIND: &'static str = "book";
    const WHAT: &'static str = "a position that was looked behind";
}

/// A move of such a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpandedMove {
    /// In coordinates.
    #[serde(rename = "move")]
    pub text: String,
    /// What the short search said, for whoever makes the move.
    pub glance: i16,
    /// What the search of the position behind it said, for the side to move there; absent where the position was there already, or
    /// the game is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<i16>,
    /// Nodes of that search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// The reply that it prefers, in coordinates of the position as the book has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
}

/// Why a journal was refused.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The disk refuses.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line is not what it must be.
    #[error("{}, line {line}: expected {expected}, got {got}", path.display())]
    Line {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What belongs there.
        expected: String,
        /// What is there.
        got: String,
    },
}

/// A journal that is read to its end, and then written.
pub struct Journal<E = Expansion> {
    path: PathBuf,
    /// What has not been read yet.
    unread: Option<BufReader<File>>,
    line: u64,
    /// Whether half a line at the end counts as none, since it cannot be removed.
    is_looked_at: bool,
    entries: PhantomData<E>,
}

impl Expansion {
    /// Whether the last move is there only because the search of the position itself prefers it.
    pub fn keeps_what_was_left_out(&self, settings: &CandidateSettings) -> bool {
        let (Some(first), Some(last)) = (self.moves.first(), self.moves.last()) else { return false };
        self.moves.len() > settings.most || i32::from(first.glance) - i32::from(last.glance) > settings.window
    }
}

impl<E: Entry> Journal<E> {
    /// Opens a journal, or begins one.
    ///
    /// # Errors
    /// It cannot be read or written, or is none of this game.
    pub fn open(path: &Path, variant: &Variant) -> Result<Self, JournalError> {
        drop_torn_line(path)?;
        if !path.exists() || std::fs::metadata(path).map_err(FileError::at("look at", path))?.len() == 0 {
            append_lines(path, &[Self::first_line(variant)])?;
        }
        Self { is_looked_at: false, ..Self::nothing_of(path) }.begun(variant)
    }

    /// Opens a journal that somebody else writes; one that is not there yet has no entries.
    ///
    /// # Errors
    /// It cannot be read, or is none of this game.
    pub fn look_at(path: &Path, variant: &Variant) -> Result<Self, JournalError> {
        let nothing = Self::nothing_of(path);
        if path.exists() { nothing.begun(variant) } else { Ok(nothing) }
    }

    fn nothing_of(path: &Path) -> Self {
        Self { path: path.to_owned(), unread: None, line: 0, is_looked_at: true, entries: PhantomData }
    }

    /// With its first line read.
    fn begun(mut self, variant: &Variant) -> Result<Self, JournalError> {
        let file = File::open(&self.path).map_err(FileError::at("open", &self.path))?;
        self.unread = Some(BufReader::new(file));
        let Some(text) = self.next_line()? else { return Ok(self) };
        let found: Header = serde_json::from_str(&text)
            .map_err(|error| self.fault(&format!("the first line of a {}'s journal", E::KIND), error.to_string()))?;
        if found != Self::header(variant) {
            return Err(self.fault(&Self::first_line(variant), text));
        }
        Ok(self)
    }

    fn header(variant: &Variant) -> Header {
        Header {
            format: FORMAT,
            kind: E::KIND.into(),
            variant: variant.name().into(),
            rules_hash: variant.rules_hash().into(),
        }
    }

    /// How the journal of a game begins.
    pub(super) fn first_line(variant: &Variant) -> String {
        line_of(&Self::header(variant))
    }

    /// The next entry that the journal has; `None` once all are read.
    ///
    /// # Errors
    /// The line cannot be read, or is none of a journal.
    pub fn next_recorded(&mut self) -> Result<Option<E>, JournalError> {
        let Some(text) = self.next_line()? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|error| self.fault(E::WHAT, error.to_string()))
    }

    /// Adds entries, on disk and synced when this returns.
    ///
    /// # Errors
    /// The lines cannot be written.
    pub fn append(&mut self, entries: &[E]) -> Result<(), FileError> {
        if entries.is_empty() {
            return Ok(());
        }
        self.unread = None;
        let lines: Vec<String> = entries.iter().map(line_of).collect();
        continue_lines(&self.path, &lines)?;
        self.line += lines.len() as u64;
        Ok(())
    }

    /// That the last line read is not what it should be.
    pub fn fault(&self, expected: &str, got: String) -> JournalError {
        JournalError::Line { path: self.path.clone(), line: self.line, expected: expected.into(), got }
    }

    fn next_line(&mut self) -> Result<Option<String>, JournalError> {
        let Some(unread) = &mut self.unread else { return Ok(None) };
        let mut bytes = Vec::new();
        let read = unread.take(MOST_LINE).read_until(b'\n', &mut bytes).map_err(FileError::at("read", &self.path))?;
        if read == 0 {
            self.unread = None;
            return Ok(None);
        }
        self.line += 1;
        if bytes.pop() != Some(b'\n') {
            if self.is_looked_at && (read as u64) < MOST_LINE {
                self.unread = None;
                return Ok(None);
            }
            return Err(self.fault("a whole line", format!("{read} bytes of one")));
        }
        String::from_utf8(bytes).map(Some).map_err(|_| self.fault("text in UTF-8", "other bytes".into()))
    }
}

pub(super) fn line_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("strings and numbers serialise")
}
