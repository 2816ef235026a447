//! What XBoard writes otherwise than all others in its own games in PGN.
//!
//! Where a pawn promotes elsewhere than on the last rank, XBoard knows only one outcome, which it writes `+`: `c10=+`, and
//! from then on `+P` for the man that this pawn has become. For it this is another type than the queens that have always
//! been queens, so it tells one from the other by the name and not by the square. A castling of one step is the king that
//! takes its own rook and goes on to its square: `O-O-h1`, or `Kxi2-g2` where the rook is no rook for XBoard.

use crate::geometry::Square;
use crate::moves::{Move, MoveKind};
use crate::position::Position;
use crate::variant::letters;
use crate::variant::rules::Unit;
use std::collections::BTreeMap;

/// The sign of such a promotion, and of such a man.
const PLUS: char = '+';

/// Where such men stand, with the letters of the pawns that they have been.
#[derive(Clone, Debug, Default)]
pub(super) struct Promoted(BTreeMap<Square, char>);

/// A move's text as everybody else writes it.
pub(super) struct Translated {
    pub text: String,
    /// The man that moves is one that was promoted from the pawn with this letter.
    mover: Option<char>,
    /// The move is a promotion by `+`, which has one outcome.
    by_plus: bool,
}

impl Promoted {
    /// The text with the letters of what the men have become, and castlings of one step as castlings.
    pub fn translate(text: &str, position: &Position) -> Translated {
        let unit = |letter: char| position.variant().man_with_letter(letter).map(|(unit, _)| unit);
        if let Some(rest) = text.strip_prefix(PLUS)
            && let Some(pawn) = rest.chars().next()
            && let Some(became) = unit(pawn).and_then(|unit| becomes(position, unit))
        {
            let text = format!("{became}{}", &rest[pawn.len_utf8()..]);
            return Translated { text, mover: Some(pawn), by_plus: false };
        }
        let plain = short_castling(text, position).unwrap_or_else(|| text.replacen("=+", "", 1));
        Translated { text: plain, mover: None, by_plus: text.contains("=+") }
    }

    /// Keeps the moves of men of the kind that the text names, where both kinds are among them; of promotions by `+` the
    /// first, which is the one that it stands for.
    pub fn narrow(&self, fitting: &mut Vec<Move>, translated: &Translated) {
        let fits = |mv: &Move| self.0.get(&mv.from()).copied() == translated.mover;
        if fitting.iter().any(fits) {
            fitting.retain(fits);
        }
        let same_way = |mv: &Move| {
            matches!(mv.kind(), MoveKind::Promotion(_)) && (mv.from(), mv.to()) == (fitting[0].from(), fitting[0].to())
        };
        if translated.by_plus && !fitting.is_empty() && fitting.iter().all(same_way) {
            fitting.truncate(1);
        }
    }

    /// Follows the men on the board; `text` is the move as XBoard wrote it, `before` the position in which it is played.
    pub fn play(&mut self, mv: Move, text: &str, before: &Position) {
        let moved = if matches!(mv.kind(), MoveKind::Drop(_)) { None } else { self.0.remove(&mv.from()) };
        self.0.remove(&mv.to());
        let promotes = matches!(mv.kind(), MoveKind::Promotion(_)) && !says_what_it_becomes(text);
        let pawn = promotes.then(|| before.variant().unit(before.piece_at(mv.from()).unit()).letter);
        self.0.extend(moved.or(pawn).map(|letter| (mv.to(), letter)));
    }
}

/// `O-O-h1` and `Kxi2-g2` as `O-Oh1` and `O-Og2`.
fn short_castling(text: &str, position: &Position) -> Option<String> {
    let king = position.variant().unit(position.variant().royal()).letter;
    let (before, target) = text.rsplit_once('-')?;
    let ends_in_square = target.starts_with(|file: char| file.is_ascii_lowercase());
    let castles = before == "O-O" || before == "O-O-O" || before.strip_prefix(king)?.contains('x');
    (ends_in_square && castles).then(|| format!("O-O{target}"))
}

/// Whether a letter stands behind the target square, as in `a12=Q`.
fn says_what_it_becomes(text: &str) -> bool {
    let bare = text.trim_end_matches(['+', '#', '!', '?']);
    bare.ends_with(letters::is_unit_letter)
}

/// The letter of the unit named first among those that this one may become.
fn becomes(position: &Position, unit: Unit) -> Option<char> {
    let rule = position.variant().rules().promotion.iter().find(|rule| rule.who.contains(&unit))?;
    Some(position.variant().unit(rule.to.first()?.unit).letter)
}
