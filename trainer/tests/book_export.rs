//! Books written for others: Polyglot's format, and the page. `trainer/tests/polyglot/` and `trainer/tests/explorer/` look at the
//! same with python-chess and in a browser.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use common::{Workplace, json};
use fairyforge::book::page;
use fairyforge::book::polyglot::{self, ENTRY_BYTES, PolyglotError};
use fairyforge_engine::book::{Book, BookKey, BookMove, Manifest, Oriented};
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::variant::Variant;
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// A plan of a book that is there in a second.
fn plan(variant: &str, positions: usize) -> String {
    format!(
        "format = 1\nvariant = \"{variant}\"\njudge = \"a-priori\"\n\n[search]\nnodes = 150\ntable_mebibytes = 1\n\n\
         [candidates]\nmost = 3\nnodes = 20\n\n[growth]\nbatch = 4\npositions = {positions}\n\n[weights]\nwindow = 10\n"
    )
}

fn built(variant: &str, positions: usize) -> (Workplace, Book) {
    let place = Workplace::new();
    place.write("plan.toml", &plan(variant, positions));
    place.run("book build plan.toml --out run").succeeded();
    let book = Book::load(&game(variant), &place.path("run/opening.book")).unwrap();
    (place, book)
}

fn game(name: &str) -> Arc<Variant> {
    Arc::new(Variant::load(name).unwrap())
}

/// A book by hand: from each position these moves, with their weights. Positions are told by the moves that lead there.
fn by_hand(root: &Position, positions: &[(&str, &[(&str, u16)])]) -> Book {
    let entry = |(way, moves): &(&str, &[(&str, u16)])| {
        let position = after(root, way);
        let found = |(text, weight): &(&str, u16)| BookMove {
            weight: *weight,
            ..BookMove::new(Oriented::of(&position).held(position.parse_move(text).unwrap()))
        };
        (BookKey::of(&position), moves.iter().map(found).collect::<Vec<_>>())
    };
    Book::new(std::slice::from_ref(root), Manifest::default(), positions.iter().map(entry).collect()).unwrap()
}

fn after(root: &Position, moves: &str) -> Position {
    let mut position = root.clone();
    for text in moves.split_whitespace() {
        let mv = position.parse_move(text).unwrap();
        position.make(mv, &mut Unobserved);
    }
    position
}

/// Reads entries as the format's description says: key → (move, weight), in the order of the file, which must be sorted.
fn read(bytes: &[u8]) -> BTreeMap<u64, Vec<(String, u16)>> {
    assert!(bytes.len().is_multiple_of(ENTRY_BYTES));
    let number = |bytes: &[u8]| bytes.iter().fold(0_u64, |number, &byte| number << 8 | u64::from(byte));
    let (mut entries, mut before) = (BTreeMap::<u64, Vec<_>>::new(), (0, u16::MAX));
    for entry in bytes.chunks(ENTRY_BYTES) {
        let (key, mv, weight) = (number(&entry[..8]), number(&entry[8..10]), number(&entry[10..12]) as u16);
        assert_eq!(number(&entry[12..]), 0);
        assert!(key > before.0 || key == before.0 && weight <= before.1, "by key, then by falling weight");
        before = (key, weight);
        let square = |bits: u64| format!("{}{}", (b'a' + (bits & 7) as u8) as char, (bits >> 3 & 7) + 1);
        let became = ["", "n", "b", "r", "q"][(mv >> 12) as usize];
        entries.entry(key).or_default().push((format!("{}{}{became}", square(mv >> 6), square(mv)), weight));
    }
    entries
}

fn polyglot(book: &Book) -> BTreeMap<u64, Vec<(String, u16)>> {
    let mut bytes = Vec::new();
    polyglot::write(&polyglot::convert(book).unwrap().entries, &mut bytes).unwrap();
    read(&bytes)
}

