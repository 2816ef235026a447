//! What recorded games are like as data: results and lengths, positions that come again, how different openings stay, and what scores
//! mean in results.
//!
//! Reads folders of games shard by shard and keeps a dozen bytes a position; the same games give the same numbers on any number of
//! threads. It judges nothing and changes nothing: which positions are learnt from is for a plan of training to say, and whether files
//! are sound for [`crate::record::verify()`].
//!
//! - [`Quality::of`] measures; [`Quality::text`], [`Quality::markdown`] and [`Quality::curve`] tell it.
//! - `notes` is what is kept of a game, `census` and `repeats` count, `calibration` and `scale` fit, `tell` and `curve` show.

mod calibration;
mod census;
mod curve;
#[cfg(test)]
mod made;
mod notes;
mod repeats;
mod scale;
mod share;
mod tell;
#[cfg(test)]
mod tests;

pub use calibration::{Bin, Calibration, Scale, ScaleOutcome};
pub use census::{Lengths, Quantile, Results};
pub use curve::CurveError;
pub use repeats::{Diversity, Duplicates, Repeats};
pub use scale::NoScale;
pub use share::Share;

use crate::record::{Origin, RecordError, Shard, shards};
use crate::table::Style;
use calibration::Observations;
use census::Census;
use notes::Notes;
use rayon::prelude::*;
use repeats::Keys;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Scores beyond this many centipawns are decided: training leaves them out ([`crate::train::plan::FilterSettings`]), and a few that
/// were drawn all the same would flatten the curve.
const MOST_SCORE: i16 = 3_000;
/// The name under which reports expect the drawing beside them.
const CURVE_FILE: &str = "calibration.svg";

/// What games are like.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quality {
    /// Name of the variant.
    pub variant: String,
    /// Hash of its rules.
    pub rules_hash: String,
    /// Games.
    pub games: u64,
    /// Recorded positions.
    pub positions: u64,
    /// How games ended.
    pub results: Results,
    /// How often games ended in which way.
    pub terminations: BTreeMap<String, u64>,
    /// How long they were.
    pub lengths: Lengths,
    /// Positions that come again.
    pub duplicates: Duplicates,
    /// How different games are after some plies of play, from their first recorded positions on.
    pub openings: Vec<Diversity>,
    /// Scores against results.
    pub calibration: Calibration,
}

/// Why games cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum QualityError {
    /// The records are damaged or absent.
    #[error(transparent)]
    Records(#[from] RecordError),
    /// There is nothing to look at.
    #[error("expected one folder of games or more, got none")]
    NoFolder,
    /// Games of different rules have nothing in common.
    #[error("{}: expected games by the rules {expected}, like those before, got {got}", folder.display())]
    OtherRules {
        /// The folder, as it was named.
        folder: PathBuf,
        /// Rules hash of the games before.
        expected: String,
        /// Rules hash of the folder's games.
        got: String,
    },
    /// The record does not say whose scores are whose.
    #[error("game {game}: expected a FEN with w or b as its second field, got {fen:?}")]
    SideToMove {
        /// Number of the game.
        game: u64,
        /// Where it starts.
        fen: String,
    },
}

impl Quality {
    /// Measures all games of `folders` together, each a folder of shards or a run.
    ///
    /// # Errors
    /// Records are damaged, absent or of different rules, with the file's or folder's name; a game does not say who began.
    pub fn of<P: AsRef<Path>>(folders: &[P]) -> Result<Self, QualityError> {
        let mut survey = Survey::default();
        for folder in folders {
            let folder = folder.as_ref();
            for shard in shards(folder, None)? {
                survey.add(folder, &shard?)?;
            }
        }
        survey.finish()
    }

    /// For the screen.
    #[must_use]
    pub fn text(&self) -> String {
        tell::told(self, Style::Plain)
    }

    /// A section for a report in Markdown. It shows `calibration.svg`, which is to lie beside the report.
    #[must_use]
    pub fn markdown(&self) -> String {
        tell::told(self, Style::Markdown)
    }

    /// The calibration as SVG: mean results by score, and the fitted curve.
    ///
    /// # Errors
    /// The drawing library refuses.
    pub fn curve(&self) -> Result<String, CurveError> {
        curve::svg(&self.calibration)
    }
}

/// All that is known of the games so far.
#[derive(Default)]
struct Survey {
    origin: Option<Origin>,
    census: Census,
    keys: Keys,
    observations: Observations,
}

impl Survey {
    fn add(&mut self, folder: &Path, shard: &Shard) -> Result<(), QualityError> {
        self.refuse_other_rules(folder, &shard.header.origin)?;
        // Collected before errors are looked at, so that always the first one is told.
        let notes: Vec<Result<Notes, QualityError>> = shard.games.par_iter().map(Notes::of).collect();
        for (game, notes) in shard.games.iter().zip(notes) {
            let notes = notes?;
            self.census.add(game);
            self.keys.add(&notes);
            self.observations.add(&notes);
        }
        Ok(())
    }

    fn refuse_other_rules(&mut self, folder: &Path, origin: &Origin) -> Result<(), QualityError> {
        let expected = &self.origin.get_or_insert_with(|| origin.clone()).rules_hash;
        if *expected == origin.rules_hash {
            return Ok(());
        }
        let (expected, got) = (expected.clone(), origin.rules_hash.clone());
        Err(QualityError::OtherRules { folder: folder.to_owned(), expected, got })
    }

    fn finish(self) -> Result<Quality, QualityError> {
        let Origin { variant, rules_hash, .. } = self.origin.ok_or(QualityError::NoFolder)?;
        let (duplicates, openings) = self.keys.count();
        Ok(Quality {
            variant,
            rules_hash,
            games: self.census.games,
            positions: self.census.positions,
            results: self.census.results(),
            lengths: self.census.lengths(),
            terminations: self.census.terminations,
            duplicates,
            openings,
            calibration: Calibration::of(&self.observations),
        })
    }
}
