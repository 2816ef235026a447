//! The end of the search: only captures and promotions, until the position is quiet.

use super::score::MATE;
use super::table::Bound;
use super::{Evaluator, MAX_PLY, Searcher, score};
use crate::moves::{Safety, Wanted};

impl<E: Evaluator> Searcher<'_, E> {
    /// The score once captures are played out, for the side to move.
    pub(super) fn quiescence(&mut self, mut alpha: i32, beta: i32, ply: usize) -> i32 {
        if self.enter_node(ply) {
            return 0;
        }
        if let Some(score) = self.game_over_score(ply).or_else(|| self.endgame_score(ply)) {
            return score;
        }
        let key = self.position.key();
        let known = self.memory.table.probe(key);
        if let Some(score) = known.and_then(|entry| super::node::usable(&entry, 0, alpha, beta, ply)) {
            return score;
        }
        let safety = Safety::of(&self.position);
        let value = known.map_or_else(|| self.static_value(ply), |entry| i32::from(entry.value));
        if ply >= MAX_PLY {
            return value;
        }
        let mut best = -MATE + ply as i32;
        if !safety.in_check {
            best = value;
            if best >= beta {
                return best;
            }
            alpha = alpha.max(best);
        }
        let wanted = if safety.in_check { Wanted::All } else { Wanted::Noisy };
        let mut candidates = self.candidates(safety, wanted, known.and_then(|entry| entry.best()), ply);
        let mut best_move = None;
        while let Some(candidate) = self.next(&mut candidates) {
            if !safety.in_check && (candidate.loses_material() || self.cannot_reach(alpha, value, candidate.mv)) {
                continue;
            }
            let undo = self.play(candidate.mv, ply);
            let score = -self.quiescence(-beta, -alpha, ply + 1);
            self.take_back(candidate.mv, &undo);
            if self.stopped {
                break;
            }
            if score > best {
                best = score;
                if score > alpha {
                    alpha = score;
                    best_move = Some(candidate.mv);
                }
                if score >= beta {
                    break;
                }
            }
        }
        self.done_with(&candidates);
        if !self.stopped {
            let bound = if best >= beta { Bound::Lower } else { Bound::Upper };
            self.memory.table.store(key, best_move, score::to_table(best, ply), value, 0, bound);
        }
        best
    }

    /// Even winning the victim for nothing would stay below alpha.
    fn cannot_reach(&self, alpha: i32, value: i32, mv: crate::moves::Move) -> bool {
        let taken = self.position.piece_at(mv.to());
        let is_plain_capture = mv.kind() == crate::moves::MoveKind::Normal && !taken.is_none();
        is_plain_capture && value + self.values[taken.unit().index()] + self.memory.params.delta_margin <= alpha
    }
}
