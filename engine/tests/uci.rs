//! Whole UCI sessions: scripted ones in process, and the program itself.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use fairyforge_engine::evaluate::Weights;
use fairyforge_engine::protocol::uci;
use fairyforge_engine::search::Params;
use fairyforge_engine::search::params::Param;
use fairyforge_engine::variant::Variant;
use proptest::prelude::*;
use std::io::{self, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The answer to a whole script.
fn answer(script: impl AsRef<[u8]>) -> String {
    let mut output = Vec::new();
    uci::run(script.as_ref(), &mut output).unwrap();
    String::from_utf8(output).unwrap()
}

fn lines_with<'a>(output: &'a str, beginning: &str) -> Vec<&'a str> {
    output.lines().filter(|line| line.starts_with(beginning)).collect()
}

fn fen_after(script: &str) -> String {
    let output = answer(format!("{script}\nd\n"));
    assert!(!output.contains("info string position"), "{output}");
    lines_with(&output, "Fen: ")[0].trim_start_matches("Fen: ").into()
}

const HERCULEAN: &str = "setoption name UCI_Variant value herculean\n";
/// White may castle to either side.
const CASTLING: &str = "6k5/12/12/12/12/12/12/12/12/12/12/R5K4R w KQ - 0 1";

#[test]
fn introduces_itself() {
    let output = answer("uci\nisready\n");
    assert!(output.starts_with("id name Fairyforge"));
    let options = lines_with(&output, "option name ");
    for name in ["UCI_Variant type combo default chess", "VariantPath type string", "Hash type spin default 16"] {
        assert!(options.iter().any(|line| line.contains(name)), "{name} is missing: {output}");
    }
    for name in Variant::shipped_names() {
        assert!(options[0].contains(&format!(" var {name}")), "{name} is not offered");
    }
    assert!(output.ends_with("uciok\nreadyok\n"));
}

#[test]
fn names_the_men_that_give_check() {
    let output = answer("position startpos moves e2e4 f7f6 d1h5\nd\nposition startpos\nd\n");
    assert_eq!(lines_with(&output, "Checkers:"), ["Checkers: h5", "Checkers:"]);
}

#[test]
fn offers_games_from_files_by_name() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("by-name.toml");
    let shipped = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../configs/variants/courier.toml");
    std::fs::copy(shipped, &path).unwrap();
    let chosen = "setoption name UCI_Variant value Chess\nsetoption name UCI_Variant value By-Name\nuci\n";
    let output = answer(format!("setoption name VariantPath value {}\n{chosen}", path.display()));
    let variants = lines_with(&output, "info string variant ");
    let names: Vec<_> = variants.iter().map(|line| line.split(' ').nth(3).unwrap()).collect();
    assert_eq!(names, ["by-name", "chess", "by-name"]);
    assert!(lines_with(&output, "option name UCI_Variant")[0].ends_with(" var by-name"), "{output}");
}

#[test]
fn answers_every_go() {
    for go in ["go searchmoves e2e5", "go searchmoves zz"] {
        let output = answer(format!("{go}\n"));
        assert!(output.starts_with("info string ") && output.ends_with("bestmove (none)\n"), "{go}: {output}");
    }
}

#[test]
fn plays_every_shipped_variant() {
    for name in Variant::shipped_names() {
        let output = answer(format!("setoption name UCI_Variant value {name}\ngo depth 2\n"));
        assert_eq!(lines_with(&output, &format!("info string variant {name} files ")).len(), 1, "{output}");
        let best = lines_with(&output, "bestmove ");
        assert!(best.len() == 1 && best[0] != "bestmove (none)", "{name}: {output}");
    }
}

#[test]
fn reads_variants_from_files() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../configs/variants/shatranj.toml");
    let output = answer(format!("setoption name VariantPath value {}\nd\n", path.display()));
    assert!(output.contains("info string variant shatranj files 8 ranks 8"), "{output}");
    assert!(output.contains("Variant: shatranj"), "{output}");
}

#[test]
fn keeps_the_variant_when_another_cannot_be_had() {
    let broken = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("uci-broken.toml");
    std::fs::write(&broken, "name = 5\n[board\n").unwrap();
    for value in ["hercule", "/nowhere/at/all.toml", "/", &broken.display().to_string(), "<empty>", ""] {
        let output = answer(format!("setoption name VariantPath value {value}\nd\n"));
        assert!(output.contains("Variant: chess"), "{value}: {output}");
        let refused = !value.is_empty() && value != "<empty>";
        assert_eq!(output.contains("info string"), refused, "{value}: {output}");
    }
}

