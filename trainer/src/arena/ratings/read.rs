//! Games for ratings out of files: PGN, of which tags are enough, and journals of matches.
//!
//! Moves are not played through, so games of any variant count, known here or not; `fairyforge pgn check` plays them.

use std::collections::{HashMap, HashSet};
use std::io::BufRead;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::GameTable;
use crate::arena::journal::{GameEntry, JournalError, Reader};
use crate::arena::statistics::GameResult;

/// The ending of journals' names.
const JOURNAL: &str = "jsonl";

/// Why a file cannot be used.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The disk refuses.
    #[error("cannot read {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A journal is damaged.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// What our matches write as `Termination` when a program broke down. A clock that ran out is not among them: in PGN of
/// others that is a loss like any other.
const FAILURES: [&str; 3] = ["crash", "no answer", "illegal move"];

/// What became of the games of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Taken {
    /// Games that count.
    pub games: u64,
    /// Games without a result.
    pub unfinished: u64,
    /// Games whose players are unknown or one and the same.
    pub nameless: u64,
    /// Games of pairs in which a player failed.
    pub faulty: u64,
}

/// Adds the games of a file: a journal if its name ends in `.jsonl`, otherwise PGN.
///
/// # Errors
/// The file cannot be read, or a journal is damaged.
pub fn add_file(table: &mut GameTable, path: &Path) -> Result<Taken, ReadError> {
    let failed = |source| ReadError::File { path: path.to_owned(), source };
    if path.extension().is_some_and(|extension| extension == JOURNAL) {
        return add_journal(table, path);
    }
    let file = std::fs::File::open(path).map_err(failed)?;
    add_pgn(table, std::io::BufReader::new(file)).map_err(failed)
}

/// Adds the games of a journal, without the pairs in which a player failed: they say nothing about strength.
fn add_journal(table: &mut GameTable, path: &Path) -> Result<Taken, ReadError> {
    let faulty = pairs_with_faults(path)?;
    let reader = Reader::open(path)?;
    let players = reader.header().players.clone();
    let mut taken = Taken::default();
    for entry in reader {
        let entry = entry?;
        if faulty.contains(&entry.pair) {
            taken.faulty += 1;
            continue;
        }
        // The number keeps apart pairs that happen to begin alike.
        let opening = format!("{} {}", entry.pair, entry.fen);
        table.add(&players[entry.white].name, &players[entry.black].name, entry.white_result(), &opening);
        taken.games += 1;
    }
    Ok(taken)
}

fn pairs_with_faults(path: &Path) -> Result<HashSet<u64>, JournalError> {
    let fault = |entry: GameEntry| entry.fault.map(|_| entry.pair);
    Reader::open(path)?.filter_map(|entry| entry.map(fault).transpose()).collect()
}

/// Adds the games of a PGN text. A game begins with its first tag; `Event` begins one even where nothing ended the last.
fn add_pgn(table: &mut GameTable, mut text: impl BufRead) -> std::io::Result<Taken> {
    let mut taken = Taken::default();
    let mut tags = Tags::default();
    let mut rounds = Rounds::default();
    let mut in_moves = false;
    let mut in_comment = false;
    let mut line = Vec::new();
    loop {
        line.clear();
        if text.read_until(b'\n', &mut line)? == 0 {
            tags.add_to(table, &mut rounds, &mut taken);
            taken.faulty = table.leave_out_failed();
            taken.games -= taken.faulty;
            return Ok(taken);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_start_matches('\u{feff}').trim();
        match if in_comment { None } else { tags_of(line) } {
            Some(found) => {
                for (name, value) in found {
                    if in_moves || name == "Event" && !tags.is_nothing() {
                        std::mem::take(&mut tags).add_to(table, &mut rounds, &mut taken);
                        in_moves = false;
                    }
                    tags.set(name, value);
                }
            }
            None if line.is_empty() || line.starts_with('%') => {}
            None => {
                in_moves |= !tags.is_nothing();
                in_comment = ends_in_comment(line, in_comment);
            }
        }
    }
}

/// Whether a comment in braces is open after a line. Nothing opens one behind a semicolon.
fn ends_in_comment(line: &str, mut in_comment: bool) -> bool {
    for sign in line.chars() {
        match (sign, in_comment) {
            (';', false) => return false,
            ('{', false) => in_comment = true,
            ('}', true) => in_comment = false,
            _ => {}
        }
    }
    in_comment
}

/// A line of tags, `[Name "value"] [Name "value"]`; `None` if it is anything else.
fn tags_of(line: &str) -> Option<Vec<(&str, String)>> {
    let mut tags = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let (name, quoted) = rest.strip_prefix('[')?.split_once(char::is_whitespace)?;
        let (value, after) = unquoted(quoted.trim_start().strip_prefix('"')?)?;
        tags.push((name, value));
        rest = after.trim_start().strip_prefix(']')?.trim_start();
    }
    (!tags.is_empty()).then_some(tags)
}

