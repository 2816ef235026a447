//! Games as a book sees them: which positions of it they came through, which moves were made there, and who won.
//!
//! [`Sources`] reads runs, matches and PGN files game by game, so that games of any number are never in memory together; [`Counts`]
//! adds up results by position and move. What is done with them is said elsewhere: `build` notes them beside what
//! was searched, [`super::import`] makes books of nothing else.

use crate::checksum::hex;
use crate::pgn::{Export, ExportError, Part, Standing};
use crate::progress::Progress;
use crate::run_dir::{FileError, ShardFiles};
use fairyforge_engine::book::{BookKey, Counted, Oriented, Starts};
use fairyforge_engine::moves::Move;
use fairyforge_engine::pgn::{NamedVariants, PgnFault, PgnGame, PgnReader, PgnResult};
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::Colour;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Separates these digests from those of another way to count.
const DOMAIN: &[u8] = b"fairyforge book games 1\n";
/// Games that are looked at in parallel.
const BATCH: usize = 256;

/// Which part of which games is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counting {
    /// Plies of each game, from where its record begins.
    pub plies: u16,
    /// Where games may begin.
    pub starts: Starts,
}

/// Where games are, and what is looked at of them.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// Runs, folders of shards, shards and PGN files, in the order in which they are read.
    pub paths: &'a [PathBuf],
    /// The game.
    pub variant: &'a Arc<Variant>,
    /// What is looked at.
    pub counting: Counting,
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Digest of the games that were counted: of starts, moves and results, however they are stored.
    pub digest: String,
    /// Games counted.
    pub games: u64,
    /// Games left out, as nobody knows who won.
    pub unfinished: u64,
    /// Games left out, as a player failed.
    pub failed: u64,
    /// Games left out, as they do not begin in the array.
    pub elsewhere: u64,
}

/// A game that counts, as far as it is looked at.
pub struct PlayedGame {
    /// Where it begins.
    pub start: Position,
    /// The moves, in the order of the game. A move that was made twice in one position is there once.
    pub moves: Vec<Made>,
    /// Who won.
    pub result: PgnResult,
}

/// A move that was made, as books have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Made {
    /// The position in which it was made.
    pub key: BookKey,
    /// The move.
    pub mv: Move,
    /// Who made it.
    pub mover: Colour,
}

/// Why games could not be counted.
#[derive(Debug, thiserror::Error)]
pub enum GamesError {
    /// A run cannot be read, or was played by other rules.
    #[error(transparent)]
    Run(#[from] ExportError),
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A game of a PGN file cannot be read.
    #[error("{}:{fault}", path.display())]
    Pgn {
        /// The file.
        path: PathBuf,
        /// The game, and what is wrong with it.
        fault: Box<PgnFault>,
    },
    /// A game of other rules.
    #[error("{}, game {game}: expected a game of {expected}, got one of {got}", path.display())]
    OtherRules {
        /// The file.
        path: PathBuf,
        /// The game, from 1.
        game: u64,
        /// The variant at hand, and its rules.
        expected: String,
        /// The game's variant, and its rules.
        got: String,
    },
    /// Other games than before.
    #[error(
        "expected the games of digest {expected:.12}, got those of {got:.12}: the sources have changed, or are others"
    )]
    OtherGames {
        /// The digest of the games that were counted.
        expected: String,
        /// The digest of those that are there.
        got: String,
    },
}

impl Tally {
    /// What a book says of games that were counted so.
    pub fn counted(&self, counting: Counting) -> Counted {
        Counted { digest: self.digest.clone(), plies: counting.plies, starts: counting.starts }
    }

    /// Refuses other games than those of a digest.
    ///
    /// # Errors
    /// They are others.
    pub fn expect(&self, digest: &str) -> Result<(), GamesError> {
        if self.digest == digest {
            return Ok(());
        }
        Err(GamesError::OtherGames { expected: digest.into(), got: self.digest.clone() })
    }
}

impl PlayedGame {
    /// 0, 1 or 2: the move's side won, drew or lost.
    pub fn place(&self, made: &Made) -> usize {
        match (self.result, made.mover) {
            (PgnResult::WhiteWins, Colour::White) | (PgnResult::BlackWins, Colour::Black) => 0,
            (PgnResult::Draw | PgnResult::Unfinished, _) => 1,
            _ => 2,
        }
    }

    fn of(game: &PgnGame, plies: u16) -> Self {
        let mut position = game.start.clone();
        let mut moves = Vec::new();
        let mut seen = HashSet::new();
        for played in game.moves.iter().take(usize::from(plies)) {
            let oriented = Oriented::of(&position);
            let mover = position.side_to_move();
            let made = Made { key: oriented.key(), mv: oriented.held(played.mv), mover };
            if seen.insert((made.key, made.mv)) {
                moves.push(made);
            }
            position.make(played.mv, &mut Unobserved);
        }
        Self { start: game.start.clone().as_first(), moves, result: game.result }
    }
}

