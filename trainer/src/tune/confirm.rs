//! The match at the end of a run: the tuned values against the old ones, as a sequential test.
//!
//! Openings come from a seed of their own, so none was seen in tuning. Pairs are played in blocks of a fixed size and
//! judged in order of their numbers; the test ends at the first pair at which a bound is crossed, whatever was played
//! after it. So neither threads nor interruptions decide anything. Each block is a line of `confirm.jsonl`.

use super::objective::{Batch, Objective, PairResult};
use super::plan::Confirm;
use super::run::TuneError;
use super::tuner::derived_seed;
use crate::arena::sprt::{Decision, Results, Sprt, SprtReport};
use crate::arena::statistics::{MatchSummary, MatchTally};
use crate::run_dir::{FileError, append_line, drop_torn_line};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Version of the journal's format.
const FORMAT: u32 = 1;
/// What its header says it is.
const KIND: &str = "confirm";
/// Pairs played before the test looks at them.
pub const BLOCK: u64 = 32;

/// The seed of the match's openings.
#[must_use]
pub fn seed(run_seed: u64) -> u64 {
    derived_seed("confirm", run_seed)
}

/// The first line of the match's journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfirmHeader {
    /// Format version.
    pub format: u32,
    /// `confirm`.
    pub kind: String,
    /// The variant's name.
    pub variant: String,
    /// The variant's rules hash.
    pub rules_hash: String,
    /// Seed of the openings.
    pub seed: u64,
    /// Version of the program that began the journal.
    pub program: String,
    /// The test.
    pub confirm: Confirm,
    /// What is tuned.
    pub parameters: Vec<String>,
    /// Its tuned values, those of the plus player.
    pub tuned: Vec<f64>,
    /// Its old values, those of the minus player.
    pub old: Vec<f64>,
}

impl ConfirmHeader {
    /// Format and kind of this version, around the rest.
    #[must_use]
    pub fn kind() -> (u32, String) {
        (FORMAT, KIND.into())
    }
}

/// A block of pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    /// Number of its first pair, from 0.
    first: u64,
    /// The tuned player's results.
    pairs: Vec<PairResult>,
}

/// What the match found.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmation {
    /// Pairs until the decision, or all.
    pub tally: MatchTally,
    /// What the test says of them.
    pub report: SprtReport,
}

impl Confirmation {
    /// The usual numbers of a match, the tuned player's view.
    #[must_use]
    pub fn summary(&self) -> MatchSummary {
        self.tally.summary()
    }

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
pub struct ConfirmingMatch<'a, O: Objective> {
    /// What is played and tested.
    pub header: &'a ConfirmHeader,
    /// Who plays.
    pub objective: &'a O,
}

impl<O: Objective> ConfirmingMatch<'_, O> {
    /// Plays until the test decides or the pairs are used up, going on from what the journal at `path` holds;
    /// `resumed` is told how many pairs that is.
    ///
    /// # Errors
    /// The journal cannot be read or written or is of another match, the test makes no sense, or somebody asked to stop.
    pub fn play(&self, path: &Path, resumed: impl FnOnce(u64)) -> Result<Confirmation, TuneError> {
        let Confirm { max_pairs, .. } = self.header.confirm;
        let mut test = Test::new(&self.header.confirm)?;
        let blocks = self.open(path)?;
        let mut played = blocks.iter().map(|block| block.pairs.len() as u64).sum();
        resumed(played);
        blocks.iter().for_each(|block| test.hear(&block.pairs));
        while !test.is_decided && played < max_pairs {
            let pairs = self.block(played, BLOCK.min(max_pairs - played))?;
            append_line(path, &json(&pairs))?;
            played += pairs.pairs.len() as u64;
            test.hear(&pairs.pairs);
        }
        Ok(Confirmation { tally: test.tally, report: test.sprt.report(&Results::Match(test.tally))? })
    }

    fn block(&self, first: u64, pairs: u64) -> Result<Block, TuneError> {
        let batch = Batch { first_pair: first, pairs, plus: &self.header.tuned, minus: &self.header.old };
        let pairs = self.objective.play(&batch).ok_or(TuneError::Stopped)?;
        Ok(Block { first, pairs })
    }

    fn open(&self, path: &Path) -> Result<Vec<Block>, TuneError> {
        drop_torn_line(path)?;
        if std::fs::metadata(path).map_or(true, |metadata| metadata.len() == 0) {
            append_line(path, &json(self.header))?;
        }
        let text = std::fs::read_to_string(path).map_err(FileError::at("read", path))?;
        let mut lines = (1..).zip(text.lines());
        let header = lines.next().map_or("", |(_, header)| header);
        if !self.is_header(header) {
            return Err(fault(path, 1, "the header of this match", header));
        }
        let mut first = 0;
        lines
            .map(|(number, text)| {
                let block = serde_json::from_str(text).ok().filter(|block| self.is_next(block, first));
                let block = block.ok_or_else(|| fault(path, number, &format!("the block of pair {first}"), text))?;
                first += block.pairs.len() as u64;
                Ok(block)
            })
            .collect()
    }

    /// Another version of the program may have begun the match.
    fn is_header(&self, text: &str) -> bool {
        serde_json::from_str::<ConfirmHeader>(text)
            .is_ok_and(|found| json(&ConfirmHeader { program: found.program, ..self.header.clone() }) == text)
    }

    fn is_next(&self, block: &Block, first: u64) -> bool {
        let size = BLOCK.min(self.header.confirm.max_pairs.saturating_sub(first));
        let possible = block.pairs.iter().all(|pair| pair.is_possible());
        block.first == first && size > 0 && block.pairs.len() as u64 == size && possible
    }
}

