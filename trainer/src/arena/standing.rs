//! How a match stands: tallies of every meeting, failures, and the sequential test. Made from the games of a journal, in
//! whatever order they come.
//!
//! A pair counts when both its games are there. A pair in which somebody failed is counted as such and enters no
//! statistic; nor does an exact copy of an earlier pair, which tells nothing new: with limits in nodes the same opening gives
//! the same games. The sequential test hears of pairs in the order of their numbers, so that where it stops depends neither on
//! threads nor on chance; pairs beyond that point are not part of the match.

use super::journal::GameSummary;
use super::schedule::Schedule;
use super::sprt::{Decision, Results, Sprt, SprtError};
use super::statistics::{GameResult, MatchTally};
use crate::play::FaultKind;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};

/// How a match stands.
#[derive(Clone, Debug)]
pub struct Standing {
    schedule: Schedule,
    meetings: Vec<Meeting>,
    players: usize,
    /// Who failed how, with the pair.
    faults: Vec<(u64, usize, FaultKind)>,
    /// Contents of the pairs so far, with their meeting.
    contents: HashSet<(usize, [u64; 2])>,
    waiting: BTreeMap<u64, GameSummary>,
    games: u64,
    plies: u64,
    test: Option<SequentialTest>,
}

/// What two players have made of their pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meeting {
    /// Results for the first of the two.
    pub tally: MatchTally,
    /// Pairs in which somebody failed: not in the tally.
    pub faulty_pairs: u64,
    /// Exact copies of other pairs: not in the tally.
    pub copied_pairs: u64,
}

/// Failures of one player by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct FaultCounts(BTreeMap<FaultKind, u64>);

impl FaultCounts {
    fn count(&mut self, kind: FaultKind) {
        *self.0.entry(kind).or_default() += 1;
    }

    /// Failures of all kinds.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Kinds with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (FaultKind, u64)> {
        self.0.iter().map(|(&kind, &count)| (kind, count))
    }
}

/// A pair that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Settled {
    /// The first player's results.
    Played([GameResult; 2]),
    /// Somebody failed.
    Faulty,
}

/// A complete pair with its contents.
#[derive(Clone, Copy, Debug)]
struct SettledPair {
    settled: Settled,
    content: [u64; 2],
}

/// The test along the pairs of the only meeting.
#[derive(Clone, Debug)]
struct SequentialTest {
    sprt: Sprt,
    meeting: Meeting,
    contents: HashSet<[u64; 2]>,
    /// Number of the next pair to hear of.
    next: u64,
    ready: BTreeMap<u64, SettledPair>,
    decision: Decision,
}

impl Standing {
    /// Before the first game.
    pub fn new(schedule: Schedule, players: usize, sprt: Option<Sprt>) -> Self {
        let meetings = vec![Meeting::default(); schedule.meetings().len()];
        let test = sprt.map(|sprt| SequentialTest {
            sprt,
            meeting: Meeting::default(),
            contents: HashSet::new(),
            next: 0,
            ready: BTreeMap::new(),
            decision: Decision::Continue,
        });
        Self {
            schedule,
            meetings,
            players,
            faults: Vec::new(),
            contents: HashSet::new(),
            waiting: BTreeMap::new(),
            games: 0,
            plies: 0,
            test,
        }
    }

    /// Adds a game.
    ///
    /// # Errors
    /// The test cannot be made of such results.
    pub fn add(&mut self, game: &GameSummary) -> Result<(), SprtError> {
        self.games += 1;
        self.plies += game.plies as u64;
        let pair = game.number.pair;
        self.faults.extend(game.fault.map(|(player, kind)| (pair, player, kind)));
        let Some(other) = self.waiting.remove(&pair) else {
            self.waiting.insert(pair, *game);
            return Ok(());
        };
        let slot = self.schedule.slot(pair);
        let games = if game.number < other.number { [game, &other] } else { [&other, game] };
        let settled = match game.fault.or(other.fault) {
            Some(_) => Settled::Faulty,
            None => Settled::Played(games.map(|game| result_for(slot.players[0], game))),
        };
        let content = games.map(|game| game.content);
        let is_new = self.contents.insert((slot.meeting, content));
        self.meetings[slot.meeting].settle(settled, is_new);
        self.test.as_mut().map_or(Ok(()), |test| test.hear(pair, SettledPair { settled, content }))
    }

