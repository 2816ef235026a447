//! Faults injected into runs, with what the user is told and what is kept. `docs/faults.md` has the table, here it is in short; a fault that
//! another file holds the program to is in the table of the document, with the name of its test.
//!
//! | fault | what the user sees | what is kept |
//! |---|---|---|
//! | the disk is full at any moment | the file, `No space left on device`, status 1 | all but the shard or games in progress |
//! | the run's folder is removed or moved | `cannot continue …`, status 1; nothing is put in its place | what was moved; put back, it goes on |
//! | stopped and continued by signals | nothing; nobody loses on time by it | everything |
//! | the system's clock jumps | nothing: no code of ours asks for the date | everything |
//! | a byte of a shard changes, a shard is cut off | the file is named by whoever reads it | all other shards |
//! | a journal is cut off anywhere | nothing: a torn last line is dropped and played again | every whole line |
//! | weights are swapped in the middle of a run | it goes on with what it has read; started again, it refuses | everything |

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

mod common;

use common::{Running, Workplace, all_files, fill_and_free, our_engine, tiny_plan};
use fairyforge::arena::journal::{Journal, Reader};
use fairyforge::book::journal::Journal as BookJournal;
use fairyforge::record::{head, read_shard};
use fairyforge::run_dir::ShardFiles;
use fairyforge_engine::variant::Variant;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

const SELFPLAY: &str = "selfplay --variant chess --games 120 --nodes 60 --seed 1 --shard-games 4 --threads 2";
const MATCH: &str = "match --variant chess --a a-priori --b a-priori --b-set late_move_base=4 --pairs 60 --nodes 60 --seed 1 --threads 2";
const BOOK: &str = "format = 1\nvariant = \"herculean\"\njudge = \"a-priori\"\n\n[search]\nnodes = 150\ntable_mebibytes = 1\n\n[candidates]\nmost = 3\nnodes = 20\n\n[growth]\nbatch = 4\nbatch_share = 0.5\npositions = 60\n";
const VALUES: &str = r#"
format = 1
variant = "chess"
seed = 3
nodes = 20
weights = "a-priori"
adjudication = { most_plies = 80 }

[design]
settled = true
imbalance = { share = 0.8, pawn_weight = 5, most_common_units = 4 }

[rounds]
most = 2
games = 160

[reference]
games = 320
looks = 2
"#;
const TUNE: &str = r#"
format = 1
variant = "chess"
seed = 3
iterations = 6
pairs_per_iteration = 5
nodes = 40
weights = "a-priori"
adjudication = { most_plies = 100 }

[[parameters]]
name = "late_move_base"
r_end = 0.3
"#;

/// Every command that plays games, as (its line but for `--out`, the plan that it reads).
fn commands() -> Vec<(&'static str, String)> {
    vec![
        (SELFPLAY, String::new()),
        (MATCH, String::new()),
        ("loop plan.toml --threads 2", tiny_plan("chess", 1, "")),
        ("values run plan.toml --threads 2", VALUES.to_owned()),
        ("tune spsa plan.toml --threads 2", TUNE.to_owned()),
        ("book build plan.toml --threads 2", BOOK.to_owned()),
    ]
}

fn place_with(plan: &str) -> Workplace {
    let place = Workplace::new();
    place.write("plan.toml", plan);
    place
}

/// A run that nothing disturbs, in `run`.
fn undisturbed(line: &str, plan: &str) -> Workplace {
    let place = place_with(plan);
    place.run(&into_run(line)).succeeded();
    place
}

fn into_run(line: &str) -> String {
    format!("{line} --out run")
}

/// What the user is told, as `docs/faults.md` has it.
#[track_caller]
fn tells(said: &str, message: &str) {
    assert!(said.contains(message), "expected {message:?} in: {said}");
    let document = document();
    assert!(document.contains(&format!("`{message}`")), "docs/faults.md does not tell of `{message}`");
}

