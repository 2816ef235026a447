//! The main node: principal variation search as a list of named steps.

use super::ordering::Candidate;
use super::score::{DRAW, MATE, MATE_BOUND, from_table, is_mate, to_table};
use super::table::{Bound, Entry};
use super::{Evaluator, MAX_PLY, Memory, Searcher};
use crate::moves::{Move, Safety, Wanted};
use crate::outcome::Outcome;
use crate::variant::rules::Colour;

/// What a node knows before it tries moves.
struct Node {
    depth: i32,
    ply: usize,
    beta: i32,
    safety: Safety,
    value: i32,
    /// The static value has risen since the side's last move.
    improving: bool,
    table_move: Option<Move>,
}

/// What trying the moves has found so far.
struct Progress {
    alpha: i32,
    best: i32,
    best_move: Option<Move>,
    tried: usize,
    /// Where this node's quiet moves begin among those tried in vain.
    quiets_from: usize,
}

impl<E: Evaluator> Searcher<'_, E> {
    /// The score of the position at `depth`, for the side to move, within the window.
    pub(super) fn node<const PV: bool>(&mut self, alpha: i32, beta: i32, depth: i32, ply: usize) -> i32 {
        self.memory.lines[ply].clear();
        if depth <= 0 || ply >= MAX_PLY {
            return self.quiescence(alpha, beta, ply);
        }
        if self.enter_node(ply) {
            return 0;
        }
        if ply > 0
            && let Some(score) = self.game_over_score(ply).or_else(|| self.endgame_score(ply))
        {
            return score;
        }
        let (alpha, beta) = if ply > 0 { within_mate_distance(alpha, beta, ply) } else { (alpha, beta) };
        if alpha >= beta {
            return alpha;
        }
        let known = self.memory.table.probe(self.position.key());
        if let Some(score) = known.and_then(|entry| usable(&entry, depth, alpha, beta, ply)).filter(|_| !PV) {
            return score;
        }
        let mut node = self.survey(known, beta, depth, ply);
        if !PV && !node.safety.in_check {
            if let Some(score) = self.reverse_futility(&node).or_else(|| self.null_move(&node)) {
                return score;
            }
            if self.stopped {
                return 0;
            }
        }
        self.reduce_without_table_move(&mut node);
        let found = self.try_moves::<PV>(&node, alpha);
        if self.stopped {
            return 0;
        }
        if found.tried == 0 {
            return self.score_without_moves(&node);
        }
        self.note(&node, &found, alpha);
        found.best
    }

    /// Draws by repetition and move count, and games ended by bared kings.
    pub(super) fn game_over_score(&self, ply: usize) -> Option<i32> {
        if let Some(outcome) = self.position.bared_king_outcome() {
            return Some(self.outcome_score(outcome, ply));
        }
        let end = &self.position.variant().rules().end;
        let count = self.position.plies_without_progress();
        if end.repetition.is_some_and(|limit| self.repeats(usize::from(limit))) {
            return Some(self.draw_score(ply));
        }
        // Mate or stalemate on the last move goes before the count.
        let counted_out = end.move_count.is_some_and(|limit| count >= limit);
        (counted_out && self.position.has_legal_move()).then(|| self.draw_score(ply))
    }

    /// A draw as the side to move sees it: the side at the root would rather play on, the other one knows that.
    pub(super) fn draw_score(&self, ply: usize) -> i32 {
        let contempt = self.memory.params.contempt;
        if ply.is_multiple_of(2) { DRAW - contempt } else { DRAW + contempt }
    }

    /// Whether this position has occurred in the line, or as often in the game that this is the `limit`-th time. A
    /// position that comes back within the line will come back again.
    fn repeats(&self, limit: usize) -> bool {
        let (&key, before) = match self.keys.split_last() {
            Some(split) => split,
            None => return false,
        };
        let window = if self.position.variant().resets_are_final() {
            usize::from(self.position.plies_without_progress()).min(before.len())
        } else {
            before.len()
        };
        let mut in_game = 1;
        for back in (2..=window).step_by(2) {
            let index = before.len() - back;
            if before[index] == key {
                in_game += 1;
                if index >= self.game_keys || in_game >= limit {
                    return true;
                }
            }
        }
        false
    }

    fn outcome_score(&self, outcome: Outcome, ply: usize) -> i32 {
        match outcome.winner {
            None => self.draw_score(ply),
            Some(winner) if winner == self.position.side_to_move() => MATE - ply as i32,
            Some(_) => -MATE + ply as i32,
        }
    }

    fn survey(&mut self, known: Option<Entry>, beta: i32, depth: i32, ply: usize) -> Node {
        let safety = Safety::of(&self.position);
        let value = known.map_or_else(|| self.static_value(ply), |entry| i32::from(entry.value));
        self.plies[ply].value = value;
        self.plies[ply + 1].killers = [None; 2];
        let improving = !safety.in_check && ply >= 2 && value > self.plies[ply - 2].value;
        // A check is answered before the horizon.
        let depth = if safety.in_check { depth + self.memory.params.check_extension } else { depth };
        Node { depth, ply, beta, safety, value, improving, table_move: known.and_then(|entry| entry.best()) }
    }

    /// So far above beta that the little depth left will not bring it back.
    fn reverse_futility(&self, node: &Node) -> Option<i32> {
        let params = &self.memory.params;
        let less = if node.improving { params.reverse_futility_improving } else { 0 };
        let margin = (params.reverse_futility_margin * node.depth - less).max(0);
        let cuts = node.depth <= params.reverse_futility_depth && node.value - margin >= node.beta;
        (cuts && !is_mate(node.beta)).then_some(node.value)
    }

    /// If passing still leaves the opponent below beta, some move will too. Off with few pieces, where passing may be the
    /// best move; verified at great depth.
    fn null_move(&mut self, node: &Node) -> Option<i32> {
        let params = &self.memory.params;
        let passed_before = node.ply > 0 && self.plies[node.ply - 1].going.is_none();
        if node.depth < params.null_move_depth
            || node.value < node.beta + params.null_move_static
            || passed_before
            || node.ply == 0
            || is_mate(node.beta)
            || self.zugzwang_threatens(self.position.side_to_move())
        {
            return None;
        }
        let surplus = ((node.value - node.beta) / params.null_move_margin).clamp(0, params.null_move_surplus);
        let reduction = params.null_move_base + node.depth / params.null_move_divisor + surplus;
        let verify = node.depth >= params.null_move_verify;
        let undo = self.pass(node.ply);
        let score = -self.node::<false>(-node.beta, -node.beta + 1, node.depth - reduction, node.ply + 1);
        self.take_back_pass(&undo);
        if self.stopped || score < node.beta {
            return None;
        }
        let score = if is_mate(score) { node.beta } else { score };
        if verify {
            // The pass is noted in this ply, so the verifying search does not pass at once again.
            let going = self.plies[node.ply - 1].going.take();
            let verified = self.node::<false>(node.beta - 1, node.beta, node.depth - reduction, node.ply);
            self.plies[node.ply - 1].going = going;
            return (!self.stopped && verified >= node.beta).then_some(score);
        }
        Some(score)
    }

    /// Whether the side has so few men besides king and pawns (units that promote) that having to move may hurt.
    fn zugzwang_threatens(&self, side: Colour) -> bool {
        let variant = self.position.variant();
        let pieces = variant
            .units()
            .filter(|&unit| unit != variant.royal() && variant.promotion_zone(unit, side).is_empty())
            .map(|unit| self.position.count(unit, side));
        i32::from(pieces.sum::<u8>()) < self.memory.params.null_move_pieces
    }

    /// Without a move from the table the order is poor; a shallower search now fills the table for the next one.
    fn reduce_without_table_move(&self, node: &mut Node) {
        let params = &self.memory.params;
        if node.table_move.is_none() && node.depth >= params.internal_reduction_depth {
            node.depth = (node.depth - params.internal_reduction).max(1);
        }
    }

    fn try_moves<const PV: bool>(&mut self, node: &Node, alpha: i32) -> Progress {
        let mut candidates = self.candidates(node.safety, Wanted::All, node.table_move, node.ply);
        let quiets_from = self.memory.tried.len();
        let mut found = Progress { alpha, best: -super::INFINITE, best_move: None, tried: 0, quiets_from };
        while let Some(candidate) = self.next(&mut candidates) {
            if node.ply == 0 && !self.is_allowed_at_root(candidate.mv) {
                continue;
            }
            let noisy = self.position.is_noisy(candidate.mv);
            if self.can_be_left_out(node, &found, candidate, noisy) {
                found.tried += 1;
                continue;
            }
            let score = self.try_move::<PV>(node, &found, candidate, noisy);
            if self.stopped {
                break;
            }
            found.tried += 1;
            self.update(node, &mut found, candidate.mv, score);
            if found.alpha >= node.beta {
                if !noisy {
                    self.reward(node, candidate.mv, quiets_from);
                }
                break;
            }
            if !noisy {
                self.memory.tried.push(candidate.mv);
            }
        }
        self.done_with(&candidates);
        self.memory.tried.truncate(quiets_from);
        found
    }

    fn is_allowed_at_root(&self, mv: Move) -> bool {
        self.limits.root_moves.is_empty() || self.limits.root_moves.contains(&mv)
    }

    /// Late quiet moves, hopeless quiet moves (but no checks) and losing exchanges at low depth, once some move is known
    /// not to lose by force.
    fn can_be_left_out(&self, node: &Node, found: &Progress, candidate: Candidate, noisy: bool) -> bool {
        if node.ply == 0 || node.safety.in_check || found.best <= -MATE_BOUND {
            return false;
        }
        let params = &self.memory.params;
        if !noisy {
            let slope = if node.improving { params.late_move_improving } else { params.late_move_slope };
            let enough = params.late_move_base + node.depth * node.depth * slope / 100;
            let late =
                node.depth <= params.late_move_depth && (self.memory.tried.len() - found.quiets_from) as i32 >= enough;
            let distance = params.futility_base + params.futility_margin * node.depth;
            let hopeless = node.depth <= params.futility_depth && node.value + distance <= found.alpha;
            if late || hopeless {
                return !self.position.gives_direct_check(candidate.mv);
            }
        }
        let doubtful = !noisy || candidate.loses_material();
        let margin = if noisy { params.exchange_margin } else { params.exchange_quiet_margin };
        doubtful
            && node.depth <= params.exchange_depth
            && !self.position.exchange_gains(candidate.mv, -margin * node.depth, &self.values)
    }

    /// The first move with the full window, the others with a null window and late ones reduced, searched again where
    /// they surprise.
    fn try_move<const PV: bool>(&mut self, node: &Node, found: &Progress, candidate: Candidate, noisy: bool) -> i32 {
        let (mv, ply, depth) = (candidate.mv, node.ply, node.depth - 1);
        let reduction = self.late_move_reduction::<PV>(node, found, candidate, noisy);
        let undo = self.play(mv, ply);
        let (alpha, beta) = (found.alpha, node.beta);
        let score = if found.tried == 0 {
            -self.node::<PV>(-beta, -alpha, depth, ply + 1)
        } else {
            let mut score = -self.node::<false>(-alpha - 1, -alpha, depth - reduction, ply + 1);
            if score > alpha && reduction > 0 {
                score = -self.node::<false>(-alpha - 1, -alpha, depth, ply + 1);
            }
            if PV && score > alpha && score < beta {
                score = -self.node::<true>(-beta, -alpha, depth, ply + 1);
            }
            score
        };
        self.take_back(mv, &undo);
        score
    }

    fn late_move_reduction<const PV: bool>(
        &self,
        node: &Node,
        found: &Progress,
        candidate: Candidate,
        noisy: bool,
    ) -> i32 {
        let params = &self.memory.params;
        let unreduced = if PV { params.reduction_moves_pv } else { params.reduction_moves };
        if node.depth < params.reduction_depth || found.tried < unreduced as usize || node.safety.in_check {
            return 0;
        }
        let mut plies = self.memory.reduction(node.depth, found.tried);
        if noisy {
            return if candidate.loses_material() {
                (plies * params.reduction_noisy / 100).clamp(0, node.depth - 2)
            } else {
                0
            };
        }
        let going = (super::mover(&self.position, candidate.mv), candidate.mv.to());
        plies -= self.memory.history.score(going, self.goings_before(node.ply)) / params.reduction_history;
        plies -= if PV { params.reduction_pv } else { 0 };
        plies -= if node.improving { params.reduction_improving } else { 0 };
        plies.clamp(0, node.depth - 2)
    }

    fn update(&mut self, node: &Node, found: &mut Progress, mv: Move, score: i32) {
        found.best = found.best.max(score);
        if score <= found.alpha {
            return;
        }
        found.alpha = score;
        found.best_move = Some(mv);
        let (above, below) = self.memory.lines.split_at_mut(node.ply + 1);
        if let (Some(line), Some(rest)) = (above.last_mut(), below.first()) {
            line.clear();
            line.push(mv);
            line.extend_from_slice(rest);
        }
        if node.ply == 0 {
            self.root_best = Some((mv, score));
        }
    }

    /// A quiet move that cuts becomes a killer and gains history; those tried before it lose.
    fn reward(&mut self, node: &Node, mv: Move, quiets_from: usize) {
        let killers = &mut self.plies[node.ply].killers;
        if killers[0] != Some(mv) {
            *killers = [Some(mv), killers[0]];
        }
        let before = self.goings_before(node.ply);
        let going = |mv: Move| (super::mover(&self.position, mv), mv.to());
        let Memory { params, history, tried, .. } = &mut *self.memory;
        let bonus = (params.history_bonus * node.depth).min(params.history_most);
        let malus = -bonus * params.history_malus / 100;
        history.update(going(mv), before, bonus);
        for &other in &tried[quiets_from..] {
            history.update(going(other), before, malus);
        }
    }

    /// Checkmate or stalemate, as the variant scores it.
    fn score_without_moves(&self, node: &Node) -> i32 {
        if node.ply == 0 && !self.limits.root_moves.is_empty() {
            return node.value;
        }
        let bared = self.position.bared_king_outcome();
        let outcome = bared.unwrap_or_else(|| self.position.outcome_without_moves(node.safety.in_check));
        self.outcome_score(outcome, node.ply)
    }

    fn note(&mut self, node: &Node, found: &Progress, alpha: i32) {
        let bound = if found.best >= node.beta {
            Bound::Lower
        } else if found.best > alpha {
            Bound::Exact
        } else {
            Bound::Upper
        };
        let (key, score) = (self.position.key(), to_table(found.best, node.ply));
        // The table is asked before a check is seen to extend the depth.
        let depth = if node.safety.in_check { node.depth - self.memory.params.check_extension } else { node.depth };
        self.memory.table.store(key, found.best_move, score, node.value, depth, bound);
    }
}

/// No line from here can beat a mate already found nearer to the root.
fn within_mate_distance(alpha: i32, beta: i32, ply: usize) -> (i32, i32) {
    (alpha.max(-MATE + ply as i32), beta.min(MATE - ply as i32 - 1))
}

/// The table's score, if its depth suffices and its bound decides.
pub(super) fn usable(entry: &Entry, depth: i32, alpha: i32, beta: i32, ply: usize) -> Option<i32> {
    let score = from_table(i32::from(entry.score), ply);
    let decides = match entry.bound {
        Bound::Exact => true,
        Bound::Lower => score >= beta,
        Bound::Upper => score <= alpha,
    };
    (decides && i32::from(entry.depth) >= depth).then_some(score)
}
