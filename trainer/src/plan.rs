//! Plans: what a run is to do. Read from TOML, checked, and saved into the run in full.
//!
//! A plan holds everything that decides the data and nothing else: threads and folders are not in it, so a run may be
//! continued with others.

use crate::arena::sprt::{Sprt, SprtSettings};
use crate::fit::FitSettings;
use crate::fit::claims::Claim;
use crate::play::Adjudication;
use crate::selfplay::workers::SelfplaySettings;
use crate::selfplay::{Imbalance, Openings, Played, middlegame};
use crate::train::inputs::Sharing;
use crate::train::optimiser::AdamSettings;
use crate::train::plan::{DataSettings, FilterSettings, TrainPlan, TrainingSettings, usual_shape};
use crate::train::schedule::{RateSettings, TargetSettings};
use fairyforge_engine::evaluate::network::Architecture;
use fairyforge_engine::variant::Variant;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Version of the plan format.
const FORMAT: u32 = 1;
/// Bounds of what a plan may ask for; they catch slips of the keyboard.
const MOST_GENERATIONS: u32 = 1_000;
pub(crate) const MOST_GAMES: u64 = 1_000_000_000;
pub(crate) const MOST_NODES: u64 = 1_000_000_000;
const MOST_PLIES: u32 = 10_000;
const MOST_RANDOM_PLIES: u16 = 200;
/// Most nodes a move of play before units are taken away: it only has to look like a game.
const MOST_PLAYED_NODES: u64 = 100_000;
/// Scores beyond this are mates.
const MOST_MARGIN: i32 = 20_000;
pub(crate) const MOST_TABLE_MEBIBYTES: usize = 65_536;

/// A training loop: generations of self-play, learning and match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Format version.
    pub format: u32,
    /// Name or file of the variant.
    pub variant: String,
    /// Seed of everything random.
    pub seed: u64,
    /// How often self-play, learning and match follow one another.
    #[serde(default = "one")]
    pub generations: u32,
    /// What the first generation plays with: a file of weights or of a network, or a word for one; a priori if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The games.
    #[serde(default)]
    pub selfplay: SelfplaySettings,
    /// The fit.
    #[serde(default)]
    pub fit: FitSettings,
    /// Networks are trained instead of weights fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train: Option<NetworkSettings>,
    /// The match between new and old.
    #[serde(default, rename = "match")]
    pub gate: MatchSettings,
    /// What is to be judged by the values measured.
    #[serde(default)]
    pub claims: Vec<Claim>,
}

/// How a generation's network is trained. The tables are those of a training plan, `docs/formats/training.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkSettings {
    /// From which generations' games.
    #[serde(default)]
    pub window: WindowLaw,
    /// Weights below the network, as in a plan of training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The network's shape.
    #[serde(default = "usual_shape")]
    pub network: Architecture,
    /// Which rows are partly shared.
    #[serde(default)]
    pub sharing: Sharing,
    /// How long, and in which steps.
    #[serde(default)]
    pub training: TrainingSettings,
    /// The learning rate.
    #[serde(default)]
    pub rate: RateSettings,
    /// What outputs are to say.
    #[serde(default)]
    pub target: TargetSettings,
    /// The optimiser.
    #[serde(default)]
    pub adam: AdamSettings,
    /// Which positions are learnt from.
    #[serde(default)]
    pub filter: FilterSettings,
}

/// Which generations' games a network learns from: the last ⌈share · n⌉ at generation n, but at least so many.
///
/// Early games are soon worse than what is known, and many are needed all the same; so the window grows, but more slowly than
/// what lies behind it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WindowLaw {
    /// At least the last so many.
    pub least: u32,
    /// Share of all generations so far.
    pub share: f64,
}

impl Default for WindowLaw {
    fn default() -> Self {
        Self { least: 4, share: 0.5 }
    }
}

