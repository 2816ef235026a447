//! Playing a match: pairs of games side by side, each pair by one thread, every game on disk before it counts.
//!
//! Workers play, one a thread; the bookkeeper alone writes the journal, tallies what is written, and ends the match when
//! it is decided or cannot go on. Where a match ends and what it says depend on games, never on threads: with limits in
//! nodes and players of our own the journal is the same byte for byte.

use super::contestant::{Contestant, Seated};
use super::external::{Lag, StartError};
use super::journal::{EntryFault, GameEntry, GameSummary, Header, Journal, JournalError, JournalPlayer, Reader};
use super::openings::{MatchOpening, OpeningBook};
use super::schedule::{GameNumber, Schedule};
use super::sprt::{Sprt, SprtError};
use super::standing::Standing;
use crate::play::{Adjudication, Ending, FaultKind, PlayedGame, Referee, Seat, Start};
use crate::run_dir::{FileError, PartFiles};
use crate::share::{Part, Share, Shared};
use fairyforge_engine::endgame::Tables;
use fairyforge_engine::variant::Variant;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the bookkeeper looks whether somebody wants the match to end.
const GLANCE: Duration = Duration::from_millis(50);
/// Longer than this beyond a glance, no scheduler lets a thread wait that has work: the process was stopped.
const SLEPT: Duration = Duration::from_secs(1);
/// Games that may wait to be written; workers wait when there are more.
const MOST_WAITING: usize = 256;

/// What a match is cut into.
const UNITS: &str = "pairs";
/// A pair that is not complete, with the games it lacks.
type OpenPair = (u64, Vec<u8>);

/// What is agreed on besides the players and the schedule.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Early ends of games.
    pub adjudication: Adjudication,
    /// Tables that end games, as the adjudication names them.
    pub endgames: Option<Arc<Tables>>,
    /// How much a clock may be overstepped.
    pub time_margin: Duration,
    /// The test that may end the match.
    pub sprt: Option<Sprt>,
    /// Crashes and the like that a player is allowed before the match is stopped; started again, it is allowed as many
    /// again, since somebody will have looked into them.
    pub breakdowns: u64,
}

/// A match between players.
pub struct Match<'a> {
    /// The game.
    pub variant: &'a Arc<Variant>,
    /// Who plays.
    pub contestants: &'a [Contestant],
    /// The same as they have introduced themselves.
    pub players: Vec<JournalPlayer>,
    /// Who meets whom.
    pub schedule: Schedule,
    /// Where games begin.
    pub openings: OpeningBook,
    /// What is agreed on.
    pub terms: Terms,
    /// Seed of the openings.
    pub seed: u64,
    /// Which of its pairs this process plays.
    pub share: Share,
}

/// A match that is over.
#[derive(Clone, Debug)]
pub struct Played {
    /// How it stands.
    pub standing: Standing,
    /// How late the lines of each player came in this process, if it is a program outside.
    pub lags: Vec<Option<Lag>>,
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
    /// A program outside cannot play.
    #[error(transparent)]
    Introduction(Box<StartError>),
    /// A program that failed could not be started again.
    #[error("cannot start {player} again: {source}")]
    Start {
        /// Who.
        player: String,
        /// Why not.
        source: Box<StartError>,
    },
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
    /// The pairs are played by several processes, and are not all there.
    #[error(transparent)]
    Shared(#[from] Shared),
}

impl From<StartError> for MatchError {
    fn from(error: StartError) -> Self {
        Self::Introduction(Box::new(error))
    }
}

impl Match<'_> {
    /// Plays all games of this process's share that the journal at `path` does not hold yet, on rayon's current threads, and returns
    /// how the match stands at its end. `watch` hears how it stands at first and whenever games have been written.
    ///
    /// # Errors
    /// The journal cannot be read or written, a player breaks down too often, `stop` was set, or with this share the match is not
    /// over.
    pub fn play(
        &self,
        path: &Path,
        stop: &AtomicBool,
        watch: &mut (dyn FnMut(&Standing) + Send),
    ) -> Result<Played, MatchError> {
        match self.share {
            Share::Part(part) => self.play_part(part, path, stop, watch),
            Share::All | Share::Nothing => self.play_whole(path, stop, watch),
        }
    }

