//! Drawn moves: a unit on a square, and what it may do on every other. Made from the unit's paths, not from words, so a drawing
//! cannot drift from the rules.
//!
//! Units whose moves depend on where they stand get one drawing for each part of the board that differs, on the whole board; the
//! others a cut-out around a square in the middle.

use super::words::zone;
use crate::geometry::{Square, SquareSet, Topology};
use crate::variant::pattern::Pattern;
use crate::variant::rules::{Colour, Unit};
use crate::variant::{Variant, Way};

/// Least and greatest number of squares that a cut-out shows on each side of the unit.
const RADIUS: std::ops::RangeInclusive<u8> = 2..=6;

/// The usual symbols, in the order of the legend.
const USUAL_SYMBOLS: &str = "*+=^#o:x%";

/// Symbols for marks that need words of their own.
const SPARE_SYMBOLS: &str = "123456789abcdefghjkmnpqrstuvwyz";

/// The moves of a White unit from one square, drawn.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Diagram {
    /// Where the unit stands.
    pub square: String,
    /// The squares from which it moves like this, where that is not the whole board: `ranks 7 to 12`.
    pub from: Option<String>,
    /// The drawing, highest rank first, with the ranks' numbers before it and the files' letters below. `.` is a square without
    /// mark; where there is no square there is nothing.
    pub drawing: Vec<String>,
    /// Whether marks lie outside the cut-out.
    pub cut_off: bool,
    /// The symbols that occur, and what they mean.
    pub legend: Vec<Legend>,
    /// All marks, also those outside the cut-out.
    pub marks: Vec<Mark>,
}

/// A symbol and its meaning.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Legend {
    /// The symbol, one or two characters.
    pub symbol: String,
    /// What the unit may do on squares that carry it.
    pub meaning: String,
}

/// What the unit may do on one square.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Mark {
    /// The square.
    pub square: String,
    /// The symbol it is drawn with.
    pub symbol: String,
    /// What moving there without capturing asks for; `None` if it cannot.
    pub moves: Option<Access>,
    /// What capturing there asks for; `None` if it cannot.
    pub captures: Option<Access>,
}

/// What it takes to get to a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Access {
    /// What must stand between.
    pub way: Passage,
    /// Whether it is open only from squares on which the array has such a man.
    pub initial: bool,
}

/// What must stand between a unit and its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Passage {
    /// It does not matter.
    Free,
    /// Nothing: the squares on the way are empty.
    Empty,
    /// Nothing on one of several ways.
    OneEmpty,
    /// Men on certain squares.
    OverMen,
    /// Nothing on one way, or men on another.
    EmptyOrOverMen,
}

/// The drawings of a unit, at least one.
pub(super) fn diagrams(variant: &Variant, unit: Unit) -> Vec<Diagram> {
    let zoned = variant.unit(unit).patterns.iter().any(|pattern| pattern.from.is_some() || pattern.to.is_some());
    let whole = [variant.topology().squares()];
    let regions = if zoned { regions(variant, unit) } else { whole.to_vec() };
    let several = regions.len() > 1;
    let drawn = regions.into_iter().filter_map(|region| {
        let square = typical_square(variant, unit, region)?;
        let from = several.then(|| zone(variant.topology(), region));
        Some(draw(variant, unit, Stand { square, from, whole_board: zoned }))
    });
    let mut drawn: Vec<Diagram> = drawn.collect();
    if drawn.iter().any(|diagram| !diagram.marks.is_empty()) {
        drawn.retain(|diagram| !diagram.marks.is_empty());
    }
    drawn
}

/// Where a unit stands in a drawing, and how much is drawn.
struct Stand {
    square: Square,
    from: Option<String>,
    whole_board: bool,
}

/// The board split up by which of the unit's patterns with zones apply, from the lowest squares up.
fn regions(variant: &Variant, unit: Unit) -> Vec<SquareSet> {
    let patterns: Vec<&Pattern> = variant.unit(unit).patterns.iter().collect();
    let zoned: Vec<&Pattern> =
        patterns.into_iter().filter(|pattern| pattern.from.is_some() || pattern.to.is_some()).collect();
    let applies = |pattern: &Pattern, square: Square| {
        let starts = pattern.from.is_none_or(|from| from.contains(square));
        starts
            && (pattern.to.is_none() || !variant.ways(unit, Colour::White, square, |known| known == pattern).is_empty())
    };
    let mut regions: Vec<(Vec<bool>, SquareSet)> = Vec::new();
    for square in variant.topology().squares() {
        let signature: Vec<bool> = zoned.iter().map(|pattern| applies(pattern, square)).collect();
        match regions.iter_mut().find(|(known, _)| *known == signature) {
            Some((_, squares)) => squares.insert(square),
            None => regions.push((signature, SquareSet::only(square))),
        }
    }
    regions.into_iter().map(|(_, squares)| squares).collect()
}

