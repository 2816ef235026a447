//! What there is to say about a file of claims: `report.md`. The page with figures is [`super::page`]'s.

use super::report::LaboratoryReport;
use crate::claims::{ClaimVerdict, PartVerdict, Verdicts};
use crate::table::{Style, Table};
use std::fmt::Write;

/// How to read the verdicts.
pub(super) const READING: &str = "Supported: the 95 % interval lies inside what is claimed. Refuted: wholly outside, at a level that \
the parts of a claim share. Undecided otherwise; then the last column says how many games in all would decide it if the figure stayed \
where it is.";

/// Verdicts, and the experiment that they rest on.
pub struct ClaimsReport<'a> {
    /// The verdicts.
    pub verdicts: &'a Verdicts,
    /// The experiment, if there was one.
    pub laboratory: Option<LaboratoryReport<'a>>,
}

impl ClaimsReport<'_> {
    /// For `report.md`.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n{}", self.title(), self.summary().in_style(Style::Markdown));
        let _ = write!(text, "\n{READING}\n\n    {}\n\n{}\n", self.verdicts.command, self.provenance());
        for claim in &self.verdicts.claims {
            write_claim(&mut text, claim);
        }
        if let Some(laboratory) = &self.laboratory {
            let _ = write!(text, "\n---\n\n{}", laboratory.markdown());
        }
        text
    }

    pub(super) fn title(&self) -> String {
        format!("Claims: {}", self.verdicts.source)
    }

    pub(super) fn provenance(&self) -> String {
        let Verdicts { program, rules_hash, claims_digest, .. } = self.verdicts;
        format!("Version {program}, rules {rules_hash:.12}, claims {claims_digest:.12}.")
    }

    pub(super) fn summary(&self) -> Table {
        let mut table = Table::new(&["claim", "verdict", "figure", "interval", "games", "games to decide"]);
        for claim in &self.verdicts.claims {
            for (index, part) in claim.parts.iter().enumerate() {
                let id = if claim.parts.len() == 1 { claim.id.clone() } else { format!("{}.{}", claim.id, index + 1) };
                table.row([id].into_iter().chain(cells(part)));
            }
            if claim.parts.len() > 1 {
                table.row([claim.id.clone(), claim.verdict.to_string()]);
            }
        }
        table
    }
}

fn cells(part: &PartVerdict) -> [String; 5] {
    let dash = || "–".to_owned();
    let interval = part.interval.map_or_else(dash, |interval| format!("{:.2} to {:.2}", interval.low, interval.high));
    let games = if part.games == 0 { "exact".to_owned() } else { part.games.to_string() };
    let games = if part.reason.is_some() { dash() } else { games };
    [
        part.verdict.to_string(),
        part.value.map_or_else(dash, |value| format!("{value:.2}")),
        interval,
        games,
        part.games_to_decide.map_or_else(dash, |games| games.to_string()),
    ]
}

fn write_claim(text: &mut String, claim: &ClaimVerdict) {
    let _ =
        write!(text, "\n## {}: {}\n\n{}\n\n*{}*\n", claim.id, claim.verdict, claim.text.trim(), claim.reading.trim());
    for part in &claim.parts {
        let mut line = format!("\n- {}: {}", part.about, part.verdict);
        if !part.finding.is_empty() {
            let _ = write!(line, ". {}", part.finding);
        }
        if let Some(reason) = part.reason.as_ref().filter(|_| part.finding.is_empty()) {
            let _ = write!(line, ". Not measured: {reason}");
        }
        if !part.method.is_empty() {
            let _ = write!(line, " ({})", part.method);
        }
        if !part.trace.is_empty() {
            let rounds: Vec<String> = part.trace.iter().map(|value| format!("{value:.2}")).collect();
            let _ = write!(line, ". Rounds of self-consistency: {}", rounds.join(", "));
        }
        for note in &part.notes {
            let _ = write!(line, " {note}");
        }
        text.push_str(&line);
        text.push('\n');
    }
}
