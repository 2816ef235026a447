//! The network in burn's own operations: gather, sum, clamp. Slow, and what [`super::operation`] is held to; nothing else
//! calls it. It runs on any of burn's backends.

use super::batch::Batch;
use super::kernels::lookup::Lookup;
use super::operation::NetworkTensors;
use burn::tensor::{DType, Device, Int, Tensor, TensorData, activation};

/// As [`super::operation::looked_up`].
#[must_use]
pub fn looked_up(table: Tensor<3>, shared: Tensor<3>, lookup: &Lookup) -> Tensor<3> {
    let of = indices(lookup.of.iter().copied(), &table.device());
    table + shared.select(1, of)
}

/// As [`super::operation::network_outputs`].
#[must_use]
pub fn network_outputs(tensors: NetworkTensors, batch: &Batch) -> Tensor<1> {
    let NetworkTensors { transformer, bias, output, output_bias } = tensors;
    let device = transformer.device();
    let [blocks, inputs, lanes] = transformer.dims();
    let (positions, width) = (batch.len(), blocks * lanes);
    let table = transformer.swap_dims(0, 1).reshape([inputs, width]);
    let nothing = Tensor::<2>::zeros([1, width], (&device, table.dtype()));
    let table = Tensor::cat(vec![table, nothing], 0);
    let (padded, longest) = padded_inputs(batch, inputs);
    let rows = table.select(0, indices(padded.into_iter(), &device)).reshape([2 * positions, longest, width]);
    let sums = rows.sum_dim(1).reshape([2 * positions, width]) + bias.reshape([1, width]);
    let roots = sums.clamp(0.0, 1.0);
    let activations = (roots.clone() * roots).reshape([positions, 2 * width]);
    let buckets = indices((0..positions).map(|position| batch.bucket(position) as u32), &device);
    let weights = output.select(0, buckets.clone());
    (activations * weights).sum_dim(1).reshape([positions]) + output_bias.select(0, buckets)
}

/// As [`super::operation::mean_error`].
#[must_use]
pub fn mean_error(outputs: Tensor<1>, batch: &Batch) -> Tensor<1> {
    let (device, dtype) = (outputs.device(), outputs.dtype());
    let vector = |numbers: &[f32]| Tensor::<1>::from_data(numbers_of(numbers, dtype), (&device, dtype));
    let errors = activation::sigmoid(outputs + vector(&batch.bases)) - vector(&batch.targets);
    let weighted = errors.clone() * errors * vector(&batch.weights);
    // As a tensor: burn turns numbers beside tensors into single precision on the way back.
    let total = TensorData::new(vec![batch.total_weight()], [1]).convert_dtype(dtype);
    weighted.sum() / Tensor::from_data(total, (&device, dtype))
}

/// Lists of inputs filled up to the same length with an input that is none.
fn padded_inputs(batch: &Batch, none: usize) -> (Vec<u32>, usize) {
    let lists = || (0..2 * batch.len()).map(|list| batch.inputs(list / 2, list % 2));
    let longest = lists().map(<[u32]>::len).max().unwrap_or(0);
    let filled = |list: &[u32]| {
        let mut list = list.to_vec();
        list.resize(longest, none as u32);
        list
    };
    (lists().flat_map(filled).collect(), longest)
}

fn indices(numbers: impl Iterator<Item = u32>, device: &Device) -> Tensor<1, Int> {
    let numbers: Vec<i32> = numbers.map(|number| number as i32).collect();
    let count = numbers.len();
    Tensor::from_data(TensorData::new(numbers, [count]), device)
}

fn numbers_of(numbers: &[f32], dtype: DType) -> TensorData {
    TensorData::new(numbers.to_vec(), [numbers.len()]).convert_dtype(dtype)
}
