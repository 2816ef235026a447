//! Whole sessions in XBoard's protocol: scripted ones, live ones, and two engines that play each other through a
//! referee.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use fairyforge_engine::pgn::{NamedVariants, PgnReader, PgnResult};
use fairyforge_engine::protocol::{converse, xboard};
use fairyforge_engine::variant::Variant;
use proptest::prelude::*;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

/// The answer to a whole script.
fn answer(script: impl AsRef<[u8]>) -> String {
    let mut output = Vec::new();
    xboard::run(script.as_ref(), &mut output).unwrap();
    String::from_utf8(output).unwrap()
}

fn lines_with<'a>(output: &'a str, beginning: &str) -> Vec<&'a str> {
    output.lines().filter(|line| line.starts_with(beginning)).collect()
}

const GREETING: &str = "xboard\nprotover 2\naccepted done\nnew\nrandom\n";

#[test]
fn introduces_itself_and_its_games() {
    let output = answer("xboard\nprotover 2\n");
    assert!(output.starts_with("feature done=0\n") && output.ends_with("feature done=1\n"), "{output}");
    for feature in ["myname=\"Fairyforge ", "setboard=1", "ping=1", "usermove=1", "colors=0", "sigint=0", "sigterm=0"] {
        assert!(output.contains(feature), "{feature} is missing: {output}");
    }
    for feature in ["reuse=1", "memory=1", "smp=0", "pause=0", "analyze=1", "debug=1", "playother=1"] {
        assert!(output.contains(feature), "{feature} is missing: {output}");
    }
    let games = lines_with(&output, "feature variants=\"")[0];
    let games: Vec<&str> = games.trim_start_matches("feature variants=\"").trim_end_matches('"').split(',').collect();
    assert_eq!(games[0], "normal");
    assert_eq!(games.len(), Variant::shipped_names().len());
    for game in ["herculean", "sorcerer", "sorcerer-reinforcements", "opulent-lemurian", "shatranj"] {
        assert!(games.contains(&game), "{game} is missing: {games:?}");
    }
}

#[test]
fn the_first_line_chooses_the_protocol() {
    let spoken = |input: &str| {
        let mut output = Vec::new();
        converse(input.as_bytes(), &mut output).unwrap();
        String::from_utf8(output).unwrap()
    };
    assert!(spoken("xboard\nprotover 2\n").contains("feature done=1"));
    assert!(spoken("\n protover 2\n").contains("feature done=1"));
    assert!(spoken("uci\nisready\n").contains("uciok\nreadyok"));
    assert!(spoken("isready\nxboard\n").starts_with("readyok\n"));
    assert_eq!(spoken(""), "");
}

/// What XBoard 4.9.1 says to both engines when a 12x12 match begins.
#[test]
fn speaks_as_xboard_expects() {
    let output = answer(format!(
        "{GREETING}variant herculean\nlevel 0 0:03 0.03\npost\nhard\neasy\nping 1\nforce\n\
         setboard rzclfqkwlcsr/nnnnnbbnnnnn/pppppppppppp/12/12/12/12/12/12/\
         PPPPPPPPPPPP/NNNNNBBNNNNN/RZCLFQKWLCSR w KQkq - 0 1\n\
         computer\nsd 2\ntime 300\notim 300\ngo\nping 2\n"
    ));
    let from_setup: Vec<&str> = output.lines().skip_while(|line| !line.starts_with("setup ")).collect();
    assert!(from_setup[0].starts_with("setup (P.BRQ..LC.NZWFS^NKp.brq..lc.nzwfs^nk) 12x12+0_fairy "), "{output}");
    assert!(from_setup.contains(&"piece K KisO1isO2isO3isO4ilO5"), "{output}");
    assert!(!output.contains("Error") && !output.contains("tellusererror"), "{output}");
    let at = |line: &str| from_setup.iter().position(|other| other.starts_with(line)).unwrap();
    assert!(at("pong 1") < at("move ") && at("move ") < at("pong 2"), "{output}");
    let thought = from_setup[at("move ") - 1];
    assert!(thought.split(' ').take(4).all(|word| word.parse::<i64>().is_ok()), "{thought}");
}

