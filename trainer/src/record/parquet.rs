//! Shards as Parquet files: writing one, reading one.
//!
//! Files are made in memory, sealed and written in one go, so Polars meets neither a full disk nor a
//! damaged file. Equal games and origin give equal bytes.

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::path::Path;

use polars::prelude::DataFrame;
use polars_io::SerReader;
use polars_io::parquet::read::ParquetReader;
use polars_io::parquet::write::{KeyValueMetadata, ParquetCompression, ParquetWriter, StatisticsOptions};

use super::header::Kind;
use super::tables::{
    check_games, check_games_columns, check_positions_columns, games_from, games_table, positions_table,
};
use super::{Fault, GameRecord, Origin, RecordError, ShardHeader, digest, seal};
use crate::run_dir::{FileError, ShardFiles, create_folder, write_inside};

/// Measured against the others on positions of 90 bytes; see `docs/formats/games.md`.
const COMPRESSION: ParquetCompression = ParquetCompression::Zstd(None);

/// One shard in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shard {
    /// The header that both files carry.
    pub header: ShardHeader,
    /// The games, in order of their numbers.
    pub games: Vec<GameRecord>,
}

/// Writes `games` as one shard into `folder`, which is made if need be: the positions first, then the
/// games, each atomically, so that a shard whose games file exists is complete. An older shard with the
/// same first game is replaced.
///
/// # Errors
/// When the games' numbers do not follow one another, a result is not −1, 0 or 1, or there are no games;
/// and when the disk refuses, in which case no unfinished file keeps its final name.
pub fn write_shard(folder: &Path, origin: &Origin, games: &[GameRecord]) -> Result<ShardFiles, RecordError> {
    create_folder(folder)?;
    write_shard_inside(folder, origin, games)
}

/// As [`write_shard`] into a folder that must be there.
///
/// # Errors
/// As [`write_shard`].
pub fn write_shard_inside(folder: &Path, origin: &Origin, games: &[GameRecord]) -> Result<ShardFiles, RecordError> {
    let files = ShardFiles::new(folder, games.first().map_or(0, |game| game.game));
    check_games(games).map_err(RecordError::in_file(&files.games))?;
    let header = ShardHeader {
        origin: origin.clone(),
        first_game: files.first_game,
        games: games.len() as u64,
        content: digest::content_of(games),
    };
    let positions = positions_table(games)
        .and_then(|table| to_parquet(table, &header, Kind::Positions))
        .map_err(RecordError::in_file(&files.positions))?;
    let games = games_table(games)
        .and_then(|table| to_parquet(table, &header, Kind::Games))
        .map_err(RecordError::in_file(&files.games))?;
    write_inside(&files.positions, &positions)?;
    write_inside(&files.games, &games)?;
    Ok(files)
}

/// Reads a shard and checks all of it: both files' seals, headers and columns, that they belong together
/// and to their names, and the content. With `rules_hash`, also that these rules were played.
///
/// # Errors
/// The first fault, with the file it is in.
pub fn read_shard(files: &ShardFiles, rules_hash: Option<&str>) -> Result<Shard, RecordError> {
    let games = read_games_file(files, rules_hash)?;
    let positions = read_positions_file(files, rules_hash)?;
    join(&games, &positions).map_err(RecordError::in_file(&files.positions))
}

/// One file of a shard, sound in itself.
pub(super) struct Half {
    header: ShardHeader,
    table: DataFrame,
}

/// Reads the games file and checks it as far as it goes without its twin.
pub(super) fn read_games_file(files: &ShardFiles, rules_hash: Option<&str>) -> Result<Half, RecordError> {
    let half = read_half(&files.games, Kind::Games)?;
    half.header
        .check_first_game(files.first_game)
        .and_then(|()| check_rules(&half.header, rules_hash))
        .and_then(|()| half.header.check_games(half.table.height()))
        .map_err(RecordError::in_file(&files.games))?;
    Ok(half)
}

/// Reads the positions file and checks it as far as it goes without its twin.
pub(super) fn read_positions_file(files: &ShardFiles, rules_hash: Option<&str>) -> Result<Half, RecordError> {
    let half = read_half(&files.positions, Kind::Positions)?;
    half.header
        .check_first_game(files.first_game)
        .and_then(|()| check_rules(&half.header, rules_hash))
        .map_err(RecordError::in_file(&files.positions))?;
    Ok(half)
}

/// Puts the two halves of a shard together; the positions are what is wrong if they do not fit.
pub(super) fn join(games: &Half, positions: &Half) -> Result<Shard, Fault> {
    games.header.check_twin(&positions.header)?;
    let records = games_from(&games.table, &positions.table)?;
    games.header.check_content(&digest::content_of(&records))?;
    Ok(Shard { header: games.header.clone(), games: records })
}

