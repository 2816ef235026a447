//! A man: a unit type and a colour in one byte.

use crate::variant::rules::{Colour, MAX_UNITS, Unit};
use crate::variant::{Variant, letters};

/// A unit of one colour, or nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece(u8);

impl Piece {
    /// An empty square.
    pub const NONE: Self = Self(0x40);

    const BLACK: u8 = MAX_UNITS as u8;

    /// A unit of a colour.
    #[inline]
    pub const fn new(unit: Unit, colour: Colour) -> Self {
        Self(unit.0 | (colour as u8 * Self::BLACK))
    }

    /// Whether the square is empty.
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == Self::NONE.0
    }

    /// The unit type; meaningless for [`Piece::NONE`].
    #[inline]
    pub const fn unit(self) -> Unit {
        Unit(self.0 & (Self::BLACK - 1))
    }

    /// The colour; White for [`Piece::NONE`].
    #[inline]
    pub const fn colour(self) -> Colour {
        if self.0 & Self::BLACK == 0 { Colour::White } else { Colour::Black }
    }

    /// Whether this is a man of `colour`.
    #[inline]
    pub const fn is_of(self, colour: Colour) -> bool {
        (self.0 ^ (colour as u8 * Self::BLACK)) < Self::BLACK
    }

    /// Whether this is a man of `colour` whose unit bit is set in `units`.
    #[inline]
    pub const fn is_among(self, units: u32, colour: Colour) -> bool {
        let unit = self.0 ^ (colour as u8 * Self::BLACK);
        unit < Self::BLACK && units >> unit & 1 != 0
    }

    /// Index into tables of `2 * MAX_UNITS` men.
    #[inline]
    pub const fn index(self) -> usize {
        (self.0 & 0x3f) as usize
    }

    /// The letter in FEN: upper case for White.
    pub fn letter(self, variant: &Variant) -> char {
        let letter = variant.unit(self.unit()).letter;
        if self.colour() == Colour::White { letter } else { letters::small(letter) }
    }
}
