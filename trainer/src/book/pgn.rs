//! Books as PGN: a game a root, with all moves of the book as variations, to be looked at in other programs.
//!
//! Behind every move a comment has what the book knows of it, in the order of [`super::epd`]. A position that is reached in several ways
//! is written out where it comes first; where it comes again, or its mirror image does, a comment says so and the line ends.

use fairyforge_engine::book::{Book, BookError, BookKey, BookMove, Manifest, Oriented};
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::Colour;
use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};
use std::sync::Arc;

/// Most characters of a line of moves.
const LINE: usize = 79;
/// Ends a line whose last position is written out elsewhere.
const AGAIN: &str = "{transposition}";
/// What such a file calls its games.
const EVENT: &str = "Opening book";
/// What a book that was read says of how it was made.
const METHOD: &str = "read from PGN";

/// Why text was refused.
#[derive(Debug, thiserror::Error)]
pub enum PgnError {
    /// Something that [`write()`] would not have written there.
    #[error("line {line}: expected {expected}, got {got}")]
    Text {
        /// Where, from 1.
        line: usize,
        /// What should be there.
        expected: &'static str,
        /// What is, or why it is not.
        got: String,
    },
    /// What was read is no book.
    #[error(transparent)]
    Book(#[from] BookError),
}

/// Writes a book whose moves are legal.
///
/// # Errors
/// `out` refuses.
pub fn write(book: &Book, out: &mut impl Write) -> io::Result<()> {
    let mut seen = HashSet::new();
    for root in book.roots() {
        tags(book, root, out)?;
        let mut moves = Moves { book, seen: &mut seen, words: Vec::new() };
        moves.behind(root.clone().as_first(), true);
        moves.words.push("*".into());
        wrapped(&moves.words, out)?;
        writeln!(out)?;
    }
    Ok(())
}

fn tags(book: &Book, root: &Position, out: &mut impl Write) -> io::Result<()> {
    let variant = root.variant();
    let white = format!("fairyforge {}", book.header().manifest.program);
    let (unknown, white) = ("?", white.as_str());
    let roster = [
        ("Event", EVENT),
        ("Site", unknown),
        ("Date", "????.??.??"),
        ("Round", unknown),
        ("White", white),
        ("Black", unknown),
        ("Result", "*"),
        ("Variant", variant.name()),
    ];
    let mut tag = |name: &str, value: &str| {
        let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
        writeln!(out, "[{name} \"{escaped}\"]")
    };
    roster.iter().try_for_each(|(name, value)| tag(name, value))?;
    if *root != Position::start(variant) {
        tag("SetUp", "1")?;
        tag("FEN", &root.clone().as_first().fen())?;
    }
    writeln!(out)
}

/// The words of a game so far.
struct Moves<'a> {
    book: &'a Book,
    seen: &'a mut HashSet<BookKey>,
    words: Vec<String>,
}

impl Moves<'_> {
    /// What the book has behind a position: the first move, the others as variations, and so on. `number_due`: whatever the side to
    /// move, the first move needs its number.
    fn behind(&mut self, mut position: Position, mut number_due: bool) {
        loop {
            let moves = self.book.moves(&position);
            let Some((first, others)) = moves.split_first() else { return };
            if !self.seen.insert(BookKey::of(&position)) {
                self.words.push(AGAIN.into());
                return;
            }
            self.one(&position, first, number_due);
            for other in others {
                self.words.push("(".into());
                self.one(&position, other, true);
                self.behind(after(&position, other), false);
                self.words.push(")".into());
            }
            number_due = !others.is_empty();
            position = after(&position, first);
        }
    }

    fn one(&mut self, position: &Position, entry: &BookMove, number_due: bool) {
        let is_white = position.side_to_move() == Colour::White;
        if is_white || number_due {
            self.words.push(format!("{}{}", position.full_moves(), if is_white { "." } else { "..." }));
        }
        self.words.push(position.san(entry.mv));
        let value = |value: Option<i16>| value.map_or_else(|| "-".into(), |value| value.to_string());
        let [wins, draws, losses] = entry.results;
        let (weight, nodes) = (entry.weight, entry.nodes);
        let (known, searched) = (value(entry.value), value(entry.searched));
        let comment = format!("{{{weight} {known} {searched} {wins} {draws} {losses} {nodes}}}");
        self.words.extend(comment.split(' ').map(str::to_owned));
    }
}

fn after(position: &Position, entry: &BookMove) -> Position {
    let mut after = position.clone();
    after.make(entry.mv, &mut Unobserved);
    after
}

/// Words in lines of bounded length; brackets of variations stick to what they enclose.
fn wrapped(words: &[String], out: &mut impl Write) -> io::Result<()> {
    let mut column = 0;
    let mut opened = true;
    for word in words {
        let length = word.chars().count();
        let sticks = opened || word == ")";
        if column > 0 && column + length + usize::from(!sticks) > LINE && word != ")" {
            writeln!(out)?;
            column = 0;
        }
        if column > 0 && !sticks {
            write!(out, " ")?;
            column += 1;
        }
        write!(out, "{word}")?;
        column += length;
        opened = word == "(";
    }
    writeln!(out)
}

