//! `fairyforge values`: experiments that measure what units are worth.

use super::output::outln;
use super::selfplay::open_run;
use super::{Failure, OrBadInput, VERSION, load_variant, load_weights, on_threads, or_run, stop_on_interrupt, threads};
use crate::laboratory::experiment::{Experiment, ExperimentError, NarrowEnough};
use crate::laboratory::plan::Plan;
use crate::laboratory::report::LaboratoryReport;
use crate::named_weights;
use crate::record;
use crate::run_dir::write_atomically;
use anyhow::Context;
use serde::Serialize;
use std::path::{Path, PathBuf};

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

/// What is saved of a plan: itself, and the rules it was started with.
#[derive(Serialize)]
struct SavedPlan<'a> {
    rules_hash: &'a str,
    weights_digest: &'a str,
    #[serde(flatten)]
    plan: &'a Plan,
}

fn experiment(args: &RunArgs) -> Result<(), Failure> {
    let doing = || format!("cannot use the plan {}", args.plan.display());
    let text = std::fs::read_to_string(&args.plan).or_bad_input(doing)?;
    let plan = Plan::read(&text).or_bad_input(doing)?;
    let variant = load_variant(&plan.variant)?;
    plan.check_units(&variant).or_bad_input(doing)?;
    let name = plan.weights.clone().unwrap_or_else(|| named_weights::usual(&variant).to_owned());
    let start = load_weights(&variant, Some(Path::new(&name)))?;
    let saved = SavedPlan { rules_hash: variant.rules_hash(), weights_digest: &start.digest, plan: &plan };
    let stem = args.plan.file_stem().and_then(|stem| stem.to_str()).unwrap_or("values");
    let out = or_run(args.out.as_ref(), stem);
    let run = open_run(&out, &toml::to_string(&saved).context("cannot write the plan as TOML")?)?;
    let stop = stop_on_interrupt()?;
    let goal = NarrowEnough(&plan);
    let experiment =
        Experiment { plan: &plan, variant: &variant, run: &run, start: &start.weights, stop: &stop, goal: &goal };
    let findings = on_threads(args.threads, || experiment.run())?.map_err(|error| cut_off(error, &out))?;
    let digest = record::digest(&out).context("cannot read the games back")?;
    let command = format!("fairyforge values run {} --out {}", args.plan.display(), out.display());
    let report = LaboratoryReport {
        plan: &plan,
        variant: &variant,
        version: VERSION,
        command: &command,
        digest: &digest,
        findings: &findings,
    };
    let json = report.json();
    for (path, text) in [(run.report(), report.markdown()), (run.result(), format!("{json:#}\n"))] {
        write_atomically(&path, text.as_bytes()).context("cannot write what came of the run")?;
    }
    if args.json {
        return outln!("{json}");
    }
    outln!("{}", report.text())?;
    outln!("report in {}", run.report().display())
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
