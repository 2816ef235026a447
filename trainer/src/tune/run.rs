//! The run itself: iteration after iteration, each in the journal before the next begins. A run that was cut off takes
//! up the journal and ends with the same bytes as an undisturbed one, on any number of threads.

use super::journal::{self, Header, Iteration, Journal, JournalError};
use super::objective::{Objective, PairResult};
use super::parts::SharedIteration;
use super::tuner::{Trial, Tuner};
use crate::arena::MatchError;
use crate::arena::openings::OpeningError;
use crate::run_dir::{FileError, PartFiles};
use crate::share::{Part, Share, Shared};
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
    /// Pairs are played by several processes, and are not all there.
    #[error(transparent)]
    Shared(#[from] Shared),
}

impl TuneError {
    /// Whether somebody asked for the end.
    #[must_use]
    pub const fn is_stop(&self) -> bool {
        matches!(self, Self::Stopped | Self::Match(MatchError::Stopped))
    }

    /// What several processes have to play, if that is all.
    #[must_use]
    pub const fn shared(&self) -> Option<&Shared> {
        match self {
            Self::Shared(shared) | Self::Match(MatchError::Shared(shared)) => Some(shared),
            _ => None,
        }
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
    /// Which pairs of an iteration this process plays.
    pub share: Share,
}

impl<O: Objective> Tuning<'_, O> {
    /// Plays all iterations that the journal at `path` does not hold yet and returns all; `resumed` is told how many
    /// there were.
    ///
    /// # Errors
    /// The journal cannot be read or written, somebody asked to stop, or with this share pairs are missing.
    pub fn run(&self, path: &Path, resumed: impl FnOnce(u64)) -> Result<Vec<Iteration>, TuneError> {
        if let Share::Part(part) = self.share {
            return self.part(part, path, resumed);
        }
        let mut journal = Journal::open(path, self.header, self.tuner)?;
        let done = journal.iterations().len() as u64;
        resumed(done);
        let mut theta = self.last_theta(journal.iterations());
        for number in done + 1..=self.tuner.iterations() {
            let iteration = self.iteration(number, &theta, path)?;
            theta.clone_from(&iteration.theta);
            journal.add(iteration)?;
            PartFiles::of(path).remove()?;
        }
        Ok(journal.into_iterations())
    }

    /// Plays a part of the iteration that comes next.
    fn part(&self, part: Part, path: &Path, resumed: impl FnOnce(u64)) -> Result<Vec<Iteration>, TuneError> {
        let iterations = match journal::read(path, self.header, self.tuner) {
            Ok(recorded) => recorded.iterations,
            Err(JournalError::Empty(_)) => Vec::new(),
            Err(_) if !path.exists() => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let done = iterations.len() as u64;
        resumed(done);
        if done == self.tuner.iterations() {
            return Ok(iterations);
        }
        let trial = self.tuner.trial(done + 1, &self.last_theta(&iterations));
        Err(self.shared(done + 1, &trial, path).play_part(part, self.objective)?.into())
    }

    fn last_theta(&self, iterations: &[Iteration]) -> Vec<f64> {
        iterations.last().map_or_else(|| self.tuner.start(), |last| last.theta.clone())
    }

    fn iteration(&self, number: u64, theta: &[f64], path: &Path) -> Result<Iteration, TuneError> {
        let trial = self.tuner.trial(number, theta);
        let pairs = self.pairs(&self.shared(number, &trial, path))?;
        Ok(Iteration::new(number, trial, pairs, self.tuner, theta))
    }

    fn shared<'b>(&'b self, number: u64, trial: &'b Trial, journal: &'b Path) -> SharedIteration<'b> {
        SharedIteration {
            journal,
            header: self.header,
            number,
            first_pair: self.tuner.pairs_before(number),
            pairs: self.tuner.pairs_per_iteration(),
            trial,
        }
    }

    /// The results of an iteration: those that parts have played, and the others played here.
    fn pairs(&self, iteration: &SharedIteration<'_>) -> Result<Vec<PairResult>, TuneError> {
        let mut results = iteration.results()?;
        let missing = results.iter().filter(|result| result.is_none()).count() as u64;
        if self.share == Share::Nothing && missing > 0 {
            return Err(iteration.wanted(missing).into());
        }
        while let Some(first) = results.iter().position(Option::is_none) {
            let length = results[first..].iter().take_while(|result| result.is_none()).count();
            let played = iteration.play(first as u64..(first + length) as u64, self.objective)?;
            results[first..first + length].iter_mut().zip(played).for_each(|(place, pair)| *place = Some(pair));
        }
        Ok(results.into_iter().flatten().collect())
    }
}
