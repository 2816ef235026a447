//! What XBoard must know of a game that it does not know: which of its piece types stands for which unit, the board,
//! the array, and how the units move (the `setup` and `piece` lines).
//!
//! Knows no single game. Facts about XBoard are those of version 4.9.1.

use super::pieces::{Description, describe};
use crate::position::Position;
use crate::variant::Variant;
use crate::variant::betza;
use crate::variant::rules::{Colour, PromotionChoice, Unit};
use std::sync::Arc;

/// XBoard's types in the order of its piece table; the king comes last.
const PAWN: usize = 0;
const ROOK: usize = 3;
const LANCE: usize = 18;
/// The last of the types that may be promoted with `+`, and the last that it counts when it judges whether mate is
/// possible.
const MAN: usize = 10;
/// A rook with a crown: for a partner that the king may castle onto, since XBoard takes a king that arrives on a `Rook`
/// for a castling of its own.
const CROWNED_ROOK: usize = 14;
/// Types whose moves XBoard has opinions about, each for units that move so and for no others.
const BY_MOVES: [(&str, usize); 12] = [
    ("N", 1),
    ("B", 2),
    ("R", ROOK),
    ("Q", 4),
    ("RB", 4),
    ("F", 5),
    ("A", 6),
    ("W", 9),
    ("K", MAN),
    ("BN", 7),
    ("RN", 8),
    ("NN", 12),
];
/// Types for all other units, those with the best known pictures first.
const ANY: [usize; 29] =
    [7, 8, 13, 14, 12, 11, 25, 31, 24, 23, 26, 35, 40, 28, 39, 32, 34, 43, 30, 38, 41, 33, 27, 36, 37, 22, 20, 16, 42];
/// Types for units that are promoted with `+`.
const PROMOTED_BY_PLUS: [usize; 4] = [MAN, 8, 7, 9];
/// What they become.
const PLUS: [usize; 4] = [15, 48, 50, 51];
/// Types without moves of their own: XBoard lets them go anywhere and sees no check by them.
const WILD: [usize; 2] = [17, 19];
/// Most files, ranks and kinds of men in hand.
const MOST_FILES: u8 = 16;
const MOST_RANKS: u8 = 15;
/// Files that the hands take, two on each side.
const FILES_OF_HANDS: u8 = 4;

/// Why a game cannot be shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The board is too large.
    #[error("expected at most {most_files} files and {MOST_RANKS} ranks, got {files} and {ranks}")]
    Size {
        /// Files there may be: fewer where men are in hand.
        most_files: u8,
        /// Files of the game.
        files: u8,
        /// Ranks of the game.
        ranks: u8,
    },
    /// Kings of which one may be lost.
    #[error("expected one king a side, got games with several")]
    Kings,
    /// A letter that is not in ASCII.
    #[error("expected units with letters from A to Z, got {letter:?} for {unit}")]
    Letter {
        /// The unit's name.
        unit: String,
        /// Its letter.
        letter: char,
    },
    /// The unit's moves have no words, and both types that go anywhere are taken.
    #[error("expected moves that XBoard has words for, got those of {unit}")]
    Wordless {
        /// The unit's name.
        unit: String,
    },
    /// XBoard would take a step to the side for a capture en passant.
    #[error("expected units that take or are taken en passant to move straight ahead only, got {unit}")]
    Sideways {
        /// The unit's name.
        unit: String,
    },
    /// No type is left that can do what the unit does.
    #[error("expected fewer units that promote or take en passant, got {unit} as one too many")]
    TooManyPawns {
        /// The unit's name.
        unit: String,
    },
    /// No type is left.
    #[error("expected at most {} units besides pawns and king, got {unit} as one too many", ANY.len())]
    TooMany {
        /// The unit's name.
        unit: String,
    },
}

/// How a unit is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// XBoard's type; `None` for the king, which has its own place.
    pub slot: Option<usize>,
    /// The type it becomes by a promotion written `+`; `None` if it does not promote so.
    pub plus: Option<usize>,
    /// How XBoard is told that it moves.
    pub moves: Description,
}

/// A game as XBoard is told it.
#[derive(Clone, Debug)]
pub struct Setup {
    variant: Arc<Variant>,
    shown: Vec<Shown>,
}

impl Setup {
    /// Finds a type for every unit.
    ///
    /// # Errors
    /// The game is more than XBoard can show.
    pub fn new(variant: &Arc<Variant>) -> Result<Self, SetupError> {
        check(variant)?;
        let mut types = Types::new(variant);
        for unit in types.in_order() {
            types.place(unit)?;
        }
        Ok(Self { variant: Arc::clone(variant), shown: types.shown })
    }

    /// How a unit is shown.
    pub fn shown(&self, unit: Unit) -> &Shown {
        &self.shown[unit.index()]
    }

