//! `fairyforge match`.

use super::output::outln;
use super::selfplay::open_run;
use super::{Failure, OrBadInput, PlayArgs, load_variant, load_weights, on_threads, stop_on_interrupt};
use crate::arena::{Contest, MatchError, MatchSettings};
use crate::plan::check_match;
use crate::progress::Progress;
use anyhow::{Context, anyhow};
use fairyforge_engine::evaluate::Tapered;
use fairyforge_engine::search::Params;
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
    /// Weights of player A: a file, `shipped` or `a-priori`.
    #[arg(long)]
    a: PathBuf,
    /// Weights of player B, likewise.
    #[arg(long)]
    b: PathBuf,
    /// Pairs of games.
    #[arg(long)]
    pairs: u64,
    #[command(flatten)]
    play: PlayArgs,
    /// A search parameter of player A, as `late_move_base=20`; may be repeated. `fairyforge-engine params` lists them.
    #[arg(long, value_name = "NAME=VALUE")]
    a_set: Vec<String>,
    /// The same for player B.
    #[arg(long, value_name = "NAME=VALUE")]
    b_set: Vec<String>,
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
    a_set: &'a [String],
    b_set: &'a [String],
    #[serde(rename = "match")]
    settings: &'a MatchSettings,
}

pub(super) fn run(args: &MatchArgs) -> Result<(), Failure> {
    let variant = load_variant(&args.variant)?;
    let a = load_weights(&variant, Some(&args.a))?;
    let b = load_weights(&variant, Some(&args.b))?;
    let params = [params(&args.a_set)?, params(&args.b_set)?];
    let settings = MatchSettings { pairs: args.pairs, nodes: args.play.nodes, ..Default::default() };
    check_match(&settings).or_bad_input(|| "the settings do not fit".into())?;
    let plan = MatchPlan {
        kind: "match",
        variant: variant.name(),
        rules_hash: variant.rules_hash(),
        seed: args.play.seed,
        a: &a.digest,
        b: &b.digest,
        a_set: &args.a_set,
        b_set: &args.b_set,
        settings: &settings,
    };
    let run = open_run(&args.play.out, &toml::to_string(&plan).context("cannot write the plan as TOML")?)?;
    let evaluators = [Tapered::new(&variant, &a.weights), Tapered::new(&variant, &b.weights)];
    let contest = Contest {
        variant: &variant,
        settings: &settings,
        seed: args.play.seed,
        evaluators: [&evaluators[0], &evaluators[1]],
        params,
    };
    let stop = stop_on_interrupt()?;
    let progress = Progress::new(&format!("match, {}", variant.name()), "games", 2 * settings.pairs);
    let played = on_threads(args.play.threads, || contest.play(&run.pairs(), &stop, &progress))?;
    progress.finish();
    let summary = played.map_err(|error| cut_off(error, &args.play.out))?.tally().summary();
    if args.json {
        outln!("{}", serde_json::to_string(&summary).context("cannot write the result as JSON")?)?;
    } else {
        outln!("{} against {}: {summary}", args.a.display(), args.b.display())?;
    }
    Ok(())
}

/// The default parameters with changes as `name=value`.
fn params(changes: &[String]) -> Result<Params, Failure> {
    let mut params = Params::default();
    for change in changes {
        let doing = || format!("cannot set the search parameter {change:?}");
        let parsed = change.split_once('=').and_then(|(name, value)| Some((name.trim(), value.trim().parse().ok()?)));
        let (name, value) =
            parsed.ok_or_else(|| anyhow!("expected NAME=VALUE with a whole number")).or_bad_input(doing)?;
        params.set(name, value).or_bad_input(doing)?;
    }
    Ok(params)
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
