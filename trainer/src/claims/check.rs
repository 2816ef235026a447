//! Whether claims make sense: numbers in order, units that the game has, men that a table can have. Everything wrong is told
//! together.

use super::file::{ClaimSet, FORMAT, Faults, nearest};
use super::language::{Endgame, Fact, FactPart, Part, Range};
use fairyforge_engine::endgame::{Material, Plan};
use fairyforge_engine::variant::rules::{Colour, Unit};
use fairyforge_engine::variant::{LoadError, Variant};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::sync::Arc;

/// All that is wrong with the claims of a set.
pub(super) fn faults(set: &ClaimSet) -> Faults {
    let mut faults = Faults::default();
    let file = &set.file;
    faults.require(file.format == FORMAT, "format", FORMAT, file.format);
    faults.require(!file.source.trim().is_empty(), "source", "who claims it", "nothing");
    faults.require(!file.claims.is_empty(), "claim", "at least one [[claim]] table", "none");
    let mut seen = BTreeSet::new();
    for claim in &file.claims {
        let place = format!("claim {}", claim.id);
        faults.require(!claim.id.trim().is_empty(), "claim.id", "a short name", "nothing");
        faults.require(seen.insert(&claim.id), "claim.id", "every name once", format_args!("{:?} again", claim.id));
        for (key, text) in [("text", &claim.text), ("reading", &claim.reading)] {
            faults.require(!text.trim().is_empty(), &format!("{place}, {key}"), "a sentence", "nothing");
        }
        faults.require(!claim.parts.is_empty(), &place, "at least one [[claim.part]] table", "none");
        for (part, number) in claim.parts.iter().zip(1..) {
            Check { set, place: &format!("{place}, part {number}"), faults: &mut faults }.part(part);
        }
    }
    let needing = file.claims.iter().find(|claim| claim.parts.iter().any(|part| part.measured().is_some()));
    if let Some(claim) = needing {
        let expected = format!("a file, as claim {} is measured by play", claim.id);
        faults.require(file.experiment.is_some(), "experiment", expected, "none");
    }
    faults
}

/// Looks at one part.
struct Check<'a> {
    set: &'a ClaimSet,
    place: &'a str,
    faults: &'a mut Faults,
}

