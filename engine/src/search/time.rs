//! How long a move may take.

use super::Params;
use std::time::Duration;

/// The clock of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Clock {
    /// Time left.
    pub left: Duration,
    /// Added after each move.
    pub increment: Duration,
    /// Moves until more time comes, if the control says so.
    pub moves_to_go: Option<u32>,
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// No new depth is begun after this.
    pub soft: Duration,
    /// The search ends here, wherever it is.
    pub hard: Duration,
}

impl Deadline {
    /// Exactly this long.
    pub fn fixed(time: Duration, params: &Params) -> Self {
        let time = time.saturating_sub(overhead(params)).max(Duration::from_millis(1));
        Self { soft: time, hard: time }
    }

    /// A share of the clock: the time left by the moves to go, plus most of the increment.
    pub fn from_clock(clock: &Clock, params: &Params) -> Self {
        let left = clock.left.saturating_sub(overhead(params)).max(Duration::from_millis(1));
        let moves =
            clock.moves_to_go.unwrap_or(params.time_moves_to_go as u32).clamp(1, params.time_moves_to_go as u32);
        let share = left / moves + clock.increment * params.time_increment_share as u32 / 100;
        // One long thought must leave something for the moves after it.
        let most = if moves == 1 { left } else { left * params.time_most as u32 / 100 };
        Self {
            soft: (share * params.time_soft as u32 / 100).min(most),
            hard: (share * params.time_hard as u32 / 100).min(most),
        }
    }
}

fn overhead(params: &Params) -> Duration {
    Duration::from_millis(params.time_overhead as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_more_than_is_left() {
        let params = Params::default();
        for left in [1, 20, 50, 1_000, 60_000] {
            for increment in [0, 10, 5_000] {
                for moves_to_go in [None, Some(1), Some(2), Some(40), Some(0)] {
                    let ms = Duration::from_millis;
                    let clock = Clock { left: ms(left), increment: ms(increment), moves_to_go };
                    let deadline = Deadline::from_clock(&clock, &params);
                    assert!(deadline.hard <= ms(left), "{clock:?} gave {deadline:?}");
                    assert!(deadline.soft <= deadline.hard);
                }
            }
        }
    }
}