/// The text up to a quote, and what comes behind it. A backslash makes the sign behind it part of the text.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut signs = text.char_indices();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(signs.next()?.1),
            _ => value.push(sign),
        }
    }
    None
}

/// The tags of a game that matter here.
#[derive(Default)]
struct Tags {
    any: bool,
    white: Option<String>,
    black: Option<String>,
    result: Option<String>,
    round: Option<String>,
    fen: Option<String>,
    variant: Option<String>,
    termination: Option<String>,
}

impl Tags {
    fn is_nothing(&self) -> bool {
        !self.any
    }

    fn set(&mut self, name: &str, value: String) {
        self.any = true;
        match name {
            "White" => self.white = Some(value),
            "Black" => self.black = Some(value),
            "Result" => self.result = Some(value),
            "Round" => self.round = Some(value),
            "FEN" => self.fen = Some(value),
            "Variant" => self.variant = Some(value),
            "Termination" => self.termination = Some(value),
            _ => {}
        }
    }

    fn add_to(self, table: &mut GameTable, rounds: &mut Rounds, taken: &mut Taken) {
        let result = match self.result.as_deref() {
            Some("1-0") => Some(GameResult::Win),
            Some("0-1") => Some(GameResult::Loss),
            Some("1/2-1/2" | "1/2") => Some(GameResult::Draw),
            _ => None,
        };
        let known = |name: Option<String>| name.filter(|name| !name.is_empty() && name != "?");
        match (known(self.white), known(self.black), result) {
            _ if !self.any => {}
            (_, _, None) => taken.unfinished += 1,
            (Some(white), Some(black), Some(result)) => {
                let opening = match self.fen {
                    Some(fen) => format!("{fen}\n{}", self.variant.unwrap_or_default()),
                    None => rounds.opening(&white, &black, self.round.as_deref()),
                };
                let failed = self.termination.is_some_and(|termination| FAILURES.contains(&&*termination));
                let add = if failed { GameTable::add_failed } else { GameTable::add };
                match add(table, &white, &black, result, &opening) {
                    true => taken.games += 1,
                    false => taken.nameless += 1,
                }
            }
            _ => taken.nameless += 1,
        }
    }
}

/// Which games without a position are a pair: two in a row of the same players and the same round, colours exchanged.
/// Without that nothing says that their openings were the same.
#[derive(Default)]
struct Rounds {
    /// The last game of two players (in order of their names), if it has no partner yet.
    last: HashMap<[String; 2], LoneGame>,
    openings: u64,
}

struct LoneGame {
    white: String,
    round: String,
    opening: String,
}

impl Rounds {
    /// A text that stands for the opening of a game.
    fn opening(&mut self, white: &str, black: &str, round: Option<&str>) -> String {
        // Rounds 3.1 and 3.2 are the two games of round 3.
        let round = round.filter(|round| !matches!(*round, "" | "?" | "-")).map(|round| round.split('.').next());
        let mut players = [white.to_owned(), black.to_owned()];
        players.sort_unstable();
        let Some(round) = round.flatten() else {
            self.last.remove(&players);
            return self.new_opening();
        };
        let partner = self.last.remove(&players).filter(|last| last.round == round && last.white != white);
        if let Some(partner) = partner {
            return partner.opening;
        }
        let opening = self.new_opening();
        let lone = LoneGame { white: white.to_owned(), round: round.to_owned(), opening: opening.clone() };
        self.last.insert(players, lone);
        opening
    }

