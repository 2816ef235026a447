//! What can be wrong with records: one error for the callers, one list of faults for a file.

use std::path::PathBuf;

use crate::run_dir::FileError;

/// Why records could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The system refused to read or write.
    #[error(transparent)]
    File(#[from] FileError),
    /// A shard file is not what it should be.
    #[error("{}: {fault}", path.display())]
    Shard {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: Fault,
    },
    /// There are no records where they were looked for.
    #[error(
        "no records in {}: expected games-<first>.parquet in it, in its numbered folders, or in selfplay/<generation>",
        dir.display()
    )]
    NoShards {
        /// The folder that was searched.
        dir: PathBuf,
    },
}

impl RecordError {
    /// A closure for `map_err` that names the file a fault was found in.
    pub(super) fn in_file(path: &std::path::Path) -> impl FnOnce(Fault) -> Self {
        let path = path.to_owned();
        move |fault| Self::Shard { path, fault }
    }
}

/// One thing that is wrong with a shard or one of its files: what was expected and what was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The last bytes are not Parquet's.
    #[error("truncated, or no Parquet file: expected PAR1 at both ends of {bytes} bytes")]
    Truncated {
        /// Length of the file.
        bytes: usize,
    },
    /// The header has no checksum: somebody else's Parquet file, or damage in the header.
    #[error("no seal in the header: the file is damaged or was not written by fairyforge")]
    NoSeal,
    /// The bytes are not those that were written.
    #[error("damaged: expected SHA-256 {expected} of the bytes, got {got}")]
    SealBroken {
        /// The digest in the header.
        expected: String,
        /// The digest of the file as it is.
        got: String,
    },
    /// Polars cannot read or write it.
    #[error("Parquet: {0}")]
    Parquet(String),
    /// A header key is absent.
    #[error("header key {key} is missing")]
    MissingKey {
        /// The key.
        key: &'static str,
    },
    /// A header value is not the one asked for, or not of its type.
    #[error("header key {key}: expected {expected}, got {got:?}")]
    Header {
        /// The key.
        key: &'static str,
        /// What would have been right.
        expected: String,
        /// What is there.
        got: String,
    },
    /// The table has other columns.
    #[error("columns: expected {expected}, got {got}")]
    Columns {
        /// Names and types of the schema.
        expected: String,
        /// Names and types found.
        got: String,
    },
    /// An empty cell where none may be.
    #[error("column {column}, row {row}: expected a value, got none")]
    EmptyCell {
        /// Name of the column.
        column: &'static str,
        /// Row from 0.
        row: usize,
    },
    /// A result other than −1, 0, 1.
    #[error("game {game}: expected a result of -1, 0 or 1, got {got}")]
    Result {
        /// Number of the game.
        game: u64,
        /// Its result.
        got: i8,
    },
    /// A position that belongs to none of the shard's games, or not in this place.
    #[error("positions row {row}: expected game {expected}, got game {got}")]
    StrayPosition {
        /// Row from 0 in the table of positions.
        row: usize,
        /// The game or games that could come here.
        expected: String,
        /// The game in the row.
        got: u64,
    },
    /// A position's copy of the result differs from its game's result.
    #[error("positions row {row}, game {game}: expected the game's result {expected}, got {got}")]
    StrayResult {
        /// Row from 0 in the table of positions.
        row: usize,
        /// Number of the game.
        game: u64,
        /// The game's result.
        expected: i8,
        /// The position's copy.
        got: i8,
    },
    /// A shard without games.
    #[error("expected at least one game, got none")]
    Empty,
    /// Only one file of the shard's two is there.
    #[error("missing; its twin {twin} is there (writing was interrupted, or the file was lost)")]
    MissingTwin {
        /// Name of the file that exists.
        twin: String,
    },
    /// Game numbers leave some out.
    #[error("gap: expected game {expected} to come next, got {got}")]
    Gap {
        /// The number that should have come.
        expected: u64,
        /// The number that came.
        got: u64,
    },
    /// Game numbers come twice.
    #[error("overlap: expected game {expected} to come next, got {got}")]
    Overlap {
        /// The number that should have come.
        expected: u64,
        /// The number that came.
        got: u64,
    },
}

impl Fault {
    /// The fault of `got` coming where `expected` should: none, a gap or an overlap.
    pub(super) fn unless_next(expected: u64, got: u64) -> Result<(), Self> {
        match got.cmp(&expected) {
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Greater => Err(Self::Gap { expected, got }),
            std::cmp::Ordering::Less => Err(Self::Overlap { expected, got }),
        }
    }
}
