//! Published pieces, against moves worked out without the notation, and strings that must mean the same.

use super::*;
use proptest::test_runner::TestRunner;

const DIAGONAL: [Vector; 4] = [(1, 1), (1, -1), (-1, -1), (-1, 1)];
const STRAIGHT: [Vector; 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];

/// Squares of a slide from a square: up to the first man, that included.
fn slide(from: Vector, step: Vector, men: &BTreeSet<Vector>) -> Vec<Vector> {
    let mut squares = Vec::new();
    let mut at = add(from, step);
    while on_board(at) {
        squares.push(at);
        if men.contains(&at) {
            break;
        }
        at = add(at, step);
    }
    squares
}

/// A step, and from there, if it is empty, the slides that lead outward: at 45° for W and F.
fn bent_slider(steps: [Vector; 4], men: &BTreeSet<Vector>, stops: bool) -> BTreeSet<Vector> {
    let mut reached = BTreeSet::new();
    for step in steps.into_iter().filter(|&step| on_board(step)) {
        if stops {
            reached.insert(step);
        }
        let (files, rows) = step;
        let outward = if files != 0 && rows != 0 {
            [(files, 0), (0, rows)]
        } else if files == 0 {
            [(1, rows), (-1, rows)]
        } else {
            [(files, 1), (files, -1)]
        };
        if !men.contains(&step) {
            reached.extend(outward.into_iter().flat_map(|on| slide(step, on, men)));
        }
    }
    reached
}

fn reached(text: &str, men: &BTreeSet<Vector>) -> BTreeSet<Vector> {
    targets(text, &men.iter().copied().collect::<Vec<_>>()).into_keys().collect()
}

/// Scattered men, none on the piece's own square.
fn crowd() -> impl Strategy<Value = BTreeSet<Vector>> {
    let square = (-5i8..=6, -5i8..=6).prop_filter("not the piece's own", |&at| at != (0, 0));
    prop::collection::btree_set(square, 0..60)
}

/// Strings with one meaning, in groups.
const SAME: [&[&str]; 33] = [
    &["FyafsF", "[F?R]", "F[F-R]", "yafsFfFbF"],
    &["WyafsW", "[W?B]", "W[W-B]"],
    &["nN", "mafsW", "afsW", "[W-F]", "[mW-F]"],
    &["mafsF", "[F-W]"],
    &["afsK", "[K-fsK]", "[W-F][F-W]"],
    &["nA", "mafF", "[F-F]"],
    &["nD", "mafW", "[W-W]"],
    &["nH", "mafmafW", "[W-W-W]"],
    &["nG", "mafmafF", "[F-F-F]"],
    &["nZ", "mafsmafW", "[W-F-F]"],
    &["mafmafsW", "[W-W-F]"],
    &["jD", "pafW", "[pW-W]"],
    &["jA", "pafF", "[pF-F]"],
    &["jN", "pafsW", "[pW-F]"],
    &["D", "mpafW", "[mpW-W]"],
    &["N", "mpafsW", "hrNhlN", "ffNbbNssN"],
    &["pR", "pafR", "[pR-R]", "pWW"],
    &["gQ", "gafQ", "gRgB", "[pR-W][pB-F]"],
    &["jR", "mgafW", "[mpW-R]", "jWW"],
    &["jB4", "[mpF-B3]"],
    &["aW", "afWasW", "[W-fW][W-sW]"],
    &["aK", "afKasKafsKabsK"],
    &["affrW", "afWafrW"],
    &["F", "sF", "vF", "fFbF"],
    &["fF", "flfrF", "lfrfF"],
    &["afsafzW", "afraflWaflafrW"],
    &["afsafqW", "afrafrWaflaflW"],
    &["mRcpR", "mRpafcR"],
    &["m[F?R]", "[mF?mR]", "mFyafsmF"],
    &["fR4", "fmafmafmafWfmafmafWfmafWfW"],
    &["[W-W-W-R]", "[W-W-R2+]", "[W-R3+]"],
    &["asR", "[R-sR]"],
    &["RyafsR", "R[R-fsF]"],
];

