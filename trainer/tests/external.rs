//! External engines as players: our own program as the good one, and small scripts that fail in every way we know of.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

mod common;

use common::our_engine;
use fairyforge::arena::external::{
    EngineCommand, ExternalEngine, Launcher, OptionError, Patience, RulesComparison, StartError,
};
use fairyforge::play::{
    Adjudication, Allowance, Ending, EngineMover, Fault, FaultKind, Mover, PlayedGame, Referee, Seat, Start,
    TimeControl,
};
use fairyforge_engine::evaluate::Judge;
use fairyforge_engine::game::Game;
use fairyforge_engine::position::Position;
use fairyforge_engine::search::{Params, score};
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::Colour;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

fn ours(options: &[(&str, &str)]) -> EngineCommand {
    with_options(EngineCommand::new(format!("'{}'", our_engine().display())), options)
}

fn with_options(mut command: EngineCommand, options: &[(&str, &str)]) -> EngineCommand {
    command.options = options.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    command
}

fn variant(name: &str) -> Arc<Variant> {
    Arc::new(Variant::load(name).unwrap())
}

/// A script with what it leaves behind.
struct Rogue {
    folder: TempDir,
    command: EngineCommand,
}

impl Rogue {
    /// A shell script.
    fn script(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("rogue.sh"), text).unwrap();
        let command = EngineCommand { dir: Some(folder.path().into()), ..EngineCommand::new("sh rogue.sh") };
        Self { folder, command }
    }

    /// A script that knows chess's opening move only; `cases` go before what a well-behaved engine does.
    fn that(cases: &str) -> Self {
        Self::script(&format!(
            "echo $$ >pid
while read -r line; do
  case \"$line\" in
{cases}
  uci) echo 'id name Rogue 1'; echo uciok;;
  isready) echo readyok;;
  'go perft'*) echo \"Unknown command: '$line'\";;
  go*) echo 'bestmove e2e4';;
  quit) exit 0;;
  esac
done
"
        ))
    }

    fn start(&self) -> Result<ExternalEngine, StartError> {
        self.start_with(patient())
    }

    fn start_with(&self, patience: Patience) -> Result<ExternalEngine, StartError> {
        Launcher::new(patience).start(&self.command, &variant("chess"))
    }

    fn fails_to_start(&self) -> String {
        self.start().map(|engine| engine.name().to_owned()).unwrap_err().to_string()
    }

    /// How it fails at the first move of a game.
    fn fault(&self, patience: Patience, allowance: Allowance) -> Fault {
        let mut engine = self.start_with(patience).unwrap();
        first_move(&mut engine, allowance, &AtomicBool::new(false)).unwrap_err()
    }

    /// Numbers of processes that the script wrote down.
    fn noted(&self, file: &str) -> u32 {
        std::fs::read_to_string(self.folder.path().join(file)).unwrap().trim().parse().unwrap()
    }
}

/// Patient where an answer is to come, on the busiest machine; quick where none is.
fn patient() -> Patience {
    let generous = Duration::from_secs(60);
    Patience {
        handshake: generous,
        ready: generous,
        perft: generous,
        overtime: generous,
        silence: generous,
        longest: generous,
        stop: generous,
        quit: BLINK,
    }
}

/// Impatient with moves.
fn impatient() -> Patience {
    Patience { overtime: BLINK, silence: BLINK, stop: BLINK, ..patient() }
}

const BLINK: Duration = Duration::from_millis(150);

fn first_move(mover: &mut dyn Mover, allowance: Allowance, stop: &AtomicBool) -> Result<String, Fault> {
    let game = Game::new(Position::start(&variant("chess")));
    mover.new_game(&game)?;
    let budget = fairyforge::play::Budget {
        nodes: allowance.nodes,
        depth: allowance.depth,
        move_time: match allowance.time {
            Some(TimeControl::Move(time)) => Some(time),
            _ => None,
        },
        clocks: match allowance.time {
            Some(TimeControl::Clock { base, increment, .. }) => {
                [Some(fairyforge_engine::search::Clock { left: base, increment, moves_to_go: None }); 2]
            }
            _ => [None; 2],
        },
    };
    mover.choose(&game, &budget, stop).map(|thought| game.position().move_text(thought.mv))
}

