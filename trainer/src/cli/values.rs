//! `fairyforge values`: experiments that measure what units are worth.

use super::loops::beside;
use super::output::outln;
use super::selfplay::open_run;
use super::{Failure, OrBadInput, VERSION, load_variant, load_weights, on_threads, or_run, stop_on_interrupt, threads};
use crate::claims::Budget;
use crate::laboratory::budget;
use crate::laboratory::experiment::{Experiment, ExperimentError, Findings, Goal, NarrowEnough};
use crate::laboratory::forecast::{DesignForecast, forecast};
use crate::laboratory::plan::Plan;
use crate::laboratory::report::LaboratoryReport;
use crate::named_weights;
use crate::record;
use crate::run_dir::{RunDir, write_atomically};
use crate::table::Style;
use anyhow::Context;
use fairyforge_engine::evaluate::Weights;
use fairyforge_engine::variant::Variant;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Experiments that measure what units are worth.
#[derive(clap::Subcommand)]
pub enum ValuesCommand {
    /// Run an experiment as a plan says. Cut off at any moment, the same command continues.
    Run(RunArgs),
}

/// Run an experiment.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  fairyforge values run configs/experiments/herculean-minute.toml\n  fairyforge values run configs/experiments/chess.toml --threads 2 --out data/runs/chess-values --json\n\ndocs/measuring-piece-values.md is how to measure a game of your own; docs/formats/experiments.md lists every key of a plan. The\nrun's folder gets report.md and result.json."
)]
pub struct RunArgs {
    /// The plan.
    plan: PathBuf,
    /// What may be spent in all, in games or in time, as 20000, 30min or 2h; what the plan says if absent.
    #[arg(long)]
    budget: Option<Budget>,
    /// Folder of the run; data/runs/<name of the plan> if absent.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Threads; 0 is one a core.
    #[arg(long, default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(command: &ValuesCommand) -> Result<(), Failure> {
    match command {
        ValuesCommand::Run(args) => experiment(args),
    }
}

/// What is saved of a plan: itself, what it was started with, and the time it was given.
#[derive(Serialize)]
struct SavedPlan<'a> {
    rules_hash: &'a str,
    weights_digest: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<String>,
    #[serde(flatten)]
    plan: &'a Plan,
}

fn experiment(args: &RunArgs) -> Result<(), Failure> {
    let doing = || format!("cannot use the plan {}", args.plan.display());
    let text = std::fs::read_to_string(&args.plan).or_bad_input(doing)?;
    let mut plan = Plan::read(&text).or_bad_input(doing)?;
    plan.variant = beside(&args.plan, plan.variant);
    plan.weights = plan.weights.map(|weights| beside(&args.plan, weights));
    let stem = args.plan.file_stem().and_then(|stem| stem.to_str()).unwrap_or("values");
    let out = or_run(args.out.as_ref(), stem);
    let command = |games: Option<u64>| {
        let budget = games.map(|games| format!(" --budget {games}")).unwrap_or_default();
        format!("fairyforge values run {}{budget} --out {}", args.plan.display(), out.display())
    };
    let stop = stop_on_interrupt()?;
    let laboratory = Laboratory { plan, budget: args.budget, threads: args.threads, out: &out, stop: &stop };
    let played = laboratory.play(&doing, &|plan| Box::new(NarrowEnough(plan.clone())))?;
    let command = command(args.budget.map(|_| played.plan.games()));
    let report = played.report(&command);
    let json = report.json();
    for (path, text) in [(played.run.report(), report.markdown()), (played.run.result(), format!("{json:#}\n"))] {
        write_atomically(&path, text.as_bytes()).context("cannot write what came of the run")?;
    }
    if args.json {
        return outln!("{json}");
    }
    outln!("{}", report.text())?;
    outln!("report in {}", played.run.report().display())
}

/// An experiment that is to be played: by `values run`, or for claims.
pub(super) struct Laboratory<'a> {
    pub plan: Plan,
    pub budget: Option<Budget>,
    pub threads: usize,
    pub out: &'a Path,
    pub stop: &'a AtomicBool,
}

/// An experiment that was played.
pub(super) struct Played {
    pub plan: Plan,
    pub variant: Arc<Variant>,
    pub run: RunDir,
    pub digest: String,
    pub forecast: DesignForecast,
    pub findings: Findings,
}