/// Everything but moves of weight 0 comes back, position by position.
#[test]
fn polyglot_has_every_move_that_is_played() {
    let (place, book) = built("chess", 40);
    let told = place.run("book export run/opening.book --format polyglot --out book.bin").succeeded();
    let entries = read(&std::fs::read(place.path("book.bin")).unwrap());
    let mut expected: Vec<Vec<u16>> = Vec::new();
    let mut left_out = 0;
    for (_, moves) in book.positions() {
        left_out += moves.iter().filter(|found| found.weight == 0).count();
        expected.push(moves.iter().map(|found| found.weight).filter(|&weight| weight > 0).collect());
    }
    let mut got: Vec<Vec<u16>> =
        entries.values().map(|moves| moves.iter().map(|(_, weight)| *weight).collect()).collect();
    expected.sort();
    got.sort();
    assert_eq!(got, expected);
    assert!(left_out > 0 && told.contains(&format!("{left_out} of weight 0")), "{told}");
    // The array has its published key, and its own moves.
    let root = &book.roots()[0];
    let moves = book.moves(root).into_iter().filter(|found| found.weight > 0);
    let moves: Vec<_> = moves.map(|found| (root.move_text(found.mv), found.weight)).collect();
    let mut at_root = entries[&0x463b_9618_1691_fc9c].clone();
    assert_eq!(at_root.len(), moves.len());
    at_root.sort();
    assert!(moves.iter().all(|mv| at_root.binary_search(mv).is_ok()));
}

#[test]
fn castling_promotion_and_weights_are_packed_as_the_format_says() {
    let root = Position::from_fen(&game("chess"), "r3k2r/1P6/8/8/8/8/8/R3K2R w KQkq - 0 1").unwrap();
    let book = by_hand(
        &root,
        &[
            (
                "",
                &[
                    ("e1g1", 65_535),
                    ("e1c1", 40),
                    ("b7a8n", 30),
                    ("b7b8q", 20),
                    ("b7b8r", 10),
                    ("b7a8b", 5),
                    ("a1b1", 0),
                ],
            ),
            ("e1c1", &[("e8g8", 7), ("e8e7", 7)]),
        ],
    );
    let entries = polyglot(&book);
    let texts =
        |moves: &[(&str, u16)]| moves.iter().map(|(mv, weight)| ((*mv).to_owned(), *weight)).collect::<Vec<_>>();
    let white = texts(&[("e1h1", 65_535), ("e1a1", 40), ("b7a8n", 30), ("b7b8q", 20), ("b7b8r", 10), ("b7a8b", 5)]);
    // Of equal weights the lower number of the move is first: e8e7 is 0f34, e8h8 0f3f.
    let black = texts(&[("e8e7", 7), ("e8h8", 7)]);
    let mut got: Vec<_> = entries.into_values().collect();
    got.sort_by_key(|moves| std::cmp::Reverse(moves.len()));
    assert_eq!(got, [white, black]);
}

/// A pawn that may not take, being pinned, makes another position of it to the format, though not to us: both are there.
#[test]
fn a_pinned_pawn_beside_one_that_passed_is_another_key() {
    let chess = game("chess");
    let passed = after(&Position::from_fen(&chess, "4r1k1/3p4/8/4P3/8/8/8/4K3 b - - 0 1").unwrap(), "d7d5");
    let stands = Position::from_fen(&chess, "4r1k1/8/8/3pP3/8/8/8/4K3 w - - 0 1").unwrap();
    assert_eq!(BookKey::of(&passed), BookKey::of(&stands));
    let held = Oriented::of(&stands).held(stands.parse_move("e1d1").unwrap());
    let found = BookMove { weight: 3, ..BookMove::new(held) };
    let positions = vec![(BookKey::of(&stands), vec![found])];
    let entries = polyglot(&Book::new(&[passed, stands], Manifest::default(), positions).unwrap());
    assert_eq!(entries.into_values().collect::<Vec<_>>(), vec![vec![("e1d1".to_owned(), 3)]; 2]);
}

#[test]
fn other_games_are_refused_with_what_does_not_fit() {
    let (place, _) = built("shatranj", 4);
    let export = "book export run/opening.book --format polyglot --out book.bin";
    place.run(export).refused(2, &["shatranj is another", "its unit", "is none of orthodox chess"]);
    assert!(!place.path("book.bin").exists());
    let sorcerer = Position::start(&game("sorcerer"));
    let mv = sorcerer.move_text(sorcerer.legal_moves()[0]);
    let error = polyglot::convert(&by_hand(&sorcerer, &[("", &[(&mv, 1)])])).unwrap_err();
    assert!(
        matches!(&error, PolyglotError::OtherGame { misfits, .. } if misfits.len() == 1 && misfits[0].contains("board"))
    );
}

