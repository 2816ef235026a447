//! Legs in brackets: `[F?R]`, `[W-F]`. Each leg is an atom of its own; `-` says that the move goes on, `?` that it may
//! stop.

use super::atom::{Atom, Lie, atom, is_atom};
use super::directions::{Bend, bends, vectors};
use super::modifiers::Modifiers;
use super::refused::unknown;
use super::scan::Scanner;
use super::term::{MAX_LEGS, all_steps, missing_atom};
use super::{BetzaError, BetzaErrorKind, quoted};
use crate::variant::pattern::{Leg, Occupancy, Pattern, Turn};

/// One leg as written.
struct Part {
    modifiers: Modifiers,
    atom: Atom,
    /// The range is the least one.
    at_least: bool,
    /// The move may end here.
    may_stop: bool,
    /// Another leg follows.
    goes_on: bool,
}

/// Reads brackets, which stand next; `outer` are the modifiers before them.
pub(super) fn bracket(scanner: &mut Scanner<'_>, outer: &Modifiers) -> Result<Vec<Pattern>, BetzaError> {
    check_outer(outer)?;
    let parts = parts(scanner)?;
    let initial = outer.initial.or(parts[0].modifiers.initial).is_some();
    let mut legs: Vec<Leg> = Vec::new();
    let mut patterns = Vec::new();
    let mut before = None;
    for part in &parts {
        let leg = bracket_leg(part, before)?;
        if part.may_stop {
            let end = Leg { joint: Occupancy::Empty, ..leg.clone() };
            let path = legs.iter().cloned().chain([end]).collect();
            patterns.push(modes(outer, &part.modifiers)?.pattern(initial, path));
        }
        legs.push(leg);
        before = Some(part);
    }
    Ok(patterns)
}

/// Reads the legs, two at least, and the brackets around them.
fn parts(scanner: &mut Scanner<'_>) -> Result<Vec<Part>, BetzaError> {
    let opened = scanner.at;
    scanner.next();
    let mut parts: Vec<Part> = Vec::new();
    while parts.last().is_none_or(|part| part.goes_on) {
        parts.push(part(scanner, parts.len())?);
    }
    if parts.len() < 2 {
        let got = "one leg in brackets";
        return Err(BetzaError::new(opened, BetzaErrorKind::Misplaced, "two legs, as in [F-R]", got));
    }
    if !scanner.digits().is_empty() {
        let error = scanner.error(BetzaErrorKind::Unsupported, "another term", "a range after brackets");
        return Err(error.suggest("write the range after a leg's atom, or the legs out"));
    }
    Ok(parts)
}

/// Before brackets stand only what the whole move may do and when.
fn check_outer(outer: &Modifiers) -> Result<(), BetzaError> {
    if let Some(&(at, letter)) = outer.directions.first() {
        let got = format!("`{letter}` before brackets, which is read in several ways");
        let error = BetzaError::new(at, BetzaErrorKind::Ambiguous, "m, c or i", got);
        return Err(error.suggest("write directions before the atoms in the brackets"));
    }
    let instead = "write it inside the brackets";
    outer.refuse(
        &[
            (outer.lame, "`n` before brackets", "legs step on empty squares already"),
            (outer.jump, "`j` before brackets", instead),
            (outer.hop, "`p` before brackets", instead),
            (outer.hop_to_next, "`g` before brackets", instead),
            (outer.toggle, "`y` before brackets", instead),
        ],
        "m, c or i",
    )
}

/// Reads one leg and what stands behind it.
fn part(scanner: &mut Scanner<'_>, index: usize) -> Result<Part, BetzaError> {
    if index == MAX_LEGS {
        let expected = format!("at most {MAX_LEGS} legs");
        return Err(scanner.error(BetzaErrorKind::TooLong, expected, "another leg"));
    }
    let mut modifiers = Modifiers::new(scanner.at);
    let atom = loop {
        match scanner.peek() {
            Some(letter) if is_atom(letter) => break atom(scanner)?,
            Some('a') => {
                let error = scanner.error(BetzaErrorKind::Misplaced, "one leg", "`a` in brackets");
                return Err(error.suggest("write the legs one after the other, joined by `-`"));
            }
            Some(letter) if Modifiers::knows(letter, index > 0) => modifiers.add(letter, scanner)?,
            None => return Err(missing_atom(scanner)),
            Some(_) => return Err(unknown(scanner)),
        }
    };
    let at_least = atom.numbered && !atom.slides() && scanner.skip('+');
    let (may_stop, goes_on) = match scanner.peek() {
        Some('-') => (false, true),
        Some('?') => (true, true),
        Some(']') => (true, false),
        _ => {
            let expected = "`-` (the move goes on), `?` (it may stop here) or `]`";
            let error = scanner.error(BetzaErrorKind::Unexpected, expected, scanner.got());
            return Err(error.suggest("legs are joined as in [F-R] or [F?R]"));
        }
    };
    scanner.next();
    let part = Part { modifiers, atom, at_least, may_stop, goes_on };
    part.check(index)?;
    Ok(part)
}

