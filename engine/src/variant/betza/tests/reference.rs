//! The reference in the documents against the parser, and shipped games against their hashes.

use super::*;
use crate::variant::Variant;

/// The rows of the tables between two headings: the strings quoted in one column.
fn quoted_in(from: &str, to: &str, column: usize) -> Vec<String> {
    let reference = include_str!("../../../../../docs/formats/variant.md");
    let section = reference.split(from).nth(1).unwrap_or_else(|| panic!("no heading {from}"));
    let section = section.split(to).next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---"));
    let cells = rows.skip(1).filter_map(|row| row.split('|').nth(column + 1));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned)).collect()
}

#[test]
fn the_reference_says_what_is_understood() {
    let near_half = Some(SquareSet::only(Square::at(0, 0).unwrap()));
    let strings = quoted_in("\n### Understood\n", "\n### Refused\n", 1);
    assert!(strings.len() >= 50, "{strings:?}");
    for text in strings {
        parse_on(&text, near_half).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

#[test]
fn the_reference_says_what_is_refused() {
    let strings = quoted_in("\n### Refused\n", "\n## ", 0);
    assert!(strings.len() >= 40, "{strings:?}");
    for text in &strings {
        assert!(parse_on(text, None).is_err(), "{text} is understood");
    }
}

/// Each letter that is no modifier or atom is refused by name, and the reference has it.
#[test]
fn every_letter_is_known() {
    let reference = quoted_in("\n### Understood\n", "\n## ", 0).concat();
    for letter in ('a'..='z').chain('A'..='Z') {
        let known = reference.contains(letter);
        let named = parse(&format!("{letter}R")).map_err(|error| error.kind);
        let nowhere = matches!(named, Err(BetzaErrorKind::Unexpected));
        assert!(known != nowhere, "{letter}: in the reference {known}, parsed {named:?}");
    }
}

/// Weights and samples carry the hash of their game's rules: nothing that these games mean may change by a byte.
#[test]
fn shipped_games_keep_their_hashes() {
    let pinned = [
        ("chess", "818d22e7ac695db15538dd4d12f922fb35395da4b88a7d71df94d815722170bc"),
        ("herculean", "fffb869caf61b7e4d52803052aeff946015f627a2cd200a3457b1831ac2292aa"),
        ("herculean-sorcerer-knights", "58f85c9f2ddf9c0ace86fa85b36ab606b10399abab3d132ff724219c9107d688"),
        ("herculean-sorcerer-knights-lame", "efc9e5b4ffa3e3e8d0438d92d2d4d6ca9a0fd0e171fec9e30a3f65f42f508525"),
        ("opulent-lemurian-shatranj", "c747e58ca556f9f61b19f9bcbe575911d1652f06ff160aa0e56e5ab091052d7a"),
        ("shatranj", "091c919e50431eab139389b210576c0701ddc842264f4acee383d9808900fbff"),
        ("sorcerer", "015a5b18573bdb0ea08f7dd0dae86f2f12c45e957c972e4e148fa475fa2ed089"),
        ("sorcerer-reinforcements", "f4ebb21586b80011abdabd38d8fc25cb205b041c594d2d802788e0d8bafbfe0c"),
        ("sorcerer-setup2", "d2939b4f883f7190cf79b2c155d45bfceb2854dd11c152e001912d117d7e7dbe"),
        ("sorcerer-setup2-reinforcements", "0ac69b1321a9bd8bf0a30f219eed1706b55c8f7a88db0a8d10bc3b77f5af5524"),
    ];
    for (name, hash) in pinned {
        assert_eq!(Variant::load(name).unwrap().rules_hash(), hash, "{name}");
    }
}
