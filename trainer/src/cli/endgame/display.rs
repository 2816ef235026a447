//! How far an endgame table is: a bar on a terminal, a line every ten seconds elsewhere, always on stderr.

use fairyforge_engine::endgame::Stage;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Time between two plain lines.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Shows the stages of one table.
pub(in crate::cli) struct Display {
    title: String,
    bar: ProgressBar,
    last_line: Option<Mutex<Instant>>,
}

impl Display {
    pub fn new(title: &str) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let target = if terminal { ProgressDrawTarget::stderr_with_hz(4) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        if let Ok(style) = ProgressStyle::with_template("{prefix} {wide_bar} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.set_prefix(title.to_owned());
        Self { title: title.to_owned(), bar, last_line: (!terminal).then(|| Mutex::new(Instant::now())) }
    }

    /// Shows a stage; cheap enough for every chunk.
    pub fn show(&self, stage: Stage) {
        let (done, total, words) = match stage {
            Stage::Positions { done, total } => (done, total, "finding positions".into()),
            Stage::Ends { done, total } => (done, total, "finding ends, captures, promotions".into()),
            Stage::Plies { plies, .. } => (1, 1, format!("{plies} plies to the end")),
            Stage::Checked { done, total } => (done, total, "checking".into()),
        };
        self.line_if_due(done, total, &words);
        self.bar.set_length(total);
        self.bar.set_position(done);
        self.bar.set_message(words);
    }

    fn line_if_due(&self, done: u64, total: u64, words: &str) {
        let Some(last) = &self.last_line else { return };
        // Whoever finds it locked leaves the line to the other thread.
        let Ok(mut last) = last.try_lock() else { return };
        if last.elapsed() >= LINE_INTERVAL {
            *last = Instant::now();
            eprintln!("{}: {words}, {:.0} %", self.title, 100.0 * done as f64 / total.max(1) as f64);
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