/// The data of a page.
fn data(html: &str) -> Json {
    let (_, from) = html.split_once("<script type=\"application/json\" id=\"book\">").unwrap();
    json(from.split_once("</script>").unwrap().0)
}

/// Where men stand on a page: square → man.
type Men = HashMap<i64, i64>;

fn men_of_page(pairs: &Json) -> Men {
    pairs.as_array().unwrap().iter().map(|pair| (pair[0].as_i64().unwrap(), pair[1].as_i64().unwrap())).collect()
}

fn men_of(position: &Position) -> Men {
    let width = i64::from(position.variant().topology().width());
    let man = |square| {
        let piece = position.piece_at(square);
        (
            i64::from(square.row()) * width + i64::from(square.file()),
            2 * i64::from(piece.unit().0) + piece.colour() as i64,
        )
    };
    position.occupied().iter().map(man).collect()
}

fn changed(mut men: Men, hands: &mut Men, changes: &Json) -> Men {
    let changes: Vec<i64> = changes.as_array().unwrap().iter().map(|number| number.as_i64().unwrap()).collect();
    for pair in changes.chunks(2) {
        match (pair[0], pair[1]) {
            (held, count) if held < 0 => drop(hands.insert(-1 - held, count)),
            (square, -1) => drop(men.remove(&square)),
            (square, man) => drop(men.insert(square, man)),
        }
    }
    men
}

/// Walks a page as its script does, beside the book: the same moves with the same numbers, men where the rules put them.
fn assert_page_is_book(book: &Book, html: &str) {
    let data = data(html);
    let (mut seen, mut ends) = (HashSet::new(), 0);
    for (root, told) in book.roots().iter().zip(data["roots"].as_array().unwrap()) {
        assert_eq!(men_of_page(&told["men"]), men_of(root));
        let mut waiting = vec![(told["node"].as_u64().unwrap(), root.clone().as_first(), men_of_page(&told["hands"]))];
        while let Some((node, position, hands)) = waiting.pop() {
            if !seen.insert(node) {
                continue;
            }
            let told = data["nodes"][node as usize].as_array().unwrap();
            let known = book.moves(&position);
            assert_eq!(told.len(), known.len());
            for (told, known) in told.iter().zip(known) {
                assert_eq!(told[0], position.san(known.mv));
                assert_eq!(told[1], position.move_text(known.mv));
                assert_eq!((&told[2], &told[3]), (&known.weight.into(), &serde_json::to_value(known.value).unwrap()));
                assert_eq!(told[5], known.nodes);
                let (mut next, mut hands) = (position.clone(), hands.clone());
                next.make(known.mv, &mut Unobserved);
                assert_eq!(changed(men_of(&position), &mut hands, &told[7]), men_of(&next), "{}", position.fen());
                for (&man, &count) in &hands {
                    let (unit, side) = (fairyforge_engine::variant::rules::Unit((man / 2) as u8), man as usize % 2);
                    let colour = fairyforge_engine::variant::rules::Colour::BOTH[side];
                    assert_eq!(count, i64::from(next.in_hand(unit, colour)));
                }
                match told[6].as_i64().unwrap() {
                    behind if behind >= 0 => waiting.push((behind as u64, next.as_first(), hands)),
                    behind => {
                        assert_eq!(behind, if next.outcome(1).is_some() { -2 } else { -1 });
                        assert!(!book.has(BookKey::of(&next)));
                        ends += 1;
                    }
                }
            }
        }
    }
    assert_eq!((seen.len(), data["nodes"].as_array().unwrap().len()), (book.len(), book.len()));
    assert!(ends > 0);
}

