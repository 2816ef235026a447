//! A variant: the rules of one game, read from a file and compiled into tables. Immutable once made, shared by `Arc`.
//!
//! Holds no position and plays no move. The way in is [`Variant::load`] or [`Variant::compile`]; positions of the game
//! are in [`crate::position`].

pub mod betza;
mod castling;
pub mod check;
mod compile_error;
mod contradictions;
pub mod file;
pub mod letters;
pub mod library;
pub mod mobility;
pub(crate) mod paths;
pub mod pattern;
pub mod rules;
pub(crate) mod symmetry;
pub mod tables;
mod ways;

use crate::geometry::{GRID_SQUARES, Square, SquareSet, Topology};
pub use castling::{CastlingDestination, CastlingWing};
pub use compile_error::{CompileError, CompileErrors};
pub use library::LoadError;
use paths::{Path, View};
use rules::{CheckRule, Colour, MAX_UNITS, PromotionChoice, Rules, Unit, UnitRules};
use sha2::{Digest, Sha256};
use std::sync::OnceLock;
pub use symmetry::Images;
use tables::{AttackStep, MoveStep, Programs};
pub use ways::{OPEN_CENTRE, Way};

/// Paths one unit may have from one square; more is a file asking for a combinatorial explosion.
const MAX_PATHS: usize = 1_500;

/// Steps the attack table of one square may take, so that skips fit sixteen bits.
const MAX_STEPS: usize = u16::MAX as usize;

/// The rules of one game with everything derived from them.
#[derive(Debug)]
pub struct Variant {
    rules: Rules,
    rules_hash: String,
    royal: Unit,
    royals: [u8; 2],
    takeable: u32,
    moves: Vec<Programs<MoveStep>>,
    reaches_twice: [u32; 2],
    attacks: [Programs<AttackStep>; 2],
    attack_origins: [Vec<SquareSet>; 2],
    en_passant_takers: u32,
    passing_directions: Vec<(i8, i8)>,
    resets_are_final: bool,
    castling: Vec<CastlingWing>,
    castling_touch: Vec<u8>,
    drop_zone: [SquareSet; 2],
    promotion_zone: [[SquareSet; MAX_UNITS]; 2],
    array_count: [[u8; MAX_UNITS]; 2],
    hand_size: [u8; MAX_UNITS],
    images: OnceLock<Images>,
}

impl Variant {
    /// A variant by the name of a shipped file or by the path of a file.
    ///
    /// ```
    /// use fairyforge_engine::variant::Variant;
    /// let herculean = Variant::load("herculean")?;
    /// assert_eq!(herculean.topology().squares().len(), 144);
    /// # Ok::<(), fairyforge_engine::variant::LoadError>(())
    /// ```
    ///
    /// # Errors
    /// Nothing has that name, or its file has faults: all of them are told.
    pub fn load(name_or_path: &str) -> Result<Self, LoadError> {
        Ok(library::read(name_or_path)?.compile()?)
    }

