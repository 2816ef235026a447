//! States of training on disk, from which it goes on to the same bits: `docs/formats/training.md`.
//!
//! ```text
//! "fairyforge training checkpoint 2\n"
//! one line of JSON
//! the model, the optimiser: burn's own records (burnpack), of the lengths that the JSON says
//! 32 bytes: SHA-256 of all before
//! ```

use super::feed::Cursor;
use super::model::Model;
use crate::checksum::sha256;
use crate::run_dir::{FileError, write_atomically};
use burn::module::Module;
use burn::optim::{ModuleOptimizer, OptimizerRecord};
use burn::store::{ModuleRecord, RecordError};
use burn::tensor::Bytes;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// The first line of a checkpoint.
const TITLE: &[u8] = b"fairyforge training checkpoint 2\n";
/// Bytes of the checksum.
const CHECKSUM: usize = 32;

/// Where training is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Batches that were learnt from.
    pub batches: u64,
    /// Where the stream of batches is.
    pub cursor: Cursor,
    /// Digest of the data.
    pub data: String,
}

/// A state of training.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Where it is.
    pub place: Place,
    model: Vec<u8>,
    optimiser: Vec<u8>,
}

/// Why a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The disk refuses.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not what was written.
    #[error("{}: {fault}; remove it, and the run goes on from the one before", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: String,
    },
    /// Burn cannot write or read its records.
    #[error("the state of training cannot be put into words or read back: {0}")]
    Record(#[from] RecordError),
    /// Other games than those that training began with.
    #[error("the games have changed: expected data {expected:.12}, got {got:.12}; train on them in a new run")]
    OtherData {
        /// Digest of the data so far.
        expected: String,
        /// Digest of the data now.
        got: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    place: Place,
    model_bytes: usize,
    optimiser_bytes: usize,
}

impl Checkpoint {
    /// Takes down a state.
    ///
    /// # Errors
    /// Burn cannot write its records.
    pub fn new(place: Place, model: &Model, optimiser: &ModuleOptimizer) -> Result<Self, CheckpointError> {
        let model = model.clone().into_record().into_bytes()?.to_vec();
        // Burn lists states in no fixed order, but reads them in one: so the same state is the same bytes.
        let optimiser = OptimizerRecord::from_bytes(optimiser.into_bytes()?)?.into_bytes()?.to_vec();
        Ok(Self { place, model, optimiser })
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn write(&self, path: &Path) -> Result<(), CheckpointError> {
        Ok(write_atomically(path, &self.to_bytes())?)
    }

    /// Reads and checks a checkpoint.
    ///
    /// # Errors
    /// The disk refuses, or the file is not what was written.
    pub fn read(path: &Path) -> Result<Self, CheckpointError> {
        let bytes = fs::read(path).map_err(FileError::at("read", path))?;
        Self::from_bytes(&bytes).map_err(|fault| CheckpointError::Damaged { path: path.to_owned(), fault })
    }

    /// Model and optimiser in that state; these are any of the same shape and kind.
    ///
    /// # Errors
    /// The records are of another shape.
    pub fn restore(
        self,
        model: Model,
        optimiser: ModuleOptimizer,
    ) -> Result<(Model, ModuleOptimizer), CheckpointError> {
        let record = ModuleRecord::from_bytes(Bytes::from_bytes_vec(self.model))?;
        let optimiser = optimiser.from_bytes(Bytes::from_bytes_vec(self.optimiser))?;
        Ok((model.try_load_record(record)?, optimiser))
    }

    fn to_bytes(&self) -> Vec<u8> {
        let header =
            Header { place: self.place.clone(), model_bytes: self.model.len(), optimiser_bytes: self.optimiser.len() };
        let header = serde_json::to_string(&header).expect("numbers and texts are JSON");
        let mut bytes = [TITLE, header.as_bytes(), b"\n", &self.model, &self.optimiser].concat();
        let checksum = sha256(&[&bytes]);
        bytes.extend(checksum);
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let (content, checksum) = bytes
            .len()
            .checked_sub(CHECKSUM)
            .map(|end| bytes.split_at(end))
            .ok_or_else(|| format!("expected more than {CHECKSUM} bytes, got {}", bytes.len()))?;
        if sha256(&[content]) != checksum {
            return Err("damaged: the checksum is not that of the content".to_owned());
        }
        let rest = content.strip_prefix(TITLE).ok_or_else(|| {
            let first = |bytes: &[u8]| {
                String::from_utf8_lossy(bytes.split(|&byte| byte == b'\n').next().unwrap_or_default()).into_owned()
            };
            format!("expected {:?} first, got {:?}", first(TITLE), first(&content[..content.len().min(TITLE.len())]))
        })?;
        let end = rest.iter().position(|&byte| byte == b'\n').ok_or("expected a line of JSON")?;
        let header: Header = serde_json::from_slice(&rest[..end]).map_err(|error| error.to_string())?;
        let records = &rest[end + 1..];
        let (model, optimiser) = records
            .split_at_checked(header.model_bytes)
            .filter(|(_, optimiser)| optimiser.len() == header.optimiser_bytes)
            .ok_or_else(|| {
                let expected = (header.model_bytes, header.optimiser_bytes);
                format!("expected records of {expected:?} bytes, got {} in all", records.len())
            })?;
        Ok(Self { place: header.place, model: model.to_vec(), optimiser: optimiser.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint() -> Checkpoint {
        let cursor = Cursor { epoch: 2, first_shard: 3, taken: 400 };
        let place = Place { batches: 500, cursor, data: "c0ffee".to_owned() };
        Checkpoint { place, model: b"model\n\n".to_vec(), optimiser: vec![0, 10, 255] }
    }

    #[test]
    fn there_and_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("one.checkpoint");
        checkpoint().write(&path).unwrap();
        assert_eq!(Checkpoint::read(&path).unwrap(), checkpoint());
    }

    #[test]
    fn damage_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("one.checkpoint");
        let sound = checkpoint().to_bytes();
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 4;
            fs::write(&path, damaged).unwrap();
            let message = Checkpoint::read(&path).unwrap_err().to_string();
            assert!(message.contains("one.checkpoint") && message.contains("checksum"), "{message}");
        }
        for short in [&sound[..10], &sound[..sound.len() - 1], &[]] {
            fs::write(&path, short).unwrap();
            assert!(Checkpoint::read(&path).is_err());
        }
    }
}
