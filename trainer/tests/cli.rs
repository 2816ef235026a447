//! The commands that scripts rely on: what they print where, and how they refuse.

mod common;

use common::{Workplace, tiny_plan};
use fairyforge_engine::variant::Variant;
use serde_json::Value;
use std::process::{Command, Stdio};

const VARIANTS: [&str; 10] = [
    "chess",
    "herculean",
    "herculean-sorcerer-knights",
    "herculean-sorcerer-knights-lame",
    "opulent-lemurian-shatranj",
    "shatranj",
    "sorcerer",
    "sorcerer-reinforcements",
    "sorcerer-setup2",
    "sorcerer-setup2-reinforcements",
];

fn shipped(variant: &str) -> String {
    let path = format!("{}/../configs/variants/{variant}.toml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the variant is shipped")
}

fn json(text: &str) -> Value {
    assert_eq!(text.lines().count(), 1, "one line of JSON: {text}");
    serde_json::from_str(text).expect("JSON, so without NaN and Infinity")
}

#[test]
fn every_help_has_an_example() {
    let place = Workplace::new();
    let mut lacking = Vec::new();
    for command in [
        "",
        "quickstart",
        "variant",
        "variant list",
        "variant check",
        "variant show",
        "variant explain",
        "board",
        "perft",
        "selfplay",
        "fit",
        "match",
        "sprt",
        "rate",
        "loop",
        "data",
        "data verify",
        "data digest",
        "data head",
        "data quality",
        "pgn",
        "pgn check",
        "pgn export",
        "completions",
        "man",
    ] {
        let help = place.run(&format!("{command} --help")).succeeded();
        let example = help.split("Example").nth(1).is_some_and(|rest| rest.contains(&format!("fairyforge {command}")));
        if !example {
            lacking.push(command);
        }
    }
    assert!(lacking.is_empty(), "no example in the help of {lacking:?}");
}

/// What a help lists below "Commands:", each with what is below it, but for `help` itself.
fn commands_below(place: &Workplace, command: &str) -> Vec<String> {
    let help = place.run(&format!("{command} --help")).succeeded();
    let listed = help.split("Commands:\n").nth(1).unwrap_or_default().lines().take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    let commands: Vec<String> = names.map(|name| format!("{command} {name}").trim().to_owned()).collect();
    commands.into_iter().flat_map(|command| [vec![command.clone()], commands_below(place, &command)].concat()).collect()
}

