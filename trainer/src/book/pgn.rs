//! Books as PGN: a game a root, with all moves of the book as variations, to be looked at in other programs.
//!
//! Behind every move a comment has what the book knows of it, in the order of [`super::epd`]. A position that is reached in several ways
//! is written out where it comes first; where it comes again, a comment says so and the line ends.

use fairyforge_engine::book::{Book, BookKey, BookMove};
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::variant::rules::Colour;
use std::collections::HashSet;
use std::io::{self, Write};

/// Most characters of a line of moves.
const LINE: usize = 79;
/// Ends a line whose last position is written out elsewhere.
const AGAIN: &str = "{transposition}";

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
        ("Event", "Opening book"),
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