    fn play_whole(
        &self,
        path: &Path,
        stop: &AtomicBool,
        watch: &mut (dyn FnMut(&Standing) + Send),
    ) -> Result<Played, MatchError> {
        let (header, pairs) = (self.header(), self.schedule.pairs());
        let (mut journal, mut games) = Journal::open(path, &header, pairs)?;
        games.extend(journal.take_in(&PartFiles::of(path), &header, pairs)?);
        let mut standing = self.standing(&games)?;
        watch(&standing);
        let mut lags = vec![None; self.contestants.len()];
        if !standing.is_over() {
            let open = self.open_pairs(0..pairs, &journal.numbers());
            if self.share == Share::Nothing {
                let (missing, of) = (open.len() as u64, pairs);
                return Err(Shared::Wanted { place: path.to_owned(), units: UNITS, missing, of }.into());
            }
            let signals = Signals::default();
            let mut books = self.books((journal, standing), &signals);
            lags = self.play_open_games(&mut books, open, stop, watch)?;
            Books { journal, standing, .. } = books;
        }
        if !standing.is_over() {
            return Err(MatchError::Stopped);
        }
        journal.put_in_order(standing.end())?;
        Ok(Played { standing, lags })
    }

    /// Plays the pairs of a part that nobody has played yet, into a file beside the journal. A match that is over already has no parts.
    fn play_part(
        &self,
        part: Part,
        path: &Path,
        stop: &AtomicBool,
        watch: &mut (dyn FnMut(&Standing) + Send),
    ) -> Result<Played, MatchError> {
        let (header, files) = (self.header(), PartFiles::of(path));
        let recorded = self.recorded(path, &header)?;
        let standing = self.standing(&recorded)?;
        if standing.is_over() {
            return Ok(Played { standing, lags: vec![None; self.contestants.len()] });
        }
        let range = part.range(self.schedule.pairs());
        let mut there: BTreeSet<GameNumber> = recorded.iter().map(|game| game.number).collect();
        for file in files.beginning_with(range.start)? {
            there.extend(self.recorded(&file, &header)?.iter().map(|game| game.number));
        }
        let file = files.new_file(range.start);
        let open = self.open_pairs(range, &there);
        let (place, played) = (path.to_owned(), open.len() as u64);
        if played > 0 {
            self.play_apart(&file, open, stop, watch)?;
        }
        Err(Shared::Played { part, place, units: UNITS, played }.into())
    }

    /// Plays these pairs, whatever they say, into a file of their own.
    fn play_apart(
        &self,
        path: &Path,
        open: Vec<OpenPair>,
        stop: &AtomicBool,
        watch: &mut (dyn FnMut(&Standing) + Send),
    ) -> Result<(), MatchError> {
        let (journal, _) = Journal::open(path, &self.header(), self.schedule.pairs())?;
        // Without a test: a part knows too little to end the match.
        let standing = Standing::new(self.schedule.clone(), self.contestants.len(), None);
        let games: usize = open.iter().map(|(_, games)| games.len()).sum();
        let signals = Signals::default();
        let mut books = self.books((journal, standing), &signals);
        self.play_open_games(&mut books, open, stop, watch)?;
        if books.journal.numbers().len() < games { Err(MatchError::Stopped) } else { Ok(()) }
    }

    fn standing(&self, games: &[GameSummary]) -> Result<Standing, MatchError> {
        let mut standing = Standing::new(self.schedule.clone(), self.contestants.len(), self.terms.sprt);
        games.iter().try_for_each(|game| standing.add(game))?;
        Ok(standing)
    }

    fn header(&self) -> Header {
        Header::new(self.variant, self.seed, self.players.clone())
    }

    /// The games of a journal that somebody else writes to.
    fn recorded(&self, path: &Path, header: &Header) -> Result<Vec<GameSummary>, JournalError> {
        if !path.exists() {
            return Ok(Vec::new());
        }
        Reader::open_of(path, header)?.map(|entry| entry.map(|entry| entry.summary())).collect()
    }

    fn books<'b>(&'b self, (journal, standing): (Journal, Standing), signals: &'b Signals) -> Books<'b> {
        Books { contest: self, journal, standing, breakdowns: vec![0; self.contestants.len()], signals }
    }

