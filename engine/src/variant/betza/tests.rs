mod pieces;
mod reference;
mod refusals;

use super::*;
use crate::geometry::{Square, Topology};
use crate::variant::paths::{self, View};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Side of the test board, and where the piece stands on it.
const SIDE: i8 = 12;
const HOME: (i8, i8) = (5, 5);

type Vector = (i8, i8);

fn add(a: Vector, b: Vector) -> Vector {
    (a.0 + b.0, a.1 + b.1)
}

/// Degrees clockwise from one direction to another.
fn turn(from: Vector, to: Vector) -> f64 {
    let bearing = |(files, rows): Vector| f64::from(files).atan2(f64::from(rows)).to_degrees();
    (bearing(to) - bearing(from)).rem_euclid(360.0)
}

/// Whether an angle is so many eighths of a turn.
fn is_eighth(angle: f64, eighths: u8) -> bool {
    let off = (angle - 45.0 * f64::from(eighths)).abs();
    off.min(360.0 - off) < 1e-6
}

/// Walks a pattern square by square: an independent reading of what [`Pattern`] says. Squares are seen from the piece;
/// returns the last squares of all paths.
pub(in crate::variant) fn walk(
    pattern: &Pattern,
    exists: &dyn Fn(Vector) -> bool,
    occupied: &dyn Fn(Vector) -> bool,
) -> BTreeSet<Vector> {
    let suits = |at: Vector, wanted: Occupancy| match wanted {
        Occupancy::Any => true,
        Occupancy::Empty => !occupied(at),
        Occupancy::Occupied => occupied(at),
    };
    let mut ends = BTreeSet::new();
    let mut open = vec![(0, (0, 0), None::<Vector>)];
    while let Some((index, start, before)) = open.pop() {
        let leg: &Leg = &pattern.legs[index];
        for step in &leg.steps {
            let fits = match (&leg.turn, before) {
                (Turn::Any, _) | (_, None) => true,
                (Turn::Outward, Some(before)) => {
                    let angle = turn(before, step.vector);
                    angle.min(360.0 - angle) < 45.0 + 1e-6
                }
                (Turn::Eighths(turns), Some(before)) => {
                    turns.iter().any(|&eighths| is_eighth(turn(before, step.vector), eighths))
                }
            };
            let mut at = start;
            for taken in 1..=leg.max {
                let clear = step.stops.iter().all(|&stop| !occupied(add(at, stop)));
                at = add(at, step.vector);
                if !fits || !clear || !exists(at) {
                    break;
                }
                if taken >= leg.min && index + 1 < pattern.legs.len() && suits(at, leg.joint) {
                    open.push((index + 1, at, Some(step.vector)));
                } else if taken >= leg.min && index + 1 == pattern.legs.len() {
                    ends.insert(at);
                }
                if !suits(at, leg.through) {
                    break;
                }
            }
        }
    }
    ends
}

/// Whether the empty test board has the square.
fn on_board(at: Vector) -> bool {
    let (file, row) = add(HOME, at);
    (0..SIDE).contains(&file) && (0..SIDE).contains(&row)
}

/// Targets of a string: `m` may move there, `c` may capture there, `x` both.
fn targets(text: &str, men: &[Vector]) -> BTreeMap<Vector, char> {
    targets_of(&parse(text).unwrap_or_else(|error| panic!("{text}: {error}")), men)
}

/// The targets of patterns, in the same way.
fn targets_of(patterns: &[Pattern], men: &[Vector]) -> BTreeMap<Vector, char> {
    let men: BTreeSet<Vector> = men.iter().copied().collect();
    let mut found = BTreeMap::new();
    for pattern in patterns {
        for at in walk(pattern, &on_board, &|at| men.contains(&at)) {
            let moves = pattern.moves && !men.contains(&at);
            for (yes, mode) in [(moves, 'm'), (pattern.captures, 'c')] {
                if yes {
                    found.entry(at).and_modify(|old| *old = if *old == mode { mode } else { 'x' }).or_insert(mode);
                }
            }
        }
    }
    found
}

/// The 7×7 squares around the piece, as drawn.
fn drawn(targets: &BTreeMap<Vector, char>) -> Vec<String> {
    let row = |row: i8| (-3..=3).map(|file| *targets.get(&(file, row)).unwrap_or(&'.')).collect();
    (-3..=3).rev().map(row).collect()
}

fn shows(text: &str, men: &[Vector], picture: [&str; 7]) {
    assert_eq!(drawn(&targets(text, men)), picture, "{text}");
}

