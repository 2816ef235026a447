//! The mirror image of a position: left and right exchanged. Whether the rules treat it alike, [`crate::variant::Images`] says.

use super::{EnPassant, Position};
use crate::geometry::SquareSet;
use crate::variant::rules::Colour;
use crate::variant::{CastlingWing, Images};
use std::sync::Arc;

impl Position {
    /// The image of this position with left and right exchanged, if the rules treat it alike: its legal moves are the images of this
    /// one's, and lead to images. `None` where something tells left from right.
    pub fn mirrored(&self) -> Option<Self> {
        let rights = self.mirrored_rights()?;
        let variant = Arc::clone(&self.variant);
        let topology = variant.topology();
        let mut image = Self::empty(&variant);
        self.occupied().iter().for_each(|square| image.put(topology.mirror(square), self.piece_at(square)));
        for colour in Colour::BOTH {
            variant.units().for_each(|unit| image.set_hand(unit, colour, self.in_hand(unit, colour)));
        }
        image.set_castling(rights);
        if self.side == Colour::Black {
            image.pass_the_turn();
        }
        image.state.en_passant = self.state.en_passant.map(|EnPassant { passed, pawn }| {
            let passed: SquareSet = passed.iter().map(|square| topology.mirror(square)).collect();
            EnPassant { passed, pawn: topology.mirror(pawn) }
        });
        image.add_en_passant_to_key();
        image.state.plies_without_progress = self.state.plies_without_progress;
        image.full_moves = self.full_moves;
        Some(image)
    }

    /// The castling rights of the image. `None`: there is no image that the rules treat alike.
    fn mirrored_rights(&self) -> Option<u8> {
        match (self.variant.images(), self.castling_rights()) {
            (Images::None, _) => None,
            (_, 0) => Some(0),
            (Images::WithoutCastling, _) => None,
            (Images::All, rights) => {
                let held = self.variant.castling().iter().filter(|wing| rights & wing.right != 0);
                held.map(|wing: &CastlingWing| self.variant.mirrored_wing(wing).map(|image| image.right)).sum()
            }
        }
    }
}
