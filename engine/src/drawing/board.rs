//! A position as SVG: board, men, hands, who is to move, the last move, marked squares.

use super::DEFAULT_SIZE;
use super::men::Look;
use super::svg::{CELL, Document, Facing, Grid, escaped, palette};
use crate::explain::unit_name;
use crate::geometry::{Square, SquareSet};
use crate::moves::{Move, MoveKind};
use crate::position::{Piece, Position};
use crate::variant::Variant;
use crate::variant::rules::{Colour, Unit};
use std::fmt::Write;

/// What is shown of a position, and how.
#[derive(Clone, Debug)]
pub struct BoardView {
    /// Whose side is at the lower edge.
    pub below: Colour,
    /// Pixels of the longer side of the drawing.
    pub size: u16,
    /// The move that led to the position: its squares are tinted.
    pub last_move: Option<Move>,
    /// Squares to be framed.
    pub marks: SquareSet,
}

impl Default for BoardView {
    fn default() -> Self {
        Self { below: Colour::White, size: DEFAULT_SIZE, last_move: None, marks: SquareSet::EMPTY }
    }
}

/// Draws a position as an SVG document.
///
/// ```
/// use fairyforge_engine::drawing::{BoardView, board};
/// use fairyforge_engine::position::Position;
/// use fairyforge_engine::variant::Variant;
/// let chess = Variant::load("chess")?.into();
/// let svg = board(&Position::start(&chess), &BoardView::default());
/// assert!(svg.starts_with("<svg ") && svg.contains("<title>White Knight on g1</title>"));
/// # Ok::<(), fairyforge_engine::variant::LoadError>(())
/// ```
pub fn board(position: &Position, view: &BoardView) -> String {
    let drawing = Drawing::new(position, view);
    let content = [
        drawing.definitions(),
        drawing.grid.draw(),
        drawing.last_move(),
        drawing.men(),
        drawing.marks(),
        drawing.side_to_move(),
        drawing.hands(),
    ];
    let document = Document {
        width: drawing.grid.left + drawing.grid.width() + RIGHT + drawing.hands.width(),
        height: drawing.grid.top + drawing.grid.height() + BELOW,
        size: view.size,
        title: &drawing.title(),
        description: &drawing.description(),
    };
    document.around(&content.concat())
}

/// Room right of the board, in which the side to move is shown.
const RIGHT: i32 = 48;
/// Room below it for the files' letters.
const BELOW: i32 = 62;
/// A row and a column of a hand.
const HAND_CELL: (i32, i32) = (158, 92);

struct Drawing<'a> {
    position: &'a Position,
    variant: &'a Variant,
    view: &'a BoardView,
    grid: Grid<'a>,
    hands: HandTable,
}

/// How many columns hands need, of how many rows.
struct HandTable {
    columns: i32,
    rows: i32,
}

impl HandTable {
    fn of(variant: &Variant) -> Self {
        let types = variant.units().filter(|&unit| variant.hand_size(unit) > 0).count() as i32;
        let rows = (i32::from(variant.topology().height()) * CELL / 2 / HAND_CELL.1).max(1);
        Self { columns: (types + rows - 1) / rows, rows }
    }

    const fn width(&self) -> i32 {
        self.columns * HAND_CELL.0
    }
}

impl<'a> Drawing<'a> {
    fn new(position: &'a Position, view: &'a BoardView) -> Self {
        let variant = position.variant();
        let grid = Grid { topology: variant.topology(), below: view.below, left: Grid::MARGIN, top: Grid::TOP };
        Self { position, variant, view, grid, hands: HandTable::of(variant) }
    }

    /// Every man that occurs, once; the others refer to it.
    fn definitions(&self) -> String {
        let mut definitions = String::from("<defs>\n");
        for unit in self.variant.units() {
            let look = Look::of(self.variant, unit);
            for colour in Colour::BOTH {
                if self.position.count(unit, colour) + self.position.in_hand(unit, colour) > 0 {
                    let facing = Facing::of(self.variant.topology(), colour, self.view.below);
                    let id = self.reference(Piece::new(unit, colour));
                    let _ = writeln!(definitions, "<g id=\"{id}\">{}</g>", look.fragment(colour, facing));
                }
            }
        }
        definitions + "</defs>\n"
    }

    /// Where a man's drawing is found. A page may hold drawings of several games: the same name is the same man in all of them.
    fn reference(&self, piece: Piece) -> String {
        let side = if piece.colour() == Colour::White { 'w' } else { 'b' };
        let below = if self.view.below == Colour::White { "" } else { "t" };
        format!("m{:.12}{below}{side}{}", self.variant.rules_hash(), piece.unit().index())
    }

    fn men(&self) -> String {
        let mut men = String::new();
        for square in self.position.occupied() {
            let piece = self.position.piece_at(square);
            let (x, y) = self.grid.corner(square);
            let title = format!("{} on {}", self.man_name(piece), self.variant.topology().name(square));
            let title = escaped(&title);
            let _ = writeln!(
                men,
                "<g><title>{title}</title><use href=\"#{}\" x=\"{x}\" y=\"{y}\"/></g>",
                self.reference(piece)
            );
        }
        men
    }

