//! Match statistics for a fixed number of games: score, Elo, normalised Elo and the likelihood of superiority.
//!
//! Openings are played twice with colours exchanged, and the two games of such a pair are correlated, so errors come
//! from pair scores (the pentanomial) and never from single games. A half pair enters nothing; it is only counted.
//!
//! Nothing here is ever NaN or infinite. What cannot be said is typed: [`Measure::NotAvailable`] says why, an Elo
//! beyond all bounds is [`Elo::Above`] or [`Elo::Below`], and both are `null` in JSON.
//!
//! This is not a sequential test: after a sequential stop the plain Elo is biased. See [`super::sprt`].
//!
//! Sources: Van den Bergh, "Normalized Elo" and "The GSPRT approximation"; Fishtest's mathematics pages.

use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize, Serializer};
use statrs::function::erf::erfc;
use thiserror::Error;

use crate::fit::NORMAL_97_5;

/// Normalised Elo is (s−½)/σ of a game times this: the slope of Elo by score at ½, which is 1600/ln 10, for a σ of ½.
pub(super) const NORMALIZED_ELO_UNIT: f64 = 800.0 / std::f64::consts::LN_10;

/// Fewer observations than this have no standard error.
const FEWEST_OBSERVATIONS: u64 = 2;

/// The result of one game from the first player's view, whatever the colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GameResult {
    /// The first player won.
    Win,
    /// Drawn.
    Draw,
    /// The first player lost.
    Loss,
}

/// Games by result, from the first player's view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GameCounts {
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
}

/// Pairs by their sum of points: LL, LD, DD or WL, WD, WW.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PairCounts(pub [u64; 5]);

/// The tally of a match: complete pairs, the games in them, and games still without a partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct MatchTally {
    games: GameCounts,
    pairs: PairCounts,
    unpaired_games: u64,
}

/// Why counts do not describe a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TallyError {
    /// The games are not twice the pairs.
    #[error("expected {expected} games for the pairs given, got {got}")]
    Games {
        /// Twice the number of pairs.
        expected: u128,
        /// Sum of the game counts.
        got: u128,
    },
    /// Games and pairs disagree about the points.
    #[error("expected {expected} half points from the pairs given, got {got} from the games")]
    HalfPoints {
        /// Half points of the pairs.
        expected: u128,
        /// Half points of the games.
        got: u128,
    },
}

/// Why a number cannot be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// There is no observation at all.
    NoGames,
    /// A single observation has no standard error.
    TooFew,
    /// All observations are equal.
    NoVariance,
}

/// A finite number, or the reason why there is none. In JSON a number or `null`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// The number.
    Known(f64),
    /// Why there is none.
    NotAvailable(Missing),
}

/// An Elo difference; a score of 0 or 1 lies beyond every finite one. In JSON a number or `null`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Elo {
    /// Below every bound: the score is at most 0.
    Below,
    /// Elo points.
    Finite(f64),
    /// Above every bound: the score is at least 1.
    Above,
}

/// The 95 % interval of an Elo difference: that of the score, edge by edge.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EloInterval {
    /// Lower edge.
    pub low: Elo,
    /// Upper edge.
    pub high: Elo,
}

/// Mean and variance of scores in \[0, 1\], from pairs or, where nothing is paired, from games.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreSample {
    observations: u64,
    games_per_observation: f64,
    mean: f64,
    variance: f64,
}

/// Everything printed or written about a match.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MatchSummary {
    /// Games of complete pairs.
    pub games: GameCounts,
    /// Complete pairs.
    pub pentanomial: PairCounts,
    /// Games whose partner is missing; they enter nothing else.
    pub unpaired_games: u64,
    /// Points per game, 0 to 1.
    pub score: Measure,
    /// Standard error of the score, from pairs.
    pub score_error: Measure,
    /// The logistic Elo difference of the score; `None` without games.
    pub elo: Option<Elo>,
    /// Its 95 % interval; `None` without variance.
    pub elo_interval: Option<EloInterval>,
    /// Normalised Elo: (s−½)/(√2·σ of a pair)·800/ln 10.
    pub normalized_elo: Measure,
    /// Half the width of its 95 % interval.
    pub normalized_elo_error: Measure,
    /// Φ((s−½)/standard error), 0 to 1.
    pub likelihood_of_superiority: Measure,
}

