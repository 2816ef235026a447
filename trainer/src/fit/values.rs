//! What units are worth in pawns, from one position a game.
//!
//! The result is regressed on the differences of unit counts ([`super::logistic`]: draw-aware, errors clustered by pair)
//! and every coefficient is divided by the pawn's ([`super::ratio`], Fieller). Which position stands for a game is the
//! method, [`Choice`]: nothing here can turn an observational estimate into a causal one.
//!
//! What few games cannot tell is said in the row and does not stop the others: a unit that never differed, units that
//! only differed together, a unit whose owner always won. Claims about the values are in [`super::claims`].

use std::fmt;

use fairyforge_engine::evaluate::Weights;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::{Colour, Unit};
use serde::{Deserialize, Serialize};

use super::NORMAL_97_5;
use super::combination::Combination;
use super::dataset::{Dataset, GameSample};
use super::logistic::{
    CovarianceKind, Design, FIRST_MOVE, Fallback, Likelihood, LogisticError, LogisticFit, Outcome, Row, Undetermined,
};
use super::ratio::{Interval, MOST_GAMES, PawnValue, combination_in_pawns};

/// The name of the unit that is the measure, where a game has it.
const PAWN: &str = "pawn";
/// Clustered errors below this share of the model's are rounding.
const LEAST_SPREAD: f64 = 1e-6;

/// What stands for a game: the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// What the lot took away at the start, whatever else was on the board: nothing but the lot made it, so the values are causal.
    #[serde(alias = "start")]
    Lot,
    /// The first quiet one: close to the imbalance that was assigned by lot at the start, so the values are causal as far as the
    /// lot went, and what hung at the start has been taken.
    #[default]
    Earliest,
    /// One drawn by lot: who is behind there may have been paid for it, which biases the values. Others publish such
    /// values, so it is shown beside.
    Random,
}

/// What is known about the value of one unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ValueOutcome {
    /// A value in pawns with Fieller's 95 % interval.
    Bounded {
        /// The value.
        value: f64,
        /// The interval.
        interval: Interval,
        /// The delta method's standard error, only to compare with published ones.
        delta_error: f64,
    },
    /// Both sides had equally many in every game.
    NeverDiffered,
    /// The games cannot tell it from these units.
    Entangled {
        /// The units, or the first move.
        with: Vec<String>,
    },
    /// Its owner always won, or always lost, so no finite value is best; these games were left out.
    Separated {
        /// Games in which its counts differed.
        games: usize,
    },
    /// The games of every pair cancel exactly, so nothing is known about its error.
    NoSpread,
    /// The pawn's 95 % interval contains zero, so nothing can be measured in pawns.
    PawnUnclear {
        /// That interval, in logits.
        pawn: Interval,
    },
    /// The pawn has no coefficient of its own; its row says why.
    PawnMissing,
    /// There is no fit at all; [`PieceValues::failure`] says why.
    NotFitted,
}

/// One row of the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnitValue {
    /// Name of the unit.
    pub unit: String,
    /// Its letter.
    pub letter: char,
    /// How many White has at the start, on the board and in hand.
    pub in_array: u8,
    /// Its middlegame value in pawns from mobility alone.
    pub a_priori: f64,
    /// Games in whose position the sides had different numbers of it.
    pub games_differing: usize,
    /// Logits per unit, where fitted.
    pub coefficient: Option<f64>,
    /// Its standard error clustered by pair.
    pub clustered_error: Option<f64>,
    /// The value in pawns, or why there is none.
    pub value: ValueOutcome,
}

/// The first-move term: White's advantage with equal men.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FirstMove {
    /// In logits.
    pub coefficient: f64,
    /// Standard error clustered by pair.
    pub clustered_error: f64,
    /// In pawns.
    pub value: ValueOutcome,
}

