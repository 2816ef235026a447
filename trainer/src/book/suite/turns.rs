//! The order in which candidates are looked at closely: families take turns, and within a family the lot decides.
//!
//! It is always the turn of a family that has the fewest openings so far. A candidate that is turned away does not count, and the
//! next one of its family is tried instead. So in the end all families that did not run out of candidates have as many
//! openings, to within one.

use crate::selfplay::seeds::Dice;
use std::collections::BTreeMap;

/// The stream of the lot; the games from a position have the one with the number of its key.
const STREAM: u64 = u64::MAX;

/// Families, and how far each has come.
pub struct Turns<T> {
    families: Vec<Family<T>>,
}

struct Family<T> {
    name: String,
    /// Those not tried yet, the next one last.
    left: Vec<T>,
    accepted: usize,
}

/// A candidate whose turn it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn<T> {
    /// Its family's number.
    pub family: usize,
    /// The candidate.
    pub candidate: T,
}

impl<T> Turns<T> {
    /// Families by name with their candidates, whose order is that of the lot afterwards: theirs, and that of the families.
    pub fn new(families: BTreeMap<String, Vec<T>>, seed: u64) -> Self {
        let mut dice = Dice::new(seed, STREAM);
        let mut families: Vec<Family<T>> =
            families.into_iter().map(|(name, left)| Family { name, left, accepted: 0 }).collect();
        shuffle(&mut families, &mut dice);
        families.iter_mut().for_each(|family| shuffle(&mut family.left, &mut dice));
        Self { families }
    }

    /// Takes the next candidates, at most so many, as if each of them was going to be accepted. None: nothing is left.
    pub fn next(&mut self, most: usize) -> Vec<Turn<T>> {
        let mut counts: Vec<usize> = self.families.iter().map(|family| family.accepted).collect();
        let mut turns = Vec::new();
        while turns.len() < most {
            let waiting = (0..counts.len()).filter(|&index| !self.families[index].left.is_empty());
            let Some(family) = waiting.min_by_key(|&index| counts[index]) else { break };
            counts[family] += 1;
            turns.extend(self.families[family].left.pop().map(|candidate| Turn { family, candidate }));
        }
        turns
    }

    /// That a candidate of this family was accepted. How many it has now.
    pub fn accept(&mut self, family: usize) -> usize {
        let family = &mut self.families[family];
        family.accepted += 1;
        family.accepted
    }

    /// The name of a family.
    pub fn name(&self, family: usize) -> &str {
        &self.families[family].name
    }

    /// The families by name, with the number of their openings.
    pub fn sizes(&self) -> BTreeMap<String, usize> {
        self.families.iter().map(|family| (family.name.clone(), family.accepted)).collect()
    }
}

/// Fisher and Yates's shuffle.
fn shuffle<T>(items: &mut [T], dice: &mut Dice) {
    for last in (1..items.len()).rev() {
        items.swap(last, dice.below(last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// So many candidates a family, numbered through.
    fn families(sizes: &[usize]) -> BTreeMap<String, Vec<usize>> {
        let name = |index: usize| format!("family {index}");
        sizes
            .iter()
            .enumerate()
            .map(|(index, &size)| (name(index), (0..size).map(|n| 100 * index + n).collect()))
            .collect()
    }

    /// Looks at candidates in batches until so many are accepted: those, in order.
    fn accepted(sizes: &[usize], count: usize, batch: usize, fits: impl Fn(usize) -> bool) -> (Vec<usize>, Vec<usize>) {
        let mut turns = Turns::new(families(sizes), 5);
        let mut accepted = Vec::new();
        loop {
            let next = turns.next(batch.min(count - accepted.len()));
            if next.is_empty() {
                break;
            }
            for Turn { family, candidate } in next {
                assert_eq!(turns.name(family), format!("family {}", candidate / 100));
                if fits(candidate) {
                    turns.accept(family);
                    accepted.push(candidate);
                }
            }
        }
        (accepted, turns.sizes().into_values().collect())
    }

    #[test]
    fn families_take_turns_whatever_their_size() {
        let (order, sizes) = accepted(&[50, 50, 3], 21, 4, |_| true);
        assert_eq!(sizes, [9, 9, 3]);
        // Every family is there before any is there again.
        let mut first: Vec<usize> = order[..3].iter().map(|candidate| candidate / 100).collect();
        first.sort_unstable();
        assert_eq!(first, [0, 1, 2]);
    }

    #[test]
    fn who_is_turned_away_is_replaced_from_the_family() {
        // Of the first family only a fifth fits.
        let (_, sizes) = accepted(&[60, 20, 20], 24, 16, |candidate| candidate >= 100 || candidate % 5 == 0);
        assert_eq!(sizes, [8, 8, 8]);
        let (_, sizes) = accepted(&[10, 20, 20], 24, 16, |candidate| candidate >= 100 || candidate % 5 == 0);
        assert_eq!(sizes, [2, 11, 11]);
    }

    #[test]
    fn the_lot_depends_on_the_seed_alone() {
        let order = |seed| -> Vec<usize> {
            Turns::new(families(&[20, 20]), seed).next(40).into_iter().map(|turn| turn.candidate).collect()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let mut all = order(1);
        all.sort_unstable();
        assert_eq!(all, (0..20).chain(100..120).collect::<Vec<_>>());
        // The lot is no order of the numbers.
        assert_ne!(order(1).into_iter().filter(|&n| n < 100).collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        /// Families that have candidates left are even, and nothing fit is left while openings are wanted.
        #[test]
        fn families_are_even(
            sizes in prop::collection::vec(1..30_usize, 1..8), count in 1..80_usize, batch in 1..40_usize, odd in 2..5_usize,
        ) {
            let fits = |candidate: usize| !candidate.is_multiple_of(odd);
            let (accepted, found) = accepted(&sizes, count, batch, fits);
            let most: Vec<usize> =
                families(&sizes).into_values().map(|all| all.into_iter().filter(|&n| fits(n)).count()).collect();
            prop_assert_eq!(accepted.len(), count.min(most.iter().sum()));
            let level = found.iter().max().copied().unwrap_or_default();
            for (&found, &most) in found.iter().zip(&most) {
                prop_assert!(found + 1 >= level || found == most, "{} of {} where others have {}", found, most, level);
            }
        }
    }
}
