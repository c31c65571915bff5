//! The Wishart distribution of a precision or scatter matrix.

use std::f64::consts::LN_2;

use posteria_linalg::{Cholesky, Matrix, dot};

use super::ParameterError;
use super::special::ln_gamma_multivariate;
use crate::random::Stream;

/// Wishart(V, ν) on positive definite d × d matrices, mean ν V:
///
/// p(W) = |W|^((ν-d-1)/2) exp(-½ tr V⁻¹W) / (2^(νd/2) |V|^(ν/2) Γ_d(ν/2)).
#[derive(Clone, Debug)]
pub struct Wishart {
    scale: Cholesky,
    dof: f64,
    log_constant: f64,
}

impl Wishart {
    /// The Wishart distribution with scale matrix V (its lower half is read) and ν > d - 1.
    ///
    /// # Errors
    /// [`ParameterError`] unless V is positive definite and ν finite and large enough.
    ///
    /// # Panics
    /// If V is not square.
    pub fn new(scale: &Matrix, dof: f64) -> Result<Self, ParameterError> {
        let distribution = "a Wishart distribution";
        let dim = scale.rows();
        check_dof(distribution, dim, dof)?;
        let scale = Cholesky::new(scale).map_err(|error| ParameterError::NotPositiveDefinite {
            distribution,
            parameter: "the scale matrix",
            pivot: error.pivot,
        })?;
        let log_constant = -0.5 * dof * (dim as f64 * LN_2 + scale.log_determinant())
            - ln_gamma_multivariate(dim, 0.5 * dof);
        Ok(Wishart { scale, dof, log_constant })
    }

    /// Dimension d.
    pub fn dim(&self) -> usize {
        self.scale.dim()
    }

    /// The degrees of freedom ν.
    pub fn dof(&self) -> f64 {
        self.dof
    }

    /// log p(W) for W given by its Cholesky factor. `workspace` has length d.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn log_density(&self, matrix: &Cholesky, workspace: &mut [f64]) -> f64 {
        let dim = self.dim();
        let trace = trace_of_quotient(&self.scale, matrix, workspace);
        self.log_constant + 0.5 * (self.dof - dim as f64 - 1.0) * matrix.log_determinant()
            - 0.5 * trace
    }

    /// Writes the lower triangular factor F of a draw W = F Fᵀ into `factor`, by Bartlett's
    /// decomposition: F = L_V B with B_ii² ~ chi-square(ν - i), i from 0, and standard normals
    /// below the diagonal.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn draw_factor(&self, stream: &mut Stream, factor: &mut Matrix) {
        let dim = self.dim();
        assert!(factor.rows() == dim && factor.columns() == dim, "a {dim} x {dim} matrix");
        for column in 0..dim {
            let entries = factor.column_mut(column);
            entries[..column].fill(0.0);
            entries[column] = chi(self.dof - column as f64, stream);
            stream.fill_normal(&mut entries[column + 1..]);
            self.scale.multiply_lower(entries);
        }
    }

    /// Writes a draw into `matrix`, both halves.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn draw(&self, stream: &mut Stream, matrix: &mut Matrix) {
        self.draw_factor(stream, matrix);
        square_factor(matrix);
    }
}

pub(super) fn check_dof(
    distribution: &'static str,
    dim: usize,
    dof: f64,
) -> Result<(), ParameterError> {
    if dof > dim as f64 - 1.0 && dof.is_finite() && dim > 0 {
        Ok(())
    } else {
        Err(ParameterError::DofTooSmall { distribution, dim, dof })
    }
}

/// A draw from the chi distribution: the root of a chi-square.
pub(super) fn chi(dof: f64, stream: &mut Stream) -> f64 {
    (2.0 * stream.gamma(0.5 * dof)).sqrt().max(f64::MIN_POSITIVE)
}

/// tr(A⁻¹B) = ‖L_A⁻¹ L_B‖², a sum of squares.
pub(super) fn trace_of_quotient(a: &Cholesky, b: &Cholesky, workspace: &mut [f64]) -> f64 {
    assert!(a.dim() == b.dim() && workspace.len() == a.dim(), "dimensions fit");
    (0..b.dim())
        .map(|column| {
            workspace.copy_from_slice(b.factor().column(column));
            a.solve_lower(workspace);
            dot(workspace, workspace)
        })
        .sum()
}