#[test]
fn every_atom_leaps_where_it_should() {
    let picture = ["GZCHCZG", "ZANDNAZ", "CNFWFNC", "HDW.WDH", "CNFWFNC", "ZANDNAZ", "GZCHCZG"];
    for atom in "WFDNAHCZG".chars() {
        let expected: Vec<String> =
            picture.iter().map(|row| row.chars().map(|c| if c == atom { 'x' } else { '.' }).collect()).collect();
        assert_eq!(drawn(&targets(&atom.to_string(), &[])), expected, "{atom}");
    }
}

#[test]
fn compounds_and_ranges() {
    shows("K", &[], [".......", ".......", "..xxx..", "..x.x..", "..xxx..", ".......", "......."]);
    shows("FN", &[], [".......", "..x.x..", ".xx.xx.", ".......", ".xx.xx.", "..x.x..", "......."]);
    shows("W2", &[], [".......", "...x...", "...x...", ".xx.xx.", "...x...", "...x...", "......."]);
    shows("R2F", &[], [".......", "...x...", "..xxx..", ".xx.xx.", "..xxx..", "...x...", "......."]);
    let cases = [
        ("R", 22),
        ("B", 21),
        ("Q", 43),
        ("WW", 22),
        ("FF", 21),
        ("W0", 22),
        ("R3", 12),
        ("Q1", 8),
        ("NN", nightrider_targets()),
    ];
    for (text, count) in cases {
        assert_eq!(targets(text, &[]).len(), count, "{text}");
    }
}

/// Counted by hand-written arithmetic: every multiple of a Knight's vector that stays on the board.
fn nightrider_targets() -> usize {
    let on_board = |at: i8| (0..SIDE).contains(&at);
    let vectors = (-2i8..=2).flat_map(|x| (-2i8..=2).map(move |y| (x, y))).filter(|(x, y)| x * x + y * y == 5);
    vectors.map(|(x, y)| (1..SIDE).filter(|n| on_board(HOME.0 + n * x) && on_board(HOME.1 + n * y)).count()).sum()
}

#[test]
fn directions() {
    let cases: [(&str, &[Vector]); 28] = [
        ("fW", &[(0, 1)]),
        ("bW", &[(0, -1)]),
        ("flW", &[(0, 1), (-1, 0)]),
        ("sW", &[(1, 0), (-1, 0)]),
        ("vW", &[(0, 1), (0, -1)]),
        ("fsW", &[(0, 1), (1, 0), (-1, 0)]),
        ("fF", &[(1, 1), (-1, 1)]),
        ("rF", &[(1, 1), (1, -1)]),
        ("flF", &[(-1, 1)]),
        ("flbrF", &[(-1, 1), (1, -1)]),
        ("fK", &[(0, 1), (1, 1), (-1, 1)]),
        ("ffN", &[(1, 2), (-1, 2)]),
        ("fsN", &[(2, 1), (-2, 1)]),
        ("fhN", &[(1, 2), (-1, 2), (2, 1), (-2, 1)]),
        ("rrN", &[(2, 1), (2, -1)]),
        ("lhN", &[(-2, 1), (-2, -1), (-1, 2), (-1, -2)]),
        ("frN", &[(2, 1)]),
        ("rfN", &[(1, 2)]),
        ("blC", &[(-3, -1)]),
        ("vvN", &[(1, 2), (-1, 2), (1, -2), (-1, -2)]),
        ("rvN", &[(1, 2), (1, -2)]),
        ("lfF", &[(-1, 1)]),
        ("rbF", &[(1, -1)]),
        ("vF", &[(1, 1), (-1, 1), (1, -1), (-1, -1)]),
        ("sA", &[(2, 2), (-2, 2), (2, -2), (-2, -2)]),
        ("hrN", &[(1, 2), (2, -1), (-1, -2), (-2, 1)]),
        ("hlN", &[(2, 1), (1, -2), (-2, -1), (-1, 2)]),
        ("ffbsZ", &[(2, 3), (-2, 3), (3, -2), (-3, -2)]),
    ];
    for (text, expected) in cases {
        let found: BTreeSet<Vector> = targets(text, &[]).into_keys().collect();
        assert_eq!(found, expected.iter().copied().collect(), "{text}");
    }
}

#[test]
fn modes() {
    shows("fmWfcF", &[], [".......", ".......", "..cmc..", ".......", ".......", ".......", "......."]);
    shows("fmWsmWfcF", &[], [".......", ".......", "..cmc..", "..m.m..", ".......", ".......", "......."]);
    shows("mWcW", &[], [".......", ".......", "...x...", "..x.x..", "...x...", ".......", "......."]);
    assert!(parse("ifmnD").unwrap().iter().all(|pattern| pattern.initial && pattern.moves && !pattern.captures));
    assert!(parse("mcW").unwrap().iter().all(|pattern| pattern.moves && pattern.captures && !pattern.initial));
}

