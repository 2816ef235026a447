//! Scores in centipawns, with mates at the far ends.

/// Value of a mate on the board; a mate in n plies is worth n less.
pub const MATE: i32 = 31_000;
/// Greater than every score.
pub const INFINITE: i32 = 32_000;
/// Scores beyond this are mates (or other forced ends of the game).
pub const MATE_BOUND: i32 = MATE - 1_000;
/// Value of a position that an endgame table calls won, but which the move count may draw before the end; a win in n plies is
/// worth n less. More than any evaluation, less than a mate.
pub const WON: i32 = 20_000;
/// A draw.
pub const DRAW: i32 = 0;

/// Whether the score is that of a forced end.
pub const fn is_mate(score: i32) -> bool {
    score.abs() >= MATE_BOUND
}

/// Full moves to mate, negative when being mated; `None` for ordinary scores.
pub const fn mate_in(score: i32) -> Option<i32> {
    if score >= MATE_BOUND {
        Some((MATE - score + 1) / 2)
    } else if score <= -MATE_BOUND {
        Some(-((MATE + score) / 2))
    } else {
        None
    }
}

/// A score as the table stores it: mates counted from the node instead of the root.
pub(super) const fn to_table(score: i32, ply: usize) -> i32 {
    if score >= MATE_BOUND {
        score + ply as i32
    } else if score <= -MATE_BOUND {
        score - ply as i32
    } else {
        score
    }
}

/// The inverse of [`to_table`].
pub(super) const fn from_table(score: i32, ply: usize) -> i32 {
    if score >= MATE_BOUND {
        score - ply as i32
    } else if score <= -MATE_BOUND {
        score + ply as i32
    } else {
        score
    }
}
