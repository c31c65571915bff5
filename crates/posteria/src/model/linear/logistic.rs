//! The density of the coefficients of a logistic regression, given their scales.

use posteria_linalg::{Matrix, matrix_vector, transposed_matrix_vector};

use super::coefficients::Coefficients;
use crate::density::special::LOG_SQRT_2PI;
use crate::sample::Conditional;
use crate::target::{Infeasible, LogDensity};

/// Rows whose factors 1 + exp(-|f|) are multiplied before one logarithm is taken: each is at
/// most 2, so the product stays below 2^512.
const BLOCK: usize = 512;

/// log Π N(w_k; 0, a_k²) - β Σ_i log(1 + exp(-s_i f_i)), with s_i = ±1 for the class of row i.
pub(super) struct LogisticConditional<'p> {
    x: &'p Matrix,
    signs: &'p [f64],
    coefficients: &'p Coefficients,
    inverse_temperature: f64,
    precisions: Vec<f64>,
    log_constant: f64,
    outputs: Vec<f64>,
}

impl<'p> LogisticConditional<'p> {
    pub(super) fn new(
        x: &'p Matrix,
        signs: &'p [f64],
        coefficients: &'p Coefficients,
        inverse_temperature: f64,
    ) -> Self {
        LogisticConditional {
            x,
            signs,
            coefficients,
            inverse_temperature,
            precisions: vec![0.0; coefficients.count],
            log_constant: 0.0,
            outputs: vec![0.0; x.rows()],
        }
    }

    fn log_prior(&self, position: &[f64]) -> f64 {
        let squares: f64 =
            position.iter().zip(&self.precisions).map(|(w, precision)| precision * w * w).sum();
        self.log_constant - 0.5 * squares
    }

    /// Log likelihood; leaves in `outputs` its derivative with respect to every output.
    fn log_likelihood(&mut self, position: &[f64]) -> f64 {
        matrix_vector(self.x, position, &mut self.outputs);
        let mut sum = 0.0;
        for (outputs, signs) in self.outputs.chunks_mut(BLOCK).zip(self.signs.chunks(BLOCK)) {
            let mut product = 1.0;
            for (output, sign) in outputs.iter_mut().zip(signs) {
                // log(1 + exp(-m)) = max(-m, 0) + log(1 + exp(-|m|)), nothing overflows.
                let margin = sign * *output;
                let small = (-margin.abs()).exp();
                sum += margin.min(0.0);
                product *= 1.0 + small;
                // P(the other class): 1 / (1 + exp(m)).
                let other = if margin > 0.0 { small } else { 1.0 } / (1.0 + small);
                *output = sign * other;
            }
            sum -= product.ln();
        }
        sum
    }
}

impl LogDensity for LogisticConditional<'_> {
    fn dim(&self) -> usize {
        self.coefficients.count
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        let log_prior = self.log_prior(position);
        if self.inverse_temperature > 0.0 {
            Ok(log_prior + self.inverse_temperature * self.log_likelihood(position))
        } else {
            Ok(log_prior)
        }
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        let log_density = self.log_density(position)?;
        if self.inverse_temperature > 0.0 {
            transposed_matrix_vector(self.x, &self.outputs, gradient);
        } else {
            gradient.fill(0.0);
        }
        for ((gradient, w), precision) in gradient.iter_mut().zip(position).zip(&self.precisions) {
            *gradient = self.inverse_temperature * *gradient - precision * w;
        }
        Ok(log_density)
    }
}

impl Conditional for LogisticConditional<'_> {
    fn condition(&mut self, state: &[f64]) -> bool {
        let changed = self.coefficients.precisions(state, &mut self.precisions);
        if changed {
            let log_precisions: f64 = self.precisions.iter().map(|p| p.ln()).sum();
            self.log_constant = 0.5 * log_precisions - self.precisions.len() as f64 * LOG_SQRT_2PI;
        }
        changed
    }
}
