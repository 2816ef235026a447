//! The run itself: batch after batch, now and then a look at the validation games and a checkpoint.
//!
//! A run that was killed goes on from its last checkpoint and ends with the same network, the same losses.

use super::batch::Batch;
use super::checkpoint::{Checkpoint, CheckpointError, Place};
use super::device::{Device, Operations};
use super::feed::{Feed, FeedSettings};
use super::kernels::error::ErrorSum;
use super::losses::{Look, Losses, LossesError};
use super::model::{Layout, Model};
use super::optimiser::AdamSettings;
use super::plan::TrainPlan;
use super::samples::Samples;
use super::source::{Content, DataError, Source, Survey};
use crate::progress::Progress;
use crate::run_dir::{FileError, RunDir};
use burn::module::Module;
use burn::optim::{GradientsParams, ModuleOptimizer};
use fairyforge_engine::evaluate::Weights;
use fairyforge_engine::evaluate::network::Parameters;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Checkpoints that are kept.
const CHECKPOINTS: usize = 3;
/// Positions for which the finished network's outputs are compared with those of its whole numbers.
pub const MOST_COMPARED: usize = 100_000;

/// Why training ended early.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// Games cannot be read, or nothing can be learnt from them.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A state of training cannot be written or read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The losses so far cannot be read or written.
    #[error(transparent)]
    Losses(#[from] LossesError),
    /// The disk refuses.
    #[error(transparent)]
    File(#[from] FileError),
    /// Numbers grew beyond all bounds.
    #[error("batch {batch}: expected a finite error, got {error}; a lower learning rate may help")]
    Diverged {
        /// The batch, counted from 1.
        batch: u64,
        /// The mean error.
        error: f64,
    },
    /// Somebody asked for it.
    #[error("stopped on request")]
    Stopped,
}

/// A run of training.
#[derive(Clone, Copy)]
pub struct Training<'a> {
    /// What is asked for.
    pub plan: &'a TrainPlan,
    /// What the network is made of.
    pub layout: &'a Layout,
    /// The data.
    pub source: &'a Arc<Source>,
    /// What is in them.
    pub survey: &'a Survey,
    /// Batches in all.
    pub batches: u64,
    /// Where the network is calculated.
    pub device: &'a Device,
    /// Where states and losses go.
    pub run: &'a RunDir,
    /// Set when somebody wants an end.
    pub stop: &'a AtomicBool,
    /// Who hears of it.
    pub progress: &'a Progress,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The network.
    pub parameters: Parameters,
    /// How it went.
    pub looks: Vec<Look>,
    /// The data.
    pub content: Content,
    /// The network's outputs for the first positions of the validation games, [`MOST_COMPARED`] at most.
    pub outputs: Vec<f32>,
}

/// What came of it, and how.
#[derive(Clone, Copy, Debug)]
pub struct TrainedBy<'a> {
    /// What was asked for.
    pub plan: &'a TrainPlan,
    /// The weights below the network.
    pub base: Option<&'a Weights>,
    /// What came of it.
    pub trained: &'a Trained,
    /// Version of the program.
    pub program: &'a str,
}

/// A network in training.
pub struct Learner {
    model: Model,
    optimiser: ModuleOptimizer,
    operations: Operations,
}

impl Learner {
    /// A network that knows nothing yet, taken to the device.
    #[must_use]
    pub fn new(model: Model, adam: AdamSettings, device: &Device) -> Self {
        Self { model: model.fork(device.tensors()), optimiser: device.optimiser(adam), operations: device.operations() }
    }

    /// The network in the state of a checkpoint.
    ///
    /// # Errors
    /// The checkpoint is of a network of another shape.
    pub fn restored(self, checkpoint: Checkpoint) -> Result<Self, CheckpointError> {
        let (model, optimiser) = checkpoint.restore(self.model, self.optimiser)?;
        Ok(Self { model, optimiser, operations: self.operations })
    }

    /// Its state as a checkpoint.
    ///
    /// # Errors
    /// Burn cannot write its records.
    pub fn checkpoint(&self, place: Place) -> Result<Checkpoint, CheckpointError> {
        Checkpoint::new(place, &self.model, &self.optimiser)
    }

    /// Learns from a batch; also returns its mean error before that.
    #[must_use]
    pub fn learnt(mut self, layout: &Layout, batch: &Arc<Batch>, rate: f64) -> (Self, f64) {
        let outputs = self.model.outputs(layout, batch, &self.operations);
        let error = self.operations.mean_error(outputs, batch);
        let gradients = GradientsParams::from_grads(error.backward(), &self.model);
        // By value: a clone would force copies of all numbers.
        self.model = self.optimiser.step(rate, self.model, gradients);
        (self, f64::from(error.into_scalar::<f32>()))
    }

    /// The network as it is.
    #[must_use]
    pub fn parameters(&self, layout: &Layout) -> Parameters {
        self.model.parameters(layout)
    }

    /// The mean errors on batches, without learning: against their targets, and against results alone.
    #[must_use]
    pub fn errors(&self, layout: &Layout, batches: &[Arc<Batch>]) -> [f64; 2] {
        let outputs = self.outputs(layout, batches);
        let mut left = outputs.as_slice();
        let mut sums = [ErrorSum::default(); 2];
        for batch in batches {
            let (of_batch, rest) = left.split_at(batch.len());
            let errors = [&batch.targets, &batch.results].map(|wanted| ErrorSum::against(wanted, of_batch, batch));
            sums = [sums[0].and(errors[0]), sums[1].and(errors[1])];
            left = rest;
        }
        sums.map(ErrorSum::mean)
    }

