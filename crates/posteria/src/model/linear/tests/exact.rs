//! Exact answers: the conjugate posterior, and quadrature over scales for the others.

use posteria_linalg::{Cholesky, Matrix, dot};

use super::super::ClosedForm;
use super::*;
use crate::density::InverseGamma;
use crate::density::special::LOG_SQRT_2PI;
use crate::model::Posterior;

const TOY_ROWS: usize = 8;

fn toy() -> (Matrix, Vec<f64>) {
    let mut stream = stream(1);
    let x = random_matrix(TOY_ROWS, 2, &mut stream);
    let y = (0..TOY_ROWS)
        .map(|i| 0.3 + 0.9 * x[(i, 0)] - 0.4 * x[(i, 1)] + 0.5 * stream.normal())
        .collect();
    (x, y)
}

/// States of a chain after some warm-up.
fn run(posterior: &LinearPosterior, sweeps: usize, row: impl Fn(&[f64]) -> Vec<f64>) -> Table {
    let mut stream = stream(2);
    let mut state = posterior.start(&mut stream);
    let mut sweep = posterior.sweep(1.0);
    for _ in 0..200 {
        sweep.pass(&mut state, &mut stream);
    }
    Table::collect(sweeps, || {
        sweep.pass(&mut state, &mut stream);
        row(&state)
    })
}

/// log N(y; 0, A) and, for every coefficient, mean and second moment given A = XSXᵀ + σ²I:
/// through the n × n covariance, the other way round from the sampler's p × p precision.
fn given_scales(x: &Matrix, y: &[f64], variances: &[f64], noise: f64) -> (f64, Vec<f64>) {
    let rows = x.rows();
    let covariance = Matrix::from_fn(rows, rows, |i, j| {
        let signal: f64 = (0..x.columns()).map(|k| variances[k] * x[(i, k)] * x[(j, k)]).sum();
        if i == j { signal + noise } else { signal }
    });
    let cholesky = Cholesky::new(&covariance).unwrap();
    let mut solved = y.to_vec();
    cholesky.solve(&mut solved);
    let log_density =
        -0.5 * (dot(y, &solved) + cholesky.log_determinant()) - rows as f64 * LOG_SQRT_2PI;
    let mut moments = Vec::new();
    for (k, prior) in variances.iter().enumerate() {
        let mut other = x.column(k).to_vec();
        let mean = prior * dot(&other, &solved);
        cholesky.solve_lower(&mut other);
        let variance = prior - prior * prior * dot(&other, &other);
        moments.push(mean);
        moments.push(mean * mean + variance);
    }
    (log_density, moments)
}

fn with_ones(x: &Matrix) -> Matrix {
    Matrix::from_fn(x.rows(), x.columns() + 1, |i, k| if k == 0 { 1.0 } else { x[(i, k - 1)] })
}

/// Log evidence and posterior moments of (log σ, log a, coefficients) by summing over a grid
/// of the two log scales; one point for log a if it is known.
fn by_quadrature(
    residual: InverseGamma,
    weights: Option<InverseGamma>,
    fixed: [f64; 2],
) -> (f64, Vec<f64>) {
    let (x, y) = toy();
    let x = with_ones(&x);
    let step = 0.05;
    let grid: Vec<f64> = (-60..=80).map(|i| f64::from(i) * step).collect();
    let scales = if weights.is_some() { grid.clone() } else { vec![fixed[1].ln()] };
    let (mut total, mut sums) = (0.0, vec![0.0; 8]);
    for &log_noise in &grid {
        for &log_scale in &scales {
            let variance = (2.0 * log_scale).exp();
            let variances = [fixed[0].powi(2), variance, variance];
            let (log_density, moments) = given_scales(&x, &y, &variances, (2.0 * log_noise).exp());
            let prior =
                weights.map_or(0.0, |prior| prior.log_density_of_log_scale(log_scale) + step.ln());
            let mass =
                (log_density + residual.log_density_of_log_scale(log_noise) + step.ln() + prior)
                    .exp();
            total += mass;
            for (sum, value) in sums.iter_mut().zip([log_noise, log_scale].iter().chain(&moments)) {
                *sum += mass * value;
            }
        }
    }
    (total.ln(), sums.iter().map(|sum| sum / total).collect())
}

fn coefficient_moments(state: &[f64]) -> Vec<f64> {
    state[..3].iter().flat_map(|w| [*w, w * w]).collect()
}

#[test]
fn gibbs_with_known_weight_scales_has_the_exact_moments() {
    let residual = InverseGamma::new(0.5, 4.0).unwrap();
    let (_, expected) = by_quadrature(residual, None, [5.0, 1.5]);
    let (x, y) = toy();
    let text = "[prior.weights]\nfixed = 1.5\n[prior.intercept]\nfixed = 5.0\n\
                [residual]\nscale = 0.5\nscale_dof = 4.0";
    let posterior = conditioned(text, &real(x, y));
    let table = run(&posterior, 10_000, |state| {
        let mut row = vec![state[3]];
        row.extend(coefficient_moments(state));
        row
    });
    let expected: Vec<f64> = [&expected[..1], &expected[2..]].concat();
    table.assert_means(&expected, "fixed scales");
}

