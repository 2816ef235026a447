//! What a player may spend: on a move, and on a clock over the game.

use fairyforge_engine::search::Clock;
use fairyforge_engine::variant::rules::Colour;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// What one player may spend on its moves. Several limits hold together; at least one is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowance {
    /// Nodes a move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Plies of iterative deepening a move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<i32>,
    /// Time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeControl>,
}

/// Time by the move or on a clock. Written `0.5/move`, `60`, `10+0.1` (seconds and increment) or `40/60+0.5` (moves, for so many seconds).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeControl {
    /// So long for every move.
    Move(Duration),
    /// A clock.
    Clock {
        /// Time at the start, and again after every `moves`.
        base: Duration,
        /// Added after every move.
        increment: Duration,
        /// Moves after which the base is added again; none: the base is for the whole game.
        moves: Option<u32>,
    },
}

/// Why a time control was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a time control in seconds such as 0.5/move, 60, 10+0.1 or 40/60+0.5, got {0:?}")]
pub struct AllowanceError(String);

/// What may be spent on the next move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Nodes.
    pub nodes: Option<u64>,
    /// Plies of iterative deepening.
    pub depth: Option<i32>,
    /// Exactly so long.
    pub move_time: Option<Duration>,
    /// The clocks of White and Black, where they have one.
    pub clocks: [Option<Clock>; 2],
}

impl Allowance {
    /// Nothing but nodes.
    pub fn nodes(nodes: u64) -> Self {
        Self { nodes: Some(nodes), ..Self::default() }
    }

    /// Whether nothing limits a move.
    pub fn is_endless(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = self.nodes.map(|nodes| format!("{nodes} nodes a move"));
        let depth = self.depth.map(|depth| format!("depth {depth}"));
        let time = self.time.map(|time| format!("time {time} s"));
        let parts: Vec<String> = [nodes, depth, time].into_iter().flatten().collect();
        f.write_str(&if parts.is_empty() { "no limit".to_owned() } else { parts.join(", ") })
    }
}

/// Longest time that a control may name: a day.
const MOST_SECONDS: f64 = 86_400.0;

impl FromStr for TimeControl {
    type Err = AllowanceError;

    fn from_str(text: &str) -> Result<Self, AllowanceError> {
        read_time_control(text).ok_or_else(|| AllowanceError(text.to_owned()))
    }
}

fn read_time_control(text: &str) -> Option<TimeControl> {
    let seconds = |text: &str| {
        let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let seconds: f64 = text.parse().ok().filter(|seconds| plain && *seconds <= MOST_SECONDS)?;
        Some(Duration::from_micros((seconds * 1e6).round() as u64))
    };
    if let Some(time) = text.strip_suffix("/move") {
        return seconds(time).filter(|time| !time.is_zero()).map(TimeControl::Move);
    }
    let (moves, rest) = match text.split_once('/') {
        Some((moves, rest)) => (Some(moves.parse().ok().filter(|moves| *moves > 0)?), rest),
        None => (None, text),
    };
    let (base, increment) = rest.split_once('+').unwrap_or((rest, "0"));
    let (base, increment) = (seconds(base)?, seconds(increment)?);
    (!(base + increment).is_zero()).then_some(TimeControl::Clock { base, increment, moves })
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Move(time) => write!(f, "{}/move", time.as_secs_f64()),
            Self::Clock { base, increment, moves } => {
                if let Some(moves) = moves {
                    write!(f, "{moves}/")?;
                }
                write!(f, "{}", base.as_secs_f64())?;
                if increment.is_zero() { Ok(()) } else { write!(f, "+{}", increment.as_secs_f64()) }
            }
        }
    }
}

impl Serialize for TimeControl {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TimeControl {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The clocks of a game.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    allowances: [Allowance; 2],
    running: [Option<Running>; 2],
    margin: Duration,
}

/// One clock.
#[derive(Clone, Copy, Debug)]
struct Running {
    left: Duration,
    /// Moves made since the base was last added.
    moves_made: u32,
}

/// A clock has run out: by how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flagged {
    pub over: Duration,
}

impl Clocks {
    /// Clocks at the start of a game; `margin` is how much a player may overstep without losing by it.
    pub fn new(allowances: [Allowance; 2], margin: Duration) -> Self {
        let running = allowances.map(|allowance| match allowance.time {
            // Without a base the first move has its increment beforehand, or nobody could make it.
            Some(TimeControl::Clock { base, increment, .. }) => {
                Some(Running { left: if base.is_zero() { increment } else { base }, moves_made: 0 })
            }
            _ => None,
        });
        Self { allowances, running, margin }
    }

    /// What the side may spend on its next move.
    pub fn budget(&self, side: Colour) -> Budget {
        let Allowance { nodes, depth, time } = self.allowances[side.index()];
        let move_time = match time {
            Some(TimeControl::Move(time)) => Some(time),
            _ => None,
        };
        Budget { nodes, depth, move_time, clocks: Colour::BOTH.map(|colour| self.clock(colour)) }
    }

