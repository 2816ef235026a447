//! Values by phase and by rank: the regression of [`super::values`] with every unit's column split by where the game stands.
//!
//! * By phase: a unit's difference counts towards its value on the full board and its value with few men left, in
//!   proportion to where between the two the position lies. The two coefficients *are* the values at those ends.
//! * By rank: a pawn's column is split by how far it has come on its way to promotion.
//!
//! On positions of played games this is observational, as Texel tuning is: who has an advanced pawn may have paid for
//! it. On what was taken away by lot at all stages of games, the values by phase are causal.

use std::fmt;

use fairyforge_engine::position::Piece;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::{Colour, Unit};
use serde::Serialize;

use super::NORMAL_97_5;
use super::combination::Combination;
use super::dataset::{Dataset, GameSample, QuietPosition, sign};
use super::logistic::{CovarianceKind, LogisticFit, Row};
use super::ratio::{Interval, combination_in_pawns};
use super::values::{ValueOutcome, fit_columns, has_no_spread, pawn_of};
use fairyforge_engine::evaluate::Weights;

/// The column of the right to move.
const TO_MOVE: &str = "to move";

/// Which positions the split is made on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Positions {
    /// What the lot took away, where the players took over: causal, if units were taken away at all stages of the game.
    Lot,
    /// Quiet positions all over the games: observational.
    Played,
}

/// The emptier end of the phase is where one position in so many is emptier: nothing is said of boards that are hardly seen.
const EMPTIER: usize = 20;
/// With more of the men left at the emptier end there is no phase to speak of.
const MOST_AT_EMPTIER: f64 = 0.85;

impl Positions {
    fn of(self, game: &GameSample) -> &[QuietPosition] {
        match self {
            Self::Lot if game.is_unbalanced() => std::slice::from_ref(&game.start),
            Self::Lot => &[],
            Self::Played => &game.spread,
        }
    }
}

/// A regression with split columns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SplitFit {
    /// Which positions.
    pub positions: Positions,
    /// The unit that is the measure.
    pub pawn: String,
    /// Games.
    pub games: usize,
    /// Positions.
    pub rows: usize,
    /// Share of the men at the fuller end of the phase: all of them, and by lot as many as one start in twenty exceeds.
    pub fullest: f64,
    /// Share of the men left at the emptier end of the phase: one position in twenty has fewer. 1 for values by rank.
    pub fewest: f64,
    /// Half-width of intervals, in standard errors.
    pub critical: f64,
    /// Columns left out because they predicted every result.
    pub separated: Vec<String>,
    /// The fit.
    #[serde(skip)]
    pub fit: Option<LogisticFit>,
    /// Why there is none, if so.
    pub failure: Option<String>,
}

/// The end of a phase that a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// All men on the board, or [`SplitFit::fullest`] of them.
    Full,
    /// Few left: [`SplitFit::fewest`] of them.
    Few,
}

/// How far a pawn has come from its place in the array to promotion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Advance {
    /// Not at all.
    Home,
    /// Up to a third of the way.
    First,
    /// Up to two thirds.
    Second,
    /// Further.
    Last,
}

impl Advance {
    /// All of them, nearest to home first.
    pub const ALL: [Self; 4] = [Self::Home, Self::First, Self::Second, Self::Last];
}

impl fmt::Display for Advance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Home => "at home",
            Self::First => "in the first third",
            Self::Second => "in the second third",
            Self::Last => "in the last third",
        })
    }
}

/// The name of a unit's column at one end of the phase.
#[must_use]
pub fn phase_column(unit: &str, phase: Phase) -> String {
    match phase {
        Phase::Full => format!("{unit}, full board"),
        Phase::Few => format!("{unit}, few men"),
    }
}

/// The name of a unit's column by how far it has come.
#[must_use]
pub fn advance_column(unit: &str, advance: Advance) -> String {
    format!("{unit} {advance}")
}

/// Values by phase, with intervals at a critical value.
#[must_use]
pub fn by_phase(dataset: &Dataset, variant: &Variant, positions: Positions, critical: f64) -> SplitFit {
    let units = units_of(variant);
    let ends = [Phase::Full, Phase::Few];
    let named = |&unit: &Unit| ends.map(|end| phase_column(&variant.unit(unit).name, end));
    let columns = units.iter().flat_map(named).collect();
    let positions_of = dataset.games.iter().flat_map(|game| positions.of(game));
    let mut shares: Vec<f64> = positions_of.map(|position| position.share_of_men(variant)).collect();
    shares.sort_by(f64::total_cmp);
    let beyond = shares.len() / EMPTIER;
    let fewest = shares.get(beyond).copied().unwrap_or(1.0);
    let fullest = match positions {
        Positions::Lot => shares.iter().rev().nth(beyond).copied().unwrap_or(1.0),
        Positions::Played => 1.0,
    };
    let differences = |game: &GameSample, position: &QuietPosition| {
        let full = (position.share_of_men(variant) - fewest) / (fullest - fewest);
        let differences = match positions {
            Positions::Lot => game.by_lot.clone(),
            Positions::Played => position.differences(variant),
        };
        let split = |unit: &Unit| {
            let difference = f64::from(differences[unit.index()]);
            [difference * full, difference * (1.0 - full)]
        };
        units.iter().flat_map(split).collect()
    };
    let columns = Columns { names: columns, differences: &differences };
    let split = SplitFit { positions, fullest, fewest, critical, ..SplitFit::without_fit(dataset, variant) };
    if fewest > MOST_AT_EMPTIER || fewest >= fullest {
        let [fewest, fullest] = [fewest, fullest].map(|share| 100.0 * share);
        let failure = Some(format!("nearly all positions have {fewest:.0} to {fullest:.0} % of the men"));
        return SplitFit { failure, ..split };
    }
    split.fitted(dataset, columns)
}

