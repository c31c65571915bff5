//! Condition any model on data: the one place that knows all kinds of models.

#[cfg(test)]
mod tests;

use std::ops::Deref;
use std::sync::Arc;

use super::PrepareError;
use crate::approximate::{Ensemble, TemperedPosterior};
use crate::data::{Dataset, Task};
use crate::model::accelerator::Placement;
use crate::model::gp::{GaussianProcess, GpPosterior};
use crate::model::linear::{Linear, LinearPosterior};
use crate::model::mixture::Mixture;
use crate::model::mlp::{Mlp, MlpPosterior};
use crate::model::pca::Pca;
use crate::model::spec::{InferenceChoice, ModelKind, SamplingSpec, Spec, StartChoice};
use crate::model::{KernelFactory, ModelError, Posterior, VariationalFindings};
use crate::sample::hmc::{MetricKind, Nuts, NutsOptions};

/// Most parameters for which a dense metric is learned: beyond, warm-up is too short for it.
const DENSE_METRIC: usize = 50;

/// A model conditioned on data: a [`Posterior`], and by its kind what only some models can do.
pub enum Conditioned {
    /// Linear, logistic or softmax regression.
    Linear(Box<LinearPosterior>),
    /// A network.
    Network(Box<MlpPosterior>),
    /// A Gaussian process.
    Process(Box<GpPosterior>),
    /// A model without targets, whose posterior is an approximation found without chains.
    Variational(Box<dyn Posterior>, VariationalFindings),
    /// Prior × likelihood, to another power than 1 the one or both.
    Tempered(Box<TemperedPosterior>),
}

impl Conditioned {
    /// Conditions the model of a completed specification ([`Spec::complete`]) on data. Networks and
    /// Gaussian processes record their error on the `test` rows with every draw.
    ///
    /// # Errors
    /// [`PrepareError`] if the specification is not valid, or not for these data.
    pub fn new(spec: &Spec, data: &Dataset, test: Option<&Dataset>) -> Result<Self, PrepareError> {
        let sampling = &spec.sampling;
        let inference = sampling.inference();
        let is_at_mode = matches!(inference, InferenceChoice::Laplace | InferenceChoice::Map);
        let is_process = is_at_mode && spec.model.kind == ModelKind::Gp;
        let outcome = match data.task {
            // Functions are integrated out of them as out of classes.
            Task::Count if is_process => None,
            Task::Count => Some("counts"),
            Task::Duration => Some("durations"),
            Task::Ordinal => Some("ordered classes"),
            _ => None,
        };
        if let Some(outcome) = outcome.filter(|_| inference != InferenceChoice::Mcmc) {
            let what = format!("inference = \"{}\" for {outcome}", inference.name());
            return Err(ModelError::NotAvailable { what }.into());
        }
        // What an inference cannot do is said before anything is done, in a dry run too.
        Ok(match spec.model.kind {
            ModelKind::Mlp => {
                let posterior = Box::new(Mlp::new(spec)?.condition(data, test)?);
                if is_at_mode {
                    posterior.regularised()?;
                }
                if needs_ensemble(sampling) {
                    Ensemble::check(&posterior)?;
                }
                match tempered(sampling) {
                    Some(beta) => {
                        let raised = match raised(spec, data)? {
                            Some(spec) => Some(Mlp::new(&spec)?.condition(data, test)?),
                            None => None,
                        };
                        temper(posterior, beta, raised)
                    }
                    None => Conditioned::Network(Box::new(posterior.placed(spec, data))),
                }
            }
            ModelKind::Linear => {
                let posterior = Box::new(Linear::new(spec)?.condition(data, usual_kernel())?);
                if inference != InferenceChoice::Mcmc {
                    posterior.regularised()?;
                }
                if inference == InferenceChoice::Ml {
                    posterior.check_likelihood()?;
                }
                match tempered(sampling) {
                    Some(beta) => {
                        let raised = match raised(spec, data)? {
                            Some(spec) => {
                                Some(Linear::new(&spec)?.condition(data, usual_kernel())?)
                            }
                            None => None,
                        };
                        temper(posterior, beta, raised)
                    }
                    None => Conditioned::Linear(posterior),
                }
            }
            ModelKind::Gp => {
                let process = Box::new(GaussianProcess::new(spec)?.condition(data, test)?);
                if is_at_mode {
                    process.hyperparameters()?;
                }
                match tempered(sampling) {
                    Some(beta) => temper(process, beta, None::<GpPosterior>),
                    None => Conditioned::Process(Box::new(process.placed(sampling.device()))),
                }
            }
            ModelKind::Mixture => {
                let posterior = Mixture::new(spec)?.condition(data, sampling.seed())?;
                let findings = VariationalFindings::Mixture(posterior.findings());
                Conditioned::Variational(Box::new(posterior), findings)
            }
            ModelKind::Pca => {
                let posterior = Pca::new(spec)?.condition(data)?;
                let findings = VariationalFindings::Pca(posterior.findings());
                Conditioned::Variational(Box::new(posterior), findings)
            }
        })
    }
}

