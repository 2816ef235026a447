//! The finished network as a file for the engine, in whole numbers, with a card that says where it comes from.

use super::run::TrainedBy;
use fairyforge_engine::evaluate::Weights;
use fairyforge_engine::evaluate::network::{
    Card, CardData, Features, NetworkFile, NetworkFileError, QuantisationError, Quantised, Rounding, Scales,
};
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
}

/// The bytes of the file, and what rounding costs. Exchanges are judged by the best weights known of the variant.
///
/// # Errors
/// The numbers do not fit, or could overflow.
pub fn network_file(features: &Arc<Features>, by: &TrainedBy<'_>) -> Result<(Vec<u8>, Rounding), ExportError> {
    let TrainedBy { plan, trained, program } = by;
    let scales = Scales::fitting(&trained.parameters, plan.target.centipawns.round() as i32);
    let (quantised, rounding) = Quantised::new(features, &trained.parameters, scales)?;
    let variant = features.variant();
    let values = Weights::best_known(variant).exchange_values();
    let last = trained.looks.last();
    let card = Card {
        method: "trained on recorded games with burn".into(),
        program: (*program).into(),
        data: vec![CardData {
            name: plan.data.iter().map(|data| data.folder.display().to_string()).collect::<Vec<_>>().join(", "),
            digest: trained.content.digest.clone(),
            games: trained.content.games,
        }],
        seed: plan.seed,
        positions: last.map_or(0, |last| last.positions),
        training_loss: last.map(|last| last.training),
        validation_loss: last.and_then(|last| last.validation),
        rounding_centipawns: Some(rounding.typical_centipawns),
        gate: None,
    };
    let file = NetworkFile { quantised, unit_values: values[..variant.units().len()].to_vec(), card };
    Ok((file.to_bytes()?, rounding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selfplay::seeds::Dice;
    use crate::train::inputs::Sharing;
    use crate::train::model::{Layout, Model};
    use crate::train::plan::TrainPlan;
    use crate::train::run::Trained;
    use crate::train::samples::{Known, Samples};
    use crate::train::schedule::Blend;
    use crate::train::source::{Content, Tally};
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
        let content = Content { digest: String::new(), games: 0, tally: Tally::default() };
        Trained { parameters: model.parameters(layout), looks: Vec::new(), content, tally: Tally::default() }
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
            let by = TrainedBy { plan: &plan, trained: &trained(&model, &layout), program: "test" };
            let (bytes, rounding) = network_file(&features, &by).unwrap();
            let network = Network::new(NetworkFile::from_bytes(&variant, &bytes).unwrap());
            let positions = positions(&variant, 10);
            let mut samples = Samples::default();
            let known = Known { result: 0, score: 0, weight: 1.0 };
            positions.iter().for_each(|position| samples.push(&*features, position, known, &mut Vec::new()));
            let all: Vec<u32> = (0..samples.len() as u32).collect();
            let batch = samples.batch(&all, features.slots(), Blend { centipawns: 400.0, result_share: 0.0 });
            let outputs = model.outputs(&layout, &Arc::new(batch), &Arc::default()).into_data();
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
