//! The shape of a board: its size, its holes and how its squares are called.

use super::{GRID, Square, SquareSet};

/// Size, existing squares and rank numbering of a board.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Topology {
    width: u8,
    height: u8,
    first_rank: u8,
    squares: SquareSet,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    turned: bool,
}

/// Why a board shape was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// The board is larger than the grid or has no squares.
    #[error("a board has 1 to 16 files and ranks, got {width} files and {height} ranks")]
    Size {
        /// Files asked for.
        width: usize,
        /// Ranks asked for.
        height: usize,
    },
}

/// Why a square's name was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SquareTextError {
    /// Not a file letter followed by a rank number.
    #[error("expected a square such as {example}, got {got:?}")]
    Malformed {
        /// A square that exists.
        example: String,
        /// The text that came.
        got: String,
    },
    /// Well-formed, but not a square of this board.
    #[error("{got} is not a square of this board ({width} files, ranks {first_rank} to {last_rank}{holes})")]
    Missing {
        /// The text that came.
        got: String,
        /// Number of files.
        width: u8,
        /// Number of the lowest rank.
        first_rank: u8,
        /// Number of the highest rank.
        last_rank: u8,
        /// A note on holes, or nothing.
        holes: &'static str,
    },
}

impl Topology {
    /// A board of `width` files and `height` ranks, the lowest numbered `first_rank`, without the squares in `holes`.
    ///
    /// # Errors
    /// The size does not fit the grid.
    pub fn new(width: usize, height: usize, first_rank: u8, holes: SquareSet) -> Result<Self, TopologyError> {
        if !(1..=GRID as usize).contains(&width) || !(1..=GRID as usize).contains(&height) {
            return Err(TopologyError::Size { width, height });
        }
        let all: SquareSet =
            (0..height as u8).flat_map(|row| (0..width as u8).filter_map(move |file| Square::at(file, row))).collect();
        Ok(Self { width: width as u8, height: height as u8, first_rank, squares: all - holes, turned: false })
    }

    /// The same board on which the other side sits turned by half a turn, not mirrored: its left is what the first
    /// side's right is.
    pub const fn with_half_turn(self) -> Self {
        Self { turned: true, ..self }
    }

    /// Whether the other side sees the board turned by half a turn.
    pub const fn is_turned(&self) -> bool {
        self.turned
    }

    /// Number of files.
    pub const fn width(&self) -> u8 {
        self.width
    }

    /// Number of ranks.
    pub const fn height(&self) -> u8 {
        self.height
    }

    /// Number that the lowest rank carries in text (0 or 1 in practice).
    pub const fn first_rank(&self) -> u8 {
        self.first_rank
    }

    /// The same board with its ranks numbered from `first_rank`, as other programs may call them.
    pub fn numbered_from(&self, first_rank: u8) -> Self {
        Self { first_rank, ..self.clone() }
    }

    /// The squares that exist.
    pub const fn squares(&self) -> SquareSet {
        self.squares
    }

    /// Whether `square` exists on this board.
    pub const fn has(&self, square: Square) -> bool {
        self.squares.contains(square)
    }

    /// The existing square `files` to the right and `rows` up from `square`.
    pub fn step(&self, square: Square, files: i8, rows: i8) -> Option<Square> {
        square.offset(files, rows).filter(|&to| self.has(to))
    }

    /// The existing square `files` to the right and `rows` up from `square`, as the other side of the board sees them.
    pub fn step_back(&self, square: Square, files: i8, rows: i8) -> Option<Square> {
        self.step(square, if self.turned { -files } else { files }, -rows)
    }

    /// `square` as seen from the other side of the board: mirrored rank, and on a turned board mirrored file.
    pub fn flip(&self, square: Square) -> Square {
        let square = if self.turned { self.mirror(square) } else { square };
        Square::at(square.file(), self.height.saturating_sub(1).saturating_sub(square.row())).unwrap_or(square)
    }

