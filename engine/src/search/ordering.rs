//! Which move to try first: the table's, good captures, killers, quiet moves by history, losing captures.

use super::{Evaluator, Searcher};
use crate::moves::{Move, MoveKind, Safety, Wanted};
use crate::position::Piece;

/// A move waiting to be tried.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub mv: Move,
    score: i32,
    /// A capture whose exchange has not been looked at yet.
    untested: bool,
}

impl Candidate {
    /// Whether it is a capture or promotion that loses material.
    pub fn loses_material(self) -> bool {
        self.score < LOSING_CAPTURE / 2
    }
}

const TABLE_MOVE: i32 = 1 << 28;
const GOOD_CAPTURE: i32 = 1 << 24;
const KILLERS: [i32; 2] = [(1 << 20) + 1, 1 << 20];
const LOSING_CAPTURE: i32 = -(1 << 24);

impl<E: Evaluator> Searcher<'_, E> {
    /// Puts the wanted moves on the pool with their scores and returns where they begin.
    pub(super) fn gather(&mut self, safety: &Safety, wanted: Wanted, table: Option<Move>, ply: usize) -> usize {
        let first = self.memory.pool.len();
        let before = self.goings_before(ply);
        let killers = self.plies[ply].killers;
        let (position, values, history) = (&self.position, &self.values, &self.memory.history);
        let pool = &mut self.memory.pool;
        position.generate(safety, wanted, |mv| {
            let taken = position.piece_at(mv.to());
            let noisy = is_noisy(mv, taken);
            let score = if Some(mv) == table {
                TABLE_MOVE
            } else if noisy {
                GOOD_CAPTURE + capture_order(position.piece_at(mv.from()), mv, taken, values)
            } else if let Some(index) = killers.iter().position(|&killer| killer == Some(mv)) {
                KILLERS[index]
            } else {
                history.score((super::dropped(position, mv), mv.to()), before)
            };
            pool.push(Candidate { mv, score, untested: noisy && score < TABLE_MOVE });
        });
        first
    }

    /// Brings the best of the moves from `index` on to `index`. Captures are tested by exchange only when their turn
    /// comes; those that lose material go to the end.
    pub(super) fn pick(&mut self, index: usize) -> Option<Candidate> {
        loop {
            let rest = self.memory.pool.get_mut(index..)?;
            let best = (0..rest.len()).max_by_key(|&i| (rest[i].score, std::cmp::Reverse(i)))?;
            if rest[best].untested {
                rest[best].untested = false;
                let mv = rest[best].mv;
                if !self.position.exchange_gains(mv, 0, &self.values) {
                    self.memory.pool[index + best].score += LOSING_CAPTURE - GOOD_CAPTURE;
                    continue;
                }
            }
            self.memory.pool.swap(index, index + best);
            return self.memory.pool.get(index).copied();
        }
    }
}

/// Captures and promotions.
pub(super) fn is_noisy(mv: Move, taken: Piece) -> bool {
    match mv.kind() {
        MoveKind::Normal => !taken.is_none(),
        MoveKind::EnPassant | MoveKind::Promotion(_) => true,
        MoveKind::Castling | MoveKind::Drop(_) => false,
    }
}

/// The most valuable victim first, taken by the least valuable man.
fn capture_order(mover: Piece, mv: Move, taken: Piece, values: &[i32]) -> i32 {
    let victim = if taken.is_none() { 0 } else { values[taken.unit().index()] };
    let promotion = match mv.kind() {
        MoveKind::Promotion(unit) => values[unit.index()],
        _ => 0,
    };
    (victim + promotion) * 16 - values[mover.unit().index()]
}
