//! What an experiment says about claims: quantities with intervals at any level, which allow for every look that was planned.

use super::ablation::Ablation;
use super::assume::Assumed;
use super::experiment::Round;
use super::ladder::Drift;
use super::methods::ByMethod;
use super::plan::Plan;
use crate::claims::{Evidence, Level, Measured, Quantity, Unmeasured};
use crate::fit::change::{Change, ChangeOfValue, TwoValues};
use crate::fit::combination::{Combination, Estimates};
use crate::fit::first_move::GameLength;
use crate::fit::logistic::{CovarianceKind, LogisticFit};
use crate::fit::ratio::{Interval, PawnValue};
use crate::fit::splits::{Advance, Phase, SplitFit, advance_column, phase_column};
use crate::fit::values::{PieceValues, ValueOutcome, has_no_spread};
use std::collections::BTreeMap;

/// An experiment as evidence, whether it is over or only looked at.
#[derive(Clone, Copy)]
pub struct LaboratoryEvidence<'a> {
    /// What was asked.
    pub plan: &'a Plan,
    /// What the reference's games say.
    pub methods: &'a ByMethod,
    /// Looks at the reference so far.
    pub looks: usize,
    /// The rounds of self-consistency; empty if they do not matter yet.
    pub rounds: &'a [Round],
    /// What the reference's weights assume beside what its games measured; empty if that is not known yet.
    pub assumed: &'a [Assumed],
    /// How values change with strength; empty if that is not known yet.
    pub drifts: &'a [Drift],
    /// What a network says; `None` if that is not known yet, or there is none.
    pub network: Option<&'a Ablation>,
    /// How long games of other variants last that were played for comparison, by what the claims call them.
    pub lengths: &'a BTreeMap<String, GameLength>,
}

/// How each kind of number is measured, in a few words.
mod method {
    pub const BY_LOT: &str = "randomised imbalance";
    pub const PHASE_BY_LOT: &str = "randomised imbalance by stage of the game";
    pub const OBSERVED: &str = "observational regression on quiet positions";
    pub const LEVEL_GAMES: &str = "games that start level, by pairs";
}

/// What must be said of numbers from played positions.
const OBSERVATIONAL: &str = "Observational: who has what in a played position may have paid for it.";

impl Evidence for LaboratoryEvidence<'_> {
    fn measure(&self, quantity: &Quantity, level: Level) -> Result<Measured, Unmeasured> {
        let critical = self.critical(level)?;
        let measured = match quantity {
            Quantity::Value { units } => self.value(units, critical),
            Quantity::PhaseGain { unit, against } => self.phase_gain([unit, against], critical),
            Quantity::RankGain { unit } => self.rank_gain(unit, critical),
            Quantity::FirstMove => self.first_move(critical),
            Quantity::GameLength { longer_than } => self.game_length(longer_than, critical),
        }?;
        Ok(Measured { seed: Some(self.plan.seed), ..measured })
    }
}

