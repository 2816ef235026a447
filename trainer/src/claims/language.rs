//! The language of claims: what a part of a claim can say. Plain data; [`super::check`] says whether it makes sense for a game.

use crate::fit::ratio::Interval;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The unit that values and gains are compared with unless a claim names another.
const PAWN: &str = "pawn";
/// Half the width, in pawns, of what "about as much" means unless a claim says otherwise.
const MARGIN: f64 = 0.25;
/// What share of the positions "can force" means unless a claim says otherwise.
const SHARE: f64 = 0.9;

/// Somebody says something about a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// A short name, as `H1`.
    pub id: String,
    /// The claim in words.
    pub text: String,
    /// How the words were turned into parts, with which margins and why.
    pub reading: String,
    /// What must all hold for the claim to hold.
    #[serde(rename = "part")]
    pub parts: Vec<Part>,
}

/// One thing that a claim says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Part {
    /// What a unit is worth, in pawns.
    Value {
        /// The unit's name in the variant's file.
        unit: String,
        /// The values claimed.
        #[serde(flatten)]
        range: Range,
    },
    /// What several units are worth together, those with negative numbers taken off, in pawns.
    Difference {
        /// How often each unit counts.
        units: BTreeMap<String, f64>,
        /// The values claimed.
        #[serde(flatten)]
        range: Range,
    },
    /// Several units, those with negative numbers taken off, are worth about nothing.
    Equivalence {
        /// How often each unit counts.
        units: BTreeMap<String, f64>,
        /// How far from nothing is still about nothing, in pawns.
        #[serde(default = "usual_margin")]
        margin: f64,
    },
    /// By what factor a unit's value, in units of another, grows from a full board to an empty one.
    PhaseGain {
        /// The unit.
        unit: String,
        /// The unit it is compared with.
        #[serde(default = "pawn")]
        against: String,
        /// The factors claimed.
        #[serde(flatten)]
        range: Range,
    },
    /// By what factor a unit is worth more far advanced than where it starts.
    RankGain {
        /// The unit.
        #[serde(default = "pawn")]
        unit: String,
        /// The factors claimed.
        #[serde(flatten)]
        range: Range,
    },
    /// White's score from the array, from 0 to 1.
    FirstMove {
        /// How far from ½ is still about ½; instead of `low` and `high`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        margin: Option<f64>,
        /// The scores claimed.
        #[serde(flatten)]
        range: Range,
    },
    /// By how many plies games are longer than those of another game, played by equally strong players under the same conditions.
    GameLength {
        /// Name or file of the other game.
        longer_than: String,
        /// The differences claimed; above nothing if left out.
        #[serde(flatten)]
        range: Range,
    },
    /// Something that follows from a game's rules and array.
    Fact(FactPart),
    /// What a few men can do.
    Endgame(Endgame),
}

/// Numbers claimed: at least one edge is there in a file that was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// The least of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The greatest of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// A fact of a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactPart {
    /// Name or file of the game, if it is not the one that the claims are about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// What is said of it.
    #[serde(flatten)]
    pub fact: Fact,
}

/// What can be said of an array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum Fact {
    /// Men of both sides.
    Men {
        /// How many.
        equals: usize,
    },
    /// Unit types.
    Types {
        /// How many.
        equals: usize,
    },
    /// Empty squares.
    EmptySquares {
        /// How many.
        equals: usize,
    },
    /// Adjacent squares attacked by the men of a side that are no pawns, over the number of those men; for both sides.
    AttackDensity {
        /// How dense.
        equals: f64,
        /// How far from it is still as claimed.
        #[serde(default)]
        within: f64,
    },
    /// Men that the king alone protects.
    WeakPoints {
        /// All their squares.
        squares: Vec<String>,
        /// What stands there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<String>,
    },
    /// The rank that White's units of a type reach in two moves.
    Reach {
        /// The unit.
        unit: String,
        /// The rank where it stands in the array.
        from_rank: u16,
        /// The farthest rank.
        to_rank: u16,
        /// What else stands on the board.
        #[serde(default)]
        board: Board,
    },
}

/// What stands on the board when somebody moves alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Board {
    /// Nothing.
    #[default]
    Empty,
    /// The array.
    Array,
}

/// What a few men can do, the side with more of them (of equals White) to move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Endgame {
    /// White's men, then Black's, by their letters, as `K+N v K`.
    pub men: String,
    /// What they are after.
    #[serde(default)]
    pub goal: Goal,
    /// Whether they can force it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<Force>,
    /// What share of the positions is meant by "can" at least, and by "cannot" at most what is left of all.
    #[serde(default = "usual_share")]
    pub share: f64,
    /// Moves of the longest win.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_moves: Option<u16>,
}

