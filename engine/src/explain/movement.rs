//! Move patterns as English phrases. Every pattern gets one that says exactly what it does: a short one where chess has words, and
//! otherwise its legs one after the other.
//!
//! Patterns that differ only in where their first leg goes are told together. The structs are taken apart without `..`, so that a
//! field added to them cannot be forgotten here.

use super::words::{list, number, squares, zone};
use crate::geometry::Topology;
use crate::variant::pattern::{Leg, Occupancy, Pattern, Step, Turn};

/// What a unit with these patterns does, one phrase each: `slides any number of squares orthogonally, over empty squares`.
pub(super) fn phrases(topology: &Topology, patterns: &[Pattern]) -> Vec<String> {
    let mut merged: Vec<Pattern> = Vec::new();
    for pattern in patterns {
        for part in by_length(pattern) {
            match merged.iter_mut().find(|known| differ_in_first_steps_only(known, &part)) {
                Some(known) => add_steps(&mut known.legs[0].steps, &part.legs[0].steps),
                None => merged.push(part),
            }
        }
    }
    merged.iter().map(|pattern| phrase(topology, pattern)).collect()
}

/// The pattern once for each kind of step its first leg may take; later legs of a straight path are made alike.
fn by_length(pattern: &Pattern) -> Vec<Pattern> {
    let mut parts: Vec<Pattern> = Vec::new();
    for step in &pattern.legs[0].steps {
        let mut part = pattern.clone();
        part.legs[0].steps = vec![step.clone()];
        if is_straight(&part) {
            // They follow the first leg anyway; without their steps all directions compare equal.
            part.legs[1..].iter_mut().for_each(|leg| leg.steps.clear());
        }
        match parts.iter_mut().find(|known| differ_in_first_steps_only(known, &part)) {
            Some(known) => add_steps(&mut known.legs[0].steps, &part.legs[0].steps),
            None => parts.push(part),
        }
    }
    parts
}

/// Whether every later leg goes straight on by the same step as the first.
fn is_straight(pattern: &Pattern) -> bool {
    let [Leg { steps, .. }, later @ ..] = pattern.legs.as_slice() else { return false };
    let [first] = steps.as_slice() else { return false };
    let goes_on = |leg: &Leg| {
        let parallel = |step: &&Step| is_ahead(first.vector, step.vector);
        let mut ahead = leg.steps.iter().filter(parallel);
        leg.turn == Turn::Eighths(vec![0]) && ahead.next() == Some(first) && ahead.next().is_none()
    };
    !later.is_empty() && later.iter().all(goes_on)
}

fn is_ahead((a, b): (i8, i8), (c, d): (i8, i8)) -> bool {
    let (a, b, c, d) = (i32::from(a), i32::from(b), i32::from(c), i32::from(d));
    a * d == b * c && a * c + b * d > 0
}

fn differ_in_first_steps_only(a: &Pattern, b: &Pattern) -> bool {
    let alike = |a: &Step, b: &Step| kind(a.vector) == kind(b.vector) && a.stops.is_empty() == b.stops.is_empty();
    let first = |pattern: &Pattern| Leg { steps: Vec::new(), ..pattern.legs[0].clone() };
    alike(&a.legs[0].steps[0], &b.legs[0].steps[0])
        && first(a) == first(b)
        && a.legs[1..] == b.legs[1..]
        && Pattern { legs: Vec::new(), ..a.clone() } == Pattern { legs: Vec::new(), ..b.clone() }
}

fn add_steps(steps: &mut Vec<Step>, more: &[Step]) {
    for step in more {
        if !steps.contains(step) {
            steps.push(step.clone());
        }
    }
}

