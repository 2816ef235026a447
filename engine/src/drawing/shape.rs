//! The outlines of men: a body for each family of moves, and signs for what the body does not say.
//!
//! | body | family |
//! |---|---|
//! | crown with a cross | royal |
//! | small, round-headed | counts as a pawn |
//! | tower, mitre, coronet | goes far along ranks and files, diagonals, both |
//! | horse's head | leaps as a knight and nothing farther |
//! | star | other leaps: a ray towards each |
//! | banner | goes far by bent ways only |
//! | shield | steps only |
//!
//! All coordinates are in a square of 100×100 units, y downwards.

use super::reach::{DIRECTIONS, Directions, Reach, Vector, line_of};
use super::svg::{Facing, number};
use crate::explain::pawns;
use crate::variant::Variant;
use crate::variant::rules::Unit;
use std::fmt::Write;

/// The family of a unit's moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    King,
    Pawn,
    Coronet,
    Tower,
    Mitre,
    Banner,
    Horse,
    Star,
    Shield,
}

/// Where a letter stands: its middle, and its size.
pub(super) struct Place {
    pub x: i32,
    pub y: i32,
    pub size: i32,
}

/// Directions of which every second one runs along ranks and files.
const STRAIGHT: Directions = [true, false, true, false, true, false, true, false];

/// Steps and captures of common pawns.
const AHEAD: Directions = [true, true, false, false, false, false, false, true];

impl Body {
    pub fn of(variant: &Variant, unit: Unit, reach: &Reach) -> Self {
        let lines = reach.lines();
        let any = |of: fn(usize) -> bool| (0..8).any(|direction| lines[direction] && of(direction));
        let (straight, diagonal) = (any(|direction| STRAIGHT[direction]), any(|direction| !STRAIGHT[direction]));
        match (straight, diagonal) {
            _ if variant.unit(unit).royal => Self::King,
            _ if pawns(variant).contains(&unit) => Self::Pawn,
            (true, true) => Self::Coronet,
            (true, false) => Self::Tower,
            (false, true) => Self::Mitre,
            _ if reach.bent.is_some() || reach.hops_off_lines => Self::Banner,
            _ if reach.leaps.is_empty() => Self::Shield,
            _ if reach.leaps.iter().all(|&leap| is_knights(leap)) => Self::Horse,
            _ => Self::Star,
        }
    }

    /// Path data. Parts may overlap: the line around them is drawn below, the fill over it.
    pub fn outline(self, reach: &Reach, facing: Facing) -> String {
        let fixed = match self {
            Self::King => {
                "M22 91L25 77C4 60 8 35 30 34C38 34 43 37 45 41L45 26L35 26L35 16L45 16L45 7L55 7L55 16L65 16L65 26L55 26L55 41\
                 C57 37 62 34 70 34C92 35 96 60 75 77L78 91Z"
            }
            Self::Pawn => "M25 90C25 64 33 55 42 50A17 17 0 1 1 58 50C67 55 75 64 75 90Z",
            Self::Coronet => {
                "M20 91L24 79L11 32L30 49L35 19L50 43L65 19L70 49L89 32L76 79L80 91ZM5 29a6 6 0 1 1 12 0a6 6 0 1 1 -12 0Z\
                 M29 15a6 6 0 1 1 12 0a6 6 0 1 1 -12 0ZM59 15a6 6 0 1 1 12 0a6 6 0 1 1 -12 0ZM83 29a6 6 0 1 1 12 0a6 6 0 1 1 -12 0Z"
            }
            Self::Tower => {
                "M19 91L19 82L26 75L26 39L19 32L19 12L34 12L34 21L43 21L43 12L57 12L57 21L66 21L66 12L81 12L81 32L74 39L74 75L81 82\
                 L81 91Z"
            }
            Self::Mitre => {
                "M21 91L21 82L31 77C10 62 18 36 50 9C82 36 90 62 69 77L79 82L79 91ZM44 9a6 6 0 1 1 12 0a6 6 0 1 1 -12 0Z"
            }
            Self::Banner => "M15 11L85 11L85 91L50 74L15 91Z",
            Self::Horse => {
                "M24 91C24 78 36 71 39 60C33 61 28 63 24 69L13 63C10 59 10 55 13 51L27 31C29 24 33 20 38 18L39 6L51 15\
                 C76 20 86 48 80 91Z"
            }
            Self::Shield => "M17 13L83 13L83 49C83 70 69 84 50 92C31 84 17 70 17 49Z",
            Self::Star => return star(&reach.leaps, facing),
        };
        fixed.into()
    }

