//! Game results regressed on signed differences: the model behind every measured piece value.
//!
//! A row is one game (or position): its result from White's view and the vector of differences x (White's count minus
//! Black's, per kind of unit). With η = b₀ + Σ bᵢxᵢ, where b₀ is the first-move term, two likelihoods share one
//! Newton solver:
//!
//! - [`Likelihood::QuasiBernoulli`]: expected score σ(η); a draw counts as half a win and half a loss.
//! - [`Likelihood::OrderedLogit`]: P(win) = σ(η−ν), P(loss) = σ(−η−ν), P(draw) = the rest, ν > 0.
//!
//! Coefficients are in logits per unit of difference. Both log likelihoods are concave in (b, ν), so the solver either
//! reaches the one maximum or runs off to infinity, which is separation and reported with the column's name.
//! Columns that the rows cannot determine are listed and left out; the rest is fitted.
//!
//! Standard errors come in three kinds ([`CovarianceKind`]). The two games of a pair share their start, so claims use
//! the clustered one. Values in pawns are formed in [`super::ratio`].
//!
//! Sources: McCullagh, "Regression models for ordinal data" (1980); White (1980) for the sandwich; Liang and Zeger
//! (1986) for clusters; no small-sample factor is applied.

use std::collections::BTreeSet;

use serde::Serialize;
use thiserror::Error;

use self::solver::Problem;
use super::linear::SquareMatrix;
use super::sigmoid;

pub(super) mod solver;

/// The name of the first-move term b₀ among the terms of a fit.
pub const FIRST_MOVE: &str = "side";

/// The name under which the draw term ln ν appears in errors.
pub const DRAW_TERM: &str = "draw term";

/// A game's result from White's view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum Outcome {
    /// White won.
    WhiteWins,
    /// Drawn.
    Draw,
    /// Black won.
    BlackWins,
}

impl Outcome {
    /// White's points: 0, ½ or 1.
    #[must_use]
    pub fn points(self) -> f64 {
        match self {
            Self::WhiteWins => 1.0,
            Self::Draw => 0.5,
            Self::BlackWins => 0.0,
        }
    }
}

/// One game or position of the regression.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The result from White's view.
    pub outcome: Outcome,
    /// White's count minus Black's, one entry per column of the design.
    pub differences: Vec<f64>,
    /// Rows with the same cluster may be correlated: the pair of games, or the game of a position.
    pub cluster: u64,
}

/// Named columns and the rows under them, checked: every row as wide as the columns, every entry finite.
#[derive(Debug, Clone)]
pub struct Design {
    columns: Vec<String>,
    rows: Vec<Row>,
}

/// How results are explained by η.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Likelihood {
    /// Expected score σ(η), maximum of the Bernoulli quasi-likelihood.
    QuasiBernoulli,
    /// Win, draw and loss as ordered categories with the half-width ν of the draw.
    #[default]
    OrderedLogit,
}

/// Why the quasi-Bernoulli likelihood was used although the ordered logit was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Fallback {
    /// No game was drawn: ν runs to 0, where the two likelihoods are the same.
    NoDraws,
    /// One side won no game: b₀ and ν run to infinity together.
    OneSideNeverWins,
}

/// Which covariance of the coefficients is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum CovarianceKind {
    /// The inverse of the observed information: right only if the model is, and rows are independent.
    Model,
    /// Sandwich with every row its own cluster (HC0).
    Independent,
    /// Sandwich with the rows of a cluster summed first: for games played in pairs.
    Clustered,
}

/// One fitted term.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Term {
    /// [`FIRST_MOVE`] or the column's name.
    pub name: String,
    /// The coefficient in logits per unit of difference.
    pub coefficient: f64,
    /// Standard error by [`CovarianceKind::Model`].
    pub model_error: f64,
    /// Standard error by [`CovarianceKind::Independent`].
    pub independent_error: f64,
    /// Standard error by [`CovarianceKind::Clustered`].
    pub clustered_error: f64,
}

