//! Searches with endgame tables: exact where a table knows, honest about the move count, unchanged where none does; and the sessions
//! that load them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::{below, position, random_move, read, tables, variant, variant_from};
use fairyforge_engine::endgame::{Material, Tables, Value, file};
use fairyforge_engine::evaluate::{Tapered, Weights};
use fairyforge_engine::game::Game;
use fairyforge_engine::geometry::Square;
use fairyforge_engine::outcome::{Outcome, Reason};
use fairyforge_engine::position::{Piece, Position, Unobserved};
use fairyforge_engine::protocol::{uci, xboard};
use fairyforge_engine::search::score::{DRAW, MATE, WON, is_mate};
use fairyforge_engine::search::{Limits, Memory, Params, Report, Request, search};
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::{Colour, SideResult};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const OPULENT: &str = "opulent-lemurian-shatranj";

/// A player with tables.
struct Player<'a> {
    evaluator: Tapered,
    memory: Memory,
    tables: Option<&'a Tables>,
}

impl<'a> Player<'a> {
    fn new(variant: &Variant, tables: Option<&'a Tables>) -> Self {
        let evaluator = Tapered::new(variant, &Weights::a_priori(variant));
        Self { evaluator, memory: Memory::new(1, Params::default()), tables }
    }

    fn think(&mut self, game: &Game, limits: &Limits) -> Report {
        let (position, earlier, stop) = (game.position(), game.earlier(), AtomicBool::new(false));
        let (evaluator, endgames) = (&self.evaluator, self.tables);
        search(&Request { position, earlier, limits, evaluator, endgames, stop: &stop }, &mut self.memory, |_, _| ())
    }

    fn look(&mut self, position: &Position, limits: &Limits) -> Report {
        self.memory.forget();
        self.think(&Game::new(position.clone()), limits)
    }
}

/// A legal position of these men with its squares drawn by lot, in which the game is not over.
fn drawn(variant: &Arc<Variant>, men: &str, random: &mut ChaCha8Rng) -> Position {
    let material = Material::parse(variant, men).unwrap();
    let board: Vec<Square> = variant.topology().squares().iter().collect();
    loop {
        let side = if below(random, 2) == 0 { Colour::White } else { Colour::Black };
        let men =
            material.men().iter().map(|man| (board[below(random, board.len())], Piece::new(man.unit, man.colour)));
        let found = Position::of_men(variant, men, side).ok();
        if let Some(position) = found.filter(|position| position.outcome(1).is_none()) {
            return position;
        }
    }
}

/// The score of a value at the root, where the count allows it.
fn score(value: Value) -> i32 {
    match value.result {
        SideResult::Win => MATE - i32::from(value.plies),
        SideResult::Draw => DRAW,
        SideResult::Loss => i32::from(value.plies) - MATE,
    }
}

fn assert_exact(name: &str, built: &[&str], men: &str, positions: usize) {
    let variant = variant(name);
    let tables = tables(&variant, built);
    let mut player = Player::new(&variant, Some(&tables));
    let mut random = ChaCha8Rng::seed_from_u64(31);
    let (mut seen, mut hits) = ([0; 3], 0);
    for number in 0..positions {
        let position = drawn(&variant, men, &mut random);
        let value = tables.probe(&position).expect("a table of these men");
        let report = player.look(&position, &Limits::depth(1 + number as i32 % 4));
        assert_eq!(report.score, score(value), "{name} {}: {value}", position.fen());
        let mut after = position.clone();
        after.make(report.best.unwrap(), &mut Unobserved);
        assert_eq!(tables.probe(&after).map(Value::before), Some(value), "{name} {}", position.fen());
        hits += report.endgame_hits;
        seen[value.result as usize] += 1;
    }
    assert!(hits > positions as u64, "{name} {men}: {hits} hits");
    assert!(seen.iter().filter(|&&count| count > 0).count() >= 2, "{name} {men}: only one kind of result, {seen:?}");
}

#[test]
fn scores_are_exact_and_moves_keep_them() {
    assert_exact("chess", &["K+R v K"], "K+R v K", 150);
    assert_exact("chess", &["K+P v K"], "K+P v K", 150);
    assert_exact(OPULENT, &["K+W v K"], "K+W v K", 80);
    // Whoever is stalemated wins.
    assert_exact("captpromo10", &["K+Q v K"], "K+Q v K", 80);
}

