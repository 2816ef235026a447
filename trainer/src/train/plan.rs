//! Plans of training: what to learn, from which games, how long. Read from TOML, checked, and saved into the run in full.
//!
//! Threads and the run's folder are not in a plan: they decide nothing.

use super::inputs::Sharing;
use super::optimiser::AdamSettings;
use super::schedule::{RateSettings, Schedule, TargetSettings};
use crate::plan::{PlanError, parse, require};
use fairyforge_engine::evaluate::network::Architecture;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Bounds of what a plan may ask for; they catch slips of the keyboard.
const MOST_BATCH: usize = 1 << 20;
const MOST_BATCHES: u64 = 100_000_000;
const MOST_EPOCHS: f64 = 100_000.0;
const MOST_WINDOW: usize = 1 << 30;
const MOST_CENTIPAWNS: f64 = 10_000.0;
const MOST_RATE: f64 = 1.0;
const MOST_BOUND: f64 = 128.0;

/// Training of one network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainPlan {
    /// Format version.
    pub format: u32,
    /// Name or file of the variant.
    pub variant: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Weights below the network, whose value is added to its own: a file, or a word for some; those best known if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The network's shape. Whether it is one, and fits the game, is for the engine to say.
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
    /// The games.
    pub data: Vec<DataSettings>,
}

/// How long, and in which steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainingSettings {
    /// Positions of a batch.
    pub batch: usize,
    /// Batches in all, if `epochs` is 0; the data are gone through as often as that takes.
    pub batches: u64,
    /// How often the data are gone through; as many batches as that takes.
    pub epochs: f64,
    /// Batches between two looks at the validation games, each with a checkpoint.
    pub report_every: u64,
    /// Share of the games that is kept for validation.
    pub validation_share: f64,
    /// Positions that are in memory and shuffled at a time. Data that fit are read once.
    pub window: usize,
}

impl Default for TrainingSettings {
    fn default() -> Self {
        Self {
            batch: 16_384,
            batches: 10_000,
            epochs: 0.0,
            report_every: 500,
            validation_share: 0.05,
            window: 8_000_000,
        }
    }
}

/// Which positions are learnt from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FilterSettings {
    /// Positions before this ply are left out: there are few different ones.
    pub least_ply: u16,
    /// Positions with greater scores, of either sign, are left out: they are decided.
    pub most_score: i16,
    /// Whether positions in check are learnt from.
    pub in_check: bool,
    /// Whether positions are learnt from in which the best move captures or promotes.
    pub captures: bool,
    /// 0: all positions count alike; 1: all games do, however long; in between likewise.
    pub game_balance: f64,
}

impl Default for FilterSettings {
    fn default() -> Self {
        Self { least_ply: 8, most_score: 3_000, in_check: false, captures: false, game_balance: 0.0 }
    }
}

/// Games to learn from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSettings {
    /// A folder of shards, or a run.
    pub folder: PathBuf,
    /// How much its positions count.
    #[serde(default = "one")]
    pub weight: f64,
}

/// The word for no weights below a network.
pub const NO_BASE: &str = "none";

const fn one() -> f64 {
    1.0
}

/// The shape where a plan gives none.
pub const fn usual_shape() -> Architecture {
    let mut shape = Architecture::plain(256);
    shape.output_buckets = 4;
    shape
}

impl TrainPlan {
    /// Version of the plan format.
    pub const FORMAT: u32 = 1;

    /// Reads and checks a plan.
    ///
    /// # Errors
    /// The text is no plan (unknown keys are named with the nearest known one), or a value is out of range.
    pub fn read(text: &str) -> Result<Self, PlanError> {
        let plan: Self = parse(text)?;
        plan.check()?;
        Ok(plan)
    }

    pub(crate) fn check(&self) -> Result<(), PlanError> {
        require("format", self.format == Self::FORMAT, Self::FORMAT, self.format)?;
        self.training.check()?;
        check_rate(&self.rate)?;
        check_target(&self.target)?;
        check_adam(&self.adam)?;
        self.filter.check()?;
        require("data", !self.data.is_empty(), "at least one folder of games", "none")?;
        self.data.iter().try_for_each(|data| {
            require("data.weight", (1e-6..=1e6).contains(&data.weight), "1e-6 to 1e6", data.weight)
        })
    }
}

impl TrainingSettings {
    /// Batches in all, where there are so many positions to learn from.
    #[must_use]
    pub fn batches_of(&self, positions: u64) -> u64 {
        if self.epochs == 0.0 {
            return self.batches;
        }
        let batches = (self.epochs * positions as f64 / self.batch as f64).ceil();
        (batches as u64).clamp(1, MOST_BATCHES)
    }

