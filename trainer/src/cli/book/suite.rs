//! `fairyforge book suite`: openings for matches, of a book's exits. And how a written one is verified.

use super::super::loops::beside;
use super::super::output::outln;
use super::super::selfplay::open_run;
use super::super::{Failure, OrBadInput, VERSION, load_variant, on_threads, stop_on_interrupt};
use super::verify::{VerifyArgs, faults_told};
use super::{BookArgs, PlanArgs, judge, judge_beside};
use crate::book::suite::check::{Checked, check, search_again};
use crate::book::suite::text::{Header, Written};
use crate::book::suite::{MadeBy, Suite, SuiteError, SuitePlan, SuiteWork};
use crate::book::verify::{Again, Sample};
use crate::book::{Build, BuildError, Plan};
use crate::checksum::{hex, sha256};
use crate::named_judge::NamedJudge;
use crate::progress::Progress;
use crate::run_dir::{PlanText, RunDir};
use crate::share::Share;
use crate::table::{Style, Table};
use anyhow::{Context, anyhow};
use fairyforge_engine::book::Book;
use fairyforge_engine::variant::Variant;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What is saved of a plan: itself, and what it was started with.
#[derive(Serialize, Deserialize)]
struct SavedPlan<'a> {
    kind: Cow<'a, str>,
    rules_hash: Cow<'a, str>,
    judge_digest: Cow<'a, str>,
    /// Of the book, or of the plan and the judge by which it is built.
    book_digest: String,
    #[serde(flatten)]
    plan: Cow<'a, SuitePlan>,
}

/// Where the book comes from.
enum Source {
    /// It is there.
    File(Box<Book>),
    /// It is built first.
    Plan(Box<(Plan, NamedJudge)>),
}

pub(super) fn suite(args: &PlanArgs) -> Result<(), Failure> {
    let doing = || format!("cannot use the plan {}", args.plan.display());
    let text = std::fs::read_to_string(&args.plan).or_bad_input(doing)?;
    let plan = SuitePlan::read(&text).or_bad_input(doing)?;
    let variant = load_variant(&beside(&args.plan, plan.variant.clone()))?;
    let judge = judge_beside(&variant, &args.plan, plan.judge.as_deref())?;
    let source = Source::open(&variant, Path::new(&beside(&args.plan, plan.book.clone())))?;
    let out = args.out("suite");
    let saved = SavedPlan {
        kind: "suite".into(),
        rules_hash: variant.rules_hash().into(),
        judge_digest: (&judge.digest).into(),
        book_digest: source.digest(),
        plan: Cow::Borrowed(&plan),
    };
    let run = open_run(&out, PlanText::of(&saved).context("cannot write the plan as TOML")?)?;
    let program = run.began_by().context("cannot read the run's version")?;
    let stop = stop_on_interrupt()?;
    let making = Making { args, variant: &variant, run: &run, program: &program, stop: &stop, out: &out };
    let book = making.book(source)?;
    let suite = making.suite(&plan, &judge, &book)?;
    told(&suite, &plan, &run.suite_epd(), args.json)
}

impl Source {
    fn open(variant: &Arc<Variant>, path: &Path) -> Result<Self, Failure> {
        let doing = || format!("cannot use the book {}", path.display());
        if path.extension().is_some_and(|extension| extension == "book") {
            return Ok(Self::File(Box::new(Book::load(variant, path).or_bad_input(doing)?)));
        }
        let text = std::fs::read_to_string(path).or_bad_input(doing)?;
        let plan = Plan::read(&text).or_bad_input(doing)?;
        let own = load_variant(&beside(path, plan.variant.clone()))?;
        if own.rules_hash() != variant.rules_hash() {
            let what = anyhow!("expected a plan of {}, got one of {}", variant.name(), own.name());
            return Err(Failure::BadInput(what.context(doing())));
        }
        plan.roots(variant).or_bad_input(doing)?;
        if !plan.games.sources.is_empty() {
            let what =
                anyhow!("expected a plan without games.sources, as a suite has no use for results of games, got some");
            return Err(Failure::BadInput(what.context(doing())));
        }
        let judge = judge_beside(variant, path, plan.judge.as_deref())?;
        Ok(Self::Plan(Box::new((plan, judge))))
    }

