//! Tuning of evaluation weights: known truths, the prior, the split, and independence of threads.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

use fairyforge::fit::logistic::{Design, Likelihood, LogisticFit, Outcome, Row};
use fairyforge::fit::sigmoid;
use fairyforge::fit::tapered::{
    LOGITS_PER_CENTIPAWN, Partition, Prior, Sample, SampleSet, Split, TaperedError, TaperedFit, TaperedLimits,
    TaperedPlan,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const SPLIT: Split = Split { validation_fraction: 0.1, seed: 5 };

/// A synthetic problem with known weights.
struct World {
    parameters: usize,
    features_per_sample: usize,
    samples: usize,
    scale: f64,
}

const SMALL: World = World { parameters: 40, features_per_sample: 6, samples: 60_000, scale: 1.2 };

fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

impl World {
    fn truth(&self) -> Vec<f64> {
        (0..self.parameters).map(|i| 100.0 * ((i as f64) * 0.7).sin()).collect()
    }

    /// Positions in games of five; results are drawn from the model.
    fn samples(&self, seed: u64) -> SampleSet {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let truth = self.truth();
        let mut set = SampleSet::new(self.parameters);
        for index in 0..self.samples {
            let feature = |random: &mut ChaCha8Rng| {
                let parameter = (uniform(random) * self.parameters as f64) as u32;
                (parameter, (4.0 * uniform(random) - 2.0) as f32)
            };
            let features: Vec<_> = (0..self.features_per_sample).map(|_| feature(&mut random)).collect();
            let offset = 100.0 * uniform(&mut random) - 50.0;
            let tuned: f64 = features.iter().map(|&(i, c)| f64::from(c) * truth[i as usize]).sum();
            let expected = sigmoid(self.scale * LOGITS_PER_CENTIPAWN * (offset + tuned));
            let result = f64::from(u8::from(uniform(&mut random) < expected));
            let sample = Sample { features: &features, offset, result, weight: 1.0, cluster: index as u64 / 5 };
            set.push(&sample).unwrap();
        }
        set
    }
}

fn priors(parameters: usize, mean: f64, deviation: f64) -> Vec<Prior> {
    vec![Prior { mean, deviation }; parameters]
}

fn fit(set: &SampleSet, partition: &Partition, scale: f64, priors: &[Prior]) -> TaperedFit {
    let plan = TaperedPlan { scale, priors, limits: TaperedLimits::default() };
    set.fit(partition, &plan).unwrap()
}

fn everything(set: &SampleSet) -> Partition {
    Partition { training: (0..set.len() as u32).collect(), validation: Vec::new() }
}

#[test]
fn known_weights_and_scale_are_recovered() {
    let set = SMALL.samples(1);
    let partition = set.partition(&SPLIT).unwrap();
    let truth = SMALL.truth();
    let scale = set.fit_scale(&partition.training, &truth).unwrap();
    assert!((scale / SMALL.scale - 1.0).abs() < 0.03, "scale {scale}");
    let fitted = fit(&set, &partition, SMALL.scale, &priors(SMALL.parameters, 0.0, 300.0));
    assert!(fitted.converged, "{fitted:?}");
    // A weight occurs some 7600 times with mean squared coefficient 4/3, mean variance of a result about 0.17.
    let information = 7600.0 * 4.0 / 3.0 * 0.17 * (SMALL.scale * LOGITS_PER_CENTIPAWN).powi(2);
    let errors = fitted.weights.iter().zip(&truth).map(|(w, t)| (w - t).powi(2));
    let relative = errors.sum::<f64>() / SMALL.parameters as f64 * information;
    println!("mean squared error over its expectation: {relative:.3}; {} steps", fitted.iterations);
    assert!((0.4..2.0).contains(&relative), "errors {relative} times what the information allows");
    assert!(fitted.after.training < fitted.before.training);
    assert!(fitted.after.validation < fitted.before.validation);
    assert_eq!(fitted.training_rows + fitted.validation_rows, SMALL.samples);
}

#[test]
fn the_flat_prior_gives_the_plain_regression() {
    // The same maximum as the dense solver finds on the reference data, constant term included.
    let path = format!("{}/tests/data/piece_logit.csv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut set = SampleSet::new(6);
    let mut rows = Vec::new();
    for line in text.lines().skip(1) {
        let fields: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        let pieces = fields[..5].iter().zip(1..).map(|(&x, index)| (index, x as f32));
        let features: Vec<(u32, f32)> = std::iter::once((0, 1.0)).chain(pieces).collect();
        let sample = Sample { features: &features, offset: 0.0, result: fields[5], weight: 1.0, cluster: 0 };
        set.push(&sample).unwrap();
        let outcome = match fields[5] {
            1.0 => Outcome::WhiteWins,
            0.0 => Outcome::BlackWins,
            _ => Outcome::Draw,
        };
        rows.push(Row { outcome, differences: fields[..5].to_vec(), cluster: rows.len() as u64 });
    }
    let columns = ["P", "N", "B", "R", "Q"].map(str::to_owned).to_vec();
    let dense = LogisticFit::new(&Design::new(columns, rows).unwrap(), Likelihood::QuasiBernoulli).unwrap();
    let sparse = fit(&set, &everything(&set), 1.0, &priors(6, 0.0, f64::INFINITY));
    for (term, weight) in dense.terms.iter().zip(&sparse.weights) {
        let difference = weight * LOGITS_PER_CENTIPAWN - term.coefficient;
        assert!(difference.abs() < 1e-6, "{}: {difference:e}", term.name);
    }
    assert!((sparse.after.training.unwrap() - dense.log_loss).abs() < 1e-9);
}

#[test]
fn without_data_the_weights_are_the_prior() {
    let set = SampleSet::new(3);
    let prior = [(10.0, 5.0), (-20.0, f64::INFINITY), (0.5, 0.0)].map(|(mean, deviation)| Prior { mean, deviation });
    let fitted = fit(&set, &set.partition(&SPLIT).unwrap(), 1.0, &prior);
    assert_eq!(fitted.weights, [10.0, -20.0, 0.5]);
    assert!(fitted.converged && fitted.before.training.is_none() && fitted.after.validation.is_none());
    assert_eq!(fitted.occurrences, [0, 0, 0]);
}

#[test]
fn little_data_moves_a_weight_as_far_as_the_prior_allows() {
    let mut set = SampleSet::new(3);
    let features = [(0, 2.0), (2, 1.0)];
    for cluster in 0..4 {
        let sample = Sample { features: &features, offset: 30.0, result: 1.0, weight: 0.5, cluster };
        set.push(&sample).unwrap();
    }
    let prior = [(100.0, 50.0), (77.0, 20.0), (40.0, 0.0)].map(|(mean, deviation)| Prior { mean, deviation });
    let fitted = fit(&set, &everything(&set), 1.0, &prior);
    assert_eq!(fitted.weights[1..], [77.0, 40.0]);
    assert_eq!(fitted.occurrences, [4, 0, 4]);
    // At the optimum the data's pull on weight 0 equals the prior's.
    let logit = LOGITS_PER_CENTIPAWN * (30.0 + 2.0 * fitted.weights[0] + 40.0);
    let data = 4.0 * 0.5 * 2.0 * LOGITS_PER_CENTIPAWN * (1.0 - sigmoid(logit));
    let pull = (fitted.weights[0] - 100.0) / 50.0f64.powi(2);
    assert!(pull > 0.0 && (data / pull - 1.0).abs() < 1e-4, "data {data}, prior {pull}");
}

#[test]
fn results_do_not_depend_on_threads() {
    let set = SMALL.samples(2);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let partition = set.partition(&SPLIT).unwrap();
            let start = vec![20.0; SMALL.parameters];
            let scale = set.fit_scale(&partition.training, &SMALL.truth()).unwrap();
            let loss = set.log_loss(&partition.training, &start, scale).unwrap().unwrap();
            (scale.to_bits(), loss.to_bits(), fit(&set, &partition, scale, &priors(SMALL.parameters, 20.0, 40.0)))
        })
    };
    let alone = run(1);
    for threads in [2, 3, 7] {
        let together = run(threads);
        assert_eq!((together.0, together.1), (alone.0, alone.1), "{threads} threads");
        let bits = |fit: &TaperedFit| fit.weights.iter().map(|w| w.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&together.2), bits(&alone.2), "{threads} threads");
        assert_eq!(together.2, alone.2);
    }
}

