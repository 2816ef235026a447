//! The mathematics of fitting: what pieces are worth, and which evaluation weights explain results.
//!
//! - [`linear`]: small dense symmetric matrices, Cholesky factors, independent columns.
//! - [`logistic`]: game results regressed on signed unit differences, with cluster-robust errors.
//! - [`ratio`]: values in pawns with Fieller intervals, and verdicts on claims about them.
//! - [`tapered`]: Texel-style tuning of evaluation weights under a Gaussian prior.
//!
//! Nothing here reads files, plays games or uses the clock: rows go in, numbers come out.

pub mod linear;
pub mod logistic;
pub mod ratio;
pub mod tapered;

/// The 97.5 % quantile of the standard normal distribution: the half-width, in standard errors, of every two-sided
/// 95 % interval in this crate.
pub const NORMAL_97_5: f64 = 1.959_963_984_540_054;

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
