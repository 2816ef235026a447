//! `fairyforge quickstart` and `fairyforge loop`.

use super::output::outln;
use super::selfplay::{open_or_lengthen_run, open_shared_run};
use super::share::ShareArgs;
use super::{Failure, OrBadInput, VERSION, load_variant, on_threads, or_run, stop_on_interrupt, threads};
use crate::plan::{Plan, check_claims, folder_beside};
use crate::progression::Progression;
use crate::quality::Quality;
use crate::report::{GameFacts, LoopReport};
use crate::run_dir::{PlanText, RunPaths, write_atomically};
use crate::share::Share;
use crate::training_loop::{Beginning, GenerationResult, LoopError, LoopTables, TrainingLoop};
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The plan of the quickstart, as shipped.
const QUICKSTART: &str = include_str!("../../../configs/runs/quickstart.toml");

/// The whole loop on Herculean Chess in minutes: self-play, fit, match, report.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  fairyforge quickstart --out data/runs/first --threads 2\n\nThe plan is configs/runs/quickstart.toml; `fairyforge loop` runs plans of your own."
)]
pub struct QuickstartArgs {
    /// Folder of the run.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Threads; 0 is one a core.
    #[arg(long, default_value_t = 0, value_parser = threads)]
    threads: usize,
}

/// Self-play, fit and match, generation after generation, as a plan says. Cut off at any moment, the same command continues.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  fairyforge loop configs/runs/sorcerer.toml --out data/runs/sorcerer\n\nconfigs/runs/reference.toml lists every key of a plan with its meaning."
)]
pub struct LoopArgs {
    /// The plan.
    plan: PathBuf,
    /// Folder of the run; data/runs/<name of the plan> if absent.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Threads; 0 is one a core.
    #[arg(long, default_value_t = 0, value_parser = threads)]
    threads: usize,
    #[command(flatten)]
    share: ShareArgs,
}

pub(super) fn quickstart(args: &QuickstartArgs) -> Result<(), Failure> {
    let plan = Plan::read(QUICKSTART).or_bad_input(|| "cannot use the quickstart's plan".into())?;
    let out = or_run(args.out.as_ref(), "quickstart");
    let command = format!("fairyforge quickstart --out {}", out.display());
    execute(plan, &out, args.threads, Told { command: &command, find: &str::to_owned, share: Share::All })
}

pub(super) fn run(args: &LoopArgs) -> Result<(), Failure> {
    let doing = || format!("cannot use the plan {}", args.plan.display());
    let text = std::fs::read_to_string(&args.plan).or_bad_input(doing)?;
    let mut plan = Plan::read(&text).or_bad_input(doing)?;
    plan.variant = beside(&args.plan, plan.variant);
    for adjudication in [&mut plan.selfplay.adjudication, &mut plan.gate.adjudication] {
        adjudication.endgames = adjudication.endgames.take().map(|named| folder_beside(&args.plan, &named));
    }
    let name = args.plan.file_stem().and_then(|stem| stem.to_str()).unwrap_or("loop");
    let out = or_run(args.out.as_ref(), name);
    let command = format!("fairyforge loop {} --out {}", args.plan.display(), out.display());
    let find: &dyn Fn(&str) -> String = &|named| beside(&args.plan, named.to_owned());
    execute(plan, &out, args.threads, Told { command: &command, find, share: args.share.share() })
}

/// What is saved of a plan: itself, and the rules it was started with.
#[derive(Serialize, Deserialize)]
struct SavedPlan<'a> {
    rules_hash: Cow<'a, str>,
    /// Of the weights below networks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base_digest: Option<Cow<'a, str>>,
    #[serde(flatten)]
    plan: Cow<'a, Plan>,
}

/// A file that lies beside the plan that names it may be named without its folder.
pub(super) fn beside(plan: &Path, named: String) -> String {
    let path = plan.with_file_name(&named);
    // A word has no dot in it, and never means a file.
    if named.contains('.') && path.is_file() { path.to_string_lossy().into_owned() } else { named }
}

/// What the command line knows beside the plan.
struct Told<'a> {
    /// The command that does the same again.
    command: &'a str,
    /// Where a file lies that the plan names.
    find: &'a dyn Fn(&str) -> String,
    /// Which games of a step are played.
    share: Share,
}

