//! `fairyforge tune spsa` and `fairyforge tune recompute`.

use super::output::outln;
use super::selfplay::open_shared_run;
use super::share::ShareArgs;
use super::{Failure, OrBadInput, VERSION, on_threads, or_run, stop_on_interrupt, threads};
use crate::arena::standing::Standing;
use crate::progress::Progress;
use crate::run_dir::{PlanText, RunDir, RunPaths, write_atomically};
use crate::share::Share;
use crate::tune::confirm::{self, Confirmation, ConfirmingMatch};
use crate::tune::diagnose::outcomes;
use crate::tune::journal::{Header, Iteration, Provenance};
use crate::tune::objective::EngineGames;
use crate::tune::plan::Confirm;
use crate::tune::recompute::{Recomputed, Strike, recompute};
use crate::tune::report::TuneReport;
use crate::tune::run::{TuneError, Tuning};
use crate::tune::setup::SavedPlan;
use crate::tune::{Plan, Setup, Tuner, chart, journal};
use anyhow::Context;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[derive(clap::Subcommand)]
pub enum TuneCommand {
    /// Tune as a plan says, by simultaneous perturbation. Cut off at any moment, the same command continues.
    Spsa(SpsaArgs),
    /// Make the end of a run again from its journal, without some of its pairs.
    Recompute(RecomputeArgs),
}

/// Tune as a plan says.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  fairyforge tune spsa configs/tune/herculean-minute.toml\n  fairyforge tune spsa configs/tune/herculean-damaged.toml --threads 2 --out data/runs/tuning --json\n\ndocs/tuning.md is a first run step by step; docs/formats/tuning.md lists every key of a plan. The run's folder gets tuned.toml,\na search file, and report.md with chart.svg; tuned-weights.toml if weights were tuned."
)]
pub struct SpsaArgs {
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
    #[command(flatten)]
    share: ShareArgs,
}

/// Make the end of a run again from its journal.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  fairyforge tune recompute data/runs/herculean-minute\n  fairyforge tune recompute data/runs/herculean-minute --strike 12,40-45,50.3 --json\n\nIterations and the pairs in one are counted from 1. Without --strike the journal is checked: every line must follow from the plan\nand the results before it, to the last byte."
)]
pub struct RecomputeArgs {
    /// Folder of the run.
    run: PathBuf,
    /// What to leave out: iterations, ranges of them, and pairs of one, as 12,40-45,50.3.
    #[arg(long, value_name = "LIST")]
    strike: Option<Strike>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(command: &TuneCommand) -> Result<(), Failure> {
    match command {
        TuneCommand::Spsa(args) => spsa(args),
        TuneCommand::Recompute(args) => again(args),
    }
}

fn spsa(args: &SpsaArgs) -> Result<(), Failure> {
    let doing = || format!("cannot use the plan {}", args.plan.display());
    let text = std::fs::read_to_string(&args.plan).or_bad_input(doing)?;
    let setup = Plan::read(&text).and_then(|plan| Setup::new(plan, &args.plan)).or_bad_input(doing)?;
    let name = args.plan.file_stem().and_then(|stem| stem.to_str()).unwrap_or("tuning");
    let out = or_run(args.out.as_ref(), name);
    let share = args.share.share();
    let saved = PlanText::of(&setup.saved()).context("cannot write the plan as TOML")?;
    let run = open_shared_run(&out, saved, share)?;
    let stop = stop_on_interrupt()?;
    let play = Play { setup: &setup, run: &run, stop: &stop, share };
    let (iterations, confirmation) = on_threads(args.threads, || play.all())?.map_err(|error| cut_off(error, &out))?;
    if let Share::Part(_) = share {
        return Err(Failure::complete(&out));
    }
    let command = format!("fairyforge tune spsa {} --out {}", args.plan.display(), out.display());
    let report = TuneReport {
        setup: &setup,
        version: VERSION,
        command: &command,
        iterations: &iterations,
        confirmation: confirmation.as_ref(),
    };
    save(&report, &run)?;
    if args.json { print_json(&report, &run) } else { print(&report, &run) }
}

/// What plays a run.
struct Play<'a> {
    setup: &'a Setup,
    run: &'a RunDir,
    stop: &'a Arc<AtomicBool>,
    share: Share,
}

