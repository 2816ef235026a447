//! Question and answer with an engine: every question ends, by an answer, by the end of the program, or by the end of our
//! patience.

use super::options::{Offer, offer};
use super::patience::Patience;
use super::process::{Line, Process};
use crate::play::{Fault, FaultKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Between two looks at whether the program still runs, and at a flag that asks to stop.
const GLANCE: Duration = Duration::from_millis(10);
/// Options that are kept of an introduction.
const MOST_OFFERS: usize = 1_000;
/// Remarks that are kept of one answer.
const MOST_REMARKS: usize = 1_000;
/// Characters of a remark that are kept.
const MOST_REMARKED: usize = 300;

/// A conversation with a running engine.
pub(super) struct Dialogue {
    process: Process,
    pub patience: Patience,
    /// Set when nobody wants an answer any more.
    stop: Arc<AtomicBool>,
}

/// What an engine says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Introduction {
    /// Empty if it has none.
    pub name: String,
    pub offers: Vec<Offer>,
}

impl Introduction {
    /// The option of this name.
    pub fn offer(&self, name: &str) -> Option<&Offer> {
        self.offers.iter().find(|offer| offer.is_called(name))
    }
}

impl Dialogue {
    pub const fn new(process: Process, patience: Patience, stop: Arc<AtomicBool>) -> Self {
        Self { process, patience, stop }
    }

    /// Whether nobody wants an answer any more.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Says one line or several.
    pub fn say(&mut self, lines: &str) -> Result<(), Fault> {
        self.process.say(lines)
    }

    /// The next line, if one comes before long.
    pub fn hear(&mut self) -> Result<Option<Line>, Fault> {
        self.process.hear(GLANCE)
    }

    /// Forgets what was said and not heard.
    pub fn forget_unheard(&mut self) {
        self.process.forget_unheard();
    }

    /// Hears lines until `hears` finds what it waits for; false if that does not come in time, or nobody wants it any
    /// more.
    pub fn listen(&mut self, patience: Duration, mut hears: impl FnMut(&str) -> bool) -> Result<bool, Fault> {
        let began = Instant::now();
        while began.elapsed() < patience && !self.is_stopped() {
            if let Some(line) = self.hear()?
                && hears(line.text.trim())
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Asks who it is and what can be set. Anything else it says meanwhile is noise.
    pub fn introduce(&mut self) -> Result<Introduction, Fault> {
        self.say("uci")?;
        let mut introduction = Introduction::default();
        let patience = self.patience.handshake;
        let done = self.listen(patience, |line| {
            if let Some(name) = line.strip_prefix("id name ") {
                introduction.name = shortened(name.trim());
            } else if let Some(offer) = line.strip_prefix("option ").and_then(offer)
                && introduction.offers.len() < MOST_OFFERS
            {
                introduction.offers.push(offer);
            }
            line == "uciok"
        })?;
        if done { Ok(introduction) } else { Err(self.no_answer("uciok", "uci", patience)) }
    }

    /// Waits until everything said so far has been done; what the engine remarked meanwhile.
    pub fn ready(&mut self) -> Result<Vec<String>, Fault> {
        self.say("isready")?;
        let mut remarks = Vec::new();
        let patience = self.patience.ready;
        let done = self.listen(patience, |line| {
            if !line.is_empty() && line != "readyok" && remarks.len() < MOST_REMARKS {
                remarks.push(shortened(line));
            }
            line == "readyok"
        })?;
        if done { Ok(remarks) } else { Err(self.no_answer("readyok", "isready", patience)) }
    }

    fn no_answer(&mut self, expected: &str, question: &str, patience: Duration) -> Fault {
        self.give_up(format!("no {expected} within {} s of {question}", patience.as_secs_f64()))
    }

    /// Kills the engine: it does not answer.
    pub fn give_up(&mut self, why: String) -> Fault {
        self.process.kill();
        Fault { kind: FaultKind::NoAnswer, detail: self.process.with_last_words(why) }
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        self.process.part("quit", self.patience.quit);
    }
}

/// The beginning of a line, fit to be shown.
pub(super) fn shortened(line: &str) -> String {
    line.chars().take(MOST_REMARKED).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
