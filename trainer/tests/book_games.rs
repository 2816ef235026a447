//! Books and games: results noted beside searches, books of games alone, books read back from text; and mirror images, which are one
//! position to all of them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use common::{Workplace, json};
use fairyforge::book::walk::Walk;
use fairyforge_engine::book::{Book, BookKey, BookMove, Oriented};
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::variant::Variant;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Two ways to one position, a game that nobody finished, and another opening.
const GAMES: &str = "1. e4 e5 2. Nf3 Nc6 1-0\n\n1. Nf3 Nc6 2. e4 e5 3. Bb5 0-1\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 1/2-1/2\n\n\
                     1. e4 *\n\n1. d4 d5 1-0\n";

/// A game that is its own mirror image.
const MIRROR: &str = r#"
format = 1
[variant]
name = "Mirror"
author = "a test"
[board]
setup = """
r n q k q n r
p p p p p p p
. . . . . . .
. . . . . . .
. . . . . . .
P P P P P P P
R N Q K Q N R
"""
[zones]
last_rank = "rank 7"
[pieces]
king   = { letter = "K", moves = "K" }
queen  = { letter = "Q", moves = "Q" }
rook   = { letter = "R", moves = "R" }
knight = { letter = "N", moves = "N" }
pawn   = { letter = "P", moves = "fmWfcF" }
[promotion]
who = ["pawn"]
zone = "last_rank"
must = true
to = ["queen", "rook"]
[end]
stalemated_side = "draws"
bare_kings_draw = true
repetition = 3
move_count_plies = 100
"#;

fn plan(variant: &str, more: &str) -> String {
    format!(
        "format = 1\nvariant = \"{variant}\"\njudge = \"a-priori\"\n\n[search]\nnodes = 100\ntable_mebibytes = 1\n\n\
         [candidates]\nmost = 4\nnodes = 10\n\n[growth]\nbatch = 4\nbatch_share = 0.2\n{more}"
    )
}

fn with_games() -> Workplace {
    let place = Workplace::new();
    place.write("games.pgn", GAMES);
    place
}

fn book(place: &Workplace, variant: &str, name: &str) -> Book {
    Book::load(&Arc::new(Variant::load(variant).unwrap()), &place.path(name)).unwrap()
}

fn after(position: &Position, moves: &str) -> Position {
    let mut after = position.clone();
    for text in moves.split_whitespace() {
        let mv = after.parse_move(text).unwrap();
        after.make(mv, &mut Unobserved);
    }
    after
}

/// Moves as text with what games say of them.
fn told(book: &Book, position: &Position) -> Vec<(String, u16, [u32; 3])> {
    let entry = |entry: BookMove| (position.move_text(entry.mv), entry.weight, entry.results);
    book.moves(position).into_iter().map(entry).collect()
}

fn expected(moves: &[(&str, u16, [u32; 3])]) -> Vec<(String, u16, [u32; 3])> {
    moves.iter().map(|&(text, weight, results)| (text.to_owned(), weight, results)).collect()
}

#[test]
fn a_book_of_games_has_what_several_games_came_through() {
    let place = with_games();
    let out = place.run("book import games.pgn --variant chess --least-games 2 --out one.book --json --threads 1");
    let one = json(&out.succeeded());
    assert_eq!((&one["games"], &one["unfinished"], &one["elsewhere"]), (&4.into(), &1.into(), &0.into()));
    assert_eq!((&one["positions"], &one["rare"], &one["unreachable"]), (&5.into(), &4.into(), &0.into()));
    let book = book(&place, "chess", "one.book");
    let start = book.roots()[0].clone();
    let first = [("e2e4", 10_000, [1, 1, 0]), ("d2d4", 6_667, [1, 0, 0]), ("g1f3", 0, [0, 0, 1])];
    assert_eq!(told(&book, &start), expected(&first));
    // Whoever makes the move: Black lost one and drew one.
    assert_eq!(told(&book, &after(&start, "e2e4")), expected(&[("e7e5", 10_000, [0, 1, 1])]));
    // Two games came here on different ways.
    let both = after(&start, "g1f3 b8c6 e2e4 e7e5");
    assert_eq!(told(&book, &both), expected(&[("f1b5", 10_000, [0, 1, 1])]));
    assert!(
        book.moves(&after(&start, "g1f3")).is_empty() && book.moves(&start).iter().all(|entry| entry.value.is_none())
    );
    let manifest = &book.header().manifest;
    assert_eq!((manifest.games, manifest.method.as_str()), (4, "games"));
    place.run("book import games.pgn --variant chess --least-games 2 --out three.book --threads 3").succeeded();
    assert_eq!(std::fs::read(place.path("three.book")).unwrap(), book.as_bytes());
    // Fewer plies, fewer positions.
    let short = place.run("book import games.pgn --variant chess --least-games 2 --plies 2 --out two.book --json");
    assert_eq!(json(&short.succeeded())["positions"], 2);
    let checked = json(&place.run("book verify one.book --games games.pgn --json").succeeded());
    assert_eq!((&checked["counts_checked"], &checked["weights_checked"]), (&true.into(), &true.into()));
    let unchecked = place.run("book verify one.book").succeeded();
    assert!(
        unchecked.contains("counts of games not checked") && unchecked.contains("values not checked"),
        "{unchecked}"
    );
}

