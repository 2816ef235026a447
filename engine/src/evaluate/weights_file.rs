//! Weights on disk: TOML that says what it is (`docs/formats/weights.md`).

use super::{MeasuredValue, UnitWeights, Weights};
use crate::geometry::{GRID_SQUARES, Square, Topology};
use crate::variant::Variant;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Version of the file format.
const FORMAT: u32 = 1;
/// What the phase means, for readers of the file.
const PHASE: &str = "sum of `phase` over the men on the board, divided by that of the array, at most 1";
/// Greatest absolute value or bonus, in centipawns: sums of a full board stay below mate scores.
const MOST_VALUE: i32 = 5_000;

/// Where weights come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// How the numbers were made, in words.
    pub method: String,
    /// Digest of the data they were fitted to; absent for a priori values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_digest: Option<String>,
    /// Games they were fitted to.
    #[serde(default)]
    pub games: u64,
    /// Version of the program that wrote them.
    pub engine: String,
}

impl Origin {
    /// Values from mobility.
    pub fn a_priori() -> Self {
        Self {
            method: "a priori: crowded-board mobility and Muller's leaper law".into(),
            data_digest: None,
            games: 0,
            engine: env!("CARGO_PKG_VERSION").into(),
        }
    }
}

/// Why a weights file was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeightsError {
    /// Not the TOML of a weights file.
    #[error("weights file: {0}")]
    Syntax(String),
    /// Another format version.
    #[error("weights file: expected format {FORMAT}, got {0}")]
    Format(u32),
    /// Weights of another game.
    #[error(
        "weights are for variant {got:?} (rules {got_hash:.12}), expected {expected:?} (rules {expected_hash:.12})"
    )]
    OtherRules {
        /// The variant at hand.
        expected: String,
        /// Its rules hash.
        expected_hash: String,
        /// The file's variant.
        got: String,
        /// The file's rules hash.
        got_hash: String,
    },
    /// A unit that the game has is missing, or one it has not is there.
    #[error("weights file: {0}")]
    Units(String),
    /// A table of squares of the wrong shape.
    #[error(
        "weights file, {unit}: expected {height} rows of {width} numbers in {key}, the highest rank first, got {got}"
    )]
    Squares {
        /// Whose table.
        unit: String,
        /// Which table.
        key: &'static str,
        /// Ranks of the board.
        height: u8,
        /// Files of the board.
        width: u8,
        /// What came.
        got: String,
    },
    /// A number out of range.
    #[error("weights file, {name}: expected numbers from {least} to {MOST_VALUE}, got {got}")]
    Range {
        /// Whose number.
        name: String,
        /// Least value.
        least: i32,
        /// The number.
        got: i32,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u32,
    variant: String,
    rules_hash: String,
    #[serde(rename = "phase")]
    _phase: String,
    tempo: i32,
    origin: Origin,
    #[serde(default)]
    measured: BTreeMap<String, Measured>,
    units: BTreeMap<String, Unit>,
}

/// A value in pawns with its 95 % interval.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Measured {
    pawns: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unit {
    middlegame: i32,
    endgame: i32,
    phase: i32,
    middlegame_squares: Vec<Vec<i32>>,
    endgame_squares: Vec<Vec<i32>>,
}

impl Weights {
    /// Reads a weights file for a variant.
    ///
    /// # Errors
    /// The text is no weights file, or one of other rules.
    pub fn read(variant: &Variant, text: &str) -> Result<Self, WeightsError> {
        let mut file: File = toml::from_str(text).map_err(|error| WeightsError::Syntax(error.to_string()))?;
        if file.format != FORMAT {
            return Err(WeightsError::Format(file.format));
        }
        if file.rules_hash != variant.rules_hash() {
            return Err(WeightsError::OtherRules {
                expected: variant.name().into(),
                expected_hash: variant.rules_hash().into(),
                got: file.variant,
                got_hash: file.rules_hash,
            });
        }
        in_range("tempo", file.tempo, -MOST_VALUE)?;
        let units = variant
            .units()
            .map(|unit| {
                let name = &variant.unit(unit).name;
                let unit = file.units.remove(name);
                unit.ok_or_else(|| WeightsError::Units(format!("expected [units.{name}], it is missing")))
                    .and_then(|unit| read_unit(variant.topology(), name, &unit))
            })
            .collect::<Result<_, _>>()?;
        if let Some(stranger) = file.units.keys().next() {
            return Err(WeightsError::Units(format!("{} has no unit {stranger:?}", variant.name())));
        }
        let measured = read_measured(variant, file.measured)?;
        Ok(Self {
            variant: file.variant,
            rules_hash: file.rules_hash,
            units,
            tempo: file.tempo,
            origin: file.origin,
            measured,
        })
    }

