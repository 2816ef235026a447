//! What is fuzzed: for each reader of text where inputs come from, what its language is made of, and what it promises.

use super::words::{BETZA_WORDS, FEN_WORDS, MOVE_WORDS, PGN_WORDS, SAN_WORDS, TOML_WORDS, UCI_WORDS, XBOARD_WORDS};
use crate::common::{below, random_move, random_position, shipped};
use crate::harness::{MOST_SAID, MOST_SAID_OF_A_FILE, Target, Verdict, message, text_of};
use fairyforge_engine::moves::Move;
use fairyforge_engine::moves::perft::perft;
use fairyforge_engine::pgn::{Comment, PgnFault, PgnGame, PgnMove, PgnReader};
use fairyforge_engine::position::audit::audit;
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::protocol::{uci, xboard};
use fairyforge_engine::variant::file::{self, Reading};
use fairyforge_engine::variant::{Variant, betza, library};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::sync::Arc;

/// Random positions a shipped game among the seeds.
const POSITIONS: usize = 6;

/// All targets.
pub const ALL: &[Target] = &[
    Target {
        name: "variant_toml",
        share: 20,
        most_bytes: file::MAX_FILE_BYTES + 100,
        words: TOML_WORDS,
        accepts_all: false,
        seeds: || library::SHIPPED.iter().map(|(_, text)| text.as_bytes().to_vec()).collect(),
        check: variant_toml,
    },
    Target {
        name: "betza",
        share: 400,
        most_bytes: betza::MAX_LENGTH + 20,
        words: BETZA_WORDS,
        accepts_all: false,
        seeds: Vec::new,
        check: betza_string,
    },
    Target {
        name: "fen",
        share: 250,
        most_bytes: 2_000,
        words: FEN_WORDS,
        accepts_all: false,
        seeds: || positions().into_iter().map(|position| with_variant(&position, "")).collect(),
        check: fen,
    },
    Target {
        name: "move_text",
        share: 250,
        most_bytes: 2_000,
        words: MOVE_WORDS,
        accepts_all: false,
        seeds: || moves_to_read(|position, mv| position.move_text(mv)),
        check: move_text,
    },
    Target {
        name: "san",
        share: 150,
        most_bytes: 2_000,
        words: SAN_WORDS,
        accepts_all: false,
        seeds: || moves_to_read(|position, mv| position.san(mv)),
        check: san,
    },
    Target {
        name: "pgn",
        share: 15,
        most_bytes: 20_000,
        words: PGN_WORDS,
        accepts_all: false,
        seeds: random_games,
        check: pgn,
    },
    Target {
        name: "uci",
        share: 2,
        most_bytes: 4_000,
        words: UCI_WORDS,
        accepts_all: true,
        seeds: Vec::new,
        check: uci_session,
    },
    Target {
        name: "xboard",
        share: 2,
        most_bytes: 4_000,
        words: XBOARD_WORDS,
        accepts_all: true,
        seeds: Vec::new,
        check: xboard_session,
    },
];

/// A promise that must hold.
fn holds(promise: bool, said: impl FnOnce() -> String) -> Result<(), String> {
    if promise { Ok(()) } else { Err(said()) }
}

/// A file is refused with faults that have a place in it, or compiles; then its start can be played.
fn variant_toml(input: &[u8]) -> Result<Verdict, String> {
    let text = text_of(input);
    let inherited = |name: &str| library::shipped(name).map(Into::into);
    match file::read(&text, "fuzz.toml", "fuzz", &inherited).and_then(Reading::compile) {
        Ok(variant) => playable(&Arc::new(variant)).map(|()| Verdict::Accepted),
        Err(errors) => {
            let lines = text.split('\n').count();
            for fault in errors.faults.iter().filter(|fault| fault.file == "fuzz.toml") {
                holds((1..=lines).contains(&fault.line) && fault.column > 0, || format!("a place outside: {fault}"))?;
            }
            holds(!errors.faults.is_empty(), || "refused without a fault".into())?;
            message(&errors, MOST_SAID_OF_A_FILE).map(|()| Verdict::Refused)
        }
    }
}