/// The square of a region to draw from: the one nearest the middle, among the unit's own in the array if its moves depend on where it
/// stands.
fn typical_square(variant: &Variant, unit: Unit, region: SquareSet) -> Option<Square> {
    let depends = |pattern: &Pattern| pattern.initial || pattern.from.is_some() || pattern.to.is_some();
    let homes = variant.homes(unit, Colour::White) & region;
    let at_home = !homes.is_empty() && variant.unit(unit).patterns.iter().any(depends);
    let off_centre = |square: Square| {
        let from_middle = |at: u8, size: u8| (2 * i32::from(at) - i32::from(size) + 1).pow(2);
        from_middle(square.file(), variant.topology().width()) + from_middle(square.row(), variant.topology().height())
    };
    let candidates = if at_home { homes } else { region };
    candidates.iter().min_by_key(|&square| off_centre(square))
}

fn draw(variant: &Variant, unit: Unit, stand: Stand) -> Diagram {
    let topology = variant.topology();
    let targets = targets(variant, unit, stand.square);
    let mut symbols = Symbols::default();
    let marked: Vec<(Square, Mark)> = targets
        .into_iter()
        .map(|(square, moves, captures)| {
            let symbol = symbols.of(moves, captures);
            (square, Mark { square: topology.name(square), symbol, moves, captures })
        })
        .collect();
    symbols.legend.sort_by_key(|legend| USUAL_SYMBOLS.find(&legend.symbol[..1]).unwrap_or(USUAL_SYMBOLS.len()));
    let radius = marked.iter().map(|(square, _)| distance(*square, stand.square)).max().unwrap_or(0);
    let radius = if stand.whole_board { u8::MAX } else { radius.clamp(*RADIUS.start(), *RADIUS.end()) };
    let window = Window { topology, centre: stand.square, radius };
    let letter = variant.unit(unit).letter.to_string();
    let symbol = |square: Square| match marked.iter().find(|(target, _)| *target == square) {
        Some((_, mark)) => mark.symbol.as_str(),
        None if square == stand.square => letter.as_str(),
        None => ".",
    };
    Diagram {
        square: topology.name(stand.square),
        from: stand.from,
        drawing: window.drawing(symbol),
        cut_off: marked.iter().any(|(square, _)| distance(*square, stand.square) > radius),
        legend: symbols.legend,
        marks: marked.into_iter().map(|(_, mark)| mark).collect(),
    }
}

fn distance(a: Square, b: Square) -> u8 {
    a.file().abs_diff(b.file()).max(a.row().abs_diff(b.row()))
}

/// Every target with what moving and capturing there ask for, in the order of the squares.
fn targets(variant: &Variant, unit: Unit, from: Square) -> Vec<(Square, Option<Access>, Option<Access>)> {
    let ways = variant.ways(unit, Colour::White, from, |_| true);
    let anywhere = variant.ways(unit, Colour::White, from, |pattern| !pattern.initial);
    let squares: SquareSet = ways.iter().map(|way| way.target).collect();
    let access = |square: Square, wanted: fn(&Way) -> bool| {
        let to = |way: &&Way| way.target == square && wanted(way);
        let way = passage(ways.iter().filter(to))?;
        Some(Access { way, initial: passage(anywhere.iter().filter(to)) != Some(way) })
    };
    squares.iter().map(|square| (square, access(square, |way| way.moves), access(square, |way| way.captures))).collect()
}

/// What ways to one square ask for together; `None` without a way.
fn passage<'a>(ways: impl Iterator<Item = &'a Way>) -> Option<Passage> {
    let (mut any, mut free, mut empty, mut over_men) = (false, false, 0, false);
    for way in ways {
        let target = SquareSet::only(way.target);
        any = true;
        match ((way.empty - target).is_empty(), (way.occupied - target).is_empty()) {
            (true, true) => free = true,
            (false, true) => empty += 1,
            (_, false) => over_men = true,
        }
    }
    any.then_some(match (free, empty, over_men) {
        (true, ..) => Passage::Free,
        (_, 0, _) => Passage::OverMen,
        (_, _, true) => Passage::EmptyOrOverMen,
        (_, 1, _) => Passage::Empty,
        _ => Passage::OneEmpty,
    })
}

