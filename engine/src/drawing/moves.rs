//! The diagrams of [`crate::explain`] as SVG: a unit on the whole board, with a sign on every square it may go to.
//!
//! A dot is a move, a ring a capture; their forms tell what must stand on the way. Everything comes from the diagram, which comes
//! from the unit's paths.

use super::DEFAULT_SIZE;
use super::men::Look;
use super::svg::{Document, Facing, Grid, escaped, palette};
use crate::explain::{Access, Diagram, Legend, Passage, unit_name};
use crate::geometry::Square;
use crate::variant::Variant;
use crate::variant::rules::{Colour, Unit};
use std::fmt::Write;

/// Room for the heading.
const HEADING: i32 = 84;
/// From the board's lower edge to the legend.
const TO_LEGEND: i32 = 84;
/// Size of the legend's letters, the distance of its lines, and the width that a letter takes up at most on average.
const LETTERS: (i32, i32, i32) = (32, 42, 18);
/// Room for the signs in the legend.
const SIGN: i32 = 80;

/// Draws one of a unit's diagrams as an SVG document; the unit is White's.
pub fn unit_moves(variant: &Variant, unit: Unit, diagram: &Diagram) -> String {
    let topology = variant.topology();
    let grid = Grid { topology, below: Colour::White, left: Grid::MARGIN, top: HEADING };
    let name = format!("{} ({})", unit_name(variant, unit), variant.unit(unit).letter);
    let heading = match &diagram.from {
        Some(from) => format!("{name}, from {from}"),
        None => name,
    };
    let (legend, height) = legend(diagram, &grid);
    let facing = Facing::of(topology, Colour::White, Colour::White);
    let man = topology.parse(&diagram.square).map_or_else(
        |_| String::new(),
        |square| {
            let look = Look::of(variant, unit);
            placed(grid.corner(square), &look.fragment(Colour::White, facing))
        },
    );
    let title = format!(
        "<text x=\"{}\" y=\"56\" font-size=\"40\" fill=\"{}\">{}</text>\n",
        grid.left,
        palette::WORDS,
        escaped(&heading)
    );
    let document = Document {
        width: grid.left + grid.width() + 26,
        height: grid.top + grid.height() + TO_LEGEND + height,
        size: DEFAULT_SIZE,
        title: &format!("{}: {heading} on {}", variant.rules().title, diagram.square),
        description: &description(diagram),
    };
    document.around(&[title, grid.draw(), man, marks(diagram, &grid), legend].concat())
}

fn marks(diagram: &Diagram, grid: &Grid) -> String {
    let marked = diagram.marks.iter().filter_map(|mark| {
        let square: Square = grid.topology.parse(&mark.square).ok()?;
        Some(placed(grid.corner(square), &sign(mark.moves, mark.captures)))
    });
    marked.collect()
}

fn placed((x, y): (i32, i32), drawing: &str) -> String {
    format!("<g transform=\"translate({x} {y})\">{drawing}</g>\n")
}

/// A dot for a move, a ring for a capture. No two of them look alike.
fn sign(moves: Option<Access>, captures: Option<Access>) -> String {
    let dot = moves.map(|access| {
        let (shape, colour) = form(access.way, 15);
        match access.initial {
            false => shape.replace("/>", &format!(" fill=\"{colour}\"/>")),
            true => shape.replace("/>", &format!(" fill=\"none\" stroke=\"{colour}\" stroke-width=\"6\"/>")),
        }
    });
    let ring = captures.map(|access| {
        let (shape, colour) = form(access.way, 34);
        let dashes = if access.initial { " stroke-dasharray=\"14 9\"" } else { "" };
        shape.replace("/>", &format!(" fill=\"none\" stroke=\"{colour}\" stroke-width=\"8\"{dashes}/>"))
    });
    dot.into_iter().chain(ring).collect()
}

/// An element without colour, and its colour.
fn form(way: Passage, size: i32) -> (String, &'static str) {
    let (low, high) = (50 - size, 50 + size);
    let path = |data: String| format!("<path d=\"{data}\"/>");
    let slant = size * 7 / 8;
    match way {
        Passage::Free => (format!("<circle cx=\"50\" cy=\"50\" r=\"{size}\"/>"), "#14607a"),
        Passage::Empty => {
            let (low, high) = (50 - slant, 50 + slant);
            (path(format!("M{low} {low}H{high}V{high}H{low}Z")), "#2c6e2f")
        }
        Passage::OneEmpty => (path(format!("M50 {low}L{high} {high}H{low}Z")), "#7a5c00"),
        Passage::OverMen => (path(format!("M50 {low}L{high} 50L50 {high}L{low} 50Z")), "#b0451a"),
        Passage::EmptyOrOverMen => {
            let (left, right) = (50 - size / 2, 50 + size / 2);
            let (above, below) = (50 - slant, 50 + slant);
            (path(format!("M{low} 50L{left} {above}H{right}L{high} 50L{right} {below}H{left}Z")), "#6d3a94")
        }
    }
}

/// The signs that occur with their meanings, and the height of it all.
fn legend(diagram: &Diagram, grid: &Grid) -> (String, i32) {
    let (size, line, letter) = LETTERS;
    let columns = usize::try_from((grid.width() - SIGN) / letter).unwrap_or_default();
    let mut drawn = format!("<g font-size=\"{size}\" font-weight=\"normal\" fill=\"{}\">\n", palette::WORDS);
    let mut y = grid.top + grid.height() + TO_LEGEND;
    let top = y;
    for Legend { symbol, meaning } in &diagram.legend {
        let Some(mark) = diagram.marks.iter().find(|mark| mark.symbol == *symbol) else { continue };
        let sign = sign(mark.moves, mark.captures);
        let _ = write!(drawn, "<g transform=\"translate({} {y}) scale(0.6)\">{sign}</g>", grid.left);
        for (index, words) in (0..).zip(lines(meaning, columns)) {
            let (x, y) = (grid.left + SIGN, y + 40 + index * line);
            let _ = writeln!(drawn, "<text x=\"{x}\" y=\"{y}\">{}</text>", escaped(&words));
        }
        y += 24 + line * lines(meaning, columns).len() as i32;
    }
    (drawn + "</g>\n", y - top + 10)
}

/// Words in lines of at most so many characters, if each word fits.
fn lines(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

/// Every mark in words, a line for each meaning.
fn description(diagram: &Diagram) -> String {
    let told = diagram.legend.iter().map(|Legend { symbol, meaning }| {
        let squares = diagram.marks.iter().filter(|mark| mark.symbol == *symbol).map(|mark| mark.square.as_str());
        format!("{meaning}: {}", squares.collect::<Vec<_>>().join(" "))
    });
    told.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_signs_look_alike() {
        let ways = [Passage::Free, Passage::Empty, Passage::OneEmpty, Passage::OverMen, Passage::EmptyOrOverMen];
        let accesses: Vec<Option<Access>> = ways
            .into_iter()
            .flat_map(|way| [true, false].map(|initial| Some(Access { way, initial })))
            .chain([None])
            .collect();
        let signs: BTreeSet<String> =
            accesses.iter().flat_map(|&moves| accesses.iter().map(move |&captures| sign(moves, captures))).collect();
        assert_eq!(signs.len(), 121);
    }
}
