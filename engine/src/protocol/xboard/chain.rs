//! One pattern as terms of XBoard's `piece` language: what can be said exactly, in text. Knows nothing of zones or
//! boards.
//!
//! The language has one atom a term. Its legs, joined by `a`, repeat that atom in directions relative to the leg
//! before; a leap of several squares in a king's direction is therefore a walk of single steps, some over whatever
//! stands there (`mp`), some over empty squares (`m`) and some over men (`p`). Where a single step and a slide follow
//! each other, `y` (over an empty square) or `g` (over a man) says so.

use crate::variant::pattern::{Leg, Occupancy, Pattern, Turn};

/// Files and rows.
type Vector = (i8, i8);

/// Most steps that one term walks.
const MOST_STEPS: usize = 9;
/// Most ways that one pattern is taken apart into.
const MOST_WAYS: usize = 96;
/// A king's directions, clockwise from straight forward.
const DIRECTIONS: [Vector; 8] = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];
/// The same as the language calls them when they are relative to the leg before.
const RELATIVE: [&str; 8] = ["f", "fr", "r", "br", "b", "bl", "l", "fl"];
/// Leaps that have a letter, the longer coordinate first.
const ATOMS: [(Vector, char); 9] = [
    ((1, 0), 'W'),
    ((1, 1), 'F'),
    ((2, 0), 'D'),
    ((2, 1), 'N'),
    ((2, 2), 'A'),
    ((3, 0), 'H'),
    ((3, 1), 'C'),
    ((3, 2), 'Z'),
    ((3, 3), 'G'),
];

/// What a term says besides where it goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner<'a> {
    /// `i` or `ii` before everything, or nothing.
    pub initial: &'a str,
    /// What may be done at the end: letters of `m`, `c`, `e` and `t` in this order.
    pub modes: &'a str,
    /// The language turns Black's moves by half a circle, our rules mirror them: left and right are exchanged.
    pub mirrored: bool,
}

/// The terms for all ways of a pattern, whatever its zones; `None` if some way cannot be said. Ways that end on one of
/// `anyhow`, which the unit reaches without conditions, are left out.
pub(super) fn terms(pattern: &Pattern, manner: &Manner<'_>, anyhow: &[Vector]) -> Option<Vec<String>> {
    let legs: Vec<Leg> = pattern.legs.iter().map(|leg| seen(leg, manner.mirrored)).collect();
    match legs.as_slice() {
        [leg] => leap(leg, manner).or_else(|| walks(&legs, manner, &[])),
        [approach, landing] => oblique_hop(approach, landing, manner).or_else(|| walks(&legs, manner, anyhow)),
        _ => walks(&legs, manner, anyhow),
    }
}

fn seen(leg: &Leg, mirrored: bool) -> Leg {
    let mut leg = leg.clone();
    if mirrored {
        for step in &mut leg.steps {
            step.vector.0 = -step.vector.0;
            step.stops.iter_mut().for_each(|stop| stop.0 = -stop.0);
        }
        leg.turn = match leg.turn {
            Turn::Eighths(angles) => Turn::Eighths(angles.into_iter().map(|angle| (8 - angle) % 8).collect()),
            other => other,
        };
    }
    leg
}

/// A leg on its own: one term for each kind of leap in it.
fn leap(leg: &Leg, manner: &Manner<'_>) -> Option<Vec<String>> {
    if leg.min != 1 || (leg.through != Occupancy::Empty && leg.max != 1) {
        return None;
    }
    let (plain, lame): (Vec<_>, Vec<_>) = leg.steps.iter().partition(|step| step.stops.is_empty());
    if lame.iter().any(|step| step.stops != [(step.vector.0 / 2, step.vector.1 / 2)]) {
        return None;
    }
    let mut terms = Vec::new();
    for (steps, lame) in [(plain, ""), (lame, "n")] {
        let vectors: Vec<Vector> = steps.iter().map(|step| step.vector).collect();
        if lame.is_empty() && vectors.len() == 8 && DIRECTIONS.iter().all(|way| vectors.contains(way)) {
            terms.push(format!("{}{}{}", manner.initial, manner.modes, ranged('K', leg.max)));
            continue;
        }
        for (shape, letter) in ATOMS {
            let going: Vec<Vector> = vectors.iter().copied().filter(|&vector| shape_of(vector) == shape).collect();
            if !going.is_empty() {
                let (ways, atom) = (directions(shape, &going), ranged(letter, leg.max));
                terms.push(format!("{}{ways}{}{lame}{atom}", manner.initial, manner.modes));
            }
        }
        if vectors.iter().any(|&vector| ATOMS.iter().all(|&(shape, _)| shape_of(vector) != shape)) {
            return None;
        }
    }
    Some(terms)
}

