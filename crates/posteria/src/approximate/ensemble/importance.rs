//! Correct an ensemble by importance weights, with their effective number.

use serde::{Deserialize, Serialize};

use super::Ensemble;
use crate::density::special::log_sum_exp;
use crate::diagnose::importance::{Smoothing, importance_weights};
use crate::draws::Draws;
use crate::model::Posterior;
use crate::random::Stream;

/// Draws from an ensemble with the weights that make them draws of the posterior
/// [Fabricius 1999, eq. 6.63 and 6.66].
#[derive(Clone, Debug)]
pub struct ImportanceSample {
    /// The draws, as the network's posterior names them: one chain.
    pub draws: Draws,
    /// log p - log q of every draw, not normalised; -∞ where the posterior has no density.
    pub log_weights: Vec<f64>,
    /// Logarithm of the mean weight: an estimate of the log evidence of the targets in the
    /// user's unit. The mean is that of one mode: with hidden units that may change places and
    /// signs it misses a factor of their number.
    pub log_evidence: f64,
    /// (Σ w)² / Σ w²: how many draws of the posterior the sample is worth. Small values say that
    /// the ensemble is far from the posterior, and nothing estimated by the weights is to be
    /// trusted.
    pub effective_size: f64,
    /// Σ_i (1 - Var w_i/a_i), weights in units of their scales over the draws as they are.
    pub effective_parameters: f64,
}

/// What draws of an ensemble are worth as draws of the posterior.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Worth {
    /// Number of draws that were weighted.
    pub draws: usize,
    /// Effective number of them.
    pub effective_size: f64,
    /// Pareto shape k of the largest weights; none where these do not tell one.
    pub pareto_shape: Option<f64>,
}

impl Ensemble<'_> {
    /// Draws `count` states and weighs them.
    ///
    /// # Panics
    /// If `count` is 0.
    pub fn importance_sample(&self, count: usize, stream: &mut Stream) -> ImportanceSample {
        assert!(count > 0, "at least one draw");
        let posterior = self.posterior();
        let mut evaluator = posterior.evaluator();
        let layout = posterior.layout().clone();
        let weights = posterior.weight_count();
        let mut state = vec![0.0; posterior.state_len()];
        let mut position = vec![0.0; self.normal.mean.len()];
        let mut draw = vec![0.0; layout.len()];
        let mut log_likelihood = vec![0.0; posterior.rows()];
        let (mut values, mut log_weights) = (Vec::new(), Vec::new());
        // Of weights in units of their scales.
        let (mut sums, mut squares) = (vec![0.0; weights], vec![0.0; weights]);
        let mut coordinates = self.coordinates().ok();
        for _ in 0..count {
            let mut log_weight = f64::NEG_INFINITY;
            if let Some(target) = &mut coordinates {
                target.enter(&self.template, &mut position);
                self.normal.draw(&mut position, stream);
                state.copy_from_slice(&self.template);
                let density = target.log_density(&position);
                target.leave(&position, &mut state, stream);
                if let (Ok(density), Ok(_)) =
                    (density, evaluator.evaluate(&state, &mut draw, &mut log_likelihood))
                {
                    log_weight = density + posterior.ensemble_constant()
                        - self.normal.log_density(&position);
                }
            }
            let scales = posterior.prior_scales(&state);
            for (weight, scale) in scales.iter().enumerate() {
                let own = state[weight] / scale;
                sums[weight] += own;
                squares[weight] += own * own;
            }
            log_weights.push(if log_weight.is_nan() { f64::NEG_INFINITY } else { log_weight });
            values.extend_from_slice(&draw);
        }
        let share = 1.0 / count as f64;
        let moments = sums.iter().zip(&squares);
        let effective_parameters =
            moments.map(|(sum, square)| 1.0 - share * (square - share * sum * sum)).sum();
        let total = log_sum_exp(&log_weights);
        let doubled: Vec<f64> = log_weights.iter().map(|weight| 2.0 * weight).collect();
        ImportanceSample {
            draws: Draws { draws: count, values, ..Draws::empty(layout, 1, 0) },
            log_evidence: total - (count as f64).ln(),
            effective_size: (2.0 * total - log_sum_exp(&doubled)).exp(),
            log_weights,
            effective_parameters,
        }
    }
}

impl ImportanceSample {
    /// What the draws are worth. `None` if no draw is possible under the posterior.
    pub fn worth(&self) -> Option<Worth> {
        let weights = importance_weights(&self.log_weights, Smoothing::Plain, 1.0).ok()?;
        let shape = weights.pareto_shape;
        Some(Worth {
            draws: self.log_weights.len(),
            effective_size: self.effective_size,
            pareto_shape: shape.is_finite().then_some(shape),
        })
    }

    /// `count` draws in proportion to the weights, each drawn as often as its share says to within
    /// one (systematic resampling): what is averaged over them is averaged by the weights.
    /// `None` if no draw is possible under the posterior.
    pub fn resampled(&self, count: usize, stream: &mut Stream) -> Option<Draws> {
        let total = log_sum_exp(&self.log_weights);
        if !total.is_finite() {
            return None;
        }
        let len = self.draws.layout.len();
        let mut values = Vec::with_capacity(count * len);
        let (mut next, mut sum) = (stream.uniform(), 0.0);
        let mut taken = 0;
        for (draw, weight) in self.draws.values.chunks(len).zip(&self.log_weights) {
            sum += (weight - total).exp() * count as f64;
            while next < sum && taken < count {
                values.extend_from_slice(draw);
                (next, taken) = (next + 1.0, taken + 1);
            }
        }
        // Rounding may leave the last place open.
        let layout = self.draws.layout.clone();
        Some(Draws { draws: taken, values, ..Draws::empty(layout, 1, 0) })
    }
}
