//! Ensemble learning: the best simple distribution in the place of a network's posterior.

mod ascent;
mod draw;
mod importance;
mod level;
mod outputs;
mod points;
mod structure;
#[cfg(test)]
mod tests;

pub use importance::{ImportanceSample, Worth};

use std::sync::Arc;

use posteria_linalg::{Cholesky, Matrix};
use serde::{Deserialize, Serialize};

use self::ascent::Ascent;
use self::level::Level;
use self::points::Points;
use self::structure::Structure;
use super::evidence::{Estimation, Evidence};
use super::independent::Approximation;
use crate::density::Precision;
use crate::model::ModelError;
use crate::model::mlp::MlpPosterior;
use crate::random::{Purpose, Seed, Stream};

/// Starts among which the best is kept, of a network with hidden units.
const STARTS: usize = 5;
/// Rounds after which the best of them goes on alone.
const TRIAL_ROUNDS: usize = 20;
/// Draws that tell the bound and what weighted draws are worth.
const WEIGHED: usize = 2000;

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
        EnsembleOptions { starts: STARTS, first_temperature: 0.01, rounds: 500 }
    }
}

/// A distribution q(u) q(v | u) q(τ) q(α) in the place of the posterior of a network of real targets
/// with normal residuals [Hinton & van Camp 1993; MacKay 1995; Fabricius 1999, §6.3.4 and appendix C]:
///
/// - weights u of hidden units: N(ū, P⁻¹) with all correlations;
/// - output weights v given them: N(m(u), A(u)⁻¹) with A = Φᵀ diag(E τ) Φ + diag(E α) and
///   m = A⁻¹Φᵀ diag(E τ) y, Φ the units, ones and inputs with direct weights at u. No distribution is
///   better, whatever the others are; what one weight multiplies and another divides is followed;
/// - precisions of groups of weights and of residuals: gamma distributions;
/// - scales above them, where there are any: log-normal distributions.
///
/// The best of these is where **the bound** E log p - E log q of the log evidence is greatest. What is
/// expected over u is averaged over fixed points, and q(u) moves by natural gradients [Opper &
/// Archambeau 2009; Khan & Rue 2023] until the bound settles; the others are known in closed form
/// given the rest. The likelihood is raised to a power that grows to 1, so that the precisions of the
/// prior and of the noise are not settled before the weights [Fabricius 1999, §3.3].
///
/// **Draws** have precisions that are drawn given u and the levels in place of independently, and v
/// given these. So their distribution is a better one than that which was learned, its density is known,
/// and its bound is the mean of log p - log q over draws. Hidden units may change places and signs, and
/// q is at one of the many equal modes: the bound is that of the evidence of one.
#[derive(Clone, Debug)]
pub struct Ensemble<'p> {
    structure: Arc<Structure<'p>>,
    /// ū, and the factor of P.
    mean: Vec<f64>,
    factor: Cholesky,
    precisions: Vec<Precision>,
    levels: Vec<Level>,
    findings: EnsembleFindings,
}

/// What ensemble learning found besides the distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnsembleFindings {
    /// Bound of the log evidence of the targets in the user's unit, by draws.
    pub bound: f64,
    /// Its standard error.
    #[serde(default)]
    pub bound_error: f64,
    /// The bound of what is learned at the beginning of every round with all of the likelihood, by
    /// fixed points, with priors of scales that are log-normal taken for inverse gamma ones.
    pub bounds: Vec<f64>,
    /// Whether the bound settled before the rounds were spent.
    #[serde(default)]
    pub settled: bool,
    /// Whether the network is linear in its weights, so that nothing is averaged over points.
    pub exact: bool,
    /// Effective parameters γ = Σ_i (1 - E α_i Var w_i): weights that the data determine; variances of
    /// output weights are those given the mean hidden weights.
    pub effective_parameters: f64,
    /// E α of every group of weights that has a sampled precision, then E τ of the residuals, on
    /// the standardised scale.
    pub precisions: Vec<f64>,
    /// Starts among which the best was kept.
    pub starts: usize,
    /// What draws are worth as draws of the posterior; none of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worth: Option<Worth>,
}

