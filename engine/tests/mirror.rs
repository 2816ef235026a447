//! Mirror images of positions: that they are what the rules treat alike, and one position to a book.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use common::{random_move, shipped, texts, variant, variant_from};
use fairyforge_engine::book::{Book, BookKey, BookMove, Manifest, Oriented};
use fairyforge_engine::moves::Move;
use fairyforge_engine::position::{Position, Unobserved, audit::audit};
use fairyforge_engine::variant::{Images, Variant};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::sync::Arc;

/// A small game that is its own mirror image, with double steps and en passant.
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
[pieces.pawn]
letter = "P"
moves = "fmWfcFifmnD"
en_passant = "takes and taken"
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

/// Positions of random games, with all the moves that led there.
fn random_positions(variant: &Arc<Variant>, plies: usize, seed: u64) -> Vec<Position> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut position = Position::start(variant);
    let mut all = vec![position.clone()];
    for _ in 0..plies {
        let Some(mv) = random_move(&position, &mut random) else { break };
        position.make(mv, &mut Unobserved);
        all.push(position.clone());
    }
    all
}

fn after(position: &Position, mv: Move) -> Position {
    let mut after = position.clone();
    after.make(mv, &mut Unobserved);
    after
}

/// The placement from right to left, by its letters alone.
fn reversed_board(position: &Position) -> String {
    let placement = position.to_string();
    let ranks = placement.lines().filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()));
    let width = 2 * usize::from(position.variant().topology().width());
    let squares = ranks.map(|rank| format!("{:width$}", &rank[4..]).chars().rev().collect::<String>());
    squares.map(|rank| rank.replace(' ', "")).collect::<Vec<_>>().join("/")
}

fn board(position: &Position) -> String {
    let placement = position.to_string();
    let ranks = placement.lines().filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()));
    ranks.map(|rank| rank[4..].replace(' ', "")).collect::<Vec<_>>().join("/")
}

/// What must hold of a position and its image.
fn assert_images(position: &Position, image: &Position) {
    let told = || format!("{position:?} and {image:?}");
    let topology = position.variant().topology();
    assert_eq!(reversed_board(position), board(image), "{}", told());
    audit(image).unwrap_or_else(|fault| panic!("{}: {fault}", told()));
    assert_eq!(image.mirrored().as_ref(), Some(position), "{}", told());
    assert_eq!(Position::from_fen(position.variant(), &image.fen()).as_ref(), Ok(image), "{}", told());
    assert_eq!(position.outcome(1), image.outcome(1), "{}", told());
    let mut moves: Vec<Move> = position.legal_moves().into_iter().map(|mv| mv.mirrored(topology)).collect();
    let mut of_image = image.legal_moves();
    moves.sort();
    of_image.sort();
    assert_eq!(moves, of_image, "{}", told());
    for mv in moves {
        let (there, here) = (after(image, mv), after(position, mv.mirrored(topology)));
        assert_eq!(here.mirrored(), there.mirrored().map(|_| there), "{} {}", told(), position.move_text(mv));
    }
}

/// One position to a book, which has moves for both.
fn assert_one_to_books(position: &Position, image: &Position) {
    let (one, other) = (Oriented::of(position), Oriented::of(image));
    assert_eq!((one.key(), one.check()), (other.key(), other.check()), "{position:?}");
    assert_eq!(one.position().identity_bytes(), other.position().identity_bytes(), "{position:?}");
    let is_symmetric = position.identity_bytes() == image.identity_bytes();
    assert_eq!(one.is_mirrored() ^ other.is_mirrored(), !is_symmetric, "{position:?}");
    let held: std::collections::BTreeSet<Move> = position.legal_moves().into_iter().map(|mv| one.held(mv)).collect();
    let book_moves: Vec<BookMove> = held.iter().map(|&mv| BookMove::new(mv)).collect();
    if book_moves.is_empty() {
        return;
    }
    let root = [Position::start(position.variant())];
    let book = Book::new(&root, Manifest::default(), vec![(one.key(), book_moves)]).unwrap();
    let topology = position.variant().topology();
    for (asked, oriented) in [(position, &one), (image, &other)] {
        let moves = book.moves(asked);
        let legal = asked.legal_moves();
        assert!(moves.iter().all(|entry| legal.contains(&entry.mv)), "{asked:?}");
        assert!(moves.iter().all(|entry| held.contains(&oriented.held(entry.mv))), "{asked:?}");
        // Only where a position is its own image are there fewer: a move and its image are one.
        let is_doubled = |mv: &&Move| mv.mirrored(topology).to_bits() < mv.to_bits();
        let doubled = if is_symmetric { legal.iter().filter(is_doubled).count() } else { 0 };
        assert_eq!(moves.len() + doubled, legal.len(), "{asked:?}");
    }
}

