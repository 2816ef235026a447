//! Writing games.

use super::{Comment, PgnGame, PgnMove, PgnResult, ROSTER};
use crate::position::{Position, Unobserved};
use crate::variant::rules::Colour;
use std::io::{self, Write};

/// Most characters of a line of moves.
const LINE: usize = 79;

/// Tags that follow from the game itself.
const DERIVED: [&str; 4] = ["Result", "Variant", "SetUp", "FEN"];

impl PgnGame {
    /// Writes the game, with an empty line behind it: the seven tags of the roster, the variant, the start position if
    /// it is not the game's own array, all other tags in their order, the moves with glyphs and comments, the result.
    ///
    /// # Errors
    /// `out` refuses, or a tag's name is not made of letters, digits and `_`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        self.write_tags(out)?;
        writeln!(out)?;
        let mut words = Words::new(out);
        self.write_moves(&mut words)?;
        words.word(&self.result.to_string())?;
        writeln!(out, "\n")
    }

    fn write_tags(&self, out: &mut impl Write) -> io::Result<()> {
        for name in ROSTER {
            let unknown = if name == "Date" { "????.??.??" } else { "?" };
            match name {
                "Result" => write_tag(out, name, &self.result.to_string())?,
                _ => write_tag(out, name, self.tag(name).unwrap_or(unknown))?,
            }
        }
        let variant = self.start.variant();
        write_tag(out, "Variant", variant.name())?;
        if self.start != Position::start(variant) {
            write_tag(out, "SetUp", "1")?;
            write_tag(out, "FEN", &self.start.fen())?;
        }
        let others = self.tags.iter().filter(|(name, _)| !ROSTER.contains(&&**name) && !DERIVED.contains(&&**name));
        others.into_iter().try_for_each(|(name, value)| write_tag(out, name, value))
    }

    fn write_moves<W: Write>(&self, words: &mut Words<W>) -> io::Result<()> {
        let mut position = self.start.clone();
        words.comment(&self.comment)?;
        let mut number_due = true;
        for PgnMove { mv, nags, comment } in &self.moves {
            let white = position.side_to_move() == Colour::White;
            if white || number_due {
                words.word(&format!("{}{}", position.full_moves(), if white { "." } else { "..." }))?;
            }
            words.word(&position.san(*mv))?;
            for nag in nags {
                words.word(&format!("${nag}"))?;
            }
            words.comment(comment)?;
            number_due = !comment.is_empty();
            position.make(*mv, &mut Unobserved);
        }
        Ok(())
    }
}

fn write_tag(out: &mut impl Write, name: &str, value: &str) -> io::Result<()> {
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_name {
        let reason = format!("expected a tag's name of letters, digits and '_', got {name:?}");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    let value = value.replace(|c: char| c.is_control(), " ").replace('\\', "\\\\").replace('"', "\\\"");
    writeln!(out, "[{name} \"{value}\"]")
}

/// Words in lines of at most [`LINE`] characters.
struct Words<'a, W> {
    out: &'a mut W,
    column: usize,
}

impl<'a, W: Write> Words<'a, W> {
    fn new(out: &'a mut W) -> Self {
        Self { out, column: 0 }
    }

    fn word(&mut self, word: &str) -> io::Result<()> {
        let length = word.chars().count();
        // At a line's start these would read as an escaped line, a tag, or a comment of another kind.
        let starts_no_line = word.starts_with(['%', '[', ';']);
        if self.column > 0 {
            let fits = self.column + 1 + length <= LINE || starts_no_line;
            self.column = if fits { self.column + 1 } else { 0 };
            self.out.write_all(if fits { b" " } else { b"\n" })?;
        }
        self.column += length;
        self.out.write_all(word.as_bytes())
    }

    fn comment(&mut self, comment: &Comment) -> io::Result<()> {
        if comment.is_empty() {
            return Ok(());
        }
        format!("{{{comment}}}").split(' ').try_for_each(|word| self.word(word))
    }
}

impl PgnResult {
    /// The result that self-play notes as 1, 0 or −1 from White's view.
    pub const fn from_white_points(points: i8) -> Self {
        match points {
            1.. => Self::WhiteWins,
            0 => Self::Draw,
            _ => Self::BlackWins,
        }
    }
}