    /// Lines inside the outline.
    pub const fn inner_lines(self) -> &'static str {
        match self {
            Self::Mitre => "M69 26L60 35",
            Self::Horse => "M35 36L36 36",
            _ => "",
        }
    }

    pub const fn letter(self) -> Place {
        match self {
            Self::King => Place { x: 50, y: 60, size: 42 },
            Self::Pawn => Place { x: 50, y: 70, size: 35 },
            Self::Coronet => Place { x: 50, y: 66, size: 39 },
            Self::Tower => Place { x: 50, y: 57, size: 42 },
            Self::Mitre => Place { x: 50, y: 59, size: 42 },
            Self::Banner => Place { x: 50, y: 43, size: 44 },
            Self::Horse => Place { x: 59, y: 59, size: 36 },
            Self::Star => Place { x: 50, y: 50, size: 41 },
            Self::Shield => Place { x: 50, y: 46, size: 44 },
        }
    }
}

fn is_knights((files, ranks): Vector) -> bool {
    matches!((files.abs(), ranks.abs()), (1, 2) | (2, 1))
}

/// A disc with a ray towards every leap, the longer the farther it goes.
fn star(leaps: &[Vector], facing: Facing) -> String {
    let mut path = String::from("M21 50a29 29 0 1 0 58 0a29 29 0 1 0 -58 0Z");
    for &leap in leaps {
        let (x, y) = facing.turn(leap);
        let length = length(x, y);
        let (x, y) = (x / length, y / length);
        let tip = 33.0 + 4.0 * f64::from(leap.0.abs().max(leap.1.abs()).min(3));
        let corners = [(24.0, 9.0), (tip, 0.0), (24.0, -9.0)];
        let mut command = 'M';
        for (along, aside) in corners {
            let (at_x, at_y) = (50.0 + along * x - aside * y, 50.0 + along * y + aside * x);
            let _ = write!(path, "{command}{} {}", number(at_x), number(at_y));
            command = 'L';
        }
        path.push('Z');
    }
    path
}

/// Exact on every machine, which the library's hypotenuse need not be.
fn length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

/// What of a unit's reach its body does not say: rays for steps and slides, points for leaps.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Compass {
    pub steps: Directions,
    pub slides: Directions,
    pub leaps: Vec<Vector>,
}

