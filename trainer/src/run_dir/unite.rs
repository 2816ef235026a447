//! One run of several folders in which parts of it were played: files are copied, whole or not at all, and no file is changed.

use super::files::{FileError, folder_entries, is_temporary, name_of, read_text, stream_atomically, temporary_name};
use super::{EVENTS, LOCK, PLAN, PlanText, RunDir, RunDirError, RunPaths, VERSION, take_lock};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct United {
    /// Files that were copied.
    pub copied: u64,
    /// Files that were there already, with the same bytes.
    pub known: u64,
}

/// Why runs cannot become one.
#[derive(Debug, thiserror::Error)]
pub enum UniteError {
    /// One of them cannot be used.
    #[error(transparent)]
    Run(#[from] RunDirError),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The same name stands for different things.
    #[error("{} differs from {}: expected parts of one run, of which no two write the same file", path.display(), known.display())]
    Differs {
        /// The one that was to be copied.
        path: PathBuf,
        /// The one that is there.
        known: PathBuf,
    },
}

/// Copies what is in the runs `from` and not yet in the run `to`, which is made if it is not there. All must have one plan and
/// one version.
///
/// # Errors
/// A run has another plan or version, or is being written; two files of one name differ; the disk refuses.
pub fn unite(from: &[PathBuf], to: &Path) -> Result<United, UniteError> {
    let Some(first) = from.first() else { return Ok(United::default()) };
    let (plan, version) = (read_text(&RunPaths::new(first).plan())?, version_of(first)?);
    // Held until all is copied.
    let _locks = from.iter().map(|run| checked(run, &plan, &version)).collect::<Result<Vec<_>, UniteError>>()?;
    let target = RunDir::create_or_resume(to, plan.as_str(), &version)?;
    if let [.., before, _] = &target.versions()?[..] {
        let (path, recorded) = (to.to_owned(), before.clone());
        return Err(RunDirError::OtherVersion { path, recorded, asked: version }.into());
    }
    let mut united = United::default();
    for run in from.iter().filter(|run| !is_same_folder(run, to)) {
        for name in file_names(run)? {
            let is_new = copy(&run.join(&name), &to.join(&name))?;
            *(if is_new { &mut united.copied } else { &mut united.known }) += 1;
        }
    }
    Ok(united)
}

fn version_of(run: &Path) -> Result<String, FileError> {
    let text = read_text(&RunPaths::new(run).version())?;
    Ok(text.lines().next_back().unwrap_or_default().to_owned())
}

/// The lock of a run of this plan and version.
fn checked(run: &Path, plan: &str, version: &str) -> Result<File, UniteError> {
    let paths = RunPaths::new(run);
    let lock = take_lock(&paths, File::try_lock_shared)?;
    let differences = PlanText::from(plan).differences(&read_text(&paths.plan())?);
    if !differences.is_empty() {
        return Err(RunDirError::PlanDiffers { path: paths.plan(), differences }.into());
    }
    let recorded = version_of(run)?;
    if recorded != version {
        return Err(RunDirError::OtherVersion { path: run.to_owned(), recorded, asked: version.to_owned() }.into());
    }
    Ok(lock)
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// The files of a run by their names in it, but for those that each run has for itself. A shard's games come after its positions, since
/// their presence says that it is complete.
fn file_names(run: &Path) -> Result<Vec<PathBuf>, FileError> {
    let mut names = Vec::new();
    let mut folders = vec![run.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in folder_entries(&folder)? {
            if path.is_dir() && !is_temporary(&path) {
                folders.push(path);
            } else if !is_temporary(&path) {
                names.extend(path.strip_prefix(run).map(Path::to_owned));
            }
        }
    }
    names.retain(|name| ![PLAN, VERSION, LOCK, EVENTS].map(Path::new).contains(&name.as_path()));
    names.sort_by_key(|name| (name_of(name).starts_with("games-"), name.clone()));
    Ok(names)
}

/// Whether the file was new.
fn copy(from: &Path, to: &Path) -> Result<bool, UniteError> {
    if to.exists() {
        let same = has_same_bytes(from, to).map_err(FileError::at("compare", from))?;
        let differs = || UniteError::Differs { path: from.to_owned(), known: to.to_owned() };
        return if same { Ok(false) } else { Err(differs()) };
    }
    let mut source = File::open(from).map_err(FileError::at("open", from))?;
    let written: Result<u64, FileError> = stream_atomically(to, |target| {
        io::copy(&mut source, target).map_err(FileError::at("write", &temporary_name(to)))
    });
    written?;
    Ok(true)
}

fn has_same_bytes(one: &Path, other: &Path) -> io::Result<bool> {
    Ok(fs::metadata(one)?.len() == fs::metadata(other)?.len() && fs::read(one)? == fs::read(other)?)
}
