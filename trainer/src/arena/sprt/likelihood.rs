//! The distribution that makes results most likely while its mean, or its mean in standard deviations, is as a
//! hypothesis says. Recipes: Van den Bergh, "Support of the MLE for multinomials" (proposition 1.1) and "Normalized Elo,
//! practical" (section 4.1).
//!
//! No hypotheses, bounds or decisions here: those are [`super`]'s.

/// What stands for a result that was never seen, in observations.
const UNSEEN: f64 = 1e-3;
/// Steps of the iteration for a given mean in standard deviations.
const MOST_STEPS: usize = 10;
/// It has settled when no probability moves more.
const SETTLED: f64 = 1e-9;
/// It has succeeded when the mean in standard deviations is as close as this to what was asked.
const CLOSE: f64 = 1e-5;
/// Steps for a root: each halves its bracket at least, on a logarithmic scale.
const ROOT_STEPS: usize = 200;
/// Standard deviations tried, on a logarithmic scale, where the iteration fails.
const DEVIATIONS_TRIED: usize = 200;
/// The smallest of them, as a part of the largest.
const SMALLEST_DEVIATION: f64 = 1e-8;

/// How often each of `K` equally spaced scores from 0 to 1 came, with something small for those that never did.
#[derive(Debug, Clone, Copy)]
pub struct Sample<const K: usize> {
    /// Observations: pairs, or games.
    pub size: f64,
    /// Relative frequency of each score, all above 0.
    pub frequencies: [f64; K],
}

/// An expected score with its distance from 1, which is exact where the score itself rounds to 1.
#[derive(Debug, Clone, Copy)]
pub struct Score {
    /// Points per game, above 0.
    pub points: f64,
    /// 1 − points, above 0.
    pub lacking: f64,
}

/// How many times less likely each result is under a hypothesis than it was frequent: p̂/p, all above 0.
type Ratios<const K: usize> = [f64; K];

impl<const K: usize> Sample<K> {
    /// From counts of scores in ascending order.
    pub fn new(counts: [u64; K]) -> Self {
        let regular = counts.map(|count| if count == 0 { UNSEEN } else { count as f64 });
        let size = regular.iter().sum();
        Self { size, frequencies: regular.map(|count| count / size) }
    }

    /// Games in an observation.
    pub const fn games() -> f64 {
        (K - 1) as f64 / 2.0
    }

    /// Points per game and the variance of an observation's score.
    pub fn moments(&self) -> (f64, f64) {
        moments(&self.frequencies)
    }

    /// The log-likelihood ratio of two expected scores, in nats: that of `scores[1]` less that of `scores[0]`.
    pub fn ratio_of_scores(&self, scores: [Score; 2]) -> Option<f64> {
        let [low, high] = scores.map(|score| self.at_score(score));
        Some(self.ratio(low?, high?))
    }

    /// The log-likelihood ratio, in nats, of two values of (mean − ½)/σ, where σ is that of an observation's score.
    pub fn ratio_of_standardised(&self, means: [f64; 2]) -> Option<f64> {
        let [low, high] = means.map(|mean| self.at_standardised(mean));
        Some(self.ratio(low?, high?))
    }

    fn ratio(&self, low: Ratios<K>, high: Ratios<K>) -> f64 {
        let each = self.frequencies.iter().zip(low.iter().zip(high));
        self.size * each.map(|(frequency, (low, high))| frequency * (low / high).ln()).sum::<f64>()
    }

    fn at_score(&self, score: Score) -> Option<Ratios<K>> {
        self.solve(&std::array::from_fn(|i| if i + 1 == K { score.lacking } else { value::<K>(i) - score.points }))
    }

    /// First the published iteration, which finds what others find; where it fails, all solutions are looked for.
    fn at_standardised(&self, mean: f64) -> Option<Ratios<K>> {
        self.iterated(mean).or_else(|| self.likeliest(mean))
    }

    /// From equal probabilities on, the deviation that the constraint needs is that of the last step.
    fn iterated(&self, mean: f64) -> Option<Ratios<K>> {
        let mut probabilities = [1.0 / K as f64; K];
        let mut ratios = [1.0; K];
        for _ in 0..MOST_STEPS {
            let (points, variance) = moments(&probabilities);
            ratios = self.solve(&constraint(mean, points, variance.sqrt()))?;
            let next = self.probabilities(&ratios);
            let moved = probabilities.iter().zip(next).map(|(old, new)| (old - new).abs()).fold(0.0, f64::max);
            probabilities = next;
            if moved < SETTLED {
                break;
            }
        }
        let (points, variance) = moments(&probabilities);
        let missed = (points - 0.5) / variance.sqrt() - mean;
        (missed.abs() < CLOSE).then_some(ratios)
    }

