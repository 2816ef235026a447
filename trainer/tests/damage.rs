//! Damaged files are named and healed; disks that refuse stop a run with a clear error and cost nothing that was finished.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

mod common;

use common::{Workplace, all_files, fill_and_free, with_small_disk};
use fairyforge::record::{read_shard, write_shard};
use fairyforge::run_dir::ShardFiles;

/// Three shards of four games.
const SELFPLAY: &str = "selfplay --variant chess --games 12 --nodes 20 --seed 1 --threads 2 --shard-games 4 --out run";
const SHARD: &str = "run/selfplay/001";

fn played() -> Workplace {
    let place = Workplace::new();
    place.run(SELFPLAY).succeeded();
    place
}

fn file_of(kind: &str) -> String {
    format!("{SHARD}/{kind}-00000004.parquet")
}

/// `data verify`, and whatever else reads the games, names the file and fails.
#[track_caller]
fn is_named(place: &Workplace, file: &str) {
    let verified = place.run("data verify run");
    assert!(verified.stdout.contains(&format!("damaged: {file}: ")), "{verified:?}");
    assert!(!verified.stdout.contains("digest"), "{verified:?}");
    let advice = verified.failed(2);
    assert!(advice.contains("damaged"), "{advice}");
    let json = place.run("data verify run --json");
    let report: serde_json::Value = serde_json::from_str(&json.stdout).expect("one JSON object");
    assert_eq!((&report["damaged"][0]["path"], &report["digest"]), (&file.into(), &serde_json::Value::Null));
    json.failed(2);
    place.run("data digest run").refused(2, &[file]);
    place.run("data quality run").refused(2, &[file]);
    place.run("fit --data run --out fitted.toml").refused(2, &[file]);
    assert!(!place.path("fitted.toml").exists());
}

#[test]
fn damaged_shards_are_named_and_played_anew() {
    let place = played();
    let (sound, digest) = (place.files("run"), place.digest("run"));
    for kind in ["games", "positions"] {
        let file = file_of(kind);
        let bytes = std::fs::read(place.path(&file)).unwrap();
        let mut flipped = bytes.clone();
        flipped[bytes.len() / 3] ^= 4;
        for damaged in [&flipped[..], &bytes[..bytes.len() - 9], &bytes[..20], b""] {
            std::fs::write(place.path(&file), damaged).unwrap();
            is_named(&place, &file);
        }
        // The same command does not pass over it in silence,
        place.run(SELFPLAY).refused(1, &[&file]);
        // and heals it once both files are gone.
        for kind in ["games", "positions"] {
            std::fs::remove_file(place.path(&file_of(kind))).unwrap();
        }
        place.run(SELFPLAY).succeeded();
        assert_eq!(place.digest("run"), digest);
        place.assert_same_run("run", &sound);
    }
}

#[test]
fn a_missing_twin_is_named_and_the_same_command_heals_it() {
    let place = played();
    let sound = place.files("run");
    for kind in ["games", "positions"] {
        std::fs::remove_file(place.path(&file_of(kind))).unwrap();
        is_named(&place, &file_of(kind));
        place.run(SELFPLAY).succeeded();
        place.assert_same_run("run", &sound);
    }
}

#[test]
fn a_shard_lost_altogether_is_noticed() {
    let place = played();
    for kind in ["games", "positions"] {
        std::fs::remove_file(place.path(&file_of(kind))).unwrap();
    }
    let verified = place.run("data verify run");
    assert!(verified.stdout.contains("expected game 4 to come next, got 8"), "{verified:?}");
    verified.failed(2);
}

#[test]
fn damaged_journals_plans_and_weights_are_named() {
    let place = Workplace::new();
    let line = "match --variant chess --a a-priori --b a-priori --pairs 4 --nodes 20 --seed 1 --out run";
    place.run(line).succeeded();
    let sound = place.files("run");
    let journal = place.read("run/journal.jsonl");
    // Torn at the end: healed.
    place.write("run/journal.jsonl", &journal[..journal.len() - 40]);
    place.run(line).succeeded();
    place.assert_same_run("run", &sound);
    // Damaged in the middle: named.
    place.write("run/journal.jsonl", &journal.replacen("\"pair\":1", "\"pear\":1", 1));
    place.run(line).refused(1, &["run/journal.jsonl, line 4"]);
    place.write("run/journal.jsonl", &journal);
    place.write("run/plan.toml", "kind = ");
    place.run(line).refused(2, &["run/plan.toml"]);

    for (text, words) in [
        ("garbage = 1", &["weights.toml", "garbage"][..]),
        ("", &["weights.toml", "missing"]),
        ("format = ", &["weights.toml"]),
    ] {
        place.write("weights.toml", text);
        place.run(&line.replace("--a a-priori", "--a weights.toml")).refused(2, words);
        place.run(&format!("{SELFPLAY} --weights weights.toml")).refused(2, words);
    }
    place.run(&line.replace("--b a-priori", "--b nowhere.toml")).refused(2, &["nowhere.toml", "No such file"]);
}

