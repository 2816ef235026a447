//! The engine's program: the UCI protocol on standard input and output, and a few tools.

#![forbid(unsafe_code)]

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use fairyforge_engine::evaluate::network::{Network, NetworkFile};
use fairyforge_engine::protocol::{converse, uci, xboard};
use fairyforge_engine::search::MAX_DEPTH;
use fairyforge_engine::tools::manual::Shell;
use fairyforge_engine::tools::{bench, manual, params};
use fairyforge_engine::variant::Variant;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Exit status for input that makes no sense.
const BAD_INPUT: u8 = 2;
/// Exit status for a run that failed.
const FAILED: u8 = 1;

/// An engine for chess variants on boards up to 16x16. Without a command it speaks UCI, or XBoard's protocol if that is
/// what it is asked for.
#[derive(Parser)]
#[command(name = "fairyforge-engine", version)]
struct Arguments {
    /// The protocol to speak; without it the first line decides.
    #[arg(long, value_enum)]
    protocol: Option<Protocol>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Protocol {
    /// The Universal Chess Interface.
    Uci,
    /// The protocol of XBoard and WinBoard (CECP, version 2).
    Xboard,
}

#[derive(Subcommand)]
enum Command {
    /// Measures speed, and prints the number that identifies the search.
    Bench {
        /// A variant's name, or a path to its file.
        #[arg(long, value_name = "NAME|FILE", default_value = "herculean")]
        variant: String,
        /// Plies of the searches whose nodes make up the bench number.
        #[arg(long, value_name = "D", default_value_t = bench::DEFAULT_DEPTH,
              value_parser = clap::value_parser!(i32).range(1..=i64::from(MAX_DEPTH)))]
        depth: i32,
        /// A network's file (*.net): its speed is measured beside that of the a-priori values.
        #[arg(long, value_name = "FILE")]
        eval_file: Option<PathBuf>,
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
    /// Lists the numbers of the search with defaults, ranges and steps.
    Params {
        /// Prints JSON.
        #[arg(long)]
        json: bool,
        /// Prints a search file with the defaults, to start from.
        #[arg(long, conflicts_with = "json")]
        toml: bool,
    },
    /// Prints completions of commands and options for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Writes the pages of the manual.
    Man {
        /// Their folder.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.command {
        None => play(arguments.protocol),
        Some(Command::Bench { variant, depth, eval_file, json }) => match read_for_bench(&variant, eval_file) {
            Ok((variant, network)) => print_bench(&bench::Bench::run_beside(&variant, depth, network), json),
            Err(error) => {
                eprintln!("error: bench {error}");
                return ExitCode::from(BAD_INPUT);
            }
        },
        Some(Command::Params { json: true, .. }) => print(&format!("{:#}", params::json())),
        Some(Command::Params { toml: true, .. }) => print(params::toml().trim_end()),
        Some(Command::Params { .. }) => print(&params::text()),
        Some(Command::Completions { shell }) => manual::complete(Arguments::command(), shell, &mut io::stdout().lock()),
        Some(Command::Man { out }) => manual::write_pages(Arguments::command(), &out)
            .and_then(|pages| print(&format!("{pages} pages in {}", out.display()))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(FAILED)
        }
    }
}

fn play(protocol: Option<Protocol>) -> io::Result<()> {
    match protocol {
        None => converse(io::stdin().lock(), io::stdout()),
        Some(Protocol::Uci) => uci::run(io::stdin().lock(), io::stdout()),
        Some(Protocol::Xboard) => xboard::run(io::stdin().lock(), io::stdout()),
    }
}

fn read_for_bench(variant: &str, eval_file: Option<PathBuf>) -> Result<(Arc<Variant>, Option<Network>), String> {
    let variant = Variant::load(variant).map_err(|error| format!("--variant: {error}"))?;
    let variant = Arc::new(variant);
    let read = |path: PathBuf| {
        NetworkFile::load(&variant, &path).map_err(|error| format!("--eval-file {}: {error}", path.display()))
    };
    let network = eval_file.map(read).transpose()?.map(Network::new);
    Ok((variant, network))
}

fn print_bench(bench: &bench::Bench, json: bool) -> io::Result<()> {
    let text = if json { serde_json::to_string_pretty(bench)? } else { bench.to_string() };
    print(&text)
}

fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{text}")?;
    output.flush()
}
