//! A game's position as plain text, with what is known of it: what UCI's `d` prints.

use crate::game::Game;
use crate::position::Position;
use crate::variant::rules::Colour;

/// The board with what is known of it, without a line end at the end.
pub fn text(game: &Game) -> String {
    let position = game.position();
    let variant = position.variant();
    let side = if position.side_to_move() == Colour::White { "white" } else { "black" };
    let mut lines = vec![
        format!("{position}\n"),
        format!("Variant: {} (rules {:.12})", variant.name(), variant.rules_hash()),
        format!("Fen: {}", position.fen()),
        format!("Key: {:016X}", position.key()),
        format!("Side to move: {side}{}", if position.in_check() { ", in check" } else { "" }),
        format!("Checkers: {}", checkers(position)).trim_end().into(),
        format!("Legal moves: {}", position.legal_moves().len()),
    ];
    if let Some(outcome) = game.outcome() {
        let result = outcome.winner.map_or("draw".into(), |winner| format!("{winner:?} wins"));
        lines.push(format!("Game over: {result} ({})", outcome.reason));
    }
    lines.join("\n")
}

/// The squares of the men that attack a royal man of the side to move.
fn checkers(position: &Position) -> String {
    let topology = position.variant().topology();
    let names = position.checkers().iter().map(|square| topology.name(square));
    names.collect::<Vec<_>>().join(" ")
}
