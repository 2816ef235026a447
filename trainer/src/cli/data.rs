//! `fairyforge data verify | digest | head`.

use super::{Failure, OrBadInput};
use crate::record;
use anyhow::anyhow;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Look at recorded games.
#[derive(clap::Subcommand)]
pub enum DataCommand {
    /// Check every shard of a run or folder and name the damaged ones.
    Verify {
        /// A run, or a folder of shards.
        dir: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// One hash of the logical content: equal games give equal digests, however they are stored.
    Digest {
        /// A run, or a folder of shards.
        dir: PathBuf,
    },
    /// The first games, in words.
    Head {
        /// A run, or a folder of shards.
        dir: PathBuf,
        /// How many games.
        #[arg(long, default_value_t = 5)]
        games: usize,
    },
}

pub(super) fn run(command: &DataCommand) -> Result<(), Failure> {
    match command {
        DataCommand::Verify { dir, json } => verify(dir, *json),
        DataCommand::Digest { dir } => {
            println!("{}", record::digest(dir).or_bad_input(|| reading(dir))?);
            Ok(())
        }
        DataCommand::Head { dir, games } => head(dir, *games),
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
        println!(
            "{}",
            json!({"shards": report.shards, "games": report.games, "positions": report.positions, "damaged": list(&report.damaged), "notes": list(&report.notes), "digest": report.digest})
        );
    } else {
        for finding in &report.notes {
            println!("note: {}: {}", finding.path.display(), finding.reason);
        }
        for finding in &report.damaged {
            println!("damaged: {}: {}", finding.path.display(), finding.reason);
        }
        println!("{} shards, {} games, {} positions", report.shards, report.games, report.positions);
        if let Some(digest) = &report.digest {
            println!("digest {digest}");
        }
    }
    if report.is_sound() {
        return Ok(());
    }
    Err(Failure::BadInput(anyhow!(
        "{} files are damaged; remove both files of a damaged shard and start the run's command again to play it anew",
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
        println!("game {}: {result} by {} after {} plies{imbalance}", game.game, game.termination, game.plies);
        println!("  from {}", game.start_fen);
        let moves: Vec<&str> = game.positions.iter().take(12).map(|position| position.mv.as_str()).collect();
        println!("  after {} random plies: {} …", game.random_plies, moves.join(" "));
    }
    Ok(())
}
