//! What a line of XBoard's asks for: text into typed commands. Says nothing about whether moves or games exist.

use crate::protocol::command::repeated;
use std::time::Duration;

/// One command of XBoard's.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Command<'a> {
    /// Known, and nothing has to be done or said.
    Nothing,
    /// Which version of the protocol is spoken.
    Protocol,
    /// A new game of chess, the engine playing Black.
    New,
    /// The game is another one.
    Variant(&'a str),
    /// Play for nobody.
    Force,
    /// Play for the side to move.
    Go,
    /// Play for the other side.
    PlayOther,
    /// The clocks of the whole game.
    Level(Level),
    /// Exactly so long a move.
    SecondsAMove(Duration),
    /// At most so deep.
    Depth(i32),
    /// The engine's clock.
    Time(Duration),
    /// A move of the other side.
    Move(&'a str),
    /// Answer at once.
    MoveNow,
    /// Say that everything before is done.
    Ping(&'a str),
    /// The other side offers a draw.
    Draw,
    /// The game is over.
    Result,
    /// A position.
    SetBoard(&'a str),
    /// What would you play?
    Hint,
    /// What does the book say?
    Book,
    /// Take a move back.
    Undo,
    /// Take two moves back and go on.
    Remove,
    /// Whether to say what is thought.
    Post(bool),
    /// Think without end.
    Analyze,
    /// No more.
    LeaveAnalysis,
    /// How far is it?
    Status,
    /// The other side is a program.
    Computer,
    /// Mebibytes for the table.
    Memory(usize),
    /// An option's name and value.
    Option { name: &'a str, value: Option<&'a str> },
    /// End the session.
    Quit,
}

/// A time control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    /// Moves a session; `None`: all.
    pub moves: Option<u32>,
    pub base: Duration,
    pub increment: Duration,
}

/// Why a line was refused, as XBoard reads it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CommandError {
    #[error("Error (unknown command): {0}")]
    Unknown(String),
    #[error("Error (use setboard): edit")]
    Edit,
    #[error("Error (expected {expected}): {line}")]
    Argument { expected: &'static str, line: String },
}

/// Greatest time of any clock: thirty years.
const MOST_SECONDS: f64 = 1e9;

/// Reads a line.
pub(super) fn parse(line: &str) -> Result<Command<'_>, CommandError> {
    let line = line.trim();
    let (word, rest) = line.split_once(|letter: char| letter.is_ascii_whitespace()).unwrap_or((line, ""));
    let rest = rest.trim();
    let wrong = |expected| CommandError::Argument { expected, line: repeated(line) };
    Ok(match word {
        "protover" => Command::Protocol,
        "new" => Command::New,
        "variant" if rest.is_empty() => return Err(wrong("a variant's name")),
        "variant" => Command::Variant(rest),
        "force" => Command::Force,
        "go" => Command::Go,
        "playother" => Command::PlayOther,
        "level" => Command::Level(level(rest).ok_or_else(|| wrong("moves, minutes and seconds"))?),
        "st" => Command::SecondsAMove(seconds(rest).ok_or_else(|| wrong("seconds"))?),
        "sd" => Command::Depth(rest.parse().ok().filter(|&plies| plies > 0).ok_or_else(|| wrong("plies"))?),
        "time" => Command::Time(hundredths(rest).ok_or_else(|| wrong("hundredths of a second"))?),
        "usermove" if rest.is_empty() => return Err(wrong("a move")),
        "usermove" => Command::Move(rest),
        "?" => Command::MoveNow,
        "ping" => Command::Ping(rest),
        "draw" => Command::Draw,
        "result" => Command::Result,
        "setboard" => Command::SetBoard(rest),
        "hint" => Command::Hint,
        "bk" => Command::Book,
        "undo" => Command::Undo,
        "remove" => Command::Remove,
        "post" => Command::Post(true),
        "nopost" => Command::Post(false),
        "analyze" => Command::Analyze,
        "exit" => Command::LeaveAnalysis,
        "." => Command::Status,
        "computer" => Command::Computer,
        "memory" => Command::Memory(rest.parse().map_err(|_| wrong("mebibytes"))?),
        "option" => {
            let (name, value) = rest.split_once('=').map_or((rest, None), |(name, value)| (name, Some(value.trim())));
            Command::Option { name: name.trim(), value }
        }
        "quit" => Command::Quit,
        "edit" => return Err(CommandError::Edit),
        // Known; nothing follows from them here. Pondering is not offered, so that `hard` and `easy` mean the same.
        "" | "xboard" | "accepted" | "rejected" | "random" | "white" | "black" | "otim" | "hard" | "easy" | "name"
        | "rating" | "ics" | "cores" => Command::Nothing,
        other if looks_like_a_move(other) && rest.is_empty() => Command::Move(other),
        _ => return Err(CommandError::Unknown(repeated(line))),
    })
}

/// Moves come without `usermove` from interfaces that do not know the feature.
fn looks_like_a_move(word: &str) -> bool {
    let mut letters = word.chars();
    let square = |letters: &mut std::str::Chars<'_>| {
        let file = letters.next().is_some_and(|letter| letter.is_ascii_lowercase() || letter == '@');
        file && letters.next().is_some_and(|letter| letter.is_ascii_digit() || letter.is_ascii_lowercase())
    };
    match word.chars().nth(1) {
        Some('@') => true,
        _ => square(&mut letters) && letters.any(|letter| letter.is_ascii_digit()),
    }
}

