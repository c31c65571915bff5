//! Least squares, their criteria, and designs that leave them open.

use super::super::{LeastSquares, LeastSquaresError};
use super::*;
use posteria_linalg::{Cholesky, dot};

const CLOSE: f64 = 1e-10;

/// 12 rows of 3 columns, and targets.
fn problem(seed: u64) -> (Matrix, Vec<f64>) {
    let mut noise = stream(seed);
    let x = Matrix::from_fn(12, 3, |_, k| 10.0 * k as f64 + noise.normal());
    let y = (0..12).map(|row| 4.0 + x[(row, 0)] - 0.5 * x[(row, 1)] + noise.normal()).collect();
    (x, y)
}

#[test]
fn the_estimate_solves_the_normal_equations_and_gamma_is_a_trace() {
    for (intercept, penalty) in [(false, 0.0), (true, 0.0), (false, 2.5), (true, 2.5)] {
        let (x, y) = problem(90);
        let fit = LeastSquares::new(&x, &y, intercept, penalty).unwrap();
        let first = usize::from(intercept);
        let full =
            Matrix::from_fn(12, 3 + first, |i, k| if k < first { 1.0 } else { x[(i, k - first)] });
        let gram = |alpha: f64| {
            Matrix::from_fn(3 + first, 3 + first, |i, j| {
                let ridge = if i == j && i >= first { alpha } else { 0.0 };
                dot(full.column(i), full.column(j)) + ridge
            })
        };
        let factor = Cholesky::new(&gram(penalty)).unwrap();
        let mut expected: Vec<f64> = (0..3 + first).map(|k| dot(full.column(k), &y)).collect();
        factor.solve(&mut expected);
        let found: Vec<f64> =
            fit.intercept().into_iter().chain(fit.weights().iter().copied()).collect();
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-8, "{found} {expected}");
        }
        // The trace of the hat matrix X(XᵀX + αI)⁻¹Xᵀ.
        let mut hat = gram(0.0);
        factor.solve_matrix(&mut hat);
        let trace: f64 = (0..3 + first).map(|k| hat[(k, k)]).sum();
        assert!((fit.effective_parameters() - trace).abs() < 1e-8);
        assert_eq!(fit.rank(), 3 + first);
        let squares: f64 = (0..12)
            .map(|i| {
                let row: Vec<f64> = (0..3).map(|k| x[(i, k)]).collect();
                (y[i] - fit.predict(&row)).powi(2)
            })
            .sum();
        assert!((fit.residual_squares() - squares).abs() < CLOSE);
        assert!((fit.residual_variance().unwrap() - squares / (12.0 - trace)).abs() < 1e-8);
        let criteria = fit.criteria().unwrap();
        let log_likelihood: f64 = {
            let variance = squares / 12.0;
            -6.0 * (2.0 * std::f64::consts::PI * variance).ln() - 0.5 * squares / variance
        };
        assert!((fit.log_likelihood() - log_likelihood).abs() < 1e-8);
        assert!((criteria.aic + 2.0 * log_likelihood - 2.0 * (trace + 1.0)).abs() < 1e-7);
        assert!((criteria.bic + 2.0 * log_likelihood - 12_f64.ln() * (trace + 1.0)).abs() < 1e-7);
        let p = (3 + first) as f64;
        let fpe = squares / 12.0 * (12.0 + p) / (12.0 - p);
        assert!((criteria.fpe.unwrap() - fpe).abs() < CLOSE);
        let gpe = squares / 12.0 + 2.0 * trace / 12.0 * squares / (12.0 - trace);
        assert!((criteria.gpe - gpe).abs() < 1e-8);
        assert_eq!(penalty > 0.0, (criteria.gpe - fpe).abs() > 1e-8, "equal without a penalty");
    }
}

