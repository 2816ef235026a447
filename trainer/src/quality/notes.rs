//! What is kept of a game once its shard has been left behind.

use super::{MOST_SCORE, QualityError};
use crate::checksum::number;
use crate::record::GameRecord;
use fairyforge_engine::position::packed_without_counters;

/// A quiet position, from the side to move's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Observation {
    /// Centipawns, at most [`MOST_SCORE`] either way.
    pub score: i16,
    /// What the game brought: 0, 1 or 2.
    pub half_points: u8,
}

impl Observation {
    pub fn points(self) -> f64 {
        f64::from(self.half_points) / 2.0
    }
}

/// A recorded position by its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Keyed {
    /// Plies since the game's first recorded position.
    pub plies: u16,
    /// Equal for equal positions.
    pub key: u64,
}

/// A game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Notes {
    /// All recorded positions.
    pub keys: Vec<Keyed>,
    /// How many of them had been in the game before.
    pub repeated: u64,
    /// The quiet ones.
    pub quiet: Vec<Observation>,
    /// Quiet ones with scores beyond [`MOST_SCORE`].
    pub beyond: u64,
}

impl Notes {
    /// Keys are the first eight bytes of SHA-256, which the crate has for everything: reading a shard hashes the same bytes
    /// twice, so another hash would save little. Of 10⁸ different positions two share a key in one run of 3,700.
    pub fn of(game: &GameRecord) -> Result<Self, QualityError> {
        let Some(first) = game.positions.first() else { return Ok(Self::default()) };
        let white_begins = white_begins(game)?;
        let mut notes = Self::default();
        for position in &game.positions {
            let key = number(&[packed_without_counters(&position.packed)]);
            notes.keys.push(Keyed { plies: position.ply.saturating_sub(first.ply), key });
            if !position.quiet {
                continue;
            }
            if position.score.unsigned_abs() > MOST_SCORE.unsigned_abs() {
                notes.beyond += 1;
                continue;
            }
            let white_moves = white_begins == position.ply.is_multiple_of(2);
            let result = if white_moves { game.result } else { -game.result };
            notes.quiet.push(Observation { score: position.score, half_points: (result + 1).clamp(0, 2) as u8 });
        }
        notes.repeated = repeated(&notes.keys);
        Ok(notes)
    }
}

fn repeated(keys: &[Keyed]) -> u64 {
    let mut different: Vec<u64> = keys.iter().map(|keyed| keyed.key).collect();
    different.sort_unstable();
    different.dedup();
    (keys.len() - different.len()) as u64
}

/// Who was to move at ply 0. Positions are not unpacked for it: that would take the variant, whose file may be elsewhere.
fn white_begins(game: &GameRecord) -> Result<bool, QualityError> {
    match game.start_fen.split_whitespace().nth(1) {
        Some("w") => Ok(true),
        Some("b") => Ok(false),
        _ => Err(QualityError::SideToMove { game: game.game, fen: game.start_fen.clone() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::made;
    use crate::record::PositionRecord;

    #[test]
    fn results_are_turned_to_the_side_to_move() {
        let half_points = |result: i8, fen: &str, ply: u16| {
            let mut game = made::game(0, result, "abc");
            game.start_fen = fen.to_owned();
            game.positions.iter_mut().for_each(|position| position.ply += ply);
            Notes::of(&game).unwrap().quiet.iter().map(|quiet| quiet.half_points).collect::<Vec<_>>()
        };
        assert_eq!(half_points(1, "8/8 w - - 0 1", 0), [2, 0, 2]);
        assert_eq!(half_points(1, "8/8 w - - 0 1", 3), [0, 2, 0]);
        assert_eq!(half_points(-1, "8/8 w - - 0 1", 0), [0, 2, 0]);
        assert_eq!(half_points(1, "8/8 b - - 0 1", 0), [0, 2, 0]);
        assert_eq!(half_points(0, "8/8 b - - 0 1", 0), [1, 1, 1]);
    }

    #[test]
    fn a_start_without_a_side_to_move_is_refused_if_it_matters() {
        let mut game = GameRecord { start_fen: "8/8".to_owned(), game: 7, ..GameRecord::default() };
        assert_eq!(Notes::of(&game).unwrap(), Notes::default());
        game.positions.push(PositionRecord::default());
        let message = Notes::of(&game).unwrap_err().to_string();
        assert!(message.contains("game 7") && message.contains("8/8"), "{message}");
    }

    #[test]
    fn only_quiet_positions_that_are_not_decided_are_observed() {
        let mut game = made::game(0, 1, "abcdef");
        game.positions[0].quiet = false;
        for (position, score) in
            game.positions[1..].iter_mut().zip([MOST_SCORE, -MOST_SCORE, MOST_SCORE + 1, i16::MIN, -3])
        {
            position.score = score;
        }
        let notes = Notes::of(&game).unwrap();
        let scores: Vec<i16> = notes.quiet.iter().map(|quiet| quiet.score).collect();
        assert_eq!((scores, notes.beyond, notes.keys.len()), (vec![MOST_SCORE, -MOST_SCORE, -3], 2, 6));
    }
}
