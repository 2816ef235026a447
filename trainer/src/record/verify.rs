//! Looking through a folder of records for everything that is wrong with it.

use std::path::{Path, PathBuf};

use super::digest::ContentHasher;
use super::parquet::{join, read_games_file, read_positions_file};
use super::shards::{Sequence, refuse_missing_twin};
use super::{RecordError, Shard};
use crate::run_dir::{ShardFiles, list_shards, shard_folders};

/// A file and what there is to say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file.
    pub path: PathBuf,
    /// A sentence for a human.
    pub reason: String,
}

/// The outcome of [`verify()`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerifyReport {
    /// Shards found, sound or not.
    pub shards: usize,
    /// Games in the sound shards.
    pub games: u64,
    /// Positions in the sound shards.
    pub positions: u64,
    /// Damaged files with the reason, in order.
    pub damaged: Vec<Finding>,
    /// Harmless leftovers and oddities.
    pub notes: Vec<Finding>,
    /// The value of [`super::digest()`] when nothing is damaged.
    pub digest: Option<String>,
}

impl VerifyReport {
    /// Nothing is damaged; there may be notes.
    pub fn is_sound(&self) -> bool {
        self.damaged.is_empty()
    }
}

/// Reads every shard of `dir` (a folder of shards or a run) and lists all damaged files.
///
/// # Errors
/// Only when a folder cannot be listed or there are no shards at all; damage is in the report.
pub fn verify(dir: &Path) -> Result<VerifyReport, RecordError> {
    let mut inspection = Inspection::new();
    for folder in shard_folders(dir)? {
        inspection.inspect_folder(&folder)?;
    }
    if inspection.report.shards == 0 {
        return Err(RecordError::NoShards { dir: dir.to_owned() });
    }
    Ok(inspection.finish())
}

struct Inspection {
    report: VerifyReport,
    content: ContentHasher,
    engine: Option<String>,
}

impl Inspection {
    fn new() -> Self {
        Self { report: VerifyReport::default(), content: ContentHasher::new(), engine: None }
    }

    fn finish(mut self) -> VerifyReport {
        if self.report.is_sound() {
            self.report.digest = Some(self.content.finish());
        }
        self.report
    }

    fn inspect_folder(&mut self, folder: &Path) -> Result<(), RecordError> {
        let listing = list_shards(folder)?;
        for path in listing.temporary {
            self.note(path, "left by a writer that was killed; may be removed");
        }
        for path in listing.foreign {
            self.note(path, "not a shard's file; ignored");
        }
        let mut sequence = Sequence::default();
        for files in listing.shards {
            self.report.shards += 1;
            match self.sound_shard(&files) {
                Some(shard) => self.count(&files, &shard, &mut sequence),
                None => sequence.skip(),
            }
        }
        Ok(())
    }

    /// The shard, unless something is wrong with it; both files are looked at either way.
    fn sound_shard(&mut self, files: &ShardFiles) -> Option<Shard> {
        if self.misses_a_twin(files) {
            return None;
        }
        let games = read_games_file(files, None).map_err(|error| self.damage(error));
        let positions = read_positions_file(files, None).map_err(|error| self.damage(error));
        join(&games.ok()?, &positions.ok()?)
            .map_err(|fault| self.damage(RecordError::in_file(&files.positions)(fault)))
            .ok()
    }

    fn misses_a_twin(&mut self, files: &ShardFiles) -> bool {
        refuse_missing_twin(files).map_err(|error| self.damage(error)).is_err()
    }

    fn count(&mut self, files: &ShardFiles, shard: &Shard, sequence: &mut Sequence) {
        self.report.games += shard.header.games;
        self.report.positions += shard.games.iter().map(|game| game.positions.len() as u64).sum::<u64>();
        self.content.add_all(&shard.games);
        if let Err(fault) = sequence.follow(shard) {
            self.damage(RecordError::in_file(&files.games)(fault));
        }
        let engine = &shard.header.origin.engine;
        if let Some(before) = self.engine.replace(engine.clone()).filter(|before| before != engine) {
            self.note(files.games.clone(), &format!("played by engine {engine}, the games before by {before}"));
        }
    }

    fn damage(&mut self, error: RecordError) {
        let finding = match error {
            RecordError::Shard { path, fault } => Finding { path, reason: fault.to_string() },
            RecordError::File(error) => Finding { path: error.path.clone(), reason: error.to_string() },
            RecordError::NoShards { dir } => Finding { path: dir, reason: "no records".to_owned() },
        };
        self.report.damaged.push(finding);
    }

