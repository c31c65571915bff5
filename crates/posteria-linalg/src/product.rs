//! Products of matrices and vectors, into the caller's buffers.

use multiversion::multiversion;

use crate::gemm::{Into, Shape, gemm};
use crate::panel::{fma, sum_lanes};
use crate::view::{View, ViewMut};
use crate::{Matrix, add_scaled, dot, threads};

/// `out` ← A x.
///
/// # Panics
/// If the dimensions do not fit.
pub fn matrix_vector(a: &Matrix, x: &[f64], out: &mut [f64]) {
    assert!(x.len() == a.columns() && out.len() == a.rows(), "dimensions fit");
    out.fill(0.0);
    // Four columns at a time: `out` is loaded and stored once for the four.
    let (blocks, rest) = x.as_chunks::<4>();
    for (block, x) in blocks.iter().enumerate() {
        let [a0, a1, a2, a3] = [0, 1, 2, 3].map(|lane| a.column(4 * block + lane));
        for ((((out, a0), a1), a2), a3) in out.iter_mut().zip(a0).zip(a1).zip(a2).zip(a3) {
            *out += (a0 * x[0] + a1 * x[1]) + (a2 * x[2] + a3 * x[3]);
        }
    }
    for (lane, value) in rest.iter().enumerate() {
        add_scaled(out, *value, a.column(4 * blocks.len() + lane));
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
    let fits = a.columns() == b.rows() && out.rows() == a.rows() && out.columns() == b.columns();
    assert!(fits, "dimensions fit");
    if b.columns() == 1 {
        // The general product is slower for a single column.
        matrix_vector(a, b.column(0), out.column_mut(0));
    } else {
        product(a.view(), b.view(), out.view_mut());
    }
}

/// `out` ← Aᵀ B.
///
/// # Panics
/// If the dimensions do not fit.
pub fn transposed_multiply(a: &Matrix, b: &Matrix, out: &mut Matrix) {
    let fits = a.rows() == b.rows() && out.rows() == a.columns() && out.columns() == b.columns();
    assert!(fits, "dimensions fit");
    if b.columns() == 1 {
        transposed_matrix_vector(a, b.column(0), out.column_mut(0));
    } else if a.columns().min(b.columns()) <= SKINNY {
        cross_products(a, b, out, false);
    } else {
        product(a.view().transposed(), b.view(), out.view_mut());
    }
}

/// `out` ← A Bᵀ.
///
/// # Panics
/// If the dimensions do not fit.
pub fn multiply_transposed(a: &Matrix, b: &Matrix, out: &mut Matrix) {
    let fits = a.columns() == b.columns() && out.rows() == a.rows() && out.columns() == b.rows();
    assert!(fits, "dimensions fit");
    product(a.view(), b.view().transposed(), out.view_mut());
}

/// `out` ← Aᵀ A, both halves.
///
/// # Panics
/// If the dimensions do not fit.
pub fn symmetric_rank_k(a: &Matrix, out: &mut Matrix) {
    assert!(out.rows() == a.columns() && out.columns() == a.columns(), "dimensions fit");
    if a.columns() <= SKINNY {
        cross_products(a, a, out, true);
    } else {
        gemm(out.view_mut(), Into::Replace, a.view().transposed(), a.view(), Shape::LowerProduct);
    }
    out.mirror_lower();
}

/// Matrices of at most so many columns are multiplied column by column.
const SKINNY: usize = 32;

/// `out` ← Aᵀ B, or its lower half: sums over the rows, which are in vector lanes.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn cross_products(a: &Matrix, b: &Matrix, out: &mut Matrix, lower: bool) {
    /// Rows at a time, whose columns stay in the first cache.
    const ROWS: usize = 512;
    const LANES: usize = 8;
    const SIDE: usize = 4;
    out.values_mut().fill(0.0);
    let rows = a.rows();
    for start in (0..rows).step_by(ROWS) {
        let size = ROWS.min(rows - start);
        for (i, j) in blocks_of::<SIDE>(a.columns(), b.columns(), lower) {
            // Beyond the last column it is that one again.
            let columns = |matrix: &'_ Matrix, first: usize| -> [usize; SIDE] {
                std::array::from_fn(|side| (first + side).min(matrix.columns() - 1))
            };
            let (left, right) = (columns(a, i), columns(b, j));
            let left: [&[f64]; SIDE] = left.map(|column| &a.column(column)[start..][..size]);
            let right: [&[f64]; SIDE] = right.map(|column| &b.column(column)[start..][..size]);
            let mut sums = [[[0.0; LANES]; SIDE]; SIDE];
            for block in 0..size / LANES {
                let at = block * LANES;
                let x = left.map(|column| lanes::<LANES>(&column[at..]));
                for (y, sums) in right.iter().zip(&mut sums) {
                    let y = lanes::<LANES>(&y[at..]);
                    for (x, sum) in x.iter().zip(sums) {
                        *sum = fma(*x, y, *sum);
                    }
                }
            }
            let done = size / LANES * LANES;
            for (column, sums) in sums.iter().enumerate().take(b.columns() - j) {
                for (row, sum) in sums.iter().enumerate().take(a.columns() - i) {
                    let rest = left[row][done..].iter().zip(&right[column][done..]);
                    let rest: f64 = rest.map(|(x, y)| x * y).sum();
                    out[(i + row, j + column)] += sum_lanes(*sum) + rest;
                }
            }
        }
    }
}

