//! What the rules' tests share: the shipped games, positions from text, random choices from fixed seeds.
#![allow(dead_code, reason = "each test binary uses its part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use fairyforge_engine::endgame::{Material, Plan, Stage, Tables, Work, solve};
use fairyforge_engine::moves::Move;
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::variant::Variant;
use proptest::test_runner::{Config as ProptestConfig, RngSeed};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

/// All shipped games, compiled once.
static SHIPPED: LazyLock<Vec<Arc<Variant>>> = LazyLock::new(|| {
    let load = |name| Arc::new(Variant::load(name).unwrap_or_else(|error| panic!("{error}")));
    Variant::shipped_names().map(load).collect()
});

/// All shipped games.
pub fn shipped() -> Vec<Arc<Variant>> {
    assert!(SHIPPED.len() >= 46, "only {} games are shipped", SHIPPED.len());
    SHIPPED.clone()
}

/// A shipped game.
pub fn variant(name: &str) -> Arc<Variant> {
    let variant = SHIPPED.iter().find(|variant| variant.name() == name);
    Arc::clone(variant.unwrap_or_else(|| panic!("{name} is not shipped")))
}

/// A game from the text of a variant file; it may inherit from shipped ones.
pub fn variant_from(text: &str) -> Arc<Variant> {
    use fairyforge_engine::variant::{file, library};
    let inherited = |name: &str| library::shipped(name).map(Into::into);
    let rules = file::parse(text, "test.toml", "test", &inherited).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Arc::new(Variant::compile(rules).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

/// A position of a shipped game.
pub fn position(name: &str, fen: &str) -> Position {
    read(&variant(name), fen)
}

/// A position that must be accepted.
pub fn read(variant: &Arc<Variant>, fen: &str) -> Position {
    Position::from_fen(variant, fen).unwrap_or_else(|error| panic!("{} {fen}: {error}", variant.name()))
}

/// The tables of these men and all that they lead to.
pub fn tables(variant: &Arc<Variant>, all_men: &[&str]) -> Tables {
    let never = AtomicBool::new(false);
    let work = Work { threads: 0, stop: &never, report: &|_: Stage| () };
    let mut tables = Tables::new();
    for men in all_men {
        let material = Material::parse(variant, men).unwrap_or_else(|error| panic!("{error}"));
        let plan = Plan::of(variant, &material).unwrap_or_else(|error| panic!("{error}"));
        for planned in &plan.tables {
            if tables.get(&planned.material).is_none() {
                tables.insert(solve(variant, planned, &tables, &work).unwrap_or_else(|error| panic!("{error}")));
            }
        }
    }
    tables
}

/// Plays moves given in text.
pub fn play(position: &mut Position, moves: &str) {
    for text in moves.split_whitespace() {
        let mv = position.parse_move(text).unwrap_or_else(|error| panic!("{error}"));
        position.make(mv, &mut Unobserved);
    }
}

/// Texts of all legal moves, sorted.
pub fn texts(position: &Position) -> Vec<String> {
    let mut texts: Vec<_> = position.legal_moves().into_iter().map(|mv| position.move_text(mv)).collect();
    texts.sort();
    texts
}

/// Whether the text is a legal move.
pub fn allows(position: &Position, text: &str) -> bool {
    position.parse_move(text).is_ok()
}

/// A random number below `bound`.
pub fn below(random: &mut ChaCha8Rng, bound: usize) -> usize {
    (random.next_u64() % bound as u64) as usize
}

/// A random legal move.
pub fn random_move(position: &Position, random: &mut ChaCha8Rng) -> Option<Move> {
    let moves = position.legal_moves();
    (!moves.is_empty()).then(|| moves[below(random, moves.len())])
}

/// The position after up to `plies` random moves from the start; fewer if the game has no more.
pub fn random_position(variant: &Arc<Variant>, plies: usize, random: &mut ChaCha8Rng) -> Position {
    let mut position = Position::start(variant);
    for _ in 0..plies {
        let Some(mv) = random_move(&position, random) else { break };
        position.make(mv, &mut Unobserved);
    }
    position
}

/// The same position with the colours exchanged: ranks flipped (on a turned board files too), cases swapped, the other side
/// to move.
pub fn colours_exchanged(position: &Position) -> Position {
    let variant = position.variant();
    let fen = position.fen();
    let fields: Vec<&str> = fen.split(' ').collect();
    let (board, holdings) = fields[0].split_once('[').map_or((fields[0], None), |(board, hand)| (board, Some(hand)));
    let turned = variant.topology().is_turned();
    assert!(!turned || fields[2] == "-" && fields[3] == "-", "{fen}");
    let rank = |rank: &str| if turned { reversed_rank(rank) } else { rank.to_owned() };
    let mut flipped = swap_case(&board.split('/').rev().map(rank).collect::<Vec<_>>().join("/"));
    if let Some(holdings) = holdings {
        flipped = format!("{flipped}[{}", swap_case(holdings));
    }
    let side = if fields[1] == "w" { "b" } else { "w" };
    let castling = swap_case(fields[2]);
    let passed = flip_squares(fields[3], u16::from(variant.topology().height()), variant.topology().first_rank());
    read(variant, &format!("{flipped} {side} {castling} {passed} {} {}", fields[4], fields[5]))
}

/// A rank of a FEN with less than ten empty squares in a row, from right to left.
fn reversed_rank(rank: &str) -> String {
    rank.chars().rev().collect()
}

fn swap_case(text: &str) -> String {
    let swap = |c: char| if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
    text.chars().map(swap).collect()
}

/// Squares run together, each mirrored to the other side of the board.
fn flip_squares(text: &str, height: u16, first_rank: u8) -> String {
    if text == "-" {
        return text.into();
    }
    let mut flipped = String::new();
    let mut rest = text;
    while let Some(file) = rest.chars().next() {
        let end = rest[1..].find(|c: char| c.is_ascii_alphabetic()).map_or(rest.len(), |end| end + 1);
        let rank: u16 = rest[1..end].parse().unwrap();
        flipped.push_str(&format!("{file}{}", 2 * u16::from(first_rank) + height - 1 - rank));
        rest = &rest[end..];
    }
    flipped
}

/// So many cases of a property, the same on every run.
pub fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() }
}
