//! The journal of a tuning run, `tune.jsonl`: a header that says what is tuned, then a line an iteration, appended and
//! synced when its games are over. Everything else is made from it, and it proves itself: [`read`] makes each line
//! again from the pairs' results alone and accepts only what comes out the same to the last byte.

use super::objective::PairResult;
use super::spsa::Setting;
use super::tuner::{Trial, Tuner};
use crate::run_dir::{FileError, append_line, continue_lines, drop_torn_line};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Version of the format.
pub const FORMAT: u32 = 1;
/// What the header says the file is.
const KIND: &str = "spsa";

/// The first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Format version.
    pub format: u32,
    /// `spsa`.
    pub kind: String,
    /// The variant's name.
    pub variant: String,
    /// The variant's rules hash.
    pub rules_hash: String,
    /// Seed of the run.
    pub seed: u64,
    /// Version of the program that began the journal.
    pub program: String,
    /// Iterations in all.
    pub iterations: u64,
    /// Pairs of games in each.
    pub pairs_per_iteration: u64,
    /// Exponent of the step.
    pub alpha: f64,
    /// Exponent of the perturbation.
    pub gamma: f64,
    /// A as a part of all pairs.
    pub a_ratio: f64,
    /// What is tuned.
    pub parameters: Vec<HeaderParameter>,
}

/// One parameter in the header.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeaderParameter {
    /// Its name.
    pub name: String,
    /// Where it starts, its bounds and gains.
    #[serde(flatten)]
    pub setting: Setting,
}

/// What of a header does not follow from the mathematics.
#[derive(Clone, Copy, Debug)]
pub struct Provenance<'a> {
    /// The variant's name.
    pub variant: &'a str,
    /// The variant's rules hash.
    pub rules_hash: &'a str,
    /// Seed of the run.
    pub seed: u64,
    /// Version of the program.
    pub program: &'a str,
}

impl Header {
    /// The header of a run.
    #[must_use]
    pub fn new(provenance: Provenance, names: &[String], tuner: &Tuner) -> Self {
        let Provenance { variant, rules_hash, seed, program } = provenance;
        let schedule = tuner.schedule();
        let each = names.iter().cloned().zip(tuner.settings());
        Self {
            format: FORMAT,
            kind: KIND.into(),
            variant: variant.into(),
            rules_hash: rules_hash.into(),
            seed,
            program: program.into(),
            iterations: tuner.iterations(),
            pairs_per_iteration: tuner.pairs_per_iteration(),
            alpha: schedule.alpha,
            gamma: schedule.gamma,
            a_ratio: schedule.a_ratio,
            parameters: each.map(|(name, &setting)| HeaderParameter { name, setting }).collect(),
        }
    }
}

/// One iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Iteration {
    /// Its number, from 1.
    pub iteration: u64,
    /// By parameter: 1 if the plus player had the higher value, −1 if the lower one.
    pub flips: Vec<i8>,
    /// What the plus player played with.
    #[serde(serialize_with = "plainly")]
    pub plus: Vec<f64>,
    /// What the minus player played with.
    #[serde(serialize_with = "plainly")]
    pub minus: Vec<f64>,
    /// The plus player's results, pair by pair.
    pub pairs: Vec<PairResult>,
    /// The parameters after it.
    pub theta: Vec<f64>,
}

impl Iteration {
    /// The plus player's wins less its losses.
    #[must_use]
    pub fn result(&self) -> i64 {
        self.pairs.iter().map(|pair| pair.points()).sum()
    }

    /// What became of a trial.
    #[must_use]
    pub fn new(number: u64, trial: Trial, pairs: Vec<PairResult>, tuner: &Tuner, theta: &[f64]) -> Self {
        let result = pairs.iter().map(|pair| pair.points()).sum();
        let theta = tuner.moved(number, theta, &trial.flips, result);
        Self { iteration: number, flips: trial.flips, plus: trial.plus, minus: trial.minus, pairs, theta }
    }
}

/// Whole numbers without a decimal point, as they are played.
fn plainly<S: serde::Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    /// Beyond it not every whole number is a double.
    const EXACT: f64 = 9e15;
    serializer.collect_seq(values.iter().map(|&value| {
        if value.fract() == 0.0 && value.abs() < EXACT {
            serde_json::Value::from(value as i64)
        } else {
            serde_json::Value::from(value)
        }
    }))
}

/// Why a journal was refused.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The disk refuses.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is no header yet.
    #[error("{}: expected the header of a tuning run, got an empty file", .0.display())]
    Empty(PathBuf),
    /// A line is not what it must be.
    #[error("{}, line {line}: expected {expected}, got {got}", path.display())]
    Line {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What belongs there.
        expected: String,
        /// What is there.
        got: String,
    },
}

/// A journal's lines made again, one after the other.
struct Replay<'a> {
    tuner: &'a Tuner,
    theta: Vec<f64>,
    next: u64,
}

