//! Networks on disk: `docs/formats/network.md`. A file is read into memory as a whole, and checked as a whole.

use super::architecture::{Architecture, ArchitectureError};
use super::features::Features;
use super::quantised::{Integers, QuantisationError, Quantised, Scales, lengths_of};
use crate::evaluate::{Weights, WeightsError};
use crate::variant::Variant;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

/// What files of networks are called after their stem.
pub const EXTENSION: &str = "net";
/// The first bytes of a file.
const MAGIC: &[u8; 8] = b"FFNET\r\n\n";
/// Version of the format.
const FORMAT: u32 = 1;
/// Longest header that is read, in bytes.
const MOST_HEADER: usize = 1 << 20;
/// Longest file that is read, in bytes: a hundred times the networks we know.
const MOST_FILE_BYTES: u64 = 1 << 29;
/// Bytes of a checksum.
const CHECKSUM: usize = 32;
/// Greatest absolute value of a unit, in centipawns, as in weights files.
const MOST_UNIT_VALUE: i32 = 5_000;

/// A network with what its file says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkFile {
    /// Shape, game and numbers.
    pub quantised: Quantised,
    /// Weights whose value is added to the network's: then it only has to know what they do not.
    pub base: Option<Weights>,
    /// What units are worth in exchanges, in centipawns, by unit type in the variant's order.
    pub unit_values: Vec<i32>,
    /// Where the numbers come from.
    pub card: Card,
}

/// Where a network comes from, for people and for reports; nothing is computed from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// How the numbers were made, in words.
    pub method: String,
    /// Version of the program that made them.
    pub program: String,
    /// What it was trained on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<CardData>,
    /// The seed of everything random.
    pub seed: u64,
    /// Positions looked at in training, each as often as it was looked at.
    #[serde(default)]
    pub positions: u64,
    /// Loss on the last of the training data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training_loss: Option<f64>,
    /// Loss on games kept apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_loss: Option<f64>,
    /// Typical difference that rounding to whole numbers makes, in centipawns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounding_centipawns: Option<f64>,
    /// The match that it had to win, and its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
}

/// Records that a network was trained on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardData {
    /// What they are called.
    pub name: String,
    /// Digest of their content.
    pub digest: String,
    /// Games in them.
    pub games: u64,
}

