//! `fairyforge bench`: what the arena costs in speed and memory.

use super::output::outln;
use super::{Failure, OrBadInput, load_variant, on_threads, stop_on_interrupt, threads};
use crate::arena::MatchError;
use crate::arena::bench::{ArenaBench, BenchError, Round};
use anyhow::{Context, anyhow};
use serde_json::json;
use std::path::PathBuf;

/// Measure what matches cost beside the searches: the same searches inside the arena and bare, on all threads.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  fairyforge bench --variant herculean --nodes 500 --rounds 10 --pairs 500\n\nTold are nodes a second inside and outside a match, the share that the match takes (below 0: it was faster, which is\nchance), and the memory of the process. Run it on an idle machine; on a busy one only the processor time says something."
)]
pub struct BenchArgs {
    /// Name or file of the variant.
    #[arg(long, default_value = "herculean")]
    variant: String,
    /// Nodes a move.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    nodes: u64,
    /// Pairs of games a round.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pairs: u64,
    /// Rounds.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    rounds: u64,
    /// Size of a player's table, in mebibytes.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1024))]
    hash: u64,
    /// Threads; 0 is one a core.
    #[arg(long, default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Folder for the journals, which are removed at the end; without it the system's for temporary files.
    #[arg(long)]
    scratch: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &BenchArgs) -> Result<(), Failure> {
    let bench = ArenaBench {
        variant: load_variant(&args.variant)?,
        nodes: args.nodes,
        pairs: args.pairs,
        table_mebibytes: args.hash as usize,
    };
    let parent = args.scratch.clone().unwrap_or_else(std::env::temp_dir);
    let folder = parent.join(format!("fairyforge-bench-{}", std::process::id()));
    std::fs::create_dir(&folder).or_bad_input(|| format!("cannot make {}", folder.display()))?;
    let measured = rounds(args, &bench, &folder);
    std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    tell(args, &measured?)
}

fn rounds(args: &BenchArgs, bench: &ArenaBench, folder: &std::path::Path) -> Result<Vec<Round>, Failure> {
    let stop = stop_on_interrupt()?;
    (0..args.rounds)
        .map(|number| {
            let round = on_threads(args.threads, || bench.round(number, folder, &stop))?.map_err(failed)?;
            crate::errln!("{}", in_words(number, &round));
            Ok(round)
        })
        .collect()
}

fn failed(error: BenchError) -> Failure {
    match error {
        BenchError::Match(MatchError::Stopped) => Failure::Interrupted("stopped".into()),
        error => Failure::Failed(anyhow!(error).context("cannot measure")),
    }
}

fn in_words(number: u64, round: &Round) -> String {
    let speed = |time: std::time::Duration| round.nodes as f64 / time.as_secs_f64();
    let memory = round.resident_mebibytes.map_or("n/a".to_owned(), |mebibytes| format!("{mebibytes:.1} MiB"));
    let processor =
        round.processor_loss().map_or(String::new(), |loss| format!(" ({:+.2} % by processor time)", 100.0 * loss));
    format!(
        "round {number}: {} games, {:.0} nodes/s in a match, {:.0} bare, loss {:+.2} %{processor}, memory {memory}",
        round.games,
        speed(round.arena.wall),
        speed(round.bare.wall),
        100.0 * round.loss(),
    )
}

/// The middle of an odd number of values, the mean of the two middle ones of an even number.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

fn tell(args: &BenchArgs, rounds: &[Round]) -> Result<(), Failure> {
    let games: u64 = rounds.iter().map(|round| round.games).sum();
    let loss = median(rounds.iter().map(Round::loss).collect());
    let by_processor: Option<Vec<f64>> = rounds.iter().map(Round::processor_loss).collect();
    let by_processor = by_processor.map(median);
    if args.json {
        let json =
            json!({"rounds": rounds, "games": games, "median_loss": loss, "median_processor_loss": by_processor});
        return outln!("{json}");
    }
    outln!("{games} games of {} at {} nodes a move", args.variant, args.nodes)?;
    outln!("the arena takes {:+.2} % of the nodes a second (median of {} rounds)", 100.0 * loss, rounds.len())?;
    by_processor.map_or(Ok(()), |loss| outln!("by processor time {:+.2} %", 100.0 * loss))
}
