//! What a session sets up before anyone thinks: the game, the position with its history, values and memory.
//!
//! Every change is all or nothing: what cannot be done leaves everything as it was and says why.

use super::command::{Go, Setup};
use super::endgames::{Endgames, EndgamesError};
use super::options::{BookSetting, DEFAULT_HASH, DEFAULT_VARIANT};
use super::own_book::{Advice, OwnBook, OwnBookError};
use super::room::has_room_for;
use super::thinking::Task;
use crate::evaluate::network::{Network, NetworkFile, NetworkFileError};
use crate::evaluate::{Judge, Weights, WeightsError};
use crate::game::Game;
use crate::moves::Move;
use crate::moves::notation::MoveTextError;
use crate::position::{FenError, Position};
use crate::search::params::{Param, ParamError, ParamsError};
use crate::search::{Clock, Deadline, Limits, Memory, Params};
use crate::variant::{LoadError, Variant};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Longest file that is read, in bytes: far more than the weights of the largest board ask for.
const MOST_FILE_BYTES: u64 = 4 << 20;

/// The state between commands.
pub(super) struct Engine {
    /// Shipped games that were chosen before, by name: interfaces choose anew before every game.
    met: HashMap<String, Met>,
    /// Paths of games that were read from files, by the files' names.
    files: BTreeMap<String, String>,
    variant: Arc<Variant>,
    game: Game,
    /// What judges where the user chose nothing, or nothing of this game.
    best_known: Judge,
    /// Judges instead, if a file was chosen and is of this game.
    weights: Option<Judge>,
    /// Judges instead of either, if a file was chosen and is of this game.
    network: Option<Judge>,
    /// The chosen network file. It may be one of another variant, waiting for that variant to be chosen.
    network_file: Option<PathBuf>,
    /// The chosen weights file. It may be one of another variant, waiting for that variant to be chosen.
    weights_file: Option<PathBuf>,
    /// The endgame tables of the game, if a folder was chosen.
    endgames: Option<Endgames>,
    book: OwnBook,
    /// What searches go by, whatever the game; a memory is always made with these.
    params: Params,
    hash: usize,
    /// Made when first needed, away while a search uses it.
    memory: Option<Memory>,
}

/// A compiled game with the best that is known to judge it.
#[derive(Clone)]
struct Met {
    variant: Arc<Variant>,
    best_known: Judge,
}

impl Met {
    fn load(name_or_path: &str) -> Result<Self, LoadError> {
        let variant = Arc::new(Variant::load(name_or_path)?);
        Ok(Self { best_known: Judge::best_known(&variant), variant })
    }
}

