//! Ratings of two or more players from the games between them: Ordo's and BayesElo's models.
//!
//! `table` holds the games, `model` says how likely their results are, and here the likelihood is maximised by
//! Newton's method: under Ordo's model that is where everybody's expected points are his points. Errors come from a
//! sandwich over pairs of games, so they neither assume the model's variance nor that the two games from one opening
//! are independent. Players that results do not link with the others have no finite rating; they are told, not fitted.
//!
//! No files here: those are read by [`read`]. A match of two is better judged by [`super::statistics`].

mod model;
pub mod read;
mod table;

use std::collections::BTreeMap;

use serde::Serialize;
use thiserror::Error;

use super::statistics::GameResult;
use crate::fit::NORMAL_97_5;
use crate::fit::linear::{Cholesky, SquareMatrix};
use model::Judged;

pub use model::RatingModel;
pub use table::{GameTable, RatedGame};

/// More players are not fitted: the matrices are dense.
pub const MOST_PLAYERS: usize = 2_000;
/// Virtual draws a player under BayesElo's model, as its authors have them.
pub const USUAL_PRIOR: f64 = 2.0;
/// Newton steps at most; ten are many.
const MOST_STEPS: usize = 100;
/// Halvings of a step that does not make results likelier.
const MOST_HALVINGS: usize = 60;
/// The maximum is found when no parameter moves by more logits.
const SETTLED: f64 = 1e-11;
/// Beyond so many logits there is no maximum.
const FARTHEST: f64 = 60.0;

/// What to fit.
#[derive(Debug, Clone, PartialEq)]
pub struct RatingSettings {
    /// The model.
    pub model: RatingModel,
    /// Fit the advantage of having the white men; otherwise there is none.
    pub white_advantage: bool,
    /// Virtual draws a player against his opponents, a prior towards equality.
    pub prior_draws: f64,
    /// A player whose rating is known; otherwise the mean rating is 0.
    pub anchor: Option<(String, f64)>,
}

/// Why ratings cannot be fitted.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum RatingError {
    /// Nobody can be compared with anybody.
    #[error("expected at least two players who took points from each other, got none among {players} players")]
    NobodyLinked {
        /// Players in the games.
        players: usize,
    },
    /// Too many players.
    #[error("expected at most {MOST_PLAYERS} players, got {got}")]
    TooMany {
        /// Players that are linked.
        got: usize,
    },
    /// The anchor is not among those fitted.
    #[error("anchor: expected a player who is rated (one of {}), got {got:?}", rated.join(", "))]
    Anchor {
        /// What came.
        got: String,
        /// Some of the players rated.
        rated: Vec<String>,
    },
    /// A number that makes no sense.
    #[error("{name}: expected a number from {least} to {most}, got {got}")]
    Number {
        /// Which.
        name: &'static str,
        /// The smallest allowed.
        least: f64,
        /// The largest allowed.
        most: f64,
        /// What came.
        got: f64,
    },
    /// The results grow likelier without end.
    #[error("expected a maximum of the likelihood, got none: {reason}")]
    NoMaximum {
        /// Which parameter runs away, and why.
        reason: &'static str,
    },
}

/// Why a player has no rating.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// All games won: any rating high enough explains that.
    WonAll,
    /// All games lost.
    LostAll,
    /// No points link him with those rated in both directions.
    Disconnected,
}

/// A number with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fitted {
    /// Points of rating.
    pub value: f64,
    /// Standard error, from pairs.
    pub standard_error: f64,
    /// Half the width of the 95 % interval.
    pub error: f64,
}

/// A player with a rating.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RatedPlayer {
    /// Name.
    pub name: String,
    /// The rating; its error is that of the distance to the anchor or to the mean of all.
    #[serde(flatten)]
    pub rating: Fitted,
    /// Games against rated players.
    pub games: u64,
    /// Points from them.
    pub points: f64,
}

/// A player without one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnratedPlayer {
    /// Name.
    pub name: String,
    /// Why.
    pub reason: LeftOut,
    /// The group he belongs to, by number, among those that are not rated.
    pub group: usize,
    /// All his games.
    pub games: u64,
    /// All his points.
    pub points: f64,
}

