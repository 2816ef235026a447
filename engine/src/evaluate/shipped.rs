//! Weights and networks made from our own games and built into the program (`data/weights/`, `data/nets/`), so that it plays
//! with them anywhere.

use super::network::{Network, NetworkFile};
use super::{Judge, Weights};
use crate::variant::Variant;
use std::sync::Arc;

/// Variant and text of each file. How each was made stands in `data/README.md` and in its `[origin]`.
const SHIPPED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/weights.rs"));
/// Variant and bytes of each network. How each was made stands in `docs/strength.md` and on its card.
const NETWORKS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/networks.rs"));

impl Weights {
    /// The word for the weights shipped, where a file could be named.
    pub const SHIPPED: &'static str = "shipped";
    /// The word for weights derived from mobility, likewise.
    pub const A_PRIORI: &'static str = "a-priori";

    /// The weights shipped for a variant; `None` if there are none, or if the variant's rules are not those they were
    /// tuned for.
    pub fn shipped(variant: &Variant) -> Option<Self> {
        let (_, text) = SHIPPED.iter().find(|(name, _)| *name == variant.name())?;
        Self::read(variant, text).ok()
    }

    /// The best weights at hand: those shipped, else those from mobility.
    pub fn best_known(variant: &Variant) -> Self {
        Self::shipped(variant).unwrap_or_else(|| Self::a_priori(variant))
    }
}

impl NetworkFile {
    /// The bytes of the network shipped for a variant; `None` if there is none.
    pub fn shipped_bytes(variant: &Variant) -> Option<&'static [u8]> {
        NETWORKS.iter().find(|(name, _)| *name == variant.name()).map(|(_, bytes)| *bytes)
    }

    /// The network shipped for a variant; `None` if there is none, or if the variant's rules are not those it was trained
    /// for.
    pub fn shipped(variant: &Arc<Variant>) -> Option<Self> {
        Self::from_bytes(variant, Self::shipped_bytes(variant)?).ok()
    }
}

impl Judge {
    /// The best that is known of a variant: the network shipped for it, else the best weights.
    pub fn best_known(variant: &Arc<Variant>) -> Self {
        match NetworkFile::shipped(variant) {
            Some(file) => Network::new(file).into(),
            None => Self::of_weights(variant, &Weights::best_known(variant)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_network_is_of_the_shipped_rules_and_has_passed_its_gate() {
        for (name, bytes) in NETWORKS {
            let variant = Arc::new(Variant::load(name).unwrap());
            let file = NetworkFile::from_bytes(&variant, bytes).unwrap();
            assert!(file.card.gate.is_some() && file.card.positions > 0, "{name}: {:?}", file.card);
            assert_eq!(file.to_bytes().unwrap(), *bytes, "{name} is written as read");
        }
    }

    #[test]
    fn every_shipped_file_is_of_the_shipped_rules() {
        for (name, text) in SHIPPED {
            let variant = Variant::load(name).unwrap();
            let weights = Weights::read(&variant, text).unwrap();
            assert!(weights.origin.games > 0 && weights.origin.data_digest.is_some(), "{name}");
            assert_eq!(weights.to_toml(&variant), *text, "{name} is written as read");
        }
    }
}
