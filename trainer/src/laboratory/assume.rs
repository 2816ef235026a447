//! What an evaluation assumes units to be worth, and how measured values are put into it.
//!
//! Assumed is what the evaluation counted for a unit where the players took over, on average: value and bonus of its square,
//! middlegame and endgame by the phase of the position. In pawns it is divided by the same mean of the pawn. What is adopted moves
//! middlegame and endgame value by as many centipawns, so what the evaluation knows about stages and squares stays.

use crate::fit::dataset::Dataset;
use crate::fit::values::{PieceValues, ValueOutcome, pawn_of};
use crate::fit::weights::{MOST_WEIGHT, middlegame_share, owner_view};
use fairyforge_engine::evaluate::{Tapered, Weights};
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
    /// Whether the assumption lies in the interval; `None` where nothing was measured, or it does and the interval is too wide to tell.
    pub agrees: Option<bool>,
}

/// What weights assume of units in the positions of some games, in centipawns.
#[derive(Clone, Debug, PartialEq)]
pub struct Assumptions {
    /// By unit type, in the variant's order; `None` for units that never occurred.
    means: Vec<Option<f64>>,
    pawn: Unit,
}

impl Assumptions {
    /// The means over where the players took over in games whose sides the lot treated differently: there, values are measured.
    #[must_use]
    pub fn of(weights: &Weights, variant: &Variant, dataset: &Dataset) -> Self {
        let tapered = Tapered::new(variant, weights);
        let mut sums = vec![(0.0, 0u64); variant.units().len()];
        for position in dataset.games.iter().filter(|game| game.is_unbalanced()).map(|game| &game.start) {
            let share = middlegame_share(position, &tapered, weights);
            for &(piece, square) in &position.men {
                let numbers = &weights.units[piece.unit().index()];
                let seen = owner_view(variant.topology(), square, piece.colour());
                let (middlegame, endgame) = numbers.bonus(seen);
                let counted = share * f64::from(numbers.middlegame + middlegame)
                    + (1.0 - share) * f64::from(numbers.endgame + endgame);
                let (sum, men) = &mut sums[piece.unit().index()];
                *sum += counted;
                *men += 1;
            }
        }
        let mean = |(sum, men): (f64, u64)| (men > 0).then(|| sum / men as f64);
        Self { means: sums.into_iter().map(mean).collect(), pawn: pawn_of(variant, weights) }
    }

    /// In pawns; `None` if the unit or the pawn never occurred.
    #[must_use]
    pub fn in_pawns(&self, unit: Unit) -> Option<f64> {
        Some(self.means.get(unit.index()).copied()?? / self.pawn())
    }

    /// Centipawns of a pawn, at least 1.
    fn pawn(&self) -> f64 {
        self.means.get(self.pawn.index()).copied().flatten().unwrap_or(1.0).max(1.0)
    }
}

/// Whether every unit of the array agrees (`Some(true)`), one does not (`Some(false)`), or games are too few to tell.
#[must_use]
pub fn agreement(compared: &[Assumed], measured: &PieceValues) -> Option<bool> {
    let in_array = |unit: &&Assumed| measured.row(&unit.unit).is_some_and(|row| row.in_array > 0);
    let mut rows = compared.iter().filter(in_array).map(|unit| unit.agrees);
    if rows.clone().any(|agrees| agrees == Some(false)) {
        return Some(false);
    }
    rows.all(|agrees| agrees == Some(true)).then_some(true)
}

/// Assumed beside measured, in the order of the measured rows.
#[must_use]
pub fn compare(assumptions: &Assumptions, variant: &Variant, measured: &PieceValues) -> Vec<Assumed> {
    let compared = measured.rows.iter().filter_map(|row| {
        let assumed = assumptions.in_pawns(variant.unit_named(&row.unit)?)?;
        let agrees = match row.value {
            ValueOutcome::Bounded { interval, .. } if !interval.holds(assumed) => Some(false),
            ref measured => measured.is_telling().filter(|&is_telling| is_telling),
        };
        // The pawn is the measure; it agrees with itself whatever its value.
        let agrees = if row.unit == measured.pawn { Some(true) } else { agrees };
        Some(Assumed { unit: row.unit.clone(), assumed, measured: row.value.clone(), agrees })
    });
    compared.collect()
}