impl Part {
    /// Refuses modifiers that have no meaning for a leg in brackets.
    fn check(&self, index: usize) -> Result<(), BetzaError> {
        let own = &self.modifiers;
        let hop_at_end = own.hop.filter(|_| self.may_stop);
        let onwards = own.captures.filter(|_| self.goes_on);
        let late = own.initial.filter(|_| index > 0);
        own.refuse(
            &[
                (own.lame, "`n` in brackets", "write the lame leap in steps: nD is [W-W]"),
                (own.jump, "`j` in brackets", "write the leap in steps: jD is [pW-W]"),
                (own.toggle, "range toggling `y` in brackets", "each leg has a range of its own"),
                (own.hop_to_next, "`g` in brackets", "write the step behind the man as a leg: gR is [pR-W]"),
                (hop_at_end, "`p` where the move may end", "write the hop as a leg: pR is [pR-R]"),
                (onwards, "`c` before the last leg (taking and moving on)", ""),
                (late, "`i` after the first leg", "write it first"),
            ],
            "a simple leg",
        )
    }
}

/// The leg in the path, given the one before it.
fn bracket_leg(part: &Part, before: Option<&Part>) -> Result<Leg, BetzaError> {
    let atom = &part.atom;
    let (steps, turn) = match before {
        None => (super::atom::steps(vectors(atom, &part.modifiers)?), Turn::Any),
        Some(before) => (all_steps(atom), turn(part, before)?),
    };
    let (min, max) = if part.at_least { (atom.max, Leg::UNLIMITED) } else { (1, atom.max) };
    Ok(Leg { steps, turn, min, max, through: Occupancy::Empty, joint: part.modifiers.joint() })
}

/// Outward, unless directions say otherwise.
fn turn(part: &Part, before: &Part) -> Result<Turn, BetzaError> {
    let bends = bends(&part.modifiers)?;
    let Some(&(at, _)) = part.modifiers.directions.first() else { return Ok(Turn::Outward) };
    if part.atom.lie() == Lie::Oblique || before.atom.lie() == Lie::Oblique {
        let got = format!("directions between {} and {}", before.atom.describe(), part.atom.describe());
        let error = BetzaError::new(at, BetzaErrorKind::Ambiguous, "no direction beside N, C or Z", got);
        return Err(error.suggest("without one the leg goes outward"));
    }
    let mut eighths = Vec::new();
    for bend in bends {
        let Bend::To(angle) = bend else {
            let expected = "a direction seen from the leg before";
            let error = BetzaError::new(at, BetzaErrorKind::Unsupported, expected, "`z` or `q` in brackets");
            return Err(error.suggest("write the legs joined by `a`, as in afsafzW"));
        };
        eighths.push(angle);
    }
    let same = part.atom.lie() == before.atom.lie();
    let either = part.atom.lie() == Lie::Both || before.atom.lie() == Lie::Both;
    if !either && eighths.iter().any(|angle| (angle % 2 == 0) != same) {
        let letters: String = part.modifiers.directions.iter().map(|&(_, letter)| letter).collect();
        let got = format!("{} on {} after {}", quoted(&letters), part.atom.describe(), before.atom.describe());
        let expected = if same { "f, b, l, r, s or v" } else { "fs, bs, fl, fr, bl, br, lv or rv" };
        return Err(BetzaError::new(at, BetzaErrorKind::Misplaced, expected, got));
    }
    Ok(Turn::Eighths(eighths))
}

/// The modes of a leg's end: its own or those before the brackets, not both.
fn modes<'a>(outer: &'a Modifiers, own: &'a Modifiers) -> Result<&'a Modifiers, BetzaError> {
    let of = |modifiers: &Modifiers| modifiers.moves.or(modifiers.captures);
    match (of(outer), of(own)) {
        (Some(_), Some(at)) => {
            let got = "`m` or `c` both before and in the brackets";
            Err(BetzaError::new(at, BetzaErrorKind::Misplaced, "them in one place", got))
        }
        (Some(_), None) => Ok(outer),
        (None, _) => Ok(own),
    }
}
