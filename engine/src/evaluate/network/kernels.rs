//! The two loops in which a network spends its time, once, as plain Rust over blocks.
//!
//! [`super::instructions`] compiles them for each set of instructions; all of them compute the same numbers, as nothing here
//! depends on the order of sums: sums of accumulators wrap, and those of an output cannot overflow.

use super::blocks::Block;

/// Blocks of an output that are summed up in 32 bits before they are added to the 64 bits of the whole: 255 · 255 · 128 times
/// 256 neurons is below 2³¹.
const BLOCKS_A_SUM: usize = 4;

/// An accumulator made of another by adding and subtracting rows of weights.
pub(super) struct Update<'a> {
    pub target: &'a mut [Block],
    pub source: &'a [Block],
    /// All rows, each as long as the accumulators.
    pub rows: &'a [Block],
    /// Inputs that become active.
    pub added: &'a [u32],
    /// Inputs that were active.
    pub removed: &'a [u32],
}

/// Both accumulators through the activation times the weights of one output layer.
pub(super) struct Forward<'a> {
    /// Of the side to move, then of its opponent.
    pub accumulators: [&'a [Block]; 2],
    /// Where activations are cut off before they are squared.
    pub ceiling: i16,
    /// For the side to move's neurons, then for the opponent's.
    pub weights: &'a [Block],
}

#[inline(always)]
pub(super) fn update(job: Update<'_>) {
    let Update { target, source, rows, added, removed } = job;
    match (added, removed) {
        // Nearly every move of nearly every game is one of these.
        (&[a], &[b]) => update_known(target, source, rows, [a], [b]),
        (&[a], &[b, c]) => update_known(target, source, rows, [a], [b, c]),
        _ => update_any(target, source, rows, (added, removed)),
    }
}

#[inline(always)]
fn update_known<const A: usize, const R: usize>(
    target: &mut [Block],
    source: &[Block],
    rows: &[Block],
    added: [u32; A],
    removed: [u32; R],
) {
    let width = target.len();
    let row = |input: u32| &rows[input as usize * width..][..width];
    let (added, removed) = (added.map(row), removed.map(row));
    for (block, (target, source)) in target.iter_mut().zip(source).enumerate() {
        for (neuron, (target, &source)) in target.0.iter_mut().zip(&source.0).enumerate() {
            let plus = added.iter().fold(source, |sum, row| sum.wrapping_add(row[block].0[neuron]));
            *target = removed.iter().fold(plus, |sum, row| sum.wrapping_sub(row[block].0[neuron]));
        }
    }
}

#[inline(always)]
fn update_any(target: &mut [Block], source: &[Block], rows: &[Block], (added, removed): (&[u32], &[u32])) {
    let width = target.len();
    for (block, (target, source)) in target.iter_mut().zip(source).enumerate() {
        let mut sums = source.0;
        for &input in added {
            let row = &rows[input as usize * width + block];
            sums.iter_mut().zip(&row.0).for_each(|(sum, &weight)| *sum = sum.wrapping_add(weight));
        }
        for &input in removed {
            let row = &rows[input as usize * width + block];
            sums.iter_mut().zip(&row.0).for_each(|(sum, &weight)| *sum = sum.wrapping_sub(weight));
        }
        target.0 = sums;
    }
}

#[inline(always)]
pub(super) fn forward(job: &Forward<'_>) -> i64 {
    let (own, opponent) = job.weights.split_at(job.weights.len() / 2);
    [own, opponent].into_iter().zip(job.accumulators).map(|(weights, sums)| half(sums, weights, job.ceiling)).sum()
}

#[inline(always)]
fn half(accumulators: &[Block], weights: &[Block], ceiling: i16) -> i64 {
    let mut total = 0;
    for (sums, weights) in accumulators.chunks(BLOCKS_A_SUM).zip(weights.chunks(BLOCKS_A_SUM)) {
        let mut part = 0_i32;
        for (sums, weights) in sums.iter().zip(weights) {
            for (&sum, &weight) in sums.0.iter().zip(&weights.0) {
                let root = sum.clamp(0, ceiling);
                // A root of eight bits times a weight of eight bits: the product fits, and processors multiply and add pairs.
                let product = root.wrapping_mul(weight);
                part = part.wrapping_add(i32::from(product) * i32::from(root));
            }
        }
        total += i64::from(part);
    }
    total
}
