//! Positions in memory as training draws them: their active inputs, result, score and weight, side by side in few vectors.

use super::batch::{Batch, Label};
use super::inputs::ActiveInputs;
use super::schedule::{Blend, outcome};
use fairyforge_engine::position::Position;
use rayon::prelude::*;

/// Positions that one thread puts into a batch at a time.
const CHUNK: usize = 1024;

/// What is known of a position beside what stands on the board; all from the side to move's view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// The game's result: 1, 0 or −1.
    pub result: i8,
    /// What the scores from here on expect of the game: 0 to 1 ([`super::schedule::TargetSettings::expectations`]).
    pub expected: f32,
    /// The value by the weights below the network, in centipawns.
    pub base: i16,
    /// How much it counts.
    pub weight: f32,
}

/// Positions, of both perspectives' active inputs each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// Slots of active inputs, list after list: side to move, opponent, side to move …
    slots: Vec<u16>,
    /// Where each list ends.
    ends: Vec<usize>,
    /// Region of each list.
    regions: Vec<u16>,
    buckets: Vec<u8>,
    known: Vec<Known>,
}

impl Samples {
    /// Number of positions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// What is known of the positions, in order.
    #[must_use]
    pub fn known(&self) -> &[Known] {
        &self.known
    }

    /// Adds a position. `scratch` is any vector: it saves making one.
    pub fn push(&mut self, inputs: &dyn ActiveInputs, position: &Position, known: Known, scratch: &mut Vec<u32>) {
        let slots = inputs.slots() as u32;
        let side = position.side_to_move();
        for perspective in [side, side.opponent()] {
            inputs.active(position, perspective, scratch);
            self.slots.extend(scratch.iter().map(|input| (input % slots) as u16));
            self.ends.push(self.slots.len());
            self.regions.push(scratch.first().map_or(0, |input| (input / slots) as u16));
        }
        self.buckets.push(inputs.output_bucket(position) as u8);
        self.known.push(known);
    }

    /// The output layer of a position.
    #[must_use]
    pub fn bucket(&self, position: usize) -> usize {
        usize::from(self.buckets[position])
    }

    /// Multiplies all weights.
    pub fn weigh(&mut self, factor: f32) {
        self.known.iter_mut().for_each(|known| known.weight *= factor);
    }

    /// Adds the positions of others.
    pub fn append(&mut self, other: &Self) {
        let shift = self.slots.len();
        self.slots.extend_from_slice(&other.slots);
        self.ends.extend(other.ends.iter().map(|end| end + shift));
        self.regions.extend_from_slice(&other.regions);
        self.buckets.extend_from_slice(&other.buckets);
        self.known.extend_from_slice(&other.known);
    }

    /// A batch of these positions, in this order.
    #[must_use]
    pub fn batch(&self, chosen: &[u32], slots: usize, blend: Blend) -> Batch {
        let parts: Vec<Batch> = chosen
            .par_chunks(CHUNK)
            .map(|chosen| {
                let mut batch = Batch::default();
                chosen.iter().for_each(|&index| self.copy(index as usize, slots, blend, &mut batch));
                batch
            })
            .collect();
        let mut batch = Batch::default();
        parts.iter().for_each(|part| batch.append(part));
        batch
    }

    fn copy(&self, index: usize, slots: usize, blend: Blend, batch: &mut Batch) {
        let known = self.known[index];
        let target = blend.target(known.result, known.expected) as f32;
        let base = (f64::from(known.base) / blend.centipawns) as f32;
        let result = outcome(known.result) as f32;
        let label = Label { bucket: self.buckets[index], target, result, base, weight: known.weight };
        batch.push([0, 1].map(|side| self.inputs(2 * index + side, slots)), label);
    }

    pub(super) fn inputs(&self, list: usize, slots: usize) -> impl Iterator<Item = u32> + '_ {
        let begin = if list == 0 { 0 } else { self.ends[list - 1] };
        let first = u32::from(self.regions[list]) * slots as u32;
        self.slots[begin..self.ends[list]].iter().map(move |&slot| first + u32::from(slot))
    }
}
