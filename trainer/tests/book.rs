//! Books built by the program: on any number of threads, after kills, spoilt, looked at and written as text.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use common::{Workplace, json};
use fairyforge::book::graph::Child;
use fairyforge::book::{epd, walk::Walk};
use fairyforge_engine::book::{Book, BookKey, BookMove};
use fairyforge_engine::moves::{Move, MoveKind};
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use std::collections::HashMap;
use std::sync::Arc;

/// A plan of a book that is there in a second.
fn plan(variant: &str, more: &str) -> String {
    format!(
        "format = 1\nvariant = \"{variant}\"\njudge = \"a-priori\"\n\n[search]\nnodes = 150\ntable_mebibytes = 1\n\n\
         [candidates]\nmost = 3\nnodes = 20\n\n[growth]\nbatch = 4\nbatch_share = 0.2\n{more}"
    )
}

fn workplace(variant: &str, more: &str) -> Workplace {
    let place = Workplace::new();
    place.write("plan.toml", &plan(variant, more));
    place
}

fn book(place: &Workplace, variant: &str, name: &str) -> Book {
    Book::load(&Arc::new(Variant::load(variant).unwrap()), &place.path(name)).unwrap()
}

/// The book with its moves changed.
fn changed(book: &Book, change: impl Fn(BookKey, &mut Vec<BookMove>)) -> Book {
    let mut positions: Vec<_> = book.positions().collect();
    positions.iter_mut().for_each(|(key, moves)| change(*key, moves));
    Book::new(book.roots(), book.header().manifest.clone(), positions).unwrap()
}

#[test]
fn the_same_bytes_on_any_number_of_threads_and_after_kills() {
    let place = workplace("herculean", "positions = 60\n");
    place.run("book build plan.toml --out one --threads 1").succeeded();
    let undisturbed = place.files("one");
    assert!(undisturbed.contains_key("opening.book") && undisturbed.contains_key("book.jsonl"));
    place.run("book build plan.toml --out three --threads 3").succeeded();
    place.assert_same_run("three", &undisturbed);
    let kills = place.kill_until_done("book build plan.toml --out killed --threads 2", "killed", 5, 12);
    assert!(kills > 0);
    place.assert_same_run("killed", &undisturbed);
    // Once more changes nothing, and another plan is refused.
    place.run("book build plan.toml --out one").succeeded();
    place.assert_same_run("one", &undisturbed);
    place.write("plan.toml", &plan("herculean", "positions = 61\n"));
    place.run("book build plan.toml --out one").refused(2, &["another plan", "growth.positions"]);
}

#[test]
fn what_is_built_passes_its_verification_and_says_what_it_is() {
    let place = workplace("sorcerer", "positions = 30\n");
    let told = json(&place.run("book build plan.toml --out run --json").succeeded());
    assert_eq!((&told["positions"], &told["variant"]), (&30.into(), &"sorcerer".into()));
    let checked = json(&place.run("book verify run/opening.book --sample 25 --json").succeeded());
    assert_eq!(checked["positions"], 30);
    assert_eq!(checked["moves"], told["moves"]);
    assert_eq!((&checked["values_checked"], &checked["weights_checked"]), (&true.into(), &true.into()));
    assert_eq!((&checked["searched_again"], &checked["largest_difference"]), (&25.into(), &0.into()));
    let manifest = book(&place, "sorcerer", "run/opening.book").header().manifest.clone();
    assert_eq!((manifest.limits.unwrap().nodes, manifest.method.as_str()), (150, "drop-out expansion"));
    assert_eq!(told["searches"], manifest.searches);
    // The plan in the book builds the same book.
    place.write("again.toml", &manifest.plan);
    place.run("book build again.toml --out again").succeeded();
    assert_eq!(
        std::fs::read(place.path("again/opening.book")).unwrap(),
        std::fs::read(place.path("run/opening.book")).unwrap()
    );
}

#[test]
fn breadth_first_goes_to_its_depth_and_no_further() {
    let place = workplace("chess", "by = \"breadth-first\"\nplies = 2\npositions = 1000\n");
    let told = json(&place.run("book build plan.toml --out run --json").succeeded());
    // The array, and the positions behind three moves.
    assert_eq!(told["positions"], 4);
    let book = book(&place, "chess", "run/opening.book");
    let start = Position::start(&Arc::new(Variant::load("chess").unwrap()));
    for entry in book.moves(&start) {
        assert!(book.has(Child::behind(&start, entry.mv).key));
    }
}