impl Compass {
    pub fn of(body: Body, reach: &Reach) -> Self {
        let lines = reach.lines();
        let whole = |of: fn(usize) -> bool| (0..8).all(|direction| !of(direction) || lines[direction]);
        let (all_straight, all_diagonal) =
            (whole(|direction| STRAIGHT[direction]), whole(|direction| !STRAIGHT[direction]));
        let said_slides: Directions = match body {
            Body::Coronet if all_straight && all_diagonal => [true; 8],
            Body::Tower if all_straight => [true; 8],
            Body::Mitre if all_diagonal => [true; 8],
            Body::Pawn => AHEAD,
            _ => [false; 8],
        };
        let said_steps: Directions = match body {
            Body::King if reach.steps == [true; 8] => [true; 8],
            Body::Pawn => AHEAD,
            _ => reach.slides,
        };
        let whole_horse = body == Body::Horse && reach.leaps.len() == 8;
        let leaps = if whole_horse || body == Body::Star { Vec::new() } else { reach.leaps.clone() };
        Self {
            steps: std::array::from_fn(|direction| reach.steps[direction] && !said_steps[direction]),
            slides: std::array::from_fn(|direction| reach.slides[direction] && !said_slides[direction]),
            leaps,
        }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Path data of the rays around a centre.
    pub fn rays(&self, (x, y): (i32, i32), facing: Facing) -> String {
        let mut path = String::new();
        for (direction, &vector) in DIRECTIONS.iter().enumerate() {
            let size = match (self.slides[direction], self.steps[direction]) {
                (true, _) => 13.0,
                (_, true) => 8.5,
                _ => continue,
            };
            let (right, down) = facing.turn(vector);
            let unit = size / length(right, down);
            let _ = write!(path, "M{x} {y}l{} {}", number(right * unit), number(down * unit));
        }
        path
    }

    /// The points of leaps around a centre.
    pub fn points(&self, (x, y): (i32, i32), facing: Facing) -> Vec<(f64, f64)> {
        let point = |&leap: &Vector| {
            let (right, down) = facing.turn(leap);
            let unit = if line_of(leap).is_some() { 8.0 } else { 10.0 } / length(right, down);
            (f64::from(x) + right * unit, f64::from(y) + down * unit)
        };
        self.leaps.iter().map(point).collect()
    }
}

/// Squares of a bent way that are shown: enough to see it turn, and turn again.
const BENT_SQUARES: usize = 3;

/// Path data of an example of a bent way in a sign around a centre.
pub(super) fn bent_line(squares: &[Vector], (x, y): (i32, i32), facing: Facing) -> String {
    let shown = std::iter::once(&(0, 0)).chain(squares.iter().take(BENT_SQUARES));
    let turned: Vec<(f64, f64)> = shown.map(|&square| facing.turn(square)).collect();
    let extent = |of: fn(&(f64, f64)) -> f64| {
        let (least, most) =
            turned.iter().map(of).fold((0.0, 0.0), |(least, most): (f64, f64), at| (least.min(at), most.max(at)));
        (f64::midpoint(least, most), most - least)
    };
    let ((middle_x, width), (middle_y, height)) = (extent(|at| at.0), extent(|at| at.1));
    let unit = 20.0 / width.max(height).max(1.0);
    let mut path = String::new();
    for (index, (right, down)) in turned.into_iter().enumerate() {
        let (at_x, at_y) = (f64::from(x) + (right - middle_x) * unit, f64::from(y) + (down - middle_y) * unit);
        let _ = write!(path, "{}{} {}", if index == 0 { 'M' } else { 'L' }, number(at_x), number(at_y));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(game: &str, unit: &str) -> Body {
        let variant = Variant::load(game).unwrap();
        let unit = variant.unit_named(unit).unwrap();
        Body::of(&variant, unit, &Reach::of(&variant, unit))
    }

    #[test]
    fn families_follow_from_the_moves() {
        let bodies = [
            ("herculean", "king", Body::King),
            ("knightmate", "royal_knight", Body::King),
            ("herculean", "ninja_pawn", Body::Pawn),
            ("berolina", "pawn", Body::Pawn),
            ("herculean", "queen", Body::Coronet),
            ("grasshopper", "grasshopper", Body::Coronet),
            ("herculean", "flying_chariot", Body::Tower),
            ("capablanca", "chancellor", Body::Tower),
            ("janus", "janus", Body::Mitre),
            ("hop10", "vao", Body::Mitre),
            ("sorcerer-reinforcements", "stealth_gryphon", Body::Banner),
            ("nightrider", "nightrider", Body::Banner),
            ("herculean", "ferz_knight", Body::Horse),
            ("hop10", "horse", Body::Horse),
            ("sorcerer", "sorcerer", Body::Star),
            ("shako", "elephant", Body::Star),
            ("knightmate", "commoner", Body::Shield),
            ("makruk", "khon", Body::Shield),
        ];
        for (game, unit, expected) in bodies {
            assert_eq!(body(game, unit), expected, "{unit} of {game}");
        }
    }

    #[test]
    fn signs_tell_what_the_body_does_not() {
        let compass = |game: &str, unit: &str| {
            let variant = Variant::load(game).unwrap();
            let unit = variant.unit_named(unit).unwrap();
            let reach = Reach::of(&variant, unit);
            Compass::of(Body::of(&variant, unit, &reach), &reach)
        };
        for (game, unit) in
            [("chess", "king"), ("chess", "queen"), ("chess", "rook"), ("chess", "knight"), ("chess", "pawn")]
        {
            assert!(compass(game, unit).is_empty(), "{unit}");
        }
        let general = compass("spartan", "general");
        assert_eq!((general.steps, general.leaps.len()), ([false, true, false, true, false, true, false, true], 0));
        assert_eq!(compass("capablanca", "chancellor").leaps.len(), 8);
        let ninja = compass("herculean", "ninja_pawn").steps;
        assert_eq!(ninja, [false, false, true, false, false, false, true, false]);
    }
}