fn check_rules(header: &ShardHeader, rules_hash: Option<&str>) -> Result<(), Fault> {
    rules_hash.map_or(Ok(()), |expected| header.check_rules(expected))
}

fn read_half(path: &Path, kind: Kind) -> Result<Half, RecordError> {
    let bytes = fs::read(path).map_err(FileError::at("read", path))?;
    from_parquet(&bytes, kind).map_err(RecordError::in_file(path))
}

/// A sealed Parquet file of `table`. One thread: the cores belong to the games being played.
fn to_parquet(mut table: DataFrame, header: &ShardHeader, kind: Kind) -> Result<Vec<u8>, Fault> {
    let mut file = Vec::new();
    ParquetWriter::new(&mut file)
        .with_compression(COMPRESSION)
        .with_statistics(StatisticsOptions::empty())
        .set_parallel(false)
        .with_key_value_metadata(Some(KeyValueMetadata::from_static(header.to_pairs(kind))))
        .finish(&mut table)?;
    seal::close(&mut file)?;
    Ok(file)
}

/// Header and table of a file, in the order in which trust grows: seal, header, columns.
fn from_parquet(bytes: &[u8], kind: Kind) -> Result<Half, Fault> {
    seal::check(bytes)?;
    let mut reader = ParquetReader::new(Cursor::new(bytes));
    let pairs = reader.get_metadata()?.key_value_metadata().clone();
    let pairs: BTreeMap<String, String> =
        pairs.into_iter().flatten().filter_map(|pair| Some((pair.key, pair.value?))).collect();
    let header = ShardHeader::from_pairs(&pairs, kind)?;
    let table = reader.finish()?;
    match kind {
        Kind::Games => check_games_columns(&table)?,
        Kind::Positions => check_positions_columns(&table)?,
    }
    Ok(Half { header, table })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, any, prop_assert_eq, proptest};
    use proptest::{collection, sample};

    use super::*;
    use crate::record::{PositionRecord, samples};

    fn header(games: &[GameRecord]) -> ShardHeader {
        ShardHeader {
            origin: samples::origin(),
            first_game: games[0].game,
            games: games.len() as u64,
            content: digest::content_of(games),
        }
    }

    fn games_file(header: &ShardHeader, games: &[GameRecord]) -> Vec<u8> {
        to_parquet(games_table(games).unwrap(), header, Kind::Games).unwrap()
    }

    fn positions_file(header: &ShardHeader, games: &[GameRecord]) -> Vec<u8> {
        to_parquet(positions_table(games).unwrap(), header, Kind::Positions).unwrap()
    }

    fn written(games: &[GameRecord]) -> (tempfile::TempDir, ShardFiles) {
        let dir = tempfile::tempdir().unwrap();
        let files = write_shard(dir.path(), &samples::origin(), games).unwrap();
        (dir, files)
    }

    #[test]
    fn a_shard_is_read_as_it_was_written() {
        let games = samples::games(40, 10);
        let (dir, files) = written(&games);
        assert_eq!(files.games, dir.path().join("games-00000040.parquet"));
        assert_eq!(files.positions, dir.path().join("positions-00000040.parquet"));
        let shard = read_shard(&files, Some("5f0c")).unwrap();
        assert_eq!(shard.header, header(&games));
        assert_eq!(shard.games, games);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "no temporary file stays");
    }

    #[test]
    fn a_shard_without_positions_is_a_shard() {
        let games = samples::games(4, 1);
        assert!(games[0].positions.is_empty());
        let (_dir, files) = written(&games);
        assert_eq!(read_shard(&files, None).unwrap().games, games);
    }

    #[test]
    fn equal_games_give_equal_bytes() {
        let games = samples::games(0, 50);
        let ((_first, one), (_second, two)) = (written(&games), written(&games));
        assert_eq!(fs::read(one.games).unwrap(), fs::read(two.games).unwrap());
        assert_eq!(fs::read(one.positions).unwrap(), fs::read(two.positions).unwrap());
    }

    #[test]
    fn games_of_other_rules_are_refused_with_both_hashes() {
        let (_dir, files) = written(&samples::games(0, 3));
        let message = read_shard(&files, Some("beef")).unwrap_err().to_string();
        assert!(message.contains("games-00000000.parquet"), "{message}");
        assert!(message.contains("fairyforge.rules_hash: expected beef, got \"5f0c\""), "{message}");
    }

    #[test]
    fn a_renamed_shard_and_exchanged_files_are_refused() {
        let games = samples::games(0, 3);
        let (dir, files) = written(&games);
        let renamed = ShardFiles::new(dir.path(), 7);
        fs::copy(&files.games, &renamed.games).unwrap();
        let message = read_shard(&renamed, None).unwrap_err().to_string();
        assert!(message.contains("first_game: expected 7, got \"0\""), "{message}");
        let games_in_place_of_positions = games_file(&header(&games), &games);
        let fault = from_parquet(&games_in_place_of_positions, Kind::Positions).err().unwrap();
        assert!(fault.to_string().contains("kind: expected positions, got \"games\""), "{fault}");
    }

    #[test]
    fn positions_of_a_shard_with_other_games_are_refused() {
        let games = samples::games(0, 3);
        let (_dir, files) = written(&games);
        let mut other = games.clone();
        other[1].positions[0].score += 1;
        fs::write(&files.positions, positions_file(&header(&other), &other)).unwrap();
        let message = read_shard(&files, None).unwrap_err().to_string();
        assert!(message.contains("positions-00000000.parquet"), "{message}");
        assert!(message.contains("fairyforge.content"), "{message}");
        fs::write(&files.positions, positions_file(&header(&games), &other)).unwrap();
        assert!(read_shard(&files, None).unwrap_err().to_string().contains("fairyforge.content"));
    }

    #[test]
    fn other_columns_are_refused() {
        let games = samples::games(0, 3);
        let file = to_parquet(games_table(&games).unwrap(), &header(&games), Kind::Positions).unwrap();
        let fault = from_parquet(&file, Kind::Positions).err().unwrap();
        assert!(matches!(fault, Fault::Columns { .. }), "{fault}");
    }

    #[test]
    fn no_changed_byte_reaches_polars() {
        let games = samples::games(0, 2);
        let file = positions_file(&header(&games), &games);
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << (at % 8);
            let fault = from_parquet(&damaged, Kind::Positions).err().unwrap();
            let is_seals = matches!(fault, Fault::Truncated { .. } | Fault::NoSeal | Fault::SealBroken { .. });
            assert!(is_seals, "byte {at}: {fault}");
        }
    }

    #[test]
    fn unfit_games_are_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let mut games = samples::games(0, 3);
        games[2].game = 9;
        let message = write_shard(dir.path(), &samples::origin(), &games).unwrap_err().to_string();
        assert!(message.contains("gap: expected game 2 to come next, got 9"), "{message}");
        assert!(write_shard(dir.path(), &samples::origin(), &[]).is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    /// A full disk in miniature: the temporary file leads to `/dev/full`.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_leaves_earlier_shards_alone_and_no_unfinished_one() {
        let games = samples::games(0, 6);
        let (dir, earlier) = written(&games[..3]);
        let files = ShardFiles::new(dir.path(), 3);
        for full in [&files.positions, &files.games] {
            let temporary = format!("{}.tmp", full.display());
            std::os::unix::fs::symlink("/dev/full", &temporary).unwrap();
            let error = write_shard(dir.path(), &samples::origin(), &games[3..]).unwrap_err();
            let RecordError::File(error) = error else { panic!("{error}") };
            assert_eq!(error.source.kind(), std::io::ErrorKind::StorageFull);
            assert!(error.to_string().starts_with(&format!("cannot write {temporary}: ")), "{error}");
            assert!(!files.games.exists() && !Path::new(&temporary).is_symlink());
        }
        assert_eq!(read_shard(&earlier, None).unwrap().games, games[..3]);
    }

    fn any_position() -> impl Strategy<Value = PositionRecord> {
        let packed = collection::vec(any::<u8>(), 0..100);
        (any::<u16>(), packed, ".{0,9}", any::<i16>(), any::<u32>(), any::<bool>())
            .prop_map(|(ply, packed, mv, score, nodes, quiet)| PositionRecord { ply, packed, mv, score, nodes, quiet })
    }

    fn any_game() -> impl Strategy<Value = GameRecord> {
        let texts = (".{0,40}", ".{0,12}", ".{0,12}");
        let numbers = (any::<u16>(), sample::select(vec![-1_i8, 0, 1]), any::<u16>());
        let positions = collection::vec(any_position(), 0..6);
        (texts, numbers, positions).prop_map(|(texts, (random_plies, result, plies), positions)| GameRecord {
            game: 0,
            start_fen: texts.0,
            random_plies,
            imbalance: texts.1,
            result,
            termination: texts.2,
            plies,
            positions,
        })
    }

    fn any_games() -> impl Strategy<Value = Vec<GameRecord>> {
        (0..u64::MAX / 2, collection::vec(any_game(), 1..6)).prop_map(|(first, mut games)| {
            for (number, game) in (first..).zip(&mut games) {
                game.game = number;
            }
            games
        })
    }

    proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(48))]
        #[test]
        fn whatever_is_written_is_read_again(games in any_games()) {
            let (_dir, files) = written(&games);
            prop_assert_eq!(read_shard(&files, None).unwrap().games, games);
        }
    }
}
