//! `fairyforge claims run | check`: what inventors claim, and what there is to say about it.

use super::endgame::Display;
use super::laboratory::{Laboratory, NO_NETWORK, Played, read_plan};
use super::output::outln;
use super::share::ShareArgs;
use super::{Failure, OrBadInput, VERSION, load_variant, or_run, stop_on_interrupt, threads};
use crate::claims::{
    Budget, ClaimSet, ClaimVerdict, NoGames, Part, Prepared, Quantity, Stopped, TableWork, Verdict, Verdicts,
};
use crate::fit::dataset::Dataset;
use crate::fit::first_move::GameLength;
use crate::laboratory::claims_report::ClaimsReport;
use crate::laboratory::evidence::LaboratoryEvidence;
use crate::laboratory::experiment::{Goal, Look};
use crate::laboratory::methods::ByMethod;
use crate::laboratory::plan::Plan;
use crate::run_dir::{RunPaths, write_atomically};
use anyhow::{Context, anyhow};
use fairyforge_engine::variant::Variant;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Memory that the tables of an endgame may take unless told otherwise, in gibibytes.
const MEMORY: u64 = 8;

/// Claims about games.
#[derive(clap::Subcommand)]
pub enum ClaimsCommand {
    /// Say of each claim in a file whether it is supported, refuted or undecided, with figures and intervals.
    ///
    /// What follows from the rules, and what a few men can do, is worked out exactly, tables of endgames included. What only play
    /// tells is measured by the experiment that the file names, until all claims are decided or the budget is spent. Cut off at any
    /// moment, the same command continues.
    #[command(
        after_help = "Examples:\n  fairyforge claims run configs/claims/sorcerer.toml\n  fairyforge claims run configs/claims/herculean.toml --budget 30min --out data/runs/herculean-claims --json\n\nSupported: the 95 % interval lies inside what is claimed. Refuted: wholly outside, at a level shared by the parts of the claim.\nUndecided otherwise, with the games that would decide it. docs/formats/claims.md lists every key of a file."
    )]
    Run(RunArgs),
    /// Check claims files: every fault is told.
    #[command(after_help = "Example:\n  fairyforge claims check configs/claims/*.toml")]
    Check {
        /// The files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

/// What `run` is told.
#[derive(clap::Args)]
pub struct RunArgs {
    /// The claims file.
    file: PathBuf,
    /// What the experiment may take, in games or in time, as 20000, 30min or 2h; what its plan says if absent. Games of another variant
    /// to compare lengths with come on top.
    #[arg(long)]
    budget: Option<Budget>,
    /// Only what is known exactly: no games.
    #[arg(long, conflicts_with = "budget")]
    exact: bool,
    /// Folder for reports and games; data/runs/<name of the file>-claims if absent.
    #[arg(long)]
    out: Option<PathBuf>,
    /// As in `fairyforge values run`.
    #[arg(long, value_name = "FILE")]
    network: Option<PathBuf>,
    /// Threads; 0 is one a core.
    #[arg(long, default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Memory that the tables of an endgame may take, in gibibytes; one that would need more is not measured.
    #[arg(long, default_value_t = MEMORY, value_parser = clap::value_parser!(u64).range(1..=65_536))]
    memory: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    share: ShareArgs,
}

pub(super) fn run(command: &ClaimsCommand) -> Result<(), Failure> {
    match command {
        ClaimsCommand::Run(args) => judge(args),
        ClaimsCommand::Check { files } => check(files),
    }
}

fn judge(args: &RunArgs) -> Result<(), Failure> {
    let set = ClaimSet::load(&args.file).or_bad_input(|| "cannot use the claims".into())?;
    let plan = if args.exact { None } else { experiment(&set)? };
    let stop = stop_on_interrupt()?;
    let hearer: &dyn Fn(&str) -> crate::claims::Hearer = &|title| {
        let display = Display::new(title);
        Box::new(move |stage| display.show(stage))
    };
    let work = TableWork { threads: args.threads, stop: &stop, mebibytes: args.memory << 10, hearer };
    let prepared = Prepared::new(&set, &work).map_err(interrupted)?;
    let trial = Trial { args, set: &set, prepared: &prepared, stop: &stop };
    match plan {
        Some(plan) => trial.by_play(plan),
        None if args.share.is_part() => Err(Failure::complete(&trial.out())),
        None => trial.tell(prepared.verdicts(&NoGames), None),
    }
}

/// The plan of the experiment, if a claim needs one; it must be of the claims' game.
fn experiment(set: &ClaimSet) -> Result<Option<Plan>, Failure> {
    let Some(path) = set.experiment() else { return Ok(None) };
    let plan = read_plan(&path)?;
    let variant = load_variant(&plan.variant)?;
    if variant.rules_hash() != set.variant.rules_hash() {
        let (expected, got) = (set.variant.name(), variant.name());
        let error = anyhow!("expected an experiment on {expected} as the claims are about, got one on {got}");
        return Err(Failure::BadInput(error.context(format!("cannot use {}", path.display()))));
    }
    Ok(Some(plan))
}

/// Claims on trial.
struct Trial<'a> {
    args: &'a RunArgs,
    set: &'a ClaimSet,
    prepared: &'a Prepared<'a>,
    stop: &'a AtomicBool,
}