    /// Who meets whom.
    pub const fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// The meeting at this place of the schedule. Where a sequential test has ended, what it had heard by then.
    pub fn meeting(&self, place: usize) -> Meeting {
        let mut meeting = self.meetings[place];
        if let Some(test) = self.test.as_ref().filter(|test| test.decision != Decision::Continue) {
            return test.meeting;
        }
        let lone = self.waiting.keys().filter(|&&pair| self.schedule.slot(pair).meeting == place);
        lone.for_each(|_| meeting.tally.add_unpaired());
        meeting
    }

    /// Failures by player, in the pairs that are part of the match.
    pub fn faults(&self) -> Vec<FaultCounts> {
        let mut counts = vec![FaultCounts::default(); self.players];
        let end = self.end();
        for &(_, player, kind) in self.faults.iter().filter(|&&(pair, ..)| pair < end) {
            counts[player].count(kind);
        }
        counts
    }

    /// Games added, those beyond the end of a test too.
    pub const fn games(&self) -> u64 {
        self.games
    }

    /// Games that are part of the match: once it is over, those of the pairs before its end.
    pub fn games_of_match(&self) -> u64 {
        self.games.min(self.end().saturating_mul(2))
    }

    /// Moves in them.
    pub const fn plies(&self) -> u64 {
        self.plies
    }

    /// The test with the results that it has heard of, if there is one.
    pub fn test(&self) -> Option<(&Sprt, Results, Decision)> {
        self.test.as_ref().map(|test| (&test.sprt, Results::Match(test.meeting.tally), test.decision))
    }

    /// The number of the first pair that is not part of the match any more: where the test stopped, or the schedule's
    /// end.
    pub fn end(&self) -> u64 {
        let stopped = self.test.as_ref().filter(|test| test.decision != Decision::Continue);
        stopped.map_or(self.schedule.pairs(), |test| test.next)
    }

    /// Whether nothing more has to be played.
    pub fn is_over(&self) -> bool {
        self.test.as_ref().is_some_and(|test| test.decision != Decision::Continue)
            || self.games == self.schedule.pairs().saturating_mul(2)
    }
}

fn result_for(player: usize, game: &GameSummary) -> GameResult {
    match (game.white == player, game.result) {
        (true, result) => result,
        (false, GameResult::Win) => GameResult::Loss,
        (false, GameResult::Draw) => GameResult::Draw,
        (false, GameResult::Loss) => GameResult::Win,
    }
}

impl Meeting {
    fn settle(&mut self, pair: Settled, is_new: bool) {
        match pair {
            Settled::Faulty => self.faulty_pairs += 1,
            Settled::Played([one, other]) if is_new => self.tally.add_pair(one, other),
            Settled::Played(_) => self.copied_pairs += 1,
        }
    }
}

