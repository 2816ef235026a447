//! What a book is to be. Everything that decides its bytes, and nothing else. `docs/books.md` lists the keys.

use crate::plan::{MOST_NODES, MOST_TABLE_MEBIBYTES, PlanError, parse, require};
use fairyforge_engine::position::{FenError, Position};
use fairyforge_engine::variant::Variant;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Version of the plan format.
const FORMAT: u32 = 1;
/// Bounds of what a plan may ask for; they catch slips of the keyboard.
const MOST_POSITIONS: usize = 10_000_000;
const MOST_BATCH: usize = 100_000;
const MOST_PLIES: u16 = 500;
const MOST_CENTIPAWNS: i32 = 10_000;

/// A book to be built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Format version.
    pub format: u32,
    /// Name or file of the variant.
    pub variant: String,
    /// What judges positions, as commands name it; the best known if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// Where the book begins, in FEN; the game's array if absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<String>,
    /// How positions are searched.
    #[serde(default)]
    pub search: SearchSettings,
    /// Which moves of a position are looked at.
    #[serde(default)]
    pub candidates: CandidateSettings,
    /// Which positions are looked behind.
    #[serde(default)]
    pub growth: GrowthSettings,
    /// How often moves are to be played.
    #[serde(default)]
    pub weights: WeightSettings,
    /// Which games are counted.
    #[serde(default)]
    pub games: GameSettings,
}

/// How positions are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchSettings {
    /// Nodes a position.
    pub nodes: u64,
    /// Size of the table, empty before each search, in mebibytes.
    pub table_mebibytes: usize,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self { nodes: 20_000, table_mebibytes: 4 }
    }
}

/// Which moves of a position are looked at: the best by a short search of every move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CandidateSettings {
    /// At most so many.
    pub most: usize,
    /// Nodes of the short search behind each move.
    pub nodes: u64,
    /// Moves that it holds for worse than the best by more than so many centipawns are left out.
    pub window: i32,
}

impl Default for CandidateSettings {
    fn default() -> Self {
        Self { most: 6, nodes: 200, window: 200 }
    }
}

/// In which order positions are looked behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// Those first that cost least to reach: the losses of all moves on the way, and something for every ply.
    #[default]
    DropOut,
    /// Those first that take the fewest moves to reach.
    BreadthFirst,
}

/// Which positions are looked behind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GrowthSettings {
    /// In which order.
    pub by: Growth,
    /// Positions of the book: so many are looked behind.
    pub positions: usize,
    /// Plies from a root behind which nothing is looked at.
    pub plies: u16,
    /// What a ply costs by itself, in centipawns; only for [`Growth::DropOut`].
    pub ply_cost: i32,
    /// Positions that are chosen at a time, at least.
    pub batch: usize,
    /// The same as a share of the positions that are there: a large book is valued anew less often.
    pub batch_share: f64,
}

impl Default for GrowthSettings {
    fn default() -> Self {
        Self { by: Growth::default(), positions: 1_000, plies: 60, ply_cost: 10, batch: 16, batch_share: 0.02 }
    }
}

/// How often moves are to be played: the best has the greatest weight, which halves with every so much that a move is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WeightSettings {
    /// Centipawns worse that halve a weight.
    pub half: i32,
    /// Moves worse by more than so many centipawns are not played.
    pub window: i32,
}

impl Default for WeightSettings {
    fn default() -> Self {
        Self { half: 10, window: 40 }
    }
}

/// Games whose results are noted beside the moves. They change no value and no weight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GameSettings {
    /// Runs, folders of shards and PGN files; none: nothing is counted.
    pub sources: Vec<String>,
    /// Plies of each game that are looked at.
    pub most_plies: u16,
}

impl Default for GameSettings {
    fn default() -> Self {
        Self { sources: Vec::new(), most_plies: 60 }
    }
}

impl Plan {
    /// Reads and checks a plan.
    ///
    /// # Errors
    /// The text is no plan (unknown keys are named with the nearest known one), or a value is out of range.
    pub fn read(text: &str) -> Result<Self, PlanError> {
        let plan: Self = parse(text)?;
        plan.check()?;
        Ok(plan)
    }