/// Values of all units but the royal one, by one method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PieceValues {
    /// Which position stood for a game.
    pub method: Choice,
    /// The unit that is the measure.
    pub pawn: String,
    /// A row for each unit, from the least a-priori value to the greatest.
    pub rows: Vec<UnitValue>,
    /// White's advantage, if there is a fit.
    pub first_move: Option<FirstMove>,
    /// Games in the fit.
    pub games: usize,
    /// Pairs in the fit: the independent experiments.
    pub pairs: usize,
    /// Share of drawn games.
    pub draws: f64,
    /// Games left out because they have no quiet position.
    pub games_without_quiet: u64,
    /// Mean cross-entropy of the expected score, nats a game, if there is a fit.
    pub log_loss: Option<f64>,
    /// How well the games tell the units apart: 1 is perfect.
    pub condition_number: Option<f64>,
    /// Why draws were counted as half wins instead of modelled, if so.
    pub fallback: Option<Fallback>,
    /// Why there is no fit, if so.
    pub failure: Option<String>,
    /// The fit behind it all, for whatever else may be asked of it.
    #[serde(skip)]
    pub fit: Option<LogisticFit>,
}

impl PieceValues {
    /// Measures all units on the games of a data set, with 95 % intervals. Too few games are no error: the rows say what
    /// is unknown.
    #[must_use]
    pub fn measure(dataset: &Dataset, variant: &Variant, method: Choice) -> Self {
        Self::measure_at(dataset, variant, method, NORMAL_97_5)
    }

    /// As [`Self::measure`], with intervals at another `critical` value of the normal distribution: wider where many
    /// intervals are to hold together, or are looked at again and again.
    #[must_use]
    pub fn measure_at(dataset: &Dataset, variant: &Variant, method: Choice, critical: f64) -> Self {
        let units: Vec<Unit> = variant.units().filter(|&unit| unit != variant.royal()).collect();
        let columns = units.iter().map(|&unit| variant.unit(unit).name.clone()).collect();
        let rows = dataset.games.iter().filter_map(|game| row(game, variant, &units, method)).collect();
        let a_priori = Weights::a_priori(variant);
        let pawn = pawn_of(variant, &a_priori);
        let regression = Regression::new(columns, rows, &variant.unit(pawn).name, critical);
        let in_pawns =
            |unit: Unit| f64::from(a_priori.units[unit.index()].middlegame) / pawn_middlegame(&a_priori, pawn);
        let rows = units.iter().enumerate().map(|(column, &unit)| UnitValue {
            unit: variant.unit(unit).name.clone(),
            letter: variant.unit(unit).letter,
            in_array: variant.array_count(Colour::White, unit) + variant.hand_size(unit),
            a_priori: in_pawns(unit),
            ..regression.unit_value(column)
        });
        let mut rows: Vec<UnitValue> = rows.collect();
        rows.sort_by(|a, b| a.a_priori.total_cmp(&b.a_priori));
        let games_without_quiet = if method == Choice::Lot { 0 } else { dataset.games_without_quiet };
        Self { rows, games_without_quiet, ..regression.summary(method) }
    }

    /// The row of a unit.
    #[must_use]
    pub fn row(&self, unit: &str) -> Option<&UnitValue> {
        self.rows.iter().find(|row| row.unit == unit)
    }

    /// Value and interval of a unit in pawns, if it has a bounded one.
    #[must_use]
    pub fn bounded(&self, unit: &str) -> Option<(f64, Interval)> {
        match self.row(unit)?.value {
            ValueOutcome::Bounded { value, interval, .. } => Some((value, interval)),
            _ => None,
        }
    }

    /// The table with the values of another method beside these.
    #[must_use]
    pub fn beside<'a>(&'a self, other: &'a Self) -> Comparison<'a> {
        Comparison { main: self, other }
    }
}

