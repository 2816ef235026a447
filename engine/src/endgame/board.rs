//! The moves of a few men forwards and backwards, as squares to squares: what retrograde analysis does millions of times.
//!
//! Checks nothing for legality but attacks on kings; a successor is legal if its table has it.

use super::ends::Ends;
use super::exits::{Exit, Exits};
use super::layout::{Layout, Squares};
use super::plan::Planned;
use super::reach::UnitReach;
use super::{Man, Material};
use crate::geometry::{Square, SquareSet};
use crate::variant::Variant;
use crate::variant::rules::{Colour, Unit};
use std::ops::ControlFlow;

/// The numbers of the kings among the men.
const KINGS: [usize; 2] = [0, 1];

/// A material with all that its men may do.
pub(super) struct Board {
    men: Vec<Man>,
    reach: Vec<UnitReach>,
    exits: Exits,
    pub ends: Ends,
    pub layout: Layout,
}

impl Board {
    pub fn new(variant: &Variant, planned: &Planned) -> Self {
        let material: &Material = &planned.material;
        Self {
            men: material.men().to_vec(),
            reach: material.men().iter().map(|man| UnitReach::of(variant, man.unit, man.colour)).collect(),
            exits: Exits::new(variant, material, &planned.needs),
            ends: Ends::of(variant, material),
            layout: Layout::new(variant, material),
        }
    }

    /// Whether the king of `side` is attacked.
    pub fn is_in_check(&self, side: Colour, squares: &Squares) -> bool {
        let (king, occupied) = (squares[KINGS[side.index()]], self.occupied(squares));
        self.men_of(side.opponent()).any(|man| {
            let from = squares[man];
            self.reach[man].captures.reaches(from, king, without(occupied, from))
        })
    }

    /// Whether a man stands where it must have promoted.
    pub fn has_unpromoted(&self, squares: &Squares) -> bool {
        let promotions = self.exits.promotions.iter().zip(squares);
        promotions
            .filter_map(|(by_square, square)| by_square.get(square.index()))
            .any(|promotion| promotion.as_ref().is_some_and(|promotion| promotion.must))
    }

    /// Calls `visit` with the squares after every quiet move of `side` that stays in the table.
    #[inline]
    pub fn quiet_moves(
        &self,
        side: Colour,
        squares: &Squares,
        mut visit: impl FnMut(&Squares) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let occupied = self.occupied(squares);
        for man in self.men_of(side) {
            let from = squares[man];
            let mut after = *squares;
            for to in self.reach[man].quiet.targets(from, without(occupied, from)) - occupied {
                if self.exits.promotions[man].get(to.index()).is_some_and(|p| p.as_ref().is_some_and(|p| p.must)) {
                    continue;
                }
                after[man] = to;
                visit(&after)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Calls `visit` with every position of this table from which `side` may have come by a quiet move.
    #[inline]
    pub fn quiet_origins(&self, side: Colour, squares: &Squares, mut visit: impl FnMut(&Squares)) {
        let occupied = self.occupied(squares);
        for man in self.men_of(side) {
            let to = squares[man];
            let mut before = *squares;
            for from in self.reach[man].origins.targets(to, without(occupied, to)) - occupied {
                before[man] = from;
                visit(&before);
            }
        }
    }

    /// Calls `visit` with the exit and the squares (of this table's men) after every capture and promotion of `side`.
    #[inline]
    pub fn leaving_moves(
        &self,
        side: Colour,
        squares: &Squares,
        mut visit: impl FnMut(Exit, &Squares) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let occupied = self.occupied(squares);
        for man in self.men_of(side) {
            let from = squares[man];
            let others = without(occupied, from);
            let mut after = *squares;
            for victim in self.men_of(side.opponent()) {
                let Some(exit) = self.exits.captures[victim] else { continue };
                after[man] = squares[victim];
                if self.reach[man].captures.reaches(from, after[man], others) {
                    self.arrivals(man, Some((victim, exit)), squares, &after, &mut visit)?;
                }
            }
            if !self.exits.promotions[man].is_empty() {
                for to in self.reach[man].quiet.targets(from, others) - occupied {
                    after[man] = to;
                    self.arrivals(man, None, squares, &after, &mut visit)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// The ways in which a man that arrives leaves the table.
    fn arrivals(
        &self,
        man: usize,
        capture: Option<(usize, Exit)>,
        before: &Squares,
        after: &Squares,
        visit: &mut impl FnMut(Exit, &Squares) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let promotion = self.exits.promotions[man].get(after[man].index()).and_then(Option::as_ref);
        if let Some(promotion) = promotion {
            for choice in &promotion.choices {
                let free = !choice.one_per_colour || !self.has_on_colour(man, choice.unit, before, after[man]);
                if let Some(exit) = choice.exit(capture.map(|(victim, _)| victim)).filter(|_| free) {
                    visit(exit, after)?;
                }
            }
        }
        match capture {
            Some((_, exit)) if promotion.is_none_or(|promotion| !promotion.must) => visit(exit, after),
            _ => ControlFlow::Continue(()),
        }
    }

    /// Whether another man of the same side is such a unit on a square of the same colour as `to`.
    fn has_on_colour(&self, promoting: usize, unit: Unit, squares: &Squares, to: Square) -> bool {
        let parity = |square: Square| (square.file() + square.row()) & 1;
        let own = Man { unit, colour: self.men[promoting].colour };
        (0..self.men.len()).any(|man| man != promoting && self.men[man] == own && parity(squares[man]) == parity(to))
    }

    fn men_of(&self, side: Colour) -> impl Iterator<Item = usize> {
        self.men.iter().enumerate().filter(move |(_, man)| man.colour == side).map(|(number, _)| number)
    }

    #[inline]
    fn occupied(&self, squares: &Squares) -> SquareSet {
        squares[..self.men.len()].iter().copied().collect()
    }
}

#[inline]
fn without(mut set: SquareSet, square: Square) -> SquareSet {
    set.remove(square);
    set
}
