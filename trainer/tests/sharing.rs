//! Games that several processes play: whatever the split, killed or not, in one folder or in several, a run ends with the bytes of
//! one that a single process played undisturbed.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

mod common;

use common::{Workplace, all_files, json, tiny_plan};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::Value;
use std::thread::sleep;
use std::time::Duration;

const SELFPLAY: &str =
    "selfplay --variant herculean --games 60 --nodes 40 --seed 5 --shard-games 4 --threads 1 --out run";
const MATCH: &str = "match --variant chess --a a-priori --b a-priori --b-set late_move_base=4 --pairs 30 --nodes 60 --seed 3 --threads 1 --out run";
const SPRT: &str = "match --variant chess --a a-priori --b a-priori --b-set late_move_base=4 --pairs 400 --nodes 40 --seed 3 --elo0 -150 --elo1 -50 --threads 1 --out run";
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

[ladder]
nodes = [10]
games = 160
"#;
const TUNE: &str = r#"
format = 1
variant = "chess"
seed = 3
iterations = 4
pairs_per_iteration = 5
nodes = 40
weights = "a-priori"
adjudication = { most_plies = 100 }

[[parameters]]
name = "late_move_base"
r_end = 0.3

[[parameters]]
name = "weights.knight.middlegame"
r_end = 0.3

[confirm]
elo0 = 0
elo1 = 40
max_pairs = 20
"#;

/// Every command that plays games, as (its line, the plan that it reads).
fn commands() -> Vec<(&'static str, String)> {
    vec![
        (SELFPLAY, String::new()),
        (MATCH, String::new()),
        (SPRT, String::new()),
        ("loop plan.toml --threads 1 --out run", tiny_plan("chess", 2, "")),
        ("values run plan.toml --threads 1 --out run", VALUES.to_owned()),
        ("tune spsa plan.toml --threads 1 --out run", TUNE.to_owned()),
        ("book build plan.toml --threads 1 --out run", BOOK.to_owned()),
    ]
}

fn place_with(plan: &str) -> Workplace {
    let place = Workplace::new();
    place.write("plan.toml", plan);
    place
}

/// What `--merge` says: how the run ended, or which games it wants.
fn merged(place: &Workplace, line: &str) -> Result<String, Value> {
    let ended = place.run(&format!("{line} --merge"));
    match ended.status {
        Some(3) => Err(json(ended.stdout.lines().last().unwrap())),
        _ => Ok(ended.succeeded()),
    }
}

/// All parts of a step at once, two at a time.
fn play_parts(place: &Workplace, line: &str, parts: usize) {
    let numbers: Vec<usize> = (1..=parts).collect();
    for two in numbers.chunks(2) {
        let running: Vec<_> =
            two.iter().map(|number| place.start(&format!("{line} --shard {number}/{parts}"))).collect();
        running.into_iter().for_each(|part| {
            let said = part.end().succeeded();
            assert!(said.starts_with("part ") || said.starts_with("all games are there"), "{said}");
        });
    }
}

/// Parts and merges in turn until the run is over; returns what it says then, and how many steps it took.
fn shared(place: &Workplace, line: &str, parts: usize) -> (String, usize) {
    for steps in 0..200 {
        match merged(place, line) {
            Ok(said) => return (said, steps),
            Err(wants) => {
                assert_eq!(wants["wants"], "games", "{wants}");
                assert!(wants["missing"].as_u64().unwrap() > 0 && wants["missing"].as_u64() <= wants["of"].as_u64());
                play_parts(place, line, parts);
            }
        }
    }
    panic!("{line} does not get on");
}

/// Without the lines that tell how long something took.
fn without_times(said: &str) -> Vec<&str> {
    said.lines().filter(|line| !line.starts_with("generation ") && !line.contains(" s in all;")).collect()
}

