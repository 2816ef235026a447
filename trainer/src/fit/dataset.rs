//! Games read for fitting: their results, their pairs, and the quiet positions that stand for each of them.
//!
//! Shards are streamed one at a time; of every game only the positions that a fit can use are kept, as lists of men.
//! Which positions those are depends on the game's number and the seed alone, not on threads or shards. What is made
//! of them is the business of [`super::values`] and [`super::weights`].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fairyforge_engine::geometry::Square;
use fairyforge_engine::position::{Piece, Position, UnpackError};
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::{Colour, Unit};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use thiserror::Error;

use super::logistic::Outcome;
use crate::record::{self, GameRecord, PositionRecord, RecordError, ShardHeader};

/// Which quiet positions of a game are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    /// Positions kept in [`GameSample::spread`]; all quiet ones where a game has fewer.
    pub positions_per_game: usize,
    /// With the game's number, fixes every choice.
    pub seed: u64,
}

/// A position, quiet but for the start of a game, reduced to what a fit looks at.
#[derive(Debug, Clone, PartialEq)]
pub struct QuietPosition {
    /// Plies since the start of the game.
    pub ply: u16,
    /// Who moves next.
    pub side_to_move: Colour,
    /// The men on the board, in order of squares.
    pub men: Vec<(Piece, Square)>,
    /// The men in hand, each as often as it is held.
    pub held: Vec<Piece>,
}

/// One game as the fits see it.
#[derive(Debug, Clone, PartialEq)]
pub struct GameSample {
    /// Its number.
    pub game: u64,
    /// The same for the two games of a pair (numbers 2k and 2k+1 of one folder), which share their opening.
    pub cluster: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Its length in plies, random ones included.
    pub plies: u16,
    /// Whether it began from the whole array: nothing was taken away.
    pub from_array: bool,
    /// How many more of each unit White had by lot, by unit index: what was taken from Black less what was taken from White.
    pub by_lot: Vec<i32>,
    /// The position in which the players took over.
    pub start: QuietPosition,
    /// The first quiet position, if there is one.
    pub earliest: Option<QuietPosition>,
    /// A quiet position drawn by lot, if there is one.
    pub random: Option<QuietPosition>,
    /// Quiet positions spread evenly over the game: one drawn by lot from each of equally long stretches.
    pub spread: Vec<QuietPosition>,
}

/// All games of a folder or run in which the players moved.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dataset {
    /// The games, in order.
    pub games: Vec<GameSample>,
    /// Games of which no position is quiet.
    pub games_without_quiet: u64,
}

/// Why games could not be read for fitting.
#[derive(Debug, Error)]
pub enum DatasetError {
    /// The records are damaged, absent, or of other rules.
    #[error(transparent)]
    Records(#[from] RecordError),
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
    /// What the lot took away cannot be read.
    #[error("game {game}: expected units taken away as \"w:NNQ b:B\", of this variant, got {text:?}")]
    Imbalance {
        /// Number of the game.
        game: u64,
        /// What the record says.
        text: String,
    },
    /// Nothing to fit.
    #[error("{}: expected games with quiet positions, got {games} games without any", dir.display())]
    NothingQuiet {
        /// The folder that was read.
        dir: PathBuf,
        /// Games in it.
        games: u64,
    },
}

impl Dataset {
    /// Reads the games of `dir` (a folder of shards or a run), which must be of the variant's rules. After each shard
    /// `observe` is told how many games have been read.
    ///
    /// # Errors
    /// Damaged records or records of other rules, with the file's name; a position that cannot be unpacked; no game
    /// with a quiet position.
    pub fn read(
        dir: &Path,
        variant: &Arc<Variant>,
        selection: &Selection,
        observe: &dyn Fn(u64),
    ) -> Result<Self, DatasetError> {
        let mut dataset = Self::default();
        let mut pairs = Pairs::default();
        for shard in record::shards(dir, Some(variant.rules_hash()))? {
            let shard = shard?;
            let samples: Vec<_> = shard.games.par_iter().map(|game| sample(game, variant, selection)).collect();
            pairs.enter(&shard.header);
            for (record, sample) in shard.games.iter().zip(samples) {
                let cluster = pairs.cluster_of(record.game);
                let sample = sample?;
                let is_quiet = sample.as_ref().is_some_and(|sample| sample.earliest.is_some());
                dataset.games_without_quiet += u64::from(!is_quiet);
                dataset.games.extend(sample.map(|sample| GameSample { cluster, ..sample }));
            }
            observe(dataset.games.len() as u64);
        }
        if dataset.games_with_quiet() == 0 {
            return Err(DatasetError::NothingQuiet { dir: dir.to_owned(), games: dataset.games_without_quiet });
        }
        Ok(dataset)
    }

