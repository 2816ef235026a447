//! A loop whose games several processes play: what one of them does, and how they learn what their gate match is about.

use super::{LoopError, START, TrainingLoop};
use crate::named_judge::{JudgeContent, NamedJudge, load};
use crate::run_dir::{FileError, write_atomically};
use crate::share::{Share, Shared};
use std::fs;

impl TrainingLoop<'_> {
    /// Plays a part of the games that the loop lacks first: of a generation's self-play, or of its gate match. Nothing but files says
    /// how far the loop has come, so no game is read.
    ///
    /// # Errors
    /// Always but for a loop that is over: [`Shared::Played`], or that something else comes next, or what went wrong.
    pub fn play_part(&self) -> Result<(), LoopError> {
        if let Some(start) = &self.begins_with.start {
            start.keep_start(self.run, START)?;
        }
        let mut parent = START;
        for number in 1..=self.plan.generations {
            if self.run.gate(number, parent).verdict.exists() {
                if self.run.weights(number).exists() || self.run.generation_network(number).exists() {
                    parent = number;
                }
                continue;
            }
            let old = NamedJudge::kept(self.variant, self.run, parent).map_err(Box::new)?;
            self.selfplay(number, &old)?;
            let Some(new) = self.candidate(number)? else {
                return Err(Shared::NoGames { step: format!("what generation {number} learns") }.into());
            };
            self.gate(number, parent, [&new, &old])?;
            return Err(Shared::NoGames { step: format!("the end of generation {number}'s match") }.into());
        }
        Ok(())
    }

    /// Shows those who play the gate match what it is about.
    pub(super) fn put_up(&self, number: u32, candidate: &NamedJudge) -> Result<(), FileError> {
        if self.share != Share::Nothing {
            return Ok(());
        }
        let files = self.run.candidate(number);
        match &candidate.content {
            JudgeContent::Weights(text) => write_atomically(&files.weights, text.as_bytes()),
            JudgeContent::Network(bytes) => write_atomically(&files.network, bytes),
        }
    }

    fn candidate(&self, number: u32) -> Result<Option<NamedJudge>, LoopError> {
        let files = self.run.candidate(number);
        let there = [files.weights, files.network].into_iter().find(|path| path.exists());
        Ok(there.map(|path| load(self.variant, &path)).transpose().map_err(Box::new)?)
    }

    /// The match is over and the candidate is kept elsewhere.
    pub(super) fn take_down(&self, number: u32) -> Result<(), FileError> {
        let files = self.run.candidate(number);
        for path in [&files.weights, &files.network].into_iter().filter(|path| path.exists()) {
            fs::remove_file(path).map_err(FileError::at("remove", path))?;
        }
        // Other candidates may be in it.
        let _ = files.weights.parent().map(fs::remove_dir);
        Ok(())
    }
}
