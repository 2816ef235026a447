//! Making a suite: exits are sifted, families take turns, candidates are looked at in parallel and written down in order, until
//! there are as many openings as wanted or nothing is left.
//!
//! Whose turn it is depends on what was found, and that is the journal; threads only decide how soon it is known. So a suite that was
//! cut off ends with the same bytes as an undisturbed one, on any number of threads.

use super::super::journal::JournalError;
use super::super::walk::Walk;
use super::conditions::{TurnedAway, unfit, unfit_finding};
use super::examine::Examiner;
use super::exits::{Exit, exits};
use super::journal::{Examined, SuiteJournal};
use super::plan::SuitePlan;
use super::turns::{Turn, Turns};
use super::write::{self, Content};
use crate::named_judge::NamedJudge;
use crate::progress::Progress;
use crate::run_dir::{FileError, RunDir};
use fairyforge_engine::book::{Book, BookKey};
use fairyforge_engine::moves::Move;
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Candidates that are looked at together: what a killed run loses at most.
const BATCH: usize = 32;

/// A suite to be made, and what it is made with.
pub struct SuiteWork<'a> {
    /// What is wanted.
    pub plan: &'a SuitePlan,
    /// The game.
    pub variant: &'a Arc<Variant>,
    /// The book whose exits are looked at.
    pub book: &'a Book,
    /// What judges positions.
    pub judge: &'a NamedJudge,
    /// Where it is made.
    pub run: &'a RunDir,
    /// The program's version, and the command, as the suite tells them.
    pub made_by: MadeBy<'a>,
    /// Set to end it early.
    pub stop: &'a AtomicBool,
    /// Told of every opening.
    pub progress: &'a Progress,
}

/// What a suite says about how it was made.
#[derive(Clone, Copy, Debug)]
pub struct MadeBy<'a> {
    /// The program's version.
    pub program: &'a str,
    /// The command.
    pub command: &'a str,
}

/// A suite that was made.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The openings, in their order.
    pub openings: Vec<Opening>,
    /// How they came about.
    pub counts: Counts,
}

/// An opening of a suite.
#[derive(Clone, Debug)]
pub struct Opening {
    /// Its family.
    pub family: String,
    /// Its number in the family, from 1.
    pub number: usize,
    /// The moves from the book's root with this number.
    pub root: usize,
    /// The moves.
    pub way: Vec<Move>,
    /// The position, with the counters of a game that came this way.
    pub position: Position,
    /// What was found out about it.
    pub examined: Examined,
}

/// How the openings of a suite came about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Exits of the book.
    pub exits: usize,
    /// Those that were worth a closer look.
    pub candidates: usize,
    /// Those that were looked at closely.
    pub examined: usize,
    /// How many each condition turned away.
    pub turned_away: TurnedAway,
    /// Openings.
    pub openings: usize,
    /// Openings of each family.
    pub families: BTreeMap<String, usize>,
    /// Nodes of second searches and of games.
    pub nodes: u64,
}

/// Why a suite was not finished.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The book is none of which every position could be reached and every move played.
    #[error("the book has faults; `fairyforge book verify` names all: {0}")]
    Book(String),
    /// The journal cannot be read, or is not that of this suite.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The disk refuses.
    #[error(transparent)]
    File(#[from] FileError),
    /// Somebody asked for it; what is in the journal is safe.
    #[error("stopped on request")]
    Stopped,
}

/// What was found so far.
struct State {
    journal: SuiteJournal,
    turns: Turns<Exit>,
    openings: Vec<Opening>,
    counts: Counts,
    /// Openings that the journal had; `None` once they have been told.
    replayed: Option<u64>,
}

