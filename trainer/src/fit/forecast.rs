//! What a design will tell, before the first game: standard errors, intervals of values, and what it cannot tell.
//!
//! A sample of the openings that a design makes gives the rows; results are not needed, only assumptions about them
//! ([`Guess`]). The information is that of [`super::logistic`], averaged over the results that the assumptions make
//! likely. It grows with the number of games, so one sample forecasts runs of any length. The forecast is that of the fit's
//! clustered errors; it knows nothing of a model that is wrong.
//!
//! Source: McCullagh and Nelder, "Generalized Linear Models" (1989), for the expected information; Liang and Zeger (1986) for
//! the sandwich.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::combination::{Combination, Estimates};
use super::linear::{Cholesky, LinearError, SquareMatrix, condition_number, dot};
use super::logistic::solver::{Expected, Problem};
use super::logistic::{Design, Likelihood, Undetermined};
use super::ratio::{PawnValue, RatioError};

/// Runs of more games are not forecast: nobody will play them.
const MOST_GAMES: u64 = 1 << 40;

/// What is assumed of the games.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guess {
    /// White's advantage in logits.
    pub first_move: f64,
    /// Logits per unit, one for each column of the design.
    pub coefficients: Vec<f64>,
    /// Half-width ν of the draw in logits; with equal men the draw rate is tanh(ν/2). 0 for a game without draws.
    pub draw_half_width: f64,
    /// How the scores of *one army* in the two games of a pair correlate, beyond what its men explain: 0 if only luck in
    /// play is left, more if the random plies at the start favour an army. Colours are exchanged between the games of a
    /// cluster, so White's scores correlate with the opposite sign.
    #[serde(default)]
    pub pair_correlation: f64,
}

/// Why there is no forecast.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ForecastError {
    /// The number of coefficients is not that of the columns.
    #[error("expected {expected} coefficients, one for each column, got {got}")]
    Coefficients {
        /// Columns of the design.
        expected: usize,
        /// Coefficients given.
        got: usize,
    },
    /// A coefficient is no number.
    #[error("\"{name}\": expected a finite coefficient in logits, got {got}")]
    NotFinite {
        /// The column's name, or the first move's.
        name: String,
        /// The coefficient given.
        got: f64,
    },
    /// The half-width of the draw is none.
    #[error("expected a draw half-width of 0 or more logits, got {got}")]
    HalfWidth {
        /// The number given.
        got: f64,
    },
    /// The correlation is none.
    #[error("expected a correlation of two games between -1 and 1, got {got}")]
    PairCorrelation {
        /// The number given.
        got: f64,
    },
    /// With these coefficients no game in which the column differs can be lost, so none tells anything.
    #[error(
        "\"{column}\": expected coefficients that leave games open, got such that decide every game that tells of it"
    )]
    Decided {
        /// The column's name.
        column: String,
    },
    /// A run of no games.
    #[error("expected at least one game, got none")]
    NoGames,
}

/// The forecast of a design.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// Coefficients as assumed; the covariance is that of one game.
    of_one_game: Estimates,
    /// Condition number of the expected information, as [`super::logistic::LogisticFit::condition_number`]: 1 when no two
    /// columns vary together.
    pub condition_number: f64,
    /// Columns that no number of such games determines, with the terms they are mixed with.
    pub undetermined: Vec<Undetermined>,
}

impl Forecast {
    /// Forecasts from a sample of the design's rows, of which the outcomes are not looked at.
    ///
    /// # Errors
    /// [`ForecastError`] when an assumption is no number or leaves no game open.
    pub fn new(design: &Design, assumed: &Guess) -> Result<Self, ForecastError> {
        assumed.check(design)?;
        let nu = Some(assumed.draw_half_width).filter(|&nu| nu > 0.0);
        let likelihood = nu.map_or(Likelihood::QuasiBernoulli, |_| Likelihood::OrderedLogit);
        let (problem, undetermined) = Problem::new(design, likelihood);
        let eta = |differences: &[f64]| assumed.first_move + dot(differences, &assumed.coefficients);
        let etas: Vec<f64> = design.rows().iter().map(|row| eta(&row.differences)).collect();
        let expected = problem.expected(&etas, nu, -assumed.pair_correlation);
        let covariance = covariance_of_one_game(&expected, design.rows().len()).map_err(|error| {
            let LinearError::NotPositiveDefinite { column, .. } = error;
            ForecastError::Decided { column: problem.name_of(column).to_owned() }
        })?;
        let names = problem.names().to_vec();
        let coefficients = names.iter().map(|name| assumed.coefficient(design, name)).collect();
        Ok(Self {
            of_one_game: Estimates { names, coefficients, covariance, undetermined: undetermined.clone() },
            condition_number: condition_number(&expected.information),
            undetermined,
        })
    }

