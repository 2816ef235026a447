//! Adam with burn's state and burn's records. On the CPU it works in place: a step is one pass over the numbers instead of a
//! dozen new tensors. Whoever hands a model over by value, and keeps no clone, has it changed where it lies. On other
//! devices it is those dozen tensors.

use super::kernels::adam::{Factors, Numbers, Rounded, step};
use super::operation::{Stored, by_type, in_order};
use super::plain;
use burn::backend::Flex;
use burn::backend::flex::FlexTensor;
use burn::optim::{AdamState, AdaptiveMomentumState, LearningRate, Optimizer, RecordState, StateSink, StateSource};
use burn::tensor::{DType, Device, Tensor};
use serde::{Deserialize, Serialize};

/// Settings of the optimiser; the learning rate has a schedule of its own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdamSettings {
    /// Share of the running mean of gradients that a step keeps.
    pub beta_1: f64,
    /// Share of the running mean of their squares that a step keeps.
    pub beta_2: f64,
    /// Keeps numbers without gradients from being divided by nothing.
    pub epsilon: f64,
    /// Decay of all numbers, a step and learning rate.
    pub decay: f64,
    /// Greatest absolute value of a number: what quantisation can hold.
    pub bound: f64,
}

impl Default for AdamSettings {
    fn default() -> Self {
        Self { beta_1: 0.9, beta_2: 0.999, epsilon: 1e-8, decay: 0.0, bound: 1.98 }
    }
}

impl AdamSettings {
    fn factors(&self, rate: LearningRate, time: usize) -> Factors {
        let &Self { beta_1, beta_2, epsilon, decay, bound } = self;
        Factors { beta_1, beta_2, epsilon, rate, decay, bound, time: i32::try_from(time).unwrap_or(i32::MAX) }
    }
}

/// What is remembered of a tensor: burn's own state, so all optimisers write and read the same records.
#[derive(Clone)]
pub struct Moments<const D: usize>(AdamState<D>);

impl<const D: usize> Moments<D> {
    fn new(time: usize, means: Tensor<D>, squares: Tensor<D>) -> Self {
        Self(AdamState::new(AdaptiveMomentumState::new(time, means, squares)))
    }

    /// The number of the step that comes next, and the means before it.
    fn before_step(state: Option<Self>, tensor: &Tensor<D>) -> (usize, Tensor<D>, Tensor<D>) {
        match state {
            Some(Self(AdamState { momentum })) => (momentum.time + 1, momentum.moment_1, momentum.moment_2),
            None => (1, tensor.zeros_like(), tensor.zeros_like()),
        }
    }

    fn moved(self, device: &Device) -> Self {
        Self(AdamState::new(self.0.momentum.to_device(device)))
    }
}

impl<const D: usize> RecordState for Moments<D> {
    fn state_flatten(&self, prefix: &str, out: &mut StateSink) {
        self.0.state_flatten(prefix, out);
    }

    /// On the CPU first. Burn asks for its usual device, which may be one that the program was built with and the machine lacks;
    /// the next step takes the state to where its tensor is.
    fn state_unflatten(prefix: &str, source: &mut StateSource, _: &Device) -> Option<Self> {
        AdamState::state_unflatten(prefix, source, &Device::flex()).map(Self)
    }
}

/// The optimiser on burn's CPU backend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InPlaceAdam(pub AdamSettings);

impl Optimizer for InPlaceAdam {
    type State<const D: usize> = Moments<D>;

    fn step<const D: usize>(
        &self,
        rate: LearningRate,
        tensor: Tensor<D>,
        gradient: Tensor<D>,
        state: Option<Moments<D>>,
    ) -> (Tensor<D>, Option<Moments<D>>) {
        let (time, means, squares) = Moments::before_step(state, &tensor);
        let [mut values, mut means, mut squares] = [tensor, means, squares].map(primitive);
        let gradients = primitive(gradient);
        by_type!(gradients, T => step(&self.0.factors(rate, time), Numbers {
            values: T::write(&mut values),
            gradients: T::read(&gradients),
            means: T::write(&mut means),
            squares: T::write(&mut squares),
        }));
        let [values, means, squares] = [values, means, squares].map(Tensor::from_primitive::<Flex>);
        (values, Some(Moments::new(time, means, squares)))
    }

    fn to_device<const D: usize>(state: Moments<D>, device: &Device) -> Moments<D> {
        state.moved(device)
    }
}

/// The same by burn's own operations, on any device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlainAdam(pub AdamSettings);

