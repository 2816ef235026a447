//! Simultaneous perturbation stochastic approximation, as Fishtest defines it: how far a parameter is tried out to both
//! sides, and how far it moves with a result. Pure mathematics of one parameter; no randomness, no games, no files.
//!
//! A run counts **pairs** of games, not batches of them: after a batch of b pairs the counter k has grown by b, so a
//! plan may play many pairs between two moves without changing its schedule. With N pairs in all,
//!
//! ```text
//! A = ⌊N/10⌋   c = c_end·N^γ    a_end = r_end·c_end²    a = a_end·(A+N)^α
//! c_k = c/k^γ                   R_k = a/(A+k)^α/c_k²     (k from 1; at k = N they are c_end and r_end)
//! tried: clip(θ + c_k·flip) against clip(θ − c_k·flip)
//! θ ← clip(θ + R_k·c_k·(wins − losses)·flip)
//! ```
//!
//! Sources: Spall, "Implementation of the simultaneous perturbation algorithm" (1998), for the shape of the schedule;
//! Fishtest for the parameters c_end and r_end. [`super::tuner`] does this for all parameters at once.

use serde::{Deserialize, Serialize};

/// Least c of a whole-numbered parameter: below it, both sides would mostly play the same number.
pub const LEAST_WHOLE_C: f64 = 0.5;

/// How the gains of a run fall: the same for all its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Pairs of games in the whole run: N.
    pub pairs: u64,
    /// Exponent of the step: α.
    pub alpha: f64,
    /// Exponent of the perturbation: γ.
    pub gamma: f64,
    /// A as a part of N, rounded down; it keeps the first steps small.
    pub a_ratio: f64,
}

impl Schedule {
    /// Spall's exponents, and a tenth.
    pub const ALPHA: f64 = 0.602;
    /// See [`Self::ALPHA`].
    pub const GAMMA: f64 = 0.101;
    /// See [`Self::ALPHA`].
    pub const A_RATIO: f64 = 0.1;

    /// The usual schedule for so many pairs.
    #[must_use]
    pub const fn usual(pairs: u64) -> Self {
        Self { pairs, alpha: Self::ALPHA, gamma: Self::GAMMA, a_ratio: Self::A_RATIO }
    }

    /// What is added to k in the step: A, a whole number.
    #[must_use]
    pub fn offset(&self) -> f64 {
        (self.a_ratio * self.pairs as f64).floor()
    }
}

/// What values a parameter has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Whole numbers: what is played is rounded by lot, and c is at least [`LEAST_WHOLE_C`].
    #[default]
    Whole,
    /// Any numbers.
    Real,
}

/// One parameter of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Where it starts.
    pub start: f64,
    /// Its least value.
    pub min: f64,
    /// Its greatest value.
    pub max: f64,
    /// How far it is tried out to both sides at the end of the run.
    pub c_end: f64,
    /// The step at the end of the run, in parts of c_end for a result of 1.
    pub r_end: f64,
    /// What values it has.
    pub kind: Kind,
}

/// What follows from a setting and a schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// The perturbation at k = 1.
    pub c: f64,
    /// The step's numerator at the end.
    pub a_end: f64,
    /// The step's numerator.
    pub a: f64,
    /// What is added to k in the step: A.
    pub offset: f64,
    schedule: Schedule,
    least_c: f64,
}

/// The gains at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// How far the parameter is tried out to both sides: c_k.
    pub c: f64,
    /// The step in parts of c for a result of 1: R_k.
    pub r: f64,
}

impl Setting {
    /// A value brought inside the bounds.
    #[must_use]
    pub fn clipped(&self, value: f64) -> f64 {
        value.min(self.max).max(self.min)
    }

    /// The values that the two players would have, before any rounding: that with the plus sign first.
    #[must_use]
    pub fn tried(&self, theta: f64, c: f64, flip: f64) -> [f64; 2] {
        [self.clipped(theta + c * flip), self.clipped(theta - c * flip)]
    }

    /// Where the parameter is after a batch with so many wins more than losses of the player with the plus sign.
    #[must_use]
    pub fn moved(&self, theta: f64, gain: Gain, result: f64, flip: f64) -> f64 {
        self.clipped(theta + gain.step(result, flip))
    }