/// The unit that others are measured by: the one named `pawn`, else the weakest that promotes, else the weakest; by the
/// middlegame values given.
#[must_use]
pub fn pawn_of(variant: &Variant, weights: &Weights) -> Unit {
    let others = || variant.units().filter(|&unit| unit != variant.royal());
    let promotes = |unit: &Unit| variant.rules().promotion.iter().any(|promotion| promotion.who.contains(unit));
    let value = |unit: &Unit| weights.units[unit.index()].middlegame;
    let named = variant.unit_named(PAWN).filter(|&unit| unit != variant.royal());
    let weakest_promoter = || others().filter(promotes).min_by_key(value);
    named.or_else(weakest_promoter).or_else(|| others().min_by_key(value)).unwrap_or_else(|| variant.royal())
}

/// At least 1 centipawn, so that ratios stay finite.
fn pawn_middlegame(weights: &Weights, pawn: Unit) -> f64 {
    f64::from(weights.units[pawn.index()].middlegame.max(1))
}

/// The row of a game; `None` if no position can stand for it.
fn row(game: &GameSample, variant: &Variant, units: &[Unit], method: Choice) -> Option<Row> {
    let differences = match method {
        Choice::Lot => game.by_lot.clone(),
        Choice::Earliest => game.earliest.as_ref()?.differences(variant),
        Choice::Random => game.random.as_ref()?.differences(variant),
    };
    Some(Row {
        outcome: game.outcome,
        differences: units.iter().map(|unit| f64::from(differences[unit.index()])).collect(),
        cluster: game.cluster,
    })
}

/// The regression, its design, and what had to be left out of it.
struct Regression {
    columns: Vec<String>,
    games_differing: Vec<usize>,
    pawn: String,
    critical: f64,
    games: usize,
    pairs: usize,
    draws: f64,
    separated: Vec<String>,
    fit: Result<LogisticFit, LogisticError>,
}

impl Regression {
    fn new(columns: Vec<String>, rows: Vec<Row>, pawn: &str, critical: f64) -> Self {
        let differing = |column: usize| rows.iter().filter(|row| row.differences[column] != 0.0).count();
        let games_differing = (0..columns.len()).map(differing).collect();
        let mut used = Used { columns: columns.clone(), rows, separated: Vec::new() };
        let fit = used.fit();
        let count = used.rows.len();
        let drawn = used.rows.iter().filter(|row| row.outcome == Outcome::Draw).count();
        let pairs: std::collections::BTreeSet<u64> = used.rows.iter().map(|row| row.cluster).collect();
        Self {
            columns,
            games_differing,
            pawn: pawn.to_owned(),
            critical,
            games: count,
            pairs: pairs.len(),
            draws: drawn as f64 / count.max(1) as f64,
            separated: used.separated,
            fit,
        }
    }

    fn summary(&self, method: Choice) -> PieceValues {
        let fit = self.fit.as_ref().ok();
        PieceValues {
            method,
            pawn: self.pawn.clone(),
            rows: Vec::new(),
            first_move: fit.map(|fit| FirstMove {
                coefficient: fit.first_move().coefficient,
                clustered_error: fit.first_move().clustered_error,
                value: self.value(FIRST_MOVE, fit),
            }),
            games: self.games,
            pairs: self.pairs,
            draws: self.draws,
            games_without_quiet: 0,
            log_loss: fit.map(|fit| fit.log_loss),
            condition_number: fit.map(|fit| fit.condition_number).filter(|number| number.is_finite()),
            fallback: fit.and_then(|fit| fit.fallback),
            failure: self.fit.as_ref().err().map(ToString::to_string),
            fit: fit.cloned(),
        }
    }

    /// The measured part of a row; the caller adds what the variant knows.
    fn unit_value(&self, column: usize) -> UnitValue {
        let name = &self.columns[column];
        let games_differing = self.games_differing[column];
        let term = self.fit.as_ref().ok().and_then(|fit| fit.terms.iter().find(|term| &term.name == name));
        let value = match &self.fit {
            _ if self.separated.contains(name) => ValueOutcome::Separated { games: games_differing },
            Err(_) => ValueOutcome::NotFitted,
            Ok(fit) => self.value(name, fit),
        };
        UnitValue {
            unit: String::new(),
            letter: ' ',
            in_array: 0,
            a_priori: 0.0,
            games_differing,
            coefficient: term.map(|term| term.coefficient),
            clustered_error: term.map(|term| term.clustered_error),
            value,
        }
    }

