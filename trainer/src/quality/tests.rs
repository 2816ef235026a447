//! Simulated results: the scale and its errors are right. Folders of records: exact counts, threads, refusals.

use super::notes::Observation;
use super::*;
use crate::fit::sigmoid;
use crate::record::{GameRecord, write_shard};
use crate::run_dir::ShardFiles;
use crate::selfplay::seeds::Dice;

/// The scale that results are simulated with, and the greatest score.
const SCALE: f64 = 400.0;
const MOST: usize = 800;
/// Observed positions of a simulated game.
const POSITIONS: usize = 6;

/// Games whose positions all have one score, seen from either side in turn: as far from independent as can be. Results are
/// drawn by two coins of half a point each, so that the mean is the curve's and there are draws.
fn simulated(seed: u64, games: u64) -> Observations {
    let mut observations = Observations::default();
    for game in 0..games {
        let mut dice = Dice::new(seed, game);
        let score = dice.below(2 * MOST + 1) as i16 - MOST as i16;
        let won = sigmoid(f64::from(score) / SCALE);
        let half_points = u8::from(dice.chance(won)) + u8::from(dice.chance(won));
        let observed = |ply: usize| match ply.is_multiple_of(2) {
            true => Observation { score, half_points },
            false => Observation { score: -score, half_points: 2 - half_points },
        };
        observations.add(&Notes { quiet: (0..POSITIONS).map(observed).collect(), ..Notes::default() });
    }
    observations
}

fn known(calibration: &Calibration) -> (f64, f64) {
    match calibration.scale {
        ScaleOutcome::Known(scale) => (scale.centipawns, scale.standard_error.unwrap()),
        ScaleOutcome::Unknown { reason } => panic!("{reason}"),
    }
}

#[test]
fn the_scale_of_simulated_results_is_found_and_bins_lie_on_the_curve() {
    let calibration = Calibration::of(&simulated(1, 4_000));
    let (scale, error) = known(&calibration);
    assert!((scale - SCALE).abs() < 3.0 * error && error < 0.05 * SCALE, "{scale} ± {error}");
    assert_eq!((calibration.positions, calibration.games, calibration.bins.len()), (24_000, 4_000, 20));
    for bin in &calibration.bins {
        let (expected, error) = (sigmoid(bin.mean_score / SCALE), bin.standard_error.unwrap());
        assert!((bin.mean_result - expected).abs() < 4.0 * error, "{bin:?}, expected {expected}");
        assert!((1_000..1_500).contains(&bin.positions), "{bin:?}");
        // Three positions of each game look alike: a bin has that many times fewer games.
        assert!((2..=4).contains(&(bin.positions / bin.games)), "{bin:?}");
    }
    assert!(calibration.bins.windows(2).all(|two| two[0].high < two[1].low));
    assert_eq!(calibration.bins[0].low, -calibration.bins[19].high, "every score is seen from both sides");
    assert!(usize::from(calibration.bins[19].high.unsigned_abs()) > MOST - 10);
}

