//! The density of the weights given their scales, with heuristic step scales.

use super::hierarchy::Hierarchy;
use super::network::{Network, Rows, Shape};
use super::observed::{Conditioned, Observed};
use crate::density::special::LOG_SQRT_2PI;
use crate::sample::Conditional;
use crate::target::{Infeasible, LogDensity};

/// log Π N(w_i; 0, s_i²) + β log p(targets | w, residual model).
pub(super) struct WeightsConditional<'p> {
    shape: Shape,
    hierarchy: &'p Hierarchy,
    observed: &'p Observed,
    /// Σ x_k² of every input.
    input_squares: &'p [f64],
    inverse_temperature: f64,
    network: Network<'p>,
    conditioned: Conditioned,
    rows: usize,
    scales: Vec<f64>,
    precisions: Vec<f64>,
    log_constant: f64,
    step_scale: Vec<f64>,
}

impl<'p> WeightsConditional<'p> {
    pub(super) fn new(
        (shape, rows): (Shape, &'p Rows),
        hierarchy: &'p Hierarchy,
        observed: &'p Observed,
        input_squares: &'p [f64],
        inverse_temperature: f64,
    ) -> Self {
        let count = shape.len();
        WeightsConditional {
            shape,
            hierarchy,
            observed,
            input_squares,
            inverse_temperature,
            network: Network::new(shape, rows),
            conditioned: Conditioned::new(observed),
            rows: rows.len(),
            scales: vec![f64::NAN; count],
            precisions: vec![0.0; count],
            log_constant: 0.0,
            step_scale: vec![1.0; count],
        }
    }

    fn log_prior(&self, weights: &[f64]) -> f64 {
        let squares: f64 =
            weights.iter().zip(&self.precisions).map(|(w, precision)| precision * w * w).sum();
        self.log_constant - 0.5 * squares
    }

    /// (second derivative of minus log posterior)^(-1/2), from scales and data alone: it must
    /// not depend on the weights [Neal 1996, A.4; MCMCstuff manual eq. 49-55, the prior's
    /// curvature being 1/s²].
    fn find_step_scale(&mut self) {
        let (shape, beta, rows) = (self.shape, self.inverse_temperature, self.rows as f64);
        let curvatures = (0..shape.outputs).map(|o| self.conditioned.curvature(self.observed, o));
        let (inputs, hidden, outputs) = (shape.inputs, shape.hidden, shape.outputs);
        let output_weights = shape.output_weights().start;
        let (output_bias, direct) = (shape.output_bias().start, shape.direct_weights());
        let hidden_bias = shape.hidden_bias().start;
        let curvature = &mut self.step_scale;
        curvature.copy_from_slice(&self.precisions);
        for (o, at_output) in curvatures.enumerate() {
            let at_output = beta * at_output;
            curvature[output_bias + o] += rows * at_output;
            for h in 0..hidden {
                // Hidden values count as 1.
                let index = output_weights + h * outputs + o;
                curvature[index] += rows * at_output;
                let at_hidden = self.scales[index].powi(2) * at_output;
                curvature[hidden_bias + h] += rows * at_hidden;
                for k in 0..inputs {
                    let index = k * hidden + h;
                    let counts = self.network.factor(index);
                    curvature[index] += counts * self.input_squares[k] * at_hidden;
                }
            }
            if !direct.is_empty() {
                for k in 0..inputs {
                    let index = direct.start + k * outputs + o;
                    let counts = self.network.factor(index);
                    curvature[index] += counts * self.input_squares[k] * at_output;
                }
            }
        }
        for value in curvature.iter_mut() {
            *value = value.sqrt().recip().clamp(1e-150, 1e150);
        }
    }
}

impl LogDensity for WeightsConditional<'_> {
    fn dim(&self) -> usize {
        self.scales.len()
    }

    fn log_density(&mut self, weights: &[f64]) -> Result<f64, Infeasible> {
        let log_prior = self.log_prior(weights);
        if self.inverse_temperature > 0.0 {
            let likelihood = self.conditioned.likelihood(self.observed);
            let value = self.network.log_likelihood(weights, &likelihood);
            Ok(log_prior + self.inverse_temperature * (value + self.conditioned.log_constant()))
        } else {
            Ok(log_prior)
        }
    }

    fn log_density_gradient(
        &mut self,
        weights: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        let beta = self.inverse_temperature;
        let mut value = self.log_prior(weights);
        if beta > 0.0 {
            let likelihood = self.conditioned.likelihood(self.observed);
            let terms = self.network.log_likelihood_gradient(weights, &likelihood, gradient);
            value += beta * (terms + self.conditioned.log_constant());
        } else {
            gradient.fill(0.0);
        }
        for ((slot, w), precision) in gradient.iter_mut().zip(weights).zip(&self.precisions) {
            *slot = beta * *slot - precision * w;
        }
        Ok(value)
    }

    fn force(&mut self, weights: &[f64], gradient: &mut [f64]) -> Result<(), Infeasible> {
        let beta = self.inverse_temperature;
        if beta > 0.0 {
            let likelihood = self.conditioned.likelihood(self.observed);
            self.network.force(weights, &likelihood, gradient);
        } else {
            gradient.fill(0.0);
        }
        for ((slot, w), precision) in gradient.iter_mut().zip(weights).zip(&self.precisions) {
            *slot = beta * *slot - precision * w;
        }
        Ok(())
    }

    fn step_scale(&self) -> Option<&[f64]> {
        Some(&self.step_scale)
    }
}

impl Conditional for WeightsConditional<'_> {
    fn condition(&mut self, state: &[f64]) -> bool {
        let mut changed = self.conditioned.condition(self.observed, state);
        changed |= self.network.include(self.hierarchy.selection.as_ref(), state);
        let mut log_scales = 0.0;
        self.hierarchy.scales(state, &mut self.scales);
        for (precision, scale) in self.precisions.iter_mut().zip(&self.scales) {
            let value = (scale * scale).recip();
            changed |= value.to_bits() != precision.to_bits();
            *precision = value;
            log_scales += scale.ln();
        }
        if changed {
            self.log_constant = -log_scales - self.scales.len() as f64 * LOG_SQRT_2PI;
            self.find_step_scale();
        }
        changed
    }
}
