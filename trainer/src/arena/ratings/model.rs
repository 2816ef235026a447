//! How likely a game's result is when one player is so much stronger, and the derivatives of its logarithm.

use serde::{Deserialize, Serialize};

use crate::arena::statistics::GameResult;
use crate::fit::{ln_sigmoid, sigmoid};

/// What relates ratings to results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum RatingModel {
    /// Ordo's: expected points are logistic in the difference, 76 % at 202; a draw is half a win and half a loss.
    #[default]
    Ordo,
    /// The same with the usual scale of Elo: 10/11 at 400.
    Elo,
    /// BayesElo's: wins and losses are logistic in the difference less a draw Elo, draws are what is left. Ratings are
    /// scaled so that small differences mean what they mean in Elo.
    Bayeselo,
}

impl RatingModel {
    /// Logits a point of rating, before BayesElo's scaling.
    pub(super) fn logits_a_point(self) -> f64 {
        match self {
            Self::Ordo => (0.76f64 / 0.24).ln() / 202.0,
            Self::Elo | Self::Bayeselo => std::f64::consts::LN_10 / 400.0,
        }
    }

    /// Whether draws have a parameter of their own.
    pub(super) const fn has_draws(self) -> bool {
        matches!(self, Self::Bayeselo)
    }

    /// The logarithm of the likelihood of `result`, White's, when White is `delta` logits stronger; `draw` is the draw
    /// parameter in logits, above 0.
    pub(super) fn judge(self, result: GameResult, delta: f64, draw: f64) -> Judged {
        if !self.has_draws() {
            let points = match result {
                GameResult::Win => 1.0,
                GameResult::Draw => 0.5,
                GameResult::Loss => 0.0,
            };
            return Judged::points(points, delta);
        }
        match result {
            GameResult::Win => Judged::at_least(1.0, delta, draw),
            GameResult::Loss => Judged::at_least(-1.0, delta, draw),
            // A draw is as likely as a win times a loss times e^(2·draw) − 1.
            GameResult::Draw => Judged::at_least(1.0, delta, draw)
                .plus(1.0, &Judged::at_least(-1.0, delta, draw))
                .plus(1.0, &Judged::left_for_draws(draw)),
        }
    }
}

/// A log-likelihood in nats with its first and second derivatives by the difference and the draw parameter, in logits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Judged {
    pub value: f64,
    pub by_delta: f64,
    pub by_draw: f64,
    pub delta_delta: f64,
    pub delta_draw: f64,
    pub draw_draw: f64,
}

impl Judged {
    /// Points of 1 in expectation σ(δ).
    fn points(points: f64, delta: f64) -> Self {
        let expected = sigmoid(delta);
        Self {
            value: points * ln_sigmoid(delta) + (1.0 - points) * ln_sigmoid(-delta),
            by_delta: points - expected,
            delta_delta: -expected * (1.0 - expected),
            ..Self::default()
        }
    }

    /// ln σ(±δ − draw).
    fn at_least(sign: f64, delta: f64, draw: f64) -> Self {
        let likely = sigmoid(sign * delta - draw);
        let curvature = likely * (1.0 - likely);
        Self {
            value: ln_sigmoid(sign * delta - draw),
            by_delta: sign * (1.0 - likely),
            by_draw: likely - 1.0,
            delta_delta: -curvature,
            delta_draw: sign * curvature,
            draw_draw: -curvature,
        }
    }

    /// ln(e^(2·draw) − 1).
    fn left_for_draws(draw: f64) -> Self {
        let left = -(-2.0 * draw).exp_m1();
        Self {
            value: 2.0 * draw + left.ln(),
            by_draw: 2.0 / left,
            draw_draw: -4.0 * (-2.0 * draw).exp() / (left * left),
            ..Self::default()
        }
    }

    /// Adds another, so many times.
    pub fn plus(self, times: f64, other: &Self) -> Self {
        Self {
            value: self.value + times * other.value,
            by_delta: self.by_delta + times * other.by_delta,
            by_draw: self.by_draw + times * other.by_draw,
            delta_delta: self.delta_delta + times * other.delta_delta,
            delta_draw: self.delta_draw + times * other.delta_draw,
            draw_draw: self.draw_draw + times * other.draw_draw,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bayesian_results_add_up_to_one() {
        for (delta, draw) in [(0.0, 0.9), (1.5, 0.1), (-3.0, 2.0)] {
            let likely = |result| RatingModel::Bayeselo.judge(result, delta, draw).value.exp();
            let sum: f64 = [GameResult::Win, GameResult::Draw, GameResult::Loss].map(likely).iter().sum();
            assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        }
    }

    #[test]
    fn derivatives_are_those_of_the_value() {
        let step = 1e-5;
        for model in [RatingModel::Ordo, RatingModel::Bayeselo] {
            for result in [GameResult::Win, GameResult::Draw, GameResult::Loss] {
                let at = |delta, draw| model.judge(result, delta, draw);
                let here = at(0.4, 0.8);
                let by_delta = (at(0.4 + step, 0.8).value - at(0.4 - step, 0.8).value) / (2.0 * step);
                let by_draw = (at(0.4, 0.8 + step).value - at(0.4, 0.8 - step).value) / (2.0 * step);
                let delta_delta = (at(0.4 + step, 0.8).by_delta - at(0.4 - step, 0.8).by_delta) / (2.0 * step);
                let delta_draw = (at(0.4, 0.8 + step).by_delta - at(0.4, 0.8 - step).by_delta) / (2.0 * step);
                let draw_draw = (at(0.4, 0.8 + step).by_draw - at(0.4, 0.8 - step).by_draw) / (2.0 * step);
                let pairs = [
                    (here.by_delta, by_delta),
                    (here.by_draw, by_draw),
                    (here.delta_delta, delta_delta),
                    (here.delta_draw, delta_draw),
                    (here.draw_draw, draw_draw),
                ];
                for (exact, differences) in pairs {
                    assert!((exact - differences).abs() < 1e-7, "{model:?} {result:?}: {exact}, {differences}");
                }
            }
        }
    }
}
