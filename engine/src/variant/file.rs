//! A variant's TOML text to a tree of values that know their place, with the tables of the games it inherits from merged in.
//!
//! This file knows TOML, places and inheritance; it does not know what the keys mean. [`super::check`] does, and
//! `docs/formats/variant.md` lists them.

use super::compile_error::Told;
use super::rules::Rules;
use super::{CompileError, Variant, check, library};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Longest file read, in bytes.
pub const MAX_FILE_BYTES: usize = 1 << 16;

/// Most faults reported at once; whoever has more sees the rest after mending these.
pub const MAX_FAULTS: usize = 200;

/// Most names looked through for the nearest one.
const MAX_NAMES: usize = 256;

/// Most games in a line of inheritance.
pub const MAX_INHERITANCE: usize = 8;

/// The version of the format that is read: every file says `format = 1`.
pub const FORMAT: i64 = 1;

/// Sections that a game may take out of the one it inherits from by `section = "none"`.
const REMOVABLE_SECTIONS: [&str; 3] = ["promotion", "castling", "drops"];

/// Sections whose entries may be taken out by `entry = "none"`.
const REMOVABLE_ENTRIES: [&str; 2] = ["pieces", "zones"];

/// Everything wrong with a variant file (and the files it inherits from), in the order of their places.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct VariantErrors {
    /// The faults, at least one.
    pub faults: Vec<Fault>,
}

/// One thing wrong with a variant file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {key}{}expected {expected}, got {got}{}", if key.is_empty() { "" } else { ": " },
    hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default())]
pub struct Fault {
    /// The file it is in.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// Its column in characters, from 1.
    pub column: usize,
    /// The key it is under, as `pieces.pawn.moves`; empty for the file as a whole.
    pub key: String,
    /// The class of the fault.
    pub kind: FaultKind,
    /// What would have been right.
    pub expected: String,
    /// What was there.
    pub got: String,
    /// The nearest known name, or what to write instead.
    pub hint: Option<String>,
}

/// Classes of faults in a variant file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// Not TOML.
    Syntax,
    /// A key that means nothing there.
    UnknownKey,
    /// A key that must be there.
    MissingKey,
    /// A value of another type than the key takes.
    WrongType,
    /// A word or number that the key does not take.
    WrongValue,
    /// A name of a piece, zone or game that does not exist.
    UnknownName,
    /// Something that may be there only once.
    Duplicate,
    /// Moves that are not understood.
    Betza,
    /// A drawing of the board that cannot be read.
    Setup,
    /// Parts that are right by themselves and contradict each other.
    Conflict,
    /// Something about the game inherited from.
    Inheritance,
}

/// Rules as a file has them, with the file still at hand, so that what only compiling shows is told with its place too.
pub struct Reading {
    rules: Rules,
    root: Node,
    faults: Faults,
}

impl Reading {
    /// The rules alone.
    pub fn into_rules(self) -> Rules {
        self.rules
    }

    /// The game.
    ///
    /// # Errors
    /// What keeps the rules from being compiled, with the places of the keys at fault.
    pub fn compile(self) -> Result<Variant, VariantErrors> {
        let Self { rules, root, mut faults } = self;
        Variant::compile(rules).map_err(|refused| {
            for Told { key, expected, got, hint } in refused.errors.iter().map(CompileError::told) {
                let draft = Draft::new(place_of(&root, &key), FaultKind::Conflict, key, expected, got);
                faults.add(match hint {
                    Some(hint) => draft.hint(hint),
                    None => draft,
                });
            }
            faults.finish()
        })
    }
}

/// Reads a variant. `file` names the text in messages, `name` is what the game is called by, `library` gives the text of a game
/// named in `inherits`.
///
/// # Errors
/// Every fault of the file and of those it inherits from.
pub fn read(
    text: &str,
    file: &str,
    name: &str,
    library: &dyn Fn(&str) -> Option<String>,
) -> Result<Reading, VariantErrors> {
    let mut loader = Loader { faults: Faults::default(), library };
    let root = loader.load(text, file, &mut Vec::new());
    let mut faults = loader.faults;
    let rules = root.as_ref().and_then(|root| check::rules(root, name, &mut faults));
    match (root, rules) {
        (Some(root), Some(rules)) if faults.is_empty() => Ok(Reading { rules, root, faults }),
        _ => Err(faults.finish()),
    }
}

