//! One suite for every shipped game: random games from fixed seeds, in which everything kept up to date is compared with
//! the same thing computed anew, and the generator with a slow one that shares none of its tables.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::{allows, below, colours_exchanged, random_move, random_position, read, shipped, texts};
use fairyforge_engine::evaluate::{Evaluator, Tapered, Weights};
use fairyforge_engine::game::Game;
use fairyforge_engine::geometry::{Square, SquareSet};
use fairyforge_engine::moves::perft::{divide, perft};
use fairyforge_engine::moves::{Move, MoveKind, Safety, Wanted};
use fairyforge_engine::position::audit::audit;
use fairyforge_engine::position::{Piece, Position, Unobserved};
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::pattern::{Occupancy, Pattern, Turn};
use fairyforge_engine::variant::rules::{BareKing, CastlingSide, CheckRule, Colour, PromotionChoice, Unit};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::HashSet;
use std::sync::Arc;

/// Longest random game, in plies.
const PLIES: usize = 160;
/// Random games a variant.
const GAMES: u64 = 4;
/// Every so many plies the costly comparisons are made.
const SPARSELY: usize = 5;

/// Calls `visit` with every position of random games, and with its ply.
fn walk(variant: &Arc<Variant>, games: u64, plies: usize, mut visit: impl FnMut(&Position, usize)) -> usize {
    let mut visited = 0;
    for seed in 0..games {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut position = Position::start(variant);
        for ply in 0..plies {
            visit(&position, ply);
            visited += 1;
            let Some(mv) = random_move(&position, &mut random) else { break };
            position.make(mv, &mut Unobserved);
        }
    }
    visited
}

fn walk_all(games: u64, plies: usize, mut visit: impl FnMut(&Position, usize)) {
    for variant in shipped() {
        let visited = walk(&variant, games, plies, &mut visit);
        assert!(visited > 50 * games as usize, "{}: only {visited} positions", variant.name());
    }
}

#[test]
fn incremental_state_equals_recomputed() {
    walk_all(GAMES, PLIES, |position, _| {
        audit(position).unwrap_or_else(|fault| panic!("{position:?}: {fault}"));
    });
}

#[test]
fn unmaking_every_move_restores_the_position() {
    walk_all(GAMES, PLIES, |position, ply| {
        let mut tried = position.clone();
        for mv in position.legal_moves() {
            let undo = tried.make(mv, &mut Unobserved);
            assert_ne!(tried.key(), position.key(), "{position:?} {}", position.move_text(mv));
            if ply % SPARSELY == 0 {
                audit(&tried).unwrap_or_else(|fault| panic!("{tried:?}: {fault}"));
            }
            tried.unmake(mv, &undo);
            assert!(tried == *position, "{position:?} {}", position.move_text(mv));
        }
        assert_eq!(tried.fen(), position.fen());
    });
}

#[test]
fn passing_and_taking_it_back_restores_the_position() {
    walk_all(2, PLIES, |position, _| {
        if position.in_check() {
            return;
        }
        let mut passed = position.clone();
        let undo = passed.make_null();
        audit(&passed).unwrap_or_else(|fault| panic!("{passed:?}: {fault}"));
        assert_eq!(passed.side_to_move(), position.side_to_move().opponent());
        assert_eq!(passed.en_passant(), None);
        assert_eq!(read(passed.variant(), &passed.fen()), passed);
        passed.unmake_null(&undo);
        assert_eq!(passed, *position);
        assert_eq!(passed.fen(), position.fen());
    });
}

#[test]
fn text_and_bytes_give_the_position_back() {
    walk_all(GAMES, PLIES, |position, _| {
        assert_eq!(read(position.variant(), &position.fen()), *position);
        let unpacked = Position::unpack(position.variant(), &position.pack()).unwrap();
        assert_eq!(unpacked, *position);
        assert_eq!(unpacked.key(), position.key());
    });
}

