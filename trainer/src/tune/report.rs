//! What a run found: `report.md`, the same for the screen and for `--json`, and the tuned values as files.

use super::chart::brief;
use super::confirm::Confirmation;
use super::diagnose::{BOUND_SHARE, DISTINGUISHABLE, LAST_SHARE, Outcome, outcomes};
use super::journal::Iteration;
use super::setup::Setup;
use super::targets::{Engine, Target};
use crate::arena::statistics::MatchTally;
use fairyforge_engine::evaluate::Origin;
use serde_json::{Value, json};
use std::fmt::Write;

/// A run that is over.
pub struct TuneReport<'a> {
    /// What was asked.
    pub setup: &'a Setup,
    /// Version of the program.
    pub version: &'a str,
    /// The command that repeats it.
    pub command: &'a str,
    /// The journal.
    pub iterations: &'a [Iteration],
    /// The match at the end, if one was played.
    pub confirmation: Option<&'a Confirmation>,
}

impl TuneReport<'_> {
    /// What became of the parameters.
    #[must_use]
    pub fn outcomes(&self) -> Vec<Outcome> {
        outcomes(&self.setup.plan.names(), &self.setup.tuner, self.iterations)
    }

    /// The player with the tuned values.
    #[must_use]
    pub fn tuned(&self) -> Engine {
        let values: Vec<f64> = self.outcomes().iter().map(|outcome| outcome.tuned).collect();
        let mut tuned = self.setup.engine.with(&self.setup.targets, &values);
        if self.tunes_weights() {
            tuned.weights.origin = Origin {
                method: format!(
                    "SPSA on {} games, seed {}, from {}",
                    self.games(),
                    self.setup.plan.seed,
                    self.before()
                ),
                data_digest: None,
                games: self.games(),
                engine: env!("CARGO_PKG_VERSION").into(),
            };
        }
        tuned
    }

    /// Whether a number of the evaluation is tuned.
    #[must_use]
    pub fn tunes_weights(&self) -> bool {
        self.setup.targets.iter().any(|target| target.is_weight())
    }

    /// The tuned values of the search as the text of a search file.
    #[must_use]
    pub fn search_file(&self) -> String {
        let about = format!(
            "tuned on {}: SPSA, {} games at {} nodes a move, seed {}",
            self.setup.variant.name(),
            self.games(),
            self.setup.plan.nodes,
            self.setup.plan.seed
        );
        self.tuned().params.to_toml(&about)
    }

    /// The tuned weights as the text of a weights file; `None` if none were tuned.
    #[must_use]
    pub fn weights_file(&self) -> Option<String> {
        self.tunes_weights().then(|| self.tuned().weights.to_toml(&self.setup.variant))
    }

    /// For the screen.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text =
            format!("{}, {} iterations, {} games\n", self.setup.variant.name(), self.iterations.len(), self.games());
        text.push_str(&table(&self.outcomes(), Style::Plain));
        for line in self.advice() {
            let _ = writeln!(text, "{line}");
        }
        if let Some(confirmation) = self.confirmation {
            let _ = writeln!(text, "tuned against old: {}\n{}", confirmation.summary, confirmation.sentence());
        }
        text
    }

    /// For `report.md`.
    #[must_use]
    pub fn markdown(&self) -> String {
        let title = &self.setup.variant.rules().title;
        let mut text = format!("# {title}: parameters tuned by SPSA\n\n");
        self.write_run(&mut text);
        let _ = writeln!(text, "\n## Parameters\n\n{}", table(&self.outcomes(), Style::Markdown));
        text.push_str(
            "Change is in units of `c_end`, z in standard deviations of a random walk. The way of each parameter:\n\n",
        );
        text.push_str("![every parameter over the iterations](chart.svg)\n\n## Diagnosis\n\n");
        self.write_diagnosis(&mut text);
        self.write_confirmation(&mut text);
        self.write_provenance(&mut text);
        text
    }

    /// For `--json`.
    #[must_use]
    pub fn json(&self) -> Value {
        let confirm = self
            .confirmation
            .map(|confirmation| json!({"match": confirmation.summary, "sprt": confirmation.report.to_json()}));
        json!({
            "variant": self.setup.variant.name(),
            "rules_hash": self.setup.variant.rules_hash(),
            "seed": self.setup.plan.seed,
            "iterations": self.iterations.len(),
            "games": self.games(),
            "parameters": self.outcomes(),
            "confirm": confirm,
        })
    }

    fn games(&self) -> u64 {
        2 * self.iterations.iter().map(|iteration| iteration.pairs.len() as u64).sum::<u64>()
    }

    fn before(&self) -> String {
        self.setup.engine.weights.origin.method.clone()
    }

    fn write_run(&self, text: &mut String) {
        let plan = &self.setup.plan;
        let mut tally = MatchTally::new();
        for pair in self.iterations.iter().flat_map(|iteration| &iteration.pairs) {
            let [one, other] = pair.games();
            tally.add_pair(one, other);
        }
        let (games, nodes) = (tally.games(), plan.nodes);
        let _ = writeln!(
            text,
            "{} iterations of {} pairs of games at {nodes} nodes a move: {} games, {} of them drawn.",
            self.iterations.len(),
            plan.pairs_per_iteration,
            games.total(),
            percent(games.draws as f64 / games.total().max(1) as f64),
        );
    }

    fn write_diagnosis(&self, text: &mut String) {
        let advice = self.advice();
        if advice.is_empty() {
            text.push_str("No bound was in the way, and every parameter moved further than chance would move it.\n");
        }
        for line in advice {
            let _ = writeln!(text, "- {line}");
        }
        let _ = writeln!(
            text,
            "\nA bound is named when a parameter sat on it, or its trials were cut off by it, in more than {} of the last {} of the iterations. A \
             parameter is told from noise when its movement, bounds left aside, is more than {DISTINGUISHABLE} standard deviations of a random walk with \
             the same steps and signs drawn by lot; without any effect one in twenty would be.",
            percent(BOUND_SHARE),
            percent(LAST_SHARE),
        );
    }

    /// What to look at, a sentence each.
    fn advice(&self) -> Vec<String> {
        let outcomes = self.outcomes();
        let bounded = outcomes.iter().zip(&self.setup.targets).filter(|(outcome, _)| outcome.is_bounded());
        let mut lines: Vec<String> = bounded.map(|(outcome, &target)| bound_advice(outcome, target)).collect();
        let lost: Vec<&str> =
            outcomes.iter().filter(|one| !one.is_distinguishable).map(|one| one.name.as_str()).collect();
        if !lost.is_empty() {
            lines.push(format!(
                "Not distinguishable from noise (|z| at most {DISTINGUISHABLE}): {}. Either these games do not depend on them, or they \
                 started near their best, or there were too few games.",
                lost.join(", ")
            ));
        }
        lines
    }

    fn write_confirmation(&self, text: &mut String) {
        text.push_str("\n## Tuned against old values\n\n");
        let Some(confirmation) = self.confirmation else {
            text.push_str("No match was played: ");
            let why =
                if self.setup.plan.confirm.is_some() { "no value changed.\n" } else { "the plan asks for none.\n" };
            text.push_str(why);
            return;
        };
        let (report, [low, high]) = (&confirmation.report, confirmation.report.estimate.elo_ci);
        let _ = writeln!(text, "{} Openings are none of the tuning's.\n", confirmation.sentence());
        let _ = writeln!(text, "```\n{}\n```\n", confirmation.summary);
        let _ = writeln!(
            text,
            "After {} pairs the log-likelihood ratio is {:.2}, bounds {:.2} and {:.2}. With regard to when the test stopped: Elo {:+.1} \
             [{low:+.1}, {high:+.1}] (95 %, median-unbiased).",
            report.results.observations(),
            report.llr,
            report.bounds.lower,
            report.bounds.upper,
            report.estimate.elo,
        );
    }

    fn write_provenance(&self, text: &mut String) {
        let (setup, plan) = (self.setup, &self.setup.plan);
        let _ = writeln!(text, "\n## Where this comes from\n");
        let _ = writeln!(text, "- command: `{}`", self.command);
        let _ = writeln!(text, "- program: fairyforge {}", self.version);
        let _ = writeln!(text, "- variant: {}, rules hash `{}`", setup.variant.name(), setup.variant.rules_hash());
        let _ = writeln!(text, "- seed: {}", plan.seed);
        let search = plan.search.as_ref().map(|file| format!("{file}, digest `{}`", setup.search_digest));
        let _ = writeln!(text, "- search before: {}", search.as_deref().unwrap_or("the program's defaults"));
        let weights = plan.weights.as_deref().unwrap_or("the best known");
        let _ = writeln!(text, "- weights before: {weights}, digest `{}`", setup.weights_digest);
        text.push_str("\nThe same program with the same plan gives the same journal on any number of threads. `fairyforge tune recompute` makes the end again from it.\n");
    }
}

