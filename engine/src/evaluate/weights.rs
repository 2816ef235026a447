//! The numbers of the tapered evaluation.

use super::weights_file::Origin;
use crate::geometry::{GRID_SQUARES, Square};
use crate::variant::Variant;
use crate::variant::rules::{MAX_UNITS, Unit};

/// Middlegame and endgame values of every unit and square of one variant, in centipawns, from White's side.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// The variant's name.
    pub variant: String,
    /// The variant's rules hash.
    pub rules_hash: String,
    /// By unit type, in the variant's order.
    pub units: Vec<UnitWeights>,
    /// What the right to move is worth.
    pub tempo: i32,
    /// Where the numbers come from.
    pub origin: Origin,
    /// What units were measured to be worth, if they were; the evaluation does not use it.
    pub measured: Vec<MeasuredValue>,
}

/// A unit's measured value in pawns with its 95 % interval.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredValue {
    /// Which unit.
    pub unit: Unit,
    /// Its value in pawns of the same game.
    pub pawns: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
}

/// The numbers of one unit type.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitWeights {
    /// Value with all men on the board.
    pub middlegame: i32,
    /// Value on the empty board.
    pub endgame: i32,
    /// How much it counts towards the phase: the middlegame share of a position is the sum over the men on the board,
    /// divided by that of the array and at most 1.
    pub phase: i32,
    /// Middlegame bonus by square.
    pub middlegame_squares: Box<[i16; GRID_SQUARES]>,
    /// Endgame bonus by square.
    pub endgame_squares: Box<[i16; GRID_SQUARES]>,
}

impl UnitWeights {
    /// Values without bonuses for squares.
    pub fn flat(middlegame: i32, endgame: i32, phase: i32) -> Self {
        let none = || Box::new([0; GRID_SQUARES]);
        Self { middlegame, endgame, phase, middlegame_squares: none(), endgame_squares: none() }
    }

    /// Bonuses of a square, middlegame and endgame.
    pub fn bonus(&self, square: Square) -> (i32, i32) {
        (i32::from(self.middlegame_squares[square.index()]), i32::from(self.endgame_squares[square.index()]))
    }
}

impl Weights {
    /// Middlegame values by unit type, for exchanges; 0 for types the game lacks.
    pub fn exchange_values(&self) -> [i32; MAX_UNITS] {
        let mut values = [0; MAX_UNITS];
        for (value, unit) in values.iter_mut().zip(&self.units) {
            *value = (unit.middlegame + unit.endgame) / 2;
        }
        values
    }

    /// The phase of the array: the sum of all its men's phase weights, at least 1.
    pub fn full_phase(&self, variant: &Variant) -> i32 {
        let array = variant.rules().array.iter().map(|&(_, unit, _)| self.phase_of(unit));
        let hands = variant.units().map(|unit| 2 * i32::from(variant.hand_size(unit)) * self.phase_of(unit));
        array.chain(hands).sum::<i32>().max(1)
    }

    /// Phase weight of a unit type.
    pub fn phase_of(&self, unit: Unit) -> i32 {
        self.units.get(unit.index()).map_or(0, |unit| unit.phase)
    }
}
