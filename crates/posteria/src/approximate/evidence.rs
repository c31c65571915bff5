//! Find a mode of the weights together with their scales: the evidence framework.

mod curve;
mod search;

pub use curve::{CurvePoint, evidence_curve};

use posteria_linalg::{Cholesky, Matrix};
use serde::{Deserialize, Serialize};

use self::search::{
    From, change, climb, determined, effective_parameters, reestimated, starting_scales,
};
use super::criteria::Criteria;
use super::penalised::Penalised;
use crate::model::{Regularised, Scales};
use crate::random::{Purpose, Seed};
use crate::target::{Infeasible, LogDensity};

/// Most rounds of finding the mode and re-estimating the scales.
const ROUNDS: usize = 200;
/// Change of the logarithm of a precision that counts as none.
const SETTLED: f64 = 1e-5;
/// Change of the log evidence that counts as none when it comes so many times in a row: a group
/// that is being switched off changes its precision for ever, and nothing else.
const FLAT: f64 = 1e-6;
const FLAT_ROUNDS: usize = 3;

/// What is done about the scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimation {
    /// Those that are not fixed are re-estimated where the evidence is greatest: α = γ/2E_W and
    /// β = (n - γ)/2E_D. Their priors take no part [MacKay 1992a].
    Evidence,
    /// Those of the weights are fixed, or at the scale of their priors; those of the residuals
    /// at their mode given the weights, β = (n + ν)/(2E_D + νs₀²).
    Mode,
    /// All are held where they are.
    Held,
}

/// Why there is no mode.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EvidenceError {
    /// The density is not usable where the search begins.
    #[error("the search for a mode cannot begin: {reason}; are the data standardised?")]
    Start {
        /// Why.
        reason: Infeasible,
    },
    /// The curvature at the mode cannot be factorised.
    #[error(
        "the curvature at the mode is not positive definite (weight {pivot}); drop inputs that are \
         sums of others, or fix larger precisions of the weights (smaller `fixed`)"
    )]
    Curvature {
        /// Index of the failing pivot.
        pivot: usize,
    },
}

/// A group of weights or residuals in the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScaleEstimate {
    /// What the group is called.
    pub name: String,
    /// Its precision α or β.
    pub precision: f64,
    /// Its standard deviation.
    pub scale: f64,
    /// How many parameters the data determine in it, or how many its residuals determine.
    pub effective_parameters: f64,
    /// How many weights, or residuals, it has.
    pub count: usize,
    /// Whether it was not estimated.
    pub fixed: bool,
}

/// A mode of the weights with the scales that belong to it.
///
/// With A = diag(α) + H, H the [curvature](LogDensity::curvature) of the misfit by Gauss and
/// Newton, the effective parameters of a group are γ = Σ 1 - α (A⁻¹)_kk = Σ λ/(λ + α), and the
/// evidence of the scales is
///
/// log p(targets | α, β) ≈ log p(targets | w, β) + log p(w | α) + ½ d log 2π - ½ log |A|,
///
/// exact for linear models with normal residuals [MacKay 1992a,b]. The sums of log evidence over
/// the 2^H H! modes that differ by names and signs of units only are `log_evidence` +
/// `log_symmetries`.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The weights at the mode, standardised scale.
    pub weights: Vec<f64>,
    /// The scales.
    pub scales: Scales,
    /// A, factorised.
    pub precision: Cholesky,
    /// The state of the posterior there.
    pub state: Vec<f64>,
    /// Log evidence of one mode, of targets in the user's unit.
    pub log_evidence: f64,
    /// Logarithm of the number of modes that are the same.
    pub log_symmetries: f64,
    /// Log likelihood at the mode, of targets in the user's unit.
    pub log_likelihood: f64,
    /// Log density of targets and weights at the mode, in the user's unit.
    pub log_density: f64,
    /// Effective parameters γ in all.
    pub effective_parameters: f64,
    /// The groups of weights.
    pub weight_groups: Vec<ScaleEstimate>,
    /// The groups of residuals.
    pub residual_groups: Vec<ScaleEstimate>,
    /// Classical criteria of the mode.
    pub criteria: Criteria,
    /// Rounds of re-estimation.
    pub rounds: usize,
    /// Whether the scales settled.
    pub converged: bool,
}

