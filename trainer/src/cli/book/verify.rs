//! `fairyforge book verify`: of books here, of suites in [`super::suite`].

use super::super::output::outln;
use super::super::{Failure, OrBadInput, VERSION, on_threads, stop_on_interrupt, threads};
use super::{BookArgs, judge, load};
use crate::book::Plan;
use crate::book::verify::{Again, Sample, Verification, count_again, search_again, verify};
use anyhow::anyhow;
use fairyforge_engine::book::Book;
use fairyforge_engine::variant::Variant;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Faults that are told one by one.
const MOST_TOLD: usize = 20;

/// What `verify` is told.
#[derive(clap::Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    pub(super) book: BookArgs,
    /// Positions to search again, drawn by lot; 0 searches none.
    #[arg(long, default_value_t = 20)]
    pub(super) sample: usize,
    /// Seed of the lot.
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// What judged positions, as a file of weights or of a network (*.net), if it is not where the book's plan says.
    #[arg(long)]
    pub(super) judge: Option<PathBuf>,
    /// The games that the book counted, as runs and PGN files, to count them again.
    #[arg(long, num_args = 1.., value_name = "SOURCE")]
    games: Vec<PathBuf>,
    /// Threads; 0 is one a core.
    #[arg(long, default_value_t = 0, value_parser = threads)]
    pub(super) threads: usize,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn verify_book(args: &VerifyArgs) -> Result<(), Failure> {
    if args.book.file.extension().is_some_and(|extension| extension == "epd") {
        return super::suite::verify_suite(args);
    }
    let (variant, book) = load(&args.book)?;
    let found = verify(&book);
    let again = if args.sample > 0 && found.faults.is_empty() { searched_again(args, &variant, &book)? } else { None };
    let counted = counted_again(args, &book)?;
    let searched = again.iter().flat_map(|again| &again.faults);
    let faults: Vec<&String> = found.faults.iter().chain(searched).chain(counted.iter().flatten()).collect();
    if args.json {
        outln!("{}", verification_as_json(&found, again.as_ref(), counted.as_deref(), &faults))?;
    } else {
        verification_as_text(&found, again.as_ref())?;
        if book.header().manifest.counted.is_some() {
            outln!("{}", checked(counted.is_some(), "counts of games"))?;
        }
    }
    faults_told(&args.book.file, &book.header().manifest.program, &faults)
}

/// Tells the faults of a file that this version of the program began; none are a success.
pub(super) fn faults_told(file: &Path, began: &str, faults: &[&String]) -> Result<(), Failure> {
    if faults.is_empty() {
        return Ok(());
    }
    for fault in faults.iter().take(MOST_TOLD) {
        crate::errln!("{fault}");
    }
    let versions =
        if began == VERSION { String::new() } else { format!("; it was built by {began}, this is {VERSION}") };
    Err(Failure::BadInput(anyhow!("{}: {} faults{versions}", file.display(), faults.len())))
}

/// Nothing where there is nothing to count, or nobody said where.
fn counted_again(args: &VerifyArgs, book: &Book) -> Result<Option<Vec<String>>, Failure> {
    let was_told = !args.games.is_empty();
    if was_told && book.header().manifest.counted.is_none() {
        return Err(Failure::BadInput(anyhow!("{}: the book has counted no games", args.book.file.display())));
    }
    let count = || count_again(book, &args.games).or_bad_input(|| "cannot count the games again".into());
    if was_told { on_threads(args.threads, count)?.map(Some) } else { Ok(None) }
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

fn checked(done: bool, what: &str) -> String {
    if done { format!("{what} made again") } else { format!("{what} not checked") }
}

fn verification_as_json(
    found: &Verification,
    again: Option<&Again>,
    counted: Option<&[String]>,
    faults: &[&String],
) -> Json {
    json!({
        "counts_checked": counted.is_some(),
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
    outln!("{}, {}", checked(found.valued, "values"), checked(found.weighed, "weights"))?;
    let Some(again) = again else { return Ok(()) };
    let (same, all) = (again.searches - again.faults.len(), again.searches);
    outln!("{same} of {all} searches came out the same; the greatest difference is {} cp", again.largest_difference)
}
