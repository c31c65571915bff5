//! Find the hyperparameters of a process without chains: their mode, or weighted draws about it.

use std::num::NonZero;

use serde::{Deserialize, Serialize};

use super::approximation::{ApproximationError, FittedApproximation};
use super::approximation_result::{ApproximationFindings, ApproximationResult};
use super::{Conditioned, Prepared, run_jobs};
use crate::approximate::{Proposed, SplitStudentT, WeightedStates, Worth};
use crate::caution::ApproximationDoubt;
use crate::density::normalize_log_weights;
use crate::density::special::log_sum_exp;
use crate::diagnose::importance::{Smoothing, importance_weights, pareto_shape_limit};
use crate::model::ModelError;
use crate::model::gp::{GpPosterior, HyperparameterDensity};
use crate::model::spec::InferenceChoice;
use crate::optimise::QuasiNewton;
use crate::random::{Purpose, Seed};
use crate::sample::{AtMode, Modes};
use crate::target::LogDensity;

/// Positions that are weighed at once, and how many more per hyperparameter.
const ROUND: usize = 200;
const ROUND_PER_DIMENSION: usize = 10;
/// Rounds of positions at most: each has a proposal that was learned from all before it.
const ROUNDS: usize = 5;
/// Effective draws that need no more rounds.
const ENOUGH: f64 = 200.0;
/// Fewest effective draws that are not doubted.
const FEWEST: f64 = 50.0;
/// Positions of one job: fixed, so that no number depends on the threads.
const BATCH: usize = 20;
/// Pareto shape of the weights of functions above which Laplace's method is doubted: they are of all functions at
/// all rows together, while predictions are of one at a time.
const FUNCTIONS_LIMIT: f64 = 0.7;
/// Draws of the functions at the mode that Laplace's method is judged by.
const JUDGED: usize = 400;
/// Log density that the mode may still lack.
const SETTLED: f64 = 1e-9;

/// What was found of the hyperparameters of a process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HyperparameterFindings {
    /// The inference by its name in specifications.
    pub method: InferenceChoice,
    /// Number of hyperparameters that are not known, those of the residuals included.
    pub hyperparameters: usize,
    /// Climbs to modes.
    pub climbs: usize,
    /// Distinct modes that matter.
    pub modes: usize,
    /// Log density of the logarithms of the hyperparameters at the highest mode, of targets in the
    /// user's unit, not normalised.
    pub log_density: f64,
    /// What Laplace's method for the functions is worth at the highest mode; none where they are
    /// integrated out exactly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub functions: Option<FunctionFindings>,
    /// What weighted draws are worth; none at a mode alone.
    #[serde(flatten)]
    pub weights: Option<WeightFindings>,
}

/// What weighted draws of hyperparameters are worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WeightFindings {
    /// Number of weighted draws.
    pub weighted: usize,
    /// Their effective number.
    pub effective_size: f64,
    /// Pareto shape k of the largest weights; none where all weights are alike.
    pub pareto_shape: Option<f64>,
    /// k above which they are not to be trusted.
    pub pareto_limit: f64,
    /// Log evidence, of targets in the user's unit: the logarithm of the mean weight.
    pub log_evidence: f64,
    /// Its standard error.
    pub log_evidence_error: f64,
}

/// What Laplace's method for functions is worth at one set of hyperparameters, by weighted draws of
/// the functions from the normal distribution that it puts there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionFindings {
    /// Number of weighted draws of all functions at all rows.
    pub weighted: usize,
    /// Their effective number.
    pub effective_size: f64,
    /// Pareto shape k of the largest weights; none where all weights are alike.
    pub pareto_shape: Option<f64>,
    /// k above which they are not to be trusted.
    pub pareto_limit: f64,
    /// What the log density of the targets there lacks.
    pub log_correction: f64,
}

impl FunctionFindings {
    /// Of the log ratios of draws; `None` if there are none.
    fn of(log_ratios: &[f64]) -> Option<Self> {
        let weights = importance_weights(log_ratios, Smoothing::Pareto, 1.0).ok()?;
        let (weighted, shape) = (log_ratios.len(), weights.pareto_shape);
        Some(FunctionFindings {
            weighted,
            effective_size: weights.effective_size,
            pareto_shape: shape.is_finite().then_some(shape),
            pareto_limit: pareto_shape_limit(weighted),
            log_correction: log_sum_exp(log_ratios) - (weighted as f64).ln(),
        })
    }

