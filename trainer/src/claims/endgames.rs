//! What a few men can do: answered from tables that are made here, in memory. They are exact.
//!
//! A table knows the ends of the variant's own rules. What can be won by mate alone is asked of the same game in which stalemate is a
//! draw and a king left alone plays on.

use super::evidence::Unmeasured;
use super::file::ClaimSet;
use super::language::{Endgame, Force, Goal};
use super::verdict::{Answer, grouped};
use fairyforge_engine::endgame::{EndgameError, Material, Plan, Stage, Statistics, Table, Tables, Work, solve};
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::{BareKing, Colour, SideResult};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How such answers are known.
const METHOD: &str = "exact: table of all positions";

/// Hears how far one table is.
pub type Hearer = Box<dyn Fn(Stage) + Sync>;

/// How tables are made: by how many threads, until when, in how much memory, and who hears of it.
pub struct TableWork<'a> {
    /// Threads; 0 is one a core.
    pub threads: usize,
    /// Set from elsewhere to stop: what was begun is given up.
    pub stop: &'a AtomicBool,
    /// Memory that the tables of one endgame may take together, in mebibytes.
    pub mebibytes: u64,
    /// Called with the name of each table; what it returns hears how far it is.
    pub hearer: &'a dyn Fn(&str) -> Hearer,
}

/// Somebody asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped")]
pub struct Stopped;

/// Why there is no answer.
enum Without {
    Stopped,
    Reason(Unmeasured),
}

impl From<EndgameError> for Without {
    fn from(error: EndgameError) -> Self {
        match error {
            EndgameError::Stopped { .. } => Self::Stopped,
            error => Self::Reason(Unmeasured::NoTable(error.to_string())),
        }
    }
}

/// Whether some men can do what is claimed, or the reason why that is not known.
///
/// # Errors
/// Somebody asked to stop.
pub(super) fn answer(
    set: &ClaimSet,
    endgame: &Endgame,
    work: &TableWork,
) -> Result<Result<Answer, Unmeasured>, Stopped> {
    match counted(set, endgame, work) {
        Ok(counts) => Ok(Ok(counts.answer(endgame))),
        Err(Without::Reason(reason)) => Ok(Err(reason)),
        Err(Without::Stopped) => Err(Stopped),
    }
}

/// The counts of an endgame's table.
struct Counts {
    side: Colour,
    /// The stronger side to move.
    strong: Statistics,
    /// The weaker side to move.
    weak: Statistics,
}

fn counted(set: &ClaimSet, endgame: &Endgame, work: &TableWork) -> Result<Counts, Without> {
    let variant = match endgame.goal {
        Goal::Win => Arc::clone(&set.variant),
        Goal::Mate => Arc::new(with_mate_alone(&set.variant)?),
    };
    let material = Material::parse(&variant, &endgame.men)?;
    let plan = Plan::of(&variant, &material)?;
    refuse_too_large(&plan, work.mebibytes)?;
    let table = make(&variant, &plan, work)?;
    let hearer = (work.hearer)(&format!("{}, counting", endgame.men));
    let counting = Work { threads: work.threads, stop: work.stop, report: &*hearer };
    let counts = |side| table.statistics(side, &counting).ok_or(Without::Stopped);
    let side =
        if material.count(Colour::Black) > material.count(Colour::White) { Colour::Black } else { Colour::White };
    Ok(Counts { side, strong: counts(side)?, weak: counts(side.opponent())? })
}

/// The same game in which nothing wins but mate.
fn with_mate_alone(variant: &Variant) -> Result<Variant, Without> {
    let mut rules = variant.rules().clone();
    rules.end.stalemate = SideResult::Draw;
    rules.end.stalemate_by_bare_king = SideResult::Draw;
    rules.end.bare_king = BareKing::PlaysOn;
    Variant::compile(rules).map_err(|error| Without::Reason(Unmeasured::NoTable(error.to_string())))
}

/// All tables of a plan stay in memory until the last is made.
fn refuse_too_large(plan: &Plan, allowed: u64) -> Result<(), Without> {
    let bytes: u64 = plan.tables.iter().map(|planned| 2 * planned.slots).sum();
    let needed = bytes.div_ceil(1 << 20);
    if needed > allowed { Err(Without::Reason(Unmeasured::TooLarge { needed, allowed })) } else { Ok(()) }
}

/// Makes the tables of a plan in their order and returns the last.
fn make(variant: &Arc<Variant>, plan: &Plan, work: &TableWork) -> Result<Table, Without> {
    let mut tables = Tables::new();
    let (last, smaller) =
        plan.tables.split_last().ok_or_else(|| Without::Reason(Unmeasured::NoTable("no men".into())))?;
    let make = |planned, tables: &Tables| {
        let planned: &fairyforge_engine::endgame::Planned = planned;
        let hearer = (work.hearer)(&planned.material.text(variant));
        solve(variant, planned, tables, &Work { threads: work.threads, stop: work.stop, report: &*hearer })
    };
    for planned in smaller {
        let table = make(planned, &tables)?;
        tables.insert(table);
    }
    Ok(make(last, &tables)?)
}

impl Counts {
    fn answer(&self, endgame: &Endgame) -> Answer {
        let Statistics { positions, won, longest_win, .. } = &self.strong;
        let share = *won as f64 / (*positions).max(1) as f64;
        let forced = match endgame.force {
            None => true,
            Some(Force::Can) => share >= endgame.share,
            Some(Force::Cannot) => share <= 1.0 - endgame.share,
        };
        let moves = longest_win.as_ref().map(|longest| longest.value.moves());
        let is_as_long = endgame.longest_moves.is_none_or(|claimed| moves.unwrap_or(0) == claimed);
        let finding = self.finding(share, endgame);
        Answer { holds: forced && is_as_long, value: Some(share), finding, method: METHOD }
    }

    fn finding(&self, share: f64, endgame: &Endgame) -> String {
        let Self { side, strong, weak } = self;
        let alone = if endgame.goal == Goal::Mate { " by mate alone" } else { "" };
        let mut text = format!(
            "{} of {} positions with {side:?} to move are won{alone} ({:.1} %), {} of {} with {:?} to move lost",
            grouped(strong.won),
            grouped(strong.positions),
            100.0 * share,
            grouped(weak.lost),
            grouped(weak.positions),
            side.opponent(),
        );
        if let Some(longest) = &strong.longest_win {
            let moves = longest.value.moves();
            let plural = if moves == 1 { "" } else { "s" };
            text = format!("{text}; the longest win takes {moves} move{plural}, from {}", longest.fen);
        }
        if let Some(claimed) = endgame.longest_moves {
            text = format!("{text}; claimed {claimed}");
        }
        text
    }
}
