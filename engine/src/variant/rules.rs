//! A variant's rules with every name resolved: what a file says, before tables are made of it.
//!
//! [`Rules`] is plain data. [`super::file`] produces it from TOML, [`super::Variant`] compiles it, and the rules hash is
//! taken over it, so comments and the order of keys in a file do not change the hash, while any rule does. A setting that
//! came later is left out where a game does not use it, so that it leaves the hashes of all other games alone.

use super::pattern::Pattern;
use crate::geometry::{Square, SquareSet, Topology};

/// Most unit types a game may have.
pub const MAX_UNITS: usize = 32;

/// One of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub enum Colour {
    /// Moves first, from the low ranks up.
    White,
    /// Moves second, from the high ranks down.
    Black,
}

impl Colour {
    /// Both sides, White first.
    pub const BOTH: [Self; 2] = [Self::White, Self::Black];

    /// 0 for White, 1 for Black.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The other side.
    #[inline]
    pub const fn opponent(self) -> Self {
        match self {
            Self::White => Self::Black,
            Self::Black => Self::White,
        }
    }
}

/// A unit type: index into [`Rules::units`], smaller than [`MAX_UNITS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct Unit(pub u8);

impl Unit {
    /// Index into tables by unit type.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Everything a variant file says.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Rules {
    /// The name it is called by in commands and files: the file's stem.
    pub name: String,
    /// The game's name for people.
    pub title: String,
    /// Who invented it.
    pub author: String,
    /// Size, holes and rank numbering.
    pub topology: Topology,
    /// Who stands where at the start.
    pub array: Vec<(Square, Unit, Colour)>,
    /// The unit types; a [`Unit`] is an index into this list.
    pub units: Vec<UnitRules>,
    /// Promotions, tried in order: the first whose `who` and `zone` fit is the one.
    pub promotion: Vec<PromotionRules>,
    /// Castling, if the game has it.
    pub castling: Option<CastlingRules>,
    /// Units in hand, if the game has them.
    pub drops: Option<DropRules>,
    /// How games end.
    pub end: EndRules,
}

/// One unit type.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct UnitRules {
    /// Its key in the file, as `flying_chariot`.
    pub name: String,
    /// Its upper-case letter in FEN and notation.
    pub letter: char,
    /// What it may do.
    pub patterns: Vec<Pattern>,
    /// Whether the game is about its capture. Exactly one unit type is royal; a side has one of it, or several if
    /// [`EndRules::check`] says what that means.
    pub royal: bool,
    /// May never be taken.
    #[serde(skip_serializing_if = "is_default")]
    pub untakeable: bool,
    /// May take en passant.
    pub takes_en_passant: bool,
    /// May be taken en passant after a quiet move ahead, straight or diagonally, of two squares or more.
    pub taken_en_passant: bool,
    /// Its moves set the move count back to zero, as a pawn's do.
    pub resets_move_count: bool,
}

/// Who promotes, where, to what.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct PromotionRules {
    /// Units it applies to.
    pub who: Vec<Unit>,
    /// Squares on which they promote (White's view).
    pub zone: SquareSet,
    /// Whether they must.
    pub must: bool,
    /// What they may become, in the order moves are generated.
    pub to: Vec<PromotionChoice>,
}

/// One unit that may be chosen, and when.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct PromotionChoice {
    /// What the pawn becomes.
    pub unit: Unit,
    /// Only while the side has fewer of them on the board than in the array.
    pub only_captured: bool,
    /// Only while the side has fewer of them than this on the board.
    #[serde(skip_serializing_if = "is_default")]
    pub at_most: Option<u8>,
    /// Only if none of the side's own units of that type stands on a square of the promotion square's colour.
    pub one_per_colour: bool,
    /// Only once the side has dropped at least one of them from its hand.
    pub after_drop: bool,
}

impl PromotionChoice {
    /// A unit that may be chosen at any time.
    pub const fn free(unit: Unit) -> Self {
        Self { unit, only_captured: false, at_most: None, one_per_colour: false, after_drop: false }
    }
}

/// Castling of the royal unit with a partner; home squares are read off the array.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct CastlingRules {
    /// The unit castled with; it lands beside the king, on the side the king came from.
    pub partner: Unit,
    /// The partner's home on White's side towards the higher files, with the numbers of steps the king may take.
    pub higher: Option<CastlingSide>,
    /// The same towards the lower files.
    pub lower: Option<CastlingSide>,
}

/// One wing of castling, from White's view.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct CastlingSide {
    /// The king's home.
    pub king: Square,
    /// The partner's home.
    pub partner: Square,
    /// How many squares the king may go.
    pub steps: Vec<u8>,
}

/// Units held in hand and where they may be dropped.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct DropRules {
    /// How many of each unit a side holds at the start, in the order the FEN lists them.
    pub hand: Vec<(Unit, u8)>,
    /// Where they may be dropped (White's view), on empty squares.
    pub zone: SquareSet,
}

/// The outcome of a situation for the side that is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum SideResult {
    /// That side wins.
    Win,
    /// Nobody wins.
    Draw,
    /// That side loses.
    Loss,
}

/// What happens to a side that has nothing but its king.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum BareKing {
    /// Nothing: play goes on.
    PlaysOn,
    /// It loses at once.
    Loses,
    /// It loses, unless it can bare the opponent's king with its very next move (then: draw).
    LosesUnlessBaringBack,
}

/// When a side with several royal men stands in check, and so what it may not leave behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum CheckRule {
    /// While one of them is attacked. With a single royal man a side, as nearly everywhere, there is no difference.
    #[default]
    AnyRoyal,
    /// While all of them are attacked: one may be taken so long as another is left.
    EveryRoyal,
}

/// How games end, besides checkmate.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct EndRules {
    /// What check means for a side with several royal men.
    #[serde(skip_serializing_if = "is_default")]
    pub check: CheckRule,
    /// For the side that has no legal move and is not in check.
    pub stalemate: SideResult,
    /// The same when the opponent of the side without a move has only its king.
    pub stalemate_by_bare_king: SideResult,
    /// A lone king against more.
    pub bare_king: BareKing,
    /// King against king is a draw at once.
    pub bare_kings_draw: bool,
    /// A position that occurs for the n-th time is a draw; `None`: never.
    pub repetition: Option<u8>,
    /// Plies without a capture or a resetting move after which the game is a draw; `None`: never.
    pub move_count: Option<u16>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
