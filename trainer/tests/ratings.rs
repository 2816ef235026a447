//! Ratings against Ordo's and BayesElo's, against what must not change them, and the coverage of their intervals.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

use fairyforge::arena::ratings::{
    Fitted, GameTable, LeftOut, RatingError, RatingModel, RatingSettings, Ratings, USUAL_PRIOR, fit,
};
use fairyforge::arena::statistics::GameResult::{self, Draw, Loss, Win};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::Value;

fn reference() -> Value {
    let path = format!("{}/tests/data/rating.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The reference's games, each of an opening of its own, so many times over, with players renamed.
fn games(reference: &Value, times: u64, rename: impl Fn(&str) -> String) -> GameTable {
    let mut table = GameTable::default();
    for (players, counts) in reference["crosstable_white_black_W_D_L"].as_object().unwrap() {
        let (white, black) = players.split_once('-').unwrap();
        for (result, count) in [Win, Draw, Loss].into_iter().zip(counts.as_array().unwrap()) {
            for game in 0..times * count.as_u64().unwrap() {
                table.add(&rename(white), &rename(black), result, &format!("{players} {result:?} {game}"));
            }
        }
    }
    table
}

fn settings(model: RatingModel) -> RatingSettings {
    RatingSettings { model, white_advantage: false, prior_draws: 0.0, anchor: None }
}

fn with_white(model: RatingModel) -> RatingSettings {
    RatingSettings { white_advantage: true, ..settings(model) }
}

fn of<'a>(ratings: &'a Ratings, name: &str) -> &'a Fitted {
    &ratings.players.iter().find(|player| player.name == name).unwrap().rating
}

fn assert_ratings(ratings: &Ratings, expected: &Value, factor: f64, tolerance: f64) {
    assert_eq!(ratings.players.len(), 4);
    for (name, expected) in expected.as_object().unwrap() {
        let (got, expected) = (of(ratings, name).value / factor, expected.as_f64().unwrap());
        assert!((got - expected).abs() < tolerance, "{name}: expected {expected}, got {got}");
    }
}

fn close(got: f64, expected: &Value, tolerance: f64) {
    let expected = expected.as_f64().unwrap();
    assert!((got - expected).abs() < tolerance, "expected {expected}, got {got}");
}

#[test]
fn ordo_and_elo_match_the_reference() {
    let reference = reference();
    let table = games(&reference, 1, str::to_owned);
    let ordo = fit(&table, &settings(RatingModel::Ordo)).unwrap();
    assert_ratings(&ordo, &reference["ordo"]["independent_refit"], 1.0, 1e-5);
    assert_ratings(&ordo, &reference["ordo"]["ratings"], 1.0, 1e-3);
    let points: Vec<f64> = ordo.players.iter().map(|player| player.points).collect();
    assert_eq!(points, [302.0, 263.5, 240.5, 154.0]);
    let elo = fit(&table, &settings(RatingModel::Elo)).unwrap();
    assert_ratings(&elo, &reference["standard_elo_logistic_400"]["ratings"], 1.0, 1e-5);
}

#[test]
fn white_advantage_and_errors_match_the_reference() {
    let reference = reference();
    let table = games(&reference, 1, str::to_owned);
    let ordo = fit(&table, &with_white(RatingModel::Ordo)).unwrap();
    assert_ratings(&ordo, &reference["ordo_auto_white"]["independent_refit"], 1.0, 1e-5);
    let white = ordo.white_advantage.unwrap();
    close(white.value, &reference["ordo_auto_white"]["independent_white_adv"], 1e-5);
    let expected = &reference["standard_elo_logistic_400_white"];
    let elo = fit(&table, &with_white(RatingModel::Elo)).unwrap();
    assert_ratings(&elo, &expected["ratings"], 1.0, 1e-5);
    for (name, error) in expected["se_sandwich_trinomial"].as_object().unwrap() {
        let got = if name == "white" { elo.white_advantage.unwrap() } else { *of(&elo, name) };
        close(got.standard_error, error, 1e-3);
        assert!((got.error - 1.959_963_984_540_054 * got.standard_error).abs() < 1e-12);
    }
    // Ordo simulates its errors with a draw rate and a seed, so they agree roughly.
    for (name, error) in reference["ordo_auto_white"]["error95_sim"].as_object().unwrap() {
        close(of(&ordo, name).error, error, 2.5);
    }
}

