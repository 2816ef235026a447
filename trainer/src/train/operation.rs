//! The network as burn's own operations: forward and backward on the CPU by the loops of [`super::kernels`].
//!
//! Burn's tensors would need a dense product or a gather and a sum, which is twenty to forty times slower. Here are three
//! operations that burn differentiates through: rows added by look-up, the outputs of the network, and the error. Lists of
//! active inputs are no tensors but a [`Batch`] that comes along; [`super::plain`] says the same in burn's own operations.

use super::batch::Batch;
use super::kernels::error::{ErrorSum, slopes};
use super::kernels::lookup::Lookup;
use super::kernels::network::{Passed, Sizes, Weights, gradients, outputs, outputs_and_roots};
use super::kernels::{LANES, Real};
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, TensorMetadata, backend_extension};
use burn::tensor::{DType, Element, Tensor, TensorData};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

/// The table with shared rows added: see [`Lookup`].
#[must_use]
pub fn looked_up(table: Tensor<3>, shared: Tensor<3>, lookup: &Arc<Lookup>) -> Tensor<3> {
    let sum = Dispatch::looked_up(table.into_dispatch(), shared.into_dispatch(), Arc::clone(lookup));
    Tensor::from_dispatch(sum)
}

/// The tensors that a network is made of.
#[derive(Debug)]
pub struct NetworkTensors {
    /// `[blocks, inputs, LANES]`.
    pub transformer: Tensor<3>,
    /// `[width]`.
    pub bias: Tensor<1>,
    /// `[buckets, 2 · width]`.
    pub output: Tensor<2>,
    /// `[buckets]`.
    pub output_bias: Tensor<1>,
}

/// The outputs for a batch.
#[must_use]
pub fn network_outputs(tensors: NetworkTensors, batch: &Arc<Batch>, buffers: &Arc<Buffers>) -> Tensor<1> {
    let NetworkTensors { transformer, bias, output, output_bias } = tensors;
    Tensor::from_dispatch(Dispatch::network_outputs(
        transformer.into_dispatch(),
        bias.into_dispatch(),
        output.into_dispatch(),
        output_bias.into_dispatch(),
        Arc::clone(batch),
        Arc::clone(buffers),
    ))
}

/// The mean error of outputs, as a tensor of one number.
#[must_use]
pub fn mean_error(outputs: Tensor<1>, batch: &Arc<Batch>) -> Tensor<1> {
    Tensor::from_dispatch(Dispatch::mean_error(outputs.into_dispatch(), Arc::clone(batch)))
}

/// Large buffers to be used again: to fetch and to clear new memory for every batch costs a tenth of the time.
#[derive(Debug, Default)]
pub struct Buffers(Mutex<Vec<Vec<f32>>>);

/// Numbers that tensors hold and kernels calculate with.
pub(super) trait Stored: Real + Element {
    /// The numbers of a tensor that lies in order.
    fn read(tensor: &FlexTensor) -> &[Self];

    /// The same to be changed: in place if nobody else holds the tensor, otherwise in a copy.
    fn write(tensor: &mut FlexTensor) -> &mut [Self];

    /// A buffer of so many numbers, whatever they are.
    fn fetch(buffers: &Buffers, count: usize) -> Vec<Self>;

    /// Gives a buffer back.
    fn give(buffers: &Buffers, numbers: Vec<Self>);
}

/// What holds for a tensor after [`in_order`].
const IN_ORDER: &str = "tensors were brought in order, and their type was looked at";

impl Stored for f32 {
    fn read(tensor: &FlexTensor) -> &[Self] {
        tensor.as_slice().expect(IN_ORDER)
    }

    fn write(tensor: &mut FlexTensor) -> &mut [Self] {
        tensor.storage_mut()
    }

    fn fetch(buffers: &Buffers, count: usize) -> Vec<Self> {
        let mut numbers = buffers.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        numbers.resize(count, 0.0);
        numbers
    }

    fn give(buffers: &Buffers, numbers: Vec<Self>) {
        buffers.0.lock().unwrap_or_else(PoisonError::into_inner).push(numbers);
    }
}

/// Only for checks.
impl Stored for f64 {
    fn read(tensor: &FlexTensor) -> &[Self] {
        tensor.as_slice().expect(IN_ORDER)
    }

    fn write(tensor: &mut FlexTensor) -> &mut [Self] {
        tensor.storage_mut()
    }

    fn fetch(_: &Buffers, count: usize) -> Vec<Self> {
        vec![0.0; count]
    }

    fn give(_: &Buffers, _: Vec<Self>) {}
}

