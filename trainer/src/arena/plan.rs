//! The plan of a match as it is saved into its folder: everything that decides the games and nothing else.

use super::external::EngineCommand;
use super::openings::OpeningSource;
use super::schedule::{Format, Schedule};
use super::sprt::SprtSettings;
use crate::plan::{
    MOST_GAMES, MOST_NODES, MOST_TABLE_MEBIBYTES, PlanError, check_adjudication, check_openings, require,
};
use crate::play::{Adjudication, Allowance};
use fairyforge_engine::search::MAX_DEPTH;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What such plans call themselves.
pub const KIND: &str = "match";

/// Most milliseconds that a clock may be overstepped.
const MOST_MARGIN: u64 = 60_000;

/// A match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatchPlan {
    /// [`KIND`].
    pub kind: String,
    /// The variant's name.
    pub variant: String,
    /// Its rules hash.
    pub rules_hash: String,
    /// Seed of the openings.
    pub seed: u64,
    /// Pairs of games between any two that meet; the most, if a test may end the match.
    pub pairs: u64,
    /// Who meets whom.
    pub format: Format,
    /// How much a clock may be overstepped, in milliseconds.
    pub time_margin: u64,
    /// Where games begin.
    pub openings: OpeningSource,
    /// Early ends of games.
    pub adjudication: Adjudication,
    /// The test that may end the match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sprt: Option<SprtSettings>,
    /// Who plays.
    pub players: Vec<PlayerPlan>,
}

/// A player of a match.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayerPlan {
    /// What tables call it.
    pub name: String,
    /// Our engine: the digest of its weights, or the word for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// Our engine: size of its table, in mebibytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_mebibytes: Option<usize>,
    /// A program outside: how it is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineCommand>,
    /// What it may spend on its moves.
    pub limits: Allowance,
    /// Our engine: the search parameters that differ from the defaults.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub search: BTreeMap<String, i32>,
}

impl MatchPlan {
    /// Checks that the numbers make sense.
    ///
    /// # Errors
    /// A value is out of its range, or the test cannot be made.
    pub fn check(&self) -> Result<(), PlanError> {
        let pairs = (1..=MOST_GAMES).contains(&self.pairs);
        require("pairs", pairs, format!("1 to {MOST_GAMES}"), self.pairs)?;
        require("time_margin", self.time_margin <= MOST_MARGIN, format!("0 to {MOST_MARGIN}"), self.time_margin)?;
        for player in &self.players {
            check_limits(&player.limits)?;
            let table = player.table_mebibytes.unwrap_or(1);
            let expected = format!("1 to {MOST_TABLE_MEBIBYTES}");
            require("hash", (1..=MOST_TABLE_MEBIBYTES).contains(&table), expected, table)?;
        }
        if let OpeningSource::Random(openings) = &self.openings {
            check_openings(openings)?;
        }
        check_adjudication(&self.adjudication)
    }

    /// Who meets whom, pair by pair.
    pub fn schedule(&self) -> Schedule {
        Schedule::new(self.format, self.players.len(), self.pairs)
    }
}

fn check_limits(limits: &Allowance) -> Result<(), PlanError> {
    let nodes = limits.nodes.unwrap_or(1);
    require("nodes", (1..=MOST_NODES).contains(&nodes), format!("1 to {MOST_NODES}"), nodes)?;
    let depth = limits.depth.unwrap_or(1);
    require("depth", (1..=MAX_DEPTH).contains(&depth), format!("1 to {MAX_DEPTH}"), depth)
}
