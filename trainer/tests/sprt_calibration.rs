//! Simulated matches: does the sequential test err as often as it says, and do intervals hold the truth?
//!
//! Pairs are played from openings that favour White, Black or nobody, so the two games of a pair are correlated, as real
//! ones are. The quick tests run always; the full ones, with the numbers of the documentation, are ignored by default:
//! `cargo test -p fairyforge --test sprt_calibration -- --include-ignored --nocapture`.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

use fairyforge::arena::sprt::{Decision, EloModel, Results, Sprt, SprtSettings};
use fairyforge::arena::statistics::{Elo, PairCounts, ScoreSample};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;

/// What openings are worth to White, in Elo; all equally frequent.
const OPENINGS: [f64; 3] = [-200.0, 0.0, 200.0];
/// A win is a win by so many Elo of luck.
const DRAW_ELO: f64 = 150.0;
/// The half-width, in standard deviations, of a binomial's 99 % interval.
const NORMAL_99_5: f64 = 2.576;
/// A match that has not ended after so many pairs is a fault.
const MOST_PAIRS: u64 = 200_000;

fn logistic(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// Two players and the chances of pairs between them: per opening, by half points of the first player.
struct World {
    chances: [[f64; 5]; 3],
}

impl World {
    /// The first player so much stronger, in Elo of the game's own model.
    fn new(strength: f64) -> Self {
        let chances = OPENINGS.map(|opening| {
            let (white, black) = (one_game(strength + opening), one_game(strength - opening));
            let mut chances = [0.0; 5];
            for (i, one) in white.iter().enumerate() {
                for (j, other) in black.iter().enumerate() {
                    chances[i + j] += one * other;
                }
            }
            chances
        });
        Self { chances }
    }

    /// The world in which the model's Elo is what it should be.
    fn with(model: EloModel, elo: f64) -> Self {
        let (mut low, mut high) = (-500.0, 500.0);
        for _ in 0..80 {
            let middle = 0.5 * (low + high);
            if Self::new(middle).elo(model) < elo { low = middle } else { high = middle }
        }
        Self::new(low)
    }

    /// Mean and variance of pair scores.
    fn moments(&self) -> (f64, f64) {
        let mean_of = |value: &dyn Fn(f64) -> f64| {
            let of = |chances: &[f64; 5]| (0..5).map(|i| chances[i] * value(i as f64 / 4.0)).sum::<f64>();
            self.chances.iter().map(of).sum::<f64>() / OPENINGS.len() as f64
        };
        let mean = mean_of(&|score| score);
        (mean, mean_of(&|score| (score - mean) * (score - mean)))
    }

    fn elo(&self, model: EloModel) -> f64 {
        let (mean, variance) = self.moments();
        match model {
            EloModel::Logistic => 400.0 * (mean / (1.0 - mean)).log10(),
            _ => (mean - 0.5) / (2.0 * variance).sqrt() * 800.0 / std::f64::consts::LN_10,
        }
    }

    /// Plays a pair: half points of the first player.
    fn pair(&self, random: &mut ChaCha8Rng) -> usize {
        let bits = random.next_u64();
        let chances = &self.chances[(bits % 3) as usize];
        let mut luck = (bits >> 11) as f64 / (1u64 << 53) as f64;
        for (half_points, chance) in chances.iter().enumerate() {
            luck -= chance;
            if luck < 0.0 {
                return half_points;
            }
        }
        4
    }
}

/// Chances of a loss, a draw and a win.
fn one_game(difference: f64) -> [f64; 3] {
    let (win, loss) = (logistic(difference - DRAW_ELO), logistic(-difference - DRAW_ELO));
    [loss, 1.0 - win - loss, win]
}

/// A match played until the test stops.
fn sequential(sprt: &Sprt, world: &World, seed: u64) -> (Decision, PairCounts) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut pairs = PairCounts::default();
    for _ in 0..MOST_PAIRS {
        pairs.0[world.pair(&mut random)] += 1;
        let (_, decision) = sprt.step(&Results::Pairs(pairs)).unwrap();
        if decision != Decision::Continue {
            return (decision, pairs);
        }
    }
    panic!("no decision after {MOST_PAIRS} pairs with seed {seed}");
}

/// What many matches at one hypothesis gave.
struct Simulated {
    matches: f64,
    wrong: f64,
    pairs: f64,
    covered: f64,
    unbiased_above: f64,
    plain_above: f64,
}

