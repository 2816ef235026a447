//! Work that goes on while the session listens: a search or a count of leaves, on a thread of its own.

use super::own_book::Advice;
use super::voice::Voice;
use crate::book::BookMove;
use crate::endgame::Tables;
use crate::evaluate::Judge;
use crate::moves::Move;
use crate::moves::perft::perft;
use crate::position::{Position, Unobserved};
use crate::search::score::{DRAW, mate_in};
use crate::search::{Limits, Memory, Report, Request, search_with};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// Stack of the thread: more than the deepest line needs on any platform.
const STACK_BYTES: usize = 16 << 20;
/// Depth up to which leaves are counted without looking out for `stop`.
const UNDISTURBED_DEPTH: u32 = 3;

/// A search to be done.
pub(super) struct Task {
    pub position: Position,
    /// Keys of the game's positions before.
    pub earlier: Vec<u64>,
    pub limits: Limits,
    pub evaluator: Judge,
    pub endgames: Option<Arc<Tables>>,
    pub memory: Memory,
    /// What the book says; a move that it chose is played without a search.
    pub advice: Advice,
    /// The answer is held back until `stop`, even if nothing is left to search.
    pub waits_for_stop: bool,
}

/// Who hears what a search finds, on the search's own thread, and says it in the words of a protocol.
pub(super) trait Listener: Send {
    /// What the session learns when it settles.
    type Said: Send;

    /// A depth is finished, or the search has ended between two. An error ends the search: nobody listens any more.
    fn progress(&mut self, progress: &Progress<'_>) -> io::Result<()>;

    /// The search is over.
    fn answer(self, position: &Position, report: &Report) -> Self::Said;
}

/// A search so far.
pub(super) struct Progress<'a> {
    pub position: &'a Position,
    pub report: &'a Report,
    /// Share of the table in use, in thousandths.
    pub fullness: usize,
    pub time: Duration,
}

/// Work under way; a search tells `T` at its end.
pub(super) struct Thinking<'scope, T = ()> {
    stop: Arc<AtomicBool>,
    waits_for_stop: bool,
    /// Gives the memory back that a search took along.
    thread: ScopedJoinHandle<'scope, Option<(Memory, T)>>,
}

impl<'scope, T: Send + 'scope> Thinking<'scope, T> {
    /// Starts a search.
    pub fn search<L: Listener<Said = T> + 'scope>(
        scope: &'scope Scope<'scope, '_>,
        task: Task,
        listener: L,
    ) -> io::Result<Self> {
        Self::start(scope, task.waits_for_stop, move |stop| Some(task.run(stop, listener)))
    }

    fn start(
        scope: &'scope Scope<'scope, '_>,
        waits_for_stop: bool,
        work: impl FnOnce(&AtomicBool) -> Option<(Memory, T)> + Send + 'scope,
    ) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let builder = thread::Builder::new().name("thinking".into()).stack_size(STACK_BYTES);
        let thread = builder.spawn_scoped(scope, move || work(&seen))?;
        Ok(Self { stop, waits_for_stop, thread })
    }

    /// Asks for an end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
    }

    /// Waits for the end, asking for it if it would not come otherwise. `Err`: the thread panicked.
    pub fn settle(self) -> thread::Result<Option<(Memory, T)>> {
        if self.waits_for_stop {
            self.stop();
        }
        self.thread.join()
    }
}

impl<'scope> Thinking<'scope> {
    /// Starts counting leaves.
    pub fn perft<'env: 'scope, W: Write + Send>(
        scope: &'scope Scope<'scope, 'env>,
        voice: &'env Voice<W>,
        position: Position,
        depth: u32,
    ) -> io::Result<Self> {
        Self::start(scope, false, move |stop| {
            // A lost listener is the session's to notice.
            let _ = divide(position, depth, stop, voice);
            None
        })
    }
}

