//! What a match says so far or at its end: meetings, the sequential test, failures, ratings. In words and as JSON.

use super::ratings::{GameTable, RatingError, RatingModel, RatingSettings, Ratings, fit};
use super::sprt::{Decision, SprtError, SprtReport};
use super::standing::{FaultCounts, Standing};
use super::statistics::{MatchSummary, aligned_lines};
use serde::Serialize;
use serde_json::{Value, json};

/// What a match says.
#[derive(Clone, Debug)]
pub struct MatchReport {
    /// The players' names.
    pub players: Vec<String>,
    /// What each of them failed in.
    pub faults: Vec<FaultCounts>,
    /// Every meeting.
    pub meetings: Vec<MeetingReport>,
    /// The sequential test, if there is one.
    pub sprt: Option<SprtReport>,
    /// The players' ratings, where there are more than two and results link them.
    pub ratings: Option<Ratings>,
}

/// What two players have made of their pairs.
#[derive(Clone, Debug, Serialize)]
pub struct MeetingReport {
    /// The first of the two, whose results these are.
    pub first: String,
    /// The other.
    pub second: String,
    /// Pairs in which one of them failed; they enter nothing else.
    pub faulty_pairs: u64,
    /// The results.
    #[serde(flatten)]
    pub summary: MatchSummary,
}

impl MatchReport {
    /// How a match between these players stands.
    ///
    /// # Errors
    /// The test cannot be made of such results.
    pub fn new(players: Vec<String>, standing: &Standing) -> Result<Self, SprtError> {
        let meetings = (0..).zip(standing.schedule().meetings()).map(|(place, &[first, second])| {
            let meeting = standing.meeting(place);
            MeetingReport {
                first: players[first].clone(),
                second: players[second].clone(),
                faulty_pairs: meeting.faulty_pairs,
                summary: meeting.tally.summary(),
            }
        });
        Ok(Self {
            meetings: meetings.collect(),
            faults: standing.faults().to_vec(),
            sprt: standing.test().map(|(sprt, results, _)| sprt.report(&results)).transpose()?,
            players,
            ratings: None,
        })
    }

    /// Adds ratings from all games of the match. Nothing is added where results link nobody.
    ///
    /// # Errors
    /// The fit fails otherwise.
    pub fn rate(&mut self, games: &GameTable) -> Result<(), RatingError> {
        let settings =
            RatingSettings { model: RatingModel::default(), white_advantage: true, prior_draws: 0.0, anchor: None };
        self.ratings = match fit(games, &settings) {
            Ok(ratings) => Some(ratings),
            Err(RatingError::NobodyLinked { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(())
    }

    /// The report for scripts. Numbers that do not exist are `null`.
    pub fn to_json(&self) -> Value {
        let faults: serde_json::Map<String, Value> =
            self.players.iter().zip(&self.faults).map(|(name, counts)| (name.clone(), json!(counts))).collect();
        json!({
            "players": self.players,
            "meetings": self.meetings,
            "faults": faults,
            "sprt": self.sprt.as_ref().map(SprtReport::to_json),
            "ratings": self.ratings,
        })
    }

    /// The report for people, line by line.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.meeting_lines();
        if let [meeting] = &self.meetings[..] {
            lines.push(format!("normalized Elo {}", normalized(&meeting.summary)));
        }
        lines.extend(self.sprt.as_ref().map(sprt_line));
        lines.extend(self.fault_lines());
        lines
    }

    fn meeting_lines(&self) -> Vec<String> {
        let summaries: Vec<MatchSummary> = self.meetings.iter().map(|meeting| meeting.summary.clone()).collect();
        let names: Vec<String> = self.meetings.iter().map(|m| format!("{} against {}:", m.first, m.second)).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let line = |(name, line): (&String, String)| format!("{name:<width$} {line}");
        names.iter().zip(aligned_lines(&summaries)).map(line).collect()
    }

    fn fault_lines(&self) -> Vec<String> {
        let faulty: u64 = self.meetings.iter().map(|meeting| meeting.faulty_pairs).sum();
        let failed = self.players.iter().zip(&self.faults).filter(|(_, counts)| counts.total() > 0);
        let mut lines: Vec<String> = failed
            .map(|(name, counts)| {
                let kinds: Vec<String> = counts.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
                format!("failures of {name}: {}", kinds.join(", "))
            })
            .collect();
        if faulty > 0 {
            lines.push(format!("{faulty} pairs with failures are left out of the results"));
        }
        lines
    }
}

/// `+12.3 ± 20.1 (95 %)`.
fn normalized(summary: &MatchSummary) -> String {
    match (summary.normalized_elo.known(), summary.normalized_elo_error.known()) {
        (Some(elo), Some(error)) => format!("{elo:+.1} ± {error:.1} (95 %)"),
        _ => "n/a (no variance yet)".to_owned(),
    }
}

/// The state of a test in a line: ratio, bounds, hypotheses with their model, decision and unbiased Elo.
fn sprt_line(report: &SprtReport) -> String {
    let (settings, estimate) = (&report.settings, &report.estimate);
    let [low, high] = estimate.elo_ci;
    let decision = match report.decision {
        Decision::AcceptH0 => "H0 accepted",
        Decision::AcceptH1 => "H1 accepted",
        Decision::Continue => "undecided",
    };
    format!(
        "SPRT {} Elo [{}, {}], alpha {}, beta {}: LLR {:+.2} ({:.2}, {:.2}), {decision}; Elo {:+.1} [{low:+.1}, {high:+.1}] (95 %, median-unbiased)",
        settings.model,
        settings.elo0,
        settings.elo1,
        settings.alpha,
        settings.beta,
        report.llr,
        report.bounds.lower,
        report.bounds.upper,
        estimate.elo,
    )
}
