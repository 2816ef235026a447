//! External engines: programs that speak UCI, as players.
//!
//! [`Launcher::start`] runs an [`EngineCommand`], sets variant and options, and compares the rules; the
//! [`ExternalEngine`] that comes out is a [`Mover`] like any other. Whatever it does, it cannot keep a match from going
//! on: it is watched, waited for no longer than [`Patience`] says, and killed with everything it started. Who plays whom,
//! and what becomes of a fault, is not decided here.
//!
//! Bottom up: `group` and `process` run a program, `dialogue` asks it, `settings` and `rules` prepare it, `uci` has
//! the protocol's words for a move.

mod command;
mod dialogue;
mod group;
mod lines;
mod options;
mod patience;
mod process;
mod rules;
mod settings;
mod uci;

pub use command::{CommandError, EngineCommand, Proto, ProtoError};
pub use options::OptionError;
pub use patience::Patience;
pub use rules::{RulesComparison, RulesMismatch};

use crate::play::{Budget, Fault, FaultKind, Mover, Thought};
use dialogue::{Dialogue, shortened};
use fairyforge_engine::game::Game;
use fairyforge_engine::variant::Variant;
use group::Groups;
use patience::Guard;
use process::Process;
use rules::Trouble;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Starts engines, and can end all of them at once.
#[derive(Clone, Debug, Default)]
pub struct Launcher {
    patience: Patience,
    groups: Groups,
    stop: Arc<AtomicBool>,
    /// Commands of engines that do not count leaves: asking costs time at every start.
    uncounted: Arc<Mutex<BTreeSet<String>>>,
}

/// Why an engine could not be made a player.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its description makes no sense.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The program does not run.
    #[error(
        "cannot start {cmd:?}: {source} (expected a program on the PATH, or a path with a folder such as ./engine)"
    )]
    Spawn {
        /// The description's command.
        cmd: String,
        /// What the system says.
        source: io::Error,
    },
    /// It failed before the first game.
    #[error("{engine} failed at the start: {fault}")]
    Failed {
        /// The engine's name, or its command before it has told its name.
        engine: String,
        /// How.
        fault: Fault,
    },
    /// An option it does not have or take.
    #[error("{engine}: {error}")]
    Option {
        /// The engine's name.
        engine: String,
        /// What is wrong.
        error: Box<OptionError>,
    },
    /// It was told something and refused.
    #[error("{engine} refuses {line:?}: {said}")]
    Refused {
        /// The engine's name.
        engine: String,
        /// What it was told.
        line: String,
        /// What it said.
        said: String,
    },
    /// It does not know the game.
    #[error(
        "{engine} does not offer {variant} (UCI_Variant offers: {}); set option.UCI_Variant to its name for these \
         rules, or option.VariantPath to a file with them",
        options::listed(.choices)
    )]
    Variant {
        /// The engine's name.
        engine: String,
        /// Our game.
        variant: String,
        /// The games it offers, the nearest name first.
        choices: Vec<String>,
    },
    /// It plays another game.
    #[error("{engine} plays {variant} by other rules than ours: {mismatch}")]
    Rules {
        /// The engine's name.
        engine: String,
        /// Our game.
        variant: String,
        /// What differs.
        mismatch: Box<RulesMismatch>,
    },
}

/// How much later the lines of an engine came than it said, over the moves it made.
///
/// Engines tell whole milliseconds, so up to one is rounding; more is a busy machine, or an engine that holds lines back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lag {
    /// Moves for which the engine told its time.
    pub moves: u64,
    /// Sum over these moves.
    pub sum: Duration,
    /// The greatest.
    pub max: Duration,
}

impl Lag {
    /// The mean over the moves; zero before the first.
    pub fn mean(&self) -> Duration {
        if self.moves == 0 { Duration::ZERO } else { self.sum.div_f64(self.moves as f64) }
    }

    /// Over the moves of both.
    pub fn with(self, other: Self) -> Self {
        Self { moves: self.moves + other.moves, sum: self.sum + other.sum, max: self.max.max(other.max) }
    }

    fn count(&mut self, lag: Duration) {
        self.moves += 1;
        self.sum += lag;
        self.max = self.max.max(lag);
    }
}

impl Launcher {
    /// A launcher that waits no longer than this.
    pub fn new(patience: Patience) -> Self {
        Self { patience, ..Self::default() }
    }

    /// The same, and nothing is waited for any more once `stop` is set: what is asked then fails at once.
    #[must_use]
    pub fn stopped_by(self, stop: &Arc<AtomicBool>) -> Self {
        Self { stop: Arc::clone(stop), ..self }
    }

    /// Starts an engine, sets its options, and compares the rules, if it has not shown before that it cannot count.
    ///
    /// # Errors
    /// It cannot be started or set up, or plays another game. Nothing of it is left running then.
    pub fn start(&self, command: &EngineCommand, variant: &Arc<Variant>) -> Result<ExternalEngine, StartError> {
        let process = Process::start(command.command()?, &self.groups)
            .map_err(|source| StartError::Spawn { cmd: command.cmd.clone(), source })?;
        let mut dialogue = Dialogue::new(process, self.patience, Arc::clone(&self.stop));
        let introduction = dialogue.introduce().map_err(|fault| failed(&command.cmd, fault))?;
        let name = settings::label(&introduction, command);
        let settings = settings::set_up(&mut dialogue, introduction, command, variant)?;
        let rules = self.rules(command, &mut dialogue, variant).map_err(|trouble| match trouble {
            Trouble::Fault(fault) => failed(&name, fault),
            Trouble::Mismatch(mismatch) => StartError::Rules {
                engine: name.clone(),
                variant: variant.name().to_owned(),
                mismatch: Box::new(mismatch),
            },
        })?;
        let settings::Settings { effective, remarks } = settings;
        Ok(ExternalEngine { dialogue, name, effective, remarks, rules, lag: Lag::default() })
    }

