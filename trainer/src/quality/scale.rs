//! The logistic curve through one half at score 0 that tells results by scores best: one number, found by Newton's method.
//!
//! With x the score, y the result (a draw is ½) and b the slope, the quasi-likelihood of y given σ(b·x) is concave in b. Its derivative
//! Σ x·(y − σ(b·x)) falls from one end to the other, so its zero is bracketed; where Newton steps out of the bracket, that is halved.

use crate::fit::sigmoid;
use serde::Serialize;
use std::fmt;

/// The slope at which the search for a bracket begins, per centipawn.
const FIRST_SLOPE: f64 = 1.0 / 1024.0;
/// Doublings of it. The least score is 1: from a slope of 64 on all is certain to the last bit.
const DOUBLINGS: i32 = 20;
/// Steps at most: Newton takes about six, halving alone sixty.
const STEPS: usize = 200;
/// A step that changes the slope by less than this fraction is rounding.
const PRECISION: f64 = 1e-13;

/// All positions with one score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    pub score: i16,
    pub positions: u64,
    /// Twice the sum of their results.
    pub half_points: u64,
}

/// A fitted curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slope {
    /// Logits a centipawn, above 0.
    pub by_centipawn: f64,
    /// The negative second derivative of the quasi-likelihood there.
    pub information: f64,
}

/// Why no scale can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoScale {
    /// There are no positions to tell it from.
    NoPositions,
    /// Better scores do not go with better results.
    NoRelation,
    /// Whoever had the better score won, without exception.
    Certain,
}

impl fmt::Display for NoScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoPositions => "there are no quiet positions",
            Self::NoRelation => "better scores do not go with better results",
            Self::Certain => "whoever had the better score won, without exception",
        })
    }
}

/// Fits the curve to levels with scores in any order.
pub(super) fn slope(levels: &[Level]) -> Result<Slope, NoScale> {
    if levels.is_empty() {
        return Err(NoScale::NoPositions);
    }
    if gradient(levels, 0.0) <= 0.0 {
        return Err(NoScale::NoRelation);
    }
    if levels.iter().all(is_certain) {
        return Err(NoScale::Certain);
    }
    let mut doublings = (0..DOUBLINGS).map(|power| FIRST_SLOPE * 2_f64.powi(power));
    let high = doublings.find(|&slope| gradient(levels, slope) <= 0.0).ok_or(NoScale::Certain)?;
    let by_centipawn = root(levels, high);
    Ok(Slope { by_centipawn, information: information(levels, by_centipawn) })
}

/// The zero of the gradient between 0 and `high`.
fn root(levels: &[Level], mut high: f64) -> f64 {
    let mut low = 0.0;
    let mut slope = f64::midpoint(low, high);
    for _ in 0..STEPS {
        let gradient = gradient(levels, slope);
        if gradient > 0.0 {
            low = slope;
        } else {
            high = slope;
        }
        let newton = slope + gradient / information(levels, slope);
        // Without information Newton's step is no number, and none is inside.
        let is_inside = newton >= low && newton <= high;
        let next = if is_inside { newton } else { f64::midpoint(low, high) };
        let step = (next - slope).abs();
        slope = next;
        if step <= PRECISION * slope {
            break;
        }
    }
    slope
}

fn gradient(levels: &[Level], slope: f64) -> f64 {
    let term = |level: &Level| {
        let score = f64::from(level.score);
        score * (level.half_points as f64 / 2.0 - level.positions as f64 * sigmoid(slope * score))
    };
    levels.iter().map(term).sum()
}

fn information(levels: &[Level], slope: f64) -> f64 {
    let term = |level: &Level| {
        let score = f64::from(level.score);
        level.positions as f64 * score * score * sigmoid(slope * score) * sigmoid(-slope * score)
    };
    levels.iter().map(term).sum()
}

/// Whether no slope is too steep for this level.
fn is_certain(level: &Level) -> bool {
    match level.score {
        1.. => level.half_points == 2 * level.positions,
        0 => true,
        _ => level.half_points == 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(score: i16, positions: u64, half_points: u64) -> Level {
        Level { score, positions, half_points }
    }

    #[test]
    fn one_score_has_the_slope_that_its_mean_result_asks_for() {
        // σ(b·x) is to be the mean result: three quarters at 100, so b = ln 3 / 100; the same seen from the other side.
        for levels in
            [&[level(100, 2, 3)][..], &[level(-100, 2, 1)], &[level(-100, 2, 1), level(0, 9, 4), level(100, 2, 3)]]
        {
            let slope = slope(levels).unwrap();
            assert!((slope.by_centipawn * 100.0 / 3_f64.ln() - 1.0).abs() < 1e-12, "{slope:?}");
            // Positions · x² · ¾ · ¼.
            let positions: u64 = levels.iter().filter(|level| level.score != 0).map(|level| level.positions).sum();
            assert!((slope.information / (positions as f64 * 1e4 * 3.0 / 16.0) - 1.0).abs() < 1e-9, "{slope:?}");
        }
    }

    #[test]
    fn the_root_is_found_wherever_it_is() {
        // From scores of 1 with a result near certain to scores of 20,000 with hardly any advantage.
        for (score, positions, half_points) in
            [(1, 1_000_000, 1_999_999), (20_000, 1_000_000, 1_000_001), (20_000, 1_000_000, 1_999_999), (1, 2, 3)]
        {
            let mean = half_points as f64 / (2.0 * positions as f64);
            let expected = (mean / (1.0 - mean)).ln() / f64::from(score);
            let slope = slope(&[level(score, positions, half_points)]).unwrap();
            assert!((slope.by_centipawn / expected - 1.0).abs() < 1e-8, "{slope:?} and {expected}");
        }
        // Scores far apart: the steep part is over long before the far level counts.
        let slope = slope(&[level(5, 100, 180), level(20_000, 100, 199), level(-20_000, 100, 0)]).unwrap();
        let at = |score| sigmoid(slope.by_centipawn * score);
        let gradient = 5.0 * (90.0 - 100.0 * at(5.0))
            + 20_000.0 * (99.5 - 100.0 * at(20_000.0))
            + 20_000.0 * 100.0 * at(-20_000.0);
        assert!(gradient.abs() < 1e-4, "{gradient}");
    }

    #[test]
    fn what_has_no_slope_says_why() {
        assert_eq!(slope(&[]), Err(NoScale::NoPositions));
        assert_eq!(slope(&[level(0, 5, 3)]), Err(NoScale::NoRelation));
        assert_eq!(slope(&[level(50, 2, 2), level(-50, 2, 2)]), Err(NoScale::NoRelation));
        assert_eq!(slope(&[level(50, 2, 1)]), Err(NoScale::NoRelation));
        assert_eq!(slope(&[level(50, 2, 4), level(0, 3, 3), level(-1, 1, 0)]), Err(NoScale::Certain));
        assert!(slope(&[level(50, 2, 4), level(-1, 2, 1)]).is_ok());
    }
}
