//! What XBoard is told of every shipped game: an interpreter of its `piece` language, written for this test from the
//! protocol's description and XBoard's behaviour, must find in the descriptions what the rules allow, and the table in
//! `docs/xboard.md` must be the one that is told.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use common::{below, random_move, shipped};
use fairyforge_engine::geometry::Square;
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::protocol::xboard::setup::{Setup, SetupError};
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::{Colour, Unit};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Where a unit may go: the square, whether it takes there, and whether that is a capture that never checks.
type Reached = BTreeSet<(Square, bool, bool)>;

/// A king's directions, clockwise from straight forward.
const DIRECTIONS: [(i8, i8); 8] = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];

/// One man on a board, read as XBoard reads it.
struct Reader<'a> {
    position: &'a Position,
    origin: Square,
    unit: Unit,
    colour: Colour,
    reached: Reached,
}

impl Reader<'_> {
    fn read(mut self, description: &str) -> Reached {
        let mut rest = description;
        while !rest.is_empty() {
            let initial = rest.chars().take_while(|&letter| letter == 'i').count();
            rest = &rest[initial..];
            let at = rest.find(|letter: char| letter.is_ascii_uppercase()).expect("an atom");
            let digits = rest[at + 1..].chars().take_while(char::is_ascii_digit).count();
            let (term, later) = rest.split_at(at + 1 + digits);
            if self.may_start(initial) && !term.contains('O') {
                self.term(&term[..at], term.as_bytes()[at] as char, term[at + 1..].parse().ok());
            }
            rest = later;
        }
        self.reached
    }

    /// `i`: where the array has such a man; `ii`: one square in front of that.
    fn may_start(&self, initial: usize) -> bool {
        let forward = if self.colour == Colour::White { 1 } else { -1 };
        let home = self.origin.offset(0, -forward * (initial.max(1) as i8 - 1));
        initial == 0 || home.is_some_and(|home| self.array_has(home))
    }

    fn array_has(&self, square: Square) -> bool {
        self.position.variant().rules().array.contains(&(square, self.unit, self.colour))
    }

    fn term(&mut self, prefix: &str, atom: char, range: Option<u8>) {
        let (leap, slides) = match atom {
            'W' => ((0, 1), false),
            'F' => ((1, 1), false),
            'D' => ((0, 2), false),
            'A' => ((2, 2), false),
            'H' => ((0, 3), false),
            'G' => ((3, 3), false),
            'N' => ((1, 2), false),
            'C' => ((1, 3), false),
            'Z' => ((2, 3), false),
            'R' => ((0, 1), true),
            'B' => ((1, 1), true),
            'K' | 'Q' => {
                let parts = if atom == 'K' { ['W', 'F'] } else { ['R', 'B'] };
                parts.into_iter().for_each(|part| self.term(prefix, part, range));
                return;
            }
            _ => panic!("no atom: {atom}"),
        };
        let directions = prefix.find(|letter| !"fblrvs".contains(letter)).unwrap_or(prefix.len());
        let (directions, modes) = prefix.split_at(directions);
        let most = match range {
            Some(0) => 99,
            Some(most) => most,
            None if slides => 99,
            None => 1,
        };
        for vector in leaps(leap) {
            if absolute(directions, vector) {
                self.leg(modes, vector, most, self.origin);
            }
        }
    }

    /// A leg in one direction; `modes` begins behind the directions and holds all later legs.
    fn leg(&mut self, modes: &str, vector: (i8, i8), most: u8, from: Square) {
        let (modes, later) = match modes.split_once('a') {
            Some((modes, later)) => (modes, Some(later)),
            None => (modes, None),
        };
        let mut at = from;
        let mut left = most;
        let mut hops = modes.contains(['p', 'g']) && later.is_none();
        while left > 0 {
            left -= 1;
            let lame = (vector.0 / 2, vector.1 / 2);
            if modes.contains('n') && self.seen(at, lame).is_none_or(|square| self.occupied(square)) {
                return;
            }
            let Some(next) = self.seen(at, vector) else { return };
            at = next;
            if let Some(later) = later {
                let over = if self.occupied(at) { modes.contains(['p', 'g']) } else { modes.contains(['m', 'y']) };
                if over {
                    self.turn(later, vector, modes.contains(['y', 'g']) == (most == 1), at);
                }
            } else if hops {
                if self.occupied(at) {
                    hops = false;
                    left = if modes.contains('g') { 1 } else { left };
                }
                continue;
            } else {
                self.arrive(modes, at);
            }
            if self.occupied(at) {
                return;
            }
        }
    }

    /// The next leg: its directions are relative, and it slides or steps.
    fn turn(&mut self, text: &str, before: (i8, i8), slides: bool, at: Square) {
        let end = text.find(|letter| !"fblrvs".contains(letter)).unwrap_or(text.len());
        let (directions, modes) = text.split_at(end);
        let before = DIRECTIONS.iter().position(|&way| way == before).expect("a king's step");
        for angle in relative(directions) {
            self.leg(modes, DIRECTIONS[(before + angle) % 8], if slides { 99 } else { 1 }, at);
        }
    }

    fn arrive(&mut self, modes: &str, at: Square) {
        let plain = !modes.contains(['m', 'c']);
        let piece = self.position.piece_at(at);
        if at == self.origin {
            return;
        }
        if piece.is_none() && (plain || modes.contains('m')) {
            self.reached.insert((at, false, false));
        }
        if piece.is_of(self.colour.opponent()) && (plain || modes.contains('c')) {
            self.reached.insert((at, true, modes.contains('t')));
        }
    }

    /// The language turns Black's moves by half a circle.
    fn seen(&self, at: Square, (files, rows): (i8, i8)) -> Option<Square> {
        let side = if self.colour == Colour::White { 1 } else { -1 };
        self.position.variant().topology().step(at, side * files, side * rows)
    }

    fn occupied(&self, square: Square) -> bool {
        square != self.origin && !self.position.piece_at(square).is_none()
    }
}

