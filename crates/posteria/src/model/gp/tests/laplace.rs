//! Laplace's method for functions, against plain formulas, quadrature and long chains.

use posteria_linalg::{Cholesky, Matrix};

use super::super::latent::LatentMarginal;
use super::classes::dataset;
use super::posterior;
use crate::data::{Dataset, Targets, Task};
use crate::model::Posterior;
use crate::model::gp::GpPosterior;
use crate::random::{Purpose, Seed};
use crate::target::LogDensity;

fn counts(rows: usize) -> Dataset {
    let codes: Vec<usize> = (0..rows).map(|row| (row * row + 1) % 2).collect();
    let values = (0..rows).map(|row| (row * 7 % 5) as f64).collect();
    let targets = Targets::Counts { name: "y".into(), values };
    Dataset { task: Task::Count, targets, ..dataset(&codes, 2) }
}

fn worlds() -> Vec<(&'static str, GpPosterior)> {
    let classes = |model: &str, count: usize| {
        let codes: Vec<usize> = (0..7).map(|row| (row * row + 1) % count).collect();
        posterior(model, &dataset(&codes, count))
    };
    vec![
        ("logit", classes("", 2)),
        ("probit", classes("link = 'probit'\ncovariance = 'matern-5/2'", 2)),
        ("four", classes("covariance = ['squared-exponential', 'linear']", 4)),
        ("poisson", posterior("[residual]\nfamily = 'poisson'", &counts(7))),
        ("negative binomial", posterior("[residual]\nfamily = 'negative-binomial'", &counts(7))),
    ]
}

/// The formula of the approximation with dense matrices, the mode found by small steps uphill.
#[test]
fn the_density_is_that_of_the_formula_for_two_classes() {
    let (_, posterior) = &worlds()[0];
    let rows = posterior.row_count();
    let template = vec![0.0; posterior.state_len()];
    let mut density = LatentMarginal::new(posterior, &template);
    let position: Vec<f64> = (0..density.dim()).map(|k| 0.3 - 0.2 * k as f64).collect();
    let found = density.log_density(&position).expect("a density");
    let process = &posterior.processes[0];
    let mut state = template.clone();
    process.hyperparameters.slots.clone().zip(&position).for_each(|(slot, x)| state[slot] = *x);
    let mut parameters = vec![0.0; process.hyperparameters.parameters()];
    process.hyperparameters.write_parameters(&state, &mut parameters);
    let mut covariance = posterior.covariance.evaluator(&posterior.inputs);
    covariance.set(&parameters);
    let mut prior = Matrix::zeros(rows, rows);
    covariance.fill(&mut prior);
    (0..rows).for_each(|row| prior[(row, row)] += posterior.jitter * posterior.jitter);
    prior.mirror_lower();
    let super::super::observed::Observed::Binary { signs, .. } = &posterior.observed else {
        panic!()
    };
    let sigma = |t: f64| 1.0 / (1.0 + (-t).exp());
    // f = K ∇ log p(y | f), iterated with damping: f stays in the range of K.
    let mut a = vec![0.0; rows];
    let f = |a: &[f64]| -> Vec<f64> {
        (0..rows).map(|i| (0..rows).map(|j| prior[(i, j)] * a[j]).sum()).collect()
    };
    for _ in 0..20_000 {
        let at = f(&a);
        for i in 0..rows {
            a[i] += 0.02 * (signs[i] * sigma(-signs[i] * at[i]) - a[i]);
        }
    }
    let at = f(&a);
    let weights: Vec<f64> = at.iter().map(|f| sigma(*f) * sigma(-f)).collect();
    let b = Matrix::from_fn(rows, rows, |i, j| {
        f64::from(u8::from(i == j)) + (weights[i] * weights[j]).sqrt() * prior[(i, j)]
    });
    let likelihood: f64 = at.iter().zip(signs).map(|(f, sign)| sigma(sign * f).ln()).sum();
    let square: f64 = at.iter().zip(&a).map(|(f, a)| f * a).sum();
    let volume = 0.5 * Cholesky::new(&b).expect("positive definite").log_determinant();
    let of_prior = process.hyperparameters.log_prior(&state, |_, _| {}).expect("inside");
    let expected = of_prior + likelihood - 0.5 * square - volume;
    assert!((found - expected).abs() < 1e-6, "{found} {expected}");
}

#[test]
fn gradients_are_derivatives_the_mode_moving_along() {
    for (name, posterior) in worlds() {
        let mut density = posterior.hyperparameters().expect("a density");
        let mut stream = Seed(5).stream(Purpose::Data, [0, 0]);
        for _ in 0..3 {
            let position: Vec<f64> = (0..density.dim()).map(|_| 0.7 * stream.normal()).collect();
            let mut gradient = vec![0.0; position.len()];
            let value = density.log_density_gradient(&position, &mut gradient).expect("a density");
            assert!((value - density.log_density(&position).expect("a density")).abs() < 1e-12);
            for (k, slope) in gradient.iter().enumerate() {
                let mut at = |step: f64| {
                    let mut moved = position.clone();
                    moved[k] += step;
                    density.log_density(&moved).expect("a density")
                };
                let numeric = (at(1e-4) - at(-1e-4)) / 2e-4;
                let off = (slope - numeric).abs();
                assert!(off < 1e-5 * (1.0 + slope.abs()), "{name} {k}: {slope} {numeric}");
            }
        }
    }
}

/// The ratios of functions correct Laplace's method: with the functions' own evidence by weights the
/// density of one row of two classes is ∫ σ(f) N(f; 0, v) df = ½ whatever v.
#[test]
fn ratios_of_functions_say_what_the_method_lacks() {
    let posterior = posterior("", &dataset(&[1], 2));
    let mut density = posterior.hyperparameters().expect("a density");
    let mut stream = Seed(6).stream(Purpose::Data, [0, 0]);
    for log_magnitude in [-0.5, 0.8, 1.6] {
        let mut position = vec![-1.0; density.dim()];
        position[0] = log_magnitude;
        let ratios = density.weigh_functions(&position, 20_000, &mut stream).expect("ratios");
        let mean = ratios.iter().map(|ratio| ratio.exp()).sum::<f64>() / ratios.len() as f64;
        let variance = ratios.iter().map(|ratio| (ratio.exp() - mean).powi(2)).sum::<f64>()
            / ratios.len() as f64;
        let mut state = vec![0.0; posterior.state_len()];
        density.slots().to_vec().iter().zip(&position).for_each(|(slot, x)| state[*slot] = *x);
        let prior = posterior.log_prior_of_hyperparameters(&state).expect("inside");
        let found = density.log_density(&position).expect("a density") - prior + mean.ln();
        // Five standard errors of the mean ratio.
        let error = 5.0 * (variance / ratios.len() as f64).sqrt() / mean;
        assert!((found - 0.5_f64.ln()).abs() < error + 1e-6, "{log_magnitude}: {found} ± {error}");
        assert!(error < 0.05, "{log_magnitude}: {error}");
    }
}
