//! Killed and interrupted runs end, started again, with exactly the files of an undisturbed run.

mod common;

use common::{Workplace, all_files, tiny_plan};

const SELFPLAY: &str = "selfplay --variant chess --games 40 --nodes 40 --seed 1 --threads 2 --shard-games 2 --out run";
const MATCH: &str = "match --variant chess --a a-priori --b a-priori --a-set late_move_base=40 --pairs 24 --nodes 40 --seed 1 --threads 2 --out run";
const LOOP: &str = "loop tiny.toml --out run --threads 2";
/// More than a test can wait for.
const ENDLESS: &str =
    "selfplay --variant herculean --games 100000 --nodes 60 --seed 1 --threads 2 --shard-games 2 --out run";

/// `line` is killed again and again in one place and left alone in another; the files must be the same.
fn survives_kills(line: &str, seed: u64, most_kills: usize) {
    let place = |_| {
        let place = Workplace::new();
        place.write("tiny.toml", &tiny_plan("chess", 2, ""));
        place
    };
    let [undisturbed, killed] = [(), ()].map(place);
    undisturbed.run(line).succeeded();
    let kills = killed.kill_until_done(line, "run", seed, most_kills);
    // The first kill comes soon after the first file; how many more there are is a matter of the machine's speed.
    assert!(kills >= 1, "the run is too short for this test");
    killed.assert_same_run("run", &undisturbed.files("run"));
    if killed.path("run/selfplay").exists() {
        assert_eq!(killed.digest("run"), undisturbed.digest("run"));
        killed.run("data verify run").succeeded();
    }
}

#[test]
fn killed_selfplay_ends_with_the_records_of_an_undisturbed_run() {
    survives_kills(SELFPLAY, 1, 16);
}

#[test]
fn a_killed_match_ends_with_the_games_of_an_undisturbed_one() {
    survives_kills(MATCH, 2, 12);
}

#[test]
fn a_killed_loop_ends_with_the_weights_and_report_of_an_undisturbed_one() {
    survives_kills(LOOP, 3, 16);
}

#[test]
#[ignore = "long: hundreds of kills"]
fn hundreds_of_kills_change_nothing() {
    for seed in 10..18 {
        for line in [SELFPLAY, MATCH, LOOP] {
            survives_kills(line, seed, 40);
        }
    }
}

/// Without a plan yet, and with a torn event: what a killed process may leave at the very beginning and end.
#[test]
fn the_first_and_last_traces_of_a_killed_process_are_no_obstacle() {
    let undisturbed = Workplace::new();
    undisturbed.run(SELFPLAY).succeeded();
    let place = Workplace::new();
    std::fs::create_dir(place.path("run")).unwrap();
    place.write("run/run.lock", "process 1\n");
    place.write("run/plan.toml.tmp", "kind = \"self");
    place.write("run/version.txt.tmp", "0.");
    place.run(SELFPLAY).succeeded();
    place.write("run/selfplay/001/games-00000004.parquet.tmp", "PAR1");
    let whole = place.read("run/events.jsonl");
    place.write("run/events.jsonl", &(whole.clone() + "{\"event\":\"selfp"));
    let again = place.run(SELFPLAY);
    assert!(again.stderr.contains("games-00000004.parquet.tmp"), "tells what it removes: {again:?}");
    again.succeeded();
    assert!(place.read("run/events.jsonl").starts_with(&whole), "whole lines stay");
    place.assert_same_run("run", &undisturbed.files("run"));
}

/// Ctrl-C as soon as `ready` says so.
fn interrupt(place: &Workplace, line: &str, ready: impl FnMut() -> bool) {
    let mut running = place.start(line);
    running.glance_until(ready);
    running.interrupt();
    let ended = running.end();
    assert_eq!(ended.stdout, "", "an interrupted run has no results");
    let message = ended.failed(130);
    assert!(message.contains("the same command continues") && message.contains("run"), "{message}");
    assert!(all_files(&place.path("run")).iter().all(|name| !name.ends_with(".tmp")), "a clean end leaves no .tmp");
}

#[test]
fn interrupted_selfplay_says_how_to_go_on_and_goes_on() {
    let [undisturbed, place] = [(), ()].map(|()| Workplace::new());
    let line = "selfplay --variant chess --games 24 --nodes 200 --seed 1 --threads 2 --shard-games 2 --out run";
    interrupt(&place, line, || place.path("run/selfplay/001").read_dir().is_ok_and(|files| files.count() >= 4));
    let again = place.run(line);
    assert!(again.stderr.contains("games were done before"), "{again:?}");
    again.succeeded();
    undisturbed.run(line).succeeded();
    place.assert_same_run("run", &undisturbed.files("run"));
    assert_eq!(place.digest("run"), undisturbed.digest("run"));
}

