//! Shares, with what chance leaves open of them.

use crate::fit::NORMAL_97_5;
use serde::Serialize;

/// So many of so many.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// So many.
    pub count: u64,
    /// Of so many.
    pub of: u64,
    /// The one divided by the other; 0 of nothing.
    pub share: f64,
    /// Lower edge of the 95 % interval.
    pub low: f64,
    /// Upper edge.
    pub high: f64,
}

impl Share {
    /// The share with Wilson's interval (1927), which stays within 0 and 1 and has a width even where the share is 0 or 1. It takes
    /// what is counted as independent.
    pub(super) fn new(count: u64, of: u64) -> Self {
        if of == 0 {
            return Self { count, of, share: 0.0, low: 0.0, high: 1.0 };
        }
        let (all, share) = (of as f64, count as f64 / of as f64);
        let spread = NORMAL_97_5 * NORMAL_97_5 / all;
        let middle = (share + spread / 2.0) / (1.0 + spread);
        let half = (spread * share * (1.0 - share) + spread * spread / 4.0).sqrt() / (1.0 + spread);
        // Rounding must not take the edges past the share.
        Self { count, of, share, low: (middle - half).clamp(0.0, share), high: (middle + half).clamp(share, 1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_wilsons() {
        // Computed by hand from the formula of Wilson's paper.
        for (count, of, low, high) in [(10, 100, 0.05523, 0.17437), (0, 10, 0.0, 0.27754), (10, 10, 0.72246, 1.0)] {
            let share = Share::new(count, of);
            assert!((share.low - low).abs() < 1e-5 && (share.high - high).abs() < 1e-5, "{share:?}");
        }
        assert_eq!(Share::new(0, 0), Share { count: 0, of: 0, share: 0.0, low: 0.0, high: 1.0 });
    }
}
