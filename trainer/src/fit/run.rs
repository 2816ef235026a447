//! A whole fit: the games of a folder or run in, piece values and tuned weights out.
//!
//! Reads games and makes a [`FitReport`]; writes nothing. The command around it is in `cli/fit.rs`, the mathematics in
//! the other modules of [`crate::fit`].

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fairyforge_engine::evaluate::{MeasuredValue, Origin, Weights};
use fairyforge_engine::variant::rules::Unit;
use fairyforge_engine::variant::{LoadError, Variant};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::dataset::{Dataset, DatasetError, Selection};
use super::tapered::Split;
use super::values::{Choice, PieceValues, ValueOutcome};
use super::weights::{Tuning, tune};
use crate::record;

/// Values go into the weights file in steps of one ten-thousandth of a pawn.
const WRITTEN_PRECISION: f64 = 1e4;

/// How a fit is done.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FitSettings {
    /// Which method's values are reported first and go into the weights file.
    pub positions: Choice,
    /// Quiet positions of a game that weights are tuned on, at least 1.
    pub positions_per_game: usize,
    /// Share of the pairs of games that only judge the tuned weights, from 0 to below 1.
    pub validation_fraction: f64,
    /// Fixes which positions and pairs are drawn.
    pub seed: u64,
}

impl Default for FitSettings {
    /// Earliest positions for the values; eight positions a game, because neighbours repeat each other and more only
    /// cost time; a tenth for validation; seed 0.
    fn default() -> Self {
        Self { positions: Choice::Earliest, positions_per_game: 8, validation_fraction: 0.1, seed: 0 }
    }
}

impl FitSettings {
    /// The method that stands for the lot's imbalance.
    const fn reference(&self) -> Choice {
        match self.positions {
            Choice::Lot => Choice::Lot,
            Choice::Earliest | Choice::Random => Choice::Earliest,
        }
    }
}

/// What to fit.
#[derive(Debug, Clone, Copy)]
pub struct FitRequest<'a> {
    /// A folder of shards, or a run: then all its generations.
    pub data: &'a Path,
    /// The game, which the games' records must be of.
    pub variant: &'a Arc<Variant>,
    /// The weights that tuning starts from and is held to; a priori ones if `None`.
    pub start: Option<&'a Weights>,
    /// How.
    pub settings: FitSettings,
}

/// How far a fit has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitStage {
    /// So many games have been read.
    Reading {
        /// Games so far.
        games: u64,
    },
    /// Values are being measured.
    Measuring,
    /// Weights are being tuned.
    Tuning,
}

/// All that a fit found out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FitReport {
    /// Name of the game.
    pub variant: String,
    /// Hash of its rules.
    pub rules_hash: String,
    /// Digest of the games.
    pub data_digest: String,
    /// Games in the fit.
    pub games: usize,
    /// Positions that weights were tuned on or judged by.
    pub positions: usize,
    /// How it was done.
    pub settings: FitSettings,
    /// Values by the earliest quiet position, or by what the lot took if asked for: the reference method.
    pub values_reference: PieceValues,
    /// Values by a quiet position drawn by lot: the observational method.
    pub values_observational: PieceValues,
    /// How the tuning went; `None` if the games could not tell.
    pub tuning: Option<Tuning>,
    /// Why the weights are those one started with, if so.
    pub not_tuned: Option<String>,
    /// The weights, tuned if possible, with their origin and the measured values: what goes into the file.
    #[serde(skip)]
    pub weights: Weights,
}

