//! Names of shards, and which of them a folder holds.

use super::files::{FileError, folder_entries, is_temporary, name_of};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The two files of one shard of games.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardFiles {
    /// The number of the shard's first game, which is also in both names.
    pub first_game: u64,
    /// `games-<first>.parquet`: renamed last, so that its presence says the shard is complete.
    pub games: PathBuf,
    /// `positions-<first>.parquet`.
    pub positions: PathBuf,
}

impl ShardFiles {
    /// The names of the shard that begins with `first_game` in `folder`.
    pub fn new(folder: &Path, first_game: u64) -> Self {
        Self {
            first_game,
            games: folder.join(format!("games-{first_game:08}.parquet")),
            positions: folder.join(format!("positions-{first_game:08}.parquet")),
        }
    }

    /// The shard that one of its two files belongs to, by the file's name; `None` if it is no shard's.
    pub fn of_file(path: &Path) -> Option<Self> {
        if path.is_dir() {
            return None;
        }
        first_game_in_name(path).map(|first_game| Self::new(path.parent().unwrap_or(Path::new("")), first_game))
    }
}

/// What lies in a folder of shards.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShardListing {
    /// Shards of which at least one file is there, by first game.
    pub shards: Vec<ShardFiles>,
    /// `.tmp` files of killed writers.
    pub temporary: Vec<PathBuf>,
    /// Anything else.
    pub foreign: Vec<PathBuf>,
}

impl ShardListing {
    /// First game numbers of the shards with both files, ascending.
    pub fn finished(&self) -> Vec<u64> {
        self.shards
            .iter()
            .filter(|shard| shard.games.exists() && shard.positions.exists())
            .map(|shard| shard.first_game)
            .collect()
    }
}

/// Lists the shards of `folder` by name, ascending by first game; opens none.
///
/// # Errors
/// When the folder cannot be listed.
pub fn list_shards(folder: &Path) -> Result<ShardListing, FileError> {
    let mut listing = ShardListing::default();
    let mut first_games = BTreeSet::new();
    for path in folder_entries(folder)? {
        match first_game_in_name(&path) {
            Some(first_game) => {
                first_games.insert(first_game);
            }
            None if is_temporary(&path) => listing.temporary.push(path),
            None => listing.foreign.push(path),
        }
    }
    listing.shards = first_games.into_iter().map(|first_game| ShardFiles::new(folder, first_game)).collect();
    Ok(listing)
}

/// The folders of shards that `dir` stands for: itself when it holds shards, otherwise its numbered
/// folders (`dir/selfplay/NNN` of a run, or `dir/NNN`) in order of generation.
///
/// # Errors
/// When `dir` cannot be listed.
pub fn shard_folders(dir: &Path) -> Result<Vec<PathBuf>, FileError> {
    if !list_shards(dir)?.shards.is_empty() {
        return Ok(vec![dir.to_owned()]);
    }
    let selfplay = dir.join("selfplay");
    numbered_folders(if selfplay.is_dir() { &selfplay } else { dir })
}

fn numbered_folders(dir: &Path) -> Result<Vec<PathBuf>, FileError> {
    let mut folders = BTreeMap::new();
    for path in folder_entries(dir)? {
        if let (true, Ok(generation)) = (path.is_dir(), name_of(&path).parse::<u32>()) {
            folders.insert(generation, path);
        }
    }
    Ok(folders.into_values().collect())
}

/// The game number in a shard file's name, if the name is exactly as [`ShardFiles`] writes it.
pub(super) fn first_game_in_name(path: &Path) -> Option<u64> {
    let name = name_of(path);
    let stem = name.strip_suffix(".parquet")?;
    let (_, digits) = stem.rsplit_once('-')?;
    let first_game = digits.parse().ok()?;
    let shard = ShardFiles::new(Path::new(""), first_game);
    [shard.games, shard.positions].iter().any(|expected| name_of(expected) == name).then_some(first_game)
}
