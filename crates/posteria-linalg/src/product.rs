//! Products of matrices and vectors, into the caller's buffers.

use crate::{Matrix, add_scaled, dot};

/// `out` ← A x.
///
/// # Panics
/// If the dimensions do not fit.
pub fn matrix_vector(a: &Matrix, x: &[f64], out: &mut [f64]) {
    assert!(x.len() == a.columns() && out.len() == a.rows(), "dimensions fit");
    out.fill(0.0);
    for (column, &value) in x.iter().enumerate() {
        add_scaled(out, value, a.column(column));
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
