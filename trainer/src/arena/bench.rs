//! What the arena costs: the same searches inside a match and without one, on all threads, and the memory it takes.
//!
//! A round plays a match into a journal and then searches every position of its games again, with nothing around the
//! search but the making of the moves. Nodes are the same in both, so the ratio of times is the ratio of nodes a second.
//! The order of the two changes from round to round, so that a machine that gets slower or faster favours neither. Processor
//! time is told beside the clock's: on a busy machine only that says something, on an idle one it leaves out what is lost
//! by waiting.

use super::journal::{GameEntry, JournalError, Reader};
use super::openings::{OpeningBook, OpeningError, OpeningSource};
use super::schedule::{Format, Schedule};
use super::{Contestant, Entrant, Match, MatchError, OwnEngine, Terms, introduced};
use crate::play::{Adjudication, Allowance};
use crate::selfplay::Openings;
use crate::share::Share;
use fairyforge_engine::evaluate::{Judge, Weights};
use fairyforge_engine::game::Game;
use fairyforge_engine::position::Position;
use fairyforge_engine::search::{self, Limits, Memory, Params, Report, Request};
use fairyforge_engine::variant::Variant;
use rayon::prelude::*;
use serde::{Serialize, Serializer};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// What is measured.
#[derive(Clone, Debug)]
pub struct ArenaBench {
    /// The game.
    pub variant: Arc<Variant>,
    /// Nodes a move.
    pub nodes: u64,
    /// Pairs of games a round.
    pub pairs: u64,
    /// Size of a player's table, in mebibytes.
    pub table_mebibytes: usize,
}

/// What a round has shown.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Round {
    /// Games played.
    pub games: u64,
    /// Nodes searched, in the match and again without one.
    pub nodes: u64,
    /// The match.
    pub arena: Times,
    /// The bare searches.
    pub bare: Times,
    /// Memory of the process in mebibytes at its end, where the system tells it.
    pub resident_mebibytes: Option<f64>,
}

/// How long something took.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Times {
    /// By the clock.
    #[serde(serialize_with = "in_seconds")]
    pub wall: Duration,
    /// Processor time of all threads, where the system tells it.
    #[serde(serialize_with = "in_seconds_if_any")]
    pub processor: Option<Duration>,
}

fn in_seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    time.as_secs_f64().serialize(serializer)
}

fn in_seconds_if_any<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(serializer)
}

/// A beginning from which times are taken.
struct Stopwatch {
    began: Instant,
    processor: Option<Duration>,
}

impl Stopwatch {
    fn start() -> Self {
        Self { began: Instant::now(), processor: processor_time() }
    }

