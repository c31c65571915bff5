//! The normal-Wishart distribution of the mean and the precision of normal rows.

use std::f64::consts::{LN_2, PI};

use posteria_linalg::{Cholesky, Matrix, dot};

use super::error::positive;
use super::special::{LOG_SQRT_2PI, digamma, ln_gamma, ln_gamma_multivariate};
use super::wishart::check_dof;
use super::{ParameterError, Wishart};

const NAME: &str = "a normal-Wishart distribution";

/// Normal-Wishart(m, β, W, ν): Λ ~ Wishart(W, ν) and μ given Λ ~ N(m, (βΛ)⁻¹), so that
///
/// p(μ, Λ) = |Λ|^((ν-d)/2) exp(-½ tr W⁻¹Λ - ½ β (μ-m)ᵀΛ(μ-m)) / Z,
/// Z = (2π/β)^(d/2) 2^(νd/2) |W|^(ν/2) Γ_d(ν/2).
///
/// It is conjugate to rows x ~ N(μ, Λ⁻¹) [Bishop 2006, §2.3.6].
#[derive(Clone, Debug)]
pub struct NormalWishart {
    mean: Vec<f64>,
    beta: f64,
    dof: f64,
    /// W⁻¹ and its factor.
    inverse_scale: Matrix,
    cholesky: Cholesky,
}