/// What was fitted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ratings {
    /// The model.
    pub model: RatingModel,
    /// Those rated, the strongest first.
    pub players: Vec<RatedPlayer>,
    /// Those not rated, by group.
    pub unrated: Vec<UnratedPlayer>,
    /// The advantage of having the white men, in points of rating, if it was fitted; unscaled under BayesElo's model.
    pub white_advantage: Option<Fitted>,
    /// BayesElo's draw Elo, unscaled.
    pub draw_elo: Option<f64>,
    /// What BayesElo's ratings were multiplied by; 1 under the other models.
    pub scale: f64,
    /// Games that were fitted, those between rated players.
    pub games: u64,
    /// Pairs, and games without a partner, among them.
    pub clusters: u64,
}

/// Fits ratings to the games of the largest group of linked players (by games, then by the first name that came).
///
/// # Errors
/// Nobody is linked, there are too many players, the anchor is not rated, or the likelihood has no maximum.
pub fn fit(table: &GameTable, settings: &RatingSettings) -> Result<Ratings, RatingError> {
    check(settings)?;
    let group = largest_group(table)?;
    let anchor =
        settings.anchor.as_ref().map(|(name, rating)| Ok((anchor(table, &group, name)?, *rating))).transpose()?;
    let problem = Problem::new(table, &group, settings);
    let solution = problem.maximum()?;
    let covariance = problem.covariance(&solution)?;
    Ok(Outcome { table, group: &group, problem: &problem, solution: &solution, covariance: &covariance }.told(anchor))
}

fn check(settings: &RatingSettings) -> Result<(), RatingError> {
    let anchor = settings.anchor.as_ref().map_or(0.0, |(_, rating)| *rating);
    for (name, least, most, got) in
        [("prior draws", 0.0, 1e6, settings.prior_draws), ("rating of the anchor", -1e6, 1e6, anchor)]
    {
        if !(got >= least && got <= most) {
            return Err(RatingError::Number { name, least, most, got });
        }
    }
    Ok(())
}

fn largest_group(table: &GameTable) -> Result<Vec<usize>, RatingError> {
    let mut group_of = vec![usize::MAX; table.players().len()];
    let groups = table.groups();
    for (number, group) in groups.iter().enumerate() {
        group.iter().for_each(|&player| group_of[player] = number);
    }
    let mut games = vec![0u64; groups.len()];
    for game in table.games().iter().filter(|game| group_of[game.white] == group_of[game.black]) {
        games[group_of[game.white]] += 1;
    }
    let linked = groups.into_iter().zip(games).filter(|(group, _)| group.len() > 1);
    let largest = linked.max_by_key(|(group, games)| (*games, std::cmp::Reverse(group[0]))).map(|(group, _)| group);
    let group = largest.ok_or(RatingError::NobodyLinked { players: table.players().len() })?;
    if group.len() > MOST_PLAYERS { Err(RatingError::TooMany { got: group.len() }) } else { Ok(group) }
}

/// The place of a named player in the group.
fn anchor(table: &GameTable, group: &[usize], name: &str) -> Result<usize, RatingError> {
    let named = |&player: &usize| table.players()[player].as_str();
    group.iter().map(named).position(|known| known == name).ok_or_else(|| RatingError::Anchor {
        got: name.to_owned(),
        rated: group.iter().take(8).map(|player| named(player).to_owned()).collect(),
    })
}

/// Games of one White against one Black: won, drawn and lost by White; the prior makes fractions of them.
type Crosstable = BTreeMap<(usize, usize), [f64; 3]>;

const RESULTS: [GameResult; 3] = [GameResult::Win, GameResult::Draw, GameResult::Loss];

/// The likelihood of the games of a group. Parameters, in logits: strengths of all players but the first, who has 0;
/// then the advantage of White and the draw parameter, if they are fitted.
struct Problem {
    model: RatingModel,
    players: usize,
    white_advantage: bool,
    /// Whether the draw parameter is fitted; without draws it is 0.
    draws: bool,
    /// Players by their place in the group.
    games: Vec<RatedGame>,
    crosstable: Crosstable,
}

/// A point in the parameters' space.
#[derive(Clone)]
struct Parameters(Vec<f64>);

