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
    let width = target.len();
    let row = |input: u32| &rows[input as usize * width..][..width];
    match (added, removed) {
        // Nearly every move of nearly every game is one of these.
        (&[a], &[b]) => go(target, source, [row(a), row(b)]),
        (&[a], &[b, c]) => take(target, source, [row(a), row(b), row(c)]),
        _ => {
            target.copy_from_slice(source);
            added.iter().for_each(|&input| add(target, row(input)));
            removed.iter().for_each(|&input| subtract(target, row(input)));
        }
    }
}

// Zipped slices and nothing else: indices and counters bring checks along, where a build has them, and checks keep these
// loops from being compiled to wide instructions.

#[inline(always)]
fn go(target: &mut [Block], source: &[Block], [a, b]: [&[Block]; 2]) {
    for (((target, source), a), b) in target.iter_mut().zip(source).zip(a).zip(b) {
        for (((target, source), a), b) in target.0.iter_mut().zip(&source.0).zip(&a.0).zip(&b.0) {
            *target = source.wrapping_add(*a).wrapping_sub(*b);
        }
    }
}

#[inline(always)]
fn take(target: &mut [Block], source: &[Block], [a, b, c]: [&[Block]; 3]) {
    for ((((target, source), a), b), c) in target.iter_mut().zip(source).zip(a).zip(b).zip(c) {
        for ((((target, source), a), b), c) in target.0.iter_mut().zip(&source.0).zip(&a.0).zip(&b.0).zip(&c.0) {
            *target = source.wrapping_add(*a).wrapping_sub(*b).wrapping_sub(*c);
        }
    }
}

#[inline(always)]
fn add(target: &mut [Block], row: &[Block]) {
    for (target, row) in target.iter_mut().zip(row) {
        target.0.iter_mut().zip(&row.0).for_each(|(sum, &weight)| *sum = sum.wrapping_add(weight));
    }
}

#[inline(always)]
fn subtract(target: &mut [Block], row: &[Block]) {
    for (target, row) in target.iter_mut().zip(row) {
        target.0.iter_mut().zip(&row.0).for_each(|(sum, &weight)| *sum = sum.wrapping_sub(weight));
    }
}

#[inline(always)]
pub(super) fn forward(job: &Forward<'_>) -> i64 {
    let (own, opponent) = job.weights.split_at(job.weights.len() / 2);
    half(job.accumulators[0], own, job.ceiling) + half(job.accumulators[1], opponent, job.ceiling)
}

#[inline(always)]
fn half(accumulators: &[Block], weights: &[Block], ceiling: i16) -> i64 {
    let mut total = 0;
    for (sums, weights) in accumulators.chunks(BLOCKS_A_SUM).zip(weights.chunks(BLOCKS_A_SUM)) {
        let mut part = 0_i32;
        for (sums, weights) in sums.iter().zip(weights) {
            part = part.wrapping_add(block(sums, weights, ceiling));
        }
        total += i64::from(part);
    }
    total
}

#[inline(always)]
#[allow(clippy::manual_clamp, reason = "clamp asks for every number whether its bounds are in order")]
fn block(sums: &Block, weights: &Block, ceiling: i16) -> i32 {
    let mut total = 0_i32;
    for (&sum, &weight) in sums.0.iter().zip(&weights.0) {
        let root = sum.max(0).min(ceiling);
        // A root of eight bits times a weight of eight bits: the product fits, and processors multiply and add pairs.
        let product = root.wrapping_mul(weight);
        total = total.wrapping_add(i32::from(product).wrapping_mul(i32::from(root)));
    }
    total
}
