//! Whole experiments of the program: the same findings on any number of threads and after kills, looks that end the games,
//! faults told before the first game, what the run's folder holds at the end.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

mod common;

use common::{Workplace, json};

/// A plan of a second or two.
const PLAN: &str = r#"
format = 1
variant = "chess"
seed = 3
nodes = 30
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

[[published]]
by = "Nobody"
source = "made up"
values = { knight = 3.0, queen = 900.0 }
"#;
const LINE: &str = "values run plan.toml --out run --threads 2";

fn place_with(plan: &str) -> Workplace {
    let place = Workplace::new();
    place.write("plan.toml", plan);
    place
}

#[test]
fn threads_change_nothing_and_everything_is_there() {
    let [one, three] = [1, 3].map(|threads| {
        let place = place_with(PLAN);
        let line = format!("values run plan.toml --out run --threads {threads} --json");
        (json(&place.run(&line).succeeded()), place.files("run"), place)
    });
    assert_eq!(one.0, three.0);
    three.2.assert_same_run("run", &one.1);
    let names: Vec<&str> = one.1.keys().map(String::as_str).filter(|name| !name.starts_with("selfplay/")).collect();
    let rounds = one.0["findings"]["rounds"].as_array().unwrap().len();
    let weights: Vec<String> = (1..=rounds + 2).map(|number| format!("weights/{number:03}.toml")).collect();
    let files = ["plan.toml", "report.html", "report.md", "result.json", "version.txt"].map(String::from);
    assert_eq!(names, files.into_iter().chain(weights).collect::<Vec<_>>());
    let folders = |number: usize| one.1.keys().any(|name| name.starts_with(&format!("selfplay/{number:03}/")));
    assert!((1..=rounds + 2).all(folders) && !folders(rounds + 3));
    assert_eq!(json(&one.2.read("run/result.json")), one.0);
    let report = one.2.read("run/report.md");
    assert!(report.contains("## Beside others") && report.contains("900.00 ("), "{report}");
    assert!(one.2.read("run/report.html").matches("<svg").count() >= 4);
    one.2.run("data verify run").succeeded();
}

#[test]
fn killed_again_and_again_it_ends_with_the_same_files() {
    let undisturbed = place_with(PLAN);
    undisturbed.run(LINE).succeeded();
    let files = undisturbed.files("run");
    let killed = place_with(PLAN);
    let kills = killed.kill_until_done(LINE, "run", 5, 12);
    println!("{kills} kills");
    assert!(kills > 2, "only {kills} kills");
    killed.assert_same_run("run", &files);
}

#[test]
fn the_same_command_on_a_finished_run_plays_nothing() {
    let place = place_with(PLAN);
    place.run(LINE).succeeded();
    let (files, events) = (place.files("run"), place.read("run/events.jsonl"));
    place.run(LINE).succeeded();
    place.assert_same_run("run", &files);
    assert_eq!(place.read("run/events.jsonl"), events);
}

#[test]
fn a_look_ends_the_games_when_intervals_are_narrow_enough() {
    // The pawn is the measure and has no width at all once it is clear, which 600 games make it even at the first look's 2.96
    // standard errors.
    let longer = PLAN.replace("games = 320", "games = 1200");
    let looked = |goal: &str| {
        let place = place_with(&longer.replace("looks = 2", &format!("looks = 2\n{goal}")));
        json(&place.run("values run plan.toml --out run --json").succeeded())["findings"].clone()
    };
    let early = looked("half_width = 0.5\nunits = [\"pawn\"]");
    assert_eq!((early["reached"].as_bool(), early["looks"].as_array().unwrap().len()), (Some(true), 1));
    assert_eq!(early["methods"]["by_lot"]["games"], 600);
    let late = looked("half_width = 0.0001");
    assert_eq!((late["reached"].as_bool(), late["looks"].as_array().unwrap().len()), (Some(false), 2));
    assert_eq!(late["methods"]["by_lot"]["games"], 1200);
    // Looking early costs width: more standard errors at the first look than at the last.
    let critical = |look: usize| late["looks"][look]["critical"].as_f64().unwrap();
    assert!(critical(0) > 2.9 && (1.96..2.0).contains(&critical(1)), "{} and {}", critical(0), critical(1));
}

