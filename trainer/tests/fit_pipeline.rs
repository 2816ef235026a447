//! From records to values and weights: made-up games whose true values are known, and games that cannot be fitted.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

use std::path::Path;
use std::sync::Arc;

use fairyforge::fit::claims::{Claim, judge};
use fairyforge::fit::ratio::Verdict;
use fairyforge::fit::values::{Choice, ValueOutcome};

use fairyforge::fit::{FitError, FitReport, FitRequest, FitSettings, fit_run, sigmoid};
use fairyforge::record::{GameRecord, Origin, PositionRecord, digest, write_shard};
use fairyforge_engine::evaluate::{UnitWeights, Weights};
use fairyforge_engine::geometry::{Square, SquareSet};
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::Colour;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use tempfile::TempDir;

/// True values, in logits a unit.
const TRUTH: [(&str, f64); 5] = [("pawn", 0.4), ("knight", 1.2), ("bishop", 1.3), ("rook", 2.0), ("queen", 3.6)];
/// White's advantage, in logits.
const FIRST_MOVE: f64 = 0.15;
/// Half-width of the draw, in logits.
const DRAW: f64 = 0.5;
/// Men exchanged from one recorded position to the next, and recorded positions of a game.
const POSITIONS: u16 = 6;

fn chess() -> Arc<Variant> {
    Arc::new(Variant::load("chess").unwrap())
}

fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

fn below(random: &mut ChaCha8Rng, count: usize) -> usize {
    (random.next_u64() % count as u64) as usize
}

/// One to three men of each side taken away by lot.
fn odds(variant: &Arc<Variant>, random: &mut ChaCha8Rng) -> Position {
    let start = Position::start(variant);
    let mut taken = SquareSet::EMPTY;
    for colour in Colour::BOTH {
        let men: Vec<Square> = start.men(colour).iter().filter(|&square| square != start.king(colour)).collect();
        for _ in 0..=below(random, 3) {
            taken.insert(men[below(random, men.len())]);
        }
    }
    start.without(taken).unwrap()
}

/// White's true advantage in logits.
fn advantage(position: &Position) -> f64 {
    let worth = |&(name, logits): &(&str, f64)| {
        let unit = position.variant().unit_named(name).unwrap();
        let difference =
            i32::from(position.count(unit, Colour::White)) - i32::from(position.count(unit, Colour::Black));
        logits * f64::from(difference)
    };
    FIRST_MOVE + TRUTH.iter().map(worth).sum::<f64>()
}

fn result(position: &Position, random: &mut ChaCha8Rng) -> i8 {
    let eta = advantage(position);
    let lot = uniform(random);
    if lot < sigmoid(eta - DRAW) {
        1
    } else if lot < sigmoid(eta + DRAW) {
        0
    } else {
        -1
    }
}

/// The position with one man a side, of one type, exchanged off.
fn after_exchange(position: &Position, random: &mut ChaCha8Rng) -> Position {
    let topology = position.variant().topology();
    let both = |&square: &Square| {
        square != position.king(Colour::White)
            && !position.piece_at(topology.flip(square)).is_none()
            && position.men(Colour::White).contains(square)
    };
    let exchangeable: Vec<Square> = position.occupied().iter().filter(both).collect();
    let square = exchangeable[below(random, exchangeable.len())];
    position.without([square, topology.flip(square)].into_iter().collect()).unwrap()
}

fn game(number: u64, start: &Position, random: &mut ChaCha8Rng) -> GameRecord {
    let mut position = start.clone();
    let mut record = |ply| {
        if ply > 0 {
            position = after_exchange(&position, random);
        }
        // The first is where the players took over, and not quiet.
        PositionRecord { ply, packed: position.pack(), mv: "e2e4".to_owned(), score: 0, nodes: 500, quiet: ply > 0 }
    };
    let positions = (0..=POSITIONS).map(&mut record).collect();
    GameRecord {
        game: number,
        start_fen: start.fen(),
        result: result(start, random),
        termination: "checkmate".to_owned(),
        plies: POSITIONS,
        positions,
        ..GameRecord::default()
    }
}

fn origin(variant: &Variant) -> Origin {
    Origin {
        variant: variant.name().to_owned(),
        rules_hash: variant.rules_hash().to_owned(),
        engine: "test".to_owned(),
        run_seed: 1,
        weights: "a-priori".to_owned(),
        base_game: 0,
    }
}

