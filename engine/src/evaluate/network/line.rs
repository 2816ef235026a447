//! Accumulators along a line of moves, brought up to date only where a value is asked for.
//!
//! Making a move notes the few changes and adds nothing up. When a value is asked for, the nearest position before it whose
//! accumulators are known is found, and every move since is added, ply by ply, so that the positions in between are
//! known to their other successors too. A side whose king has changed its view of the board since then sees all inputs
//! otherwise: its accumulator is made from scratch.

use super::Network;
use super::blocks::Block;
use super::features::{Features, View};
use super::kernels::Update;
use crate::evaluate::Evaluator;
use crate::evaluate::tapered::{Balance, TaperedFollower};
use crate::geometry::Square;
use crate::position::{Observer, Piece, Position};
use crate::variant::rules::{Colour, Unit};

/// Most changes that a move makes: castling lifts two men and puts them down.
const MOST_CHANGES: usize = 4;

/// The positions of a line, as a network follows them.
pub struct NetworkLine {
    /// The same for the weights below the network.
    base: Vec<Balance>,
    plies: Vec<Ply>,
    /// By ply, then by perspective; as far as a ply has been valued.
    sums: Vec<Block>,
    /// Blocks of one accumulator.
    blocks: usize,
    /// Room for the active inputs of a position.
    inputs: Vec<u32>,
}

/// What is kept of one position.
#[derive(Clone, Copy)]
struct Ply {
    /// What led here from the ply before.
    changes: Changes,
    views: [View; 2],
    /// Sides for which no change leads here: all has to be added up anew.
    cut_off: [bool; 2],
    /// Sides whose accumulators are up to date.
    known: [bool; 2],
}

#[derive(Clone, Copy)]
struct Changes {
    list: [Change; MOST_CHANGES],
    count: usize,
}

#[derive(Clone, Copy)]
enum Change {
    Placed(Piece, Square),
    Lifted(Piece, Square),
    /// A man has left the hand; so many of its type are left.
    Dropped(Piece, u8),
}

/// Inputs that a move adds or removes.
struct Inputs {
    list: [u32; MOST_CHANGES],
    count: usize,
}

impl Inputs {
    const NONE: Self = Self { list: [0; MOST_CHANGES], count: 0 };

    #[inline]
    fn push(&mut self, input: u32) {
        self.list[self.count] = input;
        self.count += 1;
    }

    #[inline]
    fn as_slice(&self) -> &[u32] {
        &self.list[..self.count]
    }
}

impl Ply {
    fn first(features: &Features, position: &Position) -> Self {
        let views = Colour::BOTH.map(|side| features.view(side, position.king(side)));
        let nothing = Change::Dropped(Piece::NONE, 0);
        let changes = Changes { list: [nothing; MOST_CHANGES], count: 0 };
        Self { changes, views, cut_off: [true; 2], known: [false; 2] }
    }

    #[inline]
    fn note(&mut self, change: Change) {
        match self.changes.list.get_mut(self.changes.count) {
            Some(slot) => {
                *slot = change;
                self.changes.count += 1;
            }
            // No move of any game does so much; if one did, it would still be followed.
            None => self.cut_off = [true; 2],
        }
    }
}

impl NetworkLine {
    /// A line from a position, with room for so many plies.
    pub(super) fn new(network: &Network, root: &Position, plies: usize) -> Self {
        let blocks = network.quantised.bias.len();
        Self {
            base: network.base.as_ref().map_or_else(Vec::new, |base| base.line(root, plies)),
            plies: vec![Ply::first(network.features(), root); plies],
            sums: Vec::with_capacity(2 * plies * blocks),
            blocks,
            inputs: Vec::with_capacity(network.features().most_active()),
        }
    }

    /// Listens to what leads from a ply to the next.
    #[inline]
    pub(super) fn follow<'a>(&'a mut self, network: &'a Network, ply: usize) -> NetworkFollower<'a> {
        let features = &**network.features();
        let views = self.plies[ply].views;
        let next = &mut self.plies[ply + 1];
        next.changes.count = 0;
        (next.views, next.cut_off, next.known) = (views, [false; 2], [false; 2]);
        let royal = features.looks_at_kings().then(|| features.variant().royal());
        let base = network.base.as_ref().map(|base| base.follow(&mut self.base, ply));
        NetworkFollower { features, royal, ply: next, base }
    }

