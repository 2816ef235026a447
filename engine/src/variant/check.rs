//! A tree of TOML values to [`Rules`]: every key known, every name resolved, every contradiction found, all faults collected.
//!
//! Nothing stops at the first fault: whatever can still be judged is judged, and what depends on something faulty is passed over in
//! silence. The keys are documented in `docs/formats/variant.md`; [`KEYS`] lists them.

mod board;
mod moves;
mod rule;

use super::file::{Draft, Entry, FaultKind, Faults, Node, Place, Table, Value};
use super::rules::{MAX_UNITS, Rules, Unit};
use crate::geometry::{SquareSet, Topology};
use std::collections::BTreeMap;

/// Every table of a variant file (empty: the file itself) with the keys it takes.
pub const KEYS: &[(&str, &[&str])] = &[
    ("", &["format", "inherits", "variant", "board", "zones", "pieces", "promotion", "castling", "drops", "end"]),
    ("variant", &["name", "author"]),
    ("board", &["setup", "first_rank", "black_sees"]),
    ("piece", &["letter", "moves", "also", "then", "outward", "en_passant", "royal", "takeable"]),
    ("also", &["moves", "from", "to"]),
    ("promotion", &["who", "zone", "must", "to", "always", "to_captured", "at_most", "one_per_colour", "after_drop"]),
    ("castling", &["partner", "king_steps"]),
    ("king_steps", &["to_higher_files", "to_lower_files"]),
    ("drops", &["hand", "zone"]),
    (
        "end",
        &[
            "in_check_if",
            "stalemated_side",
            "stalemated_by_bare_king",
            "bare_king",
            "bare_kings_draw",
            "repetition",
            "move_count_plies",
            "move_count_reset_by",
        ],
    ),
];

/// The rules a merged tree states, or `None` when a part is missing; faults are added to `faults` either way.
pub(super) fn rules(root: &Node, name: &str, faults: &mut Faults) -> Option<Rules> {
    let Value::Table(table) = &root.value else { return None };
    let mut check = Check {
        faults,
        root: root.place,
        pieces: Vec::new(),
        royal: None,
        several_royals: false,
        meant_letters: String::new(),
        array_known: true,
        topology: None,
        zones: BTreeMap::new(),
    };
    check.unknown_keys("", "", table);
    check.name_pieces(table);
    let (title, author) = check.variant(table);
    let letters = check.letters();
    let (topology, array) = check.board(table, &letters).map_or((None, Vec::new()), |(t, array)| (Some(t), array));
    check.topology = topology;
    check.zones(table);
    check.find_royal();
    check.several_royals = check.may_have_several_royals(table);
    check.royals_of_each_side(table, &array);
    let mut units = check.units(&letters);
    let promotion = check.promotion(table, &array);
    let castling = check.castling(table, &array);
    let drops = check.drops(table);
    check.dropped_before(table, &promotion, drops.as_ref());
    let end = check.end(table, &promotion, &mut units);
    Some(Rules {
        name: name.into(),
        title,
        author,
        topology: check.topology?,
        array,
        units,
        promotion,
        castling,
        drops,
        end,
    })
}

/// What is known of the file while it is checked.
struct Check<'a> {
    faults: &'a mut Faults,
    root: Place,
    /// The pieces in the order of their units: by name, so that the order in the file does not matter.
    pieces: Vec<&'a Entry>,
    royal: Option<Unit>,
    /// Whether the file says what check means for a side with several royal pieces, and so allows them.
    several_royals: bool,
    /// What pieces with a faulty letter may have meant; on the board such letters are passed over.
    meant_letters: String,
    /// Whether every man of the drawing was understood; if not, missing men prove nothing.
    array_known: bool,
    topology: Option<Topology>,
    /// The named zones; `None` for those that are faulty.
    zones: BTreeMap<String, Option<SquareSet>>,
}

/// The unit with an index; files with too many pieces are refused, so the last one may stand for the rest.
fn unit(index: usize) -> Unit {
    Unit(u8::try_from(index).unwrap_or(u8::MAX))
}

impl<'a> Check<'a> {
    fn name_pieces(&mut self, table: &'a Table) {
        let Some((entry, pieces)) = self.section(table, "pieces", true) else { return };
        self.pieces = pieces.entries.iter().collect();
        self.pieces.sort_by(|a, b| a.key.cmp(&b.key));
        if pieces.entries.len() > MAX_UNITS || pieces.entries.is_empty() {
            let (expected, got) = (format!("1 to {MAX_UNITS} pieces"), pieces.entries.len().to_string());
            self.faults.add(Draft::new(entry.place, FaultKind::WrongValue, "pieces", expected, got));
        }
        self.pieces.truncate(usize::from(u8::MAX));
        for entry in &pieces.entries {
            let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
            if entry.key.is_empty() || !entry.key.bytes().all(plain) || entry.key == "none" {
                let expected = "a piece name of lower-case letters, digits and _";
                let (path, got) = (format!("pieces.{}", entry.key), super::file::quoted(&entry.key));
                self.faults.add(Draft::new(entry.place, FaultKind::WrongValue, path, expected, got));
            }
        }
    }

    fn variant(&mut self, table: &'a Table) -> (String, String) {
        let Some((_, variant)) = self.section(table, "variant", true) else { return Default::default() };
        self.unknown_keys("variant", "variant", variant);
        let mut text = |key: &str| {
            let entry = variant.get(key)?;
            self.text(&format!("variant.{key}"), &entry.node, "a text").map(str::to_owned)
        };
        let (title, author) = (text("name"), text("author"));
        if variant.get("name").is_none() {
            self.missing(table.get("variant"), "variant.name", "the game's name");
        }
        (title.unwrap_or_default(), author.unwrap_or_default())
    }

