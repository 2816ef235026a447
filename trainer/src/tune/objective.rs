//! Who plays the games of a tuning run: the engine, or a simulation in a test. The tuner knows nothing else of games.

use super::targets::{Engine, Target};
use crate::arena::openings::OpeningBook;
use crate::arena::statistics::GameResult;
use crate::play::{Adjudication, Allowance, EngineMover, Referee, Seat, Start};
use crate::progress::Progress;
use fairyforge_engine::endgame::Tables;
use fairyforge_engine::evaluate::Judge;
use fairyforge_engine::search::Params;
use fairyforge_engine::variant::Variant;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Pairs of games between two sets of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batch<'a> {
    /// Number of the first pair; a pair's number decides its opening.
    pub first_pair: u64,
    /// How many pairs.
    pub pairs: u64,
    /// Values of the plus player, by parameter.
    pub plus: &'a [f64],
    /// Values of the minus player.
    pub minus: &'a [f64],
}

/// The plus player's results in the two games from one opening: 1 won, 0 drawn, −1 lost. In the first it is White.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairResult(pub [i8; 2]);

impl PairResult {
    /// Wins less losses: −2 to 2.
    #[must_use]
    pub fn points(self) -> i64 {
        i64::from(self.0[0]) + i64::from(self.0[1])
    }

    /// The two results.
    #[must_use]
    pub fn games(self) -> [GameResult; 2] {
        self.0.map(|result| match result {
            1.. => GameResult::Win,
            0 => GameResult::Draw,
            _ => GameResult::Loss,
        })
    }

    /// Whether it is the result of a pair at all.
    #[must_use]
    pub fn is_possible(self) -> bool {
        self.0.iter().all(|result| (-1..=1).contains(result))
    }
}

/// Something that plays pairs of games. The results must depend on nothing but the batch.
pub trait Objective: Sync {
    /// The results of a batch's pairs in order; `None` if somebody asked to stop.
    fn play(&self, batch: &Batch) -> Option<Vec<PairResult>>;
}

/// The engine against itself, with a number of nodes a move, games side by side on rayon's current threads.
pub struct EngineGames<'a> {
    /// The game.
    pub variant: &'a Arc<Variant>,
    /// Where its games begin.
    pub openings: &'a OpeningBook,
    /// The player as it is before values are put in.
    pub base: &'a Engine,
    /// What the values are of.
    pub targets: &'a [Target],
    /// How games are played.
    pub settings: &'a GameSettings,
    /// Tables that end games, as the adjudication names them.
    pub endgames: Option<&'a Tables>,
    /// Set to end it early.
    pub stop: &'a AtomicBool,
    /// Told of every game.
    pub progress: &'a Progress,
}

/// How the games of a run are played.
#[derive(Clone, Debug, PartialEq)]
pub struct GameSettings {
    /// Nodes a move, for both players.
    pub nodes: u64,
    /// Size of a player's table, in mebibytes.
    pub table_mebibytes: usize,
    /// When games are ended early.
    pub adjudication: Adjudication,
}

/// One side of a batch, ready to play.
struct Side {
    judge: Judge,
    params: Params,
}

impl EngineGames<'_> {
    fn side(&self, values: &[f64]) -> Side {
        let Engine { params, weights } = self.base.with(self.targets, values);
        Side { judge: Judge::of_weights(self.variant, &weights), params }
    }

    fn mover<'a>(&self, side: &'a Side) -> EngineMover<'a> {
        EngineMover::new(&side.judge, &side.params, self.settings.table_mebibytes)
    }

    /// One game of a pair; the plus player is White in the first. Returns its result.
    fn game(&self, pair: u64, second: u64, sides: &[Side; 2]) -> Option<i8> {
        let opening = self.openings.opening(pair);
        let white = second as usize;
        let mut movers = [self.mover(&sides[white]), self.mover(&sides[1 - white])];
        let allowance = Allowance::nodes(self.settings.nodes);
        let mut seats = movers.each_mut().map(|mover| Seat { mover, allowance });
        let (adjudication, endgames) = (&self.settings.adjudication, self.endgames);
        let referee = Referee { adjudication, endgames, time_margin: Duration::ZERO, stop: self.stop };
        let start = Start { position: &opening.position, plies: opening.plies };
        let played = referee.play(start, &mut seats, |_, _| ())?;
        self.progress.game(played.moves.len() as u64);
        Some(if second == 0 { played.result() } else { -played.result() })
    }
}

impl Objective for EngineGames<'_> {
    fn play(&self, batch: &Batch) -> Option<Vec<PairResult>> {
        let sides = [self.side(batch.plus), self.side(batch.minus)];
        // Single games, not pairs: at the end of a batch threads wait for the last game only.
        let numbers: Vec<u64> = (0..2 * batch.pairs).collect();
        let games: Vec<i8> = numbers
            .into_par_iter()
            .with_max_len(1)
            .map(|game| self.game(batch.first_pair + game / 2, game % 2, &sides))
            .collect::<Option<_>>()?;
        Some(games.chunks_exact(2).map(|pair| PairResult([pair[0], pair[1]])).collect())
    }
}
