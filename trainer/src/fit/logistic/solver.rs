//! The Newton solver and the robust covariances behind [`super::LogisticFit::new`], and the information to be expected of
//! games not yet played, behind [`crate::fit::forecast`].
//!
//! The parent module checks the design and names its columns; here are only numbers.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    DRAW_TERM, Design, DrawTerm, FIRST_MOVE, Fallback, Likelihood, LogisticError, LogisticFit, Outcome, Term,
    Undetermined, expected_score,
};
use crate::fit::linear::{Cholesky, LinearError, SquareMatrix, condition_number, dot, principal, split_columns};
use crate::fit::{ln_sigmoid, score_log_loss, sigmoid};

/// The solver's numbers, with their reasons.
mod limits {
    /// Newton steps before giving up. A regular problem takes 4 to 12; separation is noticed after 20 to 40.
    pub const ITERATIONS: u32 = 100;
    /// The fit has converged when no term moves by more than this many logits, at the typical size of its column.
    /// Newton converges quadratically, so the remaining error is near the square of it.
    pub const STEP_LOGITS: f64 = 1e-9;
    /// A term that alone contributes more logits than this, with a standard error larger than itself, is running to
    /// infinity: e^20 to 1 is certainty that no number of games here can show.
    pub const SEPARATION_LOGITS: f64 = 20.0;
    /// Halvings of a Newton step that lowers the likelihood.
    pub const HALVINGS: u32 = 60;
    /// A fall of the log likelihood by less than this fraction is rounding.
    pub const ROUNDING: f64 = 1e-12;
    /// The draw rate from which ν starts is kept this far away from 0 and 1.
    pub const START_DRAW_RATE_MARGIN: f64 = 1e-3;
}

/// A row's log likelihood and its derivatives by η and ν.
struct RowTerms {
    log_likelihood: f64,
    by_eta: f64,
    by_nu: f64,
    /// Negative second derivatives: by η twice, by η and ν, by ν twice.
    information: [f64; 3],
}

impl RowTerms {
    fn quasi_bernoulli(outcome: Outcome, eta: f64) -> Self {
        Self {
            log_likelihood: -score_log_loss(eta, outcome.points()),
            by_eta: outcome.points() - sigmoid(eta),
            by_nu: 0.0,
            information: [sigmoid(eta) * sigmoid(-eta), 0.0, 0.0],
        }
    }

    fn ordered_logit(outcome: Outcome, eta: f64, nu: f64) -> Self {
        match outcome {
            Outcome::WhiteWins => Self::decisive(eta, nu, 1.0),
            Outcome::BlackWins => Self::decisive(eta, nu, -1.0),
            Outcome::Draw => Self::drawn(eta, nu),
        }
    }

    /// ln σ(sη − ν) for the winner's sign s.
    fn decisive(eta: f64, nu: f64, sign: f64) -> Self {
        let margin = sign * eta - nu;
        let slope = sigmoid(-margin);
        let weight = sigmoid(margin) * slope;
        Self {
            log_likelihood: ln_sigmoid(margin),
            by_eta: sign * slope,
            by_nu: -slope,
            information: [weight, -sign * weight, weight],
        }
    }

    /// P(draw) = σ(ν+η)·σ(ν−η)·(1−e^(−2ν)), which needs no subtraction of nearly equal numbers.
    fn drawn(eta: f64, nu: f64) -> Self {
        let (upper, lower) = (nu + eta, nu - eta);
        let upper_weight = sigmoid(upper) * sigmoid(-upper);
        let lower_weight = sigmoid(lower) * sigmoid(-lower);
        let below_one = -(-2.0 * nu).exp_m1();
        let barrier_slope = 2.0 * (1.0 - below_one) / below_one;
        let barrier_weight = 4.0 * (1.0 - below_one) / (below_one * below_one);
        Self {
            log_likelihood: ln_sigmoid(upper) + ln_sigmoid(lower) + below_one.ln(),
            by_eta: sigmoid(-upper) - sigmoid(-lower),
            by_nu: sigmoid(-upper) + sigmoid(-lower) + barrier_slope,
            information: [
                upper_weight + lower_weight,
                upper_weight - lower_weight,
                upper_weight + lower_weight + barrier_weight,
            ],
        }
    }
}

