//! Exact answers against brute force: random small problems, more columns than rows, one row.

use posteria_linalg::{Cholesky, dot};

use super::super::ClosedForm;
use super::super::by_quadrature::ByQuadrature;
use super::super::scale::ScalePrior;
use super::*;
use crate::density::InverseGamma;
use crate::density::special::{LOG_SQRT_2PI, log_sum_exp};
use crate::model::Posterior;

/// Agreement that is asked for of log evidences and predictive densities.
const CLOSE: f64 = 1e-8;

/// log N(y; 0, noise (I + XXᵀ ratio) + level 11ᵀ) by an n × n factorisation.
fn log_marginal(x: &Matrix, y: &[f64], noise: f64, ratio: f64, level: f64) -> f64 {
    let rows = x.rows();
    let covariance = Matrix::from_fn(rows, rows, |i, j| {
        let signal: f64 = (0..x.columns()).map(|k| x[(i, k)] * x[(j, k)]).sum();
        noise * (f64::from(u8::from(i == j)) + ratio * signal) + level
    });
    let factor = Cholesky::new(&covariance).unwrap();
    let mut solved = y.to_vec();
    factor.solve(&mut solved);
    -0.5 * (dot(y, &solved) + factor.log_determinant()) - rows as f64 * LOG_SQRT_2PI
}

/// The rows of a random problem, and a new one.
fn random_problem(rows: usize, columns: usize, seed: u64) -> (Matrix, Vec<f64>, Vec<f64>) {
    let mut noise = stream(seed);
    let x = random_matrix(rows, columns, &mut noise);
    let y = (0..rows)
        .map(|i| 1.0 + (0..columns).map(|k| x[(i, k)]).sum::<f64>() + 0.3 * noise.normal())
        .collect();
    let new = (0..columns).map(|_| noise.normal()).collect();
    (x, y, new)
}

/// `x` and `y` with one more row.
fn extended(x: &Matrix, y: &[f64], row: &[f64], target: f64) -> (Matrix, Vec<f64>) {
    let rows = x.rows();
    let more =
        Matrix::from_fn(rows + 1, x.columns(), |i, k| if i < rows { x[(i, k)] } else { row[k] });
    (more, [y, &[target]].concat())
}

const SHAPES: [(usize, usize); 7] = [(1, 1), (1, 3), (2, 2), (3, 6), (8, 2), (10, 4), (5, 0)];

#[test]
fn the_conjugate_answers_agree_with_quadrature_to_eight_digits() {
    let residual = InverseGamma::from_shape_rate(1.4, 0.5).unwrap();
    for (seed, (rows, columns)) in SHAPES.into_iter().enumerate() {
        let (x, y, new) = random_problem(rows, columns, 100 + seed as u64);
        let rho: f64 = 0.35;
        let brute = |x: &Matrix, y: &[f64]| {
            // The trapezoidal rule on log σ: its error is far below rounding.
            let terms: Vec<f64> = (-150..=250)
                .map(|i| {
                    let u = 0.04 * f64::from(i);
                    log_marginal(x, y, (2.0 * u).exp(), 1.0 / rho, 0.0)
                        + residual.log_density_of_log_scale(u)
                        + 0.04_f64.ln()
                })
                .collect();
            log_sum_exp(&terms)
        };
        let exact = ClosedForm::new(&x, &y, rho, residual, 1.0).unwrap();
        let evidence = brute(&x, &y);
        assert!((exact.log_evidence() - evidence).abs() < CLOSE, "{rows} × {columns}");
        for target in [-1.0, 0.7, 4.0] {
            let (more, targets) = extended(&x, &y, &new, target);
            let density = brute(&more, &targets) - evidence;
            let found = exact.predictive(&new).log_density(target);
            assert!((found - density).abs() < CLOSE, "{rows} × {columns}: {found} {density}");
        }
    }
}

#[test]
fn independent_scales_agree_with_brute_force_to_eight_digits() {
    let residual = InverseGamma::from_shape_rate(1.5, 0.4).unwrap();
    let weights = InverseGamma::from_shape_rate(2.0, 0.7).unwrap();
    let sampled = ScalePrior::Sampled(weights.into());
    for (seed, (rows, columns)) in SHAPES.into_iter().enumerate() {
        let (x, y, new) = random_problem(rows, columns, 110 + seed as u64);
        for (prior, intercept) in
            [(sampled, None), (sampled, Some(1.3)), (ScalePrior::Fixed(0.8), Some(1.3))]
        {
            let level = intercept.map_or(0.0, |sd: f64| sd * sd);
            let brute = |x: &Matrix, y: &[f64]| {
                let mut terms = Vec::new();
                for i in -45..=60 {
                    let u = 0.1 * f64::from(i);
                    let noise = residual.log_density_of_log_scale(u) + 0.1_f64.ln();
                    let scales: Vec<(f64, f64)> = match prior {
                        ScalePrior::Fixed(scale) => vec![(scale.ln(), 0.0)],
                        ScalePrior::Sampled(prior) => (-40..=70)
                            .map(|j| {
                                let v = 0.1 * f64::from(j);
                                (v, prior.log_density_of_log_scale(v) + 0.1_f64.ln())
                            })
                            .collect(),
                    };
                    for (v, weight) in scales {
                        let ratio = (2.0 * (v - u)).exp();
                        let fit = log_marginal(x, y, (2.0 * u).exp(), ratio, level);
                        terms.push(fit + noise + weight);
                    }
                }
                log_sum_exp(&terms)
            };
            let exact = ByQuadrature::new(&x, &y, intercept, prior, residual.into()).unwrap();
            let evidence = brute(&x, &y);
            let error = exact.log_evidence() - evidence;
            assert!(error.abs() < CLOSE, "{rows} × {columns}, {prior:?}: {error}");
            let predictive = exact.predictive(&new);
            for target in [-1.0, 0.7, 4.0] {
                let (more, targets) = extended(&x, &y, &new, target);
                let density = brute(&more, &targets) - evidence;
                let error = predictive.log_density(target) - density;
                assert!(error.abs() < CLOSE, "{rows} × {columns}, {prior:?}: {error}");
            }
        }
    }
}

