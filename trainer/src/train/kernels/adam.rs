//! One step of Adam (Kingma and Ba, 2015), in place, with decoupled decay (Loshchilov and Hutter, 2019) and a bound that
//! no number passes.

use super::Real;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Numbers that one thread takes at a time.
const CHUNK: usize = 1 << 14;

/// The factors of a step, the same for all numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factors {
    /// Share of the old mean of gradients.
    pub beta_1: f64,
    /// Share of the old mean of their squares.
    pub beta_2: f64,
    /// Keeps the divisor away from 0.
    pub epsilon: f64,
    /// Learning rate.
    pub rate: f64,
    /// Share of a number that is taken away a step, per learning rate.
    pub decay: f64,
    /// Greatest absolute value of a number.
    pub bound: f64,
    /// Steps so far, this one included.
    pub time: i32,
}

/// What a step changes, and by what.
#[derive(Debug)]
pub struct Numbers<'a, T> {
    /// The numbers themselves.
    pub values: &'a mut [T],
    /// Their gradients.
    pub gradients: &'a [T],
    /// Running means of gradients.
    pub means: &'a mut [T],
    /// Running means of their squares.
    pub squares: &'a mut [T],
}

/// Makes a step.
pub fn step<T: Real>(factors: &Factors, numbers: Numbers<'_, T>) {
    let Numbers { values, gradients, means, squares } = numbers;
    let chunks = values
        .par_chunks_mut(CHUNK)
        .zip(gradients.par_chunks(CHUNK))
        .zip(means.par_chunks_mut(CHUNK).zip(squares.par_chunks_mut(CHUNK)));
    let rounded = Rounded::of(factors);
    chunks.for_each(|((values, gradients), (means, squares))| {
        Arch::new().dispatch(Chunk { factors: rounded, numbers: Numbers { values, gradients, means, squares } });
    });
}

/// The factors as they are multiplied.
#[derive(Clone, Copy, Debug)]
pub struct Rounded<T> {
    /// Share of the old mean of gradients.
    pub beta_1: T,
    /// Share of the new gradient.
    pub new_1: T,
    /// Share of the old mean of their squares.
    pub beta_2: T,
    /// Share of the new gradient's square.
    pub new_2: T,
    /// What the divisor has more.
    pub epsilon: T,
    /// How far a number moves.
    pub rate: T,
    /// What is left of a number before it moves.
    pub kept: T,
    /// Greatest absolute value of a number.
    pub bound: T,
}

impl<T: Real> Rounded<T> {
    /// Means that begin at 0 are too small by 1 − βᵗ; the rate and epsilon make up for it.
    #[must_use]
    pub fn of(factors: &Factors) -> Self {
        let Factors { beta_1, beta_2, epsilon, rate, decay, bound, time } = *factors;
        let correction = (1.0 - beta_2.powi(time)).sqrt();
        Self {
            beta_1: T::of(beta_1),
            new_1: T::of(1.0 - beta_1),
            beta_2: T::of(beta_2),
            new_2: T::of(1.0 - beta_2),
            epsilon: T::of(epsilon * correction),
            rate: T::of(rate * correction / (1.0 - beta_1.powi(time))),
            kept: T::of(1.0 - rate * decay),
            bound: T::of(bound),
        }
    }
}

struct Chunk<'a, T> {
    factors: Rounded<T>,
    numbers: Numbers<'a, T>,
}

impl<T: Real> WithSimd for Chunk<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { factors, numbers: Numbers { values, gradients, means, squares } } = self;
        let least = T::ZERO - factors.bound;
        for (((value, &gradient), mean), square) in values.iter_mut().zip(gradients).zip(means).zip(squares) {
            *mean = *mean * factors.beta_1 + gradient * factors.new_1;
            *square = *square * factors.beta_2 + gradient * gradient * factors.new_2;
            let moved = *value * factors.kept - factors.rate * *mean / (square.sqrt() + factors.epsilon);
            let above = if moved < least { least } else { moved };
            *value = if above > factors.bound { factors.bound } else { above };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTORS: Factors =
        Factors { beta_1: 0.9, beta_2: 0.999, epsilon: 1e-8, rate: 0.01, decay: 0.0, bound: 2.0, time: 1 };

    fn steps(factors: &Factors, start: f64, gradients: &[f64]) -> f64 {
        let (mut values, mut means, mut squares) = ([start], [0.0], [0.0]);
        for (time, &gradient) in (1..).zip(gradients) {
            let numbers =
                Numbers { values: &mut values, gradients: &[gradient], means: &mut means, squares: &mut squares };
            step(&Factors { time, ..*factors }, numbers);
        }
        values[0]
    }

    /// The paper: the first step is the rate, whatever the gradient's size.
    #[test]
    fn the_first_step_is_the_learning_rate() {
        for gradient in [1e-3, -5.0, 800.0] {
            let moved = steps(&FACTORS, 1.0, &[gradient]) - 1.0;
            assert!((moved + 0.01 * gradient.signum()).abs() < 1e-7, "{gradient}: {moved}");
        }
        assert_eq!(steps(&FACTORS, 1.0, &[0.0]), 1.0);
    }

    /// Worked out by hand from the formula of the paper.
    #[test]
    fn the_second_step_follows_the_running_means() {
        let (first, second) = (2.0, -1.0);
        let mean = (0.9 * 0.1 * first + 0.1 * second) / (1.0 - 0.81);
        let square: f64 = (0.999 * 0.001 * first * first + 0.001 * second * second) / (1.0 - 0.998_001);
        let expected = 1.0 - 0.01 - 0.01 * mean / square.sqrt();
        assert!((steps(&FACTORS, 1.0, &[first, second]) - expected).abs() < 1e-7);
    }

    #[test]
    fn no_number_passes_the_bound_and_decay_shrinks_all() {
        let bounded = Factors { bound: 0.5, ..FACTORS };
        assert_eq!(steps(&bounded, 0.499, &[-1.0]), 0.5);
        assert_eq!(steps(&bounded, -0.499, &[1.0]), -0.5);
        let decaying = Factors { decay: 0.1, ..FACTORS };
        assert!((steps(&decaying, 1.5, &[0.0]) - 1.5 * (1.0 - 0.001)).abs() < 1e-12);
    }
}
