//! Fixed-sample statistics against the reference cases.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

use fairyforge::arena::statistics::{GameCounts, PairCounts, ScoreSample};
use serde_json::Value;

/// The sample of a reference case, if it is one of counts.
fn sample(case: &Value) -> Option<ScoreSample> {
    if case["statistic"] == "pentanomial" {
        let counts: [u64; 5] = serde_json::from_value(case["pentanomial"].clone()).ok()?;
        return Some(ScoreSample::from_pairs(&PairCounts(counts)));
    }
    let games: GameCounts = serde_json::from_value(case["wdl"].clone()).ok()?;
    Some(ScoreSample::from_games(&games))
}

#[test]
fn fixed_samples_match_the_reference() {
    let path = format!("{}/tests/data/sprt.json", env!("CARGO_MANIFEST_DIR"));
    let cases: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut compared = 0;
    for case in &cases {
        let fixed = &case["fixed_sample"];
        let (Some(sample), Some(variance)) = (sample(case), fixed["variance_per_sample"].as_f64()) else {
            continue;
        };
        let interval = sample.elo_interval();
        let values = [
            ("score", sample.score().known()),
            ("elo", sample.elo().and_then(|elo| elo.finite())),
            ("stderr_score", sample.standard_error().known()),
            ("elo_lo", interval.and_then(|interval| interval.low.finite())),
            ("elo_hi", interval.and_then(|interval| interval.high.finite())),
            ("nelo", sample.normalized_elo().known()),
            ("nelo_err", sample.normalized_elo_error().known()),
            ("los", sample.likelihood_of_superiority().known()),
        ];
        // Where nothing varies the reference gives zero errors and we give none.
        let compare = if variance > 0.0 { &values[..] } else { &values[..2] };
        for &(key, got) in compare {
            let expected = fixed[key].as_f64();
            let close = match (got, expected) {
                (Some(got), Some(expected)) => (got - expected).abs() < 1e-9 * expected.abs().max(1.0),
                (got, expected) => got == expected,
            };
            assert!(close, "case {}: {key}: expected {expected:?}, got {got:?}", case["id"]);
            compared += 1;
        }
        if variance == 0.0 {
            assert!(values[2..].iter().all(|(_, got)| got.is_none()), "case {}", case["id"]);
        }
    }
    assert!(compared > 150, "only {compared} values compared");
}
