//! What can be wrong with a file of openings.

use super::counted;
use fairyforge_engine::outcome::Reason;
use fairyforge_engine::pgn::FaultKind;
use fairyforge_engine::position::{FenError, UnpackError};
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why there are no openings.
#[derive(Debug, thiserror::Error)]
pub enum OpeningError {
    /// The file cannot be read.
    #[error("cannot read the openings {}: {reason}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why not.
        #[source]
        reason: io::Error,
    },
    /// The name is a folder's.
    #[error("{}: expected a file of openings (EPD, FEN or PGN), got a folder", .0.display())]
    Folder(PathBuf),
    /// Nothing is in it.
    #[error("{}: expected at least one opening, got {}", path.display(), without_any(*bytes))]
    Empty {
        /// Which file.
        path: PathBuf,
        /// How many bytes it has.
        bytes: u64,
    },
    /// Something is in it that no game can begin with.
    #[error(transparent)]
    Faults(#[from] OpeningFaults),
    /// It is another file than the one a match was begun with.
    #[error(
        "{}: expected the content with SHA-256 {expected}, with which the match was planned, got {got}: the file has changed",
        path.display()
    )]
    Changed {
        /// Which file.
        path: PathBuf,
        /// The digest in the settings.
        expected: String,
        /// The file's.
        got: String,
    },
    /// There is no opening with the number of the first.
    #[error("{}: expected a first opening from 1 to {len}, got number {got}", path.display())]
    Start {
        /// Which file.
        path: PathBuf,
        /// How many openings it has.
        len: u64,
        /// The number.
        got: u64,
    },
    /// Plies are to be taken of what are no games.
    #[error("{}: expected no number of plies, since the file holds positions and no games, got {got}", path.display())]
    Plies {
        /// Which file.
        path: PathBuf,
        /// The number.
        got: u16,
    },
}

/// Everything that is wrong with the openings of a file.
#[derive(Debug)]
pub struct OpeningFaults {
    /// Which file.
    pub path: PathBuf,
    /// How many of its openings are sound.
    pub sound: u64,
    /// How many are not.
    pub faulty: u64,
    /// The first of these, at most [`OpeningFaults::MOST_SHOWN`].
    pub shown: Vec<OpeningFault>,
}

/// What is wrong with one opening.
#[derive(Debug, thiserror::Error)]
pub struct OpeningFault {
    /// The line, from 1.
    pub line: u64,
    /// The column in characters, from 1.
    pub column: u64,
    /// The number of the game in its file, from 1; `None` in a file of positions.
    pub game: Option<u64>,
    /// What it is.
    #[source]
    pub kind: OpeningFaultKind,
}

/// Kinds of faults.
#[derive(Debug, thiserror::Error)]
pub enum OpeningFaultKind {
    /// A line that ends too early.
    #[error("expected a position in at least 4 fields (board, side, castling, en passant), got {0}")]
    Fields(usize),
    /// A position that is none in this game.
    #[error(transparent)]
    Fen(#[from] FenError),
    /// Behind the position stands what is no operation of EPD.
    #[error("expected {expected}, got {got}")]
    Operation {
        /// What would have been right.
        expected: &'static str,
        /// What was there.
        got: String,
    },
    /// A counter that was told before, otherwise.
    #[error("{counter}: expected {before}, as it was told before, got {got}")]
    Counter {
        /// Which one.
        counter: &'static str,
        /// What it was told to be before.
        before: String,
        /// What it is told to be here.
        got: String,
    },
    /// A line that nobody meant as a position.
    #[error("expected a line of at most {0} bytes")]
    TooLong(usize),
    /// Nobody can play from here.
    #[error("expected a position from which the game goes on, got one that ends it by {reason}{}", after(*plies))]
    Over {
        /// The rule that ends the game.
        reason: Reason,
        /// After how many plies of the opening.
        plies: u16,
    },
    /// Counters that are out of range at the end of a long game.
    #[error(transparent)]
    Unstorable(#[from] UnpackError),
    /// A game that cannot be read.
    #[error(transparent)]
    Game(FaultKind),
}

impl OpeningFaults {
    /// Faults that are told one by one; the others are counted.
    pub const MOST_SHOWN: usize = 20;

    pub(super) const fn none(path: PathBuf) -> Self {
        Self { path, sound: 0, faulty: 0, shown: Vec::new() }
    }

    pub(super) fn add(&mut self, fault: OpeningFault) {
        self.faulty += 1;
        if self.shown.len() < Self::MOST_SHOWN {
            self.shown.push(fault);
        }
    }
}

impl std::error::Error for OpeningFaults {}

impl fmt::Display for OpeningFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, sound, faulty, shown } = self;
        let path = path.display();
        let openings = counted(sound + faulty, "opening", "openings");
        writeln!(f, "{path}: {faulty} of {openings} cannot be used:")?;
        let lines: Vec<String> = shown.iter().map(|fault| format!("{path}:{fault}")).collect();
        f.write_str(&lines.join("\n"))?;
        match faulty - shown.len() as u64 {
            0 => Ok(()),
            more => write!(f, "\nand {}", counted(more, "more fault", "more faults")),
        }
    }
}

impl fmt::Display for OpeningFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        if let Some(game) = self.game {
            write!(f, "game {game}: ")?;
        }
        write!(f, "{}", self.kind)
    }
}

fn without_any(bytes: u64) -> String {
    match bytes {
        0 => "an empty file".into(),
        bytes => format!("{} without any", counted(bytes, "byte", "bytes")),
    }
}

fn after(plies: u16) -> String {
    match plies {
        0 => String::new(),
        plies => format!(" after {}", counted(plies.into(), "ply", "plies")),
    }
}