    fn note(&mut self, path: PathBuf, reason: &str) {
        self.report.notes.push(Finding { path, reason: reason.to_owned() });
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::record::{Origin, digest, samples, write_shard};

    /// Three shards of four games; the second is the one that tests damage.
    fn folder() -> (tempfile::TempDir, ShardFiles) {
        let dir = tempfile::tempdir().unwrap();
        for first in [0, 4, 8] {
            write_shard(dir.path(), &samples::origin(), &samples::games(first, 4)).unwrap();
        }
        let second = ShardFiles::new(dir.path(), 4);
        (dir, second)
    }

    fn only_damage(dir: &Path) -> Finding {
        let report = verify(dir).unwrap();
        assert_eq!(report.digest, None);
        assert_eq!(report.damaged.len(), 1, "{:?}", report.damaged);
        report.damaged[0].clone()
    }

    #[test]
    fn a_sound_folder_is_counted_and_hashed() {
        let (dir, _) = folder();
        let report = verify(dir.path()).unwrap();
        let positions = samples::games(0, 12).iter().map(|game| game.positions.len() as u64).sum();
        assert!(report.is_sound() && report.notes.is_empty());
        assert_eq!((report.shards, report.games, report.positions), (3, 12, positions));
        assert_eq!(report.digest, Some(digest(dir.path()).unwrap()));
    }

    #[test]
    fn a_flipped_bit_anywhere_names_the_file() {
        let (dir, second) = folder();
        for path in [&second.games, &second.positions] {
            let sound = fs::read(path).unwrap();
            for at in (0..sound.len()).step_by(37) {
                let mut damaged = sound.clone();
                damaged[at] ^= 1 << (at % 8);
                fs::write(path, damaged).unwrap();
                assert_eq!(&only_damage(dir.path()).path, path, "byte {at}");
            }
            fs::write(path, sound).unwrap();
        }
        assert!(verify(dir.path()).unwrap().is_sound());
    }

    #[test]
    fn a_file_cut_short_lengthened_or_replaced_is_named() {
        let (dir, second) = folder();
        let sound = fs::read(&second.games).unwrap();
        let zeros = vec![0; sound.len()];
        let longer = [&sound[..], b"PAR1"].concat();
        let replaced: [&[u8]; 6] = [b"", b"PAR1", &sound[..sound.len() / 2], &sound[1..], &zeros, &longer];
        for bytes in replaced {
            fs::write(&second.games, bytes).unwrap();
            assert_eq!(only_damage(dir.path()).path, second.games);
        }
    }

    #[test]
    fn both_files_of_a_shard_and_all_shards_are_looked_at() {
        let (dir, second) = folder();
        fs::write(&second.games, "x").unwrap();
        fs::write(&second.positions, "x").unwrap();
        let third = ShardFiles::new(dir.path(), 8);
        fs::remove_file(&third.positions).unwrap();
        let report = verify(dir.path()).unwrap();
        let paths: Vec<&PathBuf> = report.damaged.iter().map(|finding| &finding.path).collect();
        assert_eq!(paths, [&second.games, &second.positions, &third.positions]);
        assert!(report.damaged[2].reason.contains("twin games-00000008.parquet"), "{:?}", report.damaged);
        assert_eq!((report.shards, report.games), (3, 4));
    }

    #[test]
    fn a_lost_shard_and_an_overlapping_one_are_named() {
        let (dir, second) = folder();
        fs::remove_file(&second.games).unwrap();
        fs::remove_file(&second.positions).unwrap();
        let damage = only_damage(dir.path());
        assert_eq!(damage.path, ShardFiles::new(dir.path(), 8).games);
        assert!(damage.reason.contains("gap: expected game 4 to come next, got 8"), "{damage:?}");
        write_shard(dir.path(), &samples::origin(), &samples::games(3, 5)).unwrap();
        let damage = only_damage(dir.path());
        assert!(damage.reason.contains("overlap: expected game 4 to come next, got 3"), "{damage:?}");
    }

    #[test]
    fn leftovers_and_another_engine_are_only_notes() {
        let (dir, second) = folder();
        fs::write(dir.path().join("games-00000012.parquet.tmp"), "half").unwrap();
        fs::write(dir.path().join("README"), "mine").unwrap();
        let later = Origin { engine: "0.2.0".to_owned(), ..samples::origin() };
        write_shard(dir.path(), &later, &samples::games(4, 4)).unwrap();
        let report = verify(dir.path()).unwrap();
        assert!(report.is_sound(), "{:?}", report.damaged);
        assert_eq!(report.notes.len(), 4, "{:?}", report.notes);
        assert!(report.notes.iter().any(|note| note.path == second.games && note.reason.contains("0.2.0")));
    }

    #[test]
    fn a_run_is_verified_generation_by_generation() {
        let dir = tempfile::tempdir().unwrap();
        for (generation, weights) in [("selfplay/001", "a priori"), ("selfplay/002", "fitted")] {
            let origin = Origin { weights: weights.to_owned(), ..samples::origin() };
            write_shard(&dir.path().join(generation), &origin, &samples::games(0, 3)).unwrap();
        }
        let report = verify(dir.path()).unwrap();
        assert!(report.is_sound(), "{:?}", report.damaged);
        assert_eq!(report.games, 6);
        assert!(verify(&dir.path().join("selfplay/003")).is_err());
    }
}