/// Runs an expression for the type of a tensor's numbers.
macro_rules! by_type {
    ($tensor:expr, $number:ident => $work:expr) => {
        match $tensor.dtype() {
            DType::F64 => {
                type $number = f64;
                $work
            }
            DType::F32 => {
                type $number = f32;
                $work
            }
            other => unreachable!("models are made of f32 or f64, not {other:?}"),
        }
    };
}

pub(super) use by_type;

/// The operations as burn dispatches them.
#[backend_extension(Flex, Autodiff)]
pub trait NetworkOperations: Backend {
    /// See [`looked_up`].
    fn looked_up(table: FloatTensor<Self>, shared: FloatTensor<Self>, lookup: Arc<Lookup>) -> FloatTensor<Self>;

    /// See [`network_outputs`].
    fn network_outputs(
        transformer: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        output: FloatTensor<Self>,
        output_bias: FloatTensor<Self>,
        batch: Arc<Batch>,
        buffers: Arc<Buffers>,
    ) -> FloatTensor<Self>;

    /// See [`mean_error`].
    fn mean_error(outputs: FloatTensor<Self>, batch: Arc<Batch>) -> FloatTensor<Self>;
}

impl NetworkOperations for Flex {
    fn looked_up(table: FlexTensor, shared: FlexTensor, lookup: Arc<Lookup>) -> FlexTensor {
        let (table, shared) = (in_order(table), in_order(shared));
        by_type!(table, T => tensor(lookup.sum::<T>(T::read(&table), T::read(&shared)), table.shape().to_vec()))
    }

    fn network_outputs(
        transformer: FlexTensor,
        bias: FlexTensor,
        output: FlexTensor,
        output_bias: FlexTensor,
        batch: Arc<Batch>,
        _: Arc<Buffers>,
    ) -> FlexTensor {
        let parts = Parts::new([transformer, bias, output, output_bias]);
        by_type!(parts.transformer, T => vector(outputs::<T>(&parts.weights(), &batch)))
    }

    fn mean_error(outputs: FlexTensor, batch: Arc<Batch>) -> FlexTensor {
        let outputs = in_order(outputs);
        by_type!(outputs, T => vector(vec![T::of(ErrorSum::of::<T>(T::read(&outputs), &batch).mean())]))
    }
}

impl<C: CheckpointStrategy> NetworkOperations for Autodiff<Flex, C> {
    fn looked_up(table: FloatTensor<Self>, shared: FloatTensor<Self>, lookup: Arc<Lookup>) -> FloatTensor<Self> {
        let (table, table_node) = table.into_parts();
        let (shared, shared_node) = shared.into_parts();
        let sum = Flex::looked_up(table, shared, Arc::clone(&lookup));
        match LookedUp.prepare::<C>([table_node, shared_node]).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish(lookup, sum),
            OpsKind::UnTracked(prepared) => prepared.finish(sum),
        }
    }

    fn network_outputs(
        transformer: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        output: FloatTensor<Self>,
        output_bias: FloatTensor<Self>,
        batch: Arc<Batch>,
        buffers: Arc<Buffers>,
    ) -> FloatTensor<Self> {
        let tensors = [transformer, bias, output, output_bias];
        by_type!(tensors[0], T => tracked_outputs::<T, C>(tensors, Run { batch, buffers }))
    }

    fn mean_error(outputs: FloatTensor<Self>, batch: Arc<Batch>) -> FloatTensor<Self> {
        let (outputs, node) = outputs.into_parts();
        let error = Flex::mean_error(outputs.clone(), Arc::clone(&batch));
        match MeanError.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish((in_order(outputs), batch), error),
            OpsKind::UnTracked(prepared) => prepared.finish(error),
        }
    }
}

/// What comes along with the tensors.
struct Run {
    batch: Arc<Batch>,
    buffers: Arc<Buffers>,
}

type Tracked<C> = FloatTensor<Autodiff<Flex, C>>;

fn tracked_outputs<T: Stored, C: CheckpointStrategy>(tensors: [Tracked<C>; 4], run: Run) -> Tracked<C> {
    let [transformer, bias, output, output_bias] = tensors.map(|tensor| tensor.into_parts());
    let nodes = [transformer.1, bias.1, output.1, output_bias.1];
    let parts = Parts::new([transformer.0, bias.0, output.0, output_bias.0]);
    match Outputs::<T>(PhantomData).prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => {
            let mut roots = T::fetch(&run.buffers, parts.sizes.roots(run.batch.len()));
            let outputs = vector(outputs_and_roots::<T>(&parts.weights(), &run.batch, &mut roots));
            let roots = Arc::new(Roots { numbers: roots, buffers: run.buffers });
            // The transformer itself is not kept: whoever changes it in place must be its only owner.
            prepared.finish(Kept { sizes: parts.sizes, output: parts.output, roots, batch: run.batch }, outputs)
        }
        OpsKind::UnTracked(prepared) => prepared.finish(vector(outputs::<T>(&parts.weights(), &run.batch))),
    }
}

