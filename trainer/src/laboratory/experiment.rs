//! An experiment, from the first round to the last rung of the ladder, in one run folder.
//!
//! It is made of *stages*: games with one set of weights at one strength, each a folder of shards under `selfplay/` with its weights beside.
//! First the rounds of self-consistency, then the reference, then the ladder. What comes next depends on the games alone, so a
//! run that was cut off finds its way again, and nothing but games is kept.

use super::ablation::{Ablation, AblationRequest};
use super::assume::{Assumed, Assumptions, adopt, agreement, compare};
use super::budget::PILOT_GAMES;
use super::ladder::{Drift, Rung, drifts};
use super::methods::ByMethod;
use super::plan::{Plan, SHARD_GAMES};
use crate::checksum::{self, text_digest};
use crate::fit::dataset::{Dataset, DatasetError, Selection};
use crate::fit::first_move::{GameLength, game_length};
use crate::fit::sequential::SequentialError;
use crate::fit::values::{Choice, PieceValues, ValueOutcome};
use crate::fit::{NORMAL_97_5, joint_critical};
use crate::named_judge::NamedJudge;
use crate::progress::Progress;
use crate::record::Origin;
use crate::run_dir::{FileError, RunDir, write_once};
use crate::selfplay::workers::{Generation, SelfplayError, SelfplaySettings};
use crate::share::{Share, Shared};
use fairyforge_engine::endgame::Tables;
use fairyforge_engine::evaluate::{Judge, Weights};
use fairyforge_engine::variant::Variant;
use serde::Serialize;
use serde_json::json;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The error that all looks together may make, two-sided: 95 % intervals.
pub const ALPHA: f64 = 0.05;
/// Quiet positions a game for the observational methods: neighbours repeat each other.
const POSITIONS_PER_GAME: usize = 8;
/// Quiet positions a game that units are taken off in, to ask a network: each costs two dozen evaluations.
const ABLATED_PER_GAME: usize = 4;

/// An experiment and what it works with.
pub struct Experiment<'a> {
    /// What is to be done.
    pub plan: &'a Plan,
    /// The game.
    pub variant: &'a Arc<Variant>,
    /// Where it is done.
    pub run: &'a RunDir,
    /// The weights of the first stage.
    pub start: &'a Weights,
    /// Tables that end games, if any do.
    pub endgames: Option<&'a Tables>,
    /// A network that is asked what units are worth, beside the games' results.
    pub network: Option<&'a NamedJudge>,
    /// Set to end it early.
    pub stop: &'a AtomicBool,
    /// What ends the reference's games before the last.
    pub goal: &'a dyn Goal,
    /// Which games of a stage this process plays.
    pub share: Share,
}

/// What games are played for.
pub trait Goal: Sync {
    /// Whether it is reached with what a look sees: the values, and the games themselves.
    fn is_reached(&self, look: &Look, dataset: &Dataset) -> bool;
}

/// One round of self-consistency.
#[derive(Clone, Debug, Serialize)]
pub struct Round {
    /// Its number, from 1; also that of its folder.
    pub number: u32,
    /// Games.
    pub games: usize,
    /// Assumed and measured, unit by unit; the intervals hold for all units together.
    pub units: Vec<Assumed>,
    /// Whether they agree for every unit of the array; `None` if none disagrees and the games are too few to tell of all.
    pub agreed: Option<bool>,
}

/// One look at the reference's games.
#[derive(Clone, Debug, Serialize)]
pub struct Look {
    /// Its number, from 1.
    pub number: u32,
    /// Games so far.
    pub games: u64,
    /// Half-width of its intervals in standard errors.
    pub critical: f64,
    /// The values, with intervals that hold for all looks together.
    pub values: PieceValues,
}