impl Conditioned {
    /// Where it is computed.
    pub fn placement(&self, sampling: &SamplingSpec) -> Placement {
        let what = match self {
            Conditioned::Process(process) => return process.placement().clone(),
            Conditioned::Network(network) => return network.placement().clone(),
            Conditioned::Linear(_) => "linear models",
            Conditioned::Tempered(_) => "inverse_temperature in [sampling]",
            Conditioned::Variational(..) => "models without a target",
        };
        Placement::without(sampling.device(), what)
    }
}

/// Whether an ensemble is learned, in place of chains or as their start.
pub(super) fn needs_ensemble(sampling: &SamplingSpec) -> bool {
    match sampling.inference() {
        InferenceChoice::Variational => true,
        InferenceChoice::Mcmc => sampling.start == Some(StartChoice::Variational),
        _ => false,
    }
}

/// The inverse temperature of chains that sample another density than the posterior.
fn tempered(sampling: &SamplingSpec) -> Option<f64> {
    let chains = sampling.inference() == InferenceChoice::Mcmc && !needs_ensemble(sampling);
    sampling.tempered().filter(|_| chains)
}

/// The specification whose prior is that of chains, where it is to a power other than 1.
fn raised(spec: &Spec, data: &Dataset) -> Result<Option<Spec>, PrepareError> {
    let power = spec.sampling.prior_power();
    let is_raised = (power - 1.0).abs() > 0.0;
    Ok(is_raised.then(|| spec.with_prior_power(power, data.task)).transpose()?)
}

fn temper(
    posterior: Box<dyn Posterior>,
    inverse_temperature: f64,
    raised: Option<impl Posterior + 'static>,
) -> Conditioned {
    let tempered = TemperedPosterior::new(posterior, inverse_temperature);
    Conditioned::Tempered(Box::new(match raised {
        Some(raised) => tempered.with_prior_of(Box::new(raised)),
        None => tempered,
    }))
}

impl Deref for Conditioned {
    type Target = dyn Posterior;

    fn deref(&self) -> &Self::Target {
        match self {
            Conditioned::Linear(posterior) => &**posterior,
            Conditioned::Network(posterior) => &**posterior,
            Conditioned::Process(posterior) => &**posterior,
            Conditioned::Variational(posterior, _) => &**posterior,
            Conditioned::Tempered(posterior) => &**posterior,
        }
    }
}

/// The kernel for parameters whose conditional is not known: No-U-Turn, with a dense metric
/// for few parameters.
pub fn usual_kernel() -> KernelFactory<'static> {
    Arc::new(|dim| {
        let metric = if dim <= DENSE_METRIC { MetricKind::Dense } else { MetricKind::Diagonal };
        Box::new(Nuts::new(dim, NutsOptions { metric, ..NutsOptions::default() }))
    })
}
