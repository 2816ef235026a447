//! What is taken away from a position, by lot.
//!
//! First a unit type is drawn, then one of its units, so that rare units are taken away as often as frequent ones.

use super::openings::Imbalance;
use super::seeds::Dice;
use fairyforge_engine::geometry::{Square, SquareSet};
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::{Colour, MAX_UNITS, Unit};

/// Tries to find units of both sides that are worth about the same.
const MOST_TRIES: usize = 200;

/// How units are drawn.
pub struct Lot {
    settings: Imbalance,
    /// A-priori values in exchanges, in centipawns.
    values: [i32; MAX_UNITS],
    /// The units of the array, each as often as it is to be drawn.
    types: Vec<Unit>,
}

impl Lot {
    /// The lot of a variant.
    pub fn new(variant: &Variant, settings: &Imbalance, values: &[i32; MAX_UNITS]) -> Self {
        let in_array = |unit: Unit| Colour::BOTH.iter().any(|&colour| variant.array_count(colour, unit) > 0);
        let mut types = Vec::new();
        for unit in variant.units().filter(|&unit| unit != variant.royal() && in_array(unit)) {
            let promotes = !variant.promotion_zone(unit, Colour::White).is_empty();
            let weight = if promotes { settings.pawn_weight.max(1) } else { 1 };
            types.extend(std::iter::repeat_n(unit, usize::from(weight)));
        }
        Self { settings: settings.clone(), values: *values, types }
    }

    /// Units of both sides that are worth about the same; none if that cannot be had.
    pub fn one_sided(&self, from: &Position, dice: &mut Dice) -> SquareSet {
        (0..MOST_TRIES).find_map(|_| self.try_one_sided(from, dice)).unwrap_or_default()
    }

    /// One to a few units of each side; `None` if one side loses too much more than the other.
    fn try_one_sided(&self, from: &Position, dice: &mut Dice) -> Option<SquareSet> {
        let [white, black] = Colour::BOTH.map(|colour| {
            let types = self.types_left(|unit| from.count(unit, colour));
            let mut taken = SquareSet::EMPTY;
            for _ in 0..self.number(dice) {
                let Some(&unit) = dice.pick(&types) else { break };
                taken = taken | one_of(from, unit, colour, taken, dice).into_iter().collect();
            }
            taken
        });
        let worth = |taken: SquareSet| self.worth(taken.iter().map(|square| from.piece_at(square).unit()));
        self.is_within_window(worth(white), worth(black)).then_some(white | black)
    }

    /// Two ways to take units away of which one is the other with the sides exchanged: what one takes from White, the other takes from
    /// Black. With one of the two by the toss of a coin, what is taken from whom has nothing to do with what the sides had before.
    /// `None` if one side loses too much more than the other.
    pub fn either_side(&self, from: &Position, dice: &mut Dice) -> Option<[SquareSet; 2]> {
        let both_have = |unit| Colour::BOTH.map(|colour| from.count(unit, colour)).into_iter().min().unwrap_or(0);
        let [one, other] = [(); 2].map(|()| self.drawn(both_have, dice));
        if !self.is_within_window(self.worth(one.iter().copied()), self.worth(other.iter().copied())) {
            return None;
        }
        Some([[&one, &other], [&other, &one]].map(|losses| {
            let mut taken = SquareSet::EMPTY;
            for (colour, units) in Colour::BOTH.into_iter().zip(losses) {
                for &unit in units {
                    taken = taken | one_of(from, unit, colour, taken, dice).into_iter().collect();
                }
            }
            taken
        }))
    }

    /// One to a few units, no more of a type than are there.
    fn drawn(&self, there: impl Fn(Unit) -> u8, dice: &mut Dice) -> Vec<Unit> {
        let types = self.types_left(&there);
        let mut units: Vec<Unit> = Vec::new();
        for _ in 0..self.number(dice) {
            let Some(&unit) = dice.pick(&types) else { break };
            if units.iter().filter(|&&other| other == unit).count() < usize::from(there(unit)) {
                units.push(unit);
            }
        }
        units
    }

    /// None to a few units that both sides lose alike, beside those already `taken`.
    pub fn of_both(&self, from: &Position, taken: SquareSet, dice: &mut Dice) -> SquareSet {
        let mut common = SquareSet::EMPTY;
        let most = usize::from(self.settings.most_common_units);
        if most == 0 {
            return common;
        }
        let types = self.types_left(|unit| from.count(unit, Colour::White));
        for _ in 0..dice.below(most + 1) {
            let Some(&unit) = dice.pick(&types) else { break };
            let [white, black] = Colour::BOTH.map(|colour| one_of(from, unit, colour, taken | common, dice));
            if let (Some(white), Some(black)) = (white, black) {
                common.insert(white);
                common.insert(black);
            }
        }
        common
    }

    fn number(&self, dice: &mut Dice) -> usize {
        1 + dice.below(usize::from(self.settings.most_units.max(1)))
    }

    fn types_left(&self, there: impl Fn(Unit) -> u8) -> Vec<Unit> {
        self.types.iter().copied().filter(|&unit| there(unit) > 0).collect()
    }

    fn worth(&self, units: impl Iterator<Item = Unit>) -> i32 {
        units.map(|unit| self.values[unit.index()]).sum()
    }

    fn is_within_window(&self, one: i32, other: i32) -> bool {
        (one - other).abs() <= self.settings.window
    }
}

fn one_of(from: &Position, unit: Unit, colour: Colour, taken: SquareSet, dice: &mut Dice) -> Option<Square> {
    let left = (from.men(colour) - taken).iter();
    let left: Vec<Square> = left.filter(|&square| from.piece_at(square).unit() == unit).collect();
    dice.pick(&left).copied()
}

/// What each side has lost, as records tell it, for a game and for the one with the armies exchanged.
pub fn imbalance_texts(from: &Position, taken: SquareSet) -> [String; 2] {
    if taken.is_empty() {
        return [String::new(), String::new()];
    }
    let [white, black] = Colour::BOTH.map(|colour| -> String {
        let own = (from.men(colour) & taken).iter();
        let mut units: Vec<Unit> = own.map(|square| from.piece_at(square).unit()).collect();
        units.sort();
        units.iter().map(|&unit| from.variant().unit(unit).letter).collect()
    });
    [format!("w:{white} b:{black}"), format!("w:{black} b:{white}")]
}
