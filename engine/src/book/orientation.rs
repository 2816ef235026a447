//! The way round in which a book has a position.
//!
//! Where the rules are the same from left and right, a position and its mirror image are one position of a book, which has the one
//! whose identity is lesser in byte order. Moves in the book are those of that one.

use super::BookKey;
use crate::moves::Move;
use crate::position::Position;
use sha2::{Digest, Sha256};
use std::cmp::Ordering;

/// A position as books have it, and how its moves are told.
#[derive(Clone, Debug)]
pub struct Oriented {
    position: Position,
    key: BookKey,
    check: u64,
    turn: Turn,
}

/// How the position in the book is seen from the one that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// It is the same.
    Same,
    /// It is the mirror image.
    Mirrored,
    /// It is the same, and its own mirror image.
    Symmetric,
}

impl Oriented {
    /// The way round in which books have this position.
    pub fn of(position: &Position) -> Self {
        let identity = position.identity_bytes();
        let image = position.mirrored().map(|image| (image.identity_bytes(), image));
        let (position, identity, turn) = match image {
            None => (position.clone(), identity, Turn::Same),
            Some((other, image)) => match other.cmp(&identity) {
                Ordering::Less => (image, other, Turn::Mirrored),
                Ordering::Equal => (position.clone(), identity, Turn::Symmetric),
                Ordering::Greater => (position.clone(), identity, Turn::Same),
            },
        };
        let digest = Sha256::digest(&identity);
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
        Self { position, key: BookKey::from_number(number(&digest[..8])), check: number(&digest[8..16]), turn }
    }

    /// The position as the book has it.
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// The position as the book has it.
    #[must_use]
    pub fn into_position(self) -> Position {
        self.position
    }

    /// Its key.
    pub const fn key(&self) -> BookKey {
        self.key
    }

    /// A number as good as another key: two positions of one key are told apart by it.
    pub const fn check(&self) -> u64 {
        self.check
    }

    /// Whether the book has the mirror image of the position that was asked for.
    pub fn is_mirrored(&self) -> bool {
        self.turn == Turn::Mirrored
    }

    /// A move of the position that was asked for, as the book has it. In a position that is its own image two moves that are images of
    /// one another are one: the one with lesser bits.
    pub fn held(&self, mv: Move) -> Move {
        let image = || mv.mirrored(self.position.variant().topology());
        match self.turn {
            Turn::Same => mv,
            Turn::Mirrored => image(),
            Turn::Symmetric => {
                if image().to_bits() < mv.to_bits() {
                    image()
                } else {
                    mv
                }
            }
        }
    }

    /// A move that the book has, in the position that was asked for.
    pub fn asked(&self, held: Move) -> Move {
        if self.is_mirrored() { held.mirrored(self.position.variant().topology()) } else { held }
    }
}
