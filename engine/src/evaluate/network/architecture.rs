//! The shape of a network as plain data: what its file says of it, and what a trainer is told to train.
//!
//! A shape names no game. Whether it fits one is for [`super::Features`] to say, which compiles it for a variant.

use crate::geometry::GRID;
use serde::{Deserialize, Serialize};

/// Neurons come in multiples of this, so that every row of weights is made of whole blocks of registers and cache lines.
pub const WIDTH_STEP: usize = 64;
/// Fewest and most neurons a perspective: less learns little, more is slower than it is stronger on the machines we know.
pub const WIDTHS: std::ops::RangeInclusive<usize> = 64..=512;
/// Most weights of a transformer: 256 MiB of sixteen bits.
pub(super) const MOST_WEIGHTS: usize = 1 << 27;
/// Most output layers: with more, each sees too few positions to learn from.
pub const MOST_OUTPUT_BUCKETS: usize = 16;

/// The shape of a network: (inputs → `width`) for each perspective, squared clipped ReLU, and one output for the side to
/// move, by one of `output_buckets` layers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// Neurons a perspective: a multiple of [`WIDTH_STEP`] in [`WIDTHS`].
    pub width: usize,
    /// Where bands of ranks begin that tell regions of the own king apart, seen from its side: `[1, 3]` are its first
    /// rank, the next two, and the others. Empty: ranks make no difference.
    #[serde(default)]
    pub king_ranks: Vec<u8>,
    /// Likewise for files, counted from the left as the side sees the board, after mirroring.
    #[serde(default)]
    pub king_files: Vec<u8>,
    /// Whether a side whose king stands on the right half of the board sees the board mirrored.
    #[serde(default)]
    pub mirroring: Mirroring,
    /// Output layers, by the number of men on the board.
    pub output_buckets: usize,
}

/// When a side sees the board mirrored, so that its king is always on the left half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mirroring {
    /// Never.
    #[default]
    Off,
    /// Where left and right make no difference at all to the rules. Any other game refuses it.
    Exact,
    /// Where they make none but for castling. Castling rights are no inputs, so the network does not see what it would
    /// confuse: positions with rights, and the mirror images of such positions, which hardly ever occur.
    IgnoringCastling,
}

/// Why a shape is none, or does not fit a game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArchitectureError {
    /// A number of neurons that no code path is made for.
    #[error("width: expected a multiple of {WIDTH_STEP} from {least} to {most}, got {got}", least = WIDTHS.start(), most = WIDTHS.end())]
    Width {
        /// The number.
        got: usize,
    },
    /// A number of output layers out of range.
    #[error("output_buckets: expected 1 to {MOST_OUTPUT_BUCKETS}, got {got}")]
    OutputBuckets {
        /// The number.
        got: usize,
    },
    /// Bands that do not rise, or begin outside the board.
    #[error("{key}: expected rising numbers from 1 to {most}, got {got:?}")]
    Bands {
        /// Which bands.
        key: &'static str,
        /// The last line of the board, or of its half.
        most: u8,
        /// What came.
        got: Vec<u8>,
    },
    /// Regions of "the" king where a side may have several royal men.
    #[error("expected no king regions and no mirroring, as a side of {variant} may have several royal men")]
    SeveralRoyals {
        /// The game.
        variant: String,
    },
    /// More weights than a file may hold.
    #[error("expected at most {most} weights, got {got} for {variant}; fewer regions or a smaller width")]
    TooLarge {
        /// The game.
        variant: String,
        /// The most.
        most: usize,
        /// Inputs times width.
        got: usize,
    },
    /// The rules tell left from right.
    #[error("mirroring: expected rules of {variant} that are the same from left and right, got {difference}")]
    Lopsided {
        /// The game.
        variant: String,
        /// What is not the same.
        difference: String,
    },
}

impl Architecture {
    /// A shape without regions, mirroring or several output layers.
    pub const fn plain(width: usize) -> Self {
        Self { width, king_ranks: Vec::new(), king_files: Vec::new(), mirroring: Mirroring::Off, output_buckets: 1 }
    }

    /// Number of regions of the own king that have inputs of their own.
    pub fn regions(&self) -> usize {
        (self.king_ranks.len() + 1) * (self.king_files.len() + 1)
    }

    /// Whether where the own king stands makes a difference to its side's inputs.
    pub fn looks_at_kings(&self) -> bool {
        self.regions() > 1 || self.mirroring != Mirroring::Off
    }

    /// What every game asks of a shape. Bands are compared with the greatest board; a variant's own is for `Features`.
    pub(super) fn check(&self) -> Result<(), ArchitectureError> {
        if !WIDTHS.contains(&self.width) || !self.width.is_multiple_of(WIDTH_STEP) {
            return Err(ArchitectureError::Width { got: self.width });
        }
        if !(1..=MOST_OUTPUT_BUCKETS).contains(&self.output_buckets) {
            return Err(ArchitectureError::OutputBuckets { got: self.output_buckets });
        }
        self.check_bands(GRID, GRID)
    }

    /// Whether the bands begin on the first so many lines.
    pub(super) fn check_bands(&self, ranks: u8, files: u8) -> Result<(), ArchitectureError> {
        check_bands("king_ranks", &self.king_ranks, ranks)?;
        check_bands("king_files", &self.king_files, files)
    }

    /// The region of a king that its side sees on this row and file.
    pub(super) fn region(&self, row: u8, file: u8) -> usize {
        let band = |starts: &[u8], line: u8| starts.iter().filter(|&&start| start <= line).count();
        band(&self.king_ranks, row) * (self.king_files.len() + 1) + band(&self.king_files, file)
    }
}

fn check_bands(key: &'static str, starts: &[u8], lines: u8) -> Result<(), ArchitectureError> {
    let rises = starts.is_sorted_by(|a, b| a < b);
    let fits = starts.iter().all(|start| (1..lines).contains(start));
    let fault = || ArchitectureError::Bands { key, most: lines.saturating_sub(1), got: starts.to_vec() };
    if rises && fits { Ok(()) } else { Err(fault()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_shapes_are_refused() {
        for width in [0, 32, 65, 96, 576, usize::MAX] {
            assert_eq!(Architecture::plain(width).check(), Err(ArchitectureError::Width { got: width }));
        }
        for got in [0, MOST_OUTPUT_BUCKETS + 1] {
            let shape = Architecture { output_buckets: got, ..Architecture::plain(64) };
            assert_eq!(shape.check(), Err(ArchitectureError::OutputBuckets { got }));
        }
        for bands in [vec![0], vec![2, 2], vec![3, 1], vec![16]] {
            let ranks = Architecture { king_ranks: bands.clone(), ..Architecture::plain(64) };
            let files = Architecture { king_files: bands.clone(), ..Architecture::plain(64) };
            for (shape, key) in [(ranks, "king_ranks"), (files, "king_files")] {
                assert_eq!(shape.check(), Err(ArchitectureError::Bands { key, most: 15, got: bands.clone() }));
            }
        }
        WIDTHS.step_by(WIDTH_STEP).for_each(|width| Architecture::plain(width).check().unwrap());
    }

    #[test]
    fn regions_are_rows_of_bands() {
        let shape = Architecture { king_ranks: vec![1, 3], king_files: vec![2], ..Architecture::plain(64) };
        assert_eq!(shape.regions(), 6);
        let regions = [(0, 0), (0, 2), (1, 1), (2, 9), (3, 0), (11, 3)].map(|(row, file)| shape.region(row, file));
        assert_eq!(regions, [0, 1, 2, 3, 4, 5]);
        assert_eq!(Architecture::plain(64).region(11, 11), 0);
    }
}
