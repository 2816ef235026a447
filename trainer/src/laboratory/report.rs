//! What an experiment found: `report.md`, the same for the screen, and `result.json`.

use super::ablation::Ablation;
use super::assume::Assumed;
use super::experiment::{Findings, NetworkValues, Round};
use super::forecast::DesignForecast;
use super::ladder::{Drift, Rung};
use super::methods::{Disagreement, Method, Stage};
use super::plan::Plan;
use crate::fit::ratio::Interval;
use crate::fit::splits::{Advance, Phase, Positions, SplitFit, advance_column, phase_column};
use crate::fit::values::{PieceValues, ValueOutcome};
use crate::selfplay::{Openings, Played};
use crate::table::{Style, Table};
use fairyforge_engine::variant::Variant;
use serde_json::{Value, json};
use std::fmt::Write;

/// Version of `result.json`.
pub const FORMAT: u32 = 1;

/// An experiment that is over.
pub struct LaboratoryReport<'a> {
    /// What was asked.
    pub plan: &'a Plan,
    /// The game.
    pub variant: &'a Variant,
    /// Version of the program.
    pub version: &'a str,
    /// The command that repeats it.
    pub command: &'a str,
    /// Digest of all games.
    pub digest: &'a str,
    /// What was expected before the first game.
    pub forecast: &'a DesignForecast,
    /// What was found.
    pub findings: &'a Findings,
}