#[test]
fn move_texts_are_unique_and_parse_back() {
    walk_all(3, PLIES, |position, ply| {
        let mut seen = HashSet::new();
        for mv in position.legal_moves() {
            let text = position.move_text(mv);
            if ply % SPARSELY == 0 {
                assert_eq!(position.parse_move(&text), Ok(mv), "{position:?} {text}");
            }
            assert_eq!(Move::from_bits(mv.to_bits()), mv);
            assert!(seen.insert(text.clone()), "{position:?}: {text} twice");
        }
    });
}

#[test]
fn noisy_and_quiet_moves_partition_all() {
    let generated = |position: &Position, wanted| {
        let mut moves = Vec::new();
        position.generate(&Safety::of(position), wanted, |mv| moves.push(mv));
        moves
    };
    walk_all(GAMES, PLIES, |position, _| {
        let (noisy, quiet) = (generated(position, Wanted::Noisy), generated(position, Wanted::Quiet));
        let changes_material = |mv: &Move| match mv.kind() {
            MoveKind::EnPassant | MoveKind::Promotion(_) => true,
            MoveKind::Castling | MoveKind::Drop(_) => false,
            MoveKind::Normal => !position.piece_at(mv.to()).is_none(),
        };
        assert!(noisy.iter().all(changes_material), "{position:?}");
        assert!(!quiet.iter().any(changes_material), "{position:?}");
        let mut all = position.legal_moves();
        let mut both = [noisy, quiet].concat();
        all.sort();
        both.sort();
        assert_eq!(all, both, "{position:?}");
        assert_eq!(position.has_legal_move(), !all.is_empty());
    });
}

#[test]
fn counters_rights_and_hands_are_kept_as_the_rules_say() {
    walk_all(2, PLIES, |position, _| {
        let variant = position.variant();
        for mv in position.legal_moves() {
            let side = position.side_to_move();
            let mut after = position.clone();
            let mover = match mv.kind() {
                MoveKind::Drop(unit) => unit,
                _ => position.piece_at(mv.from()).unit(),
            };
            let undo = after.make(mv, &mut Unobserved);
            let shown = || format!("{position:?} {}", position.move_text(mv));
            let resets = undo.captured().is_some() || variant.unit(mover).resets_move_count;
            let clock = if resets { 0 } else { position.plies_without_progress() + 1 };
            assert_eq!(after.plies_without_progress(), clock, "{}", shown());
            assert_eq!(after.full_moves(), position.full_moves() + side.index() as u32, "{}", shown());
            assert_eq!(after.castling_rights() & !position.castling_rights(), 0, "{}", shown());
            for wing in variant.castling() {
                let touched = [mv.from(), mv.to()].iter().any(|&square| square == wing.king || square == wing.partner);
                let kept = after.castling_rights() & wing.right != 0;
                assert_eq!(kept, position.castling_rights() & wing.right != 0 && !touched, "{}", shown());
            }
            let rows = mv.from().row().abs_diff(mv.to().row());
            let strides = variant.unit(mover).taken_en_passant && rows > 1 && mv.kind() == MoveKind::Normal;
            let passed = after.en_passant().map_or(0, |passed| passed.passed.len());
            assert_eq!(passed, if strides { u32::from(rows) - 1 } else { 0 }, "{}", shown());
            assert!(after.en_passant().is_none_or(|passed| passed.pawn == mv.to()));
            let dropped = matches!(mv.kind(), MoveKind::Drop(_));
            for unit in variant.units() {
                let gone = u8::from(dropped && unit == mover);
                assert_eq!(after.in_hand(unit, side) + gone, position.in_hand(unit, side), "{}", shown());
                assert_eq!(after.in_hand(unit, side.opponent()), position.in_hand(unit, side.opponent()));
            }
        }
    });
}

#[test]
fn followed_evaluation_equals_a_fresh_one() {
    for variant in shipped() {
        let evaluator = Tapered::new(&variant, &Weights::a_priori(&variant));
        walk(&variant, 3, PLIES, |position, _| {
            let mut line = evaluator.line(position, 2);
            let mut after = position.clone();
            for mv in position.legal_moves() {
                let undo = after.make(mv, &mut evaluator.follow(&mut line, 0));
                assert_eq!(line[1], evaluator.fresh(&after), "{position:?} {}", position.move_text(mv));
                after.unmake(mv, &undo);
            }
        });
    }
}