    /// The square as far from the right edge as `square` is from the left one. It need not exist.
    pub fn mirror(&self, square: Square) -> Square {
        let file = self.width.saturating_sub(1).saturating_sub(square.file());
        Square::at(file, square.row()).unwrap_or(square)
    }

    /// A whole set as seen from the other side.
    pub fn flip_set(&self, set: SquareSet) -> SquareSet {
        set.iter().map(|square| self.flip(square)).collect()
    }

    /// The square's name, as `a1` or `l12`.
    pub fn name(&self, square: Square) -> String {
        format!("{}{}", (b'a' + square.file()) as char, u16::from(square.row()) + u16::from(self.first_rank))
    }

    /// Reads one square that must fill the whole text.
    ///
    /// # Errors
    /// The text is no square's name, or that square does not exist here.
    pub fn parse(&self, text: &str) -> Result<Square, SquareTextError> {
        match self.parse_prefix(text)? {
            (square, "") => Ok(square),
            _ => Err(self.malformed(text)),
        }
    }

    /// Reads one square at the start of the text and returns it with the rest.
    ///
    /// # Errors
    /// As [`Topology::parse`].
    pub fn parse_prefix<'a>(&self, text: &'a str) -> Result<(Square, &'a str), SquareTextError> {
        let letter = text.bytes().next().filter(u8::is_ascii_lowercase).ok_or_else(|| self.malformed(text))?;
        let digits = text[1..].bytes().take_while(u8::is_ascii_digit).count();
        let (name, rest) = text.split_at(1 + digits);
        let padded = digits > 1 && name.as_bytes()[1] == b'0';
        let rank: u16 =
            name[1..].parse().ok().filter(|_| !padded && digits <= 2).ok_or_else(|| self.malformed(text))?;
        let row = rank.checked_sub(u16::from(self.first_rank)).and_then(|row| u8::try_from(row).ok());
        row.and_then(|row| Square::at(letter - b'a', row))
            .filter(|&square| self.has(square))
            .map(|square| (square, rest))
            .ok_or_else(|| self.missing(name))
    }

    fn malformed(&self, got: &str) -> SquareTextError {
        let example = self.squares.first().map_or_else(|| "a1".into(), |square| self.name(square));
        SquareTextError::Malformed { example, got: got.chars().take(12).collect() }
    }

    fn missing(&self, got: &str) -> SquareTextError {
        let holes =
            if self.squares.len() < u32::from(self.width) * u32::from(self.height) { ", with holes" } else { "" };
        SquareTextError::Missing {
            got: got.into(),
            width: self.width,
            first_rank: self.first_rank,
            last_rank: self.first_rank + self.height - 1,
            holes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_parses_squares() {
        let holes = SquareSet::only(Square::at(0, 0).unwrap());
        let board = Topology::new(10, 12, 0, holes).unwrap();
        for square in board.squares() {
            assert_eq!(board.parse(&board.name(square)), Ok(square));
            assert_eq!(board.flip(board.flip(square)), square);
        }
        let corner = board.parse("j11").unwrap();
        assert_eq!((corner.file(), corner.row()), (9, 11));
        assert_eq!(board.parse_prefix("a10a12").unwrap().1, "a12");
        for bad in ["", "a", "0", "a0", "k5", "a12", "a1x", "a01", "a999", "é5", "A1", "a-1"] {
            assert!(board.parse(bad).is_err(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn squares_change_sides() {
        let board = |width| Topology::new(width, 8, 1, SquareSet::EMPTY).unwrap();
        let square = |file| Square::at(file, 3).unwrap();
        assert_eq!([0, 5, 11].map(|file| board(12).mirror(square(file))), [11, 6, 0].map(square));
        assert_eq!(board(9).mirror(square(4)), square(4));
    }

    #[test]
    fn refuses_impossible_sizes() {
        assert!(Topology::new(17, 8, 1, SquareSet::EMPTY).is_err());
        assert!(Topology::new(0, 8, 1, SquareSet::EMPTY).is_err());
    }
}
