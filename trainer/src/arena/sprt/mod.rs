//! The sequential probability ratio test: whether to stop a match, and what it then says.
//!
//! Two hypotheses about the Elo difference, H0: `elo0` and H1: `elo1`, are compared by the generalized log-likelihood
//! ratio of the results so far. It crosses the lower bound and H0 is accepted, the upper one and H1 is; the probability
//! of a wrong answer is then about `alpha` at `elo0` and `beta` at `elo1`. Three models say what an Elo is, [`EloModel`].
//!
//! Pairs of games are one observation (the pentanomial), because the two games from one opening are correlated; single
//! games (the trinomial) are for matches without pairs.
//!
//! No clocks, files or matches here. `likelihood` holds the constrained maxima, `brownian` and `estimate` the Elo
//! after the stop; the statistics of a fixed number of games are in [`super::statistics`]. `docs/statistics.md` says all
//! of it in words.

mod brownian;
mod estimate;
mod likelihood;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use thiserror::Error;

use super::statistics::{GameCounts, MatchTally, NORMALIZED_ELO_UNIT, PairCounts, ScoreSample};
use estimate::Course;
use likelihood::{Sample, Score};

pub use estimate::{ELO_LIMIT, SequentialEstimate};

/// Hypotheses may be as far from 0 as this, in Elo.
pub const MOST_ELO: f64 = 5000.0;
/// Results may be as many as this: whole numbers that a double holds exactly.
pub const MOST_RESULTS: u64 = 1 << 53;

/// What an Elo difference is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum EloModel {
    /// Normalized Elo: the score's distance from ½ in standard deviations of a game, times 800/ln 10. Games needed do not
    /// depend on how drawish they are.
    #[default]
    Normalized,
    /// Logistic Elo of the score, 1/(1 + 10^(−elo/400)).
    Logistic,
    /// BayesElo: a win by 1/(1 + 10^((draw − elo)/400)), a loss likewise, with the draw Elo of the results so far.
    Bayesian,
}

/// What a test is to do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SprtSettings {
    /// The Elo difference under H0, in the model's Elo.
    pub elo0: f64,
    /// The Elo difference under H1, above `elo0`.
    pub elo1: f64,
    /// Probability of accepting H1 at `elo0`.
    #[serde(default = "SprtSettings::usual_error")]
    pub alpha: f64,
    /// Probability of accepting H0 at `elo1`.
    #[serde(default = "SprtSettings::usual_error")]
    pub beta: f64,
    /// What an Elo is.
    #[serde(default)]
    pub model: EloModel,
    /// Nothing is decided before so many observations: pairs, or games where nothing is paired.
    #[serde(default)]
    pub minimum: u64,
}

/// A test whose settings make sense.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sprt(SprtSettings);

/// Why a test cannot be made, or says nothing about some results.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum SprtError {
    /// A hypothesis is no number, or no sensible one.
    #[error("{name}: expected a number between {} and {MOST_ELO}, got {got}", -MOST_ELO)]
    Elo {
        /// `elo0` or `elo1`.
        name: &'static str,
        /// What came.
        got: f64,
    },
    /// The hypotheses are equal or exchanged.
    #[error("expected elo0 below elo1, got elo0 {elo0} and elo1 {elo1}")]
    Order {
        /// H0.
        elo0: f64,
        /// H1.
        elo1: f64,
    },
    /// An error probability is none.
    #[error("{name}: expected a probability above 0 and below 1, got {got}")]
    Probability {
        /// `alpha` or `beta`.
        name: &'static str,
        /// What came.
        got: f64,
    },
    /// With such errors a coin is as good.
    #[error("expected alpha + beta below 1, got {alpha} + {beta}")]
    Coin {
        /// Error at `elo0`.
        alpha: f64,
        /// Error at `elo1`.
        beta: f64,
    },
    /// More results than can be counted.
    #[error("expected at most {MOST_RESULTS} results, got {got}")]
    TooMany {
        /// What came.
        got: u128,
    },
    /// The draw Elo needs games.
    #[error(
        "the bayesian model: expected wins, draws and losses, got pairs only (their middle class holds both draws and \
         wins against losses)"
    )]
    GamesNeeded,
    /// No distribution fits a hypothesis, by any of the ways tried.
    #[error("the {model} model: expected results that can be made to fit elo0 {elo0} and elo1 {elo1}, got {results}")]
    NoFit {
        /// The model.
        model: EloModel,
        /// H0.
        elo0: f64,
        /// H1.
        elo1: f64,
        /// The results, from worst to best.
        results: Results,
    },
}

/// What a match has given so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Results {
    /// Games that are not played in pairs.
    Games(GameCounts),
    /// Pairs alone.
    Pairs(PairCounts),
    /// Pairs with the games in them.
    Match(MatchTally),
}