fn nodes() -> Allowance {
    Allowance::nodes(100)
}

/// Whether a process is there and not only waiting to be buried.
fn lives(process: u32) -> bool {
    let state = Command::new("ps").args(["-o", "stat=", "-p", &process.to_string()]).stderr(Stdio::null()).output();
    let state = String::from_utf8(state.unwrap().stdout).unwrap();
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

#[track_caller]
fn assert_says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "expected {word:?} in: {text}");
    }
}

/// A game of forty plies at most from the start, everything said on every move, mates as UCI tells them.
fn played(variant: &Arc<Variant>, movers: [&mut dyn Mover; 2]) -> Vec<String> {
    let adjudication = Adjudication { draw_moves: 0, win_moves: 0, most_plies: 40, ..Adjudication::default() };
    let (stop, mut said) = (AtomicBool::new(false), Vec::new());
    let referee = Referee { adjudication: &adjudication, endgames: None, time_margin: Duration::ZERO, stop: &stop };
    let start = Position::start(variant);
    let [white, black] = movers;
    let mut seats = [white, black].map(|mover| Seat { mover, allowance: Allowance::nodes(1_500) });
    let game = referee.play(Start { position: &start, plies: 0 }, &mut seats, |game, thought| {
        let value = thought.score.map(|value| score::mate_in(value).map_or(value, |moves| 100_000 * moves));
        said.push(format!("{} {value:?} {} {}", game.position().move_text(thought.mv), thought.depth, thought.nodes));
    });
    let PlayedGame { ending, moves } = game.unwrap();
    assert_eq!(moves.len(), said.len());
    said.push(ending.termination());
    said
}

fn in_process(judge: &Judge) -> EngineMover<'_> {
    EngineMover::new(judge, &Params::default(), 16)
}

/// Position, limits, moves and scores pass truly in both directions: the same engine plays the same game in and out of
/// this process, with two-digit ranks, promotions and drops.
#[track_caller]
fn plays_as_in_process(name: &str) {
    let variant = variant(name);
    let judge = Judge::best_known(&variant);
    let expected = played(&variant, [&mut in_process(&judge), &mut in_process(&judge)]);
    let mut outside = ExternalEngine::start(&ours(&[("Hash", "16")]), &variant).unwrap();
    assert!(matches!(outside.rules(), RulesComparison::Equal { positions: 50, leaves } if leaves > 10_000));
    assert_eq!(played(&variant, [&mut in_process(&judge), &mut outside]), expected);
    // The second game begins as fresh as the first.
    assert_eq!(played(&variant, [&mut outside, &mut in_process(&judge)]), expected);
    assert!(outside.lag().moves > 0 && outside.lag().max >= outside.lag().mean());
}

#[test]
fn herculean_is_played_as_in_process() {
    plays_as_in_process("herculean");
}

#[test]
fn sorcerer_is_played_as_in_process() {
    plays_as_in_process("sorcerer");
}

#[test]
fn drops_are_played_as_in_process() {
    plays_as_in_process("sorcerer-reinforcements");
}

#[test]
fn chess_is_played_as_in_process() {
    plays_as_in_process("chess");
}

#[test]
fn clocks_and_fixed_times_are_kept() {
    let mut engine = ExternalEngine::start(&ours(&[]), &variant("chess")).unwrap();
    for time in ["0.02/move", "1+0.1", "40/1"] {
        let allowance = Allowance { time: Some(time.parse().unwrap()), ..Allowance::default() };
        first_move(&mut engine, allowance, &AtomicBool::new(false)).unwrap();
    }
}

#[test]
fn what_is_set_is_read_back() {
    let options = [("hash", "5"), ("Clear Hash", "")];
    let engine = ExternalEngine::start(&ours(&options), &variant("herculean")).unwrap();
    let effective = engine.effective();
    assert_eq!(effective["Hash"], "5");
    assert_eq!(effective["UCI_Variant"], "herculean");
    assert_eq!(effective["Weights"], "");
    assert_eq!(effective["Clear Hash"], "pressed");
    assert_says(engine.name(), &["Fairyforge "]);
    assert!(engine.remarks().is_empty(), "{:?}", engine.remarks());
}

