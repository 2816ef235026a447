//! Evaluation weights tuned on the positions of played games, Texel style, around the weights one starts with.
//!
//! Here positions become features: which parameter each man contributes to, with which sign and phase. The problem
//! itself (scale, prior, solver, validation) is [`super::tapered`]'s.
//!
//! The parameters are those of a [`Weights`] file: for every unit a value and a bonus a square, each for middlegame and
//! endgame, and the right to move. Phase weights stay as they are. A unit's value and the mean of its bonuses could
//! stand in for each other; the prior decides, since it holds bonuses ten times as tightly as values.

use std::collections::BTreeMap;
use std::fmt;

use fairyforge_engine::evaluate::{Balance, Tapered, UnitWeights, Weights};
use fairyforge_engine::geometry::{GRID_SQUARES, Square, Topology};
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::{Colour, Unit};
use serde::Serialize;
use thiserror::Error;

use super::dataset::{Dataset, QuietPosition, sign};
use super::tapered::{
    Losses, Partition, Prior, Sample, SampleSet, Split, TaperedError, TaperedFit, TaperedLimits, TaperedPlan,
};

/// The prior's standard deviations, in centipawns, around the weights one starts with.
mod prior {
    /// Least deviation of a value in the middlegame: mobility misjudges a minor unit by a pawn or so.
    pub const VALUE_MIDDLEGAME: f64 = 120.0;
    /// The same in the endgame, where a-priori values are less tested and fewer positions speak.
    pub const VALUE_ENDGAME: f64 = 150.0;
    /// Deviation as a share of the value, where that is more: a queen may be wrong by more than a knight.
    pub const VALUE_SHARE: f64 = 0.25;
    /// Of a square's bonus: most squares of most units differ by less than a tenth of a pawn, and a 12×12 board has
    /// thousands of bonuses that no data set of a few thousand games can tell apart.
    pub const BONUS: f64 = 12.0;
    /// Of the right to move: published engines have 5 to 30.
    pub const TEMPO: f64 = 10.0;
}

/// Values and bonuses are kept within what a weights file may hold.
pub(crate) const MOST_WEIGHT: i32 = 5_000;
/// Least value of a unit: exchanges are judged by values, and one of 0 or less would be given away for nothing.
const LEAST_VALUE: i32 = 1;
/// Fewest training games; below, even the one number of the scale is luck.
const FEWEST_GAMES: usize = 10;
/// Least plausible scale: there, a pawn more changes the expected score by less than one part in a hundred.
const LEAST_SCALE: f64 = 0.05;
/// Greatest plausible scale: there, a pawn more wins nine hundred and ninety games of a thousand.
const MOST_SCALE: f64 = 8.0;

/// What tuning did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tuning {
    /// The scale K: expected score σ(K·evaluation·ln 10/400), fitted at the starting weights.
    pub scale: f64,
    /// Mean cross-entropies at the starting weights, nats.
    pub before: Losses,
    /// The same at the tuned weights.
    pub after: Losses,
    /// Positions fitted.
    pub training_positions: usize,
    /// Positions that only judge, from other pairs of games.
    pub validation_positions: usize,
    /// Parameters in all.
    pub parameters: usize,
    /// Parameters that occur in training positions; the others stay as they were.
    pub parameters_seen: usize,
    /// Newton steps.
    pub iterations: u32,
    /// Whether the solver reached its tolerance.
    pub converged: bool,
    /// Values of the units before and after, the royal one left out.
    pub units: Vec<TunedUnit>,
}

/// Values of a unit, in centipawns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TunedUnit {
    /// Its name.
    pub unit: String,
    /// Middlegame value at the start.
    pub middlegame_before: i32,
    /// Middlegame value tuned.
    pub middlegame: i32,
    /// Endgame value at the start.
    pub endgame_before: i32,
    /// Endgame value tuned.
    pub endgame: i32,
}

/// Why weights could not be tuned.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TuningError {
    /// Too few games.
    #[error("expected at least {FEWEST_GAMES} games to tune weights, got {got}")]
    TooFewGames {
        /// Games there are.
        got: usize,
    },
    /// The evaluation one starts with says nothing about these results, or too much.
    #[error(
        "expected a scale from {LEAST_SCALE} to {MOST_SCALE} between evaluation and results, got {got:.3}: play more games, or start from other weights"
    )]
    Scale {
        /// The best scale.
        got: f64,
    },
    /// The solver refused.
    #[error("tuning weights: {0}")]
    Tapered(#[from] TaperedError),
}

