//! Turn a state of a mixture into a draw on the user's scale with the log likelihood of every row.

use posteria_linalg::{Cholesky, Matrix};

use super::approximation::{block_len, unpack};
use super::posterior::MixturePosterior;
use crate::density::special::{LOG_SQRT_2PI, log_sum_exp};
use crate::model::Evaluator;
use crate::target::{Infeasible, Terms};

/// Evaluates states of one chain.
pub(super) struct MixtureEvaluator<'p> {
    posterior: &'p MixturePosterior,
    /// Factor of the precision of one component, and its covariance.
    factor: Cholesky,
    covariance: Matrix,
    /// log π_k N(x_i; μ_k, Λ_k⁻¹) at i · components + k.
    log_joint: Vec<f64>,
    off: Vec<f64>,
}

impl<'p> MixtureEvaluator<'p> {
    pub(super) fn new(posterior: &'p MixturePosterior) -> Self {
        let dim = posterior.dim();
        MixtureEvaluator {
            posterior,
            factor: Cholesky::identity(dim),
            covariance: Matrix::zeros(dim, dim),
            log_joint: vec![0.0; posterior.rows_count() * posterior.components()],
            off: vec![0.0; dim],
        }
    }

    /// Writes component `k`, whose factor is at hand, into the draw.
    fn write(&mut self, k: usize, mean: &[f64], draw: &mut [f64]) {
        let MixturePosterior { scaling, .. } = self.posterior;
        let (count, dim) = (self.posterior.components(), mean.len());
        self.factor.inverse(&mut self.covariance);
        let (means, rest) = draw[count..].split_at_mut(count * dim);
        let (sds, correlations) = rest.split_at_mut(count * dim);
        let pairs = dim * (dim - 1) / 2;
        let correlations = &mut correlations[k * pairs..][..pairs];
        let mut pair = 0;
        for (column, scaling) in scaling.iter().enumerate() {
            means[k * dim + column] = scaling.invert(mean[column]);
            let sd = self.covariance[(column, column)].sqrt();
            sds[k * dim + column] = scaling.scale * sd;
            for before in 0..column {
                let other = self.covariance[(before, before)].sqrt();
                correlations[pair] = self.covariance[(column, before)] / (sd * other);
                pair += 1;
            }
        }
    }
}

impl Evaluator for MixtureEvaluator<'_> {
    fn evaluate(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        log_likelihood: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        let posterior = self.posterior;
        let (count, dim) = (posterior.components(), posterior.dim());
        let (logs, blocks) = state.split_at(count);
        for (slot, log) in draw.iter_mut().zip(logs) {
            *slot = log.exp();
        }
        for (k, block) in blocks.chunks_exact(block_len(dim)).enumerate() {
            let (mean, packed) = block.split_at(dim);
            unpack(packed, self.factor.matrix_mut());
            self.write(k, mean, draw);
            let constant =
                logs[k] + 0.5 * self.factor.log_determinant() - dim as f64 * LOG_SQRT_2PI;
            for (x, own) in
                posterior.rows.chunks_exact(dim).zip(self.log_joint.chunks_exact_mut(count))
            {
                for ((slot, x), mean) in self.off.iter_mut().zip(x).zip(mean) {
                    *slot = x - mean;
                }
                self.factor.multiply_lower_transposed(&mut self.off);
                let distance: f64 = self.off.iter().map(|z| z * z).sum();
                own[k] = constant - 0.5 * distance;
            }
        }
        let unit = posterior.log_unit();
        for (slot, own) in log_likelihood.iter_mut().zip(self.log_joint.chunks_exact(count)) {
            *slot = log_sum_exp(own) - unit;
        }
        let log_prior = posterior.prior.log_density(state);
        Terms { log_prior, log_likelihood: log_likelihood.iter().sum() }.with_finite(draw)
    }
}
