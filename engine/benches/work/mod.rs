//! The hot paths of the engine as pieces of work: always the same, none needs a clock. The benchmark takes their time, the guard
//! counts their instructions.

use fairyforge_engine::evaluate::network::{Network, NetworkFile};
use fairyforge_engine::evaluate::{Evaluator, Judge, Tapered, Weights};
use fairyforge_engine::moves::Move;
use fairyforge_engine::moves::perft::perft;
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::search::{Limits, Memory, Params, Request, search_with};
use fairyforge_engine::variant::Variant;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Boards of 8×8, of 10×10, of 10×10 and four squares more, of 12×12; with and without drops, holes and zones.
pub const VARIANTS: [&str; 4] = ["chess", "opulent-lemurian-shatranj", "sorcerer", "herculean"];

/// Plies of the random game that is played.
const PLIES: usize = 60;
const SEED: u64 = 7;
/// Plies of the count of leaves: a few hundred moves are made for it, some ten thousand found.
const LEAVES_DEPTH: u32 = 3;
/// Nodes of a search.
const NODES: u64 = 2_000;
/// Size of a search's table, in mebibytes.
const TABLE: usize = 1;

/// A game, and what values its positions.
pub struct Work {
    start: Position,
    game: Vec<Move>,
    tapered: Arc<Tapered>,
    network: Arc<Network>,
}

/// A hot path.
pub type HotPath = (&'static str, fn(&Work) -> i64);

/// All of them, with the names that the guard knows them by.
pub const PATHS: [HotPath; 7] = [
    ("moves", |work| work.moves()),
    ("make", |work| work.make()),
    ("tapered", |work| work.values(&*work.tapered)),
    ("network", |work| work.values(&*work.network)),
    ("search-tapered", |work| work.search(&Judge::Tapered(work.tapered.clone()))),
    ("search-network", |work| work.search(&Judge::Network(work.network.clone()))),
    ("pack", |work| work.pack()),
];

impl Work {
    /// The work of a variant that has shipped weights or none, and a shipped network.
    pub fn of(name: &str) -> Self {
        let variant = Arc::new(Variant::load(name).expect("a shipped variant"));
        let start = Position::start(&variant);
        let network = Network::new(NetworkFile::shipped(&variant).expect("a shipped network"));
        let tapered = Arc::new(Tapered::new(&variant, &Weights::best_known(&variant)));
        Self { game: random_game(&start), start, tapered, network: Arc::new(network) }
    }

    /// Finds all legal moves, and makes and takes back those that lead to further ones.
    fn moves(&self) -> i64 {
        perft(&mut self.start.clone(), LEAVES_DEPTH) as i64
    }

    /// Plays the game and takes it back.
    fn make(&self) -> i64 {
        let mut position = self.start.clone();
        let undos: Vec<_> = self.game.iter().map(|&mv| position.make(mv, &mut Unobserved)).collect();
        for (&mv, undo) in self.game.iter().zip(&undos).rev() {
            position.unmake(mv, undo);
        }
        i64::from(black_box(position).occupied().len())
    }

    /// Plays the game and values every position.
    fn values<E: Evaluator>(&self, evaluator: &E) -> i64 {
        let mut position = self.start.clone();
        let mut line = evaluator.line(&position, self.game.len() + 1);
        let mut sum = i64::from(evaluator.value(&position, &mut line, 0));
        for (ply, &mv) in self.game.iter().enumerate() {
            position.make(mv, &mut evaluator.follow(&mut line, ply));
            sum += i64::from(evaluator.value(&position, &mut line, ply + 1));
        }
        sum
    }

    /// Searches the position in the middle of the game.
    fn search(&self, judge: &Judge) -> i64 {
        let mut position = self.start.clone();
        for &mv in &self.game[..self.game.len() / 2] {
            position.make(mv, &mut Unobserved);
        }
        let (limits, stop) = (Limits::nodes(NODES), AtomicBool::new(false));
        let request = Request {
            position: &position,
            earlier: &[],
            limits: &limits,
            evaluator: judge,
            endgames: None,
            stop: &stop,
        };
        i64::from(search_with(&request, &mut Memory::new(TABLE, Params::default()), |_, _| ()).score)
    }

    /// Packs every position of the game and unpacks it.
    fn pack(&self) -> i64 {
        let mut position = self.start.clone();
        let mut men = 0;
        for &mv in &self.game {
            position.make(mv, &mut Unobserved);
            let read = Position::unpack(position.variant(), &position.pack()).expect("what was packed can be unpacked");
            men += i64::from(read.occupied().len());
        }
        men
    }
}

/// Random moves, as many as lead to no end of the game.
fn random_game(start: &Position) -> Vec<Move> {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let (mut position, mut game) = (start.clone(), Vec::new());
    while game.len() < PLIES && position.outcome(1).is_none() {
        let moves = position.legal_moves();
        let mv = moves[random.next_u64() as usize % moves.len()];
        position.make(mv, &mut Unobserved);
        game.push(mv);
    }
    game
}
