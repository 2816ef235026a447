//! What a parameter's name stands for, and players made with values for it: numbers of the search by their names,
//! numbers of the evaluation as `weights.tempo`, `weights.<unit>.middlegame`, `weights.<unit>.endgame` and
//! `weights.<unit>.phase`.

use fairyforge_engine::evaluate::Weights;
use fairyforge_engine::search::Params;
use fairyforge_engine::search::params::Param;
use fairyforge_engine::variant::Variant;

/// What begins the names of evaluation weights.
const WEIGHTS: &str = "weights.";
/// What begins the names of parameters that only a clock gives a meaning.
const CLOCK: &str = "time_";
/// Greatest absolute value of a weight that its file may hold.
const MOST_WEIGHT: i32 = 5_000;

/// One number of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A number of the search.
    Search(&'static Param),
    /// What the right to move is worth.
    Tempo,
    /// A unit's value or phase; the unit by its place in the variant's order.
    Unit(usize, UnitNumber),
}

/// Which number of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitNumber {
    /// Value with all men on the board.
    Middlegame,
    /// Value on the empty board.
    Endgame,
    /// How much it counts towards the phase.
    Phase,
}

/// What a player is made of: the numbers that are tuned and all others.
#[derive(Clone, Debug, PartialEq)]
pub struct Engine {
    /// The numbers of its search.
    pub params: Params,
    /// The numbers of its evaluation.
    pub weights: Weights,
}

/// The values a parameter may have, and how far to try it out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Least value.
    pub min: i32,
    /// Greatest value.
    pub max: i32,
    /// A change that is likely to be measurable.
    pub step: i32,
}

/// Why a name is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// There is nothing of that name.
    #[error("expected the name of a search parameter or weight, got {got:?}; the nearest is {nearest:?}")]
    Unknown {
        /// What came.
        got: String,
        /// The name most like it.
        nearest: String,
    },
    /// It is there, but games do not depend on it.
    #[error("{0:?} is for clocks; games with a number of nodes a move do not depend on it")]
    Clock(String),
}

impl Target {
    /// What a name stands for.
    ///
    /// # Errors
    /// Nothing has that name, or it has no effect here.
    pub fn find(variant: &Variant, name: &str) -> Result<Self, NameError> {
        if let Some((_, target)) = all(variant).find(|(known, _)| known == name) {
            return Ok(target);
        }
        if Params::TABLE.iter().any(|row| row.name == name) {
            return Err(NameError::Clock(name.to_owned()));
        }
        let distance = |known: &String| strsim::osa_distance(name, known);
        let nearest = all(variant).map(|(known, _)| known).min_by_key(distance).unwrap_or_default();
        Err(NameError::Unknown { got: name.to_owned(), nearest })
    }

    /// Whether it belongs to the evaluation.
    #[must_use]
    pub const fn is_weight(self) -> bool {
        !matches!(self, Self::Search(_))
    }

    /// The values that can be played at all.
    #[must_use]
    pub fn playable(self) -> Span {
        match self {
            Self::Search(row) => Span { min: row.min, max: row.max, step: row.step },
            Self::Unit(_, UnitNumber::Phase) => Span { min: 0, max: MOST_WEIGHT, step: 1 },
            Self::Tempo | Self::Unit(..) => Span { min: -MOST_WEIGHT, max: MOST_WEIGHT, step: 10 },
        }
    }

    /// Where to look for better values when nobody says: the whole range of a search parameter, the neighbourhood of a
    /// weight.
    #[must_use]
    pub fn usual(self, start: i32) -> Span {
        let playable = self.playable();
        let (reach, step) = match self {
            Self::Search(_) => return playable,
            Self::Tempo => (40, 5),
            Self::Unit(_, UnitNumber::Phase) => (start.abs().max(2), 1),
            // Half the value to both sides, tried out by a twentieth of it.
            Self::Unit(..) => ((start.abs() / 2).max(50), (start.abs() / 20).max(5)),
        };
        let within = |value: i32| value.clamp(playable.min, playable.max);
        Span { min: within(start.saturating_sub(reach)), max: within(start.saturating_add(reach)), step }
    }
}