#[test]
fn exchanging_the_colours_changes_nothing() {
    for variant in shipped().into_iter().filter(|variant| variant.armies_are_alike()) {
        let evaluator = Tapered::new(&variant, &Weights::a_priori(&variant));
        let value = |position: &Position| evaluator.value_of(position);
        walk(&variant, 3, PLIES, |position, ply| {
            let exchanged = colours_exchanged(position);
            assert_eq!(colours_exchanged(&exchanged), *position);
            assert_eq!(exchanged.legal_moves().len(), position.legal_moves().len(), "{position:?}");
            assert_eq!(value(&exchanged), value(position), "{position:?}");
            assert_eq!(exchanged.in_check(), position.in_check(), "{position:?}");
            if ply % 16 == 0 {
                assert_eq!(perft(&mut exchanged.clone(), 2), perft(&mut position.clone(), 2), "{position:?}");
            }
        });
    }
}

#[test]
fn divided_perft_sums_to_perft() {
    for variant in shipped() {
        let mut position = random_position(&variant, 20, &mut ChaCha8Rng::seed_from_u64(7));
        let leaves: u64 = divide(&mut position, 2).iter().map(|(_, leaves)| leaves).sum();
        assert_eq!(leaves, perft(&mut position, 2));
        assert_eq!(perft(&mut position, 0), 1);
    }
}

#[test]
fn games_end_when_the_rules_say_so() {
    for variant in shipped() {
        for seed in 0..3 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut game = Game::new(Position::start(&variant));
            while game.outcome().is_none() && game.moves().len() < 400 {
                let mv = random_move(game.position(), &mut random).expect("a game without outcome goes on");
                game.play(mv);
            }
            assert_eq!(game.earlier().len(), game.moves().len());
            let mut replayed = Game::new(game.start().clone());
            game.moves().iter().for_each(|&mv| replayed.play(mv));
            assert_eq!(replayed.position(), game.position());
            assert_eq!(replayed.outcome(), game.outcome());
        }
    }
}

#[test]
fn generated_moves_are_those_of_a_slow_generator() {
    compare_generators(2, 4);
}

#[test]
#[ignore = "half a minute: every position of more games"]
fn all_generated_moves_are_those_of_a_slow_generator() {
    compare_generators(4, 1);
}

/// In every `every`-th position of random games.
fn compare_generators(games: u64, every: usize) {
    let mut compared = 0;
    walk_all(games, PLIES, |position, ply| {
        if ply % every != 0 {
            return;
        }
        assert_eq!(texts(position), slow_moves(position), "{position:?}");
        let board = Board::of(position);
        assert_eq!(position.in_check(), board.in_check(position.side_to_move()), "{position:?}");
        compared += 1;
    });
    assert!(compared > 3_000, "{compared}");
}

/// Few men on a wide board: long slides, checks and pins from far away, promotions.
#[test]
fn generated_moves_are_those_of_a_slow_generator_with_few_men() {
    compare_generators_with_few_men(60);
}

#[test]
#[ignore = "half a minute: more positions"]
fn all_generated_moves_are_those_of_a_slow_generator_with_few_men() {
    compare_generators_with_few_men(400);
}

fn compare_generators_with_few_men(starts: usize) {
    for variant in shipped() {
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let mut compared = 0;
        for _ in 0..starts {
            let men = 4 + below(&mut random, 20);
            let Some(mut position) = scattered(&variant, men, &mut random) else { continue };
            for _ in 0..6 {
                assert_eq!(texts(&position), slow_moves(&position), "{position:?}");
                compared += 1;
                let Some(mv) = random_move(&position, &mut random) else { break };
                position.make(mv, &mut Unobserved);
            }
        }
        assert!(compared > starts / 2, "{}: only {compared} positions", variant.name());
    }
}

