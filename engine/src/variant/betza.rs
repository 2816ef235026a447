//! Betza notation to [`Pattern`]s: what a string of atoms and modifiers means before there is a board.
//!
//! A string is a list of terms, each some lower-case modifiers followed by a capital atom and perhaps a range. Only what has one
//! meaning among the dialects in use is understood; everything else is refused by name with its place in the string.
//! `docs/formats/variant.md` lists both. Patterns are not merged here: the compiler of tables does that.

use super::pattern::{Leg, Occupancy, Pattern, Step, Turn};

/// Longest string read, in bytes.
pub const MAX_LENGTH: usize = 256;

/// Most legs joined by `a`.
const MAX_LEGS: usize = 8;

/// Longest range written as a number: no longer walk fits a board.
const MAX_RANGE: u8 = 15;

/// Why a Betza string was refused, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, got {got} at byte {at}{}", suggestion.as_ref().map(|text| format!(" ({text})")).unwrap_or_default())]
pub struct BetzaError {
    /// Byte offset in the string of what was refused.
    pub at: usize,
    /// The class of the fault.
    pub kind: BetzaErrorKind,
    /// What would have been understood there.
    pub expected: String,
    /// What stood there.
    pub got: String,
    /// What to write instead, where that is known.
    pub suggestion: Option<String>,
}

/// Classes of faults in a Betza string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BetzaErrorKind {
    /// Nothing was written.
    Empty,
    /// The string is longer than [`MAX_LENGTH`] or joins too many legs.
    TooLong,
    /// A character that means nothing here.
    Unexpected,
    /// Known notation that is not supported.
    Unsupported,
    /// Notation that is read differently by different programs.
    Ambiguous,
    /// A modifier that is known but does not fit its atom or leg.
    Misplaced,
    /// A range that is no number or too great.
    Range,
}

/// Reads a whole string, such as `fmWfcF` or `RpafWpafpafW`.
///
/// # Errors
/// The first thing in the string that is not understood.
///
/// ```
/// use fairyforge_engine::variant::betza::parse;
/// assert_eq!(parse("WN")?.len(), 2);
/// assert_eq!(parse("oR").map_err(|error| error.at), Err(0));
/// # Ok::<(), fairyforge_engine::variant::betza::BetzaError>(())
/// ```
pub fn parse(text: &str) -> Result<Vec<Pattern>, BetzaError> {
    let mut scanner = Scanner::new(text)?;
    let mut patterns = Vec::new();
    while scanner.peek().is_some() {
        patterns.extend(term(&mut scanner)?.patterns()?);
    }
    Ok(patterns)
}

/// Reads one leg of a path written as a list of atoms, such as `F` or, as the last one, `R2+` (two steps or more).
///
/// The leg comes back with [`Turn::Any`] and an empty joint; whoever joins legs sets the turn.
///
/// # Errors
/// Anything but one atom with a range, or a rider that is not `last`.
pub fn parse_leg(text: &str, last: bool) -> Result<Leg, BetzaError> {
    let mut scanner = Scanner::new(text)?;
    let atom = match scanner.peek() {
        Some(letter) if letter.is_ascii_uppercase() => atom(&mut scanner)?,
        _ => {
            let got = scanner.got();
            return Err(scanner.error(BetzaErrorKind::Unexpected, "an atom without modifiers", got));
        }
    };
    let at_least = scanner.peek() == Some('+') && atom.numbered && atom.max != Leg::UNLIMITED;
    if at_least {
        scanner.next();
    }
    if scanner.peek().is_some() {
        let got = scanner.got();
        return Err(scanner.error(BetzaErrorKind::Unexpected, "the end of the leg", got).suggest("one atom a leg"));
    }
    let (min, max) = if at_least { (atom.max, Leg::UNLIMITED) } else { (1, atom.max) };
    if !last && max != 1 {
        let expected = "a single step, since another leg follows";
        return Err(BetzaError::new(atom.at, BetzaErrorKind::Misplaced, expected, quoted(text)));
    }
    let steps = steps(atom.shapes.iter().flat_map(|&shape| circle(shape)));
    Ok(Leg { steps, turn: Turn::Any, min, max, through: Occupancy::Empty, joint: Occupancy::Empty })
}

