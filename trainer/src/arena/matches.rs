//! Playing a match: pairs of games from random openings, side by side, each pair by one thread.

use super::journal::{Journal, JournalError, Pair, PairGame};
use crate::play::{Adjudication, Allowance, EngineMover, PlayedGame, Referee, Seat, Start};
use crate::progress::Progress;
use crate::run_dir::FileError;
use crate::selfplay::openings::OpeningMaker;
use crate::selfplay::{Opening, Openings, Player};
use fairyforge_engine::evaluate::Tapered;
use fairyforge_engine::search::Params;
use fairyforge_engine::variant::Variant;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How a match is played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MatchSettings {
    /// Pairs of games.
    pub pairs: u64,
    /// Nodes a move, for both players.
    pub nodes: u64,
    /// Size of a player's table, in mebibytes.
    pub table_mebibytes: usize,
    /// Where games begin; without imbalance unless asked for.
    pub openings: Openings,
    /// When they are ended early.
    pub adjudication: Adjudication,
}

impl Default for MatchSettings {
    fn default() -> Self {
        Self {
            pairs: 100,
            nodes: 500,
            table_mebibytes: 1,
            openings: Openings::default(),
            adjudication: Adjudication::default(),
        }
    }
}

/// Why a match ended early.
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The disk refuses.
    #[error(transparent)]
    File(#[from] FileError),
    /// Somebody asked for it; the pairs played are safe.
    #[error("stopped on request")]
    Stopped,
}

/// A match between two ways of judging positions and searching.
pub struct Contest<'a> {
    /// The game.
    pub variant: &'a Arc<Variant>,
    /// How it is played.
    pub settings: &'a MatchSettings,
    /// Seed of the openings.
    pub seed: u64,
    /// How players A and B judge positions.
    pub evaluators: [&'a Tapered; 2],
    /// The numbers of their searches.
    pub params: [Params; 2],
}

impl Contest<'_> {
    /// Plays all pairs that the journal at `path` does not hold yet and returns it complete.
    ///
    /// # Errors
    /// The journal cannot be read or written, or `stop` was set.
    pub fn play(&self, path: &Path, stop: &AtomicBool, progress: &Progress) -> Result<Journal, MatchError> {
        let journal = Journal::open(path)?;
        let open: Vec<u64> = (0..self.settings.pairs).filter(|&pair| !journal.has(pair)).collect();
        progress.skip(2 * (self.settings.pairs - open.len() as u64));
        let maker = OpeningMaker::new(self.variant, &self.settings.openings);
        let journal = Mutex::new(journal);
        let failure = Mutex::new(None);
        open.into_iter().par_bridge().for_each_init(
            || [self.player(0), self.player(1)],
            |players, number| {
                let Some(pair) = self.pair(&maker, number, players, stop, progress) else { return };
                if let Err(error) = lock(&journal).add(pair) {
                    stop.store(true, Ordering::Relaxed);
                    lock(&failure).get_or_insert(error);
                }
            },
        );
        if let Some(error) = lock(&failure).take() {
            return Err(error.into());
        }
        if stop.load(Ordering::Relaxed) {
            return Err(MatchError::Stopped);
        }
        let journal = journal.into_inner().unwrap_or_else(PoisonError::into_inner);
        journal.put_in_order()?;
        Ok(journal)
    }

    fn player(&self, index: usize) -> Player<'_> {
        Player {
            mover: EngineMover::new(self.evaluators[index], &self.params[index], self.settings.table_mebibytes),
            allowance: Allowance::nodes(self.settings.nodes),
        }
    }

    fn pair(
        &self,
        maker: &OpeningMaker,
        number: u64,
        players: &mut [Player; 2],
        stop: &AtomicBool,
        progress: &Progress,
    ) -> Option<Pair> {
        let [opening, _] = maker.pair(self.seed, number);
        let one = self.game(&opening, players, stop, progress)?;
        players.swap(0, 1);
        let other = self.game(&opening, players, stop, progress);
        players.swap(0, 1);
        let game = |a_is_white, game: PlayedGame| PairGame {
            a_is_white,
            result: game.result(),
            termination: game.ending.termination(),
            moves: game.moves.iter().map(|mv| mv.text.as_str()).collect::<Vec<_>>().join(" "),
        };
        Some(Pair { pair: number, fen: opening.position.fen(), games: [game(true, one), game(false, other?)] })
    }

    fn game(
        &self,
        opening: &Opening,
        players: &mut [Player; 2],
        stop: &AtomicBool,
        progress: &Progress,
    ) -> Option<PlayedGame> {
        let referee =
            Referee { adjudication: &self.settings.adjudication, time_margin: std::time::Duration::ZERO, stop };
        let mut seats = players.each_mut().map(|player| Seat { mover: &mut player.mover, allowance: player.allowance });
        let start = Start { position: &opening.position, plies: opening.random_plies };
        let game = referee.play(start, &mut seats, |_, _| ())?;
        progress.game(game.moves.len() as u64);
        Some(game)
    }
}

/// A panic elsewhere leaves the data whole: every change is a single insertion.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
