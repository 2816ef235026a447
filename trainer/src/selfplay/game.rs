//! One game of self-play as a record: played by [`crate::play`], with every position that was searched.

use super::openings::Opening;
use crate::play::{Allowance, EngineMover, Referee, Seat, Start, Thought};
use crate::record::{GameRecord, PositionRecord};
use fairyforge_engine::position::Position;

/// Our engine with what it may spend on a move.
pub struct Player<'a> {
    /// Who moves.
    pub mover: EngineMover<'a>,
    /// What it may spend.
    pub allowance: Allowance,
}

/// Plays game `number` from an opening and records it; `players` are White and Black. `None` if it was stopped.
pub fn record_game(
    number: u64,
    opening: &Opening,
    players: &mut [Player; 2],
    referee: &Referee<'_>,
) -> Option<GameRecord> {
    let mut positions = Vec::new();
    let mut seats = players.each_mut().map(|player| Seat { mover: &mut player.mover, allowance: player.allowance });
    let start = Start { position: &opening.position, plies: opening.random_plies };
    let played = referee.play(start, &mut seats, |game, thought| {
        let ply = opening.random_plies + positions.len() as u16;
        positions.push(record(game.position(), thought, ply));
    })?;
    Some(GameRecord {
        game: number,
        start_fen: opening.start.fen(),
        random_plies: opening.random_plies,
        imbalance: opening.imbalance.clone(),
        result: played.result(),
        termination: played.ending.termination(),
        plies: opening.random_plies + positions.len() as u16,
        positions,
    })
}

fn record(position: &Position, thought: &Thought, ply: u16) -> PositionRecord {
    PositionRecord {
        ply,
        packed: position.pack(),
        mv: position.move_text(thought.mv),
        score: thought.score.unwrap_or_default() as i16,
        nodes: thought.nodes as u32,
        quiet: !position.is_noisy(thought.mv) && !position.in_check(),
    }
}
