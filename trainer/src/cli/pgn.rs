//! `fairyforge pgn check | export`.

use super::output::outln;
use super::{Failure, OrBadInput, load_variant};
use crate::pgn::{Export, ExportError, Exported, Part, variant_named};
use crate::progress::Progress;
use crate::run_dir::{FileError, stream_atomically};
use anyhow::anyhow;
use fairyforge_engine::pgn::{NamedVariants, PgnFault, PgnGame, PgnReader, PgnResult};
use fairyforge_engine::variant::Variant;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Standard input or output, where a file could be named.
const STREAM: &str = "-";
/// Files of so many bytes get a progress bar.
const LONG: u64 = 4 * MEBIBYTE;
const MEBIBYTE: u64 = 1 << 20;
/// Bytes read from a file at once.
const BUFFER: usize = 1 << 16;
/// Faults and warnings that JSON lists of a file; all are counted.
const MOST_LISTED: usize = 1_000;

/// Games as PGN.
#[derive(clap::Subcommand)]
pub enum PgnCommand {
    /// Read PGN files and play all their games through: counts, and what is broken with its line and column.
    #[command(
        after_help = "Examples:\n  fairyforge pgn check games.pgn\n  fairyforge pgn check --variant herculean --json *.pgn"
    )]
    Check {
        /// PGN files; `-` is standard input.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Name or file of the variant of games without a `Variant` tag.
        #[arg(long, default_value = "chess")]
        variant: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write the games of a run as PGN.
    #[command(
        after_help = "Examples:\n  fairyforge pgn export data/runs/quickstart --out games.pgn\n  fairyforge pgn export data/runs/quickstart --part matches --out -"
    )]
    Export {
        /// A run, a folder of shards, or one shard's file.
        source: PathBuf,
        /// The file to write; `-` is standard output.
        #[arg(long)]
        out: PathBuf,
        /// Which games.
        #[arg(long, value_enum, default_value_t = Part::All)]
        part: Part,
        /// Name or file of the variant, if the one that the run names is not shipped.
        #[arg(long)]
        variant: Option<String>,
    },
}

pub(super) fn run(command: &PgnCommand) -> Result<(), Failure> {
    match command {
        PgnCommand::Check { files, variant, json } => check(files, variant, *json),
        PgnCommand::Export { source, out, part, variant } => {
            let variant = export_variant(source, variant.as_deref())?;
            export(&Export { source, variant: &variant, part: *part }, out)
        }
    }
}

fn check(files: &[PathBuf], variant: &str, as_json: bool) -> Result<(), Failure> {
    let variant = load_variant(variant)?;
    let mut checked = Vec::new();
    for file in files {
        match check_file(file, &variant) {
            Ok(one) => checked.push(one),
            Err(error) => {
                crate::errln!("{}: cannot read: {error}", file.display());
                checked.push(Checked { file: file.clone(), faults: Found::one(), ..Checked::default() });
            }
        }
    }
    print(&checked, as_json)?;
    let faults: u64 = checked.iter().map(|one| one.faults.count).sum();
    if faults == 0 { Ok(()) } else { Err(Failure::BadInput(anyhow!("{faults} faults in {} files", files.len()))) }
}

/// What was found in a file.
#[derive(Default)]
struct Checked {
    file: PathBuf,
    /// By name of the variant.
    variants: BTreeMap<String, Counts>,
    faults: Found,
    warnings: Found,
}

/// Games and how they ended.
#[derive(Clone, Copy, Default)]
struct Counts {
    games: u64,
    moves: u64,
    white: u64,
    black: u64,
    draws: u64,
    unfinished: u64,
}

/// Things found in a file: all counted, the first listed.
#[derive(Default)]
struct Found {
    count: u64,
    listed: Vec<Value>,
}

impl Found {
    /// A fault that has no place.
    fn one() -> Self {
        Self { count: 1, listed: Vec::new() }
    }

    fn add(&mut self, thing: impl FnOnce() -> Value) {
        self.count += 1;
        if self.listed.len() < MOST_LISTED {
            self.listed.push(thing());
        }
    }
}

impl Counts {
    fn add(&mut self, game: &PgnGame) {
        self.games += 1;
        self.moves += game.moves.len() as u64;
        match game.result {
            PgnResult::WhiteWins => self.white += 1,
            PgnResult::BlackWins => self.black += 1,
            PgnResult::Draw => self.draws += 1,
            PgnResult::Unfinished => self.unfinished += 1,
        }
    }

    fn join(&mut self, other: &Self) {
        self.games += other.games;
        self.moves += other.moves;
        self.white += other.white;
        self.black += other.black;
        self.draws += other.draws;
        self.unfinished += other.unfinished;
    }
}

impl Checked {
    fn hear(&mut self, game: Result<PgnGame, PgnFault>) {
        let file = self.file.display();
        match game {
            Ok(game) => {
                for (place, warning) in &game.warnings {
                    crate::errln!("warning: {file}:{place}: game {}: {warning}", game.number);
                    self.warnings.add(|| found(place.line, place.column, game.number, warning.to_string()));
                }
                self.variants.entry(game.start.variant().name().to_owned()).or_default().add(&game);
            }
            Err(fault) => {
                crate::errln!("{file}:{fault}");
                self.faults.add(|| found(fault.place.line, fault.place.column, fault.game, fault.kind.to_string()));
            }
        }
    }
}

fn found(line: u64, column: u64, game: u64, reason: String) -> Value {
    json!({"line": line, "column": column, "game": game, "reason": reason})
}