    /// Names of the variants built into the program, in alphabetical order.
    pub fn shipped_names() -> impl ExactSizeIterator<Item = &'static str> {
        library::SHIPPED.iter().map(|(name, _)| *name)
    }

    /// Compiles rules into tables.
    ///
    /// # Errors
    /// The rules ask for more paths than tables can hold, or contradict themselves: all that is wrong is told.
    pub fn compile(rules: Rules) -> Result<Self, CompileErrors> {
        let royal = royal_unit(&rules)?;
        let paths = all_paths(&rules)?;
        let attacks = [tables::attack_programs(&paths[0]), tables::attack_programs(&paths[1])];
        check_sizes(&rules.topology, &attacks)?;
        let castling = castling::wings(&rules, royal);
        let variant = Self {
            rules_hash: rules_hash(&rules),
            royal,
            royals: Colour::BOTH.map(|colour| most_royals(&rules, royal, colour)),
            takeable: mask(&rules, |unit| !unit.untakeable),
            passing_directions: passing_directions(&rules, &paths),
            resets_are_final: resets_are_final(&rules, &paths),
            moves: paths.iter().flatten().map(|by_origin| tables::move_programs(by_origin)).collect(),
            reaches_twice: [units_reaching_twice(&paths[0]), units_reaching_twice(&paths[1])],
            attack_origins: [attack_origins(&paths[0]), attack_origins(&paths[1])],
            en_passant_takers: mask(&rules, |unit| unit.takes_en_passant),
            castling_touch: castling::touch(&castling),
            castling,
            attacks,
            drop_zone: drop_zones(&rules),
            promotion_zone: promotion_zones(&rules),
            array_count: array_count(&rules),
            hand_size: hand_size(&rules),
            images: OnceLock::new(),
            rules,
        };
        CompileErrors::none_of(contradictions::of(&variant, &paths))?;
        Ok(variant)
    }

    /// The rules as the file gave them.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The name used in commands and files.
    pub fn name(&self) -> &str {
        &self.rules.name
    }

    /// Shape of the board.
    pub const fn topology(&self) -> &Topology {
        &self.rules.topology
    }

    /// SHA-256 over the rules (not over names of game and author), in hexadecimal: files carry it, so that data of
    /// other rules are refused.
    pub fn rules_hash(&self) -> &str {
        &self.rules_hash
    }

    /// All unit types, in the alphabetical order of their names.
    pub fn units(&self) -> impl ExactSizeIterator<Item = Unit> + use<> {
        (0..self.rules.units.len() as u8).map(Unit)
    }

    /// The rules of one unit type.
    pub fn unit(&self, unit: Unit) -> &UnitRules {
        &self.rules.units[unit.index()]
    }

    /// The unit type with this name.
    pub fn unit_named(&self, name: &str) -> Option<Unit> {
        self.units().find(|&unit| self.unit(unit).name == name)
    }

    /// The unit type and colour that a letter stands for: capitals are White's.
    pub fn man_with_letter(&self, letter: char) -> Option<(Unit, Colour)> {
        let (letter, colour) = letters::read(letter)?;
        let unit = self.units().find(|&unit| self.unit(unit).letter == letter)?;
        Some((unit, colour))
    }

    /// The unit whose loss ends the game.
    #[inline]
    pub const fn royal(&self) -> Unit {
        self.royal
    }

    /// The most royal men that `colour` may have at once; it always has one.
    #[inline]
    pub const fn most_royals(&self, colour: Colour) -> u8 {
        self.royals[colour.index()]
    }

    /// Whether a side may have several royal men, so that "the king" is not one man.
    #[inline]
    pub const fn has_several_royals(&self) -> bool {
        self.royals[0] > 1 || self.royals[1] > 1
    }

    /// What check means for a side with several royal men.
    #[inline]
    pub const fn check_rule(&self) -> CheckRule {
        self.rules.end.check
    }

    /// Bit u: a unit of type u may be taken.
    #[inline]
    pub const fn takeable(&self) -> u32 {
        self.takeable
    }

    /// Whether Black's army is the image of White's, so that exchanging the colours changes nothing.
    pub fn armies_are_alike(&self) -> bool {
        let image =
            |&(square, unit, colour): &(Square, Unit, Colour)| (self.topology().flip(square), unit, colour.opponent());
        let array = &self.rules.array;
        array.iter().all(|man| array.contains(&image(man)))
    }

    /// Whether no position comes back once the move count has been set back. Not so where a man that sets it back can step
    /// aside and back again, as a Ninja Pawn.
    pub const fn resets_are_final(&self) -> bool {
        self.resets_are_final
    }

    /// Directions (files, rows; rows count from the mover's side) in which some unit that may be taken en passant goes
    /// several squares at once: straight ahead, and in some games diagonally.
    pub fn passing_directions(&self) -> &[(i8, i8)] {
        &self.passing_directions
    }

    /// How many units of each type a side has in the array.
    pub const fn array_count(&self, colour: Colour, unit: Unit) -> u8 {
        self.array_count[colour.index()][unit.index()]
    }

    /// How many units of each type a side holds at the start.
    pub const fn hand_size(&self, unit: Unit) -> u8 {
        self.hand_size[unit.index()]
    }

    /// The move table of a unit on a square.
    #[inline]
    pub fn move_steps(&self, unit: Unit, colour: Colour, square: Square) -> &[MoveStep] {
        self.moves[colour.index() * self.rules.units.len() + unit.index()].of(square)
    }

    /// The attack table: who of `by` could attack `square`.
    #[inline]
    pub fn attack_steps(&self, square: Square, by: Colour) -> &[AttackStep] {
        self.attacks[by.index()].of(square)
    }

    /// Whether the unit can reach one square along two paths that may both be open.
    #[inline]
    pub const fn reaches_twice(&self, unit: Unit, colour: Colour) -> bool {
        self.reaches_twice[colour.index()] >> unit.0 & 1 != 0
    }

    /// Squares from which a unit could attack `square` if nothing stood in the way (and whatever it hops over did).
    #[inline]
    pub fn attack_origins(&self, unit: Unit, by: Colour, square: Square) -> &SquareSet {
        &self.attack_origins[by.index()][unit.index() * GRID_SQUARES + square.index()]
    }

    /// Bit u: unit type u takes en passant.
    #[inline]
    pub const fn en_passant_takers(&self) -> u32 {
        self.en_passant_takers
    }

    /// All castling wings of both sides.
    pub fn castling(&self) -> &[CastlingWing] {
        &self.castling
    }

    /// Castling rights that end when something leaves or enters `square`.
    #[inline]
    pub fn castling_touch(&self, square: Square) -> u8 {
        self.castling_touch[square.index()]
    }

    /// Where `colour` may drop.
    #[inline]
    pub const fn drop_zone(&self, colour: Colour) -> SquareSet {
        self.drop_zone[colour.index()]
    }

    /// Where a unit promotes; empty for those that do not.
    #[inline]
    pub const fn promotion_zone(&self, unit: Unit, colour: Colour) -> &SquareSet {
        &self.promotion_zone[colour.index()][unit.index()]
    }

    /// What a unit that arrives on `square` may become, and whether it must. `None` where it does not promote.
    pub fn promotion(&self, unit: Unit, colour: Colour, square: Square) -> Option<(&[PromotionChoice], bool)> {
        let seen = if colour == Colour::Black { self.topology().flip(square) } else { square };
        self.rules
            .promotion
            .iter()
            .find(|promotion| promotion.who.contains(&unit) && promotion.zone.contains(seen))
            .map(|promotion| (promotion.to.as_slice(), promotion.must))
    }
}

