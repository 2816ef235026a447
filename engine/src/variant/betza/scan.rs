//! A cursor in a Betza string, and the faults of standing before something that is not understood.

use super::{BetzaError, BetzaErrorKind, MAX_LENGTH};

/// Where reading has come to.
pub(super) struct Scanner<'a> {
    pub text: &'a str,
    pub at: usize,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str) -> Result<Self, BetzaError> {
        if text.is_empty() {
            return Err(BetzaError::new(0, BetzaErrorKind::Empty, "a move such as \"K\"", "nothing"));
        }
        if text.len() > MAX_LENGTH {
            let (expected, got) = (format!("at most {MAX_LENGTH} bytes"), format!("{} bytes", text.len()));
            return Err(BetzaError::new(0, BetzaErrorKind::TooLong, expected, got));
        }
        Ok(Self { text, at: 0 })
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Steps over `wanted` if it comes next.
    pub fn skip(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.next();
        }
        found
    }

    /// The digits that come next, which may be none; not stepped over.
    pub fn digits(&self) -> &'a str {
        let rest = self.rest();
        &rest[..rest.bytes().take_while(u8::is_ascii_digit).count()]
    }

    /// What comes next, for a message.
    pub fn got(&self) -> String {
        self.peek().map_or_else(|| "the end of the string".into(), |next| format!("`{}`", next.escape_debug()))
    }

    pub fn error(&self, kind: BetzaErrorKind, expected: impl Into<String>, got: impl Into<String>) -> BetzaError {
        BetzaError::new(self.at, kind, expected, got)
    }
}
