//! The loop: self-play with the current weights, a fit of those games that starts from the current weights, a match of the fitted weights against the
//! current ones, and the better of the two go on. Generation after generation, in one run folder.
//!
//! Every step leaves its result in the folder and finds there what an earlier attempt finished, so starting the same
//! loop again continues it: shards that exist are not played again, pairs in a journal neither, and a fit is a function
//! of the games.

use crate::arena::openings::{OpeningBook, OpeningError, OpeningSource};
use crate::arena::schedule::{Format, Schedule};
use crate::arena::sprt::{Decision, Sprt};
use crate::arena::standing::Standing;
use crate::arena::statistics::{Elo, MatchSummary};
use crate::arena::{Contestant, Entrant, Match, MatchError, OwnEngine, Terms, introduced};
use crate::checksum::{self, text_digest};
use crate::fit::claims::{Judgement, judge};
use crate::fit::{FitError, FitReport, FitRequest, fit_run};
use crate::plan::Plan;
use crate::play::Allowance;
use crate::play::endgames::EndgamesError;
use crate::progress::Progress;
use crate::record::Origin;
use crate::run_dir::{FileError, RunDir, write_atomically};
use crate::selfplay::workers::{Generation, SelfplayError};
use fairyforge_engine::endgame::Tables;
use fairyforge_engine::evaluate::{Tapered, Weights, WeightsError};
use fairyforge_engine::search::Params;
use fairyforge_engine::variant::Variant;
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Weights that the first generation plays with.
const START: u32 = 0;

/// Everything a loop works with.
pub struct TrainingLoop<'a> {
    /// What is to be done.
    pub plan: &'a Plan,
    /// The game.
    pub variant: &'a Arc<Variant>,
    /// Tables that end games.
    pub endgames: &'a LoopTables,
    /// Where it is done.
    pub run: &'a RunDir,
    /// Set to end it early.
    pub stop: &'a AtomicBool,
}

/// The tables that end games early, in memory.
#[derive(Clone, Debug, Default)]
pub struct LoopTables {
    selfplay: Option<Arc<Tables>>,
    gate: Option<Arc<Tables>>,
}

impl LoopTables {
    /// Reads the tables that a plan names, and notes in it what they are.
    ///
    /// # Errors
    /// A folder cannot be used.
    pub fn load(plan: &mut Plan, variant: &Arc<Variant>) -> Result<Self, EndgamesError> {
        let (selfplay, gate) = (&mut plan.selfplay.adjudication, &mut plan.gate.adjudication);
        let own = selfplay.load_endgames(variant, Path::to_path_buf)?;
        if gate.endgames == selfplay.endgames && gate.endgames_digest.is_none() {
            gate.endgames_digest.clone_from(&selfplay.endgames_digest);
            return Ok(Self { selfplay: own.clone(), gate: own });
        }
        Ok(Self { selfplay: own, gate: gate.load_endgames(variant, Path::to_path_buf)? })
    }
}

/// What a generation brought.
#[derive(Debug, Clone)]
pub struct GenerationResult {
    /// Its number, from 1.
    pub number: u32,
    /// The generation whose weights it played with.
    pub parent: u32,
    /// What the games say.
    pub fit: FitReport,
    /// What they say about the plan's claims.
    pub judgements: Vec<Judgement>,
    /// The new weights against the parent's.
    pub gate: MatchSummary,
    /// Whether the new weights go on.
    pub accepted: bool,
    /// How long each step took in this process; nearly nothing for steps that were finished before.
    pub times: StepTimes,
}

/// Wall-clock time of the steps of a generation.
#[derive(Debug, Clone, Copy, Default)]
pub struct StepTimes {
    /// Self-play.
    pub selfplay: Duration,
    /// Fit.
    pub fit: Duration,
    /// Match.
    pub gate: Duration,
}

