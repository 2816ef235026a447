//! The engine is set up: variant and options, in an order in which they take effect, each checked before it is sent.

use super::dialogue::{Dialogue, Introduction};
use super::options::{Kind, OptionError, nearest_first};
use super::{EngineCommand, StartError};
use crate::play::Fault;
use fairyforge_engine::variant::Variant;
use std::collections::BTreeMap;

/// The option that names the game.
const VARIANT: &str = "UCI_Variant";
/// The option that names a file with games.
const VARIANT_PATH: &str = "VariantPath";
/// The game that engines play which know nothing of variants.
const CHESS: &str = "chess";
/// How a chosen variant is announced, by us as by Fairy-Stockfish.
const ANNOUNCEMENT: &str = "info string variant ";
/// Our own engine: it remarks on settings only when it refuses them, but for books, which it announces.
const OURS: &str = "Fairyforge ";
/// How it announces a book.
const BOOK: &str = "info string book: ";
/// How a button that was pressed is shown.
const PRESSED: &str = "pressed";

/// What is in force once everything is set.
pub(super) struct Settings {
    /// Every option with its value.
    pub effective: BTreeMap<String, String>,
    /// What the engine said about it.
    pub remarks: Vec<String>,
}

/// Sets the user's options and the variant.
pub(super) fn set_up(
    dialogue: &mut Dialogue,
    introduction: Introduction,
    command: &EngineCommand,
    variant: &Variant,
) -> Result<Settings, StartError> {
    let label = label(&introduction, command);
    let effective = introduction.offers.iter().filter(|offer| offer.kind != Kind::Button);
    let effective = effective.map(|offer| (offer.name.clone(), offer.default.clone())).collect();
    let mut setup =
        Setup { dialogue, introduction, label, settings: Settings { effective, remarks: Vec::new() }, announced: None };
    setup.run(command, variant)?;
    Ok(setup.settings)
}

/// How messages call the engine.
pub(super) fn label(introduction: &Introduction, command: &EngineCommand) -> String {
    if introduction.name.is_empty() { command.cmd.clone() } else { introduction.name.clone() }
}

struct Setup<'a> {
    dialogue: &'a mut Dialogue,
    introduction: Introduction,
    label: String,
    settings: Settings,
    /// The variant it last said it plays.
    announced: Option<String>,
}

impl Setup<'_> {
    fn run(&mut self, command: &EngineCommand, variant: &Variant) -> Result<(), StartError> {
        let mut wanted = self.wanted(&command.options)?;
        let path = take(&mut wanted, VARIANT_PATH);
        let has_path = path.is_some();
        if let Some((name, value)) = path {
            self.set(&name, &value)?;
            // The file's games are offered from now on.
            self.introduction = self.ask(Dialogue::introduce)?;
        }
        match take(&mut wanted, VARIANT) {
            Some((name, value)) => self.set(&name, &value)?,
            None => self.choose(variant, has_path)?,
        }
        // Values may belong to the variant, so they come after it.
        wanted.iter().try_for_each(|(name, value)| self.set(name, value))?;
        self.read_back()
    }

    /// The user's options by the names that the engine gives them. All are checked before any is sent, but for the variant,
    /// whose choices may be in a file.
    fn wanted(&self, options: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, StartError> {
        let mut wanted = BTreeMap::new();
        for (name, value) in options {
            let offer = self.introduction.offer(name).ok_or_else(|| self.unknown(name))?;
            if !offer.is_called(VARIANT) {
                offer.fit(value).map_err(|error| self.refused(error))?;
            }
            if wanted.insert(offer.name.clone(), value.clone()).is_some() {
                return Err(self.refused(OptionError::Twice(offer.name.clone())));
            }
        }
        Ok(wanted)
    }

    /// Tells the engine what is played, unless it knows.
    fn choose(&mut self, variant: &Variant, has_path: bool) -> Result<(), StartError> {
        if self.announced.is_some() {
            // The file itself chose; whether it is our game, the rules will show.
            return Ok(());
        }
        let offer = self.introduction.offer(VARIANT);
        if let Some(value) = offer.and_then(|offer| offer.fit(variant.name()).ok()) {
            return self.set(VARIANT, &value);
        }
        if has_path || variant.name() == CHESS {
            return Ok(());
        }
        let choices = match offer.map(|offer| &offer.kind) {
            Some(Kind::Combo { choices }) => nearest_first(choices.iter().map(String::as_str), variant.name()),
            _ => Vec::new(),
        };
        Err(StartError::Variant { engine: self.label.clone(), variant: variant.name().to_owned(), choices })
    }

    /// Sets one option and hears what the engine says to it.
    fn set(&mut self, name: &str, value: &str) -> Result<(), StartError> {
        let offer = self.introduction.offer(name).ok_or_else(|| self.unknown(name))?;
        let fitting = offer.fit(value).map_err(|error| self.refused(error))?;
        let (name, is_button, line) = (offer.name.clone(), offer.kind == Kind::Button, offer.assignment(&fitting));
        let remarks = self.ask(|dialogue| {
            dialogue.say(&line)?;
            dialogue.ready()
        })?;
        self.settings.effective.insert(name, if is_button { PRESSED.into() } else { fitting });
        remarks.into_iter().try_for_each(|remark| self.hear(remark, &line))
    }

    fn hear(&mut self, remark: String, line: &str) -> Result<(), StartError> {
        if let Some(name) = remark.strip_prefix(ANNOUNCEMENT).and_then(|rest| rest.split_whitespace().next()) {
            self.announced = Some(name.to_owned());
            self.settings.effective.insert(VARIANT.into(), name.to_owned());
        } else if self.introduction.name.starts_with(OURS) && !remark.starts_with(BOOK) {
            let said = remark.trim_start_matches("info string ").to_owned();
            return Err(StartError::Refused { engine: self.label.clone(), line: line.to_owned(), said });
        } else {
            self.settings.remarks.push(remark);
        }
        Ok(())
    }

    /// The numbers of the search as the engine has them, if it tells. Others pass over a command that they do not know.
    fn read_back(&mut self) -> Result<(), StartError> {
        let remarks = self.ask(|dialogue| {
            dialogue.say("params")?;
            dialogue.ready()
        })?;
        for remark in remarks {
            let mut words = remark.strip_prefix("info string param ").unwrap_or_default().split_whitespace();
            if let (Some(name), Some(value)) = (words.next(), words.next()) {
                self.settings.effective.insert(name.to_owned(), value.to_owned());
            }
        }
        Ok(())
    }

    fn ask<T>(&mut self, question: impl FnOnce(&mut Dialogue) -> Result<T, Fault>) -> Result<T, StartError> {
        question(self.dialogue).map_err(|fault| StartError::Failed { engine: self.label.clone(), fault })
    }

    fn unknown(&self, name: &str) -> StartError {
        let offered = nearest_first(self.introduction.offers.iter().map(|offer| offer.name.as_str()), name);
        self.refused(OptionError::Unknown { name: name.to_owned(), offered })
    }

    fn refused(&self, error: OptionError) -> StartError {
        StartError::Option { engine: self.label.clone(), error: Box::new(error) }
    }
}

/// Takes an option out, whatever the case of its name.
fn take(wanted: &mut BTreeMap<String, String>, name: &str) -> Option<(String, String)> {
    let key = wanted.keys().find(|key| key.eq_ignore_ascii_case(name))?.clone();
    wanted.remove_entry(&key)
}