/// Pieces of every kind that the notation knows and no shipped game has: bent sliders, hook movers, jumpers, hoppers with
/// bends, moves to either hand.
const MENAGERIE: &str = r#"
format = 1
[variant]
name = "Menagerie"
[board]
setup = """
f g m h k j z s n a
q p p p p p p p p l
. . . . . . . . . .
. . . . . . . . . .
. . . . . . . . . .
. . . . . . . . . .
. . . . . . . . . .
. . . . . . . . . .
Q P P P P P P P P L
F G M H K J Z S N A
"""
[pieces]
falcon  = { letter = "F", moves = "afafsKafsafzfK" }
gryphon = { letter = "G", moves = "[F?R]" }
manticore = { letter = "M", moves = "WyafsW" }
hook    = { letter = "H", moves = "asR" }
king    = { letter = "K", moves = "K" }
jumper  = { letter = "J", moves = "jDjAjN" }
zebra   = { letter = "Z", moves = "nZhrCjB4" }
stealth = { letter = "S", moves = "[F-R2+]m[fW?frB]" }
bent_cannon = { letter = "N", moves = "mRpascRmBpafgB" }
oblique = { letter = "A", moves = "pafNNmpafN[N-B]vF" }
circular = { letter = "Q", moves = "afsafqafqW" }
leaper  = { letter = "L", moves = "mgafWpafmpafF" }
pawn    = { letter = "P", moves = "fmW*fcF", en_passant = "takes and taken" }
[promotion]
who  = ["pawn"]
zone = "rank 10"
to   = ["gryphon", "hook"]
"#;

#[test]
fn generated_moves_of_odd_pieces_are_those_of_a_slow_generator() {
    let menagerie = common::variant_from(MENAGERIE);
    let compare = |position: &Position| {
        assert_eq!(texts(position), slow_moves(position), "{position:?}");
        assert_eq!(position.in_check(), Board::of(position).in_check(position.side_to_move()), "{position:?}");
    };
    let compared = walk(&menagerie, 8, PLIES, |position, _| compare(position));
    assert!(compared > 400, "{compared}");
    let mut random = ChaCha8Rng::seed_from_u64(12);
    let few: Vec<Position> =
        (0..300).filter_map(|_| scattered(&menagerie, 4 + below(&mut random, 30), &mut random)).collect();
    assert!(few.len() > 30, "{}", few.len());
    few.iter().for_each(compare);
}

/// A number of empty squares as FEN writes it; nothing for none.
fn number(empty: u8) -> String {
    if empty == 0 { String::new() } else { empty.to_string() }
}

/// Kings and random men anywhere; `None` if that is no legal position.
fn scattered(variant: &Arc<Variant>, men: usize, random: &mut ChaCha8Rng) -> Option<Position> {
    let topology = variant.topology();
    let mut squares: Vec<Square> = topology.squares().iter().collect();
    let mut letters = vec!['K', 'k'];
    for _ in 2..men {
        let unit = Unit(below(random, variant.units().len()) as u8);
        let colour = Colour::BOTH[below(random, 2)];
        if unit != variant.royal() {
            letters.push(Piece::new(unit, colour).letter(variant));
        }
    }
    let mut board = std::collections::HashMap::new();
    for letter in letters {
        board.insert(squares.swap_remove(below(random, squares.len())), letter);
    }
    let rank = |row: u8| {
        let mut text = String::new();
        let mut empty = 0;
        for square in (0..topology.width()).filter_map(|file| Square::at(file, row)) {
            let letter = if topology.has(square) { board.get(&square).copied() } else { Some('*') };
            match letter {
                Some(letter) => {
                    text.push_str(&number(std::mem::take(&mut empty)));
                    text.push(letter);
                }
                None => empty += 1,
            }
        }
        text + &number(empty)
    };
    let board = (0..topology.height()).rev().map(rank).collect::<Vec<_>>().join("/");
    let hands = if variant.rules().drops.is_some() { "[AJJgaj]" } else { "" };
    let side = ["w", "b"][below(random, 2)];
    Position::from_fen(variant, &format!("{board}{hands} {side} - - 0 1")).ok()
}