/// What the stronger side is after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// To win as the game's rules have it, where some games count stalemate as a win.
    #[default]
    Win,
    /// To mate: stalemate is counted as a draw, and a king left alone plays on.
    Mate,
}

/// Whether something can be forced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Force {
    /// It can.
    Can,
    /// It cannot.
    Cannot,
}

/// A number that only play tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "quantity", rename_all = "snake_case")]
pub enum Quantity {
    /// What units are worth together, in pawns, each as often as its number says: `{"hero": 1, "general": -2}`.
    Value {
        /// How often each unit counts; none is zero.
        units: BTreeMap<String, f64>,
    },
    /// A unit's value, in units of another, with few men left over that on the full board.
    PhaseGain {
        /// The unit.
        unit: String,
        /// The unit it is compared with.
        against: String,
    },
    /// A unit's value far advanced over its value where it starts.
    RankGain {
        /// The unit.
        unit: String,
    },
    /// White's score from the array, from 0 to 1.
    FirstMove,
    /// Mean plies of a game less those of another game, both played by the same rules of nodes and adjudication.
    GameLength {
        /// The other game.
        longer_than: String,
    },
}

/// What has to be asked to know whether a part of a claim holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Asks<'a> {
    /// A number that only play tells, and the numbers claimed.
    Play(Quantity, Range),
    /// A fact of a game.
    Fact(&'a FactPart),
    /// A table of an endgame.
    Endgame(&'a Endgame),
}

fn usual_margin() -> f64 {
    MARGIN
}

fn usual_share() -> f64 {
    SHARE
}

fn pawn() -> String {
    PAWN.to_owned()
}

impl Part {
    /// What has to be asked to know whether it holds.
    #[must_use]
    pub fn asks(&self) -> Asks<'_> {
        let value = |units: &BTreeMap<String, f64>| Quantity::Value { units: units.clone() };
        let (quantity, range) = match self {
            Self::Value { unit, range } => (value(&BTreeMap::from([(unit.clone(), 1.0)])), *range),
            Self::Difference { units, range } => (value(units), *range),
            Self::Equivalence { units, margin } => (value(units), Range::around(0.0, *margin)),
            Self::PhaseGain { unit, against, range } => {
                (Quantity::PhaseGain { unit: unit.clone(), against: against.clone() }, *range)
            }
            Self::RankGain { unit, range } => (Quantity::RankGain { unit: unit.clone() }, *range),
            Self::FirstMove { margin, range } => {
                (Quantity::FirstMove, margin.map_or(*range, |margin| Range::around(0.5, margin)))
            }
            Self::GameLength { longer_than, range } => {
                let above_nothing = Range { low: Some(0.0), high: None };
                let range = if range.is_open() { above_nothing } else { *range };
                (Quantity::GameLength { longer_than: longer_than.clone() }, range)
            }
            Self::Fact(fact) => return Asks::Fact(fact),
            Self::Endgame(endgame) => return Asks::Endgame(endgame),
        };
        Asks::Play(quantity, range)
    }

    /// The number that only play tells and the numbers claimed of it; `None` for what is known exactly.
    #[must_use]
    pub fn measured(&self) -> Option<(Quantity, Range)> {
        match self.asks() {
            Asks::Play(quantity, range) => Some((quantity, range)),
            Asks::Fact(_) | Asks::Endgame(_) => None,
        }
    }

    /// A part of every kind, and a fact of every kind, in which every key is there.
    pub(super) fn examples() -> Vec<Self> {
        let text = String::new;
        let range = Range { low: Some(0.0), high: Some(0.0) };
        let facts = [
            Fact::Men { equals: 0 },
            Fact::Types { equals: 0 },
            Fact::EmptySquares { equals: 0 },
            Fact::AttackDensity { equals: 0.0, within: 0.0 },
            Fact::WeakPoints { squares: Vec::new(), unit: Some(text()) },
            Fact::Reach { unit: text(), from_rank: 0, to_rank: 0, board: Board::default() },
        ];
        let endgame =
            Endgame { men: text(), goal: Goal::default(), force: Some(Force::Can), share: 0.0, longest_moves: Some(0) };
        let mut parts = vec![
            Self::Value { unit: text(), range },
            Self::Difference { units: BTreeMap::new(), range },
            Self::Equivalence { units: BTreeMap::new(), margin: 0.0 },
            Self::PhaseGain { unit: text(), against: text(), range },
            Self::RankGain { unit: text(), range },
            Self::FirstMove { margin: Some(0.0), range },
            Self::GameLength { longer_than: text(), range },
            Self::Endgame(endgame),
        ];
        parts.extend(facts.map(|fact| Self::Fact(FactPart { variant: Some(text()), fact })));
        parts
    }
}

