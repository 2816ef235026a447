//! The drawing of the board, and the zones on it.

use super::{Check, unit};
use crate::geometry::{GRID, Square, SquareSet, Topology};
use crate::variant::file::{Draft, Entry, FaultKind, Node, Table, Value, quoted};
use crate::variant::letters;
use crate::variant::rules::{Colour, Unit};

/// Who stands where.
type Array = Vec<(Square, Unit, Colour)>;

/// One cell of the drawing: its byte offset in the text, and what is drawn.
type Cell<'t> = (usize, &'t str);

impl<'a> Check<'a> {
    /// The board's shape and array. A drawing that is not rectangular is filled up with holes, so that the rest can be checked.
    pub(super) fn board(&mut self, table: &'a Table, letters: &[Option<char>]) -> Option<(Topology, Array)> {
        let (entry, board) = self.section(table, "board", true)?;
        self.unknown_keys("board", "board", board);
        let first_rank = board
            .get("first_rank")
            .and_then(|entry| self.number("board.first_rank", &entry.node, 0, 1))
            .map_or(1, |rank| rank as u8);
        let Some(setup) = board.get("setup") else {
            self.missing(Some(entry), "board.setup", "a drawing of the board");
            return None;
        };
        let text = self.text("board.setup", &setup.node, "a drawing of the board")?;
        let rows = self.drawn_rows(&setup.node, text)?;
        let width = rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut holes = SquareSet::EMPTY;
        let mut array = Vec::new();
        let mut unknown = Vec::new();
        for (row, cells) in rows.iter().rev().enumerate() {
            for file in 0..width {
                let Some(square) = Square::at(file as u8, row as u8) else { continue };
                match cells.get(file) {
                    None | Some((_, "*")) => holes.insert(square),
                    Some((_, ".")) => {}
                    Some(&cell) => match man(cell.1, letters) {
                        Some((unit, colour)) => array.push((square, unit, colour)),
                        None => unknown.push(cell),
                    },
                }
            }
        }
        self.unknown_cells(&setup.node, unknown, letters);
        let views = [("mirrored", false), ("turned", true)];
        let turned = self.word("board.black_sees", board.get("black_sees"), &views).unwrap_or(false);
        match Topology::new(width, rows.len(), first_rank, holes) {
            Ok(topology) => Some((if turned { topology.with_half_turn() } else { topology }, array)),
            Err(error) => {
                let draft = Draft::new(setup.node.place, FaultKind::Setup, "board.setup", "a board", error.to_string());
                self.faults.add(draft);
                None
            }
        }
    }

    /// The cells of each rank, highest rank first; `None` when the drawing is too large or empty.
    fn drawn_rows<'t>(&mut self, node: &Node, text: &'t str) -> Option<Vec<Vec<Cell<'t>>>> {
        let mut rows: Vec<Vec<Cell<'t>>> = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let cells: Vec<Cell<'t>> = cells(line).map(|(at, cell)| (start + at, cell)).collect();
            if !cells.is_empty() {
                rows.push(cells);
            }
            start += line.len();
        }
        let limit = usize::from(GRID);
        let widest = rows.iter().map(Vec::len).max().unwrap_or(0);
        if rows.is_empty() || rows.len() > limit || widest > limit {
            let expected = format!("1 to {limit} ranks of 1 to {limit} squares, separated by spaces");
            let got = format!("{} ranks of up to {widest} squares", rows.len());
            self.faults.add(Draft::new(node.place, FaultKind::Setup, "board.setup", expected, got));
            return None;
        }
        let width = rows[0].len();
        for row in rows.iter().filter(|row| row.len() != width) {
            let (expected, got) = (format!("{width} squares, as in the first row"), format!("{} squares", row.len()));
            let place = node.inside(row[0].0);
            self.faults.add(Draft::new(place, FaultKind::Setup, "board.setup", expected, got));
        }
        Some(rows)
    }

    fn unknown_cells(&mut self, node: &Node, cells: Vec<Cell<'_>>, letters: &[Option<char>]) {
        self.array_known = cells.is_empty();
        let known: String = letters.iter().flatten().collect();
        let mut seen = Vec::new();
        for (at, cell) in cells {
            let letter = cell.to_uppercase();
            if seen.contains(&letter) || self.meant_letters.contains(&letter) {
                continue;
            }
            seen.push(letter);
            let expected = format!("`.`, `*` or a letter of a piece ({known}, lower case for Black)");
            let draft = Draft::new(node.inside(at), FaultKind::Setup, "board.setup", expected, quoted(cell));
            let crowded = cell.chars().count() > 1;
            self.faults.add(if crowded { draft.hint("separate the squares by spaces") } else { draft });
        }
    }

    /// Reads the named zones.
    pub(super) fn zones(&mut self, table: &'a Table) {
        let Some((_, zones)) = self.section(table, "zones", false) else { return };
        for Entry { key, node, .. } in &zones.entries {
            let path = format!("zones.{key}");
            let squares = self.text(&path, node, EXAMPLES).and_then(|text| self.drawn_zone(&path, node, text));
            self.zones.insert(key.clone(), squares);
        }
    }

    /// A zone where one is asked for: by name, or written out.
    pub(super) fn zone(&mut self, path: &str, node: &Node) -> Option<SquareSet> {
        let text = self.text(path, node, "a zone")?;
        if let Some(&known) = self.zones.get(text) {
            return known;
        }
        if looks_written_out(text) {
            return self.drawn_zone(path, node, text);
        }
        let draft =
            Draft::new(node.place, FaultKind::UnknownName, path, format!("a zone, or {EXAMPLES}"), quoted(text));
        self.faults.add(draft.nearest(text, "zone", self.zones.keys().map(String::as_str)));
        None
    }

    fn drawn_zone(&mut self, path: &str, node: &Node, text: &str) -> Option<SquareSet> {
        let topology = self.topology.as_ref()?;
        match squares(topology, text) {
            Ok(squares) => Some(squares),
            Err((at, expected, got)) => {
                self.faults.add(Draft::new(node.inside(at), FaultKind::WrongValue, path, expected, got));
                None
            }
        }
    }
}

