//! Matches as users run them: killed again and again, stopped by a test, tampered with, against programs outside.
#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

mod common;

use common::Workplace;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::Value;
use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::Duration;

/// Kills a match must survive in the test of that.
const KILLS: usize = 20;

fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// (pair, game) of every game of a journal, in its order.
fn games(journal: &str) -> Vec<(u64, u64)> {
    let number = |game: &Value| (game["pair"].as_u64().unwrap(), game["game"].as_u64().unwrap());
    json_lines(journal).iter().skip(1).map(number).collect()
}

/// Kills `line` so many times, each soon after its journal has grown, and lets it end then.
fn killed(place: &Workplace, line: &str, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let length = || std::fs::metadata(place.path("run/journal.jsonl")).map_or(0, |data| data.len());
    for kill in 0..KILLS {
        let before = length();
        let mut running = place.start(line);
        running.glance_until(|| length() > before);
        sleep(Duration::from_micros(random.next_u64() % 15_000));
        assert!(!running.has_ended(), "the match is over before kill {kill}: too short for this test");
        running.kill();
    }
    place.run(line).succeeded();
}

#[test]
fn a_match_killed_twenty_times_has_each_pair_once_and_is_the_undisturbed_one() {
    let line = "match --variant chess --a a-priori --b a-priori --b-set late_move_base=4 --pairs 700 --nodes 50 --seed 3 --threads 2 --out run";
    let [undisturbed, place] = [(), ()].map(|()| Workplace::new());
    undisturbed.run(line).succeeded();
    killed(&place, line, 1);
    let expected: Vec<(u64, u64)> = (0..700).flat_map(|pair| [(pair, 0), (pair, 1)]).collect();
    assert_eq!(games(&place.read("run/journal.jsonl")), expected);
    place.assert_same_run("run", &undisturbed.files("run"));
    assert!(place.run("match verify run").succeeded().starts_with("1400 games, 0 problems"));
}