#[test]
fn the_split_follows_clusters_and_seed() {
    let set = SMALL.samples(3);
    let partition = set.partition(&SPLIT).unwrap();
    let aside: std::collections::BTreeSet<u32> = partition.validation.iter().map(|row| row / 5).collect();
    assert!(partition.training.iter().all(|row| !aside.contains(&(row / 5))));
    assert_eq!(aside.len() * 5, partition.validation.len());
    let fraction = partition.validation.len() as f64 / set.len() as f64;
    assert!((fraction - 0.1).abs() < 0.01, "fraction {fraction}");
    assert_eq!(partition, set.partition(&SPLIT).unwrap());
    assert_ne!(partition, set.partition(&Split { seed: 6, ..SPLIT }).unwrap());
    assert!(set.partition(&Split { validation_fraction: 0.0, ..SPLIT }).unwrap().validation.is_empty());
    let error = set.partition(&Split { validation_fraction: 1.0, ..SPLIT }).unwrap_err();
    assert_eq!(error, TaperedError::BadFraction { got: 1.0 });
}

#[test]
fn a_useless_or_perfect_evaluation_has_no_scale() {
    for (sign, word) in [(1.0, "without error"), (-1.0, "backwards")] {
        let mut set = SampleSet::new(0);
        for result in [0.0, 1.0] {
            let offset = sign * 100.0 * (2.0 * result - 1.0);
            set.push(&Sample { features: &[], offset, result, weight: 1.0, cluster: 0 }).unwrap();
        }
        let error = set.fit_scale(&[0, 1], &[]).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
    let nothing = SampleSet::new(0).fit_scale(&[], &[]).unwrap_err();
    assert!(matches!(nothing, TaperedError::ScaleOutOfRange { .. }));
}

#[test]
fn bad_samples_and_plans_are_refused_and_leave_the_set_alone() {
    let mut set = SampleSet::new(2);
    let good = Sample { features: &[(1, 1.0)], offset: 0.0, result: 0.5, weight: 1.0, cluster: 0 };
    set.push(&good).unwrap();
    let bad = [
        Sample { features: &[(0, 1.0), (2, 1.0)], ..good },
        Sample { features: &[(0, f32::NAN)], ..good },
        Sample { offset: f64::INFINITY, ..good },
        Sample { result: 1.5, ..good },
        Sample { weight: -1.0, ..good },
    ];
    for sample in &bad {
        let error = set.push(sample).unwrap_err().to_string();
        assert!(error.starts_with("sample 1: expected"), "{error}");
    }
    assert_eq!(set.len(), 1);
    let plan = |scale, priors| TaperedPlan { scale, priors, limits: TaperedLimits::default() };
    let rows = everything(&set);
    let one = priors(1, 0.0, 1.0);
    assert!(matches!(set.fit(&rows, &plan(1.0, &one)), Err(TaperedError::Length { expected: 2, got: 1, .. })));
    let negative = priors(2, 0.0, -1.0);
    assert!(matches!(set.fit(&rows, &plan(1.0, &negative)), Err(TaperedError::BadPrior { parameter: 0, .. })));
    let fine = priors(2, 0.0, 1.0);
    assert!(matches!(set.fit(&rows, &plan(0.0, &fine)), Err(TaperedError::BadScale { .. })));
}

#[test]
#[ignore = "long: run with --ignored"]
fn a_million_positions_and_four_thousand_weights_converge() {
    let world = World { parameters: 4000, features_per_sample: 30, samples: 1_000_000, scale: 1.0 };
    let set = world.samples(4);
    let partition = set.partition(&SPLIT).unwrap();
    let started = std::time::Instant::now();
    let fitted = fit(&set, &partition, world.scale, &priors(world.parameters, 0.0, 50.0));
    println!(
        "{:.1} s, {} steps, {} products, {:?} -> {:?}",
        started.elapsed().as_secs_f64(),
        fitted.iterations,
        fitted.hessian_products,
        fitted.before,
        fitted.after
    );
    assert!(fitted.converged);
    assert!(fitted.after.validation < fitted.before.validation);
}
