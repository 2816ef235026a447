//! One game between two players.

use super::adjudication::{Adjudication, Counts, Verdict};
use super::openings::Opening;
use crate::record::{GameRecord, PositionRecord};
use fairyforge_engine::evaluate::Tapered;
use fairyforge_engine::game::Game;
use fairyforge_engine::moves::Move;
use fairyforge_engine::position::Position;
use fairyforge_engine::search::{self, Limits, Memory, Report};
use fairyforge_engine::variant::rules::Colour;
use std::sync::atomic::{AtomicBool, Ordering};

/// Somebody who plays: an evaluation, a memory of its own, and how long it thinks.
pub struct Player<'a> {
    /// How it judges positions.
    pub evaluator: &'a Tapered,
    /// What it remembers of the game.
    pub memory: Memory,
    /// How long it thinks about a move.
    pub limits: Limits,
}

/// A game that was played to its end.
#[derive(Clone, Debug)]
pub struct PlayedGame {
    /// 1 White won, 0 draw, −1 Black won.
    pub result: i8,
    /// How it ended.
    pub termination: String,
    /// The moves after the opening, in coordinate notation.
    pub moves: Vec<String>,
    /// What was searched.
    pub positions: Vec<PositionRecord>,
}

impl PlayedGame {
    /// The game as a record.
    pub fn into_record(self, number: u64, opening: &Opening) -> GameRecord {
        GameRecord {
            game: number,
            start_fen: opening.start.fen(),
            random_plies: opening.random_plies,
            imbalance: opening.imbalance.clone(),
            result: self.result,
            termination: self.termination,
            plies: opening.random_plies + self.moves.len() as u16,
            positions: self.positions,
        }
    }
}

/// Plays a game from an opening; `players` are White and Black, both with fresh memories. `None` if `stop` ended it.
pub fn play(
    opening: &Opening,
    players: &mut [Player; 2],
    adjudication: &Adjudication,
    stop: &AtomicBool,
) -> Option<PlayedGame> {
    players.iter_mut().for_each(|player| player.memory.forget());
    let mut game = Game::new(opening.position.clone());
    let mut counts = Counts::after(opening.random_plies);
    let mut played = PlayedGame { result: 0, termination: String::new(), moves: Vec::new(), positions: Vec::new() };
    loop {
        if let Some(outcome) = game.outcome() {
            played.result = outcome.winner.map_or(0, sign);
            played.termination = outcome.reason.to_string();
            return Some(played);
        }
        let side = game.position().side_to_move();
        let player = &mut players[side.index()];
        let ignore = |_: &Report, _: &Memory| {};
        let (limits, evaluator) = (&player.limits, player.evaluator);
        let report =
            search::search(game.position(), game.earlier(), limits, evaluator, &mut player.memory, stop, ignore);
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        // A game without outcome has a legal move, and the search returns one.
        let best = report.best?;
        let ply = opening.random_plies + played.moves.len() as u16;
        played.positions.push(record(game.position(), best, &report, ply));
        played.moves.push(game.position().move_text(best));
        if let Some(verdict) = counts.hear(adjudication, side, report.score) {
            (played.result, played.termination) = adjudicated(verdict);
            return Some(played);
        }
        game.play(best);
    }
}

fn adjudicated(verdict: Verdict) -> (i8, String) {
    match verdict {
        Verdict::Draw => (0, "adjudicated draw".into()),
        Verdict::Win(side) => (sign(side), "adjudicated win".into()),
        Verdict::PlyLimit => (0, "ply limit".into()),
    }
}

const fn sign(winner: Colour) -> i8 {
    match winner {
        Colour::White => 1,
        Colour::Black => -1,
    }
}

fn record(position: &Position, best: Move, report: &Report, ply: u16) -> PositionRecord {
    PositionRecord {
        ply,
        packed: position.pack(),
        mv: position.move_text(best),
        score: report.score as i16,
        nodes: report.nodes as u32,
        quiet: !position.is_noisy(best) && !position.in_check(),
    }
}
