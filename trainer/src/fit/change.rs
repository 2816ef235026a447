//! How much one value in pawns differs from another: the rook in the endgame against the rook in the middlegame.
//!
//! Two values are two ratios of coefficients, of one fit or of two. Their difference or quotient gets its interval by
//! inverting a test, as Fieller's interval does for one ratio: a change c is in the interval if *some* two ratios that
//! differ by c lie, together, within so many standard errors of what was fitted. For the ratios r₁ and r₂ that is the
//! squared distance
//!
//! Q(r₁, r₂) = (u, w)·S⁻¹·(u, w)ᵀ with u = n₁ − r₁·d₁, w = n₂ − r₂·d₂ and S their covariance,
//!
//! minimised over r₂ with r₁ = r₂ + c, or r₂·c. With r₂ known it is Fieller's interval. As there, it is bounded when both
//! pawns are clear of zero, for a quotient also the value divided by; otherwise nothing is said. The delta method,
//! which takes ratios and their logarithms to be normal, holds too little when a pawn is barely clear:
//! `trainer/tests/value_calibration.rs` measures both.
//!
//! Sources: Fieller (1954); the profile of a quadratic form as in Cox and Hinkley, "Theoretical Statistics" (1974), section 9.3.

use serde::{Deserialize, Serialize};

use super::combination::{Combination, Estimates, OverPawn};
use super::ratio::{CoefficientPair, Interval, PawnValue, RatioError};

/// Ratios tried between the edges of Fieller's interval before the best of them is refined.
const SCAN: usize = 32;
/// Golden sections: the best ratio is found to 1e-9 of the interval.
const SECTIONS: usize = 40;
/// Bisections for an edge: to 1e-15 of where it can be.
const BISECTIONS: usize = 50;
/// Two combinations are the same, up to a factor, when 1 − correlation² is less.
const LEAST_INDEPENDENCE: f64 = 1e-12;

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The second minus the first, in pawns.
    Difference,
    /// The second by the first.
    Quotient,
}

/// What can be said about a change.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ChangeOfValue {
    /// The change with its bounded interval.
    Bounded {
        /// In pawns, or a factor.
        change: f64,
        /// Its interval.
        interval: Interval,
    },
    /// One of the two pawns is not clearly above zero.
    PawnUndetermined {
        /// The interval of its coefficient, in logits.
        pawn: Interval,
    },
    /// The value to divide by is not clear of zero.
    ReferenceUndetermined {
        /// Its interval, in pawns.
        reference: Interval,
    },
    /// These columns could not be told from one of the terms.
    Entangled {
        /// Their names.
        with: Vec<String>,
    },
}

/// Two values in pawns, first the one that the second is compared with, and how their errors hang together.
#[derive(Debug, Clone, PartialEq)]
pub struct TwoValues {
    /// Numerators and denominators of the first and the second value.
    values: [CoefficientPair; 2],
    /// Covariance of the first value's numerator and denominator (rows) with the second's (columns).
    between: [[f64; 2]; 2],
    mixed_with: Vec<String>,
}

impl TwoValues {
    /// Two values of one fit; each is a combination and its pawn.
    ///
    /// # Errors
    /// [`RatioError`] when a name is not among the fitted terms, or a weight is no number.
    pub fn within(
        estimates: &Estimates,
        first: (&Combination, &str),
        second: (&Combination, &str),
    ) -> Result<Self, RatioError> {
        let over = [estimates.over_pawn(first.0, first.1)?, estimates.over_pawn(second.0, second.1)?];
        let [numerators, pawns] = [over.each_ref().map(whole_numerator), over.each_ref().map(|o| vec![(o.pawn, 1.0)])];
        let sides = [[&numerators[0], &pawns[0]], [&numerators[1], &pawns[1]]];
        let between = sides[0].map(|left| sides[1].map(|right| estimates.covariance_of(left, right)));
        Ok(Self {
            values: over.each_ref().map(|o| with_pawns(estimates.pair(o), o.pawns)),
            between,
            mixed_with: mixed(&over),
        })
    }

