//! Where one unit gets from every square, as sets: made for walking millions of nearly empty boards forwards and backwards.
//!
//! Knows no kings and no other rules; the ways are [`Variant::ways`], the paths from which the move tables are made, too.

use crate::geometry::{GRID_SQUARES, Square, SquareSet};
use crate::variant::rules::{Colour, Unit};
use crate::variant::{Variant, Way};

/// All ways of one kind (quiet moves, captures, quiet moves taken back) of a unit of one side.
pub(super) struct Reach {
    /// By square: the squares on which a man would open or close a way.
    sensitive: Vec<SquareSet>,
    /// By square: what is reached while nobody stands on those.
    free: Vec<SquareSet>,
    /// By from-square and to-square: where the ways between them begin in `ways`.
    starts: Vec<u32>,
    ways: Vec<Open>,
}

/// What a way asks of the squares between.
#[derive(Clone, Copy)]
struct Open {
    to: Square,
    empty: SquareSet,
    occupied: SquareSet,
}

impl Open {
    #[inline]
    fn is_open(&self, others: SquareSet) -> bool {
        (self.empty & others).is_empty() && (self.occupied - others).is_empty()
    }
}

/// The three kinds of ways of a unit of one side.
pub(super) struct UnitReach {
    pub quiet: Reach,
    pub captures: Reach,
    /// From where a quiet move may have come.
    pub origins: Reach,
}

impl UnitReach {
    pub fn of(variant: &Variant, unit: Unit, colour: Colour) -> Self {
        let ways: Vec<(Square, Way)> = variant
            .topology()
            .squares()
            .iter()
            .flat_map(|from| variant.ways(unit, colour, from, |_| true).into_iter().map(move |way| (from, way)))
            .collect();
        let open = |way: &Way, to| Open { to, empty: way.empty, occupied: way.occupied };
        let quiet = ways.iter().filter(|(_, way)| way.moves);
        let captures = ways.iter().filter(|(_, way)| way.captures);
        Self {
            quiet: Reach::new(quiet.clone().map(|(from, way)| (*from, open(way, way.target))).collect()),
            captures: Reach::new(captures.map(|(from, way)| (*from, open(way, way.target))).collect()),
            origins: Reach::new(quiet.map(|(from, way)| (way.target, open(way, *from))).collect()),
        }
    }
}

impl Reach {
    fn new(mut ways: Vec<(Square, Open)>) -> Self {
        let place = |(from, open): &(Square, Open)| from.index() * GRID_SQUARES + open.to.index();
        ways.sort_by_key(place);
        let mut reach = Self {
            sensitive: vec![SquareSet::EMPTY; GRID_SQUARES],
            free: vec![SquareSet::EMPTY; GRID_SQUARES],
            starts: vec![0; GRID_SQUARES * GRID_SQUARES + 1],
            ways: ways.iter().map(|&(_, open)| open).collect(),
        };
        for way in &ways {
            let (from, open) = (way.0.index(), way.1);
            reach.starts[place(way) + 1] += 1;
            reach.sensitive[from] |= open.empty | open.occupied;
            if open.occupied.is_empty() {
                reach.free[from].insert(open.to);
            }
        }
        let mut sum = 0;
        for start in &mut reach.starts {
            sum += *start;
            *start = sum;
        }
        reach
    }

    /// The squares reached from `from` while the other men stand on `others`, whoever stands on those reached.
    #[inline]
    pub fn targets(&self, from: Square, others: SquareSet) -> SquareSet {
        if (self.sensitive[from.index()] & others).is_empty() {
            return self.free[from.index()];
        }
        let first = self.starts[from.index() * GRID_SQUARES] as usize;
        let end = self.starts[(from.index() + 1) * GRID_SQUARES] as usize;
        self.ways[first..end].iter().filter(|way| way.is_open(others)).map(|way| way.to).collect()
    }

    /// Whether `to` is reached from `from` while the other men stand on `others`.
    #[inline]
    pub fn reaches(&self, from: Square, to: Square, others: SquareSet) -> bool {
        let place = from.index() * GRID_SQUARES + to.index();
        let ways = &self.ways[self.starts[place] as usize..self.starts[place + 1] as usize];
        ways.iter().any(|way| way.is_open(others))
    }
}
