//! The players of a match: our engine with weights and parameters of its own, or a program outside.

use super::external::{EngineCommand, ExternalEngine, Lag, Launcher, RulesComparison, StartError};
use super::journal::JournalPlayer;
use super::matches::MatchError;
use crate::play::{Allowance, Budget, EngineMover, Fault, Mover, Thought};
use fairyforge_engine::evaluate::Judge;
use fairyforge_engine::game::Game;
use fairyforge_engine::search::Params;
use fairyforge_engine::variant::Variant;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A player of a match.
#[derive(Clone)]
pub struct Contestant {
    /// What tables call it; no two of a match are called alike.
    pub name: String,
    /// What it may spend on its moves.
    pub allowance: Allowance,
    /// Who it is.
    pub entrant: Entrant,
}

/// Who plays.
#[derive(Clone)]
pub enum Entrant {
    /// Our engine, in this process.
    Own(OwnEngine),
    /// A program outside, started once a thread.
    External {
        /// How it is started.
        command: EngineCommand,
        /// Who starts it.
        launcher: Launcher,
    },
}

/// Our engine with numbers of its own.
#[derive(Clone)]
pub struct OwnEngine {
    /// How it judges positions.
    pub judge: Judge,
    /// What its weights are called: a digest or a word.
    pub weights: String,
    /// The numbers of its search.
    pub params: Params,
    /// Size of its table, in mebibytes.
    pub table_mebibytes: usize,
}

/// A player as it has introduced itself.
#[derive(Clone, Debug)]
pub struct Introduction {
    /// For the journal.
    pub player: JournalPlayer,
    /// What the user should know of it, a sentence each.
    pub remarks: Vec<String>,
}

/// The players as a journal knows them, for matches in which they cannot have remarks.
///
/// # Errors
/// A program outside cannot be started or set up, or plays by other rules.
pub fn introduced(variant: &Arc<Variant>, contestants: &[Contestant]) -> Result<Vec<JournalPlayer>, MatchError> {
    contestants.iter().map(|contestant| Ok(contestant.introduce(variant)?.player)).collect()
}

impl Contestant {
    /// Asks the player who it is and what is in force. A program outside is started for that, its rules are compared with
    /// ours, and it is ended again.
    ///
    /// # Errors
    /// The program cannot be started or set up, or plays by other rules.
    pub fn introduce(&self, variant: &Arc<Variant>) -> Result<Introduction, StartError> {
        let (engine, effective, remarks) = match &self.entrant {
            Entrant::Own(own) => (format!("fairyforge {}", env!("CARGO_PKG_VERSION")), own.effective(), Vec::new()),
            Entrant::External { command, launcher } => {
                let started = launcher.start(command, variant)?;
                // Another program under the same name is another player.
                let digest = command.program_digest().unwrap_or_else(|| "unknown".into());
                let engine = format!("{} (program {digest:.12})", started.name());
                (engine, started.effective().clone(), self.remarks(&started))
            }
        };
        let player = JournalPlayer { name: self.name.clone(), engine, limits: self.allowance.to_string(), effective };
        Ok(Introduction { player, remarks })
    }

    fn remarks(&self, started: &ExternalEngine) -> Vec<String> {
        let name = &self.name;
        let said = started.remarks().iter().map(|remark| format!("{name} says: {remark}"));
        let rules = match started.rules() {
            RulesComparison::NotOffered => Some(format!(
                "warning: {name} does not count moves (go perft), so its rules could not be compared with ours"
            )),
            RulesComparison::Equal { .. } => None,
        };
        said.chain(rules).collect()
    }

    /// The player at a board.
    pub(super) fn mover(&self, variant: &Arc<Variant>) -> Result<Seated<'_>, StartError> {
        Ok(match &self.entrant {
            Entrant::Own(own) => Seated::Own(Box::new(EngineMover::new(&own.judge, &own.params, own.table_mebibytes))),
            Entrant::External { command, launcher } => Seated::External(Box::new(launcher.start(command, variant)?)),
        })
    }
}

impl OwnEngine {
    fn effective(&self) -> BTreeMap<String, String> {
        let numbers = self.params.values().map(|(row, value)| (row.name.to_owned(), value.to_string()));
        let mut settings: BTreeMap<_, _> = numbers.collect();
        settings.insert("weights".into(), self.weights.clone());
        settings.insert("table_mebibytes".into(), self.table_mebibytes.to_string());
        settings
    }
}

/// A player at a board.
pub(super) enum Seated<'a> {
    Own(Box<EngineMover<'a>>),
    External(Box<ExternalEngine>),
}

impl Seated<'_> {
    /// How late its lines came, if it is outside.
    pub fn lag(&self) -> Option<Lag> {
        match self {
            Self::Own(_) => None,
            Self::External(engine) => Some(engine.lag()),
        }
    }
}

impl Mover for Seated<'_> {
    fn new_game(&mut self, game: &Game) -> Result<(), Fault> {
        match self {
            Self::Own(engine) => engine.new_game(game),
            Self::External(engine) => engine.new_game(game),
        }
    }

    fn choose(&mut self, game: &Game, budget: &Budget, stop: &AtomicBool) -> Result<Thought, Fault> {
        match self {
            Self::Own(engine) => engine.choose(game, budget, stop),
            Self::External(engine) => engine.choose(game, budget, stop),
        }
    }
}