    fn check(&self) -> Result<(), PlanError> {
        let Self { batch, batches, epochs, report_every, validation_share, window } = *self;
        require("training.batch", (1..=MOST_BATCH).contains(&batch), format!("1 to {MOST_BATCH}"), batch)?;
        let allowed = (1..=MOST_BATCHES).contains(&batches);
        require("training.batches", allowed, format!("1 to {MOST_BATCHES}"), batches)?;
        require("training.epochs", (0.0..=MOST_EPOCHS).contains(&epochs), format!("0 to {MOST_EPOCHS}"), epochs)?;
        require("training.report_every", report_every > 0, "at least 1", report_every)?;
        let allowed = (0.0..1.0).contains(&validation_share);
        require("training.validation_share", allowed, "0 to below 1", validation_share)?;
        require("training.window", (1..=MOST_WINDOW).contains(&window), format!("1 to {MOST_WINDOW}"), window)
    }
}

impl FilterSettings {
    fn check(&self) -> Result<(), PlanError> {
        require("filter.most_score", self.most_score > 0, "above 0", self.most_score)?;
        let balance = (0.0..=1.0).contains(&self.game_balance);
        require("filter.game_balance", balance, "0 to 1", self.game_balance)
    }
}

fn check_rate(rate: &RateSettings) -> Result<(), PlanError> {
    for (key, value) in [("rate.first", rate.first), ("rate.last", rate.last)] {
        require(key, value > 0.0 && value <= MOST_RATE, format!("above 0, to {MOST_RATE}"), value)?;
    }
    let steps = rate.schedule != Schedule::Step || rate.step_every > 0;
    require("rate.step_every", steps, "at least 1", rate.step_every)?;
    let factor = rate.step_factor > 0.0 && rate.step_factor <= 1.0;
    require("rate.step_factor", factor, "above 0, to 1", rate.step_factor)
}

fn check_target(target: &TargetSettings) -> Result<(), PlanError> {
    let centipawns = (1.0..=MOST_CENTIPAWNS).contains(&target.centipawns) && target.centipawns.fract() == 0.0;
    require("target.centipawns", centipawns, format!("a whole number, 1 to {MOST_CENTIPAWNS}"), target.centipawns)?;
    let shares = [
        ("target.first_result_share", target.first_result_share),
        ("target.last_result_share", target.last_result_share),
        ("target.lambda", target.lambda),
    ];
    shares.into_iter().try_for_each(|(key, share)| require(key, (0.0..=1.0).contains(&share), "0 to 1", share))
}

fn check_adam(adam: &AdamSettings) -> Result<(), PlanError> {
    for (key, beta) in [("adam.beta_1", adam.beta_1), ("adam.beta_2", adam.beta_2)] {
        require(key, (0.0..1.0).contains(&beta), "0 to below 1", beta)?;
    }
    // Below that, single precision may know no difference from 0.
    require("adam.epsilon", (1e-16..1.0).contains(&adam.epsilon), "1e-16 to below 1", adam.epsilon)?;
    require("adam.decay", (0.0..=1.0).contains(&adam.decay), "0 to 1", adam.decay)?;
    let bound = adam.bound > 0.0 && adam.bound <= MOST_BOUND;
    require("adam.bound", bound, format!("above 0, to {MOST_BOUND}"), adam.bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = "format = 1\nvariant = \"chess\"\nseed = 1\n";
    const DATA: &str = "[[data]]\nfolder = \"games\"\n";

    #[test]
    fn unknown_keys_name_the_nearest() {
        let error = TrainPlan::read(&format!("{LEAST}[training]\nbathces = 5\n{DATA}")).unwrap_err().to_string();
        assert!(error.contains("bathces") && error.contains("did you mean `batches`?"), "{error}");
    }

    #[test]
    fn values_out_of_range_are_refused_by_name() {
        for (key, wrong) in [
            ("training.batch", "[training]\nbatch = 0"),
            ("training.validation_share", "[training]\nvalidation_share = 1.0"),
            ("rate.first", "[rate]\nfirst = 0.0"),
            ("rate.step_every", "[rate]\nschedule = \"step\"\nstep_every = 0"),
            ("target.centipawns", "[target]\ncentipawns = nan"),
            ("target.lambda", "[target]\nlambda = 1.1"),
            ("adam.bound", "[adam]\nbound = inf"),
            ("filter.game_balance", "[filter]\ngame_balance = 2.0"),
            ("data.weight", "[[data]]\nfolder = \"x\"\nweight = -1.0"),
        ] {
            let error = TrainPlan::read(&format!("{LEAST}{wrong}\n{DATA}")).unwrap_err();
            assert!(matches!(&error, PlanError::Value { key: named, .. } if *named == key), "{key}: {error}");
        }
        assert!(TrainPlan::read(&format!("data = []\n{LEAST}")).is_err());
        assert!(TrainPlan::read(&LEAST.replace('1', "2")).is_err());
    }

    #[test]
    fn a_saved_plan_reads_back() {
        let plan = TrainPlan::read(&format!("{LEAST}{DATA}")).unwrap();
        assert_eq!(TrainPlan::read(&toml::to_string(&plan).unwrap()), Ok(plan));
    }
}
