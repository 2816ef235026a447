//! Terms of one leg: leapers, riders, lame and jumping ones, and those that hop over a man.

use super::atom::{Atom, Lie, atom, circle, is_atom, leg, squares_between, steps};
use super::bracket::bracket;
use super::chain::chain;
use super::directions::vectors;
use super::modifiers::Modifiers;
use super::refused::unknown;
use super::scan::Scanner;
use super::{BetzaError, BetzaErrorKind};
use crate::geometry::SquareSet;
use crate::variant::pattern::{Leg, Occupancy, Pattern, Step, Turn};

/// Most legs of a path.
pub(super) const MAX_LEGS: usize = 8;

/// Groups of modifiers, all but the last followed by `a`, and their atom.
struct Term {
    start: usize,
    groups: Vec<Modifiers>,
    atom: Atom,
}

/// Reads one part of a string: legs joined by `a` that share one atom, or legs in brackets.
pub(super) fn term(scanner: &mut Scanner<'_>, near_half: Option<SquareSet>) -> Result<Vec<Pattern>, BetzaError> {
    let start = scanner.at;
    let mut groups = Vec::new();
    let mut group = Modifiers::new(start);
    loop {
        match scanner.peek() {
            Some('a') if groups.len() + 1 == MAX_LEGS => {
                let expected = format!("at most {MAX_LEGS} legs");
                return Err(scanner.error(BetzaErrorKind::TooLong, expected, "another `a`"));
            }
            Some('a') => {
                scanner.next();
                groups.push(std::mem::replace(&mut group, Modifiers::new(scanner.at)));
            }
            Some('[') if groups.is_empty() => return bracket(scanner, &group),
            Some(letter) if is_atom(letter) => {
                groups.push(group);
                let term = Term { start, groups, atom: atom(scanner)? };
                return if scanner.peek() == Some('*') {
                    to_centre_row(scanner, &term, near_half)
                } else {
                    patterns(&term.groups, &term.atom)
                };
            }
            Some(letter) if Modifiers::knows(letter, !groups.is_empty()) => group.add(letter, scanner)?,
            None => return Err(missing_atom(scanner)),
            Some(_) => return Err(unknown(scanner)),
        }
    }
}

pub(super) fn missing_atom(scanner: &Scanner<'_>) -> BetzaError {
    let error = scanner.error(BetzaErrorKind::Unexpected, super::atom::ATOM_LETTERS, scanner.got());
    error.suggest("modifiers come before their atom")
}

/// The patterns of one term.
fn patterns(groups: &[Modifiers], atom: &Atom) -> Result<Vec<Pattern>, BetzaError> {
    match groups {
        [group] if group.toggle.is_some() => {
            let expected = "a leg that another one follows";
            group.refuse(&[(group.toggle, "range toggling `y` without another leg", "")], expected)?;
            Ok(Vec::new())
        }
        [group] if group.hop.is_some() || group.hop_to_next.is_some() => hopper(group, atom),
        [group] if group.jump.is_some() => jumper(group, atom),
        [group] => leaper(group, atom),
        _ => chain(groups, atom),
    }
}

/// A leap or slide, lame or not.
fn leaper(group: &Modifiers, atom: &Atom) -> Result<Vec<Pattern>, BetzaError> {
    let mut steps = steps(vectors(atom, group)?);
    if let Some(at) = group.lame {
        check_lame(at, atom)?;
        for step in &mut steps {
            step.stops = squares_between(step.vector);
        }
    }
    Ok(vec![group.pattern(group.initial.is_some(), vec![leg(steps, Turn::Any, atom.max)])])
}

fn check_lame(at: usize, atom: &Atom) -> Result<(), BetzaError> {
    let (expected, got) = ("`n` on N, D, A, H, Z or G", format!("`n` on {}", atom.describe()));
    match atom.letter {
        'N' | 'D' | 'A' | 'H' | 'Z' | 'G' => Ok(()),
        'C' => {
            let error = BetzaError::new(at, BetzaErrorKind::Ambiguous, expected, got);
            Err(error.suggest("say which squares must be empty, as in [W-W-F] or [F-W-W]"))
        }
        _ => {
            let error = BetzaError::new(at, BetzaErrorKind::Misplaced, expected, got);
            Err(error.suggest("it passes over nothing that could be occupied; leave `n` out"))
        }
    }
}

/// A slide, a jump over exactly one man, and a slide (`p`) or one step (`g`) behind it. One pattern a direction, since
/// directions of oblique riders are no multiples of 45°.
fn hopper(group: &Modifiers, atom: &Atom) -> Result<Vec<Pattern>, BetzaError> {
    let (at, letter) = hop(group)?;
    if !atom.slides() {
        return Err(short_hop(at, letter, atom));
    }
    for (modifier, letter) in [(group.lame, 'n'), (group.jump, 'j')] {
        if let Some(at) = modifier {
            let expected = format!("no `{letter}` on a hopper");
            return Err(BetzaError::new(at, BetzaErrorKind::Misplaced, expected, format!("`{letter}`")));
        }
    }
    let landing = if letter == 'p' { Leg::UNLIMITED } else { 1 };
    let over_one = |vector| {
        let mut approach = leg(steps([vector]), Turn::Any, Leg::UNLIMITED);
        approach.joint = Occupancy::Occupied;
        vec![approach, leg(steps([vector]), Turn::Eighths(vec![0]), landing)]
    };
    let vectors = vectors(atom, group)?;
    Ok(vectors.into_iter().map(|vector| group.pattern(group.initial.is_some(), over_one(vector))).collect())
}

