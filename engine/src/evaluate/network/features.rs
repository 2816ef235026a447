//! What a network sees of a position: numbered inputs, compiled from a variant and a shape.
//!
//! A perspective is a side looking at the board. Its inputs are (own or enemy unit type, square), squares counted as that
//! side sees them, and (own or enemy unit type, how many are held): of three men in hand the first three inputs are active.
//! All of them exist once a region of the side's own king. Inputs that no position can have (a pawn on the last rank) are
//! not left out: they cost room in the file, nothing else.
//!
//! ```text
//! input = region · slots + slot
//! slot  = (enemy? · units + unit) · squares + square                      a man on the board
//!       = 2 · units · squares + enemy? · hand + (offset of unit) + held   a man in hand
//! ```
//!
//! Nothing here knows weights; [`super::Network`] adds them up, a trainer looks them up.

use super::architecture::{Architecture, ArchitectureError, MOST_WEIGHTS, Mirroring};
use crate::geometry::{GRID_SQUARES, Square};
use crate::position::{Piece, Position};
use crate::variant::Variant;
use crate::variant::rules::{Colour, MAX_UNITS, Unit};
use crate::variant::symmetry::{castling_difference, difference_beside_castling};
use std::sync::Arc;

/// The inputs of a shape for a variant.
#[derive(Debug)]
pub struct Features {
    variant: Arc<Variant>,
    architecture: Architecture,
    squares: usize,
    /// Inputs of one region.
    slots: usize,
    /// Where the inputs of each unit type in hand begin, counted from the first of its side.
    hand_offsets: [u32; MAX_UNITS],
    /// Inputs of one side's hand.
    hand: usize,
    /// First slot of each man, by who looks.
    first_slots: [[u32; 2 * MAX_UNITS]; 2],
    /// Numbers of squares, by who looks and whether it sees the board mirrored.
    numbers: Box<[[[u32; GRID_SQUARES]; 2]; 2]>,
    /// By who looks and where its king stands.
    views: Box<[[View; GRID_SQUARES]; 2]>,
    most_men: usize,
}

/// How a side sees the board, by where its king stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// First input of the king's region.
    first: u32,
    mirrored: bool,
}

/// What an input stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// Region of the own king.
    pub region: usize,
    /// A man of the opponent.
    pub enemy: bool,
    /// Its type.
    pub unit: Unit,
    /// Where it stands, as White would see it unmirrored; `None`: in hand.
    pub square: Option<Square>,
    /// In hand: how many are held besides.
    pub held_before: u8,
}

impl Features {
    /// Compiles a shape for a variant.
    ///
    /// # Errors
    /// The shape is none, or does not fit the variant.
    pub fn new(variant: &Arc<Variant>, architecture: Architecture) -> Result<Self, ArchitectureError> {
        check(variant, &architecture)?;
        let units = variant.units().len();
        let squares = variant.topology().squares().len() as usize;
        let (hand_offsets, hand) = hand_offsets(variant);
        let slots = 2 * units * squares + 2 * hand;
        let got = architecture.regions() * slots * architecture.width;
        if got > MOST_WEIGHTS {
            return Err(ArchitectureError::TooLarge { variant: variant.name().into(), most: MOST_WEIGHTS, got });
        }
        Ok(Self {
            squares,
            slots,
            hand_offsets,
            hand,
            first_slots: first_slots(units, squares),
            numbers: numbers(variant),
            views: views(variant, &architecture, slots),
            most_men: most_men(variant),
            variant: Arc::clone(variant),
            architecture,
        })
    }

    /// The game.
    pub const fn variant(&self) -> &Arc<Variant> {
        &self.variant
    }

    /// The shape.
    pub const fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// Number of inputs of a perspective.
    pub fn inputs(&self) -> usize {
        self.architecture.regions() * self.slots
    }

    /// Number of inputs that each region has: input i of region 0 and input i + k · slots of region k stand for the same
    /// man (for sharing what regions have in common).
    pub const fn slots(&self) -> usize {
        self.slots
    }

