//! All parameters of a run at once: what an iteration plays and where its result leads. A function of settings, seed,
//! number of the iteration and results; the same iteration is made the same again, which is how journals are replayed.
//!
//! **Rounding by lot.** A whole-numbered parameter at x plays floor(x + U), U uniform on \[0, 1): the mean of what is
//! played is x, so no value is favoured. Fishtest draws U for each player; here one U serves both sides of an iteration
//! (each parameter has its own). The mean of either side is the same as before, so what the results say on average about
//! the direction is the same too, and the sides differ by 2c on average. But the difference itself now takes only the
//! two whole numbers around 2c. With two independent draws and c = ½ the sides would often play the same number and the
//! games would be for nothing, or lie two apart; with one, they differ by exactly 1.

use super::spsa::{Gain, Gains, Kind, Schedule, Setting};
use crate::checksum;
use crate::selfplay::seeds::Dice;

/// 2⁻⁵³: every multiple of it in \[0, 1) is a double.
const FINEST: f64 = 1.0 / (1_u64 << 53) as f64;

/// The mathematics of a whole run.
#[derive(Clone, Debug)]
pub struct Tuner {
    settings: Vec<Setting>,
    gains: Vec<Gains>,
    schedule: Schedule,
    pairs_per_iteration: u64,
    seed: u64,
}

/// What decides a run beside its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Course {
    /// How often parameters move.
    pub iterations: u64,
    /// Pairs of games between two moves.
    pub pairs_per_iteration: u64,
    /// Seed of flips and rounding.
    pub seed: u64,
    /// Exponent of the step.
    pub alpha: f64,
    /// Exponent of the perturbation.
    pub gamma: f64,
    /// A as a part of all pairs.
    pub a_ratio: f64,
}

impl Course {
    /// A course with the usual exponents.
    #[must_use]
    pub const fn usual(iterations: u64, pairs_per_iteration: u64, seed: u64) -> Self {
        let Schedule { alpha, gamma, a_ratio, .. } = Schedule::usual(0);
        Self { iterations, pairs_per_iteration, seed, alpha, gamma, a_ratio }
    }
}

/// What an iteration tries out.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// By parameter: 1 if the plus player has the higher value, −1 if the lower one.
    pub flips: Vec<i8>,
    /// What the plus player plays with.
    pub plus: Vec<f64>,
    /// What the minus player plays with.
    pub minus: Vec<f64>,
}

impl Tuner {
    /// The run of these parameters.
    #[must_use]
    pub fn new(settings: Vec<Setting>, course: &Course) -> Self {
        let Course { iterations, pairs_per_iteration, seed, alpha, gamma, a_ratio } = *course;
        let schedule = Schedule { pairs: iterations * pairs_per_iteration, alpha, gamma, a_ratio };
        let gains = settings.iter().map(|setting| Gains::new(setting, &schedule)).collect();
        Self { settings, gains, schedule, pairs_per_iteration, seed: perturbation_seed(seed) }
    }

    /// The parameters.
    #[must_use]
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// How the gains fall.
    #[must_use]
    pub const fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Pairs of games in an iteration.
    #[must_use]
    pub const fn pairs_per_iteration(&self) -> u64 {
        self.pairs_per_iteration
    }

    /// Iterations in all.
    #[must_use]
    pub const fn iterations(&self) -> u64 {
        self.schedule.pairs / self.pairs_per_iteration
    }

    /// Where the parameters start.
    #[must_use]
    pub fn start(&self) -> Vec<f64> {
        self.settings.iter().map(|setting| setting.start).collect()
    }

    /// Pairs played before an iteration (from 1).
    #[must_use]
    pub const fn pairs_before(&self, iteration: u64) -> u64 {
        (iteration - 1) * self.pairs_per_iteration
    }

    /// The gains of a parameter in an iteration (from 1).
    #[must_use]
    pub fn gain(&self, parameter: usize, iteration: u64) -> Gain {
        self.gains[parameter].after(self.pairs_before(iteration))
    }

    /// What an iteration (from 1) tries out, with the parameters at `theta`.
    #[must_use]
    pub fn trial(&self, iteration: u64, theta: &[f64]) -> Trial {
        let mut dice = Dice::new(self.seed, iteration);
        let size = self.settings.len();
        let mut trial =
            Trial { flips: Vec::with_capacity(size), plus: Vec::with_capacity(size), minus: Vec::with_capacity(size) };
        for (index, (setting, &theta)) in self.settings.iter().zip(theta).enumerate() {
            let flip = if dice.chance(0.5) { 1 } else { -1 };
            let lot = dice.below(1 << 53) as f64 * FINEST;
            let c = self.gain(index, iteration).c;
            let sides = setting.tried(theta, c, f64::from(flip));
            let [plus, minus] = match setting.kind {
                Kind::Whole => sides.map(|side| rounded_by_lot(side, lot)),
                Kind::Real => sides,
            };
            trial.flips.push(flip);
            trial.plus.push(plus);
            trial.minus.push(minus);
        }
        trial
    }

    /// Where an iteration's result, the plus player's wins less its losses, leads.
    #[must_use]
    pub fn moved(&self, iteration: u64, theta: &[f64], flips: &[i8], result: i64) -> Vec<f64> {
        let each = self.settings.iter().zip(theta).zip(flips).enumerate();
        each.map(|(index, ((setting, &theta), &flip))| {
            setting.moved(theta, self.gain(index, iteration), result as f64, f64::from(flip))
        })
        .collect()
    }