    fn play_open_games(
        &self,
        books: &mut Books<'_>,
        open: Vec<OpenPair>,
        stop: &AtomicBool,
        watch: &mut (dyn FnMut(&Standing) + Send),
    ) -> Result<Vec<Option<Lag>>, MatchError> {
        let signals = books.signals;
        let open = Mutex::new(open.into_iter());
        let (written, finished) = sync_channel(MOST_WAITING);
        std::thread::scope(|scope| {
            let bookkeeper = scope.spawn(move || {
                let kept = books.keep(&finished, stop, watch);
                // However it ended: without a bookkeeper nobody needs to play.
                signals.halt.store(true, Ordering::Relaxed);
                kept
            });
            let worked = rayon::broadcast(|_| Worker::new(self, signals, stop).work(&open, &written.clone()));
            drop(written);
            let kept = bookkeeper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let mut lags = vec![None; self.contestants.len()];
            for lag in worked.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten() {
                merge_lag(&mut lags, lag);
            }
            kept.map(|()| lags)
        })
    }

    /// Every pair in a range that is not complete, with the games it lacks.
    fn open_pairs(&self, range: Range<u64>, there: &BTreeSet<GameNumber>) -> Vec<OpenPair> {
        let lacks = |pair| (0..2).filter(|&game| !there.contains(&GameNumber { pair, game })).collect();
        range.map(|pair| (pair, lacks(pair))).filter(|(_, games): &OpenPair| !games.is_empty()).collect()
    }
}

fn merge_lag(lags: &mut [Option<Lag>], (player, lag): (usize, Lag)) {
    lags[player] = Some(lags[player].map_or(lag, |all| all.with(lag)));
}

/// Who writes and counts.
struct Books<'a> {
    contest: &'a Match<'a>,
    journal: Journal,
    standing: Standing,
    /// Crashes and the like of each player in this process.
    breakdowns: Vec<u64>,
    signals: &'a Signals,
}

/// What the bookkeeper tells the workers.
#[derive(Debug, Default)]
struct Signals {
    /// Set to end all games under way.
    halt: AtomicBool,
    /// How often the whole process has slept: it was stopped, or its container frozen.
    sleeps: AtomicU64,
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
            // Only the wait is measured: a disk that is slow to sync keeps no clock waiting.
            let began = Instant::now();
            let received = finished.recv_timeout(GLANCE);
            if began.elapsed() > GLANCE + SLEPT {
                self.signals.sleeps.fetch_add(1, Ordering::Relaxed);
            }
            match received {
                Ok(first) => {
                    let games: Vec<GameEntry> = std::iter::once(first).chain(finished.try_iter()).collect();
                    let entered = self.enter(&games);
                    watch(&self.standing);
                    entered?;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if stop.load(Ordering::Relaxed) || self.standing.is_over() {
                self.signals.halt.store(true, Ordering::Relaxed);
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

    fn check_breakdowns(&mut self, game: &GameEntry) -> Result<(), MatchError> {
        let Some(fault) = game.fault.as_ref().filter(|fault| fault.kind.is_breakdown()) else { return Ok(()) };
        self.breakdowns[fault.player] += 1;
        let (got, allowed) = (self.breakdowns[fault.player], self.contest.terms.breakdowns);
        if got <= allowed {
            return Ok(());
        }
        let player = self.contest.contestants[fault.player].name.clone();
        Err(MatchError::Breakdowns { player, allowed, got, last: format!("{}: {}", fault.kind, fault.detail) })
    }
}

/// A thread that panics is told of when all have ended, so the others must end.
struct HaltOnPanic<'a>(&'a AtomicBool);

impl Drop for HaltOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// Who plays, on one thread, with players of its own.
struct Worker<'a> {
    contest: &'a Match<'a>,
    signals: &'a Signals,
    /// What the user sets; a program outside may hear of it before the games are halted.
    stop: &'a AtomicBool,
    /// Started when first needed, and again after a failure.
    movers: Vec<Option<Seated<'a>>>,
    /// Of movers that are no more.
    lags: Vec<(usize, Lag)>,
}

impl<'a> Worker<'a> {
    fn new(contest: &'a Match<'a>, signals: &'a Signals, stop: &'a AtomicBool) -> Self {
        Self { contest, signals, stop, movers: contest.contestants.iter().map(|_| None).collect(), lags: Vec::new() }
    }

