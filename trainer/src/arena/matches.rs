//! Playing a match: pairs of games side by side, each pair by one thread, every game on disk before it counts.
//!
//! Workers play, one a thread; the bookkeeper alone writes the journal, tallies what is written, and ends the match when
//! it is decided or cannot go on. Where a match ends and what it says depend on games, never on threads: with limits in
//! nodes and players of our own the journal is the same byte for byte.

use super::contestant::Contestant;
use super::journal::{EntryFault, GameEntry, Header, Journal, JournalError};
use super::openings::{MatchOpening, OpeningBook};
use super::schedule::{GameNumber, Schedule};
use super::sprt::{Sprt, SprtError};
use super::standing::Standing;
use crate::play::{Adjudication, Ending, Mover, PlayedGame, Referee, Seat, Start};
use crate::run_dir::FileError;
use fairyforge_engine::variant::Variant;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often the bookkeeper looks whether somebody wants the match to end.
const GLANCE: Duration = Duration::from_millis(50);
/// Games that may wait to be written; workers wait when there are more.
const MOST_WAITING: usize = 256;

/// What is agreed on besides the players and the schedule.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Early ends of games.
    pub adjudication: Adjudication,
    /// How much a clock may be overstepped.
    pub time_margin: Duration,
    /// The test that may end the match.
    pub sprt: Option<Sprt>,
    /// Crashes and the like that a player is allowed; one more ends the match.
    pub breakdowns: u64,
}

/// A match between players.
pub struct Match<'a> {
    /// The game.
    pub variant: &'a Arc<Variant>,
    /// Who plays.
    pub contestants: &'a [Contestant],
    /// Who meets whom.
    pub schedule: Schedule,
    /// Where games begin.
    pub openings: OpeningBook,
    /// What is agreed on.
    pub terms: Terms,
    /// Seed of the openings.
    pub seed: u64,
}

