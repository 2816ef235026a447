//! Parameters on disk: the TOML of a search file (`docs/formats/search.md`), read with all its faults told together.

use super::{Param, ParamError, Params};
use std::fmt::Write;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Version of the file format.
const FORMAT: i64 = 1;
/// Most faults of one file that are told.
const MAX_FAULTS: usize = 50;
/// Characters of a name or text that a message repeats.
const MOST_REPEATED: usize = 40;
/// Width of the comments written.
const LINE: usize = 120;
/// Keys outside the table of parameters.
const KEYS: [&str; 3] = ["format", "about", "search"];

/// Why a search file was refused: every fault of it, in the order of its lines.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct ParamsError {
    /// The faults, at least one.
    pub faults: Vec<ParamsFault>,
}

/// One thing wrong with a search file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct ParamsFault {
    /// Its line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub reason: FaultReason,
}

/// Kinds of faults in a search file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultReason {
    /// Not TOML.
    #[error("expected TOML: {0}")]
    Syntax(String),
    /// The format's version is missing or another.
    #[error("expected format = {FORMAT}, got {0}")]
    Format(String),
    /// A key outside `[search]` that means nothing.
    #[error("expected one of format, about, search, got {got:?}; the nearest is {nearest:?}")]
    Key {
        /// What came.
        got: String,
        /// The key with the nearest name.
        nearest: &'static str,
    },
    /// A value of another type than the key takes.
    #[error("{key}: expected {expected}, got {got}")]
    Type {
        /// The key.
        key: String,
        /// What it takes.
        expected: &'static str,
        /// What came.
        got: String,
    },
    /// No such parameter, or a value out of its range.
    #[error("{0}")]
    Param(#[from] ParamError),
}

impl Params {
    /// Reads a search file: the defaults, with what the file says instead.
    ///
    /// # Errors
    /// The text is no search file. Unknown names are told with the nearest known one, values out of range with the range.
    ///
    /// ```
    /// use fairyforge_engine::search::Params;
    /// let params = Params::read("format = 1\n[search]\nlate_move_base = 12\n")?;
    /// assert_eq!(params.late_move_base, 12);
    /// assert_eq!(params.delta_margin, Params::default().delta_margin);
    /// # Ok::<(), fairyforge_engine::search::params::ParamsError>(())
    /// ```
    pub fn read(text: &str) -> Result<Self, ParamsError> {
        let mut reader = Reader { text, faults: Vec::new(), params: Self::default() };
        match DeTable::parse(text) {
            Ok(document) => reader.document(document.get_ref()),
            Err(error) => {
                let offset = error.span().map_or(0, |span| span.start);
                reader.refuse(offset, FaultReason::Syntax(error.message().trim().into()));
            }
        }
        reader.finish()
    }

    /// A whole search file: all parameters, each after a comment with its sentence and range. `about` says what these values are;
    /// empty, it is left out.
    pub fn to_toml(&self, about: &str) -> String {
        let mut text = format!("format = {FORMAT}\n");
        if !about.is_empty() {
            let _ = writeln!(text, "about = {}", toml::Value::from(about));
        }
        text.push_str("\n[search]\n");
        for (param, value) in self.values() {
            comment(&mut text, param);
            let _ = writeln!(text, "{} = {value}", param.name);
        }
        text
    }
}

/// The sentence and range of a parameter, as lines of comment.
fn comment(text: &mut String, param: &Param) {
    let Param { about, min, max, step, default, .. } = param;
    let sentence = format!("{about} From {min} to {max} in steps of {step}, by default {default}.");
    let mut line = String::from("#");
    for word in sentence.split(' ') {
        if line.len() + 1 + word.len() > LINE {
            let _ = writeln!(text, "{line}");
            line = "#".into();
        }
        let _ = write!(line, " {word}");
    }
    let _ = writeln!(text, "{line}");
}

/// A file being read.
struct Reader<'a> {
    text: &'a str,
    /// Faults with the offsets of what is at fault.
    faults: Vec<(usize, FaultReason)>,
    params: Params,
}

