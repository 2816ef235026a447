//! `fairyforge book export`: books in other formats.

use super::super::Failure;
use super::super::output::outln;
use super::{BookArgs, load};
use crate::book::walk::Walk;
use crate::book::{epd, pgn};
use crate::run_dir::{FileError, stream_atomically};
use anyhow::{Context, anyhow};
use std::path::PathBuf;

/// What `export` is told.
#[derive(clap::Args)]
pub struct ExportArgs {
    #[command(flatten)]
    book: BookArgs,
    /// How it is written.
    #[arg(long, value_enum, default_value = "epd")]
    format: Format,
    /// The file to write.
    #[arg(long)]
    out: PathBuf,
}

/// A way to write a book as text.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    /// A line a position, with everything the book knows of it.
    Epd,
    /// A game a root, with all moves as variations and a comment behind each.
    Pgn,
}

pub(super) fn export(args: &ExportArgs) -> Result<(), Failure> {
    let (_, book) = load(&args.book)?;
    let walk = Walk::of(&book);
    if let Some(fault) = walk.faults.first() {
        let what = format!("cannot export {}; `fairyforge book verify` names all faults", args.book.file.display());
        return Err(Failure::BadInput(anyhow!("{fault}").context(what)));
    }
    let written = stream_atomically(&args.out, |out| {
        let written = match args.format {
            Format::Epd => epd::write(&book, &walk, out),
            Format::Pgn => pgn::write(&book, out),
        };
        written.map_err(FileError::at("write", &args.out))
    });
    written.context("cannot write the book")?;
    outln!("{} positions in {}", walk.len(), args.out.display())
}
