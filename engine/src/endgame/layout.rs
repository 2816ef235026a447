//! Which byte of a table belongs to which position: squares of the men to a slot and back.
//!
//! Positions that a symmetry takes into one another share a slot, and so do those that differ by an exchange of two like men. Some
//! slots stand for no position.

use super::symmetry::{Symmetry, symmetries};
use super::{MOST_MEN, Material};
use crate::geometry::{GRID_SQUARES, Square};
use crate::variant::Variant;

/// The squares of a table's men, in the order of the material; what stands beyond its men does not matter.
pub(super) type Squares = [Square; MOST_MEN];

/// How the positions of a material are numbered.
pub(super) struct Layout {
    men: usize,
    twins: bool,
    /// The squares of the first man that have slots: one of each set of squares that symmetries take into one another.
    leaders: Vec<Square>,
    squares: Vec<Square>,
    symmetries: Vec<Symmetry>,
    /// By symmetry, man and square: what the man on the square's image adds to the slot.
    shares: Vec<[Vec<usize>; MOST_MEN]>,
    /// By square of the first man: the symmetries that take it to a leader.
    to_leader: Vec<Vec<u8>>,
}

impl Layout {
    pub fn new(variant: &Variant, material: &Material) -> Self {
        let symmetries = symmetries(variant, material);
        let squares: Vec<Square> = variant.topology().squares().iter().collect();
        let leader_of = |square: Square| symmetries.iter().map(|map| map[square.index()]).min().unwrap_or(square);
        let leaders: Vec<Square> = squares.iter().copied().filter(|&square| leader_of(square) == square).collect();
        let mut to_leader = vec![Vec::new(); GRID_SQUARES];
        for &square in &squares {
            let leading = (0u8..).zip(&symmetries).filter(|(_, map)| map[square.index()] == leader_of(square));
            to_leader[square.index()] = leading.map(|(number, _)| number).collect();
        }
        let men = material.men().len();
        let mut layout =
            Self { men, twins: material.has_twins(), leaders, squares, symmetries, shares: Vec::new(), to_leader };
        layout.shares = layout.symmetries.iter().map(|map| layout.shares_under(map)).collect();
        layout
    }

    fn shares_under(&self, map: &Symmetry) -> [Vec<usize>; MOST_MEN] {
        std::array::from_fn(|man| {
            let mut shares = vec![0; GRID_SQUARES];
            let known = if man == 0 { &self.leaders } else { &self.squares };
            let weight = self.squares.len().pow((self.men.saturating_sub(1 + man)) as u32);
            for &square in self.squares.iter().filter(|_| man < self.men) {
                // A first man that this symmetry takes to no leader is never asked for.
                let number = known.iter().position(|&other| other == map[square.index()]);
                shares[square.index()] = number.unwrap_or(0) * weight;
            }
            shares
        })
    }

    /// How many slots there are.
    pub fn slots(&self) -> usize {
        self.leaders.len() * self.squares.len().pow(self.men as u32 - 1)
    }

    /// How many symmetries share slots.
    pub fn symmetries(&self) -> usize {
        self.symmetries.len()
    }

    /// The slot of a position whose men stand on different squares.
    #[inline]
    pub fn slot(&self, squares: &Squares) -> usize {
        match self.to_leader[squares[0].index()].as_slice() {
            &[only] => self.slot_under(only, squares),
            several => several.iter().map(|&number| self.slot_under(number, squares)).min().unwrap_or(0),
        }
    }

    #[inline]
    fn slot_under(&self, symmetry: u8, squares: &Squares) -> usize {
        let shares = &self.shares[usize::from(symmetry)];
        let share = |man: usize, on: usize| shares[man][squares[on].index()];
        let ordered = share(0, 0) + share(1, 1) + share(2, 2) + share(3, 3);
        if self.twins { ordered.min(share(0, 0) + share(1, 1) + share(2, 3) + share(3, 2)) } else { ordered }
    }

    /// Where the men stand, if the slot belongs to a position.
    pub fn position(&self, slot: usize) -> Option<Squares> {
        let squares = self.squares_of(slot);
        let men = &squares[..self.men];
        let distinct = (1..self.men).all(|man| !men[..man].contains(&men[man]));
        (distinct && self.slot(&squares) == slot).then_some(squares)
    }

    /// Where the men of a slot stand that belongs to a position.
    #[inline]
    pub fn squares_of(&self, slot: usize) -> Squares {
        let mut squares = [Square::from_index(0); MOST_MEN];
        let mut rest = slot;
        for man in (1..self.men).rev() {
            squares[man] = self.squares[rest % self.squares.len()];
            rest /= self.squares.len();
        }
        squares[0] = self.leaders[rest];
        squares
    }

    /// How many different positions share the slot of this one.
    pub fn positions_alike(&self, squares: &Squares) -> u64 {
        let slot = self.slot(squares);
        let image = |map: &Symmetry| squares.map(|square| map[square.index()]);
        let fixed = |map: &&Symmetry| {
            let image = image(map);
            image[0] == squares[0] && self.slot_under(0, &image) == self.slot_under(0, squares)
        };
        debug_assert_eq!(slot, self.slot(&image(&self.symmetries[0])));
        (self.symmetries.len() / self.symmetries.iter().filter(fixed).count()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every position has one slot, every slot of a position gives it back, and the weights add up to all positions.
    #[test]
    fn slots_cover_all_positions_once() {
        for (name, men) in [("chess", "K+Q v K"), ("chess", "K+P v K"), ("sorcerer", "K+S v K"), ("chess", "K v K")] {
            let variant = Variant::load(name).unwrap();
            let material = Material::parse(&variant, men).unwrap();
            let layout = Layout::new(&variant, &material);
            let count = material.men().len();
            let alike: u64 =
                (0..layout.slots()).filter_map(|slot| layout.position(slot)).map(|s| layout.positions_alike(&s)).sum();
            let board = u64::from(variant.topology().squares().len());
            assert_eq!(alike, (0..count as u64).map(|man| board - man).product::<u64>(), "{name} {men}");
        }
    }

    #[test]
    fn like_men_may_be_exchanged() {
        let chess = Variant::load("chess").unwrap();
        let layout = Layout::new(&chess, &Material::parse(&chess, "K+N+N v K").unwrap());
        let on = |names: [&str; 4]| names.map(|name| chess.topology().parse(name).unwrap());
        assert_eq!(layout.slot(&on(["b3", "h8", "c1", "e5"])), layout.slot(&on(["b3", "h8", "e5", "c1"])));
        assert_eq!(layout.slot(&on(["b3", "h8", "c1", "e5"])), layout.slot(&on(["g6", "a1", "d4", "f8"])));
        let alike: u64 =
            (0..layout.slots()).filter_map(|slot| layout.position(slot)).map(|s| layout.positions_alike(&s)).sum();
        assert_eq!(alike, 64 * 63 * 62 * 61 / 2);
    }
}