impl RowTerms {
    /// The information to be expected of a game not yet played; without ν, that of a game without draws.
    fn expected_information(eta: f64, nu: Option<f64>) -> [f64; 3] {
        let Some(nu) = nu else { return Self::quasi_bernoulli(Outcome::Draw, eta).information };
        let mut sum = [0.0; 3];
        for outcome in [Outcome::WhiteWins, Outcome::Draw, Outcome::BlackWins] {
            let terms = Self::ordered_logit(outcome, eta, nu);
            let probability = terms.log_likelihood.exp();
            sum.iter_mut().zip(terms.information).for_each(|(entry, addend)| *entry += probability * addend);
        }
        sum
    }
}

/// A design reduced to its determined columns, with 1 in front for the first-move term.
pub(in crate::fit) struct Problem<'a> {
    design: &'a Design,
    likelihood: Likelihood,
    names: Vec<String>,
    regressors: Vec<Vec<f64>>,
    /// Root mean square of the non-zero entries of each regressor, then 1 for ν: turns coefficients into logits.
    typical: Vec<f64>,
}

/// Log likelihood, gradient and observed information at one point.
struct Expansion {
    log_likelihood: f64,
    gradient: Vec<f64>,
    information: SquareMatrix,
}

/// What the rows of a design will tell on average, whatever the outcomes.
pub(in crate::fit) struct Expected {
    /// The information about the terms, ν last if there is one.
    pub(in crate::fit) information: SquareMatrix,
    /// The square of the clusters' summed gradients: equal to the information if rows are independent.
    pub(in crate::fit) scores: SquareMatrix,
}

/// The point of maximum likelihood: coefficients, then ν if there is one.
pub(super) struct Optimum {
    point: Vec<f64>,
    model_covariance: SquareMatrix,
    log_likelihood: f64,
    condition_number: f64,
    iterations: u32,
}

impl<'a> Problem<'a> {
    pub(in crate::fit) fn new(design: &'a Design, likelihood: Likelihood) -> (Self, Vec<Undetermined>) {
        let all_names: Vec<String> =
            std::iter::once(FIRST_MOVE.to_owned()).chain(design.columns.iter().cloned()).collect();
        let with_constant =
            design.rows.iter().map(|row| std::iter::once(1.0).chain(row.differences.iter().copied()).collect());
        let full: Vec<Vec<f64>> = with_constant.collect();
        let mut gram = SquareMatrix::zeros(all_names.len());
        full.iter().for_each(|row| gram.add_outer(1.0, row));
        let split = split_columns(&gram);
        let pick = |row: &Vec<f64>| split.kept.iter().map(|&k| row[k]).collect::<Vec<f64>>();
        let regressors: Vec<Vec<f64>> = full.iter().map(pick).collect();
        let typical = typical_sizes(&principal(&gram, &split.kept), &regressors, likelihood);
        let undetermined = split.dependent.iter().map(|dependent| Undetermined {
            column: all_names[dependent.column].clone(),
            mixed_with: dependent.made_of.iter().map(|&k| all_names[k].clone()).collect(),
        });
        let undetermined = undetermined.collect();
        let names = split.kept.iter().map(|&k| all_names[k].clone()).collect();
        let problem = Self { design, likelihood, names, regressors, typical };
        (problem, undetermined)
    }

    /// The names of the determined terms, the draw term left out.
    pub(in crate::fit) fn names(&self) -> &[String] {
        &self.names
    }

    fn has_draw_term(&self) -> bool {
        self.likelihood == Likelihood::OrderedLogit
    }

    pub(in crate::fit) fn name_of(&self, index: usize) -> &str {
        self.names.get(index).map_or(DRAW_TERM, String::as_str)
    }