/// Games in pairs: the same start, armies exchanged.
fn games(pairs: u64, seed: u64) -> Vec<GameRecord> {
    let variant = chess();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut pair = |pair: u64| {
        let start = odds(&variant, &mut random);
        let exchanged = start.armies_exchanged().unwrap();
        [game(2 * pair, &start, &mut random), game(2 * pair + 1, &exchanged, &mut random)]
    };
    (0..pairs).flat_map(&mut pair).collect()
}

fn folder(games: &[GameRecord]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for shard in games.chunks(500) {
        write_shard(dir.path(), &origin(&chess()), shard).unwrap();
    }
    dir
}

/// Values that know nothing but that a pawn is the least.
fn ignorant(variant: &Variant) -> Weights {
    let mut weights = Weights::a_priori(variant);
    for (unit, numbers) in variant.units().zip(&mut weights.units) {
        let value = if variant.unit(unit).name == "pawn" { 100 } else { 350 };
        *numbers = UnitWeights::flat(if unit == variant.royal() { 0 } else { value }, value, numbers.phase);
    }
    weights
}

fn fit(dir: &Path, start: Option<&Weights>) -> Result<FitReport, FitError> {
    let variant = chess();
    fit_run(&FitRequest { data: dir, variant: &variant, start, settings: FitSettings::default() }, &|_| ())
}

fn claim(unit: &str, low: f64, high: f64) -> Claim {
    Claim { id: "T".to_owned(), text: "true".to_owned(), unit: unit.to_owned(), low, high }
}

#[test]
fn known_values_are_found_and_tuning_learns_them() {
    let variant = chess();
    let dir = folder(&games(2000, 3));
    let report = fit(dir.path(), Some(&ignorant(&variant))).unwrap();
    println!("{report}");
    assert_eq!((report.games, report.values_reference.pairs), (4000, 2000));
    for (name, logits) in TRUTH {
        let truth = logits / TRUTH[0].1;
        for values in [&report.values_reference, &report.values_observational] {
            let ValueOutcome::Bounded { value, interval, .. } = &values.row(name).unwrap().value else {
                panic!("{name}: {values}");
            };
            assert!(interval.low <= truth && truth <= interval.high, "{name}: {truth} {value} {interval:?}");
            assert!(interval.high - interval.low < 0.6 * truth, "{name}: {interval:?}");
        }
    }
    let queen = judge(&report.values_reference, &claim("queen", 2.0, 3.0));
    assert_eq!(queen.verdict, Verdict::Refuted, "{queen}");
    let rook = judge(&report.values_reference, &claim("rook", 2.0, 9.0));
    assert_eq!(rook.verdict, Verdict::Supported, "{rook}");
    let white = report.values_reference.first_move.as_ref().unwrap();
    assert!((white.coefficient - FIRST_MOVE).abs() < 3.0 * white.clustered_error, "{white:?}");

    let tuning = report.tuning.as_ref().unwrap();
    assert!(tuning.converged);
    assert!(tuning.after.training < tuning.before.training);
    assert!(tuning.after.validation < tuning.before.validation, "{tuning}");
    let tuned = |name: &str| {
        let unit = tuning.units.iter().find(|unit| unit.unit == name).unwrap();
        f64::from(unit.middlegame + unit.endgame) / 2.0
    };
    let values = TRUTH.map(|(name, _)| tuned(name));
    assert!(values.is_sorted() && values[0] > 0.0, "{values:?}");
    // From one value for all, the two ways of fitting must come near each other: here a rook in knights.
    let [rook_in_knights, truth] = [tuned("rook") / tuned("knight"), 2.0 / 1.2];
    assert!((rook_in_knights / truth - 1.0).abs() < 0.2, "{rook_in_knights} and {truth}");
}

