//! Outputs of the network for a batch, and the gradients of its numbers.
//!
//! ```text
//! sum    = bias + Σ rows of active inputs                       for each side
//! root   = sum cut off at 0 and 1;   activation = root²
//! output = output bias + Σ activation · output weight           by the layer of the position's bucket
//! ```
//!
//! The way forward is made in chunks of positions, all blocks of a chunk by one thread, and leaves the roots. The way back
//! is made in blocks, all positions by one thread, so that no two threads add to the same number.

use super::{LANES, Real, Row, rows, rows_mut};
use crate::train::batch::Batch;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Positions that one thread takes at a time: many enough that a block of the table, once in the cache, serves them all.
const CHUNK: usize = 256;
/// Numbers that the sum over a position's activations is made in, side by side.
const PARTIAL: usize = 16;

/// How large a network is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Rows of the transformer: inputs of a perspective.
    pub inputs: usize,
    /// Blocks of [`LANES`] neurons a perspective.
    pub blocks: usize,
    /// Output layers.
    pub buckets: usize,
}

/// The numbers of a network.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a, T> {
    /// How many there are.
    pub sizes: Sizes,
    /// `[blocks][inputs][LANES]`.
    pub transformer: &'a [T],
    /// `[width]`.
    pub bias: &'a [T],
    /// `[buckets][2][width]`: for the side to move's neurons, then for the opponent's.
    pub output: &'a [T],
    /// `[buckets]`.
    pub output_bias: &'a [T],
}

/// What the way forward leaves for the way back.
#[derive(Clone, Copy, Debug)]
pub struct Passed<'a, T> {
    /// How large the network is.
    pub sizes: Sizes,
    /// As [`Weights::output`].
    pub output: &'a [T],
    /// As [`outputs_and_roots`] filled them.
    pub roots: &'a [T],
}

/// Derivatives of a loss by the numbers of a network, in the same order.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradients<T> {
    /// By [`Weights::transformer`].
    pub transformer: Vec<T>,
    /// By [`Weights::bias`].
    pub bias: Vec<T>,
    /// By [`Weights::output`].
    pub output: Vec<T>,
    /// By [`Weights::output_bias`].
    pub output_bias: Vec<T>,
}

impl Sizes {
    /// Neurons a perspective.
    #[must_use]
    pub const fn width(self) -> usize {
        self.blocks * LANES
    }

    /// Numbers in the transformer.
    #[must_use]
    pub const fn transformer(self) -> usize {
        self.inputs * self.width()
    }

    /// Roots of so many positions.
    #[must_use]
    pub const fn roots(self, positions: usize) -> usize {
        2 * positions * self.width()
    }

    /// Index of the row of output weights for one block of one side's neurons.
    const fn output_row(self, bucket: usize, side: usize, block: usize) -> usize {
        (2 * bucket + side) * self.blocks + block
    }
}

impl<'a, T> Weights<'a, T> {
    fn block(&self, block: usize) -> &'a [Row<T>] {
        let rows = rows(self.transformer);
        &rows[block * self.sizes.inputs..][..self.sizes.inputs]
    }
}

/// The outputs for the positions of a batch, from the side to move's view.
#[must_use]
pub fn outputs<T: Real>(weights: &Weights<'_, T>, batch: &Batch) -> Vec<T> {
    let mut outputs = vec![T::ZERO; batch.len()];
    outputs.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, outputs)| {
        Arch::new().dispatch(Forward { weights, batch, first: chunk * CHUNK, outputs, roots: None });
    });
    outputs
}

/// The same; `roots`, of the length that [`Sizes::roots`] says, is filled with what [`gradients`] asks for.
#[must_use]
pub fn outputs_and_roots<T: Real>(weights: &Weights<'_, T>, batch: &Batch, roots: &mut [T]) -> Vec<T> {
    let mut outputs = vec![T::ZERO; batch.len()];
    let chunks = outputs.par_chunks_mut(CHUNK).zip(roots.par_chunks_mut(weights.sizes.roots(CHUNK)));
    chunks.enumerate().for_each(|(chunk, (outputs, roots))| {
        let roots = Some(rows_mut(roots));
        Arch::new().dispatch(Forward { weights, batch, first: chunk * CHUNK, outputs, roots });
    });
    outputs
}

