//! Check values, in every shape in which they can be asked for.

use posteria_linalg::Cholesky;

use super::*;

#[test]
fn covariances_are_the_formulas_wherever_they_are_asked_for() {
    for (index, covariance) in all().iter().enumerate() {
        let n = [1, 7, 8, 21, 40][index % 5];
        let points = normals(n, covariance.inputs(), index as u64);
        let new = normals(13, covariance.inputs(), 500 + index as u64);
        let logs = log_parameters(covariance, index as u64);
        let mut evaluator = covariance.evaluator(&points);
        evaluator.set(&logs);
        let mut filled = Matrix::from_fn(n, n, |_, _| f64::NAN);
        evaluator.fill(&mut filled);
        let mut crossed = Matrix::from_fn(13, n, |_, _| f64::NAN);
        evaluator.cross(&new, &mut crossed);
        let mut itself = Matrix::from_fn(n, n, |_, _| f64::NAN);
        evaluator.cross(&points, &mut itself);
        let mut diagonal = vec![f64::NAN; 13];
        evaluator.diagonal(&new, &mut diagonal);
        let close = |value: f64, x: &[f64], y: &[f64]| {
            let expected = reference(covariance, &logs, x, y);
            assert!(
                (value - expected).abs() < 1e-13 * (1.0 + expected.abs()),
                "{}",
                name(covariance)
            );
        };
        for column in 0..n {
            let y = row(&points, column);
            for r in 0..n {
                if r < column {
                    assert!(filled[(r, column)].is_nan());
                } else {
                    close(filled[(r, column)], &row(&points, r), &y);
                    let bits = filled[(r, column)].to_bits();
                    assert_eq!(itself[(r, column)].to_bits(), bits, "{}", name(covariance));
                    assert_eq!(itself[(column, r)].to_bits(), bits, "{}", name(covariance));
                }
            }
            for r in 0..13 {
                close(crossed[(r, column)], &row(&new, r), &y);
            }
        }
        for (r, variance) in diagonal.iter().enumerate() {
            close(*variance, &row(&new, r), &row(&new, r));
        }
        // Some rows, in any order and twice.
        let rows = [n - 1, 0, n / 2, 0];
        let mut some = Matrix::from_fn(4, 4, |_, _| f64::NAN);
        evaluator.fill_rows(&rows, &mut some);
        for column in 0..4 {
            for r in column..4 {
                let (high, low) = (rows[r].max(rows[column]), rows[r].min(rows[column]));
                assert_eq!(some[(r, column)].to_bits(), filled[(high, low)].to_bits());
            }
        }
    }
}

#[test]
fn columns_longer_than_a_tile_are_whole() {
    let factors = vec![factor(Function::Matern52, &[0, 1], Sharing::PerInput)];
    let covariance = Covariance::new(vec![factors], 2);
    let points = normals(1100, 2, 3);
    let logs = log_parameters(&covariance, 3);
    let mut evaluator = covariance.evaluator(&points);
    evaluator.set(&logs);
    let mut filled = Matrix::zeros(1100, 1100);
    evaluator.fill(&mut filled);
    for column in (0..1100).step_by(37) {
        for r in column..1100 {
            let expected = reference(&covariance, &logs, &row(&points, r), &row(&points, column));
            assert!((filled[(r, column)] - expected).abs() < 1e-13);
        }
    }
}

#[test]
fn every_covariance_is_positive_definite() {
    for (index, covariance) in all().iter().enumerate() {
        let points = normals(30, covariance.inputs(), 70 + index as u64);
        for set in 0..3 {
            let mut evaluator = covariance.evaluator(&points);
            evaluator.set(&log_parameters(covariance, 300 + 7 * set + index as u64));
            let mut filled = Matrix::zeros(30, 30);
            evaluator.fill(&mut filled);
            let largest = (0..30).map(|i| filled[(i, i)]).fold(0.0, f64::max);
            for i in 0..30 {
                filled[(i, i)] += 1e-12 * largest;
            }
            assert!(Cholesky::new(&filled).is_ok(), "{}", name(covariance));
        }
    }
}
