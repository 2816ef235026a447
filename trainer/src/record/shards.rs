//! Streaming over the shards of a folder or of a whole run, one in memory at a time.

use std::path::{Path, PathBuf};

use super::{Fault, GameRecord, Origin, RecordError, Shard, read_shard};
use crate::run_dir::{ShardFiles, list_shards, shard_folders};

/// The shards of `dir` in order: of `dir` itself if it holds shards, otherwise of its generations.
///
/// With `rules_hash`, shards played by other rules are errors.
///
/// # Errors
/// When `dir` cannot be listed or holds no shards.
pub fn shards(dir: &Path, rules_hash: Option<&str>) -> Result<Shards, RecordError> {
    let mut files = Vec::new();
    for folder in shard_folders(dir)? {
        let listed = list_shards(&folder)?.shards;
        files.extend(listed.into_iter().map(|shard| (folder.clone(), shard)));
    }
    if files.is_empty() {
        return Err(RecordError::NoShards { dir: dir.to_owned() });
    }
    Ok(Shards {
        files: files.into_iter(),
        rules_hash: rules_hash.map(str::to_owned),
        sequence: Sequence::default(),
        folder: PathBuf::new(),
    })
}

/// The first `count` games of `dir` (a folder of shards or a run); fewer if there are no more.
///
/// # Errors
/// The first fault of the shards that had to be read.
pub fn head(dir: &Path, count: usize) -> Result<Vec<GameRecord>, RecordError> {
    let mut games = Vec::new();
    let mut shards = shards(dir, None)?;
    while games.len() < count {
        let Some(shard) = shards.next() else { break };
        games.extend(shard?.games);
    }
    games.truncate(count);
    Ok(games)
}

/// Iterator over shards; reads and checks each when it is asked for. Ends after the first error.
#[derive(Debug)]
pub struct Shards {
    files: std::vec::IntoIter<(PathBuf, ShardFiles)>,
    rules_hash: Option<String>,
    sequence: Sequence,
    folder: PathBuf,
}

impl Iterator for Shards {
    type Item = Result<Shard, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (folder, files) = self.files.next()?;
        if self.folder != folder {
            self.folder = folder;
            self.sequence = Sequence::default();
        }
        let shard = self.read(&files);
        if shard.is_err() {
            self.files = Vec::new().into_iter();
        }
        Some(shard)
    }
}

impl Shards {
    fn read(&mut self, files: &ShardFiles) -> Result<Shard, RecordError> {
        refuse_missing_twin(files)?;
        let shard = read_shard(files, self.rules_hash.as_deref())?;
        self.sequence.follow(&shard).map_err(RecordError::in_file(&files.games))?;
        Ok(shard)
    }
}

/// A shard with only one of its two files is none.
pub(super) fn refuse_missing_twin(files: &ShardFiles) -> Result<(), RecordError> {
    for (missing, present) in [(&files.games, &files.positions), (&files.positions, &files.games)] {
        if !missing.exists() {
            let twin = present.file_name().unwrap_or_default().to_string_lossy().into_owned();
            return Err(RecordError::in_file(missing)(Fault::MissingTwin { twin }));
        }
    }
    Ok(())
}

/// Checks that the shards of one folder have one origin and leave no game out.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    /// Origin of the folder's first sound shard.
    origin: Option<Origin>,
    /// The game number that comes next, and whether an unreadable shard stands before it.
    next: Next,
}

/// What may come next in a folder.
#[derive(Debug, Default, Clone, Copy)]
enum Next {
    /// The folder's first game.
    #[default]
    First,
    /// Exactly this game.
    Game(u64),
    /// Unknown: the shard before could not be read, and that has been reported already.
    Unknown,
}

impl Sequence {
    /// `shard` is the next one; goes on after it even if it was not what was expected.
    pub(super) fn follow(&mut self, shard: &Shard) -> Result<(), Fault> {
        let header = &shard.header;
        let expected = match self.next {
            Next::First => header.origin.base_game,
            Next::Game(game) => game,
            Next::Unknown => header.first_game,
        };
        self.next = Next::Game(header.first_game.saturating_add(header.games));
        let origin = self.origin.get_or_insert_with(|| header.origin.clone());
        header.origin.check_same(origin)?;
        Fault::unless_next(expected, header.first_game)
    }

    /// The next shard cannot be read; where it ends is not known.
    pub(super) fn skip(&mut self) {
        self.next = Next::Unknown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{samples, write_shard};

    fn write(folder: &Path, first: u64, count: u64) {
        write_shard(folder, &samples::origin(), &samples::games(first, count)).unwrap();
    }

    #[test]
    fn a_folder_and_a_run_are_streamed_in_order() {
        let dir = tempfile::tempdir().unwrap();
        for generation in ["selfplay/001", "selfplay/002", "selfplay/010"] {
            write(&dir.path().join(generation), 0, 3);
            write(&dir.path().join(generation), 3, 2);
        }
        let sizes = |dir: &Path| -> Vec<usize> {
            shards(dir, Some("5f0c")).unwrap().map(|shard| shard.unwrap().games.len()).collect()
        };
        assert_eq!(sizes(&dir.path().join("selfplay/002")), [3, 2]);
        assert_eq!(sizes(dir.path()), [3, 2, 3, 2, 3, 2]);
        assert_eq!(sizes(&dir.path().join("selfplay")), sizes(dir.path()));
    }

    #[test]
    fn head_reads_no_more_than_it_needs() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), 0, 3);
        write(dir.path(), 3, 3);
        assert_eq!(head(dir.path(), 5).unwrap(), samples::games(0, 5));
        assert_eq!(head(dir.path(), 99).unwrap(), samples::games(0, 6));
        std::fs::write(ShardFiles::new(dir.path(), 3).games, "damage").unwrap();
        assert_eq!(head(dir.path(), 3).unwrap(), samples::games(0, 3));
        assert!(head(dir.path(), 4).is_err());
    }

    #[test]
    fn a_missing_shard_is_a_gap_wherever_it_is() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), 2, 2);
        let message = |dir: &Path| shards(dir, None).unwrap().find_map(Result::err).unwrap().to_string();
        assert!(message(dir.path()).contains("gap: expected game 0 to come next, got 2"));
        write(dir.path(), 0, 2);
        write(dir.path(), 7, 1);
        assert!(message(dir.path()).contains("games-00000007.parquet: gap: expected game 4"));
    }

    #[test]
    fn a_folder_has_one_origin() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), 0, 2);
        let other = Origin { run_seed: 8, ..samples::origin() };
        write_shard(dir.path(), &other, &samples::games(2, 2)).unwrap();
        let error = shards(dir.path(), None).unwrap().find_map(Result::err).unwrap();
        assert!(error.to_string().contains("run_seed: expected 7, got \"8\""), "{error}");
    }

    #[test]
    fn nothing_to_read_is_an_error_that_says_what_was_looked_for() {
        let dir = tempfile::tempdir().unwrap();
        let error = shards(dir.path(), None).unwrap_err();
        assert!(error.to_string().contains("expected games-<first>.parquet"), "{error}");
        let error = shards(&dir.path().join("nowhere"), None).unwrap_err();
        assert!(error.to_string().starts_with("cannot list"), "{error}");
    }
}
