//! Plans of tuning runs: TOML, read with all faults of the text told together. What names and numbers mean for a variant
//! is [`super::setup`]'s business. Format: `docs/formats/tuning.md`.

use super::spsa::Schedule;
use crate::arena::openings::{OpeningFile, OpeningSource};
use crate::arena::sprt::{EloModel, SprtSettings};
use crate::play::Adjudication;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Version of the plan format.
pub const FORMAT: u32 = 1;

/// What is to be tuned, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Format version.
    pub format: u32,
    /// Name or file of the variant.
    pub variant: String,
    /// Seed of everything random.
    pub seed: u64,
    /// How often the parameters move.
    pub iterations: u64,
    /// Pairs of games between two moves.
    #[serde(default = "default_pairs")]
    pub pairs_per_iteration: u64,
    /// Nodes a move, for both players.
    #[serde(default = "default_nodes")]
    pub nodes: u64,
    /// Size of a player's table, in mebibytes.
    #[serde(default = "default_table")]
    pub table_mebibytes: usize,
    /// Exponent of the step.
    #[serde(default = "default_alpha")]
    pub alpha: f64,
    /// Exponent of the perturbation.
    #[serde(default = "default_gamma")]
    pub gamma: f64,
    /// A as a part of all pairs.
    #[serde(default = "default_a_ratio")]
    pub a_ratio: f64,
    /// Search file to start from; the defaults if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// Weights to start from: `shipped`, `a-priori` or a file; the best known if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// Where games begin.
    #[serde(default)]
    pub openings: OpeningSource,
    /// When they are ended early.
    #[serde(default)]
    pub adjudication: Adjudication,
    /// The match at the end; none if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<Confirm>,
    /// What is tuned.
    #[serde(default)]
    pub parameters: Vec<Parameter>,
}

/// One number to be tuned. What is left out has a default that depends on the number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Where it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<f64>,
    /// Its least value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Its greatest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// How far it is tried out to both sides at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c_end: Option<f64>,
    /// The step at the end, in parts of `c_end`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r_end: Option<f64>,
}

/// The match of the tuned against the old values: a sequential test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confirm {
    /// The Elo difference under H0.
    pub elo0: f64,
    /// The Elo difference under H1.
    pub elo1: f64,
    /// What an Elo is.
    #[serde(default)]
    pub model: EloModel,
    /// Probability of accepting H1 at `elo0`.
    #[serde(default = "SprtSettings::usual_error")]
    pub alpha: f64,
    /// Probability of accepting H0 at `elo1`.
    #[serde(default = "SprtSettings::usual_error")]
    pub beta: f64,
    /// Pairs after which it ends undecided.
    #[serde(default = "default_max_pairs")]
    pub max_pairs: u64,
}

impl Confirm {
    /// The test.
    #[must_use]
    pub const fn sprt(&self) -> SprtSettings {
        let Self { elo0, elo1, model, alpha, beta, .. } = *self;
        SprtSettings { elo0, elo1, alpha, beta, model, minimum: 0 }
    }
}

const fn default_pairs() -> u64 {
    8
}

const fn default_nodes() -> u64 {
    500
}

const fn default_table() -> usize {
    1
}

const fn default_alpha() -> f64 {
    Schedule::ALPHA
}

const fn default_gamma() -> f64 {
    Schedule::GAMMA
}

const fn default_a_ratio() -> f64 {
    Schedule::A_RATIO
}

const fn default_max_pairs() -> u64 {
    10_000
}

/// Everything wrong with a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub struct Faults(pub Vec<String>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl Faults {
    /// Notes a fault if something does not hold.
    pub(super) fn require(&mut self, holds: bool, key: &str, expected: impl fmt::Display, got: impl fmt::Display) {
        if !holds {
            self.0.push(format!("{key}: expected {expected}, got {got}"));
        }
    }

    /// Notes an error.
    pub(super) fn note(&mut self, error: impl fmt::Display) {
        self.0.push(error.to_string());
    }
}

impl Plan {
    /// Reads the text of a plan. Numbers may still be out of their ranges: [`super::Setup::new`] looks at these.
    ///
    /// # Errors
    /// The text is no plan. All unknown keys are told, each with its line and the nearest known one.
    pub fn read(text: &str) -> Result<Self, Faults> {
        let document = DeTable::parse(text).map_err(|error| Faults(vec![error.to_string().trim_end().to_owned()]))?;
        let mut strangers = Strangers { text, faults: Vec::new() };
        strangers.look("", document.get_ref(), &Self::every_key());
        let mut faults = strangers.in_order();
        match toml::from_str::<toml::Table>(text).and_then(|mut table| {
            keep_known(&mut table, &Self::every_key());
            table.try_into::<Self>()
        }) {
            Ok(plan) if faults.0.is_empty() => return Ok(plan),
            Ok(_) => {}
            Err(error) => faults.note(error.to_string().trim_end()),
        }
        Err(faults)
    }

