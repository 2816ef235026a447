//! Crowded-board mobility: how many squares a unit reaches on average when each other square is empty with a given
//! probability (Betza's measure of a piece; the numbers of `data/README.md` come from here).

use super::MAX_PATHS;
use super::Variant;
use super::paths::{self, Condition, Path, View};
use super::rules::{Colour, Unit};
use crate::geometry::Square;

/// Expected numbers of targets of a White unit, for captures and for quiet moves.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Mobility {
    /// Squares on which it could take.
    pub captures: f64,
    /// Squares to which it could move without taking.
    pub moves: f64,
}

impl Mobility {
    /// The mean of both kinds.
    pub fn mean(self) -> f64 {
        (self.captures + self.moves) / 2.0
    }
}

impl Variant {
    /// Mobility of a White unit on `square` when every other square is empty with probability `empty`.
    pub fn mobility(&self, unit: Unit, square: Square, empty: f64) -> Mobility {
        let view =
            View { topology: self.topology(), black: false, homes: super::homes(self.rules(), unit, Colour::White) };
        let paths = paths::paths(&self.unit(unit).patterns, square, &view, MAX_PATHS).unwrap_or_default();
        Mobility {
            captures: expected_targets(paths.iter().filter(|path| path.captures), empty),
            moves: expected_targets(paths.iter().filter(|path| path.moves), empty),
        }
    }

    /// Mobility averaged over all squares of the board.
    pub fn mean_mobility(&self, unit: Unit, empty: f64) -> Mobility {
        let squares = self.topology().squares();
        let mut sum = Mobility::default();
        for square in squares {
            let here = self.mobility(unit, square, empty);
            sum.captures += here.captures;
            sum.moves += here.moves;
        }
        let count = f64::from(squares.len());
        Mobility { captures: sum.captures / count, moves: sum.moves / count }
    }
}

fn expected_targets<'a>(paths: impl Iterator<Item = &'a Path>, empty: f64) -> f64 {
    let mut by_target: Vec<(Square, Vec<&[Condition]>)> = Vec::new();
    for path in paths {
        match by_target.iter_mut().find(|(target, _)| *target == path.target) {
            Some((_, ways)) => ways.push(&path.conditions),
            None => by_target.push((path.target, vec![&path.conditions])),
        }
    }
    by_target.iter().map(|(_, ways)| any_open(ways, empty)).sum()
}

/// Probability that at least one of the ways is open: one square after the other is taken to be empty or occupied.
fn any_open(ways: &[&[Condition]], empty: f64) -> f64 {
    let Some(first) = ways.iter().min_by_key(|way| way.len()) else { return 0.0 };
    let Some(&Condition { square, .. }) = first.first() else { return 1.0 };
    if ways.len() == 1 {
        return first.iter().map(|condition| if condition.empty { empty } else { 1.0 - empty }).product();
    }
    [(true, empty), (false, 1.0 - empty)]
        .into_iter()
        .map(|(is_empty, chance)| {
            let left: Vec<Vec<Condition>> = ways
                .iter()
                .filter(|way| way.iter().all(|c| c.square != square || c.empty == is_empty))
                .map(|way| way.iter().copied().filter(|c| c.square != square).collect())
                .collect();
            let left: Vec<&[Condition]> = left.iter().map(Vec::as_slice).collect();
            chance * any_open(&left, empty)
        })
        .sum()
}