/// Why a change was refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum EngineError {
    #[error("{0}")]
    Variant(#[from] LoadError),
    #[error("position: {0}")]
    Fen(#[from] FenError),
    #[error("position: {number}. move: {source}")]
    Move { number: usize, source: MoveTextError },
    #[error("go searchmoves: {0}")]
    SearchMove(MoveTextError),
    #[error("weights file {}: {source}", path.display())]
    ReadWeights { path: PathBuf, source: io::Error },
    #[error("{}: {source}", path.display())]
    Weights { path: PathBuf, source: WeightsError },
    #[error("no weights are shipped for {variant}; name a file or {:?}", Weights::A_PRIORI)]
    NotShipped { variant: String },
    #[error("{}: {source}", path.display())]
    Network { path: PathBuf, source: NetworkFileError },
    #[error("search file {}: {source}", path.display())]
    ReadSearchFile { path: PathBuf, source: io::Error },
    #[error("search file {}:\n{source}", path.display())]
    SearchFile { path: PathBuf, source: ParamsError },
    #[error("{0}")]
    Param(#[from] ParamError),
    #[error("{0}")]
    Endgames(#[from] EndgamesError),
    #[error("{0}")]
    Book(#[from] OwnBookError),
    #[error("Hash: expected a size that there is memory for, got {0} MB")]
    NoRoom(usize),
}

impl Engine {
    /// The default game at its start.
    pub fn new() -> Result<Self, LoadError> {
        let met = Met::load(DEFAULT_VARIANT)?;
        Ok(Self {
            game: new_game(&met.variant),
            best_known: met.best_known.clone(),
            weights: None,
            variant: Arc::clone(&met.variant),
            met: HashMap::from([(DEFAULT_VARIANT.to_owned(), met)]),
            files: BTreeMap::new(),
            network: None,
            network_file: None,
            weights_file: None,
            endgames: None,
            book: OwnBook::new(),
            params: Params::default(),
            hash: DEFAULT_HASH,
            memory: None,
        })
    }

    /// The position on the board.
    pub const fn position(&self) -> &Position {
        self.game.position()
    }

    /// The game being played.
    pub const fn game(&self) -> &Game {
        &self.game
    }

    /// Its rules.
    pub const fn variant(&self) -> &Arc<Variant> {
        &self.variant
    }

    /// Size of the table in mebibytes.
    pub const fn hash(&self) -> usize {
        self.hash
    }

    /// Plays a legal move.
    pub fn play(&mut self, mv: Move) {
        self.game.play(mv);
    }

    /// Takes moves back; `false`, and nothing happens, if fewer have been played.
    pub fn take_back(&mut self, moves: usize) -> bool {
        let Some(kept) = self.game.moves().len().checked_sub(moves) else { return false };
        let mut game = Game::new(self.game.start().clone());
        self.game.moves()[..kept].iter().for_each(|&mv| game.play(mv));
        self.game = game;
        true
    }

    /// Begins at this position of the game.
    pub fn begin_at(&mut self, start: Position) {
        self.game = Game::new(start);
    }

    /// The value of the position for the side to move, in centipawns, without search.
    pub fn static_value(&self) -> i32 {
        let position = self.position();
        self.judge().value_of(position)
    }

    /// The network chosen, else the weights chosen, else the best known.
    fn judge(&self) -> Judge {
        self.network.as_ref().or(self.weights.as_ref()).unwrap_or(&self.best_known).clone()
    }

    /// Sets up a position and plays moves from there.
    pub fn set_up(&mut self, setup: &Setup<'_>) -> Result<(), EngineError> {
        let mut game = match &setup.fen {
            None => new_game(&self.variant),
            Some(fen) => Game::new(Position::from_fen(&self.variant, fen)?),
        };
        for (number, text) in (1..).zip(&setup.moves) {
            let mv = game.position().parse_move(text).map_err(|source| EngineError::Move { number, source })?;
            game.play(mv);
        }
        self.game = game;
        Ok(())
    }

    /// Changes the game; the board shows its start. Returns what the user should know of the files chosen before, a line each.
    pub fn set_variant(&mut self, name_or_path: &str) -> Result<Vec<String>, EngineError> {
        let Met { variant, best_known } = self.meet(name_or_path)?;
        self.game = new_game(&variant);
        (self.variant, self.best_known) = (variant, best_known);
        self.forget();
        let weights = self.weights_file.as_deref().map(|path| read_weights(&self.variant, path));
        let network = self.network_file.as_deref().map(|path| read_network(&self.variant, path));
        let mut remarks = Vec::new();
        self.weights = followed(weights, &mut remarks);
        self.network = followed(network, &mut remarks);
        remarks.extend(self.follow_with_endgames());
        remarks.extend(self.book.follow(&self.variant));
        Ok(remarks)
    }

    /// Changes something about the book. Returns what the user should know, a line each.
    pub fn set_book(&mut self, setting: BookSetting) -> Result<Vec<String>, EngineError> {
        Ok(self.book.set(setting, &self.variant)?)
    }

    /// The moves that the book has here, a line each.
    pub fn book_list(&self) -> Vec<String> {
        self.book.list(self.position())
    }

    /// The next position is of another game.
    pub fn begin_game(&mut self) {
        self.book.begin_game();
        self.forget();
    }

    /// The folder chosen before has other tables for another game. Returns what it has.
    fn follow_with_endgames(&mut self) -> Vec<String> {
        let Some(old) = self.endgames.take_if(|endgames| !endgames.are_of(&self.variant)) else { return Vec::new() };
        self.set_endgames(Some(old.path().into())).unwrap_or_else(|error| vec![error.to_string()])
    }

    /// Changes the folder of endgame tables; `None` is no tables. Returns what was found, a line each: first what is used, then what
    /// is wrong with other files.
    pub fn set_endgames(&mut self, path: Option<PathBuf>) -> Result<Vec<String>, EngineError> {
        self.endgames = path.map(|path| Endgames::load(&path, &self.variant)).transpose()?;
        self.forget();
        let told = |endgames: &Endgames| [vec![endgames.summary()], endgames.faults()].concat();
        Ok(self.endgames.as_ref().map(told).unwrap_or_default())
    }

    /// A shipped game from memory if it was chosen before; a file is read anew each time. Names are read in either case,
    /// and a file that was read once may be called by its name.
    fn meet(&mut self, name_or_path: &str) -> Result<Met, LoadError> {
        let called = |name: &&str| name.eq_ignore_ascii_case(name_or_path);
        if let Some(shipped) = Variant::shipped_names().find(called) {
            if let Some(met) = self.met.get(shipped) {
                return Ok(met.clone());
            }
            let met = Met::load(shipped)?;
            self.met.insert(shipped.to_owned(), met.clone());
            return Ok(met);
        }
        let read_before = self.files.iter().find(|(name, _)| called(&name.as_str())).map(|(_, path)| path.clone());
        let path = read_before.unwrap_or_else(|| name_or_path.to_owned());
        let met = Met::load(&path)?;
        self.files.insert(met.variant.name().to_owned(), path);
        Ok(met)
    }

    /// Names of the games that were read from files.
    pub fn games_from_files(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Changes the values; `None` is the best known: a network or weights. A file of another variant is kept in mind until
    /// that is chosen.
    pub fn set_weights(&mut self, path: Option<PathBuf>) -> Result<(), EngineError> {
        let weights = path.as_deref().map(|path| read_weights(&self.variant, path)).transpose();
        if matches!(weights, Ok(_) | Err(EngineError::Weights { source: WeightsError::OtherRules { .. }, .. })) {
            self.weights_file = path;
        }
        self.weights = weights?;
        self.forget();
        Ok(())
    }

    /// Changes the network; `None`: the weights chosen, or the best known. A file of another variant is kept in mind until that is chosen.
    pub fn set_network(&mut self, path: Option<PathBuf>) -> Result<(), EngineError> {
        let network = path.as_deref().map(|path| read_network(&self.variant, path)).transpose();
        if matches!(network, Ok(_) | Err(EngineError::Network { source: NetworkFileError::OtherRules { .. }, .. })) {
            self.network_file = path;
        }
        // One of another game judges nothing here, and what judged before was put away by choosing it.
        self.network = None;
        self.network = network?;
        self.forget();
        Ok(())
    }

    /// Changes all numbers of the search to those of a file; `None`: to the defaults.
    pub fn set_search_file(&mut self, path: Option<PathBuf>) -> Result<(), EngineError> {
        self.set_params(path.map(read_search_file).transpose()?.unwrap_or_default());
        Ok(())
    }

    /// Changes one number of the search.
    pub fn set_param(&mut self, param: &Param, value: i32) -> Result<(), EngineError> {
        let mut params = self.params.clone();
        params.set(param.name, value)?;
        self.set_params(params);
        Ok(())
    }

    /// What was searched by other numbers is forgotten, so the next search is that of a fresh engine with these.
    fn set_params(&mut self, params: Params) {
        if params != self.params {
            self.params = params;
            self.memory = None;
        }
    }

    /// The numbers that the next search goes by, a line each.
    pub fn param_list(&self) -> String {
        let lines: Vec<_> = self.params.values().map(|(row, value)| format!("param {} {value}", row.name)).collect();
        lines.join("\n")
    }

    /// Changes the size of the table, which is empty then.
    pub fn set_hash(&mut self, mebibytes: usize) -> Result<(), EngineError> {
        if !has_room_for(mebibytes) {
            return Err(EngineError::NoRoom(mebibytes));
        }
        self.hash = mebibytes;
        self.memory = None;
        Ok(())
    }

    /// Forgets everything searched.
    pub fn forget(&mut self) {
        if let Some(memory) = &mut self.memory {
            memory.forget();
        }
    }

    /// Takes the memory back that a task took along.
    pub fn give_back(&mut self, memory: Memory) {
        self.memory = Some(memory);
    }

    /// What `go` asks for. The memory goes along.
    pub fn task(&mut self, go: &Go<'_>) -> Result<Task, EngineError> {
        let limits = self.limits(go)?;
        let memory = self.memory.take().unwrap_or_else(|| Memory::new(self.hash, self.params.clone()));
        let ends_by_itself = limits.depth.is_some() || limits.nodes.is_some() || limits.deadline.is_some();
        let waits_for_stop = go.infinite || !ends_by_itself;
        // Whoever analyses, or asks about some moves only, wants to see a search.
        let asks_book = !waits_for_stop && limits.root_moves.is_empty();
        Ok(Task {
            position: self.game.position().clone(),
            earlier: self.game.earlier().to_vec(),
            advice: if asks_book { self.book.advise(&self.game) } else { Advice::default() },
            waits_for_stop,
            limits,
            evaluator: self.judge(),
            endgames: self.endgames.as_ref().map(|endgames| Arc::clone(endgames.tables())),
            memory,
        })
    }

    fn limits(&self, go: &Go<'_>) -> Result<Limits, EngineError> {
        let read = |text: &&str| self.position().parse_move(text).map_err(EngineError::SearchMove);
        let side = self.position().side_to_move().index();
        let clock =
            go.left[side].map(|left| Clock { left, increment: go.increment[side], moves_to_go: go.moves_to_go });
        let deadline = match (go.move_time, clock) {
            _ if go.infinite => None,
            (Some(time), _) => Some(Deadline::fixed(time, &self.params)),
            (None, clock) => clock.map(|clock| Deadline::from_clock(&clock, &self.params)),
        };
        let root_moves = go.search_moves.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Limits { depth: go.depth, nodes: go.nodes, deadline, root_moves })
    }

    /// The game in one line, as variant-aware interfaces read it.
    pub fn introduction(&self) -> String {
        let (variant, topology) = (&self.variant, self.variant.topology());
        let in_hand: u32 = variant.units().map(|unit| u32::from(variant.hand_size(unit))).sum();
        let (files, ranks, start) = (topology.width(), topology.height(), Position::start(variant).fen());
        format!("variant {} files {files} ranks {ranks} pocket {in_hand} startpos {start}", variant.name())
    }

    /// The board with what is known of it.
    pub fn drawing(&self) -> String {
        crate::drawing::text(&self.game)
    }

    /// All legal moves in one line, in alphabetical order, for scripts that compare them.
    pub fn move_list(&self) -> String {
        let position = self.position();
        let mut texts: Vec<String> = position.legal_moves().into_iter().map(|mv| position.move_text(mv)).collect();
        texts.sort();
        format!("Moves: {}", texts.join(" ")).trim_end().into()
    }
}

fn new_game(variant: &Arc<Variant>) -> Game {
    Game::new(Position::start(variant))
}

/// What was chosen for a game before may be of another; then `remarks` tells so.
fn followed(read: Option<Result<Judge, EngineError>>, remarks: &mut Vec<String>) -> Option<Judge> {
    match read? {
        Ok(judge) => Some(judge),
        Err(fault) => {
            remarks.extend([fault.to_string(), "it is not used".into()]);
            None
        }
    }
}

/// Weights of a file, or of the words for those built in or derived from mobility.
fn read_weights(variant: &Variant, path: &Path) -> Result<Judge, EngineError> {
    let weights = if path == Path::new(Weights::A_PRIORI) {
        Weights::a_priori(variant)
    } else if path == Path::new(Weights::SHIPPED) {
        Weights::shipped(variant).ok_or_else(|| EngineError::NotShipped { variant: variant.name().into() })?
    } else {
        let text = read_file(path).map_err(|source| EngineError::ReadWeights { path: path.into(), source })?;
        Weights::read(variant, &text).map_err(|source| EngineError::Weights { path: path.into(), source })?
    };
    Ok(Judge::of_weights(variant, &weights))
}

fn read_network(variant: &Arc<Variant>, path: &Path) -> Result<Judge, EngineError> {
    let file = NetworkFile::load(variant, path);
    file.map(|file| Network::new(file).into()).map_err(|source| EngineError::Network { path: path.into(), source })
}

fn read_search_file(path: PathBuf) -> Result<Params, EngineError> {
    match read_file(&path) {
        Ok(text) => Params::read(&text).map_err(|source| EngineError::SearchFile { path, source }),
        Err(source) => Err(EngineError::ReadSearchFile { path, source }),
    }
}

/// Only regular files of a sensible size: a device or pipe could keep the session waiting for ever.
fn read_file(path: &Path) -> io::Result<String> {
    let metadata = std::fs::metadata(path)?;
    let refused = |reason: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    if !metadata.is_file() {
        return refused("expected a regular file");
    }
    let mut text = String::new();
    std::fs::File::open(path)?.take(MOST_FILE_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_FILE_BYTES {
        return refused("expected at most 4 MiB");
    }
    Ok(text)
}
