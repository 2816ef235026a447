//! The command line: one small file a subcommand. Results go to stdout, everything else to stderr; the exit status is 2
//! for bad input, 1 for a failed run, 3 for one that wants games which it was not to play, and 130 for one that was interrupted.

mod bench;
mod board;
mod book;
mod claims;
mod data;
mod endgame;
mod failure;
pub mod fit;
mod laboratory;
mod loops;
mod manual;
mod matches;
mod merge;
mod output;
mod perft;
mod pgn;
mod rate;
mod selfplay;
mod share;
mod sprt;
mod train;
mod tune;
mod values;
mod variant;

pub use failure::{Failure, OrBadInput};

use share::ShareArgs;

use crate::named_judge::{self, NamedJudge};
use crate::named_weights::{self, NamedWeights};
use anyhow::Context;
use clap::{Parser, Subcommand};
use fairyforge_engine::variant::Variant;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What runs say about the program that made them.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("FAIRYFORGE_COMMIT"), ")");

/// Most threads that may be asked for: a slip of the keyboard must not bring a machine down.
const MOST_THREADS: usize = 1024;

/// Reads a number of threads.
fn threads(text: &str) -> Result<usize, String> {
    let threads = text.parse().ok().filter(|threads| *threads <= MOST_THREADS);
    threads.ok_or_else(|| format!("expected 0 (one a core) to {MOST_THREADS}"))
}

/// Self-play training and measurement for chess variants on large boards.
#[derive(Parser)]
#[command(version = VERSION, about, after_help = "Examples:\n  fairyforge quickstart\n  fairyforge variant list\n  fairyforge perft --variant herculean --depth 4\n  fairyforge selfplay --variant sorcerer --games 200 --nodes 500 --seed 1 --threads 2 --out data/runs/sorcerer\n  fairyforge fit --data data/runs/sorcerer --out sorcerer.toml\n  fairyforge match --variant sorcerer --a sorcerer.toml --b a-priori --pairs 100 --nodes 500 --seed 2 --threads 2 --out data/runs/match")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The whole loop on Herculean Chess in minutes: self-play, fit, match, report.
    Quickstart(loops::QuickstartArgs),
    /// The variants: list them, check files, show one, explain one in English.
    #[command(subcommand, after_help = "Examples:\n  fairyforge variant list\n  fairyforge variant show sorcerer")]
    Variant(variant::VariantCommand),
    /// Draw a position, as text or as SVG.
    Board(board::BoardArgs),
    /// Count the leaves of the tree of legal moves.
    Perft(perft::PerftArgs),
    /// Play games of the engine against itself and record them.
    Selfplay(selfplay::SelfplayArgs),
    /// Estimate piece values and tune weights from recorded games.
    Fit(fit::FitArgs),
    /// Measure what units are worth, by experiment: games with units taken away by lot.
    #[command(
        subcommand,
        after_help = "Example:\n  fairyforge values run configs/experiments/herculean.toml --out data/runs/herculean-values"
    )]
    Values(values::ValuesCommand),
    /// Play players against each other: two or more, with a test that may end the match.
    Match(Box<matches::MatchArgs>),
    /// Say what the results of a match mean for two hypotheses: a sequential test.
    Sprt(sprt::SprtArgs),
    /// Fit ratings to games: PGN files or journals of matches.
    Rate(rate::RateArgs),
    /// Tune numbers of the search or the evaluation by playing.
    #[command(
        subcommand,
        after_help = "Examples:\n  fairyforge tune spsa configs/tune/herculean-minute.toml\n  fairyforge tune recompute data/runs/herculean-minute --strike 12,40-45"
    )]
    Tune(tune::TuneCommand),
    /// Train an evaluation network from recorded games.
    Train(Box<train::TrainArgs>),
    /// Self-play, fit and match, for any variant, as a plan says.
    Loop(loops::LoopArgs),
    /// Opening books for play, and suites of openings for matches: build, import, verify, explore, export.
    #[command(
        subcommand,
        after_help = "Examples:\n  fairyforge book build configs/books/sorcerer.toml --out data/runs/sorcerer-book\n  fairyforge book explore data/runs/sorcerer-book/opening.book\n  fairyforge book suite configs/suites/chess.toml --out data/runs/chess-suite"
    )]
    Book(book::BookCommand),
    /// Make one run of several folders in which parts of it were played.
    Merge(merge::MergeArgs),
    /// Measure what matches cost beside the searches.
    Bench(bench::BenchArgs),
    /// Look at recorded games: verify, digest, head, quality.
    #[command(subcommand, after_help = "Example:\n  fairyforge data verify data/runs/quickstart")]
    Data(data::DataCommand),
    /// Tables of few men, by retrograde analysis: build, verify, probe.
    #[command(
        subcommand,
        after_help = "Example:\n  fairyforge endgame build --variant chess --men \"K+Q v K\" --out data/endgames/chess"
    )]
    Endgame(endgame::EndgameCommand),
    /// What inventors claim about their games: judge it, check files.
    #[command(subcommand, after_help = "Example:\n  fairyforge claims run configs/claims/sorcerer.toml")]
    Claims(claims::ClaimsCommand),
    /// Games as PGN: check files, export those of a run.
    #[command(
        subcommand,
        after_help = "Examples:\n  fairyforge pgn check games.pgn\n  fairyforge pgn export data/runs/quickstart --out games.pgn"
    )]
    Pgn(pgn::PgnCommand),
    /// Print completions of commands and options for a shell.
    Completions(manual::CompletionsArgs),
    /// Write the pages of the manual: one for the program and one for every command.
    Man(manual::ManArgs),
}

