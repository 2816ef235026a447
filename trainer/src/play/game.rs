//! One game.

use super::adjudication::{Adjudication, Counts, Verdict};
use super::clock::Clocks;
use super::endgames::verdict;
use super::{Allowance, Fault, FaultKind, Mover, Thought};
use fairyforge_engine::endgame::Tables;
use fairyforge_engine::game::Game;
use fairyforge_engine::outcome::Outcome;
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::rules::Colour;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Where a game begins.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// The position from which the players play.
    pub position: &'a Position,
    /// Plies of the game before it.
    pub plies: u16,
}

/// A player at the board.
pub struct Seat<'a> {
    /// Who moves.
    pub mover: &'a mut dyn Mover,
    /// What it may spend.
    pub allowance: Allowance,
}

/// How a game ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By the rules.
    Rules(Outcome),
    /// Early, by agreement of the scores or by an endgame table.
    Adjudicated(Verdict),
    /// By the failure of a side, which loses the game on paper.
    Fault(Colour, Fault),
}

/// A move of a game with what its mover said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedMove {
    /// The move in coordinate notation.
    pub text: String,
    /// Its score for the mover, if it said one.
    pub score: Option<i32>,
    /// Depth in plies, 0 if unknown.
    pub depth: u32,
    /// Wall-clock time it took.
    pub time: Duration,
}

/// A game that was played to its end.
#[derive(Clone, Debug)]
pub struct PlayedGame {
    /// How it ended.
    pub ending: Ending,
    /// The moves from the start on.
    pub moves: Vec<PlayedMove>,
}

impl PlayedGame {
    /// 1 White won, 0 draw, −1 Black won.
    pub fn result(&self) -> i8 {
        self.ending.winner().map_or(0, |winner| match winner {
            Colour::White => 1,
            Colour::Black => -1,
        })
    }
}

impl Ending {
    /// Who won, if anybody did.
    pub fn winner(&self) -> Option<Colour> {
        match self {
            Self::Rules(outcome) => outcome.winner,
            Self::Adjudicated(Verdict::Win(side) | Verdict::TableWin(side)) => Some(*side),
            Self::Adjudicated(Verdict::Draw | Verdict::PlyLimit | Verdict::TableDraw) => None,
            Self::Fault(side, _) => Some(side.opponent()),
        }
    }

    /// How it ended, as records and journals write it.
    pub fn termination(&self) -> String {
        match self {
            Self::Rules(outcome) => outcome.reason.to_string(),
            Self::Adjudicated(Verdict::Draw) => "adjudicated draw".into(),
            Self::Adjudicated(Verdict::Win(_)) => "adjudicated win".into(),
            Self::Adjudicated(Verdict::PlyLimit) => "ply limit".into(),
            Self::Adjudicated(Verdict::TableDraw) => "adjudicated draw by table".into(),
            Self::Adjudicated(Verdict::TableWin(_)) => "adjudicated win by table".into(),
            Self::Fault(_, fault) => fault.kind.to_string(),
        }
    }
}

/// How a game has ended, if it has. The rules go before tables, and tables before what the scores agree on, `agreed`.
pub fn ending(game: &Game, endgames: Option<&Tables>, agreed: Option<Verdict>) -> Option<Ending> {
    let known = || endgames.and_then(|tables| verdict(tables, game)).or(agreed).map(Ending::Adjudicated);
    game.outcome().map(Ending::Rules).or_else(known)
}

/// What ends games besides the rules of the variant.
#[derive(Clone, Copy, Debug)]
pub struct Referee<'a> {
    /// Early ends.
    pub adjudication: &'a Adjudication,
    /// Tables that end games.
    pub endgames: Option<&'a Tables>,
    /// How much a clock may be overstepped.
    pub time_margin: Duration,
    /// Set to drop all games.
    pub stop: &'a AtomicBool,
}

impl Referee<'_> {
    /// Plays a game; the seats are White's and Black's. `observe` hears of every move before it is made. `None` if the
    /// game was stopped.
    pub fn play(
        &self,
        start: Start<'_>,
        seats: &mut [Seat<'_>; 2],
        mut observe: impl FnMut(&Game, &Thought),
    ) -> Option<PlayedGame> {
        let mut table = Table::new(start, seats, self);
        for side in Colour::BOTH {
            if let Err(fault) = seats[side.index()].mover.new_game(&table.game) {
                return self.unless_stopped(table.over(Ending::Fault(side, fault)));
            }
        }
        loop {
            if let Some(ending) = table.judge() {
                return Some(table.over(ending));
            }
            let side = table.game.position().side_to_move();
            let moved = table.ask(seats[side.index()].mover, &mut observe);
            if self.stop.load(Ordering::Relaxed) {
                return None;
            }
            if let Err(fault) = moved {
                return Some(table.over(Ending::Fault(side, fault)));
            }
        }
    }

    /// A mover that fails because it was stopped has no fault.
    fn unless_stopped(&self, game: PlayedGame) -> Option<PlayedGame> {
        (!self.stop.load(Ordering::Relaxed)).then_some(game)
    }
}

/// A game under way.
struct Table<'a> {
    game: Game,
    clocks: Clocks,
    counts: Counts,
    referee: &'a Referee<'a>,
    verdict: Option<Verdict>,
    moves: Vec<PlayedMove>,
}

impl<'a> Table<'a> {
    fn new(start: Start<'_>, seats: &[Seat<'_>; 2], referee: &'a Referee<'a>) -> Self {
        let allowances = [seats[0].allowance, seats[1].allowance];
        Self {
            game: Game::new(start.position.clone()),
            clocks: Clocks::new(allowances, referee.time_margin),
            counts: Counts::after(start.plies),
            referee,
            verdict: None,
            moves: Vec::new(),
        }
    }

    fn judge(&self) -> Option<Ending> {
        ending(&self.game, self.referee.endgames, self.verdict)
    }

    /// One move, from the question to the board.
    fn ask(&mut self, mover: &mut dyn Mover, observe: &mut impl FnMut(&Game, &Thought)) -> Result<(), Fault> {
        let budget = self.clocks.budget(self.game.position().side_to_move());
        let began = Instant::now();
        let thought = mover.choose(&self.game, &budget, self.referee.stop)?;
        let time = began.elapsed();
        observe(&self.game, &thought);
        self.make(&thought, time)
    }

    /// A move that came too late is not made: the game ended before it.
    fn make(&mut self, thought: &Thought, time: Duration) -> Result<(), Fault> {
        let side = self.game.position().side_to_move();
        self.clocks.spend(side, time).map_err(|flagged| Fault {
            kind: FaultKind::TimeForfeit,
            detail: format!("{:.0} ms too late", flagged.over.as_secs_f64() * 1e3),
        })?;
        let text = self.game.position().move_text(thought.mv);
        self.moves.push(PlayedMove { text, score: thought.score, depth: thought.depth, time });
        self.verdict = self.counts.hear(self.referee.adjudication, side, thought.score);
        self.game.play(thought.mv);
        Ok(())
    }

    fn over(self, ending: Ending) -> PlayedGame {
        PlayedGame { ending, moves: self.moves }
    }
}