    /// Values of two fits that have no games in common.
    ///
    /// # Errors
    /// As [`Self::within`].
    pub fn independent(
        first: (&Estimates, &Combination, &str),
        second: (&Estimates, &Combination, &str),
    ) -> Result<Self, RatioError> {
        let of = |(estimates, combination, pawn): (&Estimates, &Combination, &str)| {
            let over = estimates.over_pawn(combination, pawn)?;
            Ok((with_pawns(estimates.pair(&over), over.pawns), over))
        };
        let [(one, over_one), (other, over_other)] = [of(first)?, of(second)?];
        Ok(Self { values: [one, other], between: [[0.0; 2]; 2], mixed_with: mixed(&[over_one, over_other]) })
    }

    /// The change from the first value to the second, with its interval at `critical` standard errors.
    ///
    /// # Errors
    /// [`RatioError::Critical`] when that is no positive number.
    pub fn change(&self, how: Change, critical: f64) -> Result<ChangeOfValue, RatioError> {
        if !(critical > 0.0 && critical.is_finite()) {
            return Err(RatioError::Critical { got: critical });
        }
        if !self.mixed_with.is_empty() {
            return Ok(ChangeOfValue::Entangled { with: self.mixed_with.clone() });
        }
        let mut ranges = [Interval::new(0.0, 0.0); 2];
        for (range, pair) in ranges.iter_mut().zip(&self.values) {
            match pair.ratio_at(critical) {
                PawnValue::Bounded { interval, .. } => *range = interval,
                PawnValue::PawnUndetermined { pawn } => return Ok(ChangeOfValue::PawnUndetermined { pawn }),
                PawnValue::Entangled { with } => return Ok(ChangeOfValue::Entangled { with }),
            }
        }
        if how == Change::Quotient && ranges[0].low <= 0.0 && ranges[0].high >= 0.0 {
            return Ok(ChangeOfValue::ReferenceUndetermined { reference: ranges[0] });
        }
        let profile = Profile { values: self, first: ranges[0], how };
        let change = how.of(self.values[0].point(), self.values[1].point());
        let farthest = how.farthest(ranges);
        let edge = |end| profile.edge(change, end, critical * critical);
        Ok(ChangeOfValue::Bounded { change, interval: Interval::new(edge(farthest.low), edge(farthest.high)) })
    }

    /// The squared distance, in standard errors, between what was fitted and two ratios.
    fn distance(&self, first: f64, second: f64) -> f64 {
        let [one, other] = &self.values;
        let [u, w] = [one.numerator - first * one.denominator, other.numerator - second * other.denominator];
        let [u_variance, w_variance] = [one.variance_at(first), other.variance_at(second)];
        let [of_numerator, of_denominator] = self.between;
        let covariance =
            of_numerator[0] - second * of_numerator[1] - first * (of_denominator[0] - second * of_denominator[1]);
        let determinant = u_variance * w_variance - covariance * covariance;
        if determinant > LEAST_INDEPENDENCE * u_variance * w_variance {
            return (u * u * w_variance - 2.0 * u * w * covariance + w * w * u_variance) / determinant;
        }
        // Two names for one quantity, or one without any error: the larger single distance is a lower bound.
        let alone = |gap: f64, variance: f64| if variance > 0.0 { gap * gap / variance } else { 0.0 };
        alone(u, u_variance).max(alone(w, w_variance))
    }
}

impl Change {
    fn of(self, first: f64, second: f64) -> f64 {
        match self {
            Self::Difference => second - first,
            Self::Quotient => second / first,
        }
    }

    /// The second value after a change of the first.
    fn applied(self, change: f64, first: f64) -> f64 {
        match self {
            Self::Difference => first + change,
            Self::Quotient => first * change,
        }
    }

    /// The changes between the corners of two intervals: nothing outside can be in the interval of the change.
    fn farthest(self, [first, second]: [Interval; 2]) -> Interval {
        let corners = [first.low, first.high].map(|f| [second.low, second.high].map(|s| self.of(f, s)));
        let all = corners.as_flattened();
        Interval::new(
            all.iter().copied().fold(f64::INFINITY, f64::min),
            all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        )
    }
}

/// The least distance as a function of the change alone.
struct Profile<'a> {
    values: &'a TwoValues,
    /// Fieller's interval of the first value: whatever lies outside is too far away already.
    first: Interval,
    how: Change,
}

