//! Games as records: what self-play writes and what fitting, training and reports read.
//!
//! A *shard* is a run of consecutive games, kept as two Parquet files (games and positions) with a
//! self-describing header in each; a folder of shards is one generation of self-play. The byte layout is
//! documented in `docs/formats/games.md`. This module knows neither rules nor engine: positions are opaque
//! bytes and moves are text. File names are [`crate::run_dir`]'s business.
//!
//! * [`write_shard`], [`read_shard`] for one shard, [`shards()`] to stream a whole folder or run
//! * [`digest()`] for one hash of all games, [`head`] for the first few, [`verify()`] for the damage

mod digest;
mod error;
mod header;
mod parquet;
mod seal;
mod shards;
mod tables;
mod verify;

pub(crate) use digest::ContentHasher;
pub use digest::digest;
pub use error::{Fault, RecordError};
pub use header::{Origin, ShardHeader};
pub use parquet::{Shard, read_shard, write_shard, write_shard_inside};
pub use shards::{Shards, head, shards};
pub use verify::{Finding, VerifyReport, verify};

/// Version of the tables' columns and of the header. A reader takes exactly its own version.
pub const SCHEMA_VERSION: u32 = 1;

/// One game of self-play.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GameRecord {
    /// Number of the game within the run; together with the run's seed it fixes every random choice.
    pub game: u64,
    /// The arrangement the game started from, before the random plies.
    pub start_fen: String,
    /// Random plies played before the engine took over.
    pub random_plies: u16,
    /// Units taken away at the start, for example `w:NNQ b:B`; empty when none were.
    pub imbalance: String,
    /// 1 White won, 0 draw, −1 Black won.
    pub result: i8,
    /// How the game ended: `checkmate`, `repetition`, `adjudicated draw` …
    pub termination: String,
    /// Length of the game in plies, random ones included.
    pub plies: u16,
    /// The positions the engine searched, in order of play.
    pub positions: Vec<PositionRecord>,
}

/// One searched position and the move played in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PositionRecord {
    /// Plies since the start of the game, from 0.
    pub ply: u16,
    /// The position in the engine's packed form; opaque here.
    pub packed: Vec<u8>,
    /// The move played, in coordinate notation.
    pub mv: String,
    /// The search's score in centipawns, from the side to move's view.
    pub score: i16,
    /// Nodes the search visited.
    pub nodes: u32,
    /// The side to move is not in check and the best move neither captures nor promotes.
    pub quiet: bool,
}

#[cfg(test)]
pub(crate) mod samples {
    //! Made-up games for the tests of this module.

    use super::{GameRecord, Origin, PositionRecord};

    /// An origin whose games count from 0.
    pub fn origin() -> Origin {
        Origin {
            variant: "herculean".to_owned(),
            rules_hash: "5f0c".to_owned(),
            engine: "0.1.0".to_owned(),
            run_seed: 7,
            weights: "a priori".to_owned(),
            base_game: 0,
        }
    }

    /// `count` games from number `first` on, all different, the fifth of every five without positions.
    pub fn games(first: u64, count: u64) -> Vec<GameRecord> {
        (first..first + count).map(game).collect()
    }

    fn game(number: u64) -> GameRecord {
        let plies = if number % 5 == 4 { 0 } else { 3 + number % 7 };
        GameRecord {
            game: number,
            start_fen: format!("rnbqk{number}/8/RNBQK w - - 0 1"),
            random_plies: (number % 9) as u16,
            imbalance: if number.is_multiple_of(2) { String::new() } else { "w:NNQ b:B".to_owned() },
            result: (number % 3) as i8 - 1,
            termination: ["checkmate", "adjudicated draw"][number as usize % 2].to_owned(),
            plies: plies as u16,
            positions: (0..plies).map(|ply| position(number, ply)).collect(),
        }
    }

    fn position(number: u64, ply: u64) -> PositionRecord {
        let mixed = (number * 1_000 + ply + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        PositionRecord {
            ply: ply as u16,
            packed: (0..90u32).map(|byte| (mixed >> (byte % 57)) as u8 & 31).collect(),
            mv: format!("{}{}a{}", ["a", "l"][ply as usize % 2], 1 + mixed % 12, 1 + ply),
            score: (mixed >> 40) as i16,
            nodes: 500 + (mixed >> 55) as u32,
            quiet: mixed.is_multiple_of(2),
        }
    }
}