#[test]
fn plays_black_after_new_and_changes_sides() {
    let output = answer(format!("{GREETING}sd 1\nusermove e2e4\n"));
    assert_eq!(lines_with(&output, "move ").len(), 1, "{output}");
    let output = answer(format!("{GREETING}sd 1\ngo\nping 1\n"));
    assert_eq!(lines_with(&output, "move ").len(), 1, "{output}");
    let output = answer(format!("{GREETING}sd 1\nplayother\nusermove e2e4\n"));
    assert_eq!(lines_with(&output, "move ").len(), 1, "{output}");
    let output = answer(format!("{GREETING}sd 1\nforce\nusermove e2e4\nusermove e7e5\nping 1\n"));
    assert_eq!(lines_with(&output, "move ").len(), 0, "{output}");
}

#[test]
fn writes_squares_as_xboard_numbers_them() {
    // Ten ranks are numbered from 0, twelve from 1, whatever the game does.
    let output = answer(format!("{GREETING}variant opulent-lemurian\nforce\nusermove a2a3\nusermove a7a6\nping 1\n"));
    assert!(!output.contains("llegal") && output.ends_with("pong 1\n"), "{output}");
    let output = answer(format!("{GREETING}variant opulent-lemurian\nforce\nusermove a3a4\n"));
    assert!(output.contains("Illegal move: a3a4"), "{output}");
    let output = answer(format!("{GREETING}variant sorcerer\nforce\nusermove a3a6\nusermove b10b7\nping 1\n"));
    assert!(!output.contains("llegal") && output.ends_with("pong 1\n"), "{output}");
}

#[test]
fn castles_as_xboard_writes_it() {
    let board = "setboard r5k4r/12/12/12/12/12/12/12/12/12/12/R5K4R w KQkq - 0 1\nforce\n";
    let after = |moves: &str| answer(format!("{GREETING}variant herculean\n{board}{moves}\nping 1\n"));
    for moves in ["usermove g1j1", "usermove g1b1", "usermove g1h1,l1g1", "usermove g1l1,l1h1", "usermove g1h1"] {
        assert!(!after(moves).contains("llegal"), "{moves}");
    }
    // After the castling of one step the rook stands on g1 and gives way to nobody.
    assert!(after("usermove g1h1,l1g1\nusermove g12g11\nusermove g1g5").contains("pong"), "rook on g1");
    assert!(!after("usermove g1h1,l1g1\nusermove g12f12\nusermove g1g5").contains("llegal"));
    assert!(after("usermove g1h1\nusermove g12f12\nusermove g1g5").contains("Illegal move: g1g5"));
    assert!(after("usermove g1l1").contains("Illegal move: g1l1"));
}

/// Only the rook that a castling of one step puts beside the king gives mate here.
#[test]
fn its_own_short_castling_is_two_legs() {
    let board = "setboard 5pkp4/5p1p4/12/12/12/12/12/12/12/12/12/6K4R w K - 0 1\n";
    let output = answer(format!("{GREETING}variant herculean\nsd 3\nforce\n{board}go\n"));
    assert!(output.ends_with("move g1l1,\nmove l1h1\n1-0 {White mates}\n"), "{output}");
}

#[test]
fn drops_and_promotes() {
    let output = answer(format!(
        "{GREETING}variant sorcerer-reinforcements\nforce\n\
         setboard ****2****/5k4/P9/10/10/10/10/10/10/10/5K4/****2****[GAJJJJgajjjj] w - - 0 1\n\
         usermove G@e1\nusermove g@e12\nusermove J@f1\nping 1\n"
    ));
    assert!(output.contains("Illegal move: g@e12") && output.matches("llegal").count() == 2, "{output}");
    let output = answer(format!(
        "{GREETING}variant sorcerer\nforce\nsetboard ****2****/5k4/P9/10/10/10/10/10/10/10/5K4/****2**** w - - 0 1\n\
         usermove a10a11\nusermove a10a11q\nusermove a10a11+\nusermove f11f10\nusermove a11a5\nping 1\n"
    ));
    assert!(output.contains("Illegal move: a10a11\n") && output.contains("Illegal move: a10a11q\n"), "{output}");
    assert!(!output.contains("Illegal move: a10a11+") && !output.contains("Illegal move: a11a5"), "{output}");
    let output = answer(format!(
        "{GREETING}force\nsetboard 8/P6k/8/8/8/8/8/K7 w - - 0 1\nusermove a7a8n\nusermove h7g7\nusermove a8b6\n"
    ));
    assert!(!output.contains("llegal"), "{output}");
}

