//! The output that session and search share: whole lines, each flushed, never mixed.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// Longest line of an `info string`, in characters.
const MOST_SAID: usize = 600;

/// Who speaks to the other program.
pub(super) struct Voice<W>(Mutex<W>);

impl<W: Write> Voice<W> {
    pub fn new(output: W) -> Self {
        Self(Mutex::new(output))
    }

    /// Writes one line, or several given as one text, at once.
    pub fn say(&self, text: impl Display) -> io::Result<()> {
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(output, "{text}")?;
        output.flush()
    }

    /// Says something that is for people: every line of it as an `info string`.
    pub fn remark(&self, text: impl Display) -> io::Result<()> {
        let text = text.to_string();
        let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
        lines.into_iter().try_for_each(|line| self.say(format_args!("info string {}", printable(line))))
    }
}

fn printable(line: &str) -> String {
    let mut characters = line.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut shown: String = characters.by_ref().take(MOST_SAID).collect();
    if characters.next().is_some() {
        shown.push('…');
    }
    shown
}
