//! `fairyforge book`: opening books for play.

mod build;
mod explore;
mod export;
mod import;
mod suite;
mod verify;

use super::{Failure, OrBadInput, load_judge, load_variant};
use crate::named_judge::{self, NamedJudge};
use fairyforge_engine::book::{Book, Header};
use fairyforge_engine::variant::Variant;
use std::path::PathBuf;
use std::sync::Arc;

/// Opening books for play.
#[derive(clap::Subcommand)]
pub enum BookCommand {
    /// Build a book as a plan says. Cut off at any moment, the same command continues.
    Build(build::BuildArgs),
    /// Make a suite of openings for matches, of a book's exits. Cut off at any moment, the same command continues.
    Suite(suite::SuiteArgs),
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

/// A book, with its variant.
fn load(args: &BookArgs) -> Result<(Arc<Variant>, Book), Failure> {
    let doing = || format!("cannot use the book {}", args.file.display());
    let bytes = Book::read_bytes(&args.file).or_bad_input(doing)?;
    let header = Header::peek(&bytes).or_bad_input(doing)?;
    let variant = load_variant(args.variant.as_deref().unwrap_or(&header.variant))?;
    let book = Book::from_bytes(&variant, bytes).or_bad_input(doing)?;
    Ok((variant, book))
}