#[test]
fn every_command_has_a_page_of_the_manual_and_is_completed() {
    let place = Workplace::new();
    let commands = commands_below(&place, "");
    for command in ["selfplay", "book suite", "data verify", "claims check", "man"] {
        assert!(commands.iter().any(|known| known == command), "{command}: {commands:?}");
    }
    let told = place.run("man --out man").succeeded();
    assert!(told.starts_with(&format!("{} pages in man", commands.len() + 1)), "{told}");
    let names = commands.iter().map(|command| format!("fairyforge-{}.1", command.replace(' ', "-")));
    for name in names.chain(["fairyforge.1".into()]) {
        let page = place.read(&format!("man/{name}"));
        for heading in [".TH ", ".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION"] {
            assert!(page.lines().any(|line| line.starts_with(heading)), "{name}, {heading}: {page}");
        }
        assert_eq!(typeset(&place, &name).unwrap_or_default(), "", "{name}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = place.run(&format!("completions {shell}")).succeeded();
        let lacking = |command: &&String| !script.contains(command.rsplit(' ').next().unwrap_or_default());
        assert_eq!(commands.iter().filter(lacking).collect::<Vec<_>>(), [""; 0], "{shell}");
    }
    place.run("completions abacus").refused(2, &["possible values: bash"]);
    place.write("file", "");
    place.run("man --out file/man").refused(1, &["cannot write the manual", "file/man"]);
}

/// What groff has to say against a page; nothing where it is not installed.
fn typeset(place: &Workplace, name: &str) -> Option<String> {
    let mut groff = Command::new("groff");
    let output =
        groff.args(["-man", "-ww", "-Kutf8", "-Tutf8", "-z"]).arg(place.path(&format!("man/{name}"))).output().ok()?;
    Some(String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn variants_are_listed() {
    let place = Workplace::new();
    let list = place.run("variant list").succeeded();
    let rows = json(&place.run("variant list --json").succeeded());
    let mut names: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert!(names.iter().all(|name| list.lines().any(|line| line.starts_with(&format!("{name} ")))), "{list}");
    names.sort_unstable();
    assert_eq!(names, Variant::shipped_names().collect::<Vec<_>>());
    assert!(VARIANTS.iter().all(|variant| names.contains(variant)), "{names:?}");
}

#[test]
fn variants_are_shown_by_name_and_by_path() {
    let place = Workplace::new();
    for variant in VARIANTS {
        place.write(&format!("{variant}.toml"), &shipped(variant));
        for name in [variant, &format!("{variant}.toml")] {
            let shown = json(&place.run(&format!("variant show {name} --json")).succeeded());
            assert_eq!(shown["name"], variant);
            let text = place.run(&format!("variant show {name}")).succeeded();
            for key in ["fen", "rules_hash", "title"] {
                assert!(text.contains(shown[key].as_str().unwrap()), "{key}: {text}");
            }
            for unit in shown["units"].as_array().unwrap() {
                assert!(text.contains(unit["name"].as_str().unwrap()), "{unit}: {text}");
            }
            assert!(text.lines().all(|line| line == line.trim_end() && !line.ends_with(" by")), "{text}");
        }
    }
}

#[test]
fn variants_are_explained_by_name_and_by_path() {
    let place = Workplace::new();
    place.write("mine.toml", "format = 1\ninherits = \"chess\"\n[variant]\nname = \"Mine\"\n");
    for (name, title) in [("chess", "Chess"), ("mine.toml", "Mine")] {
        let text = place.run(&format!("variant explain {name}")).succeeded();
        assert!(text.starts_with(&format!("{title}\n")), "{text}");
        assert!(text.contains("  - leaps (2,1) in all eight directions\n\n     6  . * . * .\n"), "{text}");
        let told = json(&place.run(&format!("variant explain {name} --json")).succeeded());
        assert_eq!(told["units"].as_array().unwrap().len(), 6);
        assert_eq!(told["units"][2]["diagrams"][0]["square"], "d4");
        assert_eq!(told["facts"]["attack_density"][0]["density"], 4.0);
        assert_eq!(told["facts"]["reach"][0]["alone"]["two_moves"], 8);
    }
}

#[test]
fn a_file_without_faults_is_checked_and_one_with_several_is_told_all() {
    let place = Workplace::new();
    place.write("good.toml", &shipped("herculean"));
    place.write("also-good.toml", &shipped("shatranj"));
    let good = place.run("variant check good.toml also-good.toml");
    assert_eq!(good.stderr, "");
    let lines = good.succeeded();
    assert!(lines.contains("good.toml: Herculean Chess") && lines.contains("also-good.toml: Shatranj"), "{lines}");

    let bad = shipped("chess")
        .replace("name = \"Chess\"", "nmae = \"Chess\"")
        .replace("moves = \"N\"", "moves = \"N(\"")
        .replace("zone = \"last_rank\"", "zone = \"lost_rank\"");
    place.write("bad.toml", &bad);
    place.write("broken.toml", "format = \n");
    let checked = place.run("variant check bad.toml good.toml broken.toml nowhere.toml");
    assert!(checked.stdout.starts_with("good.toml: ") && checked.stdout.lines().count() == 1, "{checked:?}");
    let faults = checked.failed(2);
    for words in [
        &["bad.toml:", "variant.nmae", "nearest known key is \"name\""][..],
        &["bad.toml:", "pieces.knight.moves"],
        &["bad.toml:", "promotion.zone", "lost_rank", "last_rank"],
        &["broken.toml:1:"],
        &["nowhere.toml", "No such file"],
        &["error: 3 of 4 files have faults"],
    ] {
        let told = faults.lines().any(|line| words.iter().all(|word| line.contains(word)));
        assert!(told, "expected a line with {words:?} in:\n{faults}");
    }
}

#[test]
fn perft_counts_and_says_so_in_its_last_line() {
    let place = Workplace::new();
    for variant in VARIANTS {
        let count = |depth: u32| -> u64 {
            let text = place.run(&format!("perft --variant {variant} --depth {depth}")).succeeded();
            text.lines().last().unwrap().strip_prefix("nodes ").unwrap().parse().unwrap()
        };
        assert_eq!(count(0), 1);
        let divided = place.run(&format!("perft --variant {variant} --depth 2 --divide")).succeeded();
        let (last, moves) = divided.lines().collect::<Vec<_>>().split_last().map(|(l, m)| (*l, m.to_vec())).unwrap();
        let leaves: u64 = moves.iter().map(|line| line.split_once(": ").unwrap().1.parse::<u64>().unwrap()).sum();
        assert_eq!(moves.len() as u64, count(1), "{variant}");
        assert_eq!((leaves, last), (count(2), &*format!("nodes {leaves}")), "{variant}");
        let told = json(&place.run(&format!("perft --variant {variant} --depth 2 --divide --json")).succeeded());
        assert_eq!((&told["nodes"], &told["depth"], &told["variant"]), (&leaves.into(), &2.into(), &variant.into()));
        for line in moves {
            let (mv, leaves) = line.split_once(": ").unwrap();
            assert_eq!(told["moves"][mv].to_string(), leaves, "{mv}");
        }
    }
    let chess = place.run("perft --variant chess --depth 3").succeeded();
    assert_eq!(chess, "nodes 8902\n");
}

#[test]
fn perft_takes_positions_and_refuses_broken_ones() {
    let place = Workplace::new();
    let perft = |fen: &str| place.run_args(&["perft", "--variant", "chess", "--depth", "1", "--fen", fen]);
    assert_eq!(perft("4k3/8/8/8/8/8/8/4K2R w K - 0 1").succeeded(), "nodes 15\n");
    for (fen, words) in [
        ("8/8 w - - 0 1", &["board", "8 ranks", "got 2"][..]),
        ("", &["board"]),
        ("4k3/8/8/8/8/8/8/4K2X w - - 0 1", &["board", "X"]),
        ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", &["side", "\"x\""]),
        ("8/8/8/8/8/8/8/4K3 w - - 0 1", &["king"]),
        ("4k3/8/8/8/8/8/8/4K3 w - - zero 1", &["zero"]),
        ("4k3/8/8/8/8/8/8/4K3 w - é9 0 1", &["é9"]),
    ] {
        let error = perft(fen).refused(2, words);
        assert_eq!(error.lines().count(), 1, "one line: {error}");
    }
}

#[test]
fn names_that_nothing_has_are_refused_with_the_nearest() {
    let place = Workplace::new();
    let rest = "--games 2 --nodes 9 --seed 1 --out run";
    for line in [
        "perft --variant hercules --depth 1".to_owned(),
        "variant show hercules".to_owned(),
        "variant explain hercules".to_owned(),
        format!("selfplay --variant hercules {rest}"),
        "match --variant hercules --a a-priori --b a-priori --pairs 1 --nodes 9 --seed 1 --out run".to_owned(),
    ] {
        let error = place.run(&line).refused(2, &["hercules", "nearest", "herculean"]);
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    place.run("perft --variant nowhere.toml --depth 1").refused(2, &["nowhere.toml", "No such file"]);
    place.write("bad.toml", &shipped("chess").replace("format = 1", "format = 7"));
    place.run("perft --variant bad.toml --depth 1").refused(2, &["bad.toml", "format", "7"]);
    assert!(!place.path("run").exists());
}

#[test]
fn numbers_out_of_range_are_refused() {
    let place = Workplace::new();
    let selfplay = "selfplay --variant chess --games 4 --nodes 20 --seed 1 --out run";
    let played = "match --variant chess --a a-priori --b a-priori --pairs 2 --nodes 20 --seed 1 --out run";
    for (line, from, to, word) in [
        (selfplay, "--games 4", "--games 0", "games"),
        (selfplay, "--games 4", "--games 18446744073709551615", "games"),
        (selfplay, "--games 4", "--games 9000000000000000000", "games"),
        (selfplay, "--games 4", "--games -1", "games"),
        (selfplay, "--nodes 20", "--nodes 0", "nodes"),
        (selfplay, "--nodes 20", "--nodes 99999999999999", "nodes"),
        (selfplay, "--seed 1", "--seed x", "seed"),
        (selfplay, "--seed 1", "--seed 1 --shard-games 0", "shard_games"),
        (selfplay, "--seed 1", "--seed 1 --shard-games 18446744073709551615", "shard_games"),
        (selfplay, "--seed 1", "--seed 1 --imbalance nan", "share"),
        (selfplay, "--seed 1", "--seed 1 --imbalance 1.5", "share"),
        (selfplay, "--seed 1", "--seed 1 --threads 10000000000", "threads"),
        (played, "--pairs 2", "--pairs 0", "pairs"),
        (played, "--pairs 2", "--pairs 18446744073709551615", "pairs"),
        (played, "--pairs 2", "--pairs 9000000000000000000", "pairs"),
        (played, "--nodes 20", "--nodes 0", "nodes"),
        (played, "--nodes 20", "--nodes 20 --a-set late_move_base", "NAME=VALUE"),
        (played, "--nodes 20", "--nodes 20 --b-set no_such_thing=1", "no_such_thing"),
        (played, "--nodes 20", "--threads 1", "limit"),
        (played, "--nodes 20", "--depth 0", "depth"),
        (played, "--nodes 20", "--tc 0", "time control"),
        (played, "--nodes 20", "--nodes 20 --player name=x --elo0 0 --elo1 5", "two players"),
        (played, "--nodes 20", "--nodes 20 --elo0 5 --elo1 0", "elo0"),
        (played, "--nodes 20", "--nodes 20 --alpha 2 --elo0 0 --elo1 5", "alpha"),
        (played, "--nodes 20", "--nodes 20 --most-plies 0", "most_plies"),
        (played, "--nodes 20", "--nodes 20 --win 4", "whole numbers"),
    ] {
        let mut command = std::process::Command::new("sh");
        // Without a limit on memory a number that is not refused could take the whole machine.
        command.args(["-c", "ulimit -v 4000000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_fairyforge")]);
        let output = command.args(line.replace(from, to).split(' ')).current_dir(place.path("")).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{to}: {error}");
        assert!(error.starts_with("error: ") && error.contains(word), "{to}: {error}");
    }
    assert!(!place.path("run").exists());
    for line in ["perft --variant chess --depth 99", "perft --variant chess", "pefrt", "selfplay"] {
        place.run(line).failed(2);
    }
}

#[test]
fn one_game_and_few_nodes_are_enough() {
    let place = Workplace::new();
    for nodes in [1, 2, 3, 7] {
        let line = format!("selfplay --variant herculean --games 1 --nodes {nodes} --seed 1 --out run{nodes}");
        let told = place.run(&line).succeeded();
        assert!(told.starts_with("2 games in run"), "openings are played twice: {told}");
        let verified = place.run(&format!("data verify run{nodes}")).succeeded();
        assert!(verified.starts_with("1 shards, 2 games, "), "{verified}");
    }
}

#[test]
fn selfplay_prints_its_digest_and_data_tells_what_is_there() {
    let place = Workplace::new();
    let played = place.run("selfplay --variant chess --games 6 --nodes 20 --seed 1 --out run");
    assert!(played.stderr.contains("self-play, chess: 6 games"), "progress is on stderr: {played:?}");
    let digest = place.digest("run");
    assert_eq!(played.succeeded(), format!("6 games in run\ndigest {digest}\n"));
    assert_eq!(place.digest("run/selfplay/001"), digest);
    let verified = place.run("data verify run");
    assert_eq!(verified.stderr, "");
    assert!(verified.succeeded().ends_with(&format!("digest {digest}\n")));
    let report = json(&place.run("data verify run --json").succeeded());
    assert_eq!((&report["games"], &report["digest"]), (&6.into(), &digest.into()));
    assert_eq!(report["damaged"], Value::Array(Vec::new()));
    let head = place.run("data head run --games 2").succeeded();
    assert_eq!(head.lines().filter(|line| line.starts_with("game ")).count(), 2, "{head}");
    assert_eq!(place.run("data head run --games 99").succeeded().matches("game ").count(), 6);
}

#[test]
fn a_match_in_json_has_numbers_or_null() {
    let place = Workplace::new();
    // One pair of equal players is a draw of pairs: the error is unknown, not NaN. A pair is the least to play.
    for (pairs, out) in [(1, "one"), (4, "four")] {
        let line =
            format!("match --variant chess --a a-priori --b a-priori --pairs {pairs} --nodes 20 --seed 2 --out {out}");
        let played = place.run(&format!("{line} --json"));
        assert!(played.stderr.contains("match, chess"), "progress is on stderr: {played:?}");
        let text = played.succeeded();
        assert!(!text.contains("NaN") && !text.contains("nfinity"), "{text}");
        let summary = &json(text.lines().last().unwrap())["meetings"][0];
        let games = ["wins", "draws", "losses"].map(|key| summary["games"][key].as_u64().unwrap());
        assert_eq!(games.iter().sum::<u64>(), 2 * pairs);
        assert_eq!(games[0], games[2], "a player against itself wins as often as it loses");
        let text = place.run(&line).succeeded();
        assert!(text.starts_with("a-priori against a-priori #2: ") && !text.contains("NaN"), "{text}");
    }
    // A one-sided match: a player that lost all its material's worth.
    place.run("selfplay --variant chess --games 12 --nodes 20 --seed 1 --out run").succeeded();
    let weights = place
        .read("run/weights/000.toml")
        .replace("middlegame = ", "middlegame = -")
        .replace("endgame = ", "endgame = -");
    place.write("inverted.toml", &weights.replace("= -0\n", "= 0\n"));
    let line = "match --variant chess --a a-priori --b inverted.toml --pairs 4 --nodes 200 --seed 2 --out sided --json";
    let told = place.run(line).succeeded();
    let summary = &json(told.lines().last().unwrap())["meetings"][0];
    assert!(summary["score"].as_f64().unwrap() > 0.5, "{summary}");
}

#[test]
fn a_fit_in_json_and_in_words() {
    let place = Workplace::new();
    place.run("selfplay --variant shatranj --games 24 --nodes 20 --seed 1 --out run").succeeded();
    let told = place.run("fit --data run --out one/fitted.toml --json");
    let text = told.succeeded();
    assert!(!text.contains("NaN") && !text.contains("nfinity"), "{text}");
    let report = json(&text);
    assert_eq!(report["data_digest"].as_str(), Some(&*place.digest("run")));
    assert_eq!(report["variant"], "shatranj");
    let words = place.run("fit --data run/selfplay/001 --out two.toml").succeeded();
    assert!(words.ends_with("weights written to two.toml\n") && words.contains("shatranj"), "{words}");
    assert_eq!(place.read("one/fitted.toml"), place.read("two.toml"));
    // Fitted weights are a start for the next fit.
    place.run("fit --data run --weights two.toml --out three.toml --positions random --seed 5").succeeded();
}

#[test]
fn fits_of_nothing_and_of_other_games_are_refused() {
    let place = Workplace::new();
    std::fs::create_dir_all(place.path("empty")).unwrap();
    std::fs::create_dir_all(place.path("foreign")).unwrap();
    place.write("foreign/games-00000000.parquet", "PAR1 not by us PAR1");
    place.write("foreign/positions-00000000.parquet", "PAR1 not by us PAR1");
    place.run("fit --data empty --out w.toml").refused(2, &["no records in empty"]);
    place.run("fit --data nowhere --out w.toml").refused(2, &["nowhere"]);
    place.run("fit --data foreign --out w.toml").refused(2, &["foreign/games-00000000.parquet", "not written by"]);
    place.run("fit --data foreign/games-00000000.parquet --out w.toml").refused(2, &["Not a directory"]);
    place.run("selfplay --variant chess --games 12 --nodes 20 --seed 1 --out run").succeeded();
    place.run("fit --data run --variant shatranj --out w.toml").refused(2, &["rules_hash"]);
    place.run("fit --data run --positions-per-game 0 --out w.toml").refused(2, &["at least 1"]);
    place.run("fit --data run --weights nowhere.toml --out w.toml").refused(2, &["nowhere.toml"]);
    place.run("fit --data run --out empty").refused(1, &["empty"]);
    assert!(!place.path("w.toml").exists());
}

#[test]
fn plans_are_refused_with_key_and_hint() {
    let place = Workplace::new();
    let plan = tiny_plan("chess", 1, "");
    for (from, to, words) in [
        ("pairs = 6", "pirs = 6", &["`pirs`", "did you mean `pairs`?"][..]),
        ("[match]", "[macth]", &["`macth`", "did you mean `match`?"]),
        ("games = 36", "games = \"many\"", &["games", "many"]),
        ("games = 36", "games = 0", &["selfplay.games", "1 to 1000000000"]),
        ("share = 0.8", "share = 8.0", &["openings.imbalance.share", "0 to 1", "8"]),
        ("format = 1", "format = 2", &["format", "expected 1, got 2"]),
        ("seed = 3", "", &["missing field `seed`"]),
        ("variant = \"chess\"", "variant = \"ches\"", &["ches", "nearest", "chess"]),
        ("seed = 3", "seed = ", &["line 4"]),
    ] {
        assert!(plan.contains(from), "{from}");
        place.write("bad.toml", &plan.replacen(from, to, 1));
        place.run("loop bad.toml --out run").refused(2, words);
    }
    place.run("loop nowhere.toml --out run").refused(2, &["nowhere.toml", "No such file"]);
    assert!(!place.path("run").exists(), "nothing is made for a plan that is refused");
}

/// `fairyforge perft --divide | head -1` and the like.
#[test]
fn a_reader_that_goes_away_is_no_crash() {
    let place = Workplace::new();
    for line in ["perft --variant chess --depth 2 --divide", "variant list", "variant show herculean"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = place.command(line).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!error.contains("panicked"), "{line}: {error}");
        assert_ne!(output.status.code(), Some(101), "{line}");
    }
}