impl Replay<'_> {
    /// The next iteration, if this is its line.
    fn line(&mut self, text: &str) -> Result<Iteration, (String, String)> {
        let found: Iteration =
            serde_json::from_str(text).map_err(|error| ("an iteration".into(), error.to_string()))?;
        let mismatch = |expected: String, got: String| Err((expected, got));
        if found.iteration != self.next || self.next > self.tuner.iterations() {
            return mismatch(self.expected_number(), format!("iteration {}", found.iteration));
        }
        let (size, pairs) = (self.tuner.pairs_per_iteration(), found.pairs);
        if pairs.len() as u64 != size {
            return mismatch(format!("{size} pairs"), pairs.len().to_string());
        }
        if let Some(PairResult(games)) = pairs.iter().find(|pair| !pair.is_possible()) {
            return mismatch("results of -1, 0 or 1".into(), format!("{games:?}"));
        }
        let trial = self.tuner.trial(self.next, &self.theta);
        let made = Iteration::new(self.next, trial, pairs, self.tuner, &self.theta);
        let again = line(&made);
        if again != text {
            return mismatch("what follows from seed, settings and results".into(), first_difference(&again, text));
        }
        self.theta.clone_from(&made.theta);
        self.next += 1;
        Ok(made)
    }

    fn expected_number(&self) -> String {
        let all = self.tuner.iterations();
        if self.next > all { format!("the end after {all} iterations") } else { format!("iteration {}", self.next) }
    }
}

/// Where two lines part, in words.
fn first_difference(expected: &str, got: &str) -> String {
    /// Characters shown on each side.
    const SHOWN: usize = 30;
    let same = expected.chars().zip(got.chars()).take_while(|(one, other)| one == other).count();
    let around = |text: &str| -> String { text.chars().skip(same.saturating_sub(SHOWN)).take(2 * SHOWN).collect() };
    format!("something else from character {}: `{}` and not `{}`", same + 1, around(got), around(expected))
}

/// A journal that is read.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Its header.
    pub header: Header,
    /// Its iterations in order.
    pub iterations: Vec<Iteration>,
    /// Whether a last line was cut off by a crash.
    pub is_torn: bool,
}

/// Reads a journal and makes it again. Changes nothing.
///
/// # Errors
/// It cannot be read, is of another run than `expected`, or a line does not follow from what stands before it.
pub fn read(path: &Path, expected: &Header, tuner: &Tuner) -> Result<Recorded, JournalError> {
    let text = std::fs::read_to_string(path).map_err(FileError::at("read", path))?;
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let mut lines = (1..).zip(whole.lines());
    let (_, first) = lines.next().ok_or_else(|| JournalError::Empty(path.to_owned()))?;
    let fault = |line, (expected, got)| JournalError::Line { path: path.to_owned(), line, expected, got };
    let header = same_header(first, expected).map_err(|mismatch| fault(1, mismatch))?;
    let mut replay = Replay { tuner, theta: tuner.start(), next: 1 };
    let iterations = lines.map(|(number, text)| replay.line(text).map_err(|mismatch| fault(number, mismatch)));
    Ok(Recorded { header, iterations: iterations.collect::<Result<_, _>>()?, is_torn: whole.len() < text.len() })
}

/// The header, if it is that of the run; another version of the program may have written it.
fn same_header(text: &str, expected: &Header) -> Result<Header, (String, String)> {
    let found: Header = serde_json::from_str(text).map_err(|error| ("a header".into(), error.to_string()))?;
    let again = header_line(&Header { program: found.program.clone(), ..expected.clone() });
    if again == text { Ok(found) } else { Err(("the header of this run".into(), first_difference(&again, text))) }
}

/// A journal to go on with.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// What is in it.
    iterations: Vec<Iteration>,
}

impl Journal {
    /// Opens a journal, or begins one with the header. A line cut off by a crash is dropped.
    ///
    /// # Errors
    /// As [`read`].
    pub fn open(path: &Path, header: &Header, tuner: &Tuner) -> Result<Self, JournalError> {
        drop_torn_line(path)?;
        let is_new = std::fs::metadata(path).map_or(true, |metadata| metadata.len() == 0);
        if is_new {
            append_line(path, &header_line(header))?;
        }
        let Recorded { iterations, .. } = read(path, header, tuner)?;
        Ok(Self { path: path.to_owned(), iterations })
    }

    /// The iterations so far.
    #[must_use]
    pub fn iterations(&self) -> &[Iteration] {
        &self.iterations
    }

    /// The iterations so far, for whoever needs no journal any more.
    #[must_use]
    pub fn into_iterations(self) -> Vec<Iteration> {
        self.iterations
    }

    /// Adds an iteration, on disk first.
    ///
    /// # Errors
    /// The line cannot be written.
    pub fn add(&mut self, iteration: Iteration) -> Result<(), FileError> {
        continue_lines(&self.path, &[line(&iteration)])?;
        self.iterations.push(iteration);
        Ok(())
    }
}

fn line(iteration: &Iteration) -> String {
    serde_json::to_string(iteration).expect("numbers serialise")
}