impl GameResult {
    fn half_points(self) -> usize {
        match self {
            Self::Loss => 0,
            Self::Draw => 1,
            Self::Win => 2,
        }
    }
}

impl GameCounts {
    /// Number of games.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.wins.saturating_add(self.draws).saturating_add(self.losses)
    }

    fn add(&mut self, result: GameResult) {
        match result {
            GameResult::Win => self.wins += 1,
            GameResult::Draw => self.draws += 1,
            GameResult::Loss => self.losses += 1,
        }
    }
}

impl PairCounts {
    /// Number of pairs.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, &count| sum.saturating_add(count))
    }
}

impl MatchTally {
    /// A match without games.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A tally from stored counts.
    ///
    /// # Errors
    /// [`TallyError`] when the games cannot be those of the pairs.
    pub fn from_counts(games: GameCounts, pairs: PairCounts, unpaired_games: u64) -> Result<Self, TallyError> {
        let wide = |count: u64| u128::from(count);
        let expected = 2 * pairs.0.iter().copied().map(wide).sum::<u128>();
        let got = wide(games.wins) + wide(games.draws) + wide(games.losses);
        if got != expected {
            return Err(TallyError::Games { expected, got });
        }
        let expected = (0..).zip(pairs.0).map(|(half_points, count)| half_points * wide(count)).sum();
        let got = 2 * wide(games.wins) + wide(games.draws);
        if got != expected {
            return Err(TallyError::HalfPoints { expected, got });
        }
        Ok(Self { games, pairs, unpaired_games })
    }

    /// Adds a complete pair: the first player's results in its two games.
    pub fn add_pair(&mut self, one: GameResult, other: GameResult) {
        self.pairs.0[one.half_points() + other.half_points()] += 1;
        self.games.add(one);
        self.games.add(other);
    }

    /// Notes a game whose partner is missing.
    pub fn add_unpaired(&mut self) {
        self.unpaired_games += 1;
    }

    /// The games of complete pairs.
    #[must_use]
    pub fn games(&self) -> GameCounts {
        self.games
    }

    /// The complete pairs.
    #[must_use]
    pub fn pairs(&self) -> PairCounts {
        self.pairs
    }

    /// Everything that can be said about the match so far.
    #[must_use]
    pub fn summary(&self) -> MatchSummary {
        let sample = ScoreSample::from_pairs(&self.pairs);
        MatchSummary {
            games: self.games,
            pentanomial: self.pairs,
            unpaired_games: self.unpaired_games,
            score: sample.score(),
            score_error: sample.standard_error(),
            elo: sample.elo(),
            elo_interval: sample.elo_interval(),
            normalized_elo: sample.normalized_elo(),
            normalized_elo_error: sample.normalized_elo_error(),
            likelihood_of_superiority: sample.likelihood_of_superiority(),
        }
    }
}

impl AddAssign for MatchTally {
    fn add_assign(&mut self, other: Self) {
        self.games.wins += other.games.wins;
        self.games.draws += other.games.draws;
        self.games.losses += other.games.losses;
        for (count, more) in self.pairs.0.iter_mut().zip(other.pairs.0) {
            *count += more;
        }
        self.unpaired_games += other.unpaired_games;
    }
}

impl ScoreSample {
    /// Pair scores 0, ¼, ½, ¾, 1.
    #[must_use]
    pub fn from_pairs(pairs: &PairCounts) -> Self {
        Self::from_counts(&pairs.0, 2.0)
    }

    /// Game scores 0, ½, 1: only for games that are not played in pairs.
    #[must_use]
    pub fn from_games(games: &GameCounts) -> Self {
        Self::from_counts(&[games.losses, games.draws, games.wins], 1.0)
    }

    /// Counts of equally spaced scores from 0 to 1; variance with divisor N.
    fn from_counts(counts: &[u64], games_per_observation: f64) -> Self {
        let steps = (counts.len() - 1) as f64;
        let observations = counts.iter().fold(0, |sum: u64, &count| sum.saturating_add(count));
        let mean_of = |value: &dyn Fn(f64) -> f64| {
            let weighted = counts.iter().enumerate().map(|(i, &n)| n as f64 * value(i as f64 / steps));
            weighted.sum::<f64>() / (observations as f64).max(1.0)
        };
        let mean = mean_of(&|score| score);
        Self { observations, games_per_observation, mean, variance: mean_of(&|score| (score - mean) * (score - mean)) }
    }