impl BetzaError {
    fn new(at: usize, kind: BetzaErrorKind, expected: impl Into<String>, got: impl Into<String>) -> Self {
        Self { at, kind, expected: expected.into(), got: got.into(), suggestion: None }
    }

    fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }
}

/// A length of leap: the greater coordinate first.
type Shape = (i8, i8);

/// Says which vectors of an atom its directional modifiers keep.
type Filter = Box<dyn Fn((i8, i8)) -> bool>;

const WAZIR: Shape = (1, 0);
const FERZ: Shape = (1, 1);

/// The atoms: letter, leaps, whether they repeat.
const ATOMS: [(char, &[Shape], bool); 13] = [
    ('W', &[WAZIR], false),
    ('F', &[FERZ], false),
    ('D', &[(2, 0)], false),
    ('N', &[(2, 1)], false),
    ('A', &[(2, 2)], false),
    ('H', &[(3, 0)], false),
    ('C', &[(3, 1)], false),
    ('Z', &[(3, 2)], false),
    ('G', &[(3, 3)], false),
    ('K', &[WAZIR, FERZ], false),
    ('R', &[WAZIR], true),
    ('B', &[FERZ], true),
    ('Q', &[WAZIR, FERZ], true),
];

const ATOM_LETTERS: &str = "an atom (W F D N A H C Z G, B R Q K)";

/// Notation that exists elsewhere and is refused by name: what it means, and what to write instead.
const REFUSED: [(char, &str, &str); 22] = [
    ('d', "capturing one's own men `d`", ""),
    ('e', "en passant `e`", "leave it out and set the piece's en_passant"),
    ('j', "jumping `j`", ""),
    ('k', "capturing only kings `k`", ""),
    ('o', "cylindrical `o`", ""),
    ('q', "circular `q`", ""),
    ('t', "hop-range `t`", ""),
    ('u', "unloading `u`", ""),
    ('w', "the modifier `w`", "the atom is a capital W"),
    ('x', "granting moves `x`", ""),
    ('y', "range toggling `y`", "write the path as outward = [[\"F\", \"R\"]]"),
    ('z', "crooked `z`", ""),
    ('O', "castling `O`", "write a [castling] table"),
    ('U', "the universal leaper `U`", ""),
    ('E', "the compound `E`", "write its parts"),
    ('M', "the compound `M`", "write its parts"),
    ('*', "the centre row `*`", "write also = [{ moves = \"fmR\", to = \"ranks 1-6\" }]"),
    ('[', "bracket notation `[`", "write the path as then or outward"),
    ('(', "grouping `(`", "repeat the modifiers"),
    ('{', "grouping `{`", "repeat the modifiers"),
    ('!', "the condition `!`", ""),
    ('?', "the condition `?`", ""),
];

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Result<Self, BetzaError> {
        if text.is_empty() {
            return Err(BetzaError::new(0, BetzaErrorKind::Empty, "a move such as \"K\"", "nothing"));
        }
        if text.len() > MAX_LENGTH {
            let (expected, got) = (format!("at most {MAX_LENGTH} bytes"), format!("{} bytes", text.len()));
            return Err(BetzaError::new(0, BetzaErrorKind::TooLong, expected, got));
        }
        Ok(Self { text, at: 0 })
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn got(&self) -> String {
        self.peek().map_or_else(|| "the end of the string".into(), |next| format!("`{}`", next.escape_debug()))
    }

    fn error(&self, kind: BetzaErrorKind, expected: impl Into<String>, got: impl Into<String>) -> BetzaError {
        BetzaError::new(self.at, kind, expected, got)
    }

    /// The fault of standing before something that is neither a modifier nor an atom.
    fn unknown(&self) -> BetzaError {
        let next = self.peek();
        if let Some((_, meaning, instead)) = REFUSED.iter().find(|(letter, ..)| Some(*letter) == next) {
            let got = format!("{meaning}, which is not supported");
            let error = self.error(BetzaErrorKind::Unsupported, ATOM_LETTERS, got);
            return if instead.is_empty() { error } else { error.suggest(*instead) };
        }
        if matches!(next, Some('J' | 'L')) {
            let got = format!("{}, which some read as (3,1) and some as (3,2)", self.got());
            let error = self.error(BetzaErrorKind::Ambiguous, ATOM_LETTERS, got);
            return error.suggest("write C for (3,1), Z for (3,2)");
        }
        let error = self.error(BetzaErrorKind::Unexpected, ATOM_LETTERS, self.got());
        match next {
            Some(letter) if letter.is_ascii_digit() => error.suggest("a range follows its atom, as in W2"),
            Some('-') => error.suggest("write the path as then or outward"),
            _ => error,
        }
    }
}

