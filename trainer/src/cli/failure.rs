//! How commands fail.

use std::fmt;
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
}

impl Failure {
    /// Tells the user and returns the exit status.
    pub fn report(&self) -> ExitCode {
        match self {
            Self::BadInput(error) => {
                eprintln!("error: {error:#}");
                ExitCode::from(2)
            }
            Self::Failed(error) => {
                eprintln!("error: {error:#}");
                ExitCode::from(1)
            }
            Self::Interrupted(advice) => {
                eprintln!("{advice}");
                ExitCode::from(130)
            }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadInput(error) | Self::Failed(error) => write!(f, "{error:#}"),
            Self::Interrupted(advice) => f.write_str(advice),
        }
    }
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
