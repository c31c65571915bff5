//! The inverse-Wishart distribution of a covariance matrix.

use std::f64::consts::LN_2;

use posteria_linalg::{Cholesky, Matrix};

use super::ParameterError;
use super::special::ln_gamma_multivariate;
use super::wishart::{check_dof, chi, square_factor, trace_of_quotient};
use crate::random::Stream;

/// Inv-Wishart(S0, ν) on covariance matrices Σ, given as the scale matrix S0 and the degrees
/// of freedom; in one dimension exactly [`InverseGamma`](super::InverseGamma) with s0² = S0.
/// With the scatter matrix Ψ = ν S0:
///
/// p(Σ) = |Ψ|^(ν/2) / (2^(νd/2) Γ_d(ν/2)) · |Σ|^-((ν+d+1)/2) exp(-½ tr ΨΣ⁻¹).
#[derive(Clone, Debug)]
pub struct InverseWishart {
    scatter: Cholesky,
    dof: f64,
}

const NAME: &str = "an inverse-Wishart distribution";

impl InverseWishart {
    /// The distribution with scale matrix S0 (its lower half is read) and ν > d - 1.
    ///
    /// # Errors
    /// [`ParameterError`] unless S0 is positive definite and ν finite and large enough.
    ///
    /// # Panics
    /// If S0 is not square.
    pub fn new(scale: &Matrix, dof: f64) -> Result<Self, ParameterError> {
        let scatter = Matrix::from_fn(scale.rows(), scale.columns(), |row, column| {
            dof * scale[(row, column)]
        });
        let mut distribution = InverseWishart { scatter: Cholesky::identity(scale.rows()), dof };
        distribution.set_scatter(&scatter, dof)?;
        Ok(distribution)
    }

    /// Replaces scatter matrix Ψ (its lower half is read) and degrees of freedom, without
    /// allocating. After an error the distribution must be set again before use.
    ///
    /// # Errors
    /// As [`InverseWishart::new`].
    ///
    /// # Panics
    /// If the dimension differs.
    pub fn set_scatter(&mut self, scatter: &Matrix, dof: f64) -> Result<(), ParameterError> {
        check_dof(NAME, self.dim(), dof)?;
        self.dof = dof;
        self.scatter.factorize(scatter).map_err(|error| ParameterError::NotPositiveDefinite {
            distribution: NAME,
            parameter: "the scatter matrix",
            pivot: error.pivot,
        })
    }

    /// Dimension d.
    pub fn dim(&self) -> usize {
        self.scatter.dim()
    }

    /// The degrees of freedom ν.
    pub fn dof(&self) -> f64 {
        self.dof
    }

    /// The factorised scatter matrix Ψ = ν S0.
    pub fn scatter(&self) -> &Cholesky {
        &self.scatter
    }

