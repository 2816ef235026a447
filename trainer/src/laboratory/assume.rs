//! What an evaluation assumes units to be worth, and how measured values are put into it.
//!
//! Assumed is the mean of middlegame and endgame value, each with its mean bonus over the board's squares, in pawns of the same kind:
//! the games of an experiment run from nearly full boards to nearly empty ones. A measured value moves both stages by
//! as many centipawns, so what the evaluation knows about stages and squares stays.

use crate::fit::values::{PieceValues, ValueOutcome, pawn_of};
use fairyforge_engine::evaluate::Weights;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::Unit;
use serde::Serialize;

/// A value never falls below this, in centipawns: no unit is a burden to its owner.
const LEAST_CENTIPAWNS: i32 = 10;

/// What was assumed of a unit beside what was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assumed {
    /// Name of the unit.
    pub unit: String,
    /// What the weights assume, in pawns.
    pub assumed: f64,
    /// What was measured, with its interval.
    pub measured: ValueOutcome,
    /// Whether the assumption lies in the interval; `None` where nothing was measured.
    pub agrees: Option<bool>,
}

/// What these weights assume of every unit but the royal one, in the order of the measured rows.
#[must_use]
pub fn compare(weights: &Weights, variant: &Variant, measured: &PieceValues) -> Vec<Assumed> {
    let compared = measured.rows.iter().filter_map(|row| {
        let unit = variant.unit_named(&row.unit)?;
        let assumed = in_pawns(weights, variant, unit);
        let agrees = match row.value {
            ValueOutcome::Bounded { interval, .. } => Some((interval.low..=interval.high).contains(&assumed)),
            _ => None,
        };
        // The pawn is the measure; it agrees with itself whatever its value.
        let agrees = if row.unit == measured.pawn { Some(true) } else { agrees };
        Some(Assumed { unit: row.unit.clone(), assumed, measured: row.value.clone(), agrees })
    });
    compared.collect()
}

/// Weights that assume what was measured, where the two disagree; all else stays.
#[must_use]
pub fn adopt(weights: &Weights, variant: &Variant, compared: &[Assumed]) -> Weights {
    let pawn = centipawns(weights, variant, pawn_of(variant, weights));
    let mut adopted = weights.clone();
    for row in compared.iter().filter(|row| row.agrees == Some(false)) {
        let (Some(unit), Some(value)) = (variant.unit_named(&row.unit), row.measured.pawns()) else { continue };
        let shift = ((value - row.assumed) * pawn).round() as i32;
        let numbers = &mut adopted.units[unit.index()];
        numbers.middlegame = (numbers.middlegame + shift).max(LEAST_CENTIPAWNS);
        numbers.endgame = (numbers.endgame + shift).max(LEAST_CENTIPAWNS);
    }
    adopted
}

/// What the weights assume of a unit, in pawns.
#[must_use]
pub fn in_pawns(weights: &Weights, variant: &Variant, unit: Unit) -> f64 {
    centipawns(weights, variant, unit) / centipawns(weights, variant, pawn_of(variant, weights)).max(1.0)
}

fn centipawns(weights: &Weights, variant: &Variant, unit: Unit) -> f64 {
    let numbers = &weights.units[unit.index()];
    let squares = variant.topology().squares();
    let bonuses = squares.iter().map(|square| numbers.bonus(square)).map(|(middle, end)| f64::from(middle + end));
    let mean_bonus = bonuses.sum::<f64>() / f64::from(squares.len().max(1));
    (f64::from(numbers.middlegame + numbers.endgame) + mean_bonus) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::ratio::Interval;

    fn measured(unit: &str, assumed: f64, value: f64, half_width: f64) -> Assumed {
        let interval = Interval::new(value - half_width, value + half_width);
        let outcome = ValueOutcome::Bounded { value, interval, delta_error: half_width / 2.0 };
        let agrees = Some((interval.low..=interval.high).contains(&assumed));
        Assumed { unit: unit.to_owned(), assumed, measured: outcome, agrees }
    }

    #[test]
    fn what_disagrees_is_adopted_and_the_rest_stays() {
        let variant = Variant::load("chess").unwrap();
        let weights = Weights::a_priori(&variant);
        let assumed = |weights: &Weights, name| in_pawns(weights, &variant, variant.unit_named(name).unwrap());
        let [rook, queen] = ["rook", "queen"].map(|name| assumed(&weights, name));
        let compared = [measured("rook", rook, rook + 1.0, 0.3), measured("queen", queen, queen + 0.1, 0.5)];
        let adopted = adopt(&weights, &variant, &compared);
        assert!((assumed(&adopted, "rook") - rook - 1.0).abs() < 0.01);
        assert_eq!(assumed(&adopted, "queen"), queen);
        assert_eq!(assumed(&adopted, "pawn"), 1.0);
    }

    #[test]
    fn no_unit_becomes_a_burden() {
        let variant = Variant::load("chess").unwrap();
        let weights = Weights::a_priori(&variant);
        let adopted = adopt(&weights, &variant, &[measured("bishop", 3.0, -9.0, 0.3)]);
        let bishop = &adopted.units[variant.unit_named("bishop").unwrap().index()];
        assert_eq!((bishop.middlegame, bishop.endgame), (LEAST_CENTIPAWNS, LEAST_CENTIPAWNS));
    }
}
