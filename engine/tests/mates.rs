//! What the search must see: mates, stalemates, draws, hanging men; and that it does the same thing every time.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::{below, play, position, random_position, shipped, variant};
use fairyforge_engine::evaluate::{Tapered, Weights};
use fairyforge_engine::game::Game;
use fairyforge_engine::moves::Move;
use fairyforge_engine::outcome::Reason;
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::search::score::{DRAW, is_mate, mate_in};
use fairyforge_engine::search::{Limits, Memory, Params, Report, Request, search};
use fairyforge_engine::variant::Variant;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

const OPULENT: &str = "opulent-lemurian-shatranj";

/// A priori evaluations of all games, by name.
static EVALUATORS: LazyLock<HashMap<String, Tapered>> = LazyLock::new(|| {
    let evaluator = |variant: &Arc<Variant>| Tapered::new(variant, &Weights::a_priori(variant));
    shipped().iter().map(|variant| (variant.name().to_owned(), evaluator(variant))).collect()
});

fn memory() -> Memory {
    Memory::new(1, Params::default())
}

/// A search with what the caller remembers.
fn recall(position: &Position, earlier: &[u64], limits: &Limits, memory: &mut Memory) -> Report {
    let evaluator = &EVALUATORS[position.variant().name()];
    let stop = AtomicBool::new(false);
    search(&Request { position, earlier, limits, evaluator, endgames: None, stop: &stop }, memory, |_, _| {})
}

fn think(position: &Position, limits: &Limits) -> Report {
    recall(position, &[], limits, &mut memory())
}

fn best_text(position: &Position, report: &Report) -> String {
    report.best.map_or_else(|| "none".into(), |mv| position.move_text(mv))
}

/// Least number of moves in which the side to move mates by force, if at most `most`: every move tried.
fn shortest_mate(position: &Position, most: u32) -> Option<u32> {
    (1..=most).find(|&moves| mates_in(position, moves))
}

fn mates_in(position: &Position, moves: u32) -> bool {
    position.legal_moves().into_iter().any(|mv| is_answered_by_no_escape(position, mv, moves))
}

fn is_answered_by_no_escape(position: &Position, mv: Move, moves: u32) -> bool {
    let mut after = position.clone();
    after.make(mv, &mut Unobserved);
    let answers = after.legal_moves();
    if answers.is_empty() {
        return after.in_check();
    }
    moves > 1
        && answers.into_iter().all(|answer| {
            let mut next = after.clone();
            next.make(answer, &mut Unobserved);
            mates_in(&next, moves - 1)
        })
}

