//! Mobility against figures computed elsewhere, a priori values, and the weights file.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::{shipped, variant, variant_from};
use fairyforge_engine::evaluate::{MeasuredValue, Tapered, Weights, WeightsError};
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::Unit;
use proptest::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

#[derive(Deserialize)]
struct Figure {
    board: String,
    p_empty: f64,
    piece: String,
    crowded_mobility: f64,
}

static FIGURES: LazyLock<Vec<Figure>> =
    LazyLock::new(|| serde_json::from_str(include_str!("data/crowded_mobility.json")).unwrap());

/// What the figures call a piece, and its moves in a variant file. Where several are given, the figures add them up and count
/// a square twice that a slide and a leap both reach.
const PIECES: [(&str, &[&str]); 31] = [
    ("Aanca/Manticore (W then B outward)", &["moves = \"W\", outward = [[\"W\", \"B\"]]"]),
    ("Alfil A", &["moves = \"A\""]),
    ("Amazon QN", &["moves = \"QN\""]),
    ("Archbishop BN", &["moves = \"BN\""]),
    ("Bent Hero (W,D inclusive, any direction)", &["moves = \"WD\", then = [[\"W\", \"D\"], [\"D\", \"W\"]]"]),
    ("Bent Shaman (F,A inclusive, any direction)", &["moves = \"FA\", then = [[\"F\", \"A\"], [\"A\", \"F\"]]"]),
    ("Bishop B", &["moves = \"B\""]),
    ("Camel C", &["moves = \"C\""]),
    ("Centaur KN", &["moves = \"KN\""]),
    ("Champion WAD", &["moves = \"WAD\""]),
    ("Chancellor RN", &["moves = \"RN\""]),
    ("Commoner/General K", &["moves = \"K\""]),
    ("Dabbaba D", &["moves = \"D\""]),
    ("Elephant FA", &["moves = \"FA\""]),
    ("Ferz F", &["moves = \"F\""]),
    ("Ferz-Knight FN", &["moves = \"FN\""]),
    ("Flying Bishop-like B+A+G (leap 2,3)", &["moves = \"B\"", "moves = \"A\"", "moves = \"G\""]),
    ("Flying Chariot-like R+D+H", &["moves = \"R\"", "moves = \"D\"", "moves = \"H\""]),
    ("Griffon (F then R outward)", &["moves = \"F\", outward = [[\"F\", \"R\"]]"]),
    ("Half-duck HFD", &["moves = \"HFD\""]),
    ("Knight N", &["moves = \"N\""]),
    ("Phoenix WA", &["moves = \"WA\""]),
    ("Queen Q", &["moves = \"Q\""]),
    ("Rook R", &["moves = \"R\""]),
    ("War Elephant FAD", &["moves = \"FAD\""]),
    ("Wazir W", &["moves = \"W\""]),
    ("Wazir-Knight WN", &["moves = \"WN\""]),
    ("Wazir-Zebra WZ", &["moves = \"WZ\""]),
    ("Wizard FC", &["moves = \"FC\""]),
    ("Woody WD", &["moves = \"WD\""]),
    ("Zebra Z", &["moves = \"Z\""]),
];

/// The figures give two thirds with six digits.
fn share(figure: &Figure) -> f64 {
    if (figure.p_empty - 2.0 / 3.0).abs() < 1e-5 { 2.0 / 3.0 } else { figure.p_empty }
}

fn check(figure: &Figure, parts: &[(&Variant, Unit)]) {
    let mobility = parts.iter().map(|(variant, unit)| variant.mean_mobility(*unit, share(figure)));
    let (captures, moves) = mobility.fold((0.0, 0.0), |sum, part| (sum.0 + part.captures, sum.1 + part.moves));
    for got in [captures, moves] {
        let apart = (got - figure.crowded_mobility).abs();
        assert!(
            apart < 1e-6,
            "{} on {} at {}: expected {}, got {got}",
            figure.piece,
            figure.board,
            figure.p_empty,
            figure.crowded_mobility
        );
    }
}