    /// Whether promotions of this unit are written `+`, with one outcome only.
    pub fn promotes_by_plus(&self, unit: Unit) -> bool {
        self.shown(unit).plus.is_some()
    }

    /// Whether the castling field of XBoard's positions can be believed: it knows rooks by their type and in the
    /// corners.
    pub fn tells_castling(&self) -> bool {
        let topology = self.variant.topology();
        self.variant.castling().iter().all(|wing| {
            let corner = if wing.higher { topology.width() - 1 } else { 0 };
            let outermost = [0, topology.height() - 1].contains(&wing.partner.row());
            self.shown(wing.partner_unit).slot == Some(ROOK) && wing.partner.file() == corner && outermost
        })
    }

    /// The lines that XBoard wants after `variant`: the board, then the units.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.setup_line()];
        for unit in self.variant.units() {
            let letter = self.variant.unit(unit).letter;
            lines.extend(piece_lines("", letter, &self.shown(unit).moves));
            if self.promotes_by_plus(unit) {
                lines.extend(piece_lines("+", letter, &self.plus_description(unit)));
            }
        }
        lines
    }

    fn setup_line(&self) -> String {
        let topology = self.variant.topology();
        let (files, ranks, hands) = (topology.width(), topology.height(), self.holdings());
        // Of XBoard's games with men in hand only this one leaves captured men out of the hands.
        let parent = if hands > 0 { "bughouse" } else { "fairy" };
        let start = Position::start(&self.variant).fen();
        format!("setup ({}) {files}x{ranks}+{hands}_{parent} {start}", self.piece_to_char())
    }

    /// XBoard's piece table: a character a type, White's half first, a dot for a type that is absent.
    pub fn piece_to_char(&self) -> String {
        let last = self.shown.iter().flat_map(|shown| [shown.slot, shown.plus]).flatten().max().unwrap_or(0);
        let mut half = vec![".".to_owned(); last.max(MAN) + 2];
        for unit in self.variant.units() {
            let letter = self.variant.unit(unit).letter;
            match self.shown(unit).slot {
                Some(slot) => half[slot] = letter.into(),
                None => *half.last_mut().expect("made with an element for the king") = letter.into(),
            }
            if let Some(plus) = self.shown(unit).plus {
                half[plus] = format!("^{letter}");
            }
        }
        let white = half.concat();
        format!("{white}{}", white.to_ascii_lowercase())
    }

    /// Rows that XBoard needs for the hands: men are listed there in the order of its table.
    fn holdings(&self) -> usize {
        let held = self.variant.units().filter(|&unit| self.variant.hand_size(unit) > 0);
        let before = |slot| self.shown.iter().filter(|shown| shown.slot.is_some_and(|other| other < slot)).count();
        held.filter_map(|unit| self.shown(unit).slot).map(|slot| before(slot) + 1).max().unwrap_or(0)
    }

    /// The moves of what a promotion by `+` leads to: the first unit that is always to be had.
    fn plus_description(&self, unit: Unit) -> Description {
        let choices = self.variant.rules().promotion.iter().filter(|rule| rule.who.contains(&unit));
        let mut firsts: Vec<Unit> = Vec::new();
        for rule in choices {
            for choice in &rule.to {
                firsts.push(choice.unit);
                if *choice == PromotionChoice::free(choice.unit) {
                    break;
                }
            }
        }
        firsts.sort_unstable();
        firsts.dedup();
        let all: Vec<&Description> = firsts.iter().map(|&first| &self.shown(first).moves).collect();
        match all.as_slice() {
            [only] => (*only).clone(),
            all => Description {
                white: all.iter().map(|one| one.white.clone()).collect(),
                black: all.iter().map(|one| one.black.clone()).collect(),
                exact: false,
            },
        }
    }
}

fn check(variant: &Variant) -> Result<(), SetupError> {
    let (files, ranks) = (variant.topology().width(), variant.topology().height());
    let hands = variant.units().any(|unit| variant.hand_size(unit) > 0);
    let most_files = if hands { MOST_FILES - FILES_OF_HANDS } else { MOST_FILES };
    if files > most_files || ranks > MOST_RANKS {
        return Err(SetupError::Size { most_files, files, ranks });
    }
    if variant.has_several_royals() {
        return Err(SetupError::Kings);
    }
    let strange = variant.units().map(|unit| variant.unit(unit)).find(|unit| !unit.letter.is_ascii_uppercase());
    strange.map_or(Ok(()), |unit| Err(SetupError::Letter { unit: unit.name.clone(), letter: unit.letter }))
}

fn piece_lines(plus: &str, letter: char, moves: &Description) -> Vec<String> {
    let small = letter.to_ascii_lowercase();
    match (&moves.white, &moves.black) {
        (Some(white), Some(black)) if white == black => vec![format!("piece {plus}{letter}& {white}")],
        (Some(white), Some(black)) => {
            vec![format!("piece {plus}{letter} {white}"), format!("piece {plus}{small} {black}")]
        }
        _ => Vec::new(),
    }
}

