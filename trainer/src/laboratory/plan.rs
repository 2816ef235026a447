//! Plans of experiments: TOML, read and checked, saved into the run in full. Format: `docs/formats/experiments.md`.

use crate::fit::sequential::{SequentialError, Spending, critical_values};
use crate::plan::{MOST_NODES, MOST_TABLE_MEBIBYTES, PlanError, check_adjudication, check_openings, parse, require};
use crate::play::Adjudication;
use crate::selfplay::{Imbalance, Openings};
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::Unit;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Version of the plan format.
const FORMAT: u32 = 1;
const MOST_ROUNDS: u32 = 20;
const MOST_LOOKS: u32 = 50;
/// Shards are as large as this many games; stages are whole numbers of shards, and so are looks.
pub const SHARD_GAMES: u64 = 20;

/// An experiment: what a variant's units are worth, by games with units taken away by lot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Format version.
    pub format: u32,
    /// Name or file of the variant.
    pub variant: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Weights that the engine starts with: `shipped`, `a-priori` or a file; the best known if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// Nodes a move: the strength that the values are for.
    #[serde(default = "default_nodes")]
    pub nodes: u64,
    /// Size of a player's table, in mebibytes.
    #[serde(default = "default_table")]
    pub table_mebibytes: usize,
    /// Where games begin.
    #[serde(default = "default_design")]
    pub design: Openings,
    /// When they are ended early.
    #[serde(default)]
    pub adjudication: Adjudication,
    /// Rounds in which measured values are put back into the evaluation.
    #[serde(default)]
    pub rounds: Rounds,
    /// The games that the values are measured on.
    #[serde(default)]
    pub reference: Reference,
    /// The same at other strengths; none if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ladder: Option<Ladder>,
    /// What the forecast before the first game assumes.
    #[serde(default)]
    pub forecast: Guesses,
    /// What others measured, to stand beside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
}

/// Values that somebody else measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Who, in a word or two: the heading of a column.
    pub by: String,
    /// How they were measured, and where that is published.
    pub source: String,
    /// The values in pawns, by unit.
    pub values: BTreeMap<String, f64>,
}

/// Rounds of self-consistency: measure, put the values into the evaluation, measure again, until both agree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rounds {
    /// Most rounds; 0 measures with the weights as they are.
    pub most: u32,
    /// Games of a round.
    pub games: u64,
}

/// The measurement itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reference {
    /// Most games.
    pub games: u64,
    /// How often the result is looked at, at equal steps.
    pub looks: u32,
    /// How much of the error each look may spend.
    pub spending: Spending,
    /// Games end as soon as every interval is at most so many pawns to either side; never before the last look if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
    /// The units that matter for that; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<Vec<String>>,
}

/// The same experiment at other strengths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ladder {
    /// Nodes a move of each rung, beside the reference's own.
    pub nodes: Vec<u64>,
    /// Games of a rung.
    pub games: u64,
}

/// Guesses for the forecast; nothing measured depends on them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Guesses {
    /// What a pawn moves the result by, in logits.
    pub pawn: f64,
    /// Half-width of the draw, in logits; at even strength the share of draws is tanh of half of it.
    pub draw_half_width: f64,
    /// Values in pawns, by unit; those of the weights where absent.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, f64>,
}

impl Default for Rounds {
    fn default() -> Self {
        Self { most: 4, games: 2000 }
    }
}

impl Default for Reference {
    fn default() -> Self {
        Self { games: 10_000, looks: 5, spending: Spending::OBrienFleming, half_width: None, units: None }
    }
}

impl Default for Guesses {
    /// A pawn was 0.23 logits in 7,000 games of Herculean Chess of 200 nodes a move, of which 6 % were drawn.
    fn default() -> Self {
        Self { pawn: 0.23, draw_half_width: 0.15, values: BTreeMap::new() }
    }
}

const fn default_nodes() -> u64 {
    400
}

const fn default_table() -> usize {
    1
}

/// Most pairs unbalanced, the rest for the first move; nothing hanging where the players take over.
fn default_design() -> Openings {
    let imbalance = Imbalance { share: 0.85, ..Imbalance::default() };
    Openings { settled: true, imbalance, ..Openings::default() }
}

impl Reference {
    /// Games at a look, counted from 1: whole shards, in equal steps.
    #[must_use]
    pub fn games_at(&self, look: u32) -> u64 {
        let shards = self.games.div_ceil(SHARD_GAMES);
        (shards * u64::from(look)).div_ceil(u64::from(self.looks.max(1))) * SHARD_GAMES
    }

