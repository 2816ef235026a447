//! The endgame tables of a session: the folder that was chosen, and what it has for the game being played.

use super::room::has_room_for;
use crate::endgame::Tables;
use crate::endgame::folder::{FileFault, Folder, Loaded};
use crate::variant::Variant;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of a mebibyte.
const MEBIBYTE: u64 = 1 << 20;
/// Faults that are told one by one.
const MOST_TOLD: usize = 8;

/// Tables in memory, from a folder.
pub(super) struct Endgames {
    path: PathBuf,
    /// The game of the tables.
    rules_hash: String,
    name: String,
    tables: Arc<Tables>,
    faults: Vec<FileFault>,
}

/// Why a folder of tables was refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum EndgamesError {
    #[error("EndgamePath: cannot list {}: {source}", path.display())]
    List { path: PathBuf, source: io::Error },
    #[error("EndgamePath: expected tables that there is memory for, got {mebibytes} MB in {}", path.display())]
    NoRoom { path: PathBuf, mebibytes: u64 },
}

impl Endgames {
    /// Reads what a folder has for a game.
    pub fn load(path: &Path, variant: &Arc<Variant>) -> Result<Self, EndgamesError> {
        let folder = Folder::open(path).map_err(|source| EndgamesError::List { path: path.into(), source })?;
        let mebibytes = folder.bytes().div_ceil(MEBIBYTE);
        if !usize::try_from(mebibytes).is_ok_and(has_room_for) {
            return Err(EndgamesError::NoRoom { path: path.into(), mebibytes });
        }
        let Loaded { tables, faults, .. } = folder.load(variant);
        let (rules_hash, name) = (variant.rules_hash().into(), variant.name().into());
        Ok(Self { path: path.into(), rules_hash, name, tables: Arc::new(tables), faults })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The tables.
    pub const fn tables(&self) -> &Arc<Tables> {
        &self.tables
    }

    /// Whether these are the tables of this game.
    pub fn are_of(&self, variant: &Variant) -> bool {
        self.rules_hash == variant.rules_hash()
    }

    /// What is there, in a line.
    pub fn summary(&self) -> String {
        let (name, path) = (&self.name, self.path.display());
        if self.tables.is_empty() {
            return format!("endgames: no tables of {name} in {path}");
        }
        let (count, men) = (self.tables.len(), self.tables.most_men());
        let mebibytes = self.tables.bytes() as f64 / MEBIBYTE as f64;
        let plural = if count == 1 { "" } else { "s" };
        format!("endgames: {count} table{plural} of {name} up to {men} men, {mebibytes:.1} MB of memory, from {path}")
    }

    /// Which files are not used and why, a line each.
    pub fn faults(&self) -> Vec<String> {
        let told = self.faults.iter().take(MOST_TOLD).map(|fault| format!("endgames: not used: {fault}"));
        let more = self.faults.len().saturating_sub(MOST_TOLD);
        told.chain((more > 0).then(|| format!("endgames: not used: {more} more files"))).collect()
    }
}
