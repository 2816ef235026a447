//! What match runners are known to get wrong, as far as no other test has it: ends of games, failures in the middle of a
//! match, results that cannot be written, Ctrl-C, journals of other rules. `docs/matches.md` lists which test holds what.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

mod common;

use common::{Ended, Workplace};
use fairyforge::play::adjudication::{Counts, Verdict};
use fairyforge::play::{
    Adjudication, Allowance, Budget, Ending, Fault, Mover, PlayedGame, Referee, Seat, Start, Thought,
};
use fairyforge::selfplay::seeds::Dice;
use fairyforge_engine::game::Game;
use fairyforge_engine::outcome::Reason;
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::Colour;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// When a game ends by these scores, ply by ply from the mover's view, as the words of [`Adjudication`] have it: every
/// ply is looked at with what went before it, and nothing is counted.
fn end_in_words(rules: &Adjudication, opening: u32, first: Colour, scores: &[Option<i32>]) -> Option<(usize, Verdict)> {
    let mover = |place: usize| if place.is_multiple_of(2) { first } else { first.opponent() };
    let ahead = |place: usize| match scores[place] {
        Some(score) if score >= rules.win_margin => Some(mover(place)),
        Some(score) if score <= -rules.win_margin => Some(mover(place).opponent()),
        _ => None,
    };
    let level = |place: usize| scores[place].is_some_and(|score| score.abs() <= rules.draw_margin);
    let last = |end: usize, moves: u32| {
        let begin = (end + 1).checked_sub(2 * moves as usize).filter(|_| moves > 0);
        begin.map(|begin| begin..=end)
    };
    (0..scores.len()).find_map(|ply| {
        let plies = opening + ply as u32 + 1;
        let agreed = |side, span: RangeInclusive<usize>| span.into_iter().all(|place| ahead(place) == Some(side));
        let winner = last(ply, rules.win_moves)
            .and_then(|span| Colour::BOTH.into_iter().find(|&side| agreed(side, span.clone())));
        let drawn =
            plies >= 2 * rules.draw_from_move && last(ply, rules.draw_moves).is_some_and(|mut span| span.all(level));
        let verdict = match winner {
            Some(side) => Some(Verdict::Win(side)),
            None if drawn => Some(Verdict::Draw),
            None => (plies >= rules.most_plies).then_some(Verdict::PlyLimit),
        };
        verdict.map(|verdict| (ply, verdict))
    })
}

/// Whoever moves first, after openings of even and of odd length, with scores that are missing.
#[test]
fn adjudication_is_what_its_words_say() {
    let mut dice = Dice::new(1, 0);
    let mut seen = BTreeSet::new();
    for _ in 0..20_000 {
        let rules = Adjudication {
            draw_from_move: 1 + dice.below(6) as u32,
            draw_moves: dice.below(4) as u32,
            draw_margin: 10,
            win_moves: dice.below(4) as u32,
            win_margin: 500,
            most_plies: 10 + dice.below(20) as u32,
            ..Adjudication::default()
        };
        let opening = dice.below(5) as u16;
        let first = *dice.pick(&Colour::BOTH).unwrap();
        // Long stretches of one opinion, seen from the mover's side, with a little noise.
        let opinions = [Some(0), Some(10), Some(-10), Some(500), Some(-900), Some(499), Some(11), None];
        let mut opinion = None;
        let scores: Vec<Option<i32>> = (0..40)
            .map(|ply| {
                if dice.chance(0.2) {
                    opinion = *dice.pick(&opinions).unwrap();
                }
                if ply % 2 == 0 { opinion } else { opinion.map(|score: i32| -score) }
            })
            .collect();
        let mut counts = Counts::after(opening);
        let sides = [first, first.opponent()].into_iter().cycle();
        let got = scores
            .iter()
            .zip(sides)
            .enumerate()
            .find_map(|(place, (&score, side))| counts.hear(&rules, side, score).map(|verdict| (place, verdict)));
        assert_eq!(
            got,
            end_in_words(&rules, opening.into(), first, &scores),
            "{rules:?} {opening} {first:?} {scores:?}"
        );
        seen.insert(got.map(|(_, verdict)| format!("{verdict:?}")));
    }
    assert_eq!(seen.len(), 4, "draws, wins of both sides, long games: {seen:?}");
}

