//! `fairyforge data verify | digest | head | quality`.

use super::output::outln;
use super::{Failure, OrBadInput};
use crate::quality::Quality;
use crate::record;
use crate::run_dir::write_atomically;
use anyhow::{Context, anyhow};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Look at recorded games.
#[derive(clap::Subcommand)]
pub enum DataCommand {
    /// Check every shard of a run or folder and name the damaged ones.
    #[command(after_help = "Example:\n  fairyforge data verify data/runs/quickstart")]
    Verify {
        /// A run, or a folder of shards.
        dir: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// One hash of the logical content: equal games give equal digests, however they are stored.
    #[command(after_help = "Example:\n  fairyforge data digest data/runs/quickstart")]
    Digest {
        /// A run, or a folder of shards.
        dir: PathBuf,
    },
    /// The first games, in words.
    #[command(after_help = "Example:\n  fairyforge data head data/runs/quickstart --games 3")]
    Head {
        /// A run, or a folder of shards.
        dir: PathBuf,
        /// How many games.
        #[arg(long, default_value_t = 5)]
        games: usize,
    },
    /// What the games are like as data: results, lengths, positions that come again, openings, scores against results.
    Quality(QualityArgs),
}

/// Which games, and how they are told.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  fairyforge data quality data/runs/quickstart\n  fairyforge data quality data/runs/first data/runs/second --curve calibration.svg"
)]
pub struct QualityArgs {
    /// Runs, or folders of shards, looked at together.
    #[arg(required = true)]
    dirs: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Write the results by score, with the fitted curve, as SVG.
    #[arg(long, value_name = "FILE")]
    curve: Option<PathBuf>,
}

pub(super) fn run(command: &DataCommand) -> Result<(), Failure> {
    match command {
        DataCommand::Verify { dir, json } => verify(dir, *json),
        DataCommand::Digest { dir } => {
            outln!("{}", record::digest(dir).or_bad_input(|| reading(dir))?)?;
            Ok(())
        }
        DataCommand::Head { dir, games } => head(dir, *games),
        DataCommand::Quality(args) => quality(args),
    }
}

fn reading(dir: &Path) -> String {
    format!("cannot read the games in {}", dir.display())
}

fn verify(dir: &Path, as_json: bool) -> Result<(), Failure> {
    let report = record::verify(dir).or_bad_input(|| reading(dir))?;
    if as_json {
        let list = |findings: &[record::Finding]| -> Vec<_> {
            findings.iter().map(|finding| json!({"path": finding.path, "reason": finding.reason})).collect()
        };
        outln!(
            "{}",
            json!({"shards": report.shards, "games": report.games, "positions": report.positions, "damaged": list(&report.damaged), "notes": list(&report.notes), "digest": report.digest})
        )?;
    } else {
        for finding in &report.notes {
            outln!("note: {}: {}", finding.path.display(), finding.reason)?;
        }
        for finding in &report.damaged {
            outln!("damaged: {}: {}", finding.path.display(), finding.reason)?;
        }
        outln!("{} shards, {} games, {} positions", report.shards, report.games, report.positions)?;
        if let Some(digest) = &report.digest {
            outln!("digest {digest}")?;
        }
    }
    if report.is_sound() {
        return Ok(());
    }
    Err(Failure::BadInput(anyhow!(
        "{} faults; games that are missing are played when the run's command is started again, those of a damaged shard once both its files are removed",
        report.damaged.len()
    )))
}

fn head(dir: &Path, games: usize) -> Result<(), Failure> {
    for game in record::head(dir, games).or_bad_input(|| reading(dir))? {
        let result = match game.result {
            1 => "1-0",
            -1 => "0-1",
            _ => "1/2-1/2",
        };
        let imbalance = if game.imbalance.is_empty() { String::new() } else { format!(", without {}", game.imbalance) };
        outln!("game {}: {result} by {} after {} plies{imbalance}", game.game, game.termination, game.plies)?;
        outln!("  from {}", game.start_fen)?;
        let moves: Vec<&str> = game.positions.iter().take(12).map(|position| position.mv.as_str()).collect();
        outln!("  after {} random plies: {} …", game.random_plies, moves.join(" "))?;
    }
    Ok(())
}

fn quality(args: &QualityArgs) -> Result<(), Failure> {
    let quality = Quality::of(&args.dirs).or_bad_input(|| "cannot measure the games".into())?;
    if let Some(path) = &args.curve {
        let curve = quality.curve().context("cannot draw")?;
        write_atomically(path, curve.as_bytes()).context("cannot write the drawing")?;
    }
    if args.json {
        return outln!("{}", json!(quality));
    }
    outln!("{}", quality.text().trim_end())
}