/// The draw term of an ordered-logit fit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DrawTerm {
    /// ν in logits; at η = 0 the draw rate is tanh(ν/2).
    pub half_width: f64,
    /// ln ν with its standard errors.
    pub log_half_width: Term,
}

/// A column left out of the fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Undetermined {
    /// The column's name.
    pub column: String,
    /// The fitted terms it is a combination of, whose coefficients therefore contain its effect; empty when the
    /// column is zero in every row.
    pub mixed_with: Vec<String>,
}

/// A fitted regression. Matrices are ordered as `terms`, with ln ν last when there is a draw term.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LogisticFit {
    /// The likelihood that was maximised.
    pub likelihood: Likelihood,
    /// Why it is not the one asked for, if so.
    pub fallback: Option<Fallback>,
    /// The first-move term, then the determined columns in order.
    pub terms: Vec<Term>,
    /// The draw term, for an ordered logit.
    pub draw_term: Option<DrawTerm>,
    /// Columns that the rows do not determine.
    pub undetermined: Vec<Undetermined>,
    /// Covariance by the observed information.
    pub model_covariance: SquareMatrix,
    /// HC0 covariance.
    pub independent_covariance: SquareMatrix,
    /// Cluster-robust covariance.
    pub clustered_covariance: SquareMatrix,
    /// Mean cross-entropy of the expected score, in nats a row: comparable between likelihoods.
    pub log_loss: f64,
    /// Mean negative log likelihood in nats a row: the quantity minimised. Not comparable between likelihoods.
    pub negative_log_likelihood: f64,
    /// Mean squared error of the expected score.
    pub mse: f64,
    /// Number of rows.
    pub rows: usize,
    /// Number of distinct clusters.
    pub clusters: usize,
    /// Newton steps taken.
    pub iterations: u32,
    /// Condition number of the information about all terms, scaled to a unit diagonal: 1 when no two columns vary
    /// together, and large when the design can hardly tell some apart.
    pub condition_number: f64,
}

/// Why a design could not be built or fitted.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum LogisticError {
    /// There is nothing to fit.
    #[error("expected at least one row, got none")]
    NoRows,
    /// Two columns share a name, or a column takes a reserved one.
    #[error("expected distinct column names other than \"{FIRST_MOVE}\" and \"{DRAW_TERM}\", got \"{name}\"")]
    ColumnName {
        /// The offending name.
        name: String,
    },
    /// A row has the wrong number of differences.
    #[error("row {row}: expected {expected} differences, got {got}")]
    RowWidth {
        /// The row, from 0.
        row: usize,
        /// Number of columns.
        expected: usize,
        /// Number of differences.
        got: usize,
    },
    /// A difference is NaN or infinite.
    #[error("row {row}, column \"{column}\": expected a finite difference, got {got}")]
    NotFinite {
        /// The row, from 0.
        row: usize,
        /// The column's name.
        column: String,
        /// The value.
        got: f64,
    },
    /// Every game ended the same way, so nothing can be learnt.
    #[error("expected more than one kind of result, got {rows} rows that are all {outcome:?}")]
    OneOutcome {
        /// The result they share.
        outcome: Outcome,
        /// Number of rows.
        rows: usize,
    },
    /// A column predicts results without exception, so its coefficient would be infinite.
    #[error(
        "column \"{column}\" separates the results, so its coefficient is infinite: expected some result against its prediction; add games or drop the column"
    )]
    Separated {
        /// The column's name, or that of the most divergent of several.
        column: String,
    },
    /// Robust errors need more clusters than terms: with fewer they come out far too small, or zero.
    #[error("expected more clusters of games than the {terms} terms fitted, got {clusters}")]
    TooFewClusters {
        /// Fitted terms, draw term included.
        terms: usize,
        /// Distinct clusters.
        clusters: usize,
    },
    /// The iteration limit was reached.
    #[error("expected convergence within {iterations} Newton steps, last step moved \"{column}\" by {step:e} logits")]
    NotConverged {
        /// Steps taken.
        iterations: u32,
        /// The term that moved most.
        column: String,
        /// Its last movement in logits.
        step: f64,
    },
}

