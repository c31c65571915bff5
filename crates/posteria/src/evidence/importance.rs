//! Weigh draws of a distribution that is known.

use std::num::NonZero;

use super::estimate::{LogEvidence, Method};
use super::replica::Energy;
use crate::approximate::Approximation;
use crate::assess::{ImportanceWeights, Smoothing, importance_weights, pareto_shape_limit};
use crate::caution::{Caution, EvidenceDoubt};
use crate::density::special::log_sum_exp;
use crate::fit::run_jobs;
use crate::model::Posterior;
use crate::random::{Purpose, Seed};

/// Draws of one job: fixed, so that no number depends on the threads.
const BATCH: usize = 500;
/// Fewest effective draws that a mean weight can be trusted with.
const FEWEST: f64 = 50.0;
/// What streams of proposals are for.
const PHASE: u64 = 8;

/// Importance sampling [Fabricius 1999, eq. 5.7]: the mean of p(D, ω)/q(ω) over `count` draws of
/// an approximation q of the posterior.
pub fn importance(
    posterior: &dyn Posterior,
    approximation: &dyn Approximation,
    count: usize,
    seed: Seed,
    threads: NonZero<usize>,
) -> LogEvidence {
    let batches = run_jobs(count.div_ceil(BATCH), threads, |batch| {
        let mut stream = seed.stream(Purpose::Evidence, [batch as u64, PHASE]);
        let mut energy = Energy::new(posterior);
        let mut state = vec![0.0; posterior.state_len()];
        let mut weigh = |_| {
            approximation.draw(&mut state, &mut stream);
            energy.log_joint(&state) - approximation.log_density(&state)
        };
        (0..BATCH.min(count - batch * BATCH)).map(&mut weigh).collect::<Vec<f64>>()
    });
    summarize_weights(Method::Importance, &batches.concat())
}

/// Importance sampling from the prior: the mean likelihood of its draws. `None` if the model
/// cannot draw from it.
pub fn importance_from_prior(
    posterior: &dyn Posterior,
    count: usize,
    seed: Seed,
    threads: NonZero<usize>,
) -> Option<LogEvidence> {
    posterior.prior_state(&mut seed.stream(Purpose::Evidence, [0, PHASE + 1]))?;
    let batches = run_jobs(count.div_ceil(BATCH), threads, |batch| {
        let mut stream = seed.stream(Purpose::Evidence, [batch as u64, PHASE + 1]);
        let mut energy = Energy::new(posterior);
        let mut weigh = |_| match posterior.prior_state(&mut stream) {
            Some(state) => energy.of(&state),
            None => f64::NEG_INFINITY,
        };
        (0..BATCH.min(count - batch * BATCH)).map(&mut weigh).collect::<Vec<f64>>()
    });
    Some(summarize_weights(Method::Importance, &batches.concat()))
}

/// The logarithm of the mean of independent weights, with its standard error √(1/S - 1/N): S is
/// the effective number (Σ w)² / Σ w² of the N draws. Not usable where S is below 50, or where the
/// largest weights have a tail so heavy that their mean does not settle: a Pareto shape above
/// [`pareto_shape_limit`] [Vehtari et al. 2024].
pub fn summarize_weights(method: Method, log_weights: &[f64]) -> LogEvidence {
    let usable = |weight: &f64| if weight.is_nan() { f64::NEG_INFINITY } else { *weight };
    let log_weights: Vec<f64> = log_weights.iter().map(usable).collect();
    let doubled: Vec<f64> = log_weights.iter().map(|weight| 2.0 * weight).collect();
    let (count, total) = (log_weights.len() as f64, log_sum_exp(&log_weights));
    let effective_size = (2.0 * total - log_sum_exp(&doubled)).exp();
    let error = (effective_size.recip() - count.recip()).max(0.0).sqrt();
    let found = LogEvidence::new(method, total - count.ln(), error);
    let draws = log_weights.len();
    if effective_size.is_nan() || effective_size < FEWEST {
        let doubt = EvidenceDoubt::FewWeights { effective_size, draws };
        return found.doubted(Caution::Evidence(doubt));
    }
    let limit = pareto_shape_limit(draws);
    match importance_weights(&log_weights, Smoothing::Plain, 1.0) {
        Ok(weights) if weights.pareto_shape <= limit => found,
        Ok(ImportanceWeights { pareto_shape: shape, .. }) => {
            found.doubted(Caution::Evidence(EvidenceDoubt::HeavyWeights { shape, limit }))
        }
        // No weight at all: the value is not finite, and not usable as it is.
        Err(_) => found,
    }
}