/// Replaces a lower triangular F by F Fᵀ, both halves.
pub(super) fn square_factor(matrix: &mut Matrix) {
    let dim = matrix.rows();
    // Entry (row, column) needs the first `column` columns only, and its own column's diagonal:
    // from the last column to the first and from the last row up, nothing needed is overwritten.
    for column in (0..dim).rev() {
        for row in (column..dim).rev() {
            matrix[(row, column)] =
                (0..=column).map(|k| matrix[(row, k)] * matrix[(column, k)]).sum();
        }
    }
    for column in 0..dim {
        for row in column + 1..dim {
            matrix[(column, row)] = matrix[(row, column)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::Gamma;
    use crate::density::checks::{assert_draws_follow, assert_relative};
    use crate::random::{Purpose, Seed};

    fn matrix(entries: [[f64; 3]; 3]) -> Matrix {
        Matrix::from_fn(3, 3, |row, column| entries[row][column])
    }

    const V: [[f64; 3]; 3] = [[2.0, 0.5, 0.1], [0.5, 1.0, -0.3], [0.1, -0.3, 1.5]];

    fn quadratic(matrix: &Matrix, x: &[f64; 3]) -> f64 {
        (0..9).map(|k| x[k / 3] * x[k % 3] * matrix[(k / 3, k % 3)]).sum()
    }

    #[test]
    fn density_matches_references() {
        let wishart = Wishart::new(&matrix(V), 5.5).unwrap();
        let at = Cholesky::new(&matrix([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]));
        // mpmath, 50 digits; agrees with scipy.stats.wishart.
        let expected = -11.513_655_897_612_642;
        assert_relative(wishart.log_density(&at.unwrap(), &mut [0.0; 3]), expected, 1e-14);
    }

    #[test]
    fn quadratic_forms_of_draws_are_chi_square() {
        // aᵀWa / aᵀVa ~ chi-square(ν) and aᵀV⁻¹a / aᵀW⁻¹a ~ chi-square(ν - d + 1), any a
        // [Mardia, Kent and Bibby 1979, theorems 3.4.2 and 3.4.7]; ν below d + 1 on purpose.
        let dof = 2.7;
        let (wishart, v) = (Wishart::new(&matrix(V), dof).unwrap(), matrix(V));
        let v_cholesky = Cholesky::new(&v).unwrap();
        let mut stream = Seed(1).stream(Purpose::Data, [13, 0]);
        let mut draw = Matrix::zeros(3, 3);
        let mut cholesky = Cholesky::identity(3);
        for a in [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.3, -1.0, 2.0]] {
            let (mut direct, mut inverse) = (vec![], vec![]);
            let mut solved = a;
            v_cholesky.solve(&mut solved);
            let inverse_v = dot(&a, &solved);
            for _ in 0..10_000 {
                wishart.draw(&mut stream, &mut draw);
                direct.push(quadratic(&draw, &a) / quadratic(&v, &a));
                cholesky.factorize(&draw).unwrap();
                let mut solved = a;
                cholesky.solve(&mut solved);
                inverse.push(inverse_v / dot(&a, &solved));
            }
            let chi_square = Gamma::new(0.5 * dof, 2.0).unwrap();
            assert_draws_follow(&mut direct, |x| chi_square.cdf(x));
            let chi_square = Gamma::new(0.5 * (dof - 2.0), 2.0).unwrap();
            assert_draws_follow(&mut inverse, |x| chi_square.cdf(x));
        }
    }

    #[test]
    fn parameters_are_checked() {
        assert!(Wishart::new(&matrix(V), 2.0).is_err());
        assert!(Wishart::new(&matrix(V), f64::INFINITY).is_err());
        assert!(Wishart::new(&Matrix::zeros(2, 2), 5.0).is_err());
        assert!(Wishart::new(&Matrix::zeros(0, 0), 5.0).is_err());
    }
}
