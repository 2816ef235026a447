//! What makes a position an opening: conditions that it fulfils without being searched, and those that a search and games tell of.

use super::exits::Exit;
use super::journal::Examined;
use super::plan::{GameSettings, SuitePlan};
use fairyforge_engine::position::Position;
use fairyforge_engine::search::score::is_mate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A condition, in the order in which they are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// The game goes on.
    GoesOn,
    /// So many plies from the root.
    Plies,
    /// No search sees a mate.
    NoMate,
    /// The book's value lies in the window.
    Value,
    /// The side to move is not in check.
    NoCheck,
    /// It is the right side's turn.
    ToMove,
    /// Both sides have moves enough.
    Moves,
    /// The second search's value lies in the window or close to it.
    SecondSearch,
    /// The games give White a share of the points within bounds.
    Games,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GoesOn => "the game is over",
            Self::NoCheck => "in check",
            Self::Plies => "too few or too many plies",
            Self::ToMove => "the other side's turn",
            Self::NoMate => "a mate in sight",
            Self::Value => "outside the window by the book's value",
            Self::Moves => "too few legal moves",
            Self::SecondSearch => "outside the window by the second search",
            Self::Games => "decided in the games",
        })
    }
}

/// How many positions each condition turned away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TurnedAway(BTreeMap<Condition, u64>);

impl TurnedAway {
    /// One more.
    pub fn add(&mut self, condition: Condition) {
        *self.0.entry(condition).or_default() += 1;
    }

    /// By this condition.
    pub fn by(&self, condition: Condition) -> u64 {
        self.0.get(&condition).copied().unwrap_or_default()
    }

    /// By all.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

impl fmt::Display for TurnedAway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told: Vec<String> = self.0.iter().map(|(condition, count)| format!("{count} {condition}")).collect();
        f.write_str(&if told.is_empty() { "none".to_owned() } else { told.join(", ") })
    }
}

/// What turns an exit away before anything is searched.
pub fn unfit(plan: &SuitePlan, exit: &Exit, position: &Position) -> Option<Condition> {
    let settings = &plan.openings;
    if exit.over {
        return Some(Condition::GoesOn);
    }
    let plies = settings.least_plies..=settings.most_plies;
    if !plies.contains(&u16::try_from(exit.way.len()).unwrap_or(u16::MAX)) {
        return Some(Condition::Plies);
    }
    let value = exit.value.map(i32::from);
    if value.is_some_and(is_mate) {
        return Some(Condition::NoMate);
    }
    if value.is_some_and(|value| !(settings.from..=settings.to).contains(&value)) {
        return Some(Condition::Value);
    }
    unfit_position(plan, position)
}

/// What is wrong with a position, whatever its value.
pub fn unfit_position(plan: &SuitePlan, position: &Position) -> Option<Condition> {
    let settings = &plan.openings;
    if position.outcome(1).is_some() {
        Some(Condition::GoesOn)
    } else if position.in_check() {
        Some(Condition::NoCheck)
    } else if !settings.colour.allows(position.side_to_move()) {
        Some(Condition::ToMove)
    } else if fewest_moves(position) < settings.least_moves {
        Some(Condition::Moves)
    } else {
        None
    }
}

/// Legal moves of the side to move, or of the other one if it were its turn: whichever are fewer. Only of positions without check.
fn fewest_moves(position: &Position) -> usize {
    let mut passed = position.clone();
    passed.make_null();
    position.legal_moves().len().min(passed.legal_moves().len())
}

/// What the second search turns away.
pub fn unfit_score(plan: &SuitePlan, score: i16) -> Option<Condition> {
    let (settings, margin) = (&plan.openings, plan.verify.margin);
    let score = i32::from(score);
    if is_mate(score) {
        Some(Condition::NoMate)
    } else if !(settings.from - margin..=settings.to + margin).contains(&score) {
        Some(Condition::SecondSearch)
    } else {
        None
    }
}

