//! Counting the leaves of the tree of legal moves.

use super::{Move, Safety, Wanted};
use crate::position::{Position, Unobserved};

/// Leaves of the tree of legal moves at `depth` plies; leaves of the last ply are counted without being played.
pub fn perft(position: &mut Position, depth: u32) -> u64 {
    let mut pool = Vec::new();
    match depth {
        0 => 1,
        _ => count(position, depth, &mut pool),
    }
}

/// Leaves below each legal move, in the order the moves are generated.
pub fn divide(position: &mut Position, depth: u32) -> Vec<(Move, u64)> {
    let moves = position.legal_moves();
    moves
        .into_iter()
        .map(|mv| {
            let undo = position.make(mv, &mut Unobserved);
            let leaves = perft(position, depth.saturating_sub(1));
            position.unmake(mv, &undo);
            (mv, leaves)
        })
        .collect()
}

/// `pool` holds the moves of all plies above, so that the recursion allocates nothing.
fn count(position: &mut Position, depth: u32, pool: &mut Vec<Move>) -> u64 {
    let safety = Safety::of(position);
    if depth == 1 {
        let mut leaves = 0;
        position.generate(&safety, Wanted::All, |_| leaves += 1);
        return leaves;
    }
    let first = pool.len();
    position.generate(&safety, Wanted::All, |mv| pool.push(mv));
    let mut leaves = 0;
    for index in first..pool.len() {
        let mv = pool[index];
        let undo = position.make(mv, &mut Unobserved);
        leaves += count(position, depth - 1, pool);
        position.unmake(mv, &undo);
    }
    pool.truncate(first);
    leaves
}
