//! Our own engine as a mover, in this process.

use super::{Budget, Fault, Mover, Thought};
use fairyforge_engine::evaluate::Judge;
use fairyforge_engine::game::Game;
use fairyforge_engine::search::{self, Deadline, Limits, Memory, Params, Report, Request};
use std::sync::atomic::AtomicBool;

/// The engine: what judges positions, the numbers of its search, and a memory of its own.
pub struct EngineMover<'a> {
    judge: &'a Judge,
    params: Params,
    memory: Memory,
}

impl<'a> EngineMover<'a> {
    /// A mover with a table of so many mebibytes.
    pub fn new(judge: &'a Judge, params: &Params, table_mebibytes: usize) -> Self {
        Self { judge, params: params.clone(), memory: Memory::new(table_mebibytes, params.clone()) }
    }

    fn limits(&self, game: &Game, budget: &Budget) -> Limits {
        let clock = budget.clocks[game.position().side_to_move().index()];
        let deadline = match (budget.move_time, clock) {
            (Some(time), _) => Some(Deadline::fixed(time, &self.params)),
            (None, Some(clock)) => Some(Deadline::from_clock(&clock, &self.params)),
            (None, None) => None,
        };
        Limits { depth: budget.depth, nodes: budget.nodes, deadline, root_moves: Vec::new() }
    }
}

impl Mover for EngineMover<'_> {
    fn new_game(&mut self, _: &Game) -> Result<(), Fault> {
        self.memory.forget();
        Ok(())
    }

    fn choose(&mut self, game: &Game, budget: &Budget, stop: &AtomicBool) -> Result<Thought, Fault> {
        let limits = self.limits(game, budget);
        let ignore = |_: &Report, _: &Memory| {};
        let (position, earlier) = (game.position(), game.earlier());
        let request = Request { position, earlier, limits: &limits, evaluator: self.judge, endgames: None, stop };
        let report = search::search_with(&request, &mut self.memory, ignore);
        let mv = report.best.expect("a game that is not over has a legal move");
        Ok(Thought { mv, score: Some(report.score), depth: report.depth as u32, nodes: report.nodes })
    }
}
