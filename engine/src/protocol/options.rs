//! The options of the engine: how they are offered, and what an assignment asks for.

use super::command::{Assignment, repeated};
use crate::variant::Variant;
use std::fmt::Write;
use std::path::PathBuf;

/// The game of a fresh session: what interfaces that know nothing of variants expect.
pub(super) const DEFAULT_VARIANT: &str = "chess";
/// Size of the table of a fresh session, in mebibytes.
pub(super) const DEFAULT_HASH: usize = 16;
/// Greatest size of the table, in mebibytes.
const MOST_HASH: usize = 65_536;
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
    /// Forget what was searched.
    ClearHash,
}

/// Why an assignment was refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum OptionError {
    #[error("setoption: expected one of UCI_Variant, VariantPath, Hash, Weights, Clear Hash, got {0:?}")]
    Unknown(String),
    #[error("setoption {name}: expected a value, got none")]
    NoValue { name: &'static str },
    #[error("setoption Hash: expected a number of mebibytes from 1 to {MOST_HASH}, got {0:?}")]
    Hash(String),
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
    text.push_str("\noption name Clear Hash type button");
    text
}

/// What an assignment asks for. Names are read in either case, as the protocol wants.
pub(super) fn setting(assignment: &Assignment<'_>) -> Result<Setting, OptionError> {
    let text = |name| {
        let value = assignment.value.ok_or(OptionError::NoValue { name })?;
        Ok((!value.is_empty() && value != EMPTY).then(|| value.to_string()))
    };
    match assignment.name.to_ascii_lowercase().as_str() {
        "uci_variant" => Ok(Setting::Variant(text("UCI_Variant")?)),
        "variantpath" => Ok(Setting::Variant(text("VariantPath")?)),
        "weights" => Ok(Setting::Weights(text("Weights")?.map(Into::into))),
        "hash" => mebibytes(assignment.value.ok_or(OptionError::NoValue { name: "Hash" })?).map(Setting::Hash),
        "clear hash" => Ok(Setting::ClearHash),
        _ => Err(OptionError::Unknown(repeated(assignment.name))),
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
        assert_eq!(set("Threads", Some("2")), Err(OptionError::Unknown("Threads".into())));
    }

    #[test]
    fn the_default_variant_is_shipped() {
        assert!(Variant::shipped_names().any(|name| name == DEFAULT_VARIANT));
        assert_eq!(offer(std::iter::empty()).lines().count(), 5);
    }
}
