//! What a plan's games will tell, before the first is played: from the openings that its design makes, and guesses.

use super::experiment::ALPHA;
use super::plan::Plan;
use crate::fit::combination::Combination;
use crate::fit::dataset::by_lot;
use crate::fit::forecast::{Forecast, ForecastError, Guess};
use crate::fit::logistic::{Design, LogisticError, Outcome, Row};
use crate::fit::ratio::{PawnValue, RatioError};
use crate::fit::sequential::SequentialError;
use crate::fit::values::pawn_of;
use crate::progress::Progress;
use crate::selfplay::openings::{Opening, OpeningMaker};
use crate::table::Table;
use fairyforge_engine::evaluate::Weights;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::{Colour, Unit};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Pairs of openings that stand for a design: its information is known to a few percent.
const SAMPLE_PAIRS: u64 = 2000;
/// A design is refused if less than this share of the unbalanced openings it asks for is found.
const LEAST_FOUND: f64 = 0.5;
/// The half-width in pawns that games are counted for.
const HALF_WIDTH: f64 = 0.25;

/// A forecast, unit by unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DesignForecast {
    /// Most games of the reference.
    pub games: u64,
    /// How well the design tells units apart: 1 is perfect.
    pub condition_number: f64,
    /// What is to be expected of each unit.
    pub units: Vec<UnitForecast>,
    /// Units that the design never takes away, because the array has none.
    pub not_in_array: Vec<String>,
}

/// What is to be expected of a unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnitForecast {
    /// Its name.
    pub unit: String,
    /// The value assumed, in pawns.
    pub assumed: f64,
    /// Half-width of its interval after all games, in pawns; `None` for the pawn, and if the pawn will not be clear.
    pub half_width: Option<f64>,
    /// Games for a half-width of a quarter of a pawn.
    pub games_for_quarter: Option<u64>,
}

