//! Eigenvalues and eigenvectors of a symmetric matrix.

use std::mem::MaybeUninit;

use faer::Par;
use faer::diag::DiagMut;
use faer::dyn_stack::MemStack;
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};

use crate::Matrix;

/// Why a matrix has no eigendecomposition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EigenError {
    /// An entry of the lower half is NaN or infinite.
    #[error("the matrix is not finite at row {row}, column {column}")]
    NotFinite {
        /// Row of the first such entry, column by column.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// The iteration did not converge.
    #[error("the eigenvalues did not converge")]
    NoConvergence,
}

/// The decomposition A = V diag(λ) Vᵀ of a symmetric matrix, V orthogonal.
#[derive(Clone, Debug)]
pub struct SymmetricEigen {
    values: Vec<f64>,
    vectors: Matrix,
}

impl SymmetricEigen {
    /// Decomposes `matrix` (its lower half is read).
    ///
    /// # Errors
    /// [`EigenError`].
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn new(matrix: &Matrix) -> Result<Self, EigenError> {
        let dim = matrix.rows();
        assert_eq!(matrix.columns(), dim, "a square matrix");
        for column in 0..dim {
            let lower = &matrix.column(column)[column..];
            if let Some(below) = lower.iter().position(|entry| !entry.is_finite()) {
                return Err(EigenError::NotFinite { row: column + below, column });
            }
        }
        let mut eigen = SymmetricEigen { values: vec![0.0; dim], vectors: Matrix::zeros(dim, dim) };
        if dim == 0 {
            return Ok(eigen);
        }
        let parameters = faer::Spec::default();
        let scratch =
            self_adjoint_evd_scratch::<f64>(dim, ComputeEigenvectors::Yes, Par::Seq, parameters);
        let mut scratch = vec![MaybeUninit::<u8>::uninit(); scratch.unaligned_bytes_required()];
        self_adjoint_evd(
            matrix.view(),
            DiagMut::from_slice_mut(&mut eigen.values),
            Some(eigen.vectors.view_mut()),
            Par::Seq,
            MemStack::new(&mut scratch),
            parameters,
        )
        .map_err(|_| EigenError::NoConvergence)?;
        Ok(eigen)
    }

    /// The eigenvalues λ, in ascending order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The eigenvectors of unit length, column by column in the order of the values.
    pub fn vectors(&self) -> &Matrix {
        &self.vectors
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::tests::random;
    use crate::{multiply, symmetric_rank_k, transposed_multiply};

    #[test]
    fn eigenvectors_are_orthonormal_and_rebuild_the_matrix() {
        for dim in (0..=20).chain([33, 70, 200]) {
            let mut matrix = random(dim, dim, 5);
            matrix.mirror_lower();
            let eigen = SymmetricEigen::new(&matrix).unwrap();
            assert!(eigen.values().is_sorted());
            let mut gram = Matrix::zeros(dim, dim);
            symmetric_rank_k(eigen.vectors(), &mut gram);
            // A v = λ v, so Vᵀ A V must be diag(λ).
            let mut product = Matrix::zeros(dim, dim);
            multiply(&matrix, eigen.vectors(), &mut product);
            let mut rotated = Matrix::zeros(dim, dim);
            transposed_multiply(eigen.vectors(), &product, &mut rotated);
            let tolerance = 1e-14 * (dim * dim) as f64 + 1e-14;
            for row in 0..dim {
                for column in 0..dim {
                    let (one, value) =
                        if row == column { (1.0, eigen.values()[row]) } else { (0.0, 0.0) };
                    assert!((gram[(row, column)] - one).abs() < tolerance, "dim {dim}");
                    assert!((rotated[(row, column)] - value).abs() < tolerance, "dim {dim}");
                }
            }
        }
    }

    #[test]
    fn a_known_matrix_has_its_known_eigenvalues() {
        // Second differences: λ_k = 2 - 2 cos(kπ/(n+1)).
        let dim = 50;
        let matrix = Matrix::from_fn(dim, dim, |row, column| match row.abs_diff(column) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        });
        let eigen = SymmetricEigen::new(&matrix).unwrap();
        for (index, value) in eigen.values().iter().enumerate() {
            let angle = (index + 1) as f64 * std::f64::consts::PI / (dim + 1) as f64;
            assert!((value - (2.0 - 2.0 * angle.cos())).abs() < 1e-13);
        }
    }

    #[test]
    fn only_the_lower_half_is_read_and_nan_there_is_an_error() {
        let mut matrix = random(9, 9, 6);
        matrix.mirror_lower();
        let expected = SymmetricEigen::new(&matrix).unwrap();
        matrix[(2, 7)] = f64::NAN;
        let other = SymmetricEigen::new(&matrix).unwrap();
        assert_eq!(expected.values(), other.values());
        for bad in [f64::NAN, f64::INFINITY] {
            matrix[(7, 2)] = bad;
            let error = SymmetricEigen::new(&matrix).unwrap_err();
            assert_eq!(error, EigenError::NotFinite { row: 7, column: 2 });
        }
    }

    #[test]
    fn bits_do_not_depend_on_where_the_buffers_lie() {
        let mut matrix = random(37, 37, 7);
        matrix.mirror_lower();
        let first = SymmetricEigen::new(&matrix).unwrap();
        let mut kept = Vec::new();
        for length in 0..24 {
            // Odd blocks in between move the next allocations to other alignments.
            kept.push(vec![0.0; 2 * length + 1]);
            let again = SymmetricEigen::new(&matrix.clone()).unwrap();
            assert_eq!(first.values(), again.values());
            assert_eq!(first.vectors(), again.vectors());
        }
    }
}
