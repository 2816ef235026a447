//! The positions of a book, found again: a book knows them by key only, and they are reached from its roots by its moves. They stand as
//! they are reached, so their moves can be played one after another; a book may have their mirror images.

use super::graph::{Child, after};
use fairyforge_engine::book::{Book, BookKey, BookMove, Oriented};
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use std::collections::HashMap;
use std::sync::Arc;

/// The positions of a book that can be reached, breadth first.
pub struct Walk {
    variant: Arc<Variant>,
    /// A few dozen bytes each.
    packed: Vec<Vec<u8>>,
    indices: HashMap<BookKey, u32>,
    /// What is wrong, in words.
    pub faults: Vec<String>,
}

impl Walk {
    /// Reaches what can be reached. Moves that are not legal are faults, and lead nowhere; so are positions that cannot be reached.
    pub fn of(book: &Book) -> Self {
        let variant = book.roots().first().map(|root| Arc::clone(root.variant())).expect("a book has a root or more");
        let mut walk = Self { variant, packed: Vec::new(), indices: HashMap::new(), faults: Vec::new() };
        let mut checks = Vec::new();
        for root in book.roots() {
            let root = root.clone().as_first();
            if book.moves(&root).is_empty() {
                walk.faults.push(format!("the book has no moves for its root {}", root.fen()));
            } else {
                walk.meet(&root, &mut checks);
            }
        }
        let mut next = 0;
        while next < walk.packed.len() {
            let position = walk.position(next);
            for (entry, child) in walk.moves(book, &position) {
                match child {
                    None => walk.faults.push(illegal(&position, &entry)),
                    Some(child) if child.over.is_none() && book.has(child.key) => {
                        walk.meet(&after(&position, entry.mv), &mut checks)
                    }
                    Some(_) => {}
                }
            }
            next += 1;
        }
        let unreached = book.len().saturating_sub(walk.indices.len());
        if unreached > 0 {
            walk.faults.push(format!("{unreached} positions cannot be reached from the roots"));
        }
        walk
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.packed.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    /// The position with this index, as if a game began with it.
    pub fn position(&self, index: usize) -> Position {
        Position::unpack(&self.variant, &self.packed[index]).expect("it was packed here")
    }

    /// The index of the position with this key.
    pub fn index(&self, key: BookKey) -> Option<u32> {
        self.indices.get(&key).copied()
    }

    /// The moves of a position with what is behind them; nothing behind illegal ones.
    pub fn moves(&self, book: &Book, position: &Position) -> Vec<(BookMove, Option<Child>)> {
        let legal = position.legal_moves();
        let behind = |entry: &BookMove| legal.contains(&entry.mv).then(|| Child::behind(position, entry.mv));
        book.moves(position).into_iter().map(|entry| (entry, behind(&entry))).collect()
    }

    fn meet(&mut self, position: &Position, checks: &mut Vec<u64>) {
        let oriented = Oriented::of(position);
        let (key, check) = (oriented.key(), oriented.check());
        match self.indices.get(&key) {
            None => {
                self.indices.insert(key, self.packed.len() as u32);
                self.packed.push(position.pack());
                checks.push(check);
            }
            Some(&index) if checks[index as usize] == check => {}
            Some(_) => self.faults.push(format!("two positions have the key {key}, one of them {}", position.fen())),
        }
    }
}

fn illegal(position: &Position, entry: &BookMove) -> String {
    format!("{:#010x} is no legal move in {}", entry.mv.to_bits(), position.fen())
}