    pub(super) fn check_clusters(&self) -> Result<(), LogisticError> {
        let terms = self.names.len() + usize::from(self.has_draw_term());
        let distinct: BTreeSet<u64> = self.design.rows.iter().map(|row| row.cluster).collect();
        if distinct.len() > terms {
            return Ok(());
        }
        Err(LogisticError::TooFewClusters { terms, clusters: distinct.len() })
    }

    /// Finds a column that alone predicts every row in which it is not zero.
    pub(super) fn check_single_columns(&self) -> Result<(), LogisticError> {
        for column in 1..self.names.len() {
            let mut directions = self
                .regressors
                .iter()
                .zip(&self.design.rows)
                .filter(|(x, _)| x[column] != 0.0)
                .map(|(x, row)| x[column].signum() * (row.outcome.points() - 0.5));
            let first = directions.next().unwrap_or(0.0);
            if first != 0.0 && directions.all(|direction| direction * first > 0.0) {
                return Err(self.separated(column));
            }
        }
        Ok(())
    }

    pub(super) fn maximise(&self) -> Result<Optimum, LogisticError> {
        let mut point = self.start();
        let mut here = self.expand(&point);
        let mut last = (0, 0.0);
        for iteration in 1..=limits::ITERATIONS {
            let factor = Cholesky::factor(&here.information).map_err(|e| self.singular(&e))?;
            self.check_divergence(&point, &factor)?;
            let step = factor.solve(&here.gradient);
            (point, here) = self.advance(&point, &step, here);
            last = self.largest_move(&step);
            if last.1 < limits::STEP_LOGITS {
                let factor = Cholesky::factor(&here.information).map_err(|e| self.singular(&e))?;
                return Ok(Optimum {
                    point,
                    model_covariance: factor.inverse(),
                    log_likelihood: here.log_likelihood,
                    condition_number: condition_number(&here.information),
                    iterations: iteration,
                });
            }
        }
        Err(LogisticError::NotConverged {
            iterations: limits::ITERATIONS,
            column: self.name_of(last.0).to_owned(),
            step: last.1,
        })
    }

    /// All coefficients zero, and ν from the draw rate that it gives at η = 0.
    fn start(&self) -> Vec<f64> {
        let mut point = vec![0.0; self.names.len()];
        if self.has_draw_term() {
            let rate = self.design.count(Outcome::Draw) as f64 / self.design.rows.len() as f64;
            let margin = limits::START_DRAW_RATE_MARGIN;
            point.push(2.0 * rate.clamp(margin, 1.0 - margin).atanh());
        }
        point
    }

    /// Goes along a Newton step, halving it while it lowers the likelihood or makes ν negative.
    fn advance(&self, point: &[f64], step: &[f64], here: Expansion) -> (Vec<f64>, Expansion) {
        let floor = here.log_likelihood - limits::ROUNDING * here.log_likelihood.abs();
        let mut length = 1.0;
        for _ in 0..limits::HALVINGS {
            let trial: Vec<f64> = point.iter().zip(step).map(|(p, s)| p + length * s).collect();
            if !self.has_draw_term() || trial[self.names.len()] > 0.0 {
                let there = self.expand(&trial);
                if there.log_likelihood >= floor {
                    return (trial, there);
                }
            }
            length /= 2.0;
        }
        (point.to_vec(), here)
    }

    fn largest_move(&self, step: &[f64]) -> (usize, f64) {
        let logits = step.iter().zip(&self.typical).map(|(s, size)| (s * size).abs());
        logits.enumerate().fold((0, 0.0), |most, (index, logit)| if logit > most.1 { (index, logit) } else { most })
    }

    /// A huge coefficient whose information has vanished is on its way to infinity.
    fn check_divergence(&self, point: &[f64], factor: &Cholesky) -> Result<(), LogisticError> {
        let (worst, logits) = self.largest_move(point);
        if logits < limits::SEPARATION_LOGITS || factor.inverse().diagonal_roots()[worst] < point[worst].abs() {
            return Ok(());
        }
        Err(self.separated(worst))
    }