/// Packed chess positions with one byte changed from the end: what a FEN could not say must not be unpacked either.
#[test]
fn bytes_that_contradict_themselves_are_refused() {
    let packed = |fen: &str| common::position("chess", fen).pack();
    let changes = [
        ("rights without a rook at home", packed("4k3/8/8/8/8/8/8/4K3 w - - 0 1"), 5, 1 << 1),
        ("a pawn that does not stand there", packed("4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1"), 8, 3),
        ("a passed square that is occupied", packed("4k3/8/8/8/4P3/4p3/8/4K3 b - - 0 1"), 5, 1 | 1 << 5),
        ("a half-move clock out of range", packed("4k3/8/8/8/8/8/8/4K3 w - - 0 1"), 3, 255),
        ("move number 0", packed("4k3/8/8/8/8/8/8/4K3 w - - 0 1"), 2, 0),
        ("flags that mean nothing", packed("4k3/8/8/8/8/8/8/4K3 w - - 0 1"), 5, 1 << 7),
    ];
    let variant = common::variant("chess");
    let mut accepted = Vec::new();
    for (what, mut bytes, from_end, byte) in changes {
        let at = bytes.len() - from_end;
        bytes[at] = byte;
        if byte == 1 | 1 << 5 {
            bytes.splice(at + 1..=at, [4, 3, 1, 2]);
        }
        if let Ok(position) = Position::unpack(&variant, &bytes) {
            accepted.push(format!("{what}: {position:?}"));
        }
    }
    assert!(accepted.is_empty(), "{}", accepted.join("\n"));
}

proptest! {
    #![proptest_config(common::cases(3000))]

    /// Damaged bytes are refused, or are those of a position that a FEN can name too.
    #[test]
    fn damaged_bytes_give_no_impossible_position(
        which in 0..Variant::shipped_names().len(), seed in 0..20_u64, plies in 0..60_usize,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let variant = common::variant(Variant::shipped_names().nth(which).unwrap());
        let mut bytes = random_position(&variant, plies, &mut ChaCha8Rng::seed_from_u64(seed)).pack();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(position) = Position::unpack(&variant, &bytes) {
            let read = Position::from_fen(&variant, &position.fen());
            prop_assert_eq!(read.as_ref(), Ok(&position));
            for mv in position.legal_moves() {
                let mut after = position.clone();
                after.make(mv, &mut Unobserved);
            }
        }
    }
}

/// Texts of the legal moves by the slow generator, sorted: the rules once more, walked pattern by pattern on a plain
/// board, every move tried and the king looked for.
fn slow_moves(position: &Position) -> Vec<String> {
    if lost_by_bared_king(position) {
        return Vec::new();
    }
    let board = Board::of(position);
    let (variant, side) = (position.variant(), position.side_to_move());
    let name = |square| variant.topology().name(square);
    let mut found = HashSet::new();
    for from in board.men(side) {
        let unit = board.at(from).unit();
        for (to, moves, captures) in board.targets(from) {
            let taken = board.at(to);
            let takeable = |piece: Piece| piece.colour() != side && !variant.unit(piece.unit()).untakeable;
            if if taken.is_none() { moves } else { captures && takeable(taken) } {
                let arriving = slow_promotions(position, &board, from, to, unit).into_iter();
                let safe = arriving.filter(|&becomes| {
                    let arrives = Piece::new(becomes.unwrap_or(unit), side);
                    board.after(&[from], &[(to, arrives)]).is_safe(side)
                });
                let letter = |unit| variant.unit(unit).letter.to_ascii_lowercase().to_string();
                found.extend(
                    safe.map(|becomes| {
                        format!("{}{}{}", name(from), name(to), becomes.map(letter).unwrap_or_default())
                    }),
                );
            }
            let passed = position.en_passant().filter(|passed| passed.passed.contains(to));
            if let Some(passed) = passed.filter(|_| captures && variant.unit(unit).takes_en_passant)
                && board.after(&[from, passed.pawn], &[(to, board.at(from))]).is_safe(side)
            {
                found.insert(format!("{}{}", name(from), name(to)));
            }
        }
    }
    found.extend(slow_castlings(position, &board));
    found.extend(slow_drops(position, &board));
    let mut texts: Vec<_> = found.into_iter().collect();
    texts.sort();
    texts
}

