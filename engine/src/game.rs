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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Reason;
    use crate::variant::Variant;
    use std::sync::Arc;

    /// A Ninja Pawn's step aside sets the move count back, and yet it can be taken back.
    #[test]
    fn pawns_that_step_aside_and_back_repeat_the_position() {
        let variant = Arc::new(Variant::load("herculean").unwrap());
        let start = Position::from_fen(&variant, "k11/12/12/12/12/12/12/12/12/12/3N8/11K w - - 0 1").unwrap();
        let mut game = Game::new(start);
        for round in 0..2 {
            for text in ["d2e2", "a12b12", "e2d2", "b12a12"] {
                assert_eq!(game.outcome(), None, "round {round}, before {text}");
                let mv = game.position().parse_move(text).unwrap();
                game.play(mv);
            }
        }
        assert_eq!(game.outcome().map(|outcome| outcome.reason), Some(Reason::Repetition));
    }
}
