//! Positions whose result an endgame table knows.
//!
//! A table's win is a mate in so many plies, so that the nearest end is preferred and a won game makes progress. Tables know no move count:
//! a win that could come too late is worth [`WON`] less its distance, which is no mate but still shows the way; a capture or a move that
//! sets the count back may make a mate of it. The root is never answered from a table, its moves are.

use super::score::{MATE, MATE_BOUND, WON};
use super::{Evaluator, Searcher};
use crate::endgame::Value;
use crate::variant::rules::SideResult;

impl<E: Evaluator> Searcher<'_, E> {
    /// The score of the position for the side to move, if a table has it.
    #[inline]
    pub(super) fn endgame_score(&mut self, ply: usize) -> Option<i32> {
        let value = self.endgames?.probe(&self.position)?;
        self.endgame_hits += 1;
        Some(self.score_of(value, ply))
    }

    fn score_of(&self, value: Value, ply: usize) -> i32 {
        let plies = ply as i32 + i32::from(value.plies);
        // No true table has wins so long that they are no mates here; a file may say what it likes.
        let is_sure = value.is_within_move_count(&self.position) && plies <= MATE - MATE_BOUND;
        let won = if is_sure { MATE - plies } else { (WON - plies).max(1) };
        match value.result {
            SideResult::Win => won,
            SideResult::Draw => self.draw_score(ply),
            SideResult::Loss => -won,
        }
    }
}
