//! Endgame tables as judges: read from a folder whole or not at all, and what they decide.

use super::Adjudication;
use super::adjudication::Verdict;
use fairyforge_engine::endgame::Tables;
use fairyforge_engine::endgame::folder::{FileFault, Folder, Loaded};
use fairyforge_engine::game::Game;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::SideResult;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a folder of tables was refused. Games must not depend on which of its files happened to be readable.
#[derive(Debug, thiserror::Error)]
pub enum EndgamesError {
    /// There is no such folder.
    #[error("endgames: cannot list {}: {source}", path.display())]
    List {
        /// The folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Files that are no whole tables of the game.
    #[error("endgames: {}", told(.0))]
    Files(Vec<FileFault>),
    /// No tables at all.
    #[error("endgames: expected tables of {variant} in {}, got none", path.display())]
    Empty {
        /// The folder.
        path: PathBuf,
        /// The game.
        variant: String,
    },
    /// Not the tables that the plan was started with.
    #[error("endgames: expected the tables of digest {expected:.12} in {}, got {got:.12}", path.display())]
    Others {
        /// The folder.
        path: PathBuf,
        /// The digest in the plan.
        expected: String,
        /// The digest of what lies there.
        got: String,
    },
}

fn told(faults: &[FileFault]) -> String {
    let mut text = String::new();
    for (number, fault) in faults.iter().enumerate() {
        let _ = write!(text, "{}{fault}", if number == 0 { "" } else { "\n" });
    }
    text
}

impl Adjudication {
    /// Reads the tables that are to end games, if any are named, and notes their digest. `place` says where a folder that is named so
    /// lies.
    ///
    /// # Errors
    /// The folder cannot be read, has files that are no whole tables of the game, has no tables, or others than those noted before.
    pub fn load_endgames(
        &mut self,
        variant: &Arc<Variant>,
        place: impl FnOnce(&Path) -> PathBuf,
    ) -> Result<Option<Arc<Tables>>, EndgamesError> {
        let Some(path) = self.endgames.as_deref().map(place) else { return Ok(None) };
        let folder = Folder::open(&path).map_err(|source| EndgamesError::List { path: path.clone(), source })?;
        let Loaded { tables, faults, digest } = folder.load(variant);
        if !faults.is_empty() {
            return Err(EndgamesError::Files(faults));
        }
        if tables.is_empty() {
            return Err(EndgamesError::Empty { path, variant: variant.name().into() });
        }
        let noted = self.endgames_digest.get_or_insert_with(|| digest.clone());
        if *noted != digest {
            return Err(EndgamesError::Others { path, expected: noted.clone(), got: digest });
        }
        Ok(Some(Arc::new(tables)))
    }
}

/// How a game ends that a table knows: a draw, or a win that neither the move count nor repetition can take away. A win that they may
/// take away must be played.
pub fn verdict(tables: &Tables, game: &Game) -> Option<Verdict> {
    let position = game.position();
    let value = tables.probe(position)?;
    let side = position.side_to_move();
    let winner = match value.result {
        SideResult::Draw => return Some(Verdict::TableDraw),
        SideResult::Win => side,
        SideResult::Loss => side.opponent(),
    };
    (value.is_within_move_count(position) && !may_end_by_repetition(game)).then_some(Verdict::TableWin(winner))
}

/// Whether some position has occurred so often that its next time is a draw. The way to a table's win never comes back to a position of
/// its own, as each is nearer to the end than all before, but it might to one of the game.
fn may_end_by_repetition(game: &Game) -> bool {
    let (position, earlier) = (game.position(), game.earlier());
    let Some(limit) = position.variant().rules().end.repetition else { return false };
    let since_reset = usize::from(position.plies_without_progress()).min(earlier.len());
    let first = if position.variant().resets_are_final() { earlier.len() - since_reset } else { 0 };
    let mut keys = earlier[first..].to_vec();
    keys.sort_unstable();
    keys.chunk_by(PartialEq::eq).any(|alike| alike.len() + 1 >= usize::from(limit))
}