impl EnsembleFindings {
    /// Change of the bound in the last round.
    pub fn last_change(&self) -> f64 {
        match &self.bounds[..] {
            [.., before, last] => last - before,
            _ => 0.0,
        }
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

    /// Learns the ensemble that is best for `posterior`. All that is random depends on `seed` alone.
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
        let structure = Structure::new(posterior.gaussian()?);
        let exact = structure.hidden() == 0;
        // Without hidden units there is one optimum of the weights.
        let starts = if exact { 1 } else { options.starts };
        let stream = |index| seed.stream(Purpose::Start, [index, 0]);
        let points = Points::new(structure.hidden(), &mut stream(starts as u64));
        let mut best = None;
        for start in 0..starts {
            let mut ascent = Ascent::new(&structure, &points, &mut stream(start as u64));
            let trial = options.rounds.min(TRIAL_ROUNDS);
            if ascent.warm(options).and_then(|()| ascent.climb(trial)).is_ok() {
                best = higher(best, ascent);
            }
        }
        // Precisions that are learned with the weights may switch all of these off before they
        // have found anything; a mode of the evidence framework has.
        if let (false, Ok(model)) = (exact, posterior.regularised())
            && let Ok(mode) = Evidence::best(&model, Estimation::Evidence, starts, seed)
        {
            let residuals = structure.network.residuals_at(&mode.weights);
            let mut ascent = Ascent::at(&structure, &points, (&mode.weights, &residuals));
            if ascent.climb(options.rounds.min(TRIAL_ROUNDS)).is_ok() {
                best = higher(best, ascent);
            }
        }
        let mut best = best.ok_or(ModelError::OutOfRange { what: "a network" })?;
        best.climb(options.rounds).map_err(|_| ModelError::OutOfRange { what: "a network" })?;
        let unit = structure.network.log_unit();
        let findings = EnsembleFindings {
            bound: f64::NEG_INFINITY,
            bound_error: 0.0,
            bounds: best.bounds.iter().map(|bound| bound - unit).collect(),
            settled: best.settled,
            exact,
            effective_parameters: best.effective_parameters(),
            precisions: best.precisions.iter().map(|precision| precision.mean()).collect(),
            starts,
            worth: None,
        };
        let (mean, factor) = best.canonical();
        let (precisions, levels) = (best.precisions.clone(), best.levels.clone());
        drop(best);
        let structure = Arc::new(structure);
        let mut ensemble = Ensemble { structure, mean, factor, precisions, levels, findings };
        ensemble.weigh(&mut seed.stream(Purpose::Weighted, [1, 0]));
        Ok(ensemble)
    }

    /// Finds the bound, and what draws are worth.
    fn weigh(&mut self, stream: &mut Stream) {
        let sample = self.importance_sample(WEIGHED, stream);
        let count = sample.log_weights.len() as f64;
        let mean = sample.log_weights.iter().sum::<f64>() / count;
        let squares: f64 = sample.log_weights.iter().map(|weight| (weight - mean).powi(2)).sum();
        if mean.is_finite() {
            self.findings.bound = mean;
            self.findings.bound_error = (squares / (count - 1.0) / count).sqrt();
        }
        self.findings.worth = sample.worth();
    }

    /// What was found besides the distribution.
    pub fn findings(&self) -> &EnsembleFindings {
        &self.findings
    }

    /// The bound of the log evidence, see [`Ensemble`].
    pub fn bound(&self) -> f64 {
        self.findings.bound
    }

    /// Number of weights, output weights among them.
    pub fn weight_count(&self) -> usize {
        self.structure.network.weights.len()
    }

    /// The mean of the weights of hidden units.
    pub fn mean_hidden_weights(&self) -> &[f64] {
        &self.mean
    }

    /// The covariance of the weights of hidden units.
    pub fn hidden_weight_covariance(&self) -> Matrix {
        let mut covariance = Matrix::zeros(self.mean.len(), self.mean.len());
        if !self.mean.is_empty() {
            self.factor.inverse(&mut covariance);
        }
        covariance
    }

    /// The network that the ensemble stands for.
    pub fn posterior(&self) -> &'p MlpPosterior {
        self.structure.network.posterior
    }
}

fn higher<'n>(best: Option<Ascent<'n>>, next: Ascent<'n>) -> Option<Ascent<'n>> {
    match best {
        Some(best) if best.bound() >= next.bound() => Some(best),
        _ => Some(next),
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