/// Values of a unit that promotes by how far it has come, and of all other units.
#[must_use]
pub fn by_advance(dataset: &Dataset, variant: &Variant, pawn: Unit, critical: f64) -> SplitFit {
    let units: Vec<Unit> = units_of(variant).into_iter().filter(|&unit| unit != pawn).collect();
    let name = |unit: Unit| variant.unit(unit).name.clone();
    let advanced = Advance::ALL.map(|advance| advance_column(&name(pawn), advance));
    let columns = units.iter().map(|&unit| name(unit)).chain(advanced).collect();
    let way = Way::of(variant, pawn);
    let differences = |_: &GameSample, position: &QuietPosition| {
        let all = position.differences(variant);
        let mut advanced = [0.0; Advance::ALL.len()];
        for &(piece, square) in position.men.iter().filter(|(piece, _)| piece.unit() == pawn) {
            advanced[way.advance(piece, square.row()) as usize] += f64::from(sign(piece.colour()));
        }
        units.iter().map(|unit| f64::from(all[unit.index()])).chain(advanced).collect()
    };
    let split = SplitFit { critical, ..SplitFit::without_fit(dataset, variant) };
    split.fitted(dataset, Columns { names: columns, differences: &differences })
}

/// A pawn's way, in ranks from White's side.
struct Way {
    home: i32,
    end: i32,
    ranks: i32,
}

impl Way {
    fn of(variant: &Variant, pawn: Unit) -> Self {
        let array = variant.rules().array.iter();
        let white = array.filter(|&&(_, unit, colour)| unit == pawn && colour == Colour::White);
        let home = white.map(|&(square, ..)| i32::from(square.row())).min().unwrap_or(0);
        let zone = variant.promotion_zone(pawn, Colour::White);
        let ranks = i32::from(variant.topology().height());
        let end = zone.iter().map(|square| i32::from(square.row())).filter(|&rank| rank > home).min();
        Self { home, end: end.unwrap_or(ranks - 1), ranks }
    }

    fn advance(&self, piece: Piece, rank: u8) -> Advance {
        let seen = if piece.colour() == Colour::White { i32::from(rank) } else { self.ranks - 1 - i32::from(rank) };
        let (done, whole) = (seen - self.home, (self.end - self.home).max(1));
        if done <= 0 {
            Advance::Home
        } else if 3 * done <= whole {
            Advance::First
        } else if 3 * done <= 2 * whole {
            Advance::Second
        } else {
            Advance::Last
        }
    }
}

fn units_of(variant: &Variant) -> Vec<Unit> {
    variant.units().filter(|&unit| unit != variant.royal()).collect()
}

struct Columns<'a> {
    names: Vec<String>,
    differences: &'a dyn Fn(&GameSample, &QuietPosition) -> Vec<f64>,
}

impl SplitFit {
    fn without_fit(dataset: &Dataset, variant: &Variant) -> Self {
        let pawn = pawn_of(variant, &Weights::a_priori(variant));
        Self {
            positions: Positions::Played,
            pawn: variant.unit(pawn).name.clone(),
            games: dataset.games.len(),
            rows: 0,
            fullest: 1.0,
            fewest: 1.0,
            critical: NORMAL_97_5,
            separated: Vec::new(),
            fit: None,
            failure: None,
        }
    }

    /// With the regression, in which the right to move is a column of its own.
    fn fitted(self, dataset: &Dataset, columns: Columns<'_>) -> Self {
        let mut names = columns.names;
        names.push(TO_MOVE.to_owned());
        let mut rows = Vec::new();
        for game in &dataset.games {
            for position in self.positions.of(game) {
                let mut differences = (columns.differences)(game, position);
                differences.push(f64::from(sign(position.side_to_move)));
                rows.push(Row { outcome: game.outcome, differences, cluster: game.cluster });
            }
        }
        let count = rows.len();
        let (fit, separated) = fit_columns(names, rows);
        let failure = fit.as_ref().err().map(ToString::to_string);
        Self { rows: count, separated, failure, fit: fit.ok(), ..self }
    }
}

impl SplitFit {
    /// The value of one column in units of another, with its interval; `None` if either was not fitted.
    #[must_use]
    pub fn value(&self, column: &str, measure: &str) -> Option<ValueOutcome> {
        if column == measure {
            let interval = Interval::new(1.0, 1.0);
            return Some(ValueOutcome::Bounded { value: 1.0, interval, delta_error: 0.0 });
        }
        let fit = self.fit.as_ref()?;
        if [column, measure].iter().any(|name| has_no_spread(fit, name)) {
            return Some(ValueOutcome::NoSpread);
        }
        let unit = Combination::unit(column);
        let value = combination_in_pawns(fit, &unit, measure, CovarianceKind::Clustered, self.critical);
        Some(value.ok()?.into())
    }
}
