//! Material and squares, blended between middlegame and endgame by the men left.

use super::{Evaluator, MOST_VALUE, Weights};
use crate::geometry::{GRID_SQUARES, Square};
use crate::position::{Observer, Piece, Position};
use crate::variant::Variant;
use crate::variant::rules::{Colour, MAX_UNITS};

/// A [`Weights`] file laid out for speed.
#[derive(Debug)]
pub struct Tapered {
    /// By man and square, signed for White's view.
    on_square: Vec<[Balance; GRID_SQUARES]>,
    /// By man, in hand.
    in_hand: Vec<Balance>,
    exchange_values: [i32; MAX_UNITS],
    full_phase: i32,
    tempo: i32,
}

/// Sums over all men, White's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Balance {
    /// Middlegame sum in centipawns.
    pub middlegame: i32,
    /// Endgame sum in centipawns.
    pub endgame: i32,
    /// Sum of phase weights of both sides.
    pub phase: i32,
}

impl Balance {
    #[inline]
    fn add(&mut self, other: &Self) {
        self.middlegame += other.middlegame;
        self.endgame += other.endgame;
        self.phase += other.phase;
    }

    #[inline]
    fn subtract(&mut self, other: &Self) {
        self.middlegame -= other.middlegame;
        self.endgame -= other.endgame;
        self.phase -= other.phase;
    }
}

impl Tapered {
    /// Lays weights out for a variant. They must be of its rules ([`Weights::read`] sees to that).
    pub fn new(variant: &Variant, weights: &Weights) -> Self {
        let mut on_square = vec![[Balance::default(); GRID_SQUARES]; 2 * MAX_UNITS];
        let mut in_hand = vec![Balance::default(); 2 * MAX_UNITS];
        for (unit, numbers) in variant.units().zip(&weights.units) {
            for colour in Colour::BOTH {
                let sign = if colour == Colour::White { 1 } else { -1 };
                let piece = Piece::new(unit, colour).index();
                let balance = |(middlegame, endgame): (i32, i32)| Balance {
                    middlegame: sign * (numbers.middlegame + middlegame),
                    endgame: sign * (numbers.endgame + endgame),
                    phase: numbers.phase,
                };
                in_hand[piece] = balance((0, 0));
                for square in variant.topology().squares() {
                    let seen = if colour == Colour::White { square } else { variant.topology().flip(square) };
                    on_square[piece][square.index()] = balance(numbers.bonus(seen));
                }
            }
        }
        Self {
            on_square,
            in_hand,
            exchange_values: weights.exchange_values(),
            full_phase: weights.full_phase(variant),
            tempo: weights.tempo,
        }
    }

    /// The share of the middlegame in a position, from 0 to 1.
    pub fn middlegame_share(&self, balance: &Balance) -> f64 {
        f64::from(balance.phase.clamp(0, self.full_phase)) / f64::from(self.full_phase)
    }

    /// The sums of a position, from scratch.
    pub fn fresh(&self, position: &Position) -> Balance {
        let mut balance = Balance::default();
        for square in position.occupied() {
            balance.add(&self.on_square[position.piece_at(square).index()][square.index()]);
        }
        for colour in Colour::BOTH {
            for unit in position.variant().units() {
                for _ in 0..position.in_hand(unit, colour) {
                    balance.add(&self.in_hand[Piece::new(unit, colour).index()]);
                }
            }
        }
        balance
    }

    /// The value for the side to move, in centipawns, of a position with these sums.
    #[inline]
    pub fn evaluate(&self, position: &Position, balance: &Balance) -> i32 {
        let phase = balance.phase.clamp(0, self.full_phase);
        // Wider, because a file may hold values of thousands of centipawns and phases as large.
        let weighed = i64::from(balance.middlegame) * i64::from(phase)
            + i64::from(balance.endgame) * i64::from(self.full_phase - phase);
        let white = (weighed / i64::from(self.full_phase)) as i32;
        let own = if position.side_to_move() == Colour::White { white } else { -white };
        (own + self.tempo).clamp(-MOST_VALUE, MOST_VALUE)
    }
}

impl Evaluator for Tapered {
    /// By ply.
    type Line = Vec<Balance>;
    type Follower<'a> = TaperedFollower<'a>;

    fn line(&self, root: &Position, plies: usize) -> Vec<Balance> {
        vec![self.fresh(root); plies]
    }

    #[inline]
    fn follow<'a>(&'a self, line: &'a mut Vec<Balance>, ply: usize) -> TaperedFollower<'a> {
        line[ply + 1] = line[ply];
        TaperedFollower { tapered: self, balance: &mut line[ply + 1] }
    }

    #[inline]
    fn value(&self, position: &Position, line: &mut Vec<Balance>, ply: usize) -> i32 {
        self.evaluate(position, &line[ply])
    }

    #[inline]
    fn step_gain(&self, piece: Piece, from: Square, to: Square) -> i32 {
        let squares = &self.on_square[piece.index()];
        let gain = squares[to.index()].middlegame - squares[from.index()].middlegame;
        if piece.colour() == Colour::White { gain } else { -gain }
    }

    fn exchange_values(&self) -> &[i32; MAX_UNITS] {
        &self.exchange_values
    }
}

/// Adds up what a move changes, at once: that is as little work as noting it.
pub struct TaperedFollower<'a> {
    tapered: &'a Tapered,
    balance: &'a mut Balance,
}

impl Observer for TaperedFollower<'_> {
    #[inline]
    fn placed(&mut self, piece: Piece, square: Square) {
        self.balance.add(&self.tapered.on_square[piece.index()][square.index()]);
    }

    #[inline]
    fn lifted(&mut self, piece: Piece, square: Square) {
        self.balance.subtract(&self.tapered.on_square[piece.index()][square.index()]);
    }

    #[inline]
    fn dropped(&mut self, piece: Piece, _: u8) {
        self.balance.subtract(&self.tapered.in_hand[piece.index()]);
    }
}
