//! Recorded games as training data: which shards there are, which positions of them count, which games are for validation.
//!
//! A shard is read as a whole and decoded in parallel; what comes out depends on the shard and the plan alone. In which
//! order shards are read is the business of [`super::feed`].

use super::inputs::ActiveInputs;
use super::plan::{DataSettings, FilterSettings};
use super::samples::{Known, Samples};
use super::schedule::TargetSettings;
use crate::checksum::{hex, number, sha256};
use crate::record::{ContentHasher, GameRecord, Origin, PositionRecord, RecordError, Shard, read_shard};
use crate::run_dir::{FileError, ShardFiles, list_shards, shard_folders};
use fairyforge_engine::evaluate::{Evaluator, Tapered, Weights};
use fairyforge_engine::position::{Position, UnpackError};
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::Colour;
use rayon::ThreadPool;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Separates the lot that chooses validation games from all others.
const VALIDATION_LOT: &[u8] = b"fairyforge validation games 1";

/// Why there are no data to learn from.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The records are damaged, absent, or of other rules.
    #[error(transparent)]
    Records(#[from] RecordError),
    /// A folder cannot be listed.
    #[error(transparent)]
    File(#[from] FileError),
    /// A position's bytes are not a position of the game.
    #[error("game {game}, ply {ply}: {fault}")]
    Position {
        /// Number of the game.
        game: u64,
        /// Plies since its start.
        ply: u16,
        /// What is wrong with the bytes.
        fault: UnpackError,
    },
    /// Nothing passes the filter.
    #[error("expected positions to learn from, got none in {shards} shards: {tally}")]
    NothingToLearn {
        /// Shards that were read.
        shards: usize,
        /// What became of their positions.
        tally: Tally,
    },
    /// The same games under two names, or within one another.
    #[error("data: expected different games, got those of {} twice", folder.display())]
    Twice {
        /// Their folder.
        folder: PathBuf,
    },
    /// No game is for validation.
    #[error("expected positions for validation, got none of {games} games; more games, or a greater validation_share")]
    NothingToValidate {
        /// Games that were looked at.
        games: u64,
    },
}

/// What became of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Games.
    pub games: u64,
    /// Positions that are learnt from.
    pub kept: u64,
    /// Left out: too early in the game.
    pub early: u64,
    /// Left out: decided.
    pub decided: u64,
    /// Left out: in check.
    pub in_check: u64,
    /// Left out: the best move captures or promotes.
    pub captures: u64,
}

impl Tally {
    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            games: self.games + other.games,
            kept: self.kept + other.kept,
            early: self.early + other.early,
            decided: self.decided + other.decided,
            in_check: self.in_check + other.in_check,
            captures: self.captures + other.captures,
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { games, kept, early, decided, in_check, captures } = self;
        write!(
            f,
            "{games} games, {kept} positions kept, left out {early} early, {decided} decided, {in_check} in check, {captures} before captures"
        )
    }
}

/// Which games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Those to learn from.
    Training,
    /// Those kept apart.
    Validation,
}

/// What a shard holds of one part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    /// The positions, in order of games and plies.
    pub samples: Samples,
    /// What became of all.
    pub tally: Tally,
}

impl Decoded {
    /// Adds what comes after it.
    pub fn append(&mut self, other: &Self) {
        self.samples.append(&other.samples);
        self.tally = self.tally.and(other.tally);
    }
}

/// How positions are chosen, and what is learnt of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Choice {
    /// Which positions count.
    pub filter: FilterSettings,
    /// Share of the games for validation.
    pub validation_share: f64,
    /// How scores become expectations.
    pub target: TargetSettings,
}

/// Where positions come from.
#[derive(Debug)]
pub struct Source {
    variant: Arc<Variant>,
    inputs: Arc<dyn ActiveInputs>,
    choice: Choice,
    shards: Vec<SourceShard>,
    pool: Arc<ThreadPool>,
    /// What is known without the network.
    base: Option<Tapered>,
}

