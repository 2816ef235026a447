//! Whole tuning runs of the program: the same journal on any number of threads and after kills, faults told before the first game, a
//! journal recomputed, damaged and struck, what the run's folder holds at the end.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

mod common;

use common::{Workplace, all_files, json};
use fairyforge::tune::{Plan, Setup};
use fairyforge_engine::evaluate::Weights;
use fairyforge_engine::search::Params;
use fairyforge_engine::variant::Variant;
use serde_json::Value;
use std::path::Path;

/// A plan of a second; steps are large, so that values move.
const PLAN: &str = r#"
format = 1
variant = "chess"
seed = 3
iterations = 12
pairs_per_iteration = 3
nodes = 40
weights = "a-priori"
adjudication = { most_plies = 100 }

[[parameters]]
name = "late_move_base"
r_end = 0.3

[[parameters]]
name = "weights.knight.middlegame"
r_end = 0.3

[[parameters]]
name = "delta_margin"
start = 20
min = 5
max = 40
c_end = 30
r_end = 0.1

[confirm]
elo0 = 0
elo1 = 40
max_pairs = 48
"#;
/// Two positions of chess.
const BOOK: &str = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - id \"c4\";\nrnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - id \"two\";\n";
const LINE: &str = "tune spsa plan.toml --out run --threads 2";

fn place() -> Workplace {
    let place = Workplace::new();
    place.write("plan.toml", PLAN);
    place
}

#[test]
fn threads_change_nothing_and_everything_is_there() {
    let [one, four] = [1, 4].map(|threads| {
        let place = place();
        let printed = place.run(&format!("tune spsa plan.toml --out run --threads {threads} --json")).succeeded();
        (json(&printed), place.files("run"), place)
    });
    assert_eq!(one.0, four.0);
    four.2.assert_same_run("run", &one.1);
    let names: Vec<&str> = one.1.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "chart.svg",
            "confirm.jsonl",
            "plan.toml",
            "report.md",
            "tune.jsonl",
            "tuned-weights.toml",
            "tuned.toml",
            "version.txt"
        ]
    );
    check_results(&one.0, &one.2);
    // Finished, the same command plays nothing again.
    let again = one.2.run(LINE);
    assert!(again.stderr.contains("72 games were done before"), "{again:?}");
    again.succeeded();
    one.2.assert_same_run("run", &one.1);
}

fn check_results(result: &Value, place: &Workplace) {
    assert_eq!(result["games"], 72);
    assert_eq!(place.read("run/tune.jsonl").lines().count(), 1 + 12);
    let tuned = |index: usize| result["parameters"][index]["tuned"].as_f64().unwrap() as i32;
    let params = Params::read(&place.read("run/tuned.toml")).unwrap();
    assert_eq!((params.late_move_base, params.delta_margin), (tuned(0), tuned(2)));
    assert!((0..3).any(|index| result["parameters"][index]["start"] != result["parameters"][index]["tuned"]));
    let variant = Variant::load("chess").unwrap();
    let weights = Weights::read(&variant, &place.read("run/tuned-weights.toml")).unwrap();
    let knight = variant.units().position(|unit| variant.unit(unit).name == "knight").unwrap();
    assert_eq!(weights.units[knight].middlegame, tuned(1));
    assert!(weights.origin.method.starts_with("SPSA on 72 games"), "{}", weights.origin.method);
    // A range of 35 and a c of 30: cut off all the time, and told with advice.
    let report = place.read("run/report.md");
    assert!(report.contains("- delta_margin ") && report.contains("lower `c_end`"), "{report}");
    assert!(report.contains("## Tuned against old values") && report.contains("log-likelihood ratio"), "{report}");
    assert!(report.contains("![every parameter over the iterations](chart.svg)"));
    let confirm = &result["confirm"];
    assert!(confirm["match"]["pentanomial"].is_array() && confirm["sprt"]["llr"].is_number(), "{confirm}");
}

#[test]
fn killed_runs_end_with_the_journal_of_an_undisturbed_one() {
    let [undisturbed, killed] = [place(), place()];
    for place in [&undisturbed, &killed] {
        place.write("plan.toml", &PLAN.replace("iterations = 12", "iterations = 60"));
    }
    undisturbed.run(LINE).succeeded();
    let kills = killed.kill_until_done(LINE, "run", 5, 14);
    assert!(kills >= 3, "the run is too short for this test");
    killed.assert_same_run("run", &undisturbed.files("run"));
    killed.run("tune recompute run").succeeded();
}