/// An atom with its range.
struct Atom {
    at: usize,
    letter: char,
    shapes: &'static [Shape],
    max: u8,
    /// The range was written as a number.
    numbered: bool,
}

/// Modifiers before an atom, or before an `a`.
#[derive(Default)]
struct Modifiers {
    at: usize,
    directions: Vec<(usize, char)>,
    moves: bool,
    captures: Option<usize>,
    initial: Option<usize>,
    lame: Option<usize>,
    hop: Option<usize>,
    hop_to_next: Option<usize>,
}

/// One part of a string: legs joined by `a`, sharing one atom.
struct Term {
    groups: Vec<Modifiers>,
    atom: Atom,
}

fn term(scanner: &mut Scanner<'_>) -> Result<Term, BetzaError> {
    let mut groups = Vec::new();
    let mut group = Modifiers { at: scanner.at, ..Modifiers::default() };
    loop {
        match scanner.peek() {
            Some('a') if groups.len() + 1 == MAX_LEGS => {
                let expected = format!("at most {MAX_LEGS} legs");
                return Err(scanner.error(BetzaErrorKind::TooLong, expected, "another `a`"));
            }
            Some('a') => {
                scanner.next();
                groups.push(std::mem::replace(&mut group, Modifiers { at: scanner.at, ..Modifiers::default() }));
            }
            Some(letter) if ATOMS.iter().any(|&(atom, ..)| atom == letter) => {
                groups.push(group);
                return Ok(Term { groups, atom: atom(scanner)? });
            }
            Some(letter) if "fblrvshmcinpg".contains(letter) => group.add(letter, scanner)?,
            None => {
                let error = scanner.error(BetzaErrorKind::Unexpected, ATOM_LETTERS, scanner.got());
                return Err(error.suggest("modifiers come before their atom"));
            }
            Some(_) => return Err(scanner.unknown()),
        }
    }
}

impl Modifiers {
    fn add(&mut self, letter: char, scanner: &mut Scanner<'_>) -> Result<(), BetzaError> {
        let at = scanner.at;
        let repeated = match letter {
            'm' => std::mem::replace(&mut self.moves, true),
            'c' => self.captures.replace(at).is_some(),
            'i' => self.initial.replace(at).is_some(),
            'n' => self.lame.replace(at).is_some(),
            'p' => self.hop.replace(at).is_some(),
            'g' => self.hop_to_next.replace(at).is_some(),
            _ => {
                self.directions.push((at, letter));
                self.directions.len() > 16
            }
        };
        if repeated {
            return Err(scanner.error(BetzaErrorKind::Misplaced, "each modifier once", format!("`{letter}` again")));
        }
        scanner.next();
        Ok(())
    }
}

