//! `fairyforge pgn`: the games of runs written and read back, and broken files told.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::{Workplace, tiny_plan};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// Games and moves of PGN files that must be sound.
fn checked(place: &Workplace, files: &str) -> (u64, u64) {
    let counts = json(&place.run(&format!("pgn check --json {files}")).succeeded());
    let total = &counts["total"];
    for file in counts["files"].as_array().unwrap() {
        assert_eq!((&file["fault_count"], &file["warning_count"]), (&Value::from(0), &Value::from(0)), "{file}");
    }
    (total["games"].as_u64().unwrap(), total["moves"].as_u64().unwrap())
}

#[test]
fn the_games_of_self_play_are_written_and_read_back() {
    let place = Workplace::new();
    place.run("selfplay --variant sorcerer-reinforcements --games 12 --nodes 20 --seed 5 --threads 2 --shard-games 4 --out run");
    let told = place.run("pgn export run --out games.pgn").succeeded();
    assert_eq!(told, "12 games of self-play, 0 of matches, in games.pgn\n");
    let text = place.read("games.pgn");
    let verified = json(&place.run("data verify run --json").succeeded());
    assert_eq!(checked(&place, "games.pgn"), (12, verified["positions"].as_u64().unwrap()));
    for words in [
        "[Event \"self-play, seed 5\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"0\"]\n[White \"fairyforge ",
        ", weights a-priori\"]\n",
        "[Variant \"sorcerer-reinforcements\"]\n[SetUp \"1\"]\n[FEN \"",
        "[Termination \"",
        "[Round \"11\"]\n",
    ] {
        assert!(text.contains(words), "{words:?} in {text}");
    }
    assert!(text.lines().all(|line| line.starts_with('[') || line.len() < 80), "{text}");
    assert!(!place.path("games.pgn.tmp").exists());

    // Equal runs give equal bytes, in a file, on standard output, and shard by shard.
    assert_eq!(place.run("pgn export run/selfplay --variant sorcerer-reinforcements --out -").succeeded(), text);
    let shards: String = [0, 4, 8]
        .map(|first| place.run(&format!("pgn export run/selfplay/001/games-{first:08}.parquet --out -")).succeeded())
        .concat();
    assert_eq!(shards, text);
    place.run("pgn export run --part matches --out none.pgn").refused(2, &["no games in run"]);
    assert!(!place.path("none.pgn").exists() && !place.path("none.pgn.tmp").exists());
}

#[test]
fn the_matches_of_a_loop_are_written() {
    let place = Workplace::new();
    place.write("plan.toml", &tiny_plan("herculean", 2, ""));
    place.run("loop plan.toml --out run").succeeded();
    let told = place.run("pgn export run --out all.pgn").succeeded();
    assert_eq!(told, "72 games of self-play, 24 of matches, in all.pgn\n");
    assert_eq!(checked(&place, "all.pgn").0, 96);
    // A journal that is being written is read as far as it goes, and left as it is.
    let journal = std::fs::read_dir(place.path("run/gate")).unwrap().map(|entry| entry.unwrap().path());
    let journal = journal.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).min().unwrap();
    let torn = std::fs::read_to_string(&journal).unwrap() + "{\"pair\":9,\"fe";
    std::fs::write(&journal, &torn).unwrap();
    place.run("pgn export run --part matches --out matches.pgn").succeeded();
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), torn);
    let matches = place.read("matches.pgn");
    assert!(place.read("all.pgn").ends_with(&matches));
    for words in ["[Event \"gate 001 against 000, seed 3\"]", "[Round \"1.1\"]", "[White \"001\"]", "[Black \"000\"]"] {
        assert!(matches.contains(words), "{words:?} in {matches}");
    }
}

#[test]
fn a_match_tells_its_players_and_a_game_of_ones_own_is_named() {
    let place = Workplace::new();
    place.write(
        "mine.toml",
        "format = 1\ninherits = \"chess\"\n[variant]\nname = \"Mine\"\n[end]\nmove_count_plies = 80\n",
    );
    place
        .run("match --variant mine.toml --a a-priori --b a-priori --b-set late_move_base=20 --pairs 2 --nodes 20 --seed 2 --threads 1 --out run")
        .succeeded();
    let refused = place.run("pgn export run --out games.pgn");
    refused.refused(2, &["mine"]);
    // The rules must be those that were played.
    place.run("pgn export run --variant chess --out games.pgn").refused(2, &["plan.toml", "rules hash"]);
    place.run("pgn export run --variant mine.toml --out games.pgn").succeeded();
    let text = place.read("games.pgn");
    assert_eq!(text.matches("\"a-priori, late_move_base=20\"]").count(), 4, "{text}");
    assert_eq!(text.matches("[Variant \"mine\"]").count(), 4);
    assert_eq!(checked(&place, "--variant mine.toml games.pgn").0, 4);
    place.run("pgn check games.pgn").failed(2);
}

#[test]
fn broken_files_are_told_with_line_and_column() {
    let place = Workplace::new();
    place.write("good.pgn", "[Result \"1-0\"]\n\n1. e4 e5 1-0\n\n[Variant \"herculean\"]\n[Result \"*\"]\n\n1. e6 *\n");
    place.write("bad.pgn", "1. e4 e6 2. Ke3 *\n\n[Event \"odd\"]\n\n1. d4 0-1\n[Result \"1-0\"]\n\n1. c4 {open\n");
    let good = place.run("pgn check good.pgn").succeeded();
    assert!(good.lines().any(|line| line.split_whitespace().eq("all 2 3 1 0 0 1".split(' '))), "{good}");
    assert!(good.ends_with("1 files, 0 faults, 0 warnings\n"), "{good}");

    let checked = place.run("pgn check bad.pgn good.pgn nowhere.pgn");
    assert!(checked.stdout.ends_with("3 files, 3 faults, 0 warnings\n"), "{checked:?}");
    let faults = checked.failed(2);
    for start in [
        "bad.pgn:1:13: game 1: move \"Ke3\" is not legal",
        "bad.pgn:8:7: game 3: this comment",
        "nowhere.pgn: cannot read",
    ] {
        assert!(faults.lines().any(|line| line.starts_with(start)), "{start} in {faults}");
    }
    assert!(faults.ends_with("error: 3 faults in 3 files\n"), "{faults}");

    let checked = place.run("pgn check --json bad.pgn");
    let told = json(&checked.stdout);
    checked.failed(2);
    let fault = &told["files"][0]["faults"][0];
    assert_eq!(
        (&fault["line"], &fault["column"], &fault["game"]),
        (&Value::from(1), &Value::from(13), &Value::from(1))
    );
    assert_eq!(told["variants"]["chess"]["0-1"], 1);
    place.run("pgn check --variant tiddlywinks good.pgn").refused(2, &["tiddlywinks"]);
    place.run("pgn export nowhere --out games.pgn").refused(2, &["nowhere"]);
}
