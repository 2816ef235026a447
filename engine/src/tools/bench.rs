//! How fast the engine is, and whether it still searches as it did.
//!
//! [`Bench::run`] counts the leaves of the start position, searches a fixed set of positions to a fixed depth, and
//! searches the start position for a fixed number of nodes. The sum of the nodes of the fixed depth searches is the
//! bench number: it depends on the code and the variant alone, so a change that moves it changes play. Clocks are used
//! for the speeds only. A network is measured beside the a-priori values: the same positions, searched in turn for as many
//! nodes, so that both meet the same load of the machine.

use crate::evaluate::network::Network;
use crate::evaluate::{Judge, Tapered, Weights};
use crate::moves::perft::perft;
use crate::position::{Position, Unobserved};
use crate::search::{Limits, Memory, Params, Report, Request, search_with};
use crate::table::aligned;
use crate::variant::Variant;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::Serialize;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Plies of the fixed depth searches unless told otherwise.
pub const DEFAULT_DEPTH: i32 = 11;
/// Plies of the count of leaves.
const PERFT_DEPTH: u32 = 4;
/// The count is repeated until so much time has gone by, so that small games are measured too.
const PERFT_TIME: Duration = Duration::from_millis(500);
/// Random plies from the start to each position; part of the meaning of the bench number, as is the seed.
const PLIES: [usize; 8] = [0, 4, 8, 12, 18, 24, 32, 40];
const SEED: u64 = 2026;
/// Nodes of the search of the start position.
const START_NODES: u64 = 1_000_000;
/// Mebibytes of the table.
const HASH: usize = 16;

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Bench {
    /// The variant's name.
    pub variant: String,
    /// Plies of the fixed depth searches.
    pub depth: i32,
    /// Nodes of all fixed depth searches: the number that identifies the search.
    pub bench: u64,
    /// Leaves of the start position, four plies deep.
    pub perft_nodes: u64,
    /// Leaves counted a second.
    pub perft_nodes_per_second: u64,
    /// Nodes of all fixed depth searches, again, beside their speed.
    pub search_nodes: u64,
    /// Nodes a second over the fixed depth searches.
    pub search_nodes_per_second: u64,
    /// Nodes a second of a search of the start position limited by nodes.
    pub start_nodes_per_second: u64,
    /// The fixed depth searches one by one.
    pub positions: Vec<Searched>,
    /// The same positions searched with a network, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkSpeed>,
}

/// How fast searches with a network are.
#[derive(Clone, Debug, Serialize)]
pub struct NetworkSpeed {
    /// Neurons a perspective.
    pub width: usize,
    /// The instructions that run it.
    pub instructions: &'static str,
    /// Nodes of all searches: as many as with the a-priori values, or fewer where a search ended by itself.
    pub search_nodes: u64,
    /// Nodes a second.
    pub search_nodes_per_second: u64,
    /// Nodes a second over nodes a second with the a-priori values.
    pub ratio: f64,
}

/// One fixed depth search.
#[derive(Clone, Debug, Serialize)]
pub struct Searched {
    /// Random plies from the start.
    pub plies: usize,
    /// The position.
    pub fen: String,
    /// The move found, or `(none)`.
    pub best: String,
    /// Its score in centipawns for the side to move.
    pub score: i32,
    /// Nodes searched.
    pub nodes: u64,
}

impl Bench {
    /// Measures a variant with its a-priori values.
    pub fn run(variant: &Arc<Variant>, depth: i32) -> Self {
        Self::run_beside(variant, depth, None)
    }

    /// Measures a variant with its a-priori values, and with a network beside them if there is one.
    pub fn run_beside(variant: &Arc<Variant>, depth: i32, network: Option<Network>) -> Self {
        let (perft_nodes, perft_nodes_per_second) = count_leaves(variant);
        let mut values = Searcher::new(Tapered::new(variant, &Weights::a_priori(variant)).into());
        let about =
            network.as_ref().map(|network| (network.features().architecture().width, network.instructions().name()));
        let mut beside = network.map(|network| Searcher::new(network.into()));
        let mut positions = Vec::new();
        for plies in PLIES {
            let position = playout(variant, plies);
            let report = values.search(&position, &Limits::depth(depth));
            if let Some(beside) = &mut beside {
                beside.search(&position, &Limits::nodes(report.nodes));
            }
            positions.push(Searched::new(plies, &position, &report));
        }
        let (nodes, speed) = (values.nodes, values.speed());
        let network = about.zip(beside).map(|((width, instructions), beside)| NetworkSpeed {
            width,
            instructions,
            search_nodes: beside.nodes,
            search_nodes_per_second: beside.speed(),
            ratio: beside.speed() as f64 / speed.max(1) as f64,
        });
        Self {
            variant: variant.name().into(),
            depth,
            bench: nodes,
            perft_nodes,
            perft_nodes_per_second,
            search_nodes: nodes,
            search_nodes_per_second: speed,
            start_nodes_per_second: values.speed_at_start(variant),
            positions,
            network,
        }
    }
}