impl NormalWishart {
    /// The distribution with these m, β, W⁻¹ (its lower half is read) and ν > d - 1.
    ///
    /// # Errors
    /// [`ParameterError`] unless W⁻¹ is positive definite, β positive, ν large enough and all
    /// finite.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn new(
        mean: Vec<f64>,
        beta: f64,
        inverse_scale: Matrix,
        dof: f64,
    ) -> Result<Self, ParameterError> {
        let dim = mean.len();
        assert!(inverse_scale.rows() == dim && inverse_scale.columns() == dim, "dimensions fit");
        check_dof(NAME, dim, dof)?;
        positive(NAME, "beta", beta)?;
        if let Some(&value) = mean.iter().find(|value| !value.is_finite()) {
            let (distribution, parameter) = (NAME, "mean");
            return Err(ParameterError::NotFinite { distribution, parameter, value });
        }
        let cholesky =
            Cholesky::new(&inverse_scale).map_err(|error| ParameterError::NotPositiveDefinite {
                distribution: NAME,
                parameter: "the inverse scale matrix",
                pivot: error.pivot,
            })?;
        Ok(NormalWishart { mean, beta, dof, inverse_scale, cholesky })
    }

    /// Dimension d.
    pub fn dim(&self) -> usize {
        self.mean.len()
    }

    /// The mean m.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// β: the rows that the knowledge of the mean is worth.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// The degrees of freedom ν.
    pub fn dof(&self) -> f64 {
        self.dof
    }

    /// W⁻¹; its lower half counts.
    pub fn inverse_scale(&self) -> &Matrix {
        &self.inverse_scale
    }

    /// The distribution given `count` rows (not necessarily a whole number) with this mean and
    /// this scatter about it, Σ (x - mean)(x - mean)ᵀ.
    ///
    /// # Errors
    /// [`ParameterError`] if the result is beyond the range of numbers.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn given(
        &self,
        count: f64,
        mean: &[f64],
        scatter: &Matrix,
    ) -> Result<Self, ParameterError> {
        let dim = self.dim();
        assert!(mean.len() == dim && scatter.rows() == dim, "dimensions fit");
        let beta = self.beta + count;
        let shrink = self.beta * count / beta;
        let off = |column: usize| mean[column] - self.mean[column];
        let inverse_scale = Matrix::from_fn(dim, dim, |row, column| {
            let shift = shrink * off(row) * off(column);
            self.inverse_scale[(row, column)] + scatter[(row, column)] + shift
        });
        // m + (n/β')(x̄ - m) loses nothing where both are far from zero.
        let moved = (0..dim).map(|column| self.mean[column] + count / beta * off(column));
        NormalWishart::new(moved.collect(), beta, inverse_scale, self.dof + count)
    }

    /// log Z.
    pub fn log_normalizer(&self) -> f64 {
        let dim = self.dim() as f64;
        dim * (LOG_SQRT_2PI - 0.5 * self.beta.ln())
            + 0.5 * self.dof * (dim * LN_2 - self.cholesky.log_determinant())
            + ln_gamma_multivariate(self.dim(), 0.5 * self.dof)
    }

    /// E log |Λ| = Σ_i ψ((ν + 1 - i)/2) + d log 2 + log |W| [Bishop 2006, eq. B.81].
    pub fn expected_log_determinant(&self) -> f64 {
        let digammas: f64 = (0..self.dim()).map(|i| digamma(0.5 * (self.dof - i as f64))).sum();
        digammas + self.dim() as f64 * LN_2 - self.cholesky.log_determinant()
    }

    /// E (x - μ)ᵀΛ(x - μ) = d/β + ν (x - m)ᵀW(x - m) [Bishop 2006, eq. 10.64]. `workspace` has
    /// length d.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn expected_distance(&self, x: &[f64], workspace: &mut [f64]) -> f64 {
        self.dim() as f64 / self.beta + self.dof * self.distance(x, workspace)
    }

    /// (x - m)ᵀW(x - m).
    fn distance(&self, x: &[f64], workspace: &mut [f64]) -> f64 {
        for ((slot, x), mean) in workspace.iter_mut().zip(x).zip(&self.mean) {
            *slot = x - mean;
        }
        self.cholesky.solve_lower(workspace);
        dot(workspace, workspace)
    }

    /// Log density of a row x ~ N(μ, Λ⁻¹) with μ and Λ integrated out: Student's t with
    /// η = ν + 1 - d degrees of freedom, location m and precision matrix ηβ/(1+β) W
    /// [Bishop 2006, eq. 10.81]. `workspace` has length d.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn predictive_log_density(&self, x: &[f64], workspace: &mut [f64]) -> f64 {
        let dim = self.dim() as f64;
        let dof = self.dof + 1.0 - dim;
        let shrink = self.beta / (1.0 + self.beta);
        ln_gamma(0.5 * (dof + dim)) - ln_gamma(0.5 * dof)
            + 0.5 * (dim * (shrink / PI).ln() - self.cholesky.log_determinant())
            - 0.5 * (dof + dim) * (shrink * self.distance(x, workspace)).ln_1p()
    }

    /// log p(μ, Λ) for Λ = F Fᵀ with F lower triangular. `workspace` has length d.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn log_density(&self, mean: &[f64], factor: &Matrix, workspace: &mut [f64]) -> f64 {
        let dim = self.dim();
        let mut trace = 0.0;
        let (mut log_determinant, mut distance) = (0.0, 0.0);
        for column in 0..dim {
            // tr W⁻¹FFᵀ = ‖LᵀF‖², and (μ-m)ᵀΛ(μ-m) = ‖Fᵀ(μ-m)‖².
            workspace.copy_from_slice(factor.column(column));
            log_determinant += 2.0 * workspace[column].ln();
            let along: f64 =
                workspace.iter().zip(mean).zip(&self.mean).map(|((f, x), m)| f * (x - m)).sum();
            distance += along * along;
            self.cholesky.multiply_lower_transposed(workspace);
            trace += dot(workspace, workspace);
        }
        0.5 * ((self.dof - dim as f64) * log_determinant - trace - self.beta * distance)
            - self.log_normalizer()
    }

    /// The distribution of Λ alone, to draw from.
    ///
    /// # Errors
    /// [`ParameterError`] if W cannot be factorised.
    pub fn precision(&self) -> Result<Wishart, ParameterError> {
        let mut scale = Matrix::zeros(self.dim(), self.dim());
        self.cholesky.inverse(&mut scale);
        Wishart::new(&scale, self.dof)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::assert_relative;
    use crate::density::{MultivariateNormal, StudentT};
    use crate::random::{Purpose, Seed};

    fn example() -> NormalWishart {
        let entries = [[2.0, 0.5], [0.5, 1.0]];
        let inverse = Matrix::from_fn(2, 2, |i, j| entries[i][j]);
        NormalWishart::new(vec![0.3, -0.2], 0.7, inverse, 4.5).unwrap()
    }

    #[test]
    fn the_density_is_that_of_a_wishart_times_a_normal() {
        let it = example();
        let factor = Matrix::from_fn(2, 2, |i, j| [[1.3, 0.0], [-0.4, 0.8]][i][j]);
        let mean = [1.0, 0.5];
        let precision = Cholesky::from_factor(factor.clone());
        let wishart = it.precision().unwrap().log_density(&precision, &mut [0.0; 2]);
        let mut covariance = Matrix::zeros(2, 2);
        precision.inverse(&mut covariance);
        covariance.values_mut().iter_mut().for_each(|entry| *entry /= it.beta());
        let normal =
            MultivariateNormal::new(it.mean().to_vec(), Cholesky::new(&covariance).unwrap())
                .unwrap()
                .log_density(&mean, &mut [0.0; 2]);
        assert_relative(it.log_density(&mean, &factor, &mut [0.0; 2]), wishart + normal, 1e-12);
    }

    #[test]
    fn predictions_are_ratios_of_normalizers() {
        // p(x) = Z(given x) / Z · (2π)^(-d/2), whatever x is.
        let it = example();
        for x in [[0.3, -0.2], [2.0, -1.5], [-30.0, 4.0]] {
            let after = it.given(1.0, &x, &Matrix::zeros(2, 2)).unwrap();
            let expected = after.log_normalizer() - it.log_normalizer() - 2.0 * LOG_SQRT_2PI;
            assert_relative(it.predictive_log_density(&x, &mut [0.0; 2]), expected, 1e-12);
        }
        let one = NormalWishart::new(vec![1.0], 2.0, Matrix::from_fn(1, 1, |_, _| 3.0), 4.0);
        // η = 4, scale² = (1+β)/(ηβ) / W = 3/8 · 3.
        let student = StudentT::new(1.0, (9.0f64 / 8.0).sqrt(), 4.0).unwrap();
        let density = one.unwrap().predictive_log_density(&[0.2], &mut [0.0]);
        assert_relative(density, student.log_density(0.2), 1e-12);
    }

    #[test]
    fn expectations_agree_with_draws() {
        let it = example();
        let precision = it.precision().unwrap();
        let mut stream = Seed(3).stream(Purpose::Data, [21, 0]);
        let (mut factor, x) = (Matrix::zeros(2, 2), [1.0, 1.5]);
        let (mut logs, mut distances) = (vec![], vec![]);
        for _ in 0..20_000 {
            precision.draw_factor(&mut stream, &mut factor);
            logs.push(2.0 * (factor[(0, 0)] * factor[(1, 1)]).ln());
            let mut mean = [stream.normal(), stream.normal()];
            Cholesky::from_factor(factor.clone()).solve_lower_transposed(&mut mean);
            let off: Vec<f64> =
                (0..2).map(|i| x[i] - it.mean()[i] - mean[i] / it.beta().sqrt()).collect();
            let along = |column: usize| (0..2).map(|i| factor[(i, column)] * off[i]).sum::<f64>();
            distances.push(along(0).powi(2) + along(1).powi(2));
        }
        // |z| < 4.5: false-alarm rate 7e-6 each, seed fixed.
        for (values, expected) in [
            (logs, it.expected_log_determinant()),
            (distances, it.expected_distance(&x, &mut [0.0; 2])),
        ] {
            let count = values.len() as f64;
            let mean = values.iter().sum::<f64>() / count;
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
            let z = (mean - expected) / (variance / count).sqrt();
            assert!(z.abs() < 4.5, "{mean} for {expected}");
        }
    }

    #[test]
    fn parameters_are_checked() {
        let new = |beta: f64, dof: f64, entry: f64| {
            NormalWishart::new(vec![0.0; 2], beta, Matrix::from_fn(2, 2, |_, _| entry), dof)
        };
        assert!(new(1.0, 3.0, 1.0).is_err(), "singular");
        let with = |beta, dof| NormalWishart::new(vec![0.0; 2], beta, Matrix::identity(2), dof);
        assert!(with(1.0, 1.1).is_ok() && with(1.0, 1.0).is_err() && with(0.0, 3.0).is_err());
        assert!(NormalWishart::new(vec![f64::NAN], 1.0, Matrix::identity(1), 1.0).is_err());
    }
}
