//! What a network sees of a position, as training needs it.

use super::kernels::LANES;
use super::kernels::lookup::Lookup;
use super::kernels::network::Sizes;
use super::model::Layout;
use fairyforge_engine::evaluate::network::{Features, Input};
use fairyforge_engine::geometry::Square;
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::rules::{Colour, Unit};
use std::collections::HashMap;
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

    /// For each slot a number that is the same for those slots that share a row; these numbers count up from 0.
    fn groups(&self, by: Group) -> Vec<u32>;

    /// Inputs of a perspective that are active when the game begins.
    fn most_active(&self) -> usize;

    /// Number of output layers; at most 256.
    fn output_buckets(&self) -> usize;

    /// The output layer of a position.
    fn output_bucket(&self, position: &Position) -> usize;

    /// The active inputs of a position as `perspective` sees it, into `inputs`, which is emptied first.
    fn active(&self, position: &Position, perspective: Colour, inputs: &mut Vec<u32>);
}

/// Which of a unit's squares belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Those of a rank.
    Rank,
    /// Those of a file.
    File,
    /// All.
    Board,
}

/// Which rows of the transformer are partly shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sharing {
    /// All regions of the king share a row for each man on a square.
    pub regions: bool,
    /// The squares of a rank share a row for each unit.
    pub ranks: bool,
    /// The squares of a file share a row for each unit.
    pub files: bool,
    /// All squares share a row for each unit.
    pub squares: bool,
}

impl Default for Sharing {
    fn default() -> Self {
        Self { regions: true, ranks: false, files: false, squares: true }
    }
}

impl Sharing {
    fn groups(self) -> impl Iterator<Item = Group> {
        let all = [(self.ranks, Group::Rank), (self.files, Group::File), (self.squares, Group::Board)];
        all.into_iter().filter_map(|(is_shared, group)| is_shared.then_some(group))
    }
}

impl Layout {
    /// The layout of a network of so many neurons a perspective for these inputs.
    #[must_use]
    pub fn new(inputs: &dyn ActiveInputs, width: usize, sharing: Sharing) -> Self {
        let (slots, regions) = (inputs.slots(), inputs.regions());
        let lookup = |of_slots: &[u32]| {
            let shared = of_slots.iter().max().map_or(0, |&most| most as usize + 1);
            Arc::new(Lookup { of: of_slots.repeat(regions), shared })
        };
        let all_slots: Vec<u32> = (0..slots as u32).collect();
        let by_region = (sharing.regions && regions > 1).then(|| lookup(&all_slots));
        let by_group = sharing.groups().map(|group| lookup(&inputs.groups(group)));
        Self {
            sizes: Sizes { inputs: regions * slots, blocks: width / LANES, buckets: inputs.output_buckets() },
            shared: by_region.into_iter().chain(by_group).collect(),
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

    fn groups(&self, by: Group) -> Vec<u32> {
        let mut numbers = HashMap::new();
        let slots = (0..self.slots()).map(|slot| self.meaning(slot).map(|input| group_of(&input, by)));
        slots
            .map(|group| {
                let next = numbers.len() as u32;
                *numbers.entry(group).or_insert(next)
            })
            .collect()
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

/// What the slots of a group have in common: side, unit, and the rank or file; in hand it is another matter.
fn group_of(input: &Input, by: Group) -> (bool, Unit, Option<u8>) {
    let place = |square: Square| match by {
        Group::Rank => square.row(),
        Group::File => square.file(),
        Group::Board => 0,
    };
    (input.enemy, input.unit, input.square.map(place))
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
        let kinds = features.groups(Group::Board);
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
        let kinds = features.groups(Group::Board);
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
        assert_eq!(rows(&shared), [12], "one region has nobody to share with");
        let all = Sharing { ranks: true, files: true, ..Sharing::default() };
        assert_eq!(rows(&Layout::new(&plain, 64, all)), [8 * 12, 8 * 12, 12]);
        let none = Sharing { squares: false, ..Sharing::default() };
        assert!(rows(&Layout::new(&plain, 64, none)).is_empty());
        let regions = features("chess", Architecture { king_ranks: vec![1], ..Architecture::plain(64) });
        let layout = Layout::new(&regions, 64, Sharing::default());
        assert_eq!(rows(&layout), [768, 12]);
        assert_eq!((layout.shared[0].of.len(), layout.shared[0].of[768 + 5]), (2 * 768, 5));
    }

    /// Rows of the shared tables.
    fn rows(layout: &Layout) -> Vec<usize> {
        layout.shared.iter().map(|lookup| lookup.shared).collect()
    }

    #[test]
    fn squares_of_a_rank_belong_together() {
        let features = features("chess", Architecture::plain(64));
        let groups = |by| features.groups(by);
        let (ranks, files) = (groups(Group::Rank), groups(Group::File));
        let slots = |unit: &str, square: &str| {
            let unit = features.variant().unit_named(unit).unwrap();
            let is_it = |slot: &usize| {
                let input = features.meaning(*slot).unwrap();
                let named = input.square.map(|seen| features.variant().topology().name(seen));
                !input.enemy && input.unit == unit && named.as_deref() == Some(square)
            };
            (0..features.slots()).find(is_it).unwrap()
        };
        let [a2, h2, a7, knight] = [("pawn", "a2"), ("pawn", "h2"), ("pawn", "a7"), ("knight", "a2")]
            .map(|(unit, square)| slots(unit, square));
        assert!(ranks[a2] == ranks[h2] && ranks[a2] != ranks[a7] && ranks[a2] != ranks[knight]);
        assert!(files[a2] == files[a7] && files[a2] != files[h2] && files[a2] != files[knight]);
    }
}