#[test]
fn reads_promoted_men_and_hands_in_positions() {
    let output = answer(format!(
        "{GREETING}variant sorcerer-reinforcements\nforce\n\
         setboard ****2****/+p4k4/10/10/10/10/10/10/10/10/5K4/****2****[-] w - - 3 40\n\
         usermove f2f3\nusermove a11a2\nping 1\n"
    ));
    assert!(!output.contains("llegal"), "{output}");
}

#[test]
fn refuses_positions_that_are_none() {
    let output = answer(format!(
        "{GREETING}setboard 8/8/8/8/8/8/8/8 w - - 0 1\nusermove e2e4\nsetboard x\nsetboard\n\
         setboard 7k/8/8/8/8/8/8/K7 w - - 0 1\nforce\nusermove a1a2\nping 1\n"
    ));
    assert_eq!(lines_with(&output, "tellusererror Illegal position:").len(), 3, "{output}");
    assert_eq!(lines_with(&output, "Illegal move: e2e4").len(), 1, "{output}");
    assert_eq!(output.matches("llegal move").count(), 1, "{output}");
}

#[test]
fn takes_moves_back() {
    let output = answer(format!(
        "{GREETING}force\nusermove e2e4\nundo\nusermove d2d4\nusermove d7d5\n\
         remove\nusermove e2e4\nundo\nundo\nping 1\n"
    ));
    assert!(!output.contains("llegal"), "{output}");
    assert_eq!(lines_with(&output, "Error (no move to take back): undo").len(), 1, "{output}");
}

#[test]
fn says_what_it_does_not_understand() {
    let lines = ["frobnicate", "nps 1000", "pause", "exclude e2e4", "level x", "st", "edit", "variant"];
    for line in lines {
        let output = answer(format!("{GREETING}{line}\nping 1\n"));
        assert_eq!(lines_with(&output, "Error (").len(), 1, "{line}: {output}");
        assert!(output.ends_with("pong 1\n"), "{line}: {output}");
    }
    let output = answer(format!("{GREETING}variant nowhere\nping 1\n"));
    assert!(output.contains("Error (unknown variant): variant nowhere"), "{output}");
    let output = answer(format!("{GREETING}force\nusermove e2e5\nusermove zz\ne7e5\nusermove \u{e9}\u{e9}\n"));
    assert_eq!(output.matches("Illegal move: ").count(), 4, "{output}");
}

#[test]
fn claims_what_the_rules_say() {
    let after = |variant: &str, board: &str, rest: &str| {
        answer(format!("{GREETING}variant {variant}\nsd 3\nforce\nsetboard {board}\n{rest}\n"))
    };
    let chess = "normal";
    let mate = "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1";
    assert!(after(chess, mate, "go").ends_with("move a1a8\n1-0 {White mates}\n"));
    assert!(after(chess, mate, "playother\nusermove a1a8").ends_with("1-0 {White mates}\n"));
    assert!(after(chess, "7k/8/5KQ1/8/8/8/8/8 b - - 0 1", "go").ends_with("1/2-1/2 {Stalemate}\n"));
    let count = after(chess, "7k/8/8/8/8/8/8/KQ6 w - - 99 80", "playother\nusermove b1b2");
    assert!(count.ends_with("1/2-1/2 {Draw by move count}\n"), "{count}");
    let bare = after("shatranj", "7k/8/8/8/8/8/R7/K7 b - - 0 1", "go");
    assert!(bare.ends_with("1-0 {Black has a bare king}\n"), "{bare}");
    let stalemate = after("opulent-lemurian", "k9/7R2/10/10/10/10/10/10/10/KR8 b - - 0 1", "go");
    assert!(stalemate.ends_with("1-0 {White wins by stalemate}\n"), "{stalemate}");
    let shuffle = "usermove g1f3\nusermove g8f6\nusermove f3g1\nusermove f6g8\n";
    let repeated = answer(format!("{GREETING}force\n{shuffle}{shuffle}go\n"));
    assert!(repeated.ends_with("1/2-1/2 {Draw by repetition}\n"), "{repeated}");
}

