//! `fairyforge train`.

use super::loops::beside;
use super::output::outln;
use super::selfplay::open_run;
use super::{Failure, OrBadInput, load_variant, on_threads, or_run, stop_on_interrupt, threads};
use crate::plan::folder_beside;
use crate::run_dir::RunDir;
use crate::train::bench::{BenchResult, BenchSettings, measure};
use crate::train::device::Device;
use crate::train::kernels::LANES;
use crate::train::making::{Making, MakingError, load_base, open_source, saved, usual_name};
use crate::train::plan::{DataSettings, TrainPlan};
use crate::train::report::TrainReport;
use crate::train::run::TrainError;
use crate::train::source::Source;
use anyhow::Context;
use clap::builder::PossibleValuesParser;
use fairyforge_engine::evaluate::Weights;
use fairyforge_engine::evaluate::network::Features;
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
    /// What calculates; a run keeps its device. All but the CPU are to be built in, and hardly tested: docs/gpu.md.
    #[arg(long, default_value = "cpu", value_parser = PossibleValuesParser::new(Device::NAMES))]
    device: String,
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
    let device = Device::named(&args.device).or_bad_input(|| "cannot train there".into())?;
    match &args.plan {
        Some(plan) => train(args, plan, &device),
        None => bench(args, &device),
    }
}

fn train(args: &TrainArgs, path: &Path, device: &Device) -> Result<(), Failure> {
    let doing = || format!("cannot use the plan {}", path.display());
    let text = std::fs::read_to_string(path).or_bad_input(doing)?;
    let plan = TrainPlan::read(&text).or_bad_input(doing)?;
    let variant = load_variant(&plan.variant)?;
    let features = Arc::new(Features::new(&variant, plan.network.clone()).or_bad_input(doing)?);
    let name = plan.base.clone().map(|name| beside(path, name));
    let base = load_base(&variant, name.as_deref()).or_bad_input(|| "cannot load the weights below".into())?;
    let weights = base.as_ref().map(|base| &base.weights);
    let source = source_of(args, (&plan, path), (&features, weights))?;
    let out = or_run(args.out.as_ref(), usual_name(path));
    let saved = saved(&plan, (&features, base.as_ref()), device).context("cannot write the plan as TOML")?;
    let run = open_run(&out, saved)?;
    let making = Making {
        plan: &plan,
        features: &features,
        base: weights,
        source: &source,
        device,
        run: &run,
        stop: &*stop_on_interrupt()?,
        program: &run.began_by().context("cannot read the run's versions")?,
        command: &command(path, &out, device),
    };
    let made = making.make().map_err(|error| cut_off(error, &out))?;
    tell(args, &making.report(&made), &run)
}

/// The command that makes the same again.
fn command(plan: &Path, out: &Path, device: &Device) -> String {
    let device = if device.is_cpu() { String::new() } else { format!(" --device {}", device.name()) };
    format!("fairyforge train {} --out {}{device}", plan.display(), out.display())
}

/// The plan's games; folders lie beside the plan, or where the command runs.
fn source_of(
    args: &TrainArgs,
    (plan, path): (&TrainPlan, &Path),
    seen: (&Arc<Features>, Option<&Weights>),
) -> Result<Arc<Source>, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build().context("cannot start threads")?;
    let beside = |data: &DataSettings| DataSettings { folder: folder_beside(path, &data.folder), ..data.clone() };
    let folders: Vec<DataSettings> = plan.data.iter().map(beside).collect();
    open_source(plan, &folders, seen, Arc::new(pool)).or_bad_input(|| "cannot read the games".into())
}

fn cut_off(error: MakingError, out: &Path) -> Failure {
    if error.is_stop() {
        return Failure::Interrupted(format!(
            "stopped; the last checkpoint is in {}, the same command continues from there",
            out.display()
        ));
    }
    match error {
        MakingError::Games(error) | MakingError::Training(TrainError::Data(error)) => {
            Failure::BadInput(anyhow::Error::from(error).context("cannot learn from the games"))
        }
        error => Failure::Failed(anyhow::Error::from(error).context("training stopped")),
    }
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

fn bench(args: &TrainArgs, device: &Device) -> Result<(), Failure> {
    let Measured { inputs, blocks, batch, rounds, batches } = args.measured;
    let settings = BenchSettings {
        inputs: inputs as usize,
        blocks: blocks as usize,
        buckets: 1,
        batch: batch as usize,
        rounds: rounds as usize,
        batches: batches as usize,
    };
    let result = on_threads(args.threads, || measure(&settings, device))?;
    if args.json {
        return outln!("{}", json!({"settings": settings, "result": result, "ratio": result.ratio()}));
    }
    let BenchResult { burn, hand } = result;
    outln!("({} -> {})x2 -> 1, batches of {}", settings.inputs, settings.blocks * LANES, settings.batch)?;
    outln!("              positions/s      best    median")?;
    let through_burn = if device.is_cpu() { "burn, our operations" } else { device.name() };
    outln!("{through_burn:<26}{:>10.0}{:>10.0}", burn.best, burn.median)?;
    outln!("by hand                   {:>10.0}{:>10.0}", hand.best, hand.median)?;
    outln!("ratio of medians          {:>10.3}", result.ratio())
}