    /// A doubt if the functions are far from normal.
    fn doubt(&self) -> Option<ApproximationDoubt> {
        let heavy = self.pareto_shape.is_some_and(|shape| shape > FUNCTIONS_LIMIT);
        heavy.then_some(ApproximationDoubt::FunctionWeights {
            effective_size: self.effective_size,
            draws: self.weighted,
            pareto_shape: self.pareto_shape.unwrap_or(f64::NEG_INFINITY),
            log_correction: self.log_correction,
        })
    }
}

impl WeightFindings {
    /// Where all hyperparameters are known.
    fn of_known(log_evidence: f64) -> Self {
        WeightFindings {
            weighted: 1,
            effective_size: 1.0,
            pareto_shape: None,
            pareto_limit: pareto_shape_limit(1),
            log_evidence,
            log_evidence_error: 0.0,
        }
    }

    /// A doubt if the weights are not to be trusted.
    fn doubt(&self) -> Option<ApproximationDoubt> {
        let heavy = self.pareto_shape.is_some_and(|shape| shape > self.pareto_limit);
        let doubted = heavy || self.effective_size < FEWEST.min(0.5 * self.weighted as f64);
        doubted.then_some(ApproximationDoubt::HyperparameterWeights {
            effective_size: self.effective_size,
            draws: self.weighted,
            pareto_shape: self.pareto_shape.unwrap_or(f64::NEG_INFINITY),
            limit: self.pareto_limit,
        })
    }
}

impl Prepared {
    /// Whether this is a process whose hyperparameters can be found without chains.
    pub fn integrates_functions(&self) -> bool {
        match &self.posterior {
            Conditioned::Process(process) => process.integrates_functions().is_ok(),
            _ => false,
        }
    }
}

/// The mode of the hyperparameters, or draws of them weighted by their density: from two-piece
/// Student's t distributions at the modes [Rue, Martino & Chopin 2009, §6.5], then from what these
/// teach, until the weights serve.
pub(super) fn of_process(
    posterior: &GpPosterior,
    inference: InferenceChoice,
    seed: Seed,
    threads: NonZero<usize>,
) -> Result<FittedApproximation<'_>, ApproximationError> {
    let mut density = posterior.hyperparameters()?;
    let search = Search { posterior, seed, threads };
    let within = (density.slots().to_vec(), density.template());
    let starts = if within.0.is_empty() { Vec::new() } else { density.starts() };
    let (climbs, log_unit) = (starts.len(), density.log_unit());
    let no_mode = || ApproximationError::NoMode { climbs };
    let modes = Modes::new(starts);
    search.modes(&modes)?;
    let modes = modes.find(&mut density);
    let by_height = |a: &&AtMode, b: &&AtMode| a.log_density.total_cmp(&b.log_density);
    let (top, height) = match modes.iter().max_by(by_height) {
        // Everything is known.
        None if climbs == 0 => (Vec::new(), density.log_density(&[]).map_err(|_| no_mode())?),
        None => return Err(no_mode()),
        Some(highest) => {
            let climb = QuasiNewton { value_tolerance: SETTLED, ..QuasiNewton::default() };
            let top = climb.maximise(&mut density, highest.mode.clone()).map_err(|_| no_mode())?;
            (top.position, top.log_density)
        }
    };
    let mut stream = seed.stream(Purpose::Weighted, [3, 0]);
    let ratios = density.weigh_functions(&top, JUDGED, &mut stream).map_err(|_| no_mode())?;
    let mut findings = HyperparameterFindings {
        method: inference,
        hyperparameters: top.len(),
        climbs,
        modes: modes.len().max(1),
        log_density: height + log_unit,
        functions: FunctionFindings::of(&ratios),
        weights: None,
    };
    if inference == InferenceChoice::Map || climbs == 0 {
        if inference == InferenceChoice::Laplace {
            findings.weights = Some(WeightFindings::of_known(height + log_unit));
        }
        return Ok(found(WeightedStates::point(posterior, top, within), findings));
    }
    let (proposed, worth) = search.weighted(&mut density, modes)?.ok_or_else(no_mode)?;
    let weighted = proposed.positions().len();
    let shape = worth.weights.pareto_shape;
    findings.weights = Some(WeightFindings {
        weighted,
        effective_size: worth.weights.effective_size,
        pareto_shape: shape.is_finite().then_some(shape),
        pareto_limit: pareto_shape_limit(weighted),
        log_evidence: worth.log_mass + log_unit,
        log_evidence_error: worth.log_mass_error,
    });
    Ok(found(WeightedStates::new(posterior, (proposed, &worth), within), findings))
}