/// Results that cannot be written are a failed run.
#[test]
#[cfg(target_os = "linux")]
fn results_that_find_no_room_are_told() {
    let place = Workplace::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = place.command("variant list").stdout(full).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.starts_with("error: ") && error.contains("No space left"), "{error}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_sequential_test_by_hand() {
    let place = Workplace::new();
    let got = json(&place.run("sprt --penta 12,55,96,77,22 --elo0 0 --elo1 10 --json").succeeded());
    assert!((got["llr"].as_f64().unwrap() - 1.473_268_86).abs() < 1e-6);
    assert_eq!((got["model"].as_str(), got["decision"].as_str()), (Some("normalized"), Some("continue")));
    for key in ["lower", "upper", "elo", "nelo", "los"] {
        assert!(got[key].is_number(), "{key}");
    }
    assert_eq!(got["elo_ci"].as_array().unwrap().len(), 2);
    let words = place.run("sprt --wdl 220,60,120 --elo0 0 --elo1 10 --model logistic").succeeded();
    assert!(words.contains("logistic Elo, H0 0, H1 10") && words.contains("bounds -2.944 and 2.944"), "{words}");
    assert!(words.contains("decision  H1"), "{words}");
    let beyond = json(&place.run("sprt --wdl 10,0,0 --elo0 -3 --elo1 10 --json").succeeded());
    assert!(beyond["nelo"].is_null() && beyond["elo"] == 1000.0);
}

