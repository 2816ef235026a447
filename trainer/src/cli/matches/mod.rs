//! `fairyforge match`: a match, and whether the files of one agree.

mod display;
mod setup;
mod spec;
mod verify;

use super::output::outln;
use super::selfplay::open_shared_run;
use super::share::ShareArgs;
use super::{Failure, OrBadInput, load_variant, on_threads, rate, stop_on_interrupt_and, threads};
use crate::arena::external::Launcher;
use crate::arena::journal::Reader;
use crate::arena::openings::{OpeningBook, OpeningFile, OpeningSource, Order};
use crate::arena::plan::{KIND, MatchPlan};
use crate::arena::ratings::GameTable;
use crate::arena::ratings::read::add_file;
use crate::arena::report::MatchReport;
use crate::arena::schedule::Format;
use crate::arena::sprt::{EloModel, Sprt, SprtSettings};
use crate::arena::standing::Standing;
use crate::arena::{Match, MatchError, Played, Terms};
use crate::play::{Adjudication, TimeControl};
use crate::run_dir::{PlanText, RunDir, write_atomically};
use crate::selfplay::Openings;
use crate::share::Share;
use anyhow::{Context, anyhow};
use display::Live;
use fairyforge_engine::variant::Variant;
use serde_json::json;
use spec::PlayerSpec;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// More than one pair in so many lost to failures is worth a warning.
const MOST_FAILED_SHARE: u64 = 20;

/// Play players against each other: pairs of games, each opening twice with colours exchanged.
#[derive(clap::Args)]
#[command(
    subcommand_negates_reqs = true,
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  fairyforge match --variant herculean --a new.toml --b a-priori --pairs 100 --nodes 500 --seed 2 --out data/runs/match
  fairyforge match --variant chess --player 'name=new option.late_move_base=12' --player name=old --tc 5+0.05 \\
      --pairs 20000 --elo0 0 --elo1 5 --out data/runs/sprt
  fairyforge match --variant chess --player name=ours --engine 'cmd=stockfish option.Hash=16' --tc 10+0.1 --pairs 50 \\
      --openings book.epd --out data/runs/outside
  fairyforge match verify data/runs/match

A player is words: name, nodes, depth, tc; our engine also has weights (a file, `shipped` or `a-priori`), search (a file of
search parameters), hash (MiB; 1, with a tc 16), option.NAME (a search parameter); a program outside has cmd, dir, proto (uci), option.NAME.
A player that says nothing of nodes, depth and tc has --nodes, --depth and --tc. Cut off at any moment, the same command
continues."
)]
pub struct MatchArgs {
    #[command(subcommand)]
    command: Option<MatchCommand>,
    /// Name or file of the variant.
    #[arg(long, required = true)]
    variant: Option<String>,
    /// A player, as `name=new weights=new.toml nodes=500` or `cmd=./engine option.Hash=64`; two or more are needed.
    #[arg(long = "player", visible_alias = "engine", value_name = "WORDS")]
    players: Vec<PlayerSpec>,
    /// Weights of the first player: short for `--player weights=FILE`.
    #[arg(long, value_name = "FILE")]
    a: Option<PathBuf>,
    /// Weights of the second player.
    #[arg(long, value_name = "FILE", requires = "a")]
    b: Option<PathBuf>,
    /// A search parameter of --a, as `late_move_base=20`; may be repeated. `fairyforge-engine params` lists them.
    #[arg(long, value_name = "NAME=VALUE", requires = "a")]
    a_set: Vec<String>,
    /// The same for --b.
    #[arg(long, value_name = "NAME=VALUE", requires = "b")]
    b_set: Vec<String>,
    /// Pairs of games between any two that meet; at most so many, if a test may end the match.
    #[arg(long, required = true)]
    pairs: Option<u64>,
    /// Who meets whom.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Threads: games played at the same time; 0 is one a core.
    #[arg(long, default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Folder of the match.
    #[arg(long, required = true)]
    out: Option<PathBuf>,
    /// Print JSON: lines while games are played (`event` is `progress`), at the end the `result`.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    openings: OpeningArgs,
    #[command(flatten)]
    test: TestArgs,
    #[command(flatten)]
    ends: EndArgs,
    #[command(flatten)]
    share: ShareArgs,
}

