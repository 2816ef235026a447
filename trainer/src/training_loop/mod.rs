//! The loop: self-play with the best judge so far, learning from the games, a match of the new judge against the old one,
//! and the better of the two goes on. Generation after generation, in one run folder. A judge is weights, learnt by a fit of
//! the generation's games, or a network, trained on the games of the last generations (`learning`).
//!
//! Every step leaves its result in the folder and finds there what an earlier attempt finished, so starting the same
//! loop again continues it: shards that exist are not played again, pairs in a journal neither, a fit is a function of the
//! games, and training goes on from its last checkpoint.

mod learning;
mod sharing;

pub use learning::Learnt;

use crate::arena::openings::{OpeningBook, OpeningError, OpeningSource};
use crate::arena::schedule::{Format, Schedule};
use crate::arena::sprt::{Decision, Sprt};
use crate::arena::standing::Standing;
use crate::arena::statistics::{Elo, MatchSummary};
use crate::arena::{Contestant, Entrant, Match, MatchError, OwnEngine, Terms, introduced};
use crate::checksum;
use crate::fit::FitError;
use crate::fit::claims::{Judgement, judge};
use crate::named_judge::{self, JudgeContent, NamedJudge, NamedJudgeError};
use crate::named_weights::{self, NamedWeights};
use crate::plan::Plan;
use crate::play::Allowance;
use crate::play::endgames::EndgamesError;
use crate::progress::Progress;
use crate::record::Origin;
use crate::run_dir::{FileError, RunDir, RunDirError, RunPaths, write_atomically};
use crate::selfplay::workers::{Generation, SelfplayError};
use crate::share::{Share, Shared};
use crate::train::making::{MakingError, load_base};
use crate::train::plan::NO_BASE;
use fairyforge_engine::endgame::Tables;
use fairyforge_engine::evaluate::WeightsError;
use fairyforge_engine::evaluate::network::{ArchitectureError, Features, NetworkFile, NetworkFileError};
use fairyforge_engine::search::Params;
use fairyforge_engine::variant::Variant;
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// What the first generation plays with.
const START: u32 = 0;

/// Everything a loop works with.
pub struct TrainingLoop<'a> {
    /// What is to be done.
    pub plan: &'a Plan,
    /// The game.
    pub variant: &'a Arc<Variant>,
    /// Tables that end games.
    pub endgames: &'a LoopTables,
    /// What its first generation plays with, and what its networks stand on.
    pub begins_with: &'a Beginning,
    /// Where it is done.
    pub run: &'a RunDir,
    /// Set to end it early.
    pub stop: &'a AtomicBool,
    /// Version of the program.
    pub program: &'a str,
    /// The command that does it again.
    pub command: &'a str,
    /// Which games of a step this process plays.
    pub share: Share,
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

/// What a loop begins with.
pub struct Beginning {
    /// What the first generation plays with. None where a run has its own already: that counts, whatever becomes of the file.
    start: Option<NamedJudge>,
    /// The weights below its networks.
    base: Option<NamedWeights>,
}

impl Beginning {
    /// Loads everything that a plan begins with, and sees whether it fits: before anything is played. Files are found by `find`.
    ///
    /// # Errors
    /// Something cannot be loaded, or does not fit the game or the plan.
    pub fn load(
        plan: &Plan,
        variant: &Arc<Variant>,
        run: &RunPaths,
        find: impl Fn(&str) -> String,
    ) -> Result<Self, LoopError> {
        let base = match &plan.train {
            None => None,
            Some(train) => {
                Features::new(variant, train.network.clone())?;
                load_base(variant, train.base.as_deref().map(&find).as_deref())
                    .map_err(|error| Box::new(error.into()))?
            }
        };
        let has_started = run.weights(START).exists() || run.generation_network(START).exists();
        let name = find(plan.start.as_deref().unwrap_or(named_weights::A_PRIORI));
        let load = || named_judge::load(variant, Path::new(&name)).map_err(Box::new);
        let start = (!has_started).then(load).transpose()?;
        match &start {
            Some(NamedJudge { content: JudgeContent::Network(_), .. }) if plan.train.is_none() => {
                Err(LoopError::NoWeights)
            }
            _ => Ok(Self { start, base }),
        }
    }

    /// Digest of the weights below the networks, or the word for none.
    pub fn base_digest(&self) -> &str {
        self.base.as_ref().map_or(NO_BASE, |base| base.digest.as_str())
    }
}

/// What a generation brought.
#[derive(Debug, Clone)]
pub struct GenerationResult {
    /// Its number, from 1.
    pub number: u32,
    /// The generation whose judge it played with.
    pub parent: u32,
    /// What it learnt.
    pub learnt: Learnt,
    /// What they say about the plan's claims.
    pub judgements: Vec<Judgement>,
    /// The new judge against the parent's.
    pub gate: MatchSummary,
    /// Whether the new judge goes on.
    pub accepted: bool,
    /// How long each step took in this process; nearly nothing for steps that were finished before.
    pub times: StepTimes,
}