#[test]
fn bayeselo_matches_the_reference() {
    let reference = reference();
    let table = games(&reference, 1, str::to_owned);
    let expected = &reference["bayeselo"];
    let plain = fit(&table, &with_white(RatingModel::Bayeselo)).unwrap();
    let refit = &expected["independent_ML_no_prior"];
    assert_ratings(&plain, &refit["ratings_unscaled"], plain.scale, 1e-3);
    close(plain.white_advantage.unwrap().value, &refit["advantage"], 1e-3);
    close(plain.draw_elo.unwrap(), &refit["drawelo"], 1e-3);
    let program = RatingSettings { prior_draws: USUAL_PRIOR, ..with_white(RatingModel::Bayeselo) };
    let with_prior = fit(&table, &program).unwrap();
    assert_ratings(&with_prior, &expected["ratings_rounded"], 1.0, 0.5);
    close(with_prior.white_advantage.unwrap().value, &expected["advantage"], 2e-3);
    close(with_prior.draw_elo.unwrap(), &expected["drawelo"], 2e-3);
    // BayesElo has its errors from the likelihood alone, ours come from how results vary.
    for (name, error) in expected["err"].as_object().unwrap() {
        close(of(&with_prior, name).error, error, 1.5);
    }
}

#[test]
fn an_anchor_moves_everybody_alike() {
    let table = games(&reference(), 1, str::to_owned);
    for model in [RatingModel::Ordo, RatingModel::Bayeselo] {
        let plain = fit(&table, &with_white(model)).unwrap();
        let anchor = Some(("B".to_owned(), 2500.0));
        let moved = fit(&table, &RatingSettings { anchor, ..with_white(model) }).unwrap();
        let shift = 2500.0 - of(&plain, "B").value;
        for name in ["A", "B", "C", "D"] {
            assert!((of(&moved, name).value - of(&plain, name).value - shift).abs() < 1e-8, "{name}");
        }
        assert!(of(&moved, "B").standard_error < 1e-9, "the anchor is known");
        assert_eq!(moved.white_advantage, plain.white_advantage);
    }
}

#[test]
fn names_and_their_order_do_not_matter() {
    let reference = reference();
    let plain = fit(&games(&reference, 1, str::to_owned), &with_white(RatingModel::Ordo)).unwrap();
    let renamed = |name: &str| format!("{}{name}", 9 - name.as_bytes()[0] % 10);
    let mut reversed = GameTable::default();
    let table = games(&reference, 1, renamed);
    for game in table.games().iter().rev() {
        let name = |player: usize| &table.players()[player];
        reversed.add(name(game.white), name(game.black), game.result, &game.cluster.to_string());
    }
    let other = fit(&reversed, &with_white(RatingModel::Ordo)).unwrap();
    for name in ["A", "B", "C", "D"] {
        let (one, other) = (of(&plain, name), of(&other, &renamed(name)));
        assert!((one.value - other.value).abs() < 1e-8 && (one.error - other.error).abs() < 1e-8, "{name}");
    }
}

#[test]
fn twice_the_games_leave_ratings_and_shrink_errors() {
    let reference = reference();
    for model in [RatingModel::Ordo, RatingModel::Bayeselo] {
        let once = fit(&games(&reference, 1, str::to_owned), &with_white(model)).unwrap();
        let twice = fit(&games(&reference, 2, str::to_owned), &with_white(model)).unwrap();
        for name in ["A", "B", "C", "D"] {
            let (once, twice) = (of(&once, name), of(&twice, name));
            assert!((once.value - twice.value).abs() < 1e-7, "{name}");
            assert!((once.error / twice.error - std::f64::consts::SQRT_2).abs() < 1e-7, "{name}");
        }
    }
}

#[test]
fn who_cannot_be_rated_is_told() {
    let mut table = games(&reference(), 1, str::to_owned);
    let plain = fit(&table, &settings(RatingModel::Ordo)).unwrap();
    for (white, black, result) in
        [("Best", "A", Win), ("D", "Worst", Win), ("Lone", "Other", Draw), ("Best", "Worst", Win), ("A", "Lone", Win)]
    {
        assert!(table.add(white, black, result, ""));
    }
    let ratings = fit(&table, &settings(RatingModel::Ordo)).unwrap();
    let told = |name: &str| ratings.unrated.iter().find(|player| player.name == name).unwrap();
    assert_eq!(told("Best").reason, LeftOut::WonAll);
    assert_eq!(told("Worst").reason, LeftOut::LostAll);
    assert_eq!(told("Lone").reason, LeftOut::Disconnected);
    assert_eq!(told("Lone").group, told("Other").group);
    assert_eq!(ratings.unrated.len(), 4);
    assert_eq!((ratings.games, &ratings.players), (960, &plain.players), "their games are not counted");
    let anchor = Some(("Best".to_owned(), 0.0));
    let error = fit(&table, &RatingSettings { anchor, ..settings(RatingModel::Ordo) }).unwrap_err();
    assert_eq!(error.to_string(), "anchor: expected a player who is rated (one of A, B, C, D), got \"Best\"");
}

