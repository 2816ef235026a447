//! Golden playthroughs: for every shipped game a text file with its facts and one game, position by position, with the
//! legal moves. A change of rules shows as a change of these files and is reviewed as their diff.
//!
//! ```text
//! FAIRYFORGE_REGENERATE=1 cargo test -p fairyforge-engine --test golden
//! ```
//!
//! writes them anew. The moves that a file has are kept as long as they are legal and show every kind of move that the
//! game has; otherwise (or when the file is deleted first) seeds are tried until a game is found that does.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::{below, shipped};
use fairyforge_engine::game::Game;
use fairyforge_engine::moves::perft::perft;
use fairyforge_engine::moves::{Move, MoveKind};
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::{Colour, Unit};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Set to write the files instead of comparing them.
const REGENERATE: &str = "FAIRYFORGE_REGENERATE";
/// What to do about a difference that is meant.
const COMMAND: &str = "FAIRYFORGE_REGENERATE=1 cargo test -p fairyforge-engine --test golden";
/// Longest game, in plies.
const PLIES: usize = 90;
/// From this ply on a move that ends the game is played when there is one.
const MATING_PLY: usize = 40;
/// Every so many plies all legal moves are listed; elsewhere their number and a digest must do.
const LISTED: usize = 20;
/// Seeds tried for a game that shows all there is to show.
const SEEDS: u64 = 20_000;
/// Of the games that do, so many are played out in the hope of one that ends.
const HOPES: usize = 12;
/// Longest line of a list of moves.
const WIDTH: usize = 118;
/// Greatest size of all files together, in bytes: they are to be read by people.
const MOST_BYTES: u64 = 600_000;

/// A kind of move that random games seldom have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Capture,
    Castling,
    EnPassant,
    Promotion,
    Drop,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Capture, Self::Castling, Self::EnPassant, Self::Promotion, Self::Drop];

    const fn name(self) -> &'static str {
        match self {
            Self::Capture => "capture",
            Self::Castling => "castling",
            Self::EnPassant => "en-passant",
            Self::Promotion => "promotion",
            Self::Drop => "drop",
        }
    }

    fn of(position: &Position, mv: Move) -> Option<Self> {
        match mv.kind() {
            MoveKind::Castling => Some(Self::Castling),
            MoveKind::EnPassant => Some(Self::EnPassant),
            MoveKind::Promotion(_) => Some(Self::Promotion),
            MoveKind::Drop(_) => Some(Self::Drop),
            MoveKind::Normal => (!position.piece_at(mv.to()).is_none()).then_some(Self::Capture),
        }
    }

    /// Whether the rules provide for such moves.
    fn is_in(self, variant: &Variant) -> bool {
        let rules = variant.rules();
        match self {
            Self::Capture => true,
            Self::Castling => !variant.castling().is_empty(),
            Self::EnPassant => variant.en_passant_takers() != 0 && rules.units.iter().any(|unit| unit.taken_en_passant),
            Self::Promotion => !rules.promotion.is_empty(),
            Self::Drop => rules.drops.is_some(),
        }
    }
}

/// A game and the seed it was found with.
#[derive(Debug, PartialEq)]
struct Playthrough {
    seed: u64,
    moves: Vec<String>,
}

#[test]
fn playthroughs_are_those_of_the_files() {
    let regenerate = std::env::var_os(REGENERATE).is_some();
    let mut faults = Vec::new();
    for variant in shipped() {
        let path = golden_folder().join(format!("{}.txt", variant.name()));
        let known = std::fs::read_to_string(&path).unwrap_or_default();
        let done = if regenerate { regenerated(&variant, &path, &known) } else { compared(&variant, &path, &known) };
        faults.extend(done.err());
    }
    assert!(faults.is_empty(), "{}\n\nIf this is meant:  {COMMAND}\nand look at the diff.", faults.join("\n\n"));
}

