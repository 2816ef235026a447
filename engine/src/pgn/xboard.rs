//! Men that XBoard believes promoted, in its own games in PGN.
//!
//! Where a pawn promotes elsewhere than on the last rank, XBoard knows only one outcome, which it writes `+`: `c10=+`,
//! and from then on `+P` for the man that this pawn has become. For it this is another type than the queens that have
//! always been queens, so it tells one from the other by the name and not by the square.

use crate::geometry::SquareSet;
use crate::moves::{Move, MoveKind};
use crate::position::Position;
use crate::variant::rules::Unit;

/// The sign of such a promotion, and of such a man.
const PLUS: char = '+';

/// Where such men stand.
#[derive(Clone, Debug, Default)]
pub(super) struct Promoted(SquareSet);

/// A move's text in our own letters.
pub(super) struct Translated {
    pub text: String,
    /// The man that moves is such a one.
    mover_is_promoted: bool,
}

impl Promoted {
    /// The text with the letters of what the men have become.
    pub fn translate(text: &str, position: &Position) -> Translated {
        let unit = |letter: char| position.variant().man_with_letter(letter).map(|(unit, _)| unit);
        if let Some(rest) = text.strip_prefix(PLUS)
            && let Some(pawn) = rest.chars().next()
            && let Some(became) = unit(pawn).and_then(|unit| becomes(position, unit))
        {
            let text = format!("{became}{}", &rest[pawn.len_utf8()..]);
            return Translated { text, mover_is_promoted: true };
        }
        let text = text.replacen("=+", "", 1);
        Translated { text, mover_is_promoted: false }
    }

    /// Keeps the moves of men of the kind that the text names, where both kinds are among them; of promotions that are
    /// left the first, which is the one that `+` stands for.
    pub fn narrow(&self, fitting: &mut Vec<Move>, translated: &Translated) {
        let fits = |mv: &Move| self.0.contains(mv.from()) == translated.mover_is_promoted;
        if fitting.iter().any(fits) {
            fitting.retain(fits);
        }
        let same_way = |mv: &Move| {
            matches!(mv.kind(), MoveKind::Promotion(_)) && (mv.from(), mv.to()) == (fitting[0].from(), fitting[0].to())
        };
        if !fitting.is_empty() && fitting.iter().all(same_way) {
            fitting.truncate(1);
        }
    }

    /// Follows the men on the board; `text` is the move as XBoard wrote it.
    pub fn play(&mut self, mv: Move, text: &str) {
        let moved = self.0.contains(mv.from());
        if !matches!(mv.kind(), MoveKind::Drop(_)) {
            self.0.remove(mv.from());
        }
        self.0.remove(mv.to());
        let promotes = matches!(mv.kind(), MoveKind::Promotion(_)) && !says_what_it_becomes(text);
        if moved || promotes {
            self.0.insert(mv.to());
        }
    }
}

/// Whether a letter stands behind the target square, as in `a12=Q`.
fn says_what_it_becomes(text: &str) -> bool {
    let bare = text.trim_end_matches(['+', '#', '!', '?']);
    bare.ends_with(|last: char| last.is_ascii_uppercase())
}

/// The letter of the unit named first among those that this one may become.
fn becomes(position: &Position, unit: Unit) -> Option<char> {
    let rule = position.variant().rules().promotion.iter().find(|rule| rule.who.contains(&unit))?;
    Some(position.variant().unit(rule.to.first()?.unit).letter)
}
