//! The atoms: capital letters, their leaps and their ranges.

use super::refused::unknown;
use super::scan::Scanner;
use super::{BetzaError, BetzaErrorKind, quoted};
use crate::variant::pattern::{Leg, Occupancy, Step, Turn};

/// Longest range written as a number: no longer walk fits a board.
const MAX_RANGE: u8 = 15;

/// A length of leap: the greater coordinate first.
pub(super) type Shape = (i8, i8);

const WAZIR: Shape = (1, 0);
const FERZ: Shape = (1, 1);

/// The atoms: letter, leaps, whether they repeat.
const ATOMS: [(char, &[Shape], bool); 13] = [
    ('W', &[WAZIR], false),
    ('F', &[FERZ], false),
    ('D', &[(2, 0)], false),
    ('N', &[(2, 1)], false),
    ('A', &[(2, 2)], false),
    ('H', &[(3, 0)], false),
    ('C', &[(3, 1)], false),
    ('Z', &[(3, 2)], false),
    ('G', &[(3, 3)], false),
    ('K', &[WAZIR, FERZ], false),
    ('R', &[WAZIR], true),
    ('B', &[FERZ], true),
    ('Q', &[WAZIR, FERZ], true),
];

pub(super) const ATOM_LETTERS: &str = "an atom (W F D N A H C Z G, B R Q K)";

/// An atom with its range.
#[derive(Clone, Copy)]
pub(super) struct Atom {
    pub at: usize,
    pub letter: char,
    pub shapes: &'static [Shape],
    pub max: u8,
    /// The range was written as a number.
    pub numbered: bool,
}

/// How an atom's moves lie, which decides how directions before it are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lie {
    /// Along files and ranks: W D H R.
    Orthogonal,
    /// F A G B.
    Diagonal,
    /// N C Z.
    Oblique,
    /// Both of the first two: K Q.
    Both,
}

impl Atom {
    pub fn lie(&self) -> Lie {
        match *self.shapes {
            [(_, 0)] => Lie::Orthogonal,
            [(long, short)] if long == short => Lie::Diagonal,
            [_] => Lie::Oblique,
            _ => Lie::Both,
        }
    }

    /// It goes on until something stops it.
    pub fn slides(&self) -> bool {
        self.max == Leg::UNLIMITED
    }

    /// The atom as written, for messages.
    pub fn describe(&self) -> String {
        match (self.numbered, self.max) {
            (true, Leg::UNLIMITED) => format!("`{}0`", self.letter),
            (true, range) => format!("`{}{range}`", self.letter),
            (false, Leg::UNLIMITED) if !"BRQ".contains(self.letter) => format!("`{0}{0}`", self.letter),
            _ => format!("`{}`", self.letter),
        }
    }
}

/// Whether a letter is an atom.
pub(super) fn is_atom(letter: char) -> bool {
    ATOMS.iter().any(|&(atom, ..)| atom == letter)
}

/// Reads an atom letter, its doubling and its range.
pub(super) fn atom(scanner: &mut Scanner<'_>) -> Result<Atom, BetzaError> {
    let at = scanner.at;
    let found = ATOMS.iter().find(|&&(letter, ..)| Some(letter) == scanner.peek());
    let Some(&(letter, shapes, rider)) = found else { return Err(unknown(scanner)) };
    scanner.next();
    if scanner.peek() == Some(letter) {
        doubling(scanner, letter, shapes.len() > 1 || rider)?;
        return Ok(Atom { at, letter, shapes, max: Leg::UNLIMITED, numbered: false });
    }
    let numbered = !scanner.digits().is_empty();
    let max = match (numbered, rider) {
        (true, _) => range(scanner, letter)?,
        (false, true) => Leg::UNLIMITED,
        (false, false) => 1,
    };
    Ok(Atom { at, letter, shapes, max, numbered })
}

/// Steps over the second letter of a doubled atom.
fn doubling(scanner: &mut Scanner<'_>, letter: char, shorthand: bool) -> Result<(), BetzaError> {
    if shorthand {
        let error = scanner.error(BetzaErrorKind::Misplaced, "one letter", format!("`{letter}` doubled"));
        return Err(error.suggest(if letter == 'K' { "a sliding K is Q" } else { "it slides already" }));
    }
    scanner.next();
    if scanner.peek() == Some(letter) || !scanner.digits().is_empty() {
        let error = scanner.error(BetzaErrorKind::Range, "another term", scanner.got());
        return Err(error.suggest("a doubled atom goes as far as it can: for a limit write W3, not WW3"));
    }
    Ok(())
}

fn range(scanner: &mut Scanner<'_>, letter: char) -> Result<u8, BetzaError> {
    let digits = scanner.digits();
    let range = match digits.parse::<u8>() {
        Ok(0) if digits == "0" => Leg::UNLIMITED,
        Ok(range @ 1..=MAX_RANGE) if !digits.starts_with('0') => range,
        parsed => {
            let expected = format!("a range from 1 to {MAX_RANGE}, or 0 for as far as it can");
            let got: String = digits.chars().take(8).collect();
            let error = scanner.error(BetzaErrorKind::Range, expected, quoted(&got));
            // Exactly so many steps in some texts, at most so many for programs.
            return Err(match parsed {
                Ok(steps @ 2..=6) if "WF".contains(letter) => {
                    error.suggest(format!("exactly {steps} steps are {}{letter}", "maf".repeat(usize::from(steps) - 1)))
                }
                _ => error,
            });
        }
    };
    scanner.at += digits.len();
    Ok(range)
}

/// A leg over empty squares that may follow anything.
pub(super) fn leg(steps: Vec<Step>, turn: Turn, max: u8) -> Leg {
    Leg { steps, turn, min: 1, max, through: Occupancy::Empty, joint: Occupancy::Empty }
}

/// True leaps.
pub(super) fn steps(vectors: impl IntoIterator<Item = (i8, i8)>) -> Vec<Step> {
    vectors.into_iter().map(|vector| Step { vector, stops: Vec::new() }).collect()
}

/// All vectors of a leap, clockwise from straight forward.
pub(super) fn circle((long, short): Shape) -> Vec<(i8, i8)> {
    let quarter = |(files, rows): (i8, i8)| [(files, rows), (rows, -files), (-files, -rows), (-rows, files)];
    if short == 0 {
        quarter((0, long)).to_vec()
    } else if short == long {
        quarter((long, long)).to_vec()
    } else {
        let (narrow, wide) = (quarter((short, long)), quarter((long, short)));
        narrow.into_iter().zip(wide).flat_map(|(narrow, wide)| [narrow, wide]).collect()
    }
}

/// The squares a lame leap passes: along the board's lines first, then diagonally, as a Xiangqi horse or a Janggi
/// elephant.
pub(super) fn squares_between((files, rows): (i8, i8)) -> Vec<(i8, i8)> {
    let (mut left, mut passed) = ((files, rows), (0, 0));
    let mut squares = Vec::new();
    while left.0.abs().max(left.1.abs()) > 1 {
        let along_file = left.1.abs() >= left.0.abs();
        let along_rank = left.0.abs() >= left.1.abs();
        let step = (if along_rank { left.0.signum() } else { 0 }, if along_file { left.1.signum() } else { 0 });
        passed = (passed.0 + step.0, passed.1 + step.1);
        left = (left.0 - step.0, left.1 - step.1);
        squares.push(passed);
    }
    squares
}
