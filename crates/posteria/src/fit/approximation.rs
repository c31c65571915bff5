//! Find the approximation that a specification asks for in place of chains, or as their start.

use std::num::NonZero;

use super::approximation_result::{ApproximationFindings, ApproximationResult, ModeFindings};
use super::conditioned::needs_ensemble;
use super::{Conditioned, Prepared, fit_evidence, hyperparameters};
use crate::approximate::{
    Approximation, Ensemble, EnsembleFindings, EnsembleOptions, Estimation, EvidenceError,
    ImportanceSample, Linearised, NormalAtMode, PointAtMode, check_normality, evidence_curve,
};
use crate::caution::ApproximationDoubt;
use crate::data::{Targets, Task};
use crate::diagnose::importance::pareto_shape_limit;
use crate::model::mlp::MlpPosterior;
use crate::model::spec::{InferenceChoice, Spec};
use crate::model::{ModelError, Posterior, Regularised};
use crate::random::{Purpose, Seed};

/// Starting points of a search that may end at several modes.
const STARTS: usize = 8;
/// Logarithms of the factors of α at which the evidence is told: steps of a half to this.
const REACH: f64 = 5.0;
const STEP: f64 = 0.5;
/// Draws of an ensemble that are weighted.
const WEIGHTED: usize = 20_000;

/// How the second derivatives of a misfit at its mode are found.
const CURVATURE: &str = "Gauss-Newton: exact for linear models, without second derivatives of the \
                         outputs for networks";

/// Why there is no approximation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ApproximationError {
    /// It is not for this model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// There is no mode.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    /// Classes that a combination of the inputs tells apart.
    #[error(
        "a combination of the inputs tells the classes apart without an error, or all but those on \
         its border: the likelihood grows for ever with its weight and has no maximum; take priors \
         (--inference mcmc or laplace), or drop the input that tells"
    )]
    Separable,
    /// Residuals of 0.
    #[error(
        "the inputs give a target without any error: the likelihood grows for ever as the residual \
         scale goes to 0 and has no maximum; drop the input that tells"
    )]
    PerfectFit,
    /// There is no mode of the hyperparameters of a process.
    #[error(
        "none of {climbs} climbs ended at a mode of the hyperparameters about which their density can be \
         told; is a prior flat up to a wall (log-uniform)? Give it another family, or fit with \
         --inference mcmc"
    )]
    NoMode {
        /// Climbs.
        climbs: usize,
    },
}

/// An approximation that was found for a posterior.
pub struct FittedApproximation<'p> {
    /// What independent draws are taken from; none where the posterior draws from it itself.
    pub approximation: Option<Box<dyn Approximation + 'p>>,
    /// The network taken as linear about it, where that predicts.
    pub linearised: Option<Linearised<'p>>,
    /// What was found besides draws.
    pub result: ApproximationResult,
}

impl Prepared {
    /// Finds the approximation that the specification asks for, or that chains are to start from; none
    /// where nothing but chains or a committee is asked for. Takes the time that the approximation
    /// takes, on at most so many threads.
    ///
    /// # Errors
    /// [`ApproximationError`] if the model has none of the kind, or the search fails.
    pub fn approximation(
        &self,
        threads: NonZero<usize>,
    ) -> Result<Option<FittedApproximation<'_>>, ApproximationError> {
        let (sampling, seed) = (&self.spec.sampling, self.spec.sampling.seed());
        let inference = sampling.inference();
        let network = match &self.posterior {
            Conditioned::Network(network) => Some(&**network),
            _ => None,
        };
        let search = |model: &dyn Regularised, starts| {
            at_mode((&*self.posterior, network, model), inference, (starts, seed), threads)
        };
        let is_at_mode = matches!(inference, InferenceChoice::Laplace | InferenceChoice::Map);
        Ok(Some(match &self.posterior {
            Conditioned::Variational(_, findings) => FittedApproximation {
                approximation: None,
                linearised: None,
                result: ApproximationResult {
                    findings: ApproximationFindings::Variational(findings.clone()),
                    doubts: Vec::new(),
                },
            },
            Conditioned::Network(network) if needs_ensemble(sampling) => {
                of_ensemble(Ensemble::learn(network, &EnsembleOptions::default(), seed)?)
            }
            Conditioned::Network(network) if is_at_mode => search(&network.regularised()?, STARTS)?,
            Conditioned::Process(process) if is_at_mode => {
                hyperparameters::of_process(process, inference, seed, threads)?
            }
            Conditioned::Linear(linear) if inference == InferenceChoice::Ml => {
                linear.most_likely(self.reference_classes(), seed)?
            }
            // One mode, wherever the search begins.
            Conditioned::Linear(linear) if inference != InferenceChoice::Mcmc => {
                search(&linear.regularised()?, 1)?
            }
            _ => return Ok(None),
        }))
    }
}

impl Prepared {
    /// The classes without a weight of their own: of columns, then of targets of several classes.
    fn reference_classes(&self) -> Vec<(String, String)> {
        let mut classes = self.encoder.reference_classes();
        if let Targets::Classes { name, labels, .. } = &self.data.targets
            && self.data.task == Task::Multiclass
        {
            classes.extend(labels.first().map(|label| (name.clone(), label.clone())));
        }
        classes
    }
}