#[derive(clap::Subcommand)]
enum MatchCommand {
    /// Plays all games of a match through, and makes its tables, its test and its PGN anew: do the files agree?
    #[command(after_help = "Example:\n  fairyforge match verify data/runs/match")]
    Verify(verify::VerifyArgs),
}

/// What players may spend that say nothing of it themselves.
#[derive(clap::Args)]
#[command(next_help_heading = "Limits of players without their own, at least one of them")]
struct LimitArgs {
    /// Nodes a move.
    #[arg(long)]
    nodes: Option<u64>,
    /// Plies a move.
    #[arg(long)]
    depth: Option<i32>,
    /// Time in seconds: `0.5/move`, `60` for the game, `10+0.1` with an increment, `40/60` for every 40 moves.
    #[arg(long, value_name = "TIME")]
    tc: Option<TimeControl>,
}

/// Where games begin.
#[derive(clap::Args)]
#[command(next_help_heading = "Where games begin")]
struct OpeningArgs {
    /// Seed of the openings: the same seed, the same openings.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Random plies at the start of every game, fewest and most, where no file says where games begin.
    #[arg(long, value_name = "FEW..MANY", default_value = "4..10", value_parser = plies, conflicts_with = "openings")]
    random_plies: (u16, u16),
    /// A file of openings: EPD or FEN, a position a line, or PGN.
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// In which order they are used.
    #[arg(long, value_enum, default_value_t, requires = "openings")]
    order: Order,
    /// Which one comes first, from 1, counted in that order.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "openings")]
    opening_start: u64,
    /// Plies that are taken of each game of a PGN file; all if not said.
    #[arg(long, value_name = "PLIES", requires = "openings")]
    opening_plies: Option<u16>,
}

/// A sequential test that ends the match.
#[derive(clap::Args)]
#[command(next_help_heading = "A test that ends the match (two players)")]
struct TestArgs {
    /// Elo difference of the first player to the second under H0; the match ends as soon as it is decided between this and
    /// --elo1.
    #[arg(long, requires = "elo1", allow_negative_numbers = true)]
    elo0: Option<f64>,
    /// Elo difference under H1.
    #[arg(long, requires = "elo0", allow_negative_numbers = true)]
    elo1: Option<f64>,
    /// Probability of accepting H1 at elo0.
    #[arg(long, default_value_t = SprtSettings::usual_error(), requires = "elo0")]
    alpha: f64,
    /// Probability of accepting H0 at elo1.
    #[arg(long, default_value_t = SprtSettings::usual_error(), requires = "elo0")]
    beta: f64,
    /// What an Elo is in the test.
    #[arg(long, value_enum, default_value_t, requires = "elo0")]
    model: EloModel,
    /// Decide nothing before so many pairs.
    #[arg(long, default_value_t = 0, requires = "elo0")]
    min_pairs: u64,
}

/// Early ends of games and of the match.
#[derive(clap::Args)]
#[command(next_help_heading = "How games end")]
struct EndArgs {
    /// A draw when both scores stay within MARGIN centipawns for MOVES full moves, from full move FROM on; or `off`.
    /// Random plies and those of a PGN opening count towards FROM, a position of a file is a start.
    #[arg(long, value_name = "FROM,MOVES,MARGIN", value_parser = draw, default_value = "60,10,10")]
    draw: Option<(u32, u32, i32)>,
    /// A win when both scores see the same side ahead by MARGIN centipawns for MOVES full moves; or `off`.
    #[arg(long, value_name = "MOVES,MARGIN", value_parser = win, default_value = "4,1200")]
    win: Option<(u32, i32)>,
    /// A draw after so many plies.
    #[arg(long, default_value_t = 600)]
    most_plies: u32,
    /// Folder of endgame tables: a game ends as soon as they know its result. docs/endgames.md says how.
    #[arg(long, value_name = "DIR")]
    endgames: Option<PathBuf>,
    /// Milliseconds that a clock may be overstepped.
    #[arg(long, default_value_t = 50)]
    time_margin: u64,
    /// Crashes, hangs and illegal moves that a player is allowed; one more stops the match.
    #[arg(long, default_value_t = 5)]
    breakdowns: u64,
}