#[test]
fn counts_leaves() {
    let cases = [(HERCULEAN, 1, 44), (HERCULEAN, 2, 1_936), ("", 0, 1), ("", 3, 8_902), ("", 4, 197_281)];
    for (setting, depth, leaves) in cases {
        let output = answer(format!("{setting}position startpos\ngo perft {depth}\nisready\n"));
        assert_eq!(lines_with(&output, "Nodes searched: "), [format!("Nodes searched: {leaves}")]);
        let below = output.lines().filter_map(|line| line.split_once(": ")).filter(|(name, _)| !name.contains(' '));
        let sum: u64 = below.map(|(_, count)| count.parse::<u64>().unwrap()).sum();
        assert_eq!(sum, if depth == 0 { 0 } else { leaves }, "{output}");
        assert!(!output.contains("bestmove"));
    }
}

#[test]
fn lists_the_legal_moves() {
    let mate = "position fen R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1\nmoves\n";
    assert_eq!(answer(mate), "Moves:\n");
    assert_eq!(
        answer(format!("{HERCULEAN}position fen {CASTLING}\nmoves\n")).lines().last().unwrap(),
        "Moves: a1a10 a1a11 a1a12 a1a2 a1a3 a1a4 a1a5 a1a6 a1a7 a1a8 a1a9 a1b1 a1c1 a1d1 a1e1 a1f1 g1b1 g1c1 g1d1 g1e1 \
         g1f1 g1f1o g1f2 g1g2 g1h1 g1h1o g1h2 g1i1 g1j1 g1k1 l1h1 l1i1 l1j1 l1k1 l1l10 l1l11 l1l12 l1l2 l1l3 l1l4 l1l5 \
         l1l6 l1l7 l1l8 l1l9"
    );
}

#[test]
fn repeats_a_search_exactly() {
    let search = "ucinewgame\nposition startpos moves a3a6 b10b7\ngo nodes 5000\nisready\n";
    let output = answer(format!("{HERCULEAN}{search}{search}"));
    // Speed and time are all that may differ.
    let timeless = |line: &str| {
        let mut words = line.split(' ').collect::<Vec<_>>();
        for keyword in ["nps", "time"] {
            if let Some(index) = words.iter().position(|&word| word == keyword) {
                words.drain(index..index + 2);
            }
        }
        words.join(" ")
    };
    let said = |line: &&str| line.starts_with("info depth") || line.starts_with("bestmove");
    let lines: Vec<String> = output.lines().filter(said).map(timeless).collect();
    let (first, second) = lines.split_at(lines.len() / 2);
    assert_eq!(first, second);
    assert!(first.iter().any(|line| line.contains(" nodes 5000 ")), "{output}");
    assert!(first.last().unwrap().starts_with("bestmove "));
}

#[test]
fn finds_mate_in_one() {
    let output = answer("position fen 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1\ngo depth 3\n");
    assert!(output.contains(" score mate 1 "), "{output}");
    assert!(output.ends_with("bestmove a1a8\n"), "{output}");
}