/// The numbers of the search come from what the engine says it uses, not from what was to be set.
#[test]
fn the_numbers_of_the_search_are_read_back() {
    let engine = ExternalEngine::start(&ours(&[]), &variant("chess")).unwrap();
    for (row, value) in Params::default().values() {
        assert_eq!(
            engine.effective().get(row.name).map(String::as_str),
            Some(value.to_string().as_str()),
            "{}",
            row.name
        );
    }
    let rogue = Rogue::that(
        "  uci) echo 'option name margin type spin default 5 min 0 max 9'; echo uciok;;
  params) echo 'info string param margin 7'; echo 'info string param'; echo 'info string other 3 4';;",
    );
    let command = with_options(rogue.command.clone(), &[("margin", "6")]);
    let engine = ExternalEngine::start(&command, &variant("chess")).unwrap();
    assert_eq!(engine.effective()["margin"], "7", "it rounds, and says so");
    assert_eq!(engine.effective().len(), 1);
}

#[test]
fn options_that_do_not_fit_are_refused_before_they_are_sent() {
    let refusal = |options: &[(&str, &str)]| {
        ExternalEngine::start(&ours(options), &variant("herculean")).map(|_| ()).unwrap_err().to_string()
    };
    assert_says(&refusal(&[("Hsah", "16")]), &["an option that it offers (Hash", "got \"Hsah\""]);
    assert_says(&refusal(&[("Hash", "0")]), &["option Hash: expected a whole number from 1 to 65536, got \"0\""]);
    assert_says(&refusal(&[("UCI_Variant", "herculaen")]), &["expected one of", "herculean", "got \"herculaen\""]);
    assert_says(&refusal(&[("Clear Hash", "yes")]), &["expected no value"]);
    let twice = ExternalEngine::start(&ours(&[("Hash", "1"), ("hash", "2")]), &variant("chess")).map(|_| ());
    let Err(StartError::Option { error, .. }) = twice else { panic!("{twice:?}") };
    assert_eq!(*error, OptionError::Twice("Hash".into()));
}

/// Our engine says no only by a remark; that must not pass for a player with other weights.
#[test]
fn what_our_engine_refuses_is_an_error() {
    let refusal = ExternalEngine::start(&ours(&[("Weights", "no/such/file.toml")]), &variant("chess")).map(|_| ());
    assert_says(&refusal.unwrap_err().to_string(), &["refuses", "Weights value no/such/file.toml", "No such file"]);
}

/// Weights belong to a game, so they are set after it, whatever the order of names.
/// What the engine announces of a book is no refusal, and it plays from it; a file that is no book is refused.
#[test]
fn our_engine_plays_from_a_book_outside_too() {
    let book = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/books/chess.book");
    let command = ours(&[("OwnBook", "true"), ("BookFile", book)]);
    let mut engine = Launcher::new(patient()).start(&command, &variant("chess")).unwrap();
    let best = first_move(&mut engine, nodes(), &AtomicBool::new(false)).unwrap();
    assert_eq!(best, "e2e4", "the move of the greatest weight");
    assert!(engine.remarks().iter().any(|remark| remark.contains("600 positions")));
    let refused = Launcher::new(patient()).start(&ours(&[("BookFile", file!())]), &variant("chess"));
    assert_says(&refused.map(|_| ()).unwrap_err().to_string(), &["refuses", "BookFile"]);
}

#[test]
fn weights_are_set_after_the_game() {
    let weights = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/weights/herculean.toml").display().to_string();
    let start = |game: &str| ExternalEngine::start(&ours(&[("Weights", &weights)]), &variant(game));
    assert_eq!(start("herculean").unwrap().effective()["Weights"], weights);
    assert_says(&start("chess").map(|_| ()).unwrap_err().to_string(), &["refuses", "Weights value"]);
}

/// A match plays its games on several threads.
#[test]
fn engines_may_be_used_on_any_thread() {
    fn assert_may_move<T: Send>() {}
    assert_may_move::<ExternalEngine>();
    assert_may_move::<Launcher>();
    assert_may_move::<StartError>();
}

