//! `fairyforge endgame` as a user runs it: what it prints, what it leaves, how it goes on and what it refuses.

mod common;

use common::Workplace;
use serde_json::Value;

fn json(text: &str) -> Value {
    assert_eq!(text.lines().count(), 1, "one line of JSON: {text}");
    serde_json::from_str(text).expect("JSON")
}

fn build(place: &Workplace, variant: &str, men: &str, rest: &[&str]) -> common::Ended {
    let args = ["endgame", "build", "--variant", variant, "--men", men, "--out", "tables", "--threads", "2"];
    place.run_args(&[&args[..], rest].concat())
}

#[test]
fn a_table_is_built_checked_and_asked() {
    let place = Workplace::new();
    let told = json(&build(&place, "chess", "K+Q v K", &["--json"]).succeeded());
    assert_eq!((&told["longest_moves"], &told["men"]), (&10.into(), &"K+Q v K".into()));
    assert_eq!(told["won"], told["positions"]);
    assert!(told["weak_side_to_move"]["drawn"].as_u64().unwrap() > 0, "{told}");
    assert_eq!(place.files("tables").keys().collect::<Vec<_>>(), ["KQvK.table", "KvK.table"]);

    let other = json(&build(&place, "chess", "K v K+Q", &["--json"]).succeeded());
    assert_eq!((&other["strong_side"], &other["longest_moves"]), (&"black".into(), &10.into()));
    assert_eq!((&other["positions"], &other["won"]), (&told["positions"], &told["won"]));
    std::fs::remove_file(place.path("tables").join("KvKQ.table")).unwrap();
    let mirrored = ["endgame", "probe", "tables", "--fen", "K7/8/2k5/8/8/8/8/7q b - - 0 1", "--json"];
    assert_eq!(json(&place.run_args(&mirrored).succeeded())["value"]["plies"], 3);

    let fen = told["longest_fen"].as_str().unwrap();
    let probed = json(&place.run_args(&["endgame", "probe", "tables", "--fen", fen, "--json"]).succeeded());
    assert_eq!((&probed["value"]["result"], &probed["value"]["plies"]), (&"win".into(), &19.into()));
    let best = &probed["moves"][0]["value"];
    assert_eq!((&best["result"], &best["plies"]), (&"win".into(), &19.into()), "{probed}");
    let words = place.run_args(&["endgame", "probe", "tables", "--fen", fen]).succeeded();
    assert!(words.starts_with("White to move: win in 10 moves (19 plies)\n"), "{words}");

    let checked = json(&place.run("endgame verify tables --json").succeeded());
    assert_eq!((&checked["tables"][1]["men"], &checked["tables"][1]["all"]), (&"K+Q v K".into(), &true.into()));
    let both = told["positions"].as_u64().unwrap() + told["weak_side_to_move"]["positions"].as_u64().unwrap();
    assert_eq!(checked["tables"][1]["positions"], both);
}

#[test]
fn a_table_without_wins_says_so() {
    let place = Workplace::new();
    let told = json(&build(&place, "chess", "K+N v K", &["--json"]).succeeded());
    assert_eq!((&told["won"], &told["longest_moves"], &told["longest_fen"]), (&0.into(), &0.into(), &Value::Null));
    let words = build(&place, "chess", "K+N v K", &[]).succeeded();
    assert!(words.contains("White to move: ") && words.contains(" 0 won (0.00 %)"), "{words}");
}

/// What is there stays; what is missing is made, and comes out the same.
#[test]
fn a_build_goes_on_where_it_was() {
    let place = Workplace::new();
    build(&place, "chess", "K+P v K", &[]).succeeded();
    let whole = place.files("tables");
    assert_eq!(whole.len(), 6);
    for missing in [vec!["KPvK.table"], vec!["KQvK.table", "KPvK.table"]] {
        missing.iter().for_each(|name| std::fs::remove_file(place.path("tables").join(name)).unwrap());
        build(&place, "chess", "K+P v K", &[]).succeeded();
        assert!(place.files("tables") == whole);
    }
    let line = "endgame build --variant chess --men K+PvK --out killed --threads 2";
    place.kill_until_done(line, "killed", 5, 6);
    let mut again = place.files("killed");
    again.retain(|name, _| !name.ends_with(".tmp"));
    assert!(again == whole);
}

#[test]
fn an_interrupted_build_keeps_what_is_finished() {
    let place = Workplace::new();
    let line = "endgame build --variant herculean --men K+S+ZvK --out tables --threads 1 --json";
    let mut running = place.start(line);
    running.glance_until(|| place.path("tables").join("KSvK.table").exists());
    running.interrupt();
    let ended = running.end();
    assert_eq!(ended.stdout, "", "an interrupted build has no results");
    let message = ended.failed(130);
    assert!(message.contains("the same command goes on"), "{message}");
    assert_eq!(place.files("tables").keys().collect::<Vec<_>>(), ["KSvK.table", "KZvK.table", "KvK.table"]);
}

#[test]
fn damaged_and_foreign_tables_are_named() {
    let place = Workplace::new();
    build(&place, "chess", "K+R v K", &[]).succeeded();
    let foreign = build(&place, "shatranj", "K+R v K", &[]);
    foreign.refused(2, &["KvK.table is another table", "shatranj", "chess"]);
    let path = place.path("tables").join("KRvK.table");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    std::fs::write(&path, &bytes).unwrap();
    place.run("endgame verify tables").failed(2);
    build(&place, "chess", "K+R v K", &["--json"])
        .refused(2, &["KRvK.table", "checksum", "without it, it is made anew"]);
    std::fs::write(&path, &bytes[..100]).unwrap();
    place.run("endgame verify tables").failed(2);
}

#[test]
fn what_cannot_be_made_is_refused_before_it_starts() {
    let place = Workplace::new();
    build(&place, "chess", "K+X v K", &[]).refused(2, &["one of the capital letters", "\"X\""]);
    build(&place, "chess", "K+N", &[]).refused(2, &["K+N v K"]);
    build(&place, "chess", "K+Q+Q v K+Q", &[]).refused(2, &["at most 4", "got 5"]);
    build(&place, "chess", "K+P v K+P", &[]).refused(2, &["en passant"]);
    build(&place, "herculean", "K+P+P v K", &["--memory", "1"]).refused(2, &["GiB of memory", "--memory"]);
    assert!(!place.path("tables").exists());
    place.run("endgame verify nowhere").refused(2, &["nowhere"]);
    build(&place, "chess", "K+R v K", &[]).succeeded();
    let probe = |fen: &str| place.run_args(&["endgame", "probe", "tables", "--fen", fen]);
    probe("4k3/8/8/8/8/8/8/3QK3 w - - 0 1").refused(2, &["no table"]);
    probe("4k3/8/8/8/8/8/8/4K2R w K - 0 1").refused(2, &["no table"]);
    probe("4k3/8/8").refused(2, &["6 fields"]);
}

#[test]
fn every_help_has_an_example() {
    let place = Workplace::new();
    for command in ["endgame", "endgame build", "endgame verify", "endgame probe"] {
        let help = place.run(&format!("{command} --help")).succeeded();
        let example = help.split("Example").nth(1).is_some_and(|rest| rest.contains(&format!("fairyforge {command}")));
        assert!(example, "{help}");
    }
}

#[test]
fn stalemate_and_bare_kings_count_as_the_variant_says() {
    let place = Workplace::new();
    let told = json(&build(&place, "shatranj", "K+R v K", &["--json"]).succeeded());
    assert_eq!((&told["won"], &told["longest_plies"]), (&told["positions"], &0.into()));
    place.run("endgame verify tables").succeeded();
}
