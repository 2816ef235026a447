//! The match at the end of a run: the tuned values against the old ones, as a sequential test. Its openings come from a
//! seed of their own, so none was seen in tuning. Who plays and where it ends is [`crate::arena`]'s business.

use super::plan::Confirm;
use super::setup::Setup;
use super::targets::Engine;
use super::tuner::derived_seed;
use crate::arena::openings::OpeningBook;
use crate::arena::schedule::{Format, Schedule};
use crate::arena::sprt::{Decision, Sprt, SprtReport};
use crate::arena::standing::Standing;
use crate::arena::statistics::MatchSummary;
use crate::arena::{Contestant, Entrant, Match, MatchError, OwnEngine, Terms, introduced};
use crate::checksum::text_digest;
use crate::play::Allowance;
use crate::share::Share;
use fairyforge_engine::evaluate::Judge;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The seed of the match's openings.
#[must_use]
pub fn seed(run_seed: u64) -> u64 {
    derived_seed("confirm", run_seed)
}

/// What the match found.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmation {
    /// The usual numbers of a match, the tuned player's view.
    pub summary: MatchSummary,
    /// What the test says.
    pub report: SprtReport,
}

impl Confirmation {
    /// What was found, in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let settings = &self.report.settings;
        let (elo0, elo1, model) = (settings.elo0, settings.elo1, settings.model);
        match self.report.decision {
            Decision::AcceptH1 => {
                format!("The tuned values are stronger: H1 ({elo1} {model} Elo rather than {elo0}) is accepted.")
            }
            Decision::AcceptH0 => {
                format!(
                    "The tuned values did not prove stronger: H0 ({elo0} {model} Elo rather than {elo1}) is accepted."
                )
            }
            Decision::Continue => {
                format!(
                    "Undecided between {elo0} and {elo1} {model} Elo: all pairs were played before a bound was crossed."
                )
            }
        }
    }
}

/// The match.
pub struct ConfirmingMatch<'a> {
    /// The run; its player has the old values.
    pub setup: &'a Setup,
    /// The test.
    pub confirm: Confirm,
    /// The tuned values.
    pub tuned: &'a [f64],
    /// Where games begin, with the seed of [`seed`].
    pub openings: OpeningBook,
    /// Which of its pairs this process plays.
    pub share: Share,
}

impl ConfirmingMatch<'_> {
    /// Plays until the test decides or the pairs are used up, going on from what the journal at `path` holds. `watch`
    /// hears how the match stands.
    ///
    /// # Errors
    /// Those of [`Match::play`].
    pub fn play(
        self,
        path: &Path,
        stop: &AtomicBool,
        watch: &mut (dyn FnMut(&Standing) + Send),
    ) -> Result<Confirmation, MatchError> {
        let Setup { plan, variant, engine, targets, .. } = self.setup;
        let tuned = engine.with(targets, self.tuned);
        let contestants = [self.contestant("tuned", &tuned), self.contestant("old", engine)];
        let sprt = Sprt::new(self.confirm.sprt())?;
        let contest = Match {
            variant,
            contestants: &contestants,
            players: introduced(variant, &contestants)?,
            schedule: Schedule::new(Format::RoundRobin, contestants.len(), self.confirm.max_pairs),
            openings: self.openings,
            terms: Terms {
                adjudication: plan.adjudication.clone(),
                endgames: self.setup.endgames.clone(),
                time_margin: Duration::ZERO,
                sprt: Some(sprt),
                breakdowns: 0,
            },
            seed: seed(plan.seed),
            share: self.share,
        };
        let standing = contest.play(path, stop, watch)?.standing;
        let summary = standing.meeting(0).tally.summary();
        let (sprt, results, _) = standing.test().expect("the match has a test");
        Ok(Confirmation { summary, report: sprt.report(&results)? })
    }

    fn contestant(&self, name: &str, engine: &Engine) -> Contestant {
        let Setup { plan, variant, .. } = self.setup;
        Contestant {
            name: name.into(),
            allowance: Allowance::nodes(plan.nodes),
            entrant: Entrant::Own(OwnEngine {
                judge: Judge::of_weights(variant, &engine.weights),
                weights: text_digest(&engine.weights.to_toml(variant)),
                params: engine.params.clone(),
                table_mebibytes: plan.table_mebibytes,
            }),
        }
    }
}
