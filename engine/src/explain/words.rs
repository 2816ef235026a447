//! Small pieces of English: names, numbers, lists, sets of squares. Exact, since rules are told with them.

use crate::geometry::{Square, SquareSet, Topology};
use crate::variant::Variant;
use crate::variant::rules::{Colour, Unit};

/// A unit's name for people: `flying_chariot` is a Flying Chariot.
pub fn name(variant: &Variant, unit: Unit) -> String {
    let words = variant.unit(unit).name.split('_').map(|word| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    });
    words.collect::<Vec<String>>().join(" ")
}

/// `name` with its article.
pub(super) fn with_article(name: &str) -> String {
    let vowel = name.starts_with(['A', 'E', 'I', 'O', 'U', 'a', 'e', 'i', 'o', 'u']);
    format!("{} {name}", if vowel { "an" } else { "a" })
}

/// The side as a word.
pub(super) const fn side(colour: Colour) -> &'static str {
    match colour {
        Colour::White => "White",
        Colour::Black => "Black",
    }
}

/// Small numbers as words.
pub(super) fn number(number: usize) -> String {
    const WORDS: [&str; 13] =
        ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    WORDS.get(number).map_or_else(|| number.to_string(), |&word| word.into())
}

/// So many squares.
pub(super) fn squares(count: usize) -> String {
    format!("{} {}", number(count), if count == 1 { "square" } else { "squares" })
}

/// `a`, `a and b`, `a, b and c` (or with another last word).
pub(super) fn list(items: &[String], last: &str) -> String {
    match items {
        [] => "nothing".into(),
        [one] => one.clone(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

/// A set of squares: whole ranks, then whole files, then single squares.
pub(super) fn zone(topology: &Topology, zone: SquareSet) -> String {
    let all = topology.squares();
    if (all - zone).is_empty() {
        return "any square".into();
    }
    let mut left = zone & all;
    let mut parts = Vec::new();
    let rank_name = |row: u8| (u16::from(row) + u16::from(topology.first_rank())).to_string();
    let ranks = whole_lines(topology.height(), &mut left, zone, |row| rank(topology, row));
    parts.extend(runs(&ranks).into_iter().map(|run| line_words("rank", run, rank_name)));
    let files = whole_lines(topology.width(), &mut left, zone, |file| self::file(topology, file));
    parts.extend(runs(&files).into_iter().map(|run| line_words("file", run, |file| file_name(file).to_string())));
    parts.extend(left.iter().map(|square| topology.name(square)));
    list(&parts, "and")
}

/// The letter of a file.
pub(super) fn file_name(file: u8) -> char {
    (b'a' + file) as char
}

fn rank(topology: &Topology, row: u8) -> SquareSet {
    topology.squares().iter().filter(|square| square.row() == row).collect()
}

fn file(topology: &Topology, file: u8) -> SquareSet {
    topology.squares().iter().filter(|square| square.file() == file).collect()
}

/// The lines that lie wholly in `zone` and of which something is still `left` to be said.
fn whole_lines(count: u8, left: &mut SquareSet, zone: SquareSet, line: impl Fn(u8) -> SquareSet) -> Vec<u8> {
    let mut whole = Vec::new();
    for index in 0..count {
        let line = line(index);
        if (line - zone).is_empty() && !(line & *left).is_empty() {
            whole.push(index);
        }
    }
    for &index in &whole {
        *left = *left - line(index);
    }
    whole
}

/// Neighbouring numbers run together: first and last of each run.
fn runs(numbers: &[u8]) -> Vec<(u8, u8)> {
    let mut runs: Vec<(u8, u8)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    runs
}

fn line_words(what: &str, (first, last): (u8, u8), name: impl Fn(u8) -> String) -> String {
    match last - first {
        0 => format!("{what} {}", name(first)),
        1 => format!("{what}s {} and {}", name(first), name(last)),
        _ => format!("{what}s {} to {}", name(first), name(last)),
    }
}

/// The rank's number in the game's notation.
pub(super) fn rank_number(topology: &Topology, square: Square) -> u16 {
    u16::from(square.row()) + u16::from(topology.first_rank())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_said_by_lines() {
        let variant = Variant::load("sorcerer").unwrap();
        let topology = variant.topology();
        let named = |names: &str| names.split(' ').map(|name| topology.parse(name).unwrap()).collect::<SquareSet>();
        let rows = |rows: std::ops::RangeInclusive<u8>| -> SquareSet {
            topology.squares().iter().filter(|square| rows.contains(&square.row())).collect()
        };
        assert_eq!(zone(topology, topology.squares()), "any square");
        assert_eq!(zone(topology, rows(0..=5)), "ranks 0 to 5");
        assert_eq!(zone(topology, named("e0 f0")), "rank 0");
        assert_eq!(zone(topology, rows(10..=11)), "ranks 10 and 11");
        assert_eq!(zone(topology, named("e1 d4") | rows(2..=2)), "rank 2, e1 and d4");
        assert_eq!(zone(topology, file(topology, 2) | rows(0..=2)), "ranks 0 to 2 and file c");
    }
}
