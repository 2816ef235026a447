//! What a network sees of a position, as training needs it.

use super::kernels::LANES;
use super::kernels::lookup::Lookup;
use super::kernels::network::Sizes;
use super::model::Layout;
use fairyforge_engine::evaluate::network::{Features, Input};
use fairyforge_engine::position::Position;
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

impl ActiveInputs for Features {
    fn slots(&self) -> usize {
        self.slots()
    }

    fn regions(&self) -> usize {
        self.architecture().regions()
    }

    fn kinds(&self) -> Vec<u32> {
        let mut seen = Vec::new();
        let slots = (0..self.slots()).map(|slot| self.meaning(slot).map(|input| kind(&input)));
        let mut number = |kind| {
            let known = seen.iter().position(|&other| other == kind);
            known.unwrap_or_else(|| {
                seen.push(kind);
                seen.len() - 1
            }) as u32
        };
        slots.map(&mut number).collect()
    }

    fn most_active(&self) -> usize {
        self.most_active()
    }

    fn output_buckets(&self) -> usize {
        self.architecture().output_buckets
    }

    fn output_bucket(&self, position: &Position) -> usize {
        self.output_bucket(position)
    }

    fn active(&self, position: &Position, perspective: Colour, inputs: &mut Vec<u32>) {
        self.active(position, perspective, inputs);
    }
}

/// What all squares of a unit have in common; in hand it is another matter.
fn kind(input: &Input) -> (bool, Unit, bool) {
    (input.enemy, input.unit, input.square.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairyforge_engine::evaluate::network::Architecture;
    use fairyforge_engine::variant::Variant;

    fn features(name: &str, shape: Architecture) -> Features {
        Features::new(&Arc::new(Variant::load(name).unwrap()), shape).unwrap()
    }

    #[test]
    fn kinds_tell_units_and_sides_but_no_squares() {
        let features = features("chess", Architecture::plain(64));
        let kinds = features.kinds();
        let mut active = Vec::new();
        features.active(&Position::start(features.variant()), Colour::Black, &mut active);
        let mut counts = vec![0; 12];
        active.into_iter().for_each(|input| counts[kinds[input as usize] as usize] += 1);
        counts.sort_unstable();
        assert_eq!(counts, [1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 8, 8]);
    }

    #[test]
    fn men_in_hand_are_a_kind_of_their_own() {
        let features = features("sorcerer-reinforcements", Architecture::plain(64));
        let kinds = features.kinds();
        let variant = features.variant();
        let held = variant.units().filter(|&unit| variant.hand_size(unit) > 0).count();
        assert!(held > 0);
        assert_eq!(kinds.iter().max(), Some(&((2 * (variant.units().len() + held) - 1) as u32)));
    }

    #[test]
    fn layouts_share_what_is_asked_for() {
        let plain = features("chess", Architecture { output_buckets: 4, ..Architecture::plain(128) });
        let shared = Layout::new(&plain, 128, Sharing::default());
        assert_eq!(shared.sizes, Sizes { inputs: 768, blocks: 2, buckets: 4 });
        assert_eq!(shared.regions, None, "one region has nobody to share with");
        assert_eq!(shared.kinds.unwrap().shared, 12);
        assert_eq!(Layout::new(&plain, 64, Sharing { regions: true, squares: false }).kinds, None);
        let regions = features("chess", Architecture { king_ranks: vec![1], ..Architecture::plain(64) });
        let lookup = Layout::new(&regions, 64, Sharing::default()).regions.unwrap();
        assert_eq!((lookup.shared, lookup.of.len(), lookup.of[768 + 5]), (768, 2 * 768, 5));
    }
}