impl Play<'_> {
    fn all(&self) -> Result<(Vec<Iteration>, Option<Confirmation>), TuneError> {
        let iterations = self.tune()?;
        let tuner = &self.setup.tuner;
        let end = iterations.last().map_or_else(|| tuner.start(), |last| last.theta.clone());
        let tuned = tuner.playable(&end);
        let confirmation = match self.setup.plan.confirm {
            Some(confirm) if tuned != tuner.playable(&tuner.start()) => Some(self.confirm(confirm, &tuned)?),
            _ => None,
        };
        Ok((iterations, confirmation))
    }

    fn tune(&self) -> Result<Vec<Iteration>, TuneError> {
        let Setup { plan, tuner, variant, engine, targets, .. } = self.setup;
        let openings = self.setup.openings(plan.seed)?;
        let header = header(self.setup);
        let progress = Progress::new(&format!("tuning, {}", variant.name()), "games", 2 * tuner.schedule().pairs);
        let objective = EngineGames {
            variant,
            openings: &openings,
            base: engine,
            targets,
            settings: &plan.games(),
            endgames: self.setup.endgames.as_deref(),
            stop: self.stop,
            progress: &progress,
        };
        let tuning = Tuning { tuner, header: &header, objective: &objective, share: self.share };
        let resumed = |iterations| progress.skip(2 * tuner.pairs_per_iteration() * iterations);
        let tuned = tuning.run(&self.run.tuning(), resumed);
        progress.finish();
        tuned
    }

    fn confirm(&self, confirm: Confirm, tuned: &[f64]) -> Result<Confirmation, TuneError> {
        let openings = self.setup.openings(confirm::seed(self.setup.plan.seed))?;
        let progress = Progress::new("tuned against old values, at most", "games", 2 * confirm.max_pairs);
        let contest = ConfirmingMatch { setup: self.setup, confirm, tuned, openings, share: self.share };
        let mut heard = progress.of_totals();
        let mut watch = |standing: &Standing| heard(standing.games(), standing.plies());
        let played = contest.play(&self.run.confirmation(), self.stop, &mut watch);
        progress.finish();
        Ok(played?)
    }
}

fn header(setup: &Setup) -> Header {
    let provenance = Provenance {
        variant: setup.variant.name(),
        rules_hash: setup.variant.rules_hash(),
        seed: setup.plan.seed,
        program: VERSION,
    };
    Header::new(provenance, &setup.plan.names(), &setup.tuner)
}

fn save(report: &TuneReport, run: &RunDir) -> Result<(), Failure> {
    let Setup { plan, tuner, .. } = report.setup;
    let chart = chart::svg(&plan.names(), tuner, report.iterations).context("cannot draw")?;
    let mut files =
        vec![(run.chart(), chart), (run.tuned_search(), report.search_file()), (run.report(), report.markdown())];
    files.extend(report.weights_file().map(|text| (run.tuned_weights(), text)));
    for (path, text) in files {
        write_atomically(&path, text.as_bytes()).context("cannot write what came of the run")?;
    }
    Ok(())
}

fn print(report: &TuneReport, run: &RunDir) -> Result<(), Failure> {
    outln!("{}", report.text())?;
    outln!("tuned values in {}", run.tuned_search().display())?;
    if report.tunes_weights() {
        outln!("tuned weights in {}", run.tuned_weights().display())?;
    }
    outln!("report in {}", run.report().display())
}

fn print_json(report: &TuneReport, run: &RunDir) -> Result<(), Failure> {
    let mut value = report.json();
    value["tuned_search"] = json!(run.tuned_search());
    value["tuned_weights"] = json!(report.tunes_weights().then(|| run.tuned_weights()));
    value["report"] = json!(run.report());
    outln!("{value}")
}

