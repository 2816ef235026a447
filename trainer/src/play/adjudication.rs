//! Ending games early, in words.
//!
//! * A game is a **draw** when, from a given full move on, the scores of both sides have stayed within a margin of zero
//!   for a number of full moves in a row. Any score outside the margin starts the count anew; captures do not.
//! * A game is **won** when, for a number of full moves in a row, both sides have agreed that the same side is ahead by
//!   a margin. A score that disagrees starts the count anew.
//! * A game that reaches the ply limit is a draw.
//! * A game of which an endgame table knows the result has it ([`super::endgames`]).
//!
//! A move without a score starts both counts anew. The rules of the game go first: a move that mates is a mate, whatever
//! the scores agree on. Then come the tables, which know better than scores.

use fairyforge_engine::variant::rules::Colour;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// When games are ended early. Full moves are two plies, one of each side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Adjudication {
    /// Full move of the game, counted from its start, before which no draw is given.
    pub draw_from_move: u32,
    /// Full moves in a row within the margin that make a draw; 0 turns the rule off.
    pub draw_moves: u32,
    /// The margin, in centipawns.
    pub draw_margin: i32,
    /// Full moves in a row ahead by the margin that make a win; 0 turns the rule off.
    pub win_moves: u32,
    /// The margin, in centipawns.
    pub win_margin: i32,
    /// Plies after which a game is drawn.
    pub most_plies: u32,
    /// Folder of endgame tables that end games; none if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endgames: Option<PathBuf>,
    /// Digest of the tables: noted by the program when it has read them; if it is there, they must be these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endgames_digest: Option<String>,
}

impl Default for Adjudication {
    fn default() -> Self {
        Self {
            draw_from_move: 60,
            draw_moves: 10,
            draw_margin: 10,
            win_moves: 4,
            win_margin: 1200,
            most_plies: 600,
            endgames: None,
            endgames_digest: None,
        }
    }
}

/// How a game was ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nobody wins.
    Draw,
    /// This side wins.
    Win(Colour),
    /// Too long: nobody wins.
    PlyLimit,
    /// An endgame table knows that nobody wins.
    TableDraw,
    /// An endgame table knows that this side wins.
    TableWin(Colour),
}

/// The counts of one game.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    plies: u32,
    level_plies: u32,
    ahead_plies: u32,
    ahead: Option<Colour>,
}

impl Counts {
    /// Counts for a game that has already so many plies, of its opening.
    pub fn after(plies: u16) -> Self {
        Self { plies: u32::from(plies), ..Self::default() }
    }

    /// Takes note of the score that `side` gave for itself with its move, and says whether the game ends after the move.
    pub fn hear(&mut self, rules: &Adjudication, side: Colour, score: Option<i32>) -> Option<Verdict> {
        self.plies += 1;
        let level = score.is_some_and(|score| score.abs() <= rules.draw_margin);
        self.level_plies = if level { self.level_plies + 1 } else { 0 };
        let ahead = match score {
            Some(score) if score >= rules.win_margin => Some(side),
            Some(score) if score <= -rules.win_margin => Some(side.opponent()),
            _ => None,
        };
        self.ahead_plies =
            if ahead.is_some() && ahead == self.ahead { self.ahead_plies + 1 } else { u32::from(ahead.is_some()) };
        self.ahead = ahead;
        self.verdict(rules)
    }

    fn verdict(&self, rules: &Adjudication) -> Option<Verdict> {
        let won = rules.win_moves > 0 && self.ahead_plies >= 2 * rules.win_moves;
        let level = rules.draw_moves > 0 && self.level_plies >= 2 * rules.draw_moves;
        match self.ahead {
            Some(side) if won => Some(Verdict::Win(side)),
            _ if level && self.plies >= 2 * rules.draw_from_move => Some(Verdict::Draw),
            _ if self.plies >= rules.most_plies => Some(Verdict::PlyLimit),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Adjudication {
        Adjudication {
            draw_from_move: 3,
            draw_moves: 2,
            draw_margin: 10,
            win_moves: 2,
            win_margin: 500,
            most_plies: 20,
            ..Adjudication::default()
        }
    }

    /// Scores ply by ply from the mover's view, White first → the ply (from 1) and verdict that end the game.
    fn end(scores: &[i32]) -> Option<(usize, Verdict)> {
        let mut counts = Counts::default();
        let sides = [Colour::White, Colour::Black].into_iter().cycle();
        (1..)
            .zip(scores.iter().zip(sides))
            .find_map(|(ply, (&score, side))| counts.hear(&rules(), side, Some(score)).map(|verdict| (ply, verdict)))
    }

    #[test]
    fn draws_need_both_sides_and_the_first_moves() {
        assert_eq!(end(&[0; 8]), Some((6, Verdict::Draw)), "not before full move 3");
        assert_eq!(end(&[90, 90, 0, 0, 90, 0, 0, 0, 0]), Some((9, Verdict::Draw)), "a score outside starts anew");
        assert_eq!(end(&[90, 90, 90, 90, 10, -10, 10, -10]), Some((8, Verdict::Draw)), "the margin is inside");
        assert_eq!(end(&[90, 90, 90, 90, 11, 0, 0, 0]), None);
    }

    #[test]
    fn wins_need_agreement() {
        assert_eq!(end(&[500, -500, 500, -500]), Some((4, Verdict::Win(Colour::White))));
        assert_eq!(end(&[-500, 500, -500, 500]), Some((4, Verdict::Win(Colour::Black))));
        assert_eq!(end(&[500, 500, 500, 500, 500]), None, "both think they are ahead");
        assert_eq!(end(&[500, -499, 500, -500, 500, -500]), Some((6, Verdict::Win(Colour::White))));
    }

    #[test]
    fn silence_starts_the_counts_anew() {
        let mut counts = Counts::default();
        let mut hear = |side, score| counts.hear(&rules(), side, score);
        for side in [Colour::White, Colour::Black, Colour::White] {
            assert_eq!(hear(side, Some(if side == Colour::White { 900 } else { -900 })), None);
        }
        assert_eq!(hear(Colour::Black, None), None);
        for side in [Colour::White, Colour::Black, Colour::White] {
            assert_eq!(hear(side, Some(if side == Colour::White { 900 } else { -900 })), None);
        }
        assert_eq!(hear(Colour::Black, Some(-900)), Some(Verdict::Win(Colour::White)));
    }

    #[test]
    fn long_games_end() {
        assert_eq!(end(&[90; 30]), Some((20, Verdict::PlyLimit)));
    }
}
