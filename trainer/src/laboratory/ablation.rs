//! What a judge of positions holds units to be worth: one is taken off in many positions that were played, and the change of
//! the judge's value, seen by the unit's side, is averaged and divided by the Pawn's.
//!
//! This says what the judge knows, not what is so: a network trained on games has learnt from their results what units were
//! worth in them, compensation included. Errors are those of the positions drawn, clustered by pair of games; that another
//! training would have given another network is not in them.

use crate::fit::NORMAL_97_5;
use crate::fit::dataset::{DatasetError, Pairs};
use crate::fit::ratio::Interval;
use crate::fit::values::pawn_of;
use crate::record::{self, GameRecord, PositionRecord};
use crate::selfplay::seeds::Dice;
use crate::table::{Style, Table};
use fairyforge_engine::evaluate::{Judge, Weights};
use fairyforge_engine::geometry::{Square, SquareSet};
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::{Colour, Unit};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Parts of the men of the array from which on a position belongs to the opening and to the middle of the game.
const PHASES: [(&str, f64); 3] = [("opening", 2.0 / 3.0), ("middle", 1.0 / 3.0), ("late", 0.0)];

/// What is asked of a judge.
pub struct AblationRequest<'a> {
    /// The games.
    pub data: &'a Path,
    /// Their rules.
    pub variant: &'a Arc<Variant>,
    /// Who is asked.
    pub judge: &'a Judge,
    /// Quiet positions a game.
    pub positions_per_game: usize,
    /// Which positions and units are drawn.
    pub seed: u64,
    /// Only games of lower numbers.
    pub games: u64,
}

/// What a judge holds units to be worth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ablation {
    /// The unit that others are measured by.
    pub pawn: String,
    /// Positions in which a unit was taken off.
    pub positions: u64,
    /// Their games.
    pub games: u64,
    /// A row a unit, in the variant's order.
    pub rows: Vec<AblationRow>,
}

/// One unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AblationRow {
    /// Its name.
    pub unit: String,
    /// In all positions.
    pub all: Option<UnitWorth>,
    /// By phase: opening, middle, late.
    pub phases: [Option<UnitWorth>; PHASES.len()],
}

/// What a unit is worth on average.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct UnitWorth {
    /// Centipawns of the judge.
    pub centipawns: f64,
    /// In Pawns of the same positions.
    pub pawns: f64,
    /// Half the width of the 95 % interval, in Pawns.
    pub error: f64,
    /// Units taken off.
    pub count: u64,
}

impl UnitWorth {
    /// The 95 % interval, in Pawns.
    #[must_use]
    pub fn interval(&self) -> Interval {
        Interval::new(self.pawns - self.error, self.pawns + self.error)
    }
}

/// Sums over the units of one type that were taken off in one pair of games.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sum {
    change: f64,
    count: f64,
}

/// Sums of a pair, by phase and unit.
type PairSums = Vec<[Sum; PHASES.len()]>;

impl Ablation {
    /// Asks the judge about the games, on rayon's current threads; the same on any number of them.
    ///
    /// # Errors
    /// Records that are damaged, absent or of other rules, or a position that is none.
    pub fn of(request: &AblationRequest<'_>) -> Result<Self, DatasetError> {
        let mut pairs = Pairs::default();
        let mut sums: BTreeMap<u64, PairSums> = BTreeMap::new();
        let (mut positions, mut games) = (0, 0);
        for shard in record::shards(request.data, Some(request.variant.rules_hash()))? {
            let shard = shard?;
            pairs.enter(&shard.header);
            let used: Vec<&GameRecord> = shard.games.iter().filter(|game| game.game < request.games).collect();
            let asked: Vec<_> = used.par_iter().map(|game| request.game(game)).collect();
            for (game, asked) in used.into_iter().zip(asked) {
                let (of_game, count) = asked?;
                positions += count;
                games += u64::from(count > 0);
                let of_pair = sums.entry(pairs.cluster_of(game.game)).or_insert_with(|| request.no_sums());
                of_pair.iter_mut().zip(of_game).for_each(|(sum, more)| add(sum, more));
            }
        }
        let sums: Vec<PairSums> = sums.into_values().collect();
        let pawn = pawn_of(request.variant, &Weights::a_priori(request.variant));
        let variant = request.variant;
        let units = variant.units().filter(|&unit| unit != variant.royal());
        let rows = units.map(|unit| row(variant, &sums, unit, pawn)).collect();
        Ok(Self { pawn: variant.unit(pawn).name.clone(), positions, games, rows })
    }

    /// What a unit is worth in all positions.
    #[must_use]
    pub fn worth(&self, unit: &str) -> Option<UnitWorth> {
        self.rows.iter().find(|row| row.unit == unit)?.all
    }

