//! A run recomputed with some of its pairs struck out: what would have come of it without them.
//!
//! A struck pair counts as a draw twice: its iteration's result is that of the other pairs, and the counter of pairs
//! goes on as it did, so the other iterations weigh what they weighed. The games were played around the values of the
//! real run, so this is exact as to the steps and approximate as to the games that would have followed; for a few pairs
//! the difference is small.

use super::journal::Iteration;
use super::tuner::Tuner;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Pairs to be left out, as `12,40-45,50.3`: iterations, ranges of them, and single pairs of one (all from 1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strike {
    iterations: Vec<RangeInclusive<u64>>,
    pairs: BTreeSet<(u64, u64)>,
}

/// Why a list of struck pairs was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StrikeError {
    /// A part is not of the form asked for.
    #[error("expected an iteration as 12, a range as 40-45 or a pair of an iteration as 50.3, got {0:?}")]
    Form(String),
    /// There is no such iteration.
    #[error("expected iterations from 1 to {last}, got {got}")]
    Iteration {
        /// The last one in the journal.
        last: u64,
        /// What came.
        got: u64,
    },
    /// There is no such pair.
    #[error("expected pairs from 1 to {last} of iteration {iteration}, got {got}")]
    Pair {
        /// Whose pair.
        iteration: u64,
        /// Pairs in an iteration.
        last: u64,
        /// What came.
        got: u64,
    },
}

impl FromStr for Strike {
    type Err = StrikeError;

    fn from_str(text: &str) -> Result<Self, StrikeError> {
        let mut strike = Self::default();
        for part in text.split(',').map(str::trim) {
            strike.add(part).ok_or_else(|| StrikeError::Form(part.to_owned()))?;
        }
        Ok(strike)
    }
}

impl Strike {
    fn add(&mut self, part: &str) -> Option<()> {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        if let Some((iteration, pair)) = part.split_once('.') {
            self.pairs.insert((number(iteration)?, number(pair)?));
        } else if let Some((first, last)) = part.split_once('-') {
            let range = number(first)?..=number(last)?;
            (!range.is_empty()).then(|| self.iterations.push(range))?;
        } else {
            let iteration = number(part)?;
            self.iterations.push(iteration..=iteration);
        }
        Some(())
    }

    /// Checks that everything struck is there.
    ///
    /// # Errors
    /// An iteration or pair is not in a journal of so many iterations.
    pub fn check(&self, iterations: u64, pairs_per_iteration: u64) -> Result<(), StrikeError> {
        let named = self.iterations.iter().flat_map(|range| [*range.start(), *range.end()]);
        if let Some(got) = named.chain(self.pairs.iter().map(|pair| pair.0)).find(|got| !(1..=iterations).contains(got))
        {
            return Err(StrikeError::Iteration { last: iterations, got });
        }
        match self.pairs.iter().find(|pair| !(1..=pairs_per_iteration).contains(&pair.1)) {
            Some(&(iteration, got)) => Err(StrikeError::Pair { iteration, last: pairs_per_iteration, got }),
            None => Ok(()),
        }
    }

    /// Whether a pair of an iteration (both from 1) is struck.
    #[must_use]
    pub fn has(&self, iteration: u64, pair: u64) -> bool {
        self.iterations.iter().any(|range| range.contains(&iteration)) || self.pairs.contains(&(iteration, pair))
    }
}

/// What a run comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Recomputed {
    /// The parameters at the end.
    pub theta: Vec<f64>,
    /// Pairs left out.
    pub struck: u64,
    /// Pairs counted.
    pub counted: u64,
}

/// Makes a run's steps again without the pairs struck. With none struck, the end is that of the journal, bit by bit.
#[must_use]
pub fn recompute(tuner: &Tuner, iterations: &[Iteration], strike: &Strike) -> Recomputed {
    let mut recomputed = Recomputed { theta: tuner.start(), struck: 0, counted: 0 };
    for Iteration { iteration, flips, pairs, .. } in iterations {
        let mut result = 0;
        for (number, pair) in (1..).zip(pairs) {
            if strike.has(*iteration, number) {
                recomputed.struck += 1;
            } else {
                recomputed.counted += 1;
                result += pair.points();
            }
        }
        recomputed.theta = tuner.moved(*iteration, &recomputed.theta, flips, result);
    }
    recomputed
}

#[cfg(test)]
mod tests {
    use super::super::objective::PairResult;
    use super::super::spsa::{Kind, Setting};
    use super::super::tuner::Course;
    use super::*;

    #[test]
    fn lists_are_read_and_faults_named() {
        let strike: Strike = "12, 40-45,50.3".parse().unwrap();
        for (iteration, pair, expected) in [
            (12, 1, true),
            (12, 8, true),
            (39, 1, false),
            (40, 2, true),
            (45, 1, true),
            (46, 1, false),
            (50, 3, true),
            (50, 2, false),
        ] {
            assert_eq!(strike.has(iteration, pair), expected, "{iteration}.{pair}");
        }
        for wrong in ["", "12,", "x", "5-4", "1.2.3", "-3", "1-2.3"] {
            assert!(matches!(wrong.parse::<Strike>(), Err(StrikeError::Form(_))), "{wrong}");
        }
        assert_eq!(strike.check(50, 8), Ok(()));
        assert_eq!(strike.check(49, 8), Err(StrikeError::Iteration { last: 49, got: 50 }));
        assert_eq!(strike.check(50, 2), Err(StrikeError::Pair { iteration: 50, last: 2, got: 3 }));
        assert!("0".parse::<Strike>().unwrap().check(50, 8).is_err());
        assert!("1.0".parse::<Strike>().unwrap().check(50, 8).is_err());
    }

    #[test]
    fn struck_pairs_do_not_count_and_nothing_else_changes() {
        let setting = Setting { start: 50.0, min: 0.0, max: 100.0, c_end: 4.0, r_end: 0.01, kind: Kind::Whole };
        let tuner = Tuner::new(vec![setting], &Course::usual(5, 2, 3));
        let mut theta = tuner.start();
        let mut iterations = Vec::new();
        for number in 1..=5 {
            let pairs = vec![PairResult([1, 1]), PairResult([1, -1])];
            let iteration = Iteration::new(number, tuner.trial(number, &theta), pairs, &tuner, &theta);
            theta.clone_from(&iteration.theta);
            iterations.push(iteration);
        }
        let without = |list: &str| recompute(&tuner, &iterations, &list.parse().unwrap());
        assert_eq!(
            recompute(&tuner, &iterations, &Strike::default()),
            Recomputed { theta: theta.clone(), struck: 0, counted: 10 }
        );
        // The second pair of each iteration adds nothing, so it is not missed.
        assert_eq!(without("3.2"), Recomputed { theta: theta.clone(), struck: 1, counted: 9 });
        let flip = f64::from(iterations[2].flips[0]);
        let step = tuner.gain(0, 3).step(2.0, flip);
        for list in ["3", "3-3", "3.1", "3.1,3.2"] {
            assert!((without(list).theta[0] - (theta[0] - step)).abs() < 1e-12, "{list}");
        }
        assert_eq!(without("1-5").theta, tuner.start());
    }
}
