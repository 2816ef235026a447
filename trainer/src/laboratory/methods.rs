//! The same games by every method, side by side, and where the methods disagree.

use super::ablation::Ablation;
use crate::fit::dataset::{Dataset, GameSample};
use crate::fit::first_move::{FirstMoveScore, GameLength, first_move, game_length, lengths};
use crate::fit::ratio::Interval;
use crate::fit::splits::{Positions, SplitFit, by_advance, by_phase};
use crate::fit::values::{Choice, PieceValues, pawn_of};
use fairyforge_engine::evaluate::Weights;
use fairyforge_engine::variant::Variant;
use serde::Serialize;
use std::fmt;

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
    pub method: Method,
}

/// What stands beside the lot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// A network's values when units are taken off.
    Network,
    /// Results on positions so chosen.
    #[serde(untagged)]
    Results(Choice),
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Results(choice) => choice.fmt(f),
            Self::Network => f.write_str("network"),
        }
    }
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
    pub fn disagreements(&self, network: Option<&Ablation>) -> Vec<Disagreement> {
        let mut apart = self.disagreements_with(Method::Results(Choice::Earliest), |unit| self.earliest.bounded(unit));
        apart.extend(self.disagreements_with(Method::Results(Choice::Random), |unit| self.observed.bounded(unit)));
        if let Some(network) = network {
            let worth = |unit: &str| network.worth(unit).map(|worth| (worth.pawns, worth.interval()));
            apart.extend(self.disagreements_with(Method::Network, worth));
        }
        apart
    }

    fn disagreements_with(
        &self,
        method: Method,
        value_of: impl Fn(&str) -> Option<(f64, Interval)>,
    ) -> Vec<Disagreement> {
        let apart = self.by_lot.rows.iter().filter_map(|row| {
            let (by_lot, interval) = self.by_lot.bounded(&row.unit)?;
            let (other, others) = value_of(&row.unit)?;
            // The pawn is the measure everywhere.
            let is_apart = row.unit != self.by_lot.pawn && interval.is_disjoint_from(&others);
            is_apart.then(|| Disagreement { unit: row.unit.clone(), by_lot, other, method })
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