/// Why a match ended early.
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The disk refuses.
    #[error(transparent)]
    File(#[from] FileError),
    /// The sequential test cannot be made.
    #[error(transparent)]
    Sprt(#[from] SprtError),
    /// A program broke down too often.
    #[error("{player}: expected at most {allowed} crashes, hangs and illegal moves, got {got}; the last: {last}")]
    Breakdowns {
        /// Who.
        player: String,
        /// How often is allowed.
        allowed: u64,
        /// How often it was.
        got: u64,
        /// The last one.
        last: String,
    },
    /// Somebody asked for it; the games played are safe.
    #[error("stopped on request")]
    Stopped,
}

impl Match<'_> {
    /// Plays all games that the journal at `path` does not hold yet, on rayon's current threads, and returns how the
    /// match stands at its end. `watch` hears how it stands at first and whenever games have been written.
    ///
    /// # Errors
    /// The journal cannot be read or written, a player breaks down too often, or `stop` was set.
    pub fn play(
        &self,
        path: &Path,
        stop: &AtomicBool,
        watch: &mut (dyn FnMut(&Standing) + Send),
    ) -> Result<Standing, MatchError> {
        let players = self.contestants.iter().map(Contestant::introduce).collect();
        let header = Header::new(self.variant, self.seed, players);
        let (journal, games) = Journal::open(path, &header)?;
        let mut standing = Standing::new(self.schedule.clone(), self.contestants.len(), self.terms.sprt);
        games.iter().try_for_each(|game| standing.add(game))?;
        watch(&standing);
        let mut books = Books { contest: self, journal, standing, halt: &AtomicBool::new(false) };
        if !books.standing.is_over() {
            self.play_open_games(&mut books, stop, watch)?;
        }
        let Books { mut journal, standing, .. } = books;
        if !standing.is_over() {
            return Err(MatchError::Stopped);
        }
        journal.put_in_order(standing.end())?;
        Ok(standing)
    }

    fn play_open_games(
        &self,
        books: &mut Books<'_>,
        stop: &AtomicBool,
        watch: &mut (dyn FnMut(&Standing) + Send),
    ) -> Result<(), MatchError> {
        let halt = books.halt;
        let open = Mutex::new(self.open_pairs(&books.journal));
        let (written, finished) = sync_channel(MOST_WAITING);
        std::thread::scope(|scope| {
            let bookkeeper = scope.spawn(move || {
                let kept = books.keep(&finished, stop, watch);
                // However it ended: without a bookkeeper nobody needs to play.
                books.halt.store(true, Ordering::Relaxed);
                kept
            });
            rayon::broadcast(|_| Worker::new(self, halt).play(&open, &written.clone()));
            drop(written);
            bookkeeper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Every pair that is not complete, with the games it lacks.
    fn open_pairs(&self, journal: &Journal) -> impl Iterator<Item = (u64, Vec<u8>)> + Send + use<> {
        let there = journal.numbers();
        let lacks = move |pair| (0..2).filter(|&game| !there.contains(&GameNumber { pair, game })).collect();
        (0..self.schedule.pairs())
            .map(move |pair| (pair, lacks(pair)))
            .filter(|(_, games): &(u64, Vec<u8>)| !games.is_empty())
    }
}

/// Who writes and counts.
struct Books<'a> {
    contest: &'a Match<'a>,
    journal: Journal,
    standing: Standing,
    /// Set to end all games under way.
    halt: &'a AtomicBool,
}

impl Books<'_> {
    /// Writes games as they come, until all workers have gone.
    fn keep(
        &mut self,
        finished: &Receiver<GameEntry>,
        stop: &AtomicBool,
        watch: &mut (dyn FnMut(&Standing) + Send),
    ) -> Result<(), MatchError> {
        loop {
            match finished.recv_timeout(GLANCE) {
                Ok(first) => {
                    let games: Vec<GameEntry> = std::iter::once(first).chain(finished.try_iter()).collect();
                    self.enter(&games)?;
                    watch(&self.standing);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if stop.load(Ordering::Relaxed) || self.standing.is_over() {
                self.halt.store(true, Ordering::Relaxed);
            }
        }
    }

    /// First on disk, then in the tally.
    fn enter(&mut self, games: &[GameEntry]) -> Result<(), MatchError> {
        self.journal.append(games)?;
        for game in games {
            self.standing.add(&game.summary())?;
            self.check_breakdowns(game)?;
        }
        Ok(())
    }

    fn check_breakdowns(&self, game: &GameEntry) -> Result<(), MatchError> {
        let Some(fault) = &game.fault else { return Ok(()) };
        let (got, allowed) = (self.standing.faults()[fault.player].breakdowns(), self.contest.terms.breakdowns);
        if got <= allowed {
            return Ok(());
        }
        let player = self.contest.contestants[fault.player].name.clone();
        Err(MatchError::Breakdowns { player, allowed, got, last: format!("{}: {}", fault.kind, fault.detail) })
    }
}

/// Who plays, on one thread, with players of its own.
struct Worker<'a> {
    contest: &'a Match<'a>,
    halt: &'a AtomicBool,
    /// Started when first needed, and again after a failure.
    movers: Vec<Option<Box<dyn Mover + 'a>>>,
}

impl<'a> Worker<'a> {
    fn new(contest: &'a Match<'a>, halt: &'a AtomicBool) -> Self {
        Self { contest, halt, movers: contest.contestants.iter().map(|_| None).collect() }
    }

    fn play(&mut self, open: &Mutex<impl Iterator<Item = (u64, Vec<u8>)>>, written: &SyncSender<GameEntry>) {
        while !self.halt.load(Ordering::Relaxed) {
            // A panic elsewhere leaves an iterator whole.
            let next = open.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((pair, games)) = next else { return };
            for game in games {
                let Some(entry) = self.game(GameNumber { pair, game }) else { return };
                // Nobody writes any more: the bookkeeper tells why.
                if written.send(entry).is_err() {
                    return;
                }
            }
        }
    }

    fn game(&mut self, number: GameNumber) -> Option<GameEntry> {
        let slot = self.contest.schedule.slot(number.pair);
        let opening = self.contest.openings.opening(slot.opening);
        let [first, second] = slot.players;
        let players = if number.game == 0 { [first, second] } else { [second, first] };
        let played = self.seated(players, &opening)?;
        if let Ending::Fault(side, _) = played.ending {
            self.movers[players[side.index()]] = None;
        }
        Some(self.entry(number, players, &opening, &played))
    }

    /// The game between White and Black; `None` if it was stopped.
    fn seated(&mut self, players: [usize; 2], opening: &MatchOpening) -> Option<PlayedGame> {
        let contestants = self.contest.contestants;
        for player in players {
            self.movers[player].get_or_insert_with(|| contestants[player].mover());
        }
        let [white, black] = self.movers.get_disjoint_mut(players).ok()?;
        let mut seats = [
            Seat { mover: white.as_mut()?.as_mut(), allowance: contestants[players[0]].allowance },
            Seat { mover: black.as_mut()?.as_mut(), allowance: contestants[players[1]].allowance },
        ];
        let terms = &self.contest.terms;
        let referee = Referee { adjudication: &terms.adjudication, time_margin: terms.time_margin, stop: self.halt };
        referee.play(Start { position: &opening.position, plies: opening.plies }, &mut seats, |_, _| ())
    }

    fn entry(&self, number: GameNumber, players: [usize; 2], opening: &MatchOpening, played: &PlayedGame) -> GameEntry {
        let on_time = players.iter().any(|&player| self.contest.contestants[player].allowance.time.is_some());
        let texts: Vec<&str> = played.moves.iter().map(|mv| mv.text.as_str()).collect();
        let fault = match &played.ending {
            Ending::Fault(side, fault) => {
                Some(EntryFault { player: players[side.index()], kind: fault.kind, detail: fault.detail.clone() })
            }
            _ => None,
        };
        GameEntry {
            pair: number.pair,
            game: number.game,
            white: players[0],
            black: players[1],
            fen: opening.position.fen(),
            plies: opening.plies,
            result: played.result(),
            termination: played.ending.termination(),
            fault,
            moves: texts.join(" "),
            scores: played.moves.iter().map(|mv| mv.score).collect(),
            depths: played.moves.iter().map(|mv| mv.depth).collect(),
            milliseconds: on_time.then(|| played.moves.iter().map(|mv| mv.time.as_millis() as u64).collect()),
        }
    }
}
