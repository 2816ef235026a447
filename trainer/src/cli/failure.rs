//! How commands fail.

use super::share;
use crate::share::Shared;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The end of a command that did not do what was asked.
#[derive(Debug)]
pub enum Failure {
    /// Something that came from outside is wrong: exit status 2.
    BadInput(anyhow::Error),
    /// The run failed: exit status 1.
    Failed(anyhow::Error),
    /// Somebody asked for it: exit status 130.
    Interrupted(String),
    /// Several processes play the games of the run in this folder, and this one has done its share: exit status 0 if it played, 3 if it
    /// was not to play and games are missing.
    Shared {
        /// How it ended.
        shared: Shared,
        /// The run.
        out: PathBuf,
    },
    /// Whoever read the results has gone, as `head` does: quietly, exit status 0.
    NobodyReads,
}

impl Failure {
    /// How the games of a run that several processes play ended in this one.
    pub fn shared(shared: &Shared, run: &Path) -> Self {
        Self::Shared { shared: shared.clone(), out: run.to_owned() }
    }

    /// That a part was to be played of a run that lacks no games.
    pub fn complete(run: &Path) -> Self {
        Self::shared(&Shared::Complete { run: run.to_owned() }, run)
    }

    /// Tells the user and returns the exit status.
    pub fn report(&self) -> ExitCode {
        match self {
            Self::BadInput(_) => {
                crate::errln!("error: {self}");
                ExitCode::from(2)
            }
            Self::Failed(_) => {
                crate::errln!("error: {self}");
                ExitCode::from(1)
            }
            Self::Interrupted(advice) => {
                crate::errln!("{advice}");
                ExitCode::from(130)
            }
            Self::Shared { shared, out } => match share::tell(shared, out) {
                Ok(status) => ExitCode::from(status),
                Err(failure) => failure.report(),
            },
            Self::NobodyReads => ExitCode::SUCCESS,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadInput(error) | Self::Failed(error) => f.write_str(&whole_story(error)),
            Self::Interrupted(advice) => f.write_str(advice),
            Self::Shared { shared, .. } => shared.fmt(f),
            Self::NobodyReads => f.write_str("nobody reads the results"),
        }
    }
}

/// An error with its causes, each told once: many messages contain their cause's already.
fn whole_story(error: &anyhow::Error) -> String {
    let mut story = String::new();
    for message in error.chain().map(ToString::to_string) {
        if !story.contains(&message) {
            let separator = if story.is_empty() { "" } else { ": " };
            story = format!("{story}{separator}{message}");
        }
    }
    story
}

/// Errors that nobody calls bad input are failures of the run.
impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// Marks an error as bad input, with what the program was doing.
pub trait OrBadInput<T> {
    /// Adds what was being done and makes it bad input.
    ///
    /// # Errors
    /// The error, marked.
    fn or_bad_input(self, doing: impl FnOnce() -> String) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> OrBadInput<T> for Result<T, E> {
    fn or_bad_input(self, doing: impl FnOnce() -> String) -> Result<T, Failure> {
        self.map_err(|error| Failure::BadInput(error.into().context(doing())))
    }
}