/// Where that is a rule, a lone king has lost, unless it may take the opponent's last man now.
fn lost_by_bared_king(position: &Position) -> bool {
    let own = position.men(position.side_to_move()).len();
    let theirs = position.men(position.side_to_move().opponent()).len();
    let may_bare_back = match position.variant().rules().end.bare_king {
        BareKing::PlaysOn => return false,
        BareKing::Loses => false,
        BareKing::LosesUnlessBaringBack => theirs <= 2,
    };
    own > 1 && theirs == 1 || own == 1 && theirs > 1 && !may_bare_back
}

/// What a unit may become where it arrives; `None` is to stay what it is.
fn slow_promotions(position: &Position, board: &Board, from: Square, to: Square, unit: Unit) -> Vec<Option<Unit>> {
    let (variant, side) = (position.variant(), position.side_to_move());
    let seen = board.seen(side, to);
    let rule = variant.rules().promotion.iter().find(|rule| rule.who.contains(&unit) && rule.zone.contains(seen));
    let Some(rule) = rule else { return vec![None] };
    let own =
        |unit| board.men(side).into_iter().filter(move |&square| square != from && board.at(square).unit() == unit);
    let in_array = |unit| variant.rules().array.iter().filter(|man| man.1 == unit && man.2 == side).count();
    let same_colour = |a: Square, b: Square| (a.file() + a.row()) % 2 == (b.file() + b.row()) % 2;
    let allowed = |choice: &&PromotionChoice| {
        let in_hand = variant.rules().drops.iter().flat_map(|drops| &drops.hand).find(|held| held.0 == choice.unit);
        let none_is_missing = own(choice.unit).count() >= in_array(choice.unit);
        let colour_is_taken = own(choice.unit).any(|square| same_colour(square, to));
        let still_held = in_hand.is_some_and(|held| position.in_hand(choice.unit, side) == held.1);
        let all = board.men(side).into_iter().filter(|&square| board.at(square).unit() == choice.unit).count();
        let forbidden = [
            choice.at_most.is_some_and(|most| all >= usize::from(most)),
            choice.only_captured && none_is_missing,
            choice.one_per_colour && colour_is_taken,
            choice.after_drop && still_held,
        ];
        forbidden == [false; 4]
    };
    let chosen = rule.to.iter().filter(allowed).map(|choice| Some(choice.unit));
    chosen.chain((!rule.must).then_some(None)).collect()
}

fn slow_castlings(position: &Position, board: &Board) -> Vec<String> {
    let (variant, side) = (position.variant(), position.side_to_move());
    let Some(rules) = variant.rules().castling.as_ref().filter(|_| !board.in_check(side)) else { return Vec::new() };
    let field = position.fen().split(' ').nth(2).unwrap().to_owned();
    let wings = [("Kk", &rules.higher, 1), ("Qq", &rules.lower, -1)];
    let mut found = Vec::new();
    for (letters, wing, toward) in wings {
        let letter = letters.chars().nth(side.index()).unwrap();
        let Some(wing) = wing.as_ref().filter(|_| field.contains(letter)) else { continue };
        for &steps in &wing.steps {
            if let Some(to) = slow_castling(board, side, wing, rules.partner, steps as i8 * toward) {
                let mark = if steps == 1 { "o" } else { "" };
                let name = |square| variant.topology().name(square);
                found.push(format!("{}{}{mark}", name(board.seen(side, wing.king)), name(to)));
            }
        }
    }
    found
}

