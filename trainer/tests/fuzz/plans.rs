//! Plans and claims: whatever is accepted can be written, and reads back as the same.

use crate::harness::{Target, Verdict, text_of};
use crate::{files, refused};
use fairyforge::book::Plan as BookPlan;
use fairyforge::book::suite::SuitePlan;
use fairyforge::claims::ClaimsFile;
use fairyforge::laboratory::Plan as ExperimentPlan;
use fairyforge::plan::Plan as LoopPlan;
use fairyforge::train::plan::TrainPlan;
use fairyforge::tune::Plan as TunePlan;
use serde::Serialize;

/// What plans are made of, besides what the shipped ones say.
const WORDS: &[&str] = &[
    "format = 1\n",
    "variant = \"chess\"\n",
    "seed = ",
    "nodes = ",
    "games = ",
    "pairs = ",
    "[selfplay]\n",
    "[match]\n",
    "[train]\n",
    "[design]\n",
    "[reference]\n",
    "[[parameters]]\n",
    "[[claims]]\n",
    "[[claims.parts]]\n",
    "[growth]\n",
    "[search]\n",
    "[openings]\n",
    "[weights]\n",
    "looks = ",
    "name = \"",
    "unit = \"",
    "low = ",
    "high = ",
    "start = ",
    "min = ",
    "max = ",
    "c_end = ",
    "r_end = ",
    "batch = ",
    "window = ",
    "positions = ",
    "\"",
    "\n",
    "=",
    "[",
    "]",
    "{",
    "}",
    ",",
    "nan",
    "inf",
    "-inf",
    "1e-300",
    "-0.0",
    "true",
    "18446744073709551615",
    "9223372036854775807",
    "1.5",
];

macro_rules! plan_target {
    ($name:literal, $folder:literal, $ending:literal, $plan:ty) => {
        Target {
            name: $name,
            share: 20,
            most_bytes: 20_000,
            words: WORDS,
            accepts_all: false,
            seeds: || files($folder, $ending),
            check: |input| checked(input, <$plan>::read),
        }
    };
}

/// All targets.
pub const ALL: &[Target] = &[
    plan_target!("loop_plan", "configs/runs", ".toml", LoopPlan),
    plan_target!("tune_plan", "configs/tune", ".toml", TunePlan),
    plan_target!("experiment_plan", "configs/experiments", ".toml", ExperimentPlan),
    plan_target!("book_plan", "configs/books", ".toml", BookPlan),
    plan_target!("suite_plan", "configs/suites", ".toml", SuitePlan),
    plan_target!("train_plan", "configs/train", ".toml", TrainPlan),
    plan_target!("claims", "configs/claims", ".toml", ClaimsFile),
];

fn checked<P: Serialize + PartialEq, E: std::fmt::Display>(
    input: &[u8],
    read: fn(&str) -> Result<P, E>,
) -> Result<Verdict, String> {
    let plan = match read(&text_of(input)) {
        Err(error) => return refused(&error),
        Ok(plan) => plan,
    };
    let text = toml::to_string(&plan).map_err(|error| format!("an accepted plan cannot be written: {error}"))?;
    match read(&text) {
        Ok(again) if again == plan => Ok(Verdict::Accepted),
        Ok(_) => Err(format!("reads back otherwise: {text}")),
        Err(error) => Err(format!("is accepted, written and then refused: {error}\n{text}")),
    }
}
