//! Runs begun by older versions go on: a plan that lacks keys of today is the same plan if these have their defaults, and is refused by
//! name otherwise. The promise is in `docs/formats/README.md`.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

mod common;

use common::{Workplace, tiny_plan};
use std::path::Path;
use toml::{Table, Value};

/// A command that keeps its plan, and what an older record of it may lack.
struct Kept<'a> {
    line: &'a str,
    /// The run it leaves.
    run: &'a str,
    /// Keys and tables of its plan that have their defaults.
    lacking: &'a [&'a str],
    /// One that is lacking with another value than its default.
    other: (&'a str, i64),
}

const SELFPLAY: Kept<'_> = Kept {
    line: "selfplay --variant chess --games 8 --nodes 10 --seed 1 --shard-games 4 --out run",
    run: "run",
    lacking: &["selfplay.adjudication", "selfplay.table_mebibytes", "selfplay.openings.imbalance.window"],
    other: ("selfplay.adjudication.most_plies", 500),
};

#[test]
fn selfplay_goes_on() {
    goes_on(&Workplace::new(), &SELFPLAY);
}

#[test]
fn a_match_goes_on() {
    let line = "match --variant chess --a a-priori --b a-priori --pairs 4 --nodes 10 --seed 1 --out run";
    let lacking = &["adjudication.most_plies", "adjudication.draw_moves"];
    goes_on(&Workplace::new(), &Kept { line, run: "run", lacking, other: ("adjudication.most_plies", 500) });
}

#[test]
fn a_loop_goes_on() {
    let place = Workplace::new();
    place.write("tiny.toml", &tiny_plan("chess", 1, ""));
    let lacking = &["fit", "match.table_mebibytes", "selfplay.table_mebibytes"];
    let kept = Kept { line: "loop tiny.toml --out run", run: "run", lacking, other: ("match.table_mebibytes", 2) };
    goes_on(&place, &kept);
}

#[test]
fn a_training_goes_on() {
    let place = Workplace::new();
    place.run(&SELFPLAY.line.replace("--games 8", "--games 40").replace("--out run", "--out games")).succeeded();
    place.write(
        "plan.toml",
        "format = 1\nvariant = \"chess\"\nseed = 5\n[training]\nbatch = 16\nbatches = 4\nreport_every = 2\n\
         validation_share = 0.4\nwindow = 40\n[filter]\nleast_ply = 0\n[[data]]\nfolder = \"games\"\n",
    );
    let lacking = &["sharing", "adam", "target", "data[0].weight"];
    let kept = Kept { line: "train plan.toml --out run", run: "run", lacking, other: ("target.first_result_share", 1) };
    goes_on(&place, &kept);
}

#[test]
fn an_experiment_goes_on() {
    let place = Workplace::new();
    place.write(
        "plan.toml",
        "format = 1\nvariant = \"chess\"\nseed = 3\nnodes = 10\nweights = \"a-priori\"\nadjudication = { most_plies = 60 }\n\
         [design]\nsettled = true\nimbalance = { share = 0.8, pawn_weight = 5, most_common_units = 4 }\n\
         [rounds]\nmost = 1\ngames = 80\n[reference]\ngames = 160\nlooks = 1\n",
    );
    let lacking = &["forecast", "table_mebibytes", "adjudication.win_moves"];
    let kept = Kept { line: "values run plan.toml --out run", run: "run", lacking, other: ("table_mebibytes", 2) };
    goes_on(&place, &kept);
}

#[test]
fn a_book_and_a_suite_go_on() {
    let place = Workplace::new();
    let common = "format = 1\nvariant = \"chess\"\njudge = \"a-priori\"\n";
    let book = "[search]\nnodes = 30\n[candidates]\nmost = 5\nnodes = 10\nwindow = 400\n[growth]\npositions = 12\n";
    let suite = "seed = 7\nbook = \"book.toml\"\n[verify]\nnodes = 30\n[games]\ncount = 2\nnodes = 10\nleast = 0.0\nmost = 1.0\n";
    place.write("book.toml", &format!("{common}{book}"));
    place.write("suite.toml", &format!("{common}{suite}"));
    let lacking = &["weights", "games", "growth.batch"];
    let kept = Kept { line: "book build book.toml --out book", run: "book", lacking, other: ("growth.batch", 3) };
    goes_on(&place, &kept);
    let lacking = &["families", "openings", "games.adjudication"];
    let kept = Kept { line: "book suite suite.toml --out suite", run: "suite", lacking, other: ("families.moves", 7) };
    goes_on(&place, &kept);
}