#[test]
fn what_has_no_maximum_is_refused() {
    let table = |games: &[(&str, &str, GameResult)]| {
        let mut table = GameTable::default();
        games.iter().for_each(|(white, black, result)| assert!(table.add(white, black, *result, "")));
        table
    };
    let error =
        |games: &[(&str, &str, GameResult)], settings: &RatingSettings| fit(&table(games), settings).unwrap_err();
    let ordo = settings(RatingModel::Ordo);
    assert_eq!(error(&[], &ordo), RatingError::NobodyLinked { players: 0 });
    assert_eq!(error(&[("A", "B", Win)], &ordo), RatingError::NobodyLinked { players: 2 });
    // Each wins as White: equal players, and an advantage without bound.
    let white_wins = [("A", "B", Win), ("B", "A", Win)];
    assert!(fit(&table(&white_wins), &ordo).unwrap().players.iter().all(|player| player.rating.value.abs() < 1e-9));
    assert!(matches!(error(&white_wins, &with_white(RatingModel::Ordo)), RatingError::NoMaximum { .. }));
    let draws = [("A", "B", Draw), ("B", "A", Draw)];
    assert!(matches!(error(&draws, &settings(RatingModel::Bayeselo)), RatingError::NoMaximum { .. }));
    // Without draws BayesElo's model is the logistic one.
    let decisive = [("A", "B", Win), ("A", "B", Win), ("A", "B", Loss), ("B", "A", Win)];
    let bayeselo = fit(&table(&decisive), &settings(RatingModel::Bayeselo)).unwrap();
    let elo = fit(&table(&decisive), &settings(RatingModel::Elo)).unwrap();
    assert_eq!((bayeselo.scale, bayeselo.draw_elo), (1.0, Some(0.0)));
    assert!((of(&bayeselo, "A").value - of(&elo, "A").value).abs() < 1e-9);
    let prior = RatingSettings { prior_draws: f64::NAN, ..ordo };
    assert!(matches!(error(&decisive, &prior), RatingError::Number { name: "prior draws", .. }));
}

/// A number from 0 to 1.
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// One game when White is so many Elo stronger, under BayesElo's model with a draw Elo of 120.
fn play(random: &mut ChaCha8Rng, difference: f64) -> GameResult {
    let logistic = |elo: f64| 1.0 / (1.0 + 10f64.powf(-elo / 400.0));
    let luck = uniform(random);
    if luck < logistic(difference - 120.0) {
        Win
    } else if luck > 1.0 - logistic(-difference - 120.0) {
        Loss
    } else {
        Draw
    }
}

/// Three players of known strength play pairs; the opening favours one colour much, so that the games of a pair are
/// correlated. How often does the interval of the distance from the first player hold the truth?
#[test]
fn intervals_cover_the_truth() {
    const TOURNAMENTS: u64 = 600;
    let strengths = [0.0, 40.0, -70.0];
    let (mut held, mut of_all) = (0, 0);
    for seed in 0..TOURNAMENTS {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut table = GameTable::default();
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            for pair in 0..60 {
                let opening = [-250.0, 0.0, 250.0][(random.next_u64() % 3) as usize];
                for (white, black) in [(one, other), (other, one)] {
                    let result = play(&mut random, strengths[white] - strengths[black] + opening);
                    table.add(&white.to_string(), &black.to_string(), result, &pair.to_string());
                }
            }
        }
        let anchor = Some(("0".to_owned(), 0.0));
        let ratings = fit(&table, &RatingSettings { anchor, ..settings(RatingModel::Elo) }).unwrap();
        for player in ["1", "2"] {
            let rating = of(&ratings, player);
            let truth = true_distance(strengths, player.parse().unwrap());
            held += u32::from((rating.value - truth).abs() < rating.error);
            of_all += 1;
        }
    }
    let coverage = f64::from(held) / f64::from(of_all);
    println!("coverage of ratings' 95 % intervals: {coverage:.4} of {of_all}");
    assert!((0.93..0.97).contains(&coverage), "{coverage}");
}

/// What the logistic model makes of an endless tournament: where expected points are points.
fn true_distance(strengths: [f64; 3], player: usize) -> f64 {
    let logistic = |elo: f64| 1.0 / (1.0 + 10f64.powf(-elo / 400.0));
    let expected = |difference: f64| {
        let score = |d: f64| 0.5 * (logistic(d - 120.0) + 1.0 - logistic(-d - 120.0));
        [-250.0, 0.0, 250.0]
            .iter()
            .map(|opening| 0.5 * (score(difference + opening) + 1.0 - score(opening - difference)))
            .sum::<f64>()
            / 3.0
    };
    let mut ratings = [0.0; 3];
    for _ in 0..2_000 {
        for one in 1..3 {
            let excess: f64 = (0..3)
                .filter(|&other| other != one)
                .map(|other| expected(strengths[one] - strengths[other]) - logistic(ratings[one] - ratings[other]))
                .sum();
            ratings[one] += 300.0 * excess;
        }
    }
    ratings[player]
}
