//! Books: which positions are the same, files written, read back and spoilt, and games played from them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use common::{cases, play, position, random_position, read, variant};
use fairyforge_engine::book::{Book, BookError, BookKey, BookMove, Header, Manifest, Oriented, SearchLimits};
use fairyforge_engine::geometry::Square;
use fairyforge_engine::moves::{Move, MoveKind};
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::protocol::converse;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::path::PathBuf;

/// Moves with a weight and a value each.
type Line<'a> = (&'a str, &'a [(&'a str, u16, i16)]);

/// A book of a game: of each position reached by moves, moves with weight and value.
fn book(name: &str, lines: &[Line<'_>]) -> Book {
    let start = Position::start(&variant(name));
    let positions = lines.iter().map(|(way, moves)| {
        let mut position = start.clone();
        play(&mut position, way);
        let entry = |&(text, weight, value)| BookMove {
            weight,
            value: Some(value),
            ..BookMove::new(Oriented::of(&position).held(position.parse_move(text).unwrap()))
        };
        (BookKey::of(&position), moves.iter().map(entry).collect())
    });
    Book::new(std::slice::from_ref(&start), manifest(), positions.collect()).unwrap()
}

fn manifest() -> Manifest {
    Manifest {
        method: "by hand".into(),
        program: "a test".into(),
        limits: Some(SearchLimits { nodes: 1000, table_mebibytes: 1 }),
        ..Manifest::default()
    }
}

fn chess() -> Book {
    let lines: [Line<'_>; 3] = [
        ("", &[("e2e4", 60, 30), ("d2d4", 30, 25), ("a2a4", 0, -40)]),
        ("e2e4", &[("e7e5", 10, -30), ("c7c5", 10, -30)]),
        ("g1f3 g8f6 f3g1", &[("f6g8", 5, 0)]),
    ];
    book("chess", &lines)
}

fn saved(name: &str, bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// What the engine says to a script after it was given a book to play from.
fn said(book: &std::path::Path, script: &str) -> String {
    let chosen = format!("setoption name BookFile value {}\nsetoption name OwnBook value true\n", book.display());
    answer(&format!("{chosen}{script}"))
}

fn answer(script: &str) -> String {
    let mut output = Vec::new();
    converse(script.as_bytes(), &mut output).unwrap();
    String::from_utf8(output).unwrap()
}

fn lines_with<'a>(output: &'a str, beginning: &str) -> Vec<&'a str> {
    output.lines().filter(|line| line.starts_with(beginning)).collect()
}

#[test]
fn keys_never_change() {
    let key = |name: &str, way: &str| {
        let mut position = Position::start(&variant(name));
        play(&mut position, way);
        BookKey::of(&position).to_string()
    };
    let keys = [key("chess", ""), key("chess", "e2e4"), key("herculean", "a3a6"), key("sorcerer", "")];
    assert_eq!(keys, ["09273dbccbaf1dad", "2a348d85433a301a", "4a9e761414f335e2", "a21cdfc109bddf7a"]);
}

#[test]
fn the_same_position_has_the_same_key() {
    let key = |fen: &str| BookKey::of(&position("chess", fen));
    let after = key("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
    // Nobody can take on e3, so it does not matter that a pawn passed it; nor do the counters.
    assert_eq!(key("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"), after);
    assert_eq!(key("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 17 40"), after);
    let others = [
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQk - 0 1",
        "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1",
    ];
    others.iter().for_each(|fen| assert_ne!(key(fen), after, "{fen}"));
    // Here somebody can.
    let with = |field: &str| key(&format!("rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq {field} 0 2"));
    assert_ne!(with("e3"), with("-"));
    // Here one stands beside, but its king would be in check along the rank.
    let pinned = |field: &str| key(&format!("8/8/8/8/k2pP2R/8/8/4K3 b - {field} 0 2"));
    assert_eq!(pinned("e3"), pinned("-"));
}

#[test]
fn keys_agree_with_what_repetition_means() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    for game in common::shipped() {
        let mut seen = std::collections::HashMap::new();
        for plies in 0..40 {
            let position = random_position(&game, plies, &mut random);
            let known = seen.insert(BookKey::of(&position), position.key());
            assert!(known.is_none_or(|known| known == position.key()), "{}", position.fen());
            let back = Position::unpack(&game, &position.clone().as_first().pack()).unwrap();
            assert_eq!(BookKey::of(&back), BookKey::of(&position), "{}", position.fen());
        }
        assert!(seen.len() > 20, "{}", game.name());
    }
}

