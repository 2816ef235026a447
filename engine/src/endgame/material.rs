//! Which men an endgame has. Knows their names and their order, not what they do.

use super::EndgameError;
use crate::position::Position;
use crate::variant::Variant;
use crate::variant::rules::{Colour, Unit};
use std::borrow::Borrow;

/// Most men of a table, kings included.
pub const MOST_MEN: usize = 4;

/// Between the two sides in text. No unit's letter is small, so it cannot be confused.
const VERSUS: char = 'v';

/// One man: what it is and whose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Man {
    /// The unit type.
    pub unit: Unit,
    /// The side.
    pub colour: Colour,
}

impl Man {
    /// By what men are sorted.
    pub(super) fn place(self, variant: &Variant) -> (bool, usize, Unit) {
        (self.unit != variant.royal(), self.colour.index(), self.unit)
    }
}

/// The men of an endgame, in a fixed order: White's king, Black's king, White's other men by unit, Black's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Material(Vec<Man>);

/// A material is found by its men in their order.
impl Borrow<[Man]> for Material {
    fn borrow(&self) -> &[Man] {
        &self.0
    }
}

impl Material {
    /// Reads `K+N v K`: White's men, then Black's, each by the capital letter of its unit.
    ///
    /// ```
    /// use fairyforge_engine::endgame::Material;
    /// use fairyforge_engine::variant::Variant;
    /// let chess = Variant::load("chess")?;
    /// assert_eq!(Material::parse(&chess, "K+N+B v K")?.text(&chess), "K+B+N v K");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The text is no such list, a letter is no unit's, or a side has no king or several.
    pub fn parse(variant: &Variant, text: &str) -> Result<Self, EndgameError> {
        let malformed = || EndgameError::Malformed { got: text.chars().take(48).collect() };
        let (white, black) = text.split_once(VERSUS).ok_or_else(malformed)?;
        let sides = [(white, Colour::White), (black, Colour::Black)];
        let mut men = Vec::new();
        for (side, colour) in sides {
            if side.trim().is_empty() {
                return Err(malformed());
            }
            for letter in side.split('+') {
                men.push(Man { unit: unit_of(variant, letter.trim())?, colour });
            }
        }
        Self::of(variant, men)
    }

    /// The endgame of these men, in any order.
    ///
    /// # Errors
    /// There are too many, or a side has no king or several.
    pub fn of(variant: &Variant, mut men: Vec<Man>) -> Result<Self, EndgameError> {
        if men.len() > MOST_MEN {
            return Err(EndgameError::TooManyMen { most: MOST_MEN, got: men.len() });
        }
        for colour in Colour::BOTH {
            let royal = Man { unit: variant.royal(), colour };
            let got = men.iter().filter(|&&man| man == royal).count();
            if got != 1 {
                return Err(EndgameError::Royals { royal: variant.unit(royal.unit).name.clone(), colour, got });
            }
        }
        men.sort_by_key(|man| man.place(variant));
        Ok(Self(men))
    }

    /// The men on the board; `None` if there are too many for any table.
    pub fn on_board(position: &Position) -> Option<Self> {
        let squares = position.occupied();
        if squares.len() as usize > MOST_MEN {
            return None;
        }
        let men = squares.iter().map(|square| position.piece_at(square));
        Self::of(position.variant(), men.map(|piece| Man { unit: piece.unit(), colour: piece.colour() }).collect()).ok()
    }

    /// The men in their order.
    pub fn men(&self) -> &[Man] {
        &self.0
    }

    /// The same men with the colours exchanged.
    pub fn exchanged(&self, variant: &Variant) -> Self {
        let mut men: Vec<Man> = self.0.iter().map(|man| Man { colour: man.colour.opponent(), ..*man }).collect();
        men.sort_by_key(|man| man.place(variant));
        Self(men)
    }

    /// How many men a side has, its king included.
    pub fn count(&self, colour: Colour) -> usize {
        self.0.iter().filter(|man| man.colour == colour).count()
    }