/// Why nothing was fitted.
#[derive(Debug, Error)]
pub enum FitError {
    /// The games cannot be used.
    #[error(transparent)]
    Data(#[from] DatasetError),
    /// The games are of a variant that is neither shipped nor given.
    #[error("the games in {} are of variant {name:?}; if it is your own, give its file: {fault}", dir.display())]
    Variant {
        /// The folder.
        dir: PathBuf,
        /// The name in the records.
        name: String,
        /// Why it could not be loaded.
        fault: LoadError,
    },
    /// The weights to start from are of other rules than the games.
    #[error("expected weights to start from of rules {expected:.12}, got some of {got:.12}")]
    StartRules {
        /// Hash of the game's rules.
        expected: String,
        /// Hash in the weights.
        got: String,
    },
    /// A setting makes no sense.
    #[error("expected {expected}, got {got}")]
    Setting {
        /// Which setting, and what it should be.
        expected: &'static str,
        /// What it is.
        got: String,
    },
}

/// The shipped variant that the games in `dir` are of, by the name in the first shard.
///
/// # Errors
/// No games, or a name that is not a shipped game's.
pub fn variant_of(dir: &Path) -> Result<Arc<Variant>, FitError> {
    let first =
        record::shards(dir, None).map_err(DatasetError::from)?.next().transpose().map_err(DatasetError::from)?;
    let name = first.map(|shard| shard.header.origin.variant).unwrap_or_default();
    match Variant::load(&name) {
        Ok(variant) => Ok(Arc::new(variant)),
        Err(fault) => Err(FitError::Variant { dir: dir.to_owned(), name, fault }),
    }
}

/// Measures values and tunes weights. The same games, start and settings give the same report, whatever the number of
/// threads. `observe` is told how far it is.
///
/// # Errors
/// Anything in [`FitError`]; games too few to measure a value or to tune weights are none, they are told in the report.
pub fn fit_run(request: &FitRequest<'_>, observe: &dyn Fn(FitStage)) -> Result<FitReport, FitError> {
    let FitRequest { data, variant, start, settings } = *request;
    check_settings(&settings)?;
    let start = checked_start(variant, start)?;
    let selection = Selection { positions_per_game: settings.positions_per_game, seed: settings.seed };
    let dataset = Dataset::read(data, variant, &selection, &|games| observe(FitStage::Reading { games }))?;
    let data_digest = record::digest(data).map_err(DatasetError::from)?;
    observe(FitStage::Measuring);
    let [reference, observational] =
        [settings.reference(), Choice::Random].map(|choice| PieceValues::measure(&dataset, variant, choice));
    observe(FitStage::Tuning);
    let split = Split { validation_fraction: settings.validation_fraction, seed: settings.seed };
    let (mut weights, tuning, not_tuned) = match tune(&dataset, variant, &start, &split) {
        Ok((weights, tuning)) => (weights, Some(tuning), None),
        Err(error) => (start.clone(), None, Some(error.to_string())),
    };
    let games = dataset.games_with_quiet();
    let main = if settings.positions == Choice::Random { &observational } else { &reference };
    weights.measured = measured(variant, main);
    weights.origin = origin(&settings, &start, data_digest.clone(), games as u64);
    Ok(FitReport {
        variant: variant.name().to_owned(),
        rules_hash: variant.rules_hash().to_owned(),
        data_digest,
        games,
        positions: dataset.positions(),
        settings,
        values_reference: reference,
        values_observational: observational,
        tuning,
        not_tuned,
        weights,
    })
}

impl FitReport {
    /// The values of the method asked for.
    #[must_use]
    pub fn values(&self) -> &PieceValues {
        match self.settings.positions {
            Choice::Lot | Choice::Earliest => &self.values_reference,
            Choice::Random => &self.values_observational,
        }
    }

    /// What became of the weights, in a few lines.
    #[must_use]
    pub fn tuning_text(&self) -> String {
        match (&self.tuning, &self.not_tuned) {
            (Some(tuning), _) => format!("Evaluation weights tuned on {} positions\n{tuning}", self.positions),
            (None, reason) => format!("Evaluation weights as before: {}\n", reason.as_deref().unwrap_or("not tuned")),
        }
    }

    fn other_values(&self) -> &PieceValues {
        match self.settings.positions {
            Choice::Lot | Choice::Earliest => &self.values_observational,
            Choice::Random => &self.values_reference,
        }
    }
}

/// Both methods' values in one table, then the tuning.
impl fmt::Display for FitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Values in pawns, {}, {} games (digest {:.12})", self.variant, self.games, self.data_digest)?;
        writeln!(f)?;
        writeln!(f, "{}", self.values().beside(self.other_values()))?;
        write!(f, "{}", self.tuning_text())
    }
}

fn check_settings(settings: &FitSettings) -> Result<(), FitError> {
    if settings.positions_per_game == 0 {
        return Err(FitError::Setting { expected: "at least 1 position a game", got: "0".to_owned() });
    }
    if !(0.0..1.0).contains(&settings.validation_fraction) {
        let got = settings.validation_fraction.to_string();
        return Err(FitError::Setting { expected: "a validation fraction from 0 to below 1", got });
    }
    Ok(())
}

fn checked_start(variant: &Variant, start: Option<&Weights>) -> Result<Weights, FitError> {
    let Some(start) = start else { return Ok(Weights::a_priori(variant)) };
    if start.rules_hash == variant.rules_hash() {
        return Ok(start.clone());
    }
    Err(FitError::StartRules { expected: variant.rules_hash().to_owned(), got: start.rules_hash.clone() })
}

/// What goes into the file, in the variant's order of units.
fn measured(variant: &Variant, values: &PieceValues) -> Vec<MeasuredValue> {
    let bounded = |unit: Unit| match values.row(&variant.unit(unit).name)?.value {
        ValueOutcome::Bounded { value, interval, .. } => {
            let [pawns, low, high] = [value, interval.low, interval.high].map(written);
            Some(MeasuredValue { unit, pawns, low, high })
        }
        _ => None,
    };
    variant.units().filter_map(bounded).collect()
}

/// Rounded as far as anybody could need; the report keeps all digits.
fn written(pawns: f64) -> f64 {
    (pawns * WRITTEN_PRECISION).round() / WRITTEN_PRECISION
}

fn origin(settings: &FitSettings, start: &Weights, data_digest: String, games: u64) -> Origin {
    Origin {
        method: format!(
            "tuned on {} quiet positions a game, starting from {}; measured values by the {}",
            settings.positions_per_game,
            short(&start.origin),
            settings.positions
        ),
        data_digest: Some(data_digest),
        games,
        engine: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// What the weights started from, without the whole chain of what those started from.
fn short(origin: &Origin) -> String {
    match &origin.data_digest {
        Some(digest) => format!("weights tuned on games {digest:.12}"),
        None => origin.method.clone(),
    }
}
