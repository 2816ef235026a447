//! Lines of a pipe, whatever comes: bounded in length, and text whatever the bytes.

use std::io::{self, BufRead};

/// Hears every line until the pipe ends or `hear` wants no more. Of a line longer than `most` bytes the rest is dropped,
/// bytes that are no UTF-8 become `U+FFFD`, and an end as Windows writes it is an end.
pub(super) fn each_line(mut pipe: impl BufRead, most: usize, mut hear: impl FnMut(String) -> bool) {
    let mut line = Vec::new();
    while let Ok(true) = read_line(&mut pipe, most, &mut line) {
        let text = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(&line)).into_owned();
        if !hear(text) {
            return;
        }
    }
}

/// Reads the beginning of the next line; false at the end of the pipe.
fn read_line(pipe: &mut impl BufRead, most: usize, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut anything = false;
    loop {
        let available = match pipe.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if available.is_empty() {
            return Ok(anything);
        }
        anything = true;
        let end = available.iter().position(|&byte| byte == b'\n');
        let text = &available[..end.unwrap_or(available.len())];
        line.extend_from_slice(&text[..text.len().min(most - line.len())]);
        let used = end.map_or(available.len(), |end| end + 1);
        pipe.consume(used);
        if end.is_some() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8], most: usize) -> Vec<String> {
        let mut lines = Vec::new();
        // A small buffer, so that lines come in pieces.
        each_line(io::BufReader::with_capacity(3, bytes), most, |line| {
            lines.push(line);
            true
        });
        lines
    }

    #[test]
    fn lines_are_told_apart() {
        assert_eq!(lines(b"", 10), [""; 0]);
        assert_eq!(lines(b"uciok\r\n\nbestmove e2e4", 20), ["uciok", "", "bestmove e2e4"]);
    }

    #[test]
    fn long_lines_and_foreign_bytes_are_bounded() {
        assert_eq!(lines(b"123456789\nabc\n", 4), ["1234", "abc"]);
        assert_eq!(lines(b"a\xff\xfeb\nok\n", 10), ["a\u{fffd}\u{fffd}b", "ok"]);
    }

    #[test]
    fn it_ends_when_nobody_wants_more() {
        let mut heard = 0;
        each_line(&b"1\n2\n3\n"[..], 10, |_| {
            heard += 1;
            heard < 2
        });
        assert_eq!(heard, 2);
    }
}
