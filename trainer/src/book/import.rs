//! Books of games alone: positions that several games came through, the moves that were made there, and who won.
//!
//! Nothing is searched, so nothing has a value; weights follow from results. Games are read twice: first to see which positions enough
//! of them came through, then to count the moves there, so that the many positions of single games are never all in memory with
//! their moves. `docs/books.md` says what is kept.

use super::games::{Counting, Counts, GamesError, Sources, Tally};
use super::graph::Child;
use crate::progress::Progress;
use fairyforge_engine::book::{Book, BookError, BookKey, BookMove, Manifest, Oriented, Starts};
use fairyforge_engine::moves::Move;
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

/// What such a book says of how it was made.
pub const METHOD: &str = "games";
/// The weight of the move that brought the most points.
const BEST: u64 = 10_000;

/// Which games make the book, and what is kept of them.
pub struct Import<'a> {
    /// Runs, folders of shards and PGN files.
    pub paths: &'a [PathBuf],
    /// The game.
    pub variant: &'a Arc<Variant>,
    /// Positions are kept from which so many games went on.
    pub least_games: u32,
    /// What is looked at of each game.
    pub counting: Counting,
    /// The program's version, as the book tells it.
    pub program: &'a str,
}

/// A book that was made of games.
pub struct Imported {
    /// The book.
    pub book: Book,
    /// What was read.
    pub tally: Tally,
    /// Positions left out, as fewer games came through them.
    pub rare: usize,
    /// Positions left out, as no way to them leads through positions that are kept.
    pub unreachable: usize,
}

/// Why no book could be made.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Games cannot be read.
    #[error(transparent)]
    Games(#[from] GamesError),
    /// Not enough games begin in one position.
    #[error("expected {least} games or more from one start, got {most} of {games} games that count")]
    TooFew {
        /// So many are needed.
        least: u32,
        /// So many begin in the position in which the most do.
        most: u32,
        /// Games that count.
        games: u64,
    },
    /// Two positions have one key.
    #[error("two positions have the key {key}, one of them {fen}: a book cannot hold both")]
    Collision {
        /// The key.
        key: BookKey,
        /// One of the positions.
        fen: String,
    },
    /// What was made is no book.
    #[error(transparent)]
    Book(#[from] BookError),
}

/// The weights of moves by their results, won, drawn and lost: two points for a game won, one for a draw, in parts of 10,000 of the move
/// that has the most, rounded; nothing where none has a point.
pub fn weights(results: &[[u32; 3]]) -> Vec<u16> {
    let points = |&[won, drawn, _]: &[u32; 3]| 2 * u64::from(won) + u64::from(drawn);
    let best = results.iter().map(points).max().unwrap_or_default().max(1);
    results.iter().map(|results| ((BEST * points(results) + best / 2) / best) as u16).collect()
}

/// Through which positions games came, and where they began.
#[derive(Default)]
struct Passed {
    games: HashMap<BookKey, u32>,
    starts: HashMap<BookKey, Position>,
    /// A start that has the key of another one.
    collision: Option<(BookKey, Position)>,
}

impl Import<'_> {
    /// Makes the book.
    ///
    /// # Errors
    /// As [`ImportError`] says.
    pub fn run(&self) -> Result<Imported, ImportError> {
        let sources = Sources { paths: self.paths, variant: self.variant, counting: self.counting };
        let (passed, tally) = self.passed(&sources)?;
        let is_kept = |key: BookKey| passed.games.get(&key).is_some_and(|&games| games >= self.least_games);
        let roots = self.roots(&passed, &tally)?;
        let progress = Progress::new("counting", "games", tally.games);
        let (counts, again) = Counts::of(&sources, &progress, is_kept)?;
        progress.finish();
        again.expect(&tally.digest)?;
        let positions = reached(&roots, &counts)?;
        let kept = passed.games.values().filter(|&&games| games >= self.least_games).count();
        let (rare, unreachable) = (passed.games.len() - kept, kept - positions.len());
        let book = Book::new(&roots, self.manifest(&tally), positions)?;
        Ok(Imported { book, tally, rare, unreachable })
    }

    fn passed(&self, sources: &Sources<'_>) -> Result<(Passed, Tally), ImportError> {
        let mut passed = Passed::default();
        let tally = sources.each(|game| {
            let keys: HashSet<BookKey> = game.moves.iter().map(|made| made.key).collect();
            keys.into_iter().for_each(|key| *passed.games.entry(key).or_default() += 1);
            let Some(first) = game.moves.first() else { return };
            let known = passed.starts.entry(first.key).or_insert_with(|| game.start.clone());
            if Oriented::of(known).check() != Oriented::of(&game.start).check() {
                passed.collision = Some((first.key, game.start));
            }
        })?;
        match passed.collision.take() {
            Some((key, start)) => Err(ImportError::Collision { key, fen: start.fen() }),
            None => Ok((passed, tally)),
        }
    }

    /// Where games begin that are kept, the most frequent first.
    fn roots(&self, passed: &Passed, tally: &Tally) -> Result<Vec<Position>, ImportError> {
        let games = |key: &BookKey| passed.games.get(key).copied().unwrap_or_default();
        let mut starts: Vec<(BookKey, &Position)> = passed.starts.iter().map(|(&key, start)| (key, start)).collect();
        starts.sort_by_key(|(key, _)| (Reverse(games(key)), *key));
        let most = starts.first().map_or(0, |(key, _)| games(key));
        if most < self.least_games {
            return Err(ImportError::TooFew { least: self.least_games, most, games: tally.games });
        }
        let kept = starts.into_iter().take_while(|(key, _)| games(key) >= self.least_games);
        Ok(kept.map(|(_, start)| start.clone()).collect())
    }

    fn manifest(&self, tally: &Tally) -> Manifest {
        Manifest {
            method: METHOD.into(),
            program: self.program.into(),
            games: tally.games,
            counted: Some(tally.counted(self.counting)),
            ..Manifest::default()
        }
    }
}