#[test]
fn a_page_has_all_that_the_book_has() {
    // Castling and holes, big boards, units in hand.
    for variant in ["chess", "hole12x10", "sorcerer-reinforcements"] {
        let (place, book) = built(variant, 25);
        place.run("book export run/opening.book --format html --out book.html").succeeded();
        let html = place.read("book.html");
        assert_page_is_book(&book, &html);
        assert_eq!(page::page(&book, 25).unwrap().html, html, "equal books are equal pages");
        // A thousand positions are to fit into half a megabyte, men and all.
        assert!(data(&html).to_string().len() < 400 * book.len(), "{} bytes", html.len());
        let allowed = html.replace("http://www.w3.org/2000/svg", "");
        for outside in ["http:", "https:", "src=", "@import", "url(h", "fetch("] {
            assert!(!allowed.contains(outside), "{outside}");
        }
    }
}

#[test]
fn en_passant_castling_and_promotion_change_more_squares() {
    let root = Position::from_fen(&game("chess"), "4k2r/P7/8/8/3p4/8/4P3/4K3 w k - 0 1").unwrap();
    let book = by_hand(&root, &[("", &[("e2e4", 2), ("a7a8q", 1)]), ("e2e4", &[("d4e3", 2), ("e8g8", 1)])]);
    let page = page::page(&book, 10).unwrap();
    assert_page_is_book(&book, &page.html);
    let changes = |node: usize, mv: usize| data(&page.html)["nodes"][node][mv][7].as_array().unwrap().len() / 2;
    assert_eq!([changes(0, 0), changes(0, 1), changes(1, 0), changes(1, 1)], [2, 2, 3, 4]);
}

/// A page that is cut has the likeliest positions, and says so.
#[test]
fn a_cut_page_has_the_likeliest_positions() {
    let root = Position::start(&game("chess"));
    let book = by_hand(
        &root,
        &[
            ("", &[("e2e4", 60), ("d2d4", 40)]),
            ("e2e4", &[("e7e5", 50), ("c7c5", 50)]),
            ("d2d4", &[("d7d5", 100)]),
            ("e2e4 e7e5", &[("g1f3", 1)]),
            ("d2d4 d7d5", &[("c2c4", 1)]),
        ],
    );
    let page = page::page(&book, 4).unwrap();
    assert_eq!((page.positions, page.left_out), (4, 1));
    // By likelihood: the array, 1. e4 0.6, 1. d4 0.4, 1. d4 d5 0.4; 1. e4 e5 with 0.3 is left out.
    let nodes = data(&page.html)["nodes"].clone();
    let behind =
        |node: usize| nodes[node].as_array().unwrap().iter().map(|mv| mv[6].as_i64().unwrap()).collect::<Vec<_>>();
    assert_eq!([behind(0), behind(1), behind(2), behind(3)], [vec![1, 2], vec![-1, -3], vec![3], vec![-1]]);
    assert!(page.html.contains("the 4 likeliest positions"), "{}", page.html);
    assert!(!page::page(&book, 5).unwrap().html.contains("are left out"));
}

#[test]
fn what_a_book_says_cannot_break_out_of_the_page() {
    let root = Position::start(&game("chess"));
    let evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&";
    let manifest = Manifest { method: evil.into(), program: evil.into(), plan: evil.into(), ..Manifest::default() };
    let mv = BookMove { weight: 1, results: [3, 2, 1], ..BookMove::new(root.parse_move("e2e4").unwrap()) };
    let book = Book::new(std::slice::from_ref(&root), manifest, vec![(BookKey::of(&root), vec![mv])]).unwrap();
    let html = page::page(&book, 10).unwrap().html;
    assert!(!html.contains("alert(1)</script>") && !html.contains("<img"));
    assert_eq!(html.matches("<script").count(), 2);
    assert!(html.contains(">Results</th>"));
    assert_eq!(data(&html)["nodes"][0][0][8], serde_json::json!([3, 2, 1]));
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let (place, _) = built("chess", 4);
    place.run("book export run/opening.book --out x.epd --most 5").refused(2, &["--most is for --format html"]);
    place.run("book export run/opening.book --format html --out x.html --most 0").failed(2);
    let told = place.run("book export run/opening.book --format html --out x.html --most 2").succeeded();
    assert!(told.starts_with("2 positions in x.html") && told.contains("are left out"), "{told}");
    let explored =
        place.run_args(&["book", "explore", "run/opening.book", "--moves", "e4 e7e5 Nf3", "--json"]).succeeded();
    assert!(json(&explored)["fen"].as_str().unwrap().starts_with("rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/"), "{explored}");
}
