//! From intervals to verdicts.
//!
//! A part is supported if its 95 % interval lies inside what is claimed. A claim of several parts is supported if all of them are: each
//! at its own 95 %, since all must hold and a wrong "supported" needs one wrong interval at least. It is refuted if any part is; to
//! keep the chance of a wrong "refuted" at one in twenty however many parts there are, a part is refuted only if its interval at
//! [`Level::for_each_of`] those parts (Bonferroni) lies wholly outside. Facts and endgames are exact and take no share of the level.

use super::evidence::{Evidence, Level, Measured, Unmeasured};
use super::language::{Claim, Part, Quantity, Range};
use crate::fit::ratio::{self, Interval};
use serde::Serialize;
use std::fmt;

/// What there is to say about a claim or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds.
    Supported,
    /// It does not.
    Refuted,
    /// Neither is shown.
    Undecided,
}

impl Verdict {
    /// What follows where it is known exactly whether something holds.
    #[must_use]
    pub const fn of(holds: bool) -> Self {
        if holds { Self::Supported } else { Self::Refuted }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Supported => "supported",
            Self::Refuted => "refuted",
            Self::Undecided => "undecided",
        })
    }
}

/// What is known exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Whether what was claimed holds.
    pub holds: bool,
    /// The figure, if there is one.
    pub value: Option<f64>,
    /// What holds, in words and figures.
    pub finding: String,
    /// How it is known.
    pub method: &'static str,
}

/// What there is to say about a part of a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartVerdict {
    /// The part.
    pub part: Part,
    /// What it is about, in a few words.
    pub about: String,
    /// The numbers claimed, of what only play tells.
    pub claimed: Option<Range>,
    /// The verdict.
    pub verdict: Verdict,
    /// The figure.
    pub value: Option<f64>,
    /// Its 95 % interval, which must lie inside for "supported"; none where the figure is exact.
    pub interval: Option<Interval>,
    /// Its interval at the level shared by the parts of the claim, which must lie outside for "refuted".
    pub interval_to_refute: Option<Interval>,
    /// Games that it rests on.
    pub games: u64,
    /// Games in all that would decide it, if the figure stayed where it is.
    pub games_to_decide: Option<u64>,
    /// How it is known; empty if it is not.
    pub method: String,
    /// Seed of the games.
    pub seed: Option<u64>,
    /// The value after each round in which measured values were played with.
    pub trace: Vec<f64>,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// What holds, in words and figures.
    pub finding: String,
    /// Why there is no figure, if so.
    pub reason: Option<String>,
}

/// What there is to say about a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimVerdict {
    /// Its short name.
    pub id: String,
    /// The claim in words.
    pub text: String,
    /// How the words were read.
    pub reading: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Games in all that would decide it, if all figures stayed where they are; `None` if that cannot be said.
    pub games_to_decide: Option<u64>,
    /// Probability with which the intervals that refute may miss, each.
    pub level_to_refute: f64,
    /// What there is to say about its parts.
    pub parts: Vec<PartVerdict>,
}

impl ClaimVerdict {
    /// Puts a claim's parts together.
    #[must_use]
    pub fn of(claim: &Claim, parts: Vec<PartVerdict>) -> Self {
        let verdict = if parts.iter().any(|part| part.verdict == Verdict::Refuted) {
            Verdict::Refuted
        } else if parts.iter().all(|part| part.verdict == Verdict::Supported) {
            Verdict::Supported
        } else {
            Verdict::Undecided
        };
        let games_to_decide = if verdict == Verdict::Undecided { games_to_decide(&parts) } else { None };
        Self {
            id: claim.id.clone(),
            text: claim.text.clone(),
            reading: claim.reading.clone(),
            verdict,
            games_to_decide,
            level_to_refute: level_to_refute(claim).miss(),
            parts,
        }
    }
}

/// One part that is refuted decides; otherwise all that are open have to be.
fn games_to_decide(parts: &[PartVerdict]) -> Option<u64> {
    let open = || parts.iter().filter(|part| part.verdict == Verdict::Undecided);
    let sooner = open().filter(|part| part.lies_outside()).filter_map(|part| part.games_to_decide).min();
    let all = || open().map(|part| part.games_to_decide).collect::<Option<Vec<u64>>>()?.into_iter().max();
    sooner.or_else(all)
}

/// The level at which a part of a claim is refuted: shared by those parts that only play tells.
#[must_use]
pub fn level_to_refute(claim: &Claim) -> Level {
    Level::for_each_of(claim.parts.iter().filter(|part| part.measured().is_some()).count())
}

impl PartVerdict {
    fn new(part: &Part, about: String) -> Self {
        Self {
            part: part.clone(),
            about,
            claimed: None,
            verdict: Verdict::Undecided,
            value: None,
            interval: None,
            interval_to_refute: None,
            games: 0,
            games_to_decide: None,
            method: String::new(),
            seed: None,
            trace: Vec::new(),
            notes: Vec::new(),
            finding: String::new(),
            reason: None,
        }
    }

    /// The verdict on what is known exactly, or the reason why it is not.
    #[must_use]
    pub fn exact(part: &Part, about: String, answer: &Result<Answer, Unmeasured>) -> Self {
        let verdict = Self::new(part, about);
        match answer {
            Err(reason) => verdict.unmeasured(reason),
            Ok(Answer { holds, value, finding, method }) => Self {
                verdict: Verdict::of(*holds),
                value: *value,
                finding: finding.clone(),
                method: (*method).to_owned(),
                ..verdict
            },
        }
    }