fn ranged(atom: char, max: u8) -> String {
    match (atom, max) {
        (_, 1) => atom.into(),
        ('W', Leg::UNLIMITED) => "R".into(),
        ('F', Leg::UNLIMITED) => "B".into(),
        ('K', Leg::UNLIMITED) => "Q".into(),
        (_, Leg::UNLIMITED) => format!("{atom}0"),
        _ => format!("{atom}{max}"),
    }
}

fn shape_of((files, rows): Vector) -> Vector {
    (files.abs().max(rows.abs()), files.abs().min(rows.abs()))
}

/// The directional letters that keep exactly these leaps of a shape; nothing if it is all of them.
fn directions(shape: Vector, vectors: &[Vector]) -> String {
    let oblique = shape.1 != 0 && shape.0 != shape.1;
    let all = if oblique { 8 } else { 4 };
    let mut ways: Vec<String> = vectors.iter().map(|&vector| direction(vector)).collect();
    ways.sort();
    ways.dedup();
    if ways.len() == all {
        return String::new();
    }
    let pairs: &[(&[&str], &str)] = if oblique { &[] } else { &PAIRS };
    let pair = pairs.iter().find(|(pair, _)| ways == *pair);
    pair.map_or_else(|| ways.concat(), |(_, letter)| (*letter).into())
}

/// Two directions that one letter stands for.
const PAIRS: [(&[&str], &str); 6] = [
    (&["l", "r"], "s"),
    (&["b", "f"], "v"),
    (&["fl", "fr"], "f"),
    (&["bl", "br"], "b"),
    (&["bl", "fl"], "l"),
    (&["br", "fr"], "r"),
];

/// One leap's direction: a letter for straight ones, two for others; of oblique ones the last is where it mostly goes.
fn direction((files, rows): Vector) -> String {
    let vertical = match rows.signum() {
        1 => "f",
        -1 => "b",
        _ => "",
    };
    let sideways = match files.signum() {
        1 => "r",
        -1 => "l",
        _ => "",
    };
    if rows.abs() > files.abs() { format!("{sideways}{vertical}") } else { format!("{vertical}{sideways}") }
}

/// A slide of leaps up to a man, and on behind it in the same direction: `p` and `g` on the atom itself.
fn oblique_hop(approach: &Leg, landing: &Leg, manner: &Manner<'_>) -> Option<Vec<String>> {
    let [step] = approach.steps.as_slice() else { return None };
    let straight_on = landing.steps.as_slice() == [step.clone()]
        && approach.min == 1
        && landing.min == 1
        && approach.max == Leg::UNLIMITED
        && approach.through == Occupancy::Empty
        && approach.joint == Occupancy::Occupied
        && step.stops.is_empty();
    let shape = shape_of(step.vector);
    let (_, letter) = ATOMS.into_iter().find(|&(atom, _)| atom == shape && straight_on)?;
    let hop = match (landing.max, landing.through) {
        (1, _) => 'g',
        (Leg::UNLIMITED, Occupancy::Empty) => 'p',
        _ => return None,
    };
    let atom = ranged(letter, Leg::UNLIMITED);
    Some(vec![format!("{}{}{}{hop}{atom}", manner.initial, direction(step.vector), manner.modes)])
}

/// One leg of a walk: a step or a slide in a king's direction, and what must stand where it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stride {
    /// Index into [`DIRECTIONS`].
    direction: usize,
    slides: bool,
    /// Ignored for the last.
    joint: Occupancy,
}

/// A walk whose legs may go in one of several directions each: the first absolute, the others relative, in eighths.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Walk {
    ways: Vec<Vec<usize>>,
    strides: Vec<(bool, Occupancy)>,
}

