//! A whole run of training: from a plan and games to a network on disk with its report.

use super::device::Device;
use super::export::{Agreement, ExportError, compared, network_file};
use super::model::Layout;
use super::plan::{DataSettings, NO_BASE, TrainPlan};
use super::report::{DrawError, TrainReport};
use super::run::{TrainError, Trained, TrainedBy, Training};
use super::source::{Choice, DataError, Source};
use crate::checksum::text_digest;
use crate::named_weights::{self, NamedWeights, NamedWeightsError};
use crate::progress::Progress;
use crate::run_dir::{FileError, PlanText, RunDir, write_atomically};
use fairyforge_engine::evaluate::Weights;
use fairyforge_engine::evaluate::network::{Features, NetworkFile, Rounding};
use fairyforge_engine::variant::Variant;
use rayon::ThreadPool;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Why there is no network.
#[derive(Debug, thiserror::Error)]
pub enum MakingError {
    /// The games cannot be read.
    #[error("cannot read the games: {0}")]
    Games(#[from] DataError),
    /// Training ended early.
    #[error(transparent)]
    Training(#[from] TrainError),
    /// The numbers make no network that can be played with.
    #[error("training ended, but there is no network: {0}")]
    Export(#[from] ExportError),
    /// The losses cannot be drawn.
    #[error(transparent)]
    Draw(#[from] DrawError),
    /// The disk refuses.
    #[error(transparent)]
    File(#[from] FileError),
}

impl MakingError {
    /// Whether somebody asked for the end.
    #[must_use]
    pub const fn is_stop(&self) -> bool {
        matches!(self, Self::Training(TrainError::Stopped))
    }
}

/// A network to be made.
pub struct Making<'a> {
    /// What is asked for.
    pub plan: &'a TrainPlan,
    /// What the network sees.
    pub features: &'a Arc<Features>,
    /// The weights below the network.
    pub base: Option<&'a Weights>,
    /// The games.
    pub source: &'a Arc<Source>,
    /// Where the network is calculated.
    pub device: &'a Device,
    /// Where states, losses, network and report go.
    pub run: &'a RunDir,
    /// Set when somebody wants an end.
    pub stop: &'a AtomicBool,
    /// Version of the program.
    pub program: &'a str,
    /// The command that makes it again.
    pub command: &'a str,
}

/// What was made.
#[derive(Clone, Debug)]
pub struct Made {
    /// How training went.
    pub trained: Trained,
    /// The network.
    pub file: NetworkFile,
    /// What was lost by whole numbers.
    pub rounding: Rounding,
    /// The same on positions that were played, if there are games for validation.
    pub agreement: Option<Agreement>,
}

/// The games of a plan, whose folders are called as they are seen from here.
///
/// # Errors
/// A folder cannot be listed or holds no records.
pub fn open_source(
    plan: &TrainPlan,
    folders: &[DataSettings],
    (features, base): (&Arc<Features>, Option<&Weights>),
    pool: Arc<ThreadPool>,
) -> Result<Arc<Source>, DataError> {
    let choice = Choice { filter: plan.filter, validation_share: plan.training.validation_share, target: plan.target };
    let seen = (Arc::clone(features.variant()), Arc::clone(features) as _);
    Ok(Arc::new(Source::open(seen, folders, choice, pool, base)?))
}

impl Making<'_> {
    /// Trains from the last checkpoint on and writes the network and the report.
    ///
    /// # Errors
    /// Training ended early, or the network cannot be made or written.
    pub fn make(&self) -> Result<Made, MakingError> {
        let &Self { plan, features, source, device, run, stop, .. } = self;
        let layout = Layout::new(&**features, plan.network.width, plan.sharing);
        let survey = source.survey()?;
        let batches = plan.training.batches_of(survey.content.training.kept);
        let progress = Progress::new(&format!("training, {}", features.variant().name()), "batches", batches);
        let (layout, survey) = (&layout, &survey);
        let training = Training { plan, layout, source, survey, batches, device, run, stop, progress: &progress };
        let trained = training.run();
        progress.finish();
        note(run, &progress)?;
        let trained = trained?;
        let by = TrainedBy { plan, base: self.base, trained: &trained, program: self.program };
        let (file, rounding) = network_file(features, &by)?;
        let agreement = compared(&file.quantised, &rounding, &survey.validation, &trained.outputs)?;
        write_atomically(&run.network(), &file.to_bytes().map_err(ExportError::from)?)?;
        let made = Made { trained, file, rounding, agreement };
        self.write_report(&made)?;
        Ok(made)
    }

    /// The report of what was made.
    #[must_use]
    pub fn report<'a>(&'a self, made: &'a Made) -> TrainReport<'a> {
        let variant = self.features.variant();
        TrainReport {
            by: TrainedBy { plan: self.plan, base: self.base, trained: &made.trained, program: self.program },
            rounding: made.rounding,
            agreement: made.agreement,
            title: &variant.rules().title,
            rules_hash: variant.rules_hash(),
            device: self.device,
            command: self.command,
        }
    }

    fn write_report(&self, made: &Made) -> Result<(), MakingError> {
        let report = self.report(made);
        write_atomically(&self.run.chart(), report.chart()?.as_bytes())?;
        Ok(write_atomically(&self.run.report(), report.markdown().as_bytes())?)
    }
}

/// Notes what this process did, if anything.
fn note(run: &RunDir, progress: &Progress) -> Result<(), FileError> {
    let (batches, positions) = progress.counts();
    let seconds = progress.elapsed().as_secs_f64();
    if batches == 0 {
        return Ok(());
    }
    run.append_event(&json!({"event": "train", "batches": batches, "positions": positions, "seconds": seconds}))
}

/// The weights below a plan's network; a file is called as it is seen from here.
///
/// # Errors
/// There are no weights of that name.
pub fn load_base(variant: &Variant, name: Option<&str>) -> Result<Option<NamedWeights>, NamedWeightsError> {
    match name {
        Some(NO_BASE) => Ok(None),
        name => named_weights::load(variant, Path::new(name.unwrap_or(named_weights::usual(variant)))).map(Some),
    }
}

/// The plan as the run keeps it: whatever decides the network.
///
/// # Errors
/// The plan cannot be written as TOML.
pub fn saved(
    plan: &TrainPlan,
    (features, base): (&Features, Option<&NamedWeights>),
    device: &Device,
) -> Result<PlanText, toml::ser::Error> {
    let variant = features.variant();
    // Without weights below, exchanges are judged by those best known: they are in the network's file too.
    let usual = || text_digest(&Weights::best_known(variant).to_toml(variant));
    PlanText::of(&SavedPlan {
        // Other devices round otherwise. Where none is named, as in all runs before there were any, it is the CPU.
        device: (!device.is_cpu()).then(|| device.name().into()),
        rules_hash: variant.rules_hash().into(),
        base_digest: base.map(|base| (&base.digest).into()),
        exchanges_digest: base.is_none().then(|| usual().into()),
        plan: Cow::Borrowed(plan),
    })
}

/// What is saved of a plan: itself, and what it was started with.
#[derive(Serialize, Deserialize)]
struct SavedPlan<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    device: Option<Cow<'a, str>>,
    rules_hash: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base_digest: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exchanges_digest: Option<Cow<'a, str>>,
    #[serde(flatten)]
    plan: Cow<'a, TrainPlan>,
}

/// The folder where a training run lies when nothing is said.
#[must_use]
pub fn usual_name(plan: &Path) -> &str {
    plan.file_stem().and_then(|stem| stem.to_str()).unwrap_or("training")
}
