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
    /// The players' ratings, where there are more than two.
    pub ratings: Option<Ratings>,
    /// Why there are none though they were asked for.
    pub unrated: Option<RatingError>,
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
    /// Exact copies of other pairs; they enter nothing else.
    pub copied_pairs: u64,
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
                copied_pairs: meeting.copied_pairs,
                summary: meeting.tally.summary(),
            }
        });
        Ok(Self {
            meetings: meetings.collect(),
            faults: standing.faults(),
            sprt: standing.test().map(|(sprt, results, _)| sprt.report(&results)).transpose()?,
            players,
            ratings: None,
            unrated: None,
        })
    }

    /// Adds ratings from all games of the match, with White's advantage if the games tell it, or the reason why there are
    /// none: few games often have no likeliest ratings.
    pub fn rate(&mut self, games: &GameTable) {
        let settings = |white_advantage| RatingSettings {
            model: RatingModel::default(),
            white_advantage,
            prior_draws: 0.0,
            anchor: None,
        };
        match fit(games, &settings(true)).or_else(|_| fit(games, &settings(false))) {
            Ok(ratings) => self.ratings = Some(ratings),
            Err(error) => self.unrated = Some(error),
        }
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
            "unrated": self.unrated.as_ref().map(ToString::to_string),
        })
    }

    /// The report for people, line by line.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.meeting_lines();
        for meeting in &self.meetings {
            let whose = if self.meetings.len() == 1 {
                String::new()
            } else {
                format!("{} against {}: ", meeting.first, meeting.second)
            };
            lines.push(format!("{whose}normalized Elo {}", normalized(&meeting.summary)));
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
        let copied: u64 = self.meetings.iter().map(|meeting| meeting.copied_pairs).sum();
        if faulty > 0 {
            lines.push(format!("{faulty} pairs with failures are left out of the results"));
        }
        if copied > 0 {
            lines.push(format!("{copied} pairs are exact copies of others, which tell nothing new, and are left out"));
        }
        lines.extend(self.unrated.as_ref().map(|reason| format!("no ratings: {reason}")));
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
    let settings = &report.settings;
    let decision = match report.decision {
        Decision::AcceptH0 => "H0 accepted",
        Decision::AcceptH1 => "H1 accepted",
        Decision::Continue => "undecided",
    };
    format!(
        "SPRT {} Elo [{}, {}], alpha {}, beta {}: LLR {:+.2} ({:.2}, {:.2}) after {} pairs, {decision}; Elo {} (95 %, median-unbiased)",
        settings.model,
        settings.elo0,
        settings.elo1,
        settings.alpha,
        settings.beta,
        report.llr + 0.0,
        report.bounds.lower,
        report.bounds.upper,
        report.results.observations(),
        report.told_elo(1),
    )
}