#[test]
fn answers_where_no_move_is_legal() {
    for (fen, score) in [("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "cp 0"), ("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1", "mate 0")] {
        let output = answer(format!("position fen {fen}\ngo movetime 20\nd\n"));
        assert!(output.contains(&format!(" score {score} ")), "{output}");
        assert_eq!(lines_with(&output, "bestmove"), ["bestmove (none)"]);
        assert!(output.contains("Game over: "), "{output}");
    }
}

#[test]
fn castles_as_far_as_it_is_told() {
    let after = |text: &str| fen_after(&format!("{HERCULEAN}position fen {CASTLING} moves {text}")).replace("/12", "");
    assert_eq!(after("g1j1"), "6k5/R7RK2 b - - 1 1");
    assert_eq!(after("g1h1o"), "6k5/R5RK4 b - - 1 1");
    assert_eq!(after("g1h1"), "6k5/R6K3R b - - 1 1");
    let chess = fen_after("position startpos moves g1f3 g8f6 g2g3 g7g6 f1g2 f8g7 e1g1 e8g8");
    assert_eq!(chess, "rnbq1rk1/ppppppbp/5np1/8/8/5NP1/PPPPPPBP/RNBQ1RK1 w - - 4 5");
}

#[test]
fn sees_repetitions_of_the_game() {
    let there_and_back = "g1f3 g8f6 f3g1 f6g8";
    let script = |times| format!("position startpos moves {}\nd\n", [there_and_back].repeat(times).join(" "));
    assert!(!answer(script(1)).contains("Game over"));
    assert!(answer(script(2)).contains("Game over: draw (repetition)"));
}

#[test]
fn searches_only_the_moves_it_is_told() {
    let output = answer("go depth 4 searchmoves a2a3\ngo searchmoves h2h4 depth 3\n");
    assert_eq!(lines_with(&output, "bestmove"), ["bestmove a2a3", "bestmove h2h4"]);
    let refused = answer("go searchmoves e2e5 depth 3\nisready\n");
    assert!(refused.starts_with("info string go searchmoves") && refused.ends_with("readyok\n"), "{refused}");
}

#[test]
fn keeps_the_position_when_another_is_refused() {
    let kept = fen_after("position startpos moves e2e4");
    let refused = [
        "position",
        "position nowhere",
        "position startpos e7e5",
        "position startpos moves e2e4 e2e4",
        "position startpos moves e2e9",
        "position startpos moves zz",
        "position startpos moves K@e4",
        "position startpos moves \u{e9}4e5",
        "position fen",
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "position fen rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR x KQkq - 0 1",
        "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e4 0 1",
        "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0",
        "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 moves e2e5",
    ];
    for line in refused {
        let output = answer(format!("position startpos moves e2e4\n{line}\nd\n"));
        assert!(output.starts_with("info string position"), "{line}: {output}");
        assert!(output.contains(&kept), "{line}: {output}");
    }
}

#[test]
fn says_what_it_does_not_understand() {
    let lines = [
        "hello",
        "go depth",
        "go depth five",
        "go sideways",
        "go nodes 1e6",
        "setoption",
        "setoption name",
        "setoption name Threads value 4",
        "setoption name Hash",
        "setoption name Hash value 0",
        "setoption name Hash value lots",
        "setoption name UCI_Variant",
        "setoption name late_move_base",
        "setoption name late_move_base value 0",
        "setoption name late_move_base value 1.5",
        "setoption name late_move_bsae value 20",
        "setoption name SearchFile",
        "setoption name SearchFile value /nowhere/search.toml",
        "setoption name SearchFile value /",
        "setoption name Weights value /nowhere/weights.toml",
        "setoption name Weights value /dev/zero",
        "setoption name Weights value /",
        "setoption name EvalFile",
        "setoption name EvalFile value /nowhere/a.net",
        "setoption name EvalFile value /dev/zero",
        "setoption name EvalFile value /",
    ];
    for line in lines {
        let output = answer(format!("{line}\nisready\n"));
        assert!(output.starts_with("info string ") && output.contains("expected") || output.contains("No such file"));
        assert!(output.ends_with("\nreadyok\n"), "{line}: {output}");
        assert!(!output.contains("bestmove"), "{line}: {output}");
    }
    assert_eq!(answer("\n  \t \nregister later\ndebug on\nponderhit\nstop\n"), "");
}

#[test]
fn refuses_lines_that_are_too_long_or_no_text() {
    let mut script = vec![b'x'; (1 << 20) + 1];
    script.extend_from_slice(b"\nisready\n\xff\xfego infinite\nisready\n");
    let output = answer(script);
    assert_eq!(lines_with(&output, "readyok").len(), 2, "{output}");
    assert_eq!(lines_with(&output, "info string expected").len(), 2, "{output}");
    let long_word = answer(format!("{}\nposition startpos moves {}@e4\n", "y".repeat(1 << 19), "G".repeat(1 << 19)));
    assert!(long_word.len() < 4_000 && long_word.lines().count() == 2, "{} bytes", long_word.len());
}

#[test]
fn plays_long_games_from_the_beginning_in_no_time() {
    let moves = "g1f3 g8f6 f3g1 f6g8 ".repeat(250);
    let began = Instant::now();
    let output = answer(format!("position startpos moves {moves}\nd\n"));
    assert!(output.contains(" 1000 501\n"), "{output}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?} for 1000 plies", began.elapsed());
}

#[test]
fn uses_weights_for_their_variant_only() {
    let herculean = Variant::load("herculean").unwrap();
    let mut weights = Weights::a_priori(&herculean);
    weights.tempo = 77;
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("uci weights.toml");
    std::fs::write(&path, weights.to_toml(&herculean)).unwrap();
    let set = format!("setoption name Weights value {}\n", path.display());

    let output = answer(format!("{HERCULEAN}{set}eval\nsetoption name Weights value <empty>\neval\n"));
    assert_eq!(lines_with(&output, "Evaluation: 77 ").len(), 1, "{output}");
    assert_eq!(lines_with(&output, "Evaluation: ").len(), 2, "{output}");

    // Interfaces set options in any order.
    let output = answer(format!("{set}{HERCULEAN}eval\nsetoption name UCI_Variant value chess\neval\n"));
    assert_eq!(lines_with(&output, "Evaluation: 77 ").len(), 1, "{output}");
    assert!(output.starts_with("info string ") && output.contains("weights are for variant \"herculean\""), "{output}");
    assert!(output.contains("it is not used"), "{output}");
}

/// Nodes of each search.
fn nodes_of_searches(output: &str) -> Vec<u64> {
    let mut searches = Vec::new();
    let mut last = 0;
    for line in output.lines() {
        if let Some((_, rest)) = line.split_once(" nodes ") {
            last = rest.split(' ').next().unwrap().parse().unwrap();
        } else if line.starts_with("bestmove ") {
            searches.push(last);
        }
    }
    searches
}

/// What `params` says of one number.
fn in_force(output: &str, name: &str) -> Vec<i32> {
    let beginning = format!("info string param {name} ");
    lines_with(output, &beginning).iter().map(|line| line[beginning.len()..].parse().unwrap()).collect()
}

/// A search from nothing, to a depth at which the numbers set in these tests matter.
const SEARCH: &str = "ucinewgame\nposition startpos\ngo depth 7\n";

#[test]
fn offers_every_number_of_the_search() {
    let output = answer("uci\nparams\n");
    for row in Params::TABLE {
        let Param { name, default, min, max, .. } = row;
        let offered = format!("option name {name} type spin default {default} min {min} max {max}");
        assert_eq!(output.lines().filter(|line| **line == offered).count(), 1, "{offered}");
        assert_eq!(in_force(&output, name), [*default]);
    }
    assert_eq!(lines_with(&output, "info string param ").len(), Params::TABLE.len());
    let options = lines_with(&output, "option name ");
    let first = options.iter().position(|line| line.contains(" aspiration_depth ")).unwrap();
    assert_eq!(options.len() - first, Params::TABLE.len(), "the numbers come after the main options");
}

#[test]
fn searches_by_the_numbers_that_are_set() {
    let set = |value: i32| format!("setoption name late_move_base value {value}\n");
    let output = answer(format!("{SEARCH}{}{SEARCH}{}{SEARCH}{}{SEARCH}", set(1), set(90), set(24)));
    let nodes = nodes_of_searches(&output);
    assert_eq!(nodes[3], nodes[0], "the default, set by hand");
    assert!(nodes[1] < nodes[0] && nodes[0] < nodes[2], "the fewer moves are left out, the more nodes: {nodes:?}");
    let either_case = answer(format!("setoption name Late_Move_BASE value 1\n{SEARCH}"));
    assert_eq!(nodes_of_searches(&either_case), [nodes[1]]);
}

#[test]
fn a_number_that_is_set_forgets_what_was_searched_by_the_old_one() {
    let set = "setoption name reverse_futility_margin value 20\n";
    let go = "go depth 7\n";
    let fresh = nodes_of_searches(&answer(format!("{set}{go}")));
    assert_eq!(nodes_of_searches(&answer(format!("{go}{set}{go}")))[1..], fresh);
    // Set to what it is, nothing is forgotten: the second search finds its answers in the table.
    let again = nodes_of_searches(&answer(format!("{set}{go}{set}{go}")));
    assert!(again[1] < again[0], "{again:?}");
}

#[test]
fn numbers_stay_through_games_and_variants() {
    let set = "setoption name late_move_base value 1\nsetoption name contempt value -15\n";
    let alone = answer(format!("{set}{HERCULEAN}{SEARCH}"));
    let later = answer(format!(
        "{set}go depth 2\nucinewgame\nsetoption name UCI_Variant value makruk\nsetoption name Hash value 8\n\
         setoption name Hash value 16\nsetoption name Weights value <empty>\nsetoption name Clear Hash\ngo depth 3\n\
         {HERCULEAN}{SEARCH}params\n"
    ));
    assert_eq!(nodes_of_searches(&later)[2..], nodes_of_searches(&alone));
    assert_ne!(nodes_of_searches(&alone), nodes_of_searches(&answer(format!("{HERCULEAN}{SEARCH}"))));
    assert_eq!((in_force(&later, "late_move_base"), in_force(&later, "contempt")), (vec![1], vec![-15]));
}

#[test]
fn a_number_out_of_range_changes_nothing() {
    let output = answer(
        "setoption name late_move_base value 12\nsetoption name late_move_base value 91\n\
         setoption name late_move_base value 99999999999999999999\nsetoption name late_move_bas value 5\nparams\n",
    );
    let refused = [
        "info string setoption late_move_base: expected 1 to 90, got 91",
        "info string setoption late_move_base: expected a whole number from 1 to 90, got \"99999999999999999999\"",
    ];
    assert_eq!(output.lines().take(2).collect::<Vec<_>>(), refused);
    assert!(output.lines().nth(2).unwrap().ends_with("the nearest is \"late_move_base\""), "{output}");
    assert_eq!(in_force(&output, "late_move_base"), [12]);
}

#[test]
fn the_numbers_can_be_asked_for_while_it_searches() {
    let live = Live::begin();
    live.send("setoption name delta_margin value 99");
    live.send("go infinite");
    live.wait_for("info depth 2 ", 1);
    live.send("params");
    live.wait_for("info string param delta_margin 99", 1);
    assert_eq!(live.count("bestmove"), 0);
    live.send("setoption name delta_margin value 101");
    live.send("params");
    live.wait_for("info string param delta_margin 101", 1);
    live.end();
}

#[test]
fn reads_search_files() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (path, broken) = (folder.join("uci search.toml"), folder.join("uci-broken-search.toml"));
    std::fs::write(&path, "format = 1\n[search]\nlate_move_base = 2\ndelta_margin = 0\n").unwrap();
    std::fs::write(&broken, "format = 1\n[search]\nlate_move_base = 0\ndelta_magrin = 3\n").unwrap();
    let file = |path: &PathBuf| format!("setoption name SearchFile value {}\n", path.display());
    let output = answer(format!(
        "setoption name futility_base value 7\n{}params\n{}{}params\nsetoption name SearchFile value <empty>\nparams\n",
        file(&path),
        file(&broken),
        file(&folder.join("no-such.toml"))
    ));
    assert_eq!(in_force(&output, "late_move_base"), [2, 2, 24]);
    assert_eq!(in_force(&output, "delta_margin"), [0, 0, 150]);
    assert_eq!(in_force(&output, "futility_base"), [100, 100, 100], "a file says all numbers, the defaults too");
    let told = [
        "info string line 3: late_move_base: expected 1 to 90, got 0",
        "info string line 4: expected the name of a search parameter, got \"delta_magrin\"; the nearest is \"delta_margin\"",
    ];
    assert!(told.iter().all(|line| output.lines().any(|said| said == *line)), "{output}");
    assert_eq!(lines_with(&output, "info string search file ").len(), 2, "{output}");

    let by_hand = "setoption name late_move_base value 2\nsetoption name delta_margin value 0\n";
    let searched = |setting: &str| nodes_of_searches(&answer(format!("{setting}{SEARCH}")));
    assert_eq!(searched(&file(&path)), searched(by_hand));
    assert_ne!(searched(&file(&path)), searched(""));
}