impl Problem {
    fn new(table: &GameTable, group: &[usize], settings: &RatingSettings) -> Self {
        let mut place = vec![None; table.players().len()];
        group.iter().enumerate().for_each(|(at, &player)| place[player] = Some(at));
        let inside =
            |game: &RatedGame| Some(RatedGame { white: place[game.white]?, black: place[game.black]?, ..*game });
        let games: Vec<RatedGame> = table.games().iter().filter_map(inside).collect();
        let mut crosstable = Crosstable::new();
        for game in &games {
            let at = RESULTS.iter().position(|result| *result == game.result).unwrap_or(0);
            crosstable.entry((game.white, game.black)).or_default()[at] += 1.0;
        }
        add_prior(&mut crosstable, group.len(), settings.prior_draws);
        let draws = settings.model.has_draws() && crosstable.values().any(|counts| counts[1] > 0.0);
        let (model, white_advantage) = (settings.model, settings.white_advantage);
        Self { model, players: group.len(), white_advantage, draws, games, crosstable }
    }

    fn size(&self) -> usize {
        self.players - 1 + usize::from(self.white_advantage) + usize::from(self.draws)
    }

    fn start(&self) -> Parameters {
        let mut start = vec![0.0; self.size()];
        if self.draws {
            start[self.size() - 1] = 1.0;
        }
        Parameters(start)
    }

    fn strength(&self, at: &Parameters, player: usize) -> f64 {
        if player == 0 { 0.0 } else { at.0[player - 1] }
    }

    fn advantage(&self, at: &Parameters) -> f64 {
        if self.white_advantage { at.0[self.players - 1] } else { 0.0 }
    }

    fn draw(&self, at: &Parameters) -> f64 {
        if self.draws { at.0[self.size() - 1] } else { 0.0 }
    }

    fn judge(&self, at: &Parameters, (white, black): (usize, usize), result: GameResult) -> Judged {
        let delta = self.strength(at, white) - self.strength(at, black) + self.advantage(at);
        self.model.judge(result, delta, self.draw(at))
    }

    /// The parameters that the difference of a game depends on, with their signs.
    fn terms(&self, (white, black): (usize, usize)) -> impl Iterator<Item = (usize, f64)> {
        let player = |player: usize, sign: f64| player.checked_sub(1).map(|parameter| (parameter, sign));
        let advantage = self.white_advantage.then_some((self.players - 1, 1.0));
        [player(white, 1.0), player(black, -1.0), advantage].into_iter().flatten()
    }

    /// What all games of a colour's pairing say.
    fn row(&self, at: &Parameters, players: (usize, usize), counts: &[f64; 3]) -> Judged {
        let played = RESULTS.into_iter().zip(counts).filter(|(_, count)| **count > 0.0);
        played.fold(Judged::default(), |sum, (result, &count)| sum.plus(count, &self.judge(at, players, result)))
    }

    fn value(&self, at: &Parameters) -> f64 {
        if self.draws && self.draw(at) <= 0.0 {
            return f64::NEG_INFINITY;
        }
        self.crosstable.iter().map(|(&players, counts)| self.row(at, players, counts).value).sum()
    }

    /// The gradient and minus the matrix of second derivatives.
    fn slopes(&self, at: &Parameters) -> (Vec<f64>, SquareMatrix) {
        let mut gradient = vec![0.0; self.size()];
        let mut curvature = SquareMatrix::zeros(self.size());
        let draw = self.size().saturating_sub(1);
        for (&players, counts) in &self.crosstable {
            let row = self.row(at, players, counts);
            for (one, sign) in self.terms(players) {
                gradient[one] += sign * row.by_delta;
                for (other, other_sign) in self.terms(players) {
                    curvature.add(one, other, -sign * other_sign * row.delta_delta);
                }
                if self.draws {
                    curvature.add(one, draw, -sign * row.delta_draw);
                    curvature.add(draw, one, -sign * row.delta_draw);
                }
            }
            if self.draws {
                gradient[draw] += row.by_draw;
                curvature.add(draw, draw, -row.draw_draw);
            }
        }
        (gradient, curvature)
    }