    /// Given the deviation σ, the mean is ½ + `mean`·σ and the rest is a secular equation; the deviations at which its
    /// solution has the variance σ² are the stationary points of the likelihood. The likeliest of them is the answer.
    fn likeliest(&self, mean: f64) -> Option<Ratios<K>> {
        let largest = 0.5 / mean.abs().max(1.0);
        let deviation = |step: f64| largest * SMALLEST_DEVIATION.powf(step / DEVIATIONS_TRIED as f64);
        let excess = |step: f64| self.at_deviation(mean, deviation(step)).map(|(excess, _)| excess);
        let brackets = (0..DEVIATIONS_TRIED).filter_map(|step| {
            let (high, low) = (excess(step as f64)?, excess(step as f64 + 1.0)?);
            ((high > 0.0) != (low > 0.0)).then_some((step as f64, high > 0.0))
        });
        let solutions = brackets.filter_map(|(step, positive)| {
            let root = bisect(step, step + 1.0, |step| excess(step).is_some_and(|excess| (excess > 0.0) == positive));
            // Where the equation has no solution in between, the sign changes in a jump.
            self.at_deviation(mean, deviation(root))
                .filter(|(excess, _)| excess.abs() < CLOSE)
                .map(|(_, ratios)| ratios)
        });
        let surprise = |ratios: &Ratios<K>| -> f64 {
            self.frequencies.iter().zip(ratios).map(|(frequency, ratio)| frequency * ratio.ln()).sum()
        };
        solutions.min_by(|one, other| surprise(one).total_cmp(&surprise(other)))
    }

    /// Variance in σ², less 1, of the likeliest distribution with the constraint at that deviation; and its ratios.
    fn at_deviation(&self, mean: f64, deviation: f64) -> Option<(f64, Ratios<K>)> {
        let points = 0.5 + mean * deviation;
        let ratios = self.solve(&constraint(mean, points, deviation))?;
        let probabilities = self.probabilities(&ratios);
        let variance = mean_of(&probabilities, |score| (score - points) * (score - points));
        Some((variance / (deviation * deviation) - 1.0, ratios))
    }

    fn probabilities(&self, ratios: &Ratios<K>) -> [f64; K] {
        std::array::from_fn(|i| self.frequencies[i] / ratios[i])
    }

    /// The ratios 1 + θ·x with θ the root of Σ p̂·x/(1 + θ·x) = 0; `None` unless some x are above 0 and some below.
    ///
    /// θ lies between the poles −1/max x and −1/min x. The unknown is u, the ratio of the x whose pole is on the root's
    /// side: it lies between that x's frequency and 1, and the smallest of them is found as exactly as the largest.
    fn solve(&self, x: &[f64; K]) -> Option<Ratios<K>> {
        let high = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let low = x.iter().copied().fold(f64::INFINITY, f64::min);
        if !(low < 0.0 && high > 0.0 && low.is_finite() && high.is_finite()) {
            return None;
        }
        let mean: f64 = self.frequencies.iter().zip(x).map(|(frequency, x)| frequency * x).sum();
        let edge = if mean > 0.0 { low } else { high };
        let ratios = |u: f64| x.map(|x| if x == edge { u } else { ((edge - x) + u * x) / edge });
        let root = Secular { frequencies: &self.frequencies, x, edge }.root();
        let solution = ratios(root);
        solution.iter().all(|ratio| *ratio > 0.0 && ratio.is_finite()).then_some(solution)
    }
}

/// The secular equation in u, times u: without a pole where u is small.
struct Secular<'a, const K: usize> {
    frequencies: &'a [f64; K],
    x: &'a [f64; K],
    edge: f64,
}