    /// For every look, how many standard errors an interval reaches to either side so that all looks together err with
    /// probability `alpha`.
    ///
    /// # Errors
    /// There are no looks, or `alpha` is no probability.
    pub fn critical_values(&self, alpha: f64) -> Result<Vec<f64>, SequentialError> {
        let share = |look| self.games_at(look) as f64 / self.games_at(self.looks) as f64;
        let shares: Vec<f64> = (1..=self.looks).map(share).collect();
        critical_values(&shares, alpha, self.spending)
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

    fn check(&self) -> Result<(), PlanError> {
        require("format", self.format == FORMAT, FORMAT, self.format)?;
        check_nodes("nodes", self.nodes)?;
        let table = (1..=MOST_TABLE_MEBIBYTES).contains(&self.table_mebibytes);
        require("table_mebibytes", table, format!("1 to {MOST_TABLE_MEBIBYTES}"), self.table_mebibytes)?;
        check_openings(&self.design)?;
        let share = self.design.imbalance.share;
        require("design.imbalance.share", share > 0.0, "more than 0: without it nothing is measured", share)?;
        check_adjudication(&self.adjudication)?;
        let Rounds { most, games } = self.rounds;
        require("rounds.most", most <= MOST_ROUNDS, format!("0 to {MOST_ROUNDS}"), most)?;
        check_games("rounds.games", games)?;
        self.check_reference()?;
        let Guesses { pawn, draw_half_width, .. } = self.forecast;
        require("forecast.pawn", pawn > 0.0 && pawn < 5.0, "more than 0, less than 5", pawn)?;
        require("forecast.draw_half_width", (0.0..5.0).contains(&draw_half_width), "0 to 5", draw_half_width)?;
        let published = self.published.iter().flat_map(|others| others.values.values());
        let unsound = self.forecast.values.values().chain(published).find(|value| !value.is_finite());
        require("values", unsound.is_none(), "numbers", unsound.copied().unwrap_or_default())?;
        self.ladder.as_ref().map_or(Ok(()), |ladder| self.check_ladder(ladder))
    }

    fn check_ladder(&self, ladder: &Ladder) -> Result<(), PlanError> {
        check_games("ladder.games", ladder.games)?;
        ladder.nodes.iter().try_for_each(|&nodes| check_nodes("ladder.nodes", nodes))?;
        let mut rungs = BTreeSet::from([self.nodes]);
        let differ = !ladder.nodes.is_empty() && ladder.nodes.iter().all(|&nodes| rungs.insert(nodes));
        let expected = format!("one number or more, all different and not {}, the reference's own", self.nodes);
        require("ladder.nodes", differ, expected, format!("{:?}", ladder.nodes))
    }

    fn check_reference(&self) -> Result<(), PlanError> {
        let &Reference { games, looks, half_width, ref units, .. } = &self.reference;
        check_games("reference.games", games)?;
        require("reference.looks", (1..=MOST_LOOKS).contains(&looks), format!("1 to {MOST_LOOKS}"), looks)?;
        let enough = games >= u64::from(looks) * SHARD_GAMES;
        require("reference.games", enough, format!("at least {SHARD_GAMES} a look"), games)?;
        let width = half_width.unwrap_or(1.0);
        require("reference.half_width", width > 0.0, "more than 0", width)?;
        let named = units.as_ref().is_none_or(|units| !units.is_empty());
        require("reference.units", named, "names, or no such key: then all matter", "none")
    }

    /// Checks that the units named are the variant's.
    ///
    /// # Errors
    /// One is not; the nearest is told.
    pub fn check_units(&self, variant: &Variant) -> Result<(), PlanError> {
        let named = self.reference.units.iter().flatten();
        named.map(|unit| ("reference.units", unit)).try_for_each(|(key, unit)| check_unit(key, unit, variant))?;
        self.forecast.values.keys().try_for_each(|unit| check_unit("forecast.values", unit, variant))?;
        let published = self.published.iter().flat_map(|others| others.values.keys());
        published.into_iter().try_for_each(|unit| check_unit("published.values", unit, variant))
    }

    /// Whether units are taken away by lot at all stages of the game, so that values by phase are causal.
    #[must_use]
    pub const fn is_staged(&self) -> bool {
        self.design.imbalance.most_common_units > 0 || self.design.imbalance.played.is_some()
    }

    /// The same strength and the same ends of games for another game, from arrays that are whole: to compare with.
    #[must_use]
    pub fn level_in(&self, variant: &str) -> Self {
        let mut plan = self.clone();
        variant.clone_into(&mut plan.variant);
        plan.weights = None;
        plan.design.imbalance.share = 0.0;
        plan.design.imbalance.most_common_units = 0;
        plan.design.imbalance.played = None;
        // The tables are of this game.
        (plan.adjudication.endgames, plan.adjudication.endgames_digest) = (None, None);
        plan
    }

    /// Whether this unit's interval must be narrow enough before games end early.
    #[must_use]
    pub fn matters(&self, unit: &str) -> bool {
        self.reference.units.as_ref().is_none_or(|units| units.iter().any(|name| name == unit))
    }
}

fn check_nodes(key: &'static str, nodes: u64) -> Result<(), PlanError> {
    require(key, (1..=MOST_NODES).contains(&nodes), format!("1 to {MOST_NODES}"), nodes)
}

fn check_games(key: &'static str, games: u64) -> Result<(), PlanError> {
    let most = crate::plan::MOST_GAMES;
    require(key, (SHARD_GAMES..=most).contains(&games), format!("{SHARD_GAMES} to {most}"), games)
}

fn check_unit(key: &'static str, unit: &str, variant: &Variant) -> Result<(), PlanError> {
    let measurable = |&unit: &Unit| unit != variant.royal();
    let names = || variant.units().filter(measurable).map(|unit| variant.unit(unit).name.as_str());
    let nearest = names().min_by_key(|name| strsim::osa_distance(name, unit)).unwrap_or_default();
    let expected = format!("a unit of {} that is not royal, as {nearest:?}", variant.name());
    require(key, names().any(|name| name == unit), expected, unit)
}
