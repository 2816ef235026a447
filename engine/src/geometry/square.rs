//! One square of the 16×16 grid.

/// Files and ranks of the grid every board is laid on.
pub const GRID: u8 = 16;

/// Number of squares of the grid: the length of tables indexed by [`Square::index`].
pub const GRID_SQUARES: usize = 256;

/// A square of the 16×16 grid; whether it exists on a board is the [`Topology`](super::Topology)'s business.
///
/// The low four bits hold the file (0 = a), the high four bits the row counted from White's side (0 = the lowest rank,
/// whatever number that rank carries in the game's notation).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct Square(u8);

impl Square {
    /// The square on `file` and `row`, or `None` outside the grid.
    ///
    /// ```
    /// use fairyforge_engine::geometry::Square;
    /// assert_eq!(Square::at(3, 2).map(|s| (s.file(), s.row())), Some((3, 2)));
    /// assert_eq!(Square::at(16, 0), None);
    /// ```
    pub const fn at(file: u8, row: u8) -> Option<Self> {
        if file < GRID && row < GRID { Some(Self(row << 4 | file)) } else { None }
    }

    /// The square with the given table index.
    pub const fn from_index(index: u8) -> Self {
        Self(index)
    }

    /// Index into tables of [`GRID_SQUARES`] entries.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// File from 0 (the a-file).
    #[inline]
    pub const fn file(self) -> u8 {
        self.0 & 15
    }

    /// Row from 0 (White's lowest rank).
    #[inline]
    pub const fn row(self) -> u8 {
        self.0 >> 4
    }

    /// The square `files` to the right and `rows` up, or `None` when that leaves the grid.
    pub const fn offset(self, files: i8, rows: i8) -> Option<Self> {
        let (file, row) = (self.file() as i8 + files, self.row() as i8 + rows);
        if file < 0 || row < 0 { None } else { Self::at(file as u8, row as u8) }
    }
}

impl std::fmt::Debug for Square {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", (b'a' + self.file()) as char, self.row())
    }
}
