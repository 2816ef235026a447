//! Whether a book is what it says: moves legal, positions reached, values and weights those that follow from the searches, and
//! searches that come out the same again.

use super::games::{Counting, Counts, GamesError, Sources};
use super::graph::{Child, Found};
use super::import;
use super::searcher::Searcher;
use super::values::{Links, before, behind};
use super::walk::Walk;
use super::weights::weights;
use super::{CandidateSettings, Plan, SearchSettings, WeightSettings};
use crate::progress::Progress;
use crate::selfplay::seeds::Dice;
use fairyforge_engine::book::{Book, BookKey, BookMove, Manifest, Oriented};
use fairyforge_engine::evaluate::Judge;
use fairyforge_engine::position::Position;
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// What was found out about a book.
#[derive(Clone, Debug, Default)]
pub struct Verification {
    /// Positions reached from the roots.
    pub positions: usize,
    /// Moves of these.
    pub moves: usize,
    /// Positions behind moves, beyond the book.
    pub exits: usize,
    /// Whether values could be made again from the searches.
    pub valued: bool,
    /// Whether weights could be made again from the plan.
    pub weighed: bool,
    /// What is wrong, in words.
    pub faults: Vec<String>,
}

/// What searching again found.
#[derive(Clone, Debug, Default)]
pub struct Again {
    /// Searches.
    pub searches: usize,
    /// The greatest difference, in centipawns.
    pub largest_difference: u32,
    /// What came out otherwise, in words.
    pub faults: Vec<String>,
}

/// Looks at a book without searching.
pub fn verify(book: &Book) -> Verification {
    let walk = Walk::of(book);
    let mut found = Verification { faults: walk.faults.clone(), positions: walk.len(), ..Verification::default() };
    let net = Net::of(book, &walk, &mut found.faults);
    found.moves = net.links.children.len();
    found.exits = net.links.own.len() - walk.len();
    let law = Law::of(book);
    found.weighed = law.is_some();
    found.valued = net.is_whole;
    let values = net.links.values();
    for index in 0..walk.len() {
        let position = walk.position(index);
        let moves: Vec<BookMove> = legal(&walk, book, &position).into_iter().map(|(entry, _)| entry).collect();
        check_images(&position, &moves, &mut found.faults);
        if net.is_whole {
            let seen: Vec<i16> =
                net.links.children(index).iter().map(|&child| before(values[child as usize])).collect();
            check_values(&position, &moves, &seen, &mut found.faults);
        }
        if let Some(expected) = law.as_ref().and_then(|law| law.weights(&moves)) {
            check_weights(&position, &moves, &expected, &mut found.faults);
        }
    }
    found
}

/// Counts the games again that a book was told of. Nothing to be counted, or wrong, is nothing to tell.
///
/// # Errors
/// The games cannot be read, or are others.
pub fn count_again(book: &Book, paths: &[PathBuf]) -> Result<Vec<String>, GamesError> {
    let manifest = &book.header().manifest;
    let (Some(counted), Some(root)) = (&manifest.counted, book.roots().first()) else { return Ok(Vec::new()) };
    let counting = Counting { plies: counted.plies, starts: counted.starts };
    let progress = Progress::new("counting again", "games", manifest.games);
    let sources = Sources { paths, variant: root.variant(), counting };
    let (counts, tally) = Counts::of(&sources, &progress, |key| book.has(key))?;
    progress.finish();
    tally.expect(&counted.digest)?;
    let mut faults = Vec::new();
    if tally.games != manifest.games {
        faults.push(format!("expected {} games, got {}", manifest.games, tally.games));
    }
    let walk = Walk::of(book);
    for index in 0..walk.len() {
        check_counts(&walk.position(index), book, &counts, &mut faults);
    }
    Ok(faults)
}

fn check_counts(position: &Position, book: &Book, counts: &Counts, faults: &mut Vec<String>) {
    let oriented = Oriented::of(position);
    let entries = book.moves_of(oriented.key());
    for entry in &entries {
        let (expected, got) = (counts.results(oriented.key(), entry.mv), entry.results);
        if expected != got {
            let (text, fen) = (position.move_text(oriented.asked(entry.mv)), position.fen());
            faults.push(format!("{text} in {fen}: expected the results {expected:?}, got {got:?}"));
        }
    }
    if book.header().manifest.method == import::METHOD {
        let missing = counts.moves(oriented.key()).filter(|(mv, _)| entries.iter().all(|entry| entry.mv != *mv));
        faults.extend(missing.map(|(mv, _)| {
            let text = position.move_text(oriented.asked(mv));
            format!("{text} in {}: expected every move of the games, got all but this", position.fen())
        }));
    }
}

/// The moves of a position that are legal, with what is behind them.
fn legal(walk: &Walk, book: &Book, position: &Position) -> Vec<(BookMove, Child)> {
    walk.moves(book, position).into_iter().filter_map(|(entry, child)| Some((entry, child?))).collect()
}

/// Of two moves that are images of one another in a position that is its own, a book has the one with lesser bits.
fn check_images(position: &Position, moves: &[BookMove], faults: &mut Vec<String>) {
    let oriented = Oriented::of(position);
    for entry in moves.iter().filter(|entry| oriented.asked(oriented.held(entry.mv)) != entry.mv) {
        let (text, fen) = (position.move_text(entry.mv), position.fen());
        faults.push(format!(
            "{text} in {fen}: expected its mirror image, which is the same move, got both or the wrong one"
        ));
    }
}

fn check_values(position: &Position, moves: &[BookMove], seen: &[i16], faults: &mut Vec<String>) {
    for (entry, &expected) in moves.iter().zip(seen) {
        if entry.value != Some(expected) {
            let got = entry.value.map_or_else(|| "none".into(), |value| value.to_string());
            let text = position.move_text(entry.mv);
            faults.push(format!("{text} in {}: expected the value {expected}, got {got}", position.fen()));
        }
    }
}