/// `MOVES MINUTES[:SECONDS] INCREMENT`; what follows the seconds is for later versions.
fn level(text: &str) -> Option<Level> {
    let mut words = text.split_ascii_whitespace();
    let (moves, base, increment) = (words.next()?, words.next()?, words.next()?);
    let numbers = |letter: char| letter.is_ascii_digit() || letter == '.';
    let (minutes, rest) = base.split_at(base.find(|letter| !numbers(letter)).unwrap_or(base.len()));
    let rest = rest.strip_prefix(':').unwrap_or("0");
    let left = rest.split(|letter| !numbers(letter)).next()?;
    let base = minutes.parse::<f64>().ok()? * 60.0 + if left.is_empty() { 0.0 } else { left.parse().ok()? };
    Some(Level {
        moves: Some(moves.parse().ok()?).filter(|&moves| moves > 0),
        base: duration(base)?,
        increment: seconds(increment)?,
    })
}

fn seconds(text: &str) -> Option<Duration> {
    duration(text.parse().ok()?)
}

/// A clock may have run below zero.
fn hundredths(text: &str) -> Option<Duration> {
    duration(text.parse::<f64>().ok()? / 100.0)
}

fn duration(seconds: f64) -> Option<Duration> {
    seconds.is_finite().then(|| Duration::from_secs_f64(seconds.clamp(0.0, MOST_SECONDS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_time_controls() {
        let level = |line| match parse(line) {
            Ok(Command::Level(level)) => (level.moves, level.base.as_millis(), level.increment.as_millis()),
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(level("level 40 5 0"), (Some(40), 300_000, 0));
        assert_eq!(level("level 0 2:30 12"), (None, 150_000, 12_000));
        assert_eq!(level("level 0 0:06 0.1"), (None, 6_000, 100));
        assert_eq!(level("level 40 25+5 0"), (Some(40), 1_500_000, 0));
        assert_eq!(parse("st 0.5"), Ok(Command::SecondsAMove(Duration::from_millis(500))));
        assert_eq!(parse("time -50"), Ok(Command::Time(Duration::ZERO)));
        for line in ["level", "level 40", "level 40 x 0", "level 40 5", "st", "st x", "st inf", "time", "sd 0", "sd x"]
        {
            assert!(matches!(parse(line), Err(CommandError::Argument { .. })), "{line}");
        }
    }

    #[test]
    fn tells_moves_from_words() {
        for line in ["usermove a10a12q", "a10a12q", "e2e4", "G@e1", "g1h1,l1g1", "@@@@"] {
            assert!(matches!(parse(line), Ok(Command::Move(_))), "{line}");
        }
        for line in ["hello", "frobnicate 3", "e2", "pause", "resume", "nps 1000", "exclude e2e4", "5"] {
            assert_eq!(parse(line), Err(CommandError::Unknown(line.into())), "{line}");
        }
    }

    #[test]
    fn reads_options() {
        assert_eq!(parse("option Clear Hash"), Ok(Command::Option { name: "Clear Hash", value: None }));
        let path = Command::Option { name: "Weights", value: Some("/a b=c.toml") };
        assert_eq!(parse("option Weights=/a b=c.toml"), Ok(path));
        assert_eq!(parse("edit").map_err(|error| error.to_string()), Err("Error (use setboard): edit".into()));
    }
}
