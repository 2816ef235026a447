//! Positions of the middlegame to take units away from: from the array by a few random plies and then by play.
//!
//! In an array pawns stand at home, and a pawn less is an open file; what a pawn is worth shows when it has a way to go and few
//! guards. So units can be taken away by lot from positions that were played, too.

use super::seeds::Dice;
use crate::play::{Budget, EngineMover, Mover};
use fairyforge_engine::evaluate::{Judge, Weights};
use fairyforge_engine::game::Game;
use fairyforge_engine::position::Position;
use fairyforge_engine::search::Params;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::{Colour, MAX_UNITS, Unit};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Mebibytes of the players' table: their searches are short.
const TABLE_MEBIBYTES: usize = 1;
/// Centipawns by the a-priori values that a side may be ahead where units are taken away: results near equality say most.
const MOST_AHEAD: i32 = 100;
/// Most plies of play, the greatest `most_plies` that a plan may ask for: games of some variants end by agreement only.
pub const MOST_PLIES: usize = 1000;

/// How such positions are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Played {
    /// Fewest plies of play after the random ones; an even number of plies is played in all.
    pub least_plies: u16,
    /// Most plies of play.
    pub most_plies: u16,
    /// Nodes a move.
    pub nodes: u64,
}

/// Plays to the middlegame, with a-priori weights: openings do not change with weights.
pub struct MiddlegamePlayer {
    settings: Played,
    judge: Judge,
    values: [i32; MAX_UNITS],
    /// How far White is ahead in the array, in centipawns: armies may differ.
    in_array: i32,
}

impl MiddlegamePlayer {
    /// A player of this game.
    pub fn new(variant: &Arc<Variant>, settings: Played) -> Self {
        let weights = Weights::a_priori(variant);
        let values = weights.exchange_values();
        let in_array = ahead(&Position::start(variant), &values);
        Self { settings, judge: Judge::of_weights(variant, &weights), values, in_array }
    }

    /// The first position from a ply on, drawn between the two, in which White is to move and neither side is ahead by more than
    /// a pawn. `None` if the game ends before.
    pub fn play(&self, start: &Position, dice: &mut Dice) -> Option<Position> {
        let Played { least_plies, most_plies, nodes } = self.settings;
        let plies = usize::from(least_plies) + dice.below(usize::from(most_plies.saturating_sub(least_plies)) + 1);
        let mut mover = EngineMover::new(&self.judge, &Params::default(), TABLE_MEBIBYTES);
        let budget = Budget { nodes: Some(nodes), ..Budget::default() };
        let mut game = Game::new(start.clone());
        while game.moves().len() < plies || !self.is_level(game.position()) {
            if game.outcome().is_some() || game.moves().len() >= MOST_PLIES {
                return None;
            }
            let thought = mover.choose(&game, &budget, &AtomicBool::new(false)).ok()?;
            game.play(thought.mv);
        }
        Some(game.position().clone())
    }

    /// White to move, and nobody far ahead of where the array left them.
    fn is_level(&self, position: &Position) -> bool {
        let gained = ahead(position, &self.values) - self.in_array;
        position.side_to_move() == Colour::White && gained.abs() <= MOST_AHEAD
    }
}

/// What White's men are worth more than Black's, in centipawns, those in hand too.
fn ahead(position: &Position, values: &[i32; MAX_UNITS]) -> i32 {
    let worth = |unit: Unit| {
        let [white, black] =
            Colour::BOTH.map(|colour| i32::from(position.count(unit, colour) + position.in_hand(unit, colour)));
        (white - black) * values[unit.index()]
    };
    position.variant().units().map(worth).sum()
}