#[test]
fn the_weights_file_says_where_it_comes_from_and_reads_back() {
    let variant = chess();
    let dir = folder(&games(200, 4));
    let report = fit(dir.path(), None).unwrap();
    let weights = &report.weights;
    let read_back = Weights::read(&variant, &weights.to_toml(&variant)).unwrap();
    assert!(&read_back == weights, "the weights file reads back otherwise");
    assert_eq!(weights.origin.data_digest.as_ref(), Some(&digest(dir.path()).unwrap()));
    assert_eq!(weights.origin.games, 400);
    assert_eq!(weights.origin.method.matches("a priori").count(), 1, "{:?}", weights.origin);
    for measured in &weights.measured {
        let row = report.values_reference.row(&variant.unit(measured.unit).name).unwrap();
        assert!((measured.pawns - row.value.pawns().unwrap()).abs() < 1e-4, "{measured:?} {row:?}");
        assert!(measured.low <= measured.pawns && measured.pawns <= measured.high);
    }
    assert!(!weights.measured.is_empty());
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["values_reference"]["rows"][0]["unit"], "pawn");
    assert_eq!(json["values_reference"]["method"], "earliest");
    assert!(fit(dir.path(), None).unwrap() == report, "the same fit again differs");
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert!(alone.install(|| fit(dir.path(), None)).unwrap() == report, "the fit on one thread differs");
}

#[test]
fn settings_choose_the_method_and_are_checked() {
    let variant = chess();
    let dir = folder(&games(150, 5));
    let request =
        |settings| fit_run(&FitRequest { data: dir.path(), variant: &variant, start: None, settings }, &|_| ());
    let random = FitSettings { positions: Choice::Random, positions_per_game: 2, ..FitSettings::default() };
    let report = request(random).unwrap();
    assert_eq!(report.positions, 600);
    assert_eq!(report.values().method, Choice::Random);
    assert!(report.weights.origin.method.contains("random quiet position"));
    for wrong in [
        FitSettings { positions_per_game: 0, ..random },
        FitSettings { validation_fraction: 1.0, ..random },
        FitSettings { validation_fraction: f64::NAN, ..random },
    ] {
        let error = request(wrong).unwrap_err();
        assert!(matches!(error, FitError::Setting { .. }), "{error}");
    }
}

#[test]
fn games_and_weights_of_other_rules_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let shatranj = Variant::load("shatranj").unwrap();
    write_shard(dir.path(), &origin(&shatranj), &games(2, 6)).unwrap();
    let error = fit(dir.path(), None).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("games-00000000.parquet") && message.contains("rules_hash"), "{message}");
    let error = fit(folder(&games(20, 6)).path(), Some(&Weights::a_priori(&shatranj))).unwrap_err();
    assert!(matches!(error, FitError::StartRules { .. }), "{error}");
}

#[test]
fn nothing_to_fit_says_what_is_missing() {
    let empty = tempfile::tempdir().unwrap();
    let error = fit(empty.path(), None).unwrap_err();
    assert!(error.to_string().contains("no records in"), "{error}");
    assert!(fit(&empty.path().join("nowhere"), None).is_err());

    let mut noisy = games(20, 7);
    noisy.iter_mut().flat_map(|game| &mut game.positions).for_each(|position| position.quiet = false);
    let error = fit(folder(&noisy).path(), None).unwrap_err();
    assert!(error.to_string().contains("got 40 games without any"), "{error}");
}

/// Games that cannot tell better weights leave those one started with, and say why.
#[test]
fn games_that_tell_nothing_leave_the_weights_alone() {
    let mut backwards = games(100, 7);
    backwards.iter_mut().for_each(|game| game.result = -game.result);
    for (games, reason) in [(games(2, 7), "at least 10 games"), (backwards, "backwards")] {
        let report = fit(folder(&games).path(), None).unwrap();
        let why = report.not_tuned.clone().unwrap();
        assert!(report.tuning.is_none() && why.contains(reason), "{why}");
        assert!(report.to_string().contains(&why));
        let chess = Variant::load("chess").unwrap();
        assert_eq!(report.weights.units, Weights::a_priori(&chess).units);
    }
}

#[test]
fn games_without_a_quiet_position_are_skipped_and_counted() {
    let mut some = games(200, 8);
    for game in some.iter_mut().step_by(10) {
        game.positions.iter_mut().for_each(|position| position.quiet = false);
    }
    let report = fit(folder(&some).path(), None).unwrap();
    assert_eq!((report.games, report.values_reference.games_without_quiet), (360, 40));
    assert!(report.to_string().contains("40 without a quiet position left out"));
}

#[test]
fn damaged_bytes_name_the_game_and_the_ply() {
    let mut damaged = games(20, 9);
    damaged[17].positions[1].packed.truncate(20);
    let error = fit(folder(&damaged).path(), None).unwrap_err();
    assert!(error.to_string().starts_with("game 17, ply 1: packed position"), "{error}");
}
