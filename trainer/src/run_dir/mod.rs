//! A run on disk: every path and file name inside a run, how files get there, and who may write.
//!
//! This is the only module that builds a path inside a run, that knows the `.tmp`-then-rename rule and
//! that decides when something is finished. It knows nothing about what the files contain: shards of
//! games are [`crate::record`]'s business, weights the engine's.
//!
//! ```text
//! <run>/plan.toml version.txt run.lock events.jsonl report.md
//!      selfplay/001/{games,positions}-<first game, 8 digits>.parquet
//!      weights/001.toml   networks/001.net   rejected/002.{toml,net}   gate/002-vs-001.{jsonl,toml}
//!      training/001/…
//!      journal.jsonl games.pgn result.json
//!      budget.toml
//!      tune.jsonl confirm.jsonl tuned.toml tuned-weights.toml chart.svg
//!      claims.json
//!      calibration.svg progression.svg
//!      checkpoints/<batches, 8 digits>.checkpoint losses.jsonl network.net
//!      book.jsonl opening.book
//!      suite.jsonl openings.{epd,pgn} suite.json
//!      <journal>.parts/<first unit, 8 digits>-<token>.jsonl   candidates/002.{toml,net}
//! ```
//!
//! [`RunPaths`] only names things and may be used by anybody; [`RunDir`] also holds the lock that makes
//! its process the one writer of the run, or, where many play parts of a step, one of them ([`RunDir::join`]).

mod files;
mod parts;
mod plan;
mod shards;
mod unite;

pub use files::{
    FileError, append_line, append_lines, continue_lines, create_folder, drop_torn_line, stream_atomically,
    write_atomically, write_inside,
};
pub use parts::{PartFiles, ShardDesk, write_once};
pub use plan::{PlanDifference, PlanText};
pub use shards::{ShardFiles, ShardListing, list_shards, shard_folders};
pub use unite::{UniteError, United, unite};

use files::{TEMPORARY, append_line_inside, folder_entries, is_temporary, name_of, read_text, write_bytes};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};

const PLAN: &str = "plan.toml";
const VERSION: &str = "version.txt";
const LOCK: &str = "run.lock";
const EVENTS: &str = "events.jsonl";
const JOURNAL: &str = "journal.jsonl";
const GAMES: &str = "games.pgn";
const RESULT: &str = "result.json";
/// Ends the names of states of training.
const CHECKPOINT: &str = ".checkpoint";

/// The names of everything inside a run. Builds paths, touches nothing.
#[derive(Debug, Clone)]
pub struct RunPaths {
    root: PathBuf,
}

/// The two files that a gate match between two generations leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateFiles {
    /// The games of the match.
    pub journal: PathBuf,
    /// The score and the verdict.
    pub verdict: PathBuf,
}

/// The files that a candidate may be in: one of the two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateFiles {
    /// If it is weights.
    pub weights: PathBuf,
    /// If it is a network.
    pub network: PathBuf,
}

impl RunPaths {
    /// Names for the run at `root`, whether or not it exists.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The run's own folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `plan.toml`: the validated plan the run was started with.
    pub fn plan(&self) -> PathBuf {
        self.root.join(PLAN)
    }

    /// `version.txt`: the program versions that wrote to the run, one a line, oldest first.
    pub fn version(&self) -> PathBuf {
        self.root.join(VERSION)
    }

    /// `selfplay/<generation>`: the folder of one generation's shards of games.
    pub fn selfplay(&self, generation: u32) -> PathBuf {
        self.root.join("selfplay").join(numbered(generation))
    }

    /// `weights/<generation>.toml`: accepted weights.
    pub fn weights(&self, generation: u32) -> PathBuf {
        self.root.join("weights").join(toml_name(generation))
    }

    /// `networks/<generation>.net`: an accepted network.
    pub fn generation_network(&self, generation: u32) -> PathBuf {
        self.root.join("networks").join(network_name(generation))
    }

    /// `rejected/<candidate>.net`: a network that lost its gate match, kept.
    pub fn rejected_network(&self, candidate: u32) -> PathBuf {
        self.root.join("rejected").join(network_name(candidate))
    }

    /// `training/<generation>`: the training of one generation's network, a run of its own.
    pub fn training(&self, generation: u32) -> PathBuf {
        self.root.join("training").join(numbered(generation))
    }

