//! How long an external engine is waited for: one table, with reasons.

use crate::play::Budget;
use fairyforge_engine::variant::rules::Colour;
use std::time::{Duration, Instant};

/// How long an engine is waited for in each situation before it is given up, killed, and its game is a fault.
///
/// These are no limits of thinking: those are the clocks of [`crate::play`], which are stricter. They keep a match from
/// standing still because of an engine that hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// From `uci` to `uciok`: 30 s. Big networks are loaded here, from a disk that many engines share.
    pub handshake: Duration,
    /// From `isready` to `readyok`: 30 s. Large tables are cleared here.
    pub ready: Duration,
    /// Between two lines of an answer to `go perft`: 5 s. A few thousand leaves take any engine far less.
    pub perft: Duration,
    /// Beyond the time that a clock or `movetime` leaves: 5 s. The clock calls the flag long before, if an answer comes at all.
    pub overtime: Duration,
    /// Without an `info` line where only nodes or depth limit the move: 60 s. Engines are silent while one depth takes long.
    pub silence: Duration,
    /// The whole move where only nodes or depth limit it: 30 min. So long searches belong to analysis, not to a match.
    pub longest: Duration,
    /// From `stop` to `bestmove`: 1 s. Nobody uses the answer any more.
    pub stop: Duration,
    /// From `quit` to the end of the process: 1 s. Whoever needs longer has nothing to lose.
    pub quit: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(30),
            ready: Duration::from_secs(30),
            perft: Duration::from_secs(5),
            overtime: Duration::from_secs(5),
            silence: Duration::from_secs(60),
            longest: Duration::from_secs(30 * 60),
            stop: Duration::from_secs(1),
            quit: Duration::from_secs(1),
        }
    }
}

/// The guard over one move.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guard {
    began: Instant,
    /// Over the whole move.
    most: Duration,
    /// Between signs of life.
    silence: Option<Duration>,
    last_sign: Instant,
}

impl Guard {
    /// A guard over a move that begins now.
    pub fn over(patience: &Patience, budget: &Budget, side: Colour) -> Self {
        let clock = budget.clocks[side.index()].map(|clock| clock.left + clock.increment);
        let time = [budget.move_time, clock].into_iter().flatten().min();
        let (most, silence) = match time {
            Some(time) => (time + patience.overtime, None),
            None => (patience.longest, Some(patience.silence)),
        };
        let now = Instant::now();
        Self { began: now, most, silence, last_sign: now }
    }

    /// The engine shows that it thinks.
    pub fn sign_of_life(&mut self, at: Instant) {
        self.last_sign = at;
    }

    /// Why it is given up now, if it is.
    pub fn strikes(&self) -> Option<String> {
        if self.began.elapsed() > self.most {
            return Some(format!("no move after {:.1} s", self.most.as_secs_f64()));
        }
        let silence = self.silence.filter(|silence| self.last_sign.elapsed() > *silence)?;
        Some(format!("no info line and no move for {:.1} s", silence.as_secs_f64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairyforge_engine::search::Clock;

    #[test]
    fn the_guard_is_wider_than_every_clock() {
        let patience = Patience::default();
        let seconds = Duration::from_secs;
        let clock = Clock { left: seconds(10), increment: seconds(2), moves_to_go: None };
        let guard = |budget: Budget| {
            let guard = Guard::over(&patience, &budget, Colour::White);
            (guard.most, guard.silence)
        };
        let on_clock = Budget { clocks: [Some(clock), None], nodes: Some(9), ..Budget::default() };
        assert_eq!(guard(on_clock), (seconds(17), None));
        assert_eq!(guard(Budget { move_time: Some(seconds(3)), ..Budget::default() }), (seconds(8), None));
        // The other side's clock says nothing about this move.
        let only_theirs = Budget { clocks: [None, Some(clock)], nodes: Some(9), ..Budget::default() };
        assert_eq!(guard(only_theirs), (seconds(1800), Some(seconds(60))));
        assert_eq!(guard(Budget { depth: Some(5), ..Budget::default() }), (seconds(1800), Some(seconds(60))));
    }
}