/// One phrase for a pattern all of whose first steps are of one kind.
fn phrase(topology: &Topology, pattern: &Pattern) -> String {
    let Pattern { legs, moves, captures, initial, from, to } = pattern;
    let mut phrase = match legs.as_slice() {
        [only] => leg_words(only, &directions(&only.steps)),
        [first, later @ ..] if later.iter().all(|leg| leg.steps.is_empty()) => straight_words(first, later),
        legs => path_words(legs),
    };
    match (moves, captures) {
        (true, true) => {}
        (true, false) => phrase.push_str("; only without capturing"),
        (false, true) => phrase.push_str("; only to capture"),
        (false, false) => phrase.push_str("; never"),
    }
    if let Some(from) = from {
        phrase.push_str(&format!("; only from {}", zone(topology, *from)));
    }
    if let Some(to) = to {
        phrase.push_str(&format!("; only to {}", zone(topology, *to)));
    }
    if *initial {
        phrase.push_str("; only from a square on which the array has such a man of its side");
    }
    phrase
}

/// A step's kind, by which the words differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Along a rank, a file or a diagonal, so many squares.
    Straight(u8),
    /// The greater and the lesser coordinate.
    Oblique(u8, u8),
}

fn kind((files, rows): (i8, i8)) -> Kind {
    let (files, rows) = (files.unsigned_abs(), rows.unsigned_abs());
    if files == 0 || rows == 0 || files == rows {
        Kind::Straight(files.max(rows))
    } else {
        Kind::Oblique(files.max(rows), files.min(rows))
    }
}

/// One leg: verb, amount, direction, what must be empty.
fn leg_words(leg: &Leg, direction: &str) -> String {
    let Leg { steps, turn: _, min, max, through, joint: _ } = leg;
    let Some(first) = steps.first() else { return "goes nowhere".into() };
    let repeats = (*min, *max);
    let mut words = match (kind(first.vector), repeats) {
        (Kind::Straight(1), (1, 1)) => format!("steps one square {direction}"),
        (Kind::Straight(1), _) => format!("slides {} {direction}", amount(repeats, "square", "squares")),
        (Kind::Straight(length), (1, 1)) => format!("leaps {} {direction}", squares(length.into())),
        (Kind::Straight(length), _) => {
            let leap = format!("leap of {}", squares(length.into()));
            let leaps = format!("leaps of {}", squares(length.into()));
            format!("makes {} {direction}, all the same way", amount(repeats, &leap, &leaps))
        }
        (Kind::Oblique(long, short), (1, 1)) => format!("leaps ({long},{short}) {direction}"),
        (Kind::Oblique(long, short), _) => {
            let leaps = amount(repeats, &format!("({long},{short}) leap"), &format!("({long},{short}) leaps"));
            format!("makes {leaps} {direction}, all the same way")
        }
    };
    words.push_str(&stop_words(steps));
    if repeats != (1, 1) {
        words.push_str(match (through, kind(first.vector)) {
            (Occupancy::Empty, Kind::Straight(1)) => ", over empty squares",
            (Occupancy::Empty, _) => ", each but the last onto an empty square",
            (Occupancy::Occupied, Kind::Straight(1)) => ", over squares that are all occupied, by men of either colour",
            (Occupancy::Occupied, _) => ", each but the last onto an occupied square, whoever stands there",
            (Occupancy::Any, _) => ", whatever it passes over",
        });
    }
    words
}

fn amount((min, max): (u8, u8), one: &str, many: &str) -> String {
    match (min, max) {
        (0 | 1, Leg::UNLIMITED) => format!("any number of {many}"),
        (min, Leg::UNLIMITED) => format!("{} {many} or more", number(min.into())),
        (1, 1) => format!("one {one}"),
        (min, max) if min == max => format!("exactly {} {many}", number(max.into())),
        (min, max) if min + 1 == max => format!("{} or {} {many}", number(min.into()), number(max.into())),
        (min, max) => format!("{} to {} {many}", number(min.into()), number(max.into())),
    }
}