/// The gradients of a loss whose derivatives by the outputs are `slopes`.
#[must_use]
pub fn gradients<T: Real>(passed: &Passed<'_, T>, batch: &Batch, slopes: &[T]) -> Gradients<T> {
    let sizes = passed.sizes;
    let mut transformer = vec![T::ZERO; sizes.transformer()];
    let mut bias = vec![T::ZERO; sizes.width()];
    let blocks = transformer.par_chunks_mut(sizes.inputs * LANES).zip(rows_mut(&mut bias).par_iter_mut());
    let outputs: Vec<Vec<Row<T>>> = blocks
        .enumerate()
        .map(|(block, (transformer, bias))| {
            let mut output = vec![[T::ZERO; LANES]; 2 * sizes.buckets];
            let gradients = BlockGradients { transformer: rows_mut(transformer), bias, output: &mut output };
            Arch::new().dispatch(Backward { passed, batch, slopes, block, gradients });
            output
        })
        .collect();
    Gradients { transformer, bias, output: joined(sizes, &outputs), output_bias: by_bucket(sizes, batch, slopes) }
}

/// A chunk of positions on the way forward.
struct Forward<'a, T> {
    weights: &'a Weights<'a, T>,
    batch: &'a Batch,
    first: usize,
    outputs: &'a mut [T],
    /// `[blocks][positions of the chunk][2]` rows.
    roots: Option<&'a mut [Row<T>]>,
}

impl<T: Real> WithSimd for Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        forward(self);
    }
}

#[inline(always)]
fn forward<T: Real>(job: Forward<'_, T>) {
    let Forward { weights, batch, first, outputs, mut roots } = job;
    let sizes = weights.sizes;
    let mut partial = vec![[T::ZERO; PARTIAL]; outputs.len()];
    for block in 0..sizes.blocks {
        let table = weights.block(block);
        let bias = &rows(weights.bias)[block];
        for (index, partial) in partial.iter_mut().enumerate() {
            let position = first + index;
            for side in 0..2 {
                let root = root(table, bias, batch.inputs(position, side));
                let row = sizes.output_row(batch.bucket(position), side, block);
                add_activations(partial, &root, &rows(weights.output)[row]);
                if let Some(roots) = &mut roots {
                    roots[(block * outputs.len() + index) * 2 + side] = root;
                }
            }
        }
    }
    for (index, (output, partial)) in outputs.iter_mut().zip(&partial).enumerate() {
        *output = weights.output_bias[batch.bucket(first + index)] + total(partial);
    }
}

/// Sums of rows, cut off. A sum that is no number becomes 0; the output bias shows it.
#[inline(always)]
fn root<T: Real>(table: &[Row<T>], bias: &Row<T>, inputs: &[u32]) -> Row<T> {
    let mut sums = *bias;
    for &input in inputs {
        let row = &table[input as usize];
        for lane in 0..LANES {
            sums[lane] += row[lane];
        }
    }
    for sum in &mut sums {
        let above = if *sum > T::ZERO { *sum } else { T::ZERO };
        *sum = if above < T::ONE { above } else { T::ONE };
    }
    sums
}

#[inline(always)]
fn add_activations<T: Real>(partial: &mut [T; PARTIAL], root: &Row<T>, output: &Row<T>) {
    for first in (0..LANES).step_by(PARTIAL) {
        for lane in 0..PARTIAL {
            let root = root[first + lane];
            partial[lane] += root * root * output[first + lane];
        }
    }
}

#[inline(always)]
fn total<T: Real>(partial: &[T; PARTIAL]) -> T {
    partial.iter().fold(T::ZERO, |total, &part| total + part)
}

