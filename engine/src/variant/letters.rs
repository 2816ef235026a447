//! The letters of units in text: a capital is White's, the small letter Black's. A to Z, and for games with more than 26
//! types any other letter with exactly one small form, as `Ä` or `Σ`.

use super::rules::Colour;

/// Whether a unit may have this letter.
pub fn is_unit_letter(letter: char) -> bool {
    letter.is_uppercase() && only(letter.to_lowercase()).is_some_and(|small| capital(small) == Some(letter))
}

/// The small form of a unit's letter.
pub fn small(letter: char) -> char {
    only(letter.to_lowercase()).unwrap_or(letter)
}

/// The capital of a letter in either form and whose man it is; `None` if it can be no unit's letter.
pub fn read(letter: char) -> Option<(char, Colour)> {
    if is_unit_letter(letter) {
        return Some((letter, Colour::White));
    }
    capital(letter)
        .filter(|&capital| is_unit_letter(capital) && small(capital) == letter)
        .map(|capital| (capital, Colour::Black))
}

fn capital(small: char) -> Option<char> {
    if small.is_lowercase() { only(small.to_uppercase()) } else { None }
}

fn only(mut forms: impl Iterator<Item = char>) -> Option<char> {
    forms.next().filter(|_| forms.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_have_one_form_for_each_side() {
        for letter in ('A'..='Z').chain("ÄÖØÞΣΩЖ".chars()) {
            assert!(is_unit_letter(letter), "{letter}");
            assert_eq!(read(letter), Some((letter, Colour::White)));
            assert_eq!(read(small(letter)), Some((letter, Colour::Black)));
        }
        // No letters, or letters whose forms are not one to one.
        for other in ['*', '.', '7', '-', 'ß', 'İ', 'ı', 'ǅ', '中'] {
            assert!(!is_unit_letter(other) && read(other).is_none(), "{other}");
        }
    }
}