/// The way back of [`looked_up`].
#[derive(Debug)]
struct LookedUp;

impl Backward<Flex, 2> for LookedUp {
    type State = Arc<Lookup>;

    fn backward(self, ops: Ops<Self::State, 2>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let slopes = in_order(gradients.consume::<Flex>(&ops.node));
        let lookup = ops.state;
        let [table, shared] = ops.parents;
        if let Some(node) = shared {
            let blocks = slopes.shape()[0];
            let shape = vec![blocks, lookup.shared, LANES];
            let gradient = by_type!(slopes, T => tensor(lookup.gradients::<T>(T::read(&slopes)), shape));
            gradients.register::<Flex>(node.id, gradient);
        }
        if let Some(node) = table {
            gradients.register::<Flex>(node.id, slopes);
        }
    }
}

/// The way back of [`network_outputs`].
#[derive(Debug)]
struct Outputs<T>(PhantomData<T>);

/// What it needs.
#[derive(Clone, Debug)]
struct Kept<T: Stored> {
    sizes: Sizes,
    output: FlexTensor,
    roots: Arc<Roots<T>>,
    batch: Arc<Batch>,
}

/// A borrowed buffer.
#[derive(Debug)]
struct Roots<T: Stored> {
    numbers: Vec<T>,
    buffers: Arc<Buffers>,
}

impl<T: Stored> Drop for Roots<T> {
    fn drop(&mut self) {
        T::give(&self.buffers, std::mem::take(&mut self.numbers));
    }
}

impl<T: Stored> Backward<Flex, 4> for Outputs<T> {
    type State = Kept<T>;

    fn backward(self, ops: Ops<Self::State, 4>, tape: &mut Gradients, _: &mut Checkpointer) {
        let slopes = in_order(tape.consume::<Flex>(&ops.node));
        let Kept { sizes, output, roots, batch } = ops.state;
        let passed = Passed { sizes, output: T::read(&output), roots: &roots.numbers };
        let found = gradients(&passed, &batch, T::read(&slopes));
        let gradients = [
            tensor(found.transformer, vec![sizes.blocks, sizes.inputs, LANES]),
            vector(found.bias),
            tensor(found.output, vec![sizes.buckets, 2 * sizes.width()]),
            vector(found.output_bias),
        ];
        for (parent, gradient) in ops.parents.into_iter().zip(gradients) {
            if let Some(node) = parent {
                tape.register::<Flex>(node.id, gradient);
            }
        }
    }
}

/// The way back of [`mean_error`].
#[derive(Debug)]
struct MeanError;

impl Backward<Flex, 1> for MeanError {
    type State = (FlexTensor, Arc<Batch>);

    fn backward(self, ops: Ops<Self::State, 1>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let factor = in_order(gradients.consume::<Flex>(&ops.node));
        let (outputs, batch) = ops.state;
        let [parent] = ops.parents;
        if let Some(node) = parent {
            let gradient = by_type!(outputs, T => {
                vector(slopes::<T>(T::read(&outputs), &batch, T::read(&factor)[0].wide()))
            });
            gradients.register::<Flex>(node.id, gradient);
        }
    }
}

/// The tensors of a network, in order.
struct Parts {
    sizes: Sizes,
    transformer: FlexTensor,
    bias: FlexTensor,
    output: FlexTensor,
    output_bias: FlexTensor,
}

impl Parts {
    fn new(tensors: [FlexTensor; 4]) -> Self {
        let [transformer, bias, output, output_bias] = tensors.map(in_order);
        let (table, buckets) = (transformer.shape(), output_bias.shape());
        let sizes = Sizes { blocks: table[0], inputs: table[1], buckets: buckets[0] };
        Self { sizes, transformer, bias, output, output_bias }
    }

    fn weights<T: Stored>(&self) -> Weights<'_, T> {
        Weights {
            sizes: self.sizes,
            transformer: T::read(&self.transformer),
            bias: T::read(&self.bias),
            output: T::read(&self.output),
            output_bias: T::read(&self.output_bias),
        }
    }
}

/// The tensor with its numbers one after the other.
pub(super) fn in_order(tensor: FlexTensor) -> FlexTensor {
    if tensor.is_contiguous() { tensor } else { tensor.to_contiguous() }
}

fn tensor<T: Element>(numbers: Vec<T>, shape: Vec<usize>) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(numbers, shape))
}

fn vector<T: Element>(numbers: Vec<T>) -> FlexTensor {
    let count = numbers.len();
    tensor(numbers, vec![count])
}