#[test]
fn what_is_written_is_read_back() {
    let book = chess();
    assert_eq!((book.len(), book.header().positions, book.header().moves), (3, 3, 6));
    let again = Book::from_bytes(&variant("chess"), book.as_bytes().to_vec()).unwrap();
    assert_eq!(again.header(), book.header());
    assert_eq!(again.positions().collect::<Vec<_>>(), book.positions().collect::<Vec<_>>());
    assert_eq!(again.roots(), [Position::start(&variant("chess"))]);
    assert_eq!(Header::peek(book.as_bytes()).unwrap(), *book.header());
    let start = Position::start(&variant("chess"));
    let texts: Vec<String> = book.moves(&start).iter().map(|entry| start.move_text(entry.mv)).collect();
    assert_eq!(texts, ["e2e4", "d2d4", "a2a4"]);
    // The order in which positions and moves are given does not matter.
    let reversed = book.positions().map(|(key, moves)| (key, moves.into_iter().rev().collect()));
    let reversed: Vec<_> = reversed.collect::<Vec<_>>().into_iter().rev().collect();
    let made = Book::new(book.roots(), book.header().manifest.clone(), reversed).unwrap();
    assert_eq!(made.as_bytes(), book.as_bytes());
}

#[test]
fn every_field_of_a_move_is_kept() {
    let grand = variant("grand");
    let start = Position::start(&grand);
    let extremes = BookMove {
        mv: Oriented::of(&start).held(start.legal_moves()[0]),
        weight: u16::MAX,
        value: Some(-31_000),
        searched: Some(i16::MAX),
        results: [1, u32::MAX, 3],
        nodes: u64::MAX - 1,
    };
    let nothing = BookMove::new(Oriented::of(&start).held(start.legal_moves()[1]));
    let key = BookKey::of(&start);
    let positions = vec![(key, vec![nothing, extremes])];
    let book = Book::new(std::slice::from_ref(&start), Manifest::default(), positions).unwrap();
    assert_eq!(book.moves_of(key), [extremes, nothing]);
}

#[test]
fn what_makes_no_book_is_refused() {
    let start = Position::start(&variant("chess"));
    let key = BookKey::of(&start);
    let [one, other] = [0, 1].map(|index| BookMove::new(start.legal_moves()[index]));
    let made = |positions| Book::new(std::slice::from_ref(&start), manifest(), positions).unwrap_err().to_string();
    assert!(made(vec![(key, vec![one]), (key, vec![other])]).contains("expected keys that rise"));
    assert!(made(vec![(key, vec![])]).contains("expected a move or more"));
    assert!(made(vec![(key, vec![one, BookMove { weight: 1, ..one }])]).contains("expected each move once"));
    let square = |file, row| Square::at(file, row).unwrap();
    let off_board = BookMove::new(Move::new(square(0, 0), square(9, 9), MoveKind::Normal));
    assert!(made(vec![(key, vec![off_board])]).contains("expected moves on squares and of units of this game"));
    let meaningless = BookMove::new(Move::from_bits(one.mv.to_bits() | 1 << 30));
    assert!(made(vec![(key, vec![meaningless])]).contains("expected moves on squares"));
    assert!(Book::new(&[], manifest(), Vec::new()).unwrap_err().to_string().contains("expected a root"));
}

