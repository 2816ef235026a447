//! A network in whole numbers, made from a trainer's real ones, and why that may be refused.
//!
//! ```text
//! transformer, bias   16 bits    real · transformer scale               accumulator = bias + Σ rows of active inputs
//! activation                     clamp(accumulator, 0, scale)²
//! output              8 bits     real · output scale
//! output_bias         32 bits    real · transformer scale² · output scale
//! centipawns = (output_bias + Σ activation · output) · centipawns / (transformer scale² · output scale)
//! ```
//!
//! What is computed from these numbers is the same for every processor, because nothing can overflow: accumulators are
//! bounded when a network is made or read ([`QuantisationError::Accumulator`]), and an activation's root times an output
//! weight fits sixteen bits whatever the numbers.

use super::blocks::Block;
use super::extremes::extremes;
use super::features::Features;
use crate::variant::rules::Colour;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// What 1.0 is in accumulators. An activation's root (up to this) times an output weight (8 bits) has to fit 16 bits.
const TRANSFORMER_SCALES: RangeInclusive<i32> = 1..=255;
/// What 1.0 is in output weights: beyond this, weights that fit would all be below 0.03 and gain nothing by being finer.
const OUTPUT_SCALES: RangeInclusive<i32> = 1..=4096;
/// Centipawns of an output of 1.0, so wide that every sensible trainer's loss fits.
const CENTIPAWNS: RangeInclusive<i32> = 1..=10_000;

/// A trainer's numbers. Rows follow one another; inputs are those of [`Features`].
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// `[inputs × width]`.
    pub transformer: Vec<f32>,
    /// `[width]`.
    pub bias: Vec<f32>,
    /// `[output buckets × 2 · width]`: for the side to move's neurons, then for the opponent's.
    pub output: Vec<f32>,
    /// `[output buckets]`.
    pub output_bias: Vec<f32>,
}

/// What stored numbers stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scales {
    /// 1.0 in the transformer, and where activations are cut off.
    pub transformer: i32,
    /// 1.0 in output weights.
    pub output: i32,
    /// An output of 1.0 in centipawns.
    pub centipawns: i32,
}

/// What was lost by rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounding {
    /// Largest distance of a weight or bias of the transformer from what is stored for it.
    pub transformer: f64,
    /// Largest distance of an output weight from what is stored for it.
    pub output: f64,
    /// No position of a game is valued so many centipawns otherwise than by the real numbers.
    pub worst_centipawns: f64,
    /// Root mean square of the difference to expect if roundings are independent of one another.
    pub typical_centipawns: f64,
}

/// A network in whole numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantised {
    features: Arc<Features>,
    scales: Scales,
    pub(super) transformer: Vec<Block>,
    pub(super) bias: Vec<Block>,
    /// In sixteen bits each, as they are multiplied; in the file they have eight.
    pub(super) output: Vec<Block>,
    pub(super) output_bias: Vec<i32>,
}

/// The numbers of a network, row after row.
pub(super) struct Integers {
    pub transformer: Vec<i16>,
    pub bias: Vec<i16>,
    pub output: Vec<i8>,
    pub output_bias: Vec<i32>,
}

/// Why numbers make no network.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum QuantisationError {
    /// A list of another length than the shape asks for.
    #[error("{parameter}: expected {expected} numbers, got {got}")]
    Length {
        /// Which list.
        parameter: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        got: usize,
    },
    /// A scale out of range.
    #[error("scale {key}: expected {least} to {most}, got {got}")]
    Scale {
        /// Which scale.
        key: &'static str,
        /// Least value.
        least: i32,
        /// Greatest value.
        most: i32,
        /// The value.
        got: i32,
    },
    /// A number that does not fit its bits, or is none.
    #[error("{parameter}: expected a number from {least} to {most} (scale {scale}), got {got}")]
    Overflow {
        /// Which number.
        parameter: String,
        /// What the number is multiplied by.
        scale: f64,
        /// The least that fits.
        least: f64,
        /// The greatest that fits.
        most: f64,
        /// The number.
        got: f32,
    },
    /// A sum that some position could drive out of sixteen bits.
    #[error(
        "neuron {neuron}, king region {region}: expected sums from {} to {}, and men on the board could make it {low} to {high}",
        i16::MIN,
        i16::MAX
    )]
    Accumulator {
        /// Which neuron.
        neuron: usize,
        /// With the own king in which region.
        region: usize,
        /// A bound below all sums.
        low: i64,
        /// A bound above all sums.
        high: i64,
    },
}

