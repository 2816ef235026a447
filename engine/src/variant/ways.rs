//! A unit's paths for those who explain a game: where each ends and what it asks of the squares between.
//!
//! The same paths that the tables of moves are made of, pattern by pattern. Nothing that plays reads this.

use super::paths::{self, View};
use super::pattern::Pattern;
use super::rules::{Colour, Unit};
use super::{MAX_PATHS, Variant};
use crate::geometry::{Square, SquareSet, Topology};

/// Files and ranks of the open board: far enough to tell riders from leapers.
const OPEN_BOARD: usize = 11;

/// The middle of the open board of [`Variant::open_ways`].
pub const OPEN_CENTRE: Square = Square::from_index(5 << 4 | 5);

/// One way from a square to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// Where it ends.
    pub target: Square,
    /// The unit may end there if the square is empty.
    pub moves: bool,
    /// The unit may end there by taking an enemy man.
    pub captures: bool,
    /// Squares on the way that must be empty.
    pub empty: SquareSet,
    /// Squares on the way on which a man of either colour must stand.
    pub occupied: SquareSet,
}

impl Way {
    /// Whether the way is open when men stand on `men` and nowhere else; the mover's own square and the target do not count.
    pub fn is_open(&self, men: SquareSet) -> bool {
        (self.empty & men).is_empty() && (self.occupied - men).is_empty()
    }
}

impl Variant {
    /// All ways of a unit of a side on `square` by those of its patterns that are `wanted`, without the superfluous ones: a way that
    /// asks for more than another to the same square is left out.
    pub fn ways(&self, unit: Unit, colour: Colour, square: Square, wanted: impl Fn(&Pattern) -> bool) -> Vec<Way> {
        let patterns: Vec<Pattern> =
            self.unit(unit).patterns.iter().filter(|pattern| wanted(pattern)).cloned().collect();
        let view = View { topology: self.topology(), black: colour == Colour::Black, homes: self.homes(unit, colour) };
        ways(&patterns, square, &view)
    }

    /// The ways of a unit, as its own side sees them, from the middle of a board without holes and zones, those only from its squares in
    /// the array left out: what the unit is like, wherever it stands. None if there are more than any board allows.
    pub fn open_ways(&self, unit: Unit) -> Vec<Way> {
        let anywhere = |pattern: &Pattern| Pattern { from: None, to: None, ..pattern.clone() };
        let patterns: Vec<Pattern> =
            self.unit(unit).patterns.iter().filter(|pattern| !pattern.initial).map(anywhere).collect();
        let Ok(topology) = Topology::new(OPEN_BOARD, OPEN_BOARD, 1, SquareSet::EMPTY) else { return Vec::new() };
        let view = View { topology: &topology, black: false, homes: SquareSet::EMPTY };
        ways(&patterns, OPEN_CENTRE, &view)
    }

    /// The squares from which initial moves of the unit start: where the array has it, or if it has none of this side, the image of
    /// where the other side has it.
    pub fn homes(&self, unit: Unit, colour: Colour) -> SquareSet {
        super::homes(self.rules(), unit, colour)
    }
}

fn ways(patterns: &[Pattern], square: Square, view: &View) -> Vec<Way> {
    let paths = paths::paths(patterns, square, view, MAX_PATHS).unwrap_or_default();
    let squares = |path: &paths::Path, empty: bool| {
        path.conditions.iter().filter(|condition| condition.empty == empty).map(|condition| condition.square).collect()
    };
    paths
        .iter()
        .map(|path| Way {
            target: path.target,
            moves: path.moves,
            captures: path.captures,
            empty: squares(path, true),
            occupied: squares(path, false),
        })
        .collect()
}