impl Sources<'_> {
    /// Reads all games and gives those that count to `take`, in their order.
    ///
    /// # Errors
    /// Games cannot be read, or are of other rules; the file and the game are named.
    pub fn each(&self, take: impl FnMut(PlayedGame)) -> Result<Tally, GamesError> {
        let array = Oriented::of(&Position::start(self.variant)).key();
        let hasher = Sha256::new_with_prefix(DOMAIN);
        let counting = self.counting;
        let mut reading = Reading { counting, array, batch: Vec::new(), hasher, tally: Tally::default(), take };
        for path in self.paths {
            if path.is_dir() || ShardFiles::of_file(path).is_some() {
                let run = Export { source: path, variant: self.variant, part: Part::All };
                run.each(
                    |game, standing| {
                        reading.meet(game, standing);
                        Ok(())
                    },
                    |_| (),
                )?;
            } else {
                self.pgn(path, &mut reading)?;
            }
        }
        Ok(reading.finished())
    }

    fn pgn(&self, path: &Path, reading: &mut Reading<impl FnMut(PlayedGame)>) -> Result<(), GamesError> {
        let file = File::open(path).map_err(FileError::at("open", path))?;
        let mut variants = NamedVariants::new(Arc::clone(self.variant));
        for game in PgnReader::new(BufReader::new(file), |tag| variants.find(tag)) {
            let game = game.map_err(|fault| GamesError::Pgn { path: path.to_owned(), fault: Box::new(fault) })?;
            let (expected, got) = (self.variant, game.start.variant());
            if expected.rules_hash() != got.rules_hash() {
                return Err(other_rules(path, game.number, [expected, got]));
            }
            reading.meet(game, Standing::Played);
        }
        Ok(())
    }
}

fn other_rules(path: &Path, game: u64, [expected, got]: [&Variant; 2]) -> GamesError {
    let [expected, got] =
        [expected, got].map(|variant| format!("{} (rules {:.12})", variant.name(), variant.rules_hash()));
    GamesError::OtherRules { path: path.to_owned(), game, expected, got }
}

/// Games on their way from their files to whoever takes them.
struct Reading<T> {
    counting: Counting,
    array: BookKey,
    batch: Vec<PgnGame>,
    hasher: Sha256,
    tally: Tally,
    take: T,
}

impl<T: FnMut(PlayedGame)> Reading<T> {
    fn meet(&mut self, game: PgnGame, standing: Standing) {
        let tally = &mut self.tally;
        let is_elsewhere = self.counting.starts == Starts::Array && Oriented::of(&game.start).key() != self.array;
        match (standing, game.result) {
            (Standing::Failed, _) => tally.failed += 1,
            (_, PgnResult::Unfinished) => tally.unfinished += 1,
            _ if is_elsewhere => tally.elsewhere += 1,
            _ => {
                tally.games += 1;
                self.hash(&game);
                self.batch.push(game);
            }
        }
        if self.batch.len() == BATCH {
            self.hand_over();
        }
    }

    /// Every length is written before what it is the length of.
    fn hash(&mut self, game: &PgnGame) {
        let start = game.start.clone().as_first().fen();
        self.hasher.update((start.len() as u64).to_le_bytes());
        self.hasher.update(start);
        self.hasher.update((game.moves.len() as u64).to_le_bytes());
        game.moves.iter().for_each(|played| self.hasher.update(played.mv.to_bits().to_le_bytes()));
        let result = game.result.to_string();
        self.hasher.update((result.len() as u64).to_le_bytes());
        self.hasher.update(result);
    }

    fn hand_over(&mut self) {
        let plies = self.counting.plies;
        let played: Vec<PlayedGame> = self.batch.par_iter().map(|game| PlayedGame::of(game, plies)).collect();
        self.batch.clear();
        played.into_iter().for_each(&mut self.take);
    }

    fn finished(mut self) -> Tally {
        self.hand_over();
        self.tally.digest = hex(&self.hasher.finalize());
        self.tally
    }
}

/// Results by position and move: games won, drawn and lost by whoever made the move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    by_position: HashMap<BookKey, BTreeMap<Move, [u32; 3]>>,
}

impl Counts {
    /// Counts games in the positions that are wanted, and tells the progress of every game.
    ///
    /// # Errors
    /// As [`Sources::each`].
    pub fn of(
        sources: &Sources<'_>,
        progress: &Progress,
        is_wanted: impl Fn(BookKey) -> bool,
    ) -> Result<(Self, Tally), GamesError> {
        let mut counts = Self::default();
        let tally = sources.each(|game| {
            progress.game(game.moves.len() as u64);
            for made in game.moves.iter().filter(|made| is_wanted(made.key)) {
                let results = counts.by_position.entry(made.key).or_default().entry(made.mv).or_default();
                let count = &mut results[game.place(made)];
                *count = count.saturating_add(1);
            }
        })?;
        Ok((counts, tally))
    }

    /// The results of a move.
    pub fn results(&self, key: BookKey, mv: Move) -> [u32; 3] {
        self.by_position.get(&key).and_then(|moves| moves.get(&mv)).copied().unwrap_or_default()
    }

    /// The moves that were made in a position, with their results, by rising bits.
    pub fn moves(&self, key: BookKey) -> impl Iterator<Item = (Move, [u32; 3])> {
        self.by_position.get(&key).into_iter().flatten().map(|(&mv, &results)| (mv, results))
    }
}

/// How many games there are, and their digest, without a look at their positions.
///
/// # Errors
/// As [`Sources::each`].
pub fn look_at(sources: &Sources<'_>) -> Result<Tally, GamesError> {
    Sources { counting: Counting { plies: 0, ..sources.counting }, ..*sources }.each(|_| ())
}
