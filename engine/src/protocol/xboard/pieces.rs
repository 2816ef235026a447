//! Units in XBoard's `piece` language: the exact moves where it has words for them, more than the moves where it has
//! not.
//!
//! XBoard forfeits the side whose move its description does not allow, and a side whose king it believes attacked. So a
//! description that is not exact allows too much (it is *tame*), and captures beyond the rules carry `t`: they never
//! check. Whether a description is exact is not argued but compared, square by square, with the paths of the rules.

use super::chain::{Manner, terms};
use crate::geometry::{Square, SquareSet};
use crate::variant::Variant;
use crate::variant::paths::{View, paths};
use crate::variant::pattern::{Leg, Pattern};
use crate::variant::rules::{Colour, Unit};
use std::collections::BTreeSet;

/// Paths compared at most; no unit that was compiled has more.
const MOST_PATHS: usize = 4_096;

/// What XBoard is told of one unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// White's moves in the `piece` language; `None` if the language has no words at all for some of them.
    pub white: Option<String>,
    /// Black's, which differ where a unit or its castling is not the same to the left and to the right.
    pub black: Option<String>,
    /// Whether the descriptions allow exactly what the rules allow.
    pub exact: bool,
}

/// One term, and the pattern that XBoard reads in it.
struct Term {
    text: String,
    reads: Pattern,
}

/// The description of a unit, castling included.
pub fn describe(variant: &Variant, unit: Unit) -> Description {
    let sides =
        Colour::BOTH.map(|colour| Side::new(variant, unit, colour).map_or((None, false), |side| side.describe()));
    let [(white, white_exact), (black, black_exact)] = sides;
    Description { exact: white_exact && black_exact, white, black }
}

/// A unit of one colour on its board, seen from that side.
struct Side<'a> {
    variant: &'a Variant,
    unit: Unit,
    colour: Colour,
    /// Where the array has it.
    homes: SquareSet,
    /// Where it can ever stand.
    reach: SquareSet,
}

impl<'a> Side<'a> {
    /// `None` where the unit has more paths than can be compared.
    fn new(variant: &'a Variant, unit: Unit, colour: Colour) -> Option<Self> {
        let homes = home_squares(variant, unit, colour);
        let mut side = Self { variant, unit, colour, homes, reach: SquareSet::EMPTY };
        side.reach = side.reachable()?;
        Some(side)
    }

    fn seen(&self, square: Square) -> Square {
        if self.colour == Colour::Black { self.variant.topology().flip(square) } else { square }
    }

    fn seen_set(&self, set: SquareSet) -> SquareSet {
        if self.colour == Colour::Black { self.variant.topology().flip_set(set) } else { set }
    }

