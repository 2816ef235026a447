//! The stream of batches: shards in a shuffled order, some of them at a time in memory, their positions shuffled.
//!
//! ```text
//! epoch     all shards once, in an order drawn from (seed, epoch)
//! window    the next shards of the epoch, until there are enough positions; all positions in an order drawn from
//!           (seed, epoch, window)
//! batch     the next positions, across windows and epochs
//! ```
//!
//! If one window holds everything, it stays in memory. Otherwise another thread reads the next window meanwhile. The stream
//! depends on the seed, the data and the settings alone; a [`Cursor`] says where it is, and begins it there again.

use super::batch::Batch;
use super::samples::Samples;
use super::schedule::Blend;
use super::source::{DataError, Decoded, Part, Source};
use crate::checksum::number;
use crate::selfplay::seeds::Dice;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{JoinHandle, spawn};

/// Separate the lots of shuffling from all others.
const SHARDS_LOT: &[u8] = b"fairyforge order of shards 1";
const POSITIONS_LOT: &[u8] = b"fairyforge order of positions 1";

/// What decides the stream, beside the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedSettings {
    /// Seed of all orders.
    pub seed: u64,
    /// Positions of a batch.
    pub batch: usize,
    /// Positions after which a window is large enough.
    pub window: usize,
}

/// Where a stream is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cursor {
    /// How often all shards were gone through.
    pub epoch: u64,
    /// Where the window begins, in the epoch's order of shards.
    pub first_shard: usize,
    /// Positions of the window that were taken.
    pub taken: usize,
}

/// A stream of batches.
#[derive(Debug)]
pub struct Feed {
    source: Arc<Source>,
    settings: FeedSettings,
    cursor: Cursor,
    window: Window,
    /// The window's positions, in the order in which they are taken.
    order: Vec<u32>,
    ahead: Option<JoinHandle<Result<Window, DataError>>>,
}

/// Positions of some shards.
#[derive(Clone, Debug)]
struct Window {
    samples: Arc<Samples>,
    /// Which ones, in the epoch's order.
    shards: Range<usize>,
    holds_all: bool,
}

impl Feed {
    /// Takes up the stream at `cursor`.
    ///
    /// # Errors
    /// Data cannot be read, or there are none.
    pub fn new(source: Arc<Source>, settings: FeedSettings, cursor: Cursor) -> Result<Self, DataError> {
        let window = read_window(&source, settings, (cursor.epoch, cursor.first_shard))?;
        let order = order(settings, cursor, window.samples.len());
        let mut feed = Self { source, settings, cursor, window, order, ahead: None };
        feed.look_ahead();
        Ok(feed)
    }

    /// Where the stream is.
    #[must_use]
    pub const fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// The next batch.
    ///
    /// # Errors
    /// Data cannot be read.
    pub fn next_batch(&mut self, blend: Blend) -> Result<Batch, DataError> {
        let mut batch = self.take(self.settings.batch, blend);
        while batch.len() < self.settings.batch {
            self.next_window()?;
            batch.append(&self.take(self.settings.batch - batch.len(), blend));
        }
        Ok(batch)
    }

    /// So many positions, or what the window still has.
    fn take(&mut self, count: usize, blend: Blend) -> Batch {
        let left = &self.order[self.cursor.taken..];
        let chosen = &left[..count.min(left.len())];
        self.cursor.taken += chosen.len();
        let slots = self.source.inputs().slots();
        self.source.pool().install(|| self.window.samples.batch(chosen, slots, blend))
    }

    fn next_window(&mut self) -> Result<(), DataError> {
        let (epoch, first_shard) = self.following();
        if !self.window.holds_all {
            self.window = match self.ahead.take() {
                Some(ahead) => ahead.join().unwrap_or_else(|panic| resume_unwind(panic))?,
                None => read_window(&self.source, self.settings, (epoch, first_shard))?,
            };
        }
        self.cursor = Cursor { epoch, first_shard, taken: 0 };
        self.order = order(self.settings, self.cursor, self.window.samples.len());
        self.look_ahead();
        Ok(())
    }

    /// Where the next window begins.
    fn following(&self) -> (u64, usize) {
        let end = self.window.shards.end;
        if end < self.source.shards() { (self.cursor.epoch, end) } else { (self.cursor.epoch + 1, 0) }
    }

    fn look_ahead(&mut self) {
        if self.window.holds_all {
            return;
        }
        let (source, settings, begin) = (Arc::clone(&self.source), self.settings, self.following());
        self.ahead = Some(spawn(move || read_window(&source, settings, begin)));
    }
}

/// Shards one after the other in the epoch's order, until there are enough positions. Within the window they lie in their
/// usual order, so that a window that holds everything is the same in every epoch.
fn read_window(source: &Source, settings: FeedSettings, (epoch, first): (u64, usize)) -> Result<Window, DataError> {
    let order = shuffled(number(&[SHARDS_LOT, &settings.seed.to_le_bytes(), &epoch.to_le_bytes()]), source.shards());
    let mut read: Vec<(u32, Decoded)> = Vec::new();
    let mut positions = 0;
    for &shard in &order[first..] {
        if positions >= settings.window {
            break;
        }
        let decoded = source.read(shard as usize, Part::Training)?;
        positions += decoded.samples.len();
        read.push((shard, decoded));
    }
    let shards = first..first + read.len();
    read.sort_by_key(|&(shard, _)| shard);
    let mut all = Decoded::default();
    read.into_iter().for_each(|(_, decoded)| all.append(&decoded));
    if all.samples.is_empty() && shards == (0..source.shards()) {
        return Err(DataError::NothingToLearn { shards: shards.len(), tally: all.tally });
    }
    let holds_all = shards == (0..source.shards());
    Ok(Window { samples: Arc::new(all.samples), shards, holds_all })
}

