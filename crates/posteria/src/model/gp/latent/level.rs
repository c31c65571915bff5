//! Shift the function of a process at all rows alike.

use posteria_linalg::{Cholesky, dot};

use super::super::marginal::Marginal;
use super::super::posterior::GpPosterior;
use crate::model::outcome::Level;

/// The log prior density of f + δ1 at fixed hyperparameters, -½ (2δ 1ᵀK⁻¹f + δ² 1ᵀK⁻¹1) and a constant.
pub(super) struct ProcessLevel<'p> {
    posterior: &'p GpPosterior,
    marginal: Marginal<'p>,
    factor: Cholesky,
    log_parameters: Vec<f64>,
    /// L⁻¹1 and L⁻¹f, K = LLᵀ.
    ones: Vec<f64>,
    function: Vec<f64>,
    /// 1ᵀK⁻¹f and 1ᵀK⁻¹1.
    linear: f64,
    square: f64,
}

impl<'p> ProcessLevel<'p> {
    pub(super) fn new(posterior: &'p GpPosterior) -> Self {
        let GpPosterior { covariance, inputs, jitter, .. } = posterior;
        ProcessLevel {
            posterior,
            marginal: Marginal::new(covariance, inputs, *jitter),
            factor: Cholesky::identity(inputs.rows()),
            log_parameters: vec![0.0; covariance.parameters().len()],
            ones: vec![0.0; inputs.rows()],
            function: vec![0.0; inputs.rows()],
            linear: f64::NAN,
            square: f64::NAN,
        }
    }
}

impl Level for ProcessLevel<'_> {
    fn enter(&mut self, state: &[f64]) -> bool {
        let hyperparameters = &self.posterior.processes[0].hyperparameters;
        hyperparameters.write_parameters(state, &mut self.log_parameters);
        self.marginal.set(&self.log_parameters);
        if self.marginal.factorize_prior(&mut self.factor).is_err() {
            return false;
        }
        self.ones.fill(1.0);
        self.function.copy_from_slice(&state[self.posterior.latents.clone()]);
        self.factor.solve_lower(&mut self.ones);
        self.factor.solve_lower(&mut self.function);
        self.linear = dot(&self.ones, &self.function);
        self.square = dot(&self.ones, &self.ones);
        self.linear.is_finite() && self.square.is_finite()
    }

    fn log_prior(&mut self, shift: f64) -> f64 {
        -shift * (self.linear + 0.5 * shift * self.square)
    }

    fn shift(&self, shift: f64, state: &mut [f64]) {
        state[self.posterior.latents.clone()].iter_mut().for_each(|f| *f += shift);
    }
}