fn walks(legs: &[Leg], manner: &Manner<'_>, anyhow: &[Vector]) -> Option<Vec<String>> {
    let mut found = Vec::new();
    take_leg(legs, None, &mut Vec::new(), &mut found)?;
    let mut walks: Vec<Walk> = Vec::new();
    for strides in found {
        let slides = strides.iter().any(|stride| stride.slides);
        let end = strides.iter().fold((0, 0), |(files, rows), stride| {
            let (right, up) = DIRECTIONS[stride.direction];
            (files + right, rows + up)
        });
        if !slides && (end == (0, 0) || anyhow.contains(&end)) {
            continue;
        }
        walks.extend(walk_of(&strides));
    }
    merge(&mut walks);
    Some(walks.iter().flat_map(Walk::sayable).map(|walk| walk.text(manner)).collect())
}

/// Follows a leg in all its directions and lengths; `None` if the language has no words for one of them.
fn take_leg(
    legs: &[Leg],
    before: Option<Vector>,
    walked: &mut Vec<Stride>,
    found: &mut Vec<Vec<Stride>>,
) -> Option<()> {
    let Some((leg, later)) = legs.split_first() else {
        found.push(walked.clone());
        return (found.len() <= MOST_WAYS && walked.len() <= MOST_STEPS).then_some(());
    };
    for step in &leg.steps {
        if !before.is_none_or(|before| leg.turn.allows(before, step.vector)) {
            continue;
        }
        for strides in lengths(leg, step.vector, &step.stops)? {
            let mark = walked.len();
            walked.extend(strides);
            if walked.len() > MOST_STEPS {
                return None;
            }
            take_leg(later, Some(step.vector), walked, found)?;
            walked.truncate(mark);
        }
    }
    Some(())
}

/// A leg in one direction, once for every length that has to be said by itself.
fn lengths(leg: &Leg, vector: Vector, stops: &[Vector]) -> Option<Vec<Vec<Stride>>> {
    let length = vector.0.abs().max(vector.1.abs());
    let unit = (vector.0.signum(), vector.1.signum());
    let straight = (unit.0 * length, unit.1 * length) == vector;
    let direction = DIRECTIONS.iter().position(|&direction| direction == unit).filter(|_| straight)?;
    let stride = |slides, joint| Stride { direction, slides, joint };
    let on_the_way = |distance: &i8| stops.contains(&(unit.0 * distance, unit.1 * distance));
    if stops.len() != (1..length).filter(on_the_way).count() {
        return None;
    }
    let leap: Vec<Stride> = (1..length)
        .map(|distance| stride(false, if on_the_way(&distance) { Occupancy::Empty } else { Occupancy::Any }))
        .collect();
    let repeated = |times: u8| {
        let mut strides = Vec::new();
        for time in 1..=times {
            strides.extend(leap.iter().cloned());
            strides.push(stride(false, if time == times { leg.joint } else { leg.through }));
        }
        strides
    };
    if leg.max != Leg::UNLIMITED {
        return Some((leg.min..=leg.max).map(repeated).collect());
    }
    if length != 1 || leg.through != Occupancy::Empty {
        return None;
    }
    let mut strides: Vec<Stride> = (1..leg.min).map(|_| stride(false, Occupancy::Empty)).collect();
    strides.push(stride(true, leg.joint));
    Some(vec![strides])
}

/// The walk with relative directions; twice where a step over any square is followed by a slide or the reverse, since
/// the change must say what it goes over.
fn walk_of(strides: &[Stride]) -> Vec<Walk> {
    let ways = strides.iter().enumerate().map(|(index, stride)| match index {
        0 => vec![stride.direction],
        _ => vec![(stride.direction + 8 - strides[index - 1].direction) % 8],
    });
    let mut walks = vec![Walk { ways: ways.collect(), strides: Vec::new() }];
    for (index, stride) in strides.iter().enumerate() {
        let changes = strides.get(index + 1).is_some_and(|next| next.slides != stride.slides);
        let joints: &[Occupancy] = match (changes, stride.joint) {
            (true, Occupancy::Any) => &[Occupancy::Empty, Occupancy::Occupied],
            (_, Occupancy::Empty) => &[Occupancy::Empty],
            (_, Occupancy::Occupied) => &[Occupancy::Occupied],
            (false, Occupancy::Any) => &[Occupancy::Any],
        };
        walks = walks
            .iter()
            .flat_map(|walk| {
                joints.iter().map(|&joint| {
                    let mut walk = walk.clone();
                    walk.strides.push((stride.slides, joint));
                    walk
                })
            })
            .collect();
    }
    walks
}