#[test]
fn gibbs_with_a_common_weight_scale_has_the_exact_moments() {
    let residual = InverseGamma::from_shape_rate(2.0, 0.2).unwrap();
    let weights = InverseGamma::from_shape_rate(3.0, 1.0 / 1.25).unwrap();
    let (_, expected) = by_quadrature(residual, Some(weights), [2.0, f64::NAN]);
    let (x, y) = toy();
    let text = "[prior.weights]\nfamily = 'independent'\nshape = 3.0\nrate_scale = 1.25\n\
                [prior.intercept]\nfixed = 2.0\n\
                [residual]\nprecision = { shape = 2.0, scale = 5.0 }";
    let posterior = conditioned(text, &real(x, y));
    let table = run(&posterior, 10_000, |state| {
        let mut row = vec![state[4], state[3]];
        row.extend(coefficient_moments(state));
        row
    });
    table.assert_means(&expected, "common scale");
}

#[test]
fn the_conjugate_evidence_is_the_chain_rule_of_its_predictives() {
    let (x, y) = toy();
    let x = with_ones(&x);
    let residual = InverseGamma::from_shape_rate(1.7, 0.6).unwrap();
    let mut sum = 0.0;
    for row in 0..TOY_ROWS {
        let before = Matrix::from_fn(row, 3, |i, k| x[(i, k)]);
        let exact = ClosedForm::new(&before, &y[..row], 0.3, residual, 1.0).unwrap();
        let new: Vec<f64> = (0..3).map(|k| x[(row, k)]).collect();
        sum += exact.predictive(&new).log_density(y[row]);
    }
    let exact = ClosedForm::new(&x, &y, 0.3, residual, 1.0).unwrap();
    assert!((exact.log_evidence() - sum).abs() < 1e-10, "{} {sum}", exact.log_evidence());
}

#[test]
fn the_conjugate_posterior_and_tempered_evidence_agree_with_quadrature() {
    let (x, y) = toy();
    let x = Matrix::from_fn(TOY_ROWS, 1, |i, _| x[(i, 0)]);
    let residual = InverseGamma::from_shape_rate(1.7, 0.6).unwrap();
    let rho: f64 = 0.3;
    for inverse_temperature in [0.0, 0.4, 1.0] {
        let exact = ClosedForm::new(&x, &y, rho, residual, inverse_temperature).unwrap();
        let (mut total, mut means, step) = (0.0, [0.0; 3], 0.02);
        for i in -200..250 {
            let log_scale: f64 = f64::from(i) * step;
            let width = 0.05 * log_scale.exp();
            for j in -1200..1200 {
                // A grid in units of the noise, which is the scale of the weight as well.
                let w = 0.4 + width * f64::from(j);
                let misfit: f64 = (0..TOY_ROWS).map(|i| (y[i] - w * x[(i, 0)]).powi(2)).sum();
                let log_likelihood = -0.5 * misfit * (-2.0 * log_scale).exp()
                    - TOY_ROWS as f64 * (LOG_SQRT_2PI + log_scale);
                let log_prior = residual.log_density_of_log_scale(log_scale) + 0.5 * rho.ln()
                    - log_scale
                    - LOG_SQRT_2PI
                    - 0.5 * rho * w * w * (-2.0 * log_scale).exp();
                let mass = (log_prior + inverse_temperature * log_likelihood).exp() * step * width;
                total += mass;
                let precision = (-2.0 * log_scale).exp();
                for (mean, value) in means.iter_mut().zip([w, precision, precision * w * w]) {
                    *mean += mass * value;
                }
            }
        }
        let error = exact.log_evidence() - total.ln();
        assert!(error.abs() < 1e-6, "β = {inverse_temperature}: {error}");
        let posterior = exact.residual_precision();
        let precision = posterior.shape() / posterior.rate();
        assert!((means[0] / total - exact.mean()[0]).abs() < 1e-5);
        assert!((means[1] / total / precision - 1.0).abs() < 1e-5);
        // E τw² = Σ + E[τ] m²; the t scale is √(b/a · Σ).
        let spread = exact.combination(&[1.0]).scale.powi(2) * precision;
        let expected = spread + precision * exact.mean()[0].powi(2);
        assert!((means[2] / total / expected - 1.0).abs() < 1e-5);
    }
}

