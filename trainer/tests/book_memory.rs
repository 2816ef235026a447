//! What a large build takes of memory: the whole of it but the searches, whose scores are made up here.
//!
//! ```text
//! FAIRYFORGE_BOOK_POSITIONS=1000000 cargo test -p fairyforge --test book_memory -- --ignored --nocapture
//! ```

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use fairyforge::book::GrowthSettings;
use fairyforge::book::graph::{Child, Found, Graph, NodeId};
use fairyforge::book::growth::cheapest;
use fairyforge_engine::book::{Book, BookMove, Manifest};
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use std::sync::Arc;

/// Positions that are looked behind, unless the environment says otherwise.
const POSITIONS: usize = 200_000;
/// Moves of each.
const MOVES: usize = 4;
/// Most bytes a position that the process may have had at any time: a million positions fit into a gibibyte.
const MOST_BYTES: u64 = 1024;
/// What the program and its tables take besides, in mebibytes.
const BESIDES: u64 = 48;

/// The process's greatest memory so far, in mebibytes; `None` where the system does not tell.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kibibytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    kibibytes.split_whitespace().next()?.parse::<u64>().ok().map(|kibibytes| kibibytes >> 10)
}

/// Some moves of a position with scores that say nothing.
fn children(graph: &Graph, position: &Position) -> Vec<(Child, Option<Found>)> {
    let mut children: Vec<(Child, Option<Found>)> = Vec::new();
    for mv in position.legal_moves() {
        let child = Child::behind(position, mv);
        let is_known =
            graph.known(&child).unwrap().is_some() || children.iter().any(|(other, _)| other.key == child.key);
        let score = (child.key.to_string().bytes().map(u32::from).sum::<u32>() % 60) as i16;
        let found = (!is_known && child.over.is_none()).then_some(Found { score, nodes: 1, best: None });
        children.push((child, found));
        if children.len() == MOVES {
            break;
        }
    }
    children
}

fn grown(root: Position, positions: usize) -> Graph {
    let mut graph = Graph::new(vec![root]).unwrap();
    let growth = GrowthSettings { positions, ..GrowthSettings::default() };
    while graph.expanded() < positions {
        let values = graph.links().values();
        let most = (graph.expanded() / 4 + 16).min(positions - graph.expanded());
        for id in cheapest(&graph, &values, &growth, most) {
            let children = children(&graph, &graph.position(id));
            graph.expand(id, &children).unwrap();
        }
    }
    graph
}

fn book_of(graph: &Graph) -> Book {
    let values = graph.links().values();
    let moves = |id: NodeId| {
        let edges = graph.edges(id).iter();
        edges
            .map(|edge| BookMove { weight: 1, value: Some(values[edge.child as usize]), ..BookMove::new(edge.mv) })
            .collect()
    };
    let expanded = (0..graph.len() as NodeId).filter(|&id| !graph.edges(id).is_empty());
    let positions: Vec<(_, Vec<BookMove>)> = expanded.map(|id| (graph.key(id), moves(id))).collect();
    Book::new(graph.roots(), Manifest { method: "none".into(), ..Manifest::default() }, positions).unwrap()
}

#[test]
#[ignore = "ten seconds, or as many positions as FAIRYFORGE_BOOK_POSITIONS says"]
fn a_million_positions_fit_into_a_gibibyte() {
    let asked = std::env::var("FAIRYFORGE_BOOK_POSITIONS").ok();
    let positions = asked.map_or(POSITIONS, |text| text.parse().expect("expected a number of positions"));
    let variant = Arc::new(Variant::load("herculean").unwrap());
    let graph = grown(Position::start(&variant), positions);
    let after_growth = peak();
    let (expanded, all) = (graph.expanded(), graph.len());
    let bytes = book_of(&graph).as_bytes().len();
    println!("{expanded} positions looked behind of {all}, a book of {bytes} bytes");
    println!("at most {after_growth:?} MiB while it grew, {:?} MiB with the book", peak());
    let most = BESIDES + ((MOST_BYTES * positions as u64) >> 20);
    assert!(peak().is_none_or(|peak| peak < most), "{:?} MiB, expected less than {most}", peak());
}