    /// The verdict on what only play tells; `level` is the one at which the part is refuted.
    #[must_use]
    pub fn measured(
        part: &Part,
        (quantity, claimed): (Quantity, Range),
        evidence: &dyn Evidence,
        level: Level,
    ) -> Self {
        let verdict = Self { claimed: Some(claimed), ..Self::new(part, quantity.to_string()) };
        match both_intervals(&quantity, evidence, level) {
            Err(reason) => verdict.unmeasured(&reason),
            Ok((measured, wider)) => verdict.judged(&quantity, measured, wider, level),
        }
    }

    fn unmeasured(self, reason: &Unmeasured) -> Self {
        let games = if let Unmeasured::Unclear { games, .. } = reason { *games } else { 0 };
        Self { finding: format!("not measured: {reason}"), reason: Some(reason.to_string()), games, ..self }
    }

    fn judged(self, quantity: &Quantity, measured: Measured, wider: Interval, level: Level) -> Self {
        let claimed = self.claimed.unwrap_or_default();
        // A value inside can only be supported, one outside only refuted: each has its interval.
        let interval = if claimed.contains(measured.value) { measured.interval() } else { wider };
        let Measured { value, games, .. } = measured;
        let (verdict, games_to_decide) =
            match ratio::verdict(claimed.interval(), &ratio::Measured { value, interval, games }) {
                ratio::Verdict::Supported => (Verdict::Supported, None),
                ratio::Verdict::Refuted => (Verdict::Refuted, None),
                ratio::Verdict::Undecided { games_to_decide } => (Verdict::Undecided, games_to_decide),
            };
        let wider = (level != Level::USUAL).then_some(wider);
        let finding = Finding { quantity, claimed, measured: &measured, wider, level }.to_string();
        Self {
            verdict,
            value: Some(value),
            interval: Some(measured.interval()),
            interval_to_refute: Some(wider.unwrap_or(measured.interval())),
            games,
            games_to_decide,
            method: measured.method,
            seed: measured.seed,
            trace: measured.trace,
            notes: measured.notes,
            finding,
            ..self
        }
    }

    /// Whether its figure is none of those claimed.
    fn lies_outside(&self) -> bool {
        match (self.value, self.claimed) {
            (Some(value), Some(claimed)) => !claimed.contains(value),
            _ => false,
        }
    }
}

/// A quantity with its 95 % interval, and the interval at another level, which contains that one.
fn both_intervals(
    quantity: &Quantity,
    evidence: &dyn Evidence,
    level: Level,
) -> Result<(Measured, Interval), Unmeasured> {
    let usual = sound(evidence.measure(quantity, Level::USUAL)?)?;
    if level == Level::USUAL {
        let interval = usual.interval();
        return Ok((usual, interval));
    }
    let wider = sound(evidence.measure(quantity, level)?)?;
    // Intervals by lot need not be nested to the last digit.
    let wider = Interval::new(wider.low.min(usual.low), wider.high.max(usual.high));
    Ok((usual, wider))
}

fn sound(measured: Measured) -> Result<Measured, Unmeasured> {
    if measured.is_sound() {
        return Ok(measured);
    }
    let [value, low, high] = [measured.value, measured.low, measured.high].map(|number| number.to_string());
    Err(Unmeasured::Unsound { value, low, high })
}

/// A measured figure in words.
struct Finding<'a> {
    quantity: &'a Quantity,
    claimed: Range,
    measured: &'a Measured,
    wider: Option<Interval>,
    level: Level,
}

impl fmt::Display for Finding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measured { value, low, high, games, .. } = *self.measured;
        let digits = match self.quantity {
            Quantity::FirstMove => 3,
            Quantity::GameLength { .. } => 1,
            Quantity::Value { .. } | Quantity::PhaseGain { .. } | Quantity::RankGain { .. } => 2,
        };
        write!(f, "{value:.digits$} ({} {low:.digits$} to {high:.digits$}", Level::USUAL)?;
        if let Some(Interval { low, high }) = self.wider {
            write!(f, "; {} {low:.digits$} to {high:.digits$}", self.level)?;
        }
        write!(f, "), claimed {}, {} games", self.claimed, grouped(games))
    }
}

/// A count with its thousands set apart.
pub(super) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (number, digit) in digits.chars().enumerate() {
        if number > 0 && (digits.len() - number).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

impl fmt::Display for PartVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<9}  {}: {}", self.verdict, self.about, self.finding)?;
        self.write_rest(f)
    }
}

impl PartVerdict {
    fn write_rest(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(games) = self.games_to_decide {
            write!(f, "; about {} games would decide it", grouped(games))?;
        }
        self.notes.iter().try_for_each(|note| write!(f, "; {note}"))
    }
}

/// The claim on a line of its own, then a line a part, in columns.
impl fmt::Display for ClaimVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<4}{:<9}  {}", self.id, self.verdict, self.text)?;
        self.write_counts(f)?;
        let width = self.parts.iter().map(|part| part.about.chars().count()).max().unwrap_or(0);
        for part in &self.parts {
            write!(f, "\n    {:<9}  {:<width$}  {}", part.verdict, part.about, part.finding)?;
            part.write_rest(f)?;
        }
        if let Some(games) = self.games_to_decide.filter(|_| self.parts.len() > 1) {
            write!(f, "\n    about {} games would decide the claim", grouped(games))?;
        }
        Ok(())
    }
}

impl ClaimVerdict {
    /// How many parts hold and how many do not, where these are not all.
    fn write_counts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |verdict| self.parts.iter().filter(|part| part.verdict == verdict).count();
        let counts =
            [Verdict::Supported, Verdict::Refuted, Verdict::Undecided].map(|verdict| (count(verdict), verdict));
        let some: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, verdict)| format!("{count} {verdict}"))
            .collect();
        if some.len() > 1 { write!(f, " ({} of {} parts)", some.join(", "), self.parts.len()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let said = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(said, ["0", "999", "1,000", "1,234,567"]);
    }
}