    fn maximum(&self) -> Result<Parameters, RatingError> {
        self.check_colours()?;
        let mut at = self.start();
        let mut value = self.value(&at);
        for _ in 0..MOST_STEPS {
            let (gradient, curvature) = self.slopes(&at);
            let mut step = factor(&curvature)?.solve(&gradient);
            let mut halvings = 0;
            let (next, higher) = loop {
                let next = Parameters(at.0.iter().zip(&step).map(|(at, step)| at + step).collect());
                let higher = self.value(&next);
                // At the maximum rounding decides, so a step may lose a little.
                if higher >= value - 1e-12 * value.abs() || halvings == MOST_HALVINGS {
                    break (next, higher);
                }
                step.iter_mut().for_each(|step| *step *= 0.5);
                halvings += 1;
            };
            (at, value) = (next, higher);
            if at.0.iter().any(|parameter| parameter.is_nan() || parameter.abs() > FARTHEST) {
                return Err(runs_away());
            }
            if step.iter().all(|step| step.abs() < SETTLED) {
                return Ok(at);
            }
        }
        Err(runs_away())
    }

    /// White's advantage and the draw Elo have maxima only where something speaks against each extreme.
    fn check_colours(&self) -> Result<(), RatingError> {
        let [wins, draws, losses] = self.crosstable.values().fold([0.0; 3], |mut sum: [f64; 3], counts| {
            sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            sum
        });
        let none = |reason| Err(RatingError::NoMaximum { reason });
        if self.draws && wins + losses == 0.0 {
            return none("all games are drawn, so the draw Elo has no bound");
        }
        if self.white_advantage && (losses == 0.0 && (draws == 0.0 || self.draws)) {
            return none("Black never won, so White's advantage has no bound");
        }
        if self.white_advantage && (wins == 0.0 && (draws == 0.0 || self.draws)) {
            return none("White never won, so White's disadvantage has no bound");
        }
        Ok(())
    }

    /// The parameters' covariance: H⁻¹·Σ g·gᵀ·H⁻¹ with the gradient g of a pair.
    fn covariance(&self, at: &Parameters) -> Result<SquareMatrix, RatingError> {
        let bread = factor(&self.slopes(at).1)?.inverse();
        let mut gradients: BTreeMap<usize, BTreeMap<usize, f64>> = BTreeMap::new();
        for game in &self.games {
            let players = (game.white, game.black);
            let judged = self.judge(at, players, game.result);
            let gradient = gradients.entry(game.cluster).or_default();
            for (parameter, sign) in self.terms(players) {
                *gradient.entry(parameter).or_default() += sign * judged.by_delta;
            }
            if self.draws {
                *gradient.entry(self.size() - 1).or_default() += judged.by_draw;
            }
        }
        let mut meat = SquareMatrix::zeros(self.size());
        for gradient in gradients.values() {
            for (&one, value) in gradient {
                gradient.iter().for_each(|(&other, factor)| meat.add(one, other, value * factor));
            }
        }
        Ok(bread.sandwich(&meat))
    }

    fn clusters(&self) -> u64 {
        let mut clusters: Vec<usize> = self.games.iter().map(|game| game.cluster).collect();
        clusters.sort_unstable();
        clusters.dedup();
        clusters.len() as u64
    }
}

fn factor(curvature: &SquareMatrix) -> Result<Cholesky, RatingError> {
    Cholesky::factor(curvature).map_err(|_| runs_away())
}

fn runs_away() -> RatingError {
    RatingError::NoMaximum { reason: "ratings, White's advantage and draws explain the results better without end" }
}

/// BayesElo's prior: half of `draws` virtual draws a player, shared among his opponents as his games are, and as many
/// with each colour; his opponents' do the same, so with equal numbers of games everybody has `draws` of them.
fn add_prior(crosstable: &mut Crosstable, players: usize, draws: f64) {
    if draws <= 0.0 {
        return;
    }
    let mut between: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    let mut games = vec![0.0; players];
    for (&(white, black), counts) in crosstable.iter() {
        let count: f64 = counts.iter().sum();
        *between.entry((white.min(black), white.max(black))).or_default() += count;
        games[white] += count;
        games[black] += count;
    }
    for ((one, other), count) in between {
        let share = 0.25 * draws * (count / games[one] + count / games[other]);
        crosstable.entry((one, other)).or_default()[1] += share;
        crosstable.entry((other, one)).or_default()[1] += share;
    }
}

/// A maximum, about to be put in words.
struct Outcome<'a> {
    table: &'a GameTable,
    group: &'a [usize],
    problem: &'a Problem,
    solution: &'a Parameters,
    covariance: &'a SquareMatrix,
}