    /// Most inputs of a perspective that are active at once in a game from the array: all men, on the board or in hand.
    pub const fn most_active(&self) -> usize {
        self.most_men
    }

    /// The output layer for a position, by its men on the board: as many numbers of men for each, from one man to all.
    pub fn output_bucket(&self, position: &Position) -> usize {
        self.output_bucket_of(position.occupied().len() as usize)
    }

    pub(super) fn output_bucket_of(&self, men: usize) -> usize {
        let buckets = self.architecture.output_buckets;
        (men.saturating_sub(1) * buckets / self.most_men).min(buckets - 1)
    }

    /// The active inputs of a position as `perspective` sees it, into `inputs`, which is emptied first. Their order has no
    /// meaning; none comes twice.
    pub fn active(&self, position: &Position, perspective: Colour, inputs: &mut Vec<u32>) {
        let view = self.view(perspective, position.king(perspective));
        inputs.clear();
        let men = position.occupied().iter();
        inputs.extend(men.map(|square| self.on_square(perspective, view, position.piece_at(square), square)));
        if self.hand == 0 {
            return;
        }
        for (unit, colour) in self.variant.units().flat_map(|unit| Colour::BOTH.map(|colour| (unit, colour))) {
            let held = 0..position.in_hand(unit, colour);
            inputs.extend(held.map(|before| self.in_hand(perspective, view, Piece::new(unit, colour), before)));
        }
    }

    /// How `perspective` sees the board while its king stands on `king`.
    #[inline]
    pub fn view(&self, perspective: Colour, king: Square) -> View {
        self.views[perspective.index()][king.index()]
    }

    /// The input of a man on a square.
    #[inline]
    pub fn on_square(&self, perspective: Colour, view: View, piece: Piece, square: Square) -> u32 {
        let number = self.numbers[perspective.index()][usize::from(view.mirrored)][square.index()];
        view.first + self.first_slots[perspective.index()][piece.index()] + number
    }

    /// The input of a man in hand of whose type its side holds `held_before` besides.
    #[inline]
    pub fn in_hand(&self, perspective: Colour, view: View, piece: Piece, held_before: u8) -> u32 {
        let enemy = if piece.colour() == perspective { 0 } else { self.hand };
        let first = self.slots - 2 * self.hand + enemy;
        view.first + first as u32 + self.hand_offsets[piece.unit().index()] + u32::from(held_before)
    }

    /// What an input stands for; `None` if there is no such input.
    pub fn meaning(&self, input: usize) -> Option<Input> {
        let (region, slot) = (input / self.slots, input % self.slots);
        let on_board = self.slots - 2 * self.hand;
        let here = |enemy, unit, square, held_before| Some(Input { region, enemy, unit, square, held_before });
        if region >= self.architecture.regions() {
            return None;
        }
        if slot < on_board {
            let (man, square) =
                (slot / self.squares, self.variant.topology().squares().iter().nth(slot % self.squares));
            let units = self.variant.units().len();
            return here(man >= units, Unit((man % units) as u8), square, 0);
        }
        let (enemy, held) = ((slot - on_board) / self.hand, ((slot - on_board) % self.hand) as u32);
        let holds = |unit: &Unit| {
            let first = self.hand_offsets[unit.index()];
            (first..first + u32::from(self.variant.hand_size(*unit))).contains(&held)
        };
        let unit = self.variant.units().find(holds)?;
        here(enemy == 1, unit, None, (held - self.hand_offsets[unit.index()]) as u8)
    }

    /// Whether an input's being active depends on where its side's king stands.
    pub(super) fn looks_at_kings(&self) -> bool {
        self.architecture.looks_at_kings()
    }

    /// Number of squares of the board.
    pub(super) const fn squares(&self) -> usize {
        self.squares
    }
}

/// The same rules and the same shape make the same inputs.
impl PartialEq for Features {
    fn eq(&self, other: &Self) -> bool {
        self.variant.rules_hash() == other.variant.rules_hash() && self.architecture == other.architecture
    }
}

