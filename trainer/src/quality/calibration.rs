//! What scores mean: mean results by score, and the scale of the logistic curve through them. Errors are clustered by game, as all
//! positions of a game share one result.

use super::MOST_SCORE;
use super::notes::{Notes, Observation};
use super::scale::{Level, NoScale, Slope, slope};
use crate::fit::sigmoid;
use serde::Serialize;

/// Bins at most, and positions of a bin at least where there are enough for one.
const MOST_BINS: u64 = 20;
const LEAST_IN_BIN: u64 = 50;
/// Different scores.
const SCORES: usize = 2 * MOST_SCORE as usize + 1;

/// Scores against results, from the side to move's view, in quiet positions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// Positions.
    pub positions: u64,
    /// Games they are from.
    pub games: u64,
    /// Quiet positions left out: their scores are beyond 3,000 centipawns either way, mates found among them.
    pub beyond: u64,
    /// How many centipawns are a logit.
    pub scale: ScaleOutcome,
    /// Mean results by score, ascending, in bins of about as many positions each.
    pub bins: Vec<Bin>,
}

/// The scale, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ScaleOutcome {
    /// It is known.
    Known(Scale),
    /// It is not.
    Unknown {
        /// Why.
        reason: NoScale,
    },
}

/// The scale of σ(score / scale), the expected result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scale {
    /// Centipawns a logit.
    pub centipawns: f64,
    /// Its standard error, clustered by game; none of a single game.
    pub standard_error: Option<f64>,
}

/// Positions of similar scores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// The least score.
    pub low: i16,
    /// The greatest.
    pub high: i16,
    /// Positions.
    pub positions: u64,
    /// Games they are from.
    pub games: u64,
    /// Mean score.
    pub mean_score: f64,
    /// Mean result: 1 won, ½ drawn, 0 lost by the side to move.
    pub mean_result: f64,
    /// The mean result's standard error, clustered by game; none of a single game.
    pub standard_error: Option<f64>,
}

/// Quiet positions so far, game after game: four bytes a position.
#[derive(Debug, Default)]
pub(super) struct Observations {
    all: Vec<Observation>,
    /// Where each game ends.
    ends: Vec<usize>,
    beyond: u64,
}

impl Observations {
    pub fn add(&mut self, game: &Notes) {
        self.beyond += game.beyond;
        if !game.quiet.is_empty() {
            self.all.extend_from_slice(&game.quiet);
            self.ends.push(self.all.len());
        }
    }

    fn games(&self) -> impl Iterator<Item = &[Observation]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(move |(begin, &end)| &self.all[begin..end])
    }

    /// The positions by score, ascending.
    fn levels(&self) -> Vec<Level> {
        let mut counts = vec![(0_u64, 0_u64); SCORES];
        for observation in &self.all {
            let (positions, half_points) = &mut counts[index(observation.score)];
            *positions += 1;
            *half_points += u64::from(observation.half_points);
        }
        let level = |(score, (positions, half_points))| Level { score, positions, half_points };
        (-MOST_SCORE..=MOST_SCORE).zip(counts).map(level).filter(|level| level.positions > 0).collect()
    }
}

impl Calibration {
    pub(super) fn of(observations: &Observations) -> Self {
        let levels = observations.levels();
        Self {
            positions: observations.all.len() as u64,
            games: observations.ends.len() as u64,
            beyond: observations.beyond,
            scale: scale(observations, &levels),
            bins: bins(observations, &levels),
        }
    }

    /// What the fitted curve expects of a score in centipawns, if there is a curve.
    #[must_use]
    pub fn expected(&self, score: f64) -> Option<f64> {
        match self.scale {
            ScaleOutcome::Known(scale) => Some(sigmoid(score / scale.centipawns)),
            ScaleOutcome::Unknown { .. } => None,
        }
    }
}

/// The error of 1/b is that of b divided by b², and that of b by Liang and Zeger (1986): sums of x·(y − σ(b·x)) by game.
fn scale(observations: &Observations, levels: &[Level]) -> ScaleOutcome {
    let Slope { by_centipawn, information } = match slope(levels) {
        Ok(slope) => slope,
        Err(reason) => return ScaleOutcome::Unknown { reason },
    };
    let expected: Vec<f64> = (-MOST_SCORE..=MOST_SCORE).map(|score| sigmoid(by_centipawn * f64::from(score))).collect();
    let term = |one: &Observation| f64::from(one.score) * (one.points() - expected[index(one.score)]);
    let squares: f64 = observations.games().map(|game| game.iter().map(term).sum::<f64>().powi(2)).sum();
    let error = root_of_squares(squares, observations.ends.len() as u64);
    ScaleOutcome::Known(Scale {
        centipawns: 1.0 / by_centipawn,
        standard_error: error.map(|error| error / information / (by_centipawn * by_centipawn)),
    })
}

