//! Rules that few games have, each on a position made for it: several kings, men that may not be taken, limits on promotion, pawns that
//! pass diagonally, boards seen by half a turn.

mod common;

use common::{allows, position, read, texts, variant, variant_from};
use fairyforge_engine::moves::perft::perft;
use fairyforge_engine::outcome::Reason;
use fairyforge_engine::position::{FenError, Position, Unobserved};
use fairyforge_engine::variant::rules::Colour;

/// Two kings for Black; a rook gives check to one of them.
const ONE_ATTACKED: &str = "4k3/8/8/8/8/8/4R3/k2K4 b - - 0 1";

#[test]
fn a_side_with_two_kings_is_in_check_only_while_both_are_attacked() {
    let one = position("spartan", ONE_ATTACKED);
    assert!(!one.in_check());
    assert!(allows(&one, "a1b1"), "the other king may move away from nothing");
    let both = position("spartan", "4k3/8/8/8/8/8/4R3/k2KR3 b - - 0 1");
    assert!(!both.in_check(), "a1 is shielded by White's own king");
    let both = position("spartan", "4k3/8/8/8/8/R7/4R3/k2K4 b - - 0 1");
    assert!(both.in_check());
    assert_eq!(texts(&both), ["a1b1", "e8d7", "e8d8", "e8f7", "e8f8"]);
}

#[test]
fn one_of_two_kings_may_be_taken_and_the_last_one_not() {
    let mut game = position("spartan", "4k3/8/8/8/8/8/4R3/k2K4 w - - 0 1");
    assert!(allows(&game, "e2e8"));
    let mv = game.parse_move("e2e8").unwrap_or_else(|error| panic!("{error}"));
    let undo = game.make(mv, &mut Unobserved);
    assert_eq!(game.royals(Colour::Black).len(), 1);
    assert_eq!(game.king(Colour::Black), game.royals(Colour::Black).first().unwrap_or_else(|| panic!("no king")));
    game.unmake(mv, &undo);
    assert_eq!(game.royals(Colour::Black).len(), 2);
    let refused = Position::from_fen(&variant("spartan"), "4k3/8/8/8/8/8/4R3/3K4 w - - 0 1");
    assert!(matches!(refused, Err(FenError::KingCapturable { .. })), "{refused:?}");
    let three = Position::from_fen(&variant("spartan"), "k1k1k3/8/8/8/8/8/8/3K4 w - - 0 1");
    assert!(matches!(three, Err(FenError::Kings { most: 2, got: 3, .. })), "{three:?}");
}

#[test]
fn a_second_king_by_promotion_ends_a_check() {
    let checked = position("spartan", "4k3/8/8/8/8/8/2h1R3/7K b - - 0 1");
    assert!(checked.in_check());
    assert!(allows(&checked, "c2b1k") && allows(&checked, "c2d1k") && !allows(&checked, "c2b1g"));
    let two = position("spartan", "k3k3/8/8/8/8/8/2h5/7K b - - 0 1");
    assert!(allows(&two, "c2b1g") && !allows(&two, "c2b1k"), "at most two kings");
}

#[test]
fn two_kings_that_are_both_attacked_without_help_are_mated() {
    let mated = position("spartan", "k1k5/8/8/8/8/8/8/RRRQ3K b - - 0 1");
    assert!(mated.in_check(), "{mated}");
    let outcome = mated.outcome(1);
    assert_eq!(outcome.map(|outcome| outcome.reason), Some(Reason::Checkmate), "{:?}", texts(&mated));
}

#[test]
fn several_royals_of_which_none_may_be_attacked() {
    let each = variant_from(
        "format = 1\ninherits = \"chess\"\ncastling = \"none\"\n[variant]\nname = \"Twins\"\n[board]\nsetup = \"\"\"\n\
         k . . . . . . k\n. . . . . . . .\n. . . . . . . .\n. . . . . . . .\n. . . . . . . .\n. . . . . . . .\n\
         . . . R . . . .\nK . . . . . . K\n\"\"\"\n[end]\nin_check_if = \"any royal is attacked\"\n",
    );
    let start = read(&each, "k6k/8/8/8/8/8/1R6/K6K b - - 0 1");
    assert!(!start.in_check());
    let checked = read(&each, "k6k/8/8/8/8/8/R7/K6K b - - 0 1");
    assert!(checked.in_check());
    assert_eq!(texts(&checked), ["a8b7", "a8b8"]);
    assert_eq!(each.most_royals(Colour::Black), 2);
}

