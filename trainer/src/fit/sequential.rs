//! Looking repeatedly: how wide intervals must be when a run may stop at any of several looks.
//!
//! At look k a share t_k of the planned information has been gathered and a statistic Z_k, standard normal if the
//! hypothesis is true, is compared with c_k: here are the c_k for which the chance of ever exceeding one stays at α.
//! √t_k·Z_k is a Brownian motion at the times t_k, so chances follow by integrating over one look after another.
//! [`Spending`] says how much of α may have been used up by each time; what later looks will be is not needed for
//! earlier ones, so looks can be added or left out as the run goes.
//!
//! The interval *estimate ± c_k·standard error* at look k is a **repeated confidence interval**: with probability
//! 1 − α the intervals of *all* looks contain the truth, hence also the last one, whatever made the run stop there. It is
//! wider than the interval of a run of fixed length, and it is not centred for the bias of stopping: it keeps its level,
//! no more. Nothing here knows values or games; [`super::ratio`] takes c_k as its `critical`.
//!
//! Sources: Armitage, McPherson and Rowe, "Repeated significance tests on accumulating data", JRSS A 132 (1969); Lan and
//! DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70 (1983); Jennison and Turnbull, "Group
//! Sequential Methods" (2000), chapters 7, 9 and 19.

use serde::{Deserialize, Serialize};
use statrs::function::erf::{erfc, erfc_inv};
use std::f64::consts::{E, PI, SQRT_2};
use thiserror::Error;

/// The numbers of the integration, with their reasons.
mod limits {
    /// No critical value is larger: the chance of exceeding it is 1e-197, that is never.
    pub const MOST_CRITICAL: f64 = 30.0;
    /// A look must add at least this share of the information there is then: a grid that resolves it stays small.
    pub const LEAST_STEP: f64 = 1e-6;
    /// Gauss–Legendre points a panel. A panel is one standard deviation of the smaller step wide, where eight
    /// points integrate a product of normal densities to some 1e-10.
    pub const POINTS: usize = 8;
    /// Steps of more standard deviations are not taken: the density there is 1e-87 of its top.
    pub const FARTHEST: f64 = 20.0;
    /// A critical value is found when it moves by less.
    pub const PRECISION: f64 = 1e-12;
    /// Newton steps and bisections at most: bisection alone would take 45.
    pub const ITERATIONS: u32 = 200;
}

/// How much of α may be used up when a share t of the information is there: all of it at t = 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Spending {
    /// 4·(1 − Φ(z/√t)) with Φ(z) = 1 − α/4: hardly anything early, so the last look costs little. Each side spends half.
    #[default]
    #[serde(rename = "obrien_fleming")]
    OBrienFleming,
    /// α·ln(1 + (e − 1)·t): nearly the same critical value at all looks, for stopping early.
    #[serde(rename = "pocock")]
    Pocock,
}

/// Why there are no critical values.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SequentialError {
    /// No look was planned.
    #[error("expected at least one look, got none")]
    NoLooks,
    /// A share of information is not in order, or not a share.
    #[error(
        "look {look}: expected a share of the information above {after} (by {least:e} of itself) and up to 1, got {got}"
    )]
    Information {
        /// The look, from 1.
        look: usize,
        /// The share at the look before, 0 at the first.
        after: f64,
        /// The least step.
        least: f64,
        /// The share given.
        got: f64,
    },
    /// The error probability is none.
    #[error("expected an error probability alpha above 0 and below 1, got {got}")]
    Alpha {
        /// The number given.
        got: f64,
    },
    /// A critical value is missing or no positive number.
    #[error("look {look}: expected a positive critical value, got {got:?}")]
    Critical {
        /// The look, from 1.
        look: usize,
        /// The number given, if any.
        got: Option<f64>,
    },
}

