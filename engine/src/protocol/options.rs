//! The options of the engine: how they are offered, and what an assignment asks for.

use super::command::{Assignment, repeated};
use crate::search::Params;
use crate::search::params::{Param, ParamError};
use crate::variant::Variant;
use std::fmt::Write;
use std::path::PathBuf;

/// The game of a fresh session: what interfaces that know nothing of variants expect.
pub(super) const DEFAULT_VARIANT: &str = "chess";
/// Size of the table of a fresh session, in mebibytes.
pub(super) const DEFAULT_HASH: usize = 16;
/// Greatest size of the table, in mebibytes.
const MOST_HASH: usize = 65_536;
/// Greatest move number up to which a book may be asked, and the one of a fresh session: as far as any book goes.
pub(super) const MOST_BOOK_DEPTH: u32 = 1_000;
/// Greatest seed of a book: what every interface can hold.
pub(super) const MOST_BOOK_SEED: u64 = 2_147_483_647;
/// How the protocol writes an empty text.
const EMPTY: &str = "<empty>";

/// An option with its new value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Setting {
    /// A game by name or file; `None` changes nothing.
    Variant(Option<String>),
    /// The table's size in mebibytes.
    Hash(usize),
    /// A weights file; `None`: the best values known, shipped or a priori.
    Weights(Option<PathBuf>),
    /// A network file; `None`: weights.
    EvalFile(Option<PathBuf>),
    /// A search file; `None`: the defaults.
    SearchFile(Option<PathBuf>),
    /// A folder of endgame tables; `None`: no tables.
    EndgamePath(Option<PathBuf>),
    /// Something about the book.
    Book(BookSetting),
    /// One number of the search.
    Param(&'static Param, i32),
    /// Forget what was searched.
    ClearHash,
}

/// What is to change about the book.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BookSetting {
    /// Whether it is played from.
    Own(bool),
    /// Its file; `None`: no book.
    File(Option<PathBuf>),
    /// Last move number at which it is asked.
    Depth(u32),
    /// What decides between its moves; 0: always the likeliest.
    Seed(u64),
}

/// The options that are no numbers of the search.
const NAMES: [&str; 12] = [
    "UCI_Variant",
    "VariantPath",
    "Hash",
    "Weights",
    "EvalFile",
    "SearchFile",
    "EndgamePath",
    "OwnBook",
    "BookFile",
    "BookDepth",
    "BookSeed",
    "Clear Hash",
];

