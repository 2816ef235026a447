//! Devices that networks are trained on, and whose operations calculate them there: `docs/gpu.md`. The only place that knows
//! which devices there are, and which of them this program was built with.

use super::batch::Batch;
use super::kernels::lookup::Lookup;
use super::operation::{self, Buffers, NetworkTensors};
use super::optimiser::{AdamSettings, InPlaceAdam, PlainAdam};
use super::plain;
use burn::optim::ModuleOptimizer;
use burn::tensor::{self, Tensor};
use std::sync::Arc;

/// A device that is there.
#[derive(Clone, Debug)]
pub struct Device {
    name: &'static str,
    tensors: tensor::Device,
}

/// Why there is no such device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// Nothing is called that.
    #[error("expected a device out of {}; got {got:?}", Device::NAMES.join(", "))]
    Unknown {
        /// What was asked for.
        got: String,
    },
    /// The program cannot use it.
    #[error(
        "this program was built without the device {name}; build it with `cargo build --release --features {name}`"
    )]
    NotBuilt {
        /// The device, and the feature that it needs.
        name: &'static str,
    },
    /// The machine does not have it.
    #[error("expected a device for {name}, found none on this machine; is its driver installed?")]
    NotFound {
        /// The device.
        name: &'static str,
    },
}

/// Burn's device if this program was built with the feature of that name and the machine has one.
macro_rules! accelerator {
    ($feature:literal, $kind:ident, $device:expr) => {{
        #[cfg(feature = $feature)]
        let found = if tensor::Device::enumerate(tensor::DeviceType::$kind).into_vec().is_empty() {
            Err(DeviceError::NotFound { name: $feature })
        } else {
            Ok($device)
        };
        #[cfg(not(feature = $feature))]
        let found = Err(DeviceError::NotBuilt { name: $feature });
        ($feature, found)
    }};
}

impl Device {
    /// What devices are called. `cpu-plain` is the CPU by the operations of all that come after it.
    pub const NAMES: [&'static str; 7] = ["cpu", "cpu-plain", "cuda", "metal", "rocm", "vulkan", "wgpu"];

    /// The CPU by operations of our own: for nearly everything.
    #[must_use]
    pub fn cpu() -> Self {
        Self { name: "cpu", tensors: tensor::Device::flex().autodiff() }
    }

    /// The device of that name.
    ///
    /// # Errors
    /// Nothing is called that, this program was built without it, or this machine has none.
    pub fn named(name: &str) -> Result<Self, DeviceError> {
        let (name, tensors) = match name {
            "cpu" => return Ok(Self::cpu()),
            "cpu-plain" => ("cpu-plain", Ok(tensor::Device::flex())),
            "cuda" => accelerator!("cuda", Cuda, tensor::Device::cuda(tensor::DeviceIndex::Default)),
            "metal" => accelerator!("metal", Metal, tensor::Device::metal(tensor::DeviceKind::DefaultDevice)),
            "rocm" => accelerator!("rocm", Rocm, tensor::Device::rocm(tensor::DeviceIndex::Default)),
            "vulkan" => accelerator!("vulkan", Vulkan, tensor::Device::vulkan(tensor::DeviceKind::DefaultDevice)),
            "wgpu" => accelerator!("wgpu", Wgpu, tensor::Device::wgpu(tensor::DeviceKind::DefaultDevice)),
            _ => return Err(DeviceError::Unknown { got: name.to_owned() }),
        };
        Ok(Self { name, tensors: tensors?.autodiff() })
    }

    /// What it is called.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it is the CPU by operations of our own: only there is a network the same to the last bit, whenever it is made.
    #[must_use]
    pub fn is_cpu(&self) -> bool {
        self.name == "cpu"
    }

    /// Where tensors lie.
    #[must_use]
    pub const fn tensors(&self) -> &tensor::Device {
        &self.tensors
    }

    /// What calculates networks there.
    #[must_use]
    pub fn operations(&self) -> Operations {
        if self.is_cpu() { Operations::default() } else { Operations::Plain }
    }

    /// What changes their numbers there, before the first step.
    #[must_use]
    pub fn optimiser(&self, settings: AdamSettings) -> ModuleOptimizer {
        if self.is_cpu() { InPlaceAdam(settings).into() } else { PlainAdam(settings).into() }
    }
}

/// What calculates a network.
#[derive(Clone, Debug)]
pub enum Operations {
    /// Our own operations, on burn's CPU backend only; with buffers to be used again.
    Own(Arc<Buffers>),
    /// Burn's, on any device.
    Plain,
}

impl Default for Operations {
    fn default() -> Self {
        Self::Own(Arc::default())
    }
}

impl Operations {
    /// The table with shared rows added: see [`Lookup`].
    #[must_use]
    pub fn looked_up(&self, table: Tensor<3>, shared: Tensor<3>, lookup: &Arc<Lookup>) -> Tensor<3> {
        match self {
            Self::Own(_) => operation::looked_up(table, shared, lookup),
            Self::Plain => plain::looked_up(table, shared, lookup),
        }
    }