    fn rules(
        &self,
        command: &EngineCommand,
        dialogue: &mut Dialogue,
        variant: &Arc<Variant>,
    ) -> Result<RulesComparison, Trouble> {
        // A thread that panicked leaves the set whole.
        let uncounted = || self.uncounted.lock().unwrap_or_else(PoisonError::into_inner);
        if uncounted().contains(&command.cmd) {
            return Ok(RulesComparison::NotOffered);
        }
        let rules = rules::compare(dialogue, variant)?;
        if matches!(rules, RulesComparison::NotOffered) {
            uncounted().insert(command.cmd.clone());
        }
        Ok(rules)
    }

    /// Kills every engine that this launcher or a clone of it has started, for the case that the program ends at once.
    pub fn kill_all(&self) {
        self.groups.kill();
    }
}

fn failed(engine: &str, fault: Fault) -> StartError {
    StartError::Failed { engine: engine.to_owned(), fault }
}

/// An engine in a process of its own, ready to play. It ends with this value.
pub struct ExternalEngine {
    dialogue: Dialogue,
    name: String,
    effective: BTreeMap<String, String>,
    remarks: Vec<String>,
    rules: RulesComparison,
    lag: Lag,
}

impl ExternalEngine {
    /// Starts an engine with the usual patience; see [`Launcher::start`].
    ///
    /// # Errors
    /// It cannot be started or set up, or plays another game.
    pub fn start(command: &EngineCommand, variant: &Arc<Variant>) -> Result<Self, StartError> {
        Launcher::default().start(command, variant)
    }

    /// Its name as it says, or its command.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Every option with the value in force, and the numbers of its search if it tells them.
    pub fn effective(&self) -> &BTreeMap<String, String> {
        &self.effective
    }

    /// What it said while it was set up. Some engines refuse a value only here.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// What the comparison of the rules has shown.
    pub fn rules(&self) -> RulesComparison {
        self.rules
    }

    /// How late its lines came so far.
    pub fn lag(&self) -> Lag {
        self.lag
    }

    /// Hears the search until its answer.
    fn answer(&mut self, mut guard: Guard, stop: &AtomicBool) -> Result<Answer, Fault> {
        let began = Instant::now();
        let mut answer = Answer::default();
        let mut stopped_at: Option<Instant> = None;
        loop {
            if stopped_at.is_none() && stop.load(Ordering::Relaxed) {
                self.dialogue.say("stop")?;
                stopped_at = Some(Instant::now());
            }
            if let Some(why) = self.given_up(&guard, stopped_at) {
                return Err(self.dialogue.give_up(why));
            }
            let Some(line) = self.dialogue.hear()? else { continue };
            match line.text.trim().split_once(' ').unwrap_or((line.text.trim(), "")) {
                ("info", rest) => {
                    guard.sign_of_life(line.at);
                    answer.hear(&uci::info(rest), line.at.saturating_duration_since(began));
                }
                ("bestmove", rest) => {
                    answer.text = rest.split_whitespace().next().unwrap_or_default().to_owned();
                    return Ok(answer);
                }
                _ => {}
            }
        }
    }

    fn given_up(&self, guard: &Guard, stopped_at: Option<Instant>) -> Option<String> {
        let patience = self.dialogue.patience.stop;
        let ignores_stop = stopped_at.filter(|at| at.elapsed() > patience);
        ignores_stop.map(|_| format!("no move within {} s of stop", patience.as_secs_f64())).or_else(|| guard.strikes())
    }
}

/// What a search came to.
#[derive(Debug, Default)]
struct Answer {
    /// The move as the engine wrote it.
    text: String,
    said: uci::Said,
    /// How late the last line came that told a time.
    lag: Option<Duration>,
}

impl Answer {
    fn hear(&mut self, info: &uci::Info, since_go: Duration) {
        self.said.hear(info);
        self.lag = info.time.map(|told| since_go.saturating_sub(told)).or(self.lag);
    }

    /// The move, if the game has it.
    fn thought(&self, game: &Game) -> Result<Thought, Fault> {
        let mv = game.position().parse_move(&self.text).map_err(|_| Fault {
            kind: FaultKind::IllegalMove,
            detail: format!("{:?} in {}", shortened(&self.text), game.position().fen()),
        })?;
        Ok(Thought { mv, score: self.said.score(), depth: self.said.depth(), nodes: self.said.nodes })
    }
}

impl Mover for ExternalEngine {
    fn new_game(&mut self, _: &Game) -> Result<(), Fault> {
        self.dialogue.say("ucinewgame")?;
        self.dialogue.ready().map(drop)
    }

    fn choose(&mut self, game: &Game, budget: &Budget, stop: &AtomicBool) -> Result<Thought, Fault> {
        let side = game.position().side_to_move();
        self.dialogue.forget_unheard();
        let guard = Guard::over(&self.dialogue.patience, budget, side);
        self.dialogue.say(&format!("{}\n{}", uci::position(game), uci::go(budget, side)))?;
        let answer = self.answer(guard, stop)?;
        if let Some(lag) = answer.lag {
            self.lag.count(lag);
        }
        answer.thought(game)
    }
}