/// The start reads back, and so does what a few random moves lead to.
fn playable(variant: &Arc<Variant>) -> Result<(), String> {
    let mut position = Position::start(variant);
    sound(&position)?;
    let mut random = ChaCha8Rng::seed_from_u64(0);
    for _ in 0..6 {
        let Some(mv) = random_move(&position, &mut random) else { break };
        let text = position.move_text(mv);
        holds(position.parse_move(&text) == Ok(mv), || format!("{text} does not read back in {}", position.fen()))?;
        position.make(mv, &mut Unobserved);
    }
    sound(&position)
}

/// What holds for every position: its text and bytes read back, its sums are right, its moves are counted alike.
fn sound(position: &Position) -> Result<(), String> {
    let fen = position.fen();
    audit(position).map_err(|fault| format!("{fen}: {fault}"))?;
    match Position::from_fen(position.variant(), &fen) {
        Ok(again) => {
            holds(again == *position && again.fen() == fen, || format!("{fen} reads back as {}", again.fen()))?
        }
        Err(error) => return Err(format!("its own FEN {fen} is refused: {error}")),
    }
    match Position::unpack(position.variant(), &position.pack()) {
        Ok(again) => holds(again == *position, || format!("{fen} unpacks as {}", again.fen()))?,
        Err(error) => return Err(format!("its own bytes are refused, {fen}: {error}")),
    }
    let moves = position.legal_moves().len();
    let leaves = perft(&mut position.clone(), 1);
    holds(leaves == moves as u64, || format!("{fen}: {moves} moves, perft 1 is {leaves}"))?;
    holds(position.has_legal_move() == (moves > 0), || format!("{fen}: has_legal_move"))?;
    // Only asked: any answer will do.
    let _ = position.outcome(1);
    Ok(())
}

/// An error lies in the string or at its end; patterns come with steps.
fn betza_string(input: &[u8]) -> Result<Verdict, String> {
    let text = text_of(input);
    for leg in [betza::parse_leg(&text, true), betza::parse_leg(&text, false)] {
        match leg {
            Ok(leg) => {
                holds(!leg.steps.is_empty() && leg.min <= leg.max, || format!("a leg that goes nowhere: {leg:?}"))?
            }
            Err(error) => betza_error(&error, &text)?,
        }
    }
    match betza::parse(&text) {
        Ok(patterns) => {
            let goes = |pattern: &fairyforge_engine::variant::pattern::Pattern| {
                (pattern.moves || pattern.captures) && !pattern.legs.is_empty()
            };
            holds(!patterns.is_empty() && patterns.iter().all(goes), || {
                format!("patterns that say nothing: {patterns:?}")
            })?;
            Ok(Verdict::Accepted)
        }
        Err(error) => betza_error(&error, &text).map(|()| Verdict::Refused),
    }
}

fn betza_error(error: &betza::BetzaError, text: &str) -> Result<(), String> {
    holds(text.is_char_boundary(error.at), || format!("a place outside: {error}"))?;
    message(error, MOST_SAID)
}

/// First line: the game's name. Second: a FEN. What is accepted is a position in every way.
fn fen(input: &[u8]) -> Result<Verdict, String> {
    let text = text_of(input);
    let (name, fen) = text.split_once('\n').unwrap_or(("", &text));
    match Position::from_fen(&game_called(name), fen) {
        Ok(position) => sound(&position).map(|()| Verdict::Accepted),
        Err(error) => message(&error, MOST_SAID).map(|()| Verdict::Refused),
    }
}

/// Lines: game, FEN, move. What is accepted is one of the legal moves, and written the same way.
fn move_text(input: &[u8]) -> Result<Verdict, String> {
    let text = text_of(input);
    let mut lines = text.splitn(3, '\n');
    let (name, fen, text) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""), lines.next().unwrap_or(""));
    let variant = game_called(name);
    let position = Position::from_fen(&variant, fen).unwrap_or_else(|_| Position::start(&variant));
    match position.parse_move(text) {
        Ok(mv) => {
            holds(position.legal_moves().contains(&mv), || format!("{text} is not legal in {}", position.fen()))?;
            let written = position.move_text(mv);
            holds(written == text, || format!("{text:?} was read, {written} is written, in {}", position.fen()))?;
            Ok(Verdict::Accepted)
        }
        Err(error) => message(&error, MOST_SAID).map(|()| Verdict::Refused),
    }
}

