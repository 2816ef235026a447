//! Looking at a candidate closely: a second search, and games of the engine with itself.
//!
//! A search and a game depend on the position, the plan and the judge alone: memory is forgotten before each. The games of a
//! position differ by the nodes that each side may search, which a lot draws; every two games exchange them, so that neither
//! side has the better of it.

use super::super::searcher::Searcher;
use super::super::{CandidateSettings, SearchSettings};
use super::conditions::unfit_score;
use super::exits::for_white;
use super::journal::Examined;
use super::plan::{GameSettings, SuitePlan};
use crate::play::{Allowance, EngineMover, Referee, Seat, Start};
use crate::selfplay::seeds::Dice;
use fairyforge_engine::book::BookKey;
use fairyforge_engine::evaluate::Judge;
use fairyforge_engine::position::Position;
use fairyforge_engine::search::Params;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What looks, on one thread.
pub struct Examiner<'a> {
    plan: &'a SuitePlan,
    searcher: Searcher<'a>,
    movers: [EngineMover<'a>; 2],
    stop: &'a AtomicBool,
}

/// What came of games.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// 1 White won, 0 draw, −1 Black won.
    pub games: Vec<i8>,
    /// Nodes of all searches.
    pub nodes: u64,
}

impl<'a> Examiner<'a> {
    /// Fresh memory for searches and games as a plan has them.
    pub fn new(plan: &'a SuitePlan, judge: &'a Judge, stop: &'a AtomicBool) -> Self {
        let mover = || EngineMover::new(judge, &Params::default(), plan.games.table_mebibytes);
        Self { plan, searcher: second_searcher(plan, judge, stop), movers: [mover(), mover()], stop }
    }

    /// What there is to find out about a position, so many plies from its root. Games are played where the search finds nothing
    /// wrong. `None`: stopped.
    pub fn look(&mut self, position: &Position, plies: u16) -> Option<Examined> {
        let found = self.searcher.look(position)?;
        let score = for_white(found.score, position.side_to_move());
        let is_fit = unfit_score(self.plan, score).is_none();
        let Results { games, nodes } = if is_fit { self.play(position, plies)? } else { Results::default() };
        let position = BookKey::of(position).to_string();
        Some(Examined { position, score, nodes: found.nodes, games, game_nodes: nodes })
    }

    fn play(&mut self, position: &Position, plies: u16) -> Option<Results> {
        let mut dice = Dice::new(self.plan.seed, BookKey::of(position).number());
        let mut results = Results::default();
        for _ in 0..self.plan.games.count / 2 {
            let [first, second] = [(); 2].map(|()| drawn_nodes(&self.plan.games, &mut dice));
            for nodes in [[first, second], [second, first]] {
                let start = Start { position, plies };
                results.games.push(self.game(start, nodes, &mut results.nodes)?);
            }
        }
        Some(results)
    }

    fn game(&mut self, start: Start<'_>, nodes: [u64; 2], searched: &mut u64) -> Option<i8> {
        let adjudication = &self.plan.games.adjudication;
        let referee = Referee { adjudication, endgames: None, time_margin: Duration::ZERO, stop: self.stop };
        let [white, black] = &mut self.movers;
        let mut seats = [
            Seat { mover: white, allowance: Allowance::nodes(nodes[0]) },
            Seat { mover: black, allowance: Allowance::nodes(nodes[1]) },
        ];
        let played = referee.play(start, &mut seats, |_, thought| *searched += thought.nodes)?;
        Some(played.result())
    }
}

/// What searches a suite's positions a second time, and later again.
pub fn second_searcher<'a>(plan: &SuitePlan, judge: &'a Judge, stop: &'a AtomicBool) -> Searcher<'a> {
    let search = SearchSettings { nodes: plan.verify.nodes, table_mebibytes: plan.verify.table_mebibytes };
    Searcher::new(judge, search, CandidateSettings::default(), stop)
}

/// Nodes a move of one side: the plan's, more or fewer by at most its share, all equally likely.
fn drawn_nodes(settings: &GameSettings, dice: &mut Dice) -> u64 {
    let spread = (settings.nodes as f64 * settings.jitter) as u64;
    let drawn = settings.nodes - spread + dice.below(2 * spread as usize + 1) as u64;
    drawn.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairyforge_engine::evaluate::Weights;
    use fairyforge_engine::variant::Variant;
    use std::sync::Arc;

    fn plan(more: &str) -> SuitePlan {
        let least = "format = 1\nvariant = \"chess\"\nseed = 1\nbook = \"x.book\"\n\n[verify]\nnodes = 300\n\
                     table_mebibytes = 1\n\n[openings]\nfrom = -300\nto = 300\n\n[games]\n";
        SuitePlan::read(&format!("{least}{more}")).unwrap()
    }

    #[test]
    fn nodes_are_drawn_around_those_of_the_plan() {
        let mut dice = Dice::new(1, 1);
        let settings = GameSettings { nodes: 400, jitter: 0.25, ..GameSettings::default() };
        let drawn: Vec<u64> = (0..2000).map(|_| drawn_nodes(&settings, &mut dice)).collect();
        assert!(drawn.iter().all(|nodes| (300..=500).contains(nodes)));
        assert!(drawn.contains(&300) && drawn.contains(&500));
        let mean = drawn.iter().sum::<u64>() as f64 / 2000.0;
        assert!((mean - 400.0).abs() < 6.5, "five standard deviations: {mean}");
        let exact = GameSettings { jitter: 0.0, nodes: 1, ..settings };
        assert_eq!(drawn_nodes(&exact, &mut dice), 1);
    }

    /// What was looked at before leaves no trace, games are those of the key, and there are as many as the plan says.
    #[test]
    fn findings_depend_on_the_position_alone() {
        let variant = Arc::new(Variant::load("chess").unwrap());
        let judge = Judge::of_weights(&variant, &Weights::best_known(&variant));
        let stop = AtomicBool::new(false);
        let plan = plan("count = 4\nnodes = 20\n[games.adjudication]\nmost_plies = 80\n");
        let [start, other] =
            ["rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"]
                .map(|fen| Position::from_fen(&variant, fen).unwrap());
        let mut examiner = Examiner::new(&plan, &judge, &stop);
        let found = examiner.look(&start, 1).unwrap();
        assert_eq!((found.games.len(), found.nodes >= 300), (4, true));
        assert!(found.game_nodes > 0);
        // A rook ahead is outside the window: no games.
        let won = examiner.look(&other, 1).unwrap();
        assert!(won.score > 300 && won.games.is_empty() && won.game_nodes == 0, "{won:?}");
        assert_eq!(examiner.look(&start, 1).unwrap(), found);
        assert_eq!(Examiner::new(&plan, &judge, &stop).look(&start, 1).unwrap(), found);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(examiner.look(&start, 1), None);
    }

    /// The score is White's, whoever is to move.
    #[test]
    fn scores_are_whites() {
        let variant = Arc::new(Variant::load("chess").unwrap());
        let judge = Judge::of_weights(&variant, &Weights::best_known(&variant));
        let stop = AtomicBool::new(false);
        let plan = plan("count = 0\n");
        let mut examiner = Examiner::new(&plan, &judge, &stop);
        for side in ["w", "b"] {
            let fen = format!("4k3/pppp4/8/8/8/8/PPPP4/4K2R {side} - - 0 1");
            let found = examiner.look(&Position::from_fen(&variant, &fen).unwrap(), 1).unwrap();
            assert!(found.score > 200, "{side}: {found:?}");
        }
    }
}
