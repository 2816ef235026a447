//! Claims files: TOML, read with all faults of the text told together, then checked against the game they are about.
//! Format: `docs/formats/claims.md`.

use super::check;
use super::language::{Claim, Part};
use crate::checksum::text_digest;
use fairyforge_engine::variant::{LoadError, Variant};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;
use toml::de::DeTable;

/// Version of the format.
pub const FORMAT: u32 = 1;

/// The arrays of tables of a file.
const CLAIM: &str = "claim";
const PART: &str = "part";
/// The keys that say what else a part has.
const KIND: &str = "kind";
const FACT: &str = "fact";

/// The claims about one game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimsFile {
    /// Format version.
    pub format: u32,
    /// Name or file of the game.
    pub variant: String,
    /// The experiment that measures what only play tells; `None` if no claim needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<PathBuf>,
    /// Who claims it.
    pub source: String,
    /// The claims, in their order.
    #[serde(rename = "claim", default)]
    pub claims: Vec<Claim>,
}

/// A claims file with its game, checked.
#[derive(Clone, Debug)]
pub struct ClaimSet {
    /// What the file says.
    pub file: ClaimsFile,
    /// Where it lies.
    pub path: PathBuf,
    /// The game.
    pub variant: Arc<Variant>,
}

/// Everything wrong with a claims file.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub struct Faults(pub Vec<String>);

/// Why a claims file was refused.
#[derive(Debug, thiserror::Error)]
pub enum ClaimsError {
    /// It could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// It is wrong.
    #[error("{}:\n{faults}", path.display())]
    Faulty {
        /// The file.
        path: PathBuf,
        /// All that is wrong.
        faults: Faults,
    },
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl Faults {
    /// Notes a fault if something does not hold.
    pub(super) fn require(&mut self, holds: bool, place: &str, expected: impl fmt::Display, got: impl fmt::Display) {
        if !holds {
            self.0.push(format!("{place}: expected {expected}, got {got}"));
        }
    }

    /// Notes an error.
    pub(super) fn note(&mut self, place: &str, error: impl fmt::Display) {
        self.0.push(format!("{place}: {}", error.to_string().trim_end()));
    }
}

impl ClaimSet {
    /// A digest of what is claimed and how it is read, whatever its layout: who changes a claim after seeing figures leaves a trace.
    #[must_use]
    pub fn digest(&self) -> String {
        text_digest(&serde_json::json!(self.file).to_string())
    }

    /// Reads a claims file and checks it against its game.
    ///
    /// # Errors
    /// It cannot be read, or all that is wrong with it.
    pub fn load(path: &Path) -> Result<Self, ClaimsError> {
        let read = |source| ClaimsError::Read { path: path.to_owned(), source };
        let faulty = |faults| ClaimsError::Faulty { path: path.to_owned(), faults };
        let text = std::fs::read_to_string(path).map_err(read)?;
        let file = ClaimsFile::read(&text).map_err(faulty)?;
        Self::new(file, path).map_err(faulty)
    }

    /// Checks what a claims file says that lies at `path`; files that it names may lie beside it.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn new(file: ClaimsFile, path: &Path) -> Result<Self, Faults> {
        let variant = load_variant(&file.variant, path).map_err(|error| Faults(vec![format!("variant: {error}")]))?;
        let set = Self { file, path: path.to_owned(), variant: Arc::new(variant) };
        match check::faults(&set) {
            Faults(faults) if faults.is_empty() => Ok(set),
            faults => Err(faults),
        }
    }

    /// Where the experiment lies that measures what only play tells.
    #[must_use]
    pub fn experiment(&self) -> Option<PathBuf> {
        self.file.experiment.as_ref().map(|name| self.path.with_file_name("").join(name))
    }

    /// A game that a claim names: a shipped one, or a file as seen from this one or else from where the program runs.
    ///
    /// # Errors
    /// There is no such game, or its file is faulty.
    pub fn named(&self, name: &str) -> Result<Arc<Variant>, LoadError> {
        load_variant(name, &self.path).map(Arc::new)
    }
}

