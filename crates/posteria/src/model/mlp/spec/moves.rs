//! Check how the weights of a network are moved.

use crate::model::spec::checks::conflict;
use crate::model::spec::{InferenceChoice, KernelChoice, SamplingSpec, SpecError, StartChoice};

/// How the weights are moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::model::mlp) struct Moves {
    pub(in crate::model::mlp) inference: InferenceChoice,
    pub(in crate::model::mlp) kernel: KernelChoice,
    pub(in crate::model::mlp) leapfrog_steps: Option<usize>,
    pub(in crate::model::mlp) window: usize,
    pub(in crate::model::mlp) persistence: f64,
    pub(in crate::model::mlp) temperatures: usize,
    pub(in crate::model::mlp) start: StartChoice,
    pub(in crate::model::mlp) staged: bool,
}

impl Moves {
    pub(super) fn new(sampling: &SamplingSpec) -> Result<Self, SpecError> {
        let section = "sampling";
        let kernel = sampling.kernel.unwrap_or(KernelChoice::Auto);
        let hmc = kernel == KernelChoice::Hmc;
        if sampling.window.is_some() && !hmc {
            return conflict(section, "window", "a kernel other than \"hmc\"");
        }
        if sampling.persistence.is_some() && !hmc {
            return conflict(section, "persistence", "a kernel other than \"hmc\"");
        }
        if sampling.leapfrog_steps.is_some() && kernel == KernelChoice::Nuts {
            return conflict(section, "leapfrog_steps", "kernel = \"nuts\"");
        }
        let staged = sampling.staged.unwrap_or(false);
        if staged && kernel == KernelChoice::Auto {
            let with = "kernel = \"auto\", which moves weights and scales together";
            return conflict(section, "staged", with);
        }
        let start = sampling.start.unwrap_or(StartChoice::Dispersed);
        if start == StartChoice::Variational && sampling.inverse_temperature.is_some() {
            return conflict(section, "start = \"variational\"", "inverse_temperature");
        }
        let persistence = sampling.persistence.unwrap_or(0.0);
        if !(0.0..1.0).contains(&persistence) {
            return Err(SpecError::out_of_range(section, "persistence", persistence, "in [0, 1)"));
        }
        let counts = [
            ("leapfrog_steps", sampling.leapfrog_steps),
            ("window", sampling.window),
            ("temperatures", sampling.temperatures),
        ];
        for (key, count) in counts {
            if count.is_some_and(|count| count == 0 || count > 100_000) {
                let value = count.unwrap_or(0) as f64;
                return Err(SpecError::out_of_range(section, key, value, "between 1 and 100000"));
            }
        }
        Ok(Moves {
            inference: sampling.inference.unwrap_or_default(),
            kernel,
            leapfrog_steps: sampling.leapfrog_steps,
            window: sampling.window.unwrap_or(1),
            persistence,
            temperatures: sampling.temperatures.unwrap_or(1),
            start,
            staged,
        })
    }

    /// Writes every default that applies; without chains there is nothing to move.
    pub(super) fn complete(&self, sampling: &mut SamplingSpec) {
        sampling.inference = Some(self.inference);
        if self.inference != InferenceChoice::Mcmc {
            return;
        }
        sampling.kernel = Some(self.kernel);
        sampling.start = Some(self.start);
        sampling.temperatures = Some(self.temperatures);
        if self.kernel == KernelChoice::Hmc {
            sampling.window = Some(self.window);
            sampling.persistence = Some(self.persistence);
        }
        if self.kernel != KernelChoice::Auto {
            sampling.staged = Some(self.staged);
        }
    }
}