/// Where the king lands if it may go so many files.
fn slow_castling(board: &Board, side: Colour, wing: &CastlingSide, partner: Unit, files: i8) -> Option<Square> {
    let (king, rook) = (board.seen(side, wing.king), board.seen(side, wing.partner));
    let on_file = |file: i8| Square::at(file as u8, king.row()).unwrap();
    let toward = files.signum();
    let (from, home) = (king.file() as i8, rook.file() as i8);
    let (to, rook_to) = (on_file(from + files), on_file(from + files - toward));
    let span = |a: i8, b: i8| (a.min(b)..=a.max(b)).map(on_file);
    let mut ways = span(from, from + files).chain(span(home, rook_to.file() as i8));
    if !ways.all(|square| square == king || square == rook || board.at(square).is_none()) {
        return None;
    }
    let man = |unit| Piece::new(unit, side);
    let royal = board.variant.royal();
    let crosses_safely = (1..files.abs()).all(|step| {
        let crossed = on_file(from + step * toward);
        crossed == rook || board.after(&[king], &[(crossed, man(royal))]).is_safe(side)
    });
    let landed = board.after(&[king, rook], &[(to, man(royal)), (rook_to, man(partner))]);
    (crosses_safely && landed.is_safe(side)).then_some(to)
}

fn slow_drops(position: &Position, board: &Board) -> Vec<String> {
    let (variant, side) = (position.variant(), position.side_to_move());
    let mut found = Vec::new();
    let Some(drops) = &variant.rules().drops else { return found };
    for &(unit, _) in drops.hand.iter().filter(|held| position.in_hand(held.0, side) > 0) {
        for to in drops.zone.iter().map(|square| board.seen(side, square)).filter(|&to| board.at(to).is_none()) {
            if board.after(&[], &[(to, Piece::new(unit, side))]).is_safe(side) {
                found.push(format!("{}@{}", variant.unit(unit).letter, variant.topology().name(to)));
            }
        }
    }
    found
}

/// Men on squares, and nothing else.
#[derive(Clone)]
struct Board<'a> {
    variant: &'a Variant,
    men: Vec<Piece>,
}

/// A walk along a pattern.
struct Walk<'a> {
    side: Colour,
    origin: Square,
    pattern: &'a Pattern,
    reached: Vec<Square>,
}

impl<'a> Board<'a> {
    fn of(position: &'a Position) -> Self {
        let men = (0..=u8::MAX).map(|index| position.piece_at(Square::from_index(index))).collect();
        Self { variant: position.variant(), men }
    }

    fn at(&self, square: Square) -> Piece {
        self.men[square.index()]
    }

    fn men(&self, side: Colour) -> Vec<Square> {
        let squares = self.variant.topology().squares().iter();
        squares.filter(|&square| !self.at(square).is_none() && self.at(square).colour() == side).collect()
    }

    /// The board with squares emptied, then filled.
    fn after(&self, emptied: &[Square], filled: &[(Square, Piece)]) -> Self {
        let mut after = self.clone();
        emptied.iter().for_each(|square| after.men[square.index()] = Piece::NONE);
        filled.iter().for_each(|&(square, piece)| after.men[square.index()] = piece);
        after
    }

    /// A square in the view of the side: Black sees the board upside down, or turned.
    fn seen(&self, side: Colour, square: Square) -> Square {
        let rows = self.variant.topology().height();
        let (row, topology) = (square.row(), self.variant.topology());
        match (side, topology.is_turned()) {
            (Colour::White, _) => square,
            (Colour::Black, false) => Square::at(square.file(), rows - 1 - row).unwrap(),
            (Colour::Black, true) => Square::at(topology.width() - 1 - square.file(), rows - 1 - row).unwrap(),
        }
    }

    fn is_safe(&self, side: Colour) -> bool {
        !self.in_check(side)
    }

    fn in_check(&self, side: Colour) -> bool {
        let kings = self.men(side).into_iter().filter(|&square| self.at(square).unit() == self.variant.royal());
        let attackers = self.men(side.opponent());
        let attacked = |king: Square| {
            attackers.iter().any(|&from| self.targets(from).iter().any(|&(to, _, captures)| captures && to == king))
        };
        let attacked: Vec<bool> = kings.map(attacked).collect();
        match self.variant.rules().end.check {
            CheckRule::AnyRoyal => attacked.contains(&true),
            CheckRule::EveryRoyal => !attacked.contains(&false),
        }
    }

