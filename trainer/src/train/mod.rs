//! Training of evaluation networks from recorded games, with burn.
//!
//! ```text
//! shards ─▶ source ─▶ samples ─▶ feed ─▶ batch ─▶ model ─▶ error ─▶ gradients ─▶ optimiser ─▶ model …
//! ```
//!
//! The same plan, data and program version give the same network to the last bit, on any number of threads, whether or not
//! the run was killed in between, as long as the CPU calculates. Nothing here plays or judges strength: see `docs/training-loop.md`.
//!
//! * [`plan`] and [`schedule`]: what is asked for
//! * [`source`], [`samples`], [`feed`], [`batch`]: data
//! * [`making`]: a whole run, from a plan to a network with its report
//! * [`kernels`], [`operation`], [`model`], [`optimiser`]: the network
//! * [`device`]: where it is calculated; elsewhere than on the CPU by [`plain`], the slow twin of our operations

pub mod batch;
pub mod bench;
pub mod checkpoint;
pub mod device;
pub mod export;
pub mod feed;
pub mod hand;
pub mod inputs;
pub mod kernels;
pub mod losses;
pub mod making;
pub mod model;
pub mod operation;
pub mod optimiser;
pub mod plain;
pub mod plan;
pub mod report;
pub mod run;
pub mod samples;
pub mod schedule;
pub mod source;
pub mod synthetic;
