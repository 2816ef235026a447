//! Looking at positions: which moves are worth a search, and what the search says. A search depends on the position alone:
//! memory is forgotten before each, and counters and history are those of a game that begins there.

use super::graph::{Child, Found};
use super::{CandidateSettings, SearchSettings};
use fairyforge_engine::book::Oriented;
use fairyforge_engine::evaluate::Judge;
use fairyforge_engine::moves::Move;
use fairyforge_engine::position::Position;
use fairyforge_engine::search::{Limits, Memory, Params, Request, search_with};
use std::sync::atomic::{AtomicBool, Ordering};

/// Size of the table of a short search, in mebibytes: emptying a larger one would take longer than the search.
const SHORT_TABLE: usize = 1;

/// What searches, on one thread.
pub struct Searcher<'a> {
    judge: &'a Judge,
    settings: (SearchSettings, CandidateSettings),
    stop: &'a AtomicBool,
    short: Memory,
    long: Memory,
}

/// A move that is worth a search.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The move, and the position behind it.
    pub child: Child,
    /// What the short search said of the move.
    pub glance: i16,
}

/// The moves of a position that are worth a search, the best first.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// The moves.
    pub moves: Vec<Candidate>,
    /// Nodes of the short searches.
    pub nodes: u64,
}

impl<'a> Searcher<'a> {
    /// Fresh memory for such searches.
    pub fn new(judge: &'a Judge, search: SearchSettings, candidates: CandidateSettings, stop: &'a AtomicBool) -> Self {
        let memory = |mebibytes| Memory::new(mebibytes, Params::default());
        let (short, long) = (memory(SHORT_TABLE), memory(search.table_mebibytes));
        Self { judge, settings: (search, candidates), stop, short, long }
    }

    /// The moves that are worth a search, of a position as books have it. Where it is its own mirror image, of two moves that are images of
    /// one another one is looked at. `preferred`, the best by a search of the position itself, is among them whatever the short searches
    /// say: last, if they would have left it out. `None`: stopped.
    pub fn candidates(&mut self, position: &Position, preferred: Option<Move>) -> Option<Candidates> {
        let CandidateSettings { most, nodes: each, window } = self.settings.1;
        let (mut moves, mut nodes) = (Vec::new(), 0);
        let oriented = Oriented::of(position);
        for mv in position.legal_moves().into_iter().filter(|&mv| oriented.held(mv) == mv) {
            let child = Child::behind(position, mv);
            let value = match child.over {
                Some(value) => value,
                None => {
                    let found = search(self.judge, &mut self.short, &child.position, each, self.stop)?;
                    nodes += found.nodes;
                    found.score
                }
            };
            moves.push(Candidate { child, glance: super::values::before(value) });
        }
        // Sorting keeps the generator's order of equals, which is no property of the game: the bits of moves decide.
        moves.sort_by_key(|candidate| (std::cmp::Reverse(candidate.glance), candidate.child.mv.to_bits()));
        let best = moves.first().map_or(0, |best| i32::from(best.glance));
        let good = moves.iter().take_while(|candidate| best - i32::from(candidate.glance) <= window).count();
        let left_out = moves.split_off(good.min(most));
        let preferred = preferred.map(|mv| oriented.held(mv));
        moves.extend(left_out.into_iter().find(|candidate| Some(candidate.child.mv) == preferred));
        Some(Candidates { moves, nodes })
    }

    /// What a search as the plan says finds. `None`: stopped.
    pub fn look(&mut self, position: &Position) -> Option<Found> {
        search(self.judge, &mut self.long, position, self.settings.0.nodes, self.stop)
    }
}

fn search(judge: &Judge, memory: &mut Memory, position: &Position, nodes: u64, stop: &AtomicBool) -> Option<Found> {
    memory.forget();
    let limits = Limits::nodes(nodes);
    let request = Request { position, earlier: &[], limits: &limits, evaluator: judge, endgames: None, stop };
    let report = search_with(&request, memory, |_, _| ());
    let found = Found { score: report.score as i16, nodes: report.nodes, best: report.best };
    (!stop.load(Ordering::Relaxed)).then_some(found)
}
