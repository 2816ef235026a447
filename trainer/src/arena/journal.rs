//! The journal of a match: a line that says what it is, then a line a game, appended and synced before the game counts.
//! It is the only truth about a match; tallies, tests, tables and PGN are made from it.
//!
//! Lines stand in the order in which games ended; [`Journal::put_in_order`] writes them by their numbers once all are
//! there, so that equal matches leave equal files. In memory are numbers and results only, never moves. The format is
//! told in `docs/formats/journal.md`.

use super::schedule::GameNumber;
use super::statistics::GameResult;
use crate::checksum;
use crate::play::FaultKind;
use crate::run_dir::{FileError, PartFiles, append_lines, continue_lines, stream_atomically};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Version of the format.
const FORMAT: u32 = 2;
/// Games that are read before they are written, where a journal takes in others.
const TAKEN_AT_ONCE: usize = 256;
/// Longest line that is read, in bytes: a game of many thousand moves.
const MOST_LINE: u64 = 16 << 20;

/// The first line: who plays what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Format version.
    pub journal: u32,
    /// The variant's name.
    pub variant: String,
    /// Its rules hash.
    pub rules_hash: String,
    /// Seed of the openings.
    pub seed: u64,
    /// Who plays; games name players by their place here.
    pub players: Vec<JournalPlayer>,
}

/// A player of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalPlayer {
    /// What tables call it.
    pub name: String,
    /// The program: ours, or what an outside one calls itself.
    pub engine: String,
    /// What it may spend on a move, in words.
    pub limits: String,
    /// The settings in force as the engine itself tells them.
    pub effective: BTreeMap<String, String>,
}

/// A game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameEntry {
    /// Number of the pair; with seed and book it decides players and opening.
    pub pair: u64,
    /// 0 or 1: the first or second game of the pair.
    pub game: u8,
    /// Who is White, as a place in the header's list.
    pub white: usize,
    /// Who is Black.
    pub black: usize,
    /// The position from which the players play.
    pub fen: String,
    /// Plies of the opening before it.
    pub plies: u16,
    /// 1 White won, 0 draw, −1 Black won.
    pub result: i8,
    /// How it ended.
    pub termination: String,
    /// Who failed, if somebody did: such a pair enters no statistic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<EntryFault>,
    /// The moves in coordinate notation, separated by spaces.
    pub moves: String,
    /// The score of each move in centipawns, from its mover's view; `null` where none was told.
    pub scores: Vec<Option<i32>>,
    /// The depth of each move's search in plies.
    pub depths: Vec<u32>,
    /// The time of each move in milliseconds, where somebody played on time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milliseconds: Option<Vec<u64>>,
}

/// A failure that ended a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryFault {
    /// Who failed, as a place in the header's list.
    pub player: usize,
    /// How.
    pub kind: FaultKind,
    /// What was seen.
    pub detail: String,
}

/// What tallies need of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameSummary {
    /// Which game.
    pub number: GameNumber,
    /// Who was White.
    pub white: usize,
    /// Who was Black.
    pub black: usize,
    /// The result for White.
    pub result: GameResult,
    /// Who failed and how, if somebody did.
    pub fault: Option<(usize, FaultKind)>,
    /// Moves played.
    pub plies: usize,
    /// A number that is the same for games of the same opening and moves, and hardly ever for others.
    pub content: u64,
}

impl GameEntry {
    /// Which game it is.
    pub const fn number(&self) -> GameNumber {
        GameNumber { pair: self.pair, game: self.game }
    }

    /// The result for White.
    pub const fn white_result(&self) -> GameResult {
        match self.result {
            1.. => GameResult::Win,
            0 => GameResult::Draw,
            _ => GameResult::Loss,
        }
    }

    fn content(&self) -> u64 {
        checksum::number(&[self.fen.as_bytes(), b"\n", self.moves.as_bytes()])
    }

    /// What tallies need.
    pub fn summary(&self) -> GameSummary {
        GameSummary {
            number: self.number(),
            white: self.white,
            black: self.black,
            result: self.white_result(),
            fault: self.fault.as_ref().map(|fault| (fault.player, fault.kind)),
            plies: self.scores.len(),
            content: self.content(),
        }
    }
}