/// Makes the moves it was told to and says the score it was told to.
struct Scripted {
    moves: Vec<&'static str>,
    score: Option<i32>,
}

impl Mover for Scripted {
    fn new_game(&mut self, _: &Game) -> Result<(), Fault> {
        Ok(())
    }

    fn choose(&mut self, game: &Game, _: &Budget, _: &AtomicBool) -> Result<Thought, Fault> {
        assert_eq!(game.outcome(), None, "asked for a move after the end");
        let mv = game.position().parse_move(self.moves.remove(0)).unwrap();
        Ok(Thought { mv, score: self.score, depth: 1, nodes: 1 })
    }
}

/// Makes any move, and is never asked when the game is over.
struct AnyMove(Dice);

impl Mover for AnyMove {
    fn new_game(&mut self, _: &Game) -> Result<(), Fault> {
        Ok(())
    }

    fn choose(&mut self, game: &Game, _: &Budget, _: &AtomicBool) -> Result<Thought, Fault> {
        assert_eq!(game.outcome(), None, "asked for a move after the end: {}", game.position().fen());
        let mv = *self.0.pick(&game.position().legal_moves()).unwrap();
        Ok(Thought { mv, score: None, depth: 0, nodes: 0 })
    }
}

fn played(start: &Position, adjudication: &Adjudication, movers: [&mut dyn Mover; 2]) -> PlayedGame {
    let stop = AtomicBool::new(false);
    let referee = Referee { adjudication, endgames: None, time_margin: Duration::ZERO, stop: &stop };
    let mut seats = movers.map(|mover| Seat { mover, allowance: Allowance::nodes(1) });
    referee.play(Start { position: start, plies: 0 }, &mut seats, |_, _| ()).unwrap()
}

/// One full move of agreement makes a win, and the same move mates, or stalemates.
#[test]
fn the_rules_go_before_what_the_scores_agree_on() {
    let chess = Arc::new(Variant::load("chess").unwrap());
    let hasty = Adjudication { win_moves: 1, ..Adjudication::default() };
    for (fen, black, white, reason, result) in [
        ("6k1/5ppp/8/8/8/8/8/R5K1 b - - 0 1", "g8h8", "a1a8", Some(Reason::Checkmate), 1),
        ("1k6/8/4Q3/8/8/8/8/6K1 b - - 0 1", "b8a8", "e6b6", Some(Reason::Stalemate), 0),
        ("1k6/8/4Q3/8/8/8/8/6K1 b - - 0 1", "b8a8", "e6c6", None, 1),
    ] {
        let start = Position::from_fen(&chess, fen).unwrap();
        let mut white = Scripted { moves: vec![white], score: Some(2_000) };
        let mut black = Scripted { moves: vec![black], score: Some(-2_000) };
        let game = played(&start, &hasty, [&mut white, &mut black]);
        let by_rules = match game.ending {
            Ending::Rules(outcome) => Some(outcome.reason),
            Ending::Adjudicated(Verdict::Win(Colour::White)) => None,
            other => panic!("{other:?}"),
        };
        assert_eq!((by_rules, game.result(), game.moves.len()), (reason, result, 2), "{fen}");
    }
}