fn leaps((short, long): (i8, i8)) -> BTreeSet<(i8, i8)> {
    let signs = [(1, 1), (1, -1), (-1, 1), (-1, -1)];
    let both = |(a, b): (i8, i8)| [(a * short, b * long), (a * long, b * short)];
    signs.into_iter().flat_map(both).collect()
}

/// Whether directional letters before an atom keep a leap: all of none; pairs are corners of diagonal and oblique
/// leaps.
fn absolute(letters: &str, vector: (i8, i8)) -> bool {
    let on_side = |letter: char| match letter {
        'f' => vector.1 > 0,
        'b' => vector.1 < 0,
        'l' => vector.0 < 0,
        'r' => vector.0 > 0,
        'v' => vector.0 == 0,
        _ => vector.1 == 0,
    };
    let vertical = |letter: char| letter == 'f' || letter == 'b';
    let straight = vector.0 == 0 || vector.1 == 0;
    let letters: Vec<char> = letters.chars().collect();
    if letters.is_empty() || straight {
        return letters.is_empty() || letters.iter().any(|&letter| on_side(letter));
    }
    let mut at = 0;
    while at < letters.len() {
        let pair = letters.get(at + 1).filter(|&&next| vertical(next) != vertical(letters[at]));
        let oblique = vector.0.abs() != vector.1.abs();
        let mostly = |second: char| !oblique || vertical(second) == (vector.1.abs() > vector.0.abs());
        if on_side(letters[at]) && pair.is_none_or(|&second| on_side(second) && mostly(second)) {
            return true;
        }
        at += if pair.is_some() { 2 } else { 1 };
    }
    false
}

/// Angles in eighths, clockwise. A letter that is followed by one of the other axis is a corner with it.
fn relative(letters: &str) -> Vec<usize> {
    let single = |letter| match letter {
        'f' => vec![0],
        'r' => vec![2],
        'b' => vec![4],
        'l' => vec![6],
        'v' => vec![0, 4],
        _ => vec![2, 6],
    };
    let letters: Vec<char> = letters.chars().collect();
    let mut angles = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let first_of_pair = matches!(letters[at], 'f' | 'b' | 'l' | 'r');
        let vertical = |letter: char| "fbv".contains(letter);
        match letters.get(at + 1).filter(|&&next| first_of_pair && vertical(next) != vertical(letters[at])) {
            Some(&next) => {
                for a in single(letters[at]) {
                    angles.extend(single(next).into_iter().map(|b| match (a, b) {
                        (0, 6) | (6, 0) => 7,
                        _ => (a + b) / 2,
                    }));
                }
                at += 2;
            }
            None => {
                angles.extend(single(letters[at]));
                at += 1;
            }
        }
    }
    angles
}