impl Range {
    /// All numbers at most so far from a middle.
    #[must_use]
    pub fn around(middle: f64, margin: f64) -> Self {
        Self { low: Some(middle - margin), high: Some(middle + margin) }
    }

    /// Whether it has no edge, so that every number is in it.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.low.is_none() && self.high.is_none()
    }

    /// Whether a number is in it, edges included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.interval().contains(&Interval::new(value, value))
    }

    /// As an interval, with infinite edges where it has none.
    #[must_use]
    pub fn interval(&self) -> Interval {
        Interval::new(self.low.unwrap_or(f64::NEG_INFINITY), self.high.unwrap_or(f64::INFINITY))
    }
}

/// As people say it: `1.5 to 2`, `at least 1.1`.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low, self.high) {
            (Some(low), Some(high)) => write!(f, "{low} to {high}"),
            (Some(low), None) => write!(f, "at least {low}"),
            (None, Some(high)) => write!(f, "at most {high}"),
            (None, None) => f.write_str("anything"),
        }
    }
}

/// In a few words: `hero - 2 general, in pawns`.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value { units } => {
                // Those that are added first, so that no text begins with a minus unless it must.
                let mut terms: Vec<_> = units.iter().collect();
                terms.sort_by_key(|(_, times)| **times < 0.0);
                for (number, (unit, times)) in terms.into_iter().enumerate() {
                    write_term(f, number == 0, unit, *times)?;
                }
                f.write_str(", in pawns")
            }
            Self::PhaseGain { unit, against } => write!(f, "{unit} against {against}, few men over the full board"),
            Self::RankGain { unit } => write!(f, "{unit}, far advanced over at home"),
            Self::FirstMove => f.write_str("White's score from the array"),
            Self::GameLength { longer_than } => write!(f, "plies a game, less those of {longer_than}"),
        }
    }
}

fn write_term(f: &mut fmt::Formatter<'_>, is_first: bool, unit: &str, times: f64) -> fmt::Result {
    let sign = match (is_first, times < 0.0) {
        (true, false) => "",
        (true, true) => "-",
        (false, false) => " + ",
        (false, true) => " - ",
    };
    let size = times.abs();
    if size == 1.0 { write!(f, "{sign}{unit}") } else { write!(f, "{sign}{size} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units<const N: usize>(units: [(&str, f64); N]) -> BTreeMap<String, f64> {
        units.into_iter().map(|(unit, times)| (unit.to_owned(), times)).collect()
    }

    #[test]
    fn quantities_and_ranges_are_said_in_words() {
        let value = |units| Quantity::Value { units }.to_string();
        assert_eq!(value(units([("knight", 1.0)])), "knight, in pawns");
        assert_eq!(value(units([("general", -2.0), ("hero", 1.0)])), "hero - 2 general, in pawns");
        assert_eq!(value(units([("bishop", -1.0)])), "-bishop, in pawns");
        assert_eq!(Range { low: Some(1.5), high: Some(2.0) }.to_string(), "1.5 to 2");
        assert_eq!(Range { low: Some(1.1), high: None }.to_string(), "at least 1.1");
        assert_eq!(Range { low: None, high: Some(0.0) }.to_string(), "at most 0");
    }

    #[test]
    fn parts_measure_what_they_say() {
        let equal = Part::Equivalence { units: units([("rook", 1.0), ("shaman", -1.0)]), margin: 0.25 };
        assert_eq!(equal.measured().unwrap().1, Range { low: Some(-0.25), high: Some(0.25) });
        let first = Part::FirstMove { margin: Some(0.025), range: Range::default() };
        assert_eq!(first.measured().unwrap().1, Range { low: Some(0.475), high: Some(0.525) });
        let longer = Part::GameLength { longer_than: "chess".to_owned(), range: Range::default() };
        assert_eq!(longer.measured().unwrap().1, Range { low: Some(0.0), high: None });
        let fact = Part::Fact(FactPart { variant: None, fact: Fact::Men { equals: 32 } });
        assert_eq!(fact.measured(), None);
    }

    #[test]
    fn every_example_reads_back() {
        for part in Part::examples() {
            let text = toml::to_string(&part).unwrap();
            assert_eq!(toml::from_str::<Part>(&text), Ok(part), "{text}");
        }
    }

    #[test]
    fn every_key_and_word_is_documented() {
        let documented = include_str!("../../../docs/formats/claims.md");
        for part in Part::examples() {
            let table = toml::Table::try_from(&part).unwrap();
            let words = ["kind", "fact"].iter().filter_map(|key| table.get(*key).and_then(toml::Value::as_str));
            for word in table.keys().map(String::as_str).chain(words) {
                assert!(documented.contains(&format!("`{word}`")), "{word} of {part:?}");
            }
        }
    }
}
