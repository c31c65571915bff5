//! Turn a state into a draw on the user's scale with the log likelihood of every row.

use super::approximation::log_precisions;
use super::low_rank::LowRank;
use super::posterior::PcaPosterior;
use crate::density::special::LOG_SQRT_2PI;
use crate::model::Evaluator;
use crate::target::{Infeasible, Terms};

/// Evaluates states of one chain.
pub(super) struct PcaEvaluator<'p> {
    posterior: &'p PcaPosterior,
    density: LowRank,
}

impl<'p> PcaEvaluator<'p> {
    pub(super) fn new(posterior: &'p PcaPosterior) -> Self {
        let density = LowRank::new(posterior.dim(), posterior.components());
        PcaEvaluator { posterior, density }
    }
}

impl Evaluator for PcaEvaluator<'_> {
    fn evaluate(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        log_likelihood: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        let posterior = self.posterior;
        let (dim, q) = (posterior.dim(), posterior.components());
        let (means, rest) = state.split_at(dim);
        let (loadings, logs) = rest.split_at(dim * q);
        let (scales, log_noise) = (&logs[..q], logs[q]);
        let (draw_means, rest) = draw.split_at_mut(dim);
        let (draw_loadings, rest) = rest.split_at_mut(dim * q);
        let (draw_scales, draw_noise) = rest.split_at_mut(q);
        let noise_sd = (-0.5 * log_noise).exp();
        self.density.mean.copy_from_slice(means);
        for (column, scaling) in posterior.scaling.iter().enumerate() {
            draw_means[column] = scaling.invert(means[column]);
            draw_noise[column] = scaling.scale * noise_sd;
            for k in 0..q {
                let own = loadings[column * q + k];
                draw_loadings[column * q + k] = scaling.scale * own;
                self.density.loadings[(column, k)] = own;
            }
        }
        for (slot, log) in draw_scales.iter_mut().zip(scales) {
            *slot = (-0.5 * log).exp();
        }
        if !self.density.set_precision(log_noise.exp()) {
            return Err(Infeasible::NotFinite);
        }
        let unit = posterior.log_unit();
        for (row, slot) in log_likelihood.iter_mut().enumerate() {
            let inputs = &posterior.inputs;
            *slot = self.density.log_density(|column| inputs[(row, column)]) - unit;
        }
        let log_prior = log_prior(posterior, state);
        Terms { log_prior, log_likelihood: log_likelihood.iter().sum() }.with_finite(draw)
    }
}

/// Log prior density of a state.
pub(super) fn log_prior(posterior: &PcaPosterior, state: &[f64]) -> f64 {
    let (dim, q) = (posterior.dim(), posterior.components());
    let prior = &posterior.prior;
    let (means, rest) = state.split_at(dim);
    let (loadings, logs) = rest.split_at(dim * q);
    let normal = |x: f64, log_precision: f64| {
        0.5 * (log_precision - log_precision.exp() * x * x) - LOG_SQRT_2PI
    };
    let log_beta = prior.mean_precision.ln();
    let means: f64 = means.iter().map(|x| normal(*x, log_beta)).sum();
    let each = loadings.iter().enumerate();
    let loadings: f64 = each.map(|(index, w)| normal(*w, logs[index % q])).sum();
    let gammas = std::iter::repeat_n(&prior.loadings, q).chain([&prior.noise]);
    means + loadings + log_precisions(logs, gammas)
}
