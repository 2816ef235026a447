//! A finished table and the answers it gives.

use super::layout::{Layout, Squares};
use super::{Material, Stage, Work};
use crate::position::{Piece, Position};
use crate::variant::Variant;
use crate::variant::rules::{Colour, SideResult};
use std::fmt;
use std::sync::Arc;

/// The code of a draw, and of whatever is not decided yet.
pub(super) const DRAWN: u8 = 0;
/// The code of a slot that belongs to no position.
pub(super) const NO_POSITION: u8 = u8::MAX;
/// Distances that codes can tell apart.
pub(super) const MOST_DISTANCES: usize = 254;

/// What a position is worth to the side to move when both sides play as well as they can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Value {
    /// The result for the side to move.
    pub result: SideResult,
    /// Plies to the end, if the winner hurries and the loser puts it off; 0 for a draw.
    pub plies: u16,
}

impl Value {
    /// Nobody wins.
    pub const DRAW: Self = Self { result: SideResult::Draw, plies: 0 };

    /// The value for the opponent who moves to this position.
    pub const fn before(self) -> Self {
        match self.result {
            SideResult::Win => Self { result: SideResult::Loss, plies: self.plies + 1 },
            SideResult::Draw => Self::DRAW,
            SideResult::Loss => Self { result: SideResult::Win, plies: self.plies + 1 },
        }
    }

    /// The better of two for whoever may choose.
    pub fn better(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }

    /// A number that is greater for better values: a quick win, a slow one, a draw, a slow loss, a quick one.
    pub fn rank(self) -> i32 {
        match self.result {
            SideResult::Win => i32::from(u16::MAX) + 1 - i32::from(self.plies),
            SideResult::Draw => 0,
            SideResult::Loss => i32::from(self.plies) - i32::from(u16::MAX) - 1,
        }
    }

    /// Moves of the winner to the end.
    pub const fn moves(self) -> u16 {
        self.plies.div_ceil(2)
    }

    /// Whether the end comes before the variant's move count makes a draw of a position of this value. Captures and moves that
    /// set the count back only give the winner more time; an end on the last ply goes before the count.
    pub fn is_within_move_count(self, position: &Position) -> bool {
        let needed = u32::from(position.plies_without_progress()) + u32::from(self.plies);
        position.variant().rules().end.move_count.is_none_or(|limit| needed <= u32::from(limit))
    }
}

/// As people say it: `win in 16 moves (31 plies)`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moves = self.moves();
        let plural = |count: u16| if count == 1 { "" } else { "s" };
        let word = match self.result {
            SideResult::Win => "win",
            SideResult::Draw => return f.write_str("draw"),
            SideResult::Loss => "loss",
        };
        write!(
            f,
            "{word} in {moves} move{} ({} pl{})",
            plural(moves),
            self.plies,
            if self.plies == 1 { "y" } else { "ies" }
        )
    }
}

/// What codes mean: code c is the c-th value, counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Distances(Vec<Value>);

impl Distances {
    pub fn from_values(values: Vec<Value>) -> Self {
        Self(values)
    }

    pub fn values(&self) -> &[Value] {
        &self.0
    }

    /// The code of a value that may be there already.
    ///
    /// # Errors
    /// There are as many as can be.
    pub fn add(&mut self, value: Value) -> Result<u8, usize> {
        if let Some(code) = self.code(value) {
            return Ok(code);
        }
        if self.0.len() >= MOST_DISTANCES {
            return Err(MOST_DISTANCES);
        }
        self.0.push(value);
        Ok(self.0.len() as u8)
    }

    /// Takes out those added after the first `count`.
    pub fn forget_beyond(&mut self, count: usize) {
        self.0.truncate(count);
    }

    pub fn code(&self, value: Value) -> Option<u8> {
        self.0.iter().position(|&known| known == value).map(|index| index as u8 + 1)
    }

    pub fn value(&self, code: u8) -> Option<Value> {
        usize::from(code).checked_sub(1).and_then(|index| self.0.get(index)).copied()
    }

    /// The greatest number of plies.
    pub fn longest(&self) -> Option<u16> {
        self.0.iter().map(|value| value.plies).max()
    }
}

/// All positions of a material.
pub struct Table {
    variant: Arc<Variant>,
    material: Material,
    layout: Layout,
    codes: [Vec<u8>; 2],
    distances: [Distances; 2],
}

/// Counts of a table for one side to move; positions that symmetries make one are counted each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Legal positions.
    pub positions: u64,
    /// Won by the side to move.
    pub won: u64,
    /// Lost by it.
    pub lost: u64,
    /// The longest win.
    pub longest_win: Option<Longest>,
    /// The longest loss.
    pub longest_loss: Option<Longest>,
}

impl Statistics {
    /// Positions that nobody wins.
    pub const fn drawn(&self) -> u64 {
        self.positions - self.won - self.lost
    }
}

/// The greatest distance and one position that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Longest {
    /// Its value.
    pub value: Value,
    /// The position.
    pub fen: String,
}

/// Counts of some slots.
#[derive(Clone, Copy, Default)]
struct Count {
    positions: u64,
    won: u64,
    lost: u64,
    /// Plies and slot.
    win: Option<(u16, usize)>,
    loss: Option<(u16, usize)>,
}

