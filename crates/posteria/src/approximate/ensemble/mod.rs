//! Ensemble learning: the best simple distribution in the place of a network's posterior.

mod ascent;
mod importance;
mod level;
mod prediction;
#[cfg(test)]
mod tests;

pub use importance::ImportanceSample;

use posteria_linalg::{Cholesky, Matrix};
use serde::{Deserialize, Serialize};

use self::ascent::Ascent;
use self::level::Level;
use super::evidence::{Estimation, Evidence};
use super::independent::Approximation;
use crate::density::Precision;
use crate::density::special::LOG_SQRT_2PI;
use crate::model::mlp::{GaussianNetwork, MlpPosterior};
use crate::model::{ModelError, Posterior};
use crate::random::{Purpose, Seed, Stream};

/// Starts among which the best is kept, of a network with hidden units.
const STARTS: usize = 5;

/// How to learn an ensemble.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnsembleOptions {
    /// Starts from random weights, beside one from the best mode of the evidence framework from
    /// as many starts; the one with the highest bound is kept.
    pub starts: usize,
    /// Inverse temperatures θ of the likelihood before 1, from this one up in equal ratios;
    /// 1 starts at once with all of the likelihood.
    pub first_temperature: f64,
    /// Most rounds.
    pub rounds: usize,
}

impl Default for EnsembleOptions {
    fn default() -> Self {
        EnsembleOptions { starts: STARTS, first_temperature: 0.01, rounds: 2000 }
    }
}

/// q(w) q(τ) q(α) in the place of the posterior of a network of real targets with normal
/// residuals [Fabricius 1999, §6.3.4 and appendix C; Hinton & van Camp 1993; MacKay 1995]:
///
/// - weights: N(w̄, Σ) with Σ⁻¹ = Jᵀ diag(E τ) J + diag(E α), J the derivatives of the outputs at
///   w̄, which minimises ½ Σ E τ (y - f(w))² + ½ Σ E α w²;
/// - precisions of groups of weights and of residuals: gamma distributions;
/// - scales above them, where there are any: log-normal distributions.
///
/// The likelihood is raised to a power that grows to 1, so that the precisions of the prior and
/// of the noise are not settled before the weights [Fabricius 1999, §3.3].
///
/// **The bound** is the expectation of log p - log q with f taken as linear in the weights about
/// w̄. Where the network *is* linear (`hidden = 0`) that is exact: the bound never decreases and
/// is below the log evidence. With hidden units it is an approximation of the bound, which may
/// be off either way and may fall; it is the bound of one of the many equal modes, too.
#[derive(Clone, Debug)]
pub struct Ensemble<'p> {
    network: NetworkOf<'p>,
    mean: Vec<f64>,
    /// Factor of Σ⁻¹.
    precision: Cholesky,
    precisions: Vec<Precision>,
    levels: Vec<Level>,
    findings: EnsembleFindings,
}

/// What ensemble learning found besides the distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnsembleFindings {
    /// Bound of the log evidence of the targets in the user's unit; linearised, see [`Ensemble`].
    pub bound: f64,
    /// The bound after every round with all of the likelihood.
    pub bounds: Vec<f64>,
    /// Whether the network is linear in its weights, so that the bound is one.
    pub exact: bool,
    /// Effective parameters γ = Σ_i (1 - E α_i Σ_ii): weights that the data determine.
    pub effective_parameters: f64,
    /// E α of every group of weights that has a sampled precision, then E τ of the residuals, on
    /// the standardised scale.
    pub precisions: Vec<f64>,
    /// Starts among which the best was kept.
    pub starts: usize,
}

impl EnsembleFindings {
    /// Change of the bound in the last round: what is left to climb is more where this is not small.
    pub fn last_change(&self) -> f64 {
        match &self.bounds[..] {
            [.., before, last] => last - before,
            _ => 0.0,
        }
    }
}

/// The structure of the network, shared by copies of an ensemble.
#[derive(Clone)]
struct NetworkOf<'p>(std::sync::Arc<GaussianNetwork<'p>>);

impl std::fmt::Debug for NetworkOf<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a network of {} weights", self.0.weights.len())
    }
}

impl<'p> Ensemble<'p> {
    /// Whether there can be an ensemble in the place of `posterior`.
    ///
    /// # Errors
    /// [`ModelError`] if targets are classes, or weights or residuals are not normal given
    /// precisions.
    pub fn check(posterior: &MlpPosterior) -> Result<(), ModelError> {
        posterior.gaussian().map(|_| ())
    }

