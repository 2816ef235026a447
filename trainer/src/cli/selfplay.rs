//! `fairyforge selfplay`.

use super::output::outln;
use super::{Failure, OrBadInput, PlayArgs, VERSION, load_judge, load_variant, on_threads, stop_on_interrupt};
use crate::plan::check_selfplay;
use crate::progress::Progress;
use crate::record::{self, Origin};
use crate::run_dir::{PlanText, RunDir, RunDirError};
use crate::selfplay::workers::{Generation, SelfplayError, SelfplaySettings};
use crate::share::Share;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The generation that a plain self-play run is.
const GENERATION: u32 = 1;
/// What it is played with.
const PARENT: u32 = 0;

/// Play games of the engine against itself and record them. Cut off at any moment, the same command continues.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  fairyforge selfplay --variant herculean --games 500 --nodes 500 --seed 1 --threads 2 --out data/runs/herculean\n  fairyforge selfplay --variant my-game.toml --games 100 --nodes 300 --seed 1 --threads 0 --out data/runs/mine --imbalance 0.8"
)]
pub struct SelfplayArgs {
    /// Name or file of the variant.
    #[arg(long)]
    variant: String,
    /// Number of games.
    #[arg(long)]
    games: u64,
    #[command(flatten)]
    play: PlayArgs,
    /// What judges positions: a file of weights or of a network (*.net), `network`, `shipped` or `a-priori`, the default.
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Share of the pairs of games that start with units taken away at random on both sides.
    #[arg(long, default_value_t = 0.75)]
    imbalance: f64,
    /// Games a shard: what a killed run plays again, at most, for each thread.
    #[arg(long, default_value_t = 20)]
    shard_games: u64,
    /// Folder of endgame tables: a game ends as soon as they know its result. docs/endgames.md says how.
    #[arg(long, value_name = "DIR")]
    endgames: Option<PathBuf>,
}

/// What is saved of the request: everything that decides the games.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SelfplayPlan<'a> {
    kind: Cow<'a, str>,
    variant: Cow<'a, str>,
    rules_hash: Cow<'a, str>,
    seed: u64,
    weights: Cow<'a, str>,
    selfplay: Cow<'a, SelfplaySettings>,
}

pub(super) fn run(args: &SelfplayArgs) -> Result<(), Failure> {
    let variant = load_variant(&args.variant)?;
    let loaded = load_judge(&variant, args.weights.as_deref())?;
    let mut settings = SelfplaySettings {
        games: args.games,
        nodes: args.play.nodes,
        shard_games: args.shard_games,
        ..Default::default()
    };
    settings.openings.imbalance.share = args.imbalance;
    settings.adjudication.endgames.clone_from(&args.endgames);
    check_selfplay(&settings).or_bad_input(|| "the settings do not fit".into())?;
    let loading = settings.adjudication.load_endgames(&variant, Path::to_path_buf);
    let endgames = loading.or_bad_input(|| "cannot adjudicate by tables".into())?;
    let plan = SelfplayPlan {
        kind: "selfplay".into(),
        variant: variant.name().into(),
        rules_hash: variant.rules_hash().into(),
        seed: args.play.seed,
        weights: (&loaded.digest).into(),
        selfplay: Cow::Borrowed(&settings),
    };
    let plan = PlanText::of(&plan).context("cannot write the plan as TOML")?;
    let (out, share) = (&args.play.out, args.play.share.share());
    let run = open_shared_run(out, plan, share)?;
    loaded.keep_start(&run, PARENT).context("cannot save what judges positions")?;
    let origin = Origin {
        variant: variant.name().into(),
        rules_hash: variant.rules_hash().into(),
        engine: env!("CARGO_PKG_VERSION").into(),
        run_seed: args.play.seed,
        weights: loaded.digest,
        base_game: 0,
    };
    let stop = stop_on_interrupt()?;
    let progress = Progress::new(&format!("self-play, {}", variant.name()), "games", settings.even_games());
    let generation = Generation {
        variant: &variant,
        settings: &settings,
        judge: &loaded.judge,
        endgames: endgames.as_deref(),
        origin: &origin,
        share,
    };
    let finished = run.finished_shards(GENERATION).context("cannot list the shards")?;
    let folder = run.selfplay(GENERATION);
    let ended = on_threads(args.play.threads, || generation.play(&folder, &finished, &stop, &progress))?;
    progress.finish();
    ended.map_err(|error| cut_off(error, out))?;
    if let Share::Part(_) = share {
        return Err(Failure::complete(out));
    }
    let (games, positions) = progress.counts();
    let event = json!({"event": "selfplay", "games": games, "positions": positions, "seconds": progress.elapsed().as_secs_f64()});
    if games > 0 {
        run.append_event(&event).context("cannot note the end")?;
    }
    let digest =
        record::digest(out).context("cannot read the games back; `fairyforge data verify` names the damage")?;
    outln!("{} games in {}", settings.even_games(), out.display())?;
    outln!("digest {digest}")
}

/// Makes or continues a run; a run that belongs to another plan or process is bad input.
pub(super) fn open_run(out: &Path, plan: PlanText) -> Result<RunDir, Failure> {
    taken_up(RunDir::create_or_resume(out, plan, VERSION), out)
}

/// As [`open_run`], to play a share of its games.
pub(super) fn open_shared_run(out: &Path, plan: PlanText, share: Share) -> Result<RunDir, Failure> {
    match share {
        Share::All | Share::Nothing => open_run(out, plan),
        Share::Part(_) => told_of(RunDir::join(out, plan, VERSION), out),
    }
}

/// A run whose plan may say a greater number at `key` than it did.
pub(super) fn open_or_lengthen_run(out: &Path, plan: PlanText, key: &'static str) -> Result<RunDir, Failure> {
    taken_up(RunDir::create_or_lengthen(out, plan, VERSION, key), out)
}

fn told_of(run: Result<RunDir, RunDirError>, out: &Path) -> Result<RunDir, Failure> {
    run.map_err(|error| {
        let full = error.is_full_disk();
        let error = anyhow::Error::from(error).context(format!("cannot use {}", out.display()));
        if full { Failure::Failed(error) } else { Failure::BadInput(error) }
    })
}

fn taken_up(run: Result<RunDir, RunDirError>, out: &Path) -> Result<RunDir, Failure> {
    let run = told_of(run, out)?;
    for path in run.clean_tmp().context("cannot remove unfinished files")? {
        crate::errln!("removed {}, unfinished", path.display());
    }
    let versions = run.versions().context("cannot read the run's versions")?;
    if versions.len() > 1 {
        crate::errln!("warning: several versions of the program wrote to this run: {}", versions.join(", "));
    }
    Ok(run)
}

/// What to tell when self-play ended early.
pub(super) fn cut_off(error: SelfplayError, out: &Path) -> Failure {
    match error {
        SelfplayError::Shared(shared) => Failure::shared(&shared, out),
        SelfplayError::Stopped => Failure::Interrupted(format!(
            "stopped; finished shards are in {}, the same command continues",
            out.display()
        )),
        SelfplayError::Record(_) => Failure::Failed(
            anyhow::Error::from(error)
                .context("self-play stopped; finished shards are intact, the same command continues"),
        ),
    }
}
