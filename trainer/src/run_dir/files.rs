//! How files get to disk: whole or not at all, with errors that say what was done where.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Ends the names of files that are being written.
pub(super) const TEMPORARY: &str = ".tmp";

/// The operating system refused something: what, where and why.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}: {source}", path.display())]
pub struct FileError {
    /// What was being done, as it follows "cannot": "write", "rename into place" …
    pub action: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// The system's reason.
    pub source: io::Error,
}

impl FileError {
    /// A closure for `map_err` that adds what was being done and where.
    pub fn at(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self { action, path, source }
    }
}

/// Writes a small file so that after a crash it is there whole or not at all: `<path>.tmp`, sync,
/// rename, sync of the folder. Makes the folder if need be. On failure the `.tmp` is removed.
///
/// # Errors
/// Says which step failed, on which path and why (full disk, no permission, a file in the way …).
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    create_folder(folder_of(path))?;
    write_inside(path, bytes)
}

/// As [`write_atomically`] where the folder must be there: one that was removed meanwhile is not made again, since what was in it
/// would be lacking.
///
/// # Errors
/// As [`write_atomically`].
pub fn write_inside(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let temporary = temporary_name(path);
    stream_inside(path, |file| write_bytes(file, bytes, &temporary))
}

/// As [`write_atomically`] for a file that `write` makes piece by piece.
///
/// # Errors
/// As [`write_atomically`], and whatever `write` returns.
pub fn stream_atomically<T, E: From<FileError>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T, E>,
) -> Result<T, E> {
    create_folder(folder_of(path))?;
    stream_inside(path, write)
}

fn stream_inside<T, E: From<FileError>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T, E>,
) -> Result<T, E> {
    let temporary = temporary_name(path);
    let written = write_synced(&temporary, write).and_then(|written| {
        fs::rename(&temporary, path).map_err(FileError::at("rename into place", path))?;
        Ok(written)
    });
    if written.is_err() {
        // The first error is the one worth telling; a `.tmp` that stays is harmless.
        let _ = fs::remove_file(&temporary);
    }
    let written = written?;
    sync_folder(folder_of(path))?;
    Ok(written)
}

/// Appends a line to a journal and syncs it, making file and folder if need be.
///
/// # Errors
/// The folder or the file refuses.
pub fn append_line(path: &Path, line: &str) -> Result<(), FileError> {
    append_lines(path, &[line])
}

/// Appends lines to a journal and syncs them together, making file and folder if need be. All are there, or none.
///
/// # Errors
/// The folder or the file refuses.
pub fn append_lines(path: &Path, lines: &[impl AsRef<str>]) -> Result<(), FileError> {
    create_folder(folder_of(path))?;
    let file = OpenOptions::new().create(true).append(true).open(path).map_err(FileError::at("open", path))?;
    append_to(file, path, lines)
}

/// As [`append_lines`] for a journal that has been begun. One that was removed since is not begun anew: its first line would be lacking,
/// and so would all that was in it.
///
/// # Errors
/// The file is not there, or refuses.
pub fn continue_lines(path: &Path, lines: &[impl AsRef<str>]) -> Result<(), FileError> {
    let file = OpenOptions::new().append(true).open(path).map_err(FileError::at("continue", path))?;
    append_to(file, path, lines)
}

/// As [`append_line`] where the folder must be there: nothing is written into the place of a run that was removed.
pub(super) fn append_line_inside(path: &Path, line: &str) -> Result<(), FileError> {
    let file = OpenOptions::new().create(true).append(true).open(path).map_err(FileError::at("continue", path))?;
    append_to(file, path, &[line])
}

fn append_to(mut file: File, path: &Path, lines: &[impl AsRef<str>]) -> Result<(), FileError> {
    let whole = file.metadata().map_err(FileError::at("look at", path))?.len();
    let text: String = lines.iter().flat_map(|line| [line.as_ref(), "\n"]).collect();
    write_bytes(&mut file, text.as_bytes(), path).inspect_err(|_| {
        // Half a line must not stand before the next one; the error that is told is the first.
        let _ = file.set_len(whole);
    })?;
    file.sync_data().map_err(FileError::at("sync", path))
}

/// A file written and synced under its own name.
pub(super) fn write_synced_bytes(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_synced(path, |file| write_bytes(file, bytes, path))
}

fn write_synced<T, E: From<FileError>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T, E>,
) -> Result<T, E> {
    let mut file = BufWriter::new(File::create(path).map_err(FileError::at("create", path))?);
    let written = write(&mut file)?;
    file.flush().map_err(FileError::at("write", path))?;
    file.get_ref().sync_all().map_err(FileError::at("sync", path))?;
    Ok(written)
}

/// Writes all of `bytes` to `writer`; `path` only serves the error.
pub(super) fn write_bytes<W: Write>(writer: &mut W, bytes: &[u8], path: &Path) -> Result<(), FileError> {
    writer.write_all(bytes).and_then(|()| writer.flush()).map_err(FileError::at("write", path))
}

/// Makes a folder, and those above it, unless it is there.
///
/// # Errors
/// The system refuses.
pub fn create_folder(folder: &Path) -> Result<(), FileError> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(FileError::at("create folder", folder))?;
    sync_folder(folder_of(folder))
}

/// Makes a rename inside `folder` durable. Only Unix lets a folder be opened for that.
pub(super) fn sync_folder(folder: &Path) -> Result<(), FileError> {
    if !cfg!(unix) {
        return Ok(());
    }
    File::open(folder).and_then(|opened| opened.sync_all()).map_err(FileError::at("sync folder", folder))
}

/// The folder a path lies in; `.` for a bare name, `/` for the root.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

pub(super) fn folder_entries(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let entries: io::Result<Vec<PathBuf>> =
        fs::read_dir(folder).and_then(|entries| entries.map(|entry| entry.map(|found| found.path())).collect());
    let mut paths = entries.map_err(FileError::at("list", folder))?;
    paths.sort();
    Ok(paths)
}

pub(super) fn read_text(path: &Path) -> Result<String, FileError> {
    fs::read_to_string(path).map_err(FileError::at("read", path))
}

pub(super) fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

pub(super) fn temporary_name(path: &Path) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(TEMPORARY);
    PathBuf::from(name)
}

pub(super) fn is_temporary(path: &Path) -> bool {
    name_of(path).ends_with(TEMPORARY)
}

/// A process killed while it appended may have left half a line; whole lines stay.
pub fn drop_torn_line(path: &Path) -> Result<(), FileError> {
    if !path.exists() {
        return Ok(());
    }
    let bytes = fs::read(path).map_err(FileError::at("read", path))?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    if whole == bytes.len() {
        return Ok(());
    }
    let file = OpenOptions::new().write(true).open(path).map_err(FileError::at("open", path))?;
    file.set_len(whole as u64).map_err(FileError::at("shorten", path))?;
    file.sync_all().map_err(FileError::at("sync", path))
}
