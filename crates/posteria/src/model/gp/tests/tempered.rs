//! Powers of the likelihood against quadrature, and chains with hotter replicas against those without.

use posteria_linalg::{Cholesky, Matrix};

use super::super::observed::Observed;
use super::classes::dataset;
use super::{data, posterior};
use crate::data::Dataset;
use crate::density::InverseGamma;
use crate::model::Posterior;
use crate::random::{Purpose, Seed};
use crate::sample::{Adapt, Stage};

const DRAWS: usize = 3200;

fn wave(a: f64, b: f64) -> f64 {
    3.0 * (0.8 * a).sin() + 0.02 * b + 0.3 * (17.0 * a).sin()
}

/// Means of numbers of a chain at inverse temperature β, with their standard errors by 32 batches.
fn means(
    (text, data, beta): (&str, &Dataset, f64),
    seed: u64,
    of: impl Fn(&super::GpPosterior, &[f64]) -> Vec<f64>,
) -> Vec<(f64, f64)> {
    let posterior = posterior(text, data);
    let mut stream = Seed(seed).stream(Purpose::Data, [0, 0]);
    let mut state = posterior.start(&mut stream);
    let mut sweep = posterior.sweep(beta);
    for adapt in [Adapt::StepSize, Adapt::Metric] {
        sweep.enter(&Stage { adapt, ..Stage::default() });
        (0..150).for_each(|_| {
            sweep.pass(&mut state, &mut stream);
        });
    }
    sweep.enter(&Stage::default());
    let rows: Vec<Vec<f64>> = (0..DRAWS)
        .map(|_| {
            sweep.pass(&mut state, &mut stream);
            of(&posterior, &state)
        })
        .collect();
    (0..rows[0].len())
        .map(|k| {
            let column: Vec<f64> = rows.iter().map(|row| row[k]).collect();
            let mean = column.iter().sum::<f64>() / DRAWS as f64;
            let batches = column.chunks_exact(DRAWS / 32);
            let each = batches.map(|b| b.iter().sum::<f64>() / (DRAWS / 32) as f64 - mean);
            (mean, (each.map(|d| d * d).sum::<f64>() / (31.0 * 32.0)).sqrt())
        })
        .collect()
}

/// prior × likelihood^β, the likelihood given the functions: with normal residuals they are integrated out by
/// hand, ∫ Π N(y_i; f_i, σ²)^β N(f; 0, K) df = c σ^(n(1-β)) N(y; 0, K + σ²/β).
#[test]
fn to_a_power_scales_and_functions_have_the_distribution_of_the_formula() {
    const KNOWN: &str = "[hyperparameters]\nmagnitude = 1.2\nrelevance = 0.6\n[residual]\nscale = 0.4\n\
        scale_dof = 5.0\n";
    let data = data(9, &[&wave]);
    for beta in [0.2, 3.0] {
        let text = format!("{KNOWN}[sampling]\ninverse_temperature = {beta:?}");
        let posterior = posterior(&text, &data);
        assert!(posterior.keeps_latents());
        let mut covariance = posterior.covariance.evaluator(&posterior.inputs);
        let logs: Vec<f64> = [1.2_f64, 0.6, 0.6].map(f64::ln).to_vec();
        covariance.set(&logs);
        let mut k = Matrix::zeros(9, 9);
        covariance.fill(&mut k);
        (0..9).for_each(|row| k[(row, row)] += posterior.jitter.powi(2));
        k.mirror_lower();
        let prior = InverseGamma::new(0.4, 5.0).unwrap();
        // Log weight, log σ, mean and mean square of f of row 3.
        let points: Vec<[f64; 4]> = (0..400)
            .map(|index| {
                let log_sigma = -4.0 + 0.02 * index as f64;
                let noise = (2.0 * log_sigma).exp() / beta;
                let mut c = k.clone();
                (0..9).for_each(|row| c[(row, row)] += noise);
                let factor = Cholesky::new(&c).unwrap();
                let mut solved = posterior.targets.clone();
                factor.solve(&mut solved);
                let square: f64 = solved.iter().zip(&posterior.targets).map(|(a, y)| a * y).sum();
                let log_weight = prior.log_density_of_log_scale(log_sigma)
                    + 9.0 * (1.0 - beta) * log_sigma
                    - 0.5 * square
                    - 0.5 * factor.log_determinant();
                let mut column: Vec<f64> = k.column(3).to_vec();
                let mean: f64 = column.iter().zip(&solved).map(|(k, a)| k * a).sum();
                factor.solve(&mut column);
                let known: f64 = column.iter().zip(k.column(3)).map(|(a, k)| a * k).sum();
                [log_weight, log_sigma, mean, mean * mean + k[(3, 3)] - known]
            })
            .collect();
        let largest = points.iter().fold(f64::NEG_INFINITY, |most, p| most.max(p[0]));
        let total: f64 = points.iter().map(|p| (p[0] - largest).exp()).sum();
        let exact =
            |at: usize| points.iter().map(|p| (p[0] - largest).exp() * p[at]).sum::<f64>() / total;
        let found = means((&text, &data, beta), 12, |posterior, state| {
            let Observed::Real(residual) = &posterior.observed else { unreachable!() };
            let f = state[posterior.latents.start + 3];
            vec![residual.log_scale(state, 0), f, f * f]
        });
        for (k, (mean, error)) in found.into_iter().enumerate() {
            // Five errors: 4e-6 by chance altogether.
            let expected = exact(k + 1);
            assert!((mean - expected).abs() < 5.0 * error, "{beta} {k}: {mean} {expected} {error}");
        }
    }
}

/// The posterior is the same whether or not states are exchanged with hotter replicas.
#[test]
fn exchanges_with_hotter_replicas_leave_the_posterior_as_it_is() {
    let real = data(16, &[&wave]);
    let classes = dataset(&(0..16).map(|row| (row * row + 1) % 2).collect::<Vec<_>>(), 2);
    let hyperparameters = |posterior: &super::GpPosterior, state: &[f64]| {
        let mut values = state[posterior.processes[0].hyperparameters.slots.clone()].to_vec();
        if let Observed::Real(residual) = &posterior.observed {
            values.push(residual.log_scale(state, 0));
        }
        values
    };
    let priors = super::joint_distribution::PRIORS;
    let scale = "[residual]\nscale = 0.4\nscale_dof = 5.0\n";
    for (text, data) in [
        (format!("{priors}{scale}"), &real),
        (format!("{priors}{scale}family = 'student-t'\ndof = 3.0\n"), &real),
        (format!("neighbours = 4\n{priors}{scale}family = 'laplace'\n"), &real),
        (priors.to_string(), &classes),
    ] {
        let hotter = format!("{text}[sampling]\ntemperatures = 3");
        let alone = means((&text, data, 1.0), 13, hyperparameters);
        let found = means((&hotter, data, 1.0), 14, hyperparameters);
        for (k, ((a, error), (b, other))) in alone.into_iter().zip(found).enumerate() {
            // Five errors: 1e-5 by chance altogether.
            let error = error.hypot(other);
            assert!((a - b).abs() < 5.0 * error, "{text} {k}: {a} {b} {error}");
        }
    }
}
