//! Whether an engine plays by our rules: both count leaves below every move, from the start and from positions that a few
//! random moves lead to.

use super::dialogue::{Dialogue, shortened};
use super::options::listed;
use super::uci;
use crate::play::Fault;
use crate::selfplay::seeds::Dice;
use fairyforge_engine::game::Game;
use fairyforge_engine::moves::perft::divide;
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Plies that are counted: every move with every answer.
const DEPTH: u32 = 2;
/// Random games whose positions are compared. In so many of them captures, drops, castling, en passant and, on small
/// boards, promotions come up.
const GAMES: u64 = 8;
/// Leaves are counted again after so many plies of a random game.
const EVERY_PLIES: usize = 10;
/// Plies of a random game.
const MOST_PLIES: usize = 60;
/// Seed of the random games: every engine is asked the same.
const SEED: u64 = 1;
/// Moves that a message names, of a kind.
const MOST_NAMED: usize = 4;
/// Moves that are read of one answer; more than any position has.
const MOST_COUNTS: usize = 4_096;
/// For an answer that an engine owes which took the question for another.
const OWED: Duration = Duration::from_secs(1);

/// What the comparison of the rules has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RulesComparison {
    /// Every count was the same.
    Equal {
        /// Positions compared.
        positions: usize,
        /// Leaves counted in all of them.
        leaves: u64,
    },
    /// The engine counts no leaves, so nothing could be compared.
    NotOffered,
}

/// Other rules: where, and how it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesMismatch {
    /// Where the leaves were counted.
    pub place: String,
    /// Our leaves.
    pub ours: u64,
    /// Theirs.
    pub theirs: u64,
    /// Moves that only we have.
    pub only_ours: Vec<String>,
    /// Moves that only they have.
    pub only_theirs: Vec<String>,
    /// Moves that both have with other numbers of answers, each with ours and theirs.
    pub different: Vec<(String, u64, u64)>,
}

impl fmt::Display for RulesMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, ours, theirs, .. } = self;
        write!(f, "{DEPTH} plies from {place} we count {ours} leaves, it counts {theirs}")?;
        for (kind, moves) in [("only we have", &self.only_ours), ("only it has", &self.only_theirs)] {
            if !moves.is_empty() {
                write!(f, "; {kind} {}", named(moves))?;
            }
        }
        if !self.different.is_empty() {
            let texts = self.different.iter().map(|(mv, ours, theirs)| format!("{mv} ({ours} here, {theirs} there)"));
            write!(f, "; other numbers of answers to {}", named(&texts.collect::<Vec<_>>()))?;
        }
        Ok(())
    }
}

