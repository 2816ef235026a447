//! The Elo difference after a sequential test, without the bias that stopping on a lucky streak gives the plain one.
//!
//! An Elo difference is judged by the probability that a test of it would have ended worse than the one observed (see
//! [`super::brownian`]). The median-unbiased estimate makes that one half; the edges of the 95 % interval make it 97.5
//! and 2.5 %. This is what Fishtest reports.

use serde::Serialize;

use super::brownian::{Brownian, normal};
use super::likelihood::{Sample, bisect};
use super::{Bounds, NORMALIZED_ELO_UNIT, score};

/// Estimates are sought from minus this to plus this.
pub const ELO_LIMIT: f64 = 1000.0;
/// The search begins this many distances of the hypotheses around their middle, and doubles it.
const FIRST_REACH: f64 = 30.0;
/// The search begins at least so far around their middle, in Elo.
const LEAST_REACH: f64 = 1.0;
/// What a ratio may be beyond its bound, as a part of it, before that is worth telling.
const CLAMPING_TOLD: f64 = 1.03;

/// An Elo difference from a sequential test. Everything is finite; Elo is logistic and cut to ±[`ELO_LIMIT`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SequentialEstimate {
    /// The median-unbiased estimate: as likely too high as too low.
    pub elo: f64,
    /// The edges of its 95 % interval.
    pub elo_ci: [f64; 2],
    /// The estimate as normalized Elo, with the deviation that was seen.
    pub nelo: f64,
    /// The probability of a worse outcome were both players equally strong, 0 to 1.
    pub los: f64,
    /// The ratio was well beyond a bound: the test went on after it should have stopped, and is treated as if it had
    /// stopped when its average course crossed the bound.
    pub clamped: bool,
}

/// What of a test the estimate needs.
pub struct Course<const K: usize> {
    /// The results.
    pub sample: Sample<K>,
    /// The two expected scores; under the normalized model they need not lie between 0 and 1.
    pub scores: [f64; 2],
    /// Their difference, exact where they are nearly equal.
    pub difference: f64,
    /// Where the test stops.
    pub bounds: Bounds,
    /// The hypotheses, in Elo of whatever model: where to begin looking.
    pub elo: [f64; 2],
}

impl<const K: usize> Course<K> {
    /// The estimate.
    pub fn estimate(&self) -> SequentialEstimate {
        let stop = self.stop();
        let worse = |elo| self.probability_of_worse(elo, &stop);
        let elo = self.median(|elo| worse(elo) > 0.5);
        let reach = self.first_reach();
        let low = -crossing(-elo, reach, |mirrored| worse(-mirrored) < 0.975);
        let high = crossing(elo, reach, |elo| worse(elo) > 0.025);
        let (_, variance) = self.sample.moments();
        let deviation = (Sample::<K>::games() * variance).sqrt();
        SequentialEstimate {
            elo,
            elo_ci: [low, high],
            nelo: (score(elo).points - 0.5) / deviation * NORMALIZED_ELO_UNIT,
            los: worse(0.0),
            clamped: stop.clamped,
        }
    }

    /// The test on its average course: from 0 to the ratio in a straight line, as far as the bound.
    fn stop(&self) -> Stop {
        let (points, variance) = self.sample.moments();
        let slope = self.difference * (points - self.middle()) / variance;
        let Bounds { lower, upper } = self.bounds;
        let ratio = self.sample.size * slope;
        let clamped = ratio > CLAMPING_TOLD * upper || ratio < CLAMPING_TOLD * lower;
        let height = ratio.clamp(lower, upper);
        let time = if height == ratio { self.sample.size } else { height / slope };
        Stop { time, height, clamped }
    }

    fn middle(&self) -> f64 {
        0.5 * (self.scores[0] + self.scores[1])
    }

    /// The probability of an outcome worse than the observed one at an Elo difference; falls as that rises.
    fn probability_of_worse(&self, elo: f64, stop: &Stop) -> f64 {
        let points = score(elo).points;
        let (seen, variance) = self.sample.moments();
        let motion = Brownian {
            lower: self.bounds.lower,
            upper: self.bounds.upper,
            drift: self.difference * (points - self.middle()) / variance,
            variance: self.difference * self.difference / variance,
        };
        if motion.variance * stop.time > 0.0 {
            return motion.probability_of_worse(stop.time, stop.height);
        }
        // Hypotheses that cannot be told apart: the bounds are out of reach, and this is a fixed number of games.
        normal((seen - points) * (self.sample.size / variance).sqrt())
    }

    fn first_reach(&self) -> f64 {
        (FIRST_REACH * (self.elo[1] - self.elo[0])).max(LEAST_REACH)
    }

    /// Where a claim that is true of low Elo differences stops being true, or the limit beyond which that is.
    fn median(&self, holds: impl Fn(f64) -> bool) -> f64 {
        let middle = 0.5 * (self.elo[0] + self.elo[1]);
        let mut reach = self.first_reach();
        loop {
            let (low, high) = ((middle - reach).max(-ELO_LIMIT), (middle + reach).min(ELO_LIMIT));
            if low < high && holds(low) && !holds(high) {
                return bisect(low, high, holds);
            }
            if low <= -ELO_LIMIT && high >= ELO_LIMIT {
                return if holds(low) { ELO_LIMIT } else { -ELO_LIMIT };
            }
            reach *= 2.0;
        }
    }
}

/// Where a claim stops being true on the way up from `from`, or the limit; `from` itself if it is not true there.
fn crossing(from: f64, first_reach: f64, holds: impl Fn(f64) -> bool) -> f64 {
    if !holds(from) {
        return from;
    }
    let (mut low, mut reach) = (from, first_reach);
    while low < ELO_LIMIT {
        let high = (from + reach).min(ELO_LIMIT);
        if !holds(high) {
            return bisect(low, high, holds);
        }
        low = high;
        reach *= 2.0;
    }
    ELO_LIMIT
}

/// When and where a test stopped, or stands.
struct Stop {
    /// Observations.
    time: f64,
    /// The ratio.
    height: f64,
    clamped: bool,
}
