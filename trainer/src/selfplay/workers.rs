//! Many games side by side: shards are played in parallel, each by one thread, and written as they are done.

use super::openings::OpeningMaker;
use super::{Openings, Player, record_game};
use crate::play::{Adjudication, Allowance, EngineMover, Referee};
use crate::progress::Progress;
use crate::record::{GameRecord, Origin, RecordError, write_shard_inside};
use crate::run_dir::{ShardDesk, create_folder};
use crate::share::{Share, Shared};
use fairyforge_engine::endgame::Tables;
use fairyforge_engine::evaluate::Judge;
use fairyforge_engine::search::Params;
use fairyforge_engine::variant::Variant;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What self-play is cut into.
const UNITS: &str = "games";

/// What is played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SelfplaySettings {
    /// Games in all; an odd number is raised to the next even one, since openings are played twice.
    pub games: u64,
    /// Nodes a move.
    pub nodes: u64,
    /// Size of a player's table, in mebibytes.
    pub table_mebibytes: usize,
    /// Games a shard: what a killed run loses at most, for each thread.
    pub shard_games: u64,
    /// Where games begin.
    pub openings: Openings,
    /// When they are ended early.
    pub adjudication: Adjudication,
}

impl Default for SelfplaySettings {
    fn default() -> Self {
        Self {
            games: 1000,
            nodes: 500,
            table_mebibytes: 1,
            shard_games: 20,
            openings: Openings::default(),
            adjudication: Adjudication::default(),
        }
    }
}

impl SelfplaySettings {
    /// Games in all, an even number.
    pub fn even_games(&self) -> u64 {
        self.games.next_multiple_of(2)
    }

    /// First game and number of games of every shard, counting from `base`.
    fn shards(&self, base: u64) -> Vec<Stretch> {
        let size = self.shard_games.next_multiple_of(2).max(2);
        let firsts = (0..self.even_games()).step_by(size as usize);
        firsts.map(|first| (base + first, size.min(self.even_games() - first))).collect()
    }
}

/// Why self-play ended early.
#[derive(Debug, thiserror::Error)]
pub enum SelfplayError {
    /// A shard could not be written or an old one not be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Somebody asked for it; finished shards are safe.
    #[error("stopped on request")]
    Stopped,
    /// The games are played by several processes, and are not all there.
    #[error(transparent)]
    Shared(#[from] Shared),
}

/// A shard to be played: its first game, and how many.
type Stretch = (u64, u64);

/// What is needed to play one generation.
pub struct Generation<'a> {
    /// The game.
    pub variant: &'a Arc<Variant>,
    /// What is played.
    pub settings: &'a SelfplaySettings,
    /// How positions are judged.
    pub judge: &'a Judge,
    /// Tables that end games, as the settings name them.
    pub endgames: Option<&'a Tables>,
    /// What the records say about themselves; its seed and first game number decide the games.
    pub origin: &'a Origin,
    /// Which of its games this process plays.
    pub share: Share,
}

impl Generation<'_> {
    /// Plays all games of this process's share that are not in `folder` yet, on rayon's current threads. The records depend neither on
    /// the number of threads nor on earlier attempts that were cut off, nor on who plays which part.
    ///
    /// # Errors
    /// A shard cannot be written, or `stop` was set, or with this share not all games are there: shards already written stay.
    pub fn play(
        &self,
        folder: &Path,
        finished: &[u64],
        stop: &AtomicBool,
        progress: &Progress,
    ) -> Result<(), SelfplayError> {
        let shards = self.settings.shards(self.origin.base_game);
        let finished: BTreeSet<u64> = finished.iter().copied().collect();
        let lacking = |shards: &[Stretch]| -> Vec<Stretch> {
            shards.iter().copied().filter(|(first, _)| !finished.contains(first)).collect()
        };
        let open = lacking(&shards);
        let (missing, of) = (games_of(&open), games_of(&shards));
        match self.share {
            Share::Nothing if missing > 0 => {
                Err(Shared::Wanted { place: folder.to_owned(), units: UNITS, missing, of }.into())
            }
            Share::Part(part) if missing > 0 => {
                let range = part.range(shards.len() as u64);
                let mine = &shards[range.start as usize..range.end as usize];
                progress.narrow(&format!("part {part}"), games_of(mine));
                let open = lacking(mine);
                let played = games_of(&open);
                progress.skip(games_of(mine) - played);
                self.play_apart(folder, open, stop, progress)?;
                Err(Shared::Played { part, place: folder.to_owned(), units: UNITS, played }.into())
            }
            Share::All | Share::Nothing | Share::Part(_) => {
                progress.skip(of - missing);
                create_folder(folder).map_err(RecordError::from)?;
                let write = |games: &[GameRecord]| write_shard_inside(folder, self.origin, games).map(drop);
                self.play_shards(open, &write, stop, progress)
            }
        }
    }

    /// Plays shards while others may write to `folder` too.
    fn play_apart(
        &self,
        folder: &Path,
        open: Vec<Stretch>,
        stop: &AtomicBool,
        progress: &Progress,
    ) -> Result<(), SelfplayError> {
        create_folder(folder).map_err(RecordError::from)?;
        let desk = ShardDesk::new(folder).map_err(RecordError::from)?;
        let write =
            |games: &[GameRecord]| Ok(desk.hand_in(&write_shard_inside(desk.own_folder(), self.origin, games)?)?);
        self.play_shards(open, &write, stop, progress)
    }

    fn play_shards(
        &self,
        open: Vec<Stretch>,
        write: &(dyn Fn(&[GameRecord]) -> Result<(), RecordError> + Sync),
        stop: &AtomicBool,
        progress: &Progress,
    ) -> Result<(), SelfplayError> {
        let maker = OpeningMaker::new(self.variant, &self.settings.openings);
        let failure = Mutex::new(None);
        open.into_iter().par_bridge().for_each(|(first, games)| {
            let Some(games) = self.shard(&maker, first, games, stop, progress) else { return };
            if let Err(error) = write(&games) {
                // Whoever cannot write has no use for further games.
                stop.store(true, Ordering::Relaxed);
                failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        });
        match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(SelfplayError::Record(error)),
            None if stop.load(Ordering::Relaxed) => Err(SelfplayError::Stopped),
            None => Ok(()),
        }
    }

    fn shard(
        &self,
        maker: &OpeningMaker,
        first: u64,
        games: u64,
        stop: &AtomicBool,
        progress: &Progress,
    ) -> Option<Vec<GameRecord>> {
        if stop.load(Ordering::Relaxed) {
            // Before tables are made: a run may have millions of shards to pass over.
            return None;
        }
        let player = || Player {
            mover: EngineMover::new(self.judge, &Params::default(), self.settings.table_mebibytes),
            allowance: Allowance::nodes(self.settings.nodes),
        };
        let mut players = [player(), player()];
        let (adjudication, endgames) = (&self.settings.adjudication, self.endgames);
        let referee = Referee { adjudication, endgames, time_margin: Duration::ZERO, stop };
        let mut records = Vec::with_capacity(games as usize);
        for pair in first / 2..(first + games).div_ceil(2) {
            let openings = maker.pair(self.origin.run_seed, pair);
            for (number, opening) in (2 * pair..).zip(&openings) {
                let record = record_game(number, opening, &mut players, &referee)?;
                progress.game(record.positions.len() as u64);
                records.push(record);
            }
        }
        Some(records)
    }
}

fn games_of(shards: &[Stretch]) -> u64 {
    shards.iter().map(|(_, games)| games).sum()
}
