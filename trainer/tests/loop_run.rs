//! Whole loops, tiny: what they leave in their folders, and that the next command can use it.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

mod common;

use common::{Workplace, tiny_plan};
use toml::Table;

const CLAIMS: &str = r#"
[[claims]]
id = "T1"
text = "A pawn is worth a pawn."
unit = "pawn"
low = 0.99
high = 1.01

[[claims]]
id = "T2"
text = "A king's neighbour is worth something."
unit = "rook"
low = 0.0
high = 1000.0
"#;

fn table(place: &Workplace, name: &str) -> Table {
    place.read(name).parse().unwrap()
}

/// Runs a tiny plan and checks everything that is in its folder; returns the number of the last accepted weights.
fn run_and_check(place: &Workplace, variant: &str, generations: u32) -> u32 {
    place.write("tiny.toml", &tiny_plan(variant, generations, CLAIMS));
    let printed = place.run("loop tiny.toml --out run").succeeded();
    let mut parent = 0;
    for generation in 1..=generations {
        parent = check_generation(place, generation, parent);
        assert!(printed.contains(&format!("Generation {generation}\n")), "{printed}");
    }
    check_report(place, &printed, generations);
    place.run("data verify run").succeeded();
    parent
}

/// Returns the number of the weights that go on.
fn check_generation(place: &Workplace, number: u32, parent: u32) -> u32 {
    let verdict = table(place, &format!("run/gate/{number:03}-vs-{parent:03}.toml"));
    let accepted = verdict["accepted"].as_bool().unwrap();
    let number_in = |key: &str| verdict[key].as_integer();
    assert_eq!((number_in("candidate"), number_in("parent")), (Some(i64::from(number)), Some(i64::from(parent))));
    assert_eq!(place.read(&format!("run/gate/{number:03}-vs-{parent:03}.jsonl")).lines().count(), 1 + 12);
    let (kept, other) = if accepted { ("weights", "rejected") } else { ("rejected", "weights") };
    let weights = table(place, &format!("run/{kept}/{number:03}.toml"));
    assert!(!place.path(&format!("run/{other}/{number:03}.toml")).exists());
    let origin = weights["origin"].as_table().unwrap();
    assert_eq!(origin["data_digest"].as_str(), Some(&*place.digest(&format!("run/selfplay/{number:03}"))));
    // A game may have no quiet position.
    assert!(origin["games"].as_integer().is_some_and(|games| (18..=36).contains(&games)), "{origin}");
    // Played with the parent's weights, and numbered after the games before.
    let verified = place.run(&format!("data verify run/selfplay/{number:03}")).succeeded();
    assert!(verified.starts_with("9 shards, 36 games, "), "{verified}");
    let head = place.run(&format!("data head run/selfplay/{number:03} --games 1")).succeeded();
    assert!(head.starts_with(&format!("game {}: ", 36 * (number - 1))), "{head}");
    if accepted { number } else { parent }
}

fn check_report(place: &Workplace, printed: &str, generations: u32) {
    let report = place.read("run/report.md");
    for claim in ["T1", "T2"] {
        let line = report.lines().find(|line| line.starts_with(&format!("- **{claim}** "))).expect("the claim's line");
        let judged = ["supported", "refuted", "undecided"].iter().filter(|word| line.contains(**word)).count();
        assert_eq!(judged, 1, "{line}");
        assert!(printed.lines().any(|line| line.starts_with(&format!("{claim} "))), "{printed}");
    }
    for generation in 1..=generations {
        assert!(report.contains(&format!("## Generation {generation}\n")), "{report}");
        assert!(report.contains(&place.digest(&format!("run/selfplay/{generation:03}"))), "{report}");
    }
    assert!(report.contains(&format!("what {} games say", 36 * generations)), "{report}");
    assert!(report.contains("`fairyforge loop tiny.toml --out run`"), "{report}");
    assert!(report.contains("\n36 games of "), "the quality of the last generation: {report}");
    assert!(report.contains("(calibration.svg)") && place.read("run/calibration.svg").starts_with("<svg"), "{report}");
    let mut words = report.split(|letter: char| !letter.is_alphanumeric());
    assert!(!words.any(|word| ["NaN", "inf", "infinity"].contains(&word)), "{report}");
}

/// The weights of a loop are good for games, matches and further fits.
fn use_weights(place: &Workplace, variant: &str, weights: &str) {
    place
        .run(&format!("selfplay --variant {variant} --games 12 --nodes 20 --seed 9 --weights {weights} --out next"))
        .succeeded();
    assert_eq!(place.read("next/weights/000.toml"), place.read(weights), "kept as they were given");
    let json = place
        .run(&format!(
            "match --variant {variant} --a {weights} --b a-priori --pairs 2 --nodes 20 --seed 9 --out m --json"
        ))
        .succeeded();
    let summary: serde_json::Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    assert_eq!(
        summary["meetings"][0]["pentanomial"].as_array().unwrap().iter().filter_map(|n| n.as_u64()).sum::<u64>(),
        2
    );
}