#[test]
fn every_command_shared_by_three_ends_as_one_that_played_alone() {
    for (line, plan) in commands() {
        let [alone, many] = [(), ()].map(|()| place_with(&plan));
        let said = alone.run(line).succeeded();
        let (shared_said, steps) = shared(&many, line, 3);
        assert!(steps > 0, "{line}");
        many.assert_same_run("run", &alone.files("run"));
        assert_eq!(without_times(&shared_said), without_times(&said), "{line}");
        // Over is over, for parts too.
        let late = many.run(&format!("{line} --shard 2/3")).succeeded();
        assert!(late.starts_with("all games are there in run;"), "{late}");
        many.assert_same_run("run", &alone.files("run"));
    }
}

#[test]
fn any_number_of_parts_gives_the_same_games() {
    let alone = place_with("");
    alone.run(SELFPLAY).succeeded();
    for parts in [1, 2, 7, 40] {
        let many = place_with("");
        play_parts(&many, SELFPLAY, parts);
        assert_eq!(many.digest("run"), alone.digest("run"), "{parts} parts");
        merged(&many, SELFPLAY).unwrap();
        many.assert_same_run("run", &alone.files("run"));
    }
}

/// Parts are killed at any moment, and the rest is played by whoever comes.
#[test]
fn parts_that_are_killed_lose_nothing() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for (line, plan) in commands() {
        let [alone, many] = [(), ()].map(|()| place_with(&plan));
        alone.run(line).succeeded();
        for kill in 0..8 {
            let _ = merged(&many, line);
            let part = many.start(&format!("{line} --shard {}/2", kill % 2 + 1));
            sleep(Duration::from_millis(random.next_u64() % 150));
            part.kill();
        }
        // Half the time what parts left is taken in by a process that plays the rest itself.
        if random.next_u64() % 2 == 0 {
            shared(&many, line, 2);
        } else {
            many.run(line).succeeded();
        }
        many.assert_same_run("run", &alone.files("run"));
    }
}

#[test]
fn parts_played_in_folders_of_their_own_are_merged() {
    for line in [SELFPLAY, MATCH] {
        let [alone, many] = [(), ()].map(|()| place_with(""));
        alone.run(line).succeeded();
        for number in 1..=3 {
            let apart = line.replace("--out run", &format!("--out part{number}"));
            many.run(&format!("{apart} --shard {number}/3")).succeeded();
        }
        many.run("merge part1 part3 --out run").succeeded();
        assert!(merged(&many, line).is_err(), "the second part is missing");
        many.run("merge part1 part2 part3 --out run").succeeded();
        merged(&many, line).unwrap();
        many.assert_same_run("run", &alone.files("run"));
    }
}

#[test]
fn runs_that_do_not_belong_together_are_not_merged() {
    let place = place_with("");
    place.run(&format!("{SELFPLAY} --shard 1/2")).succeeded();
    let other = SELFPLAY.replace("--seed 5", "--seed 6").replace("--out run", "--out other");
    place.run(&format!("{other} --shard 2/2")).succeeded();
    place.run("merge run other --out both").refused(2, &["another plan", "seed: recorded 6, asked for 5"]);
    assert!(!place.path("both/selfplay").exists());
    // The same file with other bytes.
    let again = SELFPLAY.replace("--out run", "--out again");
    place.run(&format!("{again} --shard 1/2")).succeeded();
    let shard = "again/selfplay/001/positions-00000000.parquet";
    let mut bytes = std::fs::read(place.path(shard)).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(place.path(shard), bytes).unwrap();
    place.run("merge run again --out both").refused(2, &[shard, "differs"]);
    place.write("again/version.txt", "0.0.0 (other)\n");
    place.run("merge run again --out both").refused(2, &["again is a run of version 0.0.0 (other)"]);
    place.run("merge run nowhere --out both").refused(1, &["nowhere"]);
}

#[test]
fn parts_that_do_not_belong_to_the_run_are_refused() {
    let place = place_with("");
    play_parts(&place, SELFPLAY, 1);
    let before = place.files("run");
    let other = SELFPLAY.replace("--seed 5", "--seed 6");
    place.run(&format!("{other} --shard 1/2")).refused(2, &["another plan", "seed: recorded 5, asked for 6"]);
    place.write("run/version.txt", "0.0.0 (other)\n");
    place
        .run(&format!("{SELFPLAY} --shard 1/2"))
        .refused(2, &["run of version 0.0.0 (other)", "expected that version"]);
    place.write("run/version.txt", std::str::from_utf8(&before["version.txt"]).unwrap());
    for part in ["0/2", "3/2", "two", "1/2000000"] {
        let error = place.run(&format!("{SELFPLAY} --shard {part}")).failed(2);
        assert!(error.contains("expected a part as 3/8"), "{error}");
    }
    let error = place.run(&format!("{SELFPLAY} --shard 1/2 --merge")).failed(2);
    assert!(error.contains("cannot be used with"), "{error}");
    place.assert_same_run("run", &before);
}

