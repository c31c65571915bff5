//! Say what every function of a factor can compute.

use posteria_linalg::{Matrix, Pairs, Points};

/// Log scales are kept within ± this: 1e±65 and beyond are as good as 0 and infinity, and no
/// square or product of two squares overflows on the way.
pub(super) const LARGEST_LOG: f64 = 150.0;

/// exp of a log parameter, bounded.
pub(super) fn scale(log_parameter: f64) -> f64 {
    // NaN stays NaN.
    log_parameter.clamp(-LARGEST_LOG, LARGEST_LOG).exp()
}

/// A function of some inputs with values of its parameters.
///
/// Points are turned into features once per change of parameters; pairs of features are compared,
/// and comparisons turned into values for many pairs at a time. Sums over pairs are kept as
/// [`Pairs`] keeps them.
pub(super) trait Form: Send {
    /// New values of its log parameters.
    fn set(&mut self, log_parameters: &[f64]);

    /// Number of features of a point.
    fn features(&self) -> usize;

    /// Writes the features of points.
    fn write_features(&self, points: &Matrix, features: &mut Points);

    /// Compares pairs of points.
    fn compare(&self, pairs: Pairs<'_>, values: &mut [f64]);

    /// Comparisons become values.
    fn values(&self, values: &mut [f64]);

    /// Compares pairs of points where [`Form::slopes`] follows.
    fn compare_for_slopes(
        &self,
        pairs: Pairs<'_>,
        values: &mut [f64],
        slopes: &mut [f64],
        others: &mut [f64],
    ) {
        let _ = (slopes, others);
        self.compare(pairs, values);
    }

    /// Whether the slopes of pairs are their values: then [`Form::accumulate`] gets those of
    /// [`Form::values`], and [`Form::slopes`] is never called.
    fn slopes_are_values(&self) -> bool {
        true
    }

    /// Comparisons become values, and what [`Form::accumulate`] needs beside them.
    fn slopes(&self, values: &mut [f64], slopes: &mut [f64], others: &mut [f64]) {
        let _ = (slopes, others);
        self.values(values);
    }

    /// Number of sums over pairs.
    fn sums(&self) -> usize;

    /// Adds pairs to the sums that make up Σ_i w_i ∂value_i/∂log parameter.
    fn accumulate(&self, pairs: Pairs<'_>, weighted: Weighted<'_>, sums: &mut [f64]);

    /// Adds the derivatives by the log parameters that the sums make up.
    fn add_gradient(&self, totals: &[f64], gradient: &mut [f64]);

    /// k(x, x) of points.
    fn variances(&self, features: &Points, variances: &mut [f64]) {
        let _ = features;
        variances.fill(1.0);
    }
}

/// Weights of pairs, and what [`Form::slopes`] left.
#[derive(Clone, Copy)]
pub(super) struct Weighted<'a> {
    pub(super) weights: &'a [f64],
    pub(super) slopes: &'a [f64],
    pub(super) others: &'a [f64],
}
