//! Let functions be networks with infinitely many hidden units of error function shape.

use std::f64::consts::PI;

use posteria_linalg::{Matrix, Pairs, Points, decay};

use super::Factor;
use super::form::{Form, Weighted, scale};
use super::relevances::Relevances;

/// (2/π) asin(2s / √(D D')), s = b² + Σ_k ρ_k² x_k x'_k, D = 1 + 2s(x, x), with the standard
/// deviation b of the bias of a hidden unit [Williams 1998].
///
/// With z = (b, ρ_1 x_1, …) and Δ = D D' - 4s²,
/// ∂k/∂log ρ_k = (8/π) Δ^(-½) (z_k z'_k - s z_k²/D - s z'_k²/D'), and the same for log b.
/// Features are z and |z|².
pub(super) struct NeuralNetwork {
    relevances: Relevances,
    bias: f64,
}

impl NeuralNetwork {
    pub(super) fn new(factor: &Factor) -> Self {
        NeuralNetwork { relevances: Relevances::new(factor), bias: 1.0 }
    }

    /// Number of z.
    fn columns(&self) -> usize {
        self.relevances.inputs().len() + 1
    }
}

impl Form for NeuralNetwork {
    fn set(&mut self, log_parameters: &[f64]) {
        self.relevances.set(log_parameters);
        self.bias = scale(log_parameters[self.relevances.parameters()]);
    }

    fn features(&self) -> usize {
        self.columns() + 1
    }

    fn write_features(&self, points: &Matrix, features: &mut Points) {
        features.column_mut(0).fill(self.bias);
        self.relevances.write(points, features, 1);
        for row in 0..features.rows() {
            let norm = (0..self.columns()).fold(0.0, |sum: f64, k| {
                let feature = features.column(k)[row];
                feature.mul_add(feature, sum)
            });
            features.column_mut(self.columns())[row] = norm;
        }
    }

    fn compare(&self, pairs: Pairs<'_>, values: &mut [f64]) {
        pairs.arcsine_arguments(values);
    }

    fn values(&self, values: &mut [f64]) {
        decay::arcsine(values);
    }

    fn compare_for_slopes(
        &self,
        pairs: Pairs<'_>,
        values: &mut [f64],
        slopes: &mut [f64],
        others: &mut [f64],
    ) {
        pairs.arcsine_arguments_with_slopes(values, slopes, others);
    }

    fn slopes_are_values(&self) -> bool {
        false
    }

    fn slopes(&self, values: &mut [f64], _: &mut [f64], _: &mut [f64]) {
        decay::arcsine(values);
    }

    fn sums(&self) -> usize {
        self.columns()
    }

    fn accumulate(&self, pairs: Pairs<'_>, weighted: Weighted<'_>, sums: &mut [f64]) {
        let Weighted { weights, slopes, others } = weighted;
        pairs.add_weighted_arcsines(weights, slopes, others, sums);
    }

    fn add_gradient(&self, totals: &[f64], gradient: &mut [f64]) {
        self.relevances.add_gradient(8.0 / PI, &totals[1..], gradient);
        gradient[self.relevances.parameters()] += 8.0 / PI * totals[0];
    }

    fn variances(&self, features: &Points, variances: &mut [f64]) {
        for (variance, norm) in variances.iter_mut().zip(features.column(self.columns())) {
            *variance = 2.0 / PI * (2.0 * norm / (1.0 + 2.0 * norm)).asin();
        }
    }
}
