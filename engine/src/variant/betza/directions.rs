//! Directional modifiers: which vectors of an atom they keep, and which way a later leg of a path goes.

use super::atom::{Atom, Lie, circle};
use super::modifiers::Modifiers;
use super::{BetzaError, BetzaErrorKind, quoted};

type Vector = (i8, i8);

/// Says which vectors of an atom its directional modifiers keep.
type Filter = Box<dyn Fn(Vector) -> bool>;

/// The vectors of a first leg, narrowed by its directional modifiers.
pub(super) fn vectors(atom: &Atom, group: &Modifiers) -> Result<Vec<Vector>, BetzaError> {
    if let Some(&(at, letter)) = group.directions.iter().find(|(_, letter)| "zq".contains(*letter)) {
        let got = format!("`{letter}`");
        return Err(BetzaError::new(at, BetzaErrorKind::Misplaced, "a leg that follows a bend", got));
    }
    let keeps: Filter = match atom.lie() {
        _ if group.directions.is_empty() => Box::new(|_| true),
        Lie::Both => eightfold(atom, group)?,
        Lie::Orthogonal => orthogonal(atom, group)?,
        Lie::Diagonal => diagonal(atom, group)?,
        Lie::Oblique => oblique(atom, group)?,
    };
    Ok(atom.shapes.iter().flat_map(|&shape| circle(shape)).filter(|&vector| keeps(vector)).collect())
}

/// K and Q: single letters only. Pairs, `v` and `s` are all vectors of that side to some and the one straight vector to
/// others.
fn eightfold(atom: &Atom, group: &Modifiers) -> Result<Filter, BetzaError> {
    for &(at, letter) in &group.directions {
        if !"fblr".contains(letter) || group.directions.len() > 1 {
            let got = format!("directions on {}, which are read in several ways", atom.describe());
            let parts = if atom.letter == 'K' { "W and F" } else { "R and B" };
            let error = BetzaError::new(at, BetzaErrorKind::Ambiguous, "one of f, b, l, r", got);
            return Err(error.suggest(format!("write its parts {parts} with directions of their own")));
        }
    }
    Ok(any_side(group.directions.iter().map(|&(_, letter)| letter).collect()))
}

fn orthogonal(atom: &Atom, group: &Modifiers) -> Result<Filter, BetzaError> {
    let mut seen = String::new();
    for &(at, letter) in &group.directions {
        if letter == 'h' || seen.contains(letter) {
            let got = format!("`{letter}` on {}", atom.describe());
            return Err(BetzaError::new(at, BetzaErrorKind::Misplaced, "f, b, l, r, v or s, each once", got));
        }
        seen.push(letter);
    }
    Ok(any_side(seen.chars().collect()))
}

/// Single letters are sides (`fF` two squares), adjacent pairs are corners (`flF` one square); `v` or `s` alone is both
/// sides.
fn diagonal(atom: &Atom, group: &Modifiers) -> Result<Filter, BetzaError> {
    if let [(_, 'v' | 's')] = group.directions[..] {
        return Ok(Box::new(|_| true));
    }
    let mut sides = Vec::new();
    for (at, first, second) in pairs(group, |first, second| is_vertical(first) != is_vertical(second)) {
        let sided = |letter: char| "fblr".contains(letter);
        if !sided(first) || second.is_some_and(|second| !sided(second)) {
            let got: String = std::iter::once(first).chain(second).collect();
            let got = format!("{} on {}", quoted(&got), atom.describe());
            let expected = "f, b, l, r, one of fl, fr, bl, br, or v or s alone";
            return Err(BetzaError::new(at, BetzaErrorKind::Misplaced, expected, got));
        }
        sides.push((first, second));
    }
    Ok(Box::new(move |vector| {
        sides.iter().any(|&(first, second)| on_side(first, vector) && second.is_none_or(|s| on_side(s, vector)))
    }))
}

/// Pairs only: the last letter is the direction the leap mostly goes (`fs`: wide forward, `ff`: narrow forward), `h` a
/// half, and `hr`, `hl` the four that bend to one hand.
fn oblique(atom: &Atom, group: &Modifiers) -> Result<Filter, BetzaError> {
    let expected = "a pair: ff bb ll rr ss vv, fl fr bl br lf lb rf rb fs bs lv rv, or fh bh lh rh hl hr";
    let mut kept = Vec::new();
    for (at, first, second) in pairs(group, |_, _| true) {
        let Some(second) = second else {
            let got = format!("a lone `{first}` on {}, which is read in two ways", atom.describe());
            let hint = match first {
                'h' => "write fh bh lh rh for a half, hl hr for the moves that bend to one hand".into(),
                'v' => "write vv for the narrow moves; leave it out for all".into(),
                's' => "write ss for the wide moves; leave it out for all".into(),
                _ => format!("write {first}{first} for the moves going mostly that way, {first}h for that half"),
            };
            return Err(BetzaError::new(at, BetzaErrorKind::Ambiguous, expected, got).suggest(hint));
        };
        let sided = "fblr".contains(first);
        let fits = match (first, second) {
            ('h', _) => "lr".contains(second),
            (_, 'h') => sided,
            _ => first == second || (sided && is_vertical(first) != is_vertical(second)),
        };
        if !fits {
            let got = format!("`{first}{second}` on {}", atom.describe());
            return Err(BetzaError::new(at, BetzaErrorKind::Misplaced, expected, got));
        }
        kept.push((first, second));
    }
    Ok(Box::new(move |vector| kept.iter().any(|&pair| oblique_pair_keeps(pair, vector))))
}