/// Searches the mode of a model from several starting points.
fn at_mode<'p>(
    (posterior, network, model): (&dyn Posterior, Option<&'p MlpPosterior>, &dyn Regularised),
    inference: InferenceChoice,
    (starts, seed): (usize, Seed),
    threads: NonZero<usize>,
) -> Result<FittedApproximation<'p>, ApproximationError> {
    let estimation = match inference {
        InferenceChoice::Map => Estimation::Mode,
        _ => Estimation::Evidence,
    };
    let mode = fit_evidence(model, estimation, starts, seed, threads)?;
    let estimated = model.decays().iter().any(|decay| !decay.fixed);
    let curve = match inference == InferenceChoice::Laplace && estimated {
        true => {
            let steps = (REACH / STEP) as i32;
            let grid: Vec<f64> = (-steps..=steps).map(|step| STEP * f64::from(step)).collect();
            evidence_curve(model, &mode, &grid)?
        }
        false => Vec::new(),
    };
    let findings = ApproximationFindings::Mode(Box::new(ModeFindings {
        method: inference,
        curvature: CURVATURE.into(),
        log_evidence: mode.log_evidence,
        log_symmetries: mode.log_symmetries,
        log_likelihood: mode.log_likelihood,
        log_density: mode.log_density,
        effective_parameters: mode.effective_parameters,
        weights: mode.weights.len(),
        weight_groups: mode.weight_groups.clone(),
        residual_groups: mode.residual_groups.clone(),
        criteria: mode.criteria,
        curve,
        starts,
        rounds: mode.rounds,
        converged: mode.converged,
    }));
    let linearised = match inference {
        InferenceChoice::Laplace => network.and_then(|it| Linearised::at_mode(it, &mode)),
        _ => None,
    };
    let (approximation, doubt): (Box<dyn Approximation>, _) = match inference {
        InferenceChoice::Map => (Box::new(PointAtMode::new(&mode)), None),
        _ => {
            let doubt = check_normality(posterior, linearised.as_ref(), &mode, seed);
            (Box::new(NormalAtMode::new(&mode)), doubt)
        }
    };
    let result = ApproximationResult { findings, doubts: doubt.into_iter().collect() };
    Ok(FittedApproximation { approximation: Some(approximation), linearised, result })
}

fn of_ensemble(ensemble: Ensemble<'_>) -> FittedApproximation<'_> {
    let findings = ensemble.findings().clone();
    let weights = ensemble.posterior().weight_count();
    FittedApproximation {
        linearised: None,
        approximation: Some(Box::new(ensemble)),
        result: ApproximationResult {
            doubts: doubts_of_ensemble(&findings),
            findings: ApproximationFindings::Ensemble { findings, weights },
        },
    }
}

/// Rounds that were spent before the bound settled, and weighted draws that are not worth much.
fn doubts_of_ensemble(findings: &EnsembleFindings) -> Vec<ApproximationDoubt> {
    let (change, rounds) = (findings.last_change(), findings.bounds.len());
    let climbing =
        (!findings.settled).then_some(ApproximationDoubt::StillClimbing { change, rounds });
    let far = findings.worth.as_ref().and_then(|worth| {
        let limit = pareto_shape_limit(worth.draws);
        let far = worth.pareto_shape.is_none_or(|shape| shape > limit);
        far.then_some(ApproximationDoubt::EnsembleWeights {
            effective_size: worth.effective_size,
            draws: worth.draws,
            pareto_shape: worth.pareto_shape,
            limit,
        })
    });
    climbing.into_iter().chain(far).collect()
}

impl Conditioned {
    /// A network taken as linear about its approximation, found again; `None` for other models and
    /// inferences, and where it does not apply.
    ///
    /// # Errors
    /// [`ApproximationError`] if the approximation cannot be found.
    pub fn linearised(
        &self,
        spec: &Spec,
        threads: NonZero<usize>,
    ) -> Result<Option<Linearised<'_>>, ApproximationError> {
        let Conditioned::Network(network) = self else {
            return Ok(None);
        };
        let seed = spec.sampling.seed();
        match spec.sampling.inference() {
            InferenceChoice::Laplace => {
                let model = network.regularised()?;
                let mode = fit_evidence(&model, Estimation::Evidence, STARTS, seed, threads)?;
                Ok(Linearised::at_mode(network, &mode))
            }
            _ => Ok(None),
        }
    }

    /// Draws of the variational ensemble of a network, found again and weighted to be draws of the
    /// posterior; `None` for other models and inferences.
    ///
    /// # Errors
    /// [`ApproximationError`] if the ensemble cannot be learned.
    pub fn importance_sample(
        &self,
        spec: &Spec,
    ) -> Result<Option<ImportanceSample>, ApproximationError> {
        let Conditioned::Network(network) = self else {
            return Ok(None);
        };
        if spec.sampling.inference() != InferenceChoice::Variational {
            return Ok(None);
        }
        let seed = spec.sampling.seed();
        let ensemble = Ensemble::learn(network, &EnsembleOptions::default(), seed)?;
        let mut stream = seed.stream(Purpose::Weighted, [0, 0]);
        Ok(Some(ensemble.importance_sample(WEIGHTED, &mut stream)))
    }
}