/// All that an experiment found out.
#[derive(Clone, Debug, Serialize)]
pub struct Findings {
    /// The rounds.
    pub rounds: Vec<Round>,
    /// The looks at the reference; games ended at the last.
    pub looks: Vec<Look>,
    /// Number of the reference's folder.
    pub reference: u32,
    /// Whether the goal was reached, which ends the games.
    pub reached: bool,
    /// The reference's games by every method.
    pub methods: ByMethod,
    /// What a network says about positions of these games, if there is one.
    pub network: Option<NetworkValues>,
    /// What the weights of the reference assume, beside what its games measured.
    pub assumed: Vec<Assumed>,
    /// The strengths, weakest first, the reference among them; empty without a ladder.
    pub ladder: Vec<Rung>,
    /// How values change with strength.
    pub drifts: Vec<Drift>,
    /// The weights of the reference.
    #[serde(skip)]
    pub weights: Weights,
}

/// What a network holds units to be worth.
#[derive(Clone, Debug, Serialize)]
pub struct NetworkValues {
    /// Digest of its file.
    pub digest: String,
    /// Its values when single units are taken off.
    pub ablation: Ablation,
}

/// Why an experiment ended early.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// The games ended early.
    #[error(transparent)]
    Selfplay(#[from] SelfplayError),
    /// The games cannot be read back.
    #[error(transparent)]
    Data(#[from] DatasetError),
    /// The looks make no sense.
    #[error(transparent)]
    Looks(#[from] SequentialError),
    /// A stage's weights are not those that its games were played with.
    #[error(
        "{}: expected the weights that the games before it led to, got others; if nothing but this file was changed, remove it",
        path.display()
    )]
    OtherWeights {
        /// Which file.
        path: PathBuf,
    },
    /// A stage's weights cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    ReadWeights {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The disk refuses.
    #[error(transparent)]
    File(#[from] FileError),
}

impl ExperimentError {
    /// Whether somebody asked for the end.
    #[must_use]
    pub const fn is_stop(&self) -> bool {
        matches!(self, Self::Selfplay(SelfplayError::Stopped))
    }

    /// What several processes have to play, if that is all.
    #[must_use]
    pub const fn shared(&self) -> Option<&Shared> {
        match self {
            Self::Selfplay(SelfplayError::Shared(shared)) => Some(shared),
            _ => None,
        }
    }
}

/// Games with one set of weights at one strength.
struct Stage<'a> {
    /// Number of its folder, from 1.
    number: u32,
    title: String,
    nodes: u64,
    weights: &'a Weights,
}

/// Where the rounds end.
struct Settled {
    rounds: Vec<Round>,
    weights: Weights,
}

/// What the reference's games brought.
struct Reference {
    looks: Vec<Look>,
    reached: bool,
    dataset: Dataset,
}