#[test]
fn lame_leaps_are_blocked_and_others_are_not() {
    let blocked = |text: &str, men: &[Vector], at: Vector| !targets(text, men).contains_key(&at);
    assert!(blocked("nN", &[(0, 1)], (1, 2)) && blocked("nN", &[(0, 1)], (-1, 2)));
    assert!(!blocked("nN", &[(1, 1)], (1, 2)) && !blocked("nN", &[(0, 1)], (2, 1)) && !blocked("N", &[(0, 1)], (1, 2)));
    assert!(blocked("nD", &[(0, 1)], (0, 2)) && !blocked("D", &[(0, 1)], (0, 2)));
    assert!(blocked("nA", &[(1, -1)], (2, -2)) && !blocked("nA", &[(1, 1)], (2, -2)));
    assert!(blocked("nH", &[(-1, 0)], (-3, 0)) && blocked("nH", &[(-2, 0)], (-3, 0)));
    assert!(blocked("nG", &[(1, 1)], (3, 3)) && blocked("nG", &[(2, 2)], (3, 3)));
    assert!(blocked("nZ", &[(0, 1)], (2, 3)) && blocked("nZ", &[(1, 2)], (2, 3)) && !blocked("nZ", &[(1, 1)], (2, 3)));
    assert!(blocked("nNN", &[(1, 3)], (2, 4)) && !blocked("nNN", &[(1, 3)], (1, 2)));
}

#[test]
fn hoppers() {
    let men = [(0, 2), (2, 0), (3, 0)];
    let cannon = targets("mRcpR", &men);
    assert_eq!(cannon.get(&(0, 1)), Some(&'m'));
    assert_eq!((cannon.get(&(0, 2)), cannon.get(&(0, 3)), cannon.get(&(0, 6))), (None, Some(&'c'), Some(&'c')));
    assert_eq!((cannon.get(&(3, 0)), cannon.get(&(4, 0))), (Some(&'c'), None));
    let grasshopper = targets("gQ", &[(0, 2), (2, 0), (3, 0), (3, 3)]);
    let found: Vec<_> = grasshopper.into_iter().collect();
    assert_eq!(found, [((0, 3), 'x'), ((3, 0), 'c'), ((4, 4), 'x')]);
    let nightrider = targets("pNN", &[(1, 2)]);
    assert_eq!(nightrider.into_keys().collect::<Vec<_>>(), [(2, 4), (3, 6)]);
}

#[test]
fn flying_chariot_jumps_one_or_two_adjacent_men() {
    let text = "RpafWpafpafW";
    let along = |men: &[Vector]| -> Vec<i8> {
        targets(text, men).into_keys().filter(|&(file, row)| file == 0 && row > 0).map(|(_, row)| row).collect()
    };
    assert_eq!(along(&[]), [1, 2, 3, 4, 5, 6]);
    assert_eq!(along(&[(0, 1)]), [1, 2]);
    assert_eq!(along(&[(0, 2)]), [1, 2]);
    assert_eq!(along(&[(0, 1), (0, 2)]), [1, 2, 3]);
    assert_eq!(along(&[(0, 1), (0, 2), (0, 3)]), [1, 2, 3]);
    assert_eq!(targets("RDpafpafW", &[(0, 1)]), targets(text, &[(0, 1)]));
    let diagonal = targets("BpafFpafpafF", &[(1, 1), (2, 2), (-1, 1)]);
    assert!([(3, 3), (2, 2), (-2, 2)].iter().all(|at| diagonal.contains_key(at)) && !diagonal.contains_key(&(4, 4)));
}

#[test]
fn legs_turn_where_they_are_told() {
    let mao: BTreeSet<Vector> = targets("mafsW", &[]).into_keys().collect();
    assert_eq!(mao, targets("nN", &[]).into_keys().collect());
    assert_eq!(targets("mafsW", &[(0, 1)]), targets("nN", &[(0, 1)]));
    let any: BTreeSet<Vector> = targets("fmpafW", &[]).into_keys().collect();
    assert_eq!(any, BTreeSet::from([(0, 2)]));
    assert_eq!(targets("fmpafW", &[(0, 1)]).into_keys().collect::<BTreeSet<_>>(), any);
    // From each forward corner three eighths clockwise: after (1,1) comes (0,-1), after (-1,1) comes (1,0).
    assert_eq!(targets("fabrF", &[]).into_keys().collect::<BTreeSet<_>>(), BTreeSet::from([(1, 0), (0, 1)]));
    assert_eq!(targets("frabF", &[]).into_keys().collect::<Vec<_>>(), [(0, 0)]);
}

