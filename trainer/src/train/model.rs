//! The network as a burn module: its tensors, where they begin, what comes out.
//!
//! Rows of the transformer may be sums: of a row of their own, of one that all regions of the king share, of one that a rank or a
//! file of a unit's squares shares, and of one that all of them share. What few games show of one square then also teaches the others. A finished network is
//! written with the sums ([`Model::parameters`]); nobody who plays with it needs to know.

use super::batch::Batch;
use super::device::Operations;
use super::kernels::LANES;
use super::kernels::lookup::Lookup;
use super::kernels::network::Sizes;
use super::operation::NetworkTensors;
use super::plain;
use super::synthetic::Numbers;
use burn::module::{Module, Param, ParamId};
use burn::tensor::{DType, Device, Tensor, TensorData};
use fairyforge_engine::evaluate::network::Parameters;
use std::sync::Arc;

/// What a network is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// How large it is.
    pub sizes: Sizes,
    /// Tables of rows that inputs share, those that most share last.
    pub shared: Vec<Arc<Lookup>>,
    /// Active inputs of a side when the game begins: how large sums are then decides where weights begin.
    pub most_active: usize,
}

/// The network's tensors.
#[derive(Module, Debug)]
pub struct Model {
    transformer: Param<Tensor<3>>,
    shared: Vec<Param<Tensor<3>>>,
    bias: Param<Tensor<1>>,
    output: Param<Tensor<2>>,
    output_bias: Param<Tensor<1>>,
}

/// Names of parameters, always the same: checkpoints name them.
mod ids {
    pub const TRANSFORMER: u64 = 1;
    pub const BIAS: u64 = 2;
    pub const OUTPUT: u64 = 3;
    pub const OUTPUT_BIAS: u64 = 4;
    /// The first shared table; the others follow.
    pub const SHARED: u64 = 5;
}

impl Model {
    /// A network that knows nothing yet: small numbers drawn by lot, from the seed. The widest rows that are shared begin with
    /// them; what is added to these begins at 0, so an input that never occurs keeps the row that it shares.
    #[must_use]
    pub fn new(layout: &Layout, seed: u64) -> Self {
        Self::in_type(layout, seed, DType::F32)
    }

    /// The same in another type; double precision is for checks.
    #[must_use]
    pub fn in_type(layout: &Layout, seed: u64, dtype: DType) -> Self {
        let Layout { sizes, shared, most_active } = layout;
        let mut numbers = Numbers::new(seed);
        let row = 1.0 / (*most_active as f64).sqrt();
        let output = 1.0 / (2.0 * sizes.width() as f64).sqrt();
        let mut drawn = |bound: f64, count: usize| numbers.within::<f64>(bound, count);
        let mut table = |rows: usize, is_widest: bool| {
            let bound = if is_widest { row } else { 0.0 };
            (drawn(bound, sizes.blocks * rows * LANES), vec![sizes.blocks, rows, LANES])
        };
        let transformer = table(sizes.inputs, shared.is_empty());
        let shared = (1..).zip(shared).map(|(number, lookup)| table(lookup.shared, number == shared.len()));
        let shared: Vec<_> = shared.collect();
        let zeros = |shape: Vec<usize>| (vec![0.0; shape.iter().product()], shape);
        let outputs = 2 * sizes.width();
        Self {
            transformer: parameter(ids::TRANSFORMER, transformer, dtype),
            shared: (ids::SHARED..).zip(shared).map(|(id, rows)| parameter(id, rows, dtype)).collect(),
            bias: parameter(ids::BIAS, zeros(vec![sizes.width()]), dtype),
            output: parameter(
                ids::OUTPUT,
                (drawn(output, sizes.buckets * outputs), vec![sizes.buckets, outputs]),
                dtype,
            ),
            output_bias: parameter(ids::OUTPUT_BIAS, zeros(vec![sizes.buckets]), dtype),
        }
    }

    /// The outputs for a batch.
    #[must_use]
    pub fn outputs(&self, layout: &Layout, batch: &Arc<Batch>, operations: &Operations) -> Tensor<1> {
        let add = |table, shared, lookup: &_| operations.looked_up(table, shared, lookup);
        operations.network_outputs(self.tensors(layout, add), batch)
    }

    /// The network's tensors, with shared rows added by `add`.
    pub fn tensors(
        &self,
        layout: &Layout,
        add: impl Fn(Tensor<3>, Tensor<3>, &Arc<Lookup>) -> Tensor<3>,
    ) -> NetworkTensors {
        let shared = self.shared.iter().zip(&layout.shared);
        NetworkTensors {
            transformer: shared.fold(self.transformer.val(), |sum, (rows, lookup)| add(sum, rows.val(), lookup)),
            bias: self.bias.val(),
            output: self.output.val(),
            output_bias: self.output_bias.val(),
        }
    }

    /// The finished network.
    #[must_use]
    pub fn parameters(&self, layout: &Layout) -> Parameters {
        let tensors = self.tensors(layout, |table, shared, lookup| plain::looked_up(table, shared, lookup));
        let Sizes { inputs, blocks, .. } = layout.sizes;
        let blocked = numbers(tensors.transformer);
        let row = |input: usize, block: usize| &blocked[(block * inputs + input) * LANES..][..LANES];
        let rows = (0..inputs).flat_map(|input| (0..blocks).map(move |block| (input, block)));
        Parameters {
            transformer: rows.flat_map(|(input, block)| row(input, block).iter().copied()).collect(),
            bias: numbers(tensors.bias),
            output: numbers(tensors.output),
            output_bias: numbers(tensors.output_bias),
        }
    }
}