#[test]
fn images_are_what_the_rules_treat_alike() {
    let mut games = shipped();
    games.push(variant_from(MIRROR));
    let mut with_images = Vec::new();
    for game in games {
        let mut images = 0;
        for seed in 0..4 {
            // Without castling rights sooner or later: kings and rooks move.
            for position in random_positions(&game, 60, seed).into_iter().step_by(3) {
                let may = match game.images() {
                    Images::None => false,
                    Images::WithoutCastling => position.castling_rights() == 0,
                    Images::All => true,
                };
                let image = position.mirrored();
                assert_eq!(image.is_some(), may, "{position:?}");
                if let Some(image) = image {
                    assert_images(&position, &image);
                    assert_one_to_books(&position, &image);
                    images += 1;
                }
            }
        }
        if images > 0 {
            with_images.push(game.name().to_owned());
        }
        assert!(images > 0 || game.images() != Images::All, "{}", game.name());
    }
    assert!(with_images.len() > 15, "{with_images:?}");
    for name in ["shatranj", "chess", "opulent-lemurian-shatranj", "grand", "spartan"] {
        assert!(with_images.iter().any(|with| with == name), "{name} is not among {with_images:?}");
    }
}

/// The engine plays the move of the book that stands on the board, whichever way round the book has it.
#[test]
fn the_engine_plays_in_both_ways_round() {
    let position = common::position("chess", "4k3/p7/8/8/8/8/P7/4K3 w - - 0 1");
    let image = position.mirrored().unwrap();
    let oriented = Oriented::of(&position);
    let mv = position.parse_move("a2a4").unwrap();
    let moves = vec![BookMove { weight: 1, ..BookMove::new(oriented.held(mv)) }];
    let book = Book::new(std::slice::from_ref(&position), Manifest::default(), vec![(oriented.key(), moves)]).unwrap();
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("mirror.book");
    std::fs::write(&path, book.as_bytes()).unwrap();
    let script = format!(
        "setoption name BookFile value {}\nsetoption name OwnBook value true\nposition fen {}\ngo nodes 10\nposition fen {}\ngo nodes 10\n",
        path.display(),
        position.fen(),
        image.fen()
    );
    let mut output = Vec::new();
    fairyforge_engine::protocol::converse(script.as_bytes(), &mut output).unwrap();
    let output = String::from_utf8(output).unwrap();
    let best: Vec<&str> = output.lines().filter(|line| line.starts_with("bestmove ")).collect();
    assert_eq!(best, ["bestmove a2a4", "bestmove h2h4"], "{output}");
}

#[test]
fn what_tells_left_from_right_keeps_images_apart() {
    let key = |name: &str, fen: &str| BookKey::of(&common::position(name, fen));
    // Pawns that go towards a corner.
    assert_ne!(key("legan", "4k3/8/8/8/8/8/P7/4K3 w - - 0 1"), key("legan", "3k4/8/8/8/8/8/7P/3K4 w - - 0 1"));
    // Castling to one side, and then the same men without the right.
    let (short, long) = ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "3k4/8/8/8/8/8/8/R2K4 w - - 0 1");
    assert_ne!(key("chess", short), key("chess", long));
    assert_eq!(key("chess", &short.replace(" K ", " - ")), key("chess", long));
}

#[test]
fn en_passant_is_mirrored() {
    let position = common::position("chess", "4k3/8/8/8/1pPp4/8/8/4K3 b - c3 0 1");
    let image = position.mirrored().unwrap();
    assert_eq!(image.fen(), "3k4/8/8/8/4pPp1/8/8/3K4 b - f3 0 1");
    assert_eq!(BookKey::of(&position), BookKey::of(&image));
    let without = common::position("chess", "3k4/8/8/8/4pPp1/8/8/3K4 b - - 0 1");
    assert_ne!(BookKey::of(&without), BookKey::of(&image));
    assert!(texts(&image).contains(&"e4f3".to_owned()) && texts(&image).contains(&"g4f3".to_owned()));
}

/// Janus Chess would castle alike on both wings if its king stood in the middle; this game does.
#[test]
fn castling_rights_are_mirrored_where_castling_is() {
    let castles = MIRROR.replace(
        "[end]",
        "[castling]\npartner = \"rook\"\nking_steps = { to_higher_files = [2], to_lower_files = [2] }\n\n[end]",
    );
    let game = variant_from(&castles);
    assert_eq!(game.images(), Images::All);
    let position = common::read(&game, "r2k2r/7/7/7/7/7/R2K1NR w Qk - 0 1");
    let image = position.mirrored().unwrap();
    assert_eq!(image.fen(), "r2k2r/7/7/7/7/7/RN1K2R w Kq - 0 1");
    assert_images(&position, &image);
    assert_one_to_books(&position, &image);
    assert!(texts(&image).contains(&"d1f1".to_owned()) && !texts(&image).contains(&"d1b1".to_owned()));
    for seed in 0..5 {
        for position in random_positions(&game, 40, seed) {
            let image = position.mirrored().unwrap();
            assert_images(&position, &image);
            assert_one_to_books(&position, &image);
        }
    }
}

#[test]
fn a_shipped_game_that_leans_has_no_images() {
    let leans: Vec<_> = shipped().into_iter().filter(|game| game.images() == Images::None).collect();
    assert!(leans.iter().any(|game| game.name() == "legan") && leans.len() < shipped().len() / 2);
    assert!(Position::start(&variant("legan")).mirrored().is_none());
}