#[test]
fn an_interrupted_run_says_how_to_go_on_and_goes_on() {
    let [undisturbed, place] = [place(), place()];
    for journal in ["run/tune.jsonl", "run/confirm.jsonl"] {
        let mut running = place.start(LINE);
        running.glance_until(|| place.path(journal).exists());
        running.interrupt();
        let ended = running.end();
        assert_eq!(ended.stdout, "");
        let message = ended.failed(130);
        assert!(message.contains("the same command continues"), "{message}");
    }
    place.run(LINE).succeeded();
    undisturbed.run(LINE).succeeded();
    place.assert_same_run("run", &undisturbed.files("run"));
}

#[test]
fn faults_are_told_together_before_anything_is_made() {
    let place = place();
    place.write("plan.toml", &PLAN.replace("nodes", "ndoes").replace("max_pairs", "most_pairs"));
    place.run(LINE).refused(2, &["line 7", "`nodes`", "line 30", "`confirm.max_pairs`"]);
    let wrong = PLAN
        .replace("late_move_base", "late_mov_base")
        .replace("elo1 = 40", "elo1 = -40")
        .replace("c_end = 30", "c_end = 0");
    place.write("plan.toml", &wrong);
    place.run(LINE).refused(2, &["\"late_move_base\"", "elo0 below elo1", "delta_margin.c_end"]);
    place.run("tune spsa none.toml --out run").refused(2, &["none.toml"]);
    assert!(!place.path("run").exists());
}

#[test]
fn a_run_goes_on_with_its_own_plan_only() {
    let place = place();
    let short = PLAN.replace("iterations = 12", "iterations = 2").replace("max_pairs = 48", "max_pairs = 2");
    place.write("plan.toml", &short);
    place.run(LINE).succeeded();
    let files = place.files("run");
    for (from, to, key) in [
        ("seed = 3", "seed = 4", "plan.seed: recorded 3, asked for 4"),
        ("c_end = 30", "c_end = 31", "plan.parameters"),
        ("max_pairs = 2", "max_pairs = 3", "plan.confirm.max_pairs"),
        ("variant = \"chess\"", "variant = \"almost\"", "rules_hash"),
    ] {
        place.write("plan.toml", &short.replace(from, to));
        place.run(LINE).refused(2, &[key, "nothing was changed"]);
    }
    place.assert_same_run("run", &files);
}

#[test]
fn a_journal_recomputes_to_itself_and_without_pairs_to_something_else() {
    let place = place();
    let result = json(&place.run(&format!("{LINE} --json")).succeeded());
    let end = |result: &Value, key: &str| -> Vec<f64> {
        result["parameters"].as_array().unwrap().iter().map(|one| one[key].as_f64().unwrap()).collect()
    };
    let recomputed = |strike: &str| json(&place.run(&format!("tune recompute run --json {strike}")).succeeded());
    let whole = recomputed("");
    assert_eq!(end(&whole, "recomputed"), end(&result, "end"));
    assert_eq!((&whole["pairs_counted"], &whole["pairs_struck"]), (&36.into(), &0.into()));
    let struck = recomputed("--strike 2,5-6,9.1");
    assert_eq!((&struck["pairs_counted"], &struck["pairs_struck"]), (&26.into(), &10.into()));
    assert_eq!(end(&struck, "end"), end(&result, "end"));
    let journal = place.read("run/tune.jsonl");
    let decisive = journal.lines().skip(1).map(json).find(|line| points(line) != 0).unwrap();
    let struck = recomputed(&format!("--strike {}", decisive["iteration"]));
    assert_ne!(end(&struck, "recomputed"), end(&result, "end"));
    assert_eq!(end(&recomputed("--strike 1-12"), "recomputed"), end(&result, "start"));
    let text = place.run("tune recompute run --strike 2").succeeded();
    assert!(text.contains("3 pairs struck out") && text.contains("late_move_base"), "{text}");
    place.run("tune recompute run --strike 13").refused(2, &["1 to 12", "13"]);
    place.run("tune recompute run --strike 3.4").refused(2, &["1 to 3 of iteration 3", "4"]);
    assert!(place.run("tune recompute run --strike 1,,2").failed(2).contains("expected an iteration"));
    damaged_journals_are_named(&place);
}