/// Nothing is done any more for the millions of shards that are not played.
#[test]
fn the_largest_run_ends_at_once_when_interrupted() {
    let place = Workplace::new();
    let mut running = place.start(&ENDLESS.replace("--games 100000", "--games 10000000"));
    running.glance_until(|| place.path("run/selfplay/001").read_dir().is_ok_and(|files| files.count() >= 2));
    running.interrupt();
    running.glance_within(20_000);
    running.end().failed(130);
}

#[test]
fn an_interrupted_match_and_loop_say_how_to_go_on_and_go_on() {
    let [undisturbed, place] = [(), ()].map(|()| Workplace::new());
    let line = MATCH.replace("--nodes 40", "--nodes 100");
    interrupt(&place, &line, || place.path("run/journal.jsonl").exists());
    place.run(&line).succeeded();
    undisturbed.run(&line).succeeded();
    place.assert_same_run("run", &undisturbed.files("run"));

    let [undisturbed, place] = [(), ()].map(|()| Workplace::new());
    let plan = tiny_plan("chess", 1, "").replace("nodes = 24", "nodes = 100");
    for place in [&undisturbed, &place] {
        place.write("tiny.toml", &plan);
    }
    interrupt(&place, LOOP, || place.path("run/selfplay/001").is_dir());
    // A loop that is stopped in its match keeps its games.
    interrupt(&place, LOOP, || place.path("run/gate/001-vs-000.jsonl").exists());
    place.run(LOOP).succeeded();
    undisturbed.run(LOOP).succeeded();
    place.assert_same_run("run", &undisturbed.files("run"));
}

#[test]
fn a_run_is_resumed_with_its_own_plan_only() {
    let place = Workplace::new();
    let line = "selfplay --variant chess --games 12 --nodes 20 --seed 1 --shard-games 4 --out run";
    place.run(line).succeeded();
    place.run("fit --data run --out fitted.toml").succeeded();
    let files = place.files("run");
    for (from, to, key) in [
        ("--games 12", "--games 10", "selfplay.games: recorded 12, asked for 10"),
        ("--seed 1", "--seed 2", "seed: recorded 1, asked for 2"),
        ("--nodes 20", "--nodes 21", "selfplay.nodes: recorded 20, asked for 21"),
        ("--variant chess", "--variant shatranj", "variant: recorded \"chess\", asked for \"shatranj\""),
        ("--out run", "--out run --weights fitted.toml", "weights: recorded \"a-priori\""),
        ("--out run", "--out run --imbalance 0.5", "selfplay.openings.imbalance.share: recorded 0.75, asked for 0.5"),
    ] {
        place.run(&line.replace(from, to)).refused(2, &[key, "nothing was changed"]);
    }
    place
        .run("match --variant chess --a a-priori --b a-priori --pairs 2 --nodes 20 --seed 1 --out run")
        .refused(2, &["kind"]);
    place.assert_same_run("run", &files);

    place.write("plan.toml", &tiny_plan("chess", 1, ""));
    place.run("loop plan.toml --out loop").succeeded();
    place.write("other.toml", &tiny_plan("chess", 1, "").replace("pairs = 6", "pairs = 7"));
    place.run("loop other.toml --out loop").refused(2, &["match.pairs: recorded 6, asked for 7"]);
    // Comments and order are not the plan.
    place.write("same.toml", &format!("# my own\n{}", tiny_plan("chess", 1, "")));
    place.run("loop same.toml --out loop").succeeded();
}

#[test]
fn one_process_at_a_time_writes_to_a_run() {
    let place = Workplace::new();
    let mut first = place.start(ENDLESS);
    first.glance_until(|| place.path("run/selfplay/001").read_dir().is_ok_and(|files| files.count() >= 2));
    let holder = format!("process {}", first.id());
    place.run(ENDLESS).refused(2, &["cannot use run", &holder]);
    // Refused before the plan is looked at or anything is touched, and whoever only reads is welcome.
    let other = "match --variant chess --a a-priori --b a-priori --pairs 2 --nodes 20 --seed 1 --out run";
    place.run(other).refused(2, &[&holder]);
    let head = place.run("data head run --games 1").succeeded();
    assert!(head.starts_with("game "), "{head}");
    assert!(!first.has_ended(), "the first goes on");
    first.kill();
    // The lock dies with its process.
    let before = all_files(&place.path("run/selfplay")).len();
    let mut third = place.start(ENDLESS);
    third.glance_until(|| all_files(&place.path("run/selfplay")).len() > before + 2);
    assert!(!third.has_ended(), "{:?}", third.end());
    third.kill();
}
