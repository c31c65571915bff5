//! Check derivatives against differences of the formulas.

use super::*;

/// A symmetric matrix of weights.
fn weights(n: usize, index: u64) -> Matrix {
    let mut weights = normals(n, n, 2000 + index);
    weights.mirror_lower();
    weights
}

/// tr(W K) from the formulas.
fn trace(covariance: &Covariance, logs: &[f64], points: &[Vec<f64>], weights: &Matrix) -> f64 {
    let mut sum = 0.0;
    for (i, x) in points.iter().enumerate() {
        for (j, y) in points.iter().enumerate() {
            sum += weights[(i, j)] * reference(covariance, logs, x, y);
        }
    }
    sum
}

/// Central differences with two steps, extrapolated: errors of order step⁴.
fn differences(f: impl Fn(&[f64]) -> f64, at: &[f64], index: usize) -> f64 {
    let central = |step: f64| {
        let mut shifted = at.to_vec();
        shifted[index] = at[index] + step;
        let above = f(&shifted);
        shifted[index] = at[index] - step;
        (above - f(&shifted)) / (2.0 * step)
    };
    let step = 1e-3;
    (4.0 * central(step) - central(2.0 * step)) / 3.0
}

#[test]
fn gradients_are_those_of_the_formulas() {
    let mut wrong = Vec::new();
    for (index, covariance) in all().iter().enumerate() {
        let n = [6, 9, 17][index % 3];
        let mut points = normals(n, covariance.inputs(), 40 + index as u64);
        // Two rows alike: no derivative may break where points coincide.
        for k in 0..covariance.inputs() {
            points[(n - 1, k)] = points[(1, k)];
        }
        let logs = log_parameters(covariance, 40 + index as u64);
        let w = weights(n, index as u64);
        let mut evaluator = covariance.evaluator(&points);
        evaluator.set(&logs);
        let mut gradient = vec![f64::NAN; logs.len()];
        let mut column = |j: usize, out: &mut [f64]| out.copy_from_slice(&w.column(j)[j..]);
        evaluator.gradient(&mut column, &mut gradient);
        let rows: Vec<Vec<f64>> = (0..n).map(|r| row(&points, r)).collect();
        // Rounding of the differences is relative to the sum of the sizes of the terms.
        let size = w.values().iter().map(|w| w.abs()).sum::<f64>();
        let close = |a: f64, b: f64| (a - b).abs() < 1e-7 * b.abs() + 1e-11 * size;
        for (p, what) in covariance.parameters().iter().enumerate() {
            let expected = differences(|logs| trace(covariance, logs, &rows, &w), &logs, p);
            if !close(gradient[p], expected) {
                wrong.push((name(covariance), *what, gradient[p], expected));
            }
        }
        // Some rows only; added to what is there.
        let listed = [n - 1, 2, 0, 4, 1];
        let part: Vec<Vec<f64>> = listed.iter().map(|r| rows[*r].clone()).collect();
        let w = weights(5, 99 + index as u64);
        let mut column = |j: usize, out: &mut [f64]| out.copy_from_slice(&w.column(j)[j..]);
        let before = gradient.clone();
        evaluator.gradient_rows(&listed, &mut column, &mut gradient);
        for (p, what) in covariance.parameters().iter().enumerate() {
            let expected = differences(|logs| trace(covariance, logs, &part, &w), &logs, p);
            if !close(gradient[p] - before[p], expected) {
                wrong.push((name(covariance), *what, gradient[p] - before[p], expected));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn gradients_do_not_depend_on_what_was_asked_before() {
    for (index, covariance) in all().iter().enumerate() {
        let (n, inputs) = (19, covariance.inputs());
        let (points, new) = (normals(n, inputs, 1), normals(4, inputs, 2));
        let w = weights(n, 3);
        let mut column = |j: usize, out: &mut [f64]| out.copy_from_slice(&w.column(j)[j..]);
        let logs = log_parameters(covariance, index as u64);
        let mut evaluator = covariance.evaluator(&points);
        let mut out = Matrix::zeros(n, n);
        let mut gradients = vec![vec![0.0; logs.len()]; 6];
        // Values of other parameters must not be taken for those of these.
        evaluator.fill(&mut out);
        evaluator.set(&logs);
        evaluator.gradient(&mut column, &mut gradients[0]);
        evaluator.gradient(&mut column, &mut gradients[1]);
        evaluator.fill(&mut out);
        evaluator.gradient(&mut column, &mut gradients[2]);
        evaluator.cross(&new, &mut Matrix::zeros(4, n));
        evaluator.gradient(&mut column, &mut gradients[3]);
        evaluator.fill_rows(&[3, 1], &mut Matrix::zeros(2, 2));
        evaluator.gradient(&mut column, &mut gradients[4]);
        evaluator.gradient_rows(&[5, 0], &mut |_, out| out.fill(1.0), &mut vec![0.0; logs.len()]);
        evaluator.gradient(&mut column, &mut gradients[5]);
        for other in &gradients[1..] {
            assert_eq!(*other, gradients[0], "{}", name(covariance));
        }
    }
}

#[test]
fn gradients_of_many_rows_are_sums_of_those_of_pairs() {
    // More rows than a tile has pairs: every piece must be summed once.
    let factors = vec![factor(Function::RationalQuadratic, &[0, 1], Sharing::PerInput)];
    let constant = vec![factor(Function::Constant, &[], Sharing::Common)];
    let covariance = Covariance::new(vec![factors, constant], 2);
    let n = 530;
    let points = normals(n, 2, 5);
    let logs = log_parameters(&covariance, 5);
    let mut evaluator = covariance.evaluator(&points);
    evaluator.set(&logs);
    // W = v vᵀ.
    let v = normals(n, 1, 6);
    let v = v.values();
    let mut column = |j: usize, out: &mut [f64]| {
        for (out, v_i) in out.iter_mut().zip(&v[j..]) {
            *out = v_i * v[j];
        }
    };
    let mut gradient = vec![f64::NAN; logs.len()];
    evaluator.gradient(&mut column, &mut gradient);
    let mut expected = vec![0.0; logs.len()];
    for i in 0..n {
        for j in 0..=i {
            let factor = if i == j { 1.0 } else { 2.0 };
            let mut pair = |column: usize, out: &mut [f64]| {
                out.fill(0.0);
                if i == j {
                    out[0] = if column == 0 { v[i] * v[i] } else { 0.0 };
                } else if column == 0 {
                    out[1] = 0.5 * factor * v[i] * v[j];
                }
            };
            let rows = if i == j { &[i][..] } else { &[i, j][..] };
            evaluator.gradient_rows(rows, &mut pair, &mut expected);
        }
    }
    for (gradient, expected) in gradient.iter().zip(&expected) {
        assert!((gradient - expected).abs() < 1e-9 * expected.abs().max(1.0), "{gradient}");
    }
}
