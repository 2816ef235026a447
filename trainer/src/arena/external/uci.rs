//! The protocol's lines: what we say about a move to be found, and what an engine says while it looks for it.

use crate::play::Budget;
use fairyforge_engine::game::Game;
use fairyforge_engine::position::Unobserved;
use fairyforge_engine::search::score::{MATE, MATE_BOUND};
use fairyforge_engine::variant::rules::Colour;
use std::fmt::Write;
use std::str::{FromStr, SplitAsciiWhitespace};
use std::time::Duration;

/// The position of a game with the moves that led there, so that the engine sees repetitions.
pub(super) fn position(game: &Game) -> String {
    let mut text = format!("position fen {}", game.start().fen());
    if !game.moves().is_empty() {
        text.push_str(" moves");
    }
    let mut position = game.start().clone();
    for &mv in game.moves() {
        let _ = write!(text, " {}", position.move_text(mv));
        position.make(mv, &mut Unobserved);
    }
    text
}

/// The order to look for a move.
pub(super) fn go(budget: &Budget, side: Colour) -> String {
    let mut text = "go".to_owned();
    let mut add = |name: &str, value: u128| {
        let _ = write!(text, " {name} {value}");
    };
    if let Some(depth) = budget.depth {
        add("depth", depth.max(1) as u128);
    }
    if let Some(nodes) = budget.nodes {
        add("nodes", nodes.into());
    }
    if let Some(time) = budget.move_time {
        add("movetime", time.as_millis().max(1));
    }
    // Whoever has no clock must not be hurried by that of the other side.
    if let Some(own) = budget.clocks[side.index()] {
        // Some engines think for ever, or not at all, unless both clocks are told: a side without one looks like the mover.
        let clocks = budget.clocks.map(|clock| clock.unwrap_or(own));
        for (name, clock) in ["wtime", "btime"].into_iter().zip(&clocks) {
            // Zero means to some engines that there is no clock.
            add(name, clock.left.as_millis().max(1));
        }
        for (name, clock) in ["winc", "binc"].into_iter().zip(&clocks) {
            add(name, clock.increment.as_millis());
        }
        if let Some(moves) = own.moves_to_go {
            add("movestogo", moves.into());
        }
    }
    text
}

/// What an engine has said while it looked for a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    exact: Option<Scored>,
    /// A bound, where no exact score has come.
    bound: Option<Scored>,
    /// Depth of the last line, with a score or not.
    depth: u32,
    /// Nodes so far.
    pub nodes: u64,
}

/// A score with the depth it was found at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scored {
    score: i32,
    depth: u32,
}

impl Said {
    /// Hears an `info` line. Only the best line counts.
    pub fn hear(&mut self, info: &Info) {
        self.nodes = self.nodes.max(info.nodes.unwrap_or(0));
        if info.line_number.is_some_and(|number| number != 1) {
            return;
        }
        self.depth = info.depth.unwrap_or(self.depth);
        let Some(score) = info.score else { return };
        let scored = Some(Scored { score, depth: self.depth });
        match info.is_bound {
            true => self.bound = scored,
            false => self.exact = scored,
        }
    }

    /// Its score for the side to move: the last exact one if there is any.
    pub fn score(&self) -> Option<i32> {
        self.exact.or(self.bound).map(|scored| scored.score)
    }

    /// The depth of that score, or the last depth without one; 0 if unknown.
    pub fn depth(&self) -> u32 {
        self.exact.or(self.bound).map_or(self.depth, |scored| scored.depth)
    }
}

/// An `info` line, as far as it is of use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Info {
    /// Depth in plies.
    pub depth: Option<u32>,
    /// Which of several lines, from 1 on.
    pub line_number: Option<u32>,
    /// In our encoding.
    pub score: Option<i32>,
    /// Whether the score is only a bound.
    pub is_bound: bool,
    pub nodes: Option<u64>,
    /// Time since `go`, by the engine's clock.
    pub time: Option<Duration>,
}

/// Reads what follows `info` in a line. What makes no sense is passed over.
pub(super) fn info(text: &str) -> Info {
    let mut info = Info::default();
    let mut words = text.split_ascii_whitespace();
    while let Some(word) = words.next() {
        match word {
            "depth" => info.depth = number(&mut words),
            "multipv" => info.line_number = number(&mut words),
            "nodes" => info.nodes = number(&mut words),
            "time" => info.time = number(&mut words).map(Duration::from_millis),
            "score" => info.score = score(&mut words),
            "lowerbound" | "upperbound" => info.is_bound = true,
            // Moves and free text go to the end of the line.
            "pv" | "string" | "refutation" | "currline" => break,
            _ => {}
        }
    }
    info
}