/// A test that ends a match ends it at the same pair for any number of threads and after kills, and loses no more than
/// the games beyond that pair.
#[test]
fn a_test_ends_a_match_at_the_same_pair_always() {
    let line =
        "match --variant chess --player name=strong --player name=weak --pairs 5000 --nodes 200 --seed 3 --out run";
    let line = line.replace("name=weak", "name=weak,nodes=90").replace(',', "\u{1f}");
    // Words of a player hold spaces, which `run` would split at.
    let args = |rest: &str| -> Vec<String> {
        let words = line.split(' ').chain(rest.split(' ')).map(|word| word.replace('\u{1f}', " "));
        words.collect()
    };
    let play = |rest: &str| {
        let place = Workplace::new();
        let args = args(rest);
        let told = place.run_args(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(told.stderr.contains("at most 10000 games"), "{told:?}");
        (told.succeeded(), place)
    };
    let (told, alone) = play("--elo0 0 --elo1 20 --threads 1");
    assert!(told.contains("SPRT normalized Elo [0, 20]") && told.contains("H1 accepted"), "{told}");
    let pairs = games(&alone.read("run/journal.jsonl")).len() / 2;
    assert!((5..1000).contains(&pairs), "{pairs} pairs");
    for threads in [2, 5] {
        let (again, place) = play(&format!("--elo0 0 --elo1 20 --threads {threads}"));
        assert_eq!(again, told);
        place.assert_same_run("run", &alone.files("run"));
        place.run("match verify run").succeeded();
    }
    // A minimum keeps the test from deciding.
    let (told, place) = play(&format!("--elo0 0 --elo1 20 --min-pairs {}", pairs + 40));
    assert!(told.contains("H1 accepted"), "{told}");
    assert!(games(&place.read("run/journal.jsonl")).len() / 2 >= pairs + 40);
}

#[test]
fn three_players_meet_and_are_rated() {
    let place = Workplace::new();
    let play = |format: &str, out: &str| {
        let rest = format!("--pairs 10 --seed 4 --format {format} --out {out} --json --threads 2");
        let mut args = vec!["match", "--variant", "shatranj"];
        for player in ["name=low nodes=20", "name=middle nodes=40", "name=high nodes=120"] {
            args.extend(["--player", player]);
        }
        let told = place.run_args(&args.into_iter().chain(rest.split(' ')).collect::<Vec<_>>());
        let lines = json_lines(&told.succeeded());
        assert!(lines.iter().rev().skip(1).all(|line| line["event"] == "progress"));
        lines.last().unwrap().clone()
    };
    let result = play("round-robin", "all");
    assert_eq!((&result["event"], &result["games"]), (&Value::from("result"), &Value::from(60)));
    let meetings: BTreeSet<(&str, &str)> = result["meetings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| (m["first"].as_str().unwrap(), m["second"].as_str().unwrap()))
        .collect();
    assert_eq!(meetings, BTreeSet::from([("low", "middle"), ("low", "high"), ("middle", "high")]));
    let rated: Vec<&str> =
        result["ratings"]["players"].as_array().into_iter().flatten().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!((rated.len(), rated[0]), (3, "high"), "{result}");
    let gauntlet = play("gauntlet", "one");
    assert_eq!((gauntlet["meetings"].as_array().unwrap().len(), &gauntlet["games"]), (2, &Value::from(40)));
    // All meetings play the same openings.
    let fens = |pair: u64| -> Vec<String> {
        let all = json_lines(&place.read("all/journal.jsonl"));
        all.iter().filter(|g| g["pair"] == pair).map(|g| g["fen"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(fens(0), fens(1));
    assert_ne!(fens(0), fens(3));
    place.run("match verify all").succeeded();
    assert!(place.run("rate all/journal.jsonl").succeeded().contains("high"));
    assert!(place.run("rate all/games.pgn").succeeded().contains("high"));
}

#[test]
fn tampering_is_told() {
    let place = Workplace::new();
    let line = "match --variant herculean --a a-priori --b a-priori --b-set late_move_base=4 --pairs 4 --nodes 20 --seed 3 --out run";
    place.run(line).succeeded();
    let sound = place.read("run/journal.jsonl");
    let lines: Vec<&str> = sound.split_inclusive('\n').collect();
    let game: Value = serde_json::from_str(lines[2]).unwrap();
    let moves: Vec<&str> = game["moves"].as_str().unwrap().split(' ').collect();
    let with = |changed: &str| [&lines[..2], &[changed], &lines[3..]].concat().concat();
    let changed = |key: &str, value: Value| {
        let mut changed = game.clone();
        changed[key] = value;
        with(&format!("{changed}\n"))
    };
    let opposite = if game["result"] == 1 { -1 } else { 1 };
    let illegal = moves.iter().map(|mv| if *mv == moves[3] { "a1a1" } else { mv }).collect::<Vec<_>>().join(" ");
    for (journal, told) in [
        (changed("result", opposite.into()), "pair 0, game 1: expected the result"),
        (changed("termination", "stalemate".into()), "pair 0, game 1: expected the end"),
        (changed("moves", illegal.into()), "pair 0, game 1: move 4"),
        (changed("plies", 2000.into()), "pair 0, game 1: expected the plies of the opening"),
        (changed("white", 0.into()).replacen("\"black\":0", "\"black\":1", 1), "pair 0, game 1: expected the players"),
        (sound.replacen("\"seed\":3", "\"seed\":4", 1), "header: expected the seed 3"),
        (sound.replacen("20 nodes a move", "200 nodes a move", 1), "header: expected the limits of a-priori"),
        (
            sound.replacen("\"late_move_base\":\"24\"", "\"late_move_base\":\"12\"", 1),
            "header: expected the late_move_base of a-priori 24",
        ),
        ([&lines[..2], &lines[3..]].concat().concat(), "7 games"),
    ] {
        place.write("run/journal.jsonl", &journal);
        let verified = place.run("match verify run");
        assert!(verified.stdout.contains(told), "{told}: {verified:?}");
        verified.failed(1);
    }
    place.write("run/journal.jsonl", &sound);
    place.run("match verify run").succeeded();
    for file in ["run/games.pgn", "run/result.json"] {
        let text = place.read(file);
        place.write(file, &text.replacen('1', "2", 1));
        let verified = place.run("match verify run --json");
        let told: Value = serde_json::from_str(&verified.stdout).unwrap();
        assert!(told["problems"][0].as_str().unwrap().starts_with(&format!("{file}: differs")), "{told}");
        verified.failed(1);
        place.write(file, &text);
    }
    std::fs::remove_file(place.path("run/result.json")).unwrap();
    assert!(place.run("match verify run").stdout.contains("result.json"));
    place.run("match verify nowhere").refused(2, &["nowhere"]);
}

/// Few games often have no likeliest ratings; that must cost neither results nor PGN.
#[test]
fn three_players_and_few_games_have_a_result() {
    for seed in 1..7 {
        let place = Workplace::new();
        let line = format!("--pairs 1 --seed {seed} --threads 2 --nodes 20 --out run");
        let mut args = vec!["match", "--variant", "chess"];
        for player in ["name=a", "name=b option.late_move_base=4", "name=c weights=a-priori hash=2"] {
            args.extend(["--player", player]);
        }
        let told = place.run_args(&args.into_iter().chain(line.split(' ')).collect::<Vec<_>>());
        assert!(told.succeeded().contains("games in run"));
        place.run("match verify run").succeeded();
        assert!(place.path("run/result.json").exists());
    }
}

/// One opening and limits in nodes: the same two games again and again. A test must not take them for evidence.
#[test]
fn copies_of_games_are_no_evidence() {
    let place = Workplace::new();
    place.write("one.epd", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1\n");
    let line = "match --variant chess --a a-priori --b a-priori --b-set late_move_base=4 --nodes 60 --pairs 60 --elo0 0 --elo1 5 --openings one.epd --out run";
    let told = place.run(line).succeeded();
    assert!(told.contains("59 pairs are exact copies of others") && told.contains("undecided"), "{told}");
    assert!(told.contains("after 1 pairs") && told.contains("Elo n/a (no variance yet)"), "{told}");
    place.run("match verify run").succeeded();
}

/// Whoever reads what is only told may go away.
#[cfg(unix)]
#[test]
fn a_match_goes_on_when_nobody_reads_its_progress() {
    let place = Workplace::new();
    let line = "match --variant chess --a a-priori --b a-priori --pairs 3 --nodes 20 --seed 3 --out run";
    let mut command = place.command(line);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert!(command.stderr(writer).status().unwrap().success());
    place.run("match verify run").succeeded();
}

/// Conditions that differ are another match.
#[test]
fn a_match_goes_on_under_its_own_conditions_only() {
    let place = Workplace::new();
    let line = "match --variant chess --a a-priori --b a-priori --pairs 2 --nodes 20 --seed 3 --out run";
    place.run(line).succeeded();
    for (from, to) in [("--nodes 20", "--nodes 21"), ("--seed 3", "--seed 4"), ("--pairs 2", "--pairs 3")] {
        place.run(&line.replace(from, to)).refused(2, &["plan.toml"]);
    }
    // The same plan, but an engine in which something else is in force: told, not mixed.
    let journal = place.read("run/journal.jsonl");
    place.write("run/journal.jsonl", &journal.replacen("\"late_move_base\":\"24\"", "\"late_move_base\":\"25\"", 1));
    place.run(line).refused(1, &["the settings in force of a-priori", "late_move_base"]);
}

#[cfg(unix)]
mod outside {
    use super::*;

    fn engine() -> String {
        common::our_engine().display().to_string()
    }

    fn args<'a>(variant: &'a str, players: &[&'a str], rest: &'a str) -> Vec<&'a str> {
        let players = players.iter().flat_map(|player| ["--player", player]);
        ["match", "--variant", variant].into_iter().chain(players).chain(rest.split(' ')).collect()
    }

    /// The same weights, parameters and nodes: pairs against oneself are even to the move.
    #[test]
    fn our_engine_plays_outside_as_inside() {
        let place = Workplace::new();
        let outside = format!("cmd={} name=outside option.Hash=1", engine());
        let told = place.run_args(&args("sorcerer", &["name=inside", &outside], "--nodes 60 --pairs 3 --out run"));
        assert!(told.stderr.contains("outside: lag "), "{told:?}");
        assert!(told.succeeded().contains("penta [0, 0, 3, 0, 0]"));
        let journal = place.read("run/journal.jsonl");
        let header = &json_lines(&journal)[0];
        assert_eq!(
            header["players"][1]["effective"]["late_move_base"],
            header["players"][0]["effective"]["late_move_base"]
        );
        assert_eq!(header["players"][1]["effective"]["UCI_Variant"], "sorcerer");
        place.run("match verify run").succeeded();
    }

    /// A program that plays an illegal move in every third answer: told apart from losses, with the budget kept.
    #[test]
    fn failures_are_a_class_of_their_own() {
        let place = Workplace::new();
        let filter = "sed -u -e '/^bestmove/{x;s/^/x/;/xxx/{s/.*//;x;s/.*/bestmove a1a1/;x};x}'";
        place.write("rogue.sh", &format!("{} | {filter}\n", engine()));
        let players = ["name=good", "cmd='sh rogue.sh' name=rogue"];
        let told = place.run_args(&args("chess", &players, "--nodes 30 --pairs 3 --breakdowns 9 --out run"));
        let text = told.stdout.clone();
        assert!(told.failed(1).contains("nothing counts: a player failed in each of the 3 pairs"));
        assert!(text.contains("good against rogue: +0 =0 -0"), "{text}");
        assert!(text.contains("failures of rogue: 6 illegal move\n3 pairs with failures are left out"), "{text}");
        let pgn = place.read("run/games.pgn");
        assert_eq!(pgn.matches("[Termination \"illegal move\"]").count(), 6);
        assert_eq!(pgn.split_whitespace().collect::<Vec<_>>().join(" ").matches("illegal move: \"a1a1\"").count(), 6);
        place.run("pgn check run/games.pgn").succeeded();
        place.run("match verify run").succeeded();

        let spent =
            place.run_args(&args("chess", &players, "--nodes 30 --pairs 3 --breakdowns 2 --threads 1 --out spent"));
        spent.refused(1, &["rogue: expected at most 2 crashes, hangs and illegal moves, got 3", "a1a1"]);
        assert_eq!(games(&place.read("spent/journal.jsonl")).len(), 3, "what was played is kept");
        // Once somebody has looked into it, the match goes on.
        place
            .run_args(&args("chess", &players, "--nodes 30 --pairs 3 --breakdowns 3 --threads 1 --out spent"))
            .failed(1);
        place.run("match verify spent").succeeded();
    }

    /// Games beyond the end of a test are dropped, and with them their failures: the result must not remember them.
    #[test]
    fn a_test_against_a_program_that_fails_now_and_then_verifies() {
        let place = Workplace::new();
        let filter = "sed -u -e '/^bestmove/{x;s/^/x/;/x\\{400\\}/{s/.*//;x;s/.*/bestmove a1a1/;x};x}'";
        place.write("rogue.sh", &format!("{} | {filter}\n", engine()));
        let players = ["name=good nodes=200", "cmd='sh rogue.sh' name=rogue nodes=20 option.Hash=1"];
        let rest = "--pairs 400 --elo0 0 --elo1 60 --threads 3 --breakdowns 99 --out run";
        let told = place.run_args(&args("chess", &players, rest)).succeeded();
        assert!(told.contains("H1 accepted"), "{told}");
        place.run("match verify run").succeeded();
    }

    /// Nobody waits for a program that does not answer.
    #[test]
    fn an_interrupt_is_heard_while_a_program_is_silent() {
        let place = Workplace::new();
        place.write("silent.sh", "echo here >started; while read line; do :; done\n");
        let words = args("chess", &["name=x", "cmd='sh silent.sh'"], "--nodes 9 --pairs 1 --out run");
        let mut running = place.start_args(&words);
        running.glance_until(|| place.path("started").exists());
        running.interrupt();
        // Far less than the half minute that a program has to introduce itself.
        running.glance_within(10_000);
        running.end().failed(130);
    }

    #[test]
    fn programs_that_cannot_play_are_refused_before_the_first_game() {
        let place = Workplace::new();
        let engine = engine();
        for (player, words) in [
            ("cmd=./nowhere".to_owned(), &["nowhere", "No such file"][..]),
            (format!("cmd={engine} option.Hahs=5"), &["Hahs", "Hash"]),
            (format!("cmd={engine} option.Hash=0"), &["Hash", "0"]),
            (format!("cmd={engine} proto=xboard"), &["proto uci"]),
            (format!("cmd={engine} dir=nowhere"), &["dir", "nowhere"]),
            ("cmd=true".to_owned(), &["true", "crash"]),
        ] {
            let refused = place.run_args(&args("chess", &["name=x", &player], "--nodes 9 --pairs 1 --out run"));
            refused.refused(2, words);
            assert!(!place.path("run/journal.jsonl").exists(), "{player}");
        }
    }

    #[test]
    fn a_killed_match_leaves_no_engine_behind_and_goes_on() {
        let place = Workplace::new();
        std::os::unix::fs::symlink(engine(), place.path("engine-of-this-test")).unwrap();
        place.write("name", &place.path("engine-of-this-test").display().to_string());
        let line = "match --variant chess --player weights=a-priori --player cmd=./engine-of-this-test --nodes 50 --pairs 400 --threads 2 --out run";
        let mut random = ChaCha8Rng::seed_from_u64(9);
        for _ in 0..4 {
            let length = || std::fs::metadata(place.path("run/journal.jsonl")).map_or(0, |data| data.len());
            let before = length();
            let mut running = place.start(line);
            running.glance_until(|| length() > before);
            sleep(Duration::from_micros(random.next_u64() % 15_000));
            running.kill();
        }
        // An engine whose runner has gone reads the end of its input and ends.
        let alive = || -> usize {
            let folder = place.path("").canonicalize().unwrap();
            let processes = std::fs::read_dir("/proc").unwrap().flatten();
            processes
                .filter(|process| std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == folder))
                .count()
        };
        for _ in 0..200 {
            if alive() == 0 {
                break;
            }
            sleep(Duration::from_millis(50));
        }
        assert_eq!(alive(), 0, "engines of killed matches");
        let numbers = games(place.read("run/journal.jsonl").rsplit_once('\n').unwrap().0);
        assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), numbers.len(), "no game twice");
    }
}

/// What an interrupted match has shown: a second of games on time, with clocks that are told and kept.
#[test]
fn games_on_time_tell_their_times() {
    let place = Workplace::new();
    let line = "match --variant chess --a a-priori --b a-priori --pairs 1 --tc 0.3+0.01 --time-margin 5000 --out run";
    place.run(line).succeeded();
    for game in &json_lines(&place.read("run/journal.jsonl"))[1..] {
        let plies = game["scores"].as_array().unwrap().len();
        assert_eq!(game["milliseconds"].as_array().unwrap().len(), plies);
        assert!(game["fault"].is_null(), "{game}");
    }
    place.run("match verify run").succeeded();
    // Nodes have no times, so that equal matches are equal files.
    place.run(&line.replace("--tc 0.3+0.01", "--nodes 20").replace("run", "nodes")).succeeded();
    assert!(!place.read("nodes/journal.jsonl").contains("milliseconds"));
}

#[test]
fn books_are_tried_before_the_first_game() {
    let place = Workplace::new();
    place.write(
        "book.epd",
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1 id \"king's pawn\";\nnonsense\n",
    );
    let line = "match --variant chess --a a-priori --b a-priori --pairs 3 --nodes 20 --openings book.epd --out run";
    place.run(line).refused(2, &["book.epd", "2"]);
    assert!(!place.path("run").exists());
    place.write("book.epd", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1 id \"king's pawn\";\n");
    let played = place.run(line);
    assert!(played.stderr.contains("warning: the openings are used again"), "{played:?}");
    played.succeeded();
    place.run("match verify run").succeeded();
    place.write("book.epd", "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1\n");
    place.run("match verify run").refused(2, &["book.epd", "changed"]);
}