/// Only White's table is there.
#[test]
fn a_table_serves_both_colours_where_armies_are_alike() {
    assert_exact("chess", &["K+P v K"], "K v K+P", 150);
    let chess = variant("chess");
    let (white, both) = (tables(&chess, &["K+P v K"]), tables(&chess, &["K v K+P"]));
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for _ in 0..2_000 {
        let position = drawn(&chess, "K v K+P", &mut random);
        assert_eq!(white.probe(&position), both.probe(&position), "{}", position.fen());
        assert!(white.probe(&position).is_some());
    }
    // One side has a rook more at the start: its pawn has more to become.
    let unlike = variant_from(
        "format = 1\n[variant]\nname = \"unlike\"\n[board]\nsetup = \"\"\"\nr k . .\n. . . .\n. . . .\nR K . R\n\"\"\"\n\
         [pieces]\nking = { letter = \"K\", moves = \"K\" }\nrook = { letter = \"R\", moves = \"R\" }\n",
    );
    let unlike_tables = tables(&unlike, &["K+R v K"]);
    assert!(unlike_tables.probe(&read(&unlike, "k3/4/4/1R1K w - - 0 1")).is_some());
    assert_eq!(unlike_tables.probe(&read(&unlike, "1r1k/4/4/K3 b - - 0 1")), None);
}

/// A capture into a table is worth what the table says, also behind the horizon.
#[test]
fn captures_into_tables_are_exact() {
    let chess = variant("chess");
    let tables = tables(&chess, &["K+R v K", "K+N v K"]);
    let mut player = Player::new(&chess, Some(&tables));
    let mut random = ChaCha8Rng::seed_from_u64(77);
    let mut captures = 0;
    for _ in 0..400 {
        let position = drawn(&chess, "K+R v K+N", &mut random);
        let known = position.legal_moves().into_iter().filter_map(|mv| {
            let mut after = position.clone();
            after.make(mv, &mut Unobserved);
            tables.probe(&after).map(Value::before)
        });
        let Some(best) = known.max_by_key(|value| value.rank()) else { continue };
        let report = player.look(&position, &Limits::depth(1));
        assert!(report.score >= score(best), "{}: {} below {best}", position.fen(), report.score);
        captures += 1;
    }
    assert!(captures > 50, "{captures}");
}

/// Both sides play with tables from `start` to the end.
fn played_out(start: Position, tables: &Tables) -> (Game, Outcome) {
    let mut players = [(); 2].map(|()| Player::new(start.variant(), Some(tables)));
    let mut game = Game::new(start);
    loop {
        if let Some(outcome) = game.outcome() {
            return (game, outcome);
        }
        let side = game.position().side_to_move().index();
        let report = players[side].think(&game, &Limits::nodes(400));
        game.play(report.best.unwrap());
    }
}

/// The longest win of a table, to the end: as long as the table says against itself, never longer against moves by lot.
fn assert_carried_out(name: &str, men: &str, reason: Reason) {
    let variant = variant(name);
    let tables = tables(&variant, &[men]);
    let table = tables.get(&Material::parse(&variant, men).unwrap()).unwrap();
    let never = AtomicBool::new(false);
    let work = fairyforge_engine::endgame::Work { threads: 0, stop: &never, report: &|_| () };
    let longest = table.statistics(Colour::White, &work).unwrap().longest_win.unwrap();
    let start = read(&variant, &longest.fen);
    let (game, outcome) = played_out(start.clone(), &tables);
    assert_eq!(outcome, Outcome { winner: Some(Colour::White), reason }, "{name} {men}");
    assert_eq!(game.moves().len(), usize::from(longest.value.plies), "{name} {men}");

    let mut random = ChaCha8Rng::seed_from_u64(3);
    for _ in 0..5 {
        let mut player = Player::new(&variant, Some(&tables));
        let mut game = Game::new(start.clone());
        while game.outcome().is_none() {
            let mv = match game.position().side_to_move() {
                Colour::White => player.think(&game, &Limits::nodes(400)).best,
                Colour::Black => random_move(game.position(), &mut random),
            };
            game.play(mv.unwrap());
        }
        assert_eq!(game.outcome().unwrap().winner, Some(Colour::White), "{name} {men}");
        assert!(game.moves().len() <= usize::from(longest.value.plies), "{name} {men}");
    }
}

#[test]
fn won_endgames_are_won_without_detours() {
    assert_carried_out("chess", "K+R v K", Reason::Checkmate);
    // O6: stalemate wins, and no other end does.
    assert_carried_out(OPULENT, "K+N v K", Reason::Stalemate);
}

#[test]
#[ignore = "four men on the whole board: half a minute"]
fn bishop_and_knight_mate_without_detours() {
    assert_carried_out("chess", "K+B+N v K", Reason::Checkmate);
}

