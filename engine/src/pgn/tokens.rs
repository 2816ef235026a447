//! The words of a PGN text: tags, comments, glyphs, variations' brackets and everything else.

use super::source::Source;
use super::{FaultKind, Place};
use std::io::{self, BufRead};

/// How much of anything is read. Whoever exceeds one of these breaks its game, not the file.
pub mod limits {
    /// Bytes of a move, a move number or any other word.
    pub const WORD: usize = 255;
    /// Bytes of a tag's name.
    pub const TAG_NAME: usize = 255;
    /// Bytes of a tag's value.
    pub const TAG_VALUE: usize = 16_384;
    /// Bytes of a comment, runs of white space counted as one.
    pub const COMMENT: usize = 65_536;
    /// Tags of a game.
    pub const TAGS: usize = 256;
    /// Plies of a game.
    pub const PLIES: usize = 20_000;
    /// Bytes of a game, variations and all.
    pub const GAME: usize = 16 << 20;
}

/// What a game that forgot to close a comment is followed by.
const NEXT_GAME: &[u8] = b"[Event \"";

/// One token with the place where it begins.
#[derive(Debug)]
pub(super) enum Token {
    Tag { name: String, value: String },
    Word(String),
    Comment(String),
    Glyph(u8),
    Open,
    Close,
    End,
}

/// Cuts a text into tokens.
pub(super) struct Tokens<R> {
    source: Source<R>,
    begun: bool,
}

/// A fault with its place.
pub(super) type Misread = (Place, FaultKind);