fn bins(observations: &Observations, levels: &[Level]) -> Vec<Bin> {
    let positions: u64 = levels.iter().map(|level| level.positions).sum();
    let wanted = (positions / LEAST_IN_BIN).clamp(1, MOST_BINS);
    let mut bins: Vec<Bin> = stretches(levels, wanted).into_iter().filter_map(Bin::of).collect();
    let mut bin_of = vec![0; SCORES];
    for (number, bin) in bins.iter().enumerate() {
        bin_of[index(bin.low)..=index(bin.high)].fill(number);
    }
    let mut squares = vec![0.0; bins.len()];
    for game in observations.games() {
        let mut here = vec![(0_u64, 0.0_f64); bins.len()];
        for one in game {
            let (positions, points) = &mut here[bin_of[index(one.score)]];
            *positions += 1;
            *points += one.points();
        }
        for (number, (positions, points)) in here.into_iter().enumerate().filter(|(_, (positions, _))| *positions > 0) {
            bins[number].games += 1;
            squares[number] += (points - positions as f64 * bins[number].mean_result).powi(2);
        }
    }
    for (bin, squares) in bins.iter_mut().zip(squares) {
        bin.standard_error = root_of_squares(squares, bin.games).map(|root| root / bin.positions as f64);
    }
    bins
}

impl Bin {
    /// Still without its games and its error.
    fn of(levels: &[Level]) -> Option<Self> {
        let (first, last) = (levels.first()?, levels.last()?);
        let positions: u64 = levels.iter().map(|level| level.positions).sum();
        let scores: i64 = levels.iter().map(|level| i64::from(level.score) * level.positions as i64).sum();
        let half_points: u64 = levels.iter().map(|level| level.half_points).sum();
        Some(Self {
            low: first.score,
            high: last.score,
            positions,
            games: 0,
            mean_score: scores as f64 / positions as f64,
            mean_result: half_points as f64 / (2 * positions) as f64,
            standard_error: None,
        })
    }
}

/// The levels in so many stretches of about as many positions each; fewer where one score has more than its part.
fn stretches(levels: &[Level], wanted: u64) -> Vec<&[Level]> {
    let all: u64 = levels.iter().map(|level| level.positions).sum();
    let mut stretches = Vec::new();
    let (mut begin, mut positions, mut reached) = (0, 0_u64, 0_u64);
    for (at, level) in levels.iter().enumerate() {
        positions += level.positions;
        let parts = positions * wanted / all;
        if parts > reached {
            stretches.push(&levels[begin..=at]);
            (begin, reached) = (at + 1, parts);
        }
    }
    stretches
}

/// The root of a sum of squares over clusters, with the factor for their number; none of fewer than two.
fn root_of_squares(squares: f64, clusters: u64) -> Option<f64> {
    (clusters > 1).then(|| (squares * clusters as f64 / (clusters - 1) as f64).sqrt())
}

/// The place of a score that is not beyond [`MOST_SCORE`].
fn index(score: i16) -> usize {
    (i32::from(score) + i32::from(MOST_SCORE)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_even_but_for_scores_that_come_often() {
        let cut = |counts: &[u64], wanted| -> Vec<u64> {
            let level = |(score, &positions)| Level { score, positions, half_points: 0 };
            let levels: Vec<Level> = (0..).zip(counts).map(level).collect();
            stretches(&levels, wanted).iter().map(|part| part.iter().map(|level| level.positions).sum()).collect()
        };
        assert_eq!(cut(&[1; 12], 4), [3, 3, 3, 3]);
        assert_eq!(cut(&[1; 10], 4), [3, 2, 3, 2]);
        assert_eq!(cut(&[1, 1, 20, 1, 1], 4), [22, 2]);
        assert_eq!(cut(&[5, 5], 20), [5, 5]);
        assert_eq!(cut(&[], 20), [0; 0]);
    }
}