/// A win of 31 plies: as a mate if the count leaves them, as less if it leaves one ply fewer; and so the games end.
#[test]
fn wins_that_come_too_late_are_no_mates() {
    let chess = variant("chess");
    let tables = tables(&chess, &["K+R v K"]);
    let mut player = Player::new(&chess, Some(&tables));
    let fen = |count: u32| format!("8/8/8/8/8/8/2Rk4/1K6 b - - {count} 1");
    let value = tables.probe(&position("chess", &fen(0))).unwrap();
    assert_eq!((value.result, value.plies), (SideResult::Loss, 32));
    let in_time = position("chess", &fen(68));
    assert_eq!(player.look(&in_time, &Limits::depth(3)).score, score(value));
    let (game, outcome) = played_out(in_time, &tables);
    assert_eq!((outcome.reason, game.moves().len()), (Reason::Checkmate, 32));
    assert_eq!(game.position().plies_without_progress(), 100);

    let too_late = position("chess", &fen(69));
    let report = player.look(&too_late, &Limits::depth(3));
    assert_eq!(report.score, i32::from(value.plies) - WON);
    assert!(!is_mate(report.score));
    let (game, outcome) = played_out(too_late, &tables);
    assert_eq!((outcome.winner, outcome.reason, game.moves().len()), (None, Reason::MoveCount, 31));
}

/// The pawn's step sets the count back, so the win is one after all, and the move that saves it is found.
#[test]
fn a_move_that_sets_the_count_back_saves_the_win() {
    let chess = variant("chess");
    let tables = tables(&chess, &["K+P v K"]);
    let start = position("chess", "8/1k6/8/8/7K/8/6P1/8 w - - 96 1");
    let value = tables.probe(&start).unwrap();
    assert!(value.result == SideResult::Win && !value.is_within_move_count(&start));
    let report = Player::new(&chess, Some(&tables)).look(&start, &Limits::depth(2));
    assert!(is_mate(report.score), "{}", report.score);
    let best = start.move_text(report.best.unwrap());
    assert!(best.starts_with("g2"), "{best}");
    let (_, outcome) = played_out(start, &tables);
    assert_eq!(outcome, Outcome { winner: Some(Colour::White), reason: Reason::Checkmate });
}

#[test]
fn tables_of_few_men_change_no_search_of_many() {
    for name in ["chess", OPULENT] {
        let variant = variant(name);
        let tables = tables(&variant, &["K+R v K"]);
        let start = Position::start(&variant);
        let [with, without] = [Some(&tables), None].map(|tables| {
            let mut player = Player::new(&variant, tables);
            player.look(&start, &Limits::nodes(5_000))
        });
        assert_eq!(with, without, "{name}");
    }
}

/// A folder of its own with the tables of `men`.
fn folder(test: &str, game: &Arc<Variant>, men: &[&str]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let built = tables(game, men);
    for men in men {
        let material = Material::parse(game, men).unwrap();
        let mut bytes = Vec::new();
        file::write(built.get(&material).unwrap(), &mut bytes).unwrap();
        std::fs::write(folder.join(format!("{}.table", material.stem(game))), bytes).unwrap();
    }
    folder
}

fn said(script: &str) -> String {
    let mut output = Vec::new();
    uci::run(script.as_bytes(), &mut output).unwrap();
    String::from_utf8(output).unwrap()
}

/// Mate in 16 with the rook's longest win.
const ASK: &str = "position fen 8/8/8/8/8/8/2Rk4/1K6 b - - 0 1\ngo depth 2\n";

fn choose(folder: &Path) -> String {
    format!("setoption name EndgamePath value {}\n", folder.display())
}

fn remarks(output: &str) -> Vec<&str> {
    output.lines().filter_map(|line| line.strip_prefix("info string ")).collect()
}

#[test]
fn a_session_plays_with_the_tables_of_a_folder() {
    let chess = variant("chess");
    let folder = folder("endgames-good", &chess, &["K v K", "K+R v K"]);
    assert!(said("uci\n").contains("option name EndgamePath type string default <empty>\n"));
    let output = said(&format!("{}{ASK}setoption name EndgamePath value <empty>\n{ASK}", choose(&folder)));
    let told = format!("endgames: 2 tables of chess up to 3 men, 0.1 MB of memory, from {}", folder.display());
    assert_eq!(remarks(&output), [told], "{output}");
    let (with, without) = output.split_once("bestmove ").unwrap();
    assert!(with.contains(" score mate -16 ") && with.contains(" tbhits "), "{output}");
    assert!(!without.contains(" mate ") && !without.contains("tbhits"), "{output}");
}