/// How zones are written, for messages.
const EXAMPLES: &str = "squares such as \"ranks 1-6\", \"rank 12\", \"files c-f\", \"e0 f0\", or several joined by +";

fn looks_written_out(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or("");
    let square = word.len() <= 3
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.ends_with(|c: char| c.is_ascii_digit());
    text.is_empty() || square || text.contains([' ', '+']) || matches!(word, "rank" | "ranks" | "file" | "files")
}

/// The man a cell shows: upper case White, lower case Black.
fn man(cell: &str, known: &[Option<char>]) -> Option<(Unit, Colour)> {
    let mut characters = cell.chars();
    let (letter, colour) = letters::read(characters.next()?)?;
    if characters.next().is_some() {
        return None;
    }
    let index = known.iter().position(|&known| known == Some(letter))?;
    Some((unit(index), colour))
}

/// The words of a text with their byte offsets.
fn cells(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive(char::is_whitespace).filter_map(move |piece| {
        let start = at;
        at += piece.len();
        let word = piece.trim();
        (!word.is_empty()).then_some((start, word))
    })
}

/// Offset in the text, what was expected, what came.
type ZoneError = (usize, String, String);

/// The squares that a written-out zone has.
fn squares(topology: &Topology, text: &str) -> Result<SquareSet, ZoneError> {
    let mut zone = SquareSet::EMPTY;
    let mut start = 0;
    for part in text.split('+') {
        let words: Vec<Cell<'_>> = cells(part).map(|(at, word)| (start + at, word)).collect();
        zone |= match words.as_slice() {
            [] => return Err((start, EXAMPLES.into(), "nothing".into())),
            [(_, kind @ ("rank" | "ranks" | "file" | "files")), rest @ ..] => match rest {
                [(at, range)] => lines(topology, kind.starts_with('f'), range).map_err(|(e, g)| (*at, e, g))?,
                _ => return Err((words[0].0, format!("`{kind}` and one range"), quoted(part.trim()))),
            },
            words => named_squares(topology, words)?,
        };
        start += part.len() + 1;
    }
    Ok(zone)
}

fn named_squares(topology: &Topology, words: &[Cell<'_>]) -> Result<SquareSet, ZoneError> {
    let square = |&(at, word): &Cell<'_>| {
        topology.parse(word).map_err(|error| (at, "a square of the board".to_owned(), error.to_string()))
    };
    words.iter().map(square).collect()
}

/// Whole files or ranks: one, or a range from the lower to the higher.
fn lines(topology: &Topology, files: bool, range: &str) -> Result<SquareSet, (String, String)> {
    let first_rank = usize::from(topology.first_rank());
    let (example, count) = if files {
        ("a file such as c, or a range such as c-f", topology.width())
    } else {
        ("a rank such as 12, or a range such as 1-6", topology.height())
    };
    let line = |name: &str| {
        let index = match (files, name.as_bytes()) {
            (true, [letter]) => usize::from(*letter).checked_sub(usize::from(b'a')),
            (false, digits) if digits.iter().all(u8::is_ascii_digit) && digits.len() <= 2 => {
                name.parse::<usize>().ok().and_then(|rank| rank.checked_sub(first_rank))
            }
            _ => None,
        };
        index.filter(|&index| index < usize::from(count))
    };
    let (low, high) = range.split_once('-').unwrap_or((range, range));
    match (line(low), line(high)) {
        (Some(low), Some(high)) if low <= high => Ok(topology
            .squares()
            .iter()
            .filter(|square| (low..=high).contains(&usize::from(if files { square.file() } else { square.row() })))
            .collect()),
        _ => Err((format!("{example}, on this board, the lower first"), quoted(range))),
    }
}

impl Check<'_> {
    /// Exactly one royal piece a side, or at least one if the file says what check means with several.
    pub(super) fn royals_of_each_side(&mut self, table: &Table, array: &Array) {
        let (Some(royal), Some(_), true) = (self.royal, &self.topology, self.array_known) else { return };
        for colour in Colour::BOTH {
            let count = array.iter().filter(|&&(_, unit, owner)| unit == royal && owner == colour).count();
            if count == 1 || count > 1 && self.several_royals {
                continue;
            }
            let name = &self.pieces[royal.index()].key;
            let setup = table.get("board").and_then(|board| match &board.node.value {
                Value::Table(table) => table.get("setup"),
                _ => None,
            });
            let place = setup.map_or(self.root, |setup| setup.node.place);
            let expected = format!("one {name} for {colour:?}");
            let draft = Draft::new(place, FaultKind::Setup, "board.setup", expected, format!("{count} of them"));
            self.faults.add(if count > 1 {
                draft.hint("with several, say in [end] what check means: in_check_if = \"every royal is attacked\"")
            } else {
                draft
            });
        }
    }
}
