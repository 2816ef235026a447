//! A table to which each row adds one of a few shared rows: how a king's regions, or all squares of a unit, learn
//! together what they have in common.
//!
//! `sum[i] = table[i] + shared[of[i]]`, in every block.

use super::{LANES, Real, rows, rows_mut};
use rayon::prelude::*;

/// Which shared row each row of a table adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// A shared row for each row.
    pub of: Vec<u32>,
    /// Number of shared rows.
    pub shared: usize,
}

impl Lookup {
    /// The table with the shared rows added.
    #[must_use]
    pub fn sum<T: Real>(&self, table: &[T], shared: &[T]) -> Vec<T> {
        let mut sum = table.to_vec();
        let blocks = sum.par_chunks_mut(self.of.len() * LANES).zip(shared.par_chunks(self.shared * LANES));
        blocks.for_each(|(sum, shared)| {
            let shared = rows(shared);
            for (row, &of) in rows_mut(sum).iter_mut().zip(&self.of) {
                row.iter_mut().zip(&shared[of as usize]).for_each(|(number, &shared)| *number += shared);
            }
        });
        sum
    }

    /// Derivatives by the shared rows, given those by the rows of the sum. Those by the table are these themselves.
    #[must_use]
    pub fn gradients<T: Real>(&self, slopes: &[T]) -> Vec<T> {
        let blocks = slopes.len() / (self.of.len() * LANES);
        let mut gradients = vec![T::ZERO; blocks * self.shared * LANES];
        let pairs = gradients.par_chunks_mut(self.shared * LANES).zip(slopes.par_chunks(self.of.len() * LANES));
        pairs.for_each(|(gradients, slopes)| {
            let gradients = rows_mut(gradients);
            for (row, &of) in rows(slopes).iter().zip(&self.of) {
                gradients[of as usize].iter_mut().zip(row).for_each(|(sum, &slope)| *sum += slope);
            }
        });
        gradients
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::synthetic::Numbers;

    #[test]
    fn rows_add_their_shared_row_and_give_it_their_slopes() {
        let lookup = Lookup { of: vec![1, 0, 1, 1], shared: 2 };
        let mut numbers = Numbers::new(1);
        let (table, shared): (Vec<f64>, Vec<f64>) =
            (numbers.within(1.0, 2 * 4 * LANES), numbers.within(1.0, 2 * 2 * LANES));
        let sum = lookup.sum(&table, &shared);
        let gradients = lookup.gradients(&table);
        for (block, lane) in [(0, 0), (0, 63), (1, 17)] {
            let row = |row: usize| (block * 4 + row) * LANES + lane;
            let common = |row: usize| (block * 2 + row) * LANES + lane;
            assert_eq!(sum[row(1)], table[row(1)] + shared[common(0)]);
            assert_eq!(sum[row(3)], table[row(3)] + shared[common(1)]);
            assert_eq!(gradients[common(0)], table[row(1)]);
            assert_eq!(gradients[common(1)], table[row(0)] + table[row(2)] + table[row(3)]);
        }
    }
}