    /// log p(Σ) for Σ given by its Cholesky factor. `workspace` has length d.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn log_density(&self, covariance: &Cholesky, workspace: &mut [f64]) -> f64 {
        let dim = self.dim() as f64;
        let half_dof = 0.5 * self.dof;
        half_dof * (self.scatter.log_determinant() - dim * LN_2)
            - ln_gamma_multivariate(self.dim(), half_dof)
            - 0.5 * (self.dof + dim + 1.0) * covariance.log_determinant()
            - 0.5 * trace_of_quotient(covariance, &self.scatter, workspace)
    }

    /// Writes the lower triangular factor F of a draw Σ = F Fᵀ into `factor`.
    ///
    /// Σ⁻¹ = L⁻ᵀ TᵀT L⁻¹ with Ψ = L Lᵀ and TᵀT ~ Wishart(I, ν). Bartlett's decomposition taken
    /// from the last row up makes T lower triangular, with T_jj² ~ chi-square(ν - (d-1-j)),
    /// hence F = L T⁻¹ too; it is solved column by column while T is drawn.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn draw_factor(&self, stream: &mut Stream, factor: &mut Matrix) {
        let dim = self.dim();
        assert!(factor.rows() == dim && factor.columns() == dim, "a {dim} x {dim} matrix");
        factor.values_mut().copy_from_slice(self.scatter.factor().values());
        for column in (0..dim).rev() {
            for right in column + 1..dim {
                let coefficient = stream.normal();
                for row in right..dim {
                    let product = coefficient * factor[(row, right)];
                    factor[(row, column)] -= product;
                }
            }
            let divisor = chi(self.dof - (dim - 1 - column) as f64, stream);
            for value in &mut factor.column_mut(column)[column..] {
                *value /= divisor;
            }
        }
    }

    /// Writes a draw into `covariance`, both halves.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn draw(&self, stream: &mut Stream, covariance: &mut Matrix) {
        self.draw_factor(stream, covariance);
        square_factor(covariance);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{assert_draws_follow, assert_relative};
    use crate::density::{Gamma, InverseGamma};
    use crate::random::{Purpose, Seed};
    use posteria_linalg::dot;

    fn matrix(entries: [[f64; 3]; 3]) -> Matrix {
        Matrix::from_fn(3, 3, |row, column| entries[row][column])
    }

    const S0: [[f64; 3]; 3] = [[2.0, 0.5, 0.1], [0.5, 1.0, -0.3], [0.1, -0.3, 1.5]];

    #[test]
    fn density_matches_references_and_the_inverse_gamma() {
        let prior = InverseWishart::new(&matrix(S0), 5.5).unwrap();
        let at = Cholesky::new(&matrix([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]));
        // mpmath, 50 digits; agrees with scipy.stats.invwishart.
        let expected = -10.416_713_604_824_986;
        assert_relative(prior.log_density(&at.unwrap(), &mut [0.0; 3]), expected, 1e-14);
        let single = InverseWishart::new(&Matrix::from_fn(1, 1, |_, _| 0.09), 4.0).unwrap();
        let at = Cholesky::new(&Matrix::from_fn(1, 1, |_, _| 0.2)).unwrap();
        let same = InverseGamma::new(0.3, 4.0).unwrap().log_density(0.2);
        assert_relative(single.log_density(&at, &mut [0.0]), same, 1e-13);
    }

    #[test]
    fn quadratic_forms_of_draws_are_chi_square() {
        // Σ⁻¹ ~ Wishart(Ψ⁻¹, ν): aᵀΣ⁻¹a / aᵀΨ⁻¹a ~ chi-square(ν) and
        // aᵀΨa / aᵀΣa ~ chi-square(ν - d + 1), for any a.
        let dof = 2.7;
        let prior = InverseWishart::new(&matrix(S0), dof).unwrap();
        let mut stream = Seed(1).stream(Purpose::Data, [14, 0]);
        let mut draw = Matrix::zeros(3, 3);
        let mut cholesky = Cholesky::identity(3);
        let norm = |cholesky: &Cholesky, a: &[f64; 3]| {
            let mut x = *a;
            cholesky.multiply_lower_transposed(&mut x);
            dot(&x, &x)
        };
        let inverse_norm = |cholesky: &Cholesky, a: &[f64; 3]| {
            let mut x = *a;
            cholesky.solve_lower(&mut x);
            dot(&x, &x)
        };
        for a in [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.3, -1.0, 2.0]] {
            let (mut direct, mut inverse) = (vec![], vec![]);
            for _ in 0..10_000 {
                prior.draw(&mut stream, &mut draw);
                cholesky.factorize(&draw).unwrap();
                direct.push(norm(prior.scatter(), &a) / norm(&cholesky, &a));
                inverse.push(inverse_norm(&cholesky, &a) / inverse_norm(prior.scatter(), &a));
            }
            let chi_square = Gamma::new(0.5 * (dof - 2.0), 2.0).unwrap();
            assert_draws_follow(&mut direct, |x| chi_square.cdf(x));
            let chi_square = Gamma::new(0.5 * dof, 2.0).unwrap();
            assert_draws_follow(&mut inverse, |x| chi_square.cdf(x));
        }
    }

    #[test]
    fn parameters_are_checked() {
        assert!(InverseWishart::new(&matrix(S0), 2.0).is_err());
        assert!(InverseWishart::new(&Matrix::zeros(2, 2), 5.0).is_err());
    }
}
