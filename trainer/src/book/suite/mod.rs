//! Suites of openings: positions behind a book whose values lie in a window, searched and played from once more, and spread over
//! families of openings. For matches of engines and for self-play.
//!
//! [`SuitePlan`] says what is wanted. [`exits`] finds the positions behind the book with the cheapest way to each; [`conditions`]
//! turns away what does not fit; [`turns`] says in which order the rest is looked at closely, [`examine`] looks, [`journal`] keeps
//! what was found. [`SuiteWork`] does all of it and writes what comes out as [`text`], as a game each, and as a manifest.
//! [`check`] reads a written suite and sees whether it is what it says.
//!
//! Nothing here grows a book ([`super::Build`] does), or says in which order a match uses its openings ([`crate::arena::openings`]
//! does). How suites are made, and why, is told in `docs/suites.md`.

pub mod check;
pub mod conditions;
pub mod examine;
pub mod exits;
pub mod journal;
mod plan;
pub mod text;
pub mod turns;
mod work;
mod write;

pub use plan::{FamilySettings, GameSettings, OpeningSettings, SecondSearch, SuitePlan, ToMove};
pub use work::{Counts, MadeBy, Opening, Suite, SuiteError, SuiteWork};
