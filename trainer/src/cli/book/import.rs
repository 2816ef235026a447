//! `fairyforge book import`: books of games, and books that were written as text.

use super::super::output::outln;
use super::super::{Failure, OrBadInput, VERSION, load_variant, on_threads, threads};
use crate::book::games::Counting;
use crate::book::import::{Import, Imported, USUAL};
use crate::book::{epd, pgn};
use crate::pgn::variant_named;
use crate::run_dir::write_atomically;
use anyhow::{Context, anyhow};
use fairyforge_engine::book::Starts;
use fairyforge_engine::variant::Variant;
use serde_json::json;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What `import` is told.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  fairyforge book import data/runs/quickstart --out quickstart.book\n  fairyforge book import --variant sorcerer games.pgn more.pgn --out games.book --least-games 5\n  fairyforge book import sorcerer.epd --out sorcerer.book"
)]
pub struct ImportArgs {
    /// Runs, folders of shards and PGN files of games; or one file that `book export` wrote, whose book comes back: from EPD as it was, from
    /// PGN without what its header said.
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// The file to write.
    #[arg(long)]
    out: PathBuf,
    /// Name or file of the variant; what the first source says if absent. PGN files of games do not say it.
    #[arg(long)]
    variant: Option<String>,
    /// Keep positions from which so many games went on.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    least_games: u32,
    /// Plies of each game that are looked at, from where its record begins.
    #[arg(long, default_value_t = USUAL.plies, value_parser = clap::value_parser!(u16).range(1..))]
    plies: u16,
    /// Which games count, by where they begin.
    #[arg(long, value_enum, default_value = "array")]
    roots: Roots,
    /// Threads; 0 is one a core.
    #[arg(long, default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Which games count.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Roots {
    /// Those from the game's array.
    Array,
    /// All, each from its own start.
    All,
}

pub(super) fn import(args: &ImportArgs) -> Result<(), Failure> {
    match args.sources.as_slice() {
        [one] if is_epd(one) => import_text(args, one, Text::Epd),
        [one] if is_book_as_pgn(one)? => import_text(args, one, Text::Pgn),
        sources if sources.iter().any(|source| is_epd(source)) => {
            Err(Failure::BadInput(anyhow!("expected one EPD file and nothing else, or games, got both or several")))
        }
        _ => import_games(args),
    }
}

fn is_epd(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("epd"))
}

/// Whether a file is a book that was written as PGN, and not games.
fn is_book_as_pgn(path: &Path) -> Result<bool, Failure> {
    if !path.is_file() {
        return Ok(false);
    }
    let doing = || format!("cannot read {}", path.display());
    let expected = pgn::beginning();
    let mut beginning = Vec::new();
    let file = std::fs::File::open(path).or_bad_input(doing)?;
    file.take(expected.len() as u64).read_to_end(&mut beginning).or_bad_input(doing)?;
    Ok(beginning == expected.as_bytes())
}

/// A way in which a book was written as text.
enum Text {
    Epd,
    Pgn,
}

fn import_text(args: &ImportArgs, path: &Path, written: Text) -> Result<(), Failure> {
    let doing = || format!("cannot use the book {}", path.display());
    let text = std::fs::read_to_string(path).or_bad_input(doing)?;
    let named = match written {
        Text::Epd => Some(epd::header(&text).or_bad_input(doing)?.variant),
        Text::Pgn => pgn::variant(&text).map(str::to_owned),
    };
    let variant = load_variant(&args.variant.clone().or(named).ok_or_else(|| unnamed(path))?)?;
    let book = match written {
        Text::Epd => epd::read(&variant, &text).or_bad_input(doing)?,
        Text::Pgn => pgn::read(&variant, VERSION, &text).or_bad_input(doing)?,
    };
    write_atomically(&args.out, book.as_bytes()).context("cannot write the book")?;
    let (positions, moves) = (book.header().positions, book.header().moves);
    if args.json {
        return outln!("{}", json!({"positions": positions, "moves": moves, "file": args.out.display().to_string()}));
    }
    outln!("{positions} positions with {moves} moves of {}", variant.name())?;
    outln!("{} ({} bytes)", args.out.display(), book.as_bytes().len())
}

fn import_games(args: &ImportArgs) -> Result<(), Failure> {
    let variant = variant_of(args)?;
    let starts = match args.roots {
        Roots::Array => Starts::Array,
        Roots::All => Starts::All,
    };
    let (least_games, counting) = (args.least_games, Counting { plies: args.plies, starts });
    let import = Import { paths: &args.sources, variant: &variant, least_games, counting, program: VERSION };
    let imported =
        on_threads(args.threads, || import.run())?.or_bad_input(|| "cannot make a book of the games".into())?;
    write_atomically(&args.out, imported.book.as_bytes()).context("cannot write the book")?;
    if args.json { told_as_json(&imported, &args.out) } else { told(&imported, &args.out) }
}

fn variant_of(args: &ImportArgs) -> Result<Arc<Variant>, Failure> {
    if let Some(name) = &args.variant {
        return load_variant(name);
    }
    let first = args.sources.first().map(PathBuf::as_path).unwrap_or(Path::new(""));
    let name = if first.is_dir() {
        variant_named(first).or_bad_input(|| "cannot read the first source".into())?
    } else {
        None
    };
    load_variant(&name.ok_or_else(|| unnamed(first))?)
}

fn unnamed(source: &Path) -> Failure {
    Failure::BadInput(anyhow!("{} does not say what is played: name it with --variant", source.display()))
}

fn told_as_json(imported: &Imported, out: &Path) -> Result<(), Failure> {
    let Imported { book, tally, rare, unreachable } = imported;
    let header = book.header();
    outln!(
        "{}",
        json!({
            "positions": header.positions, "moves": header.moves, "roots": header.roots.len(), "games": tally.games,
            "unfinished": tally.unfinished, "failed": tally.failed, "elsewhere": tally.elsewhere, "digest": tally.digest,
            "rare": rare, "unreachable": unreachable, "file": out.display().to_string(),
        })
    )
}

fn told(imported: &Imported, out: &Path) -> Result<(), Failure> {
    let Imported { book, tally, rare, unreachable } = imported;
    let header = book.header();
    let (positions, moves, variant) = (header.positions, header.moves, &header.variant);
    outln!("{positions} positions with {moves} moves of {variant}, from {} games", tally.games)?;
    let left_out = [
        (tally.unfinished, "games without a result"),
        (tally.failed, "games in which a player failed"),
        (tally.elsewhere, "games that do not begin in the array (--roots all counts them)"),
        (*rare as u64, "positions of fewer games"),
        (*unreachable as u64, "positions that are reached through such positions only"),
    ];
    for (count, what) in left_out.into_iter().filter(|(count, _)| *count > 0) {
        outln!("left out: {count} {what}")?;
    }
    outln!("{} ({} bytes)", out.display(), book.as_bytes().len())
}