#[test]
fn takes_clocks_of_any_kind() {
    let clocks = [
        "wtime 0 btime 0",
        "wtime -500 btime -500 winc 0 binc 0",
        "wtime 100 btime 100 movestogo 1",
        "wtime 300 winc 99999999999999999999 movestogo 0",
        "btime 18446744073709551615 depth 2",
        "wtime 99999999999999999999 winc 99999999999999999999 movestogo 99999999999 depth 2",
        "movetime 0",
        "movetime 99999999999999999999 nodes 100",
        "depth 0",
        "depth -3",
        "nodes 0",
        "depth 99999999999 nodes 500",
        "ponder wtime 10 btime 10",
    ];
    for clock in clocks {
        let output = answer(format!("go {clock}\n"));
        assert_eq!(lines_with(&output, "bestmove ").len(), 1, "{clock}: {output}");
        assert!(!output.contains("(none)"), "{clock}: {output}");
    }
}

/// Input of a session that goes on.
struct Typed {
    lines: Receiver<String>,
    rest: io::Cursor<Vec<u8>>,
}

impl Read for Typed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.rest.read(buffer)?;
        if count > 0 {
            return Ok(count);
        }
        // A keyboard that is gone is the end of the input.
        let Ok(line) = self.lines.recv() else { return Ok(0) };
        self.rest = io::Cursor::new(line.into_bytes());
        self.rest.read(buffer)
    }
}

