//! Moves in algebraic notation: known answers in several games, what else is read, and that every move comes back.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::{cases, position, random_move, shipped, variant, variant_from};
use fairyforge_engine::moves::SanError;
use fairyforge_engine::position::{Position, Unobserved};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::HashSet;

/// What the move in coordinates is called.
fn san(name: &str, fen: &str, coordinates: &str) -> String {
    let position = position(name, fen);
    let mv = position.parse_move(coordinates).unwrap_or_else(|error| panic!("{error}"));
    let text = position.san(mv);
    assert_eq!(position.parse_san(&text), Ok(mv), "{text} in {fen}");
    text
}

/// What the text means, in coordinates.
#[track_caller]
fn means(position: &Position, text: &str, coordinates: &str) {
    let mv = position.parse_san(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(position.move_text(mv), coordinates, "{text}");
}

#[test]
fn orthodox_moves() {
    for (fen, mv, expected) in [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "e2e4", "e4"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "g1f3", "Nf3"),
        ("rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2", "e4d5", "exd5"),
        ("rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3", "e5f6", "exf6"),
        // Two knights that can both go: the file, or the rank, or both.
        ("4k3/8/8/8/8/8/8/1N2KN2 w - - 0 1", "b1d2", "Nbd2"),
        ("4k3/8/8/1N6/8/8/8/1N2K3 w - - 0 1", "b1c3", "N1c3"),
        ("4k3/8/8/8/1N6/8/8/1N2KN2 w - - 0 1", "b1d2", "Nbd2"),
        ("7k/8/8/1N3N2/8/8/8/1N4K1 w - - 0 1", "b5d4", "Nbd4"),
        ("6k1/8/8/8/8/8/K7/R6R w - - 0 1", "a1d1", "Rad1"),
        ("8/8/6k1/3Q4/8/8/8/K2Q4 w - - 0 1", "d5d2", "Q5d2"),
        ("8/7k/8/8/3Q1Q2/8/8/K4Q2 w - - 0 1", "f4d2", "Qfd2"),
        ("6k1/8/8/8/1Q1Q4/8/1Q6/K7 w - - 0 1", "b4d2", "Qb4d2"),
        // A pinned rival is none.
        ("4k3/8/8/8/1b6/8/3N4/4K1N1 w - - 0 1", "g1f3", "Nf3"),
        ("4r1k1/8/8/8/4N3/8/8/3NK3 w - - 0 1", "d1c3", "Nc3"),
        // Castling, also with check; a king move.
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", "O-O"),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8c8", "O-O-O"),
        ("3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", "e1c1", "O-O-O+"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1f1", "Kf1"),
        // Promotion, with capture, check and mate.
        ("8/P3k3/8/8/8/8/8/4K3 w - - 0 1", "a7a8n", "a8=N"),
        ("1r2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7b8q", "axb8=Q+"),
        ("6k1/P4ppp/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", "a8=Q#"),
        // Mates and stalemates.
        ("rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2", "d8h4", "Qh4#"),
        ("k7/8/1K6/8/8/8/8/2Q5 w - - 0 1", "c1c7", "Qc7"),
    ] {
        assert_eq!(san("chess", fen, mv), expected, "{fen} {mv}");
    }
}

