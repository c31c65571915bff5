//! Let functions repeat themselves: exp(-Σ_k ρ_k² sin²(π(x_k - x'_k)/p_k)).

use std::f64::consts::PI;

use posteria_linalg::{Matrix, Pairs, Points, decay};

use super::Factor;
use super::form::{Form, Weighted, scale};
use super::relevances::Relevances;

/// exp(-Σ_k u_k²), u_k = ρ_k sin θ_k, θ_k = π(x_k - x'_k)/p_k [MacKay 2003, chapter 45, without its
/// factor ½].
///
/// ∂k/∂log ρ_k = -2 k u_k², ∂k/∂log p_k = 2 k u_k ρ_k cos(θ_k) θ_k. Features are the sine, the
/// cosine and the angle πx_k/p_k of every input, so that no pair needs a sine of its own.
pub(super) struct Periodic {
    relevances: Relevances,
    periods: Vec<f64>,
}

impl Periodic {
    pub(super) fn new(factor: &Factor) -> Self {
        let periods = vec![1.0; factor.inputs.len()];
        Periodic { relevances: Relevances::new(factor), periods }
    }
}

impl Form for Periodic {
    fn set(&mut self, log_parameters: &[f64]) {
        self.relevances.set(log_parameters);
        let logs = &log_parameters[self.relevances.parameters()..];
        for (period, log) in self.periods.iter_mut().zip(logs) {
            *period = scale(*log);
        }
    }

    fn features(&self) -> usize {
        3 * self.periods.len()
    }

    fn write_features(&self, points: &Matrix, features: &mut Points) {
        let inputs = self.periods.len();
        for (k, (input, period)) in self.relevances.inputs().iter().zip(&self.periods).enumerate() {
            for (row, value) in points.column(*input).iter().enumerate() {
                let angle = PI * value / period;
                let (sine, cosine) = angle.sin_cos();
                features.column_mut(k)[row] = sine;
                features.column_mut(inputs + k)[row] = cosine;
                features.column_mut(2 * inputs + k)[row] = angle;
            }
        }
    }

    fn compare(&self, pairs: Pairs<'_>, values: &mut [f64]) {
        pairs.squared_sines(self.relevances.values(), values);
    }

    fn values(&self, values: &mut [f64]) {
        decay::squared_exponential(values);
    }

    fn sums(&self) -> usize {
        2 * self.periods.len()
    }

    fn accumulate(&self, pairs: Pairs<'_>, weighted: Weighted<'_>, sums: &mut [f64]) {
        let relevances = self.relevances.values();
        pairs.add_weighted_sines(weighted.weights, weighted.slopes, relevances, sums);
    }

    fn add_gradient(&self, totals: &[f64], gradient: &mut [f64]) {
        let (squares, angles) = totals.split_at(self.periods.len());
        self.relevances.add_gradient(-2.0, squares, gradient);
        for (derivative, sum) in gradient[self.relevances.parameters()..].iter_mut().zip(angles) {
            *derivative += 2.0 * sum;
        }
    }
}