impl<const K: usize> Secular<'_, K> {
    /// Newton's method inside a bracket; where it leaves that, the bracket is halved on a logarithmic scale.
    fn root(&self) -> f64 {
        let (at_edge, _) = self.value_and_slope(0.0);
        let mut low = 0.5 * at_edge.abs() / self.edge.abs();
        let (mut high, mut u) = (1.0, 1.0);
        for _ in 0..ROOT_STEPS {
            let (value, slope) = self.value_and_slope(u);
            if value == 0.0 {
                return u;
            }
            if (value > 0.0) == (at_edge > 0.0) {
                low = u;
            } else {
                high = u;
            }
            let newton = u - value / slope;
            let next = if newton > low && newton < high { newton } else { (low * high).sqrt() };
            if (next - u).abs() <= 2.0 * f64::EPSILON * u {
                return next;
            }
            u = next;
        }
        u
    }

    fn value_and_slope(&self, u: f64) -> (f64, f64) {
        let (mut at_edge, mut sum, mut slope) = (0.0, 0.0, 0.0);
        for (frequency, &x) in self.frequencies.iter().zip(self.x) {
            if x == self.edge {
                at_edge += frequency * x;
                continue;
            }
            let ratio = ((self.edge - x) + u * x) / self.edge;
            let term = frequency * x / ratio;
            sum += term;
            slope -= term * x / (self.edge * ratio);
        }
        (at_edge + u * sum, sum + u * slope)
    }
}

/// φ(a) = a − ½ − ½·t·σ·(1 + ((a−μ)/σ)²): its mean is 0 where (mean − ½)/σ is t.
fn constraint<const K: usize>(mean: f64, points: f64, deviation: f64) -> [f64; K] {
    std::array::from_fn(|i| {
        let away = (value::<K>(i) - points) / deviation;
        value::<K>(i) - 0.5 - 0.5 * mean * deviation * (1.0 + away * away)
    })
}

/// The score that stands at an index.
fn value<const K: usize>(index: usize) -> f64 {
    index as f64 / (K - 1) as f64
}

fn mean_of<const K: usize>(probabilities: &[f64; K], quantity: impl Fn(f64) -> f64) -> f64 {
    probabilities.iter().enumerate().map(|(i, probability)| probability * quantity(value::<K>(i))).sum()
}

fn moments<const K: usize>(probabilities: &[f64; K]) -> (f64, f64) {
    let points = mean_of(probabilities, |score| score);
    (points, mean_of(probabilities, |score| (score - points) * (score - points)))
}

/// Where a claim that is true at `from` stops being true before `to`.
pub fn bisect(mut from: f64, mut to: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..ROOT_STEPS {
        let middle = 0.5 * (from + to);
        if middle == from || middle == to {
            break;
        }
        if holds(middle) {
            from = middle;
        } else {
            to = middle;
        }
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A maximum under a constraint: no small move along the constraint makes the results likelier.
    #[test]
    fn the_solution_satisfies_its_constraint() {
        for counts in [[3, 7, 17, 11, 2], [0, 0, 0, 0, 90], [0, 1, 48, 1, 0], [1, 0, 0, 0, 1_000_000_000]] {
            let sample = Sample::new(counts);
            for points in [1e-9, 0.2, 0.5, 0.73] {
                let ratios = sample.at_score(Score { points, lacking: 1.0 - points }).unwrap();
                let probabilities = sample.probabilities(&ratios);
                assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{counts:?}, {points}");
                let mean = mean_of(&probabilities, |score| score);
                assert!((mean - points).abs() < 1e-9 * points.max(1e-3), "{counts:?}: {points}, {mean}");
            }
            for standardised in [-4.0, -0.3, 0.0, 0.01, 0.5, 3.0] {
                let ratios = sample.at_standardised(standardised).unwrap();
                let (points, variance) = moments(&sample.probabilities(&ratios));
                let got = (points - 0.5) / variance.sqrt();
                assert!((got - standardised).abs() < 1e-4, "{counts:?}: {standardised}, {got}");
            }
        }
    }

    #[test]
    fn both_ways_to_a_standardised_mean_agree() {
        for counts in [[12, 55, 96, 77, 22], [2, 10, 20, 12, 6], [127, 4883, 10712, 5150, 104]] {
            let sample = Sample::new(counts);
            for mean in [-0.2, 0.0, 0.04, 0.3] {
                let (one, other) = (sample.iterated(mean).unwrap(), sample.likeliest(mean).unwrap());
                for (one, other) in one.iter().zip(other) {
                    assert!((one - other).abs() < 1e-6, "{counts:?} at {mean}: {one} and {other}");
                }
            }
        }
    }

    #[test]
    fn no_solution_where_every_result_is_on_one_side() {
        let sample = Sample::new([1, 2, 3]);
        assert!(sample.solve(&[0.1, 0.2, 0.3]).is_none());
        assert!(sample.solve(&[-0.1, f64::NAN, f64::INFINITY]).is_none());
    }
}
