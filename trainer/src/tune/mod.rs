//! Tuning numbers of the search and the evaluation by playing: SPSA as Fishtest defines it.
//!
//! [`plan`] says what is to be tuned and [`setup`] checks it; [`spsa`] and [`tuner`] are the mathematics; an
//! [`objective`] plays; [`run`] drives both and keeps the [`journal`], from which everything else is made: the end, the
//! [`diagnose`] of each parameter, [`report`] and [`chart`], and what would have come of it without some pairs
//! ([`recompute`]). [`confirm`] plays the tuned values against the old ones. In words: `docs/tuning.md`.

pub mod chart;
pub mod confirm;
pub mod diagnose;
pub mod journal;
pub mod objective;
mod parts;
pub mod plan;
pub mod recompute;
pub mod report;
pub mod run;
pub mod setup;
pub mod spsa;
pub mod targets;
pub mod tuner;

pub use objective::{Batch, Objective, PairResult};
pub use plan::Plan;
pub use setup::Setup;
pub use tuner::{Course, Tuner};