fn document() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/faults.md")).unwrap()
}

#[test]
fn the_tests_named_in_the_document_exist() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let code: String = all_files(&tests)
        .iter()
        .filter(|name| name.ends_with(".rs"))
        .map(|name| std::fs::read_to_string(tests.join(name)).unwrap())
        .collect();
    let document = document();
    let rows = document.lines().skip_while(|line| !line.ends_with("| held by |")).skip(2);
    let rows: Vec<&str> = rows.take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 10, "{rows:?}");
    for row in rows {
        let held_by = row.trim_end_matches(['|', ' ']).rsplit('|').next().unwrap();
        let names: Vec<&str> = held_by.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "{row}");
        for name in names {
            assert!(code.contains(&format!("fn {name}()")), "no test is called {name}");
        }
    }
}

/// Bytes that a run takes on a tmpfs, which counts pages.
fn pages(files: &BTreeMap<String, Vec<u8>>) -> u64 {
    files.values().map(|bytes| bytes.len() as u64 / 4096 + 1).sum()
}

/// Disks of sizes by lot: whatever moment it is, the run stops with the file's name, and with more room it ends as if nothing had been.
#[test]
fn a_disk_that_is_full_at_any_moment_costs_nothing_that_was_finished() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for (line, plan) in commands() {
        // In a folder of the same name, which stands in reports.
        let alone = place_with(&plan);
        alone.run(&format!("{line} --out disk/run")).succeeded();
        let whole = alone.files("disk/run");
        let mut stopped = 0;
        for _ in 0..3 {
            let place = place_with(&plan);
            let size = 2 + random.next_u64() % pages(&whole);
            let Some([first, again]) = fill_and_free(&place, &format!("{}k", 4 * size), line) else { return };
            if first.status == Some(0) {
                continue;
            }
            stopped += 1;
            tells(&first.failed(1), "No space left on device");
            for (name, bytes) in place.files("full").iter().filter(|(name, _)| name.ends_with(".parquet")) {
                assert!(bytes == &whole[name], "{line}: {name} is not as it should be");
            }
            again.succeeded();
            place.assert_same_run("after", &whole);
        }
        assert!(stopped > 0, "{line}: no disk was too small");
    }
}

/// How a run ends whose folder is moved away as soon as something is in it that counts; it must not begin another in its place.
fn moved_away(place: &Workplace, line: &str) -> String {
    let mut running = place.start(&into_run(line));
    running.glance_until(|| all_files(&place.path("run")).len() > 4 || has_games(place));
    std::fs::rename(place.path("run"), place.path("moved")).unwrap();
    running.glance_within(60_000);
    let said = running.end().failed(1);
    assert!(!place.path("run").exists(), "{line}: there is a run again: {:?}", all_files(&place.path("run")));
    said
}

/// Whether a journal has more than its first line.
fn has_games(place: &Workplace) -> bool {
    let journals = ["run/journal.jsonl", "run/tune.jsonl", "run/book.jsonl"];
    journals
        .iter()
        .any(|journal| std::fs::read_to_string(place.path(journal)).is_ok_and(|text| text.lines().count() > 1))
}

#[test]
fn a_run_whose_folder_is_moved_away_stops_and_goes_on_where_it_is_put_back() {
    for (line, plan) in commands() {
        // Larger, so that it cannot be over before the folder is moved.
        let line = line.replace("--games 120", "--games 600").replace("--pairs 60", "--pairs 300");
        let plan = plan.replace("games = 36", "games = 300").replace("games = 160", "games = 600");
        let plan = plan.replace("positions = 60", "positions = 300").replace("iterations = 6", "iterations = 60");
        let alone = undisturbed(&line, &plan);
        let place = place_with(&plan);
        let said = moved_away(&place, &line);
        match line.split(' ').next().unwrap() {
            "selfplay" | "loop" | "values" => tells(&said, "No such file or directory"),
            "match" => tells(&said, "cannot continue run/journal.jsonl: No such file or directory"),
            "tune" => tells(&said, "cannot continue run/tune.jsonl: No such file or directory"),
            "book" => tells(&said, "cannot continue run/book.jsonl: No such file or directory"),
            _ => unreachable!("{line}"),
        }
        std::fs::rename(place.path("moved"), place.path("run")).unwrap();
        place.run(&into_run(&line)).succeeded();
        place.assert_same_run("run", &alone.files("run"));
    }
}