    /// Columns are independent before weighting, so a singular information means that weights have vanished.
    fn singular(&self, error: &LinearError) -> LogisticError {
        let LinearError::NotPositiveDefinite { column, .. } = *error;
        self.separated(column)
    }

    fn separated(&self, index: usize) -> LogisticError {
        LogisticError::Separated { column: self.name_of(index).to_owned() }
    }

    fn eta(&self, row: usize, point: &[f64]) -> f64 {
        dot(&self.regressors[row], &point[..self.names.len()])
    }

    fn terms_of_row(&self, row: usize, point: &[f64]) -> RowTerms {
        let outcome = self.design.rows[row].outcome;
        let eta = self.eta(row, point);
        match self.likelihood {
            Likelihood::QuasiBernoulli => RowTerms::quasi_bernoulli(outcome, eta),
            Likelihood::OrderedLogit => RowTerms::ordered_logit(outcome, eta, point[self.names.len()]),
        }
    }

    /// The gradient of one row's log likelihood.
    fn score_vector(&self, row: usize, terms: &RowTerms) -> Vec<f64> {
        let mut score: Vec<f64> = self.regressors[row].iter().map(|x| terms.by_eta * x).collect();
        if self.has_draw_term() {
            score.push(terms.by_nu);
        }
        score
    }

    fn expand(&self, point: &[f64]) -> Expansion {
        let mut sum = Expansion {
            log_likelihood: 0.0,
            gradient: vec![0.0; point.len()],
            information: SquareMatrix::zeros(point.len()),
        };
        for (row, regressors) in self.regressors.iter().enumerate() {
            let terms = self.terms_of_row(row, point);
            sum.log_likelihood += terms.log_likelihood;
            add_into(&mut sum.gradient, &self.score_vector(row, &terms));
            self.add_information(&mut sum.information, regressors, terms.information);
        }
        sum
    }

    fn add_information(&self, sum: &mut SquareMatrix, regressors: &[f64], [eta_eta, eta_nu, nu_nu]: [f64; 3]) {
        sum.add_outer(eta_eta, regressors);
        if self.has_draw_term() {
            let last = self.names.len();
            for (column, x) in regressors.iter().enumerate() {
                sum.add(last, column, eta_nu * x);
                sum.add(column, last, eta_nu * x);
            }
            sum.add(last, last, nu_nu);
        }
    }

    /// What rows with these η (one each) will tell, if the scores of two rows of a cluster correlate like `correlation`,
    /// from White's view.
    pub(in crate::fit) fn expected(&self, etas: &[f64], nu: Option<f64>, correlation: f64) -> Expected {
        let size = self.names.len() + usize::from(self.has_draw_term());
        let mut information = SquareMatrix::zeros(size);
        let mut own = SquareMatrix::zeros(size);
        let mut sums: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for ((regressors, row), &eta) in self.regressors.iter().zip(&self.design.rows).zip(etas) {
            let terms = RowTerms::expected_information(eta, nu);
            self.add_information(&mut information, regressors, terms);
            // A score by η has the variance of its information, so its root is a typical score.
            let score: Vec<f64> = regressors.iter().map(|x| terms[0].sqrt() * x).collect();
            own.add_outer(1.0, &score);
            add_into(sums.entry(row.cluster).or_insert_with(|| vec![0.0; score.len()]), &score);
        }
        let mut scores = information.clone();
        sums.values().for_each(|sum| scores.add_outer(correlation, sum));
        // Products of a row with itself are not between two rows.
        for row in 0..size {
            for column in 0..size {
                scores.add(row, column, -correlation * own.at(row, column));
            }
        }
        Expected { information, scores }
    }

    /// The sandwich covariance for a grouping of rows.
    fn robust_covariance<K: Ord>(&self, optimum: &Optimum, group: impl Fn(usize) -> K) -> (SquareMatrix, usize) {
        let mut scores: BTreeMap<K, Vec<f64>> = BTreeMap::new();
        for row in 0..self.regressors.len() {
            let score = self.score_vector(row, &self.terms_of_row(row, &optimum.point));
            add_into(scores.entry(group(row)).or_insert_with(|| vec![0.0; score.len()]), &score);
        }
        let mut meat = SquareMatrix::zeros(optimum.point.len());
        scores.values().for_each(|score| meat.add_outer(1.0, score));
        (optimum.model_covariance.sandwich(&meat), scores.len())
    }

