//! `fairyforge fit`: games in, a table of piece values and a weights file out.
//!
//! Only arguments, progress and printing; the fit itself is [`crate::fit::run`].

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};
use fairyforge_engine::variant::Variant;
use indicatif::{ProgressBar, ProgressStyle};

use super::output::outln;
use super::{Failure, load_variant, load_weights};
use crate::fit::run::variant_of;
use crate::fit::values::Choice;
use crate::fit::{FitError, FitReport, FitRequest, FitSettings, FitStage, fit_run};
use crate::run_dir::write_atomically;

/// How often the spinner turns.
const TICK: Duration = Duration::from_millis(100);

/// Measure what units are worth and tune evaluation weights on played games.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  fairyforge fit --data data/runs/quickstart --out weights.toml
  fairyforge fit --data games --weights old.toml --out new.toml --json > fit.json

The table gives values in pawns with 95 % intervals, from the earliest quiet position of every game (or what the lot took away)
and, beside it, from a position drawn by lot. Units taken away by lot are what makes the former causal; if they were taken away after
play, only `--positions lot` is.")]
pub struct FitArgs {
    /// Folder of shards, or a run: then all its generations.
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// Where the weights go.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Weights to start from and to be held to; without, or with `a-priori`, those from mobility.
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Name or file of the variant; without, the shipped one that the games name.
    #[arg(long, value_name = "NAME|FILE")]
    pub variant: Option<String>,
    /// Which quiet position stands for a game in the values that go into the file.
    #[arg(long, value_enum, default_value_t = Positions::Earliest)]
    pub positions: Positions,
    /// Quiet positions of a game that weights are tuned on.
    #[arg(long, value_name = "N", default_value_t = FitSettings::default().positions_per_game)]
    pub positions_per_game: usize,
    /// Fixes which positions are drawn and which pairs of games are kept for validation.
    #[arg(long, value_name = "S", default_value_t = FitSettings::default().seed)]
    pub seed: u64,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// The choices of `--positions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Positions {
    /// What the lot took away at the start: causal, whatever else was on the board.
    Lot,
    /// The first quiet position: nearest to the imbalance assigned by lot where games start from the array.
    Earliest,
    /// A quiet position drawn by lot: observational.
    Random,
}

impl FitArgs {
    fn settings(&self) -> FitSettings {
        FitSettings {
            positions: match self.positions {
                Positions::Lot => Choice::Lot,
                Positions::Earliest => Choice::Earliest,
                Positions::Random => Choice::Random,
            },
            positions_per_game: self.positions_per_game,
            seed: self.seed,
            ..FitSettings::default()
        }
    }

    fn variant(&self) -> Result<Arc<Variant>, Failure> {
        match &self.variant {
            Some(name) => load_variant(name),
            None => variant_of(&self.data).map_err(|error| self.failure(error)),
        }
    }

    /// Whatever stops a fit is in the request or its data.
    fn failure(&self, error: FitError) -> Failure {
        let doing = format!("cannot fit the games in {}", self.data.display());
        Failure::BadInput(anyhow::Error::from(error).context(doing))
    }
}

/// Fits, writes the weights, and prints the report to standard output.
///
/// # Errors
/// Games, variant, start or settings that do not fit are bad input; everything else is a failed run.
pub fn run(args: FitArgs) -> Result<(), Failure> {
    let progress = Progress::new();
    let variant = args.variant()?;
    let start = load_weights(&variant, args.weights.as_deref())?.weights;
    let request = FitRequest { data: &args.data, variant: &variant, start: Some(&start), settings: args.settings() };
    let report = fit_run(&request, &|stage| progress.show(stage)).map_err(|error| args.failure(error))?;
    progress.finish();
    let text = report.weights.to_toml(&variant);
    write_atomically(&args.out, text.as_bytes()).context("cannot save the weights")?;
    print(&report, &args)
}

fn print(report: &FitReport, args: &FitArgs) -> Result<(), Failure> {
    if args.json {
        outln!("{}", serde_json::to_string(report).context("cannot write the report as JSON")?)?;
    } else {
        outln!("{}", report.to_string().trim_end())?;
        outln!("weights written to {}", args.out.display())?;
    }
    Ok(())
}

/// A spinner on a terminal; a line for each stage elsewhere.
struct Progress {
    bar: Option<ProgressBar>,
    last: std::cell::Cell<Option<&'static str>>,
}

impl Progress {
    fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})");
            let bar = ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(TICK);
            bar
        });
        Self { bar, last: std::cell::Cell::new(None) }
    }

    fn show(&self, stage: FitStage) {
        let what = match stage {
            FitStage::Reading { .. } => "reading games",
            FitStage::Measuring => "measuring values",
            FitStage::Tuning => "tuning weights",
        };
        match (&self.bar, stage) {
            (Some(bar), FitStage::Reading { games }) => bar.set_message(format!("{what}: {games}")),
            (Some(bar), _) => bar.set_message(what),
            (None, _) if self.last.replace(Some(what)) != Some(what) => crate::errln!("{what}"),
            (None, _) => {}
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    /// An error's message must not stand beside a turning spinner.
    fn drop(&mut self) {
        self.finish();
    }
}
