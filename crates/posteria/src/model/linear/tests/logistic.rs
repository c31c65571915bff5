//! The density of a logistic regression: gradient, value, and an exact posterior mean.

use super::super::classified::ClassConditional;
use super::super::logistic::Logistic;
use super::super::posterior::Likelihood;
use super::*;
use crate::density::special::{LOG_SQRT_2PI, log1p_exp};
use crate::model::Posterior;
use crate::sample::Conditional;
use crate::target::{LogDensity, check_gradient};

fn posterior(rows: usize) -> LinearPosterior {
    let mut noise = stream(30);
    let x = random_matrix(rows, 3, &mut noise);
    let codes = (0..rows).map(|_| noise.index(2)).collect();
    let text = "[model]\npriors = 'mcmcstuff'\n[prior.weights]\nsharing = 'per-input'";
    conditioned(text, &classes(x, codes))
}

fn conditional(
    posterior: &LinearPosterior,
    inverse_temperature: f64,
) -> ClassConditional<'_, Logistic<'_>> {
    let Likelihood::Logistic(signs) = &posterior.likelihood else {
        panic!("a logistic regression");
    };
    let likelihood = Logistic::new(&posterior.x, signs);
    ClassConditional::new(likelihood, &posterior.coefficients, inverse_temperature)
}

#[test]
fn the_gradient_agrees_with_differences_also_where_it_saturates() {
    let posterior = posterior(40);
    let mut noise = stream(31);
    for index in 0..100 {
        let mut conditional = conditional(&posterior, [1.0, 0.3, 0.0][index % 3]);
        let mut state: Vec<f64> = (0..7).map(|_| noise.normal()).collect();
        assert!(conditional.condition(&state), "new scales change the density");
        assert!(!conditional.condition(&state), "the same scales do not");
        // Outputs up to about 30 in either direction.
        let size = 12.0 * index as f64 / 100.0;
        state.truncate(4);
        for w in &mut state {
            *w *= size;
        }
        let check = check_gradient(&mut conditional, &state).unwrap();
        assert!(check.error < 1e-6, "{check:?} at {state:?}");
    }
}

#[test]
fn the_value_is_the_sum_of_its_terms_whatever_the_number_of_rows() {
    let mut noise = stream(32);
    for rows in [1, 511, 512, 513, 2000] {
        let posterior = posterior(rows);
        let mut conditional = conditional(&posterior, 1.0);
        let state: Vec<f64> = (0..7).map(|_| 3.0 * noise.normal()).collect();
        conditional.condition(&state);
        let value = conditional.log_density(&state[..4]).unwrap();
        let mut draw = vec![0.0; posterior.layout().len()];
        let mut pointwise = vec![0.0; rows];
        let terms = posterior.evaluator().evaluate(&state, &mut draw, &mut pointwise).unwrap();
        let Likelihood::Logistic(signs) = &posterior.likelihood else {
            panic!("a logistic regression");
        };
        let mut sum = 0.0;
        for (row, sign) in signs.iter().enumerate() {
            let output: f64 = (0..4).map(|k| posterior.x[(row, k)] * state[k]).sum();
            let expected = -log1p_exp(-sign * output);
            assert!((pointwise[row] - expected).abs() < 1e-12);
            sum += expected;
        }
        assert!((terms.log_likelihood - sum).abs() < 1e-9);
        // N(w; 0, a²) of three weights and N(b; 0, 10²) of the intercept.
        let mut log_prior = -0.5 * (state[0] / 10.0).powi(2) - 10_f64.ln() - LOG_SQRT_2PI;
        for k in 0..3 {
            let z = state[1 + k] * (-state[4 + k]).exp();
            log_prior += -0.5 * z * z - state[4 + k] - LOG_SQRT_2PI;
        }
        assert!((value - sum - log_prior).abs() < 1e-9 * value.abs().max(1.0));
        // The draw's log prior also holds the inverse gamma densities (s₀ = 1/2, ν = 1) of the
        // three variances v, as densities of log √v: times dv/du = 2v.
        for log_scale in &state[4..] {
            let v = (2.0 * log_scale).exp();
            let constant = 0.5 * 0.5_f64.ln() - std::f64::consts::PI.sqrt().ln() + 0.5_f64.ln();
            log_prior += constant - 1.5 * v.ln() - 0.125 / v + (2.0 * v).ln();
        }
        assert!((terms.log_prior - log_prior).abs() < 1e-9 * log_prior.abs().max(1.0));
    }
}

#[test]
fn the_posterior_mean_is_the_one_of_quadrature_at_every_temperature() {
    let x = Matrix::from_fn(6, 1, |i, _| [-2.0, -1.0, -0.5, 0.5, 1.0, 2.5][i]);
    let codes = vec![0, 1, 0, 1, 0, 1];
    let text = "[model]\nintercept = false\n[prior.weights]\nfixed = 2.0";
    let posterior = conditioned(text, &classes(x.clone(), codes.clone()));
    for inverse_temperature in [0.5, 1.0] {
        let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
        for i in -4000..=4000 {
            let w = 0.003 * f64::from(i);
            let log_likelihood: f64 = (0..6)
                .map(|row| {
                    let sign = if codes[row] == 1 { 1.0 } else { -1.0 };
                    -log1p_exp(-sign * w * x[(row, 0)])
                })
                .sum();
            let mass = (inverse_temperature * log_likelihood - 0.125 * w * w).exp();
            total += mass;
            first += mass * w;
            second += mass * w * w;
        }
        let mut noise = stream(33);
        let mut state = posterior.start(&mut noise);
        let mut sweep = posterior.sweep(inverse_temperature);
        let table = Table::collect(5000, || {
            sweep.pass(&mut state, &mut noise);
            vec![state[0], state[0] * state[0]]
        });
        table.assert_means(&[first / total, second / total], "logistic weight");
    }
}
