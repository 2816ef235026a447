//! What follows from a game's rules and array: looked up and compared with what is claimed. Nothing is measured by play.

use super::evidence::Unmeasured;
use super::file::ClaimSet;
use super::language::{Board, Fact, FactPart};
use super::verdict::Answer;
use fairyforge_engine::explain::{AttackDensity, Explanation, Facts, Man, Reach};
use fairyforge_engine::variant::Variant;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How such answers are known.
const METHOD: &str = "exact: follows from rules and array";

/// The games of a set of claims with their facts, worked out once each.
pub(super) struct Games<'a> {
    set: &'a ClaimSet,
    known: BTreeMap<String, Result<Game, Unmeasured>>,
}

/// A game and what there is to know of it.
struct Game {
    variant: Arc<Variant>,
    explanation: Explanation,
}

impl<'a> Games<'a> {
    pub fn new(set: &'a ClaimSet) -> Self {
        Self { set, known: BTreeMap::new() }
    }

    /// Whether a fact is as claimed.
    ///
    /// # Errors
    /// The rules of the game are not at hand.
    pub fn answer(&mut self, part: &FactPart) -> Result<Answer, Unmeasured> {
        let set = self.set;
        let name = part.variant.as_deref().unwrap_or(&set.file.variant);
        let game = self.known.entry(name.to_owned()).or_insert_with(|| load(set, name));
        game.as_ref().map(|game| game.answer(&part.fact)).map_err(Clone::clone)
    }
}

fn load(set: &ClaimSet, name: &str) -> Result<Game, Unmeasured> {
    let variant = if name == set.file.variant { Ok(Arc::clone(&set.variant)) } else { set.named(name) };
    let variant = variant.map_err(|_| Unmeasured::NoRules(name.to_owned()))?;
    Ok(Game { explanation: Explanation::of(&variant), variant })
}

impl Game {
    fn answer(&self, fact: &Fact) -> Answer {
        let facts = &self.explanation.facts;
        match fact {
            Fact::Men { equals } => count(facts.men, *equals),
            Fact::Types { equals } => count(facts.types, *equals),
            Fact::EmptySquares { equals } => count(facts.empty_squares, *equals),
            Fact::AttackDensity { equals, within } => attack_density(facts, *equals, *within),
            Fact::WeakPoints { squares, unit } => self.weak_points(squares, unit.as_deref()),
            Fact::Reach { unit, from_rank, to_rank, board } => self.reach(unit, *from_rank, (*to_rank, *board)),
        }
    }

    fn weak_points(&self, squares: &[String], unit: Option<&str>) -> Answer {
        let found = &self.explanation.facts.protection;
        let stand = |man: &Man| squares.contains(&man.square);
        let is_unit = |man: &Man| unit.is_none_or(|unit| man.unit == self.name_of(unit));
        let all_there = squares.iter().all(|square| found.by_king_only.iter().any(|man| man.square == *square));
        let holds = all_there && found.by_king_only.iter().all(|man| stand(man) && is_unit(man));
        let mut finding = format!("the King alone protects {}", men(&found.by_king_only));
        if !found.by_nobody.is_empty() {
            finding = format!("{finding}; nobody at all protects {}", men(&found.by_nobody));
        }
        Answer { holds, value: Some(found.by_king_only.len() as f64), finding, method: METHOD }
    }

    fn reach(&self, unit: &str, from_rank: u16, (to_rank, board): (u16, Board)) -> Answer {
        let unit = self.name_of(unit);
        let is_asked = |reach: &&Reach| reach.side == "White" && reach.unit == unit && reach.from_rank == from_rank;
        let Some(Reach { alone, in_array, .. }) = self.explanation.facts.reach.iter().find(is_asked) else {
            let finding = format!("White has no {unit} on rank {from_rank}");
            return Answer { holds: false, value: None, finding, method: METHOD };
        };
        let reached = match board {
            Board::Empty => alone.two_moves,
            Board::Array => in_array.two_moves,
        };
        let finding = format!(
            "alone on the board rank {}, in the array with nobody else moving rank {}; claimed {to_rank}",
            alone.two_moves, in_array.two_moves
        );
        Answer { holds: reached == to_rank, value: Some(f64::from(reached)), finding, method: METHOD }
    }

    /// The name by which facts call a unit.
    fn name_of<'a>(&'a self, unit: &'a str) -> &'a str {
        let known = self.variant.unit_named(unit).and_then(|unit| self.explanation.units.get(unit.index()));
        known.map_or(unit, |unit| &unit.name)
    }
}

fn count(found: usize, claimed: usize) -> Answer {
    let finding = format!("{found}, claimed {claimed}");
    Answer { holds: found == claimed, value: Some(found as f64), finding, method: METHOD }
}

fn attack_density(facts: &Facts, claimed: f64, within: f64) -> Answer {
    let is_near = |side: &AttackDensity| side.density.is_some_and(|density| (density - claimed).abs() <= within);
    let [white, black] = &facts.attack_density;
    let said = |side: &AttackDensity| {
        let AttackDensity { men, adjacent_attacks, density, .. } = side;
        density.map_or_else(
            || "no men but pawns".to_owned(),
            |density| format!("{density:.2} ({adjacent_attacks} squares attacked by {men} men)"),
        )
    };
    let figures = if said(white) == said(black) {
        format!("{} on each side", said(white))
    } else {
        format!("White {}, Black {}", said(white), said(black))
    };
    let holds = is_near(white) && is_near(black);
    Answer { holds, value: white.density, finding: format!("{figures}, claimed {claimed:.2}"), method: METHOD }
}

/// `Pawn g2, Pawn g9`, or nothing.
fn men(men: &[Man]) -> String {
    if men.is_empty() {
        return "nothing".to_owned();
    }
    men.iter().map(|man| format!("{} {}", man.unit, man.square)).collect::<Vec<_>>().join(", ")
}