    fn value(&self, name: &str, fit: &LogisticFit) -> ValueOutcome {
        if let Some(column) = fit.undetermined.iter().find(|undetermined| undetermined.column == name) {
            return undetermined_outcome(column);
        }
        if [name, &self.pawn].iter().any(|name| has_no_spread(fit, name)) {
            return ValueOutcome::NoSpread;
        }
        let unit = Combination::unit(name);
        match combination_in_pawns(fit, &unit, &self.pawn, CovarianceKind::Clustered, self.critical) {
            // Rounding would make the pawn's own interval a little wider than nothing.
            Ok(PawnValue::Bounded { .. }) if name == self.pawn => {
                ValueOutcome::Bounded { value: 1.0, interval: Interval::new(1.0, 1.0), delta_error: 0.0 }
            }
            Ok(value) => value.into(),
            Err(_) => ValueOutcome::PawnMissing,
        }
    }
}

/// Few pairs may cancel to the last digit; an error of nothing would look like certainty.
pub(crate) fn has_no_spread(fit: &LogisticFit, name: &str) -> bool {
    let term = fit.terms.iter().find(|term| term.name == name);
    term.is_some_and(|term| term.clustered_error <= LEAST_SPREAD * term.model_error)
}

fn undetermined_outcome(column: &Undetermined) -> ValueOutcome {
    if column.mixed_with.is_empty() {
        ValueOutcome::NeverDiffered
    } else {
        ValueOutcome::Entangled { with: column.mixed_with.clone() }
    }
}

/// Fits named columns to rows; columns that predict every result are taken out, with the games in which they differ, and
/// named.
pub(crate) fn fit_columns(columns: Vec<String>, rows: Vec<Row>) -> (Result<LogisticFit, LogisticError>, Vec<String>) {
    let mut used = Used { columns, rows, separated: Vec::new() };
    let fit = used.fit();
    (fit, used.separated)
}

/// The part of a design that is still in use.
struct Used {
    columns: Vec<String>,
    rows: Vec<Row>,
    separated: Vec<String>,
}

impl Used {
    /// Fits. A column that separates the results is taken out together with the games in which it differs: leaving
    /// those games in would credit the other units with its effect, and leaving them out selects by the imbalance,
    /// not by the result.
    fn fit(&mut self) -> Result<LogisticFit, LogisticError> {
        loop {
            let design = Design::new(self.columns.clone(), self.rows.clone())?;
            let error = match LogisticFit::new(&design, Likelihood::default()) {
                Ok(fit) => return Ok(fit),
                Err(error) => error,
            };
            let LogisticError::Separated { column } = &error else { return Err(error) };
            let Some(index) = self.columns.iter().position(|name| name == column) else { return Err(error) };
            self.take_out(index);
        }
    }

    fn take_out(&mut self, column: usize) {
        self.separated.push(self.columns.remove(column));
        self.rows.retain(|row| row.differences[column] == 0.0);
        for row in &mut self.rows {
            row.differences.remove(column);
        }
    }
}

/// Two methods side by side; displays as a table.
#[derive(Debug, Clone, Copy)]
pub struct Comparison<'a> {
    main: &'a PieceValues,
    other: &'a PieceValues,
}

impl fmt::Display for PieceValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_table(f, &[self])
    }
}

impl fmt::Display for Comparison<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_table(f, &[self.main, self.other])
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lot => "units taken by lot",
            Self::Earliest => "earliest quiet position",
            Self::Random => "random quiet position",
        })
    }
}