    /// A table for the screen or for Markdown.
    #[must_use]
    pub fn table(&self, style: Style) -> String {
        let mut headings =
            vec!["unit".to_owned(), "pawns".into(), "± 95 %".into(), "centipawns".into(), "taken off".into()];
        headings.extend(PHASES.iter().map(|(name, _)| (*name).to_owned()));
        let mut table = Table::new(&headings);
        for AblationRow { unit, all, phases } in &self.rows {
            let number = |worth: &Option<UnitWorth>, told: &dyn Fn(&UnitWorth) -> String| {
                worth.as_ref().map_or_else(|| "–".to_owned(), told)
            };
            let mut cells = vec![
                unit.replace('_', " "),
                number(all, &|worth| format!("{:.2}", worth.pawns)),
                number(all, &|worth| format!("{:.2}", worth.error)),
                number(all, &|worth| format!("{:.0}", worth.centipawns)),
                number(all, &|worth| worth.count.to_string()),
            ];
            cells.extend(phases.iter().map(|worth| number(worth, &|worth| format!("{:.2}", worth.pawns))));
            table.row(cells);
        }
        table.in_style(style)
    }
}

impl AblationRequest<'_> {
    fn no_sums(&self) -> PairSums {
        vec![[Sum::default(); PHASES.len()]; self.variant.units().count()]
    }

    /// The sums of a game, and its positions.
    fn game(&self, game: &GameRecord) -> Result<(PairSums, u64), DatasetError> {
        let mut dice = Dice::new(self.seed, game.game);
        let mut quiet: Vec<&PositionRecord> = game.positions.iter().filter(|position| position.quiet).collect();
        let mut sums = self.no_sums();
        let mut count = 0;
        for _ in 0..self.positions_per_game.min(quiet.len()) {
            let record = quiet.swap_remove(dice.below(quiet.len()));
            let unpacked = Position::unpack(self.variant, &record.packed);
            let fault = |fault| DatasetError::Position { game: game.game, ply: record.ply, fault };
            self.position(&unpacked.map_err(fault)?, &mut dice, &mut sums);
            count += 1;
        }
        Ok((sums, count))
    }

    /// Takes off one unit of each type and side, each time from the whole position.
    fn position(&self, position: &Position, dice: &mut Dice, sums: &mut PairSums) {
        let before = self.judge.value_of(position);
        let phase = phase_of(position);
        for colour in Colour::BOTH {
            for unit in self.variant.units().filter(|&unit| unit != self.variant.royal()) {
                let men = position.men(colour).iter();
                let there: Vec<Square> = men.filter(|&square| position.piece_at(square).unit() == unit).collect();
                let Some(&square) = dice.pick(&there) else { continue };
                // Without it a king may be in check that could be taken: no position.
                let Ok(left) = position.without(SquareSet::from_iter([square])) else { continue };
                let lost = f64::from(before - self.judge.value_of(&left));
                let own = if position.side_to_move() == colour { lost } else { -lost };
                add_one(&mut sums[unit.index()][phase], own);
            }
        }
    }
}

fn add_one(sum: &mut Sum, change: f64) {
    sum.change += change;
    sum.count += 1.0;
}

fn add(sums: &mut [Sum; PHASES.len()], more: [Sum; PHASES.len()]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        sum.change += more.change;
        sum.count += more.count;
    }
}

fn phase_of(position: &Position) -> usize {
    let share = f64::from(position.occupied().len()) / position.variant().rules().array.len().max(1) as f64;
    PHASES.iter().position(|&(_, least)| share >= least).unwrap_or(PHASES.len() - 1)
}

fn row(variant: &Variant, sums: &[PairSums], unit: Unit, pawn: Unit) -> AblationRow {
    let in_phase = |phase: usize| worth(sums, |pair| (pair[unit.index()][phase], pair[pawn.index()][phase]));
    let whole = |phases: &[Sum; PHASES.len()]| {
        let mut all = Sum::default();
        phases.iter().for_each(|sum| {
            all.change += sum.change;
            all.count += sum.count;
        });
        all
    };
    AblationRow {
        unit: variant.unit(unit).name.clone(),
        all: worth(sums, |pair| (whole(&pair[unit.index()]), whole(&pair[pawn.index()]))),
        phases: std::array::from_fn(in_phase),
    }
}