/// What a lame leap asks of the squares it passes.
fn stop_words(steps: &[Step]) -> String {
    if steps.iter().all(|step| step.stops.is_empty()) {
        return String::new();
    }
    if steps.iter().all(|step| step.stops == between(step.vector)) {
        let several = steps.iter().any(|step| step.stops.len() > 1);
        return format!(", if the {} between {} empty", plural("square", several), if several { "are" } else { "is" });
    }
    let beside = |step: &Step| {
        let (files, rows) = step.vector;
        let long = if files.abs() > rows.abs() { (files.signum(), 0) } else { (0, rows.signum()) };
        matches!(kind(step.vector), Kind::Oblique(..)) && step.stops == [long]
    };
    if steps.iter().all(beside) {
        return ", if the first square the long way is empty".into();
    }
    let each = steps.iter().map(|step| {
        let stops: Vec<String> = step.stops.iter().map(|&stop| vector_words(stop)).collect();
        format!("{} if the square {} is empty", vector_words(step.vector), list(&stops, "and the square"))
    });
    format!(" ({})", each.collect::<Vec<_>>().join("; "))
}

fn plural(word: &str, several: bool) -> String {
    if several { format!("{word}s") } else { word.into() }
}

/// The squares on the straight line between.
fn between((files, rows): (i8, i8)) -> Vec<(i8, i8)> {
    match kind((files, rows)) {
        Kind::Straight(length) => {
            (1..length as i8).map(|distance| (files.signum() * distance, rows.signum() * distance)).collect()
        }
        Kind::Oblique(..) => Vec::new(),
    }
}

/// A path that goes on straight: hoppers, and jumps over squares that must be occupied or empty.
fn straight_words(first: &Leg, later: &[Leg]) -> String {
    let direction = directions(&first.steps);
    let slides = |leg: &Leg| leg.min == 1 && leg.max == Leg::UNLIMITED && leg.through == Occupancy::Empty;
    let Some(Kind::Straight(length)) = first.steps.first().map(|step| kind(step.vector)) else {
        return straight_path_words(first, later);
    };
    let leaps = first.steps.iter().any(|step| !step.stops.is_empty());
    match later {
        [behind] if length == 1 && slides(first) && first.joint == Occupancy::Occupied && slides(behind) => format!(
            "slides {direction} and hops over exactly one man of either colour, to any square behind it, all other squares passed being empty"
        ),
        [behind] if length == 1 && slides(first) && first.joint == Occupancy::Occupied && is_single(behind) => format!(
            "slides {direction} and hops over exactly one man of either colour, to the square directly behind it, all other squares passed being empty"
        ),
        later if !leaps && is_single(first) && later.iter().all(is_single) => {
            let joints: Vec<Occupancy> =
                std::iter::once(first).chain(&later[..later.len() - 1]).map(|leg| leg.joint).collect();
            let distance = usize::from(length) * (later.len() + 1);
            let verb = if length == 1 { "jumps" } else { "goes" };
            format!("{verb} {} {direction}{}", squares(distance), joint_words(&joints, length))
        }
        later => straight_path_words(first, later),
    }
}

fn is_single(leg: &Leg) -> bool {
    (leg.min, leg.max) == (1, 1)
}

/// What the landing squares of a straight chain of equal steps must be like.
fn joint_words(joints: &[Occupancy], length: u8) -> String {
    let alike = joints.iter().all(|joint| *joint == joints[0]);
    let (the, are) = match (joints.len(), length) {
        (1, 1) => ("the square between", "is"),
        (2, 1) => ("both squares between", "are"),
        (_, 1) => ("all squares between", "are"),
        (1, _) => ("the square halfway", "is"),
        _ => ("the squares it touches down on", "are"),
    };
    if alike {
        return match joints[0] {
            Occupancy::Empty => format!(", if {the} {are} empty"),
            Occupancy::Occupied if joints.len() == 1 => {
                format!(", if {the} {are} occupied (by a man of either colour, which stays)")
            }
            Occupancy::Occupied => format!(", if {the} {are} occupied (by men of either colour, which stay)"),
            Occupancy::Any => ", whatever stands between".into(),
        };
    }
    let each: Vec<String> = joints
        .iter()
        .enumerate()
        .map(|(index, joint)| {
            let asks = match joint {
                Occupancy::Empty => "empty",
                Occupancy::Occupied => "occupied (by a man of either colour, which stays)",
                Occupancy::Any => "as it may be",
            };
            format!("the {} square between is {asks}", ordinal(index))
        })
        .collect();
    format!(", if {}", list(&each, "and"))
}