    /// The outputs for batches, position by position.
    #[must_use]
    pub fn outputs(&self, layout: &Layout, batches: &[Arc<Batch>]) -> Vec<f32> {
        let model = self.model.valid();
        let of = |batch: &Arc<Batch>| -> Vec<f32> {
            let outputs = model.outputs(layout, batch, &self.operations).into_data();
            outputs.try_into_vec_as().expect("outputs are single precision")
        };
        batches.iter().flat_map(of).collect()
    }
}

/// Where a run is.
struct State {
    batches: u64,
    learner: Learner,
    feed: Feed,
    losses: Losses,
    /// Sum of errors, and batches, since the last look.
    since: (f64, u64),
}

impl Training<'_> {
    /// Trains to the end, from the last checkpoint if there is one.
    ///
    /// # Errors
    /// Data or states cannot be read or written, the network diverged, or somebody asked to stop.
    pub fn run(&self) -> Result<Trained, TrainError> {
        let Survey { validation, content } = self.survey;
        let validation = self.validation_batches(validation);
        let mut state = self.resume(content)?;
        self.progress.skip(state.batches);
        while state.batches < self.batches {
            if self.stop.load(Ordering::Relaxed) {
                return Err(TrainError::Stopped);
            }
            state = self.after_batch(state)?;
            if self.is_time_to_look(state.batches) {
                self.look(&mut state, &validation)?;
                self.save(&state, content)?;
            }
        }
        let State { learner, losses, .. } = state;
        let parameters = learner.parameters(self.layout);
        let compared = &validation[..validation.len().min(MOST_COMPARED.div_ceil(self.plan.training.batch))];
        let mut outputs = self.source.pool().install(|| learner.outputs(self.layout, compared));
        outputs.truncate(MOST_COMPARED);
        Ok(Trained { parameters, looks: losses.looks().to_vec(), content: content.clone(), outputs })
    }

    fn is_time_to_look(&self, batches: u64) -> bool {
        batches.is_multiple_of(self.plan.training.report_every) || batches == self.batches
    }

    fn resume(&self, content: &Content) -> Result<State, TrainError> {
        let training = &self.plan.training;
        let model = Model::new(self.layout, self.plan.seed);
        let learner = Learner::new(model, self.plan.adam, self.device);
        let last = self.run.checkpoint_batches()?.pop();
        let (place, learner) = match last {
            None => (None, learner),
            Some(batches) => {
                let checkpoint = Checkpoint::read(&self.run.checkpoint(batches))?;
                let place = checkpoint.place.clone();
                if place.data != content.digest {
                    let (expected, got) = (place.data, content.digest.clone());
                    return Err(CheckpointError::OtherData { expected, got }.into());
                }
                (Some(place), learner.restored(checkpoint)?)
            }
        };
        let batches = place.as_ref().map_or(0, |place| place.batches);
        let cursor = place.map(|place| place.cursor).unwrap_or_default();
        let settings = FeedSettings { seed: self.plan.seed, batch: training.batch, window: training.window };
        let feed = Feed::new(Arc::clone(self.source), settings, cursor)?;
        let losses = Losses::resume(&self.run.losses(), batches)?;
        Ok(State { batches, learner, feed, losses, since: (0.0, 0) })
    }

    fn after_batch(&self, mut state: State) -> Result<State, TrainError> {
        let batches = self.batches;
        let rate = self.plan.rate.rate(state.batches, batches);
        let batch = Arc::new(state.feed.next_batch(self.plan.target.blend(state.batches, batches))?);
        let learner = state.learner;
        let (learner, error) = self.source.pool().install(|| learner.learnt(self.layout, &batch, rate));
        if !error.is_finite() {
            return Err(TrainError::Diverged { batch: state.batches + 1, error });
        }
        self.progress.game(batch.len() as u64);
        let since = (state.since.0 + error, state.since.1 + 1);
        Ok(State { batches: state.batches + 1, learner, since, ..state })
    }

    fn look(&self, state: &mut State, validation: &[Arc<Batch>]) -> Result<(), TrainError> {
        let (sum, count) = std::mem::take(&mut state.since);
        let errors = || self.source.pool().install(|| state.learner.errors(self.layout, validation));
        let (validation, results) = (!validation.is_empty()).then(errors).map(Into::into).unzip();
        let look = Look {
            batches: state.batches,
            positions: state.batches * self.plan.training.batch as u64,
            epoch: state.feed.cursor().epoch,
            rate: self.plan.rate.rate(state.batches - 1, self.batches),
            training: sum / count as f64,
            validation,
            results,
        };
        self.progress.tell(&told(&look));
        Ok(state.losses.add(look)?)
    }

    fn save(&self, state: &State, content: &Content) -> Result<(), TrainError> {
        let place = Place { batches: state.batches, cursor: state.feed.cursor(), data: content.digest.clone() };
        state.learner.checkpoint(place)?.write(&self.run.checkpoint(state.batches))?;
        Ok(self.run.thin_checkpoints(CHECKPOINTS)?)
    }

    fn validation_batches(&self, samples: &Samples) -> Vec<Arc<Batch>> {
        let slots = self.source.inputs().slots();
        let all: Vec<u32> = (0..samples.len() as u32).collect();
        let blend = self.plan.target.last_blend();
        let batch = |chosen: &[u32]| Arc::new(self.source.pool().install(|| samples.batch(chosen, slots, blend)));
        all.chunks(self.plan.training.batch).map(batch).collect()
    }
}

fn told(look: &Look) -> String {
    let Look { batches, epoch, rate, training, validation, results, .. } = look;
    let validation = validation.map_or_else(String::new, |error| format!(", validation {error:.6}"))
        + &results.map_or_else(String::new, |error| format!(", results {error:.6}"));
    format!("batch {batches}, epoch {}: loss {training:.6}{validation}, rate {rate:.2e}", epoch + 1)
}