/// A foreign engine's remarks are kept for whoever starts it.
#[test]
fn what_others_remark_is_kept() {
    let rogue = Rogue::that(
        "  uci) echo 'option name Net type string default a.nn'; echo uciok;;
  setoption*) echo 'info string ERROR: no b.nn';;",
    );
    let command = with_options(rogue.command.clone(), &[("Net", "b.nn")]);
    let engine = ExternalEngine::start(&command, &variant("chess")).unwrap();
    assert_eq!(engine.remarks(), ["info string ERROR: no b.nn"]);
    assert_eq!(engine.name(), "sh rogue.sh", "who has no name is called by its command");
}

#[test]
fn a_game_it_does_not_offer_is_refused_with_advice() {
    let plain = Rogue::that("");
    let refusal = ExternalEngine::start(&plain.command, &variant("herculean")).map(|_| ()).unwrap_err().to_string();
    assert_says(
        &refusal,
        &["Rogue 1 does not offer herculean", "offers: none", "option.UCI_Variant", "option.VariantPath"],
    );
    let other = Rogue::that(
        "  uci) echo 'option name UCI_Variant type combo default chess var chess var Herkulean'; echo uciok;;",
    );
    let refusal = ExternalEngine::start(&other.command, &variant("herculean")).map(|_| ()).unwrap_err().to_string();
    assert_says(&refusal, &["offers: Herkulean, chess"]);
    // Whoever names the game himself is believed, as far as the rules go.
    let command = with_options(other.command.clone(), &[("UCI_Variant", "herkulean")]);
    let engine = ExternalEngine::start(&command, &variant("herculean")).unwrap();
    assert_eq!(engine.effective()["UCI_Variant"], "Herkulean");
}

/// A shipped game's file, changed, under a name.
fn changed(folder: &Path, game: &str, name: &str, from: &str, to: &str) -> String {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/variants").join(game).with_extension("toml");
    let text = std::fs::read_to_string(shipped).unwrap();
    assert!(text.contains(from));
    let path = folder.join(name).with_extension("toml");
    std::fs::write(&path, text.replace(from, to)).unwrap();
    path.display().to_string()
}

#[test]
fn a_game_of_ones_own_is_played_from_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = changed(folder.path(), "chess", "slowpawns", "fmWfcFifmnD", "fmWfcF");
    let variant = variant(&path);
    let engine = ExternalEngine::start(&ours(&[("VariantPath", &path)]), &variant).unwrap();
    assert!(matches!(engine.rules(), RulesComparison::Equal { .. }));
    assert_eq!(engine.effective()["UCI_Variant"], "slowpawns");
    let refusal = ExternalEngine::start(&ours(&[]), &variant).map(|_| ()).unwrap_err().to_string();
    assert_says(&refusal, &["does not offer slowpawns", "option.VariantPath"]);
}

#[test]
fn other_rules_under_the_same_name_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |from: &str, to: &str| {
        let path = changed(folder.path(), "chess", "chess", from, to);
        let command = ours(&[("VariantPath", &path)]);
        ExternalEngine::start(&command, &variant("chess")).map(|_| ()).unwrap_err().to_string()
    };
    assert_says(
        &refusal("fmWfcFifmnD", "fmWfcF"),
        &[
            "plays chess by other rules",
            "we count 400 leaves, it counts 144",
            "only we have a2a4, b2b4, c2c4, d2d4 and 4 more",
        ],
    );
    assert_says(
        &refusal("moves = \"N\"", "moves = \"NfD\""),
        &["only it has b1b3, g1g3", "other numbers of answers to"],
    );
    // Castling cannot happen within two plies of the start; positions beyond show it, where the sums are the same.
    assert_says(
        &refusal("to_lower_files = [2]", "to_lower_files = [3]"),
        &["by other rules", "only we have e1c1; only it has e1b1"],
    );
}

