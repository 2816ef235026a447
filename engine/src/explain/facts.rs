//! The facts a designer wants: how full the board is, how densely the men attack, how far they see, who protects whom, how fast they
//! get across. All of it follows from the rules; nothing is measured by play.

use super::words::{name, rank_number, side};
use crate::geometry::{Square, SquareSet};
use crate::position::{Piece, Position};
use crate::variant::rules::{Colour, Unit};
use crate::variant::{Variant, Way, mobility};
use std::sync::Arc;

/// Probability of an empty square that Betza takes for a crowded board.
pub const BETZA_EMPTY: f64 = 0.7;

/// Facts about a game.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Facts {
    /// Squares of the board.
    pub squares: usize,
    /// Men of both sides in the array.
    pub men: usize,
    /// Unit types in the array.
    pub types: usize,
    /// Unit types of the whole game, those in hand and those only promoted to included.
    pub types_in_all: usize,
    /// Empty squares in the array.
    pub empty_squares: usize,
    /// Their share of all squares: the probability for [`UnitMobility::array`].
    pub empty_share: f64,
    /// Names of the units that count as pawns: see [`pawns`].
    pub pawns: Vec<String>,
    /// White's attack density, then Black's.
    pub attack_density: [AttackDensity; 2],
    /// Mobility of each unit.
    pub mobility: Vec<UnitMobility>,
    /// Men of the array that only the king protects, and those that nobody does.
    pub protection: Protection,
    /// How far the units get in one move and in two.
    pub reach: Vec<Reach>,
}

/// How densely the men of a side attack the squares beside them.
///
/// The measure is the one of Opulent Lemurian Shatranj's inventor: for each man of the side that is no pawn the adjacent squares it
/// attacks are counted (0 to 8), as it would attack them on an empty board and without minding the edges; their sum is divided by
/// the number of those men. Of a unit whose attacks depend on where it stands the best square counts. Orthodox chess: King and Queen
/// 8 each, two Rooks and two Bishops 4 each, Knights 0, so 32 / 8 = 4.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct AttackDensity {
    /// `White` or `Black`.
    pub side: &'static str,
    /// The side's men that are no pawns, the king among them.
    pub men: usize,
    /// Adjacent squares attacked by them, summed over the men.
    pub adjacent_attacks: usize,
    /// Attacks a man; `None` if the side has pawns only.
    pub density: Option<f64>,
}

/// Mean number of targets of a White unit over all squares of the board.
#[derive(Clone, Debug, serde::Serialize)]
pub struct UnitMobility {
    /// The unit.
    pub unit: String,
    /// On the empty board.
    pub empty_board: Targets,
    /// On a board as crowded as the array: each other square empty with probability [`Facts::empty_share`].
    pub array: Targets,
    /// With Betza's probability, [`BETZA_EMPTY`].
    pub betza: Targets,
}

/// Expected numbers of targets.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Targets {
    /// Squares on which it could take.
    pub captures: f64,
    /// Squares to which it could move without taking.
    pub moves: f64,
    /// The mean of both.
    pub mean: f64,
}

/// Who stands weakly in the array. A man is protected by an own man that attacks its square: that could recapture there at once,
/// were the man taken (whether the king then may is not asked). Kings need no protection and are left out.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Protection {
    /// Men that the king alone protects.
    pub by_king_only: Vec<Man>,
    /// Men that nobody protects.
    pub by_nobody: Vec<Man>,
}

/// A man on its square.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Man {
    /// `White` or `Black`.
    pub side: &'static str,
    /// The unit.
    pub unit: String,
    /// The square, as `g2`.
    pub square: String,
}

/// The farthest ranks that a side's units of a type reach from one rank of the array. Black is left out where its army is White's.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Reach {
    /// `White` or `Black`.
    pub side: &'static str,
    /// The unit.
    pub unit: String,
    /// The rank it starts from.
    pub from_rank: u16,
    /// Alone on the board.
    pub alone: Farthest,
    /// In the array, with nobody else moving; captures count, check does not.
    pub in_array: Farthest,
}

/// Farthest ranks, by the game's own numbers. A move that must promote is the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Farthest {
    /// After one move at most.
    pub one_move: u16,
    /// After two moves at most.
    pub two_moves: u16,
}

