//! Lines of input, whatever comes: bounded in length, and text only if they are UTF-8.

use std::io::{self, BufRead, Read};
use std::ops::ControlFlow;

/// Longest line that is read, in bytes without its end.
const MOST_BYTES: usize = 1 << 20;

/// What one line of input was.
#[derive(Debug, PartialEq, Eq)]
enum Line<'a> {
    /// Text, without the line's end.
    Text(&'a str),
    /// More than [`MOST_BYTES`]; all of it has been skipped.
    TooLong,
    /// Bytes that are no UTF-8.
    NotText,
    /// No more input.
    End,
}

/// A session as far as its input goes: what it makes of each line.
pub(super) trait Hearer {
    /// A line of text; breaks where the session ends.
    fn hear(&mut self, line: &str) -> io::Result<ControlFlow<()>>;
    /// A line that is none; says what was expected.
    fn refuse_line(&mut self, expected: &str) -> io::Result<()>;
    /// There is no more input.
    fn finish(&mut self) -> io::Result<()>;

    /// Hears all lines until one ends the session, or the input ends.
    fn listen(&mut self, mut input: impl BufRead) -> io::Result<()> {
        let mut buffer = Vec::new();
        loop {
            match next_line(&mut input, &mut buffer)? {
                Line::Text(text) => {
                    if self.hear(text)?.is_break() {
                        return Ok(());
                    }
                }
                Line::TooLong => self.refuse_line(&format!("lines of at most {MOST_BYTES} bytes"))?,
                Line::NotText => self.refuse_line("text in UTF-8")?,
                Line::End => return self.finish(),
            }
        }
    }
}

/// Reads the next line into `buffer`.
fn next_line<'a>(input: &mut impl BufRead, buffer: &'a mut Vec<u8>) -> io::Result<Line<'a>> {
    buffer.clear();
    let read = input.take(MOST_BYTES as u64 + 1).read_until(b'\n', buffer)?;
    if read == 0 {
        return Ok(Line::End);
    }
    if buffer.last() == Some(&b'\n') {
        buffer.pop();
    } else if read > MOST_BYTES {
        skip_line(input)?;
        return Ok(Line::TooLong);
    }
    Ok(std::str::from_utf8(buffer).map_or(Line::NotText, Line::Text))
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let available = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        let end = available.iter().position(|&byte| byte == b'\n');
        let (used, done) = match end {
            Some(index) => (index + 1, true),
            None => (available.len(), available.is_empty()),
        };
        input.consume(used);
        if done {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(input: &[u8]) -> Vec<String> {
        let (mut input, mut buffer, mut kinds) = (input, Vec::new(), Vec::new());
        loop {
            let line = next_line(&mut input, &mut buffer).unwrap();
            kinds.push(match line {
                Line::Text(text) if text.len() > 10 => format!("{} bytes", text.len()),
                other => format!("{other:?}"),
            });
            if kinds.last().is_some_and(|kind| kind == "End") {
                return kinds;
            }
        }
    }

    #[test]
    fn tells_lines_apart() {
        assert_eq!(kinds(b""), ["End"]);
        assert_eq!(kinds(b"uci\n\ngo"), ["Text(\"uci\")", "Text(\"\")", "Text(\"go\")", "End"]);
        assert_eq!(kinds(b"\xff\xfe\nuci\n"), ["NotText", "Text(\"uci\")", "End"]);
    }

    #[test]
    fn skips_a_line_that_is_too_long() {
        let mut input = vec![b'x'; MOST_BYTES];
        input.extend_from_slice(b"\n");
        input.extend(vec![b'y'; MOST_BYTES + 1]);
        input.extend_from_slice(b"\nuci\n");
        input.extend(vec![b'z'; 3 * MOST_BYTES]);
        assert_eq!(kinds(&input), ["1048576 bytes", "TooLong", "Text(\"uci\")", "TooLong", "End"]);
    }
}