/// The ratio of two means of sums over pairs, with the error of the delta method; `None` if either was never taken off, or the
/// Pawn is worth nothing to the judge.
fn worth(sums: &[PairSums], of: impl Fn(&PairSums) -> (Sum, Sum)) -> Option<UnitWorth> {
    let pairs: Vec<(Sum, Sum)> = sums.iter().map(of).collect();
    let total = |one: &dyn Fn(&(Sum, Sum)) -> f64| pairs.iter().map(one).sum::<f64>();
    let (count, pawns) = (total(&|pair| pair.0.count), total(&|pair| pair.1.count));
    if count == 0.0 || pawns == 0.0 {
        return None;
    }
    let (mean, pawn) = (total(&|pair| pair.0.change) / count, total(&|pair| pair.1.change) / pawns);
    if pawn <= 0.0 {
        return None;
    }
    let ratio = mean / pawn;
    let deviation = |(unit, of_pawn): &(Sum, Sum)| {
        let unit = (unit.change - mean * unit.count) / count;
        let of_pawn = (of_pawn.change - pawn * of_pawn.count) / pawns;
        (unit - ratio * of_pawn) / pawn
    };
    let variance = total(&|pair| deviation(pair).powi(2));
    let error = NORMAL_97_5 * variance.sqrt();
    Some(UnitWorth { centipawns: mean, pawns: ratio, error, count: count as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Origin, write_shard};
    use fairyforge_engine::evaluate::UnitWeights;
    use fairyforge_engine::position::Unobserved;

    /// Games by lot whose every position is called quiet.
    fn games(folder: &Path, variant: &Arc<Variant>, count: u64) {
        let game = |number: u64| {
            let (mut dice, mut position) = (Dice::new(1, number), Position::start(variant));
            let mut positions = Vec::new();
            for ply in 0..60_u16 {
                let Some(&mv) = dice.pick(&position.legal_moves()) else { break };
                let quiet = !position.in_check();
                positions.push(PositionRecord { ply, packed: position.pack(), quiet, ..PositionRecord::default() });
                position.make(mv, &mut Unobserved);
            }
            GameRecord { game: number, positions, ..GameRecord::default() }
        };
        let origin = Origin { rules_hash: variant.rules_hash().to_owned(), ..Origin::default() };
        write_shard(folder, &origin, &(0..count).map(game).collect::<Vec<_>>()).unwrap();
    }

    /// Weights that know nothing but material say exactly that.
    #[test]
    fn a_judge_of_material_says_what_its_weights_say() {
        let variant = Arc::new(Variant::load("chess").unwrap());
        let folder = tempfile::tempdir().unwrap();
        games(folder.path(), &variant, 30);
        let mut weights = Weights::a_priori(&variant);
        for (number, unit) in weights.units.iter_mut().enumerate() {
            let value = 100 + 50 * number as i32;
            *unit = UnitWeights::flat(value, value, unit.phase);
        }
        let judge = Judge::of_weights(&variant, &weights);
        let request = AblationRequest {
            data: folder.path(),
            variant: &variant,
            judge: &judge,
            positions_per_game: 5,
            seed: 1,
            games: u64::MAX,
        };
        let ablation = Ablation::of(&request).unwrap();
        let pawn = weights.units[variant.unit_named("pawn").unwrap().index()].middlegame;
        assert_eq!((ablation.games, ablation.positions), (30, 150));
        for row in &ablation.rows {
            let all = row.all.unwrap();
            let given = weights.units[variant.unit_named(&row.unit).unwrap().index()].middlegame;
            assert!((all.pawns - f64::from(given) / f64::from(pawn)).abs() < 1e-9, "{row:?}");
            assert!(all.error < 1e-9 && all.count > 100, "{row:?}");
        }
        assert_eq!(Ablation::of(&request).unwrap(), ablation);
        let fewer = Ablation::of(&AblationRequest { games: 10, ..request }).unwrap();
        assert_eq!((fewer.games, fewer.positions), (10, 50));
    }

    /// The told error is that of repetition: half of the games against the other half, many times.
    #[test]
    fn errors_are_those_of_other_games() {
        let sums = |seed: u64| -> Vec<PairSums> {
            let mut dice = Dice::new(seed, 0);
            (0..200)
                .map(|_| {
                    let common = dice.below(100) as f64;
                    let mut sum = |mean: f64| {
                        let count = 1.0 + dice.below(3) as f64;
                        Sum { change: count * (mean + common) + dice.below(60) as f64, count }
                    };
                    vec![[sum(300.0), Sum::default(), Sum::default()], [sum(100.0), Sum::default(), Sum::default()]]
                })
                .collect()
        };
        let told: Vec<UnitWorth> =
            (0..400).filter_map(|seed| worth(&sums(seed), |pair| (pair[0][0], pair[1][0]))).collect();
        let mean = told.iter().map(|worth| worth.pawns).sum::<f64>() / told.len() as f64;
        let covered = told.iter().filter(|worth| (worth.pawns - mean).abs() <= worth.error).count();
        assert!((365..=392).contains(&covered), "{covered} of 400 within their 95 % intervals");
    }
}
