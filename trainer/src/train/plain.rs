//! The network and its optimiser in burn's own operations: products of matrices, sums, clamps. They run on any of burn's
//! backends, for devices that [`super::operation`] knows nothing of. On the CPU they are slow, and what our own operations
//! are held to.

use super::batch::Batch;
use super::kernels::adam::Rounded;
use super::kernels::lookup::Lookup;
use super::operation::NetworkTensors;
use burn::tensor::{DType, Device, IndexingUpdateOp, Int, Tensor, TensorData, activation};
use std::iter::{repeat, repeat_n};

/// Where tensors lie, and what their numbers are.
type Site = (Device, DType);

/// As [`super::operation::looked_up`].
#[must_use]
pub fn looked_up(table: Tensor<3>, shared: Tensor<3>, lookup: &Lookup) -> Tensor<3> {
    let of = indices(lookup.of.iter().copied(), &table.device());
    table + shared.select(1, of)
}

/// As [`super::operation::network_outputs`]. Sums of rows are a product of matrices here: nearly all of it is in vain, but
/// accelerators do nothing better. A gather would be undone on the way back by one thread a column, row after row.
#[must_use]
pub fn network_outputs(tensors: NetworkTensors, batch: &Batch) -> Tensor<1> {
    let NetworkTensors { transformer, bias, output, output_bias } = tensors;
    let [blocks, inputs, lanes] = transformer.dims();
    let (positions, width, buckets) = (batch.len(), blocks * lanes, output_bias.dims()[0]);
    let site = (transformer.device(), transformer.dtype());
    let rows = transformer.swap_dims(0, 1).reshape([inputs, width]);
    let sums = active_inputs(batch, inputs, &site).matmul(rows) + bias.reshape([1, width]);
    let roots = sums.clamp(0.0, 1.0);
    let activations = (roots.clone() * roots).reshape([positions, 2 * width]);
    let outputs = activations.matmul(output.transpose()) + output_bias.reshape([1, buckets]);
    (outputs * chosen_buckets(batch, buckets, &site)).sum_dim(1).reshape([positions])
}

/// As [`super::operation::mean_error`].
#[must_use]
pub fn mean_error(outputs: Tensor<1>, batch: &Batch) -> Tensor<1> {
    let (device, dtype) = (outputs.device(), outputs.dtype());
    let vector = |numbers: &[f32]| Tensor::<1>::from_data(numbers_of(numbers.to_vec(), dtype), (&device, dtype));
    let errors = activation::sigmoid(outputs + vector(&batch.bases)) - vector(&batch.targets);
    let weighted = errors.clone() * errors * vector(&batch.weights);
    // As a tensor: burn turns numbers beside tensors into single precision on the way back.
    let total = TensorData::new(vec![batch.total_weight()], [1]).convert_dtype(dtype);
    weighted.sum() / Tensor::from_data(total, (&device, dtype))
}

/// The numbers of a tensor, running means of its gradients, and of their squares.
#[derive(Debug)]
pub struct Numbers<const D: usize> {
    /// The numbers themselves.
    pub values: Tensor<D>,
    /// Running means of gradients.
    pub means: Tensor<D>,
    /// Running means of their squares.
    pub squares: Tensor<D>,
}

/// As [`super::kernels::adam::step`].
#[must_use]
pub fn adam_step<const D: usize>(factors: &Rounded<f64>, numbers: Numbers<D>, gradients: Tensor<D>) -> Numbers<D> {
    let Numbers { values, means, squares } = numbers;
    let &Rounded { beta_1, new_1, beta_2, new_2, epsilon, rate, kept, bound } = factors;
    let means = means * beta_1 + gradients.clone() * new_1;
    let squares = squares * beta_2 + gradients.clone() * gradients * new_2;
    let moves = means.clone() * rate / (squares.clone().sqrt() + epsilon);
    Numbers { values: (values * kept - moves).clamp(-bound, bound), means, squares }
}

/// `[2 · positions, inputs]`: 1 where an input of a side of a position is active, otherwise 0.
fn active_inputs(batch: &Batch, inputs: usize, (device, dtype): &Site) -> Tensor<2> {
    let lists = || (0..2 * batch.len()).map(|list| batch.inputs(list / 2, list % 2));
    let longest = lists().map(<[u32]>::len).max().unwrap_or(0);
    // All lists to the same length, with nothing added to the first input.
    let filled = |list: &[u32]| list.iter().copied().chain(repeat(0)).take(longest).collect::<Vec<u32>>();
    let ones = |list: &[u32]| repeat_n(1.0, list.len()).chain(repeat(0.0)).take(longest).collect::<Vec<f32>>();
    let shape = [2 * batch.len(), longest];
    let indices = indices(lists().flat_map(filled), device).reshape(shape);
    let ones = Tensor::<1>::from_data(numbers_of(lists().flat_map(ones).collect(), *dtype), (device, *dtype));
    let nothing = Tensor::zeros([2 * batch.len(), inputs], (device, *dtype));
    nothing.scatter(1, indices, ones.reshape(shape), IndexingUpdateOp::Add)
}

/// `[positions, buckets]`: 1 for a position's output layer, otherwise 0.
fn chosen_buckets(batch: &Batch, buckets: usize, (device, dtype): &Site) -> Tensor<2> {
    let of = |position| (0..buckets).map(move |bucket| f32::from(u8::from(bucket == batch.bucket(position))));
    let chosen = numbers_of((0..batch.len()).flat_map(of).collect(), *dtype);
    Tensor::<1>::from_data(chosen, (device, *dtype)).reshape([batch.len(), buckets])
}

fn indices(numbers: impl Iterator<Item = u32>, device: &Device) -> Tensor<1, Int> {
    let numbers: Vec<i32> = numbers.map(|number| number as i32).collect();
    let count = numbers.len();
    Tensor::from_data(TensorData::new(numbers, [count]), device)
}

fn numbers_of(numbers: Vec<f32>, dtype: DType) -> TensorData {
    let count = numbers.len();
    TensorData::new(numbers, [count]).convert_dtype(dtype)
}
