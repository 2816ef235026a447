//! What ends a game by the men alone, and what a side without a move has.
//!
//! [`crate::outcome`] says the same of a position; here it is said once for all positions of a table.

use super::Material;
use crate::variant::Variant;
use crate::variant::rules::{BareKing, Colour, SideResult};

/// The ends of a material, by side to move.
pub(super) struct Ends {
    /// The result at once for the side to move, if bared kings have ended the game.
    pub at_once: [Option<SideResult>; 2],
    /// The result for a side that has no move and is not in check.
    pub stalemate: [SideResult; 2],
}

impl Ends {
    pub fn of(variant: &Variant, material: &Material) -> Self {
        let end = &variant.rules().end;
        let by_bare_king = |side: Colour| material.count(side.opponent()) == 1;
        Self {
            at_once: Colour::BOTH.map(|side| at_once(variant, material, side)),
            stalemate: Colour::BOTH
                .map(|side| if by_bare_king(side) { end.stalemate_by_bare_king } else { end.stalemate }),
        }
    }
}

fn at_once(variant: &Variant, material: &Material, side: Colour) -> Option<SideResult> {
    let end = &variant.rules().end;
    let opponents = material.count(side.opponent());
    match (material.count(side) == 1, opponents == 1, end.bare_king) {
        (true, true, _) => end.bare_kings_draw.then_some(SideResult::Draw),
        (_, _, BareKing::PlaysOn) | (false, false, _) => None,
        (false, true, _) => Some(SideResult::Win),
        (true, false, BareKing::LosesUnlessBaringBack) if opponents <= 2 => None,
        (true, false, _) => Some(SideResult::Loss),
    }
}
