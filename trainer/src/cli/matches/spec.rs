//! A player as the command line says it: words like `name=value`, quoted as in a shell where a value holds blanks.
//!
//! ```text
//! weights=new.toml search=fast.toml option.late_move_base=20 nodes=500 hash=16 name=new
//! cmd='./engine --quiet' dir=/opt/engine option.Hash=64 tc=10+0.1
//! ```
//!
//! With `cmd` it is a program outside, without it our engine.

use crate::arena::external::{Proto, ProtoError};
use crate::play::{Allowance, TimeControl};
use std::path::PathBuf;

/// Keys that any player may have.
const COMMON: [&str; 4] = ["name", "nodes", "depth", "tc"];
/// Keys of our own engine.
const OWN: [&str; 3] = ["weights", "search", "hash"];
/// Keys of programs outside.
const OUTSIDE: [&str; 3] = ["cmd", "dir", "proto"];
/// What the names of options begin with.
const OPTION: &str = "option.";

/// A player as it was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PlayerSpec {
    /// `name`
    pub name: Option<String>,
    /// `nodes`, `depth`, `tc`
    pub limits: Allowance,
    /// `weights`
    pub weights: Option<PathBuf>,
    /// `search`
    pub search: Option<PathBuf>,
    /// `hash`, in mebibytes.
    pub hash: Option<usize>,
    /// `cmd`
    pub cmd: Option<String>,
    /// `dir`
    pub dir: Option<PathBuf>,
    /// `proto`
    pub proto: Option<Proto>,
    /// `option.NAME`, in the order given.
    pub options: Vec<(String, String)>,
}

/// Why a player was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SpecError {
    #[error("expected words with quotes in pairs, got {0:?}")]
    Quotes(String),
    #[error("expected KEY=VALUE, got {0:?}")]
    NoValue(String),
    #[error("expected one of {known}, {OPTION}NAME, got {got:?}; did you mean {nearest}?")]
    Unknown { known: String, got: String, nearest: String },
    #[error("{key}: given twice")]
    Twice { key: String },
    #[error("{key}: expected {expected}, got {got:?}")]
    Value { key: String, expected: &'static str, got: String },
    #[error("{0}")]
    Time(#[from] crate::play::AllowanceError),
    #[error("{0}")]
    Proto(#[from] ProtoError),
    #[error("{key}: expected for {wants} only (a player with cmd is a program outside)")]
    OtherKind { key: &'static str, wants: &'static str },
}

impl std::str::FromStr for PlayerSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let words = shlex::split(text).ok_or_else(|| SpecError::Quotes(text.to_owned()))?;
        let mut spec = Self::default();
        let mut keys = Vec::new();
        for word in &words {
            let (key, value) = word.split_once('=').ok_or_else(|| SpecError::NoValue(word.clone()))?;
            if keys.contains(&key) {
                return Err(SpecError::Twice { key: key.to_owned() });
            }
            keys.push(key);
            spec.set(key, value)?;
        }
        let outside = keys.contains(&"cmd");
        let (strangers, wants) = if outside { (OWN, "our engine") } else { (OUTSIDE, "a program outside") };
        match strangers.into_iter().find(|key| *key != "cmd" && keys.contains(key)) {
            Some(key) => Err(SpecError::OtherKind { key, wants }),
            None => Ok(spec),
        }
    }
}

impl PlayerSpec {
    fn set(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        match key {
            "name" => self.name = Some(name(value)?.to_owned()),
            "nodes" => self.limits.nodes = Some(number(key, value)?),
            "depth" => self.limits.depth = Some(number(key, value)?),
            "tc" => self.limits.time = Some(value.parse::<TimeControl>()?),
            "weights" => self.weights = Some(not_empty(key, value)?.into()),
            "search" => self.search = Some(not_empty(key, value)?.into()),
            "hash" => self.hash = Some(number(key, value)?),
            "cmd" => self.cmd = Some(not_empty(key, value)?.to_owned()),
            "dir" => self.dir = Some(not_empty(key, value)?.into()),
            "proto" => self.proto = Some(value.parse()?),
            _ => match key.strip_prefix(OPTION).filter(|name| !name.is_empty()) {
                Some(name) => self.options.push((name.to_owned(), value.to_owned())),
                None => return Err(unknown(key)),
            },
        }
        Ok(())
    }
}

fn unknown(got: &str) -> SpecError {
    let known = || COMMON.iter().chain(&OWN).chain(&OUTSIDE);
    let nearest = known().min_by_key(|key| strsim::osa_distance(key, got)).copied().unwrap_or_default();
    let known = known().copied().collect::<Vec<_>>().join(", ");
    SpecError::Unknown { known, got: got.to_owned(), nearest: nearest.to_owned() }
}

fn not_empty<'a>(key: &str, value: &'a str) -> Result<&'a str, SpecError> {
    let refused = || SpecError::Value { key: key.to_owned(), expected: "a value", got: value.to_owned() };
    (!value.is_empty()).then_some(value).ok_or_else(refused)
}

/// A name that can stand in a table.
fn name(value: &str) -> Result<&str, SpecError> {
    let refused = || SpecError::Value { key: "name".to_owned(), expected: "one line of text", got: value.to_owned() };
    let fits = !value.trim().is_empty() && !value.chars().any(char::is_control);
    fits.then_some(value).ok_or_else(refused)
}

/// A whole number from 1 on.
fn number<T: TryFrom<u64>>(key: &str, value: &str) -> Result<T, SpecError> {
    let number = value.parse::<u64>().ok().filter(|number| *number > 0).and_then(|number| number.try_into().ok());
    let expected = "a whole number from 1 on";
    number.ok_or_else(|| SpecError::Value { key: key.to_owned(), expected, got: value.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read() {
        let spec: PlayerSpec =
            "name='my \"new\" one' weights=a/b.toml nodes=500 tc=10+0.1 option.late_move_base=20 hash=16 option.x= search=s.toml"
                .parse()
                .unwrap();
        assert_eq!(spec.name.as_deref(), Some("my \"new\" one"));
        assert_eq!(spec.limits, Allowance { nodes: Some(500), depth: None, time: Some("10+0.1".parse().unwrap()) });
        assert_eq!((spec.weights, spec.hash), (Some("a/b.toml".into()), Some(16)));
        assert_eq!(spec.options, [("late_move_base".into(), "20".into()), ("x".into(), String::new())]);
        assert_eq!("".parse(), Ok(PlayerSpec::default()));
    }

    #[test]
    fn nonsense_is_named() {
        for (text, told) in [
            ("weigths=x", "did you mean weights?"),
            ("nodes=0", "nodes: expected a whole number from 1 on, got \"0\""),
            ("nodes=x", "nodes: expected"),
            ("depth=99999999999", "depth: expected"),
            ("nodes=1 nodes=2", "nodes: given twice"),
            ("weights", "expected KEY=VALUE, got \"weights\""),
            ("name=", "name: expected one line of text"),
            ("name=' '", "name: expected one line of text"),
            ("name='a\nb'", "name: expected one line of text"),
            ("option.=3", "expected one of"),
            ("tc=fast", "expected a time control in seconds"),
            ("name='x", "quotes"),
            ("cmd=x proto=xboard", "proto uci"),
            ("cmd=x weights=y", "weights: expected for our engine only"),
            ("dir=/tmp", "dir: expected for a program outside only"),
        ] {
            let error = text.parse::<PlayerSpec>().unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