/// A block on the way back.
struct Backward<'a, T> {
    passed: &'a Passed<'a, T>,
    batch: &'a Batch,
    slopes: &'a [T],
    block: usize,
    gradients: BlockGradients<'a, T>,
}

/// What one thread adds to.
struct BlockGradients<'a, T> {
    transformer: &'a mut [Row<T>],
    bias: &'a mut Row<T>,
    /// By bucket and side.
    output: &'a mut [Row<T>],
}

impl<T: Real> WithSimd for Backward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        backward(self);
    }
}

#[inline(always)]
fn backward<T: Real>(job: Backward<'_, T>) {
    let Backward { passed, batch, slopes, block, gradients } = job;
    let sizes = passed.sizes;
    let (outputs, roots) = (rows(passed.output), rows(passed.roots));
    for (chunk, slopes) in slopes.chunks(CHUNK).enumerate() {
        let first = chunk * CHUNK;
        let roots = &roots[2 * first * sizes.blocks..][2 * block * slopes.len()..][..2 * slopes.len()];
        for (index, (&slope, roots)) in slopes.iter().zip(roots.chunks_exact(2)).enumerate() {
            let (position, bucket) = (first + index, batch.bucket(first + index));
            for (side, root) in roots.iter().enumerate() {
                let output = &outputs[sizes.output_row(bucket, side, block)];
                let sums = sum_slopes(slope, root, output, &mut gradients.output[2 * bucket + side]);
                add(gradients.bias, &sums);
                for &input in batch.inputs(position, side) {
                    add(&mut gradients.transformer[input as usize], &sums);
                }
            }
        }
    }
}

/// Derivatives by the sums; those by the output weights are added to `output_gradients`.
#[inline(always)]
fn sum_slopes<T: Real>(slope: T, root: &Row<T>, output: &Row<T>, output_gradients: &mut Row<T>) -> Row<T> {
    let mut slopes = [T::ZERO; LANES];
    for lane in 0..LANES {
        let steep = slope * root[lane];
        output_gradients[lane] += steep * root[lane];
        // At 0 the factor is 0 already.
        slopes[lane] = if root[lane] < T::ONE { (steep + steep) * output[lane] } else { T::ZERO };
    }
    slopes
}

#[inline(always)]
fn add<T: Real>(sums: &mut Row<T>, row: &Row<T>) {
    for lane in 0..LANES {
        sums[lane] += row[lane];
    }
}

/// The blocks' gradients of output weights side by side, as [`Weights::output`] has them.
fn joined<T: Real>(sizes: Sizes, blocks: &[Vec<Row<T>>]) -> Vec<T> {
    let mut joined = Vec::with_capacity(2 * sizes.buckets * sizes.width());
    for row in 0..2 * sizes.buckets {
        blocks.iter().for_each(|block| joined.extend_from_slice(&block[row]));
    }
    joined
}

