//! The same games by every method, side by side, and where the methods disagree.

use crate::fit::dataset::Dataset;
use crate::fit::first_move::{FirstMoveScore, GameLength, first_move, game_length, lengths};
use crate::fit::splits::{Positions, SplitFit, by_advance, by_phase};
use crate::fit::values::{Choice, PieceValues, ValueOutcome, pawn_of};
use fairyforge_engine::evaluate::Weights;
use fairyforge_engine::variant::Variant;
use serde::Serialize;

/// Plies of a bin of lengths.
const LENGTH_BIN: u32 = 20;

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
    /// Values of the pawn by how far it has come: observational.
    pub advance: SplitFit,
    /// White's score in level games; its interval allows for all looks.
    pub first_move: Option<FirstMoveScore>,
    /// How long level games last.
    pub length: Option<GameLength>,
    /// Level games by length: the first ply of a bin and the games in it.
    pub lengths: Vec<(u32, u64)>,
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
