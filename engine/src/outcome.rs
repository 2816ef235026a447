//! How games end: by checkmate, stalemate, bared kings, repetition and the move count, as the variant says.

use crate::position::Position;
use crate::variant::rules::{BareKing, Colour, SideResult};
use std::fmt;

/// A finished game: who won, and why it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The winner, or `None` for a draw.
    pub winner: Option<Colour>,
    /// Which rule ended it.
    pub reason: Reason,
}

/// The rule that ended a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// In check without a legal move.
    Checkmate,
    /// Not in check, without a legal move.
    Stalemate,
    /// A king alone, where that decides, or both kings alone.
    BareKing,
    /// The position has occurred as often as the variant allows.
    Repetition,
    /// Too many plies without a capture or a pawn move.
    MoveCount,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Checkmate => "checkmate",
            Self::Stalemate => "stalemate",
            Self::BareKing => "bare king",
            Self::Repetition => "repetition",
            Self::MoveCount => "move count",
        })
    }
}

impl Outcome {
    fn for_side(result: SideResult, side: Colour, reason: Reason) -> Self {
        let winner = match result {
            SideResult::Win => Some(side),
            SideResult::Draw => None,
            SideResult::Loss => Some(side.opponent()),
        };
        Self { winner, reason }
    }
}

impl Position {
    /// How the game has ended here, if it has. `occurrences` is how often this position has occurred in the game, this
    /// time included. Checkmate goes before the move count.
    pub fn outcome(&self, occurrences: usize) -> Option<Outcome> {
        let side = self.side_to_move();
        if let Some(outcome) = self.bared_king_outcome() {
            return Some(outcome);
        }
        if !self.has_legal_move() {
            return Some(self.outcome_without_moves(self.in_check()));
        }
        let end = &self.variant().rules().end;
        let draw = |reason| Some(Outcome::for_side(SideResult::Draw, side, reason));
        if end.repetition.is_some_and(|limit| occurrences >= usize::from(limit)) {
            return draw(Reason::Repetition);
        }
        if end.move_count.is_some_and(|limit| self.plies_without_progress() >= limit) {
            return draw(Reason::MoveCount);
        }
        None
    }

    /// The outcome when the side to move has no legal move.
    pub fn outcome_without_moves(&self, in_check: bool) -> Outcome {
        let side = self.side_to_move();
        if in_check {
            return Outcome::for_side(SideResult::Loss, side, Reason::Checkmate);
        }
        let end = &self.variant().rules().end;
        let bare = self.is_bare(side.opponent());
        let result = if bare { end.stalemate_by_bare_king } else { end.stalemate };
        Outcome::for_side(result, side, Reason::Stalemate)
    }

    /// The outcome if bared kings have ended the game.
    pub fn bared_king_outcome(&self) -> Option<Outcome> {
        let side = self.side_to_move();
        if let Some(result) = self.bared_king_result() {
            return Some(Outcome::for_side(result, side, Reason::BareKing));
        }
        let draw = self.variant().rules().end.bare_kings_draw && self.both_bare();
        draw.then(|| Outcome::for_side(SideResult::Draw, side, Reason::BareKing))
    }

    fn both_bare(&self) -> bool {
        Colour::BOTH.iter().all(|&colour| self.is_bare(colour))
    }

    /// Where a lone king loses: what that means for the side to move here. Such a position has no moves.
    ///
    /// A side bared by the last move may still bare back where the rules allow it, so long as the opponent has only one
    /// man to lose.
    pub(crate) fn bared_king_result(&self) -> Option<SideResult> {
        let rule = self.variant().rules().end.bare_king;
        if rule == BareKing::PlaysOn {
            return None;
        }
        let side = self.side_to_move();
        let (bare, opponent_bare) = (self.is_bare(side), self.is_bare(side.opponent()));
        match (bare, opponent_bare) {
            (false, true) => Some(SideResult::Win),
            (true, false) => {
                let can_bare_back = rule == BareKing::LosesUnlessBaringBack && self.men(side.opponent()).len() <= 2;
                (!can_bare_back).then_some(SideResult::Loss)
            }
            _ => None,
        }
    }
}
