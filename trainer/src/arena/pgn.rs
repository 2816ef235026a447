//! A game of a journal as PGN: legal moves only, what the movers said in comments, and how somebody failed if so.

use super::journal::{GameEntry, Header};
use fairyforge_engine::moves::notation::MoveTextError;
use fairyforge_engine::pgn::{Comment, PgnGame, PgnMove, PgnResult, Score};
use fairyforge_engine::position::{FenError, Position, Unobserved};
use fairyforge_engine::search::score::mate_in;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::Colour;
use std::sync::Arc;

/// What can be wrong with the moves of a game.
#[derive(Debug, thiserror::Error)]
pub enum GameError {
    /// The start position.
    #[error(transparent)]
    Start(#[from] FenError),
    /// A move.
    #[error(transparent)]
    Move(#[from] MoveTextError),
}

/// The game as PGN; `event` names the match.
///
/// # Errors
/// The position or a move is not one of the variant.
pub fn game(variant: &Arc<Variant>, header: &Header, event: &str, entry: &GameEntry) -> Result<PgnGame, GameError> {
    let mut position = Position::from_fen(variant, &entry.fen)?;
    let mut game = PgnGame::new(position.clone());
    game.result = PgnResult::from_white_points(entry.result);
    for (text, comment) in entry.moves.split_whitespace().zip(comments(entry)) {
        let mv = position.parse_move(text)?;
        position.make(mv, &mut Unobserved);
        game.moves.push(PgnMove { mv, nags: Vec::new(), comment });
    }
    if let Some(told) = told_fault(entry) {
        let comment = game.moves.last_mut().map_or(&mut game.comment, |last| &mut last.comment);
        comment.text = told;
    }
    let player = |place: usize| header.players.get(place).map_or("?", |player| player.name.as_str());
    let limits = |place: usize| header.players.get(place).map_or_else(|| "?".into(), |player| player.limits.clone());
    let tags = [
        ("Event", event.to_owned()),
        ("Round", format!("{}.{}", entry.pair + 1, entry.game + 1)),
        ("White", player(entry.white).to_owned()),
        ("Black", player(entry.black).to_owned()),
        ("WhiteTimeControl", limits(entry.white)),
        ("BlackTimeControl", limits(entry.black)),
        ("PlyCount", game.moves.len().to_string()),
        ("Termination", entry.termination.clone()),
    ];
    game.tags.extend(tags.map(|(name, value)| (name.to_owned(), value)));
    Ok(game)
}

/// `Black: illegal move: a1a9`.
fn told_fault(entry: &GameEntry) -> Option<String> {
    let fault = entry.fault.as_ref()?;
    let side = if fault.player == entry.white { Colour::White } else { Colour::Black };
    Some(format!("{side:?}: {}: {}", fault.kind, fault.detail))
}

fn comments(entry: &GameEntry) -> impl Iterator<Item = Comment> {
    let times = entry.milliseconds.as_deref().unwrap_or_default();
    entry.scores.iter().zip(&entry.depths).enumerate().map(|(place, (&score, &depth))| Comment {
        score: score.map(as_score),
        depth: score.and((depth > 0).then_some(depth)),
        milliseconds: times.get(place).copied(),
        ..Comment::default()
    })
}

/// A score of a search as PGN tells it.
pub fn as_score(score: i32) -> Score {
    match mate_in(score) {
        Some(moves) => Score::Mate { wins: moves > 0, moves: moves.unsigned_abs() },
        None => Score::Centipawns(score),
    }
}