impl Optimizer for PlainAdam {
    type State<const D: usize> = Moments<D>;

    fn step<const D: usize>(
        &self,
        rate: LearningRate,
        tensor: Tensor<D>,
        gradient: Tensor<D>,
        state: Option<Moments<D>>,
    ) -> (Tensor<D>, Option<Moments<D>>) {
        let (time, means, squares) = Moments::before_step(state, &tensor);
        let factors = Rounded::of(&self.0.factors(rate, time));
        let numbers = plain::Numbers { values: tensor, means, squares };
        let plain::Numbers { values, means, squares } = plain::adam_step(&factors, numbers, gradient);
        (values, Some(Moments::new(time, means, squares)))
    }

    fn to_device<const D: usize>(state: Moments<D>, device: &Device) -> Moments<D> {
        state.moved(device)
    }
}

fn primitive<const D: usize>(tensor: Tensor<D>) -> FlexTensor {
    in_order(tensor.try_into_primitive::<Flex>().expect("only devices with burn's CPU backend have this optimiser"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::device::Operations;
    use crate::train::kernels::network::Sizes;
    use crate::train::model::{Layout, Model};
    use crate::train::operation::mean_error;
    use crate::train::synthetic::batch;
    use burn::optim::{AdamConfig, GradientsParams, ModuleOptimizer};
    use std::sync::Arc;

    const RATE: f64 = 0.01;

    fn layout() -> Layout {
        Layout { sizes: Sizes { inputs: 80, blocks: 1, buckets: 2 }, shared: Vec::new(), most_active: 40 }
    }

    fn trained(optimiser: &mut ModuleOptimizer, mut model: Model, steps: std::ops::Range<u64>) -> Model {
        let layout = layout();
        let operations = Operations::default();
        for seed in steps {
            let batch = Arc::new(batch(layout.sizes, 200, seed));
            let error = mean_error(model.outputs(&layout, &batch, &operations), &batch);
            let gradients = GradientsParams::from_grads(error.backward(), &model);
            model = optimiser.step(RATE, model, gradients);
        }
        model
    }

    #[test]
    fn steps_are_those_of_burns_adam() {
        let settings = AdamSettings { bound: 1e9, ..AdamSettings::default() };
        let theirs = AdamConfig::new().with_epsilon(1e-8).init();
        let [ours, plain, theirs] =
            [InPlaceAdam(settings).into(), PlainAdam(settings).into(), theirs].map(|mut optimiser| {
                let numbers = trained(&mut optimiser, Model::new(&layout(), 1), 0..12).parameters(&layout());
                [numbers.transformer, numbers.bias, numbers.output, numbers.output_bias].concat()
            });
        let apart = |other: &[f32]| ours.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
        assert!(apart(&theirs) < 1e-5, "{}", apart(&theirs));
        // The same arithmetic in the same order, but for what a processor may do in one rounding.
        assert!(apart(&plain) < 1e-6, "{}", apart(&plain));
        assert_ne!(ours, Model::new(&layout(), 1).parameters(&layout()).transformer);
    }

    #[test]
    fn a_record_that_was_saved_and_loaded_goes_on_to_the_same_bits() {
        let settings = AdamSettings::default();
        let mut undisturbed = ModuleOptimizer::from(InPlaceAdam(settings));
        let model = trained(&mut undisturbed, Model::new(&layout(), 1), 0..5);
        let record = undisturbed.into_bytes().unwrap();
        let mut resumed = ModuleOptimizer::from(InPlaceAdam(settings)).from_bytes(record).unwrap();
        let one = trained(&mut resumed, model.clone(), 5..9).parameters(&layout());
        assert_eq!(one, trained(&mut undisturbed, model, 5..9).parameters(&layout()));
    }

    #[test]
    fn a_model_that_nobody_else_holds_is_changed_in_place() {
        let tensor = |numbers: [f32; 3]| Tensor::<1>::from_data(numbers, &Device::flex());
        let values = tensor([1.0, 2.0, 3.0]).try_into_primitive::<Flex>().unwrap();
        let before = f32::read(&values).as_ptr();
        let values = Tensor::<1>::from_primitive::<Flex>(values);
        let (values, _) = InPlaceAdam(AdamSettings::default()).step(RATE, values, tensor([1.0, -1.0, 0.0]), None);
        let values = values.try_into_primitive::<Flex>().unwrap();
        assert_eq!(f32::read(&values).as_ptr(), before);
    }
}
