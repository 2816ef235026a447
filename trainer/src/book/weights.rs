//! How often the moves of a position are to be played, from what they are worth.

use super::WeightSettings;

/// The weight of the best move.
const BEST: u16 = 10_000;
/// Bits of the part below one halving that are looked at: more than a weight shows.
const FRACTION_BITS: u32 = 40;

/// The weights of moves that are worth this to whoever makes them.
///
/// The best move has 10,000; a move that is worse by *l* centipawns 10,000 · 2^(−*l*/half), rounded, and nothing beyond the window. Two
/// moves of equal value have equal weights.
pub fn weights(values: &[i16], settings: &WeightSettings) -> Vec<u16> {
    let Some(best) = values.iter().copied().map(i32::from).max() else { return Vec::new() };
    let weight = |&value: &i16| {
        let loss = best - i32::from(value);
        if loss > settings.window {
            return 0;
        }
        (f64::from(BEST) * halved(f64::from(loss) / f64::from(settings.half.max(1)))).round() as u16
    };
    values.iter().map(weight).collect()
}

/// 2^(−x) for x from 0 on, by products of square roots of a half: these are rounded in one way on every machine, as powers are not.
fn halved(x: f64) -> f64 {
    let mut power = 1.0;
    let mut whole = x.floor();
    while whole > 0.0 && power > 0.0 {
        power *= 0.5;
        whole -= 1.0;
    }
    let (mut fraction, mut root) = (x.fract(), 0.5_f64);
    for _ in 0..FRACTION_BITS {
        root = root.sqrt();
        fraction *= 2.0;
        if fraction >= 1.0 {
            fraction -= 1.0;
            power *= root;
        }
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_halve_and_end() {
        let settings = WeightSettings { half: 10, window: 30 };
        assert_eq!(weights(&[20, 30, 10, 25, 0, -1], &settings), [5_000, 10_000, 2_500, 7_071, 1_250, 0]);
        assert_eq!(weights(&[-31_000, 30_999], &settings), [0, 10_000]);
        assert_eq!(weights(&[7, 7], &WeightSettings { half: 1, window: 0 }), [10_000, 10_000]);
        assert!(weights(&[], &settings).is_empty());
    }

    #[test]
    fn halves_are_powers_of_two() {
        for x in [0.0, 0.1, 0.5, 1.0, 2.75, 13.3, 400.0] {
            assert!((halved(x) - (-x).exp2()).abs() < 1e-9, "{x}");
        }
    }
}