fn execute(mut plan: Plan, out: &Path, threads: usize, told: Told<'_>) -> Result<(), Failure> {
    let began = Instant::now();
    let variant = load_variant(&plan.variant)?;
    check_claims(&plan.claims, &variant).or_bad_input(|| "cannot judge the plan's claims".into())?;
    let endgames = LoopTables::load(&mut plan, &variant).or_bad_input(|| "cannot adjudicate by tables".into())?;
    let plan = &plan;
    let begins_with = Beginning::load(plan, &variant, &RunPaths::new(out), told.find);
    let begins_with = &begins_with.or_bad_input(|| "cannot begin the loop".into())?;
    let base_digest = plan.train.as_ref().map(|_| begins_with.base_digest().into());
    let saved = SavedPlan { rules_hash: variant.rules_hash().into(), base_digest, plan: Cow::Borrowed(plan) };
    let saved = PlanText::of(&saved).context("cannot write the plan as TOML")?;
    let run = match told.share {
        Share::All | Share::Nothing => open_or_lengthen_run(out, saved, "generations")?,
        Share::Part(_) => open_shared_run(out, saved, told.share)?,
    };
    let stop = stop_on_interrupt()?;
    let training = TrainingLoop {
        plan,
        variant: &variant,
        endgames: &endgames,
        begins_with,
        run: &run,
        stop: &stop,
        program: VERSION,
        command: told.command,
        share: told.share,
    };
    if let Share::Part(_) = told.share {
        on_threads(threads, || training.play_part())?.map_err(|error| failed(error, out))?;
        return Err(Failure::complete(out));
    }
    let generations = on_threads(threads, || training.run())?.map_err(|error| failed(error, out))?;
    on_threads(threads, || tell(&training, &generations))??;
    print_times(&generations)?;
    outln!("{:.0} s in all; report in {}", began.elapsed().as_secs_f64(), run.report().display())?;
    Ok(())
}

/// Writes the report with its drawings, and prints the short one.
fn tell(training: &TrainingLoop<'_>, generations: &[GenerationResult]) -> Result<(), Failure> {
    let &TrainingLoop { plan, variant, run, program, command, .. } = training;
    let facts = generations
        .iter()
        .map(|generation| GameFacts::of(&run.selfplay(generation.number), variant.rules_hash()))
        .collect::<Result<Vec<_>, _>>()
        .context("cannot read the games back")?;
    // Scores of other generations are those of other judges.
    let last = generations.last().map_or(1, |last| last.number);
    let quality = Quality::of(&[run.selfplay(last)]).context("cannot read the games back")?;
    let accepted = |number| generations.iter().any(|generation| generation.number == number && generation.accepted);
    let progression = Progression::of(run, accepted).context("cannot rate the generations")?;
    let (quality, progression) = (&quality, &progression);
    let report =
        LoopReport { plan, variant, version: program, command, generations, facts: &facts, quality, progression };
    let calibration = quality.curve().context("cannot draw")?;
    let strengths = progression.drawing().context("cannot draw")?;
    let files = [(run.calibration(), calibration), (run.progression(), strengths), (run.report(), report.markdown())];
    for (path, text) in files {
        write_atomically(&path, text.as_bytes()).context("cannot write the report")?;
    }
    outln!("{}", report.text())
}

fn print_times(generations: &[GenerationResult]) -> Result<(), Failure> {
    for generation in generations {
        let times = generation.times;
        outln!(
            "generation {}: self-play {:.0} s, learning {:.0} s, match {:.0} s",
            generation.number,
            times.selfplay.as_secs_f64(),
            times.learning.as_secs_f64(),
            times.gate.as_secs_f64()
        )?;
    }
    Ok(())
}

fn failed(error: LoopError, out: &Path) -> Failure {
    if let Some(shared) = error.shared() {
        return Failure::shared(shared, out);
    }
    if error.is_stop() {
        return Failure::Interrupted(format!(
            "stopped; what is finished is in {}, the same command continues",
            out.display()
        ));
    }
    Failure::Failed(anyhow::Error::from(error).context("the loop stopped; what is finished is intact"))
}