impl<R: BufRead> Tokens<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { source: Source::new(reader), begun: false }
    }

    /// Bytes read so far.
    pub(super) const fn consumed(&self) -> u64 {
        self.source.consumed()
    }

    /// The next token. After a fault the text is somewhere behind it.
    pub(super) fn next(&mut self) -> Result<(Place, Token), Misread> {
        self.skip_byte_order_mark().map_err(|error| self.unreadable(error))?;
        let first = self.skip_blanks().map_err(|error| self.unreadable(error))?;
        let place = self.source.place();
        let Some(first) = first else { return Ok((place, Token::End)) };
        let token = match first {
            b'[' => self.tag(),
            b'{' => self.braces(place),
            b';' => self.rest_of_line(),
            b'$' => self.glyph(),
            b'(' => Ok(self.single(first, Token::Open)),
            b')' => Ok(self.single(first, Token::Close)),
            b'}' | b']' | b'"' => {
                self.source.skip(first);
                Err(FaultKind::Character(char::from(first)))
            }
            _ => self.word(),
        };
        match token {
            Ok(token) => Ok((place, token)),
            Err(FaultKind::Read(error)) => Err(self.unreadable(error)),
            Err(fault) => Err((place, fault)),
        }
    }

    /// Goes on to the next game's first tag: one that stands behind moves, or one named `Event`. `moves_seen` says
    /// whether the place is behind moves already.
    pub(super) fn skip_game(&mut self, mut moves_seen: bool) -> io::Result<()> {
        if !self.source.at_line_start() {
            self.source.skip_line()?;
        }
        while let Some(first) = self.source.peek()? {
            let beginning = self.beginning_of_tag()?;
            self.source.put_back_line(&beginning);
            if tag_name(&beginning).is_some_and(|name| moves_seen || name == b"Event") {
                return Ok(());
            }
            moves_seen |= !matches!(first, b'[' | b'%' | b'\n' | b'\r' | b' ' | b'\t');
            self.source.skip_line()?;
        }
        Ok(())
    }

    /// Reads what may be the beginning of a tag at a line's start, up to its value's quote: empty if the line does not
    /// begin with `[`.
    fn beginning_of_tag(&mut self) -> io::Result<Vec<u8>> {
        let mut beginning = Vec::new();
        while let Some(byte) = self.source.peek()? {
            let fits = match byte {
                b'[' => beginning.is_empty(),
                b'"' | b' ' | b'\t' => beginning.len() > 1,
                byte => is_name(byte) && !beginning.is_empty() && !beginning.ends_with(b" "),
            };
            if !fits || beginning.len() > limits::TAG_NAME {
                break;
            }
            self.source.skip(byte);
            beginning.push(byte);
            if byte == b'"' {
                break;
            }
        }
        Ok(beginning)
    }

    fn unreadable(&self, error: io::Error) -> Misread {
        (self.source.place(), FaultKind::Read(error))
    }

    fn single(&mut self, byte: u8, token: Token) -> Token {
        self.source.skip(byte);
        token
    }

    fn skip_byte_order_mark(&mut self) -> io::Result<()> {
        const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        let mut seen = 0;
        while let Some(byte) = self.source.peek()?.filter(|&byte| MARK.get(seen) == Some(&byte)) {
            self.source.skip(byte);
            seen += 1;
        }
        self.source.put_back_line(if seen == MARK.len() { &[] } else { &MARK[..seen] });
        Ok(())
    }

    /// Goes past white space and lines escaped with `%`, and returns the byte behind.
    fn skip_blanks(&mut self) -> io::Result<Option<u8>> {
        while let Some(byte) = self.source.peek()? {
            if byte == b'%' && self.source.at_line_start() {
                self.source.skip_line()?;
            } else if byte.is_ascii_whitespace() || byte == 0x0b {
                self.source.skip(byte);
            } else {
                return Ok(Some(byte));
            }
        }
        Ok(None)
    }

    fn skip_spaces(&mut self) -> io::Result<Option<u8>> {
        while let Some(byte) = self.source.peek()?.filter(|byte| matches!(byte, b' ' | b'\t')) {
            self.source.skip(byte);
        }
        self.source.peek()
    }

    /// `[Name "value"]`, with `\"` and `\\` in the value.
    fn tag(&mut self) -> Result<Token, FaultKind> {
        self.source.skip(b'[');
        self.skip_spaces()?;
        let mut name = Vec::new();
        while let Some(byte) = self.source.peek()?.filter(|&byte| is_name(byte)) {
            self.source.skip(byte);
            push(&mut name, byte, "bytes of a tag's name", limits::TAG_NAME)?;
        }
        if name.is_empty() {
            return Err(self.no_tag("a tag's name")?);
        }
        self.skip_spaces()?;
        self.expect(b'"', "a value in quotes")?;
        let value = self.value()?;
        self.skip_spaces()?;
        self.expect(b']', "']' behind the value")?;
        Ok(Token::Tag { name: text(name), value })
    }

    fn value(&mut self) -> Result<String, FaultKind> {
        let mut value = Vec::new();
        loop {
            match self.source.peek()? {
                Some(b'"') => {
                    self.source.skip(b'"');
                    return Ok(text(value));
                }
                None | Some(b'\n' | b'\r') => return Err(self.no_tag("a closing quote on the same line")?),
                Some(byte) => {
                    self.source.skip(byte);
                    let escaped = self.source.peek()?.filter(|next| byte == b'\\' && matches!(next, b'"' | b'\\'));
                    escaped.into_iter().for_each(|next| self.source.skip(next));
                    push(&mut value, escaped.unwrap_or(byte), "bytes of a tag's value", limits::TAG_VALUE)?;
                }
            }
        }
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), FaultKind> {
        if self.source.peek()? != Some(byte) {
            return Err(self.no_tag(expected)?);
        }
        self.source.skip(byte);
        Ok(())
    }

    fn no_tag(&mut self, expected: &'static str) -> io::Result<FaultKind> {
        let got = match self.source.peek()? {
            None => "the end of the file".into(),
            Some(b'\n' | b'\r') => "the end of the line".into(),
            Some(byte) => format!("{:?}", char::from(byte)),
        };
        Ok(FaultKind::Tag { expected, got })
    }

    /// `{…}`, not nested.
    fn braces(&mut self, opened: Place) -> Result<Token, FaultKind> {
        self.source.skip(b'{');
        let mut comment = Vec::new();
        loop {
            if self.source.at_line_start() && self.source.place() != opened && self.next_game_begins()? {
                return Err(FaultKind::OpenComment);
            }
            match self.source.next()? {
                None => return Err(FaultKind::OpenComment),
                Some(b'}') => return Ok(Token::Comment(text(comment))),
                Some(byte) => push_word(&mut comment, byte)?,
            }
        }
    }

    /// Whether the next game's first tag stands here, at a line's start. The text stays where it is.
    fn next_game_begins(&mut self) -> io::Result<bool> {
        let mut seen = 0;
        while let Some(byte) = self.source.peek()?.filter(|byte| NEXT_GAME.get(seen) == Some(byte)) {
            self.source.skip(byte);
            seen += 1;
        }
        if seen > 0 {
            self.source.put_back_line(&NEXT_GAME[..seen]);
        }
        Ok(seen == NEXT_GAME.len())
    }

    fn rest_of_line(&mut self) -> Result<Token, FaultKind> {
        self.source.skip(b';');
        let mut comment = Vec::new();
        while let Some(byte) = self.source.next()?.filter(|byte| !matches!(byte, b'\n' | b'\r')) {
            push_word(&mut comment, byte)?;
        }
        Ok(Token::Comment(text(comment)))
    }

    fn glyph(&mut self) -> Result<Token, FaultKind> {
        self.source.skip(b'$');
        let word = self.bare_word()?;
        let digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        word.parse().ok().filter(|_| digits).map(Token::Glyph).ok_or(FaultKind::Glyph(word))
    }

    fn word(&mut self) -> Result<Token, FaultKind> {
        Ok(Token::Word(self.bare_word()?))
    }

    fn bare_word(&mut self) -> Result<String, FaultKind> {
        let mut word = Vec::new();
        while let Some(byte) = self.source.peek()?.filter(|&byte| !ends_word(byte)) {
            self.source.skip(byte);
            push(&mut word, byte, "bytes of a word", limits::WORD)?;
        }
        Ok(text(word))
    }
}

/// The name of `[Name "`.
fn tag_name(beginning: &[u8]) -> Option<&[u8]> {
    let name = beginning.strip_prefix(b"[")?.strip_suffix(b"\"")?.trim_ascii_end();
    (!name.is_empty()).then_some(name)
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

const fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'{' | b'}' | b'(' | b')' | b'[' | b']' | b';' | b'$' | b'"')
}

fn push(bytes: &mut Vec<u8>, byte: u8, what: &'static str, most: usize) -> Result<(), FaultKind> {
    if bytes.len() == most {
        return Err(FaultKind::TooLong { what, most });
    }
    bytes.push(byte);
    Ok(())
}

/// Adds a byte of a comment; white space becomes a blank, and several become one.
fn push_word(comment: &mut Vec<u8>, byte: u8) -> Result<(), FaultKind> {
    let byte = if byte.is_ascii_whitespace() { b' ' } else { byte };
    if byte == b' ' && matches!(comment.last(), None | Some(b' ')) {
        return Ok(());
    }
    push(comment, byte, "bytes of a comment", limits::COMMENT)
}

/// UTF-8 as everybody writes it today, otherwise the Latin-1 of the old standard.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect())
}