/// Types being given away.
struct Types<'a> {
    variant: &'a Variant,
    shown: Vec<Shown>,
    taken: Vec<usize>,
}

impl<'a> Types<'a> {
    fn new(variant: &'a Variant) -> Self {
        let shown =
            variant.units().map(|unit| Shown { slot: None, plus: None, moves: describe(variant, unit) }).collect();
        Self { variant, shown, taken: Vec::new() }
    }

    /// Those first that have the least choice: pawns (the many before the few), then units of XBoard's own moves.
    fn in_order(&self) -> Vec<Unit> {
        let mut units: Vec<Unit> = self.variant.units().filter(|&unit| unit != self.variant.royal()).collect();
        units.sort_by_key(|&unit| {
            let rules = self.variant.unit(unit);
            let en_passant = rules.takes_en_passant || rules.taken_en_passant;
            let known = self.type_by_moves(unit).is_some();
            let number = self.variant.array_count(Colour::White, unit);
            (!en_passant, !self.promotes(unit), !known, std::cmp::Reverse(number))
        });
        units
    }

    fn place(&mut self, unit: Unit) -> Result<(), SetupError> {
        let name = || self.variant.unit(unit).name.clone();
        let rules = self.variant.unit(unit);
        let en_passant = rules.takes_en_passant || rules.taken_en_passant;
        let sideways = self.moves_sideways(unit);
        if en_passant && sideways {
            return Err(SetupError::Sideways { unit: name() });
        }
        let by_letter = self.promotes_on_last_rank(unit) && !sideways;
        let by_plus = self.promotes(unit) && !by_letter;
        let choice: Vec<usize> = if en_passant && by_plus {
            vec![PAWN]
        } else if en_passant || by_letter {
            vec![PAWN, LANCE]
        } else if by_plus {
            PROMOTED_BY_PLUS.to_vec()
        } else if self.shown[unit.index()].moves.white.is_none() || self.shown[unit.index()].moves.black.is_none() {
            WILD.to_vec()
        } else if self.castled_onto(unit) {
            vec![CROWNED_ROOK]
        } else {
            self.type_by_moves(unit).into_iter().chain(ANY).collect()
        };
        let free = choice.iter().copied().find(|slot| !self.taken.contains(slot));
        let slot = free.ok_or_else(|| match choice.as_slice() {
            [first, ..] if *first == PAWN || *first == MAN => SetupError::TooManyPawns { unit: name() },
            [first, ..] if *first == WILD[0] => SetupError::Wordless { unit: name() },
            _ => SetupError::TooMany { unit: name() },
        })?;
        let wordless = self.shown[unit.index()].moves.white.is_none() || self.shown[unit.index()].moves.black.is_none();
        if wordless && !WILD.contains(&slot) {
            return Err(SetupError::Wordless { unit: name() });
        }
        self.taken.push(slot);
        self.shown[unit.index()].slot = Some(slot);
        if by_plus {
            let plus = PLUS.into_iter().find(|slot| !self.taken.contains(slot));
            let plus = plus.ok_or_else(|| SetupError::TooManyPawns { unit: name() })?;
            self.taken.push(plus);
            self.shown[unit.index()].plus = Some(plus);
        }
        Ok(())
    }

    fn promotes(&self, unit: Unit) -> bool {
        self.variant.rules().promotion.iter().any(|rule| rule.who.contains(&unit))
    }

    /// Whether all its promotions are forced and on the last rank: the only ones that XBoard lets a player choose in.
    fn promotes_on_last_rank(&self, unit: Unit) -> bool {
        let last = self.variant.topology().height() - 1;
        let mut rules = self.variant.rules().promotion.iter().filter(|rule| rule.who.contains(&unit)).peekable();
        rules.peek().is_some() && rules.all(|rule| rule.must && rule.zone.iter().all(|square| square.row() == last))
    }

    /// Whether it may leave its file without taking: XBoard believes that its pawns then take en passant.
    fn moves_sideways(&self, unit: Unit) -> bool {
        let quiet = self.variant.unit(unit).patterns.iter().filter(|pattern| pattern.moves);
        quiet.flat_map(|pattern| &pattern.legs).any(|leg| leg.steps.iter().any(|step| step.vector.0 != 0))
    }

    fn castled_onto(&self, unit: Unit) -> bool {
        let mut wings = self.variant.castling().iter().filter(|wing| wing.partner_unit == unit);
        wings.any(|wing| wing.destinations.iter().any(|to| to.king_to == wing.partner))
    }

    fn type_by_moves(&self, unit: Unit) -> Option<usize> {
        let patterns = &self.variant.unit(unit).patterns;
        let same = |text: &str| betza::parse(text).is_ok_and(|parsed| parsed == *patterns);
        BY_MOVES.iter().find(|(text, _)| same(text)).map(|&(_, slot)| slot)
    }
}