/// Why a loop ended early.
#[derive(Debug, thiserror::Error)]
pub enum LoopError {
    /// Self-play ended early.
    #[error(transparent)]
    Selfplay(#[from] SelfplayError),
    /// The games could not be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The match ended early.
    #[error(transparent)]
    Match(#[from] MatchError),
    /// There are no openings for the match.
    #[error(transparent)]
    Openings(#[from] OpeningError),
    /// The disk refuses.
    #[error(transparent)]
    File(#[from] FileError),
    /// Weights in the run are not of this game.
    #[error("{}: {source}", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: WeightsError,
    },
}

impl LoopError {
    /// Whether somebody asked for the end.
    pub const fn is_stop(&self) -> bool {
        matches!(self, Self::Selfplay(SelfplayError::Stopped) | Self::Match(MatchError::Stopped))
    }
}

/// What is kept of a gate match beside its games.
#[derive(Serialize)]
struct GateVerdict<'a> {
    candidate: u32,
    parent: u32,
    accepted: bool,
    rule: &'a str,
    result: String,
}

/// When a candidate goes on, where no test decides.
const GATE_BY_SCORE: &str = "the candidate goes on if it scores more than half of the points";
/// When a candidate goes on, where a test decides.
const GATE_BY_TEST: &str = "the candidate goes on if the test accepts H1";

/// A gate match that is over.
struct Gate {
    summary: MatchSummary,
    accepted: bool,
    rule: &'static str,
}

impl Gate {
    fn of(standing: &Standing) -> Self {
        let summary = standing.meeting(0).tally.summary();
        let scores_more = match summary.elo {
            Some(Elo::Above) => true,
            Some(Elo::Finite(elo)) => elo > 0.0,
            Some(Elo::Below) | None => false,
        };
        let (accepted, rule) = match standing.test() {
            Some((_, _, decision)) => (decision == Decision::AcceptH1, GATE_BY_TEST),
            None => (scores_more, GATE_BY_SCORE),
        };
        Self { summary, accepted, rule }
    }
}

impl TrainingLoop<'_> {
    /// Runs all generations.
    ///
    /// # Errors
    /// A step failed or was stopped; what is finished stays in the run.
    pub fn run(&self) -> Result<Vec<GenerationResult>, LoopError> {
        let start = self.run.weights(START);
        if !start.exists() {
            write_atomically(&start, Weights::a_priori(self.variant).to_toml(self.variant).as_bytes())?;
        }
        let mut parent = START;
        let mut results = Vec::new();
        for number in 1..=self.plan.generations {
            let result = self.generation(number, parent)?;
            if result.accepted {
                parent = number;
            }
            results.push(result);
        }
        Ok(results)
    }

    fn generation(&self, number: u32, parent: u32) -> Result<GenerationResult, LoopError> {
        let weights = self.read_weights(parent)?;
        let began = Instant::now();
        self.selfplay(number, &weights)?;
        let selfplay = began.elapsed();
        let games = self.run.selfplay(number);
        let fit = fit_run(&self.fit_request(&games, &weights), &|_| ())?;
        let fitted = began.elapsed() - selfplay;
        let gate = self.gate(number, parent, [&fit.weights, &weights])?;
        self.keep(number, parent, &fit.weights, &gate)?;
        let judgements = self.plan.claims.iter().map(|claim| judge(&fit.values_reference, claim)).collect();
        let times = StepTimes { selfplay, fit: fitted, gate: began.elapsed() - selfplay - fitted };
        let Gate { summary, accepted, .. } = gate;
        Ok(GenerationResult { number, parent, fit, judgements, gate: summary, accepted, times })
    }

    fn read_weights(&self, generation: u32) -> Result<Weights, LoopError> {
        let path = self.run.weights(generation);
        let text = std::fs::read_to_string(&path).map_err(FileError::at("read", &path))?;
        Weights::read(self.variant, &text).map_err(|source| LoopError::Weights { path, source })
    }

    fn selfplay(&self, number: u32, weights: &Weights) -> Result<(), LoopError> {
        let settings = &self.plan.selfplay;
        let origin = Origin {
            variant: self.variant.name().into(),
            rules_hash: self.variant.rules_hash().into(),
            engine: env!("CARGO_PKG_VERSION").into(),
            run_seed: self.plan.seed,
            weights: text_digest(&weights.to_toml(self.variant)),
            base_game: u64::from(number - 1) * settings.even_games(),
        };
        let evaluator = Tapered::new(self.variant, weights);
        let title = format!("generation {number}: self-play, {}", self.variant.name());
        let progress = Progress::new(&title, "games", settings.even_games());
        let endgames = self.endgames.selfplay.as_deref();
        let generation =
            Generation { variant: self.variant, settings, evaluator: &evaluator, endgames, origin: &origin };
        let finished = self.run.finished_shards(number)?;
        let ended = generation.play(&self.run.selfplay(number), &finished, self.stop, &progress);
        progress.finish();
        ended?;
        let (games, positions) = progress.counts();
        let seconds = progress.elapsed().as_secs_f64();
        if games == 0 {
            return Ok(());
        }
        self.note("selfplay", number, json!({"games": games, "positions": positions, "seconds": seconds}))
    }

    fn fit_request<'a>(&'a self, games: &'a Path, weights: &'a Weights) -> FitRequest<'a> {
        FitRequest { data: games, variant: self.variant, start: Some(weights), settings: self.plan.fit }
    }

    fn gate(&self, number: u32, parent: u32, players: [&Weights; 2]) -> Result<Gate, LoopError> {
        let settings = &self.plan.gate;
        let contestants = [(number, players[0]), (parent, players[1])].map(|(number, weights)| Contestant {
            name: format!("{number:03}"),
            allowance: Allowance::nodes(settings.nodes),
            entrant: Entrant::Own(OwnEngine {
                evaluator: Arc::new(Tapered::new(self.variant, weights)),
                weights: text_digest(&weights.to_toml(self.variant)),
                params: Params::default(),
                table_mebibytes: settings.table_mebibytes,
            }),
        });
        let seed = gate_seed(self.plan.seed, number);
        let gate = Match {
            variant: self.variant,
            contestants: &contestants,
            players: introduced(self.variant, &contestants)?,
            schedule: Schedule::new(Format::RoundRobin, contestants.len(), settings.pairs),
            openings: OpeningBook::open(self.variant, &OpeningSource::Random(settings.openings.clone()), seed)?,
            terms: Terms {
                adjudication: settings.adjudication.clone(),
                endgames: self.endgames.gate.clone(),
                time_margin: Duration::ZERO,
                sprt: settings.sprt.map(Sprt::new).transpose().map_err(MatchError::from)?,
                breakdowns: 0,
            },
            seed,
        };
        let title = format!("generation {number}: match of new against old weights");
        let progress = Progress::new(&title, "games", 2 * settings.pairs);
        let mut heard = progress.of_totals();
        let mut watch = |standing: &Standing| heard(standing.games(), standing.plies());
        let played = gate.play(&self.run.gate(number, parent).journal, self.stop, &mut watch);
        progress.finish();
        Ok(Gate::of(&played?.standing))
    }

    fn keep(&self, number: u32, parent: u32, weights: &Weights, gate: &Gate) -> Result<(), LoopError> {
        let &Gate { ref summary, accepted, rule } = gate;
        let path = if accepted { self.run.weights(number) } else { self.run.rejected(number) };
        write_atomically(&path, weights.to_toml(self.variant).as_bytes())?;
        let result = summary.to_string();
        let verdict = GateVerdict { candidate: number, parent, accepted, rule, result: result.clone() };
        let text = toml::to_string(&verdict).expect("strings and numbers serialise");
        let path = self.run.gate(number, parent).verdict;
        if path.exists() {
            return Ok(());
        }
        write_atomically(&path, text.as_bytes())?;
        self.note("gate", number, json!({"parent": parent, "accepted": accepted, "result": result}))
    }

    fn note(&self, event: &str, generation: u32, facts: serde_json::Value) -> Result<(), LoopError> {
        Ok(self.run.append_event(&json!({"event": event, "generation": generation, "facts": facts}))?)
    }
}

/// The openings of a gate are none of the self-play's, nor of another generation's gate.
fn gate_seed(seed: u64, generation: u32) -> u64 {
    checksum::number(&[format!("gate {seed} {generation}").as_bytes()])
}