    /// Number of pairs (or of games).
    #[must_use]
    pub fn observations(&self) -> u64 {
        self.observations
    }

    /// Points per game, 0 to 1.
    #[must_use]
    pub fn score(&self) -> Measure {
        if self.observations == 0 { Measure::NotAvailable(Missing::NoGames) } else { Measure::Known(self.mean) }
    }

    /// σ/√N of the score.
    #[must_use]
    pub fn standard_error(&self) -> Measure {
        self.when_uncertain(self.error())
    }

    /// The Elo difference of the score; `None` without games.
    #[must_use]
    pub fn elo(&self) -> Option<Elo> {
        (self.observations > 0).then(|| Elo::of_score(self.mean))
    }

    /// The 95 % interval: score ± 1.96·σ/√N, mapped to Elo; `None` without variance.
    #[must_use]
    pub fn elo_interval(&self) -> Option<EloInterval> {
        let reach = NORMAL_97_5 * self.error();
        self.missing()
            .is_none()
            .then(|| EloInterval { low: Elo::of_score(self.mean - reach), high: Elo::of_score(self.mean + reach) })
    }

    /// Normalised Elo: the score's distance from ½ in standard deviations of a game, as Elo.
    #[must_use]
    pub fn normalized_elo(&self) -> Measure {
        let game_deviation = (self.games_per_observation * self.variance).sqrt();
        self.when_uncertain((self.mean - 0.5) / game_deviation * NORMALIZED_ELO_UNIT)
    }

    /// Half the width of normalised Elo's 95 % interval, which depends on the number of games only.
    #[must_use]
    pub fn normalized_elo_error(&self) -> Measure {
        let games = self.games_per_observation * self.observations as f64;
        self.when_uncertain(NORMAL_97_5 * NORMALIZED_ELO_UNIT / games.sqrt())
    }

    /// The probability that the first player is the stronger: Φ((s−½)/standard error).
    #[must_use]
    pub fn likelihood_of_superiority(&self) -> Measure {
        let z = (self.mean - 0.5) / self.error();
        self.when_uncertain(0.5 * erfc(-z / std::f64::consts::SQRT_2))
    }

    /// NaN or zero unless [`Self::missing`] is `None`.
    fn error(&self) -> f64 {
        (self.variance / self.observations as f64).sqrt()
    }

    fn missing(&self) -> Option<Missing> {
        if self.observations == 0 {
            Some(Missing::NoGames)
        } else if self.observations < FEWEST_OBSERVATIONS {
            Some(Missing::TooFew)
        } else if self.variance <= 0.0 {
            Some(Missing::NoVariance)
        } else {
            None
        }
    }

    fn when_uncertain(&self, value: f64) -> Measure {
        match self.missing() {
            None => Measure::Known(value),
            Some(reason) => Measure::NotAvailable(reason),
        }
    }
}

impl Elo {
    /// −400·log₁₀(1/s − 1), or beyond at the ends.
    #[must_use]
    pub fn of_score(score: f64) -> Self {
        if score <= 0.0 {
            Self::Below
        } else if score >= 1.0 {
            Self::Above
        } else {
            // Adding zero turns −0 into +0.
            Self::Finite(-400.0 * (1.0 / score - 1.0).log10() + 0.0)
        }
    }

    /// The number, if there is one.
    #[must_use]
    pub fn finite(self) -> Option<f64> {
        match self {
            Self::Finite(elo) => Some(elo),
            Self::Below | Self::Above => None,
        }
    }
}

impl Measure {
    /// The number, if there is one.
    #[must_use]
    pub fn known(self) -> Option<f64> {
        match self {
            Self::Known(value) => Some(value),
            Self::NotAvailable(_) => None,
        }
    }
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.known().serialize(serializer)
    }
}

impl Serialize for Elo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.finite().serialize(serializer)
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoGames => "n/a (no complete pairs yet)",
            Self::TooFew => "n/a (one pair only)",
            Self::NoVariance => "n/a (no variance yet)",
        })
    }
}

impl fmt::Display for Elo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Below => f.write_str("-beyond"),
            Self::Above => f.write_str("+beyond"),
            // Rounding first, so that a small negative number is not printed as −0.0.
            Self::Finite(elo) => write!(f, "{:+.1}", (elo * 10.0).round() / 10.0 + 0.0),
        }
    }
}

