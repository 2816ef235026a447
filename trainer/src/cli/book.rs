//! `fairyforge book`: opening books for play.

use super::loops::beside;
use super::output::outln;
use super::selfplay::open_run;
use super::{Failure, OrBadInput, VERSION, load_judge, load_variant, on_threads, or_run, stop_on_interrupt, threads};
use crate::book::verify::{Again, Sample, Verification, search_again, verify};
use crate::book::walk::Walk;
use crate::book::{Build, BuildError, Plan, epd, pgn};
use crate::named_judge::{self, NamedJudge};
use crate::progress::Progress;
use crate::run_dir::{FileError, stream_atomically};
use crate::table::{Style, Table};
use anyhow::{Context, anyhow};
use fairyforge_engine::book::{Book, BookMove, Header};
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use serde::Serialize;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Faults that are told one by one.
const MOST_TOLD: usize = 20;

/// Opening books for play.
#[derive(clap::Subcommand)]
pub enum BookCommand {
    /// Build a book as a plan says. Cut off at any moment, the same command continues.
    Build(BuildArgs),
    /// Check a book: its format, the legality of every move, values and weights; and search some of its positions again.
    #[command(after_help = "Example:\n  fairyforge book verify data/runs/sorcerer-book/opening.book --sample 200")]
    Verify(VerifyArgs),
    /// What a book knows of a position.
    #[command(after_help = "Example:\n  fairyforge book explore data/runs/sorcerer-book/opening.book")]
    Explore(ExploreArgs),
    /// Write a book as text.
    #[command(
        after_help = "Example:\n  fairyforge book export data/runs/sorcerer-book/opening.book --format epd --out sorcerer.epd"
    )]
    Export(ExportArgs),
}

