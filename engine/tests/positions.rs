//! Positions and moves in text: what is refused and why, and the examples that the rules' texts give.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::{allows, play, position, read, shipped, texts, variant};
use fairyforge_engine::game::Game;
use fairyforge_engine::moves::notation::MoveTextError;
use fairyforge_engine::outcome::{Outcome, Reason};
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::variant::rules::Colour;
use fairyforge_engine::variant::{Variant, file};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::sync::Arc;

const OPULENT: &str = "opulent-lemurian-shatranj";
const REINFORCED: &str = "sorcerer-reinforcements";

/// Game, FEN, beginning of the message and a part of the reason.
const REFUSED: &[(&str, &str, &str, &str)] = &[
    // Number of fields.
    ("chess", "", "FEN:", "got 0"),
    ("chess", "4k3/8/8/8/8/8/8/4K3 w - - 0", "FEN:", "got 5"),
    ("chess", "4k3/8/8/8/8/8/8/4K3 w - - 0 1 1", "FEN:", "got 7"),
    ("chess", "4k3/8/8/8/8/8/8/4K3", "FEN:", "got 1"),
    // The board's shape.
    ("chess", "4k3/8/8/8/8/8/4K3 w - - 0 1", "board field", "8 ranks"),
    ("chess", "4k3/8/8/8/8/8/8/8/4K3 w - - 0 1", "board field", "got 9"),
    ("chess", "4k3/8/8/8/8/8/8/4K3/ w - - 0 1", "board field", "got 9"),
    ("chess", "4k3/7/8/8/8/8/8/4K3 w - - 0 1", "board field, rank 7", "got 7"),
    ("chess", "4k3/9/8/8/8/8/8/4K3 w - - 0 1", "board field, rank 7", "got 9"),
    ("chess", "4k3//8/8/8/8/8/4K3 w - - 0 1", "board field, rank 7", "got 0"),
    ("chess", "4k3/pppppppppppppppppppp/8/8/8/8/8/4K3 w - - 0 1", "board field, rank 7", "got 20"),
    ("herculean", "6k5/11/12/12/12/12/12/12/12/12/12/6K5 w - - 0 1", "board field, rank 11", "got 11"),
    ("herculean", "6k5/13/12/12/12/12/12/12/12/12/12/6K5 w - - 0 1", "board field, rank 11", "got 13"),
    // Numbers that are none.
    ("chess", "4k3/0/8/8/8/8/8/4K3 w - - 0 1", "board field, rank 7", "\"0\""),
    ("chess", "4k3/08/8/8/8/8/8/4K3 w - - 0 1", "board field, rank 7", "\"08\""),
    ("chess", "4k03/8/8/8/8/8/8/4K3 w - - 0 1", "board field, rank 8", "\"03\""),
    ("chess", "4k3/44/8/8/8/8/8/4K3 w - - 0 1", "board field, rank 7", "\"44\""),
    ("chess", "4k3/99999999999999999999999/8/8/8/8/8/4K3 w - - 0 1", "board field, rank 7", "number"),
    // Letters.
    ("chess", "4k3/8/3x4/8/8/8/8/4K3 w - - 0 1", "board field, rank 6", "'x'"),
    ("chess", "4k3/8/3é4/8/8/8/8/4K3 w - - 0 1", "board field, rank 6", "'é'"),
    ("chess", "4k3/8/3Ｋ4/8/8/8/8/4K3 w - - 0 1", "board field, rank 6", "'Ｋ'"),
    ("chess", "4k3/8/3٣4/8/8/8/8/4K3 w - - 0 1", "board field, rank 6", "'٣'"),
    ("chess", "4k3/8/8/8/8/8/8/4K2- w - - 0 1", "board field, rank 1", "'-'"),
    ("shatranj", "4k3/8/3p4/8/8/8/8/4KZ2 w - - 0 1", "board field, rank 1", "'Z'"),
    // Holes.
    ("chess", "4k3/8/*7/8/8/8/8/4K3 w - - 0 1", "board field", "a6"),
    ("sorcerer", "10/5k4/10/10/10/10/10/10/10/10/5K4/****2**** w - - 0 1", "board field", "a11"),
    ("sorcerer", "****2***1/5k4/10/10/10/10/10/10/10/10/5K4/****2**** w - - 0 1", "board field", "j11"),
    ("sorcerer", "****2****/5k4/10/10/10/10/10/10/10/10/5K4/R***2**** w - - 0 1", "board field", "a0"),
    ("sorcerer", "*****1****/5k4/10/10/10/10/10/10/10/10/5K4/****2**** w - - 0 1", "board field", "e11"),
    // Kings.
    ("chess", "8/8/8/8/8/8/8/4K3 w - - 0 1", "board field", "king of Black, got 0"),
    ("chess", "4k3/8/8/8/8/8/8/8 w - - 0 1", "board field", "king of White, got 0"),
    ("chess", "4k3/8/8/8/8/8/8/3KK3 w - - 0 1", "board field", "king of White, got 2"),
    // Pawns that had to promote.
    ("chess", "P3k3/8/8/8/8/8/8/4K3 w - - 0 1", "board field", "a8"),
    ("chess", "4k3/8/8/8/8/8/8/4K2p w - - 0 1", "board field", "h1"),
    ("herculean", "N5k5/12/12/12/12/12/12/12/12/12/12/6K5 w - - 0 1", "board field", "a12"),
    ("sorcerer", "****2****/P4k4/10/10/10/10/10/10/10/10/5K4/****2**** w - - 0 1", "board field", "a10"),
    (OPULENT, "4k5/10/10/10/10/10/10/10/10/p3K5 w - - 0 1", "board field", "a1"),
    // The side.
    ("chess", "4k3/8/8/8/8/8/8/4K3 x - - 0 1", "side field", "\"x\""),
    ("chess", "4k3/8/8/8/8/8/8/4K3 W - - 0 1", "side field", "\"W\""),
    ("chess", "4k3/8/8/8/8/8/8/4K3 white - - 0 1", "side field", "\"white\""),
    ("chess", "4k3/8/8/8/8/8/8/4RK2 w - - 0 1", "side field", "e8"),
    ("chess", "8/8/8/8/8/8/3k4/4K3 b - - 0 1", "side field", "e1"),
    // Castling.
    ("chess", "4k3/8/8/8/8/8/8/4K3 w K - 0 1", "castling field", "e1 and h1"),
    ("chess", "4k2r/8/8/8/8/8/8/4K2R w q - 0 1", "castling field", "e8 and a8"),
    ("chess", "4k3/8/8/8/8/8/8/3K3R w K - 0 1", "castling field", "e1 and h1"),
    ("chess", "4k3/8/8/8/8/8/8/4K2r w K - 0 1", "castling field", "e1 and h1"),
    ("chess", "4k3/8/8/8/8/8/8/4K2R w KK - 0 1", "castling field", "twice"),
    ("chess", "4k3/8/8/8/8/8/8/4K2R w K- - 0 1", "castling field", "'-'"),
    ("chess", "4k3/8/8/8/8/8/8/4K2R w H - 0 1", "castling field", "'H'"),
    (OPULENT, "4k5/10/10/10/10/10/10/10/10/4K4R w K - 0 1", "castling field", "'K'"),
    // En passant.
    ("chess", "4k3/8/8/8/4P3/8/8/4K3 b - e4 0 1", "en passant field", "e4"),
    ("chess", "4k3/8/8/8/4P3/8/4P3/3K4 b - e3 0 1", "en passant field", "e2"),
    ("chess", "3k4/8/8/8/8/8/8/4K3 b - e3 0 1", "en passant field", "got none"),
    ("chess", "4k3/8/8/8/4N3/8/8/4K3 b - e3 0 1", "en passant field", "another man on e4"),
    ("chess", "4k3/8/8/4P3/8/8/8/4K3 b - e4 0 1", "en passant field", "no move brings the pawn to e5"),
    ("chess", "4k3/8/8/8/4P3/8/8/4K3 b - e3 5 1", "en passant field", "clock must be 0"),
    ("chess", "4k3/8/8/8/4p3/8/8/4K3 b - e3 0 1", "en passant field", "another man on e4"),
    ("chess", "4k3/8/8/8/4P3/8/8/4K3 w - e3 0 1", "en passant field", "e4"),
    ("chess", "3k4/8/8/8/4P3/8/8/4K3 b - e1 0 1", "en passant field", "e1"),
    ("chess", "4k3/8/8/8/4P3/8/8/3K4 b - e1 0 1", "en passant field", "behind e1"),
    ("chess", "4k3/8/8/8/4P3/8/8/4K3 b - e3e3 0 1", "en passant field", "does not follow"),
    ("chess", "4k3/8/8/8/4P3/8/8/4K3 b - e3x 0 1", "en passant field", "\"x\""),
    ("chess", "4k3/8/8/8/4P3/8/8/4K3 b - e 0 1", "en passant field", "\"e\""),
    ("chess", "4k3/8/8/8/4P3/8/8/4K3 b - e9 0 1", "en passant field", "e9"),
    ("chess", "4k3/8/8/8/4P3/8/8/4K3 b - é3 0 1", "en passant field", "é3"),
    ("chess", "4k3/8/8/8/4P3/8/8/4K3 b - e03 0 1", "en passant field", "e03"),
    ("herculean", "6k5/12/12/12/12/12/P11/12/12/12/12/6K5 b - a5a4 0 1", "en passant field", "does not follow"),
    ("herculean", "6k5/12/12/12/12/12/PP10/12/12/12/12/6K5 b - a4b5 0 1", "en passant field", "does not follow"),
    ("herculean", "6k5/12/12/12/12/12/P11/12/12/12/12/6K5 b - a3a5 0 1", "en passant field", "does not follow"),
    ("herculean", "6k5/12/12/12/12/12/N11/12/12/12/12/6K5 b - a4a5 0 1", "en passant field", "another man on a6"),
    ("shatranj", "4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1", "en passant field", "no pawn of this game"),
    // Counters.
    ("chess", "4k3/8/8/8/8/8/8/4K3 w - - -1 1", "half-move clock field", "\"-1\""),
    ("chess", "4k3/8/8/8/8/8/8/4K3 w - - +1 1", "half-move clock field", "\"+1\""),
    ("chess", "4k3/8/8/8/8/8/8/4K3 w - - x 1", "half-move clock field", "\"x\""),
    ("chess", "4k3/8/8/8/8/8/8/4K3 w - - 99999999999 1", "half-move clock field", "to 10000"),
    ("chess", "4k3/8/8/8/8/8/8/4K3 w - - 0 0", "move number field", "\"0\""),
    ("chess", "4k3/8/8/8/8/8/8/4K3 w - - 0 -", "move number field", "\"-\""),
    ("chess", "4k3/8/8/8/8/8/8/4K3 w - - 0 1.5", "move number field", "\"1.5\""),
    // Hands.
    ("chess", "4k3/8/8/8/8/8/8/4K3[] w - - 0 1", "holdings", "no units in hand"),
    (REINFORCED, "****2****/5k4/10/10/10/10/10/10/10/10/5K4/****2**** w - - 0 1", "holdings", "got nothing"),
    (REINFORCED, "****2****/5k4/10/10/10/10/10/10/10/10/5K4/****2****[G w - - 0 1", "holdings", "closing"),
    (REINFORCED, "****2****/5k4/10/10/10/10/10/10/10/10/5K4/****2****[G]x w - - 0 1", "holdings", "closing"),
    (REINFORCED, "****2****/5k4/10/10/10/10/10/10/10/10/5K4/****2****[G]] w - - 0 1", "holdings", "']'"),
    (REINFORCED, "****2****/5k4/10/10/10/10/10/10/10/10/5K4/****2****[Q] w - - 0 1", "holdings", "'Q'"),
    (REINFORCED, "****2****/5k4/10/10/10/10/10/10/10/10/5K4/****2****[2J] w - - 0 1", "holdings", "'2'"),
    (REINFORCED, "****2****/5k4/10/10/10/10/10/10/10/10/5K4/****2****[GG] w - - 0 1", "holdings", "more than the 1"),
    (REINFORCED, "****2****/5k4/10/10/10/10/10/10/10/10/5K4/****2****[jjjjj] w - - 0 1", "holdings", "more than the 4"),
];

