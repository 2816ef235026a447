//! Talking to other programs over text streams.
//!
//! [`converse`] lets the other side choose: [`uci`] is what most interfaces and match runners speak, [`xboard`] what
//! XBoard and WinBoard speak. Nothing in here plays chess: moves and rules are [`crate::moves`]' and
//! [`crate::position`]'s, thinking is [`crate::search`]'s.

mod command;
mod endgames;
mod engine;
mod lines;
mod options;
mod own_book;
mod room;
mod thinking;
pub mod uci;
mod voice;
pub mod xboard;

use std::io::{self, BufRead, Cursor, Read, Write};

/// Longest first line that is looked at, in bytes.
const MOST_FIRST_BYTES: u64 = 1 << 16;

/// Converses in the protocol that the first line asks for: `xboard` (or `protover`) is XBoard's, anything else UCI.
///
/// # Errors
/// A stream fails.
///
/// ```
/// let mut output = Vec::new();
/// fairyforge_engine::protocol::converse("xboard\nprotover 2\n".as_bytes(), &mut output)?;
/// assert!(output.ends_with(b"feature done=1\n"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn converse(mut input: impl BufRead, output: impl Write + Send) -> io::Result<()> {
    let mut first = Vec::new();
    while first.trim_ascii().is_empty() {
        first.clear();
        if input.by_ref().take(MOST_FIRST_BYTES).read_until(b'\n', &mut first)? == 0 {
            return Ok(());
        }
    }
    let word = first.trim_ascii().split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let speaks_xboard = word == b"xboard" || word == b"protover";
    let whole = Cursor::new(first).chain(input);
    if speaks_xboard { xboard::run(whole, output) } else { uci::run(whole, output) }
}