impl Scales {
    /// Scales for these parameters: activations as fine as they may be, output weights as fine as the greatest of them
    /// allows, by powers of two.
    pub fn fitting(parameters: &Parameters, centipawns: i32) -> Self {
        let greatest = parameters.output.iter().fold(0_f32, |most, weight| most.max(weight.abs()));
        let fits = |scale: &i32| f64::from(greatest) * f64::from(*scale) <= f64::from(i8::MAX);
        let finer = std::iter::successors(Some(*OUTPUT_SCALES.end()), |scale| Some(scale / 2));
        let output = finer.take_while(|scale| OUTPUT_SCALES.contains(scale)).find(fits);
        Self { transformer: *TRANSFORMER_SCALES.end(), output: output.unwrap_or(*OUTPUT_SCALES.start()), centipawns }
    }

    /// What an output of 1.0 is in sums of activations times output weights.
    pub fn one(self) -> i64 {
        i64::from(self.transformer).pow(2) * i64::from(self.output)
    }

    fn check(self) -> Result<(), QuantisationError> {
        let rows = [
            ("transformer", self.transformer, TRANSFORMER_SCALES),
            ("output", self.output, OUTPUT_SCALES),
            ("centipawns", self.centipawns, CENTIPAWNS),
        ];
        let outside = rows.into_iter().find(|(_, got, range)| !range.contains(got));
        let fault = |(key, got, range): (_, _, RangeInclusive<i32>)| QuantisationError::Scale {
            key,
            least: *range.start(),
            most: *range.end(),
            got,
        };
        outside.map(fault).map_or(Ok(()), Err)
    }
}

impl Quantised {
    /// Rounds a trainer's numbers.
    ///
    /// # Errors
    /// They are of another shape, one of them does not fit its bits, or a sum could overflow; the first of these is named.
    pub fn new(
        features: &Arc<Features>,
        parameters: &Parameters,
        scales: Scales,
    ) -> Result<(Self, Rounding), QuantisationError> {
        scales.check()?;
        check_lengths(features, &parameters.lengths())?;
        let weight = f64::from(scales.transformer);
        let sum = scales.one() as f64;
        let transformer = Rounder { name: &|index| name_of_weight(features, index), scale: weight };
        let bias = Rounder { name: &|index| format!("bias of neuron {index}"), scale: weight };
        let output = Rounder { name: &|index| name_of_output(features, index), scale: f64::from(scales.output) };
        let output_bias = Rounder { name: &|index| format!("output_bias {index}"), scale: sum };
        let integers = Integers {
            transformer: transformer.round(&parameters.transformer)?,
            bias: bias.round(&parameters.bias)?,
            output: output.round(&parameters.output)?,
            output_bias: output_bias.round(&parameters.output_bias)?,
        };
        let rounding = Rounding::of(features, parameters, &integers, scales);
        Ok((Self::from_integers(features, scales, integers)?, rounding))
    }

    /// A network from stored numbers.
    pub(super) fn from_integers(
        features: &Arc<Features>,
        scales: Scales,
        integers: Integers,
    ) -> Result<Self, QuantisationError> {
        scales.check()?;
        let Integers { transformer, bias, output, output_bias } = &integers;
        check_lengths(features, &[transformer.len(), bias.len(), output.len(), output_bias.len()])?;
        check_accumulators(features, &integers)?;
        Ok(Self {
            features: Arc::clone(features),
            scales,
            transformer: Block::of(integers.transformer),
            bias: Block::of(integers.bias),
            output: Block::of(integers.output.into_iter().map(i16::from)),
            output_bias: integers.output_bias,
        })
    }

    /// What the network sees.
    pub const fn features(&self) -> &Arc<Features> {
        &self.features
    }

    /// What the numbers stand for.
    pub const fn scales(&self) -> Scales {
        self.scales
    }