impl Facts {
    /// Works out all facts.
    pub(super) fn of(variant: &Arc<Variant>) -> Self {
        let rules = variant.rules();
        let squares = variant.topology().squares().len() as usize;
        let empty_squares = squares - rules.array.len();
        let empty_share = empty_squares as f64 / squares as f64;
        let in_array = |unit: &Unit| rules.array.iter().any(|man| man.1 == *unit);
        Self {
            squares,
            men: rules.array.len(),
            types: variant.units().filter(in_array).count(),
            types_in_all: variant.units().len(),
            empty_squares,
            empty_share,
            pawns: pawns(variant).into_iter().map(|unit| name(variant, unit)).collect(),
            attack_density: Colour::BOTH.map(|colour| attack_density(variant, colour)),
            mobility: variant.units().map(|unit| unit_mobility(variant, unit, empty_share)).collect(),
            protection: protection(&Position::start(variant)),
            reach: reach(variant),
        }
    }
}

/// The units that count as pawns, which follows from the rules and from no name: those whose moves set the move count back, or where
/// none does, those that promote.
pub fn pawns(variant: &Variant) -> Vec<Unit> {
    let promotes = |unit: &Unit| variant.rules().promotion.iter().any(|rule| rule.who.contains(unit));
    let resets = |unit: &Unit| variant.unit(*unit).resets_move_count;
    let none_resets = !variant.units().any(|unit| resets(&unit));
    let is_pawn = |unit: &Unit| !variant.unit(*unit).royal && (resets(unit) || none_resets && promotes(unit));
    variant.units().filter(is_pawn).collect()
}

fn attack_density(variant: &Variant, colour: Colour) -> AttackDensity {
    let pawns = pawns(variant);
    let (mut men, mut adjacent_attacks) = (0, 0);
    for unit in variant.units().filter(|unit| !pawns.contains(unit)) {
        let count = usize::from(variant.array_count(colour, unit));
        men += count;
        if count > 0 {
            adjacent_attacks += count * adjacent_attacks_of(variant, unit, colour);
        }
    }
    let density = (men > 0).then(|| adjacent_attacks as f64 / men as f64);
    AttackDensity { side: side(colour), men, adjacent_attacks, density }
}

/// Adjacent squares that a unit attacks on the empty board, from where it attacks most of them.
fn adjacent_attacks_of(variant: &Variant, unit: Unit, colour: Colour) -> usize {
    let squares = variant.topology().squares().iter();
    let from = |square: Square| {
        let attacks = variant.ways(unit, colour, square, |_| true).into_iter();
        let attacks =
            attacks.filter(|way| way.captures && way.is_open(SquareSet::EMPTY) && is_beside(square, way.target));
        attacks.map(|way| way.target).collect::<SquareSet>().len() as usize
    };
    squares.map(from).max().unwrap_or(0)
}

fn is_beside(a: Square, b: Square) -> bool {
    a.file().abs_diff(b.file()).max(a.row().abs_diff(b.row())) == 1
}

fn unit_mobility(variant: &Variant, unit: Unit, empty_share: f64) -> UnitMobility {
    let mean = |empty: f64| Targets::from(variant.mean_mobility(unit, empty));
    UnitMobility {
        unit: name(variant, unit),
        empty_board: mean(1.0),
        array: mean(empty_share),
        betza: mean(BETZA_EMPTY),
    }
}

impl From<mobility::Mobility> for Targets {
    fn from(mobility: mobility::Mobility) -> Self {
        Self { captures: mobility.captures, moves: mobility.moves, mean: mobility.mean() }
    }
}

fn protection(start: &Position) -> Protection {
    let variant = start.variant();
    let mut protection = Protection { by_king_only: Vec::new(), by_nobody: Vec::new() };
    for &(square, unit, colour) in variant.rules().array.iter().filter(|man| !variant.unit(man.1).royal) {
        let (mut kings, mut others) = (0, 0);
        let count = |_, piece: Piece| *if variant.unit(piece.unit()).royal { &mut kings } else { &mut others } += 1;
        start.attackers_if(square, colour, |square| start.piece_at(square), count);
        let man = || Man { side: side(colour), unit: name(variant, unit), square: variant.topology().name(square) };
        match (kings, others) {
            (0, 0) => protection.by_nobody.push(man()),
            (_, 0) => protection.by_king_only.push(man()),
            _ => {}
        }
    }
    protection
}

