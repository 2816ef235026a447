//! Notation that exists elsewhere and is refused by name: what it means there, and what to write here instead.

use super::atom::{ATOM_LETTERS, is_atom};
use super::scan::Scanner;
use super::{BetzaError, BetzaErrorKind};

/// Letter, what it means, what to write instead (may be empty).
const REFUSED: [(char, &str, &str); 28] = [
    ('d', "capturing one's own men `d`", ""),
    ('e', "en passant `e`", "leave it out and set the piece's en_passant"),
    ('k', "capturing only kings `k`", ""),
    ('o', "cylindrical `o`", ""),
    ('q', "circular `q`", "after a bend, as in afsafqW, it goes on bending the same way"),
    ('t', "the modifier `t` (then, or hop-range)", "for a path write [F-R], or [F?R] if it may stop between"),
    ('u', "unloading `u`", ""),
    ('w', "the modifier `w`", "the atom is a capital W"),
    ('x', "granting moves `x`", ""),
    ('z', "crooked `z`", "after a bend, as in afsafzW, it bends the other way"),
    ('O', "castling `O`", "write a [castling] table"),
    ('U', "the universal leaper `U`", ""),
    ('I', "the imitator `I`", ""),
    ('E', "the compound `E`", "write its parts"),
    ('M', "the compound `M`", "write its parts"),
    ('X', "the longer leap `X`", "write it in steps: mpafmpafmpafsW leaps (4,1)"),
    ('Y', "the longer leap `Y`", "write it in steps: mpafmpafmpafsW leaps (4,1)"),
    ('*', "the centre row `*`", "write also = [{ moves = \"fmR\", to = \"ranks 1-6\" }]"),
    ('[', "a bracket within brackets", "write its legs out"),
    (']', "a closing bracket", "legs of a path are opened by `[`"),
    ('(', "repeated groups and leaps by coordinates `(`", "repeat the modifiers"),
    (')', "repeated groups and leaps by coordinates `)`", "repeat the modifiers"),
    ('{', "grouping `{`", "repeat the modifiers"),
    ('}', "grouping `}`", "repeat the modifiers"),
    ('!', "the condition `!`", ""),
    ('?', "the condition `?`", "between the legs of brackets, as in [F?R], it says that the move may stop"),
    ('+', "the minimum `+`", "it follows the last leg of a path, as in [F-R2+]"),
    ('/', "the separator `/`", "write one term after the other"),
];

/// The fault of standing before something that is neither a modifier nor an atom.
pub(super) fn unknown(scanner: &Scanner<'_>) -> BetzaError {
    let next = scanner.peek();
    if let Some((_, meaning, instead)) = REFUSED.iter().find(|(letter, ..)| Some(*letter) == next) {
        let got = format!("{meaning}, which is not supported");
        let error = scanner.error(BetzaErrorKind::Unsupported, ATOM_LETTERS, got);
        return match next {
            Some('O') => error.suggest(castling_table(scanner.text)),
            Some('e') => error.suggest(without_en_passant(scanner)),
            _ if instead.is_empty() => error,
            _ => error.suggest(*instead),
        };
    }
    if matches!(next, Some('J' | 'L')) {
        let got = format!("{}, which some read as (3,1) and some as (3,2)", scanner.got());
        let error = scanner.error(BetzaErrorKind::Ambiguous, ATOM_LETTERS, got);
        return error.suggest("write C for (3,1), Z for (3,2)");
    }
    let error = scanner.error(BetzaErrorKind::Unexpected, ATOM_LETTERS, scanner.got());
    match next {
        Some(letter) if letter.is_ascii_digit() => error.suggest("a range follows its atom, as in W2"),
        Some('-') => error.suggest("write the path as [F-R], then or outward"),
        _ => error,
    }
}

/// The `[castling]` table that all castlings of a string, such as `KisO2ilO3`, come to.
fn castling_table(text: &str) -> String {
    let mut steps: [Vec<u8>; 2] = Default::default();
    for (at, _) in text.match_indices('O') {
        let modifiers = text[..at].rsplit(|letter: char| !letter.is_ascii_lowercase()).next().unwrap_or_default();
        let digits: String = text[at + 1..].chars().take_while(char::is_ascii_digit).collect();
        let plain = modifiers.chars().all(|letter| "islr".contains(letter));
        let Some(step) = digits.parse().ok().filter(|&step| plain && step > 0) else {
            return "leave it out and write a [castling] table".into();
        };
        for (side, steps) in ['r', 'l'].into_iter().zip(&mut steps) {
            let both = !modifiers.contains(['l', 'r']) || modifiers.contains('s');
            if (both || modifiers.contains(side)) && !steps.contains(&step) {
                steps.push(step);
            }
        }
    }
    let sides = ["to_higher_files", "to_lower_files"].iter().zip(&mut steps).filter(|(_, steps)| !steps.is_empty());
    let sides: Vec<String> = sides
        .map(|(name, steps)| {
            steps.sort_unstable();
            format!("{name} = {steps:?}")
        })
        .collect();
    format!("leave it out and write [castling] with king_steps = {{ {} }}", sides.join(", "))
}

/// How the term around an `e` reads without it.
fn without_en_passant(scanner: &Scanner<'_>) -> String {
    let (before, after) = scanner.text.split_at(scanner.at);
    let start = before.rfind(|letter: char| !letter.is_ascii_lowercase()).map_or(0, |at| at + 1);
    let modifiers = &after[..after.find(|letter: char| !letter.is_ascii_lowercase()).unwrap_or(after.len())];
    let term = match after[modifiers.len()..].chars().next().filter(|&letter| is_atom(letter)) {
        Some(atom) => format!("write {}{}{atom}", &before[start..], &modifiers[1..]),
        None => "leave it out".into(),
    };
    format!("{term} and say en_passant = \"takes\" (or \"takes and taken\") for the piece")
}