/// The rules that [`read`] finds, without their places.
///
/// # Errors
/// As [`read`].
pub fn parse(
    text: &str,
    file: &str,
    name: &str,
    library: &dyn Fn(&str) -> Option<String>,
) -> Result<Rules, VariantErrors> {
    read(text, file, name, library).map(Reading::into_rules)
}

/// Where the value of a key such as `pieces.pawn.moves` stands, or of as much of the key as there is.
fn place_of(root: &Node, key: &str) -> Place {
    let mut node = root;
    for part in key.split('.') {
        let Value::Table(table) = &node.value else { break };
        let Some(entry) = table.get(part) else { break };
        node = &entry.node;
    }
    node.place
}

/// Where something stands: a file (index into [`Faults`]'s list) and a byte offset in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    file: usize,
    offset: usize,
}

impl Place {
    /// Sorts what is inherited before what a game says itself.
    pub(super) fn inherited_first(self) -> (std::cmp::Reverse<usize>, usize) {
        (std::cmp::Reverse(self.file), self.offset)
    }
}

/// A value with its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) value: Value,
}

/// A TOML value as far as variants use them.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A string, and where its text starts when it is written out plainly (without escapes).
    Text(String, Option<Place>),
    Integer(i64),
    Boolean(bool),
    List(Vec<Node>),
    Table(Table),
    /// A type no key takes, or a number out of all ranges.
    Other(&'static str),
}

/// A table whose entries are in the order of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub(super) entries: Vec<Entry>,
}

/// One `key = value`.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    /// Where the key stands.
    pub(super) place: Place,
    pub(super) node: Node,
}

impl Table {
    pub(super) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    fn take(&mut self, key: &str) -> Option<Entry> {
        let index = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(index))
    }

    /// Puts `entry` in the place of the one with the same key, or at the end.
    fn put(&mut self, entry: Entry) {
        match self.entries.iter_mut().find(|old| old.key == entry.key) {
            Some(old) => *old = entry,
            None => self.entries.push(entry),
        }
    }
}

impl Node {
    /// What to call it in a message.
    pub(super) fn describe(&self) -> String {
        match &self.value {
            Value::Text(text, _) => quoted(text),
            Value::Integer(number) => number.to_string(),
            Value::Boolean(claim) => claim.to_string(),
            Value::List(_) => "a list".into(),
            Value::Table(_) => "a table".into(),
            Value::Other(kind) => (*kind).into(),
        }
    }

    /// The place `offset` bytes into a string's text, as well as it is known.
    pub(super) fn inside(&self, offset: usize) -> Place {
        match &self.value {
            Value::Text(_, Some(start)) => Place { offset: start.offset + offset, ..*start },
            _ => self.place,
        }
    }

    fn says_none(&self) -> bool {
        matches!(&self.value, Value::Text(text, _) if text == "none")
    }
}

/// Text of a message's `got`, shortened.
pub(super) fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// The nearest of `known` to `word`, as a hint.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: String = word.chars().take(64).collect();
    let distance = |other: &str| strsim::normalized_damerau_levenshtein(&word, other);
    known.into_iter().take(MAX_NAMES).max_by(|a, b| distance(a).total_cmp(&distance(b)).then_with(|| b.cmp(a)))
}

/// The faults found so far, with the texts needed to tell their lines.
#[derive(Default)]
pub(super) struct Faults {
    files: Vec<(String, String)>,
    faults: Vec<(Place, Fault)>,
}

/// A fault before its place is written out.
pub(super) struct Draft {
    place: Place,
    key: String,
    kind: FaultKind,
    expected: String,
    got: String,
    hint: Option<String>,
}

impl Draft {
    pub(super) fn new(
        place: Place,
        kind: FaultKind,
        key: impl Into<String>,
        expected: impl Into<String>,
        got: impl Into<String>,
    ) -> Self {
        Self { place, key: key.into(), kind, expected: expected.into(), got: got.into(), hint: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Names the nearest known word, if there is one.
    pub(super) fn nearest<'a>(self, word: &str, what: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        match nearest(word, known) {
            Some(known) => self.hint(format!("the nearest {what} is {known:?}")),
            None => self,
        }
    }
}

