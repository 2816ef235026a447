//! The plans that are shipped can be run, and the reference tells the truth about defaults.

use fairyforge::plan::{Plan, check_claims};
use fairyforge_engine::variant::Variant;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/runs")
}

#[test]
fn every_shipped_plan_can_be_run() {
    let mut plans = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let plan = Plan::read(&std::fs::read_to_string(&path).unwrap());
        let plan = plan.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let variant = Variant::load(&plan.variant).unwrap();
        check_claims(&plan.claims, &variant).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        plans += 1;
    }
    assert!(plans >= 5, "{plans} plans");
}

#[test]
fn the_reference_lists_every_key_with_its_default() {
    let text = std::fs::read_to_string(folder().join("reference.toml")).unwrap();
    let mut reference = Plan::read(&text).unwrap();
    let lists = |key: &str| text.lines().any(|line| line.trim_start().starts_with(key));
    for key in toml::to_string(&reference).unwrap().lines().filter_map(|line| line.split_once(" = ")) {
        assert!(lists(key.0), "reference.toml does not list {}", key.0);
    }
    let minimal = format!("format = 1\nvariant = {:?}\nseed = {}\n", reference.variant, reference.seed);
    let mut defaults = Plan::read(&minimal).unwrap();
    // The reference shows a claim, and units taken away; the defaults have neither.
    reference.claims.clear();
    defaults.selfplay.openings.imbalance.share = reference.selfplay.openings.imbalance.share;
    defaults.generations = reference.generations;
    assert_eq!(reference, defaults);
}