impl Task {
    /// Searches, lets the listener say what is found, and gives the memory back.
    fn run<L: Listener>(mut self, stop: &AtomicBool, mut listener: L) -> (Memory, L::Said) {
        let began = Instant::now();
        let mut last = None;
        let (position, evaluator, endgames) = (&self.position, &self.evaluator, self.endgames.as_deref());
        let mut hears = |report: &Report, fullness| {
            let progress = Progress { position, report, fullness, time: began.elapsed() };
            listener.progress(&progress).is_ok()
        };
        let (earlier, limits) = (self.earlier.as_slice(), &self.limits);
        let request = Request { position, earlier, limits, evaluator, endgames, stop };
        let report = match &self.advice.chosen {
            Some(chosen) => from_book(chosen),
            None => search_with(&request, &mut self.memory, |report, memory| {
                last = Some(report.clone());
                if !hears(report, memory.fullness()) {
                    stop.store(true, Ordering::Relaxed);
                }
            }),
        };
        // The session meets a lost listener too, and ends.
        if last.as_ref() != Some(&report) {
            hears(&report, self.memory.fullness());
        }
        while self.waits_for_stop && !stop.load(Ordering::Relaxed) {
            thread::park();
        }
        let said = listener.answer(position, &report);
        (self.memory, said)
    }
}

/// A move of a book as if a search had found it.
fn from_book(chosen: &BookMove) -> Report {
    Report {
        best: Some(chosen.mv),
        score: chosen.value.map_or(DRAW, i32::from),
        depth: 0,
        selective_depth: 0,
        nodes: 0,
        endgame_hits: 0,
        line: vec![chosen.mv],
    }
}

/// Says a search as UCI has it: `info` lines, then `bestmove`.
pub(super) struct UciListener<'env, W>(pub &'env Voice<W>);

impl<W: Write + Send> Listener for UciListener<'_, W> {
    type Said = ();

    fn progress(&mut self, progress: &Progress<'_>) -> io::Result<()> {
        self.0.say(info(progress))
    }

    fn answer(self, position: &Position, report: &Report) {
        let best = report.best.map_or_else(|| "(none)".into(), |mv| position.move_text(mv));
        let _ = self.0.say(format_args!("bestmove {best}"));
    }
}

/// One `info` line.
fn info(progress: &Progress<'_>) -> String {
    let &Progress { position, report, fullness, time } = progress;
    let score = match mate_in(report.score) {
        Some(moves) => format!("mate {moves}"),
        None => format!("cp {}", report.score),
    };
    let speed = (report.nodes as f64 / time.as_secs_f64().max(1e-6)) as u64;
    let mut text = format!(
        "info depth {} seldepth {} score {score} nodes {} nps {speed} hashfull {fullness} time {}",
        report.depth,
        report.selective_depth,
        report.nodes,
        time.as_millis()
    );
    if report.endgame_hits > 0 {
        let _ = write!(text, " tbhits {}", report.endgame_hits);
    }
    if !report.line.is_empty() {
        let _ = write!(text, " pv {}", line_text(position, &report.line));
    }
    text
}

/// A line of moves; each is written as the position before it sees it.
fn line_text(position: &Position, line: &[Move]) -> String {
    let mut position = position.clone();
    let texts = line.iter().map(|&mv| {
        let text = position.move_text(mv);
        position.make(mv, &mut Unobserved);
        text
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// Leaves below each move and their sum, in the form that scripts for other engines read.
fn divide<W: Write>(mut position: Position, depth: u32, stop: &AtomicBool, voice: &Voice<W>) -> io::Result<()> {
    let mut total = u64::from(depth == 0);
    let moves = if depth == 0 { Vec::new() } else { position.legal_moves() };
    for mv in moves {
        let text = position.move_text(mv);
        let undo = position.make(mv, &mut Unobserved);
        let leaves = leaves_unless_stopped(&mut position, depth - 1, stop);
        position.unmake(mv, &undo);
        let Some(leaves) = leaves else { return voice.remark("perft was stopped") };
        voice.say(format_args!("{text}: {leaves}"))?;
        total += leaves;
    }
    voice.say(format_args!("\nNodes searched: {total}\n"))
}

fn leaves_unless_stopped(position: &mut Position, depth: u32, stop: &AtomicBool) -> Option<u64> {
    if stop.load(Ordering::Relaxed) {
        return None;
    }
    if depth <= UNDISTURBED_DEPTH {
        return Some(perft(position, depth));
    }
    let mut leaves = 0;
    for mv in position.legal_moves() {
        let undo = position.make(mv, &mut Unobserved);
        let below = leaves_unless_stopped(position, depth - 1, stop);
        position.unmake(mv, &undo);
        leaves += below?;
    }
    Some(leaves)
}