fn reach(variant: &Variant) -> Vec<Reach> {
    let array = &variant.rules().array;
    let mirrored = |&(square, unit, colour): &(Square, Unit, Colour)| {
        array.contains(&(variant.topology().flip(square), unit, colour.opponent()))
    };
    let sides = if array.iter().all(mirrored) { &Colour::BOTH[..1] } else { &Colour::BOTH };
    let of_side = |&colour: &Colour| variant.units().flat_map(move |unit| reach_of(variant, unit, colour));
    sides.iter().flat_map(of_side).collect()
}

/// One entry for each rank on which the array has the side's units of this type.
fn reach_of(variant: &Variant, unit: Unit, colour: Colour) -> Vec<Reach> {
    let array = &variant.rules().array;
    let squares = |wanted: &dyn Fn(Unit, Colour) -> bool| -> SquareSet {
        array.iter().filter(|man| wanted(man.1, man.2)).map(|man| man.0).collect()
    };
    let may_be_taken = |unit: Unit| !variant.unit(unit).royal && !variant.unit(unit).untakeable;
    let homes = squares(&|known, owner| known == unit && owner == colour);
    let alone = Surroundings { variant, unit, colour, men: SquareSet::EMPTY, takeable: SquareSet::EMPTY };
    let in_array = Surroundings {
        men: squares(&|_, _| true),
        takeable: squares(&|known, owner| owner != colour && may_be_taken(known)),
        ..alone
    };
    let mut rows: Vec<u8> = homes.iter().map(Square::row).collect();
    rows.dedup();
    rows.into_iter()
        .map(|row| {
            let from: Vec<Square> = homes.iter().filter(|square| square.row() == row).collect();
            Reach {
                side: side(colour),
                unit: name(variant, unit),
                from_rank: rank_number(variant.topology(), from[0]),
                alone: alone.farthest(&from),
                in_array: in_array.farthest(&from),
            }
        })
        .collect()
}

/// A board on which one unit moves and nobody else.
#[derive(Clone, Copy)]
struct Surroundings<'a> {
    variant: &'a Variant,
    unit: Unit,
    colour: Colour,
    /// Where men stand, the mover's own square included.
    men: SquareSet,
    /// The men it may take.
    takeable: SquareSet,
}

impl Surroundings<'_> {
    fn farthest(self, from: &[Square]) -> Farthest {
        let mut one = from.to_vec();
        let mut two = Vec::new();
        for &start in from {
            for first in self.targets(start) {
                one.push(first);
                if !self.must_promote(first) {
                    two.extend(self.after(start, first).targets(first));
                }
            }
        }
        two.extend_from_slice(&one);
        Farthest { one_move: self.farthest_rank(&one), two_moves: self.farthest_rank(&two) }
    }

    /// The rank farthest ahead, as the side sees it.
    fn farthest_rank(self, squares: &[Square]) -> u16 {
        let ranks = squares.iter().map(|&square| rank_number(self.variant.topology(), square));
        let farthest = if self.colour == Colour::White { ranks.max() } else { ranks.min() };
        farthest.unwrap_or_default()
    }

    fn targets(self, from: Square) -> impl Iterator<Item = Square> {
        let men = self.men - SquareSet::only(from);
        let may_end = move |way: &Way| match men.contains(way.target) {
            false => way.moves,
            true => way.captures && self.takeable.contains(way.target),
        };
        let ways = self.variant.ways(self.unit, self.colour, from, |_| true).into_iter();
        ways.filter(move |way| way.is_open(men) && may_end(way)).map(|way| way.target)
    }

    fn after(self, from: Square, to: Square) -> Self {
        let moved = SquareSet::only(from) | SquareSet::only(to);
        Self { men: self.men - moved, takeable: self.takeable - moved, ..self }
    }

    fn must_promote(self, square: Square) -> bool {
        self.variant.promotion(self.unit, self.colour, square).is_some_and(|(_, must)| must)
    }
}
