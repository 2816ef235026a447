//! What a network sees of a position, as training needs it.

use super::kernels::LANES;
use super::kernels::lookup::Lookup;
use super::kernels::network::Sizes;
use super::model::Layout;
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::rules::Colour;
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