/// The interval of a bounded value, or the reason for its absence, in a few words.
impl fmt::Display for ValueOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bounded { interval, .. } if interval.low == interval.high => f.write_str("the measure"),
            Self::Bounded { interval, .. } => write!(f, "{:.2} to {:.2}", interval.low, interval.high),
            Self::NeverDiffered => f.write_str("never unbalanced"),
            Self::Entangled { with } => write!(f, "not told from {}", with.join(", ")),
            Self::Separated { games } => write!(f, "all one way in {games} games"),
            Self::NoSpread => f.write_str("pairs cancel exactly"),
            Self::PawnUnclear { .. } => f.write_str("the pawn is unclear"),
            Self::PawnMissing => f.write_str("no pawn to measure by"),
            Self::NotFitted => f.write_str("no fit"),
        }
    }
}

impl From<PawnValue> for ValueOutcome {
    fn from(value: PawnValue) -> Self {
        match value {
            PawnValue::Bounded { value, interval, delta_error } => Self::Bounded { value, interval, delta_error },
            PawnValue::PawnUndetermined { pawn } => Self::PawnUnclear { pawn },
            PawnValue::Entangled { with } => Self::Entangled { with },
        }
    }
}

/// An interval that reaches further than so many pawns to one side, and further than so large a share of a dear unit's value, contains too
/// much for agreement with it to mean anything.
const TELLING: f64 = 0.5;
const TELLING_SHARE: f64 = 0.1;

impl ValueOutcome {
    /// Whether the interval is narrow enough for a number inside it to agree with it; `None` without an interval.
    #[must_use]
    pub fn is_telling(&self) -> Option<bool> {
        let (value, width) = (self.pawns()?, self.half_width()?);
        Some(width <= TELLING.max(TELLING_SHARE * value.abs()))
    }

    /// How far the interval reaches from the value, in pawns, on its longer side; `None` without one.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        match self {
            Self::Bounded { value, interval, .. } => Some((interval.high - value).max(value - interval.low)),
            _ => None,
        }
    }

    /// The value, if there is one.
    #[must_use]
    pub fn pawns(&self) -> Option<f64> {
        match self {
            Self::Bounded { value, .. } => Some(*value),
            _ => None,
        }
    }

    fn pawns_text(&self) -> String {
        self.pawns().map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"))
    }
}

/// One line a unit, then one for the first move, with two columns for each method; then a line about each method.
fn write_table(f: &mut fmt::Formatter<'_>, methods: &[&PieceValues]) -> fmt::Result {
    let main = methods[0];
    let mut lines = vec![headings(methods)];
    for (index, row) in main.rows.iter().enumerate() {
        let mut line = vec![row.unit.clone(), row.letter.to_string(), format!("{:.2}", row.a_priori)];
        for method in methods {
            line.extend(two_cells(method.rows.get(index).map(|row| &row.value)));
        }
        lines.push(line);
    }
    let mut first_move = vec!["(first move)".to_owned(), String::new(), String::new()];
    for method in methods {
        first_move.extend(two_cells(method.first_move.as_ref().map(|first| &first.value)));
    }
    lines.push(first_move);
    write_aligned(f, &lines)?;
    for method in methods {
        method.write_footnote(f)?;
    }
    Ok(())
}

fn headings(methods: &[&PieceValues]) -> Vec<String> {
    let mut headings = vec!["unit".to_owned(), String::new(), "a priori".to_owned()];
    for method in methods {
        let name = match method.method {
            Choice::Lot | Choice::Earliest => "pawns",
            Choice::Random => "observed",
        };
        headings.extend([name.to_owned(), "95 % interval".to_owned()]);
    }
    headings
}

fn two_cells(value: Option<&ValueOutcome>) -> [String; 2] {
    let value = value.unwrap_or(&ValueOutcome::NotFitted);
    [value.pawns_text(), value.to_string()]
}

/// Columns from the third on alternate between numbers, which end together, and words, which begin together.
fn write_aligned(f: &mut fmt::Formatter<'_>, lines: &[Vec<String>]) -> fmt::Result {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for line in lines {
        let mut text = String::new();
        for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
            let is_number = column == 2 || column > 2 && column % 2 == 1;
            let padded = if is_number { format!("{cell:>width$}") } else { format!("{cell:<width$}") };
            text.push_str(&padded);
            text.push_str("  ");
        }
        writeln!(f, "{}", text.trim_end())?;
    }
    Ok(())
}