fn ordinal(index: usize) -> String {
    const WORDS: [&str; 7] = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh"];
    WORDS.get(index).map_or_else(|| format!("{}th", index + 1), |&word| word.into())
}

fn straight_path_words(first: &Leg, later: &[Leg]) -> String {
    let legs: Vec<Leg> = std::iter::once(first.clone())
        .chain(later.iter().map(|leg| Leg { steps: first.steps.clone(), ..leg.clone() }))
        .collect();
    path_words(&legs)
}

/// Any path: its legs in order.
fn path_words(legs: &[Leg]) -> String {
    let mut words = String::new();
    for (index, leg) in legs.iter().enumerate() {
        if index == 0 {
            words.push_str(&format!("first {}", leg_words(leg, &directions(&leg.steps))));
        } else {
            words.push_str(&format!(", then {}", later_leg_words(leg)));
        }
        if index + 1 < legs.len() {
            words.push_str(match leg.joint {
                Occupancy::Empty => ", onto an empty square",
                Occupancy::Occupied => ", onto a square with a man of either colour, which stays",
                Occupancy::Any => ", whatever stands there",
            });
        }
    }
    if may_return(legs) {
        words.push_str("; never back to where it started");
    }
    words
}

/// A later leg: each kind of step it may take, and how it turns.
fn later_leg_words(leg: &Leg) -> String {
    let mut kinds: Vec<Leg> = Vec::new();
    for step in &leg.steps {
        match kinds.iter_mut().find(|known| kind(known.steps[0].vector) == kind(step.vector)) {
            Some(known) => known.steps.push(step.clone()),
            None => kinds.push(Leg { steps: vec![step.clone()], ..leg.clone() }),
        }
    }
    let words: Vec<String> = kinds.iter().map(|leg| leg_words(leg, &directions(&leg.steps))).collect();
    format!("{}, {}", list(&words, "or"), turn_words(&leg.turn))
}

/// Whether the legs might lead back to the start: after a sharp turn, or after four legs that go round.
fn may_return(legs: &[Leg]) -> bool {
    let turns_back = |leg: &Leg| match &leg.turn {
        Turn::Any => true,
        Turn::Outward => false,
        Turn::Eighths(angles) => angles.iter().any(|angle| (3..=5).contains(angle)),
    };
    let turns = |leg: &Leg| leg.turn != Turn::Eighths(vec![0]);
    legs[1..].iter().any(turns_back) || legs.len() > 3 && legs[1..].iter().any(turns)
}

fn turn_words(turn: &Turn) -> String {
    match turn {
        Turn::Any => "whatever the direction before".into(),
        Turn::Outward => "outward (turning by 45° at most)".into(),
        Turn::Eighths(angles) => {
            let mut left = angles.clone();
            let mut words = Vec::new();
            for (one, other, said) in [(0, 0, "straight on"), (4, 4, "straight back")] {
                if left.contains(&one) {
                    words.push(said.to_string());
                    left.retain(|angle| ![one, other].contains(angle));
                }
            }
            for (right, other, degrees) in [(1, 7, 45), (2, 6, 90), (3, 5, 135)] {
                let sides = match (left.contains(&right), left.contains(&other)) {
                    (true, true) => "to either side",
                    (true, false) => "to the right",
                    (false, true) => "to the left",
                    (false, false) => continue,
                };
                words.push(format!("turning by {degrees}° {sides}"));
            }
            list(&words, "or")
        }
    }
}

/// Where steps of one kind go.
fn directions(steps: &[Step]) -> String {
    let vectors: Vec<(i8, i8)> = steps.iter().map(|step| step.vector).collect();
    let orthogonal: Vec<_> = vectors.iter().copied().filter(|&(files, rows)| files == 0 || rows == 0).collect();
    let diagonal: Vec<_> = vectors.iter().copied().filter(|&(files, rows)| files.abs() == rows.abs()).collect();
    let oblique: Vec<_> = vectors.iter().copied().filter(|vector| matches!(kind(*vector), Kind::Oblique(..))).collect();
    let mut words = Vec::new();
    words.extend((!orthogonal.is_empty()).then(|| orthogonal_words(&orthogonal)));
    words.extend((!diagonal.is_empty()).then(|| diagonal_words(&diagonal)));
    words.extend((!oblique.is_empty()).then(|| oblique_words(&oblique)));
    list(&words, "or")
}

