//! The value laboratory: what a variant's units are worth, by experiment.
//!
//! Units are taken away by lot where games start, from arrays or after play, so nobody is behind because of what the position gave
//! for it; the results are regressed on what the lot took ([`crate::fit::values`]). Around that stand the things that make a
//! number trustworthy: a forecast before the first game ([`forecast`]), rounds in which measured values go back into the
//! evaluation ([`assume`]), looks with intervals that allow for looking ([`crate::fit::sequential`]), other methods beside
//! ([`methods`]) and other strengths ([`ladder`]).
//!
//! [`experiment`] plays and measures, [`plan`] says what, [`report`], [`claims_report`] and [`page`] tell it.

pub mod ablation;
pub mod assume;
pub mod budget;
pub mod claims_report;
pub mod evidence;
pub mod experiment;
pub mod figures;
pub mod forecast;
pub mod ladder;
pub mod methods;
pub mod page;
pub mod plan;
pub mod report;

pub use experiment::{Experiment, ExperimentError, Findings, Goal};
pub use plan::Plan;
