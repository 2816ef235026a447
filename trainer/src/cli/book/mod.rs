//! `fairyforge book`: opening books for play, and suites of openings for matches.

mod build;
mod explore;
mod export;
mod import;
mod suite;
mod verify;

use super::loops::beside;
use super::{Failure, OrBadInput, load_judge, load_variant, or_run, threads};
use crate::named_judge::{self, NamedJudge};
use fairyforge_engine::book::{Book, Header};
use fairyforge_engine::variant::Variant;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Opening books for play, and suites of openings for matches.
#[derive(clap::Subcommand)]
pub enum BookCommand {
    /// Build a book as a plan says. Cut off at any moment, the same command continues.
    #[command(
        after_help = "Example:\n  fairyforge book build configs/books/sorcerer.toml --out data/runs/sorcerer-book\n\ndocs/books.md lists every key of a plan."
    )]
    Build(build::BuildArgs),
    /// Make a suite of openings for matches, of a book's exits. Cut off at any moment, the same command continues.
    #[command(
        after_help = "Example:\n  fairyforge book suite configs/suites/chess.toml --out data/runs/chess-suite\n  fairyforge book verify data/runs/chess-suite/openings.epd\n  fairyforge match --variant chess --openings data/runs/chess-suite/openings.epd …\n\ndocs/suites.md tells what suites are for; configs/suites/reference.toml lists every key of a plan."
    )]
    Suite(PlanArgs),
    /// Check a book (or a suite, *.epd): its format, the legality of every move, values and weights; and search some of its positions again.
    #[command(after_help = "Example:\n  fairyforge book verify data/runs/sorcerer-book/opening.book --sample 200")]
    Verify(verify::VerifyArgs),
    /// What a book knows of a position.
    #[command(after_help = "Example:\n  fairyforge book explore data/runs/sorcerer-book/opening.book")]
    Explore(explore::ExploreArgs),
    /// Make a book of games, or read one that was written as text.
    Import(import::ImportArgs),
    /// Write a book as text, for other programs, or as a page to click through.
    Export(export::ExportArgs),
}

/// A plan, and how it is carried out.
#[derive(clap::Args)]
pub struct PlanArgs {
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
}

impl PlanArgs {
    /// Folder of the run; `usual` names it if the plan's file has no name.
    fn out(&self, usual: &str) -> PathBuf {
        let stem = self.plan.file_stem().and_then(|stem| stem.to_str()).unwrap_or(usual);
        or_run(self.out.as_ref(), stem)
    }
}

/// Which book.
#[derive(clap::Args)]
struct BookArgs {
    /// The book's file.
    file: PathBuf,
    /// File of the variant, if the one that the book names is not shipped.
    #[arg(long)]
    variant: Option<String>,
}

pub(super) fn run(command: &BookCommand) -> Result<(), Failure> {
    match command {
        BookCommand::Build(args) => build::build(args),
        BookCommand::Suite(args) => suite::suite(args),
        BookCommand::Verify(args) => verify::verify_book(args),
        BookCommand::Explore(args) => explore::explore(args),
        BookCommand::Export(args) => export::export(args),
        BookCommand::Import(args) => import::import(args),
    }
}

/// What judges positions; none means the best that is known.
fn judge(variant: &Arc<Variant>, named: Option<PathBuf>) -> Result<NamedJudge, Failure> {
    let named = named.unwrap_or_else(|| named_judge::usual(variant).into());
    load_judge(variant, Some(&named))
}

/// What a plan calls a judge; a file may lie beside the plan.
fn judge_beside(variant: &Arc<Variant>, plan: &Path, named: Option<&str>) -> Result<NamedJudge, Failure> {
    judge(variant, named.map(|named| beside(plan, named.to_owned()).into()))
}

/// A book, with its variant.
fn load(args: &BookArgs) -> Result<(Arc<Variant>, Book), Failure> {
    let doing = || format!("cannot use the book {}", args.file.display());
    let bytes = Book::read_bytes(&args.file).or_bad_input(doing)?;
    let header = Header::peek(&bytes).or_bad_input(doing)?;
    let variant = load_variant(args.variant.as_deref().unwrap_or(&header.variant))?;
    let book = Book::from_bytes(&variant, bytes).or_bad_input(doing)?;
    Ok((variant, book))
}