/// Tunes `start` on the positions of a data set; pairs of games set aside by `split` only judge the outcome.
///
/// Each game has the weight of one position, however many of its positions are used: it has only one result. The
/// weights returned have the origin of `start`; the caller knows the data and says so.
///
/// # Errors
/// Too few games, or no plausible scale between evaluation and results.
pub fn tune(
    dataset: &Dataset,
    variant: &Variant,
    start: &Weights,
    split: &Split,
) -> Result<(Weights, Tuning), TuningError> {
    if dataset.games.len() < FEWEST_GAMES {
        return Err(TuningError::TooFewGames { got: dataset.games.len() });
    }
    let layout = Layout::new(variant);
    let samples = layout.samples(dataset, start)?;
    let partition = samples.partition(split)?;
    let priors = layout.priors(start);
    let scale = plausible_scale(&samples, &partition, &priors)?;
    let fit = samples.fit(&partition, &TaperedPlan { scale, priors: &priors, limits: TaperedLimits::default() })?;
    let tuned = layout.weights(start, &fit.weights);
    let report = report(variant, &fit, scale, start, &tuned);
    Ok((tuned, report))
}

fn plausible_scale(samples: &SampleSet, partition: &Partition, priors: &[Prior]) -> Result<f64, TuningError> {
    let means: Vec<f64> = priors.iter().map(|prior| prior.mean).collect();
    let scale = samples.fit_scale(&partition.training, &means)?;
    if (LEAST_SCALE..=MOST_SCALE).contains(&scale) { Ok(scale) } else { Err(TuningError::Scale { got: scale }) }
}

fn report(variant: &Variant, fit: &TaperedFit, scale: f64, start: &Weights, tuned: &Weights) -> Tuning {
    let values = |unit: Unit| {
        let (before, after) = (&start.units[unit.index()], &tuned.units[unit.index()]);
        TunedUnit {
            unit: variant.unit(unit).name.clone(),
            middlegame_before: before.middlegame,
            middlegame: after.middlegame,
            endgame_before: before.endgame,
            endgame: after.endgame,
        }
    };
    Tuning {
        scale,
        before: fit.before,
        after: fit.after,
        training_positions: fit.training_rows,
        validation_positions: fit.validation_rows,
        parameters: fit.weights.len(),
        parameters_seen: fit.occurrences.iter().filter(|&&rows| rows > 0).count(),
        iterations: fit.iterations,
        converged: fit.converged,
        units: variant.units().filter(|&unit| unit != variant.royal()).map(values).collect(),
    }
}

/// Middlegame or endgame.
#[derive(Clone, Copy)]
enum Stage {
    Middlegame = 0,
    Endgame = 1,
}

/// Where each weight stands among the parameters.
///
/// A *slot* is a unit's value or one of its bonuses; it has two parameters, one a [`Stage`]. A unit's slots follow one
/// another, the value first, then the squares in order. The right to move comes last.
struct Layout<'a> {
    variant: &'a Variant,
    squares: Vec<Square>,
    /// Order of each square among those that exist.
    orders: [usize; GRID_SQUARES],
}

impl<'a> Layout<'a> {
    fn new(variant: &'a Variant) -> Self {
        let squares: Vec<Square> = variant.topology().squares().iter().collect();
        let mut orders = [0; GRID_SQUARES];
        for (order, square) in squares.iter().enumerate() {
            orders[square.index()] = order;
        }
        Self { variant, squares, orders }
    }

    fn value_slot(&self, unit: Unit) -> usize {
        unit.index() * (1 + self.squares.len())
    }

    /// `square` in the view of the unit's owner as White.
    fn bonus_slot(&self, unit: Unit, square: Square) -> usize {
        self.value_slot(unit) + 1 + self.orders[square.index()]
    }

    fn tempo(&self) -> usize {
        2 * self.variant.units().len() * (1 + self.squares.len())
    }

    fn parameters(&self) -> usize {
        self.tempo() + 1
    }