impl Experiment<'_> {
    /// Plays what is not played yet and measures. The findings depend on plan and version alone, not on threads or on
    /// earlier attempts that were cut off.
    ///
    /// # Errors
    /// See [`ExperimentError`]; finished shards are safe.
    pub fn run(&self) -> Result<Findings, ExperimentError> {
        let Settled { rounds, weights } = self.rounds()?;
        let number = rounds.len() as u32 + 1;
        let stage = Stage { number, title: "reference".to_owned(), nodes: self.plan.nodes, weights: &weights };
        let Reference { looks, reached, dataset } = self.reference(&stage)?;
        let critical = looks.last().map_or(NORMAL_97_5, |look| look.critical);
        let methods = ByMethod::of(&dataset, self.variant, critical);
        let assumptions = Assumptions::of(&weights, self.variant, &dataset);
        let assumed = compare(&assumptions, self.variant, &methods.by_lot);
        let network = self.network_values(number, looks.last().map_or(0, |look| look.games))?;
        let ladder = self.ladder(&stage, &methods.by_lot)?;
        let drifts = drifts(&ladder);
        Ok(Findings { rounds, looks, reference: number, reached, methods, network, assumed, ladder, drifts, weights })
    }

    /// How long a game takes here: plays games of the first stage that are not there yet.
    ///
    /// # Errors
    /// See [`ExperimentError`].
    pub fn pace(&self) -> Result<Duration, ExperimentError> {
        let stage = Stage { number: 1, title: "pilot".to_owned(), nodes: self.plan.nodes, weights: self.start };
        let before = self.run.finished_shards(stage.number)?.len() as u64 * SHARD_GAMES;
        let began = Instant::now();
        self.play(&stage, before + PILOT_GAMES)?;
        Ok(began.elapsed() / PILOT_GAMES as u32)
    }

    /// Plays games that start level, instead of all else, and returns how long they last: what another game is compared with.
    ///
    /// # Errors
    /// See [`ExperimentError`].
    pub fn length_of_games(&self, games: u64) -> Result<Option<GameLength>, ExperimentError> {
        let title = "games that start level".to_owned();
        let stage = Stage { number: 1, title, nodes: self.plan.nodes, weights: self.start };
        self.play(&stage, games)?;
        Ok(game_length(&self.dataset(&stage, games)?, self.variant, NORMAL_97_5))
    }

    fn rounds(&self) -> Result<Settled, ExperimentError> {
        let mut settled = Settled { rounds: Vec::new(), weights: self.start.clone() };
        for number in 1..=self.plan.rounds.most {
            let title = format!("round {number}");
            let stage = Stage { number, title, nodes: self.plan.nodes, weights: &settled.weights };
            self.play(&stage, self.plan.rounds.games)?;
            let dataset = self.dataset(&stage, self.plan.rounds.games)?;
            let assumptions = Assumptions::of(stage.weights, self.variant, &dataset);
            let round = self.round(number, &assumptions, &dataset);
            let agreed = round.agreed;
            let next = adopt(&settled.weights, self.variant, &assumptions, &round.units);
            settled.rounds.push(round);
            // Another round with the same weights would tell no more than the reference does.
            if agreed != Some(false) {
                break;
            }
            settled.weights = next;
        }
        Ok(settled)
    }

    /// The intervals hold for all units together, or one of a dozen would disagree by chance in every other round.
    fn round(&self, number: u32, assumptions: &Assumptions, dataset: &Dataset) -> Round {
        let critical = joint_critical(ALPHA, self.variant.units().len().saturating_sub(2).max(1));
        let values = PieceValues::measure_at(dataset, self.variant, Choice::Lot, critical);
        let units = compare(assumptions, self.variant, &values);
        let agreed = agreement(&units, &values);
        Round { number, games: dataset.games.len(), units, agreed }
    }

    fn reference(&self, stage: &Stage<'_>) -> Result<Reference, ExperimentError> {
        let plan = &self.plan.reference;
        let mut looks: Vec<Look> = Vec::new();
        for (number, &critical) in (1..).zip(&plan.critical_values(ALPHA)?) {
            let games = plan.games_at(number);
            self.play(stage, games)?;
            let dataset = self.dataset(stage, games)?;
            let values = PieceValues::measure_at(&dataset, self.variant, Choice::Lot, critical);
            looks.push(Look { number, games, critical, values });
            let reached = looks.last().is_some_and(|look| self.goal.is_reached(look, &dataset));
            if reached || number == plan.looks {
                return Ok(Reference { looks, reached, dataset });
            }
        }
        // A plan has one look at least.
        Err(SequentialError::NoLooks.into())
    }

    fn network_values(&self, reference: u32, games: u64) -> Result<Option<NetworkValues>, ExperimentError> {
        let Some(network) = self.network else { return Ok(None) };
        let request = AblationRequest {
            data: &self.run.selfplay(reference),
            variant: self.variant,
            judge: &network.judge,
            positions_per_game: ABLATED_PER_GAME,
            seed: self.plan.seed,
            games: whole_shards(games),
        };
        Ok(Some(NetworkValues { digest: network.digest.clone(), ablation: Ablation::of(&request)? }))
    }

    fn ladder(&self, reference: &Stage<'_>, values: &PieceValues) -> Result<Vec<Rung>, ExperimentError> {
        let Some(ladder) = &self.plan.ladder else { return Ok(Vec::new()) };
        let mut rungs = vec![Rung { nodes: self.plan.nodes, values: values.clone() }];
        for (number, &nodes) in (reference.number + 1..).zip(&ladder.nodes) {
            let stage = Stage { number, title: format!("ladder, {nodes} nodes"), nodes, weights: reference.weights };
            self.play(&stage, ladder.games)?;
            rungs.push(Rung::of(nodes, &self.dataset(&stage, ladder.games)?, self.variant));
        }
        rungs.sort_by_key(|rung| rung.nodes);
        Ok(rungs)
    }

    /// Plays the first `games` of a stage, as far as they are not there yet.
    fn play(&self, stage: &Stage<'_>, games: u64) -> Result<(), ExperimentError> {
        let weights = stage.weights.to_toml(self.variant);
        self.keep_weights(&self.run.weights(stage.number), &weights)?;
        let origin = Origin {
            variant: self.variant.name().into(),
            rules_hash: self.variant.rules_hash().into(),
            engine: env!("CARGO_PKG_VERSION").into(),
            run_seed: stage_seed(self.plan.seed, stage.number),
            weights: text_digest(&weights),
            base_game: 0,
        };
        let settings = SelfplaySettings {
            games: whole_shards(games),
            nodes: stage.nodes,
            table_mebibytes: self.plan.table_mebibytes,
            shard_games: SHARD_GAMES,
            openings: self.plan.design.clone(),
            adjudication: self.plan.adjudication.clone(),
        };
        let judge = Judge::of_weights(self.variant, stage.weights);
        let title = format!("{}, {}", stage.title, self.variant.name());
        let generation = Generation {
            variant: self.variant,
            settings: &settings,
            judge: &judge,
            endgames: self.endgames,
            origin: &origin,
            share: self.share,
        };
        self.play_generation(stage, &generation, &Progress::new(&title, "games", settings.games))
    }

    /// What an earlier attempt kept must be what the stage is played with.
    fn keep_weights(&self, path: &Path, weights: &str) -> Result<(), ExperimentError> {
        match std::fs::read_to_string(path) {
            Ok(kept) if kept == weights => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(write_once(path, weights.as_bytes())?),
            Ok(_) => Err(ExperimentError::OtherWeights { path: path.to_owned() }),
            Err(source) => Err(ExperimentError::ReadWeights { path: path.to_owned(), source }),
        }
    }

    fn play_generation(
        &self,
        stage: &Stage<'_>,
        generation: &Generation<'_>,
        progress: &Progress,
    ) -> Result<(), ExperimentError> {
        let finished = self.run.finished_shards(stage.number)?;
        let ended = generation.play(&self.run.selfplay(stage.number), &finished, self.stop, progress);
        progress.finish();
        ended?;
        let (games, positions) = progress.counts();
        if games == 0 {
            return Ok(());
        }
        let seconds = progress.elapsed().as_secs_f64();
        let facts = json!({"games": games, "positions": positions, "seconds": seconds});
        let event = json!({"event": stage.title, "generation": stage.number, "facts": facts});
        Ok(self.run.append_event(&event)?)
    }

    /// The first `games` of a stage; a later look of an earlier attempt may have left more.
    fn dataset(&self, stage: &Stage<'_>, games: u64) -> Result<Dataset, ExperimentError> {
        let selection = Selection { positions_per_game: POSITIONS_PER_GAME, seed: self.plan.seed };
        let mut dataset = Dataset::read(&self.run.selfplay(stage.number), self.variant, &selection, &|_| ())?;
        dataset.games.retain(|game| game.game < whole_shards(games));
        dataset.games_without_quiet = dataset.games.iter().filter(|game| game.earliest.is_none()).count() as u64;
        Ok(dataset)
    }
}

fn whole_shards(games: u64) -> u64 {
    games.next_multiple_of(SHARD_GAMES)
}

/// No two stages of an experiment share an opening.
fn stage_seed(seed: u64, stage: u32) -> u64 {
    checksum::number(&[format!("stage {seed} {stage}").as_bytes()])
}

/// Games end when every interval that matters is narrow enough, in pawns to either side.
pub struct NarrowEnough(pub Plan);

impl Goal for NarrowEnough {
    fn is_reached(&self, look: &Look, _: &Dataset) -> bool {
        let Some(half_width) = self.0.reference.half_width else { return false };
        let is_narrow = |value: &ValueOutcome| value.half_width().is_some_and(|width| width <= half_width);
        let mut rows = look.values.rows.iter().filter(|row| row.in_array > 0 && self.0.matters(&row.unit));
        rows.all(|row| is_narrow(&row.value))
    }
}
