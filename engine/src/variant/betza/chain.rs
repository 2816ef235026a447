//! Legs joined by `a`: one atom, each leg with modifiers of its own, directions seen from the leg before.

use super::atom::{Atom, Lie, Shape, circle, leg, steps};
use super::directions::{Bend, bends, vectors};
use super::modifiers::Modifiers;
use super::term::hop;
use super::{BetzaError, BetzaErrorKind};
use crate::variant::pattern::{Leg, Occupancy, Pattern, Turn};

/// Most ways in which bends that depend on each other are written out.
const MAX_WAYS: usize = 64;

/// The patterns of a term with two groups of modifiers or more.
pub(super) fn chain(groups: &[Modifiers], atom: &Atom) -> Result<Vec<Pattern>, BetzaError> {
    check_groups(groups)?;
    let ranges = ranges(groups, atom)?;
    let bends: Vec<Vec<Bend>> =
        groups[1..].iter().map(|group| bends_or_default(group, atom)).collect::<Result<_, _>>()?;
    let first = vectors(atom, &groups[0])?;
    let (last, initial) = (&groups[groups.len() - 1], groups[0].initial.is_some());
    let mut patterns = Vec::new();
    for turns in written_out(&bends, groups)? {
        let mut legs = bent_legs(&first, &turns, atom);
        for ((leg, &range), group) in legs.iter_mut().zip(&ranges).zip(groups) {
            leg.max = range;
            leg.joint = group.joint();
        }
        end_with(&mut legs, last)?;
        patterns.push(last.pattern(initial, legs));
    }
    Ok(patterns)
}

/// Refuses what has no settled meaning when legs are joined.
fn check_groups(groups: &[Modifiers]) -> Result<(), BetzaError> {
    for (index, group) in groups.iter().enumerate() {
        let last = index + 1 == groups.len();
        let longer = group.initial.filter(|_| index > 0);
        let onwards = group.captures.filter(|_| !last);
        let toggle = group.toggle.filter(|_| last);
        group.refuse(
            &[
                (group.lame, "`n` on legs joined by `a`", "write the lame leap in steps: nD is mafW"),
                (group.jump, "`j` on legs joined by `a`", "write the leap in steps: jD is pafW"),
                (longer, "`i` after the first leg (as long as the leg before)", ""),
                (onwards, "`c` before the last leg (taking and moving on)", ""),
                (toggle, "range toggling `y` on the last leg", ""),
            ],
            "a simple leg",
        )?;
        if group.hop.is_some() && group.hop_to_next.is_some() {
            hop(group)?;
        }
        check_toggle(group)?;
    }
    Ok(())
}

/// `y` says by itself what the square holds.
fn check_toggle(group: &Modifiers) -> Result<(), BetzaError> {
    for (other, letter) in [(group.moves, 'm'), (group.hop, 'p'), (group.hop_to_next, 'g')] {
        if let (Some(toggle), Some(other)) = (group.toggle, other) {
            let got = format!("`y` beside `{letter}`");
            let error = BetzaError::new(toggle.max(other), BetzaErrorKind::Misplaced, "one of them", got);
            return Err(error.suggest("`y` is an empty square, `g` an occupied one, `mg` either"));
        }
    }
    Ok(())
}

/// How far each leg goes: `y` and `g` make the legs behind them slide if this one steps, and step if it slides.
fn ranges(groups: &[Modifiers], atom: &Atom) -> Result<Vec<u8>, BetzaError> {
    let mut ranges = vec![atom.max];
    let mut range = atom.max;
    for group in &groups[..groups.len() - 1] {
        if let Some(at) = group.toggle.or(group.hop_to_next) {
            range = match range {
                1 => Leg::UNLIMITED,
                Leg::UNLIMITED if !"WFK".contains(atom.letter) => 1,
                _ => return Err(unchangeable_range(at, atom)),
            };
        }
        ranges.push(range);
    }
    Ok(ranges)
}

/// Limited ranges have none to change to; what `W0` changes to depends on whether one thinks of `W` or of `R`.
fn unchangeable_range(at: usize, atom: &Atom) -> BetzaError {
    let got = format!("a change of range on {}", atom.describe());
    let expected = "a single step or a slide without limit";
    let error = BetzaError::new(at, BetzaErrorKind::Ambiguous, expected, got);
    match atom.letter {
        letter @ ('W' | 'F' | 'K') if atom.slides() => {
            let slide = [('W', 'R'), ('F', 'B'), ('K', 'Q')].into_iter().find(|pair| pair.0 == letter);
            error.suggest(format!("write the slide as {}", slide.map_or('R', |(_, slide)| slide)))
        }
        _ => error.suggest("write the path in brackets, as in [W3-F]"),
    }
}

