//! What a network sees of a position, as training needs it.

use super::kernels::LANES;
use super::kernels::lookup::Lookup;
use super::kernels::network::Sizes;
use super::model::Layout;
use fairyforge_engine::geometry::GRID_SQUARES;
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::{Colour, Unit};
use std::fmt::Debug;
use std::sync::Arc;

/// Numbered inputs of both perspectives, some of which are active in a position.
///
/// Inputs come in equal regions (of the own king), each of the same *slots*: input = region · slots + slot.
pub trait ActiveInputs: Debug + Send + Sync {
    /// Number of slots; at most 65,536.
    fn slots(&self) -> usize;

    /// Number of regions.
    fn regions(&self) -> usize;

    /// For each slot a number that is the same for all squares of a unit; these numbers count up from 0.
    fn kinds(&self) -> Vec<u32>;

    /// Inputs of a perspective that are active when the game begins.
    fn most_active(&self) -> usize;

    /// Number of output layers; at most 256.
    fn output_buckets(&self) -> usize;

    /// The output layer of a position.
    fn output_bucket(&self, position: &Position) -> usize;

    /// The active inputs of a position as `perspective` sees it, into `inputs`, which is emptied first.
    fn active(&self, position: &Position, perspective: Colour, inputs: &mut Vec<u32>);
}

/// Which rows of the transformer are partly shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sharing {
    /// All regions of the king share a row for each man on a square.
    pub regions: bool,
    /// All squares share a row for each unit.
    pub squares: bool,
}

impl Default for Sharing {
    fn default() -> Self {
        Self { regions: true, squares: true }
    }
}

impl Layout {
    /// The layout of a network of so many neurons a perspective for these inputs.
    #[must_use]
    pub fn new(inputs: &dyn ActiveInputs, width: usize, sharing: Sharing) -> Self {
        let (slots, regions) = (inputs.slots(), inputs.regions());
        let of_slots = |of: &dyn Fn(usize) -> u32| (0..regions * slots).map(|input| of(input % slots)).collect();
        let by_region = sharing.regions && regions > 1;
        let kinds = inputs.kinds();
        let shared = kinds.iter().max().map_or(0, |&most| most as usize + 1);
        Self {
            sizes: Sizes { inputs: regions * slots, blocks: width / LANES, buckets: inputs.output_buckets() },
            regions: by_region.then(|| Arc::new(Lookup { of: of_slots(&|slot| slot as u32), shared: slots })),
            kinds: sharing.squares.then(|| Arc::new(Lookup { of: of_slots(&|slot| kinds[slot]), shared })),
            most_active: inputs.most_active(),
        }
    }
}

/// Men on squares and men in hand, of one region: all that a network needs that does not look at kings.
#[derive(Debug)]
pub struct BoardInputs {
    variant: Arc<Variant>,
    /// Number of each square, counted as White sees the board; as Black does, by its mirror image.
    numbers: [u32; GRID_SQUARES],
    squares: usize,
    output_buckets: usize,
}

impl BoardInputs {
    /// The inputs of a game.
    #[must_use]
    pub fn new(variant: &Arc<Variant>, output_buckets: usize) -> Self {
        let squares = variant.topology().squares();
        let mut numbers = [0; GRID_SQUARES];
        squares.iter().zip(0..).for_each(|(square, number)| numbers[square.index()] = number);
        Self { variant: Arc::clone(variant), numbers, squares: squares.len() as usize, output_buckets }
    }

    /// Slots of one side's units: each on all squares, and as often in hand as the game allows.
    fn side(&self) -> usize {
        self.variant.units().map(|unit| self.unit_slots(unit)).sum()
    }

    fn unit_slots(&self, unit: Unit) -> usize {
        self.squares + usize::from(self.variant.hand_size(unit))
    }

    fn first_slot(&self, unit: Unit, is_enemy: bool) -> u32 {
        let before: usize = self.variant.units().take(unit.index()).map(|unit| self.unit_slots(unit)).sum();
        (before + if is_enemy { self.side() } else { 0 }) as u32
    }
}

