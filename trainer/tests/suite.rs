//! Suites of openings made by the program: on any number of threads, after kills, looked at again by other means, spoilt.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use common::{Workplace, json};
use fairyforge::arena::openings::{MatchOpening, OpeningBook, OpeningFile, OpeningSource, Order};
use fairyforge::book::Plan;
use fairyforge::book::suite::SuitePlan;
use fairyforge::book::suite::conditions::unfit;
use fairyforge::book::suite::exits::exits;
use fairyforge_engine::book::{Book, BookKey};
use fairyforge_engine::evaluate::{Judge, Weights};
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::search::{Limits, Memory, Params, Request, search_with};
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::Colour;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Nodes of the second search.
const NODES: u64 = 250;

/// Plans of a book and of a suite that are there in seconds.
fn workplace(variant: &str, more: &str) -> Workplace {
    let place = Workplace::new();
    let book = format!(
        "format = 1\nvariant = \"{variant}\"\njudge = \"a-priori\"\n\n[search]\nnodes = 100\ntable_mebibytes = 1\n\n\
         [candidates]\nmost = 5\nnodes = 15\nwindow = 400\n\n[growth]\npositions = 30\nply_cost = 20\nbatch = 8\n"
    );
    place.write("book.toml", &book);
    place.write("suite.toml", &plan(variant, more));
    place
}

fn plan(variant: &str, more: &str) -> String {
    format!(
        "format = 1\nvariant = \"{variant}\"\njudge = \"a-priori\"\nseed = 7\nbook = \"book.toml\"\n\n\
         [verify]\nnodes = {NODES}\ntable_mebibytes = 1\nmargin = 15\n\n\
         [games]\ncount = 2\nnodes = 12\nleast = 0.0\nmost = 1.0\n\n[games.adjudication]\nmost_plies = 30\n\n{more}"
    )
}

/// The openings of a file, as a match takes them in order.
fn openings(variant: &Arc<Variant>, path: &Path) -> Vec<MatchOpening> {
    let source = OpeningSource::File(OpeningFile { order: Order::Sequential, ..OpeningFile::new(path) });
    let book = OpeningBook::open(variant, &source, 1).unwrap_or_else(|error| panic!("{error}"));
    (0..book.size().unwrap()).map(|number| book.opening(number)).collect()
}

fn variant(name: &str) -> Arc<Variant> {
    Arc::new(Variant::load(name).unwrap())
}

/// An operation's operands in a line of EPD.
fn operand<'a>(line: &'a str, name: &str) -> &'a str {
    let operation = line.split(';').map(|text| text.trim().rsplit_once(&format!("{name} ")));
    let found = operation.flatten().find(|(before, _)| before.is_empty() || before.ends_with(' '));
    found.unwrap_or_else(|| panic!("no {name} in {line}")).1
}

/// The lines of openings.
fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with('#')).collect()
}

#[test]
fn the_same_bytes_on_any_number_of_threads_and_after_kills() {
    for name in ["chess", "sorcerer"] {
        let place = workplace(name, "[openings]\ncount = 24\nfrom = -60\nto = 60\nleast_plies = 2\n");
        place.run("book suite suite.toml --out one --threads 1").succeeded();
        let undisturbed = place.files("one");
        for file in ["book.jsonl", "opening.book", "suite.jsonl", "openings.epd", "openings.pgn", "suite.json"] {
            assert!(undisturbed.contains_key(file), "{file}");
        }
        place.run("book suite suite.toml --out three --threads 3").succeeded();
        place.assert_same_run("three", &undisturbed);
        // As if killed in the middle of a batch, and of a line.
        let journal = place.read("three/suite.jsonl");
        let half: Vec<&str> = journal.split_inclusive('\n').take(journal.lines().count() / 2).collect();
        place.write("three/suite.jsonl", &format!("{}{{\"posi", half.concat()));
        for file in ["openings.epd", "openings.pgn", "suite.json"] {
            std::fs::remove_file(place.path("three").join(file)).unwrap();
        }
        let told = place.run("book suite suite.toml --out three --threads 2");
        assert!(told.stderr.contains("were done before"), "{told:?}");
        place.assert_same_run("three", &undisturbed);
        let kills = place.kill_until_done("book suite suite.toml --out killed --threads 2", "killed", 5, 6);
        assert!(kills > 0);
        place.assert_same_run("killed", &undisturbed);
        place.write("suite.toml", &plan(name, "[openings]\ncount = 25\n"));
        place.run("book suite suite.toml --out one").refused(2, &["another plan", "openings.count"]);
    }
}