#[test]
fn what_only_rare_positions_lead_to_is_left_out() {
    let place = Workplace::new();
    place.write("games.pgn", "1. a3 h6 2. b3 g6 3. c3 1-0\n\n1. b3 g6 2. a3 h6 3. c3 1-0\n");
    let out = place.run("book import games.pgn --variant chess --least-games 2 --out x.book --json").succeeded();
    let told = json(&out);
    assert_eq!((&told["positions"], &told["rare"], &told["unreachable"]), (&1.into(), &6.into(), &1.into()));
    place.run("book verify x.book --games games.pgn").succeeded();
}

#[test]
fn games_that_cannot_be_counted_are_named() {
    let place = with_games();
    let import = |files: &str| place.run(&format!("book import {files} --variant chess --out x.book"));
    place.write("broken.pgn", "1. e4 e5 *\n\n1. e4 Ke4 1-0\n");
    import("games.pgn broken.pgn").refused(2, &["broken.pgn", "game 2", "Ke4"]);
    place.write("other.pgn", "[Variant \"chess\"]\n\n1. e4 1-0\n\n[Variant \"shatranj\"]\n\n1. e3 1-0\n");
    import("other.pgn").refused(2, &["other.pgn, game 2", "shatranj", "rules"]);
    import("nowhere.pgn").refused(2, &["nowhere.pgn"]);
    import("games.pgn --least-games 9").refused(2, &["expected 9 games or more", "got 4"]);
    place.run("book import games.pgn --out x.book").refused(2, &["name it with --variant"]);
    // Games from elsewhere count only where that is wanted.
    let fen = "[FEN \"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\"]\n\n1. e4 1-0\n";
    let other = fen.replace("KQkq", "-");
    place.write("starts.pgn", &format!("{fen}\n{other}\n{other}"));
    let count = |roots: &str| {
        let line =
            format!("book import starts.pgn --variant chess --least-games 1 --roots {roots} --out x.book --json");
        let told = json(&place.run(&line).succeeded());
        (told["games"].as_u64().unwrap(), told["elsewhere"].as_u64().unwrap(), told["roots"].as_u64().unwrap())
    };
    assert_eq!((count("array"), count("all")), ((1, 2, 1), (3, 0, 2)));
}

#[test]
fn a_searched_book_notes_results_and_keeps_its_values() {
    let place = with_games();
    place.write("plain.toml", &plan("chess", "positions = 12\n"));
    let games = "positions = 12\n\n[games]\nsources = [\"games.pgn\"]\n";
    place.write("plan.toml", &plan("chess", games));
    place.run("book build plain.toml --out plain").succeeded();
    place.run("book build plan.toml --out run").succeeded();
    let (plain, counted) = (book(&place, "chess", "plain/opening.book"), book(&place, "chess", "run/opening.book"));
    let without = |book: &Book| {
        let cleared = |entry: BookMove| BookMove { results: [0; 3], ..entry };
        let positions = book.positions().map(|(key, moves)| (key, moves.into_iter().map(cleared).collect()));
        positions.collect::<Vec<(BookKey, Vec<BookMove>)>>()
    };
    assert_eq!(without(&plain), without(&counted));
    let start = &counted.roots()[0];
    let results: BTreeMap<String, [u32; 3]> =
        counted.moves(start).into_iter().map(|entry| (start.move_text(entry.mv), entry.results)).collect();
    let all = BTreeMap::from([("e2e4", [1, 1, 0]), ("d2d4", [1, 0, 0]), ("g1f3", [0, 0, 1])]);
    assert!(
        results.iter().all(|(text, got)| *got == all.get(text.as_str()).copied().unwrap_or_default()),
        "{results:?}"
    );
    assert!(results.values().any(|results| *results != [0; 3]), "{results:?}");
    assert_eq!(counted.header().manifest.games, 4);
    place.run("book verify run/opening.book --games games.pgn --sample 5").succeeded();
    place.run("book verify plain/opening.book --games games.pgn").refused(2, &["has counted no games"]);
    // The same games in other files are the same; other games are refused.
    place.write("games.pgn", &format!("[Event \"?\"]\n\n{GAMES}"));
    place.run("book build plan.toml --out run").succeeded();
    place.write("games.pgn", &GAMES.replace("d5 1-0", "d5 0-1"));
    place.run("book build plan.toml --out run").refused(2, &["another plan", "games_digest"]);
    place.run("book verify run/opening.book --games games.pgn").refused(2, &["digest"]);
}

