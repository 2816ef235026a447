//! Making engines better and measuring things with them: self-play, records, fitting, matches, reports.
//!
//! The games themselves are `fairyforge-engine`'s; this crate plays them in bulk and learns from them.

/// `eprintln!` for what is only told: a reader of standard error that has gone away ends nothing.
macro_rules! errln {
    ($($text:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}
pub(crate) use errln;

pub mod arena;
pub mod book;
mod checksum;
pub mod claims;
pub mod cli;
pub mod fit;
pub mod laboratory;
mod named_judge;
mod named_weights;
pub mod pgn;
pub mod plan;
pub mod play;
pub mod progress;
mod progression;
pub mod quality;
pub mod record;
pub mod report;
pub mod run_dir;
pub mod selfplay;
pub mod share;
mod table;
pub mod train;
pub mod training_loop;
pub mod tune;