fn named(moves: &[String]) -> String {
    let shown = listed(&moves[..moves.len().min(MOST_NAMED)]);
    match moves.len().saturating_sub(MOST_NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Why rules were not compared to the end.
pub(super) enum Trouble {
    Fault(Fault),
    Mismatch(RulesMismatch),
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// A position that both sides count leaves of.
struct Probe {
    place: String,
    /// The line that sets it up.
    line: String,
    position: Position,
}

/// Compares the rules of an engine that has been set up.
pub(super) fn compare(dialogue: &mut Dialogue, variant: &Arc<Variant>) -> Result<RulesComparison, Trouble> {
    let (mut positions, mut leaves) = (0, 0);
    for mut probe in probes(variant) {
        let Some(theirs) = count(dialogue, &probe.line)? else { return Ok(RulesComparison::NotOffered) };
        leaves += agreed(&mut probe, &theirs).map_err(Trouble::Mismatch)?;
        positions += 1;
    }
    Ok(RulesComparison::Equal { positions, leaves })
}

/// The start as the engine knows it, as we write it, and positions beyond.
fn probes(variant: &Arc<Variant>) -> Vec<Probe> {
    let start = Position::start(variant);
    let own = Probe { place: "its own start".into(), line: "position startpos".into(), position: start.clone() };
    let place = format!("the start written as {} (set up by itself it agrees)", start.fen());
    let written = Probe { place, line: uci::position(&Game::new(start.clone())), position: start.clone() };
    let later = (0..GAMES).flat_map(|number| random_positions(&start, number));
    [own, written].into_iter().chain(later).collect()
}

fn random_positions(start: &Position, number: u64) -> Vec<Probe> {
    let mut dice = Dice::new(SEED, number);
    let mut game = Game::new(start.clone());
    let mut probes = Vec::new();
    for ply in 1..=MOST_PLIES {
        let Some(&mv) = dice.pick(&game.position().legal_moves()) else { break };
        game.play(mv);
        if game.outcome().is_some() {
            break;
        }
        if ply.is_multiple_of(EVERY_PLIES) {
            let place = game.position().fen();
            probes.push(Probe { place, line: uci::position(&game), position: game.position().clone() });
        }
    }
    probes
}

/// What an engine counted.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    moves: BTreeMap<String, u64>,
    total: u64,
}

/// Our number of leaves, if theirs are the same move by move. An engine that tells nothing but the sum is held to that.
fn agreed(probe: &mut Probe, theirs: &Counts) -> Result<u64, RulesMismatch> {
    let counts = divide(&mut probe.position, DEPTH).into_iter();
    let ours: BTreeMap<String, u64> = counts.map(|(mv, leaves)| (probe.position.move_text(mv), leaves)).collect();
    let total = ours.values().sum();
    if theirs.total == total && (theirs.moves.is_empty() || theirs.moves == ours) {
        return Ok(total);
    }
    let missing = |from: &BTreeMap<String, u64>, of: &BTreeMap<String, u64>| -> Vec<String> {
        of.keys().filter(|mv| !from.contains_key(*mv)).cloned().collect()
    };
    let different = ours.iter().filter_map(|(mv, &ours)| {
        theirs.moves.get(mv).filter(|theirs| **theirs != ours).map(|&theirs| (mv.clone(), ours, theirs))
    });
    Err(RulesMismatch {
        place: probe.place.clone(),
        ours: total,
        theirs: theirs.total,
        only_ours: if theirs.moves.is_empty() { Vec::new() } else { missing(&theirs.moves, &ours) },
        only_theirs: missing(&ours, &theirs.moves),
        different: different.collect(),
    })
}

/// What one line of an answer says.
#[derive(Debug, PartialEq, Eq)]
enum Reading {
    Move(String, u64),
    Total(u64),
    /// It looks for a move instead.
    Searching,
    BestMove,
    Unknown,
    Noise,
}

/// Has the engine count leaves; `None` if it cannot.
fn count(dialogue: &mut Dialogue, position: &str) -> Result<Option<Counts>, Fault> {
    dialogue.say(&format!("{position}\ngo perft {DEPTH}"))?;
    let mut counts = Counts::default();
    let (mut total, mut last) = (None, Reading::Noise);
    let mut last_sign = Instant::now();
    while last_sign.elapsed() < dialogue.patience.perft && !dialogue.is_stopped() {
        let Some(line) = dialogue.hear()? else { continue };
        last = reading(line.text.trim());
        match last {
            Reading::Noise => continue,
            Reading::Move(ref mv, leaves) if counts.moves.len() < MOST_COUNTS => {
                counts.moves.insert(mv.clone(), leaves);
                last_sign = line.at;
            }
            Reading::Total(leaves) => {
                total = Some(leaves);
                break;
            }
            _ => break,
        }
    }
    settle(dialogue, &last)?;
    let sum = (!counts.moves.is_empty()).then(|| counts.moves.values().sum());
    Ok(total.or(sum).map(|total| Counts { total, ..counts }))
}

/// Afterwards nothing of the answer is on its way any more, whatever the engine took the question for.
fn settle(dialogue: &mut Dialogue, last: &Reading) -> Result<(), Fault> {
    if !matches!(last, Reading::Total(_)) {
        dialogue.say("stop")?;
    }
    let remarks = dialogue.ready()?;
    let has_answered = remarks.iter().any(|remark| reading(remark) == Reading::BestMove);
    if matches!(last, Reading::Searching | Reading::Noise) && !has_answered {
        dialogue.listen(OWED, |line| reading(line) == Reading::BestMove)?;
    }
    Ok(())
}

fn reading(line: &str) -> Reading {
    let mut words = line.split_ascii_whitespace();
    match words.next() {
        Some("bestmove") => return Reading::BestMove,
        Some("info") if words.next() == Some("string") => {}
        Some("info") => return if uci::info(line).depth.is_some() { Reading::Searching } else { Reading::Noise },
        _ => {}
    }
    let small = line.to_ascii_lowercase();
    if small.contains("unknown command") {
        return Reading::Unknown;
    }
    let Some((left, number)) = line.rsplit_once([' ', ':', '\t']) else { return Reading::Noise };
    let Ok(leaves) = number.parse() else { return Reading::Noise };
    let left = left.trim_end_matches([' ', ':', '-', '=', '\t']);
    match left.to_ascii_lowercase().as_str() {
        "nodes searched" | "nodes" | "total" | "total nodes" | "leaves" | "total leaves" => Reading::Total(leaves),
        name if is_move(name) => Reading::Move(shortened(left), leaves),
        _ => Reading::Noise,
    }
}

/// Whether a word may be a move of some game: letters and ranks.
fn is_move(word: &str) -> bool {
    let has = |kind: fn(&char) -> bool| word.chars().any(|letter| kind(&letter));
    has(char::is_ascii_digit) && has(char::is_ascii_alphabetic) && !word.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_an_answer_are_told_apart() {
        let counted = |name: &str, leaves| Reading::Move(name.into(), leaves);
        for (line, expected) in [
            ("e2e4: 20", counted("e2e4", 20)),
            ("a11a12q - 7", counted("a11a12q", 7)),
            ("G@e0 3", counted("G@e0", 3)),
            ("Nodes searched: 400", Reading::Total(400)),
            ("Nodes searched  : 400", Reading::Total(400)),
            ("Total: 400", Reading::Total(400)),
            ("info depth 1 score cp 3 nodes 20", Reading::Searching),
            ("info nodes 20", Reading::Noise),
            ("info string Nodes searched: 400", Reading::Noise),
            ("bestmove e2e4", Reading::BestMove),
            ("Unknown command: 'go perft 2'.", Reading::Unknown),
            ("info string unknown command", Reading::Unknown),
            ("", Reading::Noise),
            ("readyok", Reading::Noise),
            ("Moves: 20", Reading::Noise),
            ("Nodes/second: 1000000", Reading::Noise),
            ("time(ms) : 3", Reading::Noise),
            ("e2e4: many", Reading::Noise),
            ("e2e4: 99999999999999999999", Reading::Noise),
        ] {
            assert_eq!(reading(line), expected, "{line:?}");
        }
    }

    #[test]
    fn a_difference_names_a_few_moves_of_each_kind() {
        let variant = Arc::new(Variant::load("chess").unwrap());
        let position = Position::start(&variant);
        let mut probe = Probe { place: "the start".into(), line: String::new(), position };
        let all: BTreeMap<String, u64> = ["a2a3", "a2a4", "b1c3", "b1d2", "h7h5"].map(|mv| (mv.into(), 20)).into();
        let mut theirs = Counts { moves: all, total: 100 };
        theirs.moves.insert("a2a4".into(), 19);
        let mismatch = agreed(&mut probe, &theirs).unwrap_err();
        assert_eq!(
            mismatch.to_string(),
            "2 plies from the start we count 400 leaves, it counts 100; only we have b1a3, b2b3, b2b4, c2c3 and 13 \
             more; only it has b1d2, h7h5; other numbers of answers to a2a4 (20 here, 19 there)"
        );
        assert_eq!(agreed(&mut probe, &Counts { total: 400, ..Counts::default() }), Ok(400), "a sum may do");
        assert!(agreed(&mut probe, &Counts { total: 399, ..Counts::default() }).is_err());
    }

    #[test]
    fn positions_beyond_the_start_are_the_same_for_all() {
        let variant = Arc::new(Variant::load("herculean").unwrap());
        let lines = || probes(&variant).into_iter().map(|probe| probe.line).collect::<Vec<_>>();
        let (first, second) = (lines(), lines());
        assert_eq!(first, second);
        assert_eq!(first.len(), 2 + GAMES as usize * MOST_PLIES / EVERY_PLIES);
    }
}