/// Repetition and the move count end a game at the ply at which they come true, before anybody is asked again.
#[test]
fn nobody_is_asked_for_a_move_in_a_game_that_is_over() {
    let chess = Arc::new(Variant::load("chess").unwrap());
    let rules = Adjudication::default();
    let start = Position::start(&chess);
    let mut white = Scripted { moves: ["g1f3", "f3g1"].repeat(2), score: None };
    let mut black = Scripted { moves: ["g8f6", "f6g8"].repeat(2), score: None };
    let game = played(&start, &rules, [&mut white, &mut black]);
    assert_eq!((game.ending.termination().as_str(), game.moves.len()), ("repetition", 8));
    let late = Position::from_fen(&chess, "k7/8/8/8/8/8/8/K6R w - - 97 80").unwrap();
    let mut white = Scripted { moves: vec!["h1h2", "h2h3"], score: None };
    let mut black = Scripted { moves: vec!["a8b8"], score: None };
    let game = played(&late, &rules, [&mut white, &mut black]);
    assert_eq!((game.ending.termination().as_str(), game.moves.len()), ("move count", 3));

    let mut ends = BTreeSet::new();
    for name in ["chess", "herculean", "sorcerer-reinforcements", "opulent-lemurian-shatranj", "shatranj", "makruk"] {
        let variant = Arc::new(Variant::load(name).unwrap());
        for number in 0..8 {
            let [mut white, mut black] = [0, 1].map(|side| AnyMove(Dice::new(number, side)));
            let game = played(&Position::start(&variant), &rules, [&mut white, &mut black]);
            ends.insert(game.ending.termination());
        }
    }
    assert!(ends.contains("bare king") && ends.contains("checkmate"), "{ends:?}");
}

/// A journal without its header, read as JSON.
fn games(place: &Workplace, run: &str) -> Vec<Value> {
    let journal = place.read(&format!("{run}/journal.jsonl"));
    journal.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The last line of a match in JSON.
fn result(stdout: &str) -> Value {
    serde_json::from_str(stdout.lines().last().unwrap()).unwrap()
}

/// All keys of the objects in a value.
fn keys(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                into.insert(key.clone());
                keys(value, into);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| keys(value, into)),
        _ => {}
    }
}

fn document(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap()
}

/// Every key that scripts may meet stands in the documents, as code.
#[test]
fn the_keys_of_matches_are_documented() {
    let place = Workplace::new();
    let told = |players: &[&str], rest: &str, out: &str| {
        let mut args = vec!["match", "--variant", "chess", "--json", "--out", out];
        players.iter().for_each(|player| args.extend(["--player", player]));
        result(&place.run_args(&args.into_iter().chain(rest.split(' ')).collect::<Vec<_>>()).succeeded())
    };
    let two = ["name=one", "name=two option.late_move_base=12"];
    let tested = told(&two, "--nodes 20 --pairs 3 --elo0 0 --elo1 5", "tested");
    assert_eq!((&tested["sprt"]["decision"], &tested["games"]), (&Value::from("continue"), &Value::from(6)));
    let many = told(&[two[0], two[1], "name=three nodes=10"], "--nodes 20 --pairs 2", "many");
    let timed = told(&two, "--tc 0.2+0.01 --nodes 50 --pairs 1 --time-margin 5000", "timed");

    // Players' names are keys of `faults`.
    let mut met =
        ["event", "seconds_left", "time-forfeit", "no-answer", "crash", "illegal-move"].map(String::from).into();
    for result in [&tested, &many, &timed] {
        keys(result, &mut met);
    }
    let text = document("docs/matches.md");
    for key in met.iter().filter(|key| !["one", "two", "three"].contains(&key.as_str())) {
        assert!(text.contains(&format!("`{key}`")), "docs/matches.md does not tell of `{key}`");
    }

    let mut met = ["fault", "player", "kind", "detail"].map(String::from).into();
    for run in ["tested", "timed"] {
        let journal = place.read(&format!("{run}/journal.jsonl"));
        journal.lines().for_each(|line| keys(&serde_json::from_str(line).unwrap(), &mut met));
    }
    let settings: Value = serde_json::from_str(place.read("tested/journal.jsonl").lines().next().unwrap()).unwrap();
    let is_setting = |key: &str| settings["players"][0]["effective"].get(key).is_some();
    let text = document("docs/formats/journal.md");
    for key in met.iter().filter(|key| !is_setting(key)) {
        assert!(text.contains(&format!("`{key}`")), "docs/formats/journal.md does not tell of `{key}`");
    }
}