#[derive(Debug)]
struct SourceShard {
    /// Which of the plan's folders it is from.
    folder: usize,
    files: ShardFiles,
    weight: f32,
}

/// One of the folders of games.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Folder {
    /// What `fairyforge data digest` says of it.
    pub digest: String,
    /// Its games.
    pub games: u64,
}

/// A summary of folders of games.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Digest of everything: the folder's, or of those of all folders in order.
    pub digest: String,
    /// Each of the plan's folders.
    pub folders: Vec<Folder>,
    /// What became of the games to learn from.
    pub training: Tally,
    /// What became of the games for validation.
    pub validation: Tally,
}

/// What is looked at before training.
#[derive(Clone, Debug)]
pub struct Survey {
    /// All positions of the games for validation.
    pub validation: Samples,
    /// What there is.
    pub content: Content,
}

fn digest_of(folders: &[Folder]) -> String {
    match folders {
        [only] => only.digest.clone(),
        all => {
            let digests: Vec<&[u8]> = all.iter().map(|folder| folder.digest.as_bytes()).collect();
            hex(&sha256(&digests))
        }
    }
}

impl Source {
    /// Lists the shards of all folders; reads none.
    ///
    /// # Errors
    /// A folder cannot be listed or holds no shards.
    pub fn open(
        (variant, inputs): (Arc<Variant>, Arc<dyn ActiveInputs>),
        data: &[DataSettings],
        choice: Choice,
        pool: Arc<ThreadPool>,
        base: Option<&Weights>,
    ) -> Result<Self, DataError> {
        let mut shards = Vec::new();
        let mut seen = BTreeSet::new();
        for (number, DataSettings { folder, weight }) in data.iter().enumerate() {
            let before = shards.len();
            for folder in shard_folders(folder)? {
                if !seen.insert(std::fs::canonicalize(&folder).map_err(FileError::at("find", &folder))?) {
                    return Err(DataError::Twice { folder });
                }
                let listed = list_shards(&folder)?.shards;
                shards.extend(listed.into_iter().map(|files| SourceShard {
                    folder: number,
                    files,
                    weight: *weight as f32,
                }));
            }
            if shards.len() == before {
                return Err(RecordError::NoShards { dir: PathBuf::from(folder) }.into());
            }
        }
        let base = base.map(|weights| Tapered::new(&variant, weights));
        Ok(Self { variant, inputs, choice, shards, pool, base })
    }

    /// Number of shards.
    #[must_use]
    pub fn shards(&self) -> usize {
        self.shards.len()
    }

    /// What the network sees.
    #[must_use]
    pub fn inputs(&self) -> &Arc<dyn ActiveInputs> {
        &self.inputs
    }

    /// The threads that decode.
    #[must_use]
    pub fn pool(&self) -> &Arc<ThreadPool> {
        &self.pool
    }

    /// The positions of one shard.
    ///
    /// # Errors
    /// The shard is damaged or of other rules, or a position is none.
    pub fn read(&self, shard: usize, part: Part) -> Result<Decoded, DataError> {
        let read = self.open_shard(shard)?;
        self.pool.install(|| self.decode(&read, shard, part))
    }