/// Why a journal was refused.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The disk refuses.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line is not what it should be.
    #[error("{}, line {line}: expected {expected}, got {got}", path.display())]
    Line {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What should stand there.
        expected: String,
        /// What does.
        got: String,
    },
    /// It belongs to another match.
    #[error("{}: expected {what} {expected}, got {got}; games played under different conditions do not belong together", path.display())]
    OtherMatch {
        /// The journal.
        path: PathBuf,
        /// What differs.
        what: String,
        /// As it is now.
        expected: String,
        /// As it was.
        got: String,
    },
}

/// Where a line begins, and its length with its end, in bytes.
type Span = (u64, u64);

/// A journal being written.
pub struct Journal {
    path: PathBuf,
    /// Bytes of the header's line.
    header: u64,
    /// Bytes in all.
    length: u64,
    /// Where each game's line is.
    lines: BTreeMap<GameNumber, Span>,
}

impl Journal {
    /// Opens a journal, or begins one, and returns what it holds already: games of pairs below `pairs`.
    /// A line cut off by a crash is dropped.
    ///
    /// # Errors
    /// The file cannot be read or written, is damaged, or belongs to a match of other players or rules.
    pub fn open(path: &Path, header: &Header, pairs: u64) -> Result<(Self, Vec<GameSummary>), JournalError> {
        let mut journal = Self { path: path.to_owned(), header: 0, length: 0, lines: BTreeMap::new() };
        let mut games = Vec::new();
        if path.exists() {
            let mut reader = Reader::open_torn(path)?;
            if let Some(found) = &reader.header {
                header.agrees_with(found, path)?;
            }
            journal.header = reader.whole;
            while let Some((span, entry)) = reader.next_entry()? {
                if entry.pair >= pairs {
                    let expected = format!("a pair below {pairs}");
                    return Err(reader.fault(reader.line, &expected, entry.number().to_string()));
                }
                journal.lines.insert(entry.number(), span);
                games.push(entry.summary());
            }
            journal.length = reader.whole;
            shorten(path, reader.whole)?;
        }
        if journal.length == 0 {
            let line = to_line(header);
            journal.header = line.len() as u64 + 1;
            journal.length = journal.header;
            append_lines(path, &[line])?;
        }
        Ok((journal, games))
    }

    /// Takes in the games that were played for it elsewhere and removes the files that they waited in; returns those that are new.
    ///
    /// # Errors
    /// A file cannot be read, is damaged, or belongs to another match.
    pub fn take_in(
        &mut self,
        parts: &PartFiles,
        header: &Header,
        pairs: u64,
    ) -> Result<Vec<GameSummary>, JournalError> {
        let mut new = Vec::new();
        for path in parts.all()? {
            let mut reader = Reader::open_of(&path, header)?.peekable();
            while reader.peek().is_some() {
                let games: Vec<GameEntry> = reader.by_ref().take(TAKEN_AT_ONCE).collect::<Result<_, _>>()?;
                // Two attempts at one part may both have played a game.
                let is_new = |game: &GameEntry| game.pair < pairs && !self.lines.contains_key(&game.number());
                let games: Vec<GameEntry> = games.into_iter().filter(is_new).collect();
                new.extend(games.iter().map(GameEntry::summary));
                self.append(&games)?;
            }
        }
        parts.remove()?;
        Ok(new)
    }

    /// The games that are there.
    pub fn numbers(&self) -> BTreeSet<GameNumber> {
        self.lines.keys().copied().collect()
    }

    /// Adds games, on disk and synced when this returns.
    ///
    /// # Errors
    /// The lines cannot be written; none of them is there then.
    pub fn append(&mut self, entries: &[GameEntry]) -> Result<(), FileError> {
        let lines: Vec<String> = entries.iter().map(to_line).collect();
        continue_lines(&self.path, &lines)?;
        for (entry, line) in entries.iter().zip(&lines) {
            let length = line.len() as u64 + 1;
            self.lines.insert(entry.number(), (self.length, length));
            self.length += length;
        }
        Ok(())
    }

