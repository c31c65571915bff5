//! The multivariate normal distribution, given the Cholesky factor of its covariance.

use posteria_linalg::{Cholesky, dot};

use super::ParameterError;
use super::special::LOG_SQRT_2PI;
use crate::random::Stream;

/// N(mean, Σ) with Σ = L Lᵀ.
#[derive(Clone, Debug)]
pub struct MultivariateNormal {
    mean: Vec<f64>,
    covariance: Cholesky,
    log_constant: f64,
}

impl MultivariateNormal {
    /// The normal distribution with the given mean and factorised covariance.
    ///
    /// # Errors
    /// [`ParameterError`] if the dimensions differ or the mean is not finite.
    pub fn new(mean: Vec<f64>, covariance: Cholesky) -> Result<Self, ParameterError> {
        let distribution = "a multivariate normal distribution";
        if mean.len() != covariance.dim() {
            return Err(ParameterError::WrongLength {
                distribution,
                parameter: "mean",
                expected: covariance.dim(),
                given: mean.len(),
            });
        }
        if let Some(&value) = mean.iter().find(|value| !value.is_finite()) {
            return Err(ParameterError::NotFinite { distribution, parameter: "mean", value });
        }
        let log_constant = -0.5 * covariance.log_determinant() - mean.len() as f64 * LOG_SQRT_2PI;
        Ok(MultivariateNormal { mean, covariance, log_constant })
    }

    /// Dimension.
    pub fn dim(&self) -> usize {
        self.mean.len()
    }

    /// The mean.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The factorised covariance.
    pub fn covariance(&self) -> &Cholesky {
        &self.covariance
    }

    /// log p(x). `workspace` has the dimension and ends as L⁻¹(x - mean).
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn log_density(&self, x: &[f64], workspace: &mut [f64]) -> f64 {
        assert!(x.len() == self.dim() && workspace.len() == self.dim(), "dimensions fit");
        for ((residual, x), mean) in workspace.iter_mut().zip(x).zip(&self.mean) {
            *residual = x - mean;
        }
        self.covariance.solve_lower(workspace);
        self.log_constant - 0.5 * dot(workspace, workspace)
    }

    /// log p(x); its gradient -Σ⁻¹(x - mean) goes into `gradient`.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn log_density_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let log_density = self.log_density(x, gradient);
        self.covariance.solve_lower_transposed(gradient);
        for value in gradient {
            *value = -*value;
        }
        log_density
    }

    /// Writes a draw into `x`.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn draw(&self, stream: &mut Stream, x: &mut [f64]) {
        assert_eq!(x.len(), self.dim(), "dimensions fit");
        stream.fill_normal(x);
        self.covariance.multiply_lower(x);
        for (x, mean) in x.iter_mut().zip(&self.mean) {
            *x += mean;
        }
    }
}

#[cfg(test)]
mod tests {
    use posteria_linalg::Matrix;

    use super::*;
    use crate::density::Normal;
    use crate::density::checks::{assert_derivative, assert_draws_follow, assert_relative};
    use crate::random::{Purpose, Seed};

    fn example() -> (MultivariateNormal, Matrix) {
        let entries = [[2.0, 0.5, 0.1], [0.5, 1.0, -0.3], [0.1, -0.3, 1.5]];
        let covariance = Matrix::from_fn(3, 3, |i, j| entries[i][j]);
        let cholesky = Cholesky::new(&covariance).unwrap();
        (MultivariateNormal::new(vec![0.1, 0.0, -0.5], cholesky).unwrap(), covariance)
    }

    #[test]
    fn density_matches_references_and_gradient_agrees() {
        let (normal, _) = example();
        let x = [0.3, -1.2, 2.0];
        let mut gradient = [0.0; 3];
        // mpmath, 50 digits.
        let expected = -5.591_411_757_214_086;
        assert_relative(normal.log_density_gradient(&x, &mut gradient), expected, 1e-14);
        let mut workspace = [0.0; 3];
        assert_relative(normal.log_density(&x, &mut workspace), expected, 1e-14);
        for i in 0..3 {
            assert_derivative(gradient[i], x[i], |value| {
                let mut shifted = x;
                shifted[i] = value;
                normal.log_density(&shifted, &mut [0.0; 3])
            });
        }
    }

    #[test]
    fn projections_of_draws_are_normal() {
        // All projections normal with the right mean and variance is the definition.
        let (normal, covariance) = example();
        let mut stream = Seed(1).stream(Purpose::Data, [12, 0]);
        for direction in [[1.0, 0.0, 0.0], [0.3, -1.0, 2.0], [1.0, 1.0, 1.0]] {
            let mean = dot(&direction, normal.mean());
            let variance: f64 = (0..9)
                .map(|k| direction[k / 3] * direction[k % 3] * covariance[(k / 3, k % 3)])
                .sum();
            let expected = Normal::new(mean, variance.sqrt()).unwrap();
            let mut x = [0.0; 3];
            let mut draws: Vec<f64> = (0..10_000)
                .map(|_| {
                    normal.draw(&mut stream, &mut x);
                    dot(&direction, &x)
                })
                .collect();
            assert_draws_follow(&mut draws, |x| expected.cdf(x));
        }
    }

    #[test]
    fn parameters_are_checked() {
        assert!(MultivariateNormal::new(vec![0.0], Cholesky::identity(2)).is_err());
        assert!(MultivariateNormal::new(vec![f64::NAN], Cholesky::identity(1)).is_err());
    }
}
