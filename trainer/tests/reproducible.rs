//! Equal requests give equal bytes, on any number of threads; other seeds give other games.

mod common;

use common::{Workplace, tiny_plan};

fn selfplay(place: &Workplace, variant: &str, seed: u64, threads: usize, shard_games: u64) -> String {
    let out = format!("{variant}-{seed}-{threads}-{shard_games}");
    place
        .run(&format!(
            "selfplay --variant {variant} --games 24 --nodes 40 --seed {seed} --threads {threads} --shard-games {shard_games} --out {out}"
        ))
        .succeeded();
    out
}

#[test]
fn selfplay_is_the_same_on_any_number_of_threads() {
    let place = Workplace::new();
    // Drops, zones and stalemates that win are all in.
    for variant in ["herculean", "sorcerer-reinforcements", "opulent-lemurian-shatranj"] {
        let alone = selfplay(&place, variant, 7, 1, 4);
        let files = place.files(&alone);
        assert_eq!(files.keys().filter(|name| name.ends_with(".parquet")).count(), 12);
        for threads in [2, 5] {
            let run = selfplay(&place, variant, 7, threads, 4);
            place.assert_same_run(&run, &files);
            assert_eq!(place.digest(&run), place.digest(&alone), "{variant} on {threads} threads");
        }
    }
}

#[test]
fn the_digest_does_not_depend_on_shards_but_on_the_seed() {
    let place = Workplace::new();
    let digests = [2, 4, 10, 1000].map(|shard_games| place.digest(&selfplay(&place, "chess", 7, 2, shard_games)));
    assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");
    assert_ne!(place.digest(&selfplay(&place, "chess", 8, 2, 4)), digests[0]);
    // What selfplay prints, what verify prints and what digest prints is one and the same.
    let verified = place.run("data verify chess-7-2-4").succeeded();
    assert!(verified.contains(&format!("digest {}", digests[0])), "{verified}");
    let again = place
        .run("selfplay --variant chess --games 24 --nodes 40 --seed 7 --threads 2 --shard-games 4 --out chess-7-2-4");
    assert!(again.succeeded().contains(&format!("digest {}", digests[0])));
}

/// What only seems to be the same: every one of these must change the games.
#[test]
fn what_decides_the_games_changes_the_digest() {
    let place = Workplace::new();
    let requests = [
        "--seed 1 --nodes 40",
        "--seed 2 --nodes 40",
        "--seed 1 --nodes 41",
        "--seed 1 --nodes 40 --imbalance 0",
        "--seed 18446744073709551615 --nodes 40",
    ];
    let digests: std::collections::BTreeSet<String> = (0..)
        .zip(requests)
        .map(|(number, request)| {
            place.run(&format!("selfplay --variant shatranj --games 8 --out {number} {request}")).succeeded();
            place.digest(&number.to_string())
        })
        .collect();
    assert_eq!(digests.len(), requests.len());
}

#[test]
fn a_match_is_the_same_on_any_number_of_threads() {
    let place = Workplace::new();
    let play = |out: &str, request: &str| {
        place.run(&format!("match --variant herculean --a a-priori --b a-priori --nodes 40 --out {out} --a-set late_move_base=40 {request}")).succeeded();
        place.files(out)
    };
    let alone = play("m1", "--pairs 8 --seed 5 --threads 1");
    assert_eq!(alone["journal.jsonl"].split_inclusive(|&byte| byte == b'\n').count(), 1 + 16, "a line a game");
    for threads in [2, 5] {
        let out = format!("m{threads}");
        play(&out, &format!("--pairs 8 --seed 5 --threads {threads}"));
        place.assert_same_run(&out, &alone);
    }
    assert_ne!(play("other", "--pairs 8 --seed 6")["journal.jsonl"], alone["journal.jsonl"]);
    // Pairs depend on their number only: a shorter match is the beginning of a longer one.
    assert!(alone["journal.jsonl"].starts_with(&play("shorter", "--pairs 3 --seed 5")["journal.jsonl"]));
}

#[test]
fn a_fit_is_the_same_every_time() {
    let place = Workplace::new();
    let run = selfplay(&place, "chess", 7, 2, 4);
    let fit = |out: &str| {
        let json = place.run(&format!("fit --data {run} --out {out} --json")).succeeded();
        (json, place.read(out))
    };
    assert_eq!(fit("one.toml"), fit("two.toml"));
}

#[test]
fn a_loop_is_the_same_on_any_number_of_threads() {
    let undisturbed = Workplace::new();
    undisturbed.write("tiny.toml", &tiny_plan("chess", 2, ""));
    undisturbed.run("loop tiny.toml --out run --threads 1").succeeded();
    let files = undisturbed.files("run");
    assert!(files.contains_key("weights/000.toml") && files.contains_key("report.md"));
    for threads in [2, 5] {
        let place = Workplace::new();
        place.write("tiny.toml", &tiny_plan("chess", 2, ""));
        place.run(&format!("loop tiny.toml --out run --threads {threads}")).succeeded();
        place.assert_same_run("run", &files);
    }
}
