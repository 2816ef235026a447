//! How an external engine is started: the part of a player's description that belongs to it, checked before anything runs.

use crate::checksum::{hex, sha256};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

/// How to start an external engine, and what to set in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineCommand {
    /// The program and its arguments as shell words; no shell runs.
    pub cmd: String,
    /// The folder it runs in, ours without it. A program named by a relative path is looked for from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<PathBuf>,
    /// Options by name, set before the first game.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
    /// What it speaks.
    #[serde(default)]
    pub proto: Proto,
}

/// Protocols that external engines may speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Proto {
    /// The Universal Chess Interface, with variants as Fairy-Stockfish does them.
    #[default]
    Uci,
}

/// Why a protocol's name was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtoError {
    /// The name of XBoard's protocol.
    #[error("expected proto uci, got {0:?}: engines that speak only XBoard's protocol cannot be players here")]
    Xboard(String),
    /// Any other name.
    #[error("expected proto uci, got {0:?}")]
    Unknown(String),
}

/// Why an engine's description was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// No word in it.
    #[error("expected a program to run in cmd, got nothing")]
    Empty,
    /// Words that do not end, or characters that no command has.
    #[error("expected shell words in cmd (quotes closed, nothing after a last backslash), got {0:?}")]
    Words(String),
    /// No such folder.
    #[error("expected a folder in dir, got {}", .0.display())]
    Folder(PathBuf),
    /// An option that no line of the protocol can carry.
    #[error("option {name:?}: expected a name and a value in one line of text each, got {value:?}")]
    Option {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
}

impl EngineCommand {
    /// An engine without arguments, folder and options of its own.
    pub fn new(cmd: impl Into<String>) -> Self {
        Self { cmd: cmd.into(), dir: None, options: BTreeMap::new(), proto: Proto::Uci }
    }

    /// Checks what can be checked without running anything.
    ///
    /// # Errors
    /// No program, quotes that do not end, no such folder, or an option of several lines.
    pub fn check(&self) -> Result<(), CommandError> {
        self.words()?;
        if let Some(dir) = self.dir.as_ref().filter(|dir| !dir.is_dir()) {
            return Err(CommandError::Folder(dir.clone()));
        }
        let fits = |text: &str| !text.chars().any(char::is_control);
        match self.options.iter().find(|(name, value)| name.trim().is_empty() || !fits(name) || !fits(value)) {
            Some((name, value)) => Err(CommandError::Option { name: name.clone(), value: value.clone() }),
            None => Ok(()),
        }
    }

    /// SHA-256 of the program's file in hexadecimal; `None` if it cannot be found or read.
    pub fn program_digest(&self) -> Option<String> {
        let words = self.words().ok()?;
        let program = Path::new(words.first()?);
        let folder = self.dir.as_deref().unwrap_or(Path::new("."));
        let file = if program.components().count() > 1 {
            folder.join(program)
        } else {
            let path = std::env::var_os("PATH")?;
            std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())?
        };
        Some(hex(&sha256(&[&std::fs::read(file).ok()?])))
    }

    fn words(&self) -> Result<Vec<String>, CommandError> {
        let words = shlex::split(&self.cmd).filter(|_| !self.cmd.contains('\0'));
        let words = words.ok_or_else(|| CommandError::Words(self.cmd.clone()))?;
        if words.first().is_none_or(String::is_empty) { Err(CommandError::Empty) } else { Ok(words) }
    }

    /// The command, not started.
    pub(super) fn command(&self) -> Result<Command, CommandError> {
        self.check()?;
        let words = self.words()?;
        let (program, arguments) = words.split_first().ok_or(CommandError::Empty)?;
        let mut command = Command::new(self.program(program));
        command.args(arguments);
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        Ok(command)
    }

    /// A relative path together with a folder means different things on different systems, so none is left; a name
    /// without a folder is looked for where the system looks for programs.
    fn program(&self, word: &str) -> PathBuf {
        let path = Path::new(word);
        if path.components().count() < 2 && !word.starts_with('.') {
            return path.into();
        }
        let from_dir = self.dir.as_ref().map_or_else(|| path.into(), |dir| dir.join(path));
        std::path::absolute(&from_dir).unwrap_or(from_dir)
    }
}

