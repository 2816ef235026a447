//! How much may be played to decide claims.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Most games, and most seconds, that may be asked for: they catch slips of the keyboard.
const MOST_GAMES: u64 = 1_000_000_000;
const MOST_SECONDS: u64 = 366 * 24 * 60 * 60;
/// Words for lengths of time, with their seconds.
const UNITS: [(&str, u64); 3] = [("min", 60), ("h", 60 * 60), ("s", 1)];

/// So many games, or so much time; reads `2000`, `90s`, `30min` or `2h`.
///
/// A number of games decides nothing but when to stop; with a time the same command may stop elsewhere on another machine, but the
/// games before that are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// Games in all.
    Games(u64),
    /// Time of this command.
    Time(Duration),
}

/// Why a text is no budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected games as 2000, or a time as 90s, 30min or 2h, got {0:?}")]
pub struct BudgetError(String);

impl FromStr for Budget {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Self, BudgetError> {
        let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let count = |most: u64| number.parse().ok().filter(|count| (1..=most).contains(count));
        let budget = match UNITS.iter().find(|(word, _)| *word == unit) {
            Some((_, seconds)) => {
                count(MOST_SECONDS / seconds).map(|count| Duration::from_secs(count * seconds)).map(Self::Time)
            }
            None if unit.is_empty() => count(MOST_GAMES).map(Self::Games),
            None => None,
        };
        budget.ok_or_else(|| BudgetError(text.chars().take(24).collect()))
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Games(games) => write!(f, "{games}"),
            Self::Time(time) => {
                let seconds = time.as_secs();
                let (word, size) = if seconds % 60 == 0 { UNITS[0] } else { UNITS[2] };
                write!(f, "{}{word}", seconds / size)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_and_refused() {
        let read = |text: &str| text.parse::<Budget>();
        assert_eq!(read("2000"), Ok(Budget::Games(2000)));
        assert_eq!(read("30min"), Ok(Budget::Time(Duration::from_secs(1800))));
        assert_eq!(read("2h"), read("120min"));
        assert_eq!(read("90s"), Ok(Budget::Time(Duration::from_secs(90))));
        for refused in ["", "0", "min", "-5", "3.5h", "10 min", "10d", "99999999999999999999", "9000h"] {
            assert_eq!(read(refused), Err(BudgetError(refused.to_owned())));
        }
        for text in ["2000", "30min", "90s", "120min"] {
            assert_eq!(read(text).unwrap().to_string(), text);
        }
    }
}