impl Faults {
    pub(super) fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    /// Notes a fault; the same one twice counts once, and no more than [`MAX_FAULTS`] are kept.
    pub(super) fn add(&mut self, draft: Draft) {
        if self.faults.len() >= MAX_FAULTS {
            return;
        }
        let (name, text) = &self.files[draft.place.file];
        let (line, column) = line_and_column(text, draft.place.offset);
        let Draft { place, key, kind, expected, got, hint } = draft;
        let fault = Fault { file: name.clone(), line, column, key, kind, expected, got, hint };
        if !self.faults.iter().any(|(_, known)| *known == fault) {
            self.faults.push((place, fault));
        }
    }

    /// The faults in the order of their places.
    fn finish(mut self) -> VariantErrors {
        self.faults.sort_by_key(|&(place, _)| place);
        let mut faults: Vec<Fault> = self.faults.into_iter().map(|(_, fault)| fault).collect();
        if faults.is_empty() {
            // Cannot happen as long as whoever gives up says why; a message is still better than a panic.
            faults.push(Fault {
                file: self.files.into_iter().next().map(|(name, _)| name).unwrap_or_default(),
                line: 1,
                column: 1,
                key: String::new(),
                kind: FaultKind::Syntax,
                expected: "a variant".into(),
                got: "something else".into(),
                hint: None,
            });
        }
        VariantErrors { faults }
    }
}

fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

struct Loader<'a> {
    faults: Faults,
    library: &'a dyn Fn(&str) -> Option<String>,
}