pub(super) fn run(args: &MatchArgs) -> Result<(), Failure> {
    match &args.command {
        Some(MatchCommand::Verify(args)) => verify::run(args),
        None => play(args),
    }
}

fn play(args: &MatchArgs) -> Result<(), Failure> {
    let variant = load_variant(args.variant.as_deref().unwrap_or_default())?;
    let engines = Launcher::default();
    let stop = stop_on_interrupt_and({
        let engines = engines.clone();
        move || engines.kill_all()
    })?;
    let launcher = engines.stopped_by(&stop);
    let players = setup::Players::new(&variant, &args.specs()?, &args.limits, launcher)?;
    let source = args.openings.source();
    let openings = OpeningBook::open(&variant, &source, args.openings.seed).or_bad_input(|| "cannot begin".into())?;
    let mut plan = args.plan(&variant, &players, &openings)?;
    let loading = plan.adjudication.load_endgames(&variant, Path::to_path_buf);
    let endgames = loading.or_bad_input(|| "cannot adjudicate by tables".into())?;
    let sprt = plan.sprt.map(Sprt::new).transpose().or_bad_input(|| "cannot test these hypotheses".into())?;
    let out = args.out.as_deref().unwrap_or(Path::new("."));
    let introduced = players.introduce(&variant, &stop)?;
    warn_of_crowding(args.threads, &plan);
    let share = args.share.share();
    let run = open_shared_run(out, PlanText::of(&plan).context("cannot write the plan as TOML")?, share)?;
    let contest = Match {
        variant: &variant,
        contestants: &players.contestants,
        players: introduced,
        schedule: plan.schedule(),
        openings,
        terms: Terms {
            adjudication: plan.adjudication.clone(),
            endgames,
            time_margin: Duration::from_millis(plan.time_margin),
            sprt,
            breakdowns: args.ends.breakdowns,
        },
        seed: plan.seed,
        share,
    };
    if share == Share::All {
        note_laps(&run, &contest)?;
    }
    let mut live = Live::new(&plan, &contest.openings, args.json);
    let played = on_threads(args.threads, || contest.play(&run.journal(), &stop, &mut |standing| live.hear(standing)))?;
    live.finish();
    let Played { standing, lags } = match played {
        Ok(played) => played,
        Err(MatchError::Shared(shared)) => return Err(Failure::shared(&shared, out)),
        Err(error) => {
            // The error is the one worth telling.
            let _ = tell_so_far(&run, &plan);
            return Err(cut_off(error, out));
        }
    };
    if let Share::Part(_) = share {
        return Err(Failure::complete(out));
    }
    display::tell_lags(&players.plans, &lags);
    live.event().map_or(Ok(()), |event| run.append_event(&event)).context("cannot note the end")?;
    let report = settle(&run, &variant, &standing)?;
    if args.json {
        outln!("{}", display::event("result", &report, &standing))?;
    } else {
        told(&report).iter().try_for_each(|line| outln!("{line}"))?;
        outln!("games in {}", run.games().display())?;
    }
    refuse_nothing(&report)
}

/// A book that is too short for the match is no secret.
fn note_laps(run: &RunDir, contest: &Match) -> Result<(), Failure> {
    let wraps = contest.openings.wraps(contest.schedule.openings());
    if wraps == 0 {
        return Ok(());
    }
    crate::errln!("warning: the openings are used again from the first on, {wraps} times");
    run.append_event(&json!({"event": "openings used again", "times": wraps})).context("cannot note the openings")?;
    Ok(())
}