/// First rows and columns of the blocks of a matrix, or of those that meet its lower half.
fn blocks_of<const SIDE: usize>(
    rows: usize,
    columns: usize,
    lower: bool,
) -> impl Iterator<Item = (usize, usize)> {
    (0..columns).step_by(SIDE).flat_map(move |column| {
        let first = if lower { column } else { 0 };
        (first..rows).step_by(SIDE).map(move |row| (row, column))
    })
}

/// The first lanes of a column.
#[inline(always)]
fn lanes<const N: usize>(column: &[f64]) -> [f64; N] {
    *column.first_chunk().expect("as many rows are left")
}

/// `out` ← A B; large products block by block of columns.
fn product(a: View<'_>, b: View<'_>, out: ViewMut<'_>) {
    if out.rows.min(a.columns) < threads::LARGE {
        return gemm(out, Into::Replace, a, b, Shape::Full);
    }
    threads::for_each_block(
        out,
        |_| 1.0,
        |out, first| {
            let columns = b.block((0, first), (b.rows, out.columns));
            gemm(out, Into::Replace, a, columns, Shape::Full);
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::tests::random;

    fn by_loops(a: &Matrix, b: &Matrix) -> Matrix {
        Matrix::from_fn(a.rows(), b.columns(), |row, column| {
            (0..a.columns()).map(|k| a[(row, k)] * b[(k, column)]).sum()
        })
    }

    fn transpose(a: &Matrix) -> Matrix {
        Matrix::from_fn(a.columns(), a.rows(), |row, column| a[(column, row)])
    }

    /// Sums of `terms` products of numbers below 1 agree to this.
    fn assert_close(a: &Matrix, b: &Matrix, terms: usize) {
        let tolerance = 4.0 * f64::EPSILON * (terms.max(1) as f64);
        for (a, b) in a.values().iter().zip(b.values()) {
            assert!((a - b).abs() <= tolerance, "{a} is not {b}");
        }
    }

    #[test]
    fn products_agree_with_plain_loops() {
        let sizes = [0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 70];
        let shapes = sizes.into_iter().flat_map(|rows| sizes.map(|inner| (rows, inner)));
        for (index, (rows, inner)) in shapes.chain([(200, 31), (31, 200)]).enumerate() {
            let columns = [0, 1, 2, 6, 19][index % 5];
            let a = random(rows, inner, 1);
            let b = random(inner, columns, 2);
            let expected = by_loops(&a, &b);
            // A product must replace whatever the buffer held, NaN included.
            let stale = Matrix::from_fn(rows, columns, |_, _| f64::NAN);
            let mut out = stale.clone();
            multiply(&a, &b, &mut out);
            assert_close(&out, &expected, inner);
            let mut out = stale.clone();
            transposed_multiply(&transpose(&a), &b, &mut out);
            assert_close(&out, &expected, inner);
            let mut out = stale;
            multiply_transposed(&a, &transpose(&b), &mut out);
            assert_close(&out, &expected, inner);
        }
    }

    #[test]
    fn the_gram_matrix_is_symmetric_and_right() {
        for (rows, columns) in [(0, 3), (1, 1), (5, 3), (3, 5), (40, 17), (200, 33), (20, 70)] {
            let a = random(rows, columns, 3);
            let mut gram = Matrix::from_fn(columns, columns, |_, _| f64::NAN);
            symmetric_rank_k(&a, &mut gram);
            assert_close(&gram, &by_loops(&transpose(&a), &a), rows);
            assert_eq!(transpose(&gram), gram);
        }
    }

    #[test]
    fn a_dot_product_of_unequal_lengths_stops_at_the_shorter() {
        let numbers: Vec<f64> = (1..=20).map(f64::from).collect();
        for short in 1..20 {
            for long in short..20 {
                let expected: f64 = numbers[..short].iter().map(|x| x * x).sum();
                let sums = [
                    dot(&numbers[..short], &numbers[..long]),
                    dot(&numbers[..long], &numbers[..short]),
                ];
                assert_eq!(sums.map(f64::to_bits), [expected.to_bits(); 2]);
            }
        }
    }

    #[test]
    #[should_panic(expected = "dimensions fit")]
    fn a_product_into_too_few_rows_is_refused() {
        multiply(&random(3, 2, 1), &random(2, 2, 1), &mut Matrix::zeros(2, 2));
    }
}
