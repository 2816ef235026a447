//! Openings from files in every shipped game, and the books in `data/openings`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use fairyforge::arena::openings::{OpeningBook, OpeningFile, OpeningSource, Order};
use fairyforge::selfplay::openings::OpeningMaker;
use fairyforge::selfplay::{Imbalance, Openings};
use fairyforge_engine::evaluate::{Tapered, Weights};
use fairyforge_engine::game::Game;
use fairyforge_engine::pgn::{PgnGame, PgnMove};
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::search::{Limits, Memory, Params, Request, search};
use fairyforge_engine::tools::bench::{Bench, DEFAULT_DEPTH};
use fairyforge_engine::variant::Variant;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn variant(name: &str) -> Arc<Variant> {
    Arc::new(Variant::load(name).unwrap())
}

/// A game of up to so many random plies that no rule has ended.
fn random_game(variant: &Arc<Variant>, plies: usize, random: &mut ChaCha8Rng) -> Game {
    'games: loop {
        let mut game = Game::new(Position::start(variant));
        for _ in 0..plies {
            let moves = game.position().legal_moves();
            game.play(moves[(random.next_u64() % moves.len() as u64) as usize]);
            if game.outcome().is_some() {
                continue 'games;
            }
        }
        return game;
    }
}

/// Random games of growing length; later ones have castled, promoted, dropped what they hold, and passed en passant.
fn random_games(variant: &Arc<Variant>) -> Vec<Game> {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    (0..40).map(|number| random_game(variant, number + number / 20 * 40, &mut random)).collect()
}

/// The openings of a text in the order of the file.
#[track_caller]
fn book(variant: &Arc<Variant>, name: &str, text: &str) -> OpeningBook {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let source = OpeningSource::File(OpeningFile { order: Order::Sequential, ..OpeningFile::new(path) });
    OpeningBook::open(variant, &source, 1).unwrap_or_else(|error| panic!("{}: {error}", variant.name()))
}

#[test]
fn positions_of_every_game_read_back() {
    let (mut black, mut passed, mut held) = (0, 0, 0);
    for name in Variant::shipped_names() {
        let variant = variant(name);
        let games = random_games(&variant);
        let fens: Vec<String> = games.iter().map(|game| game.position().fen()).collect();
        let without_counters = |fen: &String| fen.split(' ').take(4).collect::<Vec<_>>().join(" ");
        let six = book(&variant, "book.fen", &fens.join("\n"));
        let four: Vec<String> = fens.iter().map(without_counters).collect();
        let four = book(&variant, "book.epd", &four.join(" id \"x\";\r\n"));
        assert_eq!((six.size(), four.size()), (Some(40), Some(40)));
        for (number, game) in (0..).zip(&games) {
            let fen = game.position().fen();
            let (six, four) = (six.opening(number), four.opening(number));
            assert!(six.position == *game.position() && six.start == six.position, "{name}: {fen}");
            assert_eq!(four.position.fen(), format!("{} 0 1", without_counters(&fen)), "{name}");
            assert_eq!((six.plies, four.plies, six.line), (0, 0, Some(number + 1)));
            black += usize::from(fen.contains(" b "));
            passed += usize::from(game.position().en_passant().is_some());
            held += usize::from(fen.contains('[') && !fen.contains("[]"));
        }
    }
    assert!(black > 500 && passed > 30 && held > 10, "{black} {passed} {held}");
}

