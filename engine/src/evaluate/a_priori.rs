//! Values for a game nobody has measured yet, from what its units can reach.
//!
//! Two rules from the literature: Betza's crowded-board mobility (a square is empty with probability 0.7) as the measure
//! of what a unit does, and Muller's law for short-range leapers with n targets, 1.1·n·(30 + ⅝n) centipawns, as the
//! curve from there to a value. A unit's mobility is scaled so that a Knight on the same board counts as 8 targets.

use super::weights_file::Origin;
use super::{UnitWeights, Weights};
use crate::geometry::Square;
use crate::variant::Variant;
use crate::variant::mobility::Mobility;
use crate::variant::rules::Unit;

/// Share of empty squares in the middlegame (Betza).
const EMPTY_MIDDLEGAME: f64 = 0.7;
/// Share of empty squares in the endgame: a third of the middlegame's men are left.
const EMPTY_ENDGAME: f64 = 0.9;
/// Bonus for each square more than the unit's average that it reaches from where it stands, in centipawns.
const PER_REACHED_SQUARE: f64 = 4.0;
/// Most that such a bonus may be.
const MOST_SQUARE_BONUS: f64 = 40.0;
/// Bonus of a promoting unit one step before promotion, middlegame and endgame; it grows with the square of the way.
const BEFORE_PROMOTION: (f64, f64) = (80.0, 160.0);
/// Value of the weakest promoting unit: the pawn is the measure of the others.
const PAWN: f64 = 100.0;
/// Value of one target of a Knight-like leaper that decides how much a unit counts towards the phase.
const PHASE_UNIT: f64 = 100.0;
/// The right to move.
const TEMPO: i32 = 12;

impl Weights {
    /// Values from mobility alone.
    pub fn a_priori(variant: &Variant) -> Self {
        let scale = [EMPTY_MIDDLEGAME, EMPTY_ENDGAME].map(|empty| PawnScale::new(variant, empty));
        let units = variant
            .units()
            .map(|unit| {
                let [middlegame, endgame] =
                    [&scale[0], &scale[1]].map(|scale| scale.value(variant, unit).round() as i32);
                let counts = !promotes(variant, unit) && unit != variant.royal();
                let phase = if counts { (f64::from(middlegame) / PHASE_UNIT).round() as i32 } else { 0 };
                let mut weights = if unit == variant.royal() {
                    UnitWeights::flat(0, 0, 0)
                } else {
                    UnitWeights::flat(middlegame, endgame, phase)
                };
                set_squares(variant, unit, &mut weights);
                weights
            })
            .collect();
        Self {
            variant: variant.name().into(),
            rules_hash: variant.rules_hash().into(),
            units,
            tempo: TEMPO,
            origin: Origin::a_priori(),
            measured: Vec::new(),
        }
    }
}

/// How values are brought to pawns at one share of empty squares.
struct PawnScale {
    empty: f64,
    targets_per_reach: f64,
    pawn_law: f64,
}

impl PawnScale {
    fn new(variant: &Variant, empty: f64) -> Self {
        let targets_per_reach = 8.0 / knight_reach(variant);
        let promoters = variant.units().filter(|&unit| promotes(variant, unit));
        let weakest = promoters
            .map(|unit| leaper_law(variant.mean_mobility(unit, empty).mean() * targets_per_reach))
            .fold(f64::INFINITY, f64::min);
        Self { empty, targets_per_reach, pawn_law: if weakest.is_finite() { weakest } else { PAWN } }
    }

    /// Promoting units are measured by the weakest of them, the others by the law itself.
    fn value(&self, variant: &Variant, unit: Unit) -> f64 {
        let law = leaper_law(variant.mean_mobility(unit, self.empty).mean() * self.targets_per_reach);
        if promotes(variant, unit) { PAWN * law / self.pawn_law } else { law }
    }
}

/// Muller's law, in centipawns.
fn leaper_law(targets: f64) -> f64 {
    1.1 * targets * (30.0 + 0.625 * targets)
}

/// Mean number of squares that a Knight reaches on this board.
fn knight_reach(variant: &Variant) -> f64 {
    let leaps = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];
    let squares = variant.topology().squares();
    let reached =
        |square| leaps.iter().filter(|leap| variant.topology().step(square, leap.0, leap.1).is_some()).count();
    let all: usize = squares.iter().map(reached).sum();
    (all as f64 / f64::from(squares.len())).max(1.0)
}

fn promotes(variant: &Variant, unit: Unit) -> bool {
    variant.rules().promotion.iter().any(|promotion| promotion.who.contains(&unit))
}

fn set_squares(variant: &Variant, unit: Unit, weights: &mut UnitWeights) {
    let royal = unit == variant.royal();
    let average = variant.mean_mobility(unit, EMPTY_MIDDLEGAME);
    for square in variant.topology().squares() {
        let (middlegame, endgame) = if promotes(variant, unit) {
            advance_bonus(variant, unit, square)
        } else {
            let reach = reach_bonus(variant.mobility(unit, square, EMPTY_MIDDLEGAME), average);
            // A king hides while there are men to attack it, and takes part when there are few.
            if royal { (-reach, reach) } else { (reach, reach / 2.0) }
        };
        weights.middlegame_squares[square.index()] = middlegame.round() as i16;
        weights.endgame_squares[square.index()] = endgame.round() as i16;
    }
}

fn reach_bonus(here: Mobility, average: Mobility) -> f64 {
    ((here.mean() - average.mean()) * PER_REACHED_SQUARE).clamp(-MOST_SQUARE_BONUS, MOST_SQUARE_BONUS)
}

/// Grows with the square of the share of the way to promotion that lies behind.
fn advance_bonus(variant: &Variant, unit: Unit, square: Square) -> (f64, f64) {
    let zone = variant.promotion_zone(unit, crate::variant::rules::Colour::White);
    let goal = zone.iter().map(Square::row).min().unwrap_or(square.row());
    let array = variant.rules().array.iter();
    let home = array.filter(|man| man.1 == unit).map(|man| man.0.row()).min().unwrap_or(0).min(goal);
    let way = f64::from(goal - home).max(1.0);
    let gone = f64::from(square.row().saturating_sub(home)).min(way - 1.0) / (way - 1.0).max(1.0);
    (BEFORE_PROMOTION.0 * gone * gone, BEFORE_PROMOTION.1 * gone * gone)
}
