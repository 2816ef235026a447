//! What a generation learns: weights by a fit of its games, or a network from the games of the last generations.

use super::{LoopError, TrainingLoop};
use crate::checksum;
use crate::fit::{FitReport, FitRequest, fit_run};
use crate::named_judge::{JudgeContent, NamedJudge};
use crate::plan::NetworkSettings;
use crate::run_dir::RunDir;
use crate::train::device::Device;
use crate::train::making::{Made, Making, MakingError, open_source, saved};
use crate::train::plan::{DataSettings, TrainPlan};
use fairyforge_engine::evaluate::Weights;
use fairyforge_engine::evaluate::network::Features;
use std::sync::Arc;

/// What came of a generation's learning.
#[derive(Debug, Clone)]
pub enum Learnt {
    /// Weights, by a fit.
    Weights(Box<FitReport>),
    /// A network.
    Network(Box<Made>),
}

impl Learnt {
    /// Digest of the games that were learnt from.
    pub fn data_digest(&self) -> &str {
        match self {
            Self::Weights(fit) => &fit.data_digest,
            Self::Network(made) => &made.trained.content.digest,
        }
    }
}

impl TrainingLoop<'_> {
    /// What the generation learns from the games so far, and how it judges positions then.
    pub(super) fn learn(&self, number: u32, parent: &NamedJudge) -> Result<(Learnt, NamedJudge), LoopError> {
        match &self.plan.train {
            None => self.fit(number, parent),
            Some(settings) => self.train(number, settings),
        }
    }

    fn fit(&self, number: u32, parent: &NamedJudge) -> Result<(Learnt, NamedJudge), LoopError> {
        let JudgeContent::Weights(text) = &parent.content else { return Err(LoopError::NoWeights) };
        let path = self.run.weights(number);
        let start = Weights::read(self.variant, text).map_err(|source| LoopError::Weights { path, source })?;
        let games = self.run.selfplay(number);
        let request = FitRequest { data: &games, variant: self.variant, start: Some(&start), settings: self.plan.fit };
        let fit = fit_run(&request, &|_| ())?;
        let judge = NamedJudge::of_weights(self.variant, &fit.weights);
        Ok((Learnt::Weights(Box::new(fit)), judge))
    }

    fn train(&self, number: u32, settings: &NetworkSettings) -> Result<(Learnt, NamedJudge), LoopError> {
        let generations = settings.window.generations(number);
        let named = |generation| DataSettings { folder: format!("selfplay/{generation:03}").into(), weight: 1.0 };
        let plan =
            settings.plan(self.variant.name(), training_seed(self.plan.seed, number), generations.clone().map(named));
        let features = Arc::new(Features::new(self.variant, plan.network.clone())?);
        let folders: Vec<DataSettings> =
            generations.map(|generation| DataSettings { folder: self.run.selfplay(generation), weight: 1.0 }).collect();
        let made = self.make(number, (&plan, &folders), &features)?;
        let bytes = made.file.to_bytes().map_err(LoopError::Network)?;
        let judge = NamedJudge::of_network(self.variant, bytes).map_err(LoopError::Network)?;
        Ok((Learnt::Network(Box::new(made)), judge))
    }

    fn make(
        &self,
        number: u32,
        (plan, folders): (&TrainPlan, &[DataSettings]),
        features: &Arc<Features>,
    ) -> Result<Made, LoopError> {
        let base = self.begins_with.base.as_ref();
        let weights = base.map(|base| &base.weights);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(rayon::current_num_threads()).build()?;
        let source = open_source(plan, folders, (features, weights), Arc::new(pool)).map_err(MakingError::from)?;
        let device = Device::cpu();
        let run = RunDir::create_or_resume(
            &self.run.training(number),
            saved(plan, (features, base), &device)?,
            self.program,
        )?;
        run.clean_tmp()?;
        let making = Making {
            plan,
            features,
            base: weights,
            source: &source,
            device: &device,
            run: &run,
            stop: self.stop,
            program: &run.began_by()?,
            command: self.command,
        };
        Ok(making.make()?)
    }
}

/// Every generation's network begins with numbers of its own.
fn training_seed(seed: u64, generation: u32) -> u64 {
    // Plans are TOML, whose numbers have a sign.
    checksum::number(&[format!("train {seed} {generation}").as_bytes()]) >> 1
}