#[test]
fn an_engine_that_counts_no_leaves_is_told_apart() {
    let searching = "echo 'info depth 1 score cp 5'";
    for (kind, answer, stop) in [
        ("silent", "true", "true"),
        ("silent until stop", "true", "(sleep 0.1; echo 'bestmove a2a3') &"),
        ("unknown", "echo Unknown command: go", "true"),
        ("at once", "echo 'bestmove a2a3'", "true"),
        ("until stop", searching, "echo 'bestmove a2a3'"),
        // As in engines that search on a thread of their own.
        ("after readyok", searching, "(sleep 0.1; echo 'bestmove a2a3') &"),
    ] {
        let slowly = "  'go nodes'*) sleep 0.3; echo 'bestmove e2e4';;";
        let rogue = Rogue::that(&format!("  'go perft'*) {answer};;\n  stop) {stop};;\n{slowly}"));
        let mut engine = rogue.start_with(Patience { perft: BLINK, ..patient() }).unwrap();
        assert_eq!(engine.rules(), RulesComparison::NotOffered, "{kind}");
        // The move it had for the wrong question is not taken for this one.
        assert_eq!(first_move(&mut engine, nodes(), &AtomicBool::new(false)), Ok("e2e4".into()), "{kind}");
    }
}

/// Counts come in many forms.
#[test]
fn counts_are_read_in_other_forms() {
    for total in ["Nodes searched  : 399", "Total: 399", "nodes 399", "Nodes searched: 399"] {
        let rogue = Rogue::that(&format!("  'go perft'*) echo 'info string counting'; echo '{total}';;"));
        assert_says(&rogue.fails_to_start(), &["we count 400 leaves, it counts 399"]);
    }
    let rogue = Rogue::that("  'go perft'*) echo 'a2a3 - 20'; echo 'a2a4: 21';;");
    // No sum comes, so the silence after the last move ends the answer.
    let patience = Patience { perft: Duration::from_secs(1), ..patient() };
    assert_says(
        &rogue.start_with(patience).map(|_| ()).unwrap_err().to_string(),
        &["it counts 41", "only we have", "other numbers of answers to a2a4 (20 here, 21 there)"],
    );
}

#[test]
fn an_engine_that_dies_in_the_handshake_is_told_with_its_last_words() {
    let rogue = Rogue::script("echo 'loading' >&2; echo 'no network found' >&2; exit 3");
    let error = rogue.fails_to_start();
    assert_says(
        &error,
        &["sh rogue.sh failed at the start", "crash", "exit status: 3", "its last words: no network found"],
    );
    let killed = Rogue::script("read -r line; kill -SEGV $$").fails_to_start();
    assert_says(&killed, &["crash", "signal: 11"]);
}

#[test]
fn an_engine_that_never_introduces_itself_is_given_up() {
    let rogue = Rogue::script("echo $$ >pid; while read -r line; do :; done");
    let patience = Patience { handshake: Duration::from_millis(300), ..patient() };
    let error = Launcher::new(patience).start(&rogue.command, &variant("chess")).map(|_| ()).unwrap_err();
    assert_says(&error.to_string(), &["no answer", "no uciok within 0.3 s of uci"]);
    assert!(!lives(rogue.noted("pid")));
}

#[test]
fn a_program_that_is_not_there_is_told() {
    let start = |command: &EngineCommand| {
        ExternalEngine::start(command, &variant("chess")).map(|_| ()).unwrap_err().to_string()
    };
    assert_says(
        &start(&EngineCommand::new("no-such-engine --fast")),
        &["cannot start \"no-such-engine --fast\"", "PATH"],
    );
    assert_says(&start(&EngineCommand::new("'open")), &["quotes closed"]);
    let nowhere = EngineCommand { dir: Some("no/such/folder".into()), ..ours(&[]) };
    assert_says(&start(&nowhere), &["expected a folder in dir, got no/such/folder"]);
}

#[test]
fn an_engine_that_hangs_is_given_up_under_every_limit() {
    let rogue = Rogue::that("  'go perft'*) echo Unknown command;;\n  go*) :;;");
    let time = |time: &str| Allowance { time: Some(time.parse().unwrap()), ..Allowance::default() };
    for (allowance, words) in [
        (nodes(), "no info line and no move for 0.1 s"),
        (Allowance { depth: Some(3), ..Allowance::default() }, "no info line"),
        (time("0.1/move"), "no move after 0.2 s"),
        (time("0.1+0.05"), "no move after 0.3 s"),
        (Allowance { nodes: Some(5), ..time("0.1") }, "no move after 0.2 s"),
    ] {
        let fault = rogue.fault(impatient(), allowance);
        assert_eq!(fault.kind, FaultKind::NoAnswer, "{allowance}");
        assert_says(&fault.detail, &[words]);
        assert!(!lives(rogue.noted("pid")), "{allowance}");
    }
}