#[test]
fn games_of_every_game_read_back() {
    for name in Variant::shipped_names() {
        let variant = variant(name);
        let games = random_games(&variant);
        let mut text = Vec::new();
        for (number, game) in games.iter().enumerate() {
            // Every other one begins in the middle.
            let before = if number % 2 == 0 { 0 } else { number / 3 };
            let mut start = Position::start(&variant);
            for &mv in &game.moves()[..before] {
                start.make(mv, &mut Unobserved);
            }
            let mut pgn = PgnGame::new(start);
            let rest = game.moves()[before..].iter();
            pgn.moves = rest.map(|&mv| PgnMove { mv, nags: Vec::new(), comment: Default::default() }).collect();
            pgn.write(&mut text).unwrap();
        }
        let book = book(&variant, "games.pgn", &String::from_utf8(text).unwrap());
        assert_eq!(book.size(), Some(40));
        for (number, game) in games.iter().enumerate() {
            let opening = book.opening(number as u64);
            assert!(opening.position == *game.position(), "{name}: game {number}, {}", game.position().fen());
            let before = if number % 2 == 0 { 0 } else { number / 3 };
            assert_eq!(usize::from(opening.plies), game.moves().len() - before);
            assert_eq!(opening.start == Position::start(&variant), before == 0, "{name}");
        }
    }
}

/// A large book: nothing is slow or large out of proportion, and the openings at its ends are the right ones.
#[test]
#[ignore = "reads a million positions"]
fn a_million_positions() {
    const LINES: u64 = 1_000_000;
    let variant = variant("herculean");
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let fens: Vec<String> = (0..1000).map(|_| random_game(&variant, 12, &mut random).position().fen()).collect();
    let mut text = String::new();
    for number in 0..LINES {
        let fen = &fens[number as usize % fens.len()];
        writeln!(text, "{} fmvn {}; id \"{number}\";", fen.rsplitn(3, ' ').last().unwrap(), number % 50_000 + 1)
            .unwrap();
    }
    let book = book(&variant, "book.epd", &text);
    assert_eq!(book.size(), Some(LINES));
    assert!(book.remarks()[0].starts_with("999000 of 1000000 openings stood there before: line 1001 is line 1 "));
    for number in [0, 1, 999, 1000, 123_456, LINES - 1] {
        let opening = book.opening(number);
        assert_eq!((opening.name, opening.line), (Some(number.to_string()), Some(number + 1)));
        assert_eq!(u64::from(opening.position.full_moves()), number % 50_000 + 1);
        assert!(opening.position.fen().starts_with(fens[number as usize % 1000].rsplitn(3, ' ').last().unwrap()));
    }
}

/// A book of `data/openings`, and how it was made.
struct Shipped {
    variant: &'static str,
    seed: u64,
}

const SHIPPED: [Shipped; 2] = [Shipped { variant: "herculean", seed: 1 }, Shipped { variant: "chess", seed: 1 }];
/// Openings of a book.
const OPENINGS: usize = 200;
/// Random plies of each.
const PLIES: u16 = 8;
/// Nodes of the search that judges whether a position is balanced.
const NODES: u64 = 5_000;
/// How far from equal a position may be, in centipawns.
const BALANCED: i32 = 30;
/// What those that were balanced may be to a later version of the search.
const STILL_BALANCED: i32 = 150;
/// Mebibytes of the search's table.
const TABLE: usize = 16;
/// Set to anything, the books are written anew:
/// `FAIRYFORGE_REGENERATE=1 cargo test -p fairyforge --test openings -- --ignored`.
const REGENERATE: &str = "FAIRYFORGE_REGENERATE";

impl Shipped {
    fn path(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../data/openings/{}.epd", self.variant))
    }

    fn maker(&self, variant: &Arc<Variant>) -> OpeningMaker {
        let imbalance = Imbalance { share: 0.0, ..Imbalance::default() };
        let settings =
            Openings { least_random_plies: PLIES, most_random_plies: PLIES, imbalance, ..Openings::default() };
        OpeningMaker::new(variant, &settings)
    }

    /// The book as this version of the program makes it: of the random openings of a seed the first that are balanced.
    fn made(&self, play: &str) -> String {
        let variant = variant(self.variant);
        let maker = self.maker(&variant);
        let mut judge = Judge::new(&variant);
        let mut text = self.head(&variant, play);
        let mut seen = BTreeSet::new();
        for pair in 0.. {
            let [opening, _] = maker.pair(self.seed, pair);
            let score = judge.score(&opening.position);
            if score.abs() <= BALANCED && opening.random_plies == PLIES && seen.insert(opening.position.key()) {
                let fen = opening.position.fen();
                let fields: Vec<&str> = fen.split(' ').collect();
                let (position, clock, number) = (fields[..4].join(" "), fields[4], fields[5]);
                let name = self.variant;
                writeln!(
                    text,
                    "{position} acn {NODES}; ce {score}; fmvn {number}; hmvc {clock}; id \"{name} {pair}\";"
                )
                .unwrap();
            }
            if seen.len() == OPENINGS {
                break;
            }
        }
        text
    }

