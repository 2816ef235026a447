//! The players of a match: our engine with weights and parameters of its own, or a program outside.

use super::journal::JournalPlayer;
use crate::play::{Allowance, EngineMover, Mover};
use fairyforge_engine::evaluate::Tapered;
use fairyforge_engine::search::Params;
use std::collections::BTreeMap;
use std::sync::Arc;

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
}

/// Our engine with numbers of its own.
#[derive(Clone)]
pub struct OwnEngine {
    /// How it judges positions.
    pub evaluator: Arc<Tapered>,
    /// What its weights are called: a digest or a word.
    pub weights: String,
    /// The numbers of its search.
    pub params: Params,
    /// Size of its table, in mebibytes.
    pub table_mebibytes: usize,
}

impl Contestant {
    /// The player at a board.
    pub(super) fn mover(&self) -> Box<dyn Mover + '_> {
        match &self.entrant {
            Entrant::Own(own) => Box::new(EngineMover::new(&own.evaluator, &own.params, own.table_mebibytes)),
        }
    }

    /// The player as a journal introduces it.
    pub(super) fn introduce(&self) -> JournalPlayer {
        let (engine, effective) = match &self.entrant {
            Entrant::Own(own) => (format!("fairyforge {}", env!("CARGO_PKG_VERSION")), own.effective()),
        };
        JournalPlayer { name: self.name.clone(), engine, limits: self.allowance.to_string(), effective }
    }
}

impl OwnEngine {
    fn effective(&self) -> BTreeMap<String, String> {
        let number = |name: &str| self.params.get(name).map(|value| (name.to_owned(), value.to_string()));
        let mut settings: BTreeMap<_, _> = Params::TABLE.iter().filter_map(|row| number(row.name)).collect();
        settings.insert("weights".into(), self.weights.clone());
        settings.insert("table_mebibytes".into(), self.table_mebibytes.to_string());
        settings
    }
}