#[test]
fn gibbs_has_the_moments_of_the_quadrature() {
    let mut noise = stream(120);
    let x = random_matrix(9, 3, &mut noise);
    let y: Vec<f64> = (0..9).map(|i| 0.5 + x[(i, 0)] + 0.4 * noise.normal()).collect();
    let text = "[prior.weights]\nfamily = 'independent'\nshape = 2.0\nrate_scale = 1.5\n\
                [prior.intercept]\nfixed = 2.0\n\
                [residual]\nprecision = { shape = 2.0, scale = 3.0 }";
    let posterior = conditioned(text, &real(x, y));
    let exact = posterior.by_quadrature().unwrap();
    let mut state = posterior.start(&mut noise);
    let mut sweep = posterior.sweep(1.0);
    (0..200).for_each(|_| {
        sweep.pass(&mut state, &mut noise);
    });
    let new = [0.3, -1.0, 2.0];
    let table = Table::collect(20_000, || {
        sweep.pass(&mut state, &mut noise);
        let output = state[0] + dot(&state[1..4], &new);
        vec![
            state[1],
            state[1] * state[1],
            output,
            output * output,
            state[4],
            state[5],
            state[5] * state[5],
        ]
    });
    let square =
        |mixture: &super::super::NormalMixture| mixture.mean().powi(2) + mixture.sd().powi(2);
    let (weight, output) = (exact.weights(&[1.0, 0.0, 0.0]), exact.output(&new));
    table.assert_means(
        &[
            weight.mean(),
            square(&weight),
            output.mean(),
            square(&output),
            exact.expectation(|_, log_scale| log_scale),
            exact.expectation(|log_noise, _| log_noise),
            exact.expectation(|log_noise, _| log_noise * log_noise),
        ],
        "quadrature",
    );
}

#[test]
fn hard_problems_keep_their_digits() {
    let residual = InverseGamma::new(0.05, 0.5).unwrap().into();
    let weights = ScalePrior::Sampled(InverseGamma::new(0.5, 1.0).unwrap().into());
    // Targets far from 0: the vague intercept takes the mean without cancellation.
    let (x, y, new) = random_problem(20, 3, 130);
    let near = ByQuadrature::new(&x, &y, Some(1e6), weights, residual).unwrap();
    let far: Vec<f64> = y.iter().map(|y| y + 1000.0).collect();
    let far = ByQuadrature::new(&x, &far, Some(1e6), weights, residual).unwrap();
    // The prior of the intercept falls by ½(1001² - 1²)/10¹² or so.
    assert!((near.log_evidence() - far.log_evidence()).abs() < 2e-6);
    assert!((far.output(&new).mean() - near.output(&new).mean() - 1000.0).abs() < 1e-4);
    assert!((far.predictive(&new).sd() - near.predictive(&new).sd()).abs() < 1e-6);
    // Many rows: the posterior of log σ is a hundred times narrower than any first grid.
    let mut noise = stream(131);
    let x = random_matrix(5000, 2, &mut noise);
    let y: Vec<f64> = (0..5000).map(|i| x[(i, 0)] + 0.1 * noise.normal()).collect();
    let exact = ByQuadrature::new(&x, &y, None, weights, residual).unwrap();
    let log_noise = exact.expectation(|log_noise, _| log_noise);
    // 5000 rows know it to a hundredth; five errors.
    assert!((log_noise - 0.1_f64.ln()).abs() < 0.05, "{log_noise}");
    assert!((exact.weights(&[1.0, 0.0]).mean() - 1.0).abs() < 0.01);
    // What has no exact answer says so.
    let x = Matrix::from_fn(6, 2, |i, k| if k == 0 { (i % 2) as f64 } else { noise.normal() });
    let data = real(x, vec![0.5; 6]);
    for (text, exact) in [
        ("", true),
        ("[prior.weights]\nfixed = 1.0", true),
        ("[prior.weights]\nsharing = 'per-input'", false),
        ("[prior.intercept]\ndof = 3.0", false),
        ("[residual]\nfamily = 'laplace'", false),
        ("[residual]\nby = ['x0']", false),
    ] {
        let posterior = conditioned(text, &data);
        assert_eq!(posterior.by_quadrature().is_some(), exact, "{text}");
        assert_eq!(posterior.log_evidence().is_some(), exact, "{text}");
    }
}
