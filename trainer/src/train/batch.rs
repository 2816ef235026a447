//! A batch of positions as the network reads them: lists of active inputs, what the output should be, what it weighs.

/// Positions that are learnt from together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Active inputs of the first position's side to move, of its opponent, of the second position's side to move …
    inputs: Vec<u32>,
    /// Where each of these lists ends.
    ends: Vec<u32>,
    buckets: Vec<u8>,
    /// What sigmoid(base + output) should be: 0 to 1, the side to move's view.
    pub targets: Vec<f32>,
    /// What came of the games: 0, ½ or 1, the side to move's view.
    pub results: Vec<f32>,
    /// What is known without the network, in the output's unit.
    pub bases: Vec<f32>,
    /// How much each position counts.
    pub weights: Vec<f32>,
}

/// What a batch holds of a position beside its inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Label {
    /// The output layer.
    pub bucket: u8,
    /// What sigmoid(base + output) should be.
    pub target: f32,
    /// What came of the game.
    pub result: f32,
    /// What is known without the network.
    pub base: f32,
    /// How much the position counts.
    pub weight: f32,
}

impl Batch {
    /// Number of positions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.buckets.len()
    }

    /// Whether there is no position.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// Adds a position: the active inputs of its side to move and of its opponent.
    pub fn push(&mut self, sides: [impl IntoIterator<Item = u32>; 2], label: Label) {
        for inputs in sides {
            self.inputs.extend(inputs);
            self.ends.push(self.inputs.len() as u32);
        }
        self.buckets.push(label.bucket);
        self.targets.push(label.target);
        self.results.push(label.result);
        self.bases.push(label.base);
        self.weights.push(label.weight);
    }

    /// Adds the positions of another batch.
    pub fn append(&mut self, other: &Self) {
        let shift = self.inputs.len() as u32;
        self.inputs.extend_from_slice(&other.inputs);
        self.ends.extend(other.ends.iter().map(|end| end + shift));
        self.buckets.extend_from_slice(&other.buckets);
        self.targets.extend_from_slice(&other.targets);
        self.results.extend_from_slice(&other.results);
        self.bases.extend_from_slice(&other.bases);
        self.weights.extend_from_slice(&other.weights);
    }

    /// The active inputs of a position: side 0 is to move, side 1 its opponent.
    #[inline]
    #[must_use]
    pub fn inputs(&self, position: usize, side: usize) -> &[u32] {
        let list = 2 * position + side;
        let begin = if list == 0 { 0 } else { self.ends[list - 1] };
        &self.inputs[begin as usize..self.ends[list] as usize]
    }

    /// The output layer of a position.
    #[inline]
    #[must_use]
    pub fn bucket(&self, position: usize) -> usize {
        usize::from(self.buckets[position])
    }

    /// Σ weight, in order.
    #[must_use]
    pub fn total_weight(&self) -> f64 {
        self.weights.iter().map(|&weight| f64::from(weight)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_keep_their_inputs_and_labels() {
        let label = |bucket| Label { bucket, target: 0.5, result: 1.0, base: 0.0, weight: f32::from(bucket) };
        let mut batch = Batch::default();
        batch.push([vec![3, 1], vec![7]], label(1));
        batch.push([vec![], vec![2, 2]], label(2));
        let mut twice = batch.clone();
        twice.append(&batch);
        assert_eq!((batch.len(), twice.len(), twice.total_weight()), (2, 4, 6.0));
        for at in [0, 2] {
            assert_eq!((twice.inputs(at, 0), twice.inputs(at, 1), twice.bucket(at)), (&[3, 1][..], &[7][..], 1));
            assert_eq!((twice.inputs(at + 1, 0), twice.inputs(at + 1, 1)), (&[][..], &[2, 2][..]));
        }
    }
}