/// Everything that a suite promises, looked at by other means than those that made it.
#[test]
fn every_opening_keeps_what_the_plan_promises() {
    let windows = [("chess", -40, 40), ("chess", 8, 300), ("sorcerer", -40, 40)];
    for (name, from, to) in windows {
        let settings = format!(
            "[openings]\ncount = 20\nfrom = {from}\nto = {to}\nleast_plies = 2\nmost_plies = 6\nleast_moves = 15\n"
        );
        let place = workplace(name, &settings);
        place.run("book suite suite.toml --out run").succeeded();
        let variant = variant(name);
        let judge = Judge::of_weights(&variant, &Weights::a_priori(&variant));
        let text = place.read("run/openings.epd");
        assert!(text.lines().next().unwrap().contains(variant.rules_hash()));
        let (epd, pgn) = ("run/openings.epd", "run/openings.pgn");
        let positions = openings(&variant, &place.path(epd));
        let games = openings(&variant, &place.path(pgn));
        assert_eq!((positions.len(), games.len(), lines(&text).len()), (20, 20, 20), "{name} {from}");
        let keys: BTreeSet<BookKey> = positions.iter().map(|opening| BookKey::of(&opening.position)).collect();
        assert_eq!(keys.len(), 20, "each once");
        for ((opening, game), line) in positions.iter().zip(&games).zip(lines(&text)) {
            let position = &opening.position;
            assert!(position.outcome(1).is_none() && !position.in_check(), "{line}");
            let mut passed = position.clone();
            passed.make_null();
            assert!(position.legal_moves().len() >= 15 && passed.legal_moves().len() >= 15, "{line}");
            assert_eq!(
                (opening.name.as_deref(), operand(line, "acn")),
                (Some(operand(line, "id").trim_matches('"')), "250")
            );
            let value: i32 = operand(line, "ce").parse().unwrap();
            assert_eq!(value, for_white(position, &judge), "{line}");
            assert!((from - 15..=to + 15).contains(&value), "{line}");
            let plies: u16 = operand(line, "plies").parse().unwrap();
            assert!((2..=6).contains(&plies) && game.plies == plies, "{line}");
            // The game leads to the position, counters and all.
            assert!(game.position == *position && game.start == Position::start(&variant), "{line}");
            let results: usize = operand(line, "results").split(' ').map(|count| count.parse::<usize>().unwrap()).sum();
            assert_eq!(results, 2);
            let (family, number) = operand(line, "id").trim_matches('"').rsplit_once('/').unwrap();
            assert_eq!(game.name, Some(format!("{family}, {number}")));
        }
        let checked = json(&place.run("book verify run/openings.epd --sample 1000 --json").succeeded());
        assert_eq!((&checked["openings"], &checked["searched_again"]), (&20.into(), &20.into()));
        let table = place.run("book verify run/openings.epd --sample 3").succeeded();
        assert!(table.contains("20 openings of") && table.contains("3 of 3 searches came out the same"), "{table}");
    }
}

