//! The reflections and rotations of a board under which given men move alike.
//!
//! Found by comparing ways, so a board with holes, a zone on one wing or a unit that leans to one side loses exactly the symmetries that
//! it breaks. Exchanging the colours is none of them.

use super::{Man, Material};
use crate::geometry::{Square, SquareSet, Topology};
use crate::variant::Variant;
use std::collections::HashSet;

/// Where every square goes.
pub(super) type Symmetry = Vec<Square>;

/// All symmetries of the board and the men on it, the one that moves nothing first. They form a group.
pub(super) fn symmetries(variant: &Variant, material: &Material) -> Vec<Symmetry> {
    let mut men = material.men().to_vec();
    men.dedup();
    let men: Vec<ManWays> = men.into_iter().map(|man| ManWays::of(variant, man)).collect();
    let preserved = |map: &Symmetry| men.iter().all(|man| man.is_preserved(variant, map));
    let candidates = (0u8..8).filter_map(|kind| reflection(variant.topology(), kind));
    candidates.enumerate().filter(|(number, map)| *number == 0 || preserved(map)).map(|(_, map)| map).collect()
}

/// Bit 0: files reversed, bit 1: ranks reversed, bit 2: files and ranks exchanged. `None` where the board is not like that.
fn reflection(topology: &Topology, kind: u8) -> Option<Symmetry> {
    let (width, height) = (topology.width(), topology.height());
    if kind & 4 != 0 && width != height {
        return None;
    }
    let image = |square: Square| {
        let (file, row) = (square.file(), square.row());
        let file = if kind & 1 != 0 { width.checked_sub(1 + file)? } else { file };
        let row = if kind & 2 != 0 { height.checked_sub(1 + row)? } else { row };
        if kind & 4 != 0 { Square::at(row, file) } else { Square::at(file, row) }
    };
    let map: Symmetry = (0..=u8::MAX).map(Square::from_index).map(|square| image(square).unwrap_or(square)).collect();
    let squares = topology.squares();
    (map_set(&map, squares) == squares).then_some(map)
}

fn map_set(map: &Symmetry, set: SquareSet) -> SquareSet {
    set.iter().map(|square| map[square.index()]).collect()
}

/// A way as sets: where it ends, what must be empty, what occupied, and what may be done at the end.
type WayAsSets = (Square, SquareSet, SquareSet, bool, bool);

/// All ways of a man, by square.
struct ManWays {
    man: Man,
    ways: Vec<HashSet<WayAsSets>>,
}

impl ManWays {
    fn of(variant: &Variant, man: Man) -> Self {
        let from = |square| {
            let ways = variant.ways(man.unit, man.colour, square, |_| true);
            ways.iter().map(|way| (way.target, way.empty, way.occupied, way.moves, way.captures)).collect()
        };
        let exists = |square| variant.topology().has(square);
        let squares = (0..=u8::MAX).map(Square::from_index);
        Self { man, ways: squares.map(|square| if exists(square) { from(square) } else { HashSet::new() }).collect() }
    }

    /// Whether the man moves and promotes on the image of every square as on the square.
    fn is_preserved(&self, variant: &Variant, map: &Symmetry) -> bool {
        let promotion = |square| variant.promotion(self.man.unit, self.man.colour, square);
        let image_of = |&(target, empty, occupied, moves, captures): &WayAsSets| {
            (map[target.index()], map_set(map, empty), map_set(map, occupied), moves, captures)
        };
        variant.topology().squares().iter().all(|square| {
            let image = map[square.index()];
            let (here, there) = (&self.ways[square.index()], &self.ways[image.index()]);
            promotion(square) == promotion(image)
                && here.len() == there.len()
                && here.iter().all(|way| there.contains(&image_of(way)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn men_and_boards_lose_the_symmetries_they_break() {
        let count = |name: &str, men: &str| {
            let variant = Variant::load(name).unwrap();
            symmetries(&variant, &Material::parse(&variant, men).unwrap()).len()
        };
        assert_eq!(count("chess", "K+Q v K"), 8);
        assert_eq!(count("chess", "K+P v K"), 2);
        assert_eq!(count("sorcerer", "K+S v K"), 4);
        assert_eq!(count("opulent-lemurian-shatranj", "K+H+S v K"), 8);
        // The pawns of Legan Chess go towards a corner: only exchanging files and ranks in that direction is left.
        assert_eq!(count("legan", "K+P v K"), 2);
    }
}