    /// `rejected/<candidate>.toml`: weights that lost their gate match, kept.
    pub fn rejected(&self, candidate: u32) -> PathBuf {
        self.root.join("rejected").join(toml_name(candidate))
    }

    /// `candidates/<candidate>.{toml,net}`: weights or a network that its gate match is about, while others play that match.
    pub fn candidate(&self, candidate: u32) -> CandidateFiles {
        let folder = self.root.join("candidates");
        CandidateFiles { weights: folder.join(toml_name(candidate)), network: folder.join(network_name(candidate)) }
    }

    /// `gate/<candidate>-vs-<parent>.{jsonl,toml}`: the match that decides on a candidate.
    pub fn gate(&self, candidate: u32, parent: u32) -> GateFiles {
        let name = format!("{}-vs-{}", numbered(candidate), numbered(parent));
        let folder = self.root.join("gate");
        GateFiles { journal: folder.join(format!("{name}.jsonl")), verdict: folder.join(format!("{name}.toml")) }
    }

    /// The gate matches that are there, as (candidate, parent), in order.
    ///
    /// # Errors
    /// When the folder exists but cannot be listed.
    pub fn gates(&self) -> Result<Vec<(u32, u32)>, FileError> {
        let folder = self.root.join("gate");
        if !folder.exists() {
            return Ok(Vec::new());
        }
        let players = |path: &PathBuf| {
            let name = name_of(path);
            let (candidate, parent) = name.strip_suffix(".jsonl")?.split_once("-vs-")?;
            let players = (candidate.parse().ok()?, parent.parse().ok()?);
            (self.gate(players.0, players.1).journal == *path).then_some(players)
        };
        let mut gates: Vec<_> = folder_entries(&folder)?.iter().filter_map(players).collect();
        gates.sort_unstable();
        Ok(gates)
    }

    /// `journal.jsonl`: the games of a match that is a run of its own.
    pub fn journal(&self) -> PathBuf {
        self.root.join(JOURNAL)
    }

    /// `games.pgn`: the same games as PGN, made from the journal.
    pub fn games(&self) -> PathBuf {
        self.root.join(GAMES)
    }

    /// `result.json`: what the match says, made from the journal.
    pub fn result(&self) -> PathBuf {
        self.root.join(RESULT)
    }

    /// `budget.toml`: the games that the time given to an experiment was turned into.
    pub fn budget(&self) -> PathBuf {
        self.root.join("budget.toml")
    }

    /// `tune.jsonl`: the iterations of a tuning run.
    pub fn tuning(&self) -> PathBuf {
        self.root.join("tune.jsonl")
    }

    /// `confirm.jsonl`: the match of a tuning run's values against the old ones.
    pub fn confirmation(&self) -> PathBuf {
        self.root.join("confirm.jsonl")
    }

    /// `tuned.toml`: the search file that a tuning run ends with.
    pub fn tuned_search(&self) -> PathBuf {
        self.root.join("tuned.toml")
    }

    /// `tuned-weights.toml`: the weights that a tuning run ends with, if it tuned any.
    pub fn tuned_weights(&self) -> PathBuf {
        self.root.join("tuned-weights.toml")
    }

    /// `chart.svg`: what a report draws.
    pub fn chart(&self) -> PathBuf {
        self.root.join("chart.svg")
    }

    /// Name of the drawing of generations' strengths.
    pub const PROGRESSION: &str = "progression.svg";

    /// `progression.svg`: how strong a loop's generations are.
    pub fn progression(&self) -> PathBuf {
        self.root.join(Self::PROGRESSION)
    }

    /// `calibration.svg`: results by score in the games, as a report shows them.
    pub fn calibration(&self) -> PathBuf {
        self.root.join("calibration.svg")
    }

    /// `claims.json`: the verdicts on claims about a game.
    pub fn claims(&self) -> PathBuf {
        self.root.join("claims.json")
    }

    /// `checkpoints`: the last states of a network in training.
    pub fn checkpoints(&self) -> PathBuf {
        self.root.join("checkpoints")
    }

    /// `checkpoints/<batches>.checkpoint`: the state after so many batches.
    pub fn checkpoint(&self, batches: u64) -> PathBuf {
        self.checkpoints().join(format!("{batches:08}{CHECKPOINT}"))
    }