impl Spending {
    /// The part of `alpha` that may have been used up when the share `information`, from 0 to 1, is there.
    #[must_use]
    pub fn spent(self, alpha: f64, information: f64) -> f64 {
        match self {
            Self::OBrienFleming if information > 0.0 => 2.0 * erfc(erfc_inv(alpha / 2.0) / information.sqrt()),
            Self::OBrienFleming => 0.0,
            Self::Pocock => alpha * ((E - 1.0) * information).ln_1p(),
        }
    }
}

/// The two-sided critical values c_k, in standard errors, for looks at the increasing shares `information` of the
/// planned information, the last at most 1: if the hypothesis is true, |Z| exceeds its critical value at one or more of
/// the looks 1 to k with the probability that `spending` allows at `information[k]`.
///
/// c_k depends on the looks up to k only. A look at which next to nothing may be spent gets the critical value 30.
///
/// # Errors
/// [`SequentialError`] when there is no look, shares are not increasing within (0, 1], or `alpha` is not in (0, 1).
pub fn critical_values(information: &[f64], alpha: f64, spending: Spending) -> Result<Vec<f64>, SequentialError> {
    check_information(information)?;
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(SequentialError::Alpha { got: alpha });
    }
    let mut walk = Walk::new(information);
    let mut spent = 0.0;
    let mut critical = Vec::with_capacity(information.len());
    for &share in information {
        let value = walk.critical_for(spending.spent(alpha, share) - spent);
        spent += walk.step(value);
        critical.push(value);
    }
    Ok(critical)
}

/// The probability, if the hypothesis is true, that |Z| has exceeded its critical value at one or more of the looks
/// 1 to k, for each look k: what a rule for stopping really costs. Five equal looks at 1.96 cost 14.2 %.
///
/// # Errors
/// [`SequentialError`] when there is no look, shares are not increasing within (0, 1], or a critical value is missing
/// or not positive.
pub fn crossing_probabilities(information: &[f64], critical: &[f64]) -> Result<Vec<f64>, SequentialError> {
    check_information(information)?;
    for look in 0..information.len().max(critical.len()) {
        let got = critical.get(look).copied();
        if look >= information.len() || !got.is_some_and(|value| value > 0.0) {
            return Err(SequentialError::Critical { look: look + 1, got });
        }
    }
    let mut walk = Walk::new(information);
    let mut spent = 0.0;
    let crossed = critical.iter().map(|&value| {
        spent += walk.step(value.min(limits::MOST_CRITICAL));
        spent
    });
    Ok(crossed.collect())
}

fn check_information(information: &[f64]) -> Result<(), SequentialError> {
    if information.is_empty() {
        return Err(SequentialError::NoLooks);
    }
    let mut after = 0.0;
    for (index, &got) in information.iter().enumerate() {
        // Written so that NaN is refused too.
        if !(got - after >= limits::LEAST_STEP * got && got > 0.0 && got <= 1.0) {
            return Err(SequentialError::Information { look: index + 1, after, least: limits::LEAST_STEP, got });
        }
        after = got;
    }
    Ok(())
}

/// The Brownian motion between two looks: where it may be if no look has stopped it, as masses at points of the
/// half-line. A mass at x stands for half of itself at x and half at −x.
struct Walk<'a> {
    information: &'a [f64],
    look: usize,
    points: Vec<f64>,
    masses: Vec<f64>,
    rule: GaussLegendre,
}

impl<'a> Walk<'a> {
    fn new(information: &'a [f64]) -> Self {
        Self { information, look: 0, points: vec![0.0], masses: vec![1.0], rule: GaussLegendre::new(limits::POINTS) }
    }

    /// The standard deviation of the step to a look; infinite beyond the last.
    fn deviation(&self, look: usize) -> f64 {
        let before = if look == 0 { 0.0 } else { self.information[look - 1] };
        self.information.get(look).map_or(f64::INFINITY, |share| (share - before).sqrt())
    }