/// A table that says which test holds what is worth something only while the tests are there.
#[test]
fn the_tests_named_in_the_documents_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut code = String::new();
    let mut folders = vec![root.join("src"), root.join("tests"), root.join("../engine")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                code.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    let text = document("docs/matches.md");
    let rows = text.lines().skip_while(|line| !line.ends_with("| held by |")).skip(2);
    let rows: Vec<&str> = rows.take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 10, "{rows:?}");
    for row in rows {
        let held_by = row.trim_end_matches('|').rsplit('|').next().unwrap();
        let names: Vec<&str> = held_by.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "{row}");
        for name in names {
            assert!(code.contains(&format!("fn {name}()")), "no test is called {name}");
        }
    }
}

/// What is made of the journal finds no room: told, and made by the same command later.
#[test]
fn results_that_cannot_be_written_are_told_and_made_later() {
    let place = Workplace::new();
    let line = "match --variant chess --a a-priori --b a-priori --pairs 2 --nodes 20 --seed 3 --out run";
    place.run(line).succeeded();
    let sound = place.files("run");
    for file in ["run/games.pgn", "run/result.json"] {
        std::fs::remove_file(place.path(file)).unwrap();
        std::fs::create_dir(place.path(file)).unwrap();
        place.run(line).refused(1, &["the games are safe in the journal", file]);
        std::fs::remove_dir(place.path(file)).unwrap();
        place.run(line).succeeded();
        place.assert_same_run("run", &sound);
    }
}

#[test]
fn more_games_at_the_same_time_than_cores_are_warned_of() {
    let place = Workplace::new();
    let threads = std::thread::available_parallelism().unwrap().get() + 1;
    for (limit, warned) in [("--nodes 20", false), ("--nodes 20 --tc 60", true)] {
        let out = if warned { "clocks" } else { "nodes" };
        let line = format!("match --variant chess --a a-priori --b a-priori --pairs 1 --out {out} {limit}");
        let told = |threads| place.run(&format!("{line} --threads {threads}")).stderr.contains("at the same time on");
        assert_eq!((told(threads), told(1)), (warned, false), "{limit}");
    }
}

