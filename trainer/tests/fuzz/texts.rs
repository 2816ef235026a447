//! Openings for matches, books and suites as text.

use crate::common::variant;
use crate::harness::{Target, Verdict, text_of};
use crate::{as_file, files, refused};
use fairyforge::arena::openings::{OpeningBook, OpeningFile, OpeningSource, Order};
use fairyforge::book::suite::text::Written;
use fairyforge::book::{epd, pgn, walk::Walk};
use fairyforge_engine::book::{Book, BookKey, BookMove, Manifest, Oriented};
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use std::sync::{Arc, LazyLock};

/// What such texts are made of.
const WORDS: &[&str] = &[
    "bm e2e4;",
    "ce 12;",
    "id \"",
    "m1 e2e4 10 30 30 - - - 150;",
    "c0 \"",
    "pv ",
    "hmvc 3;",
    "fmvn 9;",
    "w KQkq -",
    "b - e3",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
    "# ",
    "[FEN \"",
    "[SetUp \"1\"]\n",
    "[Variant \"chess\"]\n",
    "1. e4 ",
    "1... e5 ",
    "(",
    ")",
    "{",
    "}",
    "{transposition}",
    "*",
    "1-0",
    "$1",
    ";",
    "\"",
    "\n",
    " ",
    "-",
    "0-0",
    "e2e4",
    "e4",
];

/// All targets.
pub const ALL: &[Target] = &[
    Target {
        name: "openings_epd",
        share: 10,
        most_bytes: 5_000,
        words: WORDS,
        accepts_all: false,
        seeds: || shortened(files("data/openings", "chess-balanced.epd"), 8),
        check: |input| openings(input, ".epd"),
    },
    Target {
        name: "openings_pgn",
        share: 2,
        most_bytes: 5_000,
        words: WORDS,
        accepts_all: false,
        seeds: || vec![b"[Variant \"chess\"]\n\n1. e4 e5 2. Nf3 *\n\n[Variant \"chess\"]\n\n1. d4 d5 *\n".to_vec()],
        check: |input| openings(input, ".pgn"),
    },
    Target {
        name: "suite_epd",
        share: 30,
        most_bytes: 20_000,
        words: WORDS,
        accepts_all: false,
        seeds: || shortened(files("data/openings", "chess-balanced.epd"), 8),
        check: suite,
    },
    Target {
        name: "book_epd",
        share: 30,
        most_bytes: 10_000,
        words: WORDS,
        accepts_all: false,
        seeds: || vec![book_as_epd(&a_book())],
        check: book_epd,
    },
    Target {
        name: "book_pgn",
        share: 30,
        most_bytes: 10_000,
        words: WORDS,
        accepts_all: false,
        seeds: || vec![book_as_pgn(&a_book())],
        check: book_pgn,
    },
];

static CHESS: LazyLock<Arc<Variant>> = LazyLock::new(|| variant("chess"));

fn shortened(texts: Vec<Vec<u8>>, lines: usize) -> Vec<Vec<u8>> {
    let first = |text: Vec<u8>| text_of(&text).lines().take(lines).flat_map(|line| [line, "\n"]).collect::<String>();
    texts.into_iter().map(|text| first(text).into_bytes()).collect()
}

/// Every opening of a file that is taken can be used.
fn openings(input: &[u8], ending: &str) -> Result<Verdict, String> {
    as_file(input, ending, |path| {
        let source = OpeningSource::File(OpeningFile { order: Order::Sequential, ..OpeningFile::new(path) });
        match OpeningBook::open(&CHESS, &source, 1) {
            Err(error) => refused(&error),
            Ok(book) => {
                let over =
                    (0..20).map(|number| book.opening(number)).find(|opening| opening.position.outcome(1).is_some());
                over.map_or(Ok(Verdict::Accepted), |over| Err(format!("{} is over", over.position.fen())))
            }
        }
    })
}

fn suite(input: &[u8]) -> Result<Verdict, String> {
    match Written::read(&CHESS, &text_of(input)) {
        Err(error) => refused(&error),
        Ok(written) => {
            let families = written.openings.iter().all(|opening| !opening.family.is_empty());
            if families { Ok(Verdict::Accepted) } else { Err("an opening without a family".into()) }
        }
    }
}

fn a_book() -> Book {
    let start = Position::start(&CHESS);
    let moves = |position: &Position| -> Vec<BookMove> {
        let held = position.legal_moves().into_iter().take(3).map(|mv| Oriented::of(position).held(mv));
        held.map(|mv| BookMove { weight: 7, value: Some(12), ..BookMove::new(mv) }).collect()
    };
    let positions = vec![(BookKey::of(&start), moves(&start))];
    let manifest = Manifest { method: "by hand".into(), ..Manifest::default() };
    Book::new(std::slice::from_ref(&start), manifest, positions).unwrap()
}

fn book_as_epd(book: &Book) -> Vec<u8> {
    let mut bytes = Vec::new();
    epd::write(book, &Walk::of(book), &mut bytes).unwrap();
    bytes
}

fn book_as_pgn(book: &Book) -> Vec<u8> {
    let mut bytes = Vec::new();
    pgn::write(book, &mut bytes).unwrap();
    bytes
}

/// A book that is taken is a file that reads back.
fn sound(book: &Book) -> Result<Verdict, String> {
    match Book::from_bytes(&CHESS, book.as_bytes().to_vec()) {
        Ok(_) => Ok(Verdict::Accepted),
        Err(error) => Err(format!("its own file is refused: {error}")),
    }
}

fn book_epd(input: &[u8]) -> Result<Verdict, String> {
    match epd::read(&CHESS, &text_of(input)) {
        Err(error) => refused(&error),
        Ok(book) => sound(&book),
    }
}

fn book_pgn(input: &[u8]) -> Result<Verdict, String> {
    match pgn::read(&CHESS, "a test", &text_of(input)) {
        Err(error) => refused(&error),
        Ok(book) => sound(&book),
    }
}
