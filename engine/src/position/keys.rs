//! Zobrist keys: a random number for every fact of a position, the same in every process.

use super::Piece;
use crate::geometry::{GRID_SQUARES, Square};
use crate::variant::rules::{Colour, MAX_UNITS, Unit};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::sync::OnceLock;

/// Seed of the keys; part of the meaning of stored keys, so it never changes.
const SEED: u64 = 0x4661_6972_7966_6f72;

/// Men of one type a hand may hold.
pub(super) const MAX_HAND: usize = 32;

/// Random numbers for all facts.
pub(super) struct Keys {
    pieces: Vec<[u64; GRID_SQUARES]>,
    passed: [u64; GRID_SQUARES],
    castling: [u64; 16],
    hands: Vec<[u64; MAX_HAND]>,
    side: u64,
}

impl Keys {
    /// The one table; constant data, made at first use because it is too large to write down.
    pub fn get() -> &'static Self {
        static KEYS: OnceLock<Keys> = OnceLock::new();
        KEYS.get_or_init(Self::generate)
    }

    fn generate() -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let mut next = || random.next_u64();
        let pieces = (0..2 * MAX_UNITS).map(|_| std::array::from_fn(|_| next())).collect();
        let passed = std::array::from_fn(|_| next());
        let castling = std::array::from_fn(|rights| if rights == 0 { 0 } else { next() });
        let hands =
            (0..2 * MAX_UNITS).map(|_| std::array::from_fn(|held| if held == 0 { 0 } else { next() })).collect();
        Self { pieces, passed, castling, hands, side: next() }
    }

    #[inline]
    pub fn piece(&self, piece: Piece, square: Square) -> u64 {
        self.pieces[piece.index()][square.index()]
    }

    pub fn passed(&self, square: Square) -> u64 {
        self.passed[square.index()]
    }

    #[inline]
    pub fn castling(&self, rights: u8) -> u64 {
        self.castling[rights as usize & 15]
    }

    pub fn hand(&self, unit: Unit, colour: Colour, held: u8) -> u64 {
        self.hands[Piece::new(unit, colour).index()][held as usize % MAX_HAND]
    }

    pub const fn side(&self) -> u64 {
        self.side
    }
}