/// Which of `p` and `g` a group has.
pub(super) fn hop(group: &Modifiers) -> Result<(usize, char), BetzaError> {
    match (group.hop, group.hop_to_next) {
        (Some(at), None) => Ok((at, 'p')),
        (None, Some(at)) => Ok((at, 'g')),
        (first, second) => {
            let at = first.max(second).unwrap_or(group.at);
            Err(BetzaError::new(at, BetzaErrorKind::Misplaced, "one of `p` and `g`", "both"))
        }
    }
}

/// The fault of `p` or `g` on something that does not slide without limit.
fn short_hop(at: usize, letter: char, atom: &Atom) -> BetzaError {
    let got = format!("`{letter}` on {}", atom.describe());
    if atom.max == 1 {
        let error = BetzaError::new(at, BetzaErrorKind::Misplaced, "a rider without limit", got);
        return error.suggest("a hop over an adjacent man is written pafW");
    }
    let got = format!("{got}, where some count the squares before the man and some do not");
    let hint = format!("paf{} has so many squares to the man and as many behind it", atom.describe().replace('`', ""));
    BetzaError::new(at, BetzaErrorKind::Ambiguous, "a rider without limit", got).suggest(hint)
}

/// `j`: a leap over a square that must be occupied, or a slide that passes over its first square whatever stands there.
fn jumper(group: &Modifiers, atom: &Atom) -> Result<Vec<Pattern>, BetzaError> {
    let at = group.jump.unwrap_or(group.at);
    if let Some(at) = group.lame {
        return Err(BetzaError::new(at, BetzaErrorKind::Misplaced, "one of `n` and `j`", "both"));
    }
    let got = format!("`j` on {}", atom.describe());
    let ski = atom.max > 1 && atom.shapes.iter().all(|&(long, _)| long == 1);
    let paths: Vec<Vec<Leg>> = match atom.letter {
        'D' | 'A' | 'N' if atom.max == 1 => vectors(atom, group)?.into_iter().map(over_first_square).collect(),
        _ if ski => vectors(atom, group)?.into_iter().map(|vector| skipping_first(vector, atom.max)).collect(),
        'H' | 'G' | 'C' | 'Z' if atom.max == 1 => {
            let got = format!("{got}, which passes two squares");
            let error = BetzaError::new(at, BetzaErrorKind::Ambiguous, "`j` on D, A, N or a slide", got);
            return Err(error.suggest(jump_in_steps(atom)));
        }
        _ => return Err(BetzaError::new(at, BetzaErrorKind::Misplaced, "`j` on D, A, N or a slide", got)),
    };
    Ok(paths.into_iter().map(|legs| group.pattern(group.initial.is_some(), legs)).collect())
}

fn jump_in_steps(atom: &Atom) -> String {
    match atom.lie() {
        Lie::Oblique => "write its steps, as pafsW for a Knight's leap over a man".into(),
        lie => {
            let step = if lie == Lie::Diagonal { 'F' } else { 'W' };
            format!(
                "pafpaf{step} asks for men on both, pafmpaf{step} for one on the first, mpafpaf{step} on the second"
            )
        }
    }
}

/// The leap taken as one step onto a man and one more step.
fn over_first_square(vector: (i8, i8)) -> Vec<Leg> {
    let first = squares_between(vector).first().copied().unwrap_or_default();
    let second = (vector.0 - first.0, vector.1 - first.1);
    let mut onto = leg(steps([first]), Turn::Any, 1);
    onto.joint = Occupancy::Occupied;
    vec![onto, leg(steps([second]), Turn::Any, 1)]
}

fn skipping_first(vector: (i8, i8), max: u8) -> Vec<Leg> {
    let mut over = leg(steps([vector]), Turn::Any, 1);
    over.joint = Occupancy::Any;
    let rest = if max == Leg::UNLIMITED { max } else { max - 1 };
    vec![over, leg(steps([vector]), Turn::Eighths(vec![0]), rest)]
}

/// `fW*`: one step, or a slide that ends in the near half of the board. The scanner stands before the `*`.
fn to_centre_row(
    scanner: &mut Scanner<'_>,
    term: &Term,
    near_half: Option<SquareSet>,
) -> Result<Vec<Pattern>, BetzaError> {
    let modifiers = &scanner.text[term.start..term.atom.at];
    let forward = modifiers.chars().all(|letter| "fmci".contains(letter)) && modifiers.contains('f');
    let ([group], 'W', 1, true) = (&term.groups[..], term.atom.letter, term.atom.max, forward) else {
        return Err(unknown(scanner));
    };
    let Some(near_half) = near_half else {
        let also = format!("also = [{{ moves = \"{modifiers}R\", to = \"ranks 1-4\" }}]");
        return Err(unknown(scanner).suggest(format!("write {modifiers}W, and {also} with the near half's ranks")));
    };
    scanner.next();
    let initial = group.initial.is_some();
    let ahead = vectors(&term.atom, group)?;
    let [step, slide] = [1, Leg::UNLIMITED].map(|max| leg(steps(ahead.iter().copied()), Turn::Any, max));
    Ok(vec![group.pattern(initial, vec![step]), Pattern { to: Some(near_half), ..group.pattern(initial, vec![slide]) }])
}

/// All steps of an atom, in every direction.
pub(super) fn all_steps(atom: &Atom) -> Vec<Step> {
    steps(atom.shapes.iter().flat_map(|&shape| circle(shape)))
}