impl MatchSummary {
    /// The parts of the printed line: games, pentanomial, Elo, likelihood of superiority.
    fn parts(&self) -> [String; 4] {
        let GameCounts { wins, draws, losses } = self.games;
        [
            format!("+{wins} ={draws} -{losses}"),
            format!("penta {:?}", self.pentanomial.0),
            self.elo_part(),
            self.superiority_part(),
        ]
    }

    fn elo_part(&self) -> String {
        let missing = match self.score_error {
            Measure::NotAvailable(reason) => reason.to_string(),
            Measure::Known(_) => String::new(),
        };
        match (self.elo, self.elo_interval) {
            (None, _) => format!("Elo {missing}"),
            (Some(elo), None) => format!("Elo {elo} ± {missing}"),
            (Some(elo), Some(interval)) => format!("Elo {elo} {interval} (95 %)"),
        }
    }

    fn superiority_part(&self) -> String {
        let superiority = match self.likelihood_of_superiority {
            Measure::Known(probability) => format!("LOS {:.1} %", 100.0 * probability),
            Measure::NotAvailable(_) => "LOS n/a".to_owned(),
        };
        match self.unpaired_games {
            0 => superiority,
            unpaired => format!("{superiority}  ({unpaired} unpaired, not counted)"),
        }
    }
}

/// ± half the width when both edges are finite, else the edges in brackets.
impl fmt::Display for EloInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low, self.high) {
            (Elo::Finite(low), Elo::Finite(high)) => write!(f, "± {:.1}", (high - low) / 2.0),
            (low, high) => write!(f, "[{low}, {high}]"),
        }
    }
}

/// One line, such as `+31 =20 -29  penta [3, 7, 17, 11, 2]  Elo +8.7 ± 52.8 (95 %)  LOS 62.7 %`.
impl fmt::Display for MatchSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.parts().join("  "))
    }
}

