//! Made-up games for the tests of this module: a position is a letter.

use crate::record::{GameRecord, Origin, PositionRecord};

/// Where they come from.
pub(super) fn origin() -> Origin {
    Origin { variant: "made".to_owned(), rules_hash: "5f0c".to_owned(), ..Origin::default() }
}

/// A game through these positions, all quiet and of score 0, after an opening of two plies.
pub(super) fn game(number: u64, result: i8, letters: &str) -> GameRecord {
    let position = |(ply, letter): (u16, u8)| PositionRecord {
        ply,
        // Two bytes of the position, four of the counters, which differ wherever it comes.
        packed: vec![7, letter, ply as u8, number as u8, 0, 1],
        quiet: true,
        ..PositionRecord::default()
    };
    let positions: Vec<PositionRecord> = (2..).zip(letters.bytes()).map(position).collect();
    GameRecord {
        game: number,
        start_fen: "8/8 w - - 0 1".to_owned(),
        random_plies: 2,
        result,
        termination: "checkmate".to_owned(),
        plies: 2 + positions.len() as u16,
        positions,
        ..GameRecord::default()
    }
}