/// Reads an atom letter, its doubling and its range.
fn atom(scanner: &mut Scanner<'_>) -> Result<Atom, BetzaError> {
    let at = scanner.at;
    let found = ATOMS.iter().find(|&&(letter, ..)| Some(letter) == scanner.peek());
    let Some(&(letter, shapes, rider)) = found else { return Err(scanner.unknown()) };
    scanner.next();
    let mut max = if rider { Leg::UNLIMITED } else { 1 };
    if scanner.peek() == Some(letter) {
        if shapes.len() > 1 || rider {
            let error = scanner.error(BetzaErrorKind::Misplaced, "one letter", format!("`{letter}` doubled"));
            return Err(error.suggest(if letter == 'K' { "a sliding K is Q" } else { "it slides already" }));
        }
        scanner.next();
        max = Leg::UNLIMITED;
        if scanner.peek() == Some(letter) || scanner.peek().is_some_and(|next| next.is_ascii_digit()) {
            let error = scanner.error(BetzaErrorKind::Range, "another term", scanner.got());
            return Err(error.suggest("a doubled atom goes as far as it can: for a limit write W3, not WW3"));
        }
        return Ok(Atom { at, letter, shapes, max, numbered: false });
    }
    let digits: &str = {
        let rest = &scanner.text[scanner.at..];
        &rest[..rest.bytes().take_while(u8::is_ascii_digit).count()]
    };
    let numbered = !digits.is_empty();
    if numbered {
        max = match digits.parse::<u8>() {
            Ok(0) if digits == "0" => Leg::UNLIMITED,
            Ok(range @ 1..=MAX_RANGE) if !digits.starts_with('0') => range,
            _ => {
                let expected = format!("a range from 1 to {MAX_RANGE}, or 0 for as far as it can");
                let got: String = digits.chars().take(8).collect();
                return Err(scanner.error(BetzaErrorKind::Range, expected, quoted(&got)));
            }
        };
        scanner.at += digits.len();
    }
    Ok(Atom { at, letter, shapes, max, numbered })
}

impl Term {
    fn patterns(&self) -> Result<Vec<Pattern>, BetzaError> {
        match self.groups.as_slice() {
            [only] if only.hop.is_some() || only.hop_to_next.is_some() => self.hopper(only),
            [only] => self.plain(only),
            [first, .., last] => self.chain(first, last),
            [] => Ok(Vec::new()),
        }
    }

    /// A leap or a slide.
    fn plain(&self, group: &Modifiers) -> Result<Vec<Pattern>, BetzaError> {
        let mut steps = steps(self.vectors(group)?);
        if let Some(at) = group.lame {
            self.check_lame(at)?;
            for step in &mut steps {
                step.stops = squares_between(step.vector);
            }
        }
        Ok(vec![group.pattern(group, vec![leg(steps, Turn::Any, self.atom.max)])])
    }

    /// A slide, a jump over exactly one man, and a slide (`p`) or one step (`g`) behind it. One pattern a direction, since
    /// directions of oblique riders are no multiples of 45°.
    fn hopper(&self, group: &Modifiers) -> Result<Vec<Pattern>, BetzaError> {
        let (at, letter) = match (group.hop, group.hop_to_next) {
            (Some(at), None) => (at, 'p'),
            (None, Some(at)) => (at, 'g'),
            (first, second) => {
                let at = first.max(second).unwrap_or(group.at);
                return Err(BetzaError::new(at, BetzaErrorKind::Misplaced, "one of `p` and `g`", "both"));
            }
        };
        if self.atom.max != Leg::UNLIMITED {
            let got = format!("`{letter}` on {}", self.atom.describe());
            let error = BetzaError::new(at, BetzaErrorKind::Misplaced, "a rider without limit", got);
            return Err(error.suggest("a hop over an adjacent man is written pafW"));
        }
        if let Some(at) = group.lame {
            return Err(BetzaError::new(at, BetzaErrorKind::Misplaced, "no `n` on a hopper", "`n`"));
        }
        let landing = if letter == 'p' { Leg::UNLIMITED } else { 1 };
        let vectors = self.vectors(group)?;
        Ok(vectors
            .into_iter()
            .map(|vector| {
                let mut approach = leg(steps([vector]), Turn::Any, Leg::UNLIMITED);
                approach.joint = Occupancy::Occupied;
                let behind = leg(steps([vector]), Turn::Eighths(vec![0]), landing);
                group.pattern(group, vec![approach, behind])
            })
            .collect())
    }