    /// The critical value of the coming look that is exceeded, by those not stopped before, with `probability`.
    fn critical_for(&self, probability: f64) -> f64 {
        let root = self.information[self.look].sqrt();
        let (mut low, mut high) = (0.0, limits::MOST_CRITICAL);
        if probability <= self.leaving(high * root)[0] {
            return high;
        }
        let mut value = 2.0;
        for _ in 0..limits::ITERATIONS {
            let [chance, slope] = self.leaving(value * root);
            if chance > probability {
                low = value
            } else {
                high = value
            }
            // Newton on the logarithm, which is nearly a parabola where the chance itself is nearly nothing.
            let newton = value + (chance / probability).ln() * chance / (slope * root);
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            let has_converged = (next - value).abs() < limits::PRECISION;
            value = next;
            if has_converged {
                break;
            }
        }
        value
    }

    /// The chance to be beyond ±`bound` at the coming look, and the density there: the speed at which the chance falls.
    fn leaving(&self, bound: f64) -> [f64; 2] {
        let deviation = self.deviation(self.look);
        let (mut chance, mut slope) = (0.0, 0.0);
        for (&point, &mass) in self.points.iter().zip(&self.masses) {
            for distance in [(bound - point) / deviation, (bound + point) / deviation] {
                chance += mass * 0.5 * erfc(distance / SQRT_2);
                slope += mass * density(distance) / deviation;
            }
        }
        [chance, slope]
    }

    /// Goes to the coming look, stops what is beyond the critical value, and returns the chance of that.
    fn step(&mut self, critical: f64) -> f64 {
        let bound = critical * self.information[self.look].sqrt();
        let left = self.leaving(bound)[0];
        let deviation = self.deviation(self.look);
        let (points, weights) = self.rule.panels(bound, deviation.min(self.deviation(self.look + 1)));
        let mass = |(&point, weight): (&f64, f64)| weight * self.density_at(point, deviation);
        self.masses = points.iter().zip(weights).map(mass).collect();
        self.points = points;
        self.look += 1;
        left
    }

    /// The density of the distance from zero after a step, by those not stopped before.
    fn density_at(&self, to: f64, deviation: f64) -> f64 {
        let reach = limits::FARTHEST * deviation;
        let first = self.points.partition_point(|&from| from < to - reach);
        let last = self.points.partition_point(|&from| from <= to + reach);
        let sum: f64 = (first..last)
            .map(|index| {
                let from = self.points[index];
                let both = density((to - from) / deviation) + density((to + from) / deviation);
                self.masses[index] * both
            })
            .sum();
        sum / deviation
    }
}

/// The standard normal density.
fn density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * PI).sqrt()
}

/// Nodes and weights for integrals over [−1, 1] (Golub and Welsch's rule by Newton's iteration).
struct GaussLegendre {
    nodes: Vec<f64>,
    weights: Vec<f64>,
}

impl GaussLegendre {
    fn new(points: usize) -> Self {
        let mut rule = Self { nodes: Vec::new(), weights: Vec::new() };
        for index in (0..points).rev() {
            // Tricomi's start; Newton then doubles the digits with every step.
            let mut node = (PI * (index as f64 + 0.75) / (points as f64 + 0.5)).cos();
            for _ in 0..8 {
                let [value, slope] = legendre(points, node);
                node -= value / slope;
            }
            let slope = legendre(points, node)[1];
            rule.nodes.push(node);
            rule.weights.push(2.0 / ((1.0 - node * node) * slope * slope));
        }
        rule
    }

    /// Points and weights on [0, `end`], cut into equal panels of at most `width`.
    fn panels(&self, end: f64, width: f64) -> (Vec<f64>, Vec<f64>) {
        let count = (end / width).ceil().max(1.0);
        let half = 0.5 * end / count;
        let (mut points, mut weights) = (Vec::new(), Vec::new());
        for panel in 0..count as usize {
            let middle = (2 * panel + 1) as f64 * half;
            points.extend(self.nodes.iter().map(|node| middle + half * node));
            weights.extend(self.weights.iter().map(|weight| half * weight));
        }
        (points, weights)
    }
}

