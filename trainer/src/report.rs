//! The report of a loop: a short text for the screen, a longer one in Markdown for `report.md`.

use crate::fit::FitReport;
use crate::fit::values::{PieceValues, ValueOutcome};
use crate::plan::Plan;
use crate::progression::Progression;
use crate::quality::Quality;
use crate::record::{RecordError, shards};
use crate::run_dir::RunPaths;
use crate::train::making::Made;
use crate::training_loop::{GenerationResult, Learnt};
use fairyforge_engine::variant::Variant;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// What the games of a generation looked like.
#[derive(Debug, Clone, Default)]
pub struct GameFacts {
    /// Games.
    pub games: u64,
    /// Searched positions.
    pub positions: u64,
    /// White's wins, draws, Black's wins.
    pub results: [u64; 3],
    /// Plies in all.
    pub plies: u64,
    /// How often games ended in which way.
    pub terminations: BTreeMap<String, u64>,
}

impl GameFacts {
    /// Reads a folder of shards.
    ///
    /// # Errors
    /// A shard cannot be read.
    pub fn of(folder: &Path, rules_hash: &str) -> Result<Self, RecordError> {
        let mut facts = Self::default();
        for shard in shards(folder, Some(rules_hash))? {
            for game in shard?.games {
                facts.games += 1;
                facts.positions += game.positions.len() as u64;
                facts.plies += u64::from(game.plies);
                facts.results[(1 - game.result).clamp(0, 2) as usize] += 1;
                *facts.terminations.entry(game.termination).or_default() += 1;
            }
        }
        Ok(facts)
    }
}

/// A loop to be reported.
pub struct LoopReport<'a> {
    /// What was asked.
    pub plan: &'a Plan,
    /// The game.
    pub variant: &'a Variant,
    /// Version of the program.
    pub version: &'a str,
    /// The command that repeats it.
    pub command: &'a str,
    /// What came of it.
    pub generations: &'a [GenerationResult],
    /// The games of each generation.
    pub facts: &'a [GameFacts],
    /// The games of all as data.
    pub quality: &'a Quality,
    /// How strong the generations are.
    pub progression: &'a Progression,
}

impl LoopReport<'_> {
    /// For the screen.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for generation in self.generations {
            let _ = writeln!(text, "Generation {}\n\n{}", generation.number, learnt_text(&generation.learnt));
            let _ = writeln!(text, "Match of new against old\n{}\n{}\n", generation.gate, gate_sentence(generation));
            for judgement in &generation.judgements {
                let _ = writeln!(text, "{judgement}");
            }
        }
        text
    }

    /// For `report.md`.
    pub fn markdown(&self) -> String {
        let title = &self.variant.rules().title;
        let mut text =
            format!("# {title}: what {} games say\n\n", self.facts.iter().map(|facts| facts.games).sum::<u64>());
        self.write_claims(&mut text);
        for (generation, facts) in self.generations.iter().zip(self.facts) {
            self.write_generation(&mut text, generation, facts);
        }
        text.push_str(&self.progression.markdown(RunPaths::PROGRESSION));
        text.push_str(&self.quality.markdown());
        self.write_provenance(&mut text);
        text
    }

    fn write_claims(&self, text: &mut String) {
        let Some(last) = self.generations.last().filter(|last| !last.judgements.is_empty()) else { return };
        text.push_str("## Claims\n\n");
        for judgement in &last.judgements {
            let _ = writeln!(
                text,
                "- **{}** {}",
                judgement.claim.id,
                judgement.to_string().trim_start_matches(&judgement.claim.id).trim()
            );
        }
        text.push('\n');
    }

    fn write_generation(&self, text: &mut String, generation: &GenerationResult, facts: &GameFacts) {
        let _ = writeln!(text, "## Generation {}\n", generation.number);
        write_facts(text, facts, self.plan.selfplay.nodes);
        if let Learnt::Weights(fit) = &generation.learnt {
            write_values(text, &fit.values_reference, &fit.values_observational);
        }
        let _ = writeln!(
            text,
            "### New against old\n\n{} pairs at {} nodes a move, each opening twice, colours exchanged:\n\n```\n{}\n```\n\n{}\n",
            self.plan.gate.pairs,
            self.plan.gate.nodes,
            generation.gate,
            gate_sentence(generation),
        );
        match &generation.learnt {
            Learnt::Weights(fit) => write_tuned(text, fit),
            Learnt::Network(made) => write_network(text, generation.number, made),
        }
    }

    fn write_provenance(&self, text: &mut String) {
        let _ = writeln!(text, "## Where this comes from\n");
        let _ = writeln!(text, "- command: `{}`", self.command);
        let _ = writeln!(text, "- program: fairyforge {}", self.version);
        let _ = writeln!(text, "- variant: {}, rules hash `{}`", self.variant.name(), self.variant.rules_hash());
        let _ = writeln!(text, "- seed: {}", self.plan.seed);
        for generation in self.generations {
            let (number, digest) = (generation.number, generation.learnt.data_digest());
            let _ = writeln!(text, "- games that generation {number} learnt from: digest `{digest}`");
        }
        text.push_str("\nThe same program with the same plan gives the same games, values and weights on any number of threads.\n");
    }
}