    /// Legs joined by `a`.
    fn chain(&self, first: &Modifiers, last: &Modifiers) -> Result<Vec<Pattern>, BetzaError> {
        self.check_chain()?;
        let length = self.atom.shapes[0].0;
        let vectors = self.vectors(first)?;
        let mut may_be = [
            vectors.iter().any(|&(files, rows)| files == 0 || rows == 0),
            vectors.iter().any(|&(files, rows)| files != 0 && rows != 0),
        ];
        let mut legs = vec![leg(steps(vectors), Turn::Any, 1)];
        for group in &self.groups[1..] {
            let turns = relative(group)?;
            let odd = turns.iter().any(|turn| turn % 2 == 1);
            let even = turns.iter().any(|turn| turn % 2 == 0);
            may_be = [(even && may_be[0]) || (odd && may_be[1]), (even && may_be[1]) || (odd && may_be[0])];
            let shapes = [(length, 0), (length, length)];
            let possible = shapes.into_iter().zip(may_be).filter(|&(_, possible)| possible);
            legs.push(leg(steps(possible.flat_map(|(shape, _)| circle(shape))), Turn::Eighths(turns), 1));
        }
        for (leg, group) in legs.iter_mut().zip(&self.groups[..self.groups.len() - 1]) {
            leg.joint = match (group.moves, group.hop.is_some()) {
                (true, true) => Occupancy::Any,
                (false, true) => Occupancy::Occupied,
                (_, false) => Occupancy::Empty,
            };
        }
        Ok(vec![last.pattern(first, legs)])
    }

    /// Refuses what has no settled meaning when legs are joined.
    fn check_chain(&self) -> Result<(), BetzaError> {
        let oblique = self.atom.shapes.iter().any(|&(long, short)| short != 0 && short != long);
        if oblique || self.atom.max != 1 {
            let got = self.atom.describe();
            let error = BetzaError::new(
                self.atom.at,
                BetzaErrorKind::Unsupported,
                "W, F, K, D, A, H or G after legs joined by `a`",
                got,
            );
            return Err(error.suggest("write the path as then or outward"));
        }
        let last = self.groups.len() - 1;
        for (index, group) in self.groups.iter().enumerate() {
            let misplaced = [
                (group.lame, "`n` on legs joined by `a`", true),
                (group.hop_to_next, "`g` on legs joined by `a`", true),
                (group.initial, "`i` after the first leg", index > 0),
                (group.hop, "`p` on the last leg", index == last),
                (group.captures, "`c` before the last leg (taking and moving on)", index < last),
            ];
            if let Some((Some(at), what, _)) = misplaced.iter().find(|(at, _, wrong)| at.is_some() && *wrong) {
                let got = format!("{what}, which is not supported");
                return Err(BetzaError::new(*at, BetzaErrorKind::Unsupported, "a simple leg", got));
            }
        }
        Ok(())
    }

    fn check_lame(&self, at: usize) -> Result<(), BetzaError> {
        let (expected, got) = ("`n` on N, D, A, H or G", format!("`n` on {}", self.atom.describe()));
        match self.atom.letter {
            'N' | 'D' | 'A' | 'H' | 'G' => Ok(()),
            'C' | 'Z' => {
                let error = BetzaError::new(at, BetzaErrorKind::Ambiguous, expected, got);
                Err(error.suggest("say which squares must be empty, as in outward = [[\"W\", \"F\", \"F\"]]"))
            }
            _ => {
                let error = BetzaError::new(at, BetzaErrorKind::Misplaced, expected, got);
                Err(error.suggest("it passes over nothing that could be occupied; leave `n` out"))
            }
        }
    }

    /// The first leg's vectors, narrowed by its directional modifiers.
    fn vectors(&self, group: &Modifiers) -> Result<Vec<(i8, i8)>, BetzaError> {
        let mut vectors = Vec::new();
        for &shape in self.atom.shapes {
            let keeps: Filter = if group.directions.is_empty() {
                Box::new(|_| true)
            } else if self.atom.shapes.len() > 1 {
                self.eightfold(group)?
            } else if shape.1 == 0 {
                self.orthogonal(group)?
            } else if shape.0 == shape.1 {
                self.diagonal(group)?
            } else {
                self.oblique(group)?
            };
            vectors.extend(circle(shape).into_iter().filter(|&vector| keeps(vector)));
        }
        Ok(vectors)
    }

    /// K and Q: single letters only, since pairs are read as two sides by some and as a diagonal by others.
    fn eightfold(&self, group: &Modifiers) -> Result<Filter, BetzaError> {
        for &(at, letter) in &group.directions {
            if !"fblr".contains(letter) || group.directions.len() > 1 {
                let got = format!("directions on {}, which are read in several ways", self.atom.describe());
                let parts = if self.atom.letter == 'K' { "W and F" } else { "R and B" };
                let error = BetzaError::new(at, BetzaErrorKind::Ambiguous, "one of f, b, l, r", got);
                return Err(error.suggest(format!("write its parts {parts} with directions of their own")));
            }
        }
        Ok(any_side(group.directions.iter().map(|&(_, letter)| letter).collect()))
    }

