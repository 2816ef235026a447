//! Patterns walked on a real board: every path a unit has from a square, with what each path asks of the squares between.
//!
//! Knows nothing of positions; `super::tables` turns the paths into the tables that move generation reads.

use super::pattern::{Leg, Occupancy, Pattern, Step};
use crate::geometry::{GRID_SQUARES, Square, SquareSet, Topology};

/// Steps that may be tried for each path allowed; blind alleys cost steps too.
const STEPS_PER_PATH: usize = 16;

/// What a path asks of one square it passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    pub square: Square,
    /// `true`: nothing may stand there. `false`: somebody must.
    pub empty: bool,
}

/// One way from a square to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    pub conditions: Vec<Condition>,
    pub target: Square,
    pub moves: bool,
    pub captures: bool,
}

impl Path {
    /// Whether some position allows both paths at once.
    pub fn compatible(&self, other: &Self) -> bool {
        !self.conditions.iter().any(|a| other.conditions.iter().any(|b| a.square == b.square && a.empty != b.empty))
    }
}

/// The board as one side sees it: forward is up for White and down for Black.
pub(crate) struct View<'a> {
    pub topology: &'a Topology,
    pub black: bool,
    /// Where the array has this unit of this colour.
    pub homes: SquareSet,
}

impl View<'_> {
    fn step(&self, square: Square, (files, rows): (i8, i8)) -> Option<Square> {
        if self.black { self.topology.step_back(square, files, rows) } else { self.topology.step(square, files, rows) }
    }

    fn in_zone(&self, zone: &Option<SquareSet>, square: Square) -> bool {
        let square = if self.black { self.topology.flip(square) } else { square };
        zone.is_none_or(|zone| zone.contains(square))
    }
}

/// All paths that `patterns` give from `origin`, without those that another path makes superfluous; `None` if there are
/// more than `limit`.
pub(crate) fn paths(patterns: &[Pattern], origin: Square, view: &View, limit: usize) -> Option<Vec<Path>> {
    let mut walk = Walk { origin, view, budget: limit * STEPS_PER_PATH, conditions: Vec::new(), found: Vec::new() };
    for pattern in patterns {
        let applies = view.in_zone(&pattern.from, origin) && (!pattern.initial || view.homes.contains(origin));
        if applies {
            walk.leg(pattern, 0, origin, None);
        }
    }
    (walk.budget > 0 && walk.found.len() <= limit).then(|| without_superfluous(walk.found))
}

/// A path whose every use another path already allows is dropped, so that a target reached twice is generated once.
fn without_superfluous(mut paths: Vec<Path>) -> Vec<Path> {
    let asked: Vec<Asked> = paths.iter().map(Asked::by).collect();
    let mut to_target: Vec<Vec<usize>> = vec![Vec::new(); GRID_SQUARES];
    for (index, path) in paths.iter().enumerate() {
        to_target[path.target.index()].push(index);
    }
    for i in 0..paths.len() {
        for &j in &to_target[paths[i].target.index()] {
            let earlier_of_equals = j < i || asked[j].count < asked[i].count;
            if i != j && earlier_of_equals && asked[j].is_within(&asked[i]) {
                let (moves, captures) = (paths[j].moves, paths[j].captures);
                paths[i].moves &= !moves;
                paths[i].captures &= !captures;
            }
        }
    }
    paths.retain(|path| path.moves || path.captures);
    paths
}

/// A path's conditions as sets, which are quick to compare.
struct Asked {
    empty: SquareSet,
    occupied: SquareSet,
    count: usize,
}

impl Asked {
    fn by(path: &Path) -> Self {
        let those = |empty: bool| path.conditions.iter().filter(move |condition| condition.empty == empty);
        let squares = |empty: bool| those(empty).map(|condition| condition.square).collect();
        Self { empty: squares(true), occupied: squares(false), count: path.conditions.len() }
    }

    /// Whether this is met whenever `other` is.
    fn is_within(&self, other: &Self) -> bool {
        (self.empty - other.empty).is_empty() && (self.occupied - other.occupied).is_empty()
    }
}

struct Walk<'a> {
    origin: Square,
    view: &'a View<'a>,
    /// Steps that may still be tried: a bound on the work a file can ask for.
    budget: usize,
    conditions: Vec<Condition>,
    found: Vec<Path>,
}

impl Walk<'_> {
    fn leg(&mut self, pattern: &Pattern, index: usize, from: Square, before: Option<(i8, i8)>) {
        let leg = &pattern.legs[index];
        for step in &leg.steps {
            if before.is_none_or(|before| leg.turn.allows(before, step.vector)) {
                let mark = self.conditions.len();
                self.repeat(pattern, index, step, from);
                self.conditions.truncate(mark);
            }
        }
    }

    /// Takes `step` up to the leg's maximum, ending the leg wherever it may end.
    fn repeat(&mut self, pattern: &Pattern, index: usize, step: &Step, from: Square) {
        let leg = &pattern.legs[index];
        let last_leg = index + 1 == pattern.legs.len();
        let mut at = from;
        for taken in 1..=leg.max {
            let Some(next) = self.land(at, step) else { return };
            at = next;
            if taken >= leg.min {
                if last_leg {
                    self.arrive(pattern, at);
                } else {
                    self.turn_into_next(pattern, index, leg, at, step);
                }
            }
            if taken == leg.max || !self.pass(at, leg.through) {
                return;
            }
        }
    }

    fn turn_into_next(&mut self, pattern: &Pattern, index: usize, leg: &Leg, at: Square, step: &Step) {
        let mark = self.conditions.len();
        if self.pass(at, leg.joint) {
            self.leg(pattern, index + 1, at, Some(step.vector));
        }
        self.conditions.truncate(mark);
    }

    /// The square one step on, if it exists and a lame step's way can be clear.
    fn land(&mut self, from: Square, step: &Step) -> Option<Square> {
        self.budget = self.budget.checked_sub(1)?;
        for &stop in &step.stops {
            let square = self.view.step(from, stop)?;
            if !self.pass(square, Occupancy::Empty) {
                return None;
            }
        }
        self.view.step(from, step.vector)
    }

    /// Notes what passing `square` asks for; `false` if no position can grant it. The unit has left its own square.
    fn pass(&mut self, square: Square, occupancy: Occupancy) -> bool {
        let empty = match occupancy {
            Occupancy::Any => return true,
            Occupancy::Empty => true,
            Occupancy::Occupied => false,
        };
        if square == self.origin {
            return empty;
        }
        if let Some(known) = self.conditions.iter().find(|condition| condition.square == square) {
            return known.empty == empty;
        }
        self.conditions.push(Condition { square, empty });
        true
    }

    fn arrive(&mut self, pattern: &Pattern, target: Square) {
        let asked = self.conditions.iter().find(|condition| condition.square == target).map(|known| known.empty);
        let moves = pattern.moves && asked != Some(false);
        let captures = pattern.captures && asked != Some(true);
        if target != self.origin && self.view.in_zone(&pattern.to, target) && (moves || captures) {
            self.found.push(Path { conditions: self.conditions.clone(), target, moves, captures });
        }
    }
}