    /// Squares the patterns lead to, with what may be done there. Who stands there is not looked at.
    fn targets(&self, from: Square) -> Vec<(Square, bool, bool)> {
        let man = self.at(from);
        let (side, unit) = (man.colour(), man.unit());
        let zone = |zone: &Option<SquareSet>, square| zone.is_none_or(|zone| zone.contains(self.seen(side, square)));
        let array = &self.variant.rules().array;
        let of_other = || array.contains(&(self.seen(Colour::Black, from), unit, side.opponent()));
        let has_none = || !array.iter().any(|man| man.1 == unit && man.2 == side);
        let home = || array.contains(&(from, unit, side)) || has_none() && of_other();
        let mut targets = Vec::new();
        for pattern in &self.variant.unit(unit).patterns {
            if zone(&pattern.from, from) && (!pattern.initial || home()) {
                let mut walk = Walk { side, origin: from, pattern, reached: Vec::new() };
                self.leg(&mut walk, 0, from, None);
                let reached = walk.reached.into_iter().filter(|&to| to != from && zone(&pattern.to, to));
                targets.extend(reached.map(|to| (to, pattern.moves, pattern.captures)));
            }
        }
        targets
    }

    fn leg(&self, walk: &mut Walk, index: usize, from: Square, before: Option<(i8, i8)>) {
        let leg = &walk.pattern.legs[index];
        let last = index + 1 == walk.pattern.legs.len();
        for step in leg.steps.iter().filter(|step| before.is_none_or(|before| turns(&leg.turn, before, step.vector))) {
            let mut at = from;
            for taken in 1..=leg.max {
                let clear =
                    |&stop| self.step(walk.side, at, stop).is_some_and(|stop| self.suits(walk, stop, Occupancy::Empty));
                let Some(next) = self.step(walk.side, at, step.vector).filter(|_| step.stops.iter().all(clear)) else {
                    break;
                };
                at = next;
                if taken >= leg.min && last {
                    walk.reached.push(at);
                } else if taken >= leg.min && self.suits(walk, at, leg.joint) {
                    self.leg(walk, index + 1, at, Some(step.vector));
                }
                if !self.suits(walk, at, leg.through) {
                    break;
                }
            }
        }
    }

    fn step(&self, side: Colour, from: Square, (files, rows): (i8, i8)) -> Option<Square> {
        let turned = self.variant.topology().is_turned();
        let rows = if side == Colour::White { rows } else { -rows };
        let files = if side == Colour::Black && turned { -files } else { files };
        let to = Square::at((from.file() as i8 + files) as u8, (from.row() as i8 + rows) as u8)?;
        self.variant.topology().has(to).then_some(to)
    }

    /// The man under way has left its square.
    fn suits(&self, walk: &Walk, square: Square, asked: Occupancy) -> bool {
        let empty = square == walk.origin || self.at(square).is_none();
        match asked {
            Occupancy::Any => true,
            Occupancy::Empty => empty,
            Occupancy::Occupied => !empty,
        }
    }
}

/// Whether a step may follow another, by their angle in degrees clockwise.
fn turns(turn: &Turn, before: (i8, i8), after: (i8, i8)) -> bool {
    let bearing = |(files, rows): (i8, i8)| f64::from(files).atan2(f64::from(rows)).to_degrees();
    let angle = (bearing(after) - bearing(before)).rem_euclid(360.0);
    let near = |eighth: f64| (angle - 45.0 * eighth).abs() < 1e-9 || (angle - 45.0 * eighth - 360.0).abs() < 1e-9;
    match turn {
        Turn::Any => true,
        Turn::Outward => angle.min(360.0 - angle) < 45.0 + 1e-9,
        Turn::Eighths(eighths) => eighths.iter().any(|&eighth| near(f64::from(eighth))),
    }
}

/// The slow generator itself is checked on positions whose moves are counted by hand.
#[test]
fn the_slow_generator_knows_the_rules() {
    let chess = common::position("chess", "4k3/8/8/8/8/8/8/4K2R w K - 0 1");
    assert_eq!(slow_moves(&chess).len(), 4 + 1 + 9 + 1);
    assert!(slow_moves(&chess).contains(&"e1g1".to_owned()) && allows(&chess, "e1g1"));
}