/// What weights follow from.
enum Law {
    /// From values, as a plan says.
    Values(WeightSettings),
    /// From results of games.
    Results,
}

impl Law {
    fn of(book: &Book) -> Option<Self> {
        let Manifest { method, plan, .. } = &book.header().manifest;
        if method == import::METHOD {
            return Some(Self::Results);
        }
        Plan::read(plan).ok().map(|plan| Self::Values(plan.weights))
    }

    fn weights(&self, moves: &[BookMove]) -> Option<Vec<u16>> {
        match self {
            Self::Values(settings) => {
                let values = moves.iter().map(|entry| entry.value).collect::<Option<Vec<i16>>>()?;
                Some(weights(&values, settings))
            }
            Self::Results => Some(import::weights(&moves.iter().map(|entry| entry.results).collect::<Vec<_>>())),
        }
    }
}

fn check_weights(position: &Position, moves: &[BookMove], expected: &[u16], faults: &mut Vec<String>) {
    for (entry, &expected) in moves.iter().zip(expected) {
        if entry.weight != expected {
            let text = position.move_text(entry.mv);
            let fen = position.fen();
            faults.push(format!("{text} in {fen}: expected the weight {expected}, got {}", entry.weight));
        }
    }
}

/// The positions of a book and those behind it: first the ones that were reached, in their order, then the exits.
struct Net {
    links: Links,
    /// Whether every exit has a value.
    is_whole: bool,
}

impl Net {
    fn of(book: &Book, walk: &Walk, faults: &mut Vec<String>) -> Self {
        let mut net = Self { links: Links::default(), is_whole: true };
        let mut exits: HashMap<BookKey, u32> = HashMap::new();
        let mut exit_values: Vec<i16> = Vec::new();
        let mut told: HashMap<BookKey, (Option<i16>, u64)> = HashMap::new();
        for index in 0..walk.len() {
            let position = walk.position(index);
            for (entry, child) in legal(walk, book, &position) {
                let says = (entry.searched, entry.nodes);
                if *told.entry(child.key).or_insert(says) != says {
                    faults.push(format!(
                        "the position behind {} in {} is told in two ways",
                        position.move_text(entry.mv),
                        position.fen()
                    ));
                }
                if let Some(over) = child.over.filter(|&over| entry.searched.is_some_and(|said| said != before(over))) {
                    let (text, fen) = (position.move_text(entry.mv), position.fen());
                    faults.push(format!("{text} in {fen} ends the game: expected {} of the search", before(over)));
                }
                let id = walk.index(child.key).unwrap_or_else(|| {
                    *exits.entry(child.key).or_insert_with(|| {
                        net.is_whole &= entry.searched.is_some();
                        exit_values.push(entry.searched.map_or(0, behind));
                        (walk.len() + exit_values.len() - 1) as u32
                    })
                });
                net.links.children.push(id);
            }
            net.links.ends.push(net.links.children.len() as u32);
        }
        net.links.own = std::iter::repeat_n(0, walk.len()).chain(exit_values).collect();
        let end = net.links.children.len() as u32;
        net.links.ends.resize(net.links.own.len(), end);
        net
    }
}

/// What is searched again: so many positions behind moves, drawn by lot.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// How many; all, if there are no more.
    pub count: usize,
    /// The seed of the lot.
    pub seed: u64,
}

/// Searches a sample of the positions behind moves as they were searched, on rayon's current threads. `None`: stopped.
pub fn search_again(book: &Book, judge: &Judge, sample: Sample, stop: &AtomicBool) -> Option<Again> {
    let Some(limits) = book.header().manifest.limits else { return Some(Again::default()) };
    let settings = SearchSettings { nodes: limits.nodes, table_mebibytes: limits.table_mebibytes };
    let walk = Walk::of(book);
    let drawn = drawn(book, &walk, sample);
    let searcher = || Searcher::new(judge, settings, CandidateSettings::default(), stop);
    let looked = drawn.par_iter().map_init(searcher, |searcher, &(index, number)| {
        let position = walk.position(index);
        let (entry, child) = legal(&walk, book, &position).swap_remove(number);
        searcher.look(&child.position).map(|found| (position, entry, found))
    });
    let looked: Vec<(Position, BookMove, Found)> = looked.collect::<Option<Vec<_>>>()?;
    let mut again = Again { searches: looked.len(), ..Again::default() };
    for (position, entry, found) in looked {
        let (expected, got) = (entry.searched.unwrap_or_default(), before(found.score));
        again.largest_difference = again.largest_difference.max(u32::from(expected.abs_diff(got)));
        if (expected, entry.nodes) != (got, found.nodes) {
            let (text, fen) = (position.move_text(entry.mv), position.fen());
            let (then, now) = (entry.nodes, found.nodes);
            again.faults.push(format!("{text} in {fen}: {expected} by {then} nodes then, {got} by {now} now"));
        }
    }
    Some(again)
}

/// Moves behind which a search was made, as (position, legal move), in order.
fn drawn(book: &Book, walk: &Walk, sample: Sample) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for index in 0..walk.len() {
        let moves = legal(walk, book, &walk.position(index));
        let searched =
            moves.iter().enumerate().filter(|(_, (entry, child))| entry.searched.is_some() && child.over.is_none());
        all.extend(searched.map(|(number, _)| (index, number)));
    }
    let mut dice = Dice::new(sample.seed, 0);
    let mut chosen = BTreeSet::new();
    for _ in 0..sample.count.min(all.len()) {
        let at = dice.below(all.len());
        chosen.insert(all.swap_remove(at));
    }
    chosen.into_iter().collect()
}