impl Evidence {
    /// The mode from the best of `starts` starting points, by evidence. They depend on `seed` and
    /// their index alone.
    ///
    /// # Errors
    /// [`EvidenceError`] of the first start, if all fail.
    pub fn best(
        model: &dyn Regularised,
        estimation: Estimation,
        starts: usize,
        seed: Seed,
    ) -> Result<Self, EvidenceError> {
        let found =
            (0..starts.max(1)).map(|start| Evidence::from_start(model, estimation, start, seed));
        Evidence::better(found.collect(), estimation)
    }

    /// The best of several: by evidence where that is what they maximise, else by log density.
    ///
    /// # Errors
    /// The first one's, if all failed.
    pub fn better(
        found: Vec<Result<Self, EvidenceError>>,
        estimation: Estimation,
    ) -> Result<Self, EvidenceError> {
        let height = |found: &Self| match estimation {
            Estimation::Evidence => found.log_evidence,
            Estimation::Mode | Estimation::Held => found.log_density,
        };
        let mut best: Option<Result<Self, EvidenceError>> = None;
        for next in found {
            let better = match (&best, &next) {
                (None, _) | (Some(Err(_)), Ok(_)) => true,
                (Some(Ok(best)), Ok(next)) => height(next) > height(best),
                (Some(_), Err(_)) => false,
            };
            if better {
                best = Some(next);
            }
        }
        best.unwrap_or(Err(EvidenceError::Start { reason: Infeasible::OutsideSupport }))
    }

    /// The mode from starting point number `start`.
    ///
    /// # Errors
    /// [`EvidenceError`].
    pub fn from_start(
        model: &dyn Regularised,
        estimation: Estimation,
        start: usize,
        seed: Seed,
    ) -> Result<Self, EvidenceError> {
        let weights = model.start(&mut seed.stream(Purpose::Start, [start as u64, 1]));
        let scales = starting_scales(model, estimation);
        Evidence::search(model, estimation, weights, scales)
    }

    /// The mode from these weights and scales.
    ///
    /// # Errors
    /// [`EvidenceError`].
    pub fn search(
        model: &dyn Regularised,
        estimation: Estimation,
        mut weights: Vec<f64>,
        scales: Scales,
    ) -> Result<Self, EvidenceError> {
        let mut penalised = Penalised::new(model, scales);
        let (mut rounds, mut converged) = (0, false);
        let (mut height, mut flat) = (f64::NEG_INFINITY, 0);
        let mut from = From::Afar;
        let precision = loop {
            let precision;
            (weights, precision) = climb(&mut penalised, weights, from)?;
            rounds += 1;
            let next = reestimated(&mut penalised, estimation, &weights, &precision);
            let change = change(&penalised, &next, &precision);
            let before = height;
            height = penalised.log_density(&weights).unwrap_or(f64::NAN)
                - 0.5 * precision.log_determinant();
            flat = if (height - before).abs() < FLAT { flat + 1 } else { 0 };
            converged |= change < SETTLED || flat >= FLAT_ROUNDS;
            if converged || rounds >= ROUNDS {
                break match from {
                    From::Afar => precision,
                    From::Nearby => {
                        let precision;
                        (weights, precision) = climb(&mut penalised, weights, From::Afar)?;
                        precision
                    }
                };
            }
            from = From::Nearby;
            penalised.set(next);
        };
        Ok(Evidence::gather(
            model,
            &mut penalised,
            estimation,
            (weights, precision),
            rounds,
            converged,
        )
        .canonical(model))
    }

    /// The same mode under the name that stands for all: the best of several starts is then the same
    /// wherever it is found again, though rounding decides which of equal modes is the highest.
    fn canonical(self, model: &dyn Regularised) -> Self {
        let moved = model.canonical(&self.weights).and_then(|symmetry| {
            let precision = symmetry.precision(&self.precision)?;
            Some((symmetry.weights(&self.weights), precision))
        });
        let Some((weights, precision)) = moved else {
            return self;
        };
        let state = model.state(&weights, &self.scales);
        Evidence { weights, precision, state, ..self }
    }