impl LaboratoryEvidence<'_> {
    /// Standard errors to either side at the look that ended the games.
    fn critical(&self, level: Level) -> Result<f64, Unmeasured> {
        let looks = self.plan.reference.critical_values(level.miss());
        let looks = looks.map_err(|error| self.unclear(error.to_string()))?;
        let last = self.looks.checked_sub(1).and_then(|last| looks.get(last));
        last.copied().ok_or(Unmeasured::NoGames)
    }

    fn values(&self) -> &PieceValues {
        &self.methods.by_lot
    }

    fn unclear(&self, reason: String) -> Unmeasured {
        Unmeasured::Unclear { reason, games: self.values().games as u64 }
    }

    fn value(&self, units: &BTreeMap<String, f64>, critical: f64) -> Result<Measured, Unmeasured> {
        let fit = self.fit(self.values().fit.as_ref(), self.values().failure.as_deref())?;
        self.refuse_unfitted(units)?;
        let combination = Combination::new(units.iter().map(|(unit, &times)| (unit.clone(), times)).collect());
        let estimates = Estimates::of_fit(fit, CovarianceKind::Clustered);
        let value = estimates.in_pawns(&combination, &self.values().pawn, critical);
        let (value, interval) = match value.map_err(|error| self.unclear(error.to_string()))? {
            PawnValue::Bounded { value, interval, .. } => (value, interval),
            PawnValue::PawnUndetermined { .. } => return Err(self.unclear("the pawn is unclear".to_owned())),
            PawnValue::Entangled { with } => return Err(self.unclear(entangled(&with))),
        };
        Ok(Measured {
            value,
            low: interval.low,
            high: interval.high,
            games: self.values().games as u64,
            method: method::BY_LOT.to_owned(),
            trace: self.trace(units),
            notes: self.notes(units),
            seed: None,
        })
    }

    /// A unit that has no coefficient has a reason for it in its row.
    fn refuse_unfitted(&self, units: &BTreeMap<String, f64>) -> Result<(), Unmeasured> {
        let unfitted = units.keys().find_map(|unit| {
            let row = self.values().row(unit)?;
            let untold = row.coefficient.is_none() || row.value == ValueOutcome::NoSpread;
            untold.then(|| format!("{unit}: {}", row.value))
        });
        unfitted.map_or(Ok(()), |reason| Err(self.unclear(reason)))
    }

    /// The combination after each round.
    fn trace(&self, units: &BTreeMap<String, f64>) -> Vec<f64> {
        let rounds = self.rounds.iter().filter_map(|round| {
            let value = |(unit, times): (&String, &f64)| {
                let row = round.units.iter().find(|row| &row.unit == unit)?;
                Some(times * row.measured.pawns()?)
            };
            units.iter().map(value).sum()
        });
        rounds.collect()
    }

    fn notes(&self, units: &BTreeMap<String, f64>) -> Vec<String> {
        let mut notes = Vec::new();
        let drifts = self.drifts.iter().filter(|drift| drift.is_clear && units.contains_key(&drift.unit));
        notes.extend(drifts.map(|drift| {
            let (unit, change, Interval { low, high }) = (&drift.unit, drift.pawns_per_doubling, drift.interval);
            format!("{unit} drifts with strength: {change:+.2} ({low:+.2} to {high:+.2}) pawns a doubling of nodes.")
        }));
        let apart = self.assumed.iter().filter(|row| row.agrees == Some(false) && units.contains_key(&row.unit));
        notes.extend(apart.map(|row| format!("Not self-consistent: {:.2} was assumed for {}.", row.assumed, row.unit)));
        let apart = self.methods.disagreements(self.network);
        let apart = apart.into_iter().filter(|one| units.contains_key(&one.unit));
        notes.extend(apart.map(|one| format!("The {} says {:.2} for {}.", one.method, one.other, one.unit)));
        notes
    }

    /// Where units were taken away by lot at all stages if the plan has such, else on what was played.
    fn phase_gain(&self, [unit, against]: [&String; 2], critical: f64) -> Result<Measured, Unmeasured> {
        let methods = self.methods;
        let (split, method) = match self.plan.is_staged() {
            true => (&methods.phase_by_lot, method::PHASE_BY_LOT),
            false => (&methods.phase_played, method::OBSERVED),
        };
        let value = |phase| (Combination::unit(&phase_column(unit, phase)), phase_column(against, phase));
        let mut measured = self.gain(split, value(Phase::Full), value(Phase::Few), critical)?;
        method.clone_into(&mut measured.method);
        measured.notes.push(format!(
            "From {:.0} % of the men to {:.0} %.",
            100.0 * split.fullest,
            100.0 * split.fewest
        ));
        if !self.plan.is_staged() {
            measured.notes.push(OBSERVATIONAL.to_owned());
        }
        Ok(measured)
    }

    fn rank_gain(&self, unit: &str, critical: f64) -> Result<Measured, Unmeasured> {
        let split = &self.methods.advance;
        if unit != split.pawn {
            let reason = format!("only the {} is measured by how far it has come", split.pawn);
            return Err(Unmeasured::NotAskedOf(reason));
        }
        let fit = self.split_fit(split, [Advance::Home, Advance::Last].map(|advance| advance_column(unit, advance)))?;
        let column = |advance| Combination::unit(&advance_column(unit, advance));
        let estimates = Estimates::of_fit(fit, CovarianceKind::Clustered);
        let value = estimates.in_pawns(&column(Advance::Last), &advance_column(unit, Advance::Home), critical);
        match value.map_err(|error| self.unclear(error.to_string()))? {
            PawnValue::Bounded { value, interval, .. } => Ok(Measured {
                value,
                low: interval.low,
                high: interval.high,
                games: split.games as u64,
                method: method::OBSERVED.to_owned(),
                notes: vec!["In the last third of its way, against one at home.".to_owned(), OBSERVATIONAL.to_owned()],
                ..Measured::default()
            }),
            PawnValue::PawnUndetermined { .. } => Err(self.unclear("a pawn at home is unclear".to_owned())),
            PawnValue::Entangled { with } => Err(self.unclear(entangled(&with))),
        }
    }

    fn gain(
        &self,
        split: &SplitFit,
        first: (Combination, String),
        second: (Combination, String),
        critical: f64,
    ) -> Result<Measured, Unmeasured> {
        let columns = [&first, &second]
            .into_iter()
            .flat_map(|(unit, against)| unit.parts().iter().map(|(name, _)| name.clone()).chain([against.clone()]));
        let fit = self.split_fit(split, columns)?;
        let estimates = Estimates::of_fit(fit, CovarianceKind::Clustered);
        let change = TwoValues::within(&estimates, (&first.0, &first.1), (&second.0, &second.1))
            .and_then(|values| values.change(Change::Quotient, critical))
            .map_err(|error| self.unclear(error.to_string()))?;
        match change {
            ChangeOfValue::Bounded { change, interval } => Ok(Measured {
                value: change,
                low: interval.low,
                high: interval.high,
                games: split.games as u64,
                ..Measured::default()
            }),
            ChangeOfValue::PawnUndetermined { .. } => Err(self.unclear("the pawn of a phase is unclear".to_owned())),
            ChangeOfValue::ReferenceUndetermined { .. } => {
                Err(self.unclear("the value on the full board is unclear".to_owned()))
            }
            ChangeOfValue::Entangled { with } => Err(self.unclear(entangled(&with))),
        }
    }

    fn first_move(&self, critical: f64) -> Result<Measured, Unmeasured> {
        let first = self.methods.first_move;
        let first = first.ok_or_else(|| self.unclear("too few games start level".to_owned()))?;
        Ok(Measured {
            value: first.score,
            low: (first.score - critical * first.error).max(0.0),
            high: (first.score + critical * first.error).min(1.0),
            games: self.values().games as u64,
            method: method::LEVEL_GAMES.to_owned(),
            notes: vec![format!("{} of the games start level, after a few random plies.", first.games)],
            ..Measured::default()
        })
    }

    fn game_length(&self, other: &str, critical: f64) -> Result<Measured, Unmeasured> {
        let own = self.methods.length.ok_or_else(|| self.unclear("too few games start level".to_owned()))?;
        let others = self.lengths.get(other);
        let others = others.ok_or_else(|| Unmeasured::NotAskedOf(format!("no games of {other} were played")))?;
        let (value, error) = (own.plies - others.plies, own.error.hypot(others.error));
        Ok(Measured {
            value,
            low: value - critical * error,
            high: value + critical * error,
            games: self.values().games as u64,
            method: method::LEVEL_GAMES.to_owned(),
            notes: vec![format!(
                "{:.1} plies in {} games that start level, and {:.1} in {} of {other}.",
                own.plies, own.games, others.plies, others.games
            )],
            ..Measured::default()
        })
    }

    /// The fit of a split, if these columns have errors of their own in it.
    fn split_fit<'f>(
        &self,
        split: &'f SplitFit,
        columns: impl IntoIterator<Item = String>,
    ) -> Result<&'f LogisticFit, Unmeasured> {
        let fit = self.fit(split.fit.as_ref(), split.failure.as_deref())?;
        match columns.into_iter().find(|column| has_no_spread(fit, column)) {
            Some(column) => Err(self.unclear(format!("{column}: {}", ValueOutcome::NoSpread))),
            None => Ok(fit),
        }
    }

    fn fit<'f>(&self, fit: Option<&'f LogisticFit>, failure: Option<&str>) -> Result<&'f LogisticFit, Unmeasured> {
        fit.ok_or_else(|| self.unclear(failure.unwrap_or("there is no fit").to_owned()))
    }
}

fn entangled(with: &[String]) -> String {
    ValueOutcome::Entangled { with: with.to_vec() }.to_string()
}
