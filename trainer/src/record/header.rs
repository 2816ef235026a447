//! A shard's header: the `fairyforge.*` key-value pairs in the footer of both its Parquet files.

use std::collections::BTreeMap;

use super::{Fault, SCHEMA_VERSION, seal};

const SCHEMA: &str = "fairyforge.schema";
const KIND: &str = "fairyforge.kind";
const VARIANT: &str = "fairyforge.variant";
const RULES_HASH: &str = "fairyforge.rules_hash";
const ENGINE: &str = "fairyforge.engine";
const RUN_SEED: &str = "fairyforge.run_seed";
const WEIGHTS: &str = "fairyforge.weights";
const BASE_GAME: &str = "fairyforge.base_game";
const FIRST_GAME: &str = "fairyforge.first_game";
const GAMES: &str = "fairyforge.games";
const CONTENT: &str = "fairyforge.content";
const SEAL: &str = "fairyforge.seal";

/// What all shards of one folder have in common: where the games come from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// Name of the variant.
    pub variant: String,
    /// Hash of the variant's rules, as the engine computes it.
    pub rules_hash: String,
    /// Version of the engine that played.
    pub engine: String,
    /// Seed of the run.
    pub run_seed: u64,
    /// Digest of the weights the engine played with, or a word for none.
    pub weights: String,
    /// Number of the first game of the whole folder; 0 unless a run counts on from its last generation.
    pub base_game: u64,
}

impl Origin {
    /// The first of the values that make games comparable in which `self` differs from `expected`.
    ///
    /// The engine's version is not one of them: a run may be resumed by a later build.
    pub(super) fn check_same(&self, expected: &Self) -> Result<(), Fault> {
        check_value(VARIANT, &expected.variant, &self.variant)?;
        check_value(RULES_HASH, &expected.rules_hash, &self.rules_hash)?;
        check_value(RUN_SEED, &expected.run_seed.to_string(), &self.run_seed.to_string())?;
        check_value(WEIGHTS, &expected.weights, &self.weights)?;
        check_value(BASE_GAME, &expected.base_game.to_string(), &self.base_game.to_string())
    }
}

/// The header of one shard.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShardHeader {
    /// Where the games come from.
    pub origin: Origin,
    /// Number of the shard's first game.
    pub first_game: u64,
    /// Number of games; their numbers follow one another.
    pub games: u64,
    /// SHA-256 of the shard's games by the rule of [`super::digest()`].
    pub content: String,
}

/// Which of a shard's two tables a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Games,
    Positions,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Games => "games",
            Self::Positions => "positions",
        }
    }
}

