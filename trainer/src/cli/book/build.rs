//! `fairyforge book build`.

use super::super::loops::beside;
use super::super::output::outln;
use super::super::selfplay::open_shared_run;
use super::super::share::ShareArgs;
use super::super::{Failure, OrBadInput, load_variant, on_threads, stop_on_interrupt};
use super::{PlanArgs, judge_beside};
use crate::book::games::{Counting, Sources, look_at};
use crate::book::{Build, BuildError, Built, GamesToCount, Plan};
use crate::progress::Progress;
use crate::run_dir::PlanText;
use anyhow::Context;
use fairyforge_engine::book::{Header, Starts};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A plan, how it is carried out, and by how many.
#[derive(clap::Args)]
pub struct BuildArgs {
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    share: ShareArgs,
}

/// What is saved of a plan: itself, and what it was started with.
#[derive(Serialize, Deserialize)]
struct SavedPlan<'a> {
    kind: Cow<'a, str>,
    rules_hash: Cow<'a, str>,
    judge_digest: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    games_digest: Option<Cow<'a, str>>,
    #[serde(flatten)]
    plan: Cow<'a, Plan>,
}

pub(super) fn build(BuildArgs { plan: args, share }: &BuildArgs) -> Result<(), Failure> {
    let doing = || format!("cannot use the plan {}", args.plan.display());
    let text = std::fs::read_to_string(&args.plan).or_bad_input(doing)?;
    let plan = Plan::read(&text).or_bad_input(doing)?;
    let variant = load_variant(&beside(&args.plan, plan.variant.clone()))?;
    plan.roots(&variant).or_bad_input(doing)?;
    let judge = judge_beside(&variant, &args.plan, plan.judge.as_deref())?;
    let out = args.out("book");
    let paths: Vec<PathBuf> = plan.games.sources.iter().map(|named| found(&args.plan, named)).collect();
    let counting = Counting { plies: plan.games.most_plies, starts: Starts::All };
    let sources = Sources { paths: &paths, variant: &variant, counting };
    let tally = on_threads(args.threads, || look_at(&sources))?.or_bad_input(|| "cannot count the games".into())?;
    let games = (!paths.is_empty()).then_some(GamesToCount { paths: &paths, tally: &tally });
    let saved = SavedPlan {
        kind: "book".into(),
        rules_hash: variant.rules_hash().into(),
        judge_digest: (&judge.digest).into(),
        games_digest: games.map(|games| (&games.tally.digest).into()),
        plan: Cow::Borrowed(&plan),
    };
    let share = share.share();
    let run = open_shared_run(&out, PlanText::of(&saved).context("cannot write the plan as TOML")?, share)?;
    let program = run.began_by().context("cannot read the run's version")?;
    let stop = stop_on_interrupt()?;
    let title = format!("book, {}", variant.name());
    let progress = Progress::new(&title, "positions", plan.growth.positions as u64);
    let (plan, stop, progress) = (&plan, &stop, &progress);
    let (variant, judge, run, program) = (&variant, &judge, &run, program.as_str());
    let build = Build { plan, variant, judge, games, run, program, stop, progress, share };
    let built = on_threads(args.threads, || build.run())?.map_err(|error| cut_off(error, &out))?;
    progress.finish();
    let speed = built.searched as f64 / progress.elapsed().as_secs_f64().max(1e-3);
    if built.searched > 0 {
        crate::errln!("{} nodes searched, {speed:.0} a second", built.searched);
    }
    told(&built, &run.book(), args.json)
}

/// A source of games that a plan names: beside the plan, or as it says.
fn found(plan: &Path, named: &str) -> PathBuf {
    let path = plan.with_file_name(named);
    if path.exists() { path } else { named.into() }
}

fn cut_off(error: BuildError, out: &Path) -> Failure {
    match error {
        BuildError::Shared(shared) => Failure::shared(&shared, out),
        BuildError::Stopped => {
            let out = out.display();
            Failure::Interrupted(format!("stopped; what was found is in {out}, the same command continues"))
        }
        BuildError::Root(_) | BuildError::Over(_) => Failure::BadInput(anyhow::Error::from(error)),
        error => Failure::Failed(anyhow::Error::from(error).context("the book could not be built")),
    }
}

fn told(built: &Built, path: &Path, as_json: bool) -> Result<(), Failure> {
    let Built { book, leaves, kept, .. } = built;
    let Header { variant, positions, moves, manifest, .. } = book.header();
    let bytes = book.as_bytes().len();
    if as_json {
        return outln!(
            "{}",
            json!({
                "variant": variant, "positions": positions, "moves": moves, "leaves": leaves, "bytes": bytes,
                "kept": kept, "searches": manifest.searches, "nodes": manifest.nodes, "file": path.display().to_string(),
            })
        );
    }
    outln!("{positions} positions with {moves} moves of {variant}, {leaves} positions behind them")?;
    outln!("{} searches, {} nodes", manifest.searches, manifest.nodes)?;
    outln!(
        "{kept} positions in which short searches would have left out the move that the search of the position prefers"
    )?;
    outln!("{} ({bytes} bytes)", path.display())
}
