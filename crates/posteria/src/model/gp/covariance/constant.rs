//! Let functions share an unknown level.

use posteria_linalg::{Matrix, Pairs, Points};

use super::form::{Form, Weighted};

/// 1, whatever the points; only the magnitude of its term matters.
pub(super) struct Constant;

impl Form for Constant {
    fn set(&mut self, _: &[f64]) {}

    fn features(&self) -> usize {
        0
    }

    fn write_features(&self, _: &Matrix, _: &mut Points) {}

    fn compare(&self, _: Pairs<'_>, values: &mut [f64]) {
        values.fill(1.0);
    }

    fn values(&self, _: &mut [f64]) {}

    fn sums(&self) -> usize {
        0
    }

    fn accumulate(&self, _: Pairs<'_>, _: Weighted<'_>, _: &mut [f64]) {}

    fn add_gradient(&self, _: &[f64], _: &mut [f64]) {}
}
