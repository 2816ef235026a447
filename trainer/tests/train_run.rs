//! Whole runs of training by the program: the same network on any number of threads and after kills, refusals, and that
//! something is learnt.

mod common;

use common::{Workplace, json};
use fairyforge_engine::evaluate::network::NetworkFile;
use fairyforge_engine::variant::Variant;
use std::sync::Arc;

/// Games of weak play: there is something to learn from them, and they take seconds.
const GAMES: &str = "selfplay --variant chess --games 60 --nodes 30 --seed 1 --threads 2 --shard-games 6 --out games";
const TRAIN: &str = "train plan.toml --out run";
const LOOKS: u64 = 6;

/// Several windows an epoch, several epochs, several output layers, shared rows of both kinds.
fn plan() -> String {
    r#"
format = 1
variant = "chess"
seed = 5

[network]
width = 64
king_ranks = [1]
output_buckets = 2

[training]
batch = 128
batches = 60
report_every = 10
validation_share = 0.2
window = 700

[rate]
first = 0.01
last = 0.001
warm_up = 5

[target]
first_result_share = 0.5
last_result_share = 0.1

[filter]
least_ply = 0
captures = true
game_balance = 0.5

[[data]]
folder = "games"
"#
    .to_owned()
}

fn workplace() -> Workplace {
    let place = Workplace::new();
    place.run(GAMES).succeeded();
    place.write("plan.toml", &plan());
    place
}

fn looks(place: &Workplace) -> Vec<serde_json::Value> {
    place.read("run/losses.jsonl").lines().map(json).collect()
}

#[test]
fn training_is_the_same_on_any_number_of_threads() {
    let [alone, together] = [1, 2].map(|threads| {
        let place = workplace();
        place.run(&format!("{TRAIN} --threads {threads}")).succeeded();
        place
    });
    together.assert_same_run("run", &alone.files("run"));
    let files = alone.files("run");
    let checkpoints = files.keys().filter(|name| name.starts_with("checkpoints/")).count();
    assert_eq!(checkpoints, 3, "only the last ones are kept: {:?}", files.keys());
    // The same command on a finished run learns nothing more and leaves the same files.
    alone.run(TRAIN).succeeded();
    alone.assert_same_run("run", &files);
    // The engine takes the network.
    let chess = Arc::new(Variant::load("chess").unwrap());
    let network = NetworkFile::load(&chess, &alone.path("run/network.net")).unwrap();
    assert_eq!((network.card.seed, network.card.positions, network.card.data[0].games), (5, 60 * 128, 60));
}

#[test]
fn something_is_learnt_and_told() {
    let place = workplace();
    place.write("plan.toml", &plan().replace("seed = 5", "seed = 5\nbase = \"none\""));
    let told = json(&place.run(&format!("{TRAIN} --json")).succeeded());
    let looks = looks(&place);
    assert_eq!((looks.len() as u64, told["looks"].as_array().map(Vec::len)), (LOOKS, Some(LOOKS as usize)));
    for key in ["training", "validation"] {
        let [first, last] = [0, looks.len() - 1].map(|at| looks[at][key].as_f64().unwrap());
        assert!(last < 0.8 * first, "{key}: {first} to {last}");
    }
    assert!(looks.last().unwrap()["epoch"].as_u64() > Some(0), "{looks:?}");
    let report = place.read("run/report.md");
    assert!(report.contains("chart.svg") && report.contains("| 60 |"), "{report}");
    assert!(place.read("run/chart.svg").starts_with("<svg"));
    let window = &told["training"];
    assert!(window["in_check"].as_u64() > Some(0) && window["early"] == 0, "{window}");
}

/// What weights know need not be learnt; which ones they are is part of the run.
#[test]
fn above_weights_a_network_begins_where_they_are() {
    let place = workplace();
    let first = |base: &str, run: &str| {
        place.write("plan.toml", &plan().replace("seed = 5", &format!("seed = 5\nbase = {base:?}")));
        place.run(&format!("train plan.toml --out {run}")).succeeded();
        let line = place.read(&format!("{run}/losses.jsonl")).lines().next().map(json).unwrap();
        line["validation"].as_f64().unwrap()
    };
    let [alone, above] = [first("none", "alone"), first("a-priori", "above")];
    assert!(above < 0.5 * alone, "{above} {alone}");
    let chess = Arc::new(Variant::load("chess").unwrap());
    let base = |run: &str| NetworkFile::load(&chess, &place.path(&format!("{run}/network.net"))).unwrap().base;
    assert!(base("alone").is_none() && base("above").is_some());
    place.run("train plan.toml --out alone").refused(2, &["plan"]);
    place.write("plan.toml", &plan().replace("seed = 5", "seed = 5\nbase = \"nowhere.toml\""));
    place.run("train plan.toml --out other").refused(2, &["nowhere.toml"]);
}

#[test]
fn another_seed_is_another_network() {
    let place = workplace();
    place.run(TRAIN).succeeded();
    place.write("plan.toml", &plan().replace("seed = 5", "seed = 6"));
    place.run("train plan.toml --out other").succeeded();
    let network = |run: &str| std::fs::read(place.path(run).join("network.net")).unwrap();
    assert_ne!(network("run"), network("other"));
}

#[test]
fn killed_training_ends_with_the_network_of_an_undisturbed_run() {
    let [undisturbed, killed] = [(), ()].map(|()| workplace());
    let line = format!("{TRAIN} --threads 2");
    undisturbed.run(&line).succeeded();
    let kills = killed.kill_until_done(&line, "run", 1, 10);
    assert!(kills >= 1, "the run is too short for this test");
    killed.assert_same_run("run", &undisturbed.files("run"));
}

