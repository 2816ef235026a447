//! Whether a game's rules are the same from left and right, so that a position and its mirror image are worth the same.
//!
//! Knows no positions: [`crate::position::Position::mirrored`] makes images, networks and books ask here whether they may.
//! Decided by comparing what the compiled rules allow, square by square, as in `endgame`: a hole, a zone on one wing or a unit
//! that leans to one side breaks it. The array counts only for what the rules make of it: homes of initial moves
//! and castling.

use super::rules::{Colour, Unit};
use super::{CastlingWing, Variant};
use crate::geometry::{Square, SquareSet};
use std::collections::HashSet;

/// Which positions of a game have a mirror image that the rules treat alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Images {
    /// None: something tells left from right.
    None,
    /// Those without castling rights: castling alone tells left from right.
    WithoutCastling,
    /// All.
    All,
}

impl Variant {
    /// Which positions have a mirror image that is worth the same. Found when it is asked for first.
    pub fn images(&self) -> Images {
        *self.images.get_or_init(|| match (difference_beside_castling(self), castling_difference(self)) {
            (Some(_), _) => Images::None,
            (None, Some(_)) => Images::WithoutCastling,
            (None, None) => Images::All,
        })
    }

    /// The wing that mirrors another, where castling is the same from left and right.
    pub fn mirrored_wing(&self, wing: &CastlingWing) -> Option<&CastlingWing> {
        let mirror = Mirror { variant: self };
        self.castling().iter().find(|other| mirror.is_image(wing, other))
    }
}

/// The first thing found that tells left from right, in words; castling is not looked at.
pub(crate) fn difference_beside_castling(variant: &Variant) -> Option<String> {
    let mirror = Mirror { variant };
    if mirror.set(variant.topology().squares()) != variant.topology().squares() {
        return Some("a board with holes on one side".into());
    }
    if mirror.set(variant.drop_zone(Colour::White)) != variant.drop_zone(Colour::White) {
        return Some("a zone of drops that leans to one side".into());
    }
    let lopsided = variant.units().find(|&unit| Colour::BOTH.iter().any(|&colour| !mirror.keeps(unit, colour)));
    lopsided.map(|unit| format!("moves or promotions of {} that lean to one side", variant.unit(unit).name))
}

/// Castling that is not the same on both wings.
pub(crate) fn castling_difference(variant: &Variant) -> Option<String> {
    let has_image = |wing| variant.mirrored_wing(wing).is_some();
    (!variant.castling().iter().all(has_image)).then(|| "castling that differs between the wings".into())
}

struct Mirror<'a> {
    variant: &'a Variant,
}

/// A way as sets: where it ends, what must be empty, what occupied, and what may be done at the end.
type WayAsSets = (Square, SquareSet, SquareSet, bool, bool);

impl Mirror<'_> {
    fn square(&self, square: Square) -> Square {
        self.variant.topology().mirror(square)
    }

    fn set(&self, set: SquareSet) -> SquareSet {
        set.iter().map(|square| self.square(square)).collect()
    }

    /// Whether a unit moves and promotes on the image of every square as on the square. Of a square and its image, one is
    /// looked at: finding all ways takes its time.
    fn keeps(&self, unit: Unit, colour: Colour) -> bool {
        let promotion = |square| self.variant.promotion(unit, colour, square);
        let left_half = |square: &Square| square.file() <= self.square(*square).file();
        self.variant.topology().squares().iter().filter(left_half).all(|square| {
            let image = self.square(square);
            promotion(square) == promotion(image) && {
                let (here, there) = (self.ways(unit, colour, square), self.ways(unit, colour, image));
                here.len() == there.len() && here.iter().all(|way| there.contains(&self.way(way)))
            }
        })
    }

    fn ways(&self, unit: Unit, colour: Colour, square: Square) -> HashSet<WayAsSets> {
        let ways = self.variant.ways(unit, colour, square, |_| true);
        ways.iter().map(|way| (way.target, way.empty, way.occupied, way.moves, way.captures)).collect()
    }

    fn way(&self, &(target, empty, occupied, moves, captures): &WayAsSets) -> WayAsSets {
        (self.square(target), self.set(empty), self.set(occupied), moves, captures)
    }

    fn is_image(&self, wing: &CastlingWing, other: &CastlingWing) -> bool {
        let ends = |wing: &CastlingWing| -> Vec<(Square, Square)> {
            wing.destinations.iter().map(|destination| (destination.king_to, destination.partner_to)).collect()
        };
        let images: Vec<_> = ends(wing).into_iter().map(|(king, man)| (self.square(king), self.square(man))).collect();
        wing.colour == other.colour
            && self.square(wing.king) == other.king
            && self.square(wing.partner) == other.partner
            && images == ends(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_that_tell_left_from_right_are_found_out() {
        let of = |name: &str| {
            let variant = Variant::load(name).unwrap();
            (difference_beside_castling(&variant), castling_difference(&variant))
        };
        assert_eq!(of("shatranj"), (None, None));
        let (beside, castling) = of("chess");
        assert_eq!(beside, None);
        assert!(castling.is_some_and(|difference| difference.contains("wings")));
        // Pawns that go towards a corner.
        let (beside, castling) = of("legan");
        assert!(beside.is_some_and(|difference| difference.contains("pawn")));
        assert_eq!(castling, None);
    }

    #[test]
    fn which_positions_have_images_follows_from_what_differs() {
        let of = |name: &str| Variant::load(name).unwrap().images();
        assert_eq!((of("shatranj"), of("chess"), of("legan")), (Images::All, Images::WithoutCastling, Images::None));
    }
}