impl WindowLaw {
    /// The generations that generation `number` learns from, itself included.
    pub fn generations(&self, number: u32) -> std::ops::RangeInclusive<u32> {
        let last = (self.share * f64::from(number)).ceil() as u32;
        number.saturating_sub(last.max(self.least).max(1)).saturating_add(1)..=number
    }
}

impl NetworkSettings {
    /// The plan of one training.
    pub fn plan(&self, variant: &str, seed: u64, data: impl Iterator<Item = DataSettings>) -> TrainPlan {
        let Self { base, network, sharing, training, rate, target, adam, filter, .. } = self.clone();
        TrainPlan {
            format: TrainPlan::FORMAT,
            variant: variant.to_owned(),
            seed,
            base,
            network,
            sharing,
            training,
            rate,
            target,
            adam,
            filter,
            data: data.collect(),
        }
    }

    fn check(&self) -> Result<(), PlanError> {
        let WindowLaw { least, share } = self.window;
        require("train.window.least", least > 0, "at least 1", least)?;
        require("train.window.share", (0.0..=1.0).contains(&share), "0 to 1", share)?;
        let games = DataSettings { folder: PathBuf::from("games"), weight: 1.0 };
        self.plan("any", 0, std::iter::once(games)).check()
    }
}

/// How the match is played that decides on new weights.
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
    /// A test that ends the match as soon as it is decided; `pairs` are the most then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sprt: Option<SprtSettings>,
}

impl Default for MatchSettings {
    fn default() -> Self {
        Self {
            pairs: 100,
            nodes: 500,
            table_mebibytes: 1,
            openings: Openings::default(),
            adjudication: Adjudication::default(),
            sprt: None,
        }
    }
}

const fn one() -> u32 {
    1
}

/// Why a plan was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Not the TOML of a plan.
    #[error("{0}")]
    Syntax(String),
    /// A value out of its range.
    #[error("{key}: expected {expected}, got {got}")]
    Value {
        /// The key.
        key: &'static str,
        /// What is allowed.
        expected: String,
        /// What came.
        got: String,
    },
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
        require("format", self.format == FORMAT, FORMAT.to_string(), self.format)?;
        let generations = (1..=MOST_GENERATIONS).contains(&self.generations);
        require("generations", generations, format!("1 to {MOST_GENERATIONS}"), self.generations)?;
        check_selfplay(&self.selfplay)?;
        check_match(&self.gate)?;
        let (fraction, positions) = (self.fit.validation_fraction, self.fit.positions_per_game);
        require("fit.validation_fraction", (0.0..1.0).contains(&fraction), "0 to below 1", fraction)?;
        require("fit.positions_per_game", positions > 0, "at least 1", positions)?;
        self.train.as_ref().map_or(Ok(()), NetworkSettings::check)?;
        let judged = self.train.is_none() || self.claims.is_empty();
        require("claims", judged, "none beside [train]: networks do not say what units are worth", self.claims.len())?;
        for claim in &self.claims {
            require("claims", claim.low < claim.high, "low below high", format!("{} to {}", claim.low, claim.high))?;
        }
        Ok(())
    }
}

/// Checks that claims are about units of the variant.
///
/// # Errors
/// A claim names a unit that the variant does not have; the nearest is told.
pub fn check_claims(claims: &[Claim], variant: &Variant) -> Result<(), PlanError> {
    let names = || variant.units().map(|unit| variant.unit(unit).name.as_str());
    for claim in claims {
        let nearest = names().min_by_key(|name| strsim::osa_distance(name, &claim.unit)).unwrap_or_default();
        let expected = format!("a unit of {}, as {nearest:?}", variant.name());
        require("claims.unit", names().any(|name| name == claim.unit), expected, &claim.unit)?;
    }
    Ok(())
}