/// What the match says, in a sentence.
fn gate_sentence(generation: &GenerationResult) -> String {
    let stronger = match generation.gate.elo_interval {
        Some(interval) if interval.low.finite().is_some_and(|low| low > 0.0) => "the new are stronger",
        Some(interval) if interval.high.finite().is_some_and(|high| high < 0.0) => "the new are weaker",
        _ => "undecided which are stronger",
    };
    let fate = if generation.accepted { "the new go on" } else { "the old go on" };
    format!("At 95 %: {stronger}; {fate}.")
}

fn write_facts(text: &mut String, facts: &GameFacts, nodes: u64) {
    let games = facts.games.max(1) as f64;
    let percent = |count: u64| 100.0 * count as f64 / games;
    let [white, draws, black] = facts.results;
    let _ = writeln!(
        text,
        "{} games at {nodes} nodes a move, {} positions, {:.0} plies a game on average. White won {:.1} %, Black {:.1} %, {:.1} % were drawn.\n",
        facts.games,
        facts.positions,
        facts.plies as f64 / games,
        percent(white),
        percent(black),
        percent(draws),
    );
    let ends: Vec<String> =
        facts.terminations.iter().map(|(end, &count)| format!("{end} {:.1} %", percent(count))).collect();
    let _ = writeln!(text, "How they ended: {}.\n", ends.join(", "));
}

fn write_values(text: &mut String, reference: &PieceValues, observational: &PieceValues) {
    text.push_str("### Values in pawns\n\n");
    text.push_str("| unit | | a priori | randomised imbalance | 95 % interval | observational | 95 % interval |\n");
    text.push_str("|---|---|---:|---:|---|---:|---|\n");
    for (row, other) in reference.rows.iter().zip(&observational.rows) {
        let _ = writeln!(
            text,
            "| {} | {} | {:.2} | {} | {} | {} | {} |",
            row.unit.replace('_', " "),
            row.letter,
            row.a_priori,
            pawns(&row.value),
            row.value,
            pawns(&other.value),
            other.value,
        );
    }
    let _ = writeln!(
        text,
        "\nRandomised imbalance ({} games in {} pairs): the {} of each game, so that differences are those assigned by lot. Observational: a random quiet position of each game, as others publish it, biased by compensation. Draw-aware logistic regression, errors clustered by pair, Fieller intervals.\n",
        reference.games, reference.pairs, reference.method,
    );
}

fn pawns(value: &ValueOutcome) -> String {
    value.pawns().map_or_else(|| "–".into(), |pawns| format!("{pawns:.2}"))
}

/// What was learnt, for the screen.
fn learnt_text(learnt: &Learnt) -> String {
    match learnt {
        Learnt::Weights(fit) => fit.to_string(),
        Learnt::Network(made) => network_text(made),
    }
}

fn network_text(made: &Made) -> String {
    let content = &made.trained.content;
    let Some(last) = made.trained.looks.last() else { return "no network was trained\n".into() };
    let validation = last.validation.map_or_else(String::new, |error| format!(", on validation games {error:.6}"));
    format!(
        "network trained on {} positions of {} games, each about {:.1} times: loss {:.6}{validation}\n",
        content.training.kept,
        content.training.games,
        last.positions as f64 / content.training.kept.max(1) as f64,
        last.training,
    )
}

fn write_network(text: &mut String, number: u32, made: &Made) {
    let agreement = made.agreement.map_or_else(String::new, |agreement| agreement.to_string());
    let _ = writeln!(
        text,
        "### Network\n\nThe {}{agreement}\n\nLosses and everything else: [training/{number:03}](training/{number:03}/report.md).\n",
        network_text(made),
    );
}

fn write_tuned(text: &mut String, fit: &FitReport) {
    let _ = writeln!(text, "### Tuned weights\n\n```\n{}```\n", fit.tuning_text());
    let Some(tuning) = &fit.tuning else { return };
    text.push_str("| unit | middlegame before | after | endgame before | after |\n|---|---:|---:|---:|---:|\n");
    for unit in &tuning.units {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            unit.unit.replace('_', " "),
            unit.middlegame_before,
            unit.middlegame,
            unit.endgame_before,
            unit.endgame,
        );
    }
    text.push('\n');
}