fn signal(running: &Running, name: &str) {
    let status = Command::new("kill").args([name, &running.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// While it is stopped nothing happens and nobody else gets in; then it goes on.
#[test]
#[cfg(unix)]
fn a_run_that_is_stopped_and_continued_ends_as_an_undisturbed_one() {
    for (line, plan) in commands() {
        let alone = undisturbed(line, &plan);
        let place = place_with(&plan);
        let mut running = place.start(&into_run(line));
        running.glance_until(|| place.path("run/version.txt").exists());
        for _ in 0..3 {
            if running.has_ended() {
                break;
            }
            signal(&running, "-STOP");
            sleep(Duration::from_millis(100));
            let before = place.files("run");
            sleep(Duration::from_millis(200));
            assert!(place.files("run") == before, "{line}: it goes on while it is stopped");
            if !running.has_ended() {
                place.run(&into_run(line)).refused(2, &["in use by process", &running.id().to_string()]);
            }
            signal(&running, "-CONT");
            sleep(Duration::from_millis(50));
        }
        running.end().succeeded();
        place.assert_same_run("run", &alone.files("run"));
    }
}

/// Clocks go on while the match is stopped. Without a second look whoever was to move would lose on time, or be given up as silent.
#[test]
#[cfg(unix)]
fn a_match_that_slept_charges_nobody_for_it() {
    let engine = our_engine();
    let place = Workplace::new();
    let outside = format!("cmd={} name=outside option.Hash=4", engine.display());
    let line = "--tc 0.4+0.02 --nodes 400 --time-margin 2500 --pairs 60 --seed 1 --threads 2 --out run";
    let players = ["match", "--variant", "chess", "--player", "name=own weights=a-priori", "--engine", &outside];
    let mut running = place.start_args(&players.into_iter().chain(line.split(' ')).collect::<Vec<_>>());
    for _ in 0..2 {
        let before = place.files("run");
        running.glance_until(|| has_games(&place) && place.files("run") != before);
        assert!(!running.has_ended(), "too short for this test");
        signal(&running, "-STOP");
        sleep(Duration::from_millis(5500));
        signal(&running, "-CONT");
    }
    running.end().succeeded();
    let journal = place.read("run/journal.jsonl");
    assert_eq!(journal.lines().count(), 121);
    assert!(!journal.contains("\"fault\":{"), "somebody was charged: {journal}");
    place.run("match verify run").succeeded();
}

/// Whoever asks for the date can be misled by it. Time is measured by `Instant` alone, which no jump of the system's clock moves.
#[test]
fn no_code_asks_for_the_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut looked_at = 0;
    for folder in ["trainer/src", "engine/src"] {
        let folder = root.join(folder);
        for name in all_files(&folder).iter().filter(|name| name.ends_with(".rs")) {
            let code = std::fs::read_to_string(folder.join(name)).unwrap();
            for date in ["SystemTime", "UNIX_EPOCH", "chrono::", "Utc::now", "Local::now"] {
                assert!(!code.contains(date), "{name} uses {date}");
            }
            looked_at += usize::from(code.contains("Instant::now"));
        }
    }
    assert!(looked_at > 5, "the files that measure time were not looked at");
}

/// One byte after another, by lot: no reader takes it for sound, none panics.
#[test]
fn a_changed_byte_anywhere_in_a_shard_is_noticed() {
    let line = "selfplay --variant chess --games 12 --nodes 20 --seed 1 --threads 2 --shard-games 4";
    let place = undisturbed(line, "");
    let folder = place.path("run/selfplay/001");
    let files = ShardFiles::new(&folder, 4);
    let mut random = ChaCha8Rng::seed_from_u64(2);
    for file in [&files.games, &files.positions] {
        let sound = std::fs::read(file).unwrap();
        let named = |bytes: &[u8]| {
            std::fs::write(file, bytes).unwrap();
            let error = read_shard(&files, None).expect_err("the damage is not noticed").to_string();
            assert!(error.contains(file.to_str().unwrap()), "{error}");
            assert!(head(&folder, 12).is_err(), "the first games are read over the damage");
        };
        for _ in 0..300 {
            let (at, bit) = (random.next_u64() as usize % sound.len(), random.next_u64() % 8);
            let mut bytes = sound.clone();
            bytes[at] ^= 1 << bit;
            named(&bytes);
        }
        for _ in 0..100 {
            named(&sound[..random.next_u64() as usize % sound.len()]);
        }
        std::fs::write(file, &sound).unwrap();
        read_shard(&files, None).unwrap();
    }
    let verified = |bytes: &[u8]| {
        std::fs::write(&files.games, bytes).unwrap();
        place.run("data verify run").failed(2);
        place.run(&into_run(line)).refused(1, &["run/selfplay/001/games-00000004.parquet"])
    };
    let (sound, digest) = (std::fs::read(&files.games).unwrap(), "data digest run");
    std::fs::write(&files.games, &sound).unwrap();
    let whole = place.run(digest).succeeded();
    let mut bytes = sound.clone();
    bytes[sound.len() / 2] ^= 1;
    tells(&verified(&bytes), "cannot read the games back");
    for file in [&files.games, &files.positions] {
        std::fs::remove_file(file).unwrap();
    }
    place.run(&into_run(line)).succeeded();
    assert_eq!(place.run(digest).succeeded(), whole);
}

/// Cut off at every length, a journal opens, and what is in it then are its whole lines, byte for byte.
#[test]
fn a_journal_cut_off_anywhere_keeps_every_whole_line() {
    let place = undisturbed(&MATCH.replace("--pairs 60", "--pairs 4"), "");
    let path = place.path("run/journal.jsonl");
    let header = Reader::open(&path).unwrap().header().clone();
    whole_lines_are_kept(&path, |lines| {
        let (_, games) = Journal::open(&path, &header, 4).unwrap();
        assert_eq!(games.len(), lines);
    });
    let place = undisturbed("book build plan.toml --threads 2", &BOOK.replace("positions = 60", "positions = 12"));
    let path = place.path("run/book.jsonl");
    let variant = Variant::load("herculean").unwrap();
    whole_lines_are_kept(&path, |lines| {
        let mut journal = <BookJournal>::open(&path, &variant).unwrap();
        let mut entries = 0;
        while journal.next_recorded().unwrap().is_some() {
            entries += 1;
        }
        assert_eq!(entries, lines);
    });
}

/// `open` is told how many lines after the first one are whole.
fn whole_lines_are_kept(path: &Path, open: impl Fn(usize)) {
    let bytes = std::fs::read(path).unwrap();
    let first = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    // Every byte of the first lines and of the last ones, and some in between.
    let close = |length: &usize| *length < first + 900 || bytes.len() - length < 300 || length.is_multiple_of(17);
    for length in (0..=bytes.len()).filter(close) {
        std::fs::write(path, &bytes[..length]).unwrap();
        let whole = bytes[..length].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let lines = bytes[..whole].iter().filter(|&&byte| byte == b'\n').count();
        open(lines.saturating_sub(1));
        assert!(std::fs::read(path).unwrap() == bytes[..whole.max(first)], "cut off at {length} of {}", bytes.len());
    }
}

/// The same for every command as its user sees it: the journal is cut off somewhere, the command is given again.
#[test]
fn commands_go_on_from_a_journal_that_was_cut_off() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    for (line, plan) in commands() {
        let place = undisturbed(line, &plan);
        let whole = place.files("run");
        let names = ["journal.jsonl", "tune.jsonl", "book.jsonl"];
        let Some(name) = names.iter().find(|name| whole.contains_key(**name)) else { continue };
        for _ in 0..4 {
            let length = random.next_u64() as usize % whole[*name].len();
            std::fs::write(place.path("run").join(name), &whole[*name][..length]).unwrap();
            place.run(&into_run(line)).succeeded();
            place.assert_same_run("run", &whole);
        }
    }
}

/// Whatever judges positions is read once and kept: a run goes on with it, and does not begin to mix.
#[test]
fn weights_swapped_in_the_middle_of_a_run_are_refused_and_never_mixed() {
    let place = Workplace::new();
    place.run("selfplay --variant chess --games 12 --nodes 20 --seed 1 --out games").succeeded();
    place.run("fit --data games --out weights.toml").succeeded();
    let weights = place.read("weights.toml");
    let other = weights.replacen("tempo = ", "tempo = 1", 1);
    assert_ne!(other, weights);
    let selfplay = format!("{} --weights weights.toml", SELFPLAY.replace("--games 120", "--games 400"));
    let versus = MATCH.replace("--a a-priori", "--a weights.toml").replace("--pairs 60", "--pairs 200");
    for (line, told) in [(selfplay, "weights: recorded"), (versus, "recorded")] {
        place.run(&format!("{line} --out alone")).succeeded();
        let whole = place.files("alone");
        // While it runs: read already.
        let mut running = place.start(&into_run(&line));
        running.glance_until(|| has_games(&place) || place.path("run/selfplay/001").exists());
        place.write("weights.toml", &other);
        sleep(Duration::from_millis(100));
        running.kill();
        // Started again: refused by name, and nothing is changed.
        let before = place.files("run");
        let error = place.run(&into_run(&line)).refused(2, &[told]);
        tells(&error, "nothing was changed");
        place.assert_same_run("run", &before);
        place.write("weights.toml", &weights);
        let mut running = place.start(&into_run(&line));
        running.glance_until(|| place.files("run").len() > before.len());
        place.write("weights.toml", &other);
        running.end().succeeded();
        place.assert_same_run("run", &whole);
        place.write("weights.toml", &weights);
        for folder in ["run", "alone"] {
            std::fs::remove_dir_all(place.path(folder)).unwrap();
        }
    }
}

/// The copies inside a run are not to be changed either: games of one generation are of one judge.
#[test]
fn a_judge_that_changes_inside_a_loop_is_noticed() {
    let place = place_with(&tiny_plan("chess", 2, "").replace("games = 36", "games = 400"));
    let mut running = place.start("loop plan.toml --threads 2 --out run");
    let shards = || all_files(&place.path("run")).iter().filter(|name| name.contains("games-")).count();
    running.glance_until(|| shards() > 3);
    running.kill();
    let kept = place.read("run/weights/000.toml");
    place.write("run/weights/000.toml", &kept.replacen("middlegame = ", "middlegame = 1", 1));
    place.run("loop plan.toml --threads 2 --out run").refused(1, &["run/selfplay/001/games-", "weights: expected "]);
    place.write("run/weights/000.toml", &kept);
    // What was played with the wrong weights meanwhile must go: that is what the message names.
    let undisturbed = place_with(&tiny_plan("chess", 2, "").replace("games = 36", "games = 400"));
    undisturbed.run("loop plan.toml --threads 2 --out run").succeeded();
    let whole = undisturbed.files("run");
    for (name, bytes) in place.files("run") {
        if name.contains(".parquet") && whole[&name] != bytes {
            std::fs::remove_file(place.path("run").join(name)).unwrap();
        }
    }
    place.run("loop plan.toml --threads 2 --out run").succeeded();
    assert_eq!(place.digest("run"), undisturbed.digest("run"));
}