#[test]
fn counts_that_were_changed_are_found() {
    let place = with_games();
    place.run("book import games.pgn --variant chess --least-games 1 --out x.book").succeeded();
    let book = book(&place, "chess", "x.book");
    let refused = |change: &dyn Fn(&mut Vec<BookMove>), words: &[&str]| {
        let mut positions: Vec<_> = book.positions().collect();
        let start = BookKey::of(&book.roots()[0]);
        positions.iter_mut().filter(|(key, _)| *key == start).for_each(|(_, moves)| change(moves));
        let changed = Book::new(book.roots(), book.header().manifest.clone(), positions).unwrap();
        std::fs::write(place.path("changed.book"), changed.as_bytes()).unwrap();
        let error = place.run("book verify changed.book --games games.pgn").failed(2);
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    refused(&|moves| moves[0].results[2] += 1, &["expected the results [1, 1, 0], got [1, 1, 1]"]);
    refused(&|moves| moves[0].weight = 9_999, &["expected the weight 10000, got 9999"]);
}

#[test]
fn self_play_and_its_pgn_are_the_same_games() {
    let place = Workplace::new();
    place.run("selfplay --variant herculean --games 12 --nodes 10 --seed 3 --threads 2 --out sp").succeeded();
    place.run("pgn export sp --out sp.pgn").succeeded();
    let import = |line: &str| {
        json(&place.run(&format!("book import {line} --roots all --least-games 1 --plies 6 --json")).succeeded())
    };
    let (run, pgn) = (import("sp --out run.book"), import("sp.pgn --variant herculean --out pgn.book"));
    assert_eq!(run["games"], 12);
    assert!(run["positions"].as_u64().unwrap() > 12);
    assert_eq!(run["digest"], pgn["digest"]);
    assert_eq!(std::fs::read(place.path("run.book")).unwrap(), std::fs::read(place.path("pgn.book")).unwrap());
    place.run("book verify run.book --games sp").succeeded();
    place.run("book verify run.book --games sp sp.pgn").refused(2, &["digest"]);
}

#[test]
fn text_comes_back_as_a_book() {
    let place = Workplace::new();
    place.write("plan.toml", &plan("sorcerer", "positions = 25\n"));
    place.run("book build plan.toml --out run").succeeded();
    let built = book(&place, "sorcerer", "run/opening.book");
    for (format, name) in [("epd", "book.epd"), ("pgn", "book.pgn")] {
        place.run(&format!("book export run/opening.book --format {format} --out {name}")).succeeded();
        place.run(&format!("book import {name} --out {format}.book")).succeeded();
    }
    assert_eq!(std::fs::read(place.path("epd.book")).unwrap(), built.as_bytes());
    let from_pgn = book(&place, "sorcerer", "pgn.book");
    assert_eq!(from_pgn.positions().collect::<Vec<_>>(), built.positions().collect::<Vec<_>>());
    assert_eq!(from_pgn.roots(), built.roots());
    place.run("book verify pgn.book").succeeded();
    let text = place.read("book.pgn");
    place.write("spoilt.pgn", &text.replacen("{10000", "{x0000", 1));
    place.run("book import spoilt.pgn --out x.book").refused(2, &["line ", "seven numbers"]);
    place.run("book import book.epd book.epd --out x.book").refused(2, &["one EPD file"]);
}

/// The positions after so many plies, by what makes them the same.
fn positions_within(start: &Position, plies: usize, identity: fn(&Position) -> Vec<u8>) -> BTreeSet<Vec<u8>> {
    let mut all = BTreeSet::from([identity(start)]);
    let mut edge = vec![start.clone()];
    for _ in 0..plies {
        let mut next = Vec::new();
        for position in &edge {
            for mv in position.legal_moves() {
                let mut after = position.clone();
                after.make(mv, &mut Unobserved);
                if all.insert(identity(&after)) {
                    next.push(after);
                }
            }
        }
        edge = next;
    }
    all
}

#[test]
fn mirror_images_are_one_position_of_a_book() {
    let place = Workplace::new();
    place.write("mirror.toml", MIRROR);
    let all = "by = \"breadth-first\"\nplies = 3\npositions = 5000\n";
    let every = plan("mirror.toml", all).replace("most = 4\nnodes = 10", "most = 100\nnodes = 1\nwindow = 10000");
    place.write("plan.toml", &every.replace("nodes = 100", "nodes = 2"));
    place.run("book build plan.toml --out run").succeeded();
    let variant = Arc::new(Variant::load(place.path("mirror.toml").to_str().unwrap()).unwrap());
    let book = Book::load(&variant, &place.path("run/opening.book")).unwrap();
    let start = Position::start(&variant);
    // Every position that can be reached in two plies: looked behind, so in the book.
    let apart = positions_within(&start, 2, Position::identity_bytes).len();
    let merged = positions_within(&start, 2, |position| Oriented::of(position).position().identity_bytes()).len();
    assert_eq!(book.len(), merged);
    assert!(apart > merged + merged / 2, "{apart} {merged}");
    // The array is its own image: of two moves that are images one is there.
    let first = book.moves(&start);
    assert_eq!(2 * first.len(), start.legal_moves().len() + 1, "the king's pawn alone stays on its file");
    let walk = Walk::of(&book);
    assert_eq!((walk.len(), walk.faults.as_slice()), (merged, [].as_slice()));
    for index in 0..walk.len() {
        let position = walk.position(index);
        let image = position.mirrored().unwrap();
        let values = |asked: &Position| book.moves(asked).iter().map(|entry| entry.value).collect::<Vec<_>>();
        assert_eq!(values(&position), values(&image));
        for asked in [&position, &image] {
            let legal = asked.legal_moves();
            assert!(book.moves(asked).iter().all(|entry| legal.contains(&entry.mv)), "{asked:?}");
        }
    }
    place.run("book verify run/opening.book --variant mirror.toml --sample 50").succeeded();
    // Lines of the PGN can be played, and the same book comes back from either text.
    for (format, name) in [("epd", "book.epd"), ("pgn", "book.pgn")] {
        let export = format!("book export run/opening.book --variant mirror.toml --format {format} --out {name}");
        place.run(&export).succeeded();
        place.run(&format!("book import {name} --variant mirror.toml --out {format}.book")).succeeded();
        let again = Book::load(&variant, &place.path(&format!("{format}.book"))).unwrap();
        assert_eq!(again.positions().collect::<Vec<_>>(), book.positions().collect::<Vec<_>>(), "{format}");
    }
}

/// A game and its mirror image are the same game to a book.
#[test]
fn mirrored_games_are_counted_together() {
    let place = Workplace::new();
    place.write("mirror.toml", MIRROR);
    place.write("games.pgn", "1. a3 a5 2. Nc3 1-0\n\n1. g3 g5 2. Ne3 0-1\n\n1. d3 1/2-1/2\n");
    place.run("book import games.pgn --variant mirror.toml --least-games 1 --out x.book").succeeded();
    let variant = Arc::new(Variant::load(place.path("mirror.toml").to_str().unwrap()).unwrap());
    let book = Book::load(&variant, &place.path("x.book")).unwrap();
    let start = Position::start(&variant);
    let first = [("a2a3", 10_000, [1, 0, 1]), ("d2d3", 5_000, [0, 1, 0])];
    assert_eq!(told(&book, &start), expected(&first));
    assert_eq!(told(&book, &after(&start, "a2a3 a6a5")), expected(&[("b1c3", 10_000, [1, 0, 1])]));
    assert_eq!(told(&book, &after(&start, "g2g3 g6g5")), expected(&[("f1e3", 10_000, [1, 0, 1])]));
    place.run("book verify x.book --variant mirror.toml --games games.pgn").succeeded();
}
