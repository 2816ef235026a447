//! The positions of a book that is being built, and the moves between them. Positions that are reached by several ways are there once.
//!
//! A position is kept as the way to it, two dozen bytes, and set up again when it is needed: a book of a million positions has some
//! millions more that nobody has looked behind. Every position stands as books have it ([`Oriented`]): of two mirror images there is one,
//! and the moves of the graph are its moves. Two positions of one key would be taken for one another, so a second number
//! tells them apart, and ends the building.

use super::values::Links;
use fairyforge_engine::book::{BookKey, Oriented};
use fairyforge_engine::moves::Move;
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::search::score::{DRAW, MATE, is_mate};
use std::collections::HashMap;

/// A position of a graph.
pub type NodeId = u32;

/// The positions and moves.
pub struct Graph {
    roots: Vec<Position>,
    nodes: Vec<Node>,
    by_key: HashMap<BookKey, NodeId>,
    edges: Vec<Edge>,
    expanded: usize,
}

/// A position.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    key: BookKey,
    check: u64,
    origin: Origin,
    /// Plies from the root by the way on which it was found first.
    plies: u16,
    /// What the search of it said, for its side to move; `None` of a root that nobody searched.
    score: Option<i16>,
    state: State,
    /// Nodes of that search.
    nodes: u64,
    /// The move that it prefers.
    best: Option<Move>,
}

/// How a position was found first.
#[derive(Clone, Copy, Debug)]
enum Origin {
    Root(u32),
    Move { parent: NodeId, mv: Move },
}

/// What has become of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The game goes on, but nobody has looked behind it.
    Leaf,
    /// The game is over.
    Over,
    /// Its moves are these edges.
    Expanded { first: u32, count: u16 },
}

/// A move of a position.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The move.
    pub mv: Move,
    /// Where it leads.
    pub child: NodeId,
}

/// A position behind a move, not in the graph yet or perhaps already.
#[derive(Clone, Debug)]
pub struct Child {
    /// The move.
    pub mv: Move,
    /// The position as books have it, as if a game began with it: perhaps the mirror image of what stands on the board after the move.
    pub position: Position,
    /// Its key.
    pub key: BookKey,
    check: u64,
    /// The value for its side to move, if the game is over.
    pub over: Option<i16>,
}

/// What a search said of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// For its side to move, in centipawns.
    pub score: i16,
    /// Nodes searched.
    pub nodes: u64,
    /// The move it prefers, in the position as books have it.
    pub best: Option<Move>,
}

/// Two positions have one key.
#[derive(Debug, thiserror::Error)]
#[error("two positions have the key {key}, one of them {fen}: a book cannot hold both")]
pub struct Collision {
    /// The key.
    pub key: BookKey,
    /// The second position.
    pub fen: String,
}

impl Child {
    /// The position behind a legal move.
    pub fn behind(position: &Position, mv: Move) -> Self {
        let after = Oriented::of(&after(position, mv));
        let (key, check, position) = (after.key(), after.check(), after.into_position());
        Self { mv, key, check, over: value_if_over(&position), position }
    }
}

/// What stands on the board after a legal move, as if a game began with it.
pub fn after(position: &Position, mv: Move) -> Position {
    let mut after = position.clone();
    after.make(mv, &mut Unobserved);
    after.as_first()
}

/// The value of a position that ends the game, for its side to move.
fn value_if_over(position: &Position) -> Option<i16> {
    let outcome = position.outcome(1)?;
    let value = match outcome.winner {
        None => DRAW,
        Some(winner) if winner == position.side_to_move() => MATE,
        Some(_) => -MATE,
    };
    Some(value as i16)
}