    /// A section's table; a fault if it is no table, or is missing and `required`.
    fn section(&mut self, table: &'a Table, key: &str, required: bool) -> Option<(&'a Entry, &'a Table)> {
        let Some(entry) = table.get(key) else {
            if required {
                self.missing(None, key, &format!("a table [{key}]"));
            }
            return None;
        };
        self.table(key, &entry.node).map(|table| (entry, table))
    }

    fn missing(&mut self, within: Option<&Entry>, path: &str, expected: &str) {
        let place = within.map_or(self.root, |entry| entry.place);
        self.faults.add(Draft::new(place, FaultKind::MissingKey, path, expected, "no such key"));
    }

    /// Reports the keys that a table does not take; `kind` is its name in [`KEYS`].
    fn unknown_keys(&mut self, kind: &str, path: &str, table: &Table) {
        let known = KEYS.iter().find(|(name, _)| *name == kind).map_or(&[][..], |(_, keys)| keys);
        for entry in table.entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let path = if path.is_empty() { entry.key.clone() } else { format!("{path}.{}", entry.key) };
            let expected = format!("one of {}", known.join(", "));
            let got = format!("the unknown key {}", super::file::quoted(&entry.key));
            let draft = Draft::new(entry.place, FaultKind::UnknownKey, path, expected, got);
            self.faults.add(draft.nearest(&entry.key, "known key", known.iter().copied()));
        }
    }

    fn wrong_type(&mut self, path: &str, node: &Node, expected: &str) {
        self.faults.add(Draft::new(node.place, FaultKind::WrongType, path, expected, node.describe()));
    }

    fn wrong_value(&mut self, path: &str, node: &Node, expected: &str) {
        self.faults.add(Draft::new(node.place, FaultKind::WrongValue, path, expected, node.describe()));
    }

    fn table<'n>(&mut self, path: &str, node: &'n Node) -> Option<&'n Table> {
        match &node.value {
            Value::Table(table) => Some(table),
            _ => {
                self.wrong_type(path, node, "a table");
                None
            }
        }
    }

    fn text<'n>(&mut self, path: &str, node: &'n Node, expected: &str) -> Option<&'n str> {
        match &node.value {
            Value::Text(text, _) => Some(text),
            _ => {
                self.wrong_type(path, node, expected);
                None
            }
        }
    }

    fn list<'n>(&mut self, path: &str, node: &'n Node, expected: &str) -> Option<&'n [Node]> {
        match &node.value {
            Value::List(list) => Some(list),
            _ => {
                self.wrong_type(path, node, expected);
                None
            }
        }
    }

    fn boolean(&mut self, path: &str, entry: Option<&Entry>, default: bool) -> bool {
        match entry.map(|entry| &entry.node) {
            None => default,
            Some(Node { value: Value::Boolean(claim), .. }) => *claim,
            Some(node) => {
                self.wrong_type(path, node, "true or false");
                default
            }
        }
    }

    /// A whole number between two limits.
    fn number(&mut self, path: &str, node: &Node, least: u16, greatest: u16) -> Option<u16> {
        let expected = format!("a whole number from {least} to {greatest}");
        match node.value {
            Value::Integer(number) => {
                let fits = u16::try_from(number).ok().filter(|number| (least..=greatest).contains(number));
                if fits.is_none() {
                    self.wrong_value(path, node, &expected);
                }
                fits
            }
            _ => {
                self.wrong_type(path, node, &expected);
                None
            }
        }
    }

    /// One of some words, as the value that stands for it.
    fn word<T: Copy>(&mut self, path: &str, entry: Option<&Entry>, words: &[(&str, T)]) -> Option<T> {
        let node = &entry?.node;
        let names: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
        let expected = format!("one of {}", names.join(", "));
        let text = self.text(path, node, &expected)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|&(_, value)| value);
        if found.is_none() {
            let draft = Draft::new(node.place, FaultKind::WrongValue, path, expected, node.describe());
            self.faults.add(draft.nearest(text, "known word", words.iter().map(|&(word, _)| word)));
        }
        found
    }

    /// The unit a piece name stands for.
    fn unit(&mut self, path: &str, node: &Node) -> Option<Unit> {
        let name = self.text(path, node, "the name of a piece")?;
        self.unit_named(path, name, node.place)
    }

    fn unit_named(&mut self, path: &str, name: &str, place: Place) -> Option<Unit> {
        let found = self.pieces.iter().position(|piece| piece.key == name);
        if found.is_none() {
            let got = super::file::quoted(name);
            let draft = Draft::new(place, FaultKind::UnknownName, path, "the name of a piece", got);
            self.faults.add(draft.nearest(name, "piece", self.pieces.iter().map(|piece| piece.key.as_str())));
        }
        found.map(unit)
    }

    /// A list of different piece names; those that are faulty are left out.
    fn unit_list(&mut self, path: &str, node: &Node) -> Vec<Unit> {
        let mut units = Vec::new();
        for item in self.list(path, node, "a list of piece names").unwrap_or(&[]) {
            match self.unit(path, item) {
                Some(unit) if units.contains(&unit) => {
                    let draft = Draft::new(item.place, FaultKind::Duplicate, path, "each piece once", item.describe());
                    self.faults.add(draft);
                }
                Some(unit) => units.push(unit),
                None => {}
            }
        }
        units
    }
}
