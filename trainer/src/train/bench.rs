//! How fast training is: through burn on a device, and by hand on the CPU, in turns on the same made-up positions.

use super::batch::Batch;
use super::device::Device;
use super::hand::HandLearner;
use super::kernels::network::Sizes;
use super::model::{Layout, Model};
use super::optimiser::AdamSettings;
use super::run::Learner;
use super::synthetic::batch;
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Different batches that are learnt from in turn.
const BATCHES: u64 = 4;
/// Learning rate; of no interest.
const RATE: f64 = 1e-3;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BenchSettings {
    /// Inputs a perspective.
    pub inputs: usize,
    /// Blocks of 64 neurons a perspective.
    pub blocks: usize,
    /// Output layers.
    pub buckets: usize,
    /// Positions of a batch.
    pub batch: usize,
    /// Turns.
    pub rounds: usize,
    /// Batches a turn.
    pub batches: usize,
}

/// Positions a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Speed {
    /// Of the best turn.
    pub best: f64,
    /// Of the turn in the middle.
    pub median: f64,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BenchResult {
    /// Through burn.
    pub burn: Speed,
    /// By hand.
    pub hand: Speed,
}

impl BenchResult {
    /// What burn reaches of the speed by hand, in the turns in the middle.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.burn.median / self.hand.median
    }
}

/// Measures. Runs on the threads of the pool that it is called in.
#[must_use]
pub fn measure(settings: &BenchSettings, device: &Device) -> BenchResult {
    let &BenchSettings { inputs, blocks, buckets, batch: positions, rounds, batches } = settings;
    let sizes = Sizes { inputs, blocks, buckets };
    let layout = Layout { sizes, shared: Vec::new(), most_active: 40 };
    let data: Vec<Arc<Batch>> = (0..BATCHES).map(|seed| Arc::new(batch(sizes, positions, seed))).collect();
    let model = Model::new(&layout, 1);
    let mut hand = HandLearner::new(sizes, &model.parameters(&layout), AdamSettings::default());
    let mut learner = Learner::new(model, AdamSettings::default(), device);
    let (mut by_burn, mut by_hand) = (Vec::new(), Vec::new());
    // The first turn fetches memory and is not counted.
    for round in 0..=rounds {
        let turn = || data.iter().cycle().skip(round).take(batches);
        let began = Instant::now();
        for batch in turn() {
            learner = learner.learnt(&layout, batch, RATE).0;
        }
        let burn = began.elapsed();
        let began = Instant::now();
        for batch in turn() {
            hand.learn(batch, RATE);
        }
        if round > 0 {
            by_burn.push(burn);
            by_hand.push(began.elapsed());
        }
    }
    let speed = |times| speed(times, positions * batches);
    BenchResult { burn: speed(by_burn), hand: speed(by_hand) }
}

fn speed(mut times: Vec<Duration>, positions: usize) -> Speed {
    times.sort_unstable();
    let per_second = |time: Duration| positions as f64 / time.as_secs_f64().max(f64::MIN_POSITIVE);
    let at = |index: usize| times.get(index).copied().map_or(0.0, per_second);
    Speed { best: at(0), median: at(times.len() / 2) }
}