impl Check<'_> {
    fn part(&mut self, part: &Part) {
        match part {
            Part::Value { unit, range } => {
                self.measurable("unit", unit);
                self.range(range, None);
            }
            Part::Difference { units, range } => {
                self.units(units);
                self.range(range, None);
            }
            Part::Equivalence { units, margin } => {
                self.units(units);
                self.require(margin.is_finite() && *margin > 0.0, "margin", "more than 0", margin);
            }
            Part::PhaseGain { unit, against, range } => {
                self.measurable("unit", unit);
                self.measurable("against", against);
                self.require(unit != against, "against", "another unit", format_args!("{against:?} again"));
                self.range(range, Some((0.0, f64::MAX)));
            }
            Part::RankGain { unit, range } => {
                self.measurable("unit", unit);
                self.range(range, Some((0.0, f64::MAX)));
            }
            Part::FirstMove { margin, range } => self.first_move(*margin, range),
            Part::GameLength { longer_than, range } => {
                self.game("longer_than", longer_than);
                if !range.is_open() {
                    self.range(range, None);
                }
            }
            Part::Fact(part) => self.fact(part),
            Part::Endgame(endgame) => self.endgame(endgame),
        }
    }

    fn require(&mut self, holds: bool, key: &str, expected: impl Display, got: impl Display) {
        self.faults.require(holds, &format!("{}, {key}", self.place), expected, got);
    }

    fn note(&mut self, key: &str, error: impl Display) {
        self.faults.note(&format!("{}, {key}", self.place), error);
    }

    /// Edges in order and, where the quantity has bounds of its own, inside these.
    fn range(&mut self, range: &Range, bounds: Option<(f64, f64)>) {
        self.require(!range.is_open(), "low", "low, high or both", "neither");
        let (least, most) = bounds.unwrap_or((f64::MIN, f64::MAX));
        for (key, edge) in [("low", range.low), ("high", range.high)] {
            let Some(edge) = edge else { continue };
            let expected = match bounds {
                None => "a number".to_owned(),
                Some((least, f64::MAX)) => format!("a number of at least {least}"),
                Some((least, most)) => format!("{least} to {most}"),
            };
            self.require((least..=most).contains(&edge), key, expected, edge);
        }
        if let (Some(low), Some(high)) = (range.low, range.high) {
            // An interval never lies inside a point: such a claim could not be supported.
            self.require(low < high, "low", format_args!("less than high, {high}"), low);
        }
    }

    fn first_move(&mut self, margin: Option<f64>, range: &Range) {
        match margin {
            None => self.range(range, Some((0.0, 1.0))),
            Some(margin) => {
                self.require(margin > 0.0 && margin <= 0.5, "margin", "more than 0, at most 0.5", margin);
                self.require(range.is_open(), "margin", "margin alone, or low and high alone", "both");
            }
        }
    }

    fn units(&mut self, units: &BTreeMap<String, f64>) {
        self.require(!units.is_empty(), "units", "units with how often they count, as {rook = 1}", "none");
        for (unit, &times) in units {
            self.measurable("units", unit);
            let counts = times.is_finite() && times != 0.0;
            self.require(counts, "units", format_args!("how often {unit} counts, not 0"), times);
        }
    }

    /// A unit of the game itself that may be taken away, so that it has a value.
    fn measurable(&mut self, key: &str, name: &str) {
        let set = self.set;
        if let Some(unit) = self.unit(key, name, &set.variant) {
            let is_royal = set.variant.unit(unit).royal;
            self.require(!is_royal, key, "a unit that the game goes on without", format_args!("{name:?}"));
        }
    }

    fn unit(&mut self, key: &str, name: &str, variant: &Variant) -> Option<Unit> {
        let unit = variant.unit_named(name);
        let nearest = nearest(name, variant.units().map(|unit| variant.unit(unit).name.as_str()));
        let expected = format!("a unit of {}, as {nearest:?}", variant.name());
        self.require(unit.is_some(), key, expected, format_args!("{name:?}"));
        unit
    }

    /// A game that is named; `None` if its rules are not at hand, which is a fault only for names: a file may be elsewhere.
    fn game(&mut self, key: &str, name: &str) -> Option<Arc<Variant>> {
        match self.set.named(name) {
            Ok(variant) => Some(variant),
            Err(LoadError::Read { .. }) => None,
            Err(error) => {
                self.note(key, error);
                None
            }
        }
    }

    fn fact(&mut self, part: &FactPart) {
        let variant = match &part.variant {
            None => Some(self.set.variant.clone()),
            Some(name) => self.game("variant", name),
        };
        let Some(variant) = variant else { return };
        match &part.fact {
            Fact::Men { .. } | Fact::Types { .. } | Fact::EmptySquares { .. } => {}
            Fact::AttackDensity { equals, within } => {
                self.require(equals.is_finite() && *equals >= 0.0, "equals", "0 or more", equals);
                self.require(within.is_finite() && *within >= 0.0, "within", "0 or more", within);
            }
            Fact::WeakPoints { squares, unit } => {
                for square in squares {
                    if let Err(error) = variant.topology().parse(square) {
                        self.note("squares", error);
                    }
                }
                if let Some(unit) = unit {
                    self.unit("unit", unit, &variant);
                }
            }
            Fact::Reach { unit, from_rank, to_rank, .. } => self.reach(&variant, unit, [*from_rank, *to_rank]),
        }
    }

    fn reach(&mut self, variant: &Variant, name: &str, [from, to]: [u16; 2]) {
        let topology = variant.topology();
        let first = u16::from(topology.first_rank());
        let ranks = first..=first + u16::from(topology.height()) - 1;
        let expected = format!("{} to {}", ranks.start(), ranks.end());
        self.require(ranks.contains(&to), "to_rank", expected, to);
        let Some(unit) = self.unit("unit", name, variant) else { return };
        let mut whites = variant.rules().array.iter().filter(|man| man.1 == unit && man.2 == Colour::White);
        let is_home = whites.any(|man| u16::from(man.0.row()) + first == from);
        self.require(is_home, "from_rank", format_args!("a rank where White has {name} in the array"), from);
    }

    fn endgame(&mut self, endgame: &Endgame) {
        let variant = &self.set.variant;
        let plan = Material::parse(variant, &endgame.men).and_then(|men| Plan::of(variant, &men));
        if let Err(error) = plan {
            self.faults.note(self.place, error);
        }
        let share = endgame.share;
        self.require(share > 0.5 && share <= 1.0, "share", "more than 0.5, at most 1", share);
        let asks = endgame.force.is_some() || endgame.longest_moves.is_some();
        self.require(asks, "force", "force, longest_moves or both", "neither");
    }
}