    fn orthogonal(&self, group: &Modifiers) -> Result<Filter, BetzaError> {
        let mut seen = String::new();
        for &(at, letter) in &group.directions {
            if letter == 'h' || seen.contains(letter) {
                let got = format!("`{letter}` on {}", self.atom.describe());
                return Err(BetzaError::new(at, BetzaErrorKind::Misplaced, "f, b, l, r, v or s, each once", got));
            }
            seen.push(letter);
        }
        Ok(any_side(seen.chars().collect()))
    }

    /// Single letters are sides (`fF` two squares), adjacent pairs are corners (`flF` one square).
    fn diagonal(&self, group: &Modifiers) -> Result<Filter, BetzaError> {
        let mut sides = Vec::new();
        let mut directions = group.directions.iter().peekable();
        while let Some(&(at, letter)) = directions.next() {
            let pair =
                directions.next_if(|&&(next, second)| next == at + 1 && is_vertical(letter) != is_vertical(second));
            match (letter, pair.map(|&(_, second)| second)) {
                ('f' | 'b', Some(second @ ('l' | 'r'))) => sides.push((letter, Some(second))),
                ('f' | 'b' | 'l' | 'r', None) => sides.push((letter, None)),
                (_, second) => {
                    let got: String = std::iter::once(letter).chain(second).collect();
                    let got = format!("{} on {}", quoted(&got), self.atom.describe());
                    let expected = "f, b, l, r, or one of fl, fr, bl, br";
                    return Err(BetzaError::new(at, BetzaErrorKind::Misplaced, expected, got));
                }
            }
        }
        Ok(Box::new(move |vector| {
            sides.iter().any(|&(first, second)| on_side(first, vector) && second.is_none_or(|s| on_side(s, vector)))
        }))
    }

    /// Pairs only: the last letter is the direction the leap mostly goes (`fs`: wide forward, `ff`: narrow forward), `h` a half.
    fn oblique(&self, group: &Modifiers) -> Result<Filter, BetzaError> {
        let expected = "a pair: ff bb ll rr ss vv, fl fr bl br lf lb rf rb fs bs lv rv, or fh bh lh rh";
        let mut pairs = Vec::new();
        let mut directions = group.directions.iter().peekable();
        while let Some(&(at, first)) = directions.next() {
            let Some(&(_, second)) = directions.next_if(|&&(next, _)| next == at + 1) else {
                let got = format!("a lone `{first}` on {}, which is read in two ways", self.atom.describe());
                let hint = format!("write {first}{first} for the moves going mostly that way, {first}h for that half");
                return Err(BetzaError::new(at, BetzaErrorKind::Ambiguous, expected, got).suggest(hint));
            };
            let sided = "fblr".contains(first);
            let fits = match second {
                'h' => sided,
                _ if first == second => first != 'h',
                _ => sided && is_vertical(first) != is_vertical(second),
            };
            if !fits {
                let got = format!("`{first}{second}` on {}", self.atom.describe());
                return Err(BetzaError::new(at, BetzaErrorKind::Misplaced, expected, got));
            }
            pairs.push((first, second));
        }
        Ok(Box::new(move |vector| {
            let mostly_vertical = vector.1.abs() > vector.0.abs();
            pairs.iter().any(|&(first, second)| {
                on_side(first, vector)
                    && (second == 'h' || (on_side(second, vector) && is_vertical(second) == mostly_vertical))
            })
        }))
    }
}

impl Modifiers {
    /// The pattern of `legs` with this (last) group's modes; `first` says whether it is an initial move.
    fn pattern(&self, first: &Self, legs: Vec<Leg>) -> Pattern {
        let either = !self.moves && self.captures.is_none();
        Pattern {
            legs,
            moves: self.moves || either,
            captures: self.captures.is_some() || either,
            initial: first.initial.is_some(),
            from: None,
            to: None,
        }
    }
}

