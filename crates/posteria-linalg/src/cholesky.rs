//! Cholesky factorisation A = L Lᵀ, and what is computed from the factor.

mod blocks;

use self::blocks::{Room, Side};
use crate::{Matrix, add_scaled, dot, small, threads};

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
    room: Room,
}

impl Cholesky {
    /// Room for factors of `dim` × `dim` matrices; holds the factor of the identity.
    pub fn identity(dim: usize) -> Self {
        Cholesky { factor: Matrix::identity(dim), room: Room::new(dim) }
    }

    /// The factorisation whose factor is `factor`: lower triangular with positive diagonal.
    ///
    /// # Panics
    /// If the factor is not square.
    pub fn from_factor(factor: Matrix) -> Self {
        assert_eq!(factor.rows(), factor.columns(), "a square factor");
        Cholesky { room: Room::new(factor.rows()), factor }
    }

    /// Factorises `matrix` (its lower half is read).
    ///
    /// # Errors
    /// [`NotPositiveDefinite`].
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn new(matrix: &Matrix) -> Result<Self, NotPositiveDefinite> {
        let mut cholesky = Cholesky::identity(matrix.rows());
        cholesky.factorize(matrix)?;
        Ok(cholesky)
    }

    /// Factorises `matrix` (its lower half is read) into this room. After a failure the factor
    /// is meaningless.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`], also where an entry of the lower half is NaN or infinite.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn factorize(&mut self, matrix: &Matrix) -> Result<(), NotPositiveDefinite> {
        let dim = self.dim();
        assert!(matrix.rows() == dim && matrix.columns() == dim, "a {dim} x {dim} matrix");
        if dim <= small::LARGEST {
            return small::factorize(matrix.values(), self.factor.values_mut(), dim)
                .map_err(|pivot| NotPositiveDefinite { pivot });
        }
        for column in 0..dim {
            let entries = self.factor.column_mut(column);
            entries[..column].fill(0.0);
            entries[column..].copy_from_slice(&matrix.column(column)[column..]);
        }
        self.factorize_large()
    }

    /// Room for a matrix to factorise in place, by [`Cholesky::refactorize`]: its lower half, with
    /// the diagonal, is to be written. The factor is gone from here on.
    pub fn matrix_mut(&mut self) -> &mut Matrix {
        &mut self.factor
    }

    /// Factorises the matrix whose lower half was written into [`Cholesky::matrix_mut`]; saves
    /// the copy that [`Cholesky::factorize`] makes. After a failure the factor is meaningless.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`], also where an entry of the lower half is NaN or infinite.
    pub fn refactorize(&mut self) -> Result<(), NotPositiveDefinite> {
        let dim = self.dim();
        if dim <= small::LARGEST {
            return small::factorize_in_place(self.factor.values_mut(), dim)
                .map_err(|pivot| NotPositiveDefinite { pivot });
        }
        self.factorize_large()
    }

    fn factorize_large(&mut self) -> Result<(), NotPositiveDefinite> {
        blocks::factorize(self.factor.view_mut(), &mut self.room)?;
        // Its tiles also reach above the diagonal.
        for column in 1..self.dim() {
            self.factor.column_mut(column)[..column].fill(0.0);
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

    /// X ← L⁻¹ X, all columns at once.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn solve_lower_matrix(&self, x: &mut Matrix) {
        assert_eq!(x.rows(), self.dim(), "as many rows as the factor");
        self.solve_blocks(x, Side::Lower);
    }

    /// X ← L⁻ᵀ X, all columns at once.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn solve_lower_transposed_matrix(&self, x: &mut Matrix) {
        assert_eq!(x.rows(), self.dim(), "as many rows as the factor");
        self.solve_blocks(x, Side::Upper);
    }

    /// X ← L⁻¹ X or X ← L⁻ᵀ X, block by block of columns where the factor is large.
    fn solve_blocks(&self, x: &mut Matrix, side: Side) {
        let factor = self.factor.view();
        if self.dim() < threads::LARGE {
            blocks::solve(factor, side, x.view_mut());
        } else {
            threads::for_each_block(x.view_mut(), |_| 1.0, |x, _| blocks::solve(factor, side, x));
        }
    }

    /// X ← A⁻¹ X, all columns at once.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn solve_matrix(&self, x: &mut Matrix) {
        self.solve_lower_matrix(x);
        self.solve_lower_transposed_matrix(x);
    }

    /// `inverse` ← L⁻¹; zero above the diagonal.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn inverse_lower(&self, inverse: &mut Matrix) {
        let dim = self.dim();
        assert!(inverse.rows() == dim && inverse.columns() == dim, "a {dim} x {dim} matrix");
        inverse.values_mut().fill(0.0);
        blocks::invert(self.factor.view(), inverse.view_mut());
    }

    /// `diagonal` ← the diagonal of A⁻¹; `inverse_lower` receives L⁻¹ on the way.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn inverse_diagonal(&self, inverse_lower: &mut Matrix, diagonal: &mut [f64]) {
        assert_eq!(diagonal.len(), self.dim(), "one entry per row");
        self.inverse_lower(inverse_lower);
        for (column, entry) in diagonal.iter_mut().enumerate() {
            let below = &inverse_lower.column(column)[column..];
            *entry = dot(below, below);
        }
    }

    /// `inverse` ← A⁻¹, both halves.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn inverse(&self, inverse: &mut Matrix) {
        let dim = self.dim();
        assert!(inverse.rows() == dim && inverse.columns() == dim, "a {dim} x {dim} matrix");
        if dim <= small::LARGEST {
            return small::inverse(self.factor.values(), inverse.values_mut(), dim);
        }
        blocks::inverse(self.factor.view(), inverse.view_mut());
    }
}

#[cfg(test)]
mod tests;