impl Profile<'_> {
    /// The change farthest from `change`, where the distance is zero, towards `end`, with a distance of at most `most`.
    fn edge(&self, change: f64, end: f64, most: f64) -> f64 {
        let (mut inside, mut outside) = (change, end);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (inside + outside);
            if self.least_distance(middle) <= most { inside = middle } else { outside = middle }
        }
        inside
    }

    fn least_distance(&self, change: f64) -> f64 {
        let distance = |first: f64| self.values.distance(first, self.how.applied(change, first));
        let step = (self.first.high - self.first.low) / SCAN as f64;
        let at = |index: usize| self.first.low + step * index as f64;
        let best = (0..=SCAN).min_by(|&a, &b| distance(at(a)).total_cmp(&distance(at(b)))).unwrap_or(0);
        golden_section(distance, at(best) - step, at(best) + step)
    }
}

/// The least value of a function with one valley between two ends.
fn golden_section(function: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let share = 0.5 * (5f64.sqrt() - 1.0);
    let mut inner = [high - share * (high - low), low + share * (high - low)];
    let mut values = inner.map(&function);
    for _ in 0..SECTIONS {
        if values[0] < values[1] {
            high = inner[1];
            inner = [high - share * (high - low), inner[0]];
            values = [function(inner[0]), values[0]];
        } else {
            low = inner[0];
            inner = [inner[1], low + share * (high - low)];
            values = [values[1], function(inner[1])];
        }
    }
    values[0].min(values[1])
}

/// The units of a combination with the pawn among them.
fn whole_numerator(over: &OverPawn) -> Vec<(usize, f64)> {
    let mut terms = over.numerator.clone();
    terms.push((over.pawn, over.pawns));
    terms
}

/// The pair whose numerator contains `pawns` times its denominator too.
fn with_pawns(pair: CoefficientPair, pawns: f64) -> CoefficientPair {
    CoefficientPair {
        numerator: pair.numerator + pawns * pair.denominator,
        numerator_variance: pair.variance_at(-pawns),
        covariance: pair.covariance + pawns * pair.denominator_variance,
        ..pair
    }
}