impl Loader<'_> {
    /// Reads one file with everything it inherits; `chain` holds the names of the games being read.
    fn load(&mut self, text: &str, file: &str, chain: &mut Vec<String>) -> Option<Node> {
        let index = self.faults.files.len();
        let start = Place { file: index, offset: 0 };
        if text.len() > MAX_FILE_BYTES {
            self.faults.files.push((file.into(), String::new()));
            let (expected, got) = (format!("at most {MAX_FILE_BYTES} bytes"), format!("{} bytes", text.len()));
            self.faults.add(Draft::new(start, FaultKind::Syntax, "", expected, got));
            return None;
        }
        self.faults.files.push((file.into(), text.into()));
        let document = match DeTable::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let place = Place { file: index, offset: error.span().map_or(0, |span| span.start) };
                self.faults.add(Draft::new(place, FaultKind::Syntax, "", "valid TOML", error.message().trim()));
                return None;
            }
        };
        let mut table = read_table(document.get_ref(), text, index);
        self.check_format(&mut table, start);
        let root = match table.take("inherits") {
            Some(inherits) => {
                let parent = self.inherit(&inherits, chain)?;
                self.merge(parent, table)
            }
            None => {
                self.refuse_removals(&table);
                table
            }
        };
        Some(Node { place: start, value: Value::Table(root) })
    }

    fn check_format(&mut self, table: &mut Table, start: Place) {
        let expected = format!("format = {FORMAT}");
        let draft = match table.take("format") {
            None => Draft::new(start, FaultKind::MissingKey, "format", expected, "no such key"),
            Some(Entry { node: Node { value: Value::Integer(FORMAT), .. }, .. }) => return,
            Some(Entry { node, .. }) => {
                Draft::new(node.place, FaultKind::WrongValue, "format", expected, node.describe())
            }
        };
        self.faults.add(draft);
    }

    fn inherit(&mut self, inherits: &Entry, chain: &mut Vec<String>) -> Option<Table> {
        let place = inherits.node.place;
        let draft = |kind, expected: &str, got: String| Draft::new(place, kind, "inherits", expected, got);
        let Value::Text(name, _) = &inherits.node.value else {
            self.faults.add(draft(FaultKind::WrongType, "the name of a game", inherits.node.describe()));
            return None;
        };
        if chain.contains(name) {
            let line = format!("{} -> {name}", chain.join(" -> "));
            self.faults.add(draft(FaultKind::Inheritance, "no game to inherit from itself", line));
            return None;
        }
        if chain.len() >= MAX_INHERITANCE {
            let expected = format!("at most {MAX_INHERITANCE} games in a line");
            self.faults.add(draft(FaultKind::Inheritance, &expected, quoted(name)));
            return None;
        }
        let Some(text) = (self.library)(name) else {
            let known = library::SHIPPED.iter().map(|&(known, _)| known);
            let fault = draft(FaultKind::UnknownName, "a shipped game, or a file beside this one", quoted(name));
            self.faults.add(fault.nearest(name, "shipped game", known));
            return None;
        };
        chain.push(name.clone());
        let file = if name.ends_with(".toml") { name.clone() } else { format!("{name}.toml") };
        let parent = self.load(&text, &file, chain);
        chain.pop();
        match parent?.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The parent's sections with the child's keys in place of its own; `"none"` takes a piece, zone or section out.
    fn merge(&mut self, mut parent: Table, child: Table) -> Table {
        for section in child.entries {
            if section.node.says_none() && REMOVABLE_SECTIONS.contains(&section.key.as_str()) {
                if parent.take(&section.key).is_none() {
                    self.nothing_to_remove(&section, &section.key.clone(), &parent);
                }
                continue;
            }
            let inherited = parent.entries.iter_mut().find(|old| old.key == section.key);
            match (inherited.map(|old| &mut old.node.value), section.node.value) {
                (Some(Value::Table(old)), Value::Table(new)) => self.merge_section(&section.key, old, new),
                (None, Value::Table(new)) => {
                    let mut fresh = Table::default();
                    self.merge_section(&section.key, &mut fresh, new);
                    let node = Node { place: section.node.place, value: Value::Table(fresh) };
                    parent.put(Entry { key: section.key, place: section.place, node });
                }
                (_, value) => {
                    let node = Node { place: section.node.place, value };
                    parent.put(Entry { key: section.key, place: section.place, node });
                }
            }
        }
        parent
    }

    fn merge_section(&mut self, section: &str, parent: &mut Table, child: Table) {
        for entry in child.entries {
            if entry.node.says_none() && REMOVABLE_ENTRIES.contains(&section) {
                if parent.take(&entry.key).is_none() {
                    self.nothing_to_remove(&entry, &format!("{section}.{}", entry.key), parent);
                }
            } else {
                parent.put(entry);
            }
        }
    }

    fn nothing_to_remove(&mut self, entry: &Entry, path: &str, parent: &Table) {
        let got = "nothing of that name in the game inherited from";
        let draft = Draft::new(entry.place, FaultKind::UnknownName, path, "something to take out", got);
        self.faults.add(draft.nearest(&entry.key, "known name", parent.entries.iter().map(|entry| &*entry.key)));
    }

    /// A game that inherits nothing has nothing to take out.
    fn refuse_removals(&mut self, table: &Table) {
        for section in &table.entries {
            if section.node.says_none() && REMOVABLE_SECTIONS.contains(&section.key.as_str()) {
                self.nothing_to_remove(section, &section.key, &Table::default());
            }
            if let (true, Value::Table(entries)) =
                (REMOVABLE_ENTRIES.contains(&section.key.as_str()), &section.node.value)
            {
                for entry in entries.entries.iter().filter(|entry| entry.node.says_none()) {
                    self.nothing_to_remove(entry, &format!("{}.{}", section.key, entry.key), &Table::default());
                }
            }
        }
    }
}

fn read_table(table: &DeTable<'_>, text: &str, file: usize) -> Table {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            place: Place { file, offset: key.span().start },
            node: read_value(value, text, file),
        })
        .collect();
    entries.sort_by_key(|entry| entry.place);
    Table { entries }
}

fn read_value(value: &Spanned<DeValue<'_>>, text: &str, file: usize) -> Node {
    let span = value.span();
    let place = Place { file, offset: span.start };
    let value = match value.get_ref() {
        DeValue::String(content) => {
            // Escapes or unusual line ends make the written text differ; places inside it are then not known.
            let start = text.get(span.clone()).and_then(|raw| raw.find(&**content));
            Value::Text(content.to_string(), start.map(|start| Place { file, offset: span.start + start }))
        }
        DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix())
            .map_or(Value::Other("a number out of range"), Value::Integer),
        DeValue::Boolean(claim) => Value::Boolean(*claim),
        DeValue::Array(list) => Value::List(list.iter().map(|value| read_value(value, text, file)).collect()),
        DeValue::Table(table) => Value::Table(read_table(table, text, file)),
        DeValue::Float(_) => Value::Other("a fraction"),
        DeValue::Datetime(_) => Value::Other("a date"),
    };
    Node { place, value }
}

#[cfg(test)]
mod tests;
