//! The finished network as a file for the engine, in whole numbers, with a card that says where it comes from.

use super::plan::DataSettings;
use super::run::TrainedBy;
use super::samples::Samples;
use super::source::Folder;
use fairyforge_engine::evaluate::Weights;
use fairyforge_engine::evaluate::network::{
    Card, CardData, Features, NetworkFile, NetworkFileError, Parameters, QuantisationError, Quantised, Rounding, Scales,
};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;

/// Why there is no file.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The numbers do not fit, or could overflow.
    #[error("the network cannot be made of whole numbers: {0}; a lower adam.bound may help")]
    Quantisation(#[from] QuantisationError),
    /// The file refuses.
    #[error(transparent)]
    File(#[from] NetworkFileError),
    /// The engine's arithmetic is not that of training.
    #[error(
        "expected whole numbers within {expected:.1} centipawns of the network trained, got a difference of {got:.1}"
    )]
    Apart {
        /// What rounding explains.
        expected: f64,
        /// The largest difference.
        got: f64,
    },
}

/// What sums in single precision may add to roundings, in centipawns.
const SINGLE_PRECISION: f64 = 0.1;

/// How far a network of whole numbers is from the one trained, on positions that were played.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Positions compared.
    pub positions: usize,
    /// The largest difference, in centipawns.
    pub worst: f64,
    /// Root mean square of the differences, in centipawns.
    pub typical: f64,
}

impl std::fmt::Display for Agreement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { positions, worst, typical } = self;
        write!(
            f,
            "On {positions} positions of the validation games the two differ by {typical:.2} centipawns (root mean square) and \
             by {worst:.1} at most."
        )
    }
}

/// Compares a network's sums in whole numbers with the outputs of training for the first of these positions. `None` if
/// there is none.
///
/// # Errors
/// They are further apart than rounding explains.
pub fn compared(
    quantised: &Quantised,
    rounding: &Rounding,
    samples: &Samples,
    outputs: &[f32],
) -> Result<Option<Agreement>, ExportError> {
    let (slots, scales) = (quantised.features().slots(), quantised.scales());
    let difference = |(position, &output): (usize, &f32)| {
        let [own, other] = [0, 1].map(|side| samples.inputs(2 * position + side, slots).collect::<Vec<_>>());
        let sum = quantised.sum([&own, &other], samples.bucket(position)) as f64 / scales.one() as f64;
        f64::from(scales.centipawns) * (sum - f64::from(output)).abs()
    };
    let differences: Vec<f64> = outputs.par_iter().enumerate().map(difference).collect();
    let Some(worst) = differences.iter().copied().reduce(f64::max) else { return Ok(None) };
    if worst > rounding.worst_centipawns + SINGLE_PRECISION {
        return Err(ExportError::Apart { expected: rounding.worst_centipawns, got: worst });
    }
    let square = differences.iter().map(|difference| difference * difference).sum::<f64>() / differences.len() as f64;
    Ok(Some(Agreement { positions: differences.len(), worst, typical: square.sqrt() }))
}

/// The file, and what rounding costs. Exchanges are judged by the weights below, or by the best known of the variant.
///
/// # Errors
/// The numbers do not fit, or could overflow.
pub fn network_file(features: &Arc<Features>, by: &TrainedBy<'_>) -> Result<(NetworkFile, Rounding), ExportError> {
    let TrainedBy { plan, base, trained, program } = by;
    let (quantised, rounding) = quantised(features, &trained.parameters, plan.target.centipawns as i32)?;
    let variant = features.variant();
    let values = base.cloned().unwrap_or_else(|| Weights::best_known(variant)).exchange_values();
    let last = trained.looks.last();
    let card = Card {
        method: "trained on recorded games with burn".into(),
        program: (*program).into(),
        data: plan.data.iter().zip(&trained.content.folders).map(card_data).collect(),
        seed: plan.seed,
        positions: last.map_or(0, |last| last.positions),
        training_loss: last.map(|last| last.training),
        validation_loss: last.and_then(|last| last.validation),
        rounding_centipawns: Some(rounding.typical_centipawns),
        gate: None,
    };
    let file =
        NetworkFile { quantised, base: base.cloned(), unit_values: values[..variant.units().len()].to_vec(), card };
    Ok((file, rounding))
}

fn card_data((data, folder): (&DataSettings, &Folder)) -> CardData {
    CardData { name: data.folder.display().to_string(), digest: folder.digest.clone(), games: folder.games }
}