/// The Legendre polynomial of a degree from 1, and its derivative, inside (−1, 1).
fn legendre(degree: usize, x: f64) -> [f64; 2] {
    let (mut before, mut value) = (1.0, x);
    for n in 2..=degree {
        let n = n as f64;
        (before, value) = (value, ((2.0 * n - 1.0) * x * value - (n - 1.0) * before) / n);
    }
    [value, degree as f64 * (x * value - before) / (x * x - 1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::NORMAL_97_5;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    fn equal(looks: u32) -> Vec<f64> {
        (1..=looks).map(|look| f64::from(look) / f64::from(looks)).collect()
    }

    fn assert_near(got: &[f64], expected: &[f64], precision: f64) {
        assert_eq!(got.len(), expected.len());
        for (got, expected) in got.iter().zip(expected) {
            assert!((got - expected).abs() < precision, "expected {expected}, got {got}");
        }
    }

    #[test]
    fn the_published_critical_values() {
        // Five equal looks at 5 %, as tables of the Lan-DeMets bounds give them; their second value is 1.1e-4 off.
        let published = [4.8769, 3.3569, 2.6803, 2.2898, 2.0310];
        let obrien_fleming = critical_values(&equal(5), 0.05, Spending::OBrienFleming).unwrap();
        assert_near(&obrien_fleming, &published, 1.2e-4);
        let published = [2.4380, 2.4268, 2.4101, 2.3966, 2.3859];
        assert_near(&critical_values(&equal(5), 0.05, Spending::Pocock).unwrap(), &published, 1.2e-4);
        // The first two again, by adaptive quadrature with thirty digits.
        assert_near(&obrien_fleming[..2], &[4.876_884_948_790_7, 3.357_011_921_557_1], 1e-8);
        for spending in [Spending::OBrienFleming, Spending::Pocock] {
            assert_near(&critical_values(&[1.0], 0.05, spending).unwrap(), &[NORMAL_97_5], 1e-9);
        }
    }

    #[test]
    fn looking_again_without_paying_costs_what_was_published() {
        // Armitage, McPherson and Rowe (1969), table 2: looks at 1.96.
        for (looks, expected) in [(1, 0.05), (2, 0.083), (3, 0.107), (4, 0.126), (5, 0.142), (10, 0.193), (50, 0.320)] {
            let information = equal(looks);
            let crossed = crossing_probabilities(&information, &vec![1.96; information.len()]).unwrap();
            let ever = crossed[crossed.len() - 1];
            assert!((ever - expected).abs() < 6e-4, "{looks} looks: expected {expected}, got {ever}");
        }
    }

    /// How many of `walks` random walks have left the critical values by each look.
    fn simulated(information: &[f64], critical: &[f64], walks: u32) -> Vec<u32> {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let mut uniform = || ((random.next_u64() >> 11) as f64 + 0.5) * 2f64.powi(-53);
        let mut normal = || (-2.0 * uniform().ln()).sqrt() * (2.0 * PI * uniform()).cos();
        let mut crossed = vec![0; information.len()];
        for _ in 0..walks {
            let (mut place, mut before, mut has_crossed) = (0.0, 0.0, false);
            for (look, (&share, &value)) in information.iter().zip(critical).enumerate() {
                place += normal() * f64::sqrt(share - before);
                before = share;
                has_crossed |= place.abs() > value * share.sqrt();
                crossed[look] += u32::from(has_crossed);
            }
        }
        crossed
    }

    #[test]
    fn random_walks_cross_as_often_as_allowed() {
        const WALKS: u32 = 200_000;
        for information in [vec![0.1, 0.35, 0.4, 0.9, 1.0], equal(5), vec![0.5, 0.501, 0.7]] {
            for spending in [Spending::OBrienFleming, Spending::Pocock] {
                let critical = critical_values(&information, 0.05, spending).unwrap();
                let crossed = simulated(&information, &critical, WALKS);
                for (&share, &count) in information.iter().zip(&crossed) {
                    let (expected, got) = (spending.spent(0.05, share), f64::from(count) / f64::from(WALKS));
                    // Four standard deviations, and one crossing for looks that hardly see any.
                    let allowed = 4.0 * (expected / f64::from(WALKS)).sqrt() + 1.0 / f64::from(WALKS);
                    assert!((got - expected).abs() < allowed, "{spending:?} at {share}: {got}, expected {expected}");
                }
            }
        }
    }

    #[test]
    fn a_finer_grid_changes_nothing() {
        // Looks at which nothing can be exceeded stop nobody, but cut the panels around them five times finer.
        for looks in [2, 7, 20] {
            let information: Vec<f64> = equal(looks).iter().map(|share| share.powf(1.7)).collect();
            for spending in [Spending::OBrienFleming, Spending::Pocock] {
                for alpha in [0.001, 0.05, 0.3] {
                    let critical = critical_values(&information, alpha, spending).unwrap();
                    let (mut shares, mut values, mut before) = (Vec::new(), Vec::new(), 0.0);
                    for (&share, &value) in information.iter().zip(&critical) {
                        shares.extend([share - 0.04 * (share - before), share]);
                        values.extend([30.0, value]);
                        before = share;
                    }
                    let crossed = crossing_probabilities(&shares, &values).unwrap();
                    for (&share, got) in information.iter().zip(crossed.iter().skip(1).step_by(2)) {
                        assert!((got - spending.spent(alpha, share)).abs() < 1e-9, "{spending:?} {alpha} at {share}");
                    }
                }
            }
        }
    }

    #[test]
    fn later_looks_do_not_change_earlier_ones() {
        let long = critical_values(&[0.2, 0.3, 0.7, 0.71, 1.0], 0.05, Spending::OBrienFleming).unwrap();
        let short = critical_values(&[0.2, 0.3, 0.7], 0.05, Spending::OBrienFleming).unwrap();
        assert_eq!(long[..3], short);
    }

    #[test]
    fn early_looks_get_large_and_finite_values() {
        for information in [vec![1e-300, 1e-9, 1e-4, 0.01, 1.0], vec![0.001, 0.002, 0.003, 0.5], vec![1e-12]] {
            for spending in [Spending::OBrienFleming, Spending::Pocock] {
                let critical = critical_values(&information, 0.05, spending).unwrap();
                assert!(critical.iter().all(|value| (1.9..=30.0).contains(value)), "{spending:?}: {critical:?}");
            }
        }
        let critical = critical_values(&[1e-6, 1.0], 0.05, Spending::OBrienFleming).unwrap();
        assert_eq!(critical[0], 30.0);
        assert!((critical[1] - NORMAL_97_5).abs() < 1e-9);
    }

    #[test]
    fn nonsense_is_refused_by_look() {
        let of = |information: &[f64]| critical_values(information, 0.05, Spending::Pocock).unwrap_err().to_string();
        assert!(of(&[]).contains("at least one look"));
        assert!(of(&[0.0, 1.0]).starts_with("look 1: "));
        assert!(of(&[0.5, 0.5]).starts_with("look 2: expected a share of the information above 0.5"));
        assert!(of(&[0.5, f64::NAN]).starts_with("look 2: "));
        assert!(of(&[0.5, 1.1]).ends_with("got 1.1"));
        for alpha in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(critical_values(&[1.0], alpha, Spending::Pocock).is_err());
        }
        for critical in [&[2.0][..], &[2.0, -1.0], &[2.0, f64::NAN], &[2.0, 2.0, 2.0]] {
            assert!(crossing_probabilities(&[0.5, 1.0], critical).is_err(), "{critical:?}");
        }
    }

    #[test]
    fn spendings_are_read_by_their_names() {
        for (spending, name) in [(Spending::OBrienFleming, "obrien_fleming"), (Spending::Pocock, "pocock")] {
            let text = format!("\"{name}\"");
            assert_eq!(serde_json::to_string(&spending).unwrap(), text);
            assert_eq!(serde_json::from_str::<Spending>(&text).unwrap(), spending);
        }
    }
}