#[test]
fn standard_errors_are_those_of_repeated_simulation() {
    let repeats = 200_u64;
    let found: Vec<(f64, f64)> =
        (0..repeats).map(|seed| known(&Calibration::of(&simulated(100 + seed, 400)))).collect();
    let count = repeats as f64;
    let mean = found.iter().map(|(scale, _)| scale).sum::<f64>() / count;
    let variance = found.iter().map(|(scale, _)| (scale - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let told = found.iter().map(|(_, error)| error).sum::<f64>() / count;
    // Four standard deviations of what 200 repetitions tell. Errors of independent positions would be too small by √6.
    assert!((told / variance.sqrt() - 1.0).abs() < 0.2, "told {told}, found {}", variance.sqrt());
    let inside = found.iter().filter(|(scale, error)| (scale - SCALE).abs() < 1.96 * error).count() as f64;
    assert!((0.89..=1.0).contains(&(inside / count)), "{inside} of {count}");
}

#[test]
fn errors_of_bins_are_those_of_repeated_simulation() {
    let middle = |seed: u64| {
        let calibration = Calibration::of(&simulated(1_000 + seed, 400));
        let bin = calibration.bins[10];
        (bin.mean_result - sigmoid(bin.mean_score / SCALE), bin.standard_error.unwrap())
    };
    let found: Vec<(f64, f64)> = (0..200).map(middle).collect();
    let square = found.iter().map(|(off, _)| off * off).sum::<f64>() / 200.0;
    let told = found.iter().map(|(_, error)| error * error).sum::<f64>() / 200.0;
    assert!((told / square - 1.0).abs() < 0.4, "told {told}, found {square}");
}

#[test]
fn one_game_has_no_errors_and_nothing_quiet_no_scale() {
    let one = Calibration::of(&simulated(3, 1));
    assert!(one.bins.iter().all(|bin| bin.standard_error.is_none() && bin.games == 1), "{one:?}");
    let none = Calibration::of(&Observations::default());
    assert_eq!(none.scale, ScaleOutcome::Unknown { reason: NoScale::NoPositions });
    assert_eq!((none.bins.len(), none.expected(100.0)), (0, None));
}

/// Three games of the seven positions a b c d x y z, in shards of two and one.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut games = [made::game(0, 1, "abcab"), made::game(1, -1, "abd"), made::game(2, 0, "xyz")];
    for (position, score) in games[0].positions.iter_mut().zip([100, -50, -30, -80, 10]) {
        position.score = score;
    }
    games[2].termination = "adjudicated draw".to_owned();
    write_shard(dir.path(), &made::origin(), &games[..2]).unwrap();
    write_shard(dir.path(), &made::origin(), &games[2..]).unwrap();
    dir
}

#[test]
fn a_folder_is_counted_exactly() {
    let dir = folder();
    let quality = Quality::of(&[dir.path()]).unwrap();
    assert_eq!((quality.games, quality.positions, &*quality.variant), (3, 11, "made"));
    let results = [quality.results.white, quality.results.drawn, quality.results.black];
    assert_eq!(results.map(|share| share.count), [1, 1, 1]);
    assert_eq!(quality.terminations["checkmate"], 2);
    assert_eq!(quality.lengths.mean, (7.0 + 5.0 + 5.0) / 3.0);
    assert_eq!((quality.duplicates.all.different, quality.duplicates.within_games), (7, 2));
    assert_eq!((quality.calibration.positions, quality.calibration.games), (11, 3));
    // The same folder twice: everything comes again, and no more is different.
    let twice = Quality::of(&[dir.path(), dir.path()]).unwrap();
    assert_eq!((twice.games, twice.duplicates.all.positions, twice.duplicates.all.different), (6, 22, 7));
    assert_eq!((twice.openings[0].games, twice.openings[0].different), (6, 2));
}

#[test]
fn threads_and_shards_make_no_difference() {
    let dir = tempfile::tempdir().unwrap();
    let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let game = |number: u64| {
        let mut dice = Dice::new(5, number);
        let (begin, result) = (dice.below(10), dice.below(3) as i8 - 1);
        let mut game: GameRecord = made::game(number, result, &letters[begin..]);
        for position in &mut game.positions {
            position.score = dice.below(601) as i16 - 300;
        }
        game
    };
    let games: Vec<GameRecord> = (0..60).map(game).collect();
    let [small, large] = ["small", "large"].map(|name| dir.path().join(name));
    for games in games.chunks(7) {
        write_shard(&small, &made::origin(), games).unwrap();
    }
    write_shard(&large, &made::origin(), &games).unwrap();
    let on = |threads, folder: &Path| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Quality::of(&[folder])).unwrap()
    };
    let alone = on(1, &small);
    assert_eq!(alone, on(3, &small));
    assert_eq!(alone, on(2, &large));
    assert_eq!(alone.curve().unwrap(), on(2, &large).curve().unwrap());
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let dir = folder();
    let refused = |folders: &[&Path]| Quality::of(folders).unwrap_err().to_string();
    assert!(refused(&[]).contains("got none"));
    assert!(refused(&[&dir.path().join("nowhere")]).contains("nowhere"));
    let empty = tempfile::tempdir().unwrap();
    assert!(refused(&[dir.path(), empty.path()]).starts_with("no records in "));
    let origin = Origin { rules_hash: "abcd".to_owned(), ..made::origin() };
    write_shard(&empty.path().join("001"), &origin, &[made::game(0, 1, "abc")]).unwrap();
    let message = refused(&[dir.path(), empty.path()]);
    assert!(message.contains("expected games by the rules 5f0c") && message.contains("got abcd"), "{message}");
    let damaged = ShardFiles::new(dir.path(), 2).positions;
    std::fs::write(&damaged, "x").unwrap();
    assert!(refused(&[dir.path()]).contains(&*damaged.to_string_lossy()));
}

#[test]
fn it_is_told_on_the_screen_and_in_reports() {
    let dir = folder();
    let quality = Quality::of(&[dir.path()]).unwrap();
    let (text, markdown) = (quality.text(), quality.markdown());
    for words in ["3 games", "11 recorded positions", "36.4", "adjudicated draw 33.3 %", "target.centipawns"] {
        assert!(text.contains(words) && markdown.contains(words), "{words}: {text}\n{markdown}");
    }
    assert!(markdown.starts_with("## Quality of the data\n") && markdown.contains(CURVE_FILE), "{markdown}");
    assert!(!text.contains(CURVE_FILE) && !text.contains('#') && !text.contains('|'), "{text}");
    assert!(!(text + &markdown).contains("NaN"));
}