    /// The value of the weights below the network; 0 if there are none.
    #[inline]
    pub(super) fn base_value(&mut self, network: &Network, position: &Position, ply: usize) -> i32 {
        network.base.as_ref().map_or(0, |base| base.value(position, &mut self.base, ply))
    }

    /// The accumulators of the position at a ply, that of the side to move first.
    #[inline]
    pub(super) fn accumulators(&mut self, network: &Network, position: &Position, ply: usize) -> [&[Block]; 2] {
        for side in Colour::BOTH {
            if !self.plies[ply].known[side.index()] {
                self.bring_up(network, position, ply, side);
            }
        }
        let own = position.side_to_move();
        [own, own.opponent()].map(|side| &self.sums[(2 * ply + side.index()) * self.blocks..][..self.blocks])
    }

    fn bring_up(&mut self, network: &Network, position: &Position, ply: usize, side: Colour) {
        // Short searches never get deep: filling all the room at once would take them longer than this.
        self.sums.resize(self.sums.len().max(2 * (ply + 1) * self.blocks), Block::ZERO);
        let mut from = ply;
        while !self.plies[from].known[side.index()] {
            if self.plies[from].cut_off[side.index()] {
                return self.add_up(network, position, ply, side);
            }
            // The first ply is cut off for both sides.
            from -= 1;
        }
        for next in from + 1..=ply {
            self.step(network, next, side);
        }
    }

    /// From scratch.
    fn add_up(&mut self, network: &Network, position: &Position, ply: usize, side: Colour) {
        network.features().active(position, side, &mut self.inputs);
        let target = &mut self.sums[(2 * ply + side.index()) * self.blocks..][..self.blocks];
        let quantised = &network.quantised;
        network.instructions.update(Update {
            target,
            source: &quantised.bias,
            rows: &quantised.transformer,
            added: &self.inputs,
            removed: &[],
        });
        self.plies[ply].known[side.index()] = true;
    }

    /// From the ply before.
    fn step(&mut self, network: &Network, ply: usize, side: Colour) {
        let (added, removed) = self.plies[ply].inputs(network.features(), side);
        let (before, here) = self.sums.split_at_mut(2 * ply * self.blocks);
        let place = side.index() * self.blocks..(side.index() + 1) * self.blocks;
        let start = before.len() - 2 * self.blocks;
        network.instructions.update(Update {
            target: &mut here[place.clone()],
            source: &before[start..][place],
            rows: &network.quantised.transformer,
            added: added.as_slice(),
            removed: removed.as_slice(),
        });
        self.plies[ply].known[side.index()] = true;
    }
}

impl Ply {
    /// The inputs of a side that have become active, and those that no longer are.
    #[inline]
    fn inputs(&self, features: &Features, side: Colour) -> (Inputs, Inputs) {
        let (mut added, mut removed) = (Inputs::NONE, Inputs::NONE);
        let view = self.views[side.index()];
        for &change in &self.changes.list[..self.changes.count] {
            match change {
                Change::Placed(piece, square) => added.push(features.on_square(side, view, piece, square)),
                Change::Lifted(piece, square) => removed.push(features.on_square(side, view, piece, square)),
                Change::Dropped(piece, left) => removed.push(features.in_hand(side, view, piece, left)),
            }
        }
        (added, removed)
    }
}

/// Notes the changes of a move.
pub struct NetworkFollower<'a> {
    features: &'a Features,
    /// The unit whose going changes a view, if views change.
    royal: Option<Unit>,
    ply: &'a mut Ply,
    /// Notes them for the weights below the network.
    base: Option<TaperedFollower<'a>>,
}

impl Observer for NetworkFollower<'_> {
    #[inline]
    fn placed(&mut self, piece: Piece, square: Square) {
        if let Some(base) = &mut self.base {
            base.placed(piece, square);
        }
        self.ply.note(Change::Placed(piece, square));
        if self.royal == Some(piece.unit()) {
            let side = piece.colour();
            let view = self.features.view(side, square);
            self.ply.cut_off[side.index()] |= view != self.ply.views[side.index()];
            self.ply.views[side.index()] = view;
        }
    }

    #[inline]
    fn lifted(&mut self, piece: Piece, square: Square) {
        if let Some(base) = &mut self.base {
            base.lifted(piece, square);
        }
        self.ply.note(Change::Lifted(piece, square));
    }

    #[inline]
    fn dropped(&mut self, piece: Piece, left: u8) {
        if let Some(base) = &mut self.base {
            base.dropped(piece, left);
        }
        self.ply.note(Change::Dropped(piece, left));
    }
}