/// As fine as sums allow: where men of the game could drive one out of its bits, a coarser scale is tried.
fn quantised(
    features: &Arc<Features>,
    parameters: &Parameters,
    centipawns: i32,
) -> Result<(Quantised, Rounding), QuantisationError> {
    let finest = Scales::fitting(parameters, centipawns);
    let coarser = [1, 2, 4].map(|part| Scales { transformer: finest.transformer / part, ..finest });
    let mut made = Quantised::new(features, parameters, coarser[0]);
    for scales in &coarser[1..] {
        if matches!(made, Err(QuantisationError::Accumulator { .. })) {
            made = Quantised::new(features, parameters, *scales);
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selfplay::seeds::Dice;
    use crate::train::device::Operations;
    use crate::train::inputs::Sharing;
    use crate::train::model::{Layout, Model};
    use crate::train::plan::TrainPlan;
    use crate::train::run::Trained;
    use crate::train::samples::{Known, Samples};
    use crate::train::schedule::Blend;
    use crate::train::source::Content;
    use fairyforge_engine::evaluate::network::{Architecture, Mirroring, Network};
    use fairyforge_engine::position::{Position, Unobserved};
    use fairyforge_engine::variant::Variant;

    /// Positions of games played by lot.
    fn positions(variant: &Arc<Variant>, games: u64) -> Vec<Position> {
        let mut positions = Vec::new();
        for game in 0..games {
            let (mut dice, mut position) = (Dice::new(1, game), Position::start(variant));
            for _ in 0..60 {
                let Some(&mv) = dice.pick(&position.legal_moves()) else { break };
                position.make(mv, &mut Unobserved);
                positions.push(position.clone());
            }
        }
        positions
    }

    fn trained(model: &Model, layout: &Layout) -> Trained {
        Trained {
            parameters: model.parameters(layout),
            looks: Vec::new(),
            content: Content::default(),
            outputs: Vec::new(),
        }
    }

    /// What burn calculates and what the engine does are the same but for rounding, in games with regions, mirroring, hands.
    #[test]
    fn burn_and_the_engine_agree_on_real_positions() {
        for name in ["chess", "herculean", "sorcerer-reinforcements"] {
            let variant = Arc::new(Variant::load(name).unwrap());
            let rich = Architecture { king_ranks: vec![1, 3], output_buckets: 4, ..Architecture::plain(64) };
            let mirrored = Architecture { mirroring: Mirroring::IgnoringCastling, ..rich.clone() };
            let features = Features::new(&variant, mirrored).or_else(|_| Features::new(&variant, rich));
            let features = Arc::new(features.unwrap());
            // Rows that all squares share would make the outputs of a network that has learnt nothing nearly equal.
            let layout = Layout::new(&*features, 64, Sharing { squares: false, ..Sharing::default() });
            let model = Model::new(&layout, 7);
            let text = format!("format = 1\nvariant = {name:?}\nseed = 1\n[[data]]\nfolder = \"x\"");
            let plan = TrainPlan::read(&text).unwrap();
            let by = TrainedBy { plan: &plan, base: None, trained: &trained(&model, &layout), program: "test" };
            let (file, rounding) = network_file(&features, &by).unwrap();
            let bytes = file.to_bytes().unwrap();
            let network = Network::new(NetworkFile::from_bytes(&variant, &bytes).unwrap());
            let positions = positions(&variant, 10);
            let mut samples = Samples::default();
            let known = Known { result: 0, expected: 0.5, base: 0, weight: 1.0 };
            positions.iter().for_each(|position| samples.push(&*features, position, known, &mut Vec::new()));
            let all: Vec<u32> = (0..samples.len() as u32).collect();
            let batch = samples.batch(&all, features.slots(), Blend { centipawns: 400.0, result_share: 0.0 });
            let outputs = model.outputs(&layout, &Arc::new(batch), &Operations::default()).into_data();
            let outputs: Vec<f64> = outputs.try_into_vec_as().unwrap();
            let apart = |(position, output): (&Position, &f64)| 400.0 * (network.output(position) - output);
            let apart: Vec<f64> = positions.iter().zip(&outputs).map(apart).collect();
            let worst = apart.iter().fold(0.0, |most: f64, apart| most.max(apart.abs()));
            assert!(worst <= rounding.worst_centipawns, "{name}: {worst} {rounding:?}");
            let typical = (apart.iter().map(|apart| apart * apart).sum::<f64>() / apart.len() as f64).sqrt();
            assert!(typical < 3.0 * rounding.typical_centipawns, "{name}: {typical} {rounding:?}");
            let spread = outputs.iter().fold(0.0, |most: f64, output| most.max((output - outputs[0]).abs()));
            assert!(400.0 * spread > 10.0 * typical, "{name}: outputs that hardly differ show nothing");
        }
    }
}