    /// Games with a quiet position.
    #[must_use]
    pub fn games_with_quiet(&self) -> usize {
        self.games.iter().filter(|game| game.earliest.is_some()).count()
    }

    /// Positions in [`GameSample::spread`] over all games.
    #[must_use]
    pub fn positions(&self) -> usize {
        self.games.iter().map(|game| game.spread.len()).sum()
    }
}

impl GameSample {
    /// Whether the lot took more from one side than from the other.
    #[must_use]
    pub fn is_unbalanced(&self) -> bool {
        self.by_lot.iter().any(|&more| more != 0)
    }
}

impl QuietPosition {
    /// Takes down what a fit needs of `position`.
    #[must_use]
    pub fn new(ply: u16, position: &Position) -> Self {
        let men = position.occupied().iter().map(|square| (position.piece_at(square), square)).collect();
        let in_hand = |colour| {
            let held = move |unit| (0..position.in_hand(unit, colour)).map(move |_| Piece::new(unit, colour));
            position.variant().units().flat_map(held)
        };
        let held = Colour::BOTH.into_iter().flat_map(in_hand).collect();
        Self { ply, side_to_move: position.side_to_move(), men, held }
    }

    /// All men, on the board and in hand.
    pub fn everyone(&self) -> impl Iterator<Item = Piece> + '_ {
        self.men.iter().map(|&(piece, _)| piece).chain(self.held.iter().copied())
    }

    /// Share of the variant's men that are still there.
    #[must_use]
    pub fn share_of_men(&self, variant: &Variant) -> f64 {
        let in_hand: usize = variant.units().map(|unit| 2 * usize::from(variant.hand_size(unit))).sum();
        self.everyone().count() as f64 / (variant.rules().array.len() + in_hand).max(1) as f64
    }

    /// White's count minus Black's for each of the game's unit types, on the board and in hand.
    #[must_use]
    pub fn differences(&self, variant: &Variant) -> Vec<i32> {
        let mut differences = vec![0; variant.units().len()];
        for piece in self.everyone() {
            differences[piece.unit().index()] += sign(piece.colour());
        }
        differences
    }
}

/// 1 for White, −1 for Black: every fit takes White's view.
#[must_use]
pub fn sign(colour: Colour) -> i32 {
    match colour {
        Colour::White => 1,
        Colour::Black => -1,
    }
}

/// Numbers the pairs of games across folders, each of which counts its games by itself.
#[derive(Default)]
pub(crate) struct Pairs {
    folder: u64,
    last: Option<(u64, u64)>,
    clusters: u64,
}

impl Pairs {
    /// A folder's first shard starts with its base game; no other does.
    pub(crate) fn enter(&mut self, header: &ShardHeader) {
        if header.first_game == header.origin.base_game {
            self.folder += 1;
        }
    }

    /// A number that the two games of a pair share; games are asked for in their order.
    pub(crate) fn cluster_of(&mut self, game: u64) -> u64 {
        let pair = (self.folder, game / 2);
        if self.last.is_some_and(|last| last != pair) {
            self.clusters += 1;
        }
        self.last = Some(pair);
        self.clusters
    }
}

