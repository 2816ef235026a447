//! The small letters before an atom.

use super::scan::Scanner;
use super::{BetzaError, BetzaErrorKind};
use crate::variant::pattern::{Leg, Occupancy, Pattern};

/// More directional letters than any atom has directions.
const MAX_DIRECTIONS: usize = 16;

/// Modifiers before an atom, or before an `a`: each with its place in the string.
#[derive(Default)]
pub(super) struct Modifiers {
    pub at: usize,
    pub directions: Vec<(usize, char)>,
    pub moves: Option<usize>,
    pub captures: Option<usize>,
    pub initial: Option<usize>,
    pub lame: Option<usize>,
    pub jump: Option<usize>,
    pub hop: Option<usize>,
    pub hop_to_next: Option<usize>,
    pub toggle: Option<usize>,
}

impl Modifiers {
    pub fn new(at: usize) -> Self {
        Self { at, ..Self::default() }
    }

    /// Whether `letter` is a modifier; `z` and `q` are directions of legs that follow another.
    pub fn knows(letter: char, follows: bool) -> bool {
        "fblrvshmcinjpgy".contains(letter) || (follows && "zq".contains(letter))
    }

    /// Reads one modifier.
    pub fn add(&mut self, letter: char, scanner: &mut Scanner<'_>) -> Result<(), BetzaError> {
        let at = scanner.at;
        let slot = match letter {
            'm' => Some(&mut self.moves),
            'c' => Some(&mut self.captures),
            'i' => Some(&mut self.initial),
            'n' => Some(&mut self.lame),
            'j' => Some(&mut self.jump),
            'p' => Some(&mut self.hop),
            'g' => Some(&mut self.hop_to_next),
            'y' => Some(&mut self.toggle),
            _ => None,
        };
        let too_often = match slot {
            Some(slot) => slot.replace(at).is_some(),
            None => {
                self.directions.push((at, letter));
                self.directions.len() > MAX_DIRECTIONS
            }
        };
        if too_often {
            return Err(scanner.error(BetzaErrorKind::Misplaced, "each modifier once", format!("`{letter}` again")));
        }
        scanner.next();
        Ok(())
    }

    /// The pattern of `legs` whose end has these modes.
    pub fn pattern(&self, initial: bool, legs: Vec<Leg>) -> Pattern {
        let either = self.moves.is_none() && self.captures.is_none();
        Pattern {
            legs,
            moves: self.moves.is_some() || either,
            captures: self.captures.is_some() || either,
            initial,
            from: None,
            to: None,
        }
    }

    /// What the last square of a leg with these modes must hold for another leg to follow.
    pub fn joint(&self) -> Occupancy {
        match (self.moves.is_some(), self.hop.or(self.hop_to_next).is_some()) {
            (true, true) => Occupancy::Any,
            (false, true) => Occupancy::Occupied,
            (_, false) => Occupancy::Empty,
        }
    }

    /// Refuses the first of some modifiers that is there, by what it would be.
    pub fn refuse(&self, wrong: &[(Option<usize>, &str, &str)], expected: &str) -> Result<(), BetzaError> {
        let first = wrong.iter().filter_map(|&(at, what, instead)| Some((at?, what, instead))).min();
        let Some((at, what, instead)) = first else { return Ok(()) };
        let got = format!("{what}, which is not supported");
        let error = BetzaError::new(at, BetzaErrorKind::Unsupported, expected, got);
        Err(if instead.is_empty() { error } else { error.suggest(instead) })
    }
}