/// More games at once than cores take time from each other's clocks.
fn warn_of_crowding(threads: usize, plan: &MatchPlan) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let on_time = plan.players.iter().any(|player| player.limits.time.is_some());
    if on_time && threads > cores {
        crate::errln!(
            "warning: {threads} games at the same time on {cores} cores: players on time will be short of it"
        );
    }
}

/// Writes what is made of the journal: the result and the games as PGN.
fn settle(run: &RunDir, variant: &Arc<Variant>, standing: &Standing) -> Result<MatchReport, Failure> {
    let doing = "cannot write the results; the games are safe in the journal";
    let report = report(&run.journal(), standing)?;
    write_atomically(&run.result(), verify::result_text(&report).as_bytes()).context(doing)?;
    verify::write_games(run, variant).context(doing)?;
    Ok(report)
}

fn report(journal: &Path, standing: &Standing) -> Result<MatchReport, Failure> {
    let reader = Reader::open(journal).context("cannot read the journal back")?;
    let mut report = MatchReport::new(reader.header().names(), standing).context("cannot test the hypotheses")?;
    if report.players.len() > 2 {
        let mut games = GameTable::default();
        add_file(&mut games, journal).context("cannot read the journal back")?;
        report.rate(&games);
    }
    Ok(report)
}

/// The report with a table of ratings, where there are any.
fn told(report: &MatchReport) -> Vec<String> {
    report.lines().into_iter().chain(report.ratings.iter().flat_map(rate::table)).collect()
}

/// What is known of a match that has been stopped.
fn tell_so_far(run: &RunDir, plan: &MatchPlan) -> Result<(), Failure> {
    let mut standing = Standing::new(plan.schedule(), plan.players.len(), plan.sprt.and_then(|it| Sprt::new(it).ok()));
    for entry in Reader::open(&run.journal()).context("cannot read the journal back")? {
        let entry = entry.context("cannot read the journal back")?;
        standing.add(&entry.summary()).context("cannot test the hypotheses")?;
    }
    report(&run.journal(), &standing)?.lines().iter().for_each(|line| crate::errln!("{line}"));
    Ok(())
}

/// A match of which nothing counts has said nothing.
fn refuse_nothing(report: &MatchReport) -> Result<(), Failure> {
    let counted: u64 = report.meetings.iter().map(|meeting| meeting.summary.pentanomial.total()).sum();
    let failed: u64 = report.meetings.iter().map(|meeting| meeting.faulty_pairs).sum();
    if counted == 0 {
        return Err(Failure::Failed(anyhow!("nothing counts: a player failed in each of the {failed} pairs")));
    }
    if failed * MOST_FAILED_SHARE > counted {
        crate::errln!(
            "warning: {failed} pairs were lost to failures, {counted} count; those that count may be no fair sample"
        );
    }
    Ok(())
}

impl MatchArgs {
    /// All players: those of `--a` and `--b` first.
    fn specs(&self) -> Result<Vec<PlayerSpec>, Failure> {
        let short = [(&self.a, &self.a_set), (&self.b, &self.b_set)];
        let mut specs = Vec::new();
        for (weights, changes) in short {
            let Some(weights) = weights else { continue };
            let options = changes.iter().map(|change| {
                let parts = change.split_once('=').ok_or_else(|| anyhow!("expected NAME=VALUE"));
                let (name, value) = parts.or_bad_input(|| format!("cannot set the search parameter {change:?}"))?;
                Ok((name.trim().to_owned(), value.trim().to_owned()))
            });
            let options = options.collect::<Result<_, Failure>>()?;
            specs.push(PlayerSpec { weights: Some(weights.clone()), options, ..PlayerSpec::default() });
        }
        specs.extend(self.players.iter().cloned());
        Ok(specs)
    }