    /// Once all is played: writes the games in order, without those of pairs from `end` on.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn put_in_order(&mut self, end: u64) -> Result<(), FileError> {
        self.lines.retain(|number, _| number.pair < end);
        let in_order = |next, &(at, length): &Span| (at == next).then_some(at + length);
        if self.lines.values().try_fold(self.header, in_order) == Some(self.length) {
            return Ok(());
        }
        let path = self.path.clone();
        let mut old = File::open(&path).map_err(FileError::at("open", &path))?;
        let mut spans = std::iter::once((0, self.header)).chain(self.lines.values().copied());
        stream_atomically(&path, |new| {
            spans.try_for_each(|(at, length)| copy(&mut old, at, length, new)).map_err(FileError::at("rewrite", &path))
        })?;
        self.length = self.header;
        for span in self.lines.values_mut() {
            span.0 = self.length;
            self.length += span.1;
        }
        Ok(())
    }
}

fn copy(from: &mut File, at: u64, length: u64, to: &mut impl Write) -> std::io::Result<()> {
    from.seek(SeekFrom::Start(at))?;
    std::io::copy(&mut from.take(length), to).map(drop)
}

fn shorten(path: &Path, whole: u64) -> Result<(), FileError> {
    let file = OpenOptions::new().write(true).open(path).map_err(FileError::at("open", path))?;
    if file.metadata().map_err(FileError::at("look at", path))?.len() == whole {
        return Ok(());
    }
    file.set_len(whole).map_err(FileError::at("shorten", path))?;
    file.sync_all().map_err(FileError::at("sync", path))
}

fn to_line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("strings and numbers serialise")
}

impl Header {
    /// A header of this format.
    pub fn new(variant: &fairyforge_engine::variant::Variant, seed: u64, players: Vec<JournalPlayer>) -> Self {
        let (name, hash) = (variant.name().to_owned(), variant.rules_hash().to_owned());
        Self { journal: FORMAT, variant: name, rules_hash: hash, seed, players }
    }

    /// The players' names.
    pub fn names(&self) -> Vec<String> {
        self.players.iter().map(|player| player.name.clone()).collect()
    }

    fn agrees_with(&self, found: &Self, path: &Path) -> Result<(), JournalError> {
        let differs = |what: &str, expected: String, got: String| {
            let path = path.to_owned();
            if expected == got {
                Ok(())
            } else {
                Err(JournalError::OtherMatch { path, what: what.into(), expected, got })
            }
        };
        differs("the variant", self.variant.clone(), found.variant.clone())?;
        differs("the rules hash", self.rules_hash.clone(), found.rules_hash.clone())?;
        differs("the seed", self.seed.to_string(), found.seed.to_string())?;
        differs("the number of players", self.players.len().to_string(), found.players.len().to_string())?;
        for (now, then) in self.players.iter().zip(&found.players) {
            differs("the player", now.name.clone(), then.name.clone())?;
            differs(&format!("the program of {}", now.name), now.engine.clone(), then.engine.clone())?;
            differs(&format!("the limits of {}", now.name), now.limits.clone(), then.limits.clone())?;
            let settings = |player: &JournalPlayer| format!("{:?}", player.effective);
            differs(&format!("the settings in force of {}", now.name), settings(now), settings(then))?;
        }
        Ok(())
    }
}

/// Reads a journal game by game, in the order of its lines. A last line without its end is what a killed writer left,
/// and does not count.
pub struct Reader {
    path: PathBuf,
    header: Option<Header>,
    input: BufReader<File>,
    line: usize,
    /// Bytes of the whole lines read so far.
    whole: u64,
    seen: BTreeMap<GameNumber, usize>,
}