    /// How many of a unit a side has.
    pub fn count_of(&self, unit: Unit, colour: Colour) -> usize {
        self.0.iter().filter(|&&man| man == Man { unit, colour }).count()
    }

    /// The men after a capture, a promotion or both, and which of the old men each of them is.
    pub(super) fn changed(
        &self,
        variant: &Variant,
        victim: Option<usize>,
        promoted: Option<(usize, Unit)>,
    ) -> (Self, [u8; MOST_MEN]) {
        let now = |number: usize, man: Man| match promoted {
            Some((promoted, unit)) if promoted == number => Man { unit, ..man },
            _ => man,
        };
        let stay = (0u8..).zip(&self.0).filter(|(number, _)| Some(usize::from(*number)) != victim);
        let mut men: Vec<(u8, Man)> = stay.map(|(number, &man)| (number, now(usize::from(number), man))).collect();
        men.sort_by_key(|(_, man)| man.place(variant));
        let order = std::array::from_fn(|at| men.get(at).map_or(0, |&(number, _)| number));
        (Self(men.into_iter().map(|(_, man)| man).collect()), order)
    }

    /// Whether the last two men are alike, so that exchanging them changes nothing. No others can be, as kings are not.
    pub(super) fn has_twins(&self) -> bool {
        self.0.len() == MOST_MEN && self.0[MOST_MEN - 2] == self.0[MOST_MEN - 1]
    }

    /// The text that [`Material::parse`] reads.
    pub fn text(&self, variant: &Variant) -> String {
        Colour::BOTH.map(|colour| self.letters(variant, colour, "+")).join(" v ")
    }

    /// A name for files, as `KNvK`.
    pub fn stem(&self, variant: &Variant) -> String {
        Colour::BOTH.map(|colour| self.letters(variant, colour, "")).join("v")
    }

    fn letters(&self, variant: &Variant, colour: Colour, between: &str) -> String {
        let men = self.0.iter().filter(|man| man.colour == colour);
        men.map(|man| variant.unit(man.unit).letter.to_string()).collect::<Vec<_>>().join(between)
    }
}

fn unit_of(variant: &Variant, text: &str) -> Result<Unit, EndgameError> {
    let letters = || variant.units().map(|unit| variant.unit(unit).letter).collect();
    let refused = || EndgameError::Letter { letters: letters(), got: text.chars().take(16).collect() };
    let mut read = text.chars();
    let (Some(letter), None) = (read.next(), read.next()) else { return Err(refused()) };
    let man = variant.man_with_letter(letter).filter(|&(_, colour)| colour == Colour::White);
    man.map(|(unit, _)| unit).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn men_are_read_in_any_order_and_refused_by_name() {
        let chess = Variant::load("chess").unwrap();
        let read = |text: &str| Material::parse(&chess, text);
        let known = read("K+N+B v K").unwrap();
        assert_eq!((known.text(&chess), known.stem(&chess)), ("K+B+N v K".into(), "KBNvK".into()));
        assert_eq!(read(" B + K+N vK").unwrap(), known);
        assert_ne!(read("K v K+B+N").unwrap(), known);
        assert_eq!(known.exchanged(&chess), read("K v K+B+N").unwrap());
        assert!(read("K+B+B v K").unwrap().has_twins() && !read("K+B v K+B").unwrap().has_twins());
        assert!(matches!(read("K+N"), Err(EndgameError::Malformed { .. })));
        assert!(matches!(read("v K"), Err(EndgameError::Malformed { .. })));
        assert!(matches!(read("K+n v K"), Err(EndgameError::Letter { .. })));
        assert!(matches!(read("K+ v K"), Err(EndgameError::Letter { .. })));
        assert!(matches!(read("K+KN v K"), Err(EndgameError::Letter { .. })));
        assert!(matches!(read("N v K"), Err(EndgameError::Royals { colour: Colour::White, got: 0, .. })));
        assert!(matches!(read("K+N v K+K"), Err(EndgameError::Royals { colour: Colour::Black, got: 2, .. })));
        assert!(matches!(read("K+N+N+N v K"), Err(EndgameError::TooManyMen { got: 5, .. })));
    }
}
