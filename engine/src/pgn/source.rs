//! Bytes of a text with their places, one at a time.

use super::Place;
use std::io::{self, BufRead, ErrorKind};

/// A text that is read once, from front to back. Holds no more of it than the reader's own buffer.
pub(super) struct Source<R> {
    reader: R,
    /// Bytes put back, last one first.
    again: Vec<u8>,
    place: Place,
    consumed: u64,
    after_return: bool,
}

impl<R: BufRead> Source<R> {
    pub(super) fn new(reader: R) -> Self {
        let place = Place { line: 1, column: 1 };
        Self { reader, again: Vec::new(), place, consumed: 0, after_return: false }
    }

    /// Where the next byte stands.
    pub(super) const fn place(&self) -> Place {
        self.place
    }

    /// Bytes read so far.
    pub(super) const fn consumed(&self) -> u64 {
        self.consumed
    }

    pub(super) const fn at_line_start(&self) -> bool {
        self.place.column == 1
    }

    /// The next byte; `None` at the end.
    pub(super) fn peek(&mut self) -> io::Result<Option<u8>> {
        if let Some(&byte) = self.again.last() {
            return Ok(Some(byte));
        }
        loop {
            match self.reader.fill_buf() {
                Ok(buffer) => return Ok(buffer.first().copied()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Goes past the byte that was peeked at. Lines end with a line feed, a carriage return, or both.
    pub(super) fn skip(&mut self, byte: u8) {
        if self.again.pop().is_none() {
            self.reader.consume(1);
        }
        self.consumed += 1;
        let second_half_of_an_end = byte == b'\n' && self.after_return;
        self.after_return = byte == b'\r';
        match byte {
            b'\n' if second_half_of_an_end => {}
            b'\n' | b'\r' => self.place = Place { line: self.place.line + 1, column: 1 },
            // A character is counted at its first byte.
            0x80..0xc0 => {}
            _ => self.place.column += 1,
        }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<u8>> {
        let byte = self.peek()?;
        if let Some(byte) = byte {
            self.skip(byte);
        }
        Ok(byte)
    }

    /// Puts back the whole beginning of the line that was read up to here.
    pub(super) fn put_back_line(&mut self, beginning: &[u8]) {
        self.again.extend(beginning.iter().rev());
        self.consumed = self.consumed.saturating_sub(beginning.len() as u64);
        self.place.column = 1;
    }

    /// Reads up to the line's end, and past it.
    pub(super) fn skip_line(&mut self) -> io::Result<()> {
        while let Some(byte) = self.next()? {
            if matches!(byte, b'\n' | b'\r') {
                return Ok(());
            }
        }
        Ok(())
    }
}
