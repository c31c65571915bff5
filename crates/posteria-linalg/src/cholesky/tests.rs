//! Check the factor and everything computed from it against plain loops.

use super::*;
use crate::matrix::tests::random;
use crate::symmetric_rank_k;
use crate::threads::tests::with_budgets;

/// Dimensions on both sides of every threshold.
fn sizes() -> impl Iterator<Item = usize> {
    (0..=70).chain([96, 129, 200])
}

fn positive_definite(dim: usize) -> Matrix {
    let mut matrix = Matrix::zeros(dim, dim);
    symmetric_rank_k(&random(dim + 3, dim, 9), &mut matrix);
    for i in 0..dim {
        matrix[(i, i)] += 0.5;
    }
    matrix
}

/// The textbook algorithm, entry by entry.
fn by_loops(matrix: &Matrix) -> Result<Matrix, NotPositiveDefinite> {
    let dim = matrix.rows();
    let mut lower = Matrix::zeros(dim, dim);
    for row in 0..dim {
        for column in 0..=row {
            let inner: f64 = (0..column).map(|k| lower[(row, k)] * lower[(column, k)]).sum();
            let rest = matrix[(row, column)] - inner;
            if row == column {
                if rest.is_nan() || rest <= 0.0 || rest.is_infinite() {
                    return Err(NotPositiveDefinite { pivot: row });
                }
                lower[(row, row)] = rest.sqrt();
            } else {
                lower[(row, column)] = rest / lower[(column, column)];
            }
        }
    }
    Ok(lower)
}

fn assert_close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b}");
    }
}

#[test]
fn the_factor_is_the_textbook_one() {
    for dim in sizes() {
        let matrix = positive_definite(dim);
        let cholesky = Cholesky::new(&matrix).unwrap();
        let expected = by_loops(&matrix).unwrap();
        assert_close(cholesky.factor().values(), expected.values(), 1e-13 * (dim + 1) as f64);
        let log_determinant: f64 = (0..dim).map(|i| 2.0 * expected[(i, i)].ln()).sum();
        assert!((cholesky.log_determinant() - log_determinant).abs() < 1e-12 * (dim + 1) as f64);
    }
}

#[test]
fn only_the_lower_half_is_read_and_room_can_be_used_again() {
    for dim in [3, 12, 13, 40, 129] {
        let mut matrix = positive_definite(dim);
        let first = Cholesky::new(&matrix).unwrap();
        for column in 1..dim {
            matrix.column_mut(column)[..column].fill(f64::NAN);
        }
        let mut room = Cholesky::identity(dim);
        let mut broken = Matrix::identity(dim);
        broken[(dim - 1, dim - 1)] = -1.0;
        assert_eq!(room.factorize(&broken), Err(NotPositiveDefinite { pivot: dim - 1 }));
        room.factorize(&matrix).unwrap();
        assert_eq!(first.factor(), room.factor());
    }
}

#[test]
fn the_first_bad_pivot_is_named() {
    for dim in sizes().filter(|&dim| dim > 0) {
        for at in [0, dim / 3, dim / 2, dim - 1] {
            for bad in [-1.0, 0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let mut matrix = positive_definite(dim);
                matrix[(at, at)] = bad;
                let expected = by_loops(&matrix).map(|_| ()).unwrap_err();
                assert_eq!(expected.pivot, at);
                assert_eq!(Cholesky::new(&matrix).map(|_| ()), Err(expected), "{dim} {at} {bad}");
            }
        }
    }
}

#[test]
fn nan_anywhere_in_the_lower_half_is_an_error_at_its_row() {
    for dim in (1..=70).step_by(3).chain([200]) {
        for (row, column) in [(dim - 1, 0), (dim / 2, dim / 4), (dim - 1, dim / 2)] {
            for bad in [f64::NAN, f64::INFINITY, 1e200] {
                let mut matrix = positive_definite(dim);
                matrix[(row, column)] = bad;
                if row == column && bad.to_bits() == 1e200_f64.to_bits() {
                    continue;
                }
                let error = Cholesky::new(&matrix).map(|_| ()).unwrap_err();
                assert_eq!(error.pivot, row, "{dim} ({row}, {column}) {bad}");
            }
        }
    }
}

#[test]
fn bits_do_not_depend_on_where_the_buffers_lie() {
    let mut kept = Vec::new();
    for dim in [20, 37, 70, 129] {
        let matrix = positive_definite(dim);
        let first = Cholesky::new(&matrix).unwrap();
        for length in 0..16 {
            // Odd blocks in between move the next allocations to other alignments.
            kept.push(vec![0.0; 2 * length + 1]);
            assert_eq!(Cholesky::new(&matrix.clone()).unwrap().factor(), first.factor());
        }
    }
}

