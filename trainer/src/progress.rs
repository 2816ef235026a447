//! Progress of long work: a bar on a terminal, plain lines elsewhere. Always on stderr, so that results can be piped.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time between two plain lines.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Counts games (or pairs) and positions, and shows them.
pub struct Progress {
    bar: ProgressBar,
    what: &'static str,
    total: AtomicU64,
    skipped: AtomicU64,
    games: AtomicU64,
    positions: AtomicU64,
    began: Instant,
    last_line: Option<Mutex<Instant>>,
}

impl Progress {
    /// Progress towards `total` of `what` (as `games`), under a title.
    pub fn new(title: &str, what: &'static str, total: u64) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let target = if terminal { ProgressDrawTarget::stderr_with_hz(4) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(total), target);
        let template = "{prefix} {wide_bar} {pos}/{len} {msg} {elapsed} left {eta}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(title.to_owned());
        if !terminal {
            crate::errln!("{title}: {total} {what}");
        }
        Self {
            bar,
            what,
            total: AtomicU64::new(total),
            skipped: AtomicU64::new(0),
            games: AtomicU64::new(0),
            positions: AtomicU64::new(0),
            began: Instant::now(),
            last_line: (!terminal).then(|| Mutex::new(Instant::now())),
        }
    }

    /// Only a part, of so many, is this process's to do.
    pub fn narrow(&self, part: &str, total: u64) {
        self.total.store(total, Ordering::Relaxed);
        self.bar.set_length(total);
        if self.last_line.is_some() {
            crate::errln!("{part}: {total} {}", self.what);
        }
    }

    /// So many were done by an earlier attempt.
    pub fn skip(&self, done: u64) {
        self.skipped.fetch_add(done, Ordering::Relaxed);
        self.bar.inc(done);
        // What others did says nothing about the time left.
        self.bar.reset_eta();
        if done > 0 && self.last_line.is_some() {
            crate::errln!("{done} {} were done before", self.what);
        }
    }

    /// One more is done, with so many positions.
    pub fn game(&self, positions: u64) {
        self.games(1, positions);
    }

    fn games(&self, games: u64, positions: u64) {
        self.games.fetch_add(games, Ordering::Relaxed);
        self.positions.fetch_add(positions, Ordering::Relaxed);
        self.bar.inc(games);
        self.bar.set_message(self.rates());
        self.line_if_due();
    }

    /// Hears totals again and again: first what was played before, then with what this process plays, games and positions.
    pub fn of_totals(&self) -> impl FnMut(u64, u64) + Send {
        let mut seen: Option<(u64, u64)> = None;
        move |games, positions| match seen.replace((games, positions)) {
            None => self.skip(games),
            Some(before) => self.games(games - before.0, positions - before.1),
        }
    }

    /// Done by this process so far, and positions.
    pub fn counts(&self) -> (u64, u64) {
        (self.games.load(Ordering::Relaxed), self.positions.load(Ordering::Relaxed))
    }

    /// Time since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Tells something in between without tearing the bar.
    pub fn tell(&self, line: &str) {
        self.bar.suspend(|| crate::errln!("{line}"));
    }

    /// The end: the bar goes, one line stays.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
        let (games, positions) = self.counts();
        if self.total.load(Ordering::Relaxed) > 0 && games > 0 {
            let positions = if positions > 0 { format!(", {positions} positions") } else { String::new() };
            crate::errln!("{games} {}{positions}, {}, {:.0?}", self.what, self.rates(), self.elapsed());
        }
    }

    fn rates(&self) -> String {
        let (games, positions) = self.counts();
        let seconds = self.elapsed().as_secs_f64().max(1e-3);
        let games = format!("{:.1} {}/s", games as f64 / seconds, self.what);
        if positions == 0 { games } else { format!("{games} {:.0} positions/s", positions as f64 / seconds) }
    }

    fn line_if_due(&self) {
        let Some(last) = &self.last_line else { return };
        // Whoever finds it locked leaves the line to the other thread.
        let Ok(mut last) = last.try_lock() else { return };
        if last.elapsed() < LINE_INTERVAL {
            return;
        }
        *last = Instant::now();
        let (games, _) = self.counts();
        let (done, total) = (games + self.skipped.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        let left = self.elapsed().as_secs_f64() / games.max(1) as f64 * total.saturating_sub(done) as f64;
        crate::errln!("{done}/{total} {}, {}, about {left:.0} s left", self.what, self.rates());
    }
}
