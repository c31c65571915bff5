//! Describe how much to sample, how, and from which seed.

use serde::{Deserialize, Serialize};

use super::SpecError;
use crate::random::Seed;
use crate::sample::Plan;

/// `[sampling]`: how much to sample, how, and the seed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SamplingSpec {
    /// Number of chains.
    pub chains: usize,
    /// Sweeps of every chain that are discarded.
    pub warmup: usize,
    /// Draws kept of every chain.
    pub draws: usize,
    /// Sweeps per kept draw.
    pub thin: usize,
    /// The seed.
    pub seed: u64,
    /// Network: what moves the weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelChoice>,
    /// Network: number of leapfrog steps of a trajectory; found in warm-up if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leapfrog_steps: Option<usize>,
    /// Network, `kernel = "hmc"`: size of the acceptance window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<usize>,
    /// Network, `kernel = "hmc"`: fraction of the momentum kept between trajectories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistence: Option<f64>,
    /// Network: number of temperatures of replica exchange; 1 is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperatures: Option<usize>,
    /// Network: where chains start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartChoice>,
}

/// What moves the weights of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelChoice {
    /// What was found best for the residual model: trajectories with the output weights
    /// integrated out for real targets, mixed trajectories for classes.
    Auto,
    /// Hybrid Monte Carlo on the weights given the scales, with heuristic step sizes.
    Hmc,
    /// No-U-Turn trajectories on the weights given the scales.
    Nuts,
}

/// Where chains start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartChoice {
    /// Small random weights and moderate scales, different for every chain.
    Dispersed,
    /// Weights trained with early stopping on a random half, scales from their size.
    EarlyStopping,
    /// A draw from the prior.
    Prior,
}

impl Default for SamplingSpec {
    fn default() -> Self {
        SamplingSpec {
            chains: 4,
            warmup: 1000,
            draws: 1000,
            thin: 1,
            seed: 1,
            kernel: None,
            leapfrog_steps: None,
            window: None,
            persistence: None,
            temperatures: None,
            start: None,
        }
    }
}

impl SamplingSpec {
    /// The plan that this section asks for.
    ///
    /// # Errors
    /// [`SpecError::OutOfRange`] if there is nothing to sample.
    pub fn plan(&self) -> Result<Plan, SpecError> {
        for (key, value) in [("chains", self.chains), ("draws", self.draws), ("thin", self.thin)] {
            if value == 0 {
                return Err(SpecError::out_of_range("sampling", key, 0.0, "at least 1"));
            }
        }
        Ok(Plan { thin: self.thin, ..Plan::new(self.chains, self.warmup, self.draws) })
    }

    /// The seed.
    pub fn seed(&self) -> Seed {
        Seed(self.seed)
    }
}