    /// The outputs for a batch.
    #[must_use]
    pub fn network_outputs(&self, tensors: NetworkTensors, batch: &Arc<Batch>) -> Tensor<1> {
        match self {
            Self::Own(buffers) => operation::network_outputs(tensors, batch, buffers),
            Self::Plain => plain::network_outputs(tensors, batch),
        }
    }

    /// The mean error of outputs, as a tensor of one number.
    #[must_use]
    pub fn mean_error(&self, outputs: Tensor<1>, batch: &Arc<Batch>) -> Tensor<1> {
        match self {
            Self::Own(_) => operation::mean_error(outputs, batch),
            Self::Plain => plain::mean_error(outputs, batch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::checkpoint::Place;
    use crate::train::feed::Cursor;
    use crate::train::kernels::network::Sizes;
    use crate::train::model::{Layout, Model};
    use crate::train::run::Learner;
    use crate::train::synthetic::batch;
    use burn::tensor::DType;
    use std::ops::Range;

    const RATE: f64 = 0.01;
    const BOUND: f64 = 0.1;
    /// Different batches, learnt from in turn.
    const DIFFERENT: u64 = 3;

    /// Decay and bound that can be seen after a few steps.
    fn settings() -> AdamSettings {
        AdamSettings { decay: 0.5, bound: BOUND, ..AdamSettings::default() }
    }

    /// 80 inputs in 2 regions, of 8 kinds.
    fn layout() -> Layout {
        let regions = Lookup { of: (0..80).map(|input| input % 40).collect(), shared: 40 };
        let kinds = Lookup { of: (0..80).map(|input| input % 40 / 5).collect(), shared: 8 };
        Layout {
            sizes: Sizes { inputs: 80, blocks: 2, buckets: 3 },
            shared: [regions, kinds].map(Arc::new).to_vec(),
            most_active: 40,
        }
    }

    fn learner(name: &str, dtype: DType) -> Learner {
        let device = Device::named(name).unwrap();
        Learner::new(Model::in_type(&layout(), 1, dtype), settings(), &device)
    }

    /// The learner after these batches, and their errors.
    fn learnt(mut learner: Learner, batches: Range<u64>) -> (Learner, Vec<f64>) {
        let layout = layout();
        let mut errors = Vec::new();
        for seed in batches {
            let batch = Arc::new(batch(layout.sizes, 200, seed % DIFFERENT));
            let (next, error) = learner.learnt(&layout, &batch, RATE);
            learner = next;
            errors.push(error);
        }
        (learner, errors)
    }

    fn numbers(learner: &Learner) -> Vec<f32> {
        let found = learner.parameters(&layout());
        [found.transformer, found.bias, found.output, found.output_bias].concat()
    }

    fn sum_of_first(errors: &[f64]) -> f64 {
        errors.iter().take(DIFFERENT as usize).sum()
    }

    fn sum_of_last(errors: &[f64]) -> f64 {
        errors.iter().rev().take(DIFFERENT as usize).sum()
    }

    fn apart<T: Copy + Into<f64>>(one: &[T], other: &[T]) -> f64 {
        assert_eq!(one.len(), other.len());
        let apart = one.iter().zip(other).map(|(&one, &other)| (one.into() - other.into()).abs());
        apart.fold(0.0, f64::max)
    }

    /// What other devices calculate, on the CPU: forwards, backwards, the optimiser.
    #[test]
    fn burns_operations_train_as_our_own_do() {
        for (dtype, tolerance) in [(DType::F64, 1e-7), (DType::F32, 1e-5)] {
            let begin = numbers(&learner("cpu", dtype));
            let [(own, errors), (plain, plain_errors)] =
                ["cpu", "cpu-plain"].map(|name| learnt(learner(name, dtype), 0..15));
            let batches: Vec<Arc<Batch>> = (20..22).map(|seed| Arc::new(batch(layout().sizes, 100, seed))).collect();
            let [outputs, plain_outputs] = [&own, &plain].map(|learner| learner.outputs(&layout(), &batches));
            let [own, plain] = [&own, &plain].map(numbers);
            for apart in [apart(&own, &plain), apart(&errors, &plain_errors), apart(&outputs, &plain_outputs)] {
                assert!(apart < tolerance, "{dtype:?}: {apart:e}");
            }
            assert!(apart(&begin, &plain) > RATE && sum_of_last(&errors) < sum_of_first(&errors), "{errors:?}");
            assert!(plain.iter().any(|number| number.abs() == BOUND as f32), "{dtype:?}: no number met the bound");
        }
    }

    /// On a machine with an accelerator, in a program with its feature, this is the test of both.
    #[test]
    fn every_device_that_is_there_learns() {
        let (_, own) = learnt(learner("cpu", DType::F32), 0..15);
        let found = Device::NAMES.into_iter().filter(|name| Device::named(name).is_ok());
        for name in found {
            println!("on the device {name}");
            let (learner, errors) = learnt(learner(name, DType::F32), 0..15);
            // Accelerators may multiply in less than single precision.
            assert!(apart(&own, &errors) < 1e-3 * own[0], "{name}: {errors:?} {own:?}");
            assert!(sum_of_last(&errors) < sum_of_first(&errors), "{name}: {errors:?}");
            assert!(numbers(&learner).iter().all(|number| number.is_finite()), "{name}");
        }
    }

    #[test]
    fn a_checkpoint_of_one_device_is_one_of_the_other() {
        let place = || Place { batches: 5, cursor: Cursor::default(), data: "c0ffee".to_owned() };
        let (own, _) = learnt(learner("cpu", DType::F32), 0..5);
        let checkpoint = own.checkpoint(place()).unwrap();
        let plain = learner("cpu-plain", DType::F32).restored(checkpoint.clone()).unwrap();
        assert_eq!(plain.checkpoint(place()).unwrap(), checkpoint);
        let [own, plain] = [own, plain].map(|learner| numbers(&learnt(learner, 5..12).0));
        assert!(apart(&own, &plain) < 1e-4, "{:e}", apart(&own, &plain));
    }

    #[test]
    fn every_name_is_known_and_what_was_not_built_is_refused_with_its_feature() {
        let built = [
            ("cpu", true),
            ("cpu-plain", true),
            ("cuda", cfg!(feature = "cuda")),
            ("metal", cfg!(feature = "metal")),
            ("rocm", cfg!(feature = "rocm")),
            ("vulkan", cfg!(feature = "vulkan")),
            ("wgpu", cfg!(feature = "wgpu")),
        ];
        assert_eq!(built.map(|(name, _)| name), Device::NAMES);
        for (name, built) in built {
            match Device::named(name) {
                Ok(device) => assert!(built && device.name() == name),
                Err(DeviceError::NotFound { name: got }) => assert!(built && got == name),
                Err(error) => {
                    assert!(!built, "{error}");
                    assert!(error.to_string().contains(&format!("--features {name}`")), "{error}");
                }
            }
        }
        let unknown = Device::named("gpu").unwrap_err().to_string();
        assert!(unknown.contains("cpu-plain") && unknown.contains("\"gpu\""), "{unknown}");
    }
}