/// Why a file was refused, or could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum NetworkFileError {
    /// The file system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Not the beginning of a network's file.
    #[error("network file: expected it to begin with \"FFNET\", got other bytes")]
    NoNetwork,
    /// It ends too early.
    #[error("network file: expected {expected} bytes of {part} from byte {at} on, got {got}")]
    Truncated {
        /// What ends too early.
        part: &'static str,
        /// Where that begins.
        at: usize,
        /// Its length.
        expected: usize,
        /// What there is of it.
        got: usize,
    },
    /// Bytes behind its end.
    #[error("network file: expected it to end at byte {at}, got {got} bytes more")]
    LeftOver {
        /// Where it should end.
        at: usize,
        /// How many bytes follow.
        got: usize,
    },
    /// A header so long that it is none.
    #[error("network file: expected a header of at most {MOST_HEADER} bytes, got {got}")]
    HeaderLength {
        /// Its length.
        got: usize,
    },
    /// A header that cannot be read.
    #[error("network file, header: {0}")]
    Header(String),
    /// Another format version.
    #[error("network file: expected format {FORMAT}, got {0}")]
    Format(u32),
    /// A network of another game.
    #[error(
        "the network is for variant {got:?} (rules {got_hash:.12}), expected {expected:?} (rules {expected_hash:.12})"
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
    /// The content is not what was written.
    #[error("network file: expected the checksum {expected:.12} of what was written, got {got:.12}: it is damaged")]
    Damaged {
        /// The checksum in the file.
        expected: String,
        /// The checksum of what is there.
        got: String,
    },
    /// A shape that is none, or not for this game.
    #[error("network file, {0}")]
    Architecture(#[from] ArchitectureError),
    /// Inputs counted otherwise than here.
    #[error("network file: expected {expected} inputs for this shape and variant, got {got}")]
    Inputs {
        /// Number of inputs.
        expected: usize,
        /// What the header says.
        got: usize,
    },
    /// A unit without a value, a stranger with one, or a value out of range.
    #[error("network file, unit_values: {0}")]
    Units(String),
    /// A number of the card that is none.
    #[error("network file, card: expected a finite number as {key}, got {got}")]
    Card {
        /// Which number.
        key: &'static str,
        /// What came.
        got: f64,
    },
    /// Weights below the network that are none, or of another game.
    #[error("network file, base: {0}")]
    Base(#[from] Box<WeightsError>),
    /// Numbers that make no network.
    #[error("network file, {0}")]
    Quantisation(#[from] QuantisationError),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: u32,
    variant: String,
    rules_hash: String,
    architecture: Architecture,
    inputs: usize,
    scales: Scales,
    /// The text of a weights file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    unit_values: BTreeMap<String, i32>,
    card: Card,
}

/// The keys that every version has.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

impl NetworkFile {
    /// The content of the file.
    ///
    /// # Errors
    /// The values are not one a unit, or out of range, or the card has a number that is none.
    pub fn to_bytes(&self) -> Result<Vec<u8>, NetworkFileError> {
        let header = serde_json::to_vec(&self.header()?).map_err(io::Error::from)?;
        if header.len() > MOST_HEADER {
            return Err(NetworkFileError::HeaderLength { got: header.len() });
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend((header.len() as u32).to_le_bytes());
        bytes.extend(header);
        let quantised = &self.quantised;
        let sixteen = quantised.transformer.iter().chain(&quantised.bias).flat_map(|block| block.0);
        bytes.extend(sixteen.flat_map(i16::to_le_bytes));
        bytes.extend(quantised.output.iter().flat_map(|block| block.0).flat_map(|weight| (weight as i8).to_le_bytes()));
        bytes.extend(quantised.output_bias.iter().flat_map(|bias| bias.to_le_bytes()));
        let checksum = Sha256::digest(&bytes);
        bytes.extend(checksum);
        Ok(bytes)
    }

    /// Writes the file under a name that ends in `.tmp` and renames it once it is on the disk.
    ///
    /// # Errors
    /// As [`NetworkFile::to_bytes`], or the file system refuses.
    pub fn save(&self, path: &Path) -> Result<(), NetworkFileError> {
        let bytes = self.to_bytes()?;
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".tmp");
        let unfinished = path.with_file_name(name);
        let mut file = File::create(&unfinished)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        drop(file);
        Ok(fs::rename(&unfinished, path)?)
    }

    /// Reads a file for a variant.
    ///
    /// # Errors
    /// There is no regular file of a sensible size, or as [`NetworkFile::from_bytes`].
    pub fn load(variant: &Arc<Variant>, path: &Path) -> Result<Self, NetworkFileError> {
        Self::from_bytes(variant, &Self::read_bytes(path)?)
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// There is no regular file of a sensible size.
    pub fn read_bytes(path: &Path) -> Result<Vec<u8>, NetworkFileError> {
        let refused = |reason: &str| io::Error::new(io::ErrorKind::InvalidInput, reason);
        if !fs::metadata(path)?.is_file() {
            return Err(refused("expected a regular file").into());
        }
        let mut bytes = Vec::new();
        File::open(path)?.take(MOST_FILE_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_FILE_BYTES {
            return Err(refused("expected at most 512 MiB").into());
        }
        Ok(bytes)
    }

    /// Reads the content of a file for a variant. Nothing is used before everything has been found right.
    ///
    /// # Errors
    /// The bytes are no file of this format, or damaged, or one of other rules, or its numbers could overflow.
    pub fn from_bytes(variant: &Arc<Variant>, bytes: &[u8]) -> Result<Self, NetworkFileError> {
        let mut reader = Reader { bytes, at: 0 };
        let header = read_header(&mut reader)?;
        refuse_other_rules(variant, &header)?;
        let features = Arc::new(Features::new(variant, header.architecture)?);
        if features.inputs() != header.inputs {
            return Err(NetworkFileError::Inputs { expected: features.inputs(), got: header.inputs });
        }
        let integers = read_integers(&mut reader, &features)?;
        reader.finish()?;
        let unit_values = read_unit_values(variant, header.unit_values)?;
        let base = header.base.map(|text| Weights::read(variant, &text)).transpose().map_err(Box::new)?;
        let quantised = Quantised::from_integers(&features, header.scales, integers)?;
        Ok(Self { quantised, base, unit_values, card: header.card })
    }

    fn header(&self) -> Result<Header, NetworkFileError> {
        let features = self.quantised.features();
        let variant = features.variant();
        let (expected, got) = (variant.units().len(), self.unit_values.len());
        if expected != got {
            return Err(NetworkFileError::Units(format!("expected {expected} values, one a unit, got {got}")));
        }
        let named = variant.units().zip(&self.unit_values);
        let unit_values: BTreeMap<String, i32> =
            named.map(|(unit, &value)| (variant.unit(unit).name.clone(), value)).collect();
        unit_values.iter().try_for_each(|(name, &value)| check_value(name, value))?;
        check_card(&self.card)?;
        Ok(Header {
            format: FORMAT,
            variant: variant.name().into(),
            rules_hash: variant.rules_hash().into(),
            architecture: features.architecture().clone(),
            inputs: features.inputs(),
            scales: self.quantised.scales(),
            base: self.base.as_ref().map(|base| base.to_toml(variant)),
            unit_values,
            card: self.card.clone(),
        })
    }
}

/// JSON has no words for numbers that are none.
fn check_card(card: &Card) -> Result<(), NetworkFileError> {
    let rows = [
        ("training_loss", card.training_loss),
        ("validation_loss", card.validation_loss),
        ("rounding_centipawns", card.rounding_centipawns),
    ];
    let broken = rows.into_iter().find_map(|(key, number)| Some((key, number.filter(|number| !number.is_finite())?)));
    broken.map_or(Ok(()), |(key, got)| Err(NetworkFileError::Card { key, got }))
}

fn check_value(name: &str, value: i32) -> Result<(), NetworkFileError> {
    let fits = (-MOST_UNIT_VALUE..=MOST_UNIT_VALUE).contains(&value);
    let fault = || format!("{name}: expected -{MOST_UNIT_VALUE} to {MOST_UNIT_VALUE}, got {value}");
    if fits { Ok(()) } else { Err(NetworkFileError::Units(fault())) }
}

/// Bytes of a file from the front on.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, expected: usize, part: &'static str) -> Result<&'a [u8], NetworkFileError> {
        let (at, rest) = (self.at, &self.bytes[self.at..]);
        let taken = rest.get(..expected).ok_or(NetworkFileError::Truncated { part, at, expected, got: rest.len() })?;
        self.at += expected;
        Ok(taken)
    }

    /// The checksum of all before, and then nothing.
    fn finish(mut self) -> Result<(), NetworkFileError> {
        let content = &self.bytes[..self.at];
        let expected = self.take(CHECKSUM, "checksum")?;
        match self.bytes.len() - self.at {
            0 => {}
            got => return Err(NetworkFileError::LeftOver { at: self.at, got }),
        }
        let got = Sha256::digest(content);
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        if *got == *expected {
            Ok(())
        } else {
            Err(NetworkFileError::Damaged { expected: hex(expected), got: hex(&got) })
        }
    }
}

fn read_header(reader: &mut Reader<'_>) -> Result<Header, NetworkFileError> {
    let magic = reader.take(MAGIC.len(), "the words it begins with")?;
    if magic != MAGIC {
        return Err(NetworkFileError::NoNetwork);
    }
    let length = reader.take(4, "the header's length")?;
    let length = length.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte));
    if length > MOST_HEADER {
        return Err(NetworkFileError::HeaderLength { got: length });
    }
    let text = reader.take(length, "header")?;
    let version: Version = serde_json::from_slice(text).map_err(|error| NetworkFileError::Header(error.to_string()))?;
    if version.format != FORMAT {
        return Err(NetworkFileError::Format(version.format));
    }
    serde_json::from_slice(text).map_err(|error| NetworkFileError::Header(error.to_string()))
}