#[test]
fn mates_and_ends_of_games_are_valued_by_the_rules() {
    // White mates in one; anything else is worse. Then a stalemate that is near.
    let roots = "roots = [\"6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1\"]\n";
    let place = Workplace::new();
    place.write("plan.toml", &plan("chess", "positions = 5\n").replace("\n[search]", &format!("{roots}\n[search]")));
    place.run("book build plan.toml --out run").succeeded();
    let explored = json(&place.run("book explore run/opening.book --json").succeeded());
    assert_eq!(explored["moves"][0]["san"], "Ra8#");
    assert_eq!((&explored["moves"][0]["value"], &explored["moves"][0]["nodes"]), (&30_999.into(), &0.into()));
    place.run("book verify run/opening.book").succeeded();
    let over = plan("chess", "").replace("\n[search]", "roots = [\"R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1\"]\n\n[search]");
    place.write("over.toml", &over);
    place.run("book build over.toml --out over").refused(2, &["from which the game goes on"]);
}

/// Short searches of a node each keep one move; the search of the position itself knows better, and its move is there too.
#[test]
fn the_move_that_a_search_prefers_is_looked_behind() {
    let place = Workplace::new();
    place.write("plan.toml", &plan("chess", "positions = 30\n").replace("most = 3\nnodes = 20", "most = 1\nnodes = 1"));
    let told = json(&place.run("book build plan.toml --out run --json").succeeded());
    let journal = place.read("run/book.jsonl");
    let start = Position::start(&Arc::new(Variant::load("chess").unwrap()));
    let mut known = HashMap::from([(BookKey::of(&start).to_string(), (start, None))]);
    let (mut checked, mut kept) = (0, 0);
    for line in journal.lines().skip(1) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let (position, reply): (Position, Option<String>) = known[line["position"].as_str().unwrap()].clone();
        let moves = line["moves"].as_array().unwrap();
        let texts: Vec<&str> = moves.iter().map(|entry| entry["move"].as_str().unwrap()).collect();
        if let Some(reply) = reply {
            assert!(texts.contains(&reply.as_str()), "{reply} is not among {texts:?} in {}", position.fen());
            checked += 1;
        }
        kept += usize::from(texts.len() > 1);
        for entry in moves.iter().filter(|entry| entry["reply"].is_string()) {
            let child = Child::behind(&position, position.parse_move(entry["move"].as_str().unwrap()).unwrap());
            let reply = entry["reply"].as_str().map(str::to_owned);
            known.insert(child.key.to_string(), (child.position, reply));
        }
    }
    assert!(checked > 20 && kept > 5, "{checked} {kept}");
    assert_eq!(told["kept"], kept);
}

