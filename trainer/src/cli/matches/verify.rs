//! `fairyforge match verify`: everything about a match made anew from its journal, and compared.

use super::super::output::outln;
use super::super::{Failure, OrBadInput, load_variant};
use crate::arena::journal::Reader;
use crate::arena::plan::MatchPlan;
use crate::arena::report::MatchReport;
use crate::arena::verify::{Verified, verify_games};
use crate::run_dir::{FileError, RunPaths, stream_atomically};
use anyhow::{Context, anyhow};
use fairyforge_engine::variant::Variant;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

/// Problems that are told at most.
const MOST_TOLD: usize = 20;

/// What to verify.
#[derive(clap::Args)]
pub(super) struct VerifyArgs {
    /// Folder of the match.
    folder: PathBuf,
    /// Name or file of the variant, if the one that the match names is not shipped.
    #[arg(long)]
    variant: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &VerifyArgs) -> Result<(), Failure> {
    let run = RunPaths::new(&args.folder);
    let doing = || format!("cannot verify {}", args.folder.display());
    let text = std::fs::read_to_string(run.plan()).map_err(FileError::at("read", &run.plan())).or_bad_input(doing)?;
    let plan: MatchPlan =
        toml::from_str(&text).or_bad_input(|| format!("{} is no plan of a match", run.plan().display()))?;
    let variant = load_variant(args.variant.as_deref().unwrap_or(&plan.variant))?;
    if variant.rules_hash() != plan.rules_hash {
        let (expected, got) = (&plan.rules_hash, variant.rules_hash());
        return Err(anyhow!(
            "expected the rules hash {expected}, got {got} of {}; name the variant file",
            variant.name()
        ))
        .or_bad_input(doing);
    }
    let mut verified = verify_games(&variant, &plan, &run.journal()).or_bad_input(doing)?;
    let report = compare_derived(&run, &variant, &mut verified)?;
    tell(args, &verified, &report)
}

fn tell(args: &VerifyArgs, verified: &Verified, report: &MatchReport) -> Result<(), Failure> {
    let Verified { games, complete, problems, .. } = verified;
    if args.json {
        let standing = report.to_json();
        outln!("{}", json!({"games": games, "complete": complete, "problems": problems, "standing": standing}))?;
    } else {
        let state = if *complete { "complete" } else { "not finished, the command that began it continues it" };
        outln!("{games} games, {} problems; the match is {state}", problems.len())?;
        problems.iter().take(MOST_TOLD).try_for_each(|problem| outln!("{problem}"))?;
        if problems.len() > MOST_TOLD {
            outln!("and {} more", problems.len() - MOST_TOLD)?;
        }
        super::told(report).iter().try_for_each(|line| outln!("{line}"))?;
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(Failure::Failed(anyhow!("{} problems in {}", problems.len(), args.folder.display())))
}

/// What was made of the journal once must be what is made of it now. Files that are not there yet are no problem while
/// the match goes on.
fn compare_derived(run: &RunPaths, variant: &Arc<Variant>, verified: &mut Verified) -> Result<MatchReport, Failure> {
    let report = super::report(&run.journal(), &verified.standing)?;
    let mut pgn = Vec::new();
    // A journal whose moves are damaged has no PGN; that is told already.
    let pgn = pgn_games(run, variant, &mut pgn).ok().map(|()| pgn);
    for (path, now) in [(run.result(), Some(result_text(&report).into_bytes())), (run.games(), pgn)] {
        match (std::fs::read(&path), now) {
            (Ok(then), Some(now)) if then == now => {}
            (Ok(_), _) => verified.problems.push(format!("{}: differs from what the journal says", path.display())),
            (Err(_), _) if !verified.complete => {}
            (Err(error), _) => verified.problems.push(format!("{}: {error}", path.display())),
        }
    }
    Ok(report)
}

/// The file `result.json`.
pub(super) fn result_text(report: &MatchReport) -> String {
    format!("{:#}\n", report.to_json())
}

/// Writes the file `games.pgn`.
pub(super) fn write_games(run: &RunPaths, variant: &Arc<Variant>) -> anyhow::Result<()> {
    stream_atomically(&run.games(), |file| pgn_games(run, variant, file))
}

fn pgn_games(run: &RunPaths, variant: &Arc<Variant>, out: &mut impl std::io::Write) -> anyhow::Result<()> {
    let reader = Reader::open(&run.journal())?;
    let header = reader.header().clone();
    let event = format!("match, seed {}", header.seed);
    for entry in reader {
        let entry = entry?;
        let game =
            crate::arena::pgn::game(variant, &header, &event, &entry).with_context(|| entry.number().to_string())?;
        game.write(out)?;
    }
    Ok(())
}
