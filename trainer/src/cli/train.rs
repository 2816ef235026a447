//! `fairyforge train`.

use super::output::outln;
use super::selfplay::open_run;
use super::{Failure, OrBadInput, VERSION, load_variant, on_threads, or_run, stop_on_interrupt, threads};
use crate::plan::folder_beside;
use crate::progress::Progress;
use crate::run_dir::{RunDir, write_atomically};
use crate::train::bench::{BenchResult, BenchSettings, measure};
use crate::train::export::network_file;
use crate::train::kernels::LANES;
use crate::train::model::Layout;
use crate::train::plan::{DataSettings, TrainPlan};
use crate::train::report::TrainReport;
use crate::train::run::{TrainError, TrainedBy, Training};
use crate::train::source::{Choice, Source};
use anyhow::Context;
use fairyforge_engine::evaluate::network::Features;
use fairyforge_engine::variant::Variant;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Train an evaluation network from recorded games, as a plan says. Cut off at any moment, the same command continues.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  fairyforge train configs/train/herculean.toml --out data/runs/herculean-net\n  fairyforge train --bench --threads 2\n\ndocs/formats/training.md lists every key of a plan. The run's folder gets network.net, checkpoints,\nlosses.jsonl, and report.md with chart.svg."
)]
pub struct TrainArgs {
    /// The plan.
    #[arg(required_unless_present = "bench")]
    plan: Option<PathBuf>,
    /// Folder of the run; data/runs/<name of the plan> if absent.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Threads; 0 is one a core.
    #[arg(long, default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Measure how fast training is, on made-up positions, beside the same work without burn. Trains nothing.
    #[arg(long, conflicts_with_all = ["plan", "out"])]
    bench: bool,
    #[command(flatten)]
    measured: Measured,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What --bench measures.
#[derive(clap::Args)]
struct Measured {
    /// With --bench: inputs a perspective.
    #[arg(long, requires = "bench", default_value_t = 4_320, value_parser = clap::value_parser!(u32).range(40..=1_000_000))]
    inputs: u32,
    /// With --bench: blocks of 64 neurons a perspective.
    #[arg(long, requires = "bench", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=16))]
    blocks: u32,
    /// With --bench: positions of a batch.
    #[arg(long, requires = "bench", default_value_t = 16_384, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    batch: u32,
    /// With --bench: turns of each.
    #[arg(long, requires = "bench", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: u32,
    /// With --bench: batches a turn.
    #[arg(long, requires = "bench", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    batches: u32,
}

pub(super) fn run(args: &TrainArgs) -> Result<(), Failure> {
    match &args.plan {
        Some(plan) => train(args, plan),
        None => bench(args),
    }
}

fn train(args: &TrainArgs, path: &Path) -> Result<(), Failure> {
    let doing = || format!("cannot use the plan {}", path.display());
    let text = std::fs::read_to_string(path).or_bad_input(doing)?;
    let plan = TrainPlan::read(&text).or_bad_input(doing)?;
    let variant = load_variant(&plan.variant)?;
    let features = Arc::new(Features::new(&variant, plan.network.clone()).or_bad_input(doing)?);
    let layout = Layout::new(&*features, plan.network.width, plan.sharing);
    let source = open_source(args, (&plan, path), &features)?;
    let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("training");
    let out = or_run(args.out.as_ref(), name);
    let run = open_run(&out, &saved(&plan, &variant)?)?;
    let stop = stop_on_interrupt()?;
    let progress = Progress::new(&format!("training, {}", variant.name()), "batches", plan.training.batches);
    let training =
        Training { plan: &plan, layout: &layout, source: &source, run: &run, stop: &stop, progress: &progress };
    let trained = training.run();
    progress.finish();
    let trained = trained.map_err(|error| cut_off(error, &out))?;
    note(&run, &progress)?;
    let by = TrainedBy { plan: &plan, trained: &trained, program: VERSION };
    let (network, rounding) = network_file(&features, &by).context("training ended, but there is no network")?;
    write_atomically(&run.network(), &network).context("cannot write the network")?;
    let report = TrainReport {
        by,
        rounding,
        title: &variant.rules().title,
        rules_hash: variant.rules_hash(),
        command: &format!("fairyforge train {} --out {}", path.display(), out.display()),
    };
    save(&report, &run)?;
    tell(args, &report, &run)
}

fn open_source(
    args: &TrainArgs,
    (plan, path): (&TrainPlan, &Path),
    features: &Arc<Features>,
) -> Result<Arc<Source>, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build().context("cannot start threads")?;
    let beside = |data: &DataSettings| DataSettings { folder: folder_beside(path, &data.folder), ..data.clone() };
    let data: Vec<DataSettings> = plan.data.iter().map(beside).collect();
    let choice = Choice { filter: plan.filter, validation_share: plan.training.validation_share };
    let seen = (Arc::clone(features.variant()), Arc::clone(features) as _);
    let source = Source::open(seen, &data, choice, Arc::new(pool));
    Ok(Arc::new(source.or_bad_input(|| "cannot read the games".into())?))
}