/// What turns away a position that was looked at closely.
pub fn unfit_finding(plan: &SuitePlan, examined: &Examined) -> Option<Condition> {
    unfit_score(plan, examined.score)
        .or_else(|| (!is_contested(&plan.games, &examined.games)).then_some(Condition::Games))
}

/// Whether White's share of the points lies within bounds, for results of 1, 0 and −1; no games are no objection.
pub fn is_contested(settings: &GameSettings, games: &[i8]) -> bool {
    if games.is_empty() {
        return true;
    }
    let half_points: i32 = games.iter().map(|&result| i32::from(result) + 1).sum();
    let share = f64::from(half_points) / (2 * games.len()) as f64;
    (settings.least..=settings.most).contains(&share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairyforge_engine::variant::Variant;
    use std::sync::Arc;

    fn plan(more: &str) -> SuitePlan {
        let least = "format = 1\nvariant = \"chess\"\nseed = 1\nbook = \"x.book\"\n";
        SuitePlan::read(&format!("{least}{more}")).unwrap()
    }

    fn position(fen: &str) -> Position {
        Position::from_fen(&Arc::new(Variant::load("chess").unwrap()), fen).unwrap()
    }

    #[test]
    fn both_sides_need_moves_and_nobody_may_be_in_check() {
        let plan = plan("[openings]\nleast_moves = 20\n");
        let unfit = |fen| unfit_position(&plan, &position(fen));
        assert_eq!(unfit("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"), None);
        // White has moves; Black, who is not to move, has his king's alone.
        assert_eq!(unfit("6k1/8/8/8/8/8/8/R3QK1R w - - 0 1"), Some(Condition::Moves));
        assert_eq!(unfit("k7/8/8/8/4r3/8/8/4KQRB w - - 0 1"), Some(Condition::NoCheck));
        assert_eq!(unfit("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1"), Some(Condition::GoesOn));
        let whites = super::tests::plan("[openings]\ncolour = \"white\"\n");
        let black = position("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
        assert_eq!(unfit_position(&whites, &black), Some(Condition::ToMove));
    }

    #[test]
    fn the_window_is_whites_and_the_margin_widens_it() {
        let plan = plan("[openings]\nfrom = 60\nto = 140\n[verify]\nmargin = 5\n");
        let unfit = |score| unfit_score(&plan, score);
        assert_eq!([55, 60, 145].map(unfit), [None; 3]);
        assert_eq!([54, 146, -60, -100].map(unfit), [Some(Condition::SecondSearch); 4]);
        assert_eq!(unfit(30_900), Some(Condition::NoMate));
        assert_eq!(unfit(-30_900), Some(Condition::NoMate));
    }

    #[test]
    fn shares_are_whites_with_draws_as_halves() {
        let settings = GameSettings::default();
        let contested = |games: &[i8]| is_contested(&settings, games);
        assert!(contested(&[]) && contested(&[1, -1]) && contested(&[0, 0, 1, 0]) && contested(&[1, 1, 0, -1]));
        assert!(contested(&[1, 1, 0, 0]), "three quarters are within bounds");
        assert!(!contested(&[1, 1, 1, 0]) && !contested(&[-1, -1, -1, 0]) && !contested(&[1, 1]));
    }

    #[test]
    fn what_was_turned_away_is_told_in_order() {
        let mut turned_away = TurnedAway::default();
        assert_eq!(turned_away.to_string(), "none");
        [Condition::Games, Condition::Plies, Condition::Games].into_iter().for_each(|by| turned_away.add(by));
        assert_eq!(turned_away.to_string(), "1 too few or too many plies, 2 decided in the games");
        assert_eq!((turned_away.total(), turned_away.by(Condition::Games)), (3, 2));
        assert_eq!(serde_json::to_string(&turned_away).unwrap(), r#"{"plies":1,"games":2}"#);
    }
}