impl Reader {
    /// Opens a journal.
    ///
    /// # Errors
    /// The file cannot be read, or does not begin like a journal.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let reader = Self::open_torn(path)?;
        match reader.header {
            Some(_) => Ok(reader),
            None => Err(reader.fault(1, "the first line of a journal", "an empty file".into())),
        }
    }

    /// As [`Self::open`]; the journal must be of the match that a header describes. One that holds no whole header yet has no games.
    ///
    /// # Errors
    /// As [`Self::open`], and it belongs to another match.
    pub fn open_of(path: &Path, header: &Header) -> Result<Self, JournalError> {
        let reader = Self::open_torn(path)?;
        if let Some(found) = &reader.header {
            header.agrees_with(found, path)?;
        }
        Ok(reader)
    }

    /// As [`Self::open`], but the file may be empty or hold half a header.
    fn open_torn(path: &Path) -> Result<Self, JournalError> {
        let input = BufReader::new(File::open(path).map_err(FileError::at("open", path))?);
        let mut reader = Self { path: path.to_owned(), header: None, input, line: 0, whole: 0, seen: BTreeMap::new() };
        if let Some(text) = reader.next_line()? {
            let what = format!("the header of a journal of format {FORMAT}");
            let header: Header =
                serde_json::from_str(&text).map_err(|error| reader.fault(1, &what, error.to_string()))?;
            if header.journal != FORMAT {
                return Err(reader.fault(1, &what, format!("format {}", header.journal)));
            }
            reader.header = Some(header);
        }
        Ok(reader)
    }

    /// What the first line says.
    ///
    /// # Panics
    /// Never for a journal from [`Self::open`], which refuses a file without it.
    pub fn header(&self) -> &Header {
        self.header.as_ref().expect("checked when opened")
    }

    fn next_entry(&mut self) -> Result<Option<(Span, GameEntry)>, JournalError> {
        let at = self.whole;
        let Some(text) = self.next_line()? else { return Ok(None) };
        let fault = |got: String| self.fault(self.line, "a game", got);
        let entry: GameEntry = serde_json::from_str(&text).map_err(|error| fault(error.to_string()))?;
        self.check(&entry).map_err(fault)?;
        if let Some(earlier) = self.seen.insert(entry.number(), self.line) {
            return Err(self.fault(
                self.line,
                "a game that is not there yet",
                format!("{} again, as in line {earlier}", entry.number()),
            ));
        }
        Ok(Some(((at, self.whole - at), entry)))
    }

    fn check(&self, entry: &GameEntry) -> Result<(), String> {
        let players = self.header.as_ref().map_or(0, |header| header.players.len());
        if entry.white >= players || entry.black >= players || entry.white == entry.black {
            return Err(format!("players {} and {} of {players}", entry.white, entry.black));
        }
        if entry.game > 1 {
            return Err(format!("game {} of a pair", entry.game));
        }
        if let Some(fault) = entry.fault.as_ref().filter(|fault| ![entry.white, entry.black].contains(&fault.player)) {
            return Err(format!("a failure of player {}, who does not play", fault.player));
        }
        if !(-1..=1).contains(&entry.result) {
            return Err(format!("the result {}", entry.result));
        }
        let moves = entry.moves.split_whitespace().count();
        let times = entry.milliseconds.as_ref().map_or(moves, Vec::len);
        if [entry.scores.len(), entry.depths.len(), times] != [moves; 3] {
            return Err(format!(
                "{moves} moves with {} scores, {} depths and {times} times",
                entry.scores.len(),
                entry.depths.len()
            ));
        }
        Ok(())
    }

    /// The next line that has an end, without it.
    fn next_line(&mut self) -> Result<Option<String>, JournalError> {
        let mut bytes = Vec::new();
        let read = (&mut self.input).take(MOST_LINE).read_until(b'\n', &mut bytes);
        let length = read.map_err(FileError::at("read", &self.path))? as u64;
        if bytes.pop_if(|last| *last == b'\n').is_none() {
            let line = self.line + 1;
            return if length < MOST_LINE {
                Ok(None)
            } else {
                Err(self.fault(line, "a game", "a line without end".into()))
            };
        }
        self.line += 1;
        self.whole += length;
        let line = self.line;
        String::from_utf8(bytes).map(Some).map_err(|error| self.fault(line, "text in UTF-8", error.to_string()))
    }

    fn fault(&self, line: usize, expected: &str, got: String) -> JournalError {
        JournalError::Line { path: self.path.clone(), line, expected: expected.into(), got }
    }
}

impl Iterator for Reader {
    type Item = Result<GameEntry, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_entry().map(|found| found.map(|(_, entry)| entry)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairyforge_engine::variant::Variant;

    fn header() -> Header {
        let player = |name: &str| JournalPlayer {
            name: name.into(),
            engine: "fairyforge".into(),
            limits: "5 nodes a move".into(),
            effective: BTreeMap::new(),
        };
        Header::new(&Variant::load("chess").unwrap(), 1, vec![player("A"), player("B")])
    }

    fn entry(pair: u64, game: u8, result: i8) -> GameEntry {
        let (white, black) = if game == 0 { (0, 1) } else { (1, 0) };
        GameEntry {
            pair,
            game,
            white,
            black,
            fen: "8/8 w - - 0 1".into(),
            plies: 4,
            result,
            termination: "checkmate".into(),
            fault: None,
            moves: "a2a3 a7a6".into(),
            scores: vec![Some(5), None],
            depths: vec![3, 0],
            milliseconds: None,
        }
    }

    fn place() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        (folder, path)
    }

