//! `fairyforge match`.

use super::selfplay::open_run;
use super::{Failure, OrBadInput, load_variant, load_weights, on_threads, stop_on_interrupt};
use crate::arena::{Contest, MatchError, MatchSettings};
use crate::plan::check_match;
use crate::progress::Progress;
use anyhow::Context;
use fairyforge_engine::evaluate::Tapered;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Play two weights files against each other: each opening twice, colours exchanged.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  fairyforge match --variant herculean --a new.toml --b a-priori --pairs 100 --nodes 500 --seed 2 --threads 2 --out data/runs/match"
)]
pub struct MatchArgs {
    /// Name or file of the variant.
    #[arg(long)]
    variant: String,
    /// Weights of player A, or `a-priori`.
    #[arg(long)]
    a: PathBuf,
    /// Weights of player B, or `a-priori`.
    #[arg(long)]
    b: PathBuf,
    /// Pairs of games.
    #[arg(long)]
    pairs: u64,
    /// Nodes a move.
    #[arg(long)]
    nodes: u64,
    /// Seed of the openings.
    #[arg(long)]
    seed: u64,
    /// Threads; 0 is one a core.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Folder of the run.
    #[arg(long)]
    out: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What is saved of the request: everything that decides the games.
#[derive(Serialize)]
struct MatchPlan<'a> {
    kind: &'static str,
    variant: &'a str,
    rules_hash: &'a str,
    seed: u64,
    a: &'a str,
    b: &'a str,
    #[serde(rename = "match")]
    settings: &'a MatchSettings,
}

pub(super) fn run(args: &MatchArgs) -> Result<(), Failure> {
    let variant = load_variant(&args.variant)?;
    let a = load_weights(&variant, Some(&args.a))?;
    let b = load_weights(&variant, Some(&args.b))?;
    let settings = MatchSettings { pairs: args.pairs, nodes: args.nodes, ..Default::default() };
    check_match(&settings).or_bad_input(|| "the settings do not fit".into())?;
    let plan = MatchPlan {
        kind: "match",
        variant: variant.name(),
        rules_hash: variant.rules_hash(),
        seed: args.seed,
        a: &a.digest,
        b: &b.digest,
        settings: &settings,
    };
    let run = open_run(&args.out, &toml::to_string(&plan).context("cannot write the plan as TOML")?)?;
    let evaluators = [Tapered::new(&variant, &a.weights), Tapered::new(&variant, &b.weights)];
    let contest = Contest {
        variant: &variant,
        settings: &settings,
        seed: args.seed,
        evaluators: [&evaluators[0], &evaluators[1]],
    };
    let stop = stop_on_interrupt()?;
    let progress = Progress::new(&format!("match, {}", variant.name()), "games", 2 * settings.pairs);
    let played = on_threads(args.threads, || contest.play(&run.pairs(), &stop, &progress))?;
    progress.finish();
    let summary = played.map_err(|error| cut_off(error, &args.out))?.tally().summary();
    if args.json {
        println!("{}", serde_json::to_string(&summary).context("cannot write the result as JSON")?);
    } else {
        println!("{} against {}: {summary}", args.a.display(), args.b.display());
    }
    Ok(())
}

/// What to tell when a match ended early.
pub(super) fn cut_off(error: MatchError, out: &Path) -> Failure {
    match error {
        MatchError::Stopped => Failure::Interrupted(format!(
            "stopped; the pairs played are in {}, the same command continues",
            out.display()
        )),
        error => Failure::Failed(anyhow::Error::from(error).context("the match stopped; the pairs played are intact")),
    }
}