fn mixed(over: &[OverPawn; 2]) -> Vec<String> {
    let mut names: Vec<String> = over.iter().flat_map(|one| one.mixed_with.iter().cloned()).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::NORMAL_97_5;

    fn pair(numerator: f64, denominator: f64, errors: [f64; 2]) -> CoefficientPair {
        CoefficientPair {
            numerator,
            denominator,
            numerator_variance: errors[0] * errors[0],
            denominator_variance: errors[1] * errors[1],
            covariance: 0.3 * errors[0] * errors[1],
        }
    }

    fn two(first: CoefficientPair, second: CoefficientPair) -> TwoValues {
        TwoValues { values: [first, second], between: [[0.0; 2]; 2], mixed_with: Vec::new() }
    }

    fn bounded(values: &TwoValues, how: Change) -> (f64, Interval) {
        match values.change(how, NORMAL_97_5).unwrap() {
            ChangeOfValue::Bounded { change, interval } => (change, interval),
            other => panic!("expected a bounded change, got {other:?}"),
        }
    }

    #[test]
    fn with_one_value_known_it_is_fiellers_interval() {
        let unknown = pair(0.9, 0.3, [0.05, 0.06]);
        let known = pair(4.0, 1.0, [1e-8, 1e-8]);
        let PawnValue::Bounded { interval: alone, .. } = unknown.ratio() else { panic!("expected bounded") };
        let (change, interval) = bounded(&two(known, unknown), Change::Difference);
        assert!((change + 1.0).abs() < 1e-12);
        assert!((interval.low - (alone.low - 4.0)).abs() < 1e-5 && (interval.high - (alone.high - 4.0)).abs() < 1e-5);
        let (_, interval) = bounded(&two(known, unknown), Change::Quotient);
        assert!((interval.low - alone.low / 4.0).abs() < 1e-5 && (interval.high - alone.high / 4.0).abs() < 1e-5);
    }

    #[test]
    fn small_errors_give_the_delta_interval() {
        let (first, second) = (pair(5.0, 1.0, [2e-3, 1e-3]), pair(6.0, 1.5, [2e-3, 2e-3]));
        let error = |p: &CoefficientPair| p.variance_at(p.point()).sqrt() / p.denominator;
        let (a, b) = (error(&first), error(&second));
        let (change, interval) = bounded(&two(first, second), Change::Difference);
        let half = NORMAL_97_5 * a.hypot(b);
        assert!((change + 1.0).abs() < 1e-12);
        assert!(
            (interval.high - change - half).abs() < 0.01 * half && (change - interval.low - half).abs() < 0.01 * half
        );
        let (factor, interval) = bounded(&two(first, second), Change::Quotient);
        let half = NORMAL_97_5 * (a / 5.0).hypot(b / 4.0);
        assert!((factor - 0.8).abs() < 1e-12);
        assert!(((interval.high / factor).ln() - half).abs() < 0.01 * half);
        assert!(((factor / interval.low).ln() - half).abs() < 0.01 * half);
    }

    #[test]
    fn errors_shared_by_both_values_cancel() {
        let (first, second) = (pair(1.5, 0.3, [0.06, 0.03]), pair(1.2, 0.3, [0.06, 0.03]));
        let alone = two(first, second);
        let covariance = 0.3 * 0.06 * 0.03;
        let between = [[0.06 * 0.06, covariance], [covariance, 0.03 * 0.03]].map(|row| row.map(|c| 0.9 * c));
        let together = TwoValues { between, ..alone.clone() };
        for how in [Change::Difference, Change::Quotient] {
            let [apart, together] = [&alone, &together].map(|values| bounded(values, how).1);
            assert!(together.high - together.low < 0.6 * (apart.high - apart.low), "{together:?} and {apart:?}");
        }
    }

    #[test]
    fn the_edges_are_as_far_away_as_was_asked_for() {
        let values = TwoValues {
            between: [[1e-4, 0.0], [2e-5, 1e-4]],
            ..two(pair(1.6, 0.3, [0.1, 0.07]), pair(1.2, 0.4, [0.1, 0.08]))
        };
        for how in [Change::Difference, Change::Quotient] {
            let (change, interval) = bounded(&values, how);
            assert!(interval.low < change && change < interval.high);
            for edge in [interval.low, interval.high] {
                // The least distance again, by looking everywhere.
                let tried = (0..400_000).map(|index| f64::from(index) * 1e-4);
                let least =
                    tried.map(|first| values.distance(first, how.applied(edge, first))).fold(f64::MAX, f64::min);
                assert!((least.sqrt() - NORMAL_97_5).abs() < 1e-4, "{how:?} {edge}: {}", least.sqrt());
            }
        }
    }

    #[test]
    fn nothing_is_said_about_unclear_pawns_and_references() {
        let clear = pair(1.5, 0.3, [0.05, 0.05]);
        let unclear = pair(1.5, 0.09, [0.05, 0.05]);
        for values in [two(clear, unclear), two(unclear, clear)] {
            let change = values.change(Change::Difference, NORMAL_97_5).unwrap();
            assert!(matches!(change, ChangeOfValue::PawnUndetermined { .. }), "{change:?}");
        }
        let nothing = pair(0.05, 0.3, [0.05, 0.05]);
        let change = two(nothing, clear).change(Change::Quotient, NORMAL_97_5).unwrap();
        assert!(matches!(change, ChangeOfValue::ReferenceUndetermined { .. }), "{change:?}");
        // As the second value it is fine, and so is a negative one to divide by.
        assert!(bounded(&two(clear, nothing), Change::Quotient).1.low < 0.0);
        let (factor, interval) = bounded(&two(pair(-1.5, 0.3, [0.05, 0.05]), clear), Change::Quotient);
        assert!((factor + 1.0).abs() < 1e-12 && interval.low < -1.0 && interval.high > -1.0);
        assert!(two(clear, clear).change(Change::Quotient, f64::NAN).is_err());
    }

    #[test]
    fn a_value_against_itself_has_not_changed() {
        let p = pair(1.5, 0.3, [0.05, 0.05]);
        let own = [[p.numerator_variance, p.covariance], [p.covariance, p.denominator_variance]];
        let (change, interval) = bounded(&TwoValues { between: own, ..two(p, p) }, Change::Difference);
        assert_eq!(change, 0.0);
        assert!(interval.low <= 0.0 && interval.high >= 0.0 && interval.high.is_finite());
    }
}