#[test]
fn a_sequential_test_refuses_nonsense() {
    let place = Workplace::new();
    for (arguments, expected) in [
        ("--penta 1,2,3 --elo0 0 --elo1 5", "expected 5 numbers with commas between them, got 3"),
        ("--penta 1,2,3,4,-5 --elo0 0 --elo1 5", "expected a whole number from 0 on, got \"-5\""),
        ("--wdl 1,2,3 --elo0 5 --elo1 5", "expected elo0 below elo1, got elo0 5 and elo1 5"),
        ("--wdl 1,2,3 --elo0 nan --elo1 5", "elo0: expected a number between -5000 and 5000, got NaN"),
        ("--wdl 1,2,3 --elo0 0 --elo1 5 --alpha 0.6 --beta 0.5", "expected alpha + beta below 1, got 0.6 + 0.5"),
        ("--penta 1,2,3,4,5 --elo0 0 --elo1 5 --model bayesian", "expected wins, draws and losses, got pairs only"),
        ("--penta 1,2,3,4,5 --wdl 1,2,3 --elo0 0 --elo1 5", "expected 30 games for the pairs given, got 6"),
        ("--elo0 0 --elo1 5", "--penta"),
    ] {
        let error = place.run(&format!("sprt {arguments}")).failed(2);
        assert!(error.contains(expected), "{arguments}: {error}");
    }
}

