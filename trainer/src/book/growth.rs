//! Which positions to look behind next: drop-out expansion, or breadth first.
//!
//! Drop-out expansion (Lincke, "Strategies for the automatic construction of opening books", 2001) asks what it costs to get to a
//! position: at every move on the way what is lost against the best move there, and something for the ply itself. What an
//! opponent who plays well is likely to do is thus looked at deeply, what costs him something only if it is cheap. Costs are
//! those of the cheapest way, whatever way a position was found on.

use super::graph::{Graph, NodeId};
use super::values::before;
use super::{Growth, GrowthSettings};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The greatest loss that a move is held to cost, in centipawns: two mates are not further apart than any two bad moves.
const MOST_LOSS: i32 = 5_000;

/// The positions to look behind next, cheapest first, at most so many. `values` are those of all positions.
///
/// Of equally cheap ones the lesser key comes first, so that the choice depends on the graph's content alone.
pub fn cheapest(graph: &Graph, values: &[i16], settings: &GrowthSettings, most: usize) -> Vec<NodeId> {
    let mut chosen = Vec::new();
    let mut costs = vec![u32::MAX; graph.len()];
    let mut waiting = BinaryHeap::new();
    for root in graph.root_ids() {
        costs[root as usize] = 0;
        waiting.push(Reverse((0, graph.key(root), root)));
    }
    while let Some(Reverse((cost, _, id))) = waiting.pop() {
        if chosen.len() == most {
            break;
        }
        if cost > costs[id as usize] {
            continue;
        }
        if graph.is_open(id, settings.plies) {
            chosen.push(id);
        }
        for edge in graph.edges(id) {
            let value = before(values[edge.child as usize]);
            let cost = cost.saturating_add(step(values[id as usize], value, settings));
            if cost < costs[edge.child as usize] {
                costs[edge.child as usize] = cost;
                waiting.push(Reverse((cost, graph.key(edge.child), edge.child)));
            }
        }
    }
    chosen
}

/// What a move of this value costs where the best one has that value.
pub(super) fn step(best: i16, value: i16, settings: &GrowthSettings) -> u32 {
    match settings.by {
        Growth::BreadthFirst => 1,
        Growth::DropOut => {
            let loss = (i32::from(best) - i32::from(value)).clamp(0, MOST_LOSS);
            (loss + settings.ply_cost) as u32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::graph::{Child, Found};
    use fairyforge_engine::position::Position;
    use fairyforge_engine::variant::Variant;
    use std::sync::Arc;

    /// After 1. e4 Black is worth 0 less, after 1. d4 30 less; e5 costs nothing, a6 50.
    fn graph() -> Graph {
        let start = Position::start(&Arc::new(Variant::load("chess").unwrap()));
        let mut graph = Graph::new(vec![start]).unwrap();
        expand(&mut graph, 0, &[("e2e4", -30), ("d2d4", 0)]);
        expand(&mut graph, 1, &[("e7e5", 30), ("a7a6", 80)]);
        graph
    }

    fn expand(graph: &mut Graph, id: NodeId, moves: &[(&str, i16)]) {
        let position = graph.position(id);
        let child = |&(text, score): &(&str, i16)| {
            let found = Found { score, nodes: 1, best: None };
            (Child::behind(&position, position.parse_move(text).unwrap()), Some(found))
        };
        graph.expand(id, &moves.iter().map(child).collect::<Vec<_>>()).unwrap();
    }

    fn names(graph: &Graph, settings: &GrowthSettings, most: usize) -> Vec<String> {
        let chosen = cheapest(graph, &graph.links().values(), settings, most);
        let placement = |id| graph.position(id).fen().split(' ').next().unwrap_or_default().to_owned();
        chosen.into_iter().map(placement).collect()
    }

    const D4: &str = "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR";
    const E5: &str = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR";
    const A6: &str = "rnbqkbnr/1ppppppp/p7/8/4P3/8/PPPP1PPP/RNBQKBNR";

    #[test]
    fn the_cheapest_positions_come_first() {
        let graph = graph();
        let drop_out = |ply_cost| GrowthSettings { ply_cost, ..GrowthSettings::default() };
        // e4 e5 costs 2 plies, d4 a ply and 30, e4 a6 two plies and 50.
        assert_eq!(names(&graph, &drop_out(10), 9), [E5, D4, A6]);
        assert_eq!(names(&graph, &drop_out(40), 9), [D4, E5, A6]);
        assert_eq!(names(&graph, &drop_out(10), 1), [E5]);
        let near = GrowthSettings { plies: 2, ..drop_out(10) };
        assert_eq!(names(&graph, &near, 9), [D4]);
    }

    #[test]
    fn breadth_first_counts_plies_only() {
        let settings = GrowthSettings { by: Growth::BreadthFirst, ..GrowthSettings::default() };
        let names = names(&graph(), &settings, 9);
        assert_eq!((names[0].as_str(), names.len()), (D4, 3));
    }
}
