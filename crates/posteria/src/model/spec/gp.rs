//! Describe what only Gaussian processes have.

use serde::{Deserialize, Serialize};

/// `mean`: the mean function of a Gaussian process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeanChoice {
    /// Zero, on the standardised scale.
    #[default]
    Zero,
    /// An unknown constant.
    Constant,
    /// An unknown linear function of the inputs.
    Linear,
}

/// `processes`: whether the processes of several targets have the same hyperparameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Processes {
    /// Every target has hyperparameters of its own.
    #[default]
    Separate,
    /// All targets have the same hyperparameters.
    Shared,
}

/// `latents`: what moves the latent values of classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LatentsChoice {
    /// What was found best: whitened by a Gaussian approximation of the posterior.
    #[default]
    Auto,
    /// Elliptical slice sampling [Murray et al. 2010].
    Elliptical,
    /// Metropolis steps that leave the prior invariant [Neal 1999; MCMCstuff manual eq. 42].
    Metropolis,
}

/// `[hyperparameters]`: values that are known and not sampled, on the standardised scale. One
/// number stands for all of its kind, a list has one per term or input.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HyperparametersSpec {
    /// Magnitudes η of the terms: standard deviations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub magnitude: Option<Values>,
    /// Relevances ρ of the inputs: inverse length scales, without a factor ½.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance: Option<Values>,
    /// Residual scales σ: standard deviations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual: Option<Values>,
    /// Shapes α of rational quadratic functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<Values>,
    /// Periods of periodic functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<Values>,
    /// Standard deviations of the bias of neural network functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<Values>,
}

/// One number for all, or a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number or a list of numbers")]
pub enum Values {
    /// The same for all.
    One(f64),
    /// One each.
    Each(Vec<f64>),
}

impl Values {
    /// The value of number `index` of `count`; `None` if the list has another length.
    pub(in crate::model) fn get(&self, index: usize, count: usize) -> Option<f64> {
        match self {
            Values::One(value) => Some(*value),
            Values::Each(values) if values.len() == count => values.get(index).copied(),
            Values::Each(_) => None,
        }
    }

    /// All numbers given.
    pub(in crate::model) fn given(&self) -> &[f64] {
        match self {
            Values::One(value) => std::slice::from_ref(value),
            Values::Each(values) => values,
        }
    }
}