impl Reader<'_> {
    fn document(&mut self, document: &DeTable<'_>) {
        if !document.iter().any(|(key, _)| key.get_ref() == "format") {
            self.refuse(0, FaultReason::Format("no such key".into()));
        }
        for (key, value) in document {
            let offset = value.span().start;
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("format", DeValue::Integer(_)) if integer(value) == Some(FORMAT) => {}
                ("format", _) => self.refuse(offset, FaultReason::Format(describe(value))),
                ("about", DeValue::String(_)) => {}
                ("about", _) => self.refuse_type(value, "about", "a text"),
                ("search", DeValue::Table(table)) => self.search(table),
                ("search", _) => self.refuse_type(value, "search", "a table"),
                (other, _) => {
                    let nearest = nearest(other, KEYS);
                    self.refuse(key.span().start, FaultReason::Key { got: repeated(other), nearest });
                }
            }
        }
    }

    fn search(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let row = match Params::row(name) {
                Ok(row) => row,
                Err(unknown) => {
                    self.refuse(key.span().start, unknown.into());
                    continue;
                }
            };
            let Some(number) = integer(value) else {
                self.refuse_type(value, name, "a whole number");
                continue;
            };
            if let Err(error) = row.check(number).and_then(|number| self.params.set(name, number)) {
                self.refuse(value.span().start, error.into());
            }
        }
    }

    fn refuse_type(&mut self, value: &Spanned<DeValue<'_>>, key: &str, expected: &'static str) {
        self.refuse(value.span().start, FaultReason::Type { key: key.into(), expected, got: describe(value) });
    }

    fn refuse(&mut self, offset: usize, reason: FaultReason) {
        self.faults.push((offset, reason));
    }

    fn finish(mut self) -> Result<Params, ParamsError> {
        if self.faults.is_empty() {
            return Ok(self.params);
        }
        self.faults.sort_by_key(|&(offset, _)| offset);
        self.faults.truncate(MAX_FAULTS);
        let line = |offset: usize| 1 + self.text.bytes().take(offset).filter(|&byte| byte == b'\n').count();
        let faults = self.faults.into_iter().map(|(offset, reason)| ParamsFault { line: line(offset), reason });
        Err(ParamsError { faults: faults.collect() })
    }
}

/// A whole number, as near as sixty-four bits come; `None` for values of other types.
fn integer(value: &Spanned<DeValue<'_>>) -> Option<i64> {
    let DeValue::Integer(digits) = value.get_ref() else { return None };
    let saturated = if digits.as_str().starts_with('-') { i64::MIN } else { i64::MAX };
    Some(i64::from_str_radix(digits.as_str(), digits.radix()).unwrap_or(saturated))
}

fn describe(value: &Spanned<DeValue<'_>>) -> String {
    match value.get_ref() {
        DeValue::String(text) => format!("{:?}", repeated(text)),
        DeValue::Integer(digits) => repeated(digits.as_str()),
        DeValue::Boolean(claim) => claim.to_string(),
        DeValue::Float(_) => "a fraction".into(),
        DeValue::Datetime(_) => "a date".into(),
        DeValue::Array(_) => "a list".into(),
        DeValue::Table(_) => "a table".into(),
    }
}

/// The beginning of what came, for a message.
pub(super) fn repeated(text: &str) -> String {
    let mut short: String = text.chars().take(MOST_REPEATED).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// The nearest of the known names, of which there is at least one.
pub(super) fn nearest(word: &str, known: impl IntoIterator<Item = &'static str>) -> &'static str {
    let word: String = word.chars().take(MOST_REPEATED).collect();
    known.into_iter().min_by_key(|name| strsim::osa_distance(&word, name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        Params::read(text).unwrap_err().faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_written_reads_back() {
        let mut params = Params::default();
        for (row, value) in Params::TABLE.iter().zip((0..).map(|number| number % 2 == 0)) {
            params.set(row.name, if value { row.min } else { row.max }).unwrap();
        }
        let text = params.to_toml("odd \"ones\"\nand\\others");
        assert_eq!(Params::read(&text), Ok(params));
        assert_eq!(Params::read("format = 1"), Ok(Params::default()));
        assert!(!Params::default().to_toml("").contains("about"));
        for row in Params::TABLE {
            assert!(text.contains(&format!("\n{} = ", row.name)), "{}", row.name);
        }
        assert!(text.lines().all(|line| line.len() <= LINE), "{text}");
    }

    #[test]
    fn tells_all_faults_with_their_lines() {
        let text = "formt = 1\nformat = 2\nabout = 3\n\n[search]\nlate_move_bsae = 4\nlate_move_base = 4000\n\
                    delta_margin = \"many\"\nfutility_base = 1.5\ntime_most = 99999999999999999999\n";
        assert_eq!(
            faults(text),
            [
                "line 1: expected one of format, about, search, got \"formt\"; the nearest is \"format\"",
                "line 2: expected format = 1, got 2",
                "line 3: about: expected a text, got 3",
                "line 6: expected the name of a search parameter, got \"late_move_bsae\"; the nearest is \"late_move_base\"",
                "line 7: late_move_base: expected 1 to 90, got 4000",
                "line 8: delta_margin: expected a whole number, got \"many\"",
                "line 9: futility_base: expected a whole number, got a fraction",
                "line 10: time_most: expected 10 to 90, got 9223372036854775807",
            ]
        );
    }

    #[test]
    fn refuses_what_is_no_search_file() {
        assert_eq!(faults(""), ["line 1: expected format = 1, got no such key"]);
        assert_eq!(faults("format = 1\nsearch = 5\n"), ["line 2: search: expected a table, got 5"]);
        assert_eq!(faults("format = true"), ["line 1: expected format = 1, got true"]);
        assert!(faults("format = 1\n\n[search\n")[0].starts_with("line 3: expected TOML: "));
        assert!(faults("format = 1\n[search]\ndelta_margin = 1\ndelta_margin = 1\n")[0].starts_with("line 4: "));
    }
}