/// What a search of its own says for White.
fn for_white(position: &Position, judge: &Judge) -> i32 {
    let mut memory = Memory::new(1, Params::default());
    let (limits, stop) = (Limits::nodes(NODES), AtomicBool::new(false));
    let request = Request { position, earlier: &[], limits: &limits, evaluator: judge, endgames: None, stop: &stop };
    let score = search_with(&request, &mut memory, |_, _| ()).score;
    if position.side_to_move() == Colour::White { score } else { -score }
}

/// Where nothing is turned away, families have as many openings to within one, or all their exits.
#[test]
fn families_have_as_many_openings() {
    let everything = "[openings]\ncount = 60\nfrom = -10000\nto = 10000\nleast_plies = 1\nleast_moves = 1\n";
    let place = workplace("chess", everything);
    place.run("book suite suite.toml --out run").succeeded();
    let variant = variant("chess");
    let book = Book::load(&variant, &place.path("run/opening.book")).unwrap();
    let plan = SuitePlan::read(&place.read("suite.toml")).unwrap();
    let mut all: BTreeMap<String, usize> = BTreeMap::new();
    for exit in exits(&book).iter().filter(|exit| unfit(&plan, exit, &exit.position(&book)).is_none()) {
        let mut position = Position::start(&variant);
        let words = exit.way.iter().take(2).map(|&mv| {
            let word = position.san(mv);
            position.make(mv, &mut Unobserved);
            word
        });
        *all.entry(words.collect::<Vec<_>>().join(" ")).or_default() += 1;
    }
    let manifest = json(&place.read("run/suite.json"));
    let sizes: BTreeMap<String, usize> = serde_json::from_value(manifest["counts"]["families"].clone()).unwrap();
    assert_eq!(sizes.keys().collect::<Vec<_>>(), all.keys().collect::<Vec<_>>());
    assert_eq!((sizes.values().sum::<usize>(), sizes.len() > 5), (60, true));
    let most = *sizes.values().max().unwrap();
    for (family, &size) in &sizes {
        assert!(size + 1 >= most || size == all[family], "{family}: {size} of {}, others {most}", all[family]);
    }
    // The numbers of a family rise through the file, and every family is there before one is there again.
    let text = place.read("run/openings.epd");
    let first: BTreeSet<&str> =
        lines(&text)[..sizes.len()].iter().map(|line| operand(line, "id").rsplit_once('/').unwrap().0).collect();
    assert_eq!(first.len(), sizes.len());
}

