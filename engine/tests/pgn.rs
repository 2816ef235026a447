//! Games in PGN: what is written reads back, what is broken is told with its place and the rest is read.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::{below, cases, random_move, random_position, shipped, variant};
use fairyforge_engine::game::Game;
use fairyforge_engine::pgn::{
    Comment, FaultKind, NamedVariants, PgnFault, PgnGame, PgnMove, PgnReader, PgnResult, Score, Warning, limits,
};
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::variant::Variant;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Read1 = Result<PgnGame, PgnFault>;

/// Reads games; those without a tag are orthodox chess.
fn read(text: impl BufRead) -> Vec<Read1> {
    let mut others = NamedVariants::new(variant("chess"));
    // What the tests share is compiled once.
    let known = shipped();
    let by_name = |tag: &str| known.iter().find(|variant| variant.name() == tag).cloned();
    PgnReader::new(text, |tag| tag.and_then(by_name).map_or_else(|| others.find(tag), Ok)).collect()
}

/// Reads games of which none may be broken or odd.
#[track_caller]
fn sound(text: &str) -> Vec<PgnGame> {
    let games = read(text.as_bytes()).into_iter().map(|game| game.unwrap_or_else(|fault| panic!("{fault}\n{text}")));
    let games: Vec<PgnGame> = games.collect();
    for game in &games {
        assert!(game.warnings.is_empty(), "{:?}\n{text}", game.warnings);
    }
    games
}

fn written(games: &[PgnGame]) -> String {
    let mut text = Vec::new();
    games.iter().for_each(|game| game.write(&mut text).unwrap());
    String::from_utf8(text).unwrap()
}

/// The moves in algebraic notation, separated by blanks.
fn moves(game: &PgnGame) -> String {
    let mut position = game.start.clone();
    let mut texts = Vec::new();
    for played in &game.moves {
        texts.push(position.san(played.mv));
        position.make(played.mv, &mut Unobserved);
    }
    texts.join(" ")
}

fn random_comment(random: &mut ChaCha8Rng) -> Comment {
    let words = ["", "book", "a (b) ; %c [Event \"d\"] {", "λ ist gut", "+/-", "$3 e4 1-0"];
    let some = |random: &mut ChaCha8Rng, bound| (below(random, 2) == 0).then(|| below(random, bound));
    let mut comment = Comment { text: words[below(random, words.len())].into(), ..Comment::default() };
    match below(random, 4) {
        0 => comment.score = Some(Score::Centipawns(below(random, 4001) as i32 - 2000)),
        1 => comment.score = Some(Score::Mate { wins: below(random, 2) == 0, moves: below(random, 20) as u32 }),
        _ => return comment,
    }
    comment.depth = some(random, 40).map(|depth| depth as u32);
    comment.milliseconds = some(random, 100_000).map(|time| time as u64);
    comment.nodes = some(random, 10_000_000).map(|nodes| nodes as u64);
    comment
}

/// A random game of up to `plies` moves from a random position.
fn random_game(variant: &Arc<Variant>, before: usize, plies: usize, random: &mut ChaCha8Rng) -> PgnGame {
    let mut game = PgnGame::new(random_position(variant, before, random));
    game.comment = random_comment(random);
    let mut played = Game::new(game.start.clone());
    while let Some(mv) = random_move(played.position(), random).filter(|_| game.moves.len() < plies) {
        let nags = (0..below(random, 3)).map(|_| below(random, 256) as u8).collect();
        game.moves.push(PgnMove { mv, nags, comment: random_comment(random) });
        played.play(mv);
    }
    game.result = played.outcome().map_or(PgnResult::Unfinished, PgnResult::from);
    for (name, value) in [("Event", "Quotes \" and \\ and ü"), ("Termination", "a \\\" b"), ("Odd_1", "")] {
        game.tags.push((name.into(), value.into()));
    }
    game
}