    fn times(&self) -> Times {
        let processor = processor_time().zip(self.processor).map(|(now, then)| now.saturating_sub(then));
        Times { wall: self.began.elapsed(), processor }
    }
}

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The match failed.
    #[error(transparent)]
    Match(#[from] MatchError),
    /// There are no openings.
    #[error(transparent)]
    Openings(#[from] OpeningError),
    /// The journal cannot be read back.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The same search found something else.
    #[error("{place}: expected {expected} to be found again, got {got}")]
    Differs {
        /// Game and ply.
        place: String,
        /// The move of the match.
        expected: String,
        /// The move found now.
        got: String,
    },
}

impl Round {
    /// Share of the engine's nodes a second that the match loses by the clock, 0 to 1; below 0 if it was faster.
    pub fn loss(&self) -> f64 {
        1.0 - self.bare.wall.as_secs_f64() / self.arena.wall.as_secs_f64()
    }

    /// The same by processor time.
    pub fn processor_loss(&self) -> Option<f64> {
        let (bare, arena) = self.bare.processor.zip(self.arena.processor)?;
        Some(1.0 - bare.as_secs_f64() / arena.as_secs_f64())
    }
}

impl ArenaBench {
    /// Plays round `number` with its journal in `folder`, on rayon's current threads.
    ///
    /// # Errors
    /// The match cannot be played, or its searches do not repeat.
    pub fn round(&self, number: u64, folder: &Path, stop: &AtomicBool) -> Result<Round, BenchError> {
        let judge = Judge::of_weights(&self.variant, &Weights::best_known(&self.variant));
        let path = folder.join(format!("round-{number}.jsonl"));
        // Played twice if it comes second: the games must be known before they can be searched bare.
        let first = self.play(&judge, number, &path, stop)?;
        let games = Reader::open(&path)?.collect::<Result<Vec<_>, _>>()?;
        let (nodes, bare) = self.search_bare(&judge, &games)?;
        let arena = if number.is_multiple_of(2) {
            first
        } else {
            self.play(&judge, number, &folder.join(format!("round-{number}-again.jsonl")), stop)?
        };
        Ok(Round { games: games.len() as u64, nodes, arena, bare, resident_mebibytes: resident_mebibytes() })
    }

    fn play(&self, judge: &Judge, number: u64, path: &Path, stop: &AtomicBool) -> Result<Times, BenchError> {
        let contestants = ["A", "B"].map(|name| Contestant {
            name: name.into(),
            allowance: Allowance::nodes(self.nodes),
            entrant: Entrant::Own(OwnEngine {
                judge: judge.clone(),
                weights: "best known".into(),
                params: Params::default(),
                table_mebibytes: self.table_mebibytes,
            }),
        });
        let contest = Match {
            variant: &self.variant,
            contestants: &contestants,
            players: introduced(&self.variant, &contestants)?,
            schedule: Schedule::new(Format::RoundRobin, contestants.len(), self.pairs),
            openings: OpeningBook::open(&self.variant, &OpeningSource::Random(Openings::default()), number)?,
            terms: Terms {
                adjudication: Adjudication::default(),
                endgames: None,
                time_margin: Duration::ZERO,
                sprt: None,
                breakdowns: 0,
            },
            seed: number,
            share: Share::All,
        };
        let watch = Stopwatch::start();
        contest.play(path, stop, &mut |_| ())?;
        Ok(watch.times())
    }

    /// Searches all positions of the games again; nodes and time.
    fn search_bare(&self, judge: &Judge, games: &[GameEntry]) -> Result<(u64, Times), BenchError> {
        let watch = Stopwatch::start();
        let memories = || [(); 2].map(|()| Memory::new(self.table_mebibytes, Params::default()));
        let search_pair = |memories: &mut [Memory; 2], pair: &[GameEntry]| {
            pair.iter().map(|game| self.search_game(judge, memories, game)).sum::<Result<u64, BenchError>>()
        };
        let nodes =
            games.par_chunks(2).map_init(memories, search_pair).try_reduce(|| 0, |one, other| Ok(one + other))?;
        Ok((nodes, watch.times()))
    }

    fn search_game(&self, judge: &Judge, memories: &mut [Memory; 2], entry: &GameEntry) -> Result<u64, BenchError> {
        let differs = |ply: usize, expected: &str, got: String| BenchError::Differs {
            place: format!("{}, ply {ply}", entry.number()),
            expected: expected.into(),
            got,
        };
        let start = Position::from_fen(&self.variant, &entry.fen);
        let mut game = Game::new(start.map_err(|error| differs(0, &entry.fen, error.to_string()))?);
        let never = AtomicBool::new(false);
        memories.iter_mut().for_each(Memory::forget);
        let limits = Limits::nodes(self.nodes);
        let mut nodes = 0;
        for (ply, text) in entry.moves.split(' ').enumerate() {
            let memory = &mut memories[ply % 2];
            let ignore = |_: &Report, _: &Memory| {};
            let (position, earlier) = (game.position(), game.earlier());
            let request =
                Request { position, earlier, limits: &limits, evaluator: judge, endgames: None, stop: &never };
            let report = search::search_with(&request, memory, ignore);
            nodes += report.nodes;
            let found = report.best.ok_or_else(|| differs(ply, text, "no move".into()))?;
            if game.position().move_text(found) != text {
                return Err(differs(ply, text, game.position().move_text(found)));
            }
            game.play(found);
        }
        Ok(nodes)
    }
}

#[cfg(unix)]
fn processor_time() -> Option<Duration> {
    Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime)).ok()
}

#[cfg(not(unix))]
const fn processor_time() -> Option<Duration> {
    None
}

/// Memory of this process that is in use now, where the system tells it.
fn resident_mebibytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes / 1024.0)
}
