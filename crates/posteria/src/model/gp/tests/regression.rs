//! Real targets: densities, gradients, exact answers.

use posteria_linalg::{Cholesky, Matrix};

use super::super::marginal::Marginal;
use super::super::observed::Observed;
use super::super::regression::RegressionConditional;
use super::{data, posterior};
use crate::model::Posterior;
use crate::model::gp::GpPosterior;
use crate::random::{Purpose, Seed};
use crate::sample::Conditional;
use crate::target::LogDensity;

const SPECS: [&str; 15] = [
    "",
    "mean = 'constant'",
    "mean = 'linear'\ncovariance = 'matern-3/2'",
    "covariance = ['squared-exponential', 'linear', 'constant']",
    "covariance = ['rational-quadratic*periodic', 'neural-network']",
    "[prior.magnitude]\nfamily = 'half-student-t'\nscale = 2.0\n\
     [prior.relevance]\nfamily = 'log-normal'\nsharing = 'common'",
    "[prior.magnitude]\nfamily = 'gamma'\nshape = 2.0\n\
     [prior.relevance]\nscale = 0.1\ndof = 'unknown'\ntop_dof = 2.0",
    "[residual]\nfamily = 'student-t'",
    "[residual]\nfamily = 'laplace'",
    "[residual]\nslopes = ['a', 'b']",
    "neighbours = 4\n[residual]\nslopes = ['b']",
    "[selection]\nprior = { probabilities = [0.9, 0.5] }",
    "covariance = ['rational-quadratic*periodic', 'matern-5/2']\n\
     [prior.relevance]\nsharing = 'common'\n[selection]\nprior = { probabilities = [0.9, 0.9] }",
    "neighbours = 4\n[residual]\nfamily = 'student-t'",
    "neighbours = 3\n[residual]\nfamily = 'laplace'\nslopes = ['b']",
];

fn conditional(posterior: &GpPosterior, beta: f64) -> RegressionConditional<'_> {
    let Observed::Real(residual) = &posterior.observed else { unreachable!() };
    RegressionConditional::new(posterior, residual, &posterior.processes, beta)
}

fn wave(a: f64, b: f64) -> f64 {
    7.0 + 3.0 * (0.8 * a).sin() + 0.02 * b + 0.3 * (17.0 * a).sin()
}

#[test]
fn gradients_are_derivatives_for_every_covariance_prior_and_residual() {
    let data = data(9, &[&wave]);
    let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
    for text in SPECS {
        for beta in [1.0, 0.3, 0.0] {
            check_gradient(&posterior(text, &data), beta, text, &mut stream);
        }
    }
}

#[test]
fn several_targets_have_the_same_gradients_however_they_share() {
    let other = |a: f64, b: f64| 0.1 * a * b;
    let data = data(8, &[&wave, &other]);
    let mut stream = Seed(1).stream(Purpose::Data, [1, 0]);
    for text in [
        "",
        "processes = 'shared'",
        "processes = 'shared'\n[residual]\nsharing = 'common'",
        "[residual]\nsharing = 'common'",
        "[residual]\nfamily = 'student-t'\nsharing = 'common'",
        "[residual]\nslopes = ['a']",
        "processes = 'shared'\n[residual]\nsharing = 'common'\nslopes = ['a']",
    ] {
        check_gradient(&posterior(text, &data), 1.0, text, &mut stream);
    }
}

#[track_caller]
fn check_gradient(
    posterior: &GpPosterior,
    beta: f64,
    text: &str,
    stream: &mut crate::random::Stream,
) {
    let mut state = posterior.start(stream);
    if let Observed::Real(residual) = &posterior.observed
        && let Some(cases) = &residual.cases
    {
        state[cases.clone()].iter_mut().for_each(|kappa| *kappa = 0.2 + stream.uniform());
    }
    let mut target = conditional(posterior, beta);
    target.condition(&state);
    let position: Vec<f64> = target.slots().iter().map(|slot| state[*slot]).collect();
    let mut gradient = vec![0.0; position.len()];
    let value = target.log_density_gradient(&position, &mut gradient).unwrap();
    assert!((value - target.log_density(&position).unwrap()).abs() < 1e-10);
    for (index, claimed) in gradient.iter().enumerate() {
        let mut at = |h: f64| {
            let mut moved = position.clone();
            moved[index] += h;
            target.log_density(&moved).unwrap()
        };
        let numeric = (8.0 * (at(1e-3) - at(-1e-3)) - (at(2e-3) - at(-2e-3))) / 12e-3;
        let scale = 1.0 + numeric.abs();
        assert!((claimed - numeric).abs() < 1e-7 * scale, "{text}: {index} {claimed} {numeric}");
    }
}