#[test]
fn files_that_cannot_be_used_are_named_and_the_rest_is_used() {
    let chess = variant("chess");
    let folder = folder("endgames-bad", &chess, &["K v K", "K+R v K", "K+Q v K", "K+N v K"]);
    let path = |name: &str| folder.join(name);
    let mut bytes = std::fs::read(path("KQvK.table")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path("KQvK.table"), &bytes).unwrap();
    std::fs::write(path("KNvK.table"), &bytes[..500]).unwrap();
    std::fs::write(path("empty.table"), "").unwrap();
    std::fs::write(path("notes.txt"), "no table").unwrap();
    std::fs::create_dir(path("folder.table")).unwrap();
    let foreign = self::folder("endgames-foreign", &variant("shatranj"), &["K+P v K"]);
    std::fs::copy(foreign.join("KPvK.table"), path("KPvK.table")).unwrap();
    let output = said(&format!("{}{ASK}", choose(&folder)));
    let told = remarks(&output);
    assert!(told[0].starts_with("endgames: 2 tables of chess up to 3 men"), "{output}");
    for (name, fault) in [
        ("KNvK.table", "bytes more"),
        ("KPvK.table", "expected rules of chess"),
        ("KQvK.table", "checksum"),
        ("empty.table", "bytes more"),
    ] {
        let named = |line: &&&str| line.starts_with("endgames: not used: ") && line.contains(name);
        assert!(told.iter().find(named).is_some_and(|line| line.contains(fault)), "{name}: {output}");
    }
    assert_eq!(told.len(), 5, "{output}");
    assert!(output.contains(" score mate -16 "), "{output}");
}

#[test]
fn a_folder_that_is_missing_changes_nothing() {
    let chess = variant("chess");
    let folder = folder("endgames-kept", &chess, &["K+R v K"]);
    let output = said(&format!("{}setoption name EndgamePath value /nowhere/at/all\n{ASK}", choose(&folder)));
    let told = remarks(&output);
    assert!(told.len() == 2 && told[1].starts_with("EndgamePath: cannot list /nowhere/at/all: "), "{output}");
    assert!(output.contains(" score mate -16 "), "{output}");
    let file = folder.join("KRvK.table");
    assert!(remarks(&said(&choose(&file)))[0].starts_with("EndgamePath: cannot list "));
    assert_eq!(remarks(&said("setoption name EndgamePath\n")), ["setoption EndgamePath: expected a value, got none"]);
}

/// Interfaces may name the folder before the game, and choose the game anew before every search.
#[test]
fn the_tables_are_those_of_the_game_that_is_played() {
    let opulent = variant(OPULENT);
    let folder = folder("endgames-later", &opulent, &["K+R v K"]);
    let game = format!("setoption name UCI_Variant value {OPULENT}\n");
    let ask = "position fen 10/10/10/10/10/4k5/10/10/R9/K9 w - - 0 1\ngo depth 2\n";
    let output = said(&format!("{}{game}{ask}{game}{ask}", choose(&folder)));
    let told = remarks(&output);
    assert!(told[0].starts_with("endgames: no tables of chess in "), "{output}");
    assert!(told[1].contains("KRvK.table: ") && told[1].contains("expected rules of chess"), "{output}");
    let used = |line: &&&str| line.starts_with(&format!("endgames: 1 table of {OPULENT} up to 3 men"));
    assert_eq!(told.iter().filter(used).count(), 1, "not read twice: {output}");
    assert_eq!(output.matches(" tbhits ").count(), 4, "{output}");
}

#[test]
fn xboard_has_the_tables_too() {
    let chess = variant("chess");
    let folder = folder("endgames-xboard", &chess, &["K+R v K"]);
    let script = format!(
        "xboard\nprotover 2\noption EndgamePath={}\noption EndgamePath=/nowhere\n\
         setboard 8/8/8/8/8/8/2Rk4/1K6 b - - 0 1\npost\nsd 2\ngo\n",
        folder.display()
    );
    let mut output = Vec::new();
    xboard::run(script.as_bytes(), &mut output).unwrap();
    let output = String::from_utf8(output).unwrap();
    assert!(output.contains("\nfeature option=\"EndgamePath -path \"\n"), "{output}");
    assert!(output.contains("\n# endgames: 1 table of chess up to 3 men"), "{output}");
    assert!(output.contains("\n1 -100016 "), "{output}");
    assert!(output.contains("\ntellusererror EndgamePath: cannot list /nowhere: "), "{output}");
}
