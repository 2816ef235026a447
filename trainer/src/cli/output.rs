//! Results on standard output. A reader that goes away ends the command quietly; a full disk is a failed run.

use super::Failure;
use std::fmt::Arguments;
use std::io::{ErrorKind, Write};

/// Writes a line of results; use it through [`outln!`].
pub fn line(text: Arguments<'_>) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{text}").and_then(|()| stdout.flush()).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::NobodyReads,
        _ => Failure::Failed(anyhow::Error::from(error).context("cannot write the results")),
    })
}

/// `println!` for results: gives an error instead of a panic.
macro_rules! outln {
    ($($text:tt)*) => { $crate::cli::output::line(format_args!($($text)*)) };
}

pub(super) use outln;
