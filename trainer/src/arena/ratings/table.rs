//! Games by name of player, the pairs among them, and the players that results link with one another.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::arena::statistics::GameResult;

/// A finished game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RatedGame {
    /// Index of White in the table's players.
    pub white: usize,
    /// Index of Black, another.
    pub black: usize,
    /// White's result.
    pub result: GameResult,
    /// Games with equal numbers are correlated: a pair from one opening with colours exchanged.
    pub cluster: usize,
}

/// Games between named players.
#[derive(Debug, Clone, Default)]
pub struct GameTable {
    players: Vec<String>,
    indices: HashMap<String, usize>,
    games: Vec<RatedGame>,
    clusters: usize,
    /// Clusters in which a player failed.
    failed: HashSet<usize>,
    /// Clusters of games that wait for the other one from their opening: by White, Black and opening.
    waiting: HashMap<(usize, usize, String), VecDeque<usize>>,
}

impl GameTable {
    /// Adds a game that began from `opening` (any text that is equal for equal positions). It joins the earliest game of
    /// the same players from the same opening with colours exchanged that has no partner yet. Nobody plays himself: such
    /// a game is not added, and `false` comes back.
    pub fn add(&mut self, white: &str, black: &str, result: GameResult, opening: &str) -> bool {
        let (white, black) = (self.player(white), self.player(black));
        if white == black {
            return false;
        }
        let partner = self.waiting.get_mut(&(black, white, opening.to_owned())).and_then(VecDeque::pop_front);
        let cluster = match partner {
            Some(cluster) => cluster,
            None => {
                self.waiting.entry((white, black, opening.to_owned())).or_default().push_back(self.clusters);
                self.clusters += 1;
                self.clusters - 1
            }
        };
        self.games.push(RatedGame { white, black, result, cluster });
        true
    }

    /// Adds a game that a failure of a player ended; see [`Self::leave_out_failed`].
    pub fn add_failed(&mut self, white: &str, black: &str, result: GameResult, opening: &str) -> bool {
        let added = self.add(white, black, result, opening);
        if let Some(game) = self.games.last().filter(|_| added) {
            self.failed.insert(game.cluster);
        }
        added
    }

    /// Removes the games that ended by a failure, with their partners: such pairs say nothing about strength. Returns how
    /// many games went.
    pub fn leave_out_failed(&mut self) -> u64 {
        let before = self.games.len();
        self.games.retain(|game| !self.failed.contains(&game.cluster));
        (before - self.games.len()) as u64
    }

    fn player(&mut self, name: &str) -> usize {
        if let Some(&index) = self.indices.get(name) {
            return index;
        }
        self.players.push(name.to_owned());
        self.indices.insert(name.to_owned(), self.players.len() - 1);
        self.players.len() - 1
    }

    /// Names in the order in which they came.
    #[must_use]
    pub fn players(&self) -> &[String] {
        &self.players
    }

    /// The games in the order in which they came.
    #[must_use]
    pub fn games(&self) -> &[RatedGame] {
        &self.games
    }

    /// Pairs of games and single games.
    #[must_use]
    pub fn clusters(&self) -> usize {
        self.clusters
    }

    /// Games and points of each player.
    #[must_use]
    pub fn scores(&self) -> Vec<(u64, f64)> {
        let mut scores = vec![(0, 0.0); self.players.len()];
        for game in &self.games {
            let points = white_points(game.result);
            for (player, points) in [(game.white, points), (game.black, 1.0 - points)] {
                scores[player].0 += 1;
                scores[player].1 += points;
            }
        }
        scores
    }

    /// The groups of players in which everybody is linked with everybody both ways by somebody taking points from
    /// somebody. Only within a group do results say how far players are apart. Each group in ascending order.
    #[must_use]
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let mut takes_from = vec![Vec::new(); self.players.len()];
        let mut gives_to = takes_from.clone();
        for game in &self.games {
            for (one, other, points) in [
                (game.white, game.black, white_points(game.result)),
                (game.black, game.white, 1.0 - white_points(game.result)),
            ] {
                if points > 0.0 {
                    takes_from[one].push(other);
                    gives_to[other].push(one);
                }
            }
        }
        let mut order = Vec::new();
        let mut seen = vec![false; self.players.len()];
        for player in 0..self.players.len() {
            reach(player, &takes_from, &mut seen, &mut order);
        }
        let mut taken = vec![false; self.players.len()];
        let mut groups = Vec::new();
        for &player in order.iter().rev() {
            let mut group = Vec::new();
            reach(player, &gives_to, &mut taken, &mut group);
            group.sort_unstable();
            if !group.is_empty() {
                groups.push(group);
            }
        }
        groups
    }
}

/// Points of White.
pub(super) const fn white_points(result: GameResult) -> f64 {
    match result {
        GameResult::Win => 1.0,
        GameResult::Draw => 0.5,
        GameResult::Loss => 0.0,
    }
}

/// Adds all that can be reached from a player and was not seen before, each after those it leads to.
fn reach(from: usize, edges: &[Vec<usize>], seen: &mut [bool], order: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[from], true) {
        return;
    }
    let mut path = vec![(from, 0)];
    while let Some((player, next)) = path.pop() {
        match edges[player].get(next) {
            Some(&other) => {
                path.push((player, next + 1));
                if !std::mem::replace(&mut seen[other], true) {
                    path.push((other, 0));
                }
            }
            None => order.push(player),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::GameResult::{Draw, Loss, Win};
    use super::*;

    #[test]
    fn pairs_find_each_other_whatever_the_order() {
        let mut table = GameTable::default();
        assert!(table.add("A", "B", Win, "one"));
        assert!(table.add("A", "B", Win, "two"));
        assert!(table.add("B", "A", Win, "two"));
        assert!(table.add("B", "A", Draw, "one"));
        assert!(table.add("B", "A", Draw, "one"));
        assert!(!table.add("A", "A", Draw, "one"));
        let clusters: Vec<usize> = table.games().iter().map(|game| game.cluster).collect();
        assert_eq!(clusters, [0, 1, 1, 0, 2]);
        assert_eq!(table.scores(), [(5, 3.0), (5, 2.0)]);
    }

    #[test]
    fn groups_are_linked_both_ways() {
        let mut table = GameTable::default();
        table.add("A", "B", Draw, "");
        table.add("C", "D", Win, "");
        table.add("C", "D", Loss, "");
        // A group that beats another is not comparable with it.
        table.add("A", "C", Win, "");
        table.add("E", "A", Win, "");
        let mut groups = table.groups();
        groups.sort();
        assert_eq!(groups, [vec![0, 1], vec![2, 3], vec![4]]);
        table.add("D", "B", Win, "");
        let mut groups = table.groups();
        groups.sort();
        assert_eq!(groups, [vec![0, 1, 2, 3], vec![4]]);
    }
}
