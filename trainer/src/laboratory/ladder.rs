//! The same experiment at several strengths, and whether values change with strength.

use super::experiment::ALPHA;
use crate::fit::change::{Change, ChangeOfValue, TwoValues};
use crate::fit::combination::{Combination, Estimates};
use crate::fit::dataset::Dataset;
use crate::fit::joint_critical;
use crate::fit::logistic::CovarianceKind;
use crate::fit::ratio::Interval;
use crate::fit::values::{Choice, PieceValues};
use fairyforge_engine::variant::Variant;
use serde::Serialize;

/// One strength.
#[derive(Clone, Debug, Serialize)]
pub struct Rung {
    /// Nodes a move.
    pub nodes: u64,
    /// The values.
    pub values: PieceValues,
}

/// How a unit's value changes with strength.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drift {
    /// The unit.
    pub unit: String,
    /// Change in pawns each time the nodes double, from the weakest rung to the strongest.
    pub pawns_per_doubling: f64,
    /// Its interval, which holds for all units together at 95 %.
    pub interval: Interval,
    /// Whether it is a drift: zero is not in the interval.
    pub is_clear: bool,
}

impl Rung {
    /// Measures the games of a rung.
    #[must_use]
    pub fn of(nodes: u64, dataset: &Dataset, variant: &Variant) -> Self {
        Self { nodes, values: PieceValues::measure(dataset, variant, Choice::Lot) }
    }

    fn estimates(&self) -> Option<Estimates> {
        self.values.fit.as_ref().map(|fit| Estimates::of_fit(fit, CovarianceKind::Clustered))
    }
}

/// The drift of every unit between the weakest and the strongest rung, where both tell. Rungs share no game, so the two values are
/// independent.
#[must_use]
pub fn drifts(rungs: &[Rung]) -> Vec<Drift> {
    let (Some(weakest), Some(strongest)) = (rungs.first(), rungs.last()) else { return Vec::new() };
    let doublings = (strongest.nodes as f64 / weakest.nodes as f64).log2();
    let (Some(weak), Some(strong), true) = (weakest.estimates(), strongest.estimates(), doublings > 0.0) else {
        return Vec::new();
    };
    let pawn = &weakest.values.pawn;
    let units = || weakest.values.rows.iter().filter(|row| row.in_array > 0 && &row.unit != pawn);
    let critical = joint_critical(ALPHA, units().count());
    let drift = |unit: &String| {
        let combination = Combination::unit(unit);
        let values = TwoValues::independent((&weak, &combination, pawn), (&strong, &combination, pawn)).ok()?;
        match values.change(Change::Difference, critical).ok()? {
            ChangeOfValue::Bounded { change, interval } => Some(Drift {
                unit: unit.clone(),
                pawns_per_doubling: change / doublings,
                interval: Interval::new(interval.low / doublings, interval.high / doublings),
                is_clear: interval.low > 0.0 || interval.high < 0.0,
            }),
            _ => None,
        }
    };
    units().filter_map(|row| drift(&row.unit)).collect()
}
