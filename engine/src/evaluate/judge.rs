//! Whatever its user chose to judge positions by.

use super::network::Network;
use super::{Evaluator, Tapered, Weights};
use crate::position::Position;
use crate::variant::Variant;
use std::sync::Arc;

/// An evaluator chosen while the program runs. Searches are compiled for each kind, so this is no [`Evaluator`] itself:
/// [`crate::search::search_with`] takes it.
#[derive(Clone)]
pub enum Judge {
    /// Material and squares.
    Tapered(Arc<Tapered>),
    /// A network.
    Network(Arc<Network>),
}

impl Judge {
    /// Weights as they are.
    pub fn of_weights(variant: &Variant, weights: &Weights) -> Self {
        Tapered::new(variant, weights).into()
    }

    /// The value of a position for the side to move, in centipawns.
    pub fn value_of(&self, position: &Position) -> i32 {
        match self {
            Self::Tapered(tapered) => tapered.value_of(position),
            Self::Network(network) => network.value_of(position),
        }
    }
}

impl From<Tapered> for Judge {
    fn from(tapered: Tapered) -> Self {
        Self::Tapered(Arc::new(tapered))
    }
}

impl From<Network> for Judge {
    fn from(network: Network) -> Self {
        Self::Network(Arc::new(network))
    }
}