/// Where the rules let the man go, castling and en passant aside.
fn by_the_rules(position: &Position, origin: Square) -> Reached {
    let piece = position.piece_at(origin);
    let steps = position.variant().move_steps(piece.unit(), piece.colour(), origin);
    let mut reached = Reached::new();
    let mut at = 0;
    while let Some(step) = steps.get(at) {
        let there = position.piece_at(step.square);
        if step.moves() && there.is_none() {
            reached.insert((step.square, false, false));
        }
        if step.captures() && there.is_of(piece.colour().opponent()) {
            reached.insert((step.square, true, false));
        }
        at += step.advance(there.is_none() || step.square == origin);
    }
    reached
}

fn check_position(position: &Position, setup: &Setup) {
    for square in position.occupied() {
        let piece = position.piece_at(square);
        let told = &setup.shown(piece.unit()).moves;
        let description = if piece.colour() == Colour::White { &told.white } else { &told.black };
        let Some(description) = description else { continue };
        let (unit, colour) = (piece.unit(), piece.colour());
        let reader = Reader { position, origin: square, unit, colour, reached: Reached::new() };
        let (read, rules) = (reader.read(description), by_the_rules(position, square));
        let place = || {
            let variant = position.variant();
            format!(
                "{} {}: {description} on {} of {position}",
                variant.name(),
                variant.unit(unit).name,
                variant.topology().name(square)
            )
        };
        let plain: BTreeSet<_> = read.iter().map(|&(square, takes, _)| (square, takes)).collect();
        let allowed: BTreeSet<_> = rules.iter().map(|&(square, takes, _)| (square, takes)).collect();
        assert!(plain.is_superset(&allowed), "too little: {:?}, {}", allowed.difference(&plain), place());
        let checks: BTreeSet<_> = read.iter().filter(|one| one.1 && !one.2).map(|one| (one.0, true)).collect();
        assert!(checks.is_subset(&allowed), "false check: {:?}, {}", checks.difference(&allowed), place());
        if told.exact {
            assert_eq!(plain, allowed, "not exact: {}", place());
            assert!(read.iter().all(|one| !one.2), "tame though exact: {}", place());
        }
    }
}

#[test]
fn descriptions_allow_what_the_rules_allow() {
    let mut described = 0;
    for variant in shipped() {
        let Ok(setup) = Setup::new(&variant) else { continue };
        let mut random = ChaCha8Rng::seed_from_u64(7);
        for _ in 0..4 {
            let mut position = Position::start(&variant);
            for ply in 0..90 + below(&mut random, 40) {
                if ply % 4 == 0 {
                    check_position(&position, &setup);
                }
                let Some(mv) = random_move(&position, &mut random) else { break };
                position.make(mv, &mut Unobserved);
            }
        }
        described += 1;
    }
    assert!(described >= 10, "only {described} games can be told to XBoard");
}

#[test]
fn the_three_games_are_told_as_they_should_be() {
    let lines = |name: &str| Setup::new(&common::variant(name)).unwrap().lines();
    let herculean = lines("herculean");
    assert!(herculean[0].contains(" 12x12+0_fairy rzclfqkwlcsr/"), "{}", herculean[0]);
    for line in [
        "piece P& fmWfceFifmW3iifmW2",
        "piece C& RpafWpafpafW",
        "piece K KisO1isO2isO3isO4ilO5",
        "piece k KisO1isO2isO3isO4irO5",
        "piece +N& Q",
    ] {
        assert!(herculean.iter().any(|told| told == line), "{line} is missing: {herculean:#?}");
    }
    let sorcerer = lines("sorcerer-reinforcements");
    assert!(sorcerer[0].contains(" 10x12+9_bughouse ****cc****/"), "{}", sorcerer[0]);
    assert!(sorcerer.iter().any(|told| told == "piece G& mafsyafF"), "{sorcerer:#?}");
    let shatranj = lines("opulent-lemurian-shatranj");
    assert!(shatranj.iter().any(|told| told == "piece H& WDmasfmpafWmpafmasfW"), "{shatranj:#?}");
    assert!(shatranj.iter().any(|told| told == "piece W& FmasfF"), "{shatranj:#?}");
}

