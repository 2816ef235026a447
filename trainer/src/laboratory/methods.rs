//! The same games by every method, side by side, and where the methods disagree.

use crate::fit::dataset::{Dataset, GameSample};
use crate::fit::first_move::{FirstMoveScore, GameLength, first_move, game_length, lengths};
use crate::fit::splits::{Positions, SplitFit, by_advance, by_phase};
use crate::fit::values::{Choice, PieceValues, ValueOutcome, pawn_of};
use fairyforge_engine::evaluate::Weights;
use fairyforge_engine::variant::Variant;
use serde::Serialize;

/// Plies of a bin of lengths.
const LENGTH_BIN: u32 = 20;
/// Parts of the games by the stage at which they began.
const STAGES: usize = 3;

/// What one set of games says, by every method.
#[derive(Clone, Debug, Serialize)]
pub struct ByMethod {
    /// Results on what the lot took: the reference. Its intervals allow for all looks.
    pub by_lot: PieceValues,
    /// Results on the first quiet position.
    pub earliest: PieceValues,
    /// Results on a random quiet position: observational.
    pub observed: PieceValues,
    /// Values by phase, on quiet positions all over the games: observational.
    pub phase_played: SplitFit,
    /// Values by phase, on the starts: causal where the lot took units away at all stages of the game.
    pub phase_by_lot: SplitFit,
    /// Values by lot at different stages of the game, fullest boards first.
    pub stages: Vec<Stage>,
    /// Share of the games whose sides the lot treated differently.
    pub unbalanced: f64,
    /// Values of the pawn by how far it has come: observational.
    pub advance: SplitFit,
    /// White's score in level games; its interval allows for all looks.
    pub first_move: Option<FirstMoveScore>,
    /// How long level games last.
    pub length: Option<GameLength>,
    /// Level games by length: the first ply of a bin and the games in it.
    pub lengths: Vec<(u32, u64)>,
}

/// Values on games that began with about as many men.
#[derive(Clone, Debug, Serialize)]
pub struct Stage {
    /// Least share of the variant's men where the players took over.
    pub from: f64,
    /// Greatest share.
    pub to: f64,
    /// The values.
    pub values: PieceValues,
}

/// Two methods whose intervals for a unit have no value in common.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Disagreement {
    /// The unit.
    pub unit: String,
    /// What the lot says, in pawns.
    pub by_lot: f64,
    /// What the other method says.
    pub other: f64,
    /// The other method.
    pub method: Choice,
}

impl ByMethod {
    /// Measures by every method, with intervals of `critical` standard errors to either side.
    #[must_use]
    pub fn of(dataset: &Dataset, variant: &Variant, critical: f64) -> Self {
        let pawn = pawn_of(variant, &Weights::a_priori(variant));
        Self {
            by_lot: PieceValues::measure_at(dataset, variant, Choice::Lot, critical),
            earliest: PieceValues::measure_at(dataset, variant, Choice::Earliest, critical),
            observed: PieceValues::measure_at(dataset, variant, Choice::Random, critical),
            phase_played: by_phase(dataset, variant, Positions::Played, critical),
            phase_by_lot: by_phase(dataset, variant, Positions::Lot, critical),
            stages: stages(dataset, variant, critical),
            unbalanced: share_of_unbalanced(dataset),
            advance: by_advance(dataset, variant, pawn, critical),
            first_move: first_move(dataset, variant, critical),
            length: game_length(dataset, variant, critical),
            lengths: lengths(dataset, variant, LENGTH_BIN),
        }
    }

    /// Where another method's interval has nothing in common with the reference's.
    #[must_use]
    pub fn disagreements(&self) -> Vec<Disagreement> {
        let others = [&self.earliest, &self.observed];
        others.into_iter().flat_map(|other| self.disagreements_with(other)).collect()
    }

    fn disagreements_with(&self, other: &PieceValues) -> Vec<Disagreement> {
        let pairs = self.by_lot.rows.iter().filter_map(|row| Some((row, other.row(&row.unit)?)));
        let apart = pairs.filter_map(|(row, theirs)| match (&row.value, &theirs.value) {
            (
                &ValueOutcome::Bounded { value: by_lot, interval, .. },
                &ValueOutcome::Bounded { value, interval: others, .. },
            ) if interval.is_disjoint_from(&others) => {
                Some(Disagreement { unit: row.unit.clone(), by_lot, other: value, method: other.method })
            }
            _ => None,
        });
        apart.collect()
    }
}

fn share_of_unbalanced(dataset: &Dataset) -> f64 {
    let unbalanced = dataset.games.iter().filter(|game| game.is_unbalanced()).count();
    unbalanced as f64 / dataset.games.len().max(1) as f64
}

/// The unbalanced pairs in equal parts by how many men there were at the start: both games of a pair began with as many.
fn stages(dataset: &Dataset, variant: &Variant, critical: f64) -> Vec<Stage> {
    let share = |game: &GameSample| game.start.share_of_men(variant);
    let mut games: Vec<&GameSample> = dataset.games.iter().filter(|game| game.is_unbalanced()).collect();
    games.sort_by(|one, other| share(other).total_cmp(&share(one)).then(one.cluster.cmp(&other.cluster)));
    let stage = |games: &[&GameSample]| {
        let (to, from) = (share(games.first()?), share(games.last()?));
        let games = games.iter().map(|&game| GameSample { spread: Vec::new(), ..game.clone() }).collect();
        let values =
            PieceValues::measure_at(&Dataset { games, games_without_quiet: 0 }, variant, Choice::Lot, critical);
        Some(Stage { from, to, values })
    };
    let size = games.len().div_ceil(STAGES).next_multiple_of(2).max(2);
    games.chunks(size).filter_map(stage).collect()
}