fn royal_unit(rules: &Rules) -> Result<Unit, CompileError> {
    let royals: Vec<u8> = (0u8..).zip(&rules.units).filter(|(_, unit)| unit.royal).map(|(index, _)| index).collect();
    match (royals.as_slice(), rules.units.len()) {
        (&[royal], 1..=MAX_UNITS) => Ok(Unit(royal)),
        (royals, units) => Err(CompileError::Inconsistent(format!(
            "a game has one royal unit type and at most {MAX_UNITS} types, got {} royal of {units}",
            royals.len()
        ))),
    }
}

/// `[colour][unit][origin]` → paths.
fn all_paths(rules: &Rules) -> Result<contradictions::Paths, CompileErrors> {
    let mut errors = Vec::new();
    let paths = Colour::BOTH.map(|colour| {
        let units = (0u8..).zip(&rules.units);
        let paths = units.map(|(index, unit)| unit_paths(rules, Unit(index), unit, colour));
        paths.map(|paths| paths.map_err(|error| errors.push(error)).unwrap_or_default()).collect()
    });
    CompileErrors::none_of(errors).map(|()| paths)
}

/// Where the array has a unit of a colour; if it has none, the image of where the other side has it.
fn homes(rules: &Rules, unit: Unit, colour: Colour) -> SquareSet {
    let of = |colour| rules.array.iter().filter(move |man| man.1 == unit && man.2 == colour).map(|man| man.0);
    let own: SquareSet = of(colour).collect();
    if own.is_empty() { rules.topology.flip_set(of(colour.opponent()).collect()) } else { own }
}

fn unit_paths(rules: &Rules, unit: Unit, moves: &UnitRules, colour: Colour) -> Result<Vec<Vec<Path>>, CompileError> {
    let view = View { topology: &rules.topology, black: colour == Colour::Black, homes: homes(rules, unit, colour) };
    (0..=u8::MAX)
        .map(Square::from_index)
        .map(|origin| {
            if !rules.topology.has(origin) {
                return Ok(Vec::new());
            }
            paths::paths(&moves.patterns, origin, &view, MAX_PATHS).ok_or_else(|| CompileError::TooManyPaths {
                unit: moves.name.clone(),
                square: rules.topology.name(origin),
            })
        })
        .collect()
}

fn check_sizes(topology: &Topology, attacks: &[Programs<AttackStep>; 2]) -> Result<(), CompileError> {
    let too_long = |square: &Square| attacks.iter().any(|programs| programs.of(*square).len() > MAX_STEPS);
    match topology.squares().iter().find(too_long) {
        Some(square) => Err(CompileError::TooManyAttacks { square: topology.name(square) }),
        None => Ok(()),
    }
}

fn units_reaching_twice(paths: &[Vec<Vec<Path>>]) -> u32 {
    let twice = |paths: &Vec<Path>| {
        paths.iter().enumerate().any(|(i, a)| paths[..i].iter().any(|b| a.target == b.target && a.compatible(b)))
    };
    (0..).zip(paths).map(|(unit, by_origin)| u32::from(by_origin.iter().any(twice)) << unit).sum()
}

/// `[unit * GRID_SQUARES + target]` → squares from which some path captures on the target.
fn attack_origins(paths: &[Vec<Vec<Path>>]) -> Vec<SquareSet> {
    let mut origins = vec![SquareSet::EMPTY; paths.len() * GRID_SQUARES];
    for (unit, by_origin) in paths.iter().enumerate() {
        for (origin, paths) in (0u8..=u8::MAX).zip(by_origin) {
            for path in paths.iter().filter(|path| path.captures) {
                origins[unit * GRID_SQUARES + path.target.index()].insert(Square::from_index(origin));
            }
        }
    }
    origins
}