/// Even length, no type twice, the kings last.
#[test]
fn piece_tables_are_well_formed() {
    for variant in shipped() {
        let Ok(setup) = Setup::new(&variant) else { continue };
        let table = setup.piece_to_char();
        let plain: Vec<char> = table.chars().filter(|&letter| letter != '^').collect();
        assert!(plain.len().is_multiple_of(2) && (12..=132).contains(&plain.len()), "{}: {table}", variant.name());
        let (white, black) = plain.split_at(plain.len() / 2);
        let king = variant.unit(variant.royal()).letter;
        assert_eq!(white.last(), Some(&king), "{}: {table}", variant.name());
        let small: Vec<char> = white.iter().map(|letter| letter.to_ascii_lowercase()).collect();
        assert_eq!(small, black, "{}: {table}", variant.name());
        for unit in variant.units() {
            let letter = variant.unit(unit).letter;
            let times = white.iter().filter(|&&other| other == letter).count();
            assert_eq!(times, 1 + usize::from(setup.promotes_by_plus(unit)), "{}: {letter} in {table}", variant.name());
        }
        let line = &setup.lines()[0];
        assert!(line.len() < 500, "XBoard reads 512 characters: {line}");
    }
}

/// The table of `docs/xboard.md`.
fn table() -> String {
    let mut text = String::from("| game | letter | unit | told | exact or tame |\n|---|---|---|---|---|\n");
    for variant in shipped() {
        let name = variant.name();
        match Setup::new(&variant) {
            Err(error) => text.push_str(&format!("| {name} | | | cannot be shown: {error} | |\n")),
            Ok(setup) => {
                for unit in variant.units() {
                    text.push_str(&row(&variant, &setup, unit));
                }
            }
        }
    }
    text
}

fn row(variant: &Arc<Variant>, setup: &Setup, unit: Unit) -> String {
    let (rules, moves) = (variant.unit(unit), &setup.shown(unit).moves);
    let told = match (&moves.white, &moves.black) {
        (Some(white), Some(black)) if white == black => format!("`{white}`"),
        (Some(white), Some(black)) => format!("`{white}`, Black `{black}`"),
        _ => "nothing: it may go anywhere".into(),
    };
    let exactness = if moves.exact { "exact" } else { "tame" };
    let plus = if setup.promotes_by_plus(unit) { ", promotes by `+`" } else { "" };
    format!("| {} | {} | {} | {told} | {exactness}{plus} |\n", variant.name(), rules.letter, rules.name)
}

#[test]
fn the_documents_table_is_the_one_told() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/xboard.md");
    let document = std::fs::read_to_string(path).unwrap();
    let begin = document.find("| game |").expect("the table's head");
    let end = begin + document[begin..].find("\n\n").map_or(document.len() - begin, |end| end + 1);
    if std::env::var_os("FAIRYFORGE_UPDATE_DOCS").is_some() {
        let updated = format!("{}{}{}", &document[..begin], table(), &document[end..]);
        std::fs::write(path, updated).unwrap();
        return;
    }
    let hint = "FAIRYFORGE_UPDATE_DOCS=1 cargo test -p fairyforge-engine --test xboard_pieces writes it anew";
    assert!(document[begin..end] == table(), "docs/xboard.md is not up to date: {hint}");
}

#[test]
fn says_why_a_game_cannot_be_shown() {
    let wide = "format = 1\n[variant]\nname = \"Wide\"\n[board]\nsetup = \"\"\"\n\
                k . . . . . . . . . . . . . . .\n\
                . . . . . . . . . . . . . . . .\n\
                K . . . . . . . . . . . . . . .\n\"\"\"\n\
                [pieces]\nking = { letter = \"K\", moves = \"K\" }\n[end]\nstalemated_side = \"draws\"\n";
    assert!(Setup::new(&common::variant_from(wide)).is_ok());
    let rows: String = std::iter::repeat_n(". . . . . . . . . . . . . . . .\n", 13).collect();
    let high = wide.replace("K . . .", &format!("{rows}K . . ."));
    let refused = Setup::new(&common::variant_from(&high));
    assert!(matches!(refused, Err(SetupError::Size { ranks: 16, .. })), "{refused:?}");
    let foreign = wide.replace("[end]", "omega = { letter = \"\u{3a9}\", moves = \"W\" }\n[end]");
    let refused = Setup::new(&common::variant_from(&foreign));
    assert!(matches!(refused, Err(SetupError::Letter { .. })), "{refused:?}");
}