fn simulate(model: EloModel, elo: [f64; 2], truth_is_1: bool, matches: u64) -> Simulated {
    let sprt = Sprt::new(SprtSettings { model, ..SprtSettings::new(elo[0], elo[1]) }).unwrap();
    let world = World::with(model, elo[usize::from(truth_is_1)]);
    let truth = world.elo(EloModel::Logistic);
    let wrong = if truth_is_1 { Decision::AcceptH0 } else { Decision::AcceptH1 };
    let one = |seed: u64| {
        let (decision, pairs) = sequential(&sprt, &world, seed);
        let report = sprt.report(&Results::Pairs(pairs)).unwrap();
        let [low, high] = report.estimate.elo_ci;
        let plain = report.fixed.elo().and_then(Elo::finite).unwrap();
        [
            f64::from(u8::from(decision == wrong)),
            pairs.total() as f64,
            f64::from(u8::from(low <= truth && truth <= high)),
            f64::from(u8::from(report.estimate.elo > truth)),
            f64::from(u8::from(plain > truth)),
        ]
    };
    // Counts are whole numbers, so their sum does not depend on the order.
    let [wrong, pairs, covered, unbiased_above, plain_above] = (0..matches)
        .into_par_iter()
        .map(one)
        .reduce(|| [0.0; 5], |one, other| std::array::from_fn(|i| one[i] + other[i]));
    let matches = matches as f64;
    let part = |count: f64| count / matches;
    Simulated {
        matches,
        wrong: part(wrong),
        pairs: part(pairs),
        covered: part(covered),
        unbiased_above: part(unbiased_above),
        plain_above: part(plain_above),
    }
}

fn assert_binomial(what: &str, got: f64, expected: f64, matches: f64) {
    let reach = NORMAL_99_5 * (expected * (1.0 - expected) / matches).sqrt();
    assert!((got - expected).abs() <= reach, "{what}: expected {expected} ± {reach:.4}, got {got}");
}

fn assert_promises(model: EloModel, elo: [f64; 2], matches: u64) {
    for truth_is_1 in [false, true] {
        let got = simulate(model, elo, truth_is_1, matches);
        let Simulated { wrong, pairs, covered, unbiased_above, plain_above, .. } = got;
        println!(
            "{model} {elo:?}, H{} true, {matches} matches: wrong {wrong:.4}, mean {pairs:.0} pairs, 95 % interval covers \
             {covered:.4}, median-unbiased Elo above the truth {unbiased_above:.4}, plain Elo {plain_above:.4}",
            u8::from(truth_is_1)
        );
        assert_binomial("wrong decisions", wrong, SprtSettings::usual_error(), got.matches);
        assert_binomial("median-unbiased Elo above the truth", unbiased_above, 0.5, got.matches);
        assert!((0.93..=0.97).contains(&covered) || got.matches < 1000.0 && covered > 0.9, "coverage {covered}");
        // What the estimate is for: the plain Elo is too high where the test stops high, too low where it stops low.
        let bias = if truth_is_1 { plain_above - 0.5 } else { 0.5 - plain_above };
        assert!(got.matches < 1000.0 || bias > 0.03, "the plain Elo's bias is {bias}");
    }
}

/// How often the 95 % interval of a match of fixed length holds the truth.
fn fixed_coverage(strength: f64, pairs: u64, matches: u64) -> f64 {
    let world = World::new(strength);
    let truth = world.elo(EloModel::Logistic);
    let covers = |seed: u64| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut counts = PairCounts::default();
        (0..pairs).for_each(|_| counts.0[world.pair(&mut random)] += 1);
        let interval = ScoreSample::from_pairs(&counts).elo_interval().unwrap();
        let edge = |elo: Elo, beyond: f64| elo.finite().unwrap_or(beyond);
        edge(interval.low, f64::NEG_INFINITY) <= truth && truth <= edge(interval.high, f64::INFINITY)
    };
    (0..matches).into_par_iter().filter(|&seed| covers(seed)).count() as f64 / matches as f64
}

#[test]
fn the_games_of_a_pair_are_correlated_in_these_worlds() {
    let (mean, variance) = World::new(20.0).moments();
    let game: f64 = OPENINGS
        .iter()
        .flat_map(|opening| [one_game(20.0 + opening), one_game(20.0 - opening)])
        .map(|[loss, draw, win]| loss * mean * mean + draw * (0.5 - mean).powi(2) + win * (1.0 - mean).powi(2))
        .sum::<f64>()
        / 6.0;
    // Independent games would make half a game's variance of a pair's score.
    assert!(variance < 0.8 * game / 2.0, "{variance} and {game}");
}

#[test]
fn the_test_keeps_its_promises_quickly() {
    assert_promises(EloModel::Normalized, [0.0, 60.0], 400);
    assert_promises(EloModel::Logistic, [-10.0, 30.0], 400);
}

#[test]
#[ignore = "half a minute: 2,000 matches at each hypothesis, with the numbers of docs/statistics.md"]
fn the_test_keeps_its_promises() {
    assert_promises(EloModel::Normalized, [0.0, 20.0], 2000);
    assert_promises(EloModel::Logistic, [0.0, 10.0], 2000);
}

#[test]
fn fixed_matches_cover_the_truth_quickly() {
    let coverage = fixed_coverage(25.0, 200, 2000);
    assert!((0.93..=0.97).contains(&coverage), "{coverage}");
}

#[test]
#[ignore = "the numbers of docs/statistics.md"]
fn fixed_matches_cover_the_truth() {
    for (strength, pairs) in [(0.0, 50), (0.0, 500), (30.0, 200), (150.0, 200), (-60.0, 1000)] {
        let coverage = fixed_coverage(strength, pairs, 20_000);
        println!("fixed, strength {strength}, {pairs} pairs, 20000 matches: 95 % interval covers {coverage:.4}");
        assert!((0.93..=0.97).contains(&coverage), "{coverage}");
    }
}
