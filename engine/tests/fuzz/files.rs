//! Files that are fuzzed: weights, numbers of the search, books, networks, endgame tables.

use crate::common::{tables, variant, variant_from};
use crate::harness::{MOST_SAID, MOST_SAID_OF_A_FILE, Target, Verdict, message, text_of};
use crate::sealed::{opened, sealed};
use crate::words::{HEADER_WORDS, SEARCH_WORDS, WEIGHTS_WORDS};
use fairyforge_engine::book::{Book, BookKey, BookMove, Manifest, Oriented};
use fairyforge_engine::endgame::{Material, Tables, file};
use fairyforge_engine::evaluate::network::{
    Architecture, Card, Features, Network, NetworkFile, Parameters, Quantised, Scales,
};
use fairyforge_engine::evaluate::{Evaluator, Weights};
use fairyforge_engine::position::Position;
use fairyforge_engine::search::Params;
use fairyforge_engine::variant::Variant;
use std::sync::{Arc, LazyLock};

/// All targets.
pub const ALL: &[Target] = &[
    Target {
        name: "weights",
        share: 20,
        most_bytes: 40_000,
        words: WEIGHTS_WORDS,
        accepts_all: false,
        seeds: || vec![Weights::a_priori(&TINY).to_toml(&TINY).into_bytes()],
        check: weights,
    },
    Target {
        name: "search_file",
        share: 100,
        most_bytes: 5_000,
        words: SEARCH_WORDS,
        accepts_all: false,
        seeds: || vec![b"format = 1\n[search]\nlate_move_base = 12\nfutility_margin = 100\n".to_vec()],
        check: search_file,
    },
    Target {
        name: "book",
        share: 60,
        most_bytes: 20_000,
        words: HEADER_WORDS,
        accepts_all: false,
        seeds: || vec![opened(BOOK.len(), a_book().as_bytes())],
        check: book,
    },
    Target {
        name: "network",
        share: 20,
        most_bytes: 40_000,
        words: HEADER_WORDS,
        accepts_all: false,
        seeds: || vec![opened(NETWORK.len(), &a_network().to_bytes().unwrap())],
        check: network,
    },
    Target {
        name: "endgame",
        share: 20,
        most_bytes: 40_000,
        words: HEADER_WORDS,
        accepts_all: false,
        seeds: || vec![opened(TABLE.len(), &a_table())],
        check: endgame,
    },
    Target {
        name: "material",
        share: 100,
        most_bytes: 500,
        words: &["K", "Q", "R", "k", "+", " v ", "v", "KQvK", " ", "+K", "K+Q v K", "K+R+R v K+R"],
        accepts_all: false,
        seeds: || vec![b"K+R v K".to_vec(), b"K+Q v K+R".to_vec()],
        check: material,
    },
];

/// How files begin.
const BOOK: &[u8] = b"FFBOOK\r\n";
const NETWORK: &[u8] = b"FFNET\r\n\n";
const TABLE: &[u8] = b"FFTABLE\n";

static CHESS: LazyLock<Arc<Variant>> = LazyLock::new(|| variant("chess"));
/// A game of nine squares, so that files are small.
static TINY: LazyLock<Arc<Variant>> = LazyLock::new(|| {
    variant_from(
        "format = 1\n[variant]\nname = \"Tiny\"\n[board]\nsetup = \"\"\"\nk r .\n. . .\n. R K\n\"\"\"\n[pieces]\n\
         king = { letter = \"K\", moves = \"K\" }\nrook = { letter = \"R\", moves = \"R\" }\n\
         [end]\nstalemated_side = \"draws\"\n",
    )
});

/// What a reader that refuses says of it.
fn refused(error: &impl std::fmt::Display, most: usize) -> Result<Verdict, String> {
    message(error, most).map(|()| Verdict::Refused)
}

/// What is read is written so that it reads back the same.
fn weights(input: &[u8]) -> Result<Verdict, String> {
    match Weights::read(&TINY, &text_of(input)) {
        Err(error) => refused(&error, MOST_SAID_OF_A_FILE),
        Ok(weights) => {
            let text = weights.to_toml(&TINY);
            let again = Weights::read(&TINY, &text).map_err(|error| format!("{text} is refused: {error}"))?;
            if again.to_toml(&TINY) == text { Ok(Verdict::Accepted) } else { Err(format!("{text} reads otherwise")) }
        }
    }
}