impl LaboratoryReport<'_> {
    /// For the screen.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{}\n\n", self.headline());
        text.push_str(&self.values().in_style(Style::Plain));
        text.push('\n');
        for line in self.remarks() {
            let _ = writeln!(text, "{line}");
        }
        text
    }

    /// For `report.md`.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}: what the units are worth\n\n{}\n", self.variant.rules().title, self.headline());
        for Section { title, words, table } in self.sections() {
            let _ = write!(text, "\n## {title}\n\n{words}\n\n{}", table.in_style(Style::Markdown));
            let remarks = if title == VALUES.0 { self.remarks() } else { Vec::new() };
            for line in remarks {
                let _ = writeln!(text, "\n{line}");
            }
        }
        let _ = write!(text, "\n## How to repeat it\n\n    {}\n\n{}\n", self.command, self.provenance());
        text
    }

    /// Every table of the report, in order.
    pub(super) fn sections(&self) -> Vec<Section> {
        let of = |(title, words): (&'static str, &str), table| Section { title, words: words.to_owned(), table };
        let mut sections = vec![of(VALUES, self.values())];
        sections.push(Section { title: "In logits", words: self.design_words(), table: self.logits() });
        if !self.plan.published.is_empty() {
            sections.push(Section { title: "Beside others", words: self.others_words(), table: self.others() });
        }
        sections.push(of(TRACE, self.trace()));
        if self.plan.is_staged() {
            sections.push(of(STAGES, self.stages()));
        }
        sections.extend([of(PHASES, self.phases()), of(ADVANCES, self.advances())]);
        if !self.findings.ladder.is_empty() {
            sections.push(of(LADDER, self.ladder()));
        }
        sections.push(of(LOOKS, self.looks()));
        sections.push(Section {
            title: "What was expected",
            words: self.forecast_words(),
            table: self.forecast.table(),
        });
        sections
    }

    /// For `result.json`.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "format": FORMAT,
            "variant": self.variant.name(),
            "rules_hash": self.variant.rules_hash(),
            "version": self.version,
            "command": self.command,
            "digest": self.digest,
            "plan": self.plan,
            "forecast": self.forecast,
            "findings": self.findings,
            "covariance": self.covariance(),
            "disagreements": self.disagreements(),
            "phases": split_json(&self.findings.methods.phase_played),
            "phases_by_lot": self.plan.is_staged().then(|| split_json(&self.findings.methods.phase_by_lot)),
            "advances": split_json(&self.findings.methods.advance),
        })
    }

    pub(super) fn headline(&self) -> String {
        let Findings { looks, reached, .. } = self.findings;
        let values = &self.findings.methods.by_lot;
        let end = match (reached, looks.len()) {
            (true, looks) => {
                format!("ended at look {looks} of {} because the goal was reached", self.plan.reference.looks)
            }
            (false, looks) if self.plan.reference.half_width.is_some() => {
                format!("{looks} looks, the goal was not reached")
            }
            (false, looks) => format!("{looks} looks"),
        };
        format!(
            "{}: {} games in {} pairs at {} nodes a move, {end}; {:.0} % drawn.",
            self.variant.rules().title,
            values.games,
            values.pairs,
            self.plan.nodes,
            100.0 * values.draws
        )
    }

    /// Every unit by every method.
    fn values(&self) -> Table {
        let methods = &self.findings.methods;
        let network = self.findings.network.as_ref();
        let mut headings = vec!["unit", "a priori", "pawns", "95 %", "earliest", "95 %", "observed", "95 %"];
        if network.is_some() {
            headings.extend(["network", "95 %"]);
        }
        let mut table = Table::new(&headings);
        for row in &methods.by_lot.rows {
            let of = |values: &PieceValues| values.row(&row.unit).map(|row| row.value.clone());
            let methods = [Some(row.value.clone()), of(&methods.earliest), of(&methods.observed)];
            let cells = methods.iter().flat_map(|value| value_cells(value.as_ref()));
            let asked = network.map(|network| network_cells(&network.ablation, &row.unit));
            let cells = cells.chain(asked.into_iter().flatten());
            table.row([row.unit.clone(), format!("{:.2}", row.a_priori)].into_iter().chain(cells));
        }
        table
    }

    /// What the regression says before anything is divided by the pawn.
    fn logits(&self) -> Table {
        let mut table = Table::new(&["unit", "logits", "standard error", "games that differ"]);
        for row in &self.findings.methods.by_lot.rows {
            let number = |number: Option<f64>| number.map_or_else(|| "–".to_owned(), |number| format!("{number:.4}"));
            let cells = [row.unit.clone(), number(row.coefficient), number(row.clustered_error)];
            table.row(cells.into_iter().chain([row.games_differing.to_string()]));
        }
        table
    }

    /// Where the games began, and how well that tells the units apart.
    fn design_words(&self) -> String {
        let Openings { least_random_plies, most_random_plies, settled, imbalance } = &self.plan.design;
        let share = self.findings.methods.unbalanced;
        let from = match &imbalance.played {
            Some(Played { least_plies, most_plies, nodes }) => format!(
                "positions that were played from the array, {least_plies} to {most_plies} plies or a few more at {nodes} nodes a move with \
                 a-priori weights, after {least_random_plies} to {most_random_plies} random ones, nobody ahead by more than a pawn; which side lost which units was tossed"
            ),
            None => format!("the array, with {least_random_plies} to {most_random_plies} random plies after that"),
        };
        let common = match imbalance.most_common_units {
            0 => String::new(),
            most => format!(", and none to {most} from both alike"),
        };
        let condition = self.findings.methods.by_lot.condition_number;
        let condition =
            condition.map_or_else(String::new, |number| format!(" Condition number of the games: {number:.1}."));
        format!(
            "In {:.0} % of the games the sides differed after the lot took one to {} units from each{common}, worth the same up to {} centipawns a priori, from \
             {from}{}. One unit more moves the result by so many logits, whose standard errors are clustered by pairs.{condition}",
            100.0 * share,
            imbalance.most_units,
            imbalance.window,
            if *settled { "; nobody could win material by an exchange where the players took over" } else { "" },
        )
    }

    /// Of the reference's coefficients, clustered by pairs; with them any combination has an interval.
    fn covariance(&self) -> Option<Value> {
        let fit = self.findings.methods.by_lot.fit.as_ref()?;
        let terms: Vec<&str> = fit.terms.iter().map(|term| term.name.as_str()).collect();
        let places = 0..terms.len();
        let row =
            |row: usize| places.clone().map(|column| fit.clustered_covariance.at(row, column)).collect::<Vec<f64>>();
        Some(json!({"terms": terms, "clustered": places.clone().map(row).collect::<Vec<_>>()}))
    }

    /// Every unit that others have measured, beside what they found.
    fn others(&self) -> Table {
        let published = &self.plan.published;
        let mut headings = vec!["unit".to_owned(), "measured".to_owned()];
        headings.extend(published.iter().map(|others| others.by.clone()));
        let mut table = Table::new(&headings);
        let known = |unit: &str| published.iter().any(|others| others.values.contains_key(unit));
        for row in self.findings.methods.by_lot.rows.iter().filter(|row| known(&row.unit)) {
            let cells = published.iter().map(|others| match others.values.get(&row.unit) {
                Some(&value) => format!("{value:.2} ({})", agreement(&row.value, value)),
                None => "–".to_owned(),
            });
            table.row([row.unit.clone(), value_text(&row.value)].into_iter().chain(cells));
        }
        table
    }

    fn others_words(&self) -> String {
        let published = &self.plan.published;
        let verdicts = published.iter().map(|others| {
            let rows = self.findings.methods.by_lot.rows.iter();
            let pairs = rows.filter_map(|row| Some((row, *others.values.get(&row.unit)?)));
            let (agree, all) = pairs.fold((0, 0), |(agree, all), (row, value)| {
                (agree + usize::from(agreement(&row.value, value) == AGREES), all + 1)
            });
            format!("With {} (*{}*) {agree} of {all} values agree.", others.by, others.source)
        });
        let verdicts: Vec<String> = verdicts.collect();
        format!(
            "A published value agrees if it lies in our interval and that reaches at most half a pawn to either side, or a tenth of a dear unit's value; its own error is mostly unknown. {}",
            verdicts.join(" ")
        )
    }

    pub(super) fn remarks(&self) -> Vec<String> {
        let methods = &self.findings.methods;
        let mut lines = vec![self.first_move_line(), self.length_line(), self.agreement_line()];
        lines.extend(self.disagreements().iter().map(disagreement_line));
        lines.extend(self.findings.network.as_ref().map(network_line));
        lines.extend(self.drift_line());
        lines.extend(methods.by_lot.failure.as_ref().map(|failure| format!("No values by lot: {failure}.")));
        lines
    }

    fn disagreements(&self) -> Vec<Disagreement> {
        self.findings.methods.disagreements(self.findings.network.as_ref().map(|network| &network.ablation))
    }

    fn first_move_line(&self) -> String {
        match &self.findings.methods.first_move {
            Some(first) => format!(
                "First move: White scores {:.1} % (95 %: {:.1} to {:.1}) in {} games that start level, {} pairs.",
                100.0 * first.score,
                100.0 * first.interval.low,
                100.0 * first.interval.high,
                first.games,
                first.pairs
            ),
            None => "First move: too few games start level.".to_owned(),
        }
    }

    fn length_line(&self) -> String {
        match &self.findings.methods.length {
            Some(length) => format!(
                "Games that start level last {:.1} ± {:.1} plies ({} games).",
                length.plies,
                length.interval.high - length.plies,
                length.games
            ),
            None => "Length of games: too few games start level.".to_owned(),
        }
    }

    fn agreement_line(&self) -> String {
        match self.findings.rounds.last() {
            None => "Self-consistency was not asked for: the engine believed its weights throughout.".to_owned(),
            Some(Round { number, agreed, .. }) => {
                let rounds = match agreed {
                    Some(true) => "the evaluation agreed with what was measured",
                    Some(false) => "the evaluation still differed from what was measured",
                    None => {
                        "nothing measured contradicted the evaluation, but the games were too few to tell of all units"
                    }
                };
                format!("Self-consistency: after round {number} {rounds}; {}.", self.assumed_at_last())
            }
        }
    }

    fn assumed_at_last(&self) -> String {
        let in_array =
            |unit: &&Assumed| self.findings.methods.by_lot.row(&unit.unit).is_some_and(|row| row.in_array > 0);
        let those = |agrees: Option<bool>| {
            let units = self.findings.assumed.iter().filter(in_array).filter(|unit| unit.agrees == agrees);
            units.map(|unit| unit.unit.as_str()).collect::<Vec<_>>().join(", ")
        };
        match (those(Some(false)), those(None)) {
            (apart, unclear) if apart.is_empty() && unclear.is_empty() => {
                "in the reference every assumed value lies in the measured interval".to_owned()
            }
            (apart, unclear) if apart.is_empty() => format!(
                "in the reference no assumed value lies outside the measured interval, which is too wide to tell for {unclear}"
            ),
            (apart, _) => format!("in the reference these assumed values lie outside the measured intervals: {apart}"),
        }
    }

    fn drift_line(&self) -> Option<String> {
        let clear = self.findings.drifts.iter().filter(|drift| drift.is_clear);
        let clear: Vec<String> =
            clear.map(|drift| format!("{} {:+.2}", drift.unit, drift.pawns_per_doubling)).collect();
        match (self.findings.ladder.is_empty(), clear.is_empty()) {
            (true, _) => None,
            (false, true) if self.findings.drifts.is_empty() => {
                Some("Whether values drift with strength cannot be told: a rung measured none.".to_owned())
            }
            (false, true) => Some("No value drifts clearly with strength.".to_owned()),
            (false, false) => {
                Some(format!("Values that drift with strength, in pawns a doubling of nodes: {}.", clear.join(", ")))
            }
        }
    }

    /// Assumed and measured by round.
    fn trace(&self) -> Table {
        let rounds = &self.findings.rounds;
        let mut headings = vec!["unit".to_owned()];
        headings.extend(rounds.iter().flat_map(|round| [format!("assumed {}", round.number), "measured".to_owned()]));
        headings.extend(["assumed at last".to_owned(), "reference".to_owned()]);
        let mut table = Table::new(&headings);
        for row in &self.findings.methods.by_lot.rows {
            let of_round = |round: &Round| match round.units.iter().find(|unit| unit.unit == row.unit) {
                Some(unit) => [format!("{:.2}", unit.assumed), measured_cell(unit)],
                None => ["–".to_owned(), "–".to_owned()],
            };
            let cells = rounds.iter().flat_map(of_round);
            let assumed = self.findings.assumed.iter().find(|unit| unit.unit == row.unit);
            let last = assumed.map_or_else(
                || ["–".to_owned(), value_text(&row.value)],
                |unit| [format!("{:.2}", unit.assumed), measured_cell(unit)],
            );
            table.row(std::iter::once(row.unit.clone()).chain(cells).chain(last));
        }
        table
    }

    fn stages(&self) -> Table {
        let stages = &self.findings.methods.stages;
        let mut headings = vec!["unit".to_owned()];
        headings
            .extend(stages.iter().map(|Stage { from, to, .. }| format!("{:.0} to {:.0} %", 100.0 * from, 100.0 * to)));
        let mut table = Table::new(&headings);
        for row in &self.findings.methods.by_lot.rows {
            let value = |stage: &Stage| {
                stage.values.row(&row.unit).map_or_else(|| "–".to_owned(), |row| value_text(&row.value))
            };
            table.row(std::iter::once(row.unit.clone()).chain(stages.iter().map(value)));
        }
        table
    }

    fn phases(&self) -> Table {
        let methods = &self.findings.methods;
        let mut splits = vec![&methods.phase_played];
        if self.plan.is_staged() {
            splits.push(&methods.phase_by_lot);
        }
        let mut headings = vec!["unit".to_owned()];
        for split in &splits {
            let whose = if split.positions == Positions::Lot { " by lot" } else { "" };
            headings
                .extend([split.fullest, split.fewest].map(|share| format!("{:.0} % of the men{whose}", 100.0 * share)));
        }
        let mut table = Table::new(&headings);
        for row in &methods.by_lot.rows {
            let cells = splits.iter().flat_map(|split| {
                [Phase::Full, Phase::Few].map(|phase| {
                    let measure = phase_column(&split.pawn, phase);
                    coefficient_text(split, &phase_column(&row.unit, phase), &measure)
                })
            });
            table.row(std::iter::once(row.unit.clone()).chain(cells));
        }
        table
    }

    fn advances(&self) -> Table {
        let split = &self.findings.methods.advance;
        let home = advance_column(&split.pawn, Advance::Home);
        let mut table = Table::new(&["pawn", "worth of one at home"]);
        for advance in Advance::ALL {
            let column = advance_column(&split.pawn, advance);
            table.row([advance.to_string(), coefficient_text(split, &column, &home)]);
        }
        table
    }

    fn ladder(&self) -> Table {
        let rungs = &self.findings.ladder;
        let mut headings = vec!["unit".to_owned()];
        headings.extend(rungs.iter().map(|rung| format!("{} nodes", rung.nodes)));
        headings.push("a doubling".to_owned());
        let mut table = Table::new(&headings);
        for row in &self.findings.methods.by_lot.rows {
            let value =
                |rung: &Rung| rung.values.row(&row.unit).map_or_else(|| "–".to_owned(), |row| value_text(&row.value));
            let drift = self.findings.drifts.iter().find(|drift| drift.unit == row.unit);
            let drift = drift.map_or_else(
                || "–".to_owned(),
                |Drift { pawns_per_doubling, interval, .. }| {
                    format!("{pawns_per_doubling:+.2} ({:+.2} to {:+.2})", interval.low, interval.high)
                },
            );
            table.row(std::iter::once(row.unit.clone()).chain(rungs.iter().map(value)).chain([drift]));
        }
        table
    }

    fn looks(&self) -> Table {
        let mut table = Table::new(&["look", "games", "standard errors", "widest half"]);
        for look in &self.findings.looks {
            let mut rows = look.values.rows.iter().filter(|row| row.in_array > 0 && row.unit != look.values.pawn);
            let widest = rows.try_fold(0.0, |widest: f64, row| Some(widest.max(row.value.half_width()?)));
            let widest = widest.map_or_else(|| "–".to_owned(), |widest| format!("{widest:.2}"));
            let cells = [look.number.to_string(), look.games.to_string(), format!("{:.3}", look.critical)];
            table.row(cells.into_iter().chain([widest]));
        }
        table
    }

    fn forecast_words(&self) -> String {
        let absent = match &self.forecast.not_in_array[..] {
            [] => String::new(),
            units => format!(" Not measured, as the array has none: {}.", units.join(", ")),
        };
        format!(
            "Before the first game, from the openings of the design and what the weights assumed, with a pawn of {} logits: half-widths \
             in pawns after {} games. Condition number of the information: {:.1}.{absent}",
            self.plan.forecast.pawn, self.forecast.games, self.forecast.condition_number
        )
    }

    pub(super) fn provenance(&self) -> String {
        format!(
            "Version {}, rules {:.12}, seed {}, games {:.12}. The same version and plan give the same games on any number of threads.",
            self.version,
            self.variant.rules_hash(),
            self.plan.seed,
            self.digest
        )
    }
}