#[test]
fn legs_of_paths() {
    assert_eq!(parse_leg("F", false).unwrap().max, 1);
    let rider = parse_leg("R2+", true).unwrap();
    assert_eq!((rider.min, rider.max, rider.steps.len()), (2, Leg::UNLIMITED, 4));
    assert_eq!(parse_leg("B", true).unwrap().max, Leg::UNLIMITED);
    assert_eq!(parse_leg("W3", true).unwrap().max, 3);
    for (bad, last) in
        [("R", false), ("W2", false), ("fW", true), ("WF", true), ("R+", true), ("R0+", true), ("", true), ("é", true)]
    {
        assert!(parse_leg(bad, last).is_err(), "{bad:?} was accepted");
    }
}

/// Terms that mostly make sense.
fn notation() -> impl Strategy<Value = String> {
    let modifiers = "[fblrvs]{0,2}[mcinjpgy]{0,2}";
    let atom = "[WFDNAHCZGBRQK]([0-9]|[1-9]\\+|)";
    let chain = format!("({modifiers}a){{0,3}}{modifiers}{atom}");
    let bracket = format!("[mci]{{0,1}}\\[{modifiers}{atom}([?-][fblrs]{{0,2}}{atom}){{1,3}}\\]");
    prop::string::string_regex(&format!("({chain}|{bracket})")).unwrap()
}

/// Every fault stands inside the string, at the beginning of a character.
fn points_into(text: &str) {
    for error in [parse(text).err(), parse_leg(text, true).err(), parse_leg(text, false).err()].into_iter().flatten() {
        assert!(error.at <= text.len() && text.is_char_boundary(error.at), "{text:?}: {error}");
    }
}

/// Most paths looked for from one square.
const PATHS: usize = 1_500;

/// How many paths a string has from the middle of an empty 10×10 board, if that is bearable.
fn paths_on_a_board(text: &str) -> Option<usize> {
    let topology = Topology::new(10, 10, 1, SquareSet::EMPTY).unwrap();
    let view = View { topology: &topology, black: false, homes: topology.squares() };
    let patterns = parse(text).unwrap();
    paths::paths(&patterns, Square::at(4, 4).unwrap(), &view, PATHS).map(|paths| paths.len())
}

#[test]
fn the_longest_strings_are_bounded() {
    let eight_slides = "[Q-Q-Q-Q-Q-Q-Q-Q]";
    let cases =
        [eight_slides.repeat(15), "aaaaaaaK".repeat(32), "aaaaaaaQ".repeat(32), "mpampampampampampampaK".repeat(11)];
    for text in cases {
        assert!(text.len() <= MAX_LENGTH && paths_on_a_board(&text).is_none(), "{text}");
    }
    assert_eq!(paths_on_a_board(&"R".repeat(MAX_LENGTH / 2).replace("RR", "RW")), Some(18));
}

proptest! {
    #[test]
    fn never_panics(text in any::<String>()) {
        points_into(&text);
    }

    #[test]
    fn faults_lie_in_the_string(text in "[a-zA-Z0-9+*?(){}é\\[\\]-]{1,16}") {
        points_into(&text);
    }

    #[test]
    fn whatever_is_read_has_legs_and_steps(text in notation()) {
        points_into(&text);
        if let Ok(patterns) = parse(&text) {
            prop_assert!(!patterns.is_empty());
            for pattern in patterns {
                prop_assert!(!pattern.legs.is_empty() && (pattern.moves || pattern.captures));
                for leg in &pattern.legs {
                    prop_assert!(!leg.steps.is_empty() && leg.min >= 1 && leg.min <= leg.max);
                }
                walk(&pattern, &on_board, &|_| false);
            }
        }
    }

    /// However long and bent, the paths are found or given up in bounded work.
    #[test]
    fn paths_of_any_string_are_bounded(terms in prop::collection::vec(notation(), 1..20)) {
        let mut text = String::new();
        for term in &terms {
            let longer = format!("{text}{term}");
            if parse(&longer).is_ok() {
                text = longer;
            }
        }
        if !text.is_empty() {
            let paths = paths_on_a_board(&text);
            prop_assert!(paths.is_none_or(|paths| paths <= PATHS), "{text}");
        }
    }
}