    #[test]
    fn survives_a_torn_line_and_sorts() {
        let (_folder, path) = place();
        let (mut journal, _) = Journal::open(&path, &header(), 9).unwrap();
        journal.append(&[entry(3, 0, 1), entry(1, 1, 0)]).unwrap();
        std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + "{\"pair\":2,\"fe").unwrap();
        let (mut journal, games) = Journal::open(&path, &header(), 9).unwrap();
        assert_eq!(games, [entry(3, 0, 1).summary(), entry(1, 1, 0).summary()]);
        assert_eq!(
            journal.numbers().into_iter().collect::<Vec<_>>(),
            [GameNumber { pair: 1, game: 1 }, GameNumber { pair: 3, game: 0 }]
        );
        journal.append(&[entry(1, 0, 0)]).unwrap();
        journal.put_in_order(u64::MAX).unwrap();
        let numbers = || Reader::open(&path).unwrap().map(|entry| entry.unwrap().number()).collect::<Vec<_>>();
        let number = |pair, game| GameNumber { pair, game };
        assert_eq!(numbers(), [number(1, 0), number(1, 1), number(3, 0)]);
        journal.append(&[entry(2, 0, 1)]).unwrap();
        journal.put_in_order(3).unwrap();
        assert_eq!(numbers(), [number(1, 0), number(1, 1), number(2, 0)], "the end is left out");
        journal.append(&[entry(3, 0, 1)]).unwrap();
        assert_eq!(numbers().len(), 4);
    }

    #[test]
    fn a_journal_killed_in_its_first_line_begins_anew() {
        let (_folder, path) = place();
        for torn in ["", "{\"journal\":2,\"var"] {
            std::fs::write(&path, torn).unwrap();
            assert!(Reader::open(&path).is_err());
            let (mut journal, games) = Journal::open(&path, &header(), 9).unwrap();
            assert!(games.is_empty());
            journal.append(&[entry(0, 0, 1)]).unwrap();
            assert_eq!(Reader::open(&path).unwrap().header(), &header());
            assert_eq!(Reader::open(&path).unwrap().count(), 1);
        }
    }

    #[test]
    fn damage_is_named_with_its_line() {
        let (_folder, path) = place();
        let (mut journal, _) = Journal::open(&path, &header(), 9).unwrap();
        journal.append(&[entry(0, 0, 1), entry(0, 1, 1)]).unwrap();
        let whole = std::fs::read_to_string(&path).unwrap();
        for (from, to, told) in [
            ("\"pair\":0,\"game\":1", "\"pear\":0,\"game\":1", "line 3: expected a game, got unknown field `pear`"),
            (
                "\"game\":1",
                "\"game\":0",
                "line 3: expected a game that is not there yet, got pair 0, game 0 again, as in line 2",
            ),
            ("\"game\":1", "\"game\":2", "line 3: expected a game, got game 2 of a pair"),
            ("\"white\":1", "\"white\":2", "line 3: expected a game, got players 2 and 0 of 2"),
            (
                "\"termination\"",
                "\"fault\":{\"player\":7,\"kind\":\"crash\",\"detail\":\"\"},\"termination\"",
                "line 2: expected a game, got a failure of player 7, who does not play",
            ),
            ("[5,null]", "[5]", "line 2: expected a game, got 2 moves with 1 scores, 2 depths and 2 times"),
            ("\"result\":1", "\"result\":2", "line 2: expected a game, got the result 2"),
            ("\"journal\":2", "\"journal\":3", "line 1: expected the header of a journal of format 2, got format 3"),
            ("\"journal\":2", "\"jurnal\":2", "line 1: expected the header of a journal of format 2"),
        ] {
            std::fs::write(&path, whole.replacen(from, to, 1)).unwrap();
            let error = Journal::open(&path, &header(), 9).err().unwrap().to_string();
            assert!(error.contains(told), "{from} → {to}: {error}");
        }
        std::fs::write(&path, whole.replacen("\"seed\":1", "\"seed\":2", 1)).unwrap();
        let error = Journal::open(&path, &header(), 9).err().unwrap().to_string();
        assert!(error.contains("expected the seed 1, got 2"), "{error}");
    }
}