fn cut_off(error: TuneError, out: &Path) -> Failure {
    if let Some(shared) = error.shared() {
        return Failure::shared(shared, out);
    }
    if error.is_stop() {
        let out = out.display();
        return Failure::Interrupted(format!("stopped; what is finished is in {out}, the same command continues"));
    }
    Failure::Failed(anyhow::Error::from(error).context("tuning stopped; what is finished is intact"))
}

/// A run as its journal holds it.
struct Recorded {
    names: Vec<String>,
    tuner: Tuner,
    journal: journal::Recorded,
}

impl Recorded {
    /// Reads and checks plan and journal of a run.
    fn read(folder: &Path) -> Result<Self, Failure> {
        let paths = RunPaths::new(folder);
        let doing = || format!("cannot recompute {}", folder.display());
        let text = std::fs::read_to_string(paths.plan()).or_bad_input(doing)?;
        let saved = SavedPlan::read(&text).or_bad_input(doing)?;
        let tuner = saved.tuner().or_bad_input(doing)?;
        let names = saved.plan.names();
        let (variant, rules_hash, seed) = (saved.variant.as_str(), saved.rules_hash.as_str(), saved.plan.seed);
        let header = Header::new(Provenance { variant, rules_hash, seed, program: VERSION }, &names, &tuner);
        let journal = journal::read(&paths.tuning(), &header, &tuner).or_bad_input(doing)?;
        Ok(Self { names, tuner, journal })
    }

    fn recompute(&self, strike: &Strike) -> Recomputed {
        recompute(&self.tuner, &self.journal.iterations, strike)
    }
}

fn again(args: &RecomputeArgs) -> Result<(), Failure> {
    let recorded = Recorded::read(&args.run)?;
    let iterations = recorded.journal.iterations.len() as u64;
    if let Some(strike) = &args.strike {
        let checked = strike.check(iterations, recorded.tuner.pairs_per_iteration());
        checked.or_bad_input(|| "cannot strike these pairs".into())?;
    }
    let recomputed = recorded.recompute(&args.strike.clone().unwrap_or_default());
    if recorded.journal.is_torn {
        crate::errln!("the journal's last line was cut off and is left out");
    }
    if args.json {
        return outln!("{}", recomputed_json(&recorded, &recomputed));
    }
    let all = recorded.tuner.iterations();
    outln!(
        "{iterations} of {all} iterations, {} pairs: every line follows from plan and results",
        recomputed.counted + recomputed.struck
    )?;
    outln!("{} pairs struck out", recomputed.struck)?;
    let width = recorded.names.iter().map(String::len).max().unwrap_or(0);
    for (outcome, &theta) in recorded.outcomes().iter().zip(&recomputed.theta) {
        let moved = (theta - outcome.end) / outcome.c_end;
        outln!("{:<width$}  {:>10.3} -> {theta:>10.3}  {moved:+.3} c_end", outcome.name, outcome.end)?;
    }
    Ok(())
}

impl Recorded {
    fn outcomes(&self) -> Vec<crate::tune::diagnose::Outcome> {
        outcomes(&self.names, &self.tuner, &self.journal.iterations)
    }
}

fn recomputed_json(recorded: &Recorded, recomputed: &Recomputed) -> serde_json::Value {
    let tuned = recorded.tuner.playable(&recomputed.theta);
    let parameters = recorded.outcomes().into_iter().zip(recomputed.theta.iter().zip(tuned));
    let parameters: Vec<_> = parameters
        .map(|(outcome, (&theta, tuned))| {
            json!({
                "name": outcome.name,
                "start": outcome.start,
                "end": outcome.end,
                "recomputed": theta,
                "tuned": tuned,
                "moved": theta - outcome.end,
                "moved_in_c": (theta - outcome.end) / outcome.c_end,
            })
        })
        .collect();
    json!({
        "iterations": recorded.journal.iterations.len(),
        "iterations_planned": recorded.tuner.iterations(),
        "pairs_counted": recomputed.counted,
        "pairs_struck": recomputed.struck,
        "is_torn": recorded.journal.is_torn,
        "parameters": parameters,
    })
}
