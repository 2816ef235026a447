//! Tables asked about positions. Nothing here allocates: a search asks.

use super::layout::Squares;
use super::{MOST_MEN, Man, Material, Table, Value};
use crate::geometry::Square;
use crate::position::Position;
use crate::variant::rules::Colour;
use std::collections::HashMap;
use std::fmt;

/// Tables of one game, by material.
#[derive(Default)]
pub struct Tables {
    by_material: HashMap<Material, Table>,
    /// Men of the largest table.
    most_men: u32,
    /// Exchanging the colours of this game changes nothing.
    armies_are_alike: bool,
}

/// The men of each table.
impl fmt::Debug for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_material.keys()).finish()
    }
}

impl Tables {
    /// No tables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a table.
    pub fn insert(&mut self, table: Table) {
        self.most_men = self.most_men.max(table.material().men().len() as u32);
        self.armies_are_alike = table.variant().armies_are_alike();
        self.by_material.insert(table.material().clone(), table);
    }

    /// The table of these men.
    pub fn get(&self, material: &Material) -> Option<&Table> {
        self.by_material.get(material)
    }

    /// How many tables there are.
    pub fn len(&self) -> usize {
        self.by_material.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_material.is_empty()
    }

    /// Men of the largest table, kings included; 0 if there is none.
    pub const fn most_men(&self) -> u32 {
        self.most_men
    }

    /// Memory that the values take, in bytes.
    pub fn bytes(&self) -> u64 {
        self.by_material.values().map(|table| 2 * table.slots() as u64).sum()
    }

    /// Drops all tables but those wanted.
    pub fn keep_only(&mut self, wanted: impl Fn(&Material) -> bool) {
        self.by_material.retain(|material, _| wanted(material));
        self.most_men = self.by_material.keys().map(|material| material.men().len() as u32).max().unwrap_or_default();
    }

    /// The value of a position for the side to move. `None` if there is no table of its men, or it has castling rights, men in hand or a
    /// capture en passant. Where both sides have the same army, the table of the exchanged colours will do.
    #[inline]
    pub fn probe(&self, position: &Position) -> Option<Value> {
        // Nearly all positions of a search have too many men: to count them is all they cost.
        if position.occupied().len() > self.most_men { None } else { self.look_up(position) }
    }

    fn look_up(&self, position: &Position) -> Option<Value> {
        if position.castling_rights() != 0 || has_en_passant(position) || has_men_in_hand(position) {
            return None;
        }
        let side = position.side_to_move();
        if let Some(value) = self.value(position, side, |man, square| (man, square)) {
            return Some(value);
        }
        if !self.armies_are_alike {
            return None;
        }
        let topology = position.variant().topology();
        let exchanged = |man: Man, square| (Man { colour: man.colour.opponent(), ..man }, topology.flip(square));
        self.value(position, side.opponent(), exchanged)
    }

    /// The value with every man and square seen through `seen`.
    fn value(&self, position: &Position, side: Colour, seen: impl Fn(Man, Square) -> (Man, Square)) -> Option<Value> {
        let nobody = (Man { unit: position.variant().royal(), colour: Colour::White }, Square::from_index(0));
        let mut men = [nobody; MOST_MEN];
        let count = position.occupied().len() as usize;
        for (place, square) in men.iter_mut().zip(position.occupied()) {
            let piece = position.piece_at(square);
            *place = seen(Man { unit: piece.unit(), colour: piece.colour() }, square);
        }
        let placed = men.get_mut(..count)?;
        placed.sort_unstable_by_key(|&(man, _)| man.place(position.variant()));
        let squares: Squares = men.map(|(_, square)| square);
        self.by_material.get(&men.map(|(man, _)| man)[..count])?.value(side, &squares)
    }
}

fn has_en_passant(position: &Position) -> bool {
    let mut any = false;
    position.en_passant_captures(|_| any = true);
    any
}

fn has_men_in_hand(position: &Position) -> bool {
    position.variant().rules().drops.is_some()
        && Colour::BOTH.into_iter().any(|side| position.variant().units().any(|unit| position.in_hand(unit, side) > 0))
}