    /// Goes through everything: the positions of the games for validation, and what the whole of the data is.
    ///
    /// # Errors
    /// As [`Source::read`]; and there are none, although a share of the games was asked for.
    pub fn survey(&self) -> Result<Survey, DataError> {
        let mut all = Decoded::default();
        let mut training = Tally::default();
        let mut folders: Vec<(ContentHasher, u64)> = Vec::new();
        for shard in 0..self.shards.len() {
            let read = self.open_shard(shard)?;
            all.append(&self.pool.install(|| self.decode(&read, shard, Part::Validation))?);
            training = training.and(self.pool.install(|| self.decode(&read, shard, Part::Training))?.tally);
            let folder = self.shards[shard].folder;
            folders.resize_with(folder + 1, || (ContentHasher::new(), 0));
            folders[folder].0.add_all(&read.games);
            folders[folder].1 += read.header.games;
        }
        let folders: Vec<Folder> =
            folders.into_iter().map(|(content, games)| Folder { digest: content.finish(), games }).collect();
        if training.kept == 0 && all.samples.is_empty() {
            return Err(DataError::NothingToLearn { shards: self.shards.len(), tally: training.and(all.tally) });
        }
        if all.samples.is_empty() && self.choice.validation_share > 0.0 {
            return Err(DataError::NothingToValidate { games: folders.iter().map(|folder| folder.games).sum() });
        }
        let content = Content { digest: digest_of(&folders), folders, training, validation: all.tally };
        Ok(Survey { validation: all.samples, content })
    }

    fn open_shard(&self, shard: usize) -> Result<Shard, DataError> {
        Ok(read_shard(&self.shards[shard].files, Some(self.variant.rules_hash()))?)
    }

    fn decode(&self, read: &Shard, shard: usize, part: Part) -> Result<Decoded, DataError> {
        let chosen: Vec<&GameRecord> =
            read.games.iter().filter(|game| self.part(&read.header.origin, game.game) == part).collect();
        let games: Vec<Result<Decoded, DataError>> = chosen.par_iter().map(|game| self.game(game)).collect();
        let mut all = Decoded::default();
        for game in games {
            all.append(&game?);
        }
        all.samples.weigh(self.shards[shard].weight);
        Ok(all)
    }

    /// The two games of a pair begin alike, so they are kept together.
    fn part(&self, origin: &Origin, game: u64) -> Part {
        let numbers = [origin.run_seed, game / 2].map(u64::to_le_bytes);
        let lot = number(&[VALIDATION_LOT, origin.weights.as_bytes(), &numbers[0], &numbers[1]]);
        // 53 bits make a uniform number in [0, 1).
        let uniform = (lot >> 11) as f64 / (1_u64 << 53) as f64;
        if uniform < self.choice.validation_share { Part::Validation } else { Part::Training }
    }

    fn game(&self, game: &GameRecord) -> Result<Decoded, DataError> {
        let mut decoded = Decoded { tally: Tally { games: 1, ..Tally::default() }, ..Decoded::default() };
        let mut scratch = Vec::new();
        for (record, expected) in game.positions.iter().zip(self.expectations(game)?) {
            let Some(position) = self.chosen(game, record, &mut decoded.tally)? else { continue };
            let is_white = position.side_to_move() == Colour::White;
            let (result, expected) = if is_white { (game.result, expected) } else { (-game.result, 1.0 - expected) };
            let base = self.base.as_ref().map_or(0, |base| base.value_of(&position)) as i16;
            let known = Known { result, expected, base, weight: 1.0 };
            decoded.samples.push(&*self.inputs, &position, known, &mut scratch);
        }
        let positions = decoded.samples.len() as f64;
        decoded.samples.weigh(positions.powf(-self.choice.filter.game_balance) as f32);
        Ok(decoded)
    }

    /// What the scores from each position on expect of the game, from White's view.
    fn expectations(&self, game: &GameRecord) -> Result<Vec<f32>, DataError> {
        let Some(first) = game.positions.first() else { return Ok(Vec::new()) };
        let white_begins = self.unpack(game, first)?.side_to_move() == Colour::White;
        // Sides take turns, so the parity of the ply tells whose score it is.
        let from_white = |record: &PositionRecord| {
            let is_white = white_begins == record.ply.abs_diff(first.ply).is_multiple_of(2);
            if is_white { record.score } else { record.score.saturating_neg() }
        };
        let scores: Vec<i16> = game.positions.iter().map(from_white).collect();
        Ok(self.choice.target.expectations(&scores, game.result))
    }

