//! How training went: `losses.jsonl`, a line each time that the validation games were looked at.

use crate::run_dir::{FileError, append_line, drop_torn_line, write_atomically};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// One look at the validation games.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// Batches so far.
    pub batches: u64,
    /// Positions learnt from so far, each as often as it was.
    pub positions: u64,
    /// How often all data were gone through before.
    pub epoch: u64,
    /// Learning rate of the last batch.
    pub rate: f64,
    /// Mean error over the batches since the last look.
    pub training: f64,
    /// Mean error on the validation games; `None` if no games are kept for that.
    pub validation: Option<f64>,
    /// The same against results alone: it compares networks of different targets. Not written by earlier versions.
    #[serde(default)]
    pub results: Option<f64>,
}

/// Why the looks so far cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LossesError {
    /// The disk refuses.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line that is none of ours.
    #[error("{}, line {line}: {fault}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        fault: String,
    },
}

/// The looks of a run, in memory and on disk.
#[derive(Debug)]
pub struct Losses {
    path: PathBuf,
    looks: Vec<Look>,
}

impl Losses {
    /// Takes up the looks at `path` up to the checkpoint after so many batches; later ones will be made again.
    ///
    /// # Errors
    /// The file cannot be read or shortened, or has lines that are none of ours.
    pub fn resume(path: &Path, batches: u64) -> Result<Self, LossesError> {
        drop_torn_line(path)?;
        let all = read(path)?;
        let looks: Vec<Look> = all.iter().copied().filter(|look| look.batches <= batches).collect();
        if looks.len() < all.len() {
            let text: String = looks.iter().map(|look| line(look) + "\n").collect();
            write_atomically(path, text.as_bytes())?;
        }
        Ok(Self { path: path.to_owned(), looks })
    }

    /// Adds a look and has it on disk.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn add(&mut self, look: Look) -> Result<(), LossesError> {
        append_line(&self.path, &line(&look))?;
        self.looks.push(look);
        Ok(())
    }

    /// All looks.
    #[must_use]
    pub fn looks(&self) -> &[Look] {
        &self.looks
    }
}

fn read(path: &Path) -> Result<Vec<Look>, LossesError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path).map_err(FileError::at("read", path))?;
    let look = |(index, line): (usize, &str)| {
        let fault = |fault: serde_json::Error| fault.to_string();
        serde_json::from_str(line).map_err(fault).map_err(|fault| LossesError::Line {
            path: path.to_owned(),
            line: index + 1,
            fault,
        })
    };
    text.lines().enumerate().map(look).collect()
}

fn line(look: &Look) -> String {
    serde_json::to_string(look).expect("numbers are JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(batches: u64) -> Look {
        Look {
            batches,
            positions: 10 * batches,
            epoch: 0,
            rate: 0.1,
            training: 0.07,
            validation: Some(0.08),
            results: Some(0.1),
        }
    }

    #[test]
    fn looks_after_the_checkpoint_are_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("losses.jsonl");
        let mut losses = Losses::resume(&path, 0).unwrap();
        [500, 1_000, 1_500].into_iter().for_each(|batches| losses.add(look(batches)).unwrap());
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, whole.clone() + "{\"batches\":2").unwrap();
        let mut resumed = Losses::resume(&path, 1_000).unwrap();
        assert_eq!(resumed.looks(), [look(500), look(1_000)]);
        resumed.add(look(1_500)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    }

    #[test]
    fn a_foreign_line_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("losses.jsonl");
        fs::write(&path, format!("{}\nnonsense\n", line(&look(1)))).unwrap();
        let message = Losses::resume(&path, 9).unwrap_err().to_string();
        assert!(message.contains("losses.jsonl, line 2"), "{message}");
    }
}