#[test]
fn collinear_columns_and_few_rows_give_the_estimate_of_least_norm() {
    let (x, y) = problem(91);
    // Every column twice and a constant one: the weights are halved, the fit is the same.
    let twice = Matrix::from_fn(12, 7, |i, k| if k == 6 { 3.0 } else { x[(i, k % 3)] });
    let once = LeastSquares::new(&x, &y, true, 0.0).unwrap();
    let fit = LeastSquares::new(&twice, &y, true, 0.0).unwrap();
    assert_eq!((once.rank(), fit.rank()), (4, 4));
    for k in 0..6 {
        assert!((fit.weights()[k] - 0.5 * once.weights()[k % 3]).abs() < 1e-9);
    }
    assert!(fit.weights()[6].abs() < 1e-9);
    assert!((fit.residual_squares() - once.residual_squares()).abs() < 1e-9);
    // More columns than rows: a perfect fit that says nothing about new rows.
    let wide = random_matrix(4, 9, &mut stream(92));
    let fit = LeastSquares::new(&wide, &y[..4], false, 0.0).unwrap();
    assert_eq!(fit.rank(), 4);
    assert!(fit.residual_squares() < 1e-20);
    assert_eq!((fit.residual_variance(), fit.criteria()), (None, None));
    // Least norm: orthogonal to what no row sees, so twice the rows of X span it.
    let single =
        LeastSquares::new(&Matrix::from_fn(1, 2, |_, k| [3.0, 4.0][k]), &[10.0], false, 0.0);
    let single = single.unwrap();
    assert!((single.weights()[0] - 1.2).abs() < CLOSE && (single.weights()[1] - 1.6).abs() < CLOSE);
    // A penalty settles it: γ < n.
    let fit = LeastSquares::new(&wide, &y[..4], false, 1.0).unwrap();
    assert!(fit.effective_parameters() < 4.0 && fit.criteria().unwrap().fpe.is_none());
    let nothing = LeastSquares::new(&Matrix::zeros(3, 0), &[1.0, 2.0, 6.0], true, 0.0).unwrap();
    assert!((nothing.intercept().unwrap() - 3.0).abs() < CLOSE);
}

#[test]
fn digits_are_lost_once_and_not_twice() {
    // Läuchli: XᵀX is singular in double precision, X is not.
    let small = 1e-9;
    let x = Matrix::from_fn(3, 2, |i, k| match i {
        0 => 1.0,
        i if i == k + 1 => small,
        _ => 0.0,
    });
    let fit = LeastSquares::new(&x, &[2.0, small, small], false, 0.0).unwrap();
    assert_eq!(fit.rank(), 2);
    for weight in fit.weights() {
        assert!((weight - 1.0).abs() < 1e-6, "{weight}");
    }
}

#[test]
fn unusable_problems_are_refused() {
    let (x, y) = problem(93);
    let none = LeastSquares::new(&Matrix::zeros(0, 2), &[], true, 0.0).unwrap_err();
    assert_eq!(none, LeastSquaresError::NoRows);
    for penalty in [-1.0, f64::NAN, f64::INFINITY] {
        let error = LeastSquares::new(&x, &y, true, penalty).unwrap_err();
        assert!(error.to_string().contains("penalty"), "{error}");
    }
    let mut bad = y.clone();
    bad[2] = f64::NAN;
    let error = LeastSquares::new(&x, &bad, true, 0.0).unwrap_err();
    assert_eq!(error, LeastSquaresError::Target { row: 2 });
    let mut x = x;
    x[(1, 2)] = f64::INFINITY;
    assert!(LeastSquares::new(&x, &y, true, 0.0).unwrap_err().to_string().contains("column 2"));
}

#[test]
fn a_posterior_gives_the_estimate_in_the_users_unit() {
    let (x, y) = problem(94);
    let plain = LeastSquares::new(&x, &y, true, 0.0).unwrap();
    let scaling = Standardization { centre: 3.0, scale: 7.0 };
    let mut data = real(x, y.iter().map(|y| scaling.apply(*y)).collect());
    data.target_scaling = vec![scaling];
    let fit = conditioned("", &data).least_squares(0, 0.0).unwrap().unwrap();
    assert!((fit.criteria().unwrap().aic - plain.criteria().unwrap().aic).abs() < 1e-8);
    assert!((fit.intercept().unwrap() - plain.intercept().unwrap()).abs() < 1e-8);
    let data = classes(Matrix::zeros(2, 1), vec![0, 1]);
    assert!(conditioned("", &data).least_squares(0, 0.0).is_none());
}
