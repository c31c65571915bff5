//! Eigenvalues and eigenvectors of a symmetric matrix.

use crate::{Matrix, add_scaled, dot};

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
        let mut work = matrix.clone();
        work.mirror_lower();
        let largest =
            work.values().iter().fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
        // A power of two: exact, and no square overflows.
        let scale = if largest > 0.0 { largest.log2().floor().exp2() } else { 1.0 };
        work.values_mut().iter_mut().for_each(|entry| *entry /= scale);
        let mut tridiagonal = Tridiagonal::new(work);
        tridiagonal.diagonalize()?;
        let Tridiagonal { mut diagonal, vectors, .. } = tridiagonal;
        diagonal.iter_mut().for_each(|value| *value *= scale);
        let mut order: Vec<usize> = (0..dim).collect();
        order.sort_by(|a, b| diagonal[*a].total_cmp(&diagonal[*b]));
        Ok(SymmetricEigen {
            values: order.iter().map(|index| diagonal[*index]).collect(),
            vectors: Matrix::from_fn(dim, dim, |row, column| vectors[(row, order[column])]),
        })
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

/// A = Q T Qᵀ with T tridiagonal.
struct Tridiagonal {
    diagonal: Vec<f64>,
    /// Entries beside the diagonal; the last is zero.
    beside: Vec<f64>,
    /// Q, column by column.
    vectors: Matrix,
}

impl Tridiagonal {
    /// Householder reflections I - β v vᵀ from both sides, column by column [Golub and Van Loan
    /// 2013, §8.3.1].
    fn new(mut a: Matrix) -> Self {
        let dim = a.rows();
        let (mut diagonal, mut beside) = (vec![0.0; dim], vec![0.0; dim]);
        let (mut factors, mut image) = (vec![0.0; dim], vec![0.0; dim]);
        for k in 0..dim {
            diagonal[k] = a[(k, k)];
            if k + 1 == dim {
                break;
            }
            let mut v = a.column(k)[k + 1..].to_vec();
            (factors[k], beside[k]) = reflector(&mut v);
            let beta = factors[k];
            // A ← A - v wᵀ - w vᵀ with w = β (A v - ½ β (vᵀ A v) v).
            let w = &mut image[k + 1..];
            for (column, w) in (k + 1..dim).zip(w.iter_mut()) {
                *w = beta * dot(&a.column(column)[k + 1..], &v);
            }
            let half = 0.5 * beta * dot(w, &v);
            add_scaled(w, -half, &v);
            for (index, column) in (k + 1..dim).enumerate() {
                let entries = &mut a.column_mut(column)[k + 1..];
                add_scaled(entries, -w[index], &v);
                add_scaled(entries, -v[index], w);
            }
            a.column_mut(k)[k + 1..].copy_from_slice(&v);
        }
        let mut vectors = Matrix::identity(dim);
        for k in (0..dim.saturating_sub(1)).rev() {
            let v = &a.column(k)[k + 1..];
            for column in k + 1..dim {
                reflect(factors[k], v, &mut vectors.column_mut(column)[k + 1..]);
            }
        }
        Tridiagonal { diagonal, beside, vectors }
    }

    /// Makes T diagonal by implicit QL steps with Wilkinson's shift [Golub and Van Loan 2013, §8.3.5].
    fn diagonalize(&mut self) -> Result<(), EigenError> {
        /// Steps for one eigenvalue; two are usual.
        const MOST: usize = 60;
        let dim = self.diagonal.len();
        for first in 0..dim {
            let mut steps = 0;
            loop {
                let negligible = |index: &usize| {
                    let (d, e) = (&self.diagonal, self.beside[*index]);
                    e.abs() <= f64::EPSILON * (d[*index].abs() + d[*index + 1].abs())
                };
                let last = (first..dim - 1).find(negligible).unwrap_or(dim - 1);
                if last == first {
                    break;
                }
                steps += 1;
                if steps > MOST {
                    return Err(EigenError::NoConvergence);
                }
                self.step(first, last);
            }
        }
        Ok(())
    }

    /// One step on the rows from `first` to `last`, which nothing connects with the others.
    fn step(&mut self, first: usize, last: usize) {
        let (d, e) = (&mut self.diagonal, &mut self.beside);
        let half = 0.5 * (d[first + 1] - d[first]) / e[first];
        let shift = d[first] - e[first] / (half + half.hypot(1.0).copysign(half));
        // A bulge runs from the lower end to the upper.
        let (mut cosine, mut sine, mut moved) = (1.0, 1.0, 0.0);
        let mut bulge = d[last] - shift;
        for i in (first..last).rev() {
            let (far, near) = (sine * e[i], cosine * e[i]);
            let length = far.hypot(bulge);
            e[i + 1] = length;
            if length <= 0.0 {
                // The matrix falls apart here.
                d[i + 1] -= moved;
                e[last] = 0.0;
                return;
            }
            (sine, cosine) = (far / length, bulge / length);
            let old = d[i + 1] - moved;
            let turned = (d[i] - old) * sine + 2.0 * cosine * near;
            moved = sine * turned;
            d[i + 1] = old + moved;
            bulge = cosine * turned - near;
            rotate(&mut self.vectors, (i, i + 1), (cosine, sine));
        }
        d[first] -= moved;
        e[first] = bulge;
        e[last] = 0.0;
    }
}

/// v becomes the direction of the reflection I - β v vᵀ that maps x on α e₁: β, α.
pub(crate) fn reflector(x: &mut [f64]) -> (f64, f64) {
    let Some((first, rest)) = x.split_first_mut() else { return (0.0, 0.0) };
    let below = dot(rest, rest);
    if below <= 0.0 {
        return (0.0, *first);
    }
    let norm = (*first * *first + below).sqrt();
    // Of the two signs that without cancellation.
    let alpha = -norm.copysign(*first);
    *first -= alpha;
    (2.0 / (*first * *first + below), alpha)
}

/// x ← (I - β v vᵀ) x.
pub(crate) fn reflect(beta: f64, v: &[f64], x: &mut [f64]) {
    let along = beta * dot(v, x);
    add_scaled(x, -along, v);
}

/// Columns x, y of a matrix ← c x - s y, s x + c y.
pub(crate) fn rotate(matrix: &mut Matrix, (x, y): (usize, usize), (cosine, sine): (f64, f64)) {
    let rows = matrix.rows();
    let (left, right) = matrix.values_mut().split_at_mut(y * rows);
    let pairs = left[x * rows..][..rows].iter_mut().zip(&mut right[..rows]);
    for (x, y) in pairs {
        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
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
