//! Weigh models by their summed log predictive densities.

use crate::density::special::log_sum_exp;
use crate::random::{Purpose, Seed};

/// Pointwise log predictive densities that cannot be compared. Indices begin at 0; the text counts
/// from 1.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PointwiseError {
    /// There is no model, or a model has no row.
    #[error("there is no log predictive density to compare; give at least one model and one row")]
    Empty,
    /// A model has another number of rows than the first.
    #[error(
        "model {} has {found} rows and model 1 has {expected}; compare models of the same rows",
        model + 1
    )]
    OtherRows {
        /// Index of the model.
        model: usize,
        /// Its rows.
        found: usize,
        /// Rows of the first model.
        expected: usize,
    },
    /// A value is NaN or +∞.
    #[error(
        "the log predictive density of row {} under model {} is {value}; it must be finite, or -inf",
        row + 1, model + 1
    )]
    NotUsable {
        /// Index of the model.
        model: usize,
        /// Index of the row.
        row: usize,
        /// The value.
        value: f64,
    },
}

/// Checks the log predictive density of every row under every model; the number of rows.
pub(super) fn checked(pointwise: &[&[f64]]) -> Result<usize, PointwiseError> {
    let expected = pointwise.first().map_or(0, |values| values.len());
    if expected == 0 {
        return Err(PointwiseError::Empty);
    }
    for (model, values) in pointwise.iter().enumerate() {
        if values.len() != expected {
            return Err(PointwiseError::OtherRows { model, found: values.len(), expected });
        }
        let unusable = |value: &f64| value.is_nan() || *value == f64::INFINITY;
        if let Some(row) = values.iter().position(unusable) {
            return Err(PointwiseError::NotUsable { model, row, value: values[row] });
        }
    }
    Ok(expected)
}

/// Weights proportional to exp(elpd), as if elpd were a log evidence. They ignore how uncertain the
/// sums are. `pointwise`: one slice per model, one log predictive density per row. [Geisser & Eddy
/// 1979; Yao et al. 2018]
///
/// # Errors
/// [`PointwiseError`].
pub fn pseudo_bma(pointwise: &[&[f64]]) -> Result<Vec<f64>, PointwiseError> {
    checked(pointwise)?;
    Ok(proportional(pointwise.iter().map(|values| values.iter().sum()).collect()))
}

/// [`pseudo_bma`] averaged over `replicates` Bayesian bootstraps of the rows, which draws the
/// weights towards each other where the sums are uncertain. [Yao et al. 2018]
///
/// # Errors
/// [`PointwiseError`].
pub fn pseudo_bma_plus(
    pointwise: &[&[f64]],
    replicates: usize,
    seed: Seed,
) -> Result<Vec<f64>, PointwiseError> {
    let rows = checked(pointwise)?;
    let mut weights = vec![0.0; pointwise.len()];
    let mut shares = vec![0.0; rows];
    for replicate in 0..replicates {
        let mut stream = seed.stream(Purpose::Bootstrap, [replicate as u64, 0]);
        // Exponential draws over their sum are Dirichlet(1, …, 1).
        shares.iter_mut().for_each(|share| *share = stream.exponential());
        let factor = rows as f64 / shares.iter().sum::<f64>();
        let elpd = |values: &&[f64]| {
            factor * values.iter().zip(&shares).map(|(value, share)| value * share).sum::<f64>()
        };
        let found = proportional(pointwise.iter().map(elpd).collect());
        weights.iter_mut().zip(&found).for_each(|(weight, found)| *weight += found);
    }
    weights.iter_mut().for_each(|weight| *weight /= replicates as f64);
    Ok(weights)
}

/// exp(x), normalised; equal shares if all are -∞.
fn proportional(mut logs: Vec<f64>) -> Vec<f64> {
    let total = log_sum_exp(&logs);
    if total == f64::NEG_INFINITY {
        let share = 1.0 / logs.len() as f64;
        logs.fill(share);
    } else {
        logs.iter_mut().for_each(|value| *value = (*value - total).exp());
    }
    logs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bootstrap_draws_weights_together_and_can_be_repeated() {
        let a: Vec<f64> = (0..30).map(|i| -1.0 + 0.5 * f64::from(i).sin()).collect();
        let b: Vec<f64> = a.iter().enumerate().map(|(i, x)| x - (i as f64).cos() - 0.1).collect();
        let plain = pseudo_bma(&[&a, &b]).expect("weights");
        let sums: [f64; 2] = [a.iter().sum(), b.iter().sum()];
        assert!(((plain[0] / plain[1]).ln() - (sums[0] - sums[1])).abs() < 1e-9);
        let plus = pseudo_bma_plus(&[&a, &b], 500, Seed(1)).expect("weights");
        assert!((plus[0] + plus[1] - 1.0).abs() < 1e-12);
        assert!(plus[0] < plain[0] && plus[0] > 0.5, "{plus:?} {plain:?}");
        // Where all rows differ alike, nothing is uncertain.
        let worse: Vec<f64> = a.iter().map(|x| x - 0.05).collect();
        let certain = pseudo_bma_plus(&[&a, &worse], 20, Seed(1)).expect("weights");
        assert!((certain[0] - pseudo_bma(&[&a, &worse]).expect("weights")[0]).abs() < 1e-12);
        assert_eq!(plus, pseudo_bma_plus(&[&a, &b], 500, Seed(1)).expect("weights"));
        assert_ne!(plus, pseudo_bma_plus(&[&a, &b], 500, Seed(2)).expect("weights"));
    }

    #[test]
    fn models_that_cannot_be_compared_are_refused() {
        assert_eq!(pseudo_bma(&[]), Err(PointwiseError::Empty));
        assert_eq!(pseudo_bma(&[&[]]), Err(PointwiseError::Empty));
        let error = pseudo_bma(&[&[-1.0, -2.0], &[-1.0]]).expect_err("refused");
        assert!(error.to_string().contains("model 2 has 1 rows"), "{error}");
        let error = pseudo_bma(&[&[-1.0, f64::NAN]]).expect_err("refused");
        assert!(error.to_string().contains("row 2 under model 1"), "{error}");
        let impossible = [f64::NEG_INFINITY, -1.0];
        assert_eq!(pseudo_bma(&[&impossible, &impossible]), Ok(vec![0.5, 0.5]));
        assert_eq!(pseudo_bma(&[&impossible, &[-1.0, -1.0]]), Ok(vec![0.0, 1.0]));
    }
}
