//! The moves that leave a table: captures and promotions, and the tables they lead to.

use super::ends::Ends;
use super::layout::Squares;
use super::{EndgameError, MOST_MEN, Man, Material};
use crate::geometry::{GRID_SQUARES, Square};
use crate::variant::Variant;
use crate::variant::rules::{Colour, PromotionChoice, Unit};

/// The way into another table.
#[derive(Clone, Copy)]
pub(super) struct Exit {
    /// The number of the other table among those needed.
    pub table: usize,
    /// By man of the other table: which man of this one it is.
    order: [u8; MOST_MEN],
}

impl Exit {
    /// The squares of the men in the other table's order.
    #[inline]
    pub fn squares(&self, squares: &Squares) -> Squares {
        self.order.map(|man| squares[usize::from(man)])
    }
}

/// What a man may become on a square.
pub(super) struct Promotion {
    pub must: bool,
    pub choices: Vec<Choice>,
}

/// One unit that a man may become.
pub(super) struct Choice {
    pub unit: Unit,
    pub one_per_colour: bool,
    /// Without a capture, then by man taken.
    exits: [Option<Exit>; MOST_MEN + 1],
}

impl Choice {
    #[inline]
    pub fn exit(&self, victim: Option<usize>) -> Option<Exit> {
        self.exits[victim.map_or(0, |victim| victim + 1)]
    }
}

/// All ways out of a table.
pub(super) struct Exits {
    /// By man taken.
    pub captures: [Option<Exit>; MOST_MEN],
    /// By man and square; no squares for men that do not promote.
    pub promotions: Vec<Vec<Option<Promotion>>>,
}

/// The materials to which captures and promotions lead, each once.
///
/// # Errors
/// A man may become royal.
pub(super) fn needs(variant: &Variant, material: &Material) -> Result<Vec<Material>, EndgameError> {
    let ends = Ends::of(variant, material);
    let mut needs: Vec<Material> = Vec::new();
    let mut need = |victim, promoted| {
        let (next, _) = material.changed(variant, victim, promoted);
        if !needs.contains(&next) {
            needs.push(next);
        }
    };
    for side in Colour::BOTH.into_iter().filter(|side| ends.at_once[side.index()].is_none()) {
        let victims = victims(variant, material, side);
        victims.iter().for_each(|&victim| need(Some(victim), None));
        for (man, unit) in promotions(variant, material, side) {
            if unit == variant.royal() {
                let unit = variant.unit(material.men()[man].unit).name.clone();
                return Err(EndgameError::PromotesToRoyal { material: material.text(variant), unit });
            }
            need(None, Some((man, unit)));
            victims.iter().for_each(|&victim| need(Some(victim), Some((man, unit))));
        }
    }
    Ok(needs)
}

/// The men that `side` may take, by number.
fn victims(variant: &Variant, material: &Material, side: Colour) -> Vec<usize> {
    let may_be_taken = |man: &Man| {
        let takeable = variant.takeable() >> man.unit.0 & 1 != 0;
        man.colour != side && man.unit != variant.royal() && takeable
    };
    material.men().iter().enumerate().filter(|(_, man)| may_be_taken(man)).map(|(number, _)| number).collect()
}

/// The men of `side` that may become something, with what they may become.
fn promotions(variant: &Variant, material: &Material, side: Colour) -> Vec<(usize, Unit)> {
    let mut found = Vec::new();
    for (number, man) in material.men().iter().enumerate().filter(|(_, man)| man.colour == side) {
        let squares = variant.topology().squares().iter();
        let choices = squares.filter_map(|square| variant.promotion(man.unit, side, square));
        for choice in choices.flat_map(|(choices, _)| choices) {
            if is_available(variant, material, side, choice) && !found.contains(&(number, choice.unit)) {
                found.push((number, choice.unit));
            }
        }
    }
    found
}

/// Whether the men on the board allow the choice; nobody has anything in hand.
fn is_available(variant: &Variant, material: &Material, side: Colour, choice: &PromotionChoice) -> bool {
    let count = material.count_of(choice.unit, side);
    (!choice.only_captured || count < usize::from(variant.array_count(side, choice.unit)))
        && choice.at_most.is_none_or(|most| count < usize::from(most))
        && (!choice.after_drop || variant.hand_size(choice.unit) > 0)
}

impl Exits {
    /// The exits of a material into the tables of `needs`, which come from [`needs`].
    pub fn new(variant: &Variant, material: &Material, needs: &[Material]) -> Self {
        let exit = |victim, promoted| {
            let (next, order) = material.changed(variant, victim, promoted);
            needs.iter().position(|need| *need == next).map(|table| Exit { table, order })
        };
        let by_square = |number: usize, man: Man| {
            let promotion = |square| {
                let (choices, must) = variant.promotion(man.unit, man.colour, square)?;
                let choices = choices.iter().filter(|choice| is_available(variant, material, man.colour, choice));
                let choice = |choice: &PromotionChoice| {
                    let promoted = Some((number, choice.unit));
                    let exits = std::array::from_fn(|at| match at.checked_sub(1) {
                        None => exit(None, promoted),
                        Some(victim) => (victim < material.men().len()).then(|| exit(Some(victim), promoted)).flatten(),
                    });
                    Choice { unit: choice.unit, one_per_colour: choice.one_per_colour, exits }
                };
                Some(Promotion { must, choices: choices.map(choice).collect() })
            };
            let squares: Vec<Option<Promotion>> =
                (0..=u8::MAX).map(|square| promotion(Square::from_index(square))).collect();
            debug_assert_eq!(squares.len(), GRID_SQUARES);
            if squares.iter().all(Option::is_none) { Vec::new() } else { squares }
        };
        let men = material.men();
        Self {
            captures: std::array::from_fn(|victim| (victim < men.len()).then(|| exit(Some(victim), None)).flatten()),
            promotions: men.iter().enumerate().map(|(number, &man)| by_square(number, man)).collect(),
        }
    }
}
