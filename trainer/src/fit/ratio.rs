//! Values in pawns, with intervals that stay honest when the pawn is unclear, and verdicts on claims.
//!
//! A value is the ratio bᵢ/b_P of two coefficients of a [`LogisticFit`], or of a [`Combination`] of several to one. Its
//! interval is Fieller's: the set of ratios r for which bᵢ − r·b_P lies within so many standard errors of zero, 1.96 for a
//! 95 % interval, more for one that must hold at several looks ([`super::sequential`]). That set is a bounded
//! interval exactly when the pawn's own interval excludes zero; otherwise no ratio is given at all. The delta method is
//! offered only as a standard error to compare with published ones.
//!
//! Sources: Fieller, "Some problems in interval estimation", JRSS B 16 (1954).

use serde::Serialize;
use thiserror::Error;

use super::NORMAL_97_5;
pub use super::combination::Combination;
use super::combination::Estimates;
use super::logistic::{CovarianceKind, LogisticFit};

/// A closed interval. The edges of a claim may be infinite; those of an estimate are finite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Lower edge.
    pub low: f64,
    /// Upper edge, at least `low`.
    pub high: f64,
}

/// What can be said about a piece's value in pawns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum PawnValue {
    /// The ratio with its bounded interval.
    Bounded {
        /// bᵢ/b_P, in pawns.
        value: f64,
        /// Fieller's interval, in pawns.
        interval: Interval,
        /// The delta method's standard error, in pawns: for comparison only.
        delta_error: f64,
    },
    /// The pawn's coefficient is not clearly above zero, so no ratio means anything.
    PawnUndetermined {
        /// The interval of the pawn's coefficient, in logits.
        pawn: Interval,
    },
    /// The piece's (or the pawn's) coefficient also contains the effect of columns that could not be told apart.
    Entangled {
        /// The columns left out of the fit whose effect is mixed in.
        with: Vec<String>,
    },
}

/// Why a ratio was not even attempted.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum RatioError {
    /// The name is not among the fitted terms.
    #[error("expected one of the fitted terms [{fitted}], got \"{name}\"")]
    UnknownTerm {
        /// The name asked for.
        name: String,
        /// The fitted terms, separated by commas.
        fitted: String,
    },
    /// The column was left out of the fit.
    #[error(
        "expected a column that the rows determine, got \"{name}\", which is {}",
        if mixed_with.is_empty() { "zero in all rows".to_owned() } else { format!("mixed with {}", mixed_with.join(", ")) }
    )]
    Undetermined {
        /// The name asked for.
        name: String,
        /// The fitted terms it is a combination of; none if it is zero.
        mixed_with: Vec<String>,
    },
    /// A combination of nothing.
    #[error("expected a combination of at least one unit, got none")]
    NoUnits,
    /// A weight is no number.
    #[error("unit \"{name}\": expected a finite weight, got {got}")]
    Weight {
        /// The unit.
        name: String,
        /// Its weight.
        got: f64,
    },
    /// The critical value is no positive number.
    #[error("expected a positive critical value in standard errors, got {got}")]
    Critical {
        /// The value given.
        got: f64,
    },
}

/// The judgement on "the value lies in this range".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// The 95 % interval lies inside the range.
    Supported,
    /// The 95 % interval lies wholly outside.
    Refuted,
    /// Neither.
    Undecided {
        /// The total number of games, those played included, that would decide it if the estimate stayed where it
        /// is and both arms of the interval shrank with 1/√games; `None` when the estimate lies on an edge.
        games_to_decide: Option<u64>,
    },
}

/// An estimate with its 95 % interval and the games it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    /// The point estimate, inside the interval.
    pub value: f64,
    /// The 95 % interval.
    pub interval: Interval,
    /// Number of games.
    pub games: u64,
}

/// Two coefficients, numerator first, and their joint covariance: what a ratio is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoefficientPair {
    /// The numerator's coefficient, in logits.
    pub numerator: f64,
    /// The denominator's coefficient, in logits.
    pub denominator: f64,
    /// Variance of the numerator.
    pub numerator_variance: f64,
    /// Variance of the denominator.
    pub denominator_variance: f64,
    /// Covariance of the two.
    pub covariance: f64,
}

impl Interval {
    /// The interval from `low` to `high`, exchanged if given in the wrong order.
    #[must_use]
    pub fn new(low: f64, high: f64) -> Self {
        Self { low: low.min(high), high: low.max(high) }
    }

    /// Whether every point of `inner` lies in this interval.
    #[must_use]
    pub fn contains(&self, inner: &Self) -> bool {
        self.low <= inner.low && inner.high <= self.high
    }

    /// Whether the point lies in this interval.
    #[must_use]
    pub fn holds(&self, point: f64) -> bool {
        (self.low..=self.high).contains(&point)
    }