/// A table with what has to be said about it.
pub(super) struct Section {
    pub title: &'static str,
    pub words: String,
    pub table: Table,
}

const VALUES: (&str, &str) = (
    "Values",
    "Values in pawns of this game. *pawns* is the reference: results on what the lot took away, so nothing but the \
units can be the cause. Intervals hold, for each unit, for all looks together; after an early end the values lean a little the way that ended it. *earliest* takes the first quiet position instead, *observed* a random \
quiet one: who is behind there may have been paid for it. *network*, where there is one: what a trained network's value loses when the unit is taken off. Intervals are Fieller's, errors clustered by pairs of games.",
);
const TRACE: (&str, &str) = (
    "Self-consistency",
    "What the evaluation assumed in each round and what its games measured. Where the two disagree, the nearest value in the interval is assumed in the next round; intervals \
of a round hold for all units together.",
);
const STAGES: (&str, &str) = (
    "By stage",
    "The same regression on thirds of the games, by how many of the men were there where the players took over: values in pawns of that stage, by lot. \
The values above are an average over these stages, as the design mixes them.",
);
const PHASES: (&str, &str) = (
    "By phase",
    "Values in pawns of the same stage. Columns *by lot* come from where the players took over, so nothing but the units can be the cause; the others from \
quiet positions all over the games, which is observational.",
);
const ADVANCES: (&str, &str) = (
    "A pawn on its way",
    "Value of a pawn by how far it has come on its way to promotion. Observational: an advanced pawn may have been paid for.",
);
const LADDER: (&str, &str) = (
    "By strength",
    "The same experiment at other strengths, with the same weights; intervals of single values at 95 %, those of the reference for all looks together.",
);
const LOOKS: (&str, &str) = (
    "Looks",
    "When the games were looked at, and how many standard errors an interval reaches to either side so that for a unit \
all looks together err in 5 % of all experiments.",
);