fn check_file(file: &Path, variant: &Arc<Variant>) -> io::Result<Checked> {
    let (text, bytes): (Box<dyn Read>, u64) = if file == Path::new(STREAM) {
        (Box::new(io::stdin().lock()), 0)
    } else {
        let opened = File::open(file)?;
        let bytes = opened.metadata()?.len();
        (Box::new(opened), bytes)
    };
    let mut variants = NamedVariants::new(Arc::clone(variant));
    let mut reader = PgnReader::new(BufReader::with_capacity(BUFFER, text), |tag| variants.find(tag));
    let progress = (bytes >= LONG).then(|| Progress::new(&file.display().to_string(), "MiB", bytes.div_ceil(MEBIBYTE)));
    let mut checked = Checked { file: file.to_owned(), ..Checked::default() };
    let (mut shown, mut plies) = (0, 0);
    while let Some(game) = reader.next() {
        plies += game.as_ref().map_or(0, |game| game.moves.len() as u64);
        checked.hear(game);
        if let Some(progress) = &progress
            && reader.bytes_read() / MEBIBYTE > shown
        {
            shown += 1;
            progress.game(std::mem::take(&mut plies));
        }
    }
    progress.iter().for_each(Progress::finish);
    Ok(checked)
}

fn print(checked: &[Checked], as_json: bool) -> Result<(), Failure> {
    let mut variants: BTreeMap<&str, Counts> = BTreeMap::new();
    for (name, counts) in checked.iter().flat_map(|one| &one.variants) {
        variants.entry(name).or_default().join(counts);
    }
    let mut total = Counts::default();
    variants.values().for_each(|counts| total.join(counts));
    if as_json {
        let files: Vec<Value> = checked.iter().map(file_json).collect();
        let variants: BTreeMap<&str, Value> =
            variants.iter().map(|(name, counts)| (*name, counts_json(counts))).collect();
        return outln!("{}", json!({"files": files, "variants": variants, "total": counts_json(&total)}));
    }
    let width = variants.keys().map(|name| name.chars().count()).max().unwrap_or(0).max("variant".len());
    outln!(
        "{:<width$} {:>9} {:>11} {:>9} {:>9} {:>9} {:>9}",
        "variant",
        "games",
        "moves",
        "1-0",
        "0-1",
        "1/2-1/2",
        "*"
    )?;
    for (name, counts) in variants.iter().map(|(name, counts)| (*name, counts)).chain([("all", &total)]) {
        let Counts { games, moves, white, black, draws, unfinished } = counts;
        outln!("{name:<width$} {games:>9} {moves:>11} {white:>9} {black:>9} {draws:>9} {unfinished:>9}")?;
    }
    let sum = |count: fn(&Checked) -> u64| checked.iter().map(count).sum::<u64>();
    outln!(
        "{} files, {} faults, {} warnings",
        checked.len(),
        sum(|one| one.faults.count),
        sum(|one| one.warnings.count)
    )
}

fn file_json(checked: &Checked) -> Value {
    let mut total = Counts::default();
    checked.variants.values().for_each(|counts| total.join(counts));
    json!({
        "file": checked.file,
        "counts": counts_json(&total),
        "fault_count": checked.faults.count,
        "faults": checked.faults.listed,
        "warning_count": checked.warnings.count,
        "warnings": checked.warnings.listed,
    })
}

fn counts_json(counts: &Counts) -> Value {
    let Counts { games, moves, white, black, draws, unfinished } = counts;
    json!({"games": games, "moves": moves, "1-0": white, "0-1": black, "1/2-1/2": draws, "*": unfinished})
}

fn export_variant(source: &Path, variant: Option<&str>) -> Result<Arc<Variant>, Failure> {
    if let Some(name) = variant {
        return load_variant(name);
    }
    let doing = || format!("cannot tell the variant of {}", source.display());
    match variant_named(source).or_bad_input(doing)? {
        Some(name) => load_variant(&name),
        None => Err(ExportError::Nothing(source.to_owned())).or_bad_input(doing),
    }
}

fn export(export: &Export, out: &Path) -> Result<(), Failure> {
    let doing = || format!("cannot export the games of {}", export.source.display());
    let progress =
        Progress::new(&format!("games of {}", export.source.display()), "files", export.files().or_bad_input(doing)?);
    let hear = |plies: u64| progress.game(plies);
    let exported = if out == Path::new(STREAM) {
        export.write(&mut BufWriter::new(io::stdout().lock()), hear).map_err(NotExported::Games)
    } else {
        stream_atomically(out, |file| export.write(file, hear).map_err(NotExported::Games))
    };
    progress.finish();
    let Exported { selfplay, matches } = match exported {
        Ok(exported) => exported,
        Err(NotExported::Games(ExportError::Write(error))) if error.kind() == io::ErrorKind::BrokenPipe => {
            return Err(Failure::NobodyReads);
        }
        Err(NotExported::Games(ExportError::Write(error))) => {
            return Err(Failure::Failed(anyhow::Error::from(error).context(format!("cannot write {}", out.display()))));
        }
        Err(NotExported::File(error)) => return Err(Failure::Failed(error.into())),
        Err(NotExported::Games(error)) => return Err(error).or_bad_input(doing),
    };
    let told = format!("{selfplay} games of self-play, {matches} of matches, in {}", out.display());
    if out == Path::new(STREAM) {
        crate::errln!("{told}");
        return Ok(());
    }
    outln!("{told}")
}

/// Which side of an export failed.
enum NotExported {
    /// The games cannot be read, or the text not be written.
    Games(ExportError),
    /// The file cannot be made.
    File(FileError),
}

impl From<FileError> for NotExported {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}
