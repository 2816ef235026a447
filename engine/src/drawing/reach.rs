//! What a unit's moves are like: the lines it goes along, its steps, leaps, hops and bent ways, on an open board.
//!
//! Read from its paths. Whether it moves or takes, and from where, makes no difference here: that is for the words and diagrams
//! of [`crate::explain`].

use crate::geometry::{Square, SquareSet};
use crate::variant::rules::Unit;
use crate::variant::{OPEN_CENTRE, Variant, Way};

/// Files and ranks, from White's side.
pub(super) type Vector = (i8, i8);

/// The eight directions, clockwise from straight ahead; the even ones are along ranks and files.
pub(super) const DIRECTIONS: [Vector; 8] = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];

/// A choice of the eight directions.
pub(super) type Directions = [bool; 8];

/// Squares along a line from which on a way over empty squares counts as a slide.
const SLIDE: u8 = 3;

/// Squares from which on a way that is neither straight nor a leap counts as a bent way.
const FAR: u8 = 4;

/// How a unit gets about.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reach {
    /// Neighbouring squares.
    pub steps: Directions,
    /// Lines along which it goes far while squares are empty.
    pub slides: Directions,
    /// Lines along which it goes over men.
    pub hops: Directions,
    /// Whether it goes over men off the lines.
    pub hops_off_lines: bool,
    /// Other squares near by, whether or not something must be empty on the way.
    pub leaps: Vec<Vector>,
    /// An example of a way that is far and not straight: its squares, the unit's own left out.
    pub bent: Option<Vec<Vector>>,
}

impl Reach {
    /// What a unit of either side does from its own view.
    pub fn of(variant: &Variant, unit: Unit) -> Self {
        let (mut reach, mut lame, mut bent) = (Self::default(), Vec::new(), Vec::new());
        for way in variant.open_ways(unit) {
            let way = Course::of(&way);
            match way.kind() {
                Kind::Hop => reach.note_hop(&way),
                Kind::Step(direction) => reach.steps[direction] = true,
                Kind::Slide(direction) => reach.slides[direction] = true,
                Kind::Leap => reach.leaps.push(way.target),
                Kind::LameLeap => lame.push(way.target),
                Kind::Bent => bent.push(way),
            }
        }
        reach.bent = bent.into_iter().min_by_key(Course::as_example).map(|way| way.squares());
        if reach.bent.is_none() {
            reach.leaps.append(&mut lame);
        }
        let slides = reach.slides;
        reach.leaps.retain(|&leap| line_of(leap).is_none_or(|direction| !slides[direction]));
        reach.leaps.sort_unstable();
        reach.leaps.dedup();
        reach
    }

    /// The lines along which it goes far, over empty squares or over men.
    pub fn lines(&self) -> Directions {
        std::array::from_fn(|direction| self.slides[direction] || self.hops[direction])
    }

    /// Whether it goes over men anywhere.
    pub fn hops_somewhere(&self) -> bool {
        self.hops_off_lines || self.hops.contains(&true)
    }

    fn note_hop(&mut self, way: &Course) {
        match line_of(way.target) {
            Some(direction) => self.hops[direction] = true,
            None => self.hops_off_lines = true,
        }
    }
}

/// What a single way is.
enum Kind {
    Hop,
    Step(usize),
    Slide(usize),
    Leap,
    LameLeap,
    Bent,
}

/// A way as vectors from where it begins.
struct Course {
    target: Vector,
    empty: Vec<Vector>,
    over_men: bool,
}

impl Course {
    fn of(way: &Way) -> Self {
        let target = SquareSet::only(way.target);
        let mut empty: Vec<Vector> = (way.empty - target).iter().map(vector).collect();
        empty.sort_by_key(|&square| (distance(square), square));
        Self { target: vector(way.target), empty, over_men: !(way.occupied - target).is_empty() }
    }