fn disagreement_line(disagreement: &Disagreement) -> String {
    let Disagreement { unit, by_lot, other, method } = disagreement;
    let why = match method {
        Method::Results(_) => {
            "In played positions whoever lacks a unit often has something for it, which makes units look cheaper or, where only sound \
             exchanges remain, dearer than they are."
        }
        Method::Network => {
            "A network sees single units taken off where they stand, for nothing: positions that its own games hardly have; and it weighs \
             them by its scale of centipawns, not by results."
        }
    };
    format!("{unit}: the {method} says {other:.2} where the lot says {by_lot:.2}; their intervals do not meet. {why}")
}

fn network_line(network: &NetworkValues) -> String {
    let NetworkValues { digest, ablation } = network;
    format!(
        "The network ({digest:.12}) was asked in {} quiet positions of {} of these games: its value with each unit and without. Its intervals are those of the \
         positions drawn, clustered by pairs of games; another training would give another network.",
        ablation.positions, ablation.games
    )
}

fn network_cells(ablation: &Ablation, unit: &str) -> [String; 2] {
    let Some(worth) = ablation.worth(unit) else { return ["–".to_owned(), "never there".to_owned()] };
    let Interval { low, high } = worth.interval();
    let interval = if unit == ablation.pawn { "the measure".to_owned() } else { format!("{low:.2} to {high:.2}") };
    [format!("{:.2}", worth.pawns), interval]
}

