//! Turn a state into a draw on the user's scale with the log likelihood of every row.

use posteria_linalg::matrix_vector;

use super::coefficients::{GroupScale, log_normal};
use super::posterior::{Likelihood, LinearPosterior};
use crate::density::special::{LOG_SQRT_2PI, log1p_exp};
use crate::model::Evaluator;
use crate::target::{Infeasible, Terms};

/// Evaluates states of one chain.
pub(super) struct LinearEvaluator<'p> {
    posterior: &'p LinearPosterior,
    outputs: Vec<f64>,
}

impl<'p> LinearEvaluator<'p> {
    pub(super) fn new(posterior: &'p LinearPosterior) -> Self {
        LinearEvaluator { posterior, outputs: vec![0.0; posterior.x.rows()] }
    }
}

impl Evaluator for LinearEvaluator<'_> {
    fn evaluate(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        log_likelihood: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        let LinearPosterior { x, coefficients, likelihood, user, .. } = self.posterior;
        let values = &state[..coefficients.count];
        let mut next = user.write(values, draw);
        for group in &coefficients.groups {
            if let GroupScale::Sampled(slot, _) = group.scale {
                draw[next] = state[slot].exp();
                next += 1;
            }
        }
        let mut log_prior = coefficients.log_prior(state);
        matrix_vector(x, values, &mut self.outputs);
        match likelihood {
            Likelihood::Normal(regression) => {
                let log_scale = state[coefficients.state_len];
                draw[next] = user.target.scale * log_scale.exp();
                log_prior += regression.residual.log_density_of_log_scale(log_scale);
                if let Some(conjugate) = &regression.conjugate {
                    log_prior += log_normal(values, log_scale - 0.5 * conjugate.rho.ln());
                }
                let inverse_scale = (-log_scale).exp();
                // In the user's unit: one factor dy'/dy = 1/scale.
                let constant = LOG_SQRT_2PI + log_scale + user.target.scale.ln();
                for ((slot, target), output) in
                    log_likelihood.iter_mut().zip(&regression.targets).zip(&self.outputs)
                {
                    let z = (target - output) * inverse_scale;
                    *slot = -0.5 * z * z - constant;
                }
            }
            Likelihood::Logistic(signs) => {
                for ((slot, sign), output) in
                    log_likelihood.iter_mut().zip(signs).zip(&self.outputs)
                {
                    *slot = -log1p_exp(-sign * output);
                }
            }
        }
        let terms = Terms { log_prior, log_likelihood: log_likelihood.iter().sum() };
        if terms.at(1.0).is_finite() && draw.iter().all(|value| value.is_finite()) {
            Ok(terms)
        } else {
            Err(Infeasible::NotFinite)
        }
    }
}
