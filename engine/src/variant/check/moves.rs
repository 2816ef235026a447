//! The pieces: letters, moves, paths, and who is royal.

use super::{Check, unit};
use crate::variant::betza::{self, BetzaError};
use crate::variant::file::{Draft, Entry, FaultKind, Node, Table, Value};
use crate::variant::letters::is_unit_letter;
use crate::variant::pattern::{Leg, Pattern, Turn};
use crate::variant::rules::UnitRules;

/// Longest path written as a list of legs.
const MAX_LEGS: usize = 8;

impl<'a> Check<'a> {
    /// The letter of each piece, where it has a right one that no piece before it has.
    pub(super) fn letters(&mut self) -> Vec<Option<char>> {
        let mut letters: Vec<Option<char>> = vec![None; self.pieces.len()];
        let mut order: Vec<usize> = (0..self.pieces.len()).collect();
        order.sort_by_key(|&index| self.pieces[index].place.inherited_first());
        for index in order {
            let piece = self.pieces[index];
            let Value::Table(table) = &piece.node.value else { continue };
            let path = format!("pieces.{}.letter", piece.key);
            let Some(entry) = table.get("letter") else {
                self.missing(Some(piece), &path, "a capital letter");
                continue;
            };
            let Some(text) = self.text(&path, &entry.node, "a capital letter") else { continue };
            let letter = text.chars().next().filter(|&letter| is_unit_letter(letter) && text.chars().count() == 1);
            let Some(letter) = letter else {
                self.wrong_value(&path, &entry.node, "one capital letter, A to Z or another with one small form");
                self.meant_letters.extend(text.chars().take(1).flat_map(char::to_uppercase));
                continue;
            };
            if let Some(other) = letters.iter().position(|&known| known == Some(letter)) {
                let expected = "a letter of its own";
                let got = format!("{letter}, the letter of {}", self.pieces[other].key);
                self.faults.add(Draft::new(entry.node.place, FaultKind::Duplicate, path, expected, got));
                continue;
            }
            letters[index] = Some(letter);
        }
        letters
    }

    /// Finds the one royal piece: what says `royal = true`, else the piece named king.
    pub(super) fn find_royal(&mut self) {
        let claims = |piece: &Entry| match &piece.node.value {
            Value::Table(table) => table.get("royal").map(|entry| matches!(entry.node.value, Value::Boolean(true))),
            _ => None,
        };
        let mut royals: Vec<usize> =
            (0..self.pieces.len()).filter(|&index| claims(self.pieces[index]) == Some(true)).collect();
        if royals.is_empty() {
            royals = (0..self.pieces.len())
                .filter(|&index| self.pieces[index].key == "king" && claims(self.pieces[index]).is_none())
                .collect();
        }
        royals.sort_by_key(|&index| self.pieces[index].place.inherited_first());
        for &index in royals.iter().skip(1) {
            let piece = self.pieces[index];
            let got = format!("another one beside {}", self.pieces[royals[0]].key);
            let path = format!("pieces.{}.royal", piece.key);
            self.faults.add(Draft::new(piece.place, FaultKind::Conflict, path, "one royal piece", got));
        }
        if royals.is_empty() && !self.pieces.is_empty() {
            let draft = Draft::new(self.root, FaultKind::Conflict, "pieces", "one royal piece", "none");
            self.faults.add(draft.hint("name a piece king, or give one royal = true"));
        }
        self.royal = royals.first().map(|&index| unit(index));
    }

    /// The units, in the order of [`Check::pieces`].
    pub(super) fn units(&mut self, letters: &[Option<char>]) -> Vec<UnitRules> {
        let pieces = self.pieces.clone();
        pieces
            .into_iter()
            .zip(letters)
            .enumerate()
            .map(|(index, (piece, letter))| {
                let path = format!("pieces.{}", piece.key);
                let table = self.table(&path, &piece.node);
                let mut rules = UnitRules {
                    name: piece.key.clone(),
                    letter: letter.unwrap_or('?'),
                    patterns: Vec::new(),
                    royal: self.royal == Some(unit(index)),
                    untakeable: false,
                    takes_en_passant: false,
                    taken_en_passant: false,
                    resets_move_count: false,
                };
                if let Some(table) = table {
                    self.unit_rules(piece, &path, table, &mut rules);
                }
                rules
            })
            .collect()
    }