impl PieceValues {
    fn write_footnote(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, games, pairs, .. } = self;
        write!(f, "{method}: {games} games in {pairs} pairs, {:.0} % drawn", 100.0 * self.draws)?;
        if let Some(log_loss) = self.log_loss {
            write!(f, ", log loss {log_loss:.4}")?;
        }
        if self.games_without_quiet > 0 {
            write!(f, ", {} without a quiet position left out", self.games_without_quiet)?;
        }
        if let Some(failure) = &self.failure {
            write!(f, "; no values: {failure}")?;
        }
        self.write_pawn_if_unclear(f)?;
        writeln!(f)
    }

    fn write_pawn_if_unclear(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(ValueOutcome::PawnUnclear { pawn }) = self.row(&self.pawn).map(|row| &row.value) else {
            return Ok(());
        };
        write!(f, "; the {} is worth {:.2} to {:.2} logits", self.pawn, pawn.low, pawn.high)?;
        match self.games_for_a_clear_pawn() {
            Some(games) => write!(f, ", which about {games} games would make clear"),
            None => Ok(()),
        }
    }

    /// The games, those there are included, after which the pawn's interval would leave zero if its coefficient stayed
    /// what it is. `None` when it is clear already, not measured, or not positive.
    #[must_use]
    pub fn games_for_a_clear_pawn(&self) -> Option<u64> {
        let ValueOutcome::PawnUnclear { pawn } = self.row(&self.pawn)?.value else { return None };
        let (middle, arm) = ((pawn.low + pawn.high) / 2.0, (pawn.high - pawn.low) / 2.0);
        let games = (self.games as f64 * (arm / middle).powi(2)).ceil();
        // Beyond this the honest answer is that nobody knows.
        (middle > 0.0 && games < MOST_GAMES).then_some(games as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(of: &[(Outcome, [f64; 3])]) -> Vec<Row> {
        let row = |(index, &(outcome, differences)): (usize, &(Outcome, [f64; 3]))| Row {
            outcome,
            differences: differences.to_vec(),
            cluster: index as u64,
        };
        of.iter().enumerate().map(row).collect()
    }

    fn columns() -> Vec<String> {
        ["pawn", "knight", "queen"].map(str::to_owned).to_vec()
    }

    #[test]
    fn pairs_that_cancel_exactly_are_no_certainty() {
        // The knight's two games of every pair have the same result from both sides, so the scores of a cluster sum to zero.
        let mut rows = rows(&games());
        let first = rows.len() as u64;
        for cluster in first..first + 12 {
            for sign in [1.0, -1.0] {
                rows.push(Row { outcome: Outcome::WhiteWins, differences: vec![0.0, sign, 0.0], cluster });
                rows.push(Row { outcome: Outcome::BlackWins, differences: vec![0.0, sign, 0.0], cluster });
            }
        }
        let regression = Regression::new(columns(), rows, "pawn", NORMAL_97_5);
        assert_eq!(regression.unit_value(1).value, ValueOutcome::NoSpread);
    }

    /// Pawns decide two games in three.
    fn games() -> Vec<(Outcome, [f64; 3])> {
        let mut games = Vec::new();
        for _ in 0..40 {
            for sign in [1.0, -1.0] {
                let (win, loss) = if sign > 0.0 {
                    (Outcome::WhiteWins, Outcome::BlackWins)
                } else {
                    (Outcome::BlackWins, Outcome::WhiteWins)
                };
                let pawn = [sign, 0.0, 0.0];
                games.extend([(win, pawn), (win, pawn), (loss, pawn), (Outcome::Draw, [0.0; 3])]);
            }
        }
        games
    }

    #[test]
    fn a_unit_whose_owner_always_won_is_set_aside_with_its_games() {
        let mut games = games();
        let plain = Regression::new(columns(), rows(&games), "pawn", NORMAL_97_5);
        games.extend([(Outcome::WhiteWins, [-1.0, 0.0, 1.0]); 3]);
        let regression = Regression::new(columns(), rows(&games), "pawn", NORMAL_97_5);
        assert_eq!(regression.unit_value(2).value, ValueOutcome::Separated { games: 3 });
        assert_eq!(regression.unit_value(1).value, ValueOutcome::NeverDiffered);
        assert_eq!(regression.unit_value(0), plain.unit_value(0).clone_with_games(243));
        assert_eq!(regression.games, 320);
    }

    impl UnitValue {
        fn clone_with_games(self, games_differing: usize) -> Self {
            Self { games_differing, ..self }
        }
    }

    #[test]
    fn units_that_only_differ_together_name_each_other() {
        let games: Vec<_> = games().into_iter().map(|(outcome, [p, _, _])| (outcome, [p, 2.0 * p, 0.0])).collect();
        let regression = Regression::new(columns(), rows(&games), "pawn", NORMAL_97_5);
        assert_eq!(regression.unit_value(1).value, ValueOutcome::Entangled { with: vec!["pawn".to_owned()] });
        assert_eq!(regression.unit_value(0).value, ValueOutcome::Entangled { with: vec!["knight".to_owned()] });
    }

    #[test]
    fn too_few_games_are_told_and_not_fatal() {
        for games in [vec![], games()[..2].to_vec(), vec![(Outcome::Draw, [1.0, 0.0, 0.0]); 9]] {
            let regression = Regression::new(columns(), rows(&games), "pawn", NORMAL_97_5);
            assert_eq!(regression.unit_value(1).value, ValueOutcome::NotFitted);
            let summary = regression.summary(Choice::Earliest);
            assert!(summary.failure.is_some() && summary.draws.is_finite(), "{summary:?}");
        }
    }

    #[test]
    fn an_unclear_pawn_says_how_many_games_would_clear_it() {
        let regression = Regression::new(columns(), rows(&games()[..40]), "pawn", NORMAL_97_5);
        let row = UnitValue { unit: "pawn".to_owned(), ..regression.unit_value(0) };
        let values = PieceValues { rows: vec![row], ..regression.summary(Choice::Earliest) };
        let needed = values.games_for_a_clear_pawn().unwrap();
        assert!(needed > 40 && values.to_string().contains(&format!("about {needed} games")), "{values}");
    }

    #[test]
    fn the_pawn_is_the_unit_named_so_or_the_weakest_promoter() {
        for name in Variant::shipped_names() {
            let variant = Variant::load(name).unwrap();
            let pawn = pawn_of(&variant, &Weights::a_priori(&variant));
            assert_eq!(variant.unit(pawn).name, "pawn", "{name}");
        }
        let mut rules = fairyforge_engine::variant::library::load("herculean").unwrap();
        for unit in &mut rules.units {
            unit.name = unit.name.replace("pawn", "peon");
        }
        let variant = Variant::compile(rules).unwrap();
        let pawn = pawn_of(&variant, &Weights::a_priori(&variant));
        assert_eq!(variant.unit(pawn).name, "peon");
    }

    #[test]
    fn the_table_is_aligned() {
        let lines = vec![
            ["unit", "", "a priori", "pawns", "95 % interval"].map(str::to_owned).to_vec(),
            ["ninja_pawn", "N", "1.87", "1.62", "1.20 to 2.11"].map(str::to_owned).to_vec(),
            ["queen", "Q", "12.00", "–", "never unbalanced"].map(str::to_owned).to_vec(),
        ];
        struct Text(Vec<Vec<String>>);
        impl fmt::Display for Text {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_aligned(f, &self.0)
            }
        }
        let expected = "unit           a priori  pawns  95 % interval\n\
                        ninja_pawn  N      1.87   1.62  1.20 to 2.11\n\
                        queen       Q     12.00      –  never unbalanced\n";
        assert_eq!(Text(lines).to_string(), expected);
    }
}