    /// The positions in which the book begins, as if games began there.
    ///
    /// # Errors
    /// A root is no position of the game.
    pub fn roots(&self, variant: &Arc<Variant>) -> Result<Vec<Position>, FenError> {
        if self.roots.is_empty() {
            return Ok(vec![Position::start(variant)]);
        }
        self.roots.iter().map(|fen| Position::from_fen(variant, fen).map(Position::as_first)).collect()
    }

    /// Positions that are chosen at a time when so many are there.
    pub fn batch(&self, positions: usize) -> usize {
        let GrowthSettings { batch, batch_share, .. } = self.growth;
        batch.max((batch_share * positions as f64) as usize)
    }

    fn check(&self) -> Result<(), PlanError> {
        require("format", self.format == FORMAT, FORMAT, self.format)?;
        let Self { search, candidates, growth, weights, games, .. } = self;
        for (key, nodes) in [("search.nodes", search.nodes), ("candidates.nodes", candidates.nodes)] {
            require(key, (1..=MOST_NODES).contains(&nodes), format!("1 to {MOST_NODES}"), nodes)?;
        }
        let counts = [
            ("search.table_mebibytes", search.table_mebibytes, MOST_TABLE_MEBIBYTES),
            ("candidates.most", candidates.most, usize::from(u16::MAX)),
            ("growth.positions", growth.positions, MOST_POSITIONS),
            ("growth.batch", growth.batch, MOST_BATCH),
            ("growth.plies", usize::from(growth.plies), usize::from(MOST_PLIES)),
            ("games.most_plies", usize::from(games.most_plies), usize::from(MOST_PLIES)),
        ];
        for (key, count, most) in counts {
            require(key, (1..=most).contains(&count), format!("1 to {most}"), count)?;
        }
        let share = growth.batch_share;
        require("growth.batch_share", (0.0..=1.0).contains(&share), "0 to 1", share)?;
        let centipawns = [
            ("candidates.window", candidates.window, 0),
            ("growth.ply_cost", growth.ply_cost, 0),
            ("weights.half", weights.half, 1),
            ("weights.window", weights.window, 0),
        ];
        for (key, number, least) in centipawns {
            let fits = (least..=MOST_CENTIPAWNS).contains(&number);
            require(key, fits, format!("{least} to {MOST_CENTIPAWNS}"), number)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = "format = 1\nvariant = \"chess\"\n";

    #[test]
    fn what_is_left_out_has_defaults_that_read_back() {
        let plan = Plan::read(LEAST).unwrap();
        assert_eq!(Plan::read(&toml::to_string(&plan).unwrap()).unwrap(), plan);
        assert_eq!((plan.batch(0), plan.batch(10_000)), (16, 200));
    }

    /// The reference lists every key with its default.
    #[test]
    fn the_plans_that_come_with_the_program_can_be_read() {
        let reference = Plan::read(include_str!("../../../configs/books/reference.toml")).unwrap();
        assert_eq!(reference, Plan::read("format = 1\nvariant = \"herculean\"\n").unwrap());
        let keys = |text: &str| text.parse::<toml::Table>().unwrap();
        let listed = keys(include_str!("../../../configs/books/reference.toml"));
        assert_eq!(keys(&toml::to_string(&reference).unwrap()), listed);
        Plan::read(include_str!("../../../configs/books/sorcerer.toml")).unwrap();
    }

    #[test]
    fn what_is_wrong_is_told_with_its_key() {
        let refused = |text: &str| Plan::read(&format!("{LEAST}{text}")).unwrap_err().to_string();
        assert!(refused("[growth]\npositons = 5\n").contains("did you mean `positions`?"));
        assert_eq!(refused("[growth]\npositions = 0\n"), "growth.positions: expected 1 to 10000000, got 0");
        assert_eq!(refused("[weights]\nhalf = 0\n"), "weights.half: expected 1 to 10000, got 0");
        assert!(refused("[growth]\nbatch_share = nan\n").starts_with("growth.batch_share: expected 0 to 1"));
        assert!(
            Plan::read("format = 2\nvariant = \"chess\"\n").unwrap_err().to_string().starts_with("format: expected 1")
        );
    }
}