#[test]
fn folders_that_cannot_be_used_are_refused_clearly() {
    let place = Workplace::new();
    place.write("file", "mine");
    std::fs::create_dir(place.path("foreign")).unwrap();
    place.write("foreign/thesis.tex", "mine");
    let other_runs =
        ["match --variant chess --a a-priori --b a-priori --pairs 2 --nodes 20 --seed 1 --out run".to_owned()];
    for line in other_runs.iter().map(String::as_str).chain([SELFPLAY]) {
        let into = |folder: &str| place.run(&line.replace("--out run", &format!("--out {folder}")));
        into("file").refused(2, &["cannot use file"]);
        into("file/below").refused(2, &["file/below", "Not a directory"]);
        into("foreign").refused(2, &["foreign", "thesis.tex"]);
        into("/proc/nowhere").refused(2, &["/proc/nowhere"]);
    }
    assert_eq!((place.read("file"), place.read("foreign/thesis.tex")), ("mine".into(), "mine".into()));
    assert_eq!(all_files(&place.path("foreign")).len(), 1);
    for command in ["verify", "digest", "head"] {
        place.run(&format!("data {command} nowhere")).refused(2, &["nowhere", "No such file"]);
        place.run(&format!("data {command} file")).refused(2, &["file", "Not a directory"]);
        place.run(&format!("data {command} foreign")).refused(2, &["no records in foreign"]);
    }
}

/// The system's reason is told once.
#[test]
fn reasons_are_not_repeated() {
    let place = Workplace::new();
    let error = place.run("data digest nowhere").failed(2);
    assert_eq!(error.matches("No such file").count(), 1, "{error}");
}

/// A folder lies where one file of a shard is to be written: the other shards are written all the same or later.
#[test]
fn a_shard_that_cannot_be_written_stops_the_run_and_costs_no_other() {
    let undisturbed = played();
    let place = Workplace::new();
    let obstacle = place.path(&(file_of("games") + ".tmp"));
    std::fs::create_dir_all(&obstacle).unwrap();
    std::fs::write(place.path("run/plan.toml"), undisturbed.read("run/plan.toml")).unwrap();
    let ended = place.run(SELFPLAY);
    let error = ended.refused(1, &["games-00000004.parquet.tmp", "the same command continues"]);
    assert!(error.contains("Is a directory"), "{error}");
    std::fs::remove_dir(obstacle).unwrap();
    place.run(SELFPLAY).succeeded();
    place.assert_same_run("run", &undisturbed.files("run"));
}

/// /dev/full stands for a full disk where no file system can be mounted.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_finds_the_disk_full_leaves_nothing() {
    let place = played();
    let full = |name: &str| std::os::unix::fs::symlink("/dev/full", place.path(name)).unwrap();
    full("fitted.toml.tmp");
    let fitted = place.run("fit --data run --out fitted.toml").failed(1);
    assert!(fitted.contains("fitted.toml.tmp") && fitted.contains("No space left"), "{fitted}");
    assert!(!place.path("fitted.toml").exists());

    let shard = read_shard(&ShardFiles::new(&place.path(SHARD), 4), None).unwrap();
    std::fs::create_dir(place.path("elsewhere")).unwrap();
    for kind in ["games", "positions"] {
        full(&format!("elsewhere/{kind}-00000004.parquet.tmp"));
        let error = write_shard(&place.path("elsewhere"), &shard.header.origin, &shard.games).unwrap_err().to_string();
        assert!(error.contains(&format!("{kind}-00000004.parquet.tmp")) && error.contains("No space left"), "{error}");
        assert!(!place.path("elsewhere/games-00000004.parquet").exists(), "the shard is not complete");
        let left = all_files(&place.path("elsewhere"));
        assert!(left.iter().all(|name| !name.ends_with(".tmp")), "{left:?}");
    }
    write_shard(&place.path("elsewhere"), &shard.header.origin, &shard.games).unwrap();
    for kind in ["games", "positions"] {
        let read = |folder: &str| std::fs::read(place.path(&format!("{folder}/{kind}-00000004.parquet"))).unwrap();
        assert!(read("elsewhere") == read(SHARD));
    }
}