impl SequentialTest {
    fn hear(&mut self, pair: u64, settled: SettledPair) -> Result<(), SprtError> {
        self.ready.insert(pair, settled);
        while self.decision == Decision::Continue
            && let Some(SettledPair { settled, content }) = self.ready.remove(&self.next)
        {
            self.next += 1;
            let before = self.meeting.tally;
            self.meeting.settle(settled, self.contents.insert(content));
            if self.meeting.tally != before {
                self.decision = self.sprt.step(&Results::Match(self.meeting.tally))?.1;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::schedule::{Format, GameNumber};
    use super::super::sprt::SprtSettings;
    use super::*;

    fn game(pair: u64, game: u8, result_for_white: GameResult) -> GameSummary {
        let (white, black) = if game == 0 { (0, 1) } else { (1, 0) };
        GameSummary {
            number: GameNumber { pair, game },
            white,
            black,
            result: result_for_white,
            fault: None,
            plies: 10,
            content: pair,
        }
    }

    /// A pair that the first player wins altogether.
    fn won(pair: u64) -> [GameSummary; 2] {
        [game(pair, 0, GameResult::Win), game(pair, 1, GameResult::Loss)]
    }

    fn sprt() -> Sprt {
        let settings = "{\"elo0\": 0.0, \"elo1\": 10.0, \"minimum\": 4}";
        Sprt::new(serde_json::from_str::<SprtSettings>(settings).unwrap()).unwrap()
    }

    fn standing(sprt: Option<Sprt>) -> Standing {
        Standing::new(Schedule::new(Format::RoundRobin, 2, 1_000), 2, sprt)
    }

    #[test]
    fn half_pairs_and_failures_enter_nothing() {
        let mut standing = standing(None);
        for game in won(0) {
            standing.add(&game).unwrap();
        }
        standing.add(&game(1, 0, GameResult::Win)).unwrap();
        let mut failed = game(2, 0, GameResult::Win);
        failed.fault = Some((1, FaultKind::Crash));
        standing.add(&failed).unwrap();
        standing.add(&game(2, 1, GameResult::Win)).unwrap();
        let Meeting { tally, faulty_pairs, copied_pairs } = standing.meeting(0);
        assert_eq!((tally.pairs().0, faulty_pairs, copied_pairs), ([0, 0, 0, 0, 1], 1, 0));
        assert_eq!(tally.summary().unpaired_games, 1);
        assert_eq!(standing.faults()[1].iter().collect::<Vec<_>>(), [(FaultKind::Crash, 1)]);
        assert_eq!((standing.faults()[0].total(), standing.faults()[1].total()), (0, 1));
        assert_eq!((standing.games(), standing.plies(), standing.is_over()), (5, 50, false));
    }

    /// The order in which pairs end must not matter, or matches would depend on threads.
    #[test]
    fn the_test_stops_at_the_same_pair_in_any_order() {
        let mut pairs: Vec<[GameSummary; 2]> = (0..900)
            .map(|pair| match pair % 3 {
                0 => [game(pair, 0, GameResult::Win), game(pair, 1, GameResult::Draw)],
                1 => [game(pair, 0, GameResult::Draw), game(pair, 1, GameResult::Draw)],
                _ => won(pair),
            })
            .collect();
        let mut forwards = standing(Some(sprt()));
        let stops = |standing: &mut Standing, pairs: &[[GameSummary; 2]]| {
            pairs.iter().flatten().for_each(|game| standing.add(game).unwrap());
            assert!(standing.is_over());
            assert_eq!(standing.test().unwrap().2, Decision::AcceptH1);
            (standing.end(), standing.meeting(0))
        };
        let expected = stops(&mut forwards, &pairs);
        assert!(expected.0 < 900);
        assert_eq!((forwards.games(), forwards.games_of_match()), (1_800, 2 * expected.0));
        assert_eq!(expected.1.tally.pairs().total(), expected.0);
        pairs.reverse();
        assert_eq!(stops(&mut standing(Some(sprt())), &pairs), expected);
        pairs.rotate_left(400);
        assert_eq!(stops(&mut standing(Some(sprt())), &pairs), expected);
    }

    /// The same opening with limits in nodes: the same games, and a test that counts them again decides on one pair.
    #[test]
    fn copies_tell_nothing_new() {
        let mut standing = standing(Some(sprt()));
        for pair in 0..900 {
            for mut game in won(pair) {
                game.content = pair % 3;
                standing.add(&game).unwrap();
            }
        }
        let Meeting { tally, copied_pairs, .. } = standing.meeting(0);
        assert_eq!((tally.pairs().total(), copied_pairs), (3, 897));
        assert_eq!(standing.test().unwrap().2, Decision::Continue);
    }

    /// A failure beyond the end of the test is none of the match.
    #[test]
    fn failures_beyond_the_end_do_not_count() {
        let mut standing = standing(Some(sprt()));
        let mut late = game(800, 0, GameResult::Win);
        late.fault = Some((1, FaultKind::Crash));
        standing.add(&late).unwrap();
        assert_eq!(standing.faults()[1].total(), 1);
        (0..400).flat_map(won).for_each(|game| standing.add(&game).unwrap());
        assert!(standing.is_over() && standing.end() < 400);
        assert_eq!(standing.faults()[1].total(), 0);
    }

    #[test]
    fn meetings_are_kept_apart() {
        let mut standing = Standing::new(Schedule::new(Format::RoundRobin, 3, 1), 3, None);
        for (pair, (white, black)) in [(0, (0, 1)), (1, (0, 2)), (2, (1, 2))] {
            for game in [0, 1] {
                let (white, black) = if game == 0 { (white, black) } else { (black, white) };
                // The lower number always wins.
                let result = if white < black { GameResult::Win } else { GameResult::Loss };
                let number = GameNumber { pair, game };
                standing
                    .add(&GameSummary { number, white, black, result, fault: None, plies: 1, content: pair })
                    .unwrap();
            }
        }
        assert!(standing.is_over());
        for meeting in 0..3 {
            assert_eq!(standing.meeting(meeting).tally.pairs().0, [0, 0, 0, 0, 1]);
        }
    }
}
