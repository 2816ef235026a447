//! The book of a session: which file was chosen, whether and how far it is played from, and what it plays.

use super::options::{BookSetting, MOST_BOOK_DEPTH};
use super::room::has_room_for;
use crate::book::{Book, BookError, BookMove, Draw};
use crate::game::Game;
use crate::position::{Position, Unobserved};
use crate::variant::Variant;
use crate::variant::rules::Colour;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of a mebibyte.
const MEBIBYTE: u64 = 1 << 20;

/// A book and how it is used.
pub(super) struct OwnBook {
    /// Whether it is played from.
    is_on: bool,
    /// Last move number at which it is asked.
    depth: u32,
    /// What decides between moves; 0: always the likeliest.
    seed: u64,
    /// Games begun in this session, for the seed.
    game: u64,
    /// The chosen file. It may be of another game, waiting for that to be chosen.
    path: Option<PathBuf>,
    /// The content, if a file was chosen and is of this game.
    book: Option<Book>,
}

/// Why a book was refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum OwnBookError {
    #[error("BookFile {}: {source}", path.display())]
    Book { path: PathBuf, source: BookError },
    #[error("BookFile: expected a book that there is memory for, got {mebibytes} MB in {}", path.display())]
    NoRoom { path: PathBuf, mebibytes: u64 },
}

/// What a book says to a position.
#[derive(Default)]
pub(super) struct Advice {
    /// The move to play; `None`: think.
    pub chosen: Option<BookMove>,
    /// What the user should know, a line each.
    pub remarks: Vec<String>,
}

impl OwnBook {
    /// No book.
    pub const fn new() -> Self {
        Self { is_on: false, depth: MOST_BOOK_DEPTH, seed: 0, game: 0, path: None, book: None }
    }

    /// Another game begins.
    pub const fn begin_game(&mut self) {
        self.game += 1;
    }

    /// Changes a setting. Returns what the user should know, a line each.
    pub fn set(&mut self, setting: BookSetting, variant: &Arc<Variant>) -> Result<Vec<String>, OwnBookError> {
        match setting {
            BookSetting::File(path) => return self.choose(path, variant),
            BookSetting::Own(is_on) => self.is_on = is_on,
            BookSetting::Depth(depth) => self.depth = depth,
            BookSetting::Seed(seed) => self.seed = seed,
        }
        Ok(Vec::new())
    }

    fn choose(&mut self, path: Option<PathBuf>, variant: &Arc<Variant>) -> Result<Vec<String>, OwnBookError> {
        // One that cannot be used plays nothing, and what played before was put away by choosing it.
        self.book = None;
        let read = path.as_deref().map(|path| read(path, variant)).transpose();
        if matches!(read, Ok(_) | Err(OwnBookError::Book { source: BookError::OtherRules { .. }, .. })) {
            self.path = path;
        }
        self.book = read?;
        Ok(self.summary().into_iter().collect())
    }

    /// Another game has been chosen: the file may be of that. Returns what the user should know.
    pub fn follow(&mut self, variant: &Arc<Variant>) -> Vec<String> {
        let is_of = |book: &Book| book.header().rules_hash == variant.rules_hash();
        if self.path.is_none() || self.book.as_ref().is_some_and(is_of) {
            return Vec::new();
        }
        let path = self.path.clone();
        self.choose(path, variant).unwrap_or_else(|error| vec![error.to_string(), "it is not used".into()])
    }

    fn summary(&self) -> Option<String> {
        let (book, path) = (self.book.as_ref()?, self.path.as_ref()?);
        let header = book.header();
        let (positions, moves, path) = (header.positions, header.moves, path.display());
        Some(format!("book: {positions} positions with {moves} moves of {}, from {path}", header.variant))
    }

    /// What to play in a game. A move that is not legal is passed over and told; one that would bring back a position of the game is
    /// passed over too, as a book does not know how often it was there.
    pub fn advise(&self, game: &Game) -> Advice {
        let position = game.position();
        let Some(book) = self.book.as_ref().filter(|_| self.is_on && position.full_moves() <= self.depth) else {
            return Advice::default();
        };
        let moves = book.moves(position);
        let legal = if moves.is_empty() { Vec::new() } else { position.legal_moves() };
        let (legal, illegal): (Vec<_>, Vec<_>) = moves.into_iter().partition(|entry| legal.contains(&entry.mv));
        let told =
            |entry: &BookMove| format!("book: passed over {:#010x}, which is no legal move here", entry.mv.to_bits());
        let mut remarks: Vec<String> = illegal.iter().map(told).collect();
        let is_new = |entry: &BookMove| !repeats(game, entry);
        let playable: Vec<BookMove> = legal.into_iter().filter(is_new).collect();
        let chosen = self.choice(position, &playable).copied();
        remarks.extend(chosen.map(|entry| format!("book: {}", described(position, &entry, &playable))));
        Advice { chosen, remarks }
    }

    /// The moves of a position, a line each; none without a book, whether or not it is played from.
    pub fn list(&self, position: &Position) -> Vec<String> {
        let moves = self.book.as_ref().map(|book| book.moves(position)).unwrap_or_default();
        let legal = if moves.is_empty() { Vec::new() } else { position.legal_moves() };
        let moves: Vec<BookMove> = moves.into_iter().filter(|entry| legal.contains(&entry.mv)).collect();
        moves.iter().map(|entry| described(position, entry, &moves)).collect()
    }

    fn choice<'a>(&self, position: &Position, moves: &'a [BookMove]) -> Option<&'a BookMove> {
        if self.seed == 0 {
            return moves.first().filter(|entry| entry.weight > 0);
        }
        let black = u32::from(position.side_to_move() == Colour::Black);
        let ply = position.full_moves().saturating_mul(2).saturating_add(black);
        Draw { seed: self.seed, game: self.game, ply }.choose(moves)
    }
}

fn read(path: &Path, variant: &Arc<Variant>) -> Result<Book, OwnBookError> {
    let refused = |source| OwnBookError::Book { path: path.into(), source };
    let bytes = std::fs::metadata(path).map_err(|error| refused(error.into()))?.len();
    let mebibytes = bytes.div_ceil(MEBIBYTE);
    if !usize::try_from(mebibytes).is_ok_and(has_room_for) {
        return Err(OwnBookError::NoRoom { path: path.into(), mebibytes });
    }
    Book::load(variant, path).map_err(refused)
}

fn repeats(game: &Game, entry: &BookMove) -> bool {
    let mut after = game.position().clone();
    after.make(entry.mv, &mut Unobserved);
    game.earlier().contains(&after.key())
}

/// A move in words, with its share of the weights.
fn described(position: &Position, entry: &BookMove, moves: &[BookMove]) -> String {
    let sum: u64 = moves.iter().map(|entry| u64::from(entry.weight)).sum();
    let share = 100.0 * f64::from(entry.weight) / sum.max(1) as f64;
    let value = entry.value.map(|value| format!(", {value} cp")).unwrap_or_default();
    let [wins, draws, losses] = entry.results;
    let results = if [wins, draws, losses] != [0; 3] {
        format!(", won {wins} drawn {draws} lost {losses}")
    } else {
        String::new()
    };
    format!("{}, {share:.0} %{value}{results}", position.move_text(entry.mv))
}