/// The positions that are counted and can be reached from the roots, with their moves.
fn reached(roots: &[Position], counts: &Counts) -> Result<Vec<(BookKey, Vec<BookMove>)>, ImportError> {
    let mut checks: HashMap<BookKey, u64> = HashMap::new();
    let mut positions = Vec::new();
    // Packed, as there may be many: a few dozen bytes each.
    let mut waiting: Vec<Vec<u8>> = roots.iter().map(Position::pack).collect();
    let variant = roots.first().map(Position::variant).cloned();
    while let (Some(packed), Some(variant)) = (waiting.pop(), &variant) {
        let oriented = Oriented::of(&Position::unpack(variant, &packed).expect("it was packed here"));
        let (key, check) = (oriented.key(), oriented.check());
        let position = oriented.into_position();
        let collision = || ImportError::Collision { key, fen: position.fen() };
        match checks.insert(key, check) {
            Some(known) if known == check => continue,
            Some(_) => return Err(collision()),
            None => {}
        }
        let legal = position.legal_moves();
        let moves: Vec<_> = counts.moves(key).collect();
        if moves.iter().any(|(mv, _)| !legal.contains(mv)) {
            return Err(collision());
        }
        let behind = moves.iter().map(|&(mv, _)| Child::behind(&position, mv));
        let known = behind.filter(|child| counts.moves(child.key).next().is_some() && !checks.contains_key(&child.key));
        waiting.extend(known.map(|child| child.position.pack()));
        positions.push((key, entries(&moves)));
    }
    Ok(positions)
}

fn entries(moves: &[(Move, [u32; 3])]) -> Vec<BookMove> {
    let results: Vec<[u32; 3]> = moves.iter().map(|(_, results)| *results).collect();
    let weights = weights(&results);
    let entry = |(&(mv, results), weight)| BookMove { weight, results, ..BookMove::new(mv) };
    moves.iter().zip(weights).map(entry).collect()
}

/// What is looked at unless somebody says otherwise.
pub const USUAL: Counting = Counting { plies: 40, starts: Starts::Array };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_follow_points() {
        assert_eq!(weights(&[[3, 0, 0], [1, 2, 9], [0, 0, 5], [0, 1, 0]]), [10_000, 6_667, 0, 1_667]);
        assert_eq!(weights(&[[0, 0, 4]]), [0]);
        assert_eq!(weights(&[[u32::MAX, u32::MAX, 0]]), [10_000]);
        assert!(weights(&[]).is_empty());
    }
}