/// Checks settings of self-play.
///
/// # Errors
/// A value is out of its range.
pub fn check_selfplay(settings: &SelfplaySettings) -> Result<(), PlanError> {
    let nodes = (1..=MOST_NODES).contains(&settings.nodes);
    require("selfplay.nodes", nodes, format!("1 to {MOST_NODES}"), settings.nodes)?;
    for (key, count) in [("selfplay.games", settings.games), ("selfplay.shard_games", settings.shard_games)] {
        require(key, (1..=MOST_GAMES).contains(&count), format!("1 to {MOST_GAMES}"), count)?;
    }
    let table = (1..=MOST_TABLE_MEBIBYTES).contains(&settings.table_mebibytes);
    require("selfplay.table_mebibytes", table, format!("1 to {MOST_TABLE_MEBIBYTES}"), settings.table_mebibytes)?;
    check_openings(&settings.openings)?;
    check_adjudication(&settings.adjudication)
}

pub(crate) fn check_openings(openings: &Openings) -> Result<(), PlanError> {
    let Imbalance { share, window, played, .. } = openings.imbalance;
    require("openings.imbalance.share", (0.0..=1.0).contains(&share), "0 to 1", share)?;
    require("openings.imbalance.window", window >= 0, "0 or more", window)?;
    let plies = (openings.least_random_plies, openings.most_random_plies);
    let ordered = plies.0 <= plies.1 && plies.1 <= MOST_RANDOM_PLIES;
    let expected = format!("least_random_plies <= most_random_plies <= {MOST_RANDOM_PLIES}");
    require("openings", ordered, expected, format!("{plies:?}"))?;
    played.map_or(Ok(()), check_played)
}

fn check_played(played: Played) -> Result<(), PlanError> {
    let Played { least_plies, most_plies, nodes } = played;
    let ordered = 2 <= least_plies && least_plies < most_plies && usize::from(most_plies) < middlegame::MOST_PLIES;
    let expected = format!("2 <= least_plies < most_plies < {}", middlegame::MOST_PLIES);
    require("openings.imbalance.played", ordered, expected, format!("({least_plies}, {most_plies})"))?;
    let allowed = (1..=MOST_PLAYED_NODES).contains(&nodes);
    require("openings.imbalance.played.nodes", allowed, format!("1 to {MOST_PLAYED_NODES}"), nodes)
}

pub(crate) fn check_adjudication(adjudication: &Adjudication) -> Result<(), PlanError> {
    let most = adjudication.most_plies;
    require("adjudication.most_plies", (1..=MOST_PLIES).contains(&most), format!("1 to {MOST_PLIES}"), most)?;
    let Adjudication { draw_margin, win_margin, win_moves, .. } = *adjudication;
    let draws = (0..=MOST_MARGIN).contains(&draw_margin);
    require("adjudication.draw_margin", draws, format!("0 to {MOST_MARGIN}"), draw_margin)?;
    let wins = win_moves == 0 || (1..=MOST_MARGIN).contains(&win_margin);
    require("adjudication.win_margin", wins, format!("1 to {MOST_MARGIN}"), win_margin)?;
    let told = adjudication.endgames.is_some() || adjudication.endgames_digest.is_none();
    require("adjudication.endgames_digest", told, "the folder of the tables in endgames too", "none")
}

/// Checks settings of a match.
///
/// # Errors
/// A value is out of its range.
pub fn check_match(settings: &MatchSettings) -> Result<(), PlanError> {
    require("match.pairs", (1..=MOST_GAMES).contains(&settings.pairs), format!("1 to {MOST_GAMES}"), settings.pairs)?;
    let nodes = (1..=MOST_NODES).contains(&settings.nodes);
    require("match.nodes", nodes, format!("1 to {MOST_NODES}"), settings.nodes)?;
    let table = (1..=MOST_TABLE_MEBIBYTES).contains(&settings.table_mebibytes);
    require("match.table_mebibytes", table, format!("1 to {MOST_TABLE_MEBIBYTES}"), settings.table_mebibytes)?;
    check_openings(&settings.openings)?;
    if let Some(Err(error)) = settings.sprt.map(Sprt::new) {
        require("match.sprt", false, "hypotheses that can be tested", error)?;
    }
    check_adjudication(&settings.adjudication)
}

