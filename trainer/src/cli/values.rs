//! `fairyforge values`: experiments that measure what units are worth.

use super::laboratory::{Laboratory, read_plan};
use super::output::outln;
use super::{Failure, or_run, stop_on_interrupt, threads};
use crate::claims::Budget;
use crate::laboratory::experiment::NarrowEnough;
use crate::run_dir::write_atomically;
use anyhow::Context;
use std::path::PathBuf;

/// Experiments that measure what units are worth.
#[derive(clap::Subcommand)]
pub enum ValuesCommand {
    /// Run an experiment as a plan says. Cut off at any moment, the same command continues.
    Run(RunArgs),
}

/// Run an experiment.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  fairyforge values run configs/experiments/chess-minute.toml\n  fairyforge values run configs/experiments/chess.toml --threads 2 --out data/runs/chess-values --json\n\ndocs/measuring-piece-values.md is how to measure a game of your own; docs/formats/experiments.md lists every key of a plan. The\nrun's folder gets report.md, report.html with figures, and result.json."
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

fn experiment(args: &RunArgs) -> Result<(), Failure> {
    let plan = read_plan(&args.plan)?;
    let stem = args.plan.file_stem().and_then(|stem| stem.to_str()).unwrap_or("values");
    let out = or_run(args.out.as_ref(), stem);
    let command = |games: Option<u64>| {
        let budget = games.map(|games| format!(" --budget {games}")).unwrap_or_default();
        format!("fairyforge values run {}{budget} --out {}", args.plan.display(), out.display())
    };
    let stop = stop_on_interrupt()?;
    let laboratory = Laboratory { plan, budget: args.budget, threads: args.threads, out: &out, stop: &stop };
    let played = laboratory.play(|plan| NarrowEnough(plan.clone()))?;
    let command = command(played.budget);
    let report = played.report(&command);
    let json = report.json();
    let page = report.page().context("cannot make the page")?;
    let texts = [
        (played.run.report(), report.markdown()),
        (played.run.report_page(), page),
        (played.run.result(), format!("{json:#}\n")),
    ];
    for (path, text) in texts {
        write_atomically(&path, text.as_bytes()).context("cannot write what came of the run")?;
    }
    if args.json {
        return outln!("{json}");
    }
    outln!("{}", report.text())?;
    outln!("report in {}, with figures in {}", played.run.report().display(), played.run.report_page().display())
}
