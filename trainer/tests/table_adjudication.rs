//! Games that endgame tables end: what they decide and what they leave to the players, in matches, self-play and loops.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

mod common;

use common::Workplace;
use fairyforge::play::adjudication::Verdict;
use fairyforge::play::endgames::verdict;
use fairyforge::play::{
    Adjudication, Allowance, Budget, Ending, Fault, Mover, PlayedGame, Referee, Seat, Start, Thought,
};
use fairyforge_engine::endgame::{Material, Plan, Stage, Tables, Work, solve};
use fairyforge_engine::game::Game;
use fairyforge_engine::outcome::Reason;
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::Colour;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn chess() -> Arc<Variant> {
    Arc::new(Variant::load("chess").unwrap())
}

fn tables(variant: &Arc<Variant>, all_men: &[&str]) -> Tables {
    let never = AtomicBool::new(false);
    let work = Work { threads: 0, stop: &never, report: &|_: Stage| () };
    let mut tables = Tables::new();
    for men in all_men {
        for planned in &Plan::of(variant, &Material::parse(variant, men).unwrap()).unwrap().tables {
            if tables.get(&planned.material).is_none() {
                tables.insert(solve(variant, planned, &tables, &work).unwrap());
            }
        }
    }
    tables
}

/// Plays moves as they are written, and says the same score each time.
struct Scripted(Vec<&'static str>, Option<i32>);

impl Mover for Scripted {
    fn new_game(&mut self, _: &Game) -> Result<(), Fault> {
        Ok(())
    }

    fn choose(&mut self, game: &Game, _: &Budget, _: &AtomicBool) -> Result<Thought, Fault> {
        assert!(!self.0.is_empty(), "asked for one move more: {}", game.position().fen());
        let mv = game.position().parse_move(self.0.remove(0)).unwrap();
        Ok(Thought { mv, score: self.1, depth: 0, nodes: 0 })
    }
}

fn played(tables: &Tables, fen: &str, white: Scripted, black: Scripted) -> PlayedGame {
    let adjudication = Adjudication { win_moves: 1, win_margin: 500, ..Adjudication::default() };
    let (start, stop) = (Position::from_fen(&chess(), fen).unwrap(), AtomicBool::new(false));
    let (adjudication, endgames) = (&adjudication, Some(tables));
    let referee = Referee { adjudication, endgames, time_margin: Duration::ZERO, stop: &stop };
    let mut movers = [white, black];
    let mut seats = movers.each_mut().map(|mover| Seat { mover, allowance: Allowance::nodes(1) });
    referee.play(Start { position: &start, plies: 0 }, &mut seats, |_, _| ()).unwrap()
}

#[test]
fn a_game_ends_where_a_table_knows_its_result() {
    let tables = tables(&chess(), &["K+R v K", "K+N v K"]);
    let none = || Scripted(Vec::new(), None);
    let one = |mv| Scripted(vec![mv], None);
    for (fen, white, black, ending, plies, termination) in [
        ("8/8/8/3k4/8/1n6/8/1R2K3 w - - 9 40", one("b1b3"), none(), Verdict::TableWin(Colour::White), 1, "win"),
        ("8/8/8/3k4/2R5/1n6/8/4K3 b - - 9 40", none(), one("d5c4"), Verdict::TableDraw, 1, "draw"),
        // Black's rook, of which there is no table of its own.
        ("8/8/8/3k4/2N5/8/4K3/2r5 b - - 9 40", none(), one("c1c4"), Verdict::TableWin(Colour::Black), 1, "win"),
        // It was known from the start.
        ("8/8/8/3k4/8/8/8/1R2K3 w - - 0 1", none(), none(), Verdict::TableWin(Colour::White), 0, "win"),
    ] {
        let game = played(&tables, fen, white, black);
        assert_eq!(game.ending, Ending::Adjudicated(ending), "{fen}");
        assert_eq!(
            (game.moves.len(), game.ending.termination()),
            (plies, format!("adjudicated {termination} by table"))
        );
        let result = match ending {
            Verdict::TableWin(Colour::White) => 1,
            Verdict::TableWin(Colour::Black) => -1,
            _ => 0,
        };
        assert_eq!(game.result(), result, "{fen}");
    }
}

/// The rules go before tables, tables before scores.
#[test]
fn rules_go_before_tables_and_tables_before_scores() {
    let tables = tables(&chess(), &["K+R v K", "K+N v K"]);
    let agreed = |moves, score| Scripted(moves, Some(score));
    // Mate with a capture.
    let fen = "n3k3/8/4K3/8/8/8/8/R7 w - - 0 1";
    let game = played(&tables, fen, agreed(vec!["a1a8"], 900), agreed(vec![], -900));
    assert!(matches!(game.ending, Ending::Rules(outcome) if outcome.reason == Reason::Checkmate), "{:?}", game.ending);
    // Both see White winning after a full move, and the table a draw.
    let fen = "8/8/2k5/8/4n3/2N5/8/4K3 b - - 0 1";
    let game = played(&tables, fen, agreed(vec!["c3e4"], 900), agreed(vec!["c6c7"], -900));
    assert_eq!(game.ending, Ending::Adjudicated(Verdict::TableDraw));
}

/// K+R v K, lost in 32 plies.
fn lost_in_32(count: u32) -> Game {
    Game::new(Position::from_fen(&chess(), &format!("8/8/8/8/8/8/2Rk4/1K6 b - - {count} 1")).unwrap())
}

#[test]
fn a_win_that_the_move_count_may_take_away_is_played() {
    let tables = tables(&chess(), &["K+R v K"]);
    assert_eq!(verdict(&tables, &lost_in_32(68)), Some(Verdict::TableWin(Colour::White)));
    assert_eq!(verdict(&tables, &lost_in_32(69)), None);
    // A move that hurts the loser brings the win back into reach.
    let mut game = lost_in_32(69);
    let worse = game.position().legal_moves().into_iter().find(|&mv| {
        let mut after = game.clone();
        after.play(mv);
        tables.probe(after.position()).is_some_and(|value| value.plies < 30 && value.plies > 0)
    });
    game.play(worse.expect("there is a worse move"));
    assert_eq!(verdict(&tables, &game), Some(Verdict::TableWin(Colour::White)));
}

#[test]
fn a_win_that_repetition_may_take_away_is_played() {
    let tables = tables(&chess(), &["K+R v K"]);
    let mut game = Game::new(Position::from_fen(&chess(), "8/8/8/3k4/8/8/8/1R2K3 w - - 0 1").unwrap());
    for text in ["b1b2", "d5d4", "b2b1", "d4d5"] {
        assert!(verdict(&tables, &game).is_some(), "before {text}");
        game.play(game.position().parse_move(text).unwrap());
    }
    // The start stands on the board for the second time; a third time would draw, and no way to the end leads there.
    assert!(verdict(&tables, &game).is_some());
    game.play(game.position().parse_move("b1b2").unwrap());
    assert_eq!(verdict(&tables, &game), None, "the start may come for the third time");
}

const MEN: [&str; 3] = ["K+R v K", "K+N v K", "K+Q v K"];

fn build(place: &Workplace, variant: &str, men: &[&str], folder: &str) {
    for men in men {
        place
            .run_args(&["endgame", "build", "--variant", variant, "--men", men, "--out", folder, "--threads", "2"])
            .succeeded();
    }
}

/// Endings of four men, of which the tables have those after a capture.
const BOOK: &str = "8/8/3k4/3n4/8/8/8/R3K3 w - -\n8/2k5/8/8/4K3/8/r7/N7 w - -\n8/8/3kq3/8/8/8/8/Q3K3 w - -\n\
                    3k4/8/8/3n4/3N4/8/8/3K4 w - -\n7k/8/8/3r4/3N4/8/8/K7 b - -\n8/8/8/2kqQ3/8/8/8/4K3 w - -\n";

fn games(place: &Workplace, journal: &str) -> Vec<Value> {
    place.read(journal).lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn by_table(games: &[Value]) -> usize {
    games.iter().filter(|game| game["termination"].as_str().unwrap().ends_with(" by table")).count()
}

const MATCH: &str = "match --variant chess --player name=a,nodes=60 --player name=b,nodes=90 --pairs 12 --openings book.epd \
                     --most-plies 120 --win off --draw off --out run --endgames tables";

fn play(place: &Workplace, threads: usize) -> common::Ended {
    let line = format!("{MATCH} --threads {threads}");
    let words: Vec<String> = line.split_whitespace().map(|word| word.replace(',', " ")).collect();
    place.run_args(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_match_is_adjudicated_by_tables_on_any_number_of_threads() {
    let place = Workplace::new();
    build(&place, "chess", &MEN, "tables");
    place.write("book.epd", BOOK);
    play(&place, 1).succeeded();
    let all = games(&place, "run/journal.jsonl");
    assert!(by_table(&all) > 5, "{:?}", all.iter().map(|game| game["termination"].to_string()).collect::<Vec<_>>());
    let verified = place.run("match verify run").succeeded();
    assert!(verified.starts_with("24 games, 0 problems"), "{verified}");
    let plan: toml::Table = place.read("run/plan.toml").parse().unwrap();
    let adjudication = plan["adjudication"].as_table().unwrap();
    assert_eq!(adjudication["endgames"].as_str(), Some("tables"));
    assert_eq!(adjudication["endgames_digest"].as_str().map(str::len), Some(64));

    let undisturbed = place.files("run");
    std::fs::remove_dir_all(place.path("run")).unwrap();
    play(&place, 3).succeeded();
    place.assert_same_run("run", &undisturbed);

    // A game that goes on after its end, and one that a table does not end so.
    let journal = place.read("run/journal.jsonl");
    place.write("run/journal.jsonl", &journal.replacen(" by table", "", 1));
    place.run("match verify run").failed(1);
    place.write("run/journal.jsonl", &journal);

    // Other tables are other conditions.
    std::fs::remove_file(place.path("tables/KNvK.table")).unwrap();
    place.run("match verify run").refused(2, &["expected the tables of digest", "tables"]);
    play(&place, 1).failed(2);
    std::fs::remove_dir_all(place.path("tables")).unwrap();
    play(&place, 1).refused(2, &["cannot list tables"]);
}

#[test]
fn tables_that_cannot_be_used_are_refused_before_the_first_game() {
    let place = Workplace::new();
    build(&place, "chess", &["K+R v K"], "tables");
    place.write("book.epd", BOOK);
    let path = place.path("tables/KRvK.table");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    play(&place, 1).refused(2, &["KRvK.table", "bytes more"]);
    std::fs::write(&path, &whole).unwrap();
    let selfplay = "selfplay --variant shatranj --games 2 --nodes 20 --seed 1 --out own --endgames tables";
    place.run(selfplay).refused(2, &["KRvK.table", "rules of shatranj"]);
    std::fs::create_dir(place.path("empty")).unwrap();
    place.run(&selfplay.replace("tables", "empty")).refused(2, &["expected tables of shatranj in empty"]);
    let text = common::tiny_plan("chess", 1, "").replace("[match]", "endgames_digest = \"00\"\n[match]");
    place.write("plan.toml", &text);
    place.run("loop plan.toml --out loop").refused(2, &["adjudication.endgames_digest", "endgames too"]);
    assert!(!place.path("run").exists() && !place.path("own").exists() && !place.path("loop").exists());
}

/// A board so small that games come to three men.
const SMALL: &str = "format = 1\n[variant]\nname = \"small\"\n[board]\nsetup = \"\"\"\nr n k n r\np p p p p\n. . . . .\nP P P P P\nR N K N R\n\"\"\"\n\
    [zones]\nlast = \"rank 5\"\n[pieces]\nking = { letter = \"K\", moves = \"K\" }\nrook = { letter = \"R\", moves = \"R\" }\n\
    knight = { letter = \"N\", moves = \"N\" }\npawn = { letter = \"P\", moves = \"fmWfcF\" }\n\
    [promotion]\nwho = [\"pawn\"]\nzone = \"last\"\nmust = true\nalways = [\"rook\"]\n";

#[test]
fn loops_and_selfplay_are_adjudicated_by_tables() {
    let place = Workplace::new();
    std::fs::create_dir(place.path("plans")).unwrap();
    place.write("small.toml", SMALL);
    place.write("plans/small.toml", SMALL);
    build(&place, "small.toml", &["K+R v K", "K+N v K", "K+P v K"], "plans/tables");
    let rules = "win_moves = 0\ndraw_moves = 0\nendgames = \"tables\"\n";
    let text = common::tiny_plan("small.toml", 1, "").replace("pairs = 6", "pairs = 30");
    let text = text.replace("most_plies = 120\n", &format!("most_plies = 120\n{rules}"));
    place.write("plans/plan.toml", &text);
    place.run("loop plans/plan.toml --out run --threads 1").succeeded();
    let plan: toml::Table = place.read("run/plan.toml").parse().unwrap();
    let digest = |part: &str| plan[part]["adjudication"]["endgames_digest"].as_str().map(str::to_owned);
    assert!(digest("selfplay").is_some_and(|digest| digest.len() == 64) && digest("selfplay") == digest("match"));
    assert!(by_table(&games(&place, "run/gate/001-vs-000.jsonl")) > 0);
    let exported = place.run("pgn export run --variant small.toml --out -").succeeded();
    assert!(exported.matches(" by table\"]").count() > by_table(&games(&place, "run/gate/001-vs-000.jsonl")));
    place.run("loop plans/plan.toml --out again --threads 3").succeeded();
    assert_eq!(place.digest("again"), place.digest("run"));

    let selfplay = "selfplay --variant small.toml --games 60 --nodes 30 --seed 5 --endgames plans/tables";
    for (threads, out) in [(1, "one"), (3, "three")] {
        place.run(&format!("{selfplay} --threads {threads} --out {out}")).succeeded();
    }
    assert_eq!(place.digest("one"), place.digest("three"));
    place.run("data verify one").succeeded();
    let exported = place.run("pgn export one --variant small.toml --out -").succeeded();
    assert!(exported.contains("adjudicated win by table") && exported.contains("adjudicated draw by table"));
}