#[test]
fn every_file_belongs_to_a_game_and_all_are_small() {
    let mut bytes = 0;
    for entry in std::fs::read_dir(golden_folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy();
        assert!(Variant::shipped_names().any(|shipped| shipped == name), "{}: no such game; delete it", path.display());
        bytes += path.metadata().unwrap().len();
    }
    assert!(bytes <= MOST_BYTES, "the golden files have {bytes} bytes, at most {MOST_BYTES} can be read by people");
}

fn golden_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden")
}

/// Compares what the file should say with what it says.
fn compared(variant: &Arc<Variant>, path: &Path, known: &str) -> Result<(), String> {
    let shown = format!("tests/data/golden/{}.txt", variant.name());
    if known.is_empty() {
        return Err(format!("{shown} is missing (expected at {})", path.display()));
    }
    let playthrough = Playthrough::read(known).ok_or_else(|| format!("{shown} has no line `seed NUMBER`"))?;
    let now = playthrough.tell(variant).map_err(|fault| format!("{shown}: {fault}"))?;
    missing(variant, &playthrough.moves).map_err(|fault| format!("{shown}: {fault}"))?;
    let (mut known, mut now) = (known.lines(), now.lines());
    for number in 1.. {
        match (known.next(), now.next()) {
            (None, None) => break,
            (known, now) if known == now => {}
            (known, now) => {
                let line = |line: Option<&str>| line.unwrap_or("(no more lines)").to_string();
                return Err(format!(
                    "{shown}, line {number} is the first that differs:\n  file: {}\n  now:  {}",
                    line(known),
                    line(now)
                ));
            }
        }
    }
    Ok(())
}

/// Writes the file anew, with the moves it had if they will do.
fn regenerated(variant: &Arc<Variant>, path: &Path, known: &str) -> Result<(), String> {
    let kept = Playthrough::read(known).filter(|kept| !kept.moves.is_empty() && missing(variant, &kept.moves).is_ok());
    let playthrough = kept.map_or_else(|| found(variant), Ok)?;
    let unfinished = path.with_extension("txt.tmp");
    std::fs::write(&unfinished, playthrough.tell(variant)?).unwrap();
    std::fs::rename(&unfinished, path).unwrap();
    Ok(())
}

/// Refuses moves that are not legal, or do not show every kind of move that the game has.
fn missing(variant: &Arc<Variant>, moves: &[String]) -> Result<(), String> {
    let mut game = Game::new(Position::start(variant));
    let mut seen = Vec::new();
    for text in moves {
        let mv = game.position().parse_move(text).map_err(|error| error.to_string())?;
        seen.extend(Kind::of(game.position(), mv));
        game.play(mv);
    }
    let unseen = Kind::ALL.into_iter().filter(|kind| kind.is_in(variant) && !seen.contains(kind));
    let names: Vec<_> = unseen.map(Kind::name).collect();
    if names.is_empty() { Ok(()) } else { Err(format!("the game shows no {}", names.join(", no "))) }
}

/// The first game, by seed, that shows all kinds of moves and ends, or at least shows them.
fn found(variant: &Arc<Variant>) -> Result<Playthrough, String> {
    let complete = |seed: &u64| missing(variant, &played(variant, *seed, PLIES)).is_ok();
    let mut first = None;
    for seed in (0..SEEDS).filter(complete).take(HOPES) {
        let moves = played(variant, seed, MATING_PLY);
        let playthrough = Playthrough { seed, moves };
        if playthrough.outcome(variant).is_some() && missing(variant, &playthrough.moves).is_ok() {
            return Ok(playthrough);
        }
        first.get_or_insert(seed);
    }
    let seed = first.ok_or_else(|| {
        let shown = (0..SEEDS.min(200)).map(|seed| missing(variant, &played(variant, seed, PLIES)).unwrap_err());
        let fewest = shown.min_by_key(String::len).unwrap_or_default();
        format!("{}: of {SEEDS} games none shows every kind of move: {fewest}", variant.name())
    })?;
    Ok(Playthrough { seed, moves: played(variant, seed, PLIES) })
}