/// XBoard believes a program that says it has lost, and forfeits one that claims a win or draw that it cannot see.
#[test]
fn between_programs_the_loser_claims_and_draws_are_offered() {
    let mate = "setboard k11/12/1R10/2R9/12/12/12/12/12/12/12/11K w - - 0 1\nforce\n";
    let program = |rest: &str| answer(format!("{GREETING}variant herculean\ncomputer\nsd 3\n{mate}{rest}\n"));
    let won = program("go");
    assert!(won.contains("\nmove ") && !won.contains("1-0"), "{won}");
    let mv = lines_with(&won, "move ")[0].trim_start_matches("move ");
    assert!(program(&format!("playother\nusermove {mv}")).ends_with("1-0 {White mates}\n"));
    let known = answer(format!("{GREETING}computer\nsd 3\nforce\nsetboard 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1\ngo\n"));
    assert!(known.ends_with("move a1a8\n1-0 {White mates}\n"), "{known}");
    let board = "setboard 7k/8/8/8/8/8/8/K5R1 w - - 99 80\n";
    let offered = answer(format!("{GREETING}computer\nsd 1\nforce\n{board}go\n"));
    let draw = lines_with(&offered, "offer draw").len();
    assert!(draw == 1 && offered.contains("offer draw\nmove "), "{offered}");
    let accepted = answer(format!("{GREETING}computer\nsd 1\nforce\n{board}playother\ndraw\nusermove g1g2\n"));
    assert!(accepted.contains("offer draw"), "{accepted}");
}

#[test]
fn analyzes_until_it_is_told_to_stop() {
    let live = Live::begin();
    live.say("xboard\nprotover 2\npost\nanalyze");
    live.wait(|line| line.split(' ').next() == Some("4"));
    live.say(".");
    live.wait(|line| line.starts_with("stat01: ") && line.split(' ').count() == 6);
    live.say("usermove e2e4\nping 7");
    live.wait(|line| line == "pong 7");
    live.wait(|line| line.split(' ').next() == Some("3"));
    live.say("undo\nexit\nping 8");
    live.wait(|line| line == "pong 8");
    let said = live.end();
    assert!(!said.iter().any(|line| line.starts_with("move ")), "{said:?}");
}

#[test]
fn moves_at_once_when_it_is_told() {
    let live = Live::begin();
    live.say("xboard\nprotover 2\nlevel 0 60 0\ngo\nping 3\n?");
    live.wait(|line| line.starts_with("move "));
    live.wait(|line| line == "pong 3");
    live.end();
}

#[test]
fn drops_a_search_whose_answer_nobody_wants() {
    let live = Live::begin();
    live.say("xboard\nprotover 2\nlevel 0 60 0\ngo\nforce\nping 1\nusermove d2d4\nping 2");
    live.wait(|line| line == "pong 2");
    live.say("go\nnew\nping 3");
    live.wait(|line| line == "pong 3");
    let said = live.end();
    assert!(!said.iter().any(|line| line.starts_with("move ") || line.contains("llegal")), "{said:?}");
}

#[test]
fn gives_hints() {
    let output = answer(format!("{GREETING}force\nsetboard 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1\nhint\nbk\n"));
    assert!(output.contains("Hint: a1a8\n no book\n\n"), "{output}");
}

