//! Games in PGN: what is written reads back, what is broken is told with its place and the rest is read.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::{below, cases, random_move, random_position, shipped, variant};
use fairyforge_engine::game::Game;
use fairyforge_engine::pgn::{
    Comment, FaultKind, NamedVariants, PgnFault, PgnGame, PgnMove, PgnReader, PgnResult, Score, Warning, limits,
};
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::variant::Variant;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Read1 = Result<PgnGame, PgnFault>;

/// Reads games; those without a tag are orthodox chess.
fn read(text: impl BufRead) -> Vec<Read1> {
    let mut variants = NamedVariants::new(variant("chess"));
    PgnReader::new(text, |tag| variants.find(tag)).collect()
}

/// Reads games of which none may be broken or odd.
#[track_caller]
fn sound(text: &str) -> Vec<PgnGame> {
    let games = read(text.as_bytes()).into_iter().map(|game| game.unwrap_or_else(|fault| panic!("{fault}\n{text}")));
    let games: Vec<PgnGame> = games.collect();
    for game in &games {
        assert!(game.warnings.is_empty(), "{:?}\n{text}", game.warnings);
    }
    games
}

fn written(games: &[PgnGame]) -> String {
    let mut text = Vec::new();
    games.iter().for_each(|game| game.write(&mut text).unwrap());
    String::from_utf8(text).unwrap()
}

/// The moves in algebraic notation, separated by blanks.
fn moves(game: &PgnGame) -> String {
    let mut position = game.start.clone();
    let mut texts = Vec::new();
    for played in &game.moves {
        texts.push(position.san(played.mv));
        position.make(played.mv, &mut Unobserved);
    }
    texts.join(" ")
}

fn random_comment(random: &mut ChaCha8Rng) -> Comment {
    let words = ["", "book", "a (b) ; %c [Event \"d\"] {", "λ ist gut", "+/-", "$3 e4 1-0"];
    let some = |random: &mut ChaCha8Rng, bound| (below(random, 2) == 0).then(|| below(random, bound));
    let mut comment = Comment { text: words[below(random, words.len())].into(), ..Comment::default() };
    match below(random, 4) {
        0 => comment.score = Some(Score::Centipawns(below(random, 4001) as i32 - 2000)),
        1 => comment.score = Some(Score::Mate { wins: below(random, 2) == 0, moves: below(random, 20) as u32 }),
        _ => return comment,
    }
    comment.depth = some(random, 40).map(|depth| depth as u32);
    comment.milliseconds = some(random, 100_000).map(|time| time as u64);
    comment.nodes = some(random, 10_000_000).map(|nodes| nodes as u64);
    comment
}

/// A random game of up to `plies` moves from a random position.
fn random_game(variant: &Arc<Variant>, before: usize, plies: usize, random: &mut ChaCha8Rng) -> PgnGame {
    let mut game = PgnGame::new(random_position(variant, before, random));
    game.comment = random_comment(random);
    let mut played = Game::new(game.start.clone());
    while let Some(mv) = random_move(played.position(), random).filter(|_| game.moves.len() < plies) {
        let nags = (0..below(random, 3)).map(|_| below(random, 256) as u8).collect();
        game.moves.push(PgnMove { mv, nags, comment: random_comment(random) });
        played.play(mv);
    }
    game.result = played.outcome().map_or(PgnResult::Unfinished, PgnResult::from);
    for (name, value) in [("Event", "Quotes \" and \\ and ü"), ("Termination", "a \\\" b"), ("Odd_1", "")] {
        game.tags.push((name.into(), value.into()));
    }
    game
}

#[test]
fn what_is_written_reads_back_in_every_game() {
    let mut seen = 0;
    for variant in shipped() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let games: Vec<PgnGame> =
            (0..12).map(|n| random_game(&variant, if n % 3 == 0 { 0 } else { n }, 30 * n, &mut random)).collect();
        let text = written(&games);
        assert!(text.lines().all(|line| line.starts_with('[') || line.chars().count() < 120), "{text}");
        let again = sound(&text);
        assert_eq!(again.len(), games.len());
        for ((number, game), again) in (1..).zip(&games).zip(&again) {
            assert_eq!((&again.start, &again.moves, again.result), (&game.start, &game.moves, game.result));
            assert_eq!((&again.comment, again.number), (&game.comment, number));
            for (name, value) in &game.tags {
                assert_eq!(again.tag(name), Some(value.as_str()));
            }
            assert_eq!(again.tag("FEN").is_none(), game.start == Position::start(&variant));
            seen += game.moves.len();
        }
        assert_eq!(written(&again), text);
    }
    assert!(seen > 5_000, "{seen}");
}
