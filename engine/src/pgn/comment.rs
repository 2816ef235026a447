//! Comments, and what programs say in them about their search: `{+0.35/12 0.8s 52000n and words}`.

use std::fmt;

/// A comment: what a program found, if it begins with that, and words. White space is single blanks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comment {
    /// The score from the mover's view.
    pub score: Option<Score>,
    /// Depth of the search in plies.
    pub depth: Option<u32>,
    /// Time spent, in milliseconds.
    pub milliseconds: Option<u64>,
    /// Nodes visited.
    pub nodes: Option<u64>,
    /// Everything else.
    pub text: String,
}

/// What a search thought of a move, from the mover's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Hundredths of a pawn, written `+0.35`.
    Centipawns(i32),
    /// Mate in so many full moves, written `+M5`; negative (or `-M0`) for being mated.
    Mate {
        /// Whether the mover mates.
        wins: bool,
        /// Full moves.
        moves: u32,
    },
}

impl Comment {
    /// Reads a comment's text, without braces. Never fails: what is no score is words.
    pub fn read(text: &str) -> Self {
        let mut words = text.split_whitespace().peekable();
        let mut comment = Self::default();
        if let Some((score, depth)) = words.peek().and_then(|word| score_and_depth(word)) {
            words.next();
            (comment.score, comment.depth) = (Some(score), depth);
            comment.milliseconds = words.next_if_some(milliseconds);
            comment.nodes = words.next_if_some(nodes);
        }
        comment.text = words.collect::<Vec<_>>().join(" ");
        comment
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Takes the next word if it can be read as something.
trait NextIfSome {
    fn next_if_some<T>(&mut self, read: impl Fn(&str) -> Option<T>) -> Option<T>;
}

impl<'a, I: Iterator<Item = &'a str>> NextIfSome for std::iter::Peekable<I> {
    fn next_if_some<T>(&mut self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let value = read(self.peek()?)?;
        self.next();
        Some(value)
    }
}

/// `+0.35/12`, `-M3/20`; without a sign or a depth it is a number among words.
fn score_and_depth(word: &str) -> Option<(Score, Option<u32>)> {
    let (score, depth) = match word.trim_end_matches(',').split_once('/') {
        Some((score, depth)) => (score, Some(depth.parse().ok().filter(|_| is_digits(depth))?)),
        None => (word.trim_end_matches(','), None),
    };
    let (negative, size) = match score.strip_prefix('-') {
        Some(size) => (true, size),
        None => (false, score.strip_prefix('+').unwrap_or(score)),
    };
    if size.len() == score.len() && depth.is_none() {
        return None;
    }
    if let Some(moves) = size.strip_prefix('M') {
        let moves = moves.parse().ok().filter(|_| is_digits(moves))?;
        return Some((Score::Mate { wins: !negative, moves }, depth));
    }
    let centipawns = hundredths(size)?;
    Some((Score::Centipawns(if negative { -centipawns } else { centipawns }), depth))
}

/// `0.35` → 35. Two decimals count.
fn hundredths(text: &str) -> Option<i32> {
    let (whole, part) = text.split_once('.')?;
    if !is_digits(whole) || !is_digits(part) || whole.len() > 6 {
        return None;
    }
    let digit = |at: usize| part.as_bytes().get(at).map_or(0, |digit| i32::from(digit - b'0'));
    Some(whole.parse::<i32>().ok()? * 100 + digit(0) * 10 + digit(1))
}

/// `0.8s`, `0.8`, `12`, `1:05`.
fn milliseconds(word: &str) -> Option<u64> {
    let word = word.trim_end_matches(',');
    let text = word.strip_suffix('s').unwrap_or(word);
    let (minutes, seconds) = text.split_once(':').unwrap_or(("0", text));
    let (whole, part) = seconds.split_once('.').unwrap_or((seconds, "0"));
    if [minutes, whole, part].iter().any(|digits| !is_digits(digits)) || minutes.len() > 6 || whole.len() > 9 {
        return None;
    }
    let thousandths = part.bytes().chain([b'0'; 3]).take(3).fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    Some(minutes.parse::<u64>().ok()? * 60_000 + whole.parse::<u64>().ok()? * 1_000 + thousandths)
}

/// `52000n`.
fn nodes(word: &str) -> Option<u64> {
    let digits = word.strip_suffix('n')?;
    digits.parse().ok().filter(|_| is_digits(digits))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// As it is written between braces. A closing brace in the words cannot be said and becomes `)`.
impl fmt::Display for Comment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        if let Some(score) = self.score {
            words.push(self.depth.map_or_else(|| score.to_string(), |depth| format!("{score}/{depth}")));
        }
        if let Some(time) = self.milliseconds {
            let (whole, part) = (time / 1_000, format!("{:03}", time % 1_000));
            let part = part.trim_end_matches('0');
            words.push(if part.is_empty() { format!("{whole}s") } else { format!("{whole}.{part}s") });
        }
        words.extend(self.nodes.map(|nodes| format!("{nodes}n")));
        words.extend(self.text.split_whitespace().map(|word| word.replace('}', ")")));
        f.write_str(&words.join(" "))
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Centipawns(score) => {
                let (sign, size) = (if score < 0 { '-' } else { '+' }, score.unsigned_abs());
                write!(f, "{sign}{}.{:02}", size / 100, size % 100)
            }
            Self::Mate { wins, moves } => write!(f, "{}M{moves}", if wins { '+' } else { '-' }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(score: Score, depth: Option<u32>, milliseconds: Option<u64>, nodes: Option<u64>, text: &str) -> Comment {
        Comment { score: Some(score), depth, milliseconds, nodes, text: text.into() }
    }

    #[test]
    fn what_programs_say_is_understood() {
        use Score::{Centipawns, Mate};
        let mates = |moves| Mate { wins: true, moves };
        for (text, expected) in [
            ("+0.12/1 0.1", found(Centipawns(12), Some(1), Some(100), None, "")),
            ("-1.5/8 0.15s", found(Centipawns(-150), Some(8), Some(150), None, "")),
            ("0.00/8 0.15s, White mates", found(Centipawns(0), Some(8), Some(150), None, "White mates")),
            ("+M5/20 1:05", found(mates(5), Some(20), Some(65_000), None, "")),
            ("-M3", found(Mate { wins: false, moves: 3 }, None, None, None, "")),
            ("+0.35 500n so far", found(Centipawns(35), None, None, Some(500), "so far")),
            ("+1000.03/60 12 +300", found(Centipawns(100_003), Some(60), Some(12_000), None, "+300")),
        ] {
            assert_eq!(Comment::read(text), expected, "{text}");
        }
    }

    #[test]
    fn words_stay_words() {
        for text in
            ["0.5 pawns", "+/- here", "+1 is good", "12n", "book", "+M", "+1.x/3", "/3", "+0.1/", "-", "+9999999.0"]
        {
            assert_eq!(Comment::read(text), Comment { text: text.into(), ..Comment::default() }, "{text}");
        }
        assert!(Comment::read(" \n\t").is_empty());
        assert_eq!(Comment::read(" a\n b  c ").text, "a b c");
    }

    #[test]
    fn what_is_written_reads_the_same() {
        for text in ["+0.05/3 0.001s 77n x", "-0.05", "-M0/1", "+12.00 3s", "+0.00/0 1.25s and } words"] {
            let comment = Comment::read(text);
            assert_eq!(comment.to_string(), text.replace('}', ")"));
            assert_eq!(Comment::read(&comment.to_string()).to_string(), comment.to_string());
        }
    }
}