/// While somebody plays the whole, no part may; while parts are played, nobody may write to the run.
#[test]
fn parts_and_the_whole_are_never_played_at_once() {
    let place = place_with("");
    let long = SELFPLAY.replace("--games 60", "--games 100000");
    let mut whole = place.start(&long);
    whole.glance_until(|| place.path("run/selfplay/001").exists());
    place.run(&format!("{long} --shard 1/2")).refused(2, &["run is in use by process"]);
    whole.kill();
    let mut part = place.start(&format!("{long} --shard 2/2"));
    // Names only: files are renamed meanwhile.
    let shards = || all_files(&place.path("run")).iter().filter(|name| name.ends_with(".parquet")).count();
    let before = shards();
    part.glance_until(|| shards() > before + 4);
    place.run(&long).refused(2, &["run is in use by"]);
    place.run(&format!("{long} --merge")).refused(2, &["run is in use by"]);
    let mut other = place.start(&format!("{long} --shard 1/2"));
    sleep(Duration::from_millis(300));
    assert!(!other.has_ended() && !part.has_ended(), "parts are played side by side");
    part.kill();
    other.kill();
    let wants = merged(&place, &long).unwrap_err();
    assert_eq!((wants["step"].as_str(), wants["units"].as_str()), (Some("selfplay/001"), Some("games")));
    assert!(wants["missing"].as_u64() < wants["of"].as_u64(), "{wants}");
    let left: Vec<String> = place.files("run").into_keys().filter(|name| name.contains(".tmp")).collect();
    assert!(left.is_empty(), "what killed parts left is removed: {left:?}");
}

/// What comes next is no games: parts say so, whoever merges does it.
#[test]
fn a_fit_is_not_shared() {
    let place = place_with(&tiny_plan("chess", 1, ""));
    let line = "loop plan.toml --threads 1 --out run";
    play_parts(&place, line, 2);
    let ended = place.run(&format!("{line} --shard 1/2"));
    assert_eq!(ended.status, Some(3), "{ended:?}");
    assert_eq!(json(&ended.stdout)["wants"], "merge", "{ended:?}");
    let wants = merged(&place, line).unwrap_err();
    assert_eq!(wants["step"], "gate/001-vs-000.jsonl");
    assert!(place.path("run/candidates/001.toml").exists());
}

#[test]
fn a_budget_of_time_is_not_shared() {
    let place = place_with(VALUES);
    let line = "values run plan.toml --threads 1 --out run --budget 10min";
    place.run(&format!("{line} --shard 1/2")).refused(2, &["--budget: expected games", "got 10min"]);
    let error = place.run(&format!("{line} --merge")).failed(2);
    assert!(error.contains("--budget: expected games"), "{error}");
}

/// A test ends a match before all pairs are there; pairs that parts played beyond its end do not count.
#[test]
fn a_test_ends_a_shared_match_early() {
    let [alone, many] = [(), ()].map(|()| place_with(""));
    let said = alone.run(SPRT).succeeded();
    let played = alone.read("run/journal.jsonl").lines().count() - 1;
    assert!(played < 800, "the test ends nothing: {played} games");
    let mut parts = 1..=20;
    let merged = loop {
        let part = parts.next().expect("the test ends the match");
        many.run(&format!("{SPRT} --shard {part}/20")).succeeded();
        if let Ok(said) = merged(&many, SPRT) {
            break said;
        }
    };
    assert_eq!(merged, said);
    assert!(parts.next().is_some(), "parts are left over");
    many.assert_same_run("run", &alone.files("run"));
}