/// Wins less losses of an iteration.
fn points(line: &Value) -> i64 {
    line["pairs"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|pair| pair.as_array().unwrap())
        .map(|game| game.as_i64().unwrap())
        .sum()
}

fn damaged_journals_are_named(place: &Workplace) {
    let whole = place.read("run/tune.jsonl");
    let fifth = whole.lines().nth(4).unwrap();
    let at = fifth.rfind(|letter: char| letter.is_ascii_digit()).unwrap();
    let mut spoilt = fifth.to_owned();
    spoilt.replace_range(at..=at, if &fifth[at..=at] == "7" { "2" } else { "7" });
    place.write("run/tune.jsonl", &whole.replace(fifth, &spoilt));
    for line in ["tune recompute run", "tune recompute run --strike 1"] {
        place.run(line).refused(2, &["tune.jsonl, line 5:", "seed, settings and results"]);
    }
    // Nor does the run go on with it.
    place.run(LINE).refused(1, &["tune.jsonl, line 5:"]);
    place.write("run/tune.jsonl", &whole[..whole.len() - 9]);
    let torn = place.run("tune recompute run");
    assert!(torn.stderr.contains("cut off"), "{torn:?}");
    assert!(torn.succeeded().contains("11 of 12 iterations"));
    place.run("tune recompute nowhere").refused(2, &["nowhere"]);
    place.write("run/plan.toml", "kind = \"match\"\n");
    place.run("tune recompute run").refused(2, &["tune spsa", "match"]);
}

/// Files to start from decide the games; a run does not go on with others.
#[test]
fn a_run_starts_from_files_beside_its_plan() {
    let place = place();
    std::fs::create_dir(place.path("plans")).unwrap();
    place.write("plans/start.toml", "format = 1\n[search]\nlate_move_base = 60\n");
    place.write("plans/book.epd", BOOK);
    let plan = PLAN.replace("iterations = 12", "iterations = 2").replace(
        "seed = 3",
        "seed = 3\nsearch = \"start.toml\"\nopenings.file = { path = \"book.epd\", order = \"sequential\" }",
    );
    place.write("plans/plan.toml", &plan);
    let line = "tune spsa plans/plan.toml --out run";
    let result = json(&place.run(&format!("{line} --json")).succeeded());
    assert_eq!(result["parameters"][0]["start"], 60.0);
    let confirming = place.read("run/confirm.jsonl");
    assert!(confirming.lines().nth(1).is_some_and(|line| line.contains("r1bqkbnr/pppp1ppp/2n5")), "{confirming}");
    let started = place.read("plans/start.toml");
    place.write("plans/start.toml", &format!("{started}delta_margin = 33\n"));
    place.run(line).refused(2, &["search: recorded"]);
    place.write("plans/start.toml", &started);
    place.write("plans/book.epd", &BOOK.replace("c4", "c5"));
    place.run(line).refused(2, &["plan.openings.file.digest"]);
    place.write("plans/book.epd", "this is no position\n");
    place.run(line).refused(2, &["openings", "book.epd"]);
}

#[test]
fn every_shipped_plan_is_ready_to_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/tune");
    let plans: Vec<String> = all_files(&folder).into_iter().filter(|name| name.ends_with(".toml")).collect();
    assert!(plans.len() >= 2, "{plans:?}");
    for name in plans {
        let path = folder.join(&name);
        let text = std::fs::read_to_string(&path).unwrap();
        Plan::read(&text).and_then(|plan| Setup::new(plan, &path)).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// The plans in the documents are plans.
#[test]
fn documented_plans_are_ready_to_run() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    for name in ["tuning.md", "formats/tuning.md"] {
        let text = std::fs::read_to_string(docs.join(name)).unwrap();
        let (_, rest) = text.split_once("```toml\n").unwrap();
        let (plan, _) = rest.split_once("```").unwrap();
        let plan: String = plan.lines().map(|line| line.trim_start().to_owned() + "\n").collect();
        Plan::read(&plan)
            .and_then(|plan| Setup::new(plan, Path::new(".")))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
