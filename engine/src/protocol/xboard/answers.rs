//! What a search says to XBoard: thinking output, the move, and how the game has ended.
//!
//! XBoard checks claims between programs against what it knows itself and forfeits the side whose claim it cannot see.
//! So between programs a won game is claimed by the loser, whom it always believes; a draw is offered before the move
//! that makes it, which XBoard takes for a claim where it sees the draw, and which the other side accepts where it does
//! not. A person is told the result at once.

use super::wire::Wire;
use crate::game::Game;
use crate::moves::Move;
use crate::outcome::{Outcome, Reason};
use crate::position::{Position, Unobserved};
use crate::protocol::thinking::{Listener, Progress};
use crate::protocol::voice::Voice;
use crate::search::Report;
use crate::search::score::mate_in;
use crate::variant::rules::Colour;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How XBoard marks mates in scores.
const MATE_MARK: i32 = 100_000;

/// What session and search share while the search runs.
#[derive(Debug, Default)]
pub(super) struct Shared(Mutex<Desk>);

#[derive(Debug, Default)]
pub(super) struct Desk {
    /// Thinking output is wanted.
    pub posts: bool,
    /// A search is under way, or its answer has not been fetched.
    pub thinking: bool,
    /// The answer is to be said when it is found.
    pub wanted: bool,
    /// Pings to be answered after the move.
    pub pings: Vec<String>,
    /// The best line so far and what it is worth to the side to move.
    pub last: Option<Found>,
}

/// What the last search found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub score: i32,
    pub line: Vec<Move>,
    pub depth: i32,
    pub nodes: u64,
    pub hundredths: u128,
}

impl Shared {
    pub fn desk(&self) -> MutexGuard<'_, Desk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is known of the other side and of XBoard's knowledge.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Audience {
    /// The other side is a program.
    pub program: bool,
    /// XBoard knows the game itself, or does not check wins in it.
    pub sees_mates: bool,
}

/// A search for a move.
pub(super) struct Player<'env, W> {
    pub voice: &'env Voice<W>,
    pub shared: Arc<Shared>,
    pub wire: Arc<Wire>,
    pub game: Game,
    pub audience: Audience,
}

impl<W: Write + Send> Listener for Player<'_, W> {
    type Said = Option<Move>;

    fn progress(&mut self, progress: &Progress<'_>) -> io::Result<()> {
        report(self.voice, &self.shared, &self.wire, progress)
    }

    /// Says the move, unless it is not wanted any more.
    fn answer(mut self, position: &Position, report: &Report) -> Option<Move> {
        let shared = Arc::clone(&self.shared);
        let mut desk = shared.desk();
        desk.thinking = false;
        let said = report.best.filter(|_| desk.wanted);
        if let Some(mv) = said {
            // A lost listener is the session's to notice.
            let _ = self.say_move(position, mv);
        }
        for number in desk.pings.drain(..) {
            let _ = self.voice.say(format_args!("pong {number}"));
        }
        said
    }
}

impl<W: Write> Player<'_, W> {
    fn say_move(&mut self, position: &Position, mv: Move) -> io::Result<()> {
        let mover = position.side_to_move();
        let texts = self.wire.move_texts(position, mv);
        self.game.play(mv);
        let outcome = self.game.outcome();
        let draws = outcome.is_some_and(|outcome| outcome.winner.is_none());
        let offer = if draws && self.audience.program { "offer draw\n" } else { "" };
        let moves = texts.iter().map(|text| format!("move {text}")).collect::<Vec<_>>().join("\n");
        self.voice.say(format_args!("{offer}{moves}"))?;
        match outcome {
            Some(outcome) if self.claims_after_move(outcome, mover) => self.voice.say(claim(outcome)),
            _ => Ok(()),
        }
    }

    fn claims_after_move(&self, outcome: Outcome, mover: Colour) -> bool {
        let wins = outcome.winner == Some(mover);
        let loses = outcome.winner == Some(mover.opponent());
        !self.audience.program || loses || (wins && self.audience.sees_mates && outcome.reason == Reason::Checkmate)
    }
}

/// A search without end.
pub(super) struct Analyst<'env, W> {
    pub voice: &'env Voice<W>,
    pub shared: Arc<Shared>,
    pub wire: Arc<Wire>,
}

impl<W: Write + Send> Listener for Analyst<'_, W> {
    type Said = Option<Move>;

    fn progress(&mut self, progress: &Progress<'_>) -> io::Result<()> {
        report(self.voice, &self.shared, &self.wire, progress)
    }

    fn answer(self, _: &Position, _: &Report) -> Option<Move> {
        self.shared.desk().thinking = false;
        None
    }
}

/// Notes what is found, and says it as `ply score time nodes line` if that is wanted.
fn report<W: Write>(voice: &Voice<W>, shared: &Shared, wire: &Wire, progress: &Progress<'_>) -> io::Result<()> {
    let &Progress { position, report, time, .. } = progress;
    let hundredths = time.as_millis() / 10;
    let posts = {
        let mut desk = shared.desk();
        let line = report.line.clone();
        let (score, depth, nodes) = (report.score, report.depth, report.nodes);
        desk.last = Some(Found { score, line, depth, nodes, hundredths });
        desk.posts
    };
    if !posts {
        return Ok(());
    }
    let score = match mate_in(report.score) {
        Some(moves) if moves > 0 => MATE_MARK + moves,
        Some(moves) => -MATE_MARK + moves,
        None => report.score,
    };
    let line = line_text(wire, position, &report.line);
    voice.say(format_args!("{} {score} {hundredths} {} {line}", report.depth, report.nodes))
}

fn line_text(wire: &Wire, position: &Position, line: &[Move]) -> String {
    let mut position = position.clone();
    let texts = line.iter().map(|&mv| {
        let text = wire.shown_move(&position, mv);
        position.make(mv, &mut Unobserved);
        text
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// The result by the rules, as `1-0 {White mates}`.
pub(super) fn claim(outcome: Outcome) -> String {
    let winner = match outcome.winner {
        Some(Colour::White) => "White",
        Some(Colour::Black) => "Black",
        None => "",
    };
    let loser = outcome.winner.map_or("", |winner| if winner == Colour::White { "Black" } else { "White" });
    let result = match outcome.winner {
        Some(Colour::White) => "1-0",
        Some(Colour::Black) => "0-1",
        None => "1/2-1/2",
    };
    let reason = match (outcome.reason, outcome.winner) {
        (Reason::Checkmate, Some(_)) => format!("{winner} mates"),
        (Reason::Stalemate, Some(_)) => format!("{winner} wins by stalemate"),
        (Reason::BareKing, Some(_)) => format!("{loser} has a bare king"),
        (Reason::Repetition, Some(_)) => format!("{winner} wins by repetition"),
        (Reason::MoveCount, Some(_)) => format!("{winner} wins by move count"),
        (Reason::Checkmate | Reason::Stalemate, None) => "Stalemate".into(),
        (Reason::BareKing, None) => "Draw by bare kings".into(),
        (Reason::Repetition, None) => "Draw by repetition".into(),
        (Reason::MoveCount, None) => "Draw by move count".into(),
    };
    format!("{result} {{{reason}}}")
}

/// A search whose answer only the session hears.
pub(super) struct Silent;

impl Listener for Silent {
    type Said = Option<Move>;

    fn progress(&mut self, _: &Progress<'_>) -> io::Result<()> {
        Ok(())
    }

    fn answer(self, _: &Position, report: &Report) -> Option<Move> {
        report.best
    }
}
