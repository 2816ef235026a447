//! XBoard's protocol (CECP, version 2), which WinBoard speaks too, with games of any board that XBoard can show.
//!
//! [`run`] is a whole session over any pair of streams. The engine behind it is the one of [`super::uci`]: here are
//! only XBoard's words. `command` reads its lines, `names` says what it calls the games, [`setup`] and [`pieces`] tell
//! it games that it does not know, `wire` writes squares and positions as it does, `answers` says what a search finds.
//!
//! A search runs beside the session. What makes its answer useless (`force`, `new`, `undo`, `quit`, …) ends it unsaid.

mod answers;
mod chain;
mod command;
mod names;
pub mod pieces;
pub mod setup;
mod wire;

use super::command::{Assignment, Go};
use super::engine::Engine;
use super::lines::Hearer;
use super::options::{self, MOST_BOOK_DEPTH, MOST_BOOK_SEED, OptionError, Setting};
use super::thinking::Thinking;
use super::voice::Voice;
use crate::moves::Move;
use crate::pgn::xboard_names::unmistakable;
use crate::search::score::DRAW;
use crate::variant::Variant;
use crate::variant::rules::Colour;
use answers::{Analyst, Audience, Player, Shared, claim};
use command::{Command, Level};
use names::Name;
use setup::Setup;
use std::collections::HashMap;
use std::fmt::Display;
use std::io::{self, BufRead, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread::{self, Scope};
use std::time::Duration;
use wire::Wire;

/// XBoard's name for the game of `new`.
const FIRST_GAME: &str = "normal";
/// The clock of a session that is told none.
const DEFAULT_LEVEL: Level = Level { moves: Some(40), base: Duration::from_secs(300), increment: Duration::ZERO };
/// Depth of the search for a hint, if none is known.
const HINT_DEPTH: i32 = 4;

/// Converses until `quit` or the end of the input.
///
/// # Errors
/// A stream fails; a listener that has gone away is such a failure.
///
/// ```
/// let mut output = Vec::new();
/// fairyforge_engine::protocol::xboard::run("xboard\nprotover 2\nping 1\n".as_bytes(), &mut output)?;
/// assert!(output.ends_with(b"feature done=1\npong 1\n"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn run(input: impl BufRead, output: impl Write + Send) -> io::Result<()> {
    let voice = Voice::new(output);
    thread::scope(|scope| {
        let engine = Engine::new().map_err(io::Error::other)?;
        let wire = Arc::new(Wire::new(Arc::clone(engine.variant()), None));
        let names = Variant::shipped_names().map(names::name).collect();
        let mut session = Session {
            scope,
            voice: &voice,
            engine,
            wire,
            names,
            wires: HashMap::new(),
            files: Vec::new(),
            audience: Audience { program: false, sees_mates: true },
            role: Role::Plays(Colour::Black),
            clock: ClockSettings::default(),
            shared: Arc::default(),
            thinking: None,
            offered_draw: false,
            playable: true,
        };
        let result = session.listen(input);
        session.discard();
        result
    })
}

/// Whom the engine plays for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Nobody.
    Watches,
    Plays(Colour),
    /// Nobody, but it thinks.
    Analyzes,
}

/// What is known of the time.
#[derive(Clone, Copy, Debug)]
struct ClockSettings {
    level: Level,
    /// Number of the full move from which `level` counts.
    since: u32,
    /// The engine's clock, as XBoard last told it.
    left: Option<Duration>,
    a_move: Option<Duration>,
    depth: Option<i32>,
}

impl Default for ClockSettings {
    fn default() -> Self {
        Self { level: DEFAULT_LEVEL, since: 1, left: None, a_move: None, depth: None }
    }
}

/// One conversation.
struct Session<'scope, 'env, W> {
    scope: &'scope Scope<'scope, 'env>,
    voice: &'env Voice<W>,
    engine: Engine,
    wire: Arc<Wire>,
    /// The games on offer.
    names: Vec<Name>,
    /// How the games on offer that were chosen before are told, by our name.
    wires: HashMap<String, Arc<Wire>>,
    /// Games from files: XBoard's name, then the path.
    files: Vec<(String, String)>,
    audience: Audience,
    role: Role,
    clock: ClockSettings,
    shared: Arc<Shared>,
    /// The last search begun, finished or not, until it is settled.
    thinking: Option<Thinking<'scope, Option<Move>>>,
    /// The other side offered a draw, and has not moved since.
    offered_draw: bool,
    /// The last position given was one of the game.
    playable: bool,
}