#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A session that goes on while the test looks at it.
struct Live {
    keyboard: Sender<String>,
    screen: Screen,
    session: JoinHandle<io::Result<()>>,
}

impl Live {
    fn begin() -> Self {
        let (keyboard, lines) = channel();
        let screen = Screen::default();
        let shown = screen.clone();
        let input = BufReader::new(Typed { lines, rest: io::Cursor::default() });
        Self { keyboard, screen, session: thread::spawn(move || uci::run(input, shown)) }
    }

    fn send(&self, line: &str) {
        self.keyboard.send(format!("{line}\n")).unwrap();
    }

    fn shown(&self) -> String {
        String::from_utf8(self.screen.0.lock().unwrap().clone()).unwrap()
    }

    fn count(&self, beginning: &str) -> usize {
        lines_with(&self.shown(), beginning).len()
    }

    fn wait_for(&self, beginning: &str, times: usize) {
        let began = Instant::now();
        while self.count(beginning) < times {
            assert!(began.elapsed() < Duration::from_secs(30), "no {beginning} came: {}", self.shown());
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn end(self) -> String {
        drop(self.keyboard);
        self.session.join().unwrap().unwrap();
        String::from_utf8(self.screen.0.lock().unwrap().clone()).unwrap()
    }
}

#[test]
fn hears_while_it_searches() {
    let live = Live::begin();
    live.send("go infinite");
    live.wait_for("info depth 3 ", 1);
    live.send("isready");
    live.wait_for("readyok", 1);
    assert_eq!(live.count("bestmove"), 0);
    live.send("stop");
    live.wait_for("bestmove", 1);
    live.send("stop");
    live.send("isready");
    live.wait_for("readyok", 2);
    assert_eq!(lines_with(&live.end(), "bestmove").len(), 1);
}

#[test]
fn holds_an_answer_back_until_it_is_asked_for() {
    let live = Live::begin();
    live.send("position fen 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1");
    live.send("go infinite");
    live.wait_for("info depth 2 ", 1);
    thread::sleep(Duration::from_millis(100));
    assert_eq!(live.count("bestmove"), 0);
    live.send("stop");
    live.wait_for("bestmove a1a8", 1);
    live.end();
}

#[test]
fn a_change_ends_an_endless_search_first() {
    let changes = ["position startpos moves e2e4", "setoption name Hash value 2", "ucinewgame", "go depth 1"];
    for change in changes {
        let live = Live::begin();
        live.send("go");
        live.wait_for("info depth 1 ", 1);
        live.send(change);
        live.send("isready");
        live.wait_for("readyok", 1);
        live.wait_for("bestmove", 1);
        let output = live.end();
        let gos = 1 + usize::from(change.starts_with("go"));
        assert_eq!(lines_with(&output, "bestmove").len(), gos, "{change}: {output}");
    }
}

#[test]
fn stops_counting_leaves() {
    let live = Live::begin();
    live.send("go perft 12");
    live.send("isready");
    live.wait_for("readyok", 1);
    live.send("stop");
    live.wait_for("info string perft was stopped", 1);
    live.send("quit");
    live.end();
}

#[test]
fn ends_when_nobody_listens() {
    struct Deaf;
    impl Write for Deaf {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let error = uci::run("go infinite\nisready\n".as_bytes(), Deaf).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}

/// Words that commands are made of, with limits that keep every search short.
fn words() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "uci",
        "isready",
        "ucinewgame",
        "position",
        "startpos",
        "fen",
        "moves",
        "go",
        "depth",
        "nodes",
        "movetime",
        "wtime",
        "btime",
        "winc",
        "binc",
        "movestogo",
        "infinite",
        "searchmoves",
        "ponder",
        "stop",
        "setoption",
        "name",
        "value",
        "UCI_Variant",
        "VariantPath",
        "Hash",
        "Weights",
        "EvalFile",
        "SearchFile",
        "EndgamePath",
        "late_move_base",
        "Contempt",
        "params",
        "Clear",
        "herculean",
        "sorcerer",
        "chess",
        "d",
        "eval",
        "perft",
        "e2e4",
        "a3a6",
        "g1h1o",
        "G@e0",
        "a11a12q",
        "0",
        "1",
        "2",
        "-3",
        "8/8",
        "w",
        "-",
        "KQkq",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
    ]);
    prop_oneof![6 => known.prop_map(String::from), 1 => "\\PC{0,12}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn survives_random_commands(lines in prop::collection::vec(prop::collection::vec(words(), 0..9), 0..12)) {
        let script: String = lines.iter().map(|words| words.join(" ").replace('\n', " ") + "\n").collect();
        let output = answer(format!("{script}stop\nucinewgame\nuci\n"));
        if !script.lines().any(|line| line.trim_start().starts_with("quit")) {
            prop_assert!(output.ends_with("uciok\n"), "{}", output);
        }
    }