#[test]
fn what_is_written_reads_back_in_every_game() {
    let mut seen = 0;
    for variant in shipped() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let games: Vec<PgnGame> =
            (0..12).map(|n| random_game(&variant, if n % 3 == 0 { 0 } else { n }, 30 * n, &mut random)).collect();
        let text = written(&games);
        assert!(text.lines().all(|line| line.starts_with('[') || line.chars().count() < 120), "{text}");
        let again = sound(&text);
        assert_eq!(again.len(), games.len());
        for ((number, game), again) in (1..).zip(&games).zip(&again) {
            assert_eq!((&again.start, &again.moves, again.result), (&game.start, &game.moves, game.result));
            assert_eq!((&again.comment, again.number), (&game.comment, number));
            for (name, value) in &game.tags {
                assert_eq!(again.tag(name), Some(value.as_str()));
            }
            assert_eq!(again.tag("FEN").is_none(), game.start == Position::start(&variant));
            seen += game.moves.len();
        }
        assert_eq!(written(&again), text);
    }
    assert!(seen > 5_000, "{seen}");
}

/// Where broken, odd and foreign files lie.
fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pgn")
}

fn corpus_files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(corpus()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "pgn")).collect();
    files.sort();
    files
}

/// What was read of a file, one game or fault after the other.
fn told(games: &[Read1]) -> String {
    let mut text = String::new();
    for game in games {
        match game {
            Err(fault) => text.push_str(&format!("  {fault}\n")),
            Ok(game) => {
                let (name, event) = (game.start.variant().name(), game.tag("Event").unwrap_or("-"));
                text.push_str(&format!("  {}: game {}: {name}, {event:?}, {}\n", game.line, game.number, game.result));
                text.push_str(format!("    {}", moves(game)).trim_end());
                text.push('\n');
                for (place, warning) in &game.warnings {
                    text.push_str(&format!("    {place}: {warning}\n"));
                }
            }
        }
    }
    text
}

/// Set to anything, the snapshot is written anew: `FAIRYFORGE_REGENERATE=1 cargo test -p fairyforge-engine --test pgn`.
const REGENERATE: &str = "FAIRYFORGE_REGENERATE";

#[test]
fn broken_games_are_told_with_their_place_and_the_rest_is_read() {
    let mut text = String::new();
    for file in corpus_files() {
        let games = read(std::fs::read(&file).unwrap().as_slice());
        text.push_str(&format!("{}\n{}", file.file_name().unwrap().to_string_lossy(), told(&games)));
    }
    let path = corpus().join("told.txt");
    if std::env::var_os(REGENERATE).is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = expected.lines().zip(text.lines()).position(|(expected, got)| expected != got);
    assert!(
        text == expected,
        "told.txt differs from line {differs:?} on:\n{text}\nset {REGENERATE}=1 once it is right"
    );
}

#[test]
fn line_ends_and_byte_order_marks_change_nothing() {
    for file in corpus_files() {
        let text = std::fs::read_to_string(file).unwrap();
        let expected = told(&read(text.as_bytes()));
        for changed in [text.replace('\n', "\r\n"), text.replace('\n', "\r"), format!("\u{feff}{text}")] {
            assert_eq!(told(&read(changed.as_bytes())), expected);
        }
        // However little is to be had at once.
        let dripping = BufReader::with_capacity(1, text.as_bytes());
        assert_eq!(told(&read(dripping)), expected);
    }
}