/// The game without its cluster, or `None` when nobody moved in it.
fn sample(
    record: &GameRecord,
    variant: &Arc<Variant>,
    selection: &Selection,
) -> Result<Option<GameSample>, DatasetError> {
    let quiet: Vec<&PositionRecord> = record.positions.iter().filter(|position| position.quiet).collect();
    let Some(start) = record.positions.first() else { return Ok(None) };
    let unpacked = |position: &PositionRecord| match Position::unpack(variant, &position.packed) {
        Ok(unpacked) => Ok(QuietPosition::new(position.ply, &unpacked)),
        Err(fault) => Err(DatasetError::Position { game: record.game, ply: position.ply, fault }),
    };
    let mut lot = ChaCha8Rng::seed_from_u64(selection.seed);
    lot.set_stream(record.game);
    let random = if quiet.is_empty() { None } else { Some(quiet[drawn(&mut lot, 0, quiet.len())]) };
    let spread = spread_over(&mut lot, quiet.len(), selection.positions_per_game);
    Ok(Some(GameSample {
        game: record.game,
        cluster: 0,
        outcome: outcome(record.result),
        plies: record.plies,
        from_array: record.imbalance.is_empty(),
        by_lot: by_lot(&record.imbalance, variant)
            .ok_or_else(|| DatasetError::Imbalance { game: record.game, text: record.imbalance.clone() })?,
        start: unpacked(start)?,
        earliest: quiet.first().map(|&first| unpacked(first)).transpose()?,
        random: random.map(unpacked).transpose()?,
        spread: spread.into_iter().map(|index| unpacked(quiet[index])).collect::<Result<_, _>>()?,
    }))
}

/// How many more of each unit White had because of what `imbalance` says was taken away (`w:NNQ b:B`), by unit index. `None` if it says
/// nothing of the kind.
pub fn by_lot(imbalance: &str, variant: &Variant) -> Option<Vec<i32>> {
    let mut more = vec![0; variant.units().len()];
    if imbalance.is_empty() {
        return Some(more);
    }
    let (white, black) = imbalance.strip_prefix("w:")?.split_once(" b:")?;
    if white.is_empty() && black.is_empty() {
        return None;
    }
    for (letters, sign) in [(white, -1), (black, 1)] {
        for letter in letters.chars() {
            let named = |&unit: &Unit| unit != variant.royal() && variant.unit(unit).letter == letter;
            let unit = variant.units().find(named)?;
            more[unit.index()] += sign;
        }
    }
    Some(more)
}

/// Records hold no other results than −1, 0 and 1.
fn outcome(result: i8) -> Outcome {
    match result {
        1.. => Outcome::WhiteWins,
        0 => Outcome::Draw,
        _ => Outcome::BlackWins,
    }
}

/// One index out of each of `wanted` equal stretches of `0..count`, ascending; all of them when there are fewer.
fn spread_over(lot: &mut ChaCha8Rng, count: usize, wanted: usize) -> Vec<usize> {
    if count <= wanted {
        return (0..count).collect();
    }
    (0..wanted).map(|stretch| drawn(lot, stretch * count / wanted, (stretch + 1) * count / wanted)).collect()
}