/// Why a plan is refused before its first game.
#[derive(Debug, thiserror::Error)]
pub enum RefusedDesign {
    /// Units that no number of games would tell apart.
    #[error("the design cannot measure {unit}: {reason}")]
    Undetermined {
        /// The unit.
        unit: String,
        /// Why not.
        reason: String,
    },
    /// Hardly any opening is what was asked for.
    #[error(
        "the design cannot be had: expected {:.0} % of the openings with units taken away, got {:.0} %; fewer plies of play, fewer units or \
         a wider window would help",
        100.0 * wanted,
        100.0 * found
    )]
    FewFound {
        /// Share that was found.
        found: f64,
        /// Share that was asked for.
        wanted: f64,
    },
    /// Somebody asked for it.
    #[error("stopped on request")]
    Stopped,
    /// The guesses make no sense.
    #[error(transparent)]
    Forecast(#[from] ForecastError),
    /// There is nothing to regress on.
    #[error(transparent)]
    Design(#[from] LogisticError),
    /// A value cannot be formed.
    #[error(transparent)]
    Ratio(#[from] RatioError),
    /// The looks make no sense.
    #[error(transparent)]
    Looks(#[from] SequentialError),
}

/// Forecasts a plan whose games are played with these weights.
///
/// # Errors
/// The design cannot tell a unit of the array, or one that the plan names, from others.
pub fn forecast(
    plan: &Plan,
    variant: &Arc<Variant>,
    weights: &Weights,
    stop: &AtomicBool,
) -> Result<DesignForecast, RefusedDesign> {
    let all = || variant.units().filter(|&unit| unit != variant.royal());
    let name = |unit: Unit| variant.unit(unit).name.clone();
    let in_array = |unit: &Unit| Colour::BOTH.iter().any(|&colour| variant.array_count(colour, *unit) > 0);
    let (units, absent): (Vec<Unit>, Vec<Unit>) = all().partition(in_array);
    if let Some(&unit) = absent.iter().find(|&&unit| plan.reference.units.is_some() && plan.matters(&name(unit))) {
        return Err(RefusedDesign::Undetermined { unit: name(unit), reason: "the array has none".to_owned() });
    }
    let values: Vec<f64> = units.iter().map(|&unit| assumed(plan, variant, weights, unit)).collect();
    let design = sample(plan, variant, &units, stop)?;
    let forecast = Forecast::new(&design, &assumptions(plan, &values))?;
    if let Some(column) = forecast.undetermined.first() {
        let reason = if column.mixed_with.is_empty() {
            "no start ever takes it away from one side alone".to_owned()
        } else {
            format!("it is always taken away together with {}", column.mixed_with.join(", "))
        };
        return Err(RefusedDesign::Undetermined { unit: column.column.clone(), reason });
    }
    let pawn = name(pawn_of(variant, &Weights::a_priori(variant)));
    let looks = plan.reference.critical_values(ALPHA)?;
    let critical = looks.last().copied().unwrap_or(crate::fit::NORMAL_97_5);
    let games = plan.reference.games_at(plan.reference.looks);
    let after = forecast.after(games)?;
    let of_unit = |(&unit, &assumed): (&Unit, &f64)| -> Result<UnitForecast, RefusedDesign> {
        let (unit, combination) = (name(unit), Combination::unit(&name(unit)));
        if unit == pawn {
            return Ok(UnitForecast { unit, assumed: 1.0, half_width: None, games_for_quarter: None });
        }
        let half_width = match after.in_pawns(&combination, &pawn, critical)? {
            PawnValue::Bounded { interval, .. } => Some((interval.high - interval.low) / 2.0),
            PawnValue::PawnUndetermined { .. } | PawnValue::Entangled { .. } => None,
        };
        let games_for_quarter = forecast.games_for(&combination, &pawn, HALF_WIDTH, critical)?;
        Ok(UnitForecast { unit, assumed, half_width, games_for_quarter })
    };
    let units = units.iter().zip(&values).map(of_unit).collect::<Result<_, _>>()?;
    let not_in_array = absent.into_iter().map(name).collect();
    Ok(DesignForecast { games, condition_number: forecast.condition_number, units, not_in_array })
}

fn assumed(plan: &Plan, variant: &Variant, weights: &Weights, unit: Unit) -> f64 {
    let guess = plan.forecast.values.get(&variant.unit(unit).name);
    let values = weights.exchange_values();
    let pawn = values[pawn_of(variant, weights).index()].max(1);
    guess.copied().unwrap_or_else(|| f64::from(values[unit.index()]) / f64::from(pawn))
}

fn assumptions(plan: &Plan, values: &[f64]) -> Guess {
    Guess {
        first_move: 0.0,
        coefficients: values.iter().map(|value| plan.forecast.pawn * value).collect(),
        draw_half_width: plan.forecast.draw_half_width,
        pair_correlation: 0.0,
    }
}

/// The starts of a sample of pairs; results are not looked at, so any will do.
fn sample(plan: &Plan, variant: &Arc<Variant>, units: &[Unit], stop: &AtomicBool) -> Result<Design, RefusedDesign> {
    let maker = OpeningMaker::new(variant, &plan.design);
    let progress = Progress::new(&format!("forecast, {}", variant.name()), "pairs of openings", SAMPLE_PAIRS);
    let openings = (0..SAMPLE_PAIRS).into_par_iter().map(|pair| {
        let openings = (!stop.load(Ordering::Relaxed)).then(|| maker.pair(plan.seed, pair))?;
        progress.game(0);
        Some((pair, openings))
    });
    let openings: Vec<(u64, [Opening; 2])> = openings.while_some().collect();
    progress.finish();
    if stop.load(Ordering::Relaxed) {
        return Err(RefusedDesign::Stopped);
    }
    let unbalanced = openings.iter().filter(|(_, [one, _])| !one.imbalance.is_empty()).count() as f64;
    let (found, wanted) = (unbalanced / openings.len().max(1) as f64, plan.design.imbalance.share);
    if found < LEAST_FOUND * wanted {
        return Err(RefusedDesign::FewFound { found, wanted });
    }
    let rows = openings.into_iter().flat_map(|(pair, both)| both.map(|opening| (pair, opening)));
    let rows = rows.map(|(cluster, opening)| {
        let more = by_lot(&opening.imbalance, variant).expect("openings say what the lot took");
        let differences = units.iter().map(|unit| f64::from(more[unit.index()])).collect();
        Row { outcome: Outcome::Draw, differences, cluster }
    });
    let names = units.iter().map(|&unit| variant.unit(unit).name.clone()).collect();
    Ok(Design::new(names, rows.collect())?)
}

impl DesignForecast {
    /// The forecast as a table.
    pub(crate) fn table(&self) -> Table {
        let mut table = Table::new(&["unit", "assumed", "half-width", "games for ± 0.25"]);
        for unit in &self.units {
            let half_width = unit.half_width.map_or_else(|| "–".to_owned(), |width| format!("{width:.2}"));
            let games = unit.games_for_quarter.map_or_else(|| "–".to_owned(), |games| games.to_string());
            table.row([unit.unit.clone(), format!("{:.2}", unit.assumed), half_width, games]);
        }
        table
    }
}