/// What every command that plays games is told.
#[derive(clap::Args)]
struct PlayArgs {
    /// Nodes a move.
    #[arg(long)]
    nodes: u64,
    /// Seed of everything random: with it, the version and the settings the games are the same, on any number of threads.
    #[arg(long)]
    seed: u64,
    /// Threads; 0 is one a core.
    #[arg(long, default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Folder of the run.
    #[arg(long)]
    out: PathBuf,
    #[command(flatten)]
    share: ShareArgs,
}

/// Runs the command line and turns its end into an exit status.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let ended = match cli.command {
        Command::Quickstart(args) => loops::quickstart(&args),
        Command::Variant(command) => variant::run(&command),
        Command::Board(args) => board::run(&args),
        Command::Perft(args) => perft::run(&args),
        Command::Selfplay(args) => selfplay::run(&args),
        Command::Fit(args) => fit::run(args),
        Command::Values(command) => values::run(&command),
        Command::Match(args) => matches::run(&args),
        Command::Sprt(args) => sprt::run(&args),
        Command::Rate(args) => rate::run(&args),
        Command::Tune(command) => tune::run(&command),
        Command::Train(args) => train::run(&args),
        Command::Loop(args) => loops::run(&args),
        Command::Book(command) => book::run(&command),
        Command::Merge(args) => merge::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Data(command) => data::run(&command),
        Command::Endgame(command) => endgame::run(&command),
        Command::Claims(command) => claims::run(&command),
        Command::Pgn(command) => pgn::run(&command),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::man(&args),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// A variant by name or file.
fn load_variant(name: &str) -> Result<Arc<Variant>, Failure> {
    Variant::load(name).map(Arc::new).or_bad_input(|| "cannot load the variant".into())
}

/// Weights by name; none means those derived from mobility.
fn load_weights(variant: &Variant, name: Option<&Path>) -> Result<NamedWeights, Failure> {
    let name = name.unwrap_or(Path::new(named_weights::A_PRIORI));
    named_weights::load(variant, name).or_bad_input(|| "cannot load weights".into())
}

/// What judges positions, by name; none means weights derived from mobility.
fn load_judge(variant: &Arc<Variant>, name: Option<&Path>) -> Result<NamedJudge, Failure> {
    let name = name.unwrap_or(Path::new(named_weights::A_PRIORI));
    named_judge::load(variant, name).or_bad_input(|| "cannot load what judges positions".into())
}

/// Runs `work` on so many threads; 0 means one a core.
fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().context("cannot start threads")?;
    Ok(pool.install(work))
}

/// A flag that Ctrl-C sets once; a second Ctrl-C ends the process at once.
fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    stop_on_interrupt_and(|| ())
}

/// As [`stop_on_interrupt`]; `last` is done before the process ends at once.
fn stop_on_interrupt_and(last: impl Fn() + Send + 'static) -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            last();
            std::process::exit(130);
        }
        crate::errln!("stopping; once more to stop at once");
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(stop)
}

/// A path that is not given, made from a name.
fn or_run(out: Option<&PathBuf>, name: &str) -> PathBuf {
    out.cloned().unwrap_or_else(|| Path::new("data/runs").join(name))
}