impl fmt::Display for Proto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uci => "uci",
        })
    }
}

impl FromStr for Proto {
    type Err = ProtoError;

    fn from_str(text: &str) -> Result<Self, ProtoError> {
        match text {
            "uci" => Ok(Self::Uci),
            "xboard" | "cecp" | "winboard" => Err(ProtoError::Xboard(text.into())),
            other => Err(ProtoError::Unknown(other.into())),
        }
    }
}

impl TryFrom<String> for Proto {
    type Error = ProtoError;

    fn try_from(text: String) -> Result<Self, ProtoError> {
        text.parse()
    }
}

impl From<Proto> for String {
    fn from(proto: Proto) -> Self {
        proto.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(cmd: &str, dir: Option<&str>) -> PathBuf {
        let command = EngineCommand { dir: dir.map(Into::into), ..EngineCommand::new(cmd) };
        command.program(&command.words().unwrap()[0])
    }

    #[test]
    fn words_are_split_without_a_shell() {
        let words = |cmd: &str| EngineCommand::new(cmd).words();
        assert_eq!(
            words("'my engine' --x=\"a b\" $HOME;ls"),
            Ok(["my engine", "--x=a b", "$HOME;ls"].map(String::from).into())
        );
        for cmd in ["", "   ", "''", "# nothing but a comment"] {
            assert_eq!(words(cmd), Err(CommandError::Empty), "{cmd:?}");
        }
        for cmd in ["'open", "a\\", "a\0b"] {
            assert_eq!(words(cmd), Err(CommandError::Words(cmd.into())), "{cmd:?}");
        }
    }

    #[test]
    fn a_relative_program_is_looked_for_from_its_folder() {
        assert_eq!(program("stockfish", Some("/tmp")), Path::new("stockfish"));
        assert_eq!(program("./stockfish", Some("/tmp")), Path::new("/tmp/stockfish"));
        assert_eq!(program("build/stockfish", Some("/tmp")), Path::new("/tmp/build/stockfish"));
        assert_eq!(program("/opt/stockfish", Some("/tmp")), Path::new("/opt/stockfish"));
        assert_eq!(program("./stockfish", None), std::env::current_dir().unwrap().join("stockfish"));
    }

    #[test]
    fn what_no_line_can_carry_is_refused() {
        let with = |name: &str, value: &str| {
            let options = BTreeMap::from([(name.to_owned(), value.to_owned())]);
            EngineCommand { options, ..EngineCommand::new("engine") }.check()
        };
        assert_eq!(with("Hash", "16"), Ok(()));
        for (name, value) in [("Hash", "16\nquit"), ("Hash\r", "16"), (" ", "16")] {
            assert!(matches!(with(name, value), Err(CommandError::Option { .. })), "{name:?} {value:?}");
        }
        let nowhere = EngineCommand { dir: Some("no/such/folder".into()), ..EngineCommand::new("engine") };
        assert_eq!(nowhere.check(), Err(CommandError::Folder("no/such/folder".into())));
    }

    #[test]
    fn descriptions_read_and_write() {
        let full = EngineCommand {
            cmd: "./engine --fast".into(),
            dir: Some("/opt".into()),
            options: BTreeMap::from([("Hash".into(), "16".into())]),
            proto: Proto::Uci,
        };
        let text = toml::to_string(&full).unwrap();
        assert_eq!(toml::from_str::<EngineCommand>(&text).unwrap(), full);
        assert_eq!(toml::from_str::<EngineCommand>("cmd = \"engine\"").unwrap(), EngineCommand::new("engine"));
        for (wrong, words) in
            [("cmd = \"x\"\nproto = \"xboard\"", "XBoard's protocol"), ("cmd = \"x\"\ncommand = \"y\"", "command")]
        {
            let error = toml::from_str::<EngineCommand>(wrong).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
