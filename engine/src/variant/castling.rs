//! Castling compiled: for each side and wing every destination with what it asks of the squares between.

use super::rules::{CastlingSide, Colour, Rules, Unit};
use crate::geometry::{GRID_SQUARES, Square, SquareSet, Topology};

/// One castling wing of one side.
#[derive(Clone, Debug)]
pub struct CastlingWing {
    /// Whose it is.
    pub colour: Colour,
    /// Towards the higher files.
    pub higher: bool,
    /// Bit in [`crate::position::Position::castling_rights`].
    pub right: u8,
    /// The king's home.
    pub king: Square,
    /// The partner's home.
    pub partner: Square,
    /// The unit castled with.
    pub partner_unit: Unit,
    /// Every castling of this wing.
    pub destinations: Vec<CastlingDestination>,
}

/// One castling: where the king goes and what that asks for.
#[derive(Clone, Debug)]
pub struct CastlingDestination {
    /// Where the king lands.
    pub king_to: Square,
    /// Where the partner lands, beside it.
    pub partner_to: Square,
    /// Squares that must be empty (but for king and partner themselves).
    pub must_be_empty: SquareSet,
    /// Squares the king crosses before it lands; none may be attacked.
    pub crossed: Vec<Square>,
}

/// The wings of both sides, in the order of their rights.
pub(super) fn wings(rules: &Rules, royal: Unit) -> Vec<CastlingWing> {
    let Some(castling) = &rules.castling else { return Vec::new() };
    let sides = [(true, &castling.higher), (false, &castling.lower)];
    let mut wings = Vec::new();
    for colour in Colour::BOTH {
        for (bit, (higher, side)) in sides.into_iter().enumerate() {
            // On a turned board Black's wing towards its own right goes towards the lower files.
            let turned = colour == Colour::Black && rules.topology.is_turned();
            let wing = side.as_ref().map(|side| CastlingWing {
                right: 1 << (2 * colour.index() + (bit ^ usize::from(turned))),
                ..wing_of(&rules.topology, castling.partner, colour, higher != turned, side)
            });
            wings.extend(wing.filter(|wing| both_at_home(rules, royal, wing)));
        }
    }
    wings.sort_by_key(|wing| wing.right);
    wings
}

/// Whether the array has the king and its partner where the wing needs them.
fn both_at_home(rules: &Rules, royal: Unit, wing: &CastlingWing) -> bool {
    let stands = |unit, square| rules.array.contains(&(square, unit, wing.colour));
    stands(royal, wing.king) && stands(wing.partner_unit, wing.partner)
}

fn wing_of(topology: &Topology, partner_unit: Unit, colour: Colour, higher: bool, side: &CastlingSide) -> CastlingWing {
    let seen = |square| if colour == Colour::Black { topology.flip(square) } else { square };
    let (king, partner) = (seen(side.king), seen(side.partner));
    let toward = if higher { 1 } else { -1 };
    let to = |&steps: &u8| destination(topology, king, partner, steps, toward);
    let destinations: Vec<_> = side.steps.iter().filter_map(to).collect();
    CastlingWing { colour, higher, right: 0, king, partner, partner_unit, destinations }
}

fn destination(
    topology: &Topology,
    king: Square,
    partner: Square,
    steps: u8,
    toward: i8,
) -> Option<CastlingDestination> {
    let king_to = topology.step(king, toward * steps as i8, 0)?;
    let partner_to = topology.step(king_to, -toward, 0)?;
    let between = |a: Square, b: Square| {
        let files = a.file().min(b.file())..=a.file().max(b.file());
        files.filter_map(move |file| Square::at(file, a.row()))
    };
    let ways: SquareSet = between(king, king_to).chain(between(partner, partner_to)).collect();
    let own = SquareSet::only(king) | SquareSet::only(partner);
    let crossed = (1..steps as i8).filter_map(|step| topology.step(king, toward * step, 0)).collect();
    Some(CastlingDestination { king_to, partner_to, must_be_empty: ways - own, crossed })
}

/// By square: the rights that end when something leaves or enters it.
pub(super) fn touch(castling: &[CastlingWing]) -> Vec<u8> {
    let mut touch = vec![0; GRID_SQUARES];
    for wing in castling {
        touch[wing.king.index()] |= wing.right;
        touch[wing.partner.index()] |= wing.right;
    }
    touch
}