impl SuiteWork<'_> {
    /// Makes the suite and writes its files into the run.
    ///
    /// # Errors
    /// As [`SuiteError`] says; what is in the journal stays, and the next attempt takes it up.
    pub fn run(&self) -> Result<Suite, SuiteError> {
        if let Some(fault) = Walk::of(self.book).faults.first() {
            return Err(SuiteError::Book(fault.clone()));
        }
        let mut state = self.sifted(SuiteJournal::open(&self.run.suite_journal(), self.variant)?);
        loop {
            let missing = self.plan.openings.count - state.openings.len();
            let turns = state.turns.next(missing.min(BATCH));
            if turns.is_empty() {
                break;
            }
            self.look_at(&mut state, turns)?;
        }
        self.tell_replayed(&mut state);
        if state.journal.next_recorded()?.is_some() {
            return Err(state.journal.fault("the end of the journal", "one more position".into()).into());
        }
        let State { turns, openings, mut counts, .. } = state;
        (counts.openings, counts.families) = (openings.len(), turns.sizes());
        let suite = Suite { openings, counts };
        write::all(&Content { work: self, suite: &suite })?;
        Ok(suite)
    }

    /// The exits that are worth a closer look, by families.
    fn sifted(&self, journal: SuiteJournal) -> State {
        let mut counts = Counts::default();
        let mut families: BTreeMap<String, Vec<Exit>> = BTreeMap::new();
        for exit in exits(self.book) {
            counts.exits += 1;
            match unfit(self.plan, &exit, &exit.position(self.book)) {
                Some(condition) => counts.turned_away.add(condition),
                None => {
                    counts.candidates += 1;
                    families.entry(exit.family(self.book, self.plan.families.plies)).or_default().push(exit);
                }
            }
        }
        // The lot draws from an order that is a property of the positions.
        families.values_mut().for_each(|family| family.sort_by_key(|exit| exit.key));
        let turns = Turns::new(families, self.plan.seed);
        State { journal, turns, openings: Vec::new(), counts, replayed: Some(0) }
    }

    /// Looks at candidates: those that the journal has first, the others in parallel.
    fn look_at(&self, state: &mut State, turns: Vec<Turn<Exit>>) -> Result<(), SuiteError> {
        let mut unknown = Vec::new();
        for turn in turns {
            let recorded = if unknown.is_empty() { state.journal.next_recorded()? } else { None };
            match recorded {
                Some(examined) => {
                    let is_opening = self.take_in(state, turn, examined)?;
                    state.replayed = state.replayed.map(|replayed| replayed + u64::from(is_opening));
                }
                None => unknown.push(turn),
            }
        }
        if unknown.is_empty() {
            return Ok(());
        }
        self.tell_replayed(state);
        let examined = self.examined(&unknown).ok_or(SuiteError::Stopped)?;
        state.journal.append(&examined)?;
        for (turn, examined) in unknown.into_iter().zip(examined) {
            if self.take_in(state, turn, examined)? {
                self.progress.game(0);
            }
        }
        Ok(())
    }

    /// What there is to find out. `None`: stopped.
    fn examined(&self, turns: &[Turn<Exit>]) -> Option<Vec<Examined>> {
        let examiner = || Examiner::new(self.plan, &self.judge.judge, self.stop);
        let look = |examiner: &mut Examiner<'_>, turn: &Turn<Exit>| {
            let exit = &turn.candidate;
            examiner.look(&exit.position(self.book), exit.way.len() as u16)
        };
        turns.par_iter().map_init(examiner, look).collect()
    }

    /// Takes in a line of the journal, whether it was read or has just been written; whether it is an opening's.
    fn take_in(&self, state: &mut State, turn: Turn<Exit>, examined: Examined) -> Result<bool, SuiteError> {
        let Turn { family, candidate } = turn;
        if let Some((expected, got)) = examined.fault(&candidate.key.to_string(), self.plan) {
            return Err(state.journal.fault(&expected, got).into());
        }
        state.counts.examined += 1;
        state.counts.nodes += examined.nodes + examined.game_nodes;
        if let Some(condition) = unfit_finding(self.plan, &examined) {
            state.counts.turned_away.add(condition);
            return Ok(false);
        }
        let number = state.turns.accept(family);
        let family = state.turns.name(family).to_owned();
        let position = candidate.position(self.book);
        debug_assert!(BookKey::of(&position) == candidate.key);
        let Exit { root, way, .. } = candidate;
        state.openings.push(Opening { family, number, root, way, position, examined });
        Ok(true)
    }

    fn tell_replayed(&self, state: &mut State) {
        if let Some(replayed) = state.replayed.take().filter(|&replayed| replayed > 0) {
            self.progress.skip(replayed);
        }
    }
}