    fn clock(&self, side: Colour) -> Option<Clock> {
        let (running, control) = (self.running[side.index()]?, self.allowances[side.index()].time?);
        let TimeControl::Clock { increment, moves, .. } = control else { return None };
        let moves_to_go = moves.map(|moves| moves - running.moves_made % moves);
        Some(Clock { left: running.left, increment, moves_to_go })
    }

    /// Takes a move's time off the clock, or says that there was not enough.
    pub fn spend(&mut self, side: Colour, time: Duration) -> Result<(), Flagged> {
        let control = self.allowances[side.index()].time;
        if let Some(TimeControl::Move(most)) = control {
            return within(time, most, self.margin);
        }
        let (Some(running), Some(TimeControl::Clock { base, increment, moves })) =
            (self.running[side.index()].as_mut(), control)
        else {
            return Ok(());
        };
        within(time, running.left, self.margin)?;
        running.moves_made += 1;
        let more =
            if moves.is_some_and(|moves| running.moves_made.is_multiple_of(moves)) { base } else { Duration::ZERO };
        running.left = running.left.saturating_sub(time) + increment + more;
        Ok(())
    }
}

fn within(time: Duration, most: Duration, margin: Duration) -> Result<(), Flagged> {
    if time <= most + margin { Ok(()) } else { Err(Flagged { over: time - most }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn time_controls_read_and_write() {
        for (text, control) in [
            ("0.5/move", TimeControl::Move(ms(500))),
            ("60", TimeControl::Clock { base: ms(60_000), increment: ms(0), moves: None }),
            ("10+0.1", TimeControl::Clock { base: ms(10_000), increment: ms(100), moves: None }),
            ("40/60+0.5", TimeControl::Clock { base: ms(60_000), increment: ms(500), moves: Some(40) }),
        ] {
            assert_eq!(text.parse(), Ok(control));
            assert_eq!(control.to_string(), text);
        }
        for wrong in
            ["", "x", "-1", "1e3", "0", "0/move", "0/60", "10+", "+1", "40/", "1/2/3", "99999999", "nan", "10 + 1"]
        {
            assert!(wrong.parse::<TimeControl>().is_err(), "{wrong:?} was read");
        }
    }

    fn clocks(control: &str) -> Clocks {
        let allowance = Allowance { time: Some(control.parse().unwrap()), ..Allowance::default() };
        Clocks::new([allowance, Allowance::nodes(5)], ms(10))
    }

    #[test]
    fn increments_come_after_the_move() {
        let mut clocks = clocks("1+0.1");
        assert_eq!(clocks.budget(Colour::White).clocks[0].unwrap().left, ms(1_000));
        assert_eq!(
            clocks.budget(Colour::Black),
            Budget { nodes: Some(5), clocks: clocks.budget(Colour::White).clocks, ..Budget::default() }
        );
        clocks.spend(Colour::White, ms(400)).unwrap();
        assert_eq!(clocks.budget(Colour::White).clocks[0].unwrap().left, ms(700));
        clocks.spend(Colour::Black, ms(99_999)).unwrap();
        assert_eq!(clocks.spend(Colour::White, ms(720)), Err(Flagged { over: ms(20) }), "the margin is 10 ms");
        clocks.spend(Colour::White, ms(710)).unwrap();
        assert_eq!(
            clocks.budget(Colour::White).clocks[0].unwrap().left,
            ms(100),
            "never below zero before the increment"
        );
    }

    #[test]
    fn an_increment_alone_is_there_for_the_first_move() {
        let mut clocks = clocks("0+1");
        clocks.spend(Colour::White, ms(900)).unwrap();
        assert_eq!(clocks.budget(Colour::White).clocks[0].unwrap().left, ms(1_100));
    }

    #[test]
    fn the_base_comes_again() {
        let mut clocks = clocks("2/1");
        let seen =
            |clocks: &Clocks| clocks.budget(Colour::White).clocks[0].map(|clock| (clock.left, clock.moves_to_go));
        assert_eq!(seen(&clocks), Some((ms(1_000), Some(2))));
        clocks.spend(Colour::White, ms(300)).unwrap();
        assert_eq!(seen(&clocks), Some((ms(700), Some(1))));
        clocks.spend(Colour::White, ms(300)).unwrap();
        assert_eq!(seen(&clocks), Some((ms(1_400), Some(2))));
    }

    #[test]
    fn a_fixed_time_is_for_every_move() {
        let mut clocks = clocks("0.5/move");
        for _ in 0..3 {
            assert_eq!(clocks.budget(Colour::White).move_time, Some(ms(500)));
            clocks.spend(Colour::White, ms(505)).unwrap();
        }
        assert!(clocks.spend(Colour::White, ms(511)).is_err());
    }
}
