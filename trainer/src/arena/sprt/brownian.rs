//! Brownian motion with drift between two absorbing barriers: how likely is an outcome worse than the one observed?
//!
//! The log-likelihood ratio of a sequential test behaves like such a motion (Van den Bergh, "The GSPRT approximation").
//! Outcomes are ordered from worst to best: absorbed below, the sooner the worse; still between the barriers, by height;
//! absorbed above, the later the worse (Siegmund, "Sequential Analysis", 1985, chapter III).
//!
//! Two exact series, each where it converges within a few terms: images of the start in the barriers while the motion
//! has spread less than their distance, eigenfunctions once it has spread more.

use std::f64::consts::PI;

use statrs::function::erf::erfc;

/// Terms of either series on each side; at the changeover the fifth is below 1e-17.
const TERMS: i32 = 4;
/// Above this argument a factor e^x and Φ can be multiplied as they are.
const NEAR_TAIL: f64 = -5.0;
/// Below this argument erfc underflows and its asymptotic series is exact.
const FAR_TAIL: f64 = -30.0;

/// A motion that starts at height 0.
#[derive(Debug, Clone, Copy)]
pub struct Brownian {
    /// The lower barrier, below 0.
    pub lower: f64,
    /// The upper barrier, above 0.
    pub upper: f64,
    /// Mean rise a unit of time.
    pub drift: f64,
    /// Variance a unit of time, above 0.
    pub variance: f64,
}

impl Brownian {
    /// The probability of an outcome worse than to be at `height` after `time`: 0 to 1.
    ///
    /// At the lower barrier that is absorption there before `time`, at the upper one everything but absorption there
    /// before `time`.
    pub fn probability_of_worse(&self, time: f64, height: f64) -> f64 {
        let spread = (self.variance * time).sqrt();
        let probability = if spread < self.upper - self.lower {
            Images { motion: self, mean: self.drift * time, spread }.probability(height)
        } else {
            self.by_eigenfunctions(time, height)
        };
        probability.clamp(0.0, 1.0)
    }

    /// Drift in variances: e^(2·tilt·height) is a martingale's slope.
    fn tilt(&self) -> f64 {
        self.drift / self.variance
    }

    /// The probability of absorption below, in the long run.
    fn absorbed_below(&self) -> f64 {
        let tilt = self.tilt();
        if tilt < 0.0 {
            let mirrored = Self { lower: -self.upper, upper: -self.lower, drift: -self.drift, ..*self };
            return 1.0 - mirrored.absorbed_below();
        }
        let width = self.upper - self.lower;
        let part = match (-2.0 * tilt * width).exp_m1() {
            0.0 => self.upper / width,
            whole => (-2.0 * tilt * self.upper).exp_m1() / whole,
        };
        (2.0 * tilt * self.lower).exp() * part
    }

    /// The absorption in the long run, corrected by what has not happened after `time`.
    fn by_eigenfunctions(&self, time: f64, height: f64) -> f64 {
        let (tilt, width) = (self.tilt(), self.upper - self.lower);
        let correction = (1..=TERMS).map(|term| {
            let wave = f64::from(term) * PI / width;
            let decay = 0.5 * self.variance * time * (wave * wave + tilt * tilt);
            let (sine, cosine) = (wave * (height - self.lower)).sin_cos();
            let shape = (tilt * sine - wave * cosine) / (wave * wave + tilt * tilt);
            (-wave * self.lower).sin() * shape * (tilt * height - decay).exp()
        });
        self.absorbed_below() + 2.0 / width * correction.sum::<f64>()
    }
}

/// The motion as a sum of free ones that start at the images of 0.
struct Images<'a> {
    motion: &'a Brownian,
    /// Mean of the free motion.
    mean: f64,
    /// Its standard deviation.
    spread: f64,
}

impl Images<'_> {
    fn probability(&self, height: f64) -> f64 {
        let width = self.motion.upper - self.motion.lower;
        let shifts = (-TERMS..=TERMS).map(|image| 2.0 * f64::from(image) * width);
        shifts.map(|shift| self.absorbed(shift) + self.between(shift, height)).sum()
    }

    /// What an image adds to the probability of absorption below, by integrating its flux over time.
    fn absorbed(&self, shift: f64) -> f64 {
        let Brownian { lower, .. } = *self.motion;
        let (tilt, distance) = (self.motion.tilt(), (shift - lower).abs());
        let density = self.log_density(lower, shift);
        let direct = self.weighted_tail(tilt * (lower - distance), self.mean - distance, density);
        let reflected = self.weighted_tail(tilt * (lower + distance), -self.mean - distance, density);
        (shift - lower).signum() * (direct + reflected)
    }

    /// What an image and its mirror image in the lower barrier add to the probability of being between it and `height`.
    fn between(&self, shift: f64, height: f64) -> f64 {
        self.weight_between(height, shift) - self.weight_between(height, shift + 2.0 * self.motion.lower)
    }

    /// The weight of the motion from an image times its probability of being above the lower barrier and below `height`.
    fn weight_between(&self, height: f64, image: f64) -> f64 {
        let weight = self.motion.tilt() * image;
        // Of the two tails that could be subtracted, the small ones.
        let side = if self.motion.lower - image - self.mean > 0.0 { -1.0 } else { 1.0 };
        let tail =
            |level: f64| self.weighted_tail(weight, side * (level - image - self.mean), self.log_density(level, image));
        side * (tail(height) - tail(self.motion.lower))
    }

    /// The logarithm of e^(tilt·image) times a motion's density at `level`, without factors that do not depend on them:
    /// the square completed, so that nothing large is subtracted from something large.
    fn log_density(&self, level: f64, image: f64) -> f64 {
        let away = (level - self.mean) / self.spread;
        image / self.spread * ((2.0 * level - image) / self.spread) / 2.0 - 0.5 * away * away
    }

    /// e^`exponent`·Φ(z) with z = `distance`/spread, where `density` is `exponent` − z²/2.
    fn weighted_tail(&self, exponent: f64, distance: f64, density: f64) -> f64 {
        let z = distance / self.spread;
        if z > NEAR_TAIL { exponent.exp() * normal(z) } else { (density + ln_mills(z)).exp() }
    }
}

