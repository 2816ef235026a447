//! Claims about values, as data, and what the measured values say about them.
//!
//! Which game's claims they are is the caller's business: a claim names a unit and a range.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::ratio::{Interval, Measured, Verdict, verdict};
use super::values::{Choice, PieceValues, ValueOutcome};

/// Somebody says that a unit is worth so many pawns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// A short name, as `H1`.
    pub id: String,
    /// The claim in words.
    pub text: String,
    /// The unit's name in the variant's file.
    pub unit: String,
    /// Least value claimed, in pawns.
    pub low: f64,
    /// Greatest value claimed, in pawns.
    pub high: f64,
}

/// What measurement says about a claim.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// The claim.
    pub claim: Claim,
    /// Supported, refuted or undecided.
    pub verdict: Verdict,
    /// The value with its interval, if there is one.
    pub measured: Option<Measured>,
    /// Why there is no value, if so.
    pub reason: Option<String>,
    /// Games looked at.
    pub games: usize,
    /// Which method measured.
    pub method: Choice,
}

/// Judges a claim: supported if the 95 % interval lies inside the range, refuted if wholly outside, else undecided.
#[must_use]
pub fn judge(values: &PieceValues, claim: &Claim) -> Judgement {
    let (measured, reason) = match values.row(&claim.unit).map(|row| &row.value) {
        Some(&ValueOutcome::Bounded { value, interval, .. }) => {
            (Some(Measured { value, interval, games: values.games as u64 }), None)
        }
        Some(unmeasured) => (None, Some(unmeasured.to_string())),
        None => (None, Some(format!("the game has no unit named {}", claim.unit))),
    };
    let claimed = Interval::new(claim.low, claim.high);
    let undecided = Verdict::Undecided { games_to_decide: None };
    let verdict = measured.as_ref().map_or(undecided, |measured| verdict(claimed, measured));
    Judgement { claim: claim.clone(), verdict, measured, reason, games: values.games, method: values.method }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.claim.id, self.claim.text.trim_end_matches('.'), word(&self.verdict))?;
        if let Some(Measured { value, interval, games }) = &self.measured {
            write!(f, ", {value:.2} pawns (95 % {:.2} to {:.2}) in {games} games", interval.low, interval.high)?;
        }
        if let Some(reason) = &self.reason {
            write!(f, ", not measured in {} games: {reason}", self.games)?;
        }
        if let Verdict::Undecided { games_to_decide: Some(games) } = self.verdict {
            write!(f, "; about {games} games would decide it")?;
        }
        Ok(())
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Supported => "supported",
        Verdict::Refuted => "refuted",
        Verdict::Undecided { .. } => "undecided",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::values::UnitValue;

    fn values(value: ValueOutcome) -> PieceValues {
        let row = UnitValue {
            unit: "ninja".to_owned(),
            letter: 'N',
            in_array: 10,
            a_priori: 1.8,
            games_differing: 500,
            coefficient: None,
            clustered_error: None,
            value,
        };
        PieceValues {
            method: Choice::Earliest,
            pawn: "pawn".to_owned(),
            rows: vec![row],
            first_move: None,
            games: 1000,
            pairs: 500,
            draws: 0.2,
            games_without_quiet: 0,
            log_loss: None,
            condition_number: None,
            fallback: None,
            failure: None,
            fit: None,
        }
    }

    fn claim(unit: &str) -> Claim {
        let (id, text) = ("H1".to_owned(), "A Ninja is worth 1.5 to 2 Pawns.".to_owned());
        Claim { id, text, unit: unit.to_owned(), low: 1.5, high: 2.0 }
    }

    fn judged(value: f64, low: f64, high: f64) -> String {
        let value = ValueOutcome::Bounded { value, interval: Interval::new(low, high), delta_error: 0.1 };
        judge(&values(value), &claim("ninja")).to_string()
    }

    #[test]
    fn a_judgement_is_a_sentence() {
        let start = "H1 A Ninja is worth 1.5 to 2 Pawns: ";
        let supported = judged(1.7, 1.6, 1.9);
        assert_eq!(supported, format!("{start}supported, 1.70 pawns (95 % 1.60 to 1.90) in 1000 games"));
        assert!(judged(3.0, 2.5, 3.5).starts_with(&format!("{start}refuted, 3.00")));
        assert!(judged(1.75, 1.25, 2.25).ends_with("; about 4000 games would decide it"));
    }

    #[test]
    fn what_was_not_measured_is_undecided_and_says_why() {
        let sentence = judge(&values(ValueOutcome::NeverDiffered), &claim("ninja")).to_string();
        assert!(sentence.ends_with("undecided, not measured in 1000 games: never unbalanced"), "{sentence}");
        let sentence = judge(&values(ValueOutcome::NeverDiffered), &claim("knight")).to_string();
        assert!(sentence.contains("no unit named knight"), "{sentence}");
    }
}