/// A folder that a plan names: beside the plan, if there is one, or as seen from where the command runs.
pub(crate) fn folder_beside(plan: &Path, named: &Path) -> PathBuf {
    let beside = plan.with_file_name(named);
    if beside.is_dir() { beside } else { named.to_owned() }
}

pub(crate) fn require(
    key: &'static str,
    holds: bool,
    expected: impl ToString,
    got: impl ToString,
) -> Result<(), PlanError> {
    if holds { Ok(()) } else { Err(PlanError::Value { key, expected: expected.to_string(), got: got.to_string() }) }
}

/// Reads TOML.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, PlanError> {
    toml::from_str(text).map_err(|error| PlanError::Syntax(with_nearest(&error.to_string())))
}

/// Serde names the unknown field and all known ones; a reader wants the nearest.
fn with_nearest(message: &str) -> String {
    let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let unknown = message.contains("unknown field");
    let nearest = names.split_first().and_then(|(unknown, known)| {
        let distance = |name: &&&str| strsim::osa_distance(unknown, name);
        known.iter().min_by_key(distance)
    });
    match nearest {
        Some(nearest) if unknown => format!("{}\nhint: did you mean `{nearest}`?", message.trim_end()),
        _ => message.trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_name_the_nearest() {
        let text = "format = 1\nvariant = \"chess\"\nseed = 1\n[selfplay]\nndoes = 5\n";
        let error = Plan::read(text).unwrap_err().to_string();
        assert!(error.contains("ndoes") && error.contains("did you mean `nodes`?"), "{error}");
        assert!(error.contains("line 5"), "{error}");
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for wrong in [
            "generations = 0",
            "[selfplay]\nnodes = 0",
            "[match]\npairs = 0",
            "[selfplay.openings.imbalance]\nshare = 2.0",
        ] {
            let text = format!("format = 1\nvariant = \"chess\"\nseed = 1\n{wrong}\n");
            assert!(matches!(Plan::read(&text), Err(PlanError::Value { .. })), "{wrong}");
        }
        assert!(Plan::read("format = 2\nvariant = \"chess\"\nseed = 1").is_err());
    }

    #[test]
    fn a_saved_plan_reads_back() {
        for more in
            ["", "start = \"shipped\"\n[train.window]\nshare = 0.25\n[train.network]\nwidth = 64\noutput_buckets = 1\n"]
        {
            let plan = Plan::read(&format!("format = 1\nvariant = \"chess\"\nseed = 1\n{more}")).unwrap();
            assert_eq!(Plan::read(&toml::to_string(&plan).unwrap()), Ok(plan));
        }
    }

    #[test]
    fn windows_grow_more_slowly_than_what_lies_behind_them() {
        let law = WindowLaw { least: 3, share: 0.5 };
        let windows = [1, 2, 3, 4, 7, 8, 9].map(|number| law.generations(number));
        assert_eq!(windows, [1..=1, 1..=2, 1..=3, 2..=4, 4..=7, 5..=8, 5..=9]);
        assert_eq!(WindowLaw { least: 1, share: 1.0 }.generations(9), 1..=9);
        assert_eq!(WindowLaw { least: 1, share: 0.0 }.generations(9), 9..=9);
    }

    #[test]
    fn tables_of_training_are_checked_as_in_its_own_plans() {
        let read = |more: &str| Plan::read(&format!("format = 1\nvariant = \"chess\"\nseed = 1\n{more}")).unwrap_err();
        assert!(read("[train.adam]\nbound = 0.0").to_string().contains("adam.bound"));
        assert!(read("[train.window]\nleast = 0").to_string().contains("train.window.least"));
        assert!(read("[train.trainign]\nbatch = 5").to_string().contains("did you mean `training`?"));
    }
}