/// What text that [`write()`] wrote begins with; games of other files begin otherwise.
pub fn beginning() -> String {
    format!("[Event \"{EVENT}\"]")
}

/// The variant that such text names.
pub fn variant(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("[Variant \"")?.strip_suffix("\"]"))
}

/// Reads what [`write()`] wrote: roots, positions, and moves with all that the comments say. Where the book came from is not in the text.
///
/// # Errors
/// The text is nothing of the kind, or not of this variant.
pub fn read(variant: &Arc<Variant>, program: &str, text: &str) -> Result<Book, PgnError> {
    let mut reader =
        Reader { variant, line: 0, fen: None, at: None, open: Vec::new(), roots: Vec::new(), moves: BTreeMap::new() };
    let mut comment: Option<String> = None;
    for line in text.lines() {
        reader.line += 1;
        if comment.is_none() && line.starts_with('[') {
            reader.tag(line);
            continue;
        }
        let mut word = String::new();
        for c in line.chars().chain([' ']) {
            match (&mut comment, c) {
                (Some(said), '}') => {
                    let said = std::mem::take(said);
                    comment = None;
                    reader.comment(&said)?;
                }
                (Some(said), c) => said.push(c),
                (None, '{' | '(' | ')' | ' ') => {
                    reader.word(&std::mem::take(&mut word))?;
                    match c {
                        '{' => comment = Some(String::new()),
                        '(' => reader.open()?,
                        ')' => reader.close()?,
                        _ => {}
                    }
                }
                (None, c) => word.push(c),
            }
        }
    }
    let manifest = Manifest { method: METHOD.into(), program: program.into(), ..Manifest::default() };
    Ok(Book::new(&reader.roots, manifest, reader.moves.into_iter().collect())?)
}

/// A place in a line of moves.
#[derive(Clone)]
struct Place {
    /// The position before the last move; of a root the root.
    before: Position,
    /// The position after it.
    after: Position,
    /// The last move: of which position, and which of its moves.
    last: Option<(BookKey, usize)>,
}

/// What was read so far.
struct Reader<'a> {
    variant: &'a Arc<Variant>,
    line: usize,
    /// Where the next game begins, if not in the array.
    fen: Option<String>,
    at: Option<Place>,
    /// Where variations branched off that are not closed.
    open: Vec<Place>,
    roots: Vec<Position>,
    moves: BTreeMap<BookKey, Vec<BookMove>>,
}

impl Reader<'_> {
    fn refused(&self, expected: &'static str, got: impl ToString) -> PgnError {
        PgnError::Text { line: self.line, expected, got: got.to_string() }
    }

    fn tag(&mut self, line: &str) {
        self.at = None;
        self.open.clear();
        if let Some(rest) = line.strip_prefix("[FEN \"") {
            self.fen = Some(rest.trim_end_matches("\"]").into());
        } else if line.starts_with("[Event ") {
            self.fen = None;
        }
    }

    /// Where the line is; at the root, if nothing was played yet.
    fn place(&mut self) -> Result<Place, PgnError> {
        if let Some(place) = &self.at {
            return Ok(place.clone());
        }
        let root = match &self.fen {
            None => Position::start(self.variant),
            Some(fen) => {
                Position::from_fen(self.variant, fen).map_err(|error| self.refused("a position of the game", error))?
            }
        };
        self.roots.push(root.clone());
        Ok(Place { before: root.clone(), after: root, last: None })
    }

    fn word(&mut self, word: &str) -> Result<(), PgnError> {
        let is_number = word.ends_with('.') && word.starts_with(|c: char| c.is_ascii_digit());
        if word.is_empty() || word == "*" || is_number {
            return Ok(());
        }
        let place = self.place()?;
        let position = place.after;
        let mv = position.parse_san(word).map_err(|error| self.refused("a legal move", error))?;
        let oriented = Oriented::of(&position);
        let moves = self.moves.entry(oriented.key()).or_default();
        moves.push(BookMove::new(oriented.held(mv)));
        let last = Some((oriented.key(), moves.len() - 1));
        let mut after = position.clone();
        after.make(mv, &mut Unobserved);
        self.at = Some(Place { before: position, after, last });
        Ok(())
    }

    fn open(&mut self) -> Result<(), PgnError> {
        let place = self.place()?;
        self.at = Some(Place { before: place.before.clone(), after: place.before.clone(), last: None });
        self.open.push(place);
        Ok(())
    }

    fn close(&mut self) -> Result<(), PgnError> {
        let place = self.open.pop().ok_or_else(|| self.refused("no ')' without '('", "one"))?;
        self.at = Some(place);
        Ok(())
    }

    fn comment(&mut self, said: &str) -> Result<(), PgnError> {
        if AGAIN.trim_matches(['{', '}']) == said.trim() {
            return Ok(());
        }
        let refused = self.refused("seven numbers behind a move", format!("{said:?}"));
        let last = self.at.as_ref().and_then(|place| place.last);
        let entry = last.and_then(|(key, index)| self.moves.get_mut(&key)?.get_mut(index)).ok_or(refused)?;
        *entry = super::epd::numbers(entry.mv, said).ok_or_else(|| PgnError::Text {
            line: self.line,
            expected: "seven numbers behind a move",
            got: format!("{said:?}"),
        })?;
        Ok(())
    }
}