    fn digest(&self) -> String {
        match self {
            Self::File(book) => hex(&sha256(&[book.as_bytes()])),
            Self::Plan(planned) => {
                let (plan, judge) = &**planned;
                let plan = toml::to_string(plan).expect("a plan is a table of numbers and texts");
                hex(&sha256(&[plan.as_bytes(), judge.digest.as_bytes()]))
            }
        }
    }
}

/// What both the book and the suite are made with.
struct Making<'a> {
    args: &'a PlanArgs,
    variant: &'a Arc<Variant>,
    run: &'a RunDir,
    program: &'a str,
    stop: &'a AtomicBool,
    out: &'a Path,
}

impl Making<'_> {
    fn book(&self, source: Source) -> Result<Book, Failure> {
        let (plan, judge) = match source {
            Source::File(book) => return Ok(*book),
            Source::Plan(planned) => *planned,
        };
        let Self { variant, run, program, stop, .. } = *self;
        let progress = &Progress::new(&format!("book, {}", variant.name()), "positions", plan.growth.positions as u64);
        let (plan, judge, share) = (&plan, &judge, Share::All);
        let build = Build { plan, variant, judge, games: None, run, program, stop, progress, share };
        let built = on_threads(self.args.threads, || build.run())?.map_err(|error| match error {
            BuildError::Stopped => self.stopped(),
            BuildError::Root(_) | BuildError::Over(_) => Failure::BadInput(anyhow::Error::from(error)),
            error => Failure::Failed(anyhow::Error::from(error).context("the book could not be built")),
        })?;
        progress.finish();
        Ok(built.book)
    }

    fn suite(&self, plan: &SuitePlan, judge: &NamedJudge, book: &Book) -> Result<Suite, Failure> {
        let Self { variant, run, program, stop, .. } = *self;
        let progress = &Progress::new(&format!("suite, {}", variant.name()), "openings", plan.openings.count as u64);
        let name = self.args.plan.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let command = &format!("fairyforge book suite {name}");
        let made_by = MadeBy { program, command };
        let work = SuiteWork { plan, variant, book, judge, run, made_by, stop, progress };
        let suite = on_threads(self.args.threads, || work.run())?.map_err(|error| match error {
            SuiteError::Stopped => self.stopped(),
            SuiteError::Book(_) => Failure::BadInput(anyhow::Error::from(error)),
            error => Failure::Failed(anyhow::Error::from(error).context("the suite could not be made")),
        })?;
        progress.finish();
        Ok(suite)
    }

    fn stopped(&self) -> Failure {
        let out = self.out.display();
        Failure::Interrupted(format!("stopped; what was found is in {out}, the same command continues"))
    }
}

fn told(suite: &Suite, plan: &SuitePlan, path: &Path, as_json: bool) -> Result<(), Failure> {
    let counts = &suite.counts;
    let (found, wanted) = (counts.openings, plan.openings.count);
    if found < wanted {
        crate::errln!("{found} of {wanted} openings found; turned away: {}", counts.turned_away);
    }
    if as_json {
        return outln!("{}", json!({"counts": counts, "wanted": wanted, "file": path.display().to_string()}));
    }
    let filled = counts.families.values().filter(|&&openings| openings > 0).count();
    outln!("{found} openings of {filled} families, of {} exits; {} nodes", counts.exits, counts.nodes)?;
    outln!("turned away: {}", counts.turned_away)?;
    outln!("{}", path.display())
}