/// A board with two kings, for a piece with these moves.
fn board_with(board: &str, moves: &str) -> Arc<Variant> {
    let (width, height) = board.split_once('x').unwrap();
    let (width, height): (usize, usize) = (width.parse().unwrap(), height.parse().unwrap());
    let rank = |men: &[&str]| (0..width).map(|file| *men.get(file).unwrap_or(&".")).collect::<Vec<_>>().join(" ");
    let mut ranks = vec![rank(&[]); height];
    (ranks[0], ranks[height - 1]) = (rank(&["k"]), rank(&["K"]));
    variant_from(&format!(
        "format = 1\n[variant]\nname = \"Test\"\n[board]\nsetup = \"\"\"\n{}\n\"\"\"\n[pieces]\n\
         king = {{ letter = \"K\", moves = \"K\" }}\npiece = {{ letter = \"X\", {moves} }}\n[end]\nstalemated_side = \"draws\"\n",
        ranks.join("\n")
    ))
}

#[test]
fn mobility_equals_the_reference() {
    let mut checked = 0;
    for (piece, moves) in PIECES {
        let mut boards: BTreeMap<&str, Vec<Arc<Variant>>> = BTreeMap::new();
        for figure in FIGURES.iter().filter(|figure| figure.piece == piece) {
            let parts = || moves.iter().map(|moves| board_with(&figure.board, moves)).collect();
            let parts = boards.entry(&figure.board).or_insert_with(parts);
            let parts: Vec<_> = parts.iter().map(|part| (&**part, part.unit_named("piece").unwrap())).collect();
            check(figure, &parts);
            checked += 1;
        }
    }
    assert_eq!(checked, FIGURES.len());
}

#[test]
fn mobility_of_shipped_units_equals_the_reference() {
    let shipped = [
        ("chess", "8x8", "queen", "Queen Q"),
        ("chess", "8x8", "rook", "Rook R"),
        ("chess", "8x8", "bishop", "Bishop B"),
        ("chess", "8x8", "knight", "Knight N"),
        ("chess", "8x8", "king", "Commoner/General K"),
        ("shatranj", "8x8", "alfil", "Alfil A"),
        ("shatranj", "8x8", "ferz", "Ferz F"),
        ("herculean", "12x12", "queen", "Queen Q"),
        ("herculean", "12x12", "rook", "Rook R"),
        ("herculean", "12x12", "bishop", "Bishop B"),
        ("herculean", "12x12", "ferz_knight", "Ferz-Knight FN"),
        ("herculean", "12x12", "wazir_knight", "Wazir-Knight WN"),
        ("herculean", "12x12", "wazir_sorcerer", "Wazir-Zebra WZ"),
        ("opulent-lemurian-shatranj", "10x10", "rook", "Rook R"),
        ("opulent-lemurian-shatranj", "10x10", "knight", "Knight N"),
        ("opulent-lemurian-shatranj", "10x10", "general", "Commoner/General K"),
        ("opulent-lemurian-shatranj", "10x10", "bent_hero", "Bent Hero (W,D inclusive, any direction)"),
        ("opulent-lemurian-shatranj", "10x10", "bent_shaman", "Bent Shaman (F,A inclusive, any direction)"),
    ];
    for (game, board, unit, piece) in shipped {
        let variant = variant(game);
        let unit = variant.unit_named(unit).unwrap();
        let figures: Vec<_> = FIGURES.iter().filter(|figure| figure.board == board && figure.piece == piece).collect();
        assert_eq!(figures.len(), 3, "{piece}");
        figures.into_iter().for_each(|figure| check(figure, &[(&variant, unit)]));
    }
}

/// A lone hop: with chance p(1−p) the adjacent square is occupied and hopped over, and so on.
#[test]
fn mobility_of_hops_is_what_the_chances_give() {
    let variant = variant("herculean");
    let chariot = variant.unit_named("flying_chariot").unwrap();
    let corner = variant.topology().parse("a1").unwrap();
    for p in [0.3, 0.7, 0.9] {
        let slide: f64 = (0..11).map(|passed| f64::powi(p, passed)).sum();
        let hops = (1.0 - p) + (1.0 - p) * (1.0 - p);
        let got = variant.mobility(chariot, corner, p);
        assert!((got.mean() - 2.0 * (slide + hops)).abs() < 1e-9, "{p}: {got:?}");
    }
    let pawn = variant.unit_named("pawn").unwrap();
    let got = variant.mobility(pawn, variant.topology().parse("b3").unwrap(), 0.7);
    assert!((got.captures - 2.0).abs() < 1e-9);
    assert!((got.moves - (1.0 + 0.7 + 0.49)).abs() < 1e-9, "{got:?}");
}