proptest! {
    #[test]
    fn strings_that_mean_the_same(men in crowd()) {
        let men: Vec<Vector> = men.into_iter().collect();
        for group in SAME {
            let first = targets(group[0], &men);
            for other in &group[1..] {
                prop_assert_eq!(&targets(other, &men), &first, "{} and {}", group[0], other);
            }
        }
    }

    #[test]
    fn bent_riders(men in crowd()) {
        prop_assert_eq!(reached("FyafsF", &men), bent_slider(DIAGONAL, &men, true));
        prop_assert_eq!(reached("[F-R]", &men), bent_slider(DIAGONAL, &men, false));
        prop_assert_eq!(reached("[W?B]", &men), bent_slider(STRAIGHT, &men, true));
        prop_assert_eq!(reached("yafsW", &men), bent_slider(STRAIGHT, &men, false));
        // Two squares beyond the first: what is less stands within a Knight's leap.
        let near = |&(files, rows): &Vector| files.abs() + rows.abs() <= 3;
        let far = bent_slider(DIAGONAL, &men, false).into_iter().filter(|at| !near(at)).collect();
        prop_assert_eq!(reached("[F-R2+]", &men), far);
    }

    /// The Falcon: three king steps, in any order, two of one kind and one of the other, all outward.
    #[test]
    fn falcon(men in crowd()) {
        let mut expected = BTreeSet::new();
        for target in targets("CZ", &[]).into_keys() {
            let (files, rows): Vector = target;
            let slant = (files.signum(), rows.signum());
            let straight = if files.abs() > rows.abs() { (slant.0, 0) } else { (0, slant.1) };
            let slants = files.abs().min(rows.abs()) as usize;
            for odd_one in 0..3 {
                let is_slant = |step: usize| (slants == 1) == (step == odd_one);
                let step = |index| if is_slant(index) { slant } else { straight };
                let (first, second) = (step(0), add(step(0), step(1)));
                if on_board(target) && !men.contains(&first) && !men.contains(&second) {
                    expected.insert(target);
                }
            }
        }
        prop_assert_eq!(reached("afafsKafsafzfK", &men), expected);
    }
}

/// Pieces of shipped games, spelled there as paths, and strings that mean the same.
const SHIPPED: [(&str, &str, &str); 7] = [
    ("opulent-lemurian-shatranj", "war_elephant", "FaF"),
    ("opulent-lemurian-shatranj", "bent_hero", "WD[W-D][W-sD][W-bD][D-W][D-sW][D-bW]"),
    ("opulent-lemurian-shatranj", "bent_shaman", "FA[F-A][F-sA][F-bA][A-F][A-sF][A-bF]"),
    ("sorcerer-reinforcements", "stealth_gryphon", "[F-R2+]"),
    ("sorcerer-reinforcements", "stealth_anti_gryphon", "[W-B2+]"),
    ("herculean-sorcerer-knights-lame", "sorcerer_knight", "afsKnZ[F-F-W]"),
    ("herculean", "flying_chariot", "R[pW-W][pW-pW-W]"),
];

#[test]
fn pieces_of_shipped_games() {
    let patterns = SHIPPED.map(|(game, name, _)| {
        let game = crate::variant::Variant::load(game).unwrap();
        game.rules().units.iter().find(|unit| unit.name == name).unwrap().patterns.clone()
    });
    let compare = |men: BTreeSet<Vector>| {
        let men: Vec<Vector> = men.into_iter().collect();
        for (patterns, (_, name, text)) in patterns.iter().zip(SHIPPED) {
            let [shipped, written] = [targets_of(patterns, &men), targets(text, &men)].map(|mut targets| {
                targets.remove(&(0, 0));
                targets
            });
            prop_assert_eq!(shipped, written, "{}", name);
        }
        Ok(())
    };
    TestRunner::deterministic().run(&crowd(), compare).unwrap();
}

#[test]
fn bent_riders_drawn() {
    shows("FyafsF", &[], ["..x.x..", "..x.x..", "xxx.xxx", ".......", "xxx.xxx", "..x.x..", "..x.x.."]);
    shows("[W?B]", &[], [".x...x.", "x.x.x.x", ".x.x.x.", "..x.x..", ".x.x.x.", "x.x.x.x", ".x...x."]);
    shows("[F-R2+]", &[], ["..x.x..", ".......", "x.....x", ".......", "x.....x", ".......", "..x.x.."]);
    // A man on the first square stops what lies behind it, and may be taken there if the move may stop.
    shows("[fF?R]", &[(1, 1)], ["..x....", "..x....", "xxx.c..", ".......", ".......", ".......", "......."]);
    shows("[fF-R]", &[(1, 1), (-1, 2)], [".......", "..c....", "xx.....", ".......", ".......", ".......", "......."]);
}

#[test]
fn ski_slides_pass_over_whatever_stands_first() {
    for men in [&[][..], &[(0, 1)]] {
        let ahead: Vec<i8> =
            targets("jR", men).into_keys().filter(|&(file, row)| file == 0 && row > 0).map(|at| at.1).collect();
        assert_eq!(ahead, [2, 3, 4, 5, 6]);
    }
    assert_eq!(targets("fjR3", &[(0, 1)]).into_keys().collect::<Vec<_>>(), [(0, 2), (0, 3)]);
    assert_eq!(targets("fjR", &[(0, 3)]).into_keys().collect::<Vec<_>>(), [(0, 2), (0, 3)]);
}