    /// A plan in which every key is there.
    fn every_key() -> toml::Table {
        let number = Some(0.0);
        let parameter =
            Parameter { name: String::new(), start: number, min: number, max: number, c_end: number, r_end: number };
        let sprt = SprtSettings::new(0.0, 1.0);
        let confirm = Confirm {
            elo0: sprt.elo0,
            elo1: sprt.elo1,
            model: sprt.model,
            alpha: sprt.alpha,
            beta: sprt.beta,
            max_pairs: 0,
        };
        let plan = Self {
            format: FORMAT,
            variant: String::new(),
            seed: 0,
            iterations: 0,
            pairs_per_iteration: 0,
            nodes: 0,
            table_mebibytes: 0,
            alpha: 0.0,
            gamma: 0.0,
            a_ratio: 0.0,
            search: Some(String::new()),
            weights: Some(String::new()),
            openings: OpeningSource::default(),
            adjudication: Adjudication {
                endgames: Some(PathBuf::new()),
                endgames_digest: Some(String::new()),
                ..Adjudication::default()
            },
            confirm: Some(confirm),
            parameters: vec![parameter],
        };
        let mut table = toml::Table::try_from(plan).expect("a plan is a table");
        let file = OpeningFile { digest: Some(String::new()), plies: Some(0), ..OpeningFile::new("") };
        let file = toml::Table::try_from(OpeningSource::File(file)).expect("openings are a table");
        if let Some(openings) = table.get_mut("openings").and_then(toml::Value::as_table_mut) {
            openings.extend(file);
        }
        table
    }
}

/// Finds keys that nobody knows.
struct Strangers<'a> {
    text: &'a str,
    /// Line by line, what is wrong there.
    faults: Vec<(usize, String)>,
}

impl Strangers<'_> {
    fn look(&mut self, path: &str, table: &DeTable<'_>, known: &toml::Table) {
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            match known.get(name) {
                None => self.refuse(path, key.span().start, name, known),
                Some(toml::Value::Table(inner)) => self.inside(&format!("{path}{name}."), value, inner),
                Some(toml::Value::Array(examples)) => self.each(&format!("{path}{name}."), value, examples),
                Some(_) => {}
            }
        }
    }

    fn inside(&mut self, path: &str, value: &Spanned<DeValue<'_>>, known: &toml::Table) {
        if let DeValue::Table(table) = value.get_ref() {
            self.look(path, table, known);
        }
    }

    fn each(&mut self, path: &str, value: &Spanned<DeValue<'_>>, examples: &[toml::Value]) {
        let (DeValue::Array(items), Some(toml::Value::Table(known))) = (value.get_ref(), examples.first()) else {
            return;
        };
        items.iter().for_each(|item| self.inside(path, item, known));
    }

    fn refuse(&mut self, path: &str, offset: usize, name: &str, known: &toml::Table) {
        let line = 1 + self.text.bytes().take(offset).filter(|&byte| byte == b'\n').count();
        let nearest = known.keys().min_by_key(|known| strsim::osa_distance(name, known));
        let nearest = nearest.map_or("", String::as_str);
        self.faults.push((line, format!("unknown key `{path}{name}`, did you mean `{path}{nearest}`?")));
    }

    fn in_order(mut self) -> Faults {
        self.faults.sort();
        Faults(self.faults.into_iter().map(|(line, fault)| format!("line {line}: {fault}")).collect())
    }
}

/// Strangers have been told; what is left may have other faults.
fn keep_known(table: &mut toml::Table, known: &toml::Table) {
    table.retain(|key, _| known.contains_key(key));
    for (key, value) in table {
        match (value, known.get(key)) {
            (toml::Value::Table(inner), Some(toml::Value::Table(known))) => keep_known(inner, known),
            (toml::Value::Array(items), Some(toml::Value::Array(examples))) => {
                let Some(toml::Value::Table(known)) = examples.first() else { continue };
                items.iter_mut().filter_map(toml::Value::as_table_mut).for_each(|item| keep_known(item, known));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: &str = "format = 1\nvariant = \"chess\"\nseed = 1\niterations = 10\n";

    #[test]
    fn a_short_plan_has_defaults_and_reads_back() {
        let text =
            format!("{SHORT}[confirm]\nelo0 = 0\nelo1 = 5\n[[parameters]]\nname = \"late_move_base\"\nmax = 40\n");
        let plan = Plan::read(&text).unwrap();
        assert_eq!((plan.pairs_per_iteration, plan.nodes, plan.weights.as_deref()), (8, 500, None));
        assert_eq!((plan.alpha, plan.gamma, plan.a_ratio), (0.602, 0.101, 0.1));
        assert_eq!(plan.parameters[0].max, Some(40.0));
        assert_eq!(plan.confirm.unwrap().model, EloModel::Normalized);
        assert_eq!(Plan::read(&toml::to_string(&plan).unwrap()), Ok(plan));
    }

    #[test]
    fn all_unknown_keys_are_told_with_line_and_nearest() {
        let text = format!(
            "{SHORT}ndoes = 5\n[openings.random]\nleast = 3\n[openings.random.imbalance]\nshare = 0.1\nshar = 1\n[[parameters]]\nname = \"a\"\n[[parameters]]\nname = \"b\"\ncend = 3\n"
        );
        let Faults(faults) = Plan::read(&text).unwrap_err();
        let expected = [
            "line 5: unknown key `ndoes`, did you mean `nodes`?",
            "line 7: unknown key `openings.random.least`, did you mean",
            "line 10: unknown key `openings.random.imbalance.shar`, did you mean `openings.random.imbalance.share`?",
            "line 15: unknown key `parameters.cend`, did you mean `parameters.c_end`?",
        ];
        assert_eq!(faults.len(), expected.len(), "{faults:#?}");
        for expected in expected {
            assert!(faults.iter().any(|fault| fault.starts_with(expected)), "{expected}: {faults:#?}");
        }
    }

    #[test]
    fn a_wrong_type_is_told_beside_unknown_keys() {
        let Faults(faults) =
            Plan::read(&SHORT.replace("10", "\"ten\"").replace("seed = 1", "seed = 1\nsede = 2")).unwrap_err();
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(Plan::read("format = 1\nvariant").is_err());
        assert!(Plan::read(&SHORT.replace("seed = 1\n", "")).unwrap_err().to_string().contains("seed"));
    }
}