/// Every number is within its bounds.
fn search_file(input: &[u8]) -> Result<Verdict, String> {
    match Params::read(&text_of(input)) {
        Err(error) => refused(&error, MOST_SAID_OF_A_FILE),
        Ok(params) => {
            let outside = params.values().find(|(row, value)| row.check(i64::from(*value)).is_err());
            outside.map_or(Ok(Verdict::Accepted), |(row, value)| {
                Err(format!("{}: {value} is outside its bounds", row.name))
            })
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
    Book::new(std::slice::from_ref(&start), Manifest { method: "by hand".into(), ..Manifest::default() }, positions)
        .unwrap()
}

/// Every position is found again by its key, and a look at any other one finds nothing that is not there.
fn book(input: &[u8]) -> Result<Verdict, String> {
    match Book::from_bytes(&CHESS, sealed(BOOK, input)) {
        Err(error) => refused(&error, MOST_SAID),
        Ok(book) => {
            for (key, moves) in book.positions() {
                if moves.is_empty() || !book.has(key) {
                    return Err(format!("{key} has {} moves and is found: {}", moves.len(), book.has(key)));
                }
            }
            book.roots().iter().for_each(|root| drop(book.moves(root)));
            Ok(Verdict::Accepted)
        }
    }
}

fn a_network() -> NetworkFile {
    let features = Arc::new(Features::new(&TINY, Architecture::plain(64)).unwrap());
    let numbers = |count: usize, scale: f32| (0..count).map(|index| (index % 13) as f32 * scale).collect::<Vec<f32>>();
    let shape = features.architecture();
    let parameters = Parameters {
        transformer: numbers(features.inputs() * shape.width, 0.01),
        bias: numbers(shape.width, 0.02),
        output: numbers(shape.output_buckets * 2 * shape.width, 0.03),
        output_bias: numbers(shape.output_buckets, 0.01),
    };
    let quantised = Quantised::new(&features, &parameters, Scales::fitting(&parameters, 400)).unwrap().0;
    let values = Weights::a_priori(&TINY).exchange_values();
    let unit_values = TINY.units().map(|unit| values[unit.index()]).collect();
    NetworkFile { quantised, base: None, unit_values, card: Card::default() }
}

/// A network that is taken can be asked; sums that overflow would panic here.
fn network(input: &[u8]) -> Result<Verdict, String> {
    match NetworkFile::from_bytes(&TINY, &sealed(NETWORK, input)) {
        Err(error) => refused(&error, MOST_SAID_OF_A_FILE),
        Ok(file) => {
            Network::new(file).value_of(&Position::start(&TINY));
            Ok(Verdict::Accepted)
        }
    }
}

fn a_table() -> Vec<u8> {
    let tables = tables(&TINY, &["K+R v K"]);
    let material = Material::parse(&TINY, "K+R v K").unwrap();
    let mut bytes = Vec::new();
    file::write(tables.get(&material).unwrap(), &mut bytes).unwrap();
    bytes
}

/// A table that is taken answers for every position of its men.
fn endgame(input: &[u8]) -> Result<Verdict, String> {
    match file::read(&TINY, &mut &sealed(TABLE, input)[..]) {
        Err(error) => refused(&error, MOST_SAID),
        Ok(table) => {
            let position = Position::from_fen(&TINY, "k2/3/1RK w - - 0 1").unwrap();
            let mut tables = Tables::new();
            tables.insert(table);
            tables.probe(&position);
            Ok(Verdict::Accepted)
        }
    }
}

/// A name of men is written so that it reads back the same.
fn material(input: &[u8]) -> Result<Verdict, String> {
    match Material::parse(&CHESS, &text_of(input)) {
        Err(error) => refused(&error, MOST_SAID),
        Ok(material) => {
            let text = material.text(&CHESS);
            match Material::parse(&CHESS, &text) {
                Ok(again) if again.text(&CHESS) == text => Ok(Verdict::Accepted),
                other => Err(format!("{text} reads back as {other:?}")),
            }
        }
    }
}