    /// The assumed coefficients with the covariance that a run of so many games will give them.
    ///
    /// # Errors
    /// [`ForecastError::NoGames`].
    pub fn after(&self, games: u64) -> Result<Estimates, ForecastError> {
        if games == 0 {
            return Err(ForecastError::NoGames);
        }
        Ok(self.scaled(games))
    }

    /// The fewest games after which the interval of a combination, at `critical` standard errors, has at most this
    /// half-width in pawns if the assumptions hold: half of such runs then have a longer one. `None` if no number of games will
    /// do, or more than a trillion.
    ///
    /// # Errors
    /// As [`Estimates::in_pawns`].
    pub fn games_for(
        &self,
        combination: &Combination,
        pawn: &str,
        half_width: f64,
        critical: f64,
    ) -> Result<Option<u64>, RatioError> {
        let is_enough = |games| -> Result<bool, RatioError> {
            let value = self.scaled(games).in_pawns(combination, pawn, critical)?;
            Ok(value.half_width().is_some_and(|got| got <= half_width))
        };
        if !is_enough(MOST_GAMES)? {
            return Ok(None);
        }
        let (mut too_few, mut enough) = (0, MOST_GAMES);
        while enough - too_few > 1 {
            let middle = too_few + (enough - too_few) / 2;
            if is_enough(middle)? { enough = middle } else { too_few = middle }
        }
        Ok(Some(enough))
    }

    /// The values of all terms that the design determines, after so many games, with intervals at `critical` standard
    /// errors: what [`super::ratio::values_in_pawns`] will say.
    ///
    /// # Errors
    /// As [`Estimates::in_pawns`].
    pub fn values_after(&self, games: u64, pawn: &str, critical: f64) -> Result<Vec<(String, PawnValue)>, RatioError> {
        let estimates = self.scaled(games.max(1));
        let value = |name: &String| Ok((name.clone(), estimates.in_pawns(&Combination::unit(name), pawn, critical)?));
        estimates.names.iter().map(value).collect()
    }

    fn scaled(&self, games: u64) -> Estimates {
        Estimates { covariance: self.of_one_game.covariance.scaled(1.0 / games as f64), ..self.of_one_game.clone() }
    }
}

impl Guess {
    fn check(&self, design: &Design) -> Result<(), ForecastError> {
        let (expected, got) = (design.columns().len(), self.coefficients.len());
        if expected != got {
            return Err(ForecastError::Coefficients { expected, got });
        }
        if !self.first_move.is_finite() {
            return Err(ForecastError::NotFinite {
                name: super::logistic::FIRST_MOVE.to_owned(),
                got: self.first_move,
            });
        }
        if let Some((name, &got)) = design.columns().iter().zip(&self.coefficients).find(|(_, got)| !got.is_finite()) {
            return Err(ForecastError::NotFinite { name: name.clone(), got });
        }
        if !(self.draw_half_width >= 0.0 && self.draw_half_width.is_finite()) {
            return Err(ForecastError::HalfWidth { got: self.draw_half_width });
        }
        if !(-1.0..=1.0).contains(&self.pair_correlation) {
            return Err(ForecastError::PairCorrelation { got: self.pair_correlation });
        }
        Ok(())
    }

    /// The coefficient assumed for a term; whatever is no column is the first move.
    fn coefficient(&self, design: &Design, name: &str) -> f64 {
        let column = design.columns().iter().position(|column| column == name);
        column.map_or(self.first_move, |column| self.coefficients[column])
    }
}