fn check(variant: &Variant, architecture: &Architecture) -> Result<(), ArchitectureError> {
    architecture.check()?;
    let topology = variant.topology();
    architecture.check_bands(topology.height(), files_of_kings(variant, architecture))?;
    if variant.has_several_royals() && architecture.looks_at_kings() {
        return Err(ArchitectureError::SeveralRoyals { variant: variant.name().into() });
    }
    let difference = match architecture.mirroring {
        Mirroring::Off => None,
        Mirroring::IgnoringCastling => difference_beside_castling(variant),
        Mirroring::Exact => castling_difference(variant).or_else(|| difference_beside_castling(variant)),
    };
    let lopsided = |difference| ArchitectureError::Lopsided { variant: variant.name().into(), difference };
    difference.map(lopsided).map_or(Ok(()), Err)
}

/// Files on which a side sees its king.
fn files_of_kings(variant: &Variant, architecture: &Architecture) -> u8 {
    let width = variant.topology().width();
    if architecture.mirroring == Mirroring::Off { width } else { width.div_ceil(2) }
}

fn hand_offsets(variant: &Variant) -> ([u32; MAX_UNITS], usize) {
    let (mut offsets, mut hand) = ([0; MAX_UNITS], 0);
    for unit in variant.units() {
        offsets[unit.index()] = hand;
        hand += u32::from(variant.hand_size(unit));
    }
    (offsets, hand as usize)
}

fn first_slots(units: usize, squares: usize) -> [[u32; 2 * MAX_UNITS]; 2] {
    Colour::BOTH.map(|perspective| {
        let mut slots = [0; 2 * MAX_UNITS];
        for (unit, colour) in (0..units).flat_map(|unit| Colour::BOTH.map(|colour| (unit, colour))) {
            let enemy = usize::from(colour != perspective);
            slots[Piece::new(Unit(unit as u8), colour).index()] = ((enemy * units + unit) * squares) as u32;
        }
        slots
    })
}

fn numbers(variant: &Variant) -> Box<[[[u32; GRID_SQUARES]; 2]; 2]> {
    let topology = variant.topology();
    let mut by_square = [0; GRID_SQUARES];
    topology.squares().iter().zip(0..).for_each(|(square, number)| by_square[square.index()] = number);
    let mut numbers = Box::new([[[0; GRID_SQUARES]; 2]; 2]);
    for square in topology.squares() {
        let seen = [square, topology.flip(square)];
        for (perspective, seen) in seen.into_iter().enumerate() {
            numbers[perspective][0][square.index()] = by_square[seen.index()];
            numbers[perspective][1][square.index()] = by_square[topology.mirror(seen).index()];
        }
    }
    numbers
}

fn views(variant: &Variant, architecture: &Architecture, slots: usize) -> Box<[[View; GRID_SQUARES]; 2]> {
    let topology = variant.topology();
    let files = files_of_kings(variant, architecture);
    let mut views = Box::new([[View::default(); GRID_SQUARES]; 2]);
    for king in topology.squares() {
        for (perspective, seen) in [king, topology.flip(king)].into_iter().enumerate() {
            let is_mirrored = seen.file() >= files;
            let seen = if is_mirrored { topology.mirror(seen) } else { seen };
            let first = (architecture.region(seen.row(), seen.file()) * slots) as u32;
            views[perspective][king.index()] = View { first, mirrored: is_mirrored };
        }
    }
    views
}