/// The symbols given out so far.
#[derive(Default)]
struct Symbols {
    known: Vec<(Option<Access>, Option<Access>)>,
    legend: Vec<Legend>,
    spare: usize,
}

impl Symbols {
    /// The symbol for what may be done on a square; the first time its meaning goes into the legend.
    fn of(&mut self, moves: Option<Access>, captures: Option<Access>) -> String {
        if let Some(index) = self.known.iter().position(|known| *known == (moves, captures)) {
            return self.legend[index].symbol.clone();
        }
        let symbol = usual_symbol(moves, captures).unwrap_or_else(|| {
            self.spare += 1;
            SPARE_SYMBOLS.chars().nth(self.spare - 1).unwrap_or('?').to_string()
        });
        self.known.push((moves, captures));
        self.legend.push(Legend { symbol: symbol.clone(), meaning: meaning(moves, captures) });
        symbol
    }
}

fn usual_symbol(moves: Option<Access>, captures: Option<Access>) -> Option<String> {
    let symbol = match (moves.map(|access| access.way), captures.map(|access| access.way)) {
        (Some(moves), Some(captures)) if moves == captures => match moves {
            Passage::Free => '*',
            Passage::Empty => '+',
            Passage::OneEmpty => '=',
            Passage::OverMen => '^',
            Passage::EmptyOrOverMen => '#',
        },
        (Some(Passage::Free), None) => 'o',
        (Some(Passage::Empty), None) => ':',
        (None, Some(Passage::Free)) => 'x',
        (None, Some(Passage::Empty)) => '%',
        _ => return None,
    };
    let initial: Vec<bool> = moves.iter().chain(&captures).map(|access| access.initial).collect();
    match (initial.contains(&true), initial.contains(&false)) {
        (true, true) => None,
        (true, false) => Some(format!("{symbol}i")),
        _ => Some(symbol.to_string()),
    }
}

fn meaning(moves: Option<Access>, captures: Option<Access>) -> String {
    match (moves, captures) {
        (Some(moves), Some(captures)) if moves == captures => format!("moves or captures{}", access_words(moves)),
        (Some(moves), Some(captures)) => {
            format!("moves{}; captures{}", access_words(moves), access_words(captures))
        }
        (Some(moves), None) => format!("moves{}, never captures", access_words(moves)),
        (None, Some(captures)) => format!("captures{}, never moves without", access_words(captures)),
        (None, None) => "nothing".into(),
    }
}

fn access_words(access: Access) -> String {
    let way = match access.way {
        Passage::Free => "",
        Passage::Empty => " if the squares on the way are empty",
        Passage::OneEmpty => " if the squares on one of its ways are empty",
        Passage::OverMen => " only over men that stand on the way",
        Passage::EmptyOrOverMen => " if the squares on the way are empty, or else over men that stand there",
    };
    format!("{way}{}", if access.initial { " (only from its squares in the array)" } else { "" })
}

/// The part of the board that is drawn.
struct Window<'a> {
    topology: &'a Topology,
    centre: Square,
    radius: u8,
}

impl Window<'_> {
    fn drawing<'a>(&self, symbol: impl Fn(Square) -> &'a str) -> Vec<String> {
        let files = self.lines(self.centre.file(), self.topology.width());
        let rows = self.lines(self.centre.row(), self.topology.height());
        let shown = |file: u8, row: u8| Square::at(file, row).filter(|&square| self.topology.has(square));
        let wide = files.clone().any(|file| {
            rows.clone().any(|row| shown(file, row).is_some_and(|square| symbol(square).chars().count() > 1))
        });
        let width = if wide { 2 } else { 1 };
        let mut drawing: Vec<String> = rows
            .rev()
            .map(|row| {
                let rank = u16::from(row) + u16::from(self.topology.first_rank());
                let cell = |file: u8| format!(" {:<width$}", shown(file, row).map_or("", &symbol));
                let line: String = files.clone().map(cell).collect();
                format!("{rank:>2} {line}").trim_end().to_string()
            })
            .collect();
        let letters: String = files.map(|file| format!(" {:<width$}", super::words::file_name(file))).collect();
        drawing.push(format!("   {letters}").trim_end().to_string());
        drawing
    }

    fn lines(&self, centre: u8, size: u8) -> std::ops::Range<u8> {
        centre.saturating_sub(self.radius)..centre.saturating_add(self.radius).saturating_add(1).min(size)
    }
}