impl Atom {
    fn describe(&self) -> String {
        match (self.numbered, self.max) {
            (true, Leg::UNLIMITED) => format!("`{}0`", self.letter),
            (true, range) => format!("`{}{range}`", self.letter),
            (false, Leg::UNLIMITED) if !"BRQ".contains(self.letter) => format!("`{0}{0}`", self.letter),
            _ => format!("`{}`", self.letter),
        }
    }
}

/// The angles of a later leg, in eighths clockwise from the leg before.
fn relative(group: &Modifiers) -> Result<Vec<u8>, BetzaError> {
    let expected = "where the leg goes, seen from the leg before: f b l r v s or fl fr fs bl br bs";
    if group.directions.is_empty() {
        let error = BetzaError::new(group.at, BetzaErrorKind::Misplaced, expected, "no direction after `a`");
        return Err(error.suggest("afW goes straight on"));
    }
    let mut turns = Vec::new();
    let mut directions = group.directions.iter().peekable();
    while let Some(&(at, first)) = directions.next() {
        let second = directions.next_if(|&&(next, letter)| next == at + 1 && is_vertical(first) != is_vertical(letter));
        let angles: &[u8] = match (first, second.map(|&(_, letter)| letter)) {
            ('f', None) => &[0],
            ('b', None) => &[4],
            ('r', None) => &[2],
            ('l', None) => &[6],
            ('v', None) => &[0, 4],
            ('s', None) => &[2, 6],
            ('f', Some('r')) => &[1],
            ('f', Some('l')) => &[7],
            ('f', Some('s')) => &[1, 7],
            ('b', Some('r')) => &[3],
            ('b', Some('l')) => &[5],
            ('b', Some('s')) => &[3, 5],
            (_, second) => {
                let got: String = std::iter::once(first).chain(second).collect();
                return Err(BetzaError::new(at, BetzaErrorKind::Misplaced, expected, quoted(&got)));
            }
        };
        turns.extend_from_slice(angles);
    }
    turns.sort_unstable();
    turns.dedup();
    Ok(turns)
}

fn leg(steps: Vec<Step>, turn: Turn, max: u8) -> Leg {
    Leg { steps, turn, min: 1, max, through: Occupancy::Empty, joint: Occupancy::Empty }
}

fn steps(vectors: impl IntoIterator<Item = (i8, i8)>) -> Vec<Step> {
    vectors.into_iter().map(|vector| Step { vector, stops: Vec::new() }).collect()
}

/// All vectors of a leap, clockwise from straight forward.
fn circle((long, short): Shape) -> Vec<(i8, i8)> {
    let quarter = |(files, rows): (i8, i8)| [(files, rows), (rows, -files), (-files, -rows), (-rows, files)];
    if short == 0 {
        quarter((0, long)).to_vec()
    } else if short == long {
        quarter((long, long)).to_vec()
    } else {
        let (narrow, wide) = (quarter((short, long)), quarter((long, short)));
        narrow.into_iter().zip(wide).flat_map(|(narrow, wide)| [narrow, wide]).collect()
    }
}

/// The squares a lame leap passes: those on the straight line, and for a Knight the orthogonal neighbour.
fn squares_between((files, rows): (i8, i8)) -> Vec<(i8, i8)> {
    let length = files.abs().max(rows.abs());
    if files != 0 && rows != 0 && files.abs() != rows.abs() {
        return vec![if files.abs() > rows.abs() { (files.signum(), 0) } else { (0, rows.signum()) }];
    }
    (1..length).map(|distance| (files.signum() * distance, rows.signum() * distance)).collect()
}

fn any_side(letters: Vec<char>) -> Filter {
    Box::new(move |vector| letters.iter().any(|&letter| on_side(letter, vector)))
}

fn is_vertical(letter: char) -> bool {
    matches!(letter, 'f' | 'b' | 'v')
}

fn on_side(letter: char, (files, rows): (i8, i8)) -> bool {
    match letter {
        'f' => rows > 0,
        'b' => rows < 0,
        'l' => files < 0,
        'r' => files > 0,
        'v' => rows != 0,
        's' => files != 0,
        _ => false,
    }
}

fn quoted(text: &str) -> String {
    format!("`{text}`")
}

#[cfg(test)]
pub(super) mod tests;
