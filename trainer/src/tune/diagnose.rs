//! What a journal says about its parameters: how far each went, whether a bound was in its way, and whether its movement
//! can be told from chance.
//!
//! **Told from chance.** If a parameter has no influence on the games, its flips, drawn by lot, are independent of the
//! results. Its movement Σ R_k·c_k·result·flip, bounds left aside, is then a sum of steps with random signs: mean 0 and
//! variance Σ (R_k·c_k·result)². The movement in standard deviations of that is `z`; beyond ±1.96 it would happen to one
//! parameter in twenty by chance. A parameter within has no effect that these games could show, or started where it is best.

use super::journal::Iteration;
use super::tuner::Tuner;
use serde::Serialize;

/// Movements beyond so many standard deviations of a random walk are told from chance.
pub const DISTINGUISHABLE: f64 = 1.96;
/// A bound is told of when it was in the way in more than this share of the last iterations.
pub const BOUND_SHARE: f64 = 0.1;
/// The last iterations: this share of all.
pub const LAST_SHARE: f64 = 0.25;

/// What became of one parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Its name.
    pub name: String,
    /// Where it started.
    pub start: f64,
    /// Where it ended.
    pub end: f64,
    /// What is played at the end.
    pub tuned: f64,
    /// Its bounds.
    pub bounds: [f64; 2],
    /// Its perturbation at the end of the run.
    pub c_end: f64,
    /// The way from start to end, in c_end.
    pub change_in_c: f64,
    /// The movement in standard deviations of a random walk; 0 without any result.
    pub z: f64,
    /// Whether that is more than chance does.
    pub is_distinguishable: bool,
    /// Share of the last iterations that ended on a bound.
    pub on_bound: f64,
    /// Share of the last iterations in which a bound cut a side of the trial off.
    pub cut_off: f64,
}

impl Outcome {
    /// Whether a bound was in the way often enough to be told.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.on_bound > BOUND_SHARE || self.cut_off > BOUND_SHARE
    }
}

/// What became of all parameters.
#[must_use]
pub fn outcomes(names: &[String], tuner: &Tuner, iterations: &[Iteration]) -> Vec<Outcome> {
    let start = tuner.start();
    let end = iterations.last().map_or(&start, |last| &last.theta);
    let tuned = tuner.playable(end);
    let last = last_iterations(iterations);
    let outcome = |(index, name): (usize, &String)| {
        let setting = tuner.settings()[index];
        let z = movement(tuner, iterations, index);
        Outcome {
            name: name.clone(),
            start: setting.start,
            end: end[index],
            tuned: tuned[index],
            bounds: [setting.min, setting.max],
            c_end: setting.c_end,
            change_in_c: (end[index] - setting.start) / setting.c_end,
            z,
            is_distinguishable: z.abs() > DISTINGUISHABLE,
            on_bound: share(last, |iteration| setting.is_bound(iteration.theta[index])),
            cut_off: cut_off(tuner, iterations, last.len(), index),
        }
    };
    names.iter().enumerate().map(outcome).collect()
}

fn last_iterations(iterations: &[Iteration]) -> &[Iteration] {
    let last = (iterations.len() as f64 * LAST_SHARE).ceil() as usize;
    &iterations[iterations.len() - last..]
}

fn share(iterations: &[Iteration], holds: impl Fn(&Iteration) -> bool) -> f64 {
    let holding = iterations.iter().filter(|iteration| holds(iteration)).count();
    holding as f64 / iterations.len().max(1) as f64
}

/// Movement without bounds over the deviation of a random walk of the same steps.
fn movement(tuner: &Tuner, iterations: &[Iteration], parameter: usize) -> f64 {
    let steps = iterations.iter().map(|iteration| {
        let flip = f64::from(iteration.flips[parameter]);
        tuner.gain(parameter, iteration.iteration).step(iteration.result() as f64, flip)
    });
    let (sum, squares) = steps.fold((0.0, 0.0), |(sum, squares), step| (sum + step, squares + step * step));
    if squares > 0.0 { sum / f64::sqrt(squares) } else { 0.0 }
}

/// Share of the last iterations whose trial, around where the one before had ended, went beyond a bound.
fn cut_off(tuner: &Tuner, iterations: &[Iteration], last: usize, parameter: usize) -> f64 {
    let setting = tuner.settings()[parameter];
    let first = iterations.len() - last;
    let before = |index: usize| match index.checked_sub(1) {
        Some(before) => iterations[before].theta[parameter],
        None => setting.start,
    };
    let beyond =
        |index: &usize| setting.cuts_off(before(*index), tuner.gain(parameter, iterations[*index].iteration).c);
    (first..iterations.len()).filter(beyond).count() as f64 / last.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::objective::PairResult;
    use super::super::spsa::{Kind, Setting};
    use super::super::tuner::Course;
    use super::*;
    use crate::selfplay::seeds::Dice;

    /// A run whose results are `result` of the iteration and the first parameter's flip.
    fn run(settings: Vec<Setting>, seed: u64, result: impl Fn(u64, i8) -> i8) -> Vec<Outcome> {
        let tuner = Tuner::new(settings, &Course::usual(400, 1, seed));
        let mut theta = tuner.start();
        let mut iterations = Vec::new();
        for number in 1..=400 {
            let trial = tuner.trial(number, &theta);
            let pairs = vec![PairResult([result(number, trial.flips[0]), 0])];
            let iteration = Iteration::new(number, trial, pairs, &tuner, &theta);
            theta.clone_from(&iteration.theta);
            iterations.push(iteration);
        }
        let names: Vec<String> = (0..theta.len()).map(|number| format!("p{number}")).collect();
        outcomes(&names, &tuner, &iterations)
    }

    fn setting(max: f64) -> Setting {
        Setting { start: 0.0, min: -max, max, c_end: 1.0, r_end: 0.02, kind: Kind::Real }
    }

    #[test]
    fn a_parameter_driven_to_its_bound_is_told() {
        let outcomes = run(vec![setting(5.0), setting(5.0)], 1, |_, flip| flip);
        let [driven, idle] = &outcomes[..] else { panic!("{outcomes:?}") };
        assert_eq!((driven.end, driven.on_bound, driven.cut_off), (5.0, 1.0, 1.0));
        assert!(driven.is_bounded() && driven.is_distinguishable && driven.z > 15.0, "{driven:?}");
        assert!((driven.change_in_c - 5.0).abs() < 1e-12);
        assert!(!idle.is_bounded(), "{idle:?}");
    }

    #[test]
    fn parameters_without_effect_are_told_apart_from_chance_in_one_of_twenty() {
        let coin = |number, _| if Dice::new(77, number).chance(0.5) { 1 } else { -1 };
        let told = (0..50).flat_map(|seed| run(vec![setting(1e9); 20], seed, coin));
        let told = told.filter(|outcome| outcome.is_distinguishable).count();
        // Of 1,000; five standard deviations of a binomial around 50.
        assert!((16..=84).contains(&told), "{told}");
    }

    #[test]
    fn a_run_without_results_says_nothing() {
        let outcomes = run(vec![setting(5.0)], 1, |_, _| 0);
        assert_eq!((outcomes[0].z, outcomes[0].change_in_c, outcomes[0].is_bounded()), (0.0, 0.0, false));
        let tuner = Tuner::new(vec![setting(5.0)], &Course::usual(4, 1, 1));
        assert_eq!(super::outcomes(&["p".into()], &tuner, &[])[0].end, 0.0);
    }
}