#[test]
fn what_is_not_takeable_stays() {
    let iron = variant_from(
        "format = 1\ninherits = \"chess\"\n[variant]\nname = \"Iron\"\n[pieces]\n\
         rook = { letter = \"R\", moves = \"R\", takeable = false }\n",
    );
    let position = read(&iron, "4k3/8/8/r2b4/8/8/8/R2QK3 w - - 0 1");
    assert!(!allows(&position, "a1a5"), "a rook is not taken");
    assert!(allows(&position, "d1d5") && allows(&position, "a1a4"));
    assert!(iron.rules_hash() != variant("chess").rules_hash());
}

#[test]
fn a_pawn_that_passed_diagonally_is_taken_where_it_passed() {
    let blocked = position("berolina", "4k3/8/8/8/8/4p3/3P4/4K3 w - - 0 1");
    assert!(!allows(&blocked, "d2f4"), "e3 is occupied");
    let mut game = position("berolina", "4k3/8/8/8/4p3/8/3P4/4K3 w - - 0 1");
    common::play(&mut game, "d2f4");
    assert_eq!(game.fen(), "4k3/8/8/8/4pP2/8/8/4K3 b - e3f4 0 1");
    assert_eq!(read(game.variant(), &game.fen()), game);
    assert!(allows(&game, "e4e3"), "{:?}", texts(&game));
    common::play(&mut game, "e4e3");
    assert_eq!(game.fen(), "4k3/8/8/8/8/4p3/8/4K3 w - - 0 2");
}

#[test]
fn two_pawns_that_could_have_passed_are_told_apart_by_the_square_of_one() {
    let both = "4k3/8/8/8/3PpP2/8/8/4K3 b - e3";
    let refused = Position::from_fen(&variant("berolina"), &format!("{both} 0 1"));
    let reason = refused.expect_err("d4 or f4?").to_string();
    assert!(reason.contains("two pawns"), "{reason}");
    let named = position("berolina", &format!("{both}d4 0 1"));
    assert_eq!(named.fen(), format!("{both}d4 0 1"));
    assert_eq!(position("berolina", &format!("{both}f4 0 1")).fen(), format!("{both}f4 0 1"));
    let bytes = Position::unpack(named.variant(), &named.pack());
    assert_eq!(bytes, Ok(named));
}

#[test]
fn armies_in_opposite_corners_move_towards_each_other() {
    let legan = variant("legan");
    assert!(legan.topology().is_turned());
    let lone = read(&legan, "7k/8/8/3p4/4P3/8/8/K7 w - - 0 1");
    assert!(
        !allows(&lone, "e4d5") && !allows(&lone, "e4e5"),
        "d5 is taken, and nobody stands on e5: {:?}",
        texts(&lone)
    );
    let black = read(&legan, "7k/8/8/3p4/8/4P3/8/K7 b - - 0 1");
    assert!(allows(&black, "d5e4"), "{:?}", texts(&black));
    let promoting = read(&legan, "7k/1P6/8/8/8/8/6p1/K7 w - - 0 1");
    assert!(allows(&promoting, "b7a8q") && !allows(&promoting, "b7a8"));
    assert_eq!(perft(&mut common::colours_exchanged(&promoting), 3), perft(&mut promoting.clone(), 3));
}

#[test]
fn what_must_be_dropped_first_must_be_held() {
    use fairyforge_engine::variant::{file, library};
    let text = "format = 1\ninherits = \"chess\"\n[variant]\nname = \"x\"\n[promotion]\nafter_drop = [\"queen\"]\n";
    let inherited = |name: &str| library::shipped(name).map(Into::into);
    let fault = file::parse(text, "test.toml", "test", &inherited).expect_err("chess has no hands").to_string();
    assert!(fault.contains("promotion.after_drop: expected pieces that [drops] holds in hand, got queen"), "{fault}");
}

#[test]
fn at_most_so_many_may_be_promoted_to() {
    let capped = variant("ols10");
    let one = read(&capped, "9k/1P8/10/10/10/10/10/10/10/KR8 w - - 0 1");
    let two = read(&capped, "9k/1P8/10/10/10/10/10/10/R9/KR8 w - - 0 1");
    assert!(allows(&one, "b9b10r"));
    assert!(!allows(&two, "b9b10r") && allows(&two, "b9b10n") && allows(&two, "b9b10g"));
}