impl Graph {
    /// The roots, and nothing behind them. A root that stands twice is there once.
    ///
    /// # Errors
    /// Two roots have one key.
    pub fn new(roots: Vec<Position>) -> Result<Self, Collision> {
        let mut graph = Self { roots, nodes: Vec::new(), by_key: HashMap::new(), edges: Vec::new(), expanded: 0 };
        for index in 0..graph.roots.len() {
            let root = Oriented::of(&graph.roots[index]);
            let (key, check) = (root.key(), root.check());
            if graph.find(key, check, root.position())?.is_none() {
                let (origin, state) = (Origin::Root(index as u32), State::Leaf);
                graph.add(Node { key, check, origin, plies: 0, score: None, state, nodes: 0, best: None });
            }
        }
        Ok(graph)
    }

    /// Number of positions that are looked behind.
    pub const fn expanded(&self) -> usize {
        self.expanded
    }

    /// Number of all positions.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The roots, the way round they were given.
    pub fn roots(&self) -> &[Position] {
        &self.roots
    }

    /// The positions of the roots.
    pub fn root_ids(&self) -> impl Iterator<Item = NodeId> {
        let is_root = |&id: &NodeId| matches!(self.nodes[id as usize].origin, Origin::Root(_));
        (0..self.roots.len().min(self.nodes.len()) as NodeId).filter(is_root)
    }

    /// The position as books have it, set up, as if a game began with it.
    pub fn position(&self, id: NodeId) -> Position {
        let mut way = Vec::new();
        let mut at = id;
        let root = loop {
            match self.nodes[at as usize].origin {
                Origin::Root(root) => break root,
                Origin::Move { parent, mv } => {
                    way.push(mv);
                    at = parent;
                }
            }
        };
        let root = Oriented::of(&self.roots[root as usize]).into_position();
        let position = way.into_iter().rev().fold(root, |position, mv| Child::behind(&position, mv).position);
        position.as_first()
    }

    /// A position's key.
    pub fn key(&self, id: NodeId) -> BookKey {
        self.nodes[id as usize].key
    }

    /// What the search of a position said, if there was one.
    pub fn found(&self, id: NodeId) -> Option<Found> {
        let Node { score, nodes, best, .. } = self.nodes[id as usize];
        score.map(|score| Found { score, nodes, best })
    }

    /// The moves of a position that is looked behind.
    pub fn edges(&self, id: NodeId) -> &[Edge] {
        match self.nodes[id as usize].state {
            State::Expanded { first, count } => &self.edges[first as usize..first as usize + usize::from(count)],
            State::Leaf | State::Over => &[],
        }
    }

    /// Whether somebody has looked behind the position with this key.
    pub fn is_looked_behind(&self, key: BookKey) -> bool {
        self.by_key.get(&key).is_some_and(|&id| !self.edges(id).is_empty())
    }

    /// Whether a position may be looked behind: nobody has, the game goes on, no mate is in sight, and it is not too far away.
    pub fn is_open(&self, id: NodeId, plies: u16) -> bool {
        let node = &self.nodes[id as usize];
        let is_decided = node.score.is_some_and(|score| is_mate(i32::from(score)));
        node.state == State::Leaf && !is_decided && node.plies < plies
    }

    /// The position behind a move, if it is there.
    ///
    /// # Errors
    /// Another one has its key.
    pub fn known(&self, child: &Child) -> Result<Option<NodeId>, Collision> {
        self.find(child.key, child.check, &child.position)
    }

    /// Gives a leaf its moves. `found` tells of children that are not there yet, and whose game is not over.
    ///
    /// # Errors
    /// Two positions have one key.
    pub fn expand(&mut self, parent: NodeId, children: &[(Child, Option<Found>)]) -> Result<(), Collision> {
        let first = self.edges.len() as u32;
        let plies = self.nodes[parent as usize].plies.saturating_add(1);
        for (child, found) in children {
            let mv = child.mv;
            let child = match self.known(child)? {
                Some(known) => known,
                None => {
                    let state = if child.over.is_some() { State::Over } else { State::Leaf };
                    let score = child.over.or(found.map(|found| found.score));
                    let nodes = found.map_or(0, |found| found.nodes);
                    let best = found.and_then(|found| found.best);
                    let (key, check, origin) = (child.key, child.check, Origin::Move { parent, mv });
                    self.add(Node { key, check, origin, plies, score, state, nodes, best })
                }
            };
            self.edges.push(Edge { mv, child });
        }
        self.nodes[parent as usize].state = State::Expanded { first, count: children.len() as u16 };
        self.expanded += 1;
        Ok(())
    }

