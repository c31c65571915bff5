//! The rows that draws are judged by: fitted values at some rows of the fit, errors at test rows.

use posteria_linalg::Matrix;

use super::ModelError;
use super::usable::usable;
use crate::data::{Dataset, Standardization};

/// Most rows whose fitted values are kept with every draw, to judge convergence by.
const FITTED_ROWS: usize = 100;

/// The rows of so many whose fitted values are kept, evenly spaced.
pub(super) fn fitted_rows(rows: usize) -> Vec<usize> {
    let kept = rows.min(FITTED_ROWS);
    (0..kept).map(|index| index * rows / kept).collect()
}

/// Rows whose error is recorded with every draw; `X` holds their inputs.
pub(super) struct TestRows<X> {
    pub(super) inputs: X,
    /// As [`Targets::numbers`](crate::data::Targets) has them.
    pub(super) targets: Vec<f64>,
    /// Log exposures of counts.
    pub(super) offsets: Option<Vec<f64>>,
}

impl<X> TestRows<X> {
    /// Those of a dataset that is encoded like the one of the fit.
    ///
    /// # Errors
    /// [`ModelError`] if they are not usable.
    pub(super) fn new(test: &Dataset, inputs: impl Fn(&Matrix) -> X) -> Result<Self, ModelError> {
        usable(test)?;
        let (targets, offsets) = (test.targets.numbers(), test.offsets.clone());
        Ok(TestRows { inputs: inputs(&test.inputs), targets, offsets })
    }
}

/// Root mean square error in the user's unit over rows and targets; functions and targets are
/// standardised, o·n + i.
pub(super) fn root_mean_square_error(
    functions: &[f64],
    targets: &[f64],
    scaling: &[Standardization],
) -> f64 {
    let rows = functions.len() / scaling.len();
    let errors = || {
        let pairs = functions.iter().zip(targets).enumerate();
        pairs.map(|(index, (f, y))| (y - f) * scaling[index / rows].scale)
    };
    // In units of the largest error, whose square need not be a number.
    let largest = errors().fold(f64::MIN_POSITIVE, |most, error| most.max(error.abs()));
    let sum: f64 = errors().map(|error| (error / largest).powi(2)).sum();
    (sum / functions.len() as f64).sqrt() * largest
}

/// The share of rows with these codes whose most probable class is another.
pub(super) fn wrong_share(codes: &[f64], most_probable: impl Fn(usize) -> usize) -> f64 {
    let wrong =
        codes.iter().enumerate().filter(|(row, code)| most_probable(*row) != **code as usize);
    wrong.count() as f64 / codes.len() as f64
}

/// The class with the largest value, the last of those that are equal.
pub(super) fn largest(classes: usize, value: impl Fn(usize) -> f64) -> usize {
    (0..classes).max_by(|a, b| value(*a).total_cmp(&value(*b))).unwrap_or(0)
}