    /// The weights as the text of a file.
    pub fn to_toml(&self, variant: &Variant) -> String {
        let mut text =
            String::from("# Evaluation weights in centipawns, from White's side; see docs/formats/weights.md.\n");
        let [name, hash] = [&self.variant, &self.rules_hash].map(|words| toml::Value::from(words.as_str()));
        let _ = writeln!(text, "format = {FORMAT}\nvariant = {name}\nrules_hash = {hash}");
        let _ = writeln!(text, "phase = {PHASE:?}\ntempo = {}\n\n[origin]", self.tempo);
        text.push_str(&toml::to_string(&self.origin).expect("strings and numbers serialise"));
        for value in &self.measured {
            let _ = writeln!(text, "\n[measured.{}]", variant.unit(value.unit).name);
            let measured = Measured { pawns: value.pawns, low: value.low, high: value.high };
            text.push_str(&toml::to_string(&measured).expect("numbers serialise"));
        }
        for (unit, weights) in variant.units().zip(&self.units) {
            let _ = writeln!(text, "\n[units.{}]", variant.unit(unit).name);
            let _ = writeln!(text, "middlegame = {}\nendgame = {}", weights.middlegame, weights.endgame);
            let _ = writeln!(text, "phase = {}", weights.phase);
            write_squares(&mut text, "middlegame_squares", &weights.middlegame_squares, variant.topology());
            write_squares(&mut text, "endgame_squares", &weights.endgame_squares, variant.topology());
        }
        text
    }
}

fn in_range(name: &str, got: i32, least: i32) -> Result<(), WeightsError> {
    let fits = (least..=MOST_VALUE).contains(&got);
    if fits { Ok(()) } else { Err(WeightsError::Range { name: name.into(), least, got }) }
}

fn read_measured(variant: &Variant, measured: BTreeMap<String, Measured>) -> Result<Vec<MeasuredValue>, WeightsError> {
    let mut values: Vec<MeasuredValue> = Vec::new();
    for (name, Measured { pawns, low, high }) in measured {
        let unit = variant.unit_named(&name);
        let unit = unit.ok_or_else(|| WeightsError::Units(format!("{} has no unit {name:?}", variant.name())))?;
        if ![pawns, low, high].iter().all(|number| number.is_finite()) {
            let got = format!("[measured.{name}]: expected finite numbers, got {pawns}, {low}, {high}");
            return Err(WeightsError::Units(got));
        }
        values.push(MeasuredValue { unit, pawns, low, high });
    }
    values.sort_by_key(|value| value.unit);
    Ok(values)
}

fn read_unit(topology: &Topology, name: &str, unit: &Unit) -> Result<UnitWeights, WeightsError> {
    let tables = [&unit.middlegame_squares, &unit.endgame_squares];
    let numbers = tables.into_iter().flatten().flatten().chain([&unit.middlegame, &unit.endgame]);
    numbers.into_iter().try_for_each(|&number| in_range(name, number, -MOST_VALUE))?;
    in_range(name, unit.phase, 0)?;
    Ok(UnitWeights {
        middlegame: unit.middlegame,
        endgame: unit.endgame,
        phase: unit.phase,
        middlegame_squares: read_squares(topology, name, "middlegame_squares", &unit.middlegame_squares)?,
        endgame_squares: read_squares(topology, name, "endgame_squares", &unit.endgame_squares)?,
    })
}

fn read_squares(
    topology: &Topology,
    unit: &str,
    key: &'static str,
    rows: &[Vec<i32>],
) -> Result<Box<[i16; GRID_SQUARES]>, WeightsError> {
    let (height, width) = (topology.height(), topology.width());
    let fault = |got: String| Err(WeightsError::Squares { unit: unit.into(), key, height, width, got });
    if rows.len() != usize::from(height) {
        return fault(format!("{} rows", rows.len()));
    }
    let mut squares = Box::new([0; GRID_SQUARES]);
    for (row, numbers) in (0..height).rev().zip(rows) {
        if numbers.len() != usize::from(width) {
            return fault(format!("a row of {}", numbers.len()));
        }
        for (square, &number) in (0..width).filter_map(|file| Square::at(file, row)).zip(numbers) {
            squares[square.index()] = number as i16;
        }
    }
    Ok(squares)
}

fn write_squares(text: &mut String, key: &str, squares: &[i16; GRID_SQUARES], topology: &Topology) {
    let _ = writeln!(text, "{key} = [");
    for row in (0..topology.height()).rev() {
        let squares_of_row = (0..topology.width()).filter_map(|file| Square::at(file, row));
        let numbers: Vec<String> = squares_of_row.map(|square| format!("{:4}", squares[square.index()])).collect();
        let _ = writeln!(text, "  [{}],", numbers.join(","));
    }
    text.push_str("]\n");
}
