//! Cholesky factorisation A = L Lᵀ, and what is computed from the factor.

use crate::{Matrix, add_scaled, dot};

/// The matrix is not positive definite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the matrix is not positive definite at pivot {pivot}")]
pub struct NotPositiveDefinite {
    /// Index of the first pivot that is not positive.
    pub pivot: usize,
}

/// The lower triangular factor L of a symmetric positive definite matrix. Room is allocated
/// once; factorising again into it allocates nothing.
#[derive(Clone, Debug)]
pub struct Cholesky {
    factor: Matrix,
}

impl Cholesky {
    /// Room for factors of `dim` × `dim` matrices; holds the factor of the identity.
    pub fn identity(dim: usize) -> Self {
        Cholesky { factor: Matrix::identity(dim) }
    }

    /// The factorisation whose factor is `factor`: lower triangular with positive diagonal.
    ///
    /// # Panics
    /// If the factor is not square.
    pub fn from_factor(factor: Matrix) -> Self {
        assert_eq!(factor.rows(), factor.columns(), "a square factor");
        Cholesky { factor }
    }

    /// Factorises `matrix` (its lower half is read).
    ///
    /// # Errors
    /// [`NotPositiveDefinite`].
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn new(matrix: &Matrix) -> Result<Self, NotPositiveDefinite> {
        let mut cholesky = Cholesky { factor: Matrix::zeros(matrix.rows(), matrix.columns()) };
        cholesky.factorize(matrix)?;
        Ok(cholesky)
    }

    /// Factorises `matrix` (its lower half is read) into this room. After a failure the factor
    /// is meaningless.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`].
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn factorize(&mut self, matrix: &Matrix) -> Result<(), NotPositiveDefinite> {
        let dim = self.dim();
        assert!(matrix.rows() == dim && matrix.columns() == dim, "a {dim} x {dim} matrix");
        let lower = &mut self.factor;
        lower.values_mut().copy_from_slice(matrix.values());
        for column in 0..dim {
            lower.column_mut(column)[..column].fill(0.0);
            for previous in 0..column {
                let scale = lower[(column, previous)];
                for row in column..dim {
                    let product = scale * lower[(row, previous)];
                    lower[(row, column)] -= product;
                }
            }
            let pivot = lower[(column, column)];
            if !(pivot > 0.0 && pivot.is_finite()) {
                return Err(NotPositiveDefinite { pivot: column });
            }
            let root = pivot.sqrt();
            for value in &mut lower.column_mut(column)[column..] {
                *value /= root;
            }
        }
        Ok(())
    }

    /// Dimension of the factor.
    pub fn dim(&self) -> usize {
        self.factor.rows()
    }

    /// The factor L; zero above the diagonal.
    pub fn factor(&self) -> &Matrix {
        &self.factor
    }

    /// log det A = 2 Σ log L_ii.
    pub fn log_determinant(&self) -> f64 {
        2.0 * (0..self.dim()).map(|i| self.factor[(i, i)].ln()).sum::<f64>()
    }

    /// x ← L x.
    pub fn multiply_lower(&self, x: &mut [f64]) {
        for column in (0..self.dim()).rev() {
            let value = x[column];
            let entries = &self.factor.column(column)[column..];
            x[column] = value * entries[0];
            add_scaled(&mut x[column + 1..], value, &entries[1..]);
        }
    }

    /// x ← Lᵀ x.
    pub fn multiply_lower_transposed(&self, x: &mut [f64]) {
        for column in 0..self.dim() {
            x[column] = dot(&self.factor.column(column)[column..], &x[column..]);
        }
    }

    /// x ← L⁻¹ x.
    pub fn solve_lower(&self, x: &mut [f64]) {
        for column in 0..self.dim() {
            let entries = &self.factor.column(column)[column..];
            let value = x[column] / entries[0];
            x[column] = value;
            add_scaled(&mut x[column + 1..], -value, &entries[1..]);
        }
    }

    /// x ← L⁻ᵀ x.
    pub fn solve_lower_transposed(&self, x: &mut [f64]) {
        for column in (0..self.dim()).rev() {
            let entries = &self.factor.column(column)[column..];
            let rest = dot(&entries[1..], &x[column + 1..]);
            x[column] = (x[column] - rest) / entries[0];
        }
    }

    /// x ← A⁻¹ x.
    pub fn solve(&self, x: &mut [f64]) {
        self.solve_lower(x);
        self.solve_lower_transposed(x);
    }

    /// `inverse` ← A⁻¹, both halves.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn inverse(&self, inverse: &mut Matrix) {
        let dim = self.dim();
        assert!(inverse.rows() == dim && inverse.columns() == dim, "a {dim} x {dim} matrix");
        for column in 0..dim {
            let entries = inverse.column_mut(column);
            entries.fill(0.0);
            entries[column] = 1.0;
            self.solve(entries);
        }
    }
}
