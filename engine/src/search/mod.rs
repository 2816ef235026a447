//! Search: which move is best, and how good it is.
//!
//! [`search`] is a function of its arguments; what it remembers from move to move of a game lives in the caller's
//! [`Memory`]. Iterative deepening and the root are here, the main node in `node`, captures in `quiescence`, positions that a
//! table knows in `endgames`, the order of moves in `ordering`, and every number in [`params`].

mod endgames;
pub mod history;
mod node;
mod ordering;
pub mod params;
mod quiescence;
pub mod score;
pub mod table;
pub mod time;

pub use params::Params;
pub use time::{Clock, Deadline};

use crate::endgame::Tables;
use crate::evaluate::{Evaluator, Judge};
use crate::moves::{Move, Safety, Wanted};
use crate::position::{Position, Undo};
use history::{Going, History};
use ordering::Candidate;
use score::{DRAW, INFINITE, is_mate};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use table::Table;

/// Deepest line, in plies.
const MAX_PLY: usize = 96;
/// Deepest iteration.
pub const MAX_DEPTH: i32 = 80;
/// Nodes between two looks at the clock.
const CLOCK_INTERVAL: u64 = 1024;

/// When a search ends. Nothing set: only when told to stop, or at the greatest depth.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Plies of iterative deepening.
    pub depth: Option<i32>,
    /// Nodes, exactly.
    pub nodes: Option<u64>,
    /// Time.
    pub deadline: Option<Deadline>,
    /// Only these root moves; empty is all.
    pub root_moves: Vec<Move>,
}

impl Limits {
    /// At most so many nodes.
    pub fn nodes(nodes: u64) -> Self {
        Self { nodes: Some(nodes), ..Self::default() }
    }

    /// At most so many plies.
    pub fn depth(depth: i32) -> Self {
        Self { depth: Some(depth), ..Self::default() }
    }
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The best move; `None` if there is no legal one.
    pub best: Option<Move>,
    /// Its score for the side to move, in centipawns; mates as in [`score`].
    pub score: i32,
    /// Depth of the last finished iteration.
    pub depth: i32,
    /// Longest line looked at, in plies.
    pub selective_depth: usize,
    /// Nodes searched, quiescence included.
    pub nodes: u64,
    /// Nodes whose score an endgame table knew.
    pub endgame_hits: u64,
    /// The best line.
    pub line: Vec<Move>,
}

/// What a player remembers from move to move: tables and buffers. One a game, or [`Memory::forget`] between games.
pub struct Memory {
    params: Params,
    table: Table,
    history: History,
    reductions: Vec<u8>,
    /// Moves waiting to be tried, of all nodes of the current line one after the other.
    pool: Vec<Candidate>,
    /// Quiet moves tried in vain, likewise.
    tried: Vec<Move>,
    /// The best line from each ply on.
    lines: Vec<Vec<Move>>,
}

/// Moves that the buffers hold before they have to grow.
const BUFFER: usize = 4096;

/// Depths and move numbers up to which reductions are tabulated.
const REDUCTIONS: usize = 64;

impl Memory {
    /// Fresh memory with a table of so many mebibytes.
    pub fn new(mebibytes: usize, params: Params) -> Self {
        let reductions = (0..REDUCTIONS * REDUCTIONS)
            .map(|index| {
                let logarithms = ((index / REDUCTIONS).max(1) as f64).ln() * ((index % REDUCTIONS).max(1) as f64).ln();
                let plies = f64::from(params.reduction_base) + f64::from(params.reduction_slope) * logarithms;
                (plies / 100.0) as u8
            })
            .collect();
        Self {
            table: Table::new(mebibytes, &params),
            history: History::new(&params),
            params,
            reductions,
            pool: Vec::with_capacity(BUFFER),
            tried: Vec::with_capacity(BUFFER),
            lines: (0..MAX_PLY + 2).map(|_| Vec::with_capacity(MAX_PLY + 2)).collect(),
        }
    }

    /// Forgets the game: the next search finds what a new memory would find.
    pub fn forget(&mut self) {
        self.table.clear();
        self.history.clear();
    }

    /// The numbers that searches with this memory go by.
    pub const fn params(&self) -> &Params {
        &self.params
    }

    /// Share of the table in use, in thousandths.
    pub fn fullness(&self) -> usize {
        self.table.fullness()
    }

    fn reduction(&self, depth: i32, number: usize) -> i32 {
        let depth = (depth as usize).min(REDUCTIONS - 1);
        i32::from(self.reductions[depth * REDUCTIONS + number.min(REDUCTIONS - 1)])
    }
}