    fn head(&self, variant: &Variant, play: &str) -> String {
        format!(
            "# {OPENINGS} openings of {name}: the first of the random openings of seed {seed}, {PLIES} plies each, within {BALANCED} centipawns at {NODES} nodes.\n\
             # The number in the id is the pair's. Rules {hash}, {play}.\n",
            name = variant.name(),
            seed = self.seed,
            hash = variant.rules_hash(),
        )
    }
}

/// Judges positions with the best weights at hand, each as if it were the first.
struct Judge {
    evaluator: Tapered,
    memory: Memory,
}

impl Judge {
    fn new(variant: &Variant) -> Self {
        let evaluator = Tapered::new(variant, &Weights::best_known(variant));
        Self { evaluator, memory: Memory::new(TABLE, Params::default()) }
    }

    fn score(&mut self, position: &Position) -> i32 {
        self.memory.forget();
        let stop = AtomicBool::new(false);
        let limits = Limits::nodes(NODES);
        let request = Request {
            position,
            earlier: &[],
            limits: &limits,
            evaluator: &self.evaluator,
            endgames: None,
            stop: &stop,
        };
        search(&request, &mut self.memory, |_, _| ()).score
    }
}

/// What decides how a variant is played: `bench 2281029, weights 0123456789ab`.
fn play(variant: &Arc<Variant>) -> String {
    let weights = Sha256::digest(Weights::best_known(variant).to_toml(variant));
    let weights: String = weights[..6].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("bench {}, weights {weights}", Bench::run(variant, DEFAULT_DEPTH).bench)
}

fn open(shipped: &Shipped, variant: &Arc<Variant>) -> OpeningBook {
    let file = OpeningFile { order: Order::Sequential, ..OpeningFile::new(shipped.path()) };
    OpeningBook::open(variant, &OpeningSource::File(file), 1).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_books_hold_what_the_generator_makes() {
    for shipped in SHIPPED {
        let variant = variant(shipped.variant);
        let text = std::fs::read_to_string(shipped.path()).unwrap();
        assert!(text.contains(variant.rules_hash()), "the book is of other rules");
        let book = open(&shipped, &variant);
        assert_eq!((book.size(), book.remarks().len()), (Some(OPENINGS as u64), 0));
        let maker = shipped.maker(&variant);
        for number in 0..OPENINGS as u64 {
            let opening = book.opening(number);
            let name = opening.name.unwrap();
            let pair = name.strip_prefix(shipped.variant).unwrap().trim().parse().unwrap();
            assert!(maker.pair(shipped.seed, pair)[0].position == opening.position, "{name}");
        }
    }
}

/// As long as play has not changed since, to the byte. Then a book stays as it is, so that matches can be compared: its
/// openings need only be balanced still.
#[test]
#[ignore = "searches some thousand positions; writes the books if FAIRYFORGE_REGENERATE is set"]
fn the_books_can_be_made_again() {
    for shipped in SHIPPED {
        let (path, variant) = (shipped.path(), variant(shipped.variant));
        let play = play(&variant);
        if std::env::var_os(REGENERATE).is_some() {
            std::fs::write(&path, shipped.made(&play)).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        if text.contains(&play) {
            assert!(text == shipped.made(&play), "{} is not what is made now", path.display());
        }
        let book = open(&shipped, &variant);
        let mut judge = Judge::new(&variant);
        for number in 0..OPENINGS as u64 {
            let opening = book.opening(number);
            let score = judge.score(&opening.position);
            assert!(score.abs() <= STILL_BALANCED, "{:?}: {score}", opening.name);
        }
    }
}