/// A loop of one generation, then its weights in use; the candidate's are used if it was rejected.
fn whole_loop(variant: &str) {
    let place = Workplace::new();
    let best = run_and_check(&place, variant, 1);
    let folder = if best == 1 { "weights" } else { "rejected" };
    use_weights(&place, variant, &format!("run/{folder}/001.toml"));
}

#[test]
fn herculean() {
    whole_loop("herculean");
}

#[test]
fn sorcerer_reinforcements_with_its_drops() {
    whole_loop("sorcerer-reinforcements");
}

#[test]
fn opulent_lemurian_shatranj() {
    whole_loop("opulent-lemurian-shatranj");
}

#[test]
fn chess_for_two_generations() {
    let place = Workplace::new();
    let best = run_and_check(&place, "chess", 2);
    use_weights(&place, "chess", &format!("run/weights/{best:03}.toml"));
    // Finished is finished: once more changes nothing.
    let files = place.files("run");
    place.run("loop tiny.toml --out run").succeeded();
    place.assert_same_run("run", &files);
}

#[test]
fn shatranj() {
    whole_loop("shatranj");
}

/// A game that nobody shipped: chess on a smaller board with a knight that also steps.
const MY_GAME: &str = r#"
format = 1

[variant]
name = "My Game"

[board]
setup = """
r n q k n r
p p p p p p
. . . . . .
. . . . . .
P P P P P P
R N Q K N R
"""

[zones]
last_rank = "rank 6"

[pieces]
king   = { letter = "K", moves = "K" }
queen  = { letter = "Q", moves = "Q" }
rook   = { letter = "R", moves = "R" }
knight = { letter = "N", moves = "NW" }
pawn   = { letter = "P", moves = "fmWfcF" }

[promotion]
who  = ["pawn"]
zone = "last_rank"
must = true
to   = ["queen", "rook", "knight"]

[end]
stalemated_side  = "draws"
bare_kings_draw  = true
repetition       = 3
move_count_plies = 100
"#;

#[test]
fn a_game_of_ones_own_goes_through_all_commands() {
    let place = Workplace::new();
    place.write("my-game.toml", MY_GAME);
    place.run("variant check my-game.toml").succeeded();
    place.run("selfplay --variant my-game.toml --games 24 --nodes 24 --seed 1 --out games").succeeded();
    // Its name alone is not enough, and the message says what is.
    place.run("fit --data games --out fitted.toml").refused(2, &["my-game", "give its file"]);
    let fit = place.run("fit --data games --variant my-game.toml --out fitted.toml").succeeded();
    assert!(fit.contains("knight") && fit.contains("weights written to fitted.toml"), "{fit}");
    use_weights(&place, "my-game.toml", "fitted.toml");
    // Other rules of the same name are another game.
    let other = MY_GAME.replace("moves = \"NW\"", "moves = \"NF\"");
    std::fs::create_dir(place.path("other")).unwrap();
    place.write("other/my-game.toml", &other);
    place.run("fit --data games --variant other/my-game.toml --out other.toml").failed(2);
    place
        .run("match --variant other/my-game.toml --a fitted.toml --b a-priori --pairs 1 --nodes 9 --seed 1 --out o")
        .refused(2, &["fitted.toml", "rules"]);
    place
        .run("selfplay --variant other/my-game.toml --games 24 --nodes 24 --seed 1 --out games")
        .refused(2, &["rules_hash"]);

    run_and_check(&place, "my-game.toml", 1);
}

#[test]
fn claims_about_units_that_are_not_in_the_game_are_refused_before_anything_is_played() {
    let place = Workplace::new();
    place.write("tiny.toml", &tiny_plan("chess", 1, &CLAIMS.replace("\"rook\"", "\"rok\"")));
    place.run("loop tiny.toml --out run").refused(2, &["rok", "rook"]);
    assert!(!place.path("run/selfplay").exists());
}

/// Networks instead of weights, with everything that a plan may say of them in its smallest form.
const NETWORKS: &str = r#"
[train.window]
least = 2
share = 0.0

[train.network]
width = 64
king_ranks = [1]
output_buckets = 2

[train.training]
batch = 64
epochs = 3.0
report_every = 20
validation_share = 0.2

[train.filter]
least_ply = 0
captures = true
"#;

