//! The same experiment at several strengths, and whether values change with strength.

use crate::fit::dataset::Dataset;
use crate::fit::joint_critical;
use crate::fit::values::{Choice, PieceValues, ValueOutcome};
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
    /// Change in pawns each time the nodes double.
    pub pawns_per_doubling: f64,
    /// Its standard error.
    pub error: f64,
    /// Whether it is a drift by an interval that holds for all units together, at 95 %.
    pub is_clear: bool,
}

impl Rung {
    /// Measures the games of a rung.
    #[must_use]
    pub fn of(nodes: u64, dataset: &Dataset, variant: &Variant) -> Self {
        Self { nodes, values: PieceValues::measure(dataset, variant, Choice::Start) }
    }

    fn value(&self, unit: &str) -> Option<(f64, f64)> {
        match self.values.row(unit)?.value {
            ValueOutcome::Bounded { value, delta_error, .. } if delta_error > 0.0 => Some((value, delta_error)),
            _ => None,
        }
    }
}

/// The drift of every unit that was measured on two rungs or more: the slope of its values on the binary logarithm of the nodes, each
/// value weighted by its standard error.
#[must_use]
pub fn drifts(rungs: &[Rung]) -> Vec<Drift> {
    let Some(first) = rungs.first() else { return Vec::new() };
    let slopes: Vec<(String, Slope)> = first
        .values
        .rows
        .iter()
        .filter_map(|row| {
            let points = rungs.iter().filter_map(|rung| {
                let (value, error) = rung.value(&row.unit)?;
                Some(Point { at: (rung.nodes as f64).log2(), value, error })
            });
            Some((row.unit.clone(), Slope::through(&points.collect::<Vec<_>>())?))
        })
        .collect();
    let critical = joint_critical(super::experiment::ALPHA, slopes.len().max(1));
    let drift = |(unit, slope): (String, Slope)| Drift {
        unit,
        pawns_per_doubling: slope.slope,
        error: slope.error,
        is_clear: slope.slope.abs() > critical * slope.error,
    };
    slopes.into_iter().map(drift).collect()
}

struct Point {
    at: f64,
    value: f64,
    error: f64,
}

struct Slope {
    slope: f64,
    error: f64,
}

impl Slope {
    /// Weighted least squares with known errors; `None` if all points lie at one place.
    fn through(points: &[Point]) -> Option<Self> {
        let weight = |point: &Point| point.error.powi(-2);
        let all: f64 = points.iter().map(weight).sum();
        let middle = points.iter().map(|point| weight(point) * point.at).sum::<f64>() / all;
        let spread: f64 = points.iter().map(|point| weight(point) * (point.at - middle).powi(2)).sum();
        let slope = points.iter().map(|point| weight(point) * (point.at - middle) * point.value).sum::<f64>() / spread;
        (points.len() > 1 && spread > 0.0).then(|| Self { slope, error: spread.sqrt().recip() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_through_points_and_its_error() {
        let point = |at, value| Point { at, value, error: 0.1 };
        let slope = Slope::through(&[point(6.0, 3.0), point(8.0, 3.4), point(10.0, 3.8)]).unwrap();
        assert!((slope.slope - 0.2).abs() < 1e-12);
        // Σ(x − 8)²/0.01 = 800, and the error is the root of its inverse.
        assert!((slope.error - 800f64.sqrt().recip()).abs() < 1e-12);
        assert!(Slope::through(&[point(6.0, 3.0)]).is_none());
        assert!(Slope::through(&[point(6.0, 3.0), point(6.0, 4.0)]).is_none());
    }
}