/// Where a test stops: values of the log-likelihood ratio, in nats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bounds {
    /// ln(β/(1−α)), below 0: H0 is accepted here and below.
    pub lower: f64,
    /// ln((1−β)/α), above 0: H1 is accepted here and above.
    pub upper: f64,
}

/// What a test says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Decision {
    /// The difference is `elo0` rather than `elo1`.
    #[serde(rename = "H0")]
    AcceptH0,
    /// The difference is `elo1` rather than `elo0`.
    #[serde(rename = "H1")]
    AcceptH1,
    /// Not decided yet.
    #[serde(rename = "continue")]
    Continue,
}

/// A test with some results.
#[derive(Debug, Clone, PartialEq)]
pub struct SprtReport {
    /// The test.
    pub settings: SprtSettings,
    /// The results.
    pub results: Results,
    /// The log-likelihood ratio of H1 to H0, in nats.
    pub llr: f64,
    /// Where the test stops.
    pub bounds: Bounds,
    /// What it says.
    pub decision: Decision,
    /// The Elo difference with regard to when the test stops.
    pub estimate: SequentialEstimate,
    /// Score, Elo and the like as if the number of games had been fixed.
    pub fixed: ScoreSample,
}

impl SprtReport {
    /// The median-unbiased Elo with its interval in words: `+1.2 [-3.4, +5.6]`. Edges where the search for them ends are no
    /// edges, and results without variance have no interval.
    #[must_use]
    pub fn told_elo(&self, decimals: usize) -> String {
        let estimate = &self.estimate;
        let scale = 10_f64.powi(decimals as i32);
        // Rounded first, so that a small negative number is not written as −0.
        let number = |elo: f64| format!("{:+.decimals$}", (elo * scale).round() / scale + 0.0);
        if self.fixed.standard_error().known().is_none() {
            return "n/a (no variance yet)".into();
        }
        let edge = |elo: f64| if elo.abs() >= ELO_LIMIT { "beyond".to_owned() } else { number(elo) };
        let [low, high] = estimate.elo_ci.map(edge);
        format!("{} [{low}, {high}]", edge(estimate.elo))
    }

    /// The report for scripts. Numbers that do not exist are `null`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let (settings, estimate, fixed) = (&self.settings, &self.estimate, &self.fixed);
        let interval = fixed.elo_interval().map(|interval| [interval.low, interval.high]);
        json!({
            "model": settings.model,
            "statistic": self.results.statistic(),
            "elo0": settings.elo0,
            "elo1": settings.elo1,
            "alpha": settings.alpha,
            "beta": settings.beta,
            "observations": self.results.observations(),
            "llr": self.llr,
            "lower": self.bounds.lower,
            "upper": self.bounds.upper,
            "decision": self.decision,
            "elo": estimate.elo,
            "elo_ci": estimate.elo_ci,
            "nelo": fixed.normalized_elo(),
            "los": estimate.los,
            "clamped": estimate.clamped,
            "nelo_unbiased": estimate.nelo,
            "fixed": {
                "score": fixed.score(),
                "elo": fixed.elo(),
                "elo_ci": interval,
                "nelo": fixed.normalized_elo(),
                "nelo_error": fixed.normalized_elo_error(),
                "los": fixed.likelihood_of_superiority(),
            },
        })
    }
}

impl SprtSettings {
    /// Errors of 5 %, the normalized model, and no minimum.
    #[must_use]
    pub fn new(elo0: f64, elo1: f64) -> Self {
        let error = Self::usual_error();
        Self { elo0, elo1, alpha: error, beta: error, model: EloModel::default(), minimum: 0 }
    }

    /// The error probability where none is given.
    #[must_use]
    pub const fn usual_error() -> f64 {
        0.05
    }
}

impl Sprt {
    /// A test.
    ///
    /// # Errors
    /// Hypotheses that are no numbers, too far off or not in order; errors that are no probabilities or no better than a
    /// coin's.
    pub fn new(settings: SprtSettings) -> Result<Self, SprtError> {
        let SprtSettings { elo0, elo1, alpha, beta, .. } = settings;
        for (name, got) in [("elo0", elo0), ("elo1", elo1)] {
            if !(got.is_finite() && got.abs() <= MOST_ELO) {
                return Err(SprtError::Elo { name, got });
            }
        }
        if elo0 >= elo1 {
            return Err(SprtError::Order { elo0, elo1 });
        }
        for (name, got) in [("alpha", alpha), ("beta", beta)] {
            if !(got > 0.0 && got < 1.0) {
                return Err(SprtError::Probability { name, got });
            }
        }
        if alpha + beta >= 1.0 {
            return Err(SprtError::Coin { alpha, beta });
        }
        Ok(Self(settings))
    }

