//! The same training without burn: the kernels called one after the other. The yardstick for what burn costs, and a second
//! opinion on what it calculates.

use super::batch::Batch;
use super::kernels::LANES;
use super::kernels::adam::{Factors, Numbers, step};
use super::kernels::error::{ErrorSum, slopes};
use super::kernels::network::{Passed, Sizes, Weights, gradients, outputs_and_roots};
use super::optimiser::AdamSettings;
use fairyforge_engine::evaluate::network::Parameters;

/// A network in training, of plain vectors. Its rows share nothing.
#[derive(Clone, Debug)]
pub struct HandLearner {
    sizes: Sizes,
    adam: AdamSettings,
    /// Transformer (in blocks), bias, output, output bias.
    parts: [Part; 4],
    roots: Vec<f32>,
    time: i32,
}

#[derive(Clone, Debug)]
struct Part {
    values: Vec<f32>,
    means: Vec<f32>,
    squares: Vec<f32>,
}

impl HandLearner {
    /// Begins with a network's numbers.
    #[must_use]
    pub fn new(sizes: Sizes, numbers: &Parameters, adam: AdamSettings) -> Self {
        let Parameters { transformer, bias, output, output_bias } = numbers;
        let row = |block: usize, input: usize| &transformer[input * sizes.width() + block * LANES..][..LANES];
        let rows = (0..sizes.blocks).flat_map(|block| (0..sizes.inputs).map(move |input| (block, input)));
        let blocked = rows.flat_map(|(block, input)| row(block, input)).copied().collect();
        let part = |values: Vec<f32>| {
            let zeros = vec![0.0; values.len()];
            Part { values, means: zeros.clone(), squares: zeros }
        };
        let parts = [blocked, bias.clone(), output.clone(), output_bias.clone()].map(part);
        Self { sizes, adam, parts, roots: Vec::new(), time: 0 }
    }

    /// Learns from a batch; returns its mean error before that.
    pub fn learn(&mut self, batch: &Batch, rate: f64) -> f64 {
        let sizes = self.sizes;
        self.roots.resize(sizes.roots(batch.len()), 0.0);
        let [transformer, bias, output, output_bias] = self.parts.each_ref().map(|part| part.values.as_slice());
        let weights = Weights { sizes, transformer, bias, output, output_bias };
        let outputs = outputs_and_roots(&weights, batch, &mut self.roots);
        let error = ErrorSum::of(&outputs, batch).mean();
        let passed = Passed { sizes, output, roots: &self.roots };
        let found = gradients(&passed, batch, &slopes(&outputs, batch, 1.0));
        self.time += 1;
        let AdamSettings { beta_1, beta_2, epsilon, decay, bound } = self.adam;
        let factors = Factors { beta_1, beta_2, epsilon, rate, decay, bound, time: self.time };
        let gradients = [found.transformer, found.bias, found.output, found.output_bias];
        for (Part { values, means, squares }, gradients) in self.parts.iter_mut().zip(&gradients) {
            step(&factors, Numbers { values, gradients, means, squares });
        }
        error
    }

    /// Its output biases, to compare.
    #[must_use]
    pub fn output_bias(&self) -> &[f32] {
        &self.parts[3].values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::device::Device;
    use crate::train::model::{Layout, Model};
    use crate::train::run::Learner;
    use crate::train::synthetic::batch;
    use std::sync::Arc;

    #[test]
    fn learns_as_burn_does() {
        let sizes = Sizes { inputs: 100, blocks: 2, buckets: 2 };
        let layout = Layout { sizes, shared: Vec::new(), most_active: 40 };
        let (model, adam) = (Model::new(&layout, 1), AdamSettings::default());
        let mut hand = HandLearner::new(sizes, &model.parameters(&layout), adam);
        let mut learner = Learner::new(model, adam, &Device::cpu());
        for seed in 0..6 {
            let batch = Arc::new(batch(sizes, 300, seed));
            let by_hand = hand.learn(&batch, 0.01);
            let (next, by_burn) = learner.learnt(&layout, &batch, 0.01);
            learner = next;
            assert!((by_hand - by_burn).abs() < 1e-6, "{seed}: {by_hand} {by_burn}");
        }
        // Both are the same kernels in the same order.
        assert_eq!(hand.output_bias(), learner.parameters(&layout).output_bias);
    }
}
