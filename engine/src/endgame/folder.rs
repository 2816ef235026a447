//! All tables of a game that lie in a folder. Only reads; whoever makes tables knows where they go.

use super::Tables;
use super::file::{self, Checksum, EXTENSION, ReadError};
use crate::variant::Variant;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files in a folder that call themselves tables, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder(Vec<PathBuf>);

/// What lay in a folder.
#[derive(Debug)]
pub struct Loaded {
    /// The tables that are whole and of the game asked for.
    pub tables: Tables,
    /// What is wrong with the other files, by name.
    pub faults: Vec<FileFault>,
    /// SHA-256, in hexadecimal, of the checksums of the tables, file by file in the order of their names: the same tables, the same digest.
    pub digest: String,
}

/// Why a file of a folder is not used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct FileFault {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: ReadError,
}

impl Folder {
    /// Lists a folder.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut files = Vec::new();
        for entry in fs::read_dir(path)? {
            let path = entry?.path();
            // A device or a pipe could keep the reader waiting for ever.
            if path.extension().is_some_and(|extension| extension == EXTENSION) && path.is_file() {
                files.push(path);
            }
        }
        files.sort();
        Ok(Self(files))
    }

    /// Their names.
    pub fn files(&self) -> &[PathBuf] {
        &self.0
    }

    /// Their length in bytes, nearly all of which is in memory once they are loaded.
    pub fn bytes(&self) -> u64 {
        self.0.iter().filter_map(|path| fs::metadata(path).ok()).map(|metadata| metadata.len()).sum()
    }

    /// Reads all tables of a game.
    pub fn load(&self, variant: &Arc<Variant>) -> Loaded {
        let (mut tables, mut faults, mut hasher) = (Tables::new(), Vec::new(), Sha256::new());
        for path in &self.0 {
            match read(variant, path) {
                Ok((table, checksum)) => {
                    hasher.update(checksum);
                    tables.insert(table);
                }
                Err(reason) => faults.push(FileFault { path: path.clone(), reason }),
            }
        }
        let digest = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Loaded { tables, faults, digest }
    }
}

fn read(variant: &Arc<Variant>, path: &Path) -> Result<(super::Table, Checksum), ReadError> {
    file::read_with_checksum(variant, &mut BufReader::new(File::open(path)?))
}