    /// The graph as values see it.
    pub fn links(&self) -> Links {
        let mut links = Links::default();
        for (id, node) in (0..).zip(&self.nodes) {
            links.own.push(node.score.unwrap_or_default());
            links.children.extend(self.edges(id).iter().map(|edge| edge.child));
            links.ends.push(links.children.len() as u32);
        }
        links
    }

    fn find(&self, key: BookKey, check: u64, position: &Position) -> Result<Option<NodeId>, Collision> {
        match self.by_key.get(&key) {
            Some(&id) if self.nodes[id as usize].check == check => Ok(Some(id)),
            Some(_) => Err(Collision { key, fen: position.fen() }),
            None => Ok(None),
        }
    }

    fn add(&mut self, node: Node) -> NodeId {
        let id = self.nodes.len() as NodeId;
        self.by_key.insert(node.key, id);
        self.nodes.push(node);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairyforge_engine::variant::Variant;
    use std::sync::Arc;

    fn chess() -> Arc<Variant> {
        Arc::new(Variant::load("chess").unwrap())
    }

    fn expand(graph: &mut Graph, id: NodeId, moves: &str) {
        let position = graph.position(id);
        let child = |text| Child::behind(&position, position.parse_move(text).unwrap());
        let found = Some(Found { score: 10, nodes: 5, best: None });
        let children: Vec<_> = moves.split(' ').map(|text| (child(text), found)).collect();
        graph.expand(id, &children).unwrap();
    }

    #[test]
    fn transpositions_are_one_position() {
        let mut graph = Graph::new(vec![Position::start(&chess())]).unwrap();
        expand(&mut graph, 0, "g1f3 b1c3");
        let [knight, other] = [graph.edges(0)[0].child, graph.edges(0)[1].child];
        expand(&mut graph, knight, "g8f6");
        expand(&mut graph, other, "g8f6");
        let [one, two] = [knight, other].map(|id| graph.edges(id)[0].child);
        expand(&mut graph, one, "b1c3 f3g1");
        expand(&mut graph, two, "g1f3");
        assert_eq!(graph.edges(one)[0].child, graph.edges(two)[0].child);
        let both = graph.position(graph.edges(one)[0].child).fen();
        assert_eq!(both, "rnbqkb1r/pppppppp/5n2/8/8/2N2N2/PPPPPPPP/R1BQKB1R b KQkq - 0 1");
        // Back home, but Black's knight is out.
        let back = graph.edges(one)[1].child;
        expand(&mut graph, back, "f6g8");
        assert_eq!(graph.edges(back)[0].child, 0, "the root is reached again");
        assert_eq!((graph.expanded(), graph.len()), (6, 7));
    }

    #[test]
    fn ends_of_games_and_mates_are_not_looked_behind() {
        let fen = "6k1/5ppp/8/8/8/8/8/R5K1 w - - 3 20";
        let root = Position::from_fen(&chess(), fen).unwrap().as_first();
        let mut graph = Graph::new(vec![root.clone(), root]).unwrap();
        assert_eq!((graph.len(), graph.root_ids().collect::<Vec<_>>()), (1, vec![0]));
        expand(&mut graph, 0, "a1a8 g1f2");
        let [mate, other] = [graph.edges(0)[0].child, graph.edges(0)[1].child];
        assert_eq!(graph.found(mate).unwrap().score, -31_000);
        assert!(!graph.is_open(mate, 9) && graph.is_open(other, 2) && !graph.is_open(other, 1) && !graph.is_open(0, 9));
        assert_eq!(graph.links().values(), [30_999, -31_000, 10]);
    }
}
