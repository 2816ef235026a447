//! What judges positions, by what users call it: a network's file, the word for the network built in, or weights as
//! [`crate::named_weights`] has them.

use crate::checksum::{hex, sha256};
use crate::named_weights::{self, NamedWeightsError};
use crate::run_dir::{FileError, RunPaths, write_atomically, write_once};
use fairyforge_engine::evaluate::network::{EXTENSION, Network, NetworkFile, NetworkFileError};
use fairyforge_engine::evaluate::{Judge, Weights};
use fairyforge_engine::variant::Variant;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The network built into the program, where a file could be named.
pub const NETWORK: &str = "network";

/// A judge with what it was read from.
#[derive(Clone)]
pub struct NamedJudge {
    /// The judge.
    pub judge: Judge,
    /// Digest of its file, or [`named_weights::A_PRIORI`].
    pub digest: String,
    /// Its file, or what would be written.
    pub content: JudgeContent,
}

/// The file of a judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JudgeContent {
    /// The text of weights.
    Weights(String),
    /// The bytes of a network.
    Network(Vec<u8>),
}

/// Why there is no judge of a name.
#[derive(Debug, thiserror::Error)]
pub enum NamedJudgeError {
    /// No weights.
    #[error(transparent)]
    Weights(#[from] NamedWeightsError),
    /// No network is built in.
    #[error(
        "no network is shipped for {variant}; name a file, {:?} or {:?}",
        named_weights::SHIPPED,
        named_weights::A_PRIORI
    )]
    NotShipped {
        /// Which game.
        variant: String,
    },
    /// The file has no network of the game.
    #[error("{}: {source}", path.display())]
    Network {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: NetworkFileError,
    },
}

/// The word for the best that is known of a variant.
pub fn usual(variant: &Arc<Variant>) -> &'static str {
    if NetworkFile::shipped(variant).is_some() { NETWORK } else { named_weights::usual(variant) }
}

/// The judge of a name. A file is a network's if its name ends as theirs do.
///
/// # Errors
/// None is shipped, or the file cannot be read or is not of the game.
pub fn load(variant: &Arc<Variant>, name: &Path) -> Result<NamedJudge, NamedJudgeError> {
    let refused = |source| NamedJudgeError::Network { path: name.to_owned(), source };
    if name == Path::new(NETWORK) {
        let bytes = NetworkFile::shipped_bytes(variant);
        let bytes = bytes.ok_or_else(|| NamedJudgeError::NotShipped { variant: variant.name().to_owned() })?;
        return NamedJudge::of_network(variant, bytes.to_vec()).map_err(refused);
    }
    if name.extension().is_some_and(|extension| extension == EXTENSION) {
        let bytes = NetworkFile::read_bytes(name).map_err(refused)?;
        return NamedJudge::of_network(variant, bytes).map_err(refused);
    }
    let named = named_weights::load(variant, name)?;
    let judge = Judge::of_weights(variant, &named.weights);
    Ok(NamedJudge { judge, digest: named.digest, content: JudgeContent::Weights(named.text) })
}

impl NamedJudge {
    /// A network of these bytes.
    ///
    /// # Errors
    /// They are none of the game.
    pub fn of_network(variant: &Arc<Variant>, bytes: Vec<u8>) -> Result<Self, NetworkFileError> {
        let file = NetworkFile::from_bytes(variant, &bytes)?;
        let (judge, digest) = (Network::new(file).into(), hex(&sha256(&[&bytes])));
        Ok(Self { judge, digest, content: JudgeContent::Network(bytes) })
    }

    /// These weights.
    pub fn of_weights(variant: &Variant, weights: &Weights) -> Self {
        let text = weights.to_toml(variant);
        let digest = crate::checksum::text_digest(&text);
        Self { judge: Judge::of_weights(variant, weights), digest, content: JudgeContent::Weights(text) }
    }

    /// Keeps it in a run as what a generation plays with.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn keep(&self, run: &RunPaths, generation: u32) -> Result<(), FileError> {
        self.keep_as(run, generation, true)
    }

    /// Keeps it in a run as what the run begins with, which many processes may do at once.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn keep_start(&self, run: &RunPaths, generation: u32) -> Result<(), FileError> {
        match &self.content {
            JudgeContent::Weights(text) => write_once(&run.weights(generation), text.as_bytes()),
            JudgeContent::Network(bytes) => write_once(&run.generation_network(generation), bytes),
        }
    }

    /// Keeps it in a run, among those that go on or among those rejected.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn keep_as(&self, run: &RunPaths, generation: u32, accepted: bool) -> Result<(), FileError> {
        match (&self.content, accepted) {
            (JudgeContent::Weights(text), true) => write_atomically(&run.weights(generation), text.as_bytes()),
            (JudgeContent::Weights(text), false) => write_atomically(&run.rejected(generation), text.as_bytes()),
            (JudgeContent::Network(bytes), true) => write_atomically(&run.generation_network(generation), bytes),
            (JudgeContent::Network(bytes), false) => write_atomically(&run.rejected_network(generation), bytes),
        }
    }

    /// What a generation of a run plays with.
    ///
    /// # Errors
    /// It cannot be read or is not of the game.
    pub fn kept(variant: &Arc<Variant>, run: &RunPaths, generation: u32) -> Result<Self, NamedJudgeError> {
        let network = run.generation_network(generation);
        load(variant, &if network.exists() { network } else { run.weights(generation) })
    }
}