impl Design {
    /// Checks names, widths and finiteness.
    ///
    /// # Errors
    /// The first [`LogisticError`] found among names, then rows.
    pub fn new(columns: Vec<String>, rows: Vec<Row>) -> Result<Self, LogisticError> {
        check_names(&columns)?;
        if rows.is_empty() {
            return Err(LogisticError::NoRows);
        }
        for (index, row) in rows.iter().enumerate() {
            check_row(&columns, index, row)?;
        }
        Ok(Self { columns, rows })
    }

    /// The column names, in order.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The rows, in order.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    fn count(&self, outcome: Outcome) -> usize {
        self.rows.iter().filter(|row| row.outcome == outcome).count()
    }
}

impl LogisticFit {
    /// Fits `likelihood` to a design, falling back as [`Fallback`] says.
    ///
    /// # Errors
    /// [`LogisticError::OneOutcome`], [`LogisticError::TooFewClusters`], [`LogisticError::Separated`] or
    /// [`LogisticError::NotConverged`].
    pub fn new(design: &Design, likelihood: Likelihood) -> Result<Self, LogisticError> {
        check_outcomes(design)?;
        let fallback = match likelihood {
            Likelihood::QuasiBernoulli => None,
            Likelihood::OrderedLogit => needed_fallback(design),
        };
        let used = if fallback.is_some() { Likelihood::QuasiBernoulli } else { likelihood };
        let (problem, undetermined) = Problem::new(design, used);
        problem.check_clusters()?;
        problem.check_single_columns()?;
        let optimum = problem.maximise()?;
        Ok(problem.report(&optimum, fallback, undetermined))
    }

    /// The first-move term: White's advantage, in logits, when all differences are zero.
    #[must_use]
    pub fn first_move(&self) -> &Term {
        &self.terms[0]
    }

    /// The index, in `terms` and in the covariances, of a fitted term.
    #[must_use]
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.terms.iter().position(|term| term.name == name)
    }

    /// One of the three covariances.
    #[must_use]
    pub fn covariance(&self, kind: CovarianceKind) -> &SquareMatrix {
        match kind {
            CovarianceKind::Model => &self.model_covariance,
            CovarianceKind::Independent => &self.independent_covariance,
            CovarianceKind::Clustered => &self.clustered_covariance,
        }
    }
}

fn check_names(columns: &[String]) -> Result<(), LogisticError> {
    let mut seen = BTreeSet::from([FIRST_MOVE, DRAW_TERM]);
    match columns.iter().find(|name| !seen.insert(name.as_str())) {
        Some(name) => Err(LogisticError::ColumnName { name: name.clone() }),
        None => Ok(()),
    }
}

fn check_row(columns: &[String], index: usize, row: &Row) -> Result<(), LogisticError> {
    if row.differences.len() != columns.len() {
        return Err(LogisticError::RowWidth { row: index, expected: columns.len(), got: row.differences.len() });
    }
    match row.differences.iter().position(|x| !x.is_finite()) {
        Some(at) => Err(LogisticError::NotFinite { row: index, column: columns[at].clone(), got: row.differences[at] }),
        None => Ok(()),
    }
}

fn check_outcomes(design: &Design) -> Result<(), LogisticError> {
    let outcome = design.rows[0].outcome;
    if design.count(outcome) < design.rows.len() {
        return Ok(());
    }
    Err(LogisticError::OneOutcome { outcome, rows: design.rows.len() })
}

fn needed_fallback(design: &Design) -> Option<Fallback> {
    if design.count(Outcome::Draw) == 0 {
        Some(Fallback::NoDraws)
    } else if design.count(Outcome::WhiteWins) == 0 || design.count(Outcome::BlackWins) == 0 {
        Some(Fallback::OneSideNeverWins)
    } else {
        None
    }
}

/// P(win) + ½·P(draw) under the ordered logit; σ(η) when ν = 0.
#[must_use]
pub fn expected_score(eta: f64, nu: f64) -> f64 {
    0.5 * (sigmoid(eta - nu) + sigmoid(eta + nu))
}
