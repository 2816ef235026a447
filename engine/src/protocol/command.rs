//! What a line of input asks for: text into typed commands. Says nothing about whether moves, positions or files exist.

use std::str::SplitAsciiWhitespace;
use std::time::Duration;

/// One command of a graphical interface.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command<'a> {
    /// An empty line, or a command that is known and needs no answer.
    Nothing,
    /// Who are you?
    Uci,
    /// Are you there?
    IsReady,
    /// The next position is of another game.
    NewGame,
    /// Set a position up.
    Position(Setup<'a>),
    /// Think.
    Go(Go<'a>),
    /// Count leaves to this depth.
    Perft(u32),
    /// End thinking and answer.
    Stop,
    /// End the session.
    Quit,
    /// Change an option.
    SetOption(Assignment<'a>),
    /// Draw the board.
    Draw,
    /// List the legal moves.
    Moves,
    /// Say what the position is worth without searching.
    Evaluate,
    /// List the numbers that the search goes by.
    Params,
}

/// A position and moves from there, not yet looked at.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Setup<'a> {
    /// `None`: the game's own start.
    pub fen: Option<String>,
    /// In text.
    pub moves: Vec<&'a str>,
}

/// An option's name and new value, as they came.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Assignment<'a> {
    pub name: &'a str,
    pub value: Option<&'a str>,
}

/// Limits of thinking.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Go<'a> {
    pub depth: Option<i32>,
    pub nodes: Option<u64>,
    pub move_time: Option<Duration>,
    /// Time left, White's first.
    pub left: [Option<Duration>; 2],
    /// Increments, White's first.
    pub increment: [Duration; 2],
    pub moves_to_go: Option<u32>,
    /// No answer before `stop`.
    pub infinite: bool,
    /// Moves in text; empty: all.
    pub search_moves: Vec<&'a str>,
}

/// Why a line was not understood.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CommandError {
    #[error(
        "expected one of uci, isready, ucinewgame, position, go, stop, quit, setoption, d, moves, eval, params, got {0:?}"
    )]
    Unknown(String),
    #[error("position: expected startpos or fen, got {0}")]
    NoPosition(String),
    #[error("position: expected nothing or moves after the position, got {0:?}")]
    NoMoves(String),
    #[error(
        "go: expected depth, nodes, movetime, wtime, btime, winc, binc, movestogo, infinite, perft or searchmoves, got {0:?}"
    )]
    UnknownLimit(String),
    #[error("go: expected a whole number after {keyword}, got {got}")]
    Number { keyword: String, got: String },
    #[error("go: expected moves after searchmoves, got none")]
    NoSearchMoves,
    #[error("setoption: expected `name <option> value <value>`, got {0}")]
    NoName(String),
}

/// Greatest time that a clock may show: thirty years. Sums of such times stay representable.
const MOST_MILLISECONDS: u64 = 1_000_000_000_000;
/// Greatest depth of a perft.
const MOST_PERFT: u64 = 100;
/// Words that end a list of moves to search.
const LIMITS: [&str; 12] = [
    "depth",
    "nodes",
    "movetime",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "infinite",
    "ponder",
    "perft",
    "searchmoves",
];
/// Characters of the input that a message repeats.
const MOST_REPEATED: usize = 40;

/// Reads a line.
pub(super) fn parse(line: &str) -> Result<Command<'_>, CommandError> {
    let mut words = line.split_ascii_whitespace();
    let Some(first) = words.next() else { return Ok(Command::Nothing) };
    Ok(match first {
        "uci" => Command::Uci,
        "isready" => Command::IsReady,
        "ucinewgame" => Command::NewGame,
        "position" => Command::Position(setup(words)?),
        "go" => return go(words),
        // Pondering is not offered; whoever ponders all the same gets an answer once the guess came true.
        "stop" | "ponderhit" => Command::Stop,
        "quit" => Command::Quit,
        "setoption" => Command::SetOption(assignment(line)?),
        "d" => Command::Draw,
        "moves" => Command::Moves,
        "eval" => Command::Evaluate,
        "params" => Command::Params,
        "debug" | "register" => Command::Nothing,
        other => return Err(CommandError::Unknown(repeated(other))),
    })
}

fn setup<'a>(mut words: SplitAsciiWhitespace<'a>) -> Result<Setup<'a>, CommandError> {
    let fen = match words.next() {
        Some("startpos") => match words.next() {
            None => return Ok(Setup { fen: None, moves: Vec::new() }),
            Some("moves") => None,
            Some(other) => return Err(CommandError::NoMoves(repeated(other))),
        },
        Some("fen") => {
            let fields: Vec<&str> = words.by_ref().take_while(|&word| word != "moves").collect();
            Some(fields.join(" "))
        }
        other => return Err(CommandError::NoPosition(got(other))),
    };
    Ok(Setup { fen, moves: words.collect() })
}