#[test]
fn players_are_rated() {
    let place = Workplace::new();
    let game = |white: &str, black: &str, result: &str| {
        format!("[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n\n{result}\n\n")
    };
    let text: String = [
        ("one", "two", "1-0"),
        ("two", "one", "1/2-1/2"),
        ("two", "one", "1-0"),
        ("three", "one", "0-1"),
        ("two", "three", "*"),
        ("three", "two", "1/2-1/2"),
        ("one", "three", "1/2-1/2"),
        ("last", "one", "0-1"),
    ]
    .iter()
    .map(|(white, black, result)| game(white, black, result))
    .collect();
    place.write("games.pgn", &text);
    let got = json(&place.run("rate games.pgn --anchor two=1500 --json").succeeded());
    assert_eq!((&got["games"], &got["clusters"]), (&Value::from(6), &Value::from(6)));
    assert_eq!(got["taken"], serde_json::json!({"games": 7, "unfinished": 1, "nameless": 0, "faulty": 0}));
    let players = got["players"].as_array().unwrap();
    let rating = |name| players.iter().find(|player| player["name"] == name).unwrap()["rating"].as_f64().unwrap();
    assert!(rating("one") > rating("two") && rating("two") == 1500.0 && rating("three") < 1500.0, "{got}");
    assert_eq!(got["unrated"][0]["reason"], "lost_all");
    place.write("even.pgn", &(game("one", "two", "1/2-1/2") + &game("two", "one", "1/2-1/2")));
    let even = json(&place.run("rate even.pgn --json").succeeded());
    assert!(even["players"][0]["error"].is_null() && even["players"][0]["rating"] == 0.0, "{even}");
    assert!(place.run("rate even.pgn --anchor one=7").succeeded().contains("anchor"));
    let words = place.run("rate games.pgn --white-advantage --model bayeselo").succeeded();
    for part in ["± 95 %", "last", "lost all games", "White's advantage", "draw Elo", "1 games without a result"] {
        assert!(words.contains(part), "{part} in {words}");
    }
    assert!(place.run("rate games.pgn --anchor four=1").failed(2).contains("expected a player who is rated"));
    assert!(place.run("rate none.pgn").failed(2).contains("none.pgn"));
    place.write("bad.jsonl", "{}\n");
    assert!(place.run("rate bad.jsonl").failed(2).contains("bad.jsonl, line 1: expected the header"));
}