#[test]
fn what_was_changed_is_found() {
    let place = workplace("chess", "positions = 12\n");
    place.run("book build plan.toml --out run").succeeded();
    let built = book(&place, "chess", "run/opening.book");
    let root = BookKey::of(&built.roots()[0]);
    let refused = |name: &str, book: &Book, words: &[&str]| {
        std::fs::write(place.path(name), book.as_bytes()).unwrap();
        let error = place.run(&format!("book verify {name} --sample 1000")).failed(2);
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    let at_root = |change: fn(&mut BookMove)| {
        changed(&built, |key, moves| {
            if key == root {
                moves.iter_mut().for_each(change)
            }
        })
    };
    let value = at_root(|entry| entry.value = entry.value.map(|value| value + 1));
    refused("value.book", &value, &["expected the value"]);
    let weight = at_root(|entry| entry.weight /= 2);
    refused("weight.book", &weight, &["expected the weight"]);
    let nodes = changed(&built, |_, moves| moves.iter_mut().for_each(|entry| entry.nodes += 1));
    refused("nodes.book", &nodes, &["nodes then", "faults"]);
    let illegal = at_root(|entry| entry.mv = Move::new(entry.mv.to(), entry.mv.from(), MoveKind::Normal));
    refused("illegal.book", &illegal, &["is no legal move in", "cannot be reached from the roots"]);
    let mut bytes = built.as_bytes().to_vec();
    let last = bytes.len() - 50;
    bytes[last] ^= 4;
    std::fs::write(place.path("damaged.book"), bytes).unwrap();
    place.run("book verify damaged.book").refused(2, &["it is damaged"]);
    place.run("book export illegal.book --out x.epd").refused(2, &["cannot export", "no legal move"]);
}

/// A journal that does not follow from the plan is refused, line by line.
#[test]
fn a_journal_that_was_changed_is_refused() {
    let place = workplace("chess", "positions = 12\n");
    place.run("book build plan.toml --out run").succeeded();
    let journal = place.read("run/book.jsonl");
    let lines: Vec<&str> = journal.lines().collect();
    let with = |text: String, words: &[&str]| {
        place.write("run/book.jsonl", &text);
        place.run("book build plan.toml --out run").refused(1, words);
    };
    with(journal.replacen("\"score\"", "\"sore\"", 1), &["line 2", "sore"]);
    with(format!("{}\n{}\n", lines[0], lines[2..].join("\n")), &["line 2: expected the position"]);
    with(format!("{journal}{}\n", lines[1]), &["the end of the journal"]);
    with(journal.replacen("chess", "xiangqi", 1), &["line 1"]);
    let unscored = serde_json::from_str::<serde_json::Value>(lines[1]).unwrap()["moves"][0]["score"].to_string();
    with(journal.replacen(&format!(",\"score\":{unscored},\"nodes\":150"), "", 1), &["the score of a new position"]);
    place.write("run/book.jsonl", &journal);
    place.run("book build plan.toml --out run").succeeded();
}

#[test]
fn epd_keeps_everything() {
    let place = workplace("opulent-lemurian-shatranj", "positions = 25\n");
    place.run("book build plan.toml --out run").succeeded();
    let built = book(&place, "opulent-lemurian-shatranj", "run/opening.book");
    // Results of games, and values that are not known, are kept too.
    let told = changed(&built, |key, moves| {
        moves[0].results = [key.number() as u32, 2, 3];
        moves.last_mut().unwrap().searched = None;
    });
    let mut text = Vec::new();
    epd::write(&told, &Walk::of(&told), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let variant = Arc::new(Variant::load("opulent-lemurian-shatranj").unwrap());
    assert_eq!(epd::read(&variant, &text).unwrap().as_bytes(), told.as_bytes());
    let error = epd::read(&variant, &text.replacen(" m1 ", " m1 x", 1)).unwrap_err().to_string();
    assert!(error.starts_with("line 2: expected a move with seven numbers"), "{error}");
    place.run("book export run/opening.book --format epd --out book.epd").succeeded();
    assert_eq!(place.read("book.epd").lines().count(), 26);
    // Matches take it for what it is: a file of positions.
    let command = "match --variant opulent-lemurian-shatranj --a a-priori --b a-priori --pairs 1 --nodes 5 --seed 1 \
                   --openings book.epd --out match";
    place.run(command).succeeded();
}

/// Every move of the book is in the PGN once, and our own reader plays its main line.
#[test]
fn pgn_has_every_move_once() {
    let place = workplace("herculean", "positions = 25\n");
    let built = json(&place.run("book build plan.toml --out run --json").succeeded());
    place.run("book export run/opening.book --format pgn --out book.pgn").succeeded();
    let text = place.read("book.pgn");
    assert!(text.contains("[Variant \"herculean\"]") && text.trim_end().ends_with('*'), "{text}");
    let transpositions = text.matches("{transposition}").count();
    assert_eq!(text.matches('{').count() - transpositions, built["moves"].as_u64().unwrap() as usize);
    assert_eq!(text.matches('(').count(), text.matches(')').count());
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    place.run("pgn check book.pgn").succeeded();
}

#[test]
fn a_position_is_explored_by_fen_and_moves() {
    let place = workplace("chess", "positions = 10\n");
    place.run("book build plan.toml --out run").succeeded();
    let root = json(&place.run("book explore run/opening.book --json").succeeded());
    let first = root["moves"][0]["move"].as_str().unwrap().to_owned();
    let behind = place.run_args(&["book", "explore", "run/opening.book", "--moves", &first, "--json"]).succeeded();
    assert!(json(&behind)["fen"].as_str().unwrap().contains(" b "));
    let fen = root["fen"].as_str().unwrap();
    let table = place.run_args(&["book", "explore", "run/opening.book", "--fen", fen]).succeeded();
    assert!(
        table.lines().count() == 2 + root["moves"].as_array().unwrap().len() && table.contains("plays %"),
        "{table}"
    );
    let unknown = "8/8/8/8/8/2k5/8/K6Q w - - 0 1";
    let nothing = place.run_args(&["book", "explore", "run/opening.book", "--fen", unknown]).succeeded();
    assert!(nothing.contains("does not have this position"), "{nothing}");
    place.run_args(&["book", "explore", "run/opening.book", "--moves", "e2e5"]).refused(2, &["e2e5"]);
}