/// Info lines are life, but no life is for ever.
#[test]
fn an_engine_that_only_talks_is_given_up_too() {
    let rogue = Rogue::that("  'go perft'*) echo Unknown command;;\n  go*) yes 'info depth 1 nodes 5';;");
    let patience = Patience { longest: Duration::from_millis(400), ..patient() };
    let mut engine = Launcher::new(patience).start(&rogue.command, &variant("chess")).unwrap();
    let fault = first_move(&mut engine, nodes(), &AtomicBool::new(false)).unwrap_err();
    assert_eq!((fault.kind, fault.detail.as_str()), (FaultKind::NoAnswer, "no move after 0.4 s"));
    let noise =
        Rogue::that("  'go perft'*) echo Unknown command;;\n  go*) yes 'thinking';;").fault(impatient(), nodes());
    assert_says(&noise.detail, &["no info line"]);
}

#[test]
fn moves_that_the_rules_do_not_have_are_kept_as_they_came() {
    for raw in ["0000", "(none)", "e2e5", "e7e5", "Ke2", "e2e4q", "e2", "\\377\\376", "a1a99999999999999999"] {
        let fault =
            Rogue::that(&format!("  'go nodes'*) printf 'bestmove {raw} ponder e7e5\\n';;")).fault(patient(), nodes());
        assert_eq!(fault.kind, FaultKind::IllegalMove, "{raw}");
        let raw = raw.replace("\\377\\376", "\u{fffd}\u{fffd}");
        assert_says(&fault.detail, &[&format!("{raw:?} in rnbqkbnr/")]);
    }
    let fault = Rogue::that("  'go nodes'*) echo bestmove;;").fault(patient(), nodes());
    assert_says(&fault.detail, &["\"\" in rnbqkbnr/"]);
}

#[test]
fn an_engine_that_ends_in_the_middle_of_a_game_has_crashed() {
    let ours = our_engine();
    // A filter around the good engine that hangs up at its third turn.
    let rogue = Rogue::script(&format!(
        "moves=0
while read -r line; do
  case \"$line\" in 'go nodes'*)
    moves=$((moves + 1))
    if [ $moves = 3 ]; then echo 'out of luck' >&2; exit 1; fi;;
  esac
  echo \"$line\"
done | '{}'",
        ours.display()
    ));
    let variant = variant("chess");
    let mut outside = rogue.start().unwrap();
    let judge = Judge::best_known(&variant);
    let adjudication = Adjudication::default();
    let stop = AtomicBool::new(false);
    let referee = Referee { adjudication: &adjudication, endgames: None, time_margin: Duration::ZERO, stop: &stop };
    let start = Position::start(&variant);
    let mut inside = in_process(&judge);
    let mut seats = [Seat { mover: &mut inside, allowance: nodes() }, Seat { mover: &mut outside, allowance: nodes() }];
    let game = referee.play(Start { position: &start, plies: 0 }, &mut seats, |_, _| {}).unwrap();
    assert_eq!(game.moves.len(), 5);
    let Ending::Fault(Colour::Black, fault) = game.ending else { panic!("{:?}", game.ending) };
    assert_eq!(fault.kind, FaultKind::Crash);
    assert_says(&fault.detail, &["its last words: out of luck"]);
    // A new one is as fresh as the first.
    assert!(first_move(&mut rogue.start().unwrap(), nodes(), &stop).is_ok());
}

