//! Mix squared exponentials of many length scales: (1 + r²/α)^(-α).

use posteria_linalg::{Matrix, Pairs, Points, decay, dot};

use super::Factor;
use super::form::{Form, Weighted, scale};
use super::relevances::Relevances;

/// (1 + q)^(-α), q = r²/α; the squared exponential as α → ∞
/// [Rasmussen and Williams 2006, §4.2.1].
///
/// ∂k/∂log ρ_k = -2 k/(1 + q) ρ_k² (x_k - x'_k)², ∂k/∂log α = α k (q/(1 + q) - log(1 + q)).
pub(super) struct RationalQuadratic {
    relevances: Relevances,
    shape: f64,
}

impl RationalQuadratic {
    pub(super) fn new(factor: &Factor) -> Self {
        RationalQuadratic { relevances: Relevances::new(factor), shape: 1.0 }
    }
}

impl Form for RationalQuadratic {
    fn set(&mut self, log_parameters: &[f64]) {
        self.relevances.set(log_parameters);
        self.shape = scale(log_parameters[self.relevances.parameters()]);
    }

    fn features(&self) -> usize {
        self.relevances.inputs().len()
    }

    fn write_features(&self, points: &Matrix, features: &mut Points) {
        self.relevances.write(points, features, 0);
    }

    fn compare(&self, pairs: Pairs<'_>, values: &mut [f64]) {
        pairs.squared_distances(values);
    }

    fn values(&self, values: &mut [f64]) {
        decay::rational_quadratic(values, self.shape);
    }

    fn slopes_are_values(&self) -> bool {
        false
    }

    fn slopes(&self, values: &mut [f64], slopes: &mut [f64], others: &mut [f64]) {
        decay::rational_quadratic_with_slopes(values, self.shape, slopes, others);
    }

    fn sums(&self) -> usize {
        self.features() + 1
    }

    fn accumulate(&self, pairs: Pairs<'_>, weighted: Weighted<'_>, sums: &mut [f64]) {
        pairs.add_weighted_squares(weighted.weights, weighted.slopes, sums);
        // The first of the partial sums holds all of it.
        sums[self.features() * Points::LANES] += dot(weighted.weights, weighted.others);
    }

    fn add_gradient(&self, totals: &[f64], gradient: &mut [f64]) {
        let (each, shape) = totals.split_at(self.features());
        self.relevances.add_gradient(-2.0, each, gradient);
        gradient[self.relevances.parameters()] += shape[0];
    }
}