fn load_variant(name: &str, path: &Path) -> Result<Variant, LoadError> {
    let beside = path.with_file_name("").join(name);
    let is_file = name.ends_with(".toml") && beside.is_file();
    Variant::load(&if is_file { beside.to_string_lossy() } else { name.into() })
}

impl ClaimsFile {
    /// Reads the text of a claims file. Names and numbers may still make no sense: [`ClaimSet::new`] looks at these.
    ///
    /// # Errors
    /// All that is wrong with the text: unknown keys with their line and the nearest known one, what is missing or of a wrong type with
    /// the claim where that is.
    pub fn read(text: &str) -> Result<Self, Faults> {
        let document = DeTable::parse(text).map_err(|error| Faults(vec![error.to_string().trim_end().to_owned()]))?;
        let mut strangers = Strangers { text, faults: Vec::new() };
        strangers.look(document.get_ref());
        let mut faults = strangers.in_order();
        let table: toml::Table = toml::from_str(text).map_err(|error| Faults(vec![error.to_string()]))?;
        match Self::from_table(table, &mut faults) {
            Some(file) if faults.0.is_empty() => Ok(file),
            _ => Err(faults),
        }
    }

    /// The file piece by piece, so that a fault in one hides none in the others.
    fn from_table(mut table: toml::Table, faults: &mut Faults) -> Option<Self> {
        let claims = take_tables(&mut table, CLAIM, "", faults);
        let file: Option<Self> = piece("file", table, faults);
        let claims = claims.into_iter().zip(1..).map(|(claim, number)| claim_of(claim, number, faults));
        let claims: Vec<Option<Claim>> = claims.collect();
        Some(Self { claims: claims.into_iter().collect::<Option<_>>()?, ..file? })
    }
}

fn claim_of(mut table: toml::Table, number: usize, faults: &mut Faults) -> Option<Claim> {
    let id = table.get("id").and_then(toml::Value::as_str).map_or_else(|| format!("number {number}"), str::to_owned);
    let place = format!("claim {id}");
    let parts = take_tables(&mut table, PART, &place, faults);
    table.insert(PART.to_owned(), toml::Value::Array(Vec::new()));
    let claim: Option<Claim> = piece(&place, table, faults);
    let parts = parts.into_iter().zip(1..).map(|(part, number)| part_of(&place, part, number, faults));
    let parts: Vec<Option<Part>> = parts.collect();
    Some(Claim { parts: parts.into_iter().collect::<Option<_>>()?, ..claim? })
}

/// A part of a kind that exists; unknown kinds have been told already.
fn part_of(claim: &str, table: toml::Table, number: usize, faults: &mut Faults) -> Option<Part> {
    let is_known = Kinds::of(|key| table.get(key).and_then(toml::Value::as_str)).is_ok();
    if is_known { piece(&format!("{claim}, part {number}"), table, faults) } else { None }
}

/// An array of tables; what is none is told.
fn take_tables(table: &mut toml::Table, key: &str, place: &str, faults: &mut Faults) -> Vec<toml::Table> {
    let separator = if place.is_empty() { "" } else { ", " };
    let place = format!("{place}{separator}{key}");
    let expected = format!("tables [[{}]]", if key == CLAIM { CLAIM.to_owned() } else { format!("{CLAIM}.{key}") });
    match table.remove(key) {
        Some(toml::Value::Array(items)) => {
            let is_table = items.iter().all(toml::Value::is_table);
            faults.require(is_table, &place, &expected, "something else among them");
            items.into_iter().filter_map(|item| item.try_into().ok()).collect()
        }
        Some(other) => {
            faults.require(false, &place, &expected, other.type_str());
            Vec::new()
        }
        None => {
            faults.require(false, &place, &expected, "none");
            Vec::new()
        }
    }
}

fn piece<T: for<'a> Deserialize<'a>>(place: &str, table: toml::Table, faults: &mut Faults) -> Option<T> {
    table.try_into().map_err(|error: toml::de::Error| faults.note(place, error)).ok()
}

