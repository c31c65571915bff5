//! Name what moves the state of a chain, and where it starts.

use serde::{Deserialize, Serialize};

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
    /// A draw from the variational ensemble, which whoever runs the chains must learn first
    /// (`fit::begin_with`): the model itself starts dispersed.
    Variational,
}