    fn kind(&self) -> Kind {
        let distance = distance(self.target);
        match line_of(self.target) {
            _ if self.over_men => Kind::Hop,
            Some(direction) if distance == 1 => Kind::Step(direction),
            Some(direction) if distance >= SLIDE && self.is_straight(direction) => Kind::Slide(direction),
            _ if self.empty.is_empty() => Kind::Leap,
            _ if distance >= FAR => Kind::Bent,
            _ => Kind::LameLeap,
        }
    }

    /// Whether it asks for every square between, and for nothing else.
    fn is_straight(&self, direction: usize) -> bool {
        let between = usize::from(distance(self.target)) - 1;
        self.empty.len() == between && self.empty.iter().all(|&square| line_of(square) == Some(direction))
    }

    /// The best example comes first: ahead and to the right, short.
    fn as_example(&self) -> (bool, u8, Vector) {
        let (files, ranks) = self.target;
        (files < 0 || ranks <= 0, distance(self.target), self.target)
    }

    fn squares(self) -> Vec<Vector> {
        self.empty.into_iter().chain([self.target]).collect()
    }
}

fn vector(square: Square) -> Vector {
    (square.file() as i8 - OPEN_CENTRE.file() as i8, square.row() as i8 - OPEN_CENTRE.row() as i8)
}

fn distance((files, ranks): Vector) -> u8 {
    files.unsigned_abs().max(ranks.unsigned_abs())
}

/// The direction in which a square lies straight or diagonally, as an index into [`DIRECTIONS`].
pub(super) fn line_of(square: Vector) -> Option<usize> {
    let on_line = square.0 == 0 || square.1 == 0 || square.0.abs() == square.1.abs();
    let sense = (square.0.signum(), square.1.signum());
    DIRECTIONS.iter().position(|&direction| on_line && direction == sense)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(game: &str, unit: &str) -> Reach {
        let variant = Variant::load(game).unwrap();
        Reach::of(&variant, variant.unit_named(unit).unwrap())
    }

    const STRAIGHT: Directions = [true, false, true, false, true, false, true, false];
    const DIAGONAL: Directions = [false, true, false, true, false, true, false, true];

    #[test]
    fn riders_leapers_and_hoppers_are_told_apart() {
        let rook = reach("chess", "rook");
        assert_eq!((rook.slides, rook.hops_somewhere(), rook.leaps.as_slice()), (STRAIGHT, false, &[][..]));
        let chariot = reach("herculean", "flying_chariot");
        assert_eq!((chariot.slides, chariot.hops, chariot.leaps.len()), (STRAIGHT, STRAIGHT, 0));
        let bishop = reach("chess", "bishop");
        assert_eq!((bishop.slides, bishop.lines()), (DIAGONAL, DIAGONAL));
        let grasshopper = reach("grasshopper", "grasshopper");
        assert_eq!((grasshopper.slides, grasshopper.hops), ([false; 8], [true; 8]));
        let sorcerer = reach("herculean", "ferz_sorcerer");
        assert_eq!((sorcerer.steps, sorcerer.leaps.len(), sorcerer.bent), (DIAGONAL, 8, None));
        // A lame horse is a leaper all the same.
        let horse = reach("hop10", "horse");
        assert_eq!((horse.leaps.len(), horse.bent), (8, None));
        let hero = reach("opulent-lemurian-shatranj", "bent_hero");
        assert_eq!((hero.steps, hero.slides, hero.leaps.len(), hero.bent), (STRAIGHT, [false; 8], 16, None));
    }

    #[test]
    fn bent_ways_are_shown_by_an_example() {
        let gryphon = reach("sorcerer-reinforcements", "stealth_gryphon");
        assert_eq!(gryphon.bent.as_deref(), Some(&[(1, 1), (1, 2), (1, 3), (1, 4)][..]));
        assert_eq!((gryphon.slides, gryphon.leaps.len()), ([false; 8], 0));
        let nightrider = reach("nightrider", "nightrider");
        assert_eq!((nightrider.bent.as_deref(), nightrider.leaps.len()), (Some(&[(1, 2), (2, 4)][..]), 8));
    }
}