/// Every mate is counted out by trying all moves, so the numbers here cannot be wrong. Late moves are left out of the tree,
/// so a mate in more than one may be found a move or two late.
#[test]
fn mates_in_one_two_and_three_are_found() {
    let suite = [
        ("chess", 1, "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"),
        ("chess", 1, "k7/8/1K6/8/8/8/8/7R w - - 0 1"),
        ("chess", 1, "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"),
        ("chess", 1, "6rk/6pp/8/6N1/8/8/8/6K1 w - - 0 1"),
        ("chess", 1, "6k1/P4ppp/8/8/8/8/8/6K1 w - - 0 1"),
        ("chess", 1, "rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2"),
        ("chess", 2, "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1"),
        ("chess", 2, "7k/8/8/8/8/R7/8/1R4K1 w - - 0 1"),
        ("chess", 2, "7k/8/5K2/8/8/8/8/R7 w - - 0 1"),
        ("chess", 3, "4R3/8/8/8/2N5/4K3/8/6k1 w - - 0 1"),
        ("chess", 3, "8/8/6Q1/6p1/k7/3K4/8/8 w - - 0 1"),
        ("chess", 3, "8/8/8/8/4K3/8/3R1N2/6k1 w - - 0 1"),
        ("herculean", 1, "6k5/R11/12/12/12/12/12/12/12/12/12/1R4K5 w - - 0 1"),
        ("herculean", 2, "6k5/12/R11/12/12/12/12/12/12/12/12/1R4K5 w - - 0 1"),
        ("opulent-lemurian-shatranj", 1, "5k4/R9/10/10/10/10/10/10/10/KR8 w - - 0 1"),
    ];
    let mut wrong = Vec::new();
    for (name, moves, fen) in suite {
        let position = position(name, fen);
        let shortest = shortest_mate(&position, 3);
        if shortest != Some(moves) {
            wrong.push(format!("{name} {fen}: the shortest mate is {shortest:?}"));
            continue;
        }
        let report = think(&position, &Limits::nodes(100_000));
        let slack = if moves == 1 { 0 } else { 2 };
        let found = mate_in(report.score).is_some_and(|found| (moves..=moves + slack).contains(&(found as u32)));
        if !found {
            wrong.push(format!("{name} {fen}: mate in {moves}, got {} {report:?}", best_text(&position, &report)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A mate by zugzwang: after 1. Ra6 any move loses, and passing would not.
#[test]
fn a_mate_by_zugzwang_is_found() {
    let position = position("chess", "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1");
    assert_eq!(shortest_mate(&position, 2), Some(2));
    let report = think(&position, &Limits::nodes(300_000));
    assert_eq!(best_text(&position, &report), "a1a6", "{report:?}");
    assert!(is_mate(report.score), "{report:?}");
}

/// Queen or two rooks against a king, wherever the men are.
#[test]
fn scattered_mates_are_found() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let chess = variant("chess");
    let mut found = [0; 4];
    for attempt in 0..2_000 {
        let mut ranks = vec![vec!['1'; 8]; 8];
        for letter in [['K', 'k', 'Q', 'R'], ['K', 'k', 'R', 'R']][attempt % 2] {
            ranks[below(&mut random, 8)][below(&mut random, 8)] = letter;
        }
        let board = ranks.iter().map(|rank| fen_rank(rank)).collect::<Vec<_>>().join("/");
        let Ok(position) = Position::from_fen(&chess, &format!("{board} w - - 0 1")) else { continue };
        let Some(shortest) = shortest_mate(&position, 2) else { continue };
        found[shortest as usize] += 1;
        if found[shortest as usize] > 30 {
            continue;
        }
        let report = think(&position, &Limits::depth(6));
        let late = mate_in(report.score).map(|found| found - shortest as i32);
        let most = if shortest == 1 { 0 } else { 2 };
        assert!(late.is_some_and(|late| (0..=most).contains(&late)), "{position:?}: {late:?} {report:?}");
    }
    assert!(found[1] > 10 && found[2] > 10, "{found:?}");
}

fn fen_rank(letters: &[char]) -> String {
    let mut text = String::new();
    let mut empty = 0;
    for &letter in letters {
        if letter == '1' {
            empty += 1;
            continue;
        }
        if empty > 0 {
            text.push_str(&empty.to_string());
        }
        empty = 0;
        text.push(letter);
    }
    if empty > 0 { text + &empty.to_string() } else { text }
}

#[test]
fn the_side_being_mated_knows_it() {
    let position = position("chess", "7k/R7/8/8/8/8/8/1R4K1 b - - 0 1");
    let report = think(&position, &Limits::depth(6));
    assert!(mate_in(report.score).is_some_and(|moves| (-2..=-1).contains(&moves)), "{report:?}");
}

#[test]
fn stalemate_is_sought_where_it_wins_and_shunned_where_it_draws() {
    let opulent = position(OPULENT, "k9/10/2P4R2/10/10/10/10/10/10/KR8 w - - 0 1");
    let ending = |mv: Move| {
        let mut game = Game::new(opulent.clone());
        game.play(mv);
        game.outcome().map(|outcome| outcome.reason)
    };
    assert!(opulent.legal_moves().into_iter().all(|mv| ending(mv) != Some(Reason::Checkmate)));
    let report = think(&opulent, &Limits::depth(4));
    assert_eq!(report.best.and_then(ending), Some(Reason::Stalemate), "{}", best_text(&opulent, &report));
    assert_eq!(mate_in(report.score), Some(1));
    let mut chess = position("chess", "k7/8/2P3R1/8/8/8/8/KR6 w - - 0 1");
    let report = think(&chess, &Limits::depth(4));
    assert!(report.score > 300, "{report:?}");
    let best = best_text(&chess, &report);
    play(&mut chess, &best);
    assert!(chess.in_check() || chess.has_legal_move(), "{report:?}");
}

#[test]
fn a_stalemate_saves_the_losing_side() {
    // The only way not to lose: give the queen away with check, and Black has to leave White without a move.
    let position = position("chess", "8/8/8/8/8/5kq1/8/6QK w - - 0 1");
    let report = think(&position, &Limits::depth(6));
    assert!(!is_mate(report.score) || report.score > 0, "{report:?}");
    assert!(report.score > -200, "{} {report:?}", best_text(&position, &report));
}

#[test]
fn a_repetition_is_sought_when_losing() {
    let mut game = Game::new(position("chess", "7k/8/8/8/8/rr6/7K/8 w - - 0 1"));
    for text in ["h2h1", "h8g8", "h1g1", "g8h8", "g1h1", "h8g8", "h1g1", "g8h8"] {
        assert_eq!(game.outcome(), None);
        game.play(game.position().parse_move(text).unwrap());
    }
    let report = recall(game.position(), game.earlier(), &Limits::depth(6), &mut memory());
    assert_eq!((best_text(game.position(), &report).as_str(), report.score), ("g1h1", DRAW));
    let without = think(game.position(), &Limits::depth(6));
    assert!(without.score < -500, "{without:?}");
    game.play(report.best.unwrap());
    assert_eq!(game.outcome().map(|outcome| outcome.reason), Some(Reason::Repetition));
}

/// A Ninja Pawn's step aside sets the move count back and can yet be taken back.
#[test]
fn a_repetition_across_steps_aside_is_seen() {
    let mut game = Game::new(position("herculean", "k11/12/12/12/12/12/12/12/12/12/3N8/11K w - - 0 1"));
    for text in ["d2e2", "a12b12", "e2d2", "b12a12", "d2e2", "a12b12", "e2d2"] {
        game.play(game.position().parse_move(text).unwrap());
    }
    let report = recall(game.position(), game.earlier(), &Limits::depth(3), &mut memory());
    assert_eq!((best_text(game.position(), &report).as_str(), report.score), ("b12a12", DRAW));
}

#[test]
fn the_move_count_is_seen_coming() {
    let nearly = position("chess", "7k/8/8/8/8/rr6/7K/8 w - - 99 90");
    assert_eq!(think(&nearly, &Limits::depth(3)).score, DRAW);
    let fresh = position("chess", "7k/8/8/8/8/rr6/7K/8 w - - 0 90");
    assert!(think(&fresh, &Limits::depth(3)).score < -500);
    // A capture starts the count anew.
    let capture = position("chess", "7k/8/8/8/8/r6p/7K/8 w - - 99 90");
    assert_ne!(best_text(&capture, &think(&capture, &Limits::depth(3))), "none");
}

#[test]
fn nothing_is_best_when_there_is_no_move() {
    let over = [
        ("chess", "R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1"),
        ("chess", "k7/8/1Q6/8/8/8/8/7K b - - 0 1"),
        (OPULENT, "k9/7R2/10/10/10/10/10/10/10/KR8 b - - 0 1"),
        ("shatranj", "8/8/8/3k4/8/8/8/RR5K b - - 0 1"),
        ("shatranj", "8/8/8/3k4/8/8/8/RR5K w - - 0 1"),
    ];
    for (name, fen) in over {
        let position = position(name, fen);
        for limits in [Limits::depth(4), Limits::nodes(100), Limits::nodes(0)] {
            let report = think(&position, &limits);
            assert_eq!((report.best, report.line.len()), (None, 0), "{name} {fen}: {report:?}");
        }
    }
}

#[test]
fn a_finished_game_is_scored_as_it_ended() {
    let won = position("shatranj", "8/8/8/3k4/8/8/8/RR5K w - - 0 1");
    assert!(think(&won, &Limits::depth(2)).score > 0, "White has bared Black's king");
    let lost = position("shatranj", "8/8/8/3k4/8/8/8/RR5K b - - 0 1");
    assert!(think(&lost, &Limits::depth(2)).score < 0);
    let mated = position("chess", "R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1");
    assert!(is_mate(think(&mated, &Limits::depth(2)).score));
    let stalemated = position("chess", "k7/8/1Q6/8/8/8/8/7K b - - 0 1");
    assert_eq!(think(&stalemated, &Limits::depth(2)).score, DRAW);
}

#[test]
fn hanging_men_are_taken() {
    let suite = [
        ("herculean", "6k5/12/12/12/12/3q8/12/12/12/12/3R8/6K5 w - - 0 1", "d2d7"),
        ("herculean", "6k5/12/12/12/12/3Np7/12/12/12/12/12/6K5 w - - 0 1", "d7e7"),
        ("herculean", "6k5/12/12/12/12/12/12/12/12/q11/P11/C5K5 w - - 0 1", "a1a3"),
        ("sorcerer", "****2****/5k4/10/10/10/4q5/10/10/4R5/10/5K4/****2**** w - - 0 1", "e3e6"),
        (OPULENT, "9k/10/10/10/10/4r5/10/4H5/10/K9 w - - 0 1", "e3e5"),
    ];
    for (name, fen, expected) in suite {
        let position = position(name, fen);
        let report = think(&position, &Limits::nodes(2_000));
        assert_eq!(best_text(&position, &report), expected, "{name} {fen}: {report:?}");
    }
}

#[test]
fn protected_men_are_left_alone() {
    let position = position("herculean", "3r2k5/12/12/12/12/3p8/12/12/12/12/3Q8/6K5 w - - 0 1");
    assert_ne!(best_text(&position, &think(&position, &Limits::nodes(3_000))), "d2d7");
}

#[test]
fn the_same_search_gives_the_same_report() {
    for variant in shipped() {
        let mut random = ChaCha8Rng::seed_from_u64(21);
        for plies in [0, 12, 30] {
            let position = random_position(&variant, plies, &mut random);
            for limits in [Limits::nodes(3_000), Limits::depth(3)] {
                let first = think(&position, &limits);
                assert_eq!(think(&position, &limits), first, "{position:?} {limits:?}");
                assert!(limits.nodes.is_none_or(|most| first.nodes <= most), "{position:?} {first:?}");
                assert!(limits.depth.is_none_or(|most| first.depth <= most), "{position:?} {first:?}");
            }
        }
    }
}

#[test]
fn node_limits_are_exact() {
    for variant in shipped() {
        let start = Position::start(&variant);
        for nodes in [0, 1, 2, 50, 777, 2_000] {
            let report = think(&start, &Limits::nodes(nodes));
            // One of the test games begins with a mate in one, after which there is nothing left to search.
            let exact = if is_mate(report.score) { report.nodes <= nodes } else { report.nodes == nodes };
            assert!(exact, "{}: {} instead of {nodes}", variant.name(), report.nodes);
            assert!(report.best.is_some(), "even {nodes} nodes give a move");
        }
    }
}

#[test]
fn forgotten_games_leave_no_trace() {
    for variant in shipped() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let position = random_position(&variant, 10, &mut random);
        let limits = Limits::depth(4);
        let fresh = think(&position, &limits);
        let mut used = memory();
        for plies in [5, 25] {
            recall(&random_position(&variant, plies, &mut random), &[], &Limits::nodes(4_000), &mut used);
        }
        used.forget();
        assert_eq!(used.fullness(), 0);
        assert_eq!(recall(&position, &[], &limits, &mut used), fresh, "{position:?}");
    }
}

#[test]
fn every_move_of_every_line_is_legal() {
    let mut searched = 0;
    for variant in shipped() {
        for seed in 0..12 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let plies = below(&mut random, 120);
            let position = random_position(&variant, plies, &mut random);
            let report = think(&position, &Limits::nodes(200));
            assert_eq!(report.best.is_some(), position.has_legal_move(), "{position:?}");
            assert_eq!(report.best, report.line.first().copied(), "{position:?}");
            let mut followed = position.clone();
            for &mv in &report.line {
                assert!(followed.legal_moves().contains(&mv), "{position:?}: {report:?}");
                followed.make(mv, &mut Unobserved);
            }
            searched += 1;
        }
    }
    assert_eq!(searched, 12 * shipped().len());
}

#[test]
fn only_the_root_moves_asked_for_are_played() {
    let mut position = position("chess", "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1");
    let quiet = position.parse_move("a1a7").unwrap();
    let limits = Limits { root_moves: vec![quiet], ..Limits::depth(4) };
    let report = think(&position, &limits);
    assert_eq!(report.best, Some(quiet));
    play(&mut position, "a1a7");
    assert!(position.has_legal_move());
}

/// A move that the table remembers is tried again, of whatever kind it is.
#[test]
fn castlings_drops_and_en_passant_survive_deepening() {
    for (name, fen, mv) in [
        ("chess", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1"),
        ("herculean", "5k6/12/12/12/12/12/12/12/12/12/12/R5K4R w KQ - 0 1", "g1h1o"),
        ("chess", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6"),
        ("sorcerer-reinforcements", "****2****/4k5/10/10/10/10/10/10/10/10/5K4/****2****[GAJJ] w - - 0 1", "G@e0"),
    ] {
        let position = position(name, fen);
        let only = position.parse_move(mv).unwrap();
        let report = think(&position, &Limits { depth: Some(6), root_moves: vec![only], ..Limits::default() });
        assert_eq!(report.best, Some(only), "{name} {mv}: {report:?}");
        assert!(report.depth == 6 && report.line.first() == Some(&only), "{name} {mv}: {report:?}");
    }
}