#[test]
fn a_full_disk_stops_selfplay_and_costs_no_finished_shard() {
    let (place, undisturbed) = (Workplace::new(), Workplace::new());
    let line = "selfplay --variant chess --games 40 --nodes 20 --seed 1 --threads 2 --shard-games 2";
    undisturbed.run(&format!("{line} --out run")).succeeded();
    let Some([first, again]) = fill_and_free(&place, "120k", line) else { return };
    let error = first.refused(1, &["disk/run/selfplay/001/", "No space left on device", "the same command continues"]);
    assert!(!error.contains("panicked"), "{error}");
    // Everything with its own name is what it would have been; what is missing is what was not finished.
    let (full, whole) = (place.files("full"), undisturbed.files("run"));
    let shards = full.keys().filter(|name| name.contains("games-")).count();
    assert!((1..20).contains(&shards), "{shards} shards fitted");
    for (name, bytes) in full.iter().filter(|(name, _)| !name.ends_with(".tmp")) {
        assert!(bytes == &whole[name], "{name} is not as it should be");
    }
    // Shards are played side by side, so the ones that are not there yet leave gaps; nothing else is wrong.
    let verified = place.run("data verify full --json");
    let report: serde_json::Value = serde_json::from_str(&verified.stdout).expect("one JSON object");
    for finding in report["damaged"].as_array().unwrap() {
        let reason = finding["reason"].as_str().unwrap();
        assert!(reason.starts_with("gap: ") || reason.starts_with("missing; "), "{finding}");
    }
    assert!(again.stderr.contains("games were done before"), "{again:?}");
    again.succeeded();
    assert_eq!(place.digest("after"), undisturbed.digest("run"));
    place.assert_same_run("after", &whole);
}

#[test]
fn a_full_disk_stops_a_match_and_costs_no_finished_game() {
    let (place, undisturbed) = (Workplace::new(), Workplace::new());
    let line = "match --variant chess --a a-priori --b a-priori --pairs 24 --nodes 20 --seed 1 --threads 2";
    undisturbed.run(&format!("{line} --out run")).succeeded();
    let Some([first, again]) = fill_and_free(&place, "28k", line) else { return };
    first.refused(1, &["disk/run/journal.jsonl", "No space left on device"]);
    let whole = undisturbed.read("run/journal.jsonl");
    let journal = place.read("full/journal.jsonl");
    let games: Vec<&str> = journal.split_inclusive('\n').filter(|line| line.ends_with('\n')).collect();
    assert!(games.len() > 1 && games.iter().all(|game| whole.contains(game)), "{journal}");
    again.succeeded();
    place.assert_same_run("after", &undisturbed.files("run"));
}

/// A full disk is no bad input, however early it shows.
#[test]
fn a_disk_that_is_full_from_the_start_is_a_failed_run() {
    let place = Workplace::new();
    let line = "selfplay --variant chess --games 4 --nodes 20 --seed 1 --threads 2";
    // One page: the lock's.
    let Some([first, again]) = fill_and_free(&place, "4k", line) else { return };
    first.refused(1, &["disk/run/", "No space left on device"]);
    again.succeeded();
}

#[test]
fn a_disk_that_may_only_be_read_is_refused_clearly() {
    let place = played();
    let script = "
        $FAIRYFORGE selfplay --variant chess --games 4 --nodes 20 --seed 1 --out disk/run 2>selfplay.err; echo $?
        $FAIRYFORGE fit --data run --out disk/fitted.toml 2>fit.err >/dev/null; echo $?
        ";
    let Some(statuses) = with_small_disk(&place, "ro", script) else { return };
    assert_eq!(statuses, "2\n1\n");
    for (file, path) in [("selfplay.err", "disk/run"), ("fit.err", "disk/fitted.toml")] {
        let error = place.read(file);
        assert!(error.contains(path) && error.contains("Read-only file system"), "{error}");
    }
}