#[test]
fn comments_glyphs_and_variations_are_kept_or_passed_over() {
    let text = std::fs::read_to_string(corpus().join("forms.pgn")).unwrap();
    let game = read(text.as_bytes()).remove(0).unwrap();
    assert_eq!(game.comment.text, "Before the first move");
    let Comment { score, depth, milliseconds, nodes, text } = &game.moves[0].comment;
    assert_eq!((*score, *depth, *milliseconds, *nodes), (Some(Score::Centipawns(30)), Some(12), Some(500), Some(5000)));
    assert_eq!((text.as_str(), game.moves[0].nags.as_slice()), ("good", &[5, 14, 3][..]));
    assert_eq!(game.moves[1].nags, [6]);
    assert_eq!(game.moves[3].comment.text, "the rest of a line ( {");
    let with_words = |words: &str| game.moves.iter().any(|played| played.comment.text == words);
    assert!(with_words("one two") && !with_words("a ("));
    assert_eq!(game.tag("Site"), Some("{no comment}"));
    // In the Latin-1 of old files a letter is one byte.
    let latin: Vec<u8> = "[White \"\u{c4}\"]\n1. e4 {\u{fc}} *".chars().map(|c| c as u32 as u8).collect();
    let game = read(latin.as_slice()).remove(0).unwrap();
    assert_eq!((game.tag("White"), game.moves[0].comment.text.as_str()), (Some("Ä"), "ü"));
}

#[test]
fn limits_break_a_game_and_not_the_file() {
    let cases = [
        (format!("1. e4 {{{}}} *", "a".repeat(limits::COMMENT + 1)), "65536 bytes of a comment"),
        (format!("1. e4 ;{}\n *", "a".repeat(limits::COMMENT + 1)), "65536 bytes of a comment"),
        (format!("1. {} *", "a".repeat(limits::WORD + 1)), "255 bytes of a word"),
        (format!("[White \"{}\"]\n*", "a".repeat(limits::TAG_VALUE + 1)), "16384 bytes of a tag's value"),
        (format!("[{} \"\"]\n*", "a".repeat(limits::TAG_NAME + 1)), "255 bytes of a tag's name"),
        ((0..=limits::TAGS).map(|n| format!("[A{n} \"\"]\n")).collect(), "256 tags"),
        ("Nf3 Nf6 Ng1 Ng8 ".repeat(limits::PLIES / 4 + 1), "20000 plies"),
        (format!("1. e4 ({} *", "{a} ".repeat(limits::GAME / 4)), "16777216 bytes of a game"),
        ("(".repeat(limits::PLIES + 1), "20000 variations"),
    ];
    for (broken, limit) in cases {
        let games = read(format!("{broken}\n[Event \"next\"]\n\n1. e4 *\n").as_bytes());
        assert_eq!(games.len(), 2, "{limit}");
        let fault = games[0].as_ref().unwrap_err();
        assert!(matches!(fault.kind, FaultKind::TooLong { .. }), "{fault}");
        assert!(fault.to_string().contains(&format!("expected at most {limit}")), "{fault}");
        assert_eq!(games[1].as_ref().unwrap().moves.len(), 1);
    }
    // Blanks are no limit's business.
    sound(&format!("1. e4{}{{{}}} *", " ".repeat(limits::WORD * 2), " ".repeat(limits::COMMENT * 2)));
    // As long as it may be.
    let longest = format!("[Result \"*\"]\n{} *", "Nf3 Nf6 Ng1 Ng8 ".repeat(limits::PLIES / 4));
    assert_eq!(sound(&longest)[0].moves.len(), limits::PLIES);
}

#[test]
fn a_file_that_fails_ends_with_the_reason() {
    struct Fails;
    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is gone"))
        }
    }
    let text = "1. e4 *\n1. d4 ".as_bytes().chain(Fails);
    let games = read(BufReader::new(text));
    assert_eq!(games.len(), 2);
    assert!(games[0].is_ok());
    assert_eq!(games[1].as_ref().unwrap_err().to_string(), "2:7: game 2: cannot read on: the disk is gone");
}

#[test]
fn nothing_is_no_game() {
    for text in ["", "\n\n", "\u{feff}", "% only\n; this\n{and that}\n", "..."] {
        assert!(read(text.as_bytes()).is_empty(), "{text:?}");
    }
}