    fn unpack(&self, game: &GameRecord, record: &PositionRecord) -> Result<Position, DataError> {
        let fault = |fault| DataError::Position { game: game.game, ply: record.ply, fault };
        Position::unpack(&self.variant, &record.packed).map_err(fault)
    }

    /// The position, unless the filter leaves it out.
    fn chosen(
        &self,
        game: &GameRecord,
        record: &PositionRecord,
        tally: &mut Tally,
    ) -> Result<Option<Position>, DataError> {
        let FilterSettings { least_ply, most_score, in_check, captures, .. } = self.choice.filter;
        if record.ply < least_ply {
            tally.early += 1;
            return Ok(None);
        }
        if record.score.unsigned_abs() > most_score.unsigned_abs() {
            tally.decided += 1;
            return Ok(None);
        }
        let position = self.unpack(game, record)?;
        // Records mark what is neither in check nor before a capture or promotion.
        if !record.quiet {
            let (counter, is_kept) = match position.in_check() {
                true => (&mut tally.in_check, in_check),
                false => (&mut tally.captures, captures),
            };
            if !is_kept {
                *counter += 1;
                return Ok(None);
            }
        }
        tally.kept += 1;
        Ok(Some(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::write_shard;
    use fairyforge_engine::evaluate::network::{Architecture, Features};
    use fairyforge_engine::position::Unobserved;

    /// Scores are the mover's, results White's; what is learnt is the mover's again, whoever begins.
    #[test]
    fn expectations_are_seen_by_the_side_to_move() {
        let variant = Arc::new(Variant::load("chess").unwrap());
        for first_ply in [0, 1] {
            let folder = tempfile::tempdir().unwrap();
            let mut position = Position::start(&variant);
            let mut positions = Vec::new();
            for ply in 0..first_ply + 3 {
                if ply >= first_ply {
                    let score = [100, -200, 300][usize::from(ply - first_ply)];
                    let packed = position.pack();
                    positions.push(PositionRecord { ply, packed, score, quiet: true, ..PositionRecord::default() });
                }
                let mv = position.legal_moves()[0];
                position.make(mv, &mut Unobserved);
            }
            let white_begins = first_ply == 0;
            // Whoever is to move first wins.
            let result = if white_begins { 1 } else { -1 };
            let origin = Origin { rules_hash: variant.rules_hash().to_owned(), ..Origin::default() };
            write_shard(folder.path(), &origin, &[GameRecord { result, positions, ..GameRecord::default() }]).unwrap();
            let probability = |score: f64| 1.0 / (1.0 + (-score / 400.0).exp());
            let third = 0.5 * probability(300.0) + 0.5;
            let second = 0.5 * probability(-200.0) + 0.5 * (1.0 - third);
            let first = 0.5 * probability(100.0) + 0.5 * (1.0 - second);
            let source = source(&variant, folder.path());
            let decoded = source.read(0, Part::Training).unwrap();
            for (known, (expected, result)) in
                decoded.samples.known().iter().zip([(first, 1), (second, -1), (third, 1)])
            {
                assert!(
                    (f64::from(known.expected) - expected).abs() < 1e-6,
                    "ply {first_ply} first: {known:?} {expected}"
                );
                assert_eq!(known.result, result);
            }
            assert_eq!(decoded.samples.len(), 3);
        }
    }

    fn source(variant: &Arc<Variant>, folder: &std::path::Path) -> Source {
        let features = Arc::new(Features::new(variant, Architecture::plain(64)).unwrap());
        let target = TargetSettings { lambda: 0.5, ..TargetSettings::default() };
        let filter = FilterSettings { least_ply: 0, ..FilterSettings::default() };
        let data = [DataSettings { folder: folder.to_owned(), weight: 1.0 }];
        let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap());
        let choice = Choice { filter, target, ..Choice::default() };
        Source::open((Arc::clone(variant), features), &data, choice, pool, None).unwrap()
    }
}
