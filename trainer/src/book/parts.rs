//! Parts of a build that other processes look behind: each stretch of positions in a file of its own, whole or not at all, until the
//! journal's writer takes them in.

use super::graph::{Child, Collision, Graph, NodeId};
use super::journal::{Expansion, Journal, JournalError, line_of};
use crate::run_dir::{FileError, PartFiles, write_atomically};
use fairyforge_engine::book::BookKey;
use fairyforge_engine::variant::Variant;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// What a build is cut into.
pub(super) const UNITS: &str = "positions";

/// What was found behind positions, by their keys as the journal writes them.
pub(super) type Waiting = HashMap<String, Expansion>;

/// Writes down what was found behind successive positions, of which the first is the build's so many-th.
pub(super) fn write(
    files: &PartFiles,
    first: u64,
    variant: &Variant,
    expansions: &[Expansion],
) -> Result<(), FileError> {
    let lines = expansions.iter().map(|expansion| line_of(expansion) + "\n");
    let text: String = std::iter::once(Journal::<Expansion>::first_line(variant) + "\n").chain(lines).collect();
    write_atomically(&files.new_file(first), text.as_bytes())
}

/// Everything that waits.
pub(super) fn read(files: &PartFiles, variant: &Variant) -> Result<Waiting, JournalError> {
    let mut waiting = Waiting::new();
    for path in files.all()? {
        read_file(&path, variant, &mut waiting)?;
    }
    Ok(waiting)
}

fn read_file(path: &Path, variant: &Variant, waiting: &mut Waiting) -> Result<(), JournalError> {
    let mut journal = Journal::<Expansion>::look_at(path, variant)?;
    while let Some(expansion) = journal.next_recorded()? {
        waiting.insert(expansion.position.clone(), expansion);
    }
    Ok(())
}

/// Parts do not know of each other: where several have searched a position, the first in order tells, as if one process had looked
/// behind all.
pub(super) fn each_once(graph: &Graph, positions: &[NodeId], expansions: &mut [Expansion]) -> Result<(), Collision> {
    let mut claimed: HashSet<BookKey> = HashSet::new();
    for (&id, expansion) in positions.iter().zip(expansions) {
        let position = graph.position(id);
        for entry in expansion.moves.iter_mut().filter(|entry| entry.score.is_some()) {
            // A text that is no move is refused when the expansion is taken in.
            let Ok(mv) = position.parse_move(&entry.text) else { continue };
            let child = Child::behind(&position, mv);
            if graph.known(&child)?.is_some() || !claimed.insert(child.key) {
                (entry.score, entry.nodes, entry.reply) = (None, None, None);
            }
        }
    }
    Ok(())
}
