//! Numbers in blocks of 64, aligned to cache lines: what rows of weights and accumulators are made of.

use super::architecture::WIDTH_STEP;

/// So many neurons side by side.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block(pub [i16; WIDTH_STEP]);

impl Block {
    pub const ZERO: Self = Self([0; WIDTH_STEP]);

    /// Numbers in blocks; the last one is filled up with zeros.
    pub fn of(numbers: impl IntoIterator<Item = i16>) -> Vec<Self> {
        let mut blocks = Vec::new();
        let mut numbers = numbers.into_iter().peekable();
        while numbers.peek().is_some() {
            let mut block = Self::ZERO;
            block.0.iter_mut().zip(&mut numbers).for_each(|(slot, number)| *slot = number);
            blocks.push(block);
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_order() {
        let blocks = Block::of(0..130);
        assert_eq!(blocks.len(), 3);
        let flat: Vec<i16> = blocks.iter().flat_map(|block| block.0).collect();
        assert_eq!(flat[..130], (0..130).collect::<Vec<i16>>());
        assert!(flat[130..].iter().all(|&number| number == 0));
    }
}