#[test]
fn interrupted_training_says_how_to_go_on() {
    let [undisturbed, place] = [(), ()].map(|()| workplace());
    let mut running = place.start(TRAIN);
    running.glance_until(|| place.path("run/losses.jsonl").exists());
    running.interrupt();
    let ended = running.end();
    // A machine may be so fast that there is nothing left to interrupt.
    if ended.status != Some(0) {
        let message = ended.failed(130);
        assert!(message.contains("the same command continues"), "{message}");
        place.run(TRAIN).succeeded();
    }
    undisturbed.run(TRAIN).succeeded();
    place.assert_same_run("run", &undisturbed.files("run"));
}

/// What other devices calculate, on the CPU: a whole run, and that a run keeps its device.
#[test]
fn a_run_on_another_device_agrees_and_keeps_to_it() {
    let place = workplace();
    // Slow, as tests are built.
    place.write("plan.toml", &plan().replace("batches = 60", "batches = 20").replace("batch = 128", "batch = 64"));
    let plain = "train plan.toml --out plain --device cpu-plain";
    place.run(TRAIN).succeeded();
    place.run(plain).succeeded();
    let looks = |run: &str| place.read(&format!("{run}/losses.jsonl")).lines().map(json).collect::<Vec<_>>();
    let [own, burns] = ["run", "plain"].map(looks);
    assert_eq!((own.len(), burns.len()), (2, 2));
    for (own, burns) in own.iter().zip(&burns) {
        for key in ["training", "validation"] {
            let [own, burns] = [own, burns].map(|look| look[key].as_f64().unwrap());
            assert!((own - burns).abs() < 1e-4 * own, "{key}: {own} {burns}");
        }
    }
    assert!(place.read("plain/report.md").contains("--device cpu-plain"));
    // Only what was not on the CPU says where it was: older runs go on.
    assert!(place.read("plain/plan.toml").starts_with("device = \"cpu-plain\"\n"));
    assert!(!place.read("run/plan.toml").contains("device"));
    place.run("train plan.toml --out plain").refused(2, &["another plan", "device"]);
    place.run(&format!("{TRAIN} --device cpu-plain")).refused(2, &["another plan", "device"]);
    std::fs::remove_file(place.path("plain/checkpoints/00000020.checkpoint")).unwrap();
    place.run(plain).succeeded();
    let resumed = looks("plain").last().unwrap()["validation"].as_f64().unwrap();
    let before = burns.last().unwrap()["validation"].as_f64().unwrap();
    assert!((resumed - before).abs() < 1e-4 * before, "{resumed} {before}");
}

#[test]
fn devices_that_are_not_there_are_refused() {
    let place = Workplace::new();
    place.run("train plan.toml --device gpu").refused(2, &["gpu", "cpu-plain", "cuda", "wgpu"]);
    if !cfg!(feature = "cuda") {
        place.run("train plan.toml --device cuda").refused(2, &["without the device cuda", "--features cuda"]);
    }
}

#[test]
fn what_cannot_be_learnt_from_is_refused() {
    let place = workplace();
    place.write("other.toml", &plan().replace("variant = \"chess\"", "variant = \"herculean\""));
    place.run("train other.toml --out other").refused(2, &["rules_hash", "games-00000000.parquet"]);
    place.write("other.toml", &plan().replace("batches = 60", "bathces = 60"));
    place.run("train other.toml --out other").refused(2, &["bathces", "did you mean `batches`?"]);
    place.write("other.toml", &plan().replace("king_ranks = [1]", "king_ranks = [8]"));
    place.run("train other.toml --out other").refused(2, &["king_ranks", "from 1 to 7"]);
    place.write("other.toml", &plan().replace("least_ply = 0", "least_ply = 9999"));
    place.run("train other.toml --out nothing").refused(2, &["got none in", "early"]);
    place.write("other.toml", &plan().replace("folder = \"games\"", "folder = \"nowhere\""));
    place.run("train other.toml --out other").refused(2, &["nowhere"]);
}

#[test]
fn other_games_and_damaged_checkpoints_are_no_continuation() {
    let place = workplace();
    place.run(TRAIN).succeeded();
    let last = place.path("run/checkpoints/00000060.checkpoint");
    let mut bytes = std::fs::read(&last).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&last, bytes).unwrap();
    place.run(TRAIN).refused(1, &["00000060.checkpoint", "remove it"]);
    std::fs::remove_file(&last).unwrap();
    place.run(TRAIN).succeeded();
    place.run(&GAMES.replace("--games 60", "--games 120").replace("--out games", "--out more")).succeeded();
    std::fs::rename(place.path("games"), place.path("fewer")).unwrap();
    std::fs::rename(place.path("more"), place.path("games")).unwrap();
    place.run(TRAIN).refused(1, &["the games have changed", "new run"]);
}

#[test]
fn the_bench_tells_both_speeds() {
    let place = Workplace::new();
    let line = "train --bench --inputs 200 --blocks 1 --batch 256 --rounds 2 --batches 2 --threads 1";
    let told = json(&place.run(&format!("{line} --json")).succeeded());
    assert!(told["ratio"].as_f64() > Some(0.0) && told["result"]["burn"]["best"].as_f64() > Some(0.0), "{told}");
    assert!(place.run(line).succeeded().contains("ratio of medians"));
    assert!(place.run(&format!("{line} --device cpu-plain")).succeeded().contains("cpu-plain"));
}