/// As [`move_text`], in algebraic notation, which says less: what is written for the move must read as the move.
fn san(input: &[u8]) -> Result<Verdict, String> {
    let text = text_of(input);
    let mut lines = text.splitn(3, '\n');
    let (name, fen, text) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""), lines.next().unwrap_or(""));
    let variant = game_called(name);
    let position = Position::from_fen(&variant, fen).unwrap_or_else(|_| Position::start(&variant));
    match position.parse_san(text) {
        Ok(mv) => {
            holds(position.legal_moves().contains(&mv), || format!("{text} is not legal in {}", position.fen()))?;
            let written = position.san(mv);
            let again = position.parse_san(&written);
            holds(again == Ok(mv), || format!("{text:?} is written {written}, which reads {again:?}"))?;
            Ok(Verdict::Accepted)
        }
        Err(error) => message(&error, MOST_SAID).map(|()| Verdict::Refused),
    }
}

/// Every game that is read can be written and read again, and says the same; every fault has a line of the text.
fn pgn(input: &[u8]) -> Result<Verdict, String> {
    let lines = input.split(|&byte| byte == b'\n').count() as u64;
    let mut moves = 0;
    for game in games_of(input) {
        match game {
            Ok(game) => {
                moves += game.moves.len();
                reads_back(&game)?;
            }
            Err(fault) => {
                message(&fault, MOST_SAID)?;
                holds((1..=lines).contains(&fault.place.line), || format!("a place outside {lines} lines: {fault}"))?;
            }
        }
    }
    Ok(if moves > 0 { Verdict::Accepted } else { Verdict::Refused })
}

fn games_of(text: &[u8]) -> Vec<Result<PgnGame, PgnFault>> {
    let by_name = |tag: &str| shipped().into_iter().find(|variant| variant.name() == tag);
    let variant = |tag: Option<&str>| by_name(tag.unwrap_or("chess")).ok_or_else(|| "no such game".to_string());
    PgnReader::new(text, variant).collect()
}

fn reads_back(game: &PgnGame) -> Result<(), String> {
    // Names of tags are read as others write them, and written as the standard wants them or not at all.
    let plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !game.tags.iter().all(|(name, _)| plain(name)) {
        return Ok(());
    }
    let mut text = Vec::new();
    game.write(&mut text).map_err(|error| format!("cannot be written: {error}"))?;
    let shown = || String::from_utf8_lossy(&text).into_owned();
    let again = games_of(&text);
    let [Ok(again)] = again.as_slice() else { return Err(format!("reads back as {again:?}:\n{}", shown())) };
    let moves = |game: &PgnGame| game.moves.iter().map(|played| played.mv).collect::<Vec<_>>();
    holds(moves(again) == moves(game), || format!("other moves:\n{}", shown()))?;
    holds(again.start == game.start, || format!("another start:\n{}", shown()))?;
    holds(again.result == game.result, || format!("another result:\n{}", shown()))?;
    let mut twice = Vec::new();
    again.write(&mut twice).map_err(|error| format!("cannot be written twice: {error}"))?;
    holds(twice == text, || format!("written differently the second time:\n{}", shown()))
}

/// A session of the UCI protocol.
fn uci_session(input: &[u8]) -> Result<Verdict, String> {
    session(&bounded_uci(input), "isready", "readyok", |script, output| uci::run(script, output))
}

/// A session ends at `quit`, every line of it is text, what is asked at its end is answered, and no thread of it panics.
fn session(
    script: &[u8],
    asked: &str,
    answer: &str,
    run: impl Fn(&[u8], &mut Vec<u8>) -> std::io::Result<()>,
) -> Result<Verdict, String> {
    let script = [script, b"\n", asked.as_bytes(), b"\nquit\n"].concat();
    let mut output = Vec::new();
    run(&script, &mut output).map_err(|error| format!("the session failed: {error}"))?;
    let said = String::from_utf8(output).map_err(|error| format!("the answer is no text: {error}"))?;
    holds(!said.contains("the search failed"), || "a search panicked".into())?;
    let lines = script.split(|&byte| byte == b'\n');
    let told_to_quit = lines.filter(|line| line.trim_ascii().starts_with(b"quit")).count() > 1;
    holds(told_to_quit || said.contains(&format!("{answer}\n")), || format!("no answer to {asked}: {said}"))?;
    holds(said.is_empty() || said.ends_with('\n'), || format!("half a line at the end: {said}"))?;
    Ok(Verdict::Accepted)
}

