//! Which positions a page shows: all, or the likeliest if there are too many.

use crate::book::graph::after;
use fairyforge_engine::book::Book;
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::Arc;

/// The positions of a page, the likeliest first.
pub(super) struct Choice {
    /// A few dozen bytes each.
    packed: Vec<Vec<u8>>,
    indices: HashMap<Vec<u8>, usize>,
    /// Positions that were met and left out.
    pub left_out: usize,
}

/// A position that was met, and how likely a game by the book's weights reaches it on that way.
struct Met {
    likelihood: f64,
    number: Reverse<usize>,
    packed: Vec<u8>,
}

impl Choice {
    /// The `most` likeliest positions of a book, by the likeliest way to each. What the book says of a position it says of the position
    /// itself, so this asks for moves by position and never by key.
    pub fn of(book: &Book, most: usize) -> Self {
        let mut choice = Self { packed: Vec::new(), indices: HashMap::new(), left_out: 0 };
        let mut search = Search { book, met: BinaryHeap::new(), count: 0 };
        book.roots().iter().for_each(|root| search.meet(root.clone().as_first(), 1.0));
        let mut left_out = HashSet::new();
        while let Some(Met { likelihood, packed, .. }) = search.met.pop() {
            let Some(root) = book.roots().first() else { break };
            let position = unpacked(root.variant(), &packed);
            let identity = position.identity_bytes();
            if choice.indices.contains_key(&identity) {
                continue;
            }
            if choice.packed.len() == most {
                left_out.insert(identity);
                continue;
            }
            choice.indices.insert(identity, choice.packed.len());
            choice.packed.push(packed);
            search.behind(&position, likelihood);
        }
        choice.left_out = left_out.len();
        choice
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.packed.len()
    }

    /// The positions in their order.
    pub fn positions(&self, variant: &Arc<Variant>) -> impl Iterator<Item = Position> {
        self.packed.iter().map(|packed| unpacked(variant, packed))
    }

    /// The number of a position, if it is shown.
    pub fn index(&self, position: &Position) -> Option<usize> {
        self.indices.get(&position.identity_bytes()).copied()
    }
}

fn unpacked(variant: &Arc<Variant>, packed: &[u8]) -> Position {
    Position::unpack(variant, packed).expect("it was packed here")
}

/// The positions that were met and not looked at yet.
struct Search<'a> {
    book: &'a Book,
    met: BinaryHeap<Met>,
    count: usize,
}

impl Search<'_> {
    fn meet(&mut self, position: Position, likelihood: f64) {
        self.met.push(Met { likelihood, number: Reverse(self.count), packed: position.pack() });
        self.count += 1;
    }

    fn behind(&mut self, position: &Position, likelihood: f64) {
        let moves = self.book.moves(position);
        let sum: f64 = moves.iter().map(|found| f64::from(found.weight)).sum();
        for found in moves {
            let after = after(position, found.mv);
            if after.outcome(1).is_none() && !self.book.moves(&after).is_empty() {
                let share = if sum > 0.0 { f64::from(found.weight) / sum } else { 0.0 };
                self.meet(after, likelihood * share);
            }
        }
    }
}

impl Ord for Met {
    fn cmp(&self, other: &Self) -> Ordering {
        self.likelihood.total_cmp(&other.likelihood).then_with(|| self.number.cmp(&other.number))
    }
}

impl PartialOrd for Met {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Met {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Met {}