#[test]
fn moves_of_larger_games() {
    let herculean =
        "rzclfqkwlcsr/nnnnnbbnnnnn/pppppppppppp/12/12/12/12/12/12/PPPPPPPPPPPP/NNNNNBBNNNNN/RZCLFQKWLCSR w KQkq - 0 1";
    // Only the unit with the letter P goes without one; ninja pawns carry theirs.
    assert_eq!(san("herculean", herculean, "e3e6"), "e6");
    let ninjas = "6k5/12/12/12/12/12/12/12/12/12/2N1N7/6K5 w - - 0 1";
    assert_eq!(san("herculean", ninjas, "c2d2"), "Ncd2");
    assert_eq!(san("herculean", ninjas, "c2c6"), "Nc6");
    let castling = "5k6/12/12/12/12/12/12/12/12/12/12/R5K4R w KQ - 0 1";
    assert_eq!(san("herculean", castling, "g1j1"), "O-Oj1");
    assert_eq!(san("herculean", castling, "g1c1"), "O-Oc1");
    assert_eq!(san("herculean", castling, "g1h1o"), "O-Oh1");
    assert_eq!(san("herculean", castling, "g1h1"), "Kh1");
    let promotion = "6k5/P11/12/12/12/12/12/12/12/12/N9N1/6K5 w - - 0 1";
    assert_eq!(san("herculean", promotion, "a11a12l"), "a12=L");
    assert_eq!(san("herculean", promotion, "k2k5"), "Nk5");
    // Two-digit ranks in a hint.
    let far = "R11/12/12/12/12/12/12/12/R11/11k/12/5K6 w - - 0 1";
    assert_eq!(san("herculean", far, "a12a10"), "R12a10");
    // Drops, on ranks that begin with 0, and the choices that follow from them.
    let drops = "****2****/4k5/10/10/10/10/10/10/10/10/4K5/****2****[GAJJJJgajjjj] w - - 0 1";
    assert_eq!(san("sorcerer-reinforcements", drops, "G@e0"), "G@e0");
    let lemurian = "rh6hr/1wsngknsw1/pppppppppp/10/10/10/10/PPPPPPPPPP/1WSNGKNSW1/RH6HR w - - 0 1";
    assert_eq!(san("opulent-lemurian-shatranj", lemurian, "e3e4"), "e4");
    let shatranj = "3k4/8/8/8/8/8/3p4/K6R b - - 0 1";
    assert_eq!(san("shatranj", shatranj, "d2d1q"), "d1=Q");
}

#[test]
fn a_bared_king_is_not_mated() {
    // The last black man is taken with check: the game is over, though not by mate.
    assert_eq!(san("shatranj", "3k4/8/8/8/3p4/8/8/K2R4 w - - 0 1", "d1d4"), "Rxd4+");
}

