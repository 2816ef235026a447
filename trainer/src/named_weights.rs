//! Weights by what users call them: a file, or the word for those built in or derived from mobility.

use crate::checksum::text_digest;
use fairyforge_engine::evaluate::{Weights, WeightsError};
use fairyforge_engine::variant::Variant;
use std::io;
use std::path::{Path, PathBuf};

/// Weights derived from mobility, where a file could be named.
pub const A_PRIORI: &str = Weights::A_PRIORI;
/// Weights built into the program, likewise.
pub const SHIPPED: &str = Weights::SHIPPED;

/// Weights with the text they were read from and its digest.
pub struct NamedWeights {
    /// The weights.
    pub weights: Weights,
    /// Their file, or what would be written.
    pub text: String,
    /// Digest of the text, or [`A_PRIORI`].
    pub digest: String,
}

/// Why there are no weights of a name.
#[derive(Debug, thiserror::Error)]
pub enum NamedWeightsError {
    /// None are built in.
    #[error("no weights are shipped for {0}; name a file or {A_PRIORI:?}")]
    NotShipped(String),
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file has no weights of the game.
    #[error("{}: {source}", path.display())]
    Weights {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: WeightsError,
    },
}

/// The word for the best weights known: those built in, if there are any.
pub fn usual(variant: &Variant) -> &'static str {
    if Weights::shipped(variant).is_some() { SHIPPED } else { A_PRIORI }
}

/// Whether a name is a word and no file.
pub fn is_word(name: &Path) -> bool {
    [A_PRIORI, SHIPPED].iter().any(|word| name == Path::new(word))
}

/// The weights of a name.
///
/// # Errors
/// None are shipped, or the file cannot be read or has no weights of the game.
pub fn load(variant: &Variant, name: &Path) -> Result<NamedWeights, NamedWeightsError> {
    if name == Path::new(A_PRIORI) {
        let weights = Weights::a_priori(variant);
        return Ok(NamedWeights { text: weights.to_toml(variant), weights, digest: A_PRIORI.into() });
    }
    if name == Path::new(SHIPPED) {
        let weights =
            Weights::shipped(variant).ok_or_else(|| NamedWeightsError::NotShipped(variant.name().to_owned()))?;
        let text = weights.to_toml(variant);
        return Ok(NamedWeights { digest: text_digest(&text), weights, text });
    }
    let path = || name.to_owned();
    let text = std::fs::read_to_string(name).map_err(|source| NamedWeightsError::Read { path: path(), source })?;
    let weights =
        Weights::read(variant, &text).map_err(|source| NamedWeightsError::Weights { path: path(), source })?;
    Ok(NamedWeights { digest: text_digest(&text), weights, text })
}