/// The lines of several matches with their columns aligned, without trailing spaces.
#[must_use]
pub fn aligned_lines(summaries: &[MatchSummary]) -> Vec<String> {
    let rows: Vec<[String; 4]> = summaries.iter().map(MatchSummary::parts).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 4] = std::array::from_fn(width);
    let line = |row: &[String; 4]| {
        let padded = row.iter().zip(widths).map(|(part, width)| format!("{part:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::GameResult::{Draw, Loss, Win};
    use super::*;

    fn tally(pairs: &[(GameResult, GameResult)]) -> MatchTally {
        let mut tally = MatchTally::new();
        pairs.iter().for_each(|&(one, other)| tally.add_pair(one, other));
        tally
    }

    /// What is printed and written must hold no NaN and no infinity, whatever the counts.
    fn checked(tally: &MatchTally) -> (String, serde_json::Value) {
        let summary = tally.summary();
        let line = summary.to_string();
        let json = serde_json::to_string(&summary).unwrap();
        for text in [&line, &json] {
            let text = text.to_lowercase();
            assert!(!text.contains("nan") && !text.contains("inf"), "{text}");
        }
        (line, serde_json::from_str(&json).unwrap())
    }

    #[test]
    fn no_games() {
        let (line, json) = checked(&MatchTally::new());
        let expected = "+0 =0 -0  penta [0, 0, 0, 0, 0]  Elo n/a (no complete pairs yet)  LOS n/a";
        assert_eq!(line, expected);
        for key in ["score", "elo", "elo_interval", "normalized_elo", "likelihood_of_superiority"] {
            assert!(json[key].is_null(), "{key}");
        }
    }

    #[test]
    fn one_pair_has_a_score_and_no_error() {
        let (line, json) = checked(&tally(&[(Win, Draw)]));
        assert_eq!(line, "+1 =1 -0  penta [0, 0, 0, 1, 0]  Elo +190.8 ± n/a (one pair only)  LOS n/a");
        assert_eq!(json["score"], 0.75);
        assert!(json["score_error"].is_null());
    }

    #[test]
    fn one_win_and_one_loss_are_one_pair_in_the_middle() {
        let (line, _) = checked(&tally(&[(Win, Loss)]));
        assert_eq!(line, "+1 =0 -1  penta [0, 0, 1, 0, 0]  Elo +0.0 ± n/a (one pair only)  LOS n/a");
        let (line, json) = checked(&tally(&[(Win, Win), (Loss, Loss)]));
        let expected = "+2 =0 -2  penta [1, 0, 0, 0, 1]  Elo +0.0 [-beyond, +beyond] (95 %)  LOS 50.0 %";
        assert_eq!(line, expected);
        assert!(json["elo_interval"]["low"].is_null() && json["elo"] == 0.0);
    }

    #[test]
    fn all_wins_and_all_losses_are_beyond() {
        let (line, json) = checked(&tally(&[(Win, Win); 10]));
        assert_eq!(line, "+20 =0 -0  penta [0, 0, 0, 0, 10]  Elo +beyond ± n/a (no variance yet)  LOS n/a");
        assert!(json["elo"].is_null() && json["score"] == 1.0);
        let (line, _) = checked(&tally(&[(Loss, Loss); 10]));
        assert!(line.contains("Elo -beyond ±"), "{line}");
    }

    #[test]
    fn all_draws_are_zero_without_an_error() {
        let (line, json) = checked(&tally(&[(Draw, Draw); 50]));
        assert_eq!(line, "+0 =100 -0  penta [0, 0, 50, 0, 0]  Elo +0.0 ± n/a (no variance yet)  LOS n/a");
        assert!(json["normalized_elo"].is_null() && json["elo"] == 0.0);
    }

    #[test]
    fn a_half_pair_is_counted_apart() {
        let mut match_tally = tally(&[(Win, Draw), (Loss, Draw), (Win, Loss)]);
        let before = match_tally.summary();
        match_tally.add_unpaired();
        let after = match_tally.summary();
        assert_eq!((before.games, before.score, before.elo_interval), (after.games, after.score, after.elo_interval));
        assert!(after.to_string().ends_with("(1 unpaired, not counted)"));
    }

    #[test]
    fn the_pairs_of_a_match_matter_for_its_error() {
        // The same forty wins and forty losses: in matched pairs nothing is uncertain, in swept pairs much is.
        let mut even = tally(&[(Win, Loss); 38]);
        even += tally(&[(Win, Win), (Loss, Loss)]);
        let swept = [tally(&[(Win, Win); 20]), tally(&[(Loss, Loss); 20])];
        let mut uneven = swept[0];
        uneven += swept[1];
        assert_eq!(even.games(), uneven.games());
        let error = |tally: &MatchTally| tally.summary().score_error.known().unwrap();
        assert!(error(&uneven) > 4.0 * error(&even));
    }

    #[test]
    fn stored_counts_must_agree() {
        let games = GameCounts { wins: 2, draws: 1, losses: 1 };
        let pairs = PairCounts([0, 0, 1, 1, 0]);
        let stored = MatchTally::from_counts(games, pairs, 0).unwrap();
        assert_eq!(stored, tally(&[(Win, Loss), (Win, Draw)]));
        let error = MatchTally::from_counts(games, PairCounts([0, 1, 1, 0, 0]), 0).unwrap_err();
        assert_eq!(error, TallyError::HalfPoints { expected: 3, got: 5 });
        let error = MatchTally::from_counts(games, PairCounts([0, 0, 1, 0, 0]), 0).unwrap_err();
        assert_eq!(error, TallyError::Games { expected: 2, got: 4 });
    }

    #[test]
    fn the_line_is_as_documented() {
        let games = GameCounts { wins: 31, draws: 20, losses: 29 };
        let tally = MatchTally::from_counts(games, PairCounts([3, 7, 17, 11, 2]), 0).unwrap();
        let expected = "+31 =20 -29  penta [3, 7, 17, 11, 2]  Elo +8.7 ± 52.8 (95 %)  LOS 62.7 %";
        assert_eq!(tally.summary().to_string(), expected);
    }

    #[test]
    fn lines_align() {
        let lines = aligned_lines(&[tally(&[(Win, Win); 10]).summary(), tally(&[(Win, Draw), (Draw, Loss)]).summary()]);
        let column = |line: &str, word: &str| line.find(word).map(|at| line[..at].chars().count());
        for word in ["penta", "Elo", "LOS"] {
            assert_eq!(column(&lines[0], word), column(&lines[1], word), "{lines:#?}");
        }
    }
}
