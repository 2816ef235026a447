//! The games of a run as PGN: self-play from its shards, matches from their journals.
//!
//! Finds the games and says about them what the run knows; the text is the engine's business
//! ([`fairyforge_engine::pgn`]). The same run gives the same bytes.

use crate::arena::journal::{JournalError, Reader};
use crate::arena::pgn as arena_pgn;
use crate::record::{self, GameRecord, Origin, PositionRecord, RecordError};
use crate::run_dir::{FileError, RunPaths, ShardFiles, list_shards, shard_folders};
use fairyforge_engine::moves::notation::MoveTextError;
use fairyforge_engine::pgn::{Comment, PgnGame, PgnMove, PgnResult, Score};
use fairyforge_engine::position::{FenError, Position, Unobserved, UnpackError};
use fairyforge_engine::search::score::mate_in;
use fairyforge_engine::variant::Variant;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Digits of a digest that name weights: as many as nobody mixes up.
const DIGEST_DIGITS: usize = 12;

/// Which games of a run are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// Self-play first, then matches.
    All,
    /// The games of self-play.
    Selfplay,
    /// The games of matches.
    Matches,
}

/// Whether a game says anything about its moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It was played to its end.
    Played,
    /// A player failed: its result is none.
    Failed,
}

/// How many games were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Of self-play.
    pub selfplay: u64,
    /// Of matches.
    pub matches: u64,
}