/// The density of the targets by the plain formula, log N(y; 0, K + (J² + σ²) I).
#[test]
fn the_density_is_that_of_normal_targets() {
    let data = data(9, &[&wave]);
    let posterior =
        posterior("priors = 'mcmcstuff'\n[prior.relevance]\nscale = 0.3\ndof = 2.0", &data);
    let mut state = vec![0.0; posterior.latents.end];
    state[..4].copy_from_slice(&[0.3, -0.4, 0.2, -1.1]);
    let mut target = conditional(&posterior, 1.0);
    target.condition(&state);
    let found = target.log_density(&state[..4]).unwrap();
    let (eta, sigma) = (state[0].exp(), state[3].exp());
    let rho = [state[1].exp(), state[2].exp()];
    let x = &posterior.inputs;
    let covariance = Matrix::from_fn(9, 9, |i, j| {
        let r: f64 = (0..2).map(|k| (rho[k] * (x[(i, k)] - x[(j, k)])).powi(2)).sum();
        eta * eta * (-r).exp() + if i == j { sigma * sigma + 1e-4 } else { 0.0 }
    });
    let factor = Cholesky::new(&covariance).unwrap();
    let mut z = posterior.targets.clone();
    factor.solve_lower(&mut z);
    let likelihood = -0.5 * z.iter().map(|z| z * z).sum::<f64>()
        - 0.5 * factor.log_determinant()
        - 4.5 * std::f64::consts::TAU.ln();
    let prior = |log: f64, scale: f64, dof: f64| {
        crate::density::InverseGamma::new(scale, dof).unwrap().log_density_of_log_scale(log)
    };
    let prior = prior(state[0], 0.05, 0.5)
        + prior(state[1], 0.3, 2.0)
        + prior(state[2], 0.3, 2.0)
        + prior(state[3], 0.05, 0.5);
    assert!((found - likelihood - prior).abs() < 1e-10, "{found} {}", likelihood + prior);
}

/// Functions drawn given targets have the mean and covariance of the plain formulas:
/// K C⁻¹ y and K - K C⁻¹ K with C = K + W⁻¹. Over 4000 draws, five standard errors of each of
/// the 9 means and variances are exceeded with probability 1e-5 altogether.
#[test]
fn functions_are_drawn_exactly() {
    let data = data(9, &[&wave]);
    let posterior = posterior("", &data);
    let mut marginal = Marginal::new(&posterior.covariance, &posterior.inputs, 0.1);
    marginal.set(&[0.2, -0.3, 0.4]);
    let precisions: Vec<f64> =
        (0..9).map(|row| if row == 4 { 0.0 } else { 1.0 + row as f64 }).collect();
    marginal.factorize(&precisions).unwrap();
    let mut factor = Cholesky::identity(9);
    marginal.factorize_prior(&mut factor).unwrap();
    let lower = factor.factor();
    let k =
        Matrix::from_fn(9, 9, |i, j| (0..=i.min(j)).map(|l| lower[(i, l)] * lower[(j, l)]).sum());
    // A row without weight has a huge noise variance.
    let c = Matrix::from_fn(9, 9, |i, j| {
        k[(i, j)] + if i == j { if i == 4 { 1e12 } else { 1.0 / precisions[i] } } else { 0.0 }
    });
    let c = Cholesky::new(&c).unwrap();
    let mut solved = posterior.targets.clone();
    c.solve(&mut solved);
    let mut stream = Seed(5).stream(Purpose::Data, [0, 0]);
    let (mut function, mut room) = (vec![0.0; 9], Vec::new());
    let (mut sums, mut squares) = (vec![0.0; 9], vec![0.0; 9]);
    let means: Vec<f64> = (0..9).map(|i| (0..9).map(|j| k[(i, j)] * solved[j]).sum()).collect();
    for _ in 0..4000 {
        marginal.draw_function(&factor, &posterior.targets, &mut function, &mut room, &mut stream);
        for row in 0..9 {
            sums[row] += function[row] - means[row];
            squares[row] += (function[row] - means[row]).powi(2);
        }
    }
    for row in 0..9 {
        let mut column: Vec<f64> = (0..9).map(|i| k[(i, row)]).collect();
        c.solve(&mut column);
        let variance = k[(row, row)] - (0..9).map(|i| k[(i, row)] * column[i]).sum::<f64>();
        let error = (variance / 4000.0).sqrt();
        assert!((sums[row] / 4000.0).abs() < 5.0 * error, "mean of {row}");
        let found = squares[row] / 4000.0;
        assert!(
            (found / variance - 1.0).abs() < 5.0 * (2.0_f64 / 4000.0).sqrt(),
            "{row}: {found} {variance}"
        );
    }
}