#[test]
fn books_of_other_rules_and_formats_are_refused() {
    let bytes = chess().as_bytes().to_vec();
    let refused = |bytes: Vec<u8>| Book::from_bytes(&variant("chess"), bytes).unwrap_err();
    let other = Book::from_bytes(&variant("shatranj"), bytes.clone()).unwrap_err();
    assert!(matches!(other, BookError::OtherRules { .. }) && other.to_string().contains("\"shatranj\""), "{other}");
    let replaced = |from: &str, to: &str| {
        let text = String::from_utf8_lossy(&bytes[12..]);
        assert_eq!(text.matches(from).count(), 1);
        let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
        [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat()
    };
    assert!(matches!(refused(replaced("\"format\":1", "\"format\":2")), BookError::Format(2)));
    assert!(refused(replaced("\"method\"", "\"madhot\"")).to_string().contains("madhot"));
    assert!(matches!(refused(b"FFNET\r\n\n".to_vec()), BookError::NoBook));
    assert!(matches!(refused([bytes.clone(), vec![0]].concat()), BookError::LeftOver { got: 1, .. }));
    let mut long = bytes.clone();
    long[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(matches!(refused(long), BookError::HeaderLength { .. }));
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn damage_is_noticed(at in any::<prop::sample::Index>(), flip in 1..=255_u8, cut in any::<prop::sample::Index>()) {
        let (bytes, chess) = (chess().as_bytes().to_vec(), variant("chess"));
        let mut flipped = bytes.clone();
        flipped[at.index(bytes.len())] ^= flip;
        prop_assert!(Book::from_bytes(&chess, flipped).is_err());
        prop_assert!(Book::from_bytes(&chess, bytes[..cut.index(bytes.len())].to_vec()).is_err());
    }

    /// Whatever stands before a checksum that is right, reading it does no more than refuse it.
    #[test]
    fn nothing_written_makes_reading_fail_hard(
        at in any::<prop::sample::Index>(),
        put in prop::collection::vec(any::<u8>(), 1..40),
        cut in any::<prop::sample::Index>(),
    ) {
        use sha2::{Digest, Sha256};
        let (whole, chess) = (chess().as_bytes().to_vec(), variant("chess"));
        let mut content = whole[..whole.len() - 32].to_vec();
        let at = at.index(content.len());
        let end = (at + put.len()).min(content.len());
        content[at..end].copy_from_slice(&put[..end - at]);
        content.truncate(cut.index(2 * content.len()).max(1));
        let checksum = Sha256::digest(&content);
        content.extend(checksum);
        if let Ok(book) = Book::from_bytes(&chess, content) {
            book.positions().for_each(|(key, moves)| assert_eq!(book.moves_of(key), moves));
        }
    }
}

#[test]
fn the_engine_plays_from_its_book_and_then_thinks() {
    let path = saved("chess.book", chess().as_bytes());
    let output = said(&path, "go nodes 300\nposition startpos moves e2e4 e7e5\ngo nodes 300\n");
    assert!(output.contains(&format!("info string book: 3 positions with 6 moves of chess, from {}", path.display())));
    assert!(output.contains("info string book: e2e4, 67 %, 30 cp\ninfo depth 0 "), "{output}");
    assert!(output.contains(" score cp 30 nodes 0 ") && output.contains("bestmove e2e4\n"), "{output}");
    let (_, thought) = output.split_once("bestmove e2e4\n").unwrap();
    assert!(thought.contains("info depth 1 ") && !thought.contains("book"), "{thought}");
}

#[test]
fn options_decide_whether_and_how_far_it_is_asked() {
    let path = saved("options.book", chess().as_bytes());
    let asks = |script: &str| said(&path, script).contains("info string book: e2e4");
    assert!(asks("go nodes 10\n"));
    assert!(asks("go movetime 5\n"));
    for script in [
        "setoption name OwnBook value false\ngo nodes 10\n",
        "setoption name BookFile value <empty>\ngo nodes 10\n",
        "setoption name BookDepth value 0\ngo nodes 10\n",
        "go depth 1 searchmoves e2e4 d2d4\n",
        "go infinite\nstop\n",
        "go\nstop\n",
    ] {
        assert!(!asks(script), "{script}");
    }
    let later = "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 9\ngo nodes 10\n";
    assert!(asks(&format!("setoption name BookDepth value 9\n{later}")));
    assert!(!asks(&format!("setoption name BookDepth value 8\n{later}")));
    let offered = answer("uci\n");
    for option in ["OwnBook type check default false", "BookFile type string", "BookSeed type spin default 0 min 0"] {
        assert!(offered.contains(&format!("option name {option}")), "{option}");
    }
}

#[test]
fn a_seed_varies_the_moves_from_game_to_game() {
    let path = saved("seed.book", chess().as_bytes());
    let games = |seed: u32| {
        let script = format!("setoption name BookSeed value {seed}\n{}", "ucinewgame\ngo nodes 10\n".repeat(40));
        let output = said(&path, &script);
        lines_with(&output, "bestmove ").iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let moves = games(1);
    let count = |text: &str| moves.iter().filter(|line| line.ends_with(text)).count();
    // Two thirds of forty, give or take three standard deviations; a move without weight never.
    assert!((17..=36).contains(&count("e2e4")) && count("e2e4") + count("d2d4") == 40, "{moves:?}");
    assert_eq!(games(1), moves);
    assert_ne!(games(2), moves);
    assert!(games(0).iter().all(|line| line == "bestmove e2e4"));
}

#[test]
fn an_illegal_move_is_never_played() {
    let start = Position::start(&variant("chess"));
    let square = |name: &str| start.variant().topology().parse(name).unwrap();
    let illegal = |weight, kind| BookMove { weight, ..BookMove::new(Move::new(square("e1"), square("e8"), kind)) };
    let legal = BookMove { weight: 1, ..BookMove::new(start.parse_move("b1c3").unwrap()) };
    let moves = vec![illegal(60_000, MoveKind::Normal), illegal(50_000, MoveKind::Castling), legal];
    let book = |moves| Book::new(std::slice::from_ref(&start), manifest(), vec![(BookKey::of(&start), moves)]).unwrap();
    let path = saved("illegal.book", book(moves).as_bytes());
    let output = said(&path, "go nodes 10\nsetoption name BookSeed value 5\ngo nodes 10\n");
    assert_eq!(lines_with(&output, "bestmove "), ["bestmove b1c3"; 2]);
    assert_eq!(lines_with(&output, "info string book: passed over 0x").len(), 4, "{output}");
    let path = saved("all-illegal.book", book(vec![illegal(9, MoveKind::Normal)]).as_bytes());
    let output = said(&path, "go nodes 100\n");
    assert!(output.contains("info depth 1 ") && !output.contains("bestmove (none)"), "{output}");
}

#[test]
fn a_book_does_not_repeat_positions() {
    let path = saved("repeats.book", chess().as_bytes());
    let output = said(&path, "position startpos moves g1f3 g8f6 f3g1\ngo nodes 100\n");
    assert!(output.contains("info depth 1 ") && !output.contains("book: f6g8"), "{output}");
    // Where the game does not know the position, the move is played.
    let fen = "rnbqkb1r/pppppppp/5n2/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 3 2";
    assert!(said(&path, &format!("position fen {fen}\ngo nodes 100\n")).ends_with("bestmove f6g8\n"));
}

#[test]
fn a_book_that_cannot_be_used_is_refused() {
    let mut bytes = chess().as_bytes().to_vec();
    let last = bytes.len() - 40;
    bytes[last] ^= 1;
    let damaged = saved("damaged.book", &bytes);
    let no_book = saved("none.book", b"no book at all");
    for (path, reason) in [
        (damaged, "it is damaged"),
        (no_book, "expected it to begin with"),
        (PathBuf::from("/nowhere.book"), "No such file"),
        (PathBuf::from("/"), "expected a regular file"),
    ] {
        let output = said(&path, "go nodes 50\n");
        let remarks = lines_with(&output, "info string ");
        assert!(remarks.len() == 1 && remarks[0].contains(reason), "{output}");
        assert!(output.contains("info depth 1 "), "{output}");
    }
}

/// Interfaces set options in any order.
#[test]
fn a_book_waits_for_its_game() {
    let lines: [Line<'_>; 1] = [("", &[("a3a6", 1, 0)])];
    let path = saved("herculean.book", book("herculean", &lines).as_bytes());
    let game = |name: &str| format!("setoption name UCI_Variant value {name}\ngo nodes 20\n");
    let output = said(&path, &format!("go nodes 20\n{}{}{0}", game("herculean"), game("chess")));
    let best = lines_with(&output, "bestmove ");
    assert!(best[1] == "bestmove a3a6" && best[3] == "bestmove a3a6" && best[0] != best[1] && best[2] != best[1]);
    let refusals = lines_with(&output, "info string BookFile ");
    assert!(refusals.len() == 2 && refusals[0].contains("is for variant \"herculean\""), "{output}");
}

#[test]
fn xboard_plays_and_shows_the_book() {
    let path = saved("xboard.book", chess().as_bytes());
    let script =
        format!("xboard\nprotover 2\noption BookFile={}\noption OwnBook=1\nnew\nsd 2\nbk\ngo\n", path.display());
    let output = answer(&script);
    assert!(output.contains("feature option=\"OwnBook -check 0\"\n"), "{output}");
    assert!(output.contains("\n e2e4, 67 %, 30 cp\n d2d4, 33 %, 25 cp\n a2a4, 0 %, -40 cp\n\n"), "{output}");
    assert_eq!(lines_with(&output, "move "), ["move e2e4"], "{output}");
    let illegal = answer("xboard\nprotover 2\noption BookDepth=x\noption OwnBook=maybe\n");
    assert_eq!(lines_with(&illegal, "tellusererror ").len(), 2, "{illegal}");
}

/// The parts of a position that make it another one are all in its bytes: a move changes them, taking it back restores them.
#[test]
fn moves_change_the_key_and_come_back() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for name in ["chess", "sorcerer", "opulent-lemurian-shatranj", "herculean"] {
        let mut position = random_position(&variant(name), 12, &mut random);
        let before = BookKey::of(&position);
        for mv in position.legal_moves() {
            let undo = position.make(mv, &mut Unobserved);
            assert_ne!(BookKey::of(&position), before);
            position.unmake(mv, &undo);
            assert_eq!(BookKey::of(&position), before);
        }
        assert_eq!(BookKey::of(&read(&variant(name), &position.fen())), before, "{name}");
    }
}