#[test]
fn leaps_that_need_a_man_to_jump() {
    assert!(targets("jAjDjN", &[]).is_empty());
    assert_eq!(targets("jD", &[(0, 1), (1, 1)]).into_keys().collect::<Vec<_>>(), [(0, 2)]);
    assert_eq!(targets("jA", &[(0, 1), (1, 1)]).into_keys().collect::<Vec<_>>(), [(2, 2)]);
    assert_eq!(targets("jN", &[(0, 1), (1, 1)]).into_keys().collect::<Vec<_>>(), [(-1, 2), (1, 2)]);
    assert_eq!(targets("frjN", &[(1, 0)]).into_keys().collect::<Vec<_>>(), [(2, 1)]);
}

#[test]
fn riders_of_leaps() {
    let ahead = |text: &str, men: &[Vector]| -> Vec<Vector> { targets(text, men).into_keys().collect() };
    assert_eq!(ahead("fDD", &[(0, 1), (0, 3)]), [(0, 2), (0, 4), (0, 6)]);
    assert_eq!(ahead("fDD", &[(0, 4)]), [(0, 2), (0, 4)]);
    assert_eq!(ahead("rfCC", &[(1, 2)]), [(1, 3), (2, 6)]);
    assert_eq!(ahead("rfC2", &[]), [(1, 3), (2, 6)]);
    assert_eq!(ahead("rfafN", &[]), [(2, 4)]);
    assert_eq!(ahead("rfafN", &[(1, 2)]), []);
    assert_eq!(ahead("rfpafN", &[(1, 2)]), [(2, 4)]);
}

#[test]
fn hoppers_along_diagonals() {
    let vao = targets("mBcpB", &[(2, 2), (4, 4), (-1, 1)]);
    assert_eq!((vao.get(&(1, 1)), vao.get(&(2, 2)), vao.get(&(3, 3))), (Some(&'m'), None, Some(&'c')));
    assert_eq!((vao.get(&(4, 4)), vao.get(&(5, 5)), vao.get(&(-1, 1))), (Some(&'c'), None, None));
    assert_eq!(targets("pB", &[(2, 2)]).into_keys().collect::<Vec<_>>(), [(3, 3), (4, 4), (5, 5), (6, 6)]);
}

#[test]
fn legs_that_hop_and_turn() {
    // A hook mover, and a Rook that hops a man and goes on at right angles.
    assert!(reached("RasR", &BTreeSet::new()).len() == usize::from(SIDE as u8).pow(2) - 1);
    let men = BTreeSet::from([(0, 3)]);
    let turned = reached("fpasR", &men);
    assert!(turned.contains(&(1, 3)) && turned.contains(&(-5, 3)) && turned.iter().all(|&(_, row)| row == 3));
    // The last leg may hop too: straight on, two men.
    assert_eq!(reached("fpafpR", &BTreeSet::from([(0, 1), (0, 3)])), BTreeSet::from([(0, 4), (0, 5), (0, 6)]));
    assert_eq!(reached("fpafgR", &BTreeSet::from([(0, 1), (0, 3)])), BTreeSet::from([(0, 4)]));
}

#[test]
fn a_pawn_slides_to_the_centre_row() {
    let near_half: SquareSet =
        (0..12u8).flat_map(|file| (0..6u8).filter_map(move |row| Square::at(file, row))).collect();
    let topology = Topology::new(12, 12, 1, SquareSet::EMPTY).unwrap();
    let patterns = parse_on("fmW*fcF", Some(near_half)).unwrap();
    let quiet = |from: (u8, u8), black: bool| -> Vec<String> {
        let view = View { topology: &topology, black, homes: SquareSet::EMPTY };
        let paths = paths::paths(&patterns, Square::at(from.0, from.1).unwrap(), &view, PATHS).unwrap();
        paths.iter().filter(|path| path.moves).map(|path| topology.name(path.target)).collect()
    };
    assert_eq!(quiet((2, 1), false), ["c3", "c4", "c5", "c6"]);
    assert_eq!(quiet((2, 5), false), ["c7"]);
    assert_eq!(quiet((2, 8), false), ["c10"]);
    assert_eq!(quiet((2, 10), true), ["c10", "c9", "c8", "c7"]);
    assert_eq!(quiet((2, 4), true), ["c4"]);
    let shipped = crate::variant::Variant::load("herculean").unwrap();
    let pawn = shipped.rules().units.iter().find(|unit| unit.name == "pawn").unwrap();
    let mut spelled: Vec<String> = pawn.patterns.iter().map(|pattern| format!("{pattern:?}")).collect();
    let mut short: Vec<String> = patterns.iter().map(|pattern| format!("{pattern:?}")).collect();
    spelled.sort();
    short.sort();
    assert_eq!(short, spelled, "as the shipped file spells it");
}