    fn man_name(&self, piece: Piece) -> String {
        format!("{:?} {}", piece.colour(), unit_name(self.variant, piece.unit()))
    }

    fn last_move(&self) -> String {
        let Some(mv) = self.view.last_move else { return String::new() };
        let squares = SquareSet::only(mv.from()) | SquareSet::only(mv.to());
        let path = self.grid.outline(squares);
        format!("<path d=\"{path}\" fill=\"{}\" fill-opacity=\"0.7\"/>\n", palette::LAST_MOVE)
    }

    fn marks(&self) -> String {
        let frame = |square: Square| {
            let (x, y) = self.grid.corner(square);
            let (x, y) = (x + 5, y + 5);
            let colour = palette::MARK;
            format!(
                "<rect x=\"{x}\" y=\"{y}\" width=\"90\" height=\"90\" rx=\"10\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"9\"/>\n"
            )
        };
        (self.view.marks & self.variant.topology().squares()).iter().map(frame).collect()
    }

    /// A disc beside the back rank of whoever moves next.
    fn side_to_move(&self) -> String {
        let side = self.position.side_to_move();
        let x = self.grid.left + self.grid.width() + 25;
        let y = self.grid.top + if side == self.view.below { self.grid.height() - 14 } else { 14 };
        let fill = if side == Colour::White { "#fffefa" } else { "#3b3a45" };
        format!(
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"13\" fill=\"{fill}\" stroke=\"#14131a\" stroke-width=\"4\"><title>{side:?} to move</title></circle>\n"
        )
    }

    /// What each side holds, beside its own half of the board, from its edge on.
    fn hands(&self) -> String {
        Colour::BOTH.into_iter().map(|colour| self.hand(colour)).collect()
    }

    fn hand(&self, colour: Colour) -> String {
        let left = self.grid.left + self.grid.width() + RIGHT;
        let mut hand = String::new();
        for (index, (unit, held)) in (0..).zip(self.held(colour)) {
            let (column, row) = (index / self.hands.rows, index % self.hands.rows);
            let (x, from_edge) = (left + column * HAND_CELL.0, row * HAND_CELL.1);
            let y = match colour == self.view.below {
                true => self.grid.top + self.grid.height() - HAND_CELL.1 - from_edge,
                false => self.grid.top + from_edge,
            };
            let piece = Piece::new(unit, colour);
            let _ = writeln!(
                hand,
                "<g><title>{} in hand: {held}</title><use href=\"#{}\" transform=\"translate({x} {y}) scale(0.9)\"/>\
                 <text x=\"{}\" y=\"{}\" font-size=\"36\" fill=\"{}\">×{held}</text></g>",
                escaped(&self.man_name(piece)),
                self.reference(piece),
                x + 94,
                y + 58,
                palette::WORDS
            );
        }
        hand
    }

    fn held(&self, colour: Colour) -> impl Iterator<Item = (Unit, u8)> {
        let held = move |unit| (unit, self.position.in_hand(unit, colour));
        self.variant.units().map(held).filter(|&(_, held)| held > 0)
    }

    fn title(&self) -> String {
        let (side, number) = (self.position.side_to_move(), self.position.full_moves());
        format!("{}, move {number}, {side:?} to move", self.variant.rules().title)
    }

    /// All there is to see, in words.
    fn description(&self) -> String {
        let mut parts: Vec<String> = Colour::BOTH.into_iter().map(|colour| self.army(colour)).collect();
        if let Some(mv) = self.view.last_move {
            let name = |square| self.variant.topology().name(square);
            parts.push(match mv.kind() {
                MoveKind::Drop(_) => format!("Last move: a drop on {}.", name(mv.to())),
                _ => format!("Last move: {} to {}.", name(mv.from()), name(mv.to())),
            });
        }
        if !self.view.marks.is_empty() {
            let names: Vec<String> =
                self.view.marks.iter().map(|square| self.variant.topology().name(square)).collect();
            parts.push(format!("Marked: {}.", names.join(" ")));
        }
        parts.push(format!("FEN: {}", self.position.fen()));
        parts.join("\n")
    }

    fn army(&self, colour: Colour) -> String {
        let squares = |unit| {
            let on = self.position.men(colour).iter().filter(|&square| self.position.piece_at(square).unit() == unit);
            on.map(|square| self.variant.topology().name(square)).collect::<Vec<_>>()
        };
        let units = self.variant.units().map(|unit| (unit, squares(unit))).filter(|(_, squares)| !squares.is_empty());
        let told = units.map(|(unit, squares)| format!("{} {}", unit_name(self.variant, unit), squares.join(" ")));
        let hand = self.held(colour).map(|(unit, held)| format!("{held} {} in hand", unit_name(self.variant, unit)));
        format!("{colour:?}: {}.", told.chain(hand).collect::<Vec<_>>().join("; "))
    }
}