fn oblique_pair_keeps((first, second): (char, char), vector: Vector) -> bool {
    let (files, rows) = vector;
    let mostly_vertical = rows.abs() > files.abs();
    if first == 'h' {
        // Clockwise from each of the four straight directions: straight ahead, then a bit to the right.
        let bends_right = mostly_vertical == ((files > 0) == (rows > 0));
        return bends_right == (second == 'r');
    }
    on_side(first, vector) && (second == 'h' || (on_side(second, vector) && is_vertical(second) == mostly_vertical))
}

/// Where a later leg goes, seen from the leg before, in eighths of a turn clockwise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Bend {
    /// At this angle.
    To(u8),
    /// At this angle (1 to 3), to the side that the bend before did not take (`z`) or took (`q`).
    Relative { eighths: u8, opposite: bool },
}

/// The bends of a later leg; empty if nothing is said.
pub(super) fn bends(group: &Modifiers) -> Result<Vec<Bend>, BetzaError> {
    let joins = |first: char, second: char| "zq".contains(second) || is_vertical(first) != is_vertical(second);
    let mut bends = Vec::new();
    for (at, first, second) in pairs(group, joins) {
        let fitting = match second {
            Some(second) => bend_of_pair(first, second),
            None => single_bend(first),
        };
        let Some(fitting) = fitting else { return Err(unfit_bend(at, first, second)) };
        bends.extend_from_slice(&fitting);
    }
    bends.sort_unstable();
    bends.dedup();
    Ok(bends)
}

fn single_bend(letter: char) -> Option<Vec<Bend>> {
    use Bend::{Relative, To};
    Some(match letter {
        'f' => vec![To(0)],
        'b' => vec![To(4)],
        'r' => vec![To(2)],
        'l' => vec![To(6)],
        'v' => vec![To(0), To(4)],
        's' => vec![To(2), To(6)],
        'z' => vec![Relative { eighths: 2, opposite: true }],
        'q' => vec![Relative { eighths: 2, opposite: false }],
        _ => return None,
    })
}

fn bend_of_pair(first: char, second: char) -> Option<Vec<Bend>> {
    use Bend::{Relative, To};
    Some(match (first, second) {
        ('f', 'r') | ('r', 'f') => vec![To(1)],
        ('f', 'l') | ('l', 'f') => vec![To(7)],
        ('f', 's') => vec![To(1), To(7)],
        ('b', 'r') | ('r', 'b') => vec![To(3)],
        ('b', 'l') | ('l', 'b') => vec![To(5)],
        ('b', 's') => vec![To(3), To(5)],
        ('r', 'v') => vec![To(1), To(3)],
        ('l', 'v') => vec![To(5), To(7)],
        ('f', 'z' | 'q') => vec![Relative { eighths: 1, opposite: second == 'z' }],
        ('b', 'z' | 'q') => vec![Relative { eighths: 3, opposite: second == 'z' }],
        _ => return None,
    })
}

fn unfit_bend(at: usize, first: char, second: Option<char>) -> BetzaError {
    let got: String = std::iter::once(first).chain(second).collect();
    let expected = "where the leg goes, seen from the leg before: f b l r v s or fl fr fs bl br bs lv rv";
    let error = BetzaError::new(at, BetzaErrorKind::Misplaced, expected, quoted(&got));
    match (first, second) {
        ('s' | 'v', Some(second)) if "fblr".contains(second) => {
            error.suggest(format!("write {second}{first} for the slants; for both, two terms with one of them each"))
        }
        _ => error,
    }
}

/// Directional letters, joined to pairs where two adjacent ones may be.
fn pairs(group: &Modifiers, joins: impl Fn(char, char) -> bool) -> Vec<(usize, char, Option<char>)> {
    let mut letters = group.directions.iter().peekable();
    let mut pairs = Vec::new();
    while let Some(&(at, first)) = letters.next() {
        let second = letters.next_if(|&&(next, second)| next == at + 1 && joins(first, second));
        pairs.push((at, first, second.map(|&(_, second)| second)));
    }
    pairs
}

fn any_side(letters: Vec<char>) -> Filter {
    Box::new(move |vector| letters.iter().any(|&letter| on_side(letter, vector)))
}

fn is_vertical(letter: char) -> bool {
    matches!(letter, 'f' | 'b' | 'v')
}

fn on_side(letter: char, (files, rows): Vector) -> bool {
    match letter {
        'f' => rows > 0,
        'b' => rows < 0,
        'l' => files < 0,
        'r' => files > 0,
        'v' => rows != 0,
        's' => files != 0,
        _ => false,
    }
}
