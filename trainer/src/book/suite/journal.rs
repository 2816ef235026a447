//! The journal of a suite being made, `suite.jsonl`: a line that says what it is, then a line a candidate that was looked at closely,
//! in their order. How it is read and written is [`super::super::journal`]'s.

use super::super::journal::{Entry, Journal};
use super::conditions::unfit_score;
use super::plan::SuitePlan;
use serde::{Deserialize, Serialize};

/// The journal of a suite.
pub type SuiteJournal = Journal<Examined>;

/// A candidate that was looked at closely.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Examined {
    /// Its key, in hexadecimal.
    pub position: String,
    /// What the second search said, for White.
    pub score: i16,
    /// Nodes of that search.
    pub nodes: u64,
    /// Results of the games: 1 White won, 0 draw, −1 Black won. None where the search found something wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub games: Vec<i8>,
    /// Nodes of the games.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub game_nodes: u64,
}

impl Entry for Examined {
    const KIND: &'static str = "suite";
    const WHAT: &'static str = "a position that was looked at closely";
}

impl Examined {
    /// Games that White won, drew and lost.
    pub fn results(&self) -> [usize; 3] {
        [1, 0, -1].map(|result| self.games.iter().filter(|&&game| game == result).count())
    }

    /// What is wrong with a line where the candidate with this key is due: what was expected, and what came.
    pub fn fault(&self, key: &str, plan: &SuitePlan) -> Option<(String, String)> {
        if self.position != key {
            let got = format!("{}; was the journal begun by another version?", self.position);
            return Some((format!("the position {key}"), got));
        }
        let games = if unfit_score(plan, self.score).is_none() { plan.games.count as usize } else { 0 };
        if self.games.len() != games {
            return Some((format!("{games} games"), self.games.len().to_string()));
        }
        let strange = self.games.iter().find(|result| !(-1..=1).contains(*result))?;
        Some(("results of 1, 0 or -1".into(), strange.to_string()))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_nothing(nodes: &u64) -> bool {
    *nodes == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_do_not_follow_are_told() {
        let plan =
            SuitePlan::read("format = 1\nvariant = \"chess\"\nseed = 1\nbook = \"x.book\"\n[games]\ncount = 2\n");
        let plan = plan.unwrap();
        let line = |score, games: &[i8]| Examined {
            position: "a".into(),
            score,
            nodes: 9,
            games: games.to_vec(),
            game_nodes: 5,
        };
        let told = |score, games: &[i8]| line(score, games).fault("a", &plan).map(|(expected, _)| expected);
        assert_eq!(told(5, &[1, -1]), None);
        assert_eq!(told(300, &[]), None);
        assert_eq!(told(5, &[1]).unwrap(), "2 games");
        assert_eq!(told(300, &[1, 1]).unwrap(), "0 games");
        assert_eq!(told(5, &[1, 2]).unwrap(), "results of 1, 0 or -1");
        assert_eq!(line(5, &[1, 0]).fault("b", &plan).unwrap().0, "the position b");
        assert_eq!(line(5, &[1, 0, 0, -1, -1, -1]).results(), [1, 2, 3]);
    }
}
