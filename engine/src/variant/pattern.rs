//! Move patterns: what a piece may do, before a board is known. Betza strings become these, tables are made of them.
//!
//! A pattern is a chain of legs. Each leg repeats one step a number of times; between two legs the path may turn. All
//! directions are White's view (`+rows` is forward); Black's patterns are mirrored when the variant is compiled.

use crate::geometry::SquareSet;

/// One way of moving: a path of legs, what may be done at its end, and where it may begin and end.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Pattern {
    /// The legs in order, at least one. Only squares of the last leg are targets.
    pub legs: Vec<Leg>,
    /// May end on an empty square.
    pub moves: bool,
    /// May end on an enemy man and take it.
    pub captures: bool,
    /// Only from the squares on which the array has this unit of this colour (Betza's `i`).
    pub initial: bool,
    /// Squares it must start on (White's view); `None` is anywhere.
    pub from: Option<SquareSet>,
    /// Squares it must end on (White's view); `None` is anywhere.
    pub to: Option<SquareSet>,
}

/// One leg: the same step taken `min` to `max` times.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Leg {
    /// The steps to choose from, as (files, rows) from White's side, already narrowed by directional modifiers for a first leg.
    pub steps: Vec<Step>,
    /// Which of the steps may follow the step before this leg.
    pub turn: Turn,
    /// Least number of steps: the leg cannot end earlier.
    pub min: u8,
    /// Greatest number of steps; [`Leg::UNLIMITED`] for a rider.
    pub max: u8,
    /// What must stand on the squares that the leg passes over between its own steps (riders: `Empty`).
    pub through: Occupancy,
    /// What must stand on the leg's last square for the next leg to begin; ignored for the last leg.
    pub joint: Occupancy,
}

/// One step of a leg.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Step {
    /// Files and rows travelled.
    pub vector: (i8, i8),
    /// For lame (non-jumping) leaps: squares, relative to the step's start, that must be empty. Empty for true leaps.
    pub stops: Vec<(i8, i8)>,
}

/// What must stand on an intermediate square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub enum Occupancy {
    /// Nothing.
    Empty,
    /// A man of either colour (a hop).
    Occupied,
    /// It does not matter.
    Any,
}

/// How a leg's direction relates to the step before it. For a first leg: [`Turn::Any`].
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Turn {
    /// Any of the steps, whatever came before (also back).
    Any,
    /// At most 45° off the previous step: the path goes outward.
    Outward,
    /// Only at one of these clockwise angles from the previous step, in eighths of a full turn (0 to 7).
    Eighths(Vec<u8>),
}

impl Leg {
    /// `max` of a leg that goes as far as the board allows.
    pub const UNLIMITED: u8 = u8::MAX;
}

impl Turn {
    /// Whether a step may follow another.
    pub fn allows(&self, before: (i8, i8), after: (i8, i8)) -> bool {
        let ((a, b), (c, d)) = ((i32::from(before.0), i32::from(before.1)), (i32::from(after.0), i32::from(after.1)));
        let (dot, cross) = (a * c + b * d, a * d - b * c);
        match self {
            Self::Any => true,
            // cos 45° = 1/√2, squared to stay with integers.
            Self::Outward => dot > 0 && 2 * dot * dot >= (a * a + b * b) * (c * c + d * d),
            Self::Eighths(angles) => angles.iter().any(|&eighths| {
                // Clockwise from the previous step: the cross product is negative to the right.
                match eighths {
                    0 => dot > 0 && cross == 0,
                    1 => dot > 0 && cross == -dot,
                    2 => dot == 0 && cross < 0,
                    3 => dot < 0 && cross == dot,
                    4 => dot < 0 && cross == 0,
                    5 => dot < 0 && cross == -dot,
                    6 => dot == 0 && cross > 0,
                    7 => dot > 0 && cross == dot,
                    _ => false,
                }
            }),
        }
    }
}
