//! Whether the games of a journal are what they should be: each is played through by the rules of the variant, and its
//! players, opening, result and end are found anew.

use super::journal::{GameEntry, Header, JournalError, JournalPlayer, Reader};
use super::openings::{OpeningBook, OpeningError};
use super::plan::{MatchPlan, PlayerPlan};
use super::sprt::{Sprt, SprtError};
use super::standing::Standing;
use crate::play::adjudication::Counts;
use crate::play::endgames::EndgamesError;
use crate::play::{Adjudication, FaultKind, ending};
use fairyforge_engine::endgame::Tables;
use fairyforge_engine::game::Game;
use fairyforge_engine::position::Position;
use fairyforge_engine::search::Params;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::Colour;
use std::path::Path;
use std::sync::Arc;

/// What was found.
#[derive(Clone, Debug)]
pub struct Verified {
    /// Games in the journal.
    pub games: u64,
    /// How the match stands by them.
    pub standing: Standing,
    /// Whether nothing is left to play.
    pub complete: bool,
    /// What is wrong, game by game.
    pub problems: Vec<String>,
}

/// Why a match cannot be verified at all.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The journal is damaged.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The openings are not there any more.
    #[error(transparent)]
    Openings(#[from] OpeningError),
    /// The endgame tables are not there any more, or are others.
    #[error(transparent)]
    Endgames(#[from] EndgamesError),
    /// The test cannot be made.
    #[error(transparent)]
    Sprt(#[from] SprtError),
}

/// Plays all games of the journal at `path` through.
///
/// # Errors
/// The journal or the openings cannot be read, or the test cannot be made.
pub fn verify_games(variant: &Arc<Variant>, plan: &MatchPlan, path: &Path) -> Result<Verified, VerifyError> {
    let reader = Reader::open(path)?;
    let schedule = plan.schedule();
    let mut standing = Standing::new(schedule.clone(), plan.players.len(), plan.sprt.map(Sprt::new).transpose()?);
    let openings = OpeningBook::open(variant, &plan.openings, plan.seed)?;
    let endgames = plan.adjudication.clone().load_endgames(variant, Path::to_path_buf)?;
    let referee = Replay { variant, adjudication: &plan.adjudication, endgames: endgames.as_deref() };
    let mut problems = header_problems(plan, reader.header());
    for entry in reader {
        let entry = entry?;
        let place = entry.number();
        if entry.pair >= schedule.pairs() {
            problems.push(format!("{place}: expected a pair below {}", schedule.pairs()));
            continue;
        }
        standing.add(&entry.summary())?;
        let slot = schedule.slot(entry.pair);
        let opening = openings.opening(slot.opening);
        let (white, black) = (slot.players[usize::from(entry.game)], slot.players[1 - usize::from(entry.game)]);
        let mut expect = |what: &str, expected: &str, got: &str| {
            if expected != got {
                problems.push(format!("{place}: expected the {what} {expected}, got {got}"));
            }
        };
        expect("players", &format!("{white} and {black}"), &format!("{} and {}", entry.white, entry.black));
        expect("opening", &opening.position.fen(), &entry.fen);
        expect("plies of the opening", &opening.plies.to_string(), &entry.plies.to_string());
        match referee.end(&entry) {
            Ok((termination, result)) => {
                expect("end", &termination, &entry.termination);
                expect("result", &result.to_string(), &entry.result.to_string());
            }
            Err(problem) => problems.push(format!("{place}: {problem}")),
        }
    }
    let complete = standing.is_over();
    Ok(Verified { games: standing.games(), standing, complete, problems })
}

fn header_problems(plan: &MatchPlan, header: &Header) -> Vec<String> {
    let names: Vec<&str> = plan.players.iter().map(|player| player.name.as_str()).collect();
    let whole = [
        ("variant", plan.variant.clone(), header.variant.clone()),
        ("rules hash", plan.rules_hash.clone(), header.rules_hash.clone()),
        ("seed", plan.seed.to_string(), header.seed.to_string()),
        ("players", names.join(", "), header.names().join(", ")),
    ];
    let whole = whole.map(|(what, plan, journal)| (what.to_owned(), plan, journal));
    let players = plan.players.iter().zip(&header.players).flat_map(|(player, told)| player_facts(player, told));
    let differs = |(what, plan, journal): (String, String, String)| {
        (plan != journal).then(|| format!("header: expected the {what} {plan} of the plan, got {journal}"))
    };
    whole.into_iter().chain(players).filter_map(differs).collect()
}

/// What the plan says of a player, and the journal: everything of our own engine, of others what was asked for.
fn player_facts(player: &PlayerPlan, told: &JournalPlayer) -> Vec<(String, String, String)> {
    let name = &player.name;
    let in_force = |key: &str| told.effective.get(key).cloned().unwrap_or_else(|| "nothing".into());
    let mut facts = vec![(format!("limits of {name}"), player.limits.to_string(), told.limits.clone())];
    let mut expect = |key: &str, value: String| facts.push((format!("{key} of {name}"), value, in_force(key)));
    if let (Some(weights), Some(table)) = (&player.weights, player.table_mebibytes) {
        expect("weights", weights.clone());
        expect("table_mebibytes", table.to_string());
        for row in Params::TABLE {
            expect(row.name, player.search.get(row.name).copied().unwrap_or(row.default).to_string());
        }
    }
    facts
}

/// What ends the games of a match.
struct Replay<'a> {
    variant: &'a Arc<Variant>,
    adjudication: &'a Adjudication,
    endgames: Option<&'a Tables>,
}

impl Replay<'_> {
    /// How the game ends if it is played through: its termination and the result for White.
    fn end(&self, entry: &GameEntry) -> Result<(String, i8), String> {
        let start = Position::from_fen(self.variant, &entry.fen).map_err(|error| error.to_string())?;
        let mut game = Game::new(start);
        let mut counts = Counts::after(entry.plies);
        let mut agreed = None;
        for (number, (text, &score)) in (1..).zip(entry.moves.split_whitespace().zip(&entry.scores)) {
            if let Some(ending) = ending(&game, self.endgames, agreed) {
                return Err(format!("expected no move after {}, got {text} as move {number}", ending.termination()));
            }
            let mv = game.position().parse_move(text).map_err(|error| format!("move {number}: {error}"))?;
            agreed = counts.hear(self.adjudication, game.position().side_to_move(), score);
            game.play(mv);
        }
        match (ending(&game, self.endgames, agreed), &entry.fault) {
            (Some(ending), None) => Ok((ending.termination(), sign(ending.winner()))),
            (None, Some(fault)) => fault_end(&game, entry, fault.player, fault.kind),
            (Some(ending), Some(fault)) => {
                Err(format!("expected the end by {}, got {}", ending.termination(), fault.kind))
            }
            (None, None) => Err(format!(
                "expected a game that has ended, got {:?} after {} moves",
                entry.termination,
                entry.scores.len()
            )),
        }
    }
}

/// A player fails when it is to move, or at the very beginning of a game.
fn fault_end(game: &Game, entry: &GameEntry, player: usize, kind: FaultKind) -> Result<(String, i8), String> {
    let failed = if player == entry.white { Colour::White } else { Colour::Black };
    if !entry.moves.is_empty() && game.position().side_to_move() != failed {
        return Err(format!("expected the failure of the side to move, got that of {failed:?}"));
    }
    Ok((kind.to_string(), sign(Some(failed.opponent()))))
}

const fn sign(winner: Option<Colour>) -> i8 {
    match winner {
        Some(Colour::White) => 1,
        Some(Colour::Black) => -1,
        None => 0,
    }
}