/// Why games could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A shard cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The disk refuses.
    #[error(transparent)]
    File(#[from] FileError),
    /// Whoever takes the text refuses.
    #[error("cannot write the games: {0}")]
    Write(#[from] io::Error),
    /// A game that is none.
    #[error("{place}: {reason}")]
    Game {
        /// The game.
        place: String,
        /// What is wrong with it.
        reason: GameError,
    },
    /// The run was played by other rules.
    #[error("{}: expected the rules hash {expected} of {variant}, got {got}; name the variant file", plan.display())]
    Rules {
        /// The run's plan.
        plan: PathBuf,
        /// The variant at hand.
        variant: String,
        /// Its rules hash.
        expected: String,
        /// The plan's.
        got: String,
    },
    /// There are no games.
    #[error("no games in {}: expected a run, a folder of shards or a games-<first>.parquet", .0.display())]
    Nothing(PathBuf),
}

/// What can be wrong with a recorded game.
#[derive(Debug, thiserror::Error)]
pub enum GameError {
    /// A position's bytes.
    #[error(transparent)]
    Position(#[from] UnpackError),
    /// A start position.
    #[error(transparent)]
    Start(#[from] FenError),
    /// A move.
    #[error(transparent)]
    Move(#[from] MoveTextError),
    /// A game of a match.
    #[error(transparent)]
    Match(#[from] arena_pgn::GameError),
}

/// A run, a folder of shards or one shard, whose games are wanted.
pub struct Export<'a> {
    /// Where the games are.
    pub source: &'a Path,
    /// The game they are games of.
    pub variant: &'a Arc<Variant>,
    /// Which of them are wanted.
    pub part: Part,
}

impl Export<'_> {
    /// Number of shards and journals that hold the games.
    ///
    /// # Errors
    /// The source cannot be listed.
    pub fn files(&self) -> Result<u64, ExportError> {
        if ShardFiles::of_file(self.source).is_some() {
            return Ok(1);
        }
        let mut files = 0;
        if self.part != Part::Matches {
            for folder in shard_folders(self.source)? {
                files += list_shards(&folder)?.shards.len();
            }
        }
        if self.part != Part::Selfplay {
            let run = RunPaths::new(self.source);
            files += run.gates()?.len() + usize::from(run.journal().exists());
        }
        Ok(files as u64)
    }

    /// Writes the games and calls `heard` with the number of plies of each shard or journal.
    ///
    /// # Errors
    /// The games cannot be read, were played by other rules or are not there, or `out` refuses.
    pub fn write(&self, out: &mut impl Write, heard: impl FnMut(u64)) -> Result<Exported, ExportError> {
        let exported = self.each(|game, _| Ok(game.write(out)?), heard)?;
        out.flush()?;
        Ok(exported)
    }

    /// Gives the games to `take`, in their order, and calls `heard` with the number of plies of each shard or journal.
    ///
    /// # Errors
    /// The games cannot be read, were played by other rules or are not there, or `take` refuses one.
    pub fn each(
        &self,
        mut take: impl FnMut(PgnGame, Standing) -> Result<(), ExportError>,
        mut heard: impl FnMut(u64),
    ) -> Result<Exported, ExportError> {
        let mut exported = Exported::default();
        if self.part != Part::Matches {
            exported.selfplay = self.selfplay(&mut take, &mut heard)?;
        }
        if self.part != Part::Selfplay {
            exported.matches = self.matches(&mut take, &mut heard)?;
        }
        if exported == Exported::default() {
            return Err(ExportError::Nothing(self.source.to_owned()));
        }
        Ok(exported)
    }

    fn selfplay(
        &self,
        take: &mut impl FnMut(PgnGame, Standing) -> Result<(), ExportError>,
        heard: &mut impl FnMut(u64),
    ) -> Result<u64, ExportError> {
        let rules_hash = Some(self.variant.rules_hash());
        let mut games = 0;
        let mut write = |shard: record::Shard| {
            let mut plies = 0;
            for record in &shard.games {
                let game = self.selfplay_game(record, &shard.header.origin)?;
                plies += game.moves.len() as u64;
                take(game, Standing::Played)?;
                games += 1;
            }
            heard(plies);
            Ok::<_, ExportError>(())
        };
        if let Some(files) = ShardFiles::of_file(self.source) {
            write(record::read_shard(&files, rules_hash)?)?;
        } else if !shard_folders(self.source)?.is_empty() {
            for shard in record::shards(self.source, rules_hash)? {
                write(shard?)?;
            }
        }
        Ok(games)
    }

    /// The random plies of the opening are not recorded, so a game begins with the first position that was searched.
    fn selfplay_game(&self, record: &GameRecord, origin: &Origin) -> Result<PgnGame, ExportError> {
        let place = || format!("{}, game {}", self.source.display(), record.game);
        let fault = |reason| ExportError::Game { place: place(), reason };
        let start = match record.positions.first() {
            Some(first) => Position::unpack(self.variant, &first.packed).map_err(|error| fault(error.into()))?,
            None => Position::from_fen(self.variant, &record.start_fen).map_err(|error| fault(error.into()))?,
        };
        let moves = record.positions.iter().map(|searched| (searched.mv.as_str(), said(searched)));
        let mut game = played(start, moves).map_err(|error| fault(error.into()))?;
        game.result = PgnResult::from_white_points(record.result);
        let player = format!("fairyforge {}, weights {}", origin.engine, shortened(&origin.weights));
        let round = record.game.to_string();
        tag(&mut game, "Event", &format!("self-play, seed {}", origin.run_seed));
        tag(&mut game, "Round", &round);
        tag(&mut game, "White", &player);
        tag(&mut game, "Black", &player);
        tag(&mut game, "Termination", &record.termination);
        if record.random_plies > 0 {
            tag(&mut game, "RandomPlies", &record.random_plies.to_string());
        }
        if !record.imbalance.is_empty() {
            tag(&mut game, "Imbalance", &record.imbalance);
        }
        Ok(game)
    }

    fn matches(
        &self,
        take: &mut impl FnMut(PgnGame, Standing) -> Result<(), ExportError>,
        heard: &mut impl FnMut(u64),
    ) -> Result<u64, ExportError> {
        let run = RunPaths::new(self.source);
        if !self.source.is_dir() {
            return Ok(0);
        }
        let mut games = 0;
        let mut write = |journal: &Path, event: &str| {
            let mut plies = 0;
            let reader = Reader::open(journal)?;
            let header = reader.header().clone();
            for entry in reader {
                let entry = entry?;
                let place = || format!("{}, {}", journal.display(), entry.number());
                let game = arena_pgn::game(self.variant, &header, event, &entry)
                    .map_err(|reason| ExportError::Game { place: place(), reason: reason.into() })?;
                plies += game.moves.len() as u64;
                take(game, if entry.fault.is_some() { Standing::Failed } else { Standing::Played })?;
                games += 1;
            }
            heard(plies);
            Ok::<_, ExportError>(())
        };
        let plan = SavedPlan::read(&run)?;
        for (candidate, parent) in run.gates()? {
            plan.check_rules(&run, self.variant)?;
            write(&run.gate(candidate, parent).journal, &plan.gate(candidate, parent))?;
        }
        if run.journal().exists() {
            plan.check_rules(&run, self.variant)?;
            write(&run.journal(), &plan.meeting())?;
        }
        Ok(games)
    }
}

/// What a run's plan says about its matches.
struct SavedPlan {
    table: toml::Table,
}

impl SavedPlan {
    /// A folder without a plan has no matches, so an empty plan will do.
    fn read(run: &RunPaths) -> Result<Self, ExportError> {
        let text = |path: PathBuf| match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            read => read.map_err(FileError::at("read", &path)),
        };
        Ok(Self { table: text(run.plan())?.parse().unwrap_or_default() })
    }

    fn text(&self, key: &str) -> String {
        match self.table.get(key) {
            Some(toml::Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => "?".into(),
        }
    }

    fn check_rules(&self, run: &RunPaths, variant: &Variant) -> Result<(), ExportError> {
        let (expected, got) = (variant.rules_hash().to_owned(), self.text("rules_hash"));
        if expected == got {
            return Ok(());
        }
        Err(ExportError::Rules { plan: run.plan(), variant: variant.name().into(), expected, got })
    }

    fn gate(&self, candidate: u32, parent: u32) -> String {
        format!("gate {candidate:03} against {parent:03}, seed {}", self.text("seed"))
    }

    fn meeting(&self) -> String {
        format!("match, seed {}", self.text("seed"))
    }
}

/// The variant of the run at `source` by the name that its plan or its shards give; `None` if neither says.
///
/// # Errors
/// The shards cannot be read.
pub fn variant_named(source: &Path) -> Result<Option<String>, ExportError> {
    if let Some(files) = ShardFiles::of_file(source) {
        return Ok(Some(record::read_shard(&files, None)?.header.origin.variant));
    }
    let plan = SavedPlan::read(&RunPaths::new(source))?;
    if let Some(name) = plan.table.get("variant").and_then(toml::Value::as_str) {
        return Ok(Some(name.to_owned()));
    }
    if !source.is_dir() || shard_folders(source)?.is_empty() {
        return Ok(None);
    }
    let first = record::shards(source, None)?.next().transpose()?;
    Ok(first.map(|shard| shard.header.origin.variant))
}

fn played<'a>(start: Position, moves: impl Iterator<Item = (&'a str, Comment)>) -> Result<PgnGame, MoveTextError> {
    let mut position = start.clone();
    let mut game = PgnGame::new(start);
    for (text, comment) in moves {
        let mv = position.parse_move(text)?;
        position.make(mv, &mut Unobserved);
        game.moves.push(PgnMove { mv, nags: Vec::new(), comment });
    }
    Ok(game)
}

/// What the search said, as a comment.
fn said(searched: &PositionRecord) -> Comment {
    let score = match mate_in(i32::from(searched.score)) {
        Some(moves) => Score::Mate { wins: moves > 0, moves: moves.unsigned_abs() },
        None => Score::Centipawns(i32::from(searched.score)),
    };
    Comment { score: Some(score), nodes: Some(u64::from(searched.nodes)), ..Comment::default() }
}

fn tag(game: &mut PgnGame, name: &str, value: &str) {
    game.tags.push((name.into(), value.into()));
}

/// A digest cut short; a word as it is.
fn shortened(weights: &str) -> &str {
    let is_digest = weights.len() == 64 && weights.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_digest { &weights[..DIGEST_DIGITS] } else { weights }
}
