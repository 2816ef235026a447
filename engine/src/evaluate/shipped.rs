//! Weights tuned from our own games and built into the program (`data/weights/`), so that it plays with them anywhere.

use super::Weights;
use crate::variant::Variant;

/// Variant and text of each file. How each was made stands in `data/README.md` and in its `[origin]`.
const SHIPPED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/weights.rs"));

impl Weights {
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

#[cfg(test)]
mod tests {
    use super::*;

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
