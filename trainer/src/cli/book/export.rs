//! `fairyforge book export`: books in other formats.

use super::super::Failure;
use super::super::output::outln;
use super::{BookArgs, load};
use crate::book::page::{self, MOST_POSITIONS};
use crate::book::walk::Walk;
use crate::book::{epd, pgn, polyglot};
use crate::run_dir::{FileError, stream_atomically, write_atomically};
use anyhow::{Context, anyhow};
use fairyforge_engine::book::Book;
use std::path::PathBuf;

/// What `export` is told.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  fairyforge book export data/runs/sorcerer-book/opening.book --format epd --out sorcerer.epd\n  fairyforge book export data/runs/sorcerer-book/opening.book --format pgn --out sorcerer.pgn\n  fairyforge book export data/runs/sorcerer-book/opening.book --format html --out sorcerer.html\n  fairyforge book export data/runs/chess-book/opening.book --format polyglot --out chess.bin\n\ndocs/books.md tells what each format keeps."
)]
pub struct ExportArgs {
    #[command(flatten)]
    book: BookArgs,
    /// How it is written.
    #[arg(long, value_enum, default_value = "epd")]
    format: Format,
    /// The file to write.
    #[arg(long)]
    out: PathBuf,
    /// For html: the most positions on the page, the likeliest of the book; 20000 if absent.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    most: Option<u32>,
}

/// A way to write a book.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A line a position, with everything the book knows of it.
    Epd,
    /// A game a root, with all moves as variations and a comment behind each.
    Pgn,
    /// For other programs that play orthodox chess: moves and weights.
    Polyglot,
    /// One page to click through in a browser.
    Html,
}

pub(super) fn export(args: &ExportArgs) -> Result<(), Failure> {
    if args.most.is_some() && args.format != Format::Html {
        return Err(Failure::BadInput(anyhow!("--most is for --format html: the other formats have the whole book")));
    }
    let (_, book) = load(&args.book)?;
    let walk = Walk::of(&book);
    if let Some(fault) = walk.faults.first() {
        let what = format!("cannot export {}; `fairyforge book verify` names all faults", args.book.file.display());
        return Err(Failure::BadInput(anyhow!("{fault}").context(what)));
    }
    match args.format {
        Format::Epd | Format::Pgn => as_text(args, &book, &walk),
        Format::Polyglot => as_polyglot(args, &book),
        Format::Html => as_page(args, &book),
    }
}

fn as_text(args: &ExportArgs, book: &Book, walk: &Walk) -> Result<(), Failure> {
    let written = stream_atomically(&args.out, |out| {
        let written = match args.format {
            Format::Pgn => pgn::write(book, out),
            _ => epd::write(book, walk, out),
        };
        written.map_err(FileError::at("write", &args.out))
    });
    written.context("cannot write the book")?;
    outln!("{} positions in {}", walk.len(), args.out.display())
}

fn as_polyglot(args: &ExportArgs, book: &Book) -> Result<(), Failure> {
    let converted = polyglot::convert(book).map_err(|error| {
        Failure::BadInput(anyhow!(error).context(format!("cannot export {}", args.book.file.display())))
    })?;
    let written = stream_atomically(&args.out, |out| {
        polyglot::write(&converted.entries, out).map_err(FileError::at("write", &args.out))
    });
    written.context("cannot write the book")?;
    let (moves, left_out) = (converted.entries.len(), converted.left_out);
    outln!("{moves} moves in {}; {left_out} of weight 0 are left out", args.out.display())
}

fn as_page(args: &ExportArgs, book: &Book) -> Result<(), Failure> {
    let most = args.most.map_or(MOST_POSITIONS, |most| most as usize);
    let page = page::page(book, most).context("cannot make the page")?;
    write_atomically(&args.out, page.html.as_bytes()).context("cannot write the page")?;
    let left_out = if page.left_out > 0 { "; others, less likely ones, are left out" } else { "" };
    outln!("{} positions in {} ({} bytes){left_out}", page.positions, args.out.display(), page.html.len())
}