    #[test]
    fn survives_random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut script = bytes;
        script.extend_from_slice(b"\nisready\n");
        prop_assert!(answer(script).ends_with("readyok\n"));
    }

    #[test]
    fn survives_random_arguments(fen in "[ -~]{0,60}", move_text in "[ -~]{0,12}", value in "[ -~]{0,40}") {
        let output = answer(format!(
            "position fen {fen}\nposition startpos moves {move_text}\nsetoption name UCI_Variant value {value}\nisready\n"
        ));
        prop_assert!(output.ends_with("readyok\n"), "{}", output);
    }
}

fn program(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fairyforge-engine"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn the_program_ends_at_quit_and_at_the_end_of_input() {
    for input in
        ["uci\nisready\nquit\n", "uci\nisready\n", "uci\ngo infinite\nisready\nquit\n", "uci\ngo infinite\nisready"]
    {
        let output = program(&[], input.as_bytes());
        assert_eq!(output.status.code(), Some(0), "{input:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("uciok\n") && text.contains("readyok\n"), "{input:?}: {text}");
        assert_eq!(lines_with(&text, "bestmove").len(), usize::from(input.contains("go")), "{input:?}: {text}");
        assert!(output.stderr.is_empty());
    }
}

#[test]
fn bench_gives_the_same_number_every_time() {
    let bench = || {
        let output = program(&["bench", "--variant", "shatranj", "--depth", "3", "--json"], b"");
        assert_eq!(output.status.code(), Some(0));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let (first, second) = (bench(), bench());
    assert_eq!(first["variant"], "shatranj");
    assert_eq!(first["perft_nodes"], 68_122);
    for key in ["perft_nodes_per_second", "search_nodes", "search_nodes_per_second", "start_nodes_per_second"] {
        assert!(first[key].as_u64().is_some_and(|number| number > 0), "{key}: {first}");
    }
    assert!(first["bench"].as_u64().is_some());
    assert_eq!((&first["bench"], &first["positions"]), (&second["bench"], &second["positions"]));
}

#[test]
fn the_program_refuses_bad_arguments() {
    let cases: [&[&str]; 5] = [
        &["bench", "--variant", "hercule"],
        &["bench", "--variant", "/nowhere.toml"],
        &["bench", "--depth", "0"],
        &["bench", "--depth", "x"],
        &["benhc"],
    ];
    for arguments in cases {
        let output = program(arguments, b"");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn the_program_lists_the_numbers_of_the_search() {
    let text = String::from_utf8(program(&["params"], b"").stdout).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&program(&["params", "--json"], b"").stdout).unwrap();
    let rows = json.as_array().unwrap();
    assert_eq!(text.lines().count(), 1 + rows.len());
    for (line, row) in text.lines().skip(1).zip(rows) {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let keys = ["default", "min", "max", "step"];
        assert_eq!(Some(words[0]), row["name"].as_str());
        let numbers = words[1..5].iter().map(|word| word.parse::<i64>().unwrap());
        assert!(numbers.eq(keys.map(|key| row[key].as_i64().unwrap())), "{line}");
    }
}

#[test]
fn the_program_prints_a_search_file_to_start_from() {
    let text = String::from_utf8(program(&["params", "--toml"], b"").stdout).unwrap();
    assert_eq!(Params::read(&text), Ok(Params::default()));
    assert!(Params::TABLE.iter().all(|row| text.contains(&format!("\n{} = {}\n", row.name, row.default))), "{text}");
    assert_eq!(program(&["params", "--toml", "--json"], b"").status.code(), Some(2));
}
