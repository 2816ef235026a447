//! The engine has no favourite colour: a position and its mirror image with colours exchanged are searched alike.
//!
//! Self-play measures what units are worth; a search that listed Black's moves in a better order once cost White two
//! games of three at few nodes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::colours_exchanged;
use fairyforge_engine::evaluate::{Tapered, Weights};
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::search::{Limits, Memory, Params, Report, Request, search};
use fairyforge_engine::variant::rules::Colour;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::sync::atomic::AtomicBool;

fn searched(position: &Position, evaluator: &Tapered, nodes: u64) -> Report {
    let mut memory = Memory::new(4, Params::default());
    let stop = AtomicBool::new(false);
    let limits = Limits::nodes(nodes);
    let request = Request { position, earlier: &[], limits: &limits, evaluator, endgames: None, stop: &stop };
    search(&request, &mut memory, |_, _| ())
}

#[test]
fn mirrored_positions_are_searched_alike() {
    for variant in common::shipped().into_iter().filter(|variant| variant.armies_are_alike()) {
        let name = variant.name();
        let evaluator = Tapered::new(&variant, &Weights::a_priori(&variant));
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let mut position = Position::start(&variant);
        for ply in 0..40 {
            if ply % 4 == 0 && position.en_passant().is_none() {
                let (here, there) =
                    (searched(&position, &evaluator, 400), searched(&colours_exchanged(&position), &evaluator, 400));
                let flipped = |square| variant.topology().flip(square);
                let best = here.best.map(|mv| (flipped(mv.from()), flipped(mv.to())));
                let same = (best, here.score, here.depth)
                    == (there.best.map(|mv| (mv.from(), mv.to())), there.score, there.depth);
                assert!(same, "{name} {}: {here:?} but mirrored {there:?}", position.fen());
            }
            let moves = position.legal_moves();
            let Some(&mv) = moves.get(random.next_u32() as usize % moves.len().max(1)) else { break };
            position.make(mv, &mut Unobserved);
        }
        assert!(position.full_moves() > 3, "{name} {:?}", Colour::White);
    }
}