/// Games of another variant that its length is measured on.
const COMPARISON_GAMES: u64 = 1000;

/// Games end when no claim is open.
struct AllDecided<'a> {
    prepared: &'a Prepared<'a>,
    variant: &'a Variant,
    plan: Plan,
    lengths: &'a BTreeMap<String, GameLength>,
}

impl Goal for AllDecided<'_> {
    fn is_reached(&self, look: &Look, dataset: &Dataset) -> bool {
        let methods = ByMethod::of(dataset, self.variant, look.critical);
        let evidence = LaboratoryEvidence {
            plan: &self.plan,
            methods: &methods,
            looks: look.number as usize,
            rounds: &[],
            assumed: &[],
            drifts: &[],
            network: None,
            lengths: self.lengths,
        };
        self.prepared.verdicts(&evidence).iter().all(|claim| claim.verdict != Verdict::Undecided)
    }
}

impl Trial<'_> {
    fn by_play(&self, plan: Plan) -> Result<(), Failure> {
        let lengths = self.lengths(&plan)?;
        let out = self.out();
        let folder = out.join("experiment");
        let (budget, threads) = (self.args.budget, self.args.threads);
        let network = self.args.network.as_deref();
        let (stop, share) = (self.stop, self.args.share.share());
        let laboratory = Laboratory { plan, budget, network, threads, out: &folder, stop, share };
        let played = laboratory.play(|plan| AllDecided {
            prepared: self.prepared,
            variant: &self.set.variant,
            plan: plan.clone(),
            lengths: &lengths,
        })?;
        let evidence = LaboratoryEvidence {
            plan: &played.plan,
            methods: &played.findings.methods,
            looks: played.findings.looks.len(),
            rounds: &played.findings.rounds,
            assumed: &played.findings.assumed,
            drifts: &played.findings.drifts,
            network: played.findings.network.as_ref().map(|network| &network.ablation),
            lengths: &lengths,
        };
        self.tell(self.prepared.verdicts(&evidence), Some(&played))
    }

    fn out(&self) -> PathBuf {
        let stem = self.args.file.file_stem().and_then(|stem| stem.to_str()).unwrap_or("game");
        or_run(self.args.out.as_ref(), &format!("{stem}-claims"))
    }

    /// How long games last of the variants that claims compare with, each played in a folder of its own.
    fn lengths(&self, plan: &Plan) -> Result<BTreeMap<String, GameLength>, Failure> {
        let mut lengths = BTreeMap::new();
        for other in self.compared_with() {
            let folder = self.out().join(format!("against-{}", file_name(&other)));
            let (plan, threads) = (plan.level_in(&other), self.args.threads);
            let network = Some(Path::new(NO_NETWORK));
            let (stop, share) = (self.stop, self.args.share.share());
            let laboratory = Laboratory { plan, budget: None, network, threads, out: &folder, stop, share };
            if let Some(length) = laboratory.length_of_games(COMPARISON_GAMES)? {
                lengths.insert(other, length);
            }
        }
        Ok(lengths)
    }

    fn compared_with(&self) -> BTreeSet<String> {
        let parts = self.set.file.claims.iter().flat_map(|claim| &claim.parts);
        let other = |part: &Part| match part.measured() {
            Some((Quantity::GameLength { longer_than }, _)) => Some(longer_than),
            _ => None,
        };
        parts.filter_map(other).collect()
    }

    fn tell(&self, claims: Vec<ClaimVerdict>, played: Option<&Played>) -> Result<(), Failure> {
        let games = played.and_then(|played| played.budget);
        let verdicts = Verdicts::new(self.set, claims, [VERSION, &self.command(games)]);
        let json = serde_json::to_string(&verdicts).context("cannot write the verdicts as JSON")?;
        let paths = RunPaths::new(self.out());
        let experiment = self.command(games);
        let report = ClaimsReport { verdicts: &verdicts, laboratory: played.map(|played| played.report(&experiment)) };
        let page = report.page().context("cannot make the page")?;
        let texts =
            [(paths.claims(), format!("{json}\n")), (paths.report(), report.markdown()), (paths.report_page(), page)];
        for (path, text) in texts {
            write_atomically(&path, text.as_bytes()).context("cannot write the verdicts")?;
        }
        if self.args.json {
            return outln!("{json}");
        }
        outln!("{}", verdicts.to_string().trim_end())?;
        outln!("report in {}, with figures in {}", paths.report().display(), paths.report_page().display())
    }

    /// The command that finds the same verdicts again: time is told as the games it was turned into.
    fn command(&self, games: Option<u64>) -> String {
        let args = self.args;
        let mut words = vec!["fairyforge claims run".to_owned(), args.file.display().to_string()];
        words.extend(args.budget.and(games).map(|games| format!("--budget {games}")));
        words.extend(args.exact.then(|| "--exact".to_owned()));
        words.extend(args.network.as_ref().map(|name| format!("--network {}", name.display())));
        if args.memory != MEMORY {
            words.push(format!("--memory {}", args.memory));
        }
        words.join(" ")
    }
}

