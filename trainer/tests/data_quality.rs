//! `data quality` on games that the program played: numbers that agree with each other and with the records, whatever the threads.

mod common;

use common::{Workplace, json};
use serde_json::Value;

const SELFPLAY: &str = "selfplay --variant chess --games 20 --nodes 20 --seed 1 --threads 2 --shard-games 6 --out run";

fn played() -> Workplace {
    let place = Workplace::new();
    place.run(SELFPLAY).succeeded();
    place
}

#[track_caller]
fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("expected a count, got {value}"))
}

#[track_caller]
fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("expected a list, got {value}"))
}

#[test]
fn the_numbers_agree_with_the_records_and_with_each_other() {
    let place = played();
    let told = json(&place.run("data quality run --json").succeeded());
    let verified = json(&place.run("data verify run --json").succeeded());
    assert_eq!((&told["games"], &told["positions"]), (&20.into(), &verified["positions"]));
    assert_eq!(told["variant"], "chess");
    let results = ["white", "drawn", "black"].map(|result| &told["results"][result]);
    assert_eq!(results.iter().map(|share| count(&share["count"])).sum::<u64>(), 20);
    for share in results {
        let [low, share, high] = ["low", "share", "high"].map(|key| share[key].as_f64().unwrap());
        assert!(0.0 <= low && low <= share && share <= high && high <= 1.0 && low < high, "{told}");
    }
    assert_eq!(told["terminations"].as_object().unwrap().values().map(count).sum::<u64>(), 20);
    assert!(list(&told["lengths"]["quantiles"]).iter().map(|quantile| count(&quantile["plies"])).is_sorted());
    let all = &told["duplicates"]["all"];
    assert_eq!(all["positions"], told["positions"]);
    assert!(
        count(&all["different"]) + count(&told["duplicates"]["within_games"]) <= count(&all["positions"]),
        "{told}"
    );
    let first = &told["openings"][0];
    assert!(count(&first["different"]) >= 2 && count(&first["different"]) <= count(&first["games"]), "{first}");
    let calibration = &told["calibration"];
    let in_bins: u64 = list(&calibration["bins"]).iter().map(|bin| count(&bin["positions"])).sum();
    assert_eq!((in_bins, in_bins > 100), (count(&calibration["positions"]), true));
}

#[test]
fn the_same_is_told_on_any_number_of_threads() {
    let place = played();
    let on = |threads: &str| {
        let mut command = place.command("data quality run --json --curve curve.svg");
        let output = command.env("RAYON_NUM_THREADS", threads).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        (String::from_utf8(output.stdout).unwrap(), place.read("curve.svg"))
    };
    let alone = on("1");
    assert_eq!(alone, on("3"));
    assert!(alone.1.starts_with("<svg"));
}

#[test]
fn folders_are_looked_at_together() {
    let place = played();
    let told = |folders: &str| json(&place.run(&format!("data quality {folders} --json")).succeeded());
    let (once, twice) = (told("run"), told("run run/selfplay/001"));
    assert_eq!(count(&twice["positions"]), 2 * count(&once["positions"]));
    assert_eq!(twice["duplicates"]["all"]["different"], once["duplicates"]["all"]["different"]);
    assert_eq!(twice["lengths"], once["lengths"]);
}

#[test]
fn it_is_told_in_words_and_what_is_no_games_is_refused() {
    let place = played();
    let text = place.run("data quality run").succeeded();
    assert!(text.contains("20 games of chess") && text.contains("Scores against results"), "{text}");
    place.run("data quality").failed(2);
    place.run("data quality nowhere").refused(2, &["nowhere"]);
    std::fs::create_dir(place.path("empty")).unwrap();
    place.run("data quality run empty").refused(2, &["no records in empty"]);
    place.run("selfplay --variant herculean --games 2 --nodes 5 --seed 1 --threads 1 --out other").succeeded();
    place.run("data quality run other").refused(2, &["other: expected games by the rules"]);
}
