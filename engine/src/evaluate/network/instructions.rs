//! Which instructions a processor has, and the loops of [`super::kernels`] compiled for them.
//!
//! The one module of the crate with `unsafe`: a function compiled for instructions that the processor may lack can be called in
//! no other way, and the plain path takes three times as long for an output (81 ns instead of 26 at width 256, 162 instead of
//! 46 at 512). Each block calls one such function and does nothing else; the functions themselves are the safe loops of
//! `kernels`, which the plain path runs too and which tests hold to a slow twin ([`super::Quantised::sum`]).

#![allow(unsafe_code, reason = "calls of functions with target features")]

use super::kernels::{self, Forward, Update};

/// Instructions that the processor at hand has. A value exists only where that is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instructions(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Instructions {
    /// All that the processor has, from the slowest on. The first are those that every processor has.
    pub fn all() -> Vec<Self> {
        #[allow(unused_mut, reason = "other processors have nothing to add")]
        let mut kinds = vec![Kind::Plain];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                kinds.push(Kind::Avx2);
            }
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
                kinds.push(Kind::Avx512);
            }
        }
        kinds.into_iter().map(Self).collect()
    }

    /// The fastest.
    pub fn best() -> Self {
        Self::all().pop().unwrap_or(Self(Kind::Plain))
    }

    /// What they are called.
    pub const fn name(self) -> &'static str {
        match self.0 {
            Kind::Plain => "plain",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => "AVX-512",
        }
    }

    #[inline]
    pub(super) fn update(self, job: Update<'_>) {
        match self.0 {
            Kind::Plain => kernels::update(job),
            // SAFETY: `Self::all` makes this kind where AVX2 was detected, and nothing else does.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { update_avx2(job) },
            // SAFETY: `Self::all` makes this kind where AVX-512 F and BW were detected, and nothing else does.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { update_avx512(job) },
        }
    }

    #[inline]
    pub(super) fn forward(self, job: &Forward<'_>) -> i64 {
        match self.0 {
            Kind::Plain => kernels::forward(job),
            // SAFETY: as in `update`.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { forward_avx2(job) },
            // SAFETY: as in `update`.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { forward_avx512(job) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn update_avx2(job: Update<'_>) {
    kernels::update(job);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn forward_avx2(job: &Forward<'_>) -> i64 {
    kernels::forward(job)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn update_avx512(job: Update<'_>) {
    kernels::update(job);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn forward_avx512(job: &Forward<'_>) -> i64 {
    kernels::forward(job)
}

#[cfg(test)]
mod tests {
    use super::super::blocks::Block;
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    fn random(count: usize, random: &mut ChaCha8Rng) -> Vec<Block> {
        Block::of((0..64 * count).map(|_| random.next_u32() as i16).collect::<Vec<_>>())
    }

    #[test]
    fn every_set_of_instructions_adds_alike() {
        let mut source = ChaCha8Rng::seed_from_u64(5);
        for blocks in 1..=8 {
            let (start, rows) = (random(blocks, &mut source), random(blocks * 40, &mut source));
            for (added, removed) in [(1, 1), (1, 2), (2, 1), (2, 2), (0, 0), (30, 0), (3, 17)] {
                let mut inputs = |count: usize| -> Vec<u32> { (0..count).map(|_| source.next_u32() % 40).collect() };
                let (added, removed) = (inputs(added), inputs(removed));
                let number =
                    |block: usize, neuron: usize, input: &u32| rows[*input as usize * blocks + block].0[neuron];
                for instructions in Instructions::all() {
                    let mut target = vec![Block::ZERO; blocks];
                    let (source, rows) = (start.as_slice(), rows.as_slice());
                    instructions.update(Update { target: &mut target, source, rows, added: &added, removed: &removed });
                    for (block, neuron) in (0..blocks).flat_map(|block| (0..64).map(move |neuron| (block, neuron))) {
                        let plus: i64 = added.iter().map(|input| i64::from(number(block, neuron, input))).sum();
                        let minus: i64 = removed.iter().map(|input| i64::from(number(block, neuron, input))).sum();
                        let expected = (i64::from(start[block].0[neuron]) + plus - minus) as i16;
                        assert_eq!(target[block].0[neuron], expected, "{} {blocks}", instructions.name());
                    }
                }
            }
        }
    }

    #[test]
    fn every_set_of_instructions_multiplies_alike() {
        let mut source = ChaCha8Rng::seed_from_u64(6);
        for (blocks, ceiling) in (1..=8).flat_map(|blocks| [255, 254, 127, 1].map(|ceiling| (blocks, ceiling))) {
            let (own, opponent) = (random(blocks, &mut source), random(blocks, &mut source));
            let mut weights = random(2 * blocks, &mut source);
            weights.iter_mut().flat_map(|block| &mut block.0).for_each(|weight| *weight = i16::from(*weight as i8));
            check_forward(&own, &opponent, ceiling, &weights);
        }
    }

    /// The greatest sums there are: every root at the ceiling, every weight at its least or greatest.
    #[test]
    fn the_greatest_sums_do_not_overflow() {
        for weight in [i16::from(i8::MIN), i16::from(i8::MAX)] {
            let sums = vec![Block([i16::MAX; 64]); 8];
            check_forward(&sums, &sums, 255, &vec![Block([weight; 64]); 16]);
        }
    }

    fn check_forward(own: &[Block], opponent: &[Block], ceiling: i16, weights: &[Block]) {
        let sums = own.iter().chain(opponent).flat_map(|block| block.0);
        let product = |(sum, weight): (i16, i16)| i64::from(sum.clamp(0, ceiling)).pow(2) * i64::from(weight);
        let expected: i64 = sums.zip(weights.iter().flat_map(|block| block.0)).map(product).sum();
        for instructions in Instructions::all() {
            let got = instructions.forward(&Forward { accumulators: [own, opponent], ceiling, weights });
            assert_eq!(got, expected, "{} at {ceiling}", instructions.name());
        }
    }

    #[test]
    fn the_best_come_last() {
        let all = Instructions::all();
        assert_eq!((all.first().map(|first| first.name()), all.last()), (Some("plain"), Some(&Instructions::best())));
    }
}