/// Joins walks that differ in the directions of one leg only. The first leg keeps straight and diagonal steps apart.
fn merge(walks: &mut Vec<Walk>) {
    let longest = walks.iter().map(|walk| walk.ways.len()).max().unwrap_or(0);
    for leg in (0..longest).rev() {
        let mut merged: Vec<Walk> = Vec::new();
        for walk in walks.drain(..) {
            match merged.iter_mut().find(|other| other.differs_only_at(leg, &walk)) {
                Some(other) => other.ways[leg] = union(&other.ways[leg], &walk.ways[leg]),
                None => merged.push(walk),
            }
        }
        *walks = merged;
    }
}

fn union(a: &[usize], b: &[usize]) -> Vec<usize> {
    let mut all: Vec<usize> = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The letters for directions relative to the leg before; `None` if no row of letters means these. Two letters in a row
/// that stand for adjacent directions are read as the diagonal between them, so only one can stand alone, and that
/// last.
fn relative(ways: &[usize]) -> Option<String> {
    let mut left: Vec<usize> = ways.to_vec();
    let mut text = String::new();
    for (pair, letters) in [([2, 6], "s"), ([0, 4], "v"), ([1, 7], "fs"), ([3, 5], "bs")] {
        if pair.iter().all(|way| left.contains(way)) {
            left.retain(|way| !pair.contains(way));
            text.push_str(letters);
        }
    }
    let (diagonal, straight): (Vec<usize>, Vec<usize>) = left.into_iter().partition(|way| way % 2 == 1);
    if straight.len() > 1 {
        return None;
    }
    diagonal.into_iter().chain(straight).for_each(|way| text.push_str(RELATIVE[way]));
    Some(text)
}

impl Walk {
    fn differs_only_at(&self, leg: usize, other: &Self) -> bool {
        let diagonal = |walk: &Self| walk.ways[0].first().is_some_and(|way| way % 2 == 1);
        self.strides.len() > leg
            && self.strides == other.strides
            && (leg != 0 || diagonal(self) == diagonal(other))
            && self.ways.iter().zip(&other.ways).enumerate().all(|(index, (a, b))| index == leg || a == b)
    }

    /// Several walks where the directions of a later leg have no letters together.
    fn sayable(&self) -> Vec<Self> {
        let fault = (1..self.ways.len()).find(|&leg| relative(&self.ways[leg]).is_none());
        let Some(leg) = fault else { return vec![self.clone()] };
        let (straight, diagonal): (Vec<usize>, Vec<usize>) = self.ways[leg].iter().partition(|&way| way % 2 == 0);
        let parts = straight.into_iter().map(|way| vec![way]).chain((!diagonal.is_empty()).then_some(diagonal));
        let with = |part: Vec<usize>| {
            let mut walk = self.clone();
            walk.ways[leg] = part;
            walk
        };
        parts.map(with).flat_map(|walk| walk.sayable()).collect()
    }

    fn text(&self, manner: &Manner<'_>) -> String {
        let first = &self.ways[0];
        let diagonal = first[0] % 2 == 1;
        let shape = if diagonal { (1, 1) } else { (1, 0) };
        let vectors: Vec<Vector> = first.iter().map(|&way| DIRECTIONS[way]).collect();
        let mut text = format!("{}{}", manner.initial, directions(shape, &vectors));
        for (index, &(slides, joint)) in self.strides.iter().enumerate() {
            if index > 0 {
                text.push('a');
                text.push_str(&relative(&self.ways[index]).unwrap_or_default());
            }
            let Some(&(next_slides, _)) = self.strides.get(index + 1) else { break };
            text.push_str(match (slides != next_slides, joint) {
                (false, Occupancy::Empty) => "m",
                (false, Occupancy::Occupied) => "p",
                (false, Occupancy::Any) => "mp",
                (true, Occupancy::Occupied) => "g",
                (true, _) => "y",
            });
        }
        let atom = ranged(if diagonal { 'F' } else { 'W' }, if self.strides[0].0 { Leg::UNLIMITED } else { 1 });
        format!("{text}{}{atom}", manner.modes)
    }
}