impl Outcome<'_> {
    fn told(&self, anchor: Option<(usize, f64)>) -> Ratings {
        let unit = 1.0 / self.problem.model.logits_a_point();
        let draw = self.problem.draw(self.solution);
        let scale = if self.problem.model.has_draws() { bayeselo_scale(draw) } else { 1.0 };
        let mut players = self.players(anchor, unit * scale);
        players.sort_by(|one, other| other.rating.value.total_cmp(&one.rating.value).then(one.name.cmp(&other.name)));
        let advantage = self.problem.players - 1;
        Ratings {
            model: self.problem.model,
            players,
            unrated: self.unrated(),
            white_advantage: self.problem.white_advantage.then(|| {
                fitted(
                    self.solution.0[advantage] * unit,
                    self.covariance.at(advantage, advantage).max(0.0).sqrt() * unit,
                )
            }),
            draw_elo: self.problem.model.has_draws().then_some(draw * unit),
            scale,
            games: self.problem.games.len() as u64,
            clusters: self.problem.clusters(),
        }
    }

    fn players(&self, anchor: Option<(usize, f64)>, unit: f64) -> Vec<RatedPlayer> {
        let count = self.problem.players;
        // Ratings are told from a point: the anchor, or the mean of all. Weights of strengths say which.
        let weights: Vec<f64> = match anchor {
            Some((player, _)) => (0..count).map(|other| f64::from(u8::from(other == player))).collect(),
            None => vec![1.0 / count as f64; count],
        };
        let origin: f64 = (0..count).map(|player| weights[player] * self.problem.strength(self.solution, player)).sum();
        let with_weights: Vec<f64> = (0..count).map(|player| self.weighted_covariance(player, &weights)).collect();
        let of_weights: f64 = with_weights.iter().zip(&weights).map(|(covariance, weight)| covariance * weight).sum();
        let scores = self.scores();
        (0..count)
            .map(|player| {
                let variance = self.strength_covariance(player, player) - 2.0 * with_weights[player] + of_weights;
                let distance = self.problem.strength(self.solution, player) - origin;
                RatedPlayer {
                    name: self.table.players()[self.group[player]].clone(),
                    rating: fitted(anchor.map_or(0.0, |(_, at)| at) + distance * unit, variance.max(0.0).sqrt() * unit),
                    games: scores[player].0,
                    points: scores[player].1,
                }
            })
            .collect()
    }

    fn strength_covariance(&self, one: usize, other: usize) -> f64 {
        if one == 0 || other == 0 { 0.0 } else { self.covariance.at(one - 1, other - 1) }
    }

    fn weighted_covariance(&self, player: usize, weights: &[f64]) -> f64 {
        weights.iter().enumerate().map(|(other, weight)| weight * self.strength_covariance(player, other)).sum()
    }

    /// Games and points among those rated.
    fn scores(&self) -> Vec<(u64, f64)> {
        let mut scores = vec![(0, 0.0); self.problem.players];
        for game in &self.problem.games {
            let points = table::white_points(game.result);
            for (player, points) in [(game.white, points), (game.black, 1.0 - points)] {
                scores[player].0 += 1;
                scores[player].1 += points;
            }
        }
        scores
    }

    fn unrated(&self) -> Vec<UnratedPlayer> {
        let scores = self.table.scores();
        let others = self.table.groups().into_iter().filter(|group| group != self.group);
        let mut unrated = Vec::new();
        for (group, players) in (1..).zip(others) {
            for player in players {
                let (games, points) = scores[player];
                let reason = if games == 0 {
                    LeftOut::Disconnected
                } else if points == games as f64 {
                    LeftOut::WonAll
                } else if points == 0.0 {
                    LeftOut::LostAll
                } else {
                    LeftOut::Disconnected
                };
                let name = self.table.players()[player].clone();
                unrated.push(UnratedPlayer { name, reason, group, games, points });
            }
        }
        unrated
    }
}

fn fitted(value: f64, standard_error: f64) -> Fitted {
    Fitted { value, standard_error, error: NORMAL_97_5 * standard_error }
}

/// The slope of the expected score at equality, as a part of what Elo has: 4x/(1+x)² with x = e^(−draw).
fn bayeselo_scale(draw: f64) -> f64 {
    let x = (-draw).exp();
    4.0 * x / ((1.0 + x) * (1.0 + x))
}