fn refuse_other_rules(variant: &Variant, header: &Header) -> Result<(), NetworkFileError> {
    if header.rules_hash == variant.rules_hash() {
        return Ok(());
    }
    Err(NetworkFileError::OtherRules {
        expected: variant.name().into(),
        expected_hash: variant.rules_hash().into(),
        got: header.variant.clone(),
        got_hash: header.rules_hash.clone(),
    })
}

fn read_integers(reader: &mut Reader<'_>, features: &Features) -> Result<Integers, NetworkFileError> {
    let [transformer, bias, output, output_bias] = lengths_of(features);
    let sixteen = |bytes: &[u8]| bytes.chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect();
    let eight = |bytes: &[u8]| bytes.iter().map(|&byte| byte as i8).collect();
    let thirty_two = |bytes: &[u8]| {
        bytes.chunks_exact(4).map(|four| i32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect()
    };
    Ok(Integers {
        transformer: sixteen(reader.take(2 * transformer, "the transformer")?),
        bias: sixteen(reader.take(2 * bias, "the bias")?),
        output: eight(reader.take(output, "the output weights")?),
        output_bias: thirty_two(reader.take(4 * output_bias, "the output bias")?),
    })
}

fn read_unit_values(variant: &Variant, mut named: BTreeMap<String, i32>) -> Result<Vec<i32>, NetworkFileError> {
    named.iter().try_for_each(|(name, &value)| check_value(name, value))?;
    let value_of = |unit| {
        let name = &variant.unit(unit).name;
        named.remove(name).ok_or_else(|| NetworkFileError::Units(format!("expected a value of {name}, it is missing")))
    };
    let values = variant.units().map(value_of).collect::<Result<_, _>>()?;
    match named.keys().next() {
        Some(stranger) => Err(NetworkFileError::Units(format!("{} has no unit {stranger:?}", variant.name()))),
        None => Ok(values),
    }
}
