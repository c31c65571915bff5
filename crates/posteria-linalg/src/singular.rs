//! Singular values and vectors of a matrix.

use crate::symmetric::{reflect, reflector, rotate};
use crate::{EigenError, Matrix, add_scaled, dot};

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
        if rows >= columns {
            return Singular::tall(matrix);
        }
        let transposed = Matrix::from_fn(columns, rows, |row, column| matrix[(column, row)]);
        let Singular { values, left, right } = Singular::tall(&transposed)?;
        Ok(Singular { values, left: right, right: left })
    }

    /// Decomposes a matrix of at least as many rows as columns: A = Q R, and R by rotations of its
    /// columns until they are orthogonal (one-sided Jacobi) [Golub and Van Loan 2013, §8.6.3].
    fn tall(matrix: &Matrix) -> Result<Self, EigenError> {
        let (rows, count) = (matrix.rows(), matrix.columns());
        let largest = matrix.values().iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
        // A power of two: exact, and no square overflows.
        let scale = if largest > 0.0 { largest.log2().floor().exp2() } else { 1.0 };
        let mut work = matrix.clone();
        work.values_mut().iter_mut().for_each(|entry| *entry /= scale);
        let factors = triangularize(&mut work);
        let upper = |row, column| if row <= column { work[(row, column)] } else { 0.0 };
        let mut columns = Matrix::from_fn(count, count, upper);
        for (index, (_, diagonal)) in factors.iter().enumerate() {
            columns[(index, index)] = *diagonal;
        }
        let mut right = Matrix::identity(count);
        orthogonalize(&mut columns, &mut right)?;
        let norm = |column: usize| dot(columns.column(column), columns.column(column)).sqrt();
        let norms: Vec<f64> = (0..count).map(norm).collect();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|a, b| norms[*b].total_cmp(&norms[*a]));
        let least = norms.iter().copied().fold(0.0, f64::max) * f64::EPSILON;
        let mut left = Matrix::zeros(rows, count);
        for (index, column) in order.iter().enumerate() {
            let norm = norms[*column];
            if norm > least {
                let unit = columns.column(*column).iter().map(|entry| entry / norm);
                left.column_mut(index).iter_mut().zip(unit).for_each(|(x, unit)| *x = unit);
            } else {
                complete(&mut left, index, count);
            }
        }
        for (k, (beta, _)) in factors.iter().enumerate().rev() {
            let v = &work.column(k)[k..];
            (0..count).for_each(|column| reflect(*beta, v, &mut left.column_mut(column)[k..]));
        }
        Ok(Singular {
            values: order.iter().map(|column| norms[*column] * scale).collect(),
            left,
            right: Matrix::from_fn(count, count, |row, column| right[(row, order[column])]),
        })
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

/// A ← R above the diagonal, the directions v of reflections on and below it; β of every
/// reflection, and the diagonal of R.
fn triangularize(a: &mut Matrix) -> Vec<(f64, f64)> {
    let (rows, columns) = (a.rows(), a.columns());
    let step = |k: usize| {
        let (done, rest) = a.values_mut().split_at_mut((k + 1) * rows);
        let v = &mut done[k * rows + k..];
        let (beta, diagonal) = reflector(v);
        rest.chunks_exact_mut(rows).for_each(|column| reflect(beta, v, &mut column[k..]));
        (beta, diagonal)
    };
    (0..columns).map(step).collect()
}

/// Rotates pairs of columns, and those of `right` with them, until all are orthogonal.
fn orthogonalize(a: &mut Matrix, right: &mut Matrix) -> Result<(), EigenError> {
    /// Rounds over all pairs; six to ten are usual.
    const MOST: usize = 60;
    let count = a.columns();
    // Sums of so many products are known no better.
    let rounding = f64::EPSILON * (count as f64).max(2.0);
    for _ in 0..MOST {
        let squares = (0..count).map(|column| dot(a.column(column), a.column(column)));
        let largest = squares.fold(0.0, f64::max);
        let mut rotated = false;
        for (x, y) in (0..count).flat_map(|x| (x + 1..count).map(move |y| (x, y))) {
            let [xx, yy, xy] = [(x, x), (y, y), (x, y)].map(|(i, j)| dot(a.column(i), a.column(j)));
            // What is left of columns that depend on others has no direction.
            let noise = xx.min(yy) <= largest * f64::EPSILON * f64::EPSILON;
            if noise || xy.abs() <= rounding * (xx * yy).sqrt() {
                continue;
            }
            rotated = true;
            let ratio = (yy - xx) / (2.0 * xy);
            let tangent = 1.0_f64.copysign(ratio) / (ratio.abs() + ratio.hypot(1.0));
            let cosine = 1.0 / tangent.hypot(1.0);
            rotate(a, (x, y), (cosine, cosine * tangent));
            rotate(right, (x, y), (cosine, cosine * tangent));
        }
        if !rotated {
            return Ok(());
        }
    }
    Err(EigenError::NoConvergence)
}

/// Column `index` becomes a unit vector of the first `dim` rows that is orthogonal to those before.
fn complete(vectors: &mut Matrix, index: usize, dim: usize) {
    let rows = vectors.rows();
    let (done, rest) = vectors.values_mut().split_at_mut(index * rows);
    let own = &mut rest[..rows];
    for axis in 0..dim {
        own.fill(0.0);
        own[axis] = 1.0;
        // Twice is enough.
        for other in done.chunks_exact(rows).chain(done.chunks_exact(rows)) {
            let along = dot(other, own);
            add_scaled(own, -along, other);
        }
        let square = dot(own, own);
        // Of an orthonormal basis some axis keeps at least this much.
        if square * dim as f64 >= 0.5 {
            let norm = square.sqrt();
            own.iter_mut().for_each(|entry| *entry /= norm);
            return;
        }
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
        let found = Singular::new(&matrix).unwrap();
        assert_eq!(found.rank(), 3);
        for side in [found.left(), found.right()] {
            let mut gram = Matrix::zeros(4, 4);
            symmetric_rank_k(side, &mut gram);
            let off =
                |i: usize| (gram.values()[i] - f64::from(u8::from(i.is_multiple_of(5)))).abs();
            assert!((0..16).all(|entry| off(entry) < 1e-13), "still orthonormal");
        }
        assert_eq!(Singular::new(&Matrix::zeros(4, 3)).unwrap().rank(), 0);
        matrix[(1, 3)] = f64::NAN;
        let error = Singular::new(&matrix).unwrap_err();
        assert_eq!(error, EigenError::NotFinite { row: 1, column: 3 });
    }
}