/// The plan as the run keeps it: whatever decides the network.
fn saved(plan: &TrainPlan, variant: &Variant) -> Result<String, Failure> {
    let plan = toml::to_string(plan).context("cannot write the plan as TOML")?;
    Ok(format!("rules_hash = {:?}\n{plan}", variant.rules_hash()))
}

fn cut_off(error: TrainError, out: &Path) -> Failure {
    match error {
        TrainError::Stopped => Failure::Interrupted(format!(
            "stopped; the last checkpoint is in {}, the same command continues from there",
            out.display()
        )),
        TrainError::Data(error) => Failure::BadInput(anyhow::Error::from(error).context("cannot learn from the games")),
        error => Failure::Failed(anyhow::Error::from(error).context("training stopped; checkpoints are intact")),
    }
}

/// Notes what this process did, if anything.
fn note(run: &RunDir, progress: &Progress) -> Result<(), Failure> {
    let (batches, positions) = progress.counts();
    let seconds = progress.elapsed().as_secs_f64();
    if batches > 0 {
        let event = json!({"event": "train", "batches": batches, "positions": positions, "seconds": seconds});
        run.append_event(&event).context("cannot note the end")?;
    }
    Ok(())
}

fn save(report: &TrainReport<'_>, run: &RunDir) -> Result<(), Failure> {
    let chart = report.chart().context("cannot draw")?;
    for (path, text) in [(run.chart(), chart), (run.report(), report.markdown())] {
        write_atomically(&path, text.as_bytes()).context("cannot write what came of the run")?;
    }
    Ok(())
}

fn tell(args: &TrainArgs, report: &TrainReport<'_>, run: &RunDir) -> Result<(), Failure> {
    if args.json {
        let mut value = report.json();
        value["report"] = json!(run.report());
        value["network"] = json!(run.network());
        return outln!("{value}");
    }
    outln!("{}network in {}", report.text(), run.network().display())?;
    outln!("report in {}", run.report().display())
}

fn bench(args: &TrainArgs) -> Result<(), Failure> {
    let Measured { inputs, blocks, batch, rounds, batches } = args.measured;
    let settings = BenchSettings {
        inputs: inputs as usize,
        blocks: blocks as usize,
        buckets: 1,
        batch: batch as usize,
        rounds: rounds as usize,
        batches: batches as usize,
    };
    let result = on_threads(args.threads, || measure(&settings))?;
    if args.json {
        return outln!("{}", json!({"settings": settings, "result": result, "ratio": result.ratio()}));
    }
    let BenchResult { burn, hand } = result;
    outln!("({} -> {})x2 -> 1, batches of {}", settings.inputs, settings.blocks * LANES, settings.batch)?;
    outln!("              positions/s      best    median")?;
    outln!("burn, our operations      {:>10.0}{:>10.0}", burn.best, burn.median)?;
    outln!("by hand                   {:>10.0}{:>10.0}", hand.best, hand.median)?;
    outln!("ratio of medians          {:>10.3}", result.ratio())
}
