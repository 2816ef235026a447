//! What the page's script reads, kept short: a book of a thousand positions fits into half a megabyte.
//!
//! A square is row · width + file, a man twice its unit's number, and one more for Black. A position is the list of its moves; a move is
//! a list: how people write it, its text in coordinates, weight, value, value by the search alone, nodes, the position behind it, what
//! it changes, and the results of games if there are any. Changes are pairs of a square and who stands there afterwards, its own squares
//! first; or of −1 − man and how many of it are then in hand.

use super::choice::Choice;
use crate::book::graph::after;
use fairyforge_engine::book::{Book, BookMove};
use fairyforge_engine::explain::unit_name;
use fairyforge_engine::geometry::Square;
use fairyforge_engine::moves::Move;
use fairyforge_engine::position::Position;
use fairyforge_engine::search::score::{MATE, MATE_BOUND};
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::{Colour, Unit};
use serde::Serialize;
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// Stand for the position behind a move where the page has none: exits, ends of games, positions left out.
const EXIT: i64 = -1;
const OVER: i64 = -2;
const LEFT_OUT: i64 = -3;
/// Stands for the man on an empty square.
const NOBODY: i64 = -1;

/// All of it.
#[derive(Serialize)]
pub(super) struct Data {
    width: u8,
    height: u8,
    first_rank: u8,
    holes: Vec<i64>,
    units: Vec<String>,
    mate: i32,
    mate_bound: i32,
    pub has_results: bool,
    roots: Vec<Root>,
    nodes: Vec<Vec<Json>>,
}

/// Where lines begin.
#[derive(Serialize)]
struct Root {
    white: bool,
    number: u32,
    men: Vec<(i64, i64)>,
    hands: Vec<(i64, u8)>,
    node: i64,
}

/// The number of a man.
pub(super) fn man(unit: Unit, colour: Colour) -> i64 {
    2 * i64::from(unit.0) + colour as i64
}

impl Data {
    pub fn of(book: &Book, choice: &Choice, variant: &Arc<Variant>) -> Self {
        let topology = variant.topology();
        let all =
            (0..topology.height()).flat_map(|row| (0..topology.width()).filter_map(move |file| Square::at(file, row)));
        let lines = Lines { book, choice, variant };
        Self {
            width: topology.width(),
            height: topology.height(),
            first_rank: topology.first_rank(),
            holes: all.filter(|&square| !topology.has(square)).map(|square| lines.square(square)).collect(),
            units: variant.units().map(|unit| unit_name(variant, unit)).collect(),
            mate: MATE,
            mate_bound: MATE_BOUND,
            has_results: book.positions().flat_map(|(_, moves)| moves).any(|found| found.results != [0; 3]),
            roots: book.roots().iter().map(|root| lines.root(root)).collect(),
            nodes: choice.positions(variant).map(|position| lines.moves(&position)).collect(),
        }
    }
}

/// Makes lists of positions.
struct Lines<'a> {
    book: &'a Book,
    choice: &'a Choice,
    variant: &'a Variant,
}

impl Lines<'_> {
    fn square(&self, square: Square) -> i64 {
        i64::from(square.row()) * i64::from(self.variant.topology().width()) + i64::from(square.file())
    }

    fn standing(&self, position: &Position, square: Square) -> i64 {
        let piece = position.piece_at(square);
        if piece.is_none() { NOBODY } else { man(piece.unit(), piece.colour()) }
    }

    fn men_with_hands(&self) -> impl Iterator<Item = (Unit, Colour)> {
        let drops = self.variant.rules().drops.iter().flat_map(|drops| &drops.hand);
        drops.flat_map(|&(unit, _)| Colour::BOTH.map(|colour| (unit, colour)))
    }

    fn root(&self, root: &Position) -> Root {
        let square = |square| (self.square(square), self.standing(root, square));
        let hand = |(unit, colour)| (man(unit, colour), root.in_hand(unit, colour));
        Root {
            white: root.side_to_move() == Colour::White,
            number: root.full_moves(),
            men: root.occupied().iter().map(square).collect(),
            hands: self.men_with_hands().map(hand).collect(),
            node: self.choice.index(&root.clone().as_first()).map_or(LEFT_OUT, |index| index as i64),
        }
    }

    fn moves(&self, position: &Position) -> Vec<Json> {
        self.book.moves(position).iter().map(|found| self.one(position, found)).collect()
    }

    fn one(&self, position: &Position, found: &BookMove) -> Json {
        let after = after(position, found.mv);
        let (san, text) = (position.san(found.mv), position.move_text(found.mv));
        let changes = self.changes(position, found.mv, &after);
        let mut told = vec![
            json!(san),
            json!(text),
            json!(found.weight),
            json!(found.value),
            json!(found.searched),
            json!(found.nodes),
        ];
        told.extend([json!(self.behind(&after)), json!(changes)]);
        if found.results != [0; 3] {
            told.push(json!(found.results));
        }
        Json::Array(told)
    }

    fn behind(&self, after: &Position) -> i64 {
        match self.choice.index(after) {
            _ if after.outcome(1).is_some() => OVER,
            Some(index) => index as i64,
            None if self.book.moves(after).is_empty() => EXIT,
            None => LEFT_OUT,
        }
    }

    fn changes(&self, before: &Position, mv: Move, after: &Position) -> Vec<i64> {
        let changed = |square: &Square| before.piece_at(*square) != after.piece_at(*square);
        let mut squares: Vec<Square> = self.variant.topology().squares().iter().filter(changed).collect();
        squares.sort_by_key(|&square| (square != mv.from(), square != mv.to(), square.index()));
        let on_board = squares.into_iter().flat_map(|square| [self.square(square), self.standing(after, square)]);
        let held = |position: &Position, (unit, colour)| position.in_hand(unit, colour);
        let hands = self.men_with_hands().filter(|&man| held(before, man) != held(after, man));
        let in_hand = hands.flat_map(|(unit, colour)| [-1 - man(unit, colour), i64::from(after.in_hand(unit, colour))]);
        on_board.chain(in_hand).collect()
    }
}