    /// The values to play with at the end: whole numbers where only these can be played.
    #[must_use]
    pub fn playable(&self, theta: &[f64]) -> Vec<f64> {
        let round =
            |(setting, &value): (&Setting, &f64)| if setting.kind == Kind::Whole { value.round() } else { value };
        self.settings.iter().zip(theta).map(round).collect()
    }
}

/// floor(value + lot), without the sum, which could be rounded up to the next whole number.
fn rounded_by_lot(value: f64, lot: f64) -> f64 {
    let below = value.floor();
    if lot >= 1.0 - (value - below) { below + 1.0 } else { below }
}

/// The streams of flips are none of the openings'.
fn perturbation_seed(seed: u64) -> u64 {
    derived_seed("spsa perturbations", seed)
}

/// A seed for a purpose of its own.
pub(super) fn derived_seed(purpose: &str, seed: u64) -> u64 {
    checksum::number(&[format!("{purpose} {seed}").as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(start: f64, c_end: f64) -> Setting {
        Setting { start, min: -40.0, max: 40.0, c_end, r_end: 0.002, kind: Kind::Whole }
    }

    /// Both sides of many trials of one parameter at its start, that with the higher value first.
    fn sides(setting: Setting, trials: u64) -> (f64, Vec<[f64; 2]>) {
        // Exponents of 0: c is the same throughout.
        let course = Course { alpha: 0.0, gamma: 0.0, ..Course::usual(trials, 1, 5) };
        let tuner = Tuner::new(vec![setting], &course);
        let higher_first = |trial: Trial| match trial.flips[0] {
            1 => [trial.plus[0], trial.minus[0]],
            _ => [trial.minus[0], trial.plus[0]],
        };
        let trials = (1..=trials).map(|iteration| higher_first(tuner.trial(iteration, &[setting.start])));
        (tuner.gain(0, 1).c, trials.collect())
    }

    #[test]
    fn rounding_by_lot_has_no_bias() {
        const TRIALS: u64 = 40_000;
        for start in [0.0, 0.25, -7.6, 12.999] {
            for c_end in [0.1, 0.5, 1.3, 4.0] {
                let (c, sides) = sides(whole(start, c_end), TRIALS);
                let mean = |of: fn(&[f64; 2]) -> f64| sides.iter().map(of).sum::<f64>() / TRIALS as f64;
                // Five standard errors of something that is one of two neighbouring numbers.
                let error = 5.0 * 0.5 / (TRIALS as f64).sqrt();
                assert!((mean(|side| side[0]) - (start + c)).abs() < error, "{start}, {c}");
                assert!((mean(|side| side[1]) - (start - c)).abs() < error, "{start}, {c}");
                assert!((mean(|side| side[0] - side[1]) - 2.0 * c).abs() < error, "{start}, {c}");
                for [high, low] in sides {
                    let apart = high - low;
                    assert!(apart == (2.0 * c).floor() || apart == (2.0 * c).ceil(), "{high} and {low} at c = {c}");
                    assert!(apart >= 1.0 && high.fract() == 0.0 && low.fract() == 0.0);
                }
            }
        }
    }

    #[test]
    fn rounding_stays_within_whole_bounds() {
        for value in [-3.0, 0.0, 8.0, 200.0] {
            for lot in [0.0, 0.5, 1.0 - FINEST] {
                assert_eq!(rounded_by_lot(value, lot), value);
            }
        }
        assert_eq!(rounded_by_lot(-0.5, 0.49), -1.0);
        assert_eq!(rounded_by_lot(-0.5, 0.5), 0.0);
        let (_, sides) = sides(whole(39.9, 3.0), 1_000);
        assert!(sides.iter().all(|side| side[0] == 40.0 && side[1] < 40.0), "{sides:?}");
    }

    #[test]
    fn flips_are_fair_independent_and_repeat() {
        let tuner = |seed| Tuner::new(vec![whole(0.0, 2.0); 3], &Course::usual(20_000, 1, seed));
        let (one, other) = (tuner(1), tuner(2));
        let flips = |tuner: &Tuner| -> Vec<Vec<i8>> { (1..=20_000).map(|n| tuner.trial(n, &[0.0; 3]).flips).collect() };
        let drawn = flips(&one);
        assert_eq!(drawn, flips(&one));
        assert_ne!(drawn, flips(&other));
        // Five standard deviations of a sum of 20,000 signs.
        let within = |sum: i32| assert!(sum.abs() < 708, "{sum}");
        for parameter in 0..3 {
            within(drawn.iter().map(|flips| i32::from(flips[parameter])).sum());
            within(drawn.iter().map(|flips| i32::from(flips[parameter] * flips[(parameter + 1) % 3])).sum());
            within(drawn.windows(2).map(|two| i32::from(two[0][parameter] * two[1][parameter])).sum());
        }
    }

    #[test]
    fn a_batch_moves_as_far_as_its_sum_and_the_counter_counts_pairs() {
        let setting = whole(0.0, 2.0);
        let single = Tuner::new(vec![setting], &Course::usual(80, 1, 1));
        let batched = Tuner::new(vec![setting], &Course::usual(10, 8, 1));
        assert_eq!(batched.iterations(), 10);
        for iteration in 1..=10 {
            assert_eq!(batched.gain(0, iteration), single.gain(0, 8 * (iteration - 1) + 1));
        }
        let gain = batched.gain(0, 4);
        assert_eq!(batched.moved(4, &[1.0], &[-1], 5), [1.0 - 5.0 * gain.r * gain.c]);
        assert_eq!(batched.moved(4, &[39.99], &[-1], -1600), [40.0]);
        assert_eq!(batched.playable(&[1.5]), [2.0]);
    }
}