    /// Whether the two intervals share no point.
    #[must_use]
    pub fn is_disjoint_from(&self, other: &Self) -> bool {
        self.high < other.low || other.high < self.low
    }
}

impl CoefficientPair {
    /// The ratio with Fieller's 95 % interval, or the reason why there is none.
    #[must_use]
    pub fn ratio(&self) -> PawnValue {
        self.ratio_at(NORMAL_97_5)
    }

    /// The ratio with Fieller's interval at `critical` standard errors (positive), or the reason why there is none.
    #[must_use]
    pub fn ratio_at(&self, critical: f64) -> PawnValue {
        let spread = critical * self.denominator_variance.sqrt();
        if self.denominator - spread <= 0.0 {
            return PawnValue::PawnUndetermined {
                pawn: Interval::new(self.denominator - spread, self.denominator + spread),
            };
        }
        PawnValue::Bounded { value: self.point(), interval: self.fieller(critical), delta_error: self.delta_error() }
    }

    /// The ratio itself.
    pub(super) fn point(&self) -> f64 {
        self.numerator / self.denominator
    }

    /// Var(b − r·a) at the ratio r.
    pub(super) fn variance_at(&self, ratio: f64) -> f64 {
        let variance =
            self.numerator_variance - 2.0 * ratio * self.covariance + ratio * ratio * self.denominator_variance;
        variance.max(0.0)
    }

    /// The roots of (b − r·a)² = z²·Var(b − r·a) in r; real, because r = b/a satisfies "≤" and the leading
    /// coefficient a² − z²·Var(a) is positive once the denominator is clear of zero.
    fn fieller(&self, critical: f64) -> Interval {
        let z2 = critical * critical;
        let leading = self.denominator * self.denominator - z2 * self.denominator_variance;
        let middle = self.numerator * self.denominator - z2 * self.covariance;
        let last = self.numerator * self.numerator - z2 * self.numerator_variance;
        let root = (middle * middle - leading * last).max(0.0).sqrt();
        Interval::new((middle - root) / leading, (middle + root) / leading)
    }

    /// √Var(b/a) to first order.
    fn delta_error(&self) -> f64 {
        self.variance_at(self.point()).sqrt() / self.denominator
    }
}

impl PawnValue {
    /// Half the length of the interval, if there is one.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        match self {
            Self::Bounded { interval, .. } => Some(0.5 * (interval.high - interval.low)),
            _ => None,
        }
    }

    /// This value and so many pawns more: exactly known, so the interval moves and stays as long.
    #[must_use]
    pub fn plus(self, pawns: f64) -> Self {
        match self {
            Self::Bounded { value, interval, delta_error } => {
                let interval = Interval::new(interval.low + pawns, interval.high + pawns);
                Self::Bounded { value: value + pawns, interval, delta_error }
            }
            unmeasured => unmeasured,
        }
    }
}

/// The value of `piece` in units of `pawn` with its 95 % interval, by the covariance asked for (claims use the clustered
/// one).
///
/// # Errors
/// [`RatioError::UnknownTerm`] when either name is not among the fitted terms, [`RatioError::Undetermined`] when the
/// fit had to leave it out.
pub fn value_in_pawns(
    fit: &LogisticFit,
    piece: &str,
    pawn: &str,
    kind: CovarianceKind,
) -> Result<PawnValue, RatioError> {
    combination_in_pawns(fit, &Combination::unit(piece), pawn, kind, NORMAL_97_5)
}

/// The value of a combination in units of `pawn`, with Fieller's interval at `critical` standard errors. Who asks a fit for
/// many combinations asks its [`Estimates`].
///
/// # Errors
/// As [`Estimates::in_pawns`].
pub fn combination_in_pawns(
    fit: &LogisticFit,
    combination: &Combination,
    pawn: &str,
    kind: CovarianceKind,
    critical: f64,
) -> Result<PawnValue, RatioError> {
    Estimates::of_fit(fit, kind).in_pawns(combination, pawn, critical)
}

/// The values of all fitted terms in units of `pawn`, in order; the first entry is the first move.
///
/// # Errors
/// [`RatioError::UnknownTerm`] when the pawn is not among the fitted terms.
pub fn values_in_pawns(
    fit: &LogisticFit,
    pawn: &str,
    kind: CovarianceKind,
) -> Result<Vec<(String, PawnValue)>, RatioError> {
    let valued = |name: &String| Ok((name.clone(), value_in_pawns(fit, name, pawn, kind)?));
    fit.terms.iter().map(|term| valued(&term.name)).collect()
}