/// `fairyforge book verify` of a suite's EPD.
pub(super) fn verify_suite(args: &VerifyArgs) -> Result<(), Failure> {
    let (variant, suite) = load(&args.book)?;
    let checked = check(&suite);
    let is_sound = args.sample > 0 && checked.faults.is_empty();
    let again = if is_sound { Some(searched_again(args, &variant, &suite)?) } else { None };
    let faults: Vec<&String> = checked.faults.iter().chain(again.iter().flat_map(|again| &again.faults)).collect();
    if args.json {
        outln!("{}", as_json(&suite, &checked, again.as_ref()))?;
    } else {
        as_text(&suite, &checked, again.as_ref())?;
    }
    faults_told(&args.book.file, &suite.header.program, &faults)
}

fn load(args: &BookArgs) -> Result<(Arc<Variant>, Written), Failure> {
    let doing = || format!("cannot use the suite {}", args.file.display());
    let text = std::fs::read_to_string(&args.file).or_bad_input(doing)?;
    let header = Header::peek(&text).or_bad_input(doing)?;
    let variant = load_variant(args.variant.as_deref().unwrap_or(&header.variant))?;
    let suite = Written::read(&variant, &text).or_bad_input(doing)?;
    Ok((variant, suite))
}

fn searched_again(args: &VerifyArgs, variant: &Arc<Variant>, suite: &Written) -> Result<Again, Failure> {
    let planned = suite.header.plan.judge.as_ref().map(PathBuf::from);
    let judge = judge(variant, args.judge.clone().or(planned))?;
    let (expected, got) = (&suite.header.judge, &judge.digest);
    if expected != got {
        let what = "cannot search again; name with --judge what the suite was made with, or use --sample 0";
        return Err(Failure::BadInput(anyhow!("expected the judge {expected:.12}, got {got:.12}").context(what)));
    }
    let stop = stop_on_interrupt()?;
    let sample = Sample { count: args.sample, seed: args.seed };
    let again = on_threads(args.threads, || search_again(suite, &judge.judge, sample, &stop))?;
    again.ok_or_else(|| Failure::Interrupted("stopped".into()))
}

fn as_json(suite: &Written, checked: &Checked, again: Option<&Again>) -> Json {
    let faults: Vec<&String> = checked.faults.iter().chain(again.iter().flat_map(|again| &again.faults)).collect();
    json!({
        "openings": suite.openings.len(),
        "white_to_move": checked.to_move[0],
        "black_to_move": checked.to_move[1],
        "least_value": checked.values.map(|(least, _)| least),
        "greatest_value": checked.values.map(|(_, greatest)| greatest),
        "families": checked.families,
        "searched_again": again.map_or(0, |again| again.searches),
        "largest_difference": again.map_or(0, |again| again.largest_difference),
        "faults": faults,
    })
}

fn as_text(suite: &Written, checked: &Checked, again: Option<&Again>) -> Result<(), Failure> {
    let settings = &suite.header.plan.openings;
    let [white, black] = checked.to_move;
    let (count, families, variant) = (suite.openings.len(), checked.families.len(), &suite.header.variant);
    outln!("{count} openings of {variant} in {families} families; White to move in {white}, Black in {black}")?;
    if let Some((least, greatest)) = checked.values {
        let (from, to, margin) = (settings.from, settings.to, suite.header.plan.verify.margin);
        outln!("worth {least} to {greatest} centipawns for White; the window is {from} to {to}, the margin {margin}")?;
    }
    let mut table = Table::new(&["openings a family", "families"]);
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    checked.families.values().for_each(|&size| *sizes.entry(size).or_default() += 1);
    for (size, families) in sizes {
        table.row([size.to_string(), families.to_string()]);
    }
    outln!("{}", table.in_style(Style::Plain).trim_end())?;
    let Some(again) = again else { return outln!("nothing searched again by {VERSION}") };
    let (same, all) = (again.searches - again.faults.len(), again.searches);
    outln!("{same} of {all} searches came out the same; the greatest difference is {} cp", again.largest_difference)
}
