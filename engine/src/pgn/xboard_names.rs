//! Names that XBoard would take for games of its own, and what to call a game instead. Text only.

/// Names that XBoard finds anywhere in a name.
const FOUND_ANYWHERE: [&str; 21] = [
    "wildcastle",
    "nocastle",
    "fischerandom",
    "bughouse",
    "crazyhouse",
    "losers",
    "suicide",
    "giveaway",
    "twokings",
    "kriegspiel",
    "atomic",
    "3check",
    "shatranj",
    "normal",
    "wild",
    "frc",
    "960",
    "fischer",
    "misc",
    "unknown",
    "boardsize",
];
/// Names that it finds at the beginning of a name, before anything but a letter.
const FOUND_IN_FRONT: [&str; 23] = [
    "shogi",
    "chu",
    "courier",
    "gothic",
    "capablanca",
    "knightmate",
    "fairy",
    "cylinder",
    "falcon",
    "caparandom",
    "berolina",
    "janus",
    "super",
    "great",
    "twilight",
    "makruk",
    "seirawan",
    "grand",
    "spartan",
    "xiangqi",
    "asean",
    "lion",
    "elven",
];
/// The name without the words that XBoard would take for a game of its own: `opulent-lemurian-shatranj` is
/// `opulent-lemurian`. A name that is nothing but such words keeps the last one, interrupted by a dot.
pub(crate) fn unmistakable(name: &str) -> String {
    let mut called = name.to_ascii_lowercase();
    while let Some(word) = mistaken(&called) {
        let rest = called.replacen(word, "", 1);
        let rest = rest.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
        if rest.is_empty() {
            return interrupted(word);
        }
        called = rest;
    }
    called
}

/// The word that XBoard would take the name for.
pub(crate) fn mistaken(name: &str) -> Option<&'static str> {
    let anywhere = FOUND_ANYWHERE.into_iter().find(|word| name.contains(word));
    let in_front = || {
        FOUND_IN_FRONT.into_iter().find(|word| {
            name.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|letter: char| letter.is_ascii_alphabetic()))
        })
    };
    anywhere.or_else(in_front)
}

/// The word with a dot after its first letter, which is nothing that XBoard knows.
fn interrupted(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    format!("{first}.{rest}")
}