fn header_line(header: &Header) -> String {
    serde_json::to_string(header).expect("strings and numbers serialise")
}

#[cfg(test)]
mod tests {
    use super::super::spsa::Kind;
    use super::super::tuner::Course;
    use super::*;

    fn tuner() -> Tuner {
        let whole = Setting { start: 3.7, min: 0.0, max: 9.0, c_end: 1.0, r_end: 0.1, kind: Kind::Whole };
        let real = Setting { start: 0.1, c_end: 0.03, kind: Kind::Real, ..whole };
        Tuner::new(vec![whole, real], &Course::usual(6, 2, 9))
    }

    fn header(tuner: &Tuner) -> Header {
        let provenance = Provenance { variant: "chess", rules_hash: "0123", seed: 9, program: "0.1.0" };
        Header::new(provenance, &["one".into(), "other".into()], tuner)
    }

    /// A journal of so many iterations with changing results.
    fn written(path: &Path, iterations: u64) -> Vec<Iteration> {
        let tuner = tuner();
        let mut journal = Journal::open(path, &header(&tuner), &tuner).unwrap();
        for number in 1..=iterations {
            let theta = journal.iterations().last().map_or_else(|| tuner.start(), |last| last.theta.clone());
            let pairs = vec![PairResult([1, number as i8 % 2]), PairResult([0, -(number as i8 % 3 - 1)])];
            let trial = tuner.trial(number, &theta);
            journal.add(Iteration::new(number, trial, pairs, &tuner, &theta)).unwrap();
        }
        journal.iterations().to_vec()
    }

    #[test]
    fn what_is_written_reads_back_and_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tune.jsonl");
        let iterations = written(&path, 4);
        let recorded = read(&path, &header(&tuner()), &tuner()).unwrap();
        assert_eq!(recorded.iterations, iterations);
        assert!(!recorded.is_torn);
        // A torn line is no iteration, and is gone when the run goes on.
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{whole}{{\"iteration\":5,\"fli")).unwrap();
        assert!(read(&path, &header(&tuner()), &tuner()).unwrap().is_torn);
        assert_eq!(Journal::open(&path, &header(&tuner()), &tuner()).unwrap().iterations(), iterations);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
        // Another version of the program goes on where this one ended.
        let newer = Header { program: "0.2.0".into(), ..header(&tuner()) };
        assert!(read(&path, &newer, &tuner()).is_ok());
    }

    #[test]
    fn any_damage_is_named_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tune.jsonl");
        written(&path, 6);
        let whole = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = whole.lines().collect();
        let refused = |lines: Vec<String>| {
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            read(&path, &header(&tuner()), &tuner()).unwrap_err().to_string()
        };
        for line in 1..=lines.len() {
            let spoilt = |spoil: &dyn Fn(&str) -> String| {
                let spoilt =
                    |(number, text): (usize, &&str)| if number + 1 == line { spoil(text) } else { (*text).into() };
                lines.iter().enumerate().map(spoilt).collect::<Vec<String>>()
            };
            let digit = |text: &str| text.rfind(|letter: char| letter.is_ascii_digit()).unwrap();
            let other_digit = |text: &str| {
                let (at, mut spoilt) = (digit(text), text.to_owned());
                let other = if &text[at..=at] == "4" { "5" } else { "4" };
                spoilt.replace_range(at..=at, other);
                spoilt
            };
            let named = format!("line {line}:");
            for spoil in
                [&other_digit as &dyn Fn(&str) -> String, &|text| text[..text.len() - 1].into(), &|_| "{}".into()]
            {
                let error = refused(spoilt(spoil));
                assert!(error.contains(&named), "{named} {error}");
            }
        }
        let mut missing: Vec<String> = lines.iter().map(|&line| line.into()).collect();
        missing.remove(3);
        let error = refused(missing);
        assert!(error.contains("line 4: expected iteration 3, got iteration 4"), "{error}");
        let mut too_long: Vec<String> = lines.iter().map(|&line| line.into()).collect();
        too_long.push(lines[6].replace("\"iteration\":6", "\"iteration\":7"));
        let error = refused(too_long);
        assert!(error.contains("line 8: expected the end after 6 iterations"), "{error}");
        std::fs::write(&path, "").unwrap();
        assert!(matches!(read(&path, &header(&tuner()), &tuner()), Err(JournalError::Empty(_))));
    }

    #[test]
    fn a_changed_result_is_found_where_it_stands() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tune.jsonl");
        written(&path, 6);
        let whole = std::fs::read_to_string(&path).unwrap();
        let line = whole.lines().nth(2).unwrap();
        let changed = whole.replace(line, &line.replacen("[1,0]", "[1,1]", 1));
        assert_ne!(changed, whole);
        std::fs::write(&path, changed).unwrap();
        let error = read(&path, &header(&tuner()), &tuner()).unwrap_err().to_string();
        assert!(error.contains("line 3: expected what follows"), "{error}");
    }
}
