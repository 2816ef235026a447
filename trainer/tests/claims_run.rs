//! Claims measured by play: whole runs of the program, from the file of claims to the page with figures.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

mod common;

use common::{Workplace, json};
use serde_json::Value;

/// An experiment of a second or two.
const EXPERIMENT: &str = r#"
format = 1
variant = "chess"
seed = 3
nodes = 30
weights = "a-priori"
adjudication = { most_plies = 80 }

[design]
settled = true
imbalance = { share = 0.7, pawn_weight = 5 }

[rounds]
most = 1
games = 2400

[reference]
games = 2400
looks = 2
"#;
/// Claims of every kind that is measured by play.
const CLAIMS: &str = r#"
format = 1
variant = "chess"
experiment = "experiment.toml"
source = "nobody"

[[claim]]
id = "C1"
text = "A Queen is worth something, and less than a thousand Pawns."
reading = "Wide, so that few games decide it."
[[claim.part]]
kind = "value"
unit = "queen"
low = 0.0
high = 1000.0

[[claim]]
id = "C2"
text = "A Queen is worth a thousand Pawns more than a Rook."
reading = "Wrong, so that few games decide it."
[[claim.part]]
kind = "difference"
units = { queen = 1, rook = -1 }
low = 1000.0

[[claim]]
id = "C3"
text = "White scores between nothing and everything."
reading = "Always."
[[claim.part]]
kind = "first_move"
low = 0.0
high = 1.0
"#;
/// Claims that so few games leave open, or tell nothing about.
const OPEN: &str = r#"
[[claim]]
id = "C4"
text = "A Rook gains as the board empties, a Pawn as it advances, and games are about as long as those of shatranj."
reading = "Too fine for so few games."
[[claim.part]]
kind = "phase_gain"
unit = "rook"
low = 1.1
high = 1.1001
[[claim.part]]
kind = "rank_gain"
unit = "pawn"
low = 1.1
high = 1.1001
[[claim.part]]
kind = "game_length"
longer_than = "shatranj"
low = -1000.0
high = 1000.0
"#;
const LINE: &str = "claims run claims.toml --out run --threads 2";

fn place_with(claims: &str) -> Workplace {
    let place = Workplace::new();
    place.write("experiment.toml", EXPERIMENT);
    place.write("claims.toml", claims);
    place
}

fn verdicts(claims: &Value) -> Vec<(&str, &str)> {
    let claims = claims["claims"].as_array().unwrap().iter();
    claims.map(|claim| (claim["id"].as_str().unwrap(), claim["verdict"].as_str().unwrap())).collect()
}

#[test]
fn games_end_when_no_claim_is_open() {
    let place = place_with(CLAIMS);
    let claims = json(&place.run(&format!("{LINE} --json")).succeeded());
    assert_eq!(verdicts(&claims), [("C1", "supported"), ("C2", "refuted"), ("C3", "supported")]);
    assert_eq!(json(&place.read("run/claims.json")), claims);
    let queen = &claims["claims"][0]["parts"][0];
    // One look of two, 1,200 games, of which hardly any has no quiet position; the round before leaves its value in the trace.
    let games = queen["games"].as_u64().unwrap();
    assert!((1190..=1200).contains(&games), "{games} games");
    assert_eq!(queen["seed"], 3);
    assert_eq!(queen["trace"].as_array().unwrap().len(), 1);
    let page = place.read("run/report.html");
    assert!(page.contains("<svg") && page.contains("Values by method") && page.contains("refuted"), "{page:.400}");
    assert!(place.read("run/report.md").contains("| C2 "));
    place.run("data verify run/experiment").succeeded();
}

#[test]
fn open_claims_take_all_games_and_threads_change_nothing() {
    let runs = [1, 3].map(|threads| {
        let place = place_with(&format!("{CLAIMS}{OPEN}"));
        let line = format!("claims run claims.toml --budget 900 --out run --threads {threads} --json");
        (json(&place.run(&line).succeeded()), place.files("run"), place)
    });
    assert_eq!(runs[0].0, runs[1].0);
    runs[1].2.assert_same_run("run", &runs[0].1);
    let claims = &runs[0].0;
    assert_eq!(verdicts(claims)[3], ("C4", "undecided"));
    let parts = claims["claims"][3]["parts"].as_array().unwrap();
    let length = &parts[2];
    assert!(length["value"].is_f64() && length["notes"][0].as_str().unwrap().contains("shatranj"), "{length:#}");
    let of_parts: Vec<&str> = parts.iter().map(|part| part["verdict"].as_str().unwrap()).collect();
    assert_eq!(of_parts, ["undecided", "undecided", "supported"]);
    // The budget's 900 games are those of the round and the reference together.
    assert!(claims["command"].as_str().unwrap().ends_with("--budget 900"), "{}", claims["command"]);
}

#[test]
fn killed_again_and_again_it_ends_with_the_same_files() {
    let undisturbed = place_with(CLAIMS);
    undisturbed.run(LINE).succeeded();
    let files = undisturbed.files("run");
    let killed = place_with(CLAIMS);
    let kills = killed.kill_until_done(LINE, "run", 6, 8);
    println!("{kills} kills");
    killed.assert_same_run("run", &files);
}

#[test]
fn an_experiment_on_another_game_is_refused() {
    let place = place_with(CLAIMS);
    place.write("experiment.toml", &EXPERIMENT.replace("\"chess\"", "\"shatranj\""));
    place.run(LINE).refused(2, &["experiment.toml", "expected an experiment on chess", "shatranj"]);
    place.write("experiment.toml", &EXPERIMENT.replace("looks = 2", "look = 2"));
    place.run(LINE).refused(2, &["experiment.toml", "did you mean `looks`?"]);
    assert!(!place.path("run").exists());
}
