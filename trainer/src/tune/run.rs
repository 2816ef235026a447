//! The run itself: iteration after iteration, each in the journal before the next begins. A run that was cut off takes
//! up the journal and ends with the same bytes as an undisturbed one, on any number of threads.

use super::journal::{Header, Iteration, Journal, JournalError};
use super::objective::{Batch, Objective};
use super::tuner::Tuner;
use crate::arena::MatchError;
use crate::arena::openings::OpeningError;
use crate::run_dir::FileError;
use std::path::Path;

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// The journal cannot be read, or is not that of this run.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The disk refuses.
    #[error(transparent)]
    File(#[from] FileError),
    /// The openings are not what they were when the plan was checked.
    #[error(transparent)]
    Openings(#[from] OpeningError),
    /// The match at the end ended early.
    #[error(transparent)]
    Match(#[from] MatchError),
    /// Somebody asked for it; finished iterations are safe.
    #[error("stopped on request")]
    Stopped,
}

impl TuneError {
    /// Whether somebody asked for the end.
    #[must_use]
    pub const fn is_stop(&self) -> bool {
        matches!(self, Self::Stopped | Self::Match(MatchError::Stopped))
    }
}

/// A run of the tuner on something that plays.
pub struct Tuning<'a, O: Objective> {
    /// The mathematics.
    pub tuner: &'a Tuner,
    /// The journal's first line.
    pub header: &'a Header,
    /// Who plays.
    pub objective: &'a O,
}

impl<O: Objective> Tuning<'_, O> {
    /// Plays all iterations that the journal at `path` does not hold yet and returns all; `resumed` is told how many
    /// there were.
    ///
    /// # Errors
    /// The journal cannot be read or written, or somebody asked to stop.
    pub fn run(&self, path: &Path, resumed: impl FnOnce(u64)) -> Result<Vec<Iteration>, TuneError> {
        let mut journal = Journal::open(path, self.header, self.tuner)?;
        let done = journal.iterations().len() as u64;
        resumed(done);
        let last = journal.iterations().last();
        let mut theta = last.map_or_else(|| self.tuner.start(), |last| last.theta.clone());
        for number in done + 1..=self.tuner.iterations() {
            let iteration = self.iteration(number, &theta)?;
            theta.clone_from(&iteration.theta);
            journal.add(iteration)?;
        }
        Ok(journal.into_iterations())
    }

    fn iteration(&self, number: u64, theta: &[f64]) -> Result<Iteration, TuneError> {
        let trial = self.tuner.trial(number, theta);
        let batch = Batch {
            first_pair: self.tuner.pairs_before(number),
            pairs: self.tuner.pairs_per_iteration(),
            plus: &trial.plus,
            minus: &trial.minus,
        };
        let pairs = self.objective.play(&batch).ok_or(TuneError::Stopped)?;
        Ok(Iteration::new(number, trial, pairs, self.tuner, theta))
    }
}