#[test]
fn plays_games_from_files() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("xboard-tiny-shatranj.toml");
    let shipped = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../configs/variants/shatranj.toml");
    std::fs::copy(shipped, &path).unwrap();
    let output = answer(format!(
        "{GREETING}option VariantPath=/nowhere.toml\noption VariantPath={}\nvariant xboard-tiny\nsd 1\ngo\n",
        path.display()
    ));
    let offered = *lines_with(&output, "feature variants=").last().unwrap();
    assert!(offered.ends_with(",xboard-tiny\""), "{output}");
    assert!(output.contains("\nsetup (") && output.contains("\nmove "), "{output}");
    assert!(output.contains("tellusererror "), "{output}");
}

#[test]
fn keeps_the_table_within_bounds() {
    let output = answer(format!("{GREETING}memory 8\nmemory 99999999999\nmemory x\nsd 1\ngo\n"));
    assert!(output.contains("tellusererror Hash") && output.contains("Error (expected mebibytes)"), "{output}");
    assert_eq!(lines_with(&output, "move ").len(), 1, "{output}");
}

/// A session on a thread of its own.
struct Live {
    input: Sender<Vec<u8>>,
    output: Receiver<String>,
    session: thread::JoinHandle<io::Result<()>>,
}

struct Keyboard(Receiver<Vec<u8>>);

impl Read for Keyboard {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Ok(typed) = self.0.recv() else { return Ok(0) };
        buffer[..typed.len()].copy_from_slice(&typed);
        Ok(typed.len())
    }
}

struct Screen(Sender<String>, Vec<u8>);

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.extend_from_slice(bytes);
        while let Some(end) = self.1.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.1.drain(..=end).collect();
            let _ = self.0.send(String::from_utf8_lossy(&line).trim_end().to_owned());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Live {
    fn begin() -> Self {
        let (input, typed) = channel();
        let (shown, output) = channel();
        let session = thread::spawn(move || {
            xboard::run(BufReader::with_capacity(1 << 16, Keyboard(typed)), Screen(shown, Vec::new()))
        });
        Self { input, output, session }
    }

    fn say(&self, lines: &str) {
        self.input.send(format!("{lines}\n").into_bytes()).unwrap();
    }

    fn wait(&self, wanted: impl Fn(&str) -> bool) -> String {
        loop {
            let line = self.output.recv_timeout(Duration::from_secs(60)).expect("the session says what is waited for");
            if wanted(&line) {
                return line;
            }
        }
    }

    fn end(self) -> Vec<String> {
        drop(self.input);
        self.session.join().unwrap().unwrap();
        self.output.iter().collect()
    }
}

/// Passes on what two engines say, as XBoard does between programs, until the game or the plies are over.
fn referee(game: &str, plies: usize) -> String {
    let players = [Live::begin(), Live::begin()];
    for player in &players {
        player.say(&format!("{GREETING}variant {game}\nsd 1\nforce\ncomputer\nping 1"));
        player.wait(|line| line == "pong 1");
    }
    players[0].say("go");
    let mut end = String::from("out of plies");
    let mut offered = false;
    for ply in 0..plies {
        let (mover, other) = (&players[ply % 2], &players[(ply + 1) % 2]);
        let mut text = String::new();
        loop {
            let said = mover.wait(|line| {
                ["move ", "offer", "1-0", "0-1", "1/2", "Error", "Illegal", "tellusererror"]
                    .iter()
                    .any(|word| line.starts_with(word))
            });
            if let Some(mv) = said.strip_prefix("move ") {
                text.push_str(mv);
                if !mv.ends_with(',') {
                    break;
                }
            } else if said == "offer draw" && offered {
                text.clear();
                end = "draw agreed".into();
                break;
            } else if said == "offer draw" {
                other.say("draw");
            } else {
                text.clear();
                end = said;
                break;
            }
            offered = said == "offer draw";
        }
        if text.is_empty() {
            break;
        }
        // The second engine is in force mode until its first move: so does XBoard begin a match.
        other.say(&format!("usermove {text}{}", if ply == 0 { "\ngo" } else { "" }));
    }
    for player in players {
        player.say("quit");
        player.end();
    }
    end
}

#[test]
fn two_engines_play_every_shipped_game() {
    for variant in common::shipped() {
        let name = variant.name();
        if xboard::setup::Setup::new(&variant).is_err() {
            continue;
        }
        let end = referee(name, 40);
        assert!(!end.contains("rror") && !end.contains("llegal"), "{name}: {end}");
    }
}