impl Engine {
    /// A number of the player.
    #[must_use]
    pub fn get(&self, target: Target) -> i32 {
        match target {
            Target::Search(row) => self.params.get(row.name).unwrap_or(row.default),
            Target::Tempo => self.weights.tempo,
            Target::Unit(unit, number) => self.weights.units.get(unit).map_or(0, |unit| match number {
                UnitNumber::Middlegame => unit.middlegame,
                UnitNumber::Endgame => unit.endgame,
                UnitNumber::Phase => unit.phase,
            }),
        }
    }

    /// The player with other values for some numbers; a value that cannot be played becomes the nearest that can.
    #[must_use]
    pub fn with(&self, targets: &[Target], values: &[f64]) -> Self {
        let mut changed = self.clone();
        for (&target, &value) in targets.iter().zip(values) {
            let Span { min, max, .. } = target.playable();
            changed.set(target, (value.round() as i32).clamp(min, max));
        }
        changed
    }

    fn set(&mut self, target: Target, value: i32) {
        match target {
            // The value was clamped to the table's range, so nothing is refused.
            Target::Search(row) => self.params.set(row.name, value).unwrap_or_default(),
            Target::Tempo => self.weights.tempo = value,
            Target::Unit(unit, number) => {
                let Some(unit) = self.weights.units.get_mut(unit) else { return };
                match number {
                    UnitNumber::Middlegame => unit.middlegame = value,
                    UnitNumber::Endgame => unit.endgame = value,
                    UnitNumber::Phase => unit.phase = value,
                }
            }
        }
    }
}

/// Everything that can be tuned in a variant, with its name.
fn all(variant: &Variant) -> impl Iterator<Item = (String, Target)> {
    let search = Params::TABLE.iter().filter(|row| !row.name.starts_with(CLOCK));
    let search = search.map(|row| (row.name.to_owned(), Target::Search(row)));
    let numbers =
        [("middlegame", UnitNumber::Middlegame), ("endgame", UnitNumber::Endgame), ("phase", UnitNumber::Phase)];
    let units = variant.units().enumerate().flat_map(move |(place, unit)| {
        let unit = &variant.unit(unit).name;
        numbers.map(|(name, number)| (format!("{WEIGHTS}{unit}.{name}"), Target::Unit(place, number)))
    });
    search.chain([(format!("{WEIGHTS}tempo"), Target::Tempo)]).chain(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_and_changes_its_own_number_alone() {
        let variant = Variant::load("herculean").unwrap();
        let engine = Engine { params: Params::default(), weights: Weights::best_known(&variant) };
        let names: Vec<_> = all(&variant).collect();
        assert!(names.len() > Params::TABLE.len());
        for (name, target) in &names {
            assert_eq!(Target::find(&variant, name), Ok(*target));
            let (value, playable) = (engine.get(*target), target.playable());
            let other = if value < playable.max { value + 1 } else { value - 1 };
            let changed = engine.with(&[*target], &[f64::from(other)]);
            assert_eq!(changed.get(*target), other, "{name}");
            let others = names.iter().filter(|(_, one)| one != target);
            assert!(others.clone().all(|(_, one)| changed.get(*one) == engine.get(*one)), "{name}");
            let usual = target.usual(value);
            assert!(usual.min <= value && value <= usual.max && usual.min < usual.max && usual.step > 0, "{name}");
        }
        let text = engine.with(&[Target::Tempo], &[31.0]).weights.to_toml(&variant);
        assert_eq!(Weights::read(&variant, &text).unwrap().tempo, 31);
    }

    #[test]
    fn strangers_are_named_with_the_nearest() {
        let variant = Variant::load("herculean").unwrap();
        let refused = |name| Target::find(&variant, name).unwrap_err().to_string();
        assert!(refused("late_mov_base").contains("\"late_move_base\""));
        assert!(refused("weights.pawn.endgam").contains("\"weights.pawn.endgame\""));
        assert!(refused("time_soft").contains("clocks"), "{}", refused("time_soft"));
    }

    #[test]
    fn values_beyond_the_range_become_its_end() {
        let variant = Variant::load("chess").unwrap();
        let engine = Engine { params: Params::default(), weights: Weights::a_priori(&variant) };
        let changed = engine.with(&[Target::find(&variant, "late_move_base").unwrap()], &[1e9]);
        assert_eq!(changed.params.late_move_base, 90);
    }
}
