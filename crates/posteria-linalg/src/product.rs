//! Products of matrices and vectors, into the caller's buffers.

use crate::Matrix;

/// Σ a_i b_i, over the shorter of the two.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Four partial sums let the loop vectorise; the order is fixed, so the bits are too.
    let mut sums = [0.0; 4];
    let (a_blocks, a_rest) = a.as_chunks::<4>();
    let (b_blocks, b_rest) = b.as_chunks::<4>();
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// `out` ← A x.
///
/// # Panics
/// If the dimensions do not fit.
pub fn matrix_vector(a: &Matrix, x: &[f64], out: &mut [f64]) {
    assert!(x.len() == a.columns() && out.len() == a.rows(), "dimensions fit");
    out.fill(0.0);
    for (column, &value) in x.iter().enumerate() {
        for (out, entry) in out.iter_mut().zip(a.column(column)) {
            *out += entry * value;
        }
    }
}

/// `out` ← Aᵀ x.
///
/// # Panics
/// If the dimensions do not fit.
pub fn transposed_matrix_vector(a: &Matrix, x: &[f64], out: &mut [f64]) {
    assert!(x.len() == a.rows() && out.len() == a.columns(), "dimensions fit");
    for (column, out) in out.iter_mut().enumerate() {
        *out = dot(a.column(column), x);
    }
}

/// `out` ← A B.
///
/// # Panics
/// If the dimensions do not fit.
pub fn multiply(a: &Matrix, b: &Matrix, out: &mut Matrix) {
    assert!(a.columns() == b.rows() && out.columns() == b.columns(), "dimensions fit");
    for column in 0..b.columns() {
        matrix_vector(a, b.column(column), out.column_mut(column));
    }
}

/// `out` ← Aᵀ B.
///
/// # Panics
/// If the dimensions do not fit.
pub fn transposed_multiply(a: &Matrix, b: &Matrix, out: &mut Matrix) {
    assert!(a.rows() == b.rows() && out.columns() == b.columns(), "dimensions fit");
    for column in 0..b.columns() {
        transposed_matrix_vector(a, b.column(column), out.column_mut(column));
    }
}
