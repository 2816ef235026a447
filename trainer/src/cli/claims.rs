//! `fairyforge claims run | check`: what inventors claim, and what there is to say about it.

use super::endgame::Display;
use super::output::outln;
use super::{Failure, OrBadInput, VERSION, stop_on_interrupt, threads};
use crate::claims::{Budget, ClaimSet, ClaimVerdict, Evidence, NoGames, Prepared, Stopped, TableWork, Verdicts};
use crate::run_dir::{RunPaths, write_atomically};
use anyhow::{Context, anyhow};
use std::path::PathBuf;

/// Memory that the tables of an endgame may take unless told otherwise, in gibibytes.
const MEMORY: u64 = 8;

/// Claims about games.
#[derive(clap::Subcommand)]
pub enum ClaimsCommand {
    /// Say of each claim in a file whether it is supported, refuted or undecided, with figures and intervals.
    ///
    /// What follows from the rules, and what a few men can do, is worked out exactly, tables of endgames included. What only play
    /// tells stays undecided without games.
    #[command(
        after_help = "Examples:\n  fairyforge claims run configs/claims/sorcerer.toml\n  fairyforge claims run configs/claims/herculean.toml --budget 30min --out data/runs/herculean-claims --json\n\nSupported: the 95 % interval lies inside what is claimed. Refuted: wholly outside, at a level shared by the parts of the claim.\nUndecided otherwise, with the games that would decide it. docs/formats/claims.md lists every key of a file."
    )]
    Run(RunArgs),
    /// Check claims files: every fault is told.
    #[command(after_help = "Example:\n  fairyforge claims check configs/claims/*.toml")]
    Check {
        /// The files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

/// What `run` is told.
#[derive(clap::Args)]
pub struct RunArgs {
    /// The claims file.
    file: PathBuf,
    /// Most that may be played: games as 2000, or a time as 30min.
    #[arg(long)]
    budget: Option<Budget>,
    /// Folder for claims.json; nothing is written if absent.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Threads; 0 is one a core.
    #[arg(long, default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Memory that the tables of an endgame may take, in gibibytes; one that would need more is not measured.
    #[arg(long, default_value_t = MEMORY, value_parser = clap::value_parser!(u64).range(1..=65_536))]
    memory: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(command: &ClaimsCommand) -> Result<(), Failure> {
    match command {
        ClaimsCommand::Run(args) => judge(args),
        ClaimsCommand::Check { files } => check(files),
    }
}

fn judge(args: &RunArgs) -> Result<(), Failure> {
    let set = ClaimSet::load(&args.file).or_bad_input(|| "cannot use the claims".into())?;
    let stop = stop_on_interrupt()?;
    let hearer: &dyn Fn(&str) -> crate::claims::Hearer = &|title| {
        let display = Display::new(title);
        Box::new(move |stage| display.show(stage))
    };
    let work = TableWork { threads: args.threads, stop: &stop, mebibytes: args.memory << 10, hearer };
    let prepared = Prepared::new(&set, &work).map_err(interrupted)?;
    let claims = prepared.verdicts(&*evidence(args));
    warn_of_unplayed(&claims, args);
    let verdicts = Verdicts::new(&set, claims, [VERSION, &command(args)]);
    let json = serde_json::to_string(&verdicts).context("cannot write the verdicts as JSON")?;
    if let Some(out) = &args.out {
        let path = RunPaths::new(out).claims();
        write_atomically(&path, format!("{json}\n").as_bytes()).context("cannot write the verdicts")?;
    }
    if args.json { outln!("{json}") } else { outln!("{}", verdicts.to_string().trim_end()) }
}

/// What measures that which only play tells.
fn evidence(_: &RunArgs) -> Box<dyn Evidence> {
    Box::new(NoGames)
}

fn interrupted(_: Stopped) -> Failure {
    Failure::Interrupted("stopped; the same command begins anew".into())
}

fn warn_of_unplayed(claims: &[ClaimVerdict], args: &RunArgs) {
    let unplayed =
        claims.iter().flat_map(|claim| &claim.parts).filter(|part| part.claimed.is_some() && part.games == 0);
    let unplayed = unplayed.count();
    if unplayed > 0 {
        let budget = args.budget.map_or_else(String::new, |budget| format!(", whatever the budget of {budget}"));
        crate::errln!("parts of claims that need games: {unplayed}; none are played{budget}");
    }
}

/// The command that finds the same verdicts again.
fn command(args: &RunArgs) -> String {
    let mut words = vec!["fairyforge claims run".to_owned(), args.file.display().to_string()];
    words.extend(args.budget.map(|budget| format!("--budget {budget}")));
    if args.memory != MEMORY {
        words.push(format!("--memory {}", args.memory));
    }
    words.join(" ")
}

fn check(files: &[PathBuf]) -> Result<(), Failure> {
    let mut faulty = 0;
    for file in files {
        match ClaimSet::load(file) {
            Ok(set) => outln!("{}: {}", file.display(), contents(&set))?,
            Err(error) => {
                faulty += 1;
                crate::errln!("{error}");
            }
        }
    }
    if faulty == 0 { Ok(()) } else { Err(Failure::BadInput(anyhow!("{faulty} of {} files have faults", files.len()))) }
}

/// What a file holds, in a line.
fn contents(set: &ClaimSet) -> String {
    let parts = || set.file.claims.iter().flat_map(|claim| &claim.parts);
    let played = parts().filter(|part| part.measured().is_some()).count();
    let counted = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let (claims, parts) = (counted(set.file.claims.len(), "claim"), counted(parts().count(), "part"));
    format!("{}, {claims} of {parts}, {played} measured by play", set.variant.rules().title)
}