/// Where networks begin, wherever they are trained: burn's CPU backend.
#[must_use]
pub fn device() -> Device {
    Device::flex().autodiff()
}

fn parameter<const D: usize>(id: u64, (numbers, shape): (Vec<f64>, Vec<usize>), dtype: DType) -> Param<Tensor<D>> {
    let data = TensorData::new(numbers, shape).convert_dtype(dtype);
    Param::initialized(ParamId::from(id), Tensor::from_data(data, (&device(), dtype)).require_grad())
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec_as().expect("models are made of numbers that fit single precision")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::kernels;
    use crate::train::synthetic;

    /// 12 inputs in 2 regions, of 3 kinds.
    fn layout(shares_regions: bool, shares_kinds: bool) -> Layout {
        let regions = Lookup { of: (0..12).map(|input| input % 6).collect(), shared: 6 };
        let kinds = Lookup { of: (0..12).map(|input| input % 6 / 2).collect(), shared: 3 };
        Layout {
            sizes: Sizes { inputs: 12, blocks: 2, buckets: 3 },
            shared: [(shares_regions, regions), (shares_kinds, kinds)]
                .into_iter()
                .filter_map(|(is_shared, lookup)| is_shared.then(|| Arc::new(lookup)))
                .collect(),
            most_active: 12,
        }
    }

    fn gradients(error: &Tensor<1>, model: &Model) -> Vec<Vec<f64>> {
        let mut gradients = error.backward();
        let mut of = |parameter: Tensor<3>| -> Vec<f64> {
            parameter.grad_remove(&mut gradients).unwrap().into_data().try_into_vec_as().unwrap()
        };
        let mut all = vec![of(model.transformer.val())];
        all.extend(model.shared.iter().map(|shared| of(shared.val())));
        let vector = |found: Option<Tensor<1>>| found.unwrap().into_data().try_into_vec_as::<f64>().unwrap();
        all.push(vector(model.bias.val().grad_remove(&mut gradients)));
        all.push(vector(model.output_bias.val().grad_remove(&mut gradients)));
        let output = model.output.val().grad_remove(&mut gradients).unwrap();
        all.push(output.into_data().try_into_vec_as().unwrap());
        all
    }

    /// The largest difference, in parts of the largest number.
    fn apart(one: &[f64], other: &[f64]) -> f64 {
        assert_eq!(one.len(), other.len());
        let largest =
            |numbers: &mut dyn Iterator<Item = f64>| numbers.fold(0.0, |most: f64, number| most.max(number.abs()));
        let size = largest(&mut other.iter().copied());
        assert!(size > 0.0, "a gradient of nothing shows nothing");
        largest(&mut one.iter().zip(other).map(|(one, other)| one - other)) / size
    }

    #[test]
    fn our_operation_equals_burns_own_autodiff() {
        for (shares_regions, shares_kinds) in [(false, false), (true, false), (false, true), (true, true)] {
            for (dtype, tolerance) in [(DType::F64, 1e-9), (DType::F32, 2e-5)] {
                let layout = layout(shares_regions, shares_kinds);
                let model = Model::in_type(&layout, 1, dtype);
                let batch = Arc::new(synthetic::batch(layout.sizes, 600, 2));
                let found = |operations: Operations| {
                    let error = operations.mean_error(model.outputs(&layout, &batch, &operations), &batch);
                    let gradients = gradients(&error, &model);
                    (error.into_data().try_into_vec_as::<f64>().unwrap()[0], gradients)
                };
                let [(error, ours), (slow_error, theirs)] = [Operations::default(), Operations::Plain].map(found);
                assert!((error - slow_error).abs() < tolerance * slow_error, "{dtype:?}: {error} {slow_error}");
                for (ours, theirs) in ours.iter().zip(&theirs) {
                    let apart = apart(ours, theirs);
                    assert!(apart < tolerance, "{dtype:?}, {shares_regions} {shares_kinds}: {apart:e}");
                }
            }
        }
    }

    #[test]
    fn finished_numbers_give_the_same_outputs() {
        let layout = layout(true, true);
        let model = Model::new(&layout, 3);
        let batch = Arc::new(synthetic::batch(layout.sizes, 50, 4));
        let outputs = numbers(model.outputs(&layout, &batch, &Operations::default()));
        let finished = model.parameters(&layout);
        let width = layout.sizes.width();
        for (position, output) in outputs.into_iter().enumerate() {
            let mut expected = finished.output_bias[batch.bucket(position)];
            for side in 0..2 {
                for neuron in 0..width {
                    let weight = |&input: &u32| finished.transformer[input as usize * width + neuron];
                    let sum = finished.bias[neuron] + batch.inputs(position, side).iter().map(weight).sum::<f32>();
                    let weight = finished.output[(batch.bucket(position) * 2 + side) * width + neuron];
                    expected += sum.clamp(0.0, 1.0).powi(2) * weight;
                }
            }
            assert!((output - expected).abs() < 1e-5, "{position}: {output} {expected}");
        }
    }

    #[test]
    fn an_input_that_never_occurs_begins_with_the_row_that_it_shares() {
        let layout = layout(true, true);
        let numbers = Model::new(&layout, 5).parameters(&layout);
        let width = layout.sizes.width();
        let row = |input: usize| &numbers.transformer[input * width..][..width];
        assert_eq!(row(0), row(1), "two squares of a unit");
        assert_eq!(row(0), row(6), "two regions of the king");
        assert_ne!(row(0), row(2), "two units");
        assert_eq!(kernels::LANES * layout.sizes.blocks, width);
    }
}
