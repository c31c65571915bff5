//! Name the ways in which a posterior is found, and say which models know which.

use serde::{Deserialize, Serialize};

use super::{ModelKind, SamplingSpec, Spec, SpecError};

/// How the posterior is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InferenceChoice {
    /// By Markov chains.
    #[default]
    Mcmc,
    /// By a normal distribution about a mode of the weights, with the scales re-estimated by the
    /// evidence framework; of a Gaussian process by draws of the hyperparameters about their modes,
    /// weighted by their density.
    Laplace,
    /// By the distribution of a family that comes nearest to it from below.
    Variational,
    /// By its mode alone, the penalised maximum of the likelihood; of a Gaussian process that of the
    /// logarithms of the hyperparameters, functions integrated out.
    Map,
    /// Linear: not at all; the maximum of the likelihood takes its place, without priors.
    Ml,
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
            InferenceChoice::Ml => "ml",
            InferenceChoice::Committee => "committee",
        }
    }

    /// Whether independent draws from an approximation take the place of Markov chains.
    pub fn is_approximation(self) -> bool {
        matches!(
            self,
            InferenceChoice::Laplace
                | InferenceChoice::Variational
                | InferenceChoice::Map
                | InferenceChoice::Ml
        )
    }

    /// Whether what is found is one point.
    pub fn is_point(self) -> bool {
        matches!(self, InferenceChoice::Map | InferenceChoice::Ml)
    }

    /// The models that know this way.
    pub fn models(self) -> &'static [ModelKind] {
        match self {
            InferenceChoice::Mcmc => &[ModelKind::Linear, ModelKind::Mlp, ModelKind::Gp],
            InferenceChoice::Laplace | InferenceChoice::Map => {
                &[ModelKind::Linear, ModelKind::Mlp, ModelKind::Gp]
            }
            InferenceChoice::Variational => &[ModelKind::Mlp, ModelKind::Mixture, ModelKind::Pca],
            InferenceChoice::Ml => &[ModelKind::Linear],
            InferenceChoice::Committee => &[ModelKind::Mlp],
        }
    }
}

impl Spec {
    /// # Errors
    /// [`SpecError::Inference`] if the model does not know the way that is asked for.
    pub(super) fn check_inference(&self) -> Result<(), SpecError> {
        let kind = self.model.kind;
        // Of a process it depends on the targets what there is at a mode.
        if self.sampling.inference().is_point() && kind != ModelKind::Gp {
            self.sampling.refuse_more_points()?;
        }
        let known = |way: &InferenceChoice| way.models().contains(&kind);
        let Some(inference) = self.sampling.inference.filter(|inference| !known(inference)) else {
            return Ok(());
        };
        let ways = [
            InferenceChoice::Mcmc,
            InferenceChoice::Laplace,
            InferenceChoice::Variational,
            InferenceChoice::Map,
            InferenceChoice::Ml,
            InferenceChoice::Committee,
        ];
        Err(SpecError::Inference {
            inference: inference.name(),
            kind: kind.name(),
            known: ways.iter().filter(|way| known(way)).map(|way| way.name()).collect(),
        })
    }
}

impl SamplingSpec {
    /// Refuses more draws than one of a mode that is one point.
    pub(crate) fn refuse_more_points(&self) -> Result<(), SpecError> {
        let asked = [
            ("chains", self.chains != 1),
            ("only_chain", self.only_chain.is_some()),
            ("draws", self.draws != 1),
        ];
        let with = match self.inference() {
            InferenceChoice::Ml => "inference = \"ml\", which finds one point",
            _ => "inference = \"map\", which finds one point",
        };
        match asked.into_iter().find(|(_, asked)| *asked) {
            None => Ok(()),
            Some((key, _)) => Err(SpecError::Conflict { section: "sampling".into(), key, with }),
        }
    }
}
