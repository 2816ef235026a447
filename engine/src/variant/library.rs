//! The shipped games, embedded so that a name works from any directory, and the loading of games by name or path.

use super::file::{self, Reading, VariantErrors};
use super::rules::Rules;
use std::path::{Path, PathBuf};

/// Name and TOML text of every shipped game, sorted by name.
pub const SHIPPED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/variants.rs"));

/// Why a game could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Neither a shipped game nor a path.
    #[error("expected a shipped game or a path to a .toml file, got {name:?}; the nearest shipped game is {nearest:?}")]
    UnknownName {
        /// What was asked for.
        name: String,
        /// The shipped game with the nearest name.
        nearest: &'static str,
    },
    /// The file could not be read.
    #[error("cannot read the variant file {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The file was read and is faulty.
    #[error(transparent)]
    Faulty(#[from] VariantErrors),
}

/// The text of a shipped game.
pub fn shipped(name: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|(known, _)| *known == name).map(|&(_, text)| text)
}

/// Loads a shipped game by its name, or a game from a file when the argument ends in `.toml` or has a path separator.
///
/// A file's `inherits` names a shipped game or a `.toml` file in the same directory.
///
/// # Errors
/// An unknown name, a file that cannot be read, or every fault of the file.
///
/// ```
/// use fairyforge_engine::variant::library::load;
/// assert_eq!(load("herculean")?.topology.width(), 12);
/// # Ok::<(), fairyforge_engine::variant::library::LoadError>(())
/// ```
pub fn load(name_or_path: &str) -> Result<Rules, LoadError> {
    read(name_or_path).map(Reading::into_rules)
}

/// As [`load`], with the places of what was read.
pub(super) fn read(name_or_path: &str) -> Result<Reading, LoadError> {
    if let Some(text) = shipped(name_or_path) {
        let file = format!("{name_or_path}.toml");
        return Ok(file::read(text, &file, name_or_path, &|name| shipped(name).map(Into::into))?);
    }
    let path = Path::new(name_or_path);
    let is_path = name_or_path.contains(['/', '\\']) || path.extension().is_some_and(|end| end == "toml");
    if !is_path {
        let nearest = file::nearest(name_or_path, SHIPPED.iter().map(|&(known, _)| known)).unwrap_or(SHIPPED[0].0);
        return Err(LoadError::UnknownName { name: name_or_path.into(), nearest });
    }
    let text = text_of(path).map_err(|source| LoadError::Read { path: path.into(), source })?;
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let sibling = |name: &str| {
        let plain = name.ends_with(".toml") && !name.contains(['/', '\\']);
        plain.then(|| text_of(&path.with_file_name(name)).ok()).flatten()
    };
    let inherited = |name: &str| shipped(name).map(Into::into).or_else(|| sibling(name));
    Ok(file::read(&text, name_or_path, &name, &inherited)?)
}