    /// Plays until nothing is open, and returns how late the movers' lines came.
    fn work(
        mut self,
        open: &Mutex<impl Iterator<Item = (u64, Vec<u8>)>>,
        written: &SyncSender<GameEntry>,
    ) -> Result<Vec<(usize, Lag)>, MatchError> {
        let _ends = HaltOnPanic(&self.signals.halt);
        let worked = self.play(open, written);
        if worked.is_err() {
            self.signals.halt.store(true, Ordering::Relaxed);
        }
        (0..self.movers.len()).for_each(|player| self.dismiss(player));
        worked.map(|()| self.lags)
    }

    fn play(
        &mut self,
        open: &Mutex<impl Iterator<Item = (u64, Vec<u8>)>>,
        written: &SyncSender<GameEntry>,
    ) -> Result<(), MatchError> {
        while !self.signals.halt.load(Ordering::Relaxed) {
            // A panic elsewhere leaves an iterator whole.
            let next = open.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((pair, games)) = next else { break };
            for game in games {
                let Some(entry) = self.game(GameNumber { pair, game })? else { return Ok(()) };
                // Nobody writes any more: the bookkeeper tells why.
                if written.send(entry).is_err() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Ends a mover; the next game of its player starts another.
    fn dismiss(&mut self, player: usize) {
        let lag = self.movers[player].take().and_then(|mover| mover.lag());
        self.lags.extend(lag.map(|lag| (player, lag)));
    }

    /// A game, again if this process slept through a part of it; `None` if it was stopped.
    fn game(&mut self, number: GameNumber) -> Result<Option<GameEntry>, MatchError> {
        loop {
            let before = self.signals.sleeps.load(Ordering::Relaxed);
            let entry = self.attempt(number)?;
            if !entry.as_ref().is_some_and(|entry| self.was_slept_through(entry, before)) {
                return Ok(entry);
            }
        }
    }

    /// Neither clocks nor patience mean anything while whoever reads them is stopped. Games without a clock do not mind.
    fn was_slept_through(&self, entry: &GameEntry, before: u64) -> bool {
        let is_late = |fault: &EntryFault| matches!(fault.kind, FaultKind::TimeForfeit | FaultKind::NoAnswer);
        let is_late = entry.fault.as_ref().is_some_and(is_late);
        if is_late {
            // The bookkeeper wakes up at the same moment and may be the second to do so.
            std::thread::sleep(2 * GLANCE);
        }
        (is_late || entry.milliseconds.is_some()) && self.signals.sleeps.load(Ordering::Relaxed) != before
    }

    /// `None` if the game was stopped.
    fn attempt(&mut self, number: GameNumber) -> Result<Option<GameEntry>, MatchError> {
        let slot = self.contest.schedule.slot(number.pair);
        let opening = self.contest.openings.opening(slot.opening);
        let [first, second] = slot.players;
        let players = if number.game == 0 { [first, second] } else { [second, first] };
        players.into_iter().try_for_each(|player| self.seat(player))?;
        let Some(played) = self.seated(players, &opening) else { return Ok(None) };
        if let Ending::Fault(side, _) = played.ending {
            // Who is stopped has no fault.
            if self.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            self.dismiss(players[side.index()]);
        }
        Ok(Some(self.entry(number, players, &opening, &played)))
    }

    fn seat(&mut self, player: usize) -> Result<(), MatchError> {
        if self.movers[player].is_none() {
            let contestant = &self.contest.contestants[player];
            let started = contestant.mover(self.contest.variant);
            let failed = |source| MatchError::Start { player: contestant.name.clone(), source: Box::new(source) };
            self.movers[player] = Some(started.map_err(failed)?);
        }
        Ok(())
    }

    /// The game between White and Black; `None` if it was stopped.
    fn seated(&mut self, players: [usize; 2], opening: &MatchOpening) -> Option<PlayedGame> {
        let contestants = self.contest.contestants;
        let [white, black] = self.movers.get_disjoint_mut(players).ok()?;
        let mut seats = [
            Seat { mover: white.as_mut()?, allowance: contestants[players[0]].allowance },
            Seat { mover: black.as_mut()?, allowance: contestants[players[1]].allowance },
        ];
        let terms = &self.contest.terms;
        let referee = Referee {
            adjudication: &terms.adjudication,
            endgames: terms.endgames.as_deref(),
            time_margin: terms.time_margin,
            stop: &self.signals.halt,
        };
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