/// Φ(z), the standard normal distribution function.
pub fn normal(z: f64) -> f64 {
    0.5 * erfc(-z / std::f64::consts::SQRT_2)
}

/// ln(Φ(z)·e^(z²/2)), for z below 0.
fn ln_mills(z: f64) -> f64 {
    if z > FAR_TAIL {
        return normal(z).ln() + 0.5 * z * z;
    }
    let square = 1.0 / (z * z);
    let series = 1.0 - square * (1.0 - 3.0 * square * (1.0 - 5.0 * square));
    series.ln() - (-z * (2.0 * PI).sqrt()).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: f64 = 2.944_438_979_166_44;

    fn motion(drift: f64, variance: f64) -> Brownian {
        Brownian { lower: -BOUND, upper: BOUND, drift, variance }
    }

    #[test]
    fn both_series_agree_where_they_meet() {
        for drift in [-20.0, -3.0, -0.4, 0.0, 1e-9, 0.4, 3.0, 20.0] {
            for height in [-BOUND, -1.0, 0.3, BOUND] {
                let motion = motion(drift, 30.0);
                for time in [0.9, 1.0, 1.15] {
                    let spread = (motion.variance * time).sqrt();
                    let images = Images { motion: &motion, mean: drift * time, spread }.probability(height);
                    let waves = motion.by_eigenfunctions(time, height);
                    assert!((images - waves).abs() < 1e-9, "{drift}, {height}, {time}: {images} and {waves}");
                }
            }
        }
    }

    #[test]
    fn in_the_long_run_it_is_absorbed_as_wald_says() {
        // With a drift of half the variance e^(−height) is a martingale, so a test with errors of 5 % makes them.
        let accepted = 1.0 - motion(0.5, 1.0).probability_of_worse(1e6, 0.0);
        assert!((accepted - 0.95).abs() < 1e-9, "{accepted}");
        let rejected = motion(-0.5, 1.0).probability_of_worse(1e6, 0.0);
        assert!((rejected - 0.95).abs() < 1e-9, "{rejected}");
        assert!((motion(0.0, 1.0).probability_of_worse(1e6, 0.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_mirrored_motion_has_the_mirrored_probability() {
        for (drift, time, height) in [(0.3, 1.0, 0.5), (-2.0, 4.0, -1.0), (0.01, 300.0, 2.0), (8.0, 0.1, 1.0)] {
            let worse = motion(drift, 1.0).probability_of_worse(time, height);
            let mirrored = motion(-drift, 1.0).probability_of_worse(time, -height);
            assert!((worse + mirrored - 1.0).abs() < 1e-12, "{drift}, {time}, {height}: {worse} + {mirrored}");
        }
    }

    #[test]
    fn far_from_the_barriers_it_is_normal() {
        let got = motion(1.0, 1.0).probability_of_worse(0.01, 0.05);
        assert!((got - normal(0.4)).abs() < 1e-12);
        assert!((ln_mills(-29.9999) - ln_mills(-30.0001)).abs() < 1e-5, "the two ways to the tail meet");
        // ln Φ(−30), from tables.
        assert!((ln_mills(-30.0) - 450.0 - (-454.321_243_956_343_1)).abs() < 1e-9, "{}", ln_mills(-30.0));
    }

    #[test]
    fn nothing_extreme_is_a_nan_or_leaves_the_range() {
        for drift in [-1e12, -1e3, -1.0, 0.0, 1e-300, 1.0, 1e3, 1e12] {
            for variance in [1e-12, 1e-3, 1.0, 1e3, 1e12] {
                for time in [1e-9, 1.0, 1e9] {
                    for height in [-BOUND, 0.0, BOUND] {
                        let got = motion(drift, variance).probability_of_worse(time, height);
                        assert!((0.0..=1.0).contains(&got), "{drift}, {variance}, {time}, {height}: {got}");
                    }
                }
            }
        }
    }
}