/// Sorcerer Chess has a network built in.
#[test]
fn a_network_is_asked_beside_unless_told_otherwise() {
    let (experiment, _) = PLAN.split_once("[[published]]").unwrap();
    let place = place_with(&experiment.replace("\"chess\"", "\"sorcerer\""));
    let told = json(&place.run(&format!("{LINE} --json")).succeeded());
    let findings = &told["findings"];
    let reference = findings["reference"].as_u64().unwrap();
    let ask = format!("values ablate --variant sorcerer --data run/selfplay/{reference:03} --seed 3 --json");
    let asked = json(&place.run(&ask).succeeded());
    assert_eq!(findings["network"]["ablation"], asked["ablation"]);
    assert_eq!(findings["network"]["digest"], asked["judge"]);
    assert!(place.read("run/report.md").contains("| network | 95 %"));
    assert!(place.read("run/report.html").contains("network, unit taken off"));
    place.run(&format!("{LINE} --network none")).succeeded();
    assert!(!place.read("run/report.md").contains("| network | 95 %"));
    place.run(&format!("{LINE} --network a-priori")).refused(2, &["expected a network", "a-priori"]);
}

#[test]
fn faults_are_told_before_the_first_game() {
    for (wrong, words) in [
        (PLAN.replace("nodes = 30", "ndoes = 30"), &["did you mean `nodes`?"][..]),
        (PLAN.replace("share = 0.8", "share = 0.0"), &["design.imbalance.share"]),
        (PLAN.replace("looks = 2", "looks = 2\nunits = [\"rok\"]"), &["reference.units", "\"rook\""]),
        (PLAN.replace("looks = 2", "looks = 2\nunits = [\"king\"]"), &["reference.units", "not royal"]),
        (PLAN.replace("games = 320", "games = 20"), &["reference.games", "a look"]),
        (PLAN.replace("nodes = [10]", "nodes = [10, 30]"), &["ladder.nodes", "not 30"]),
        (PLAN.replace("looks = 2", "looks = 2\nunits = []"), &["reference.units"]),
        (PLAN.replace("knight = 3.0", "knigth = 3.0"), &["published.values", "\"knight\""]),
        (PLAN.replace("\"a-priori\"", "\"nowhere.toml\""), &["nowhere.toml"]),
        (PLAN.replace("\"chess\"", "\"chesss\""), &["chesss"]),
    ] {
        let place = place_with(&wrong);
        place.run(LINE).refused(2, words);
        assert!(!place.path("run").join("selfplay").exists(), "{words:?}");
    }
}

#[test]
fn time_becomes_games_once_and_the_command_told_repeats_them() {
    let place = place_with(PLAN);
    let line = "values run plan.toml --budget 3s --out timed --threads 2 --json";
    let timed = json(&place.run(line).succeeded());
    let games = place.read("timed/budget.toml");
    assert!(games.starts_with("format = 1\ngames = "), "{games}");
    // The same command takes the number of games from the run.
    assert_eq!(json(&place.run(line).succeeded()), timed);
    // The command that the report tells plays the same games again, without a clock.
    let told = timed["command"].as_str().unwrap().strip_prefix("fairyforge ").unwrap();
    let again = told.replace("--out timed", "--out again");
    assert!(again.contains("--budget ") && !again.contains("3s"), "{again}");
    place.run(&again).succeeded();
    let again = json(&place.read("again/result.json"));
    assert_eq!(again["findings"], timed["findings"]);
    // A file that is damaged is told, and nothing is played.
    place.write("timed/budget.toml", "format = 7\n");
    place.run(line).refused(2, &["budget.toml", "format"]);
}

#[test]
fn another_plan_does_not_continue_a_run() {
    let place = place_with(PLAN);
    place.run(LINE).succeeded();
    place.write("plan.toml", &PLAN.replace("seed = 3", "seed = 4"));
    place.run(LINE).refused(2, &["seed", "recorded 3", "asked for 4"]);
}