/// Where a leg goes; without a word everywhere but back, for an atom of four directions in directions of its own kind.
fn bends_or_default(group: &Modifiers, atom: &Atom) -> Result<Vec<Bend>, BetzaError> {
    let said = bends(group)?;
    let straight = |bend: &Bend| matches!(bend, Bend::To(0 | 4));
    match atom.lie() {
        Lie::Oblique if said.is_empty() || !said.iter().all(straight) => {
            let at = group.directions.first().map_or(group.at, |&(at, _)| at);
            let got = format!("a bend on {}, which is read in several ways", atom.describe());
            let error = BetzaError::new(at, BetzaErrorKind::Ambiguous, "f or b", got);
            let outward = format!("write the path in brackets, as in [{}-W], where legs go outward", atom.letter);
            let anywhere = format!(", or then = [[\"{0}\", \"{0}\"]] for any direction", atom.letter);
            Err(error.suggest(if atom.max == 1 { outward + &anywhere } else { outward }))
        }
        _ if !said.is_empty() => Ok(said),
        Lie::Both => Ok([0, 1, 2, 3, 5, 6, 7].map(Bend::To).to_vec()),
        _ => Ok([0, 2, 6].map(Bend::To).to_vec()),
    }
}

/// The angles of every later leg. Where a bend depends on the one before (`z`, `q`), each way is written out.
fn written_out(bends: &[Vec<Bend>], groups: &[Modifiers]) -> Result<Vec<Vec<Vec<u8>>>, BetzaError> {
    let plain: Vec<Vec<u8>> = bends.iter().map(|bends| bends.iter().filter_map(Bend::absolute).collect()).collect();
    if plain.iter().zip(bends).all(|(plain, bends)| plain.len() == bends.len()) {
        return Ok(vec![plain]);
    }
    let mut ways: Vec<(Vec<Vec<u8>>, Option<Side>)> = vec![(Vec::new(), None)];
    for (bends, group) in bends.iter().zip(&groups[1..]) {
        let mut longer = Vec::new();
        for (way, side) in &ways {
            for bend in bends {
                let Some(eighths) = bend.resolve(*side) else {
                    let expected = "a bend to one side before `z` or `q`";
                    return Err(BetzaError::new(group.at, BetzaErrorKind::Misplaced, expected, "none"));
                };
                let way = way.iter().cloned().chain([vec![eighths]]).collect();
                longer.push((way, Side::of(eighths).or(*side)));
            }
        }
        if longer.len() > MAX_WAYS {
            let expected = format!("at most {MAX_WAYS} ways for `z` and `q` to follow");
            return Err(BetzaError::new(group.at, BetzaErrorKind::TooLong, expected, longer.len().to_string()));
        }
        ways = longer;
    }
    Ok(ways.into_iter().map(|(way, _)| way).collect())
}

/// The hand to which a path bends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Right,
    Left,
}

impl Side {
    fn of(eighths: u8) -> Option<Self> {
        match eighths {
            1..=3 => Some(Self::Right),
            5..=7 => Some(Self::Left),
            _ => None,
        }
    }
}

impl Bend {
    fn absolute(&self) -> Option<u8> {
        match *self {
            Self::To(eighths) => Some(eighths),
            Self::Relative { .. } => None,
        }
    }

    /// The angle, given the side of the last bend.
    fn resolve(&self, side: Option<Side>) -> Option<u8> {
        match *self {
            Self::To(eighths) => Some(eighths),
            Self::Relative { eighths, opposite } => {
                let right = (side? == Side::Right) != opposite;
                Some(if right { eighths } else { 8 - eighths })
            }
        }
    }
}

/// The legs with all their possible steps: after an odd number of eighths W becomes F, D becomes A, H becomes G, and
/// back.
fn bent_legs(first: &[(i8, i8)], turns: &[Vec<u8>], atom: &Atom) -> Vec<Leg> {
    let (length, _) = atom.shapes[0];
    let straight = |&(files, rows): &(i8, i8)| files == 0 || rows == 0;
    let mut may_be = [first.iter().any(straight), !first.iter().all(straight)];
    let mut legs = vec![leg(steps(first.iter().copied()), Turn::Any, 1)];
    for turns in turns {
        let odd = turns.iter().any(|turn| turn % 2 == 1);
        let even = turns.iter().any(|turn| turn % 2 == 0);
        may_be = [(even && may_be[0]) || (odd && may_be[1]), (even && may_be[1]) || (odd && may_be[0])];
        let shapes: [Shape; 2] =
            if atom.lie() == Lie::Oblique { [atom.shapes[0]; 2] } else { [(length, 0), (length, length)] };
        let possible = shapes.into_iter().zip(may_be).filter(|&(_, possible)| possible);
        legs.push(leg(steps(possible.flat_map(|(shape, _)| circle(shape))), Turn::Eighths(turns.clone()), 1));
    }
    legs
}

/// Makes the last leg a hop if it says so.
fn end_with(legs: &mut Vec<Leg>, last: &Modifiers) -> Result<(), BetzaError> {
    let Some(end) = legs.last_mut() else { return Ok(()) };
    end.joint = Occupancy::Empty;
    if last.hop.is_none() && last.hop_to_next.is_none() {
        return Ok(());
    }
    let (at, letter) = hop(last)?;
    if end.max != Leg::UNLIMITED {
        let got = format!("`{letter}` on the last leg, which does not slide, and which is not supported");
        return Err(BetzaError::new(at, BetzaErrorKind::Unsupported, "a simple leg", got));
    }
    end.joint = Occupancy::Occupied;
    let behind = Leg {
        turn: Turn::Eighths(vec![0]),
        max: if letter == 'p' { Leg::UNLIMITED } else { 1 },
        joint: Occupancy::Empty,
        ..end.clone()
    };
    legs.push(behind);
    Ok(())
}