#[test]
fn results_follow_the_rules_of_the_game() {
    // Who cannot move has lost in the one, and drawn in the other.
    let text = |variant: &str| {
        let tags = format!("[Result \"1-0\"]\n[Variant \"{variant}\"]\n[FEN \"k7/p7/P7/2K5/8/8/8/7R w - - 0 1\"]");
        format!("{tags}\n\n1. Rb1 1-0\n")
    };
    sound(&text("shatranj"));
    let games = read(text("chess").as_bytes());
    let warnings = &games[0].as_ref().unwrap().warnings;
    assert!(matches!(warnings[..], [(_, Warning::Outcome { outcome: PgnResult::Draw, .. })]), "{warnings:?}");
}

#[test]
fn tags_that_cannot_be_written_are_refused() {
    let mut game = PgnGame::new(Position::start(&variant("chess")));
    game.tags = vec![("No tag".into(), "a".into())];
    let error = game.write(&mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("got \"No tag\""), "{error}");
    game.tags = vec![("Event".into(), "two\nlines".into())];
    assert_eq!(sound(&written(&[game]))[0].tag("Event"), Some("two lines"));
}

/// Pieces of which broken files are made.
fn scraps() -> impl Strategy<Value = String> {
    let scrap = prop_oneof![
        4 => "[ -~\\n]{0,12}",
        4 => prop::sample::select(vec![
            "[Event \"a\"]\n", "[FEN \"", "\"]", "[", "]", "{", "}", "(", ")", ";", "\n", "\n\n", "%", "$300 ", "$5 ", "1.", "1...",
            " e4", " e5", " Nf3", " O-O", " 1-0\n", " *\n", " 1/2-1/2", "\\", "\"", "[Variant \"herculean\"]\n", "[VariantMen \"\"]\n",
            "[SetUp \"1\"]\n", "\r", "\r\n", "\u{feff}", "ü", "\u{0}", " @", "=Q", " e.p.", "!?", "..",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(scrap, 0..60).prop_map(|scraps| scraps.concat())
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn any_text_is_answered(text in scraps()) {
        let games = read(text.as_bytes());
        prop_assert!(games.len() <= text.len());
        let mut last = 0;
        for game in &games {
            let (number, line) = match game {
                Ok(game) => (game.number, game.line),
                Err(fault) => (fault.game, fault.place.line),
            };
            prop_assert_eq!(number, last + 1);
            prop_assert!(line >= 1 && line as usize <= text.len() + 1);
            last = number;
        }
        let whole: Vec<PgnGame> = games.into_iter().filter_map(Result::ok).collect();
        let again = sound(&written(&whole));
        prop_assert_eq!(again.len(), whole.len());
        for (again, game) in again.iter().zip(&whole) {
            let moves = |game: &PgnGame| game.moves.iter().map(|played| played.mv).collect::<Vec<_>>();
            prop_assert_eq!((moves(again), again.result), (moves(game), game.result));
        }
        // A closing brace in a comment cannot be written; what can be stays as it is.
        prop_assert_eq!(written(&again), written(&whole));
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let games = read(bytes.as_slice());
        prop_assert!(games.len() <= bytes.len());
    }

}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_damaged_game_does_not_harm_the_next_but_one(at in 0usize..2000, with in any::<u8>()) {
        let text = std::fs::read_to_string(corpus().join("xboard-herculean.pgn")).unwrap();
        let mut bytes = text.clone().into_bytes();
        let at = at % bytes.len();
        bytes[at] = with;
        bytes.extend(b"\n[Event \"next\"]\n[Result \"*\"]\n\n1. e4 *\n\n[Event \"last\"]\n[Result \"*\"]\n\n1. d4 *\n");
        let games = read(bytes.as_slice());
        let last = games.last().unwrap().as_ref().unwrap();
        prop_assert_eq!((last.tag("Event"), last.moves.len()), (Some("last"), 1));
    }
}