fn go<'a>(words: SplitAsciiWhitespace<'a>) -> Result<Command<'a>, CommandError> {
    let mut go = Go::default();
    let mut words = words.peekable();
    while let Some(keyword) = words.next() {
        let mut value = || number(keyword, words.next());
        match keyword {
            "infinite" | "ponder" => go.infinite = true,
            "depth" => go.depth = Some(i32::try_from(value()?).unwrap_or(i32::MAX)),
            "nodes" => go.nodes = Some(value()?),
            "movetime" => go.move_time = Some(milliseconds(value()?)),
            "wtime" => go.left[0] = Some(milliseconds(value()?)),
            "btime" => go.left[1] = Some(milliseconds(value()?)),
            "winc" => go.increment[0] = milliseconds(value()?),
            "binc" => go.increment[1] = milliseconds(value()?),
            // No moves to go is how some programs say that no control is ahead.
            "movestogo" => go.moves_to_go = u32::try_from(value()?).ok().filter(|&moves| moves > 0),
            "perft" => return Ok(Command::Perft(value()?.min(MOST_PERFT) as u32)),
            "searchmoves" => {
                while let Some(text) = words.next_if(|word| !LIMITS.contains(word)) {
                    go.search_moves.push(text);
                }
                if go.search_moves.is_empty() {
                    return Err(CommandError::NoSearchMoves);
                }
            }
            other => return Err(CommandError::UnknownLimit(repeated(other))),
        }
    }
    Ok(Command::Go(go))
}

fn milliseconds(number: u64) -> Duration {
    Duration::from_millis(number.min(MOST_MILLISECONDS))
}

/// A whole number, as near as sixty-four bits come: a clock may have run below zero, and no limit is too great.
fn number(keyword: &str, word: Option<&str>) -> Result<u64, CommandError> {
    let refused = || CommandError::Number { keyword: keyword.into(), got: got(word) };
    let text = word.ok_or_else(refused)?;
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refused());
    }
    Ok(if text.starts_with('-') { 0 } else { digits.parse().unwrap_or(u64::MAX) })
}

/// Names and values may hold blanks, so they are cut out of the line as they stand.
fn assignment(line: &str) -> Result<Assignment<'_>, CommandError> {
    let rest = line.trim_ascii().strip_prefix("setoption").unwrap_or_default().trim_ascii();
    let refused =
        || CommandError::NoName(if rest.is_empty() { "nothing".into() } else { format!("{:?}", repeated(rest)) });
    let rest_of_name = rest.strip_prefix("name").filter(|rest| rest.starts_with([' ', '\t'])).ok_or_else(refused)?;
    let (name, value) = match rest_of_name.split_once(" value") {
        Some((name, value)) if value.is_empty() || value.starts_with([' ', '\t']) => (name, Some(value.trim_ascii())),
        _ => (rest_of_name, None),
    };
    match name.trim_ascii() {
        "" => Err(refused()),
        name => Ok(Assignment { name, value }),
    }
}

fn got(word: Option<&str>) -> String {
    word.map_or_else(|| "nothing".into(), |word| format!("{:?}", repeated(word)))
}

/// The beginning of what came, for messages.
pub(super) fn repeated(text: &str) -> String {
    let mut characters = text.chars();
    let mut shown: String = characters.by_ref().take(MOST_REPEATED).collect();
    if characters.next().is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_limits() {
        let expected = Go {
            depth: Some(7),
            left: [Some(Duration::from_millis(0)), Some(Duration::from_secs(60))],
            increment: [Duration::ZERO, Duration::from_millis(500)],
            search_moves: vec!["a3a6", "G@e0"],
            ..Go::default()
        };
        let line = "go wtime -20 btime 60000 binc 500 movestogo 0 searchmoves a3a6 G@e0 depth 7";
        assert_eq!(parse(line), Ok(Command::Go(expected)));
        let most = Go { nodes: Some(u64::MAX), depth: Some(i32::MAX), ..Go::default() };
        assert_eq!(parse("go nodes 99999999999999999999999 depth 99999999999999"), Ok(Command::Go(most)));
        assert_eq!(parse("go perft 4"), Ok(Command::Perft(4)));
    }

    #[test]
    fn refuses_what_is_no_limit() {
        for line in ["go depth", "go depth x", "go depth 1.5", "go nodes -", "go dpeth 5", "go searchmoves", "go 5"] {
            assert!(parse(line).is_err(), "{line} was accepted");
        }
    }

    #[test]
    fn reads_positions() {
        let moves = |line| match parse(line) {
            Ok(Command::Position(setup)) => (setup.fen, setup.moves),
            other => panic!("{other:?}"),
        };
        assert_eq!(moves("position startpos"), (None, vec![]));
        assert_eq!(moves("position startpos moves e2e4 e7e5"), (None, vec!["e2e4", "e7e5"]));
        assert_eq!(moves("position  fen 8/8 w  - moves e2e4"), (Some("8/8 w -".into()), vec!["e2e4"]));
        for line in ["position", "position here", "position startpos e2e4"] {
            assert!(parse(line).is_err(), "{line} was accepted");
        }
    }

    #[test]
    fn keeps_blanks_in_values() {
        let option = |line| match parse(line) {
            Ok(Command::SetOption(Assignment { name, value })) => (name, value),
            other => panic!("{other:?}"),
        };
        assert_eq!(option("setoption name Hash value 64"), ("Hash", Some("64")));
        assert_eq!(option("setoption name Clear Hash"), ("Clear Hash", None));
        assert_eq!(
            option("setoption name Weights value my  file value 2.toml "),
            ("Weights", Some("my  file value 2.toml"))
        );
        assert_eq!(option("setoption name Weights value"), ("Weights", Some("")));
        for line in ["setoption", "setoption Hash 5", "setoption name", "setoption name  value 5", "setoption nameHash"]
        {
            assert!(parse(line).is_err(), "{line} was accepted");
        }
    }
}
