//! A set of squares, one bit a square of the 16×16 grid.

use super::{GRID, Square};
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not, Sub};

/// A set of squares of the grid: four machine words, so 144 squares and more fit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize)]
pub struct SquareSet([u64; 4]);

impl SquareSet {
    /// The set without squares.
    pub const EMPTY: Self = Self([0; 4]);

    /// The set of one square.
    #[inline]
    pub const fn only(square: Square) -> Self {
        let mut words = [0; 4];
        words[square.index() >> 6] = 1 << (square.index() & 63);
        Self(words)
    }

    /// Whether `square` belongs to the set.
    #[inline]
    pub const fn contains(&self, square: Square) -> bool {
        self.0[square.index() >> 6] >> (square.index() & 63) & 1 != 0
    }

    /// Adds `square`.
    #[inline]
    pub const fn insert(&mut self, square: Square) {
        self.0[square.index() >> 6] |= 1 << (square.index() & 63);
    }

    /// Takes `square` out.
    #[inline]
    pub const fn remove(&mut self, square: Square) {
        self.0[square.index() >> 6] &= !(1 << (square.index() & 63));
    }

    /// Whether the set has no squares.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.0[0] | self.0[1] | self.0[2] | self.0[3] == 0
    }

    /// Number of squares.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.0[0].count_ones() + self.0[1].count_ones() + self.0[2].count_ones() + self.0[3].count_ones()
    }

    /// The square with the lowest index.
    #[inline]
    pub fn first(&self) -> Option<Square> {
        self.iter().next()
    }

    /// The squares as Black sees them in order: from the highest rank of the grid down, each from the a-file on. The
    /// mirror image of [`SquareSet::iter`], so that both sides list their squares in the same order.
    #[inline]
    pub fn iter_from_top(self) -> impl Iterator<Item = Square> {
        (0..GRID).rev().flat_map(move |row| {
            let word = self.0[usize::from(row / 4)] >> (16 * (row % 4)) & 0xffff;
            Squares { words: [word, 0, 0, 0], word: 0 }.map(move |square| Square::from_index(row << 4 | square.file()))
        })
    }

    /// The squares as Black sees them in order on a turned board: the exact reverse of [`SquareSet::iter`].
    pub fn iter_turned(self) -> impl Iterator<Item = Square> {
        (0..4).rev().flat_map(move |word: usize| {
            let mut bits = self.0[word];
            std::iter::from_fn(move || {
                let highest = bits.checked_ilog2()?;
                bits ^= 1 << highest;
                Some(Square::from_index((word as u8) << 6 | highest as u8))
            })
        })
    }

    /// The squares in the order of their index: from White's lowest rank up, each from the a-file on.
    #[inline]
    pub const fn iter(self) -> Squares {
        Squares { words: self.0, word: 0 }
    }
}

/// Iterator over the squares of a [`SquareSet`].
#[derive(Clone)]
pub struct Squares {
    words: [u64; 4],
    word: usize,
}

impl Iterator for Squares {
    type Item = Square;

    #[inline]
    fn next(&mut self) -> Option<Square> {
        while self.word < 4 {
            let bits = self.words[self.word];
            if bits != 0 {
                self.words[self.word] = bits & (bits - 1);
                return Some(Square::from_index((self.word as u8) << 6 | bits.trailing_zeros() as u8));
            }
            self.word += 1;
        }
        None
    }
}

impl IntoIterator for SquareSet {
    type Item = Square;
    type IntoIter = Squares;
    fn into_iter(self) -> Squares {
        self.iter()
    }
}

impl FromIterator<Square> for SquareSet {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> Self {
        let mut set = Self::EMPTY;
        for square in squares {
            set.insert(square);
        }
        set
    }
}

impl BitAnd for SquareSet {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }
}

impl BitOr for SquareSet {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }
}

impl BitAndAssign for SquareSet {
    #[inline]
    fn bitand_assign(&mut self, other: Self) {
        *self = *self & other;
    }
}

impl BitOrAssign for SquareSet {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// The squares of the first set that are not in the second.
impl Sub for SquareSet {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self & !other
    }
}

impl Not for SquareSet {
    type Output = Self;
    #[inline]
    fn not(self) -> Self {
        Self(self.0.map(|word| !word))
    }
}

impl std::fmt::Debug for SquareSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behaves_as_a_set() {
        let corners = [(0, 0), (15, 0), (0, 15), (15, 15), (7, 4)];
        let squares: Vec<Square> = corners.iter().map(|&(f, r)| Square::at(f, r).unwrap()).collect();
        let from_top: Vec<Square> = squares.iter().copied().collect::<SquareSet>().iter_from_top().collect();
        assert_eq!(from_top, [squares[2], squares[3], squares[4], squares[0], squares[1]]);
        let mut set: SquareSet = squares.iter().copied().collect();
        assert_eq!(set.len(), 5);
        assert_eq!(set.iter().collect::<SquareSet>(), set);
        assert!(squares.iter().all(|&s| set.contains(s)));
        set.remove(squares[0]);
        assert!(!set.contains(squares[0]));
        assert_eq!((set | SquareSet::only(squares[0])) - set, SquareSet::only(squares[0]));
        assert!((set & !set).is_empty());
    }
}