/// What `build` is told.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  fairyforge book build configs/books/sorcerer.toml --out data/runs/sorcerer-book\n\ndocs/books.md lists every key of a plan."
)]
pub struct BuildArgs {
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

/// Which book.
#[derive(clap::Args)]
struct BookArgs {
    /// The book's file.
    file: PathBuf,
    /// File of the variant, if the one that the book names is not shipped.
    #[arg(long)]
    variant: Option<String>,
}

/// What `verify` is told.
#[derive(clap::Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    book: BookArgs,
    /// Positions to search again, drawn by lot; 0 searches none.
    #[arg(long, default_value_t = 20)]
    sample: usize,
    /// Seed of the lot.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What judged positions, as a file of weights or of a network (*.net), if it is not where the book's plan says.
    #[arg(long)]
    judge: Option<PathBuf>,
    /// Threads; 0 is one a core.
    #[arg(long, default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What `explore` is told.
#[derive(clap::Args)]
pub struct ExploreArgs {
    #[command(flatten)]
    book: BookArgs,
    /// The position; the book's first root if absent.
    #[arg(long)]
    fen: Option<String>,
    /// Moves played from there, as `e2e4 e7e5`.
    #[arg(long)]
    moves: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

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

/// What is saved of a plan: itself, and what it was started with.
#[derive(Serialize)]
struct SavedPlan<'a> {
    kind: &'static str,
    rules_hash: &'a str,
    judge_digest: &'a str,
    #[serde(flatten)]
    plan: &'a Plan,
}

pub(super) fn run(command: &BookCommand) -> Result<(), Failure> {
    match command {
        BookCommand::Build(args) => build(args),
        BookCommand::Verify(args) => verify_book(args),
        BookCommand::Explore(args) => explore(args),
        BookCommand::Export(args) => export(args),
    }
}

fn build(args: &BuildArgs) -> Result<(), Failure> {
    let doing = || format!("cannot use the plan {}", args.plan.display());
    let text = std::fs::read_to_string(&args.plan).or_bad_input(doing)?;
    let plan = Plan::read(&text).or_bad_input(doing)?;
    let variant = load_variant(&beside(&args.plan, plan.variant.clone()))?;
    plan.roots(&variant).or_bad_input(doing)?;
    let judge = judge(&variant, plan.judge.as_deref().map(|named| beside(&args.plan, named.to_owned()).into()))?;
    let stem = args.plan.file_stem().and_then(|stem| stem.to_str()).unwrap_or("book");
    let out = or_run(args.out.as_ref(), stem);
    let (rules_hash, judge_digest) = (variant.rules_hash(), judge.digest.as_str());
    let saved = SavedPlan { kind: "book", rules_hash, judge_digest, plan: &plan };
    let run = open_run(&out, &toml::to_string(&saved).context("cannot write the plan as TOML")?)?;
    let program = run.began_by().context("cannot read the run's version")?;
    let stop = stop_on_interrupt()?;
    let title = format!("book, {}", variant.name());
    let progress = Progress::new(&title, "positions", plan.growth.positions as u64);
    let (plan, stop, progress) = (&plan, &stop, &progress);
    let build = Build { plan, variant: &variant, judge: &judge, run: &run, program: &program, stop, progress };
    let built = on_threads(args.threads, || build.run())?.map_err(|error| cut_off(error, &out))?;
    progress.finish();
    let speed = built.searched as f64 / progress.elapsed().as_secs_f64().max(1e-3);
    if built.searched > 0 {
        crate::errln!("{} nodes searched, {speed:.0} a second", built.searched);
    }
    told(&built.book, built.leaves, &run.book(), args.json)
}

/// What judges positions; none means the best that is known.
fn judge(variant: &Arc<Variant>, named: Option<PathBuf>) -> Result<NamedJudge, Failure> {
    let named = named.unwrap_or_else(|| named_judge::usual(variant).into());
    load_judge(variant, Some(&named))
}

fn cut_off(error: BuildError, out: &Path) -> Failure {
    match error {
        BuildError::Stopped => {
            let out = out.display();
            Failure::Interrupted(format!("stopped; what was found is in {out}, the same command continues"))
        }
        BuildError::Root(_) | BuildError::Over(_) => Failure::BadInput(anyhow::Error::from(error)),
        error => Failure::Failed(anyhow::Error::from(error).context("the book could not be built")),
    }
}

fn told(book: &Book, leaves: usize, path: &Path, as_json: bool) -> Result<(), Failure> {
    let Header { variant, positions, moves, manifest, .. } = book.header();
    let bytes = book.as_bytes().len();
    if as_json {
        return outln!(
            "{}",
            json!({
                "variant": variant, "positions": positions, "moves": moves, "leaves": leaves, "bytes": bytes,
                "searches": manifest.searches, "nodes": manifest.nodes, "file": path.display().to_string(),
            })
        );
    }
    outln!("{positions} positions with {moves} moves of {variant}, {leaves} positions behind them")?;
    outln!("{} searches, {} nodes", manifest.searches, manifest.nodes)?;
    outln!("{} ({bytes} bytes)", path.display())
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

fn verify_book(args: &VerifyArgs) -> Result<(), Failure> {
    let (variant, book) = load(&args.book)?;
    let found = verify(&book);
    let again = if args.sample > 0 && found.faults.is_empty() { searched_again(args, &variant, &book)? } else { None };
    let faults: Vec<&String> = found.faults.iter().chain(again.iter().flat_map(|again| &again.faults)).collect();
    if args.json {
        outln!("{}", verification_as_json(&found, again.as_ref(), &faults))?;
    } else {
        verification_as_text(&found, again.as_ref())?;
    }
    if faults.is_empty() {
        return Ok(());
    }
    for fault in faults.iter().take(MOST_TOLD) {
        crate::errln!("{fault}");
    }
    let began = &book.header().manifest.program;
    let versions =
        if began == VERSION { String::new() } else { format!("; it was built by {began}, this is {VERSION}") };
    Err(Failure::BadInput(anyhow!("{}: {} faults{versions}", args.book.file.display(), faults.len())))
}

/// Nothing where the book says nothing of searches.
fn searched_again(args: &VerifyArgs, variant: &Arc<Variant>, book: &Book) -> Result<Option<Again>, Failure> {
    let manifest = &book.header().manifest;
    if manifest.limits.is_none() {
        return Ok(None);
    }
    let planned = Plan::read(&manifest.plan).ok().and_then(|plan| plan.judge).map(PathBuf::from);
    let judge = judge(variant, args.judge.clone().or(planned))?;
    if judge.digest != manifest.judge {
        let (expected, got) = (&manifest.judge, &judge.digest);
        let what = "cannot search again; name with --judge what the book was built with, or use --sample 0";
        return Err(Failure::BadInput(anyhow!("expected the judge {expected:.12}, got {got:.12}").context(what)));
    }
    let stop = stop_on_interrupt()?;
    let sample = Sample { count: args.sample, seed: args.seed };
    let again = on_threads(args.threads, || search_again(book, &judge.judge, sample, &stop))?;
    again.map(Some).ok_or_else(|| Failure::Interrupted("stopped".into()))
}

fn verification_as_json(found: &Verification, again: Option<&Again>, faults: &[&String]) -> Json {
    json!({
        "positions": found.positions,
        "moves": found.moves,
        "exits": found.exits,
        "values_checked": found.valued,
        "weights_checked": found.weighed,
        "searched_again": again.map_or(0, |again| again.searches),
        "largest_difference": again.map_or(0, |again| again.largest_difference),
        "faults": faults,
    })
}

fn verification_as_text(found: &Verification, again: Option<&Again>) -> Result<(), Failure> {
    outln!("{} positions with {} moves, {} positions behind them", found.positions, found.moves, found.exits)?;
    let checked =
        |done: bool, what: &str| if done { format!("{what} made again") } else { format!("{what} not checked") };
    outln!("{}, {}", checked(found.valued, "values"), checked(found.weighed, "weights"))?;
    let Some(again) = again else { return Ok(()) };
    let (same, all) = (again.searches - again.faults.len(), again.searches);
    outln!("{same} of {all} searches came out the same; the greatest difference is {} cp", again.largest_difference)
}

fn explore(args: &ExploreArgs) -> Result<(), Failure> {
    let (variant, book) = load(&args.book)?;
    let mut position = match &args.fen {
        Some(fen) => Position::from_fen(&variant, fen).or_bad_input(|| format!("cannot read the position {fen:?}"))?,
        None => book.roots().first().cloned().ok_or_else(|| anyhow!("the book has no root"))?,
    };
    for text in args.moves.iter().flat_map(|moves| moves.split_whitespace()) {
        let mv = position.parse_move(text).or_bad_input(|| "cannot play the moves".into())?;
        position.make(mv, &mut fairyforge_engine::position::Unobserved);
    }
    let legal = position.legal_moves();
    let moves: Vec<BookMove> = book.moves(&position).into_iter().filter(|entry| legal.contains(&entry.mv)).collect();
    if args.json { moves_as_json(&book, &position, &moves) } else { moves_as_table(&book, &position, &moves) }
}

/// Whether the book goes on behind a move.
fn goes_on(book: &Book, position: &Position, entry: &BookMove) -> bool {
    book.has(crate::book::graph::Child::behind(position, entry.mv).key)
}

fn moves_as_json(book: &Book, position: &Position, moves: &[BookMove]) -> Result<(), Failure> {
    let told = |entry: &BookMove| {
        let [wins, draws, losses] = entry.results;
        json!({
            "move": position.move_text(entry.mv), "san": position.san(entry.mv), "weight": entry.weight,
            "value": entry.value, "searched": entry.searched, "wins": wins, "draws": draws, "losses": losses,
            "nodes": entry.nodes, "goes_on": goes_on(book, position, entry),
        })
    };
    let moves: Vec<Json> = moves.iter().map(told).collect();
    outln!("{}", json!({"fen": position.fen(), "moves": moves}))
}

fn moves_as_table(book: &Book, position: &Position, moves: &[BookMove]) -> Result<(), Failure> {
    outln!("{}", position.fen())?;
    if moves.is_empty() {
        return outln!("the book does not have this position");
    }
    let sum: u32 = moves.iter().map(|entry| u32::from(entry.weight)).sum();
    let mut table = Table::new(&["move", "plays %", "value", "searched", "won", "drawn", "lost", "nodes", "book"]);
    for entry in moves {
        let value = |value: Option<i16>| value.map_or_else(|| "–".into(), |value| value.to_string());
        let share = 100.0 * f64::from(entry.weight) / f64::from(sum.max(1));
        let on = if goes_on(book, position, entry) { "goes on" } else { "" };
        let mut row = vec![position.san(entry.mv), format!("{share:.1}"), value(entry.value), value(entry.searched)];
        row.extend(entry.results.iter().map(ToString::to_string));
        row.extend([entry.nodes.to_string(), on.into()]);
        table.row(row);
    }
    outln!("{}", table.in_style(Style::Plain).trim_end())
}

fn export(args: &ExportArgs) -> Result<(), Failure> {
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