    fn plan(&self, variant: &Variant, players: &setup::Players, book: &OpeningBook) -> Result<MatchPlan, Failure> {
        let sprt = self.test.settings();
        if sprt.is_some() && players.plans.len() != 2 {
            let error = anyhow!("expected two players for --elo0 and --elo1, got {}", players.plans.len());
            return Err(error).or_bad_input(|| "the test does not fit".into());
        }
        let plan = MatchPlan {
            kind: KIND.into(),
            variant: variant.name().into(),
            rules_hash: variant.rules_hash().into(),
            seed: self.openings.seed,
            pairs: self.pairs.unwrap_or_default(),
            format: self.format,
            time_margin: self.ends.time_margin,
            openings: book.source().clone(),
            adjudication: self.ends.adjudication(),
            sprt,
            players: players.plans.clone(),
        };
        plan.check().or_bad_input(|| "the settings do not fit".into())?;
        Ok(plan)
    }
}

impl OpeningArgs {
    fn source(&self) -> OpeningSource {
        let (least_random_plies, most_random_plies) = self.random_plies;
        match &self.openings {
            None => OpeningSource::Random(Openings { least_random_plies, most_random_plies, ..Openings::default() }),
            Some(path) => OpeningSource::File(OpeningFile {
                order: self.order,
                start: self.opening_start,
                plies: self.opening_plies,
                ..OpeningFile::new(path)
            }),
        }
    }
}

impl TestArgs {
    fn settings(&self) -> Option<SprtSettings> {
        let (elo0, elo1) = (self.elo0?, self.elo1?);
        let Self { alpha, beta, model, min_pairs, .. } = *self;
        Some(SprtSettings { elo0, elo1, alpha, beta, model, minimum: min_pairs })
    }
}

impl EndArgs {
    fn adjudication(&self) -> Adjudication {
        let (draw_from_move, draw_moves, draw_margin) = self.draw.unwrap_or_default();
        let (win_moves, win_margin) = self.win.unwrap_or_default();
        let most_plies = self.most_plies;
        Adjudication {
            draw_from_move,
            draw_moves,
            draw_margin,
            win_moves,
            win_margin,
            most_plies,
            endgames: self.endgames.clone(),
            endgames_digest: None,
        }
    }
}

/// Reads `4..10`.
fn plies(text: &str) -> Result<(u16, u16), String> {
    let parts = text.split_once("..").and_then(|(few, many)| Some((few.parse().ok()?, many.parse().ok()?)));
    parts.ok_or_else(|| "expected two numbers, as 4..10".to_owned())
}

/// Nothing switches a rule off.
const OFF: &str = "off";

/// Reads `60,10,10` or `off`.
fn draw(text: &str) -> Result<(u32, u32, i32), String> {
    if text == OFF {
        return Ok((0, 0, 0));
    }
    let parts: Vec<&str> = text.split(',').collect();
    let read = |parts: &[&str]| match parts {
        [from, moves, margin] => Some((from.parse().ok()?, moves.parse().ok()?, margin.parse().ok()?)),
        _ => None,
    };
    read(&parts).ok_or_else(|| "expected three whole numbers, as 60,10,10, or off".to_owned())
}

/// Reads `4,1200` or `off`.
fn win(text: &str) -> Result<(u32, i32), String> {
    if text == OFF {
        return Ok((0, 0));
    }
    let parts = text.split_once(',').and_then(|(moves, margin)| Some((moves.parse().ok()?, margin.parse().ok()?)));
    parts.ok_or_else(|| "expected two whole numbers, as 4,1200, or off".to_owned())
}

/// What to tell when a match ended early.
pub(super) fn cut_off(error: MatchError, out: &Path) -> Failure {
    match error {
        MatchError::Stopped => Failure::Interrupted(format!(
            "stopped; the games played are in {}, the same command continues",
            out.display()
        )),
        error => Failure::Failed(anyhow::Error::from(error).context("the match stopped; the games played are intact")),
    }
}
