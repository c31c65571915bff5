//! Singular values and vectors of a matrix.

use std::mem::MaybeUninit;

use faer::Par;
use faer::diag::DiagMut;
use faer::dyn_stack::MemStack;
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};

use crate::{EigenError, Matrix};

/// The thin decomposition A = U diag(s) Vᵀ with min(rows, columns) singular values; the columns
/// of U and of V are orthonormal.
#[derive(Clone, Debug)]
pub struct Singular {
    values: Vec<f64>,
    left: Matrix,
    right: Matrix,
}

impl Singular {
    /// Decomposes `matrix`.
    ///
    /// # Errors
    /// [`EigenError`].
    pub fn new(matrix: &Matrix) -> Result<Self, EigenError> {
        let (rows, columns) = (matrix.rows(), matrix.columns());
        for column in 0..columns {
            if let Some(row) = matrix.column(column).iter().position(|entry| !entry.is_finite()) {
                return Err(EigenError::NotFinite { row, column });
            }
        }
        let count = rows.min(columns);
        let mut found = Singular {
            values: vec![0.0; count],
            left: Matrix::zeros(rows, count),
            right: Matrix::zeros(columns, count),
        };
        if count == 0 {
            return Ok(found);
        }
        let (parameters, thin) = (faer::Spec::default(), ComputeSvdVectors::Thin);
        let scratch = svd_scratch::<f64>(rows, columns, thin, thin, Par::Seq, parameters);
        let mut scratch = vec![MaybeUninit::<u8>::uninit(); scratch.unaligned_bytes_required()];
        svd(
            matrix.view(),
            DiagMut::from_slice_mut(&mut found.values),
            Some(found.left.view_mut()),
            Some(found.right.view_mut()),
            Par::Seq,
            MemStack::new(&mut scratch),
            parameters,
        )
        .map_err(|_| EigenError::NoConvergence)?;
        Ok(found)
    }

    /// The singular values s, in descending order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// U, one column per singular value.
    pub fn left(&self) -> &Matrix {
        &self.left
    }

    /// V, one column per singular value.
    pub fn right(&self) -> &Matrix {
        &self.right
    }

    /// Number of singular values above the rounding of the largest: the rank of the matrix as far
    /// as it can be told.
    pub fn rank(&self) -> usize {
        let size = self.left.rows().max(self.right.rows()) as f64;
        let least = self.values.first().copied().unwrap_or(0.0) * size * f64::EPSILON;
        self.values.iter().take_while(|value| **value > least).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::tests::random;
    use crate::{multiply_transposed, symmetric_rank_k};

    #[test]
    fn vectors_are_orthonormal_and_rebuild_the_matrix() {
        for (rows, columns) in [(0, 3), (3, 0), (1, 1), (1, 7), (7, 1), (5, 5), (40, 6), (6, 40)] {
            let matrix = random(rows, columns, 9);
            let found = Singular::new(&matrix).unwrap();
            let count = rows.min(columns);
            assert_eq!((found.rank(), found.values().len()), (count, count));
            assert!(found.values().is_sorted_by(|a, b| a >= b));
            for side in [found.left(), found.right()] {
                let mut gram = Matrix::zeros(count, count);
                symmetric_rank_k(side, &mut gram);
                for (row, column) in (0..count).flat_map(|r| (0..count).map(move |c| (r, c))) {
                    let one = f64::from(u8::from(row == column));
                    assert!((gram[(row, column)] - one).abs() < 1e-13);
                }
            }
            let scaled =
                Matrix::from_fn(rows, count, |r, k| found.left()[(r, k)] * found.values()[k]);
            let mut rebuilt = Matrix::zeros(rows, columns);
            if count > 0 {
                multiply_transposed(&scaled, found.right(), &mut rebuilt);
                for (a, b) in rebuilt.values().iter().zip(matrix.values()) {
                    assert!((a - b).abs() < 1e-13);
                }
            }
        }
    }

    #[test]
    fn equal_columns_lower_the_rank_and_nan_is_an_error() {
        let mut matrix = random(9, 4, 10);
        let copy = matrix.column(0).to_vec();
        matrix.column_mut(2).copy_from_slice(&copy);
        assert_eq!(Singular::new(&matrix).unwrap().rank(), 3);
        assert_eq!(Singular::new(&Matrix::zeros(4, 3)).unwrap().rank(), 0);
        matrix[(1, 3)] = f64::NAN;
        let error = Singular::new(&matrix).unwrap_err();
        assert_eq!(error, EigenError::NotFinite { row: 1, column: 3 });
    }
}
