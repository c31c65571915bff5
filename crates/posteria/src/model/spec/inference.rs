//! Name the ways in which a posterior is found, and say which models know which.

use serde::{Deserialize, Serialize};

use super::{ModelKind, SpecError};

/// How the posterior is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InferenceChoice {
    /// By Markov chains.
    #[default]
    Mcmc,
    /// By a normal distribution about a mode of the weights, with the scales re-estimated by the
    /// evidence framework.
    Laplace,
    /// By the distribution of a family that comes nearest to it from below.
    Variational,
    /// By its mode alone, the penalised maximum of the likelihood.
    Map,
    /// Network: not at all; `draws` networks trained with early stopping take its place.
    Committee,
}

impl InferenceChoice {
    /// The choice as specification files spell it.
    pub fn name(self) -> &'static str {
        match self {
            InferenceChoice::Mcmc => "mcmc",
            InferenceChoice::Laplace => "laplace",
            InferenceChoice::Variational => "variational",
            InferenceChoice::Map => "map",
            InferenceChoice::Committee => "committee",
        }
    }

    /// Whether independent draws from an approximation take the place of Markov chains.
    pub fn is_approximation(self) -> bool {
        matches!(
            self,
            InferenceChoice::Laplace | InferenceChoice::Variational | InferenceChoice::Map
        )
    }

    /// The models that know this way.
    pub fn models(self) -> &'static [ModelKind] {
        match self {
            InferenceChoice::Mcmc => &[ModelKind::Linear, ModelKind::Mlp, ModelKind::Gp],
            InferenceChoice::Laplace | InferenceChoice::Map => &[ModelKind::Linear, ModelKind::Mlp],
            InferenceChoice::Variational => &[ModelKind::Mlp, ModelKind::Mixture, ModelKind::Pca],
            InferenceChoice::Committee => &[ModelKind::Mlp],
        }
    }

    /// # Errors
    /// [`SpecError`] if a model of this kind does not know this way.
    pub(super) fn check_for(self, kind: ModelKind) -> Result<(), SpecError> {
        if self.models().contains(&kind) {
            return Ok(());
        }
        let what = format!("inference = \"{}\" of kind = \"{}\"", self.name(), kind.name());
        match self {
            InferenceChoice::Mcmc => Ok(()),
            InferenceChoice::Variational => Err(SpecError::NotAvailable { what }),
            InferenceChoice::Committee => Err(SpecError::Conflict {
                section: "sampling".into(),
                key: "inference",
                with: "a model other than kind = \"mlp\"",
            }),
            InferenceChoice::Laplace | InferenceChoice::Map => Err(SpecError::Conflict {
                section: "sampling".into(),
                key: "inference",
                with: "a model other than kind = \"linear\" or \"mlp\"",
            }),
        }
    }
}