/// A random game that prefers kinds of moves it has not had yet, and from `mating_ply` on moves that end it.
fn played(variant: &Arc<Variant>, seed: u64, mating_ply: usize) -> Vec<String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut game = Game::new(Position::start(variant));
    let mut wanted: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| kind.is_in(variant)).collect();
    let mut texts = Vec::new();
    while texts.len() < PLIES && game.outcome().is_none() {
        let position = game.position();
        let mut moves: Vec<(String, Move)> =
            position.legal_moves().into_iter().map(|mv| (position.move_text(mv), mv)).collect();
        // So that the order in which moves are generated does not matter.
        moves.sort();
        let ending = moves.iter().position(|(_, mv)| texts.len() >= mating_ply && ends(position, *mv));
        let (text, mv) = moves.swap_remove(ending.unwrap_or_else(|| choice(position, &moves, &wanted, &mut random)));
        wanted.retain(|&kind| Kind::of(position, mv) != Some(kind));
        texts.push(text);
        game.play(mv);
    }
    texts
}

fn ends(position: &Position, mv: Move) -> bool {
    let mut after = position.clone();
    after.make(mv, &mut Unobserved);
    after.outcome(1).is_some()
}

/// Index of the next move, drawn by lot with unequal chances.
fn choice(position: &Position, moves: &[(String, Move)], wanted: &[Kind], random: &mut ChaCha8Rng) -> usize {
    let chances: Vec<usize> = moves.iter().map(|(_, mv)| chance(position, *mv, wanted)).collect();
    let mut drawn = below(random, chances.iter().sum());
    chances
        .iter()
        .position(|&chance| match drawn.checked_sub(chance) {
            None => true,
            Some(rest) => {
                drawn = rest;
                false
            }
        })
        .unwrap()
}

fn chance(position: &Position, mv: Move, wanted: &[Kind]) -> usize {
    let variant = position.variant();
    let kind = Kind::of(position, mv);
    if kind.is_some_and(|kind| wanted.contains(&kind)) {
        return 2_000;
    }
    let at_home =
        |unit: Unit| unit == variant.royal() || variant.castling().iter().any(|wing| wing.partner_unit == unit);
    let unit = position.piece_at(mv.from()).unit();
    match kind {
        Some(Kind::Drop) => 2,
        Some(_) => 30,
        // Whoever wants to castle leaves king and partner where they are.
        None if wanted.contains(&Kind::Castling) && at_home(unit) => 1,
        None if wanted.contains(&Kind::Promotion)
            && !variant.promotion_zone(unit, position.side_to_move()).is_empty() =>
        {
            25
        }
        None => 10,
    }
}

impl Playthrough {
    /// The game of a file: its seed, and the second word of every line that begins with a number.
    fn read(text: &str) -> Option<Self> {
        let words = || text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let seed = words().find(|words| words.first() == Some(&"seed"))?.get(1)?.parse().ok()?;
        let ply = |words: &Vec<&str>| words.len() > 2 && words[0].parse::<usize>().is_ok_and(|ply| ply > 0);
        let moves = words().filter(ply).map(|words| words[1].into()).collect();
        Some(Self { seed, moves })
    }

    fn outcome(&self, variant: &Arc<Variant>) -> Option<String> {
        let mut game = Game::new(Position::start(variant));
        for text in &self.moves {
            let mv = game.position().parse_move(text).unwrap();
            game.play(mv);
        }
        outcome_text(&game)
    }