    fn priors(&self, start: &Weights) -> Vec<Prior> {
        let mut priors = vec![Prior { mean: 0.0, deviation: 0.0 }; self.parameters()];
        for (unit, weights) in self.variant.units().zip(&start.units) {
            // Both sides have one king, so its value is on neither side of any difference.
            if unit != self.variant.royal() {
                let slot = 2 * self.value_slot(unit);
                priors[slot + Stage::Middlegame as usize] = value_prior(weights.middlegame, prior::VALUE_MIDDLEGAME);
                priors[slot + Stage::Endgame as usize] = value_prior(weights.endgame, prior::VALUE_ENDGAME);
            }
            for &square in &self.squares {
                let slot = 2 * self.bonus_slot(unit, square);
                let (middlegame, endgame) = weights.bonus(square);
                let prior = |bonus: i32| Prior { mean: f64::from(bonus), deviation: prior::BONUS };
                priors[slot + Stage::Middlegame as usize] = prior(middlegame);
                priors[slot + Stage::Endgame as usize] = prior(endgame);
            }
        }
        priors[self.tempo()] = Prior { mean: f64::from(start.tempo), deviation: prior::TEMPO };
        priors
    }

    fn samples(&self, dataset: &Dataset, start: &Weights) -> Result<SampleSet, TaperedError> {
        let tapered = Tapered::new(self.variant, start);
        let mut samples = SampleSet::new(self.parameters());
        for game in &dataset.games {
            for position in &game.spread {
                let share = middlegame_share(position, &tapered, start);
                samples.push(&Sample {
                    features: &self.features(position, share),
                    offset: 0.0,
                    result: game.outcome.points(),
                    weight: 1.0 / game.spread.len() as f64,
                    cluster: game.cluster,
                })?;
            }
        }
        Ok(samples)
    }

    /// White's view. Men that stand on squares which mirror each other cancel.
    fn features(&self, position: &QuietPosition, middlegame_share: f64) -> Vec<(u32, f32)> {
        let mut slots: BTreeMap<usize, i32> = BTreeMap::new();
        for piece in position.everyone().filter(|piece| piece.unit() != self.variant.royal()) {
            *slots.entry(self.value_slot(piece.unit())).or_default() += sign(piece.colour());
        }
        for &(piece, square) in &position.men {
            let seen = owner_view(self.variant.topology(), square, piece.colour());
            *slots.entry(self.bonus_slot(piece.unit(), seen)).or_default() += sign(piece.colour());
        }
        let mut features = Vec::with_capacity(2 * slots.len() + 1);
        for (slot, count) in slots.into_iter().filter(|&(_, count)| count != 0) {
            let parameter = |stage: Stage| (2 * slot + stage as usize) as u32;
            let count = f64::from(count);
            features.push((parameter(Stage::Middlegame), (count * middlegame_share) as f32));
            features.push((parameter(Stage::Endgame), (count * (1.0 - middlegame_share)) as f32));
        }
        features.push((self.tempo() as u32, sign(position.side_to_move) as f32));
        features
    }

    /// Parameters as weights, rounded and within a file's bounds; what is not tuned is as in `start`.
    fn weights(&self, start: &Weights, parameters: &[f64]) -> Weights {
        let at = |slot: usize, stage: Stage| parameters[2 * slot + stage as usize].round() as i32;
        let mut tuned = start.clone();
        for (unit, weights) in self.variant.units().zip(&mut tuned.units) {
            if unit != self.variant.royal() {
                let value = |stage| at(self.value_slot(unit), stage).clamp(LEAST_VALUE, MOST_WEIGHT);
                weights.middlegame = value(Stage::Middlegame);
                weights.endgame = value(Stage::Endgame);
            }
            self.set_bonuses(weights, |square, stage| at(self.bonus_slot(unit, square), stage));
        }
        tuned.tempo = parameters[self.tempo()].round().clamp(-f64::from(MOST_WEIGHT), f64::from(MOST_WEIGHT)) as i32;
        tuned
    }

    fn set_bonuses(&self, weights: &mut UnitWeights, bonus: impl Fn(Square, Stage) -> i32) {
        for &square in &self.squares {
            let within = |stage| bonus(square, stage).clamp(-MOST_WEIGHT, MOST_WEIGHT) as i16;
            weights.middlegame_squares[square.index()] = within(Stage::Middlegame);
            weights.endgame_squares[square.index()] = within(Stage::Endgame);
        }
    }
}

fn value_prior(value: i32, least_deviation: f64) -> Prior {
    let mean = f64::from(value);
    Prior { mean, deviation: least_deviation.max(prior::VALUE_SHARE * mean.abs()) }
}

/// A square as its man's owner sees it, as White.
pub(crate) fn owner_view(topology: &Topology, square: Square, owner: Colour) -> Square {
    match owner {
        Colour::White => square,
        Colour::Black => topology.flip(square),
    }
}