#[test]
fn conjugate_draws_have_the_exact_moments_and_gibbs_agrees_where_the_noise_is_known() {
    let (x, y) = toy();
    let conjugate = "[prior.weights]\nfamily = 'conjugate'\nrho = 0.5\n";
    let residual = "[residual]\nprecision = { shape = 6.0, scale = 0.5 }\n";
    let posterior = conditioned(&format!("{conjugate}{residual}"), &real(x.clone(), y.clone()));
    let exact = posterior.closed_form().unwrap();
    let table = run(&posterior, 10_000, |state| {
        let mut row = coefficient_moments(state);
        row.push((-2.0 * state[3]).exp());
        row
    });
    let mut expected = Vec::new();
    for k in 0..3 {
        let unit: Vec<f64> = (0..3).map(|i| f64::from(u8::from(i == k))).collect();
        let t = exact.combination(&unit);
        expected.push(t.location);
        expected.push(t.location.powi(2) + t.scale.powi(2) * t.dof / (t.dof - 2.0));
    }
    let precision = exact.residual_precision();
    expected.push(precision.shape() / precision.rate());
    table.assert_means(&expected, "conjugate draws");
    // With the noise variance known to be 1/2 to one part in ten thousand the two priors are
    // the same one: N(0, 1/(ρτ)) = N(0, 1).
    let known = "[residual]\nprecision = { shape = 1e8, scale = 2e-8 }\n";
    let exact = conditioned(&format!("{conjugate}{known}"), &real(x.clone(), y.clone()));
    let exact = exact.closed_form().unwrap();
    let text = format!("[prior.weights]\nfixed = 1.0\n[prior.intercept]\nfixed = 1.0\n{known}");
    let table = run(&conditioned(&text, &real(x, y)), 10_000, |state| state[..3].to_vec());
    table.assert_means(exact.mean(), "matching priors");
}

#[test]
fn both_terms_are_the_exact_posterior_times_the_exact_evidence() {
    let (x, y) = toy();
    let text = "[prior.weights]\nfamily = 'conjugate'\nrho = 0.5\n\
                [residual]\nprecision = { shape = 2.0, scale = 0.5 }";
    let posterior = conditioned(text, &real(x.clone(), y));
    let exact = posterior.closed_form().unwrap();
    let x = with_ones(&x);
    let mut noise = stream(4);
    for _ in 0..20 {
        let state: Vec<f64> = (0..4).map(|_| noise.normal()).collect();
        let mut rows = [0.0; TOY_ROWS];
        let terms = posterior.evaluator().evaluate(&state, &mut [0.0; 4], &mut rows).unwrap();
        // N(w; m, σ²Σ) with Σ⁻¹ = XᵀX + ρI.
        let shift: Vec<f64> = state.iter().zip(exact.mean()).map(|(w, m)| w - m).collect();
        let precision = Matrix::from_fn(3, 3, |i, j| {
            dot(x.column(i), x.column(j)) + if i == j { 0.5 } else { 0.0 }
        });
        let quadratic: f64 =
            (0..9).map(|at| shift[at / 3] * precision[(at / 3, at % 3)] * shift[at % 3]).sum();
        let log_determinant = Cholesky::new(&precision).unwrap().log_determinant();
        let weights = 0.5 * log_determinant
            - 3.0 * (LOG_SQRT_2PI + state[3])
            - 0.5 * quadratic * (-2.0 * state[3]).exp();
        let expected = exact.log_evidence()
            + weights
            + exact.residual_precision().log_density_of_log_scale(state[3]);
        assert!((terms.at(1.0) - expected).abs() < 1e-9 * expected.abs().max(1.0));
    }
}

#[test]
fn unusual_shapes_run_and_unusable_data_are_refused() {
    let mut stream = stream(3);
    // More inputs than rows, and two equal columns.
    let mut wide = random_matrix(20, 200, &mut stream);
    let copy = wide.column(0).to_vec();
    wide.column_mut(1).copy_from_slice(&copy);
    let single = random_matrix(1, 2, &mut stream);
    let none = Matrix::zeros(5, 0);
    for (x, text) in [(wide, "[prior.weights]\nsharing = 'per-input'"), (single, ""), (none, "")] {
        let y: Vec<f64> = (0..x.rows()).map(|_| stream.normal()).collect();
        let posterior = conditioned(text, &real(x, y));
        let mut state = posterior.start(&mut stream);
        let mut sweep = posterior.sweep(1.0);
        let mut draw = vec![0.0; posterior.layout().len()];
        let mut log_likelihood = vec![0.0; posterior.rows()];
        for _ in 0..50 {
            let steps = sweep.pass(&mut state, &mut stream);
            assert!(steps.iter().all(|step| step.infeasible.is_none()));
            posterior.evaluator().evaluate(&state, &mut draw, &mut log_likelihood).unwrap();
        }
    }
    let refuse = |data: &Dataset| model("").condition(data, nuts()).err().unwrap().to_string();
    let data = real(Matrix::zeros(0, 1), vec![]);
    assert!(refuse(&data).contains("no rows"));
    let data =
        real(Matrix::from_fn(3, 1, |i, _| if i == 2 { f64::NAN } else { 1.0 }), vec![0.0; 3]);
    assert!(refuse(&data).contains("x0 is not finite in row 2"));
    let data = real(Matrix::zeros(2, 1), vec![0.0, f64::INFINITY]);
    assert!(refuse(&data).contains("y is not finite in row 1"));
    let data = classes(Matrix::zeros(2, 1), vec![0, 1]);
    let regression = model("[model]\ntask = 'regression'");
    assert!(regression.condition(&data, nuts()).err().unwrap().to_string().contains("Binary"));
    let data = classes(Matrix::zeros(2, 1), vec![0, 2]);
    assert!(refuse(&data).contains("none of its 2 classes"));
}