#[test]
fn a_priori_values_are_sane() {
    for variant in shipped() {
        let weights = Weights::a_priori(&variant);
        let value = |name: &str| variant.unit_named(name).map(|unit| weights.units[unit.index()].middlegame);
        assert_eq!(value("pawn"), Some(100), "{}", variant.name());
        for unit in variant.units().filter(|&unit| unit != variant.royal()) {
            let numbers = &weights.units[unit.index()];
            let name = &variant.unit(unit).name;
            assert!(numbers.middlegame > 0 && numbers.endgame > 0, "{} {name}", variant.name());
            assert!(numbers.middlegame >= 50 && numbers.middlegame < 3_000, "{} {name}", variant.name());
            let promotes = !variant.promotion_zone(unit, fairyforge_engine::variant::rules::Colour::White).is_empty();
            assert_eq!(numbers.phase > 0, !promotes, "{} {name}", variant.name());
        }
        let ordered: Vec<i32> = ["queen", "rook", "pawn"].iter().filter_map(|unit| value(unit)).collect();
        assert!(ordered.is_sorted_by(|a, b| a > b), "{}: {ordered:?}", variant.name());
        if let (Some(ninja), Some(pawn)) = (value("ninja_pawn"), value("pawn")) {
            assert!(ninja > pawn);
        }
        if let (Some(chariot), Some(rook)) = (value("flying_chariot"), value("rook")) {
            assert!(chariot > rook);
        }
        assert!(weights.full_phase(&variant) > 1);
    }
}