/// What is to be searched, and with what.
pub struct Request<'a, E> {
    /// The position.
    pub position: &'a Position,
    /// Keys of the game's positions before it, oldest first.
    pub earlier: &'a [u64],
    /// When the search ends.
    pub limits: &'a Limits,
    /// How positions are judged.
    pub evaluator: &'a E,
    /// What is known of positions with few men.
    pub endgames: Option<&'a Tables>,
    /// Ends the search from outside.
    pub stop: &'a AtomicBool,
}

/// Searches a position; `iteration` hears of every finished depth. The same request and memory give the same report, unless
/// time or `stop` end the search.
pub fn search<E: Evaluator>(
    request: &Request<'_, E>,
    memory: &mut Memory,
    mut iteration: impl FnMut(&Report, &Memory),
) -> Report {
    memory.table.next_search();
    let limits = request.limits;
    let mut searcher = Searcher::new(request, memory);
    let mut report = searcher.first_report();
    let most = limits.depth.unwrap_or(MAX_DEPTH).clamp(1, MAX_DEPTH);
    for depth in 1..=most {
        let Some(score) = searcher.deepen(depth, report.score) else { break };
        report = searcher.report(depth, score);
        iteration(&report, searcher.memory);
        if searcher.is_decided(depth, score) || limits.deadline.is_some_and(|d| searcher.began.elapsed() >= d.soft) {
            break;
        }
    }
    searcher.finish(report)
}

/// As [`search`], with an evaluator of either kind.
pub fn search_with(
    request: &Request<'_, Judge>,
    memory: &mut Memory,
    iteration: impl FnMut(&Report, &Memory),
) -> Report {
    match request.evaluator {
        Judge::Tapered(tapered) => search(&request.judged_by(tapered.as_ref()), memory, iteration),
        Judge::Network(network) => search(&request.judged_by(network.as_ref()), memory, iteration),
    }
}

impl<'a, E> Request<'a, E> {
    /// The same request with another evaluator.
    pub const fn judged_by<F>(&self, evaluator: &'a F) -> Request<'a, F> {
        let &Self { position, earlier, limits, evaluator: _, endgames, stop } = self;
        Request { position, earlier, limits, evaluator, endgames, stop }
    }
}

/// One search under way.
struct Searcher<'a, E: Evaluator> {
    position: Position,
    evaluator: &'a E,
    endgames: Option<&'a Tables>,
    memory: &'a mut Memory,
    limits: &'a Limits,
    stop: &'a AtomicBool,
    began: Instant,
    nodes: u64,
    endgame_hits: u64,
    stopped: bool,
    selective_depth: usize,
    /// Keys of the game's and the line's positions; the current one is last.
    keys: Vec<u64>,
    /// Number of keys that belong to the game before the root.
    game_keys: usize,
    plies: Vec<Ply>,
    /// What the evaluator keeps of the current line.
    line: E::Line,
    values: [i32; crate::variant::rules::MAX_UNITS],
    /// The root's best move so far in the running iteration.
    root_best: Option<(Move, i32)>,
}

/// What is kept a ply of the current line.
#[derive(Clone, Copy)]
struct Ply {
    killers: [Option<Move>; 2],
    going: Option<Going>,
    value: i32,
}

impl<'a, E: Evaluator> Searcher<'a, E> {
    fn new(request: &Request<'a, E>, memory: &'a mut Memory) -> Self {
        let &Request { position, earlier, limits, evaluator, endgames, stop } = request;
        let root = Ply { killers: [None; 2], going: None, value: 0 };
        let mut keys = Vec::with_capacity(earlier.len() + MAX_PLY + 1);
        keys.extend_from_slice(earlier);
        keys.push(position.key());
        memory.pool.clear();
        memory.tried.clear();
        memory.lines.iter_mut().for_each(Vec::clear);
        Self {
            position: position.clone(),
            evaluator,
            endgames,
            memory,
            limits,
            stop,
            began: Instant::now(),
            nodes: 0,
            endgame_hits: 0,
            stopped: false,
            selective_depth: 0,
            keys,
            game_keys: earlier.len(),
            plies: vec![root; MAX_PLY + 2],
            line: evaluator.line(position, MAX_PLY + 2),
            values: *evaluator.exchange_values(),
            root_best: None,
        }
    }

    /// A report before anything is searched, so that even a search of no time has a legal move.
    fn first_report(&mut self) -> Report {
        let best = self.root_moves().first().copied();
        let score = match best {
            Some(_) => self.static_value(0),
            None => DRAW,
        };
        Report {
            best,
            score,
            depth: 0,
            selective_depth: 0,
            nodes: 0,
            endgame_hits: 0,
            line: best.into_iter().collect(),
        }
    }

    fn root_moves(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        self.position.generate(&Safety::of(&self.position), Wanted::All, |mv| {
            if self.limits.root_moves.is_empty() || self.limits.root_moves.contains(&mv) {
                moves.push(mv);
            }
        });
        moves
    }