    /// Whether a bound cuts a side of the trial off.
    #[must_use]
    pub fn cuts_off(&self, theta: f64, c: f64) -> bool {
        theta + c > self.max || theta - c < self.min
    }

    /// Whether a value is as far as the parameter may go.
    #[must_use]
    pub fn is_bound(&self, value: f64) -> bool {
        value <= self.min || value >= self.max
    }
}

impl Gain {
    /// How far a result moves a parameter that has no bounds.
    #[must_use]
    pub fn step(&self, result: f64, flip: f64) -> f64 {
        self.r * self.c * result * flip
    }
}

impl Gains {
    /// The gains of a parameter.
    #[must_use]
    pub fn new(setting: &Setting, schedule: &Schedule) -> Self {
        let all = schedule.pairs as f64;
        let offset = schedule.offset();
        let a_end = setting.r_end * setting.c_end * setting.c_end;
        Self {
            c: setting.c_end * all.powf(schedule.gamma),
            a_end,
            a: a_end * (offset + all).powf(schedule.alpha),
            offset,
            schedule: *schedule,
            least_c: if setting.kind == Kind::Whole { LEAST_WHOLE_C } else { 0.0 },
        }
    }

    /// The gains of the batch before which so many pairs have been played.
    #[must_use]
    pub fn after(&self, pairs: u64) -> Gain {
        let k = pairs as f64 + 1.0;
        let c = (self.c / k.powf(self.schedule.gamma)).max(self.least_c);
        Gain { c, r: self.a / (self.offset + k).powf(self.schedule.alpha) / (c * c) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(kind: Kind) -> Setting {
        Setting { start: 5.0, min: 0.0, max: 10.0, c_end: 0.2, r_end: 0.002, kind }
    }

    #[test]
    fn the_schedule_ends_at_the_ends_asked_for() {
        for pairs in [1, 2, 7, 1_000, 123_456] {
            let setting = setting(Kind::Real);
            let last = Gains::new(&setting, &Schedule::usual(pairs)).after(pairs - 1);
            assert!((last.c - setting.c_end).abs() < 1e-12 && (last.r - setting.r_end).abs() < 1e-12, "{last:?}");
        }
    }

    #[test]
    fn the_offset_is_whole() {
        for (pairs, offset) in [(9, 0.0), (10, 1.0), (12_345, 1_234.0), (60_000, 6_000.0)] {
            assert_eq!(Gains::new(&setting(Kind::Real), &Schedule::usual(pairs)).offset, offset, "{pairs}");
        }
    }

    #[test]
    fn whole_numbers_are_tried_half_apart_at_least() {
        let schedule = Schedule::usual(10_000);
        let [whole, real] = [Kind::Whole, Kind::Real].map(|kind| Gains::new(&setting(kind), &schedule));
        // At first c is above the floor, and both are alike.
        assert!(real.after(0).c > LEAST_WHOLE_C);
        assert_eq!(whole.after(0), real.after(0));
        let last = whole.after(9_999);
        assert!((last.c - LEAST_WHOLE_C).abs() < 1e-15);
        // The numerator a/(A+k)^α does not change with the floor: R·c² is the same for both.
        let numerator = real.after(9_999).r * real.after(9_999).c.powi(2);
        assert!((last.r * last.c * last.c - numerator).abs() < 1e-15);
    }

    #[test]
    fn nothing_leaves_the_bounds() {
        let setting = setting(Kind::Real);
        assert_eq!(setting.tried(9.5, 2.0, 1.0), [10.0, 7.5]);
        assert_eq!(setting.tried(9.5, 2.0, -1.0), [7.5, 10.0]);
        assert_eq!(setting.tried(5.0, 20.0, 1.0), [10.0, 0.0]);
        assert!(setting.cuts_off(9.5, 2.0) && setting.cuts_off(0.5, 2.0) && !setting.cuts_off(5.0, 5.0));
        let gain = Gain { c: 1.0, r: 0.5 };
        assert_eq!(setting.moved(9.5, gain, 4.0, 1.0), 10.0);
        assert_eq!(setting.moved(9.5, gain, 4.0, -1.0), 7.5);
        assert_eq!(setting.moved(0.5, gain, -4.0, 1.0), 0.0);
        assert!(setting.is_bound(0.0) && setting.is_bound(10.0) && !setting.is_bound(9.999));
    }
}