#[test]
fn a_tuning_run_goes_on() {
    let place = Workplace::new();
    place.write(
        "plan.toml",
        "format = 1\nvariant = \"chess\"\nseed = 3\niterations = 2\npairs_per_iteration = 2\nnodes = 10\nweights = \"a-priori\"\n\
         [[parameters]]\nname = \"late_move_base\"\nr_end = 0.3\n",
    );
    let lacking = &["plan.adjudication", "plan.table_mebibytes"];
    let kept = Kept { line: "tune spsa plan.toml --out run", run: "run", lacking, other: ("plan.table_mebibytes", 2) };
    goes_on(&place, &kept);
}

/// A folder that an older version really wrote. What it lacks of today's keys is one of those that have come since.
#[test]
fn a_committed_sample_of_an_older_version_goes_on() {
    let place = Workplace::new();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/samples/herculean"), &place.path("run"));
    let began_by = place.read("run/version.txt");
    let digest = place.digest("run");
    let line = "selfplay --variant herculean --games 200 --nodes 100 --seed 1 --shard-games 20 --out run";
    let ended = place.run(line);
    assert!(ended.stderr.contains("several versions of the program"), "{ended:?}");
    assert!(ended.succeeded().contains(&digest), "nothing is played again");
    let versions = place.read("run/version.txt");
    assert!(versions.starts_with(&began_by) && versions.lines().count() == 2, "{versions}");
    place.run(&format!("{line} --imbalance 0.5")).refused(2, &["selfplay.openings.imbalance.share: recorded 0.75"]);
}

/// With the keys away the run goes on and stays as it is; with one of another value, or with one that today knows not, it is refused.
fn goes_on(place: &Workplace, kept: &Kept<'_>) {
    place.run(kept.line).succeeded();
    let plan = format!("{}/plan.toml", kept.run);
    let whole: Table = place.read(&plan).parse().unwrap();
    let mut older = whole.clone();
    kept.lacking.iter().for_each(|key| remove(&mut older, key));
    place.write(&plan, &older.to_string());
    let before = place.files(kept.run);
    place.run(kept.line).succeeded();
    place.assert_same_run(kept.run, &before);

    let (key, value) = kept.other;
    let mut other = older.clone();
    insert(&mut other, key, Value::Integer(value));
    place.write(&plan, &other.to_string());
    place.run(kept.line).refused(2, &["another plan", &format!("{key}: recorded {value}, asked for")]);

    let mut unknown = older;
    insert(&mut unknown, "haste", Value::Boolean(true));
    place.write(&plan, &unknown.to_string());
    place.run(kept.line).refused(2, &["another plan", "haste: recorded true, asked for nothing"]);
    place.write(&plan, &whole.to_string());
}

/// Takes a dotted key away, which must be there; a step may say which entry of a list.
fn remove(table: &mut Table, dotted: &str) {
    let (parent, key) = parent_of(table, dotted);
    assert!(parent.remove(key).is_some(), "{dotted} is not in the plan");
}

fn insert(table: &mut Table, dotted: &str, value: Value) {
    let (parent, key) = parent_of(table, dotted);
    parent.insert(key.to_owned(), value);
}

fn parent_of<'a, 'k>(table: &'a mut Table, dotted: &'k str) -> (&'a mut Table, &'k str) {
    let Some((step, rest)) = dotted.split_once('.') else {
        return (table, dotted);
    };
    let inner = match step.strip_suffix("[0]") {
        Some(list) => &mut table[list][0],
        None => table.entry(step).or_insert_with(|| Value::Table(Table::new())),
    };
    parent_of(inner.as_table_mut().unwrap(), rest)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in from.read_dir().unwrap() {
        let entry = entry.unwrap();
        let name = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &name);
        } else {
            std::fs::copy(entry.path(), name).unwrap();
        }
    }
}
