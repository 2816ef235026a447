//! The arithmetic of training on plain slices: no tensors, no files, no clocks.
//!
//! Tables of rows are cut into *blocks* of [`LANES`] columns, `[blocks][rows][LANES]`, so that one block of a table fits a
//! core's cache and its sums fit registers. Sums over positions are made in their order, block by block or in chunks of
//! fixed size, so results are the same bits for any number of threads. Loops are compiled for AVX2 too and chosen at run
//! time ([`pulp`]); as nothing is reordered, that changes no bit either.
//!
//! * [`network`]: outputs of the network, and the gradients of its numbers
//! * [`lookup`]: rows shared by several rows of a table
//! * [`error`]: the error of outputs against targets
//! * [`adam`]: a step of the optimiser, in place

pub mod adam;
pub mod error;
pub mod lookup;
pub mod network;

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// Columns of a block.
pub const LANES: usize = 64;

/// A row of a block.
pub type Row<T> = [T; LANES];

/// The numbers that kernels calculate with: single precision to train, double precision to check.
pub trait Real:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// The nearest number.
    fn of(number: f64) -> Self;
    /// The same number in double precision.
    fn wide(self) -> f64;
    /// e to the power of it.
    #[must_use]
    fn exp(self) -> Self;
    /// Its square root.
    #[must_use]
    fn sqrt(self) -> Self;

    /// 1/(1 + e⁻ˣ).
    #[must_use]
    fn sigmoid(self) -> Self {
        Self::ONE / (Self::ONE + (Self::ZERO - self).exp())
    }
}

macro_rules! real {
    ($($number:ty),*) => {$(
        impl Real for $number {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            #[inline]
            fn of(number: f64) -> Self {
                number as Self
            }

            #[inline]
            fn wide(self) -> f64 {
                f64::from(self)
            }

            #[inline]
            fn exp(self) -> Self {
                <$number>::exp(self)
            }

            #[inline]
            fn sqrt(self) -> Self {
                <$number>::sqrt(self)
            }
        }
    )*};
}
real!(f32, f64);

/// A slice as rows. Tables are made of whole rows.
fn rows<T>(numbers: &[T]) -> &[Row<T>] {
    numbers.as_chunks().0
}

/// A slice as rows to be changed.
fn rows_mut<T>(numbers: &mut [T]) -> &mut [Row<T>] {
    numbers.as_chunks_mut().0
}