/// Men of both sides at the start, on the board and in hand. No move makes them more.
fn most_men(variant: &Variant) -> usize {
    let in_hand: usize = variant.units().map(|unit| 2 * usize::from(variant.hand_size(unit))).sum();
    variant.rules().array.len() + in_hand
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(name: &str, architecture: Architecture) -> Result<Features, ArchitectureError> {
        Features::new(&Arc::new(Variant::load(name).unwrap()), architecture)
    }

    fn active(features: &Features, position: &Position, perspective: Colour) -> Vec<Input> {
        let mut inputs = Vec::new();
        features.active(position, perspective, &mut inputs);
        inputs.into_iter().map(|input| features.meaning(input as usize).unwrap()).collect()
    }

    #[test]
    fn every_input_means_one_thing() {
        let shape = Architecture { king_ranks: vec![1, 4], king_files: vec![5], ..Architecture::plain(64) };
        for name in ["chess", "sorcerer-reinforcements"] {
            let features = features(name, shape.clone()).unwrap();
            let mut seen = std::collections::HashSet::new();
            for input in 0..features.inputs() {
                let meaning = features.meaning(input).unwrap();
                assert!(seen.insert(format!("{meaning:?}")), "{name} {input}: {meaning:?}");
            }
            assert_eq!(features.meaning(features.inputs()), None);
        }
    }

    #[test]
    fn both_sides_see_the_array_alike() {
        let features = features("chess", Architecture::plain(64)).unwrap();
        assert_eq!((features.inputs(), features.most_active()), (2 * 6 * 64, 32));
        let start = Position::start(features.variant());
        let [white, black] = Colour::BOTH.map(|side| {
            let mut inputs = Vec::new();
            features.active(&start, side, &mut inputs);
            inputs.sort_unstable();
            inputs
        });
        assert_eq!(white, black);
        let own_king = Input {
            region: 0,
            enemy: false,
            unit: features.variant().royal(),
            square: features.variant().topology().parse("e1").ok(),
            held_before: 0,
        };
        assert!(active(&features, &start, Colour::Black).contains(&own_king));
    }

    #[test]
    fn men_in_hand_are_counted_one_input_each() {
        let features = features("sorcerer-reinforcements", Architecture::plain(64)).unwrap();
        let variant = Arc::clone(features.variant());
        let held: usize = variant.units().map(|unit| usize::from(variant.hand_size(unit))).sum();
        assert!(held > 0);
        let start = Position::start(&variant);
        for side in Colour::BOTH {
            let inputs = active(&features, &start, side);
            for enemy in [false, true] {
                let in_hand = inputs.iter().filter(|input| input.square.is_none() && input.enemy == enemy);
                assert_eq!(in_hand.count(), held);
            }
            assert_eq!(inputs.len(), features.most_active());
        }
    }

    #[test]
    fn a_king_on_the_right_sees_the_board_mirrored() {
        let shape = Architecture { mirroring: Mirroring::IgnoringCastling, ..Architecture::plain(64) };
        let features = features("chess", shape).unwrap();
        let read = |fen| {
            let position = Position::from_fen(features.variant(), fen).unwrap();
            let mut inputs = Vec::new();
            features.active(&position, Colour::White, &mut inputs);
            inputs.sort_unstable();
            inputs
        };
        let left = read("4k3/8/8/8/8/1N6/8/2K5 w - - 0 1");
        assert_eq!(left, read("3k4/8/8/8/8/6N1/8/5K2 w - - 0 1"));
        assert_ne!(left, read("4k3/8/8/8/8/6N1/8/2K5 w - - 0 1"));
    }

    #[test]
    fn shapes_that_do_not_fit_a_game_are_refused() {
        let mirrored = |mirroring| Architecture { mirroring, ..Architecture::plain(64) };
        let fault = |name, shape| features(name, shape).map(|_| ()).unwrap_err();
        assert!(matches!(fault("chess", mirrored(Mirroring::Exact)), ArchitectureError::Lopsided { .. }));
        assert!(matches!(fault("legan", mirrored(Mirroring::IgnoringCastling)), ArchitectureError::Lopsided { .. }));
        assert!(features("shatranj", mirrored(Mirroring::Exact)).is_ok());
        let ranks = Architecture { king_ranks: vec![8], ..Architecture::plain(64) };
        let expected = ArchitectureError::Bands { key: "king_ranks", most: 7, got: vec![8] };
        assert_eq!(fault("chess", ranks), expected);
        let files = Architecture { king_files: vec![4], ..mirrored(Mirroring::IgnoringCastling) };
        assert_eq!(fault("chess", files), ArchitectureError::Bands { key: "king_files", most: 3, got: vec![4] });
        let several = Architecture { king_ranks: vec![1], ..Architecture::plain(64) };
        assert!(matches!(fault("spartan", several), ArchitectureError::SeveralRoyals { .. }));
    }
}