fn network_loop(generations: u32) -> String {
    tiny_plan("chess", generations, NETWORKS).replace("seed = 3", "seed = 3\nstart = \"a-priori\"")
}

/// The judge that a generation plays with is the last that was accepted; every network has a card that tells its gate.
#[test]
fn networks_for_three_generations() {
    let place = Workplace::new();
    place.write("tiny.toml", &network_loop(3));
    let printed = place.run("loop tiny.toml --out run").succeeded();
    let chess = std::sync::Arc::new(fairyforge_engine::variant::Variant::load("chess").unwrap());
    let (mut parent, mut best) = (0, "run/weights/000.toml".to_owned());
    for number in 1..=3_u32 {
        assert!(printed.contains(&format!("Generation {number}\n")), "{printed}");
        let verdict = table(&place, &format!("run/gate/{number:03}-vs-{parent:03}.toml"));
        let accepted = verdict["accepted"].as_bool().unwrap();
        let kept = if accepted { "networks" } else { "rejected" };
        let name = format!("run/{kept}/{number:03}.net");
        let file = fairyforge_engine::evaluate::network::NetworkFile::load(&chess, &place.path(&name)).unwrap();
        assert_eq!(file.card.gate.as_deref(), verdict["result"].as_str().filter(|_| accepted), "the match that it won");
        let window: Vec<_> =
            file.card.data.iter().map(|data| (data.name.clone(), data.digest.clone(), data.games)).collect();
        let played = (1.max(number - 1)..=number).map(|number| format!("selfplay/{number:03}"));
        let played: Vec<_> = played.map(|name| (name.clone(), place.digest(&format!("run/{name}")), 36)).collect();
        assert_eq!(window, played, "the last two generations' games");
        if accepted {
            (parent, best) = (number, name);
        }
    }
    let report = place.read("run/report.md");
    assert!(report.contains("[training/003](training/003/report.md)"), "{report}");
    assert!(report.contains("(progression.svg)") && place.read("run/progression.svg").starts_with("<svg"), "{report}");
    let strengths = report.split("## Elo against").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    let rows =
        strengths.lines().filter(|line| line.ends_with(" |") && line.contains(['±', '–']) && !line.contains('%'));
    assert_eq!(rows.count(), 3, "{strengths}");
    place
        .run(&format!("match --variant chess --a {best} --b a-priori --pairs 2 --nodes 20 --seed 9 --out m"))
        .succeeded();
    place.run("match verify m").succeeded();
    // Finished is finished: once more changes nothing.
    let files = place.files("run");
    place.run("loop tiny.toml --out run").succeeded();
    place.assert_same_run("run", &files);
}

#[test]
fn a_killed_loop_of_networks_ends_as_an_undisturbed_one() {
    let [undisturbed, killed] = [(), ()].map(|()| {
        let place = Workplace::new();
        place.write("tiny.toml", &network_loop(2));
        place
    });
    undisturbed.run("loop tiny.toml --out run --threads 1").succeeded();
    let kills = killed.kill_until_done("loop tiny.toml --out run --threads 2", "run", 5, 16);
    assert!(kills >= 3, "the run is too short for this test: {kills} kills");
    killed.assert_same_run("run", &undisturbed.files("run"));
}

#[test]
fn a_lengthened_loop_ends_as_if_it_had_been_so_long_from_the_start() {
    let [whole, lengthened] = [Workplace::new(), Workplace::new()];
    for (place, generations) in [(&whole, 2), (&lengthened, 1), (&lengthened, 2)] {
        place.write("tiny.toml", &network_loop(generations));
        place.run("loop tiny.toml --out run").succeeded();
    }
    lengthened.assert_same_run("run", &whole.files("run"));
    lengthened.write("tiny.toml", &network_loop(1));
    lengthened.run("loop tiny.toml --out run").refused(2, &["generations: recorded 2, asked for 1"]);
}

#[test]
fn what_a_loop_cannot_begin_with_is_told() {
    let place = Workplace::new();
    place.write("tiny.toml", &network_loop(1).replace("\"a-priori\"", "\"nowhere.net\""));
    place.run("loop tiny.toml --out run").refused(2, &["nowhere.net"]);
    place.write("tiny.toml", &network_loop(1).replace("king_ranks = [1]", "king_ranks = [9]"));
    place.run("loop tiny.toml --out other").refused(2, &["king_ranks"]);
    assert!(!place.path("run").exists() && !place.path("other").exists(), "nothing was begun");
    place.write("tiny.toml", &tiny_plan("chess", 1, &format!("{CLAIMS}\n{NETWORKS}")));
    place.run("loop tiny.toml --out third").refused(2, &["claims", "[train]"]);
}