impl Laboratory<'_> {
    /// Checks the plan, forecasts, opens the run, plays and measures. `goal` is made from the plan as its budget leaves it.
    pub(super) fn play(
        self,
        doing: &dyn Fn() -> String,
        goal: &dyn Fn(&Plan) -> Box<dyn Goal>,
    ) -> Result<Played, Failure> {
        let variant = load_variant(&self.plan.variant)?;
        self.plan.check_units(&variant).or_bad_input(doing)?;
        let name = self.plan.weights.clone().unwrap_or_else(|| named_weights::usual(&variant).to_owned());
        let start = load_weights(&variant, Some(Path::new(&name)))?;
        let plan = match self.budget {
            Some(Budget::Games(games)) => self.plan.scaled_to(games),
            Some(Budget::Time(_)) | None => self.plan.clone(),
        };
        let sample = || forecast(&plan, &variant, &start.weights);
        on_threads(self.threads, sample)?.or_bad_input(doing)?;
        let budget = self.budget.filter(|budget| matches!(budget, Budget::Time(_))).map(|budget| budget.to_string());
        let (rules_hash, weights_digest) = (variant.rules_hash(), start.digest.as_str());
        let saved = SavedPlan { rules_hash, weights_digest, budget, plan: &plan };
        let run = open_run(self.out, &toml::to_string(&saved).context("cannot write the plan as TOML")?)?;
        let lab = Bench { variant: &variant, run: &run, start: &start.weights, stop: self.stop, threads: self.threads };
        let plan = match self.budget {
            Some(Budget::Time(time)) => lab.within(plan, time)?,
            _ => plan,
        };
        let forecast = on_threads(self.threads, || forecast(&plan, &variant, &start.weights))?.or_bad_input(doing)?;
        crate::errln!("before the first game, condition number {:.1}:", forecast.condition_number);
        crate::errln!("{}", forecast.table().in_style(Style::Plain).trim_end());
        let goal = goal(&plan);
        let findings = lab.with(&plan, &*goal, |experiment| experiment.run())?;
        let digest = record::digest(run.root()).context("cannot read the games back")?;
        Ok(Played { plan, variant: Arc::clone(&variant), run, digest, forecast, findings })
    }
}

impl Played {
    pub(super) fn report<'a>(&'a self, command: &'a str) -> LaboratoryReport<'a> {
        LaboratoryReport {
            plan: &self.plan,
            variant: &self.variant,
            version: VERSION,
            command,
            digest: &self.digest,
            forecast: &self.forecast,
            findings: &self.findings,
        }
    }
}

/// What all experiments of a run work with.
struct Bench<'a> {
    variant: &'a Arc<Variant>,
    run: &'a RunDir,
    start: &'a Weights,
    stop: &'a AtomicBool,
    threads: usize,
}

impl Bench<'_> {
    fn with<T: Send>(
        &self,
        plan: &Plan,
        goal: &dyn Goal,
        work: impl FnOnce(&Experiment<'_>) -> Result<T, ExperimentError> + Send,
    ) -> Result<T, Failure> {
        let &Self { variant, run, start, stop, threads } = self;
        let experiment = Experiment { plan, variant, run, start, stop, goal };
        on_threads(threads, || work(&experiment))?.map_err(|error| cut_off(error, run.root()))
    }

    /// The plan with as many games as the time allows, by the speed of the first.
    fn within(&self, plan: Plan, time: Duration) -> Result<Plan, Failure> {
        let games = match budget::fixed(self.run).or_bad_input(|| "cannot continue".into())? {
            Some(games) => games,
            None => {
                let each = self.with(&plan, &NarrowEnough(plan.clone()), |experiment| experiment.pace())?;
                let games = plan.games_within(time, each).max(1);
                budget::fix(self.run, games).context("cannot write the games that the time allows")?;
                games
            }
        };
        let plan = plan.scaled_to(games);
        crate::errln!("{} games in all, by the speed of the first", plan.games());
        Ok(plan)
    }
}

fn cut_off(error: ExperimentError, out: &Path) -> Failure {
    if error.is_stop() {
        let out = out.display();
        return Failure::Interrupted(format!("stopped; what is finished is in {out}, the same command continues"));
    }
    Failure::Failed(
        anyhow::Error::from(error)
            .context("the experiment stopped; what is finished is intact, the same command continues"),
    )
}