/// Whatever a program starts ends with it, however it ends itself.
#[test]
fn children_end_with_their_engine() {
    let child = "  isready) [ -e child ] || { sleep 1000 & echo $! >child; }; echo readyok;;";
    for (way, case) in [
        ("quits", ""),
        ("ignores quit", "  quit) :;;"),
        ("hangs", "  'go nodes'*) :;;"),
        ("dies", "  'go nodes'*) exit 1;;"),
    ] {
        let rogue = Rogue::that(&format!("{child}\n{case}"));
        let patience = if way == "hangs" { impatient() } else { patient() };
        let mut engine = rogue.start_with(patience).unwrap();
        let (leader, child) = (rogue.noted("pid"), rogue.noted("child"));
        assert!(lives(leader) && lives(child), "{way}");
        let moved = first_move(&mut engine, nodes(), &AtomicBool::new(false));
        assert_eq!(moved.is_err(), matches!(way, "hangs" | "dies"), "{way}: {moved:?}");
        drop(engine);
        assert!(!lives(leader) && !lives(child), "{way}");
    }
}

/// The pipe is still open then: a child holds it.
#[test]
fn the_end_of_an_engine_is_seen_while_a_child_holds_its_pipe() {
    let rogue = Rogue::that("  'go nodes'*) sleep 1000 & echo $! >child; echo 'gone' >&2; exit 7;;");
    let mut engine = Launcher::default().start(&rogue.command, &variant("chess")).unwrap();
    let fault = first_move(&mut engine, nodes(), &AtomicBool::new(false)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Crash);
    assert_says(&fault.detail, &["exit status: 7", "its last words: gone"]);
    assert!(!lives(rogue.noted("child")));
}

#[test]
fn a_launcher_ends_all_its_engines() {
    let launcher = Launcher::new(patient());
    let rogues = [Rogue::that("  quit) :;;"), Rogue::that("")];
    let engines: Vec<_> =
        rogues.iter().map(|rogue| launcher.start(&rogue.command, &variant("chess")).unwrap()).collect();
    launcher.clone().kill_all();
    for (rogue, mut engine) in rogues.iter().zip(engines) {
        let fault = first_move(&mut engine, nodes(), &AtomicBool::new(false)).unwrap_err();
        assert_says(&fault.detail, &["signal: 9"]);
        assert!(!lives(rogue.noted("pid")));
    }
}

/// Lines without end, bytes that are no text, and a flood that nobody asked for cost neither memory nor sense.
#[test]
fn noise_is_passed_over() {
    let noise =
        "head -c 300000 /dev/zero | tr '\\0' x; echo; printf 'bestmove\\377 \\376\\n'; yes noise | head -n 20000";
    let rogue = Rogue::that(&format!(
        "  uci) {noise}; echo 'id name Noisy'; {noise}; echo uciok;;
  ucinewgame) {noise};;
  'go nodes'*) {noise}; echo 'info depth 3 score cp 12 nodes 9'; {noise}; echo 'bestmove e2e4';;"
    ));
    let mut engine = rogue.start().unwrap();
    assert_eq!(engine.name(), "Noisy");
    assert_eq!(first_move(&mut engine, nodes(), &AtomicBool::new(false)), Ok("e2e4".into()));
    let endless = Rogue::script("echo $$ >pid; exec yes");
    let patience = Patience { handshake: Duration::from_millis(300), ..patient() };
    let error = Launcher::new(patience).start(&endless.command, &variant("chess")).map(|_| ()).unwrap_err();
    assert_says(&error.to_string(), &["no uciok"]);
    assert!(!lives(endless.noted("pid")));
}

/// Nobody waits for an engine when the match is stopped.
#[test]
fn a_match_that_is_stopped_waits_for_nobody() {
    let good = Rogue::that("  'go nodes'*) echo 'info depth 1';;\n  stop) echo 'bestmove d2d4';;");
    let mut engine = good.start().unwrap();
    assert_eq!(first_move(&mut engine, nodes(), &AtomicBool::new(true)), Ok("d2d4".into()));
    let deaf = Rogue::that("  'go nodes'*) yes 'info depth 1';;");
    let mut engine = deaf.start_with(impatient()).unwrap();
    let stop = AtomicBool::new(false);
    let fault = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(50));
            stop.store(true, Ordering::Relaxed);
        });
        first_move(&mut engine, nodes(), &stop).unwrap_err()
    });
    assert_eq!(fault.detail, "no move within 0.15 s of stop");
    assert!(!lives(deaf.noted("pid")));
}
