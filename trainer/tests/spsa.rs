//! SPSA against reference cases, and against known truths: simulated games of players whose strength is a known function of their
//! parameters.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

use fairyforge::selfplay::seeds::Dice;
use fairyforge::tune::diagnose::outcomes;
use fairyforge::tune::journal::Iteration;
use fairyforge::tune::spsa::{Gain, Gains, Kind, Schedule, Setting};
use fairyforge::tune::{Batch, Course, Objective, PairResult, Tuner};
use serde_json::Value;

/// The flip of all reference steps.
const FLIP: f64 = 1.0;

fn reference() -> Vec<Value> {
    let text = include_str!("data/spsa.json");
    let file: Value = serde_json::from_str(text).unwrap();
    file["cases"].as_array().unwrap().clone()
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} in {value}"))
}

#[track_caller]
fn assert_close(got: f64, expected: f64, what: &str) {
    assert!((got - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{what}: expected {expected}, got {got}");
}

#[test]
fn every_step_of_every_reference_case_is_met() {
    let cases = reference();
    assert!(!cases.is_empty());
    for case in &cases {
        let name = case["name"].as_str().unwrap();
        let setting = Setting {
            start: number(case, "theta0"),
            min: number(case, "min"),
            max: number(case, "max"),
            c_end: number(case, "c_end"),
            r_end: number(case, "r_end"),
            kind: Kind::Real,
        };
        let schedule = Schedule {
            pairs: case["num_iter"].as_u64().unwrap(),
            alpha: number(case, "alpha"),
            gamma: number(case, "gamma"),
            a_ratio: number(case, "A_ratio"),
        };
        let gains = Gains::new(&setting, &schedule);
        for (got, key) in [(gains.c, "c"), (gains.a_end, "a_end"), (gains.a, "a"), (gains.offset, "A")] {
            assert_close(got, number(case, key), &format!("{name}, {key}"));
        }
        let steps = case["steps"].as_array().unwrap();
        assert!(!steps.is_empty());
        for step in steps {
            let iteration = step["iter"].as_u64().unwrap();
            check_step(&format!("{name}, step {iteration}"), &setting, gains.after(iteration), step);
        }
    }
}

fn check_step(name: &str, setting: &Setting, gain: Gain, step: &Value) {
    assert_close(gain.c, number(step, "c_k"), &format!("{name}, c_k"));
    assert_close(gain.r, number(step, "R_k"), &format!("{name}, R_k"));
    let [plus, minus] = setting.tried(setting.start, gain.c, FLIP);
    assert_close(plus, number(step, "plus"), &format!("{name}, plus"));
    assert_close(minus, number(step, "minus"), &format!("{name}, minus"));
    let results = step["theta_after_pair_result(flip=+1)"].as_object().unwrap();
    assert!(!results.is_empty());
    for (result, theta) in results {
        let result: f64 = result.parse().unwrap();
        let theta = theta.as_f64().unwrap();
        let moved = |result, flip| setting.moved(setting.start, gain, result, flip);
        assert_close(moved(result, FLIP), theta, &format!("{name}, result {result}"));
        // The other flip with the other result is the same step.
        assert_close(moved(-result, -FLIP), theta, &format!("{name}, result {result} with the other flip"));
    }
}

/// One parameter of a simulated player.
#[derive(Clone, Copy)]
struct Truth {
    setting: Setting,
    /// Its best value.
    best: f64,
    /// Elo lost a c_end away from it.
    curvature: f64,
}

/// Players whose strength falls with the square of the distance from the best values.
struct Quadratic {
    truths: Vec<Truth>,
    seed: u64,
}

/// Half the width, in Elo, of the band of results that are draws.
const DRAW_ELO: f64 = 100.0;
/// Elo of a factor of e in the odds.
const ELO_UNIT: f64 = 400.0 / std::f64::consts::LN_10;

impl Quadratic {
    fn loss(&self, values: &[f64]) -> f64 {
        let each = self.truths.iter().zip(values);
        each.map(|(truth, value)| truth.curvature * ((value - truth.best) / truth.setting.c_end).powi(2)).sum()
    }

    fn tuner(&self, course: &Course) -> Tuner {
        Tuner::new(self.truths.iter().map(|truth| truth.setting).collect(), course)
    }

    /// Where a run of the tuner on these players ends.
    fn tuned(&self, course: &Course) -> Vec<f64> {
        self.run(course).pop().unwrap().theta
    }

    /// A run of the tuner on these players.
    fn run(&self, course: &Course) -> Vec<Iteration> {
        let tuner = self.tuner(course);
        let mut theta = tuner.start();
        let iteration = |number| {
            let trial = tuner.trial(number, &theta);
            let (first_pair, pairs) = (tuner.pairs_before(number), tuner.pairs_per_iteration());
            let results = self.play(&Batch { first_pair, pairs, plus: &trial.plus, minus: &trial.minus }).unwrap();
            let iteration = Iteration::new(number, trial, results, &tuner, &theta);
            theta.clone_from(&iteration.theta);
            iteration
        };
        (1..=tuner.iterations()).map(iteration).collect()
    }
}

impl Objective for Quadratic {
    fn play(&self, batch: &Batch) -> Option<Vec<PairResult>> {
        let elo = self.loss(batch.minus) - self.loss(batch.plus);
        let logistic = |elo: f64| 1.0 / (1.0 + (-elo / ELO_UNIT).exp());
        let (win, loss) = (logistic(elo - DRAW_ELO), logistic(-elo - DRAW_ELO));
        let game = |dice: &mut Dice| {
            if dice.chance(win) {
                1
            } else if dice.chance(loss / (1.0 - win)) {
                -1
            } else {
                0
            }
        };
        let pair = |number| {
            let mut dice = Dice::new(self.seed, number);
            PairResult([game(&mut dice), game(&mut dice)])
        };
        Some((batch.first_pair..batch.first_pair + batch.pairs).map(pair).collect())
    }
}

/// Start, best value and range of eight parameters of very different sizes, and what a c_end (a twentieth of the range) from the best costs.
const EIGHT: [(f64, f64, [f64; 2], f64); 8] = [
    (20.0, 55.0, [0.0, 100.0], 2.0),
    (900.0, 620.0, [0.0, 1000.0], 3.0),
    (3.0, -2.0, [-10.0, 10.0], 2.0),
    (0.9, 0.25, [0.0, 1.0], 4.0),
    (-80.0, -20.0, [-100.0, 0.0], 2.5),
    (30.0, 30.0, [10.0, 50.0], 3.0),
    (1500.0, 4200.0, [0.0, 5000.0], 2.0),
    (12.0, 8.0, [0.0, 20.0], 6.0),
];
/// A c_end in parts of the range.
const C_SHARE: f64 = 0.05;
const R_END: f64 = 0.002;

fn truths(kind: Kind, table: &[(f64, f64, [f64; 2], f64)]) -> Vec<Truth> {
    let truth = |&(start, best, [min, max], curvature): &(f64, f64, [f64; 2], f64)| {
        let c_end = C_SHARE * (max - min);
        Truth { setting: Setting { start, min, max, c_end, r_end: R_END, kind }, best, curvature }
    };
    table.iter().map(truth).collect()
}

/// Pairs after which theory expects the flattest parameter to be within a part `left` of its distance at the start.
///
/// Near equal strength a pair's expected result is 2·2·s′·Elo, with s′ the slope of the expected score. A step of
/// R·c·result·flip then takes away the part 4·s′·4·R·h of the distance, h being the Elo lost a c from the best. R is
/// r_end or a little more from a tenth of the run on.
fn expected_pairs(truths: &[Truth], left: f64) -> u64 {
    let draw = DRAW_ELO / ELO_UNIT;
    let slope = 2.0 * draw.exp() / (1.0 + draw.exp()).powi(2) / (2.0 * ELO_UNIT);
    let flattest = truths.iter().map(|truth| truth.curvature).fold(f64::INFINITY, f64::min);
    ((1.0 / left).ln() / (16.0 * slope * R_END * flattest)).ceil() as u64
}

/// "Within 5 %": each parameter is within 5 % of its range of its best value, and of the Elo lost at the start 5 % at most is still lost.
#[track_caller]
fn assert_within_five_percent(game: &Quadratic, theta: &[f64], what: &str) {
    for (truth, theta) in game.truths.iter().zip(theta) {
        let range = truth.setting.max - truth.setting.min;
        let off = (theta - truth.best).abs() / range;
        assert!(off < 0.05, "{what}: {theta} is {:.1} % of the range from {}", 100.0 * off, truth.best);
    }
    let start: Vec<f64> = game.truths.iter().map(|truth| truth.setting.start).collect();
    let (lost, now) = (game.loss(&start), game.loss(theta));
    assert!(now < 0.05 * lost, "{what}: {now:.1} of {lost:.1} Elo are still lost");
}

/// The flattest parameter's distance falls to a fiftieth.
const LEFT: f64 = 0.02;

#[test]
fn a_known_optimum_is_found_within_five_percent() {
    for seed in 1..=6 {
        let game = Quadratic { truths: truths(Kind::Real, &EIGHT), seed: seed + 100 };
        let pairs = expected_pairs(&game.truths, LEFT);
        assert!((10_000..60_000).contains(&pairs), "{pairs}");
        for batch in [1, 8] {
            let theta = game.tuned(&Course::usual(pairs / batch, batch, seed));
            assert_within_five_percent(&game, &theta, &format!("seed {seed}, batches of {batch}"));
        }
        // It is the games that do it: a tenth of them is not enough.
        let few = game.tuned(&Course::usual(pairs / 80, 8, seed));
        assert!(game.loss(&few) > 0.05 * game.loss(&game.tuner(&Course::usual(1, 1, 1)).start()), "seed {seed}");
    }
}

/// Whole numbers, among them one with so few values that its c is at the least.
const WHOLE: [(f64, f64, [f64; 2], f64); 8] = [
    (3.0, 7.0, [0.0, 10.0], 3.0),
    (20.0, 55.0, [0.0, 100.0], 2.0),
    (900.0, 620.0, [0.0, 1000.0], 3.0),
    (30.0, 12.0, [0.0, 40.0], 4.0),
    (-80.0, -20.0, [-100.0, 0.0], 2.5),
    (30.0, 30.0, [10.0, 50.0], 3.0),
    (4.0, 15.0, [0.0, 20.0], 2.0),
    (12.0, 8.0, [0.0, 20.0], 6.0),
];

#[test]
fn whole_numbers_are_found_too() {
    for seed in 1..=4 {
        let game = Quadratic { truths: truths(Kind::Whole, &WHOLE), seed: seed + 200 };
        let pairs = expected_pairs(&game.truths, LEFT);
        let theta = game.tuned(&Course::usual(pairs / 8, 8, seed));
        assert_within_five_percent(&game, &theta, &format!("seed {seed}"));
        // What is played at the end is the best whole number, or next to it where the range is small.
        let tuned = game.tuner(&Course::usual(1, 1, 1)).playable(&theta);
        assert!((tuned[0] - game.truths[0].best).abs() <= 1.0 && tuned.iter().all(|value| value.fract() == 0.0));
    }
}

#[test]
fn a_best_value_beyond_the_bound_ends_on_it() {
    let mut truths = truths(Kind::Whole, &WHOLE);
    truths[1].best = 130.0;
    let game = Quadratic { truths, seed: 7 };
    let theta = game.tuned(&Course::usual(expected_pairs(&game.truths, LEFT) / 8, 8, 7));
    assert!(theta[1] > 97.0, "{theta:?}");
    assert!((theta[2] - 620.0).abs() < 50.0, "the others are found all the same: {theta:?}");
}

#[test]
fn the_diagnosis_tells_effects_from_noise_and_names_bounds() {
    let mut false_alarms = 0;
    for seed in 1..=10 {
        let mut truths = truths(Kind::Whole, &WHOLE);
        // Number 5 starts at its best; 3 and 6 have no effect; the best value of 1 lies beyond its bound.
        truths[3].curvature = 0.0;
        truths[6].curvature = 0.0;
        truths[1].best = 130.0;
        let game = Quadratic { truths, seed: seed + 300 };
        let course = Course::usual(expected_pairs(&self::truths(Kind::Whole, &WHOLE), LEFT) / 8, 8, seed);
        let names: Vec<String> = (0..8).map(|number| format!("p{number}")).collect();
        let outcomes = outcomes(&names, &game.tuner(&course), &game.run(&course));
        for moved in [0, 1, 2, 4, 7] {
            assert!(outcomes[moved].is_distinguishable, "seed {seed}: {:?}", outcomes[moved]);
        }
        let bounded: Vec<&str> = outcomes.iter().filter(|one| one.is_bounded()).map(|one| one.name.as_str()).collect();
        assert_eq!(bounded, ["p1"], "seed {seed}");
        false_alarms += [3, 6].iter().filter(|&&idle| outcomes[idle].is_distinguishable).count();
    }
    // Of 20, where one is expected; five or more would happen by chance in 0.3 % of all choices of seeds.
    assert!(false_alarms < 5, "{false_alarms}");
}
