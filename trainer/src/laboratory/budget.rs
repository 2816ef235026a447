//! A plan made to fit what may be spent, in games or in time.
//!
//! Time is turned into games once, by the speed of the first games, and written into the run; from then on the run is as fixed as any
//! other. The games played to measure the speed are the first of the first stage, so nothing is played twice.

use super::plan::{Plan, SHARD_GAMES};
use crate::run_dir::{FileError, RunDir, write_atomically};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Games by which the speed is measured.
pub const PILOT_GAMES: u64 = 10 * SHARD_GAMES;
/// Version of the file in a run.
const FORMAT: u32 = 1;

/// What a run's `budget.toml` says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixed {
    format: u32,
    /// Games in all.
    games: u64,
}

/// Why a budget cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum BudgetError {
    /// The run's file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The run's file says something else.
    #[error("{}: expected `format = {FORMAT}` and a number of games, got {got}", path.display())]
    Text {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        got: String,
    },
    /// The disk refuses.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Plan {
    /// Most games of all stages together.
    #[must_use]
    pub fn games(&self) -> u64 {
        let rungs = self.ladder.as_ref().map_or(0, |ladder| ladder.games * ladder.nodes.len() as u64);
        u64::from(self.rounds.most) * self.rounds.games + self.reference.games + rungs
    }

    /// The same plan with about so many games in all: every stage keeps its share, in whole shards.
    #[must_use]
    pub fn scaled_to(&self, games: u64) -> Self {
        let factor = games as f64 / self.games() as f64;
        let scaled = |stage: u64, least: u64| {
            let shards = (stage as f64 * factor / SHARD_GAMES as f64).round() as u64;
            (shards * SHARD_GAMES).max(least)
        };
        let mut plan = self.clone();
        plan.rounds.games = scaled(plan.rounds.games, SHARD_GAMES);
        plan.reference.games = scaled(plan.reference.games, u64::from(plan.reference.looks) * SHARD_GAMES);
        if let Some(ladder) = &mut plan.ladder {
            ladder.games = scaled(ladder.games, SHARD_GAMES);
        }
        plan
    }

    /// Games in all that take about so long, where one of the reference takes `each`; what a game takes is in proportion
    /// to its nodes a move.
    #[must_use]
    pub fn games_within(&self, time: Duration, each: Duration) -> u64 {
        let rung = |&nodes: &u64| nodes as f64 / self.nodes as f64;
        let rungs =
            self.ladder.as_ref().map_or(0.0, |ladder| ladder.games as f64 * ladder.nodes.iter().map(rung).sum::<f64>());
        let like_reference = u64::from(self.rounds.most) * self.rounds.games + self.reference.games;
        let all = (like_reference as f64 + rungs) * each.as_secs_f64();
        (self.games() as f64 * time.as_secs_f64() / all.max(f64::MIN_POSITIVE)) as u64
    }
}

/// The games that an earlier attempt fixed; `None` if none did.
///
/// # Errors
/// The file cannot be read, or is not one.
pub fn fixed(run: &RunDir) -> Result<Option<u64>, BudgetError> {
    let path = run.budget();
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(BudgetError::Read { path, source }),
    };
    match toml::from_str::<Fixed>(&text) {
        Ok(Fixed { format: FORMAT, games }) if games > 0 => Ok(Some(games)),
        Ok(other) => Err(BudgetError::Text { path, got: format!("{other:?}") }),
        Err(error) => Err(BudgetError::Text { path, got: error.to_string() }),
    }
}

/// Fixes the games of a run.
///
/// # Errors
/// The disk refuses.
pub fn fix(run: &RunDir, games: u64) -> Result<(), BudgetError> {
    Ok(write_atomically(&run.budget(), format!("format = {FORMAT}\ngames = {games}\n").as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let text = "format = 1\nvariant = \"chess\"\nseed = 1\nnodes = 400\n[rounds]\nmost = 2\ngames = 2000\n[reference]\ngames = 10000\n[ladder]\nnodes = [100, 1600]\ngames = 3000\n";
        Plan::read(text).unwrap()
    }

    #[test]
    fn every_stage_keeps_its_share() {
        let plan = plan();
        assert_eq!(plan.games(), 20_000);
        let tenth = plan.scaled_to(2_000);
        let stages = |plan: &Plan| (plan.rounds.games, plan.reference.games, plan.ladder.as_ref().unwrap().games);
        assert_eq!(stages(&tenth), (200, 1_000, 300));
        assert_eq!(plan.scaled_to(20_000), plan);
        assert_eq!(stages(&plan.scaled_to(1)), (20, 100, 20), "never less than a shard, or one a look");
        assert_eq!(tenth.scaled_to(tenth.games()), tenth, "what is fixed once stays");
    }

    #[test]
    fn time_is_spent_where_the_nodes_are() {
        // 14,000 games of 400 nodes, 3,000 of a quarter and 3,000 of four times as many: 26,750 games' worth.
        let games = plan().games_within(Duration::from_secs(2675), Duration::from_secs(1));
        assert_eq!(games, 2_000);
    }
}
