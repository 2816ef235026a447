//! Positions that come again, and how different openings are and stay. Counts keys; knows nothing of positions.

use super::notes::{Keyed, Notes};
use rayon::prelude::*;
use serde::Serialize;

/// So many plies from a game's first recorded position on count as early.
pub(super) const EARLY: u16 = 20;
/// After how many plies different positions are counted.
const DEPTHS: [u16; 6] = [0, 8, 16, 24, 32, 40];

/// How often positions come again. Clock and move number make no difference; the side to move, castling rights, en passant and
/// hands do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Duplicates {
    /// Among all recorded positions.
    pub all: Repeats,
    /// Among those of the first 20 plies after the openings.
    pub early: Repeats,
    /// Of all, how many had been in the same game before.
    pub within_games: u64,
}

/// Positions, and how many there are when each is counted once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Repeats {
    /// Positions.
    pub positions: u64,
    /// Different ones.
    pub different: u64,
    /// The share of the positions that had been recorded before, in the same game or another; 0 of none.
    pub share: f64,
}

/// How different games are after so many plies of play.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Diversity {
    /// Plies since a game's first recorded position.
    pub plies: u16,
    /// Games with a recorded position there.
    pub games: u64,
    /// Different positions among these.
    pub different: u64,
    /// Different positions a game; 0 of none.
    pub share: f64,
}

/// All keys so far: eight bytes a position.
#[derive(Debug, Default)]
pub(super) struct Keys {
    all: Vec<u64>,
    early: Vec<u64>,
    at: [Vec<u64>; DEPTHS.len()],
    within_games: u64,
}

impl Keys {
    pub fn add(&mut self, game: &Notes) {
        self.within_games += game.repeated;
        for &Keyed { plies, key } in &game.keys {
            self.all.push(key);
            if plies < EARLY {
                self.early.push(key);
            }
            if let Some(depth) = DEPTHS.iter().position(|&depth| depth == plies) {
                self.at[depth].push(key);
            }
        }
    }

    pub fn count(self) -> (Duplicates, Vec<Diversity>) {
        let duplicates =
            Duplicates { all: repeats(self.all), early: repeats(self.early), within_games: self.within_games };
        let diversity = |(plies, keys): (u16, Vec<u64>)| {
            let Repeats { positions, different, .. } = repeats(keys);
            Diversity { plies, games: positions, different, share: ratio(different, positions) }
        };
        (duplicates, DEPTHS.into_iter().zip(self.at).map(diversity).collect())
    }
}

/// Sorting takes no memory beside the keys, as a set would.
fn repeats(mut keys: Vec<u64>) -> Repeats {
    let positions = keys.len() as u64;
    keys.par_sort_unstable();
    keys.dedup();
    let different = keys.len() as u64;
    Repeats { positions, different, share: ratio(positions - different, positions) }
}

fn ratio(part: u64, all: u64) -> f64 {
    part as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::made;

    fn counted(games: &[&str]) -> (Duplicates, Vec<Diversity>) {
        let mut keys = Keys::default();
        for (number, letters) in (0..).zip(games) {
            keys.add(&Notes::of(&made::game(number, 1, letters)).unwrap());
        }
        keys.count()
    }

    #[test]
    fn repeated_positions_are_counted_within_and_across_games() {
        let (duplicates, openings) = counted(&["abcab", "abd", "xyz", ""]);
        // Different: a b c d x y z. Again: a b in the first game, a b in the second.
        assert_eq!(duplicates.all, Repeats { positions: 11, different: 7, share: 4.0 / 11.0 });
        assert_eq!((duplicates.early, duplicates.within_games), (duplicates.all, 2));
        assert_eq!(openings[0], Diversity { plies: 0, games: 3, different: 2, share: 2.0 / 3.0 });
        assert!(openings[1..].iter().all(|depth| depth.games == 0 && depth.share == 0.0), "{openings:?}");
    }

    #[test]
    fn early_plies_and_depths_count_from_the_first_recorded_position() {
        let letters = "abcdefghijklmnopqrstuvwxyz";
        // The other game differs from ply 8 of play on; its last six positions come from the first game's middle.
        let other = "abcdefgh0123456789ABijklmn";
        let (duplicates, openings) = counted(&[letters, other]);
        assert_eq!(duplicates.all, Repeats { positions: 52, different: 38, share: 14.0 / 52.0 });
        assert_eq!(duplicates.early, Repeats { positions: 40, different: 32, share: 8.0 / 40.0 });
        let different: Vec<(u16, u64, u64)> =
            openings.iter().map(|depth| (depth.plies, depth.games, depth.different)).collect();
        assert_eq!(different, [(0, 2, 1), (8, 2, 2), (16, 2, 2), (24, 2, 2), (32, 0, 0), (40, 0, 0)]);
    }
}