fn by_bucket<T: Real>(sizes: Sizes, batch: &Batch, slopes: &[T]) -> Vec<T> {
    let mut sums = vec![T::ZERO; sizes.buckets];
    slopes.iter().enumerate().for_each(|(position, &slope)| sums[batch.bucket(position)] += slope);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::synthetic::{Numbers, batch};

    const SIZES: Sizes = Sizes { inputs: 90, blocks: 2, buckets: 3 };

    struct Owned {
        transformer: Vec<f64>,
        bias: Vec<f64>,
        output: Vec<f64>,
        output_bias: Vec<f64>,
    }

    impl Owned {
        fn new(seed: u64) -> Self {
            let mut numbers = Numbers::new(seed);
            Self {
                transformer: numbers.within(0.3, SIZES.transformer()),
                bias: numbers.within(0.5, SIZES.width()),
                output: numbers.within(0.2, 2 * SIZES.buckets * SIZES.width()),
                output_bias: numbers.within(0.2, SIZES.buckets),
            }
        }

        fn weights(&self) -> Weights<'_, f64> {
            let Self { transformer, bias, output, output_bias } = self;
            Weights { sizes: SIZES, transformer, bias, output, output_bias }
        }

        fn passed<'a>(&'a self, roots: &'a [f64]) -> Passed<'a, f64> {
            Passed { sizes: SIZES, output: &self.output, roots }
        }
    }

    /// Neuron by neuron, as the formula says.
    fn slow_output(weights: &Weights<'_, f64>, batch: &Batch, position: usize) -> f64 {
        let width = SIZES.width();
        let bucket = batch.bucket(position);
        let mut output = weights.output_bias[bucket];
        for side in 0..2 {
            for neuron in 0..width {
                let (block, lane) = (neuron / LANES, neuron % LANES);
                let row = |&input: &u32| weights.transformer[(block * SIZES.inputs + input as usize) * LANES + lane];
                let sum = weights.bias[neuron] + batch.inputs(position, side).iter().map(row).sum::<f64>();
                output += sum.clamp(0.0, 1.0).powi(2) * weights.output[(2 * bucket + side) * width + neuron];
            }
        }
        output
    }

    #[test]
    fn outputs_follow_the_formula_with_and_without_roots() {
        let (owned, batch) = (Owned::new(1), batch(SIZES, 700, 2));
        let weights = owned.weights();
        let mut roots = vec![0.0; SIZES.roots(batch.len())];
        let fast = outputs_and_roots(&weights, &batch, &mut roots);
        assert_eq!(fast, outputs(&weights, &batch));
        for (position, output) in fast.iter().enumerate() {
            let slow = slow_output(&weights, &batch, position);
            assert!((output - slow).abs() < 1e-12, "{position}: {output} {slow}");
        }
    }

    /// Against quotients of differences, for numbers of every kind.
    #[test]
    fn gradients_are_what_the_outputs_change_by() {
        let (mut owned, batch) = (Owned::new(3), batch(SIZES, 300, 4));
        let slopes = Numbers::new(5).within(1.0, batch.len());
        let loss = |owned: &Owned| {
            outputs(&owned.weights(), &batch).iter().zip(&slopes).map(|(output, slope)| output * slope).sum::<f64>()
        };
        let mut roots = vec![0.0; SIZES.roots(batch.len())];
        let _ = outputs_and_roots(&owned.weights(), &batch, &mut roots);
        let gradients = gradients(&owned.passed(&roots), &batch, &slopes);
        type Part = (fn(&mut Owned) -> &mut Vec<f64>, fn(&Gradients<f64>) -> &Vec<f64>);
        let parts: [Part; 4] = [
            (|owned| &mut owned.transformer, |gradients| &gradients.transformer),
            (|owned| &mut owned.bias, |gradients| &gradients.bias),
            (|owned| &mut owned.output, |gradients| &gradients.output),
            (|owned| &mut owned.output_bias, |gradients| &gradients.output_bias),
        ];
        let step = 1e-6;
        for (numbers, gradient) in parts {
            let count = numbers(&mut owned).len();
            assert_eq!(count, gradient(&gradients).len());
            for index in (0..count).step_by(count.div_ceil(60)) {
                let moved = |owned: &mut Owned, by: f64| {
                    numbers(owned)[index] += by;
                    let loss = loss(owned);
                    numbers(owned)[index] -= by;
                    loss
                };
                let slope = (moved(&mut owned, step) - moved(&mut owned, -step)) / (2.0 * step);
                let expected = gradient(&gradients)[index];
                assert!((slope - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{index}: {slope} {expected}");
            }
        }
    }

    #[test]
    fn the_same_bits_on_any_number_of_threads() {
        let (owned, batch) = (Owned::new(6), batch(SIZES, 1_000, 7));
        let all = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut roots = vec![0.0; SIZES.roots(batch.len())];
                let outputs = outputs_and_roots(&owned.weights(), &batch, &mut roots);
                let gradients = gradients(&owned.passed(&roots), &batch, &outputs);
                (outputs, gradients)
            })
        };
        let one = all(1);
        assert_eq!(one, all(2));
        assert_eq!(one, all(5));
    }
}
