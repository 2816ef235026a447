//! A variant told to people: its rules in English, a drawing of every unit's moves, and the facts a designer wants.
//!
//! [`Explanation`] is plain data that follows from a [`Variant`] alone; `text.rs` writes it out. Words come from `rules.rs` and
//! `movement.rs`, drawings from `diagram.rs`, numbers from `facts.rs`. Nothing here plays.

mod diagram;
mod facts;
mod movement;
mod rules;
mod text;
mod words;

pub use diagram::{Access, Diagram, Legend, Mark, Passage};
pub use facts::{AttackDensity, BETZA_EMPTY, Facts, Farthest, Man, Protection, Reach, Targets, UnitMobility, pawns};
pub use rules::Section;
pub use words::name as unit_name;

use crate::position::Position;
use crate::variant::Variant;
use crate::variant::rules::{Colour, Unit};
use std::sync::Arc;

/// Everything there is to tell about a game.
///
/// ```
/// use fairyforge_engine::explain::Explanation;
/// use fairyforge_engine::variant::Variant;
/// let chess = Explanation::of(&Variant::load("chess")?.into());
/// let knight = chess.units.iter().find(|unit| unit.name == "Knight").ok_or("no Knight")?;
/// assert_eq!(knight.moves, ["leaps (2,1) in all eight directions"]);
/// assert_eq!(knight.diagrams[0].drawing[0], " 6  . * . * .");
/// assert_eq!(chess.facts.attack_density[0].density, Some(4.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, serde::Serialize)]
pub struct Explanation {
    /// The name used in commands.
    pub name: String,
    /// The game's name.
    pub title: String,
    /// Who invented it; empty if nobody is named.
    pub author: String,
    /// SHA-256 over the rules, as files carry it.
    pub rules_hash: String,
    /// The start position.
    pub fen: String,
    /// The array drawn, highest rank first.
    pub array: Vec<String>,
    /// All rules but the moves of the units.
    pub rules: Vec<Section>,
    /// The units, by name.
    pub units: Vec<UnitExplanation>,
    /// Counts, densities, mobility, protection, reach.
    pub facts: Facts,
}

/// What there is to tell about one unit.
#[derive(Clone, Debug, serde::Serialize)]
pub struct UnitExplanation {
    /// Its name for people.
    pub name: String,
    /// Its letter.
    pub letter: char,
    /// How many White and Black have in the array.
    pub in_array: [u8; 2],
    /// How many each side holds in hand at the start.
    pub in_hand: u8,
    /// How it moves, one phrase for each way, to be read after its name.
    pub moves: Vec<String>,
    /// What else is special about it: `royal`, `castles`.
    pub notes: Vec<String>,
    /// Its moves drawn.
    pub diagrams: Vec<Diagram>,
}

impl Explanation {
    /// Explains a game.
    pub fn of(variant: &Arc<Variant>) -> Self {
        let start = Position::start(variant);
        let rules = variant.rules();
        Self {
            name: rules.name.clone(),
            title: rules.title.clone(),
            author: rules.author.clone(),
            rules_hash: variant.rules_hash().into(),
            fen: start.fen(),
            array: start.to_string().lines().map(Into::into).collect(),
            rules: rules::sections(variant),
            units: variant.units().map(|unit| explain_unit(variant, unit)).collect(),
            facts: Facts::of(variant),
        }
    }
}

fn explain_unit(variant: &Variant, unit: Unit) -> UnitExplanation {
    let rules = variant.unit(unit);
    UnitExplanation {
        name: words::name(variant, unit),
        letter: rules.letter,
        in_array: Colour::BOTH.map(|colour| variant.array_count(colour, unit)),
        in_hand: variant.hand_size(unit),
        moves: movement::phrases(variant.topology(), &rules.patterns),
        notes: rules::unit_notes(variant, unit),
        diagrams: diagram::diagrams(variant, unit),
    }
}
