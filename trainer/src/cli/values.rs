//! `fairyforge values`: experiments that measure what units are worth.

use super::laboratory::{Laboratory, read_plan};
use super::output::outln;
use super::share::ShareArgs;
use super::{Failure, OrBadInput, load_judge, load_variant, on_threads, or_run, stop_on_interrupt, threads};
use crate::claims::Budget;
use crate::laboratory::ablation::{Ablation, AblationRequest};
use crate::laboratory::experiment::NarrowEnough;
use crate::named_judge;
use crate::run_dir::write_atomically;
use crate::table::Style;
use anyhow::Context;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Experiments that measure what units are worth.
#[derive(clap::Subcommand)]
pub enum ValuesCommand {
    /// Run an experiment as a plan says. Cut off at any moment, the same command continues.
    Run(RunArgs),
    /// Ask weights or a network what units are worth to them, by taking one off in many positions that were played.
    Ablate(AblateArgs),
}

/// What to ask, and of whom.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  fairyforge values ablate --variant herculean --judge network --data data/runs/herculean\n\nThis tells what the judge knows, not what is so: docs/measuring-piece-values.md compares methods."
)]
pub struct AblateArgs {
    /// Name or file of the variant.
    #[arg(long)]
    variant: String,
    /// What judges positions: a file of weights or of a network (*.net), `network`, `shipped` or `a-priori`; the best known if absent.
    #[arg(long, value_name = "FILE")]
    judge: Option<PathBuf>,
    /// Games to take positions from: a run, or a folder of shards.
    #[arg(long)]
    data: PathBuf,
    /// Quiet positions a game.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    positions_per_game: u16,
    /// Which positions and units are drawn.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads; 0 is one a core.
    #[arg(long, default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
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
    /// A network to ask what units are worth, beside the games' results: a file (*.net), `network` for the one shipped, or `none`; the one
    /// shipped, if there is one, if absent.
    #[arg(long, value_name = "FILE")]
    network: Option<PathBuf>,
    /// Folder of the run; data/runs/<name of the plan> if absent.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Threads; 0 is one a core.
    #[arg(long, default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    share: ShareArgs,
}

pub(super) fn run(command: &ValuesCommand) -> Result<(), Failure> {
    match command {
        ValuesCommand::Run(args) => experiment(args),
        ValuesCommand::Ablate(args) => ablate(args),
    }
}

fn experiment(args: &RunArgs) -> Result<(), Failure> {
    let plan = read_plan(&args.plan)?;
    let stem = args.plan.file_stem().and_then(|stem| stem.to_str()).unwrap_or("values");
    let out = or_run(args.out.as_ref(), stem);
    let command = |games: Option<u64>| {
        let budget = games.map(|games| format!(" --budget {games}")).unwrap_or_default();
        let network = args.network.as_ref().map(|name| format!(" --network {}", name.display())).unwrap_or_default();
        format!("fairyforge values run {}{budget}{network} --out {}", args.plan.display(), out.display())
    };
    let stop = stop_on_interrupt()?;
    let laboratory = Laboratory {
        plan,
        budget: args.budget,
        network: args.network.as_deref(),
        threads: args.threads,
        out: &out,
        stop: &stop,
        share: args.share.share(),
    };
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

fn ablate(args: &AblateArgs) -> Result<(), Failure> {
    let variant = load_variant(&args.variant)?;
    let name = args.judge.as_deref().unwrap_or_else(|| Path::new(named_judge::usual(&variant)));
    let named = load_judge(&variant, Some(name))?;
    let request = AblationRequest {
        data: &args.data,
        variant: &variant,
        judge: &named.judge,
        positions_per_game: usize::from(args.positions_per_game),
        seed: args.seed,
        games: u64::MAX,
    };
    let asked = on_threads(args.threads, || Ablation::of(&request))?;
    let ablation = asked.or_bad_input(|| format!("cannot read the games in {}", args.data.display()))?;
    if args.json {
        return outln!(
            "{}",
            json!({"variant": variant.name(), "judge": named.digest, "seed": args.seed, "ablation": ablation})
        );
    }
    outln!("{}", ablation.table(Style::Plain))?;
    outln!(
        "{} positions of {} games; what {} ({:.12}) loses with a unit, in {}s; opening, middle, late: from two thirds of the men on, from \
         one third, fewer",
        ablation.positions,
        ablation.games,
        name.display(),
        named.digest,
        ablation.pawn.replace('_', " "),
    )
}