#[test]
fn a_start_position_is_level_but_for_the_move() {
    for variant in shipped().into_iter().filter(|variant| variant.armies_are_alike()) {
        let weights = Weights::a_priori(&variant);
        let evaluator = Tapered::new(&variant, &weights);
        let start = Position::start(&variant);
        let fresh = evaluator.fresh(&start);
        assert_eq!((fresh.middlegame, fresh.endgame), (0, 0), "{}", variant.name());
        assert_eq!(evaluator.evaluate(&start, &fresh), weights.tempo);
        assert!((evaluator.middlegame_share(&fresh) - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_file_gives_the_weights_back() {
    for variant in shipped() {
        let mut weights = Weights::a_priori(&variant);
        assert_eq!(Weights::read(&variant, &weights.to_toml(&variant)), Ok(weights.clone()));
        weights.tempo = -3;
        weights.origin.data_digest = Some("0123456789abcdef".into());
        weights.origin.games = 12_345;
        weights.origin.method = "a \"quoted\" method\nwith a line".into();
        for (index, unit) in weights.units.iter_mut().enumerate() {
            let square = variant.topology().squares().iter().nth(index).unwrap();
            unit.middlegame_squares[square.index()] = -7 * index as i16;
            unit.endgame_squares[square.index()] = 11 * index as i16;
        }
        weights.measured = variant
            .units()
            .filter(|&unit| unit != variant.royal())
            .map(|unit| MeasuredValue { unit, pawns: 1.0 + 0.1 * f64::from(unit.0), low: -0.25, high: 9.5 })
            .collect();
        assert_eq!(Weights::read(&variant, &weights.to_toml(&variant)), Ok(weights));
    }
}

/// Why the weights file of chess is refused once one thing is changed in it.
fn changed(from: &str, to: &str) -> WeightsError {
    let chess = variant("chess");
    let text = Weights::a_priori(&chess).to_toml(&chess);
    assert!(text.contains(from), "{from:?} is not in\n{text}");
    Weights::read(&chess, &text.replacen(from, to, 1)).expect_err(to)
}

#[test]
fn faulty_files_are_refused_with_the_reason() {
    use WeightsError::*;
    assert!(matches!(changed("format = 1", "format = 2"), Format(2)));
    assert!(matches!(changed("format = 1\n", ""), Syntax(_)));
    assert!(matches!(changed("tempo", "tempi"), Syntax(_)));
    assert!(matches!(changed("tempo = 12", "tempo = \"12\""), Syntax(_)));
    assert!(matches!(changed("tempo = 12", "tempo = 12.5"), Syntax(_)));
    assert!(matches!(changed("[origin]", "[origins]"), Syntax(_)));
    assert!(matches!(changed("rules_hash = \"", "rules_hash = \"f"), OtherRules { .. }));
    assert!(matches!(changed("[units.rook]", "[units.rok]"), Units(_)));
    assert!(matches!(
        changed("[units.rook]", "[measured.rok]\npawns = 1.0\nlow = 0.5\nhigh = 2.0\n[units.rook]"),
        Units(_)
    ));
    assert!(matches!(changed("[units.rook]", "[units.zebra]"), Units(_)));
    assert!(matches!(changed("middlegame = ", "middlegame = 99"), Range { .. }));
    assert!(matches!(changed("middlegame_squares = [\n  [", "middlegame_squares = [\n  [0,"), Squares { .. }));
    assert!(matches!(changed("middlegame_squares = [\n  [", "middlegame_squares = [\n  [],\n  ["), Squares { .. }));
    assert!(matches!(changed("middlegame_squares", "middlegame_square"), Syntax(_)));
    let stranger = changed("[units.rook]", "[units.rok]").to_string();
    assert!(stranger.contains("rook") || stranger.contains("rok"), "{stranger}");
}

#[test]
fn a_tempo_out_of_range_is_refused() {
    assert!(matches!(changed("tempo = 12", "tempo = 2000000000"), WeightsError::Range { .. }));
}

/// Whatever numbers a file may hold, sums stay below mate scores.
#[test]
fn the_greatest_numbers_allowed_do_not_overflow() {
    let herculean = variant("herculean");
    let mut weights = Weights::a_priori(&herculean);
    for unit in &mut weights.units {
        (unit.middlegame, unit.endgame, unit.phase) = (5_000, -5_000, 5_000);
        unit.middlegame_squares.fill(5_000);
        unit.endgame_squares.fill(-5_000);
    }
    let Ok(weights) = Weights::read(&herculean, &weights.to_toml(&herculean)) else { return };
    let evaluator = Tapered::new(&herculean, &weights);
    let fen = "6k5/12/12/12/12/12/12/12/12/PPPPPPPPPPPP/NNNNNBBNNNNN/RZCLFQKWLCSR w KQ - 0 1";
    let position = common::read(&herculean, fen);
    let value = evaluator.evaluate(&position, &evaluator.fresh(&position));
    assert!((1..=20_000).contains(&value), "{value}");
}

#[test]
fn a_measured_value_that_is_no_number_is_refused() {
    let chess = variant("chess");
    let text = Weights::a_priori(&chess).to_toml(&chess);
    let nan = text.replacen("[units.rook]", "[measured.rook]\npawns = nan\nlow = 0.5\nhigh = inf\n[units.rook]", 1);
    assert!(Weights::read(&chess, &nan).is_err());
}

#[test]
fn weights_of_another_game_are_refused() {
    let variants = shipped();
    for written in &variants {
        let text = Weights::a_priori(written).to_toml(written);
        for read in variants.iter().filter(|read| read.name() != written.name()) {
            let refusal = Weights::read(read, &text);
            assert!(matches!(refusal, Err(WeightsError::OtherRules { .. })), "{} as {}", written.name(), read.name());
        }
    }
}

proptest! {
    #![proptest_config(common::cases(300))]

    #[test]
    fn damaged_files_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[\\[\\]=\"0-9a-z.\u{e9}\\n-]{0,3}"), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        static CHESS: LazyLock<(Arc<Variant>, String)> = LazyLock::new(|| {
            let chess = variant("chess");
            let text = Weights::a_priori(&chess).to_toml(&chess);
            (chess, text)
        });
        let (chess, text) = &*CHESS;
        let mut letters: Vec<String> = text.chars().map(String::from).collect();
        for (at, change) in changes {
            let at = at.index(letters.len());
            letters[at] = change;
        }
        if let Some(cut) = cut {
            letters.truncate(cut.index(letters.len()));
        }
        if let Ok(weights) = Weights::read(chess, &letters.concat()) {
            prop_assert_eq!(Weights::read(chess, &weights.to_toml(chess)), Ok(weights.clone()));
            let evaluator = Tapered::new(chess, &weights);
            let start = Position::start(chess);
            evaluator.evaluate(&start, &evaluator.fresh(&start));
        }
    }
}
