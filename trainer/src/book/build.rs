//! Building a book: positions are chosen, looked behind in parallel, written down in order, and then the next are chosen.
//!
//! What is chosen depends on what is known, and what is known is the journal; threads only decide how soon it is known. So a
//! build that was cut off ends with the same bytes as an undisturbed one, on any number of threads.

use super::games::{Counting, Counts, GamesError, Sources, Tally};
use super::graph::{Child, Collision, Edge, Found, Graph, NodeId};
use super::growth::cheapest;
use super::journal::{ExpandedMove, Expansion, Journal, JournalError};
use super::parts::{self, UNITS, Waiting};
use super::searcher::{Candidates, Searcher};
use super::values::before;
use super::weights::weights;
use super::{CandidateSettings, Growth, Plan, SearchSettings};
use crate::named_judge::NamedJudge;
use crate::progress::Progress;
use crate::run_dir::{FileError, PartFiles, RunDir, write_atomically};
use crate::share::{Part, Share, Shared};
use fairyforge_engine::book::{Book, BookError, BookKey, BookMove, Manifest, Oriented, SearchLimits, Starts};
use fairyforge_engine::position::{FenError, Position};
use fairyforge_engine::variant::Variant;
use rayon::prelude::*;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A book to be built, and what it is built with.
pub struct Build<'a> {
    /// What is wanted.
    pub plan: &'a Plan,
    /// The game.
    pub variant: &'a Arc<Variant>,
    /// What judges positions.
    pub judge: &'a NamedJudge,
    /// Games whose results are noted, if any.
    pub games: Option<GamesToCount<'a>>,
    /// Where it is built.
    pub run: &'a RunDir,
    /// The program's version, as the book tells it.
    pub program: &'a str,
    /// Set to end it early.
    pub stop: &'a AtomicBool,
    /// Told of every position.
    pub progress: &'a Progress,
    /// Which positions of a batch this process looks behind.
    pub share: Share,
}

/// Games whose results are to be noted.
#[derive(Clone, Copy)]
pub struct GamesToCount<'a> {
    /// Where they are.
    pub paths: &'a [PathBuf],
    /// What was found when they were looked at first.
    pub tally: &'a Tally,
}

/// A book that was built.
pub struct Built {
    /// The book.
    pub book: Book,
    /// Positions known behind its moves that nobody looked behind.
    pub leaves: usize,
    /// Nodes that this process searched.
    pub searched: u64,
    /// Positions in which the short searches would have left out the move that the search of the position prefers.
    pub kept: u64,
}