    /// The whole file.
    fn tell(&self, variant: &Arc<Variant>) -> Result<String, String> {
        let mut text = facts(variant);
        let _ = writeln!(text, "seed     {}", self.seed);
        let _ = writeln!(text, "\nply move      position, number of legal moves, their digest");
        let mut game = Game::new(Position::start(variant));
        tell_position(&mut text, &game, 0, "-");
        for (ply, move_text) in (1..).zip(&self.moves) {
            let mv = game.position().parse_move(move_text).map_err(|error| format!("ply {ply}: {error}"))?;
            if let Some(outcome) = outcome_text(&game) {
                return Err(format!("ply {ply}: the game has ended before: {outcome}"));
            }
            game.play(mv);
            tell_position(&mut text, &game, ply, move_text);
        }
        let _ = writeln!(text, "\nend      {}", outcome_text(&game).unwrap_or_else(|| "not reached".into()));
        Ok(text)
    }
}

fn outcome_text(game: &Game) -> Option<String> {
    game.outcome().map(|outcome| {
        let winner = outcome.winner.map_or("draw".into(), |winner| format!("{winner:?} wins"));
        format!("{}, {winner}", outcome.reason)
    })
}

/// What is to be known of a game before it begins.
fn facts(variant: &Arc<Variant>) -> String {
    let (rules, topology) = (variant.rules(), variant.topology());
    let start = Position::start(variant);
    let counts = (1..=3).map(|depth| perft(&mut start.clone(), depth).to_string()).collect::<Vec<_>>();
    let kinds: Vec<_> = Kind::ALL.into_iter().filter(|kind| kind.is_in(variant)).map(Kind::name).collect();
    let mut text = format!("Golden playthrough, made by: {COMMAND}\n\n");
    let men = Colour::BOTH.map(|colour| start.men(colour).len());
    for (key, value) in [
        ("game", format!("{} ({})", rules.title, variant.name())),
        ("rules", variant.rules_hash().into()),
        ("board", format!("{} x {}, {} squares", topology.width(), topology.height(), topology.squares().len())),
        ("men", format!("{} White, {} Black", men[0], men[1])),
        ("start", start.fen()),
        ("perft", counts.join(" ")),
        ("kinds", kinds.join(" ")),
    ] {
        let _ = writeln!(text, "{key:<8} {value}");
    }
    let _ = writeln!(text, "\nunit                     array  hand  steps on the empty board: moving, taking");
    variant.units().for_each(|unit| unit_facts(&mut text, variant, unit));
    text.push('\n');
    text
}

/// Letter, name, numbers at the start, and the squares reached from all squares of the empty board together.
fn unit_facts(text: &mut String, variant: &Variant, unit: Unit) {
    let rules = variant.unit(unit);
    let squares = f64::from(variant.topology().squares().len());
    let reached = variant.mean_mobility(unit, 1.0);
    let array = Colour::BOTH.map(|colour| variant.array_count(colour, unit));
    let _ = writeln!(
        text,
        "{} {:<22} {:>2}+{:<2}  {:>3}   {:.0}, {:.0}{}",
        rules.letter,
        rules.name,
        array[0],
        array[1],
        variant.hand_size(unit),
        reached.moves * squares,
        reached.captures * squares,
        if rules.royal { ", royal" } else { "" }
    );
}

fn tell_position(text: &mut String, game: &Game, ply: usize, move_text: &str) {
    let position = game.position();
    let moves = common::texts(position);
    let check = if position.in_check() { " check" } else { "" };
    let _ = writeln!(text, "{ply:<3} {move_text:<9} {}  {} {}{check}", position.fen(), moves.len(), digest(&moves));
    if ply.is_multiple_of(LISTED) {
        let mut line = String::from("   ");
        for word in moves {
            if line.len() + word.len() >= WIDTH {
                let _ = writeln!(text, "{line}");
                line = "   ".into();
            }
            let _ = write!(line, " {word}");
        }
        let _ = writeln!(text, "{line}");
    }
}

/// The beginning of the SHA-256 of the sorted moves, each with a blank after it.
fn digest(moves: &[String]) -> String {
    let mut hash = Sha256::new();
    moves.iter().for_each(|text| hash.update(format!("{text} ")));
    hash.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}
