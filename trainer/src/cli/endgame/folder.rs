//! A folder of the tables of one variant: one file a material.

use crate::cli::{Failure, OrBadInput};
use crate::run_dir::{FileError, stream_atomically};
use anyhow::anyhow;
use fairyforge_engine::endgame::file::{self, EXTENSION, Header};
use fairyforge_engine::endgame::{Material, Table, Tables, folder};
use fairyforge_engine::variant::Variant;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    fn path(&self, variant: &Variant, material: &Material) -> PathBuf {
        self.0.join(format!("{}.{EXTENSION}", material.stem(variant)))
    }

    /// Whether the table of these men is there. One of other rules is refused, so that it is not taken for this game's.
    pub fn has(&self, variant: &Variant, material: &Material) -> Result<bool, Failure> {
        let path = self.path(variant, material);
        if !path.exists() {
            return Ok(false);
        }
        let header = header(&path)?;
        let (expected, got) = ((variant.rules_hash(), material.text(variant)), (header.rules_hash, header.men));
        if expected == (got.0.as_str(), got.1.clone()) {
            return Ok(true);
        }
        let reason = anyhow!("expected {} of {}, got {} of {}", expected.1, variant.name(), got.1, header.variant);
        Err(Failure::BadInput(reason.context(format!("{} is another table: give another --out", path.display()))))
    }

    pub fn read(&self, variant: &Arc<Variant>, material: &Material) -> Result<Table, Failure> {
        let path = self.path(variant, material);
        let what = || format!("cannot read {}; without it, it is made anew", path.display());
        let mut stream = BufReader::new(File::open(&path).or_bad_input(what)?);
        file::read(variant, &mut stream).or_bad_input(what)
    }

    pub fn write(&self, table: &Table) -> Result<(), Failure> {
        let path = self.path(table.variant(), table.material());
        let write = |stream: &mut _| file::write(table, stream).map_err(FileError::at("write", &path));
        stream_atomically(&path, write).map_err(|error| Failure::Failed(error.into()))
    }

    /// Leaves those tables in memory that are wanted, and reads those of them that are not there.
    pub fn keep(&self, tables: &mut Tables, variant: &Arc<Variant>, wanted: &[Material]) -> Result<(), Failure> {
        tables.keep_only(|material| wanted.contains(material));
        for material in wanted {
            if tables.get(material).is_none() {
                tables.insert(self.read(variant, material)?);
            }
        }
        Ok(())
    }

    /// The men of all tables here, those of few men first.
    pub fn materials(&self, variant: &Variant) -> Result<Vec<Material>, Failure> {
        let mut found = Vec::new();
        for path in self.files()? {
            let what = || format!("cannot read {}", path.display());
            found.push(Material::parse(variant, &header(&path)?.men).or_bad_input(what)?);
        }
        found.sort_by_key(|material| (material.men().len(), material.text(variant)));
        Ok(found)
    }

    /// The variant asked for, or else the one that the tables name.
    pub fn variant_name(&self, asked: Option<&str>) -> Result<String, Failure> {
        match (asked, self.files()?.first()) {
            (Some(asked), _) => Ok(asked.into()),
            (None, Some(path)) => Ok(header(path)?.variant),
            (None, None) => Err(Failure::BadInput(anyhow!("there are no tables in {}", self.0.display()))),
        }
    }

    fn files(&self) -> Result<Vec<PathBuf>, Failure> {
        let listed = folder::Folder::open(&self.0).or_bad_input(|| format!("cannot list {}", self.0.display()))?;
        Ok(listed.files().to_vec())
    }
}

fn header(path: &Path) -> Result<Header, Failure> {
    let what = || format!("cannot read {}", path.display());
    let mut stream = BufReader::new(File::open(path).or_bad_input(what)?);
    file::read_header(&mut stream).or_bad_input(what)
}