#[test]
fn too_few_openings_are_told_with_what_turned_the_others_away() {
    let place = workplace("chess", "[openings]\ncount = 20\nfrom = 4000\nto = 4001\nleast_plies = 1\n");
    let ended = place.run("book suite suite.toml --out run --json");
    let counts = &json(&ended.stdout)["counts"];
    assert_eq!((ended.status, &counts["openings"]), (Some(0), &0.into()), "{ended:?}");
    assert!(ended.stderr.contains("0 of 20 openings found; turned away:"), "{ended:?}");
    let by_value = counts["turned_away"]["value"].as_u64().unwrap();
    assert!(ended.stderr.contains(&format!("{by_value} outside the window by the book's value")), "{ended:?}");
    let all: u64 = counts["turned_away"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(counts["exits"].as_u64().unwrap(), all);
    let manifest = json(&place.read("run/suite.json"));
    assert_eq!((&manifest["counts"], manifest["values"].is_null()), (counts, true));
    assert!(lines(&place.read("run/openings.epd")).is_empty());
    // No opening can have more than all the points.
    let decided = plan("chess", "")
        .replace("least = 0.0", "least = 1.0")
        .replace("[verify]", "[openings]\nleast_plies = 2\nfrom = -300\nto = 300\n\n[verify]");
    place.write("decided.toml", &decided);
    let ended = place.run("book suite decided.toml --out decided");
    let words = "decided in the games";
    assert!(ended.status == Some(0) && ended.stderr.contains(words), "{ended:?}");
    for line in lines(&place.read("decided/openings.epd")) {
        assert_eq!(operand(line, "results"), "2 0 0");
    }
}

/// A finished book gives the openings that its plan gives, and a match takes them.
#[test]
fn a_finished_book_serves_as_well() {
    let settings = "[openings]\ncount = 10\nfrom = -60\nto = 60\nleast_plies = 2\n";
    let place = workplace("opulent-lemurian-shatranj", settings);
    place.run("book suite suite.toml --out run").succeeded();
    std::fs::copy(place.path("run/opening.book"), place.path("finished.book")).unwrap();
    let finished = place.read("suite.toml").replace("book.toml", "finished.book");
    place.write("finished.toml", &finished);
    place.run("book suite finished.toml --out finished").succeeded();
    let [planned, finished] = ["run/openings.epd", "finished/openings.epd"].map(|name| place.read(name));
    assert_eq!(lines(&planned), lines(&finished));
    assert_eq!(lines(&planned).len(), 10);
    assert!(!place.path("finished/opening.book").exists());
    let command = "match --variant opulent-lemurian-shatranj --a a-priori --b a-priori --pairs 2 --nodes 5 --seed 1";
    for name in ["run/openings.epd", "run/openings.pgn"] {
        let out = if name.ends_with("epd") { "epd" } else { "pgn" };
        place.run(&format!("{command} --openings {name} --out {out}")).succeeded();
    }
}

#[test]
fn a_suite_that_was_changed_is_refused() {
    let place = workplace("chess", "[openings]\ncount = 12\nfrom = -60\nto = 60\nleast_plies = 2\n");
    place.run("book suite suite.toml --out run").succeeded();
    let text = place.read("run/openings.epd");
    let first = lines(&text)[0].to_owned();
    let refused = |changed: String, words: &[&str]| {
        assert_ne!(changed, text);
        place.write("changed.epd", &changed);
        let error = place.run("book verify changed.epd --sample 1000").failed(2);
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    refused(format!("{text}{first}\n"), &["line 15: the position is that of line 3", "line 15: expected"]);
    let (value, id) = (operand(&first, "ce").to_owned(), operand(&first, "id").to_owned());
    let with = |from: &str, to: &str| text.replacen(from, to, 1);
    let another: i32 = if value == "7" { 8 } else { 7 };
    refused(with(&format!("ce {value};"), &format!("ce {another};")), &["line 3:", "nodes then", "1 faults"]);
    refused(with(&format!("ce {value};"), "ce 400;"), &["line 3: outside the window by the second search"]);
    refused(with(&format!("ce {value};"), "ce 30900;"), &["line 3: a mate in sight"]);
    refused(with(&format!("id {id}"), &format!("id {}", id.replacen("/1", "/2", 1))), &["line 3: expected"]);
    refused(
        with(&format!("id {id};"), "id \"nothing\";"),
        &["line 3: expected id \"family/number\", got \"\\\"nothing"],
    );
    refused(with("plies ", "plies 9"), &["line 3: expected 2 to 40 plies"]);
    let results = operand(&first, "results").to_owned();
    refused(with(&format!("results {results};"), "results 1 1 1;"), &["line 3: expected 2 games, got 3"]);
    refused(with(&format!(" results {results};"), ""), &["line 3: expected 2 games, got 0"]);
    let position = first.split(" acn").next().unwrap();
    refused(with(position, "4k3/8/8/8/8/8/4r3/4K3 w - -"), &["line 3: in check"]);
    refused(with(position, "4k3/8/8/8/8/8/8/3QK2R w - -"), &["line 3: too few legal moves"]);
    refused(with(position, "4k3/8/8/8/8/8/9/3QK2R w - -"), &["line 3: "]);
    refused(with("\"rules_hash\":\"", "\"rules_hash\":\"0"), &["expected the rules hash"]);
    refused(with("\"format\":1", "\"format\":2"), &["expected format 1, got 2"]);
    refused(with("# fairyforge suite", "# suite"), &["line 1: expected \"# fairyforge suite \" and a header"]);
    refused(with("\"count\":12", "\"count\":11"), &["expected at most 11 openings, got 12"]);
    refused(with("\"margin\":15", "\"margin\":-1"), &["line 1, plan: verify.margin"]);
    refused(
        with("\"judge\":\"a-priori\"", "\"judge\":\"other\""),
        &["expected the judge other, got a-priori", "--judge"],
    );
}

#[test]
fn a_journal_that_was_changed_is_refused() {
    let place = workplace("chess", "[openings]\ncount = 12\nfrom = -60\nto = 60\nleast_plies = 2\n");
    place.run("book suite suite.toml --out run").succeeded();
    let journal = place.read("run/suite.jsonl");
    let lines: Vec<&str> = journal.lines().collect();
    let with = |text: String, words: &[&str]| {
        place.write("run/suite.jsonl", &text);
        place.run("book suite suite.toml --out run").refused(1, words);
    };
    with(journal.replacen("\"score\"", "\"sore\"", 1), &["line 2", "sore"]);
    with(format!("{}\n{}\n", lines[0], lines[2..].join("\n")), &["line 2: expected the position"]);
    with(format!("{journal}{}\n", lines[1]), &["the end of the journal"]);
    with(journal.replacen("\"kind\":\"suite\"", "\"kind\":\"book\"", 1), &["line 1"]);
    let games = json(lines[1])["games"].to_string();
    if games != "null" {
        with(journal.replacen(&games, "[1]", 1), &["line 2: expected 2 games, got 1"]);
    }
    place.write("run/suite.jsonl", &journal);
    place.run("book suite suite.toml --out run").succeeded();
}

#[test]
fn bad_input_is_told() {
    let place = workplace("chess", "");
    let refused = |text: String, words: &[&str]| {
        place.write("bad.toml", &text);
        place.run("book suite bad.toml --out bad").refused(2, words);
        assert!(!place.path("bad").exists(), "nothing is begun");
    };
    let sound = plan("chess", "");
    refused(sound.replace("margin", "margni"), &["bad.toml", "did you mean `margin`?"]);
    refused(sound.replace("book.toml", "none.toml"), &["cannot use the book none.toml"]);
    refused(sound.replace("book.toml", "book.epd"), &["expected a book (*.book) or the plan of one (*.toml)"]);
    refused(sound.replace("\"chess\"", "\"sorcerer\""), &["expected a plan of sorcerer, got one of chess"]);
    place.write("spoilt.book", "FFBOOK");
    refused(sound.replace("book.toml", "spoilt.book"), &["cannot use the book spoilt.book"]);
    refused(sound.replace("a-priori", "none.net"), &["none.net"]);
    let book = std::fs::read_to_string(place.path("book.toml")).unwrap();
    place.write("counted.toml", &format!("{book}\n[games]\nsources = [\"games.pgn\"]\n"));
    refused(sound.replace("book.toml", "counted.toml"), &["counted.toml", "expected a plan without games.sources"]);
    place.run("book suite none.toml").refused(2, &["cannot use the plan none.toml"]);
    place.write("other.epd", "4k3/8/8/8/8/8/8/4K2R w K - id \"x\";\n");
    place.run("book verify other.epd").refused(2, &["cannot use the suite other.epd", "line 1: expected"]);
}

#[test]
fn the_plans_that_come_with_the_program_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/suites");
    let mut suites = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        if path.to_string_lossy().ends_with("-book.toml") {
            let plan = Plan::read(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            Variant::load(&plan.variant).unwrap();
        } else {
            let plan = SuitePlan::read(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let book = std::fs::read_to_string(folder.join(&plan.book)).unwrap();
            assert_eq!(Plan::read(&book).unwrap().variant, plan.variant, "{}", path.display());
            suites += 1;
        }
    }
    assert!(suites >= 7, "{suites}");
}