    /// After how many batches there are checkpoints, ascending.
    ///
    /// # Errors
    /// When the folder exists but cannot be listed.
    pub fn checkpoint_batches(&self) -> Result<Vec<u64>, FileError> {
        let folder = self.checkpoints();
        if !folder.exists() {
            return Ok(Vec::new());
        }
        let batches = |path: &PathBuf| {
            let batches = name_of(path).strip_suffix(CHECKPOINT)?.parse().ok()?;
            (self.checkpoint(batches) == *path).then_some(batches)
        };
        let mut batches: Vec<u64> = folder_entries(&folder)?.iter().filter_map(batches).collect();
        batches.sort_unstable();
        Ok(batches)
    }

    /// Removes all checkpoints but the last `kept`.
    ///
    /// # Errors
    /// When the folder cannot be listed or a file not removed.
    pub fn thin_checkpoints(&self, kept: usize) -> Result<(), FileError> {
        let batches = self.checkpoint_batches()?;
        for batches in &batches[..batches.len().saturating_sub(kept)] {
            let path = self.checkpoint(*batches);
            fs::remove_file(&path).map_err(FileError::at("remove", &path))?;
        }
        Ok(())
    }

    /// `losses.jsonl`: how training went on, a line a look at the validation games.
    pub fn losses(&self) -> PathBuf {
        self.root.join("losses.jsonl")
    }

    /// `network.net`: the network that training ends with.
    pub fn network(&self) -> PathBuf {
        self.root.join("network.net")
    }

    /// `book.jsonl`: the positions that a book was built from.
    pub fn book_journal(&self) -> PathBuf {
        self.root.join("book.jsonl")
    }

    /// `opening.book`: the book.
    pub fn book(&self) -> PathBuf {
        self.root.join("opening.book")
    }

    /// `suite.jsonl`: the candidates for openings that were looked at closely.
    pub fn suite_journal(&self) -> PathBuf {
        self.root.join("suite.jsonl")
    }

    /// `openings.epd`: the openings of a suite, as matches take them.
    pub fn suite_epd(&self) -> PathBuf {
        self.root.join("openings.epd")
    }

    /// `openings.pgn`: the same as games from the root.
    pub fn suite_pgn(&self) -> PathBuf {
        self.root.join("openings.pgn")
    }

    /// `suite.json`: how the suite came about.
    pub fn suite_manifest(&self) -> PathBuf {
        self.root.join("suite.json")
    }

    /// `report.md`.
    pub fn report(&self) -> PathBuf {
        self.root.join("report.md")
    }

    /// `report.html`: the same with figures, in one file.
    pub fn report_page(&self) -> PathBuf {
        self.root.join("report.html")
    }

    /// `events.jsonl`: one JSON object a line, in order of time.
    pub fn events(&self) -> PathBuf {
        self.root.join(EVENTS)
    }

    /// First game numbers of one generation's finished shards, ascending; empty when nothing was played.
    ///
    /// # Errors
    /// When the folder exists but cannot be listed.
    pub fn finished_shards(&self, generation: u32) -> Result<Vec<u64>, FileError> {
        let folder = self.selfplay(generation);
        if !folder.exists() {
            return Ok(Vec::new());
        }
        Ok(list_shards(&folder)?.finished())
    }

    fn lock(&self) -> PathBuf {
        self.root.join(LOCK)
    }
}

fn numbered(generation: u32) -> String {
    format!("{generation:03}")
}

fn toml_name(generation: u32) -> String {
    format!("{}.toml", numbered(generation))
}

fn network_name(generation: u32) -> String {
    format!("{}.net", numbered(generation))
}

/// A run that this process, and no other, may write to; or one that it has joined to play a part. Gives up its lock when dropped
/// or killed.
///
/// Dereferences to [`RunPaths`] for the names.
#[derive(Debug)]
pub struct RunDir {
    paths: RunPaths,
    resumed: bool,
    _lock: File,
}

impl Deref for RunDir {
    type Target = RunPaths;

    fn deref(&self) -> &RunPaths {
        &self.paths
    }
}

impl RunDir {
    /// Makes the run at `path`, or takes up the run that is there if it was started with the same plan.
    ///
    /// Plans are compared as TOML: comments, order and spacing do not matter, and a key that the recorded plan lacks has its default.
    /// A resumed run that was last written by another program version gets a further line in `version.txt`.
    ///
    /// # Errors
    /// [`RunDirError::PlanDiffers`] (nothing was changed), [`RunDirError::Locked`] when another process
    /// writes there, [`RunDirError::NotARun`] for a folder with other things in it,
    /// [`RunDirError::File`] when the disk refuses.
    pub fn create_or_resume(path: &Path, plan: impl Into<PlanText>, version: &str) -> Result<Self, RunDirError> {
        Self::open(path, &plan.into(), version, None)
    }