/// Judges the claim that the measured quantity lies in `claimed`.
#[must_use]
pub fn verdict(claimed: Interval, measured: &Measured) -> Verdict {
    if claimed.contains(&measured.interval) {
        Verdict::Supported
    } else if claimed.is_disjoint_from(&measured.interval) {
        Verdict::Refuted
    } else {
        Verdict::Undecided { games_to_decide: games_to_decide(claimed, measured) }
    }
}

/// Estimates of games needed end here.
pub(super) const MOST_GAMES: f64 = 1e9;

/// The factor by which the interval's arms must shrink, turned into games.
fn games_to_decide(claimed: Interval, measured: &Measured) -> Option<u64> {
    let value = measured.value;
    let lower_arm = value - measured.interval.low;
    let upper_arm = measured.interval.high - value;
    let shrink = if value < claimed.low {
        (claimed.low - value) / upper_arm
    } else if value > claimed.high {
        (value - claimed.high) / lower_arm
    } else {
        ((value - claimed.low) / lower_arm).min((claimed.high - value) / upper_arm)
    };
    let games = (measured.games as f64 / (shrink * shrink)).ceil();
    // With more than anybody will play, the honest answer is the same as on the edge.
    (shrink > 0.0 && games < MOST_GAMES).then_some(games as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(numerator: f64, denominator: f64, errors: [f64; 2], correlation: f64) -> CoefficientPair {
        CoefficientPair {
            numerator,
            denominator,
            numerator_variance: errors[0] * errors[0],
            denominator_variance: errors[1] * errors[1],
            covariance: correlation * errors[0] * errors[1],
        }
    }

    fn measured(value: f64, low: f64, high: f64) -> Measured {
        Measured { value, interval: Interval::new(low, high), games: 1000 }
    }

    #[test]
    fn the_edges_of_fieller_are_where_the_difference_is_just_significant() {
        let p = pair(0.9, 0.3, [0.05, 0.06], 0.4);
        let PawnValue::Bounded { value, interval, .. } = p.ratio() else {
            panic!("expected a bounded interval");
        };
        assert!(interval.low < value && value < interval.high);
        for r in [interval.low, interval.high] {
            let variance = p.numerator_variance - 2.0 * r * p.covariance + r * r * p.denominator_variance;
            let z = ((p.numerator - r * p.denominator) / variance.sqrt()).abs();
            assert!((z - NORMAL_97_5).abs() < 1e-9, "z at the edge {r} is {z}");
        }
        // The interval is longer upwards, which the delta method cannot say.
        assert!(interval.high - value > 1.2 * (value - interval.low));
    }

    #[test]
    fn a_clear_pawn_gives_nearly_the_delta_interval() {
        let PawnValue::Bounded { value, interval, delta_error } = pair(3.0, 1.0, [1e-3, 1e-3], 0.1).ratio() else {
            panic!("expected a bounded interval");
        };
        // They differ to second order: by z²·Var(a)·r/a², some 1e-5 pawn here.
        assert!((interval.high - value - NORMAL_97_5 * delta_error).abs() < 0.01 * delta_error);
    }

    #[test]
    fn an_unclear_or_negative_pawn_gives_no_ratio() {
        for pawn in [0.09, 0.0, -0.5] {
            let value = pair(0.9, pawn, [0.05, 0.05], 0.0).ratio();
            assert!(matches!(value, PawnValue::PawnUndetermined { .. }), "pawn {pawn}: {value:?}");
        }
    }

    #[test]
    fn verdicts_follow_the_interval() {
        let claim = Interval::new(2.75, 3.25);
        assert_eq!(verdict(claim, &measured(3.0, 2.9, 3.1)), Verdict::Supported);
        assert_eq!(verdict(claim, &measured(3.6, 3.4, 3.8)), Verdict::Refuted);
        assert_eq!(verdict(claim, &measured(2.0, 1.5, 2.5)), Verdict::Refuted);
    }

    #[test]
    fn an_undecided_claim_says_how_many_games_would_decide_it() {
        let claim = Interval::new(2.75, 3.25);
        let needed = |m| match verdict(claim, &m) {
            Verdict::Undecided { games_to_decide } => games_to_decide,
            decided => panic!("expected undecided, got {decided:?}"),
        };
        // Inside: the arm of 0.5 must halve, so four times the games.
        assert_eq!(needed(measured(3.0, 2.5, 3.5)), Some(4000));
        // Outside: the lower arm of 0.5 must shrink to 0.25.
        assert_eq!(needed(measured(3.5, 3.0, 4.0)), Some(4000));
        assert_eq!(needed(measured(2.5, 2.0, 3.0)), Some(4000));
        assert_eq!(needed(measured(3.25, 3.0, 3.5)), None);
        let open = Interval::new(2.75, f64::INFINITY);
        let half_open = verdict(open, &measured(3.0, 2.5, 3.5));
        assert_eq!(half_open, Verdict::Undecided { games_to_decide: Some(4000) });
    }
}