/// What kinds of parts there are, and which keys they have: those of the examples.
struct Kinds;

impl Kinds {
    /// The keys of a part that has these values under `kind` and `fact`.
    ///
    /// # Errors
    /// The key whose value is missing or unknown, that value, and those that it could have.
    fn of<'a>(
        value: impl Fn(&str) -> Option<&'a str>,
    ) -> Result<toml::Table, (&'static str, Option<&'a str>, Vec<String>)> {
        let mut examples: Vec<toml::Table> = Part::examples()
            .into_iter()
            .map(|part| toml::Table::try_from(part).expect("a part is a table with text for keys"))
            .collect();
        for key in [KIND, FACT] {
            let words: Vec<String> = examples.iter().filter_map(|example| word(example, key)).collect();
            if words.is_empty() {
                break;
            }
            let got = value(key);
            examples.retain(|example| word(example, key).as_deref() == got);
            if examples.is_empty() {
                return Err((key, got, words));
            }
        }
        Ok(examples.swap_remove(0))
    }
}

fn word(table: &toml::Table, key: &str) -> Option<String> {
    table.get(key).and_then(toml::Value::as_str).map(str::to_owned)
}

/// Finds keys and kinds that nobody knows.
struct Strangers<'a> {
    text: &'a str,
    /// Line by line, what is wrong there.
    faults: Vec<(usize, String)>,
}

impl Strangers<'_> {
    fn look(&mut self, file: &DeTable<'_>) {
        self.keys("", file, &["format", "variant", "experiment", "source", CLAIM]);
        for claim in tables(file, CLAIM) {
            self.keys("claim.", claim.get_ref(), &["id", "text", "reading", PART]);
            for part in tables(claim.get_ref(), PART) {
                self.part(&part);
            }
        }
    }

    fn part(&mut self, part: &Spanned<&DeTable<'_>>) {
        match Kinds::of(|key| part.get_ref().get(key).and_then(|value| value.get_ref().as_str())) {
            Ok(example) => {
                let known: Vec<&str> = example.keys().map(String::as_str).collect();
                self.keys("claim.part.", part.get_ref(), &known);
            }
            Err((key, Some(got), words)) => {
                let at = part.get_ref().get(key).map_or(part.span().start, |value| value.span().start);
                let nearest = nearest(got, words.iter().map(String::as_str));
                self.tell(
                    at,
                    format!("{key}: expected one of {}, got {got:?}, did you mean {nearest:?}?", list(&words)),
                );
            }
            Err((key, None, words)) => {
                self.tell(part.span().start, format!("{key}: expected one of {}, got none", list(&words)));
            }
        }
    }

    fn keys(&mut self, path: &str, table: &DeTable<'_>, known: &[&str]) {
        for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let name = key.get_ref().as_ref();
            let nearest = nearest(name, known.iter().copied());
            self.tell(key.span().start, format!("unknown key `{path}{name}`, did you mean `{path}{nearest}`?"));
        }
    }

    fn tell(&mut self, offset: usize, fault: String) {
        let line = 1 + self.text.bytes().take(offset).filter(|&byte| byte == b'\n').count();
        self.faults.push((line, fault));
    }

    fn in_order(mut self) -> Faults {
        self.faults.sort();
        Faults(self.faults.into_iter().map(|(line, fault)| format!("line {line}: {fault}")).collect())
    }
}

/// The tables of an array; what else is there is told when the pieces are read.
fn tables<'a, 'i>(table: &'a DeTable<'i>, key: &str) -> impl Iterator<Item = Spanned<&'a DeTable<'i>>> {
    let items = table.get(key).and_then(|value| value.get_ref().as_array()).into_iter().flatten();
    items.filter_map(|item| item.get_ref().as_table().map(|table| Spanned::new(item.span(), table)))
}

/// The known word nearest to one that is not known.
pub(super) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> &'a str {
    known.min_by_key(|known| strsim::osa_distance(word, known)).unwrap_or_default()
}

fn list(words: &[String]) -> String {
    words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ")
}