fn found<'p>(
    states: WeightedStates<'p>,
    findings: HyperparameterFindings,
) -> FittedApproximation<'p> {
    let of_weights = findings.weights.as_ref().and_then(WeightFindings::doubt);
    let of_functions = findings.functions.as_ref().and_then(FunctionFindings::doubt);
    FittedApproximation {
        approximation: Some(Box::new(states)),
        result: ApproximationResult {
            findings: ApproximationFindings::Hyperparameters(Box::new(findings)),
            doubts: of_weights.into_iter().chain(of_functions).collect(),
        },
        linearised: None,
    }
}

/// Who searches, with which threads.
struct Search<'p> {
    posterior: &'p GpPosterior,
    seed: Seed,
    threads: NonZero<usize>,
}

impl<'p> Search<'p> {
    /// Climbs to the modes, a start per thread at a time.
    fn modes(&self, modes: &Modes) -> Result<(), ModelError> {
        let climbs = run_jobs(self.threads.get(), self.threads, |_| {
            modes.find(&mut self.posterior.hyperparameters()?);
            Ok(())
        });
        climbs.into_iter().collect()
    }

    /// Positions with their weights; `None` if there are none of any weight.
    fn weighted(
        &self,
        density: &mut HyperparameterDensity<'p>,
        modes: &[AtMode],
    ) -> Result<Option<(Proposed, Worth)>, ModelError> {
        let Some(first) = modes.first() else { return Ok(None) };
        let round = ROUND + ROUND_PER_DIMENSION * density.dim();
        let mut shares: Vec<f64> = modes.iter().map(AtMode::log_mass).collect();
        normalize_log_weights(&mut shares);
        let mut proposed = Proposed::default();
        for (index, (mode, share)) in modes.iter().zip(&shares).enumerate() {
            let count = (share.exp() * round as f64).ceil() as usize;
            if let Some(proposal) = SplitStudentT::about(density, mode) {
                self.propose(&mut proposed, proposal, (count, index))?;
            }
        }
        let Some(mut worth) = proposed.worth() else { return Ok(None) };
        for index in 1..ROUNDS {
            let limit = pareto_shape_limit(proposed.positions().len());
            let weights = &worth.weights;
            if weights.effective_size >= ENOUGH && weights.pareto_shape <= limit {
                break;
            }
            let Some(refined) = proposed.refined(&worth, &first.covariance) else { break };
            self.propose(&mut proposed, refined, (round, modes.len() + index))?;
            let Some(better) = proposed.worth() else { break };
            worth = better;
        }
        Ok(Some((proposed, worth)))
    }

    /// Draws `count` positions from the proposal of this number, with their densities.
    fn propose(
        &self,
        proposed: &mut Proposed,
        proposal: SplitStudentT,
        (count, number): (usize, usize),
    ) -> Result<(), ModelError> {
        let mut stream = self.seed.stream(Purpose::Weighted, [2, number as u64]);
        let positions = proposed.draw(proposal, count, &mut stream);
        let batches: Vec<&[Vec<f64>]> = positions.chunks(BATCH).collect();
        let values = run_jobs(batches.len(), self.threads, |batch| {
            let mut density = self.posterior.hyperparameters()?;
            let value =
                |position: &Vec<f64>| density.log_density(position).unwrap_or(f64::NEG_INFINITY);
            Ok(batches[batch].iter().map(value).collect::<Vec<f64>>())
        });
        let values = values.into_iter().collect::<Result<Vec<_>, ModelError>>()?;
        proposed.add(values.concat());
        Ok(())
    }
}

#[cfg(test)]
mod tests;