const AGREES: &str = "agrees";

/// Whether a value that others measured lies in our interval.
fn agreement(ours: &ValueOutcome, others: f64) -> &'static str {
    match ours {
        ValueOutcome::Bounded { interval, .. } if others < interval.low => "below ours",
        ValueOutcome::Bounded { interval, .. } if others > interval.high => "above ours",
        _ => match ours.is_telling() {
            Some(true) => AGREES,
            Some(false) => "cannot tell",
            None => "not measured here",
        },
    }
}

fn value_cells(value: Option<&ValueOutcome>) -> [String; 2] {
    let pawns = value.and_then(ValueOutcome::pawns).map_or_else(|| "–".to_owned(), |pawns| format!("{pawns:.2}"));
    [pawns, value.map_or_else(|| "–".to_owned(), ToString::to_string)]
}

fn value_text(value: &ValueOutcome) -> String {
    match value.pawns() {
        Some(pawns) => format!("{pawns:.2} ({value})"),
        None => value.to_string(),
    }
}

fn measured_cell(unit: &Assumed) -> String {
    let mark = if unit.agrees == Some(false) { " ✗" } else { "" };
    format!("{}{mark}", value_text(&unit.measured))
}

fn coefficient_text(split: &SplitFit, column: &str, measure: &str) -> String {
    split.value(column, measure).map_or_else(|| "–".to_owned(), |value| value_text(&value))
}

fn split_json(split: &SplitFit) -> Value {
    let terms = split.fit.as_ref().map(|fit| &fit.terms);
    json!({"positions": split.positions, "rows": split.rows, "games": split.games, "fullest": split.fullest, "fewest": split.fewest, "terms": terms, "failure": split.failure})
}