    fn new_opening(&mut self) -> String {
        self.openings += 1;
        format!("opening {}", self.openings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_enough() {
        let text = "\u{feff}[Event \"x\"]\n[White \"A \\\"1\\\"\"]\n[Black \"B\"]\n[Result \"1-0\"]\n[FEN \"f\"]\n\n1. e4 { a comment\n\
                    [White \"nobody\"]\n } e5 1-0\n\n[White \"B\"]\n[Black \"A \\\"1\\\"\"]\n[FEN \"f\"]\n[Result \"1/2-1/2\"]\n\n\
                    1/2-1/2\n[Event \"y\"]\n[White \"A\"]\n[Black \"B\"]\n[Result \"*\"]\n[Event \"z\"]\n[White \"?\"] [Black \"B\"]\n\
                    [Result \"0-1\"]\n";
        let mut table = GameTable::default();
        let taken = add_pgn(&mut table, text.as_bytes()).unwrap();
        assert_eq!(taken, Taken { games: 2, unfinished: 1, nameless: 1, faulty: 0 });
        assert_eq!(table.players(), ["A \"1\"", "B"]);
        assert_eq!(table.scores(), [(2, 1.5), (2, 0.5)]);
        assert_eq!(table.clusters(), 1, "colours are exchanged and the position is the same");
    }

    #[test]
    fn journals_name_their_players_and_failures_do_not_count() {
        let player = |name| format!("{{\"name\":\"{name}\",\"engine\":\"e\",\"limits\":\"l\",\"effective\":{{}}}}");
        let header = format!(
            "{{\"journal\":2,\"variant\":\"v\",\"rules_hash\":\"h\",\"seed\":1,\"players\":[{},{}]}}\n",
            player("new"),
            player("old")
        );
        let game = |pair, game, result, fault| {
            format!(
                "{{\"pair\":{pair},\"game\":{game},\"white\":{game},\"black\":{},\"fen\":\"f\",\"plies\":0,\"result\":{result},\
                 \"termination\":\"\",{fault}\"moves\":\"\",\"scores\":[],\"depths\":[]}}\n",
                1 - game
            )
        };
        let fault = "\"fault\":{\"player\":1,\"kind\":\"crash\",\"detail\":\"\"},";
        let games = [game(0, 0, 1, ""), game(0, 1, 1, ""), game(1, 0, 1, fault), game(1, 1, 1, "")].concat();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        std::fs::write(&path, format!("{header}{games}{{\"pair\":2,")).unwrap();
        let mut table = GameTable::default();
        let taken = add_file(&mut table, &path).unwrap();
        assert_eq!(taken, Taken { games: 2, faulty: 2, ..Taken::default() });
        assert_eq!(table.players(), ["new", "old"]);
        assert_eq!(table.scores(), [(2, 1.0), (2, 1.0)]);
        std::fs::write(&path, format!("{header}{games}nonsense\n")).unwrap();
        let error = add_file(&mut table, &path).unwrap_err().to_string();
        assert!(error.contains("journal.jsonl, line 6: expected a game"), "{error}");
    }

    #[test]
    fn breakdowns_told_in_pgn_do_not_count() {
        let game = |white, black, termination| {
            format!(
                "[White \"{white}\"]\n[Black \"{black}\"]\n[FEN \"f\"]\n[Result \"1-0\"]\n[Termination \"{termination}\"]\n\n1-0\n\n"
            )
        };
        let text = [game("A", "B", "crash"), game("B", "A", "checkmate"), game("A", "B", "time forfeit")].concat();
        let mut table = GameTable::default();
        let taken = add_pgn(&mut table, text.as_bytes()).unwrap();
        assert_eq!(taken, Taken { games: 1, faulty: 2, ..Taken::default() });
        assert_eq!(table.games().len(), 1);
    }

    #[test]
    fn without_a_position_rounds_make_pairs() {
        let clusters = |games: &[(&str, &str, &str)]| {
            let text: String = games
                .iter()
                .map(|(white, black, round)| {
                    format!(
                        "[White \"{white}\"]\n[Black \"{black}\"]\n[Round \"{round}\"]\n[Result \"1-0\"]\n\n1-0\n\n"
                    )
                })
                .collect();
            let mut table = GameTable::default();
            add_pgn(&mut table, text.as_bytes()).unwrap();
            table.clusters()
        };
        assert_eq!(clusters(&[("A", "B", "1"), ("C", "D", "1"), ("B", "A", "1"), ("D", "C", "1")]), 2);
        assert_eq!(clusters(&[("A", "B", "1.1"), ("B", "A", "1.2"), ("A", "B", "2.1"), ("B", "A", "2.2")]), 2);
        assert_eq!(clusters(&[("A", "B", "1"), ("B", "A", "2")]), 2, "another round");
        assert_eq!(clusters(&[("A", "B", "?"), ("B", "A", "?")]), 2, "nobody knows");
        assert_eq!(clusters(&[("A", "B", "1"), ("A", "B", "1"), ("B", "A", "1"), ("B", "A", "1")]), 3, "sorted");
    }
}