impl ShardHeader {
    /// The pairs to write into a file of `kind`, the still blank seal last.
    pub(super) fn to_pairs(&self, kind: Kind) -> Vec<(String, String)> {
        let origin = &self.origin;
        [
            (SCHEMA, SCHEMA_VERSION.to_string()),
            (KIND, kind.name().to_owned()),
            (VARIANT, origin.variant.clone()),
            (RULES_HASH, origin.rules_hash.clone()),
            (ENGINE, origin.engine.clone()),
            (RUN_SEED, origin.run_seed.to_string()),
            (WEIGHTS, origin.weights.clone()),
            (BASE_GAME, origin.base_game.to_string()),
            (FIRST_GAME, self.first_game.to_string()),
            (GAMES, self.games.to_string()),
            (CONTENT, self.content.clone()),
            (SEAL, seal::BLANK.to_owned()),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into()
    }

    /// Reads the header of a file that should be of `kind`; the schema version is checked first.
    pub(super) fn from_pairs(pairs: &BTreeMap<String, String>, kind: Kind) -> Result<Self, Fault> {
        check_value(SCHEMA, &SCHEMA_VERSION.to_string(), text(pairs, SCHEMA)?)?;
        check_value(KIND, kind.name(), text(pairs, KIND)?)?;
        Ok(Self {
            origin: Origin {
                variant: text(pairs, VARIANT)?.to_owned(),
                rules_hash: text(pairs, RULES_HASH)?.to_owned(),
                engine: text(pairs, ENGINE)?.to_owned(),
                run_seed: number(pairs, RUN_SEED)?,
                weights: text(pairs, WEIGHTS)?.to_owned(),
                base_game: number(pairs, BASE_GAME)?,
            },
            first_game: number(pairs, FIRST_GAME)?,
            games: number(pairs, GAMES)?,
            content: text(pairs, CONTENT)?.to_owned(),
        })
    }

    /// The games were played by the rules the caller has.
    pub(super) fn check_rules(&self, rules_hash: &str) -> Result<(), Fault> {
        check_value(RULES_HASH, rules_hash, &self.origin.rules_hash)
    }

    /// The shard is the one its file name says.
    pub(super) fn check_first_game(&self, in_name: u64) -> Result<(), Fault> {
        check_value(FIRST_GAME, &in_name.to_string(), &self.first_game.to_string())
    }

    /// The shard holds as many games as it should.
    pub(super) fn check_games(&self, rows: usize) -> Result<(), Fault> {
        check_value(GAMES, &rows.to_string(), &self.games.to_string())
    }

    /// The content is the one its header promises.
    pub(super) fn check_content(&self, actual: &str) -> Result<(), Fault> {
        check_value(CONTENT, actual, &self.content)
    }

    /// The header of the positions belongs to the same shard as this header of the games.
    pub(super) fn check_twin(&self, positions: &Self) -> Result<(), Fault> {
        positions.origin.check_same(&self.origin)?;
        check_value(ENGINE, &self.origin.engine, &positions.origin.engine)?;
        positions.check_first_game(self.first_game)?;
        check_value(GAMES, &self.games.to_string(), &positions.games.to_string())?;
        positions.check_content(&self.content)
    }
}

fn text<'pairs>(pairs: &'pairs BTreeMap<String, String>, key: &'static str) -> Result<&'pairs str, Fault> {
    pairs.get(key).map(String::as_str).ok_or(Fault::MissingKey { key })
}

fn number(pairs: &BTreeMap<String, String>, key: &'static str) -> Result<u64, Fault> {
    let value = text(pairs, key)?;
    value.parse().map_err(|_| Fault::Header {
        key,
        expected: "a whole number of at most 64 bits".to_owned(),
        got: value.to_owned(),
    })
}

fn check_value(key: &'static str, expected: &str, got: &str) -> Result<(), Fault> {
    if expected == got {
        return Ok(());
    }
    Err(Fault::Header { key, expected: expected.to_owned(), got: got.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::samples;

    fn header() -> ShardHeader {
        ShardHeader { origin: samples::origin(), first_game: 512, games: 256, content: "c0ffee".to_owned() }
    }

    fn pairs() -> BTreeMap<String, String> {
        header().to_pairs(Kind::Games).into_iter().collect()
    }

    #[test]
    fn survives_the_way_through_pairs() {
        assert_eq!(ShardHeader::from_pairs(&pairs(), Kind::Games), Ok(header()));
    }

    #[test]
    fn every_key_but_the_seal_is_needed() {
        for key in pairs().into_keys().filter(|key| key != SEAL) {
            let mut incomplete = pairs();
            incomplete.remove(&key);
            let fault = ShardHeader::from_pairs(&incomplete, Kind::Games).unwrap_err();
            assert_eq!(fault.to_string(), format!("header key {key} is missing"));
        }
    }

    #[test]
    fn another_schema_kind_or_number_says_expected_and_got() {
        let fault_with = |key: &str, value: &str| {
            let mut changed = pairs();
            changed.insert(key.to_owned(), value.to_owned());
            ShardHeader::from_pairs(&changed, Kind::Games).unwrap_err().to_string()
        };
        assert_eq!(fault_with(SCHEMA, "2"), "header key fairyforge.schema: expected 1, got \"2\"");
        assert_eq!(fault_with(KIND, "positions"), "header key fairyforge.kind: expected games, got \"positions\"");
        assert!(fault_with(GAMES, "-1").contains("expected a whole number"));
    }

    #[test]
    fn rules_and_twins_are_compared() {
        assert_eq!(header().check_rules("5f0c"), Ok(()));
        assert!(header().check_rules("beef").unwrap_err().to_string().contains("expected beef, got \"5f0c\""));
        let mut other = header();
        other.origin.weights = "other".to_owned();
        assert!(header().check_twin(&other).is_err());
    }
}