/// Wall-clock time of the steps of a generation.
#[derive(Debug, Clone, Copy, Default)]
pub struct StepTimes {
    /// Self-play.
    pub selfplay: Duration,
    /// Fit or training.
    pub learning: Duration,
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
    /// Nothing to play with.
    #[error(transparent)]
    Judge(#[from] Box<NamedJudgeError>),
    /// A fit begins with weights.
    #[error(
        "start: expected weights, from which a fit begins, got a network; with a table [train] networks are trained"
    )]
    NoWeights,
    /// The network's shape does not fit the game.
    #[error("train.network: {0}")]
    Architecture(#[from] ArchitectureError),
    /// The network could not be trained.
    #[error(transparent)]
    Training(#[from] MakingError),
    /// The folder of a training run cannot be used.
    #[error(transparent)]
    TrainingRun(#[from] RunDirError),
    /// A network cannot be written.
    #[error("the network cannot be written: {0}")]
    Network(NetworkFileError),
    /// A plan of training cannot be written.
    #[error("cannot write the plan of training as TOML: {0}")]
    Plan(#[from] toml::ser::Error),
    /// No threads.
    #[error("cannot start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// What comes next cannot be shared.
    #[error(transparent)]
    Shared(#[from] Shared),
}

impl LoopError {
    /// Whether somebody asked for the end.
    pub const fn is_stop(&self) -> bool {
        match self {
            Self::Selfplay(SelfplayError::Stopped) | Self::Match(MatchError::Stopped) => true,
            Self::Training(error) => error.is_stop(),
            _ => false,
        }
    }

    /// What several processes have to play, if that is all.
    pub const fn shared(&self) -> Option<&Shared> {
        match self {
            Self::Shared(shared)
            | Self::Selfplay(SelfplayError::Shared(shared))
            | Self::Match(MatchError::Shared(shared)) => Some(shared),
            _ => None,
        }
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
    /// Runs all generations; with a share of the games, as far as that goes.
    ///
    /// # Errors
    /// A step failed or was stopped, or lacks games that are not in this process's share; what is finished stays in the run.
    pub fn run(&self) -> Result<Vec<GenerationResult>, LoopError> {
        if let Some(start) = &self.begins_with.start {
            start.keep(self.run, START)?;
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
        let old = NamedJudge::kept(self.variant, self.run, parent).map_err(Box::new)?;
        let began = Instant::now();
        self.selfplay(number, &old)?;
        let selfplay = began.elapsed();
        let (learnt, new) = self.learn(number, &old)?;
        let learning = began.elapsed() - selfplay;
        self.put_up(number, &new)?;
        let gate = self.gate(number, parent, [&new, &old])?;
        self.keep(number, parent, (&learnt, &new), &gate)?;
        self.take_down(number)?;
        let judgements = match &learnt {
            Learnt::Weights(fit) => self.plan.claims.iter().map(|claim| judge(&fit.values_reference, claim)).collect(),
            Learnt::Network(_) => Vec::new(),
        };
        let times = StepTimes { selfplay, learning, gate: began.elapsed() - selfplay - learning };
        let Gate { summary, accepted, .. } = gate;
        Ok(GenerationResult { number, parent, learnt, judgements, gate: summary, accepted, times })
    }

    fn selfplay(&self, number: u32, judge: &NamedJudge) -> Result<(), LoopError> {
        let settings = &self.plan.selfplay;
        let origin = Origin {
            variant: self.variant.name().into(),
            rules_hash: self.variant.rules_hash().into(),
            engine: env!("CARGO_PKG_VERSION").into(),
            run_seed: self.plan.seed,
            weights: judge.digest.clone(),
            base_game: u64::from(number - 1) * settings.even_games(),
        };
        let title = format!("generation {number}: self-play, {}", self.variant.name());
        let progress = Progress::new(&title, "games", settings.even_games());
        let endgames = self.endgames.selfplay.as_deref();
        let (variant, judge, share) = (self.variant, &judge.judge, self.share);
        let generation = Generation { variant, settings, judge, endgames, origin: &origin, share };
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

    fn gate(&self, number: u32, parent: u32, players: [&NamedJudge; 2]) -> Result<Gate, LoopError> {
        let settings = &self.plan.gate;
        let contestants = [(number, players[0]), (parent, players[1])].map(|(number, named)| Contestant {
            name: format!("{number:03}"),
            allowance: Allowance::nodes(settings.nodes),
            entrant: Entrant::Own(OwnEngine {
                judge: named.judge.clone(),
                weights: named.digest.clone(),
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
            share: self.share,
        };
        let title = format!("generation {number}: match of new against old");
        let progress = Progress::new(&title, "games", 2 * settings.pairs);
        let mut heard = progress.of_totals();
        let mut watch = |standing: &Standing| heard(standing.games(), standing.plies());
        let played = gate.play(&self.run.gate(number, parent).journal, self.stop, &mut watch);
        progress.finish();
        Ok(Gate::of(&played?.standing))
    }

    fn keep(
        &self,
        number: u32,
        parent: u32,
        (learnt, new): (&Learnt, &NamedJudge),
        gate: &Gate,
    ) -> Result<(), LoopError> {
        let &Gate { ref summary, accepted, rule } = gate;
        self.with_card(learnt, new, gate)?.keep_as(self.run, number, accepted)?;
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

    /// A network that goes on has the match that it won on its card.
    fn with_card(&self, learnt: &Learnt, new: &NamedJudge, gate: &Gate) -> Result<NamedJudge, LoopError> {
        let Learnt::Network(made) = learnt else { return Ok(new.clone()) };
        let mut file: NetworkFile = made.file.clone();
        // A card tells the match that was won; what became of the others stands in their gate's verdict.
        file.card.gate = gate.accepted.then(|| gate.summary.to_string());
        let bytes = file.to_bytes().map_err(LoopError::Network)?;
        NamedJudge::of_network(self.variant, bytes).map_err(LoopError::Network)
    }

    fn note(&self, event: &str, generation: u32, facts: serde_json::Value) -> Result<(), LoopError> {
        Ok(self.run.append_event(&json!({"event": event, "generation": generation, "facts": facts}))?)
    }
}

/// The openings of a gate are none of the self-play's, nor of another generation's gate.
fn gate_seed(seed: u64, generation: u32) -> u64 {
    checksum::number(&[format!("gate {seed} {generation}").as_bytes()])
}
