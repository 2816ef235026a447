//! The positions behind a book: those that its moves lead to, and that it has no moves for. Each with the cheapest way to it.
//!
//! Ways cost what they cost when books grow ([`super::super::growth`]): at every move what is lost against the best one there, and
//! something for the ply. A position that is reached in several ways is there once.

use super::super::graph::Child;
use super::super::growth::step;
use super::super::{GrowthSettings, Plan};
use fairyforge_engine::book::{Book, BookKey, BookMove};
use fairyforge_engine::moves::Move;
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::variant::rules::Colour;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

/// A position behind a book.
#[derive(Clone, Debug)]
pub struct Exit {
    /// Its key.
    pub key: BookKey,
    /// Which root the way begins in.
    pub root: usize,
    /// The cheapest way.
    pub way: Vec<Move>,
    /// What the book's search of it said, for White; `None` if the book does not say.
    pub value: Option<i16>,
    /// Whether the game is over there.
    pub over: bool,
}

impl Exit {
    /// The position, with the counters of a game that came this way.
    pub fn position(&self, book: &Book) -> Position {
        let mut position = book.roots()[self.root].clone().as_first();
        for &mv in &self.way {
            position.make(mv, &mut Unobserved);
        }
        position
    }

    /// The first moves of the way, as a family is called.
    pub fn family(&self, book: &Book, plies: u16) -> String {
        let mut position = book.roots()[self.root].clone().as_first();
        let mut words = Vec::new();
        if book.roots().len() > 1 {
            words.push(format!("root {}:", self.root + 1));
        }
        for &mv in self.way.iter().take(usize::from(plies)) {
            words.push(position.san(mv));
            position.make(mv, &mut Unobserved);
        }
        words.join(" ")
    }
}

/// The exits of a book, the cheapest first.
pub fn exits(book: &Book) -> Vec<Exit> {
    let settings =
        Plan::read(&book.header().manifest.plan).map_or_else(|_| GrowthSettings::default(), |plan| plan.growth);
    let mut search = Search { book, settings, places: Vec::new(), waiting: BinaryHeap::new() };
    for (root, position) in book.roots().iter().enumerate() {
        let key = BookKey::of(position);
        search.meet(0, Place { key, root, before: None, value: None, over: false });
    }
    search.run()
}

/// A position with a way to it, perhaps not the cheapest.
struct Place {
    key: BookKey,
    root: usize,
    /// The place before, and the move made there.
    before: Option<(usize, Move)>,
    value: Option<i16>,
    over: bool,
}

/// Dijkstra's search of the book from its roots.
struct Search<'a> {
    book: &'a Book,
    settings: GrowthSettings,
    places: Vec<Place>,
    /// Cost, key and place. Of equally cheap ways the one that was found first counts.
    waiting: BinaryHeap<Reverse<(u32, BookKey, usize)>>,
}

impl Search<'_> {
    fn run(mut self) -> Vec<Exit> {
        let mut settled = HashSet::new();
        let mut exits = Vec::new();
        while let Some(Reverse((cost, key, place))) = self.waiting.pop() {
            if !settled.insert(key) {
                continue;
            }
            let exit = self.exit(place);
            if exit.over || !self.book.has(key) {
                exits.push(exit);
            } else {
                self.behind(place, cost, &exit.position(self.book));
            }
        }
        exits
    }

    fn meet(&mut self, cost: u32, place: Place) {
        self.waiting.push(Reverse((cost, place.key, self.places.len())));
        self.places.push(place);
    }

    fn behind(&mut self, place: usize, cost: u32, position: &Position) {
        let legal = position.legal_moves();
        let moves: Vec<BookMove> =
            self.book.moves(position).into_iter().filter(|entry| legal.contains(&entry.mv)).collect();
        let best = moves.iter().filter_map(|entry| entry.value).max().unwrap_or_default();
        for entry in moves {
            let child = Child::behind(position, entry.mv);
            let step = step(best, entry.value.unwrap_or(best), &self.settings);
            let value = entry.searched.map(|value| for_white(value, position.side_to_move()));
            let (root, before) = (self.places[place].root, Some((place, entry.mv)));
            let place = Place { key: child.key, root, before, value, over: child.over.is_some() };
            self.meet(cost.saturating_add(step), place);
        }
    }

    fn exit(&self, place: usize) -> Exit {
        let Place { key, root, value, over, .. } = self.places[place];
        let mut way = Vec::new();
        let mut at = place;
        while let Some((before, mv)) = self.places[at].before {
            way.push(mv);
            at = before;
        }
        way.reverse();
        Exit { key, root, way, value, over }
    }
}

/// What a value for this side is for White.
pub fn for_white(value: i16, side: Colour) -> i16 {
    match side {
        Colour::White => value,
        Colour::Black => value.saturating_neg(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairyforge_engine::book::Manifest;
    use fairyforge_engine::variant::Variant;
    use std::sync::Arc;

    /// Moves of a position with their values.
    fn entries(position: &Position, moves: &[(&str, i16)]) -> (BookKey, Vec<BookMove>) {
        let entry = |&(text, value): &(&str, i16)| BookMove {
            value: Some(value),
            searched: Some(value),
            ..BookMove::new(position.parse_move(text).unwrap())
        };
        (BookKey::of(position), moves.iter().map(entry).collect())
    }

    fn after(position: &Position, moves: &str) -> Position {
        let mut position = position.clone();
        for text in moves.split(' ') {
            position.make(position.parse_move(text).unwrap(), &mut Unobserved);
        }
        position
    }

    fn book() -> Book {
        let start = Position::start(&Arc::new(Variant::load("chess").unwrap()));
        let positions = vec![
            entries(&start, &[("e2e4", 30), ("d2d4", 20), ("g1f3", 25)]),
            entries(&after(&start, "e2e4"), &[("e7e5", -30), ("e7e6", -35)]),
            entries(&after(&start, "d2d4"), &[("e7e6", -20)]),
            // 1. d4 e6 2. e4 is 1. e4 e6 2. d4; the first way costs 10 less.
            entries(&after(&start, "d2d4 e7e6"), &[("e2e4", 20)]),
            entries(&after(&start, "e2e4 e7e6"), &[("d2d4", 35), ("g1f3", 5)]),
        ];
        Book::new(&[start], Manifest::default(), positions).unwrap()
    }

    #[test]
    fn every_exit_has_its_cheapest_way_and_its_value_for_white() {
        let book = book();
        let mut found: Vec<(String, Option<i16>)> =
            exits(&book).iter().map(|exit| (exit.family(&book, 9), exit.value)).collect();
        // The French costs 5 by 1. e4 and 10 by 1. d4.
        let cheapest_first = ["Nf3", "e4 e5", "e4 e6 d4", "e4 e6 Nf3"];
        assert_eq!(found.iter().map(|(way, _)| way.as_str()).collect::<Vec<_>>(), cheapest_first);
        found.sort();
        assert_eq!(found.iter().map(|(_, value)| value.unwrap()).collect::<Vec<_>>(), [25, 30, 5, 35]);
    }

    #[test]
    fn a_way_leads_to_its_position_and_names_its_family() {
        let book = book();
        for exit in exits(&book) {
            let position = exit.position(&book);
            assert!(BookKey::of(&position) == exit.key && !book.has(exit.key) && !exit.over);
            let family = exit.family(&book, 1);
            assert!(["e4", "Nf3"].contains(&family.as_str()), "{family}");
        }
    }
}