/// What a variant's folder is called: its name, or its file's.
fn file_name(variant: &str) -> String {
    let stem = Path::new(variant).file_stem().and_then(|stem| stem.to_str()).unwrap_or("other");
    stem.to_owned()
}

fn interrupted(_: Stopped) -> Failure {
    Failure::Interrupted("stopped; the same command begins anew".into())
}

fn check(files: &[PathBuf]) -> Result<(), Failure> {
    let mut faulty = 0;
    for file in files {
        match ClaimSet::load(file) {
            Ok(set) => outln!("{}: {}", file.display(), contents(&set))?,
            Err(error) => {
                faulty += 1;
                crate::errln!("{error}");
            }
        }
    }
    if faulty == 0 { Ok(()) } else { Err(Failure::BadInput(anyhow!("{faulty} of {} files have faults", files.len()))) }
}

/// What a file holds, in a line.
fn contents(set: &ClaimSet) -> String {
    let parts = || set.file.claims.iter().flat_map(|claim| &claim.parts);
    let played = parts().filter(|part| part.measured().is_some()).count();
    let counted = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let (claims, parts) = (counted(set.file.claims.len(), "claim"), counted(parts().count(), "part"));
    format!("{}, {claims} of {parts}, {played} measured by play", set.variant.rules().title)
}