    /// Learns the ensemble that is best for `posterior`. The starts depend on `seed` alone.
    ///
    /// # Errors
    /// [`ModelError`] if targets are classes, weights or residuals are not normal given
    /// precisions, or numbers leave their range.
    ///
    /// # Panics
    /// If no start is asked for.
    pub fn learn(
        posterior: &'p MlpPosterior,
        options: &EnsembleOptions,
        seed: Seed,
    ) -> Result<Self, ModelError> {
        assert!(options.starts > 0, "at least one start");
        let network = posterior.gaussian()?;
        // Without hidden units there is one optimum of the weights.
        let exact = posterior.is_linear();
        let starts = if exact { 1 } else { options.starts };
        let mut best: Option<Ascent> = None;
        let mut climb = |mut ascent: Ascent, options: &EnsembleOptions| {
            let higher = ascent.climb(&network, options).is_ok()
                && best.as_ref().is_none_or(|highest| ascent.bound() > highest.bound());
            if higher {
                best = Some(ascent);
            }
        };
        for start in 0..starts {
            let mut stream = seed.stream(Purpose::Start, [start as u64, 0]);
            climb(Ascent::new(&network, &mut stream), options);
        }
        // Precisions that are learned with the weights may switch all of these off before they
        // have found anything; a mode of the evidence framework has.
        if let (false, Ok(model)) = (exact, posterior.regularised())
            && let Ok(mode) = Evidence::best(&model, Estimation::Evidence, starts, seed)
        {
            let at_once = EnsembleOptions { first_temperature: 1.0, ..*options };
            climb(Ascent::at(&network, &mode.weights), &at_once);
        }
        let best = best.ok_or(ModelError::OutOfRange { what: "a network" })?;
        let unit = network.log_unit();
        let bounds: Vec<f64> = best.bounds.iter().map(|bound| bound - unit).collect();
        let findings = EnsembleFindings {
            bound: bounds.last().copied().unwrap_or(f64::NEG_INFINITY),
            bounds,
            exact,
            effective_parameters: best.effective_parameters(&network),
            precisions: best.precisions.iter().map(|precision| precision.mean()).collect(),
            starts,
        };
        // Of equal ensembles the one that stands for all, as rounding decides which is the best.
        let symmetry = posterior.canonical(&best.weights);
        let (mean, precision) = match symmetry.precision(&best.factor) {
            Some(precision) => (symmetry.weights(&best.weights), precision),
            None => (best.weights, best.factor),
        };
        Ok(Ensemble {
            network: NetworkOf(network.into()),
            mean,
            precision,
            precisions: best.precisions,
            levels: best.levels,
            findings,
        })
    }

    /// What was found besides the distribution.
    pub fn findings(&self) -> &EnsembleFindings {
        &self.findings
    }

    /// The bound of the log evidence, see [`Ensemble`].
    pub fn bound(&self) -> f64 {
        self.findings.bound
    }

    /// The mean of the weights.
    pub fn mean_weights(&self) -> &[f64] {
        &self.mean
    }

    /// The covariance of the weights.
    pub fn weight_covariance(&self) -> Matrix {
        let mut covariance = Matrix::zeros(self.mean.len(), self.mean.len());
        self.precision.inverse(&mut covariance);
        covariance
    }

    /// The precision of the weights, factorised.
    pub(super) fn precision(&self) -> &Cholesky {
        &self.precision
    }

    /// The network that the ensemble stands for.
    pub fn posterior(&self) -> &'p MlpPosterior {
        self.network.0.posterior
    }

    /// Writes an independent state of the network's posterior, drawn from q.
    ///
    /// # Panics
    /// If `state` has another length.
    pub fn draw(&self, stream: &mut Stream, state: &mut [f64]) {
        assert_eq!(state.len(), self.posterior().state_len(), "a state");
        let (weights, _) = state.split_at_mut(self.mean.len());
        stream.fill_normal(weights);
        self.precision.solve_lower_transposed(weights);
        weights.iter_mut().zip(&self.mean).for_each(|(weight, mean)| *weight += mean);
        for (own, at) in self.precisions.iter().zip(&self.network.0.precisions) {
            state[at.slot] = own.draw_log_scale(stream);
        }
        for (own, at) in self.levels.iter().zip(&self.network.0.levels) {
            state[at.slot] = own.draw_log_scale(stream);
        }
    }

    /// The middle of q, as a state: where chains may start.
    pub fn middle(&self) -> Vec<f64> {
        let mut state = vec![0.0; self.posterior().state_len()];
        state[..self.mean.len()].copy_from_slice(&self.mean);
        for (own, at) in self.precisions.iter().zip(&self.network.0.precisions) {
            state[at.slot] = -0.5 * own.mean().ln();
        }
        for (own, at) in self.levels.iter().zip(&self.network.0.levels) {
            state[at.slot] = own.log_scale();
        }
        state
    }

    /// log q of a state: with respect to weights and logarithms of scales, as the log prior of
    /// the network is.
    ///
    /// # Panics
    /// If `state` has another length.
    pub fn log_density(&self, state: &[f64]) -> f64 {
        assert_eq!(state.len(), self.posterior().state_len(), "a state");
        let mut off: Vec<f64> =
            state.iter().zip(&self.mean).map(|(weight, mean)| weight - mean).collect();
        self.precision.multiply_lower_transposed(&mut off);
        let square: f64 = off.iter().map(|z| z * z).sum();
        let weights = 0.5 * (self.precision.log_determinant() - square)
            - self.mean.len() as f64 * LOG_SQRT_2PI;
        let precisions = self.precisions.iter().zip(&self.network.0.precisions);
        let levels = self.levels.iter().zip(&self.network.0.levels);
        weights
            + precisions.map(|(own, at)| own.log_density(state[at.slot])).sum::<f64>()
            + levels.map(|(own, at)| own.log_density(state[at.slot])).sum::<f64>()
    }
}

impl Approximation for Ensemble<'_> {
    fn draw(&self, state: &mut [f64], stream: &mut Stream) {
        Ensemble::draw(self, stream, state);
    }

    fn log_density(&self, state: &[f64]) -> f64 {
        Ensemble::log_density(self, state)
    }
}
