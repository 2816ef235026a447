//! Endgame tables: the result and the distance of every position of a few men, by retrograde analysis, for any variant.
//!
//! A [`Table`] holds all positions of one [`Material`] without castling rights, en-passant rights and men in hand, for both sides to
//! move. Repetition and the move count are ignored: a win counts however long it takes. [`Plan`] says which smaller tables a table
//! leads to by captures and promotions, [`solve`] makes one table from those, [`Tables`] answers questions about positions, and
//! [`verify`] checks every answer against the ordinary move generator. Files are [`file`](mod@file)'s business; [`folder`] reads all that
//! lie in one. `docs/endgames.md` tells how the analysis works, and what a search makes of tables.

mod board;
mod ends;
mod error;
mod exits;
pub mod file;
pub mod folder;
mod layout;
mod material;
mod parallel;
mod plan;
mod probe;
mod reach;
mod solve;
mod symmetry;
mod table;
mod verify;

pub use error::EndgameError;
pub use material::{MOST_MEN, Man, Material};
pub use parallel::Work;
pub use plan::{Plan, Planned};
pub use probe::Tables;
pub use solve::{Stage, solve};
pub use table::{Longest, Statistics, Table, Value};
pub use verify::{Checked, Sample, verify};