    /// What it was made from.
    #[must_use]
    pub const fn settings(&self) -> &SprtSettings {
        &self.0
    }

    /// Where it stops.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let SprtSettings { alpha, beta, .. } = self.0;
        Bounds { lower: (beta / (1.0 - alpha)).ln(), upper: ((1.0 - beta) / alpha).ln() }
    }

    /// The log-likelihood ratio of H1 to H0, in nats: finite.
    ///
    /// # Errors
    /// Too many results, pairs alone under the bayesian model, or results that no distribution of a hypothesis fits.
    pub fn llr(&self, results: &Results) -> Result<f64, SprtError> {
        self.evaluate(results, |hypotheses, sample| match sample {
            Observed::Games(sample) => hypotheses.llr(&sample),
            Observed::Pairs(sample) => hypotheses.llr(&sample),
        })?
        .filter(|llr| llr.is_finite())
        .ok_or_else(|| self.no_fit(results))
    }

    /// What a ratio says after so many observations.
    #[must_use]
    pub fn decision(&self, llr: f64, observations: u64) -> Decision {
        let Bounds { lower, upper } = self.bounds();
        if observations < self.0.minimum {
            Decision::Continue
        } else if llr <= lower {
            Decision::AcceptH0
        } else if llr >= upper {
            Decision::AcceptH1
        } else {
            Decision::Continue
        }
    }

    /// Whether to stop: the ratio and what it says, without the Elo, which takes longer.
    ///
    /// # Errors
    /// Those of [`Self::llr`].
    pub fn step(&self, results: &Results) -> Result<(f64, Decision), SprtError> {
        let llr = self.llr(results)?;
        Ok((llr, self.decision(llr, results.observations())))
    }

    /// Everything the test says.
    ///
    /// # Errors
    /// Those of [`Self::llr`].
    pub fn report(&self, results: &Results) -> Result<SprtReport, SprtError> {
        let (llr, decision) = self.step(results)?;
        let bounds = self.bounds();
        let estimate = self.evaluate(results, |hypotheses, sample| match sample {
            Observed::Games(sample) => hypotheses.course(sample, bounds).estimate(),
            Observed::Pairs(sample) => hypotheses.course(sample, bounds).estimate(),
        })?;
        Ok(SprtReport {
            settings: self.0,
            results: *results,
            llr,
            bounds,
            decision,
            estimate,
            fixed: results.fixed_sample(),
        })
    }

    fn evaluate<T>(&self, results: &Results, what: impl FnOnce(Hypotheses, Observed) -> T) -> Result<T, SprtError> {
        let got = results.total();
        if got > u128::from(MOST_RESULTS) {
            return Err(SprtError::TooMany { got });
        }
        Ok(what(self.hypotheses(results)?, results.observed()))
    }

    /// The hypotheses as expected scores, or as means in standard deviations.
    fn hypotheses(&self, results: &Results) -> Result<Hypotheses, SprtError> {
        let elo = [self.0.elo0, self.0.elo1];
        Ok(match self.0.model {
            EloModel::Normalized => {
                Hypotheses { elo, kind: Kind::Standardised(elo.map(|elo| elo / NORMALIZED_ELO_UNIT)) }
            }
            EloModel::Logistic => Hypotheses { elo, kind: Kind::Scores(elo.map(score)) },
            EloModel::Bayesian => {
                let draw_elo = draw_elo(&results.games().ok_or(SprtError::GamesNeeded)?);
                let scores = elo.map(|elo| bayesian_score(elo, draw_elo));
                let logistic = scores.map(|score| (score.points / score.lacking).log10() * 400.0);
                Hypotheses { elo: logistic.map(|elo| elo.clamp(-MOST_ELO, MOST_ELO)), kind: Kind::Scores(scores) }
            }
        })
    }

    fn no_fit(&self, results: &Results) -> SprtError {
        let SprtSettings { elo0, elo1, model, .. } = self.0;
        SprtError::NoFit { model, elo0, elo1, results: *results }
    }
}

/// Two hypotheses about results.
struct Hypotheses {
    /// Roughly where they are, in Elo.
    elo: [f64; 2],
    kind: Kind,
}

enum Kind {
    /// Expected scores.
    Scores([Score; 2]),
    /// (Expected score − ½)/σ, with the σ of a game.
    Standardised([f64; 2]),
}

impl Hypotheses {
    fn llr<const K: usize>(&self, sample: &Sample<K>) -> Option<f64> {
        match self.kind {
            Kind::Scores(scores) => sample.ratio_of_scores(scores),
            // A pair's score, the mean of two, varies √2 less than a game's.
            Kind::Standardised(means) => {
                sample.ratio_of_standardised(means.map(|mean| mean * Sample::<K>::games().sqrt()))
            }
        }
    }

