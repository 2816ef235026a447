//! The little SVG that drawings need: colours, the frame of a document, escaped text, where squares lie. Knows no units.

use crate::geometry::{Square, SquareSet, Topology};
use crate::variant::rules::Colour;
use std::fmt::Write;

/// Units of the drawing along a square.
pub(super) const CELL: i32 = 100;

/// The colours of all drawings.
pub(super) mod palette {
    /// Behind everything, so that a drawing is readable on a dark page.
    pub const PAPER: &str = "#fcfbf8";
    /// Light squares.
    pub const LIGHT: &str = "#efe6d5";
    /// Dark squares.
    pub const DARK: &str = "#c9b697";
    /// The line around the board.
    pub const EDGE: &str = "#6b5d4a";
    /// Files and ranks, counts and legends.
    pub const WORDS: &str = "#4a4136";
    /// Squares of the last move.
    pub const LAST_MOVE: &str = "#ecc94b";
    /// Frames of marked squares.
    pub const MARK: &str = "#c2354a";
}

/// `text` as it may stand between tags and in attributes. What XML cannot hold becomes U+FFFD.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' => escaped.push(letter),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// A drawing of so many units.
pub(super) struct Document<'a> {
    pub width: i32,
    pub height: i32,
    /// Pixels of the longer side.
    pub size: u16,
    /// What it is, in a line.
    pub title: &'a str,
    /// The same in full, for those who do not see it.
    pub description: &'a str,
}

impl Document<'_> {
    /// The whole file around `content`.
    pub fn around(&self, content: &str) -> String {
        let Self { width, height, size, .. } = *self;
        let pixels = |units: i32| (units * i32::from(size) + width.max(height) / 2) / width.max(height);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             font-family=\"sans-serif\" font-weight=\"bold\">\n<title>{}</title>\n<desc>{}</desc>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>\n{content}</svg>\n",
            pixels(width),
            pixels(height),
            escaped(self.title),
            escaped(self.description),
            palette::PAPER,
        )
    }
}

/// A length or place with one decimal at most, always written alike.
pub(super) fn number(value: f64) -> String {
    let tenths = (value * 10.0).round() as i64;
    match (tenths / 10, tenths % 10) {
        (whole, 0) => whole.to_string(),
        (whole, tenth) => format!("{}{}.{}", if tenths < 0 { "-" } else { "" }, whole.abs(), tenth.abs()),
    }
}

/// How directions from a man's own view lie in the drawing: to the right and down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facing {
    right: i8,
    down: i8,
}

impl Facing {
    /// Men of `colour` on a board with `below` at its lower edge.
    pub fn of(topology: &Topology, colour: Colour, below: Colour) -> Self {
        let right = if colour == Colour::Black && topology.is_turned() { -1 } else { 1 };
        let down = if colour == Colour::Black { 1 } else { -1 };
        let view = if below == Colour::White { 1 } else { -1 };
        Self { right: right * view, down: down * view }
    }

    /// A vector in (files, ranks) as the man sees them, in the drawing.
    pub fn turn(self, (files, ranks): (i8, i8)) -> (f64, f64) {
        (f64::from(files * self.right), f64::from(ranks * self.down))
    }
}

/// Where the squares of a board lie: its upper left corner, and who sits at its lower edge.
#[derive(Clone, Copy)]
pub(super) struct Grid<'a> {
    pub topology: &'a Topology,
    pub below: Colour,
    pub left: i32,
    pub top: i32,
}

impl Grid<'_> {
    /// Room left of the board for the ranks' numbers.
    pub const MARGIN: i32 = 64;
    /// Room above it.
    pub const TOP: i32 = 26;

    pub fn width(&self) -> i32 {
        i32::from(self.topology.width()) * CELL
    }

    pub fn height(&self) -> i32 {
        i32::from(self.topology.height()) * CELL
    }

    /// The upper left corner of a square.
    pub fn corner(&self, square: Square) -> (i32, i32) {
        (self.left + self.column(square.file()) * CELL, self.top + self.line(square.row()) * CELL)
    }

    /// The squares that exist, dark and light, a line around them, and the names of files and ranks.
    pub fn draw(&self) -> String {
        let squares = self.topology.squares();
        let dark: SquareSet = squares.iter().filter(|&square| self.is_dark(square)).collect();
        let edge = palette::EDGE;
        format!(
            "<path d=\"{}\" fill=\"{edge}\" stroke=\"{edge}\" stroke-width=\"6\"/>\n<path d=\"{}\" fill=\"{}\"/>\n\
             <path d=\"{}\" fill=\"{}\"/>\n{}",
            self.outline(squares),
            self.outline(squares - dark),
            palette::LIGHT,
            self.outline(dark),
            palette::DARK,
            self.coordinates(),
        )
    }

    /// Path data of whole squares.
    pub fn outline(&self, squares: SquareSet) -> String {
        let mut path = String::new();
        for square in squares {
            let (x, y) = self.corner(square);
            let _ = write!(path, "M{x} {y}h{CELL}v{CELL}h-{CELL}z");
        }
        path
    }

    /// As on every chessboard a1 is dark, wherever the numbers of the ranks begin.
    fn is_dark(&self, square: Square) -> bool {
        (u16::from(square.file()) + 1 + self.rank(square.row())).is_multiple_of(2)
    }

    fn coordinates(&self) -> String {
        let mut names = format!("<g font-size=\"34\" fill=\"{}\" text-anchor=\"middle\">\n", palette::WORDS);
        let below = self.top + self.height() + 44;
        for file in 0..self.topology.width() {
            let x = self.left + self.column(file) * CELL + CELL / 2;
            let _ = writeln!(names, "<text x=\"{x}\" y=\"{below}\">{}</text>", (b'a' + file) as char);
        }
        for row in 0..self.topology.height() {
            let (x, y) = (self.left - 33, self.top + self.line(row) * CELL + CELL / 2 + 12);
            let _ = writeln!(names, "<text x=\"{x}\" y=\"{y}\">{}</text>", self.rank(row));
        }
        names + "</g>\n"
    }

    fn column(&self, file: u8) -> i32 {
        i32::from(if self.below == Colour::White { file } else { self.topology.width() - 1 - file })
    }

    fn line(&self, row: u8) -> i32 {
        i32::from(if self.below == Colour::White { self.topology.height() - 1 - row } else { row })
    }

    fn rank(&self, row: u8) -> u16 {
        u16::from(row) + u16::from(self.topology.first_rank())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_break_out() {
        assert_eq!(
            escaped("a<b & \"c\">'d'\u{1}\u{ffff}é"),
            "a&lt;b &amp; &quot;c&quot;&gt;&#39;d&#39;\u{fffd}\u{fffd}é"
        );
    }

    #[test]
    fn numbers_are_short() {
        let written = [0.0, -0.04, 12.0, 12.25, 12.34, -0.5, -12.96].map(number);
        assert_eq!(written, ["0", "0", "12", "12.3", "12.3", "-0.5", "-13"]);
    }
}