impl<W> Drop for Session<'_, '_, W> {
    /// However the session ends: the scope waits for its threads, so none may wait for a `stop` that cannot come.
    fn drop(&mut self) {
        if let Some(thinking) = &self.thinking {
            thinking.stop();
        }
    }
}

impl<'env: 'scope, 'scope, W: Write + Send> Hearer for Session<'scope, 'env, W> {
    fn hear(&mut self, line: &str) -> io::Result<ControlFlow<()>> {
        match command::parse(line) {
            Ok(Command::Quit) => Ok(ControlFlow::Break(())),
            Ok(command) => self.obey(&command).map(ControlFlow::Continue),
            Err(error) => self.voice.say(error).map(ControlFlow::Continue),
        }
    }

    fn refuse_line(&mut self, expected: &str) -> io::Result<()> {
        self.voice.say(format_args!("Error (expected {expected}): line"))
    }

    /// At the end of the input a search that ends by itself still answers.
    fn finish(&mut self) -> io::Result<()> {
        if self.role == Role::Analyzes {
            self.discard();
        }
        self.fetch();
        Ok(())
    }
}

impl<'env: 'scope, 'scope, W: Write + Send> Session<'scope, 'env, W> {
    /// Commands that leave a search alone; all others are for a session at rest.
    fn obey(&mut self, command: &Command<'_>) -> io::Result<()> {
        match *command {
            Command::Nothing | Command::Quit => Ok(()),
            Command::Protocol => self.introduce(),
            Command::MoveNow => {
                self.stop_playing();
                Ok(())
            }
            Command::Ping(number) => self.pong(number),
            Command::Post(posts) => {
                self.shared.desk().posts = posts;
                Ok(())
            }
            Command::Status => self.say_status(),
            Command::Time(left) => {
                self.clock.left = Some(left);
                Ok(())
            }
            Command::Computer => {
                self.audience.program = true;
                Ok(())
            }
            Command::Draw => self.consider_draw(),
            Command::Book => self.say_book(),
            _ => self.obey_at_rest(command),
        }
    }

    fn obey_at_rest(&mut self, command: &Command<'_>) -> io::Result<()> {
        if let Command::Move(text) = *command {
            return self.hear_move(text);
        }
        let analyzes = self.role == Role::Analyzes;
        self.discard();
        match *command {
            Command::New => self.begin()?,
            Command::Variant(name) => self.choose(name)?,
            Command::Force | Command::Result | Command::LeaveAnalysis => self.role = Role::Watches,
            Command::Go => return self.play_for(self.engine.position().side_to_move()),
            Command::PlayOther => self.role = Role::Plays(self.engine.position().side_to_move().opponent()),
            Command::Level(level) => {
                self.clock.level = level;
                self.clock.since = self.engine.position().full_moves();
                (self.clock.left, self.clock.a_move) = (None, None);
            }
            Command::SecondsAMove(time) => self.clock.a_move = Some(time),
            Command::Depth(plies) => self.clock.depth = Some(plies),
            Command::SetBoard(fen) => self.set_board(fen)?,
            Command::Hint => self.hint()?,
            Command::Undo => self.take_back(1, "undo")?,
            Command::Remove => self.take_back(2, "remove")?,
            Command::Analyze => self.role = Role::Analyzes,
            Command::Memory(mebibytes) if mebibytes.max(1) == self.engine.hash() => {}
            Command::Memory(mebibytes) => {
                let done = self.engine.set_hash(mebibytes.max(1));
                self.tell(done)?;
            }
            Command::Option { name, value } => self.set_option(name, value)?,
            _ => {}
        }
        // Whatever was set up or taken back: the analysis goes on from there, and so does a game that waits for a move.
        let ends_analysis = matches!(command, Command::Force | Command::Result | Command::LeaveAnalysis);
        if analyzes && !ends_analysis {
            self.role = Role::Analyzes;
        }
        if self.role == Role::Analyzes { self.analyze() } else { Ok(()) }
    }

    fn introduce(&self) -> io::Result<()> {
        let version = env!("CARGO_PKG_VERSION");
        self.voice.say(format_args!(
            "feature done=0\n\
             feature myname=\"Fairyforge {version}\" ping=1 setboard=1 playother=1 usermove=1 san=0 time=1 draw=1\n\
             feature sigint=0 sigterm=0 reuse=1 analyze=1 colors=0 ics=0 name=0 pause=0 nps=0 debug=1 memory=1 smp=0\n\
             feature exclude=0 setscore=0\n\
             {}\n\
             feature option=\"VariantPath -file \"\n\
             feature option=\"Weights -file \"\n\
             feature option=\"EvalFile -file \"\n\
             feature option=\"SearchFile -file \"\n\
             feature option=\"EndgamePath -path \"\n\
             feature option=\"OwnBook -check 0\"\n\
             feature option=\"BookFile -file \"\n\
             feature option=\"BookDepth -spin {MOST_BOOK_DEPTH} 0 {MOST_BOOK_DEPTH}\"\n\
             feature option=\"BookSeed -spin 0 0 {MOST_BOOK_SEED}\"\n\
             feature option=\"Clear Hash -button\"\n\
             feature done=1",
            self.variants_feature()
        ))
    }

    fn variants_feature(&self) -> String {
        let mut names: Vec<&str> = self.names.iter().map(|name| name.theirs.as_str()).collect();
        // XBoard takes the first for its default.
        names.sort_by_key(|&name| name != FIRST_GAME);
        let files = self.files.iter().map(|(name, _)| name.as_str()).filter(|name| !names.contains(name));
        let all: Vec<&str> = names.iter().copied().chain(files).collect();
        format!("feature variants=\"{}\"", all.join(","))
    }

    /// A pong must come after everything before its ping, a move under way included; an analysis does not count.
    fn pong(&self, number: &str) -> io::Result<()> {
        {
            let mut desk = self.shared.desk();
            if desk.thinking && desk.wanted {
                desk.pings.push(number.chars().take(20).collect());
                return Ok(());
            }
        }
        self.voice.say(format_args!("pong {number:.20}"))
    }

    fn stop_playing(&self) {
        let wanted = self.shared.desk().wanted;
        if let Some(thinking) = self.thinking.as_ref().filter(|_| wanted) {
            thinking.stop();
        }
    }

    fn say_status(&self) -> io::Result<()> {
        if self.role != Role::Analyzes {
            return Ok(());
        }
        let moves = self.engine.position().legal_moves().len();
        let last = self.shared.desk().last.clone();
        let (time, nodes, depth) = last.map_or((0, 0, 0), |found| (found.hundredths, found.nodes, found.depth));
        self.voice.say(format_args!("stat01: {time} {nodes} {depth} 0 {moves}"))
    }

    /// Accepts a draw that the rules give, and one that the last search thinks not worse than the game.
    fn consider_draw(&mut self) -> io::Result<()> {
        self.offered_draw = true;
        self.settle();
        let last = self.shared.desk().last.as_ref().map(|found| found.score);
        let drawn = self.engine.game().outcome().is_some_and(|outcome| outcome.winner.is_none());
        if drawn || last.is_some_and(|score| score <= DRAW) { self.voice.say("offer draw") } else { Ok(()) }
    }

    fn begin(&mut self) -> io::Result<()> {
        self.audience.program = false;
        self.offered_draw = false;
        self.clock.depth = None;
        self.clock.left = None;
        self.clock.since = 1;
        self.role = Role::Plays(Colour::Black);
        self.shared.desk().last = None;
        self.engine.begin_game();
        self.choose(FIRST_GAME)
    }

    /// Changes the game, and tells XBoard about it.
    fn choose(&mut self, theirs: &str) -> io::Result<()> {
        let file = self.files.iter().find(|(name, _)| name == theirs).map(|(_, path)| path.clone());
        let named = self.names.iter().find(|name| name.theirs == theirs || name.ours == theirs).cloned();
        let (load, known) = match (file, named) {
            (Some(path), _) => (path, false),
            (None, Some(name)) => (name.ours, name.known),
            (None, None) => {
                return self.voice.say(format_args!("Error (unknown variant): variant {theirs:.40}"));
            }
        };
        match self.engine.set_variant(&load) {
            Ok(remarks) => self.comment(&remarks)?,
            Err(error) => return self.voice.say(one_line("tellusererror", &error)),
        }
        // In games with men in hand XBoard does not judge wins at all.
        self.audience.sees_mates = known || self.engine.variant().rules().drops.is_some();
        self.wire = self.wire_of(&load, known)?;
        self.playable = true;
        self.clock.since = self.engine.position().full_moves();
        self.wire.setup_lines().into_iter().try_for_each(|line| self.voice.say(line))
    }

    /// How XBoard is spoken to about the game that has just been loaded. Made once for each game on offer, since XBoard
    /// chooses anew before every game.
    fn wire_of(&mut self, load: &str, known: bool) -> io::Result<Arc<Wire>> {
        if let Some(wire) = self.wires.get(load) {
            return Ok(Arc::clone(wire));
        }
        let variant = Arc::clone(self.engine.variant());
        let setup = if known { None } else { Some(Setup::new(&variant)) };
        let setup = match setup.transpose() {
            Ok(setup) => setup,
            Err(error) => {
                self.voice.say(one_line("tellusererror cannot be shown in XBoard:", &error))?;
                return Ok(Arc::new(Wire::new(variant, None)));
            }
        };
        let wire = Arc::new(Wire::new(variant, setup));
        if self.names.iter().any(|name| name.ours == load) {
            self.wires.insert(load.to_owned(), Arc::clone(&wire));
        }
        Ok(wire)
    }

    fn set_board(&mut self, fen: &str) -> io::Result<()> {
        match self.wire.read_fen(fen) {
            Ok(position) => {
                self.engine.begin_at(position);
                self.playable = true;
                self.clock.since = self.engine.position().full_moves();
                Ok(())
            }
            Err(error) => {
                self.playable = false;
                self.voice.say(one_line("tellusererror Illegal position:", &error))
            }
        }
    }

    fn take_back(&mut self, moves: usize, command: &str) -> io::Result<()> {
        self.offered_draw = false;
        if self.engine.take_back(moves) {
            return Ok(());
        }
        self.voice.say(format_args!("Error (no move to take back): {command}"))
    }

    fn set_option(&mut self, name: &str, value: Option<&str>) -> io::Result<()> {
        let path = value.filter(|value| !value.is_empty());
        match (name.to_ascii_lowercase().as_str(), path) {
            ("clear hash", _) => {
                self.engine.forget();
                Ok(())
            }
            ("weights", path) => {
                let done = self.engine.set_weights(path.map(Into::into));
                self.tell(done)
            }
            ("evalfile", path) => {
                let done = self.engine.set_network(path.map(Into::into));
                self.tell(done)
            }
            ("endgamepath", path) => self.set_endgames(path),
            ("variantpath", None) => Ok(()),
            ("variantpath", Some(path)) => self.add_file(path),
            _ => self.set_search(name, value),
        }
    }

    /// What a folder has is said in comments, as XBoard sets options before it chooses the game, and tables of other games are no
    /// reason to disturb the user.
    fn set_endgames(&mut self, path: Option<&str>) -> io::Result<()> {
        match self.engine.set_endgames(path.map(Into::into)) {
            Ok(remarks) => self.comment(&remarks),
            Err(error) => self.voice.say(one_line("tellusererror", &error)),
        }
    }

    fn comment(&self, remarks: &[String]) -> io::Result<()> {
        remarks.iter().try_for_each(|remark| self.voice.say(one_line("#", remark)))
    }

    /// The numbers of the search are not offered one by one, as XBoard would fill the screen with them; who knows their names may
    /// set them all the same.
    fn set_search(&mut self, name: &str, value: Option<&str>) -> io::Result<()> {
        let done = match options::setting(&Assignment { name, value: Some(value.unwrap_or_default()) }) {
            Ok(Setting::SearchFile(path)) => self.engine.set_search_file(path),
            Ok(Setting::Param(param, value)) => self.engine.set_param(param, value),
            Ok(Setting::Book(setting)) => match self.engine.set_book(setting) {
                Ok(remarks) => return self.comment(&remarks),
                Err(error) => Err(error),
            },
            Ok(_) | Err(OptionError::Unknown { .. }) => {
                return self.voice.say(format_args!("Error (unknown option): option {name:.40}"));
            }
            Err(error) => return self.voice.say(one_line("tellusererror", &error)),
        };
        self.tell(done)
    }

    /// The moves of the book, each line behind a blank, then an empty line, as XBoard shows them.
    fn say_book(&self) -> io::Result<()> {
        let moves = self.engine.book_list();
        let lines: String = moves.iter().map(|line| format!(" {line}\n")).collect();
        self.voice.say(if lines.is_empty() { " no book\n" } else { &lines })
    }

    /// Offers a game from a file under the name that the file gives it.
    fn add_file(&mut self, path: &str) -> io::Result<()> {
        match Variant::load(path) {
            Ok(variant) => {
                let name = unmistakable(variant.name());
                self.files.retain(|(known, _)| *known != name);
                self.files.push((name, path.into()));
                self.voice.say(self.variants_feature())
            }
            Err(error) => self.voice.say(one_line("tellusererror", &error)),
        }
    }

    fn tell(&self, done: Result<(), impl Display>) -> io::Result<()> {
        done.or_else(|error| self.voice.say(one_line("tellusererror", &error)))
    }

    fn hear_move(&mut self, text: &str) -> io::Result<()> {
        let analyzes = self.role == Role::Analyzes;
        if analyzes {
            self.discard();
        } else if !self.settle() {
            return self.voice.say(format_args!("Error (command not legal now): usermove {text:.40}"));
        }
        let read = self.wire.read_move(self.engine.position(), text).filter(|_| self.playable);
        let Some(mv) = read else {
            self.voice.say(format_args!("Illegal move: {text:.40}"))?;
            return if analyzes { self.analyze() } else { Ok(()) };
        };
        self.engine.play(mv);
        match self.role {
            Role::Watches => Ok(()),
            Role::Analyzes => self.analyze(),
            Role::Plays(colour) if colour == self.engine.position().side_to_move() => self.reply(),
            Role::Plays(_) => Ok(()),
        }
    }

    fn play_for(&mut self, colour: Colour) -> io::Result<()> {
        self.role = Role::Plays(colour);
        self.reply()
    }

    /// The engine is to move: it says that the game is over, or thinks.
    fn reply(&mut self) -> io::Result<()> {
        let offered = std::mem::take(&mut self.offered_draw);
        if !self.playable {
            return Ok(());
        }
        if let Some(outcome) = self.engine.game().outcome() {
            let can_move = self.engine.position().has_legal_move();
            let drawn = outcome.winner.is_none();
            let side = self.engine.position().side_to_move();
            if drawn && self.audience.program && (offered || can_move) {
                self.voice.say("offer draw")?;
            } else if !self.audience.program || !can_move || outcome.winner == Some(side.opponent()) {
                return self.voice.say(claim(outcome));
            }
            if !can_move {
                return Ok(());
            }
        }
        self.think()
    }

    fn think(&mut self) -> io::Result<()> {
        let position = self.engine.position();
        let all = position.legal_moves();
        let sayable = self.wire.sayable_moves(position);
        let only: Vec<String> = if sayable.len() < all.len() {
            sayable.iter().map(|&mv| position.move_text(mv)).collect()
        } else {
            Vec::new()
        };
        let search_moves = only.iter().map(String::as_str).collect();
        let go = Go { search_moves, ..self.limits() };
        let task = match self.engine.task(&go) {
            Ok(task) => task,
            Err(error) => return self.voice.say(one_line("tellusererror", &error)),
        };
        self.comment(&task.advice.remarks)?;
        self.expect_answer(true);
        let player = Player {
            voice: self.voice,
            shared: Arc::clone(&self.shared),
            wire: Arc::clone(&self.wire),
            game: self.engine.game().clone(),
            audience: self.audience,
        };
        self.thinking = Some(Thinking::search(self.scope, task, player)?);
        Ok(())
    }

    fn expect_answer(&self, wanted: bool) {
        let mut desk = self.shared.desk();
        (desk.thinking, desk.wanted) = (true, wanted);
    }

    fn limits(&self) -> Go<'static> {
        let clock = &self.clock;
        let position = self.engine.position();
        let mut go = Go { depth: clock.depth, move_time: clock.a_move, ..Go::default() };
        if go.move_time.is_none() {
            let side = position.side_to_move().index();
            go.left[side] = Some(clock.left.unwrap_or(clock.level.base));
            go.increment[side] = clock.level.increment;
            let played = position.full_moves().saturating_sub(clock.since);
            go.moves_to_go = clock.level.moves.map(|moves| moves - played % moves);
        }
        go
    }

    fn analyze(&mut self) -> io::Result<()> {
        if !self.playable {
            return Ok(());
        }
        let go = Go { infinite: true, ..Go::default() };
        let Ok(task) = self.engine.task(&go) else { return Ok(()) };
        self.expect_answer(false);
        let (shared, wire) = (Arc::clone(&self.shared), Arc::clone(&self.wire));
        let analyst = Analyst { voice: self.voice, shared, wire };
        self.thinking = Some(Thinking::search(self.scope, task, analyst)?);
        Ok(())
    }

    /// The move that the last search expects here, or the one that a short search finds.
    fn hint(&mut self) -> io::Result<()> {
        let expected = self.shared.desk().last.as_ref().and_then(|found| found.line.get(1).copied());
        let legal = self.engine.position().legal_moves();
        let mv = match expected.filter(|mv| legal.contains(mv)) {
            Some(mv) => Some(mv),
            None => self.quick_search()?,
        };
        let position = self.engine.position();
        mv.map_or(Ok(()), |mv| self.voice.say(format_args!("Hint: {}", self.wire.shown_move(position, mv))))
    }

    fn quick_search(&mut self) -> io::Result<Option<Move>> {
        let Ok(task) = self.engine.task(&Go { depth: Some(HINT_DEPTH), ..Go::default() }) else { return Ok(None) };
        let thinking = Thinking::search(self.scope, task, answers::Silent)?;
        Ok(thinking.settle().ok().flatten().and_then(|(memory, found)| {
            self.engine.give_back(memory);
            found
        }))
    }

    /// Fetches the move of a search that has answered; `false` if it still thinks.
    fn settle(&mut self) -> bool {
        if self.shared.desk().thinking {
            return false;
        }
        self.fetch();
        true
    }

    /// Ends a search without its answer, or fetches the answer that it has given.
    fn discard(&mut self) {
        let pings = {
            let mut desk = self.shared.desk();
            desk.wanted = false;
            std::mem::take(&mut desk.pings)
        };
        if let Some(thinking) = &self.thinking {
            thinking.stop();
        }
        self.fetch();
        for number in pings {
            let _ = self.voice.say(format_args!("pong {number}"));
        }
    }

    fn fetch(&mut self) {
        match self.thinking.take().map(Thinking::settle) {
            Some(Ok(Some((memory, said)))) => {
                self.engine.give_back(memory);
                said.into_iter().for_each(|mv| self.engine.play(mv));
            }
            Some(Err(_)) => {
                // The search failed; its memory is lost, and the next one makes its own.
                self.shared.desk().thinking = false;
            }
            Some(Ok(None)) | None => {}
        }
    }
}

/// A message in one line, as XBoard's must be.
fn one_line(before: &str, message: &impl Display) -> String {
    let message = message.to_string();
    let words: Vec<&str> = message.split_whitespace().collect();
    let mut text = format!("{before} {}", words.join(" "));
    if let Some((end, _)) = text.char_indices().nth(400) {
        text.truncate(end);
    }
    text
}