#[test]
fn much_else_is_read() {
    let start = Position::start(&variant("chess"));
    for text in ["e4", "e4!", "e4??", "e2e4", "e2-e4", "Pe4", "Pe2e4", "Pe2-e4", "e4+", "e4#!?"] {
        means(&start, text, "e2e4");
    }
    for text in ["Nf3", "Ngf3", "N1f3", "Ng1f3", "Ng1-f3", "g1f3", "Nxf3", "Ng1xf3", "g1-f3"] {
        means(&start, text, "g1f3");
    }
    let castling = position("chess", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    for text in ["O-O", "0-0", "o-o", "e1g1", "Kg1", "Ke1g1", "e1h1", "O-Og1", "O-O+"] {
        means(&castling, text, "e1g1");
    }
    for text in ["O-O-O", "0-0-0", "Kc1", "e1a1", "O-Oc1", "O-O-Oc1"] {
        means(&castling, text, "e1c1");
    }
    let promotion = position("chess", "1r2k3/P7/8/8/8/8/8/4K3 w - - 0 1");
    for text in ["axb8=Q", "axb8=q", "axb8Q", "axb8q", "ab8=Q", "axb8(Q)", "axb8/Q", "a7b8q", "a7xb8=Q+", "a:b8=Q"] {
        means(&promotion, text, "a7b8q");
    }
    let passed = position("chess", "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3");
    for text in ["exf6", "ef6", "exf6e.p.", "exf6 e.p.", "exf6ep", "e5f6", "e5xf6"] {
        means(&passed, text, "e5f6");
    }
    let herculean = position("herculean", "r5k4r/12/12/12/12/12/12/12/12/12/12/R5K4R w KQkq - 0 1");
    // The plain king move goes before the castling of one step; farther there is only the castling.
    means(&herculean, "Kh1", "g1h1");
    means(&herculean, "Kj1", "g1j1");
    means(&herculean, "Kd1", "g1d1");
    means(&herculean, "g1h1o", "g1h1o");
    means(&herculean, "O-O-h1", "g1h1o");
    means(&herculean, "O-O-O-f1", "g1f1o");
    means(&herculean, "O-O-O-c1", "g1c1");
    means(&herculean, "O-Oc1", "g1c1");
    means(&herculean, "g1h1", "g1h1");
    // Only one unit to promote to: it need not be said.
    means(&position("shatranj", "4k2r/P7/8/8/8/8/8/K6R w - - 0 1"), "a8", "a7a8q");
    let drops = "****2****/4k5/10/10/10/10/10/10/10/10/4K5/****2****[GAJJJJgajjjj] w - - 0 1";
    means(&position("sorcerer-reinforcements", drops), "J@f0+", "J@f0");
}

#[test]
fn what_fits_nothing_or_too_much_is_an_error_that_tells() {
    let knights = position("chess", "4k3/8/8/8/8/8/8/1N2KN2 w - - 0 1");
    let error = knights.parse_san("Nd2").unwrap_err();
    assert!(matches!(&error, SanError::SeveralFit { moves, .. } if moves == &["Nbd2", "Nfd2"]), "{error}");
    assert_eq!(error.to_string(), "move \"Nd2\" may be any of Nbd2, Nfd2 in 4k3/8/8/8/8/8/8/1N2KN2 w - - 0 1");
    let error = knights.parse_san("Nd4").unwrap_err();
    assert_eq!(error.to_string(), "move \"Nd4\" is not legal in 4k3/8/8/8/8/8/8/1N2KN2 w - - 0 1");
    let promotion = position("chess", "8/P3k3/8/8/8/8/8/4K3 w - - 0 1");
    let error = promotion.parse_san("a8").unwrap_err().to_string();
    assert!(["a8=Q", "a8=R", "a8=B", "a8=N"].iter().all(|choice| error.contains(choice)), "{error}");
    let castling = position("herculean", "r5k4r/12/12/12/12/12/12/12/12/12/12/R5K4R w KQkq - 0 1");
    let error = castling.parse_san("O-O").unwrap_err().to_string();
    assert!(error.contains("O-Oh1+, O-Oi1, O-Oj1, O-Ok1 in"), "{error}");

    let start = Position::start(&variant("chess"));
    for (text, reason) in [
        ("", "expected a square"),
        ("e", "expected a square such as a1"),
        ("Xe4", "expected one of the letters BKNPQR"),
        ("e9", "e9 is not a square of this board"),
        ("Ne4e4e4", "expected a file, a rank or a square before the target"),
        ("O-O", "is not legal"),
        ("O-O-O-O", "expected a square such as a1, got \"O\""),
        ("N@e4", "is not legal"),
        ("QQ@e4", "expected one letter before '@'"),
        ("e4=X", "expected one of the letters"),
        ("--", "expected a square"),
        ("e5", "is not legal"),
        ("Kh1", "is not legal"),
    ] {
        let error = start.parse_san(text).unwrap_err().to_string();
        assert!(error.contains(reason), "{text:?}: {error}");
    }
}

#[test]
fn a_game_without_a_p_says_every_letter() {
    let game = variant_from(
        "format = 1\ninherits = \"chess\"\n[pieces.pawn]\nletter = \"S\"\nmoves = \"fmWfcF\"\nalso = [{ moves = \"fmR2\", from = \"own_rank_2\" }]\n[zones]\nown_rank_2 = \"rank 2\"\n[board]\nsetup = \"\"\"\nr n b q k b n r\ns s s s s s s s\n. . . . . . . .\n. . . . . . . .\n. . . . . . . .\n. . . . . . . .\nS S S S S S S S\nR N B Q K B N R\n\"\"\"\n",
    );
    let start = Position::start(&game);
    let mv = start.parse_move("e2e3").unwrap();
    assert_eq!(start.san(mv), "Se3");
    assert!(matches!(start.parse_san("e3"), Err(SanError::Letter { got: 'P', .. })));
    means(&start, "e2e3", "e2e3");
}

#[test]
fn every_move_of_random_games_comes_back() {
    let mut seen = 0;
    for variant in shipped() {
        for seed in 0..3 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut position = Position::start(&variant);
            for ply in 0..160 {
                if ply % 3 == 0 {
                    let mut texts = HashSet::new();
                    for mv in position.legal_moves() {
                        let text = position.san(mv);
                        assert_eq!(position.parse_san(&text), Ok(mv), "{position:?} {text}");
                        assert!(texts.insert(text), "{position:?}: two moves are called alike");
                        seen += 1;
                    }
                }
                let Some(mv) = random_move(&position, &mut random) else { break };
                position.make(mv, &mut Unobserved);
            }
        }
    }
    assert!(seen > 20_000, "{seen}");
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn any_text_is_answered(text in ".{0,12}", near in "[KQRBNPSGO]?[a-m]?[0-9]{0,3}[x@:-]?[a-p][0-9]{1,2}[=]?[A-Zo]?[+#!e.p]{0,4}") {
        for variant in [variant("herculean"), variant("sorcerer-reinforcements")] {
            let position = Position::start(&variant);
            for text in [&text, &near] {
                if let Ok(mv) = position.parse_san(text) {
                    prop_assert!(position.legal_moves().contains(&mv));
                }
            }
        }
    }
}