    fn patterns(&self) -> &'a [Pattern] {
        &self.variant.unit(self.unit).patterns
    }

    fn view(&self) -> View<'a> {
        let black = self.colour == Colour::Black;
        View { topology: self.variant.topology(), black, homes: self.seen_set(self.homes) }
    }

    /// Closes the squares of array, drops and promotions under the unit's moves.
    fn reachable(&self) -> Option<SquareSet> {
        let mut reach = self.homes;
        if self.variant.hand_size(self.unit) > 0 {
            reach |= self.seen_set(self.variant.drop_zone(self.colour));
        }
        for promotion in &self.variant.rules().promotion {
            if promotion.to.iter().any(|choice| choice.unit == self.unit) {
                reach |= promotion.zone;
            }
        }
        let must_promote = |square| matches!(self.variant.promotion(self.unit, Colour::White, square), Some((_, true)));
        let mut waiting: Vec<Square> = reach.iter().collect();
        while let Some(square) = waiting.pop() {
            for path in paths(self.patterns(), self.seen(square), &self.view(), MOST_PATHS)? {
                let target = self.seen(path.target);
                if !must_promote(target) && !reach.contains(target) {
                    reach.insert(target);
                    waiting.push(target);
                }
            }
        }
        Some(reach)
    }

    fn describe(&self) -> (Option<String>, bool) {
        let mut text = String::new();
        let mut read = Vec::new();
        for pattern in self.patterns() {
            let Some(terms) = self.terms(pattern) else { return (None, false) };
            for term in terms {
                text.push_str(&term.text);
                read.push(term.reads);
            }
        }
        let exact = self.allows_the_same(&read);
        text.push_str(&self.castling());
        (Some(text), exact)
    }

    /// Whether XBoard's reading gives the unit the same paths on every square it can stand on.
    fn allows_the_same(&self, read: &[Pattern]) -> bool {
        self.reach.iter().all(|square| {
            let of = |patterns| paths(patterns, self.seen(square), &self.view(), MOST_PATHS).map(|paths| plain(&paths));
            let rules = of(self.patterns());
            rules.is_some() && rules == of(read)
        })
    }

    fn terms(&self, pattern: &Pattern) -> Option<Vec<Term>> {
        let pattern = self.without_idle_zones(pattern);
        if pattern.to.is_some()
            && let Some(terms) = self.limited_slide(&pattern)
        {
            return Some(terms);
        }
        let initial = if pattern.initial { Some(Start::Home) } else { self.start(&pattern) };
        match (initial, &pattern.to) {
            (None, None) if pattern.from.is_none() => self.say(&pattern, Start::Anywhere),
            (Some(start), None) if self.tells(start) => self.say(&pattern, start),
            _ => self.say_tamely(&pattern),
        }
    }

    /// Zones that hold every square in question say nothing.
    fn without_idle_zones(&self, pattern: &Pattern) -> Pattern {
        let holds_all = |zone: &SquareSet, all: SquareSet| (all - *zone).is_empty();
        let mut pattern = pattern.clone();
        pattern.from = pattern.from.filter(|zone| !holds_all(zone, self.reach));
        pattern.to = pattern.to.filter(|zone| !holds_all(zone, self.variant.topology().squares()));
        pattern
    }

    /// The squares from which the pattern starts, if XBoard can tell them by the array.
    fn start(&self, pattern: &Pattern) -> Option<Start> {
        let from = pattern.from? & self.reach;
        [Start::Home, Start::BeforeHome].into_iter().find(|&start| from == self.squares(start) & self.reach)
    }

    fn squares(&self, start: Start) -> SquareSet {
        match start {
            Start::Anywhere => self.reach,
            Start::Home => self.homes,
            Start::BeforeHome => {
                self.homes.iter().filter_map(|home| self.variant.topology().step(home, 0, 1)).collect()
            }
        }
    }

    /// On the outermost ranks XBoard's `i` also asks that the square was never left, and our rules do not.
    fn tells(&self, start: Start) -> bool {
        let last = self.variant.topology().height() - 1;
        start != Start::Home || self.homes.iter().all(|home| home.row() != 0 && home.row() != last)
    }

    /// A straight slide that must end in a zone, as pawns' slides to the middle of the board: as many steps as the zone
    /// leaves, told apart by the array, and as many as any other square leaves for the rest.
    fn limited_slide(&self, pattern: &Pattern) -> Option<Vec<Term>> {
        let ([leg], None, false) = (pattern.legs.as_slice(), pattern.from, pattern.initial) else { return None };
        let [step] = leg.steps.as_slice() else { return None };
        if leg.min != 1 || pattern.captures || !step.stops.is_empty() {
            return None;
        }
        let steps_from = |square: Square| self.steps_in_zone(pattern, square);
        let from_all = |squares: SquareSet| squares.iter().map(steps_from).collect::<Option<Vec<u8>>>();
        let homes = self.homes & self.reach;
        let before = (self.squares(Start::BeforeHome) & self.reach) - homes;
        let (home, next, rest) = (from_all(homes)?, from_all(before)?, from_all((self.reach - homes) - before)?);
        let most = |steps: &[u8]| steps.iter().copied().max().unwrap_or(0);
        let least = |steps: &[u8]| steps.iter().copied().min().unwrap_or(0);
        let general = most(&rest)
            .max(if least(&next) == most(&next) { 0 } else { most(&next) })
            .max(if least(&home) == most(&home) { 0 } else { most(&home) });
        let mut terms = Vec::new();
        for (start, steps) in [(Start::Home, most(&home)), (Start::BeforeHome, most(&next)), (Start::Anywhere, general)]
        {
            let above = if start == Start::Anywhere { 0 } else { general };
            if steps > above && !(steps == 1 && self.steps_anyway(step.vector)) {
                let mut limited = pattern.clone();
                limited.to = None;
                limited.legs[0].max = steps;
                terms.extend(self.say(&limited, start)?);
            }
        }
        Some(terms)
    }

    /// How many steps the zone leaves from here; `None` if it lets the slide jump into it.
    fn steps_in_zone(&self, pattern: &Pattern, square: Square) -> Option<u8> {
        let (leg, zone) = (&pattern.legs[0], pattern.to?);
        let (files, rows) = leg.steps[0].vector;
        let mut left = Vec::new();
        let mut at = square;
        while let Some(next) =
            self.variant.topology().step(at, files, rows).filter(|_| left.len() < usize::from(leg.max))
        {
            left.push(zone.contains(next));
            at = next;
        }
        let steps = left.iter().take_while(|&&inside| inside).count();
        (!left[steps..].contains(&true)).then(|| u8::try_from(steps).ok())?
    }

    /// Whether the unit may take this one step anyway.
    fn steps_anyway(&self, vector: (i8, i8)) -> bool {
        self.patterns().iter().any(|pattern| {
            let free = pattern.moves && !pattern.initial && pattern.from.is_none() && pattern.to.is_none();
            let [leg] = pattern.legs.as_slice() else { return false };
            free && leg.min == 1 && leg.steps.iter().any(|step| step.vector == vector && step.stops.is_empty())
        })
    }

    /// The pattern as it is, but for zones that `start` expresses.
    fn say(&self, pattern: &Pattern, start: Start) -> Option<Vec<Term>> {
        let mut reads = pattern.clone();
        reads.initial = start == Start::Home;
        reads.from = (start == Start::BeforeHome).then(|| self.squares(start));
        let modes = match (pattern.moves, pattern.captures, self.variant.unit(self.unit).takes_en_passant) {
            (true, true, false) => "",
            (true, true, true) => "mce",
            (true, false, _) => "m",
            (false, _, true) => "ce",
            (false, _, false) => "c",
        };
        self.said(reads, start, modes)
    }

    /// More than the pattern: without zones, and never checking.
    fn say_tamely(&self, pattern: &Pattern) -> Option<Vec<Term>> {
        let reads = Pattern { initial: false, from: None, to: None, ..pattern.clone() };
        let en_passant = self.variant.unit(self.unit).takes_en_passant;
        let modes = match (pattern.moves, pattern.captures) {
            (_, false) => "m",
            (true, true) if en_passant => "mcet",
            (true, true) => "mct",
            (false, true) if en_passant => "cet",
            (false, true) => "ct",
        };
        self.said(reads, Start::Anywhere, modes)
    }

    fn said(&self, reads: Pattern, start: Start, modes: &str) -> Option<Vec<Term>> {
        let initial = match start {
            Start::Anywhere => "",
            Start::Home => "i",
            Start::BeforeHome => "ii",
        };
        let mirrored = self.colour == Colour::Black && !self.variant.topology().is_turned();
        let manner = Manner { initial, modes, mirrored };
        let texts = terms(&reads, &manner, &self.unconditional(mirrored))?;
        Some(vec![Term { text: texts.concat(), reads }])
    }

    /// Leaps that the unit may make whatever stands around, to move and to take.
    fn unconditional(&self, mirrored: bool) -> Vec<(i8, i8)> {
        let free = self.patterns().iter().filter(|pattern| {
            pattern.moves && pattern.captures && !pattern.initial && pattern.from.is_none() && pattern.to.is_none()
        });
        let single = free.filter_map(|pattern| match pattern.legs.as_slice() {
            [leg] if leg.min == 1 => Some(leg),
            _ => None,
        });
        let steps = single.flat_map(|leg: &Leg| leg.steps.iter().filter(|step| step.stops.is_empty()));
        steps.map(|step| if mirrored { (-step.vector.0, step.vector.1) } else { step.vector }).collect()
    }

    /// Castling as `O`, the number of squares the king goes, with `j` for every square between partner and edge.
    fn castling(&self) -> String {
        if self.unit != self.variant.royal() {
            return String::new();
        }
        let mut wings: Vec<(char, usize, Vec<u8>)> = Vec::new();
        for wing in self.variant.castling().iter().filter(|wing| wing.colour == self.colour) {
            let width = self.variant.topology().width();
            let inside = if wing.higher { width - 1 - wing.partner.file() } else { wing.partner.file() };
            // Black looks at the board from the other side, and the higher files are on his left.
            let way = if wing.higher == (self.colour == Colour::White) { 'r' } else { 'l' };
            let steps = wing.destinations.iter().map(|to| to.king_to.file().abs_diff(wing.king.file())).collect();
            wings.push((way, inside.into(), steps));
        }
        let mut text = String::new();
        let most = wings.iter().flat_map(|(.., steps)| steps).copied().max().unwrap_or(0);
        for steps in 1..=most {
            let going: Vec<_> = wings.iter().filter(|(.., all)| all.contains(&steps)).collect();
            match going.as_slice() {
                [one, other] if one.1 == other.1 => text.push_str(&format!("is{}O{steps}", "j".repeat(one.1))),
                going => {
                    going
                        .iter()
                        .for_each(|(way, inside, _)| text.push_str(&format!("i{way}{}O{steps}", "j".repeat(*inside))));
                }
            }
        }
        text
    }
}

