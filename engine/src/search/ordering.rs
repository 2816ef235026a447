//! Which move to try first: the table's, good captures, killers, quiet moves by history, losing captures.

use super::{Evaluator, Searcher};
use crate::moves::{Move, MoveKind, Safety, Wanted};
use crate::position::Position;

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

// Bands so far apart that no parameter brings a move from one into another.
const TABLE_MOVE: i32 = 1 << 28;
const GOOD_CAPTURE: i32 = 1 << 24;
const LOSING_CAPTURE: i32 = -(1 << 24);

/// The moves of one node, generated in stages: most nodes cut before their quiet moves are looked at.
pub(super) struct Candidates {
    safety: Safety,
    wanted: Wanted,
    /// The table's move, if it is legal here.
    table: Option<Move>,
    ply: usize,
    /// Where this node's moves begin in the pool.
    first: usize,
    /// The next to be picked.
    index: usize,
    stage: Stage,
}

#[derive(PartialEq, Eq)]
enum Stage {
    /// The table's move has not been tried.
    Table,
    /// Captures are on the pool.
    Noisy,
    /// All moves are on the pool.
    All,
}

impl<E: Evaluator> Searcher<'_, E> {
    /// The moves of a node: all of them, or with `Wanted::Noisy` captures and promotions only.
    pub(super) fn candidates(&mut self, safety: Safety, wanted: Wanted, table: Option<Move>, ply: usize) -> Candidates {
        let first = self.memory.pool.len();
        let wants = |mv: Move| wanted == Wanted::All || self.position.is_noisy(mv);
        let table = table.filter(|&mv| wants(mv) && self.position.is_legal(mv, &safety));
        let stage = match table {
            Some(_) => Stage::Table,
            None => Stage::Noisy,
        };
        let mut candidates = Candidates { safety, wanted, table, ply, first, index: first, stage };
        if candidates.stage == Stage::Noisy {
            self.gather_noisy(&mut candidates);
        }
        candidates
    }

    /// The best move not tried yet. Captures are tested by exchange only when their turn comes; those that lose material
    /// go to the end.
    pub(super) fn next(&mut self, candidates: &mut Candidates) -> Option<Candidate> {
        if candidates.stage == Stage::Table {
            self.gather_noisy(candidates);
            return candidates.table.map(|mv| Candidate { mv, score: TABLE_MOVE, untested: false });
        }
        let enough = self.memory.params.order_exchange;
        loop {
            let best = self.best_from(candidates.index);
            let score = best.map_or(i32::MIN, |best| self.memory.pool[best].score);
            if candidates.stage == Stage::Noisy && score < GOOD_CAPTURE / 2 {
                candidates.stage = Stage::All;
                self.gather(candidates, Wanted::Quiet);
                continue;
            }
            let best = best?;
            if self.memory.pool[best].untested {
                self.memory.pool[best].untested = false;
                if !self.position.exchange_gains(self.memory.pool[best].mv, enough, &self.values) {
                    self.memory.pool[best].score += LOSING_CAPTURE - GOOD_CAPTURE;
                    continue;
                }
            }
            self.memory.pool.swap(candidates.index, best);
            candidates.index += 1;
            return Some(self.memory.pool[candidates.index - 1]);
        }
    }

    /// Gives the pool back.
    pub(super) fn done_with(&mut self, candidates: &Candidates) {
        self.memory.pool.truncate(candidates.first);
    }

    /// Index of the move with the highest score from `index` on; the first of equals.
    fn best_from(&self, index: usize) -> Option<usize> {
        let rest = &self.memory.pool[index..];
        let mut best = rest.first()?.score;
        let mut at = 0;
        for (i, candidate) in rest.iter().enumerate() {
            if candidate.score > best {
                (best, at) = (candidate.score, i);
            }
        }
        Some(index + at)
    }

    /// Puts captures and promotions on the pool; if no others are wanted, that is all.
    fn gather_noisy(&mut self, candidates: &mut Candidates) {
        candidates.stage = if candidates.wanted == Wanted::All { Stage::Noisy } else { Stage::All };
        self.gather(candidates, Wanted::Noisy);
    }

    /// Puts moves on the pool with their scores, all but the table's, which has been tried.
    fn gather(&mut self, candidates: &Candidates, wanted: Wanted) {
        let before = self.goings_before(candidates.ply);
        let killers = self.plies[candidates.ply].killers;
        let (position, values, history) = (&self.position, &self.values, &self.memory.history);
        let (evaluator, params) = (self.evaluator, &self.memory.params);
        let killer_scores = [params.order_killer, params.order_second_killer];
        let pool = &mut self.memory.pool;
        let noisy = wanted == Wanted::Noisy;
        position.generate(&candidates.safety, wanted, |mv| {
            if Some(mv) == candidates.table {
                return;
            }
            let score = if noisy {
                GOOD_CAPTURE + capture_order(position, mv, values, params.order_victim)
            } else if let Some(index) = killers.iter().position(|&killer| killer == Some(mv)) {
                killer_scores[index]
            } else {
                let piece = super::mover(position, mv);
                history.score((piece, mv.to()), before)
                    + params.order_gain * evaluator.step_gain(piece, mv.from(), mv.to())
            };
            pool.push(Candidate { mv, score, untested: noisy });
        });
    }
}

/// The most valuable victim first, taken by the least valuable man.
fn capture_order(position: &Position, mv: Move, values: &[i32], victim_weight: i32) -> i32 {
    let (mover, taken) = (position.piece_at(mv.from()), position.piece_at(mv.to()));
    let victim = if taken.is_none() { 0 } else { values[taken.unit().index()] };
    let promotion = match mv.kind() {
        MoveKind::Promotion(unit) => values[unit.index()],
        _ => 0,
    };
    (victim + promotion) * victim_weight - values[mover.unit().index()]
}
