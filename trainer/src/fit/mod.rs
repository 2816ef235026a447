//! Fitting: what pieces are worth, and which evaluation weights explain results.
//!
//! The pipeline, from a folder of games to piece values and a weights file:
//!
//! - [`dataset`]: games read from records, with the quiet positions that stand for them.
//! - [`values`]: units in pawns, with intervals; [`claims`]: what they say about somebody's claim.
//! - [`splits`]: values by phase and by rank; [`first_move`]: the first move, and how long games last.
//! - [`weights`]: evaluation weights as the parameters of a tapered fit.
//! - [`run`]: all of it together.
//!
//! The mathematics, which reads no files, plays no games and never looks at the clock: rows go in, numbers come out.
//!
//! - [`linear`]: small dense symmetric matrices, Cholesky factors, independent columns.
//! - [`logistic`]: game results regressed on signed unit differences, with cluster-robust errors.
//! - [`combination`]: sums of units with weights, and the coefficients that give them a value.
//! - [`forecast`]: what a design will tell, before the first game.
//! - [`ratio`]: values in pawns with Fieller intervals, and verdicts on claims about them.
//! - [`change`]: how much one value in pawns differs from another.
//! - [`sequential`]: how wide intervals must be when a run may stop at any of several looks.
//! - [`tapered`]: Texel-style tuning of evaluation weights under a Gaussian prior.

pub mod change;
pub mod claims;
pub mod combination;
pub mod dataset;
pub mod first_move;
pub mod forecast;
pub mod linear;
pub mod logistic;
pub mod ratio;
pub mod run;
pub mod sequential;
pub mod splits;
pub mod tapered;
pub mod values;
pub mod weights;

pub use run::{FitError, FitReport, FitRequest, FitSettings, FitStage, fit_run};

/// The 97.5 % quantile of the standard normal distribution: the half-width, in standard errors, of every two-sided
/// 95 % interval in this crate.
pub const NORMAL_97_5: f64 = 1.959_963_984_540_054;

/// The critical value with which `count` two-sided intervals hold together with probability 1 − `alpha` at least
/// (Bonferroni).
#[must_use]
pub fn joint_critical(alpha: f64, count: usize) -> f64 {
    use statrs::distribution::{ContinuousCDF, Normal};
    -Normal::standard().inverse_cdf(alpha / (2.0 * count.max(1) as f64))
}

/// The logistic function σ(x) = 1/(1+e^(−x)), computed without overflow for any finite `x`.
#[must_use]
pub fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        let e = x.exp();
        e / (1.0 + e)
    }
}

/// ln σ(x) in nats, finite for any finite `x`.
#[must_use]
pub fn ln_sigmoid(x: f64) -> f64 {
    if x >= 0.0 { -(-x).exp().ln_1p() } else { x - x.exp().ln_1p() }
}

/// The cross-entropy, in nats, of an expected score σ(`logit`) against a result in \[0, 1\].
#[must_use]
pub fn score_log_loss(logit: f64, result: f64) -> f64 {
    // A zero factor must not meet an infinite logarithm, so each half is left out when its weight is zero.
    let won = if result > 0.0 { result * ln_sigmoid(logit) } else { 0.0 };
    let lost = if result < 1.0 { (1.0 - result) * ln_sigmoid(-logit) } else { 0.0 };
    -(won + lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logistic_function_survives_extremes() {
        assert_eq!(sigmoid(0.0), 0.5);
        assert_eq!(sigmoid(800.0), 1.0);
        assert!(sigmoid(-700.0) > 0.0);
        assert_eq!(ln_sigmoid(-800.0), -800.0);
        assert!((ln_sigmoid(1.5) - sigmoid(1.5).ln()).abs() < 1e-15);
    }

    #[test]
    fn a_certain_and_right_prediction_costs_nothing() {
        assert_eq!(score_log_loss(f64::MAX, 1.0), 0.0);
        assert_eq!(score_log_loss(f64::MIN, 0.0), 0.0);
        assert!((score_log_loss(0.0, 0.5) - std::f64::consts::LN_2).abs() < 1e-15);
    }
}