/// From where a term starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Anywhere,
    /// `i`: where the array has the unit.
    Home,
    /// `ii`: one square in front of that.
    BeforeHome,
}

/// Where the array has the unit, seen from its side.
fn home_squares(variant: &Variant, unit: Unit, colour: Colour) -> SquareSet {
    let homes = variant.rules().array.iter().filter(|man| man.1 == unit && man.2 == colour).map(|man| man.0).collect();
    if colour == Colour::Black { variant.topology().flip_set(homes) } else { homes }
}

/// Paths in a form that can be compared: target, whether it is taken, and what the squares between must be.
type PlainPath = (Square, bool, Vec<(Square, bool)>);

/// Paths without order and without those that another makes superfluous.
fn plain(paths: &[crate::variant::paths::Path]) -> BTreeSet<PlainPath> {
    let mut all = BTreeSet::new();
    for path in paths {
        let mut conditions: Vec<_> = path.conditions.iter().map(|asked| (asked.square, asked.empty)).collect();
        conditions.sort_unstable();
        let ends = [(path.moves, false), (path.captures, true)];
        all.extend(ends.iter().filter(|end| end.0).map(|end| (path.target, end.1, conditions.clone())));
    }
    let asks_less = |a: &PlainPath, b: &PlainPath| {
        a != b && a.0 == b.0 && a.1 == b.1 && a.2.iter().all(|condition| b.2.contains(condition))
    };
    all.iter().filter(|path| !all.iter().any(|other| asks_less(other, path))).cloned().collect()
}