    /// The sum of the output from scratch, neuron by neuron, in numbers so wide that nothing could overflow: the slow twin
    /// of everything fast. `inputs` are the active ones of the side to move, then of its opponent.
    pub fn sum(&self, inputs: [&[u32]; 2], bucket: usize) -> i64 {
        let width = self.features.architecture().width;
        let number =
            |blocks: &[Block], index: usize| i64::from(blocks[index / width_of_block()].0[index % width_of_block()]);
        let mut total = i64::from(self.output_bias[bucket]);
        for (side, inputs) in inputs.into_iter().enumerate() {
            for neuron in 0..width {
                let weights = inputs.iter().map(|&input| number(&self.transformer, input as usize * width + neuron));
                let sum = number(&self.bias, neuron) + weights.sum::<i64>();
                let root = sum.clamp(0, i64::from(self.scales.transformer));
                total += root * root * number(&self.output, (2 * bucket + side) * width + neuron);
            }
        }
        total
    }
}

const fn width_of_block() -> usize {
    super::architecture::WIDTH_STEP
}

impl Parameters {
    /// The output for active inputs of the side to move and of its opponent, in real numbers: what a trainer computes.
    pub fn output(&self, features: &Features, inputs: [&[u32]; 2], bucket: usize) -> f64 {
        let width = features.architecture().width;
        let mut total = f64::from(self.output_bias[bucket]);
        for (side, inputs) in inputs.into_iter().enumerate() {
            for neuron in 0..width {
                let weights = inputs.iter().map(|&input| f64::from(self.transformer[input as usize * width + neuron]));
                let root = (f64::from(self.bias[neuron]) + weights.sum::<f64>()).clamp(0.0, 1.0);
                total += root * root * f64::from(self.output[(2 * bucket + side) * width + neuron]);
            }
        }
        total
    }

    fn lengths(&self) -> [usize; 4] {
        [self.transformer.len(), self.bias.len(), self.output.len(), self.output_bias.len()]
    }
}

/// Numbers of the transformer, bias, output and output bias of a shape.
pub(super) fn lengths_of(features: &Features) -> [usize; 4] {
    let shape = features.architecture();
    [features.inputs() * shape.width, shape.width, shape.output_buckets * 2 * shape.width, shape.output_buckets]
}

fn check_lengths(features: &Features, lengths: &[usize; 4]) -> Result<(), QuantisationError> {
    let rows = ["transformer", "bias", "output", "output_bias"].into_iter().zip(lengths_of(features)).zip(lengths);
    for ((parameter, expected), &got) in rows {
        if expected != got {
            return Err(QuantisationError::Length { parameter, expected, got });
        }
    }
    Ok(())
}

fn check_accumulators(features: &Features, integers: &Integers) -> Result<(), QuantisationError> {
    for region in 0..features.architecture().regions() {
        let reach = extremes(features, &integers.transformer, region);
        for (neuron, (&bias, (low, high))) in integers.bias.iter().zip(reach).enumerate() {
            let (low, high) = (i64::from(bias) + low, i64::from(bias) + high);
            if low < i64::from(i16::MIN) || high > i64::from(i16::MAX) {
                return Err(QuantisationError::Accumulator { neuron, region, low, high });
            }
        }
    }
    Ok(())
}

/// How numbers of one kind are rounded, and what each is called when it does not fit.
struct Rounder<'a> {
    name: &'a dyn Fn(usize) -> String,
    scale: f64,
}

impl Rounder<'_> {
    fn round<T: TryFrom<i64> + Bounds>(&self, numbers: &[f32]) -> Result<Vec<T>, QuantisationError> {
        let round = |(index, &number)| self.rounded(number).ok_or_else(|| self.fault::<T>(index, number));
        numbers.iter().enumerate().map(round).collect()
    }

    fn rounded<T: TryFrom<i64>>(&self, number: f32) -> Option<T> {
        let scaled = (f64::from(number) * self.scale).round();
        // Beyond this no conversion is exact, and nothing fits anyway; NaN is not below it.
        (scaled.abs() < f64::from(u32::MAX)).then(|| T::try_from(scaled as i64).ok()).flatten()
    }

    fn fault<T: Bounds>(&self, index: usize, got: f32) -> QuantisationError {
        let (least, most) = (T::LEAST / self.scale, T::MOST / self.scale);
        QuantisationError::Overflow { parameter: (self.name)(index), scale: self.scale, least, most, got }
    }
}

