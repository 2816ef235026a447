//! The training plans that are shipped fit their games, and the reference tells the truth about defaults.

use fairyforge::train::plan::TrainPlan;
use fairyforge_engine::evaluate::network::Features;
use fairyforge_engine::variant::Variant;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/train")
}

#[test]
fn every_shipped_plan_can_be_run() {
    let mut plans = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let plan = TrainPlan::read(&std::fs::read_to_string(&path).unwrap());
        let plan = plan.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let variant = Arc::new(Variant::load(&plan.variant).unwrap());
        let features = Features::new(&variant, plan.network);
        features.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        plans += 1;
    }
    assert!(plans >= 2, "{plans} plans");
}

#[test]
fn the_reference_lists_every_key_with_its_default() {
    let text = std::fs::read_to_string(folder().join("reference.toml")).unwrap();
    let reference = TrainPlan::read(&text).unwrap();
    let lists = |key: &str| text.lines().any(|line| line.trim_start().starts_with(key));
    for (key, _) in toml::to_string(&reference).unwrap().lines().filter_map(|line| line.split_once(" = ")) {
        assert!(lists(key), "reference.toml does not list {key}");
    }
    let folder = reference.data[0].folder.display();
    let minimal = format!(
        "format = 1\nvariant = {:?}\nseed = {}\n[[data]]\nfolder = \"{folder}\"\n",
        reference.variant, reference.seed
    );
    assert_eq!(reference, TrainPlan::read(&minimal).unwrap());
}