impl ActiveInputs for BoardInputs {
    fn slots(&self) -> usize {
        2 * self.side()
    }

    fn regions(&self) -> usize {
        1
    }

    fn kinds(&self) -> Vec<u32> {
        let units = (0..2).flat_map(|_| self.variant.units());
        units.zip(0..).flat_map(|(unit, kind)| vec![kind; self.unit_slots(unit)]).collect()
    }

    fn most_active(&self) -> usize {
        let held: usize = self.variant.units().map(|unit| 2 * usize::from(self.variant.hand_size(unit))).sum();
        self.variant.rules().array.len() + held
    }

    fn output_buckets(&self) -> usize {
        self.output_buckets
    }

    fn output_bucket(&self, position: &Position) -> usize {
        let men = position.occupied().len() as usize;
        (men.saturating_sub(1) * self.output_buckets / self.most_active()).min(self.output_buckets - 1)
    }

    fn active(&self, position: &Position, perspective: Colour, inputs: &mut Vec<u32>) {
        inputs.clear();
        let topology = self.variant.topology();
        for square in position.occupied().iter() {
            let piece = position.piece_at(square);
            let seen = if perspective == Colour::White { square } else { topology.flip(square) };
            let first = self.first_slot(piece.unit(), piece.colour() != perspective);
            inputs.push(first + self.numbers[seen.index()]);
        }
        for (unit, colour) in self.variant.units().flat_map(|unit| Colour::BOTH.map(|colour| (unit, colour))) {
            let first = self.first_slot(unit, colour != perspective) + self.squares as u32;
            inputs.extend((0..u32::from(position.in_hand(unit, colour))).map(|held| first + held));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(name: &str) -> BoardInputs {
        BoardInputs::new(&Arc::new(Variant::load(name).unwrap()), 4)
    }

    fn active(inputs: &BoardInputs, position: &Position, perspective: Colour) -> Vec<u32> {
        let mut active = Vec::new();
        inputs.active(position, perspective, &mut active);
        active.sort_unstable();
        active
    }

    #[test]
    fn both_sides_see_the_array_alike_and_every_man_once() {
        for name in ["chess", "herculean", "sorcerer-reinforcements"] {
            let inputs = inputs(name);
            let start = Position::start(&inputs.variant);
            let [white, black] = Colour::BOTH.map(|side| active(&inputs, &start, side));
            assert_eq!(white, black, "{name}");
            assert_eq!(white.len(), inputs.most_active(), "{name}");
            assert!(white.is_sorted_by(|one, other| one < other), "{name}: an input came twice");
            assert!(white.iter().all(|&input| (input as usize) < inputs.slots()), "{name}");
            assert_eq!(inputs.kinds().len(), inputs.slots(), "{name}");
            assert_eq!(inputs.output_bucket(&start), 3, "{name}");
        }
    }

    #[test]
    fn kinds_tell_units_and_sides_but_no_squares() {
        let inputs = inputs("chess");
        let start = Position::start(&inputs.variant);
        let kinds = inputs.kinds();
        let mut counts = vec![0; 12];
        active(&inputs, &start, Colour::Black)
            .into_iter()
            .for_each(|input| counts[kinds[input as usize] as usize] += 1);
        counts.sort_unstable();
        assert_eq!(counts, [1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 8, 8]);
    }

    #[test]
    fn layouts_share_what_is_asked_for() {
        let inputs = inputs("chess");
        let shared = Layout::new(&inputs, 128, Sharing::default());
        assert_eq!(shared.sizes, Sizes { inputs: 768, blocks: 2, buckets: 4 });
        assert_eq!(shared.regions, None, "one region has nobody to share with");
        assert_eq!(shared.kinds.unwrap().shared, 12);
        assert_eq!(Layout::new(&inputs, 64, Sharing { regions: true, squares: false }).kinds, None);
    }
}
