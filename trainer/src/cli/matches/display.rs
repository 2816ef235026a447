//! How a match stands while it is played: a bar with the whole report under it on a terminal, plain lines elsewhere, and
//! JSON lines for scripts.

use crate::arena::external::Lag;
use crate::arena::openings::OpeningBook;
use crate::arena::plan::{MatchPlan, PlayerPlan};
use crate::arena::report::MatchReport;
use crate::arena::standing::Standing;
use crate::cli::output::outln;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Time between two reports on a terminal or in JSON; a report takes some milliseconds to make.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// Time between two plain lines.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Shows how a match stands.
pub(super) struct Live {
    players: Vec<String>,
    total: u64,
    bar: Option<ProgressBar>,
    json: bool,
    interval: Duration,
    began: Instant,
    last: Instant,
    /// Games that were there at the beginning.
    before: Option<u64>,
    /// Games and plies now.
    now: (u64, u64),
}

impl Live {
    /// A display for this match; says what is played.
    pub fn new(plan: &MatchPlan, openings: &OpeningBook, json: bool) -> Self {
        let players: Vec<String> = plan.players.iter().map(|player| player.name.clone()).collect();
        let total = plan.schedule().pairs().saturating_mul(2);
        crate::errln!("match, {}: {}", plan.variant, players.join(" - "));
        for player in &plan.players {
            crate::errln!("  {}: {}", player.name, player.limits);
        }
        let most = if plan.sprt.is_some() { "at most " } else { "" };
        crate::errln!("  {most}{total} games from {}", openings.described());
        openings.remarks().iter().for_each(|remark| crate::errln!("  {remark}"));
        let terminal = std::io::stderr().is_terminal() && !json;
        let interval = if terminal || json { REPORT_INTERVAL } else { LINE_INTERVAL };
        let now = Instant::now();
        let bar = terminal.then(|| bar(total));
        Self { players, total, bar, json, interval, began: now, last: now, before: None, now: (0, 0) }
    }

    /// Hears how the match stands.
    pub fn hear(&mut self, standing: &Standing) {
        self.now = (standing.games(), standing.plies());
        let first = self.before.is_none();
        let before = *self.before.get_or_insert(standing.games());
        if first && before > 0 {
            crate::errln!("  {before} games were done before");
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.now.0);
        }
        if first || self.last.elapsed() < self.interval {
            return;
        }
        self.last = Instant::now();
        // A report that cannot be made yet is made at the end, where its error is told.
        let Ok(report) = MatchReport::new(self.players.clone(), standing) else { return };
        match &self.bar {
            _ if self.json => {
                let mut event = event("progress", &report, standing);
                event["seconds_left"] = json!(self.seconds_left());
                // Whoever does not listen any more hears of it at the end.
                let _ = outln!("{event}");
            }
            Some(bar) => bar.set_message(report.lines().join("\n")),
            None => self.line(&report),
        }
    }

    fn line(&self, report: &MatchReport) {
        let left = self.seconds_left().map_or(String::new(), |seconds| format!(", about {seconds:.0} s left"));
        crate::errln!("{}/{} games, {:.1} games/s{left}", self.now.0, self.total, self.speed());
        report.lines().iter().for_each(|line| crate::errln!("  {line}"));
    }

    /// The end: the bar goes, one line stays.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let played = self.now.0 - self.before.unwrap_or_default();
        if played > 0 {
            crate::errln!("{played} games, {:.1} games/s, {:.0?}", self.speed(), self.began.elapsed());
        }
    }

    /// What this process has played, for the run's events; nothing if it played nothing.
    pub fn event(&self) -> Option<Value> {
        let games = self.now.0 - self.before.unwrap_or_default();
        let seconds = self.began.elapsed().as_secs_f64();
        (games > 0).then(|| json!({"event": "match", "games": games, "seconds": seconds}))
    }

    /// Games a second of this process.
    fn speed(&self) -> f64 {
        let played = self.now.0 - self.before.unwrap_or_default();
        played as f64 / self.began.elapsed().as_secs_f64().max(1e-3)
    }

    /// To the end of the schedule; a test may end it earlier.
    fn seconds_left(&self) -> Option<f64> {
        let speed = self.speed();
        (speed > 0.0).then(|| self.total.saturating_sub(self.now.0) as f64 / speed)
    }
}

/// How late the lines of programs outside came: a busy machine shows here.
pub(super) fn tell_lags(players: &[PlayerPlan], lags: &[Option<Lag>]) {
    for (player, lag) in players.iter().zip(lags) {
        if let Some(lag) = lag.filter(|lag| lag.moves > 0) {
            let (mean, max) = (lag.mean().as_secs_f64() * 1e3, lag.max.as_secs_f64() * 1e3);
            crate::errln!("{}: lag {mean:.1} ms a move, at most {max:.0} ms, in {} moves", player.name, lag.moves);
        }
    }
}

fn bar(total: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(4));
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} games {elapsed} left {eta}\n{msg}") {
        bar.set_style(style);
    }
    bar
}

/// A line of JSON: what happened, and how the match stands.
pub(super) fn event(name: &str, report: &MatchReport, standing: &Standing) -> Value {
    let mut event = report.to_json();
    event["event"] = json!(name);
    event["games"] = json!(standing.games_of_match());
    event
}