    pub(super) fn report(
        &self,
        optimum: &Optimum,
        fallback: Option<Fallback>,
        undetermined: Vec<Undetermined>,
    ) -> LogisticFit {
        let (independent, rows) = self.robust_covariance(optimum, |row| row);
        let (clustered, clusters) = self.robust_covariance(optimum, |row| self.design.rows[row].cluster);
        let [model, independent, clustered] =
            [optimum.model_covariance.clone(), independent, clustered].map(|c| self.in_log_half_width(c, optimum));
        let errors = [&model, &independent, &clustered].map(SquareMatrix::diagonal_roots);
        let term = |index: usize, coefficient: f64| Term {
            name: self.name_of(index).to_owned(),
            coefficient,
            model_error: errors[0][index],
            independent_error: errors[1][index],
            clustered_error: errors[2][index],
        };
        let columns = self.names.len();
        let (log_loss, mse) = self.score_losses(optimum);
        LogisticFit {
            likelihood: self.likelihood,
            fallback,
            terms: (0..columns).map(|i| term(i, optimum.point[i])).collect(),
            draw_term: optimum
                .point
                .get(columns)
                .map(|&half_width| DrawTerm { half_width, log_half_width: term(columns, half_width.ln()) }),
            undetermined,
            model_covariance: model,
            independent_covariance: independent,
            clustered_covariance: clustered,
            log_loss,
            negative_log_likelihood: -optimum.log_likelihood / rows as f64,
            mse,
            rows,
            clusters,
            iterations: optimum.iterations,
            condition_number: optimum.condition_number,
        }
    }

    /// Turns the covariance of ν into that of ln ν; exact at the optimum, where the slope by ν vanishes.
    fn in_log_half_width(&self, mut covariance: SquareMatrix, optimum: &Optimum) -> SquareMatrix {
        let last = self.names.len();
        if let Some(&nu) = optimum.point.get(last) {
            for index in 0..last {
                covariance.set(index, last, covariance.at(index, last) / nu);
                covariance.set(last, index, covariance.at(last, index) / nu);
            }
            covariance.set(last, last, covariance.at(last, last) / (nu * nu));
        }
        covariance
    }

    /// Mean cross-entropy and mean squared error of the expected score.
    fn score_losses(&self, optimum: &Optimum) -> (f64, f64) {
        let nu = optimum.point.get(self.names.len()).copied().unwrap_or(0.0);
        let (mut log_loss, mut squares) = (0.0, 0.0);
        for (index, row) in self.design.rows.iter().enumerate() {
            let eta = self.eta(index, &optimum.point);
            let (white, black) = (expected_score(eta, nu), expected_score(-eta, nu));
            let points = row.outcome.points();
            log_loss += surprise(points, white) + surprise(1.0 - points, black);
            squares += (points - white) * (points - white);
        }
        let rows = self.design.rows.len() as f64;
        (log_loss / rows, squares / rows)
    }
}

/// −`share`·ln p, and zero when the share is zero whatever p is.
fn surprise(share: f64, probability: f64) -> f64 {
    if share > 0.0 { -share * probability.ln() } else { 0.0 }
}

fn typical_sizes(gram: &SquareMatrix, regressors: &[Vec<f64>], likelihood: Likelihood) -> Vec<f64> {
    let size = |column: usize| {
        let present = regressors.iter().filter(|row| row[column] != 0.0).count().max(1);
        (gram.at(column, column) / present as f64).sqrt()
    };
    let mut sizes: Vec<f64> = (0..gram.size()).map(size).collect();
    if likelihood == Likelihood::OrderedLogit {
        sizes.push(1.0);
    }
    sizes
}

fn add_into(sum: &mut [f64], term: &[f64]) {
    for (entry, addend) in sum.iter_mut().zip(term) {
        *entry += addend;
    }
}
