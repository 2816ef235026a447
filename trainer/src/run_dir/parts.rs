//! Where processes that play parts of a step leave what they did, without knowing of each other.
//!
//! Shards have names of their own and are moved into their folder when they are whole. What belongs into a journal waits in files
//! beside it until the journal's one writer takes it in. No two processes ever write to the same file: their files carry a
//! [`token`], so it does no harm if one that was thought dead goes on while another does its work again, on a file system without
//! locks too.

use super::files::{
    FileError, create_folder, folder_entries, folder_of, is_temporary, name_of, sync_folder, write_synced_bytes,
};
use super::{ShardFiles, TEMPORARY};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

/// Eight letters that hardly ever another process has: only part of names, never of what is in files.
fn token() -> String {
    format!("{:08x}", RandomState::new().hash_one(std::process::id()) as u32)
}

/// Writes a file that many processes may write at once, all with the same bytes; one that is there is left alone.
///
/// # Errors
/// The disk refuses.
pub fn write_once(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    if path.exists() {
        return Ok(());
    }
    create_folder(folder_of(path))?;
    let own = with_suffix(path, &format!(".{}{TEMPORARY}", token()));
    write_synced_bytes(&own, bytes)?;
    // A link, unlike a rename, leaves alone what somebody else has put there meanwhile; not every file system has links.
    let placed = match fs::hard_link(&own, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(_) => fs::rename(&own, path),
        Ok(()) => Ok(()),
    };
    let _ = fs::remove_file(&own);
    placed.map_err(FileError::at("rename into place", path))?;
    sync_folder(folder_of(path))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    path.with_file_name(name_of(path) + suffix)
}

/// How names of desks begin.
const DESK: &str = "part-";

/// A folder of shards that belongs to this process alone, inside the one where the shards go.
#[derive(Debug)]
pub struct ShardDesk {
    own: PathBuf,
    destination: PathBuf,
}

impl ShardDesk {
    /// A desk for shards of `folder`, which must be there.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(folder: &Path) -> Result<Self, FileError> {
        let own = folder.join(format!("{DESK}{}{TEMPORARY}", token()));
        fs::create_dir(&own).map_err(FileError::at("create folder", &own))?;
        Ok(Self { own, destination: folder.to_owned() })
    }

    /// Whether a folder is a desk, by its name.
    pub(super) fn is_one(folder: &Path) -> bool {
        name_of(folder).starts_with(DESK) && is_temporary(folder)
    }

    /// Where to write shards.
    pub fn own_folder(&self) -> &Path {
        &self.own
    }

    /// Moves a whole shard to where it belongs: its games last, since their presence says that it is complete.
    ///
    /// # Errors
    /// A file cannot be moved.
    pub fn hand_in(&self, shard: &ShardFiles) -> Result<(), FileError> {
        let place = ShardFiles::new(&self.destination, shard.first_game);
        for (from, to) in [(&shard.positions, &place.positions), (&shard.games, &place.games)] {
            fs::rename(from, to).map_err(FileError::at("rename into place", to))?;
        }
        sync_folder(&self.destination)
    }
}

impl Drop for ShardDesk {
    /// What is left is unfinished; `RunDir::clean_tmp` finds it, should this fail.
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.own);
    }
}

/// The files in which parts of a journal wait: `<journal>.parts/<first unit, 8 digits>-<token>.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartFiles {
    folder: PathBuf,
}

impl PartFiles {
    /// Those of a journal.
    pub fn of(journal: &Path) -> Self {
        Self { folder: journal.with_extension("parts") }
    }

    /// A new file for the part that begins with a unit.
    pub fn new_file(&self, first: u64) -> PathBuf {
        self.folder.join(format!("{first:08}-{}.jsonl", token()))
    }

    /// All files that are there, in order of their first units.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn all(&self) -> Result<Vec<PathBuf>, FileError> {
        if !self.folder.exists() {
            return Ok(Vec::new());
        }
        Ok(folder_entries(&self.folder)?.into_iter().filter(|path| name_of(path).ends_with(".jsonl")).collect())
    }

    /// The files of attempts at the part that begins with a unit.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn beginning_with(&self, first: u64) -> Result<Vec<PathBuf>, FileError> {
        let begins = format!("{first:08}-");
        Ok(self.all()?.into_iter().filter(|path| name_of(path).starts_with(&begins)).collect())
    }

    /// Removes all, once the journal has taken them in.
    ///
    /// # Errors
    /// The folder cannot be removed.
    pub fn remove(&self) -> Result<(), FileError> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FileError::at("remove", &self.folder)(error)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_writers_at_once_one_is_heard() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("plan.toml");
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let path = &path;
                scope.spawn(move || write_once(path, format!("by {writer}\n").as_bytes()).unwrap());
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("by ") && text.len() == 5, "{text:?}");
        write_once(&path, b"too late").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert_eq!(folder_entries(dir.path()).unwrap(), [path], "nothing else is left");
    }

    #[test]
    fn parts_of_a_journal_are_found_by_their_first_units() {
        let dir = tempfile::tempdir().unwrap();
        let parts = PartFiles::of(&dir.path().join("journal.jsonl"));
        assert_eq!(parts.all().unwrap(), [] as [PathBuf; 0]);
        let files = [parts.new_file(20), parts.new_file(3), parts.new_file(20)];
        assert_ne!(files[0], files[2]);
        for file in &files {
            create_folder(folder_of(file)).unwrap();
            fs::write(file, "x").unwrap();
        }
        fs::write(with_suffix(&files[0], TEMPORARY), "half").unwrap();
        assert_eq!(parts.all().unwrap().len(), 3);
        assert_eq!(parts.all().unwrap()[0], files[1]);
        assert_eq!(parts.beginning_with(20).unwrap().len(), 2);
        parts.remove().unwrap();
        parts.remove().unwrap();
        assert_eq!(parts.all().unwrap(), [] as [PathBuf; 0]);
    }
}