fn order(settings: FeedSettings, cursor: Cursor, positions: usize) -> Vec<u32> {
    let numbers = [settings.seed, cursor.epoch, cursor.first_shard as u64].map(u64::to_le_bytes);
    shuffled(number(&[POSITIONS_LOT, &numbers[0], &numbers[1], &numbers[2]]), positions)
}

/// The numbers below `count`, all orders equally likely.
fn shuffled(seed: u64, count: usize) -> Vec<u32> {
    let mut dice = Dice::new(seed, 0);
    let mut numbers: Vec<u32> = (0..count as u32).collect();
    for last in (1..count).rev() {
        numbers.swap(last, dice.below(last + 1));
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{GameRecord, Origin, PositionRecord, write_shard};
    use crate::train::plan::{DataSettings, FilterSettings};
    use crate::train::source::Choice;
    use fairyforge_engine::evaluate::network::{Architecture, Features};
    use fairyforge_engine::position::{Position, Unobserved};
    use fairyforge_engine::variant::Variant;
    use std::path::Path;

    /// Shards, and games in each.
    const SHARDS: u64 = 6;
    const GAMES: u64 = 4;
    const PLIES: u16 = 9;
    const BLEND: Blend = Blend { centipawns: 400.0, result_share: 0.0 };

    /// A game by lot whose positions all have another score.
    fn game(variant: &Arc<Variant>, number: u64) -> GameRecord {
        let (mut dice, mut position) = (Dice::new(1, number), Position::start(variant));
        let positions = (0..PLIES).map(|ply| {
            let record = PositionRecord {
                ply,
                packed: position.pack(),
                score: (number * u64::from(PLIES)) as i16 + ply as i16,
                quiet: true,
                ..PositionRecord::default()
            };
            let mv = *dice.pick(&position.legal_moves()).unwrap();
            position.make(mv, &mut Unobserved);
            record
        });
        GameRecord { game: number, positions: positions.collect(), ..GameRecord::default() }
    }

    fn source(folder: &Path, threads: usize) -> Arc<Source> {
        source_from_ply(folder, threads, 0)
    }

    fn source_from_ply(folder: &Path, threads: usize, least_ply: u16) -> Arc<Source> {
        let variant = Arc::new(Variant::load("chess").unwrap());
        if !folder.join("games-00000000.parquet").exists() {
            let origin = Origin { rules_hash: variant.rules_hash().to_owned(), ..Origin::default() };
            for shard in 0..SHARDS {
                let games: Vec<_> = (0..GAMES).map(|game_in| game(&variant, shard * GAMES + game_in)).collect();
                write_shard(folder, &origin, &games).unwrap();
            }
        }
        let features = Arc::new(Features::new(&variant, Architecture::plain(64)).unwrap());
        let choice = Choice { filter: FilterSettings { least_ply, ..FilterSettings::default() }, ..Choice::default() };
        let data = [DataSettings { folder: folder.to_owned(), weight: 1.0 }];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        Arc::new(Source::open((variant, features), &data, choice, Arc::new(pool), None).unwrap())
    }

    const fn settings(window: usize) -> FeedSettings {
        FeedSettings { seed: 3, batch: 10, window }
    }

    /// The scores of so many batches: they tell the positions apart.
    fn scores(feed: &mut Feed, batches: usize) -> Vec<i16> {
        let score = |target: &f32| (400.0 * (f64::from(*target) / (1.0 - f64::from(*target))).ln()).round() as i16;
        (0..batches)
            .flat_map(|_| feed.next_batch(BLEND).unwrap().targets.iter().map(score).collect::<Vec<_>>())
            .collect()
    }

    #[test]
    fn an_epoch_has_every_position_once_in_another_order_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let all = (SHARDS * GAMES) as usize * usize::from(PLIES);
        // One window, several windows, a window a shard.
        for window in [1_000, 80, 1] {
            let mut feed = Feed::new(source(folder.path(), 2), settings(window), Cursor::default()).unwrap();
            let taken = scores(&mut feed, 3 * all / 10);
            let epochs: Vec<&[i16]> = taken.chunks_exact(all).collect();
            assert!(epochs.len() >= 2);
            for epoch in &epochs {
                let mut sorted = epoch.to_vec();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..all as i16).collect::<Vec<i16>>(), "window {window}");
            }
            assert_ne!(epochs[0], epochs[1], "window {window}");
            assert!(!epochs[0].is_sorted());
        }
    }

    #[test]
    fn a_stream_is_taken_up_where_it_was_on_any_number_of_threads() {
        let folder = tempfile::tempdir().unwrap();
        for window in [1_000, 80] {
            let mut feed = Feed::new(source(folder.path(), 1), settings(window), Cursor::default()).unwrap();
            for _ in 0..4 {
                let _ = scores(&mut feed, 7);
                let mut resumed = Feed::new(source(folder.path(), 3), settings(window), feed.cursor()).unwrap();
                let mut undisturbed = Feed::new(source(folder.path(), 1), settings(window), Cursor::default()).unwrap();
                while undisturbed.cursor() != feed.cursor() {
                    let _ = scores(&mut undisturbed, 1);
                }
                assert_eq!(scores(&mut resumed, 30), scores(&mut undisturbed, 30), "window {window}");
            }
        }
    }

    #[test]
    fn nothing_to_learn_is_an_error_that_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let source = source_from_ply(folder.path(), 1, 99);
        let message = Feed::new(source, settings(10), Cursor::default()).unwrap_err().to_string();
        assert!(message.contains("got none in 6 shards") && message.contains("216 early"), "{message}");
    }
}
