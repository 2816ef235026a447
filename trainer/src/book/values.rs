//! What positions are worth by all that is known behind them. Pure mathematics on a graph; knows no chess but the law of mates.
//!
//! Whoever is to move takes the best move, and the value of a position without moves is known. Moves may lead back to positions
//! that were there before: the graph has cycles. Going round for ever is a draw, 0, as repetition is. So a position is worth
//! more than 0 only if its side can force to get there in a finite number of moves, and less only if it cannot help it. That
//! fixes every value, whatever path is looked at; it is found by settling the greatest absolute values first.

use fairyforge_engine::search::score::{INFINITE, is_mate};

/// A graph of positions. The moves of position `i` lead to `children[ends[i - 1]..ends[i]]`.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// The value of a position without moves, for its side to move. Of one with moves it is not looked at.
    pub own: Vec<i16>,
    /// Where the moves of each position end.
    pub ends: Vec<u32>,
    /// Where moves lead.
    pub children: Vec<u32>,
}

impl Links {
    /// The positions that the moves of a position lead to.
    pub fn children(&self, position: usize) -> &[u32] {
        let first = position.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.children[first as usize..self.ends[position] as usize]
    }

    /// The value of every position for its side to move.
    pub fn values(&self) -> Vec<i16> {
        let mut settling = Settling::new(self);
        for size in (1..=INFINITE as usize).rev() {
            while let Some(position) = settling.by_size[size].pop() {
                settling.tell_parents(position);
            }
        }
        settling.values.into_iter().map(Option::unwrap_or_default).collect()
    }
}

/// What a move is worth to whoever makes it, if the position behind it is worth this to its side to move. A mate is a ply further off.
pub const fn before(value: i16) -> i16 {
    let seen = value.saturating_neg();
    if is_mate(seen as i32) { seen - seen.signum() } else { seen }
}

/// The inverse of [`before`]: what the position behind a move is worth to its side to move.
pub const fn behind(value: i16) -> i16 {
    let seen = value.saturating_neg();
    if is_mate(seen as i32) { seen.saturating_add(seen.signum()) } else { seen }
}

/// Values found so far, and those whose parents have not been told.
struct Settling {
    /// Where the parents of each position end.
    parent_ends: Vec<u32>,
    parents: Vec<u32>,
    values: Vec<Option<i16>>,
    /// Moves of each position that are not known to lose.
    left: Vec<u32>,
    by_size: Vec<Vec<u32>>,
}

impl Settling {
    fn new(links: &Links) -> Self {
        let (parent_ends, parents) = parents(links);
        let count = links.own.len();
        let mut settling = Self {
            parent_ends,
            parents,
            values: vec![None; count],
            left: (0..count).map(|position| links.children(position).len() as u32).collect(),
            by_size: vec![Vec::new(); INFINITE as usize + 1],
        };
        (0..count).filter(|&position| links.children(position).is_empty()).for_each(|position| {
            settling.settle(position as u32, links.own[position]);
        });
        settling
    }

    fn settle(&mut self, position: u32, value: i16) {
        self.values[position as usize] = Some(value);
        let size = usize::from(value.unsigned_abs()).min(INFINITE as usize);
        self.by_size[size].push(position);
    }

    /// All values still open are no further from 0 than this one.
    fn tell_parents(&mut self, position: u32) {
        let value = self.values[position as usize].map_or(0, before);
        let first = position.checked_sub(1).map_or(0, |before| self.parent_ends[before as usize]);
        for index in first..self.parent_ends[position as usize] {
            let parent = self.parents[index as usize];
            if self.values[parent as usize].is_some() {
                continue;
            }
            let left = &mut self.left[parent as usize];
            *left -= 1;
            // The first good move is the best one, the last bad move the least bad.
            if value > 0 || *left == 0 {
                self.settle(parent, value);
            }
        }
    }
}

/// The graph the other way round.
fn parents(links: &Links) -> (Vec<u32>, Vec<u32>) {
    let count = links.own.len();
    let mut ends = vec![0_u32; count];
    links.children.iter().for_each(|&child| ends[child as usize] += 1);
    let mut sum = 0;
    for end in &mut ends {
        sum += *end;
        *end = sum;
    }
    let mut free: Vec<u32> = std::iter::once(0).chain(ends.iter().copied()).take(count).collect();
    let mut parents = vec![0; links.children.len()];
    for parent in 0..count {
        for &child in links.children(parent) {
            parents[free[child as usize] as usize] = parent as u32;
            free[child as usize] += 1;
        }
    }
    debug_assert_eq!(links.ends.len(), count);
    (ends, parents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn links(positions: &[(i16, &[u32])]) -> Links {
        let mut links = Links::default();
        for (own, children) in positions {
            links.own.push(*own);
            links.children.extend_from_slice(children);
            links.ends.push(links.children.len() as u32);
        }
        links
    }

    #[test]
    fn the_best_move_counts_and_the_sides_take_turns() {
        let tree = links(&[(0, &[1, 2]), (0, &[3, 4]), (-20, &[]), (50, &[]), (-10, &[])]);
        // The first move looks good because of 50, but the other side has a better answer.
        assert_eq!(tree.values(), [20, 10, -20, 50, -10]);
    }

    #[test]
    fn mates_come_nearer_by_a_ply_a_move() {
        let tree = links(&[(0, &[1]), (0, &[2]), (0, &[3]), (-31_000, &[])]);
        assert_eq!(tree.values(), [30_997, -30_998, 30_999, -31_000]);
        for value in [-31_000, -30_999, -30_002, -900, 0, 1, 30_002, 30_998] {
            assert_eq!(behind(before(value)), value);
        }
    }

    #[test]
    fn going_round_is_a_draw_for_whoever_has_nothing_better() {
        // 0 and 1 can go round; each may leave for something that is bad for it.
        let both_stay = links(&[(0, &[1, 2]), (0, &[0, 3]), (30, &[]), (40, &[])]);
        assert_eq!(both_stay.values(), [0, 0, 30, 40]);
        // 0 leaves for something good.
        let one_leaves = links(&[(0, &[1, 2]), (0, &[0, 3]), (-30, &[]), (40, &[])]);
        assert_eq!(one_leaves.values(), [30, -30, -30, 40]);
    }

    #[test]
    fn two_moves_to_one_position_are_two_moves() {
        assert_eq!(links(&[(0, &[1, 1]), (25, &[])]).values(), [-25, 25]);
    }

    /// The value by looking at all paths: one that comes back to a position of itself ends there, worth 0.
    fn by_paths(links: &Links, position: usize, path: &mut Vec<usize>) -> i16 {
        if path.contains(&position) {
            return 0;
        }
        if links.children(position).is_empty() {
            return links.own[position];
        }
        path.push(position);
        let children = links.children(position).to_vec();
        let best = children.iter().map(|&child| before(by_paths(links, child as usize, path))).max();
        path.pop();
        best.unwrap_or_default()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        /// On small graphs full of cycles the values are those of the definition.
        #[test]
        fn values_are_those_of_all_paths(
            positions in prop::collection::vec((-3_i16..=3, prop::collection::vec(0..8_u32, 0..4)), 8),
        ) {
            let positions: Vec<(i16, &[u32])> = positions.iter().map(|(own, moves)| (10 * own, moves.as_slice())).collect();
            let links = links(&positions);
            for (position, value) in links.values().into_iter().enumerate() {
                prop_assert_eq!(value, by_paths(&links, position, &mut Vec::new()), "{}", position);
            }
        }
    }
}