fn orthogonal_words(vectors: &[(i8, i8)]) -> String {
    let has = |files: i8, rows: i8| vectors.iter().any(|v| (v.0.signum(), v.1.signum()) == (files, rows));
    let (forward, backward, left, right) = (has(0, 1), has(0, -1), has(-1, 0), has(1, 0));
    if forward && backward && left && right {
        return "orthogonally".into();
    }
    let mut words: Vec<String> = Vec::new();
    words.extend(forward.then(|| "straight forward".into()));
    words.extend(backward.then(|| "straight backward".into()));
    words.extend(match (left, right) {
        (true, true) => Some("sideways".to_string()),
        (true, false) => Some("to the left".into()),
        (false, true) => Some("to the right".into()),
        (false, false) => None,
    });
    list(&words, "or")
}

fn diagonal_words(vectors: &[(i8, i8)]) -> String {
    let has = |files: i8, rows: i8| vectors.iter().any(|v| (v.0.signum(), v.1.signum()) == (files, rows));
    let ahead = (has(-1, 1), has(1, 1));
    let back = (has(-1, -1), has(1, -1));
    if ahead == (true, true) && back == (true, true) {
        return "diagonally".into();
    }
    let side = |(left, right): (bool, bool), way: &str| match (left, right) {
        (true, true) => Some(format!("diagonally {way}")),
        (true, false) => Some(format!("diagonally {way} to the left")),
        (false, true) => Some(format!("diagonally {way} to the right")),
        (false, false) => None,
    };
    let words: Vec<String> = side(ahead, "forward").into_iter().chain(side(back, "backward")).collect();
    list(&words, "or")
}

fn oblique_words(vectors: &[(i8, i8)]) -> String {
    if vectors.len() == 8 {
        return "in all eight directions".into();
    }
    let mut words: Vec<String> = Vec::new();
    for &(files, rows) in vectors {
        let both = vectors.contains(&(-files, rows));
        if both && files < 0 {
            continue;
        }
        words.push(if both {
            format!("{} and {} to either side", ahead_words(rows), number(files.unsigned_abs().into()))
        } else {
            vector_words((files, rows))
        });
    }
    format!("({})", list(&words, "or"))
}

fn ahead_words(rows: i8) -> String {
    let way = if rows > 0 { "forward" } else { "backward" };
    format!("{} {way}", number(rows.unsigned_abs().into()))
}

