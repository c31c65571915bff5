//! Find the hyperparameters of a process without chains: their mode, or weighted draws about it.

use std::num::NonZero;

use serde::Serialize;

use super::approximation::{ApproximationError, ApproximationFindings, FittedApproximation};
use super::run_jobs;
use crate::approximate::{
    Approximation, PointAtMode, Proposed, SplitStudentT, WeightedStates, Worth,
};
use crate::caution::Caution;
use crate::density::normalize_log_weights;
use crate::diagnose::importance::pareto_shape_limit;
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
/// Log density that the mode may still lack.
const SETTLED: f64 = 1e-9;

/// What was found of the hyperparameters of a process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HyperparameterFindings {
    /// The inference by its name in specifications.
    pub method: &'static str,
    /// Number of hyperparameters that are not known, those of the residuals included.
    pub hyperparameters: usize,
    /// Climbs to modes.
    pub climbs: usize,
    /// Distinct modes that matter.
    pub modes: usize,
    /// Log density of the logarithms of the hyperparameters at the highest mode, of targets in the
    /// user's unit, not normalised.
    pub log_density: f64,
    /// What weighted draws are worth; none at a mode alone.
    #[serde(flatten)]
    pub weights: Option<WeightFindings>,
}

/// What weighted draws of hyperparameters are worth.
#[derive(Clone, Debug, PartialEq, Serialize)]
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

impl WeightFindings {
    /// A caution if the weights are not to be trusted.
    fn doubt(&self) -> Option<Caution> {
        let heavy = self.pareto_shape.is_some_and(|shape| shape > self.pareto_limit);
        let doubted = heavy || self.effective_size < FEWEST.min(0.5 * self.weighted as f64);
        doubted.then_some(Caution::HyperparameterWeights {
            effective_size: self.effective_size,
            draws: self.weighted,
            pareto_shape: self.pareto_shape.unwrap_or(f64::NEG_INFINITY),
            limit: self.pareto_limit,
        })
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
) -> Result<FittedApproximation<'static>, ApproximationError> {
    let mut density = posterior.hyperparameters()?;
    let search = Search { posterior, seed, threads };
    let (slots, template) = (density.slots().to_vec(), density.template());
    let (starts, log_unit) = (density.starts(), density.log_unit());
    let dim = slots.len();
    let findings = |log_density: f64, climbs: usize, modes: usize, weights| {
        let method = inference.name();
        let log_density = log_density + log_unit;
        HyperparameterFindings { method, hyperparameters: dim, climbs, modes, log_density, weights }
    };
    let state_at = |position: &[f64]| {
        let mut state = template.clone();
        slots.iter().zip(position).for_each(|(slot, x)| state[*slot] = *x);
        state
    };
    if dim == 0 {
        // Everything is known.
        let log_density = density.log_density(&[]).unwrap_or(f64::NAN);
        let weights = (inference == InferenceChoice::Laplace).then(|| WeightFindings {
            weighted: 1,
            effective_size: 1.0,
            pareto_shape: None,
            pareto_limit: pareto_shape_limit(1),
            log_evidence: log_density + log_unit,
            log_evidence_error: 0.0,
        });
        let point = PointAtMode::at(state_at(&[]));
        return Ok(found(Box::new(point), findings(log_density, 0, 1, weights)));
    }
    let climbs = starts.len();
    let modes = Modes::new(starts);
    search.modes(&modes)?;
    let modes = modes.find(&mut density);
    let by_height = |a: &&AtMode, b: &&AtMode| a.log_density.total_cmp(&b.log_density);
    let highest = modes.iter().max_by(by_height).ok_or(ApproximationError::NoMode { climbs })?;
    if inference == InferenceChoice::Map {
        let climb = QuasiNewton { value_tolerance: SETTLED, ..QuasiNewton::default() };
        let top = climb.maximise(&mut density, highest.mode.clone());
        let top = top.map_err(|_| ApproximationError::NoMode { climbs })?;
        let point = PointAtMode::at(state_at(&top.position));
        return Ok(found(Box::new(point), findings(top.log_density, climbs, modes.len(), None)));
    }
    let (proposed, worth) =
        search.weighted(&mut density, modes)?.ok_or(ApproximationError::NoMode { climbs })?;
    let weighted = proposed.positions().len();
    let shape = worth.weights.pareto_shape;
    let weights = WeightFindings {
        weighted,
        effective_size: worth.weights.effective_size,
        pareto_shape: (shape > f64::NEG_INFINITY).then_some(shape),
        pareto_limit: pareto_shape_limit(weighted),
        log_evidence: worth.log_mass + log_unit,
        log_evidence_error: worth.log_mass_error,
    };
    let states = WeightedStates::new(proposed, &worth, (slots, template));
    let all = findings(highest.log_density, climbs, modes.len(), Some(weights));
    Ok(found(Box::new(states), all))
}

fn found(
    approximation: Box<dyn Approximation>,
    findings: HyperparameterFindings,
) -> FittedApproximation<'static> {
    let cautions = findings.weights.as_ref().and_then(WeightFindings::doubt);
    FittedApproximation {
        approximation: Some(approximation),
        findings: ApproximationFindings::Hyperparameters(Box::new(findings)),
        cautions: cautions.into_iter().collect(),
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