/// From 0 to 1, as the engine has it.
pub(crate) fn middlegame_share(position: &QuietPosition, tapered: &Tapered, weights: &Weights) -> f64 {
    let phase = position.everyone().map(|piece| weights.phase_of(piece.unit())).sum();
    tapered.middlegame_share(&Balance { phase, ..Balance::default() })
}

impl fmt::Display for Tuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let loss = |loss: Option<f64>| loss.map_or_else(|| "–".to_owned(), |loss| format!("{loss:.5}"));
        let (trained, validated) = (self.training_positions, self.validation_positions);
        writeln!(f, "scale {:.3}, {} of {} weights seen", self.scale, self.parameters_seen, self.parameters)?;
        let line = |f: &mut fmt::Formatter<'_>, what: &str, before, after, positions| {
            writeln!(f, "{what} log loss {} → {} ({positions} positions)", loss(before), loss(after))
        };
        line(f, "training  ", self.before.training, self.after.training, trained)?;
        line(f, "validation", self.before.validation, self.after.validation, validated)?;
        if !self.converged {
            writeln!(f, "the solver ran out of steps: the weights are near the best, not at it")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use fairyforge_engine::position::Position;

    const FENS: [(&str, &str); 3] = [
        ("chess", "r3k2r/pp3ppp/2n5/3q4/8/2P2N2/P4PPP/R2QK2R b KQkq - 3 17"),
        ("chess", "8/5k2/8/3P4/8/1R6/2K5/8 w - - 0 50"),
        ("sorcerer-reinforcements", ""),
    ];

    fn positions() -> Vec<Position> {
        let position = |(name, fen): (&str, &str)| {
            let variant = Arc::new(Variant::load(name).unwrap());
            if fen.is_empty() { Position::start(&variant) } else { Position::from_fen(&variant, fen).unwrap() }
        };
        FENS.into_iter().map(position).collect()
    }

    fn features_of(position: &Position, weights: &Weights) -> BTreeMap<u32, f32> {
        let quiet = QuietPosition::new(0, position);
        let share = middlegame_share(&quiet, &Tapered::new(position.variant(), weights), weights);
        Layout::new(position.variant()).features(&quiet, share).into_iter().collect()
    }

    #[test]
    fn features_times_weights_are_the_engines_evaluation() {
        for position in positions() {
            let weights = Weights::a_priori(position.variant());
            let means: Vec<f64> =
                Layout::new(position.variant()).priors(&weights).iter().map(|prior| prior.mean).collect();
            let sum: f64 = features_of(&position, &weights)
                .into_iter()
                .map(|(index, coefficient)| f64::from(coefficient) * means[index as usize])
                .sum();
            let tapered = Tapered::new(position.variant(), &weights);
            let own = tapered.evaluate(&position, &tapered.fresh(&position));
            let white = f64::from(sign(position.side_to_move()) * own);
            assert!((sum - white).abs() <= 1.0, "{position:?}: {sum} and {white}");
        }
    }

    #[test]
    fn exchanging_the_armies_negates_all_but_the_tempo() {
        for position in positions() {
            let weights = Weights::a_priori(position.variant());
            let tempo = Layout::new(position.variant()).tempo() as u32;
            let there = features_of(&position, &weights);
            let mut back = features_of(&position.armies_exchanged().unwrap(), &weights);
            back.iter_mut().filter(|(index, _)| **index != tempo).for_each(|(_, coefficient)| *coefficient *= -1.0);
            assert_eq!(there, back, "{position:?}");
        }
    }

    #[test]
    fn weights_survive_the_way_through_parameters() {
        for position in positions() {
            let weights = Weights::a_priori(position.variant());
            let layout = Layout::new(position.variant());
            let means: Vec<f64> = layout.priors(&weights).iter().map(|prior| prior.mean).collect();
            assert_eq!(layout.weights(&weights, &means), weights);
        }
    }

    #[test]
    fn wild_parameters_still_make_a_file_that_can_be_read() {
        let variant = Variant::load("herculean").unwrap();
        let start = Weights::a_priori(&variant);
        let layout = Layout::new(&variant);
        for wild in [1e9, -1e9] {
            let weights = layout.weights(&start, &vec![wild; layout.parameters()]);
            assert_eq!(Weights::read(&variant, &weights.to_toml(&variant)).unwrap(), weights);
        }
    }
}
