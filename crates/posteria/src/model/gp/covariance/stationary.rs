//! Evaluate functions of the distance alone, r² = Σ_k ρ_k² (x_k - x'_k)².

use std::marker::PhantomData;

use posteria_linalg::{Matrix, Pairs, Points};

use super::Factor;
use super::form::{Form, Weighted};
use super::relevances::Relevances;

/// A correlation that decays with the distance.
pub(super) trait Decay: Send {
    /// ∂k/∂log ρ_k = -`RATE` · slope · ρ_k² (x_k - x'_k)².
    const RATE: f64;

    /// Whether slopes are the correlations themselves.
    const SLOPES_ARE_VALUES: bool = false;

    /// r² become correlations.
    fn values(values: &mut [f64]);

    /// r² become correlations; slopes are written beside them unless they are the same.
    fn slopes(values: &mut [f64], slopes: &mut [f64]);
}

/// A function of the distance alone, without further parameters.
pub(super) struct Stationary<D> {
    relevances: Relevances,
    decay: PhantomData<D>,
}

impl<D: Decay> Stationary<D> {
    pub(super) fn new(factor: &Factor) -> Self {
        Stationary { relevances: Relevances::new(factor), decay: PhantomData }
    }
}

impl<D: Decay> Form for Stationary<D> {
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
        pairs.squared_distances(values);
    }

    fn values(&self, values: &mut [f64]) {
        D::values(values);
    }

    fn slopes_are_values(&self) -> bool {
        D::SLOPES_ARE_VALUES
    }

    fn slopes(&self, values: &mut [f64], slopes: &mut [f64], _: &mut [f64]) {
        D::slopes(values, slopes);
    }

    fn sums(&self) -> usize {
        self.features()
    }

    fn accumulate(&self, pairs: Pairs<'_>, weighted: Weighted<'_>, sums: &mut [f64]) {
        pairs.add_weighted_squares(weighted.weights, weighted.slopes, sums);
    }

    fn add_gradient(&self, totals: &[f64], gradient: &mut [f64]) {
        self.relevances.add_gradient(-D::RATE, totals, gradient);
    }
}