    fn gather(
        model: &dyn Regularised,
        penalised: &mut Penalised<'_>,
        estimation: Estimation,
        (weights, precision): (Vec<f64>, Cholesky),
        rounds: usize,
        converged: bool,
    ) -> Self {
        let log_density = penalised.log_density(&weights).unwrap_or(f64::NAN);
        let halves = penalised.half_squares(&weights);
        let scales = penalised.scales.clone();
        let log_prior: f64 = penalised
            .decays
            .iter()
            .zip(&scales.alphas)
            .zip(&halves)
            .filter(|((_, alpha), _)| **alpha > 0.0)
            .map(|((decay, alpha), half)| {
                decay.members.len() as f64 * 0.5 * (alpha / std::f64::consts::TAU).ln()
                    - alpha * half
            })
            .sum();
        let log_likelihood = log_density - log_prior + model.log_unit();
        let dim = weights.len() as f64;
        let log_evidence = log_density + 0.5 * dim * std::f64::consts::TAU.ln()
            - 0.5 * precision.log_determinant()
            + model.log_unit();
        let gammas = effective_parameters(penalised, &precision);
        let effective: f64 = gammas.iter().sum();
        let weight_groups = penalised
            .decays
            .iter()
            .zip(&scales.alphas)
            .zip(&gammas)
            .map(|((decay, alpha), gamma)| ScaleEstimate {
                name: decay.name.clone(),
                precision: *alpha,
                scale: alpha.sqrt().recip(),
                effective_parameters: *gamma,
                count: decay.members.len(),
                fixed: decay.fixed || estimation != Estimation::Evidence,
            })
            .collect();
        let determined = determined(penalised, &precision);
        let residual_groups: Vec<ScaleEstimate> = penalised
            .noises
            .iter()
            .zip(&scales.betas)
            .zip(&determined)
            .map(|((noise, beta), gamma)| ScaleEstimate {
                name: noise.name.clone(),
                precision: *beta,
                scale: beta.sqrt().recip(),
                effective_parameters: *gamma,
                count: noise.count as usize,
                fixed: estimation == Estimation::Held || noise.dof.is_infinite(),
            })
            .collect();
        let criteria =
            Criteria::new(model, penalised, (&weights, &precision), (log_likelihood, effective));
        Evidence {
            state: model.state(&weights, &scales),
            weights,
            scales,
            precision,
            log_evidence,
            log_symmetries: model.log_symmetries(),
            log_likelihood,
            log_density: log_density + model.log_unit(),
            effective_parameters: effective,
            weight_groups,
            residual_groups,
            criteria,
            rounds,
            converged,
        }
    }

    /// The largest change of an output by another Newton step A⁻¹ ∇ log p.
    pub(crate) fn newton_change(&self, model: &dyn Regularised) -> f64 {
        let mut penalised = Penalised::new(model, self.scales.clone());
        let mut step = vec![0.0; self.weights.len()];
        if penalised.log_density_gradient(&self.weights, &mut step).is_err() {
            return f64::INFINITY;
        }
        self.precision.solve(&mut step);
        let mut outputs = model.outputs();
        let [mut here, mut there] = [(); 2].map(|()| vec![0.0; outputs.len()]);
        let moved: Vec<f64> = self.weights.iter().zip(&step).map(|(w, step)| w + step).collect();
        outputs.outputs(&self.weights, &mut here);
        outputs.outputs(&moved, &mut there);
        here.iter().zip(&there).map(|(here, there)| (there - here).abs()).fold(0.0, f64::max)
    }

    /// Variances gᵀA⁻¹g of all outputs at o·n + i, on the standardised scale; with 1/β added they
    /// are squared error bars of new targets.
    pub fn output_variances(&self, model: &dyn Regularised) -> Vec<f64> {
        let mut penalised = Penalised::new(model, self.scales.clone());
        let dim = self.weights.len();
        // Fills the derivatives of the outputs.
        let _ = penalised.curvature(&self.weights, &mut Matrix::zeros(dim, dim));
        penalised.output_variances(&self.precision)
    }
}

#[cfg(test)]
mod tests;