/// One vector: `two forward and one to the left`.
fn vector_words((files, rows): (i8, i8)) -> String {
    let side = if files > 0 { "to the right" } else { "to the left" };
    let sideways = format!("{} {side}", number(files.unsigned_abs().into()));
    match (files, rows) {
        (0, rows) => ahead_words(rows),
        (_, 0) => sideways,
        _ => format!("{} and {sideways}", ahead_words(rows)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::SquareSet;
    use crate::variant::betza::{parse, parse_leg};

    fn said(betza: &str) -> String {
        let topology = Topology::new(8, 8, 1, SquareSet::EMPTY).unwrap();
        phrases(&topology, &parse(betza).unwrap()).join(" | ")
    }

    fn path(legs: &[&str], turn: Turn) -> String {
        let topology = Topology::new(8, 8, 1, SquareSet::EMPTY).unwrap();
        let legs = legs.iter().enumerate().map(|(index, leg)| {
            let turn = if index == 0 { Turn::Any } else { turn.clone() };
            Leg { turn, ..parse_leg(leg, index + 1 == legs.len()).unwrap() }
        });
        let legs = legs.collect();
        let pattern = Pattern { legs, moves: true, captures: true, initial: false, from: None, to: None };
        phrases(&topology, &[pattern]).join(" | ")
    }

    #[test]
    fn plain_moves_have_short_phrases() {
        let phrases = [
            ("K", "steps one square orthogonally or diagonally"),
            ("Q", "slides any number of squares orthogonally or diagonally, over empty squares"),
            ("WB", "steps one square orthogonally | slides any number of squares diagonally, over empty squares"),
            ("N", "leaps (2,1) in all eight directions"),
            ("FC", "steps one square diagonally | leaps (3,1) in all eight directions"),
            ("HFD", "leaps three squares orthogonally | steps one square diagonally | leaps two squares orthogonally"),
            ("DA", "leaps two squares orthogonally or diagonally"),
            ("W3", "slides one to three squares orthogonally, over empty squares"),
            ("F2", "slides one or two squares diagonally, over empty squares"),
            (
                "NN",
                "makes any number of (2,1) leaps in all eight directions, all the same way, each but the last onto an empty square",
            ),
            (
                "DD",
                "makes any number of leaps of two squares orthogonally, all the same way, each but the last onto an empty square",
            ),
            (
                "fmWfcF",
                "steps one square straight forward; only without capturing | steps one square diagonally forward; only to capture",
            ),
            ("sW", "steps one square sideways"),
            (
                "fbrR",
                "slides any number of squares straight forward, straight backward or to the right, over empty squares",
            ),
            ("flF", "steps one square diagonally forward to the left"),
            ("rF", "steps one square diagonally forward to the right or diagonally backward to the right"),
            ("ffN", "leaps (2,1) (two forward and one to either side)"),
            ("frN", "leaps (2,1) (one forward and two to the right)"),
        ];
        for (betza, expected) in phrases {
            assert_eq!(said(betza), expected, "{betza}");
        }
    }

    #[test]
    fn conditions_are_told() {
        let phrases = [
            ("nN", "leaps (2,1) in all eight directions, if the first square the long way is empty"),
            ("nA", "leaps two squares diagonally, if the square between is empty"),
            ("nH", "leaps three squares orthogonally, if the squares between are empty"),
            ("fmnD", "leaps two squares straight forward, if the square between is empty; only without capturing"),
            (
                "pafW",
                "jumps two squares orthogonally, if the square between is occupied (by a man of either colour, which stays)",
            ),
            (
                "pafpafF",
                "jumps three squares diagonally, if both squares between are occupied (by men of either colour, which stay)",
            ),
            (
                "pafafW",
                "jumps three squares orthogonally, if the first square between is occupied (by a man of either colour, which stays) and the second square between is empty",
            ),
            (
                "cpR",
                "slides orthogonally and hops over exactly one man of either colour, to any square behind it, all other squares passed being empty; only to capture",
            ),
            (
                "gQ",
                "slides orthogonally or diagonally and hops over exactly one man of either colour, to the square directly behind it, all other squares passed being empty",
            ),
            (
                "mafsW",
                "first steps one square orthogonally, onto an empty square, then steps one square diagonally, turning by 45° to either side",
            ),
            (
                "abW",
                "first steps one square orthogonally, onto an empty square, then steps one square orthogonally, straight back; never back to where it started",
            ),
        ];
        for (betza, expected) in phrases {
            assert_eq!(said(betza), expected, "{betza}");
        }
    }

    #[test]
    fn paths_are_told_leg_by_leg() {
        assert_eq!(
            path(&["F", "R2+"], Turn::Outward),
            "first steps one square diagonally, onto an empty square, then slides two squares or more orthogonally, \
             over empty squares, outward (turning by 45° at most)"
        );
        assert_eq!(
            path(&["W", "D"], Turn::Any),
            "first steps one square orthogonally, onto an empty square, then leaps two squares orthogonally, whatever the \
             direction before; never back to where it started"
        );
        assert_eq!(
            path(&["K", "N"], Turn::Any),
            "first steps one square orthogonally or diagonally, onto an empty square, then leaps (2,1) in all eight \
             directions, whatever the direction before; never back to where it started"
        );
    }
}