/// A number from `low` to below `high`. Games are short enough for the bias of a remainder to vanish.
fn drawn(lot: &mut ChaCha8Rng, low: usize, high: usize) -> usize {
    low + (lot.next_u64() % (high - low) as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairyforge_engine::geometry::SquareSet;

    fn chess() -> Arc<Variant> {
        Arc::new(Variant::load("chess").unwrap())
    }

    fn record(game: u64, packed: &[u8], quiet: &[bool]) -> GameRecord {
        let position = |(ply, &quiet): (u16, &bool)| PositionRecord {
            ply,
            packed: packed.to_vec(),
            quiet,
            ..PositionRecord::default()
        };
        GameRecord { game, positions: (0..).zip(quiet).map(position).collect(), ..GameRecord::default() }
    }

    #[test]
    fn differences_are_zero_at_the_start_and_negated_by_exchanging_the_armies() {
        let variant = chess();
        let start = Position::start(&variant);
        assert!(QuietPosition::new(0, &start).differences(&variant).iter().all(|&difference| difference == 0));
        let odds = ["a1", "b8", "c8", "e2"].map(|name| variant.topology().parse(name).unwrap());
        let odds = start.without(odds.into_iter().collect::<SquareSet>()).unwrap();
        let differences = QuietPosition::new(0, &odds).differences(&variant);
        let of = |name: &str| differences[variant.unit_named(name).unwrap().index()];
        assert_eq!(["rook", "knight", "bishop", "pawn", "queen"].map(of), [-1, 1, 1, -1, 0]);
        let exchanged = QuietPosition::new(0, &odds.armies_exchanged().unwrap()).differences(&variant);
        assert_eq!(exchanged, differences.iter().map(|difference| -difference).collect::<Vec<i32>>());
    }

    #[test]
    fn imbalances_are_read_and_refused() {
        let chess = Variant::load("chess").unwrap();
        let more = by_lot("w:NNQ b:B", &chess);
        let of = |name: &str| more.as_ref().unwrap()[chess.unit_named(name).unwrap().index()];
        assert_eq!(["knight", "queen", "bishop", "rook"].map(of), [-2, -1, 1, 0]);
        assert_eq!(by_lot("", &chess), Some(vec![0; chess.units().len()]));
        for bad in ["w:? b:", "w: b:", "w:K b:", "NN", "w:N", "b:N w:N"] {
            assert_eq!(by_lot(bad, &chess), None, "{bad}");
        }
    }

    #[test]
    fn men_in_hand_count() {
        let variant = Arc::new(Variant::load("sorcerer-reinforcements").unwrap());
        let position = QuietPosition::new(0, &Position::start(&variant));
        let held: usize = variant.units().map(|unit| 2 * usize::from(variant.hand_size(unit))).sum();
        assert!(held > 0);
        assert_eq!(position.held.len(), held);
        assert!(position.differences(&variant).iter().all(|&difference| difference == 0));
    }

    #[test]
    fn choices_depend_on_seed_and_game_only() {
        let variant = chess();
        let packed = Position::start(&variant).pack();
        let quiet = [false, true, true, false, true, true, true, true, true, true, true, true, true, true, true];
        let plies = |game, seed, positions_per_game| {
            let selection = Selection { positions_per_game, seed };
            let sample = sample(&record(game, &packed, &quiet), &variant, &selection).unwrap().unwrap();
            let spread: Vec<u16> = sample.spread.iter().map(|position| position.ply).collect();
            (sample.earliest.unwrap().ply, sample.random.unwrap().ply, spread)
        };
        let chosen = plies(3, 7, 4);
        assert_eq!(chosen, plies(3, 7, 4));
        assert_eq!((chosen.0, chosen.2.len()), (1, 4));
        assert!(chosen.2.is_sorted_by(|a, b| a < b) && chosen.2.iter().all(|&ply| quiet[usize::from(ply)]));
        assert_eq!(plies(3, 7, 99).1, chosen.1);
        assert_eq!(plies(3, 7, 99).2.len(), 13);
        let random: std::collections::BTreeSet<u16> = (0..40).map(|game| plies(game, 7, 4).1).collect();
        assert!(random.len() > 8, "{random:?}");
    }

    #[test]
    fn bad_bytes_name_game_and_ply() {
        let variant = chess();
        let selection = Selection { positions_per_game: 8, seed: 0 };
        let bad = record(12, &[0xff; 5], &[false, false, true]);
        let message = sample(&bad, &variant, &selection).unwrap_err().to_string();
        assert!(message.starts_with("game 12, ply 0: packed position"), "{message}");
        assert_eq!(sample(&record(12, &[0xff; 5], &[]), &variant, &selection).unwrap(), None);
    }

    #[test]
    fn a_game_without_a_quiet_position_keeps_its_start() {
        let variant = chess();
        let packed = Position::start(&variant).pack();
        let selection = Selection { positions_per_game: 8, seed: 0 };
        let noisy = sample(&record(12, &packed, &[false, false]), &variant, &selection).unwrap().unwrap();
        assert_eq!((noisy.earliest, noisy.random, noisy.spread.len()), (None, None, 0));
        assert!(noisy.from_array && noisy.start.men.len() == 32);
    }

    #[test]
    fn pairs_are_told_apart_across_folders() {
        let mut pairs = Pairs::default();
        let header = |first_game| ShardHeader { first_game, ..ShardHeader::default() };
        pairs.enter(&header(0));
        let mut clusters = vec![pairs.cluster_of(0), pairs.cluster_of(1), pairs.cluster_of(2)];
        pairs.enter(&header(3));
        clusters.push(pairs.cluster_of(3));
        pairs.enter(&header(0));
        clusters.extend([pairs.cluster_of(0), pairs.cluster_of(1)]);
        assert_eq!(clusters, [0, 0, 1, 1, 2, 2]);
    }
}