/// Games of the match script, as XBoard 4.9.1 saved them: short castlings, men promoted by `+`, drops, ranks of its
/// own.
#[test]
fn reads_games_that_xboard_saved() {
    let games = [
        ("herculean", include_str!("data/xboard/herculean.pgn"), PgnResult::BlackWins),
        ("sorcerer-reinforcements", include_str!("data/xboard/sorcerer-reinforcements.pgn"), PgnResult::BlackWins),
        ("opulent-lemurian-shatranj", include_str!("data/xboard/opulent-lemurian.pgn"), PgnResult::BlackWins),
    ];
    for (name, text, result) in games {
        let mut variants = NamedVariants::new(common::variant("chess"));
        let mut read: Vec<_> = PgnReader::new(text.as_bytes(), |tag| variants.find(tag)).collect();
        assert_eq!(read.len(), 1, "{name}");
        let game = read.remove(0).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert_eq!(game.start.variant().name(), name);
        assert_eq!(game.result, result, "{name}");
        let outcome = game.game().outcome().map(PgnResult::from);
        assert_eq!(outcome, Some(result), "{name}: {:?}", game.warnings);
    }
}

/// Words that commands are made of, with limits that keep every search short.
fn words() -> impl Strategy<Value = String> {
    let known = "xboard protover 2 new variant herculean sorcerer-reinforcements normal force \
                 opulent-lemurian go playother white \
                 black level 40 0 0:01 st sd 1 time otim 50 usermove e2e4 \
                 a3a6 a10a12q G@e1 g1h1,l1g1 a7a8+ ? ping draw result \
                 1-0 setboard rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - KQkq \
                 +P +p 12/12 [GAg] edit hint bk undo remove \
                 hard easy post nopost analyze exit . name rating computer pause resume memory cores option Weights= \
                 VariantPath= Clear random accepted rejected nps exclude @@@@";
    let known: Vec<String> = known.split_ascii_whitespace().map(String::from).collect();
    prop_oneof![8 => prop::sample::select(known), 1 => "\\PC{0,12}"]
}

proptest! {
    #![proptest_config(common::cases(80))]

    #[test]
    fn survives_random_commands(lines in prop::collection::vec(prop::collection::vec(words(), 0..7), 0..14)) {
        let script: String = lines.iter().map(|words| words.join(" ").replace('\n', " ") + "\n").collect();
        prop_assume!(!script.lines().any(|line| line.trim_start().starts_with("quit")));
        let output = answer(format!("xboard\nsd 1\nst 1\n{script}force\nping 99\n"));
        prop_assert!(output.ends_with("pong 99\n"), "{}", output);
    }

    #[test]
    fn survives_random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut script = b"sd 1\n".to_vec();
        script.extend(bytes);
        script.extend_from_slice(b"\nforce\nping 99\n");
        let output = answer(script);
        prop_assert!(output.ends_with("pong 99\n"), "{}", output);
    }

    #[test]
    fn survives_random_positions_and_moves(fen in "[ -~]{0,60}", mv in "[ -~]{0,12}", game in 0_usize..4) {
        let game = ["normal", "herculean", "sorcerer-reinforcements", "opulent-lemurian"][game];
        let output = answer(format!("variant {game}\nforce\nsetboard {fen}\nusermove {mv}\n\
             new\nforce\nusermove {mv}\nping 9\n"));
        prop_assert!(output.ends_with("pong 9\n"), "{}", output);
    }
}

/// A line that never ends, and one that is no text.
#[test]
fn survives_long_lines() {
    let mut script = vec![b'x'; 3 << 20];
    script.extend_from_slice(b"\n\xff\xfe\nping 1\n");
    let output = answer(script);
    assert!(
        output.contains("Error (expected lines of at most") && output.contains("Error (expected text in UTF-8)"),
        "{output}"
    );
    assert!(output.as_bytes().lines().last().unwrap().unwrap() == "pong 1", "{output}");
}
