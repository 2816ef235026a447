//! Where the games of a match begin: random openings, or those of a file.
//!
//! [`OpeningSource`] says what is wanted and stands in a match's plan. [`OpeningBook::open`] makes it ready: a file is read
//! to its end and every opening in it is tried before the first game, so that a fault is told with its line and column and not
//! met in game 700. After that an opening is a function of source, seed and number alone.
//!
//! Random openings are [`crate::selfplay::openings`]'s. Files hold positions (EPD or FEN, a line each) or games (PGN); what is
//! read of them is in `docs/formats/openings.md`. Nothing here writes files or plays.

mod entries;
mod epd;
mod error;
mod file;
mod games;
mod lines;
mod order;
#[cfg(test)]
mod tests;

pub(crate) use epd::fen_column;
pub use error::{OpeningError, OpeningFault, OpeningFaultKind, OpeningFaults};

use crate::selfplay::Openings;
use crate::selfplay::openings::OpeningMaker;
use entries::Entries;
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// Where the openings of a match come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum OpeningSource {
    /// Made at random: as many as anybody wants.
    Random(Openings),
    /// Read from a file.
    File(OpeningFile),
}

/// A file of openings and how it is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpeningFile {
    /// The file as it was named: a relative name means the current folder.
    pub path: PathBuf,
    /// SHA-256 of its content in hexadecimal. With it only this content is taken; without it any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// In which order the openings come.
    #[serde(default)]
    pub order: Order,
    /// Which one comes first, from 1, counted in that order.
    #[serde(default = "first")]
    pub start: u64,
    /// Plies that are taken of each game; all if not said. Only for games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plies: Option<u16>,
}

/// In which order the openings of a file come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// As in the file.
    Sequential,
    /// Shuffled once; the seed decides.
    #[default]
    Random,
}

/// Where one pair of games begins.
#[derive(Clone, Debug)]
pub struct MatchOpening {
    /// Where the game begins.
    pub start: Position,
    /// The position from which the players play.
    pub position: Position,
    /// Plies between the two.
    pub plies: u16,
    /// What it is called: the `id` of a position, the `ECO`, `Opening` and `Variation` of a game, the units taken away from a
    /// random opening.
    pub name: Option<String>,
    /// The line of the file on which it begins, from 1.
    pub line: Option<u64>,
}

/// The openings of a match, all of them tried.
pub struct OpeningBook {
    source: OpeningSource,
    seed: u64,
    supply: Supply,
}

enum Supply {
    Random(Box<OpeningMaker>),
    File { variant: Arc<Variant>, book: Book },
}

/// The openings of a file, in their order.
struct Book {
    entries: Entries,
    remarks: Vec<String>,
    /// Which entry is the how-manieth; `None` as in the file.
    order: Option<Vec<u32>>,
    /// Index in the order of the first one used.
    first: u64,
}

impl Default for OpeningSource {
    fn default() -> Self {
        Self::Random(Openings::default())
    }
}

impl OpeningFile {
    /// A file whose openings are used in random order, from the first on, whatever it holds.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), digest: None, order: Order::default(), start: first(), plies: None }
    }
}

impl OpeningBook {
    /// Makes the openings ready. A file is read to its end.
    ///
    /// # Errors
    /// The file cannot be read, is not the one of the digest, or holds no openings; all its faults, of which the first few
    /// are told one by one; settings that do not fit it.
    pub fn open(variant: &Arc<Variant>, source: &OpeningSource, seed: u64) -> Result<Self, OpeningError> {
        match source {
            OpeningSource::Random(settings) => {
                let supply = Supply::Random(OpeningMaker::new(variant, settings).into());
                Ok(Self { source: source.clone(), seed, supply })
            }
            OpeningSource::File(file) => Self::of_file(variant, file, seed),
        }
    }

    fn of_file(variant: &Arc<Variant>, file: &OpeningFile, seed: u64) -> Result<Self, OpeningError> {
        let file::Content { entries, remarks, digest } = file::read(variant, file)?;
        let len = entries.len();
        if !(1..=len).contains(&file.start) {
            return Err(OpeningError::Start { path: file.path.clone(), len, got: file.start });
        }
        let order = (file.order == Order::Random).then(|| order::shuffled(len as u32, seed));
        let book = Book { entries, remarks, order, first: file.start - 1 };
        let source = OpeningSource::File(OpeningFile { digest: Some(digest), ..file.clone() });
        Ok(Self { source, seed, supply: Supply::File { variant: Arc::clone(variant), book } })
    }

    /// What was asked for, with the digest of what was found: opened again with this, the book is the same or refused.
    pub const fn source(&self) -> &OpeningSource {
        &self.source
    }

    /// Where pair number `number` begins, from 0. Behind the last opening of a file its first follows.
    pub fn opening(&self, number: u64) -> MatchOpening {
        match &self.supply {
            Supply::Random(maker) => {
                let [opening, _] = maker.pair(self.seed, number);
                let name = (!opening.imbalance.is_empty()).then_some(opening.imbalance);
                let plies = opening.random_plies;
                MatchOpening { start: opening.start, position: opening.position, plies, name, line: None }
            }
            Supply::File { variant, book } => book.entries.opening(variant, book.index(number)),
        }
    }

    /// How many there are, at least one; `None` if there is no end to them.
    pub const fn size(&self) -> Option<u64> {
        match &self.supply {
            Supply::Random(_) => None,
            Supply::File { book, .. } => Some(book.entries.len()),
        }
    }

    /// How often the book begins anew if so many openings are used: 0 as long as none is used twice.
    pub fn wraps(&self, openings: u64) -> u64 {
        self.size().map_or(0, |size| openings.saturating_sub(1) / size)
    }

    /// What is odd about the file though it can be used, a sentence each.
    pub fn remarks(&self) -> &[String] {
        match &self.supply {
            Supply::Random(_) => &[],
            Supply::File { book, .. } => &book.remarks,
        }
    }

    /// The openings in words: `412 openings of games.epd in random order (seed 7), from number 1`.
    pub fn described(&self) -> String {
        match &self.source {
            OpeningSource::Random(settings) => {
                // Only even numbers are drawn.
                let least = 2 * settings.least_random_plies.div_ceil(2);
                let most = (settings.most_random_plies / 2 * 2).max(least);
                let plies = if least == most { least.to_string() } else { format!("{least} to {most}") };
                let taken = if settings.imbalance.share > 0.0 { ", some with units taken away" } else { "" };
                format!("random openings of {plies} plies (seed {}){taken}", self.seed)
            }
            OpeningSource::File(file) => {
                let openings = counted(self.size().unwrap_or_default(), "opening", "openings");
                let order = match file.order {
                    Order::Sequential => "in the order of the file".into(),
                    Order::Random => format!("in random order (seed {})", self.seed),
                };
                format!("{openings} of {} {order}, from number {}", file.path.display(), file.start)
            }
        }
    }
}

impl Book {
    /// The entry that opening number `number` is.
    fn index(&self, number: u64) -> u64 {
        let len = self.entries.len();
        // Both are below the length, so that the sum cannot overflow.
        let at = (number % len + self.first) % len;
        self.order.as_ref().map_or(at, |order| u64::from(order[at as usize]))
    }
}

/// The number of the first opening.
const fn first() -> u64 {
    1
}

/// A number with what is counted.
fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}