/// In the array, or by promotion.
fn most_royals(rules: &Rules, royal: Unit, colour: Colour) -> u8 {
    let array = rules.array.iter().filter(|man| man.1 == royal && man.2 == colour).count() as u8;
    let choices = rules.promotion.iter().flat_map(|promotion| &promotion.to).filter(|choice| choice.unit == royal);
    choices.map(|choice| choice.at_most.unwrap_or(u8::MAX)).fold(array, u8::max)
}

/// Black's ways count, too: on a board that is not alike from both sides, only one side may have room for a long step.
fn resets_are_final(rules: &Rules, paths: &contradictions::Paths) -> bool {
    let ahead = |colour: Colour, from: Square, to: Square| match colour {
        Colour::White => to.row() > from.row(),
        Colour::Black => to.row() < from.row(),
    };
    let goes_ahead = |colour: Colour, by_origin: &Vec<Vec<Path>>| {
        let origins = (0..=u8::MAX).map(Square::from_index).zip(by_origin);
        origins
            .flat_map(|(from, paths)| paths.iter().map(move |path| (from, path)))
            .all(|(from, path)| !path.moves || ahead(colour, from, path.target))
    };
    let resetting = |index: &usize| rules.units[*index].resets_move_count;
    Colour::BOTH
        .into_iter()
        .zip(paths)
        .all(|(colour, by_unit)| (0..by_unit.len()).filter(resetting).all(|index| goes_ahead(colour, &by_unit[index])))
}

fn passing_directions(rules: &Rules, paths: &contradictions::Paths) -> Vec<(i8, i8)> {
    let mut directions = Vec::new();
    for (by_unit, ahead) in paths.iter().zip([1, -1]) {
        for (_, by_origin) in rules.units.iter().zip(by_unit).filter(|(unit, _)| unit.taken_en_passant) {
            for (origin, paths) in (0..=u8::MAX).map(Square::from_index).zip(by_origin) {
                let targets = paths.iter().filter(|path| path.moves).map(|path| path.target);
                let seen = targets.filter_map(|target| passing_direction(origin, target));
                directions.extend(seen.map(|(files, rows)| (files, ahead * rows)).filter(|(_, rows)| *rows > 0));
            }
        }
    }
    directions.sort_unstable();
    directions.dedup();
    directions
}

/// The direction (files, rows of the board) of a move of two squares or more along a file or a diagonal.
pub(crate) fn passing_direction(from: Square, to: Square) -> Option<(i8, i8)> {
    let files = to.file() as i8 - from.file() as i8;
    let rows = to.row() as i8 - from.row() as i8;
    let in_line = files == 0 || files.abs() == rows.abs();
    (in_line && rows.abs() >= 2).then(|| (files.signum(), rows.signum()))
}

fn mask(rules: &Rules, holds: impl Fn(&UnitRules) -> bool) -> u32 {
    (0..).zip(&rules.units).map(|(bit, unit)| u32::from(holds(unit)) << bit).sum()
}

fn drop_zones(rules: &Rules) -> [SquareSet; 2] {
    let zone = rules.drops.as_ref().map(|drops| drops.zone).unwrap_or_default();
    [zone, rules.topology.flip_set(zone)]
}

fn promotion_zones(rules: &Rules) -> [[SquareSet; MAX_UNITS]; 2] {
    let mut white = [SquareSet::EMPTY; MAX_UNITS];
    for promotion in &rules.promotion {
        for unit in &promotion.who {
            white[unit.index()] |= promotion.zone;
        }
    }
    [white, white.map(|zone| rules.topology.flip_set(zone))]
}

fn array_count(rules: &Rules) -> [[u8; MAX_UNITS]; 2] {
    let mut count = [[0; MAX_UNITS]; 2];
    for (_, unit, colour) in &rules.array {
        count[colour.index()][unit.index()] += 1;
    }
    count
}

fn hand_size(rules: &Rules) -> [u8; MAX_UNITS] {
    let mut size = [0; MAX_UNITS];
    for &(unit, count) in rules.drops.iter().flat_map(|drops| &drops.hand) {
        size[unit.index()] = count;
    }
    size
}

/// Title, author and the name of the file are not rules.
fn rules_hash(rules: &Rules) -> String {
    let parts = serde_json::to_vec(&(
        "fairyforge rules 1",
        &rules.topology,
        &rules.array,
        &rules.units,
        &rules.promotion,
        &rules.castling,
        &rules.drops,
        &rules.end,
    ))
    .expect("plain data without maps serialises");
    Sha256::digest(parts).iter().map(|byte| format!("{byte:02x}")).collect()
}
