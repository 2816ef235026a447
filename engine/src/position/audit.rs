//! The slow twin: recomputes everything that a position keeps up to date. For tests and for `debug` commands.

use super::{Piece, Position};
use crate::geometry::SquareSet;
use crate::variant::rules::{Colour, MAX_UNITS};

/// Compares every incremental fact of a position with one recomputed from the mailbox.
///
/// # Errors
/// The first fact that differs, in words.
pub fn audit(position: &Position) -> Result<(), String> {
    let variant = position.variant();
    let mut rebuilt = Position::empty(variant);
    for square in variant.topology().squares() {
        match position.piece_at(square) {
            Piece::NONE => {}
            piece => rebuilt.put(square, piece),
        }
    }
    for colour in Colour::BOTH {
        for unit in variant.units() {
            rebuilt.set_hand(unit, colour, position.in_hand(unit, colour));
        }
    }
    rebuilt.set_castling(position.castling_rights());
    rebuilt.state.en_passant = position.state.en_passant;
    rebuilt.state.plies_without_progress = position.state.plies_without_progress;
    rebuilt.full_moves = position.full_moves;
    if position.side == Colour::Black {
        rebuilt.pass_the_turn();
    }
    rebuilt.add_en_passant_to_key();
    compare("men", &position.men, &rebuilt.men)?;
    compare("counts", &position.counts, &rebuilt.counts)?;
    compare("kings", &position.kings, &rebuilt.kings)?;
    compare("key", &position.state.key, &rebuilt.state.key)?;
    let counted: [u32; 2] =
        Colour::BOTH.map(|colour| (0..MAX_UNITS).map(|unit| u32::from(position.counts[colour.index()][unit])).sum());
    compare("number of men", &position.men.map(|men: SquareSet| men.len()), &counted)
}

fn compare<T: PartialEq + std::fmt::Debug>(what: &str, kept: &T, recomputed: &T) -> Result<(), String> {
    if kept == recomputed { Ok(()) } else { Err(format!("{what}: kept {kept:?}, recomputed {recomputed:?}")) }
}
