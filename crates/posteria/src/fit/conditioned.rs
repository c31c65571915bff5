//! Condition any model on data: the one place that knows all kinds of models.

use std::ops::Deref;
use std::sync::Arc;

use super::PrepareError;
use crate::approximate::{Ensemble, TemperedPosterior};
use crate::data::Dataset;
use crate::model::gp::GaussianProcess;
use crate::model::linear::{Linear, LinearPosterior};
use crate::model::mixture::Mixture;
use crate::model::mlp::{Mlp, MlpPosterior};
use crate::model::pca::Pca;
use crate::model::spec::{InferenceChoice, ModelKind, Spec, StartChoice};
use crate::model::{KernelFactory, Posterior, VariationalFindings};
use crate::sample::hmc::{MetricKind, Nuts, NutsOptions};

/// Most parameters for which a dense metric is learned: beyond, warm-up is too short for it.
const DENSE_METRIC: usize = 50;

/// A model conditioned on data, by what becomes of it.
pub enum Conditioned {
    /// Chains sample it.
    Sampled(Box<dyn Posterior>),
    /// Draws are from an approximation that was found without chains.
    Variational(Box<dyn Posterior>, VariationalFindings),
    /// A committee is trained in its place.
    Committee(Box<MlpPosterior>),
    /// An approximation takes its place, or chains start from one.
    Approximated(Approximable),
}

/// A posterior that can be approximated.
pub enum Approximable {
    /// Of a network.
    Network(Box<MlpPosterior>),
    /// Of a linear model.
    Linear(Box<LinearPosterior>),
}

impl Conditioned {
    /// Conditions the model of a completed specification ([`Spec::complete`]) on data. Networks and
    /// Gaussian processes record their error on the `test` rows with every draw.
    ///
    /// # Errors
    /// [`PrepareError`] if the specification is not valid, or not for these data.
    pub fn new(spec: &Spec, data: &Dataset, test: Option<&Dataset>) -> Result<Self, PrepareError> {
        Ok(match spec.model.kind {
            ModelKind::Mlp => {
                let posterior = Box::new(Mlp::new(spec)?.condition(data, test)?);
                let starts_variational = spec.sampling.start == Some(StartChoice::Variational);
                match spec.sampling.inference() {
                    InferenceChoice::Mcmc if !starts_variational => sampled(spec, posterior),
                    InferenceChoice::Committee => Conditioned::Committee(posterior),
                    InferenceChoice::Mcmc | InferenceChoice::Variational => {
                        Ensemble::check(&posterior)?;
                        Conditioned::Approximated(Approximable::Network(posterior))
                    }
                    InferenceChoice::Laplace | InferenceChoice::Map => {
                        // Said before anything is done, in a dry run too.
                        posterior.regularised()?;
                        Conditioned::Approximated(Approximable::Network(posterior))
                    }
                }
            }
            ModelKind::Gp => {
                let posterior = GaussianProcess::new(spec)?.condition(data, test)?;
                Conditioned::Sampled(Box::new(posterior))
            }
            ModelKind::Mixture => {
                let posterior = Mixture::new(spec)?.condition(data, spec.sampling.seed())?;
                let findings = VariationalFindings::Mixture(posterior.findings());
                Conditioned::Variational(Box::new(posterior), findings)
            }
            ModelKind::Pca => {
                let posterior = Pca::new(spec)?.condition(data)?;
                let findings = VariationalFindings::Pca(posterior.findings());
                Conditioned::Variational(Box::new(posterior), findings)
            }
            ModelKind::Linear => {
                let posterior = Box::new(Linear::new(spec)?.condition(data, usual_kernel())?);
                match spec.sampling.inference() {
                    InferenceChoice::Mcmc => sampled(spec, posterior),
                    _ => {
                        posterior.regularised()?;
                        Conditioned::Approximated(Approximable::Linear(posterior))
                    }
                }
            }
        })
    }
}

impl Deref for Conditioned {
    type Target = dyn Posterior;

    fn deref(&self) -> &Self::Target {
        match self {
            Conditioned::Sampled(posterior) | Conditioned::Variational(posterior, _) => {
                &**posterior
            }
            Conditioned::Committee(posterior) => &**posterior,
            Conditioned::Approximated(Approximable::Network(posterior)) => &**posterior,
            Conditioned::Approximated(Approximable::Linear(posterior)) => &**posterior,
        }
    }
}

/// A posterior for chains, tempered if that is asked for.
fn sampled(spec: &Spec, posterior: Box<dyn Posterior>) -> Conditioned {
    Conditioned::Sampled(match spec.sampling.tempered() {
        None => posterior,
        Some(beta) => Box::new(TemperedPosterior::new(posterior, beta)),
    })
}

/// The kernel for parameters whose conditional is not known: No-U-Turn, with a dense metric
/// for few parameters.
pub fn usual_kernel() -> KernelFactory<'static> {
    Arc::new(|dim| {
        let metric = if dim <= DENSE_METRIC { MetricKind::Dense } else { MetricKind::Diagonal };
        Box::new(Nuts::new(dim, NutsOptions { metric, ..NutsOptions::default() }))
    })
}