fn number<T: FromStr>(words: &mut SplitAsciiWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

fn score(words: &mut SplitAsciiWhitespace<'_>) -> Option<i32> {
    match words.next()? {
        // No number of pawns is a mate.
        "cp" => number::<i64>(words).map(|score| score.clamp(1 - BOUND, BOUND - 1) as i32),
        "mate" => number(words).map(mate_score),
        _ => None,
    }
}

const BOUND: i64 = MATE_BOUND as i64;

/// The score of a mate in so many moves, negative for a side that is mated; the inverse of [`fairyforge_engine::search::score::mate_in`].
fn mate_score(moves: i64) -> i32 {
    let most_plies = i64::from(MATE - MATE_BOUND);
    let plies = moves.unsigned_abs().min(most_plies as u64) as i64 * 2 - i64::from(moves > 0);
    let score = MATE - plies.min(most_plies) as i32;
    if moves > 0 { score } else { -score }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairyforge_engine::search::Clock;
    use fairyforge_engine::search::score::mate_in;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn mates_are_the_same_in_both_encodings() {
        for moves in [-500, -3, -1, 1, 2, 40, 500] {
            assert_eq!(mate_in(mate_score(moves)), Some(moves as i32));
        }
        assert_eq!(mate_score(1), MATE - 1);
        assert_eq!(mate_score(-1), 2 - MATE);
        assert_eq!(mate_score(0), -MATE, "mated now");
        for absurd in [i64::MIN, i64::MAX] {
            assert!(mate_in(mate_score(absurd)).is_some());
        }
    }

    #[test]
    fn info_lines_are_read() {
        let line =
            "depth 12 seldepth 20 multipv 1 score cp -35 nodes 4711 nps 1000 hashfull 3 time 250 pv e2e4 depth 9";
        let expected = Info {
            depth: Some(12),
            line_number: Some(1),
            score: Some(-35),
            is_bound: false,
            nodes: Some(4711),
            time: Some(ms(250)),
        };
        assert_eq!(info(line), expected);
        assert_eq!(info("string depth 5 score cp 1"), Info::default());
        assert_eq!(info("depth x score cp y nodes -1 score"), Info::default());
        assert_eq!(info("score cp 99999999999").score, Some(MATE_BOUND - 1));
        assert_eq!(info("score mate -2 upperbound"), Info { score: Some(4 - MATE), is_bound: true, ..Info::default() });
    }

    #[test]
    fn the_last_exact_score_of_the_best_line_counts() {
        let said = |lines: &[&str]| {
            let mut said = Said::default();
            lines.iter().for_each(|line| said.hear(&info(line)));
            (said.score(), said.depth(), said.nodes)
        };
        assert_eq!(said(&[]), (None, 0, 0));
        assert_eq!(said(&["depth 3 currmove e2e4 nodes 7"]), (None, 3, 7));
        let exact = ["depth 5 multipv 1 score cp 10 nodes 100", "depth 5 multipv 2 score cp -90 nodes 110"];
        assert_eq!(said(&exact), (Some(10), 5, 110));
        let then_bound = [exact[0], "depth 6 score cp 60 lowerbound nodes 200"];
        assert_eq!(said(&then_bound), (Some(10), 5, 200));
        assert_eq!(said(&then_bound[1..]), (Some(60), 6, 200));
        assert_eq!(said(&[exact[0], "depth 6 score mate 1 nodes 90"]), (Some(MATE - 1), 6, 100));
    }

    #[test]
    fn limits_are_told_together() {
        let clock =
            |left, increment, moves_to_go| Some(Clock { left: ms(left), increment: ms(increment), moves_to_go });
        let both = Budget { clocks: [clock(1_500, 100, Some(7)), clock(0, 0, None)], ..Budget::default() };
        assert_eq!(go(&both, Colour::White), "go wtime 1500 btime 1 winc 100 binc 0 movestogo 7");
        assert_eq!(go(&both, Colour::Black), "go wtime 1500 btime 1 winc 100 binc 0");
        let mixed = Budget { nodes: Some(5), depth: Some(3), clocks: [None, clock(900, 8, None)], ..Budget::default() };
        assert_eq!(go(&mixed, Colour::White), "go depth 3 nodes 5", "no clock, no hurry");
        assert_eq!(go(&mixed, Colour::Black), "go depth 3 nodes 5 wtime 900 btime 900 winc 8 binc 8");
        let fixed = Budget { move_time: Some(Duration::from_micros(10)), ..Budget::default() };
        assert_eq!(go(&fixed, Colour::White), "go movetime 1");
    }
}
