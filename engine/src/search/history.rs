//! What past searches say about quiet moves: how often a man's going to a square cut, alone and as an answer.

use super::Params;
use crate::geometry::{GRID_SQUARES, Square};
use crate::position::Piece;
use crate::variant::rules::MAX_UNITS;

/// Places of the answers' table, a power of two: sixteen times more than one game's men and squares would fill usefully;
/// pairs that share a place disturb each other a little.
const ANSWERS: usize = 1 << 17;

/// A man and where it went.
pub type Going = (Piece, Square);

/// Both tables.
pub struct History {
    moves: Vec<i16>,
    answers: Vec<i16>,
    /// Scores stay within ± this.
    cap: i32,
    /// Of an answer to the opponent's last move, and of one that follows one's own, in percent.
    weights: [i32; 2],
}

impl History {
    /// Nothing has been searched.
    pub fn new(params: &Params) -> Self {
        Self {
            moves: vec![0; 2 * MAX_UNITS * GRID_SQUARES],
            answers: vec![0; ANSWERS],
            cap: params.history_cap,
            weights: [params.history_reply, params.history_follow],
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.moves.fill(0);
        self.answers.fill(0);
    }

    /// Score of a quiet move, given the moves before it (the opponent's last and one's own last).
    #[inline]
    pub fn score(&self, going: Going, before: [Option<Going>; 2]) -> i32 {
        let weighted = |(earlier, weight)| weight * i32::from(self.answers[answer(earlier, going)]);
        let answers = before.into_iter().zip(self.weights).filter_map(|(earlier, weight)| Some((earlier?, weight)));
        i32::from(self.moves[place(going)]) + answers.map(weighted).sum::<i32>() / 100
    }

    /// Moves the scores of a quiet move towards `bonus`'s sign.
    pub fn update(&mut self, going: Going, before: [Option<Going>; 2], bonus: i32) {
        nudge(&mut self.moves[place(going)], bonus, self.cap);
        for earlier in before.into_iter().flatten() {
            nudge(&mut self.answers[answer(earlier, going)], bonus, self.cap);
        }
    }
}

#[inline]
fn place((piece, to): Going) -> usize {
    piece.index() * GRID_SQUARES + to.index()
}

#[inline]
fn answer(earlier: Going, going: Going) -> usize {
    // Fibonacci hashing spreads the pairs evenly.
    let pair = (place(earlier) << 14 | place(going)) as u64;
    (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - ANSWERS.trailing_zeros())) as usize
}

/// The larger a score already is, the less a bonus of its sign adds.
fn nudge(score: &mut i16, bonus: i32, cap: i32) {
    let now = i32::from(*score);
    let next = now + bonus - now * bonus.abs() / cap;
    *score = next.clamp(-cap, cap) as i16;
}