/// Reads a file up to a byte past the limit, so that a huge or endless one is refused and not swallowed. Only regular
/// files: a pipe could keep the program waiting for ever, and standard input is somebody else's to read.
fn text_of(path: &Path) -> std::io::Result<String> {
    use std::io::Read;
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "expected a regular file"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(file::MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| std::io::Error::new(std::io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Square;
    use crate::variant::rules::{BareKing, Colour, SideResult};

    /// The start positions as the games' rules write them, with hands.
    const STARTS: [(&str, &str); 10] = [
        ("chess", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"),
        (
            "herculean",
            "rzclfqkwlcsr/nnnnnbbnnnnn/pppppppppppp/12/12/12/12/12/12/PPPPPPPPPPPP/NNNNNBBNNNNN/RZCLFQKWLCSR",
        ),
        (
            "herculean-sorcerer-knights",
            "rsclfqkwlcsr/nnnnnbbnnnnn/pppppppppppp/12/12/12/12/12/12/PPPPPPPPPPPP/NNNNNBBNNNNN/RSCLFQKWLCSR",
        ),
        (
            "herculean-sorcerer-knights-lame",
            "rsclfqkwlcsr/nnnnnbbnnnnn/pppppppppppp/12/12/12/12/12/12/PPPPPPPPPPPP/NNNNNBBNNNNN/RSCLFQKWLCSR",
        ),
        ("opulent-lemurian-shatranj", "rh6hr/1wsngknsw1/pppppppppp/10/10/10/10/PPPPPPPPPP/1WSNGKNSW1/RH6HR"),
        ("shatranj", "rnbkqbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBKQBNR"),
        ("sorcerer", "****cc****/srnbqkbnrs/pppppppppp/10/10/10/10/10/10/PPPPPPPPPP/SRNBQKBNRS/****CC****"),
        (
            "sorcerer-reinforcements",
            "****cc****/srnbqkbnrs/pppppppppp/10/10/10/10/10/10/PPPPPPPPPP/SRNBQKBNRS/****CC****[GAJJJJgajjjj]",
        ),
        ("sorcerer-setup2", "****ss****/crnbqkbnrc/pppppppppp/10/10/10/10/10/10/PPPPPPPPPP/CRNBQKBNRC/****SS****"),
        (
            "sorcerer-setup2-reinforcements",
            "****ss****/crnbqkbnrc/pppppppppp/10/10/10/10/10/10/PPPPPPPPPP/CRNBQKBNRC/****SS****[GAJJJJgajjjj]",
        ),
    ];

    fn letter(rules: &Rules, unit: crate::variant::rules::Unit, colour: Colour) -> char {
        let letter = rules.units[unit.index()].letter;
        if colour == Colour::White { letter } else { letter.to_ascii_lowercase() }
    }

    /// The board field of the FEN that an array makes, with the hands.
    fn board_field(rules: &Rules) -> String {
        let topology = &rules.topology;
        let mut ranks = Vec::new();
        for row in (0..topology.height()).rev() {
            let (mut rank, mut empty) = (String::new(), 0);
            for file in 0..topology.width() {
                let square = Square::at(file, row).unwrap();
                let man = rules.array.iter().find(|man| man.0 == square);
                let shown = match man {
                    Some(&(_, unit, colour)) => Some(letter(rules, unit, colour)),
                    None if !topology.has(square) => Some('*'),
                    None => None,
                };
                match shown {
                    None => empty += 1,
                    Some(shown) => {
                        if empty > 0 {
                            rank.push_str(&empty.to_string());
                            empty = 0;
                        }
                        rank.push(shown);
                    }
                }
            }
            if empty > 0 {
                rank.push_str(&empty.to_string());
            }
            ranks.push(rank);
        }
        let mut field = ranks.join("/");
        if let Some(drops) = &rules.drops {
            let hand = |colour| -> String {
                let held = drops.hand.iter();
                held.map(|&(unit, count)| letter(rules, unit, colour).to_string().repeat(count.into())).collect()
            };
            field += &format!("[{}{}]", hand(Colour::White), hand(Colour::Black));
        }
        field
    }

    fn unit<'a>(rules: &'a Rules, name: &str) -> &'a crate::variant::rules::UnitRules {
        rules.units.iter().find(|unit| unit.name == name).unwrap()
    }

    fn square(rules: &Rules, name: &str) -> Square {
        rules.topology.parse(name).unwrap()
    }

    #[test]
    fn only_regular_files_are_read() {
        for path in ["/dev/null", "/"] {
            let error = load(path).unwrap_err().to_string();
            assert!(error.contains(path) && error.contains("expected a regular file"), "{error}");
        }
    }

    #[test]
    fn every_shipped_game_loads_with_its_array() {
        assert!(SHIPPED.is_sorted());
        for (name, text) in SHIPPED {
            assert!(load(name).is_ok_and(|rules| rules.name == *name), "{name}");
            assert!(text.starts_with("# "), "{name} does not say what it is");
        }
        for (name, start) in STARTS {
            let rules = load(name).unwrap_or_else(|error| panic!("{name}:\n{error}"));
            assert_eq!(board_field(&rules), start, "{name}");
        }
    }

    #[test]
    fn herculean_says_what_its_rules_say() {
        let rules = load("herculean").unwrap();
        let names = |units: Vec<crate::variant::rules::Unit>| -> String {
            units.iter().map(|&unit| rules.units[unit.index()].letter).collect()
        };
        assert_eq!(names(rules.promotion[0].to.iter().map(|choice| choice.unit).collect()), "QFSCLRBWZ");
        assert_eq!(rules.promotion[0].zone.len(), 12);
        let castling = rules.castling.as_ref().unwrap();
        let (higher, lower) = (castling.higher.as_ref().unwrap(), castling.lower.as_ref().unwrap());
        assert_eq!((higher.king, higher.partner), (square(&rules, "g1"), square(&rules, "l1")));
        assert_eq!((lower.king, lower.partner), (square(&rules, "g1"), square(&rules, "a1")));
        assert_eq!((&higher.steps[..], &lower.steps[..]), (&[1, 2, 3, 4][..], &[1, 2, 3, 4, 5][..]));
        let (pawn, ninja) = (unit(&rules, "pawn"), unit(&rules, "ninja_pawn"));
        assert!(pawn.takes_en_passant && pawn.taken_en_passant && !ninja.takes_en_passant && !ninja.taken_en_passant);
        assert!(pawn.resets_move_count && ninja.resets_move_count && !unit(&rules, "queen").resets_move_count);
        assert_eq!(pawn.patterns[2].to.unwrap().len(), 72);
        assert!(ninja.patterns.iter().any(|p| p.captures && !p.moves && p.from.is_some_and(|zone| zone.len() == 72)));
        assert_eq!(rules.units.iter().filter(|unit| unit.royal).map(|unit| unit.letter).collect::<String>(), "K");
        assert!(rules.units.iter().all(|unit| unit.name != "knight"));
        assert_eq!((rules.end.repetition, rules.end.move_count), (Some(3), Some(100)));
        assert_eq!((rules.end.stalemate, rules.end.bare_king), (SideResult::Draw, BareKing::PlaysOn));
    }

    #[test]
    fn the_other_games_say_what_their_rules_say() {
        let rules = load("sorcerer-setup2-reinforcements").unwrap();
        let drops = rules.drops.as_ref().unwrap();
        assert_eq!(drops.zone, [square(&rules, "e0"), square(&rules, "f0")].into_iter().collect());
        let late = rules.promotion[0].to.iter().filter(|choice| choice.after_drop);
        assert_eq!(late.map(|choice| rules.units[choice.unit.index()].letter).collect::<String>(), "GA");
        let castling = rules.castling.as_ref().unwrap();
        assert_eq!(castling.higher.as_ref().unwrap().partner, square(&rules, "i1"));
        assert_eq!(castling.lower.as_ref().unwrap().steps, [1, 2, 3, 4]);

        let rules = load("opulent-lemurian-shatranj").unwrap();
        let choices: Vec<(char, bool, bool)> = rules.promotion[0]
            .to
            .iter()
            .map(|choice| (rules.units[choice.unit.index()].letter, choice.only_captured, choice.one_per_colour))
            .collect();
        let expected = [
            ('G', false, false),
            ('H', true, false),
            ('N', true, false),
            ('R', true, false),
            ('S', true, true),
            ('W', true, true),
        ];
        assert_eq!(choices, expected);
        assert_eq!((rules.end.stalemate, rules.end.stalemate_by_bare_king), (SideResult::Loss, SideResult::Draw));
        assert!(rules.end.bare_kings_draw && rules.castling.is_none() && rules.drops.is_none());

        let rules = load("shatranj").unwrap();
        assert_eq!((rules.end.stalemate, rules.end.move_count), (SideResult::Loss, Some(140)));
        assert_eq!(rules.end.bare_king, BareKing::LosesUnlessBaringBack);
    }

    /// White's moves at the start, counted by a slow walk over the patterns; nobody can castle there, and no man is pinned.
    fn first_moves(rules: &Rules) -> usize {
        let man_on = |square: Square| rules.array.iter().find(|man| man.0 == square);
        let topology = &rules.topology;
        let mut moves = 0;
        for &(from, unit, _) in rules.array.iter().filter(|man| man.2 == Colour::White) {
            let square = |at: (i8, i8)| topology.step(from, at.0, at.1);
            let mut targets = std::collections::BTreeSet::new();
            for pattern in &rules.units[unit.index()].patterns {
                let starts = pattern.from.is_none_or(|zone| zone.contains(from));
                let occupied = |at| at != (0, 0) && square(at).and_then(man_on).is_some();
                for at in crate::variant::betza::tests::walk(pattern, &|at| square(at).is_some(), &occupied) {
                    let Some(to) = square(at).filter(|_| starts && at != (0, 0)) else { continue };
                    let ends = pattern.to.is_none_or(|zone| zone.contains(to));
                    let may = match man_on(to) {
                        None => pattern.moves,
                        Some(man) => pattern.captures && man.2 == Colour::Black,
                    };
                    if ends && may {
                        targets.insert(to);
                    }
                }
            }
            moves += targets.len();
        }
        moves
    }

    #[test]
    fn first_moves_are_as_many_as_others_counted() {
        let counts = [20, 44, 44, 42, 44, 16, 42, 42, 40, 40];
        for ((name, _), count) in STARTS.into_iter().zip(counts) {
            assert_eq!(first_moves(&load(name).unwrap()), count, "{name}");
        }
    }

    #[test]
    fn unknown_names_and_files() {
        let nearest = |name: &str| match load(name) {
            Err(LoadError::UnknownName { nearest, .. }) => nearest,
            other => panic!("{other:?}"),
        };
        assert_eq!(nearest("hercules"), "herculean");
        assert_eq!(nearest("Chess"), "chess");
        nearest("");
        assert!(matches!(load("no/such/file.toml"), Err(LoadError::Read { .. })));
        assert!(matches!(load("/"), Err(LoadError::Read { .. })));
    }

    #[test]
    fn a_file_inherits_from_shipped_games_and_its_siblings() {
        let directory = std::env::temp_dir().join(format!("fairyforge-library-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let write = |name: &str, text: &str| {
            let path = directory.join(name);
            std::fs::write(&path, text).unwrap();
            path.to_string_lossy().into_owned()
        };
        let child = write("child.toml", "format = 1\ninherits = \"parent.toml\"\n[pieces]\nqueen = \"none\"\n");
        assert!(load(&child).unwrap_err().to_string().contains("\"parent.toml\""));
        let to = "[promotion]\nto = [\"rook\"]\n";
        write("parent.toml", &format!("format = 1\ninherits = \"chess\"\n{to}[pieces]\nknight = \"none\"\n"));
        let error = load(&child).unwrap_err().to_string();
        assert!(error.contains("chess.toml") && error.contains("\"Q\"") && error.contains("\"N\""), "{error}");
        let loop_to = write("loop.toml", "format = 1\ninherits = \"loop.toml\"\n");
        assert!(load(&loop_to).unwrap_err().to_string().contains("inherit from itself"));
        let outside = write("outside.toml", "format = 1\ninherits = \"../child.toml\"\n");
        assert!(matches!(load(&outside), Err(LoadError::Faulty(_))));
        let binary = directory.join("binary.toml");
        std::fs::write(&binary, [0xff, 0xfe]).unwrap();
        assert!(matches!(load(&binary.to_string_lossy()), Err(LoadError::Read { .. })));
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
