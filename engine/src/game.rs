//! A game: a position with the positions before it, so that repetition can be judged.

use crate::moves::Move;
use crate::outcome::Outcome;
use crate::position::{Position, Unobserved};

/// A position and how it came about.
#[derive(Clone, Debug)]
pub struct Game {
    start: Position,
    position: Position,
    earlier: Vec<u64>,
    moves: Vec<Move>,
}

impl Game {
    /// A game that begins here.
    pub fn new(start: Position) -> Self {
        Self { position: start.clone(), start, earlier: Vec::new(), moves: Vec::new() }
    }

    /// Where the game began.
    pub const fn start(&self) -> &Position {
        &self.start
    }

    /// Where it stands.
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// Keys of all positions before this one, oldest first: what a search needs to see repetitions.
    pub fn earlier(&self) -> &[u64] {
        &self.earlier
    }

    /// The moves played.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Plays a legal move.
    pub fn play(&mut self, mv: Move) {
        self.earlier.push(self.position.key());
        self.position.make(mv, &mut Unobserved);
        self.moves.push(mv);
    }

    /// How the game has ended, if it has.
    pub fn outcome(&self) -> Option<Outcome> {
        self.position.outcome(self.occurrences())
    }

    /// How often the position has occurred, this time included. All earlier positions count: there are pawns that step
    /// aside and back again, so that a move which sets the move count back need not be the end of all repetition.
    fn occurrences(&self) -> usize {
        1 + self.earlier.iter().filter(|&&key| key == self.position.key()).count()
    }
}