    fn course<const K: usize>(&self, sample: Sample<K>, bounds: Bounds) -> Course<K> {
        let (scores, difference) = match self.kind {
            Kind::Scores([low, high]) => ([low.points, high.points], high.points - low.points),
            Kind::Standardised(means) => {
                let deviation = (Sample::<K>::games() * sample.moments().1).sqrt();
                (means.map(|mean| 0.5 + mean * deviation), (means[1] - means[0]) * deviation)
            }
        };
        Course { sample, scores, difference, bounds, elo: self.elo }
    }
}

/// Results as what is observed at once.
enum Observed {
    Games(Sample<3>),
    Pairs(Sample<5>),
}

impl Results {
    /// Pairs, or games where nothing is paired.
    #[must_use]
    pub fn observations(&self) -> u64 {
        u64::try_from(self.total()).unwrap_or(u64::MAX)
    }

    /// `pentanomial` or `trinomial`.
    #[must_use]
    pub const fn statistic(&self) -> &'static str {
        match self {
            Self::Games(_) => "trinomial",
            Self::Pairs(_) | Self::Match(_) => "pentanomial",
        }
    }

    /// Observations, in whatever number.
    fn total(&self) -> u128 {
        let sum = |counts: &[u64]| counts.iter().copied().map(u128::from).sum();
        match self {
            Self::Games(games) => sum(&[games.wins, games.draws, games.losses]),
            Self::Pairs(pairs) => sum(&pairs.0),
            Self::Match(tally) => sum(&tally.pairs().0),
        }
    }

    fn games(&self) -> Option<GameCounts> {
        match self {
            Self::Games(games) => Some(*games),
            Self::Pairs(_) => None,
            Self::Match(tally) => Some(tally.games()),
        }
    }

    fn observed(&self) -> Observed {
        match self {
            Self::Games(games) => Observed::Games(games_sample(games)),
            Self::Pairs(pairs) => Observed::Pairs(Sample::new(pairs.0)),
            Self::Match(tally) => Observed::Pairs(Sample::new(tally.pairs().0)),
        }
    }

    fn fixed_sample(&self) -> ScoreSample {
        match self {
            Self::Games(games) => ScoreSample::from_games(games),
            Self::Pairs(pairs) => ScoreSample::from_pairs(pairs),
            Self::Match(tally) => ScoreSample::from_pairs(&tally.pairs()),
        }
    }
}

fn games_sample(games: &GameCounts) -> Sample<3> {
    Sample::new([games.losses, games.draws, games.wins])
}

/// 1/(1 + 10^(−elo/400)).
fn logistic(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The expected score at a logistic Elo difference.
fn score(elo: f64) -> Score {
    Score { points: logistic(elo), lacking: logistic(-elo) }
}

/// The expected score at a BayesElo difference: a win and half the draws.
fn bayesian_score(elo: f64, draw_elo: f64) -> Score {
    let (win, no_win) = (logistic(elo - draw_elo), logistic(draw_elo - elo));
    let (loss, no_loss) = (logistic(-elo - draw_elo), logistic(elo + draw_elo));
    Score { points: 0.5 * (win + no_loss), lacking: 0.5 * (loss + no_win) }
}

/// The draw Elo that wins and losses would have between players of their own strength: 200·log₁₀ of their odds against.
fn draw_elo(games: &GameCounts) -> f64 {
    let [loss, draw, win] = games_sample(games).frequencies;
    200.0 * ((win + draw) / loss * ((loss + draw) / win)).log10()
}

impl fmt::Display for EloModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Normalized => "normalized",
            Self::Logistic => "logistic",
            Self::Bayesian => "bayesian",
        })
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AcceptH0 => "H0",
            Self::AcceptH1 => "H1",
            Self::Continue => "continue",
        })
    }
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = match self {
            Self::Games(GameCounts { wins, draws, losses }) => return write!(f, "+{wins} ={draws} -{losses}"),
            Self::Pairs(pairs) => *pairs,
            Self::Match(tally) => tally.pairs(),
        };
        write!(f, "penta {:?}", pairs.0)
    }
}

/// The line a match shows: `LLR 0.92 [-2.94, 2.94] normalized [0, 2]`.
impl fmt::Display for SprtReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SprtSettings { elo0, elo1, model, .. } = self.settings;
        let Bounds { lower, upper } = self.bounds;
        write!(f, "LLR {:.2} [{lower:.2}, {upper:.2}] {model} [{elo0}, {elo1}]", self.llr)
    }
}