#[test]
fn broken_fens_are_refused_by_field_and_reason() {
    let mut wrong = Vec::new();
    for (name, fen, field, reason) in REFUSED {
        match Position::from_fen(&variant(name), fen) {
            Ok(_) => wrong.push(format!("{name} {fen:?} was accepted")),
            Err(error) => {
                let message = error.to_string();
                if !message.starts_with(field) || !message.contains(reason) {
                    wrong.push(format!("{name} {fen:?}: expected {field:?} … {reason:?}, got {message:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn arrays_are_the_start_positions() {
    for variant in shipped() {
        let start = Position::start(&variant);
        assert_eq!(read(&variant, &start.fen()), start);
        assert!(start.fen().ends_with(" 0 1"));
    }
}

proptest! {
    #![proptest_config(common::cases(400))]

    #[test]
    fn no_text_makes_the_fen_reader_panic(which in 0..10_usize, text in "\\PC{0,100}") {
        let variant = variant(Variant::shipped_names().nth(which).unwrap());
        prop_assert!(Position::from_fen(&variant, &text).is_err());
    }

    #[test]
    fn a_changed_fen_is_refused_or_round_trips(
        which in 0..10_usize, seed in 0..8_u64, plies in 0..80_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[a-lKQRBNPk1-9*/\\[\\]\u{e9} -]{0,2}"), 1..3),
    ) {
        let variant = variant(Variant::shipped_names().nth(which).unwrap());
        let valid = common::random_position(&variant, plies, &mut ChaCha8Rng::seed_from_u64(seed)).fen();
        let mut letters: Vec<String> = valid.chars().map(String::from).collect();
        for (at, change) in changes {
            let at = at.index(letters.len());
            letters[at] = change;
        }
        if let Ok(position) = Position::from_fen(&variant, &letters.concat()) {
            let again = Position::from_fen(&variant, &position.fen());
            prop_assert_eq!(again.as_ref(), Ok(&position));
            let unpacked = Position::unpack(&variant, &position.pack());
            prop_assert_eq!(unpacked.as_ref(), Ok(&position));
            for mv in position.legal_moves() {
                let mut after = position.clone();
                let undo = after.make(mv, &mut Unobserved);
                after.unmake(mv, &undo);
                prop_assert_eq!(&after, &position);
            }
        }
    }

    #[test]
    fn no_text_makes_the_move_reader_panic(which in 0..10_usize, text in "\\PC{0,12}|[a-l@o]{1,2}[0-9]{0,2}[a-l][0-9]{0,2}[a-z]?") {
        let position = Position::start(&variant(Variant::shipped_names().nth(which).unwrap()));
        if let Ok(mv) = position.parse_move(&text) {
            prop_assert_eq!(position.move_text(mv), text);
        }
    }
}

#[test]
fn the_greatest_move_number_is_packed_without_loss() {
    let variant = variant("chess");
    assert!(Position::from_fen(&variant, "4k3/8/8/8/8/8/8/4K3 w - - 0 60001").is_err());
    let position = position("chess", "4k3/8/8/8/8/8/8/4K3 w - - 0 60000");
    assert_eq!(Position::unpack(position.variant(), &position.pack()).unwrap(), position);
}

#[test]
fn broken_moves_are_refused_with_the_reason() {
    let start = Position::start(&variant("chess"));
    for text in
        ["", "e", "e2", "e2e", "e2e9", "i2i4", "E2E4", "e2-e4", "é2e4", " e2e4", "e02e4", "0000", "@", "N@", "N@e9"]
    {
        let refusal = start.parse_move(text);
        assert!(matches!(refusal, Err(MoveTextError::Square { .. })), "{text:?}: {refusal:?}");
    }
    for text in ["e2e4 ", "e2e4Q", "e2e4qq", "e2e4@e5x", "e2e4="] {
        let refusal = start.parse_move(text).unwrap_err();
        assert!(!matches!(refusal, MoveTextError::Illegal { .. }), "{text:?}: {refusal:?}");
    }
    for text in ["e2e5", "e7e5", "e1e1", "e4e5", "e2e4q", "e1g1", "e2e4o", "N@e4", "@e4"] {
        let refusal = start.parse_move(text);
        assert!(matches!(refusal, Err(MoveTextError::Illegal { .. })), "{text:?}: {refusal:?}");
    }
    assert!(start.parse_move("e2e4").is_ok());
}

#[test]
fn keys_tell_every_usable_passed_square_apart() {
    let board = "6k5/12/12/12/12/12/Pp10/1p10/12/12/12/6K5 b -";
    let keys = ["a4a5", "a4", "a5", "-"].map(|passed| position("herculean", &format!("{board} {passed} 0 1")).key());
    for (i, a) in keys.iter().enumerate() {
        assert!(!keys[..i].contains(a), "{keys:x?}");
    }
    let both = position("herculean", &format!("{board} a4a5 0 1"));
    assert!(allows(&both, "b5a4") && allows(&both, "b6a5"));
    let near = position("herculean", &format!("{board} a4 0 1"));
    assert!(allows(&near, "b5a4") && !allows(&near, "b6a5"));
}

#[test]
fn passed_squares_that_nobody_can_use_do_not_change_the_key() {
    let key = |name, board: &str, passed: &str| position(name, &format!("{board} b - {passed} 0 1")).key();
    let nobody = "6k5/12/12/12/12/12/P11/12/12/12/12/6K5";
    assert_eq!(key("herculean", nobody, "a4a5"), key("herculean", nobody, "-"));
    let only_ninjas = "6k5/12/12/12/12/12/Pn10/1n10/12/12/12/6K5";
    assert_eq!(key("herculean", only_ninjas, "a4a5"), key("herculean", only_ninjas, "-"));
    let one_of_two = "6k5/12/12/12/12/12/P11/1p10/12/12/12/6K5";
    assert_eq!(key("herculean", one_of_two, "a4a5"), key("herculean", one_of_two, "a4"));
    assert_ne!(key("herculean", one_of_two, "a4a5"), key("herculean", one_of_two, "-"));
    let pinned = "4k3/8/8/8/3Pp3/8/8/4RK2";
    assert_eq!(key("chess", pinned, "d3"), key("chess", pinned, "-"));
    let mut played = Position::start(&variant("chess"));
    play(&mut played, "e2e4");
    assert!(played.fen().contains(" e3 "));
    assert_eq!(played.key(), read(played.variant(), &played.fen().replace(" e3 ", " - ")).key());
}

#[test]
fn rights_hands_and_side_are_in_the_key() {
    let mut keys = Vec::new();
    for field in ["KQkq", "KQk", "KQq", "Qkq", "Kkq", "KQ", "kq", "K", "Q", "k", "q", "-"] {
        for side in ["w", "b"] {
            keys.push(position("chess", &format!("r3k2r/8/8/8/8/8/8/R3K2R {side} {field} - 0 1")).key());
        }
    }
    for hand in ["", "G", "g", "A", "a", "J", "j", "JJ", "JJJ", "JJJJ", "GA", "Ga", "Jj", "JJj"] {
        let fen = format!("****2****/5k4/10/10/10/10/10/10/10/10/5K4/****2****[{hand}] w - - 0 1");
        keys.push(position(REINFORCED, &fen).key());
    }
    let count = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), count);
}

#[test]
fn counters_are_not_in_the_key() {
    let board = "4k3/8/8/8/8/8/8/4K3 w - -";
    assert_eq!(position("chess", &format!("{board} 0 1")).key(), position("chess", &format!("{board} 40 60")).key());
}

/// All castlings of the side to move, in order.
fn castlings(position: &Position) -> Vec<String> {
    use fairyforge_engine::moves::MoveKind;
    let castlings = position.legal_moves().into_iter().filter(|mv| mv.kind() == MoveKind::Castling);
    let mut texts: Vec<_> = castlings.map(|mv| position.move_text(mv)).collect();
    texts.sort();
    texts
}

#[test]
fn herculean_castling_has_nine_destinations() {
    let board = |top: &str| format!("{top}/12/12/12/12/12/12/12/12/12/12/R5K4R w KQ - 0 1");
    let free = position("herculean", &board("6k5"));
    assert_eq!(castlings(&free), ["g1b1", "g1c1", "g1d1", "g1e1", "g1f1o", "g1h1o", "g1i1", "g1j1", "g1k1"]);
    let ways = [("g1j1", "R7RK2"), ("g1f1o", "5KR4R"), ("g1b1", "1KR8R"), ("g1h1o", "R5RK4")];
    for (text, rank) in ways {
        let mut castled = free.clone();
        play(&mut castled, text);
        assert!(castled.fen().contains(&format!("/{rank} b - -")), "{text}: {}", castled.fen());
    }
    // The rook may cross attacked squares, the king may not: a rook on d12 looks at d1.
    let watched = position("herculean", &board("3r2k5"));
    assert_eq!(castlings(&watched), ["g1e1", "g1f1o", "g1h1o", "g1i1", "g1j1", "g1k1"]);
    let watched = position("herculean", &board("1r4k5"));
    assert_eq!(castlings(&watched).first().map(String::as_str), Some("g1c1"));
    let in_check = position("herculean", &board("1k4r5"));
    assert_eq!(castlings(&in_check), [""; 0]);
    // Everything the rook crosses is empty too.
    let blocked = position("herculean", "6k5/12/12/12/12/12/12/12/12/12/12/RB4K3BR w KQ - 0 1");
    assert_eq!(castlings(&blocked), [""; 0]);
}

#[test]
fn castling_must_not_uncover_the_king() {
    // Once the rook has left i1, nothing is between the king and the rook on j1.
    let uncovered = position("sorcerer", "****2****/k9/10/10/10/10/10/10/10/10/5K2Rr/****2**** w K - 0 1");
    assert!(!uncovered.in_check());
    assert_eq!(castlings(&uncovered), [""; 0]);
    let covered = position("sorcerer", "****2****/k9/10/10/10/10/10/10/10/10/5K2RN/****2**** w K - 0 1");
    assert_eq!(castlings(&covered), ["f1g1o", "f1h1", "f1i1"]);
}

#[test]
fn sorcerer_castling_has_seven_destinations() {
    let free = position("sorcerer", "****2****/5k4/10/10/10/10/10/10/10/10/1R3K2R1/****2**** w KQ - 0 1");
    assert_eq!(castlings(&free), ["f1b1", "f1c1", "f1d1", "f1e1o", "f1g1o", "f1h1", "f1i1"]);
    for (text, rank) in [("f1i1", "1R5RK1"), ("f1b1", "1KR5R1"), ("f1e1o", "4KR2R1")] {
        let mut castled = free.clone();
        play(&mut castled, text);
        assert!(castled.fen().contains(&format!("/{rank}/****2**** b - -")), "{text}: {}", castled.fen());
    }
    let neighbours = position("sorcerer", "****2****/5k4/10/10/10/10/10/10/10/10/SR3K2RS/****2**** w KQ - 0 1");
    assert_eq!(castlings(&neighbours).len(), 7, "the men on a1 and j1 do not matter");
    let orthodox = position("chess", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    assert_eq!(castlings(&orthodox), ["e1c1", "e1g1"]);
}

#[test]
fn herculean_pawns_slide_to_the_centre_row() {
    let one = |rank: usize| {
        let mut ranks = ["12"; 12];
        (ranks[0], ranks[11]) = ("6k5", "6K5");
        ranks[12 - rank] = "P11";
        position("herculean", &format!("{} w - - 0 1", ranks.join("/")))
    };
    let advances = |rank| texts(&one(rank)).into_iter().filter(|text| text.starts_with('a')).collect::<Vec<_>>();
    assert_eq!(advances(3), ["a3a4", "a3a5", "a3a6"]);
    assert_eq!(advances(4), ["a4a5", "a4a6"]);
    assert_eq!(advances(6), ["a6a7"]);
    assert_eq!(advances(10), ["a10a11"]);
    let promotions = ["b", "c", "f", "l", "q", "r", "s", "w", "z"].map(|letter| format!("a11a12{letter}"));
    assert_eq!(advances(11), promotions);
}

#[test]
fn only_pawns_take_and_are_taken_en_passant() {
    let after = |rank3: &str, rank6: &str, rank5: &str, slide: &str| {
        let fen = format!("6k5/12/12/12/12/12/{rank6}/{rank5}/12/{rank3}/12/6K5 w - - 0 1");
        let mut position = position("herculean", &fen);
        play(&mut position, slide);
        position
    };
    let pawns = after("P11", "1p10", "1p10", "a3a6");
    assert!(pawns.fen().contains(" a4a5 "));
    assert!(allows(&pawns, "b5a4") && allows(&pawns, "b6a5"));
    let mut taken = pawns.clone();
    play(&mut taken, "b6a5");
    assert!(taken.fen().starts_with("6k5/12/12/12/12/12/12/pp10/12/12/12/6K5 w - - 0"), "{}", taken.fen());
    let mut late = pawns;
    play(&mut late, "g12g11 g1g2");
    assert!(!allows(&late, "b5a4"), "only on the very next move");
    let ninjas_take = after("P11", "1n10", "1n10", "a3a6");
    assert!(!allows(&ninjas_take, "b5a4") && !allows(&ninjas_take, "b6a5"));
    let ninja_taken = after("N11", "1p10", "1p10", "a3a6");
    assert!(ninja_taken.fen().contains(" b - - 0 "));
    assert!(!allows(&ninja_taken, "b5a4") && !allows(&ninja_taken, "b6a5"));
}

#[test]
fn ninja_pawns_take_sideways_in_the_enemy_half_only() {
    let on = |rank: usize, men: &str, side: &str| {
        let mut ranks = ["12"; 12];
        (ranks[0], ranks[11]) = ("6k5", "6K5");
        ranks[12 - rank] = men;
        position("herculean", &format!("{} {side} - - 0 1", ranks.join("/")))
    };
    assert!(allows(&on(7, "3Np7", "w"), "d7e7") && !allows(&on(6, "3Np7", "w"), "d6e6"));
    assert!(allows(&on(6, "3Pn7", "b"), "e6d6") && !allows(&on(7, "3Pn7", "b"), "e7d7"));
    assert!(allows(&on(3, "3N8", "w"), "d3e3") && allows(&on(3, "3N8", "w"), "d3c3"), "without taking: anywhere");
}

#[test]
fn flying_chariots_hop_over_one_or_two_adjacent_men() {
    let on_file_a = |second: &str, third: &str| {
        position("herculean", &format!("6k5/12/12/12/12/12/12/12/12/{third}/{second}/C5K5 w - - 0 1"))
    };
    let reached = |position: &Position| [2, 3, 4].map(|rank| allows(position, &format!("a1a{rank}")));
    assert_eq!(reached(&on_file_a("P11", "12")), [false, true, false]);
    assert_eq!(reached(&on_file_a("P11", "p11")), [false, true, true]);
    assert_eq!(reached(&on_file_a("P11", "P11")), [false, false, true]);
    assert_eq!(reached(&on_file_a("12", "P11")), [true, false, false]);
    assert_eq!(reached(&on_file_a("12", "12")), [true, true, true]);
}

#[test]
fn lame_sorcerer_knights_need_a_free_way() {
    let name = "herculean-sorcerer-knights-lame";
    let with =
        |rank2: &str, rank1: &str| position(name, &format!("6k5/12/12/12/12/12/12/12/12/12/{rank2}/{rank1} w - - 0 1"));
    assert!(allows(&with("12", "SP4K5"), "a1b3"), "a2 is free");
    assert!(allows(&with("P11", "S5K5"), "a1b3"), "b2 is free");
    assert!(!allows(&with("PP10", "S5K5"), "a1b3"));
    assert!(allows(&with("12", "SP4K5"), "a1d3"), "b2, c3");
    assert!(allows(&with("1P10", "S5K5"), "a1d3"), "b1, c2");
    assert!(!allows(&with("1P10", "SP4K5"), "a1d3"));
}

#[test]
fn drops_block_and_give_check() {
    // The anti-gryphon on f0 steps to e0 and goes on over d1 to c2.
    let blocked = position(REINFORCED, "****2****/5k4/10/10/10/10/10/10/10/2K7/10/****1a****[GJ] w - - 0 1");
    assert!(blocked.in_check());
    assert!(allows(&blocked, "G@e0") && allows(&blocked, "J@e0"));
    assert!(!allows(&blocked, "A@e0"), "not in hand");
    let mut checked = position(REINFORCED, "****2****/10/10/10/10/10/5k4/10/10/10/K9/****2****[Gg] w - - 0 1");
    assert!(allows(&checked, "G@f0") && !allows(&checked, "G@e1") && !allows(&checked, "G@e11"));
    play(&mut checked, "G@e0");
    assert!(checked.in_check());
    assert!(checked.fen().contains("[g] b - - 1 1"), "{}", checked.fen());
    assert!(!allows(&checked, "G@e11"), "a drop far from the way does not answer the check");
}

#[test]
fn gryphons_are_promoted_to_only_once_dropped() {
    let with = |hand: &str| {
        position(REINFORCED, &format!("****2****/10/P9/10/10/10/10/5k4/10/10/K9/****2****[{hand}] w - - 0 1"))
    };
    let gryphons = |hand| ["g", "a"].map(|letter| allows(&with(hand), &format!("a9a10{letter}")));
    assert_eq!(gryphons("GAga"), [false, false]);
    assert_eq!(gryphons("Aga"), [true, false]);
    assert_eq!(gryphons("Gga"), [false, true]);
    assert_eq!(gryphons("JJJJ"), [true, true]);
    assert!(allows(&with("GA"), "a9a10q") && !allows(&with("GA"), "a9a10j") && !allows(&with("GA"), "a9a10"));
}

/// What a white pawn on a9 may become when the second and first rank hold these men.
fn opulent_promotions(second: &str, first: &str) -> String {
    let board = position(OPULENT, &format!("10/P9/10/10/10/4k5/10/10/{second}/{first} w - - 0 1"));
    assert!(!allows(&board, "a9a10"), "promotion is mandatory");
    texts(&board).iter().filter_map(|text| text.strip_prefix("a9a10")).collect()
}

#[test]
fn opulent_pawns_become_generals_or_captured_units() {
    assert_eq!(opulent_promotions("10", "K9"), "ghnrsw");
    assert_eq!(opulent_promotions("10", "K6HHN"), "gnrsw");
    assert_eq!(opulent_promotions("10", "K5RRNN"), "ghsw");
    assert_eq!(opulent_promotions("10", "K7GG"), "ghnrsw", "a General is always there");
    assert_eq!(opulent_promotions("10", "KS8"), "ghnrw", "b1 has the colour of a10");
    assert_eq!(opulent_promotions("10", "K1S7"), "ghnrsw", "c1 has not");
    assert_eq!(opulent_promotions("10", "K7WW"), "ghnrs", "both are on the board");
    assert_eq!(opulent_promotions("9W", "K9"), "ghnrsw", "j2 has not the colour of a10");
    assert_eq!(opulent_promotions("9W", "K8W"), "ghnrs");
}

#[test]
fn bent_units_reach_twelve_and_twenty_squares() {
    for (letter, targets) in [("W", 12), ("S", 20), ("H", 20)] {
        let board = format!("9k/10/10/10/10/4{letter}5/10/10/10/K9 w - - 0 1");
        let moves = texts(&position(OPULENT, &board));
        assert_eq!(moves.iter().filter(|text| text.starts_with("e5")).count(), targets, "{letter}");
    }
}

fn outcome(name: &str, fen: &str) -> Option<Outcome> {
    Game::new(position(name, fen)).outcome()
}

fn ended(winner: Option<Colour>, reason: Reason) -> Option<Outcome> {
    Some(Outcome { winner, reason })
}

#[test]
fn stalemate_ends_as_the_variant_says() {
    let opulent = "k9/7R2/10/10/10/10/10/10/10/KR8 b - - 0 1";
    assert_eq!(outcome(OPULENT, opulent), ended(Some(Colour::White), Reason::Stalemate));
    let by_bare_king = "10/10/10/10/10/10/10/10/p9/k1K7 b - - 0 1";
    assert_eq!(outcome(OPULENT, by_bare_king), ended(None, Reason::Stalemate));
    assert_eq!(outcome("chess", "k7/8/1Q6/8/8/8/8/7K b - - 0 1"), ended(None, Reason::Stalemate));
    let shatranj = "k6p/5R1N/8/8/8/8/8/1R5K b - - 0 1";
    assert_eq!(outcome("shatranj", shatranj), ended(Some(Colour::White), Reason::Stalemate));
    let herculean = "k11/2Q9/12/12/12/12/12/12/12/12/12/6K5 b - - 0 1";
    assert_eq!(outcome("herculean", herculean), ended(None, Reason::Stalemate));
}

#[test]
fn checkmate_wins_and_goes_before_the_move_count() {
    let mated = "R5k1/5ppp/8/8/8/8/8/6K1 b - - 100 80";
    assert_eq!(outcome("chess", mated), ended(Some(Colour::White), Reason::Checkmate));
    assert_eq!(outcome("chess", "6k1/5ppp/8/8/8/8/8/R5K1 b - - 100 80"), ended(None, Reason::MoveCount));
    assert_eq!(outcome("chess", "6k1/5ppp/8/8/8/8/8/R5K1 b - - 99 80"), None);
    let mut game = Game::new(position("herculean", "6k5/12/12/12/12/12/12/12/12/12/12/R5K5 w - - 99 80"));
    game.play(game.position().parse_move("a1a2").unwrap());
    assert_eq!(game.outcome(), ended(None, Reason::MoveCount));
    assert_eq!(outcome("shatranj", "3k4/r7/8/8/8/8/7R/4K3 w - - 139 80"), None);
    assert_eq!(outcome("shatranj", "3k4/r7/8/8/8/8/7R/4K3 w - - 140 80"), ended(None, Reason::MoveCount));
}

#[test]
fn bare_kings_end_as_the_variant_says() {
    assert_eq!(outcome(OPULENT, "9k/10/10/10/10/10/10/10/10/K9 w - - 0 1"), ended(None, Reason::BareKing));
    assert_eq!(outcome("chess", "7k/8/8/8/8/8/8/K7 b - - 0 1"), ended(None, Reason::BareKing));
    assert_eq!(outcome("chess", "7k/8/8/8/8/8/8/KN6 b - - 0 1"), None);
    assert_eq!(outcome(OPULENT, "9k/10/10/10/10/10/10/10/10/KG8 b - - 0 1"), None, "a claim, not an end");
    assert_eq!(outcome("herculean", "6k5/12/12/12/12/12/12/12/12/12/12/6K5 w - - 0 1"), None);
    // Hands count: a king with a man to drop is not alone.
    assert_eq!(outcome(REINFORCED, "****2****/5k4/10/10/10/10/10/10/10/10/5K4/****2****[G] w - - 0 1"), None);
}

#[test]
fn a_bared_king_loses_unless_it_bares_back() {
    let white_wins = ended(Some(Colour::White), Reason::BareKing);
    assert_eq!(outcome("shatranj", "8/8/8/3k4/8/8/8/RR5K b - - 0 1"), white_wins);
    assert_eq!(outcome("shatranj", "8/8/8/3k4/8/8/8/R6K w - - 0 1"), white_wins);
    let chance = position("shatranj", "8/8/8/3k4/4R3/8/8/7K b - - 0 1");
    assert_eq!(Game::new(chance.clone()).outcome(), None);
    let after = |text: &str| {
        let mut game = Game::new(chance.clone());
        game.play(game.position().parse_move(text).unwrap());
        game.outcome()
    };
    assert_eq!(after("d5e4"), ended(None, Reason::BareKing));
    assert_eq!(after("d5c5"), white_wins);
    // Baring the king by a capture, from the side that does it.
    let mut game = Game::new(position("shatranj", "8/8/3k4/8/4r3/8/8/R3R2K w - - 0 1"));
    game.play(game.position().parse_move("e1e4").unwrap());
    assert_eq!(game.outcome(), white_wins);
    assert!(game.position().legal_moves().is_empty());
}

#[test]
fn the_third_occurrence_is_a_draw() {
    let mut game = Game::new(Position::start(&variant("chess")));
    for round in 0..2 {
        assert_eq!(game.outcome(), None);
        for text in ["g1f3", "g8f6", "f3g1", "f6g8"] {
            assert_eq!(game.outcome(), None, "round {round} before {text}");
            game.play(game.position().parse_move(text).unwrap());
        }
    }
    assert_eq!(game.outcome(), ended(None, Reason::Repetition));
}

/// The first time, castling or an en-passant capture is still possible: another position.
#[test]
fn a_position_with_other_rights_is_another() {
    let mut game = Game::new(position("chess", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"));
    for text in ["h1h2", "e8e7", "h2h1", "e7e8"].repeat(2) {
        game.play(game.position().parse_move(text).unwrap());
    }
    assert_eq!(game.outcome(), None, "twice without the right, once with it");
    for text in ["h1h2", "e8e7"] {
        game.play(game.position().parse_move(text).unwrap());
    }
    assert_eq!(game.outcome(), ended(None, Reason::Repetition));
}

/// Thirty-two unit types on a board of 16×16: more types than the alphabet has letters.
#[test]
fn a_game_may_have_thirty_two_unit_types() {
    let letters: Vec<char> = ('A'..='Z').chain("ÄÖÜÆØÞ".chars()).collect();
    let pieces: String = letters
        .iter()
        .enumerate()
        .map(|(index, letter)| {
            let (name, moves) = match letter {
                'K' => ("king".into(), "K"),
                'P' => ("pawn".into(), "fmWfcF"),
                _ => (format!("piece_{index}"), ["N", "R", "B", "WD"][index % 4]),
            };
            format!("[pieces.{name}]\nletter = \"{letter}\"\nmoves = \"{moves}\"\n")
        })
        .collect();
    let row = |letters: &[char]| letters.iter().map(char::to_string).collect::<Vec<_>>().join(" ");
    let lower = |text: &str| text.to_lowercase();
    let (back, front) = (row(&letters[..16]), row(&letters[16..]));
    let empty = vec!["."; 16].join(" ");
    let middle = format!("{empty}\n").repeat(12);
    let setup = format!("{}\n{}\n{middle}{front}\n{back}", lower(&back), lower(&front));
    let promotion = "[promotion]\nwho = [\"pawn\"]\nzone = \"rank 16\"\nto = [\"piece_26\", \"piece_0\"]\n";
    let text = format!(
        "format = 1\n[variant]\nname = \"Thirty-two\"\n[board]\nsetup = \"\"\"\n{setup}\n\"\"\"\n{pieces}{promotion}"
    );
    let rules = file::parse(&text, "thirty-two.toml", "thirty-two", &|_| None).unwrap();
    let variant = Arc::new(Variant::compile(rules).unwrap());
    assert_eq!(variant.units().len(), 32);
    let start = Position::start(&variant);
    assert!(start.fen().contains('Ä') && start.fen().contains('þ'), "{}", start.fen());
    assert_eq!(Position::from_fen(&variant, &start.fen()).as_ref(), Ok(&start));
    assert_eq!(Position::unpack(&variant, &start.pack()).as_ref(), Ok(&start));
    let before = Position::from_fen(&variant, "16/P15/16/16/16/7k8/16/16/16/16/16/16/16/7K8/16/16 w - - 0 1").unwrap();
    let promotion = before.parse_move("a15a16ä").unwrap();
    assert_eq!(before.move_text(promotion), "a15a16ä");
}