#[test]
fn openings_used_again_are_noted() {
    let place = Workplace::new();
    place.write("book.epd", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n");
    let line = "match --variant chess --a a-priori --b a-priori --nodes 20 --openings book.epd";
    for (pairs, times) in [(1, 0), (3, 2)] {
        place.run(&format!("{line} --pairs {pairs} --out {pairs}")).succeeded();
        let events = place.read(&format!("{pairs}/events.jsonl"));
        let mut events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let noted = events.find(|event| event["event"] == "openings used again");
        assert_eq!(noted.map_or(0, |event| event["times"].as_u64().unwrap()), times);
    }
}

#[test]
fn a_journal_of_other_rules_is_refused() {
    let place = Workplace::new();
    let line = "match --variant chess --a a-priori --b a-priori --pairs 2 --nodes 20 --seed 3 --out run";
    place.run(line).succeeded();
    let chess = Variant::load("chess").unwrap().rules_hash().to_owned();
    let other = Variant::load("shatranj").unwrap().rules_hash().to_owned();
    for (file, status, words) in
        [("run/journal.jsonl", 1, "expected the rules hash"), ("run/plan.toml", 2, "rules_hash: recorded")]
    {
        let sound = place.read(file);
        place.write(file, &sound.replace(&chess, &other));
        place.run(line).refused(status, &[words, &other]);
        let verified = place.run("match verify run");
        assert!(format!("{verified:?}").contains("expected the rules hash"), "{verified:?}");
        assert_ne!(verified.status, Some(0));
        place.write(file, &sound);
    }
    place.run("match verify run").succeeded();
}

#[cfg(unix)]
mod outside {
    use super::*;
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Child, Command, Stdio};

    fn engine() -> String {
        common::our_engine().display().to_string()
    }

    /// A script that passes lines on to our engine; `case` is looked at first.
    fn filter(place: &Workplace, case: &str) {
        let script =
            "turns=0\nwhile read -r line; do\n  case \"$line\" in CASE\n  esac\n  echo \"$line\"\ndone | ENGINE\n";
        place.write("filter.sh", &script.replace("CASE", case).replace("ENGINE", &engine()));
    }

    /// A match of our engine against the script, which has limits of its own.
    fn against_filter(place: &Workplace, limits: &str, rest: &str) -> Ended {
        let rogue = format!("cmd='sh filter.sh' name=rogue {limits}");
        let mut args = vec!["match", "--variant", "chess", "--json", "--out", "run"];
        args.extend(["--player", "name=good nodes=20", "--player", &rogue]);
        place.run_args(&args.into_iter().chain(rest.split(' ')).collect::<Vec<_>>())
    }

    /// It dies again and again in the middle of games, is started anew, and its pairs without failures count.
    #[test]
    fn a_player_that_crashes_is_started_again_and_its_other_pairs_count() {
        let place = Workplace::new();
        filter(
            &place,
            "'go nodes'*) turns=$((turns + 1)); if [ $turns = 150 ]; then echo 'out of luck' >&2; exit 1; fi;;",
        );
        let told = result(&against_filter(&place, "nodes=20", "--pairs 6 --breakdowns 12 --threads 1").succeeded());
        let (meeting, crashes) = (&told["meetings"][0], told["faults"]["rogue"]["crash"].as_u64().unwrap());
        let failed: Vec<Value> = games(&place, "run").into_iter().filter(|game| !game["fault"].is_null()).collect();
        assert_eq!(failed.len() as u64, crashes);
        for game in &failed {
            assert_eq!((&game["fault"]["player"], &game["termination"]), (&Value::from(1), &Value::from("crash")));
            assert!(game["fault"]["detail"].as_str().unwrap().contains("its last words: out of luck"), "{game}");
        }
        let faulty: BTreeSet<u64> = failed.iter().map(|game| game["pair"].as_u64().unwrap()).collect();
        assert!((1..6).contains(&faulty.len()), "some pairs fail and some do not: {faulty:?}");
        assert_eq!(meeting["faulty_pairs"], faulty.len());
        let counted: u64 = ["wins", "draws", "losses"].iter().map(|key| meeting["games"][key].as_u64().unwrap()).sum();
        assert_eq!(counted, 2 * (6 - faulty.len() as u64), "{meeting}");
        place.run("match verify run").succeeded();
    }

    /// A move that comes too late is not made; it costs the pair its place in the tables, and no breakdown.
    #[test]
    fn games_lost_on_time_are_a_class_of_their_own() {
        let place = Workplace::new();
        filter(&place, "'go movetime'*) turns=$((turns + 1)); if [ $turns = 3 ]; then sleep 1.5; fi;;");
        let ended = against_filter(&place, "tc=0.02/move", "--time-margin 1000 --pairs 1 --breakdowns 0");
        let told = result(&ended.stdout);
        assert!(ended.failed(1).contains("nothing counts: a player failed in each of the 1 pairs"));
        assert_eq!(told["faults"]["rogue"]["time-forfeit"], 2);
        let meeting = &told["meetings"][0];
        assert_eq!((&meeting["faulty_pairs"], &meeting["games"]["losses"]), (&1.into(), &0.into()));
        for game in games(&place, "run") {
            let colour = if game["white"] == 1 { 0 } else { 1 };
            let moves = game["moves"].as_str().unwrap().split(' ').count();
            let opening = usize::from(game["fen"].as_str().unwrap().contains(" b "));
            assert_eq!((moves + opening) % 2, colour, "the side to move is the one that was late");
            assert!(game["fault"]["detail"].as_str().unwrap().ends_with(" ms too late"), "{game}");
        }
        assert_eq!(place.read("run/games.pgn").matches("[Termination \"time forfeit\"]").count(), 2);
        place.run("match verify run").succeeded();
    }

    /// A pawn that never moves two squares, under the name of chess: refused before there is a journal.
    #[test]
    fn a_match_against_other_rules_is_refused_before_the_first_game() {
        let place = Workplace::new();
        let chess = document("configs/variants/chess.toml");
        assert!(chess.contains("fmWfcFifmnD"));
        place.write("other.toml", &chess.replace("fmWfcFifmnD", "fmWfcF"));
        place.run("variant check other.toml").succeeded();
        let rogue = format!("cmd={} name=rogue option.VariantPath=other.toml", engine());
        let line = "match --variant chess --nodes 20 --pairs 1 --out run --player weights=a-priori --player";
        let args: Vec<&str> = line.split(' ').chain([rogue.as_str()]).collect();
        place.run_args(&args).refused(2, &["rogue", "by other rules", "only we have a2a4, b2b4"]);
        assert!(!place.path("run").exists());
    }

    /// Whether a process is there and not only waiting to be buried.
    fn lives(process: &str) -> bool {
        let state = Command::new("ps").args(["-o", "stat=", "-p", process]).stderr(Stdio::null()).output();
        let state = String::from_utf8(state.unwrap().stdout).unwrap();
        !state.trim().is_empty() && !state.trim().starts_with('Z')
    }

    /// A failing test leaves nothing running.
    struct KilledAtTheEnd(Child);

    impl Drop for KilledAtTheEnd {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// The first Ctrl-C waits a while for the engine's move, which never comes; the second kills it, wherever the match is.
    /// A terminal sends Ctrl-C to a whole group of processes, so engines lead groups of their own.
    #[test]
    fn a_second_interrupt_ends_everything_at_once() {
        let place = Workplace::new();
        place.write(
            "deaf.sh",
            "trap '' INT TERM HUP
            while read -r line; do
                case \"$line\" in
                    uci) echo uciok;;
                    isready) echo readyok;;
                    'go perft'*) echo unknown command;;
                    go*) echo $$ >pid.tmp; mv pid.tmp pid; exec sleep 100;;
                esac
            done\n",
        );
        let line = "match --variant chess --player weights=a-priori --nodes 20 --pairs 1 --out run";
        let mut command = place.command(line);
        let mut running = KilledAtTheEnd(command.args(["--player", "cmd='sh deaf.sh'"]).spawn().unwrap());
        let mut told = BufReader::new(running.0.stderr.take().unwrap());
        while !place.path("pid").exists() {
            assert!(running.0.try_wait().unwrap().is_none(), "ended before the engine began");
            std::thread::sleep(Duration::from_millis(1));
        }
        let engine = place.read("pid").trim().to_owned();
        let group = Command::new("ps").args(["-o", "pgid=", "-p", &engine]).output().unwrap().stdout;
        assert_eq!(String::from_utf8(group).unwrap().trim(), engine);
        let interrupt = || Command::new("kill").args(["-INT", &running.0.id().to_string()]).status().unwrap();
        assert!(interrupt().success());
        let mut line = String::new();
        while !line.contains("once more to stop at once") {
            assert_ne!(told.read_line(&mut line).unwrap(), 0, "{line}");
        }
        assert!(lives(&engine));
        assert!(interrupt().success());
        assert_eq!(running.0.wait().unwrap().code(), Some(130));
        told.read_to_string(&mut line).unwrap();
        assert!(!line.contains("the same command continues"), "that is how the first ends: {line}");
        assert!(!lives(&engine), "left behind");
    }
}