    fn unit_rules(&mut self, piece: &Entry, path: &str, table: &Table, rules: &mut UnitRules) {
        self.unknown_keys("piece", path, table);
        self.boolean(&format!("{path}.royal"), table.get("royal"), false);
        let words = [
            ("takes and taken", (true, true)),
            ("takes", (true, false)),
            ("taken", (false, true)),
            ("none", (false, false)),
        ];
        let en_passant = self.word(&format!("{path}.en_passant"), table.get("en_passant"), &words);
        (rules.takes_en_passant, rules.taken_en_passant) = en_passant.unwrap_or_default();
        rules.untakeable = !self.boolean(&format!("{path}.takeable"), table.get("takeable"), true);
        if let (true, true, Some(entry)) = (rules.untakeable, rules.taken_en_passant, table.get("en_passant")) {
            let (expected, got) = ("none, or takes, for what is not takeable", entry.node.describe());
            let path = format!("{path}.en_passant");
            self.faults.add(Draft::new(entry.node.place, FaultKind::Conflict, path, expected, got));
        }
        if let Some(entry) = table.get("moves") {
            rules.patterns.extend(self.betza(&format!("{path}.moves"), &entry.node));
        }
        if let Some(entry) = table.get("also") {
            let path = format!("{path}.also");
            for item in self.list(&path, &entry.node, "a list of { moves, from, to }").unwrap_or(&[]) {
                rules.patterns.extend(self.also(&path, item));
            }
        }
        for (key, turn) in [("then", Turn::Any), ("outward", Turn::Outward)] {
            let Some(entry) = table.get(key) else { continue };
            let path = format!("{path}.{key}");
            let expected = "a list of paths, each a list of legs, as [[\"W\", \"F\"]]";
            for item in self.list(&path, &entry.node, expected).unwrap_or(&[]) {
                rules.patterns.extend(self.path(&path, item, &turn));
            }
        }
        let tried = ["moves", "also", "then", "outward"].iter().find_map(|key| table.get(key));
        let empty = tried.is_some_and(|entry| matches!(&entry.node.value, Value::List(list) if list.is_empty()));
        if rules.patterns.is_empty() && (tried.is_none() || empty) {
            self.missing(Some(piece), &format!("{path}.moves"), "a move (moves, also, then or outward)");
        }
    }

    fn betza(&mut self, path: &str, node: &Node) -> Vec<Pattern> {
        let Some(text) = self.text(path, node, "moves in Betza notation") else { return Vec::new() };
        match betza::parse(text) {
            Ok(patterns) => patterns,
            Err(error) => {
                self.betza_fault(path, node, error);
                Vec::new()
            }
        }
    }

    fn betza_fault(&mut self, path: &str, node: &Node, error: BetzaError) {
        let draft = Draft::new(node.inside(error.at), FaultKind::Betza, path, error.expected, error.got);
        self.faults.add(match error.suggestion {
            Some(suggestion) => draft.hint(suggestion),
            None => draft,
        });
    }

    /// Moves from or to a zone.
    fn also(&mut self, path: &str, node: &Node) -> Vec<Pattern> {
        let Some(table) = self.table(path, node) else { return Vec::new() };
        self.unknown_keys("also", path, table);
        let mut zone = |key: &str| {
            table.get(key).map(|entry| self.zone(&format!("{path}.{key}"), &entry.node).unwrap_or_default())
        };
        let (from, to) = (zone("from"), zone("to"));
        if from.is_none() && to.is_none() {
            let expected = "from, to, or both";
            let draft = Draft::new(node.place, FaultKind::MissingKey, path, expected, "neither");
            self.faults.add(draft.hint("moves without a zone belong into the piece's moves"));
        }
        let Some(entry) = table.get("moves") else {
            let draft = Draft::new(node.place, FaultKind::MissingKey, format!("{path}.moves"), "moves", "no such key");
            self.faults.add(draft);
            return Vec::new();
        };
        let mut patterns = self.betza(&format!("{path}.moves"), &entry.node);
        for pattern in &mut patterns {
            (pattern.from, pattern.to) = (from, to);
        }
        patterns
    }

    /// A path of legs over empty squares, as `["F", "R2+"]`.
    fn path(&mut self, path: &str, node: &Node, turn: &Turn) -> Option<Pattern> {
        let items = self.list(path, node, "a path: a list of legs, as [\"W\", \"F\"]")?;
        if !(2..=MAX_LEGS).contains(&items.len()) {
            let (expected, got) = (format!("2 to {MAX_LEGS} legs"), items.len().to_string());
            self.faults.add(Draft::new(node.place, FaultKind::WrongValue, path, expected, got));
            return None;
        }
        let mut legs: Vec<Leg> = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let Some(text) = self.text(path, item, "a leg such as \"F\"") else { continue };
            match betza::parse_leg(text, index + 1 == items.len()) {
                Ok(leg) => legs.push(Leg { turn: if index == 0 { Turn::Any } else { turn.clone() }, ..leg }),
                Err(error) => self.betza_fault(path, item, error),
            }
        }
        (legs.len() == items.len()).then_some(Pattern {
            legs,
            moves: true,
            captures: true,
            initial: false,
            from: None,
            to: None,
        })
    }
}
