//! Let functions be linear: Σ_k ρ_k² x_k x'_k.

use posteria_linalg::{Matrix, Pairs, Points};

use super::Factor;
use super::form::{Form, Weighted};
use super::relevances::Relevances;

/// Σ_k ρ_k² x_k x'_k: coefficients with standard deviations ρ_k;
/// ∂k/∂log ρ_k = 2 ρ_k² x_k x'_k.
pub(super) struct Linear {
    relevances: Relevances,
}

impl Linear {
    pub(super) fn new(factor: &Factor) -> Self {
        Linear { relevances: Relevances::new(factor) }
    }
}

impl Form for Linear {
    fn set(&mut self, log_parameters: &[f64]) {
        self.relevances.set(log_parameters);
    }

    fn features(&self) -> usize {
        self.relevances.inputs().len()
    }

    fn write_features(&self, points: &Matrix, features: &mut Points) {
        self.relevances.write(points, features, 0);
    }

    fn compare(&self, pairs: Pairs<'_>, values: &mut [f64]) {
        pairs.inner_products(values);
    }

    fn values(&self, _: &mut [f64]) {}

    fn sums(&self) -> usize {
        self.features()
    }

    fn accumulate(&self, pairs: Pairs<'_>, weighted: Weighted<'_>, sums: &mut [f64]) {
        pairs.add_weighted_products(weighted.weights, sums);
    }

    fn add_gradient(&self, totals: &[f64], gradient: &mut [f64]) {
        self.relevances.add_gradient(2.0, totals, gradient);
    }

    fn variances(&self, features: &Points, variances: &mut [f64]) {
        variances.fill(0.0);
        for k in 0..self.features() {
            for (variance, feature) in variances.iter_mut().zip(features.column(k)) {
                *variance = feature.mul_add(*feature, *variance);
            }
        }
    }
}