/// Why an assignment was refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum OptionError {
    #[error("setoption: expected one of {} or a parameter of the search, got {got:?}; the nearest is {nearest:?}", NAMES.join(", "))]
    Unknown { got: String, nearest: &'static str },
    #[error("setoption {name}: expected a value, got none")]
    NoValue { name: &'static str },
    #[error("setoption Hash: expected a number of mebibytes from 1 to {MOST_HASH}, got {0:?}")]
    Hash(String),
    #[error("setoption OwnBook: expected true or false, got {0:?}")]
    Check(String),
    #[error("setoption {name}: expected a whole number from 0 to {most}, got {got:?}")]
    BookNumber { name: &'static str, most: u64, got: String },
    #[error("setoption {name}: expected a whole number from {min} to {max}, got {got:?}", name = .param.name, min = .param.min, max = .param.max)]
    NoNumber { param: &'static Param, got: String },
    #[error("setoption {0}")]
    Param(#[from] ParamError),
}

/// The lines that offer the options; `from_files` are games to choose from besides the shipped ones.
pub(super) fn offer<'a>(from_files: impl Iterator<Item = &'a str>) -> String {
    let mut text = format!("option name UCI_Variant type combo default {DEFAULT_VARIANT}");
    let shipped = Variant::shipped_names().map(|name| -> &'a str { name });
    for name in shipped.chain(from_files) {
        let _ = write!(text, " var {name}");
    }
    let _ = write!(text, "\noption name VariantPath type string default {EMPTY}");
    let _ = write!(text, "\noption name Hash type spin default {DEFAULT_HASH} min 1 max {MOST_HASH}");
    let _ = write!(text, "\noption name Weights type string default {EMPTY}");
    let _ = write!(text, "\noption name EvalFile type string default {EMPTY}");
    let _ = write!(text, "\noption name SearchFile type string default {EMPTY}");
    let _ = write!(text, "\noption name EndgamePath type string default {EMPTY}");
    text.push_str("\noption name OwnBook type check default false");
    let _ = write!(text, "\noption name BookFile type string default {EMPTY}");
    let _ = write!(text, "\noption name BookDepth type spin default {MOST_BOOK_DEPTH} min 0 max {MOST_BOOK_DEPTH}");
    let _ = write!(text, "\noption name BookSeed type spin default 0 min 0 max {MOST_BOOK_SEED}");
    text.push_str("\noption name Clear Hash type button");
    for Param { name, default, min, max, .. } in Params::TABLE {
        let _ = write!(text, "\noption name {name} type spin default {default} min {min} max {max}");
    }
    text
}

/// What an assignment asks for. Names are read in either case, as the protocol wants.
pub(super) fn setting(assignment: &Assignment<'_>) -> Result<Setting, OptionError> {
    let text = |name| -> Result<Option<String>, OptionError> {
        let value = assignment.value.ok_or(OptionError::NoValue { name })?;
        Ok((!value.is_empty() && value != EMPTY).then(|| value.to_string()))
    };
    match assignment.name.to_ascii_lowercase().as_str() {
        "uci_variant" => Ok(Setting::Variant(text("UCI_Variant")?)),
        "variantpath" => Ok(Setting::Variant(text("VariantPath")?)),
        "weights" => Ok(Setting::Weights(text("Weights")?.map(Into::into))),
        "evalfile" => Ok(Setting::EvalFile(text("EvalFile")?.map(Into::into))),
        "hash" => mebibytes(assignment.value.ok_or(OptionError::NoValue { name: "Hash" })?).map(Setting::Hash),
        "searchfile" => Ok(Setting::SearchFile(text("SearchFile")?.map(Into::into))),
        "endgamepath" => Ok(Setting::EndgamePath(text("EndgamePath")?.map(Into::into))),
        "bookfile" => Ok(Setting::Book(BookSetting::File(text("BookFile")?.map(Into::into)))),
        "ownbook" | "bookdepth" | "bookseed" => book_setting(assignment).map(Setting::Book),
        "clear hash" => Ok(Setting::ClearHash),
        name => number(name, assignment),
    }
}

/// A number of the search, which is called as in search files, in either case.
fn number(name: &str, assignment: &Assignment<'_>) -> Result<Setting, OptionError> {
    let Some(param) = Params::TABLE.iter().find(|param| param.name.eq_ignore_ascii_case(name)) else {
        let known = NAMES.into_iter().chain(Params::TABLE.iter().map(|param| param.name));
        let nearest = known.min_by_key(|known| strsim::osa_distance(&known.to_ascii_lowercase(), name));
        return Err(OptionError::Unknown { got: repeated(assignment.name), nearest: nearest.unwrap_or_default() });
    };
    let value = assignment.value.ok_or(OptionError::NoValue { name: param.name })?;
    let number = value.parse().map_err(|_| OptionError::NoNumber { param, got: repeated(value) })?;
    Ok(Setting::Param(param, param.check(number)?))
}

fn book_setting(assignment: &Assignment<'_>) -> Result<BookSetting, OptionError> {
    let value = |name| assignment.value.ok_or(OptionError::NoValue { name });
    let number = |name, most| {
        let text = value(name)?;
        let number = text.parse().ok().filter(|number| *number <= most);
        number.ok_or_else(|| OptionError::BookNumber { name, most, got: repeated(text) })
    };
    match assignment.name.to_ascii_lowercase().as_str() {
        "ownbook" => check(value("OwnBook")?).map(BookSetting::Own),
        "bookdepth" => Ok(BookSetting::Depth(number("BookDepth", u64::from(MOST_BOOK_DEPTH))? as u32)),
        _ => number("BookSeed", MOST_BOOK_SEED).map(BookSetting::Seed),
    }
}

/// Interfaces write `true` and `false`, XBoard 1 and 0.
fn check(text: &str) -> Result<bool, OptionError> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(OptionError::Check(repeated(text))),
    }
}

fn mebibytes(text: &str) -> Result<usize, OptionError> {
    let size = text.parse().ok().filter(|size| (1..=MOST_HASH).contains(size));
    size.ok_or_else(|| OptionError::Hash(repeated(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, value: Option<&str>) -> Result<Setting, OptionError> {
        setting(&Assignment { name, value })
    }

    #[test]
    fn reads_values() {
        assert_eq!(set("hash", Some("64")), Ok(Setting::Hash(64)));
        assert_eq!(set("UCI_VARIANT", Some("herculean")), Ok(Setting::Variant(Some("herculean".into()))));
        assert_eq!(set("Weights", Some("<empty>")), Ok(Setting::Weights(None)));
        assert_eq!(set("Clear Hash", None), Ok(Setting::ClearHash));
        for value in ["0", "65537", "-1", "ten", "", "99999999999999999999"] {
            assert_eq!(set("Hash", Some(value)), Err(OptionError::Hash(value.into())));
        }
        assert_eq!(set("Hash", None), Err(OptionError::NoValue { name: "Hash" }));
        assert_eq!(set("SearchFile", Some("a b.toml")), Ok(Setting::SearchFile(Some("a b.toml".into()))));
        assert_eq!(set("searchfile", Some("<empty>")), Ok(Setting::SearchFile(None)));
        assert_eq!(set("evalfile", Some("my.net")), Ok(Setting::EvalFile(Some("my.net".into()))));
        assert_eq!(set("EvalFile", Some("<empty>")), Ok(Setting::EvalFile(None)));
        assert_eq!(set("EndgamePath", Some("my tables")), Ok(Setting::EndgamePath(Some("my tables".into()))));
        assert_eq!(set("endgamepath", Some("<empty>")), Ok(Setting::EndgamePath(None)));
        assert_eq!(set("OwnBook", Some("TRUE")), Ok(Setting::Book(BookSetting::Own(true))));
        assert_eq!(set("ownbook", Some("0")), Ok(Setting::Book(BookSetting::Own(false))));
        assert_eq!(set("OwnBook", Some("maybe")), Err(OptionError::Check("maybe".into())));
        assert_eq!(set("BookFile", Some("<empty>")), Ok(Setting::Book(BookSetting::File(None))));
        assert_eq!(
            set("bookfile", Some("my game.book")),
            Ok(Setting::Book(BookSetting::File(Some("my game.book".into()))))
        );
        assert_eq!(set("BookDepth", Some("12")), Ok(Setting::Book(BookSetting::Depth(12))));
        assert_eq!(set("BookSeed", Some("2147483647")), Ok(Setting::Book(BookSetting::Seed(MOST_BOOK_SEED))));
        for (name, value) in [("BookDepth", "1001"), ("BookDepth", "-1"), ("BookSeed", "x"), ("BookSeed", "2147483648")]
        {
            let error = set(name, Some(value)).unwrap_err().to_string();
            assert!(error.starts_with(&format!("setoption {name}: expected a whole number from 0 to ")), "{error}");
        }
        assert_eq!(set("BookSeed", None), Err(OptionError::NoValue { name: "BookSeed" }));
        let unknown = set("hahs", Some("2")).unwrap_err();
        assert_eq!(unknown, OptionError::Unknown { got: "hahs".into(), nearest: "Hash" });
    }

    #[test]
    fn reads_numbers_of_the_search() {
        for row in Params::TABLE {
            assert_eq!(set(row.name, Some(&row.max.to_string())), Ok(Setting::Param(row, row.max)));
            assert_eq!(set(&row.name.to_uppercase(), Some(&row.min.to_string())), Ok(Setting::Param(row, row.min)));
            for number in [row.min - 1, row.max + 1] {
                let error = set(row.name, Some(&number.to_string())).unwrap_err().to_string();
                let expected = format!("setoption {}: expected {} to {}, got {number}", row.name, row.min, row.max);
                assert_eq!(error, expected);
            }
        }
        let no_number = set("delta_margin", Some("wide")).unwrap_err().to_string();
        assert_eq!(no_number, "setoption delta_margin: expected a whole number from 0 to 600, got \"wide\"");
        assert_eq!(set("delta_margin", None), Err(OptionError::NoValue { name: "delta_margin" }));
        let unknown = set("Delta_Margn", Some("1")).unwrap_err().to_string();
        assert!(unknown.ends_with("got \"Delta_Margn\"; the nearest is \"delta_margin\""), "{unknown}");
    }

    #[test]
    fn the_default_variant_is_shipped() {
        assert!(Variant::shipped_names().any(|name| name == DEFAULT_VARIANT));
        assert_eq!(offer(std::iter::empty()).lines().count(), NAMES.len() + Params::TABLE.len());
    }
}