/// Weights that assume the nearest value in the measured interval, where the two disagree; all else stays. The nearest, because the value
/// itself may be far off in a round of few games, and an engine that believes it would play the next round with it.
#[must_use]
pub fn adopt(weights: &Weights, variant: &Variant, assumptions: &Assumptions, compared: &[Assumed]) -> Weights {
    let mut adopted = weights.clone();
    for row in compared.iter().filter(|row| row.agrees == Some(false)) {
        let ValueOutcome::Bounded { interval, .. } = row.measured else { continue };
        let Some(unit) = variant.unit_named(&row.unit) else { continue };
        let value = row.assumed.clamp(interval.low, interval.high);
        let shift = ((value - row.assumed) * assumptions.pawn()).round() as i32;
        let numbers = &mut adopted.units[unit.index()];
        numbers.middlegame = (numbers.middlegame + shift).clamp(LEAST_CENTIPAWNS, MOST_WEIGHT);
        numbers.endgame = (numbers.endgame + shift).clamp(LEAST_CENTIPAWNS, MOST_WEIGHT);
    }
    adopted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::dataset::{GameSample, QuietPosition};
    use crate::fit::logistic::Outcome;
    use crate::fit::ratio::Interval;
    use crate::fit::values::Choice;
    use fairyforge_engine::position::Position;
    use std::sync::Arc;

    /// A row in which a unit is assumed to be worth this and was measured to be worth that.
    fn row(unit: &str, assumed: f64, value: f64, half_width: f64) -> Assumed {
        let interval = Interval::new(value - half_width, value + half_width);
        let outcome = ValueOutcome::Bounded { value, interval, delta_error: half_width / 2.0 };
        let agrees = Some((interval.low..=interval.high).contains(&assumed));
        Assumed { unit: unit.to_owned(), assumed, measured: outcome, agrees }
    }

    /// One game, of which the array stands for all positions.
    fn array(variant: &Arc<Variant>) -> Dataset {
        let position = QuietPosition::new(0, &Position::start(variant));
        let game = GameSample {
            game: 0,
            cluster: 0,
            outcome: Outcome::Draw,
            plies: 1,
            from_array: true,
            by_lot: vec![1; variant.units().len()],
            start: position.clone(),
            earliest: Some(position.clone()),
            random: Some(position.clone()),
            spread: vec![position],
        };
        Dataset { games: vec![game], games_without_quiet: 0 }
    }

    #[test]
    fn assumed_is_what_the_evaluation_counts_where_the_men_stand() {
        let variant = Arc::new(Variant::load("chess").unwrap());
        let mut weights = Weights::a_priori(&variant);
        let rook = variant.unit_named("rook").unwrap();
        let numbers = &mut weights.units[rook.index()];
        numbers.middlegame = 500;
        numbers.middlegame_squares.fill(0);
        for (name, bonus) in [("a1", 30), ("h1", 10), ("d4", 900)] {
            numbers.middlegame_squares[variant.topology().parse(name).unwrap().index()] = bonus;
        }
        let assumptions = Assumptions::of(&weights, &variant, &array(&variant));
        // Black's rooks on a8 and h8 count as White's on a1 and h1; nobody stands on d4, and the array is all middlegame.
        assert!((assumptions.means[rook.index()].unwrap() - 520.0).abs() < 1e-9, "{assumptions:?}");
        assert_eq!(assumptions.in_pawns(assumptions.pawn), Some(1.0));
    }

    #[test]
    fn wide_intervals_agree_with_nothing() {
        let variant = Arc::new(Variant::load("chess").unwrap());
        let (weights, games) = (Weights::a_priori(&variant), array(&variant));
        let mut values = PieceValues::measure(&games, &variant, Choice::Lot);
        let assumptions = Assumptions::of(&weights, &variant, &games);
        let mut agrees = |shift: f64, half_width: f64| {
            for measured in &mut values.rows {
                let assumed = assumptions.in_pawns(variant.unit_named(&measured.unit).unwrap()).unwrap();
                measured.value = row(&measured.unit, assumed, assumed + shift, half_width).measured;
            }
            agreement(&compare(&assumptions, &variant, &values), &values)
        };
        assert_eq!(agrees(0.3, 0.4), Some(true));
        assert_eq!(agrees(0.3, 2.5), None, "assumed values lie in the intervals, as much else does");
        assert_eq!(agrees(0.5, 0.4), Some(false));
        assert_eq!(agrees(3.0, 2.5), Some(false), "outside is outside");
    }

    #[test]
    fn what_disagrees_is_adopted_and_the_rest_stays() {
        let variant = Arc::new(Variant::load("chess").unwrap());
        let (weights, games) = (Weights::a_priori(&variant), array(&variant));
        let assumed = |weights: &Weights, name: &str| {
            Assumptions::of(weights, &variant, &games).in_pawns(variant.unit_named(name).unwrap()).unwrap()
        };
        let [rook, queen] = ["rook", "queen"].map(|name| assumed(&weights, name));
        let compared = [row("rook", rook, rook + 1.0, 0.3), row("queen", queen, queen + 0.1, 0.5)];
        let adopted = adopt(&weights, &variant, &Assumptions::of(&weights, &variant, &games), &compared);
        assert!((assumed(&adopted, "rook") - rook - 0.7).abs() < 0.01);
        assert_eq!(assumed(&adopted, "queen"), queen);
        assert_eq!(assumed(&adopted, "pawn"), 1.0);
    }

    #[test]
    fn no_unit_becomes_a_burden() {
        let variant = Arc::new(Variant::load("chess").unwrap());
        let weights = Weights::a_priori(&variant);
        let assumptions = Assumptions::of(&weights, &variant, &array(&variant));
        let adopted = adopt(&weights, &variant, &assumptions, &[row("bishop", 3.0, -9.0, 0.3)]);
        let bishop = &adopted.units[variant.unit_named("bishop").unwrap().index()];
        assert_eq!((bishop.middlegame, bishop.endgame), (LEAST_CENTIPAWNS, LEAST_CENTIPAWNS));
    }
}