/// The test with the pairs heard so far; it hears none after its decision.
struct Test {
    sprt: Sprt,
    tally: MatchTally,
    is_decided: bool,
}

impl Test {
    fn new(confirm: &Confirm) -> Result<Self, TuneError> {
        Ok(Self { sprt: Sprt::new(confirm.sprt())?, tally: MatchTally::new(), is_decided: false })
    }

    fn hear(&mut self, pairs: &[PairResult]) {
        for pair in pairs {
            if self.is_decided {
                return;
            }
            let [one, other] = pair.games();
            self.tally.add_pair(one, other);
            // Results that no hypothesis fits, as very few may be, decide nothing.
            let decision =
                self.sprt.step(&Results::Match(self.tally)).map_or(Decision::Continue, |(_, decision)| decision);
            self.is_decided = decision != Decision::Continue;
        }
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("strings and numbers serialise")
}

fn fault(path: &Path, line: u64, expected: &str, got: &str) -> TuneError {
    /// Characters of a line that a message repeats.
    const SHOWN: usize = 60;
    let path: PathBuf = path.to_owned();
    TuneError::Confirm { path, line, expected: expected.to_owned(), got: got.chars().take(SHOWN).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::sprt::EloModel;
    use crate::selfplay::seeds::Dice;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A player who wins so many of 100 games, and stops when a number of blocks has been played.
    struct Coin {
        percent: usize,
        blocks: AtomicU64,
    }

    impl Objective for Coin {
        fn play(&self, batch: &Batch) -> Option<Vec<PairResult>> {
            self.blocks.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).ok()?;
            let game = |dice: &mut Dice| if dice.below(100) < self.percent { 1 } else { -1 };
            let pair = |number| {
                let mut dice = Dice::new(4, number);
                PairResult([game(&mut dice), game(&mut dice)])
            };
            Some((batch.first_pair..batch.first_pair + batch.pairs).map(pair).collect())
        }
    }

    fn header(max_pairs: u64) -> ConfirmHeader {
        let (format, kind) = ConfirmHeader::kind();
        let confirm = Confirm { elo0: 0.0, elo1: 20.0, model: EloModel::Logistic, alpha: 0.05, beta: 0.05, max_pairs };
        ConfirmHeader {
            format,
            kind,
            variant: "chess".into(),
            rules_hash: "01".into(),
            seed: 1,
            program: "0.1.0".into(),
            confirm,
            parameters: vec!["a".into()],
            tuned: vec![2.0],
            old: vec![1.0],
        }
    }

    fn played(path: &Path, percent: usize, blocks: u64, max_pairs: u64) -> Result<Confirmation, TuneError> {
        let coin = Coin { percent, blocks: AtomicU64::new(blocks) };
        ConfirmingMatch { header: &header(max_pairs), objective: &coin }.play(path, |_| ())
    }

    #[test]
    fn a_stronger_player_is_confirmed_and_a_weaker_one_not() {
        let folder = tempfile::tempdir().unwrap();
        for (percent, decision) in [(60, Decision::AcceptH1), (45, Decision::AcceptH0)] {
            let path = folder.path().join(format!("{percent}.jsonl"));
            let confirmation = played(&path, percent, 1_000, 10_000).unwrap();
            assert_eq!(confirmation.report.decision, decision);
            let pairs = confirmation.tally.pairs().total();
            // One pair earlier it was not decided, so the block's end is not what ended it.
            let llr = confirmation.report.llr.abs();
            assert!(llr > 2.944 && llr < 3.3 && pairs > 20, "{llr} after {pairs}");
        }
        let undecided = played(&folder.path().join("few.jsonl"), 52, 10, 40).unwrap();
        assert_eq!((undecided.report.decision, undecided.tally.pairs().total()), (Decision::Continue, 40));
        assert!(undecided.sentence().starts_with("Undecided"));
    }

    #[test]
    fn a_stopped_match_goes_on_to_the_same_journal() {
        let folder = tempfile::tempdir().unwrap();
        let [path, undisturbed] = ["a.jsonl", "b.jsonl"].map(|name| folder.path().join(name));
        let expected = played(&undisturbed, 53, 1_000, 10_000).unwrap();
        while matches!(played(&path, 53, 2, 10_000), Err(TuneError::Stopped)) {}
        assert_eq!(played(&path, 53, 0, 10_000).unwrap(), expected, "all is there, nothing is played again");
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, std::fs::read_to_string(&undisturbed).unwrap());
        assert!(text.lines().count() > 4);
        // A torn block is played again; a block of other pairs, or another match, is refused.
        std::fs::write(&path, &text[..text.len() - 7]).unwrap();
        assert_eq!(played(&path, 53, 1, 10_000).unwrap(), expected);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        std::fs::write(&path, text.replace("\"first\":32", "\"first\":31")).unwrap();
        let error = played(&path, 53, 0, 10_000).unwrap_err().to_string();
        assert!(error.contains("line 3: expected the block of pair 32"), "{error}");
        let error = played(&undisturbed, 53, 0, 9_999).unwrap_err().to_string();
        assert!(error.contains("line 1"), "{error}");
    }
}
