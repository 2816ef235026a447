//! Which tables a table needs, in the order in which they can be made, and how much memory that takes.

use super::exits::needs;
use super::layout::Layout;
use super::{EndgameError, Material};
use crate::variant::Variant;
use crate::variant::rules::Colour;

/// One table to be made.
pub struct Planned {
    /// Its men.
    pub material: Material,
    /// The tables to which its captures and promotions lead.
    pub needs: Vec<Material>,
    /// Its size for each side to move, in bytes.
    pub slots: u64,
}

/// All tables that one needs, itself last. A table comes after those that it needs.
pub struct Plan {
    /// The tables.
    pub tables: Vec<Planned>,
}

impl Plan {
    /// The plan for a material.
    ///
    /// # Errors
    /// Some table on the way has rights or men that tables cannot have.
    pub fn of(variant: &Variant, material: &Material) -> Result<Self, EndgameError> {
        let mut plan = Self { tables: Vec::new() };
        plan.add(variant, material, &mut Vec::new())?;
        Ok(plan)
    }

    /// The most memory that tables take at once, in bytes: one being made, and those that it needs.
    pub fn peak_bytes(&self) -> u64 {
        let slots = |material: &Material| self.planned(material).map_or(0, |planned| planned.slots);
        let at_once = |planned: &Planned| 2 * (planned.slots + planned.needs.iter().map(slots).sum::<u64>());
        self.tables.iter().map(at_once).max().unwrap_or(0)
    }

    /// The plan of one of the tables.
    pub fn planned(&self, material: &Material) -> Option<&Planned> {
        self.tables.iter().find(|planned| planned.material == *material)
    }

    /// Adds a table after those it needs; `above` are those that are waiting for it.
    fn add(&mut self, variant: &Variant, material: &Material, above: &mut Vec<Material>) -> Result<(), EndgameError> {
        if self.planned(material).is_some() {
            return Ok(());
        }
        if above.contains(material) {
            return Err(EndgameError::Circle { material: material.text(variant) });
        }
        refuse_en_passant(variant, material)?;
        let needs = needs(variant, material)?;
        above.push(material.clone());
        needs.iter().try_for_each(|need| self.add(variant, need, above))?;
        above.pop();
        let slots = Layout::new(variant, material).slots() as u64;
        self.tables.push(Planned { material: material.clone(), needs, slots });
        Ok(())
    }
}

fn refuse_en_passant(variant: &Variant, material: &Material) -> Result<(), EndgameError> {
    let units = |colour: Colour| material.men().iter().filter(move |man| man.colour == colour).map(|man| man.unit);
    for colour in Colour::BOTH {
        let taken = units(colour).find(|&unit| variant.unit(unit).taken_en_passant);
        let taker = units(colour.opponent()).find(|&unit| variant.unit(unit).takes_en_passant);
        if let (Some(taken), Some(taker)) = (taken, taker) {
            let name = |unit| variant.unit(unit).name.clone();
            return Err(EndgameError::EnPassant {
                material: material.text(variant),
                taken: name(taken),
                taker: name(taker),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(name: &str, men: &str) -> Result<Vec<String>, EndgameError> {
        let variant = Variant::load(name).unwrap();
        let plan = Plan::of(&variant, &Material::parse(&variant, men).unwrap())?;
        Ok(plan.tables.iter().map(|planned| planned.material.text(&variant)).collect())
    }

    #[test]
    fn a_table_comes_after_those_it_leads_to() {
        assert_eq!(plan("chess", "K+N v K+R").unwrap(), ["K v K", "K+N v K", "K v K+R", "K+N v K+R"]);
        let pawn = plan("chess", "K+P v K").unwrap();
        assert_eq!((pawn.len(), pawn[0].as_str(), pawn[5].as_str()), (6, "K v K", "K+P v K"));
        // The game is over before anything can be taken; the lone king may yet bare the other.
        assert_eq!(plan("shatranj", "K+R v K").unwrap(), ["K v K", "K+R v K"]);
        assert_eq!(plan("shatranj", "K+R+R v K").unwrap(), ["K+R+R v K"]);
    }

    #[test]
    fn rights_without_tables_are_refused() {
        assert!(matches!(plan("chess", "K+P v K+P"), Err(EndgameError::EnPassant { .. })));
        assert!(plan("shatranj", "K+P v K+P").is_ok());
        assert!(matches!(plan("spartan", "K v K+H"), Err(EndgameError::PromotesToRoyal { .. })));
    }
}