    /// As [`Self::create_or_resume`], but the whole number at the dotted `key` may be greater than it was: the run keeps the new
    /// plan and goes on. For numbers that only say when to end.
    ///
    /// # Errors
    /// As [`Self::create_or_resume`].
    pub fn create_or_lengthen(
        path: &Path,
        plan: impl Into<PlanText>,
        version: &str,
        key: &'static str,
    ) -> Result<Self, RunDirError> {
        Self::open(path, &plan.into(), version, Some(key))
    }

    fn open(path: &Path, plan: &PlanText, version: &str, grows: Option<&str>) -> Result<Self, RunDirError> {
        refuse_foreign_folder(path)?;
        create_folder(path)?;
        let paths = RunPaths::new(path);
        let lock = take_lock(&paths, File::try_lock)?;
        let resumed = paths.plan().exists();
        let lengthened = resumed && is_longer_plan(&paths.plan(), plan, grows)?;
        if resumed {
            drop_torn_line(&paths.events())?;
        }
        note_version(&paths.version(), version)?;
        if !resumed || lengthened {
            write_atomically(&paths.plan(), plan.text().as_bytes())?;
        }
        Ok(Self { paths, resumed, _lock: lock })
    }

    /// Joins the run at `path`, with others, to play a part of it: makes it if it is not there, and changes nothing in it but what
    /// all parts write alike. While parts are played, nobody else may write to the run.
    ///
    /// # Errors
    /// As [`Self::create_or_resume`]; and [`RunDirError::OtherVersion`], since games of two versions may differ.
    pub fn join(path: &Path, plan: impl Into<PlanText>, version: &str) -> Result<Self, RunDirError> {
        let plan = plan.into();
        refuse_foreign_folder(path)?;
        create_folder(path)?;
        let paths = RunPaths::new(path);
        let lock = take_lock(&paths, File::try_lock_shared)?;
        let resumed = paths.plan().exists();
        write_once(&paths.version(), format!("{}\n", version.trim()).as_bytes())?;
        write_once(&paths.plan(), plan.text().as_bytes())?;
        is_longer_plan(&paths.plan(), &plan, None)?;
        let run = Self { paths, resumed, _lock: lock };
        let recorded = run.versions()?.pop().unwrap_or_default();
        if recorded != version.trim() {
            return Err(RunDirError::OtherVersion {
                path: path.to_owned(),
                recorded,
                asked: version.trim().to_owned(),
            });
        }
        Ok(run)
    }

    /// The run was there already and is being continued.
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// The program versions that have written to the run, oldest first; more than one is worth a warning.
    ///
    /// # Errors
    /// When `version.txt` cannot be read.
    pub fn versions(&self) -> Result<Vec<String>, FileError> {
        let text = read_text(&self.version())?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// The version that began the run; what is made of it says so, whichever version finishes it.
    ///
    /// # Errors
    /// When `version.txt` cannot be read.
    pub fn began_by(&self) -> Result<String, FileError> {
        Ok(self.versions()?.into_iter().next().unwrap_or_default())
    }

    /// Removes what killed writers left: every `*.tmp` file of the run, and folders of parts. Returns the removed paths.
    ///
    /// # Errors
    /// When a folder cannot be listed or a file not removed.
    pub fn clean_tmp(&self) -> Result<Vec<PathBuf>, FileError> {
        let mut removed = Vec::new();
        remove_temporary_files(self.root(), &mut removed)?;
        removed.sort();
        Ok(removed)
    }

    /// Appends one line to `events.jsonl`.
    ///
    /// # Errors
    /// When the file cannot be opened or written.
    pub fn append_event(&self, event: &serde_json::Value) -> Result<(), FileError> {
        append_line_inside(&self.events(), &event.to_string())
    }
}

/// A folder that holds anything but the beginnings of a run is not ours to write to.
fn refuse_foreign_folder(path: &Path) -> Result<(), RunDirError> {
    if !path.is_dir() || path.join(PLAN).exists() {
        return Ok(());
    }
    let is_ours = |name: &str| name == LOCK || name == VERSION || name.ends_with(TEMPORARY);
    let foreign = folder_entries(path)?.into_iter().find(|entry| !is_ours(&name_of(entry)));
    match foreign {
        Some(found) => Err(RunDirError::NotARun { path: path.to_owned(), found: name_of(&found) }),
        None => Ok(()),
    }
}

fn take_lock(paths: &RunPaths, lock: impl FnOnce(&File) -> Result<(), TryLockError>) -> Result<File, RunDirError> {
    let path = paths.lock();
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path)
        .map_err(FileError::at("open", &path))?;
    match lock(&file) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(RunDirError::Locked { path: paths.root().to_owned(), holder: lock_holder(&mut file) });
        }
        Err(TryLockError::Error(source)) => return Err(FileError::at("lock", &path)(source).into()),
    }
    file.set_len(0).map_err(FileError::at("empty", &path))?;
    write_bytes(&mut file, format!("process {}\n", std::process::id()).as_bytes(), &path)?;
    Ok(file)
}

