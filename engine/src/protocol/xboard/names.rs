//! What XBoard calls the games: its own names for those that it knows, ours for all others, unless it would read them
//! as one that it knows ([`crate::pgn::xboard_names`]).

use crate::pgn::xboard_names::unmistakable;
use crate::position::Position;
use crate::variant::Variant;
use std::sync::Arc;

/// XBoard's games: its name, and the array that its rules are for.
const KNOWN: [(&str, &str); 6] = [
    ("normal", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"),
    ("shatranj", "rnbkqbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBKQBNR"),
    ("makruk", "rnsmksnr/8/pppppppp/8/8/PPPPPPPP/8/RNSKMSNR"),
    ("capablanca", "rnabqkbcnr/pppppppppp/10/10/10/10/PPPPPPPPPP/RNABQKBCNR"),
    ("janus", "rjnbkqbnjr/pppppppppp/10/10/10/10/PPPPPPPPPP/RJNBKQBNJR"),
    ("courier", "rnebmkfwbenr/pppppppppppp/12/12/12/12/PPPPPPPPPPPP/RNEBMKFWBENR"),
];

/// A game under the name that XBoard must use for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// How our files call it.
    pub ours: String,
    /// How XBoard calls it.
    pub theirs: String,
    /// Whether XBoard plays it by rules of its own, so that it needs no `setup`.
    pub known: bool,
}

/// What XBoard must call the shipped game or the file `ours`.
///
/// A game that XBoard knows has XBoard's name if the array is the same. A name that it would mistake for such a game
/// loses that word: `opulent-lemurian-shatranj` is `opulent-lemurian`.
pub(super) fn name(ours: &str) -> Name {
    let wanted = if ours == "chess" { "normal" } else { ours };
    let known = KNOWN.iter().find(|(theirs, _)| *theirs == wanted);
    let same = known.is_some_and(|(_, board)| array(ours).is_some_and(|array| array == *board));
    Name { ours: ours.into(), theirs: if same { wanted.into() } else { unmistakable(ours) }, known: same }
}

fn array(name: &str) -> Option<String> {
    let variant = Arc::new(Variant::load(name).ok()?);
    Position::start(&variant).fen().split(' ').next().map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pgn::xboard_names::mistaken;
    use std::collections::BTreeSet;

    #[test]
    fn no_shipped_game_is_mistaken_for_another() {
        let names: Vec<Name> = Variant::shipped_names().map(name).collect();
        let theirs: BTreeSet<&str> = names.iter().map(|name| name.theirs.as_str()).collect();
        assert_eq!(theirs.len(), names.len(), "{names:?}");
        for name in names.iter().filter(|name| !name.known) {
            assert_eq!(mistaken(&name.theirs), None, "{name:?}");
        }
    }

    #[test]
    fn words_that_xboard_knows_are_left_out() {
        let theirs = |ours| name(ours).theirs;
        assert_eq!(theirs("chess"), "normal");
        assert_eq!(theirs("shatranj"), "shatranj");
        assert_eq!(theirs("herculean"), "herculean");
        assert_eq!(theirs("opulent-lemurian-shatranj"), "opulent-lemurian");
        assert_eq!(theirs("atomic"), "a.tomic");
        assert_eq!(theirs("grand-hexes"), "hexes");
    }
}
