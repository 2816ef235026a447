//! An efficiently updatable network as the evaluation of any variant.
//!
//! [`Architecture`] is a shape as plain data, [`Features`] what it sees of a variant's positions, [`Parameters`] a trainer's
//! numbers, [`Quantised`] the same in whole numbers, [`NetworkFile`] what is on disk (`docs/formats/network.md`), and
//! [`Network`] the [`Evaluator`] made of it. Nothing here trains: a trainer needs `Features` for inputs, makes `Parameters`
//! and writes a `NetworkFile`.
//!
//! ```text
//! own inputs ──▶ accumulator ─▶ clamp² ─┐
//!          (the same weights)           ├─▶ one of the output layers, by the men on the board ─▶ + ─▶ centipawns
//! enemy's ─────▶ accumulator ─▶ clamp² ─┘                                                        ▲
//!                                                         material and squares, from weights ────┘
//! ```
//!
//! The weights below a network are optional. With them it has to know only what they do not, which takes far fewer games.

#[forbid(unsafe_code)]
mod architecture;
#[forbid(unsafe_code)]
mod blocks;
#[forbid(unsafe_code)]
mod extremes;
#[forbid(unsafe_code)]
mod features;
#[forbid(unsafe_code)]
mod file;
mod instructions;
#[forbid(unsafe_code)]
mod kernels;
#[forbid(unsafe_code)]
mod line;
#[forbid(unsafe_code)]
mod quantised;

pub use architecture::{Architecture, ArchitectureError, MOST_OUTPUT_BUCKETS, Mirroring, WIDTH_STEP, WIDTHS};
pub use features::{Features, Input, View};
pub use file::{Card, CardData, EXTENSION, NetworkFile, NetworkFileError};
pub use instructions::Instructions;
pub use line::{NetworkFollower, NetworkLine};
pub use quantised::{Parameters, QuantisationError, Quantised, Rounding, Scales, inputs_of};

use super::{Evaluator, MOST_VALUE, Tapered};
use crate::geometry::Square;
use crate::position::{Piece, Position};
use crate::variant::rules::MAX_UNITS;
use kernels::Forward;
use std::sync::Arc;

/// A network that judges positions.
#[derive(Debug)]
pub struct Network {
    quantised: Quantised,
    instructions: Instructions,
    exchange_values: [i32; MAX_UNITS],
    base: Option<Tapered>,
}

impl Network {
    /// The network of a file, run by the best instructions that the processor has.
    pub fn new(file: NetworkFile) -> Self {
        let mut exchange_values = [0; MAX_UNITS];
        exchange_values.iter_mut().zip(&file.unit_values).for_each(|(value, &given)| *value = given);
        let base = file.base.map(|weights| Tapered::new(file.quantised.features().variant(), &weights));
        Self { quantised: file.quantised, instructions: Instructions::best(), exchange_values, base }
    }

    /// The same, run by other instructions: slower, and equal to the last bit.
    pub fn with_instructions(self, instructions: Instructions) -> Self {
        Self { instructions, ..self }
    }

    /// What runs it.
    pub const fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// What the network sees.
    pub const fn features(&self) -> &Arc<Features> {
        self.quantised.features()
    }

    /// The output for a position, without the weights below and before it is made whole centipawns: 1.0 is as much as the trainer's 1.0.
    pub fn output(&self, position: &Position) -> f64 {
        self.output_at(position, &mut self.line(position, 1), 0)
    }

    /// The same for a line's position at a ply. Exact: two positions have the same output only if all sums are the same.
    pub fn output_at(&self, position: &Position, line: &mut NetworkLine, ply: usize) -> f64 {
        self.sum(position, line, ply) as f64 / self.quantised.scales().one() as f64
    }

    fn sum(&self, position: &Position, line: &mut NetworkLine, ply: usize) -> i64 {
        let men = position.occupied().len() as usize;
        let bucket = self.features().output_bucket_of(men);
        if men > self.features().most_active() {
            return self.sum_of_a_crowd(position, bucket);
        }
        let accumulators = line.accumulators(self, position, ply);
        let blocks = accumulators[0].len();
        let weights = &self.quantised.output[2 * bucket * blocks..][..2 * blocks];
        let ceiling = self.quantised.scales().transformer as i16;
        let sum = self.instructions.forward(&Forward { accumulators, ceiling, weights });
        sum + i64::from(self.quantised.output_bias[bucket])
    }

    /// With more men than a game begins with, which nobody has proved harmless, sums are made in wider numbers. Accumulators
    /// wrap meanwhile, and are right again when men are gone.
    #[cold]
    fn sum_of_a_crowd(&self, position: &Position, bucket: usize) -> i64 {
        let [own, opponent] = inputs_of(self.features(), position);
        self.quantised.sum([&own, &opponent], bucket)
    }
}

impl Evaluator for Network {
    type Line = NetworkLine;
    type Follower<'a> = NetworkFollower<'a>;

    fn line(&self, root: &Position, plies: usize) -> NetworkLine {
        NetworkLine::new(self, root, plies)
    }

    #[inline]
    fn follow<'a>(&'a self, line: &'a mut NetworkLine, ply: usize) -> NetworkFollower<'a> {
        line.follow(self, ply)
    }

    fn value(&self, position: &Position, line: &mut NetworkLine, ply: usize) -> i32 {
        let scales = self.quantised.scales();
        let centipawns = self.sum(position, line, ply) * i64::from(scales.centipawns) / scales.one();
        let centipawns = centipawns + i64::from(line.base_value(self, position, ply));
        centipawns.clamp(i64::from(-MOST_VALUE), i64::from(MOST_VALUE)) as i32
    }

    /// A network by itself has no bonuses for squares to guess from.
    #[inline]
    fn step_gain(&self, piece: Piece, from: Square, to: Square) -> i32 {
        self.base.as_ref().map_or(0, |base| base.step_gain(piece, from, to))
    }

    fn exchange_values(&self) -> &[i32; MAX_UNITS] {
        &self.exchange_values
    }
}