impl Searched {
    fn new(plies: usize, position: &Position, report: &Report) -> Self {
        Self {
            plies,
            fen: position.fen(),
            best: report.best.map_or_else(|| "(none)".into(), |mv| position.move_text(mv)),
            score: report.score,
            nodes: report.nodes,
        }
    }
}

fn count_leaves(variant: &Arc<Variant>) -> (u64, u64) {
    let mut position = Position::start(variant);
    let (began, mut leaves, mut counts) = (Instant::now(), 0, 0);
    while counts == 0 || began.elapsed() < PERFT_TIME {
        leaves = perft(&mut position, PERFT_DEPTH);
        counts += 1;
    }
    (leaves, per_second(leaves * counts, began.elapsed()))
}

/// Evaluation and memory, the latter forgotten before each search, and what searching has taken so far.
struct Searcher {
    judge: Judge,
    memory: Memory,
    nodes: u64,
    time: Duration,
}

impl Searcher {
    fn new(judge: Judge) -> Self {
        Self { judge, memory: Memory::new(HASH, Params::default()), nodes: 0, time: Duration::ZERO }
    }

    fn speed(&self) -> u64 {
        per_second(self.nodes, self.time)
    }

    fn speed_at_start(&mut self, variant: &Arc<Variant>) -> u64 {
        let (nodes, time) = (self.nodes, self.time);
        self.search(&Position::start(variant), &Limits::nodes(START_NODES));
        per_second(self.nodes - nodes, self.time - time)
    }

    fn search(&mut self, position: &Position, limits: &Limits) -> Report {
        self.memory.forget();
        let never = AtomicBool::new(false);
        let request = Request { position, earlier: &[], limits, evaluator: &self.judge, endgames: None, stop: &never };
        let began = Instant::now();
        let report = search_with(&request, &mut self.memory, |_, _| ());
        self.time += began.elapsed();
        self.nodes += report.nodes;
        report
    }
}

/// The position after so many random moves, or after as many as lead to no end of the game.
fn playout(variant: &Arc<Variant>, plies: usize) -> Position {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    random.set_stream(plies as u64);
    let mut position = Position::start(variant);
    for _ in 0..plies {
        let moves = position.legal_moves();
        let Some(&mv) = moves.get(random.next_u64() as usize % moves.len().max(1)) else { break };
        let undo = position.make(mv, &mut Unobserved);
        if position.outcome(1).is_some() {
            position.unmake(mv, &undo);
            break;
        }
    }
    position
}

fn per_second(nodes: u64, time: Duration) -> u64 {
    (nodes as f64 / time.as_secs_f64().max(1e-9)) as u64
}

impl fmt::Display for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heading = ["plies", "nodes", "score", "move", "position"].map(String::from).to_vec();
        let row = |searched: &Searched| {
            let numbers = [searched.plies.to_string(), searched.nodes.to_string(), searched.score.to_string()];
            numbers.into_iter().chain([searched.best.clone(), searched.fen.clone()]).collect()
        };
        let rows: Vec<Vec<String>> = std::iter::once(heading).chain(self.positions.iter().map(row)).collect();
        writeln!(f, "{}, positions after random plies, searched to depth {}\n", self.variant, self.depth)?;
        writeln!(f, "{}\n", aligned(&rows))?;
        let line = |what: &str, nodes: u64, speed: u64| {
            vec![what.to_string(), nodes.to_string(), format!("{:.2} million a second", speed as f64 / 1e6)]
        };
        let summary = [
            vec!["measure".into(), "nodes".into(), "speed".into()],
            line(&format!("perft {PERFT_DEPTH} of the start, leaves"), self.perft_nodes, self.perft_nodes_per_second),
            line("search to fixed depth", self.search_nodes, self.search_nodes_per_second),
            line("search of the start", START_NODES, self.start_nodes_per_second),
        ];
        writeln!(f, "{}\n", aligned(&summary))?;
        if let Some(NetworkSpeed { width, instructions, search_nodes, search_nodes_per_second, ratio }) = &self.network
        {
            let speed = *search_nodes_per_second as f64 / 1e6;
            writeln!(
                f,
                "network of width {width} ({instructions}): {search_nodes} nodes, {speed:.2} million a second"
            )?;
            writeln!(f, "that is {ratio:.3} of the speed with the a-priori values\n")?;
        }
        write!(f, "Bench: {}", self.bench)
    }
}