/// What fits a type.
trait Bounds {
    const LEAST: f64;
    const MOST: f64;
}

macro_rules! bounds {
    ($($number:ty),*) => {$(
        impl Bounds for $number {
            const LEAST: f64 = <$number>::MIN as f64;
            const MOST: f64 = <$number>::MAX as f64;
        }
    )*};
}
bounds!(i8, i16, i32);

fn name_of_weight(features: &Features, index: usize) -> String {
    let width = features.architecture().width;
    let (input, neuron) = (index / width, index % width);
    let Some(meaning) = features.meaning(input) else { return format!("weight of input {input} for neuron {neuron}") };
    let variant = features.variant();
    let side = if meaning.enemy { "enemy" } else { "own" };
    let place = match meaning.square {
        Some(square) => format!("on {}", variant.topology().name(square)),
        None => format!("in hand, {} besides", meaning.held_before),
    };
    let unit = &variant.unit(meaning.unit).name;
    format!("weight of input {input} ({side} {unit} {place}, king region {}) for neuron {neuron}", meaning.region)
}

fn name_of_output(features: &Features, index: usize) -> String {
    let width = features.architecture().width;
    let (bucket, side, neuron) = (index / (2 * width), index / width % 2, index % width);
    let side = ["side to move", "opponent"][side];
    format!("output weight of bucket {bucket}, {side}'s neuron {neuron}")
}

impl Rounding {
    fn of(features: &Features, parameters: &Parameters, integers: &Integers, scales: Scales) -> Self {
        let scale = f64::from(scales.transformer);
        let weights = largest(&parameters.transformer, &integers.transformer, scale);
        let bias = largest(&parameters.bias, &integers.bias, scale);
        let output = largest(&parameters.output, &integers.output, f64::from(scales.output));
        let output_bias = largest(&parameters.output_bias, &integers.output_bias, scales.one() as f64);
        // Sums are off by this at most, activations (of slope 2 where it is steepest) by twice as much.
        let sum = features.most_active() as f64 * weights + bias;
        let rows = parameters.output.chunks(2 * features.architecture().width);
        let worst = |row: &[f32]| {
            let through = row.iter().map(|weight| f64::from(weight.abs()) * (2.0 * sum).min(1.0)).sum::<f64>();
            through + row.len() as f64 * output + output_bias
        };
        let centipawns = f64::from(scales.centipawns);
        Self {
            transformer: weights.max(bias),
            output,
            worst_centipawns: centipawns * rows.clone().map(worst).fold(0.0, f64::max),
            typical_centipawns: centipawns * rows.map(|row| typical(features, row, scales)).fold(0.0, f64::max),
        }
    }
}

/// Standard deviation of the output if every rounding is anything up to half a step, by itself.
fn typical(features: &Features, row: &[f32], scales: Scales) -> f64 {
    let variance = |scale: i32| 1.0 / (12.0 * f64::from(scale).powi(2));
    let sum = (features.most_active() + 1) as f64 * variance(scales.transformer);
    let through = row.iter().map(|&weight| (2.0 * f64::from(weight)).powi(2) * sum).sum::<f64>();
    (through + row.len() as f64 * variance(scales.output)).sqrt()
}

fn largest<T: Copy + Into<f64>>(real: &[f32], stored: &[T], scale: f64) -> f64 {
    let apart = real.iter().zip(stored).map(|(&real, &stored)| (f64::from(real) - stored.into() / scale).abs());
    apart.fold(0.0, f64::max)
}

/// Both sides' active inputs of a position, the side to move first: what [`Quantised::sum`] and [`Parameters::output`] ask
/// for.
pub fn inputs_of(features: &Features, position: &crate::position::Position) -> [Vec<u32>; 2] {
    let side = position.side_to_move();
    [side, side.opponent()].map(|perspective: Colour| {
        let mut inputs = Vec::with_capacity(features.most_active());
        features.active(position, perspective, &mut inputs);
        inputs
    })
}