/// Why a build ended early.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A root is no position of the game.
    #[error("roots: {0}")]
    Root(#[from] FenError),
    /// In a root the game is over.
    #[error("roots: expected positions from which the game goes on, got {0}")]
    Over(String),
    /// The journal cannot be read, or is not that of this build.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Two positions have one key.
    #[error(transparent)]
    Collision(#[from] Collision),
    /// What was built is no book.
    #[error(transparent)]
    Book(#[from] BookError),
    /// Games cannot be counted, or are no longer what they were.
    #[error(transparent)]
    Games(#[from] GamesError),
    /// The disk refuses.
    #[error(transparent)]
    File(#[from] FileError),
    /// Somebody asked for it; what is in the journal is safe.
    #[error("stopped on request")]
    Stopped,
    /// Positions are looked behind by several processes, and not all are there.
    #[error(transparent)]
    Shared(#[from] Shared),
}

/// What was found so far.
struct State {
    graph: Graph,
    journal: Journal,
    searches: u64,
    nodes: u64,
    /// Nodes of this process.
    searched: u64,
    candidates: CandidateSettings,
    /// Positions in which the short searches would have left out the move that is preferred.
    kept: u64,
    /// Positions that the journal had; `None` once they have been told.
    replayed: Option<u64>,
}

impl Build<'_> {
    /// Builds the book and writes it into the run.
    ///
    /// # Errors
    /// As [`BuildError`] says; what is in the journal stays, and the next attempt takes it up.
    pub fn run(&self) -> Result<Built, BuildError> {
        let roots = self.plan.roots(self.variant)?;
        if let Some(over) = roots.iter().find(|root| root.outcome(1).is_some()) {
            return Err(BuildError::Over(over.fen()));
        }
        let path = self.run.book_journal();
        let journal = match self.share {
            Share::Part(_) => Journal::look_at(&path, self.variant)?,
            Share::All | Share::Nothing => Journal::open(&path, self.variant)?,
        };
        let (graph, candidates) = (Graph::new(roots)?, self.plan.candidates);
        let mut state =
            State { graph, journal, searches: 0, nodes: 0, searched: 0, candidates, kept: 0, replayed: Some(0) };
        self.grow(&mut state)?;
        self.tell_replayed(&mut state);
        if state.journal.next_recorded()?.is_some() {
            return Err(state.journal.fault("the end of the journal", "one more position".into()).into());
        }
        if let Share::Part(_) = self.share {
            return Err(Shared::Complete { run: self.run.root().to_owned() }.into());
        }
        let book = self.finished(&state)?;
        write_atomically(&self.run.book(), book.as_bytes())?;
        let leaves = state.graph.len() - state.graph.expanded();
        Ok(Built { book, leaves, searched: state.searched, kept: state.kept })
    }

    fn grow(&self, state: &mut State) -> Result<(), BuildError> {
        let growth = &self.plan.growth;
        while state.graph.expanded() < growth.positions {
            let expanded = state.graph.expanded();
            let most = self.plan.batch(expanded).min(growth.positions - expanded);
            let values = state.graph.links().values();
            let batch = cheapest(&state.graph, &values, growth, most);
            if batch.is_empty() {
                break;
            }
            let unknown = Self::replay(state, &batch)?;
            if unknown.is_empty() {
                continue;
            }
            self.tell_replayed(state);
            if let Share::Part(part) = self.share {
                return Err(self.look_behind_part(state, part, unknown)?.into());
            }
            let waiting = self.waiting(unknown, state)?;
            for slice in unknown.chunks(growth.batch) {
                self.look_behind(state, slice, &waiting)?;
            }
            self.part_files().remove()?;
        }
        Ok(())
    }

    fn part_files(&self) -> PartFiles {
        PartFiles::of(&self.run.book_journal())
    }

    /// What other processes have found; where nothing is to be searched here, that must be all.
    fn waiting(&self, unknown: &[NodeId], state: &State) -> Result<Waiting, BuildError> {
        let waiting = parts::read(&self.part_files(), self.variant)?;
        let lacks = |id: &&NodeId| !waiting.contains_key(&state.graph.key(**id).to_string());
        let missing = unknown.iter().filter(lacks).count() as u64;
        if self.share == Share::Nothing && missing > 0 {
            let (place, of) = (self.run.book_journal(), unknown.len() as u64);
            return Err(Shared::Wanted { place, units: UNITS, missing, of }.into());
        }
        Ok(waiting)
    }

    /// Looks behind a part of the positions that come next, for whoever writes the journal.
    fn look_behind_part(&self, state: &State, part: Part, unknown: &[NodeId]) -> Result<Shared, BuildError> {
        let range = part.range(unknown.len() as u64);
        let (files, expanded) = (self.part_files(), state.graph.expanded() as u64);
        self.progress.narrow(&format!("part {part}"), range.end - range.start);
        let mut played = 0;
        for first in range.clone().step_by(self.plan.growth.batch) {
            let stretch = &unknown[first as usize..range.end.min(first + self.plan.growth.batch as u64) as usize];
            if !files.beginning_with(expanded + first)?.is_empty() {
                self.progress.skip(stretch.len() as u64);
                continue;
            }
            let expansions = self.expansions(state, stretch).ok_or(BuildError::Stopped)??;
            parts::write(&files, expanded + first, self.variant, &expansions)?;
            stretch.iter().for_each(|_| self.progress.game(0));
            played += stretch.len() as u64;
        }
        Ok(Shared::Played { part, place: self.run.book_journal(), units: UNITS, played })
    }

    /// Takes in the positions that the journal has; returns the others.
    fn replay<'b>(state: &mut State, positions: &'b [NodeId]) -> Result<&'b [NodeId], BuildError> {
        let mut unknown = positions;
        while let Some((&first, rest)) = unknown.split_first() {
            let Some(expansion) = state.journal.next_recorded()? else { break };
            state.take_in(first, &expansion)?;
            state.replayed = state.replayed.map(|replayed| replayed + 1);
            unknown = rest;
        }
        Ok(unknown)
    }

    /// Looks behind positions, in parallel, where nobody has, and writes down all.
    fn look_behind(&self, state: &mut State, unknown: &[NodeId], waiting: &Waiting) -> Result<(), BuildError> {
        let known = |id: NodeId| waiting.get(&state.graph.key(id).to_string());
        let open: Vec<NodeId> = unknown.iter().copied().filter(|&id| known(id).is_none()).collect();
        let mut found = self.expansions(state, &open).ok_or(BuildError::Stopped)??.into_iter();
        let mut expansions: Vec<Expansion> =
            unknown.iter().filter_map(|&id| known(id).cloned().or_else(|| found.next())).collect();
        if !waiting.is_empty() {
            parts::each_once(&state.graph, unknown, &mut expansions)?;
        }
        state.journal.append(&expansions)?;
        for (&position, expansion) in unknown.iter().zip(&expansions) {
            let before = state.nodes;
            state.take_in(position, expansion)?;
            state.searched += state.nodes - before;
            self.progress.game(0);
        }
        Ok(())
    }

    fn tell_replayed(&self, state: &mut State) {
        if let Some(replayed) = state.replayed.take().filter(|&replayed| replayed > 0) {
            self.progress.skip(replayed);
        }
    }

    /// What there is behind positions. Of a position that several of them lead to, the first tells. `None`: stopped.
    fn expansions(&self, state: &State, positions: &[NodeId]) -> Option<Result<Vec<Expansion>, Collision>> {
        let searcher = || Searcher::new(&self.judge.judge, self.plan.search, self.plan.candidates, self.stop);
        let glance = |searcher: &mut Searcher<'_>, &id: &NodeId| glanced(&state.graph, id, searcher);
        let glanced: Vec<Candidates> = positions.par_iter().map_init(searcher, glance).collect::<Option<Vec<_>>>()?;
        let new = match unsearched(&state.graph, &glanced) {
            Ok(new) => new,
            Err(collision) => return Some(Err(collision)),
        };
        let look = |searcher: &mut Searcher<'_>, &(at, number): &(usize, usize)| {
            searcher.look(&glanced[at].moves[number].child.position)
        };
        let found: Vec<Found> = new.par_iter().map_init(searcher, look).collect::<Option<Vec<_>>>()?;
        let mut expansions: Vec<Expansion> =
            positions.iter().zip(&glanced).map(|(&id, glanced)| unfinished(&state.graph, id, glanced)).collect();
        for ((at, number), found) in new.into_iter().zip(found) {
            let entry = &mut expansions[at].moves[number];
            (entry.score, entry.nodes) = (Some(found.score), Some(found.nodes));
            let behind = &glanced[at].moves[number].child.position;
            entry.reply = found.best.map(|mv| behind.move_text(mv));
        }
        Some(Ok(expansions))
    }

    fn finished(&self, state: &State) -> Result<Book, BuildError> {
        let graph = &state.graph;
        let values = graph.links().values();
        let counts = self.counts(graph)?;
        let expanded = (0..graph.len() as NodeId).filter(|&id| !graph.edges(id).is_empty());
        let mut positions: Vec<_> = expanded.map(|id| (graph.key(id), self.moves(graph, &values, id))).collect();
        for (key, moves) in &mut positions {
            moves.iter_mut().for_each(|entry| entry.results = counts.results(*key, entry.mv));
        }
        let SearchSettings { nodes, table_mebibytes } = self.plan.search;
        let method = match self.plan.growth.by {
            Growth::DropOut => "drop-out expansion",
            Growth::BreadthFirst => "breadth first",
        };
        let manifest = Manifest {
            method: method.into(),
            program: self.program.into(),
            plan: toml::to_string(self.plan).expect("a plan is a table of numbers and texts"),
            judge: self.judge.digest.clone(),
            seed: None,
            limits: Some(SearchLimits { nodes, table_mebibytes }),
            searches: state.searches,
            nodes: state.nodes,
            games: self.games.map_or(0, |games| games.tally.games),
            counted: self.games.map(|games| games.tally.counted(self.counting())),
        };
        Ok(Book::new(graph.roots(), manifest, positions)?)
    }

    const fn counting(&self) -> Counting {
        Counting { plies: self.plan.games.most_plies, starts: Starts::All }
    }

    /// The results of all games in positions that are looked behind.
    fn counts(&self, graph: &Graph) -> Result<Counts, BuildError> {
        let Some(games) = self.games else { return Ok(Counts::default()) };
        let sources = Sources { paths: games.paths, variant: self.variant, counting: self.counting() };
        let progress = Progress::new("counting", "games", games.tally.games);
        let (counts, tally) = Counts::of(&sources, &progress, |key| graph.is_looked_behind(key))?;
        progress.finish();
        tally.expect(&games.tally.digest)?;
        Ok(counts)
    }

    fn moves(&self, graph: &Graph, values: &[i16], id: NodeId) -> Vec<BookMove> {
        let edges = graph.edges(id);
        let seen: Vec<i16> = edges.iter().map(|edge| before(values[edge.child as usize])).collect();
        let weights = weights(&seen, &self.plan.weights);
        let entry = |((edge, value), weight): ((&Edge, i16), u16)| {
            let found = graph.found(edge.child);
            BookMove {
                weight,
                value: Some(value),
                searched: found.map(|found| before(found.score)),
                nodes: found.map_or(0, |found| found.nodes),
                ..BookMove::new(edge.mv)
            }
        };
        edges.iter().zip(seen).zip(weights).map(entry).collect()
    }
}

/// The moves of a position that are worth a search, and among them the one that the search of the position prefers. A root, which nobody
/// has searched, is searched for that.
fn glanced(graph: &Graph, id: NodeId, searcher: &mut Searcher<'_>) -> Option<Candidates> {
    let position = graph.position(id);
    let (found, nodes) = match graph.found(id) {
        Some(found) => (found, 0),
        None => searcher.look(&position).map(|found| (found, found.nodes))?,
    };
    let mut candidates = searcher.candidates(&position, found.best)?;
    candidates.nodes += nodes;
    Some(candidates)
}

/// Which candidates lead to positions that nobody has searched, as (position, move), each position once.
fn unsearched(graph: &Graph, glanced: &[Candidates]) -> Result<Vec<(usize, usize)>, Collision> {
    let mut claimed: HashSet<BookKey> = HashSet::new();
    let mut new = Vec::new();
    for (at, candidates) in glanced.iter().enumerate() {
        for (number, candidate) in candidates.moves.iter().enumerate() {
            let child = &candidate.child;
            if child.over.is_none() && graph.known(child)?.is_none() && claimed.insert(child.key) {
                new.push((at, number));
            }
        }
    }
    Ok(new)
}

/// The line of a position before its moves are searched.
fn unfinished(graph: &Graph, id: NodeId, glanced: &Candidates) -> Expansion {
    let position = graph.position(id);
    let moves = glanced.moves.iter().map(|candidate| ExpandedMove {
        text: position.move_text(candidate.child.mv),
        glance: candidate.glance,
        score: None,
        nodes: None,
        reply: None,
    });
    Expansion { position: graph.key(id).to_string(), glanced: glanced.nodes, moves: moves.collect() }
}

impl State {
    /// Takes a line of the journal into the graph, whether it was read or has just been written.
    fn take_in(&mut self, id: NodeId, expansion: &Expansion) -> Result<(), BuildError> {
        let key = self.graph.key(id).to_string();
        if expansion.position != key {
            let got = format!("{}; was the journal begun by another version?", expansion.position);
            return Err(self.journal.fault(&format!("the position {key}"), got).into());
        }
        let position = self.graph.position(id);
        let mut children: Vec<(Child, Option<Found>)> = Vec::new();
        for entry in &expansion.moves {
            let child = self.child(&position, entry, &children)?;
            children.push(child);
        }
        if children.is_empty() {
            return Err(self.journal.fault("a move or more", "none".into()).into());
        }
        self.kept += u64::from(expansion.keeps_what_was_left_out(&self.candidates));
        self.searches += children.iter().filter(|(_, found)| found.is_some()).count() as u64;
        self.nodes +=
            expansion.glanced + children.iter().filter_map(|(_, found)| found.map(|found| found.nodes)).sum::<u64>();
        Ok(self.graph.expand(id, &children)?)
    }

    fn child(
        &self,
        position: &Position,
        entry: &ExpandedMove,
        before: &[(Child, Option<Found>)],
    ) -> Result<(Child, Option<Found>), BuildError> {
        let fault = |expected: &str, got: String| self.journal.fault(expected, got);
        let mv = position.parse_move(&entry.text).map_err(|error| fault("a legal move", error.to_string()))?;
        if before.iter().any(|(child, _)| child.mv == mv) {
            return Err(fault("each move once", entry.text.clone()).into());
        }
        if Oriented::of(position).held(mv) != mv {
            return Err(fault("the other of two moves that mirror each other", entry.text.clone()).into());
        }
        let child = Child::behind(position, mv);
        let is_known = self.graph.known(&child)?.is_some() || before.iter().any(|(other, _)| other.key == child.key);
        match (entry.score.zip(entry.nodes), is_known || child.over.is_some()) {
            (Some((score, nodes)), false) => {
                let reply = entry.reply.as_deref().map(|text| child.position.parse_move(text)).transpose();
                let best = reply.map_err(|error| fault("a legal reply", error.to_string()))?;
                Ok((child, Some(Found { score, nodes, best })))
            }
            (None, true) if entry.reply.is_none() => Ok((child, None)),
            (None, true) => Err(fault("no reply to a move that was not searched", entry.text.clone()).into()),
            (None, false) => Err(fault("the score of a new position", format!("none of {}", entry.text)).into()),
            (Some(_), true) => Err(fault("no score of a known position", format!("one of {}", entry.text)).into()),
        }
    }
}