fn bound_advice(outcome: &Outcome, target: Target) -> String {
    let Outcome { name, bounds: [min, max], c_end, end, on_bound, cut_off, .. } = outcome;
    let (bound, is_lowest) = if end - min < max - end { (*min, true) } else { (*max, false) };
    let playable = target.playable();
    let end_of_range = bound == f64::from(if is_lowest { playable.min } else { playable.max });
    let advice = if 2.0 * c_end >= max - min {
        "its trials are wider than its range; lower `c_end`"
    } else if end_of_range && *on_bound <= BOUND_SHARE {
        "the engine knows no value beyond it; if it is still on its way, tune on from `tuned.toml`, else lower `c_end`"
    } else if end_of_range {
        "the engine knows no value beyond it; look at what the parameter does there, or leave it out"
    } else if is_lowest {
        "lower `min` and tune again"
    } else {
        "raise `max` and tune again"
    };
    let what = if *on_bound > BOUND_SHARE {
        format!("sat on its bound {bound} in {}", percent(*on_bound))
    } else {
        format!("had its trials cut off by its bound {bound} in {}", percent(*cut_off))
    };
    format!("{name} {what} of the last iterations: {advice}.")
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// How a table is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Markdown,
}

fn table(outcomes: &[Outcome], style: Style) -> String {
    let head = ["parameter", "start", "end", "tuned", "change", "z", "on bound", "cut off"].map(String::from);
    let row = |outcome: &Outcome| {
        [
            outcome.name.clone(),
            brief(outcome.start),
            format!("{:.2}", outcome.end),
            format!("{}", outcome.tuned),
            format!("{:+.2}", outcome.change_in_c),
            format!("{:+.2}", outcome.z),
            percent(outcome.on_bound),
            percent(outcome.cut_off),
        ]
    };
    let mut rows = vec![head];
    rows.extend(outcomes.iter().map(row));
    let widths: Vec<usize> = (0..rows[0].len())
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    let rule =
        || widths.iter().enumerate().map(|(column, width)| ruler(column, *width)).collect::<Vec<_>>().join(" | ");
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| padded(column, cell, width));
        let cells: Vec<String> = cells.collect();
        match style {
            Style::Plain => text.push_str(cells.join("  ").trim_end()),
            Style::Markdown => {
                let _ = write!(text, "| {} |", cells.join(" | "));
            }
        }
        text.push('\n');
        if number == 0 && style == Style::Markdown {
            let _ = writeln!(text, "| {} |", rule());
        }
    }
    text
}

fn padded(column: usize, cell: &str, width: usize) -> String {
    if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
}

fn ruler(column: usize, width: usize) -> String {
    if column == 0 { "-".repeat(width) } else { format!("{}:", "-".repeat(width.saturating_sub(1))) }
}