impl Count {
    fn plus(self, other: Self) -> Self {
        // Of equals the first, so that the same slot is named whatever the chunks.
        let longer =
            |a: Option<(u16, usize)>, b: Option<(u16, usize)>| if b.map(|b| b.0) > a.map(|a| a.0) { b } else { a };
        Self {
            positions: self.positions + other.positions,
            won: self.won + other.won,
            lost: self.lost + other.lost,
            win: longer(self.win, other.win),
            loss: longer(self.loss, other.loss),
        }
    }
}

impl Table {
    pub(super) fn new(
        variant: &Arc<Variant>,
        material: Material,
        layout: Layout,
        codes: [Vec<u8>; 2],
        distances: [Distances; 2],
    ) -> Self {
        Self { variant: Arc::clone(variant), material, layout, codes, distances }
    }

    /// The game.
    pub const fn variant(&self) -> &Arc<Variant> {
        &self.variant
    }

    /// The men.
    pub const fn material(&self) -> &Material {
        &self.material
    }

    /// How many reflections and rotations of the board share their values.
    pub fn symmetries(&self) -> usize {
        self.layout.symmetries()
    }

    /// Bytes for each side to move.
    pub fn slots(&self) -> usize {
        self.layout.slots()
    }

    pub(super) fn codes(&self, side: Colour) -> &[u8] {
        &self.codes[side.index()]
    }

    pub(super) fn distances(&self, side: Colour) -> &Distances {
        &self.distances[side.index()]
    }

    /// The value with the men on these squares; `None` if that is no legal position.
    #[inline]
    pub(super) fn value(&self, side: Colour, squares: &Squares) -> Option<Value> {
        self.meaning(side, self.codes[side.index()][self.layout.slot(squares)])
    }

    #[inline]
    fn meaning(&self, side: Colour, code: u8) -> Option<Value> {
        match code {
            DRAWN => Some(Value::DRAW),
            code => self.distances[side.index()].value(code),
        }
    }

    /// The legal positions of one side to move counted, and the longest win and loss; `None` if it was stopped.
    pub fn statistics(&self, side: Colour, work: &Work) -> Option<Statistics> {
        let total = self.slots() as u64;
        let stage = |done| Stage::Checked { done, total };
        let counts = work.over(total, stage, |slots| {
            slots.map(|slot| self.count(side, slot as usize)).fold(Count::default(), Count::plus)
        });
        let count = counts?.into_iter().fold(Count::default(), Count::plus);
        let longest = |found: Option<(u16, usize)>, result| {
            let (plies, slot) = found?;
            Some(Longest { value: Value { result, plies }, fen: self.fen(side, slot) })
        };
        Some(Statistics {
            positions: count.positions,
            won: count.won,
            lost: count.lost,
            longest_win: longest(count.win, SideResult::Win),
            longest_loss: longest(count.loss, SideResult::Loss),
        })
    }

    fn count(&self, side: Colour, slot: usize) -> Count {
        let Some(value) = self.meaning(side, self.codes[side.index()][slot]) else { return Count::default() };
        let positions = self.layout.positions_alike(&self.layout.squares_of(slot));
        let count = Count { positions, ..Count::default() };
        match value.result {
            SideResult::Win => Count { won: positions, win: Some((value.plies, slot)), ..count },
            SideResult::Draw => count,
            SideResult::Loss => Count { lost: positions, loss: Some((value.plies, slot)), ..count },
        }
    }

    fn fen(&self, side: Colour, slot: usize) -> String {
        let position = place(&self.variant, &self.material, side, &self.layout.squares_of(slot));
        position.map_or_else(String::new, |position| position.fen())
    }
}

/// The position with the men on these squares; `None` if it is not legal.
pub(super) fn place(variant: &Arc<Variant>, material: &Material, side: Colour, squares: &Squares) -> Option<Position> {
    let men = material.men().iter().zip(squares).map(|(man, &square)| (square, Piece::new(man.unit, man.colour)));
    Position::of_men(variant, men, side).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_ordered_as_players_would_choose() {
        let (win, loss) =
            (|plies| Value { result: SideResult::Win, plies }, |plies| Value { result: SideResult::Loss, plies });
        let best_first = [win(0), win(1), win(31), Value::DRAW, loss(40), loss(2), loss(0)];
        for pair in best_first.windows(2) {
            assert_eq!(pair[1].better(pair[0]), pair[0]);
            assert_eq!(pair[0].better(pair[1]), pair[0]);
        }
        assert_eq!((win(31).before(), loss(0).before(), Value::DRAW.before()), (loss(32), win(1), Value::DRAW));
        assert_eq!(win(31).to_string(), "win in 16 moves (31 plies)");
        assert_eq!(win(1).to_string(), "win in 1 move (1 ply)");
    }

    #[test]
    fn a_byte_tells_so_many_distances_apart_and_no_more() {
        let mut distances = Distances::default();
        for plies in 0..MOST_DISTANCES as u16 {
            let value = Value { result: SideResult::Win, plies };
            let code = distances.add(value).unwrap();
            assert!(code != DRAWN && code != NO_POSITION);
            assert_eq!((distances.value(code), distances.add(value)), (Some(value), Ok(code)));
        }
        assert_eq!(distances.add(Value { result: SideResult::Loss, plies: 0 }), Err(MOST_DISTANCES));
    }
}