/// The sandwich of a sample of so many rows, times their number.
fn covariance_of_one_game(expected: &Expected, rows: usize) -> Result<SquareMatrix, LinearError> {
    let inverse = Cholesky::factor(&expected.information)?.inverse();
    Ok(inverse.sandwich(&expected.scores).scaled(rows as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::NORMAL_97_5;
    use crate::fit::logistic::{CovarianceKind, LogisticFit, Outcome, Row};
    use crate::fit::sigmoid;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    const COLUMNS: [&str; 3] = ["pawn", "knight", "rook"];

    fn assumed() -> Guess {
        Guess { first_move: 0.15, coefficients: vec![0.3, 0.9, 1.5], draw_half_width: 0.5, pair_correlation: 0.0 }
    }

    fn uniform(random: &mut ChaCha8Rng) -> f64 {
        (random.next_u64() >> 11) as f64 * 2f64.powi(-53)
    }

    fn design(rows: Vec<Row>) -> Design {
        Design::new(COLUMNS.map(str::to_owned).to_vec(), rows).unwrap()
    }

    /// Pairs of starts with colours exchanged; the knight is often taken against pawns, as real designs do.
    fn starts(pairs: u64) -> Vec<Row> {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let mut below = |bound: f64| (uniform(&mut random) * bound).floor();
        let mut rows = Vec::new();
        for cluster in 0..pairs {
            let knight = below(3.0) - 1.0;
            let rook = below(3.0) - 1.0;
            let pawn = below(5.0) - 2.0 - 2.0 * knight;
            for sign in [1.0, -1.0] {
                let differences = [pawn, knight, rook].map(|difference| sign * difference).to_vec();
                rows.push(Row { outcome: Outcome::Draw, differences, cluster });
            }
        }
        rows
    }

    /// Results of the model itself. In a share of the pairs an army has the same luck in both games, so that each game
    /// follows the model and the scores of an army correlate by about that share.
    fn play(rows: &mut [Row], assumed: &Guess, share: f64, random: &mut ChaCha8Rng) {
        for pair in rows.chunks_mut(2) {
            let luck = uniform(random);
            let is_shared = uniform(random) < share;
            for (row, is_white) in pair.iter_mut().zip([true, false]) {
                let own = if is_shared { luck } else { uniform(random) };
                let luck = if is_white { own } else { 1.0 - own };
                let eta = assumed.first_move + dot(&row.differences, &assumed.coefficients);
                let (win, loss) = (sigmoid(eta - assumed.draw_half_width), sigmoid(-eta - assumed.draw_half_width));
                row.outcome = match luck {
                    _ if luck < loss => Outcome::BlackWins,
                    _ if luck >= 1.0 - win => Outcome::WhiteWins,
                    _ => Outcome::Draw,
                };
            }
        }
    }

    /// The spread of coefficients over fits to simulated results, and their mean reported errors.
    fn simulated(rows: &[Row], assumed: &Guess, share: f64, runs: u32) -> Vec<[f64; 2]> {
        let mut random = ChaCha8Rng::seed_from_u64(9);
        let mut sums = [[0.0; 3]; 4];
        for _ in 0..runs {
            let mut rows = rows.to_vec();
            play(&mut rows, assumed, share, &mut random);
            let fit = LogisticFit::new(&design(rows), Likelihood::OrderedLogit).unwrap();
            for (sum, term) in sums.iter_mut().zip(&fit.terms) {
                sum[0] += term.coefficient;
                sum[1] += term.coefficient * term.coefficient;
                sum[2] += term.clustered_error;
            }
        }
        let n = f64::from(runs);
        sums.iter().map(|[a, b, c]| [((b - a * a / n) / (n - 1.0)).sqrt(), c / n]).collect()
    }

    #[test]
    fn predicted_errors_are_those_of_fits_to_simulated_results() {
        let rows = starts(400);
        let forecast = Forecast::new(&design(rows.clone()), &assumed()).unwrap();
        let predicted = forecast.after(800).unwrap().errors();
        for ((name, error), [spread, reported]) in predicted.iter().zip(simulated(&rows, &assumed(), 0.0, 300)) {
            println!("{name}: predicted {error:.4}, reported {reported:.4}, spread {spread:.4}");
            assert!((reported / error - 1.0).abs() < 0.03, "{name}: predicted {error}, reported {reported}");
            // The spread of 300 fits is known to 4 %.
            assert!((spread / error - 1.0).abs() < 0.13, "{name}: predicted {error}, spread {spread}");
        }
    }

    #[test]
    fn luck_of_an_army_in_both_games_is_forecast_by_the_pair_correlation() {
        let rows = starts(400);
        let correlation = 0.3;
        let correlated = Guess { pair_correlation: correlation, ..assumed() };
        let [plain, with] = [assumed(), correlated]
            .map(|assumed| Forecast::new(&design(rows.clone()), &assumed).unwrap().after(800).unwrap().errors());
        for (index, [_, reported]) in simulated(&rows, &assumed(), correlation, 200).into_iter().enumerate() {
            let (name, error) = &with[index];
            println!("{name}: predicted {error:.4} (without {:.4}), reported {reported:.4}", plain[index].1);
            // The same luck is not quite the same score, because each army has the first move once.
            assert!((reported / error - 1.0).abs() < 0.04, "{name}: predicted {error}, reported {reported}");
        }
        // It makes the first move clearer and the men less clear.
        assert!(with[0].1 < 0.9 * plain[0].1 && with[2].1 > 1.1 * plain[2].1, "{with:?} {plain:?}");
    }

    #[test]
    fn half_widths_condition_and_names_are_those_that_a_fit_reports() {
        let mut rows = starts(1000);
        let forecast = Forecast::new(&design(rows.clone()), &assumed()).unwrap();
        play(&mut rows, &assumed(), 0.0, &mut ChaCha8Rng::seed_from_u64(4));
        let fit = LogisticFit::new(&design(rows), Likelihood::OrderedLogit).unwrap();
        let ratio = fit.condition_number / forecast.condition_number;
        assert!((ratio - 1.0).abs() < 0.1, "{} and {}", fit.condition_number, forecast.condition_number);
        let estimates = Estimates::of_fit(&fit, CovarianceKind::Clustered);
        let predicted = forecast.values_after(2000, "pawn", NORMAL_97_5).unwrap();
        for (name, predicted) in &predicted[2..] {
            let found = estimates.in_pawns(&Combination::unit(name), "pawn", NORMAL_97_5).unwrap();
            let [predicted, found] = [predicted, &found].map(|value| value.half_width().unwrap());
            // The half-width goes with the square of the pawn's coefficient, which one fit knows to 10 %.
            assert!((found / predicted - 1.0).abs() < 0.3, "{name}: predicted {predicted}, found {found}");
        }
    }

    #[test]
    fn four_times_the_games_halve_the_errors_and_games_for_is_the_inverse() {
        let forecast = Forecast::new(&design(starts(300)), &assumed()).unwrap();
        let [few, many] = [1000, 4000].map(|games| forecast.after(games).unwrap().errors());
        for ((_, few), (_, many)) in few.iter().zip(&many) {
            assert!((few / many - 2.0).abs() < 1e-12);
        }
        let rook_less_knight = Combination::new(vec![("rook".to_owned(), 1.0), ("knight".to_owned(), -1.0)]);
        for critical in [NORMAL_97_5, 2.031] {
            let games = forecast.games_for(&rook_less_knight, "pawn", 0.25, critical).unwrap().unwrap();
            let half_width = |games| {
                let value = forecast.after(games).unwrap().in_pawns(&rook_less_knight, "pawn", critical).unwrap();
                value.half_width().unwrap()
            };
            assert!(half_width(games) <= 0.25 && half_width(games - 1) > 0.25, "{games}");
        }
        assert_eq!(forecast.games_for(&rook_less_knight, "pawn", 0.0, NORMAL_97_5).unwrap(), None);
    }

    #[test]
    fn a_design_that_cannot_tell_columns_apart_names_them() {
        let mut rows = starts(100);
        for row in &mut rows {
            row.differences[2] = 2.0 * row.differences[1];
        }
        let forecast = Forecast::new(&design(rows.clone()), &assumed()).unwrap();
        let mixed = Undetermined { column: "rook".to_owned(), mixed_with: vec!["knight".to_owned()] };
        assert_eq!(forecast.undetermined, [mixed]);
        let value = forecast.after(100).unwrap().in_pawns(&Combination::unit("knight"), "pawn", 1.96).unwrap();
        assert_eq!(value, PawnValue::Entangled { with: vec!["rook".to_owned()] });
        let games = forecast.games_for(&Combination::unit("knight"), "pawn", 1.0, 1.96).unwrap();
        assert_eq!(games, None);
        rows.iter_mut().for_each(|row| row.differences[2] = 0.0);
        let forecast = Forecast::new(&design(rows), &assumed()).unwrap();
        assert_eq!(forecast.undetermined[0].mixed_with, Vec::<String>::new());
    }

    #[test]
    fn without_draws_a_game_tells_more_and_nonsense_is_refused() {
        let design = design(starts(50));
        let of = |assumed: Guess| Forecast::new(&design, &assumed);
        let no_draws = of(Guess { draw_half_width: 0.0, ..assumed() }).unwrap();
        let few_draws = of(Guess { draw_half_width: 1e-6, ..assumed() }).unwrap();
        let error = |forecast: &Forecast| forecast.after(100).unwrap().errors()[1].1;
        assert!((error(&no_draws) / error(&few_draws) - 1.0).abs() < 1e-4);
        for (name, wrong) in [
            ("coefficients", Guess { coefficients: vec![1.0], ..assumed() }),
            ("\"knight\"", Guess { coefficients: vec![0.3, f64::NAN, 1.0], ..assumed() }),
            ("\"side\"", Guess { first_move: f64::INFINITY, ..assumed() }),
            ("half-width", Guess { draw_half_width: -0.1, ..assumed() }),
            ("correlation", Guess { pair_correlation: 1.5, ..assumed() }),
            ("decide every game", Guess { first_move: 900.0, ..assumed() }),
        ] {
            let text = of(wrong).unwrap_err().to_string();
            assert!(text.contains(name), "{name}: {text}");
        }
        assert_eq!(no_draws.after(0).unwrap_err(), ForecastError::NoGames);
    }
}