/// What the lock's owner wrote into it; only to help a human, so any failure is an empty answer.
fn lock_holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.take(200).read_to_string(&mut text);
    match read {
        Ok(_) if !text.trim().is_empty() => text.trim().to_owned(),
        _ => "another process".to_owned(),
    }
}

/// Whether the plan asked for is the recorded one but for a greater number at the key that may grow; any other plan is refused.
fn is_longer_plan(path: &Path, asked: &PlanText, grows: Option<&str>) -> Result<bool, RunDirError> {
    let differences = asked.differences(&read_text(path)?);
    match &differences[..] {
        [] => Ok(false),
        [only] if grows == Some(only.key.as_str()) && only.has_grown() => Ok(true),
        _ => Err(RunDirError::PlanDiffers { path: path.to_owned(), differences }),
    }
}

/// Adds `version` to the list unless the last line says so already.
fn note_version(path: &Path, version: &str) -> Result<(), FileError> {
    let version = version.trim();
    let mut text = if path.exists() { read_text(path)? } else { String::new() };
    if text.lines().next_back() == Some(version) {
        return Ok(());
    }
    text.push_str(version);
    text.push('\n');
    write_atomically(path, text.as_bytes())
}

fn remove_temporary_files(folder: &Path, removed: &mut Vec<PathBuf>) -> Result<(), FileError> {
    for path in folder_entries(folder)? {
        let is_folder = path.is_dir() && !path.is_symlink();
        if is_folder && !ShardDesk::is_one(&path) {
            remove_temporary_files(&path, removed)?;
        } else if is_temporary(&path) {
            let remove = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            remove.map_err(FileError::at("remove", &path))?;
            removed.push(path);
        }
    }
    Ok(())
}

/// Why a run cannot be created or resumed.
#[derive(Debug, thiserror::Error)]
pub enum RunDirError {
    /// A file or folder could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The run was started with another plan. Nothing was changed.
    #[error(
        "{} was started with another plan; nothing was changed. Choose another folder or the recorded plan.{}",
        path.display(),
        listed(differences)
    )]
    PlanDiffers {
        /// The recorded plan.
        path: PathBuf,
        /// Every key that differs.
        differences: Vec<PlanDifference>,
    },
    /// A part would be played by another version of the program than the rest.
    #[error("{} is a run of version {recorded}: expected that version to play parts of it, got {asked}", path.display())]
    OtherVersion {
        /// The run.
        path: PathBuf,
        /// The version that wrote to it last.
        recorded: String,
        /// The version of this program.
        asked: String,
    },
    /// Another process is writing to the run.
    #[error("{} is in use by {holder}; one process at a time may write to a run", path.display())]
    Locked {
        /// The run.
        path: PathBuf,
        /// What the owner wrote into the lock, for example "process 4711".
        holder: String,
    },
    /// The folder is not empty and was not made by this program.
    #[error("{} is not a run: expected an empty folder or {PLAN} in it, found {found:?}", path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
        /// One of the things in it.
        found: String,
    },
}

impl RunDirError {
    /// Whether the disk has no room: not a mistake of whoever named the folder.
    pub fn is_full_disk(&self) -> bool {
        matches!(self, Self::File(error) if error.source.kind() == io::ErrorKind::StorageFull)
    }
}

fn listed(differences: &[PlanDifference]) -> String {
    differences.iter().map(|difference| format!("\n  {difference}")).collect()
}

#[cfg(test)]
mod tests;
