//! Lines of a text with their numbers. A line may be of any length: no more than a limit of it is kept.

use std::borrow::Cow;
use std::io::{self, BufRead};

/// Most bytes of a line that are kept; many times the longest position of the largest board with its name.
pub(super) const LONGEST: usize = 16_384;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Cuts a text into lines, which end with a line feed, a carriage return, or both.
pub(super) struct Lines<R> {
    reader: R,
    number: u64,
    bytes: Vec<u8>,
    after_return: bool,
}

/// One line.
pub(super) struct Line<'a> {
    /// Its number, from 1.
    pub(super) number: u64,
    /// What it says; `None` if it is longer than [`LONGEST`]. UTF-8, or what else a program may have written, taken for Latin-1.
    pub(super) text: Option<Cow<'a, str>>,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, number: 0, bytes: Vec::new(), after_return: false }
    }

    /// The next line; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        if !self.gather()? {
            return Ok(None);
        }
        self.number += 1;
        let begins_text = self.number == 1 && self.bytes.starts_with(BYTE_ORDER_MARK);
        let bytes = &self.bytes[if begins_text { BYTE_ORDER_MARK.len() } else { 0 }..];
        let text = (bytes.len() <= LONGEST).then(|| match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(bytes.iter().copied().map(char::from).collect()),
        });
        Ok(Some(Line { number: self.number, text }))
    }

    /// Reads up to the line's end, and past it. False if there is no line.
    fn gather(&mut self) -> io::Result<bool> {
        self.bytes.clear();
        let mut begun = false;
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                return Ok(begun);
            }
            if std::mem::take(&mut self.after_return) && buffer[0] == b'\n' {
                self.reader.consume(1);
                continue;
            }
            begun = true;
            let end = buffer.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &buffer[..end.unwrap_or(buffer.len())];
            let room = (LONGEST + BYTE_ORDER_MARK.len() + 1).saturating_sub(self.bytes.len());
            self.bytes.extend_from_slice(&part[..part.len().min(room)]);
            let read = part.len() + usize::from(end.is_some());
            self.after_return = end.is_some_and(|end| buffer[end] == b'\r');
            self.reader.consume(read);
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    /// The lines as a reader with a buffer of so many bytes finds them.
    fn lines(text: &[u8], buffer: usize) -> Vec<Option<String>> {
        let mut lines = Lines::new(BufReader::with_capacity(buffer, text));
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push(line.text.map(Cow::into_owned));
            assert_eq!(line.number, found.len() as u64);
        }
        found
    }

    #[test]
    fn lines_end_in_every_way() {
        for buffer in [1, 2, 3, 64] {
            let found = lines(b"\xef\xbb\xbfa\nb\r\nc\rd\r\n\r\n\n\xe4\n\xef\xbb\xbfe", buffer);
            let expected = ["a", "b", "c", "d", "", "", "\u{e4}", "\u{feff}e"];
            assert_eq!(found, expected.map(|text| Some(text.to_owned())), "buffer of {buffer}");
            assert_eq!(lines(b"", buffer), []);
            assert_eq!(lines(b"\n", buffer), [Some(String::new())]);
            assert_eq!(lines(b"\r\r", buffer), [Some(String::new()), Some(String::new())]);
        }
    }

    #[test]
    fn long_lines_are_passed_over() {
        for (length, kept) in [(LONGEST, true), (LONGEST + 1, false), (LONGEST + 4, false), (10 * LONGEST, false)] {
            let long = "x".repeat(length);
            for text in [format!("{long}\nb"), format!("\u{feff}{long}\r\nb")] {
                assert_eq!(lines(text.as_bytes(), 100), [kept.then(|| long.clone()), Some("b".into())], "{length}");
            }
        }
    }
}