/// The script with what takes long or much by right kept small: searches, counts of leaves, tables, and paths to devices.
fn bounded_uci(input: &[u8]) -> Vec<u8> {
    bounded(input, |line, words, text| match words.first() {
        Some(&"go") if words.contains(&"perft") => Some(b"go perft 2".to_vec()),
        Some(&"go") => Some([line, b" nodes 200"].concat()),
        Some(&"setoption") if text.to_ascii_lowercase().contains("name hash") => None,
        Some(&"setoption") if text.contains("/dev") || text.contains("/proc") => None,
        _ => Some(line.to_vec()),
    })
}

/// A session of XBoard's protocol.
fn xboard_session(input: &[u8]) -> Result<Verdict, String> {
    let script = bounded(input, |line, words, text| match words.first() {
        Some(&("memory" | "option")) if text.contains("/dev") || text.contains("/proc") || has_great_number(text) => {
            None
        }
        // Whatever the clocks say, and whatever a new game forgets: the search is short.
        Some(&("new" | "level" | "st" | "sd" | "time" | "variant")) => Some([line, b"\nsd 1"].concat()),
        _ => Some(line.to_vec()),
    });
    let script = [b"sd 1\n".as_slice(), &script].concat();
    session(&script, "ping 77", "pong 77", |script, output| xboard::run(script, output))
}

fn has_great_number(text: &str) -> bool {
    text.split(|letter: char| !letter.is_ascii_digit()).any(|digits| digits.len() > 2)
}

/// Each line as `kept` leaves it, or left out.
fn bounded(input: &[u8], kept: impl Fn(&[u8], &[&str], &str) -> Option<Vec<u8>>) -> Vec<u8> {
    let lines = input.split(|&byte| byte == b'\n').filter_map(|line| {
        let text = String::from_utf8_lossy(line);
        kept(line, &text.split_ascii_whitespace().collect::<Vec<_>>(), &text)
    });
    lines.collect::<Vec<_>>().join(&b'\n')
}

/// The shipped game of that name, or another one.
fn game_called(name: &str) -> Arc<Variant> {
    let games = shipped();
    let other = name.bytes().map(usize::from).sum::<usize>() % games.len();
    let named = games.iter().find(|variant| variant.name() == name.trim());
    Arc::clone(named.unwrap_or(&games[other]))
}

fn positions() -> Vec<Position> {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut positions = Vec::new();
    for variant in shipped() {
        for number in 0..POSITIONS {
            positions.push(random_position(&variant, number * 25, &mut random));
        }
    }
    positions
}

fn with_variant(position: &Position, rest: &str) -> Vec<u8> {
    format!("{}\n{}{rest}", position.variant().name(), position.fen()).into_bytes()
}

fn moves_to_read(text: fn(&Position, Move) -> String) -> Vec<Vec<u8>> {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let mut seeds = Vec::new();
    for position in positions() {
        let moves = position.legal_moves();
        for _ in 0..moves.len().min(8) {
            let mv = moves[below(&mut random, moves.len())];
            seeds.push(with_variant(&position, &format!("\n{}", text(&position, mv))));
        }
    }
    seeds
}

/// A few short random games in PGN, two to a text.
fn random_games() -> Vec<Vec<u8>> {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let texts = shipped().into_iter().map(|variant| {
        let mut text = Vec::new();
        for plies in [6, 24] {
            let mut game = PgnGame::new(Position::start(&variant));
            let mut position = game.start.clone();
            for _ in 0..plies {
                let Some(mv) = random_move(&position, &mut random) else { break };
                game.moves.push(PgnMove { mv, nags: vec![1], comment: Comment::read("so far so good") });
                position.make(mv, &mut Unobserved);
            }
            game.write(&mut text).unwrap();
        }
        text
    });
    texts.collect()
}