#[test]
fn products_and_solutions_undo_each_other() {
    for dim in sizes() {
        let matrix = positive_definite(dim);
        let cholesky = Cholesky::new(&matrix).unwrap();
        let x = random(dim, 3, 4);
        let tolerance = 1e-12 * (dim + 1) as f64;
        let mut product = Matrix::zeros(dim, 3);
        crate::multiply(&matrix, &x, &mut product);
        let mut solution = product.clone();
        cholesky.solve_matrix(&mut solution);
        assert_close(solution.values(), x.values(), tolerance);
        let mut whitened = product.clone();
        cholesky.solve_lower_matrix(&mut whitened);
        let mut unrotated = product.clone();
        cholesky.solve_lower_transposed_matrix(&mut unrotated);
        for column in 0..3 {
            let mut one = product.column(column).to_vec();
            cholesky.solve_lower_transposed(&mut one);
            assert_close(&one, unrotated.column(column), tolerance);
            let mut one = product.column(column).to_vec();
            cholesky.solve_lower(&mut one);
            assert_close(&one, whitened.column(column), tolerance);
            // L⁻¹ A x = Lᵀ x.
            let mut other = x.column(column).to_vec();
            cholesky.multiply_lower_transposed(&mut other);
            assert_close(&one, &other, tolerance);
            cholesky.multiply_lower(&mut other);
            assert_close(&other, product.column(column), tolerance);
            cholesky.solve(&mut other);
            assert_close(&other, x.column(column), tolerance);
        }
    }
}

#[test]
fn inverses_invert() {
    for dim in sizes() {
        let matrix = positive_definite(dim);
        let cholesky = Cholesky::new(&matrix).unwrap();
        let tolerance = 1e-12 * (dim + 1) as f64;
        let mut inverse = Matrix::from_fn(dim, dim, |_, _| f64::NAN);
        cholesky.inverse(&mut inverse);
        let mut product = Matrix::zeros(dim, dim);
        crate::multiply(&matrix, &inverse, &mut product);
        assert_close(product.values(), Matrix::identity(dim).values(), tolerance);
        let mut mirrored = inverse.clone();
        mirrored.mirror_lower();
        assert_eq!(mirrored, inverse);
        let mut lower = Matrix::from_fn(dim, dim, |_, _| f64::NAN);
        let mut diagonal = vec![f64::NAN; dim];
        cholesky.inverse_diagonal(&mut lower, &mut diagonal);
        let expected: Vec<f64> = (0..dim).map(|i| inverse[(i, i)]).collect();
        assert_close(&diagonal, &expected, tolerance);
        crate::multiply(cholesky.factor(), &lower, &mut product);
        assert_close(product.values(), Matrix::identity(dim).values(), tolerance);
        assert!((1..dim).all(|i| lower[(i - 1, i)].to_bits() == 0));
    }
}

#[test]
fn a_matrix_can_be_factorised_where_it_was_written() {
    for dim in sizes().chain([600]) {
        let matrix = positive_definite(dim);
        let expected = Cholesky::new(&matrix).unwrap();
        let mut room = Cholesky::identity(dim);
        let values = room.matrix_mut();
        values.values_mut().fill(f64::NAN);
        for column in 0..dim {
            values.column_mut(column)[column..].copy_from_slice(&matrix.column(column)[column..]);
        }
        room.refactorize().unwrap();
        assert_eq!(room.factor(), expected.factor());
        if dim > 0 {
            let last = dim - 1;
            room.matrix_mut().values_mut().fill(0.0);
            for i in 0..dim {
                room.matrix_mut()[(i, i)] = if i == last { -1.0 } else { 1.0 };
            }
            assert_eq!(room.refactorize(), Err(NotPositiveDefinite { pivot: last }));
        }
    }
}

#[test]
fn large_matrices_are_factorised_and_inverted_with_the_same_bits_by_any_threads() {
    // Not a multiple of the block, and just on the threshold.
    for dim in [threads::LARGE, 700] {
        let matrix = positive_definite(dim);
        let right = random(dim, 300, 3);
        let results = with_budgets(|| {
            let cholesky = Cholesky::new(&matrix).unwrap();
            let mut lower = Matrix::from_fn(dim, dim, |_, _| f64::NAN);
            let mut inverse = lower.clone();
            cholesky.inverse_lower(&mut lower);
            cholesky.inverse(&mut inverse);
            let mut solution = right.clone();
            cholesky.solve_matrix(&mut solution);
            let mut product = Matrix::zeros(dim, 300);
            crate::multiply(&inverse, &right, &mut product);
            [cholesky.factor().clone(), lower, inverse, solution, product]
        });
        for other in &results[1..] {
            // NaN would compare as different.
            assert!(results[0] == *other);
        }
        let [factor, lower, inverse, solution, product] = &results[0];
        let tolerance = 1e-12 * dim as f64;
        let expected = by_loops(&matrix).unwrap();
        assert_close(factor.values(), expected.values(), tolerance);
        assert!((1..dim).all(|i| factor[(i - 1, i)].to_bits() == 0));
        assert!((1..dim).all(|i| lower[(i - 1, i)].to_bits() == 0));
        assert_close(solution.values(), product.values(), tolerance);
        let identity = Matrix::identity(dim);
        let mut product = Matrix::zeros(dim, dim);
        crate::multiply(factor, lower, &mut product);
        assert_close(product.values(), identity.values(), tolerance);
        crate::multiply(&matrix, inverse, &mut product);
        assert_close(product.values(), identity.values(), tolerance);
    }
}

#[test]
fn a_bad_pivot_of_a_large_matrix_is_named() {
    for (at, bad) in [(3, -1.0), (127, 0.0), (128, f64::NAN), (517, f64::INFINITY), (599, -1e9)] {
        let mut matrix = positive_definite(600);
        matrix[(at, at)] = bad;
        assert_eq!(Cholesky::new(&matrix).map(|_| ()), Err(NotPositiveDefinite { pivot: at }));
    }
}