    /// One iteration, with a window around the last score that widens where it must. `None` if the search was stopped.
    fn deepen(&mut self, depth: i32, last: i32) -> Option<i32> {
        let mut width = self.memory.params.aspiration_window;
        let narrow = depth >= self.memory.params.aspiration_depth && !is_mate(last);
        let (mut alpha, mut beta) = if narrow { (last - width, last + width) } else { (-INFINITE, INFINITE) };
        self.root_best = None;
        loop {
            let score = self.node::<true>(alpha.max(-INFINITE), beta.min(INFINITE), depth, 0);
            if self.stopped {
                return None;
            }
            // A hundred and twenty percent of five, the least of both, is more than five: the window always grows.
            width = width * self.memory.params.aspiration_growth / 100;
            let widest = self.memory.params.aspiration_widest;
            if score <= alpha && alpha > -INFINITE {
                alpha = if width > widest { -INFINITE } else { score - width };
            } else if score >= beta && beta < INFINITE {
                beta = if width > widest { INFINITE } else { score + width };
            } else {
                return Some(score);
            }
        }
    }

    fn report(&self, depth: i32, score: i32) -> Report {
        let line = self.memory.lines[0].clone();
        Report {
            best: line.first().copied(),
            score,
            depth,
            selective_depth: self.selective_depth,
            nodes: self.nodes,
            endgame_hits: self.endgame_hits,
            line,
        }
    }

    /// Nothing is left to find out: a mate within the depth searched, or a single legal move on a clock.
    fn is_decided(&self, depth: i32, score: i32) -> bool {
        let mate_seen = score::mate_in(score).is_some_and(|moves| 2 * moves.abs() <= depth);
        let forced = self.limits.deadline.is_some() && self.root_moves().len() == 1;
        self.limits.depth.is_none() && (mate_seen || forced) || self.memory.lines[0].is_empty()
    }

    /// A stopped iteration's best move counts if it was found: the first move searched is the last iteration's best.
    fn finish(&self, mut report: Report) -> Report {
        if let (true, Some((best, score))) = (self.stopped, self.root_best) {
            if report.best != Some(best) {
                report.line = vec![best];
            }
            (report.best, report.score) = (Some(best), score);
        }
        report.nodes = self.nodes;
        report.endgame_hits = self.endgame_hits;
        report.selective_depth = self.selective_depth;
        report
    }

    /// Counts a node and says whether the search must end.
    #[inline]
    fn enter_node(&mut self, ply: usize) -> bool {
        if self.limits.nodes.is_some_and(|most| self.nodes >= most) {
            self.stopped = true;
        } else if self.nodes.is_multiple_of(CLOCK_INTERVAL) {
            let late = self.limits.deadline.is_some_and(|deadline| self.began.elapsed() >= deadline.hard);
            self.stopped |= late || self.stop.load(Ordering::Relaxed);
        }
        if !self.stopped {
            self.nodes += 1;
            self.selective_depth = self.selective_depth.max(ply);
        }
        self.stopped
    }

    #[inline]
    fn play(&mut self, mv: Move, ply: usize) -> Undo {
        self.plies[ply].going = Some((mover(&self.position, mv), mv.to()));
        let mut follower = self.evaluator.follow(&mut self.line, ply);
        let undo = self.position.make(mv, &mut follower);
        self.keys.push(self.position.key());
        undo
    }

    #[inline]
    fn take_back(&mut self, mv: Move, undo: &Undo) {
        self.keys.pop();
        self.position.unmake(mv, undo);
    }

    fn pass(&mut self, ply: usize) -> Undo {
        self.plies[ply].going = None;
        let _no_changes = self.evaluator.follow(&mut self.line, ply);
        let undo = self.position.make_null();
        self.keys.push(self.position.key());
        undo
    }

    fn take_back_pass(&mut self, undo: &Undo) {
        self.keys.pop();
        self.position.unmake_null(undo);
    }

    #[inline]
    fn static_value(&mut self, ply: usize) -> i32 {
        self.evaluator.value(&self.position, &mut self.line, ply)
    }

    /// The moves before this ply that histories look at: the opponent's last and one's own last.
    #[inline]
    fn goings_before(&self, ply: usize) -> [Option<Going>; 2] {
        let before = |plies: usize| ply.checked_sub(plies).and_then(|ply| self.plies[ply].going);
        [before(1), before(2)]
    }
}

/// The man that a move brings to its target: for a drop the one dropped.
#[inline]
fn mover(position: &Position, mv: Move) -> crate::position::Piece {
    match mv.kind() {
        crate::moves::MoveKind::Drop(unit) => crate::position::Piece::new(unit, position.side_to_move()),
        _ => position.piece_at(mv.from()),
    }
}
