//! What commands that play games are told of others who play the same games.

use super::Failure;
use super::output::outln;
use crate::share::{Part, Share, Shared};
use serde_json::json;
use std::path::Path;

/// Exit status of a run that lacks games which this process was not to play.
pub(super) const WANTS_GAMES: u8 = 3;

/// Who plays.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Games played by several processes or machines (docs/using-a-cluster.md)")]
pub(super) struct ShareArgs {
    /// Play part i of n of the games that the run lacks next, into the same folder, and no more. Parts may be played at once, by many
    /// machines; one that was cut off goes on.
    #[arg(long, value_name = "I/N", conflicts_with = "merge")]
    shard: Option<Part>,
    /// Play nothing: take in what parts have played and go on as far as that goes. Exit status 3 and a line of JSON say that games are
    /// wanted.
    #[arg(long)]
    merge: bool,
}

impl ShareArgs {
    pub(super) fn is_part(self) -> bool {
        self.shard.is_some()
    }

    pub(super) fn share(self) -> Share {
        match self.shard {
            Some(part) => Share::Part(part),
            None if self.merge => Share::Nothing,
            None => Share::All,
        }
    }
}

/// Tells how a step ended in this process, for people and for programs.
pub(super) fn tell(shared: &Shared, out: &Path) -> Result<u8, Failure> {
    match shared {
        Shared::Played { .. } | Shared::Complete { .. } => outln!("{shared}").map(|()| 0),
        Shared::Wanted { place, units, missing, of } => {
            crate::errln!("{shared}: --shard plays parts of them");
            let step = place.strip_prefix(out).unwrap_or(place);
            outln!("{}", json!({"wants": "games", "step": step, "units": units, "missing": missing, "of": of}))?;
            Ok(WANTS_GAMES)
        }
        Shared::NoGames { step } => {
            crate::errln!("{shared}");
            outln!("{}", json!({"wants": "merge", "step": step}))?;
            Ok(WANTS_GAMES)
        }
    }
}
