//! Games in text: reading and writing PGN, for every variant.
//!
//! [`PgnReader`] streams the games of a file one by one and goes on after a broken one; [`PgnGame::write`] writes what it
//! reads. Moves are read and written by [`crate::moves`], positions by [`crate::position`]; how files are found and opened
//! is somebody else's business. `docs/formats/pgn.md` says what is written, what is read, and the limits.

mod comment;
mod fault;
mod read;
mod replay;
mod source;
mod tokens;
mod variants;
mod write;

pub use comment::{Comment, Score};
pub use fault::{FaultKind, PgnFault, Place, Warning};
pub use read::PgnReader;
pub use tokens::limits;
pub use variants::NamedVariants;

use crate::game::Game;
use crate::moves::Move;
use crate::outcome::Outcome;
use crate::position::Position;
use crate::variant::rules::Colour;
use std::fmt;

/// The seven tags that every game has, in the order in which they are written.
pub const ROSTER: [&str; 7] = ["Event", "Site", "Date", "Round", "White", "Black", "Result"];

/// One game as PGN holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct PgnGame {
    /// Its number in the file it was read from, from 1.
    pub number: u64,
    /// The line on which it begins there, from 1.
    pub line: u64,
    /// Tags in the order of the file, each name once. What a game says by itself (`Result`, `Variant`, `SetUp`, `FEN`) is
    /// here when it was read, and not looked at when it is written.
    pub tags: Vec<(String, String)>,
    /// Where it begins.
    pub start: Position,
    /// What is said before the first move.
    pub comment: Comment,
    /// The moves, all of them legal.
    pub moves: Vec<PgnMove>,
    /// How it ended.
    pub result: PgnResult,
    /// What is odd about it, though it could be read.
    pub warnings: Vec<(Place, Warning)>,
}

/// A move with what is said about it.
#[derive(Clone, Debug, PartialEq)]
pub struct PgnMove {
    /// The move.
    pub mv: Move,
    /// Numeric annotation glyphs: 1 is `!`, 2 is `?` …
    pub nags: Vec<u8>,
    /// All comments behind it, run together.
    pub comment: Comment,
}

/// Who won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PgnResult {
    /// `1-0`.
    WhiteWins,
    /// `0-1`.
    BlackWins,
    /// `1/2-1/2`.
    Draw,
    /// `*`: not over, or nobody knows.
    Unfinished,
}

impl PgnGame {
    /// A game without moves yet.
    pub fn new(start: Position) -> Self {
        Self {
            number: 0,
            line: 0,
            tags: Vec::new(),
            start,
            comment: Comment::default(),
            moves: Vec::new(),
            result: PgnResult::Unfinished,
            warnings: Vec::new(),
        }
    }

    /// The value of a tag.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The game played through to its end.
    pub fn game(&self) -> Game {
        let mut game = Game::new(self.start.clone());
        self.moves.iter().for_each(|played| game.play(played.mv));
        game
    }
}

impl PgnResult {
    /// Reads a termination marker.
    pub fn read(text: &str) -> Option<Self> {
        match text {
            "1-0" => Some(Self::WhiteWins),
            "0-1" => Some(Self::BlackWins),
            "1/2-1/2" | "1/2" => Some(Self::Draw),
            "*" => Some(Self::Unfinished),
            _ => None,
        }
    }
}

impl fmt::Display for PgnResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WhiteWins => "1-0",
            Self::BlackWins => "0-1",
            Self::Draw => "1/2-1/2",
            Self::Unfinished => "*",
        })
    }
}

impl From<Outcome> for PgnResult {
    fn from(outcome: Outcome) -> Self {
        match outcome.winner {
            Some(Colour::White) => Self::WhiteWins,
            Some(Colour::Black) => Self::BlackWins,
            None => Self::Draw,
        }
    }
}
